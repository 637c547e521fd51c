//! The data of a fit: a table in memory, or packed data that are read block by block because they
//! do not fit.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use ridgewalk_frame::{
    DataError, Frame, Matrix, Moments, Pack, PackedColumn, Passes, Question, Table,
};
use ridgewalk_potentials::{self as potentials, Rows, Stored, StoredWriter};

use crate::checks::SAMPLED;
use crate::error::Error;
use crate::loo::PER_ROW;
use crate::memory::{Again, Memory, MemoryPlan, Sizes, available};
use crate::model::Model;
use crate::priors::ModelPriors;
use crate::settings::Settings;
use crate::words::Words;

/// Rows of a design in a file that are looked at together.
pub(crate) const BLOCK: usize = 1024;

/// What to do about a problem that does not fit.
pub(crate) const MORE: &str = "pass a larger --memory, or leave rows out of the file";

/// The data of a fit.
#[derive(Debug)]
#[non_exhaustive]
pub enum Data<'a> {
    /// In memory.
    Table(Cow<'a, Table>),
    /// In a packed file, with the design of the fit in a temporary one.
    Packed(PackedData),
}

/// Packed data that do not fit into memory.
#[derive(Debug, Clone)]
pub struct PackedData {
    path: PathBuf,
    name: String,
    digest: String,
    columns: Vec<String>,
    rows: usize,
    /// The bytes of a row, and the rows of a block.
    row_bytes: usize,
    block: usize,
    /// What fitting them in memory would take.
    whole: MemoryPlan,
}

impl<'a> From<&'a Table> for Data<'a> {
    fn from(table: &'a Table) -> Self {
        Self::Table(Cow::Borrowed(table))
    }
}

impl Data<'static> {
    /// The data that the settings name: in memory if they fit within [`Settings::memory`], or within
    /// what is free; otherwise packed data are read block by block.
    ///
    /// # Errors
    /// A file that cannot be read or is not a table, with the place of the error.
    pub fn open(settings: &Settings) -> Result<Self, Error> {
        let Some(path) = settings.data.as_ref().filter(|path| Pack::is_at(path).unwrap_or(false))
        else {
            return Ok(Self::Table(Cow::Owned(settings.read()?)));
        };
        let mut pack = Pack::open(path)?;
        let columns: Vec<String> = pack.columns().map(|(name, _)| name.to_owned()).collect();
        let question = settings.question_of(pack.name(), &columns)?;
        let (columns_of_design, stored) = width(&mut pack, &question);
        let sizes = Sizes {
            rows: pack.rows(),
            columns: columns_of_design,
            stored,
            row_bytes: pack.columns().map(|(_, column)| bytes(column)).sum(),
            lists: lists(settings),
            chains: settings.chains,
        };
        let whole = plan(settings, sizes.in_memory(), None);
        if whole.fits() {
            return Ok(Self::Table(Cow::Owned(settings.read()?)));
        }
        let (name, digest) = (pack.name().to_owned(), pack.digest().to_owned());
        let (path, rows, row_bytes) = (path.clone(), pack.rows(), sizes.row_bytes);
        let block = pack.blocks().next().map_or(0, |rows| rows.len());
        Ok(Self::Packed(PackedData { path, name, digest, columns, rows, row_bytes, block, whole }))
    }
}

impl Data<'_> {
    /// The table, where it fits into memory.
    ///
    /// # Errors
    /// [`Error::Memory`] for packed data that do not fit. `what` says what needs them.
    pub fn into_table(self, what: &str) -> Result<Table, Error> {
        match self {
            Self::Table(table) => Ok(table.into_owned()),
            Self::Packed(packed) => {
                Err(packed.refused(what, "use a machine with more memory, or fit fewer rows"))
            }
        }
    }

    /// The file as the user named it, or the name of the table.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Table(table) => table.name(),
            Self::Packed(packed) => &packed.name,
        }
    }

    /// The digest that says whether data are the same.
    #[must_use]
    pub fn digest(&self) -> &str {
        match self {
            Self::Table(table) => table.digest(),
            Self::Packed(packed) => &packed.digest,
        }
    }
}

