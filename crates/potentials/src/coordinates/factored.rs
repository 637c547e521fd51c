//! Models with many sparse columns: coordinates without a d x d matrix.
//!
//! Where the rows of a design are sparse, as those of factors with many levels are, so are the Hessian
//! H = Q + Aᵀ diag(c) A and, with a good order of elimination, its factor P H Pᵀ = L Lᵀ. In the
//! coordinates θ = m + Pᵀ L⁻ᵀ z the posterior is as nearly standard normal as with a matrix of all
//! entries, and a change of coordinates is one triangular solve. The design and the prior stay as they
//! are ([`MappedRidge`](super::MappedRidge)), so that line integrals stay exact. Where scales alone
//! make the posterior round, or a factor would cost too much, there are scales.

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::SPARSE;
use crate::cholesky::{Gram, Memory, Root, Symbolic, Tilt};
use crate::curvature::lanczos;
use crate::design::Design;
use crate::error::Error;
use crate::families::Family;
use crate::hessian::{forward, norm};
use crate::line_integral::{LineIntegral, Scratch};
use crate::mode::{Method, Mode, ModeSearch, Note};
use crate::properness::{Proof, Properness};
use crate::quadratic::Quadratic;
use crate::ridge::Ridge;
use crate::whitening::Whitening;

/// Models with no more columns have coordinates by matrices of all entries.
const FEW_COLUMNS: usize = 250;
/// The most entries of a factor, 1 GiB, and the most multiplications of its making.
const MOST_ENTRIES: f64 = (1_u64 << 27) as f64;
const MOST_WORK: f64 = 2e12;
/// Products of an integral with the factor: two points and one gradient are mapped, two operations
/// each.
const FACTOR: f64 = 6.0;
/// Eigenvalues of the Hessian in coordinates that are round enough: what kernels are ready for.
const ROUND: [f64; 2] = [0.7, 1.4];
/// Newton's steps at most; a decrement that is near enough, and one that rounding may leave.
const STEPS: usize = 200;
const NEAR: f64 = 1e-6;
const ROUNDING: f64 = 1e-2;
/// Pairs of points whose Hessians are averaged, and how often. Curvatures that differ by a smaller
/// share are those of a quadratic potential.
const PAIRS: usize = 16;
const AVERAGES: u64 = 2;
const SAME: f64 = 1e-9;

/// How a model gets coordinates.
enum Form {
    /// By matrices of all entries, or as a [`Wide`](super::Wide) model.
    Matrices,
    /// By a scale for each coefficient.
    Scales,
    /// By a factor of this pattern, if scales are not enough.
    Factor(Box<Sums>),
}

/// Coordinates of a model with many sparse columns.
#[derive(Debug)]
pub struct Factored {
    frame: Whitening,
    mode: Mode,
    /// Entries of the factor, if there is one, and of the matrix that it is a factor of.
    fill: Option<(usize, usize)>,
    spent: u64,
}

/// What sums of the rows into a sparse matrix need.
struct Sums {
    gram: Gram,
    symbolic: Symbolic,
}

