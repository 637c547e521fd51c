//! Coordinates in which a mixed model is nearly standard normal: (ζ, t).
//!
//! Given t = (ψ, φ) a quadratic approximation of the likelihood makes a normal law of x, with
//! precision M(t) = c(ψ) D + E + Q(φ) and mean m(t) = M(t)⁻¹ (c(ψ) b + e), and with M = L Lᵀ the
//! point is x = m + L⁻ᵀ ζ. Where a factor for each gradient would cost far more than the rows do, as
//! with large crossed factors, L is that at the typical t̂, and only blocks of levels follow t:
//! x = m_j(t) + S_j(t) (L̂⁻ᵀ ζ)_j with S_j = B_j(t)⁻ᵀ B_j(t̂)ᵀ, B_j B_jᵀ the block of level j in M.
//! Either way the Jacobian is known, so both are exact; they differ in how normal the result is.

use super::Mixed;
use super::bend::Knees;
use super::quadratic::Quadratic;
use crate::cholesky::{Memory, Tilt, together};

/// Multiplications of a factorisation for each stored entry of the design, beyond which the factor is
/// kept as it is.
const DEAR: f64 = 4.0;
/// A factorisation that is cheap whatever the rows cost.
const CHEAP: f64 = 2e4;

/// Coordinates (ζ, t) of a [`Mixed`] model.
#[derive(Debug)]
pub struct Chart {
    pub(super) quadratic: Quadratic,
    /// t̂, as the model has it.
    pub(super) typical: Vec<f64>,
    /// The same as chains have it.
    pub(super) centre: Vec<f64>,
    /// The curvature of −log density by t at ζ = 0, row by row.
    pub(super) hessian: Vec<f64>,
    pub(super) knees: Knees,
    fixed: Option<Fixed>,
    /// The gradients that finding it took.
    pub(super) gradients: u64,
}

/// What does not follow t where the factor is kept.
#[derive(Debug)]
struct Fixed {
    factor: Vec<f64>,
    tilt: Tilt,
    log_det: f64,
    mean: Vec<f64>,
    blocks: Vec<Block>,
}

/// Coordinates that are scaled together.
#[derive(Debug)]
struct Block {
    first: usize,
    width: usize,
    /// The term that its Q comes from.
    term: Option<usize>,
    /// Its blocks of D and E, row by row, and c(ψ̂) D + E + Q(φ̂) times its mean.
    rows: Vec<f64>,
    priors: Vec<f64>,
    linear: Vec<f64>,
    /// The information at ψ̂.
    information: f64,
    /// The lower factor B_j(t̂).
    factor: Vec<f64>,
}

/// A chart at one t.
#[derive(Debug, Default)]
pub(super) struct Here {
    /// Whether t has coordinates.
    pub(super) inside: bool,
    values: Vec<f64>,
    factor: Vec<f64>,
    memory: Memory,
    tilt: Tilt,
    /// T⁻¹ L⁻¹ P (c b + e).
    half: Vec<f64>,
    /// Of all blocks, one after the other: S_j row by row, and m_j.
    scales: Vec<f64>,
    means: Vec<f64>,
    /// log det of dζ/dx.
    pub(super) log_det: f64,
    /// Working space: x or a gradient, in the order of the coordinates, and in that of the factor.
    room: Vec<f64>,
    solved: Vec<[f64; 1]>,
}

impl Chart {
    /// Coordinates by this approximation, with typical t.
    pub(super) fn new(
        model: &Mixed, quadratic: Quadratic, typical: Vec<f64>, knees: Knees,
    ) -> Option<Self> {
        let chart = Self::following(quadratic, typical, knees);
        if !chart.is_dear(model) {
            return Some(chart);
        }
        let mut here = Here::default();
        let there = chart.factor_at(model, &chart.typical, &mut here);
        there.then(|| chart.with_factor(model, here)).flatten()
    }

