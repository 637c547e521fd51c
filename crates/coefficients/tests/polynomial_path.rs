//! The noise along a polynomial path against a high-precision oracle, and against the exact noise.
//!
//! `golden/polynomial_path.json` is computed with 60 digits by quadrature, by
//! `scripts/oracles/polynomial_path.py`.

use ridgewalk_coefficients::{FreeFlow, PolynomialPath};

use crate::common;

/// The components of the noise in units of √(2z) t and √(2z), with the sign of P1 as in the oracle.
fn ours(z: f64) -> [[f64; 3]; 2] {
    // A time and a smoothness other than 1: both must cancel.
    let (time, smoothness) = (0.7, 3.0);
    let path = PolynomialPath::new(z / time, time, smoothness).unwrap();
    let size = (2.0 * z / smoothness).sqrt();
    [path.theta_noise().map(|x| x / (size * time)), path.p_noise().map(|x| x / size)]
}

#[test]
fn every_component_agrees_with_the_oracle() {
    let mut seen = 0;
    for case in common::cases(include_str!("golden/polynomial_path.json")) {
        let z = common::number(&case["z"]);
        for (name, values) in ["theta", "p"].into_iter().zip(ours(z)) {
            for (j, value) in values.into_iter().enumerate() {
                let exact = common::number(&case[name][j]);
                let error = (value / exact - 1.0).abs();
                assert!(
                    error < 4e-15,
                    "z = {z}, {name}, P{j}: {value:e}, not {exact:e}: {error:e}"
                );
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 14 * 6);
}

/// What is left of the noise is beyond a polynomial of degree 2: of order t³ for p and t⁴ for θ,
/// relative to an exact standard deviation of order 1 and t.
#[test]
fn the_noise_that_is_left_out_falls_with_the_third_power_of_the_step() {
    let left_out = |time: f64| {
        let path = PolynomialPath::new(1.5, time, 1.0).unwrap();
        let exact = FreeFlow::new(1.5, time, 1.0).unwrap().covariance();
        let rest = |noise: [f64; 3], exact: f64| exact - noise.iter().map(|x| x * x).sum::<f64>();
        [
            rest(path.theta_noise(), exact[0][0]) / exact[0][0],
            rest(path.p_noise(), exact[1][1]) / exact[1][1],
        ]
    };
    let ([theta, p], [theta_half, p_half]) = (left_out(0.4), left_out(0.2));
    assert!(theta > 0.0 && p > 0.0, "{theta} {p}");
    // Variances: t^4 for θ, whose exact variance is led by a P1 of order 1, and t^6 for p.
    assert!(((theta / theta_half).log2() - 4.0).abs() < 0.3, "{}", (theta / theta_half).log2());
    assert!(((p / p_half).log2() - 6.0).abs() < 0.3, "{}", (p / p_half).log2());
}

/// The pieces of the path have its increment W, its area H against a straight line and its area K
/// against a parabola: the integrals of the path that starts with a jump, runs straight and ends
/// with a jump.
#[test]
fn slope_and_jumps_have_the_increment_and_the_areas_of_the_path() {
    let (xi, time, smoothness) = (1.3, 0.6_f64, 2.0);
    let path = PolynomialPath::new(xi, time, smoothness).unwrap();
    let size = (2.0 * xi / smoothness).sqrt();
    let [slope, before, after] = path.slope_and_jumps();
    for j in 0..3 {
        let wanted = [
            if j == 0 { size * time.sqrt() } else { 0.0 },
            if j == 1 { -size * (time / 12.0).sqrt() } else { 0.0 },
            if j == 2 { size * (time / 720.0).sqrt() } else { 0.0 },
        ];
        let increment = before[j] + slope[j] + after[j];
        // ∫ (x − u W) du and ∫ (x − u W)(1/2 − u) du for x = before + u slope.
        let area = before[j] + 0.5 * slope[j] - 0.5 * increment;
        let second = (slope[j] - increment) * (0.25 - 1.0 / 3.0);
        for (got, wanted) in [increment, area, second].into_iter().zip(wanted) {
            assert!((got - wanted).abs() < 1e-15, "n_{j}: {got} instead of {wanted}");
        }
    }
}

#[test]
fn bad_parameters_are_refused() {
    for (xi, time, smoothness) in
        [(0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (1.0, -1.0, 1.0), (1.0, 1.0, 0.0), (1e3, 1.0, 1.0)]
    {
        assert!(PolynomialPath::new(xi, time, smoothness).is_err(), "{xi} {time} {smoothness}");
    }
}
