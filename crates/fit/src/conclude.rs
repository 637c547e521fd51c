//! The concluding stage: diagnostics of the draws, the verdict and the summary document.

use std::fmt;

use ridgewalk_diagnostics::Summary;
use ridgewalk_lyapunov::laws::{KernelKind, Scheme};
use ridgewalk_potentials::{Curvature, Density};
use ridgewalk_sampler::automatic::{Extrapolated, Sampled};

use crate::config::Config;
use crate::dispersion;
use crate::document::{
    BiasDetails, Fact, Parameter, ProblemFacts, SamplerFacts, SummaryDocument, Text, Trajectories,
};
use crate::draws::{DrawReader, summaries_of};
use crate::error::Error;
use crate::excursion::{Search, Values};
use crate::exposure;
use crate::model::{Curvatures, Model};
use crate::prior_checks::{self, in_words};
use crate::verdict;
use crate::warm_up::Warm;

/// A finished run.
pub struct Finished<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// The model.
    pub model: &'a Model,
    /// The warm-up.
    pub warm: &'a Warm,
    /// The result of sampling.
    pub sampled: &'a Sampled,
    /// Bounds of the curvature, of a posterior that has them.
    pub curvatures: Option<&'a Curvatures>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Run time in seconds, earlier processes included.
    pub seconds: f64,
}

impl fmt::Debug for Finished<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Finished").field("sampled", &self.sampled).finish_non_exhaustive()
    }
}

