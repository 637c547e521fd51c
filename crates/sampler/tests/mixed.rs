//! Trajectories in the coordinates of mixed models leave their posteriors as they are: parameters
//! from the prior and data given the parameters are a draw of the posterior, and its rank among
//! others that are made from it by the kernel, in both directions, is exactly uniform whether or not
//! the kernel mixes (Gandy and Scott 2021). Data come from generators of another crate.
//!
//! The same test finds a density without the determinant of the coordinates, without the change of
//! variables from a standard deviation to its logarithm, and with the prior of the standard
//! deviation on the variance.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "levels and ranks, which are few"
)]

use std::sync::Arc;

use crate::adjusted::Setting;
use crate::common::critical;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1, Poisson as PoissonLaw, StandardNormal, StandardUniform};
use rayon::prelude::*;
use ridgewalk_lyapunov::laws::Drift;
use ridgewalk_potentials::families::{Logistic, Poisson};
use ridgewalk_potentials::likelihoods::{Likelihood, Normal, Plain};
use ridgewalk_potentials::{
    Dense, Density, Error, GroupTerm, Joint, LineIntegral, Mixed, Scratch, Sparse, WhitenedMixed,
    Whitening,
};
use ridgewalk_sampler::{Batch, Kernel, Noise, Step, Stream, Workspace};

/// False alarms of each of the tests in this file, of all its quantities together. There are eight.
const LEVEL: f64 = 1e-6;
/// Other draws that the truth is ranked among, and trajectories between two of them.
const OTHERS: usize = 31;
const THIN: usize = 2;
const CELLS: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Response {
    Normal,
    Logistic,
    Poisson,
}

/// A model: an intercept and a slope with normal(0, 1) priors, groupings by their numbers of levels
/// and of coefficients, with exponential priors of standard deviations and uniform correlations.
#[derive(Debug, Clone, Copy)]
struct Recipe {
    response: Response,
    rows: usize,
    groups: &'static [(usize, usize)],
    /// Of the standard deviations; that of σ is 1.
    rate: f64,
}

/// A density that is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Planted {
    NoDeterminant,
    NoChangeOfVariables,
    PriorOfVariance,
}

/// A data set with the parameters that made it.
struct Drawn {
    model: Arc<Mixed>,
    /// Coefficients, parameters of the likelihood, and those of the groups.
    truth: Vec<f64>,
}

impl Recipe {
    fn likelihood(&self) -> Arc<dyn Likelihood> {
        match self.response {
            Response::Normal => Arc::new(Normal),
            Response::Logistic => Arc::new(Plain(Logistic)),
            Response::Poisson => Arc::new(Plain(Poisson)),
        }
    }

