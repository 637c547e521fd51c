//! Kernels to choose from: where each begins, how long its steps can be, and the friction that suits a step.

use ridgewalk_lyapunov::laws::{Autocorrelation, Kernel, Scheme};

use crate::error::Error;

/// The kernel for posteriors that are nearly normal: without bias on normal ones, and stable up to long steps.
pub(crate) const NEARLY_NORMAL: Kernel = Kernel::Symmetric;
/// Those for others, in the order in which they are tried.
pub(crate) const FAR_FROM_NORMAL: [Kernel; 3] = [Kernel::Averaged, Kernel::ThirdOrder, Kernel::Symmetric];

/// Values of γ and of ξ that are tried. Larger ones of the same ratio γ²/ξ are as efficient, but let the chains of a pair drift apart: at
/// (4, 12) the differences between step sizes are five times as noisy as at (1.2, 2).
const GAMMAS: [f64; 6] = [0.5, 0.7, 0.9, 1.2, 1.5, 1.8];
const XIS: [f64; 2] = [2.0, 3.0];

/// The first step size to try, for eigenvalues up to `high`.
pub(crate) fn first_step(kernel: Kernel, high: f64) -> f64 {
    let step: f64 = match kernel {
        Kernel::Symmetric => 1.6,
        Kernel::Averaged => 0.6,
        _ => 0.5,
    };
    step.min(longest_step(kernel, high))
}

/// The longest step that is stable for eigenvalues up to `high`, with a margin: chains meet more than the mean curvature.
pub(crate) fn longest_step(kernel: Kernel, high: f64) -> f64 {
    match kernel {
        Kernel::Symmetric => 1.8 / high.sqrt(),
        // Stable at any step where the curvature is as predicted.
        Kernel::Averaged => 3.0 / high.sqrt(),
        _ => 1.5 / high.sqrt(),
    }
}

/// The γ and ξ that make an independent draw cheapest with steps of η, over eigenvalues from `low` to `high`; and how many effective draws
/// a step gives.
///
/// # Errors
/// If no γ and ξ make a stable step.
pub(crate) fn with_best_friction(
    kernel: Kernel,
    eta: f64,
    [low, high]: [f64; 2],
) -> Result<(Scheme, f64), Error> {
    let eigenvalues = [low, (low * high).sqrt(), high];
    let mut best: Option<(Scheme, f64)> = None;
    for (gamma, xi) in GAMMAS.into_iter().flat_map(|gamma| XIS.map(|xi| (gamma, xi))) {
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
