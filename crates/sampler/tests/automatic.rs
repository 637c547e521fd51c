//! Warm-ups and runs without any parameter: exact posteriors, posteriors known from long runs of
//! another sampler, what is given and must be used as it is, what must be told, and what cannot be
//! done.

use ridgewalk_diagnostics::{Summary, summaries_of_table};
use ridgewalk_gallery::{self as gallery, Ladder, Reference, reference};
use ridgewalk_lyapunov::laws::KernelKind;
use ridgewalk_potentials::families::{Gaussian, Logistic, Poisson};
use ridgewalk_potentials::{Dense, FromFn, FromValueFn, Prior, Ridge};
use ridgewalk_sampler::automatic::{
    BlackBox, Decision, Extrapolated, Length, Sampled, Target, Wanted, WarmUp, WarmedUp,
};
use ridgewalk_sampler::{Draws, Error, Quantity, Stream};

fn normals(seed: u64, count: usize) -> Vec<f64> {
    let mut list = vec![0.0; count];
    Stream::new(seed, 0).normals(&mut list);
    list
}

/// A run of 1000 draws of each chain.
fn draw<T: Target>(target: &T, warm: &mut WarmedUp<T::White>) -> (Sampled, Vec<Summary>) {
    let mut draws = Draws::default();
    let sampled = warm.run(Length::Draws(1000)).keep(&mut draws).unwrap();
    assert!(sampled.outcome.complete());
    assert_eq!(sampled.outcome.draws(), 8 * 1000);
    (sampled, summaries_of_table(&draws.tables(), target.dimension()).unwrap())
}

/// Where draws do not agree with a reference: R-hat below 1.01, means within 0.05 sd and sds within
/// 5 %, and five standard errors of both beyond. An unbiased sampler fails a comparison with a
/// probability below 1e-9, one with a bias of the whole tolerance with 6e-7.
fn disagreements(summaries: &[Summary], known: &Reference) -> Vec<String> {
    assert_eq!(summaries.len(), known.means.len());
    let mut found = Vec::new();
    for (k, s) in summaries.iter().enumerate() {
        let sd = known.sds[k];
        let mean_error = s.mcse_mean.hypot(known.mean_errors[k]);
        let sd_error = s.mcse_sd.hypot(known.sd_errors[k]);
        // Written so that what is not a number disagrees.
        if !(s.rhat < 1.01) {
            found.push(format!("coordinate {k}: R-hat {}", s.rhat));
        }
        if !((s.mean - known.means[k]).abs() < 0.05 * sd + 5.0 * mean_error) {
            found.push(format!(
                "coordinate {k}: mean {} instead of {}, sd {sd}",
                s.mean, known.means[k]
            ));
        }
        if !((s.sd - sd).abs() < 0.05 * sd + 5.0 * sd_error) {
            found.push(format!("coordinate {k}: sd {} instead of {sd}", s.sd));
        }
    }
    found
}

/// The smallest, over coordinates, of the effective draws of θ and of (θ − mean)².
fn smallest(summaries: &[Summary]) -> f64 {
    summaries.iter().map(Summary::ess_moments).fold(f64::INFINITY, f64::min)
}

