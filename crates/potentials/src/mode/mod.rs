//! Modes: the point of largest density, by Newton's method where the Hessian can be factorised,
//! from gradients alone elsewhere; and from gradients with a proof of how near it is, where bounds
//! of the curvature are known.
//!
//! The optimisers of the crate `argmin` were considered: its L-BFGS and its line searches
//! (backtracking, Hager-Zhang, Moré-Thuente) ask for values of the function, which a black box does
//! not have, so the two methods here that search lines do it by slopes, which convexity makes safe.

mod accelerated;
mod lbfgs;
mod line_search;
mod newton;
mod some_rows;

use std::fmt;

use crate::black_box::Gradient;
use crate::error::{Error, length};
use crate::families::Family;
use crate::properness::{
    Flat, Impropriety, Proof, Properness, Relation, Separability, Separation, SeparationKind,
    write_relations,
};
use crate::quadratic::Quadratic;
use crate::ridge::Ridge;
use accelerated::Bounds;
pub use accelerated::{accelerated_gradients_bound, start_tolerance};
use newton::{End, Newton};

/// The most coefficients for which Newton's method is the default.
const NEWTON: usize = 2000;
/// The default limits of iterations.
const ITERATIONS_NEWTON: usize = 200;
const ITERATIONS_LBFGS: usize = 10_000;

/// A method to find modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// Newton's, damped where the Hessian is singular, with a search along each step.
    Newton,
    /// Broyden, Fletcher, Goldfarb and Shanno's with limited memory.
    Lbfgs,
    /// Nesterov's accelerated gradients, which need bounds m and L of the curvature and prove how
    /// near the mode is.
    Accelerated,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Newton => "Newton's method",
            Self::Lbfgs => "L-BFGS",
            Self::Accelerated => "the accelerated gradient method",
        })
    }
}

/// A mode, and what the search found out about the posterior.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Mode {
    /// The point.
    pub point: Vec<f64>,
    /// The Euclidean norm of the gradient there.
    pub gradient_norm: f64,
    /// How far the true mode is, in standard deviations of the normal distribution that fits there:
    /// √(gᵀ H⁻¹ g), before the last step for Newton's method, estimated for L-BFGS, an upper bound
    /// (|g|/√m) for the accelerated method.
    pub decrement: f64,
    /// How it was found.
    pub method: Method,
    /// The number of iterations.
    pub iterations: usize,
    /// The number of gradients. An iteration of Newton's method also takes a Hessian, and slopes
    /// along lines that need no product with the design.
    pub gradients: u64,
    /// Whether the posterior exists.
    pub properness: Properness,
    /// Other facts about the data that a user should know.
    pub notes: Vec<Note>,
}

impl Mode {
    /// A mode that is known without a search: 0 iterations of the method for black boxes, and an
    /// unknown distance from the true one (NaN).
    #[must_use]
    pub fn given(point: Vec<f64>, gradient_norm: f64) -> Self {
        Self {
            point,
            gradient_norm,
            decrement: f64::NAN,
            method: Method::Lbfgs,
            iterations: 0,
            gradients: 0,
            properness: Properness::NotChecked("the mode was given"),
            notes: Vec::new(),
        }
    }
}

/// A remark about the data that is not an error.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Note {
    /// Columns of the design are collinear: along these directions the prior alone decides.
    Collinear(Vec<Relation>),
    /// All responses are equal and as extreme as they can be.
    ConstantResponse,
    /// Rounding kept the search from the accuracy requested.
    Rounding {
        /// The distance from the mode that is left, in standard deviations.
        decrement: f64,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Collinear(relations) => {
                write_relations(f, relations)?;
                write!(f, "; along that direction the prior alone decides")
            }
            Self::ConstantResponse => {
                write!(
                    f,
                    "all responses are equal: how far the coefficients go is for the prior to say"
                )
            }
            Self::Rounding { decrement } => {
                write!(
                    f,
                    "rounding leaves the mode uncertain by about {decrement:.1e} standard deviations"
                )
            }
        }
    }
}

