//! Calibration of likelihoods with parameters of their own: noise scales, degrees of freedom,
//! sizes, shapes and thresholds are drawn from their priors along with the coefficients, and ranked
//! with them. Responses come from random generators of other crates or from independent formulas;
//! only the posterior for the sampler comes from the crates under test.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{
    Distribution, Exp1, Gamma as GammaLaw, Open01, Poisson as PoissonLaw, StandardNormal,
    StandardUniform, StudentT as StudentLaw, Weibull as WeibullLaw,
};
use ridgewalk::potentials::families::{Observation, Poisson};
use ridgewalk::potentials::likelihoods::{
    Gamma, HuberNoise, Likelihood, LogisticNoise, Multinomial, NegativeBinomial, Normal, Ordinal,
    Plain, StudentT, Survival, SurvivalKind,
};
use ridgewalk::potentials::{
    Dense, Density, Joint, LineIntegral, Mode, Scratch, WhitenedJoint, Whitening,
};
use ridgewalk::sampler::Error;
use ridgewalk::sampler::automatic::Target;

use super::mixed;
use super::models::{DELTA, huber_noise};
use super::sampler::{Automatic, Sampler};
use super::study::{StudyModel, StudySize};
use crate::Failure;

/// Levels of ordinal and of multinomial responses.
const ORDERED: usize = 4;
const UNORDERED: usize = 3;
/// Shape and rate of the prior of scales, sizes and shapes, whose mean is 1.
const SCALE_PRIOR: [f64; 2] = [4.0, 4.0];
/// The same for degrees of freedom.
const DEGREES_PRIOR: [f64; 2] = [4.0, 1.0];
/// Degrees of freedom of the prior of Poisson coefficients.
const POISSON_DEGREES: f64 = 4.0;
/// Inspections of interval-censored times: how many, and the logarithm of the ratio of two.
const INSPECTIONS: u32 = 6;
const APART: f64 = 0.7;
/// The share of the times that are known exactly among those.
const EXACT: f64 = 0.3;

/// A likelihood with the priors of its parameters and a way to simulate data. Coefficients have
/// normal(0, 1) priors, except those of [`FamilyModel::Poisson`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FamilyModel {
    /// Normal noise.
    Normal,
    /// The same with 8 rows, where the prior of the noise scale matters.
    NormalFewRows,
    /// Student's t noise of unknown degrees of freedom.
    StudentT,
    /// Logistic noise.
    LogisticNoise,
    /// Noise of density e^−h with Huber's h.
    HuberNoise,
    /// Negative binomial counts.
    NegativeBinomial,
    /// Gamma responses.
    Gamma,
    /// Weibull times, right-censored at random.
    Weibull,
    /// Log-logistic times, most of them known only to lie between two inspections, before the first
    /// or after the last.
    LogLogistic,
    /// Log-normal times, right-censored at random.
    LogNormal,
    /// Proportional odds with four levels; thresholds with logistic(0, 1) priors, so that the
    /// shares of the levels at s = 0 are uniform on the simplex.
    Ordinal,
    /// Multinomial logit with three levels.
    Multinomial,
    /// Poisson counts; the coefficients have student_t(4, 0, 1) priors.
    Poisson,
}

/// An error planted in the posterior that the sampler gets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Misfit {
    /// The change of variables of one parameter is left out. The logarithm of x then has the
    /// density of x itself, as it would with a gamma prior whose shape is less by 1.
    Jacobian(usize),
    /// The rate of the prior of every parameter is off by this factor.
    Rate(f64),
    /// Censored times count as events, at the end that is known, or the upper of two.
    CensoredAsEvents,
}

/// Truth and data.
struct Simulated {
    /// Coefficients, and parameters on the real line.
    truth: Vec<f64>,
    design: Vec<f64>,
    observations: Vec<Observation>,
}

impl FamilyModel {
    fn rows(self, usual: usize) -> usize {
        if self == Self::NormalFewRows { 8 } else { usual }
    }

