//! Errors: bad arguments, and what ends a whole run. A chain that fails is not an error but a
//! status.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sink::SinkError;

/// Why a kernel cannot be made, a step cannot be taken or a run cannot be started or finished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A count that must be at least 1 is 0.
    #[error("{what} = 0: need at least 1")]
    Zero {
        /// Of what.
        what: Quantity,
    },
    /// More chains, steps or draws than can be counted or stored.
    #[error("{what}: too many to be counted or stored")]
    TooMany {
        /// Of what.
        what: Quantity,
    },
    /// A list has the wrong number of entries.
    #[error("{what} has {got} entries: need {need}")]
    Length {
        /// Which list.
        what: &'static str,
        /// How many entries it has.
        got: usize,
        /// How many it must have.
        need: usize,
    },
    /// A start that is not a point.
    #[error("start of chain {chain}, coordinate {coordinate}: found {value}, need a finite number")]
    Start {
        /// The chain.
        chain: usize,
        /// The coordinate.
        coordinate: usize,
        /// What it was.
        value: f64,
    },
    /// A kernel whose steps of two lengths cannot be put on one path.
    #[error("no coupling of step sizes for the kernel `{name}`")]
    NoCoupling {
        /// Its name.
        name: &'static str,
    },
    /// A count that is too small for what is asked.
    #[error("{got} {what}: need at least {need}")]
    TooFew {
        /// Of what.
        what: Quantity,
        /// How many there are.
        got: usize,
        /// How many there must be.
        need: usize,
    },
    /// A step size at which no friction makes a kernel stable.
    #[error(
        "eta = {eta}: need a shorter step; no gamma and xi make this one stable in the kernel `{name}`"
    )]
    NoStableStep {
        /// The kernel.
        name: &'static str,
        /// The step size.
        eta: f64,
    },
    /// A search for the minimum of U that ended where U does not curve up.
    #[error(
        "U has no minimum where its search ended: coordinate {coordinate} is {at:.3e} there, and the \
         curvature along it {curvature:.3e}. U is minus the log density, and its gradient minus that \
         of the log density: check the sign; a flat density needs a prior"
    )]
    NoMinimum {
        /// A coordinate.
        coordinate: usize,
        /// Where the search ended.
        at: f64,
        /// The second derivative.
        curvature: f64,
    },
    /// Values and gradients that are not of one function.
    #[error(
        "the value and the gradient do not belong together: over a step of {step:e} along the gradient \
         at the start the value changes by {found:.3e}, and by its gradient it should change by \
         {need:.3e}. Both are of minus the log density: check their signs, or see `check_gradient`"
    )]
    OtherGradient {
        /// The length of a step along the gradient.
        step: f64,
        /// How much the value changes.
        found: f64,
        /// How much it should change.
        need: f64,
    },
    /// The callback for progress panicked. (In a program built with `panic = "abort"` the program
    /// has ended instead.)
    #[error("the callback for progress panicked: {message}")]
    Callback {
        /// The panic's message, if it was text.
        message: String,
    },
    /// The stop signal came during the warm-up.
    #[error("stopped during the warm-up")]
    Stopped,
    /// The short run of a warm-up failed.
    #[error("the pilot run of the warm-up failed: {why}")]
    Pilot {
        /// Why.
        why: String,
    },
    /// The potential panicked outside the steps of a chain. (In a program built with
    /// `panic = "abort"` the program has ended instead.)
    #[error("the gradient panicked: {message}")]
    Panic {
        /// The panic's message, if it was text.
        message: String,
    },
    /// A saved state that is cut, changed, of another version or of another run.
    #[error("the saved {what} cannot be used: found {found}, need {need}")]
    Saved {
        /// What it was expected to be.
        what: SavedKind,
        /// What it is.
        found: String,
        /// What would do.
        need: String,
    },
    /// The draws of a pilot could not be summarised.
    #[error(transparent)]
    Diagnostics(#[from] ridgewalk_diagnostics::Error),
    /// A snapshot whose chains have not made the same number of steps.
    #[error("a chain of the snapshot has made {got} steps: need {need}, as the others")]
    Snapshot {
        /// Steps of that chain.
        got: u64,
        /// Steps of the snapshot.
        need: u64,
    },
    /// An ensemble that was made for another run than this one.
    #[error("an ensemble of {got} chains: need {need}")]
    Ensemble {
        /// How many chains it has.
        got: usize,
        /// How many the run has.
        need: usize,
    },
    /// The sink could not take a draw. Those before it were taken; the caller owns the sink and
    /// what is in it.
    #[error("the sink failed after {kept} draws of all chains were kept: {source}")]
    Sink {
        /// Draws of all chains that were kept in this run before.
        kept: u64,
        /// Why, in the sink's words.
        source: SinkError,
    },
    /// No thread could be started for a [`Job`](crate::Job).
    #[error("no thread for the job: {source}")]
    Thread {
        /// Why.
        source: std::io::Error,
    },
    /// A run that continues another with draws at other distances.
    #[error("thin = {got}: need {need} as in the run before, or begin anew")]
    Thin {
        /// Steps from one draw to the next.
        got: u64,
        /// Those of the run before.
        need: u64,
    },
    /// Another process of the [`Team`](crate::Team) has failed, and reports why.
    #[error("another process of the run has failed")]
    Elsewhere,
    /// γ, ξ, η or L is not usable.
    #[error(transparent)]
    Coefficients(#[from] ridgewalk_coefficients::Error),
    /// A kernel's parameter is not usable.
    #[error(transparent)]
    Scheme(#[from] ridgewalk_lyapunov::Error),
    /// A quadrature rule could not be made.
    #[error(transparent)]
    Quadrature(#[from] ridgewalk_quadrature::Error),
    /// The potential could not be evaluated.
    #[error(transparent)]
    Potential(#[from] ridgewalk_potentials::Error),
}

/// Something that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quantity {
    /// Chains.
    Chains,
    /// Draws of each chain.
    Draws,
    /// Steps from one draw to the next.
    Thin,
    /// Steps of a run.
    Steps,
    /// Coordinates of a state.
    Dimension,
    /// Chains that take their steps together.
    Width,
    /// Numbers in a batch of states.
    Entries,
    /// Normals per coordinate and step.
    Normals,
    /// Rounds of a search for a step size.
    Rounds,
    /// Kernels to choose from.
    Kernels,
    /// Values of γ and ξ to choose from.
    Frictions,
    /// Blocks of steps in which a difference is measured.
    Blocks,
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Chains => "chains",
            Self::Draws => "draws",
            Self::Thin => "thin",
            Self::Steps => "steps",
            Self::Dimension => "dimension",
            Self::Width => "width",
            Self::Entries => "entries of a batch",
            Self::Normals => "normals",
            Self::Rounds => "rounds",
            Self::Kernels => "kernels",
            Self::Frictions => "choices of gamma and xi",
            Self::Blocks => "blocks of steps",
        })
    }
}

/// What a saved state is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SavedKind {
    /// Chains with their states and random streams.
    Ensemble,
    /// A run on its way.
    Run,
    /// What a warm-up found.
    WarmUp,
    /// A part of one of these.
    State,
}

impl fmt::Display for SavedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ensemble => "ensemble",
            Self::Run => "run",
            Self::WarmUp => "warm-up",
            Self::State => "state",
        })
    }
}

/// An error unless a list has the right length.
pub(crate) fn length(what: &'static str, got: usize, need: usize) -> Result<(), Error> {
    if got == need { Ok(()) } else { Err(Error::Length { what, got, need }) }
}

/// `value` if it is positive and finite.
pub(crate) fn positive(name: &'static str, value: f64) -> Result<f64, Error> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(ridgewalk_coefficients::Error::NotPositive { name, value }.into())
    }
}

/// What a panic said.
pub(crate) fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

/// What `work` returns, or what its panic said. It belongs to a user: what it leaves half done is
/// its own.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| panic_message(&*payload))
}

/// Does some work, and gives a panic in it as an error. What the work has made so far must be its
/// own: it is dropped.
pub(crate) fn catching<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|payload| Err(Error::Panic { message: panic_message(&*payload) }))
}
