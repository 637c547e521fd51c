//! The checks of a finished run on kernels with a planted fault, on improper targets and on chains
//! that begin far away; and runs that are repaired and made again, also when they are interrupted.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use ridgewalk_coefficients::Parameters;
use ridgewalk_lyapunov::laws::{Drift, KernelKind, Trajectory};
use ridgewalk_potentials::families::{Logistic, Poisson};
use ridgewalk_potentials::{
    Dense, FromFn, FromValueFn, LineIntegral, Prior, Ridge, Scratch, WhitenedRidge,
};
use ridgewalk_sampler::automatic::{
    BlackBox, Checks, Decision, Length, Wanted, WarmUp, WarmedUp, Warning, counted_heights,
};
use ridgewalk_sampler::{
    Adjusted, Draws, Ensemble, Error, Kernel, Noise, Outcome, Reference, Sampler, SavedRun,
    SavedWarmUp, Sink, SinkError, Step, Vitals,
};

use crate::common::{Quadratic, step_of_its_own};

fn names(warnings: &[Warning]) -> Vec<&'static str> {
    warnings.iter().map(Warning::name).collect()
}

/// A run of 8 chains with notes, started from draws of the standard normal law of 4 dimensions.
fn noted_run(kernel: &dyn Kernel, curvature: f64, draws: u64) -> Outcome {
    let d = 4;
    let potential = Quadratic { curvature: vec![curvature; d] };
    let mut starts = vec![0.0; 8 * d];
    ridgewalk_sampler::Stream::new(77, 0).normals(&mut starts);
    let mut snapshot = Ensemble::new(&potential, 3, &starts, 1.0).unwrap().snapshot();
    let mut values = vec![0.0; 8];
    let mut gradients = vec![0.0; 8 * d];
    let scratch = &mut Scratch::default();
    potential.values_and_gradients(&starts, &mut values, &mut gradients, scratch).unwrap();
    let reference = Reference {
        mode: vec![0.0; d],
        value: 0.0,
        far: Reference::far_out(d, &values),
        bounds: counted_heights(d),
        segments: 8,
        every: 1,
    };
    for chain in &mut snapshot.chains {
        chain.vitals = Some(Vitals::new(reference.clone()));
    }
    let mut ensemble = Ensemble::restore(&potential, snapshot).unwrap().with_width(8).unwrap();
    let mut sampler = Sampler::new(&potential, kernel).chains(8).seed(3).thin(2).draws(draws);
    sampler.go_on(&mut ensemble, &mut Draws::default()).unwrap()
}

fn troubles(kernel: &dyn Kernel) -> Vec<&'static str> {
    let checks = Checks { log_concave: true, tolerance: 0.0 };
    names(&checks.troubles(&noted_run(kernel, 1.0, 1000)))
}

/// Trajectories of which some four in five are accepted.
fn kernel(eta: f64) -> Adjusted {
    let trajectory = Trajectory::new(2, Drift::Straight);
    Adjusted::new(Parameters::new(1.5, 2.0, eta).unwrap(), trajectory, 1.0).unwrap()
}

/// A kernel that rejects everything of one chain in some of its steps.
#[derive(Debug)]
struct Freezing {
    right: Adjusted,
    from: u64,
    to: u64,
    made: AtomicU64,
}

step_of_its_own!(
    Freezing,
    right,
    fn step(&self, step: Step<'_>) -> Result<u64, Error> {
        let mut uniforms = step.noise.uniforms.to_vec();
        if (self.from..self.to).contains(&self.made.fetch_add(1, Ordering::Relaxed)) {
            uniforms[5] = 1.0;
        }
        let noise = Noise { uniforms: &uniforms, ..step.noise };
        self.right.step(Step { noise, ..step })
    }
);

/// A kernel that accepts everything.
#[derive(Debug)]
struct Unadjusted(Adjusted);

step_of_its_own!(
    Unadjusted,
    0,
    fn step(&self, step: Step<'_>) -> Result<u64, Error> {
        let zeros = vec![0.0; step.noise.uniforms.len()];
        self.0.step(Step { noise: Noise { uniforms: &zeros, ..step.noise }, ..step })
    }
);

