//! All settings of a fit, validated once. `config.toml` is its serialisation.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use ridgewalk_frame::{Condition, DataError, FamilyName, Formula, Question, Table};
use ridgewalk_lyapunov::laws::KernelKind;
use ridgewalk_potentials::{Method, ModeSearch};
use ridgewalk_sampler::automatic::{Length, UNADJUSTED_TOLERANCE, Wanted};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::memory::Memory;

/// The response of the data that ship with the program.
const BUILT_IN_RESPONSE: &str = "y";
/// The scale of its priors.
const BUILT_IN_SCALE: f64 = 2.5;
/// The share of the posterior that intervals hold, unless another is asked for.
pub const DEFAULT_INTERVAL: f64 = 0.9;
/// More chains would take gigabytes for their states alone.
const MOST_CHAINS: usize = 100_000;
/// More draws could overflow the count of steps.
const MOST_DRAWS: u64 = 1_000_000_000_000;

/// The kernels to choose from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelChoice {
    /// The one with the most effective draws per gradient within the tolerance.
    #[default]
    Auto,
    /// The paper's Algorithm 1.
    ThirdOrder,
    /// The symmetric splitting of the same dynamics.
    Symmetric,
    /// The gradient averaged over a predicted segment.
    Averaged,
    /// Trajectories that are accepted or rejected: no discretisation bias.
    Adjusted,
    /// Moves that are accepted or rejected by a few rows: no discretisation bias.
    Subsampled,
}

impl KernelChoice {
    /// All kernels.
    pub const ALL: [Self; 6] = [
        Self::Auto,
        Self::ThirdOrder,
        Self::Symmetric,
        Self::Averaged,
        Self::Adjusted,
        Self::Subsampled,
    ];

    /// Its name on the command line and in `config.toml`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::ThirdOrder => "third-order",
            Self::Symmetric => "symmetric",
            Self::Averaged => "averaged",
            Self::Adjusted => "adjusted",
            Self::Subsampled => "subsampled",
        }
    }

    /// A short description.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Auto => {
                "adjusted, subsampled for many rows; with --bias-tolerance B > 0 the most efficient one within it"
            }
            Self::ThirdOrder => "the paper's Algorithm 1",
            Self::Symmetric => "the symmetric splitting of the same dynamics",
            Self::Averaged => "the gradient averaged over a predicted segment",
            Self::Adjusted => "trajectories that are accepted or rejected: no discretisation bias",
            Self::Subsampled => {
                "moves that are accepted or rejected by a few rows: the same, for many rows"
            }
        }
    }

    fn kind(self) -> Option<KernelKind> {
        match self {
            Self::Auto => None,
            Self::ThirdOrder => Some(KernelKind::ThirdOrder),
            Self::Symmetric => Some(KernelKind::Symmetric),
            Self::Averaged => Some(KernelKind::Averaged),
            Self::Adjusted => Some(KernelKind::Adjusted),
            Self::Subsampled => Some(KernelKind::Subsampled),
        }
    }
}

impl fmt::Display for KernelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An unknown kernel name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "found the kernel `{0}`, need auto, third-order, symmetric, averaged, adjusted or subsampled"
)]
pub struct UnknownKernel(String);

impl FromStr for KernelChoice {
    type Err = UnknownKernel;

    fn from_str(name: &str) -> Result<Self, UnknownKernel> {
        let found = Self::ALL.into_iter().find(|kernel| kernel.name() == name);
        found.ok_or_else(|| UnknownKernel(name.to_owned()))
    }
}

/// How to search for the mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchChoice {
    /// Newton's method up to 2,000 coefficients, L-BFGS beyond.
    #[default]
    Auto,
    /// Newton's method.
    Newton,
    /// L-BFGS, from gradients alone.
    Lbfgs,
    /// Nesterov's accelerated gradients.
    Accelerated,
}

impl SearchChoice {
    /// All searches.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Newton, Self::Lbfgs, Self::Accelerated];