impl Finished<'_> {
    /// Diagnoses the draws. `values` computes U: [`Model::values`], unless other processes hold a
    /// part of the rows.
    ///
    /// # Errors
    /// [`Error::Stopped`] and [`Error::NoDraws`] if some chain has no draw; draws that cannot be
    /// read.
    pub fn conclude(
        &self, draws: &dyn DrawReader, values: Values<'_>,
    ) -> Result<SummaryDocument, Error> {
        if draws.draws() == 0 {
            return Err(if self.sampled.outcome.stopped {
                Error::Stopped
            } else {
                Error::NoDraws(self.sampled.no_draws())
            });
        }
        let search = Search {
            whitening: &self.warm.whitening,
            mode: &self.warm.mode.point,
            rescaling: self.model.rescaling(),
        };
        // Trajectories have values of U: the run itself was held to the bound. Moves decided by a few
        // rows have bounds of their own.
        let excursion =
            if steps_of(&self.warm.scheme).is_some() { None } else { search.run(draws, values)? };
        let settings = &self.config.options;
        let (summaries, intervals): (Vec<_>, Vec<_>) =
            summaries_of(draws, settings.interval)?.into_iter().unzip();
        let parameters = self.parameters(&summaries);
        let warnings = self.sampled.warnings(self.model.names(), &summaries);
        let warnings = warnings.iter().chain(&excursion);
        let warnings = warnings.map(|warning| verdict::entry(warning, settings));
        let checked = prior_checks::check(self.model, &self.warm.mode.point, &parameters);
        let dispersed = dispersion::check(self.model, &self.warm.mode.point);
        let unlogged = exposure::check(self.model, &self.warm.mode.point);
        let warnings = warnings.chain(unlogged).chain(checked.warnings).chain(dispersed).collect();
        let notes = self.notes.iter().cloned().chain(checked.notes).collect();
        let text = Text {
            title: title(self.config),
            command: self.config.command.clone(),
            warnings,
            guarantee: verdict::guarantee(
                settings,
                &self.warm.scheme,
                self.curvatures.map(|curvatures| &curvatures.white),
                self.model.names().len(),
                self.sampled,
            ),
            notes,
            history: self.history(),
            facts: facts(self.config, self.model, self.curvatures),
        };
        let sampler = self.sampler_facts(draws.draws() as u64);
        let document = SummaryDocument::new(parameters, sampler, self.problem_facts(), text);
        Ok(document.with_intervals(&intervals, settings.interval).with_groups(self.model.groups()))
    }

    fn parameters(&self, summaries: &[Summary]) -> Vec<Parameter> {
        let names = self.model.names();
        let parameters = names.iter().zip(summaries).map(|(name, s)| Parameter::new(name, s));
        let mut parameters: Vec<Parameter> = parameters.collect();
        let mut mode = self.warm.mode.point.clone();
        if let Some(rescaling) = self.model.rescaling() {
            rescaling.apply(&mut mode);
        }
        // Under Laplace's prior the point is only near the mode.
        let near = |prior: &Density| matches!(prior, Density::Laplace { .. });
        // And in coordinates of a factor it is that of the scales, with effects at their means.
        let exact =
            !self.model.priors().coefficients.iter().any(near) && self.model.fill().is_none();
        for (parameter, mode) in parameters.iter_mut().zip(mode) {
            parameter.mode = exact.then_some(mode);
        }
        // The differences belong to the sampled coefficients; an unbiased kernel has none.
        if self.model.rescaling().is_none() {
            let found = summaries.iter().zip(&self.sampled.differences);
            for (parameter, (summary, difference)) in parameters.iter_mut().zip(found) {
                let moments = Extrapolated::new(summary, difference);
                parameter.mean_extrapolated = Some(moments.mean);
                parameter.sd_extrapolated = Some(moments.sd);
            }
        }
        parameters
    }

    fn sampler_facts(&self, draws: u64) -> SamplerFacts {
        let (settings, scheme) = (&self.config.options, &self.warm.scheme);
        let (bias, exact) = (self.sampled.bias, steps_of(scheme));
        SamplerFacts {
            kernel: scheme.name().to_owned(),
            gamma: scheme.gamma().unwrap_or(f64::NAN),
            xi: scheme.xi().unwrap_or(f64::NAN),
            eta: scheme.eta(),
            chains: settings.chains,
            draws,
            thin: settings.thin.unwrap_or(self.warm.thin),
            warmup_gradients: self.warm.gradients,
            gradients: self.sampled.gradients(),
            seconds: self.seconds,
            bias_estimate: bias.largest(),
            status: String::new(),
            bias_details: exact.is_none().then_some(BiasDetails {
                mean: bias.mean,
                mean_error: bias.mean_error,
                sd: bias.sd,
                sd_error: bias.sd_error,
                quantile: bias.quantile,
                quantile_error: bias.quantile_error,
                tolerance: self.sampled.tolerance,
            }),
            trajectories: exact.map(|steps| Trajectories::new(steps, &self.sampled.outcome)),
        }
    }

    fn problem_facts(&self) -> ProblemFacts {
        let unknown = [f64::NAN; 2];
        let [m, l] = self.curvatures.map_or(unknown, |curvatures| bounds(&curvatures.original));
        ProblemFacts {
            n: self.model.frame().all_rows,
            d: self.model.names().len(),
            family: self.config.options.family.to_string(),
            convexity: m,
            smoothness: l,
            condition_number: l / m,
        }
    }

    fn history(&self) -> Vec<String> {
        let mut history: Vec<String> = self.warm.history.iter().map(ToString::to_string).collect();
        if let Some(confirmed) = &self.sampled.confirmation {
            history.push(format!(
                "confirmed at the end of the run: bias of means {:.3} ± {:.3} sd, of sds {:.1} ± {:.1} %, of quantiles {:.3} ± {:.3} sd",
                confirmed.mean,
                confirmed.mean_error,
                100.0 * confirmed.sd,
                100.0 * confirmed.sd_error,
                confirmed.quantile,
                confirmed.quantile_error
            ));
        }
        let look = |draws: u64, ess: f64| {
            format!("after {draws} draws per chain: smallest bulk ESS {ess:.0}")
        };
        history.extend(self.sampled.looks.iter().map(|seen| look(seen.draws, seen.ess)));
        history
    }
}

/// Steps of a trajectory that is accepted or rejected, 0 of a move decided by a few rows; `None` for
/// kernels without acceptance.
fn steps_of(scheme: &Scheme) -> Option<u32> {
    if scheme.kernel() == KernelKind::Subsampled {
        return Some(0);
    }
    scheme.trajectory().map(|trajectory| trajectory.steps)
}

