//! `config.toml`: everything needed to repeat a run, with versions and the hash of the data.

use ridgewalk_frame::{Coding, FamilyName, Table};
use ridgewalk_potentials::Density;
use serde::{Deserialize, Serialize};

use crate::command::command;
use crate::data::Data;
use crate::groups::{GroupPriors, GroupPriorsText, Groups};
use crate::model::Model;
use crate::prior_text::{Kind, PriorText, written};
use crate::priors::{ModelPriors, PriorError};
use crate::settings::Settings;

/// `config.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// The version of the program that made the run.
    pub version: String,
    /// The command.
    pub command: String,
    /// The data.
    pub data: DataConfig,
    /// How several processes shared the rows.
    #[serde(skip_serializing_if = "ProcessesConfig::is_plain", default)]
    pub processes: ProcessesConfig,
    /// The options, defaults included.
    pub options: Settings,
    /// Values derived from data and options before the first draw.
    pub resolved: Resolved,
}

/// The data of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataConfig {
    /// The file; `built-in` for the data that ship with the program.
    pub file: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// Rows that were used.
    pub rows: usize,
}

impl DataConfig {
    /// The name of the built-in data.
    pub const BUILT_IN: &'static str = "built-in";

    /// Where the data are: an absolute path, so that it is valid from any directory; `built-in`; or
    /// the name of a table in memory.
    fn file(settings: &Settings, name: &str) -> String {
        match &settings.data {
            Some(path) => {
                std::path::absolute(path).as_deref().unwrap_or(path).display().to_string()
            }
            None if name == Table::BUILT_IN => Self::BUILT_IN.to_owned(),
            None => name.to_owned(),
        }
    }

    /// The command; for a table in memory, a file with its rows stands in for it.
    fn command(settings: &Settings, name: &str) -> String {
        if settings.data.is_some() || name == Table::BUILT_IN {
            return command(settings);
        }
        command(&Settings { data: Some("DATA".into()), ..settings.clone() })
    }

    /// The name used in titles for data that are not in a file.
    pub(crate) fn title(&self) -> String {
        if self.file == Self::BUILT_IN {
            "the breast cancer data".to_owned()
        } else {
            self.file.clone()
        }
    }
}

/// How the rows of a run were shared among processes. How its chains were shared is not kept,
/// because the draws do not depend on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ProcessesConfig {
    /// Number of row shards: it sets the order of summation, and so the rounding.
    pub row_shards: usize,
}

impl Default for ProcessesConfig {
    fn default() -> Self {
        Self { row_shards: 1 }
    }
}

impl ProcessesConfig {
    fn is_plain(&self) -> bool {
        self.row_shards == 1
    }
}

/// Values derived from data and options before the first draw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resolved {
    /// The names of the coefficients.
    pub coefficients: Vec<String>,
    /// Their priors, in the units of the design.
    pub priors: Vec<String>,
    /// Whether the prior of the intercept is that at the means of the predictors.
    pub centred: bool,
    /// The names of the parameters beside them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub parameters: Vec<String>,
    /// Their priors.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub parameter_priors: Vec<String>,
    /// The scale of the noise, if it was given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub noise_scale: Option<f64>,
    /// With `--standardize`, or centred: the mean subtracted from each column of the design.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub centres: Option<Vec<f64>>,
    /// With `--standardize`: the divisor of each column.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub divisors: Option<Vec<f64>>,
    /// The term of the formula that each column of the design belongs to.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub terms: Vec<String>,
    /// The levels of an ordinal or multinomial response, in order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub levels: Vec<String>,
    /// The priors of the effects of groups: for each grouping of each linear predictor.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub group_priors: Vec<GroupPriorsText>,
    /// How rows of data become rows of the design.
    #[serde(default)]
    pub coding: Coding,
}

