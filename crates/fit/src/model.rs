//! The model stage: from a frame and priors to a posterior that can be sampled.

use std::sync::Arc;

use ridgewalk_frame::{Combine, FamilyName, Frame, Matrix, Sizes};
use ridgewalk_potentials::families::{Family, Observation};
use ridgewalk_potentials::{
    self as potentials, Chebyshev, Curvature, Dense, Density, Design, Gradient, GradientError,
    Joint, LineIntegral, Mixed, Mode, ModeSearch, Prior, Ridge, Rows, Scratch, Stored,
    WhitenedJoint, WhitenedRidge, Whitening,
};
use ridgewalk_sampler as sampler;
use ridgewalk_sampler::automatic::{Target, ridge_mode};

use crate::auxiliary::Auxiliary;
use crate::checks::{Checks, Sample};
use crate::config::Config;
use crate::data::Filed;
use crate::draws::DrawReader;
use crate::error::Error;
use crate::groups::{self, Groups, Unfolding};
use crate::memory::MemoryPlan;
use crate::noise::{check_noise, check_noise_of_groups};
use crate::priors::{ModelPriors, Priors};
use crate::scale::Rescaling;
use crate::settings::{SearchChoice, Settings};
use crate::words::Words;

/// Up to this many entries of the design, data are checked for separation, for a note.
const SEPARATION_ENTRIES: usize = 2_000_000;

/// The posterior of the coefficients of any family, with all other parameters known and normal or
/// flat priors.
pub type Posterior = Ridge<'static, Arc<dyn Family>>;

/// A posterior with the names of its columns and the places of its rows.
#[derive(Debug)]
pub struct Model {
    frame: Frame,
    names: Vec<String>,
    priors: ModelPriors,
    auxiliary: Auxiliary,
    groups: Groups,
    noise_scale: Option<f64>,
    family: FamilyName,
    nodes: Option<usize>,
    search: ModeSearch,
    rescaling: Option<Rescaling>,
    /// The means of the predictors, if the prior of the intercept holds there and coordinates are not
    /// centred; else empty.
    means: Vec<f64>,
    body: Body,
    /// Rows for checks; none if other processes hold rows.
    sample: Option<Sample>,
    /// Whether other processes hold rows.
    shared: bool,
    /// What it takes of the memory, if that was looked at.
    memory: Option<MemoryPlan>,
}

/// The posterior itself.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one of it")]
enum Body {
    /// Of the coefficients alone: log-concave, with line integrals.
    Ridge(Posterior),
    /// With parameters, or priors of other kinds; and where the search for its mode begins.
    Joint { joint: Arc<Joint<'static>>, start: Vec<f64> },
    /// With effects of groups, or of a sparse design.
    Mixed(Arc<Mixed>),
}

impl Model {
    /// The model for these settings. The frame's design moves into it. Priors come from the settings
    /// unless given. `rows` says which processes hold the rows: [`Rows::default`] if this process
    /// holds all.
    ///
    /// # Errors
    /// Invalid priors, data that are invalid for the family, or settings that need a log-concave
    /// posterior with line integrals where there is none.
    pub fn new(
        settings: &Settings, frame: Frame, priors: Option<ModelPriors>, rows: &Rows,
    ) -> Result<Self, Error> {
        Self::build(settings, frame, None, priors, rows)
    }

    /// The model of a frame whose design is in a file.
    pub(crate) fn of_file(
        settings: &Settings, frame: Frame, filed: Filed, priors: Option<ModelPriors>,
        memory: MemoryPlan,
    ) -> Result<Self, Error> {
        Ok(Self::of_design(settings, frame, filed, priors)?.with_memory(memory))
    }

    /// The same without a look at the memory.
    pub(crate) fn of_design(
        settings: &Settings, frame: Frame, filed: Filed, priors: Option<ModelPriors>,
    ) -> Result<Self, Error> {
        Self::build(settings, frame, Some(filed), priors, &Rows::default())
    }

    pub(crate) fn with_memory(self, memory: MemoryPlan) -> Self {
        Self { memory: Some(memory), ..self }
    }

