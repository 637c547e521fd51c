//! Runs that are interrupted go on from what their sink was given, bit for bit; what is damaged or
//! of another run is refused; and gradients that panic, are not numbers or do not return cost no
//! draw that was kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use ridgewalk_lyapunov::laws::KernelKind;
use ridgewalk_potentials::{Gradient, GradientError, LineIntegral, Whitening};
use ridgewalk_sampler::automatic::{BlackBox, Length, Sampled, Wanted, WarmUp, WarmedUp};
use ridgewalk_sampler::{
    ChainStatus, Draws, Ensemble, Error, Sampler, SavedRun, SavedWarmUp, Sink, SinkError, Snapshot,
    Symmetric, Why,
};

const D: usize = 3;

/// What a gradient does from some moment on.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    None,
    Panic,
    /// Not a number in one call of this many, at random.
    NotANumber(u64),
    /// It returns when it is let go.
    Block,
}

/// U = Σ log cosh(x_k) + x_k²/(2 + 2 k), with a fault from the moment on that `broken` is set.
#[derive(Debug, Clone)]
struct Hills {
    fault: Fault,
    broken: Arc<AtomicBool>,
    released: Arc<AtomicBool>,
    calls: Arc<AtomicU64>,
}

impl Hills {
    fn with(fault: Fault) -> Self {
        let flag = || Arc::new(AtomicBool::new(false));
        Self { fault, broken: flag(), released: flag(), calls: Arc::new(AtomicU64::new(0)) }
    }

    fn good() -> Self {
        Self::with(Fault::None)
    }

    fn target(&self) -> BlackBox<Self> {
        BlackBox::new(self.clone(), 3, &[0.5; D]).unwrap()
    }
}

impl Gradient for Hills {
    fn dimension(&self) -> usize {
        D
    }

    fn gradient(&self, point: &[f64], into: &mut [f64]) -> Result<(), GradientError> {
        for (k, (x, g)) in point.iter().zip(into.iter_mut()).enumerate() {
            *g = x.tanh() + x / (1.0 + k as f64);
        }
        if !self.broken.load(Ordering::Relaxed) {
            return Ok(());
        }
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        match self.fault {
            Fault::None => {}
            Fault::Panic => panic!("the ground opened"),
            Fault::NotANumber(every) => {
                // A hash of the call's number: at random, and the same each time.
                if (call ^ (call >> 3)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
                    < (1 << 32) / every
                {
                    into[1] = f64::NAN;
                }
            }
            Fault::Block => {
                while !self.released.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        }
        Ok(())
    }

    fn value_and_gradient(
        &self, point: &[f64], into: &mut [f64],
    ) -> Result<Option<f64>, GradientError> {
        self.gradient(point, into)?;
        let term = |(k, x): (usize, &f64)| x.cosh().ln() + x * x / (2.0 + 2.0 * k as f64);
        Ok(Some(point.iter().enumerate().map(term).sum()))
    }
}

/// A question with a kernel of one's choice; 3 chains.
fn question<'a>(target: &'a BlackBox<Hills>, kernel: KernelKind) -> WarmUp<'a, BlackBox<Hills>> {
    let wanted = Wanted { kernel: Some(kernel), eta: Some(0.5), ..Wanted::default() };
    WarmUp::new(target).seed(11).chains(3).wanted(wanted)
}

/// Draws in memory and every state that was handed over, as bytes; it breaks, or breaks something,
/// when it has taken enough.
pub(crate) struct Keeper<'a> {
    pub(crate) draws: Draws,
    pub(crate) states: Vec<Vec<u8>>,
    /// Draws of all chains so far, and how many are the last.
    taken: u64,
    room: u64,
    then: Option<&'a AtomicBool>,
}

impl<'a> Keeper<'a> {
    pub(crate) fn new(draws: Draws) -> Self {
        Self { draws, states: Vec::new(), taken: 0, room: u64::MAX, then: None }
    }

    fn full_after(room: u64) -> Self {
        Self { room, ..Self::new(Draws::default()) }
    }

    /// The last state, and the draws that it counts.
    fn last(&self) -> (SavedRun, Draws) {
        let saved = SavedRun::from_bytes(self.states.last().unwrap()).unwrap();
        let draws = first(&self.draws, &saved.draws());
        (saved, draws)
    }
}

