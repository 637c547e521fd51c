//! The automatic run against the whole law of posteriors, beyond means and standard deviations:
//! quantiles and covariances of long runs of another sampler, and an energy-distance test of
//! whitened draws against draws of that sampler. Each must catch errors that are planted.

use ridgewalk_diagnostics::{Covariance, mcse_mean, mcse_quantile, quantile};
use ridgewalk_figures::{Figures, Near};
use ridgewalk_gallery::{self as gallery, Law, PROBABILITIES, Reference, law, reference};
use ridgewalk_lyapunov::laws::KernelKind;
use ridgewalk_potentials::Whitening;
use ridgewalk_sampler::Draws;
use ridgewalk_sampler::automatic::{Length, Target, Wanted, WarmUp};

/// The bias that a warm-up may leave unless told otherwise, of means in sd and of sds relative to
/// them.
const TOLERANCE: f64 = 0.05;
/// Standard errors beyond that. Of the some 1,000 quantiles and covariances that are looked at, an
/// unbiased sampler with normal errors has one beyond five with a probability below 1e-3, and one
/// beyond these and the tolerance with far less.
const ERRORS: f64 = 5.0;
/// Draws from either side in an energy test, and shuffles: a right sampler fails with a probability
/// of 1/1000, four of them with one below 1/250.
const EACH: usize = 800;
const SHUFFLES: usize = 999;

/// Draws of a run: for each chain a table.
type Tables = Vec<Vec<f64>>;

/// 1000 draws of each of 8 chains.
fn sample<T: Target>(target: &T, wanted: Wanted, seed: u64) -> Tables {
    let mut warm = WarmUp::new(target).tolerance(0.05).seed(seed).wanted(wanted).run().unwrap();
    let mut kept = Draws::default();
    let sampled = warm.run(Length::Draws(1000)).keep(&mut kept).unwrap();
    assert!(sampled.outcome.complete());
    kept.tables().into_iter().map(<[f64]>::to_vec).collect()
}

/// For each chain a function of its draws, and its mean over all.
fn traces(tables: &Tables, d: usize, of: impl Fn(&[f64]) -> f64) -> (Tables, f64) {
    let traces: Tables =
        tables.iter().map(|table| table.chunks_exact(d).map(&of).collect()).collect();
    let count: usize = traces.iter().map(Vec::len).sum();
    let mean = traces.iter().flatten().sum::<f64>() / count as f64;
    (traces, mean)
}

fn slices(traces: &Tables) -> Vec<&[f64]> {
    traces.iter().map(Vec::as_slice).collect()
}

/// Where quantiles and covariances do not agree with the law. Written so that what is not a number
/// disagrees.
fn disagreements(tables: &Tables, known: &Reference, law: &Law) -> Vec<String> {
    let d = known.means.len();
    let mut found = Vec::new();
    for k in 0..d {
        let (of_k, _) = traces(tables, d, |x| x[k]);
        let of_k = slices(&of_k);
        for (p, [truth, error]) in PROBABILITIES.into_iter().zip(&law.quantiles[k]) {
            let (value, own) = (quantile(&of_k, p).unwrap(), mcse_quantile(&of_k, p).unwrap());
            // What a shift by the tolerance and a scale that is off by it do to a quantile.
            let budget = TOLERANCE * (known.sds[k] + (truth - known.means[k]).abs());
            if !((value - truth).abs() < budget + ERRORS * own.hypot(*error)) {
                found.push(format!("coordinate {k}: quantile {p} is {value} instead of {truth}"));
            }
        }
    }
    let pairs = (0..d).flat_map(|i| (0..=i).map(move |j| (i, j)));
    for ((i, j), [truth, error]) in pairs.zip(&law.products) {
        let score = |x: &[f64], k: usize| (x[k] - known.means[k]) / known.sds[k];
        let (products, mean) = traces(tables, d, |x| score(x, i) * score(x, j));
        let own = mcse_mean(&slices(&products)).unwrap();
        if !((mean - truth).abs() < 2.0 * TOLERANCE + ERRORS * own.hypot(*error)) {
            found.push(format!("covariance of {i} and {j}: {mean} instead of {truth}"));
        }
    }
    found
}