    fn build(
        settings: &Settings, mut frame: Frame, mut filed: Option<Filed>,
        priors: Option<ModelPriors>, rows: &Rows,
    ) -> Result<Self, Error> {
        let family = settings.family;
        let combine = |how: Combine, numbers: &mut [f64]| match how {
            Combine::Sum => rows.sum(numbers),
            Combine::Largest => rows.largest(numbers),
        };
        let auxiliary = Auxiliary::new(settings, &frame);
        let taken = |name: &&String| auxiliary.names().contains(name);
        if let Some(name) = auxiliary.coefficients(&frame.names).iter().find(taken) {
            return Err(Error::TakenName { name: name.clone(), family });
        }
        let groups = Groups::new(&frame.coding, auxiliary.levels());
        let sizes = match &filed {
            Some(filed) => frame.sizes_by(&filed.moments, family),
            None => frame.sizes(family, combine),
        };
        let priors = match priors {
            Some(priors) => priors,
            None => {
                Priors::from_settings(settings)?.resolve(&frame, &sizes, &auxiliary, &groups)?
            }
        };
        if priors.centred {
            centre(&mut frame, filed.as_mut(), &sizes)?;
        }
        let noisy = family.has_noise() && !auxiliary.names().is_empty();
        if noisy {
            check_noise(&frame, design_of(&frame, filed.as_ref())?, &sizes, rows)?;
        }
        let coefficients = auxiliary.coefficients(&frame.names);
        let own = [coefficients, auxiliary.names().to_vec()].concat();
        let names = [own, groups.parameters(), groups.effect_names()].concat();
        let original = Rescaling::to_original(&frame, settings, &priors);
        let sample = match &filed {
            Some(filed) => Some(Sample::of_some(&filed.sample, original, frame.rows)),
            None => (!rows.is_shared()).then(|| Sample::new(&frame, original)),
        };
        let stored = filed.map(|filed| filed.design);
        let design = std::mem::take(&mut frame.design);
        let means = match priors.centred && frame.intercept && design.is_sparse() {
            true => sizes.means.clone(),
            false => Vec::new(),
        };
        let (frame_of, at) = (&frame, &means[..]);
        let parts =
            Parts { settings, frame: frame_of, priors: &priors, auxiliary: &auxiliary, means: at };
        let body = parts.body(design, stored, &groups, &sizes, rows);
        let body = body.map_err(|refusal| refusal.error(&frame))?;
        let unfolding = match &body {
            Body::Mixed(mixed) => {
                if noisy {
                    check_noise_of_groups(&frame, mixed, &groups)?;
                }
                let (mixed, columns) = (mixed.clone(), frame.columns);
                Some(Unfolding::new(mixed, auxiliary.predictors(), columns))
            }
            _ => None,
        };
        let rescaling = Rescaling::new(&frame, settings, &priors, &auxiliary, unfolding);
        Ok(Self {
            frame,
            names,
            priors,
            auxiliary,
            groups,
            noise_scale: settings.noise_scale,
            family,
            nodes: settings.nodes,
            search: settings.mode_search.search(),
            rescaling,
            means,
            body,
            sample,
            shared: rows.is_shared(),
            memory: None,
        })
    }

    /// What the fit takes of the memory, as it was estimated before it began; `None` for a model that
    /// was not made from data as a whole.
    #[must_use]
    pub fn memory(&self) -> Option<&MemoryPlan> {
        self.memory.as_ref()
    }

    /// The names, rows and notes of the data. Its design has moved into the posterior.
    #[must_use]
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The names of all coefficients and parameters, in the order of draws.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The parameters beside the coefficients.
    #[must_use]
    pub fn auxiliary(&self) -> &Auxiliary {
        &self.auxiliary
    }

    /// The groupings.
    #[must_use]
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// The means of the predictors, if the prior of the intercept is one of the linear predictor there
    /// and coordinates are not centred; else empty.
    pub(crate) fn means(&self) -> &[f64] {
        &self.means
    }