/// The first draws of each chain.
pub(crate) fn first(draws: &Draws, counts: &[u64]) -> Draws {
    let mut fewer = Draws::default();
    fewer.begin(draws.chains(), draws.dimension()).unwrap();
    for (chain, count) in counts.iter().enumerate() {
        for (draw, at) in (0..*count).zip(0..) {
            fewer.keep(chain, draw, draws.point(chain, at).unwrap()).unwrap();
        }
    }
    fewer
}

impl Sink for Keeper<'_> {
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
        self.draws.begin(chains, dimension)
    }

    fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
        if self.taken == self.room {
            return Err("no space left on device".into());
        }
        self.taken += 1;
        assert_eq!(self.draws.draws(chain) as u64, draw, "lost, or twice");
        self.draws.keep(chain, draw, point)?;
        if let Some(signal) = self.then.filter(|_| self.taken + 1 == self.room) {
            signal.store(true, Ordering::Relaxed);
            self.room = u64::MAX;
        }
        Ok(())
    }

    fn checkpoint(&mut self, state: SavedRun) -> Result<(), SinkError> {
        let have: Vec<u64> =
            (0..self.draws.chains()).map(|chain| self.draws.draws(chain) as u64).collect();
        assert_eq!(state.draws(), have, "every draw before the state is here");
        self.states.push(state.to_bytes());
        Ok(())
    }
}

const LENGTHS: [Length; 2] = [Length::Draws(900), Length::Ess { target: 5000.0, most: 4000 }];

/// The same warm-up, whose next run starts over.
fn anew<W: LineIntegral + Sync>(warm: &mut WarmedUp<W>) -> &mut WarmedUp<W> {
    warm.begin_anew();
    warm
}

fn without_seconds(mut sampled: Sampled) -> Sampled {
    sampled.outcome.seconds = 0.0;
    sampled
}

#[test]
fn a_run_goes_on_from_any_of_its_states_bit_for_bit() {
    let hills = Hills::good();
    let target = hills.target();
    for (kernel, length) in [KernelKind::Symmetric, KernelKind::ThirdOrder, KernelKind::Adjusted]
        .into_iter()
        .flat_map(|kernel| LENGTHS.map(|l| (kernel, l)))
    {
        let mut warm = question(&target, kernel).run().unwrap();
        let mut straight = Draws::default();
        let need = without_seconds(anew(&mut warm).run(length).keep(&mut straight).unwrap());
        let mut whole = Keeper::new(Draws::default());
        // How often the state is saved depends on the clock: on a busy machine it may be twice.
        for _ in 0..50 {
            whole = Keeper::new(Draws::default());
            let saving = anew(&mut warm).run(length).checkpoints(Duration::ZERO);
            let saving = without_seconds(saving.keep(&mut whole).unwrap());
            assert!(whole.draws == straight && saving == need, "saving changes nothing");
            if whole.states.len() > 3 {
                break;
            }
        }
        assert!(whole.states.len() > 3, "{}", whole.states.len());
        let bytes = warm.saved().to_bytes();
        // From the first, from the last, and from some between them.
        let every = whole.states.len().div_ceil(5);
        let some = whole.states.iter().step_by(every).chain(whole.states.last());
        for state in some {
            let saved = SavedRun::from_bytes(state).unwrap();
            let mut again = question(&target, kernel)
                .restore(SavedWarmUp::from_bytes(&bytes).unwrap())
                .unwrap();
            let mut rest = Keeper::new(first(&straight, &saved.draws()));
            let found = again
                .run(length)
                .from_saved(saved)
                .checkpoints(Duration::ZERO)
                .keep(&mut rest)
                .unwrap();
            assert!(rest.draws == straight, "{kernel:?} {length:?}");
            assert_eq!(without_seconds(found), need);
            assert_eq!((again.history, again.gradients), (warm.history.clone(), warm.gradients));
        }
    }
}

