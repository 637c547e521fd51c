//! Errors in a data file or in a question about it. Each message gives the place, what was found,
//! what is needed and a remedy.

use crate::place::{NAME_SHOWN, VALUE_SHOWN, listed, number, shown, suggestion};
use crate::{FamilyName, FormulaError, Place, Role, Row};

/// A column with missing values.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingIn {
    /// The column.
    pub column: String,
    /// The number of missing values.
    pub count: usize,
    /// The row of the first missing value.
    pub first: Row,
}

/// Why data or priors cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The file cannot be opened or read.
    #[error("{file}: {}", unreadable(.source))]
    Read {
        /// The file.
        file: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The path is a directory.
    #[error("{file}: found a directory, need a data file; pass the path of a file")]
    Directory {
        /// The path.
        file: String,
    },
    /// The file format is not supported.
    #[error("{file}: found {found}, need {need}")]
    Format {
        /// The file.
        file: String,
        /// What it is.
        found: &'static str,
        /// What it should be, and how to get there.
        need: &'static str,
    },
    /// The file is empty.
    #[error(
        "{file}: found an empty file, need a line of column names followed by one line per row"
    )]
    Empty {
        /// The file.
        file: String,
    },
    /// There are column names, but no rows.
    #[error("{file}: found column names but no rows, need at least two rows")]
    NoRows {
        /// The file.
        file: String,
    },
    /// A byte that is not valid UTF-8.
    #[error(
        "{place}, byte {byte}: found 0x{value:02x}, need text in UTF-8; save the file in that encoding"
    )]
    NotUtf8 {
        /// The line.
        place: Box<Place>,
        /// Which byte of the line, the first being 1.
        byte: usize,
        /// The byte.
        value: u8,
    },
    /// A zero byte, which text does not contain.
    #[error(
        "{place}, byte {byte}: found a zero byte, need text in UTF-8; is this UTF-16 or a binary file? Save it as CSV in UTF-8"
    )]
    NotText {
        /// The line.
        place: Box<Place>,
        /// Which byte of the line, the first being 1.
        byte: usize,
    },
    /// The file changed while it was read.
    #[error(
        "{file}: the file changed while it was read: found {before} bytes at first and {after} at the end; try again when nothing writes to it"
    )]
    Changed {
        /// The file.
        file: String,
        /// Its length when it was opened.
        before: u64,
        /// Its length after it was read.
        after: u64,
    },
    /// A row over the length limit.
    #[error(
        "{place}: found a row longer than {limit} bytes, need shorter rows; is this a table with one line per row?"
    )]
    RowTooLong {
        /// Where the row begins.
        place: Box<Place>,
        /// The bound in bytes.
        limit: usize,
    },
    /// More columns than the limit.
    #[error(
        "{place}: found more than {limit} columns, need at most that many; leave some out, or transpose the table if its rows are columns"
    )]
    TooManyColumns {
        /// Where they were found.
        place: Box<Place>,
        /// The bound.
        limit: usize,
    },
    /// More values than the limit.
    #[error(
        "{place}: found more than {limit} values up to here, need at most that many; leave rows or columns out of the file"
    )]
    TooManyValues {
        /// The row at which the limit is exceeded.
        place: Box<Place>,
        /// The bound.
        limit: usize,
    },
    /// A row with too few or too many fields.
    #[error(
        "{place}: found {got} field{}, need {need} as in the line of column names (the separator is {delimiter})",
        if *.got == 1 { "" } else { "s" }
    )]
    Fields {
        /// The line.
        place: Box<Place>,
        /// The number of fields.
        got: usize,
        /// The number of columns.
        need: usize,
        /// What separates fields in this file: `,`, `;` or `tab`.
        delimiter: &'static str,
    },
    /// A quoted field without a closing quote.
    #[error(
        "{place}: found a quote that is not closed, need a closing `\"` (a `\"` inside a quoted field is written twice)"
    )]
    OpenQuote {
        /// The line with the opening quote.
        place: Box<Place>,
    },
    /// Text between a closing quote and the end of the field.
    #[error("{place}: found `{}` after a closing quote, need the end of the field (a `\"` inside a quoted field is written twice)", shown(.found, VALUE_SHOWN))]
    AfterQuote {
        /// The line.
        place: Box<Place>,
        /// The text.
        found: String,
    },
    /// A line that ends in a lone carriage return.
    #[error(
        "{place}: found a carriage return inside a line, need Unix or Windows line endings; save the file with one of these"
    )]
    CarriageReturn {
        /// The line.
        place: Box<Place>,
    },
    /// Numbers where names should be.
    #[error("{place}: found numbers only (`{}`), need a line of column names above the rows", shown(.found, VALUE_SHOWN))]
    NoHeader {
        /// The first line.
        place: Box<Place>,
        /// Its first field.
        found: String,
    },
    /// A column without a name.
    #[error(
        "{place}: found no name for column {number}, need a name for every column; to write a file without row numbers, use `index=False` in pandas or `row.names = FALSE` in R"
    )]
    EmptyName {
        /// The line of names.
        place: Box<Place>,
        /// Which column, the first being 1.
        number: usize,
    },
    /// Two columns with the same name.
    #[error("{place}: found the name `{}` for columns {first} and {second}, need different names", shown(.name, NAME_SHOWN))]
    DuplicateName {
        /// The line of names.
        place: Box<Place>,
        /// The name.
        name: String,
        /// The first column with this name, counted from 1.
        first: usize,
        /// The second.
        second: usize,
    },
    /// A name with a line break or another control character in it.
    #[error("{place}: found `{}` as a name, need names without line breaks or control characters", shown(.name, NAME_SHOWN))]
    UnprintableName {
        /// Where.
        place: Box<Place>,
        /// The name.
        name: String,
    },
    /// A file with one column whose lines seem to have several.
    #[error("{place}: found one column, `{}`, need columns separated by `,`, `;` or tabs; the separator seems to be {separator}: save the file with one of the three", shown(.header, VALUE_SHOWN))]
    Delimiter {
        /// The line of names.
        place: Box<Place>,
        /// The line itself.
        header: String,
        /// What seems to separate its fields.
        separator: &'static str,
    },
    /// Columns in memory with different lengths.
    #[error("{place}: found {got} values, need {need} as in the first column")]
    Lengths {
        /// The column.
        place: Box<Place>,
        /// The number of values.
        got: usize,
        /// The number of values in the first column.
        need: usize,
    },
    /// A level that is compared with itself.
    #[error("{place}: found `{}`, which column `{}` has in this row too, need two different levels", shown(.level, VALUE_SHOWN), shown(.other, NAME_SHOWN))]
    SamePair {
        /// The cell of the first column.
        place: Box<Place>,
        /// The level.
        level: String,
        /// The second column.
        other: String,
    },
    /// Sparse rows, of a file or of lists, that cannot be used.
    #[error("{place}: found {found}, need {need}")]
    Sparse {
        /// Where.
        place: Box<Place>,
        /// What it has.
        found: String,
        /// What it should have.
        need: String,
    },
    /// A packed file that is damaged or of another version.
    #[error("{file}: found {found}, need {need}")]
    Pack {
        /// The file.
        file: String,
        /// What it has.
        found: String,
        /// What it should have, and what to do.
        need: String,
    },
    /// A file that would be overwritten.
    #[error("{file}: found a file of this name, need another name; or remove the file")]
    Exists {
        /// The file.
        file: String,
    },
    /// A file that cannot be written.
    #[error("{file}: cannot be written, and nothing was left of it: {source}")]
    Write {
        /// The file.
        file: String,
        /// Why not.
        source: std::io::Error,
    },
    /// A Parquet file that cannot be read.
    #[error("{file}: cannot be read as Parquet: {message}")]
    Parquet {
        /// The file.
        file: String,
        /// The decoder's message.
        message: String,
    },

    /// A column that is not in the file.
    #[error(
        "{file}: found no column `{}` for {role}{}",
        shown(.name, NAME_SHOWN),
        suggestion(.nearest.as_deref(), .columns)
    )]
    UnknownColumn {
        /// The file.
        file: String,
        /// The intended use.
        role: Role,
        /// The name asked for.
        name: String,
        /// The column with the most similar name, if any is close.
        nearest: Option<String>,
        /// The columns of the file.
        columns: Vec<String>,
    },
    /// A column used for two purposes.
    #[error("column `{}` is used by both {first} and {second}, need a different column for each", shown(.column, NAME_SHOWN))]
    UsedTwice {
        /// The column.
        column: String,
        /// The first use.
        first: Role,
        /// The second.
        second: Role,
    },
    /// A column listed twice among the predictors.
    #[error("column `{}` is listed twice in --predictors, need it once", shown(.column, NAME_SHOWN))]
    ListedTwice {
        /// The column.
        column: String,
    },
    /// A role that both the formula and an option give.
    #[error("the formula has what {role} {} asks for again, need one of the two", shown(.column, NAME_SHOWN))]
    TwiceGiven {
        /// The option.
        role: Role,
        /// Its column.
        column: String,
    },
    /// A formula or condition that cannot be used.
    #[error(transparent)]
    Formula(#[from] FormulaError),
    /// A function that cannot be applied to the data.
    #[error("{file}: {} needs {need}", shown(.call, NAME_SHOWN))]
    Function {
        /// The file.
        file: String,
        /// The call as written.
        call: String,
        /// What is needed.
        need: String,
    },
    /// An expression without a finite value in some row.
    #[error(
        "{place}: found {} for {}{}, need a finite number of at most 1e100 in magnitude; correct the value, or leave such rows out with --where",
        number(*.value),
        shown(.expression, NAME_SHOWN),
        if .inputs.is_empty() { String::new() } else { format!(" ({})", .inputs.join(", ")) }
    )]
    NotFinite {
        /// The row, and the first column of the expression.
        place: Box<Place>,
        /// The expression.
        expression: String,
        /// Its value.
        value: f64,
        /// The values of its columns, as `name = value`.
        inputs: Vec<String>,
    },
    /// A level that the data of the fit do not have.
    #[error(
        "{place}: found the level `{}`, which {} did not have in the data of the fit, need one of {}",
        shown(.level, VALUE_SHOWN),
        quoted(.factor),
        listed(.known, 12)
    )]
    UnseenLevel {
        /// The row.
        place: Box<Place>,
        /// The level.
        level: String,
        /// The factor.
        factor: String,
        /// Its levels.
        known: Vec<String>,
    },
    /// A base level that does not occur.
    #[error("{place}: found no level `{}` to be the base{}", shown(.level, VALUE_SHOWN), suggestion(.nearest.as_deref(), .levels))]
    NoLevel {
        /// The column.
        place: Box<Place>,
        /// The level asked for.
        level: String,
        /// The most similar level, if one is close.
        nearest: Option<String>,
        /// The levels.
        levels: Vec<String>,
    },
    /// A base level of a column of numbers.
    #[error("{place}: found numbers, need a factor for --base; pass it to --factor too")]
    NotAFactor {
        /// The column.
        place: Box<Place>,
    },
    /// A missing value in a new row.
    #[error("{place}: found a missing value, need a value to code this row")]
    Unknown {
        /// Where.
        place: Box<Place>,
    },
    /// A condition that no row fulfils.
    #[error("{file}: found no row with {condition} among {of}, need at least two; change --where")]
    NothingSelected {
        /// The file.
        file: String,
        /// The condition.
        condition: String,
        /// The number of rows.
        of: usize,
    },
    /// Neither an intercept nor predictors.
    #[error(
        "found no predictors and no intercept, need at least one coefficient; drop --no-intercept or pass --predictors"
    )]
    NoCoefficients,
    /// A column of numbers that contains other text.
    #[error(
        "{place}: found `{}`, need a number as in {number_row} (`{}`); correct it{}",
        shown(.value, VALUE_SHOWN),
        shown(.number, VALUE_SHOWN),
        or_leave_out(*.role)
    )]
    NotANumber {
        /// The first value that is not a number.
        place: Box<Place>,
        /// The value.
        value: String,
        /// The first row that has a number.
        number_row: Row,
        /// That number.
        number: String,
        /// What the column is used as.
        role: Role,
    },
    /// Text in a column that must hold numbers.
    #[error("{place}: found the text `{}`, need {need}", shown(.value, VALUE_SHOWN))]
    Text {
        /// The first such value.
        place: Box<Place>,
        /// The value.
        value: String,
        /// What is needed.
        need: &'static str,
    },
    /// A column of an unsupported type.
    #[error("{place}: found values of type {found}, need numbers or text; convert it{}", or_leave_out(*.role))]
    ColumnType {
        /// The column.
        place: Box<Place>,
        /// Its type.
        found: String,
        /// What the column is used as.
        role: Role,
    },
    /// A number that is infinite or too large.
    #[error("{place}: found `{}`, need a finite number of at most 1e100 in magnitude; {}", shown(.value, VALUE_SHOWN), smaller(.value))]
    TooLarge {
        /// Where.
        place: Box<Place>,
        /// The value as written.
        value: String,
    },
    /// A column of numbers so small that their squares underflow.
    #[error("{place}: found no magnitude above {}, need at least 1e-100; rescale the column", number(*.largest))]
    TooSmall {
        /// The column.
        place: Box<Place>,
        /// Its largest magnitude.
        largest: f64,
    },
    /// A column in which every value is missing.
    #[error("{place}: found only missing values, need at least one value; fill them in{}", or_leave_out(*.role))]
    NoValues {
        /// The column.
        place: Box<Place>,
        /// What the column is used as.
        role: Role,
    },
    /// Missing values, and no `--drop-missing`.
    #[error("{file}: found missing values in {}; pass --drop-missing to leave out these rows ({rows} of {of})", missing_list(.columns))]
    Missing {
        /// The file.
        file: String,
        /// The columns, in the order of the file.
        columns: Vec<MissingIn>,
        /// The number of rows with at least one missing value.
        rows: usize,
        /// The number of rows.
        of: usize,
    },
    /// Not enough rows to fit a model.
    #[error(
        "{file}: found {rows} usable row{}, need at least two{}",
        if *.rows == 1 { "" } else { "s" },
        if *.dropped > 0 { format!(" ({dropped} left out for missing values)") } else { String::new() }
    )]
    TooFewRows {
        /// The file.
        file: String,
        /// The number of usable rows.
        rows: usize,
        /// The number of rows dropped for missing values.
        dropped: usize,
    },
    /// Fewer rows than parts they are to be split into.
    #[error(
        "{file}: found {rows} row{} for {parts} row shards, need at least one row in each: pass --row-shards {} or less",
        if *.rows == 1 { "" } else { "s" },
        (*.rows).max(1)
    )]
    FewerRowsThanParts {
        /// The file.
        file: String,
        /// The number of rows.
        rows: usize,
        /// The number of parts.
        parts: usize,
    },
    /// A column that holds numbers in one part of the rows and text in another.
    #[error(
        "{place}: found numbers in one part of the rows and text in another, need the same type in all parts"
    )]
    Parts {
        /// The column.
        place: Box<Place>,
    },
    /// A part of the rows whose columns differ from those of the first part in name or order.
    #[error(
        "{file}: the columns of part {part} differ from those of part 0 in name or order, need the same columns in every part, or a list in --predictors"
    )]
    OtherColumns {
        /// The file of this process.
        file: String,
        /// The part that differs.
        part: usize,
    },
    /// A predictor that does not vary.
    #[error("{place}: found {} in every row, need values that differ{reason}; leave the column out with --exclude", quoted(.value))]
    Constant {
        /// The column.
        place: Box<Place>,
        /// Its value.
        value: String,
        /// Why it must vary, as the end of a clause.
        reason: &'static str,
    },
    /// A text column with too many distinct values.
    #[error(
        "{place}: found {}{levels} distinct texts in {rows} rows, need a few that repeat; {}",
        if *.more { "more than " } else { "" },
        if *.dates { "they are dates: days(...) of the column in a formula makes numbers of them" } else { "is this an identifier? Leave it out with --exclude" }
    )]
    TooManyLevels {
        /// The column.
        place: Box<Place>,
        /// The number of distinct values.
        levels: usize,
        /// Whether that is only a lower bound.
        more: bool,
        /// The number of rows.
        rows: usize,
        /// Whether they are dates.
        dates: bool,
    },
    /// A grouping factor with a single level.
    #[error("{place}: found the level {} only, need at least two levels for group effects; leave the term out", quoted(.level))]
    OneGroup {
        /// The grouping factor.
        place: Box<Place>,
        /// Its level.
        level: String,
    },
    /// A grouping factor with too many levels.
    #[error(
        "{place}: found more than {limit} levels in {rows} rows, need at most that many for group effects; group the levels"
    )]
    TooManyGroups {
        /// The grouping factor.
        place: Box<Place>,
        /// The bound.
        limit: usize,
        /// The number of rows.
        rows: usize,
    },
    /// Two combinations of levels that are written alike.
    #[error("{place}: found two combinations of levels that are both written {}, need levels that can be told apart; replace `:` in them", quoted(.level))]
    GroupClash {
        /// The grouping factor.
        place: Box<Place>,
        /// The combination.
        level: String,
    },
    /// A slope that is 0 in every row.
    #[error("{file}: found 0 in every row for {}, which varies with {}, need another value in some row; leave it out of the bars", quoted(.slope), quoted(.grouping))]
    ZeroSlope {
        /// The file.
        file: String,
        /// The coefficient.
        slope: String,
        /// The grouping factor.
        grouping: String,
    },
    /// Group effects or smooths of data that are read block by block.
    #[error("{file}: {} needs all rows in memory; leave it out, or read the file as a whole", quoted(.term))]
    NeedsAllRows {
        /// The file.
        file: String,
        /// The first such term.
        term: String,
    },
    /// A text column of numbers with decimal commas.
    #[error("{place}: found `{}`, need a number with a decimal point and no commas ({})", shown(.value, VALUE_SHOWN), shown(.point, VALUE_SHOWN))]
    DecimalComma {
        /// The first such value.
        place: Box<Place>,
        /// As written.
        value: String,
        /// As it should be.
        point: String,
    },
    /// Two coefficients with the same name.
    #[error("{place}: found two coefficients named `{}`, need different names; rename a column", shown(.name, NAME_SHOWN))]
    NameClash {
        /// The column that produces the second one.
        place: Box<Place>,
        /// The name.
        name: String,
    },
    /// More coefficients than the limit.
    #[error(
        "{file}: found {found} coefficients, need at most {limit}; list fewer columns in --predictors"
    )]
    TooManyCoefficients {
        /// The file.
        file: String,
        /// How many.
        found: usize,
        /// The bound.
        limit: usize,
    },
    /// A design matrix over the size limit.
    #[error(
        "{file}: found {rows} rows and {columns} coefficients, need at most {limit} entries in total; list fewer columns in --predictors"
    )]
    DesignTooLarge {
        /// The file.
        file: String,
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
        /// The bound.
        limit: usize,
    },
    /// A response outside the range of the family.
    #[error("{place}: found {}, need {need} for the {family} family (values seen: {})", number(*.value), .seen.join(", "))]
    Response {
        /// The first such value.
        place: Box<Place>,
        /// The value.
        value: f64,
        /// What is needed.
        need: &'static str,
        /// The family.
        family: FamilyName,
        /// Some of the distinct values of the column, smallest first.
        seen: Vec<String>,
    },
    /// A text response that cannot be read as 0 and 1.
    #[error("{place}: found the texts {}, need {need}", listed(.levels, 5))]
    TextResponse {
        /// The column.
        place: Box<Place>,
        /// Its distinct texts.
        levels: Vec<String>,
        /// What is needed.
        need: &'static str,
    },
    /// A column that only survival families have.
    #[error(
        "{role} needs a survival family (weibull, log-logistic, log-normal or exponential), found {family}; drop {role} or change --family"
    )]
    RoleFamily {
        /// The role.
        role: Role,
        /// The family.
        family: FamilyName,
    },
    /// Levels given for a family without levels.
    #[error(
        "--levels needs the family ordinal or multinomial, found {family}; drop --levels or change --family"
    )]
    LevelsFamily {
        /// The family.
        family: FamilyName,
    },
    /// Levels of the response that are not those listed.
    #[error("{place}: found the levels {}, need those of --levels: {}", .found.join(", "), .listed.join(", "))]
    Levels {
        /// The column.
        place: Box<Place>,
        /// The levels found.
        found: Vec<String>,
        /// The levels listed.
        listed: Vec<String>,
    },
    /// Too few or too many levels of a response.
    #[error("{place}: found {found} levels, need between 2 and {most} for this family")]
    LevelCount {
        /// The column.
        place: Box<Place>,
        /// The number found.
        found: usize,
        /// The largest number that a family can have.
        most: usize,
    },
    /// Trials with a family that has none.
    #[error(
        "--trials needs the family logistic or probit, found {family}; drop --trials or change --family"
    )]
    TrialsFamily {
        /// The family.
        family: FamilyName,
    },
    /// More successes than trials.
    #[error("{place}: found {} successes, need at most the {} trials of column `{}`", number(*.successes), number(*.trials), shown(.column, NAME_SHOWN))]
    Successes {
        /// Where.
        place: Box<Place>,
        /// The response.
        successes: f64,
        /// The trials.
        trials: f64,
        /// The column of trials.
        column: String,
    },
    /// An invalid number of trials or weight.
    #[error("{place}: found {}, need {need}", number(*.value))]
    Value {
        /// Where.
        place: Box<Place>,
        /// The value.
        value: f64,
        /// What is needed.
        need: &'static str,
    },

    /// A list of names that cannot be read.
    #[error("found `{}` as a list of columns, need names separated by commas; put a name that contains a comma in double quotes", shown(.found, VALUE_SHOWN))]
    NameList {
        /// The list.
        found: String,
    },
}