    fn draw(&self, source: &mut ChaCha8Rng) -> Drawn {
        let normal = |source: &mut ChaCha8Rng| -> f64 { StandardNormal.sample(source) };
        let uniform = |source: &mut ChaCha8Rng| -> f64 { StandardUniform.sample(source) };
        let scale = |source: &mut ChaCha8Rng| -> f64 { Exp1.sample(source) };
        let mut beta = vec![normal(source), normal(source)];
        let (mut phi, mut terms) = (Vec::new(), Vec::new());
        for &(levels, width) in self.groups {
            let sds: Vec<f64> = (0..width).map(|_| scale(source) / self.rate).collect();
            let r = 2.0 * uniform(source) - 1.0;
            let sd_priors = vec![Density::Exponential { rate: self.rate }; width];
            let first = beta.len();
            terms.push(GroupTerm { first, levels, width, sds: sd_priors, concentration: 1.0 });
            for _ in 0..levels {
                let (a, b) = (normal(source), normal(source));
                beta.push(sds[0] * a);
                if width == 2 {
                    beta.push(sds[1] * (r * a + (1.0 - r * r).sqrt() * b));
                }
            }
            phi.extend(sds.iter().map(|sd| sd.ln()));
            if width == 2 {
                phi.push(r.atanh());
            }
        }
        let sigma: Option<f64> = (self.response == Response::Normal).then(|| scale(source));
        let columns = beta.len();
        let (mut design, mut responses) = (vec![0.0; self.rows * columns], Vec::new());
        for row in design.chunks_exact_mut(columns) {
            let x = normal(source);
            row[..2].copy_from_slice(&[1.0, x]);
            for term in &terms {
                let level = (uniform(source) * term.levels as f64).floor() as usize;
                let at = term.first + level * term.width;
                row[at] = 1.0;
                if term.width == 2 {
                    row[at + 1] = x;
                }
            }
            let s: f64 = row.iter().zip(&beta).map(|(a, b)| a * b).sum();
            let success = uniform(source) < 1.0 / (1.0 + (-s).exp());
            responses.push(match self.response {
                Response::Normal => s + sigma.unwrap_or(1.0) * normal(source),
                Response::Logistic => f64::from(u8::from(success)),
                Response::Poisson => PoissonLaw::new(s.exp()).unwrap().sample(source),
            });
        }
        let mut priors = vec![Density::Normal { mean: 0.0, scale: 1.0 }; 2];
        priors.resize(columns, Density::Flat);
        let design = Sparse::from_dense(&Dense::new(self.rows, columns, design).unwrap());
        let parameters = vec![Density::Exponential { rate: 1.0 }; usize::from(sigma.is_some())];
        let joint = Joint::new(design, self.likelihood(), &responses).unwrap();
        let joint = joint.with_priors(priors).unwrap().with_parameter_priors(parameters).unwrap();
        // As the program does: mean and spread of the responses.
        let n = responses.len() as f64;
        let mean = responses.iter().sum::<f64>() / n;
        let spread = responses.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / n;
        let mut start = vec![0.0; columns];
        start.extend(sigma.map(|_| 0.5 * spread.ln()));
        let mut truth = beta;
        truth.extend(sigma.map(f64::ln));
        truth.extend(phi);
        Drawn { model: Arc::new(Mixed::new(joint, terms, &start).unwrap()), truth }
    }
}

/// U in plain coordinates.
fn value(model: &Mixed, plain: &[f64]) -> f64 {
    let (mut value, mut gradient) = ([0.0], vec![0.0; plain.len()]);
    model.values_and_gradients(plain, &mut value, &mut gradient, &mut Scratch::default()).unwrap();
    value[0]
}

/// The coordinates (ζ, t) of a plain point: given t the map is linear in ζ.
fn coordinates(model: &Mixed, plain: &[f64]) -> Vec<f64> {
    let head = model.head();
    let mut t = plain[head..].to_vec();
    model.chart().unwrap().bend(&mut t);
    let at = |zeta: Option<usize>| {
        let mut point = vec![0.0; head];
        point.extend_from_slice(&t);
        if let Some(k) = zeta {
            point[k] = 1.0;
        }
        model.to_plain(&mut point).unwrap();
        point
    };
    let origin = at(None);
    // Columns of the map, then what they must add up to; row by row.
    let mut rows = vec![vec![0.0; head + 1]; head];
    for k in 0..head {
        let column = at(Some(k));
        (0..head).for_each(|i| rows[i][k] = column[i] - origin[i]);
    }
    (0..head).for_each(|i| rows[i][head] = plain[i] - origin[i]);
    let mut point = solved(rows);
    point.extend_from_slice(&t);
    point
}

/// The solution of linear equations, by elimination with pivots.
fn solved(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|a, b| rows[*a][k].abs().total_cmp(&rows[*b][k].abs())).unwrap();
        rows.swap(k, pivot);
        let (above, below) = rows.split_at_mut(k + 1);
        let top = &above[k];
        for row in below {
            let factor = row[k] / top[k];
            row[k..].iter_mut().zip(&top[k..]).for_each(|(x, t)| *x -= factor * t);
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| rows[k][j] * x[j]).sum();
        x[k] = (rows[k][n] - known) / rows[k][k];
    }
    x
}