    /// Its name on the command line and in `config.toml`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Newton => "newton",
            Self::Lbfgs => "lbfgs",
            Self::Accelerated => "accelerated",
        }
    }

    /// A short description.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Auto => "Newton's method up to 2,000 coefficients, L-BFGS beyond",
            Self::Newton => "Newton's method",
            Self::Lbfgs => "L-BFGS, from gradients alone",
            Self::Accelerated => {
                "the paper's: Nesterov's accelerated gradients, which need bounds of the curvature"
            }
        }
    }

    /// The search.
    pub(crate) fn search(self) -> ModeSearch {
        let method = match self {
            Self::Auto => return ModeSearch::new(),
            Self::Newton => Method::Newton,
            Self::Lbfgs => Method::Lbfgs,
            Self::Accelerated => Method::Accelerated,
        };
        ModeSearch::new().with_method(method)
    }
}

impl fmt::Display for SearchChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An unknown name of a search.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("found the mode search `{0}`, need auto, newton, lbfgs or accelerated")]
pub struct UnknownSearch(String);

impl FromStr for SearchChoice {
    type Err = UnknownSearch;

    fn from_str(name: &str) -> Result<Self, UnknownSearch> {
        let found = Self::ALL.into_iter().find(|search| search.name() == name);
        found.ok_or_else(|| UnknownSearch(name.to_owned()))
    }
}

