//! Typical values of a mixed model, and the approximation of its likelihood around them.
//!
//! 1. Given t, x goes to its mode by Newton's method, and the likelihood is expanded there.
//! 2. With that, −log density of (ζ, t) at ζ = 0 is Laplace's approximation of the marginal of t; t
//!    goes to its minimum. Both are repeated until t stays where it is.
//! 3. The expansion at one point is replaced by the mean of those at points drawn from the
//!    approximation, which follows skewed posteriors better, and t is looked for again.
//!
//! Nothing of this decides what is sampled, only how well. It follows from the data alone.

use std::sync::atomic::Ordering;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Mixed;
use super::bend::Knees;
use super::chart::{Chart, Here};
use super::quadratic::Quadratic;
use crate::error::Error;
use crate::hessian::{dot, norm};
use crate::line_integral::{LineIntegral, Scratch};
use crate::mode::Method;

/// Rounds of 1 and 2 at most, and the change of t that ends them.
const ROUNDS: usize = 30;
const SETTLED: f64 = 0.05;
/// Newton's steps to the mode of x at most; a decrement, in standard deviations, that is near enough.
const STEPS: usize = 60;
const NEAR: f64 = 1e-3;
/// How exactly, relative to the decrease, a step to the minimum of a quadratic function is one.
const EXACT: f64 = 1e-6;
/// Steps to the minimum by t in one round, the longest step, and the slope that ends them.
const DESCENTS: usize = 12;
const LONGEST: f64 = 1.0;
const FLAT: f64 = 1e-3;
/// The step of the differences that make the curvature by t.
const STEP: f64 = 1e-3;
/// Pairs of points whose expansions are averaged, how often, and about how many multiplications that
/// may take.
const PAIRS: usize = 16;
const AVERAGES: usize = 2;
const WORK: f64 = 2e9;

/// U and its gradient by t, at ζ = 0.
pub(super) struct Slope {
    pub(super) value: f64,
    gradient: Vec<f64>,
}

impl Mixed {
    pub(super) fn prepare(&self) -> Result<Chart, Error> {
        let mut x = self.start.clone();
        let mut t = x[self.head..].to_vec();
        t.extend(self.typical_scales());
        let psi = &x[self.joint.coefficients()..];
        let information = self.joint.likelihood().information(psi);
        let mut knees = self.first_knees(&self.expand(&x)?, information);
        knees.bend(&mut t);
        let mut chart = self.mode_given(&mut x, &t, &knees)?;
        for _ in 0..if t.is_empty() { 0 } else { ROUNDS } {
            let before = t.clone();
            self.descend(&chart, &mut t, None)?;
            chart = self.mode_given(&mut x, &t, &knees)?;
            let change = t.iter().zip(&before).map(|(a, b)| (a - b).abs());
            if change.fold(0.0, f64::max) < SETTLED {
                break;
            }
        }
        if chart.follows() {
            let Chart { quadratic, typical, .. } = chart;
            let straight = Chart::following(quadratic, typical, Knees::default());
            knees = self.knees_of(&straight)?;
            t.clone_from(&straight.typical);
            knees.bend(&mut t);
            chart = self.chart_of(straight.quadratic, &t, &knees)?;
        }
        chart.hessian = self.curvature(&chart, &t)?;
        for round in 0..AVERAGES {
            let Some(mean) = self.averaged(&chart, &t, round as u64)? else { break };
            chart = self.chart_of(mean, &t, &knees)?;
            self.descend(&chart, &mut t, None)?;
            let Chart { quadratic, .. } = chart;
            chart = self.chart_of(quadratic, &t, &knees)?;
            chart.hessian = self.curvature(&chart, &t)?;
        }
        chart.centre = t;
        chart.gradients = self.spent.load(Ordering::Relaxed);
        Ok(chart)
    }

    fn chart_of(&self, quadratic: Quadratic, v: &[f64], knees: &Knees) -> Result<Chart, Error> {
        let mut t = Vec::new();
        knees.unbend(v, &mut t);
        Chart::new(self, quadratic, t, knees.clone()).ok_or_else(|| self.singular(v))
    }

