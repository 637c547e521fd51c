//! Newton's method for ridge-separable potentials.
//!
//! Columns are scaled by the Hessian's diagonal, so that units do not matter. Where the Hessian is
//! singular (Huber's loss beyond δ, rows that are saturated) a multiple of the identity is added,
//! as in Levenberg's method. Each step is searched by slopes, which cost O(n) because the
//! predictors move along a line too; values, which lose half of the digits near the mode, are not
//! needed.
//!
//! A small decrement √(gᵀ H⁻¹ g) does not prove that a mode is near: on separated data it falls for
//! ever. A full step that removes nearly all of the slope does prove it, for then the curvature is
//! nearly constant along the step; along a separating direction a step takes away no more than two
//! thirds. Far out, rounding can look like that too. So a mode counts as proven only if the full
//! step moves no row by much: along a separating direction rows move by about 1.

use faer::Mat;

use super::is_final;
use super::line_search::line_search;
use crate::error::Error;
use crate::families::Family;
use crate::hessian::{dot, forward, norm, visit};
use crate::properness::{Flat, Proof, Properness, Separation};
use crate::ridge::Ridge;
use crate::symmetric;

/// Iterations before data are suspected to be separated.
const PATIENCE: usize = 2;
/// Iterations in which a direction that separates some rows may still turn out to separate all.
const SECOND_LOOK: usize = 8;
/// The share of the slope that a full step may leave at the end.
const SLOPE_LEFT: f64 = 0.1;
/// The first multiple of the identity that is added to a scaled Hessian that cannot be factorised,
/// and the factor to the next.
const DAMPING: f64 = 1e-12;
const MORE: f64 = 1e3;
/// The most damping that is tried where no step makes progress.
const MOST_DAMPING: f64 = 1e3;
/// A step that moves no predictor by more than this leaves the curvatures of all rows nearly as
/// they are.
const STILL: f64 = 0.02;
/// For rows far out, in proportion to the predictor. Rows that run away move by about 1 (logistic,
/// Poisson) or 1/s (probit), and are not seen any more before that is so small a share of s.
const STILL_FAR_OUT: f64 = 1e-4;
/// Distances from the mode, in standard deviations, up to which rounding may end the search, and up
/// to which a search that makes no more progress has ended well.
const ROUNDING: f64 = 1e-3;
const STUCK: f64 = 1e-6;
/// Rows of which less than this share of the curvature is left are saturated: with them a Hessian
/// may be definite and still prove nothing.
const SATURATED: f64 = 1e-5;
/// Diagonals of Hessians below this lose digits.
const SMALL: f64 = 1e-280;

pub(super) struct Newton<'m, 'a, F> {
    pub(super) ridge: &'m Ridge<'a, F>,
    /// Whether the prior is part of the potential.
    pub(super) with_prior: bool,
    pub(super) tolerance: f64,
    pub(super) iterations: usize,
}

/// Where Newton's method ended.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) end: End,
    pub(super) point: Vec<f64>,
    pub(super) gradient_norm: f64,
    pub(super) decrement: f64,
    pub(super) iterations: usize,
    pub(super) gradients: u64,
    /// Whether a mode is certainly near, whatever rounding does: the full step, not shortened by
    /// damping, moves no row by much, or no row could fit better for ever.
    pub(super) certain: bool,
    /// Whether the Hessian there is positive definite beyond rounding.
    pub(super) definite: bool,
    /// Whether every row is curved there, by much more than a row that is saturated.
    pub(super) curved: bool,
}

impl Found {
    /// What a mode here proves about the posterior, given whether all columns are clearly
    /// independent.
    pub(super) fn properness(&self, clear_rank: bool) -> Properness {
        match (self.definite || (clear_rank && self.curved), self.certain) {
            (true, true) => Properness::Proper(Proof::Curvature),
            (true, false) => Properness::NotChecked("rounding hides whether a mode is near"),
            (false, _) => Properness::NotChecked("the Hessian at the mode is singular to rounding"),
        }
    }
}

