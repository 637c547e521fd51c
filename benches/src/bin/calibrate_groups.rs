//! Simulation-based calibration of mixed models, with planted errors that it must detect:
//! `cargo run --release -p ridgewalk-benches --bin calibrate-groups`.
//!
//! Uses 500 data sets per model by default. Writes docs/results/calibration-groups.csv with every
//! test. Fails if the correct sampler is rejected, if a run ends with an error, or if a planted
//! error is not detected. Results do not depend on the number of threads.

use std::process::ExitCode;

use ridgewalk_benches::Failure;
use ridgewalk_benches::calibration::groups::{GroupMisfit, GroupModel};
use ridgewalk_benches::calibration::study::{self, Planted, StudySize};

/// Planted errors, each with the model that must detect it. 500 data sets find only large errors of
/// acceptance; `calibrate`, whose models have more data sets, finds one of 2 %.
const PLANTED: [Planted<GroupModel>; 4] = [
    ("Jacobian of log sd twice", GroupModel::Logistic, GroupMisfit::JacobianTwice),
    ("prior rate x 2", GroupModel::LogisticCrossed, GroupMisfit::Rate(2.0)),
    ("Jacobian of log sd twice", GroupModel::PoissonCrossed, GroupMisfit::JacobianTwice),
    ("acceptance -30 %", GroupModel::PoissonCrossed, GroupMisfit::Acceptance(0.7)),
];

fn main() -> Result<ExitCode, Failure> {
    let size = StudySize { rows: 48, replications: 500, draws: 127 };
    study::run(size, &PLANTED, "calibration-groups.csv")
}
