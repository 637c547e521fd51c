//! The data of a fit, in the units of its reported coefficients.

use ridgewalk_frame::{Frame, Row, Table};
use ridgewalk_potentials::families::Observation;
use sha2::{Digest, Sha256};

use crate::config::Config;
use crate::error::Error;
use crate::model::observations;
use crate::predict::{DesignRows, Posterior, Room};

/// The rows of a fit.
#[derive(Debug, Clone)]
pub struct Observed {
    frame: Frame,
    observations: Vec<Observation>,
    /// The number of the first row, if these are a part of more.
    first: usize,
}

/// What tells responses and weights of one fit from those of another: a checksum of all rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Responses {
    rows: usize,
    digest: Vec<u8>,
}

/// Responses that are added block by block.
#[derive(Default)]
pub(crate) struct Gathered {
    rows: usize,
    digest: Sha256,
}

impl Gathered {
    pub(crate) fn add(&mut self, observed: &Observed) {
        self.rows += observed.rows();
        let mut number = |x: f64| self.digest.update((x + 0.0).to_le_bytes());
        for (row, y) in observed.observations.iter().enumerate() {
            number(y.response);
            number(y.trials);
            // As many numbers for each row, with weights or without.
            number(observed.frame.weights.as_ref().map_or(f64::NAN, |weights| weights[row]));
        }
    }

    pub(crate) fn finish(self) -> Responses {
        Responses { rows: self.rows, digest: self.digest.finalize().to_vec() }
    }
}

impl Responses {
    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }
}

impl Observed {
    /// Frames the data of a fit again.
    ///
    /// # Errors
    /// [`Error::OtherData`] if the table is not the one that was fitted.
    pub fn new(config: &Config, table: &Table) -> Result<Self, Error> {
        if table.digest() != config.data.sha256 {
            return Err(Error::OtherData { file: table.name().to_owned() });
        }
        let settings = &config.options;
        let mut question = settings.question(table)?;
        question.standardize = settings.standardize && !settings.original_scale;
        Ok(Self::of_frame(Frame::new(table, &question)?))
    }

    pub(crate) fn of_frame(frame: Frame) -> Self {
        Self::of_part(frame, 0)
    }

    /// Some rows of more, from number `first` on.
    pub(crate) fn of_part(frame: Frame, first: usize) -> Self {
        let observations = observations(&frame);
        Self { frame, observations, first }
    }

    /// The number of the first row, if these are a part of more.
    #[must_use]
    pub fn first(&self) -> usize {
        self.first
    }

    /// What tells responses and weights from those of another fit.
    #[must_use]
    pub fn digest(&self) -> Responses {
        let mut gathered = Gathered::default();
        gathered.add(self);
        gathered.finish()
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.observations.len()
    }

    /// The numbers of its rows in the table that it was made of.
    #[must_use]
    pub fn rows_of(&self, table: &Table) -> Vec<usize> {
        let mut left = self.frame.lines.iter().peekable();
        // Both are in the order of the file.
        (0..table.rows())
            .filter(|&row| left.next_if(|line| **line == table.row_place(row)).is_some())
            .collect()
    }

    /// Where a row is in the file.
    #[must_use]
    pub fn place(&self, row: usize) -> Option<Row> {
        self.frame.lines.get(row).copied()
    }

    /// The responses.
    #[must_use]
    pub fn responses(&self) -> &[f64] {
        &self.frame.response
    }

    /// The rows as they were framed: design, response, trials, offsets and weights.
    #[must_use]
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    pub(crate) fn observations(&self) -> &[Observation] {
        &self.observations
    }

    /// The rows of the design.
    pub(crate) fn design(&self) -> DesignRows<'_> {
        let Frame { design, offset, groups, .. } = &self.frame;
        DesignRows { design, offset: offset.as_deref(), groups, first: self.first }
    }

    /// The log likelihood of a row in every draw, into `room.values`, from the linear predictors in
    /// `room.s`: weighted, as in the fit.
    pub(crate) fn log_densities(&self, posterior: &Posterior, row: usize, room: &mut Room) {
        posterior.log_densities(room, self.observations[row]);
        if let Some(weights) = &self.frame.weights {
            room.values.iter_mut().for_each(|value| *value *= weights[row]);
        }
    }
}