/// Why it ended.
#[derive(Debug)]
pub(super) enum End {
    Converged,
    Separated(Separation),
    Exhausted(&'static str),
}

/// The derivatives of the potential at a point.
struct Here {
    predictors: Vec<f64>,
    gradient: Vec<f64>,
    curvatures: Vec<f64>,
    /// The size of the terms that each predictor is a sum of: its rounding is in proportion.
    sizes: Vec<f64>,
}

/// A step, and whether the Hessian was positive definite without help.
struct Direction {
    step: Vec<f64>,
    damping: f64,
    definite: bool,
}

impl Direction {
    /// The damping to try next: more after a short step, less after a long one.
    fn damping_after(&self, length: f64) -> f64 {
        match length {
            ..0.01 => (self.damping * MORE).clamp(DAMPING, 1.0),
            0.1.. if self.damping > DAMPING => self.damping / MORE,
            0.1.. => 0.0,
            _ => self.damping,
        }
    }
}

/// The slope along a step, and what rounding may have added to it.
struct Slope {
    value: f64,
    rounding: f64,
}

impl Slope {
    fn is_rounding(&self) -> bool {
        self.value.is_finite() && self.value.abs() <= self.rounding
    }
}

/// What an iteration finds before it moves.
struct Look {
    here: Here,
    direction: Direction,
    /// How the step moves each row's predictor.
    moved: Vec<f64>,
    /// What is to be returned if the search ends here, but for the point.
    found: Found,
    /// Whether the mode is within the tolerance.
    close: bool,
    /// Whether rounding hides the slope.
    hidden: bool,
    /// Whether the slope is smaller after the full step than before.
    improves: bool,
}

impl<F: Family> Newton<'_, '_, F> {
    pub(super) fn run(
        &self, mut point: Vec<f64>, flat: Option<&Flat<'_, '_, F>>,
    ) -> Result<Found, Error> {
        let typical = self.ridge.typical_diagonal();
        let runs_away = flat.is_some_and(Flat::separable);
        let mut quasi: Option<(usize, Separation)> =
            flat.and_then(Flat::single_column).map(|separation| (0, separation));
        let mut damping = 0.0;
        let mut iteration = 0;
        loop {
            let look = self.look(&point, iteration, &typical, damping, runs_away)?;
            let (close, hidden) = (look.close, look.hidden);
            if quasi.is_none() && (close || hidden) {
                return self.settle(point, look, flat);
            }
            let Look { here, direction, moved, found, .. } = look;
            if iteration >= PATIENCE
                && let Some(flat) = flat
                && let Some(separation) = flat.separation(&point, &direction.step)
            {
                if is_final(&separation) {
                    return Ok(Found { end: End::Separated(separation), point, ..found });
                }
                quasi.get_or_insert((iteration, separation));
            }
            if let Some((_, separation)) = quasi.take_if(|(since, separation)| {
                is_final(separation) || iteration >= *since + SECOND_LOOK || close || hidden
            }) {
                return Ok(Found { end: End::Separated(separation), point, ..found });
            }
            let slope = |t: f64| self.slope(&here, &point, &direction.step, &moved, t).value;
            let start = dot(&here.gradient, &direction.step);
            let taken = line_search(start, |t| Ok::<f64, Error>(slope(t)))?;
            let stuck = taken.length == 0.0;
            if stuck && quasi.is_none() && found.decrement <= STUCK {
                return Ok(Found { point, ..found });
            }
            // Another direction before giving up.
            if stuck && direction.damping < MOST_DAMPING && iteration < self.iterations {
                damping = (direction.damping * MORE).max(DAMPING);
                iteration += 1;
                continue;
            }
            if stuck || iteration >= self.iterations {
                let why = if stuck {
                    "no step made progress"
                } else {
                    "the limit of iterations was reached"
                };
                let end =
                    quasi.map_or(End::Exhausted(why), |(_, separation)| End::Separated(separation));
                return Ok(Found { end, point, ..found });
            }
            damping = direction.damping_after(taken.length);
            point.iter_mut().zip(&direction.step).for_each(|(x, p)| *x += taken.length * p);
            iteration += 1;
        }
    }

