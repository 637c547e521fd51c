//! Simulation-based calibration of likelihoods with parameters of their own, with planted errors
//! that it must detect: `cargo run --release -p ridgewalk-benches --bin calibrate-families`.
//!
//! Uses 1,000 data sets per model by default. Writes docs/results/calibration-families.csv with
//! every test. Fails if the correct posterior is rejected, if a run ends with an error, or if a
//! planted error is not detected. Results do not depend on the number of threads.

use std::process::ExitCode;

use ridgewalk_benches::Failure;
use ridgewalk_benches::calibration::families::{FamilyModel, Misfit};
use ridgewalk_benches::calibration::study::{self, Planted, StudySize};

/// Planted errors, each with the model that must detect it.
const PLANTED: [Planted<FamilyModel>; 5] = [
    ("Jacobian of log sigma forgotten", FamilyModel::NormalFewRows, Misfit::Jacobian(0)),
    ("Jacobian of log nu forgotten", FamilyModel::StudentT, Misfit::Jacobian(1)),
    ("prior rate +30 %", FamilyModel::NegativeBinomial, Misfit::Rate(1.3)),
    ("censored rows as events", FamilyModel::Weibull, Misfit::CensoredAsEvents),
    ("intervals as events", FamilyModel::LogLogistic, Misfit::CensoredAsEvents),
];

fn main() -> Result<ExitCode, Failure> {
    let size = StudySize { rows: 30, replications: 1000, draws: 127 };
    study::run(size, &PLANTED, "calibration-families.csv")
}
