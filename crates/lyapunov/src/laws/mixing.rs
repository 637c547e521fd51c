//! The parameters of each kernel that reach a wanted distance to a Gaussian target with the fewest
//! gradients.

use super::evolution::Evolution;
use super::kernel::KernelKind;
use super::scheme::Scheme;
use super::search::{Effort, Found, minimise_parameters};
use super::spectrum::{Spectrum, Start};
use super::tuning::starts;
use crate::error::{Error, positive};

/// The effort of one search.
const EFFORT: Effort = Effort { gain: 1e-3, evaluations: 120 };
/// How often the step is shortened, by factors of e^(1/4), to come near enough to the target.
const SHORTENINGS: u32 = 120;

/// The best parameters found for a wanted distance.
#[derive(Debug, Clone, PartialEq)]
pub struct MixingTuned {
    /// The kernel with its parameters.
    pub scheme: Scheme,
    /// The first k with W2 at most the wanted distance, from θ*.
    pub steps: u64,
    /// Gradients in that many steps.
    pub gradients: u64,
}

/// Minimises the number of gradients until W2 between the law of θ and the target is at most
/// `epsilon`, starting from θ*. `None` if no parameters were found that reach it.
///
/// # Errors
/// [`Error::NotInRange`] unless `epsilon` is positive and finite.
pub fn tune_mixing(
    kernel: KernelKind, target: &Spectrum, epsilon: f64,
) -> Result<Option<MixingTuned>, Error> {
    positive("epsilon", epsilon)?;
    let scheme =
        |&[gamma, xi, eta]: &[f64; 3]| Scheme::new(kernel, gamma.exp(), xi.exp(), eta.exp()).ok();
    let mut cost = |at: &[f64; 3]| {
        scheme(at)
            .and_then(|scheme| smooth_gradients(&scheme, target, epsilon))
            .unwrap_or(f64::INFINITY)
    };
    let mut candidates: Vec<Found<3>> = Vec::new();
    // Of starts that differ only in the step, the longest is enough: it is shortened here.
    let starts = starts(kernel, target.condition_number());
    let longest = starts.iter().map(|at| at[2]).fold(f64::NEG_INFINITY, f64::max);
    for mut at in starts.into_iter().filter(|at| at[2] == longest) {
        for _ in 0..SHORTENINGS {
            if scheme(&at).is_some_and(|scheme| near_enough(&scheme, target, epsilon)) {
                break;
            }
            at[2] -= 0.25;
        }
        // At the longest step that is near enough, mixing takes forever.
        at[2] -= 0.25;
        candidates.push(Found { at, value: cost(&at) });
    }
    candidates.sort_by(|a, b| a.value.total_cmp(&b.value));
    candidates.truncate(4);
    let improved = candidates
        .into_iter()
        .map(|start| minimise_parameters(kernel, &mut cost, start.at, 0.3, EFFORT));
    let best = improved.min_by(|a, b| a.value.total_cmp(&b.value));
    let Some(scheme) = best.and_then(|found| scheme(&found.at)) else { return Ok(None) };
    let steps = Evolution::new(&scheme, target, &Start::AtMode)?.mixing_time(epsilon)?;
    let per_step = u64::from(scheme.gradients_per_step());
    Ok(steps.map(|steps| MixingTuned { steps, gradients: steps.saturating_mul(per_step), scheme }))
}

/// Whether the stationary law is near enough.
fn near_enough(scheme: &Scheme, target: &Spectrum, epsilon: f64) -> bool {
    Evolution::new(scheme, target, &Start::AtMode)
        .ok()
        .and_then(|evolution| evolution.stationary())
        .is_some_and(|law| law.w2_to_target() < epsilon)
}

/// Gradients in the mixing time, not rounded.
fn smooth_gradients(scheme: &Scheme, target: &Spectrum, epsilon: f64) -> Option<f64> {
    let evolution = Evolution::new(scheme, target, &Start::AtMode).ok()?;
    Some(f64::from(scheme.gradients_per_step()) * smooth_steps(&evolution, epsilon)?)
}

/// The mixing time, made continuous by interpolating the logarithm of W2 linearly between the last
/// two steps.
pub(super) fn smooth_steps(evolution: &Evolution, epsilon: f64) -> Option<f64> {
    let steps = evolution.mixing_time(epsilon).ok()??;
    let Some(before) = steps.checked_sub(1) else { return Some(0.0) };
    let (above, below) =
        (evolution.after(before).w2_to_target(), evolution.after(steps).w2_to_target());
    let fraction = (above / epsilon).ln() / (above / below).ln();
    Some(before as f64 + fraction.clamp(0.0, 1.0))
}