    /// The step at a point, and how near the mode is by it.
    fn look(
        &self, point: &[f64], iteration: usize, diagonal: &[f64], damping: f64, runs_away: bool,
    ) -> Result<Look, Error> {
        let here = self.here(point)?;
        let direction = self.direction(point, &here, diagonal, damping)?;
        let moved = forward(self.ridge.design(), &direction.step);
        let decrement = -dot(&here.gradient, &direction.step);
        if !decrement.is_finite() {
            let point = point.to_vec();
            return Err(Error::NotFinite { what: "the length of Newton's step", point });
        }
        let mut rows = here.curvatures.iter().enumerate();
        let most = |row: usize| self.ridge.typical_curvature(row);
        let curved = self.everywhere(rows.all(|(row, c)| *c > SATURATED * most(row)));
        let [start, full] =
            [0.0, 1.0].map(|t| self.slope(&here, point, &direction.step, &moved, t));
        let mut rows = moved.iter().zip(&here.predictors);
        let still =
            self.everywhere(rows.all(|(m, s)| m.abs() <= STILL.max(STILL_FAR_OUT * s.abs())));
        let found = Found {
            end: End::Converged,
            certain: direction.damping == 0.0 && (still || !runs_away),
            gradient_norm: norm(&here.gradient),
            decrement: decrement.max(0.0).sqrt(),
            iterations: iteration,
            gradients: iteration as u64 + 1,
            definite: direction.definite,
            curved,
            point: Vec::new(),
        };
        let removed = full.value.abs() <= SLOPE_LEFT * decrement;
        let close = found.decrement <= self.tolerance && (removed || full.is_rounding());
        let improves = full.value.abs() < start.value.abs();
        Ok(Look { hidden: start.is_rounding(), here, direction, moved, found, close, improves })
    }

    /// The end of a search that is close to a mode or cannot see the slope for rounding.
    fn settle(
        &self, mut point: Vec<f64>, look: Look, flat: Option<&Flat<'_, '_, F>>,
    ) -> Result<Found, Error> {
        let Look { direction, mut found, close, improves, .. } = look;
        // A start far out may be here before patience has run out.
        if let Some(separation) = flat.and_then(|flat| flat.separation(&point, &direction.step)) {
            return Ok(Found { end: End::Separated(separation), point, ..found });
        }
        if !close && found.decrement > ROUNDING {
            let end = End::Exhausted("rounding hides the slope");
            return Ok(Found { end, point, ..found });
        }
        if improves {
            point.iter_mut().zip(&direction.step).for_each(|(x, p)| *x += p);
            found.gradients += 1;
            found.gradient_norm = found.gradient_norm.min(norm(&self.here(&point)?.gradient));
        }
        Ok(Found { point, ..found })
    }

    fn everywhere(&self, here: bool) -> bool {
        self.ridge.rows().everywhere(here)
    }

    fn here(&self, point: &[f64]) -> Result<Here, Error> {
        let predictors = self.ridge.predictors(point);
        let mut gradient = vec![0.0; point.len()];
        self.ridge.add_backward(&self.slopes(&predictors), &mut gradient);
        if self.with_prior {
            self.ridge.quadratic().add_integral(1.0, point, &vec![0.0; point.len()], &mut gradient);
        }
        if gradient.iter().any(|g| !g.is_finite()) {
            return Err(Error::NotFinite { what: "the gradient", point: point.to_vec() });
        }
        let curvatures = self.ridge.row_curvatures(&predictors);
        let sizes = (0..predictors.len()).map(|row| {
            let mut size = self.ridge.offset(row).abs();
            visit(self.ridge.design(), row, |k, a| size += (a * point[k]).abs());
            size
        });
        Ok(Here { sizes: sizes.collect(), predictors, gradient, curvatures })
    }

    /// w u′ of each row.
    fn slopes(&self, predictors: &[f64]) -> Vec<f64> {
        predictors.iter().enumerate().map(|(row, s)| self.row_slope(row, *s)).collect()
    }

    /// w u′ of a row at this predictor.
    fn row_slope(&self, row: usize, s: f64) -> f64 {
        self.ridge.weight(row) * self.ridge.family().slope(s, self.ridge.observations()[row])
    }

    /// The derivative of U at point + t step with respect to t.
    fn slope(&self, here: &Here, point: &[f64], step: &[f64], moved: &[f64], t: f64) -> Slope {
        let mut sums = [0.0; 2];
        // Without lists of all rows, which are a good part of the memory of a large fit.
        for (row, (s, m)) in here.predictors.iter().zip(moved).enumerate() {
            let c = self.row_slope(row, s + t * m);
            sums[0] += c * m;
            sums[1] += (c.abs() + here.curvatures[row] * here.sizes[row]) * m.abs();
        }
        self.ridge.rows().sum(&mut sums);
        let [mut value, mut size] = sums;
        if self.with_prior {
            let end: Vec<f64> = point.iter().zip(step).map(|(x, p)| x + t * p).collect();
            let mut prior = vec![0.0; point.len()];
            self.ridge.quadratic().add_integral(1.0, &end, &vec![0.0; point.len()], &mut prior);
            for (g, p) in prior.iter().zip(step) {
                value += g * p;
                size += (g * p).abs();
            }
        }
        Slope { value, rounding: 8.0 * f64::EPSILON * size }
    }

