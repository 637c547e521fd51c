//! Identities that the coefficients must satisfy for all parameters, and a comparison with the
//! printed formulas.

use proptest::prelude::*;
use ridgewalk_coefficients::{Coefficients, Parameters, SERIES_BELOW, phi1, phi2, phi3, printed};
use ridgewalk_quadrature::LineRule;

fn coefficients(gamma: f64, xi: f64, eta: f64, smoothness: f64) -> Coefficients {
    Coefficients::new(Parameters::new(gamma, xi, eta).unwrap(), smoothness).unwrap()
}

/// γ, ξ, η with ξη log-uniform between the given powers of ten, and γη between a thirtieth and
/// thirty times ξη.
fn parameters(low: f64, high: f64) -> impl Strategy<Value = (f64, f64, f64)> {
    (low..high, -3.0..3.0, -1.5..1.5).prop_map(|(z, xi, ratio): (f64, f64, f64)| {
        let xi = 10f64.powf(xi);
        (xi * 10f64.powf(ratio), xi, 10f64.powf(z) / xi)
    })
}

/// The noise kernels: the effect on θ, p and r of noise that enters when a time `left` remains.
fn noise_kernels(gamma: f64, xi: f64, left: f64) -> [f64; 3] {
    let x = xi * left;
    let lost = -(-x).exp_m1();
    let amplitude = (2.0 * gamma * gamma / xi).sqrt();
    [
        amplitude * (left - lost / xi),
        amplitude * lost,
        (2.0 * xi).sqrt() * ((-x).exp() - gamma * gamma / xi * (lost / xi - left * (-x).exp())),
    ]
}

/// ∫ k_i k_j by composite quadrature in the order 11, 12, 13, 22, 23, 33, and the integrals of
/// their absolute values.
fn isometry(gamma: f64, xi: f64, eta: f64) -> ([f64; 6], [f64; 6]) {
    const PIECES: u32 = 20;
    let width = eta / f64::from(PIECES);
    let rule = LineRule::new(24, width).unwrap();
    let mut integral = [0.0; 12];
    let mut piece = [0.0; 12];
    for start in (0..PIECES).map(|i| f64::from(i) * width) {
        let products = |t: f64, value: &mut [f64]| {
            let [a, b, c] = noise_kernels(gamma, xi, start + t);
            let products = [a * a, a * b, a * c, b * b, b * c, c * c];
            for (i, product) in products.into_iter().enumerate() {
                value[i] = product;
                value[i + 6] = product.abs();
            }
        };
        rule.integrate(products, &mut Vec::new(), &mut piece);
        integral.iter_mut().zip(&piece).for_each(|(sum, p)| *sum += p);
    }
    (integral[..6].try_into().unwrap(), integral[6..].try_into().unwrap())
}

fn sigma(c: &Coefficients) -> [f64; 6] {
    [c.sigma11(), c.sigma12(), c.sigma13(), c.sigma22(), c.sigma23(), c.sigma33()]
}

fn mu(c: &Coefficients) -> [f64; 7] {
    [c.mu12(), c.mu13(), c.mu22(), c.mu23(), c.mu31(), c.mu32(), c.mu33()]
}

/// The largest difference between two lists, each relative to the entry of `scale`.
fn largest_difference<const N: usize>(a: [f64; N], b: [f64; N], scale: [f64; N]) -> f64 {
    (0..N).map(|i| (a[i] - b[i]).abs() / scale[i].abs()).fold(0.0, f64::max)
}