    /// The entries of the factor that makes coordinates of a model with groups or a sparse design,
    /// and those of the matrix that it is a factor of.
    #[must_use]
    pub fn fill(&self) -> Option<(usize, usize)> {
        match &self.body {
            Body::Mixed(mixed) => Some(mixed.fill()),
            Body::Ridge(posterior) => posterior.factored().ok()??.fill(),
            Body::Joint { .. } => None,
        }
    }

    /// Whether the design has many sparse columns: no d x d matrix is made then.
    fn is_sparse(&self) -> bool {
        match &self.body {
            Body::Mixed(_) => true,
            Body::Ridge(posterior) => matches!(posterior.factored(), Ok(Some(_))),
            Body::Joint { .. } => false,
        }
    }

    /// The priors of the coefficients and parameters.
    #[must_use]
    pub fn priors(&self) -> &ModelPriors {
        &self.priors
    }

    /// The family.
    #[must_use]
    pub fn family(&self) -> FamilyName {
        self.family
    }

    /// The noise scale, if it was given.
    #[must_use]
    pub fn noise_scale(&self) -> Option<f64> {
        self.noise_scale
    }

    /// The posterior, if it is one of coefficients alone, with normal or flat priors.
    #[must_use]
    pub fn posterior(&self) -> Option<&Posterior> {
        match &self.body {
            Body::Ridge(posterior) => Some(posterior),
            Body::Joint { .. } | Body::Mixed(_) => None,
        }
    }

    /// The map from sampled to reported coefficients and parameters, if they differ.
    #[must_use]
    pub fn rescaling(&self) -> Option<&Rescaling> {
        self.rescaling.as_ref()
    }

    /// Checks the model against its data, by the draws of a run; `None` if other processes hold
    /// rows, or there is too little to check.
    ///
    /// # Errors
    /// Draws that cannot be read.
    pub fn checks(&self, config: &Config, draws: &dyn DrawReader) -> Result<Option<Checks>, Error> {
        match &self.sample {
            Some(sample) => Checks::new(config, draws, sample),
            None => Ok(None),
        }
    }

    /// Rows for checks; none if other processes hold rows.
    pub(crate) fn sample(&self) -> Option<&Sample> {
        self.sample.as_ref()
    }

    /// U at points stored one after another: of a model with groups, at coefficients and parameters.
    ///
    /// # Errors
    /// Lists of the wrong length.
    pub fn values(&self, points: &[f64], values: &mut [f64]) -> Result<(), potentials::Error> {
        let mut gradients = vec![0.0; points.len()];
        let scratch = &mut Scratch::default();
        match &self.body {
            Body::Ridge(ridge) => {
                ridge.values_and_gradients(points, values, &mut gradients, scratch)
            }
            Body::Joint { joint, .. } => {
                joint.values_and_gradients(points, values, &mut gradients, scratch)
            }
            Body::Mixed(mixed) => {
                mixed.values_and_gradients(points, values, &mut gradients, scratch)
            }
        }
    }

    /// The estimate of the data alone, with flat priors of the coefficients, and the standard errors
    /// of its numbers, in the units of sampling; `None` if the data do not determine it, or other
    /// processes hold rows. `near` is where the search may begin.
    pub(crate) fn likelihood_estimate(&self, near: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
        if self.shared || self.is_sparse() {
            return None;
        }
        let (point, hessian) = match &self.body {
            Body::Ridge(posterior) => {
                let flat = Prior::flat(posterior.dimension());
                let flat = posterior.clone().with_prior(flat).ok()?;
                let point = ModeSearch::new().with_start(near.to_vec()).of_ridge(&flat).ok()?.point;
                let hessian = flat.hessian(&point).ok()?;
                (point, hessian)
            }
            Body::Joint { joint, .. } => {
                let flat = vec![Density::Flat; joint.coefficients()];
                let flat = Joint::clone(joint).with_priors(flat).ok()?;
                let point = flat.mode(near).ok()?.point;
                let hessian = flat.hessian(&point).ok()?;
                (point, hessian)
            }
            // The data alone do not determine effects of groups.
            Body::Mixed(_) => return None,
        };
        let errors = Whitening::from_hessian(&point, &hessian).ok()?.variances();
        Some((point, errors.into_iter().map(f64::sqrt).collect()))
    }

