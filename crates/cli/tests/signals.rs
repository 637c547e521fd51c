//! Signals: those that were ignored at the start, and runs that do not look at them in time.

#![cfg(unix)]

use std::fmt::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::fits::{Place, ctrl_c};
use crate::resume::{Dice, Phase, plain, reach, signal, spawn, text};

/// `nohup`, and jobs that a script runs in the background: what was ignored at the start stays ignored,
/// and other signals end the run as ever.
#[test]
fn signals_that_were_ignored_at_the_start_stay_ignored() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_ridgewalk");
    let started = |name: &str, ignored: &str| {
        let script = format!("trap '' {ignored}; exec {program} fit {} --out {name}", plain());
        let mut command = Command::new("sh");
        command.args(["-c", &script]).current_dir(place.path("."));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        reach(&mut child, &place.path(name), Phase::Sampling);
        child
    };
    for (name, ignored, sent) in [("hup", "HUP", "-HUP"), ("int", "INT", "-INT")] {
        let child = started(name, ignored);
        signal(&child, sent);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{name}: {}", text(&output));
    }
    let child = started("ended", "HUP");
    signal(&child, ctrl_c());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output));
    assert!(text(&output).contains("stopping..."), "{}", text(&output));
}

/// A search for the mode, and all else that does not look at the signal, is ended after two seconds.
/// The run can be resumed, or was not begun.
#[test]
fn a_run_that_does_not_look_at_the_signal_is_ended() {
    let place = Place::new();
    let header: Vec<String> = (0..600).map(|k| format!("x{k}")).collect();
    let mut data = format!("y,{}\n", header.join(","));
    let mut dice = Dice(4);
    for _ in 0..1500 {
        let x: Vec<String> = (0..600).map(|_| format!("{:.2}", dice.roll() - 0.5)).collect();
        writeln!(data, "{},{}", u8::from(dice.roll() < 0.5), x.join(",")).unwrap();
    }
    place.file("wide.csv", &data);
    let directory = place.path("run");
    let mut child = spawn(&place, "fit wide.csv --response y --draws 5000 --out run");
    reach(&mut child, &directory, Phase::WarmUp);
    let began = Instant::now();
    signal(&child, ctrl_c());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output));
    // Two seconds, and as much for a busy machine.
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert!(text(&output).contains("stopping..."), "{}", text(&output));
    assert!(text(&output).contains("`ridgewalk resume run`"), "{}", text(&output));
    assert!(directory.join("checkpoint").exists());
}
