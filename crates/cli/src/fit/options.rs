//! The options of `ridgewalk fit` and `ridgewalk resume`, and their settings.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use ridgewalk::frame::{DataError, FamilyName, split_names};
use ridgewalk::pipeline::{KernelChoice, Memory, SearchChoice, Settings};

/// Data, formula and priors: the options of `ridgewalk fit` that make a model.
#[derive(Debug, Clone, Args)]
pub struct ModelOptions {
    /// The data: CSV with a line of names, Parquet, or sparse rows of SVMlight (.svm) [default: breast
    /// cancer data that ship with the program, --standardize]
    #[arg(value_name = "DATA")]
    data: Option<PathBuf>,
    /// The model as a formula, in quotes: 'y ~ x * city + poly(age, 2) + offset(log(n))'
    #[arg(value_name = "FORMULA")]
    formula: Option<String>,
    /// The response column; required with DATA unless there is a formula or the rows are sparse
    #[arg(long, value_name = "NAME")]
    response: Option<String>,
    /// The model family
    #[arg(long, value_parser = families(), default_value = "logistic")]
    family: FamilyName,
    /// Predictor columns, separated by commas [default: all other columns]
    #[arg(long, value_name = "A,B,C")]
    predictors: Option<String>,
    /// Columns that are no predictors, separated by commas
    #[arg(long, value_name = "A,B,C")]
    exclude: Option<String>,
    /// Use only rows that fulfil a condition, in quotes: 'age >= 18 & sex == "f"'
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Option<String>,
    /// Columns of numbers whose values are levels, separated by commas
    #[arg(long, value_name = "A,B,C")]
    factor: Option<String>,
    /// The level that the others of a column are compared with [default: the first in natural
    /// order]; may be repeated
    #[arg(long, value_name = "NAME=LEVEL")]
    base: Vec<String>,
    /// Column of trials: the response counts successes out of them (logistic, probit)
    #[arg(long, value_name = "NAME")]
    trials: Option<String>,
    /// Column added to the linear predictor
    #[arg(long, value_name = "NAME")]
    offset: Option<String>,
    /// Column of weights
    #[arg(long, value_name = "NAME")]
    weights: Option<String>,
    /// Column with 1 for an event and 0 for a censored row (survival families) [default: all
    /// events]
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// Column with the end of the interval that a time lies in, whose start is the response; an
    /// empty start or end is open (survival families)
    #[arg(long, value_name = "NAME")]
    upper: Option<String>,
    /// Levels of the response, in order, separated by commas (ordinal, multinomial) [default: in
    /// natural order]
    #[arg(long, value_name = "A,B,C")]
    levels: Option<String>,
    /// Leave the intercept out
    #[arg(long)]
    no_intercept: bool,
    /// Leave out rows with missing values
    #[arg(long)]
    drop_missing: bool,
    /// Centre predictors and divide them by their standard deviation; priors and results use that
    /// scale
    #[arg(long)]
    standardize: bool,
    /// Sample the prior instead of the posterior: the report shows which responses it predicts
    #[arg(long)]
    prior_only: bool,
    /// Prior of the coefficients: normal(mean, scale), student_t(degrees, mean, scale), cauchy,
    /// laplace or flat; with `autoscale` in units of response and predictor [default: normal(0, 2.5,
    /// autoscale)]
    #[arg(long, value_name = "PRIOR")]
    prior: Option<String>,
    /// Prior of the intercept, at the means of the predictors [default: normal(M, 2.5, autoscale), M
    /// the mean of real responses, else 0]
    #[arg(long, value_name = "PRIOR")]
    intercept_prior: Option<String>,
    /// Prior of the noise scale, size or shape: half_normal(scale), half_t(degrees, scale),
    /// exponential(rate) or gamma(shape, rate) [default: exponential(1, autoscale)]
    #[arg(long, value_name = "PRIOR")]
    aux_prior: Option<String>,
    /// Prior of the standard deviations of group effects: half_normal(scale), half_t(degrees,
    /// scale), exponential(rate) or gamma(shape, rate) [default: half_normal(2.5, autoscale)]
    #[arg(long, value_name = "PRIOR")]
    group_prior: Option<String>,
    /// Prior normal(0, S) of the coefficients in absolute units; inf is flat
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = scale)]
    prior_scale: Option<f64>,
    /// Prior normal(0, S) of the intercept, where all predictors are 0; inf is flat
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = scale)]
    intercept_prior_scale: Option<f64>,
    /// Priors of single coefficients: a TOML file with `[age]`, `prior = "normal(0, 2.5)"`
    #[arg(long, value_name = "FILE")]
    priors: Option<PathBuf>,
    /// The prior of one coefficient, of a factor or of a parameter: 'age=normal(0, 1)'; may be
    /// repeated
    #[arg(long, value_name = "NAME=PRIOR")]
    prior_of: Vec<String>,
    /// Fix the scale of the noise (gaussian, robust-logistic, robust-huber) [default: sampled]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    noise_scale: Option<f64>,
    /// Fix the size R of the negative binomial: variance mean + mean^2/R [default: sampled]
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    dispersion: Option<f64>,
    /// Fix the shape (gamma, weibull, log-logistic, log-normal) [default: sampled]
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    shape: Option<f64>,
    /// Fix the degrees of freedom (student-t) [default: sampled]
    #[arg(long, value_name = "NU", allow_negative_numbers = true)]
    degrees_of_freedom: Option<f64>,
    /// Threshold of Huber's loss between square and linear, in noise scales (robust-huber)
    /// [default: 1.345]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    huber_delta: Option<f64>,
}

