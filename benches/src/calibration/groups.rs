//! Calibration of mixed models: standard deviations and correlations of groups are drawn from their
//! priors, effects given these, responses given the effects, and all are ranked. Responses come from
//! random generators of other crates or from independent formulas; only the posterior for the
//! sampler comes from the crates under test.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1, Poisson as PoissonLaw, StandardNormal, StandardUniform};
use ridgewalk::potentials::families::{Logistic, Poisson};
use ridgewalk::potentials::likelihoods::{Likelihood, Plain};
use ridgewalk::potentials::{
    Dense, Density, GroupTerm, Joint, LineIntegral, Mixed, Scratch, Sparse,
};

use super::mistakes::Planted;
use super::mixed;
use super::sampler::{Automatic, Sampler};
use super::study::{StudyModel, StudySize};
use crate::Failure;

/// A mixed model. The intercept and a slope have normal(0, 1) priors, standard deviations
/// exponential ones, and correlations are uniform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupModel {
    /// 0 or 1, with one grouping of 8 levels.
    Logistic,
    /// 0 or 1, with crossed groupings of 8 and 6 levels.
    LogisticCrossed,
    /// 0 or 1, with correlated intercepts and slopes of 8 levels.
    LogisticSlopes,
    /// Counts, with one grouping of 8 levels.
    Poisson,
    /// Counts, with crossed groupings of 8 and 6 levels.
    PoissonCrossed,
}

/// An error planted in the posterior that the sampler gets, or in the sampler.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GroupMisfit {
    /// The change of variables from a standard deviation to its logarithm is made twice: the prior
    /// exponential(r) then is gamma(2, r).
    JacobianTwice,
    /// The rate of the prior of standard deviations is off by this factor.
    Rate(f64),
    /// Trajectories are accepted by a potential that is off by this factor.
    Acceptance(f64),
}

/// Truth and data.
struct Simulated {
    /// Coefficients, then parameters of the groups on the real line.
    truth: Vec<f64>,
    design: Vec<f64>,
    responses: Vec<f64>,
}

impl GroupModel {
    fn counts(self) -> bool {
        matches!(self, Self::Poisson | Self::PoissonCrossed)
    }

    /// Levels and coefficients of the groupings.
    fn groupings(self) -> &'static [(usize, usize)] {
        match self {
            Self::Logistic | Self::Poisson => &[(8, 1)],
            Self::LogisticCrossed | Self::PoissonCrossed => &[(8, 1), (6, 1)],
            Self::LogisticSlopes => &[(8, 2)],
        }
    }

    /// The rate of the priors of standard deviations: counts stay below a few thousand.
    fn rate(self) -> f64 {
        if self.counts() { 2.0 } else { 1.0 }
    }

    fn terms(self, misfit: Option<GroupMisfit>) -> Vec<GroupTerm> {
        let rate = self.rate();
        let prior = match misfit {
            Some(GroupMisfit::JacobianTwice) => Density::Gamma { shape: 2.0, rate },
            Some(GroupMisfit::Rate(factor)) => Density::Exponential { rate: factor * rate },
            _ => Density::Exponential { rate },
        };
        let mut first = 2;
        let term = |&(levels, width): &(usize, usize)| {
            let term =
                GroupTerm { first, levels, width, sds: vec![prior; width], concentration: 1.0 };
            first += term.effects();
            term
        };
        self.groupings().iter().map(term).collect()
    }

    /// The posterior of the data, possibly with an error in it.
    fn posterior(
        self, data: &Simulated, misfit: Option<GroupMisfit>,
    ) -> Result<Arc<Mixed>, Failure> {
        let rows = data.responses.len();
        let columns = data.design.len() / rows;
        let likelihood: Arc<dyn Likelihood> =
            if self.counts() { Arc::new(Plain(Poisson)) } else { Arc::new(Plain(Logistic)) };
        let mut priors = vec![Density::Normal { mean: 0.0, scale: 1.0 }; 2];
        priors.resize(columns, Density::Flat);
        let design = Sparse::from_dense(&Dense::new(rows, columns, data.design.clone())?);
        let joint = Joint::new(design, likelihood, &data.responses)?.with_priors(priors)?;
        Ok(Arc::new(Mixed::new(joint, self.terms(misfit), &vec![0.0; columns])?))
    }

    /// Draws truth and data.
    fn simulate(self, rows: usize, seed: u64) -> Result<Simulated, Failure> {
        let mut source = ChaCha8Rng::seed_from_u64(seed);
        let (mut beta, mut phi) = (vec![normal(&mut source), normal(&mut source)], Vec::new());
        for &(levels, width) in self.groupings() {
            let sds =
                [(); 2].map(|()| -> f64 { Exp1.sample(&mut source) }).map(|e| e / self.rate());
            let r = 2.0 * uniform(&mut source) - 1.0;
            for _ in 0..levels {
                let [a, b] = [normal(&mut source), normal(&mut source)];
                let effects = [sds[0] * a, sds[1] * (r * a + (1.0 - r * r).sqrt() * b)];
                beta.extend_from_slice(&effects[..width]);
            }
            phi.extend(sds[..width].iter().map(|sd| sd.ln()));
            phi.extend((width == 2).then(|| r.atanh()));
        }
        let columns = beta.len();
        let (mut design, mut responses) = (vec![0.0; rows * columns], Vec::new());
        for row in design.chunks_exact_mut(columns) {
            let x = normal(&mut source);
            row[..2].copy_from_slice(&[1.0, x]);
            let mut first = 2;
            for &(levels, width) in self.groupings() {
                let shares = (1..levels).map(|k| k as f64 / levels as f64);
                let u = uniform(&mut source);
                let at = first + width * shares.filter(|share| u >= *share).count();
                row[at..at + width].copy_from_slice(&[1.0, x][..width]);
                first += levels * width;
            }
            let s: f64 = row.iter().zip(&beta).map(|(a, b)| a * b).sum();
            responses.push(if self.counts() {
                PoissonLaw::new(s.exp())?.sample(&mut source)
            } else {
                f64::from(u8::from(uniform(&mut source) < 1.0 / (1.0 + (-s).exp())))
            });
        }
        let truth = [beta, phi].concat();
        Ok(Simulated { truth, design, responses })
    }

    /// The values of [`GroupModel::quantities`] at a point of coefficients and parameters.
    fn values(self, model: &Mixed, point: &[f64]) -> Result<Vec<f64>, Failure> {
        let (mut density, mut gradient) = ([0.0], vec![0.0; point.len()]);
        model.values_and_gradients(point, &mut density, &mut gradient, &mut Scratch::default())?;
        let mut values = point[..2].to_vec();
        values.extend(model.terms().iter().map(|term| point[term.first]));
        values.extend_from_slice(&point[model.head()..]);
        let (x, inner) = (&point[..model.head()], model.joint().dimension());
        let mut joint = [0.0];
        let gradient = &mut gradient[..inner];
        model.joint().values_and_gradients(x, &mut joint, gradient, &mut Scratch::default())?;
        // Without the priors of the coefficients.
        values.push(-joint[0] + 0.5 * (point[0] * point[0] + point[1] * point[1]));
        values.push(-density[0]);
        Ok(values)
    }
}

