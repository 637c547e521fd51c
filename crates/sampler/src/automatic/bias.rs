//! How far a chain's moments are from those of the target, coordinate by coordinate and in the
//! worst of them, from the differences between two step sizes; and moments from which that is taken
//! off.

use ridgewalk_diagnostics::Summary;

use crate::coupled::{Difference, Shift};

/// The bias at η as a multiple of the difference between η and η/2: 2²/(2² − 1), for a bias that
/// falls like η². The order was measured, see docs/sampler.md; were it 3 the multiple would be 8/7,
/// were it 1 it would be 2.
const MULTIPLE: f64 = 4.0 / 3.0;

/// How far the moments of one coordinate are from those of the target, estimated, with standard
/// errors.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CoordinateBias {
    /// Of the mean, in standard deviations.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub mean: f64,
    /// Its standard error.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub mean_error: f64,
    /// Of the standard deviation, relative to it.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub sd: f64,
    /// Its standard error.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub sd_error: f64,
    /// Of the 5 %, 50 % or 95 % quantile, whichever is off most, in standard deviations.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub quantile: f64,
    /// Its standard error.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub quantile_error: f64,
}

impl From<&Difference> for CoordinateBias {
    fn from(found: &Difference) -> Self {
        let scale = MULTIPLE / found.sd;
        // Variances in units of that at η/2: at η, and in the limit of short steps. Where the two
        // step sizes differ by so much that this limit would be next to nothing, it is kept away
        // from 0: the bias is then known to be enormous and nothing else.
        let [change, error] =
            [found.variance, found.variance_error].map(|v| v / (found.sd * found.sd));
        let limit = (1.0 - (MULTIPLE - 1.0) * change).max(0.5);
        let ratio = ((1.0 + change).max(0.0) / limit).sqrt();
        let reach = |shift: &Shift| shift.value.abs() + shift.error;
        let worst = found.quantiles.iter().max_by(|a, b| reach(a).total_cmp(&reach(b)));
        let worst = worst.copied().unwrap_or_default();
        Self {
            quantile: scale * worst.value,
            quantile_error: scale * worst.error,
            mean: scale * found.mean,
            mean_error: scale * found.mean_error,
            sd: ratio - 1.0,
            sd_error: 0.5 * MULTIPLE * error,
        }
    }
}

/// How far the moments of a chain are from those of the target, estimated, in the coordinate where
/// that is most.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Bias {
    /// The largest bias of a mean, in standard deviations.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub mean: f64,
    /// Its standard error.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub mean_error: f64,
    /// The largest relative bias of a standard deviation.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub sd: f64,
    /// Its standard error.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub sd_error: f64,
    /// The largest bias of a 5 %, 50 % or 95 % quantile, in standard deviations.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub quantile: f64,
    /// Its standard error.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub quantile_error: f64,
}

impl Bias {
    /// None: that of kernels that accept or reject.
    pub const NONE: Self = Self {
        mean: 0.0,
        mean_error: 0.0,
        sd: 0.0,
        sd_error: 0.0,
        quantile: 0.0,
        quantile_error: 0.0,
    };

    /// From differences between η and η/2, for a bias that falls like η². Infinite after a
    /// divergence.
    #[must_use]
    pub fn from_differences(differences: &[Difference]) -> Self {
        let all: Vec<CoordinateBias> = differences.iter().map(CoordinateBias::from).collect();
        let [mean, mean_error] =
            largest(&all.iter().map(|b| [b.mean, b.mean_error]).collect::<Vec<_>>());
        let [sd, sd_error] = largest(&all.iter().map(|b| [b.sd, b.sd_error]).collect::<Vec<_>>());
        let [quantile, quantile_error] =
            largest(&all.iter().map(|b| [b.quantile, b.quantile_error]).collect::<Vec<_>>());
        Self { mean, mean_error, sd, sd_error, quantile, quantile_error }
    }

