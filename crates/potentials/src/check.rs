//! Checks of a family or gradient of your own against finite differences, to be called from its
//! tests.
//!
//! Every comparison estimates its own tolerance: the error of the difference from rounding and from
//! curvature, plus [`RELATIVE`] times the numbers themselves. A mistake in a formula (a sign, a
//! factor, a forgotten term) is larger by orders of magnitude.

use std::fmt;

use crate::black_box::Gradient;
use crate::error::{Error, GradientError, length};
use crate::families::{Family, Observation};

/// How far two numbers that should be equal may be apart, beside what differences lose.
const RELATIVE: f64 = 1e-5;
/// Lengths of differences, in units of the argument or of 1 if that is larger. The one with the
/// smallest estimated error is used.
const STEPS: [f64; 4] = [1e-2, 1e-3, 1e-5, 1e-7];
/// Lengths of segments over which mean slopes are compared, both ways.
const LENGTHS: [f64; 4] = [1e-9, 1e-4, 0.3, 20.0];
/// Where slopes are compared with their limits.
const FAR: [f64; 2] = [1e50, 1e100];

/// What was compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Property {
    /// The family accepts the observation.
    Objection,
    /// `slope` is the derivative of `value`.
    Slope,
    /// `curvature` is the derivative of `slope`.
    Curvature,
    /// `mean_slope` is the difference quotient of `value`, and `slope` for an empty segment.
    MeanSlope,
    /// `curvature` is nowhere below the lower one of `curvature_bounds`, and that is not negative.
    LowerBound,
    /// `curvature` is nowhere above the upper one of `curvature_bounds`.
    UpperBound,
    /// `slope` stays within `slope_limits` and reaches them far out.
    SlopeLimits,
    /// `values`, `slopes` and `mean_slopes` are `value`, `slope` and `mean_slope` row by row.
    Lists,
    /// `gradient` is the derivative of the value.
    Gradient,
    /// `gradient` and `value_and_gradient` give the same gradient.
    TwoGradients,
    /// The derivatives of the gradient are symmetric, as those of every gradient are. This is
    /// compared where the value is not known.
    Symmetry,
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Objection => "the objection to an observation",
            Self::Slope => "slope against differences of value",
            Self::Curvature => "curvature against differences of slope",
            Self::MeanSlope => "mean_slope against differences of value",
            Self::LowerBound => "curvature against its lower bound",
            Self::UpperBound => "curvature against its upper bound",
            Self::SlopeLimits => "slope_limits against slopes",
            Self::Lists => "lists against single rows",
            Self::Gradient => "gradient against differences of the value",
            Self::TwoGradients => "gradient against value_and_gradient",
            Self::Symmetry => "derivatives of the gradient against their mirror images",
        })
    }
}

/// Where two numbers were compared.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Place {
    /// At a linear predictor.
    Predictor {
        /// The linear predictor.
        s: f64,
        /// The length of the segment, for mean slopes.
        t: Option<f64>,
        /// The observation.
        y: Observation,
    },
    /// At a point.
    Point {
        /// The point.
        point: Vec<f64>,
        /// The coordinate, from 0.
        coordinate: usize,
        /// The coordinate in which the gradient was differentiated, for its symmetry.
        other: Option<usize>,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Predictor { s, t, y } => {
                // Not 101 digits of 1e100.
                if s.abs() < 1e9 { write!(f, "s = {s}") } else { write!(f, "s = {s:e}") }?;
                if let Some(t) = t {
                    write!(f, ", t = {t}")?;
                }
                write!(f, ", response {}, trials {}", y.response, y.trials)
            }
            Self::Point { point, coordinate, other } => {
                write!(f, "coordinate {coordinate}")?;
                if let Some(other) = other {
                    write!(f, " differentiated in coordinate {other}")?;
                }
                write!(f, " at {point:?}")
            }
        }
    }
}