/// Options of `ridgewalk fit`.
#[derive(Debug, Clone, Args)]
pub struct FitOptions {
    /// The model.
    #[command(flatten)]
    model: ModelOptions,
    /// With --standardize: report results on the scale of the data
    #[arg(long)]
    original_scale: bool,
    /// How to search for the mode
    #[arg(long, value_parser = searches(), default_value = "auto")]
    mode_search: SearchChoice,
    /// The sampling kernel
    #[arg(long, value_parser = kernels(), default_value = "auto")]
    kernel: KernelChoice,
    /// Compute line integrals with N Chebyshev nodes instead of exactly
    #[arg(long, value_name = "N")]
    nodes: Option<usize>,
    /// Fix gamma (whitened coordinates, L = 1) [default: tuned]
    #[arg(long, value_name = "G", allow_negative_numbers = true)]
    gamma: Option<f64>,
    /// Fix xi [default: tuned]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    xi: Option<f64>,
    /// Fix the step eta [default: tuned]
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    eta: Option<f64>,
    /// Allow kernels with a discretisation bias of up to B posterior standard deviations [default:
    /// 0, exact sampling; 0.05 with an unadjusted --kernel]
    #[arg(long, value_name = "B", allow_negative_numbers = true)]
    bias_tolerance: Option<f64>,
    /// Number of chains
    #[arg(long, value_name = "C", default_value_t = 8)]
    chains: usize,
    /// Draws kept per chain
    #[arg(long, value_name = "N", default_value_t = 1000)]
    draws: u64,
    /// Steps from one draw to the next [default: chosen so that draws are nearly independent]
    #[arg(long, value_name = "T")]
    thin: Option<u64>,
    /// Sample until the smallest bulk ESS is at least E, instead of a fixed number of draws
    #[arg(long, value_name = "E", allow_negative_numbers = true, conflicts_with = "draws")]
    target_ess: Option<f64>,
    /// With --target-ess: maximum number of draws per chain
    #[arg(
        long,
        value_name = "N",
        default_value_t = 100_000,
        requires = "target_ess",
        conflicts_with = "draws"
    )]
    max_draws: u64,
    /// Intervals that hold the share P of the posterior
    #[arg(long, value_name = "P", default_value_t = 0.9, allow_negative_numbers = true)]
    interval: f64,
    /// Random seed; the same seed gives the same draws on any number of threads
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// The most memory to use, such as 1GiB: packed data that need more are read from the disk, with
    /// the same draws [default: most of what is free]
    #[arg(long, value_name = "SIZE")]
    memory: Option<Memory>,
    /// Number of threads, at most four for each core (or 16) [default: all cores]
    #[arg(long, value_name = "T")]
    threads: Option<usize>,
    /// The run directory; it must not exist yet
    #[arg(long, value_name = "DIR", default_value = "ridgewalk-run")]
    out: PathBuf,
    /// Also write the draws to draws.csv
    #[arg(long)]
    csv: bool,
    /// What is printed.
    #[command(flatten)]
    pub voice: Voice,
}

