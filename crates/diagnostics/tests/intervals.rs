//! Intervals of the draws: highest-density intervals against ArviZ and a closed form, and both
//! kinds beside the quantiles of a summary.

use ridgewalk_diagnostics::{
    Error, Summarizer, Summary, hdi, quantile, summaries, summaries_and_intervals,
};

use crate::common::{ar1, generator, slices};

/// i times the golden ratio, without its whole part, for i = 1, ..., n: spread evenly over (0, 1).
fn even(n: u32) -> Vec<f64> {
    (1..=n).map(|i| (f64::from(i) * 0.6180339887498949) % 1.0).collect()
}

fn mapped(n: u32, f: impl Fn(f64) -> f64) -> Vec<f64> {
    even(n).into_iter().map(f).collect()
}

/// `arviz.hdi(x, hdi_prob=p)` of ArviZ 0.23.4, with `u = np.arange(1, n + 1) *
/// 0.6180339887498949 % 1` and x one of -log(u), log(u/(1 - u)), sqrt(u/(1 - u)) and 10 u.
#[test]
fn highest_density_intervals_are_those_of_arviz() {
    type Case = (Vec<f64>, [(f64, [f64; 2]); 3]);
    let cases: [Case; 4] = [
        (
            mapped(1000, |u| -u.ln()),
            [
                (0.5, [0.0004532065362847624, 0.69478787089986]),
                (0.9, [0.0004532065362847624, 2.312295083325455]),
                (0.95, [0.0004532065362847624, 3.0054422638854006]),
            ],
        ),
        (
            mapped(777, |u| (u / (1.0 - u)).ln()),
            [
                (0.5, [-1.0925256857691594, 1.0964276880458743]),
                (0.9, [-2.9146062583372174, 2.9450717103605237]),
                (0.95, [-3.431142505957979, 3.863976302235741]),
            ],
        ),
        (
            mapped(1500, |u| (u / (1.0 - u)).sqrt()),
            [
                (0.5, [0.24630063754531473, 1.1209189122245324]),
                (0.9, [0.03832007294890559, 3.0085851075604997]),
                (0.95, [0.027086441639982358, 4.360278167365371]),
            ],
        ),
        (
            mapped(13, |u| 10.0 * u),
            [
                (0.5, [0.34441853748633733, 4.721359549995796]),
                (0.9, [0.34441853748633733, 8.541019662496847]),
                (0.95, [0.34441853748633733, 9.442719099991592]),
            ],
        ),
    ];
    for (draws, found) in cases {
        for (p, need) in found {
            let got = hdi(&[&draws], p).expect("one chain");
            for (got, need) in got.iter().zip(need) {
                assert!((got - need).abs() <= 1e-14 * need.abs(), "{p}: {got} and {need}");
            }
        }
    }
}

/// The density of an exponential law falls, so its interval is [0, −ln(1 − p)]. With n draws the
/// lower end is off by about 1/n, and the upper by five standard errors √(p/((1 − p) n)) at most,
/// but for one seed in a million.
#[test]
fn the_interval_of_an_exponential_law_begins_at_zero() {
    let n = 100_000;
    let draws = ar1(&mut generator(5), 1, 2 * n, 0.0);
    // Half the sum of two squares of normal draws is exponential.
    let draws: Vec<f64> =
        draws[0].chunks_exact(2).map(|pair| 0.5 * (pair[0].powi(2) + pair[1].powi(2))).collect();
    for p in [0.5, 0.8, 0.9, 0.95, 0.99] {
        let [low, high] = hdi(&[&draws], p).expect("one chain");
        let error = (p / ((1.0 - p) * n as f64)).sqrt();
        assert!((high + (1.0_f64 - p).ln()).abs() < 5.0 * error, "{p}: {high}");
        // Where the density is flat, the shortest interval may begin a little later.
        assert!((0.0..0.01).contains(&low), "{p}: {low}");
        // The central interval is another one: this would notice if the two were swapped.
        let found = Summarizer::new().intervals(&[&draws], p).expect("one chain");
        assert!(found.upper > high + 5.0 * error && found.lower > low);
    }
}

#[test]
fn intervals_beside_a_summary_are_those_computed_alone() {
    let chains = ar1(&mut generator(3), 4, 301, 0.4);
    let chains = slices(&chains);
    for p in [0.2, 0.9, 0.95] {
        let found = summaries_and_intervals(&[&chains, &chains[..2]], p).expect("well shaped");
        let alone = summaries(&[&chains, &chains[..2]]).expect("well shaped");
        assert!(found.iter().map(|(summary, _)| *summary).eq(alone));
        let (summary, intervals) = found[0];
        assert_eq!(summary, Summary::of(&chains).expect("well shaped"));
        assert_eq!(
            [intervals.hdi_lower, intervals.hdi_upper],
            hdi(&chains, p).expect("well shaped")
        );
        let tail = ((1.0 - p) * 500.0_f64).round() / 1000.0;
        let ends = [tail, 1.0 - tail].map(|tail| quantile(&chains, tail).expect("well shaped"));
        assert_eq!([intervals.lower, intervals.upper], ends, "{p}");
        if p == 0.9 {
            assert_eq!([summary.q05, summary.q95], ends);
        }
        assert!(
            intervals.hdi_upper - intervals.hdi_lower <= intervals.upper - intervals.lower + 0.1
        );
    }
}

#[test]
fn intervals_of_no_draws_and_of_no_numbers() {
    assert_eq!(hdi(&[], 0.9), Err(Error::NoChains));
    assert_eq!(hdi(&[&[1.0]], 1.5), Err(Error::Probability { probability: 1.5 }));
    assert!(hdi(&[&[1.0]], f64::NAN).is_err());
    let found = hdi(&[&[1.0, f64::INFINITY, 2.0]], 0.5).expect("one chain");
    assert!(found.iter().all(|end| end.is_nan()), "{found:?}");
}
