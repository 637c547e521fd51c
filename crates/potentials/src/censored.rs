//! Times on a logarithmic scale, z = k (log t − s), that are known exactly or to lie in an interval:
//! minus the logarithm of the density of z, or of the probability of the interval, and derivatives.
//!
//! Survival models are these functions of z. With F the distribution function of z, S = 1 − F:
//!
//! | kind | S(z) | −log of the density |
//! | --- | --- | --- |
//! | Weibull | exp(−e^z) | e^z − z |
//! | log-logistic | 1/(1 + e^z) | \|z\| + 2 log(1 + e^-\|z\|) |
//! | log-normal | Φ(−z) | z²/2 + log √(2π) |
//!
//! The probability of an interval is a difference of two numbers that may agree in all digits, both
//! near 0 or near 1. Each kind has a form of its own in which nothing is subtracted.

use crate::families::Observation;
use crate::normal::{self, GAUSS_8, density, inverse_mills, log_cdf, mills};
use crate::softplus::{sigmoid, softplus};
use crate::special::{LOG_ROOT_TWO_PI, log_1m_exp, log_1m_exp_of, over_expm1, vanishing};

/// The law of a survival time t with scale e^s and shape k, as that of z = k (log t − s).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SurvivalKind {
    /// P(z > x) = exp(−e^x). With k = 1 times are exponential, of mean e^s.
    Weibull,
    /// P(z > x) = 1/(1 + e^x).
    LogLogistic,
    /// P(z > x) = Φ(−x): log t is normal with mean s and standard deviation 1/k.
    LogNormal,
}

impl SurvivalKind {
    /// The name used in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Weibull => "weibull",
            Self::LogLogistic => "log-logistic",
            Self::LogNormal => "log-normal",
        }
    }
}

/// What is known of a time, on the scale of z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Known {
    /// It.
    Exactly(f64),
    /// That it is above.
    Above(f64),
    /// That it is below.
    Below(f64),
    /// That it is between two ends, whose distance is known more precisely than they are.
    Between { low: f64, high: f64, gap: f64 },
    /// Nothing.
    Nothing,
}

impl Known {
    /// Of a time between two.
    pub(crate) fn of(y: Observation, s: f64, shape: f64) -> Self {
        let (lower, upper) = (y.response, y.trials);
        let z = |time: f64| shape * (time.ln() - s);
        if lower == upper {
            Self::Exactly(z(lower))
        } else if upper == f64::INFINITY {
            if lower == 0.0 { nothing(s) } else { Self::Above(z(lower)) }
        } else if lower == 0.0 {
            Self::Below(z(upper))
        } else {
            Self::Between { low: z(lower), high: z(upper), gap: shape * log_gap(y) }
        }
    }
}

/// log(upper/lower).
pub(crate) fn log_gap(y: Observation) -> f64 {
    let (lower, upper) = (y.response, y.trials);
    if upper < 2.0 * lower { ((upper - lower) / lower).ln_1p() } else { upper.ln() - lower.ln() }
}

/// Even of a row that says nothing, NaN is NaN.
fn nothing(s: f64) -> Known {
    if s.is_nan() { Known::Above(s) } else { Known::Nothing }
}

/// u, and its derivatives as all z move together and as all are multiplied: ∂u/∂z, and Σ z ∂u/∂z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Terms {
    pub(crate) value: f64,
    pub(crate) by_shift: f64,
    pub(crate) by_stretch: f64,
}

impl Terms {
    /// A function of one z.
    fn of(z: f64, value: f64, slope: f64) -> Self {
        Self { value, by_shift: slope, by_stretch: vanishing(z, slope) }
    }
}

