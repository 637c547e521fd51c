//! The states (θ, p, r) of some chains, one after the other, with the gradient at θ where a kernel has left it there.

use ridgewalk_potentials::{LineIntegral, Scratch};

use crate::error::Error;

/// States of some chains: chain c has the entries c d to (c + 1) d of each list, as in [`LineIntegral`].
///
/// The gradient at θ may be stored with them, so that a kernel whose step ends with it need not compute it again. It is a function
/// of θ alone: whether it is stored changes no result, only the work.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    dimension: usize,
    pub(crate) theta: Vec<f64>,
    pub(crate) p: Vec<f64>,
    pub(crate) r: Vec<f64>,
    gradient: Vec<f64>,
    gradient_known: bool,
}

/// One chain's state.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The position.
    pub theta: Vec<f64>,
    /// The momentum, in units in which it is the velocity of θ.
    pub p: Vec<f64>,
    /// The third variable.
    pub r: Vec<f64>,
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
            return Err(Error::Zero { name: "dimension" });
        }
        let entries = dimension.checked_mul(chains).ok_or(Error::TooMany { what: "entries of a batch" })?;
        let zeros = vec![0.0; entries];
        Ok(Self {
            dimension,
            theta: zeros.clone(),
            p: zeros.clone(),
            r: zeros.clone(),
            gradient: zeros,
            gradient_known: false,
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

    /// The lists, to be written to. A stored gradient is forgotten.
    pub fn fields_mut(&mut self) -> Fields<'_> {
        self.gradient_known = false;
        Fields { theta: &mut self.theta, p: &mut self.p, r: &mut self.r }
    }

    /// Computes and stores the gradients at the positions, unless they are stored. How many a chain this took: 0 or 1.
    ///
    /// # Errors
    /// Those of the potential.
    pub fn find_gradient(
        &mut self,
        potential: &dyn LineIntegral,
        scratch: &mut Scratch,
    ) -> Result<u64, Error> {
        if self.gradient_known {
            return Ok(0);
        }
        potential.gradients(&self.theta, &mut self.gradient, scratch)?;
        self.gradient_known = true;
        Ok(1)
    }

    /// p − `time` times the gradient, which is computed if it is not stored: a kick that ends a step.
    ///
    /// # Errors
    /// Those of the potential.
    pub fn kick(
        &mut self,
        time: f64,
        potential: &dyn LineIntegral,
        scratch: &mut Scratch,
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

    /// A copy of the state of a chain that there is.
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

    /// Writes the gradients at the positions, of all chains or of none; each must have length d.
    pub(crate) fn set_gradients(&mut self, gradients: &[Option<&[f64]>]) {
        let d = self.dimension;
        self.gradient_known = !gradients.is_empty();
        for (room, gradient) in self.gradient.chunks_exact_mut(d).zip(gradients) {
            match gradient {
                Some(gradient) => room.copy_from_slice(gradient),
                None => self.gradient_known = false,
            }
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

    /// Puts chain `from` of another batch in the place of chain `to` here. The gradient counts as stored only if it is on both
    /// sides.
    pub(crate) fn copy_chain(&mut self, to: usize, other: &Self, from: usize) {
        let (to, from) = (self.range(to), other.range(from));
        self.theta[to.clone()].copy_from_slice(&other.theta[from.clone()]);
        self.p[to.clone()].copy_from_slice(&other.p[from.clone()]);
        self.r[to.clone()].copy_from_slice(&other.r[from.clone()]);
        self.gradient[to].copy_from_slice(&other.gradient[from]);
        self.gradient_known &= other.gradient_known;
    }

    /// Says whether the list of gradients is that at the positions.
    pub(crate) fn assume_gradient(&mut self, known: bool) {
        self.gradient_known = known;
    }

    /// Takes a chain out; those behind it move up.
    pub(crate) fn remove(&mut self, chain: usize) {
        let range = self.range(chain);
        for list in [&mut self.theta, &mut self.p, &mut self.r, &mut self.gradient] {
            list.drain(range.clone());
        }
    }
}
