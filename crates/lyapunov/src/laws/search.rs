//! The simplex search of this crate, begun anew at its own result until that gains nothing: costs
//! that are the worst over many eigenvalues have kinks, on which a simplex can collapse.

use crate::simplex;

/// A point and the value there; the value is infinite where the function is not defined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found<const N: usize> {
    pub(super) at: [f64; N],
    pub(super) value: f64,
}

/// Minimises from `start` with a first simplex of the given size, each new one a third of that
/// before, until one of them gains less than `gain` (relative). Each may use so many `evaluations`.
pub(super) fn minimise<const N: usize>(
    function: &mut impl FnMut(&[f64; N]) -> f64,
    start: [f64; N],
    size: f64,
    gain: f64,
    evaluations: usize,
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
        let found = minimise(&mut { kink }, [3.0, 3.0, 3.0], 1.0, 1e-6, 360);
        assert!(found.value < 2.01, "{found:?}");
        let wall = |[x]: &[f64; 1]| if *x < 0.5 { f64::INFINITY } else { x * x };
        let found = minimise(&mut { wall }, [2.0], 0.7, 1e-9, 120);
        assert!((found.at[0] - 0.5).abs() < 1e-3, "{found:?}");
    }
}