/// How to look for a mode.
///
/// ```
/// use ridgewalk_potentials::{FromFn, ModeSearch};
///
/// // U = log cosh(x − 3) has its mode at 3.
/// let gradient = FromFn::new(1, |x: &[f64], g: &mut [f64]| {
///     g[0] = (x[0] - 3.0).tanh();
///     Ok(())
/// });
/// let mode = ModeSearch::new().with_start(vec![100.0]).of_gradient(&gradient)?;
/// assert!((mode.point[0] - 3.0).abs() < 1e-8);
/// # Ok::<(), ridgewalk_potentials::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ModeSearch {
    tolerance: f64,
    iterations: Option<usize>,
    start: Option<Vec<f64>>,
    method: Option<Method>,
    bounds: Option<Bounds>,
}

impl Default for ModeSearch {
    fn default() -> Self {
        Self { tolerance: 1e-8, iterations: None, start: None, method: None, bounds: None }
    }
}

impl ModeSearch {
    /// A search from 0, by the method that suits the dimension, to 1e-8 standard deviations.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the accuracy, in standard deviations.
    ///
    /// # Errors
    /// Unless it is positive and finite.
    pub fn with_tolerance(mut self, tolerance: f64) -> Result<Self, Error> {
        if !(tolerance > 0.0 && tolerance.is_finite()) {
            return Err(Error::NotPositive { name: "tolerance", value: tolerance });
        }
        self.tolerance = tolerance;
        Ok(self)
    }

    /// Sets the largest number of iterations.
    #[must_use]
    pub fn with_iterations(mut self, iterations: usize) -> Self {
        self.iterations = Some(iterations);
        self
    }

    /// Sets the starting point.
    #[must_use]
    pub fn with_start(mut self, start: Vec<f64>) -> Self {
        self.start = Some(start);
        self
    }

    /// The same search in other coordinates, to which a function takes the starting point.
    pub(crate) fn mapped_start(
        mut self, map: impl FnOnce(Vec<f64>) -> Result<Vec<f64>, Error>,
    ) -> Result<Self, Error> {
        self.start = self.start.map(map).transpose()?;
        Ok(self)
    }

    /// Sets the method. [`ModeSearch::of_gradient`] uses L-BFGS instead of Newton's.
    #[must_use]
    pub fn with_method(mut self, method: Method) -> Self {
        self.method = Some(method);
        self
    }

    /// The method that was set.
    pub(crate) fn method(&self) -> Option<Method> {
        self.method
    }

    /// Sets the bounds m and L of the curvature that the accelerated method needs: m ≤ ∇²U ≤ L at
    /// every point. [`ModeSearch::of_ridge`] finds its own if none are set. They are taken on
    /// trust; a search that takes more iterations than they allow ends with an error.
    ///
    /// ```
    /// use ridgewalk_potentials::{FromFn, Method, ModeSearch, start_tolerance};
    ///
    /// // ∇²U = diag(1, 100), with the mode at (3, 3).
    /// let gradient = FromFn::new(2, |x: &[f64], g: &mut [f64]| {
    ///     (g[0], g[1]) = (x[0] - 3.0, 100.0 * (x[1] - 3.0));
    ///     Ok(())
    /// });
    /// let search = ModeSearch::new().with_method(Method::Accelerated).with_curvature(1.0, 100.0)?;
    /// // As near as the paper's chains start: |θ − θ*| ≤ 1/√L = 0.1.
    /// let start = search.with_tolerance(start_tolerance(100.0))?.of_gradient(&gradient)?;
    /// assert!((start.point[0] - 3.0).hypot(start.point[1] - 3.0) <= 0.1);
    /// # Ok::<(), ridgewalk_potentials::Error>(())
    /// ```
    ///
    /// # Errors
    /// Unless 0 < m ≤ L < ∞.
    pub fn with_curvature(mut self, convexity: f64, smoothness: f64) -> Result<Self, Error> {
        self.bounds = Some(Bounds::new(convexity, smoothness)?);
        Ok(self)
    }