    fn singular(&self, point: &[f64]) -> Error {
        Error::NotFinite { what: "the factor of the Hessian", point: point.to_vec() }
    }

    /// φ with standard deviations of effects of half a unit of the linear predictor, uncorrelated.
    pub(super) fn typical_scales(&self) -> Vec<f64> {
        let joint = &self.joint;
        let unit = joint.likelihood().unit(&self.start[joint.coefficients()..]);
        let columns = joint.design().columns();
        // The sum of squares and the number of the entries of each coefficient.
        let mut sums = Vec::new();
        for term in &self.terms {
            for coefficient in 0..term.width {
                let (mut sum, mut count) = (0.0, 0.0);
                for level in 0..term.levels {
                    let column = (term.first + level * term.width + coefficient) % columns;
                    for (_, entry) in self.gram.column(column) {
                        sum += entry * entry;
                        count += 1.0;
                    }
                }
                sums.extend([sum, count]);
            }
        }
        joint.rows().sum(&mut sums);
        let mut sizes = sums.as_chunks().0.iter().map(|[sum, count]| (sum / count.max(1.0)).sqrt());
        let mut phi = Vec::new();
        for term in &self.terms {
            let of = |size: f64| if size > 0.0 { (0.5 * unit / size).ln() } else { 0.0 };
            phi.extend(sizes.by_ref().take(term.width).map(of));
            phi.resize(phi.len() + term.parameters() - term.width, 0.0);
        }
        phi
    }

    /// −log density of x given t, up to a constant.
    fn value_given(&self, x: &[f64], t: &[f64]) -> Result<f64, Error> {
        let (mut value, mut gradient) = ([0.0], vec![0.0; x.len()]);
        self.spent.fetch_add(1, Ordering::Relaxed);
        self.joint.values_and_gradients(x, &mut value, &mut gradient, &mut Scratch::default())?;
        let phi = &t[x.len() - self.head..];
        Ok(value[0] + self.add_groups(x, phi, &mut gradient, &mut vec![0.0; phi.len()]))
    }

    /// Takes x to its mode given t; the chart by the expansion there.
    fn mode_given(&self, x: &mut [f64], v: &[f64], knees: &Knees) -> Result<Chart, Error> {
        let mut t = Vec::new();
        knees.unbend(v, &mut t);
        let t = &t[..];
        let inner = self.joint.dimension();
        x[self.head..].copy_from_slice(&t[..inner - self.head]);
        let mut value = self.value_given(x, t)?;
        if !value.is_finite() {
            return Err(Error::NotFinite { what: "the potential", point: x.to_vec() });
        }
        for iteration in 0.. {
            let chart = Chart::following(self.expand(x)?, t.to_vec(), knees.clone());
            let mut here = Here::default();
            if !chart.at(self, t, &mut here) {
                return Err(self.singular(x));
            }
            let (mut to, zero) = (vec![0.0; self.head], vec![0.0; self.head]);
            chart.point(self, &mut here, &zero, &mut to);
            let step: Vec<f64> = to.iter().zip(&*x).map(|(to, from)| to - from).collect();
            let distance = norm(&chart.stretched(self, &here, &step));
            let found = |chart: Chart, here| {
                let quadratic = chart.quadratic;
                Chart::at_factor(self, quadratic, t.to_vec(), knees.clone(), here)
                    .ok_or_else(|| self.singular(t))
            };
            if distance <= NEAR {
                return found(chart, here);
            }
            let mut share = 1.0;
            let lower = loop {
                let mut next = x.to_vec();
                next.iter_mut().zip(&step).for_each(|(x, by)| *x += share * by);
                let there = self.value_given(&next, t)?;
                if there < value - 1e-4 * share * distance * distance {
                    break Some((next, there));
                }
                share *= 0.5;
                if share < 1e-12 {
                    break None;
                }
            };
            match lower {
                Some((next, there)) if iteration < STEPS => {
                    x.copy_from_slice(&next);
                    let less = value - there;
                    value = there;
                    // As of a quadratic function: this is its minimum, and that its curvature.
                    if (less - 0.5 * distance * distance).abs() < EXACT * less {
                        return found(chart, here);
                    }
                }
                // Rounding keeps it from going on, or an expansion that is not the curvature.
                _ if distance <= 1.0 || lower.is_some() => return found(chart, here),
                _ => {
                    return Err(Error::NotConverged {
                        method: Method::Newton,
                        why: "no step made progress",
                        iterations: iteration,
                        gradient_norm: f64::NAN,
                        decrement: distance,
                        point: x.to_vec(),
                    });
                }
            }
        }
        Err(self.singular(x))
    }