impl<F: Family> Ridge<'_, F> {
    /// Coordinates without d x d matrices, for a design of more than 250 sparse columns; `None` for
    /// other models. Found when first asked for, with the mode.
    ///
    /// # Errors
    /// A posterior without a mode, or one whose mode is not found.
    pub fn factored(&self) -> Result<Option<&Factored>, Error> {
        if !self.is_sparse() {
            return Ok(None);
        }
        if let Some(found) = self.factored_cell().get() {
            return Ok(found.as_deref());
        }
        let found = Factored::new(self)?.map(Arc::new);
        Ok(self.factored_cell().get_or_init(|| found).as_deref())
    }

    /// Whether the model has many sparse columns.
    pub(crate) fn is_sparse(&self) -> bool {
        matches!(self.design(), Design::Sparse(_))
            && self.dimension() > FEW_COLUMNS
            && !matches!(self.quadratic(), Quadratic::General { .. })
    }

    /// The one rule, by what a line integral costs, counted before anything is computed.
    fn form(&self) -> Form {
        let mut squares: f64 = 0.0;
        for row in 0..self.design().rows() {
            let mut count = 0.0;
            crate::hessian::visit(self.design(), row, |_, _| count += 1.0);
            squares += count * count;
        }
        let mut sum = [squares];
        self.rows().sum(&mut sum);
        if sum[0] > MOST_ENTRIES {
            return Form::Scales;
        }
        let gram = Gram::new(self.design(), 1, 0, self.rows());
        let pattern = gram.pattern(self.design(), std::iter::empty()).of_all(self.rows());
        let cost = pattern.cost();
        if !self.rows().everywhere(cost.is_some()) {
            return Form::Scales;
        }
        let [entries, work] = cost.unwrap_or_default();
        if self.few_rows().is_some_and(|rows| (rows * rows) as f64 <= entries) {
            return Form::Matrices;
        }
        if entries > MOST_ENTRIES || work > MOST_WORK {
            return Form::Scales;
        }
        let symbolic = Symbolic::new(pattern);
        match self.rows().everywhere(symbolic.is_some()) {
            true => symbolic
                .map_or(Form::Scales, |symbolic| Form::Factor(Box::new(Sums { gram, symbolic }))),
            false => Form::Scales,
        }
    }

    /// S H S x, for curvatures of the rows and scales S.
    fn scaled_hessian(&self, c: &[f64], scales: &[f64], x: &[f64]) -> Vec<f64> {
        let x: Vec<f64> = x.iter().zip(scales).map(|(x, s)| x * s).collect();
        let mut s = forward(self.design(), &x);
        s.iter_mut().zip(c).for_each(|(s, c)| *s *= c);
        let mut out = vec![0.0; x.len()];
        self.add_backward(&s, &mut out);
        self.quadratic().add_product(1.0, &x, &mut out);
        out.iter_mut().zip(scales).for_each(|(out, s)| *out *= s);
        out
    }

    /// U and its gradient at one point.
    fn slope(&self, point: &[f64]) -> Result<(f64, Vec<f64>), Error> {
        let (mut value, mut gradient) = ([0.0], vec![0.0; point.len()]);
        self.values_and_gradients(point, &mut value, &mut gradient, &mut Scratch::default())?;
        Ok((value[0], gradient))
    }
}

impl Factored {
    fn new<F: Family>(ridge: &Ridge<'_, F>) -> Result<Option<Self>, Error> {
        let sums = match ridge.form() {
            Form::Matrices => return Ok(None),
            Form::Scales => {
                let mode = ModeSearch::new().with_method(Method::Lbfgs).of_ridge(ridge)?;
                let spent = 2 * mode.iterations as u64;
                let (scales, _) = scales(ridge, &mode.point);
                let frame = Whitening::diagonal(&mode.point, &scales)?;
                return Ok(Some(Self { frame, mode, fill: None, spent }));
            }
            Form::Factor(sums) => sums,
        };
        let (mode, root) = sums.mode(ridge)?;
        let each = sums.gram.all_entries() as f64 / sums.gram.all_rows().max(1) as f64;
        let each = each + sums.symbolic.work / (2 * sums.gram.all_entries().max(1)) as f64;
        let hessians = mode.iterations as f64 + AVERAGES as f64;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cost")]
        let spent = mode.gradients + (hessians * each).ceil() as u64;
        let entries = sums.symbolic.entries();
        let fill = Some((entries, sums.symbolic.pattern.rows.len()));
        // Scales are looked at where the factor is most of the cost.
        if FACTOR * entries as f64 > (4 * SPARSE * sums.gram.all_entries()) as f64 {
            let (scales, range) = scales(ridge, &mode.point);
            if range[0] >= ROUND[0] && range[1] <= ROUND[1] {
                let frame = Whitening::diagonal(&mode.point, &scales)?;
                return Ok(Some(Self { frame, mode, fill: None, spent }));
            }
        }
        let (centre, root, points) = sums.averaged(ridge, mode.point.clone(), root)?;
        let Sums { symbolic, .. } = *sums;
        let frame = Whitening::of_root(centre, root.over(symbolic))?;
        Ok(Some(Self { frame, mode, fill, spent: spent + points }))
    }

    /// From the coordinates to coefficients.
    #[must_use]
    pub fn frame(&self) -> &Whitening {
        &self.frame
    }

    /// The entries of the Cholesky factor, and those of the matrix that it is a factor of, both of the
    /// lower triangle; `None` where the coordinates are scales.
    #[must_use]
    pub fn fill(&self) -> Option<(usize, usize)> {
        self.fill
    }