/// The comparison of one property that came out worst.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What was compared.
    pub property: Property,
    /// Where.
    pub place: Place,
    /// The number that the function under test returned.
    pub found: f64,
    /// The number that it should be near to, or on the right side of.
    pub expected: f64,
    /// How far apart they may be.
    pub tolerance: f64,
    /// How far they are apart, in units of the tolerance; above 1 is a disagreement.
    pub excess: f64,
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { property, place, found, expected, tolerance, .. } = self;
        let verdict = if self.agrees() { "agrees" } else { "DISAGREES" };
        write!(
            f,
            "{property}: {verdict}; worst at {place}: found {found:.6e}, expected {expected:.6e} within {tolerance:.1e}"
        )
    }
}

impl Comparison {
    /// Whether the two numbers are within the tolerance.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.excess <= 1.0
    }
}

/// The worst comparison of each property, as [`check_family`] and [`check_gradient`] find them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Check {
    worst: Vec<Comparison>,
}

impl Check {
    /// Whether something was compared and everything agreed.
    #[must_use]
    pub fn passed(&self) -> bool {
        !self.worst.is_empty() && self.worst.iter().all(Comparison::agrees)
    }

    /// The worst comparison of each property that was looked at.
    #[must_use]
    pub fn worst(&self) -> &[Comparison] {
        &self.worst
    }

    /// The properties that disagree, each with its worst comparison.
    pub fn disagreements(&self) -> impl Iterator<Item = &Comparison> {
        self.worst.iter().filter(|comparison| !comparison.agrees())
    }

    /// An error unless it [passed](Check::passed).
    ///
    /// # Errors
    /// The check itself, whose text names every property with its worst place.
    pub fn into_result(self) -> Result<Self, Self> {
        if self.passed() { Ok(self) } else { Err(self) }
    }