    /// A bound of the biases of means and standard deviations that holds but for one standard
    /// error; or what that of the quantiles is at least, but for two, if this is more. Quantiles
    /// are known less well, and to bound them as tightly would take more steps than all the rest.
    #[must_use]
    pub fn bound(&self) -> f64 {
        let quantile = self.quantile - 2.0 * self.quantile_error;
        (self.mean + self.mean_error).max(self.sd + self.sd_error).max(quantile)
    }

    /// What the largest of them is at least, but for one standard error, or two of the quantiles.
    #[must_use]
    pub fn at_least(&self) -> f64 {
        let quantile = self.quantile - 2.0 * self.quantile_error;
        (self.mean - self.mean_error).max(self.sd - self.sd_error).max(quantile)
    }

    /// The largest of them.
    #[must_use]
    pub fn largest(&self) -> f64 {
        self.mean.max(self.sd).max(self.quantile)
    }
}

/// Moments of a coordinate from which the bias of the step size is taken off to leading order, with
/// standard errors that count the draws' noise and that of the bias.
///
/// With m and m' the means at η/2 and at η this is (4 m − m')/3.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Extrapolated {
    /// The mean.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub mean: f64,
    /// Its standard error.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub mean_error: f64,
    /// The standard deviation.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub sd: f64,
    /// Its standard error.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub sd_error: f64,
}

impl Extrapolated {
    /// The moments of draws at η, given how those at η differ from those at η/2.
    #[must_use]
    pub fn new(draws: &Summary, difference: &Difference) -> Self {
        let bias = CoordinateBias::from(difference);
        let sd = draws.sd / (1.0 + bias.sd);
        Self {
            mean: draws.mean - MULTIPLE * difference.mean,
            mean_error: draws.mcse_mean.hypot(MULTIPLE * difference.mean_error),
            sd,
            sd_error: draws.mcse_sd.hypot(sd * bias.sd_error),
        }
    }
}