    /// The mode of the model, in these coordinates, and how many gradients it took to find, with the
    /// coordinates. A search with a method of its own is made with that method.
    ///
    /// # Errors
    /// As [`ModeSearch::of_ridge`].
    pub fn mode<F: Family>(
        &self, ridge: &Ridge<'_, F>, search: &ModeSearch,
    ) -> Result<(Mode, u64), Error> {
        let (mut mode, spent) = match search.method() {
            None | Some(Method::Newton) => (self.mode.clone(), self.spent),
            Some(_) => {
                let mode = search.of_ridge(ridge)?;
                let spent = self.spent + mode.gradients;
                (mode, spent)
            }
        };
        let point = mode.point.clone();
        self.frame.to_whitened(&point, &mut mode.point)?;
        Ok((mode, spent))
    }
}

/// 1/√H_kk at a point, and about the smallest and the largest eigenvalue of the Hessian in these
/// units. No scale is so long that an eigenvalue is far above 1.
fn scales<F: Family>(ridge: &Ridge<'_, F>, point: &[f64]) -> (Vec<f64>, [f64; 2]) {
    let c = ridge.row_curvatures(&ridge.predictors(point));
    let mut scales: Vec<f64> = ridge.inverse_curvatures(point).into_iter().map(f64::sqrt).collect();
    let d = scales.len();
    let apply = |x: &[f64]| ridge.scaled_hessian(&c, &scales, x);
    let top = lanczos(d, 0.0, &apply).value;
    let turned =
        |x: &[f64]| -> Vec<f64> { apply(x).into_iter().zip(x).map(|(y, x)| top * x - y).collect() };
    let bottom = top - lanczos(d, 0.0, &turned).value;
    if top > ROUND[1] && top.is_finite() {
        let by = (ROUND[1] / top).sqrt();
        scales.iter_mut().for_each(|s| *s *= by);
    }
    (scales, [bottom, top])
}

/// A factor without the pattern that it belongs to.
struct Loose {
    factor: Vec<f64>,
    tilt: Tilt,
}

impl Loose {
    fn over(self, symbolic: Symbolic) -> Root {
        Root::new(symbolic, self.factor, self.tilt)
    }
}

impl Sums {
    /// The factor of Q + Aᵀ diag(c) A; of a little more, where that is singular.
    fn root<F: Family>(&self, ridge: &Ridge<'_, F>, c: &[f64]) -> Result<Loose, Error> {
        let pattern = &self.symbolic.pattern;
        let mut values = vec![0.0; pattern.rows.len()];
        self.gram.add(ridge.design(), c, pattern, &mut values);
        ridge.rows().sum(&mut values);
        let (prior, along) = match ridge.quadratic() {
            Quadratic::At { prior, at, precision, .. } => (prior, Some((at, *precision))),
            Quadratic::Diagonal(prior) => (prior, None),
            Quadratic::General { .. } => return Err(Error::TooLarge),
        };
        let diagonal = &pattern.starts[..pattern.size()];
        diagonal.iter().zip(prior.precision()).for_each(|(&at, q)| values[at] += q);
        let trace: f64 = diagonal.iter().map(|&at| values[at]).sum();
        let (mut factor, mut memory) = (Vec::new(), Memory::default());
        let mut added = 1e-10 * trace / diagonal.len() as f64;
        while !self.symbolic.factor(&values, &mut factor, &mut memory) {
            if !(added > 0.0 && added < trace) {
                return Err(Error::Overflow { what: "the matrix Aᵀ A" });
            }
            diagonal.iter().for_each(|&at| values[at] += added);
            added *= 100.0;
        }
        let tilt = along.map_or_else(Tilt::default, |(at, precision)| {
            Tilt::new(&self.symbolic, &factor, at, precision)
        });
        Ok(Loose { factor, tilt })
    }

    /// Wᵀ g.
    fn pull(&self, root: &Loose, g: &[f64]) -> Vec<f64> {
        let mut z = vec![0.0; g.len()];
        self.symbolic.forward(&root.factor, [g], [&mut z], &mut Vec::new());
        root.tilt.undo(&mut z);
        z
    }

    /// W z.
    fn push(&self, root: &Loose, mut z: Vec<f64>) -> Vec<f64> {
        root.tilt.undo(&mut z);
        let mut x = vec![0.0; z.len()];
        self.symbolic.backward(&root.factor, [&z], [&mut x], &mut Vec::new());
        x
    }