    fn compare(
        &mut self, property: Property, place: impl FnOnce() -> Place, found: f64, expected: f64,
        tolerance: f64,
    ) {
        let tolerance = tolerance + RELATIVE * found.abs().min(expected.abs()) + f64::MIN_POSITIVE;
        let excess = if found == expected { 0.0 } else { (found - expected).abs() / tolerance };
        // NaN agrees with nothing.
        let excess = if excess.is_nan() { f64::INFINITY } else { excess };
        let before = self.worst.iter().position(|known| known.property == property);
        if before.is_some_and(|at| self.worst[at].excess >= excess) {
            return;
        }
        let comparison =
            Comparison { property, place: place(), found, expected, tolerance, excess };
        match before {
            Some(at) => self.worst[at] = comparison,
            None => self.worst.push(comparison),
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.worst.is_empty() {
            return write!(f, "nothing was compared");
        }
        for (k, comparison) in self.worst.iter().enumerate() {
            if k > 0 {
                writeln!(f)?;
            }
            write!(f, "{comparison}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Check {}

/// A derivative by differences, and how far it may be off.
#[derive(Clone, Copy)]
struct Difference {
    value: f64,
    error: f64,
}

/// The derivative at x of a function that may be undefined (`None`) or infinite nearby; `None` if
/// that is so for every length of difference.
///
/// The differences to the left and to the right enclose the derivative of a convex function, and
/// their distance estimates the error from its curvature. Where the curvature is 0, the change from
/// the whole to half the length estimates the error instead.
fn derivative(x: f64, mut f: impl FnMut(f64) -> Option<f64>) -> Option<Difference> {
    let here = f(x)?;
    let mut best: Option<Difference> = None;
    for step in STEPS {
        let h = step * x.abs().max(1.0);
        let mut one_sided = |h: f64| {
            let there = f(x + h)?;
            // The distance of the two doubles, not h.
            let slope = (there - here) / ((x + h) - x);
            let rounding = 8.0 * f64::EPSILON * there.abs().max(here.abs()) / h.abs();
            (!there.is_infinite()).then_some((slope, rounding))
        };
        let sides = [h, -h, 0.5 * h, -0.5 * h].map(&mut one_sided);
        let [Some(right), Some(left), Some(near_right), Some(near_left)] = sides else { continue };
        let value = 0.5 * (near_right.0 + near_left.0);
        let error = (near_right.0 - near_left.0).abs()
            + (0.5 * (right.0 + left.0) - value).abs()
            + near_right.1.max(near_left.1);
        if best.is_none_or(|best| error.is_nan() || error < best.error) {
            best = Some(Difference { value, error });
        }
    }
    best
}

/// Compares the functions of a family with each other, at each of the linear predictors and for
/// each of the observations: slope, curvature and mean slope with finite differences, the curvature
/// with its bounds, slopes with their limits, and lists with single rows.
///
/// Choose predictors that cover the range that models will meet, and observations of every kind the
/// family takes (for counts out of trials: none, some and all). Infinite numbers are skipped; NaN is
/// a disagreement. Without observations or predictors nothing is compared, which does not pass.
///
/// ```
/// use ridgewalk_potentials::check_family;
/// use ridgewalk_potentials::families::{Logistic, Observation};
///
/// let observations = [0.0, 1.0].map(Observation::of);
/// let check = check_family(&Logistic, &observations, &[-30.0, -2.0, 0.0, 0.7, 5.0]);
/// assert!(check.passed(), "{check}");
/// ```
#[must_use]
pub fn check_family(
    family: &dyn Family, observations: &[Observation], predictors: &[f64],
) -> Check {
    let mut check = Check::default();
    if predictors.is_empty() {
        return check;
    }
    for &y in observations {
        let rows = Rows { family, y, predictors };
        rows.objection(&mut check);
        for &s in predictors {
            rows.derivatives(s, &mut check);
            rows.mean_slopes(s, &mut check);
            rows.bounds(s, &mut check);
        }
        rows.slope_limits(&mut check);
        rows.lists(&mut check);
    }
    check
}

/// A family with one observation.
struct Rows<'a> {
    family: &'a dyn Family,
    y: Observation,
    predictors: &'a [f64],
}

impl Rows<'_> {
    fn place(&self, s: f64, t: Option<f64>) -> impl Fn() -> Place + use<> {
        let y = self.y;
        move || Place::Predictor { s, t, y }
    }

    fn objection(&self, check: &mut Check) {
        let objects = f64::from(u8::from(self.family.objection(self.y).is_some()));
        let s = self.predictors.first().copied().unwrap_or_default();
        check.compare(Property::Objection, self.place(s, None), objects, 0.0, 0.0);
    }

    fn derivatives(&self, s: f64, check: &mut Check) {
        let (family, y) = (self.family, self.y);
        let mut compare = |property, found: f64, function: &dyn Fn(f64) -> f64| {
            if function(s).is_infinite() || found.is_infinite() {
                return;
            }
            if let Some(Difference { value, error }) = derivative(s, |s| Some(function(s))) {
                check.compare(property, self.place(s, None), found, value, error);
            }
        };
        compare(Property::Slope, family.slope(s, y), &|s| family.value(s, y));
        compare(Property::Curvature, family.curvature(s, y), &|s| family.slope(s, y));
    }

    fn mean_slopes(&self, s: f64, check: &mut Check) {
        let (family, y) = (self.family, self.y);
        let property = Property::MeanSlope;
        let (value, slope) = (family.value(s, y), family.slope(s, y));
        let empty = family.mean_slope(s, 0.0, y);
        check.compare(property, self.place(s, Some(0.0)), empty, slope, self.rounding(s));
        for t in LENGTHS.into_iter().flat_map(|t| [t, -t]) {
            let end = s + t;
            let [there, slope_there] = [family.value(end, y), family.slope(end, y)];
            if [value, there, slope, slope_there].iter().any(|x| x.is_infinite()) {
                continue;
            }
            let largest = slope.abs().max(slope_there.abs());
            let moved = f64::EPSILON * (s.abs() + end.abs()) * largest;
            let rounding = 8.0 * f64::EPSILON * (value.abs() + there.abs()) + 4.0 * moved;
            let quotient = Difference { value: (there - value) / t, error: rounding / t.abs() };
            // u′ never falls, so its mean is between those of the ends.
            let ends = Difference {
                value: 0.5 * (slope + slope_there),
                error: 0.5 * (slope - slope_there).abs() + self.rounding(s) + self.rounding(end),
            };
            let best = if ends.error < quotient.error { ends } else { quotient };
            let found = family.mean_slope(s, t, y);
            check.compare(property, self.place(s, Some(t)), found, best.value, best.error);
        }
    }

    fn bounds(&self, s: f64, check: &mut Check) {
        let curvature = self.family.curvature(s, self.y);
        let bounds = self.family.curvature_bounds(self.y);
        let (place, lower) = (self.place(s, None), bounds.lower);
        check.compare(Property::LowerBound, &place, lower, lower.max(0.0), 0.0);
        check.compare(Property::LowerBound, &place, curvature, curvature.max(lower), 0.0);
        if let Some(upper) = bounds.upper {
            let expected = if upper.is_nan() { upper } else { curvature.min(upper) };
            check.compare(Property::UpperBound, &place, curvature, expected, 0.0);
        }
    }

    /// The slope reaches finite limits, grows without bound towards infinite ones, and exceeds none.
    fn slope_limits(&self, check: &mut Check) {
        let slope = |s: f64| self.family.slope(s, self.y);
        let limits = self.family.slope_limits(self.y);
        let property = Property::SlopeLimits;
        for (limit, side) in limits.into_iter().zip([-1.0, 1.0]) {
            let [near, far] = FAR.map(|s| slope(side * s));
            let grows = far.is_infinite() || side * far > side * near;
            // A slope that overflows so far out matters only if the limit does too.
            let reached = far.is_nan() || limit.is_infinite() && grows;
            let expected = if reached { limit } else { far };
            check.compare(property, self.place(side * FAR[1], None), limit, expected, 1e-12);
            for &s in self.predictors {
                let slope = slope(s);
                let beyond = side * slope > side * limit;
                let expected = if beyond { slope } else { limit };
                check.compare(property, self.place(s, None), limit, expected, self.rounding(s));
            }
        }
    }

    fn lists(&self, check: &mut Check) {
        let (family, s) = (self.family, self.predictors);
        let t: Vec<f64> = (0..s.len()).map(|i| LENGTHS[i % LENGTHS.len()]).collect();
        let y = vec![self.y; s.len()];
        let [mut values, mut slopes, mut means] = [(); 3].map(|()| vec![0.0; s.len()]);
        family.values(s, &y, &mut values);
        family.slopes(s, &y, &mut slopes);
        family.mean_slopes(s, &t, &y, &mut means);
        for (i, (&s, &t)) in s.iter().zip(&t).enumerate() {
            let y = self.y;
            let scale = 1.0 + size(y) + s.abs();
            let slope_tolerance = self.rounding(s) + self.rounding(s + t);
            for (t, found, expected, tolerance) in [
                (None, values[i], family.value(s, y), 1e-12 * scale),
                (None, slopes[i], family.slope(s, y), slope_tolerance),
                (Some(t), means[i], family.mean_slope(s, t, y), slope_tolerance),
            ] {
                check.compare(Property::Lists, self.place(s, t), found, expected, tolerance);
            }
        }
    }

    /// The rounding error of a slope that is the difference of two terms, or a function of s minus
    /// the response.
    fn rounding(&self, s: f64) -> f64 {
        let y = self.y;
        1e-12 * (1.0 + size(y))
            + 1e-14 * (s.abs() + y.response.abs()) * self.family.curvature(s, y).abs().min(1e300)
    }
}

/// The size of an observation; an interval of time may end at infinity.
fn size(y: Observation) -> f64 {
    y.response.abs() + if y.trials.is_infinite() { 0.0 } else { y.trials.abs() }
}

/// Compares a gradient with finite differences of its value at some points, coordinate by
/// coordinate. Where the value is not known, the derivatives of the gradient, which must be
/// symmetric, are compared with each other: that takes about 17 d² gradients for each point, and
/// finds nothing in one dimension.
///
/// ```
/// use ridgewalk_potentials::{FromValueFn, check_gradient};
///
/// // The second coordinate lacks a factor of 2.
/// let wrong = FromValueFn::new(2, |x: &[f64], g: &mut [f64]| {
///     (g[0], g[1]) = (x[0], 2.0 * x[1]);
///     Ok(0.5 * x[0] * x[0] + 2.0 * x[1] * x[1])
/// });
/// let check = check_gradient(&wrong, &[[0.3, -1.2]])?;
/// assert!(!check.passed());
/// assert!(check.to_string().contains("coordinate 1"), "{check}");
/// # Ok::<(), ridgewalk_potentials::Error>(())
/// ```
///
/// # Errors
/// A point of another dimension, or one at which the gradient fails. Failures near a point are
/// skipped.
pub fn check_gradient<P: AsRef<[f64]>>(
    gradient: &dyn Gradient, points: &[P],
) -> Result<Check, Error> {
    let d = gradient.dimension();
    let mut check = Check::default();
    for point in points {
        let point = point.as_ref();
        length("the point", point.len(), d)?;
        let [mut found, mut again] = [vec![0.0; d], vec![0.0; d]];
        let failed = |error: GradientError| error.at(point);
        gradient.gradient(point, &mut found).map_err(failed)?;
        let value = gradient.value_and_gradient(point, &mut again).map_err(failed)?;
        for coordinate in 0..d {
            let place = || Place::Point { point: point.to_vec(), coordinate, other: None };
            let (first, second) = (found[coordinate], again[coordinate]);
            check.compare(Property::TwoGradients, place, second, first, 0.0);
        }
        if value.is_some() {
            against_values(gradient, point, &found, &mut check);
        } else {
            against_its_mirror_image(gradient, point, &mut check);
        }
    }
    Ok(check)
}

fn against_values(gradient: &dyn Gradient, point: &[f64], found: &[f64], check: &mut Check) {
    let (mut at, mut unused) = (point.to_vec(), vec![0.0; point.len()]);
    for (coordinate, &found) in found.iter().enumerate() {
        let difference = derivative(point[coordinate], |x| {
            at[coordinate] = x;
            gradient.value_and_gradient(&at, &mut unused).ok().flatten()
        });
        at[coordinate] = point[coordinate];
        let place = || Place::Point { point: point.to_vec(), coordinate, other: None };
        if let Some(Difference { value, error }) = difference {
            check.compare(Property::Gradient, place, found, value, error);
        }
    }
}

fn against_its_mirror_image(gradient: &dyn Gradient, point: &[f64], check: &mut Check) {
    let d = point.len();
    let (mut at, mut there) = (point.to_vec(), vec![0.0; d]);
    // The derivative of coordinate j in coordinate k.
    let mut entry = |j: usize, k: usize| {
        let difference = derivative(point[k], |x| {
            at[k] = x;
            gradient.gradient(&at, &mut there).is_ok().then(|| there[j])
        });
        at[k] = point[k];
        difference
    };
    for (j, k) in (0..d).flat_map(|j| (0..j).map(move |k| (j, k))) {
        let (Some(below), Some(above)) = (entry(j, k), entry(k, j)) else { continue };
        let place = || Place::Point { point: point.to_vec(), coordinate: j, other: Some(k) };
        let tolerance = below.error + above.error;
        check.compare(Property::Symmetry, place, below.value, above.value, tolerance);
    }
}
