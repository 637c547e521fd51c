//! `summary.json`: the results of a run in a form that scripts rely on, and the texts of the
//! report.
//!
//! The keys of parameters, sampler and problem are stable; other keys may be added. A number that
//! is not finite is `null`.

use ridgewalk_diagnostics::{Intervals, Summary};
use ridgewalk_sampler::Outcome;
use serde::{Deserialize, Deserializer, Serialize};

use crate::group_layout::{self, GroupSummary};
use crate::settings::{DEFAULT_INTERVAL, default_interval};

/// How the guarantee of a certified run begins.
pub(crate) const CERTIFIED: &str = "certified";

/// `summary.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SummaryDocument {
    /// One entry per coefficient.
    pub parameters: Vec<Parameter>,
    /// How it was sampled.
    pub sampler: SamplerFacts,
    /// What was sampled.
    pub problem: ProblemFacts,
    /// The share of the posterior that intervals hold.
    #[serde(default = "default_interval")]
    pub interval: f64,
    /// What the parameters are if not coefficients: `odds ratio`, `rate ratio` and so on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<String>,
    /// The groupings, in the order of their effects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupSummary>,
    /// Texts for the reader.
    #[serde(flatten)]
    pub text: Text,
}

/// The results for one coefficient.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are those of the diagnostics' Summary")]
pub struct Parameter {
    pub name: String,
    #[serde(deserialize_with = "number")]
    pub mean: f64,
    #[serde(deserialize_with = "number")]
    pub sd: f64,
    #[serde(deserialize_with = "number")]
    pub mcse_mean: f64,
    #[serde(deserialize_with = "number")]
    pub q05: f64,
    #[serde(deserialize_with = "number")]
    pub q50: f64,
    #[serde(deserialize_with = "number")]
    pub q95: f64,
    #[serde(deserialize_with = "number")]
    pub ess_bulk: f64,
    #[serde(deserialize_with = "number")]
    pub ess_tail: f64,
    #[serde(deserialize_with = "number")]
    pub rhat: f64,
    /// The lower end of the central interval that was asked for; `q05` if that holds 90 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// Its upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    /// The lower end of the highest-density interval, the shortest that holds the same share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hdi_lower: Option<f64>,
    /// Its upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hdi_upper: Option<f64>,
    /// Where the posterior density is largest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<f64>,
    /// The mean corrected for the measured step-size bias, to leading order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_extrapolated: Option<f64>,
    /// The standard deviation, corrected in the same way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd_extrapolated: Option<f64>,
}

/// How it was sampled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SamplerFacts {
    /// The kernel.
    pub kernel: String,
    /// The friction γ.
    #[serde(deserialize_with = "number")]
    pub gamma: f64,
    /// The second friction ξ.
    #[serde(deserialize_with = "number")]
    pub xi: f64,
    /// The step η.
    #[serde(deserialize_with = "number")]
    pub eta: f64,
    /// Chains.
    pub chains: usize,
    /// Draws per chain: the number that all chains have.
    pub draws: u64,
    /// Steps from one draw to the next.
    pub thin: u64,
    /// Gradients in warm-up, over all chains.
    pub warmup_gradients: u64,
    /// Gradients in sampling, over all chains.
    pub gradients: u64,
    /// Seconds, warm-up included.
    #[serde(deserialize_with = "number")]
    pub seconds: f64,
    /// The estimated discretisation bias, in posterior standard deviations; `null` if it was not
    /// estimated.
    #[serde(deserialize_with = "number")]
    pub bias_estimate: f64,
    /// `ok`, or the names of the warnings, separated by a comma and a space.
    pub status: String,
    /// The parts of the bias estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias_details: Option<BiasDetails>,
    /// Trajectory statistics, for the kernel that accepts or rejects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trajectories: Option<Trajectories>,
}