#[test]
fn a_right_kernel_passes_and_wrong_ones_do_not() {
    let right = kernel(1.2);
    let rate = noted_run(&right, 1.0, 200).acceptance().rate();
    assert!((0.6..0.9).contains(&rate), "{rate}");
    assert_eq!(troubles(&right), [""; 0]);
    let freezing = |from, to| Freezing { right: kernel(1.2), from, to, made: AtomicU64::new(0) };
    assert_eq!(troubles(&freezing(700, 998)), ["stuck_chain"]);
    let found = troubles(&freezing(100, 2000));
    assert!(found.contains(&"stuck_chain") && found.contains(&"unequal_chains"), "{found:?}");
    let found = troubles(&Unadjusted(kernel(1.2)));
    assert!(found.contains(&"wrong_moments"), "{found:?}");
    // A potential that is not that of the chains' notes: the draws are too narrow for them.
    let outcome = noted_run(&right, 1.3, 1000);
    let found = Checks { log_concave: true, tolerance: 0.0 }.troubles(&outcome);
    assert_eq!(names(&found), [""; 0], "the gradient is that of the law, whatever its width");
}

fn logistic() -> Ridge<'static, Logistic> {
    let x: Vec<f64> = (0..80).map(|i| f64::from(i).sin()).collect();
    let y: Vec<f64> = (0..40).map(|i| f64::from(u8::from((i * 7) % 5 < 2))).collect();
    Ridge::new(Dense::new(40, 2, x).unwrap(), Logistic, &y, Prior::centred(2, 2.5).unwrap())
        .unwrap()
}

/// A warm-up one of whose starts is far outside the posterior.
fn far_away(target: &Ridge<'static, Logistic>) -> WarmedUp<WhitenedRidge<'static, Logistic>> {
    let mut warm = WarmUp::new(target).seed(4).run().unwrap();
    assert_eq!(warm.scheme.kernel(), KernelKind::Adjusted, "exact by default");
    warm.starts[2] += 400.0;
    warm
}

/// Draws in memory, the states that were handed over with the warm-up in force at each; it fails
/// when it has taken enough.
#[derive(Default)]
struct Keeper {
    draws: Draws,
    warm_up: Option<Vec<u8>>,
    states: Vec<(Option<Vec<u8>>, Vec<u8>, Draws)>,
    restarts: usize,
    unable: bool,
}

impl Sink for Keeper {
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
        self.draws.begin(chains, dimension)
    }

    fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
        assert_eq!(self.draws.draws(chain) as u64, draw, "lost, or twice");
        self.draws.keep(chain, draw, point)
    }

    fn checkpoint(&mut self, state: SavedRun) -> Result<(), SinkError> {
        self.states.push((self.warm_up.clone(), state.to_bytes(), self.draws.clone()));
        Ok(())
    }

    fn restart(&mut self, warm_up: &SavedWarmUp) -> Result<bool, SinkError> {
        if self.unable {
            return Ok(false);
        }
        self.restarts += 1;
        self.warm_up = Some(warm_up.to_bytes());
        self.draws.restart(warm_up)
    }
}

fn repaired(history: &[Decision]) -> usize {
    history.iter().filter(|decision| matches!(decision, Decision::Repaired { .. })).count()
}

#[test]
fn a_run_that_fails_a_check_is_repaired_and_made_again() {
    let target = logistic();
    let mut warm = far_away(&target);
    let (eta, steps) = (warm.scheme.eta(), warm.scheme.trajectory().unwrap().steps);
    let mut keeper = Keeper::default();
    let sampled = warm.run(Length::Draws(500)).keep(&mut keeper).unwrap();
    assert!(sampled.within_tolerance && sampled.troubles.is_empty(), "{:?}", sampled.troubles);
    assert_eq!((keeper.restarts, repaired(&warm.history), keeper.draws.common()), (1, 1, 500));
    assert_eq!(warm.scheme.eta(), 0.5 * eta);
    assert_eq!(warm.scheme.trajectory().unwrap().steps, 2 * steps);
    let said = warm.history.last().unwrap().to_string();
    assert!(said.contains("failed the check `"), "{said}");
    // What was thrown away is counted.
    assert!(warm.gradients > 500 * 8 * u64::from(steps));
    // The same with draws in memory, which keep what they had before.
    let mut draws = Draws::default();
    draws.begin(8, 2).unwrap();
    draws.keep(0, 0, &[1.0, 2.0]).unwrap();
    far_away(&target).run(Length::Draws(500)).keep(&mut draws).unwrap();
    assert_eq!(draws.draws(0), 501);
    assert_eq!(draws.chain(0)[2..], *keeper.draws.chain(0));
    // A continued run is not made again: its first draws are elsewhere by now.
    let mut more = Keeper { draws: keeper.draws.clone(), ..Keeper::default() };
    warm.run(Length::Draws(100)).keep(&mut more).unwrap();
    assert_eq!((more.restarts, more.draws.common()), (0, 600));
}

