//! What a warm-up decided, with the figures it decided by: for the report, and for whoever wants to know.

use std::fmt;

use ridgewalk_lyapunov::laws::Scheme;

use crate::coupled::Difference;

/// How far the moments of a chain are from those of the target, estimated, in the coordinate where that is most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bias {
    /// The largest bias of a mean, in standard deviations.
    pub mean: f64,
    /// Its standard error.
    pub mean_error: f64,
    /// The largest relative bias of a standard deviation.
    pub sd: f64,
    /// Its standard error.
    pub sd_error: f64,
}

impl Bias {
    /// From differences between η and η/2, for a bias that falls like η². Infinite after a divergence.
    pub(crate) fn from_differences(differences: &[Difference]) -> Self {
        // 2²/(2² − 1); a standard deviation changes by half of what its variance does.
        let factor = 4.0 / 3.0;
        let means = differences.iter().map(|d| [factor * d.mean / d.sd, factor * d.mean_error / d.sd]);
        let variances =
            differences.iter().map(|d| [d.variance / (d.sd * d.sd), d.variance_error / (d.sd * d.sd)]);
        let sds = variances.map(|v| v.map(|x| 0.5 * factor * x));
        let [mean, mean_error] = largest(&means.collect::<Vec<_>>());
        let [sd, sd_error] = largest(&sds.collect::<Vec<_>>());
        Self { mean, mean_error, sd, sd_error }
    }

    /// A bound of both that holds but for one standard error.
    #[must_use]
    pub fn bound(&self) -> f64 {
        (self.mean + self.mean_error).max(self.sd + self.sd_error)
    }

    /// The larger of the two.
    #[must_use]
    pub fn largest(&self) -> f64 {
        self.mean.max(self.sd)
    }
}

/// One step of a warm-up.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Decision {
    /// The mode was found.
    Mode {
        /// In how many iterations.
        iterations: usize,
        /// With this gradient left.
        gradient_norm: f64,
    },
    /// A short run showed how wide the posterior is beside the normal distribution that fits at its mode.
    Pilot {
        /// Draws of all chains.
        draws: u64,
        /// The mean, over directions, of the variance in whitened coordinates: 1 for a normal posterior.
        spread: f64,
    },
    /// Coordinates were made anew.
    Rewhitened {
        /// From the mean of so many Hessians; 0: from the covariance of the pilot.
        hessians: usize,
        /// The share of the covariance that was replaced by a round one, against its noise.
        shrinkage: f64,
    },
    /// A step size was tried.
    Tried {
        /// The kernel and its parameters.
        scheme: Scheme,
        /// Its bias.
        bias: Bias,
        /// Effective draws a gradient, as the exact laws predict them for these eigenvalues.
        efficiency: f64,
        /// Whether the bias is within the tolerance.
        accepted: bool,
    },
    /// What will be used.
    Chosen {
        /// The kernel and its parameters.
        scheme: Scheme,
        /// Every how many steps there is a draw.
        thin: u64,
    },
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mode { iterations, gradient_norm } => {
                write!(f, "mode after {iterations} iterations, gradient {gradient_norm:.1e}")
            }
            Self::Pilot { draws, spread } => {
                write!(
                    f,
                    "pilot of {draws} draws: variance {spread:.2} times that of the normal fit at the mode"
                )
            }
            Self::Rewhitened { hessians: 0, shrinkage } => {
                write!(f, "coordinates from the pilot's covariance, shrunk by {shrinkage:.2}")
            }
            Self::Rewhitened { hessians, .. } => {
                write!(f, "coordinates from the mean of {hessians} Hessians along the pilot")
            }
            Self::Tried { scheme, bias, efficiency, accepted } => {
                write!(
                    f,
                    "{} at step {:.3}: bias of means {:.3} ± {:.3} sd, of sds {:.1} ± {:.1} %; {efficiency:.2} effective draws a \
                     gradient: {}",
                    scheme.name(),
                    scheme.eta(),
                    bias.mean,
                    bias.mean_error,
                    100.0 * bias.sd,
                    100.0 * bias.sd_error,
                    if *accepted { "accepted" } else { "too biased" }
                )
            }
            Self::Chosen { scheme, thin } => {
                write!(f, "chosen: {} at step {:.3}, a draw every {thin} steps", scheme.name(), scheme.eta())
            }
        }
    }
}

/// The largest of some biases, given as estimates with standard errors, and its own error.
///
/// The largest of many noisy estimates is mostly noise. So each is first drawn towards 0 as far as the spread of all of them says that
/// they are noise (an estimate of James and Stein's kind), but never by more than two of its standard errors: a single coordinate
/// with a true bias among many without keeps it.
fn largest(estimates: &[[f64; 2]]) -> [f64; 2] {
    let count = estimates.len() as f64;
    let noise = estimates.iter().map(|[_, error]| error * error).sum::<f64>() / count;
    let spread = estimates.iter().map(|[value, _]| value * value).sum::<f64>() / count;
    if !(noise.is_finite() && spread.is_finite()) {
        return [f64::INFINITY; 2];
    }
    // The spread of the true biases, and what it may be instead: coordinates are correlated, so that three count as one.
    let (signal, unsure) = ((spread - noise).max(0.0), noise * (6.0 / count).sqrt());
    let mut worst = [0.0_f64; 2];
    for [value, error] in estimates {
        let share = |signal: f64| if signal > 0.0 { signal / (signal + error * error) } else { 0.0 };
        let drawn = (share(signal) * value.abs()).max(value.abs() - 2.0 * error);
        let left = error * share(signal + unsure).sqrt();
        if drawn + left > worst[0] + worst[1] {
            worst = [drawn, left];
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::largest;

    #[test]
    fn noise_is_not_taken_for_bias_and_bias_not_for_noise() {
        // Fifty coordinates whose estimates are quantiles of pure noise of size 0.03: the largest is 0.07.
        let noise: Vec<[f64; 2]> =
            (0..50).map(|i| [0.07 * (f64::from(i) - 24.5) / 24.5 * 0.75, 0.03]).collect();
        let [found, error] = largest(&noise);
        assert!(found < 0.01 && error < 0.03, "{found} ± {error}");
        // One of them with a bias of 0.3.
        let mut one = noise.clone();
        one[7] = [0.3, 0.03];
        assert!(largest(&one)[0] > 0.239);
        // All of them with clear ones.
        let all: Vec<[f64; 2]> = (1..=50).map(|i| [0.01 * f64::from(i), 0.01]).collect();
        assert!((largest(&all)[0] - 0.5).abs() < 0.01);
        assert_eq!(largest(&[[f64::NAN, 0.1]]), [f64::INFINITY; 2]);
    }
}
