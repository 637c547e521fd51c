//! `summary.json`: what a run found, in the form that scripts rely on, and what the report says
//! beside it.
//!
//! The keys of parameters, sampler and problem are a promise; the others may grow. A number that is
//! not finite is `null`.

use ridgewalk_diagnostics::Summary;
use ridgewalk_sampler::Outcome;
use serde::{Deserialize, Deserializer, Serialize};

/// `summary.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SummaryDocument {
    /// One entry for each coefficient.
    pub parameters: Vec<Parameter>,
    /// How it was sampled.
    pub sampler: SamplerFacts,
    /// What was sampled.
    pub problem: ProblemFacts,
    /// What a reader is told beside the numbers.
    #[serde(flatten)]
    pub text: Text,
}

/// What is said about one coefficient.
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
    /// Where the posterior density is largest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<f64>,
    /// The mean without the measured bias of the step size, to leading order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_extrapolated: Option<f64>,
    /// The standard deviation likewise.
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
    /// Draws of each chain: as many as all chains have.
    pub draws: u64,
    /// Steps from one draw to the next.
    pub thin: u64,
    /// Gradients of the warm-up, over all chains.
    pub warmup_gradients: u64,
    /// Gradients after it, over all chains.
    pub gradients: u64,
    /// Seconds, warm-up included.
    #[serde(deserialize_with = "number")]
    pub seconds: f64,
    /// The estimated discretisation bias, in posterior standard deviations; `null` if it was not
    /// estimated.
    #[serde(deserialize_with = "number")]
    pub bias_estimate: f64,
    /// `ok`, or the names of the warnings, with a comma and a space between them.
    pub status: String,
    /// What the estimate is made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias_details: Option<BiasDetails>,
    /// What became of trajectories, for the kernel that accepts or rejects them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trajectories: Option<Trajectories>,
}

/// What became of trajectories that are accepted or rejected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trajectories {
    /// Steps, and gradients, of each.
    pub steps: u32,
    /// How many there were, over all chains.
    pub count: u64,
    /// The mean probability with which they were accepted.
    #[serde(deserialize_with = "number")]
    pub acceptance: f64,
    /// The same for each chain.
    pub acceptance_by_chain: Vec<f64>,
    /// How many diverged: their energy error was above 1000 or not finite, and they were rejected.
    pub divergences: u64,
    /// The mean energy error of the others.
    #[serde(deserialize_with = "number")]
    pub energy_error_mean: f64,
    /// Its standard deviation.
    #[serde(deserialize_with = "number")]
    pub energy_error_sd: f64,
    /// The largest by size.
    #[serde(deserialize_with = "number")]
    pub energy_error_largest: f64,
}

impl Trajectories {
    /// Those of a run, so many steps each.
    #[must_use]
    pub fn new(steps: u32, outcome: &Outcome) -> Self {
        let all = outcome.acceptance();
        Self {
            steps,
            count: all.proposals,
            acceptance: all.rate(),
            // A chain that ended before its first has none.
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

/// What the estimate of the bias is made of.
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
    /// What was allowed.
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
    /// L/m, of the coordinates that were sampled in.
    #[serde(deserialize_with = "number")]
    pub condition_number: f64,
}

/// What a reader is told beside the numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Text {
    /// One line of what was fitted.
    #[serde(default)]
    pub title: String,
    /// The command that ran it.
    #[serde(default)]
    pub command: String,
    /// What to be careful of; empty if the status is `ok`.
    #[serde(default)]
    pub warnings: Vec<WarningEntry>,
    /// What is guaranteed, or why nothing is.
    #[serde(default)]
    pub guarantee: String,
    /// Things worth knowing.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What the warm-up decided, line by line.
    #[serde(default)]
    pub history: Vec<String>,
    /// More about the problem: data, prior, scale.
    #[serde(default)]
    pub facts: Vec<Fact>,
}

/// A warning: its name is part of the status, its text says what it means and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarningEntry {
    /// Such as `low_ess`.
    pub name: String,
    /// A sentence or two.
    pub text: String,
}

/// One line of a list of facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// What it is about.
    pub name: String,
    /// What there is to say.
    pub value: String,
}

/// `null` is how JSON has a number that is not finite.
fn number<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
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
            mode: None,
            mean_extrapolated: None,
            sd_extrapolated: None,
        }
    }
}

/// `ok`, or the names of the warnings.
fn status(warnings: &[WarningEntry]) -> String {
    let named: Vec<&str> = warnings.iter().map(|warning| warning.name.as_str()).collect();
    if named.is_empty() { "ok".to_owned() } else { named.join(", ") }
}

impl SummaryDocument {
    /// Puts the parts together. The status is made from the warnings.
    #[must_use]
    pub fn new(
        parameters: Vec<Parameter>, sampler: SamplerFacts, problem: ProblemFacts, text: Text,
    ) -> Self {
        let sampler = SamplerFacts { status: status(&text.warnings), ..sampler };
        Self { parameters, sampler, problem, text }
    }

    /// Whether the run was stopped before it had all its draws.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.text.warnings.iter().any(|warning| warning.name == "stopped")
    }

    /// The smallest bulk or tail ESS; NaN if none is defined.
    #[must_use]
    pub fn smallest_ess(&self) -> f64 {
        self.parameters.iter().flat_map(|p| [p.ess_bulk, p.ess_tail]).fold(f64::NAN, f64::min)
    }

    /// The largest R-hat; NaN if none is defined.
    #[must_use]
    pub fn largest_rhat(&self) -> f64 {
        self.parameters.iter().map(|p| p.rhat).fold(f64::NAN, f64::max)
    }

    /// The document as text.
    ///
    /// # Errors
    /// None that is known: the document holds nothing that JSON has no form for.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}
