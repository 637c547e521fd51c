//! Data for `ridgewalk fit`: files, the questions put to them, and priors. Everything a user can
//! get wrong in them is found here and told with its place.
//!
//! # Files
//!
//! Text in UTF-8 with a line of column names; fields end with `,`, `;` or a tab, whichever the line
//! of names has most of; a field in `"` may have any of them, line breaks and doubled `"` inside.
//! Blanks around names and values do not count. Blank lines are passed over, except among the rows
//! of a file with one column, where they are missing values. With the cargo feature `parquet`,
//! Parquet files of flat columns too.
//!
//! # Columns
//!
//! A column is of numbers when all its values are numbers, and of text when none is. One that has
//! both cannot be used, and the message names the first value that does not fit. Missing are empty
//! cells and, in any case, the [`MISSING_MARKERS`]: `NA`, `N/A`, `#N/A`, `NaN`, `null`, `.` and
//! `?`. `inf` and numbers beyond floating point are refused where the column is used, as are
//! magnitudes above 1e100, whose squares could overflow.
//!
//! Text predictors become indicators named `column[level]`; the first level in alphabetical order
//! (by code point) is the base. With `--standardize` indicators are standardized like all other
//! predictors.

mod column;
mod error;
mod frame;
#[cfg(feature = "parquet")]
mod parquet;
mod parts;
mod place;
mod priors;
mod question;
mod records;
mod response;
mod table;
mod terms;

pub use column::{Column, MISSING_MARKERS};
pub use error::{DataError, MissingIn};
pub use frame::{Frame, INTERCEPT};
pub use parts::Part;
pub(crate) use parts::{nth_smallest, range, total};
pub use place::{Place, Row};
pub use priors::Priors;
pub use question::{FamilyName, Question, Role, UnknownFamily};
pub use records::split_names;
pub use table::Table;
pub(crate) use table::digest_of;

/// The largest number of columns that is read.
pub const MAX_COLUMNS: usize = 100_000;
/// The largest number of bytes in one row of a text file.
pub const MAX_ROW_BYTES: usize = 32 << 20;
/// The largest number of values in a table, and of entries in a design: 4 GB of numbers.
pub const MAX_VALUES: usize = 500_000_000;
/// The largest number of coefficients.
pub const MAX_COEFFICIENTS: usize = 5_000;
/// The largest number of levels of a text predictor.
pub const MAX_LEVELS: usize = 1_000;

/// A text column with more different texts than this, or with more bytes of them, is not kept.
const MAX_HELD_LEVELS: usize = 10_000;
const MAX_LEVEL_BYTES: usize = 1 << 20;
/// Numbers beyond this could overflow in sums of squares.
const MAX_MAGNITUDE: f64 = 1e100;
/// Columns below this could vanish in sums of squares.
const MIN_MAGNITUDE: f64 = 1e-100;
