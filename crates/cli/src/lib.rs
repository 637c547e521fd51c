//! The program `ridgewalk`: reads its arguments, calls the library, writes what came out.
//!
//! Results go to standard output, everything else to standard error. Exit codes are a promise to
//! scripts: 0 done, 1 the run failed, 2 wrong usage or wrong data, 3 refuted or not certified, 130
//! stopped by a signal with everything so far kept.
//!
//! The parts that programs of other people may want are public: [`data`] reads files as
//! `ridgewalk fit` does and says what is wrong with them, [`mod@run`] writes and reads run
//! directories.
//!
//! ```
//! use ridgewalk_cli::data::Table;
//!
//! let table = Table::from_bytes("wells.csv", b"switched;dist\n1;0.17\n0;0.47\n1;0.21\n")?;
//! assert_eq!((table.rows(), table.columns().len()), (3, 2));
//! let wrong = Table::from_bytes("wells.csv", b"switched;dist\n1;0.17\n0\n").unwrap_err();
//! assert!(wrong.to_string().starts_with("wells.csv, line 3: found 1 field"));
//! # Ok::<(), ridgewalk_cli::data::DataError>(())
//! ```

#![cfg_attr(
    not(test),
    warn(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::print_stdout,
        clippy::print_stderr,
        clippy::exit
    )
)]

mod arguments;
mod certify;
mod coefficients;
pub mod data;
mod failure;
pub mod fit;
mod lab;
mod output;
mod plan;
mod plot;
mod processes;
pub mod run;
mod verify;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use ridgewalk::potentials::peers::Peers;

use arguments::{Arguments, Command, SharedArguments, SharedCommand};
use processes::Processes;

/// Reads the arguments of the process, does what they say, and gives the exit code.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.command {
        Command::Coefficients(options) => coefficients::run(&options),
        Command::Verify(options) => verify::run(&options),
        Command::Certify(options) => certify::run(&options),
        Command::Lab(options) => lab::run(&options),
        Command::Plan(options) => plan::run(&options),
        Command::Fit(options) => fit::run(&options),
        Command::Resume(options) => fit::resume::run(&options),
        Command::Summary(options) => fit::again::summary(&options),
        Command::Report(options) => fit::again::report(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.tell(),
    }
}

/// What `ridgewalk-mpi` does: `fit` and `resume` as one of several processes, which all call this
/// with the same arguments. The first one talks; all give the same exit code.
#[must_use]
pub fn main_of(all: &Arc<dyn Peers>) -> ExitCode {
    let first = all.rank() == 0;
    let arguments = match SharedArguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            if first {
                // Standard error may be closed; the exit code still tells.
                let _ = error.print();
            }
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let done = agree_on_arguments(all).and_then(|()| match arguments.command {
        SharedCommand::Fit(shared) => fit::shared::run(all, &shared.options, shared.row_shards),
        SharedCommand::Resume(options) => fit::resume::run_shared(all, &options),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if first => failure.tell(),
        Err(failure) => ExitCode::from(failure.code()),
    }
}

/// An error unless all processes are one program and were asked for the same.
fn agree_on_arguments(all: &Arc<dyn Peers>) -> Result<(), failure::Failure> {
    let together = Processes::grid(Arc::clone(all), 1)?;
    together.same(
        "the version",
        env!("CARGO_PKG_VERSION"),
        "one version of the program everywhere",
    )?;
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    together.same("the command", &format!("`{}`", words.join(" ")), "the same everywhere")
}
