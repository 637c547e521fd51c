//! Turns library errors and notes, which number rows and columns, into messages with lines, names
//! and remedies.

use ridgewalk_frame::Frame;
use ridgewalk_potentials::{
    Error as PotentialError, Impropriety, Note, Obstacle, Relation, Separability, Separation,
    SeparationKind,
};

use crate::error::Error;

/// Maximum length of a name in a message.
const SHOWN: usize = 60;
/// Larger offsets than this overflow where the link is a logarithm, or come near to that.
const LARGE_OFFSET: f64 = 200.0;
/// Maximum number of names listed.
const LISTED: usize = 6;

/// The names and places of a data file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words<'a> {
    frame: &'a Frame,
}

impl<'a> Words<'a> {
    pub(crate) fn new(frame: &'a Frame) -> Self {
        Self { frame }
    }

    /// The error for a model.
    pub(crate) fn potential(&self, error: PotentialError) -> Error {
        let file = &self.frame.file;
        let line = |row: usize| {
            self.frame.lines.get(row).map_or(String::new(), |line| format!(", {line}"))
        };
        let (input, message) = match &error {
            PotentialError::Improper(why) => (
                true,
                format!(
                    "{file}: the posterior is improper: {}; {}",
                    self.impropriety(why),
                    remedy(why)
                ),
            ),
            PotentialError::Row { what, row, value, need } => {
                (true, format!("{file}{}: found the {what} {value}, need {need}", line(*row)))
            }
            PotentialError::Prior { what, coefficient, value, need } => {
                let name = self.name(*coefficient);
                (true, format!("prior {what} of {name}: found {value}, need {need}"))
            }
            PotentialError::Entry { row, column, value } => {
                let (place, name) = (line(*row), self.name(*column));
                (true, format!("{file}{place}, {name}: found {value}, need a finite number"))
            }
            PotentialError::Overflow { .. } | PotentialError::Whitening { .. } => (
                true,
                format!(
                    "{file}: the predictors differ too much in scale to compute with ({error}); pass --standardize"
                ),
            ),
            PotentialError::NotFinite { what, .. } => (true, self.not_finite(what)),
            PotentialError::NotThinned { why } => {
                (true, format!("--kernel subsampled: {why}; leave --kernel out"))
            }
            PotentialError::NotPositive { .. } | PotentialError::Quadrature(_) => {
                (true, error.to_string())
            }
            PotentialError::NoCurvature(obstacle) => (true, no_curvature(*obstacle)),
            PotentialError::NotConverged { iterations, why, decrement, .. } => (
                false,
                format!(
                    "the mode was not found in {iterations} iterations: {why}; the last point is \
                     about {decrement:.1e} standard deviations from it. Try --standardize or \
                     tighter priors (--prior-scale 2.5)"
                ),
            ),
            other => (false, other.to_string()),
        };
        Error::Model { message, source: Box::new(error), input }
    }

    /// A likelihood that overflows where the search for the mode begins.
    fn not_finite(&self, what: &str) -> String {
        let file = &self.frame.file;
        let rows = self.frame.offset.iter().flatten().enumerate();
        let largest = rows.max_by(|(_, one), (_, other)| one.abs().total_cmp(&other.abs()));
        match largest.filter(|(_, offset)| offset.abs() > LARGE_OFFSET) {
            Some((row, offset)) => {
                let line =
                    self.frame.lines.get(row).map_or(String::new(), |line| format!(", {line}"));
                format!(
                    "{file}{line}: found the offset {offset}, with which {what} is not finite; need \
                     smaller offsets, such as log(exposure)"
                )
            }
            None => format!(
                "{file}: {what} is not finite where the search for the mode begins; need responses, \
                 predictors and prior means nearer to 1: pass --standardize, or divide columns"
            ),
        }
    }

    fn impropriety(&self, why: &Impropriety) -> String {
        match why {
            Impropriety::Collinear(relations) => {
                format!("{}, and the prior is flat along that direction", self.relations(relations))
            }
            Impropriety::TooFewRows { columns, rows } => {
                format!("{columns} coefficients have flat priors but there are only {rows} rows")
            }
            Impropriety::Separation(separation) => {
                format!(
                    "{}, and the prior is flat along that direction",
                    self.separation(separation)
                )
            }
            other => other.to_string(),
        }
    }

