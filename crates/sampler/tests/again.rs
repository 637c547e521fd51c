//! Runs that continue others, and budgets that end them.

use std::time::Duration;

use crate::common::{Quadratic, parameters};
use ridgewalk_diagnostics::Summary;
use ridgewalk_potentials::FromFn;
use ridgewalk_sampler::automatic::{BlackBox, Length, WarmUp};
use ridgewalk_sampler::{Budget, ChainStatus, Draws, Error, Exhausted, Sampler, Symmetric};

/// A skewed target of one dimension: draws are correlated.
macro_rules! warm {
    () => {{
        let gradient = |x: &[f64], g: &mut [f64]| {
            g[0] = x[0].exp() - 1.0 + 0.1 * x[0];
            Ok(())
        };
        let target = BlackBox::new(FromFn::new(1, gradient), 3, &[0.5]).unwrap();
        WarmUp::new(&target).chains(4).seed(3).run().unwrap()
    }};
}

fn ess(draws: &Draws) -> f64 {
    draws.summary().unwrap()[0].ess_bulk
}

#[test]
fn three_runs_are_one_that_is_three_times_as_long() {
    let mut warm = warm!();
    let (mut parts, mut whole) = (Draws::default(), Draws::default());
    let mut last = None;
    for _ in 0..3 {
        last = Some(warm.run(Length::Draws(200)).keep(&mut parts).unwrap());
    }
    warm.begin_anew();
    let one = warm.run(Length::Draws(600)).keep(&mut whole).unwrap();
    assert_eq!(parts, whole);
    assert_eq!((parts.common(), ess(&parts)), (600, ess(&whole)));
    let last = last.unwrap();
    assert_eq!((last.draws, last.outcome.draws()), (one.draws, one.outcome.draws()));
    // A test of the test: what repeating the first run three times would show.
    let mut repeated = Draws::default();
    for _ in 0..3 {
        warm.begin_anew();
        warm.run(Length::Draws(200)).keep(&mut repeated).unwrap();
    }
    assert_ne!(repeated, whole);
    assert!(repeated.chain(0)[..200] == repeated.chain(0)[200..400]);
}

#[test]
fn a_run_continues_with_the_thinning_that_it_began_with() {
    let mut warm = warm!();
    let mut draws = Draws::default();
    warm.run(Length::Draws(50)).thin(2).keep(&mut draws).unwrap();
    warm.run(Length::Draws(50)).keep(&mut draws).unwrap();
    let mut whole = Draws::default();
    warm.begin_anew();
    warm.run(Length::Draws(100)).thin(2).keep(&mut whole).unwrap();
    assert_eq!(draws, whole);
    let error = warm.run(Length::Draws(50)).thin(3).keep(&mut draws).unwrap_err();
    assert!(matches!(error, Error::Thin { got: 3, need: 2 }));
}

#[test]
fn a_continued_run_to_an_effective_sample_size_counts_the_draws_before() {
    let mut warm = warm!();
    let mut draws = Draws::default();
    warm.run(Length::Draws(1000)).keep(&mut draws).unwrap();
    let more = Length::Ess { target: ess(&draws) + 300.0, most: 20_000 };
    let sampled = warm.run(more).keep(&mut draws).unwrap();
    assert!(sampled.reached && sampled.looks[0].draws >= 1200, "{:?}", sampled.looks);
    assert_eq!(draws.common() as u64, sampled.draws);
}

#[test]
fn a_sampler_continues_and_begins_anew() {
    let target = Quadratic { curvature: vec![1.0, 3.0] };
    let kernel = Symmetric::new(parameters(1.0, 2.0, 0.7), 3.0).unwrap();
    let make = |draws: u64| Sampler::new(&target, &kernel).warm_up(5).thin(3).draws(draws);
    let (mut parts, mut whole) = (Draws::default(), Draws::default());
    let mut sampler = make(40);
    (0..3).for_each(|_| assert!(sampler.run(&mut parts).unwrap().complete()));
    make(120).run(&mut whole).unwrap();
    assert_eq!(parts, whole);
    sampler.begin_anew();
    let mut first = Draws::default();
    sampler.run(&mut first).unwrap();
    assert_eq!(first.chain(1), &whole.chain(1)[..80]);
    // Another seed begins anew by itself.
    let mut other = Draws::default();
    sampler.seed(9).run(&mut other).unwrap();
    assert_eq!(other.common(), 40);
}

#[test]
fn a_budget_of_gradients_ends_a_run_at_the_same_draw_every_time() {
    let mut warm = warm!();
    let budget = Budget::gradients(1000);
    let found: Vec<Draws> = (0..3)
        .map(|_| {
            let mut draws = Draws::default();
            warm.begin_anew();
            let run = warm.run(Length::Draws(1 << 40)).budget(budget);
            let sampled = run.keep(&mut draws).unwrap();
            let outcome = &sampled.outcome;
            assert_eq!(outcome.exhausted, Some(Exhausted::Gradients));
            assert!(!outcome.stopped && sampled.confirmation.is_none());
            assert!(outcome.chains.iter().all(|chain| chain.status == ChainStatus::Stopped));
            assert!((980..=1000).contains(&outcome.gradients()), "{}", outcome.gradients());
            assert_eq!(outcome.draws(), draws.len() as u64);
            draws
        })
        .collect();
    assert!(found[0].common() > 0 && found[0] == found[1] && found[1] == found[2]);
    // It goes on from there, with a budget of its own.
    let mut draws = found[2].clone();
    warm.run(Length::Draws(1 << 40)).budget(budget).keep(&mut draws).unwrap();
    assert!(draws.common() >= 2 * found[0].common());
    let names: Vec<String> = draws.names().to_vec();
    let sampled = warm.run(Length::Draws(10)).budget(Budget::gradients(0)).keep(&mut draws);
    let warnings = sampled.unwrap().warnings(&names, &[] as &[Summary]);
    assert!(warnings.iter().any(|warning| warning.name() == "out_of_budget"), "{warnings:?}");
}

#[test]
fn a_budget_of_time_ends_a_run() {
    let target = Quadratic { curvature: vec![1.0] };
    let kernel = Symmetric::new(parameters(1.0, 2.0, 0.7), 1.0).unwrap();
    let sampler = Sampler::new(&target, &kernel).draws(1 << 40).thin(1 << 10);
    let mut draws = Draws::default();
    let time = Duration::from_millis(100);
    let outcome = sampler.budget(Budget::time(time)).run(&mut draws).unwrap();
    assert_eq!(outcome.exhausted, Some(Exhausted::Time));
    assert!(!outcome.complete() && !outcome.stopped && outcome.seconds >= 0.1);
}
