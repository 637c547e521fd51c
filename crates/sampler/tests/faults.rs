//! What goes wrong is told, and what went right is kept: bad counts, gradients that fail, panic or
//! are not numbers, sinks that are full, stops.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::common::{Quadratic, kernels, parameters};
use ridgewalk_potentials::{Chebyshev, FromFn, FromValueFn, LineIntegral};
use ridgewalk_sampler::automatic::{BlackBox, WarmUp};
use ridgewalk_sampler::{
    Batch, ChainStatus, Draws, Ensemble, Error, Kernel, Noise, Outcome, Sampler, Sink, SinkError,
    Step, Symmetric, ThirdOrder, Ula, Why, Workspace,
};

fn third_order() -> ThirdOrder {
    ThirdOrder::new(parameters(1.0, 2.0, 0.4), 1.0).unwrap()
}

fn two_dimensions() -> Quadratic {
    Quadratic { curvature: vec![1.0, 0.5] }
}

#[test]
fn counts_and_starts_that_make_no_sense_are_refused_before_anything_runs() {
    let (potential, kernel) = (two_dimensions(), third_order());
    let sampler = || Sampler::new(&potential, &kernel);
    let refused = |mut sampler: Sampler<'_>, words: &str| {
        let mut memory = Draws::default();
        let message = sampler.run(&mut memory).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
        assert_eq!(memory, Draws::default());
    };
    refused(sampler().chains(0), "chains = 0");
    refused(sampler().draws(0), "draws = 0");
    refused(sampler().thin(0), "thin = 0");
    refused(sampler().draws(u64::MAX).thin(2), "steps: too many");
    for chains in [usize::MAX, usize::MAX / 2, 1 << 60, 1 << 40] {
        refused(sampler().chains(chains), "chains: too many");
    }
    refused(sampler().start(&[0.0; 3]), "the start has 3 entries: need 2");
    refused(sampler().chains(3).starts(&[0.0; 4]), "the list of starts has 4 entries: need 6");
    refused(
        sampler().chains(2).starts(&[0.0, 0.0, 0.0, f64::NAN]),
        "chain 1, coordinate 1: found NaN",
    );
    refused(sampler().start(&[f64::INFINITY, 0.0]), "chain 0, coordinate 0: found inf");
    let nothing = Quadratic { curvature: Vec::new() };
    refused(Sampler::new(&nothing, &kernel), "dimension = 0");
    let mut ensemble = sampler().chains(3).ensemble().unwrap();
    let error = sampler().chains(4).go_on(&mut ensemble, &mut Draws::default()).unwrap_err();
    assert!(matches!(error, Error::Ensemble { got: 3, need: 4 }));
}

#[test]
fn kernels_refuse_bad_parameters() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(ThirdOrder::new(parameters(1.0, 2.0, 0.4), bad).is_err());
        assert!(Symmetric::new(parameters(1.0, 2.0, 0.4), bad).is_err());
        assert!(ridgewalk_sampler::Averaged::new(parameters(1.0, 2.0, 0.4), bad).is_err());
        assert!(Ula::new(bad, 1.0).is_err() && Ula::new(1.0, bad).is_err());
        assert!(ridgewalk_sampler::Klmc::new(2.0, bad, 1.0).is_err());
        assert!(ridgewalk_sampler::Ubu::new(bad, 1.0, 1.0).is_err());
        assert!(ridgewalk_sampler::Baoab::new(2.0, 1.0, bad).is_err());
        assert!(ridgewalk_sampler::RandomizedMidpoint::new(2.0, 1.0, bad).is_err());
    }
    assert!(ridgewalk_sampler::Baoab::new(1000.0, 1.0, 1.0).is_err());
}

