//! The law of one response given its linear predictor and the parameters of the model: log density,
//! mean, probabilities of levels and times, draws.

#[cfg(test)]
mod tests;

use std::f64::consts::{PI, SQRT_2};
use std::sync::Arc;

use libm::{erf, erfc};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1, Gamma, Poisson, StandardNormal, StandardUniform, StudentT};
use ridgewalk_frame::FamilyName;
use ridgewalk_potentials::families::{self, Family, Observation};
use ridgewalk_potentials::likelihoods::{self, Block, Likelihood};
use ridgewalk_potentials::{self as potentials, ParameterScale};
use statrs::function::erf::{erf_inv, erfc_inv};
use statrs::function::factorial::ln_binomial;
use statrs::function::gamma::ln_gamma;

use crate::auxiliary::{HUBER_DELTA, survival};
use crate::settings::Settings;

/// The law of responses of a model.
#[derive(Debug, Clone)]
pub struct Law {
    family: FamilyName,
    form: Form,
    /// The name of each parameter, and its value if it is fixed.
    parameters: Vec<(String, Option<f64>)>,
    levels: Vec<String>,
    delta: f64,
}

/// How log densities are computed.
#[derive(Debug, Clone)]
enum Form {
    /// In vector instructions; without the binomial coefficient.
    Family(Arc<dyn Family>),
    /// With parameters, constants included.
    Likelihood(Arc<dyn Likelihood>),
}

impl Law {
    /// The law of a model with these settings; `levels` are those of its response, if it has any.
    ///
    /// # Errors
    /// A number of levels or a threshold that no likelihood has.
    pub(crate) fn new(settings: &Settings, levels: &[String]) -> Result<Self, potentials::Error> {
        use FamilyName as F;
        let delta = settings.huber_delta.unwrap_or(HUBER_DELTA);
        let family = settings.family;
        let form = match family {
            F::Logistic => Form::Family(Arc::new(families::Logistic)),
            F::Probit => Form::Family(Arc::new(families::Probit)),
            F::Poisson => Form::Family(Arc::new(families::Poisson)),
            _ => Form::Likelihood(match family {
                F::NegativeBinomial => Arc::new(likelihoods::NegativeBinomial),
                F::StudentT => Arc::new(likelihoods::StudentT::new()),
                F::RobustLogistic => Arc::new(likelihoods::LogisticNoise),
                F::RobustHuber => Arc::new(likelihoods::HuberNoise::new(delta)?),
                F::Gamma => Arc::new(likelihoods::Gamma),
                F::Weibull | F::LogLogistic | F::LogNormal | F::Exponential => {
                    Arc::new(likelihoods::Survival::new(survival(family)))
                }
                F::Ordinal => Arc::new(likelihoods::Ordinal::new(levels.len())?),
                F::Multinomial => Arc::new(likelihoods::Multinomial::new(levels.len())?),
                _ => Arc::new(likelihoods::Normal),
            }),
        };
        let one = |name: &str, fixed: Option<f64>| vec![(name.to_owned(), fixed)];
        let parameters = match family {
            F::Gaussian | F::RobustLogistic | F::RobustHuber => one("sigma", settings.noise_scale),
            F::StudentT => [one("sigma", None), one("nu", settings.degrees_of_freedom)].concat(),
            F::NegativeBinomial => one("size", settings.dispersion),
            F::Gamma | F::Weibull | F::LogLogistic | F::LogNormal => one("shape", settings.shape),
            F::Exponential => one("shape", Some(1.0)),
            F::Ordinal => {
                levels.windows(2).map(|two| (format!("{}|{}", two[0], two[1]), None)).collect()
            }
            F::Logistic | F::Probit | F::Poisson | F::Multinomial => Vec::new(),
        };
        Ok(Self { family, form, parameters, levels: levels.to_vec(), delta })
    }

    /// The family.
    #[must_use]
    pub fn family(&self) -> FamilyName {
        self.family
    }

    /// The levels of an ordinal or multinomial response.
    #[must_use]
    pub fn levels(&self) -> &[String] {
        &self.levels
    }

    /// The number of linear predictors of a row.
    pub(crate) fn predictors(&self) -> usize {
        match self.family {
            FamilyName::Multinomial => self.levels.len() - 1,
            _ => 1,
        }
    }

    /// The names of the parameters, with the values of those that are fixed.
    pub(crate) fn parameters(&self) -> &[(String, Option<f64>)] {
        &self.parameters
    }

    /// The parameters as the likelihood has them.
    pub(crate) fn to_unconstrained(&self, natural: &mut [f64]) {
        let scale = match self.family {
            FamilyName::Ordinal => ParameterScale::Ordered,
            _ => ParameterScale::Positive,
        };
        scale.to_unconstrained(natural);
    }