/// Warm-ups and runs with some seeds, each of which must agree with what is known, be within the
/// tolerance and cost less than a fifth for its warm-up. The median of effective draws per gradient
/// must be above a floor.
fn check<T: Target>(
    name: &str, target: &T, known: &Reference, seeds: std::ops::Range<u64>, floor: f64,
) {
    let mut efficiencies = Vec::new();
    for seed in seeds {
        let mut warm = WarmUp::new(target).tolerance(0.05).seed(seed).run().unwrap();
        assert!(warm.within_tolerance, "{name}, seed {seed}: {:?}", warm.history);
        let (sampled, summaries) = draw(target, &mut warm);
        let wrong = disagreements(&summaries, known);
        assert!(wrong.is_empty(), "{name}, seed {seed}: {wrong:#?}");
        assert!(
            sampled.within_tolerance && sampled.reached,
            "{name}, seed {seed}: {:?}",
            sampled.bias
        );
        assert!(sampled.confirmation.is_some() && sampled.confirmation_gradients > 0);
        let share = warm.gradients as f64 / sampled.gradients() as f64;
        assert!(share < 0.2, "{name}, seed {seed}: the warm-up took {share} of the run");
        let efficiency = smallest(&summaries) / sampled.gradients() as f64;
        println!(
            "{name}, seed {seed}: {efficiency:.3} effective draws per gradient, warm-up {:.1} %",
            100.0 * share
        );
        warm.history.iter().for_each(|decision| println!("  {decision}"));
        efficiencies.push(efficiency);
    }
    efficiencies.sort_by(f64::total_cmp);
    let median = efficiencies[efficiencies.len() / 2];
    assert!(median > floor, "{name}: {efficiencies:?} effective draws per gradient");
}

#[test]
fn a_linear_model_has_the_posterior_that_algebra_gives() {
    // Orthogonal columns of very different lengths: the posterior of each coefficient is normal by
    // itself.
    let (n, d, noise) = (64, 5, 0.5);
    let lengths = [1e-3, 0.1, 1.0, 50.0, 1e4];
    let y = normals(1, n);
    let column = |k: usize, i: usize| if (i >> k) & 1 == 0 { lengths[k] } else { -lengths[k] };
    let values: Vec<f64> = (0..n * d).map(|at| column(at % d, at / d)).collect();
    let design = Dense::new(n, d, values).unwrap();
    let target =
        Ridge::new(design, Gaussian::new(noise).unwrap(), &y, Prior::centred(d, 2.5).unwrap())
            .unwrap();
    let precision: Vec<f64> =
        lengths.iter().map(|l| n as f64 * l * l / (noise * noise) + 1.0 / 6.25).collect();
    let known = Reference {
        means: (0..d)
            .map(|k| {
                (0..n).map(|i| column(k, i) * y[i]).sum::<f64>() / (noise * noise) / precision[k]
            })
            .collect(),
        sds: precision.iter().map(|p| p.sqrt().recip()).collect(),
        mean_errors: vec![0.0; d],
        sd_errors: vec![0.0; d],
    };
    check("linear", &target, &known, 1..4, 0.65);
}

// Six targets of different kinds, five seeds each: about 2,000 means and sds.

#[test]
fn a_nearly_normal_posterior_of_correlated_columns() {
    let target = gallery::correlated_logistic().unwrap();
    let name = "correlated-logistic";
    check(name, &target, &reference(name).unwrap(), 0..5, 0.65);
}

#[test]
fn a_posterior_far_from_normal() {
    let name = "breast-cancer";
    check(name, &breast_cancer(), &reference(name).unwrap(), 0..5, 0.18);
}

#[test]
fn a_posterior_of_counts() {
    check("poisson", &gallery::poisson().unwrap(), &reference("poisson").unwrap(), 0..5, 0.65);
}

#[test]
fn a_skewed_posterior() {
    check("probit", &gallery::probit().unwrap(), &reference("probit").unwrap(), 0..5, 0.4);
}

#[test]
fn a_posterior_whose_curvature_jumps() {
    check("huber", &gallery::huber().unwrap(), &reference("huber").unwrap(), 0..5, 0.65);
}

#[test]
fn a_gaussian_with_condition_number_1e4_from_its_gradient_alone() {
    let target = BlackBox::new(Ladder, 3, &[0.0; 100]).unwrap();
    check("ladder", &target, &reference("ladder").unwrap(), 0..5, 0.65);
}

fn breast_cancer() -> Ridge<'static, Logistic> {
    gallery::breast_cancer().unwrap()
}