    /// The mode by Newton's method, with a search along each step, and the factor there.
    fn mode<F: Family>(&self, ridge: &Ridge<'_, F>) -> Result<(Mode, Loose), Error> {
        ridge.check_range()?;
        let mut x = vec![0.0; ridge.dimension()];
        let (mut value, mut gradient) = ridge.slope(&x)?;
        let (mut gradients, mut iterations, mut notes) = (1, 0, Vec::new());
        loop {
            let root = self.root(ridge, &ridge.row_curvatures(&ridge.predictors(&x)))?;
            let z = self.pull(&root, &gradient);
            let decrement = norm(&z);
            if !decrement.is_finite() {
                return Err(Error::NotFinite { what: "the gradient", point: x });
            }
            let step = self.push(&root, z);
            let lower = |share: f64| -> Result<Option<_>, Error> {
                let there: Vec<f64> = x.iter().zip(&step).map(|(x, s)| x - share * s).collect();
                let (found, slope) = ridge.slope(&there)?;
                let enough = found < value - 1e-4 * share * decrement * decrement;
                Ok(enough.then_some((there, found, slope)))
            };
            let (mut share, mut next) = (1.0, None);
            while decrement > NEAR && next.is_none() && share > 1e-12 {
                next = lower(share)?;
                gradients += 1;
                share *= 0.5;
            }
            match next {
                Some((there, found, slope)) if iterations < STEPS => {
                    (x, value, gradient) = (there, found, slope);
                    iterations += 1;
                }
                _ if decrement <= ROUNDING => {
                    if decrement > NEAR {
                        notes.push(Note::Rounding { decrement });
                    }
                    let properness = match ridge.has_proper_prior() {
                        true => Properness::Proper(Proof::Prior),
                        false => Properness::NotChecked("a prior is flat, and columns are many"),
                    };
                    let (method, gradient_norm) = (Method::Newton, norm(&gradient));
                    let mode = Mode {
                        point: x,
                        gradient_norm,
                        decrement,
                        method,
                        iterations,
                        gradients,
                        properness,
                        notes,
                    };
                    return Ok((mode, root));
                }
                _ => {
                    return Err(Error::NotConverged {
                        method: Method::Newton,
                        why: "no step made progress",
                        iterations,
                        gradient_norm: norm(&gradient),
                        decrement,
                        point: x,
                    });
                }
            }
        }
    }

    /// Coordinates by the mean Hessian at points of the normal distribution that the factor makes,
    /// and the gradients that it took. Points come in pairs on both sides of the centre; the new
    /// centre is that less H⁻¹ times the mean of their gradients. A quadratic potential keeps its
    /// factor.
    fn averaged<F: Family>(
        &self, ridge: &Ridge<'_, F>, mut centre: Vec<f64>, mut root: Loose,
    ) -> Result<(Vec<f64>, Loose, u64), Error> {
        let mut spent = 0;
        let largest = |list: &[f64]| {
            let mut most = [list.iter().fold(0.0_f64, |most, x| most.max(x.abs()))];
            ridge.rows().largest(&mut most);
            most[0]
        };
        for round in 0..AVERAGES {
            let mut rng = ChaCha8Rng::seed_from_u64(round);
            let mut normal = move || {
                let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
                radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
            };
            let mut mean = vec![0.0; ridge.observations().len()];
            let mut slope = vec![0.0; centre.len()];
            let here = ridge.row_curvatures(&ridge.predictors(&centre));
            for pair in 0..PAIRS {
                let z: Vec<f64> = centre.iter().map(|_| normal()).collect();
                let by = self.push(&root, z);
                for sign in [1.0, -1.0] {
                    let point: Vec<f64> =
                        centre.iter().zip(&by).map(|(c, by)| c + sign * by).collect();
                    let c = ridge.row_curvatures(&ridge.predictors(&point));
                    let change: Vec<f64> = c.iter().zip(&here).map(|(a, b)| a - b).collect();
                    spent += 1;
                    if pair == 0 && sign > 0.0 && largest(&change) <= SAME * largest(&here) {
                        return Ok((centre, root, spent));
                    }
                    let share = 0.5 / PAIRS as f64;
                    mean.iter_mut().zip(&c).for_each(|(mean, c)| *mean += share * c);
                    let (_, gradient) = ridge.slope(&point)?;
                    slope.iter_mut().zip(&gradient).for_each(|(sum, g)| *sum += share * g);
                }
            }
            let next = match self.root(ridge, &mean) {
                Ok(next) => next,
                // So far out that curvatures are not finite: the coordinates of the mode remain.
                Err(_) => return Ok((centre, root, spent)),
            };
            let back = self.push(&next, self.pull(&next, &slope));
            let moved: Vec<f64> = centre.iter().zip(&back).map(|(c, b)| c - b).collect();
            if moved.iter().any(|x| !x.is_finite()) {
                return Ok((centre, root, spent));
            }
            (centre, root) = (moved, next);
        }
        Ok((centre, root, spent))
    }
}
