//! Proposals and their acceptance: of one step, of the steps from one draw to the next, and of all
//! steps of a chain.

/// The proposal of one step, for kernels that accept or reject.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Proposal {
    /// Δ, the error of the energy along it; infinite or not a number where it left the finite
    /// numbers.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub energy_error: f64,
    /// The probability with which it was accepted: min(1, e^−Δ), or 0 for a divergence.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub probability: f64,
    /// Whether it was.
    pub accepted: bool,
    /// U where it began; not a number if the kernel does not give it.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub potential: f64,
    /// U plus the kinetic energy with which it began; not a number if the kernel does not give it.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub energy: f64,
}

impl Proposal {
    /// The energy error from which on a trajectory is a divergence: e^−1000 is 0 in floating point.
    pub const DIVERGENT: f64 = 1000.0;

    /// The decision about a proposal with this energy error, by a number uniform on [0, 1).
    #[must_use]
    pub fn new(energy_error: f64, uniform: f64) -> Self {
        Self::begun(f64::NAN, f64::NAN).decided(energy_error, uniform)
    }

    /// A proposal that begins with this U and this U plus kinetic energy, not decided about yet.
    #[must_use]
    pub fn begun(potential: f64, energy: f64) -> Self {
        Self { energy_error: f64::NAN, probability: 0.0, accepted: false, potential, energy }
    }

    /// The same with the decision of [`Proposal::new`].
    #[must_use]
    pub fn decided(self, energy_error: f64, uniform: f64) -> Self {
        let probability =
            if energy_error <= Self::DIVERGENT { (-energy_error).exp().min(1.0) } else { 0.0 };
        Self { energy_error, probability, accepted: uniform < probability, ..self }
    }

    /// Whether its energy error is not finite or above [`Proposal::DIVERGENT`].
    #[must_use]
    pub fn divergent(&self) -> bool {
        !(self.energy_error.is_finite() && self.energy_error <= Self::DIVERGENT)
    }
}

/// Statistics of a draw, for kernels that accept or reject: what ArviZ calls `sample_stats`. All
/// numbers are finite.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DrawStats {
    /// The mean probability of acceptance of the proposals since the draw before.
    pub acceptance_rate: f64,
    /// U plus the kinetic energy (L/2)|p|² of the state that is the draw.
    pub energy: f64,
    /// −U at the draw: the logarithm of the density in the coordinates of the chains, up to a
    /// constant.
    pub lp: f64,
    /// Whether one of the proposals since the draw before diverged ([`Proposal::divergent`]).
    pub diverging: bool,
}

/// Statistics of all proposals of a chain, or of several chains.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Acceptance {
    /// How many there were; 0 for kernels that do not accept or reject.
    pub proposals: u64,
    /// How many of them were accepted.
    pub accepted: u64,
    /// How many diverged.
    pub divergences: u64,
    /// The sum of the probabilities with which they were accepted.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub probabilities: f64,
    /// The sum of the energy errors of those that did not diverge.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub errors: f64,
    /// The sum of the squares of these.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub squared_errors: f64,
    /// The largest of these by size.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub largest_error: f64,
}

impl Acceptance {
    /// Counts one more.
    pub fn count(&mut self, proposal: &Proposal) {
        let error = proposal.energy_error;
        self.proposals += 1;
        self.accepted += u64::from(proposal.accepted);
        self.probabilities += proposal.probability;
        if proposal.divergent() {
            self.divergences += 1;
        } else {
            self.errors += error;
            self.squared_errors += error * error;
            self.largest_error = self.largest_error.max(error.abs());
        }
    }

    /// These and others.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.proposals += other.proposals;
        self.accepted += other.accepted;
        self.divergences += other.divergences;
        self.probabilities += other.probabilities;
        self.errors += other.errors;
        self.squared_errors += other.squared_errors;
        self.largest_error = self.largest_error.max(other.largest_error);
        self
    }

    /// Those that came after `earlier`. Only the largest error is still of all.
    #[must_use]
    pub fn since(mut self, earlier: &Self) -> Self {
        self.proposals -= earlier.proposals;
        self.accepted -= earlier.accepted;
        self.divergences -= earlier.divergences;
        self.probabilities -= earlier.probabilities;
        self.errors -= earlier.errors;
        self.squared_errors -= earlier.squared_errors;
        self
    }

    /// The mean probability of acceptance; not a number if there were no proposals.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.probabilities / self.proposals as f64
    }

    /// The mean energy error of those that did not diverge.
    #[must_use]
    pub fn mean_error(&self) -> f64 {
        self.errors / (self.proposals - self.divergences) as f64
    }

    /// The standard deviation of the energy error of those that did not diverge.
    #[must_use]
    pub fn sd_error(&self) -> f64 {
        let mean = self.mean_error();
        (self.squared_errors / (self.proposals - self.divergences) as f64 - mean * mean)
            .max(0.0)
            .sqrt()
    }
}
