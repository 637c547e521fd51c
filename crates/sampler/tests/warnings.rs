//! What a finished run warns about.

use std::sync::atomic::AtomicBool;

use ridgewalk_diagnostics::Summary;
use ridgewalk_lyapunov::laws::KernelKind;
use ridgewalk_potentials::{FromFn, FromValueFn};
use ridgewalk_sampler::Draws;
use ridgewalk_sampler::automatic::{BlackBox, Length, Sampled, Wanted, WarmUp, Warning};

fn names(warnings: &[Warning]) -> Vec<&'static str> {
    warnings.iter().map(Warning::name).collect()
}

/// A run on a normal distribution, and the summary of its draws.
fn run(chains: usize, wanted: Wanted, length: Length, stop: bool) -> (Sampled, Vec<Warning>) {
    let gradient = |x: &[f64], g: &mut [f64]| {
        g.copy_from_slice(x);
        Ok(0.5 * x.iter().map(|x| x * x).sum::<f64>())
    };
    let target = BlackBox::new(FromValueFn::new(2, gradient), 3, &[0.5, 0.5]).unwrap();
    let mut warm = WarmUp::new(&target).chains(chains).wanted(wanted).seed(1).run().unwrap();
    let (mut draws, stop) = (Draws::default(), AtomicBool::new(stop));
    let sampled = warm.run(length).stop(&stop).keep(&mut draws).unwrap();
    let summary = draws.summary().unwrap_or_default();
    let warnings = sampled.warnings(draws.names(), &summary);
    (sampled, warnings)
}

#[test]
fn a_good_run_has_no_warnings() {
    assert_eq!(run(8, Wanted::default(), Length::Draws(1000), false).1, []);
}

#[test]
fn few_draws_and_one_chain_are_reported_with_what_would_do() {
    let (_, found) = run(8, Wanted::default(), Length::Draws(20), false);
    assert_eq!(names(&found)[0], "low_ess", "{found:?}");
    match &found[0] {
        Warning::LowEss { parameter, ess, least, suggested_draws } => {
            assert!(parameter.starts_with("x[") && *ess < 400.0 && *least == 400.0);
            let need = (20.0 * (600.0 / ess).clamp(2.0, 1000.0) / 100.0).ceil() * 100.0;
            assert_eq!(*suggested_draws as f64, need);
        }
        other => panic!("{other:?}"),
    }
    let (_, found) = run(1, Wanted::default(), Length::Draws(2000), false);
    assert_eq!(names(&found), ["one_chain"]);
}

#[test]
fn a_stop_and_a_target_that_is_not_reached_are_reported() {
    let (sampled, found) = run(4, Wanted::default(), Length::Draws(500), true);
    assert_eq!(names(&found), ["stopped"]);
    assert_eq!(sampled.no_draws().to_string(), "0 of 4 chains could not go on");
    let length = Length::Ess { target: 1e6, most: 400 };
    let (_, found) = run(4, Wanted::default(), length, false);
    assert_eq!(found[0], Warning::TargetEssNotReached { target: 1e6, most: 400 });
    assert!(found[0].to_string().contains("did not reach 1000000 in 400 draws"));
}

#[test]
fn a_step_that_is_too_long_is_reported() {
    let wanted =
        Wanted { kernel: Some(KernelKind::ThirdOrder), eta: Some(1.2), ..Wanted::default() };
    let (sampled, found) = run(8, wanted, Length::Draws(1000), false);
    assert_eq!(names(&found), ["bias_above_tolerance"]);
    let need = Warning::BiasAboveTolerance { bias: sampled.bias, tolerance: 0.05 };
    assert_eq!(found[0], need);
}

#[test]
fn chains_that_end_are_reported_with_their_reason() {
    let gradient = |x: &[f64], g: &mut [f64]| {
        g[0] = x[0];
        if x[0] > 2.5 { Err("beyond the wall".into()) } else { Ok(()) }
    };
    let target = BlackBox::new(FromFn::new(1, gradient), 3, &[0.5]).unwrap();
    let wanted =
        Wanted { kernel: Some(KernelKind::Symmetric), eta: Some(0.5), ..Wanted::default() };
    let mut seeds = 0..50;
    let mut warm =
        seeds.find_map(|seed| WarmUp::new(&target).wanted(wanted).seed(seed).run().ok()).unwrap();
    let mut draws = Draws::default();
    let sampled = warm.run(Length::Draws(4000)).keep(&mut draws).unwrap();
    let found = sampled.warnings(draws.names(), &draws.summary().unwrap());
    match &found[0] {
        Warning::EndedChains { ended, chains: 8, chain, step, why } => {
            let (first, end) = sampled.outcome.ended().next().unwrap();
            assert_eq!((*ended, *chain), (sampled.outcome.ended().count(), first));
            assert_eq!((*step, why), (end.step, &end.why));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(found[0].name(), "divergence");
    assert!(found[0].to_string().contains("beyond the wall"), "{}", found[0]);
}

/// Every branch of the conditions on summaries, at their limits.
#[test]
fn limits_of_ess_and_rhat_are_where_they_should_be() {
    let (sampled, _) = run(4, Wanted::default(), Length::Draws(1000), false);
    let summary = |ess: f64, rhat: f64| {
        let draws: Vec<f64> = (0..100).map(|k| (f64::from(k) * 2.3).sin()).collect();
        let mut summary = Summary::of(&[&draws[..50], &draws[50..]]).unwrap();
        (summary.ess_bulk, summary.ess_tail, summary.rhat) = (ess, ess, rhat);
        summary
    };
    let both = ["a".to_owned(), "b".to_owned()];
    let found = |second: Summary| sampled.warnings(&both, &[summary(400.0, 1.01), second]);
    assert_eq!(found(summary(400.0, 1.01)), []);
    assert_eq!(names(&found(summary(399.9, 1.0))), ["low_ess"]);
    assert_eq!(names(&found(summary(500.0, 1.011))), ["high_rhat"]);
    assert_eq!(names(&found(summary(f64::NAN, f64::NAN))), ["low_ess", "high_rhat"]);
    match &found(summary(f64::NAN, f64::NAN))[..] {
        [Warning::LowEss { parameter, .. }, high @ Warning::HighRhat { suggested_draws, .. }] => {
            assert_eq!((parameter.as_str(), *suggested_draws), ("b", 4000));
            assert!(high.to_string().contains("not known from so few draws"));
        }
        other => panic!("{other:?}"),
    }
}
