//! The mean of u′ over a segment from u and u′ alone: what [`Family::mean_slope`] is unless a
//! family has a formula of its own.
//!
//! The difference quotient (u(b) − u(a))/(b − a) is exact but for rounding. Each value brings an
//! error of about ε |u|, so the quotient is off by about ε (|u(a)| + |u(b)|)/|b − a|. That is small
//! against the largest |u′| of the segment, which u′ has at one of its ends because it never falls,
//! for long segments; for short ones it leaves no digit. Short segments are where quadrature of u′
//! converges at once, so it is used wherever the quotient would lose more than [`LOSS`] times the
//! rounding of u′ itself.
//!
//! The rule is Gauss's with eight nodes: exact for polynomials of degree 15, twice what as many
//! Chebyshev nodes reach. A piece is accepted once its two halves confirm it and is halved
//! otherwise, which also follows a kink of u′ (Huber's) down to where it does not matter.

use super::{Family, Observation};
use crate::normal::GAUSS_8;

/// Rounding errors of u′ that the difference quotient may lose before quadrature takes over.
const LOSS: f64 = 8.0;
/// The most often that a piece is halved: a jump of u′ needs one halving for each bit of the
/// result.
const DEPTH: u32 = 52;
/// How well two halves must confirm their piece, in units of the largest |u′| of the whole segment.
const TOLERANCE: f64 = 4.0 * f64::EPSILON;

/// The mean of u′ over the segment from s to s + t.
pub(super) fn mean_slope<F: Family + ?Sized>(family: &F, s: f64, t: f64, y: Observation) -> f64 {
    let end = s + t;
    // The segment between two doubles: t itself may be far from the distance of the rounded ends.
    let distance = end - s;
    if distance == 0.0 {
        return family.slope(s, y);
    }
    let largest = family.slope(s, y).abs().max(family.slope(end, y).abs());
    let [from, to] = [family.value(s, y), family.value(end, y)];
    if (from.abs() + to.abs()) / distance.abs() <= LOSS * largest && (to - from).is_finite() {
        return (to - from) / distance;
    }
    let slope = |share: f64| family.slope(s + share * distance, y);
    let piece = Piece { start: 0.0, width: 1.0 };
    refined(&slope, piece, piece.integral(&slope), TOLERANCE * largest, DEPTH)
}

/// A part of the segment, as shares of its length.
#[derive(Clone, Copy)]
struct Piece {
    start: f64,
    width: f64,
}

impl Piece {
    fn integral(self, slope: &impl Fn(f64) -> f64) -> f64 {
        let at = |share: f64| slope(self.start + share * self.width);
        let pair = |(node, weight): &(f64, f64)| weight * (at(*node) + at(1.0 - node));
        self.width * GAUSS_8.iter().map(pair).sum::<f64>()
    }

    fn halves(self) -> [Self; 2] {
        let width = 0.5 * self.width;
        [Self { start: self.start, width }, Self { start: self.start + width, width }]
    }
}

/// The integral over a piece, of which the rule gives `whole`.
///
/// The tolerance is the same for every piece, not in proportion to its width: rounding of u′ then
/// falls below it after a few halvings and the search ends.
fn refined(
    slope: &impl Fn(f64) -> f64, piece: Piece, whole: f64, tolerance: f64, depth: u32,
) -> f64 {
    let halves = piece.halves().map(|half| (half, half.integral(slope)));
    let sum = halves[0].1 + halves[1].1;
    // Written so that NaN ends the search.
    if depth == 0 || !((sum - whole).abs() > tolerance) {
        return sum;
    }
    halves.map(|(half, whole)| refined(slope, half, whole, tolerance, depth - 1)).iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_is_exact_to_degree_fifteen_and_no_further() {
        let error = |power: i32| {
            let moment = Piece { start: 0.0, width: 1.0 }.integral(&|x| x.powi(power));
            (moment - 1.0 / f64::from(power + 1)).abs()
        };
        assert!((0..16).all(|power| error(power) < 1e-15));
        assert!(error(16) > 1e-11);
    }
}
