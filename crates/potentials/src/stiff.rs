//! The few rows of a whitened model whose curvature changes most: like walls that chains run into.
//! Trajectories integrate them in shorter steps than the rest, without more gradients.
//!
//! With U = |z|²/2 + V + S, V(z) = Σ w u(o + b·z) − c (b·z)²/2 over these rows, where c is their
//! mean curvature: kicks by S alternate with an inner motion under |z|²/2 + V, in which rotations
//! alternate with kicks by V. Both are palindromes of shears and rotations, so a trajectory is
//! reversible and keeps volumes whatever the rows and c are. Acceptance by the whole U makes it
//! exact. Inner motions leave the span of the rows alone but for the rotation, so that they take
//! place in as many dimensions as there are rows.

use crate::design::Design;
use crate::families::{Family, Observation};
use crate::hessian::dot;
use crate::ridge::Ridge;

/// The most rows.
const MOST: usize = 16;
/// One row in so many, at most: all inner steps together then cost an eighth of a gradient.
const SHARE: usize = 32;
/// Inner steps of a step.
const INNER: usize = 4;
/// Nodes and weights of Gauss's rule for a standard normal variable, 7 of them.
const NODES: [f64; 7] = [
    -3.750_439_717_725_742,
    -2.366_759_410_734_541,
    -1.154_405_394_739_968,
    0.0,
    1.154_405_394_739_968,
    2.366_759_410_734_541,
    3.750_439_717_725_742,
];
const WEIGHTS: [f64; 7] = [
    5.482_688_559_722_18e-4,
    3.075_712_396_758_65e-2,
    2.401_231_786_050_127e-1,
    4.571_428_571_428_571e-1,
    2.401_231_786_050_127e-1,
    3.075_712_396_758_65e-2,
    5.482_688_559_722_18e-4,
];

/// Some rows of a whitened model, and what their inner motion needs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stiff {
    /// The rows b, one after the other.
    rows: Vec<f64>,
    /// Their scalar products.
    gram: Vec<f64>,
    offsets: Vec<f64>,
    observations: Vec<Observation>,
    weights: Vec<f64>,
    /// w times the mean of u″.
    curvatures: Vec<f64>,
}

impl Stiff {
    /// The rows of a model in whose coordinates the posterior is about N(0, I) that change their
    /// curvature most over it. Empty for few rows, sparse ones, and those that other processes
    /// share.
    pub(crate) fn of<F: Family>(ridge: &Ridge<'_, F>) -> Self {
        let d = ridge.dimension();
        let Design::Dense(design) = ridge.design() else { return Self::default() };
        if most(ridge) == 0 {
            return Self::default();
        }
        let row = |i: usize| &design.values()[i * d..(i + 1) * d];
        let squares: Vec<f64> =
            (0..ridge.observations().len()).map(|i| dot(row(i), row(i))).collect();
        let offset = |i: usize| ridge.offset(i);
        Self::chosen(ridge, &squares, &offset, |i| row(i).to_vec())
    }

    /// The same of a model in other coordinates, by the squared lengths, offsets and entries of its
    /// rows there.
    pub(crate) fn chosen<F: Family>(
        ridge: &Ridge<'_, F>, squares: &[f64], offset: &dyn Fn(usize) -> f64,
        row: impl Fn(usize) -> Vec<f64>,
    ) -> Self {
        let with_score = |(i, squares): (usize, &f64)| {
            let [mean, sd] = curvature(ridge, i, offset(i), squares.sqrt());
            (i, mean, sd * squares)
        };
        let mut scores: Vec<(usize, f64, f64)> =
            squares.iter().enumerate().map(with_score).collect();
        scores.sort_by(|(i, _, a), (j, _, b)| b.total_cmp(a).then(i.cmp(j)));
        scores.truncate(most(ridge));
        scores.retain(|(_, mean, score)| mean.is_finite() && score.is_finite() && *score > 0.0);
        let rows: Vec<Vec<f64>> = scores.iter().map(|&(i, ..)| row(i)).collect();
        let mut stiff = Self { rows: rows.concat(), ..Self::default() };
        for (&(i, mean, _), row) in scores.iter().zip(&rows) {
            stiff.offsets.push(offset(i));
            stiff.observations.push(ridge.observations()[i]);
            stiff.weights.push(ridge.weight(i));
            stiff.curvatures.push(mean);
            stiff.gram.extend(rows.iter().map(|other| dot(row, other)));
        }
        stiff
    }

    /// The number of rows.
    pub(crate) fn count(&self) -> usize {
        self.offsets.len()
    }

