//! The mode of a joint posterior, by Newton's method with a search along each step.
//!
//! U need not be convex: where the Hessian is not positive definite, a multiple of its diagonal is
//! added until it is. Every step lowers U, so the search ends near a minimum.

use faer::Mat;

use super::Joint;
use crate::density::Density;
use crate::error::{Error, length};
use crate::hessian::{dot, norm};
use crate::line_integral::{LineIntegral, Scratch};
use crate::mode::{Method, Mode};
use crate::properness::{Proof, Properness};
use crate::symmetric;

/// The search ends this near the mode, in standard deviations. Coordinates need a hundredth.
const TOLERANCE: f64 = 1e-6;
/// Where rounding of U keeps steps from making progress, it has ended well this near.
const NEAR: f64 = 0.02;
/// The most steps.
const STEPS: usize = 300;
/// The share of the decrease that the slope promises which a step must reach, and how often it is
/// halved until it does.
const DECREASE: f64 = 1e-4;
const HALVINGS: u32 = 60;
/// The first multiple of the diagonal that is added to a Hessian that is not positive definite, and
/// the factor to the next.
const DAMPING: f64 = 1e-8;
const MORE: f64 = 10.0;

/// U and its gradient at a point.
struct Here {
    point: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

/// A step downhill, and the distance from the mode by it, in standard deviations; NaN if the
/// Hessian needed help.
struct Downhill {
    step: Vec<f64>,
    distance: f64,
}

impl Joint<'_> {
    /// The mode, looked for from a start. Where a prior is Laplace's, whose slope jumps at its
    /// centre, a normal one of the same variance takes its place: the point found is near the mode.
    ///
    /// # Errors
    /// A start of another dimension or where U is not finite; [`Error::NotConverged`].
    pub fn mode(&self, start: &[f64]) -> Result<Mode, Error> {
        length("the start", start.len(), self.dimension())?;
        if self.priors.iter().any(|prior| matches!(prior, Density::Laplace { .. })) {
            let mut smooth = self.clone();
            for prior in &mut smooth.priors {
                if let Density::Laplace { mean, scale } = *prior {
                    *prior = Density::Normal { mean, scale: std::f64::consts::SQRT_2 * scale };
                }
            }
            return smooth.mode(start);
        }
        let mut here = self.look(start.to_vec())?;
        if !here.value.is_finite() {
            return Err(Error::NotFinite { what: "the potential", point: here.point });
        }
        let (mut iterations, mut gradients) = (0, 1);
        loop {
            let downhill = self.downhill(&here)?;
            if downhill.distance <= TOLERANCE {
                return Ok(self.found(here, downhill.distance, iterations, gradients));
            }
            let next = self.lower(&here, &downhill.step, &mut gradients)?;
            iterations += 1;
            match next {
                Some(next) if iterations < STEPS => here = next,
                None if downhill.distance <= NEAR => {
                    return Ok(self.found(here, downhill.distance, iterations, gradients));
                }
                _ => {
                    return Err(Error::NotConverged {
                        method: Method::Newton,
                        why: "no step made progress",
                        iterations,
                        gradient_norm: norm(&here.gradient),
                        decrement: downhill.distance,
                        point: here.point,
                    });
                }
            }
        }
    }

    fn found(&self, here: Here, decrement: f64, iterations: usize, gradients: u64) -> Mode {
        let properness = if self.has_proper_prior() {
            Properness::Proper(Proof::Prior)
        } else {
            Properness::NotChecked("a prior is flat, and the model has parameters of its own")
        };
        let mut mode = Mode::given(here.point, norm(&here.gradient));
        mode.method = Method::Newton;
        (mode.decrement, mode.iterations, mode.gradients) = (decrement, iterations, gradients);
        mode.properness = properness;
        mode
    }

    fn look(&self, point: Vec<f64>) -> Result<Here, Error> {
        let (mut value, mut gradient) = ([0.0], vec![0.0; point.len()]);
        self.values_and_gradients(&point, &mut value, &mut gradient, &mut Scratch::default())?;
        Ok(Here { point, value: value[0], gradient })
    }

    /// A point below, along the step; `None` if there is none.
    fn lower(&self, here: &Here, step: &[f64], gradients: &mut u64) -> Result<Option<Here>, Error> {
        let slope = dot(&here.gradient, step);
        let mut share = 1.0;
        for _ in 0..HALVINGS {
            let point = here.point.iter().zip(step).map(|(x, p)| x + share * p).collect();
            let next = self.look(point)?;
            *gradients += 1;
            let finite = next.gradient.iter().all(|g| g.is_finite());
            if finite && next.value < here.value + DECREASE * share * slope {
                return Ok(Some(next));
            }
            share *= 0.5;
        }
        Ok(None)
    }

    /// −(H + damping)⁻¹ g, in units in which H has the diagonal 1.
    fn downhill(&self, here: &Here) -> Result<Downhill, Error> {
        let d = self.dimension();
        let hessian = self.hessian(&here.point)?;
        let unit = |h: f64| if h != 0.0 { h.abs().sqrt().recip() } else { 1.0 };
        let units: Vec<f64> = (0..d).map(|k| unit(hessian[k * (d + 1)])).collect();
        let mut added = 0.0;
        while added < 1e12 {
            let scaled = |k: usize, l: usize| {
                units[k] * hessian[k * d + l] * units[l] + if k == l { added } else { 0.0 }
            };
            if let Some(factor) = symmetric::cholesky(&Mat::from_fn(d, d, scaled)) {
                let mut x = Mat::from_fn(d, 1, |k, _| -units[k] * here.gradient[k]);
                symmetric::solve(&factor, &mut x);
                let step: Vec<f64> = (0..d).map(|k| units[k] * x[(k, 0)]).collect();
                let decrease = -dot(&step, &here.gradient);
                if decrease >= 0.0 && step.iter().all(|p| p.is_finite()) {
                    let distance = if added == 0.0 { decrease.sqrt() } else { f64::NAN };
                    return Ok(Downhill { step, distance });
                }
            }
            added = (added * MORE).max(DAMPING);
        }
        Err(Error::NotFinite { what: "the Hessian", point: here.point.clone() })
    }
}