/// The largest of some biases, given as estimates with standard errors, and its own error.
///
/// The largest of many noisy estimates is mostly noise. So each is first drawn towards 0 as far as
/// the spread of all of them says that they are noise (an estimate of James and Stein's kind), but
/// never by more than its standard error: a single coordinate with a true bias among many without
/// keeps it.
fn largest(estimates: &[[f64; 2]]) -> [f64; 2] {
    let count = estimates.len() as f64;
    let noise = estimates.iter().map(|[_, error]| error * error).sum::<f64>() / count;
    let spread = estimates.iter().map(|[value, _]| value * value).sum::<f64>() / count;
    if !(noise.is_finite() && spread.is_finite()) {
        return [f64::INFINITY; 2];
    }
    // The spread of the true biases, and what it may be instead: coordinates are correlated, so
    // that three count as one.
    let (signal, unsure) = ((spread - noise).max(0.0), noise * (6.0 / count).sqrt());
    let mut worst = [0.0_f64; 2];
    for [value, error] in estimates {
        let share =
            |signal: f64| if signal > 0.0 { signal / (signal + error * error) } else { 0.0 };
        let drawn = (share(signal) * value.abs()).max(value.abs() - error);
        let left = error * share(signal + unsure).sqrt();
        if drawn + left > worst[0] + worst[1] {
            worst = [drawn, left];
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use ridgewalk_diagnostics::Summary;

    use super::{Bias, CoordinateBias, Extrapolated, largest};
    use crate::coupled::{Difference, Shift};

    /// With a law whose mean is 10 + η² and whose variance is 4 (1 + η²): what η = 0.3 and 0.15
    /// differ by, exactly.
    fn exact() -> Difference {
        let fine = 4.0 * (1.0 + 0.0225);
        Difference {
            mean: 0.09 - 0.0225,
            mean_error: 0.01,
            variance: 4.0 * (0.09 - 0.0225),
            variance_error: 0.02,
            sd: f64::sqrt(fine),
            quantiles: [-0.01, 0.0675, 0.15].map(|value| Shift { value, error: 0.02 }),
            blocks: 16,
        }
    }

    #[test]
    fn a_bias_of_second_order_is_found_exactly() {
        let sd = f64::sqrt(4.0 * 1.0225);
        let bias = CoordinateBias::from(&exact());
        assert!(
            (bias.mean - 0.09 / sd).abs() < 1e-15
                && (bias.mean_error - 0.04 / 3.0 / sd).abs() < 1e-15
        );
        // Relative to the limit of short steps, where the sd is 2.
        assert!((bias.sd - (1.09_f64.sqrt() - 1.0)).abs() < 1e-14, "{bias:?}");
        assert!((bias.sd_error - 0.5 * 4.0 / 3.0 * 0.02 / (sd * sd)).abs() < 1e-15);
        // The quantile that is off most.
        assert!((bias.quantile - 4.0 / 3.0 * 0.15 / sd).abs() < 1e-15);
        assert!((bias.quantile_error - 4.0 / 3.0 * 0.02 / sd).abs() < 1e-15);
        // One coordinate by itself, far above its error, is its own largest.
        let all = Bias::from_differences(&[exact(), exact()]);
        assert!(
            (all.mean - bias.mean).abs() < 0.1 * bias.mean && all.bound() >= all.mean.max(all.sd)
        );
        assert!(all.at_least() <= all.largest());
    }

    #[test]
    fn a_bias_that_is_enormous_is_that_and_not_a_number_less() {
        let bias = CoordinateBias::from(&Difference { variance: 400.0, ..exact() });
        assert!(bias.sd > 5.0 && bias.sd.is_finite(), "{bias:?}");
        // A variance that vanishes at η.
        let bias = CoordinateBias::from(&Difference { variance: -5.0, ..exact() });
        assert_eq!(bias.sd, -1.0);
        // After a divergence.
        assert_eq!(
            Bias::from_differences(&[Difference { mean: f64::NAN, ..exact() }]).bound(),
            f64::INFINITY
        );
    }

    #[test]
    fn extrapolated_moments_of_a_second_order_law_are_those_of_the_limit() {
        // Draws with a mean of exactly 10 + η² and a variance of 4 (1 + η²), with as many above as
        // below.
        let spread = 2.0 * 1.09_f64.sqrt();
        let draws: Vec<f64> = (0..400_u32)
            .map(|i| 10.09 + if i.count_ones() % 2 == 0 { spread } else { -spread })
            .collect();
        let summary = Summary::of(&[&draws[..200], &draws[200..]]).unwrap();
        let scale = summary.sd / spread;
        let found = Extrapolated::new(&summary, &exact());
        assert!((found.mean - 10.0 - (summary.mean - 10.09)).abs() < 1e-12, "{found:?}");
        assert!((found.sd - 2.0 * scale).abs() < 1e-12, "{found:?}");
        assert!((found.mean_error - summary.mcse_mean.hypot(0.04 / 3.0)).abs() < 1e-15);
        assert!(found.sd_error > summary.mcse_sd);
    }

    #[test]
    fn noise_is_not_taken_for_bias_and_bias_not_for_noise() {
        // Fifty coordinates whose estimates are quantiles of pure noise of size 0.03: the largest
        // is 0.07.
        let noise: Vec<[f64; 2]> =
            (0..50).map(|i| [0.07 * (f64::from(i) - 24.5) / 24.5 * 0.75, 0.03]).collect();
        let [found, error] = largest(&noise);
        assert!(found < 0.024 && error < 0.03, "{found} ± {error}");
        // One of them with a bias of 0.3.
        let mut one = noise.clone();
        one[7] = [0.3, 0.03];
        assert!(largest(&one)[0] > 0.269);
        // All of them with clear ones.
        let all: Vec<[f64; 2]> = (1..=50).map(|i| [0.01 * f64::from(i), 0.01]).collect();
        assert!((largest(&all)[0] - 0.5).abs() < 0.01);
        assert_eq!(largest(&[[f64::NAN, 0.1]]), [f64::INFINITY; 2]);
    }
}
