//! Where draws go as they come.

use ridgewalk_potentials::Whitening;

use crate::saved::SavedRun;

/// A sink's own error.
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// Takes the draws of a run.
///
/// They come draw by draw and, within a draw, chain by chain in the order of their numbers; a chain
/// that has ended is left out. The order depends on nothing else.
pub trait Sink {
    /// A run of so many chains in so many dimensions begins, or goes on after an interruption.
    ///
    /// # Errors
    /// If it cannot take them; the run is then not begun.
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError>;

    /// One draw of one chain; draws count from 0 in each chain.
    ///
    /// # Errors
    /// If it cannot be kept; the run is then ended.
    fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError>;

    /// Called every now and then, some ten times a second, and at the end: what was kept so far
    /// should now be safe.
    ///
    /// # Errors
    /// If it is not; the run is then ended.
    fn flush(&mut self) -> Result<(), SinkError> {
        Ok(())
    }

    /// Called every now and then if the run was told to
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
}

/// A sink that takes draws of a whitened potential and hands them on in the original coordinates.
#[derive(Debug)]
pub struct InOriginal<'a, S: ?Sized> {
    whitening: &'a Whitening,
    point: Vec<f64>,
    sink: &'a mut S,
}

impl<'a, S: Sink + ?Sized> InOriginal<'a, S> {
    /// Draws z come in; centre + W z goes on to `sink`.
    pub fn new(whitening: &'a Whitening, sink: &'a mut S) -> Self {
        Self { whitening, point: vec![0.0; whitening.dimension()], sink }
    }
}

impl<S: Sink + ?Sized> Sink for InOriginal<'_, S> {
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
        if dimension != self.point.len() {
            let of = self.point.len();
            return Err(format!("a whitening of {of} dimensions: need {dimension}").into());
        }
        self.sink.begin(chains, dimension)
    }

    fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
        self.whitening.to_original(point, &mut self.point)?;
        self.sink.keep(chain, draw, &self.point)
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.sink.flush()
    }

    fn checkpoint(&mut self, state: SavedRun) -> Result<(), SinkError> {
        self.sink.checkpoint(state)
    }
}

/// Draws in memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Memory {
    pub(crate) dimension: usize,
    pub(crate) chains: Vec<Vec<f64>>,
}

impl Memory {
    /// The number of chains.
    #[must_use]
    pub fn chains(&self) -> usize {
        self.chains.len()
    }

    /// The dimension d.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// A chain's draws, d numbers each, one after the other; empty if there is no such chain.
    #[must_use]
    pub fn chain(&self, chain: usize) -> &[f64] {
        self.chains.get(chain).map_or(&[], Vec::as_slice)
    }

    /// Every chain's draws, as [`Memory::chain`] has them.
    #[must_use]
    pub fn tables(&self) -> Vec<&[f64]> {
        self.chains.iter().map(Vec::as_slice).collect()
    }

    /// How many draws of a chain there are.
    #[must_use]
    pub fn draws(&self, chain: usize) -> usize {
        self.chain(chain).len() / self.dimension.max(1)
    }

    /// One draw; `None` if there is none of that number.
    #[must_use]
    pub fn point(&self, chain: usize, draw: usize) -> Option<&[f64]> {
        let first = draw.checked_mul(self.dimension)?;
        self.chain(chain).get(first..first.checked_add(self.dimension)?)
    }

    /// One coordinate of a chain, draw by draw; empty if there is no such chain or coordinate.
    #[must_use]
    pub fn trace(&self, chain: usize, coordinate: usize) -> Vec<f64> {
        self.chain(chain).iter().skip(coordinate).step_by(self.dimension.max(1)).copied().collect()
    }

    /// The mean of a coordinate over all draws of all chains; not a number if there are none.
    #[must_use]
    pub fn mean(&self, coordinate: usize) -> f64 {
        let traces: Vec<Vec<f64>> =
            (0..self.chains()).map(|chain| self.trace(chain, coordinate)).collect();
        let count: usize = traces.iter().map(Vec::len).sum();
        traces.iter().flatten().sum::<f64>() / count as f64
    }
}

impl Sink for Memory {
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
        if self.chains.is_empty() {
            self.dimension = dimension;
            self.chains.resize(chains, Vec::new());
        }
        if (self.chains.len(), self.dimension) == (chains, dimension) {
            Ok(())
        } else {
            let (got, of) = (self.chains.len(), self.dimension);
            Err(format!(
                "this memory holds draws of {got} chains in {of} dimensions: need {chains} chains in {dimension}"
            )
            .into())
        }
    }

    fn keep(&mut self, chain: usize, _: u64, point: &[f64]) -> Result<(), SinkError> {
        let chain = self.chains.get_mut(chain).ok_or("a chain beyond those announced")?;
        chain.try_reserve(point.len())?;
        chain.extend_from_slice(point);
        Ok(())
    }
}
