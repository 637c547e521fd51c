//! Every target has a reference of the right size that is consistent with its mode.

use ridgewalk_gallery::{
    Ladder, NAMES, Reference, breast_cancer, correlated_logistic, huber, huber_large,
    independent_logistic, poisson, poisson_large, probit, reference,
};
use ridgewalk_potentials::families::Family;
use ridgewalk_potentials::{Gradient, Ridge};

/// The mode is within two standard deviations of the means, which it would not be for the reference
/// of another target.
fn check<F: Family + Clone>(name: &str, target: &Ridge<'_, F>) {
    let Reference { means, sds, mean_errors, sd_errors } = reference(name).unwrap();
    let mode = target.mode().unwrap().point;
    for list in [&means, &sds, &mean_errors, &sd_errors] {
        assert_eq!(list.len(), target.dimension(), "{name}");
    }
    for k in 0..means.len() {
        let off = (mode[k] - means[k]).abs() / sds[k];
        assert!(off < 2.0, "{name}, coordinate {k}: mode {} and mean {}", mode[k], means[k]);
        assert!(mean_errors[k] > 0.0 && mean_errors[k] < 0.005 * sds[k], "{name}, coordinate {k}");
        assert!(sd_errors[k] > 0.0 && sd_errors[k] < 0.01 * sds[k], "{name}, coordinate {k}");
    }
}

#[test]
fn every_target_has_a_reference_of_its_own() {
    check("correlated-logistic", &correlated_logistic().unwrap());
    check("breast-cancer", &breast_cancer().unwrap());
    check("independent-logistic", &independent_logistic().unwrap());
    check("poisson", &poisson().unwrap());
    check("poisson-large", &poisson_large().unwrap());
    check("probit", &probit().unwrap());
    check("huber", &huber().unwrap());
    check("huber-large", &huber_large().unwrap());
    assert!(NAMES.iter().all(|name| reference(name).is_ok()));
    assert!(reference("another").is_err());
}

#[test]
fn the_ladder_is_exact() {
    let Reference { means, sds, mean_errors, sd_errors } = reference("ladder").unwrap();
    let mut gradient = vec![1.0; 100];
    Ladder.gradient(&means, &mut gradient).unwrap();
    assert!(gradient.iter().all(|g| *g == 0.0));
    assert!((sds[99] - 0.01).abs() < 1e-12 && sds[0] == 1.0);
    assert_eq!((mean_errors, sd_errors), (vec![0.0; 100], vec![0.0; 100]));
}
