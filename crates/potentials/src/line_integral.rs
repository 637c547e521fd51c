//! What samplers ask of a potential: the integral of its gradient along segments, for many chains
//! at once.

use crate::error::{Error, length};

/// The integral of ∇U along straight segments.
///
/// Chains stand one after the other: chain c has the entries c d to (c + 1) d of each list. What
/// comes out for a chain does not depend, to the last bit, on which or how many others are asked
/// for beside it.
pub trait LineIntegral {
    /// The dimension d.
    fn dimension(&self) -> usize;

    /// What one integral costs, in gradients.
    fn gradients_per_integral(&self) -> u64;

    /// For each chain ∫ ∇U(position + t momentum) dt over t in [0, `length`], into `integrals`.
    ///
    /// `scratch` is working space: any one will do, and using it again saves the allocation.
    ///
    /// # Errors
    /// Lists whose lengths do not fit, a gradient that fails or a point outside the support.
    fn integrate(
        &self,
        length: f64,
        positions: &[f64],
        momenta: &[f64],
        integrals: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), Error>;

    /// For each chain ∇U(position), into `gradients`: one gradient's work a chain.
    ///
    /// # Errors
    /// As [`LineIntegral::integrate`].
    fn gradients(
        &self,
        positions: &[f64],
        gradients: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), Error>;

    /// For each chain U(position), up to a constant that is the same everywhere, into `values`, and
    /// ∇U(position) into `gradients`: one gradient's work a chain. The gradients are those of
    /// [`LineIntegral::gradients`], to the last bit. A chain outside the support has the value +∞
    /// and a gradient of zeros; that is no error, so the other chains are not held up.
    ///
    /// # Errors
    /// As [`LineIntegral::integrate`]; [`Error::NoValue`] where the value is not known, as by
    /// default.
    fn values_and_gradients(
        &self,
        positions: &[f64],
        values: &mut [f64],
        gradients: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let _ = (positions, values, gradients, scratch);
        Err(Error::NoValue)
    }

    /// Whether the work for so many chains is shared out among threads in here. Chains then do best
    /// together, in one call; otherwise those of different threads had better call by themselves.
    /// This is a matter of speed alone.
    fn shares_out(&self, chains: usize) -> bool {
        let _ = chains;
        false
    }

    /// Whether a call is a meeting of several processes. Calls must then be the same in all of
    /// them, in one order: one at a time.
    fn collective(&self) -> bool {
        false
    }
}

/// Working space for [`LineIntegral::integrate`].
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    pub(crate) packed: Vec<f64>,
    pub(crate) sums: Vec<f64>,
    pub(crate) point: Vec<f64>,
    pub(crate) gradient: Vec<f64>,
}

impl Scratch {
    /// Space for so many numbers of packed tiles and of sums; what is in it is left over from
    /// before.
    pub(crate) fn tiles(&mut self, packed: usize, sums: usize) -> (&mut [f64], &mut [f64]) {
        (aligned(&mut self.packed, packed), aligned(&mut self.sums, sums))
    }
}

/// So many numbers of a list, from the start of a cache line on: vectors that lie across two lines
/// take twice as long to load.
fn aligned(list: &mut Vec<f64>, count: usize) -> &mut [f64] {
    const LINE: usize = 64;
    let spare = LINE / size_of::<f64>();
    if list.len() < count + spare {
        list.resize(count + spare, 0.0);
    }
    let skip = list.as_ptr().align_offset(LINE).min(spare);
    &mut list[skip..skip + count]
}

/// An error unless the three lists hold whole chains of the given dimension, equally many.
pub(crate) fn whole_chains(
    dimension: usize,
    positions: &[f64],
    momenta: &[f64],
    integrals: &[f64],
) -> Result<(), Error> {
    let chains = positions.len() / dimension;
    length("the list of positions", positions.len(), chains.max(1) * dimension)?;
    length("the list of momenta", momenta.len(), positions.len())?;
    length("the list of integrals", integrals.len(), positions.len())
}
