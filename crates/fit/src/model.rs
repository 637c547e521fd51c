//! The model stage: from a frame and priors to a posterior that can be sampled.

use std::sync::Arc;

use ridgewalk_frame::{FamilyName, Frame};
use ridgewalk_potentials::families::{
    Family, Gaussian, Huber, Logistic, LogisticNoise, Poisson, Probit,
};
use ridgewalk_potentials::{
    self as potentials, Chebyshev, Curvature, Dense, Gradient, GradientError, LineIntegral, Mode,
    ModeSearch, Prior, Ridge, Rows, Scratch, Whitening,
};
use ridgewalk_sampler as sampler;
use ridgewalk_sampler::automatic::{Target, ridge_mode};

use crate::error::Error;
use crate::noise::noise_scale;
use crate::priors::CoefficientPriors;
use crate::scale::Rescaling;
use crate::settings::{Settings, has_noise_scale};
use crate::words::Words;

/// Default threshold of Huber's loss: 95 % efficient under normal noise (Huber 1981).
const HUBER_DELTA: f64 = 1.345;
/// Up to this many entries of the design, data are checked for separation, for a note.
const SEPARATION_ENTRIES: usize = 2_000_000;

/// The posterior of any family.
pub type Posterior = Ridge<'static, Arc<dyn Family>>;

/// A posterior with the names of its columns and the places of its rows.
#[derive(Debug)]
pub struct Model {
    frame: Frame,
    priors: CoefficientPriors,
    noise_scale: Option<f64>,
    family: FamilyName,
    nodes: Option<usize>,
    search: ModeSearch,
    rescaling: Option<Rescaling>,
    posterior: Posterior,
}

impl Model {
    /// The model for these settings. The frame's design moves into it. `rows` says which processes
    /// hold the rows: [`Rows::default`] if this process holds all.
    ///
    /// # Errors
    /// A noise scale that cannot be estimated, or data that are invalid for the family.
    pub fn new(
        settings: &Settings, mut frame: Frame, priors: CoefficientPriors, rows: &Rows,
    ) -> Result<Self, Error> {
        let words = Words::new(&frame);
        let of = |error: potentials::Error| words.potential(error);
        let prior = Prior::normal(&priors.means, &priors.scales).map_err(of)?;
        let delta = settings.huber_delta.unwrap_or(HUBER_DELTA);
        let build = Build { frame: &frame, prior: &prior, rows };
        let mut notes = Vec::new();
        let noise_scale = match settings.noise_scale {
            _ if !has_noise_scale(settings.family) => None,
            Some(scale) => Some(scale),
            None => {
                let scale = noise_scale(&build, settings.family, delta)?;
                notes.push(format!(
                    "the noise scale {scale:.6} is estimated from residuals and then treated as known; --noise-scale S overrides it"
                ));
                Some(scale)
            }
        };
        let family = family(settings.family, noise_scale.unwrap_or(1.0), delta).map_err(of)?;
        let rescaling = Rescaling::for_frame(&frame).filter(|_| settings.original_scale);
        let design = std::mem::take(&mut frame.design);
        let design = Dense::new(frame.rows, frame.columns, design);
        let posterior = design.and_then(|design| posterior(design, &frame, family, prior));
        let posterior = posterior.map_err(|error| Words::new(&frame).potential(error))?;
        // The frame is valid, so no process has ended before this point.
        let posterior = posterior.with_rows(rows);
        frame.notes.extend(notes);
        let (family, nodes) = (settings.family, settings.nodes);
        let search = settings.mode_search.search();
        Ok(Self { frame, priors, noise_scale, family, nodes, search, rescaling, posterior })
    }

    /// The names, rows and notes of the data. Its design has moved into the posterior.
    #[must_use]
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The priors of the coefficients.
    #[must_use]
    pub fn priors(&self) -> &CoefficientPriors {
        &self.priors
    }

    /// The family.
    #[must_use]
    pub fn family(&self) -> FamilyName {
        self.family
    }

    /// The noise scale, given or estimated, for families that have one.
    #[must_use]
    pub fn noise_scale(&self) -> Option<f64> {
        self.noise_scale
    }

    /// The posterior.
    #[must_use]
    pub fn posterior(&self) -> &Posterior {
        &self.posterior
    }

    /// The map from sampled to reported coefficients, if they differ.
    #[must_use]
    pub fn rescaling(&self) -> Option<&Rescaling> {
        self.rescaling.as_ref()
    }

    /// U at points stored one after another.
    ///
    /// # Errors
    /// Lists of the wrong length.
    pub fn values(&self, points: &[f64], values: &mut [f64]) -> Result<(), potentials::Error> {
        let mut gradients = vec![0.0; points.len()];
        let scratch = &mut Scratch::default();
        self.posterior.values_and_gradients(points, values, &mut gradients, scratch)
    }