    /// Columns of the design. An ordinal model has no intercept.
    fn columns(self) -> usize {
        if self == Self::Ordinal { 2 } else { 3 }
    }

    fn likelihood(self) -> Result<Arc<dyn Likelihood>, Failure> {
        Ok(match self {
            Self::Normal | Self::NormalFewRows => Arc::new(Normal),
            Self::StudentT => Arc::new(StudentT::new()),
            Self::LogisticNoise => Arc::new(LogisticNoise),
            Self::HuberNoise => Arc::new(HuberNoise::new(DELTA)?),
            Self::NegativeBinomial => Arc::new(NegativeBinomial),
            Self::Gamma => Arc::new(Gamma),
            Self::Weibull => Arc::new(Survival::new(SurvivalKind::Weibull)),
            Self::LogLogistic => Arc::new(Survival::new(SurvivalKind::LogLogistic)),
            Self::LogNormal => Arc::new(Survival::new(SurvivalKind::LogNormal)),
            Self::Ordinal => Arc::new(Ordinal::new(ORDERED)?),
            Self::Multinomial => Arc::new(Multinomial::new(UNORDERED)?),
            Self::Poisson => Arc::new(Plain(Poisson)),
        })
    }

    /// Shape and rate of the gamma priors of positive parameters.
    fn gamma_priors(self) -> &'static [[f64; 2]] {
        match self {
            Self::StudentT => &[SCALE_PRIOR, DEGREES_PRIOR],
            Self::Ordinal | Self::Multinomial | Self::Poisson => &[],
            _ => &[SCALE_PRIOR],
        }
    }

    /// The posterior of the data, possibly with an error in it.
    fn posterior(self, data: &Simulated, misfit: Option<Misfit>) -> Result<Posterior, Failure> {
        let mut observations = data.observations.clone();
        if misfit == Some(Misfit::CensoredAsEvents) {
            for y in &mut observations {
                let time = if y.trials.is_finite() { y.trials } else { y.response };
                *y = Observation::between(time, time);
            }
        }
        let gamma = |(k, [shape, rate]): (usize, &[f64; 2])| match misfit {
            Some(Misfit::Jacobian(of)) if of == k => {
                Density::Gamma { shape: shape - 1.0, rate: *rate }
            }
            Some(Misfit::Rate(factor)) => Density::Gamma { shape: *shape, rate: factor * rate },
            _ => Density::Gamma { shape: *shape, rate: *rate },
        };
        let parameter_priors = if self == Self::Ordinal {
            vec![Density::Logistic { mean: 0.0, scale: 1.0 }; ORDERED - 1]
        } else {
            self.gamma_priors().iter().enumerate().map(gamma).collect()
        };
        let prior = if self == Self::Poisson {
            Density::StudentT { degrees: POISSON_DEGREES, mean: 0.0, scale: 1.0 }
        } else {
            Density::Normal { mean: 0.0, scale: 1.0 }
        };
        let start = self.start(&observations);
        let design = Dense::new(observations.len(), self.columns(), data.design.clone())?;
        let joint = Joint::of_observations(design, self.likelihood()?, observations)?;
        let priors = vec![prior; joint.coefficients()];
        let joint = joint.with_priors(priors)?.with_parameter_priors(parameter_priors)?;
        Ok(Posterior { joint: Arc::new(joint), start })
    }

    /// Where the search for the mode begins: as the program does, from mean and spread.
    fn start(self, observations: &[Observation]) -> Vec<f64> {
        let survival = matches!(self, Self::Weibull | Self::LogLogistic | Self::LogNormal);
        let value = |y: &Observation| match self {
            // The end of the interval that is known.
            _ if survival && y.response > 0.0 => y.response.ln(),
            _ if survival => y.trials.ln(),
            _ => y.response,
        };
        let n = observations.len() as f64;
        let mean = observations.iter().map(value).sum::<f64>() / n;
        let square = observations.iter().map(|y| (value(y) - mean).powi(2)).sum::<f64>() / n;
        let log_spread = 0.5 * square.ln();
        let log_mean = mean.max(1e-3).ln();
        match self {
            Self::Normal | Self::NormalFewRows | Self::LogisticNoise | Self::HuberNoise => {
                vec![mean, 0.0, 0.0, log_spread]
            }
            Self::StudentT => vec![mean, 0.0, 0.0, log_spread, 2.0],
            Self::NegativeBinomial | Self::Gamma => vec![log_mean, 0.0, 0.0, 0.0],
            Self::Weibull | Self::LogLogistic | Self::LogNormal => vec![mean, 0.0, 0.0, 0.0],
            Self::Ordinal => vec![0.0, 0.0, -1.1, 0.1, 0.1],
            Self::Multinomial => vec![0.0; 6],
            Self::Poisson => vec![log_mean, 0.0, 0.0],
        }
    }

    /// Draws truth and data.
    fn simulate(self, usual_rows: usize, seed: u64) -> Result<Simulated, Failure> {
        let mut source = ChaCha8Rng::seed_from_u64(seed);
        let (rows, columns) = (self.rows(usual_rows), self.columns());
        let predictors = if self == Self::Multinomial { UNORDERED - 1 } else { 1 };
        let mut beta = Vec::new();
        for _ in 0..predictors * columns {
            beta.push(if self == Self::Poisson {
                StudentLaw::new(POISSON_DEGREES)?.sample(&mut source)
            } else {
                normal(&mut source)
            });
        }
        let mut parameters = Vec::new();
        for [shape, rate] in self.gamma_priors() {
            parameters.push(GammaLaw::new(*shape, 1.0 / rate)?.sample(&mut source));
        }
        if self == Self::Ordinal {
            parameters = (1..ORDERED).map(|_| logistic(&mut source)).collect();
            parameters.sort_by(f64::total_cmp);
        }
        let (mut design, mut observations) = (Vec::new(), Vec::new());
        for _ in 0..rows {
            let mut row = [1.0, normal(&mut source), normal(&mut source)];
            if self == Self::Poisson {
                // Bounded: with the heavy tails of the prior, counts would be absurd otherwise.
                row[1..].fill_with(|| 2.0 * uniform(&mut source) - 1.0);
            }
            let row = &row[3 - columns..];
            let predictor = |beta: &[f64]| row.iter().zip(beta).map(|(a, x)| a * x).sum::<f64>();
            let s: Vec<f64> = beta.chunks(columns).map(predictor).collect();
            observations.push(self.observation(&s, &parameters, &mut source)?);
            design.extend_from_slice(row);
        }
        let mut truth = beta;
        if self == Self::Ordinal {
            truth.push(parameters[0]);
            truth.extend(parameters.windows(2).map(|pair| (pair[1] - pair[0]).ln()));
        } else {
            truth.extend(parameters.iter().map(|x| x.ln()));
        }
        Ok(Simulated { truth, design, observations })
    }

    /// The response of a row, given its predictors and the parameters as users read them.
    fn observation(
        self, predictors: &[f64], parameters: &[f64], source: &mut ChaCha8Rng,
    ) -> Result<Observation, Failure> {
        let s = predictors[0];
        let of = Observation::of;
        Ok(match self {
            Self::Normal | Self::NormalFewRows => of(s + parameters[0] * normal(source)),
            Self::StudentT => {
                of(s + parameters[0] * StudentLaw::new(parameters[1])?.sample(source))
            }
            Self::LogisticNoise => of(s + parameters[0] * logistic(source)),
            Self::HuberNoise => of(s + parameters[0] * huber_noise(uniform(source), source)),
            Self::NegativeBinomial => {
                // A Poisson count whose mean is itself gamma distributed.
                let size = parameters[0];
                let mean = GammaLaw::new(size, s.exp() / size)?.sample(source);
                of(if mean > 0.0 { PoissonLaw::new(mean)?.sample(source) } else { 0.0 })
            }
            Self::Gamma => {
                of(GammaLaw::new(parameters[0], s.exp() / parameters[0])?.sample(source))
            }
            Self::Weibull => {
                right_censored(WeibullLaw::new(s.exp(), parameters[0])?.sample(source), source)
            }
            Self::LogLogistic => inspected((s + logistic(source) / parameters[0]).exp(), source),
            Self::LogNormal => right_censored((s + normal(source) / parameters[0]).exp(), source),
            Self::Ordinal => {
                let latent = s + logistic(source);
                of(parameters.iter().filter(|threshold| latent > **threshold).count() as f64)
            }
            Self::Multinomial => {
                // The largest of the predictors with Gumbel noise.
                let (mut level, mut largest) = (0.0, gumbel(source));
                for (k, s) in predictors.iter().enumerate() {
                    let utility = s + gumbel(source);
                    if utility > largest {
                        (level, largest) = ((k + 1) as f64, utility);
                    }
                }
                of(level)
            }
            Self::Poisson => of(PoissonLaw::new(s.exp())?.sample(source)),
        })
    }

    /// The values of [`FamilyModel::quantities`] at points stored one after another.
    fn values(self, joint: &Joint<'_>, points: &[f64]) -> Result<Vec<Vec<f64>>, Failure> {
        let d = joint.dimension();
        let mut densities = vec![0.0; points.len() / d];
        let gradients = &mut vec![0.0; points.len()];
        joint.values_and_gradients(points, &mut densities, gradients, &mut Scratch::default())?;
        let value = |(point, density): (&[f64], f64)| {
            let mut values = point.to_vec();
            if self == Self::Ordinal {
                // Thresholds from the first and the logarithms of the gaps.
                for k in d - ORDERED + 2..d {
                    values[k] = values[k - 1] + point[k].exp();
                }
            }
            values.push(-density);
            values
        };
        Ok(points.chunks_exact(d).zip(densities).map(value).collect())
    }
}