    /// The text of a note.
    pub(crate) fn note(&self, note: &Note) -> String {
        match note {
            Note::Collinear(relations) => {
                format!(
                    "{}: along that direction the posterior depends on the prior alone",
                    self.relations(relations)
                )
            }
            other => other.to_string(),
        }
    }

    /// A note if the data are separated: under proper priors the posterior exists, but its extent
    /// depends on the prior.
    pub(crate) fn separability(&self, found: &Separability) -> Option<String> {
        let Separability::Separated(separation) = found else { return None };
        Some(format!(
            "{}: along that direction the posterior depends on the prior alone",
            self.separation(separation)
        ))
    }

    fn separation(&self, separation: &Separation) -> String {
        let Separation { kind, columns, separated, rows, .. } = separation;
        let columns = self.list(columns);
        match kind {
            SeparationKind::Complete => format!(
                "complete separation: a linear combination, mainly of {columns}, separates the \
                 two responses in all {rows} rows"
            ),
            SeparationKind::QuasiComplete => format!(
                "quasi-complete separation: a linear combination, mainly of {columns}, separates \
                 the two responses in {separated} of {rows} rows; the remaining rows are on the \
                 boundary"
            ),
            SeparationKind::ConstantResponse => {
                format!(
                    "all {rows} responses are equal, so the fit improves without bound along a \
                     linear combination, mainly of {columns}"
                )
            }
        }
    }

    fn relations(&self, relations: &[Relation]) -> String {
        let Some(first) = relations.first() else { return "collinear predictors".into() };
        let mut text = if first.terms.is_empty() {
            format!("{} is zero in every row", self.name(first.column))
        } else if first.terms.len() > LISTED {
            format!(
                "collinear predictors: {} is a linear combination of {} other columns",
                self.name(first.column),
                first.terms.len()
            )
        } else {
            let terms: String =
                first.terms.iter().map(|(column, factor)| self.term(*column, *factor)).collect();
            let sum = terms
                .strip_prefix(" + ")
                .map_or_else(|| terms.trim_start().replacen("- ", "-", 1), str::to_owned);
            format!("collinear predictors: {} = {sum}", self.name(first.column))
        };
        if relations.len() > 1 {
            text.push_str(&format!(" (and {} more such relations)", relations.len() - 1));
        }
        text
    }

    /// ` + 2 age` or ` - 0.5 age`: six digits, and no factor of one.
    fn term(&self, column: usize, factor: f64) -> String {
        let sign = if factor < 0.0 { '-' } else { '+' };
        let name = self.name(column);
        // Rounded to six significant digits, then as short as those allow.
        let size: f64 = format!("{:.5e}", factor.abs()).parse().unwrap_or(factor.abs());
        if size == 1.0 {
            format!(" {sign} {name}")
        } else if (1e-5..1e9).contains(&size) {
            format!(" {sign} {size} {name}")
        } else {
            format!(" {sign} {size:e} {name}")
        }
    }

    fn list(&self, columns: &[usize]) -> String {
        let mut names: Vec<String> =
            columns.iter().take(LISTED).map(|column| self.name(*column)).collect();
        if columns.len() > LISTED {
            names.push(format!("{} others", columns.len() - LISTED));
        }
        match names.as_slice() {
            [] => "the predictors".into(),
            [one] => one.clone(),
            [first @ .., last] => format!("{} and {last}", first.join(", ")),
        }
    }

    fn name(&self, column: usize) -> String {
        let name = self.frame.names.get(column).map_or("", String::as_str);
        let shown: String = name.chars().take(SHOWN).collect();
        if shown.len() < name.len() { format!("`{shown}…`") } else { format!("`{shown}`") }
    }
}

/// The error for a posterior whose mode accelerated gradients cannot find.
fn no_curvature(obstacle: Obstacle) -> String {
    match obstacle {
        Obstacle::NotStronglyConvex => {
            "--mode-search accelerated needs a curvature of at least m \
            > 0: give every coefficient a proper prior (--prior-scale 2.5) or use --mode-search \
            newton"
        }
        Obstacle::NotSmooth => {
            "--mode-search accelerated needs a curvature of at most L: the \
            family has no such bound; use --mode-search newton"
        }
    }
    .to_owned()
}

fn remedy(why: &Impropriety) -> &'static str {
    match why {
        Impropriety::Collinear(_) => {
            "leave one of them out with --predictors, or use proper priors (--prior-scale 2.5)"
        }
        _ => "use proper priors (--prior-scale 2.5 --intercept-prior-scale 2.5)",
    }
}