/// Minus the log density or log probability of what is known.
pub(crate) fn terms(kind: SurvivalKind, known: Known) -> Terms {
    use SurvivalKind::{LogLogistic, LogNormal, Weibull};
    match (known, kind) {
        (Known::Nothing, _) => Terms { value: 0.0, by_shift: 0.0, by_stretch: 0.0 },
        (Known::Exactly(z), Weibull) => {
            // An infinite z is not subtracted from itself.
            Terms::of(z, z.exp() - z.min(f64::MAX), z.exp_m1())
        }
        (Known::Above(z), Weibull) => Terms::of(z, z.exp(), z.exp()),
        (Known::Below(z), Weibull) => {
            let hazard = z.exp();
            Terms::of(z, -log_1m_exp_of(hazard, z), -over_expm1(hazard))
        }
        (Known::Between { low, high, gap }, Weibull) => weibull_between(low, high, gap),
        (Known::Exactly(z), LogLogistic) => {
            Terms::of(z, z.abs() + 2.0 * softplus(-z.abs()), (0.5 * z).tanh())
        }
        (Known::Above(z), LogLogistic) => Terms::of(z, softplus(z), sigmoid(z)),
        (Known::Below(z), LogLogistic) => Terms::of(z, softplus(-z), -sigmoid(-z)),
        (Known::Between { low, high, gap }, LogLogistic) => {
            // S(low) − S(high) = S(low) F(high) (1 − e^-gap).
            let (above, below) = (sigmoid(low), sigmoid(-high));
            Terms {
                value: softplus(low) + softplus(-high) - log_1m_exp(gap),
                by_shift: above - below,
                by_stretch: vanishing(low, above) - vanishing(high, below) - over_expm1(gap),
            }
        }
        (Known::Exactly(z), LogNormal) => Terms::of(z, 0.5 * z * z + LOG_ROOT_TWO_PI, z),
        (Known::Above(z), LogNormal) => Terms::of(z, -log_cdf(-z), inverse_mills(-z)),
        (Known::Below(z), LogNormal) => Terms::of(z, -log_cdf(z), -inverse_mills(z)),
        (Known::Between { low, high, gap }, LogNormal) => normal_between(low, high, gap),
    }
}

/// Below this gap, Σ z ∂u/∂z is taken as low times the shift plus the gap times the upper slope: the
/// two slopes are of opposite sign and of the size of 1/gap.
const SHORT: f64 = 1.0;

/// S(low) − S(high) = exp(−e^low) (1 − e^-D) with D = e^high − e^low = e^high (1 − e^-gap).
fn weibull_between(low: f64, high: f64, gap: f64) -> Terms {
    /// Beyond, 1 − e^-D is 1.
    const CERTAIN: f64 = 40.0;
    let hazard = low.exp();
    let shrink = -(-gap).exp_m1();
    let rise = high.exp() * shrink;
    let share = over_expm1(rise);
    let by_shift = hazard - share;
    let by_high = -share / shrink;
    let by_stretch = if gap < SHORT {
        vanishing(low, by_shift) + gap * by_high
    } else {
        let by_low = if rise > CERTAIN { hazard } else { (rise + share) / gap.exp_m1() };
        vanishing(low, by_low) + vanishing(high, by_high)
    };
    let log_rise = high + log_1m_exp(gap);
    Terms { value: hazard - log_1m_exp_of(rise, log_rise), by_shift, by_stretch }
}

/// Φ(high) − Φ(low), mirrored if its middle is below 0. With a the end that is then nearer to 0,
/// b = a + gap and w = (b² − a²)/2, the probability is φ(a) N, N = M(a) − e^-w M(b) with Mills's
/// ratio M; the slopes of u at the ends are 1/N and −e^-w/N.
fn normal_between(low: f64, high: f64, gap: f64) -> Terms {
    let mirrored = low + high < 0.0;
    let (a, b) = if mirrored { (-high, -low) } else { (low, high) };
    let Ends { value, by_shift, by_b } = normal_ends(a, b, gap);
    let by_stretch = if gap < SHORT {
        a * by_shift + gap * by_b
    } else {
        a * (by_shift - by_b) + vanishing(b, by_b)
    };
    Terms { value, by_shift: if mirrored { -by_shift } else { by_shift }, by_stretch }
}

/// u for a normal variable between a and b, ∂u/∂a + ∂u/∂b and ∂u/∂b.
struct Ends {
    value: f64,
    by_shift: f64,
    by_b: f64,
}