#[test]
fn a_step_by_hand_with_lists_that_do_not_fit_is_refused() {
    let potential = two_dimensions();
    for kernel in kernels(1.0, 2.0, 0.4, 1.0) {
        let step = |from: &Batch, normals: usize, uniforms: usize, to: &mut Batch| {
            let (normals, uniforms) = (vec![0.0; normals], vec![0.5; uniforms]);
            let noise = Noise { normals: &normals, uniforms: &uniforms };
            let (potential, workspace) = (&potential, &mut Workspace::default());
            kernel.step(Step { potential, from, noise, to, workspace })
        };
        let batch = |dimension, chains| Batch::new(dimension, chains).unwrap();
        let (normals, uniforms) = (kernel.normals(), kernel.uniforms());
        assert!(step(&batch(2, 3), 6 * normals, 3 * uniforms, &mut batch(2, 3)).is_ok());
        assert!(step(&batch(3, 2), 6 * normals, 2 * uniforms, &mut batch(3, 2)).is_err());
        assert!(step(&batch(2, 3), 6 * normals, 3 * uniforms, &mut batch(2, 4)).is_err());
        assert!(step(&batch(2, 3), 6 * normals - 1, 3 * uniforms, &mut batch(2, 3)).is_err());
        assert!(step(&batch(2, 3), 6 * normals, 3 * uniforms + 1, &mut batch(2, 3)).is_err());
    }
}

/// What a gradient does to a chain that is beyond 100.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    NotANumber,
    Infinite,
    Error,
    Panic,
}

/// A flat potential, whose chains hardly move from where they start, with a gradient that fails
/// beyond 100 from its `healthy`-th call there.
fn faulty(fault: Fault, healthy: u64, calls: &AtomicU64) -> impl LineIntegral + Sync + '_ {
    let gradient = move |x: &[f64], g: &mut [f64]| {
        g.fill(0.0);
        if x[0] > 100.0 && calls.fetch_add(1, Ordering::Relaxed) >= healthy {
            match fault {
                Fault::NotANumber => g[1] = f64::NAN,
                Fault::Infinite => g[1] = f64::INFINITY,
                Fault::Error => return Err("no ground here".into()),
                Fault::Panic => panic!("stepped into a hole"),
            }
        }
        Ok(())
    };
    Chebyshev::new(FromFn::new(2, gradient), 1).unwrap()
}

/// Panics of the gradients above are part of the tests: not to be shown. Others are.
fn hide_expected_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if info.payload().downcast_ref::<&str>() != Some(&"stepped into a hole") {
                usual(info);
            }
        }));
    });
}

fn run(
    potential: &(dyn LineIntegral + Sync), kernel: &dyn Kernel, starts: &[f64],
) -> (Outcome, Draws) {
    hide_expected_panics();
    let mut memory = Draws::default();
    let chains = starts.len() / 2;
    let outcome = Sampler::new(potential, kernel)
        .chains(chains)
        .starts(starts)
        .seed(2)
        .thin(2)
        .draws(20)
        .run(&mut memory);
    (outcome.unwrap(), memory)
}

