//! Families: the function u(s; y) that one observation y adds to the potential at linear predictor
//! s, minus its log-likelihood.
//!
//! Each family has u, u′, u″, bounds of u″, and the mean of u′ over a segment, which makes line
//! integrals exact. A type of your own that implements [`Family`] works everywhere the built-in
//! ones do; it needs a name, u, u′, u″ and the bounds of u″.

#[cfg(test)]
mod accuracy;
mod chunks;
mod gamma;
mod gaussian;
mod huber;
mod logistic;
mod logistic_noise;
mod mean;
mod negative_binomial;
mod poisson;
mod probit;
mod survival;

pub use crate::censored::SurvivalKind;
pub use gamma::Gamma;
pub use gaussian::Gaussian;
pub use huber::Huber;
pub use logistic::Logistic;
pub use logistic_noise::LogisticNoise;
pub use negative_binomial::NegativeBinomial;
pub use poisson::Poisson;
pub use probit::Probit;
pub use survival::Survival;

use crate::error::Error;

/// An observation: a response and, for binomial counts, the number of trials; or a time that is
/// known to lie in an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// The response: 0 or 1, a count, or a real number, as the family needs. For survival models
    /// the lower end of the interval.
    pub response: f64,
    /// The number of trials; 1 unless responses are binomial counts. For survival models the upper
    /// end of the interval: see [`Observation::between`].
    pub trials: f64,
}

impl Observation {
    /// A response with one trial.
    #[must_use]
    pub fn of(response: f64) -> Self {
        Self { response, trials: 1.0 }
    }

    /// A time between `lower` and `upper`, for survival models: an event at that time if they are
    /// equal, right-censored if `upper` is infinite, left-censored if `lower` is 0, and
    /// interval-censored otherwise.
    #[must_use]
    pub fn between(lower: f64, upper: f64) -> Self {
        Self { response: lower, trials: upper }
    }
}

/// The part of an observation that a family cannot have, with a description of what it needs
/// instead, as in "0 or 1".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objection {
    /// The response.
    Response(&'static str),
    /// The number of trials.
    Trials(&'static str),
}

/// Bounds of u″ over all s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvatureBounds {
    /// The largest number that u″ never goes below; 0 for all built-in families but the
    /// Gaussian and events of log-normal times.
    pub lower: f64,
    /// The smallest number that u″ never exceeds; `None` if there is none.
    pub upper: Option<f64>,
}

/// One term u(s; y) of a ridge-separable potential, convex in s.
///
/// A family of your own needs five methods, and `Clone` for the automatic run;
/// [`check_family`](crate::check_family) compares them with each other.
///
/// ```
/// use ridgewalk_potentials::check_family;
/// use ridgewalk_potentials::families::{CurvatureBounds, Family, Observation};
///
/// /// u = √(1 + (s − y)²): quadratic near the response, straight far from it.
/// #[derive(Debug, Clone)]
/// struct PseudoHuber;
///
/// impl Family for PseudoHuber {
///     fn name(&self) -> &'static str {
///         "pseudo-huber"
///     }
///     fn value(&self, s: f64, y: Observation) -> f64 {
///         (s - y.response).hypot(1.0)
///     }
///     fn slope(&self, s: f64, y: Observation) -> f64 {
///         (s - y.response) / self.value(s, y)
///     }
///     fn curvature(&self, s: f64, y: Observation) -> f64 {
///         self.value(s, y).powi(-3)
///     }
///     fn curvature_bounds(&self, _: Observation) -> CurvatureBounds {
///         CurvatureBounds { lower: 0.0, upper: Some(1.0) }
///     }
/// }
///
/// let check = check_family(&PseudoHuber, &[Observation::of(0.5)], &[-20.0, -1.0, 0.5, 3.0]);
/// assert!(check.passed(), "{check}");
/// ```
pub trait Family: std::fmt::Debug + Send + Sync {
    /// The name used in messages.
    fn name(&self) -> &'static str;

    /// What is wrong with an observation; `None` if it is one that the family can have. By default
    /// the response may be any finite number, and there are no trials.
    fn objection(&self, y: Observation) -> Option<Objection> {
        real(y)
    }

    /// u(s; y). It must keep its relative digits where it is tiny: the default of
    /// [`Family::mean_slope`] takes differences of it.
    fn value(&self, s: f64, y: Observation) -> f64;

    /// u′(s; y). It must not be NaN far out: the default of [`Family::slope_limits`] asks for it at
    /// s = ±1e100.
    fn slope(&self, s: f64, y: Observation) -> f64;

    /// u″(s; y).
    fn curvature(&self, s: f64, y: Observation) -> f64;

    /// The mean of u′ over the segment from s to s + t: (u(s + t) − u(s))/t, and u′(s) for t = 0.
    /// Must be accurate for every t, 0 included, and must not overflow where u′ does not.
    ///
    /// The default needs no formula: it takes the difference quotient of u where that keeps its
    /// digits, and integrates u′ by Gauss's rule on as many pieces as it takes where it does not.
    /// Its error is below 1e-13 of the largest |u′| on the segment, beside what the rounding of s
    /// and s + t does to u′. It takes 24 slopes or more; a closed form is faster and keeps digits
    /// where the mean is much smaller than the largest slope.
    fn mean_slope(&self, s: f64, t: f64, y: Observation) -> f64 {
        mean::mean_slope(self, s, t, y)
    }

