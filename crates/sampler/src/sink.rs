//! Where draws go as they come.

use ridgewalk_potentials::Whitening;

use crate::acceptance::DrawStats;
use crate::error::caught;
use crate::saved::{SavedRun, SavedWarmUp};

/// A sink's own error.
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// Receives the draws of a run.
///
/// They come draw by draw and, within a draw, chain by chain in the order of their numbers; a chain
/// that has ended is left out. The order depends on nothing else.
pub trait Sink {
    /// A run of `chains` chains in `dimension` dimensions begins, or resumes.
    ///
    /// # Errors
    /// If it cannot take them; the run is then not begun.
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError>;

    /// One draw of one chain; draws count from 0 in each chain.
    ///
    /// # Errors
    /// If it cannot be kept; the run is then ended.
    fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError>;

    /// One draw of one chain with its statistics, which kernels that do not accept or reject do not
    /// have. This is what a run calls. By default the statistics are dropped and the draw goes to
    /// [`Sink::keep`].
    ///
    /// # Errors
    /// As [`Sink::keep`].
    fn keep_with(
        &mut self, chain: usize, draw: u64, point: &[f64], stats: Option<&DrawStats>,
    ) -> Result<(), SinkError> {
        let _ = stats;
        self.keep(chain, draw, point)
    }

    /// Called some ten times a second and at the end: what was kept so far should now be safe.
    ///
    /// # Errors
    /// If it is not; the run is then ended.
    fn flush(&mut self) -> Result<(), SinkError> {
        Ok(())
    }

    /// Called from time to time if the run was asked to
    /// ([`Sampler::checkpoints`](crate::Sampler::checkpoints)), when every draw so far was handed
    /// over: the run can go on from here. A sink that outlives the program makes the draws safe
    /// first and then the state, whole or not at all; draws that come after it are to be forgotten
    /// when the run goes on.
    ///
    /// # Errors
    /// If they are not safe; the run is then ended.
    fn checkpoint(&mut self, state: SavedRun) -> Result<(), SinkError> {
        let _ = state;
        Ok(())
    }

    /// The draws so far are not good enough: forget them all. The run begins again from its first
    /// draw, after this warm-up. A sink that outlives the program makes the warm-up safe first,
    /// together with the fact that there are no draws.
    ///
    /// False, as by default, if the sink cannot: the draws then stay as they are.
    ///
    /// # Errors
    /// If they cannot be removed; the run is then ended.
    fn restart(&mut self, warm_up: &SavedWarmUp) -> Result<bool, SinkError> {
        let _ = warm_up;
        Ok(false)
    }
}

/// A user's sink whose panics are errors like any other: the run then ends with what was kept, and
/// can go on.
pub(crate) struct Guarded<'a>(pub(crate) &'a mut dyn Sink);

impl Guarded<'_> {
    fn call<T>(
        &mut self, work: impl FnOnce(&mut dyn Sink) -> Result<T, SinkError>,
    ) -> Result<T, SinkError> {
        let sink = &mut *self.0;
        caught(|| work(sink)).unwrap_or_else(|said| Err(format!("it panicked: {said}").into()))
    }
}

impl Sink for Guarded<'_> {
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
        self.call(|sink| sink.begin(chains, dimension))
    }

    fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
        self.call(|sink| sink.keep(chain, draw, point))
    }

    fn keep_with(
        &mut self, chain: usize, draw: u64, point: &[f64], stats: Option<&DrawStats>,
    ) -> Result<(), SinkError> {
        self.call(|sink| sink.keep_with(chain, draw, point, stats))
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.call(|sink| sink.flush())
    }

    fn checkpoint(&mut self, state: SavedRun) -> Result<(), SinkError> {
        self.call(|sink| sink.checkpoint(state))
    }

    fn restart(&mut self, warm_up: &SavedWarmUp) -> Result<bool, SinkError> {
        self.call(|sink| sink.restart(warm_up))
    }
}