/// Statistics of trajectories that are accepted or rejected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trajectories {
    /// Steps per trajectory, which is also its number of gradients; 0 for moves that are decided by a
    /// few rows, whose energy errors are not known.
    pub steps: u32,
    /// The number of trajectories, over all chains.
    pub count: u64,
    /// The mean acceptance probability.
    #[serde(deserialize_with = "number")]
    pub acceptance: f64,
    /// The same per chain.
    pub acceptance_by_chain: Vec<f64>,
    /// The number of divergences: energy errors above 1000 or not finite, which are rejected.
    pub divergences: u64,
    /// The mean energy error of the trajectories that did not diverge.
    #[serde(deserialize_with = "number")]
    pub energy_error_mean: f64,
    /// Its standard deviation.
    #[serde(deserialize_with = "number")]
    pub energy_error_sd: f64,
    /// The largest in magnitude.
    #[serde(deserialize_with = "number")]
    pub energy_error_largest: f64,
}

impl Trajectories {
    /// The statistics of a run with `steps` steps per trajectory.
    #[must_use]
    pub fn new(steps: u32, outcome: &Outcome) -> Self {
        let all = outcome.acceptance();
        Self {
            steps,
            count: all.proposals,
            acceptance: all.rate(),
            // A chain that ended before its first trajectory has none.
            acceptance_by_chain: outcome
                .chains
                .iter()
                .map(
                    |chain| {
                        if chain.acceptance.proposals > 0 { chain.acceptance.rate() } else { 0.0 }
                    },
                )
                .collect(),
            divergences: all.divergences,
            energy_error_mean: all.mean_error(),
            energy_error_sd: all.sd_error(),
            energy_error_largest: all.largest_error,
        }
    }
}

/// The parts of the bias estimate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BiasDetails {
    /// The largest bias of a mean, in standard deviations.
    #[serde(deserialize_with = "number")]
    pub mean: f64,
    /// Its standard error.
    #[serde(deserialize_with = "number")]
    pub mean_error: f64,
    /// The largest relative bias of a standard deviation.
    #[serde(deserialize_with = "number")]
    pub sd: f64,
    /// Its standard error.
    #[serde(deserialize_with = "number")]
    pub sd_error: f64,
    /// The largest bias of a 5 %, 50 % or 95 % quantile, in standard deviations.
    #[serde(default = "unknown", deserialize_with = "number")]
    pub quantile: f64,
    /// Its standard error.
    #[serde(default = "unknown", deserialize_with = "number")]
    pub quantile_error: f64,
    /// The tolerance.
    #[serde(deserialize_with = "number")]
    pub tolerance: f64,
}

/// What was sampled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProblemFacts {
    /// Observations.
    pub n: usize,
    /// Coefficients.
    pub d: usize,
    /// The family.
    pub family: String,
    /// The smallest curvature m.
    #[serde(deserialize_with = "number")]
    pub convexity: f64,
    /// The largest curvature L.
    #[serde(deserialize_with = "number")]
    pub smoothness: f64,
    /// L/m in the coordinates used for sampling.
    #[serde(deserialize_with = "number")]
    pub condition_number: f64,
}

/// Texts for the reader.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Text {
    /// One line about what was fitted.
    #[serde(default)]
    pub title: String,
    /// The command.
    #[serde(default)]
    pub command: String,
    /// Warnings; empty if the status is `ok`.
    #[serde(default)]
    pub warnings: Vec<WarningEntry>,
    /// The guarantee, or why there is none.
    #[serde(default)]
    pub guarantee: String,
    /// Notes.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What the warm-up decided, line by line.
    #[serde(default)]
    pub history: Vec<String>,
    /// More about the problem: data, prior, scale.
    #[serde(default)]
    pub facts: Vec<Fact>,
}

/// A warning: its name is part of the status, its text explains it and gives a remedy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarningEntry {
    /// Such as `low_ess`.
    pub name: String,
    /// A sentence or two.
    pub text: String,
}