    /// The mode of a potential known by its gradient. It must be convex; whether its density can be
    /// normalised is not checked.
    ///
    /// # Errors
    /// A start of another dimension, a gradient that fails or is not finite (each with the point),
    /// or no mode within the iterations; [`Error::CurvatureUnknown`] for the accelerated method
    /// without [`ModeSearch::with_curvature`].
    pub fn of_gradient<G: Gradient>(&self, gradient: &G) -> Result<Mode, Error> {
        let start = self.start(gradient.dimension())?;
        match self.method {
            None | Some(Method::Newton | Method::Lbfgs) => {
                let iterations = self.iterations.unwrap_or(ITERATIONS_LBFGS);
                lbfgs::minimize(gradient, start, None, self.tolerance, iterations)
            }
            Some(Method::Accelerated) => {
                let bounds = self.bounds.ok_or(Error::CurvatureUnknown)?;
                accelerated::minimize(gradient, start, bounds, self.tolerance, self.iterations)
            }
        }
    }

    /// The mode of a generalized linear model.
    ///
    /// # Errors
    /// As [`ModeSearch::of_gradient`], and [`Error::Improper`] if there is no posterior, with the
    /// columns and the direction; [`Error::NoCurvature`] for the accelerated method where no bounds
    /// are set and none exist.
    pub fn of_ridge<F: Family>(&self, ridge: &Ridge<'_, F>) -> Result<Mode, Error> {
        let found = self.search(ridge);
        // Otherwise a search among numbers that are none says what came of it, not why.
        ridge.design().intact()?;
        found
    }

    fn search<F: Family>(&self, ridge: &Ridge<'_, F>) -> Result<Mode, Error> {
        let start = self.start(ridge.dimension())?;
        ridge.check_range()?;
        let by_prior = ridge.has_proper_prior();
        let flat = (!by_prior).then(|| Flat::under_prior(ridge));
        let clear_rank = flat.as_ref().map_or(Ok(false), clear_rank)?;
        let posterior = Posterior { ridge, flat: flat.as_ref(), clear_rank };
        let suited = if ridge.dimension() <= NEWTON { Method::Newton } else { Method::Lbfgs };
        let mut mode = match self.method.unwrap_or(suited) {
            Method::Newton => {
                let near = if self.start.is_none() { self.of_some_rows(ridge) } else { None };
                self.by_newton(&posterior, near.unwrap_or(start))?
            }
            Method::Lbfgs => self.by_lbfgs(&posterior, start)?,
            Method::Accelerated => self.by_accelerated(ridge, start)?,
        };
        if by_prior {
            mode.properness = Properness::Proper(Proof::Prior);
        } else if clear_rank && flat.as_ref().is_some_and(Flat::resists) {
            mode.properness = Properness::Proper(Proof::Tails);
        }
        // Under a prior that is flat in every direction these would have been errors.
        if !flat.as_ref().is_some_and(Flat::is_everything) {
            let all = Flat::everything(ridge);
            if all.has_constant_response() {
                mode.notes.push(Note::ConstantResponse);
            }
            let relations = if all.too_large() { Vec::new() } else { all.rank().relations };
            if !relations.is_empty() {
                mode.notes.push(Note::Collinear(relations));
            }
        }
        Ok(mode)
    }

