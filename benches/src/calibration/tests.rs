//! The tests of uniformity against enumeration, the planted errors against the step, the noise
//! against its density, and a small calibration: automatic runs with and without a tolerance pass
//! it, and runs with planted errors do not.

use ridgewalk::lyapunov::laws::{Drift, KernelKind, Scheme, Trajectory};
use ridgewalk::potentials::families::Logistic;
use ridgewalk::potentials::{Chebyshev, Dense, FromFn, Prior, Ridge};
use ridgewalk::sampler::{Batch, Kernel, Noise, Step, Workspace, from_scheme};

use super::mistakes::{Coefficient, Mistake, Mistaken, Planted, WrongAcceptance};
use super::models::Model;
use super::sampler::Automatic;
use super::uniformity::{Envelope, Ranks};
use super::{Calibrated, Size, calibrate, tests};

/// The probability with which the small calibration rejects a correct sampler.
const FALSE_ALARMS: f64 = 1e-3;

fn ranks_of(list: impl IntoIterator<Item = usize>, values: usize) -> Ranks {
    let mut ranks = Ranks::new(values);
    list.into_iter().for_each(|rank| ranks.push(rank));
    ranks
}

/// The binomial probability, n over k times shareᵏ (1 − share)ⁿ⁻ᵏ.
fn binomial(n: u64, k: u64, share: f64) -> f64 {
    let ways: f64 = (0..k).map(|j| (n - j) as f64 / (k - j) as f64).product();
    ways * share.powf(k as f64) * (1.0 - share).powf((n - k) as f64)
}

#[test]
fn the_probability_of_leaving_the_envelope_is_that_of_all_lists_of_ranks_that_do() {
    let (total, values) = (6, 4);
    let envelope = Envelope::new(total, values);
    let lists =
        || (0..values.pow(6)).map(|code| (0..6).map(move |k| code / values.pow(k) % values));
    // The smallest tail of a list, from the formula of the binomial law.
    let smallest = |ranks: &Ranks| {
        let counts = ranks.cumulative();
        let tail = |i: usize| {
            let (count, share) = (counts[i], (i + 1) as f64 / values as f64);
            let below: f64 = (0..=count).map(|k| binomial(6, k, share)).sum();
            let above: f64 = (count..=6).map(|k| binomial(6, k, share)).sum();
            2.0 * below.min(above)
        };
        (0..values - 1).map(tail).fold(f64::INFINITY, f64::min)
    };
    let all: Vec<f64> = lists().map(|list| smallest(&ranks_of(list, 4))).collect();
    for (list, code) in lists().zip(0..).step_by(37) {
        let ranks = ranks_of(list, 4);
        let [tail, probability] = envelope.test(&ranks).unwrap();
        assert!((tail - all[code]).abs() < 1e-12);
        // Tails that are equal but for rounding count as equal.
        let as_small = all.iter().filter(|other| **other <= all[code] + 1e-9).count();
        let expected = as_small as f64 / all.len() as f64;
        assert!(
            (probability - expected).abs() < 1e-9,
            "{ranks:?}: {probability} instead of {expected}"
        );
    }
    // A level is the largest whose probability of leaving is within the wanted one, and its bounds
    // agree with the tails.
    let level = envelope.level(0.1);
    assert!(envelope.leaves(level) <= 0.1 && envelope.leaves(1.0001 * level) > 0.1);
    let bounds = envelope.bounds(level);
    let leave = lists().filter(|list| {
        let counts = ranks_of(list.clone(), 4).cumulative();
        bounds.iter().zip(counts).any(|(b, count)| count < b[0] as u64 || count > b[1] as u64)
    });
    assert!((leave.count() as f64 / 4096.0 - envelope.leaves(level)).abs() < 1e-9);
}

#[test]
fn chi_square_is_that_of_the_formula() {
    // Counts 10, 20, 30, 40 with 25 expected give 20; the tail of 3 degrees of freedom beyond it is
    // 1.697e-4 (scipy.stats.chi2.sf(20, 3)).
    let ranks = Ranks { counts: vec![4, 6, 20, 0, 13, 17, 40, 0] };
    let [statistic, probability] = ranks.chi_square(4).unwrap();
    assert_eq!(statistic, 20.0);
    assert!((probability / 1.697_424e-4 - 1.0).abs() < 1e-5, "{probability}");
    assert!(ranks.chi_square(3).is_err() && ranks.chi_square(1).is_err());
}

