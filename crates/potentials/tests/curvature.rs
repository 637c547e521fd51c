//! Bounds of curvature against exact spectra, against another eigenvalue method and against
//! Hessians at random points.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use ridgewalk_figures::{Figures, Near};
use ridgewalk_potentials::families::{
    Family, Gaussian, Huber, Logistic, LogisticNoise, Poisson, Probit,
};
use ridgewalk_potentials::{
    Basis, Dense, Error, Gradient, Guarantee, Obstacle, Prior, Ridge, Sparse,
};

use crate::support::numbers;

fn unit_gaussian() -> Gaussian {
    Gaussian::new(1.0).unwrap()
}

/// Eigenvalues of a symmetric matrix by Jacobi's rotations, ascending.
fn jacobi(mut a: Vec<f64>, d: usize) -> Vec<f64> {
    for _ in 0..60 {
        for p in 0..d {
            for q in p + 1..d {
                let off = a[p * d + q];
                if off == 0.0 {
                    continue;
                }
                let theta = (a[q * d + q] - a[p * d + p]) / (2.0 * off);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                for k in 0..d {
                    let (x, y) = (a[k * d + p], a[k * d + q]);
                    (a[k * d + p], a[k * d + q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..d {
                    let (x, y) = (a[p * d + k], a[q * d + k]);
                    (a[p * d + k], a[q * d + k]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    let mut values: Vec<f64> = (0..d).map(|k| a[k * (d + 1)]).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Aᵀ diag(c) A + diag(q).
fn gram(a: &[f64], c: &[f64], q: &[f64]) -> Vec<f64> {
    let d = q.len();
    let mut out = vec![0.0; d * d];
    for (row, c) in a.chunks(d).zip(c) {
        for k in 0..d {
            (0..d).for_each(|l| out[k * d + l] += c * row[k] * row[l]);
        }
    }
    (0..d).for_each(|k| out[k * (d + 1)] += q[k]);
    out
}

#[test]
fn orthogonal_designs_have_known_bounds() {
    // Sylvester's matrix of order 16, whose columns are orthogonal, each times a factor.
    let (n, factors) = (16_usize, [1.0, 3.0, 0.5, 2.0, 0.25]);
    let sign = |i: usize, k: usize| if (i & k).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
    let values: Vec<f64> =
        (0..n).flat_map(|i| (0..5).map(move |k| sign(i, k) * factors[k])).collect();
    let y: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i % 3 == 0))).collect();
    let design = || Dense::new(n, 5, values.clone()).unwrap();
    let close = |value: f64, truth: f64| (0.0..1e-12).contains(&(value / truth - 1.0).abs());
    // Gaussian noise of scale 2 and a flat prior: both ends from the likelihood, 16 factor²/4.
    let gaussian = Ridge::new(design(), Gaussian::new(2.0).unwrap(), &y, Prior::flat(5))
        .unwrap()
        .curvature()
        .unwrap();
    let [m, l] = gaussian.certifiable().unwrap();
    assert!(close(l, 36.0) && l >= 36.0 && (0.25 - m).abs() < 1e-11 && m <= 0.25, "{m} and {l}");
    assert_eq!(
        (gaussian.convexity().basis, gaussian.smoothness().unwrap().basis),
        (Basis::Eigenvalues, Basis::Eigenvalues)
    );
    // Logistic: 16 · 9/4 and the prior.
    let logistic = Ridge::new(design(), Logistic, &y, Prior::centred(5, 0.5).unwrap())
        .unwrap()
        .curvature()
        .unwrap();
    let [m, l] = logistic.certifiable().unwrap();
    assert!(m == 4.0 && close(l, 40.0) && l >= 40.0, "{m} and {l}");
    assert_eq!(logistic.convexity().basis, Basis::PriorPrecision);
    // Binomial trials and weights count: 16 · 9 · 7 · 3/4.
    let trials = Ridge::with_trials(design(), Logistic, &y, &[7.0; 16], Prior::flat(5)).unwrap();
    let l = trials
        .with_weights(vec![3.0; 16])
        .unwrap()
        .curvature()
        .unwrap()
        .smoothness()
        .unwrap()
        .value;
    assert!(close(l, 756.0), "{l}");
}

#[test]
fn what_cannot_be_certified_is_told() {
    let design = || Dense::new(3, 2, vec![1.0, 2.0, -1.0, 0.5, 1.0, 1.0]).unwrap();
    let y = [0.0, 1.0, 1.0];
    let poisson = Ridge::new(design(), Poisson, &y, Prior::centred(2, 1.0).unwrap())
        .unwrap()
        .curvature()
        .unwrap();
    assert_eq!((poisson.smoothness(), poisson.certifiable()), (None, Err(Obstacle::NotSmooth)));
    assert_eq!(poisson.convexity().value, 1.0);
    let prior = Prior::normal(&[0.0; 2], &[1.0, f64::INFINITY]).unwrap();
    let flat = Ridge::new(design(), Logistic, &y, prior).unwrap().curvature().unwrap();
    assert_eq!((flat.convexity().value, flat.convexity().basis), (0.0, Basis::Convexity));
    assert_eq!(flat.certifiable(), Err(Obstacle::NotStronglyConvex));
    let text = Obstacle::NotStronglyConvex.to_string();
    assert!(text.contains("the prior is flat along some direction"), "{text}");
    // Collinear columns: no curvature from a Gaussian likelihood either.
    let copies = Dense::new(3, 2, vec![1.0, 2.0, -1.0, -2.0, 3.0, 6.0]).unwrap();
    let flat =
        Ridge::new(copies, unit_gaussian(), &y, Prior::flat(2)).unwrap().curvature().unwrap();
    assert_eq!(flat.certifiable(), Err(Obstacle::NotStronglyConvex));
    let huge = Dense::new(1, 1, vec![1e200]).unwrap();
    let outcome = Ridge::new(huge, Logistic, &[1.0], Prior::flat(1)).unwrap().curvature();
    assert!(matches!(outcome, Err(Error::Overflow { .. })), "{outcome:?}");
}

#[test]
fn bounds_are_those_of_another_method() {
    for (seed, n, d) in [(1, 40, 12), (2, 15, 15), (3, 300, 6), (4, 5, 20)] {
        let (a, y) = (numbers(seed, n * d), vec![1.0; n]);
        let scales: Vec<f64> = numbers(seed + 10, d).iter().map(|x| 1.5 + x).collect();
        let precision: Vec<f64> = scales.iter().map(|s| 1.0 / (s * s)).collect();
        let prior = Prior::normal(&vec![0.0; d], &scales).unwrap();
        let check = |upper: f64, lower: f64, curvature: ridgewalk_potentials::Curvature| {
            let top = jacobi(gram(&a, &vec![upper; n], &precision), d)[d - 1];
            let bottom = jacobi(gram(&a, &vec![lower; n], &precision), d)[0];
            let [m, l] = curvature.certifiable().unwrap();
            assert!(l >= top * (1.0 - 1e-14) && l <= top * (1.0 + 1e-11), "{l} and {top}");
            assert!(m <= bottom * (1.0 + 1e-13) && m >= bottom - 1e-11 * top, "{m} and {bottom}");
        };
        let design = || Dense::new(n, d, a.clone()).unwrap();
        check(
            0.25,
            0.0,
            Ridge::new(design(), Logistic, &y, prior.clone()).unwrap().curvature().unwrap(),
        );
        check(
            1.0,
            0.0,
            Ridge::new(Sparse::from_dense(&design()), Probit, &y, prior.clone())
                .unwrap()
                .curvature()
                .unwrap(),
        );
        check(
            4.0,
            4.0,
            Ridge::new(design(), Gaussian::new(0.5).unwrap(), &y, prior.clone())
                .unwrap()
                .curvature()
                .unwrap(),
        );
        check(
            2.0,
            0.0,
            Ridge::new(design(), LogisticNoise::new(0.5).unwrap(), &y, prior.clone())
                .unwrap()
                .curvature()
                .unwrap(),
        );
    }
}

#[test]
fn scales_of_1e9_beside_1e_9_keep_both_bounds() {
    let n = 50;
    let a: Vec<f64> =
        numbers(21, 3 * n).iter().enumerate().map(|(at, x)| x * [1e9, 1e-9, 1.0][at % 3]).collect();
    let prior = Prior::normal(&[0.0; 3], &[1e-9, 1e9, 1.0]).unwrap();
    let model =
        Ridge::new(Dense::new(n, 3, a.clone()).unwrap(), Logistic, &vec![1.0; n], prior).unwrap();
    let [m, l] = model.curvature().unwrap().certifiable().unwrap();
    let alone: f64 = 1e18 + 0.25 * a.iter().step_by(3).map(|x| x * x).sum::<f64>();
    assert_eq!(m, 1e-18);
    assert!(l >= alone * (1.0 - 1e-14) && l < alone * (1.0 + 1e-9));
}

/// D (I − 2 u uᵀ), whose squared singular values are those of D.
fn planted(seed: u64, squares: &[f64]) -> Vec<f64> {
    let d = squares.len();
    let mut u = numbers(seed, d);
    let norm = u.iter().map(|x| x * x).sum::<f64>().sqrt();
    u.iter_mut().for_each(|x| *x /= norm);
    let entry =
        |i: usize, k: usize| squares[i].sqrt() * (f64::from(u8::from(i == k)) - 2.0 * u[i] * u[k]);
    (0..d).flat_map(|i| (0..d).map(move |k| (i, k))).map(|(i, k)| entry(i, k)).collect()
}

/// The Rayleigh quotient of AᵀA after some steps of the power iteration.
fn power_iteration(a: &[f64], d: usize, steps: usize) -> f64 {
    let mut x = numbers(99, d);
    let mut quotient = 0.0;
    for _ in 0..steps {
        let s: Vec<f64> =
            a.chunks(d).map(|row| row.iter().zip(&x).map(|(a, x)| a * x).sum()).collect();
        quotient = s.iter().map(|s| s * s).sum::<f64>() / x.iter().map(|x| x * x).sum::<f64>();
        x.fill(0.0);
        a.chunks(d)
            .zip(&s)
            .for_each(|(row, s)| x.iter_mut().zip(row).for_each(|(x, a)| *x += s * a));
    }
    quotient
}

#[test]
fn lanczos_bounds_a_spectrum_where_the_power_iteration_falls_short() {
    // One eigenvalue of 100 above 1099 others that reach from 0 to 96: hard to see.
    let d = 1100;
    let mut squares: Vec<f64> = (0..d).map(|k| 96.0 * k as f64 / d as f64).collect();
    squares[d / 2] = 100.0;
    let test = "::lanczos_bounds_a_spectrum_where_the_power_iteration_falls_short";
    let mut figures = Figures::of("potentials", &[file!(), test].concat());
    for seed in 31..35 {
        let a = planted(seed, &squares);
        let design = Dense::new(d, d, a.clone()).unwrap();
        let model = Ridge::new(design, unit_gaussian(), &vec![0.0; d], Prior::flat(d)).unwrap();
        let truth = 100.0;
        let naive = power_iteration(&a, d, 20);
        assert!(naive < 0.97 * truth, "the test is too easy: {naive}");
        let bound = model.curvature().unwrap().smoothness().unwrap();
        assert!(
            matches!(bound.basis, Basis::Lanczos { steps: 90..=100, failure: 1e-12 }),
            "{:?}",
            bound.basis
        );
        assert!(bound.value >= truth && bound.value < 1.04 * truth, "{}", bound.value);
        assert!(!bound.basis.is_certain());
        let certain = model.curvature_with(Guarantee::Certain).unwrap().smoothness().unwrap();
        assert!(certain.basis.is_certain() && certain.value >= truth, "{certain:?}");
        println!(
            "power iteration {naive:.2}, Lanczos {:.2}, certain {:.1}",
            bound.value, certain.value
        );
        let found = [
            ("power iteration", naive),
            ("Lanczos", bound.value),
            ("without chance", certain.value),
        ];
        found.iter().for_each(|(how, value)| figures.add(&format!("seed {seed}"), how, *value));
    }
    figures.hold(Near::Same);
    assert_eq!(
        Basis::Lanczos { steps: 95, failure: 1e-12 }.to_string(),
        "Lanczos's method, 95 steps from a random start, wrong with a probability below 1e-12"
    );
}

#[test]
fn columns_without_signs_are_bounded_for_certain_and_closely() {
    // Dummies of two factors and an intercept, sparse: all entries positive, so that absolute
    // values change nothing.
    let (n, levels) = (3000, 600);
    let (mut starts, mut indices) = (vec![0], Vec::new());
    let mut rng = ChaCha8Rng::seed_from_u64(41);
    for _ in 0..n {
        indices.extend([
            0,
            1 + rng.random_range(0..levels),
            1 + levels + rng.random_range(0..levels),
        ]);
        starts.push(indices.len());
    }
    let columns = 1 + 2 * levels;
    let values = vec![1.0; indices.len()];
    let design = Sparse::new(columns, starts, indices.clone(), values).unwrap();
    let model =
        Ridge::new(design, Logistic, &vec![1.0; n], Prior::centred(columns, 1.0).unwrap()).unwrap();
    let bound = model.curvature().unwrap().smoothness().unwrap();
    assert_eq!(bound.basis, Basis::CollatzWielandt);
    // From below: the quotient at the vector that weighs the intercept √2 against the mean level of
    // the factors.
    let mut x = vec![1.0; columns];
    for _ in 0..50 {
        let mut next = x.clone();
        for row in indices.chunks(3) {
            let s: f64 = 0.25 * row.iter().map(|&k| x[k]).sum::<f64>();
            row.iter().for_each(|&k| next[k] += s);
        }
        let norm = next.iter().map(|x| x * x).sum::<f64>().sqrt();
        x = next.iter().map(|x| x / norm).collect();
    }
    let quotient = 1.0
        + 0.25
            * indices
                .chunks(3)
                .map(|row| row.iter().map(|&k| x[k]).sum::<f64>().powi(2))
                .sum::<f64>();
    assert!(
        bound.value >= quotient && bound.value < 1.01 * quotient,
        "{} and {quotient}",
        bound.value
    );
}

#[test]
fn few_rows_of_many_columns_are_bounded_by_their_products() {
    let (n, d) = (30, 1500);
    let a = numbers(51, n * d);
    let rows: Vec<f64> = (0..n * n)
        .map(|at| 0.25 * (0..d).map(|k| a[at / n * d + k] * a[at % n * d + k]).sum::<f64>())
        .collect();
    let top = jacobi(rows, n)[n - 1];
    for sparse in [false, true] {
        let dense = Dense::new(n, d, a.clone()).unwrap();
        let prior = Prior::centred(d, 0.5).unwrap();
        let model = if sparse {
            Ridge::new(Sparse::from_dense(&dense), Logistic, &vec![1.0; n], prior).unwrap()
        } else {
            Ridge::new(dense, Logistic, &vec![1.0; n], prior).unwrap()
        };
        let curvature = model.curvature().unwrap();
        let bound = curvature.smoothness().unwrap();
        assert_eq!((bound.basis, curvature.convexity().value), (Basis::RowProducts, 4.0));
        assert!(
            bound.value >= (top + 4.0) * (1.0 - 1e-14) && bound.value < (top + 4.0) * (1.0 + 1e-9)
        );
    }
}

#[test]
fn hessians_are_the_differences_of_gradients() {
    fn check<F: Family + Clone>(family: F) {
        let (n, d) = (700, 4);
        let design = Dense::new(n, d, numbers(61, n * d)).unwrap();
        let y: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i % 2 == 0))).collect();
        let name = family.name();
        let model = Ridge::new(
            Sparse::from_dense(&design),
            family.clone(),
            &y,
            Prior::centred(d, 0.7).unwrap(),
        )
        .unwrap();
        let point = numbers(62, d);
        let hessian = model.hessian(&point).unwrap();
        let dense = Ridge::new(design, family, &y, Prior::centred(d, 0.7).unwrap())
            .unwrap()
            .hessian(&point)
            .unwrap();
        for k in 0..d {
            let at = |h: f64| {
                let mut moved = point.clone();
                moved[k] += h;
                let mut gradient = vec![0.0; d];
                model.gradient(&moved, &mut gradient).unwrap();
                gradient
            };
            let h = 1e-5;
            let (up, down) = (at(h), at(-h));
            for l in 0..d {
                let difference = (up[l] - down[l]) / (2.0 * h);
                let entry = hessian[k * d + l];
                assert!(
                    (difference - entry).abs() < 1e-6 * (1.0 + hessian[k * (d + 1)]),
                    "{name}: {difference} and {entry}"
                );
                assert!((entry - dense[k * d + l]).abs() < 1e-12 * hessian[k * (d + 1)]);
                assert_eq!(dense[k * d + l], dense[l * d + k]);
            }
        }
    }
    check(Logistic);
    check(Probit);
    check(Poisson);
    check(Gaussian::new(0.8).unwrap());
    check(LogisticNoise::new(0.6).unwrap());
    let model =
        Ridge::new(Dense::new(1, 1, vec![1.0]).unwrap(), Poisson, &[1.0], Prior::flat(1)).unwrap();
    assert!(matches!(model.hessian(&[1000.0]), Err(Error::NotFinite { .. })));
    assert!(matches!(model.hessian(&[0.0, 0.0]), Err(Error::Length { .. })));
}

proptest! {
    #[test]
    fn hessians_everywhere_lie_between_the_bounds(seed in 0_u64..10_000, n in 1_usize..30, d in 1_usize..8, which in 0..4) {
        let scale = 0.3 + numbers(seed + 5, 1)[0].abs();
        let a: Vec<f64> = numbers(seed, n * d).iter().map(|x| 3.0 * x).collect();
        let y: Vec<f64> = numbers(seed + 1, n).iter().map(|x| f64::from(u8::from(*x > 0.0))).collect();
        let (point, v) = (numbers(seed + 2, d), numbers(seed + 3, d));
        fn quotient<F: Family>(model: &Ridge<'_, F>, point: &[f64], v: &[f64]) -> [f64; 3] {
            let h = model.hessian(point).unwrap();
            let d = v.len();
            let form: f64 = (0..d * d).map(|at| v[at / d] * h[at] * v[at % d]).sum();
            let curvature = model.curvature().unwrap();
            let squares = v.iter().map(|x| x * x).sum::<f64>();
            [curvature.convexity().value * squares, form, curvature.smoothness().unwrap().value * squares]
        }
        let design = Dense::new(n, d, a).unwrap();
        let prior = Prior::centred(d, scale).unwrap();
        let [low, form, high] = match which {
            0 => quotient(&Ridge::new(design, Logistic, &y, prior).unwrap(), &point, &v),
            1 => quotient(&Ridge::new(design, Probit, &y, prior).unwrap(), &point, &v),
            2 => quotient(&Ridge::new(design, Gaussian::new(scale).unwrap(), &y, prior).unwrap(), &point, &v),
            _ => quotient(&Ridge::new(design, Huber::new(scale, 1.3).unwrap(), &y, prior).unwrap(), &point, &v),
        };
        prop_assert!(low <= form * (1.0 + 1e-13) && form <= high * (1.0 + 1e-13), "{low}, {form}, {high}");
    }
}