    /// u for each s and y, into `values`: [`Family::value`] as [`Family::slopes`] is for
    /// [`Family::slope`].
    fn values(&self, s: &[f64], y: &[Observation], values: &mut [f64]) {
        for ((value, &s), &y) in values.iter_mut().zip(s).zip(y) {
            *value = self.value(s, y);
        }
    }

    /// u′ for each s and y, into `slopes`; all lists are equally long.
    ///
    /// Models call this method, for a block of rows at a time. The result for an s and y must not
    /// depend on the other rows in the list.
    fn slopes(&self, s: &[f64], y: &[Observation], slopes: &mut [f64]) {
        for ((slope, &s), &y) in slopes.iter_mut().zip(s).zip(y) {
            *slope = self.slope(s, y);
        }
    }

    /// The mean of u′ for each s, t and y, into `slopes`: [`Family::mean_slope`] as
    /// [`Family::slopes`] is for [`Family::slope`].
    fn mean_slopes(&self, s: &[f64], t: &[f64], y: &[Observation], slopes: &mut [f64]) {
        for (((slope, &s), &t), &y) in slopes.iter_mut().zip(s).zip(t).zip(y) {
            *slope = self.mean_slope(s, t, y);
        }
    }

    /// Bounds of u″(s; y) over all s.
    fn curvature_bounds(&self, y: Observation) -> CurvatureBounds;

    /// A bound of |u‴(s; y)| for s from `low` to `high`; `None`, as by default, if there is none that
    /// is known. With it moves can be accepted by a few rows ([`Thinning`](crate::Thinning)).
    fn third_bound(&self, low: f64, high: f64, y: Observation) -> Option<f64> {
        let _ = (low, high, y);
        None
    }

    /// The limits of u′ as s goes to minus and to plus infinity; infinite if it grows without
    /// bound. A limit of 0 means that moving s that way costs nothing in the end, as with separated
    /// data. By default u′ far out.
    fn slope_limits(&self, y: Observation) -> [f64; 2] {
        const FAR: f64 = 1e100;
        [self.slope(-FAR, y), self.slope(FAR, y)]
    }
}

/// A scale parameter, checked to be positive and finite.
pub(crate) fn scale(name: &'static str, value: f64) -> Result<f64, Error> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(Error::NotPositive { name, value })
    }
}

/// The inverse of a scale, for lists to multiply by, or NaN if it is not a normal number and so has
/// lost digits: every row of such a list is then computed by itself, with divisions.
#[inline(always)]
fn with_digits(inverse: f64) -> f64 {
    if inverse.is_normal() { inverse } else { f64::NAN }
}

/// An objection to a response that is not usable, and to trials.
pub(crate) fn without_trials(
    y: Observation, usable: bool, need: &'static str,
) -> Option<Objection> {
    if y.trials != 1.0 {
        Some(Objection::Trials("1, because this family has no trials"))
    } else {
        (!usable).then_some(Objection::Response(need))
    }
}

/// An objection to everything but real numbers.
pub(crate) fn real(y: Observation) -> Option<Objection> {
    without_trials(y, y.response.is_finite(), "a finite number")
}

/// An objection to everything but counts.
pub(crate) fn count(y: Observation) -> Option<Objection> {
    without_trials(y, whole(y.response), "a whole number of at least 0")
}

/// An objection to everything but positive numbers.
pub(crate) fn positive(y: Observation) -> Option<Objection> {
    without_trials(y, y.response > 0.0 && y.response.is_finite(), "a positive, finite number")
}

/// An objection to everything but intervals of time.
pub(crate) fn interval(y: Observation) -> Option<Objection> {
    let (lower, upper) = (y.response, y.trials);
    if !(lower >= 0.0 && lower.is_finite()) {
        Some(Objection::Response("a finite time of at least 0"))
    } else if !(upper > 0.0) {
        Some(Objection::Trials("a time above 0 at which the interval ends"))
    } else {
        let need = "an end of the interval not before its beginning";
        (!(upper >= lower)).then_some(Objection::Trials(need))
    }
}

/// Whether a number is a count.
fn whole(x: f64) -> bool {
    x.is_finite() && x >= 0.0 && x.fract() == 0.0
}

/// An objection to everything but counts out of trials.
fn binomial(y: Observation) -> Option<Objection> {
    if !(whole(y.trials) && y.trials >= 1.0) {
        return Some(Objection::Trials("a whole number of trials of at least 1"));
    }
    let need = if !whole(y.response) {
        "a whole number of successes of at least 0"
    } else if y.response > y.trials {
        "no more successes than trials"
    } else {
        return None;
    };
    Some(Objection::Response(if y.trials == 1.0 { "0 or 1" } else { need }))
}

/// The limits of u′ for counts out of trials where a failure's slope rises to `most` and a
/// success's falls from −`most`.
fn binomial_limits(y: Observation, most: f64) -> [f64; 2] {
    let side = |count: f64| if count > 0.0 { count * most } else { 0.0 };
    [-side(y.response), side(y.trials - y.response)]
}

/// `failures` · `of_failure` − `successes` · `of_success`. A term of weight 0 is left out, because
/// it may be infinite.
fn binomial_sum(
    successes: f64, failures: f64, of_failure: impl Fn() -> f64, of_success: impl Fn() -> f64,
) -> f64 {
    if successes == 0.0 {
        failures * of_failure()
    } else if failures == 0.0 {
        -successes * of_success()
    } else {
        failures * of_failure() - successes * of_success()
    }
}