#[test]
fn a_chain_that_fails_ends_alone_and_tells_why() {
    // So stiff that nothing moves by more than 1.
    let smoothness = 1e6;
    let mut starts = vec![0.0; 2 * 11];
    starts[2 * 3] = 200.0;
    for fault in [Fault::NotANumber, Fault::Infinite, Fault::Error, Fault::Panic] {
        for kernel in kernels(1.0, 2.0, 0.4, smoothness) {
            let (none, calls) = (AtomicU64::new(0), AtomicU64::new(0));
            let (_, undisturbed) = run(&faulty(fault, u64::MAX, &none), kernel.as_ref(), &starts);
            let (outcome, memory) = run(&faulty(fault, 15, &calls), kernel.as_ref(), &starts);
            let name = kernel.name();
            assert!(!outcome.complete() && !outcome.stopped);
            assert_eq!(
                outcome.ended().map(|(chain, _)| chain).collect::<Vec<_>>(),
                [3],
                "{name} {fault:?}"
            );
            let (_, end) = outcome.ended().next().unwrap();
            match (&end.why, fault) {
                (Why::NonFinite, Fault::NotANumber | Fault::Infinite) => {}
                (Why::Gradient { message, point }, Fault::Error) => {
                    assert!(message == "no ground here" && point[0] > 100.0, "{point:?}");
                }
                (Why::Panic { message }, Fault::Panic) => {
                    assert_eq!(message, "stepped into a hole")
                }
                (why, _) => panic!("{name} {fault:?}: {why}"),
            }
            let report = &outcome.chains[3];
            assert_eq!(report.steps + 1, end.step, "{name} {fault:?}");
            // Up to three gradients per step.
            assert!((4..=15).contains(&report.steps), "{name}: {}", report.steps);
            assert_eq!(
                (report.draws, memory.draws(3) as u64),
                (report.steps / 2, report.steps / 2)
            );
            assert_eq!(
                memory.chain(3),
                &undisturbed.chain(3)[..memory.chain(3).len()],
                "{name} {fault:?}"
            );
            if report.steps % 2 == 0 {
                assert_eq!(memory.point(3, memory.draws(3) - 1).unwrap(), end.last.theta);
            }
            assert!(
                end.last.theta.iter().chain(&end.last.p).chain(&end.last.r).all(|x| x.is_finite())
            );
            for chain in (0..11).filter(|chain| *chain != 3) {
                assert_eq!(outcome.chains[chain].status, ChainStatus::Complete);
                assert!(
                    memory.chain(chain) == undisturbed.chain(chain),
                    "{name} {fault:?}: chain {chain}"
                );
            }
        }
    }
}

#[test]
fn when_all_chains_fail_the_run_ends_with_what_there_is() {
    for fault in [Fault::NotANumber, Fault::Error, Fault::Panic] {
        let calls = AtomicU64::new(0);
        let potential = faulty(fault, 60, &calls);
        let (outcome, memory) = run(&potential, &Ula::new(0.1, 1e6).unwrap(), &[200.0; 2 * 5]);
        assert_eq!(outcome.ended().count(), 5);
        assert!(outcome.draws() >= 20 && outcome.seconds < 10.0);
        assert_eq!((0..5).map(|chain| memory.draws(chain) as u64).sum::<u64>(), outcome.draws());
    }
}

#[test]
fn a_gradient_that_fails_at_once_leaves_no_draws_and_the_start_as_last_state() {
    let calls = AtomicU64::new(0);
    let (outcome, memory) = run(&faulty(Fault::Error, 0, &calls), &third_order(), &[200.0, 1.0]);
    let (_, end) = outcome.ended().next().unwrap();
    assert_eq!((end.step, end.last.theta.as_slice(), memory.draws(0)), (1, &[200.0, 1.0][..], 0));
}

#[test]
fn a_step_too_long_for_the_target_ends_as_not_finite() {
    let potential = Quadratic { curvature: vec![100.0] };
    let kernel = Ula::new(1.0, 1.0).unwrap();
    let mut memory = Draws::default();
    let outcome = Sampler::new(&potential, &kernel).chains(2).draws(1000).run(&mut memory).unwrap();
    for (chain, end) in outcome.ended() {
        assert_eq!((&end.why, memory.draws(chain) as u64), (&Why::NonFinite, end.step - 1));
        assert!(memory.chain(chain).iter().all(|x| x.is_finite()));
    }
    assert_eq!(outcome.ended().count(), 2);
}

#[test]
fn an_ended_chain_stays_ended_through_a_snapshot() {
    let calls = AtomicU64::new(0);
    let potential = faulty(Fault::Error, 5, &calls);
    let kernel = Ula::new(0.1, 1e6).unwrap();
    let mut ensemble =
        Ensemble::new(&potential, 1, &[0.0, 0.0, 200.0, 0.0, 0.0, 0.0], 1e6).unwrap();
    ensemble.advance(&kernel, 10);
    let snapshot = ensemble.snapshot();
    let mut again = Ensemble::restore(&potential, snapshot.clone()).unwrap();
    assert_eq!(again.snapshot(), snapshot);
    assert_eq!((again.running(), again.end(1), again.end(0)), (2, ensemble.end(1), None));
    assert_eq!(again.state(1).unwrap(), again.end(1).unwrap().last);
    again.advance(&kernel, 10);
    ensemble.advance(&kernel, 10);
    assert_eq!(again.snapshot(), ensemble.snapshot());
    assert_eq!(again.snapshot().chains[1].steps, snapshot.chains[1].steps);
}

