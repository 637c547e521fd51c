//! The interface between samplers and potentials: the integral of the gradient along segments, for
//! many chains at once.

use crate::error::{Error, length};
use crate::thinning::Thinning;

/// The integral of ∇U along straight segments.
///
/// Lists hold one chain after the other: chain c has the entries c d to (c + 1) d. The result for a
/// chain does not depend, to the last bit, on the other chains in the call.
pub trait LineIntegral {
    /// The dimension d.
    fn dimension(&self) -> usize;

    /// The cost of one integral, in gradients.
    fn gradients_per_integral(&self) -> u64;

    /// For each chain ∫ ∇U(position + t momentum) dt over t in [0, `length`], into `integrals`.
    ///
    /// `scratch` is working space. Any will do; reusing it saves allocations.
    ///
    /// # Errors
    /// Lists whose lengths do not fit, a gradient that fails or a point outside the support.
    fn integrate(
        &self, length: f64, positions: &[f64], momenta: &[f64], integrals: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), Error>;

    /// For each chain ∇U(position), into `gradients`: the work of one gradient per chain.
    ///
    /// # Errors
    /// As [`LineIntegral::integrate`].
    fn gradients(
        &self, positions: &[f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), Error>;

    /// For each chain U(position), up to a constant that is the same everywhere, into `values`, and
    /// ∇U(position) into `gradients`: the work of one gradient per chain. The gradients are those
    /// of [`LineIntegral::gradients`], to the last bit. A chain outside the support has the value
    /// +∞ and a gradient of zeros; that is no error, so the other chains are not held up.
    ///
    /// # Errors
    /// As [`LineIntegral::integrate`]; [`Error::NoValue`] where the value is not known, as by
    /// default.
    fn values_and_gradients(
        &self, positions: &[f64], values: &mut [f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let _ = (positions, values, gradients, scratch);
        Err(Error::NoValue)
    }

    /// The number of terms that [`LineIntegral::add_stiff`] takes care of.
    fn stiff(&self) -> usize {
        0
    }

    /// In coordinates in which the target is about N(0, I/L), `per_l` being 1/L: (z, p) of one chain
    /// were half kicked by ∇U/L − z and rotated by `eta`. Integrates a few stiff terms of U in
    /// shorter steps over that time, and takes them out of the half kicks before and after. By
    /// default there are none, and nothing changes.
    ///
    /// The whole step must stay reversible and keep volumes.
    fn add_stiff(&self, eta: f64, per_l: f64, z: &mut [f64], p: &mut [f64]) {
        let _ = (eta, per_l, z, p);
    }

    /// How moves can be accepted by a few terms of U, in coordinates in which the target is about
    /// N(0, I).
    ///
    /// # Errors
    /// [`Error::NotThinned`] with the reason where they cannot, as by default.
    fn thinning(&self) -> Result<&dyn Thinning, Error> {
        Err(Error::NotThinned { why: "the potential is no sum over rows with known bounds".into() })
    }

    /// Whether a call for this many chains runs on several threads. If it does, put all chains into
    /// one call; otherwise let each thread call for its own chains. This affects speed alone.
    fn shares_out(&self, chains: usize) -> bool {
        let _ = chains;
        false
    }

    /// Whether a call is collective among several processes. All of them must then make the same
    /// calls in the same order, one at a time.
    fn collective(&self) -> bool {
        false
    }
}

/// The methods of [`LineIntegral`] about integrals, for a potential that has values and gradients
/// only.
macro_rules! no_line_integrals {
    () => {
        fn gradients_per_integral(&self) -> u64 {
            1
        }

        fn integrate(
            &self, _: f64, _: &[f64], _: &[f64], _: &mut [f64], _: &mut Scratch,
        ) -> Result<(), Error> {
            Err(Error::NoLineIntegral)
        }

        fn gradients(
            &self, positions: &[f64], gradients: &mut [f64], scratch: &mut Scratch,
        ) -> Result<(), Error> {
            let mut values = vec![0.0; positions.len() / LineIntegral::dimension(self).max(1)];
            self.values_and_gradients(positions, &mut values, gradients, scratch)
        }
    };
}
pub(crate) use no_line_integrals;

/// Working space for [`LineIntegral::integrate`].
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    pub(crate) packed: Vec<f64>,
    pub(crate) sums: Vec<f64>,
    pub(crate) point: Vec<f64>,
    pub(crate) gradient: Vec<f64>,
    /// Points and gradients in other coordinates.
    pub(crate) mapped: Vec<f64>,
}

impl Scratch {
    /// Space for packed tiles and for sums, with stale contents.
    pub(crate) fn tiles(&mut self, packed: usize, sums: usize) -> (&mut [f64], &mut [f64]) {
        (aligned(&mut self.packed, packed), aligned(&mut self.sums, sums))
    }
}

/// `count` numbers of a list, starting at a cache line: vectors that straddle two lines take twice
/// as long to load.
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
    dimension: usize, positions: &[f64], momenta: &[f64], integrals: &[f64],
) -> Result<(), Error> {
    let chains = positions.len() / dimension;
    length("the list of positions", positions.len(), chains.max(1) * dimension)?;
    length("the list of momenta", momenta.len(), positions.len())?;
    length("the list of integrals", integrals.len(), positions.len())
}
