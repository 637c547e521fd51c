//! The states (θ, p, r) of some chains, one after the other, with the gradient and the value at θ
//! where a kernel has left them there.

use ridgewalk_potentials::{LineIntegral, Scratch};

use crate::acceptance::Proposal;
use crate::error::{Error, Quantity};

/// States of some chains: chain c has the entries c d to (c + 1) d of each list, as in
/// [`LineIntegral`].
///
/// The gradient at θ may be stored with them, and U there, so that a kernel whose step ends with it
/// need not compute it again. They are functions of θ alone: whether they are stored changes no
/// result, only the work.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    dimension: usize,
    pub(crate) theta: Vec<f64>,
    pub(crate) p: Vec<f64>,
    pub(crate) r: Vec<f64>,
    gradient: Vec<f64>,
    gradient_known: bool,
    /// U at the positions, with the gradients there.
    values: Vec<f64>,
    values_known: bool,
    /// The proposals of the last step; none, or one for each chain.
    proposals: Vec<Proposal>,
}

/// One chain's state.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State {
    /// The position.
    pub theta: Vec<f64>,
    /// The momentum, in units in which it is the velocity of θ.
    pub p: Vec<f64>,
    /// The third variable.
    pub r: Vec<f64>,
}

/// All lists of a batch, to be written to by a kernel that leaves values and gradients with the
/// states.
#[derive(Debug)]
pub(crate) struct Lists<'a> {
    pub(crate) dimension: usize,
    pub(crate) theta: &'a mut [f64],
    pub(crate) p: &'a mut [f64],
    pub(crate) r: &'a mut [f64],
    pub(crate) gradient: &'a mut [f64],
    pub(crate) values: &'a mut [f64],
    pub(crate) proposals: &'a mut Vec<Proposal>,
}

impl Lists<'_> {
    /// Puts a chain back to its state in another batch, with this gradient and value there.
    pub(crate) fn put_back(
        &mut self, chain: usize, from: &Batch, gradient: &[f64], values: &[f64],
    ) {
        let range = from.range(chain);
        self.theta[range.clone()].copy_from_slice(&from.theta[range.clone()]);
        self.p[range.clone()].copy_from_slice(&from.p[range.clone()]);
        self.r[range.clone()].copy_from_slice(&from.r[range.clone()]);
        self.gradient[range.clone()].copy_from_slice(&gradient[range]);
        self.values[chain] = values[chain];
    }
}

/// The lists of a batch, to be written to.
#[derive(Debug)]
pub struct Fields<'a> {
    /// Positions.
    pub theta: &'a mut [f64],
    /// Momenta.
    pub p: &'a mut [f64],
    /// Third variables.
    pub r: &'a mut [f64],
}

impl Batch {
    /// `chains` states at zero.
    ///
    /// # Errors
    /// For a dimension of 0, and for more entries than can be addressed. No chains are allowed.
    pub fn new(dimension: usize, chains: usize) -> Result<Self, Error> {
        if dimension == 0 {
            return Err(Error::Zero { what: Quantity::Dimension });
        }
        let entries =
            dimension.checked_mul(chains).ok_or(Error::TooMany { what: Quantity::Entries })?;
        let zeros = vec![0.0; entries];
        Ok(Self {
            dimension,
            theta: zeros.clone(),
            p: zeros.clone(),
            r: zeros.clone(),
            gradient: zeros,
            gradient_known: false,
            values: vec![0.0; chains],
            values_known: false,
            proposals: Vec::with_capacity(chains),
        })
    }

    /// The dimension d.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The number of chains.
    #[must_use]
    pub fn chains(&self) -> usize {
        self.theta.len() / self.dimension
    }

    /// Positions.
    #[must_use]
    pub fn theta(&self) -> &[f64] {
        &self.theta
    }

    /// Momenta.
    #[must_use]
    pub fn p(&self) -> &[f64] {
        &self.p
    }

    /// Third variables.
    #[must_use]
    pub fn r(&self) -> &[f64] {
        &self.r
    }

    /// Gradients at the positions, if they are stored.
    #[must_use]
    pub fn gradient(&self) -> Option<&[f64]> {
        self.gradient_known.then_some(self.gradient.as_slice())
    }

    /// U at the positions, one for each chain, if they are stored; the gradients are then stored
    /// too.
    #[must_use]
    pub fn values(&self) -> Option<&[f64]> {
        self.values_known.then_some(self.values.as_slice())
    }

    /// The proposals of the last step, one for each chain; empty after steps that propose nothing.
    #[must_use]
    pub fn proposals(&self) -> &[Proposal] {
        &self.proposals
    }