impl Config {
    /// With standardized coefficients: the centre and the divisor of each column of the design; else
    /// empty.
    pub(crate) fn scaling(&self) -> Vec<(f64, f64)> {
        let (settings, resolved) = (&self.options, &self.resolved);
        match (&resolved.centres, &resolved.divisors) {
            (Some(centres), Some(divisors)) if settings.standardize && !settings.original_scale => {
                centres.iter().copied().zip(divisors.iter().copied()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The configuration of a run by one process.
    #[must_use]
    pub fn new(settings: &Settings, model: &Model, table: &Table) -> Self {
        Self::with_digest(settings, model, table, table.digest())
    }

    /// The same for a table that is a part of the data, with the digest of the whole.
    #[must_use]
    pub fn with_digest(settings: &Settings, model: &Model, table: &Table, sha256: &str) -> Self {
        Self::named(&settings.for_table(table), model, table.name(), sha256)
    }

    /// The same for data that may be in a file.
    #[must_use]
    pub fn of_data(settings: &Settings, model: &Model, data: &Data<'_>) -> Self {
        let settings = match data {
            Data::Table(table) => &settings.for_table(table),
            Data::Packed(_) => settings,
        };
        Self::named(settings, model, data.name(), data.digest())
    }

    fn named(settings: &Settings, model: &Model, name: &str, sha256: &str) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: DataConfig::command(settings, name),
            data: DataConfig {
                file: DataConfig::file(settings, name),
                sha256: sha256.to_owned(),
                rows: model.frame().all_rows,
            },
            processes: ProcessesConfig::default(),
            options: settings.clone(),
            resolved: Resolved::new(model),
        }
    }

    /// Parses the text of the file.
    ///
    /// # Errors
    /// If it is not a valid configuration.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// The text of the file.
    ///
    /// # Errors
    /// None is known: everything in it can be written as TOML.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        let text = toml::to_string(self)?;
        let title =
            "# What `ridgewalk fit` was asked for, and what followed before the first draw.";
        Ok(format!("{title}\n{text}"))
    }
}

impl Resolved {
    fn new(model: &Model) -> Self {
        let (frame, priors, auxiliary) = (model.frame(), model.priors(), model.auxiliary());
        let scaling = frame.scaling.as_ref();
        let kind = auxiliary.kind();
        Self {
            coefficients: auxiliary.coefficients(&frame.names),
            priors: priors.coefficients.iter().map(|prior| written(prior, Kind::Real)).collect(),
            centred: priors.centred,
            parameters: auxiliary.names().to_vec(),
            parameter_priors: priors.parameters.iter().map(|prior| written(prior, kind)).collect(),
            group_priors: priors.groups.iter().map(GroupPriors::text).collect(),
            noise_scale: model.noise_scale(),
            centres: scaling.map(|list| list.iter().map(|(centre, _)| *centre).collect()),
            divisors: scaling.map(|list| list.iter().map(|(_, divisor)| *divisor).collect()),
            terms: frame.terms.clone(),
            levels: frame.levels.clone(),
            coding: frame.coding.clone(),
        }
    }

    /// The names of all coefficients and parameters, in the order of draws.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let groups = self.groups();
        let coefficients = [&self.coefficients[..], &self.parameters].concat();
        [coefficients, groups.parameters(), groups.effect_names()].concat()
    }

    /// The groupings.
    #[must_use]
    pub fn groups(&self) -> Groups {
        // Ordinal responses have thresholds; the others with levels have a predictor for each.
        let several = !self.levels.is_empty() && self.parameters.is_empty();
        Groups::new(&self.coding, if several { &self.levels[1..] } else { &[] })
    }

    /// The priors, to make the model again.
    ///
    /// # Errors
    /// A text that is not a prior.
    pub fn model_priors(&self, settings: &Settings) -> Result<ModelPriors, PriorError> {
        let read = |texts: &[String], kind: Kind| {
            let one = |text: &String| match PriorText::parse(text, kind) {
                Ok(prior) => Ok(prior.density(1.0)),
                Err(need) => {
                    Err(PriorError::Written { option: "config.toml", found: text.clone(), need })
                }
            };
            texts.iter().map(one).collect::<Result<Vec<Density>, _>>()
        };
        let ordinal = settings.family == FamilyName::Ordinal;
        let kind = if ordinal { Kind::Real } else { Kind::Positive };
        Ok(ModelPriors {
            coefficients: read(&self.priors, Kind::Real)?,
            parameters: read(&self.parameter_priors, kind)?,
            groups: self
                .group_priors
                .iter()
                .map(GroupPriorsText::priors)
                .collect::<Result<Vec<GroupPriors>, PriorError>>()?,
            centred: self.centred,
        })
    }
}
