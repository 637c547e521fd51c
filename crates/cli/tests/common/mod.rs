//! Running the program as users do. Each test file uses only a part, so unused items are allowed.

#![allow(dead_code, unreachable_pub)]

pub mod fits;

use std::process::{Command, Output};

use serde_json::Value;

/// Runs `ridgewalk` with these arguments.
pub fn ridgewalk(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ridgewalk")).args(arguments).output().unwrap()
}

/// Runs it with `--json`; returns the document and the exit code.
pub fn json(arguments: &[&str]) -> (Value, Option<i32>) {
    let output = ridgewalk(&[arguments, &["--json"]].concat());
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    (serde_json::from_slice(&output.stdout).unwrap(), output.status.code())
}

/// Runs it with invalid arguments: exit code 2, nothing on standard output, and `message` on
/// standard error.
pub fn refused(arguments: &[&str], message: &str) {
    let output = ridgewalk(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty());
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains(message), "{arguments:?} said {text}");
}

/// Runs every example in a subcommand's help.
pub fn examples_run(subcommand: &str) {
    let help = String::from_utf8(ridgewalk(&[subcommand, "--help"]).stdout).unwrap();
    let examples: Vec<&str> =
        help.lines().filter_map(|line| line.trim().strip_prefix("ridgewalk ")).collect();
    assert!(!examples.is_empty(), "{help}");
    for example in examples {
        let words: Vec<&str> = example.split(' ').collect();
        assert!(ridgewalk(&words).status.success(), "{example}");
    }
}