#[test]
fn planted_mistakes_are_caught() {
    let hills = Hills::good();
    let target = hills.target();
    let mut warm = question(&target, KernelKind::ThirdOrder).run().unwrap();
    let length = Length::Draws(400);
    let mut straight = Draws::default();
    anew(&mut warm).run(length).keep(&mut straight).unwrap();
    let mut broken = Keeper::full_after(700);
    assert!(anew(&mut warm).run(length).checkpoints(Duration::ZERO).keep(&mut broken).is_err());
    let (saved, draws) = broken.last();
    let mut go_on = |saved: SavedRun, draws: Draws| {
        let mut rest = Keeper::new(draws);
        anew(&mut warm).run(length).from_saved(saved).keep(&mut rest).unwrap();
        rest.draws
    };
    assert!(go_on(saved.clone(), draws.clone()) == straight);
    // A generator that is one word off, a momentum that is next to nothing off.
    let mut wrong = saved.clone();
    wrong.ensemble.chains[1].position += 1;
    assert!(go_on(wrong, draws.clone()) != straight);
    let mut wrong = saved.clone();
    wrong.ensemble.chains[2].state.p[0] += 1e-12;
    assert!(go_on(wrong, draws.clone()) != straight);
    // Draws beyond the state that are not cut off would be there twice, which the sink above does
    // not take.
    let mut longer = draws.clone();
    longer.keep(0, 0, &[0.0; D]).unwrap();
    let twice = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| go_on(saved, longer)));
    assert!(twice.is_err());
}

#[test]
fn a_sampler_goes_on_from_what_its_sink_was_given() {
    let potential = ridgewalk_potentials::Chebyshev::new(Hills::good(), 3).unwrap();
    let parameters = ridgewalk_coefficients::Parameters::new(1.0, 2.0, 0.5).unwrap();
    let kernel = Symmetric::new(parameters, 2.0).unwrap();
    let sampler = || {
        Sampler::new(&potential, &kernel)
            .chains(5)
            .seed(4)
            .warm_up(7)
            .thin(3)
            .draws(300)
            .start(&[0.5; D])
    };
    let mut straight = Draws::default();
    let need = sampler().run(&mut straight).unwrap();
    let mut broken = Keeper::full_after(777);
    let error = sampler().checkpoints(Duration::ZERO).run(&mut broken).unwrap_err();
    assert!(error.to_string().contains("no space left"), "{error}");
    let (saved, draws) = broken.last();
    assert!(saved.draws().iter().all(|count| *count <= 156), "{:?}", saved.draws());
    let mut rest = Keeper::new(draws);
    let mut ensemble = Ensemble::restore(&potential, saved.ensemble).unwrap();
    let found = sampler().go_on(&mut ensemble, &mut rest).unwrap();
    assert!(rest.draws == straight);
    assert_eq!((found.gradients(), found.chains), (need.gradients(), need.chains));
}

#[test]
fn a_stop_leaves_a_state_with_every_draw_so_far() {
    let hills = Hills::good();
    let target = hills.target();
    let mut warm = question(&target, KernelKind::Symmetric).run().unwrap();
    for length in LENGTHS {
        let mut straight = Draws::default();
        let need = without_seconds(anew(&mut warm).run(length).keep(&mut straight).unwrap());
        let signal = AtomicBool::new(false);
        let mut keeper = Keeper { then: Some(&signal), ..Keeper::full_after(500) };
        let part = anew(&mut warm)
            .run(length)
            .checkpoints(Duration::from_secs(3600))
            .stop(&signal)
            .keep(&mut keeper)
            .unwrap();
        assert!(part.outcome.stopped && part.confirmation.is_none());
        let (saved, draws) = keeper.last();
        assert!(draws == keeper.draws, "nothing is beyond the state");
        let mut rest = Keeper::new(draws);
        let found = anew(&mut warm).run(length).from_saved(saved).keep(&mut rest).unwrap();
        assert!(rest.draws == straight && without_seconds(found) == need);
    }
}

#[test]
fn states_come_back_from_their_bytes_and_damage_is_refused() {
    let hills = Hills::good();
    let target = hills.target();
    let mut warm = question(&target, KernelKind::Symmetric).run().unwrap();
    let mut keeper = Keeper::full_after(10);
    let length = Length::Ess { target: 1e9, most: 1000 };
    assert!(anew(&mut warm).run(length).checkpoints(Duration::ZERO).keep(&mut keeper).is_err());
    let (mut saved, _) = keeper.last();
    // Numbers that text would not bring back.
    saved.ensemble.chains[0].state.p = vec![-0.0, f64::MIN_POSITIVE / 3.0, 0.1 + 0.2];
    let end = ridgewalk_sampler::ChainEnd {
        step: 9,
        last: saved.ensemble.chains[1].state.clone(),
        why: Why::Gradient { message: "größe".into(), point: vec![f64::NEG_INFINITY] },
    };
    saved.ensemble.chains[1].end = Some(end.clone());
    let outside = Why::OutsideSupport { point: vec![-1.5] };
    for why in [Why::NonFinite, outside, Why::Panic { message: "x".into() }] {
        saved.ensemble.chains[2].end = Some(ridgewalk_sampler::ChainEnd { why, ..end.clone() });
        assert_eq!(SavedRun::from_bytes(&saved.to_bytes()).unwrap(), saved);
    }
    let bytes = saved.to_bytes();
    assert!(bytes == SavedRun::from_bytes(&bytes).unwrap().to_bytes());
    for cut in 0..bytes.len() {
        assert!(SavedRun::from_bytes(&bytes[..cut]).is_err(), "{cut}");
    }
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        assert!(matches!(SavedRun::from_bytes(&changed), Err(Error::Saved { .. })), "{at}");
    }
    assert!(SavedRun::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
    let warm_up = warm.saved();
    assert_eq!(SavedWarmUp::from_bytes(&warm_up.to_bytes()).unwrap(), warm_up);
    let message = Snapshot::from_bytes(&warm_up.to_bytes()).unwrap_err().to_string();
    assert_eq!(
        message,
        "the saved ensemble cannot be used: found something else, need bytes that begin with `ridgewlkchains  `"
    );
}

