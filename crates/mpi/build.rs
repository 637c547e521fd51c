//! Reports a missing MPI library in one line, before its bindings do so in forty.

use std::process::{Command, Stdio};

fn main() {
    println!("cargo::rerun-if-env-changed=PATH");
    println!("cargo::rerun-if-env-changed=MPICC");
    if std::env::var_os("CARGO_FEATURE_MPI").is_none() {
        return;
    }
    let compiler = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".to_owned());
    let found = Command::new(&compiler)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if found.is_err() {
        println!(
            "cargo::error=MPI library not found: need `{compiler}` and libclang (Debian: apt-get install libopenmpi-dev \
             openmpi-bin libclang-dev)"
        );
    }
}
