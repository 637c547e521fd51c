//! Families, gradients and line integrals behind `&T`, `Box<T>` and `Arc<T>`: the same to the last
//! bit as the type itself.

use std::sync::Arc;

use ridgewalk_potentials::families::{
    CurvatureBounds, Family, Gaussian, Huber, Logistic, LogisticNoise, Objection, Observation,
    Poisson, Probit,
};
use ridgewalk_potentials::peers::Threads;
use ridgewalk_potentials::{
    Chebyshev, FromValueFn, Gradient, LineIntegral, Prior, Ridge, Rows, Scratch, Whitening,
};

use crate::support;

fn model<F: Family>(family: F, rows: usize) -> Ridge<'static, F> {
    support::model(family, rows, 3, 5, Prior::centred(3, 2.0).unwrap())
}

/// What a potential computes for three chains through `LineIntegral`.
fn integrals(model: impl LineIntegral) -> Vec<f64> {
    let d = model.dimension();
    let positions: Vec<f64> = (0..3 * d).map(|k| 0.3 * k as f64 - 1.0).collect();
    let momenta: Vec<f64> = positions.iter().map(|x| 1.5 - x * x).collect();
    let mut scratch = Scratch::default();
    let [mut integrals, mut gradients] = [vec![0.0; 3 * d], vec![0.0; 3 * d]];
    let mut values = vec![0.0; 3];
    model.integrate(0.7, &positions, &momenta, &mut integrals, &mut scratch).unwrap();
    model.gradients(&positions, &mut gradients, &mut scratch).unwrap();
    integrals.extend(&gradients);
    model.values_and_gradients(&positions, &mut values, &mut gradients, &mut scratch).unwrap();
    integrals.extend(&gradients);
    integrals.extend(&values);
    integrals.push(model.gradients_per_integral() as f64);
    integrals
}

/// What a potential computes through `Gradient`.
fn at_a_point(gradient: impl Gradient) -> Vec<f64> {
    let point: Vec<f64> = (0..gradient.dimension()).map(|k| 0.4 - 0.3 * k as f64).collect();
    let mut out = vec![0.0; 2 * point.len()];
    let (first, second) = out.split_at_mut(point.len());
    gradient.gradient(&point, first).unwrap();
    let value = gradient.value_and_gradient(&point, second).unwrap();
    out.extend(value);
    out
}

/// Everything a ridge computes. `Debug` prints a number with all its digits.
fn everything<F: Family + Clone>(model: &Ridge<'_, F>) -> String {
    let mode = model.mode().unwrap();
    let hessian = model.hessian(&mode.point).unwrap();
    let white = model.whitened(&Whitening::from_hessian(&mode.point, &hessian).unwrap()).unwrap();
    let numbers = [integrals(model), integrals(&white), at_a_point(model)];
    let value = model.value(&mode.point).unwrap();
    let (curvature, separation) = (model.curvature(), model.separation());
    format!("{mode:?} {hessian:?} {curvature:?} {separation:?} {value:?} {numbers:?}")
}

#[test]
fn a_family_behind_a_pointer_gives_the_same_results_to_the_last_bit() {
    fn check<F: Family + Clone + 'static>(family: F) {
        let expected = everything(&model(family.clone(), 150));
        let shared: Arc<dyn Family> = Arc::new(family.clone());
        assert_eq!(everything(&model(Arc::clone(&shared), 150)), expected);
        assert_eq!(everything(&model(&*shared, 150)), expected);
        assert_eq!(everything(&model(Arc::new(family.clone()), 150)), expected);
        // A boxed trait object cannot be cloned, and so not be whitened.
        let boxed: Box<dyn Family> = Box::new(family.clone());
        assert_eq!(integrals(model(boxed, 150)), integrals(model(family, 150)));
    }
    check(Logistic);
    check(Probit);
    check(Poisson);
    check(Gaussian::new(0.8).unwrap());
    check(LogisticNoise::new(0.6).unwrap());
    check(Huber::new(0.7, 1.345).unwrap());
}

/// A family each of whose methods returns another number.
#[derive(Debug)]
struct Numbered;