    /// Turns a rotation of (z, p) by `eta`, already made, into the inner motion over that time, with
    /// the part of the outer kicks before and after that makes them kicks by S. `per_l` is 1/L for
    /// a target that is about N(0, I/L).
    pub(crate) fn add(
        &self, family: &dyn Family, eta: f64, per_l: f64, z: &mut [f64], p: &mut [f64],
    ) {
        let (r, d) = (self.count(), z.len());
        if r == 0 {
            return;
        }
        // b·z and b·p before the rotation: it is undone in these numbers.
        let (sin, cos) = eta.sin_cos();
        let [mut start, mut speed] = [[0.0; MOST]; 2];
        for (k, row) in self.rows.chunks_exact(d).enumerate() {
            let (z, p) = (dot(row, z), dot(row, p));
            (start[k], speed[k]) = (cos * z - sin * p, sin * z + cos * p);
        }
        // The motion adds Bᵀ β to z and Bᵀ α to p.
        let [mut alpha, mut beta, mut force] = [[0.0; MOST]; 3];
        let inner = eta / INNER as f64;
        let (sin, cos) = inner.sin_cos();
        self.forces(family, per_l, &start[..r], &mut force[..r]);
        let outer = 0.5 * (eta - inner);
        alpha.iter_mut().zip(&force).for_each(|(a, f)| *a += outer * f);
        for step in 1..=INNER {
            for (a, b) in alpha.iter_mut().zip(&mut beta) {
                (*b, *a) = (cos * *b + sin * *a, cos * *a - sin * *b);
            }
            let (sin, cos) = (step as f64 * inner).sin_cos();
            let mut x = [0.0; MOST];
            for (k, x) in x[..r].iter_mut().enumerate() {
                let moved = dot(&self.gram[k * r..(k + 1) * r], &beta[..r]);
                *x = cos * start[k] + sin * speed[k] + moved;
            }
            self.forces(family, per_l, &x[..r], &mut force[..r]);
            let kick = if step < INNER { -inner } else { outer };
            alpha.iter_mut().zip(&force).for_each(|(a, f)| *a += kick * f);
        }
        for (k, row) in self.rows.chunks_exact(d).enumerate() {
            for ((z, p), b) in z.iter_mut().zip(&mut *p).zip(row) {
                *z += beta[k] * b;
                *p += alpha[k] * b;
            }
        }
    }

    /// The derivative of each term of V with respect to b·z, over L.
    fn forces(&self, family: &dyn Family, per_l: f64, x: &[f64], forces: &mut [f64]) {
        let mut s = [0.0; MOST];
        let s = &mut s[..x.len()];
        s.iter_mut().zip(x).zip(&self.offsets).for_each(|((s, x), offset)| *s = x + offset);
        family.slopes(s, &self.observations, forces);
        for (k, force) in forces.iter_mut().enumerate() {
            *force = per_l * (self.weights[k] * *force - self.curvatures[k] * x[k]);
        }
    }
}

/// The most rows of a model; none of those that other processes share.
pub(crate) fn most<F: Family>(ridge: &Ridge<'_, F>) -> usize {
    if ridge.rows().is_shared() { 0 } else { (ridge.observations().len() / SHARE).min(MOST) }
}