fn steps_tried(history: &[Decision]) -> Vec<(KernelKind, f64)> {
    let tried = history.iter().filter_map(|decision| match decision {
        Decision::Tried { scheme, .. } => Some((scheme.kernel(), scheme.eta())),
        _ => None,
    });
    tried.collect()
}

#[test]
fn a_step_that_is_given_is_used_as_it_is_and_its_bias_told() {
    let target = breast_cancer();
    for (kernel, eta) in
        [(KernelKind::Averaged, 0.3), (KernelKind::ThirdOrder, 0.25), (KernelKind::Symmetric, 0.2)]
    {
        let wanted = Wanted { kernel: Some(kernel), eta: Some(eta), ..Wanted::default() };
        let warm = WarmUp::new(&target).seed(1).wanted(wanted).run().unwrap();
        assert_eq!((warm.scheme.kernel(), warm.scheme.eta()), (kernel, eta));
        assert_eq!(steps_tried(&warm.history), [(kernel, eta)]);
        assert!(warm.within_tolerance && warm.bias.bound() <= 0.05, "{kernel:?}: {:?}", warm.bias);
        assert!(warm.bias.largest() > 0.0);
        assert_eq!(warm.differences.len(), 31);
    }
    let wanted = Wanted {
        gamma: Some(1.0),
        xi: Some(2.5),
        eta: Some(0.3),
        kernel: Some(KernelKind::Averaged),
    };
    let warm = WarmUp::new(&target).seed(1).wanted(wanted).run().unwrap();
    assert_eq!(
        (warm.scheme.gamma(), warm.scheme.xi(), warm.scheme.eta()),
        (Some(1.0), Some(2.5), 0.3)
    );
}

#[test]
fn a_kernel_that_is_given_is_the_only_one_tried() {
    let target = breast_cancer();
    for kernel in [KernelKind::ThirdOrder, KernelKind::Averaged, KernelKind::Symmetric] {
        let wanted = Wanted { kernel: Some(kernel), ..Wanted::default() };
        let warm = WarmUp::new(&target).seed(2).wanted(wanted).run().unwrap();
        assert_eq!(warm.scheme.kernel(), kernel);
        let tried = steps_tried(&warm.history);
        assert!(!tried.is_empty() && tried.iter().all(|(k, _)| *k == kernel), "{tried:?}");
        assert!(warm.within_tolerance, "{:?}", warm.history);
    }
}

/// Planted errors: steps that are far too long. Each is told, by the warm-up and by the run, and
/// the comparison that the six targets pass fails for its draws. Extrapolated means are nearer to
/// the truth than the plain ones even so.
#[test]
fn a_step_that_is_far_too_long_is_told_and_disagrees_with_the_reference() {
    let target = breast_cancer();
    let known = reference("breast-cancer").unwrap();
    for (kernel, eta) in
        [(KernelKind::ThirdOrder, 0.8), (KernelKind::Symmetric, 0.8), (KernelKind::Averaged, 1.4)]
    {
        let wanted = Wanted { kernel: Some(kernel), eta: Some(eta), ..Wanted::default() };
        for seed in 1..4 {
            let mut warm = WarmUp::new(&target).seed(seed).wanted(wanted).run().unwrap();
            assert_eq!((warm.scheme.kernel(), warm.scheme.eta()), (kernel, eta));
            assert!(
                !warm.within_tolerance && warm.bias.at_least() > 0.05,
                "{kernel:?}: {:?}",
                warm.bias
            );
            let (sampled, summaries) = draw(&target, &mut warm);
            assert!(!sampled.within_tolerance, "{kernel:?}: {:?}", sampled.bias);
            assert!(sampled.confirmation.is_some_and(|found| found.largest() > 0.05));
            let wrong = disagreements(&summaries, &known);
            println!("{kernel:?} at {eta}: {} disagreements, {:?}", wrong.len(), sampled.bias);
            assert!(wrong.len() > 3, "{kernel:?}: {wrong:?}");
            let off = |means: Vec<f64>| -> f64 {
                means
                    .iter()
                    .enumerate()
                    .map(|(k, m)| ((m - known.means[k]) / known.sds[k]).powi(2))
                    .sum()
            };
            let better = summaries
                .iter()
                .zip(&sampled.differences)
                .map(|(s, d)| Extrapolated::new(s, d).mean);
            let (plain, better) =
                (off(summaries.iter().map(|s| s.mean).collect()), off(better.collect()));
            println!("  squared distance of means {plain:.3}, extrapolated {better:.3}");
            assert!(better < plain, "{kernel:?}, seed {seed}: {plain}, {better}");
        }
    }
}

