//! The generalized Pareto law of a tail: its fit to exceedances, and its quantiles.
//!
//! The fit is the empirical Bayes estimate of Zhang and Stephens (Technometrics 51, 2009): a mean
//! over a grid of θ = −k/σ, weighted by the profile likelihood. The shape k is then drawn to 1/2 as
//! if ten more exceedances had shown that shape (Vehtari, Simpson, Gelman, Yao and Gabry, JMLR 25,
//! 2024), which steadies short tails.

/// Points of the grid besides ⌊√n⌋.
const GRID: usize = 30;
/// Exceedances that the prior of the shape counts as.
const PRIOR_EXCEEDANCES: f64 = 10.0;
/// The shape they have.
const PRIOR_SHAPE: f64 = 0.5;

/// Bits that a product of factors may grow or shrink by without leaving the range of doubles.
const BITS: f64 = 900.0;
/// Shorter products are not worth it: logarithms are then added one by one.
const SHORTEST_PRODUCT: usize = 16;
/// Means of logarithms below this are added one by one. The rounding of 1 + a x is that of 1, and
/// would no longer be small beside the mean.
const CANCELS: f64 = 1e-3;

/// Shape and scale of a fitted law.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pareto {
    pub(crate) shape: f64,
    pub(crate) scale: f64,
}

/// The grid and its weights, kept between fits.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grid {
    theta: Vec<f64>,
    weight: Vec<f64>,
}

impl Pareto {
    /// The fit to exceedances in increasing order, all of them at least 0. None if it fails, as it
    /// does when the lower quartile is 0.
    pub(crate) fn fit(exceedances: &[f64], grid: &mut Grid) -> Option<Self> {
        let n = exceedances.len();
        let count = n as f64;
        // ⌊n/4 + 1/2⌋ counted from 1.
        let quartile = *exceedances.get(((n + 2) / 4).checked_sub(1)?)?;
        let largest = *exceedances.last()?;
        let points = GRID + n.isqrt();

        grid.theta.clear();
        grid.weight.clear();
        for j in 0..points {
            let reach = 1.0 - (points as f64 / (j as f64 + 0.5)).sqrt();
            let theta = 1.0 / largest + reach / 3.0 / quartile;
            let k = mean_log1p(-theta, exceedances);
            grid.theta.push(theta);
            grid.weight.push(count * ((-theta / k).ln() - k - 1.0));
        }
        let top = grid.weight.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut theta) = (0.0, 0.0);
        for (log_weight, point) in grid.weight.iter().zip(&grid.theta) {
            let weight = (log_weight - top).exp();
            sum += weight;
            theta += weight * point;
        }
        theta /= sum;
        let k = mean_log1p(-theta, exceedances);
        let shape = (k * count + PRIOR_SHAPE * PRIOR_EXCEEDANCES) / (count + PRIOR_EXCEEDANCES);
        let scale = -k / theta;
        (shape.is_finite() && scale > 0.0).then_some(Self { shape, scale })
    }

    /// The quantile at probability p, given t = −log(1 − p).
    pub(crate) fn quantile(self, t: f64) -> f64 {
        if self.shape == 0.0 {
            return self.scale * t;
        }
        self.scale * (self.shape * t).exp_m1() / self.shape
    }
}

/// The mean of log(1 + a x) over increasing x >= 0, where a x > −1.
///
/// This is nearly all the work of a fit. Logarithms of products take one logarithm for many x. The
/// last x has the factor furthest from 1, so it bounds how long a product may be.
fn mean_log1p(a: f64, x: &[f64]) -> f64 {
    let n = x.len() as f64;
    let bits = x.last().map_or(f64::NAN, |largest| (1.0 + a * largest).log2().abs());
    // A quotient that is NaN becomes 0.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let length = (BITS / bits) as usize;
    if length >= SHORTEST_PRODUCT {
        let mean = x.chunks(length).map(|part| product(a, part).ln()).sum::<f64>() / n;
        if mean.abs() > CANCELS {
            return mean;
        }
    }
    x.iter().map(|x| (a * x).ln_1p()).sum::<f64>() / n
}

/// The product of 1 + a x.
fn product(a: f64, x: &[f64]) -> f64 {
    let mut lanes = [1.0; 8];
    let (blocks, rest) = x.as_chunks::<8>();
    for block in blocks {
        for (lane, x) in lanes.iter_mut().zip(block) {
            *lane *= 1.0 + a * x;
        }
    }
    for (lane, x) in lanes.iter_mut().zip(rest) {
        *lane *= 1.0 + a * x;
    }
    lanes.iter().product()
}

#[cfg(test)]
mod tests {
    use super::{Grid, Pareto, mean_log1p};

    /// Both ways to add logarithms, on both sides of both thresholds.
    #[test]
    fn products_have_the_sum_of_logarithms() {
        let x: Vec<f64> = (1..=269).map(|i| (f64::from(i) / 270.0).powi(4)).collect();
        for a in [-0.999, -0.3, -1e-3, -1e-9, 1e-300, 1e-12, 1e-3, 0.5, 30.0, 1e8, 1e30, 1e200] {
            let sum: f64 = x.iter().map(|x| (a * x).ln_1p()).sum();
            let (got, want) = (mean_log1p(a, &x), sum / 269.0);
            assert!((got - want).abs() <= 1e-12 * want.abs(), "{a}: {got} {want}");
        }
    }

    /// Exceedances at the quantiles of a law have nearly its shape and scale.
    #[test]
    fn the_fit_finds_the_law() {
        for shape in [-0.3, 0.0, 0.3, 0.7, 1.2] {
            let law = Pareto { shape, scale: 2.5 };
            let n = 20_000;
            let x: Vec<f64> = (0..n)
                .map(|i| law.quantile(-(-(f64::from(i) + 0.5) / f64::from(n)).ln_1p()))
                .collect();
            let fit = Pareto::fit(&x, &mut Grid::default()).expect("a fit");
            assert!((fit.shape - shape).abs() < 3e-3, "{shape}: {fit:?}");
            assert!((fit.scale / 2.5 - 1.0).abs() < 1e-2, "{shape}: {fit:?}");
        }
    }

    #[test]
    fn no_fit_without_a_lower_quartile() {
        let grid = &mut Grid::default();
        assert!(Pareto::fit(&[], grid).is_none());
        assert!(Pareto::fit(&[1.0], grid).is_none());
        assert!(Pareto::fit(&[0.0; 8], grid).is_none());
        assert!(Pareto::fit(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0], grid).is_none());
        assert!(Pareto::fit(&[f64::NAN; 8], grid).is_none());
    }
}
