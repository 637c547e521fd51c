//! softplus(x) = log(1 + e^x), its derivative, and means of that derivative over segments.
//!
//! The logistic families are made of these. Each is accurate to a few units in the last place over
//! the whole range of doubles.

use crate::segment::{End, Segment};

/// 1/(1 + e^-x).
pub(crate) fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + (-x).exp())
    } else {
        let e = x.exp();
        e / (1.0 + e)
    }
}

/// log(1 + e^x).
pub(crate) fn softplus(x: f64) -> f64 {
    if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() }
}

/// sigmoid(x), corrected for the rounding of x: sigmoid' = sigmoid (1 − sigmoid).
fn sigmoid_at(x: End) -> f64 {
    let value = sigmoid(x.value);
    value + value * sigmoid(-x.value) * x.rest
}

/// softplus(x) likewise.
fn softplus_at(x: End) -> f64 {
    softplus(x.value) + sigmoid(x.value) * x.rest
}

/// expm1(x)/x, 1 at 0.
fn expm1_ratio(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { x.exp_m1() / x }
}

/// log1p(x)/x, 1 at 0.
fn log1p_ratio(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { x.ln_1p() / x }
}

/// The mean of the sigmoid over a segment: (softplus(high) − softplus(low))/length.
///
/// With low the lower end, softplus(high) − softplus(low) = log1p(sigmoid(low) expm1(length)), in
/// which nothing cancels; it is used for lengths below 1, where the plain difference would. Longer
/// segments take the difference, mirrored where both ends are positive, because there softplus is
/// nearly x and the difference of two such numbers would lose the small part.
pub(crate) fn mean_sigmoid(segment: &Segment) -> f64 {
    let Segment { low, high, length } = *segment;
    if length < 1.0 {
        let start = sigmoid_at(low);
        let growth = expm1_ratio(length);
        start * growth * log1p_ratio(start * growth * length)
    } else if low.value > 0.0 {
        1.0 - (softplus_at(low.negated()) - softplus_at(high.negated())) / length
    } else {
        (softplus_at(high) - softplus_at(low)) / length
    }
}

/// Beyond this |x|, log cosh(x/2) is |x|/2 − log 2 to full accuracy.
const FAR: f64 = 40.0;

/// The mean of tanh(x/2) over a segment: 2 (log cosh(high/2) − log cosh(low/2))/length.
///
/// Away from 0 it is 1 − 2 sigmoid(−x), with the mean of the sigmoid small. Around 0, with c the
/// end that is nearer to it, the ratio of the two cosh, or its inverse, is 1 + 2 sinh(|low +
/// high|/4) sinh(length/4)/cosh(c/2): the sign is that of low + high, and the logarithm of a number
/// above 1 remains. Where the hyperbolic functions would overflow, log cosh is nearly a straight
/// line.
pub(crate) fn mean_tanh_half(segment: &Segment) -> f64 {
    let Segment { low, high, length } = *segment;
    if low.value >= 1.0 {
        return 1.0 - 2.0 * mean_sigmoid(&segment.mirrored());
    }
    if high.value <= -1.0 {
        return 2.0 * mean_sigmoid(segment) - 1.0;
    }
    if length == 0.0 {
        return (0.5 * low.value).tanh();
    }
    let sum = segment.sum_of_ends();
    let (near, far) = if low.value.abs() < high.value.abs() { (low, high) } else { (high, low) };
    let mean = if far.value.abs() < FAR {
        let base = (0.5 * near.value).cosh() + 0.5 * near.rest * (0.5 * near.value).sinh();
        let rise = 2.0 * (0.25 * sum.abs()).sinh() * (0.25 * length).sinh() / base;
        2.0 * rise.ln_1p() / length
    } else {
        // |far| − |near| is |low + high| if 0 is between the ends, and the length if it is not.
        let straight = if low.value >= 0.0 || high.value <= 0.0 { length } else { sum.abs() };
        (straight - 2.0 * (-near.value.abs()).exp().ln_1p()) / length
    };
    mean.copysign(sum)
}
