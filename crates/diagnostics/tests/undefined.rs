//! Wrong shapes are errors, undefined numbers are NaN, and constant chains are treated as in ArviZ.

use ridgewalk_diagnostics::{
    Error, Summary, ess_bulk, ess_mean, ess_moments, ess_quantile, ess_sd, ess_tail, mcse_mean,
    mcse_quantile, mcse_sd, quantile, rhat, summaries, summaries_of_table,
};

use crate::common::{ar1, generator, mapped, slices};

type Diagnostic = fn(&[&[f64]]) -> Result<f64, Error>;

/// Everything but the quantile, which is defined for any number of draws.
const ALL: [(&str, Diagnostic); 10] = [
    ("rhat", rhat),
    ("ess_bulk", ess_bulk),
    ("ess_tail", ess_tail),
    ("ess_mean", ess_mean),
    ("ess_sd", ess_sd),
    ("ess_moments", ess_moments),
    ("ess_quantile", |chains| ess_quantile(chains, 0.3)),
    ("mcse_mean", mcse_mean),
    ("mcse_sd", mcse_sd),
    ("mcse_quantile", |chains| mcse_quantile(chains, 0.3)),
];

#[test]
fn wrong_shapes_are_errors() {
    let (long, short) = ([1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0]);
    for (name, diagnostic) in ALL {
        assert_eq!(diagnostic(&[]), Err(Error::NoChains), "{name}");
        assert_eq!(diagnostic(&[&[], &[]]), Err(Error::Empty), "{name}");
        assert_eq!(
            diagnostic(&[&long, &long, &short]),
            Err(Error::Lengths { chain: 2, got: 4, need: 5 }),
            "{name}"
        );
    }
    assert_eq!(Summary::of(&[]), Err(Error::NoChains));
    assert_eq!(summaries(&[&[&long, &short]]), Err(Error::Lengths { chain: 1, got: 4, need: 5 }));
    assert_eq!(
        summaries(&[&[&long], &[&long, &short]]),
        Err(Error::Lengths { chain: 1, got: 4, need: 5 })
    );
    assert_eq!(summaries(&[]), Ok(Vec::new()));
    let message = Error::Lengths { chain: 2, got: 4, need: 5 }.to_string();
    assert_eq!(message, "chain 2 has 4 draws: need 5, as chain 0 has");
}

#[test]
fn wrong_probabilities_are_errors() {
    let chain = [1.0, 2.0, 3.0, 4.0, 5.0];
    for p in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        for got in [quantile(&[&chain], p), ess_quantile(&[&chain], p), mcse_quantile(&[&chain], p)]
        {
            assert!(matches!(got, Err(Error::Probability { .. })), "{p}");
        }
    }
    for p in [0.0, 1.0] {
        assert!(mcse_quantile(&[&chain], p).is_ok_and(f64::is_finite));
    }
}

#[test]
fn wrong_tables_are_errors() {
    let table = [0.0; 12];
    assert_eq!(summaries_of_table(&[], 3), Err(Error::NoChains));
    assert_eq!(
        summaries_of_table(&[&table], 0),
        Err(Error::Table { chain: 0, values: 12, parameters: 0 })
    );
    assert_eq!(
        summaries_of_table(&[&table, &table[..11]], 3),
        Err(Error::Table { chain: 1, values: 11, parameters: 3 })
    );
    assert_eq!(
        summaries_of_table(&[&table, &table[..9]], 3),
        Err(Error::Lengths { chain: 1, got: 3, need: 4 })
    );
    assert_eq!(summaries_of_table(&[&[], &[]], 3), Err(Error::Empty));
}

#[test]
fn short_chains_have_moments_and_quantiles_only() {
    let chains: [&[f64]; 2] = [&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]];
    for (name, diagnostic) in ALL {
        assert!(diagnostic(&chains).is_ok_and(f64::is_nan), "{name}");
    }
    let summary = Summary::of(&chains).expect("well-shaped");
    assert_eq!((summary.mean, summary.sd, summary.q50), (3.5, 3.5_f64.sqrt(), 3.5));
    assert!(summary.rhat.is_nan() && summary.ess_bulk.is_nan() && summary.mcse_mean.is_nan());
    // One draw: no spread either.
    let summary = Summary::of(&[&[2.0]]).expect("well-shaped");
    assert!(summary.mean == 2.0 && summary.q95 == 2.0 && summary.sd.is_nan());
}

#[test]
fn draws_that_are_not_finite_leave_nothing_defined() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut sample = ar1(&mut generator(1), 3, 40, 0.2);
        sample[1][39] = bad;
        let chains = slices(&sample);
        for (name, diagnostic) in ALL {
            assert!(diagnostic(&chains).is_ok_and(f64::is_nan), "{name} with {bad}");
        }
        assert!(quantile(&chains, 0.1).is_ok_and(f64::is_nan));
        let s = Summary::of(&chains).expect("well-shaped");
        assert!([s.mean, s.sd, s.q05, s.q50, s.q95, s.rhat, s.ess_tail].iter().all(|x| x.is_nan()));
    }
}

/// Also for values whose sum is rounded, unlike that of the 1.5 in the fixture.
#[test]
fn constant_chains_are_as_in_arviz() {
    for value in [0.0, 0.1, -1e-300, 1e12 / 3.0] {
        let chain = vec![value; 99];
        let summary = Summary::of(&[&chain, &chain]).expect("well-shaped");
        assert_eq!((summary.mean, summary.sd, summary.mcse_mean), (value, 0.0, 0.0));
        for ess in [summary.ess_bulk, summary.ess_tail, summary.ess_mean, summary.ess_sd] {
            // The middle draw of an odd chain is in neither half.
            assert_eq!(ess, 196.0);
        }
        assert!(summary.rhat.is_nan() && summary.mcse_sd.is_nan());
        assert_eq!(mcse_quantile(&[&chain, &chain], 0.3), Ok(0.0));
    }
}

#[test]
fn stuck_at_different_values_is_infinitely_bad() {
    let levels: Vec<Vec<f64>> = [0.1, 0.2, 0.7].iter().map(|&x| vec![x; 60]).collect();
    assert_eq!(rhat(&slices(&levels)), Ok(f64::INFINITY));
}

#[test]
fn one_chain_has_no_rhat() {
    let sample = ar1(&mut generator(2), 1, 500, 0.2);
    assert!(rhat(&slices(&sample)).is_ok_and(f64::is_nan));
    assert!(ess_bulk(&slices(&sample)).is_ok_and(|ess| ess > 100.0));
}

/// ArviZ treats draws as constant if they spread over less than 1e-15, as the squares of draws of
/// size 1e-9 do.
#[test]
fn small_parameters_are_not_constant() {
    let sample = ar1(&mut generator(3), 2, 300, 0.9);
    let small = mapped(&sample, |x| x * 2.0_f64.powi(-60));
    for (name, diagnostic) in ALL {
        let scale = if name.starts_with("mcse") { 2.0_f64.powi(60) } else { 1.0 };
        let got = diagnostic(&slices(&small)).expect("well-shaped") * scale;
        assert_eq!(got, diagnostic(&slices(&sample)).expect("well-shaped"), "{name}");
    }
}
