//! Priors: what was asked for, by options and in a TOML file, and what follows for a model.
//!
//! By default coefficients have normal(0, 2.5) in units of the standard deviations of response and
//! predictor, and the intercept, at the means of the predictors, normal(mean of the response, 2.5) in
//! units of the response, as in rstanarm.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use ridgewalk_frame::place::{NAME_SHOWN, VALUE_SHOWN, nearest, shown, suggestion};
use ridgewalk_frame::{DataError, FamilyName, Frame, INTERCEPT, Place, Sizes};
use ridgewalk_potentials::Density;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::auxiliary::Auxiliary;
use crate::groups::{GroupNames, GroupPriors, Groups};
use crate::prior_text::{Kind, PriorText};
use crate::settings::Settings;

/// The default scale of coefficients and intercept, in units of response and predictor.
const DEFAULT_SCALE: f64 = 2.5;

/// The maximum size of a file of priors.
const MAX_BYTES: u64 = 16 << 20;

/// Why priors cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PriorError {
    /// The file cannot be read as text.
    #[error(transparent)]
    File(#[from] DataError),
    /// An invalid prior scale on the command line.
    #[error(
        "{option}: found {value}, need a number between 1e-150 and 1e150, or `inf` for a flat prior"
    )]
    Scale {
        /// The option.
        option: &'static str,
        /// Its value.
        value: f64,
    },
    /// An invalid prior on the command line.
    #[error("{option} '{}': need {need}", shown(.found, VALUE_SHOWN))]
    Written {
        /// The option.
        option: &'static str,
        /// Its value.
        found: String,
        /// What is needed.
        need: &'static str,
    },
    /// A file of priors that is not valid TOML.
    #[error("{place}: {message}; need TOML such as `[age]`, `prior = \"normal(0, 2.5)\"`")]
    Syntax {
        /// Where.
        place: Box<Place>,
        /// The parser's message.
        message: String,
    },
    /// An invalid entry in a file of priors.
    #[error("{place}: found `{}`, need {need}", shown(.found, VALUE_SHOWN))]
    Entry {
        /// Where.
        place: Box<Place>,
        /// The entry.
        found: String,
        /// What is needed.
        need: String,
    },
    /// A prior for a coefficient that the model does not have.
    #[error(
        "{place}: found a prior for `{}`, which is not a coefficient of this model{}",
        shown(.name, NAME_SHOWN),
        suggestion(.nearest.as_deref(), .coefficients)
    )]
    Unknown {
        /// Where.
        place: Box<Place>,
        /// The name.
        name: String,
        /// The coefficient with the most similar name, if any is close.
        nearest: Option<String>,
        /// The coefficients of the model.
        coefficients: Vec<String>,
    },
}

/// The priors of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelPriors {
    /// Of the coefficients, in the units of the design: for each linear predictor in turn.
    pub coefficients: Vec<Density>,
    /// Of the parameters beside them, as users read them.
    pub parameters: Vec<Density>,
    /// Of the effects of groups: for each grouping of each linear predictor.
    pub groups: Vec<GroupPriors>,
    /// Whether the prior of the intercept is that at the means of the predictors.
    pub centred: bool,
}

/// The prior of the intercept.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Intercept {
    Default,
    /// At the means of the predictors.
    AtMeans(PriorText),
    /// Where all predictors are 0.
    AtZero(PriorText),
}

/// Priors as they were asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Priors {
    /// `None` for the default.
    coefficients: Option<PriorText>,
    intercept: Intercept,
    auxiliary: Option<PriorText>,
    group: Option<PriorText>,
    entries: Vec<Entry>,
}

/// The prior of some coefficients or of a parameter, from a file.
#[derive(Debug, Clone, PartialEq)]
struct Entry {
    name: String,
    prior: Written,
    place: Box<Place>,
}

/// A prior in a file.
#[derive(Debug, Clone, PartialEq)]
enum Written {
    /// By `mean` and `scale`: normal, or flat, in absolute units, for the intercept where all
    /// predictors are 0.
    Numbers(PriorText),
    /// By `prior`.
    Text(String),
}