/// A posterior with an error in its values. The gradients stay: trajectories may follow any force.
struct Wrong<'a> {
    right: WhitenedMixed,
    model: &'a Mixed,
    whitening: &'a Whitening,
    rate: f64,
    planted: Planted,
}

impl Wrong<'_> {
    fn added(&self, z: &[f64], value_there: f64) -> f64 {
        let mut point = vec![0.0; z.len()];
        self.whitening.to_original(z, &mut point).unwrap();
        if !value_there.is_finite() || self.model.to_plain(&mut point).is_err() {
            return 0.0;
        }
        let mut first = self.model.joint().dimension();
        let mut sum = 0.0;
        match self.planted {
            Planted::NoDeterminant => return value(self.model, &point) - value_there,
            Planted::NoChangeOfVariables | Planted::PriorOfVariance => {
                for term in self.model.terms() {
                    for log_sd in &point[first..first + term.width] {
                        let sd = log_sd.exp();
                        sum += match self.planted {
                            Planted::NoChangeOfVariables => *log_sd,
                            // −log of rate · 2 sd² exp(−rate sd²) less that of rate · sd exp(−rate sd).
                            _ => self.rate * (sd * sd - sd) - log_sd,
                        };
                    }
                    first += term.parameters();
                }
            }
        }
        sum
    }
}