/// All settings of a fit. Messages name a setting by its command-line option: `--prior-scale` is
/// [`Settings::prior_scale`].
///
/// ```
/// use ridgewalk_fit::Settings;
/// use ridgewalk_frame::FamilyName;
///
/// let settings = Settings { seed: 7, draws: 500, ..Settings::new("y", FamilyName::Poisson) };
/// assert!(settings.validate().is_ok());
/// let wrong = Settings { chains: 0, ..settings };
/// assert_eq!(wrong.validate().unwrap_err().to_string(), "--chains 0: need at least 1");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Settings {
    /// The data file; `None` for the data that ship with the program or a table in memory.
    pub data: Option<PathBuf>,
    /// The model as a formula: `y ~ x * z`. Takes the place of `response` and `predictors`.
    #[serde(default)]
    pub formula: Option<String>,
    /// The response column.
    pub response: Option<String>,
    /// The family.
    pub family: FamilyName,
    /// The predictor columns; `None` for all columns without another role.
    pub predictors: Option<Vec<String>>,
    /// Columns that are no predictors, of those used by default.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Which rows are used: a condition such as `age >= 18 & sex == "f"`.
    #[serde(default, rename = "where")]
    pub condition: Option<String>,
    /// Columns of numbers that are factors.
    #[serde(default)]
    pub factor: Vec<String>,
    /// Base levels of factors: `city=Oslo`.
    #[serde(default)]
    pub base: Vec<String>,
    /// Whether the prior is sampled instead of the posterior.
    #[serde(default)]
    pub prior_only: bool,
    /// The column of trials: the response counts successes out of them (logistic, probit).
    pub trials: Option<String>,
    /// The column added to the linear predictor.
    pub offset: Option<String>,
    /// The column of weights.
    pub weights: Option<String>,
    /// Survival families: the column with 1 for an event and 0 for a censored row.
    #[serde(default)]
    pub event: Option<String>,
    /// Survival families: the column with the end of the interval that the time lies in; the
    /// response is its start.
    #[serde(default)]
    pub upper: Option<String>,
    /// The levels of an ordinal or multinomial response, in order.
    #[serde(default)]
    pub levels: Option<Vec<String>>,
    /// Leave the intercept out.
    pub no_intercept: bool,
    /// Leave out rows with missing values instead of refusing them.
    pub drop_missing: bool,
    /// Centre predictors and divide them by their standard deviation; priors and results are on
    /// that scale.
    pub standardize: bool,
    /// With `standardize`: results on the scale of the data.
    pub original_scale: bool,
    /// Prior of the coefficients, such as `normal(0, 2.5, autoscale)`, the default.
    #[serde(default)]
    pub prior: Option<String>,
    /// Prior of the intercept, at the means of the predictors.
    #[serde(default)]
    pub intercept_prior: Option<String>,
    /// Prior of the noise scale, dispersion, shape or thresholds.
    #[serde(default)]
    pub aux_prior: Option<String>,
    /// Prior of the standard deviations of group effects.
    #[serde(default)]
    pub group_prior: Option<String>,
    /// Prior normal(0, S) of the coefficients; infinite is flat.
    pub prior_scale: Option<f64>,
    /// Prior normal(0, S) of the intercept, where all predictors are 0; infinite is flat.
    pub intercept_prior_scale: Option<f64>,
    /// A TOML file with priors of single coefficients.
    pub priors: Option<PathBuf>,
    /// Priors of single coefficients: `age=normal(0, 1)`. They come after those of the file.
    #[serde(default)]
    pub prior_of: Vec<String>,
    /// Fixes the scale of the noise (gaussian, robust-logistic, robust-huber).
    pub noise_scale: Option<f64>,
    /// Fixes the size r of the negative binomial: the variance is μ + μ²/r.
    #[serde(default)]
    pub dispersion: Option<f64>,
    /// Fixes the shape (gamma, weibull, log-logistic, log-normal).
    #[serde(default)]
    pub shape: Option<f64>,
    /// Fixes the degrees of freedom (student-t).
    #[serde(default)]
    pub degrees_of_freedom: Option<f64>,
    /// Where Huber's loss turns from a square into a line, in noise scales (robust-huber).
    pub huber_delta: Option<f64>,
    /// How to search for the mode.
    #[serde(default)]
    pub mode_search: SearchChoice,
    /// The kernel.
    pub kernel: KernelChoice,
    /// Line integrals by this many Chebyshev nodes instead of exactly.
    pub nodes: Option<usize>,
    /// Fixes γ (whitened coordinates, L = 1).
    pub gamma: Option<f64>,
    /// Fixes ξ.
    pub xi: Option<f64>,
    /// Fixes the step η.
    pub eta: Option<f64>,
    /// The discretisation bias allowed, in posterior standard deviations; 0 asks for the adjusted
    /// kernel, which has none. `None` is 0, and 0.05 with an unadjusted kernel.
    pub bias_tolerance: Option<f64>,
    /// The number of chains.
    pub chains: usize,
    /// Draws kept per chain.
    pub draws: u64,
    /// Steps from one draw to the next; `None` to choose it so that draws are nearly independent.
    pub thin: Option<u64>,
    /// Sample until the smallest bulk ESS reaches this, instead of a fixed number of draws.
    pub target_ess: Option<f64>,
    /// With `target_ess`: the maximum number of draws per chain.
    pub max_draws: u64,
    /// The share of the posterior that intervals in tables hold, between 0 and 1.
    #[serde(default = "default_interval")]
    pub interval: f64,
    /// The seed: the same seed gives the same draws, whatever the number of threads.
    #[serde(with = "as_text")]
    pub seed: u64,
    /// Threads; `None` for all cores.
    pub threads: Option<usize>,
    /// The memory that a fit may take; `None` for most of what is free. Packed data that need more
    /// are read from the disk, with the same draws.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// The run directory.
    pub out: PathBuf,
    /// Also write the draws to `draws.csv`.
    pub csv: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            data: None,
            formula: None,
            response: None,
            family: FamilyName::Logistic,
            predictors: None,
            exclude: Vec::new(),
            condition: None,
            factor: Vec::new(),
            base: Vec::new(),
            prior_only: false,
            trials: None,
            offset: None,
            weights: None,
            event: None,
            upper: None,
            levels: None,
            no_intercept: false,
            drop_missing: false,
            standardize: false,
            original_scale: false,
            prior: None,
            intercept_prior: None,
            aux_prior: None,
            group_prior: None,
            prior_scale: None,
            intercept_prior_scale: None,
            priors: None,
            prior_of: Vec::new(),
            noise_scale: None,
            dispersion: None,
            shape: None,
            degrees_of_freedom: None,
            huber_delta: None,
            mode_search: SearchChoice::Auto,
            kernel: KernelChoice::Auto,
            nodes: None,
            gamma: None,
            xi: None,
            eta: None,
            bias_tolerance: None,
            chains: 8,
            draws: 1000,
            thin: None,
            target_ess: None,
            max_draws: 100_000,
            interval: DEFAULT_INTERVAL,
            seed: 0,
            threads: None,
            memory: None,
            out: PathBuf::from("ridgewalk-run"),
            csv: false,
        }
    }
}

impl Settings {
    /// Regresses `response` on all other columns of a table.
    #[must_use]
    pub fn new(response: &str, family: FamilyName) -> Self {
        Self { response: Some(response.to_owned()), family, ..Self::default() }
    }

    /// The regression that a formula describes.
    #[must_use]
    pub fn of_formula(formula: &str, family: FamilyName) -> Self {
        Self { formula: Some(formula.to_owned()), family, ..Self::default() }
    }