    /// How much higher the log density of its mode is with other offsets, and the dispersion of
    /// poisson responses there, 1 for other families; `None` if there is no such mode.
    pub(crate) fn gain_of_offsets(&self, offsets: Vec<f64>, near: &[f64]) -> Option<(f64, f64)> {
        if self.is_sparse() {
            return None;
        }
        let mut here = [0.0];
        self.values(near, &mut here).ok()?;
        let (there, dispersion) = match &self.body {
            Body::Ridge(posterior) => {
                let other = posterior.clone().with_offsets(offsets).ok()?;
                let mode = ModeSearch::new().with_start(near.to_vec()).of_ridge(&other).ok()?.point;
                let mut there = [0.0];
                let (mut gradient, scratch) = (vec![0.0; mode.len()], &mut Scratch::default());
                other.values_and_gradients(&mode, &mut there, &mut gradient, scratch).ok()?;
                let means = other.linear_predictors(&mode).ok()?.into_iter().map(f64::exp);
                let pearson = means.zip(&self.frame.response).map(|(m, y)| (y - m) * (y - m) / m);
                let degrees = self.frame.rows.saturating_sub(self.frame.columns).max(1);
                (there[0], pearson.sum::<f64>() / degrees as f64)
            }
            Body::Joint { joint, .. } => {
                let other = Joint::clone(joint).with_offsets(offsets).ok()?;
                let mode = other.mode(near).ok()?.point;
                let mut there = [0.0];
                let (mut gradient, scratch) = (vec![0.0; mode.len()], &mut Scratch::default());
                other.values_and_gradients(&mode, &mut there, &mut gradient, scratch).ok()?;
                (there[0], 1.0)
            }
            Body::Mixed(_) => return None,
        };
        Some((here[0] - there, dispersion))
    }

    /// Bounds of the curvature, as given and in whitened coordinates; `None` for a posterior with
    /// parameters, or with priors that are neither normal nor flat.
    ///
    /// # Errors
    /// Numbers that differ too much in scale to compute with.
    pub fn curvatures(&self, whitening: &Whitening) -> Result<Option<Curvatures>, Error> {
        let Body::Ridge(posterior) = &self.body else { return Ok(None) };
        let of = |error: potentials::Error| self.words().potential(error);
        let original = posterior.curvature().map_err(of)?;
        let white = posterior.in_coordinates(whitening).and_then(|white| white.curvature());
        Ok(Some(Curvatures { original, white: white.map_err(of)? }))
    }

    /// A note if the responses are separated; small data sets only.
    ///
    /// # Errors
    /// Numbers that differ too much in scale to compute with.
    pub fn separation_note(&self) -> Result<Option<String>, Error> {
        let Body::Ridge(posterior) = &self.body else { return Ok(None) };
        if self.is_sparse() || self.frame.all_rows * self.frame.columns > SEPARATION_ENTRIES {
            return Ok(None);
        }
        let found = posterior.separation();
        let found = found.map_err(|error| self.words().potential(error))?;
        Ok(self.words().separability(&found))
    }

    /// The names and places of the data, for messages.
    pub(crate) fn words(&self) -> Words<'_> {
        Words::new(&self.frame)
    }
}

/// Why there is no posterior.
enum Refusal {
    Setting(Error),
    Potential(potentials::Error),
}

impl Refusal {
    fn error(self, frame: &Frame) -> Error {
        match self {
            Self::Setting(error) => error,
            Self::Potential(error) => Words::new(frame).potential(error),
        }
    }
}

impl From<potentials::Error> for Refusal {
    fn from(error: potentials::Error) -> Self {
        Self::Potential(error)
    }
}

/// What a posterior is made of.
struct Parts<'a> {
    settings: &'a Settings,
    frame: &'a Frame,
    priors: &'a ModelPriors,
    auxiliary: &'a Auxiliary,
    /// Where the prior of the intercept holds, if that is not at 0.
    means: &'a [f64],
}

