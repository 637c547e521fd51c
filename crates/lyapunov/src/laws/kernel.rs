//! The kernels by name: the paper's, two others of the same dynamics, and those they are compared
//! with.

/// A way to make one step, without its parameters.
///
/// Matches over it are exhaustive on purpose: a new kernel must be considered wherever kernels are
/// told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KernelKind {
    /// Algorithm 1 of Mou et al. (JMLR 2021) with the exact line integral.
    ThirdOrder,
    /// The symmetric splitting of the same dynamics: half kick, half drift, exact step of (p, r),
    /// half drift, half kick.
    Symmetric,
    /// The same dynamics for whitened targets: exact step of (p, r), then kick and drift by the
    /// gradient's average over the segment that the implicit midpoint rule predicts for curvature L
    /// about the origin.
    Averaged,
    /// The unadjusted Langevin algorithm: an Euler step of the overdamped dynamics.
    Ula,
    /// Kinetic Langevin with the gradient of the start of the step (Cheng, Chatterji, Bartlett and
    /// Jordan, COLT 2018).
    Klmc,
    /// Half a free flow, a full kick, half a free flow (Sanz-Serna and Zygalakis, JMLR 2021).
    Ubu,
    /// Half kick, half drift, exact friction and noise, half drift, half kick (Leimkuhler and
    /// Matthews 2013).
    Baoab,
    /// Kinetic Langevin with the gradient at a random time of the step (Shen and Lee, NeurIPS
    /// 2019).
    RandomizedMidpoint,
    /// Trajectories of the third-order dynamics that are accepted or rejected as a whole. Its laws
    /// here are those of proposals that are all accepted.
    Adjusted,
}

impl KernelKind {
    /// All that make one step at a time, the paper's first. [`KernelKind::Adjusted`] is not among them.
    pub const ALL: [Self; 8] = [
        Self::ThirdOrder,
        Self::Symmetric,
        Self::Averaged,
        Self::Ula,
        Self::Klmc,
        Self::Ubu,
        Self::Baoab,
        Self::RandomizedMidpoint,
    ];

    /// The name at the command line and in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ThirdOrder => "third-order",
            Self::Symmetric => "symmetric",
            Self::Averaged => "averaged",
            Self::Ula => "ula",
            Self::Klmc => "klmc",
            Self::Ubu => "ubu",
            Self::Baoab => "baoab",
            Self::RandomizedMidpoint => "randomized-midpoint",
            Self::Adjusted => "adjusted",
        }
    }

    /// The kernel of that name among [`KernelKind::ALL`].
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kernel| kernel.name() == name)
    }

    /// Gradients, or exact line integrals, that one step needs beyond those of the step before.
    #[must_use]
    pub fn gradients_per_step(self) -> u32 {
        if self == Self::RandomizedMidpoint { 2 } else { 1 }
    }

    /// Whether the kernel has a coupling γ.
    #[must_use]
    pub fn has_gamma(self) -> bool {
        matches!(self, Self::ThirdOrder | Self::Symmetric | Self::Averaged | Self::Adjusted)
    }

    /// Whether the kernel has a friction ξ.
    #[must_use]
    pub fn has_xi(self) -> bool {
        self != Self::Ula
    }
}
