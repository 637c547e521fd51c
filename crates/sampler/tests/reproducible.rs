//! The same seed gives the same draws bit for bit: for 1 or many threads or processes, in batches
//! of any size, with or without an interruption.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::{Quadratic, all_kernels, parameters, small_run};
use ridgewalk_potentials::families::Logistic;
use ridgewalk_potentials::peers::{Counted, Peers, Subset, Threads, share_of};
use ridgewalk_potentials::{Chebyshev, Dense, LineIntegral, Prior, Ridge, Rows};
use ridgewalk_sampler::automatic::{Decision, Length, Sampled, WarmUp};
use ridgewalk_sampler::{
    Draws, Ensemble, Error, Kernel, Sampler, Sink, SinkError, Snapshot, Symmetric, Team, ThirdOrder,
};

/// A logistic posterior with its own tiles, sums and line integrals.
fn logistic() -> Ridge<'static, Logistic> {
    let values: Vec<f64> = (0..300).map(|i| (f64::from(i) * 1.7).sin()).collect();
    let design = Dense::new(60, 5, values).unwrap();
    let responses: Vec<f64> = (0..60).map(|i| f64::from(u8::from(i % 3 == 0))).collect();
    Ridge::new(design, Logistic, &responses, Prior::centred(5, 2.0).unwrap()).unwrap()
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

fn bits(list: &[f64]) -> Vec<u64> {
    list.iter().map(|x| x.to_bits()).collect()
}

fn draws(
    potential: &(dyn LineIntegral + Sync), kernel: &dyn Kernel, chains: usize, draws: u64,
) -> Draws {
    let mut memory = Draws::default();
    let run = Sampler::new(potential, kernel)
        .chains(chains)
        .seed(9)
        .warm_up(5)
        .thin(3)
        .draws(draws)
        .run(&mut memory);
    assert!(run.unwrap().complete());
    memory
}

#[test]
fn draws_do_not_depend_on_threads() {
    let model = logistic();
    for kernel in all_kernels(1.0, 2.0, 0.4, 8.0) {
        let alone = on_threads(1, || draws(&model, kernel.as_ref(), 21, 30));
        for threads in [2, 5] {
            assert!(
                alone == on_threads(threads, || draws(&model, kernel.as_ref(), 21, 30)),
                "{}",
                kernel.name()
            );
        }
    }
}

#[test]
fn a_chain_does_not_depend_on_those_beside_it() {
    let model = logistic();
    for kernel in all_kernels(1.0, 2.0, 0.4, 8.0) {
        let many = draws(&model, kernel.as_ref(), 21, 20);
        for chains in [1, 2, 3, 8, 9, 20] {
            let fewer = draws(&model, kernel.as_ref(), chains, 20);
            for chain in 0..chains {
                assert_eq!(bits(fewer.chain(chain)), bits(many.chain(chain)), "{}", kernel.name());
            }
        }
    }
}

#[test]
fn groups_of_any_width_make_the_same_steps() {
    let model = logistic();
    let starts: Vec<f64> = (0..35).map(|i| f64::from(i) * 0.02).collect();
    for kernel in all_kernels(1.0, 2.0, 0.4, 8.0) {
        let after = |width: usize| {
            let mut ensemble = Ensemble::new(&model, 4, &starts, kernel.smoothness())
                .unwrap()
                .with_width(width)
                .unwrap();
            ensemble.advance(kernel.as_ref(), 17);
            // The gradients of a group's first step are counted wherever the group is.
            ensemble.snapshot()
        };
        let one = after(1);
        for width in [2, 3, 7, 100] {
            assert_eq!(one, after(width), "{}", kernel.name());
        }
    }
}

#[test]
fn chains_differ_from_each_other_and_between_seeds() {
    let kernel = Symmetric::new(parameters(1.0, 2.0, 0.4), 8.0).unwrap();
    let model = logistic();
    let memory = draws(&model, &kernel, 3, 5);
    assert!(memory.chain(0) != memory.chain(1) && memory.chain(1) != memory.chain(2));
    let mut other = Draws::default();
    Sampler::new(&model, &kernel)
        .chains(3)
        .seed(10)
        .warm_up(5)
        .thin(3)
        .draws(5)
        .run(&mut other)
        .unwrap();
    assert!(other.chain(0) != memory.chain(0));
}

