//! Moves that are accepted by a few rows instead of all, without an error.
//!
//! In coordinates in which the target is about N(0, I), U(z) = |z|²/2 + E(z) + Σ r(z) + const. E has
//! the slope and the rest of the curvature of U at the origin. Each row has r, what its term is
//! beyond its Taylor polynomial of degree 2 there. A move that is reversible for N(0, I) is accepted
//! if E accepts it, with probability min(1, e^−ΔE), and each row does, with min(1, e^−Δr): a
//! factorised acceptance (section 14 of `docs/theory.md`).
//!
//! With |u‴| <= M wherever points within the radius ρ lead, |Δr| <= c λ, c = w M |b|³/6 and λ a
//! function of both points alone. So the rows that reject are points of a Poisson process of rate
//! λ Σ c, thinned: few rows are looked at, and which ones follows from their bounds c.

use crate::coordinates::MappedRidge;
use crate::design::Design;
use crate::error::Error;
use crate::families::{Family, Observation};
use crate::hessian::{dot, mirror, norm, visit};
use crate::line_integral::{LineIntegral, Scratch};
use crate::ridge::Ridge;
use crate::square;

/// The radius is this much beyond √d: a standard normal point is outside it with a probability of
/// at most e^−18.
const BEYOND: f64 = 6.0;
/// The sum of all bounds, in the units in which they are added up: sums are exact.
const UNITS: f64 = (1_u64 << 52) as f64;
/// What bounds are raised by, for the rounding of what they are made of.
const ROUNDING: f64 = 1e-9;
/// The rounding of a change beyond a Taylor polynomial, in proportion to the first two terms of it.
const DIGITS: f64 = 1e-13;

/// A potential that decides about moves by a few of its rows.
pub trait Thinning: Sync {
    /// The number of rows.
    fn rows(&self) -> usize;

    /// The mean number of rows that a decision takes, at most, about an independent move between
    /// points at this distance from the origin. The first call finds the bounds, by a few passes over
    /// the rows.
    ///
    /// # Errors
    /// [`Error::NotThinned`] if there are none; a design that cannot be read.
    fn expected_rows(&self, distance: f64) -> Result<f64, Error>;

    /// An upper bound of the third derivative of the target along any unit vector, wherever decisions
    /// are made by a few rows: how far from normal it can be. Within a distance s of the origin the
    /// cubic part of U is at most s³/6 times as large.
    ///
    /// # Errors
    /// As for [`expected_rows`](Self::expected_rows).
    fn skewness(&self) -> Result<f64, Error>;

    /// Whether a move is accepted, of a kernel that is reversible for N(0, I): with a probability α
    /// such that N(0, I) and α together are reversible for the target. `bits` gives random bits,
    /// independent and uniform.
    ///
    /// # Errors
    /// [`Error::Bound`] if a row moved beyond its bound; a design that cannot be read.
    fn decide(
        &self, from: &[f64], to: &[f64], bits: &mut dyn FnMut() -> u64,
    ) -> Result<Verdict, Error>;
}

/// The decision about a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is accepted.
    Accepted,
    /// It is rejected.
    Rejected,
    /// It has to be decided by all rows: one of its ends is where bounds are not known, or the bounds
    /// are so wide that all rows are cheaper. The same for the move back.
    ByAllRows,
}

/// What decisions are made by.
#[derive(Debug, Clone)]
pub(crate) struct Thin {
    radius: f64,
    /// The bounds c of the rows up to each, that one included, in units of `unit`.
    sums: Vec<u64>,
    unit: f64,
    /// The gradient of U at the origin.
    slope: Vec<f64>,
    /// Its Hessian there, less the identity.
    excess: Vec<f64>,
    /// A bound of the third derivative along unit vectors.
    skewness: f64,
}

/// The term of a row: its predictor at the origin, and how much that changes on both ends of a move.
struct Term {
    at: f64,
    y: Observation,
    weight: f64,
    ends: [f64; 2],
}