impl Priors {
    /// The priors of the settings.
    ///
    /// # Errors
    /// A prior or a scale that is invalid; a file that cannot be read or has an invalid entry, with
    /// its line.
    pub fn from_settings(settings: &Settings) -> Result<Self, PriorError> {
        let text = |option: &'static str, text: &Option<String>, kind| match text {
            Some(text) => PriorText::parse(text, kind)
                .map(Some)
                .map_err(|need| PriorError::Written { option, found: text.clone(), need }),
            None => Ok(None),
        };
        let scale = |option: &'static str, scale: Option<f64>| match scale {
            Some(value) if !is_scale(value) => Err(PriorError::Scale { option, value }),
            scale => Ok(scale.map(|scale| PriorText::normal(0.0, scale))),
        };
        let written = text("--prior", &settings.prior, Kind::Real)?;
        let coefficients = written.or(scale("--prior-scale", settings.prior_scale)?);
        let at_means = text("--intercept-prior", &settings.intercept_prior, Kind::Real)?;
        let at_zero = scale("--intercept-prior-scale", settings.intercept_prior_scale)?;
        let intercept = match (at_means, at_zero) {
            (Some(prior), _) => Intercept::AtMeans(prior),
            (None, Some(prior)) => Intercept::AtZero(prior),
            (None, None) => Intercept::Default,
        };
        let kind = if settings.family == FamilyName::Ordinal { Kind::Real } else { Kind::Positive };
        let auxiliary = text("--aux-prior", &settings.aux_prior, kind)?;
        let group = text("--group-prior", &settings.group_prior, Kind::Positive)?;
        let priors = Self { coefficients, intercept, auxiliary, group, entries: Vec::new() };
        let priors = match &settings.priors {
            Some(path) => priors.with_file(path)?,
            None => priors,
        };
        settings.prior_of.iter().try_fold(priors, |priors, text| priors.with_option(text))
    }

    /// Adds the prior of `--prior-of NAME=PRIOR`. A name may have `=` in it, a prior has none.
    fn with_option(mut self, text: &str) -> Result<Self, PriorError> {
        let option = "--prior-of";
        let Some((name, prior)) = text.rsplit_once('=').filter(|(name, _)| !name.is_empty()) else {
            let need = "a name and a prior, such as age=normal(0, 1)";
            return Err(PriorError::Written { option, found: text.to_owned(), need });
        };
        let prior = Written::Text(prior.trim().to_owned());
        self.add(vec![Entry { name: name.trim().to_owned(), prior, place: Place::file(option) }]);
        Ok(self)
    }

    /// Adds entries of different names, in place of earlier ones for the same names.
    fn add(&mut self, entries: Vec<Entry>) {
        let names: HashSet<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        self.entries.retain(|old| !names.contains(old.name.as_str()));
        self.entries.extend(entries);
    }

    /// Adds the priors of a TOML file.
    ///
    /// # Errors
    /// A file that cannot be read, or an invalid entry, with its line.
    pub fn with_file(self, path: &Path) -> Result<Self, PriorError> {
        let name = path.display().to_string();
        let cannot = |source| DataError::Read { file: name.clone(), source };
        if std::fs::metadata(path).map_err(cannot)?.is_dir() {
            return Err(DataError::Directory { file: name }.into());
        }
        // The size of a device or a pipe is unknown before it is read.
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(cannot)?;
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(cannot)?;
        if bytes.len() as u64 > MAX_BYTES {
            let need = "a TOML file of priors, at most 16 MiB";
            return Err(DataError::Format { file: name, found: "a larger file", need }.into());
        }
        match std::str::from_utf8(&bytes) {
            Ok(text) => self.with_toml(&name, text),
            Err(error) => {
                let (before, rest) = bytes.split_at(error.valid_up_to());
                let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count() as u64;
                let byte = 1 + before.iter().rev().take_while(|&&byte| byte != b'\n').count();
                let value = rest.first().copied().unwrap_or_default();
                Err(DataError::NotUtf8 { place: Place::line(&name, line), byte, value }.into())
            }
        }
    }

    /// Adds the priors of a TOML text, called `name` in messages.
    ///
    /// # Errors
    /// An invalid entry, with its line.
    pub fn with_toml(mut self, name: &str, text: &str) -> Result<Self, PriorError> {
        let file = Source::new(name, text.strip_prefix('\u{feff}').unwrap_or(text));
        let document = DeTable::parse(file.text).map_err(|error| PriorError::Syntax {
            place: file.place(error.span().map_or(0, |span| span.start)),
            message: shown(error.message(), NAME_SHOWN).replace("\\n", " "),
        })?;
        let entries = document.get_ref().iter().map(|(key, value)| file.entry(key, value));
        self.add(entries.collect::<Result<_, _>>()?);
        Ok(self)
    }

    /// The priors of a model: its frame before it is centred, the sizes of its columns, and its
    /// parameters.
    ///
    /// # Errors
    /// A prior for an unknown coefficient, or one that does not suit a parameter.
    pub fn resolve(
        &self, frame: &Frame, sizes: &Sizes, auxiliary: &Auxiliary, groups: &Groups,
    ) -> Result<ModelPriors, PriorError> {
        let family = auxiliary.response_family();
        let mut intercept = self.intercept;
        let of_intercept = |entry: &&Entry| entry.name == INTERCEPT && frame.intercept;
        if let Some(entry) = self.entries.iter().find(of_intercept) {
            intercept = match &entry.prior {
                Written::Numbers(prior) => Intercept::AtZero(*prior),
                Written::Text(text) => Intercept::AtMeans(entry.parsed(text, Kind::Real)?),
            };
        }
        let location = if family.has_noise() || family.is_survival() { sizes.mean } else { 0.0 };
        let default = PriorText::normal(location, DEFAULT_SCALE).scaled();
        let (of_intercept, at_zero) = match intercept {
            Intercept::Default => (default, false),
            Intercept::AtMeans(prior) => (prior, false),
            Intercept::AtZero(prior) => (prior, true),
        };
        let default = PriorText::normal(0.0, DEFAULT_SCALE).scaled();
        let general = self.coefficients.unwrap_or(default);
        let column = |k: usize| match frame.intercept && k == 0 {
            true => of_intercept.density(sizes.spread),
            false => general.density(sizes.spread / sizes.columns[k]),
        };
        let one: Vec<Density> = (0..frame.columns).map(column).collect();
        let mut coefficients = one.repeat(auxiliary.predictors());
        let mut parameters = auxiliary.priors(self.auxiliary, family, sizes);
        // From the most general to the most special.
        for rank in 0..3 {
            for entry in self.entries.iter().filter(|entry| entry.name != INTERCEPT) {
                self.apply(entry, rank, (frame, sizes), auxiliary, &mut coefficients)?;
            }
        }
        let of_group = |names: &GroupNames| {
            names.priors(self.group, sizes.spread, &sizes.slopes[names.grouping])
        };
        let mut group_priors: Vec<GroupPriors> = groups.terms().iter().map(of_group).collect();
        for entry in self.entries.iter().filter(|entry| entry.name != INTERCEPT) {
            if entry.apply_to_groups(sizes, groups, &mut group_priors)? {
                continue;
            }
            if let Some(k) = auxiliary.names().iter().position(|name| *name == entry.name) {
                parameters[k] = match &entry.prior {
                    Written::Text(text) => {
                        let prior = entry.parsed(text, auxiliary.kind())?;
                        prior.density(auxiliary.unit(family, sizes))
                    }
                    Written::Numbers(_) => {
                        let need = format!("`prior = \"...\"` for the parameter `{}`", entry.name);
                        let (place, found) = (entry.place.clone(), entry.name.clone());
                        return Err(PriorError::Entry { place, found, need });
                    }
                };
            } else if !self.matches(entry, frame, auxiliary) {
                return Err(self.unknown(entry, frame, auxiliary, groups));
            }
        }
        let centred = (frame.intercept && !at_zero) || family == FamilyName::Ordinal;
        Ok(ModelPriors { coefficients, parameters, groups: group_priors, centred })
    }

    /// Sets the coefficients that an entry names: at rank 0 all, at rank 1 those of a factor, at
    /// rank 2 one.
    fn apply(
        &self, entry: &Entry, rank: usize, (frame, sizes): (&Frame, &Sizes), auxiliary: &Auxiliary,
        coefficients: &mut [Density],
    ) -> Result<(), PriorError> {
        let names = auxiliary.coefficients(&frame.names);
        for (k, name) in names.iter().enumerate() {
            if entry.rank(name, frame, k % frame.columns) != Some(rank) {
                continue;
            }
            let unit = sizes.spread / sizes.columns[k % frame.columns];
            coefficients[k] = match &entry.prior {
                Written::Numbers(prior) => prior.density(unit),
                Written::Text(text) => entry.parsed(text, Kind::Real)?.density(unit),
            };
        }
        Ok(())
    }

    fn matches(&self, entry: &Entry, frame: &Frame, auxiliary: &Auxiliary) -> bool {
        let names = auxiliary.coefficients(&frame.names);
        let mut each = names.iter().enumerate();
        each.any(|(k, name)| entry.rank(name, frame, k % frame.columns).is_some())
    }

    fn unknown(
        &self, entry: &Entry, frame: &Frame, auxiliary: &Auxiliary, groups: &Groups,
    ) -> PriorError {
        let mut coefficients = auxiliary.coefficients(&frame.names);
        coefficients.extend(auxiliary.names().iter().cloned());
        coefficients.extend(groups.parameters());
        PriorError::Unknown {
            place: entry.place.clone(),
            name: entry.name.clone(),
            nearest: nearest(&entry.name, coefficients.iter().map(String::as_str)),
            coefficients,
        }
    }
}

