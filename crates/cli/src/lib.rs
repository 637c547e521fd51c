//! The program `ridgewalk`: reads its arguments, calls the library, prints the results.
//!
//! Results go to standard output, everything else to standard error. Exit codes are stable, for
//! scripts: 0 done, 1 the run failed, 2 wrong usage or wrong data, 3 refuted or not certified, 130
//! stopped by a signal, with everything so far kept.
//!
//! [`fit`], [`failure`] and [`signals`] are public for other programs with the same options and messages.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr, clippy::exit))]

mod after;
mod arguments;
mod certify;
mod coefficients;
mod describe;
pub mod failure;
pub mod fit;
mod lab;
mod numbers;
mod output;
mod pack;
mod plan;
mod plot;
pub mod signals;
mod verify;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};

/// Runs the command line of the process and returns the exit code.
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
        Command::Describe(options) => describe::run(&options),
        Command::Pack(options) => pack::run(&options),
        Command::Predict(options) => after::predict::run(&options),
        Command::Effects(options) => after::effects::run(&options),
        Command::Loo(options) => after::loo::run(&options),
        Command::Compare(options) => after::compare::run(&options),
        Command::Export(options) => after::export::run(&options),
        Command::Resume(options) => fit::resume(&options),
        Command::Summary(options) => fit::summary::summary(&options),
        Command::Report(options) => fit::summary::report(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