    /// The same where the factor at this t is known.
    pub(super) fn at_factor(
        model: &Mixed, quadratic: Quadratic, typical: Vec<f64>, knees: Knees, here: Here,
    ) -> Option<Self> {
        let chart = Self::following(quadratic, typical, knees);
        if chart.is_dear(model) { chart.with_factor(model, here) } else { Some(chart) }
    }

    /// Whether a factor for each gradient would cost far more than the rows, or be the same for all.
    fn is_dear(&self, model: &Mixed) -> bool {
        if self.typical.is_empty() {
            return true;
        }
        let tails = (1 + self.typical.len()) as f64;
        model.symbolic.work * tails > CHEAP + DEAR * model.gram.all_entries() as f64
    }

    fn with_factor(mut self, model: &Mixed, here: Here) -> Option<Self> {
        self.fixed = Some(self.fix(model, here)?);
        Some(self)
    }

    /// Coordinates whose factor follows t, whatever that costs.
    pub(super) fn following(quadratic: Quadratic, typical: Vec<f64>, knees: Knees) -> Self {
        let (centre, hessian) = (Vec::new(), Vec::new());
        Self { quadratic, typical, centre, hessian, knees, fixed: None, gradients: 0 }
    }

    /// t as chains have it, in place of t as the model has it.
    pub fn bend(&self, t: &mut [f64]) {
        self.knees.bend(t);
    }

    /// The same with one factor for all t.
    #[cfg(test)]
    pub(super) fn with_one_factor(self, model: &Mixed) -> Option<Self> {
        let mut here = Here::default();
        self.factor_at(model, &self.typical, &mut here).then(|| self.with_factor(model, here))?
    }

    /// The typical t, in the coordinates of chains.
    #[must_use]
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// The curvature of −log density by t, at ζ = 0 and the typical t, row by row.
    #[must_use]
    pub fn hessian(&self) -> &[f64] {
        &self.hessian
    }

    /// About how many gradients it took to find.
    #[must_use]
    pub fn gradients(&self) -> u64 {
        self.gradients
    }

    /// Whether each gradient has a factor of its own; otherwise one factor serves all.
    #[must_use]
    pub fn follows(&self) -> bool {
        self.fixed.is_none()
    }