    pub(super) fn slope(&self, chart: &Chart, t: &[f64]) -> Result<Slope, Error> {
        let mut point = vec![0.0; self.head];
        point.extend_from_slice(t);
        let (mut value, mut gradient) = ([0.0], vec![0.0; point.len()]);
        let scratch = &mut Scratch::default();
        self.spent.fetch_add(1, Ordering::Relaxed);
        self.evaluate(chart, &point, &mut value, &mut gradient, scratch)?;
        Ok(Slope { value: value[0], gradient: gradient.split_off(self.head) })
    }

    /// Takes t downhill at ζ = 0, by the method of Broyden, Fletcher, Goldfarb and Shanno. One of
    /// them can be `held` where it is.
    pub(super) fn descend(
        &self, chart: &Chart, t: &mut [f64], held: Option<usize>,
    ) -> Result<(), Error> {
        let count = t.len();
        let slope_at = |t: &[f64]| {
            let mut found = self.slope(chart, t)?;
            held.into_iter().for_each(|k| found.gradient[k] = 0.0);
            Ok::<_, Error>(found)
        };
        let mut here = slope_at(t)?;
        if !here.value.is_finite() {
            return Err(Error::NotFinite { what: "the potential", point: t.to_vec() });
        }
        let mut inverse = vec![0.0; count * count];
        inverse.iter_mut().step_by(count + 1).for_each(|h| *h = 0.0);
        let mut fresh = true;
        for _ in 0..DESCENTS {
            let mut step: Vec<f64> = if fresh {
                here.gradient.iter().map(|g| -g).collect()
            } else {
                inverse.chunks_exact(count).map(|row| -dot(row, &here.gradient)).collect()
            };
            let length = norm(&step);
            if length > LONGEST {
                step.iter_mut().for_each(|s| *s *= LONGEST / length);
            }
            let slope = dot(&step, &here.gradient);
            if -slope < FLAT * FLAT {
                return Ok(());
            }
            let mut share = 1.0;
            let found = loop {
                let next: Vec<f64> = t.iter().zip(&step).map(|(t, s)| t + share * s).collect();
                let there = slope_at(&next)?;
                if there.value <= here.value + 1e-4 * share * slope {
                    break Some((next, there));
                }
                share *= 0.5;
                if share < 1e-6 {
                    break None;
                }
            };
            let Some((next, there)) = found else { return Ok(()) };
            let s: Vec<f64> = next.iter().zip(&*t).map(|(a, b)| a - b).collect();
            let y: Vec<f64> =
                there.gradient.iter().zip(&here.gradient).map(|(a, b)| a - b).collect();
            if dot(&s, &y) > 1e-10 * norm(&s) * norm(&y) {
                update(&mut inverse, &s, &y, fresh);
                fresh = false;
            }
            t.copy_from_slice(&next);
            here = there;
        }
        Ok(())
    }

    /// The curvature of −log density by t at ζ = 0.
    fn curvature(&self, chart: &Chart, t: &[f64]) -> Result<Vec<f64>, Error> {
        let count = t.len();
        let mut hessian = vec![0.0; count * count];
        for k in 0..count {
            let [high, low] = [STEP, -STEP].map(|by| {
                let mut t = t.to_vec();
                t[k] += by;
                self.slope(chart, &t)
            });
            for (l, (high, low)) in high?.gradient.iter().zip(low?.gradient).enumerate() {
                let entry = (high - low) / (2.0 * STEP);
                hessian[k * count + l] += 0.5 * entry;
                hessian[l * count + k] += 0.5 * entry;
            }
        }
        Ok(hessian)
    }

