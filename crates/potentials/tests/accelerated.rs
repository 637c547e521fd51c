//! Modes by accelerated gradients: against Newton's, within the bound of their gradients, as near as
//! they prove, and refused where m or L is missing. Quadratics of every condition number are in
//! src/mode/accelerated.rs.

use ridgewalk_potentials::families::Gaussian;
use ridgewalk_potentials::{
    Dense, Error, FromFn, Gradient, Method, ModeSearch, Obstacle, Prior, Proof, Properness, Ridge,
    accelerated_gradients_bound, start_tolerance,
};

use crate::support::*;

/// |a − b|.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

#[test]
fn accelerated_gradients_find_what_newton_finds_within_their_bound() {
    let mut solved = 0;
    for family in families() {
        let name = family.name();
        let model = model(family, 120, 6, 41, Prior::centred(6, 2.0).unwrap());
        let accelerated = ModeSearch::new().with_method(Method::Accelerated);
        let Ok([m, l]) = model.curvature().unwrap().certifiable() else {
            let error = accelerated.of_ridge(&model).unwrap_err();
            assert!(matches!(error, Error::NoCurvature(Obstacle::NotSmooth)), "{name}: {error}");
            continue;
        };
        let mode = model.mode().unwrap();
        let start = vec![20.0; 6];
        let distance = l.sqrt() * apart(&start, &mode.point);
        for tolerance in [start_tolerance(l / m), 1e-3, 1e-8] {
            let search = accelerated.clone().with_start(start.clone());
            let found = search.with_tolerance(tolerance).unwrap().of_ridge(&model).unwrap();
            assert_eq!(
                (found.method, found.properness),
                (Method::Accelerated, Properness::Proper(Proof::Prior))
            );
            let most = accelerated_gradients_bound(l / m, distance, tolerance).unwrap();
            assert!(found.gradients <= most, "{name}: {} of {most}", found.gradients);
            // |θ − θ*| ≤ |∇U|/m; Newton's own mode is off by its rounding.
            let proved = found.gradient_norm / m;
            assert!(proved <= tolerance / m.sqrt() * (1.0 + 1e-12), "{name}: {proved}");
            let left = apart(&found.point, &mode.point);
            assert!(left <= proved + 1e-12, "{name}: {left:e}, proved {proved:e}");
        }
        // As a black box, with bounds that the caller gives.
        let black = accelerated.with_curvature(m, l).unwrap().of_gradient(&model).unwrap();
        assert!(matches!(black.properness, Properness::NotChecked(_)));
        assert!(apart(&black.point, &mode.point) < 1e-7, "{name}");
        solved += 1;
    }
    assert!(solved >= 5, "{solved}");
}

#[test]
fn accelerated_gradients_need_both_bounds_of_the_curvature() {
    let accelerated = ModeSearch::new().with_method(Method::Accelerated);
    let flat = model(families().remove(0), 120, 4, 41, Prior::flat(4));
    let error = accelerated.of_ridge(&flat).unwrap_err();
    assert!(matches!(error, Error::NoCurvature(Obstacle::NotStronglyConvex)), "{error}");
    // The rows of a linear regression are curved everywhere.
    let (a, y) = (numbers(1, 60 * 3), numbers(2, 60));
    let design = Dense::new(60, 3, a).unwrap();
    let normal = Gaussian::new(0.7).unwrap();
    let linear = Ridge::new(design, normal, &y, Prior::flat(3)).unwrap();
    let found = accelerated.of_ridge(&linear).unwrap();
    assert_eq!(found.properness, Properness::Proper(Proof::Tails));
    assert!(apart(&found.point, &linear.mode().unwrap().point) < 1e-8);
    let black = accelerated.of_gradient(&linear).unwrap_err();
    assert_eq!(black, Error::CurvatureUnknown);
    assert!(matches!(
        ModeSearch::new().with_curvature(2.0, 1.0),
        Err(Error::CurvatureOrder { convexity: 2.0, smoothness: 1.0 })
    ));
    assert!(ModeSearch::new().with_curvature(0.0, 1.0).is_err());
    let few = accelerated.with_iterations(3).with_start(vec![9.0; 3]).of_ridge(&linear);
    let error = few.unwrap_err();
    assert!(
        matches!(error, Error::NotConverged { method: Method::Accelerated, iterations: 3, .. }),
        "{error}"
    );
}

#[test]
fn every_method_counts_its_gradients() {
    let model = model(families().remove(0), 120, 6, 41, Prior::centred(6, 2.0).unwrap());
    let [m, l] = model.curvature().unwrap().certifiable().unwrap();
    for method in [Method::Lbfgs, Method::Accelerated] {
        let calls = std::cell::Cell::new(0);
        let counted = FromFn::new(6, |x: &[f64], g: &mut [f64]| {
            calls.set(calls.get() + 1);
            Gradient::gradient(&model, x, g)
        });
        let search = ModeSearch::new().with_method(method).with_curvature(m, l).unwrap();
        let found = search.of_gradient(&counted).unwrap();
        assert_eq!((found.method, found.gradients), (method, calls.get()));
    }
    let newton = model.mode().unwrap();
    let most = newton.iterations as u64 + 2;
    assert!((most - 1..=most).contains(&newton.gradients), "{newton:?}");
}