proptest! {
    #[test]
    fn the_factor_times_its_transpose_is_the_covariance((gamma, xi, eta) in parameters(-9.0, 3.0), l in 0.01..100.0) {
        let c = coefficients(gamma, xi, eta, l);
        let [l11, l21, l22, l31, l32, l33] = c.cholesky();
        prop_assert!(l11 > 0.0 && l22 > 0.0 && l33 > 0.0, "positive definite");
        let product = [
            l11 * l11,
            l11 * l21,
            l11 * l31,
            l21 * l21 + l22 * l22,
            l21 * l31 + l22 * l32,
            l31 * l31 + l32 * l32 + l33 * l33,
        ];
        let [s11, s12, s13, s22, s23, s33] = sigma(&c).map(|s| s / l);
        // Signed entries relative to the geometric mean of their variances.
        let scale = [s11, s12, (s11 * s33).sqrt(), s22, (s22 * s33).sqrt(), s33];
        let difference = largest_difference(product, [s11, s12, s13, s22, s23, s33], scale);
        prop_assert!(difference < 2e-14, "{difference:e}");
    }

    #[test]
    fn sigma_is_the_integral_of_the_noise_kernels((gamma, xi, eta) in parameters(-1.0, 1.7)) {
        // Below ξη = 0.1 the kernels themselves lose digits in this form; the golden values cover
        // that range.
        let (integral, size) = isometry(gamma, xi, eta);
        let difference = largest_difference(sigma(&coefficients(gamma, xi, eta, 1.0)), integral, size);
        prop_assert!(difference < 1e-10, "{difference:e}");
    }

    #[test]
    fn the_smoothness_scales_the_noise_by_its_inverse((gamma, xi, eta) in parameters(-9.0, 1.7), l in 0.01..100.0) {
        let one = coefficients(gamma, xi, eta, 1.0);
        let c = coefficients(gamma, xi, eta, l);
        prop_assert_eq!(sigma(&one), sigma(&c));
        prop_assert_eq!(mu(&one), mu(&c));
        let all = [&mu(&c)[..], &sigma(&c), &c.cholesky()].concat();
        prop_assert_eq!(c.named().map(|(_, value)| value).to_vec(), all);
        let scaled = one.cholesky().map(|entry| entry / l.sqrt());
        prop_assert!(largest_difference(scaled, c.cholesky(), scaled) < 1e-15);
        prop_assert_eq!(c.covariance()[1][2], c.sigma23() / l);
    }

    #[test]
    fn a_small_step_is_a_step_of_the_dynamics(gamma in 0.05..20.0_f64, xi in 0.05..20.0_f64, power in -8.0..-4.0_f64) {
        // dθ = p dt, dp = -∇U/L dt + γ r dt, dr = -γ p dt - ξ r dt + √(2ξ/L) dB, each up to a term
        // of relative order η.
        let eta = 10f64.powf(power);
        let c = coefficients(gamma, xi, eta, 1.0);
        let order = 10.0 * eta * (gamma + xi) * (1.0 + gamma / xi + xi / gamma);
        let derivative = |value: f64| value / eta;
        prop_assert!((derivative(c.mu12()) - 1.0).abs() < order);
        prop_assert!((derivative(c.mu13()) / eta - gamma / 2.0).abs() < order * gamma);
        prop_assert!(derivative(1.0 - c.mu22()).abs() < order * gamma + 1e-15 / eta);
        prop_assert!((derivative(c.mu23()) - gamma).abs() < order * gamma);
        prop_assert!((derivative(c.mu31()) - gamma / 2.0).abs() < order * gamma);
        prop_assert!((derivative(c.mu32()) + gamma).abs() < order * gamma);
        prop_assert!((derivative(1.0 - c.mu33()) - xi).abs() < order * xi + 1e-15 / eta);
        prop_assert!((derivative(c.sigma33()) / (2.0 * xi) - 1.0).abs() < order);
        // Brownian motion enters p once integrated and θ twice: variances 2ξ γ² η³/3 and 2ξ γ²
        // η⁵/20.
        prop_assert!((c.sigma22() / (2.0 * xi * gamma * gamma * eta.powi(3) / 3.0) - 1.0).abs() < order);
        prop_assert!((c.sigma11() / (xi * gamma * gamma * eta.powi(5) / 10.0) - 1.0).abs() < order);
    }

    #[test]
    fn both_branches_meet_at_the_threshold(ratio in 0.01..10.0_f64, xi in 0.01..100.0_f64) {
        // Between ξη (1 − 1e-13) and ξη (1 + 1e-13) the functions change by less than 1e-12; a
        // branch that is wrong by more is detected.
        let at = |z: f64| coefficients(ratio * xi, xi, z / xi, 1.0);
        let (below, above) = (at(SERIES_BELOW * (1.0 - 1e-13)), at(SERIES_BELOW * (1.0 + 1e-13)));
        let term = 1.0 + (ratio * SERIES_BELOW).powi(2);
        let mu_scale = mu(&above).map(|m| m.abs() + 0.1 * term * (1.0 + 1.0 / xi));
        prop_assert!(largest_difference(mu(&below), mu(&above), mu_scale) < 1e-11);
        let [s11, _, _, s22, _, s33] = sigma(&above);
        let scale = [s11, (s11 * s22).sqrt(), (s11 * s33).sqrt(), s22, (s22 * s33).sqrt(), s33];
        prop_assert!(largest_difference(sigma(&below), sigma(&above), scale) < 1e-11);
        let rows = [s11, s22, s22, s33, s33, above.cholesky()[5].powi(2)].map(f64::sqrt);
        prop_assert!(largest_difference(below.cholesky(), above.cholesky(), rows) < 1e-11);
    }

    #[test]
    fn the_printed_forms_agree_where_they_are_well_conditioned((gamma, xi, eta) in parameters(0.3, 1.7)) {
        let p = Parameters::new(gamma, xi, eta).unwrap();
        let c = Coefficients::new(p, 1.0).unwrap();
        // Sums of terms up to (γ/ξ)^4 (1 + ξη)^3: the tolerance is their rounding.
        let (z, ratio) = (xi * eta, gamma / xi);
        let terms = 1e-14 * (1.0 + ratio).powi(4) * (1.0 + z).powi(3);
        let absolute = |a: f64, b: f64, power: i32| (a - b).abs() * xi.powi(power) < terms;
        for (i, power) in [1, 1, 0, 0, 0, 0, 0].into_iter().enumerate() {
            prop_assert!(absolute(mu(&c)[i], printed::mu(&p)[i], power), "mu {i}");
        }
        for (i, power) in [2, 1, 1, 0, 0, 0].into_iter().enumerate() {
            prop_assert!(absolute(sigma(&c)[i], printed::sigma(&p, 1.0)[i], power), "sigma {i}");
        }
    }

    #[test]
    fn the_phi_functions_satisfy_their_recursion(z in 0.1..60.0_f64) {
        prop_assert!((phi1(z) - z.mul_add(-phi2(z), 1.0)).abs() < 1e-15);
        prop_assert!((phi2(z) - z.mul_add(-phi3(z), 0.5)).abs() < 1e-15);
    }
}

