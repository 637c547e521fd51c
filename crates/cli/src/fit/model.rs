//! From a frame and priors to a potential: the family, the noise scale, and line integrals by nodes
//! where those are asked for.

use ridgewalk::potentials::families::{
    Family, Gaussian, Huber, Logistic, LogisticNoise, Poisson, Probit,
};
use ridgewalk::potentials::peers::Peers;
use ridgewalk::potentials::{
    self, Chebyshev, Dense, Gradient, GradientError, LineIntegral, Mode, Prior, Ridge, Scratch,
    Whitening,
};
use ridgewalk::sampler;
use ridgewalk::sampler::automatic::Target;

use std::sync::Arc;

use super::FitOptions;
use super::words::Words;
use crate::data::{FamilyName, Frame, nth_smallest, range, total};
use crate::failure::Failure;

/// Where Huber's loss turns into a line unless told otherwise: 95 % efficient under normal noise
/// (Huber 1981).
const HUBER_DELTA: f64 = 1.345;
/// The median of |x| for standard normal x, and for standard logistic x.
const NORMAL_MEDIAN: f64 = 0.674_489_750_196_081_7;
const LOGISTIC_MEDIAN: f64 = 1.098_612_288_668_109_8;
/// How often a robust noise scale is estimated anew from the residuals of the fit with the last
/// one.
const SCALE_ROUNDS: usize = 5;

/// The posterior of one of the families.
#[derive(Debug)]
pub(super) enum Model<'a> {
    Logistic(Ridge<'a, Logistic>),
    Probit(Ridge<'a, Probit>),
    Poisson(Ridge<'a, Poisson>),
    Gaussian(Ridge<'a, Gaussian>),
    LogisticNoise(Ridge<'a, LogisticNoise>),
    Huber(Ridge<'a, Huber>),
}

/// A model, and what was found out to make it.
#[derive(Debug)]
pub(super) struct Made<'a> {
    pub(super) model: Model<'a>,
    pub(super) noise_scale: Option<f64>,
    pub(super) notes: Vec<String>,
}

/// Makes the model that the options ask for.
pub(super) fn model<'a>(
    options: &FitOptions,
    frame: &'a Frame,
    prior: &Prior,
    words: &Words<'_>,
    peers: &Arc<dyn Peers>,
) -> Result<Made<'a>, Failure> {
    for (name, given) in
        [("--noise-scale", options.noise_scale), ("--huber-delta", options.huber_delta)]
    {
        if let Some(value) = given.filter(|value| !(*value > 0.0 && value.is_finite())) {
            return Err(Failure::Usage(format!("{name} {value}: need a positive, finite number")));
        }
    }
    let noisy = matches!(
        options.family,
        FamilyName::Gaussian | FamilyName::RobustLogistic | FamilyName::RobustHuber
    );
    if options.noise_scale.is_some() && !noisy {
        let family = options.family;
        return Err(Failure::Usage(format!(
            "--noise-scale is for gaussian, robust-logistic and robust-huber: found --family {family}"
        )));
    }
    if options.huber_delta.is_some() && options.family != FamilyName::RobustHuber {
        let family = options.family;
        return Err(Failure::Usage(format!(
            "--huber-delta is for robust-huber: found --family {family}"
        )));
    }
    let of = |error: potentials::Error| words.potential(&error);
    let build = Build { frame, prior, peers };
    let (noise_scale, notes) = match options.noise_scale {
        _ if !noisy => (None, Vec::new()),
        Some(scale) => (Some(scale), Vec::new()),
        None => {
            let delta = options.huber_delta.unwrap_or(HUBER_DELTA);
            let scale = build.noise_scale(options.family, delta, words)?;
            let note = format!(
                "the noise scale {scale:.6} is estimated from residuals and then taken as known; --noise-scale S gives another"
            );
            (Some(scale), vec![note])
        }
    };
    let scale = noise_scale.unwrap_or(1.0);
    let model = match options.family {
        FamilyName::Logistic => Model::Logistic(build.ridge(Logistic).map_err(of)?),
        FamilyName::Probit => Model::Probit(build.ridge(Probit).map_err(of)?),
        FamilyName::Poisson => Model::Poisson(build.ridge(Poisson).map_err(of)?),
        FamilyName::Gaussian => {
            Model::Gaussian(build.ridge(Gaussian::new(scale).map_err(of)?).map_err(of)?)
        }
        FamilyName::RobustLogistic => {
            Model::LogisticNoise(build.ridge(LogisticNoise::new(scale).map_err(of)?).map_err(of)?)
        }
        FamilyName::RobustHuber => {
            let family =
                Huber::new(scale, options.huber_delta.unwrap_or(HUBER_DELTA)).map_err(of)?;
            Model::Huber(build.ridge(family).map_err(of)?)
        }
    };
    Ok(Made { model, noise_scale, notes })
}

/// What models of one frame have in common.
struct Build<'a, 'p> {
    frame: &'a Frame,
    prior: &'p Prior,
    /// Those that have the other rows.
    peers: &'p Arc<dyn Peers>,
}

impl<'a> Build<'a, '_> {
    fn ridge<F: Family>(&self, family: F) -> Result<Ridge<'a, F>, potentials::Error> {
        let frame = self.frame;
        let design = Dense::new(frame.rows, frame.columns, &frame.design[..])?;
        let prior = self.prior.clone();
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
        // The frame is checked: no process has ended before here.
        Ok(ridge.with_peers(Arc::clone(self.peers)))
    }

    /// The scale of the noise. Normal: from the residuals of least squares, with n − d in the
    /// denominator. Robust: from the median of the absolute residuals of the robust fit itself,
    /// which is repeated with each new scale.
    fn noise_scale(
        &self,
        family: FamilyName,
        delta: f64,
        words: &Words<'_>,
    ) -> Result<f64, Failure> {
        let of = |error: potentials::Error| words.potential(&error);
        let (n, d, peers) = (self.frame.all_rows, self.frame.columns, &**self.peers);
        let sum = |here: f64| {
            let mut sum = [here];
            peers.sum(&mut sum);
            sum[0]
        };
        let [_, largest] = range(peers, self.frame.response.iter().map(|y| y.abs()));
        // With little noise the prior decides nothing but what the data leave open, as it does with
        // collinear predictors.
        let size = sum(self.frame.response.iter().map(|y| y.abs()).sum()) / n as f64;
        let little = if size > 0.0 { 1e-3 * size } else { 1.0 };
        let least_squares =
            self.ridge(Gaussian::new(little).map_err(of)?).and_then(|r| r.mode()).map_err(of)?;
        let residuals = self.residuals(&least_squares.point);
        if family == FamilyName::Gaussian {
            if n <= d {
                return Err(Failure::Usage(format!(
                    "{n} rows and {d} coefficients leave no residuals to estimate the noise from: pass --noise-scale S"
                )));
            }
            let weights = |i: usize| self.frame.weights.as_ref().map_or(1.0, |weights| weights[i]);
            let squares = sum(residuals.iter().enumerate().map(|(i, r)| weights(i) * r * r).sum());
            return known((squares / (n - d) as f64).sqrt(), largest);
        }
        let unit = if family == FamilyName::RobustHuber { NORMAL_MEDIAN } else { LOGISTIC_MEDIAN };
        let of_residuals =
            |residuals: &[f64]| median(residuals.iter().map(|r| r.abs()).collect(), peers) / unit;
        let mut scale = known(of_residuals(&residuals), largest)?;
        for _ in 0..SCALE_ROUNDS {
            let mode: Mode = if family == FamilyName::RobustHuber {
                self.ridge(Huber::new(scale, delta).map_err(of)?)
                    .and_then(|r| r.mode())
                    .map_err(of)?
            } else {
                self.ridge(LogisticNoise::new(scale).map_err(of)?)
                    .and_then(|r| r.mode())
                    .map_err(of)?
            };
            scale = known(of_residuals(&self.residuals(&mode.point)), largest)?;
        }
        Ok(scale)
    }

    /// What the linear predictor leaves of the responses.
    fn residuals(&self, point: &[f64]) -> Vec<f64> {
        let offset = |i: usize| self.frame.offset.as_ref().map_or(0.0, |offset| offset[i]);
        let rows = self
            .frame
            .design
            .chunks_exact(self.frame.columns)
            .zip(&self.frame.response)
            .enumerate();
        rows.map(|(i, (row, y))| {
            y - offset(i) - row.iter().zip(point).map(|(a, x)| a * x).sum::<f64>()
        })
        .collect()
    }
}