/// What a command prints.
#[derive(Debug, Clone, Copy, Args)]
pub struct Voice {
    /// Print only warnings on standard error
    #[arg(long)]
    pub quiet: bool,
    /// Print one JSON document instead of a table
    #[arg(long)]
    pub json: bool,
    /// Show highest-density intervals, the shortest ones, instead of central ones
    #[arg(long)]
    pub hdi: bool,
}

/// Options of `ridgewalk resume`.
#[derive(Debug, Clone, Args)]
pub struct ResumeOptions {
    /// The run directory
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Number of threads; the draws do not depend on it [default: as at the start of the run]
    #[arg(long, value_name = "T")]
    pub threads: Option<usize>,
    /// The most memory to use, such as 1GiB [default: as at the start of the run]
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Memory>,
    /// What is printed.
    #[command(flatten)]
    pub voice: Voice,
}

fn families() -> impl TypedValueParser<Value = FamilyName> {
    let value = |family: FamilyName| PossibleValue::new(family.name()).help(family.description());
    PossibleValuesParser::new(FamilyName::ALL.map(value)).try_map(|name| name.parse::<FamilyName>())
}

/// A scale as it is written: `inf` is flat, a number too large for floating point is a slip.
fn scale(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(scale) if scale.is_finite() || !text.contains(|c: char| c.is_ascii_digit()) => Ok(scale),
        _ => Err("need a number below 1e150, or inf for a flat prior".to_owned()),
    }
}

fn kernels() -> impl TypedValueParser<Value = KernelChoice> {
    let value = |kernel: KernelChoice| PossibleValue::new(kernel.name()).help(kernel.description());
    let names = PossibleValuesParser::new(KernelChoice::ALL.map(value));
    names.try_map(|name| name.parse::<KernelChoice>())
}

fn searches() -> impl TypedValueParser<Value = SearchChoice> {
    let value = |search: SearchChoice| PossibleValue::new(search.name()).help(search.description());
    let names = PossibleValuesParser::new(SearchChoice::ALL.map(value));
    names.try_map(|name| name.parse::<SearchChoice>())
}

impl ModelOptions {
    /// The settings for these options.
    ///
    /// # Errors
    /// An invalid list of names.
    pub fn settings(&self) -> Result<Settings, DataError> {
        let options = self.clone();
        let names = |list: &Option<String>| list.as_deref().map(split_names).transpose();
        let built_in = Settings::built_in();
        let own = options.data.is_some();
        Ok(Settings {
            predictors: names(&options.predictors)?,
            levels: names(&options.levels)?,
            exclude: names(&options.exclude)?.unwrap_or_default(),
            factor: names(&options.factor)?.unwrap_or_default(),
            data: options.data,
            // The data that ship with the program have a response and are standardized.
            response: options
                .response
                .or(built_in.response.filter(|_| !own && options.formula.is_none())),
            standardize: options.standardize || (!own && built_in.standardize),
            prior_only: options.prior_only,
            formula: options.formula,
            family: options.family,
            condition: options.condition,
            base: options.base,
            trials: options.trials,
            offset: options.offset,
            weights: options.weights,
            event: options.event,
            upper: options.upper,
            no_intercept: options.no_intercept,
            drop_missing: options.drop_missing,
            // So do their priors.
            prior_scale: options
                .prior_scale
                .or(built_in.prior_scale.filter(|_| !own && options.prior.is_none())),
            intercept_prior_scale: options.intercept_prior_scale.or(built_in
                .intercept_prior_scale
                .filter(|_| !own && options.intercept_prior.is_none())),
            prior: options.prior,
            intercept_prior: options.intercept_prior,
            aux_prior: options.aux_prior,
            group_prior: options.group_prior,
            priors: options.priors,
            prior_of: options.prior_of,
            noise_scale: options.noise_scale,
            dispersion: options.dispersion,
            shape: options.shape,
            degrees_of_freedom: options.degrees_of_freedom,
            huber_delta: options.huber_delta,
            ..Settings::default()
        })
    }
}

