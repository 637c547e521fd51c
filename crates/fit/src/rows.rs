//! The rows of a fit, read again for what comes after it: at once where they fit into memory, block by
//! block from a packed file where they do not.

use std::borrow::Cow;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use ridgewalk_frame::{Column, Frame, Passes, Table};

use crate::config::Config;
use crate::data::{Data, MORE, PackedData, append, data_fits};
use crate::draws::DrawReader;
use crate::error::Error;
use crate::loo::{Gathered, Observed, Responses};
use crate::settings::Settings;

/// The rows of a fit, in the order of its data. They may be used from several threads, but those of a
/// file are read one block at a time.
#[derive(Debug)]
pub struct FitRows<'a> {
    name: String,
    /// The first row of each block, and the number of all rows.
    starts: Vec<usize>,
    from: Source<'a>,
}

#[derive(Debug)]
enum Source<'a> {
    Memory(Arc<Part<'a>>),
    Disk { packed: PackedData, columns: usize, blocks: Mutex<Blocks> },
}

/// A packed file, and the last block that was read.
#[derive(Debug)]
struct Blocks {
    passes: Passes,
    /// With standardized coefficients: centre and divisor of each column.
    scaling: Vec<(f64, f64)>,
    last: Option<Arc<Part<'static>>>,
}

/// The rows of a block.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    block: usize,
    /// The number of its first row.
    pub(crate) first: usize,
    /// The columns in use, of all rows.
    table: Cow<'a, Table>,
    pub(crate) observed: Observed,
}

impl Part<'_> {
    /// Some columns of the rows in use.
    pub(crate) fn columns(&self, names: &[String]) -> Table {
        self.table.select(&self.observed.rows_of(&self.table), names)
    }
}

impl FitRows<'static> {
    /// The data that a configuration names: in memory if they fit within [`Settings::memory`], or
    /// within what is free; otherwise packed data are read block by block.
    ///
    /// # Errors
    /// Data that were a table in memory, cannot be read, or are not what they were;
    /// [`Error::Memory`] for those that need more memory than there is.
    pub fn open(config: &Config) -> Result<Self, Error> {
        let file = &config.data.file;
        let data = if config.options.data.is_some() {
            // Where it was found then, wherever the program runs now.
            let data = Some(PathBuf::from(file));
            Data::open(&Settings { data, ..config.options.clone() })?
        } else if file == crate::DataConfig::BUILT_IN {
            Data::Table(Cow::Owned(Table::built_in()?))
        } else {
            return Err(Error::NotAFile { name: file.clone() });
        };
        Self::new(config, data)
    }
}

impl<'a> FitRows<'a> {
    /// The rows of data that were opened.
    ///
    /// # Errors
    /// [`Error::OtherData`] for data that were not fitted; as [`FitRows::open`].
    pub fn new(config: &Config, data: Data<'a>) -> Result<Self, Error> {
        if data.digest() != config.data.sha256 {
            return Err(Error::OtherData { file: data.name().to_owned() });
        }
        let (name, settings) = (data.name().to_owned(), &config.options);
        match data {
            Data::Table(table) => {
                data_fits(&table, settings)?;
                let observed = Observed::new(config, &table)?;
                let starts = vec![0, observed.rows()];
                let part = Part { block: 0, first: 0, table, observed };
                Ok(Self { name, starts, from: Source::Memory(Arc::new(part)) })
            }
            Data::Packed(packed) => {
                let passes = packed.passes(settings)?;
                let mut starts = vec![0];
                for kept in passes.kept() {
                    starts.push(starts.last().copied().unwrap_or(0) + kept);
                }
                let (columns, scaling) = (passes.columns(), config.scaling());
                let blocks = Mutex::new(Blocks { passes, scaling, last: None });
                Ok(Self { name, starts, from: Source::Disk { packed, columns, blocks } })
            }
        }
    }

    /// The file as the user named it, or the name of the table.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Whether they are read from the disk.
    #[must_use]
    pub fn streamed(&self) -> bool {
        matches!(self.from, Source::Disk { .. })
    }

    /// The packed file, if they are read from the disk.
    pub(crate) fn packed(&self) -> Option<&PackedData> {
        match &self.from {
            Source::Disk { packed, .. } => Some(packed),
            Source::Memory(_) => None,
        }
    }

