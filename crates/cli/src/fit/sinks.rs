//! Where the draws of a fit go: the Zarr store, a CSV file if asked for, and memory for the
//! progress line; on the scale that is reported. Beside them the checkpoint, which is written when
//! the draws it counts are on the disk.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use ridgewalk::sampler::{Draws as Kept, SavedRun, Sink, SinkError};

use crate::data::Frame;
use crate::failure::Failure;
use crate::run::{Checkpoint, CsvDraws, Error, ZarrDraws};

/// The most numbers that are kept for the progress line; beyond, it does without.
const RECENT: usize = 1 << 22;

/// All sinks of a fit.
#[derive(Debug)]
pub(super) struct Keeper {
    zarr: ZarrDraws,
    csv: Option<CsvDraws>,
    rescaling: Option<Rescaling>,
    point: Vec<f64>,
    recent: Rc<RefCell<Kept>>,
    room: usize,
    safe: Safe,
}

/// What makes the draws so far a run that can go on.
#[derive(Debug)]
pub(super) struct Safe {
    /// Where the checkpoint is.
    pub(super) path: PathBuf,
    /// The last one, with the warm-up.
    pub(super) checkpoint: Checkpoint,
    /// When this process began, and seconds of those before it.
    pub(super) began: Instant,
    pub(super) earlier: f64,
}

impl Keeper {
    /// `watched`: whether anybody looks at the progress line.
    pub(super) fn new(
        zarr: ZarrDraws,
        csv: Option<CsvDraws>,
        rescaling: Option<Rescaling>,
        watched: bool,
        safe: Safe,
    ) -> Self {
        let recent = Rc::new(RefCell::new(Kept::default()));
        Self {
            zarr,
            csv,
            rescaling,
            point: Vec::new(),
            recent,
            room: if watched { RECENT } else { 0 },
            safe,
        }
    }

    /// Draws of each chain that the run would go on from.
    pub(super) fn safe_draws(&self) -> u64 {
        self.safe.checkpoint.head.draws.iter().copied().min().unwrap_or(0)
    }

    /// Ends the sinks of a run that failed, as far as they can be: a disk may be full. How many
    /// draws all chains have in the store.
    pub(super) fn salvage(self) -> u64 {
        let safe = self.safe_draws();
        if let Some(csv) = self.csv {
            let _ = csv.finish();
        }
        self.zarr.finish(false).unwrap_or(safe)
    }

    /// The draws so far, as long as they are few.
    pub(super) fn recent(&self) -> Rc<RefCell<Kept>> {
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
        let point = match &self.rescaling {
            Some(rescaling) => {
                self.point.clear();
                self.point.extend_from_slice(point);
                rescaling.apply(&mut self.point);
                &self.point
            }
            None => point,
        };
        self.zarr.keep(chain, draw, point)?;
        if let Some(csv) = &mut self.csv {
            csv.keep(chain, draw, point)?;
        }
        if let Some(room) = self.room.checked_sub(point.len()) {
            self.room = room;
            self.recent.borrow_mut().keep(chain, draw, point)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.zarr.flush()?;
        self.csv.as_mut().map_or(Ok(()), CsvDraws::flush)
    }

    fn checkpoint(&mut self, state: SavedRun) -> Result<(), SinkError> {
        let Safe { path, checkpoint, began, earlier } = &mut self.safe;
        let draws = state.draws();
        if self.zarr.made() != draws {
            return Err(format!(
                "the store has {:?} draws of the chains, and they made {draws:?}",
                self.zarr.made()
            )
            .into());
        }
        // A store that has just been made or opened is on the disk.
        if checkpoint.head.draws != draws && draws.iter().any(|draws| *draws > 0) {
            self.zarr.save()?;
        }
        let head = &mut checkpoint.head;
        head.csv_bytes = self.csv.as_mut().map(CsvDraws::save).transpose()?;
        head.seconds = *earlier + began.elapsed().as_secs_f64();
        head.draws = draws;
        checkpoint.run = state.to_bytes();
        checkpoint.write(path)?;
        Ok(())
    }
}

/// Where the draws go in a process that does not write.
#[derive(Debug)]
pub(super) struct Nowhere;

impl Sink for Nowhere {
    fn begin(&mut self, _: usize, _: usize) -> Result<(), SinkError> {
        Ok(())
    }

    fn keep(&mut self, _: usize, _: u64, _: &[f64]) -> Result<(), SinkError> {
        Ok(())
    }
}

/// From coefficients of standardized predictors to those of the data: β_k/s_k, and the intercept
/// less Σ β_k c_k/s_k.
#[derive(Debug, Clone)]
pub(super) struct Rescaling {
    scaling: Vec<(f64, f64)>,
}

impl Rescaling {
    /// For a frame that was standardized and has an intercept.
    pub(super) fn new(frame: &Frame) -> Result<Self, Failure> {
        let scaling = frame.scaling.clone();
        let scaling =
            scaling.ok_or_else(|| Failure::Usage("--original-scale needs --standardize".into()))?;
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
