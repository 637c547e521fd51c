//! Everything that reads what others may have written, given millions of bent inputs: no panic, no
//! hang, no memory beyond a bound.
//!
//! `cargo test` gives each target some thousands; `scripts/faults/fuzz` gives them ten million
//! together. Inputs are bent copies of good ones, made from a seed. A copy that is answered as none
//! before is bent in turn, so that errors deep within are reached: there is no need for an
//! instrumented build.

mod mutate;
mod targets;

use std::alloc::System;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use mutate::{Chance, bent};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use targets::{Answer, Reader, TARGETS, Target};

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// An input that takes longer hangs. The slowest that is known takes milliseconds; machines may be
/// busy.
const LONGEST: Duration = Duration::from_secs(20);
/// Inputs that are bent, at most: the first of each answer.
const POOL: usize = 4096;
/// What is running now, and since when: for whoever finds that it does not end.
static RUNNING: Mutex<Option<(&'static str, Vec<u8>, Instant)>> = Mutex::new(None);
/// Panics, memory and time are of one process.
static ALONE: Mutex<()> = Mutex::new(());

/// What came out.
#[derive(Debug, Default)]
struct Outcome {
    runs: u64,
    answers: usize,
    slowest: Duration,
    /// The most bytes that one input made the program ask for, all requests together.
    most: usize,
    /// What went wrong, with the input.
    crashes: Vec<String>,
}

/// An answer without the numbers in it and what it quotes: whether it is another kind of answer.
fn kind(answer: &Answer) -> u64 {
    let mut hasher = DefaultHasher::new();
    match answer {
        Answer::Taken(what) => what.hash(&mut hasher),
        Answer::Refused(message) => {
            let mut quoted = false;
            for c in message.chars().take(400) {
                quoted ^= c == '`';
                if !quoted && !c.is_ascii_digit() {
                    c.hash(&mut hasher);
                }
            }
        }
    }
    hasher.finish()
}

/// Gives one input to a target.
fn give(target: &Target, input: &[u8], outcome: &mut Outcome) -> Option<u64> {
    *RUNNING.lock().unwrap() = Some((target.name, input.to_vec(), Instant::now()));
    let region = Region::new(COUNTING);
    let began = Instant::now();
    let done = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    let (seconds, asked) = (began.elapsed(), region.change().bytes_allocated);
    *RUNNING.lock().unwrap() = None;
    outcome.runs += 1;
    outcome.slowest = outcome.slowest.max(seconds);
    outcome.most = outcome.most.max(asked);
    let wrong = match &done {
        Err(payload) => {
            let text = payload.downcast_ref::<String>().cloned();
            text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()))
                .or(Some("a panic".into()))
        }
        Ok(_) if asked > target.bytes + 4096 * input.len() => {
            Some(format!("{asked} bytes of memory"))
        }
        Ok(_) if seconds > LONGEST => Some(format!("{seconds:?}")),
        Ok(_) => None,
    };
    if let Some(wrong) = wrong
        && outcome.crashes.len() < 20
    {
        let start = input.get(..2000).unwrap_or(input);
        outcome.crashes.push(format!(
            "{}: {wrong}, from b\"{}\"",
            target.name,
            start.escape_ascii()
        ));
    }
    done.ok().as_ref().map(kind)
}

/// Gives a target its seeds and then bent ones.
fn fuzz(target: &Target, runs: u64, seed: u64) -> Outcome {
    let mut outcome = Outcome::default();
    let mut chance = Chance(seed);
    let mut seen = HashSet::new();
    let mut pool: Vec<Vec<u8>> = Vec::new();
    let seeds = (target.seeds)();
    let plain = seeds.len();
    for input in seeds {
        seen.extend(give(target, &input, &mut outcome));
        pool.push(input);
    }
    while outcome.runs < runs {
        // Good inputs and late ones more often than those between.
        let pick = |chance: &mut Chance| match chance.below(4) {
            0 => chance.below(plain),
            1 => pool.len() - 1 - chance.below(pool.len().min(16)),
            _ => chance.below(pool.len()),
        };
        let (one, other) = (pick(&mut chance), pick(&mut chance));
        let input = bent(&mut chance, &pool[one], &pool[other], target.words);
        if let Some(kind) = give(target, &input, &mut outcome)
            && seen.insert(kind)
            && pool.len() < POOL
        {
            pool.push(input);
        }
    }
    outcome.answers = seen.len();
    outcome
}

/// Ends the process with the input in hand if one does not end.
fn watch() {
    std::thread::spawn(|| {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let running = RUNNING.lock().unwrap();
            if let Some((name, input, since)) = &*running
                && since.elapsed() > 3 * LONGEST
            {
                eprintln!("{name} does not end with b\"{}\"", input.escape_ascii());
                std::process::abort();
            }
        }
    });
}

/// Messages of panics that are counted are not shown as they come.
fn quietly<T>(work: impl FnOnce() -> T) -> T {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let done = work();
    std::panic::set_hook(before);
    done
}

/// The most memory that this process has had, in MiB.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(f64::NAN)
        / 1024.0
}

#[test]
fn thousands_of_bent_inputs_are_refused_or_taken() {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    watch();
    let crashes = quietly(|| {
        TARGETS.iter().flat_map(|target| fuzz(target, target.quick, 1).crashes).collect::<Vec<_>>()
    });
    targets::clean();
    assert!(crashes.is_empty(), "{}", crashes.join("\n"));
}

#[test]
fn a_reader_with_a_planted_mistake_is_caught() {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let good = || vec![b"y,age\n1,2\n0,3\n".to_vec()];
    let words: &[&[u8]] = &[b"\""];
    let planted: [(&'static str, Reader); 2] = [
        ("panics at a quote before a comma", |input| {
            assert!(!input.windows(2).any(|pair| pair == b"\","), "planted");
            Answer::Refused(String::new())
        }),
        ("trusts a count", |input| {
            let room = if input.starts_with(b"\"") { 64 << 20 } else { 64 };
            Answer::Taken(Vec::<u8>::with_capacity(room).capacity() as u64 % 2)
        }),
    ];
    for (name, run) in planted {
        let target = Target { name, seeds: good, words, run, bytes: 1 << 20, quick: 0 };
        let outcome = quietly(|| fuzz(&target, 20_000, 1));
        assert!(!outcome.crashes.is_empty(), "{name}");
    }
}

/// `RIDGEWALK_FUZZ=csv:1000000` gives a target so many inputs and prints a line of
/// docs/results/fuzz.csv; see scripts/faults/fuzz.
#[test]
fn many() {
    let Some(wanted) = std::env::var("RIDGEWALK_FUZZ").ok() else { return };
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    watch();
    let (name, runs) = wanted.split_once(':').expect("TARGET:RUNS");
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target");
    let began = Instant::now();
    let outcome = quietly(|| fuzz(target, runs.parse().expect("a number of runs"), 2));
    targets::clean();
    println!(
        "fuzz,{name},{},{},{:.1},{:.1},{:.1},{}",
        outcome.runs,
        outcome.answers,
        began.elapsed().as_secs_f64(),
        outcome.slowest.as_secs_f64() * 1e3,
        peak(),
        outcome.crashes.len()
    );
    assert!(outcome.crashes.is_empty(), "{}", outcome.crashes.join("\n"));
}