macro_rules! behind {
    ($($pointer:ty),+) => {$(
        impl<S: Sink + ?Sized> Sink for $pointer {
            fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
                (**self).begin(chains, dimension)
            }

            fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
                (**self).keep(chain, draw, point)
            }

            fn keep_with(
                &mut self, chain: usize, draw: u64, point: &[f64], stats: Option<&DrawStats>,
            ) -> Result<(), SinkError> {
                (**self).keep_with(chain, draw, point, stats)
            }

            fn flush(&mut self) -> Result<(), SinkError> {
                (**self).flush()
            }

            fn checkpoint(&mut self, state: SavedRun) -> Result<(), SinkError> {
                (**self).checkpoint(state)
            }

            fn restart(&mut self, warm_up: &SavedWarmUp) -> Result<bool, SinkError> {
                (**self).restart(warm_up)
            }
        }
    )+};
}

behind! { &mut S, Box<S> }

/// A sink that takes draws of a whitened potential and hands them on in the original coordinates.
///
/// In many dimensions a map is read from memory for every draw. Draws then wait until there are some
/// that can be mapped together, or until [`Sink::flush`], [`Sink::checkpoint`] or [`Sink::restart`].
#[derive(Debug)]
pub struct InOriginal<'a, S: ?Sized> {
    whitening: &'a Whitening,
    waiting: Vec<(usize, u64, Option<DrawStats>)>,
    /// Those that wait, one after the other, and room for them in the original coordinates.
    points: Vec<f64>,
    mapped: Vec<f64>,
    sink: &'a mut S,
}

/// Up to this many dimensions each draw is handed on at once.
const FEW_DIMENSIONS: usize = 1000;
/// Draws that are mapped together beyond.
const TOGETHER: usize = 64;

impl<'a, S: Sink + ?Sized> InOriginal<'a, S> {
    /// Draws z come in; centre + W z goes on to `sink`.
    pub fn new(whitening: &'a Whitening, sink: &'a mut S) -> Self {
        Self { whitening, waiting: Vec::new(), points: Vec::new(), mapped: Vec::new(), sink }
    }

    /// Hands on the draws that wait, in order.
    fn hand_on(&mut self) -> Result<(), SinkError> {
        self.mapped.resize(self.points.len(), 0.0);
        self.whitening.to_original_all(&self.points, &mut self.mapped)?;
        let draws = self.mapped.chunks_exact(self.whitening.dimension().max(1));
        let waiting = self.waiting.drain(..).zip(draws);
        let outcome = waiting.into_iter().try_for_each(|((chain, draw, stats), point)| {
            self.sink.keep_with(chain, draw, point, stats.as_ref())
        });
        self.points.clear();
        outcome
    }
}

impl<S: Sink + ?Sized> Sink for InOriginal<'_, S> {
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
        let of = self.whitening.dimension();
        if dimension != of {
            return Err(format!("a whitening of {of} dimensions: need {dimension}").into());
        }
        self.sink.begin(chains, dimension)
    }

    fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
        self.keep_with(chain, draw, point, None)
    }

    fn keep_with(
        &mut self, chain: usize, draw: u64, point: &[f64], stats: Option<&DrawStats>,
    ) -> Result<(), SinkError> {
        self.waiting.push((chain, draw, stats.copied()));
        self.points.extend_from_slice(point);
        if point.len() > FEW_DIMENSIONS && self.waiting.len() < TOGETHER {
            return Ok(());
        }
        self.hand_on()
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.hand_on()?;
        self.sink.flush()
    }

    fn checkpoint(&mut self, state: SavedRun) -> Result<(), SinkError> {
        self.hand_on()?;
        self.sink.checkpoint(state)
    }

    fn restart(&mut self, warm_up: &SavedWarmUp) -> Result<bool, SinkError> {
        self.hand_on()?;
        self.sink.restart(warm_up)
    }
}