    /// Logistic regression on the data that ship with the program, with standardized predictors and
    /// priors normal(0, 2.5).
    #[must_use]
    pub fn built_in() -> Self {
        Self {
            standardize: true,
            prior_scale: Some(BUILT_IN_SCALE),
            intercept_prior_scale: Some(BUILT_IN_SCALE),
            ..Self::new(BUILT_IN_RESPONSE, FamilyName::Logistic)
        }
    }

    /// Checks every setting that does not depend on the data.
    ///
    /// # Errors
    /// [`Error::Setting`] names the first invalid setting.
    pub fn validate(&self) -> Result<(), Error> {
        self.validate_paths()?;
        self.validate_counts()?;
        self.validate_numbers()?;
        validate_interval(self.interval)?;
        self.validate_formula()?;
        self.validate_model()?;
        self.validate_priors()
    }

    /// `config.toml` has the paths as text.
    fn validate_paths(&self) -> Result<(), Error> {
        let paths = [
            ("the data file", self.data.as_deref()),
            ("--priors", self.priors.as_deref()),
            ("--out", Some(self.out.as_path())),
        ];
        let other = |path: &Path| path.to_str().is_none();
        match paths.into_iter().find_map(|(name, path)| Some((name, path.filter(|p| other(p))?))) {
            Some((name, path)) => {
                let need =
                    "a path in UTF-8, because config.toml names it; rename the file or folder";
                Err(Error::setting(name, path.display(), need))
            }
            None => Ok(()),
        }
    }

    fn validate_counts(&self) -> Result<(), Error> {
        let counts = [
            ("--chains", self.chains == 0),
            ("--draws", self.draws == 0),
            ("--thin", self.thin == Some(0)),
            ("--max-draws", self.max_draws == 0),
            ("--nodes", self.nodes == Some(0)),
            ("--threads", self.threads == Some(0)),
        ];
        if let Some((name, _)) = counts.into_iter().find(|(_, zero)| *zero) {
            return Err(Error::setting(name, 0, "at least 1"));
        }
        if self.chains > MOST_CHAINS {
            return Err(Error::setting("--chains", self.chains, format!("at most {MOST_CHAINS}")));
        }
        let (name, draws) = match self.target_ess {
            Some(_) => ("--max-draws", self.max_draws),
            None => ("--draws", self.draws),
        };
        if draws > MOST_DRAWS {
            return Err(Error::setting(name, draws, format!("at most {MOST_DRAWS}")));
        }
        match self.thin {
            Some(thin) if thin.checked_mul(draws).is_none() => Err(Error::setting(
                "--thin",
                thin,
                format!("a smaller value: {draws} draws would take more steps than can be counted"),
            )),
            _ => Ok(()),
        }
    }

    fn validate_numbers(&self) -> Result<(), Error> {
        if self.tolerance() == 0.0 && !self.unbiased() {
            return Err(Error::setting(
                "--bias-tolerance",
                format!("0 with --kernel {}", self.kernel),
                "a positive number, because every unadjusted kernel has a bias; the default has none",
            ));
        }
        let tolerance = self.bias_tolerance.filter(|tolerance| *tolerance != 0.0);
        let numbers = [
            ("--gamma", self.gamma),
            ("--xi", self.xi),
            ("--eta", self.eta),
            ("--bias-tolerance", tolerance),
            ("--target-ess", self.target_ess),
            ("--noise-scale", self.noise_scale),
            ("--huber-delta", self.huber_delta),
            ("--dispersion", self.dispersion),
            ("--shape", self.shape),
            ("--degrees-of-freedom", self.degrees_of_freedom),
        ];
        for (name, value) in numbers {
            if let Some(value) = value.filter(|value| !(*value > 0.0 && value.is_finite())) {
                return Err(Error::setting(name, value, "a positive, finite number"));
            }
        }
        Ok(())
    }

    /// A formula that can be read, and no option that says the same.
    fn validate_formula(&self) -> Result<(), Error> {
        self.parsed_formula()?;
        self.parsed_condition()?;
        self.bases()?;
        let twice =
            [("--response", self.response.is_some()), ("--predictors", self.predictors.is_some())];
        match twice.into_iter().find(|(_, given)| *given && self.formula.is_some()) {
            Some((name, _)) => Err(Error::setting(name, "with a formula", "one of the two")),
            None => Ok(()),
        }
    }

