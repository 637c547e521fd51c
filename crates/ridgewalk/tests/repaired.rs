//! A run that fails a check and is made again, in a run directory: stopped and killed on the way, it
//! goes on to the same draws.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use ridgewalk::pipeline::{Config, Model, Observer, Warm, prepare, sample, warm_up};
use ridgewalk::prelude::*;
use ridgewalk::sampler::automatic::{Decision, Sampled};
use ridgewalk::sampler::{SavedRun, SavedWarmUp, Sink, SinkError};
use ridgewalk::store::{Keeper, OpenRun};

fn settings(out: &Path) -> Settings {
    let out = out.to_owned();
    Settings { draws: 300, chains: 4, seed: 3, csv: true, out, ..Settings::built_in() }
}

/// A warm-up with one start far outside the posterior, so that the run fails a check.
fn far_away(model: &Model, settings: &Settings) -> Warm {
    let never = AtomicBool::new(false);
    let configured = warm_up::configure(model, settings, &never, &|_| ());
    let mut warm = warm_up::run(model, settings, &configured, &[]).unwrap();
    warm.starts[0] += 300.0;
    warm
}

/// Stops the run some draws after it began again.
#[derive(Default)]
struct Watching {
    again: AtomicBool,
    stop: AtomicBool,
    at: Option<usize>,
    seen: std::sync::Mutex<usize>,
}

impl Observer for Watching {
    fn restart(&self, decision: &Decision) {
        assert!(matches!(decision, Decision::Repaired { .. }), "{decision}");
        assert!(!self.again.swap(true, Ordering::Relaxed), "once is enough");
        *self.seen.lock().unwrap() = 0;
    }

    fn draw(&self, _: usize, _: &[f64]) {
        let mut seen = self.seen.lock().unwrap();
        *seen += 1;
        if self.again.load(Ordering::Relaxed) && self.at == Some(*seen) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// A keeper whose disk fails as soon as the run begins again.
struct Killed(Keeper, bool);

impl Sink for Killed {
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
        if self.1 { Err("killed".into()) } else { self.0.begin(chains, dimension) }
    }

    fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
        self.0.keep(chain, draw, point)
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.0.flush()
    }

    fn checkpoint(&mut self, state: SavedRun) -> Result<(), SinkError> {
        self.0.checkpoint(state)
    }

    fn restart(&mut self, warm_up: &SavedWarmUp) -> Result<bool, SinkError> {
        self.1 = true;
        self.0.restart(warm_up)
    }
}

fn sampled(
    model: &Model, settings: &Settings, sink: &mut dyn Sink, watching: &Watching,
) -> Result<Sampled, ridgewalk::pipeline::Error> {
    let mut warm = far_away(model, settings);
    sample::sample(model, settings, &mut warm, None, sink, &watching.stop, watching)
}

#[test]
fn a_repaired_run_in_a_directory_goes_on_to_the_same_draws() {
    let place = tempfile::tempdir().unwrap();
    let table = Table::built_in().unwrap();
    let whole = settings(&place.path().join("whole"));
    let model = prepare(&table, &whole, None).unwrap();
    let mut need = Draws::named(&model.frame().names);
    let watching = Watching::default();
    let found = sampled(&model, &whole, &mut need, &watching).unwrap();
    assert!(found.troubles.is_empty() && watching.again.into_inner(), "{:?}", found.troubles);
    assert_eq!(need.common(), 300);

    // Stopped in the second run, at once and later; killed between the two.
    for (name, at) in [("soon", Some(1)), ("later", Some(500)), ("killed", None)] {
        let settings = settings(&place.path().join(name));
        let mut run =
            OpenRun::begin(&settings.out, Config::new(&settings, &model, &table)).unwrap();
        let warm = far_away(&model, &settings);
        run.warmed_up(warm.saved().to_bytes());
        let keeper = run.keeper(warm.thin, None, Instant::now()).unwrap();
        let watching = Watching { at, ..Watching::default() };
        if at.is_some() {
            let mut keeper = keeper;
            let found = sampled(&model, &settings, &mut keeper, &watching).unwrap();
            assert!(found.outcome.stopped, "{name}");
            keeper.finish(false).unwrap();
        } else {
            let mut keeper = Killed(keeper, false);
            assert!(sampled(&model, &settings, &mut keeper, &watching).is_err());
        }
        drop(run);
        let resumed = ridgewalk::resume(&settings.out).unwrap().unwrap();
        assert_eq!(resumed.draws().unwrap(), need, "{name}");
        let csv = std::fs::read_to_string(settings.out.join("draws.csv")).unwrap();
        assert_eq!(csv.lines().count(), 1 + 4 * 300, "{name}");
        let history = &resumed.document().text.history;
        assert!(history.iter().any(|line| line.contains("is made again")), "{history:?}");
    }
}