#[test]
fn a_run_that_cannot_be_made_again_is_reported() {
    let target = logistic();
    let mut warm = far_away(&target);
    let (before, history) = (warm.gradients, warm.history.len());
    let mut unable = Keeper { unable: true, ..Keeper::default() };
    let sampled = warm.run(Length::Draws(500)).keep(&mut unable).unwrap();
    assert!(!sampled.within_tolerance && sampled.bias_within);
    assert_eq!((warm.gradients, warm.history.len()), (before, history), "as if not tried");
    let summary = unable.draws.summary().unwrap();
    let found = sampled.warnings(unable.draws.names(), &summary);
    let excursion = found.iter().find(|warning| warning.name() == "excursion").unwrap();
    assert!(excursion.to_string().contains("farther out than the posterior goes"), "{excursion}");
    assert!(!names(&found).contains(&"bias_above_tolerance"));
    // Nor is one with a budget, or with a step that was given.
    let mut warm = far_away(&target);
    let budget = ridgewalk_sampler::Budget::gradients(1 << 40);
    let mut keeper = Keeper::default();
    let sampled = warm.run(Length::Draws(500)).budget(budget).keep(&mut keeper).unwrap();
    assert!(keeper.restarts == 0 && !sampled.within_tolerance);
}

/// From states before and after the repair, and between its restart and the first state after it.
#[test]
fn a_repaired_run_goes_on_bit_for_bit() {
    let target = logistic();
    let length = Length::Draws(400);
    let mut warm = far_away(&target);
    let first = warm.saved().to_bytes();
    let mut straight = Keeper::default();
    let run = warm.run(length).checkpoints(Duration::ZERO);
    let mut need = run.keep(&mut straight).unwrap();
    need.outcome.seconds = 0.0;
    let (old, new): (Vec<_>, Vec<_>) =
        straight.states.iter().partition(|(warm_up, ..)| warm_up.is_none());
    assert!(old.len() > 2 && new.len() > 2, "{} and {}", old.len(), new.len());
    let question = WarmUp::new(&target).seed(4);
    let restore = |bytes: &[u8]| question.restore(SavedWarmUp::from_bytes(bytes).unwrap()).unwrap();
    let some = [old[0], old[old.len() / 2], old[old.len() - 1], new[0], new[new.len() / 2]];
    for (warm_up, state, draws) in some {
        let mut again = restore(warm_up.as_deref().unwrap_or(&first));
        let mut rest = Keeper { draws: draws.clone(), ..Keeper::default() };
        let saved = SavedRun::from_bytes(state).unwrap();
        let mut found = again.run(length).from_saved(saved).keep(&mut rest).unwrap();
        found.outcome.seconds = 0.0;
        assert_eq!(rest.restarts, usize::from(warm_up.is_none()));
        assert!(rest.draws == straight.draws && found == need);
        assert_eq!((again.history, again.gradients), (warm.history.clone(), warm.gradients));
    }
    // Killed when the new warm-up was safe and no draw was made.
    let mut again = restore(new[0].0.as_deref().unwrap());
    let mut rest = Keeper::default();
    again.run(length).keep(&mut rest).unwrap();
    assert!(rest.draws == straight.draws);
    // A saved state of the run before the repair does not go on with the warm-up after it.
    let stale = SavedRun::from_bytes(&old[0].1).unwrap();
    let error = again.run(length).from_saved(stale).keep(&mut Keeper::default()).unwrap_err();
    assert!(error.to_string().contains("seed"), "{error}");
}