/// Through a snapshot, as a program that was ended and started again would go on.
fn saved_and_restored<'a>(
    ensemble: Ensemble<'a>, potential: &'a (dyn LineIntegral + Sync),
) -> Ensemble<'a> {
    let bytes = ensemble.snapshot().to_bytes();
    Ensemble::restore(potential, Snapshot::from_bytes(&bytes).unwrap()).unwrap()
}

#[test]
fn an_interruption_changes_nothing() {
    let model = logistic();
    for kernel in all_kernels(1.0, 2.0, 0.4, 8.0) {
        let whole = draws(&model, kernel.as_ref(), 5, 100);
        let part = |draws| {
            Sampler::new(&model, kernel.as_ref()).chains(5).seed(9).warm_up(5).thin(3).draws(draws)
        };
        let mut memory = Draws::default();
        let mut ensemble = part(40).ensemble().unwrap();
        assert!(part(40).go_on(&mut ensemble, &mut memory).unwrap().complete());
        assert_eq!((memory.draws(0), ensemble.steps()), (40, 5 + 3 * 40));
        let mut ensemble = saved_and_restored(ensemble, &model);
        // In the middle between two draws, too.
        ensemble.advance(kernel.as_ref(), 1);
        let mut ensemble = saved_and_restored(ensemble, &model);
        let outcome = part(100).go_on(&mut ensemble, &mut memory).unwrap();
        assert!(outcome.complete() && outcome.chains[0].draws == 100);
        assert!(whole == memory, "{}", kernel.name());
    }
}

#[test]
fn a_stored_gradient_is_the_one_that_would_be_computed() {
    let kernel = Symmetric::new(parameters(1.0, 2.0, 0.4), 8.0).unwrap();
    let model = logistic();
    let starts = [0.1; 5 * 4];
    let mut stored = Ensemble::new(&model, 1, &starts, 8.0).unwrap();
    let mut forgotten = Ensemble::new(&model, 1, &starts, 8.0).unwrap();
    stored.advance(&kernel, 10);
    for _ in 0..10 {
        forgotten.advance(&kernel, 1);
        let mut snapshot = forgotten.snapshot();
        snapshot.chains.iter_mut().for_each(|chain| assert!(chain.gradient.take().is_some()));
        forgotten = Ensemble::restore(&model, snapshot).unwrap();
    }
    for chain in 0..4 {
        assert_eq!(stored.state(chain), forgotten.state(chain));
    }
    // One a step and one at the start; or two a step.
    assert_eq!((stored.gradients(), forgotten.gradients()), (4 * 11, 4 * 20));
    // A snapshot has it, and no gradient is computed twice for an interruption.
    let mut restored = saved_and_restored(stored, &model);
    restored.advance(&kernel, 5);
    assert_eq!(restored.gradients(), 4 * 16);
}

#[test]
fn a_stored_value_is_the_one_that_would_be_computed() {
    let all = all_kernels(1.0, 2.0, 0.4, 8.0);
    let (adjusted, model) = (all.last().unwrap().as_ref(), logistic());
    let mut stored = Ensemble::new(&model, 1, &[0.1; 5 * 4], 8.0).unwrap();
    let mut forgotten = Ensemble::new(&model, 1, &[0.1; 5 * 4], 8.0).unwrap();
    stored.advance(adjusted, 10);
    for _ in 0..10 {
        forgotten.advance(adjusted, 1);
        let mut snapshot = forgotten.snapshot();
        snapshot.chains.iter_mut().for_each(|chain| assert!(chain.value.take().is_some()));
        forgotten = Ensemble::restore(&model, snapshot).unwrap();
    }
    assert!((0..4).all(|chain| stored.state(chain) == forgotten.state(chain)));
    assert_eq!(stored.acceptance(), forgotten.acceptance());
    assert_eq!((stored.gradients(), forgotten.gradients()), (4 * 31, 4 * 40));
    // A snapshot has it, and what became of the proposals; kernels that leave no value forget it.
    let mut restored = saved_and_restored(stored, &model);
    restored.advance(adjusted, 5);
    assert_eq!((restored.gradients(), restored.acceptance().proposals), (4 * 46, 4 * 15));
    restored.advance(all[1].as_ref(), 1);
    assert!(
        restored
            .snapshot()
            .chains
            .iter()
            .all(|chain| chain.value.is_none() && chain.gradient.is_some())
    );
    assert_eq!(restored.acceptance().proposals, 4 * 15);
}