/// A noise scale that can be one, for responses up to `largest`.
fn known(scale: f64, largest: f64) -> Result<f64, Failure> {
    if scale > 1e-10 * largest && scale.is_finite() {
        Ok(scale)
    } else {
        Err(Failure::Usage(format!(
            "the noise scale estimated from residuals is {scale:e}: the model fits the responses exactly, or at least half of them; \
             pass --noise-scale S"
        )))
    }
}

/// The median of numbers of all processes, none of them negative.
fn median(mut values: Vec<f64>, peers: &dyn Peers) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let count = total(peers, values.len());
    let high = nth_smallest(peers, &values, count / 2);
    if count % 2 == 1 { high } else { 0.5 * (nth_smallest(peers, &values, count / 2 - 1) + high) }
}

/// A model whose line integrals are taken by Chebyshev nodes, as if only its gradient were known.
#[derive(Debug)]
pub(super) struct ByNodes<'a, 'r, F> {
    pub(super) ridge: &'r Ridge<'a, F>,
    pub(super) nodes: usize,
}

impl<F: Family + Clone> Target for ByNodes<'_, '_, F> {
    type White = Chebyshev<GradientOf<F>>;

    fn dimension(&self) -> usize {
        Target::dimension(self.ridge)
    }

    fn mode(&self) -> Result<(Mode, u64), sampler::Error> {
        Target::mode(self.ridge)
    }

    fn hessian(&self, point: &[f64]) -> Result<(Vec<f64>, u64), sampler::Error> {
        Target::hessian(self.ridge, point)
    }

    fn affordable_hessians(&self, most: usize) -> usize {
        self.ridge.affordable_hessians(most)
    }

    fn whitened(&self, whitening: &Whitening) -> Result<Self::White, sampler::Error> {
        Ok(Chebyshev::new(GradientOf(self.ridge.whitened(whitening)?), self.nodes)?)
    }
}

/// The gradient of a ridge-separable potential.
#[derive(Debug)]
pub(super) struct GradientOf<F>(Ridge<'static, F>);

impl<F: Family> Gradient for GradientOf<F> {
    fn dimension(&self) -> usize {
        self.0.dimension()
    }

    fn gradient(&self, point: &[f64], gradient: &mut [f64]) -> Result<(), GradientError> {
        self.0
            .gradients(point, gradient, &mut Scratch::default())
            .map_err(|error| error.to_string().into())
    }

    fn value_and_gradient(
        &self,
        point: &[f64],
        gradient: &mut [f64],
    ) -> Result<Option<f64>, GradientError> {
        Gradient::value_and_gradient(&self.0, point, gradient)
    }
}
