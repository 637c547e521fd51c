//! The functions of statrs that the diagnostics rely on, against independent computations.

use ridgewalk_figures::{Figures, Near};
use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::beta::checked_beta_reg;

/// The number of draws whose normal scores are checked.
const MOST_DRAWS: u32 = 1_000_000;

#[test]
fn normal_quantiles_are_where_the_error_function_has_its_value() {
    let normal = Normal::new(0.0, 1.0).unwrap();
    let mut worst = 0.0_f64;
    for rank in (1..200).chain((200..MOST_DRAWS).step_by(1009)) {
        let p = (f64::from(rank) - 0.375) / (f64::from(MOST_DRAWS) + 0.25);
        let z = normal.inverse_cdf(p);
        let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
        // From the nearer tail, where the function has full precision.
        let (p, z) = if z < 0.0 { (p, z) } else { (1.0 - p, -z) };
        let off = 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2) - p;
        worst = worst.max((off / density).abs() / z.abs().max(1.0));
    }
    assert!(worst < 1e-14, "{worst:e}");
    let test = concat!(file!(), "::normal_quantiles_are_where_the_error_function_has_its_value");
    let mut figures = Figures::of("diagnostics", test);
    figures.add("normal quantiles", "largest error", worst);
    figures.hold(Near::Rounding);
}

/// The mass of Beta(n p + 1, n (1 − p) + 1) below p + x, by Gauss's rule of three points on pieces
/// of a hundredth of its standard deviation.
fn mass_below(n: f64, p: f64, x: f64) -> f64 {
    let sd = (p * (1.0 - p) / n).sqrt();
    // Over its value at the mode, which is p.
    let density = |t: f64| (n * (p * (t / p).ln_1p() + (1.0 - p) * (-t / (1.0 - p)).ln_1p())).exp();
    let integral = |from: f64, to: f64| {
        let mut sum = 0.0;
        let pieces = ((to - from) / (0.01 * sd)).ceil();
        let half = 0.5 * (to - from) / pieces;
        let mut piece = 0.0;
        while piece < pieces {
            let middle = from + (2.0 * piece + 1.0) * half;
            let shift = 0.6_f64.sqrt() * half;
            sum +=
                8.0 * density(middle) + 5.0 * (density(middle - shift) + density(middle + shift));
            piece += 1.0;
        }
        sum * half / 9.0
    };
    let (first, last) = ((-p).max(-14.0 * sd), (1.0 - p).min(14.0 * sd));
    let below = integral(first, x);
    below / (below + integral(x, last))
}

/// Near its 16 % and 84 % points, where it is used; nearer to the middle its continued fraction has
/// not converged for the largest ESS here.
#[test]
fn the_incomplete_beta_function_is_the_integral() {
    let mut figures = Figures::of(
        "diagnostics",
        concat!(file!(), "::the_incomplete_beta_function_is_the_integral"),
    );
    for n in [1e2_f64, 1e3, 1e4, 1e5, 1e6, 1e7] {
        let mut worst = 0.0_f64;
        for p in [0.05, 0.3, 0.5, 0.95] {
            for sds in [-1.1, -1.0, -0.9, 0.9, 1.0, 1.1] {
                let x = sds * (p * (1.0 - p) / n).sqrt();
                let exact = mass_below(n, p, x);
                let found = checked_beta_reg(n * p + 1.0, n * (1.0 - p) + 1.0, p + x).unwrap();
                worst = worst.max((found - exact).abs());
            }
        }
        println!("{n:e}: {worst:e}");
        assert!(worst < 1e-7, "{n}: {worst:e}");
        figures.add(&format!("an ESS of {n:e}"), "largest error", worst);
    }
    figures.hold(Near::Rounding);
}
