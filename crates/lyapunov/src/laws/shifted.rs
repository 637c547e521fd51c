//! Steps of kinetic Langevin dynamics along polynomial paths, at one eigenvalue.
//!
//! A number of such a step is a combination of θ, p and the three normals of the path
//! ([`PolynomialPath`]). The gradient is l times a position, so the whole step is worked out in
//! these combinations, in units of L = 1.

use ridgewalk_coefficients::{FreeFlow, PolynomialPath};

use crate::error::Error;
use crate::matrix::{self, Matrix};

/// The factors of θ, p, n_0, n_1 and n_2.
type Combination = [f64; 5];

const THETA: Combination = [1.0, 0.0, 0.0, 0.0, 0.0];
const P: Combination = [0.0, 1.0, 0.0, 0.0, 0.0];

/// The noise with these factors of the three normals.
fn noise([n0, n1, n2]: [f64; 3]) -> Combination {
    [0.0, 0.0, n0, n1, n2]
}

fn sum<const N: usize>(terms: [(f64, &Combination); N]) -> Combination {
    std::array::from_fn(|i| terms.iter().map(|(factor, term)| factor * term[i]).sum())
}

/// The map of (θ, p) and the covariance of their noise.
fn form(theta: &Combination, p: &Combination) -> (Matrix<2>, Matrix<2>) {
    let rows = [theta, p];
    let covariance = matrix::from_fn(|i, j| (2..5).map(|k| rows[i][k] * rows[j][k]).sum::<f64>());
    (matrix::from_fn(|i, j| rows[i][j]), covariance)
}

/// Free flows to the two nodes of Gauss's rule, to the end of a step and over a third of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Gauss {
    early: FreeFlow,
    late: FreeFlow,
    full: FreeFlow,
    third: FreeFlow,
}

impl Gauss {
    pub(super) fn new(xi: f64, eta: f64) -> Result<Self, Error> {
        let offset = 3.0_f64.sqrt() / 6.0;
        let flow = |share: f64| FreeFlow::new(xi, share * eta, 1.0);
        Ok(Self {
            early: flow(0.5 - offset)?,
            late: flow(0.5 + offset)?,
            full: flow(1.0)?,
            third: flow(1.0 / 3.0)?,
        })
    }
}

/// p jumps, flows along a straight path, and jumps. The gradient at the first node also moves the
/// second, by as much as makes the method one of third order.
pub(super) fn quicsort(
    gauss: &Gauss, path: &PolynomialPath, eta: f64, l: f64,
) -> (Matrix<2>, Matrix<2>) {
    let Gauss { early, late, full, third } = gauss;
    let [slope, before, after] = path.slope_and_jumps().map(noise);
    let jumped = sum([(1.0, &P), (1.0, &before)]);
    let at = |flow: &FreeFlow| {
        sum([(1.0, &THETA), (flow.reach(), &jumped), (flow.pushed() / eta, &slope)])
    };
    let first = at(early);
    let second = sum([(1.0, &at(late)), (-third.reach() * eta * l, &first)]);
    let half = -0.5 * eta * l;
    let theta =
        sum([(1.0, &at(full)), (half * late.reach(), &first), (half * early.reach(), &second)]);
    let p = sum([
        (full.decay(), &jumped),
        (full.reach() / eta, &slope),
        (half * late.decay(), &first),
        (half * early.decay(), &second),
        (1.0, &after),
    ]);
    form(&theta, &p)
}

/// A predicted middle, then Simpson's rule.
pub(super) fn should(
    half: &FreeFlow, full: &FreeFlow, path: &PolynomialPath, eta: f64, l: f64,
) -> (Matrix<2>, Matrix<2>) {
    let [slope, before, _] = path.slope_and_jumps().map(noise);
    let jumped = sum([(1.0, &P), (1.0, &before)]);
    let middle = sum([
        (1.0 - l * half.pushed(), &THETA),
        (half.reach(), &jumped),
        (half.pushed() / eta, &slope),
    ]);
    let theta = sum([
        (1.0 - l * full.pushed() / 3.0, &THETA),
        (full.reach(), &P),
        (-2.0 / 3.0 * l * full.pushed(), &middle),
        (1.0, &noise(path.theta_noise())),
    ]);
    let p = sum([
        (-eta * l * full.decay() / 6.0, &THETA),
        (full.decay(), &P),
        (-2.0 / 3.0 * eta * l * half.decay(), &middle),
        (-eta * l / 6.0, &theta),
        (1.0, &noise(path.p_noise())),
    ]);
    form(&theta, &p)
}

/// θ by the gradient at the start, p by the line between the gradients at both ends.
pub(super) fn align(
    full: &FreeFlow, path: &PolynomialPath, eta: f64, l: f64,
) -> (Matrix<2>, Matrix<2>) {
    let first_two = |[n0, n1, _]: [f64; 3]| noise([n0, n1, 0.0]);
    let theta = sum([
        (1.0 - l * full.pushed(), &THETA),
        (full.reach(), &P),
        (1.0, &first_two(path.theta_noise())),
    ]);
    let at_end = full.pushed() / eta;
    let p = sum([
        (-l * (full.reach() - at_end), &THETA),
        (full.decay(), &P),
        (-l * at_end, &theta),
        (1.0, &first_two(path.p_noise())),
    ]);
    form(&theta, &p)
}