fn normal(source: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(source)
}

fn uniform(source: &mut ChaCha8Rng) -> f64 {
    StandardUniform.sample(source)
}

fn logistic(source: &mut ChaCha8Rng) -> f64 {
    let u: f64 = Open01.sample(source);
    (u / (1.0 - u)).ln()
}

fn gumbel(source: &mut ChaCha8Rng) -> f64 {
    let e: f64 = Exp1.sample(source);
    -e.ln()
}

/// A time, or that it is above a log-normal one that does not depend on it.
fn right_censored(time: f64, source: &mut ChaCha8Rng) -> Observation {
    let end = (0.5 + normal(source)).exp();
    if time <= end {
        Observation::between(time, time)
    } else {
        Observation::between(end, f64::INFINITY)
    }
}

/// A time that is known exactly, or by inspections at random times.
fn inspected(time: f64, source: &mut ChaCha8Rng) -> Observation {
    let (exact, phase) = (uniform(source) < EXACT, uniform(source));
    if exact {
        return Observation::between(time, time);
    }
    let at = |k: u32| (APART * (f64::from(k) + phase - 0.5 * f64::from(INSPECTIONS))).exp();
    match (0..INSPECTIONS).find(|&k| time <= at(k)) {
        Some(0) => Observation::between(0.0, at(0)),
        Some(k) => Observation::between(at(k - 1), at(k)),
        None => Observation::between(at(INSPECTIONS - 1), f64::INFINITY),
    }
}