/// For a + b >= 0.
fn normal_ends(a: f64, b: f64, gap: f64) -> Ends {
    let middle = 0.5 * (a + b);
    let power = gap * middle;
    if a < 0.0 && gap * b.max(1.0) > 1.0 {
        // A good part of the whole line, without two tails.
        let (at_a, at_b) = (density(a), density(b));
        let tails = at_a * mills(-a) + at_b * mills(b);
        let whole = 1.0 - tails;
        return Ends {
            value: -(-tails).ln_1p(),
            by_shift: (at_a - at_b) / whole,
            by_b: -at_b / whole,
        };
    }
    let ratio = if gap * b.max(1.0) <= 1.0 {
        // ∫ e^(−a x − x²/2) over the gap: M(a) and M(b) are too close to be subtracted.
        let at = |x: f64| (-x * (a + 0.5 * x)).exp();
        let pair = |(node, weight): &(f64, f64)| weight * (at(gap * node) + at(gap * (1.0 - node)));
        gap * GAUSS_8.iter().map(pair).sum::<f64>()
    } else {
        mills(a) - vanishing(mills(b), (-power).exp())
    };
    Ends {
        value: 0.5 * a * a + LOG_ROOT_TWO_PI - ratio.ln(),
        by_shift: -(-power).exp_m1() / ratio,
        by_b: -(-power).exp() / ratio,
    }
}

/// ∂²u/∂z² as all z move together.
pub(crate) fn curvature(kind: SurvivalKind, known: Known) -> f64 {
    use SurvivalKind::{LogLogistic, LogNormal, Weibull};
    let logistic = |z: f64| sigmoid(z) * sigmoid(-z);
    match (known, kind) {
        (Known::Nothing, _) => 0.0,
        (Known::Exactly(z) | Known::Above(z), Weibull) => z.exp(),
        (Known::Below(z), Weibull) => falling(z.exp()),
        (Known::Between { low, high, gap }, Weibull) => {
            low.exp() + falling(high.exp() * -(-gap).exp_m1())
        }
        (Known::Exactly(z), LogLogistic) => 2.0 * logistic(z),
        (Known::Above(z) | Known::Below(z), LogLogistic) => logistic(z),
        (Known::Between { low, high, .. }, LogLogistic) => logistic(low) + logistic(high),
        (Known::Exactly(z), LogNormal) => {
            if z.is_nan() {
                z
            } else {
                1.0
            }
        }
        (Known::Above(z), LogNormal) => normal::curvature(-z),
        (Known::Below(z), LogNormal) => normal::curvature(z),
        (Known::Between { low, high, gap }, LogNormal) => {
            let (a, b) = if low + high < 0.0 { (-high, -low) } else { (low, high) };
            if gap * 0.5 * (a + b) > 40.0 && a > 0.0 {
                // The upper end is too far to matter.
                return normal::curvature(-a);
            }
            // 1 minus the variance of a normal variable between a and b.
            let Ends { by_shift, by_b, .. } = normal_ends(a, b, gap);
            (by_shift * (by_shift - a) - vanishing(gap, by_b)).clamp(0.0, 1.0)
        }
    }
}

/// No less than the largest derivative in z of −x/(e^x − 1) for x = e^z, which is at x = 1.8605.
pub(crate) const STEEPEST_SHARE: f64 = 0.412_531_618_913_142;

/// The derivative in z of −x/(e^x − 1) for x = e^z.
fn falling(x: f64) -> f64 {
    let share = over_expm1(x);
    // x/(1 − e^-x) − 1 = x + x/(e^x − 1) − 1, about x/2.
    let more = if x < 0.25 { 0.5 * x + even_part(x) } else { x + share - 1.0 };
    vanishing(more, share)
}

/// x/(e^x − 1) − 1 + x/2 = x²/12 − x⁴/720 + ... for small x.
fn even_part(x: f64) -> f64 {
    let square = x * x;
    let series = [1.0 / 12.0, -1.0 / 720.0, 1.0 / 30_240.0, -1.0 / 1_209_600.0, 1.0 / 47_900_160.0];
    square * series.iter().rev().fold(0.0, |sum, c| sum * square + c)
}
