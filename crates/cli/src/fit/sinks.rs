//! Where the draws of a fit go: the Zarr store, a CSV file if asked for, and memory for the progress line; on the scale that is reported.

use std::cell::RefCell;
use std::rc::Rc;

use ridgewalk::sampler::{Memory, Sink, SinkError};

use crate::data::Frame;
use crate::failure::Failure;
use crate::run::{CsvDraws, Error, ZarrDraws};

/// The most numbers that are kept for the progress line; beyond, it does without.
const RECENT: usize = 1 << 22;

/// All sinks of a fit.
#[derive(Debug)]
pub(super) struct Keeper {
    zarr: ZarrDraws,
    csv: Option<CsvDraws>,
    rescaling: Option<Rescaling>,
    point: Vec<f64>,
    recent: Rc<RefCell<Memory>>,
    room: usize,
}

impl Keeper {
    pub(super) fn new(zarr: ZarrDraws, csv: Option<CsvDraws>, rescaling: Option<Rescaling>) -> Self {
        let recent = Rc::new(RefCell::new(Memory::default()));
        Self { zarr, csv, rescaling, point: Vec::new(), recent, room: RECENT }
    }

    /// The draws so far, as long as they are few.
    pub(super) fn recent(&self) -> Rc<RefCell<Memory>> {
        Rc::clone(&self.recent)
    }

    /// Ends all sinks. How many draws all chains have.
    pub(super) fn finish(self, complete: bool) -> Result<u64, Error> {
        if let Some(csv) = self.csv {
            csv.finish()?;
        }
        self.zarr.finish(complete)
    }
}

impl Sink for Keeper {
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
        self.recent.borrow_mut().begin(chains, dimension)?;
        self.zarr.begin(chains, dimension)?;
        self.csv.as_mut().map_or(Ok(()), |csv| csv.begin(chains, dimension))
    }

    fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
        self.point.clear();
        self.point.extend_from_slice(point);
        if let Some(rescaling) = &self.rescaling {
            rescaling.apply(&mut self.point);
        }
        self.zarr.keep(chain, draw, &self.point)?;
        if let Some(csv) = &mut self.csv {
            csv.keep(chain, draw, &self.point)?;
        }
        if let Some(room) = self.room.checked_sub(point.len()) {
            self.room = room;
            self.recent.borrow_mut().keep(chain, draw, &self.point)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.zarr.flush()?;
        self.csv.as_mut().map_or(Ok(()), CsvDraws::flush)
    }
}

/// From coefficients of standardized predictors to those of the data: β_k/s_k, and the intercept less Σ β_k c_k/s_k.
#[derive(Debug, Clone)]
pub(super) struct Rescaling {
    scaling: Vec<(f64, f64)>,
}

impl Rescaling {
    /// For a frame that was standardized and has an intercept.
    pub(super) fn new(frame: &Frame) -> Result<Self, Failure> {
        let scaling = frame.scaling.clone();
        let scaling = scaling.ok_or_else(|| Failure::Usage("--original-scale needs --standardize".into()))?;
        Ok(Self { scaling })
    }

    /// Puts a point on the scale of the data.
    pub(super) fn apply(&self, point: &mut [f64]) {
        let mut shift = 0.0;
        for (beta, (centre, divisor)) in point.iter_mut().zip(&self.scaling).skip(1) {
            *beta /= divisor;
            shift += *beta * centre;
        }
        if let Some(intercept) = point.first_mut() {
            *intercept -= shift;
        }
    }

    /// The way back: a point on the scale of the data as coefficients of standardized predictors.
    pub(super) fn undo(&self, point: &mut [f64]) {
        let mut shift = 0.0;
        for (beta, (centre, divisor)) in point.iter_mut().zip(&self.scaling).skip(1) {
            shift += *beta * centre;
            *beta *= divisor;
        }
        if let Some(intercept) = point.first_mut() {
            *intercept += shift;
        }
    }
}