impl Parts<'_> {
    /// The posterior with this design.
    fn body(
        &self, design: Matrix, stored: Option<Stored>, groups: &Groups, sizes: &Sizes, rows: &Rows,
    ) -> Result<Body, Refusal> {
        let Self { settings, frame, priors, auxiliary, .. } = self;
        let design: Design<'static> = match (stored, design) {
            (Some(stored), _) => stored.into(),
            (None, Matrix::Dense { values, .. }) if groups.is_empty() => {
                Dense::new(frame.rows, frame.columns, values)?.into()
            }
            (None, design) if self.has_integrals(groups)? => groups::sparse_design(frame, &design)?,
            (None, design) => return self.mixed(&design, groups, sizes, rows),
        };
        if let (Some(family), Some(prior)) =
            (auxiliary.family(settings)?, normal_prior(&priors.coefficients)?)
        {
            let mut ridge = Ridge::of_observations(design, family, observations(frame), prior)?;
            if let Some(weights) = &frame.weights {
                ridge = ridge.with_weights(weights.clone())?;
            }
            if let Some(offsets) = &frame.offset {
                ridge = ridge.with_offsets(offsets.clone())?;
            }
            if !self.means.is_empty() {
                ridge = ridge.with_intercept_at(self.means.to_vec())?;
            }
            // The frame is valid, so no process has ended before this point.
            return Ok(Body::Ridge(ridge.with_rows(rows)));
        }
        let joint = self.joint(design, priors.coefficients.clone())?;
        let start = auxiliary.start(frame, sizes);
        Ok(Body::Joint { joint: Arc::new(joint.with_rows(rows)), start })
    }

    /// Whether a sparse design is that of a posterior with line integrals, which the settings ask for.
    fn has_integrals(&self, groups: &Groups) -> Result<bool, Refusal> {
        let asked = asked_for_integrals(self.settings).is_some() && groups.is_empty();
        Ok(asked
            && self.auxiliary.family(self.settings)?.is_some()
            && normal_prior(&self.priors.coefficients)?.is_some())
    }

    /// A posterior without line integrals, with these priors of coefficients.
    fn joint(
        &self, design: Design<'static>, priors: Vec<Density>,
    ) -> Result<Joint<'static>, Refusal> {
        let Self { settings, frame, auxiliary, .. } = self;
        needs_no_integrals(settings, auxiliary, frame.coding.groups().next().is_some())
            .map_err(Refusal::Setting)?;
        let likelihood = auxiliary.likelihood(settings, frame)?;
        let mut joint = Joint::of_observations(design, likelihood, observations(frame))?
            .with_priors(priors)?
            .with_parameter_priors(self.priors.parameters.clone())?;
        if let Some(weights) = &frame.weights {
            joint = joint.with_weights(weights.clone())?;
        }
        if let Some(offsets) = &frame.offset {
            joint = joint.with_offsets(offsets.clone())?;
        }
        Ok(joint)
    }

    /// The same with the prior of its intercept where it holds.
    fn at_means(&self, joint: Joint<'static>) -> Result<Joint<'static>, Refusal> {
        if self.means.is_empty() {
            return Ok(joint);
        }
        let mut means = self.means.to_vec();
        means.resize(joint.columns(), 0.0);
        Ok(joint.with_intercept_at(means)?)
    }

    /// A posterior with effects of groups, or of a sparse design.
    fn mixed(
        &self, design: &Matrix, groups: &Groups, sizes: &Sizes, rows: &Rows,
    ) -> Result<Body, Refusal> {
        let Self { frame, priors, auxiliary, .. } = self;
        let columns = frame.columns;
        let effects = groups.effects() / auxiliary.predictors();
        // Each linear predictor has the coefficients of the design, if any, and then its effects.
        let own = |predictor: usize| predictor * columns..(predictor + 1) * columns;
        let widened = |list: &[f64]| -> Vec<f64> {
            let parameters = &list[columns * auxiliary.predictors()..];
            let each = (0..auxiliary.predictors()).flat_map(|predictor| {
                list[own(predictor)].iter().copied().chain(vec![0.0; effects])
            });
            each.chain(parameters.iter().copied()).collect()
        };
        let each = (0..auxiliary.predictors()).flat_map(|predictor| {
            let flat = vec![Density::Flat; effects];
            priors.coefficients[own(predictor)].iter().copied().chain(flat)
        });
        let design = groups::sparse_design(frame, design).map_err(Refusal::from);
        let joint = design.and_then(|design| self.at_means(self.joint(design, each.collect())?));
        // From here on processes wait for each other.
        if !rows.everywhere(joint.is_ok()) {
            let elsewhere = Refusal::Setting(sampler::Error::Elsewhere.into());
            return Err(joint.err().unwrap_or(elsewhere));
        }
        let joint = joint?.with_rows(rows);
        let terms = groups::terms(groups, &priors.groups, columns);
        let mixed = Mixed::new(joint, terms, &widened(&auxiliary.start(frame, sizes)))?;
        Ok(Body::Mixed(Arc::new(mixed)))
    }
}