/// Takes so many draws and no more.
#[derive(Debug, Default)]
struct Disk {
    room: usize,
    taken: Vec<(usize, u64)>,
}

impl Sink for Disk {
    fn begin(&mut self, _: usize, _: usize) -> Result<(), SinkError> {
        Ok(())
    }

    fn keep(&mut self, chain: usize, draw: u64, _: &[f64]) -> Result<(), SinkError> {
        if self.taken.len() == self.room {
            return Err("no space left on device".into());
        }
        self.taken.push((chain, draw));
        Ok(())
    }
}

#[test]
fn a_sink_that_is_full_ends_the_run_with_the_number_of_draws_kept() {
    let (potential, kernel) = (two_dimensions(), third_order());
    let mut disk = Disk { room: 50, ..Disk::default() };
    let error = Sampler::new(&potential, &kernel)
        .chains(3)
        .draws(1_000_000_000)
        .run(&mut disk)
        .unwrap_err();
    assert!(matches!(error, Error::Sink { kept: 50, .. }));
    assert!(error.to_string().contains("no space left on device"), "{error}");
    assert_eq!((disk.taken.len(), disk.taken[49]), (50, (1, 16)));
}

#[test]
fn a_memory_of_another_shape_is_refused() {
    let (potential, kernel) = (two_dimensions(), third_order());
    let mut memory = Draws::default();
    Sampler::new(&potential, &kernel).chains(3).draws(2).run(&mut memory).unwrap();
    let before = memory.clone();
    let error = Sampler::new(&potential, &kernel).chains(2).draws(2).run(&mut memory).unwrap_err();
    assert!(error.to_string().contains("3 chains in 2 dimensions: need 2 chains"), "{error}");
    assert_eq!(memory, before);
}

#[test]
fn a_stop_ends_the_run_soon_and_evenly_and_the_run_can_go_on() {
    let (potential, kernel) = (two_dimensions(), third_order());
    let stop = AtomicBool::new(false);
    let mut memory = Draws::default();
    let began = Instant::now();
    let sampler = || Sampler::new(&potential, &kernel).chains(6).thin(5).seed(3);
    let mut ensemble = sampler().ensemble().unwrap();
    let mut seen = Vec::new();
    let outcome = sampler()
        .draws(u64::MAX / 10)
        .stop(&stop)
        .progress(|progress| {
            seen.push(*progress);
            if progress.seconds > 0.2 {
                stop.store(true, Ordering::Relaxed);
            }
        })
        .go_on(&mut ensemble, &mut memory)
        .unwrap();
    assert!(outcome.stopped && !outcome.complete() && began.elapsed() < Duration::from_secs(20));
    let draws = outcome.chains[0].draws;
    for (chain, report) in outcome.chains.iter().enumerate() {
        assert_eq!(
            (&report.status, report.draws, memory.draws(chain) as u64),
            (&ChainStatus::Stopped, draws, draws)
        );
    }
    for pair in seen.windows(2) {
        assert!(pair[0].steps <= pair[1].steps && pair[0].gradients <= pair[1].gradients);
        assert!(pair[0].seconds < pair[1].seconds);
    }
    let last = seen.last().unwrap();
    assert!(seen.len() >= 3 && seen[0].steps < last.steps);
    assert_eq!((last.draws, last.running, last.gradients), (draws, 6, outcome.gradients()));

    sampler().draws(draws + 10).go_on(&mut ensemble, &mut memory).unwrap();
    let mut whole = Draws::default();
    sampler().draws(draws + 10).run(&mut whole).unwrap();
    assert!(whole == memory);
}