#[test]
fn gradients_are_counted() {
    let model = logistic();
    let kernels = all_kernels(1.0, 2.0, 0.4, 8.0);
    // The gradient that begins their step is that of the end of the last one.
    let reuse = ["symmetric", "baoab", "should", "align", "hmc", "adjusted"];
    for (kernel, each) in kernels.iter().zip([1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 3, 3]) {
        assert_eq!(kernel.gradients_per_step(&model), each, "{}", kernel.name());
        let mut memory = Draws::default();
        let outcome =
            Sampler::new(&model, kernel.as_ref()).chains(3).draws(10).run(&mut memory).unwrap();
        let at_start = u64::from(reuse.contains(&kernel.name()));
        assert_eq!(outcome.gradients(), 3 * (10 * each + at_start), "{}", kernel.name());
    }
    // A line integral by quadrature costs its nodes, a gradient what it did.
    let nodes = Chebyshev::new(model, 5).unwrap();
    for (kernel, each) in kernels.iter().zip([5, 1, 5, 1, 1, 1, 1, 2, 2, 2, 1, 3, 3]) {
        assert_eq!(kernel.gradients_per_step(&nodes), each, "{}", kernel.name());
    }
}

/// Draws as this version makes them. A change here is a change of the draws that a seed gives: a
/// line in CHANGELOG.md.
#[test]
fn the_draws_of_a_seed_stay_what_they_are() {
    let mut changed = false;
    let kernels = all_kernels(1.2, 2.0, 0.5, 3.0);
    assert_eq!(kernels.len(), EXPECTED.len());
    for (kernel, expected) in kernels.iter().zip(EXPECTED) {
        let memory = small_run(kernel.as_ref(), 2, 5);
        let last = memory.point(1, 4).unwrap();
        println!("[{:?}, {:?}, {:?}], // {}", last[0], last[1], last[2], kernel.name());
        // Exponentials may differ in the last bit between platforms.
        changed |= !last.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-12);
    }
    assert!(!changed);
}

const EXPECTED: [[f64; 3]; 13] = [
    [-0.2648944883322508, 1.143621909887413, 0.5430759335282119], // third-order
    [1.405932490484767, 0.8661345516595451, 0.8693780974692082],  // symmetric
    [1.2759466228956786, 0.821715253717469, 0.6635589142891257],  // averaged
    [-0.04894257718926376, 1.5476118028959174, 0.49085644979230825], // ula
    [0.5994154881997782, 0.48907538272922796, 1.0691245972766328], // klmc
    [0.2636355239116255, 0.6202901952013768, 0.8262245740154122], // ubu
    [-0.5921339173040089, 1.0760292130482996, 1.6454117006548465], // baoab
    [-0.31027766261329653, -0.13530203945619532, 1.5133476242487778], // randomized-midpoint
    [-0.5122186135929547, 0.6115324895094759, 2.538904629661874], // quicsort
    [-0.5123120681306225, 0.6123034839217819, 2.5380749454830345], // should
    [0.8211754568552891, 0.31061599712465354, 1.0523691053933202], // align
    [0.375933759185071, 1.2051325518291636, -0.957927550966607],  // hmc
    [0.8000617941961514, 0.47768585228870886, 1.8254973129633099], // adjusted
];

#[test]
fn draws_come_in_an_order_that_depends_on_nothing() {
    #[derive(Debug, Default)]
    struct Order(Vec<(usize, u64)>);
    impl ridgewalk_sampler::Sink for Order {
        fn begin(&mut self, _: usize, _: usize) -> Result<(), ridgewalk_sampler::SinkError> {
            Ok(())
        }
        fn keep(
            &mut self, chain: usize, draw: u64, _: &[f64],
        ) -> Result<(), ridgewalk_sampler::SinkError> {
            self.0.push((chain, draw));
            Ok(())
        }
    }
    let kernel = ThirdOrder::new(parameters(1.0, 2.0, 0.4), 1.0).unwrap();
    let potential = Quadratic { curvature: vec![1.0; 2] };
    let mut order = Order::default();
    Sampler::new(&potential, &kernel).chains(20).draws(300).run(&mut order).unwrap();
    let expected: Vec<(usize, u64)> =
        (0..300).flat_map(|draw| (0..20).map(move |chain| (chain, draw))).collect();
    assert_eq!(order.0, expected);
}