/// Centres the design of a frame, or the one in a file.
fn centre(frame: &mut Frame, filed: Option<&mut Filed>, sizes: &Sizes) -> Result<(), Error> {
    match filed {
        Some(filed) => {
            let scaling = frame.centre_by(&filed.moments);
            scaling.map_or(Ok(()), |scaling| filed.rescale(&scaling))
        }
        None => {
            frame.centre(sizes);
            Ok(())
        }
    }
}

/// The design of a frame, or the one in a file; `None` if it is sparse.
fn design_of<'f>(frame: &'f Frame, filed: Option<&Filed>) -> Result<Option<Design<'f>>, Error> {
    match (filed, &frame.design) {
        (Some(filed), _) => Ok(Some(filed.design.clone().into())),
        (None, Matrix::Dense { values, .. }) => {
            let design = Dense::new(frame.rows, frame.columns, &values[..]);
            let design = design.map_err(|error| Words::new(frame).potential(error))?;
            Ok(Some(design.into()))
        }
        (None, _) => Ok(None),
    }
}

/// The observation of each row.
pub(crate) fn observations(frame: &Frame) -> Vec<Observation> {
    let second = frame.trials.as_ref().or(frame.upper.as_ref());
    let trials = |row: usize| second.map_or(1.0, |list| list[row]);
    let responses = frame.response.iter().enumerate();
    responses.map(|(row, &response)| Observation { response, trials: trials(row) }).collect()
}

/// The priors of coefficients as normal ones, if they are all normal or flat.
fn normal_prior(priors: &[Density]) -> Result<Option<Prior>, potentials::Error> {
    let one = |prior: &Density| match *prior {
        Density::Normal { mean, scale } => Some((mean, scale)),
        Density::Flat => Some((0.0, f64::INFINITY)),
        _ => None,
    };
    let Some(pairs) = priors.iter().map(one).collect::<Option<Vec<(f64, f64)>>>() else {
        return Ok(None);
    };
    let (means, scales): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    Prior::normal(&means, &scales).map(Some)
}

/// The setting that asks for line integrals, with its value.
fn asked_for_integrals(settings: &Settings) -> Option<(&'static str, String)> {
    if !settings.unbiased() {
        Some(("--kernel", settings.kernel.to_string()))
    } else if settings.tolerance() > 0.0 {
        Some(("--bias-tolerance", settings.tolerance().to_string()))
    } else if let Some(nodes) = settings.nodes {
        Some(("--nodes", nodes.to_string()))
    } else if !matches!(settings.mode_search, SearchChoice::Auto | SearchChoice::Newton) {
        Some(("--mode-search", settings.mode_search.to_string()))
    } else {
        None
    }
}