#[test]
fn a_signal_that_is_already_set_makes_no_step() {
    let (potential, kernel) = (two_dimensions(), third_order());
    let stop = AtomicBool::new(true);
    let mut memory = Draws::default();
    let outcome = Sampler::new(&potential, &kernel).stop(&stop).run(&mut memory).unwrap();
    assert!(outcome.stopped && outcome.draws() == 0 && outcome.gradients() == 0);
}

/// Takes draws until the one with this number, where it panics once.
struct Shaky {
    taken: Draws,
    left: Option<u64>,
}

impl Sink for Shaky {
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
        self.taken.begin(chains, dimension)
    }

    fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
        match self.left {
            Some(0) => {
                self.left = None;
                panic!("the sink broke");
            }
            left => self.left = left.map(|left| left - 1),
        }
        self.taken.keep(chain, draw, point)
    }
}

#[test]
fn a_sink_that_panics_is_a_sink_that_fails_and_no_draw_is_lost() {
    let (potential, kernel) = (two_dimensions(), third_order());
    let mut whole = Draws::default();
    Sampler::new(&potential, &kernel).draws(50).run(&mut whole).unwrap();
    let mut sink = Shaky { taken: Draws::default(), left: Some(70) };
    let mut sampler = Sampler::new(&potential, &kernel).draws(25);
    let error = sampler.run(&mut sink).unwrap_err();
    assert!(matches!(error, Error::Sink { kept: 70, .. }), "{error}");
    assert!(error.to_string().contains("the sink broke"), "{error}");
    sampler.run(&mut sink).unwrap();
    assert_eq!(sink.taken, whole);
}

#[test]
fn a_callback_that_panics_ends_the_run_with_an_error() {
    let (potential, kernel) = (two_dimensions(), third_order());
    let mut draws = Draws::default();
    let mut sampler =
        Sampler::new(&potential, &kernel).draws(10).progress(|_| panic!("nothing to show"));
    let error = sampler.run(&mut draws).unwrap_err();
    assert!(error.to_string().contains("nothing to show"), "{error}");
    assert_eq!(draws.draws(0), 10);
}

#[test]
fn draws_take_points_of_their_own_dimension_only() {
    let mut draws = Draws::default();
    draws.begin(2, 3).unwrap();
    for wrong in [&[][..], &[1.0; 2], &[1.0; 4]] {
        let message = draws.keep(0, 0, wrong).unwrap_err().to_string();
        assert_eq!(message, format!("a point of {} coordinates: need 3", wrong.len()));
    }
    draws.keep(0, 0, &[1.0; 3]).unwrap();
    assert_eq!((draws.draws(0), draws.point(3, 3)), (1, None));
    assert!(Draws::default().keep(0, 0, &[1.0]).is_err());
    assert_eq!(Draws::default().point(3, 3), None);
}

/// The functions a user gives for a standard normal in three dimensions, with the signs that value
/// and gradient have.
fn signed(value: f64, gradient: f64) -> Result<(), Error> {
    let function = move |x: &[f64], g: &mut [f64]| {
        g.iter_mut().zip(x).for_each(|(g, x)| *g = gradient * x);
        Ok(value * 0.5 * x.iter().map(|x| x * x).sum::<f64>())
    };
    let target = BlackBox::new(FromValueFn::new(3, function), 3, &[1.0, 2.0, 0.5])?;
    WarmUp::new(&target).seed(1).run().map(|_| ())
}

#[test]
fn wrong_signs_are_named_as_such() {
    signed(1.0, 1.0).unwrap();
    // Constants do not matter, and neither do large ones.
    for (value, gradient, words) in [
        (-1.0, -1.0, "U is minus the log density"),
        (-1.0, 1.0, "do not belong together"),
        (1.0, -1.0, "do not belong together"),
        (3.0, 1.0, "do not belong together"),
    ] {
        let message = signed(value, gradient).unwrap_err().to_string();
        assert!(message.contains(words), "{value}, {gradient}: {message}");
    }
    let nothing = FromFn::new(0, |_: &[f64], _: &mut [f64]| Ok(()));
    let message = BlackBox::new(nothing, 3, &[]).unwrap_err().to_string();
    assert_eq!(message, "dimension = 0: need at least 1");
}
