//! Work on a thread of its own.

use std::sync::Arc;
use std::time::Duration;

use ridgewalk_potentials::FromFn;
use ridgewalk_sampler::automatic::{BlackBox, Length, WarmUp};
use ridgewalk_sampler::{Draws, Error, Job, Sink};

/// A job can be handed to another thread.
fn is_send<T: Send>(_: &T) {}

macro_rules! target {
    () => {{
        let gradient = |x: &[f64], g: &mut [f64]| {
            g[0] = x[0] + x[0].powi(3);
            Ok(())
        };
        BlackBox::new(FromFn::new(1, gradient), 3, &[0.5]).unwrap()
    }};
}

#[test]
fn a_job_makes_the_draws_of_a_run_without_one() {
    let job = Job::sample(Arc::new(target!()), Length::Draws(300), |up| up.chains(3).seed(5));
    let job = job.unwrap();
    is_send(&job);
    let (sampled, draws) = job.join().unwrap();
    let target = target!();
    let mut warm = WarmUp::new(&target).chains(3).seed(5).run().unwrap();
    let mut need = Draws::default();
    let mut found = sampled.unwrap();
    let direct = warm.run(Length::Draws(300)).keep(&mut need).unwrap();
    found.outcome.seconds = direct.outcome.seconds;
    assert_eq!((draws, found), (need, direct));
}

#[test]
fn a_cancelled_job_keeps_its_draws_and_shows_them_before() {
    let job = Job::sample(Arc::new(target!()), Length::Draws(1 << 40), |up| up.chains(2)).unwrap();
    while job.inspect(Draws::is_empty) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let early = job.draws();
    assert!(!job.finished() && !job.status().decisions.is_empty());
    job.cancel();
    let (sampled, draws) = job.join().unwrap();
    assert!(sampled.unwrap().outcome.stopped);
    assert!(draws.common() >= early.common());
    assert_eq!(draws.chain(1)[..early.draws(1)], *early.chain(1));
}

#[test]
fn a_job_that_is_cancelled_before_it_has_draws_says_so() {
    let job = Job::start(|watch| {
        while !watch.cancelled() {
            std::thread::yield_now();
        }
        let target = target!();
        WarmUp::new(&target).stop(watch.stop()).run().map(drop)
    })
    .unwrap();
    job.cancel();
    let (result, draws) = job.join().unwrap();
    assert!(matches!(result, Err(Error::Stopped)) && draws.is_empty());
}

#[test]
fn a_panic_in_a_job_is_an_error_of_its_end() {
    let job: Job<()> = Job::start(|watch| {
        let mut sink = watch.sink();
        sink.begin(1, 1).unwrap();
        panic!("on purpose")
    })
    .unwrap();
    match job.join() {
        Err(Error::Panic { message }) => assert_eq!(message, "on purpose"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_names_of_draws_given_to_a_job_stay() {
    let job = Job::start_into(Draws::named(["slope"]), |watch| {
        let mut sink = watch.sink();
        sink.begin(1, 1).and_then(|()| sink.keep(0, 0, &[2.5])).and_then(|()| sink.flush())
    });
    let (result, draws) = job.unwrap().join().unwrap();
    result.unwrap();
    assert_eq!(draws.traces_of("slope"), Some(vec![vec![2.5]]));
}