/// m and L; NaN if unbounded.
fn bounds(curvature: &Curvature) -> [f64; 2] {
    let m = curvature.convexity().value;
    let l = curvature.smoothness().map_or(f64::NAN, |l| l.value);
    [if m > 0.0 { m } else { f64::NAN }, l]
}

/// One line about what was fitted.
fn title(config: &Config) -> String {
    let settings = &config.options;
    let file = settings.data.as_ref().and_then(|path| path.file_name());
    let file = file.map(|name| name.to_string_lossy().into_owned());
    let file = file.unwrap_or_else(|| config.data.title());
    let model = settings.formula.as_ref().or(settings.response.as_ref());
    format!("{} in {file}", model.map_or("", String::as_str))
}

/// More about the problem: data, prior, scale.
fn facts(config: &Config, model: &Model, curvatures: Option<&Curvatures>) -> Vec<Fact> {
    let Config { options: settings, data, .. } = config;
    let fact = |name: &str, value: String| Fact { name: name.into(), value };
    let scale = match (settings.standardize, settings.original_scale) {
        (false, _) => "the data",
        (true, false) => "standardized predictors (centred, divided by their standard deviation)",
        (true, true) => "the data; priors and sampling use standardized predictors",
    };
    let mut facts = vec![
        fact("data", format!("{}, SHA-256 {}", data.file, data.sha256)),
        fact("prior", in_words(model)),
        fact("scale of the results", scale.into()),
    ];
    let fixed = [
        ("noise scale", settings.noise_scale),
        ("size", settings.dispersion),
        ("shape", settings.shape),
        ("degrees of freedom", settings.degrees_of_freedom),
    ];
    let fixed = fixed.into_iter().filter_map(|(name, value)| Some((name, value?)));
    facts.extend(fixed.map(|(name, value)| fact(name, format!("{value}, as given"))));
    if let Some(Ok([m, l])) = curvatures.map(|c| c.white.certifiable()) {
        let kappa = l / m;
        let value = format!("between {m:.4} and {l:.4}, condition number {kappa:.4}");
        facts.push(fact("curvature after whitening", value));
    }
    facts
}

/// The document of draws of the prior, which took so many seconds.
///
/// # Errors
/// Draws that cannot be read.
pub fn conclude_prior(
    config: &Config, model: &Model, draws: &dyn DrawReader, seconds: f64,
) -> Result<SummaryDocument, Error> {
    let settings = &config.options;
    let found = summaries_of(draws, settings.interval)?;
    let named = model.names().iter().zip(&found);
    let parameters = named.map(|(name, (summary, _))| Parameter::new(name, summary)).collect();
    let intervals: Vec<_> = found.into_iter().map(|(_, interval)| interval).collect();
    let unknown = f64::NAN;
    let sampler = SamplerFacts {
        kernel: "prior".to_owned(),
        gamma: unknown,
        xi: unknown,
        eta: unknown,
        chains: settings.chains,
        draws: draws.draws() as u64,
        thin: 1,
        warmup_gradients: 0,
        gradients: 0,
        seconds,
        bias_estimate: 0.0,
        status: String::new(),
        bias_details: None,
        trajectories: None,
    };
    let problem = ProblemFacts {
        n: model.frame().all_rows,
        d: model.names().len(),
        family: settings.family.to_string(),
        convexity: unknown,
        smoothness: unknown,
        condition_number: unknown,
    };
    let said = "these are draws of the prior: the responses were not used".to_owned();
    let notes = std::iter::once(said).chain(model.frame().notes.iter().cloned());
    let text = Text {
        title: format!("prior of {}", title(config)),
        command: config.command.clone(),
        guarantee: "draws of the prior are independent and exact".to_owned(),
        notes: notes.collect(),
        facts: facts(config, model, None),
        ..Text::default()
    };
    let document = SummaryDocument::new(parameters, sampler, problem, text);
    Ok(document.with_intervals(&intervals, settings.interval).with_groups(model.groups()))
}