/// Why a file cannot be read, in plain words for the common cases.
fn unreadable(source: &std::io::Error) -> String {
    match source.kind() {
        std::io::ErrorKind::NotFound => "file not found".into(),
        std::io::ErrorKind::PermissionDenied => {
            "permission denied, need read access (`ls -l` shows the permissions)".into()
        }
        _ => format!("cannot be read: {source}"),
    }
}

/// The remedy for a number that is too large; rescaling does not help infinity.
fn smaller(value: &str) -> &'static str {
    let finite = value.bytes().any(|byte| byte.is_ascii_digit());
    if finite {
        "rescale the column"
    } else {
        "correct it, or leave the field empty and pass --drop-missing"
    }
}

/// A second remedy, for columns that are optional.
fn or_leave_out(role: Role) -> &'static str {
    if role == Role::Predictor { ", or leave the column out with --exclude" } else { "" }
}

fn missing_list(columns: &[MissingIn]) -> String {
    let mut parts: Vec<String> = columns
        .iter()
        .take(8)
        .map(|m| {
            format!("column `{}` ({}, first in {})", shown(&m.column, NAME_SHOWN), m.count, m.first)
        })
        .collect();
    if columns.len() > 8 {
        parts.push(format!("{} more columns", columns.len() - 8));
    }
    parts.join(", ")
}

fn quoted(value: &str) -> String {
    format!("`{}`", shown(value, VALUE_SHOWN))
}