/// A joint posterior as the target of a warm-up, the way the program makes it one.
struct Posterior {
    joint: Arc<Joint<'static>>,
    start: Vec<f64>,
}

impl Posterior {
    /// The cost of a Hessian, in gradients.
    fn hessian_cost(&self) -> u64 {
        (self.joint.dimension() as u64).div_ceil(4).max(1)
    }
}

impl Target for Posterior {
    type White = WhitenedJoint;

    fn dimension(&self) -> usize {
        self.joint.dimension()
    }

    fn mode(&self) -> Result<(Mode, u64), Error> {
        let mode = self.joint.mode(&self.start)?;
        let spent = mode.gradients + mode.iterations as u64 * self.hessian_cost();
        Ok((mode, spent))
    }

    fn hessian(&self, point: &[f64]) -> Result<(Vec<f64>, u64), Error> {
        Ok((self.joint.hessian(point)?, self.hessian_cost()))
    }

    fn affordable_hessians(&self, most: usize) -> usize {
        most
    }

    fn log_concave(&self) -> bool {
        self.joint.log_concave()
    }

    fn whitened(&self, whitening: &Whitening) -> Result<WhitenedJoint, Error> {
        Ok(WhitenedJoint::new(self.joint.clone(), whitening.clone())?)
    }
}

