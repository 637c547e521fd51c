//! What a warm-up decided, with the figures it decided by.

use std::fmt;

use ridgewalk_lyapunov::laws::Scheme;

use super::bias::Bias;

/// One step of a warm-up.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Decision {
    /// The mode was found.
    Mode {
        /// In how many iterations.
        iterations: usize,
        /// With this gradient left.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        gradient_norm: f64,
    },
    /// A short run showed how wide the posterior is beside what its coordinates say.
    Pilot {
        /// Draws of all chains.
        draws: u64,
        /// The standard deviation in the widest direction: 1 if it is not clearly wider.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        widest: f64,
        /// The standard deviation in the narrowest direction: 1 if it is not clearly narrower.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        narrowest: f64,
    },
    /// Coordinates were made anew.
    Rewhitened {
        /// The number of Hessians they are the mean of; 0: from the spread of the pilot.
        hessians: usize,
    },
    /// Single steps that rotate were too short for a nearly normal posterior.
    NotNormal {
        /// Their length.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        eta: f64,
    },
    /// The acceptance far out was looked at.
    FarOut {
        /// The mean probability with which trajectories were accepted there.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        acceptance: f64,
        /// How often steps will be shorter.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        short: f64,
    },
    /// A step size was tried.
    Tried {
        /// The kernel and its parameters.
        #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::scheme"))]
        scheme: Scheme,
        /// Its bias.
        bias: Bias,
        /// Effective draws per gradient, as the exact laws predict them for these eigenvalues.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        efficiency: f64,
        /// Whether the bias is within the tolerance.
        accepted: bool,
    },
    /// Trajectories were tried.
    Trajectories {
        /// Their parameters.
        #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::scheme"))]
        scheme: Scheme,
        /// The mean probability with which they were accepted.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        acceptance: f64,
        /// How many diverged.
        divergences: u64,
        /// Effective draws per gradient, by the autocorrelation that was seen.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        efficiency: f64,
    },
    /// Moves that are decided by a few rows were tried.
    Subsampled {
        /// Their angle.
        #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::scheme"))]
        scheme: Scheme,
        /// The rows that one looks at in the mean.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        rows: f64,
        /// The share that was accepted.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        acceptance: f64,
        /// The same far out.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        far: f64,
    },
    /// The target gives no values, so no kernel for it is exact.
    NoValues {
        /// The bias that is allowed instead, in standard deviations.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        tolerance: f64,
    },
    /// A run failed a check. It begins again with shorter steps, after a lead-in.
    Repaired {
        /// The name of the [`Warning`](super::Warning).
        why: String,
        /// The kernel and its new parameters.
        #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::scheme"))]
        scheme: Scheme,
    },
    /// Draws are kept more often than they are independent, so that the run comes to an end.
    Capped {
        /// Steps after which a draw would be nearly independent of the last.
        wanted: u64,
        /// Every how many steps there will be one.
        thin: u64,
    },
    /// What will be used.
    Chosen {
        /// The kernel and its parameters.
        #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::scheme"))]
        scheme: Scheme,
        /// Every how many steps there is a draw.
        thin: u64,
    },
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mode { iterations, gradient_norm } => {
                write!(f, "mode after {iterations} iterations, gradient {gradient_norm:.1e}")
            }
            Self::Pilot { draws, widest, narrowest } => {
                write!(
                    f,
                    "pilot of {draws} draws: {narrowest:.2} to {widest:.2} times as wide as the coordinates say"
                )
            }
            Self::NotNormal { eta } => write!(
                f,
                "not nearly normal: rotations are accepted up to {eta:.2} of a quarter turn of 1.57"
            ),
            Self::FarOut { acceptance, short } => write!(
                f,
                "far out {:.0} % of the trajectories are accepted: {:.1} % are made with shorter steps",
                100.0 * acceptance,
                100.0 * short
            ),
            Self::Rewhitened { hessians: 0 } => {
                f.write_str("coordinates from the spread of the pilot")
            }
            Self::Rewhitened { hessians } => {
                write!(f, "coordinates from the mean of {hessians} Hessians along the pilot")
            }
            Self::Tried { scheme, bias, efficiency, accepted } => {
                tried(f, scheme, bias, *efficiency, *accepted)
            }
            Self::Trajectories { scheme, acceptance, divergences, efficiency } => {
                write!(
                    f,
                    "{} trajectories of {} at step {:.3}: {:.0} % accepted, {divergences} divergences; {efficiency:.2} effective draws per \
                     gradient",
                    scheme.name(),
                    counted(scheme),
                    scheme.eta(),
                    100.0 * acceptance
                )
            }
            Self::Subsampled { scheme, rows, acceptance, far } => write!(
                f,
                "moves by {:.2} decided by a few rows: some {rows:.1} rows each, {:.0} % accepted, {:.0} % \
                 far out",
                scheme.eta(),
                100.0 * acceptance,
                100.0 * far
            ),
            Self::NoValues { tolerance } => {
                write!(
                    f,
                    "not exact: the target gives gradients and no values, so a bias of up to {tolerance} sd is allowed"
                )
            }
            Self::Repaired { why, scheme } => {
                write!(
                    f,
                    "the run failed the check `{why}` and is made again: {} trajectories of {} at step {:.3}",
                    scheme.name(),
                    counted(scheme),
                    scheme.eta()
                )
            }
            Self::Capped { wanted, thin } => write!(
                f,
                "draws stay correlated: independent ones would take {wanted} steps each, and a draw is \
                 kept every {thin}"
            ),
            Self::Chosen { scheme, thin } => chosen(f, scheme, *thin),
        }
    }
}

fn chosen(f: &mut fmt::Formatter<'_>, scheme: &Scheme, thin: u64) -> fmt::Result {
    let (name, eta) = (scheme.name(), scheme.eta());
    if scheme.trajectory().is_none() {
        return write!(f, "chosen: {name} at step {eta:.3}, a draw every {thin} steps");
    }
    let steps = counted(scheme);
    write!(
        f,
        "chosen: {name} trajectories of {steps} at step {eta:.3}, a draw every {thin} of them"
    )
}

fn tried(
    f: &mut fmt::Formatter<'_>, scheme: &Scheme, bias: &Bias, efficiency: f64, accepted: bool,
) -> fmt::Result {
    write!(
        f,
        "{} at step {:.3}: bias of means {:.3} ± {:.3} sd, of sds {:.1} ± {:.1} %, of quantiles \
         {:.3} ± {:.3} sd; {efficiency:.2} effective draws per gradient: {}",
        scheme.name(),
        scheme.eta(),
        bias.mean,
        bias.mean_error,
        100.0 * bias.sd,
        100.0 * bias.sd_error,
        bias.quantile,
        bias.quantile_error,
        if accepted { "accepted" } else { "too biased" }
    )
}

fn counted(scheme: &Scheme) -> String {
    match scheme.gradients_per_step() {
        1 => "1 step".to_owned(),
        steps => format!("{steps} steps"),
    }
}
