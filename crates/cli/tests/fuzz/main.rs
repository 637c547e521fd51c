//! Fuzzes every reader of untrusted input with mutated inputs: no panic, no hang, bounded memory.
//!
//! `cargo test` runs some thousands per target; `scripts/faults/fuzz` runs eleven million in total.
//! Inputs are mutated copies of valid ones, made from a seed. A copy with a new kind of answer is
//! mutated further, so that deep errors are reached without an instrumented build.

mod mutate;
mod targets;

use std::alloc::System;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use mutate::{Chance, mutated};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use targets::{Answer, Reader, TARGETS, Target};

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// An input that takes longer counts as a hang. The slowest known takes milliseconds, but machines
/// may be busy.
const LONGEST: Duration = Duration::from_secs(20);
/// Maximum number of inputs to mutate: the first of each kind of answer.
const POOL: usize = 4096;
/// The current input and its start time, to report hangs.
static RUNNING: Mutex<Option<(&'static str, Vec<u8>, Instant)>> = Mutex::new(None);
/// Panics, memory and time are measured per process, so tests run one at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Results of a target.
#[derive(Debug, Default)]
struct Outcome {
    runs: u64,
    answers: usize,
    slowest: Duration,
    /// The most bytes allocated for one input, over all requests.
    most: usize,
    /// Failures, with their inputs.
    crashes: Vec<String>,
}

/// The kind of an answer: its text without numbers and quoted parts.
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

/// Runs a target on one input.
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

/// Runs a target on its seeds and then on mutated inputs.
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
        // Prefers valid and recent inputs.
        let pick = |chance: &mut Chance| match chance.below(4) {
            0 => chance.below(plain),
            1 => pool.len() - 1 - chance.below(pool.len().min(16)),
            _ => chance.below(pool.len()),
        };
        let (one, other) = (pick(&mut chance), pick(&mut chance));
        let input = mutated(&mut chance, &pool[one], &pool[other], target.words);
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

/// Aborts the process and prints the input if one hangs.
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

/// Hides the messages of panics that are counted.
fn quietly<T>(work: impl FnOnce() -> T) -> T {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let done = work();
    std::panic::set_hook(before);
    done
}

/// The peak memory of this process, in MiB.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(f64::NAN)
        / 1024.0
}

#[test]
fn thousands_of_mutated_inputs_are_refused_or_accepted() {
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

/// `RIDGEWALK_FUZZ=csv:1000000` runs a target on this many inputs and prints a line of
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