impl StudyModel for FamilyModel {
    type Misfit = Misfit;

    const ALL: &'static [Self] = &[
        Self::Normal,
        Self::NormalFewRows,
        Self::StudentT,
        Self::LogisticNoise,
        Self::HuberNoise,
        Self::NegativeBinomial,
        Self::Gamma,
        Self::Weibull,
        Self::LogLogistic,
        Self::LogNormal,
        Self::Ordinal,
        Self::Multinomial,
        Self::Poisson,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::NormalFewRows => "normal-8-rows",
            Self::StudentT => "student-t",
            Self::LogisticNoise => "logistic-noise",
            Self::HuberNoise => "huber-noise",
            Self::NegativeBinomial => "negative-binomial",
            Self::Gamma => "gamma",
            Self::Weibull => "weibull-right-censored",
            Self::LogLogistic => "log-logistic-interval-censored",
            Self::LogNormal => "log-normal-right-censored",
            Self::Ordinal => "ordinal-4-levels",
            Self::Multinomial => "multinomial-3-levels",
            Self::Poisson => "poisson-student-t-priors",
        }
    }

    fn quantities(self) -> Vec<&'static str> {
        let coefficients: &[&str] = match self {
            Self::Ordinal => &["first slope", "second slope"],
            Self::Multinomial => &[
                "intercept of level 1",
                "first slope of level 1",
                "second slope of level 1",
                "intercept of level 2",
                "first slope of level 2",
                "second slope of level 2",
            ],
            _ => &["intercept", "first slope", "second slope"],
        };
        let parameters: &[&str] = match self {
            Self::Normal | Self::NormalFewRows | Self::LogisticNoise | Self::HuberNoise => {
                &["sigma"]
            }
            Self::StudentT => &["sigma", "nu"],
            Self::NegativeBinomial => &["size"],
            Self::Gamma | Self::Weibull | Self::LogLogistic | Self::LogNormal => &["shape"],
            Self::Ordinal => &["first threshold", "second threshold", "third threshold"],
            Self::Multinomial | Self::Poisson => &[],
        };
        [coefficients, parameters, &["posterior density"]].concat()
    }

    fn replicate(
        self, misfit: Option<Misfit>, size: StudySize, seed: u64, number: u64,
    ) -> Result<Vec<usize>, Failure> {
        let seed = mixed(seed ^ mixed(number ^ mixed(1000 + self as u64)));
        let data = self.simulate(size.rows, seed)?;
        let posterior = self.posterior(&data, misfit)?;
        let draws = Automatic::new(0.0).draw(&posterior, size.draws, mixed(seed))?;
        // Ranks are those under the model that generated the data.
        let right = self.posterior(&data, None)?.joint;
        let truth = &self.values(&right, &data.truth)?[0];
        let found = self.values(&right, &draws.points)?;
        let found = found.get(..size.draws).ok_or("too few draws")?;
        let rank = |k: usize| found.iter().filter(|values| values[k] < truth[k]).count();
        Ok((0..truth.len()).map(rank).collect())
    }
}
