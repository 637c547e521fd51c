//! Whether a posterior exists: directions along which nothing, neither the likelihood nor the
//! prior, holds the coefficients.
//!
//! U is convex, so e^−U can be normalised unless some direction v costs nothing: Q v = 0 and, for
//! each row, u′ tends to 0 on the side that a·v moves its predictor to. Such directions are of two
//! kinds. Collinear columns: a·v = 0 in every row. Separation: rows that fit better and better,
//! without end. Both are found before or during the search for the mode, checked row by row, and
//! reported.

mod collinear;
mod flat;
mod separation;

pub(crate) use flat::Flat;

use std::fmt;

/// What is known about the existence of a posterior for which no objection was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Properness {
    /// It exists.
    Proper(Proof),
    /// It was not checked, with the reason.
    NotChecked(&'static str),
}

impl fmt::Display for Properness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Proper(proof) => write!(f, "proper: {proof}"),
            Self::NotChecked(why) => write!(f, "not checked: {why}"),
        }
    }
}

/// Why a posterior exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Proof {
    /// The prior is proper by itself: a convex potential falls at most linearly, and the prior
    /// rises faster.
    Prior,
    /// The potential has a minimum and is strictly convex there: then it grows at least linearly in
    /// every direction.
    Curvature,
    /// Every row's cost grows in both directions, and no direction moves none of them.
    Tails,
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Prior => "every coefficient has a proper prior",
            Self::Curvature => "the potential has a minimum and is strictly convex there",
            Self::Tails => "every direction moves some row, and rows resist on both sides",
        })
    }
}

/// Why a posterior does not exist.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Impropriety {
    /// Columns of the design that are collinear, with a flat prior along the direction.
    Collinear(Vec<Relation>),
    /// More columns with flat priors than rows: some of their combinations move no row. Reported
    /// when relations are too expensive to find.
    TooFewRows {
        /// How many columns have flat priors.
        columns: usize,
        /// How many rows there are.
        rows: usize,
    },
    /// A direction along which no row gets worse and some get better for ever, with a flat prior
    /// along it.
    Separation(Separation),
}

impl fmt::Display for Impropriety {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Collinear(relations) => {
                write_relations(f, relations)?;
                write!(f, ", and the prior is flat along that direction")
            }
            Self::TooFewRows { columns, rows } => write!(
                f,
                "the design is rank deficient: {columns} columns have flat priors, and there are {rows} rows only"
            ),
            Self::Separation(separation) => {
                write!(f, "{separation}, and the prior is flat along that direction")
            }
        }
    }
}

/// A linear relation between columns of a design: one of them as a sum of multiples of others, of
/// none where it is zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Relation {
    /// The column.
    pub column: usize,
    /// The others, each with its factor.
    pub terms: Vec<(usize, f64)>,
}

/// The most terms that a message spells out; longer relations are described by their number.
const TERMS_IN_WORDS: usize = 8;

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.terms.is_empty() {
            return write!(f, "column {} = 0", self.column);
        }
        if self.terms.len() > TERMS_IN_WORDS {
            return write!(
                f,
                "column {} is a linear combination of {} other columns",
                self.column,
                self.terms.len()
            );
        }
        write!(f, "column {} =", self.column)?;
        for (at, (column, factor)) in self.terms.iter().enumerate() {
            let sign = match (at, *factor < 0.0) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => "+ ",
                (_, true) => "- ",
            };
            // Six digits: more would be the rounding of the data.
            let size = format!("{:.5e}", factor.abs()).parse().unwrap_or(factor.abs());
            let size = if size == 1.0 { String::new() } else { format!("{size} ") };
            write!(f, " {sign}{size}column {column}")?;
        }
        Ok(())
    }
}

/// Writes which columns are collinear, and the first of their relations.
pub(crate) fn write_relations(f: &mut fmt::Formatter<'_>, relations: &[Relation]) -> fmt::Result {
    let Some(first) = relations.first() else { return Ok(()) };
    if first.terms.is_empty() {
        write!(f, "column {} of the design is zero", first.column)?;
    } else {
        let mut columns: Vec<usize> = first.terms.iter().map(|(column, _)| *column).collect();
        columns.push(first.column);
        columns.sort_unstable();
        if columns.len() <= TERMS_IN_WORDS {
            write!(f, "{} of the design are collinear: {first}", list(&columns))?;
        } else {
            write!(f, "columns of the design are collinear: {first}")?;
        }
    }
    match relations.len() - 1 {
        0 => Ok(()),
        1 => write!(f, " (and 1 more such relation)"),
        more => write!(f, " (and {more} more such relations)"),
    }
}

/// "column 3", "columns 1 and 3", "columns 1, 2 and 3".
fn list(columns: &[usize]) -> String {
    let words: Vec<String> = columns.iter().map(usize::to_string).collect();
    match words.as_slice() {
        [] => "no columns".into(),
        [one] => format!("column {one}"),
        [first @ .., last] => format!("columns {} and {last}", first.join(", ")),
    }
}

/// A direction along which no row of the data gets worse and some get better for ever.
#[derive(Debug, Clone, PartialEq)]
pub struct Separation {
    /// The kind of separation.
    pub kind: SeparationKind,
    /// The direction, one number for each coefficient.
    pub direction: Vec<f64>,
    /// The columns with the largest coefficients in it, in descending order.
    pub columns: Vec<usize>,
    /// How many rows get better along it.
    pub separated: usize,
    /// How many rows there are.
    pub rows: usize,
}

/// Kinds of separation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeparationKind {
    /// Every row gets better: a plane has all successes on one side and all failures on the other.
    Complete,
    /// Some rows get better and the others do not change: they lie on the plane.
    QuasiComplete,
    /// All responses are equal, 0 or as large as they can be, and some direction moves every row
    /// that way.
    ConstantResponse,
}

impl fmt::Display for Separation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, columns, separated, rows, .. } = self;
        let columns = list(columns);
        match kind {
            SeparationKind::Complete => {
                write!(
                    f,
                    "complete separation: along a direction of chiefly {columns} all {rows} rows fit better and better"
                )
            }
            SeparationKind::QuasiComplete => write!(
                f,
                "quasi-complete separation: along a direction of chiefly {columns} {separated} of {rows} rows fit better and better \
                 and the others stay as they are"
            ),
            SeparationKind::ConstantResponse => write!(
                f,
                "all {rows} responses are equal: along a direction of chiefly {columns} {separated} of them fit better and better"
            ),
        }
    }
}

/// Whether data are separated, whatever the prior.
#[derive(Debug, Clone, PartialEq)]
pub enum Separability {
    /// They are, along this direction: there the prior alone decides.
    Separated(Separation),
    /// They are not: the likelihood has a maximum.
    Overlapping,
    /// Undecided, with the reason.
    NotDecided(&'static str),
}
