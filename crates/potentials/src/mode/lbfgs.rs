//! Modes from gradients alone: the method of Broyden, Fletcher, Goldfarb and Shanno with limited
//! memory (D. C. Liu and J. Nocedal, 1989), with a line search by slopes.

use std::cell::Cell;
use std::collections::VecDeque;

use super::line_search::line_search;
use super::{Method, Mode, Note};
use crate::black_box::Gradient;
use crate::error::Error;
use crate::hessian::{dot, norm};
use crate::properness::Properness;

/// How many pairs of steps and gradient changes are kept.
const MEMORY: usize = 20;
/// The factor above the tolerance at which a search that rounding stops still counts as converged.
const SLACK: f64 = 1e3;

/// A step and the change of the gradient along it.
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    /// 1/(step · change).
    inverse: f64,
}

/// The mode from a start. `scales` is a guess at the diagonal of H⁻¹; without one its size is taken
/// from the first steps.
pub(super) fn minimize<G: Gradient>(
    potential: &G, start: Vec<f64>, scales: Option<Vec<f64>>, tolerance: f64, iterations: usize,
) -> Result<Mode, Error> {
    let gradient = evaluate(potential, &start)?;
    if gradient.iter().any(|g| !g.is_finite()) {
        return Err(Error::NotFinite { what: "the gradient", point: start });
    }
    let mut search =
        Search { potential, point: start, gradient, iteration: 0, gradients: Cell::new(1) };
    let mut pairs: VecDeque<Pair> = VecDeque::with_capacity(MEMORY);
    loop {
        let direction = direction(&search.gradient, &pairs, scales.as_deref());
        let slope = dot(&search.gradient, &direction);
        let decrement = (-slope).max(0.0).sqrt();
        // Before the first pairs the decrement is in no units at all, unless scales are given.
        let measured = scales.is_some() || !pairs.is_empty() || decrement == 0.0;
        if measured && decrement <= tolerance {
            return Ok(search.mode(decrement, tolerance));
        }
        if search.iteration >= iterations {
            return Err(search.not_converged("the limit of iterations was reached", decrement));
        }
        if let Some(Place { point: next, gradient: there }) = search.step(&direction, slope)? {
            remember(&mut pairs, &search.point, &next, &search.gradient, &there);
            (search.point, search.gradient) = (next, there);
        } else if !pairs.is_empty() && decrement > SLACK * tolerance {
            // A memory that misleads is dropped before giving up.
            pairs.clear();
        } else if measured && decrement <= SLACK * tolerance {
            return Ok(search.mode(decrement, tolerance));
        } else {
            return Err(search.not_converged("no step made progress", decrement));
        }
        search.iteration += 1;
    }
}

fn evaluate<G: Gradient>(potential: &G, point: &[f64]) -> Result<Vec<f64>, Error> {
    let mut gradient = vec![0.0; point.len()];
    potential.gradient(point, &mut gradient).map_err(|error| error.at(point))?;
    Ok(gradient)
}

/// A point and the gradient there.
struct Place {
    point: Vec<f64>,
    gradient: Vec<f64>,
}

/// The state of a search.
struct Search<'a, G> {
    potential: &'a G,
    point: Vec<f64>,
    gradient: Vec<f64>,
    iteration: usize,
    gradients: Cell<u64>,
}

impl<G: Gradient> Search<'_, G> {
    fn evaluate(&self, point: &[f64]) -> Result<Vec<f64>, Error> {
        self.gradients.set(self.gradients.get() + 1);
        evaluate(self.potential, point)
    }

    /// The point that a line search finds and the gradient there; `None` if no step makes progress.
    fn step(&self, direction: &[f64], slope: f64) -> Result<Option<Place>, Error> {
        let mut last: Option<(f64, Vec<f64>)> = None;
        let at = |t: f64| -> Vec<f64> {
            self.point.iter().zip(direction).map(|(x, p)| x + t * p).collect()
        };
        let step = line_search(slope, |t| {
            let there = match self.evaluate(&at(t)) {
                Ok(there) => there,
                // Too far: the search goes back.
                Err(Error::OutsideSupport { .. }) => return Ok(f64::INFINITY),
                Err(error) => return Err(error),
            };
            let slope = dot(&there, direction);
            last = Some((t, there));
            Ok::<f64, Error>(slope)
        })?;
        if step.length == 0.0 {
            return Ok(None);
        }
        let next = at(step.length);
        let there = match last {
            Some((t, there)) if t == step.length => there,
            Some(_) | None => self.evaluate(&next)?,
        };
        if there.iter().any(|g| !g.is_finite()) || next.iter().any(|x| !x.is_finite()) {
            return Err(Error::NotFinite { what: "the gradient", point: next });
        }
        Ok(Some(Place { point: next, gradient: there }))
    }

    fn mode(self, decrement: f64, tolerance: f64) -> Mode {
        let rounding = (decrement > tolerance).then_some(Note::Rounding { decrement });
        Mode {
            gradient_norm: norm(&self.gradient),
            decrement,
            method: Method::Lbfgs,
            iterations: self.iteration,
            gradients: self.gradients.get(),
            properness: Properness::NotChecked("found from gradients alone"),
            notes: rounding.into_iter().collect(),
            point: self.point,
        }
    }

    fn not_converged(self, why: &'static str, decrement: f64) -> Error {
        Error::NotConverged {
            method: Method::Lbfgs,
            iterations: self.iteration,
            why,
            gradient_norm: norm(&self.gradient),
            decrement,
            point: self.point,
        }
    }
}

fn remember(pairs: &mut VecDeque<Pair>, from: &[f64], to: &[f64], before: &[f64], after: &[f64]) {
    let difference =
        |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a - b).collect() };
    let (step, change) = (difference(to, from), difference(after, before));
    let product = dot(&step, &change);
    if product > 1e-14 * norm(&step) * norm(&change) {
        if pairs.len() == MEMORY {
            pairs.pop_front();
        }
        pairs.push_back(Pair { step, change, inverse: 1.0 / product });
    }
}

/// −H⁻¹ g with H⁻¹ from the pairs, by the recursion of two loops.
fn direction(gradient: &[f64], pairs: &VecDeque<Pair>, scales: Option<&[f64]>) -> Vec<f64> {
    let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut shares = Vec::with_capacity(pairs.len());
    for pair in pairs.iter().rev() {
        let share = pair.inverse * dot(&pair.step, &q);
        q.iter_mut().zip(&pair.change).for_each(|(q, y)| *q -= share * y);
        shares.push(share);
    }
    let unit = |k: usize| scales.map_or(1.0, |scales| scales[k]);
    let size = pairs.back().map_or_else(
        // Without scales the first step has length 1.
        || if scales.is_some() { 1.0 } else { 1.0 / norm(gradient).max(f64::MIN_POSITIVE) },
        |pair| {
            let squares = pair.change.iter().enumerate().map(|(k, y)| y * y * unit(k));
            1.0 / (pair.inverse * squares.sum::<f64>())
        },
    );
    q.iter_mut().enumerate().for_each(|(k, q)| *q *= size * unit(k));
    for (pair, share) in pairs.iter().zip(shares.iter().rev()) {
        let back = pair.inverse * dot(&pair.change, &q);
        q.iter_mut().zip(&pair.step).for_each(|(q, s)| *q += (share - back) * s);
    }
    q
}
