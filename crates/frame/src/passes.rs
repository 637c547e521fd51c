//! Frames of packed data that are made block by block, in two passes over the file: the facts of all
//! rows first, then one frame after another. No more than a block of the columns in use is in
//! memory, beside what functions such as `poly` learn from.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::draft::Draft;
use crate::error::{DataError, MissingIn};
use crate::facts::Facts;
use crate::frame::Frame;
use crate::pack::Pack;
use crate::question::Question;
use crate::table::Table;

/// A question about packed data, with every row checked.
#[derive(Debug)]
pub struct Passes {
    pack: Pack,
    /// The question, about the columns in use alone.
    question: Question,
    columns: Vec<String>,
    facts: Facts,
    /// The rows of each block, and how many of them are in use.
    blocks: Blocks,
    /// The number of coefficients.
    width: usize,
}

impl Passes {
    /// Checks every row and gathers facts, in one pass.
    ///
    /// # Errors
    /// As [`Frame::new`]; [`DataError::Formula`] and the like before a row beyond the first block is
    /// read. Groups and smooths, which need all rows at once, are errors too.
    pub fn new(mut pack: Pack, question: &Question) -> Result<Self, DataError> {
        let first = pack.blocks().next().unwrap_or_default();
        let start = pack.read(first, None)?;
        // Missing values are counted below, in all rows.
        let asked = Question { drop_missing: true, ..question.clone() };
        let draft = Draft::of_block(&start, &asked)?;
        if let Some(term) = draft.whole_term() {
            return Err(DataError::NeedsAllRows { file: pack.name().to_owned(), term });
        }
        let columns: Vec<String> = columns(&draft, question).into_iter().collect();
        drop(draft);
        // Columns that are left out are not read, and a name that is not there is an error.
        let question = Question { exclude: Vec::new(), ..question.clone() };
        let (facts, blocks) = gather(&mut pack, &question, &columns)?;
        // With the facts of all rows, the first block shows what the design has.
        let start = start.select(&(0..start.rows()).collect::<Vec<_>>(), &columns);
        let first = Draft::of_block(&start, &question)?.finish(&facts)?;
        if first.design.is_sparse() {
            // In memory only its entries that are not 0 are stored, and draws would be others.
            let term = widest(&first.terms);
            return Err(DataError::NeedsAllRows { file: pack.name().to_owned(), term });
        }
        Ok(Self { pack, question, columns, facts, blocks, width: first.columns })
    }

    /// The number of rows in use.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.facts.counts.kept
    }

    /// The number of coefficients.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.width
    }

    /// Calls `take` with the frame of one block of rows after another, neither centred nor
    /// standardized. Notes are those of the first.
    ///
    /// # Errors
    /// Values that cannot be coded, with their place, and whatever `take` returns.
    pub fn frames<E: From<DataError>>(
        &mut self, take: &mut dyn FnMut(Frame) -> Result<(), E>,
    ) -> Result<(), E> {
        (0..self.blocks.len()).try_for_each(|block| take(self.frame(block)?.1))
    }

    /// The number of rows in use of each block.
    #[must_use]
    pub fn kept(&self) -> Vec<usize> {
        self.blocks.iter().map(|(_, kept)| *kept).collect()
    }

    /// The columns in use of a block, and its frame, neither centred nor standardized. Both are those
    /// of the last block for a number beyond it.
    ///
    /// # Errors
    /// Values that cannot be read or coded, with their place.
    pub fn frame(&mut self, block: usize) -> Result<(Table, Frame), DataError> {
        let table = self.pack.read(self.rows_of(block), Some(&self.columns))?;
        let frame = Draft::of_block(&table, &self.question)?.finish(&self.facts)?;
        Ok((table, frame))
    }

    /// Other columns of all rows of a block; those that do not exist are left out.
    ///
    /// # Errors
    /// Values that cannot be read.
    pub fn columns_of(&mut self, block: usize, columns: &[String]) -> Result<Table, DataError> {
        self.pack.read(self.rows_of(block), Some(columns))
    }

    fn rows_of(&self, block: usize) -> Range<usize> {
        let found = self.blocks.get(block).or(self.blocks.last());
        found.map_or(0..0, |(rows, _)| rows.clone())
    }
}

/// The term with most columns, which follow each other.
fn widest(terms: &[String]) -> String {
    let runs = terms.chunk_by(|a, b| a == b);
    runs.max_by_key(|run| run.len()).map_or(String::new(), |run| run[0].clone())
}

/// The columns that a question is about.
fn columns(draft: &Draft<'_>, question: &Question) -> BTreeSet<String> {
    let used = draft.roles.columns(&draft.source);
    let used = used.into_iter().map(|used| used.column.name().to_owned());
    let condition = question.condition.iter().flat_map(|c| c.node().columns());
    let condition = condition.map(str::to_owned);
    let named = question.factors.iter().chain(question.bases.iter().map(|(name, _)| name));
    used.chain(condition).chain(named.cloned()).collect()
}

/// Rows of blocks, and how many of them are in use.
type Blocks = Vec<(Range<usize>, usize)>;

/// The facts of all rows.
fn gather(
    pack: &mut Pack, question: &Question, columns: &[String],
) -> Result<(Facts, Blocks), DataError> {
    let file = pack.name().to_owned();
    let mut found = Blocks::new();
    let mut all: Option<Facts> = None;
    let mut missing: Vec<MissingIn> = Vec::new();
    let (mut lacking, mut selected) = (0, 0);
    let blocks: Vec<_> = pack.blocks().collect();
    for rows in blocks {
        let table = pack.read(rows.clone(), Some(columns))?;
        let facts = match Draft::of_block(&table, question) {
            Ok(draft) => draft.facts()?,
            // The message counts all of them.
            Err(DataError::Missing { columns, rows, of, .. }) => {
                (lacking, selected) = (lacking + rows, selected + of);
                for found in columns {
                    match missing.iter_mut().find(|known| known.column == found.column) {
                        Some(known) => known.count += found.count,
                        None => missing.push(found),
                    }
                }
                continue;
            }
            Err(other) => return Err(other),
        };
        selected += facts.counts.kept + facts.counts.missing;
        found.push((rows, facts.counts.kept));
        all = Some(match all {
            Some(before) => Facts::merge(&file, vec![before, facts])?,
            None => facts,
        });
    }
    if lacking > 0 {
        return Err(DataError::Missing { file, columns: missing, rows: lacking, of: selected });
    }
    match all {
        Some(facts) if facts.counts.kept > 0 => Ok((facts, found)),
        facts => {
            let counts = facts.map(|facts| facts.counts).unwrap_or_default();
            match &question.condition {
                Some(condition) if counts.missing == 0 && counts.weightless == 0 => {
                    let (condition, of) = (condition.to_string(), counts.unselected);
                    Err(DataError::NothingSelected { file, condition, of })
                }
                _ => Err(DataError::TooFewRows { file, rows: 0, dropped: counts.missing }),
            }
        }
    }
}