/// The stages from data to a model. Priors come from the settings unless given.
///
/// # Errors
/// Invalid settings, data or priors; a model that does not fit into memory, before its design is
/// made.
pub fn prepare_data(
    data: &Data<'_>, settings: &Settings, priors: Option<ModelPriors>,
) -> Result<Model, Error> {
    settings.validate()?;
    let packed = match data {
        Data::Packed(packed) => packed,
        Data::Table(table) => return in_memory(table, settings, priors),
    };
    let (frame, rows, plan) = packed.filed(settings)?;
    Model::of_file(settings, frame, rows, priors, plan)
}

/// A model of a table in memory. A bound that was asked for is kept.
fn in_memory(
    table: &Table, settings: &Settings, priors: Option<ModelPriors>,
) -> Result<Model, Error> {
    let question = settings.question(table)?;
    data_fits(table, settings)?;
    let frame = Frame::new(table, &question)?;
    let found = check_memory(table, Some(&frame), settings, &packed_instead(table.name()))?;
    Ok(Model::new(settings, frame, priors, &Rows::default())?.with_memory(found))
}

/// Whether a table is within a bound that was asked for, before a design is made, of which one column
/// is certain.
pub(crate) fn data_fits(table: &Table, settings: &Settings) -> Result<(), Error> {
    check_memory(table, None, settings, &packed_instead(table.name())).map(|_| ())
}

/// What to do about a table that does not fit.
fn packed_instead(name: &str) -> String {
    format!(
        "pass a larger --memory, or pack the data with `ridgewalk pack {name} OUT` and fit OUT, which \
         is read from the disk"
    )
}

/// What a process takes that has these rows of a table in memory, with their frame or before it is
/// made.
///
/// # Errors
/// [`Error::Memory`], with what to do, if that is above [`Settings::memory`].
pub fn check_memory(
    table: &Table, frame: Option<&Frame>, settings: &Settings, remedy: &str,
) -> Result<MemoryPlan, Error> {
    let bytes = table.columns().iter().map(|column| match (column.numbers(), column.sparse()) {
        (Some(_), _) => 8,
        (_, Some(columns)) => (12 * columns.entries().values.len()).div_ceil(table.rows().max(1)),
        _ => 4,
    });
    let (rows, columns, stored) = match frame {
        Some(frame) => (frame.rows, frame.columns, frame.design.stored() / frame.rows.max(1)),
        None => (table.rows(), 1, 1),
    };
    let (row_bytes, lists, chains) = (bytes.sum::<usize>(), lists(settings), settings.chains);
    let sizes = Sizes { rows, columns, stored, row_bytes, lists, chains };
    let found = plan(settings, sizes.in_memory(), None);
    if found.asked && !found.fits() {
        return Err(Error::Memory {
            file: table.name().to_owned(),
            what: "this model".to_owned(),
            needs: found.needs,
            bound: found.bound.unwrap_or(found.needs),
            remedy: remedy.to_owned(),
        });
    }
    Ok(found)
}

impl PackedData {
    /// The file with every row checked.
    pub(crate) fn passes(&self, settings: &Settings) -> Result<Passes, Error> {
        let question = settings.question_of(&self.name, &self.columns)?;
        let pack = Pack::open(&self.path)?;
        if pack.digest() != self.digest {
            return Err(Error::OtherData { file: self.name.clone() });
        }
        Passes::new(pack, &question).map_err(|error| match error {
            DataError::NeedsAllRows { term, .. } => self.refused(&format!("`{term}`"), MORE),
            other => other.into(),
        })
    }

    /// The design of all rows in a temporary file, the rest of their frame, and the memory of a fit.
    pub(crate) fn filed(&self, settings: &Settings) -> Result<(Frame, Filed, MemoryPlan), Error> {
        let passes = self.passes(settings)?;
        if settings.family == ridgewalk_frame::FamilyName::Multinomial {
            return Err(self.refused("a multinomial model", MORE));
        }
        let sizes = self.sizes(settings, passes.rows(), passes.columns());
        let directory = nearest(&settings.out);
        let file = Some((sizes.file(), directory.clone()));
        let plan = plan(settings, sizes.in_file(self.block), file);
        if !plan.fits() {
            return Err(self.too_large(&plan));
        }
        let question = settings.question_of(&self.name, &self.columns)?;
        let (frame, filed) = Filed::new(passes, &question, &directory)?;
        Ok((frame, filed, plan))
    }

