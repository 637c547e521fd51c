//! The program as a single MPI process. `scripts/checks/mpi` has the other tests.

use std::process::Command;

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_ridgewalk-mpi"));
    let output = program.args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_program_runs_without_mpirun() {
    let (code, out, _) = run(&["--version"]);
    assert_eq!((code, out.trim()), (Some(0), concat!("ridgewalk-mpi ", env!("CARGO_PKG_VERSION"))));
    let (code, out, err) =
        run(&["fit", "no-such-file.csv", "--response", "y", "--row-shards", "2"]);
    assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
    assert_eq!(err.trim(), "error: --row-shards 2: need a divisor of the number of processes, 1");
    let (code, _, err) = run(&["fit", "no-such-file.csv", "--response", "y"]);
    assert!(
        code == Some(2) && err.lines().count() == 1 && err.contains("no-such-file.csv"),
        "{err}"
    );
}