    /// By L-BFGS. Gradients alone cannot tell a mode from a slope that fades, so the result is then
    /// checked by Newton's method.
    fn by_lbfgs<F: Family>(
        &self, &Posterior { ridge, flat, clear_rank }: &Posterior<'_, '_, F>, start: Vec<f64>,
    ) -> Result<Mode, Error> {
        let improper = |separation| Err(Error::Improper(Impropriety::Separation(separation)));
        if let Some(separation) = flat.and_then(Flat::single_column) {
            return improper(separation);
        }
        let scales = ridge.inverse_curvatures(&start);
        let iterations = self.iterations.unwrap_or(ITERATIONS_LBFGS);
        let mut outcome = lbfgs::minimize(ridge, start, Some(scales), self.tolerance, iterations);
        let point = match &outcome {
            Ok(mode) => &mode.point,
            Err(Error::NotConverged { point, .. }) => point,
            Err(_) => return outcome,
        };
        let Some(flat) = flat else { return outcome };
        if let Some(separation) = flat.along(point) {
            return improper(separation);
        }
        if !flat.too_large() && flat.separable() {
            let newton = Newton {
                ridge,
                with_prior: true,
                tolerance: self.tolerance,
                iterations: ITERATIONS_NEWTON,
            };
            // From where the search ended and, if rounding hides the answer there, from 0.
            for from in [point.clone(), vec![0.0; ridge.dimension()]] {
                let found = newton.run(from, Some(flat))?;
                let properness = found.properness(clear_rank);
                match (found.end, &mut outcome) {
                    (End::Separated(separation), _) => return improper(separation),
                    (End::Converged, Ok(mode)) => mode.properness = properness,
                    (End::Converged, Err(_)) | (End::Exhausted(_), _) => {}
                }
                if matches!(&outcome, Ok(Mode { properness: Properness::Proper(_), .. })) {
                    break;
                }
            }
        }
        outcome
    }

    /// By accelerated gradients. A positive m, proved for every point, proves that the posterior is
    /// proper.
    fn by_accelerated<F: Family>(
        &self, ridge: &Ridge<'_, F>, start: Vec<f64>,
    ) -> Result<Mode, Error> {
        let (bounds, proved) = match self.bounds {
            Some(bounds) => (bounds, false),
            None => {
                let [m, l] = ridge.curvature()?.certifiable().map_err(Error::NoCurvature)?;
                (Bounds::new(m, l)?, true)
            }
        };
        let mode = accelerated::minimize(ridge, start, bounds, self.tolerance, self.iterations)?;
        let properness =
            if proved { Properness::Proper(Proof::Curvature) } else { mode.properness };
        Ok(Mode { properness, ..mode })
    }

    fn by_newton<F: Family>(
        &self, &Posterior { ridge, flat, clear_rank }: &Posterior<'_, '_, F>, start: Vec<f64>,
    ) -> Result<Mode, Error> {
        let iterations = self.iterations.unwrap_or(ITERATIONS_NEWTON);
        let newton = Newton { ridge, with_prior: true, tolerance: self.tolerance, iterations };
        let found = newton.run(start, flat)?;
        let properness = found.properness(clear_rank);
        match found.end {
            End::Separated(separation) => Err(Error::Improper(Impropriety::Separation(separation))),
            End::Exhausted(why) => Err(Error::NotConverged {
                method: Method::Newton,
                iterations: found.iterations,
                why,
                gradient_norm: found.gradient_norm,
                decrement: found.decrement,
                point: found.point,
            }),
            End::Converged => {
                let rounding = (found.decrement > self.tolerance)
                    .then_some(Note::Rounding { decrement: found.decrement });
                Ok(Mode {
                    point: found.point,
                    gradient_norm: found.gradient_norm,
                    decrement: found.decrement,
                    method: Method::Newton,
                    iterations: found.iterations,
                    gradients: found.gradients,
                    properness,
                    notes: rounding.into_iter().collect(),
                })
            }
        }
    }

    fn start(&self, dimension: usize) -> Result<Vec<f64>, Error> {
        let Some(start) = &self.start else { return Ok(vec![0.0; dimension]) };
        length("the start", start.len(), dimension)?;
        if start.iter().any(|x| !x.is_finite()) {
            return Err(Error::NotFinite { what: "the start", point: start.clone() });
        }
        Ok(start.clone())
    }
}

