//! The program `ridgewalk`. The code is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ridgewalk_cli::main()
}
