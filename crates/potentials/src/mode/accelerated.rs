//! Modes by Nesterov's accelerated gradient method, for potentials with known bounds m ≤ ∇²U ≤ L of
//! their curvature; with a stopping rule that proves how far the mode is, and a bound of the number
//! of gradients.
//!
//! With κ = L/m, from y_0 = x_0:
//!
//!   x_{k+1} = y_k − ∇U(y_k)/L,  y_{k+1} = x_{k+1} + β (x_{k+1} − x_k),  β = (√κ − 1)/(√κ + 1).
//!
//! `docs/potentials.md` proves that U − U* and |z − θ*|² for a point z beside x fall at least as
//! fast as (1 − 1/√κ)^k, which bounds the gradients at y. (Y. Nesterov, Introductory Lectures on
//! Convex Optimization, 2004, section 2.2.) The method that adapts its momentum without m was
//! rejected: without m nothing proves that it has arrived.

use super::{Method, Mode, Note};
use crate::black_box::Gradient;
use crate::error::Error;
use crate::hessian::norm;
use crate::properness::Properness;

/// The default limit of iterations, unless the bound is lower.
const ITERATIONS: u64 = 1_000_000;
/// The factor above the tolerance at which a search that rounding stops still counts as converged,
/// if it is also within this many standard deviations: rounding is smaller than that.
const SLACK: f64 = 1e3;
const ROUNDING: f64 = 1e-5;

/// Bounds m ≤ ∇²U ≤ L that hold at every point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    m: f64,
    l: f64,
}

impl Bounds {
    /// # Errors
    /// Unless 0 < m ≤ L < ∞.
    pub(super) fn new(m: f64, l: f64) -> Result<Self, Error> {
        for (name, value) in [("the convexity m", m), ("the smoothness L", l)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::NotPositive { name, value });
            }
        }
        if m > l {
            return Err(Error::CurvatureOrder { convexity: m, smoothness: l });
        }
        Ok(Self { m, l })
    }

    fn momentum(&self) -> f64 {
        let root = (self.l / self.m).sqrt();
        (root - 1.0) / (root + 1.0)
    }

    /// √(gᵀ H⁻¹ g) is at most |g|/√m.
    fn decrement(&self, gradient: &[f64]) -> f64 {
        norm(gradient) / self.m.sqrt()
    }
}

/// The tolerance, in standard deviations, at which the accelerated method has proved that
/// |θ − θ*| ≤ 1/√L: where the paper's chains start.
///
/// By strong convexity |θ − θ*| ≤ |∇U(θ)|/m. The method stops once |∇U(θ)|/√m is within its
/// tolerance, so with a tolerance of 1/√κ it stops once |∇U(θ)| ≤ m/√L.
#[must_use]
pub fn start_tolerance(kappa: f64) -> f64 {
    kappa.sqrt().recip()
}

/// The most gradients that the accelerated method takes on any potential of condition number
/// `kappa`, from a point whose distance from the mode is `distance`, in units of 1/√L.
///
/// The gradients at y_0, …, y_k satisfy
///
///   |∇U(y_k)|² ≤ 2 L √κ (1 − 1/√κ)^k (U(y_0) − U* + (m/2)|y_0 − θ*|²)
///            ≤ L √κ (L + m) (1 − 1/√κ)^k |y_0 − θ*|².
///
/// The method stops at |∇U(y_k)|² ≤ m `tolerance`², so at the latest at the first k with
/// (1 − 1/√κ)^k √κ (κ + 1) `distance`² ≤ `tolerance`².
///
/// ```
/// use ridgewalk_potentials::{accelerated_gradients_bound, start_tolerance};
///
/// // From a distance of √(d/m), with d = 100 and κ = 10,000.
/// let (kappa, d) = (1e4_f64, 100.0);
/// let most = accelerated_gradients_bound(kappa, (d * kappa).sqrt(), start_tolerance(kappa))?;
/// assert_eq!(most, 3667);
/// # Ok::<(), ridgewalk_potentials::Error>(())
/// ```
///
/// # Errors
/// Unless `kappa` is finite and at least 1, `distance` finite and not negative, and `tolerance`
/// positive and finite.
pub fn accelerated_gradients_bound(
    kappa: f64, distance: f64, tolerance: f64,
) -> Result<u64, Error> {
    if !(kappa >= 1.0) {
        return Err(Error::CurvatureOrder { convexity: 1.0, smoothness: kappa });
    }
    for (name, value) in [("kappa", kappa), ("tolerance", tolerance)] {
        if !(value > 0.0 && value.is_finite()) {
            return Err(Error::NotPositive { name, value });
        }
    }
    if !(distance >= 0.0 && distance.is_finite()) {
        return Err(Error::NotPositive { name: "distance", value: distance });
    }
    let log = 0.5 * kappa.ln() + kappa.ln_1p() + 2.0 * (distance.ln() - tolerance.ln());
    if log <= 0.0 {
        return Ok(1);
    }
    // Infinite at κ = 1, where one step is enough.
    let rate = -(-kappa.sqrt().recip()).ln_1p();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive count")]
    let steps = (log / rate).ceil().max(1.0) as u64;
    Ok(steps.saturating_add(1))
}

