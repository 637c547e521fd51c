//! The program `ridgewalk`. Everything it does is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    ridgewalk_cli::main()
}
