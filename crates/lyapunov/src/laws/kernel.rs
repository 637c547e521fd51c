//! The built-in kernels by name: the paper's, others of the same dynamics, and those they are
//! compared with.

use crate::certificate::Process;

/// A kind of kernel, without its parameters.
///
/// Exhaustive on purpose: a new kernel is a compile error wherever it must be handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KernelKind {
    /// Algorithm 1 of Mou et al. (JMLR 2021) with the exact line integral.
    ThirdOrder,
    /// The symmetric splitting of the same dynamics: half kick, half drift, exact step of (p, r),
    /// half drift, half kick.
    Symmetric,
    /// The same dynamics for whitened targets: exact step of (p, r), then kick and drift by the
    /// average gradient over the segment that the implicit midpoint rule predicts for curvature L
    /// around the origin.
    Averaged,
    /// The unadjusted Langevin algorithm: an Euler step of the overdamped dynamics.
    Ula,
    /// Kinetic Langevin with the gradient at the start of the step (Cheng, Chatterji, Bartlett and
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
    /// Kinetic Langevin along a straight path between two jumps, with the gradient at two nodes of
    /// Gauss's rule (Scott, O'Kane, Jelinčič and Foster 2025).
    Quicsort,
    /// Kinetic Langevin along a polynomial path, with Simpson's rule for the gradient (Foster, Lyons
    /// and Oberhauser 2021).
    Should,
    /// Kinetic Langevin with the exact increment and area of the path, and the gradient
    /// interpolated between both ends of the step (a relative of the same authors' splitting).
    Align,
    /// Leapfrog trajectories with momenta drawn anew before each, all accepted (Duane, Kennedy,
    /// Pendleton and Roweth 1987, without their acceptance). The friction ξ is one over the
    /// duration of a trajectory.
    Hmc,
    /// Trajectories of the third-order dynamics, accepted or rejected as a whole. Its laws here
    /// assume that all proposals are accepted.
    Adjusted,
    /// Rotations of θ towards fresh normal points, accepted or rejected by a few rows of the data. The
    /// same holds of its laws.
    Subsampled,
}

impl KernelKind {
    /// All kernels without acceptance, the paper's first; [`KernelKind::Adjusted`] and
    /// [`KernelKind::Subsampled`] are not included.
    pub const ALL: [Self; 12] = [
        Self::ThirdOrder,
        Self::Symmetric,
        Self::Averaged,
        Self::Ula,
        Self::Klmc,
        Self::Ubu,
        Self::Baoab,
        Self::RandomizedMidpoint,
        Self::Quicsort,
        Self::Should,
        Self::Align,
        Self::Hmc,
    ];

    /// The name on the command line and in tables.
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
            Self::Quicsort => "quicsort",
            Self::Should => "should",
            Self::Align => "align",
            Self::Hmc => "hmc",
            Self::Adjusted => "adjusted",
            Self::Subsampled => "subsampled",
        }
    }

    /// The kernel of that name among [`KernelKind::ALL`].
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kernel| kernel.name() == name)
    }

    /// Gradients, or exact line integrals, that one step evaluates; those reused from the step
    /// before do not count. For trajectories, those of one of their steps; none for decisions by a few
    /// rows.
    #[must_use]
    pub fn gradients_per_step(self) -> u32 {
        match self {
            Self::Subsampled => 0,
            Self::RandomizedMidpoint | Self::Quicsort | Self::Should => 2,
            Self::ThirdOrder
            | Self::Symmetric
            | Self::Averaged
            | Self::Ula
            | Self::Klmc
            | Self::Ubu
            | Self::Baoab
            | Self::Align
            | Self::Hmc
            | Self::Adjusted => 1,
        }
    }

    /// Whether the kernel has a coupling γ.
    #[must_use]
    pub fn has_gamma(self) -> bool {
        match self {
            Self::ThirdOrder | Self::Symmetric | Self::Averaged | Self::Adjusted => true,
            Self::Ula
            | Self::Klmc
            | Self::Ubu
            | Self::Baoab
            | Self::RandomizedMidpoint
            | Self::Quicsort
            | Self::Should
            | Self::Align
            | Self::Hmc
            | Self::Subsampled => false,
        }
    }

    /// Whether the kernel has a friction ξ: all that have a p.
    #[must_use]
    pub fn has_xi(self) -> bool {
        !matches!(self, Self::Ula | Self::Subsampled)
    }

    /// The process whose contraction can be certified for this kernel at step η, with exact line
    /// integrals or by `nodes` Chebyshev nodes; `None` for kernels without certificates.
    #[must_use]
    pub fn process(self, eta: f64, nodes: Option<usize>) -> Option<Process> {
        match self {
            Self::ThirdOrder => Some(Process::ThirdOrder { eta, nodes }),
            Self::Symmetric => Some(Process::Symmetric { eta }),
            Self::Averaged
            | Self::Ula
            | Self::Klmc
            | Self::Ubu
            | Self::Baoab
            | Self::RandomizedMidpoint
            | Self::Quicsort
            | Self::Should
            | Self::Align
            | Self::Hmc
            | Self::Adjusted
            | Self::Subsampled => None,
        }
    }

    /// Exponents of d and of 1/ε in published guarantees of W2 <= ε, in gradients.
    #[must_use]
    pub fn proved_exponents(self) -> Option<(f64, f64)> {
        match self {
            // Mou et al. 2021, Theorem 1; Sanz-Serna and Zygalakis 2021 (with a bound on the third
            // derivative); Mangoubi and Vishnoi 2018 (with conditions on the third derivative).
            Self::ThirdOrder | Self::Ubu | Self::Hmc => Some((0.25, 0.5)),
            // Dalalyan 2017; Durmus and Moulines 2019.
            Self::Ula => Some((1.0, 2.0)),
            // Cheng, Chatterji, Bartlett and Jordan 2018.
            Self::Klmc => Some((0.5, 1.0)),
            // Shen and Lee 2019.
            Self::RandomizedMidpoint => Some((1.0 / 3.0, 2.0 / 3.0)),
            // Scott, O'Kane, Jelinčič and Foster 2025, with a Lipschitz third derivative.
            Self::Quicsort => Some((0.5, 1.0 / 3.0)),
            Self::Symmetric
            | Self::Averaged
            | Self::Baoab
            | Self::Should
            | Self::Align
            | Self::Adjusted
            | Self::Subsampled => None,
        }
    }

    /// Whether the kernel follows paths of kinetic Langevin dynamics. No method that knows such a
    /// path by N values of the gradient and N integrals of the Brownian path, however chosen and
    /// randomised, comes nearer to it in root mean square than a multiple of √d N^(−3/2), for every
    /// potential with a Lipschitz gradient (Cao, Lu and Wang 2020): d^(1/3) ε^(−2/3) gradients.
    /// Kernels do better where the potential is smoother, or where only laws are compared.
    #[must_use]
    pub fn is_kinetic(self) -> bool {
        match self {
            Self::Klmc
            | Self::Ubu
            | Self::Baoab
            | Self::RandomizedMidpoint
            | Self::Quicsort
            | Self::Should
            | Self::Align => true,
            Self::ThirdOrder
            | Self::Symmetric
            | Self::Averaged
            | Self::Ula
            | Self::Hmc
            | Self::Adjusted
            | Self::Subsampled => false,
        }
    }
}