    /// The data as they were opened.
    #[must_use]
    pub fn data(&self) -> Data<'_> {
        match &self.from {
            Source::Memory(part) => Data::Table(Cow::Borrowed(&part.table)),
            Source::Disk { packed, .. } => Data::Packed(packed.clone()),
        }
    }

    /// The columns of the design.
    pub(crate) fn columns(&self) -> usize {
        match &self.from {
            Source::Disk { columns, .. } => *columns,
            Source::Memory(part) => part.observed.frame().columns,
        }
    }

    /// The frame of all rows as they are fitted; an error for those on the disk.
    pub(crate) fn framed(&self, settings: &Settings) -> Result<Frame, Error> {
        match &self.from {
            Source::Memory(part) => Ok(Frame::new(&part.table, &settings.question(&part.table)?)?),
            Source::Disk { packed, .. } => Err(packed.refused("the whole design", MORE)),
        }
    }

    /// Whether there is memory for a block of them, all draws, and some bytes for each row; data in
    /// memory have been looked at before. `what` says what needs it.
    ///
    /// # Errors
    /// [`Error::Memory`], before anything is computed.
    pub fn check(&self, what: &str, draws: &dyn DrawReader, row: u64) -> Result<(), Error> {
        let Source::Disk { packed, columns, .. } = &self.from else { return Ok(()) };
        let draws = (draws.chains() * draws.draws()) as u64;
        let longest = self.starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        packed.check(what, [self.rows(), longest, *columns], draws, row)
    }

    /// The block with a row.
    pub(crate) fn part_of(&self, row: usize) -> Result<Arc<Part<'a>>, Error> {
        // The last that begins there: those before it have no rows.
        let block = self.starts.partition_point(|start| *start <= row).saturating_sub(1);
        self.part(block.min(self.starts.len().saturating_sub(2)))
    }

    fn part(&self, block: usize) -> Result<Arc<Part<'a>>, Error> {
        let blocks = match &self.from {
            Source::Memory(part) => return Ok(Arc::clone(part)),
            Source::Disk { blocks, .. } => blocks,
        };
        let mut blocks = blocks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = blocks.last.as_ref().filter(|last| last.block == block) {
            return Ok(Arc::clone(last));
        }
        // Not two blocks at a time.
        blocks.last = None;
        let Blocks { passes, scaling, last } = &mut *blocks;
        let (table, mut frame) = passes.frame(block)?;
        if !scaling.is_empty() {
            frame.design.map(|column, x| (x - scaling[column].0) / scaling[column].1);
        }
        let first = self.starts[block];
        let (table, observed) = (Cow::Owned(table), Observed::of_part(frame, first));
        let part = Arc::new(Part { block, first, table, observed });
        *last = Some(Arc::clone(&part));
        Ok(part)
    }

    /// Calls `take` with one block after another.
    pub(crate) fn each(
        &self, take: &mut dyn FnMut(&Part<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let blocks = self.starts.windows(2).enumerate().filter(|(_, pair)| pair[0] < pair[1]);
        for (block, _) in blocks {
            take(&*self.part(block)?)?;
        }
        Ok(())
    }

    /// Calls `of` with some rows, and with their numbers among those that it is given.
    ///
    /// # Errors
    /// Rows that cannot be read.
    pub fn with<T>(
        &self, rows: Range<usize>, of: impl FnOnce(&Observed, Range<usize>) -> T,
    ) -> Result<T, Error> {
        let part = self.part_of(rows.start)?;
        let (first, end) = (part.first, part.first + part.observed.rows());
        if rows.end <= end {
            return Ok(of(&part.observed, rows.start - first..rows.end - first));
        }
        let mut frame = part.observed.frame().select(&numbers(rows.start - first..end - first));
        drop(part);
        let (start, mut at) = (rows.start, end);
        while at < rows.end {
            let part = self.part_of(at)?;
            let (first, end) = (part.first, part.first + part.observed.rows());
            let until = end.min(rows.end);
            append(&mut frame, part.observed.frame().select(&numbers(at - first..until - first)));
            at = until;
        }
        Ok(of(&Observed::of_part(frame, start), 0..rows.end - start))
    }

    /// Where a row is in the file.
    ///
    /// # Errors
    /// A row that cannot be read.
    pub fn place(&self, row: usize) -> Result<Option<ridgewalk_frame::Row>, Error> {
        self.with(row..row + 1, |observed, rows| observed.place(rows.start))
    }

    /// What tells responses and weights of one fit from those of another.
    ///
    /// # Errors
    /// Rows that cannot be read.
    pub fn responses(&self) -> Result<Responses, Error> {
        let mut responses = Gathered::default();
        self.each(&mut |part| {
            responses.add(&part.observed);
            Ok(())
        })?;
        Ok(responses.finish())
    }

    /// Passes a column of the data, which need not be one of the model, to `take`: its rows in use,
    /// block by block. Returns whether there is one.
    pub(crate) fn column(
        &self, name: &str, take: &mut dyn FnMut(&Column) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        let names = [name.to_owned()];
        let mut found = false;
        self.each(&mut |part| {
            let other = match &self.from {
                Source::Disk { blocks, .. } if part.table.column(name).is_none() => {
                    let mut blocks = blocks.lock().unwrap_or_else(PoisonError::into_inner);
                    let table = blocks.passes.columns_of(part.block, &names)?;
                    let column = table.column(name).is_some();
                    column.then(|| table.select(&part.observed.rows_of(&table), &names))
                }
                _ => Some(part.columns(&names)),
            };
            let Some(column) = other.as_ref().and_then(|table| table.column(name)) else {
                return Ok(());
            };
            found = true;
            take(column)
        })?;
        Ok(found)
    }
}

fn numbers(rows: Range<usize>) -> Vec<usize> {
    rows.collect()
}
