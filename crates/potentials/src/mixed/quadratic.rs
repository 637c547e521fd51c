//! Quadratic approximations of a mixed model's likelihood: what [`Chart`](super::Chart) is made of.

use std::sync::atomic::Ordering;

use super::Mixed;
use crate::error::Error;
use crate::joint::derivatives::curvature;
use crate::line_integral::{LineIntegral, Scratch};

/// ½ xᵀ (c D + E + h a aᵀ) x − (c b + e)ᵀ x, with c the information of the likelihood at its
/// parameters: D and b are of the rows, E (a diagonal), h and e of the priors, and a is where the
/// prior of the intercept holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quadratic {
    /// D, by the pattern of the model.
    pub(super) rows: Vec<f64>,
    /// b.
    pub(super) rows_linear: Vec<f64>,
    /// The diagonal of E.
    pub(super) priors: Vec<f64>,
    /// e.
    pub(super) priors_linear: Vec<f64>,
    /// h.
    pub(super) at_means: f64,
}

impl Quadratic {
    /// The mean of several.
    pub(super) fn mean(all: &[Self]) -> Option<Self> {
        let mut mean = all.first()?.clone();
        let share = 1.0 / all.len() as f64;
        let of = |into: &mut Vec<f64>, list: fn(&Self) -> &Vec<f64>| {
            into.fill(0.0);
            for one in all {
                into.iter_mut().zip(list(one)).for_each(|(sum, x)| *sum += share * x);
            }
        };
        of(&mut mean.rows, |one| &one.rows);
        of(&mut mean.rows_linear, |one| &one.rows_linear);
        of(&mut mean.priors, |one| &one.priors);
        of(&mut mean.priors_linear, |one| &one.priors_linear);
        mean.at_means = all.iter().map(|one| share * one.at_means).sum();
        Some(mean)
    }

    /// Whether another one is the same up to rounding: the likelihood is then quadratic.
    pub(super) fn resembles(&self, other: &Self) -> bool {
        const SAME: f64 = 1e-4;
        let largest = self.rows.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= SAME * largest;
        self.rows.iter().zip(&other.rows).all(near)
            && self.priors.iter().zip(&other.priors).all(|(a, b)| (a - b).abs() <= SAME * a.abs())
    }
}

impl Mixed {
    /// The expansion of the likelihood and the priors at a point of the joint model, without the law
    /// of the groups.
    pub(super) fn expand(&self, point: &[f64]) -> Result<Quadratic, Error> {
        let joint = &self.joint;
        // The differences of slopes, and a product of the design with itself.
        let each =
            3 * joint.likelihood().predictors() + self.gram.all_entries() / self.gram.all_rows();
        self.spent.fetch_add(each as u64, Ordering::Relaxed);
        let (beta, psi) = point.split_at(joint.coefficients());
        let s = joint.all_predictors(beta);
        let mut w = joint.row_curvatures(&s, psi);
        if joint.likelihood().predictors() == 1 {
            // Where a density is not log-concave: its curvature is no precision.
            w.iter_mut().for_each(|w| *w = w.max(0.0));
        }
        let pattern = &self.symbolic.pattern;
        let mut rows = vec![0.0; pattern.rows.len()];
        self.gram.add(joint.design(), &w, pattern, &mut rows);
        let located = self.head > beta.len();
        if located {
            self.add_parameters(&s, psi, &mut rows);
        }
        joint.rows().sum(&mut rows);
        if located {
            self.add_parameter_priors(psi, &mut rows);
        }
        let (mut value, mut gradient) = ([0.0], vec![0.0; point.len()]);
        joint.values_and_gradients(point, &mut value, &mut gradient, &mut Scratch::default())?;
        let head = &point[..self.head];
        let mut priors = vec![0.0; self.head];
        let mut priors_linear = vec![0.0; self.head];
        let (at, mut at_means) = (joint.intercept_at(), 0.0);
        for (k, (prior, &x)) in joint.priors().iter().zip(beta).enumerate() {
            let argument = joint.argument(k, beta);
            let slope = prior.value_and_slope(argument)[1];
            // As above.
            let own = curvature(prior, argument).max(0.0);
            if k == 0 && !at.is_empty() {
                at_means = own;
                let lists = priors_linear.iter_mut().zip(&mut gradient).zip(at);
                lists.for_each(|((linear, gradient), a)| {
                    *linear += (own * argument - slope) * a;
                    *gradient -= slope * a;
                });
                continue;
            }
            priors[k] = own;
            priors_linear[k] += priors[k] * x - slope;
            gradient[k] -= slope;
        }
        let mut rows_linear = pattern.times(&rows, head);
        rows_linear.iter_mut().zip(&gradient).for_each(|(b, g)| *b -= g);
        let information = joint.likelihood().information(psi);
        rows.iter_mut().chain(&mut rows_linear).for_each(|x| *x /= information);
        let all = rows.iter().chain(&rows_linear).chain(&priors).chain(&priors_linear);
        if all.clone().all(|x| x.is_finite()) {
            Ok(Quadratic { rows, rows_linear, priors, priors_linear, at_means })
        } else {
            Err(Error::NotFinite { what: "the Hessian", point: point.to_vec() })
        }
    }

    /// The rows and columns of thresholds, by the rows of this process.
    fn add_parameters(&self, s: &[f64], psi: &[f64], into: &mut [f64]) {
        let joint = &self.joint;
        let (first, m) = (joint.coefficients(), joint.likelihood().predictors());
        let columns = joint.design().columns();
        let mut add = |row, column, value| self.add_entry(into, row, column, value);
        for (a, (by_s, by_psi)) in joint.parameter_curvatures(s, psi).into_iter().enumerate() {
            for k in 0..m * columns {
                let (j, column) = (k / columns, k % columns);
                let entry = self.gram.column(column).map(|(row, x)| x * by_s[row * m + j]).sum();
                add(first + a, k, entry);
            }
            for (b, entry) in by_psi.into_iter().enumerate() {
                // Both triangles are differences; their mean is symmetric.
                let share = if a == b { 1.0 } else { 0.5 };
                add(first + a.max(b), first + a.min(b), share * entry);
            }
        }
    }

    /// The curvature of the priors of thresholds.
    fn add_parameter_priors(&self, psi: &[f64], into: &mut [f64]) {
        let (first, count) = (self.joint.coefficients(), psi.len());
        let curvatures = self.joint.parameter_prior_curvatures(psi);
        for (a, b) in (0..count).flat_map(|a| (0..=a).map(move |b| (a, b))) {
            let [lower, upper] = [curvatures[a * count + b], curvatures[b * count + a]];
            self.add_entry(into, first + a, first + b, 0.5 * lower + 0.5 * upper);
        }
    }

    fn add_entry(&self, into: &mut [f64], row: usize, column: usize, value: f64) {
        if let Some(at) = self.symbolic.pattern.find(row, column) {
            into[at] += value;
        }
    }
}