    /// The log density of a response in many draws: `s` and `psi` have the linear predictors and
    /// the unconstrained parameters of one draw after another.
    pub(crate) fn log_densities(&self, s: &[f64], psi: &[f64], y: Observation, out: &mut [f64]) {
        match &self.form {
            Form::Family(family) => {
                family.values(s, &vec![y; s.len()], out);
                let constant = self.constant(y);
                out.iter_mut().for_each(|value| *value = constant - *value);
            }
            Form::Likelihood(likelihood) => {
                let (wide, many) = (self.predictors(), self.parameters.len());
                let (mut slopes, mut by) = (vec![0.0; wide], vec![0.0; many]);
                for (draw, value) in out.iter_mut().enumerate() {
                    let s = &s[draw * wide..(draw + 1) * wide];
                    let psi = &psi[draw * many..(draw + 1) * many];
                    let block = Block { s, y: &[y], weights: &[] };
                    *value = -likelihood.evaluate(psi, block, &mut slopes, &mut by);
                }
            }
        }
    }

    /// What a family leaves out of the log density.
    fn constant(&self, y: Observation) -> f64 {
        match self.family {
            // Its own has log y!.
            FamilyName::Poisson => 0.0,
            _ if y.trials == 1.0 => 0.0,
            // Trials are counts, and exact.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            _ => ln_binomial(y.trials as u64, y.response as u64),
        }
    }

    /// The expected response: a probability for 0/1 responses and for trials, a level's number has
    /// none (NaN).
    pub(crate) fn mean(&self, s: f64, natural: &[f64]) -> f64 {
        use FamilyName as F;
        match self.family {
            F::Logistic => sigmoid(s),
            F::Probit => normal_cdf(s),
            F::Poisson | F::NegativeBinomial | F::Gamma | F::Exponential => s.exp(),
            F::Gaussian | F::StudentT | F::RobustLogistic | F::RobustHuber => s,
            F::Weibull => (s + ln_gamma(1.0 + 1.0 / natural[0])).exp(),
            F::LogNormal => (s + 0.5 / (natural[0] * natural[0])).exp(),
            // The tail is that of 1/t^shape.
            F::LogLogistic if natural[0] <= 1.0 => f64::INFINITY,
            F::LogLogistic => s.exp() * (PI / natural[0]) / (PI / natural[0]).sin(),
            F::Ordinal | F::Multinomial => f64::NAN,
        }
    }

    /// The expected responses at many linear predictors, in vector instructions; false for families
    /// that do not have them.
    pub(crate) fn means(&self, s: &[f64], out: &mut [f64]) -> bool {
        match (&self.form, self.family) {
            // The slope of u is the mean less the response.
            (Form::Family(family), FamilyName::Logistic | FamilyName::Poisson) => {
                family.slopes(s, &vec![Observation::of(0.0); s.len()], out);
                true
            }
            _ => false,
        }
    }

    /// The probability of each level of an ordinal or multinomial response.
    pub(crate) fn probabilities(&self, s: &[f64], natural: &[f64], out: &mut [f64]) {
        match self.family {
            FamilyName::Ordinal => {
                let mut below = 0.0;
                for (k, out) in out.iter_mut().enumerate() {
                    let upto = natural.get(k).map_or(1.0, |threshold| sigmoid(threshold - s[0]));
                    // Differences of tail probabilities where those of heads would cancel.
                    *out = match natural.get(k) {
                        Some(_) if below > 0.5 => {
                            sigmoid(s[0] - natural[k - 1]) - sigmoid(s[0] - natural[k])
                        }
                        None if k > 0 => sigmoid(s[0] - natural[k - 1]),
                        _ => upto - below,
                    };
                    below = upto;
                }
            }
            _ => {
                let most = s.iter().copied().fold(0.0, f64::max);
                out[0] = (-most).exp();
                out[1..].iter_mut().zip(s).for_each(|(out, s)| *out = (s - most).exp());
                let sum: f64 = out.iter().sum();
                out.iter_mut().for_each(|out| *out /= sum);
            }
        }
    }

    /// The probability of one exponential tail of Huber's noise.
    fn huber_tail(&self) -> f64 {
        let tail = (-0.5 * self.delta * self.delta).exp() / self.delta;
        let middle = (2.0 * PI).sqrt() * erf(self.delta / SQRT_2);
        tail / (2.0 * tail + middle)
    }