impl Entry {
    /// How specially it names a coefficient: 0 for all, 1 for its term, 2 for itself. The name may
    /// have the level of a multinomial response, which that in the frame does not have. `*` does
    /// not mean the intercept.
    fn rank(&self, name: &str, frame: &Frame, column: usize) -> Option<usize> {
        let (base, term) = (&frame.names[column], &frame.terms[column]);
        if self.name == name || self.name == *base {
            Some(2)
        } else if self.name == *term {
            Some(1)
        } else {
            (self.name == "*" && base != INTERCEPT).then_some(0)
        }
    }

    /// Sets what an entry names of the priors of groups: one standard deviation, `sd_g__x`, all
    /// those of a grouping, `sd_g`, or its correlations, `cor_g`. `false` if it names none.
    fn apply_to_groups(
        &self, sizes: &Sizes, groups: &Groups, priors: &mut [GroupPriors],
    ) -> Result<bool, PriorError> {
        let mut found = false;
        for (names, priors) in groups.terms().iter().zip(priors) {
            let plain = names.name.split_once(':').map_or("", |(_, name)| name);
            let means = |prefix: &str| {
                self.name == format!("{prefix}_{}", names.name)
                    || self.name == format!("{prefix}_{plain}")
            };
            let text = match &self.prior {
                Written::Text(text) => text.as_str(),
                Written::Numbers(_) => "",
            };
            if names.coefficients.len() > 1 && means("cor") {
                priors.concentration = concentration(text).ok_or_else(|| PriorError::Entry {
                    place: self.place.clone(),
                    found: format!("prior = \"{text}\""),
                    need: "lkj(concentration) with a positive number, such as lkj(2)".to_owned(),
                })?;
                found = true;
            }
            for (k, prior) in priors.sds.iter_mut().enumerate() {
                if self.name == names.sd(k) || means("sd") {
                    let size = sizes.slopes[names.grouping][k];
                    *prior = self.parsed(text, Kind::Positive)?.density(sizes.spread / size);
                    found = true;
                }
            }
        }
        Ok(found)
    }