#[test]
fn a_stop_in_the_second_run_keeps_its_draws() {
    struct StopAfter<'a>(Keeper, &'a AtomicBool);
    impl Sink for StopAfter<'_> {
        fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
            self.0.begin(chains, dimension)
        }

        fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
            if self.0.restarts == 1 && draw == 20 {
                self.1.store(true, Ordering::Relaxed);
            }
            self.0.keep(chain, draw, point)
        }

        fn restart(&mut self, warm_up: &SavedWarmUp) -> Result<bool, SinkError> {
            self.0.restart(warm_up)
        }
    }
    let target = logistic();
    let signal = AtomicBool::new(false);
    let mut sink = StopAfter(Keeper::default(), &signal);
    let mut warm = far_away(&target);
    let sampled = warm.run(Length::Draws(400)).stop(&signal).keep(&mut sink).unwrap();
    let made = sink.0.draws.common();
    assert!(sink.0.restarts == 1 && made > 20, "{made}");
    assert!(sampled.outcome.stopped == (made < 400));
}

/// The gradient of a density that does not decay to the left: whatever comes out, it is not fine.
#[test]
fn an_improper_black_box_does_not_pass() {
    for seed in 0..4 {
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        let gradient = move |x: &[f64], g: &mut [f64]| {
            g[0] = sigmoid(x[0]);
            Ok(())
        };
        let target = BlackBox::new(FromFn::new(1, gradient), 3, &[0.5]).unwrap();
        let Ok(mut warm) = WarmUp::new(&target).seed(seed).run() else { continue };
        let mut draws = Draws::default();
        let sampled = warm.run(Length::Draws(1000)).keep(&mut draws).unwrap();
        assert!(!sampled.within_tolerance, "mean {}: {:?}", draws.mean(0), sampled.troubles);
        let valued = move |x: &[f64], g: &mut [f64]| {
            g[0] = sigmoid(x[0]);
            Ok(x[0].max(0.0) + (-x[0].abs()).exp().ln_1p())
        };
        let target = BlackBox::new(FromValueFn::new(1, valued), 3, &[0.5]).unwrap();
        let Ok(mut warm) = WarmUp::new(&target).seed(seed).run() else { continue };
        let mut draws = Draws::default();
        let sampled = warm.run(Length::Draws(1000)).keep(&mut draws).unwrap();
        assert!(!sampled.within_tolerance, "mean {}: {:?}", draws.mean(0), sampled.troubles);
    }
}

/// Kernels with a small bias pass the same checks, with stored gradients and without.
#[test]
fn unadjusted_kernels_within_the_tolerance_pass() {
    let target = logistic();
    for kernel in [KernelKind::Symmetric, KernelKind::ThirdOrder, KernelKind::Averaged] {
        let wanted = Wanted { kernel: Some(kernel), ..Wanted::default() };
        for seed in 0..3 {
            let mut warm = WarmUp::new(&target).wanted(wanted).seed(seed).run().unwrap();
            let mut draws = Draws::default();
            let sampled = warm.run(Length::Draws(1000)).keep(&mut draws).unwrap();
            assert_eq!(sampled.tolerance, 0.05);
            assert_eq!(sampled.troubles, [], "{kernel:?}, seed {seed}");
            assert!(sampled.outcome.chains[0].vitals.as_ref().unwrap().segments().len() > 3);
        }
    }
}

/// A trajectory that diverges on a log-concave target is only a rejected one.
#[test]
fn divergences_of_a_log_concave_target_are_no_warning() {
    // Counts of a Poisson model under a wide prior: a wall like exp on one side.
    let x: Vec<f64> = vec![1.0, 0.04, 1.0, 0.03, 1.0, 0.84];
    let prior = Prior::centred(2, 10.0).unwrap();
    let model = Ridge::new(Dense::new(3, 2, x).unwrap(), Poisson, &[2.0, 0.0, 0.0], prior).unwrap();
    let mut diverged = 0;
    for seed in 0..6 {
        let mut warm = WarmUp::new(&model).seed(seed).run().unwrap();
        let mut draws = Draws::default();
        let sampled = warm.run(Length::Draws(1000)).keep(&mut draws).unwrap();
        diverged += sampled.outcome.acceptance().divergences;
        let found = sampled.warnings(draws.names(), &draws.summary().unwrap());
        assert!(!names(&found).contains(&"divergence"), "{found:?}");
        println!("{seed}: {:?}, {}", names(&found), repaired(&warm.history));
    }
    assert!(diverged > 0, "a test without one shows nothing");
}