/// One entry of a list of facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// The label.
    pub name: String,
    /// The value.
    pub value: String,
}

/// What older files do not have.
fn unknown() -> f64 {
    f64::NAN
}

/// `null` stands for a number that is not finite.
pub(crate) fn number<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::NAN))
}

impl Parameter {
    /// A name with its summary.
    #[must_use]
    pub fn new(name: &str, summary: &Summary) -> Self {
        let Summary { mean, sd, mcse_mean, q05, q50, q95, ess_bulk, ess_tail, rhat, .. } = *summary;
        Self {
            name: name.to_owned(),
            mean,
            sd,
            mcse_mean,
            q05,
            q50,
            q95,
            ess_bulk,
            ess_tail,
            rhat,
            lower: None,
            upper: None,
            hdi_lower: None,
            hdi_upper: None,
            mode: None,
            mean_extrapolated: None,
            sd_extrapolated: None,
        }
    }

    /// The same with intervals that hold the share `interval`.
    #[must_use]
    pub fn with_intervals(self, intervals: &Intervals, interval: f64) -> Self {
        // The quantiles of the table are an interval of 90 % already.
        let other = interval != DEFAULT_INTERVAL;
        Self {
            lower: other.then_some(intervals.lower),
            upper: other.then_some(intervals.upper),
            hdi_lower: Some(intervals.hdi_lower),
            hdi_upper: Some(intervals.hdi_upper),
            ..self
        }
    }

    /// The ends of the central interval.
    #[must_use]
    pub fn central(&self) -> [f64; 2] {
        [self.lower.unwrap_or(self.q05), self.upper.unwrap_or(self.q95)]
    }

    /// The ends of the highest-density interval; `None` in files that do not have it.
    #[must_use]
    pub fn hdi(&self) -> Option<[f64; 2]> {
        self.hdi_lower.zip(self.hdi_upper).map(|(lower, upper)| [lower, upper])
    }
}

/// `ok`, or the names of the warnings.
fn status(warnings: &[WarningEntry]) -> String {
    let named: Vec<&str> = warnings.iter().map(|warning| warning.name.as_str()).collect();
    if named.is_empty() { "ok".to_owned() } else { named.join(", ") }
}

impl SummaryDocument {
    /// Builds the document, with intervals of 90 %. The status comes from the warnings.
    #[must_use]
    pub fn new(
        parameters: Vec<Parameter>, sampler: SamplerFacts, problem: ProblemFacts, text: Text,
    ) -> Self {
        let sampler = SamplerFacts { status: status(&text.warnings), ..sampler };
        let interval = DEFAULT_INTERVAL;
        Self { parameters, sampler, problem, interval, scale: None, groups: Vec::new(), text }
    }

    /// The same with intervals that hold the share `interval`, one entry per parameter.
    #[must_use]
    pub fn with_intervals(self, intervals: &[Intervals], interval: f64) -> Self {
        let with = |(parameter, found): (Parameter, _)| parameter.with_intervals(found, interval);
        let parameters = self.parameters.into_iter().zip(intervals).map(with).collect();
        Self { parameters, interval, ..self }
    }

    /// Whether the run was stopped before it had all its draws.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.text.warnings.iter().any(|warning| warning.name == "stopped")
    }

    /// Whether the guarantee is a proof about the steps of this run.
    #[must_use]
    pub fn is_certified(&self) -> bool {
        self.text.guarantee.starts_with(CERTIFIED)
    }

    /// The smallest bulk or tail ESS; NaN if none is defined.
    #[must_use]
    pub fn smallest_ess(&self) -> f64 {
        group_layout::smallest_ess(&self.parameters)
    }

    /// The largest R-hat; NaN if none is defined.
    #[must_use]
    pub fn largest_rhat(&self) -> f64 {
        group_layout::largest_rhat(&self.parameters)
    }

    /// The document as text.
    ///
    /// # Errors
    /// None is known: everything in the document can be written as JSON.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}
