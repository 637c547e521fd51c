//! Parameters beside the coefficients: which a family has, what they are called, their default
//! priors, and the likelihood or, with all of them fixed, the family.

use std::sync::Arc;

use ridgewalk_frame::{FamilyName, Frame, Sizes};
use ridgewalk_potentials::families::{self, Family};
use ridgewalk_potentials::likelihoods::{self, Likelihood, SurvivalKind};
use ridgewalk_potentials::{Density, Error};

use crate::prior_text::{Kind, PriorText};
use crate::settings::Settings;

/// Default threshold of Huber's loss: 95 % efficient under normal noise (Huber 1981).
pub(crate) const HUBER_DELTA: f64 = 1.345;
/// The default prior of the degrees of freedom of Student's t (Juárez and Steel 2010).
const DEGREES: Density = Density::Gamma { shape: 2.0, rate: 0.1 };

/// The parameters of a model beside its coefficients, and its levels.
#[derive(Debug, Clone, PartialEq)]
pub struct Auxiliary {
    family: FamilyName,
    names: Vec<String>,
    /// The levels that have coefficients of their own; empty for one linear predictor.
    levels: Vec<String>,
}

impl Auxiliary {
    /// Those of a family, without the ones that the settings fix.
    #[must_use]
    pub fn new(settings: &Settings, frame: &Frame) -> Self {
        let family = settings.family;
        let one = |name: &str, fixed: Option<f64>| {
            fixed.is_none().then(|| name.to_owned()).into_iter().collect()
        };
        let names: Vec<String> = match family {
            FamilyName::Gaussian | FamilyName::RobustLogistic | FamilyName::RobustHuber => {
                one("sigma", settings.noise_scale)
            }
            FamilyName::StudentT => {
                let mut names = vec!["sigma".to_owned()];
                names.extend(one("nu", settings.degrees_of_freedom));
                names
            }
            FamilyName::NegativeBinomial => one("size", settings.dispersion),
            FamilyName::Gamma
            | FamilyName::Weibull
            | FamilyName::LogLogistic
            | FamilyName::LogNormal => one("shape", settings.shape),
            FamilyName::Ordinal => {
                frame.levels.windows(2).map(|pair| format!("{}|{}", pair[0], pair[1])).collect()
            }
            FamilyName::Logistic
            | FamilyName::Probit
            | FamilyName::Poisson
            | FamilyName::Exponential
            | FamilyName::Multinomial => Vec::new(),
        };
        let levels = match family {
            FamilyName::Multinomial => frame.levels.iter().skip(1).cloned().collect(),
            _ => Vec::new(),
        };
        Self { family, names, levels }
    }

    /// The family.
    pub(crate) fn response_family(&self) -> FamilyName {
        self.family
    }

    /// The levels of the response that have a linear predictor of their own; none for one linear
    /// predictor.
    pub(crate) fn levels(&self) -> &[String] {
        &self.levels
    }

    /// The names of the parameters.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of linear predictors.
    #[must_use]
    pub fn predictors(&self) -> usize {
        self.levels.len().max(1)
    }

    /// The names of all coefficients, from those of one linear predictor.
    #[must_use]
    pub fn coefficients(&self, names: &[String]) -> Vec<String> {
        if self.levels.is_empty() {
            return names.to_vec();
        }
        let of = |level: &String| -> Vec<String> {
            names.iter().map(|name| format!("{level}:{name}")).collect()
        };
        self.levels.iter().flat_map(of).collect()
    }

    /// The numbers that the parameters are.
    #[must_use]
    pub fn kind(&self) -> Kind {
        if self.family == FamilyName::Ordinal { Kind::Real } else { Kind::Positive }
    }

    /// The unit of the parameters: that of the response for a noise scale.
    pub(crate) fn unit(&self, family: FamilyName, sizes: &Sizes) -> f64 {
        if family.has_noise() { sizes.spread } else { 1.0 }
    }

    /// The priors of the parameters: the one asked for of the first, and defaults. Thresholds have
    /// the priors under which the probabilities of all levels together, at the means of the
    /// predictors, are uniformly distributed.
    pub(crate) fn priors(
        &self, asked: Option<PriorText>, family: FamilyName, sizes: &Sizes,
    ) -> Vec<Density> {
        let unit = self.unit(family, sizes);
        if family == FamilyName::Ordinal {
            let uniform = PriorText::of(Density::Logistic { mean: 0.0, scale: 1.0 });
            return vec![asked.unwrap_or(uniform).density(unit); self.names.len()];
        }
        let exponential = PriorText::of(Density::Exponential { rate: 1.0 }).scaled();
        let first = asked.unwrap_or(exponential).density(unit);
        self.names.iter().map(|name| if name == "nu" { DEGREES } else { first }).collect()
    }