    /// Bounds of the curvature, as given and in whitened coordinates.
    ///
    /// # Errors
    /// Numbers that differ too much in scale to compute with.
    pub fn curvatures(&self, whitening: &Whitening) -> Result<Curvatures, Error> {
        let of = |error: potentials::Error| self.words().potential(error);
        let original = self.posterior.curvature().map_err(of)?;
        let white = self.posterior.whitened(whitening).and_then(|white| white.curvature());
        Ok(Curvatures { original, white: white.map_err(of)? })
    }

    /// A note if the responses are separated; small data sets only.
    ///
    /// # Errors
    /// Numbers that differ too much in scale to compute with.
    pub fn separation_note(&self) -> Result<Option<String>, Error> {
        if self.frame.all_rows * self.frame.columns > SEPARATION_ENTRIES {
            return Ok(None);
        }
        let found = self.posterior.separation();
        let found = found.map_err(|error| self.words().potential(error))?;
        Ok(self.words().separability(&found))
    }

    /// The names and places of the data, for messages.
    pub(crate) fn words(&self) -> Words<'_> {
        Words::new(&self.frame)
    }
}

/// Bounds of the curvature of a posterior.
#[derive(Debug)]
pub struct Curvatures {
    /// In the coordinates of the model.
    pub original: Curvature,
    /// In the coordinates used for sampling.
    pub white: Curvature,
}

/// The family of that name.
fn family(name: FamilyName, scale: f64, delta: f64) -> Result<Arc<dyn Family>, potentials::Error> {
    Ok(match name {
        FamilyName::Logistic => Arc::new(Logistic),
        FamilyName::Probit => Arc::new(Probit),
        FamilyName::Poisson => Arc::new(Poisson),
        FamilyName::Gaussian => Arc::new(Gaussian::new(scale)?),
        FamilyName::RobustLogistic => Arc::new(LogisticNoise::new(scale)?),
        FamilyName::RobustHuber => Arc::new(Huber::new(scale, delta)?),
    })
}

/// The posterior of a frame with this design.
fn posterior<'a, F: Family>(
    design: Dense<'a>, frame: &Frame, family: F, prior: Prior,
) -> Result<Ridge<'a, F>, potentials::Error> {
    let mut ridge = match &frame.trials {
        Some(trials) => Ridge::with_trials(design, family, &frame.response, trials, prior)?,
        None => Ridge::new(design, family, &frame.response, prior)?,
    };
    if let Some(weights) = &frame.weights {
        ridge = ridge.with_weights(weights.clone())?;
    }
    if let Some(offsets) = &frame.offset {
        ridge = ridge.with_offsets(offsets.clone())?;
    }
    Ok(ridge)
}

/// What the models of a frame share.
pub(crate) struct Build<'a> {
    pub(crate) frame: &'a Frame,
    pub(crate) prior: &'a Prior,
    pub(crate) rows: &'a Rows,
}

impl<'a> Build<'a> {
    /// The posterior with this family, over all rows.
    pub(crate) fn ridge<F: Family>(&self, family: F) -> Result<Ridge<'a, F>, potentials::Error> {
        let design = Dense::new(self.frame.rows, self.frame.columns, &self.frame.design[..])?;
        let ridge = posterior(design, self.frame, family, self.prior.clone())?;
        Ok(ridge.with_rows(self.rows))
    }

    pub(crate) fn words(&self) -> Words<'a> {
        Words::new(self.frame)
    }
}

impl Target for Model {
    type White = Box<dyn LineIntegral + Send + Sync>;

    fn dimension(&self) -> usize {
        Target::dimension(&self.posterior)
    }

    fn mode(&self) -> Result<(Mode, u64), sampler::Error> {
        ridge_mode(&self.posterior, &self.search)
    }

    fn hessian(&self, point: &[f64]) -> Result<(Vec<f64>, u64), sampler::Error> {
        Target::hessian(&self.posterior, point)
    }

    fn affordable_hessians(&self, most: usize) -> usize {
        self.posterior.affordable_hessians(most)
    }

    fn log_concave(&self) -> bool {
        self.posterior.log_concave()
    }

    fn whitened(&self, whitening: &Whitening) -> Result<Self::White, sampler::Error> {
        let white = self.posterior.whitened(whitening)?;
        Ok(match self.nodes {
            Some(nodes) => Box::new(Chebyshev::new(GradientOf(white), nodes)?),
            None => Box::new(white),
        })
    }
}

/// The gradient of a posterior and nothing else.
#[derive(Debug)]
struct GradientOf(Posterior);

impl Gradient for GradientOf {
    fn dimension(&self) -> usize {
        LineIntegral::dimension(&self.0)
    }

    fn gradient(&self, point: &[f64], gradient: &mut [f64]) -> Result<(), GradientError> {
        let found = self.0.gradients(point, gradient, &mut Scratch::default());
        found.map_err(|error| error.to_string().into())
    }

    fn value_and_gradient(
        &self, point: &[f64], gradient: &mut [f64],
    ) -> Result<Option<f64>, GradientError> {
        Gradient::value_and_gradient(&self.0, point, gradient)
    }
}