    fn parsed(&self, text: &str, kind: Kind) -> Result<PriorText, PriorError> {
        PriorText::parse(text, kind).map_err(|need| PriorError::Entry {
            place: self.place.clone(),
            found: format!("prior = \"{text}\""),
            need: format!("{need}, for `{}`", shown(&self.name, NAME_SHOWN)),
        })
    }
}

/// η of `lkj(η)`.
fn concentration(text: &str) -> Option<f64> {
    let number = text.trim().strip_prefix("lkj")?.trim().strip_prefix('(')?.strip_suffix(')')?;
    number.trim().parse().ok().filter(|eta| (1e-3..1e6).contains(eta))
}

/// A number as a user writes it: `inf` is infinite, `1e309` is a slip.
pub(crate) fn parse_number(text: &str) -> Option<f64> {
    let overflows =
        |number: &f64| number.is_infinite() && text.contains(|c: char| c.is_ascii_digit());
    text.parse().ok().filter(|number| !overflows(number))
}

/// The bounds that the library has for prior scales.
fn is_scale(value: f64) -> bool {
    value == f64::INFINITY || (1e-150..1e150).contains(&value)
}

/// The bounds of prior means: their squares must be finite.
pub(crate) fn is_mean(value: f64) -> bool {
    value.abs() < 1e150
}