impl Family for Numbered {
    fn name(&self) -> &'static str {
        "numbered"
    }
    fn objection(&self, _: Observation) -> Option<Objection> {
        Some(Objection::Response("nothing"))
    }
    fn value(&self, _: f64, _: Observation) -> f64 {
        1.0
    }
    fn slope(&self, _: f64, _: Observation) -> f64 {
        2.0
    }
    fn curvature(&self, _: f64, _: Observation) -> f64 {
        3.0
    }
    fn mean_slope(&self, _: f64, _: f64, _: Observation) -> f64 {
        4.0
    }
    fn values(&self, _: &[f64], _: &[Observation], values: &mut [f64]) {
        values[0] = 5.0;
    }
    fn slopes(&self, _: &[f64], _: &[Observation], slopes: &mut [f64]) {
        slopes[0] = 6.0;
    }
    fn mean_slopes(&self, _: &[f64], _: &[f64], _: &[Observation], slopes: &mut [f64]) {
        slopes[0] = 7.0;
    }
    fn curvature_bounds(&self, _: Observation) -> CurvatureBounds {
        CurvatureBounds { lower: 8.0, upper: Some(9.0) }
    }
    fn slope_limits(&self, _: Observation) -> [f64; 2] {
        [10.0, 11.0]
    }
}

#[test]
fn every_method_of_a_family_is_forwarded() {
    fn check(family: impl Family) {
        let y = Observation::of(0.0);
        let mut out = [0.0; 3];
        family.values(&[0.0], &[y], &mut out[..1]);
        family.slopes(&[0.0], &[y], &mut out[1..2]);
        family.mean_slopes(&[0.0], &[0.0], &[y], &mut out[2..]);
        assert_eq!(out, [5.0, 6.0, 7.0]);
        let one_by_one = [family.value(0.0, y), family.slope(0.0, y), family.curvature(0.0, y)];
        assert_eq!(one_by_one, [1.0, 2.0, 3.0]);
        assert_eq!(family.mean_slope(0.0, 0.0, y), 4.0);
        let CurvatureBounds { lower, upper } = family.curvature_bounds(y);
        assert_eq!((lower, upper), (8.0, Some(9.0)));
        assert_eq!(family.slope_limits(y), [10.0, 11.0]);
        assert_eq!(
            (family.name(), family.objection(y)),
            ("numbered", Some(Objection::Response("nothing")))
        );
    }
    check(&Numbered as &dyn Family);
    check(Box::new(Numbered) as Box<dyn Family>);
    check(Arc::new(Numbered) as Arc<dyn Family>);
}

#[test]
fn gradients_and_line_integrals_work_behind_pointers() {
    let normal = FromValueFn::new(2, |x: &[f64], g: &mut [f64]| {
        g.copy_from_slice(x);
        Ok(0.5 * (x[0] * x[0] + x[1] * x[1]))
    });
    let expected = at_a_point(&normal);
    let integral = integrals(Chebyshev::new(&normal, 4).unwrap());
    let gradients: [Arc<dyn Gradient + Send + Sync>; 2] =
        [Arc::new(normal.clone()), Arc::new(Box::new(normal) as Box<dyn Gradient + Send + Sync>)];
    for gradient in gradients {
        assert_eq!(at_a_point(&gradient), expected);
        let potential: Box<dyn LineIntegral> = Box::new(Chebyshev::new(gradient, 4).unwrap());
        assert_eq!(integrals(&*potential), integral);
        assert_eq!(integrals(Arc::<dyn LineIntegral>::from(potential)), integral);
    }
}

#[test]
fn threads_and_processes_see_through_pointers() {
    fn check(potential: impl LineIntegral, [shares_out, collective]: [bool; 2]) {
        assert_eq!((potential.shares_out(8), potential.collective()), (shares_out, collective));
    }
    let answers = |model: &Ridge<'_, Logistic>| [model.shares_out(8), model.collective()];
    let small = model(Logistic, 150);
    assert_eq!(answers(&small), [false, false]);
    // A model with rows enough for threads, and one whose other half is in another process.
    let large = model(Logistic, 60_000);
    let shared = std::thread::scope(|scope| {
        let halves = Threads::group(2).into_iter().map(|peers| {
            let small = small.clone();
            scope.spawn(move || small.with_rows(&Rows::shared(Arc::new(peers))))
        });
        let halves: Vec<_> = halves.collect();
        halves.into_iter().map(|half| half.join().unwrap()).next().unwrap()
    });
    for (model, expected) in [(large, [true, false]), (shared, [false, true])] {
        assert_eq!(answers(&model), expected);
        check(&model as &dyn LineIntegral, expected);
        check(Box::new(model.clone()) as Box<dyn LineIntegral>, expected);
        check(Arc::new(model) as Arc<dyn LineIntegral>, expected);
    }
}