impl LineIntegral for Wrong<'_> {
    fn dimension(&self) -> usize {
        self.right.dimension()
    }

    fn gradients_per_integral(&self) -> u64 {
        1
    }

    fn integrate(
        &self, length: f64, positions: &[f64], momenta: &[f64], integrals: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        self.right.integrate(length, positions, momenta, integrals, scratch)
    }

    fn gradients(
        &self, positions: &[f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), Error> {
        self.right.gradients(positions, gradients, scratch)
    }

    fn values_and_gradients(
        &self, positions: &[f64], values: &mut [f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), Error> {
        self.right.values_and_gradients(positions, values, gradients, scratch)?;
        let each = positions.chunks_exact(self.dimension());
        each.zip(values).for_each(|(z, value)| *value += self.added(z, *value));
        Ok(())
    }
}

/// What is ranked: coefficients of the design, one effect of each grouping, all parameters, and the
/// log density.
fn quantities(model: &Mixed, plain: &[f64]) -> Vec<f64> {
    let mut found = plain[..2].to_vec();
    found.extend(model.terms().iter().map(|term| plain[term.first]));
    found.extend_from_slice(&plain[model.head()..]);
    found.push(value(model, plain));
    found
}

/// A replication: the cell of the rank of each quantity, the share of trajectories that were accepted,
/// and whether the factor of the coordinates follows t.
fn replication(
    recipe: &Recipe, setting: Setting, planted: Option<Planted>, number: u64,
) -> (Vec<usize>, f64, bool) {
    let mut source = ChaCha8Rng::seed_from_u64(77);
    source.set_stream(number);
    let Drawn { model, truth } = recipe.draw(&mut source);
    let chart = model.chart().unwrap();
    let (head, d) = (model.head(), model.dimension());
    // Scales of t by the curvature of each: coordinates need not be good.
    let mut centre = vec![0.0; head];
    centre.extend_from_slice(chart.centre());
    let mut scales = vec![1.0; head];
    let curvatures = chart.hessian().iter().step_by(d - head + 1);
    scales.extend(curvatures.map(|h| 1.0 / h.max(0.44).sqrt()));
    let whitening = Whitening::diagonal(&centre, &scales).unwrap();
    let right = WhitenedMixed::new(model.clone(), whitening.clone()).unwrap();
    let potential: Box<dyn LineIntegral> = match planted {
        None => Box::new(right),
        Some(planted) => {
            let (model, whitening, rate) = (&*model, &whitening, recipe.rate);
            Box::new(Wrong { right, model, whitening, rate, planted })
        }
    };
    let mut z = vec![0.0; d];
    whitening.to_whitened(&coordinates(&model, &truth), &mut z).unwrap();
    let own = quantities(&model, &truth);
    let mut uniform = || -> f64 { StandardUniform.sample(&mut source) };
    let place = (uniform() * (OTHERS + 1) as f64).floor() as usize;
    let (mut below, mut equal) = (vec![0.0; own.len()], vec![0.0; own.len()]);
    let (kernel, mut accepted) = (setting.kernel(1.0), 0.0);
    for (direction, draws) in [(0, place), (1, OTHERS - place)] {
        let mut stream = Stream::new(1000 + number, direction);
        let [mut from, mut to] = [(); 2].map(|()| Batch::new(d, 1).unwrap());
        from.fields_mut().theta.copy_from_slice(&z);
        let mut normals = vec![0.0; kernel.normals() * d];
        let mut uniforms = vec![0.0; kernel.uniforms()];
        let mut workspace = Workspace::default();
        for made in 1..=draws * THIN {
            // With p and r drawn anew the kernel is reversible: both directions are the same.
            let fields = from.fields_mut();
            stream.normals(fields.p);
            stream.normals(fields.r);
            stream.normals(&mut normals);
            stream.uniforms(&mut uniforms);
            let noise = Noise { normals: &normals, uniforms: &uniforms };
            let (potential, to_, workspace) = (&*potential, &mut to, &mut workspace);
            kernel.step(Step { potential, from: &from, noise, to: to_, workspace }).unwrap();
            accepted += f64::from(u8::from(to.theta() != from.theta()));
            std::mem::swap(&mut from, &mut to);
            if made % THIN == 0 {
                let mut point = vec![0.0; d];
                whitening.to_original(from.theta(), &mut point).unwrap();
                model.to_plain(&mut point).unwrap();
                // A chain that has not moved is at the truth but for rounding.
                let same = from.theta() == &z[..];
                for (k, (own, found)) in own.iter().zip(quantities(&model, &point)).enumerate() {
                    below[k] += f64::from(u8::from(!same && found < *own));
                    equal[k] += f64::from(u8::from(same));
                }
            }
        }
    }
    let rank =
        |(below, equal): (&f64, &f64)| (below + (uniform() * (equal + 1.0)).floor()) as usize;
    let ranks = below.iter().zip(&equal).map(rank);
    let cells = ranks.map(|rank| rank * CELLS / (OTHERS + 1)).collect();
    (cells, accepted / (OTHERS * THIN) as f64, chart.follows())
}

/// The largest χ² of all quantities over its critical value, and the acceptance.
fn calibration(
    recipe: &Recipe, eta: f64, planted: Option<Planted>, replications: u64, follows: bool,
) -> [f64; 2] {
    let setting = Setting { gamma: 1.2, xi: 2.0, eta, steps: 3, drift: Drift::Straight };
    let made: Vec<(Vec<usize>, f64, bool)> = (0..replications)
        .into_par_iter()
        .map(|number| replication(recipe, setting, planted, number))
        .collect();
    let as_expected = made.iter().filter(|(_, _, found)| *found == follows).count();
    assert_eq!(as_expected, made.len(), "charts that follow t");
    let quantities = made[0].0.len();
    // χ² with 15 degrees of freedom by Wilson and Hilferty; one side of each test.
    let z = critical(2.0 * LEVEL / quantities as f64);
    let most = 15.0 * (1.0 - 2.0 / 135.0 + z * (2.0_f64 / 135.0).sqrt()).powi(3);
    let expected = replications as f64 / CELLS as f64;
    let of = |k: usize| {
        let mut counts = [0.0_f64; CELLS];
        made.iter().for_each(|(cells, _, _)| counts[cells[k]] += 1.0);
        counts.iter().map(|n| (n - expected).powi(2) / expected).sum::<f64>()
    };
    let all: Vec<f64> = (0..quantities).map(of).collect();
    println!("  χ² of 15: {all:.1?}, critical {most:.1}");
    let acceptance = made.iter().map(|(_, accepted, _)| accepted).sum::<f64>();
    [all.into_iter().fold(0.0, f64::max) / most, acceptance / replications as f64]
}

/// Checks the right posterior, and that these errors are found.
fn check(recipe: &Recipe, eta: f64, replications: u64, planted: &[Planted]) {
    let [off, acceptance] = calibration(recipe, eta, None, replications, true);
    println!("{recipe:?}: acceptance {acceptance:.3}, {off:.2} of the critical value");
    assert!(off < 1.0, "{recipe:?}: {off}");
    assert!((0.3..0.95).contains(&acceptance), "{acceptance}");
    for planted in planted {
        let [off, _] = calibration(recipe, eta, Some(*planted), replications / 4, true);
        println!("  {planted:?}: {off:.2}");
        assert!(off > 1.5, "{planted:?}: {off}");
    }
}

use Planted::{NoChangeOfVariables, NoDeterminant, PriorOfVariance};

#[test]
fn normal_responses_with_one_grouping() {
    let recipe = Recipe { response: Response::Normal, rows: 12, groups: &[(4, 1)], rate: 1.0 };
    check(&recipe, 0.7, 2000, &[NoDeterminant, NoChangeOfVariables, PriorOfVariance]);
}

#[test]
fn logistic_responses_with_one_grouping() {
    let recipe = Recipe { response: Response::Logistic, rows: 20, groups: &[(5, 1)], rate: 1.0 };
    check(&recipe, 0.7, 2000, &[NoDeterminant, NoChangeOfVariables, PriorOfVariance]);
}

#[test]
fn logistic_responses_with_crossed_groupings() {
    let groups = &[(4, 1), (3, 1)];
    let recipe = Recipe { response: Response::Logistic, rows: 20, groups, rate: 1.0 };
    check(&recipe, 0.7, 2000, &[NoDeterminant]);
}

#[test]
fn counts_with_crossed_groupings() {
    let groups = &[(4, 1), (3, 1)];
    let recipe = Recipe { response: Response::Poisson, rows: 16, groups, rate: 2.0 };
    check(&recipe, 0.7, 2000, &[NoDeterminant, NoChangeOfVariables]);
}

#[test]
fn normal_responses_with_correlated_slopes() {
    let recipe = Recipe { response: Response::Normal, rows: 20, groups: &[(4, 2)], rate: 1.0 };
    check(&recipe, 0.7, 2000, &[NoDeterminant, NoChangeOfVariables]);
}

#[test]
fn logistic_responses_with_correlated_slopes() {
    let recipe = Recipe { response: Response::Logistic, rows: 24, groups: &[(4, 2)], rate: 1.0 };
    check(&recipe, 0.7, 2000, &[NoDeterminant, PriorOfVariance]);
}

/// Crossed groupings of many levels, whose factor would be expensive: one serves all points.
#[test]
fn one_factor_for_many_crossed_levels() {
    let groups = &[(60, 1), (60, 1)];
    let recipe = Recipe { response: Response::Logistic, rows: 500, groups, rate: 1.0 };
    for (planted, replications) in
        [(None, 400), (Some(NoDeterminant), 100), (Some(NoChangeOfVariables), 200)]
    {
        let [off, acceptance] = calibration(&recipe, 0.4, planted, replications, false);
        println!("{planted:?}: acceptance {acceptance:.3}, {off:.2} of the critical value");
        match planted {
            None => assert!(off < 1.0 && (0.3..0.95).contains(&acceptance), "{off} {acceptance}"),
            Some(planted) => assert!(off > 1.5, "{planted:?}: {off}"),
        }
    }
}