    /// The probability that a time is beyond `t`.
    pub(crate) fn survival(&self, s: f64, natural: &[f64], t: f64) -> f64 {
        let z = natural[0] * (t.ln() - s);
        match self.family {
            FamilyName::LogLogistic => sigmoid(-z),
            FamilyName::LogNormal => normal_cdf(-z),
            _ => (-z.exp()).exp(),
        }
    }

    /// The time before which a share `p` of the events happen.
    pub(crate) fn time(&self, s: f64, natural: &[f64], p: f64) -> f64 {
        let z = match self.family {
            FamilyName::LogLogistic => p.ln() - (-p).ln_1p(),
            FamilyName::LogNormal => normal_quantile(p),
            _ => (-(-p).ln_1p()).ln(),
        };
        (s + z / natural[0]).exp()
    }

    /// A response drawn at random. Parameters that no law has give NaN.
    pub(crate) fn draw(
        &self, s: &[f64], natural: &[f64], trials: f64, rng: &mut ChaCha8Rng,
    ) -> f64 {
        use FamilyName as F;
        let uniform = |rng: &mut ChaCha8Rng| -> f64 { StandardUniform.sample(rng) };
        let normal = |rng: &mut ChaCha8Rng| -> f64 { StandardNormal.sample(rng) };
        match self.family {
            F::Logistic | F::Probit => binomial(self.mean(s[0], natural), trials, rng),
            F::Poisson => poisson(s[0].exp(), rng),
            F::NegativeBinomial => {
                let law = Gamma::new(natural[0], s[0].exp() / natural[0]);
                law.map_or(f64::NAN, |law| poisson(law.sample(rng), rng))
            }
            F::Gaussian => s[0] + natural[0] * normal(rng),
            F::StudentT => {
                let law = StudentT::new(natural[1]);
                law.map_or(f64::NAN, |law| s[0] + natural[0] * law.sample(rng))
            }
            F::RobustLogistic => {
                let u = uniform(rng);
                s[0] + natural[0] * (u.ln() - (-u).ln_1p())
            }
            F::RobustHuber => s[0] + natural[0] * self.huber_draw(uniform(rng), rng),
            F::Gamma => {
                let law = Gamma::new(natural[0], s[0].exp() / natural[0]);
                law.map_or(f64::NAN, |law| law.sample(rng))
            }
            F::Weibull | F::LogLogistic | F::LogNormal | F::Exponential => {
                self.time(s[0], natural, uniform(rng))
            }
            F::Ordinal | F::Multinomial => {
                let mut each = vec![0.0; self.levels.len()];
                self.probabilities(s, natural, &mut each);
                let mut left = uniform(rng);
                let found = each.iter().position(|p| {
                    left -= p;
                    left < 0.0
                });
                found.unwrap_or(each.len() - 1) as f64
            }
        }
    }

    /// Huber's noise: `u` decides whether it is in a tail.
    fn huber_draw(&self, u: f64, rng: &mut ChaCha8Rng) -> f64 {
        let tail = self.huber_tail();
        let beyond = |rng: &mut ChaCha8Rng| -> f64 {
            let e: f64 = Exp1.sample(rng);
            self.delta + e / self.delta
        };
        if u < tail {
            -beyond(rng)
        } else if u > 1.0 - tail {
            beyond(rng)
        } else {
            let share = 2.0 * (u - 0.5) / (1.0 - 2.0 * tail);
            SQRT_2 * erf_inv(share * erf(self.delta / SQRT_2))
        }
    }
}

fn sigmoid(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    if x < 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) }
}

fn normal_cdf(z: f64) -> f64 {
    0.5 * erfc(-z / SQRT_2)
}

/// The inverse of [`normal_cdf`].
pub(crate) fn normal_quantile(p: f64) -> f64 {
    -SQRT_2 * erfc_inv(2.0 * p)
}

/// Counts beyond what generators take are drawn by the normal limit.
const LARGE_COUNT: f64 = 1e12;

fn poisson(mean: f64, rng: &mut ChaCha8Rng) -> f64 {
    if mean == 0.0 {
        return 0.0;
    }
    if mean > LARGE_COUNT && mean.is_finite() {
        let z: f64 = StandardNormal.sample(rng);
        return (mean + z * mean.sqrt()).round();
    }
    Poisson::new(mean).map_or(f64::NAN, |law| law.sample(rng))
}

fn binomial(p: f64, trials: f64, rng: &mut ChaCha8Rng) -> f64 {
    if trials == 1.0 {
        let u: f64 = StandardUniform.sample(rng);
        return f64::from(u8::from(u < p));
    }
    // Trials are counts, and exact.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let law = rand_distr::Binomial::new(trials as u64, p);
    law.map_or(f64::NAN, |law| law.sample(rng) as f64)
}
