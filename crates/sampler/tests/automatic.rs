//! Warm-ups without any parameter: exact posteriors, a posterior known from long runs of another sampler, and what cannot be done.

use ridgewalk_diagnostics::summaries_of_table;
use ridgewalk_gallery::{Reference, reference};
use ridgewalk_potentials::families::{Gaussian, Logistic};
use ridgewalk_potentials::{Dense, FromFn, Prior, Ridge};
use ridgewalk_sampler::automatic::{BlackBox, Decision, Target, WarmUp};
use ridgewalk_sampler::{Error, InOriginal, Memory, Stream};

fn normals(seed: u64, count: usize) -> Vec<f64> {
    let mut list = vec![0.0; count];
    Stream::new(seed, 0).normals(&mut list);
    list
}

/// Warms up, draws, and compares with known means and standard deviations: within 0.05 sd and 5 %, and five standard errors of the draws
/// beyond (over the 200 or so comparisons here a false alarm has a probability below 1e-4). Returns effective draws a gradient.
fn check<T: Target>(target: &T, seed: u64, means: &[f64], sds: &[f64]) -> f64 {
    let d = target.dimension();
    let warm = WarmUp::new(target).seed(seed).run().unwrap();
    assert!(warm.within_tolerance, "{:?}", warm.history);
    let mut draws = Memory::default();
    let kernel = warm.kernel().unwrap();
    let outcome =
        warm.sampler(&*kernel).draws(1000).run(&mut InOriginal::new(&warm.whitening, &mut draws)).unwrap();
    assert!(outcome.complete());
    let summaries = summaries_of_table(&draws.tables(), d).unwrap();
    for (k, s) in summaries.iter().enumerate() {
        assert!(s.rhat < 1.01, "{k}: R-hat {}", s.rhat);
        let (off, allowed) = ((s.mean - means[k]).abs(), 0.05 * sds[k] + 5.0 * s.mcse_mean);
        assert!(off < allowed, "{k}: mean {} instead of {}, sd {}", s.mean, means[k], sds[k]);
        assert!(
            (s.sd - sds[k]).abs() < 0.05 * sds[k] + 5.0 * s.mcse_sd,
            "{k}: sd {} instead of {}",
            s.sd,
            sds[k]
        );
    }
    let smallest = summaries.iter().map(|s| s.ess_moments()).fold(f64::INFINITY, f64::min);
    let efficiency = smallest / outcome.gradients() as f64;
    println!(
        "{efficiency:.3} effective draws a gradient, warm-up {} gradients, run {}",
        warm.gradients,
        outcome.gradients()
    );
    warm.history.iter().for_each(|decision| println!("  {decision}"));
    efficiency
}

#[test]
fn a_linear_model_has_the_posterior_that_algebra_gives() {
    // Orthogonal columns of very different lengths: the posterior of each coefficient is normal by itself.
    let (n, d, noise) = (64, 5, 0.5);
    let lengths = [1e-3, 0.1, 1.0, 50.0, 1e4];
    let y = normals(1, n);
    let column = |k: usize, i: usize| if (i >> k) & 1 == 0 { lengths[k] } else { -lengths[k] };
    let values: Vec<f64> = (0..n * d).map(|at| column(at % d, at / d)).collect();
    let design = Dense::new(n, d, values).unwrap();
    let target =
        Ridge::new(design, Gaussian::new(noise).unwrap(), &y, Prior::centred(d, 2.5).unwrap()).unwrap();
    let precision: Vec<f64> =
        lengths.iter().map(|l| n as f64 * l * l / (noise * noise) + 1.0 / 6.25).collect();
    let means: Vec<f64> = (0..d)
        .map(|k| (0..n).map(|i| column(k, i) * y[i]).sum::<f64>() / (noise * noise) / precision[k])
        .collect();
    let sds: Vec<f64> = precision.iter().map(|p| p.sqrt().recip()).collect();
    assert!(check(&target, 1, &means, &sds) > 0.5);
}

#[test]
fn a_gaussian_with_condition_number_1e4_from_its_gradient_alone() {
    let d = 100;
    let precision = |k: usize| 10_f64.powf(4.0 * k as f64 / 99.0);
    let gradient = FromFn::new(d, move |x: &[f64], g: &mut [f64]| {
        g.iter_mut().zip(x).enumerate().for_each(|(k, (g, x))| *g = precision(k) * (x - 0.3));
        Ok(())
    });
    let sds: Vec<f64> = (0..d).map(|k| precision(k).sqrt().recip()).collect();
    let target = BlackBox::new(gradient, 3, &vec![0.0; d]).unwrap();
    assert!(check(&target, 2, &vec![0.3; d], &sds) > 0.4);
}

fn breast_cancer() -> Ridge<'static, Logistic> {
    ridgewalk_gallery::breast_cancer().unwrap()
}

#[test]
fn the_breast_cancer_posterior_is_that_of_long_runs_of_another_sampler() {
    let Reference { means, sds, .. } = reference("breast-cancer").unwrap();
    assert!(check(&breast_cancer(), 3, &means, &sds) > 0.12);
}

#[test]
fn the_warm_up_follows_from_seed_and_target_whatever_the_threads() {
    let target = breast_cancer();
    let run = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let warm = WarmUp::new(&target).seed(seed).run().unwrap();
            (warm.scheme, warm.starts, warm.gradients, warm.history)
        })
    };
    assert_eq!(run(1, 5), run(3, 5));
    assert_ne!(run(1, 5).1, run(1, 6).1);
}

#[test]
fn a_tolerance_that_cannot_be_met_is_told_and_not_passed_over() {
    let warm = WarmUp::new(&breast_cancer()).seed(1).tolerance(1e-4).run().unwrap();
    assert!(!warm.within_tolerance);
    let shortest = warm.history.iter().filter_map(|decision| match decision {
        Decision::Tried { scheme, .. } => Some(scheme.eta()),
        _ => None,
    });
    assert!(shortest.fold(f64::INFINITY, f64::min) < 0.1, "{:?}", warm.history);
}

#[test]
fn what_cannot_be_warmed_up_is_refused() {
    let target = breast_cancer();
    assert!(matches!(
        WarmUp::new(&target).chains(1).run(),
        Err(Error::TooFew { what: "chains", got: 1, need: 2 })
    ));
    assert!(WarmUp::new(&target).tolerance(f64::NAN).run().is_err());
    // Separated data under flat priors have no posterior.
    let design = Dense::new(4, 1, vec![-2.0, -1.0, 1.0, 2.0]).unwrap();
    let separated = Ridge::new(design, Logistic, &[0.0, 0.0, 1.0, 1.0], Prior::flat(1)).unwrap();
    let message = WarmUp::new(&separated).run().unwrap_err().to_string();
    assert!(message.contains("separat"), "{message}");
    let failing = FromFn::new(1, |_: &[f64], _: &mut [f64]| Err("no".to_string()));
    assert!(WarmUp::new(&BlackBox::new(failing, 3, &[0.0]).unwrap()).run().is_err());
    assert!(BlackBox::new(FromFn::new(2, |_: &[f64], _: &mut [f64]| Ok(())), 3, &[0.0]).is_err());
}