    /// The lists, to be written to. Stored gradients, values and proposals are forgotten.
    pub fn fields_mut(&mut self) -> Fields<'_> {
        self.forget();
        Fields { theta: &mut self.theta, p: &mut self.p, r: &mut self.r }
    }

    /// All lists, to be written to; what was stored is forgotten.
    pub(crate) fn lists_mut(&mut self) -> Lists<'_> {
        self.forget();
        Lists {
            dimension: self.dimension,
            theta: &mut self.theta,
            p: &mut self.p,
            r: &mut self.r,
            gradient: &mut self.gradient,
            values: &mut self.values,
            proposals: &mut self.proposals,
        }
    }

    fn forget(&mut self) {
        (self.gradient_known, self.values_known) = (false, false);
        self.proposals.clear();
    }

    /// Marks the lists of values and gradients as those at the positions, now or soon.
    pub(crate) fn assume_values(&mut self) {
        (self.gradient_known, self.values_known) = (true, true);
    }

    /// Computes and stores the gradients at the positions, unless they are stored. Returns the
    /// number of gradients per chain: 0 or 1.
    ///
    /// # Errors
    /// Those of the potential.
    pub fn find_gradient(
        &mut self, potential: &dyn LineIntegral, scratch: &mut Scratch,
    ) -> Result<u64, Error> {
        if self.gradient_known {
            return Ok(0);
        }
        potential.gradients(&self.theta, &mut self.gradient, scratch)?;
        self.gradient_known = true;
        Ok(1)
    }

    /// p − `time` times the gradient, which is computed if it is not stored: a kick that ends a
    /// step.
    ///
    /// # Errors
    /// Those of the potential.
    pub fn kick(
        &mut self, time: f64, potential: &dyn LineIntegral, scratch: &mut Scratch,
    ) -> Result<u64, Error> {
        let spent = self.find_gradient(potential, scratch)?;
        self.p.iter_mut().zip(&self.gradient).for_each(|(p, g)| *p -= time * g);
        Ok(spent)
    }

    /// A copy of one chain's state; `None` if there is no such chain.
    #[must_use]
    pub fn state(&self, chain: usize) -> Option<State> {
        (chain < self.chains()).then(|| self.copy_of(chain))
    }

    /// A copy of the state of an existing chain.
    pub(crate) fn copy_of(&self, chain: usize) -> State {
        let range = self.range(chain);
        let copy = |list: &[f64]| list[range.clone()].to_vec();
        State { theta: copy(&self.theta), p: copy(&self.p), r: copy(&self.r) }
    }

    /// A batch of one chain alone.
    pub(crate) fn only(&self, chain: usize) -> Self {
        let range = self.range(chain);
        Self {
            dimension: self.dimension,
            theta: self.theta[range.clone()].to_vec(),
            p: self.p[range.clone()].to_vec(),
            r: self.r[range.clone()].to_vec(),
            gradient: self.gradient[range].to_vec(),
            gradient_known: self.gradient_known,
            values: vec![self.values[chain]],
            values_known: self.values_known,
            proposals: Vec::new(),
        }
    }

    /// Writes a chain's state; its lists must have length d. A stored gradient is forgotten.
    pub(crate) fn set_state(&mut self, chain: usize, state: &State) {
        let range = self.range(chain);
        let fields = self.fields_mut();
        fields.theta[range.clone()].copy_from_slice(&state.theta);
        fields.p[range.clone()].copy_from_slice(&state.p);
        fields.r[range].copy_from_slice(&state.r);
    }

    /// Writes the gradients at the positions, of all chains or of none, and with them the values,
    /// of all or of none; each gradient must have length d.
    pub(crate) fn set_gradients(&mut self, stored: &[(Option<&[f64]>, Option<f64>)]) {
        let d = self.dimension;
        self.gradient_known =
            !stored.is_empty() && stored.iter().all(|(gradient, _)| gradient.is_some());
        self.values_known = self.gradient_known && stored.iter().all(|(_, value)| value.is_some());
        let rooms = self.gradient.chunks_exact_mut(d).zip(&mut self.values);
        for ((room, at), (gradient, value)) in rooms.zip(stored) {
            if let Some(gradient) = gradient {
                room.copy_from_slice(gradient);
            }
            *at = value.unwrap_or(0.0);
        }
    }

    /// Whether every number of a chain is finite.
    pub(crate) fn is_finite(&self, chain: usize) -> bool {
        let range = self.range(chain);
        [&self.theta, &self.p, &self.r].into_iter().all(|list| {
            // Without a branch for each number, so that it runs in vectors.
            list[range.clone()].iter().fold(true, |finite, x| finite & x.is_finite())
        })
    }

    pub(crate) fn range(&self, chain: usize) -> std::ops::Range<usize> {
        chain * self.dimension..(chain + 1) * self.dimension
    }

    /// Puts chain `from` of another batch in the place of chain `to` here. The gradient, or the
    /// value, counts as stored only if it is on both sides.
    pub(crate) fn copy_chain(&mut self, to: usize, other: &Self, from: usize) {
        let (to, from) = (self.range(to), other.range(from));
        self.theta[to.clone()].copy_from_slice(&other.theta[from.clone()]);
        self.p[to.clone()].copy_from_slice(&other.p[from.clone()]);
        self.r[to.clone()].copy_from_slice(&other.r[from.clone()]);
        self.gradient[to.clone()].copy_from_slice(&other.gradient[from.clone()]);
        self.gradient_known &= other.gradient_known;
        let (to, from) = (to.start / self.dimension, from.start / self.dimension);
        self.values[to] = other.values[from];
        self.values_known &= other.values_known;
    }

    /// Takes a chain out; those behind it move up.
    pub(crate) fn remove(&mut self, chain: usize) {
        let range = self.range(chain);
        for list in [&mut self.theta, &mut self.p, &mut self.r, &mut self.gradient] {
            list.drain(range.clone());
        }
        self.values.remove(chain);
        self.proposals.clear();
    }
}