impl Thin {
    /// Of a model in whitened coordinates.
    pub(crate) fn of<F: Family>(ridge: &Ridge<'_, F>) -> Result<Self, Error> {
        alone(ridge)?;
        let design = ridge.design();
        let mut squares = Vec::with_capacity(design.rows());
        match design {
            Design::Dense(dense) => {
                let rows = dense.values().chunks_exact(dense.columns());
                squares.extend(rows.map(|row| dot(row, row)));
            }
            Design::Stored(stored) => stored.for_blocks(1, |_, row| squares.push(dot(row, row))),
            Design::Sparse(_) => {
                for row in 0..design.rows() {
                    let mut sum = 0.0;
                    visit(design, row, |_, a| sum += a * a);
                    squares.push(sum);
                }
            }
        }
        let hessian = ridge.hessian(&vec![0.0; ridge.dimension()])?;
        Self::new(ridge, &|row| ridge.offset(row), ridge, squares, hessian)
    }

    /// Of a model whose chains are mapped. The Hessian is added up from the rows in the new
    /// coordinates: that of the original columns, mapped, would lose as many digits as it is badly
    /// conditioned, and what it lost would be missing in E.
    pub(crate) fn of_mapped<F: Family>(mapped: &MappedRidge<'_, F>) -> Result<Self, Error> {
        let (ridge, d) = (mapped.ridge(), mapped.dimension());
        alone(ridge)?;
        let mut squares = Vec::with_capacity(ridge.design().rows());
        let mut hessian = vec![0.0; d * d];
        mapped.for_rows(|image| {
            let row = squares.len();
            let (at, y) = (mapped.offsets()[row], ridge.observations()[row]);
            let curvature = ridge.weight(row) * ridge.family().curvature(at, y);
            for (i, sums) in hessian.chunks_exact_mut(d).enumerate() {
                let scaled = curvature * image[i];
                sums.iter_mut().zip(&image[..=i]).for_each(|(sum, b)| *sum += scaled * b);
            }
            squares.push(dot(image, image));
        });
        mirror(&mut hessian, d);
        let mut prior = vec![0.0; d * d];
        ridge.quadratic().add_to(&mut prior);
        let prior = mapped.whitening().hessian_to_whitened(&prior)?;
        hessian.iter_mut().zip(&prior).for_each(|(sum, h)| *sum += h);
        Self::new(mapped, &|row| mapped.offsets()[row], ridge, squares, hessian)
    }

