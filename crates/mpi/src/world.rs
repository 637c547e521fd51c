//! The processes started by MPI, as [`Peers`]: they exchange bytes, and everything else builds on
//! that.

use std::sync::{Mutex, PoisonError};

use mpi::point_to_point::send_receive_into;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, Source};
use ridgewalk::potentials::peers::Peers;

/// Maximum size of a message: MPI counts bytes in 31 bits.
const LONGEST: usize = 1 << 30;

/// All processes started together. MPI must be initialised and not yet finalised.
#[derive(Debug)]
pub(crate) struct World {
    rank: usize,
    size: usize,
    /// Calls come from one thread at a time.
    one: Mutex<()>,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = SimpleCommunicator::world();
        let count = |number: i32| usize::try_from(number).unwrap_or(0);
        Self { rank: count(world.rank()), size: count(world.size()), one: Mutex::new(()) }
    }
}

impl Peers for World {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    /// A lost process ends this one too: MPI errors are fatal by default.
    fn exchange(&self, with: usize, mine: &[u8], theirs: &mut [u8]) {
        let _one = self.one.lock().unwrap_or_else(PoisonError::into_inner);
        let world = SimpleCommunicator::world();
        let other = world.process_at_rank(i32::try_from(with).unwrap_or(i32::MAX));
        let (mut give, mut take) = (mine.chunks(LONGEST), theirs.chunks_mut(LONGEST));
        loop {
            match (give.next(), take.next()) {
                (Some(mine), Some(theirs)) => {
                    send_receive_into(mine, &other, theirs, &other);
                }
                (Some(mine), None) => other.send(mine),
                (None, Some(theirs)) => {
                    other.receive_into(theirs);
                }
                (None, None) => return,
            }
        }
    }
}