/// The mode from a start.
pub(super) fn minimize<G: Gradient>(
    potential: &G, start: Vec<f64>, bounds: Bounds, tolerance: f64, iterations: Option<usize>,
) -> Result<Mode, Error> {
    descend(potential, start, bounds, bounds.momentum(), tolerance, iterations)
}

/// [`minimize`] with any momentum; 0 is plain gradient descent.
fn descend<G: Gradient>(
    potential: &G, start: Vec<f64>, bounds: Bounds, momentum: f64, tolerance: f64,
    iterations: Option<usize>,
) -> Result<Mode, Error> {
    let mut gradient = vec![0.0; start.len()];
    let (mut x, mut y) = (start.clone(), start);
    let mut gradients: u64 = 0;
    let mut most = None;
    loop {
        potential.gradient(&y, &mut gradient).map_err(|error| error.at(&y))?;
        gradients += 1;
        let decrement = bounds.decrement(&gradient);
        if !decrement.is_finite() {
            return Err(Error::NotFinite { what: "the gradient", point: y });
        }
        if decrement <= tolerance {
            return Ok(mode(y, &gradient, decrement, gradients, None));
        }
        let most = match most {
            Some(most) => most,
            None => *most.insert(limit(bounds, decrement, tolerance, iterations)),
        };
        if gradients > most.iterations() {
            return match most {
                Limit::Proved(_) if decrement <= ROUNDING.min(SLACK * tolerance) => {
                    let note = Note::Rounding { decrement };
                    Ok(mode(y, &gradient, decrement, gradients, Some(note)))
                }
                Limit::Proved(_) | Limit::Set(_) => Err(Error::NotConverged {
                    method: Method::Accelerated,
                    iterations: usize::try_from(gradients - 1).unwrap_or(usize::MAX),
                    why: most.why(),
                    gradient_norm: norm(&gradient),
                    decrement,
                    point: y,
                }),
            };
        }
        for ((x, y), g) in x.iter_mut().zip(&mut y).zip(&gradient) {
            let next = *y - g / bounds.l;
            *y = next + momentum * (next - *x);
            *x = next;
        }
    }
}

/// The most iterations of a search.
#[derive(Debug, Clone, Copy)]
enum Limit {
    /// The bound of the method: more are due to rounding or wrong bounds of the curvature.
    Proved(u64),
    /// Another one, below the bound.
    Set(u64),
}

impl Limit {
    fn iterations(self) -> u64 {
        match self {
            Self::Proved(most) | Self::Set(most) => most,
        }
    }

    fn why(self) -> &'static str {
        match self {
            Self::Proved(_) => {
                "the bound of its iterations was reached, so that m or L is wrong, or rounding hides the gradient"
            }
            Self::Set(_) => "the limit of iterations was reached",
        }
    }
}

/// The limit from the decrement at the start: the distance there is at most |g|/m, which is
/// decrement √κ in units of 1/√L.
fn limit(bounds: Bounds, decrement: f64, tolerance: f64, iterations: Option<usize>) -> Limit {
    let kappa = bounds.l / bounds.m;
    let set = iterations.map_or(ITERATIONS, |most| most as u64);
    // A κ or a distance that overflows has no bound.
    match accelerated_gradients_bound(kappa, decrement * kappa.sqrt(), tolerance) {
        Ok(proved) if proved <= set => Limit::Proved(proved),
        Ok(_) | Err(_) => Limit::Set(set),
    }
}

