//! Priors of the coefficients: two default scales, and a TOML file for exceptions.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use ridgewalk_frame::place::{NAME_SHOWN, VALUE_SHOWN, nearest, shown, suggestion};
use ridgewalk_frame::{DataError, INTERCEPT, Place};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::settings::Settings;

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
    /// A file of priors that is not valid TOML.
    #[error("{place}: {message}; need TOML such as `[age]`, `mean = 0.0`, `scale = 2.5`")]
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

/// Independent normal priors of the coefficients of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct CoefficientPriors {
    /// Their means.
    pub means: Vec<f64>,
    /// Their scales; infinite is flat.
    pub scales: Vec<f64>,
}

/// Independent normal priors; an infinite scale is flat.
#[derive(Debug, Clone, PartialEq)]
pub struct Priors {
    scale: f64,
    intercept_scale: f64,
    entries: Vec<Entry>,
}

/// The prior of one coefficient, from a file.
#[derive(Debug, Clone, PartialEq)]
struct Entry {
    name: String,
    mean: f64,
    scale: f64,
    place: Box<Place>,
}

impl Priors {
    /// The priors of the settings.
    ///
    /// # Errors
    /// A scale that is not positive; a file that cannot be read or has an invalid entry, with its
    /// line.
    pub fn from_settings(settings: &Settings) -> Result<Self, PriorError> {
        let priors = Self::new(settings.prior_scale, settings.intercept_prior_scale)?;
        match &settings.priors {
            Some(path) => priors.with_file(path),
            None => Ok(priors),
        }
    }

    /// normal(0, scale) for all coefficients but the intercept, which has its own scale.
    ///
    /// # Errors
    /// A scale that is not positive.
    pub fn new(scale: f64, intercept_scale: f64) -> Result<Self, PriorError> {
        for (option, value) in
            [("--prior-scale", scale), ("--intercept-prior-scale", intercept_scale)]
        {
            if !is_scale(value) {
                return Err(PriorError::Scale { option, value });
            }
        }
        Ok(Self { scale, intercept_scale, entries: Vec::new() })
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
        let file = Source { name, text: text.strip_prefix('\u{feff}').unwrap_or(text) };
        let document = DeTable::parse(file.text).map_err(|error| PriorError::Syntax {
            place: file.place(error.span().map_or(0, |span| span.start)),
            message: shown(error.message(), NAME_SHOWN).replace("\\n", " "),
        })?;
        for (key, value) in document.get_ref() {
            let entry = file.entry(key, value)?;
            self.entries.retain(|old| old.name != entry.name);
            self.entries.push(entry);
        }
        Ok(self)
    }

    /// The priors of these coefficients, in their order.
    ///
    /// # Errors
    /// A prior for an unknown coefficient.
    pub fn for_names(&self, names: &[String]) -> Result<CoefficientPriors, PriorError> {
        let default =
            |name: &String| if name == INTERCEPT { self.intercept_scale } else { self.scale };
        let mut means = vec![0.0; names.len()];
        let mut scales: Vec<f64> = names.iter().map(default).collect();
        for entry in &self.entries {
            let Some(at) = names.iter().position(|name| *name == entry.name) else {
                return Err(PriorError::Unknown {
                    place: entry.place.clone(),
                    name: entry.name.clone(),
                    nearest: nearest(&entry.name, names.iter().map(String::as_str)),
                    coefficients: names.to_vec(),
                });
            };
            (means[at], scales[at]) = (entry.mean, entry.scale);
        }
        Ok(CoefficientPriors { means, scales })
    }
}

/// The bounds that the library has for prior scales.
fn is_scale(value: f64) -> bool {
    value == f64::INFINITY || (1e-150..1e150).contains(&value)
}

/// A TOML text, to find the lines of its entries.
struct Source<'t> {
    name: &'t str,
    text: &'t str,
}

impl<'t> Source<'t> {
    fn place(&self, byte: usize) -> Box<Place> {
        let before = self.text.as_bytes().get(..byte).unwrap_or(self.text.as_bytes());
        Place::line(self.name, 1 + before.iter().filter(|&&b| b == b'\n').count() as u64)
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
        let (mut mean, mut scale) = (0.0, None);
        for (field, value) in fields {
            match field.get_ref().as_ref() {
                "mean" => {
                    mean = self.number(&name, "mean", value, f64::is_finite, "a finite number")?
                }
                "scale" => {
                    let need = "a number between 1e-150 and 1e150, or inf for a flat prior";
                    scale = Some(self.number(&name, "scale", value, is_scale, need)?);
                }
                other => {
                    let place = self.place(field.span().start);
                    let need = format!(
                        "`mean` or `scale` for `{}`; put names with dots, blanks or brackets in quotes, as in `[\"a.b\"]`",
                        shown(&name, NAME_SHOWN)
                    );
                    return Err(PriorError::Entry { place, found: other.to_owned(), need });
                }
            }
        }
        let Some(scale) = scale else {
            let need = "`scale = ...` below it, with `inf` for a flat prior".to_owned();
            return Err(PriorError::Entry { place, found: format!("[{heading}]"), need });
        };
        if scale == f64::INFINITY && mean != 0.0 {
            let need = "a finite scale as well: a flat prior has no mean".to_owned();
            return Err(PriorError::Entry { place, found: format!("mean = {mean}"), need });
        }
        Ok(Entry { name, mean, scale, place })
    }

    fn number(
        &self, name: &str, key: &str, value: &Spanned<DeValue<'t>>, good: fn(f64) -> bool,
        need: &str,
    ) -> Result<f64, PriorError> {
        let written = self.text.get(value.span()).unwrap_or_default();
        let number = match value.get_ref() {
            DeValue::Float(float) => float.as_str().parse().ok(),
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
