//! The peer samples the same posterior as we do, and gradients are counted in the same way for
//! both.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ridgewalk::diagnostics::summaries_of_table;
use ridgewalk::potentials::{Gradient, GradientError, Scratch};
use ridgewalk::sampler::automatic::{BlackBox, WarmUp};
use ridgewalk::sampler::{Draws, InOriginal};
use ridgewalk_benches::peers::{Setting, run};
use ridgewalk_benches::problems::{Density, LadderProblem, Problem};
use ridgewalk_gallery::{Ladder, Reference, huber, probit, reference};

/// The difference of values at two points agrees with the integral of the gradient by Gauss's rule
/// with two nodes.
fn value_fits_gradient(density: &impl Density) {
    let d = density.dimension();
    let at = |t: f64| -> Vec<f64> { (0..d).map(|k| 0.1 + t * (k as f64).cos()).collect() };
    let both = |point: &[f64]| {
        let mut gradient = vec![0.0; d];
        let value =
            density.value_and_gradient(point, &mut gradient, &mut Scratch::default()).unwrap();
        (value, gradient)
    };
    let step = 1e-3;
    let mut sum = 0.0;
    for node in [-1.0, 1.0] {
        let point = at(0.5 * step * (1.0 + node / 3.0_f64.sqrt()));
        let (_, gradient) = both(&point);
        sum += 0.5
            * step
            * gradient.iter().enumerate().map(|(k, g)| g * (k as f64).cos()).sum::<f64>();
    }
    let difference = both(&at(step)).0 - both(&at(0.0)).0;
    assert!((difference - sum).abs() < 1e-6 * sum.abs(), "{difference} and {sum}");
}

#[test]
fn values_and_gradients_are_of_one_potential() {
    let (probit, ladder) = (probit().unwrap(), LadderProblem::new().unwrap());
    value_fits_gradient(probit.plain());
    value_fits_gradient(&probit.white(&probit.laplace().unwrap().0).unwrap());
    value_fits_gradient(ladder.plain());
    value_fits_gradient(&ladder.white(&ladder.laplace().unwrap().0).unwrap());
}

#[test]
fn every_setting_draws_from_the_posterior_in_original_coordinates() {
    let Reference { means, sds, .. } = reference("huber").unwrap();
    for setting in Setting::ALL {
        let run = run(&huber().unwrap(), setting, 2, 1500, 1).unwrap();
        assert_eq!(run.draws.len(), 2);
        let tables: Vec<&[f64]> = run.draws.iter().map(Vec::as_slice).collect();
        assert!(tables.iter().all(|table| table.len() == 6 * 1500));
        // Each draw takes at least one gradient.
        assert!(
            run.sampling.gradients >= 3000 && run.warm_up.gradients >= 800,
            "{}",
            setting.name()
        );
        assert!(run.sampling.seconds > 0.0);
        for (k, s) in summaries_of_table(&tables, 6).unwrap().iter().enumerate() {
            // Over 60 comparisons, a false alarm at five standard errors has a probability below
            // 1e-4. The last setting is not adjusted.
            let slack = if setting == Setting::WhitenedMclmc { 0.05 * sds[k] } else { 0.0 };
            let name = setting.name();
            assert!(
                (s.mean - means[k]).abs() < 5.0 * s.mcse_mean + slack,
                "{name}, {k}: mean {}",
                s.mean
            );
            assert!((s.sd - sds[k]).abs() < 5.0 * s.mcse_sd + slack, "{name}, {k}: sd {}", s.sd);
        }
    }
}

#[test]
fn runs_follow_from_their_seed() {
    let draws = |seed| run(&huber().unwrap(), Setting::Whitened, 2, 20, seed).unwrap().draws;
    assert_eq!(draws(1), draws(1));
    assert_ne!(draws(1), draws(2));
    let two = draws(1);
    assert_ne!(two[0], two[1]);
}

/// The ladder, with a count of its calls.
#[derive(Debug, Clone)]
struct CountedLadder(Arc<AtomicU64>);

impl Gradient for CountedLadder {
    fn dimension(&self) -> usize {
        Gradient::dimension(&Ladder)
    }

    fn gradient(&self, point: &[f64], into: &mut [f64]) -> Result<(), GradientError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Gradient::gradient(&Ladder, point, into)
    }
}

#[test]
fn we_count_our_own_gradients_as_strictly_as_those_of_the_peer() {
    let calls = Arc::new(AtomicU64::new(0));
    let target = BlackBox::new(CountedLadder(Arc::clone(&calls)), 3, &[0.0; 100]).unwrap();
    let warm = WarmUp::new(&target).seed(1).run().unwrap();
    let spent = calls.swap(0, Ordering::Relaxed);
    assert_eq!(spent, warm.gradients);
    let kernel = warm.kernel().unwrap();
    let mut draws = Draws::default();
    let outcome = warm
        .sampler(&*kernel)
        .draws(100)
        .run(&mut InOriginal::new(&warm.whitening, &mut draws))
        .unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), outcome.gradients());
}