/// So many draws, equally far apart.
fn some(tables: &Tables, d: usize) -> Vec<f64> {
    let points: Vec<&[f64]> = tables.iter().flat_map(|table| table.chunks_exact(d)).collect();
    points.iter().step_by(points.len() / EACH).take(EACH).flat_map(|point| point.to_vec()).collect()
}

/// The energy distance of Székely and Rizzo between two samples of [`EACH`] points, in coordinates
/// that make their union round; and the share of shuffles of the union into two samples, itself
/// included, with a distance as large. If both are from one law, that share is at most p with a
/// probability of p.
fn energy_test(ours: &[f64], theirs: &[f64], d: usize) -> [f64; 2] {
    let union: Vec<&[f64]> = ours.chunks_exact(d).chain(theirs.chunks_exact(d)).collect();
    let n = union.len();
    assert_eq!(n, 2 * EACH);
    let mut covariance = Covariance::new(d);
    union.iter().for_each(|point| covariance.push(point).unwrap());
    let mut matrix = vec![0.0; d * d];
    covariance.write_into(&mut matrix).unwrap();
    let centre: Vec<f64> = (0..d).map(|k| covariance.mean(k)).collect();
    let whitening = Whitening::from_covariance(&centre, &matrix).unwrap();
    let mut white = vec![0.0; n * d];
    union
        .iter()
        .zip(white.chunks_exact_mut(d))
        .for_each(|(x, z)| whitening.to_whitened(x, z).unwrap());
    // Distances below the diagonal, row by row.
    let rows: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let a = &white[i * d..(i + 1) * d];
            let distance =
                |b: &[f64]| a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt();
            white.chunks_exact(d).take(i).map(distance).collect()
        })
        .collect();
    // With signs for the two samples, 2 E|X − Y| − E|X − X'| − E|Y − Y'| is minus the sum of sign
    // sign distance, over all pairs.
    let distance = |signs: &[f64]| -> f64 {
        let pairs = rows.iter().zip(signs).map(|(row, sign)| {
            // Sums of eight at a time: they become vector instructions.
            let mut sums = [0.0; 8];
            let (whole, rest) = row.as_chunks::<8>();
            for (r, s) in whole.iter().zip(signs.as_chunks::<8>().0) {
                (0..8).for_each(|k| sums[k] += r[k] * s[k]);
            }
            let tail = &signs[row.len() - rest.len()..];
            sign * (sums.iter().sum::<f64>()
                + rest.iter().zip(tail).map(|(r, s)| r * s).sum::<f64>())
        });
        -2.0 * pairs.sum::<f64>() / (EACH * EACH) as f64
    };
    let mut signs: Vec<f64> = (0..n).map(|i| if i < EACH { 1.0 } else { -1.0 }).collect();
    let found = distance(&signs);
    let mut uniforms = vec![0.0; n];
    let mut stream = ridgewalk_sampler::Stream::new(5, 0);
    let mut as_large = 1;
    for _ in 0..SHUFFLES {
        stream.uniforms(&mut uniforms);
        for i in (1..n).rev() {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between 0 and i"
            )]
            signs.swap(i, ((i + 1) as f64 * uniforms[i]) as usize);
        }
        as_large += usize::from(distance(&signs) >= found);
    }
    [found, as_large as f64 / (SHUFFLES + 1) as f64]
}