    /// ψ and φ of t.
    fn parts<'a>(model: &Mixed, t: &'a [f64]) -> (&'a [f64], &'a [f64]) {
        t.split_at(model.joint.dimension() - model.head)
    }

    fn information(model: &Mixed, t: &[f64]) -> f64 {
        let psi = Self::parts(model, t).0;
        // Thresholds are not in t; the information does not depend on them.
        let parameters = model.joint.dimension() - model.joint.coefficients();
        let missing = vec![0.0; parameters - psi.len()];
        model.joint.likelihood().information(if missing.is_empty() { psi } else { &missing })
    }

    /// M(t), by the pattern.
    fn precision(&self, model: &Mixed, t: &[f64], into: &mut Vec<f64>) {
        let information = Self::information(model, t);
        into.clear();
        into.extend(self.quadratic.rows.iter().map(|d| information * d));
        let starts = &model.symbolic.pattern.starts;
        for (prior, &at) in self.quadratic.priors.iter().zip(starts) {
            into[at] += prior;
        }
        let phi = Self::parts(model, t).1;
        for ((term, phi), blocks) in model.with_parameters(phi).zip(&model.blocks) {
            let (q, precision) = (term.width, term.scale(phi).precision());
            let lower: Vec<f64> = (0..q)
                .flat_map(|j| (j..q).map(move |i| i * q + j))
                .map(|at| precision[at])
                .collect();
            for block in blocks.chunks_exact(lower.len()) {
                block.iter().zip(&lower).for_each(|(&at, value)| into[at] += value);
            }
        }
    }

    /// c b + e.
    fn linear(&self, model: &Mixed, t: &[f64], into: &mut Vec<f64>) {
        let information = Self::information(model, t);
        let Quadratic { rows_linear, priors_linear, .. } = &self.quadratic;
        into.clear();
        into.extend(rows_linear.iter().zip(priors_linear).map(|(b, e)| information * b + e));
    }

    /// Goes to t. `false` if it is so far out that M(t) has no factor.
    pub(super) fn at(&self, model: &Mixed, t: &[f64], here: &mut Here) -> bool {
        match &self.fixed {
            None => self.factor_at(model, t, here),
            Some(fixed) => fixed.at(model, t, here),
        }
    }

    fn factor_at(&self, model: &Mixed, t: &[f64], here: &mut Here) -> bool {
        let symbolic = &model.symbolic;
        self.precision(model, t, &mut here.values);
        if !symbolic.factor(&here.values, &mut here.factor, &mut here.memory) {
            return false;
        }
        self.linear(model, t, &mut here.room);
        here.half.resize(model.head, 0.0);
        let half = [&mut here.half[..]];
        symbolic.forward(&here.factor, [&here.room], half, &mut here.solved);
        let at = model.joint.intercept_at();
        here.tilt = Tilt::new(symbolic, &here.factor, at, self.quadratic.at_means);
        here.tilt.undo(&mut here.half);
        here.log_det = symbolic.log_determinant(&here.factor) + here.tilt.log_determinant();
        here.log_det.is_finite()
    }

    /// x by ζ.
    pub(super) fn point(&self, model: &Mixed, here: &mut Here, zeta: &[f64], x: &mut [f64]) {
        self.prepare(model, std::slice::from_mut(here), &[zeta]);
        self.moved(model, None, here, zeta, x);
    }

    /// What all t have in common for these ζ, one for each place: for [`Chart::moved`].
    pub(super) fn prepare(&self, model: &Mixed, places: &mut [Here], zetas: &[&[f64]]) {
        let Some(fixed) = &self.fixed else { return };
        let count = places.len();
        let mut rest = places.iter_mut().zip(zetas);
        together!(count, K => {
            let mut some: Vec<(&mut Here, &&[f64])> = rest.by_ref().take(K).collect();
            let mut z: [Vec<f64>; K] = std::array::from_fn(|c| some[c].1.to_vec());
            z.iter_mut().for_each(|z| fixed.tilt.undo(z));
            let z: [&[f64]; K] = std::array::from_fn(|c| &z[c][..]);
            some.iter_mut().for_each(|(here, _)| here.room.resize(model.head, 0.0));
            let mut into = some.iter_mut().map(|(here, _)| &mut here.room[..]);
            let into: [&mut [f64]; K] = std::array::from_fn(|_| into.next().unwrap_or_default());
            model.symbolic.backward(&fixed.factor, z, into, &mut Vec::new());
        });
    }

    /// x by ζ at another place than the one that was prepared for it, if there is one.
    pub(super) fn moved(
        &self, model: &Mixed, prepared: Option<&Here>, here: &mut Here, zeta: &[f64], x: &mut [f64],
    ) {
        match &self.fixed {
            None => {
                here.room.clear();
                here.room.extend(zeta.iter().zip(&here.half).map(|(z, half)| z + half));
                here.tilt.undo(&mut here.room);
                let solved = &mut here.solved;
                model.symbolic.backward(&here.factor, [&here.room], [x], solved);
            }
            Some(fixed) => {
                let y = prepared.map_or(&here.room, |prepared| &prepared.room);
                fixed.scale(&here.scales, &here.means, y, x);
            }
        }
    }

    /// The gradients by ζ, into their lists, of functions of x with gradients `by_x`, one for each
    /// place.
    pub(super) fn pull(
        &self, model: &Mixed, places: &mut [Here], by_x: &[&[f64]], by_zeta: Vec<&mut [f64]>,
    ) {
        let Some(fixed) = &self.fixed else {
            let lists = places.iter_mut().zip(by_x).zip(by_zeta);
            for ((here, by_x), by_zeta) in lists.filter(|((here, _), _)| here.inside) {
                model.symbolic.forward(&here.factor, [by_x], [&mut *by_zeta], &mut here.solved);
                here.tilt.undo(by_zeta);
            }
            return;
        };
        for (here, by_x) in places.iter_mut().zip(by_x) {
            here.room.resize(model.head, 0.0);
            match here.inside {
                true => fixed.scale_back(&here.scales, by_x, &mut here.room),
                false => here.room.fill(0.0),
            }
        }
        let (mut rest, mut into) = (places.iter(), by_zeta.into_iter());
        together!(places.len(), K => {
            let g: [&[f64]; K] =
                std::array::from_fn(|_| rest.next().map_or(&[][..], |here| &here.room));
            let mut into: [&mut [f64]; K] = std::array::from_fn(|_| into.next().unwrap_or_default());
            let lists = into.each_mut().map(|list| &mut **list);
            model.symbolic.forward(&fixed.factor, g, lists, &mut Vec::new());
            into.into_iter().for_each(|list| fixed.tilt.undo(list));
        });
    }

    /// Lᵀ P v: a change of x in standard deviations, where the factor follows t.
    pub(super) fn stretched(&self, model: &Mixed, here: &Here, v: &[f64]) -> Vec<f64> {
        let mut stretched = vec![0.0; v.len()];
        model.symbolic.fold(&here.factor, v, &mut stretched);
        here.tilt.apply(&mut stretched);
        stretched
    }

    /// What is fixed, by the factor at t̂.
    fn fix(&self, model: &Mixed, mut here: Here) -> Option<Fixed> {
        here.room.resize(model.head, 0.0);
        let mut mean = vec![0.0; model.head];
        let none = vec![0.0; model.head];
        self.point(model, &mut here, &none, &mut mean);
        let mut term_of = vec![None; model.head];
        for (number, term) in model.terms.iter().enumerate() {
            term_of[term.first..term.first + term.effects()].fill(Some(number));
        }
        let information = Self::information(model, &self.typical);
        let phi = Self::parts(model, &self.typical).1;
        let precisions: Vec<Vec<f64>> =
            model.with_parameters(phi).map(|(term, phi)| term.scale(phi).precision()).collect();
        let (mut blocks, mut first) = (Vec::new(), 0);
        while first < model.head {
            let term = term_of[first];
            let width = term.map_or(1, |term| model.terms[term].width);
            let of = |list: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
                (0..width * width).map(|at| list(first + at / width, first + at % width)).collect()
            };
            let rows = of(&|i, j| {
                let at = model.symbolic.pattern.find(i.max(j), i.min(j));
                at.map_or(0.0, |at| self.quadratic.rows[at])
            });
            let priors = of(&|i, j| if i == j { self.quadratic.priors[i] } else { 0.0 });
            let mut factor: Vec<f64> =
                rows.iter().zip(&priors).map(|(d, e)| information * d + e).collect();
            if let Some(term) = term {
                factor.iter_mut().zip(&precisions[term]).for_each(|(m, q)| *m += q);
            }
            let linear = factor
                .chunks_exact(width)
                .map(|row| row.iter().zip(&mean[first..]).map(|(m, x)| m * x).sum())
                .collect();
            if !lower_factor(&mut factor, width) {
                return None;
            }
            blocks.push(Block { first, width, term, rows, priors, linear, information, factor });
            first += width;
        }
        Some(Fixed { log_det: here.log_det, factor: here.factor, tilt: here.tilt, mean, blocks })
    }
}

