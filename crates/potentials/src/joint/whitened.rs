//! Joint posteriors in other coordinates.

use std::sync::Arc;

use super::Joint;
use crate::error::{Error, length};
use crate::line_integral::{LineIntegral, Scratch, no_line_integrals, whole_chains};
use crate::whitening::Whitening;

/// A joint posterior as a function of z, where (β, ψ) = centre + W z. The design stays as it is:
/// a map of d² numbers is applied to each chain before and after.
#[derive(Debug, Clone)]
pub struct WhitenedJoint {
    joint: Arc<Joint<'static>>,
    whitening: Whitening,
}

impl WhitenedJoint {
    /// The posterior in these coordinates.
    ///
    /// # Errors
    /// A whitening of another dimension.
    pub fn new(joint: Arc<Joint<'static>>, whitening: Whitening) -> Result<Self, Error> {
        length("the whitening", whitening.dimension(), joint.dimension())?;
        Ok(Self { joint, whitening })
    }
}

impl LineIntegral for WhitenedJoint {
    fn dimension(&self) -> usize {
        self.whitening.dimension()
    }

    no_line_integrals!();

    fn values_and_gradients(
        &self, positions: &[f64], values: &mut [f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let d = self.dimension();
        whole_chains(d, positions, positions, gradients)?;
        let mut room = std::mem::take(&mut scratch.mapped);
        room.resize(2 * positions.len(), 0.0);
        let (points, found) = room.split_at_mut(positions.len());
        for (z, point) in positions.chunks_exact(d).zip(points.chunks_exact_mut(d)) {
            self.whitening.to_original(z, point)?;
        }
        let outcome = self.joint.values_and_gradients(points, values, found, scratch);
        for (found, gradient) in found.chunks_exact(d).zip(gradients.chunks_exact_mut(d)) {
            self.whitening.gradient_to_whitened(found, gradient)?;
        }
        scratch.mapped = room;
        outcome
    }

    fn shares_out(&self, chains: usize) -> bool {
        self.joint.shares_out(chains)
    }

    fn collective(&self) -> bool {
        self.joint.collective()
    }
}
