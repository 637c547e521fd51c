//! Modes from gradients alone: the method of Broyden, Fletcher, Goldfarb and Shanno with limited
//! memory (D. C. Liu and J. Nocedal, 1989), with a line search by slopes.

use std::collections::VecDeque;

use super::line_search::line_search;
use super::{Method, Mode, Note};
use crate::black_box::Gradient;
use crate::error::Error;
use crate::hessian::{dot, norm};
use crate::properness::Properness;

/// Pairs of steps and changes of the gradient that are remembered.
const MEMORY: usize = 20;
/// How far above the tolerance rounding may keep the search without failing it.
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
    potential: &G,
    mut point: Vec<f64>,
    scales: Option<Vec<f64>>,
    tolerance: f64,
    iterations: usize,
) -> Result<Mode, Error> {
    let d = point.len();
    let evaluate = |point: &[f64]| {
        let mut gradient = vec![0.0; d];
        potential.gradient(point, &mut gradient).map_err(|error| error.at(point))?;
        Ok::<_, Error>(gradient)
    };
    let mut gradient = evaluate(&point)?;
    if gradient.iter().any(|g| !g.is_finite()) {
        return Err(Error::NotFinite { what: "the gradient", point });
    }
    let mut pairs: VecDeque<Pair> = VecDeque::with_capacity(MEMORY);
    let mut iteration = 0;
    loop {
        let direction = direction(&gradient, &pairs, scales.as_deref());
        let slope = dot(&gradient, &direction);
        let decrement = (-slope).max(0.0).sqrt();
        let ended = |why| Error::NotConverged {
            method: Method::Lbfgs,
            iterations: iteration,
            why,
            gradient_norm: norm(&gradient),
            decrement,
            point: point.clone(),
        };
        let mode = |point: Vec<f64>| Mode {
            point,
            gradient_norm: norm(&gradient),
            decrement,
            method: Method::Lbfgs,
            iterations: iteration,
            properness: Properness::NotChecked("found from gradients alone"),
            notes: (decrement > tolerance)
                .then_some(Note::Rounding { decrement })
                .into_iter()
                .collect(),
        };
        // Before the first pairs the decrement is in no units at all, unless scales are given.
        let measured = scales.is_some() || !pairs.is_empty() || decrement == 0.0;
        if measured && decrement <= tolerance {
            return Ok(mode(point));
        }
        if iteration >= iterations {
            return Err(ended("the limit of iterations was reached"));
        }
        let mut last: Option<(f64, Vec<f64>)> = None;
        let at =
            |t: f64| -> Vec<f64> { point.iter().zip(&direction).map(|(x, p)| x + t * p).collect() };
        let step = line_search(slope, |t| {
            let there = match evaluate(&at(t)) {
                Ok(there) => there,
                // Too far: the search goes back.
                Err(Error::OutsideSupport { .. }) => return Ok(f64::INFINITY),
                Err(error) => return Err(error),
            };
            let slope = dot(&there, &direction);
            last = Some((t, there));
            Ok::<f64, Error>(slope)
        })?;
        if step.length == 0.0 {
            // A memory that misleads is dropped before giving up.
            if !pairs.is_empty() && decrement > SLACK * tolerance {
                pairs.clear();
                iteration += 1;
                continue;
            }
            return if measured && decrement <= SLACK * tolerance {
                Ok(mode(point))
            } else {
                Err(ended("no step made progress"))
            };
        }
        let next = at(step.length);
        let there = match last {
            Some((t, there)) if t == step.length => there,
            _ => evaluate(&next)?,
        };
        if there.iter().any(|g| !g.is_finite()) || next.iter().any(|x| !x.is_finite()) {
            return Err(Error::NotFinite { what: "the gradient", point: next });
        }
        remember(&mut pairs, &point, &next, &gradient, &there);
        (point, gradient) = (next, there);
        iteration += 1;
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
        // A first step without any scale: of length 1.
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