/// An error if the settings ask for line integrals, which a posterior with parameters does not have,
/// nor one of group effects.
fn needs_no_integrals(
    settings: &Settings, auxiliary: &Auxiliary, grouped: bool,
) -> Result<(), Error> {
    let Some((name, value)) = asked_for_integrals(settings) else { return Ok(()) };
    let fixed = match auxiliary.names().first().map(String::as_str) {
        _ if grouped => "a model without group effects",
        Some("sigma") if settings.family != FamilyName::StudentT => "a known --noise-scale",
        Some("size") => "a known --dispersion",
        Some("shape") => "a known --shape",
        None if settings.family != FamilyName::Multinomial => "normal or flat priors",
        _ => "another family: this one has no line integrals",
    };
    Err(Error::setting(name, value, format!("{fixed}; or leave {name} out")))
}

/// Bounds of the curvature of a posterior.
#[derive(Debug)]
pub struct Curvatures {
    /// In the coordinates of the model.
    pub original: Curvature,
    /// In the coordinates used for sampling.
    pub white: Curvature,
}

impl Target for Model {
    type White = Box<dyn LineIntegral + Send + Sync>;

    fn dimension(&self) -> usize {
        self.names.len()
    }

    fn frame(&self) -> Option<&Whitening> {
        match &self.body {
            Body::Ridge(posterior) => posterior.frame(),
            _ => None,
        }
    }

    fn mean_hessian(&self, points: &[f64]) -> Result<Option<(Vec<f64>, u64)>, sampler::Error> {
        match &self.body {
            Body::Ridge(posterior) => Target::mean_hessian(posterior, points),
            _ => Ok(None),
        }
    }

    fn has_mean_hessian(&self) -> bool {
        matches!(&self.body, Body::Ridge(posterior) if posterior.has_mean_hessian())
    }

    fn mode(&self) -> Result<(Mode, u64), sampler::Error> {
        match &self.body {
            Body::Mixed(mixed) => mixed.mode(),
            Body::Ridge(posterior) => ridge_mode(posterior, &self.search),
            Body::Joint { joint, start } => {
                let mode = joint.mode(start)?;
                let spent = mode.gradients + mode.iterations as u64 * hessian_cost(joint);
                Ok((mode, spent))
            }
        }
    }

    fn hessian(&self, point: &[f64]) -> Result<(Vec<f64>, u64), sampler::Error> {
        match &self.body {
            Body::Ridge(posterior) => Target::hessian(posterior, point),
            Body::Joint { joint, .. } => Ok((joint.hessian(point)?, hessian_cost(joint))),
            Body::Mixed(mixed) => mixed.hessian(point),
        }
    }

    fn round(&self) -> usize {
        match &self.body {
            Body::Mixed(mixed) => mixed.round(),
            Body::Ridge(posterior) => posterior.round(),
            Body::Joint { .. } => 0,
        }
    }

    fn affordable_hessians(&self, most: usize) -> usize {
        match &self.body {
            Body::Mixed(mixed) => mixed.affordable_hessians(most),
            Body::Ridge(posterior) => posterior.affordable_hessians(most),
            Body::Joint { .. } => most,
        }
    }

    fn log_concave(&self) -> bool {
        match &self.body {
            Body::Ridge(posterior) => posterior.log_concave(),
            Body::Joint { joint, .. } => joint.log_concave(),
            Body::Mixed(mixed) => mixed.log_concave(),
        }
    }

    fn whitened(&self, whitening: &Whitening) -> Result<Self::White, sampler::Error> {
        let white = match &self.body {
            Body::Ridge(posterior) => Target::whitened(posterior, whitening)?,
            Body::Joint { joint, .. } => {
                return Ok(Box::new(WhitenedJoint::new(joint.clone(), whitening.clone())?));
            }
            Body::Mixed(mixed) => return Ok(Box::new(mixed.whitened(whitening)?)),
        };
        Ok(match self.nodes {
            Some(nodes) => Box::new(Chebyshev::new(GradientOf(white), nodes)?),
            None => Box::new(white),
        })
    }
}

/// The cost of a Hessian, in gradients: a product of the design with itself beside one with two
/// vectors.
fn hessian_cost(joint: &Joint<'_>) -> u64 {
    (joint.dimension() as u64).div_ceil(4).max(1)
}

/// The gradient of a posterior and nothing else.
#[derive(Debug)]
struct GradientOf(WhitenedRidge<'static, Arc<dyn Family>>);

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
