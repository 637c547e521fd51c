//! Sampling any log density: warm-up, draws and diagnostics, without parameters.

use std::sync::atomic::Ordering;
use std::time::Instant;

use numpy::{PyArray3, PyReadonlyArray3};
use pyo3::prelude::*;
use ridgewalk::Settings;
use ridgewalk::pipeline::{Parameter, WarningEntry, in_threads};
use ridgewalk::sampler::automatic::{BlackBox, Length, Sampled, WarmUp};
use ridgewalk::sampler::{self, Draws};
use serde_json::json;

use crate::density::Density;
use crate::errors::{failed, input, of_fit, of_sampler};
use crate::fit::{draws_array, draws_of, stats_array};
use crate::foreign::Compiled;
use crate::watch::{Watch, watched};

/// Nodes of line integrals, which the exact kernel does not use.
const NODES: usize = 3;

/// Draws of a density.
#[pyclass(frozen, module = "ridgewalk._ridgewalk")]
#[derive(Debug)]
pub(crate) struct Samples {
    draws: Draws,
    document: String,
}

#[pymethods]
impl Samples {
    #[getter]
    fn names(&self) -> Vec<String> {
        self.draws.names().to_vec()
    }

    fn draws<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        draws_array(py, &self.draws)
    }

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray3<f64>>>> {
        stats_array(py, &self.draws)
    }

    /// Summary, warnings and facts, as JSON with the keys of `summary.json`.
    fn document(&self) -> &str {
        &self.document
    }
}

/// Samples from their parts.
#[pyfunction]
pub(crate) fn restore_samples(
    names: Vec<String>, document: String, draws: PyReadonlyArray3<'_, f64>,
    stats: Option<PyReadonlyArray3<'_, f64>>,
) -> PyResult<Samples> {
    Ok(Samples { draws: draws_of(names, &draws, stats.as_ref())?, document })
}

/// What to do with a density.
struct Question {
    density: Density,
    start: Vec<f64>,
    names: Vec<String>,
    chains: usize,
    length: Length,
    seed: u64,
    threads: Option<usize>,
}

/// Draws of a log density, given as a Python function or as the address of a compiled one. Returns
/// the samples, None if there are none, and the exception of the function, if it raised one.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "checked and given names in Python")]
pub(crate) fn sample(
    py: Python<'_>, function: Option<Py<PyAny>>, address: Option<usize>, vectorized: bool,
    start: Vec<f64>, names: Vec<String>, chains: usize, draws: u64, target_ess: Option<f64>,
    max_draws: u64, seed: u64, threads: Option<usize>, show: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Option<Samples>, Option<PyErr>)> {
    let dimension = start.len();
    let density = match (function, address.and_then(Compiled::at)) {
        (Some(function), _) => Density::python(function, dimension, vectorized),
        (None, Some(function)) => Density::compiled(function, dimension),
        (None, None) => return Err(input("found no function, need one")),
    };
    let settings = Settings { chains, draws, target_ess, max_draws, ..Settings::default() };
    settings.validate().map_err(of_fit)?;
    // Python runs one call at a time: one thread, and all chains in one call where that is possible.
    let threads = if density.is_compiled() { threads } else { Some(1) };
    let length = settings.length();
    let question = Question { density, start, names, chains, length, seed, threads };
    let density = question.density.clone();
    let began = Instant::now();
    let (draws, outcome) = watched(py, show, move |watch| question.answer(watch))?;
    let raised = density.raised();
    let seconds = began.elapsed().as_secs_f64();
    match outcome {
        Ok((sampled, warm)) if draws.common() > 0 => {
            let document = document(&draws, &sampled, &warm, seconds)?;
            Ok((Some(Samples { draws, document }), raised))
        }
        Ok(_) if raised.is_some() => Ok((None, raised)),
        Ok(_) => {
            Err(failed("no chain made a draw: the density is 0 or not finite where chains go"))
        }
        Err(_) if raised.is_some() => Ok((None, raised)),
        Err(error) => Err(of_sampler(error)),
    }
}

/// Facts of a warm-up.
struct Warmed {
    kernel: &'static str,
    thin: u64,
    gradients: u64,
    history: Vec<String>,
}

impl Question {
    /// The draws so far, whatever ended the run.
    fn answer(self, watch: &Watch) -> (Draws, Result<(Sampled, Warmed), sampler::Error>) {
        let settings = Settings { threads: self.threads, ..Settings::default() };
        let mut draws = Draws::named(&self.names);
        let into = &mut draws;
        let outcome = in_threads(&settings, move || {
            if self.density.is_compiled() {
                return self.run(watch, into);
            }
            // One state of the interpreter for the thread that calls Python, not one for each call.
            Python::attach(|py| py.detach(|| self.run(watch, into)))
        });
        match outcome {
            Ok(outcome) => (draws, outcome),
            Err(error) => (draws, Err(sampler::Error::Sink { kept: 0, source: Box::new(error) })),
        }
    }

    fn run(&self, watch: &Watch, draws: &mut Draws) -> Result<(Sampled, Warmed), sampler::Error> {
        let target = BlackBox::new(self.density.clone(), NODES, &self.start)?;
        watch.enter("warm-up");
        let expected = match self.length {
            Length::Draws(draws) => draws,
            Length::Ess { most, .. } => most.min(1000),
        };
        let mut warm = WarmUp::new(&target)
            .seed(self.seed)
            .chains(self.chains)
            .draws(expected)
            .tolerance(0.0)
            .stop(&watch.stop)
            .run()?;
        let history = warm.history.iter().map(ToString::to_string).collect();
        let kernel = warm.scheme.name();
        let facts = Warmed { kernel, thin: warm.thin, gradients: warm.gradients, history };
        watch.enter("sampling");
        let sampled = warm
            .run(self.length)
            .stop(&watch.stop)
            .progress(|progress, _| watch.report(progress.steps, progress.of))
            .keep(draws)?;
        if watch.stop.load(Ordering::Relaxed) {
            watch.enter("stopped");
        }
        Ok((sampled, facts))
    }
}

fn document(draws: &Draws, sampled: &Sampled, warm: &Warmed, seconds: f64) -> PyResult<String> {
    let summaries = draws.summary().map_err(of_sampler)?;
    let names = draws.names();
    let parameters: Vec<Parameter> =
        names.iter().zip(&summaries).map(|(name, summary)| Parameter::new(name, summary)).collect();
    let warnings: Vec<WarningEntry> = sampled
        .warnings(names, &summaries)
        .iter()
        .map(|w| WarningEntry { name: w.name().to_owned(), text: w.to_string() })
        .collect();
    let status = match &warnings[..] {
        [] => "ok".to_owned(),
        some => some.iter().map(|w| w.name.as_str()).collect::<Vec<_>>().join(", "),
    };
    let acceptance = sampled.outcome.acceptance();
    let document = json!({
        "parameters": parameters,
        "warnings": warnings,
        "history": warm.history,
        "sampler": {
            "kernel": warm.kernel,
            "chains": draws.chains(),
            "draws": draws.common(),
            "thin": warm.thin,
            "warmup_gradients": warm.gradients,
            "gradients": sampled.gradients(),
            "acceptance": acceptance.rate(),
            "divergences": acceptance.divergences,
            "seconds": seconds,
            "status": status,
        },
    });
    Ok(document.to_string())
}
