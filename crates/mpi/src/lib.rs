//! `fit` and `resume` by several processes: the stages of a fit, with agreement checks between
//! them.
//!
//! Every process calls [`run`] with the same arguments. They share the chains, the rows, or both;
//! docs/distributed.md explains how. They communicate through [`Peers`]: MPI in the program
//! `ridgewalk-mpi`, threads in tests.

mod arguments;
mod fit;
mod processes;
pub mod step;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use ridgewalk::potentials::peers::Peers;
use ridgewalk_cli::failure::Failure;

use arguments::{Arguments, Command};
use processes::Processes;

/// Runs the command line as one of several processes. Only the first one prints; all return the
/// same exit code.
#[must_use]
pub fn run(all: &Arc<dyn Peers>) -> ExitCode {
    let first = all.rank() == 0;
    // Before arguments are parsed: a process that cannot parse its own must not leave the others
    // waiting. With the same version and the same arguments, all succeed or none does.
    let parsed = match agree_on_arguments(all) {
        Ok(()) => Ok(Arguments::try_parse()),
        Err(failure) => Err(failure),
    };
    let done = match parsed {
        Ok(Ok(Arguments { command: Command::Fit(shared) })) => {
            fit::fit(all, &shared.options, shared.row_shards)
        }
        Ok(Ok(Arguments { command: Command::Resume(options) })) => fit::resume(all, &options),
        Ok(Err(error)) => {
            if first {
                // Standard error may be closed; the exit code still reports the failure.
                let _ = error.print();
            }
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
        Err(failure) => Err(failure),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if first => failure.report(),
        Err(failure) => ExitCode::from(failure.code()),
    }
}

/// Checks that all processes run the same version with the same arguments.
fn agree_on_arguments(all: &Arc<dyn Peers>) -> Result<(), Failure> {
    let together = Processes::grid(Arc::clone(all), 1)?;
    let version = env!("CARGO_PKG_VERSION");
    together.same("the version", version, "one version of the program everywhere")?;
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    together.same("the command", &format!("`{}`", words.join(" ")), "the same everywhere")
}