    fn parsed_formula(&self) -> Result<Option<Formula>, Error> {
        let parse = |text: &String| text.parse::<Formula>().map_err(DataError::from);
        Ok(self.formula.as_ref().map(parse).transpose()?)
    }

    fn parsed_condition(&self) -> Result<Option<Condition>, Error> {
        let parse = |text: &String| text.parse::<Condition>().map_err(DataError::from);
        Ok(self.condition.as_ref().map(parse).transpose()?)
    }

    /// Columns and their base levels.
    fn bases(&self) -> Result<Vec<(String, String)>, Error> {
        let pair = |text: &String| match text.split_once('=') {
            Some((column, level)) if !column.is_empty() && !level.is_empty() => {
                Ok((column.to_owned(), level.to_owned()))
            }
            _ => Err(Error::setting("--base", text, "a column and a level, such as city=Oslo")),
        };
        self.base.iter().map(pair).collect()
    }

    fn validate_model(&self) -> Result<(), Error> {
        use FamilyName as F;
        let family = self.family;
        let of_families: [(&str, bool, &[FamilyName]); 6] = [
            (
                "--noise-scale",
                self.noise_scale.is_some(),
                &[F::Gaussian, F::RobustLogistic, F::RobustHuber],
            ),
            ("--huber-delta", self.huber_delta.is_some(), &[F::RobustHuber]),
            ("--dispersion", self.dispersion.is_some(), &[F::NegativeBinomial]),
            (
                "--shape",
                self.shape.is_some(),
                &[F::Gamma, F::Weibull, F::LogLogistic, F::LogNormal],
            ),
            ("--degrees-of-freedom", self.degrees_of_freedom.is_some(), &[F::StudentT]),
            ("--levels", self.levels.is_some(), &[F::Ordinal, F::Multinomial]),
        ];
        for (name, given, families) in of_families {
            if given && !families.contains(&family) {
                let names: Vec<&str> = families.iter().map(|family| family.name()).collect();
                let need = if let [one] = names[..] {
                    one.to_owned()
                } else {
                    format!("one of {}", names.join(", "))
                };
                return Err(Error::setting(name, format!("with --family {family}"), need));
            }
        }
        if self.original_scale && !self.standardize {
            return Err(Error::setting(
                "--original-scale",
                "without --standardize",
                "both, or neither",
            ));
        }
        let without = self.no_intercept
            || self.parsed_formula()?.is_some_and(|formula| !formula.has_intercept());
        if self.original_scale && without {
            return Err(Error::setting(
                "--original-scale",
                "without an intercept",
                "an intercept: without it, centred predictors cannot be expressed on the scale of the data",
            ));
        }
        Ok(())
    }

    /// Options of priors that mean nothing for the family, or are given twice.
    fn validate_priors(&self) -> Result<(), Error> {
        use FamilyName as F;
        let family = self.family;
        let idle = [
            (
                "--aux-prior",
                self.aux_prior.is_some()
                    && matches!(
                        family,
                        F::Logistic | F::Probit | F::Poisson | F::Exponential | F::Multinomial
                    ),
                "a family with a noise scale, size, shape or thresholds",
            ),
            (
                "--intercept-prior",
                self.intercept_prior.is_some() && (family == F::Ordinal || self.no_intercept),
                "a model with an intercept; --aux-prior is the prior of thresholds",
            ),
            (
                "--no-intercept",
                self.no_intercept && family == F::Ordinal,
                "another family: thresholds take the place of the intercept",
            ),
        ];
        if let Some((name, _, need)) = idle.into_iter().find(|(_, given, _)| *given) {
            return Err(Error::setting(name, format!("with --family {family}"), need));
        }
        let twice = [
            ("--prior", self.prior.is_some() && self.prior_scale.is_some(), "--prior-scale"),
            (
                "--intercept-prior",
                self.intercept_prior.is_some() && self.intercept_prior_scale.is_some(),
                "--intercept-prior-scale",
            ),
        ];
        if let Some((name, _, other)) = twice.into_iter().find(|(_, both, _)| *both) {
            return Err(Error::setting(name, format!("with {other}"), "one of them"));
        }
        Ok(())
    }