    /// The step −(H + damping)⁻¹ g in units in which H has the diagonal 1.
    fn direction(
        &self, point: &[f64], here: &Here, typical: &[f64], damping: f64,
    ) -> Result<Direction, Error> {
        let d = typical.len();
        let mut hessian = self.ridge.gram(&here.curvatures);
        if self.with_prior {
            self.ridge.quadratic().add_to(&mut hessian);
        }
        let units: Vec<f64> = (0..d)
            .map(|k| {
                let size = hessian[k * (d + 1)].max(1e-16 * typical[k]);
                if size > 0.0 && size.is_finite() { 1.0 / size.sqrt() } else { 0.0 }
            })
            .collect();
        // A coefficient that nothing depends on stays where it is.
        let scaled = |k: usize, l: usize| match (k == l, units[k] == 0.0) {
            (true, true) => 1.0,
            _ => units[k] * hessian[k * d + l] * units[l],
        };
        let rounding = 4.0 * f64::EPSILON * ((d + 8) * d) as f64;
        let mut added = damping;
        while added < 1e9 {
            let matrix = Mat::from_fn(d, d, |k, l| scaled(k, l) + if k == l { added } else { 0.0 });
            if let Some(factor) = symmetric::cholesky(&matrix) {
                let mut x = Mat::from_fn(d, 1, |k, _| -units[k] * here.gradient[k]);
                symmetric::solve(&factor, &mut x);
                let step: Vec<f64> = (0..d).map(|k| units[k] * x[(k, 0)]).collect();
                let falls = dot(&step, &here.gradient) <= 0.0;
                if falls && step.iter().all(|p| p.is_finite()) {
                    let shift =
                        |k: usize, l: usize| scaled(k, l) - if k == l { rounding } else { 0.0 };
                    let definite =
                        added == 0.0 && symmetric::cholesky(&Mat::from_fn(d, d, shift)).is_some();
                    return Ok(Direction { step, damping: added, definite });
                }
            }
            added = (added * MORE).max(DAMPING);
        }
        Err(Error::NotFinite { what: "the Hessian", point: point.to_vec() })
    }
}

impl<F: Family> Ridge<'_, F> {
    /// The diagonal of Q + Aᵀ diag(c) A.
    pub(crate) fn diagonal(&self, c: &[f64]) -> Vec<f64> {
        let mut sum = self.once(self.quadratic().diagonal());
        for (row, c) in c.iter().enumerate() {
            visit(self.design(), row, |k, a| sum[k] += c * a * a);
        }
        self.rows().sum(&mut sum);
        sum
    }

    /// An error where the squares of a column leave the range of numbers, and with them the
    /// Hessian.
    pub(crate) fn check_range(&self) -> Result<(), Error> {
        let diagonal = self.typical_diagonal();
        if diagonal.iter().any(|h| !h.is_finite()) {
            return Err(Error::Overflow { what: "the diagonal of the Hessian" });
        }
        let mut small = false;
        for row in 0..self.observations().len() {
            let felt = self.weight(row) > 0.0;
            visit(self.design(), row, |k, a| small |= felt && a != 0.0 && diagonal[k] < SMALL);
        }
        if self.rows().somewhere(small) {
            Err(Error::Overflow { what: "the inverse of the diagonal of the Hessian" })
        } else {
            Ok(())
        }
    }

    /// The diagonal with each row as curved as it can be, or with curvature 1 where that has no
    /// bound.
    pub(super) fn typical_diagonal(&self) -> Vec<f64> {
        self.diagonal(&self.typical_curvatures())
    }

    /// For each row the largest curvature that it can have, or 1 where that has no bound, times its
    /// weight.
    fn typical_curvatures(&self) -> Vec<f64> {
        (0..self.observations().len()).map(|row| self.typical_curvature(row)).collect()
    }

    /// The same of one row.
    fn typical_curvature(&self, row: usize) -> f64 {
        let bounds = self.family().curvature_bounds(self.observations()[row]);
        self.weight(row) * bounds.upper.unwrap_or(1.0)
    }
}
