//! Tables, questions about them, and the numbers that a model needs. Every error in a data file is
//! found here and reported with its place.
//!
//! ```
//! use ridgewalk_frame::{FamilyName, Frame, Question, Table};
//!
//! let table = Table::from_bytes("wells.csv", b"switched;dist\n1;0.17\n0;0.47\n1;0.21\n")?;
//! let frame = Frame::new(&table, &Question::new("switched", FamilyName::Logistic))?;
//! assert_eq!(frame.names, ["(Intercept)", "dist"]);
//! let wrong = Table::from_bytes("wells.csv", b"switched;dist\n1;0.17\n0\n").unwrap_err();
//! assert!(wrong.to_string().starts_with("wells.csv, line 3: found 1 field"));
//! # Ok::<(), ridgewalk_frame::DataError>(())
//! ```
//!
//! # Files
//!
//! Text in UTF-8 with a line of column names. Fields end with `,`, `;` or a tab, whichever occurs
//! most often in the line of names. A quoted field may contain any of them, line breaks and doubled
//! quotes. Blanks around names and values are ignored. Blank lines are skipped, except in a file
//! with one column, where they are missing values. With the cargo feature `parquet`, Parquet files
//! of flat columns are read too. [`pack()`] writes a table as columns in blocks of rows, all covered by
//! checksums: [`Pack`] reads any part of it.
//!
//! Files whose names end in `.svm`, `.svmlight` or `.libsvm` have sparse rows: `label index:value ...`.
//! They become the columns `label` and `x`, which is a [`SparseColumns`], and `qid` where rows have one.
//!
//! # Columns
//!
//! A column holds numbers if all its values are numbers, and text if none is. A column that mixes
//! them cannot be used; the message names the first value that does not fit. Empty cells are
//! missing, and so are, in any case, the [`MISSING_MARKERS`]: `NA`, `N/A`, `#N/A`, `NaN`, `null`,
//! `.` and `?`. `inf` and numbers beyond floating point are refused where the column is used, and
//! so are magnitudes above 1e100, whose squares could overflow.
//!
//! Text predictors become indicators named `column[level]`. The first level in natural order (`<25`
//! before `25-29`, `a2` before `a10`) is the base. Standardizing applies to indicators as to all other predictors.
//!
//! # Group effects
//!
//! `(1 + x | g)` and `s(x)` in a formula become [`Grouping`]s beside the design: the number of the
//! level of each row, or the values of basis functions. Levels are never columns.
//!
//! # Rows in several processes
//!
//! A [`Draft`] checks the rows of one part. With the merged [`Facts`] of all parts it becomes the
//! [`Frame`] of that part.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr, clippy::exit))]

mod advice;
mod basis;
mod blocks;
mod coding;
mod column;
mod dates;
mod describe;
mod design;
mod draft;
mod error;
mod evaluate;
mod factors;
mod facts;
mod formula;
mod frame;
mod groups;
mod levels;
mod matrix;
mod moments;
mod pack;
mod pairs;
#[cfg(feature = "parquet")]
mod parquet;
mod parts;
mod passes;
pub mod place;
mod plan;
mod question;
mod records;
mod relations;
mod response;
mod roles;
mod rows;
mod scaling;
mod smooths;
mod sparse;
mod splines;
mod svm;
mod table;
mod variables;

pub use basis::Basis;
pub use coding::{Coding, NewRows};
pub use column::{Column, MISSING_MARKERS};
pub use describe::{
    ColumnDescription, Description, GroupDescription, Kind, Numbers, SparseNumbers,
};
pub use draft::Draft;
pub use error::{DataError, MissingIn};
pub use evaluate::{Learned, Memory, functions};
pub use facts::Facts;
pub use formula::{Condition, Formula, FormulaError, formula_name};
pub use frame::{Frame, INTERCEPT};
pub use groups::{GroupEntries, GroupNames, Grouping};
pub use matrix::{Matrix, SparseRows};
pub use moments::{Moments, TakeRows};
pub use pack::{Pack, PackWriter, Packed, PackedColumn, pack};
pub use parts::Part;
pub use passes::Passes;
pub use place::{Place, Row};
pub use question::{FamilyName, Question, Role, UnknownFamily};
pub use records::{join_names, split_names};
pub use scaling::{Combine, Sizes};
pub use smooths::SmoothGrid;
pub use sparse::SparseColumns;
pub use table::{Table, digest_of};

/// The maximum number of columns.
pub const MAX_COLUMNS: usize = 100_000;
/// The maximum number of bytes in one row of a text file.
pub const MAX_ROW_BYTES: usize = 32 << 20;
/// The maximum number of values in a table, and of entries in a design: 4 GB.
pub const MAX_VALUES: usize = 500_000_000;
/// The maximum number of coefficients.
pub const MAX_COEFFICIENTS: usize = 12_000;
/// The maximum number of coefficients of a sparse design.
pub const MAX_SPARSE_COEFFICIENTS: usize = 200_000;
/// The maximum number of levels of a text predictor.
pub const MAX_LEVELS: usize = 100_000;

/// The maximum number of levels of a grouping factor.
pub const MAX_GROUP_LEVELS: usize = 1_000_000;

/// A text column with more distinct texts than this, or more bytes of them, is not kept. Unit tests
/// reach the limits with short columns.
const MAX_HELD_LEVELS: usize = if cfg!(test) { 10_000 } else { MAX_GROUP_LEVELS };
const MAX_LEVEL_BYTES: usize = if cfg!(test) { 1 << 20 } else { 64 << 20 };
/// One that is more than a grouping factor is not searched for levels beyond these.
const MAX_COUNTED_LEVELS: usize = MAX_LEVELS;
const MAX_COUNTED_BYTES: usize = 16 << 20;
/// Numbers beyond this could overflow in sums of squares.
const MAX_MAGNITUDE: f64 = 1e100;
/// Columns below this could underflow in sums of squares.
const MIN_MAGNITUDE: f64 = 1e-100;