#[test]
fn the_confirmation_is_a_measurement_of_its_own() {
    let target = breast_cancer();
    let mut warm = WarmUp::new(&target).tolerance(0.05).seed(4).run().unwrap();
    let (sampled, _) = draw(&target, &mut warm);
    let found = sampled.confirmation.unwrap();
    assert_ne!(found, warm.bias);
    // Together they are from more paths than either.
    for (both, old) in sampled.differences.iter().zip(&warm.differences) {
        assert!(both.blocks > old.blocks && both.mean != old.mean, "{both:?}, {old:?}");
    }
    assert!(sampled.confirmation_gradients as f64 <= 0.05 * sampled.outcome.gradients() as f64);
}

#[test]
fn the_warm_up_follows_from_seed_and_target_whatever_the_threads() {
    let target = breast_cancer();
    let run = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut warm = WarmUp::new(&target).tolerance(0.05).seed(seed).run().unwrap();
            let mut draws = Draws::default();
            let sampled = warm.run(Length::Draws(50)).keep(&mut draws).unwrap();
            let found = (sampled.differences, sampled.confirmation, draws);
            (warm.scheme, warm.starts, warm.gradients, warm.history, found)
        })
    };
    assert_eq!(run(1, 5), run(3, 5));
    assert_ne!(run(1, 5).1, run(1, 6).1);
}

#[test]
fn a_tolerance_that_cannot_be_met_is_told_and_not_passed_over() {
    let target = breast_cancer();
    let wanted = Wanted { kernel: Some(KernelKind::Averaged), ..Wanted::default() };
    let mut warm = WarmUp::new(&target).seed(1).tolerance(1e-7).wanted(wanted).run().unwrap();
    assert!(!warm.within_tolerance);
    let shortest =
        steps_tried(&warm.history).iter().fold(f64::INFINITY, |least, (_, eta)| least.min(*eta));
    assert!(shortest < 0.1, "{:?}", warm.history);
    let mut draws = Draws::default();
    let sampled = warm.run(Length::Draws(100)).keep(&mut draws).unwrap();
    assert!(sampled.outcome.complete() && !sampled.within_tolerance);
    // Where nothing is asked for there are trajectories, which have no bias at all.
    let warm = WarmUp::new(&target).seed(1).tolerance(1e-7).run().unwrap();
    assert_eq!((warm.scheme.kernel(), warm.within_tolerance), (KernelKind::Adjusted, true));
}

#[test]
fn one_chain_is_warmed_up_as_well_as_many() {
    // A single chain would not tell how sure a measurement is, so the warm-up has more of them: it
    // decides as that of eight does.
    let target = gallery::probit().unwrap();
    for seed in 0..10 {
        let mut one = WarmUp::new(&target).tolerance(0.05).seed(seed).chains(1).run().unwrap();
        let eight = WarmUp::new(&target).tolerance(0.05).seed(seed).run().unwrap();
        assert_eq!((&one.scheme, &one.history), (&eight.scheme, &eight.history));
        assert_eq!(one.starts, eight.starts[..8]);
        let sampled = one.run(Length::Draws(3000)).keep(&mut Draws::default()).unwrap();
        assert!(sampled.within_tolerance, "seed {seed}: {:?}", sampled.bias);
    }
}