impl<F: Family> Ridge<'_, F> {
    /// The mode, and whether there is a posterior at all.
    ///
    /// ```
    /// use ridgewalk_potentials::families::Logistic;
    /// use ridgewalk_potentials::{Dense, Prior, Ridge};
    ///
    /// let design = Dense::new(4, 1, vec![-1.0, 0.2, 0.7, 2.0])?.with_intercept();
    /// let with = |y: &[f64]| Ridge::new(design.clone(), Logistic, y, Prior::flat(2));
    /// assert!(with(&[0.0, 1.0, 0.0, 1.0])?.mode()?.gradient_norm < 1e-12);
    /// let error = with(&[0.0, 0.0, 1.0, 1.0])?.mode().unwrap_err();
    /// assert!(error.to_string().starts_with("the posterior is improper: complete separation"));
    /// # Ok::<(), ridgewalk_potentials::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`ModeSearch::of_ridge`].
    pub fn mode(&self) -> Result<Mode, Error> {
        ModeSearch::new().of_ridge(self)
    }

    /// Whether the data are separated, whatever the prior: if they are, only a proper prior keeps
    /// some coefficients finite.
    ///
    /// # Errors
    /// If the likelihood is not finite at 0, or squares of the design's entries overflow.
    pub fn separation(&self) -> Result<Separability, Error> {
        let found = self.search_separation();
        self.design().intact()?;
        found
    }

    fn search_separation(&self) -> Result<Separability, Error> {
        self.check_range()?;
        let flat = Flat::everything(self);
        if !flat.separable() {
            return Ok(Separability::Overlapping);
        }
        if flat.too_large() {
            let alone = flat.single_column().map(Separability::Separated);
            return Ok(alone.unwrap_or(Separability::NotDecided("the design has too many columns")));
        }
        let newton = Newton {
            ridge: self,
            with_prior: false,
            tolerance: 1e-6,
            iterations: ITERATIONS_NEWTON,
        };
        let found = newton.run(vec![0.0; self.dimension()], Some(&flat))?;
        Ok(match found.end {
            End::Separated(separation) => Separability::Separated(separation),
            End::Converged if found.certain => Separability::Overlapping,
            End::Converged => Separability::NotDecided("rounding hides whether a mode is near"),
            End::Exhausted(why) => Separability::NotDecided(why),
        })
    }

    pub(crate) fn has_proper_prior(&self) -> bool {
        match self.quadratic() {
            Quadratic::General { matrix, .. } => {
                crate::curvature::is_definite(matrix, self.dimension())
            }
            simple => simple.smallest().is_some_and(|smallest| smallest > 0.0),
        }
    }

    /// 1/H_kk at a point, with a typical size in place of an H_kk of 0.
    pub(crate) fn inverse_curvatures(&self, point: &[f64]) -> Vec<f64> {
        let curvatures = self.row_curvatures(&self.predictors(point));
        let (here, typical) = (self.diagonal(&curvatures), self.typical_diagonal());
        let floored = here.iter().zip(&typical).map(|(h, t)| if *h > 1e-6 * t { *h } else { *t });
        floored.map(|h| if h > 0.0 && h.is_finite() { 1.0 / h } else { 1.0 }).collect()
    }
}

/// A posterior and the directions along which it may be improper.
struct Posterior<'r, 'a, F> {
    ridge: &'r Ridge<'a, F>,
    /// The directions along which the prior is flat, unless it is proper.
    flat: Option<&'r Flat<'r, 'a, F>>,
    /// Whether the columns that move along them are independent beyond rounding.
    clear_rank: bool,
}

/// Whether the columns without a proper prior are independent beyond rounding; false for too many
/// to look at.
///
/// # Errors
/// If they are not independent.
fn clear_rank<F: Family>(flat: &Flat<'_, '_, F>) -> Result<bool, Error> {
    if flat.too_large() {
        return match flat.too_few_rows() {
            Some(impropriety) => Err(Error::Improper(impropriety)),
            None => Ok(false),
        };
    }
    let rank = flat.rank();
    if rank.relations.is_empty() {
        Ok(rank.clear)
    } else {
        Err(Error::Improper(Impropriety::Collinear(rank.relations)))
    }
}

/// Whether no later look can find a better kind of separation: complete separation is preferred to
/// quasi-complete.
fn is_final(separation: &Separation) -> bool {
    separation.kind != SeparationKind::QuasiComplete
}