    /// The mean of the expansions at points of the approximation; `None` if the likelihood is
    /// quadratic, or they are too expensive.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 16")]
    fn averaged(
        &self, chart: &Chart, middle: &[f64], round: u64,
    ) -> Result<Option<Quadratic>, Error> {
        let entries = self.gram.all_entries() as f64;
        let each = entries * entries / self.gram.all_rows().max(1) as f64;
        let pairs = (WORK / (2.0 * each)).min(PAIRS as f64) as usize;
        if pairs == 0 {
            return Ok(None);
        }
        let mut rng = ChaCha8Rng::seed_from_u64(round);
        let mut normal = move || {
            let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
            radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
        };
        let spread = spread_of(&chart.hessian, middle.len());
        let mut all = Vec::new();
        for _ in 0..pairs {
            let zeta: Vec<f64> = (0..self.head).map(|_| normal()).collect();
            let eps: Vec<f64> = middle.iter().map(|_| normal()).collect();
            for sign in [1.0, -1.0] {
                let zeta: Vec<f64> = zeta.iter().map(|z| sign * z).collect();
                let by = spread.chunks_exact(eps.len().max(1)).map(|row| sign * dot(row, &eps));
                let v: Vec<f64> = by.zip(middle).map(|(by, middle)| middle + by).collect();
                let (mut here, mut t) = (Here::default(), Vec::new());
                chart.knees.unbend(&v, &mut t);
                if !chart.at(self, &t, &mut here) {
                    continue;
                }
                let mut x = vec![0.0; self.head];
                chart.point(self, &mut here, &zeta, &mut x);
                x.extend_from_slice(&t[..self.joint.dimension() - self.head]);
                match self.expand(&x) {
                    Ok(found) => all.push(found),
                    // Beyond what can be computed: no typical point.
                    Err(Error::NotFinite { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            if matches!(&all[..], [first, second] if first.resembles(second)) {
                return Ok(None);
            }
        }
        Ok(Quadratic::mean(&all))
    }
}

/// One step of the inverse Hessian's update. The first is from a multiple of the identity.
fn update(inverse: &mut [f64], s: &[f64], y: &[f64], first: bool) {
    let n = s.len();
    let sy = dot(s, y);
    if first {
        let scale = sy / dot(y, y);
        inverse.fill(0.0);
        inverse.iter_mut().step_by(n + 1).for_each(|h| *h = scale);
    }
    let hy: Vec<f64> = inverse.chunks_exact(n).map(|row| dot(row, y)).collect();
    let factor = (1.0 + dot(y, &hy) / sy) / sy;
    for i in 0..n {
        for j in 0..n {
            inverse[i * n + j] += factor * s[i] * s[j] - (hy[i] * s[j] + s[i] * hy[j]) / sy;
        }
    }
}

/// A matrix S with S Sᵀ about the inverse of a Hessian, row by row: directions of little or negative
/// curvature count as wide as a standard deviation of 1.5.
fn spread_of(hessian: &[f64], n: usize) -> Vec<f64> {
    const LEAST: f64 = 0.44;
    if n == 0 {
        return Vec::new();
    }
    let matrix = faer::MatRef::from_row_major_slice(hessian, n, n);
    let Ok(found) = matrix.self_adjoint_eigen(faer::Side::Lower) else {
        let mut spread = vec![0.0; n * n];
        spread.iter_mut().step_by(n + 1).for_each(|s| *s = 0.3);
        return spread;
    };
    let scale = |k: usize| 1.0 / found.S()[k].max(LEAST).sqrt();
    (0..n * n).map(|at| found.U()[(at / n, at % n)] * scale(at % n)).collect()
}