    /// The same for a table that says itself what is to be fitted, as files of sparse rows do: without
    /// a formula or a response, `label` is explained by all entries.
    #[must_use]
    pub fn for_table(&self, table: &Table) -> Self {
        match table.own_model() {
            Some((response, predictor)) if self.formula.is_none() && self.response.is_none() => {
                Self {
                    response: Some(response.to_owned()),
                    predictors: Some(vec![predictor.to_owned()]),
                    ..self.clone()
                }
            }
            _ => self.clone(),
        }
    }

    /// The question about the table.
    ///
    /// # Errors
    /// [`Error::NoResponse`] if none was named; a formula or condition that cannot be read.
    pub fn question(&self, table: &Table) -> Result<Question, Error> {
        let columns: Vec<String> =
            table.columns().iter().map(|column| column.name().to_owned()).collect();
        self.for_table(table).question_of(table.name(), &columns)
    }

    /// The question about a table with this name and these columns.
    pub(crate) fn question_of(&self, file: &str, columns: &[String]) -> Result<Question, Error> {
        let mut formula = match (self.parsed_formula()?, &self.response) {
            (Some(formula), _) => formula,
            (None, Some(response)) => Formula::of_columns(response, self.predictors.as_deref()),
            (None, None) => {
                let (file, columns) = (file.to_owned(), columns.to_vec());
                return Err(Error::NoResponse { file, columns });
            }
        };
        if self.no_intercept {
            formula = formula.without_intercept();
        }
        Ok(Question {
            exclude: self.exclude.clone(),
            condition: self.parsed_condition()?,
            factors: self.factor.clone(),
            bases: self.bases()?,
            trials: self.trials.clone(),
            offset: self.offset.clone(),
            weights: self.weights.clone(),
            event: self.event.clone(),
            upper: self.upper.clone(),
            levels: self.levels.clone(),
            standardize: self.standardize,
            drop_missing: self.drop_missing,
            ..Question::of_formula(formula, self.family)
        })
    }

    /// Whether the kernel can be one without bias.
    pub(crate) fn unbiased(&self) -> bool {
        matches!(
            self.kernel,
            KernelChoice::Auto | KernelChoice::Adjusted | KernelChoice::Subsampled
        )
    }

    /// The discretisation bias allowed: as given, or none with a kernel that has none and
    /// [`UNADJUSTED_TOLERANCE`] with one that has.
    #[must_use]
    pub fn tolerance(&self) -> f64 {
        let default = if self.unbiased() { 0.0 } else { UNADJUSTED_TOLERANCE };
        self.bias_tolerance.unwrap_or(default)
    }

    /// How long the run is.
    #[must_use]
    pub fn length(&self) -> Length {
        match self.target_ess {
            Some(target) => Length::Ess { target, most: self.max_draws },
            None => Length::Draws(self.draws),
        }
    }

    /// The kernel and the fixed parameters.
    pub(crate) fn wanted(&self) -> Wanted {
        let (gamma, xi, eta) = (self.gamma, self.xi, self.eta);
        Wanted { kernel: self.kernel.kind(), gamma, xi, eta }
    }

    /// Expected draws per chain, which set the budget of the warm-up.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped count")]
    pub(crate) fn expected_draws(&self) -> u64 {
        match self.target_ess {
            Some(target) => ((target / self.chains as f64).ceil() as u64).clamp(1, self.max_draws),
            None => self.draws,
        }
    }

    /// Reads the table: the data file, or the data that ship with the program.
    ///
    /// # Errors
    /// A file that cannot be read or is not a table, with the place of the error.
    pub fn read(&self) -> Result<Table, DataError> {
        match &self.data {
            Some(path) => Table::read(path),
            None => Table::built_in(),
        }
    }
}

/// Checks the share of the posterior that an interval is to hold.
///
/// # Errors
/// [`Error::Setting`] unless it is between 0 and 1.
pub fn validate_interval(interval: f64) -> Result<(), Error> {
    if interval > 0.0 && interval < 1.0 {
        Ok(())
    } else {
        Err(Error::setting("--interval", interval, "a number between 0 and 1, such as 0.95"))
    }
}

/// For runs of versions that had no such setting.
pub(crate) fn default_interval() -> f64 {
    DEFAULT_INTERVAL
}

/// Seeds as text, because TOML integers end at 2⁶³.
mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(seed: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(seed)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}