impl Fixed {
    /// The scales and means of all blocks at t.
    fn at(&self, model: &Mixed, t: &[f64], here: &mut Here) -> bool {
        let information = Chart::information(model, t);
        let phi = Chart::parts(model, t).1;
        let precisions: Vec<Vec<f64>> =
            model.with_parameters(phi).map(|(term, phi)| term.scale(phi).precision()).collect();
        here.scales.clear();
        here.means.clear();
        here.log_det = self.log_det;
        for block in &self.blocks {
            let precision = block.term.map(|term| &precisions[term][..]);
            if block.width == 1 {
                let q = precision.map_or(0.0, |precision| precision[0]);
                let now = information * block.rows[0] + block.priors[0] + q;
                let scale = block.factor[0] / now.sqrt();
                if !(scale > 0.0 && scale.is_finite()) {
                    return false;
                }
                here.scales.push(scale);
                here.log_det -= scale.ln();
                here.means.push(match precision {
                    Some(_) => information / block.information * block.linear[0] / now,
                    None => self.mean[block.first],
                });
            } else if !block.add(information, precision, here) {
                return false;
            }
        }
        here.log_det.is_finite()
    }

    /// x = m + S y.
    fn scale(&self, scales: &[f64], means: &[f64], y: &[f64], x: &mut [f64]) {
        let mut scales = scales;
        for block in &self.blocks {
            let (mine, rest) = scales.split_at(block.width * block.width);
            scales = rest;
            let range = block.first..block.first + block.width;
            for (k, row) in range.clone().zip(mine.chunks_exact(block.width)) {
                let moved: f64 = row.iter().zip(&y[range.clone()]).map(|(s, y)| s * y).sum();
                x[k] = means[k] + moved;
            }
        }
    }