/// A TOML text, to find the lines of its entries.
struct Source<'t> {
    name: &'t str,
    text: &'t str,
    /// Where its lines end.
    ends: Vec<usize>,
}

impl<'t> Source<'t> {
    fn new(name: &'t str, text: &'t str) -> Self {
        let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(k, _)| k);
        Self { name, text, ends: ends.collect() }
    }

    fn place(&self, byte: usize) -> Box<Place> {
        Place::line(self.name, 1 + self.ends.partition_point(|&end| end < byte) as u64)
    }

    /// The prior of one coefficient.
    fn entry(
        &self, key: &Spanned<std::borrow::Cow<'t, str>>, value: &Spanned<DeValue<'t>>,
    ) -> Result<Entry, PriorError> {
        let name = key.get_ref().to_string();
        let place = self.place(key.span().start);
        let heading = if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
            name.clone()
        } else {
            format!("\"{name}\"")
        };
        let Some(fields) = value.get_ref().as_table() else {
            let need = format!("a table: `[{heading}]` and `scale = ...` below it");
            return Err(PriorError::Entry { place, found: name, need });
        };
        let (mut mean, mut scale, mut prior) = (None, None, None);
        for (field, value) in fields {
            match field.get_ref().as_ref() {
                "mean" => {
                    let need = "a number between -1e150 and 1e150";
                    mean = Some(self.number(&name, "mean", value, is_mean, need)?);
                }
                "prior" => match value.get_ref().as_str() {
                    Some(text) => prior = Some(text.to_owned()),
                    None => {
                        let place = self.place(value.span().start);
                        let found = self.text.get(value.span()).unwrap_or_default();
                        let need = format!(
                            "a text such as \"normal(0, 2.5)\", for `{}`",
                            shown(&name, NAME_SHOWN)
                        );
                        let found = format!("prior = {found}");
                        return Err(PriorError::Entry { place, found, need });
                    }
                },
                "scale" => {
                    let need = "a number between 1e-150 and 1e150, or inf for a flat prior";
                    scale = Some(self.number(&name, "scale", value, is_scale, need)?);
                }
                other => {
                    let place = self.place(field.span().start);
                    let need = format!(
                        "`prior`, `mean` or `scale` for `{}`; put names with dots, blanks or brackets in quotes, as in `[\"a.b\"]`",
                        shown(&name, NAME_SHOWN)
                    );
                    return Err(PriorError::Entry { place, found: other.to_owned(), need });
                }
            }
        }
        if let Some(text) = prior {
            if mean.is_some() || scale.is_some() {
                let need = "either `prior`, or `mean` and `scale`".to_owned();
                return Err(PriorError::Entry { place, found: format!("[{heading}]"), need });
            }
            return Ok(Entry { name, prior: Written::Text(text), place });
        }
        let Some(scale) = scale else {
            let need = "`prior = ...` or `scale = ...` below it, with `inf` for a flat prior";
            let (found, need) = (format!("[{heading}]"), need.to_owned());
            return Err(PriorError::Entry { place, found, need });
        };
        let mean = mean.unwrap_or(0.0);
        if scale == f64::INFINITY && mean != 0.0 {
            let need = "a finite scale as well: a flat prior has no mean".to_owned();
            return Err(PriorError::Entry { place, found: format!("mean = {mean}"), need });
        }
        Ok(Entry { name, prior: Written::Numbers(PriorText::normal(mean, scale)), place })
    }

    fn number(
        &self, name: &str, key: &str, value: &Spanned<DeValue<'t>>, good: fn(f64) -> bool,
        need: &str,
    ) -> Result<f64, PriorError> {
        let written = self.text.get(value.span()).unwrap_or_default();
        let number = match value.get_ref() {
            DeValue::Float(float) => parse_number(float.as_str()),
            DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str().parse().ok(),
            _ => None,
        };
        number.filter(|&number| good(number)).ok_or_else(|| PriorError::Entry {
            place: self.place(value.span().start),
            found: format!("{key} = {written}"),
            need: format!("{need}, for `{}`", shown(name, NAME_SHOWN)),
        })
    }
}