/// The draws of an automatic run pass, and so do not the same draws with errors planted.
fn check<T: Target>(name: &str, target: &T, test: &str) {
    let (known, law) = (reference(name).unwrap(), law(name).unwrap());
    let d = target.dimension();
    assert_eq!((law.quantiles.len(), law.products.len()), (d, d * (d + 1) / 2));
    assert_eq!(law.draws.len(), EACH * d);
    let tables = sample(target, Wanted::default(), 7);
    let wrong = disagreements(&tables, &known, &law);
    assert!(wrong.is_empty(), "{name}: {wrong:#?}");
    let [distance, share] = energy_test(&some(&tables, d), &law.draws, d);
    println!("{name}: energy distance {distance:.4}, as large in {share} of shuffles");
    assert!(share > 1e-3, "{name}: energy distance {distance}");
    let mut figures = Figures::of("sampler", &format!("{}::{test}", file!()));
    let mut keep = |figure: &str, value: f64| figures.add(name, figure, value);
    keep("coordinates", d as f64);
    keep("quantiles", (d * PROBABILITIES.len()) as f64);
    keep("covariances", law.products.len() as f64);
    keep("beyond their limits", wrong.len() as f64);
    keep("share of shuffles", share);

    let planted = |change: &dyn Fn(&mut [f64])| -> Tables {
        let mut tables = tables.clone();
        tables.iter_mut().flat_map(|table| table.chunks_exact_mut(d)).for_each(change);
        tables
    };
    // The last coordinate is pulled towards the first by a quarter of its sd for each of the
    // first's.
    let leaning =
        planted(&|x| x[d - 1] += 0.25 * known.sds[d - 1] / known.sds[0] * (x[0] - known.means[0]));
    let wrong = disagreements(&leaning, &known, &law);
    assert!(
        wrong.iter().any(|w| w.contains(&format!("covariance of {} and 0", d - 1))),
        "{name}: {wrong:?}"
    );
    keep(
        "covariance planted: covariances found",
        wrong.iter().filter(|w| w.contains("covariance")).count() as f64,
    );
    // No draw of the first coordinate is above its 97 % or so.
    let edge = known.means[0] + 1.8 * known.sds[0];
    let cut = planted(&|x| x[0] = x[0].min(edge));
    let wrong = disagreements(&cut, &known, &law);
    assert!(wrong.iter().any(|w| w.contains("coordinate 0: quantile 0.99")), "{name}: {wrong:?}");
    keep(
        "tail cut: quantiles found",
        wrong.iter().filter(|w| w.contains("quantile")).count() as f64,
    );
    // All standard deviations too large. 20 % must be found; half of that by 800 draws only where
    // there are many dimensions.
    for percent in [10_u8, 20] {
        let wide = planted(&|x| {
            (0..d).for_each(|k| x[k] += f64::from(percent) / 100.0 * (x[k] - known.means[k]))
        });
        let [distance, share] = energy_test(&some(&wide, d), &law.draws, d);
        println!(
            "{name}, sds {percent} % too large: energy distance {distance:.4}, as large in {share} of shuffles"
        );
        assert!(percent < 20 || share <= 1e-3, "{name}: {share}");
        keep(&format!("sds +{percent} %: share of shuffles"), share);
    }
    figures.hold(Near::Same);
}

#[test]
fn a_posterior_far_from_normal_has_its_law() {
    check(
        "breast-cancer",
        &gallery::breast_cancer().unwrap(),
        "a_posterior_far_from_normal_has_its_law",
    );
}

#[test]
fn a_posterior_of_counts_has_its_law() {
    check("poisson", &gallery::poisson().unwrap(), "a_posterior_of_counts_has_its_law");
}

#[test]
fn a_skewed_posterior_has_its_law() {
    check("probit", &gallery::probit().unwrap(), "a_skewed_posterior_has_its_law");
}

#[test]
fn a_posterior_whose_curvature_jumps_has_its_law() {
    check("huber", &gallery::huber().unwrap(), "a_posterior_whose_curvature_jumps_has_its_law");
}

/// Planted: Algorithm 1 with a step that is far too long.
#[test]
fn a_step_that_is_far_too_long_has_another_law() {
    let name = "breast-cancer";
    let (known, law) = (reference(name).unwrap(), law(name).unwrap());
    let wanted =
        Wanted { kernel: Some(KernelKind::ThirdOrder), eta: Some(0.8), ..Wanted::default() };
    let tables = sample(&gallery::breast_cancer().unwrap(), wanted, 7);
    let [distance, share] = energy_test(&some(&tables, 31), &law.draws, 31);
    println!("energy distance {distance:.4}, as large in {share} of shuffles");
    assert!(share <= 1e-3, "energy distance {distance}, {share}");
    let wrong = disagreements(&tables, &known, &law);
    // Its spread is off by less than the tolerance allows covariances to be: medians tell.
    assert!(wrong.iter().filter(|w| w.contains("quantile 0.5 ")).count() > 2, "{wrong:?}");
}