/// The mean of w u″ of a row over N(offset, sd²), and its standard deviation.
fn curvature<F: Family>(ridge: &Ridge<'_, F>, row: usize, offset: f64, sd: f64) -> [f64; 2] {
    let y = ridge.observations()[row];
    let at = |node: f64| ridge.family().curvature(offset + sd * node, y);
    let (mut mean, mut squares) = (0.0, 0.0);
    for (node, weight) in NODES.into_iter().zip(WEIGHTS) {
        let curvature = ridge.weight(row) * at(node);
        mean += weight * curvature;
        squares += weight * curvature * curvature;
    }
    [mean, (squares - mean * mean).max(0.0).sqrt()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::Logistic;
    use crate::{Dense, LineIntegral, Prior, Scratch};

    const D: usize = 3;

    /// A posterior with 100 rows, some of them long.
    fn model() -> Ridge<'static, Logistic> {
        let entry = |k: usize| {
            let x = ((k * 37 + 11) % 101) as f64 / 50.0 - 1.0;
            if (k / D).is_multiple_of(9) { 3.0 * x } else { 0.3 * x }
        };
        let design = Dense::new(100, D, (0..100 * D).map(entry).collect::<Vec<_>>()).unwrap();
        let responses: Vec<f64> = (0..100).map(|i| f64::from(i % 3 == 0)).collect();
        let offsets = (0..100).map(|i| f64::from(i % 7) / 3.0 - 1.0).collect();
        let weights = (0..100).map(|i| 0.5 + f64::from(i % 4)).collect();
        let ridge = Ridge::new(design, Logistic, &responses, Prior::centred(D, 1.0).unwrap());
        ridge.unwrap().with_offsets(offsets).unwrap().with_weights(weights).unwrap()
    }

    fn gradient(model: &Ridge<'_, Logistic>, z: &[f64]) -> Vec<f64> {
        let mut gradient = vec![0.0; D];
        model.gradients(z, &mut gradient, &mut Scratch::default()).unwrap();
        gradient
    }

    /// One step as the kernel makes it.
    fn step(model: &Ridge<'_, Logistic>, eta: f64, per_l: f64, z: &mut [f64], p: &mut [f64]) {
        let kick = |z: &[f64], p: &mut [f64]| {
            let gradient = gradient(model, z);
            (0..D).for_each(|k| p[k] -= 0.5 * eta * (per_l * gradient[k] - z[k]));
        };
        kick(z, p);
        let (sin, cos) = eta.sin_cos();
        for (z, p) in z.iter_mut().zip(&mut *p) {
            (*z, *p) = (cos * *z + sin * *p, cos * *p - sin * *z);
        }
        model.add_stiff(eta, per_l, z, p);
        kick(z, p);
    }

    /// The same by the definition: kicks by S, and inner steps in all dimensions.
    fn defined(model: &Ridge<'_, Logistic>, eta: f64, per_l: f64, z: &mut [f64], p: &mut [f64]) {
        let stiff = model.stiff_rows();
        let walls = |z: &[f64]| {
            let mut sum = vec![0.0; D];
            for (k, row) in stiff.rows.chunks_exact(D).enumerate() {
                let x = dot(row, z);
                let slope = Logistic.slope(x + stiff.offsets[k], stiff.observations[k]);
                let force = stiff.weights[k] * slope - stiff.curvatures[k] * x;
                sum.iter_mut().zip(row).for_each(|(sum, b)| *sum += per_l * force * b);
            }
            sum
        };
        let outer = |z: &[f64], p: &mut [f64]| {
            let (gradient, walls) = (gradient(model, z), walls(z));
            (0..D).for_each(|k| p[k] -= 0.5 * eta * (per_l * gradient[k] - z[k] - walls[k]));
        };
        let inner = eta / INNER as f64;
        outer(z, p);
        for _ in 0..INNER {
            let half = |z: &[f64], p: &mut [f64]| {
                p.iter_mut().zip(walls(z)).for_each(|(p, force)| *p -= 0.5 * inner * force);
            };
            half(z, p);
            let (sin, cos) = inner.sin_cos();
            for (z, p) in z.iter_mut().zip(&mut *p) {
                (*z, *p) = (cos * *z + sin * *p, cos * *p - sin * *z);
            }
            half(z, p);
        }
        outer(z, p);
    }

    const START: [f64; 2 * D] = [0.7, -0.4, 1.1, 0.3, 1.2, -0.8];

    fn moved(by: impl Fn(&mut [f64], &mut [f64]), start: [f64; 2 * D]) -> [f64; 2 * D] {
        let mut state = start;
        let (z, p) = state.split_at_mut(D);
        by(z, p);
        state
    }

    #[test]
    fn a_step_is_what_the_definition_says() {
        let model = model();
        assert_eq!(LineIntegral::stiff(&model), 3);
        for (eta, per_l) in [(0.8, 1.0), (1.4, 0.5), (0.05, 2.0)] {
            let found = moved(|z, p| step(&model, eta, per_l, z, p), START);
            let expected = moved(|z, p| defined(&model, eta, per_l, z, p), START);
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-12, "{eta}: {found} for {expected}");
            }
        }
    }

    #[test]
    fn a_step_is_reversible_and_keeps_volumes() {
        let model = model();
        let forth = |state| moved(|z, p| step(&model, 0.9, 1.0, z, p), state);
        let flipped = |mut state: [f64; 2 * D]| {
            state[D..].iter_mut().for_each(|p| *p = -*p);
            state
        };
        let back = flipped(forth(flipped(forth(START))));
        for (back, start) in back.iter().zip(START) {
            assert!((back - start).abs() < 1e-12, "{back} for {start}");
        }
        let h = 1e-6;
        let jacobian = faer::Mat::from_fn(2 * D, 2 * D, |i, j| {
            let [mut high, mut low] = [START; 2];
            (high[j], low[j]) = (high[j] + h, low[j] - h);
            (forth(high)[i] - forth(low)[i]) / (2.0 * h)
        });
        let determinant = jacobian.determinant();
        assert!((determinant - 1.0).abs() < 1e-6, "{determinant}");
    }

    #[test]
    fn rows_that_bend_most_are_chosen() {
        let model = model();
        let d = D;
        let Design::Dense(design) = model.design() else { panic!("dense") };
        let long = |row: &[f64]| design.values().chunks_exact(d).position(|other| other == row);
        for row in model.stiff_rows().rows.chunks_exact(d) {
            assert!(long(row).is_some_and(|i| i.is_multiple_of(9)), "{row:?}");
        }
    }

    #[test]
    fn few_rows_have_none() {
        let design = Dense::new(31, 1, vec![1.0; 31]).unwrap();
        let prior = Prior::centred(1, 1.0).unwrap();
        let ridge = Ridge::new(design, Logistic, &[1.0; 31], prior).unwrap();
        assert_eq!(LineIntegral::stiff(&ridge), 0);
        let mut state = [0.5, 0.25];
        let (z, p) = state.split_at_mut(1);
        ridge.add_stiff(0.7, 1.0, z, p);
        assert_eq!(state, [0.5, 0.25]);
    }
}