impl FitOptions {
    /// The settings for these options.
    ///
    /// # Errors
    /// An invalid list of names.
    pub fn settings(&self) -> Result<Settings, DataError> {
        Ok(Settings {
            original_scale: self.original_scale,
            mode_search: self.mode_search,
            kernel: self.kernel,
            nodes: self.nodes,
            gamma: self.gamma,
            xi: self.xi,
            eta: self.eta,
            bias_tolerance: self.bias_tolerance,
            chains: self.chains,
            draws: self.draws,
            thin: self.thin,
            target_ess: self.target_ess,
            max_draws: self.max_draws,
            interval: self.interval,
            seed: self.seed,
            threads: self.threads,
            memory: self.memory,
            out: self.out.clone(),
            csv: self.csv,
            ..self.model.settings()?
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use ridgewalk::pipeline::command;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        options: FitOptions,
    }

    fn settings(words: &[&str]) -> Settings {
        let words = ["ridgewalk"].iter().chain(words);
        Line::try_parse_from(words).unwrap().options.settings().unwrap()
    }

    #[test]
    fn options_left_out_are_the_default_settings() {
        let found = settings(&["d.csv", "--response", "y"]);
        let need =
            Settings { data: Some("d.csv".into()), ..Settings::new("y", FamilyName::Logistic) };
        assert_eq!(found, need);
        assert_eq!(settings(&[]), Settings::built_in());
    }

    /// Command lines with `|` between words: together they have every option at a value other than
    /// its default.
    const LINES: [&str; 9] = [
        "",
        "--seed|18446744073709551615|--prior-scale|inf|--original-scale|--csv",
        "my data.csv|--response|it's|--family|robust-huber|--predictors|a,\"b, cm\",\"c;d\"|--offset|o\
         |--weights|w|--no-intercept|--drop-missing|--standardize|--prior-scale|0.1\
         |--intercept-prior-scale|inf|--priors|p q.toml|--noise-scale|0.3|--huber-delta|1.7\
         |--mode-search|accelerated|--kernel|third-order|--nodes|4|--gamma|1.5|--xi|2.5|--eta|0.1|--bias-tolerance|0.01\
         |--chains|3|--draws|7|--thin|2|--seed|9|--csv|--interval|0.95",
        "d.csv|--response|y|--family|probit|--trials|n|--target-ess|1234.5|--max-draws|77\
         |--standardize|--original-scale",
        "d.csv|--response|t|--family|weibull|--event|e|--upper|u|--shape|2|--prior|laplace(0, 1)\
         |--intercept-prior|cauchy(0, 2.5)",
        "d.csv|--response|y|--family|ordinal|--levels|low,\"mid, or so\",high|--aux-prior|normal(0, 2)",
        "d.csv|--response|y|--family|student-t|--degrees-of-freedom|4|--aux-prior|gamma(2, 1)",
        "d.csv|--response|y|--family|negative-binomial|--dispersion|3",
        "d.csv|y ~ x * `it's` + offset(log(n))|--family|poisson|--exclude|a,\"b, cm\"|--where|sex == \"f\" & age > 18\
         |--factor|k,race|--base|k=2|--base|city=St. John's|--prior-of|x=normal(0, 1)|--prior-of|a=b=laplace(0, 2)",
    ];

    /// Every option with a value other than its default survives the recorded command.
    #[test]
    fn the_recorded_command_asks_for_the_same_settings() {
        for line in LINES {
            let words: Vec<&str> = line.split('|').filter(|word| !word.is_empty()).collect();
            let asked = settings(&words);
            let recorded = command(&asked);
            let again = shlex::split(&recorded).unwrap();
            let again: Vec<&str> = again.iter().skip(2).map(String::as_str).collect();
            assert_eq!(settings(&again), asked, "{recorded}");
        }
    }
}
