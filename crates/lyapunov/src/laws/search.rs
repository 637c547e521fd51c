//! Repeated simplex searches, each restarted at the result of the last until nothing is gained:
//! costs that are a maximum over many eigenvalues have kinks, on which a simplex can collapse.

use super::kernel::KernelKind;
use crate::simplex;

/// The effort of a search.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    /// The relative gain below which the search stops.
    pub(super) gain: f64,
    /// Evaluations of one simplex.
    pub(super) evaluations: usize,
}

/// A point and the value there; infinite where the function is not defined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found<const N: usize> {
    pub(super) at: [f64; N],
    pub(super) value: f64,
}

/// Minimises a cost over those of (ln γ, ln ξ, ln η) that the kernel has; the others stay as they
/// are. For trajectories, ξ has a meaning only as a whole number of steps.
pub(super) fn minimise_parameters(
    kernel: KernelKind, cost: &mut impl FnMut(&[f64; 3]) -> f64, start: [f64; 3], size: f64,
    effort: Effort,
) -> Found<3> {
    let [gamma, xi, eta] = start;
    if kernel == KernelKind::Hmc {
        minimise_trajectory(cost, start, size, effort)
    } else if kernel.has_gamma() {
        minimise(cost, start, size, effort)
    } else if kernel.has_xi() {
        let found = minimise(&mut |&[x, e]| cost(&[gamma, x, e]), [xi, eta], size, effort);
        Found { at: [gamma, found.at[0], found.at[1]], value: found.value }
    } else {
        let found = minimise(&mut |&[e]| cost(&[gamma, xi, e]), [eta], size, effort);
        Found { at: [gamma, xi, found.at[0]], value: found.value }
    }
}

/// The best η for the number K of steps at `start`, then for more and fewer of them as long as that
/// is better. 1/ξ is the duration Kη.
fn minimise_trajectory(
    cost: &mut impl FnMut(&[f64; 3]) -> f64, [gamma, xi, eta]: [f64; 3], size: f64, effort: Effort,
) -> Found<3> {
    let mut of = |steps: f64, eta: f64| {
        let at = |eta: f64| [gamma, -steps.ln() - eta, eta];
        let found = minimise(&mut |&[eta]| cost(&at(eta)), [eta], size, effort);
        Found { at: at(found.at[0]), value: found.value }
    };
    let mut steps = (-xi - eta).exp().round().max(1.0);
    let mut best = of(steps, eta);
    let changes: [fn(f64) -> f64; 6] =
        [|k| 0.5 * k, |k| 2.0 * k, |k| 0.8 * k, |k| 1.25 * k, |k| k - 1.0, |k| k + 1.0];
    for change in changes {
        loop {
            let changed = change(steps).round();
            if changed < 1.0 || changed == steps {
                break;
            }
            let found = of(changed, best.at[2]);
            if !(found.value < best.value) {
                break;
            }
            (best, steps) = (found, changed);
        }
    }
    best
}

/// Minimises from `start` with a first simplex of the given size, each next one a third of the
/// last, until one of them gains too little.
pub(super) fn minimise<const N: usize>(
    function: &mut impl FnMut(&[f64; N]) -> f64, start: [f64; N], size: f64,
    Effort { gain, evaluations }: Effort,
) -> Found<N> {
    let mut best = Found { at: start, value: function(&start) };
    let mut size = size;
    for _ in 0..6 {
        let found = simplex::minimise(&mut *function, best.at, size, 0.1 * gain, evaluations);
        let gained = best.value - found.value;
        if found.value < best.value {
            best = Found { at: found.point, value: found.value };
        }
        if gained <= gain * best.value.abs() {
            break;
        }
        size /= 3.0;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinks_on_which_one_simplex_collapses_are_no_obstacle() {
        let kink =
            |[x, y, z]: &[f64; 3]| (x - 1.0).abs().max((y + x).abs()).max((z - y).abs()) + 2.0;
        let effort = |gain, evaluations| Effort { gain, evaluations };
        let found = minimise(&mut { kink }, [3.0, 3.0, 3.0], 1.0, effort(1e-6, 360));
        assert!(found.value < 2.01, "{found:?}");
        let wall = |[x]: &[f64; 1]| if *x < 0.5 { f64::INFINITY } else { x * x };
        let found = minimise(&mut { wall }, [2.0], 0.7, effort(1e-9, 120));
        assert!((found.at[0] - 0.5).abs() < 1e-3, "{found:?}");
    }
}