#[test]
fn the_phi_functions_at_zero_and_beyond() {
    assert_eq!([phi1(0.0), phi2(0.0), phi3(0.0)], [1.0, 0.5, 1.0 / 6.0]);
    assert_eq!([phi1(1e300), phi2(1e300)], [1e-300, 1e-300]);
    assert!((phi2(-1.0) - (1f64.exp() - 2.0)).abs() < 1e-15);
    assert!((phi3(-4.0) - (4f64.exp() - 13.0) / 64.0).abs() < 1e-14);
}

#[test]
fn printed_sigma12_with_its_extra_smoothness_breaks_the_isometry() {
    let (gamma, xi, eta) = (2.0, 4.0, 0.7);
    let p = Parameters::new(gamma, xi, eta).unwrap();
    let (integral, size) = isometry(gamma, xi, eta);
    assert!(
        largest_difference(printed::sigma(&p, 1.0), integral, size) < 1e-12,
        "with L = 1 the misprint has no effect"
    );
    let printed = printed::sigma(&p, 3.0);
    assert!(
        largest_difference(printed, integral, size) > 0.6,
        "with L = 3 the printed formula is off by a factor of 3"
    );
    assert!((3.0 * printed[1] / integral[1] - 1.0).abs() < 1e-12, "exactly that factor");
    let ours = sigma(&Coefficients::new(p, 3.0).unwrap());
    assert!(largest_difference(ours, integral, size) < 1e-12);
}

#[test]
fn the_printed_forms_lose_every_digit_for_small_steps_and_ours_do_not() {
    let p = Parameters::new(2.0, 4.0, 1e-6).unwrap();
    // σ11 = ξγ²η⁵ (1/10)(1 − (5/9) ξη + ...) at ξη = 4e-6.
    let exact = 1.599_997_866e-30;
    assert!((sigma(&Coefficients::new(p, 1.0).unwrap())[0] / exact - 1.0).abs() < 2e-6);
    assert!((printed::sigma(&p, 1.0)[0] / exact - 1.0).abs() > 1.0);
}