#[test]
fn huber_noise_has_the_density_that_the_family_takes_it_to_have() {
    // Shares within 0.5, 1.345 and 2.5, by a sum over a fine grid of e^-h.
    let h = |e: f64| if e <= 1.345 { 0.5 * e * e } else { 1.345 * (e - 0.5 * 1.345) };
    let mass = |to: f64| {
        (0..100_000).map(|k| (-h((k as f64 + 0.5) * to / 1e5)).exp() * to / 1e5).sum::<f64>()
    };
    let whole = mass(40.0);
    let (n, mut found) = (40_000, [0.0_f64; 3]);
    let mut sum = 0.0;
    for seed in 0..n / 400 {
        let data = Model::Huber.draw(400, 3, seed).unwrap();
        for (row, y) in data.design.chunks(3).zip(&data.responses) {
            let e = y - row.iter().zip(&data.truth).map(|(a, x)| a * x).sum::<f64>();
            sum += e;
            for (share, edge) in found.iter_mut().zip([0.5, 1.345, 2.5]) {
                *share += f64::from(u8::from(e.abs() < edge)) / n as f64;
            }
        }
    }
    for (share, edge) in found.into_iter().zip([0.5, 1.345, 2.5]) {
        let expected = mass(edge) / whole;
        // Five standard errors in four comparisons: a false alarm has a probability of 2e-6.
        let error = (expected * (1.0 - expected) / n as f64).sqrt();
        assert!(
            (share - expected).abs() < 5.0 * error,
            "within {edge}: {share} instead of {expected}"
        );
    }
    assert!((sum / n as f64).abs() < 5.0 * 1.6 / (n as f64).sqrt(), "{sum}");
}

/// p and r after a step of the second coordinate of the second of two chains, when one of p, r, the
/// noise of p and the noise of r is 1 and the others are 0. With U = 0 these are the coefficients.
fn entry(kernel: &dyn Kernel, source: usize) -> [f64; 2] {
    let (mut from, mut to) = (Batch::new(2, 2).unwrap(), Batch::new(2, 2).unwrap());
    let each = kernel.normals();
    let mut normals = vec![0.0; 4 * each];
    match source {
        0 => from.fields_mut().p[3] = 1.0,
        1 => from.fields_mut().r[3] = 1.0,
        noise => normals[(2 * each - 4 + noise) * 2 + 1] = 1.0,
    }
    let noise = Noise { normals: &normals, uniforms: &[] };
    let zero = FromFn::new(2, |_: &[f64], gradient: &mut [f64]| {
        gradient.fill(0.0);
        Ok(())
    });
    let nothing = Chebyshev::new(zero, 1).unwrap();
    let (potential, workspace) = (&nothing, &mut Workspace::default());
    kernel.step(Step { potential, from: &from, noise, to: &mut to, workspace }).unwrap();
    [to.p()[3], to.r()[3]]
}

#[test]
fn a_planted_error_is_in_one_coefficient_and_in_no_other() {
    let places = [
        (Coefficient::PToP, 0, 0),
        (Coefficient::RToP, 1, 0),
        (Coefficient::PToR, 0, 1),
        (Coefficient::RToR, 1, 1),
        (Coefficient::NoiseOfP, 2, 0),
        (Coefficient::NoiseOfR, 3, 1),
    ];
    for name in [KernelKind::ThirdOrder, KernelKind::Symmetric, KernelKind::Averaged] {
        let scheme = Scheme::new(name, 1.2, 2.0, 0.7).unwrap();
        let right = from_scheme(&scheme, 1.0).unwrap();
        for (coefficient, from, to) in places {
            let wrong = Mistaken::new(&scheme, Mistake { coefficient, factor: 1.02 }).unwrap();
            for source in 0..4 {
                let (found, was) = (entry(&wrong, source), entry(&*right, source));
                for target in 0..2 {
                    let factor = if (source, target) == (from, to) { 1.02 } else { 1.0 };
                    let off = (found[target] - factor * was[target]).abs();
                    assert!(
                        off < 1e-14,
                        "{name:?}, {coefficient:?}: {source} to {target} is off by {off}"
                    );
                    assert!(source == 3 && target == 0 || was[target].abs() > 1e-3);
                }
            }
        }
    }
    assert!(
        Mistaken::new(
            &Scheme::ula(0.1).unwrap(),
            Mistake { coefficient: Coefficient::PToP, factor: 1.02 }
        )
        .is_err()
    );
}