/// Some of the rows of [`logistic`].
fn rows(range: std::ops::Range<usize>) -> Ridge<'static, Logistic> {
    let values: Vec<f64> =
        (5 * range.start..5 * range.end).map(|i| (i as f64 * 1.7).sin()).collect();
    let design = Dense::new(range.len(), 5, values).unwrap();
    let responses: Vec<f64> = range.map(|i| f64::from(u8::from(i % 3 == 0))).collect();
    Ridge::new(design, Logistic, &responses, Prior::centred(5, 2.0).unwrap()).unwrap()
}

/// Does something in a grid of threads as if they were processes: with the rows of each, and the
/// team.
fn in_grid<T: Send>(
    groups: usize, shards: usize, work: impl Fn(usize, Ridge<'static, Logistic>, Team) -> T + Sync,
) -> Vec<T> {
    let size = groups * shards;
    let processes: Vec<Arc<dyn Peers>> =
        Threads::group(size).into_iter().map(|peers| Arc::new(peers) as _).collect();
    std::thread::scope(|scope| {
        let work = &work;
        let threads = processes.into_iter().map(|all| {
            scope.spawn(move || {
                let (rank, of) = (all.rank(), |member: &dyn Fn(usize) -> bool| {
                    Arc::new(
                        Subset::new(all.clone(), (0..size).filter(|r| member(*r)).collect())
                            .unwrap(),
                    )
                });
                let of_rows = of(&|r| r / shards == rank / shards);
                let of_chains = of(&|r| r % shards == rank % shards);
                let model =
                    rows(share_of(60, rank % shards, shards)).with_rows(&Rows::shared(of_rows));
                on_threads(1, || work(rank, model, Team::new(all.clone(), of_chains)))
            })
        });
        threads.collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn warmed_up_run(
    model: &Ridge<'static, Logistic>, team: &Team, length: Length,
) -> (Draws, Sampled) {
    with_tolerance(0.05, model, team, length)
}

fn with_tolerance(
    tolerance: f64, model: &Ridge<'static, Logistic>, team: &Team, length: Length,
) -> (Draws, Sampled) {
    let mut memory = Draws::default();
    let question = WarmUp::new(model).seed(3).chains(7).draws(300).tolerance(tolerance).team(team);
    let mut warm = question.run().unwrap();
    // Far from the posterior: a run of trajectories is repaired.
    if tolerance == 0.0 {
        warm.starts[0] += 300.0;
    }
    let mut sampled = warm.run(length).keep(&mut memory).unwrap();
    let repaired = matches!(warm.history.last(), Some(Decision::Repaired { .. }));
    assert_eq!(repaired, tolerance == 0.0);
    sampled.outcome.seconds = 0.0;
    (memory, sampled)
}

#[test]
fn processes_that_share_the_chains_make_the_run_of_one() {
    for length in [Length::Draws(300), Length::Ess { target: 2500.0, most: 900 }] {
        let alone = warmed_up_run(&logistic(), &Team::default(), length);
        for groups in [2, 3, 7] {
            for found in in_grid(groups, 1, |_, model, team| warmed_up_run(&model, &team, length)) {
                assert!(found.0 == alone.0, "{groups}: other draws");
                assert_eq!(found.1, alone.1, "{groups}");
            }
        }
    }
}

#[test]
fn processes_that_share_the_chains_accept_the_same_trajectories() {
    let run = |model: &_, team: &_| with_tolerance(0.0, model, team, Length::Draws(200));
    let alone = run(&logistic(), &Team::default());
    assert!(alone.1.outcome.acceptance().accepted > 0);
    assert!(alone.1.troubles.is_empty(), "{:?}", alone.1.troubles);
    for found in in_grid(3, 1, |_, model, team| run(&model, &team)) {
        assert!(found.0 == alone.0 && found.1 == alone.1);
    }
    // Rows in two shards: the same in both processes and from run to run.
    let [first, again] = [(); 2].map(|()| in_grid(1, 2, |_, model, team| run(&model, &team)));
    assert!(first.iter().chain(&again).all(|found| *found == first[0]));
}

/// The chains contract, so that what rounding changes in a sum stays as small as it is.
#[test]
fn processes_that_share_the_rows_differ_from_one_by_rounding_and_not_from_run_to_run() {
    let length = Length::Draws(300);
    let (alone, _) = warmed_up_run(&logistic(), &Team::default(), length);
    for (groups, shards) in [(1, 2), (1, 3), (1, 4), (2, 2)] {
        let runs =
            || in_grid(groups, shards, |_, model, team| warmed_up_run(&model, &team, length));
        let (first, again) = (runs(), runs());
        assert!(first.iter().chain(&again).all(|found| *found == first[0]), "{groups} x {shards}");
        let memory = &first[0].0;
        for chain in 0..7 {
            let far =
                memory.chain(chain).iter().zip(alone.chain(chain)).map(|(a, b)| (a - b).abs());
            let far = far.fold(0.0, f64::max);
            assert!(far < 1e-11, "{groups} x {shards}, chain {chain}: {far:e}");
        }
        assert!(memory != &alone, "{groups} x {shards}: sums in another order are others");
    }
}

#[test]
fn a_step_sends_as_many_bytes_as_it_has_sums() {
    // A step of the symmetric kernel has one gradient, that of all chains in one message to each of
    // log2(shards) others; d = 5, C = 9.
    for (shards, rounds) in [(2, 1), (4, 2), (8, 3)] {
        let processes: Vec<_> =
            Threads::group(shards).into_iter().map(|peers| Arc::new(Counted::new(peers))).collect();
        std::thread::scope(|scope| {
            for counted in &processes {
                scope.spawn(move || {
                    let model = rows(share_of(60, counted.rank(), shards))
                        .with_rows(&Rows::shared(counted.clone()));
                    let kernel = Symmetric::new(parameters(1.0, 2.0, 0.4), 8.0).unwrap();
                    let mut ensemble = Ensemble::new(&model, 4, &[0.1; 45], 8.0).unwrap();
                    ensemble.advance(&kernel, 1);
                    let before = counted.sent();
                    ensemble.advance(&kernel, 50);
                    let [messages, bytes] = counted.sent();
                    assert_eq!(messages - before[0], 50 * rounds);
                    assert_eq!(bytes - before[1], 50 * rounds * 8 * 5 * 9);
                });
            }
        });
    }
}

/// A sink that takes so many draws.
struct Narrow(u64);

impl Sink for Narrow {
    fn begin(&mut self, _: usize, _: usize) -> Result<(), SinkError> {
        Ok(())
    }

    fn keep(&mut self, _: usize, _: u64, _: &[f64]) -> Result<(), SinkError> {
        self.0 = self.0.checked_sub(1).ok_or("the disk is full")?;
        Ok(())
    }
}

#[test]
fn a_process_that_fails_or_is_stopped_ends_the_run_of_all() {
    let kernel = Symmetric::new(parameters(1.0, 2.0, 0.4), 8.0).unwrap();
    for (groups, shards) in [(3, 1), (2, 2)] {
        let ended = in_grid(groups, shards, |rank, model, team| {
            let mut sink = Narrow(if rank == 1 { 100 } else { u64::MAX });
            Sampler::new(&model, &kernel)
                .chains(5)
                .draws(1 << 40)
                .team(&team)
                .run(&mut sink)
                .unwrap_err()
        });
        for (rank, error) in ended.iter().enumerate() {
            let sink = matches!(error, Error::Sink { .. });
            assert_eq!(
                (sink, matches!(error, Error::Elsewhere)),
                (rank == 1, rank != 1),
                "{error}"
            );
        }
        let steps = in_grid(groups, shards, |rank, model, team| {
            let stop = AtomicBool::new(false);
            let sampler =
                Sampler::new(&model, &kernel).chains(5).draws(1 << 40).team(&team).stop(&stop);
            let told = |progress: &ridgewalk_sampler::Progress| {
                stop.store(rank == 1 && progress.steps > 20, Ordering::Relaxed);
            };
            let outcome = sampler.progress(told).run(&mut Narrow(u64::MAX)).unwrap();
            assert!(outcome.stopped);
            outcome.chains.iter().map(|chain| chain.steps).collect::<Vec<_>>()
        });
        assert!(steps.iter().all(|other| *other == steps[0] && other[0] == other[4]), "{steps:?}");
    }
}
