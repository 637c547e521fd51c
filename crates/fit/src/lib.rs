//! The pipeline of a fit: a table and [`Settings`] in; draws, a summary and its verdict out.
//!
//! ```text
//! read → frame → model → warm-up → sample → conclude
//! ```
//!
//! Each stage is a function with an input and an output type, in its own file: [`Settings`]
//! (and [`Settings::read`]), [`ridgewalk_frame::Frame`], [`Model`], [`warm_up`],
//! [`sample`](mod@sample), [`Finished::conclude`]. [`fit()`] runs them one after the other and
//! keeps the draws in memory. A run directory (`ridgewalk-store`), a resumed run and a run by
//! several processes combine the same stages in their own way.
//!
//! ```
//! use ridgewalk_fit::{Settings, fit};
//! use ridgewalk_frame::{Column, FamilyName, Table};
//!
//! let hours = [0.5, 1.0, 1.5, 1.75, 2.0, 2.5, 3.0, 3.25, 4.0, 4.25, 4.75, 5.5];
//! let passed = [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0];
//! let columns = vec![Column::from_numbers("hours", &hours), Column::from_numbers("passed", &passed)];
//! let table = Table::from_columns("study", columns)?;
//! let fit = fit(&table, &Settings { seed: 1, ..Settings::new("passed", FamilyName::Logistic) })?;
//! assert_eq!(fit.names(), ["(Intercept)", "hours"]);
//! let slope = fit.parameter("hours").ok_or("no such coefficient")?;
//! assert!((1.4..1.9).contains(&slope.mean) && fit.warnings().is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! After the fit: [`Predictor`] predicts new rows and average effects, [`loo`] and [`compare`] say how
//! well fits predict rows that they have not seen, [`Checks`] compare the model with its data.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr, clippy::exit))]

mod auxiliary;
mod checks;
mod command;
mod conclude;
mod config;
mod data;
mod describe;
mod dispersion;
mod document;
mod draws;
mod error;
mod excursion;
mod exposure;
mod fit;
mod group_layout;
mod groups;
mod loo;
mod memory;
mod model;
mod noise;
mod observer;
mod predict;
mod prior;
mod prior_checks;
mod prior_text;
mod priors;
mod ratio;
mod reading;
mod rows;
pub mod sample;
mod scale;
mod settings;
mod verdict;
pub mod warm_up;
mod words;

pub use auxiliary::Auxiliary;
pub use checks::{
    CalibrationGroup, Checks, Densities, FrequencyCheck, GroupCheck, LooCheck, Roc, StatisticCheck,
    SurvivalCheck,
};
pub use command::command;
pub use conclude::{Finished, conclude_prior};
pub use config::{Config, DataConfig, ProcessesConfig, Resolved};
pub use data::{Data, PackedData, check_memory, prepare_data};
pub use describe::{Described, DescribedGroup, DesignColumn, ModelDescription, PriorOf, describe};
pub use document::{
    BiasDetails, Fact, Parameter, ProblemFacts, SamplerFacts, SummaryDocument, Text, Trajectories,
    WarningEntry,
};
pub use draws::{DrawReader, TakeColumns, TakePoint};
pub use error::{Error, ErrorKind, NoiseError};
pub use excursion::{Values, excursion};
pub use fit::{Fitted, fit, fit_watched, in_threads, prepare, start};
pub use group_layout::{DrawsArray, GroupSummary};
pub use groups::{GroupNames, GroupPriors, GroupPriorsText, Groups};
pub use loo::{
    Compared, Comparison, LeftOutGroups, LooDocument, LooMethod, LooOptions, LooProgress, Observed,
    Responses, compare, folds, loo, loo_of,
};
pub use memory::{Memory, MemoryPlan, UnknownMemory};
pub use model::{Curvatures, Model, Posterior};
pub use observer::{Observer, Stage};
pub use predict::{
    CurvePoint, Effect, Effects, EffectsRequest, Law, PredictionKind, PredictionRequest,
    Predictions, Predictor, Summarized, unknown_columns, unseen_levels,
};
pub use prior::{prior_draws, sample_prior};
pub use prior_text::{Kind, PriorText};
pub use priors::{ModelPriors, PriorError, Priors};
pub use ratio::Ratio;
pub use reading::{Reading, ReportedPrior};
pub use ridgewalk_frame::{FamilyName, SmoothGrid};
pub use ridgewalk_potentials::Rows;
pub use rows::FitRows;
pub use scale::Rescaling;
pub use settings::{
    DEFAULT_INTERVAL, KernelChoice, SearchChoice, Settings, UnknownKernel, UnknownSearch,
    validate_interval,
};
pub use warm_up::Warm;