#[test]
fn an_error_in_the_acceptance_is_in_the_potential_alone() {
    let design = Dense::new(4, 2, vec![1.0, 0.3, -0.7, 1.2, 0.4, -2.0, 1.1, 0.8]).unwrap();
    let responses = [1.0, 0.0, 0.0, 1.0];
    let posterior =
        Ridge::new(design, Logistic, &responses, Prior::centred(2, 2.5).unwrap()).unwrap();
    let trajectory = Trajectory::new(3, Drift::Straight);
    let scheme = Scheme::adjusted(0.5, 2.0, 0.9, trajectory).unwrap();
    let right = || from_scheme(&scheme, 1.0).unwrap();
    let wrong = WrongAcceptance::new(right(), 0.9).unwrap();
    let mut from = Batch::new(2, 2).unwrap();
    let fields = from.fields_mut();
    fields.theta.copy_from_slice(&[0.4, -0.9, 1.5, 0.2]);
    fields.p.copy_from_slice(&[2.0, -1.5, -1.0, 2.5]);
    let normals: Vec<f64> = (0..8).map(|k| (f64::from(k) * 1.7).sin()).collect();
    // Uniform numbers of 0 accept everything.
    let noise = Noise { normals: &normals, uniforms: &[0.0; 4] };
    let made = |kernel: &dyn Kernel| {
        let (mut to, workspace) = (Batch::new(2, 2).unwrap(), &mut Workspace::default());
        let step = Step { potential: &posterior, from: &from, noise, to: &mut to, workspace };
        kernel.step(step).unwrap();
        to
    };
    let (as_is, changed) = (made(&*right()), made(&wrong));
    assert_eq!(as_is.theta(), changed.theta());
    for chain in 0..2 {
        let at = |batch: &Batch| posterior.value(&batch.theta()[2 * chain..][..2]).unwrap();
        let rise = at(&as_is) - at(&from);
        let off = changed.proposals()[chain].energy_error - as_is.proposals()[chain].energy_error;
        assert!(rise.abs() > 0.1 && (off + 0.1 * rise).abs() < 1e-12, "{off}, {rise}");
    }
    let plain = Scheme::new(KernelKind::Averaged, 1.2, 2.0, 0.7).unwrap();
    assert!(WrongAcceptance::new(from_scheme(&plain, 1.0).unwrap(), 0.9).is_err());
}

const SMALL: Size = Size { replications: 100, ..Size::FULL };

fn smallest(outcome: &Calibrated) -> f64 {
    outcome.verdicts().unwrap().iter().map(super::Verdict::smallest).fold(f64::INFINITY, f64::min)
}

#[test]
fn the_automatic_run_is_calibrated() {
    calibrated(0.01);
}

#[test]
fn the_exact_run_is_calibrated() {
    calibrated(0.0);
}

/// The small calibration of all models with a tolerance.
fn calibrated(tolerance: f64) {
    let level = FALSE_ALARMS / tests(Model::ALL.len()) as f64;
    let run = |model| calibrate(&Automatic::new(tolerance), model, SMALL, 1.0, 2).unwrap();
    let outcomes: Vec<Calibrated> = Model::ALL.into_iter().map(run).collect();
    for (model, outcome) in Model::ALL.into_iter().zip(&outcomes) {
        assert_eq!((outcome.ranks[0].total(), outcome.within), (100, 100), "{}", model.name());
        assert!(smallest(outcome) > level, "{}: {:?}", model.name(), outcome.verdicts());
    }
    let all = Calibrated::together(&outcomes);
    assert_eq!(all.ranks[7].total(), 600);
    assert!(smallest(&all) > level, "{:?}", all.verdicts());
}

#[test]
fn a_prior_scale_that_is_5_percent_off_is_found() {
    let size = Size { replications: 400, ..SMALL };
    let outcome = calibrate(&Automatic::new(0.01), Model::Gaussian, size, 1.05, 2).unwrap();
    assert!(smallest(&outcome) < FALSE_ALARMS / tests(1) as f64, "{:?}", outcome.verdicts());
}

#[test]
fn a_coefficient_that_is_2_percent_off_is_found() {
    let mistake = Some(Planted::Step(Mistake { coefficient: Coefficient::PToP, factor: 1.02 }));
    let size = Size { replications: 200, ..SMALL };
    let outcome =
        calibrate(&Automatic { mistake, ..Automatic::new(0.01) }, Model::Poisson, size, 1.0, 2)
            .unwrap();
    assert!(smallest(&outcome) < FALSE_ALARMS / tests(1) as f64, "{:?}", outcome.verdicts());
}

/// The smallest error in the acceptance that so few data sets can find; `calibrate` has enough for
/// 2 %.
#[test]
fn an_acceptance_that_is_15_percent_off_is_found() {
    let mistake = Some(Planted::Acceptance(0.85));
    let size = Size { replications: 200, ..SMALL };
    let sampler = Automatic { mistake, ..Automatic::new(0.0) };
    let outcome = calibrate(&sampler, Model::Probit, size, 1.0, 2).unwrap();
    assert!(smallest(&outcome) < FALSE_ALARMS / tests(1) as f64, "{:?}", outcome.verdicts());
}