fn mode(
    point: Vec<f64>, gradient: &[f64], decrement: f64, gradients: u64, note: Option<Note>,
) -> Mode {
    Mode {
        point,
        gradient_norm: norm(gradient),
        decrement,
        method: Method::Accelerated,
        iterations: usize::try_from(gradients - 1).unwrap_or(usize::MAX),
        gradients,
        properness: Properness::NotChecked("found from gradients alone"),
        notes: note.into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::black_box::FromFn;

    const D: usize = 100;
    const KAPPAS: [f64; 8] = [1.0, 2.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6];

    /// Gradients from a distance of √(d/m) in a random direction to the paper's start, on a
    /// quadratic with log-spaced curvatures from 1/κ to 1 and its mode at 1; and the distance
    /// there, in units of 1/√L.
    fn count(kappa: f64, momentum: Option<f64>) -> Result<(u64, f64), Error> {
        let curvature = |k: usize| kappa.powf(k as f64 / (D - 1) as f64 - 1.0);
        let quadratic = FromFn::new(D, move |x: &[f64], g: &mut [f64]| {
            g.iter_mut().zip(x).enumerate().for_each(|(k, (g, x))| *g = curvature(k) * (x - 1.0));
            Ok(())
        });
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let direction: Vec<f64> = (0..D).map(|_| rng.random::<f64>() - 0.5).collect();
        let scale = (D as f64 * kappa).sqrt() / norm(&direction);
        let start = direction.iter().map(|x| 1.0 + scale * x).collect();
        let bounds = Bounds::new(kappa.recip(), 1.0)?;
        let momentum = momentum.unwrap_or_else(|| bounds.momentum());
        let tolerance = start_tolerance(kappa);
        let found = descend(&quadratic, start, bounds, momentum, tolerance, None)?;
        assert_eq!(found.gradients, found.iterations as u64 + 1);
        let left: Vec<f64> = found.point.iter().map(|x| x - 1.0).collect();
        Ok((found.gradients, norm(&left)))
    }

    fn bound(kappa: f64) -> u64 {
        let distance = (D as f64 * kappa).sqrt();
        accelerated_gradients_bound(kappa, distance, start_tolerance(kappa)).unwrap()
    }

    #[test]
    fn quadratics_take_no_more_gradients_than_the_bound_and_the_start_is_as_near_as_proved() {
        for kappa in KAPPAS {
            let (gradients, left) = count(kappa, None).unwrap();
            println!("kappa {kappa}: {gradients} of {}, {left:.2e} of 1/sqrt(L)", bound(kappa));
            assert!(gradients <= bound(kappa), "kappa {kappa}: {gradients}");
            assert!(left <= 1.0, "kappa {kappa}: {left}");
        }
    }

    #[test]
    fn plain_gradient_descent_exceeds_the_bound_and_a_rate_that_is_too_fast_is_refuted() {
        let kappa = 1e4;
        let plain = count(kappa, Some(0.0));
        assert!(
            matches!(plain, Err(Error::NotConverged { iterations, .. }) if iterations as u64 >= bound(kappa)),
            "{plain:?}"
        );
        // A rate of 8/√κ in place of 1/√κ.
        let (gradients, _) = count(kappa, None).unwrap();
        assert!(gradients > bound(kappa) / 8, "{gradients} and {}", bound(kappa));
    }

    /// Along the flattest direction |∇U| = m |θ − θ*|, so that nothing is lost.
    #[test]
    fn the_distance_is_the_proved_one_along_the_flattest_direction() {
        let kappa: f64 = 1e4;
        let flattest = FromFn::new(2, move |x: &[f64], g: &mut [f64]| {
            (g[0], g[1]) = (x[0] / kappa, x[1]);
            Ok(())
        });
        let left = |tolerance: f64| {
            let bounds = Bounds::new(kappa.recip(), 1.0).unwrap();
            minimize(&flattest, vec![1e3, 0.0], bounds, tolerance, None).unwrap().point[0]
        };
        assert!((0.95..=1.0).contains(&left(start_tolerance(kappa))));
        // A tolerance that is a tenth too large is found out.
        assert!(left(1.1 * start_tolerance(kappa)) > 1.0);
    }

    #[test]
    fn searches_beyond_their_bound_end() {
        // L is 4, not 1: the method diverges or oscillates.
        let steep = FromFn::new(1, |x: &[f64], g: &mut [f64]| {
            g[0] = 4.0 * x[0];
            Ok(())
        });
        let bounds = Bounds::new(0.25, 1.0).unwrap();
        let found = minimize(&steep, vec![1.0], bounds, 1e-8, None);
        assert!(matches!(found, Err(Error::NotConverged { .. } | Error::NotFinite { .. })));
        // A gradient that rounding keeps away from 0.
        let coarse = FromFn::new(1, |x: &[f64], g: &mut [f64]| {
            g[0] = x[0] + 3e-6_f64.copysign(x[0]);
            Ok(())
        });
        let bounds = Bounds::new(0.5, 2.0).unwrap();
        let found = minimize(&coarse, vec![1.0], bounds, 1e-8, None).unwrap();
        assert!(matches!(found.notes[..], [Note::Rounding { .. }]), "{found:?}");
        let error = minimize(&coarse, vec![1.0], bounds, 1e-12, None).unwrap_err();
        assert!(error.to_string().contains("m or L is wrong"), "{error}");
    }

    #[test]
    fn bounds_and_counts_of_the_wrong_kind_are_refused() {
        assert!(matches!(Bounds::new(2.0, 1.0), Err(Error::CurvatureOrder { .. })));
        for (m, l) in [(0.0, 1.0), (-1.0, 1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
            assert!(matches!(Bounds::new(m, l), Err(Error::NotPositive { .. })), "{m}, {l}");
        }
        for (kappa, distance, tolerance) in [
            (0.5, 1.0, 1.0),
            (f64::NAN, 1.0, 1.0),
            (f64::INFINITY, 1.0, 1.0),
            (2.0, -1.0, 1.0),
            (2.0, f64::NAN, 1.0),
            (2.0, 1.0, 0.0),
        ] {
            assert!(accelerated_gradients_bound(kappa, distance, tolerance).is_err());
        }
        assert_eq!(accelerated_gradients_bound(1.0, 5.0, 1e-8).unwrap(), 2);
        assert_eq!(accelerated_gradients_bound(100.0, 0.0, 1e-8).unwrap(), 1);
    }
}
