//! Several processes that make one run: each advances its share of the chains, and all of them know
//! where every chain is.
//!
//! Everything but the work of the chains is done by all processes alike, so that they come to the
//! same decisions without asking each other. What depends on the clock or on one process alone (how
//! many steps to make at a time, a stop signal, a sink that fails) is agreed on.

use std::ops::Range;
use std::sync::Arc;

use ridgewalk_potentials::peers::{Alone, Peers, bytes_of, share_of};
use ridgewalk_potentials::{Error, LineIntegral, Scratch, Thinning};

/// The processes of a run, this one among them. By default it is alone.
#[derive(Debug, Clone)]
pub struct Team {
    all: Arc<dyn Peers>,
    chains: Arc<dyn Peers>,
}

impl Default for Team {
    fn default() -> Self {
        Self { all: Arc::new(Alone), chains: Arc::new(Alone) }
    }
}

impl Team {
    /// `chains` are those among which the chains are shared out; `all` has besides those that share
    /// the rows of the potential.
    #[must_use]
    pub fn new(all: Arc<dyn Peers>, chains: Arc<dyn Peers>) -> Self {
        Self { all, chains }
    }

    /// Those among which the chains are shared out.
    pub(crate) fn chains(&self) -> &dyn Peers {
        &*self.chains
    }

    /// The chains of each process, in the order of the processes.
    pub(crate) fn shares(&self, chains: usize) -> Vec<Range<usize>> {
        let size = self.chains.size();
        (0..size).map(|part| share_of(chains, part, size)).collect()
    }

    /// Whether something is the case in one of the processes.
    pub(crate) fn somewhere(&self, here: bool) -> bool {
        self.all.somewhere(here)
    }

    /// How all go on: as the first process wants, unless one of them is to stop; not at all
    /// (`None`) if one of them has failed.
    pub(crate) fn agree(&self, wanted: Agenda) -> Option<Agenda> {
        if self.all.size() == 1 {
            return (!wanted.failed).then_some(wanted);
        }
        // Counts of steps at a time are far below 2⁵³.
        let steps = if self.all.rank() == 0 { wanted.steps as f64 } else { 0.0 };
        let flag = |set: bool| f64::from(u8::from(set));
        let mut told = [steps, flag(wanted.stop), flag(wanted.failed), flag(wanted.out_of_time)];
        self.all.largest(&mut told);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let steps = told[0] as u64;
        let (stop, out_of_time) = (told[1] > 0.0, told[3] > 0.0);
        (told[2] == 0.0).then_some(Agenda { steps, stop, out_of_time, failed: false })
    }

    /// A potential whose chains are shared out among the processes.
    pub(crate) fn share<'a>(&'a self, potential: &'a (dyn LineIntegral + Sync)) -> Shared<'a> {
        Shared { potential, peers: &*self.chains }
    }
}

/// How a process wants to go on.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Agenda {
    /// Steps to make before the next agreement.
    pub(crate) steps: u64,
    /// Whether it was asked to stop.
    pub(crate) stop: bool,
    /// Whether its budget of time is spent.
    pub(crate) out_of_time: bool,
    /// Whether it cannot go on.
    pub(crate) failed: bool,
}

/// A potential of which each process computes the integrals of its share of the chains, and
/// receives those of the others.
pub(crate) struct Shared<'a> {
    potential: &'a (dyn LineIntegral + Sync),
    peers: &'a dyn Peers,
}

impl Shared<'_> {
    /// Does the work for the chains of this process, which have `each` entries each, and gathers
    /// the results of all.
    fn gather(
        &self, each: usize, out: &mut [f64],
        work: impl FnOnce(Range<usize>, &mut [f64]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.peers.size() == 1 {
            return work(0..out.len(), out);
        }
        let mine = self.peers.share(out.len() / each.max(1));
        let range = mine.start * each..mine.end * each;
        let done =
            if range.is_empty() { Ok(()) } else { work(range.clone(), &mut out[range.clone()]) };
        // A list of another length means that it could not be computed.
        let bytes: Vec<u8> = match &done {
            Ok(()) => bytes_of(&out[range]),
            Err(_) => vec![0],
        };
        let all = self.peers.gather(&bytes);
        done?;
        if all.iter().map(Vec::len).sum::<usize>() != size_of_val(out) {
            let message = "another process could not compute the gradient of its chains".to_owned();
            return Err(Error::Gradient { point: Vec::new(), message });
        }
        let numbers = all.iter().flat_map(|bytes| bytes.as_chunks().0);
        out.iter_mut().zip(numbers).for_each(|(x, bytes)| *x = f64::from_le_bytes(*bytes));
        Ok(())
    }
}

impl LineIntegral for Shared<'_> {
    fn dimension(&self) -> usize {
        self.potential.dimension()
    }

    fn gradients_per_integral(&self) -> u64 {
        self.potential.gradients_per_integral()
    }

    fn integrate(
        &self, length: f64, positions: &[f64], momenta: &[f64], integrals: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        self.gather(self.dimension(), integrals, |range, out| {
            self.potential.integrate(
                length,
                &positions[range.clone()],
                &momenta[range],
                out,
                scratch,
            )
        })
    }

    fn gradients(
        &self, positions: &[f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let d = self.dimension();
        self.gather(d, gradients, |range, out| {
            self.potential.gradients(&positions[range], out, scratch)
        })
    }

    fn values_and_gradients(
        &self, positions: &[f64], values: &mut [f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let d = self.dimension();
        self.gather(d, gradients, |range, out| {
            let chains = range.start / d.max(1)..range.end / d.max(1);
            self.potential.values_and_gradients(
                &positions[range],
                &mut values[chains],
                out,
                scratch,
            )
        })?;
        // Those of this process are there.
        self.gather(1, values, |_, _| Ok(()))
    }

    fn stiff(&self) -> usize {
        self.potential.stiff()
    }

    fn add_stiff(&self, eta: f64, per_l: f64, z: &mut [f64], p: &mut [f64]) {
        self.potential.add_stiff(eta, per_l, z, p);
    }

    /// Decisions are made by all processes alike.
    fn thinning(&self) -> Result<&dyn Thinning, Error> {
        self.potential.thinning()
    }

    fn shares_out(&self, chains: usize) -> bool {
        self.potential.shares_out(chains)
    }

    fn collective(&self) -> bool {
        self.peers.size() > 1 || self.potential.collective()
    }
}