    fn new<F: Family>(
        potential: &dyn LineIntegral, at: &dyn Fn(usize) -> f64, ridge: &Ridge<'_, F>,
        squares: Vec<f64>, hessian: Vec<f64>,
    ) -> Result<Self, Error> {
        let d = potential.dimension();
        let mut slope = vec![0.0; d];
        potential.gradients(&vec![0.0; d], &mut slope, &mut Scratch::default())?;
        ridge.design().intact()?;
        let radius = (d as f64).sqrt() + BEYOND;
        let mut bounds = squares;
        let mut steepest = 0.0_f64;
        for (row, bound) in bounds.iter_mut().enumerate() {
            let (at, y, length) = (at(row), ridge.observations()[row], bound.sqrt());
            let reach = length * radius;
            let Some(third) = ridge.family().third_bound(at - reach, at + reach, y) else {
                let name = ridge.family().name();
                let why = format!("no bound of the third derivative of the {name} family is known");
                return Err(Error::NotThinned { why });
            };
            if third * length > 0.0 {
                steepest = steepest.max(third * length / ridge.family().curvature(at, y));
            }
            *bound = ridge.weight(row) * third * length.powi(3) / 6.0 * (1.0 + ROUNDING);
        }
        let total: f64 = bounds.iter().sum();
        if !total.is_finite() {
            let why = "the bound of the third derivative of a row is not finite".into();
            return Err(Error::NotThinned { why });
        }
        let unit = (total / UNITS).max(f64::MIN_POSITIVE);
        let mut sum = 0;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "up to 2^52")]
        let whole = |bound: f64| (bound / unit).ceil() as u64;
        let sums = bounds.into_iter().map(|bound| {
            sum += whole(bound);
            sum
        });
        let sums = sums.collect();
        let mut excess = hessian;
        excess.iter_mut().step_by(d + 1).for_each(|h| *h -= 1.0);
        // Σ w M |b·v|³ is at most Σ w u″ (b·v)² times the largest M |b| / u″, and this sum at most vᵀ H v.
        let skewness = steepest * (1.0 + norm(&excess));
        Ok(Self { radius, sums, unit, slope, excess, skewness })
    }

    /// The sum of all bounds.
    fn total(&self) -> f64 {
        self.units() as f64 * self.unit
    }

    fn units(&self) -> u64 {
        self.sums.last().copied().unwrap_or(0)
    }

    /// E at a point.
    fn known(&self, z: &[f64]) -> f64 {
        dot(&self.slope, z) + 0.5 * square::form(&self.excess, z)
    }

    /// λ: a row with the bound c changes by at most c λ. It is the smaller one of two bounds, of r at
    /// both ends and of its slope between them.
    fn scale(&self, from: &[f64], to: &[f64]) -> f64 {
        let [a, b] = [norm(from), norm(to)];
        let moved = from.iter().zip(to).map(|(a, b)| (b - a).powi(2)).sum::<f64>().sqrt();
        (a.powi(3) + b.powi(3)).min(3.0 * a.max(b).powi(2) * moved)
    }

    fn expected_rows(&self, distance: f64) -> f64 {
        2.0 * distance.powi(3) * self.total()
    }

    /// A row, with a probability in proportion to its bound, and that bound.
    fn pick(&self, bits: &mut dyn FnMut() -> u64) -> (usize, f64) {
        let all = self.units();
        // Uniform below `all`: numbers that would make some of them more frequent do not count.
        let most = u64::MAX - u64::MAX % all;
        let at = loop {
            let number = bits();
            if number < most {
                break number % all;
            }
        };
        let row = self.sums.partition_point(|sum| *sum <= at);
        let before = if row == 0 { 0 } else { self.sums[row - 1] };
        (row, (self.sums[row] - before) as f64 * self.unit)
    }

    fn decide(
        &self, family: &dyn Family, [from, to]: [&[f64]; 2], bits: &mut dyn FnMut() -> u64,
        mut term: impl FnMut(usize) -> Term,
    ) -> Result<Verdict, Error> {
        let inside = norm(from) <= self.radius && norm(to) <= self.radius;
        let scale = self.scale(from, to);
        let rate = scale * self.total();
        if !(inside && rate <= self.sums.len() as f64) {
            return Ok(Verdict::ByAllRows);
        }
        if uniform(bits) > (self.known(from) - self.known(to)).exp() {
            return Ok(Verdict::Rejected);
        }
        let mut time = 0.0;
        loop {
            time -= uniform(bits).ln();
            if !(time < rate) {
                return Ok(Verdict::Accepted);
            }
            let (row, bound) = self.pick(bits);
            let bound = bound * scale;
            let [change, rounding] = term(row).change(family);
            if !(change <= bound + rounding) {
                return Err(Error::Bound { row, found: change, bound });
            }
            if uniform(bits) * bound <= change {
                return Ok(Verdict::Rejected);
            }
        }
    }
}

impl Term {
    /// How much more r is at the second end, and how far rounding may change that.
    fn change(&self, family: &dyn Family) -> [f64; 2] {
        let Self { at, y, weight, ends } = *self;
        let (slope, curvature) = (family.slope(at, y), family.curvature(at, y));
        let rest = |t: f64| t * (family.mean_slope(at, t, y) - slope - 0.5 * t * curvature);
        let reach = ends[0].abs() + ends[1].abs();
        let rounding =
            DIGITS * reach * (slope.abs() + at.abs().max(1.0) * curvature * (1.0 + reach));
        [weight * (rest(ends[1]) - rest(ends[0])), weight * rounding]
    }
}

