//! What the report knows about the model, from `config.toml`.

use ridgewalk_fit::{
    Config, FamilyName, Groups, Ratio, Reading, ReportedPrior, SmoothGrid, SummaryDocument,
};

/// Points of a curve.
const POINTS: usize = 80;

/// A model whose configuration could be read, and belongs to the summary.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) family: FamilyName,
    /// What e^coefficient is, if it is a ratio.
    pub(super) ratio: Option<Ratio>,
    /// What each coefficient stands for; empty if that is not known.
    pub(super) readings: Vec<Reading>,
    /// Coefficients; other parameters follow them.
    pub(super) coefficients: usize,
    /// The numbers of what is listed among all parameters; empty if all are listed.
    numbers: Vec<usize>,
    /// Coefficients of each linear predictor.
    columns_each: usize,
    /// Whether coefficients are per standard deviation of their predictor.
    pub(super) standardized: bool,
    /// The prior of each reported number.
    pub(super) priors: Vec<Option<ReportedPrior>>,
    /// The mean of each column, for intercepts at the means.
    pub(super) centres: Vec<f64>,
    /// The response as it is written.
    pub(super) response: String,
    /// Whether it counts successes out of trials.
    pub(super) trials: bool,
    /// Whether there is an offset.
    pub(super) offset: bool,
    /// The columns that predictors are made of.
    pub(super) columns: Vec<String>,
    /// The levels of the response.
    pub(super) levels: Vec<String>,
    /// The names of the coefficients, and of the parameters beside them.
    pub(super) coefficient_names: Vec<String>,
    pub(super) own_parameters: Vec<String>,
    /// The groupings, and the curves of smooths.
    pub(super) groups: Groups,
    pub(super) grids: Vec<SmoothGrid>,
    /// Centre and divisor of each column of the design, if coefficients are reported so.
    pub(super) scales: Vec<[f64; 2]>,
    /// The name of the data file.
    pub(super) file: String,
    /// Whether the data are those that ship with the program.
    pub(super) built_in: bool,
    /// The formula, if one was given.
    pub(super) formula: Option<String>,
}

impl Model {
    /// Reads the text of `config.toml`; `None` if it is none, or belongs to another summary.
    pub(super) fn new(text: &str, summary: &SummaryDocument) -> Option<Self> {
        let config = Config::from_toml(text).ok()?;
        let names = config.resolved.names();
        if !names.iter().eq(summary.parameters.iter().map(|parameter| &parameter.name)) {
            return None;
        }
        let (readings, priors) = (config.readings(), config.reported_priors());
        let columns = config.resolved.coding.columns().unwrap_or_default();
        let Config { options, resolved, data, .. } = config;
        let used = |column: &String| resolved.terms.iter().any(|term| term.contains(&**column));
        let left = options.formula.as_deref().and_then(|text| text.split_once('~'));
        let left = left.map(|(left, _)| left.trim().to_owned());
        let left = left.or(options.response).unwrap_or_default();
        let (response, trials) = match left.split_once('|') {
            Some((response, rest)) if rest.trim_start().starts_with("trials(") => {
                (response.trim().to_owned(), true)
            }
            _ => (left, options.trials.is_some()),
        };
        let file = options.data.as_ref().and_then(|path| path.file_name());
        let file = file.map(|name| name.to_string_lossy().into_owned());
        let built_in = data.file == ridgewalk_fit::DataConfig::BUILT_IN;
        let own =
            || if built_in { "the built-in breast cancer data".to_owned() } else { data.file };
        let standardized = options.standardize && !options.original_scale;
        let scales = match (&resolved.centres, &resolved.divisors) {
            (Some(centres), Some(divisors)) if standardized => {
                centres.iter().zip(divisors).map(|(centre, divisor)| [*centre, *divisor]).collect()
            }
            _ => Vec::new(),
        };
        Some(Self {
            groups: resolved.groups(),
            grids: resolved.coding.smooth_grids(POINTS),
            scales,
            family: options.family,
            ratio: Ratio::of(options.family).ok(),
            readings,
            coefficients: resolved.coefficients.len(),
            numbers: Vec::new(),
            columns_each: match options.family {
                FamilyName::Multinomial => {
                    resolved.coefficients.len() / resolved.levels.len().saturating_sub(1).max(1)
                }
                _ => resolved.coefficients.len(),
            },
            coefficient_names: resolved.coefficients,
            own_parameters: resolved.parameters,
            standardized,
            priors,
            centres: resolved.centres.unwrap_or_default(),
            response,
            trials,
            offset: options.offset.is_some() || !resolved.coding.offsets().is_empty(),
            columns: columns.into_iter().filter(used).collect(),
            levels: resolved.levels,
            file: file.unwrap_or_else(own),
            built_in,
            formula: options.formula,
        })
    }

    /// What is known of these parameters alone.
    pub(super) fn only(&self, kept: &[usize]) -> Self {
        fn some<T: Clone>(list: &[T], kept: &[usize]) -> Vec<T> {
            kept.iter().filter_map(|&k| list.get(k).cloned()).collect()
        }
        Self {
            readings: some(&self.readings, kept),
            priors: some(&self.priors, kept),
            coefficients: kept.iter().filter(|k| **k < self.coefficients).count(),
            numbers: kept.to_vec(),
            coefficient_names: some(&self.coefficient_names, kept),
            // They belong to all columns.
            centres: Vec::new(),
            scales: some(&self.scales, kept),
            ..self.clone()
        }
    }

    /// The linear predictor of a coefficient.
    pub(super) fn predictor(&self, number: usize) -> usize {
        self.numbers.get(number).unwrap_or(&number) / self.columns_each.max(1)
    }

    /// What a parameter stands for; `None` if it is no coefficient, or that is not known.
    pub(super) fn reading(&self, number: usize) -> Option<&Reading> {
        self.readings.get(number)
    }

    /// Whether a parameter is a coefficient that compares rows: neither an intercept nor a
    /// parameter beside the coefficients.
    pub(super) fn compares(&self, number: usize) -> bool {
        match self.reading(number) {
            Some(reading) => !matches!(reading, Reading::Intercept | Reading::Own),
            None => number < self.coefficients,
        }
    }
}