fn normal(source: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(source)
}

fn uniform(source: &mut ChaCha8Rng) -> f64 {
    StandardUniform.sample(source)
}

impl StudyModel for GroupModel {
    type Misfit = GroupMisfit;

    const ALL: &'static [Self] = &[
        Self::Logistic,
        Self::LogisticCrossed,
        Self::LogisticSlopes,
        Self::Poisson,
        Self::PoissonCrossed,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Logistic => "logistic",
            Self::LogisticCrossed => "logistic-crossed",
            Self::LogisticSlopes => "logistic-slopes",
            Self::Poisson => "poisson",
            Self::PoissonCrossed => "poisson-crossed",
        }
    }

    fn quantities(self) -> Vec<&'static str> {
        let groups: &[&str] = match self {
            Self::Logistic | Self::Poisson => &["first effect", "sd"],
            Self::LogisticCrossed | Self::PoissonCrossed => {
                &["first effect", "first effect of the second grouping", "sd", "second sd"]
            }
            Self::LogisticSlopes => &["first effect", "sd", "sd of slopes", "correlation"],
        };
        [&["intercept", "slope"], groups, &["likelihood", "posterior density"]].concat()
    }

    fn replicate(
        self, misfit: Option<GroupMisfit>, size: StudySize, seed: u64, number: u64,
    ) -> Result<Vec<usize>, Failure> {
        let mistake = match misfit {
            Some(GroupMisfit::Acceptance(factor)) => Some(Planted::Acceptance(factor)),
            _ => None,
        };
        let sampler = Automatic { mistake, ..Automatic::new(0.0) };
        let seed = mixed(seed ^ mixed(number ^ mixed(2000 + self as u64)));
        let data = self.simulate(size.rows, seed)?;
        let posterior = self.posterior(&data, misfit)?;
        let d = posterior.dimension();
        let mut draws = sampler.draw(&posterior, size.draws, mixed(seed))?.points;
        if draws.len() < d * size.draws {
            return Err("too few draws".into());
        }
        draws.truncate(d * size.draws);
        // Ranks are those under the model that generated the data.
        let right = self.posterior(&data, None)?;
        let truth = self.values(&right, &data.truth)?;
        let mut ranks = vec![0; truth.len()];
        for point in draws.chunks_exact_mut(d) {
            posterior.to_plain(point)?;
            let found = self.values(&right, point)?;
            let each = ranks.iter_mut().zip(found).zip(&truth);
            each.for_each(|((rank, x), y)| *rank += usize::from(x < *y));
        }
        Ok(ranks)
    }
}