    /// Whether a refit without some of the rows fits, beside the responses of all rows.
    pub(crate) fn check_refits(&self, settings: &Settings, columns: usize) -> Result<(), Error> {
        let sizes = self.sizes(settings, self.rows, columns);
        // The responses of all rows, and what is known of each.
        let beside = self.rows as u64 * (PER_ROW + 8 * sizes.lists as u64);
        let needs = Memory(sizes.in_file(self.block).0.saturating_add(beside));
        match self.whole.bound {
            Some(bound) if needs > bound => Err(Error::Memory {
                file: self.name.clone(),
                what: "fits without some of the rows".to_owned(),
                needs,
                bound,
                remedy: "pass a larger --memory, or leave rows out by importance sampling alone, \
                         without --exact, --folds and --groups"
                    .to_owned(),
            }),
            _ => Ok(()),
        }
    }

    fn sizes(&self, settings: &Settings, rows: usize, columns: usize) -> Sizes {
        Sizes {
            rows,
            columns,
            stored: columns,
            row_bytes: self.row_bytes,
            lists: lists(settings),
            chains: settings.chains,
        }
    }

    /// Whether the rows can be read again block by block: so many of them, of which so many are in the
    /// longest block, with so many coefficients. There are so many draws, and some bytes are kept for
    /// each row.
    pub(crate) fn check(
        &self, what: &str, [rows, longest, columns]: [usize; 3], draws: u64, row: u64,
    ) -> Result<(), Error> {
        let needs = Again { rows, longest, columns, row_bytes: self.row_bytes, draws, row }.needs();
        match self.whole.bound {
            Some(bound) if needs > bound => Err(Error::Memory {
                file: self.name.clone(),
                what: format!("{what}, with the data read block by block"),
                needs,
                bound,
                remedy: "pass a larger --memory".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// The error for something that needs all rows in memory.
    #[must_use]
    pub fn refused(&self, what: &str, remedy: &str) -> Error {
        Error::Memory {
            file: self.name.clone(),
            what: format!("{what}, with all rows in memory"),
            needs: self.whole.needs,
            bound: self.bound(),
            remedy: remedy.to_owned(),
        }
    }

    fn too_large(&self, plan: &MemoryPlan) -> Error {
        Error::Memory {
            file: self.name.clone(),
            what: "the responses and linear predictors of all rows, with the design on the disk"
                .to_owned(),
            needs: plan.needs,
            bound: self.bound(),
            remedy: MORE.to_owned(),
        }
    }

    fn bound(&self) -> Memory {
        self.whole.bound.unwrap_or(self.whole.needs)
    }
}

fn plan(settings: &Settings, needs: Memory, file: Option<(Memory, PathBuf)>) -> MemoryPlan {
    let asked = settings.memory.is_some();
    MemoryPlan { needs, bound: settings.memory.or_else(available), asked, file }
}

/// The lists of all rows that a model has beside the response.
fn lists(settings: &Settings) -> usize {
    let Settings { trials, offset, weights, event, upper, formula, .. } = settings;
    let named = [trials, offset, weights, event, upper];
    let calls = ["offset(", "trials(", "cbind(", "Surv("];
    let called = |formula: &String| calls.iter().filter(|call| formula.contains(**call)).count();
    named.into_iter().flatten().count() + formula.as_ref().map_or(0, called)
}

/// The bytes of a value.
fn bytes(column: PackedColumn) -> usize {
    match column {
        PackedColumn::Numbers => 8,
        PackedColumn::Text(_) => 4,
        _ => 0,
    }
}

/// The number of coefficients and the stored entries of a row, as the first rows show them; the number
/// of columns if they do not.
fn width(pack: &mut Pack, question: &Question) -> (usize, usize) {
    let all = pack.columns().count();
    let Some(first) = pack.blocks().next() else { return (all, all) };
    let table = pack.read(first.start..first.end.min(first.start + 4096), None);
    let frame = table.and_then(|table| Frame::new(&table, question));
    frame.map_or((all, all), |frame| (frame.columns, frame.design.stored() / frame.rows.max(1)))
}

/// The nearest directory above a path that exists.
pub(crate) fn nearest(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let found = path.ancestors().skip(1).find(|path| path.is_dir());
    found.map_or_else(|| PathBuf::from("."), Path::to_owned)
}

/// Rows of a design in a file, and some of them in memory, for checks.
#[derive(Debug)]
pub(crate) struct Filed {
    pub(crate) design: Stored,
    pub(crate) sample: Frame,
    pub(crate) moments: Vec<Moments>,
}

impl Filed {
    /// Writes the design of all rows; the frame has everything else.
    fn new(
        mut passes: Passes, question: &Question, directory: &Path,
    ) -> Result<(Frame, Self), Error> {
        let (rows, columns) = (passes.rows(), passes.columns());
        let every = rows.div_ceil(SAMPLED).max(1);
        let mut writer = StoredWriter::new(directory, rows, columns).map_err(failed)?;
        let mut found: Option<(Frame, Frame)> = None;
        passes.frames(&mut |mut part: Frame| -> Result<(), Error> {
            let design = std::mem::take(&mut part.design);
            writer.push(&design.dense()).map_err(|error| Words::new(&part).potential(error))?;
            let before = found.as_ref().map_or(0, |(all, _)| all.rows);
            let some: Vec<usize> =
                (0..part.rows).filter(|row| (before + row).is_multiple_of(every)).collect();
            part.design = design;
            let some = part.select(&some);
            part.design = Matrix::default();
            part.lines = Vec::new();
            match &mut found {
                None => {
                    part.response.reserve_exact(rows.saturating_sub(part.rows));
                    found = Some((part, some));
                }
                Some((all, sample)) => {
                    append(all, part);
                    append(sample, some);
                }
            }
            Ok(())
        })?;
        let Some((mut frame, sample)) = found else {
            let file = String::new();
            return Err(DataError::TooFewRows { file, rows: 0, dropped: 0 }.into());
        };
        let design = writer.finish().map_err(failed)?;
        let mut filed = Self { moments: moments(&design)?, design, sample };
        if question.standardize {
            let scaling = frame.standardize_by(&filed.moments)?;
            filed.rescale(&scaling)?;
            filed.moments = moments(&filed.design)?;
        }
        Ok((frame, filed))
    }

    /// The same of some rows alone, which rise, in a file of its own.
    pub(crate) fn select(&self, rows: &[usize], directory: &Path) -> Result<Self, Error> {
        let columns = self.design.columns();
        let mut writer = StoredWriter::new(directory, rows.len(), columns).map_err(failed)?;
        let (mut left, mut written) = (rows.iter().peekable(), Ok(()));
        self.design
            .each(BLOCK, |first, block| {
                for (row, entries) in (first..).zip(block.chunks_exact(columns.max(1))) {
                    if left.next_if(|next| **next == row).is_some() && written.is_ok() {
                        written = writer.push(entries);
                    }
                }
            })
            .map_err(failed)?;
        written.map_err(failed)?;
        let design = writer.finish().map_err(failed)?;
        Ok(Self { moments: moments(&design)?, design, sample: self.sample.clone() })
    }

    /// Subtracts its first number from each column and divides by the second.
    pub(crate) fn rescale(&mut self, scaling: &[(f64, f64)]) -> Result<(), Error> {
        let scaled = |rows: &[f64], out: &mut [f64]| {
            let entries = out.iter_mut().zip(rows.iter().zip(scaling.iter().cycle()));
            entries.for_each(|(out, (x, (centre, divisor)))| *out = (x - centre) / divisor);
        };
        self.design = self.design.mapped(BLOCK, scaled).map_err(failed)?;
        self.sample.design.map(|column, x| {
            let (centre, divisor) = scaling[column];
            (x - centre) / divisor
        });
        self.sample.scaling = Some(scaling.to_vec());
        Ok(())
    }
}

/// The moments of all columns.
fn moments(design: &Stored) -> Result<Vec<Moments>, Error> {
    Moments::of_columns(design.rows(), design.columns(), &mut |with| {
        design.each(BLOCK, |_, rows| with(rows)).map_err(failed)
    })
}

/// The error of a design that cannot be written or read.
pub(crate) fn failed(error: potentials::Error) -> Error {
    Error::Model { message: error.to_string(), source: Box::new(error), input: false }
}

/// Adds the rows of a part to those before it.
pub(crate) fn append(all: &mut Frame, part: Frame) {
    fn more(all: &mut Option<Vec<f64>>, part: Option<Vec<f64>>) {
        if let (Some(all), Some(part)) = (all, part) {
            all.extend(part);
        }
    }
    all.rows += part.rows;
    all.design.append(part.design);
    all.response.extend(part.response);
    more(&mut all.trials, part.trials);
    more(&mut all.upper, part.upper);
    more(&mut all.offset, part.offset);
    more(&mut all.weights, part.weights);
    all.lines.extend(part.lines);
}