/// Uniform on (0, 1].
fn uniform(bits: &mut dyn FnMut() -> u64) -> f64 {
    ((bits() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

/// An error for rows that are spread over several processes.
fn alone<F: Family>(ridge: &Ridge<'_, F>) -> Result<(), Error> {
    if ridge.rows().is_shared() {
        let why = "the rows are spread over several processes".into();
        return Err(Error::NotThinned { why });
    }
    Ok(())
}

/// The products of a row with two points.
fn products(design: &Design<'_>, row: usize, [a, b]: [&[f64]; 2]) -> [f64; 2] {
    match design {
        Design::Dense(dense) => {
            let d = a.len();
            let row = &dense.values()[row * d..(row + 1) * d];
            [dot(row, a), dot(row, b)]
        }
        Design::Stored(stored) => stored.row_alone(row, |row| [dot(row, a), dot(row, b)]),
        Design::Sparse(_) => {
            let mut sums = [0.0; 2];
            visit(design, row, |k, x| sums = [sums[0] + x * a[k], sums[1] + x * b[k]]);
            sums
        }
    }
}

impl<F: Family> Thinning for Ridge<'_, F> {
    fn rows(&self) -> usize {
        self.observations().len()
    }

    fn expected_rows(&self, distance: f64) -> Result<f64, Error> {
        Ok(self.thin()?.expected_rows(distance))
    }

    fn skewness(&self) -> Result<f64, Error> {
        Ok(self.thin()?.skewness)
    }

    fn decide(
        &self, from: &[f64], to: &[f64], bits: &mut dyn FnMut() -> u64,
    ) -> Result<Verdict, Error> {
        let verdict = self.thin()?.decide(self.family(), [from, to], bits, |row| Term {
            at: self.offset(row),
            y: self.observations()[row],
            weight: self.weight(row),
            ends: products(self.design(), row, [from, to]),
        });
        self.design().intact()?;
        verdict
    }
}

impl<F: Family> Thinning for MappedRidge<'_, F> {
    fn rows(&self) -> usize {
        self.offsets().len()
    }

    fn expected_rows(&self, distance: f64) -> Result<f64, Error> {
        Ok(self.thin()?.expected_rows(distance))
    }

    fn skewness(&self) -> Result<f64, Error> {
        Ok(self.thin()?.skewness)
    }

    fn decide(
        &self, from: &[f64], to: &[f64], bits: &mut dyn FnMut() -> u64,
    ) -> Result<Verdict, Error> {
        let (ridge, map) = (self.ridge(), self.whitening().map());
        let image = |z: &[f64]| {
            let mut image = vec![0.0; z.len()];
            map.add_image(z, &mut image);
            image
        };
        let images = std::cell::OnceCell::new();
        let verdict = self.thin()?.decide(ridge.family(), [from, to], bits, |row| {
            let [a, b] = images.get_or_init(|| [image(from), image(to)]);
            Term {
                at: self.offsets()[row],
                y: ridge.observations()[row],
                weight: ridge.weight(row),
                ends: products(ridge.design(), row, [a, b]),
            }
        });
        ridge.design().intact()?;
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::{Gamma, Gaussian, Logistic, NegativeBinomial, Poisson};
    use crate::{Dense, Prior, StoredWriter, Whitening};

    /// SplitMix64.
    struct Numbers(u64);

    impl Numbers {
        fn bits(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }

        fn uniform(&mut self) -> f64 {
            uniform(&mut || self.bits())
        }

        fn normal(&mut self) -> f64 {
            let radius = (-2.0 * self.uniform().ln()).sqrt();
            radius * (std::f64::consts::TAU * self.uniform()).cos()
        }
    }

    #[test]
    fn third_derivatives_are_within_their_bounds_and_reach_them() {
        let families: [(Box<dyn Family>, Observation); 8] = [
            (Box::new(Logistic), Observation::of(1.0)),
            (Box::new(Logistic), Observation { response: 3.0, trials: 7.0 }),
            (Box::new(Poisson), Observation::of(2.0)),
            (Box::new(Gaussian::new(0.7).unwrap()), Observation::of(0.3)),
            (Box::new(Gamma::new(1.5).unwrap()), Observation::of(2.5)),
            (Box::new(NegativeBinomial::new(0.8).unwrap()), Observation::of(0.0)),
            (Box::new(NegativeBinomial::new(3.0).unwrap()), Observation::of(5.0)),
            (Box::new(Poisson), Observation::of(0.0)),
        ];
        let third = |family: &dyn Family, s: f64, y| {
            let h = 1e-5;
            (family.curvature(s + h, y) - family.curvature(s - h, y)) / (2.0 * h)
        };
        for (family, y) in &families {
            for low in [-6.0, -2.0, -1.0, -0.2, 0.0, 0.3, 1.5, 4.0] {
                for width in [0.001, 0.5, 1.5, 5.0] {
                    let bound = family.third_bound(low, low + width, *y).unwrap();
                    let at = |k: usize| third(&**family, low + width * k as f64 / 400.0, *y).abs();
                    let most = (0..=400).map(at).fold(0.0, f64::max);
                    let case =
                        format!("{} from {low} by {width}: {most} of {bound}", family.name());
                    assert!(most <= bound * (1.0 + 1e-5) + 1e-8, "{case}");
                    assert!(most >= bound * (1.0 - 1e-4) - 1e-8, "{case}");
                }
            }
        }
    }

    const ROWS: usize = 60;
    const D: usize = 2;

    /// A logistic or Poisson posterior of few rows, in coordinates that are off on purpose.
    fn model<F: Family + Clone>(family: F) -> Ridge<'static, F> {
        let mut numbers = Numbers(5);
        let values: Vec<f64> = (0..ROWS * D).map(|_| numbers.normal()).collect();
        let responses: Vec<f64> = (0..ROWS).map(|_| f64::from(numbers.uniform() < 0.3)).collect();
        let design = Dense::new(ROWS, D, values).unwrap();
        let prior = Prior::centred(D, 1.5).unwrap();
        let ridge = Ridge::new(design, family, &responses, prior).unwrap();
        let weights = (0..ROWS).map(|i| 0.5 + (i % 3) as f64 / 2.0).collect();
        let ridge = ridge.with_weights(weights).unwrap();
        let mut centre = ridge.mode().unwrap().point;
        centre[0] += 0.06;
        let mut hessian = ridge.hessian(&centre).unwrap();
        hessian.iter_mut().for_each(|h| *h *= 0.85);
        ridge.whitened(&Whitening::from_hessian(&centre, &hessian).unwrap()).unwrap()
    }

    /// What is compared: shares and products.
    fn looked_at(z: &[f64]) -> [f64; 6] {
        let below = |x: f64, at: f64| f64::from(u8::from(x < at));
        [below(z[0], -0.8), below(z[0], 0.7), below(z[1], -0.8), below(z[1], 0.7), z[0] * z[1], {
            z[0] * z[0]
        }]
    }

    /// Its expectation by quadrature.
    fn expected<F: Family>(model: &Ridge<'_, F>) -> [f64; 6] {
        let (mut total, mut sums) = (0.0, [0.0; 6]);
        // Midpoints whose cells end at the thresholds.
        let (step, half) = (0.05, 140);
        let at = |k: i32| step * (f64::from(k) + 0.5);
        let base = model.value(&[0.0; D]).unwrap();
        for i in -half..half {
            for j in -half..half {
                let z = [at(i), at(j)];
                let density = (base - model.value(&z).unwrap()).exp();
                total += density;
                sums.iter_mut().zip(looked_at(&z)).for_each(|(sum, f)| *sum += density * f);
            }
        }
        sums.map(|sum| sum / total)
    }

    /// The largest z-score of a chain of independent moves, by means of batches. Of 6 numbers at 6
    /// standard errors of 100 batches, a false alarm has a probability of 2e-7.
    fn worst_score<F: Family>(
        model: &Ridge<'_, F>, thin: &Thin, stretch: f64,
    ) -> Result<(f64, [u64; 3]), Error> {
        let (batches, length) = (100, 2000);
        let mut numbers = Numbers(11);
        let (mut z, mut kinds) = (vec![0.0; D], [0; 3]);
        let mut means = vec![[0.0; 6]; batches];
        for mean in &mut means {
            for _ in 0..length {
                let to: Vec<f64> = (0..D).map(|_| numbers.normal()).collect();
                let verdict =
                    thin.decide(model.family(), [&z, &to], &mut || numbers.bits(), |row| Term {
                        at: model.offset(row),
                        y: model.observations()[row],
                        weight: model.weight(row),
                        ends: products(model.design(), row, [&z, &to]).map(|t| stretch * t),
                    })?;
                let accepted = match verdict {
                    Verdict::ByAllRows => {
                        let rest = |z: &[f64]| model.value(z).unwrap() - 0.5 * dot(z, z);
                        kinds[2] += 1;
                        numbers.uniform() <= (rest(&z) - rest(&to)).exp()
                    }
                    found => {
                        kinds[usize::from(found == Verdict::Accepted)] += 1;
                        found == Verdict::Accepted
                    }
                };
                if accepted {
                    z = to;
                }
                let share = 1.0 / f64::from(length);
                mean.iter_mut().zip(looked_at(&z)).for_each(|(sum, f)| *sum += share * f);
            }
        }
        let expected = expected(model);
        let score = |k: usize| {
            let count = batches as f64;
            let mean = means.iter().map(|m| m[k]).sum::<f64>() / count;
            let squares = means.iter().map(|m| (m[k] - mean).powi(2)).sum::<f64>();
            (mean - expected[k]).abs() / (squares / (count * (count - 1.0))).sqrt()
        };
        Ok(((0..6).map(score).fold(0.0, f64::max), kinds))
    }

    /// Draws have the law that quadrature has, and mistakes are seen.
    #[test]
    fn decisions_by_a_few_rows_leave_the_exact_law() {
        let logistic = model(Logistic);
        let thin = logistic.thin().unwrap();
        let (score, [rejected, accepted, _]) = worst_score(&logistic, thin, 1.0).unwrap();
        assert!(score < 6.0 && rejected > 10_000 && accepted > 50_000, "{score} {rejected}");
        // Many moves that all rows decide.
        let near = Thin { radius: 1.5, ..thin.clone() };
        let (score, [_, accepted, by_all]) = worst_score(&logistic, &near, 1.0).unwrap();
        assert!(score < 6.0 && accepted > 50_000 && by_all > 50_000, "{score} {by_all}");
        let poisson = model(Poisson);
        let (score, kinds) = worst_score(&poisson, poisson.thin().unwrap(), 1.0).unwrap();
        assert!(score < 6.0, "{score} {kinds:?}");

        let no_slope = Thin { slope: vec![0.0; D], ..thin.clone() };
        let no_excess = Thin { excess: vec![0.0; D * D], ..thin.clone() };
        for (what, thin, stretch) in
            [("slope", &no_slope, 1.0), ("excess", &no_excess, 1.0), ("rests", thin, 0.7)]
        {
            let (score, _) = worst_score(&logistic, thin, stretch).unwrap();
            assert!(score > 10.0, "{what}: {score}");
        }
    }

    /// A bound that does not hold is an error: none is silently cut off.
    #[test]
    fn bounds_that_do_not_hold_are_errors() {
        let model = model(Poisson);
        let thin = model.thin().unwrap();
        for by in [2, 10] {
            let sums = thin.sums.iter().map(|sum| sum / by).collect();
            let low = Thin { sums, ..thin.clone() };
            let found = worst_score(&model, &low, 1.0);
            assert!(matches!(found, Err(Error::Bound { .. })), "{by}: {found:?}");
        }
    }

    /// The same bounds from memory and from a file, and from chains that are mapped nearly the same.
    #[test]
    fn bounds_do_not_depend_on_where_rows_are() {
        let (rows, d) = (5000, 3);
        let mut numbers = Numbers(3);
        let values: Vec<f64> = (0..rows * d).map(|_| numbers.normal()).collect();
        let responses: Vec<f64> = (0..rows).map(|_| f64::from(numbers.uniform() < 0.4)).collect();
        let prior = || Prior::centred(d, 1.0).unwrap();
        let mut writer = StoredWriter::new(&std::env::temp_dir(), rows, d).unwrap();
        writer.push(&values).unwrap();
        let stored = writer.finish().unwrap();
        let dense = Dense::new(rows, d, values).unwrap();
        let memory = Ridge::new(dense, Logistic, &responses, prior()).unwrap();
        let file = Ridge::new(stored, Logistic, &responses, prior()).unwrap();
        let centre = memory.mode().unwrap().point;
        let white = Whitening::from_hessian(&centre, &memory.hessian(&centre).unwrap()).unwrap();
        let parts =
            |thin: &Thin| (thin.sums.clone(), thin.unit, thin.slope.clone(), thin.excess.clone());
        let [a, b] = [&memory, &file].map(|ridge| ridge.whitened(&white).unwrap());
        assert_eq!(parts(a.thin().unwrap()), parts(b.thin().unwrap()));
        let [c, e] = [&memory, &file].map(|ridge| MappedRidge::new(ridge, &white).unwrap());
        assert_eq!(parts(c.thin().unwrap()), parts(e.thin().unwrap()));
        let ratio = a.thin().unwrap().total() / c.thin().unwrap().total();
        assert!((ratio - 1.0).abs() < 1e-9, "{ratio}");
        let verdicts = |thinning: &dyn Thinning| -> Vec<Verdict> {
            let mut numbers = Numbers(8);
            let mut decide = || {
                let [z, to] = [(); 2].map(|()| [(); 3].map(|()| 2.0 * numbers.normal()));
                thinning.decide(&z, &to, &mut || numbers.bits()).unwrap()
            };
            (0..2000).map(|_| decide()).collect()
        };
        assert!(verdicts(&a).contains(&Verdict::Rejected));
        assert_eq!(verdicts(&a), verdicts(&b));
        assert_eq!(verdicts(&a), verdicts(&c));
        assert_eq!(verdicts(&c), verdicts(&e));
    }

    /// The bound of the third derivative along unit vectors holds, and one rare level shows in it.
    #[test]
    fn the_bound_of_the_skewness_holds() {
        let model = model(Logistic);
        let bound = model.thinning().unwrap().skewness().unwrap();
        let third = |v: [f64; D], at: f64| {
            let h = 1e-3;
            let curvature = |t: f64| {
                let hessian = model.hessian(&v.map(|v| t * v)).unwrap();
                square::form(&hessian, &v)
            };
            ((curvature(at + h) - curvature(at - h)) / (2.0 * h)).abs()
        };
        let angles = (0..40).map(|k| f64::from(k) * std::f64::consts::PI / 40.0);
        let found = angles.map(|turn| [turn.cos(), turn.sin()]);
        let most = found.map(|v| third(v, 0.0).max(third(v, 2.0)).max(third(v, -2.0)));
        let most = most.fold(0.0, f64::max);
        assert!(most <= bound && most > 0.02 * bound, "{most} of {bound}");

        // 20,000 rows, of which so many are of one level whose response is always 0.
        let skewness = |of_level: usize| {
            let rows = 20_000;
            let x: Vec<f64> =
                (0..rows).flat_map(|row| [1.0, f64::from(u8::from(row < of_level))]).collect();
            let response =
                |row: usize| f64::from(u8::from(row >= of_level && row.is_multiple_of(2)));
            let responses: Vec<f64> = (0..rows).map(response).collect();
            let design = Dense::new(rows, 2, x).unwrap();
            let ridge =
                Ridge::new(design, Logistic, &responses, Prior::centred(2, 10.0).unwrap()).unwrap();
            let centre = ridge.mode().unwrap().point;
            let white = Whitening::from_hessian(&centre, &ridge.hessian(&centre).unwrap()).unwrap();
            ridge.whitened(&white).unwrap().thinning().unwrap().skewness().unwrap()
        };
        assert!(skewness(1) > 5.0, "{}", skewness(1));
        let half = Ridge::new(
            Dense::new(20_000, 1, vec![1.0; 20_000]).unwrap(),
            Logistic,
            &(0..20_000).map(|row| f64::from(row % 2)).collect::<Vec<f64>>(),
            Prior::centred(1, 10.0).unwrap(),
        );
        let half = half.unwrap();
        let white = Whitening::from_hessian(&[0.0], &half.hessian(&[0.0]).unwrap()).unwrap();
        let bound = half.whitened(&white).unwrap().thinning().unwrap().skewness().unwrap();
        assert!(bound < 0.01, "{bound}");
    }

    /// E is that of the rows also where the original columns are nearly collinear: of the Hessian in
    /// these columns too few digits are left.
    #[test]
    fn chains_that_are_mapped_have_the_curvature_of_their_rows() {
        let rows = 4000;
        let mut numbers = Numbers(4);
        let x: Vec<f64> = (0..rows).map(|_| 1e6 + numbers.normal()).collect();
        let responses: Vec<f64> = (0..rows).map(|_| f64::from(numbers.uniform() < 0.4)).collect();
        let values: Vec<f64> = x.iter().flat_map(|x| [1.0, *x]).collect();
        let design = Dense::new(rows, 2, values).unwrap();
        let ridge = Ridge::new(design, Logistic, &responses, Prior::flat(2)).unwrap();
        let centre = [-0.4, 0.0];
        let hessian = ridge.hessian(&centre).unwrap();
        let white = Whitening::from_hessian(&centre, &hessian).unwrap();
        let mapped = MappedRidge::new(&ridge, &white).unwrap();
        let thin = mapped.thin().unwrap();
        let column = |k: usize| {
            let (mut unit, mut image) = ([0.0; 2], [0.0; 2]);
            unit[k] = 1.0;
            white.map().add_image(&unit, &mut image);
            image
        };
        let columns = [column(0), column(1)];
        let mut need = [-1.0, 0.0, 0.0, -1.0];
        for (x, y) in x.iter().zip(ridge.observations()) {
            let image = columns.map(|[first, second]| x.mul_add(second, first));
            let c = Logistic.curvature(-0.4, *y);
            for (k, sum) in need.iter_mut().enumerate() {
                *sum += c * image[k / 2] * image[k % 2];
            }
        }
        for (found, need) in thin.excess.iter().zip(need) {
            assert!((found - need).abs() < 1e-8, "{:?}, need {need:?}", thin.excess);
        }
        // What the mapped Hessian would say is far off.
        let lost = white.hessian_to_whitened(&hessian).unwrap();
        assert!((lost[3] - 1.0 - need[3]).abs() > 1e-6, "{lost:?}, {need:?}");
    }

    #[test]
    fn models_without_bounds_say_why() {
        use crate::families::Huber;
        let design = Dense::new(3, 1, vec![1.0, -1.0, 2.0]).unwrap();
        let prior = Prior::centred(1, 1.0).unwrap();
        let huber =
            Ridge::new(design, Huber::new(1.0, 1.0).unwrap(), &[0.0, 1.0, 2.0], prior).unwrap();
        let error = huber.thinning().unwrap().expected_rows(1.0).unwrap_err().to_string();
        assert!(error.contains("no bound of the third derivative"), "{error}");
    }
}
