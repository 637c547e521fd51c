//! Chains that start at rest: their second moments at several times against those of the linear
//! form of their kernel, propagated from 0, by z-scores; chains with drawn momenta must fail them.

use crate::common::{Quadratic, critical, kernels};
use ridgewalk_potentials::LineIntegral;
use ridgewalk_sampler::{Draws, Ensemble, LinearKernel, Sampler, Snapshot, State};

/// False alarms of all scores of this file together. The tails of variances, which are those of χ²
/// with more than 10⁴ degrees of freedom, are about twice as heavy as normal ones this far out.
const FALSE_ALARMS: f64 = 1e-6;
const MOST_SCORES: usize = 2_000;
const CHAINS: usize = 4096;
/// Curvatures of the target, with four coordinates each. L is the largest.
const CURVATURES: [f64; 3] = [4.0, 1.0, 0.2];
const EACH: usize = 4;
const SMOOTHNESS: f64 = 4.0;

fn threshold() -> f64 {
    critical(FALSE_ALARMS / MOST_SCORES as f64)
}

fn target() -> Quadratic {
    Quadratic { curvature: CURVATURES.iter().flat_map(|c| [*c; EACH]).collect() }
}

fn entries(state: &State) -> [&[f64]; 3] {
    [&state.theta, &state.p, &state.r]
}

/// z-scores of the second moments of (θ, p, r) after 1, 2, 5 and 20 steps, from the mode.
fn scores(kernel: &dyn LinearKernel, mut ensemble: Ensemble<'_>) -> Vec<f64> {
    let mut found = Vec::new();
    for steps in [1_u64, 2, 5, 20] {
        ensemble.advance(kernel, steps - ensemble.steps());
        let chains = ensemble.snapshot().chains;
        assert!(chains.iter().all(|saved| saved.end.is_none()));
        for (at, curvature) in CURVATURES.iter().enumerate() {
            let form = kernel.scheme().linear_form(curvature / SMOOTHNESS).unwrap();
            let mut expected = [[0.0; 3]; 3];
            (0..steps).for_each(|_| expected = form.propagate_second_moment(&expected));
            for i in 0..form.dimension() {
                for j in 0..=i {
                    let (mut second, mut fourth) = (0.0, 0.0);
                    for saved in &chains {
                        let x = entries(&saved.state);
                        for k in at * EACH..(at + 1) * EACH {
                            let product = x[i][k] * x[j][k];
                            second += product;
                            fourth += product * product;
                        }
                    }
                    let n = (CHAINS * EACH) as f64;
                    let (mean, need) = (second / n, expected[i][j] / SMOOTHNESS);
                    let error = ((fourth / n - mean * mean) / n).sqrt();
                    found.push((mean - need) / error);
                }
            }
        }
    }
    found
}

fn largest(scores: &[f64]) -> f64 {
    scores.iter().fold(0.0, |most, z| if z.abs() > most || z.is_nan() { z.abs() } else { most })
}

/// Whether momenta at the start matter: the overdamped kernel has none, and trajectories draw them.
fn starts_matter(kernel: &dyn LinearKernel) -> bool {
    kernel.scheme().linear_form(1.0).unwrap().dimension() > 1
}

#[test]
fn chains_at_rest_have_the_law_of_that_start_and_drawn_momenta_do_not() {
    let target = target();
    let origin = vec![0.0; CHAINS * target.dimension()];
    let mut all = Vec::new();
    for kernel in kernels(1.5, 3.0, 0.5, SMOOTHNESS) {
        let rest = Ensemble::at_rest(&target, 5, &origin).unwrap();
        let right = scores(kernel.as_ref(), rest);
        assert!(largest(&right) < threshold(), "{}: {}", kernel.name(), largest(&right));
        all.extend(right);
        // The planted error.
        if starts_matter(kernel.as_ref()) {
            let drawn = Ensemble::new(&target, 5, &origin, SMOOTHNESS).unwrap();
            let wrong = largest(&scores(kernel.as_ref(), drawn));
            assert!(wrong > 2.0 * threshold(), "{}: {wrong}", kernel.name());
        }
    }
    println!("{} scores, largest {:.2}", all.len(), largest(&all));
    assert!(all.len() <= MOST_SCORES);
    let square = all.iter().map(|z| z * z).sum::<f64>() / all.len() as f64;
    assert!((0.7..1.4).contains(&square), "{square}");
}

#[test]
fn a_sampler_at_rest_starts_with_zeros_and_resumes_bit_for_bit() {
    let target = target();
    let start: Vec<f64> = (0..target.dimension()).map(|k| 0.1 * k as f64).collect();
    for kernel in kernels(1.5, 3.0, 0.5, SMOOTHNESS) {
        let sampler = || Sampler::new(&target, kernel.as_ref()).start(&start).seed(3);
        let at_rest = || sampler().at_rest().chains(3).draws(40);
        let ensemble = at_rest().ensemble().unwrap();
        for saved in ensemble.snapshot().chains {
            assert_eq!(saved.state.theta, start);
            let zeros = [&saved.state.p, &saved.state.r].into_iter().flatten();
            assert!(zeros.into_iter().all(|x| x.to_bits() == 0));
        }
        let (mut whole, mut parts) = (Draws::default(), Draws::default());
        at_rest().run(&mut whole).unwrap();
        // Half of the run, then the rest from bytes.
        let mut first = at_rest().draws(20);
        let mut chains = first.ensemble().unwrap();
        first.go_on(&mut chains, &mut parts).unwrap();
        let bytes = chains.snapshot().to_bytes();
        let saved = Snapshot::from_bytes(&bytes).unwrap();
        let mut restored = Ensemble::restore(&target, saved).unwrap();
        at_rest().go_on(&mut restored, &mut parts).unwrap();
        assert_eq!(whole, parts, "{}", kernel.name());
        let mut drawn = Draws::default();
        sampler().chains(3).draws(40).run(&mut drawn).unwrap();
        assert_eq!(whole != drawn, starts_matter(kernel.as_ref()), "{}", kernel.name());
    }
}