    /// Sᵀ g.
    fn scale_back(&self, scales: &[f64], g: &[f64], out: &mut [f64]) {
        let mut scales = scales;
        for block in &self.blocks {
            let q = block.width;
            let (mine, rest) = scales.split_at(q * q);
            scales = rest;
            for j in 0..q {
                out[block.first + j] = (0..q).map(|i| mine[i * q + j] * g[block.first + i]).sum();
            }
        }
    }
}

impl Block {
    /// Appends S and m of a block of several coordinates.
    fn add(&self, information: f64, precision: Option<&[f64]>, here: &mut Here) -> bool {
        let q = self.width;
        let mut now: Vec<f64> =
            self.rows.iter().zip(&self.priors).map(|(d, e)| information * d + e).collect();
        if let Some(precision) = precision {
            now.iter_mut().zip(precision).for_each(|(m, q)| *m += q);
        }
        if !lower_factor(&mut now, q) {
            return false;
        }
        // Columns of B⁻ᵀ B̂ᵀ: column j of B̂ᵀ is row j of B̂.
        let first = here.scales.len();
        here.scales.resize(first + q * q, 0.0);
        for j in 0..q {
            let mut column: Vec<f64> = self.factor[j * q..(j + 1) * q].to_vec();
            solve_transposed(&now, &mut column);
            for (i, entry) in column.into_iter().enumerate() {
                here.scales[first + i * q + j] = entry;
            }
        }
        let share = information / self.information;
        let mut mean: Vec<f64> = self.linear.iter().map(|b| share * b).collect();
        solve(&now, &mut mean);
        solve_transposed(&now, &mut mean);
        here.means.extend(mean);
        here.log_det +=
            (0..q).map(|k| (now[k * (q + 1)] / self.factor[k * (q + 1)]).ln()).sum::<f64>();
        true
    }
}

/// The lower Cholesky factor of a small matrix, in its place and row by row, with zeros above.
fn lower_factor(matrix: &mut [f64], q: usize) -> bool {
    for j in 0..q {
        for i in j..q {
            let known: f64 = (0..j).map(|k| matrix[i * q + k] * matrix[j * q + k]).sum();
            let left = matrix[i * q + j] - known;
            matrix[i * q + j] = if i == j { left.sqrt() } else { left / matrix[j * (q + 1)] };
        }
        if !(matrix[j * (q + 1)] > 0.0 && matrix[j * (q + 1)].is_finite()) {
            return false;
        }
        (0..j).for_each(|i| matrix[i * q + j] = 0.0);
    }
    true
}

/// B⁻¹ v in place of v.
fn solve(lower: &[f64], v: &mut [f64]) {
    let q = v.len();
    for i in 0..q {
        let known: f64 = (0..i).map(|j| lower[i * q + j] * v[j]).sum();
        v[i] = (v[i] - known) / lower[i * (q + 1)];
    }
}

/// B⁻ᵀ v in place of v.
fn solve_transposed(lower: &[f64], v: &mut [f64]) {
    let q = v.len();
    for i in (0..q).rev() {
        let known: f64 = (i + 1..q).map(|j| lower[j * q + i] * v[j]).sum();
        v[i] = (v[i] - known) / lower[i * (q + 1)];
    }
}