#[test]
fn what_cannot_be_warmed_up_is_refused() {
    let target = breast_cancer();
    assert!(matches!(
        WarmUp::new(&target).chains(0).run(),
        Err(Error::Zero { what: Quantity::Chains })
    ));
    assert!(matches!(
        WarmUp::new(&target).draws(0).run(),
        Err(Error::Zero { what: Quantity::Draws })
    ));
    assert!(WarmUp::new(&target).tolerance(f64::NAN).run().is_err());
    let unstable =
        Wanted { kernel: Some(KernelKind::Symmetric), eta: Some(3.0), ..Wanted::default() };
    assert!(matches!(
        WarmUp::new(&target).wanted(unstable).run(),
        Err(Error::NoStableStep { eta, .. }) if eta == 3.0
    ));
    for eta in [0.0, -1.0, f64::NAN] {
        let wanted = Wanted { eta: Some(eta), ..Wanted::default() };
        assert!(WarmUp::new(&target).wanted(wanted).run().is_err(), "{eta}");
    }
    // Separated data under flat priors have no posterior.
    let design = Dense::new(4, 1, vec![-2.0, -1.0, 1.0, 2.0]).unwrap();
    let separated = Ridge::new(design, Logistic, &[0.0, 0.0, 1.0, 1.0], Prior::flat(1)).unwrap();
    let message = WarmUp::new(&separated).run().unwrap_err().to_string();
    assert!(message.contains("separat"), "{message}");
    let failing = FromFn::new(1, |_: &[f64], _: &mut [f64]| Err("no".into()));
    assert!(WarmUp::new(&BlackBox::new(failing, 3, &[0.0]).unwrap()).run().is_err());
    assert!(BlackBox::new(FromFn::new(2, |_: &[f64], _: &mut [f64]| Ok(())), 3, &[0.0]).is_err());
}

/// Counts that are all 0: the curvature grows like exp, and a pilot with its usual step diverges
/// for most seeds.
#[test]
fn a_pilot_that_diverges_begins_again_with_shorter_steps() {
    let design = Dense::new(20, 1, normals(5, 20)).unwrap().with_intercept();
    let prior = Prior::centred(2, 2.5).unwrap();
    let posterior = Ridge::new(design, Poisson, &[0.0; 20], prior).unwrap();
    for seed in 0..6 {
        WarmUp::new(&posterior).seed(seed).run().unwrap();
    }
}

#[test]
fn more_chains_than_there_is_memory_for_are_refused() {
    let target = breast_cancer();
    for chains in [usize::MAX, usize::MAX / 1000] {
        let found = WarmUp::new(&target).chains(chains).run();
        assert!(matches!(found, Err(Error::TooMany { what: Quantity::Chains })));
    }
}

#[test]
fn hessians_at_the_edge_of_the_support_come_from_within() {
    // A half-normal law, whose mode is on the edge, and another coordinate.
    let half = |x: &[f64], g: &mut [f64]| {
        (g[0], g[1]) = (x[0] + 0.5 * x[1], 3.0 * x[1] + 0.5 * x[0]);
        match x[0] < 0.0 {
            true => Err(ridgewalk_potentials::GradientError::OutsideSupport),
            false => Ok(0.5 * x[0] * x[0] + 1.5 * x[1] * x[1] + 0.5 * x[0] * x[1]),
        }
    };
    let target = BlackBox::new(FromValueFn::new(2, half), 3, &[0.0; 2]).unwrap();
    let (hessian, _) = target.hessian(&[0.0, 0.0]).unwrap();
    for (found, need) in hessian.iter().zip([1.0, 0.5, 0.5, 3.0]) {
        assert!((found - need).abs() < 1e-9, "{hessian:?}");
    }
    assert!(target.hessian(&[-1.0, 0.0]).is_err());
}