    /// The family with all parameters known, if that makes a log-concave likelihood.
    pub(crate) fn family(&self, settings: &Settings) -> Result<Option<Arc<dyn Family>>, Error> {
        if !self.names.is_empty() {
            return Ok(None);
        }
        let scale = settings.noise_scale.unwrap_or(1.0);
        let delta = settings.huber_delta.unwrap_or(HUBER_DELTA);
        let shape = settings.shape.unwrap_or(1.0);
        Ok(Some(match settings.family {
            FamilyName::Logistic => Arc::new(families::Logistic),
            FamilyName::Probit => Arc::new(families::Probit),
            FamilyName::Poisson => Arc::new(families::Poisson),
            FamilyName::NegativeBinomial => {
                Arc::new(families::NegativeBinomial::new(settings.dispersion.unwrap_or(1.0))?)
            }
            FamilyName::Gaussian => Arc::new(families::Gaussian::new(scale)?),
            FamilyName::RobustLogistic => Arc::new(families::LogisticNoise::new(scale)?),
            FamilyName::RobustHuber => Arc::new(families::Huber::new(scale, delta)?),
            FamilyName::Gamma => Arc::new(families::Gamma::new(shape)?),
            FamilyName::Weibull
            | FamilyName::LogLogistic
            | FamilyName::LogNormal
            | FamilyName::Exponential => {
                Arc::new(families::Survival::new(survival(settings.family), shape)?)
            }
            FamilyName::StudentT | FamilyName::Ordinal | FamilyName::Multinomial => {
                return Ok(None);
            }
        }))
    }

    /// The likelihood with its parameters.
    pub(crate) fn likelihood(
        &self, settings: &Settings, frame: &Frame,
    ) -> Result<Arc<dyn Likelihood>, Error> {
        if let Some(family) = self.family(settings)? {
            return Ok(Arc::new(likelihoods::Plain(family)));
        }
        let delta = settings.huber_delta.unwrap_or(HUBER_DELTA);
        Ok(match settings.family {
            FamilyName::NegativeBinomial => Arc::new(likelihoods::NegativeBinomial),
            FamilyName::RobustLogistic => Arc::new(likelihoods::LogisticNoise),
            FamilyName::RobustHuber => Arc::new(likelihoods::HuberNoise::new(delta)?),
            FamilyName::StudentT => Arc::new(match settings.degrees_of_freedom {
                Some(degrees) => likelihoods::StudentT::with_degrees(degrees)?,
                None => likelihoods::StudentT::new(),
            }),
            FamilyName::Gamma => Arc::new(likelihoods::Gamma),
            FamilyName::Weibull | FamilyName::LogLogistic | FamilyName::LogNormal => {
                Arc::new(likelihoods::Survival::new(survival(settings.family)))
            }
            FamilyName::Ordinal => Arc::new(likelihoods::Ordinal::new(frame.levels.len())?),
            FamilyName::Multinomial => Arc::new(likelihoods::Multinomial::new(frame.levels.len())?),
            // The others have no parameters, or are fixed.
            _ => Arc::new(likelihoods::Normal),
        })
    }

    /// Where the search for the mode begins: coefficients of 0, an intercept that gives the mean
    /// response, noise as wide as the response.
    pub(crate) fn start(&self, frame: &Frame, sizes: &Sizes) -> Vec<f64> {
        let mut start = vec![0.0; frame.columns * self.predictors()];
        if let Some(first) = start.first_mut().filter(|_| frame.intercept) {
            *first = match self.family {
                FamilyName::NegativeBinomial | FamilyName::Gamma | FamilyName::Poisson => {
                    sizes.mean.max(1e-3).ln()
                }
                family if family.has_noise() || family.is_survival() => sizes.mean,
                _ => 0.0,
            };
        }
        let count = self.names.len();
        start.extend(self.names.iter().enumerate().map(|(k, name)| match &name[..] {
            "sigma" => sizes.spread.ln(),
            "nu" => 2.0,
            _ if self.family == FamilyName::Ordinal => {
                // Equal shares, by the logarithms of their gaps.
                let logit = |k: usize| {
                    let below = (k + 1) as f64 / (count + 1) as f64;
                    (below / (1.0 - below)).ln()
                };
                if k == 0 { logit(0) } else { (logit(k) - logit(k - 1)).ln() }
            }
            _ => 0.0,
        }));
        start
    }
}

pub(crate) fn survival(family: FamilyName) -> SurvivalKind {
    match family {
        FamilyName::LogLogistic => SurvivalKind::LogLogistic,
        FamilyName::LogNormal => SurvivalKind::LogNormal,
        _ => SurvivalKind::Weibull,
    }
}