#[test]
fn states_of_another_run_are_refused() {
    let hills = Hills::good();
    let target = hills.target();
    let mut warm = question(&target, KernelKind::Symmetric).run().unwrap();
    let mut keeper = Keeper::full_after(30);
    assert!(
        anew(&mut warm)
            .run(Length::Draws(50))
            .checkpoints(Duration::ZERO)
            .keep(&mut keeper)
            .is_err()
    );
    let (saved, _) = keeper.last();
    let refused = |run: ridgewalk_sampler::automatic::Run<'_, _>, words: &str| {
        let message =
            run.from_saved(saved.clone()).keep(&mut Draws::default()).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    };
    let thin = warm.thin + 1;
    refused(anew(&mut warm).run(Length::Draws(50)).thin(thin), "thin");
    refused(
        anew(&mut warm).run(LENGTHS[1]),
        "found a number of draws to be made, need an effective sample size",
    );
    let mut other = question(&target, KernelKind::Symmetric).seed(12).run().unwrap();
    refused(other.run(Length::Draws(50)), "seed = 11, need 12");
    for (question, words) in [
        (question(&target, KernelKind::Symmetric).seed(12), "of seed 11, need 12"),
        (question(&target, KernelKind::Symmetric).chains(4), "with chains: 3, need 4"),
        (question(&target, KernelKind::Symmetric).tolerance(0.1), "of tolerance 0.05, need 0.1"),
    ] {
        let message = question.restore(warm.saved()).map(drop).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn a_whitening_comes_back_and_one_of_another_shape_is_refused() {
    let whitening = Whitening::from_covariance(&[1.0, 2.0], &[4.0, 1.0, 1.0, 9.0]).unwrap();
    assert_eq!(Whitening::restore(whitening.saved()).unwrap(), whitening);
    let diagonal = Whitening::diagonal(&[1.0, 2.0], &[3.0, 0.5]).unwrap();
    assert_eq!(Whitening::restore(diagonal.saved()).unwrap(), diagonal);
    let mut short = whitening.saved();
    short.back.pop();
    assert!(Whitening::restore(short).unwrap_err().to_string().contains("3"));
    let mut infinite = whitening.saved();
    infinite.map[3] = f64::INFINITY;
    assert!(Whitening::restore(infinite).is_err());
}

#[test]
fn a_panic_is_an_error_in_the_warm_up_and_after_the_run_and_no_draw_is_lost() {
    let hills = Hills::with(Fault::Panic);
    hills.broken.store(true, Ordering::Relaxed);
    let target = hills.target();
    let error = question(&target, KernelKind::Symmetric).run().map(drop).unwrap_err();
    assert!(
        matches!(&error, Error::Panic { message } if message == "the ground opened"),
        "{error}"
    );

    // In the confirmation, when the last draw is kept.
    let hills = Hills::with(Fault::Panic);
    let target = hills.target();
    let mut warm = question(&target, KernelKind::Symmetric).run().unwrap();
    let all = 3 * 200;
    let mut keeper = Keeper { then: Some(&hills.broken), ..Keeper::full_after(all + 1) };
    let error = anew(&mut warm)
        .run(Length::Draws(200))
        .checkpoints(Duration::ZERO)
        .keep(&mut keeper)
        .unwrap_err();
    assert!(matches!(&error, Error::Panic { .. }), "{error}");
    assert_eq!(keeper.taken, all);
    // Once the gradient works again the run is finished from its last state.
    let (saved, draws) = keeper.last();
    hills.broken.store(false, Ordering::Relaxed);
    let mut straight = Draws::default();
    let need =
        without_seconds(anew(&mut warm).run(Length::Draws(200)).keep(&mut straight).unwrap());
    let mut rest = Keeper::new(draws);
    let found = anew(&mut warm).run(Length::Draws(200)).from_saved(saved).keep(&mut rest).unwrap();
    assert!(rest.draws == straight && without_seconds(found) == need);
}

#[test]
fn chains_whose_gradient_is_not_a_number_at_random_end_one_by_one_and_stay_ended() {
    let hills = Hills::with(Fault::NotANumber(300));
    let target = hills.target();
    let mut warm = question(&target, KernelKind::Symmetric).run().unwrap();
    let good = Hills::good();
    let good_target = good.target();
    let mut good_warm =
        question(&good_target, KernelKind::Symmetric).restore(warm.saved()).unwrap();
    let (length, mut straight) = (Length::Draws(2000), Draws::default());
    anew(&mut good_warm).run(length).keep(&mut straight).unwrap();
    let mut keeper = Keeper { then: Some(&hills.broken), ..Keeper::full_after(100) };
    let sampled =
        anew(&mut warm).run(length).checkpoints(Duration::ZERO).keep(&mut keeper).unwrap();
    let ended = sampled.outcome.ended().count();
    assert!(ended >= 1, "the fault was there");
    assert!(sampled.confirmation.is_none() || ended < 3);
    for (chain, report) in sampled.outcome.chains.iter().enumerate() {
        // Cut where it ended, and nothing in its place.
        let part = keeper.draws.chain(chain);
        assert_eq!(report.draws, (part.len() / D) as u64);
        assert!(part == &straight.chain(chain)[..part.len()]);
        assert_eq!(
            part.len() == straight.chain(chain).len(),
            report.status == ChainStatus::Complete
        );
    }
    let (saved, draws) = keeper.last();
    let before: Vec<bool> = saved.ensemble.chains.iter().map(|chain| chain.end.is_some()).collect();
    let mut rest = Keeper::new(draws);
    let found = anew(&mut good_warm).run(length).from_saved(saved).keep(&mut rest).unwrap();
    for (chain, report) in found.outcome.chains.iter().enumerate() {
        assert_eq!(matches!(report.status, ChainStatus::Ended(_)), before[chain]);
    }
}

/// What does not return cannot be ended from outside, by a stop signal least of all: the run ends
/// when the gradient does. What was saved before is enough to go on elsewhere.
#[test]
fn a_gradient_that_blocks_delays_a_stop_and_costs_no_draw() {
    let hills = Hills::with(Fault::Block);
    let target = hills.target();
    let mut warm = question(&target, KernelKind::Symmetric).run().unwrap();
    let length = Length::Draws(500);
    let signal = AtomicBool::new(false);
    let over = AtomicBool::new(false);
    let (sampled, keeper) = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !hills.broken.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_millis(50));
            signal.store(true, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(300));
            assert!(!over.load(Ordering::Relaxed), "it cannot have ended");
            hills.released.store(true, Ordering::Relaxed);
        });
        let mut keeper = Keeper { then: Some(&hills.broken), ..Keeper::full_after(200) };
        let sampled = anew(&mut warm)
            .run(length)
            .checkpoints(Duration::ZERO)
            .stop(&signal)
            .keep(&mut keeper)
            .unwrap();
        over.store(true, Ordering::Relaxed);
        (sampled, keeper)
    });
    assert!(sampled.outcome.stopped || sampled.outcome.complete());
    let good = Hills::good();
    let good_target = good.target();
    let mut again = question(&good_target, KernelKind::Symmetric).restore(warm.saved()).unwrap();
    let mut straight = Draws::default();
    anew(&mut again).run(length).keep(&mut straight).unwrap();
    // From the last state before the gradient blocked, as if the program had been killed there.
    let mut before = keeper.states.iter().map(|bytes| SavedRun::from_bytes(bytes).unwrap());
    let before = before.rfind(|saved| saved.draws()[0] <= 67).unwrap();
    let mut rest = Keeper::new(first(&straight, &before.draws()));
    anew(&mut again).run(length).from_saved(before).keep(&mut rest).unwrap();
    assert!(rest.draws == straight);
}
