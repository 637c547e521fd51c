//! The torture set describes the posteriors that its references were computed for, and the
//! references are precise.

use std::collections::BTreeSet;

use ridgewalk_gallery::{Torture, torture};
use ridgewalk_potentials::Gradient;

/// The largest relative difference allowed between our potentials and those of the script.
const TOLERANCE: f64 = 1e-12;

/// The largest difference of U and of its gradient from the script's at the known points, relative
/// to the sizes of the terms.
fn difference(case: &Torture) -> f64 {
    let posterior = case.posterior().unwrap();
    let mut worst = 0.0_f64;
    assert_eq!(case.points.len(), 3, "{}", case.name);
    for point in &case.points {
        let mut gradient = vec![0.0; case.dimension()];
        let value = posterior.value_and_gradient(&point.at, &mut gradient).unwrap().unwrap();
        let mut compare = |ours: f64, known: f64, size: f64| {
            let off = (ours - known).abs() / size;
            assert!(off.is_finite(), "{}: {ours} and {known}", case.name);
            worst = worst.max(off);
        };
        compare(value, point.value, point.value_size);
        for (k, ours) in gradient.into_iter().enumerate() {
            compare(ours, point.gradient[k], point.gradient_sizes[k]);
        }
    }
    worst
}

#[test]
fn potentials_of_the_torture_set_are_those_of_the_script() {
    let set = torture().unwrap();
    let names: BTreeSet<&str> = set.iter().map(|case| case.name.as_str()).collect();
    assert!(set.len() >= 60 && names.len() == set.len(), "{} cases", set.len());
    for case in &set {
        let off = difference(case);
        assert!(off < TOLERANCE, "{}: off by {off:e}", case.name);
    }
}

#[test]
fn a_wrong_prior_scale_in_the_torture_set_is_found() {
    for case in torture().unwrap() {
        for k in 0..case.dimension() {
            let mut wrong = case.clone();
            // A flat prior becomes a normal one.
            let scale = case.prior[k].map_or(1.0, |scale| 2.0 * scale);
            wrong.prior[k] = Some(scale);
            let off = difference(&wrong);
            assert!(off > TOLERANCE, "{}, coefficient {k}: off by only {off:e}", case.name);
        }
    }
}

#[test]
fn references_of_the_torture_set_are_ordered_and_precise() {
    for case in torture().unwrap() {
        for (k, found) in case.coefficients().into_iter().enumerate() {
            let place = format!("{}, coefficient {k}: {found:?}", case.name);
            let [low, middle, high] = found.quantiles.map(|quantile| quantile.value);
            let (mean, sd) = (found.mean.value, found.sd.value);
            assert!(low < middle && middle < high, "{place}");
            // Mean and median are never further apart than one standard deviation, and unimodal
            // distributions have no 5 % or 95 % quantile beyond the bound below (Vysochanskij and
            // Petunin, one-sided).
            assert!((mean - middle).abs() < sd, "{place}");
            assert!(mean - low < 2.81 * sd && high - mean < 2.81 * sd, "{place}");
            let limit = if case.method == "quadrature" { 1e-4 } else { 0.02 };
            for figure in [found.mean, found.sd].into_iter().chain(found.quantiles) {
                assert!(figure.error > 0.0 && figure.error < limit * sd, "{place}");
            }
        }
    }
}

#[test]
fn modes_of_the_torture_set_are_those_of_the_script() {
    for case in torture().unwrap() {
        let posterior = case.posterior().unwrap();
        let mode = posterior.mode().unwrap().point;
        let (ours, known) = (posterior.value(&mode).unwrap(), &case.points[0]);
        let allowed = 1e-6 + 1e-12 * known.value_size;
        assert!((ours - known.value).abs() < allowed, "{}: {ours}, {}", case.name, known.value);
        for (k, found) in case.coefficients().into_iter().enumerate() {
            let off = (mode[k] - found.mean.value).abs() / found.sd.value;
            assert!(off < 4.0, "{}, coefficient {k}: mode {off} sd from the mean", case.name);
        }
    }
}
