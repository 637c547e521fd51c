//! Kernels to choose from: where each begins, how long its steps can be, and the friction that
//! suits a step.

use ridgewalk_lyapunov::laws::{Autocorrelation, KernelKind, Scheme};

use super::bias::Bias;
use crate::coupled::Difference;
use crate::error::Error;
use crate::kernels::BuiltIn;

/// Parameters that the user sets and the warm-up does not choose; none by default. Units are those
/// of whitened coordinates, L = 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Wanted {
    /// The kernel: the third-order, the symmetric, the averaged or the adjusted one.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::kernel"))]
    pub kernel: Option<KernelKind>,
    /// γ.
    pub gamma: Option<f64>,
    /// ξ.
    pub xi: Option<f64>,
    /// η. Its bias is measured and reported, whatever it is.
    pub eta: Option<f64>,
}

/// A scheme with its measured bias.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) scheme: Scheme,
    pub(super) bias: Bias,
    pub(super) differences: Vec<Difference>,
    /// Effective draws per gradient, by the exact laws; for trajectories between these and what was
    /// seen.
    pub(super) efficiency: f64,
    /// The same by the exact laws alone: what was seen is noisy, and much the same for all
    /// trajectories in the same coordinates.
    pub(super) promised: f64,
    pub(super) gradients_per_step: u64,
    pub(super) within: bool,
    /// Draws of all chains that were made on the way, one after the other; none for kernels with a
    /// bias.
    pub(super) points: Vec<f64>,
}

impl Candidate {
    /// Whether this is the better one: within the tolerance before efficient, and where neither is
    /// within, less biased.
    pub(super) fn beats(&self, other: &Self) -> bool {
        match (self.within, other.within) {
            (true, true) => self.efficiency > other.efficiency,
            (false, false) => self.bias.bound() < other.bias.bound(),
            (within, _) => within,
        }
    }

    /// Steps after which a draw is nearly independent of the last. Trajectories are not left out as
    /// readily: half an independent draw is kept. Moves decided by a few rows cost next to nothing: they
    /// are made until draws are independent.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 1e9")]
    pub(super) fn wanted_thin(&self) -> u64 {
        if self.scheme.kernel() == KernelKind::Subsampled {
            return (1.0 / self.efficiency).ceil().clamp(1.0, 1e9) as u64;
        }
        let enough = if self.scheme.trajectory().is_some() { 0.5 } else { 1.0 };
        (enough / (self.efficiency * self.gradients_per_step as f64)).floor().clamp(1.0, 1e9) as u64
    }

    /// The same, but not without end: draws that cost more are left correlated.
    pub(super) fn thin(&self) -> u64 {
        let most = (MOST_GRADIENTS / self.gradients_per_step.max(1)).max(1);
        self.wanted_thin().min(most)
    }
}

/// The kernel for posteriors that are nearly normal: without bias on normal ones, and stable up to
/// long steps.
pub(crate) const NEARLY_NORMAL: KernelKind = KernelKind::Symmetric;
/// Those for others, in the order in which they are tried.
pub(crate) const FAR_FROM_NORMAL: [KernelKind; 3] =
    [KernelKind::Averaged, KernelKind::ThirdOrder, KernelKind::Symmetric];

/// The most gradients from one draw to the next. Draws that would take more stay correlated, and
/// the effective sample size shows it: a run of 8 x 1000 draws ends within a million gradients.
const MOST_GRADIENTS: u64 = 100;

/// Values of γ and of ξ that are tried. Larger ones of the same ratio γ²/ξ are as efficient, but
/// let the chains of a pair drift apart: at (4, 12) the differences between step sizes are five
/// times as noisy as at (1.2, 2).
const GAMMAS: [f64; 7] = [0.5, 0.7, 0.9, 1.2, 1.35, 1.5, 1.8];
const XIS: [f64; 2] = [2.0, 3.0];

/// The first step size to try, for eigenvalues up to `high`.
pub(crate) fn first_step(kernel: KernelKind, high: f64) -> f64 {
    BuiltIn::of(kernel).first_step.min(longest_step(kernel, high))
}

/// The longest step to try, for eigenvalues up to `high`.
pub(crate) fn longest_step(kernel: KernelKind, high: f64) -> f64 {
    BuiltIn::of(kernel).longest_step / high.sqrt()
}

/// The γ and ξ that make an independent draw cheapest with steps of η, over eigenvalues from `low`
/// to `high`; and how many effective draws a step gives.
///
/// # Errors
/// If no γ and ξ make a stable step.
pub(crate) fn with_best_friction(
    kernel: KernelKind, eta: f64, [low, high]: [f64; 2], wanted: Wanted,
) -> Result<(Scheme, f64), Error> {
    let eigenvalues = [low, (low * high).sqrt(), high];
    let mut best: Option<(Scheme, f64)> = None;
    let gammas = wanted.gamma.map_or(GAMMAS.to_vec(), |gamma| vec![gamma]);
    let xis = wanted.xi.map_or(XIS.to_vec(), |xi| vec![xi]);
    for (gamma, xi) in gammas.iter().flat_map(|gamma| xis.iter().map(|xi| (*gamma, *xi))) {
        let scheme = Scheme::new(kernel, gamma, xi, eta)?;
        let time = eigenvalues.iter().try_fold(0.0_f64, |worst, l| {
            let form = scheme.linear_form(*l).ok()?;
            Some(worst.max(Autocorrelation::new(&form)?.longer()))
        });
        let Some(time) = time else { continue };
        if best.as_ref().is_none_or(|(_, efficiency)| 1.0 / time > *efficiency) {
            best = Some((scheme, 1.0 / time));
        }
    }
    best.ok_or(Error::NoStableStep { name: kernel.name(), eta })
}

#[cfg(test)]
mod tests {
    use ridgewalk_lyapunov::laws::{Drift, Scheme, Trajectory};

    use super::{Bias, Candidate, MOST_GRADIENTS};

    #[test]
    fn a_draw_takes_no_more_gradients_than_the_cap() {
        for (steps, efficiency, wanted) in [(1, 0.4, 1), (2, 0.05, 5), (4, 1e-4, 1250)] {
            let trajectory = Trajectory::new(steps, Drift::Straight);
            let candidate = Candidate {
                scheme: Scheme::adjusted(1.2, 2.0, 0.5, trajectory).unwrap(),
                bias: Bias::NONE,
                differences: Vec::new(),
                efficiency,
                promised: efficiency,
                gradients_per_step: u64::from(steps),
                within: true,
                points: Vec::new(),
            };
            assert_eq!(candidate.wanted_thin(), wanted);
            let most = MOST_GRADIENTS / u64::from(steps);
            assert_eq!(candidate.thin(), wanted.min(most));
        }
    }
}
