//! The classes of torture runs: planted errors are found, exact draws are not flagged.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use ridgewalk::sampler::Draws;
use ridgewalk_benches::torture::tally::Tally;
use ridgewalk_benches::torture::{
    Attempt, Deviation, MEASURES, Plan, Verdict, attempt, deviations, longest_repeat,
};
use ridgewalk_gallery::{Coefficient, Figure, Torture, torture};

const CHAINS: usize = 8;
const DRAWS: usize = 1000;

fn case(name: &str) -> Torture {
    torture().unwrap().into_iter().find(|case| case.name == name).unwrap()
}

/// Draws of coefficients that are normal and independent, with the means and standard deviations
/// of the references, after `change`, which is given the coefficient and the standard normal.
fn draws(references: &[Coefficient], seed: u64, change: impl Fn(usize, f64) -> f64) -> Draws {
    let mut source = ChaCha8Rng::seed_from_u64(seed);
    let mut value = |k: usize| {
        let z: f64 = StandardNormal.sample(&mut source);
        references[k].mean.value + references[k].sd.value * change(k, z)
    };
    let d = references.len();
    let chains = (0..CHAINS).map(|_| (0..DRAWS * d).map(|at| value(at % d)).collect()).collect();
    Draws::from_chains((0..d).map(|k| format!("x[{k}]")).collect(), chains).unwrap()
}

fn compared(references: &[Coefficient], draws: &Draws) -> Vec<Deviation> {
    deviations(references, draws, &draws.summary().unwrap()).unwrap()
}

/// Measures beyond tolerance, of one coefficient.
fn beyond(found: &[Deviation], coefficient: usize) -> Vec<&'static str> {
    let of = |one: &&Deviation| one.coefficient == coefficient && !one.is_within();
    found.iter().filter(of).map(|one| one.measure).collect()
}

#[test]
fn exact_draws_of_a_normal_posterior_are_right() {
    // The posterior of a Gaussian model is normal, and its marginals are known in closed form.
    let references = case("gaussian-4-by-7").coefficients();
    let mut largest = 0.0_f64;
    for seed in 0..200 {
        let found = compared(&references, &draws(&references, seed, |_, z| z));
        assert_eq!(found.len(), 7 * MEASURES.len());
        assert_eq!(Verdict::of(&found, false), Verdict::Right, "seed {seed}: {found:?}");
        largest = found.iter().map(|one| one.tolerances).fold(largest, f64::max);
    }
    // 7,000 comparisons. A tolerance is five standard errors of 0.011 to 0.024 sd plus 0.01 sd,
    // which is 5.4 to 5.9 standard errors: the probability that one of them is exceeded is below
    // 5e-4, even if standard errors are 10 % too small. The largest of 7,000 is near 4 standard
    // errors.
    assert!(largest > 0.5 && largest < 1.0, "{largest}");
}

#[test]
fn planted_errors_are_found_where_they_are() {
    let references = case("gaussian-4-by-7").coefficients();
    let check = |change: &dyn Fn(f64) -> f64, expected: &[&str]| {
        for seed in 0..20 {
            let wrong = draws(&references, seed, |k, z| if k == 2 { change(z) } else { z });
            let found = compared(&references, &wrong);
            for measure in expected {
                assert!(beyond(&found, 2).contains(measure), "seed {seed}, {measure}: {found:?}");
            }
            assert!((0..7).all(|k| k == 2 || beyond(&found, k).is_empty()), "{found:?}");
            assert_eq!(Verdict::of(&found, false), Verdict::SilentlyWrong);
            assert_eq!(Verdict::of(&found, true), Verdict::OffWithWarning);
        }
    };
    // The standard error of the mean is 0.011 sd, so that 0.1 sd is beyond 0.066 by three of them.
    check(&|z| z + 0.1, &["mean"]);
    // That of the sd is 0.008 sd, and the tolerance 0.05 sd.
    check(&|z| 1.1 * z, &["sd"]);
    // Draws beyond 1.2 sd are moved there: the 95 % quantile falls from 1.64 to 1.2. Draws near the
    // median are moved to one side of it: it rises to 0.3.
    check(&|z| if z > 1.2 { 1.2 } else { z }, &["q95"]);
    check(&|z| if z.abs() < 0.3 { 0.3 } else { z }, &["q50"]);
}

#[test]
fn draws_that_are_no_numbers_or_have_no_error_are_not_right() {
    let one = Figure { value: 1.0, error: 1e-9 };
    let references = [Coefficient { mean: one, sd: one, quantiles: [one; 3] }];
    let stuck = |value: f64| {
        let chains = vec![vec![value; DRAWS]; CHAINS];
        Draws::from_chains(vec!["x".into()], chains).unwrap()
    };
    let found = compared(&references, &stuck(1.0));
    assert_eq!(beyond(&found, 0), ["sd"], "{found:?}");
    let found = compared(&references, &stuck(f64::MAX));
    assert!(found.iter().all(|one| !one.is_within()), "{found:?}");
}

#[test]
fn repeats_are_counted_within_a_chain() {
    let chains = vec![vec![1.0, 1.0, 2.0, 2.0, 2.0, 3.0], vec![3.0, 3.0, 4.0, 4.0, 5.0, 5.0]];
    let draws = Draws::from_chains(vec!["x".into()], chains).unwrap();
    assert_eq!(longest_repeat(&draws), 2);
}

#[test]
fn a_run_of_the_set_is_the_same_whenever_it_is_made_and_is_tallied() {
    let case = case("gaussian-scale-1e9");
    let plan = Plan { chains: 8, draws: 1000, tolerance: None, kernel: None };
    let made = attempt(&case, &plan, 3);
    assert_eq!((made.verdict, made.clone()), (Verdict::Right, attempt(&case, &plan, 3)));
    let refused = attempt(&case, &Plan { chains: 0, ..plan }, 1);
    assert_eq!(refused.verdict, Verdict::Refused);
    let wolf = Attempt {
        verdict: Verdict::FalseAlarm,
        warnings: vec!["divergence".into(), "divergence".into()],
        ..made.clone()
    };
    let tally = Tally::new(&[made.clone(), refused, wolf]);
    assert_eq!((tally.counts, tally.gradients), ([1, 1, 0, 0, 1], made.gradients));
    assert_eq!(tally.warnings.get("divergence"), Some(&1));
    assert_eq!(tally.line(&case).matches(',').count(), 15);
}
