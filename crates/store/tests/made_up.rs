//! Synthetic draws and summaries for tests of the store and the report. Each uses only a part, so
//! unused items are allowed.

#![allow(dead_code, unreachable_pub)]

use std::fs;
use std::path::Path;

use ridgewalk_fit::{Parameter, ProblemFacts, SamplerFacts, SummaryDocument, Text};
use ridgewalk_sampler::{DrawStats, Draws, Sink};
use ridgewalk_store::ZarrDraws;
use serde_json::Value;

/// A draw that encodes its chain and number, with some noise in its digits.
pub fn value(chain: usize, draw: u64, coefficient: usize) -> f64 {
    let mixed = (chain as u64 * 7_919 + draw * 104_729 + coefficient as u64 * 1_299_709)
        .wrapping_mul(2_654_435_761);
    (mixed % 1_000_003) as f64 / 1_000_003.0 + coefficient as f64
}

pub fn point(chain: usize, draw: u64, d: usize) -> Vec<f64> {
    (0..d).map(|j| value(chain, draw, j)).collect()
}

pub fn names(d: usize) -> Vec<String> {
    let hostile =
        ["(Intercept)", "<script>alert(\"x\")</script>", "größe 身長 🌡", "a \"b\", c'd & e"];
    let long = "l".repeat(300);
    (0..d).map(|j| hostile.get(j).map_or(format!("{long}{j}"), |name| (*name).to_owned())).collect()
}

/// Passes draws from `first` on to a sink: chain k makes `made[k]` of them.
pub fn feed(sink: &mut dyn Sink, first: u64, made: &[u64], d: usize) {
    for draw in first..made.iter().copied().max().unwrap() {
        for chain in (0..made.len()).filter(|chain| draw < made[*chain]) {
            sink.keep(chain, draw, &point(chain, draw, d)).unwrap();
        }
    }
    sink.flush().unwrap();
}

/// Statistics that tell their chain and draw.
pub fn stats(chain: usize, draw: u64) -> DrawStats {
    DrawStats {
        acceptance_rate: value(chain, draw, 0),
        energy: value(chain, draw, 1),
        lp: -value(chain, draw, 2),
        diverging: draw % 7 == chain as u64,
    }
}

/// As [`feed`], with statistics.
pub fn feed_with_stats(sink: &mut dyn Sink, first: u64, made: &[u64], d: usize) {
    for draw in first..made.iter().copied().max().unwrap() {
        for chain in (0..made.len()).filter(|chain| draw < made[*chain]) {
            let stats = stats(chain, draw);
            sink.keep_with(chain, draw, &point(chain, draw, d), Some(&stats)).unwrap();
        }
    }
    sink.flush().unwrap();
}

/// A finished store of such draws, with statistics.
pub fn store_with_stats(path: &Path, made: &[u64], d: usize) {
    let mut sink = ZarrDraws::create(path, &names(d), 3).unwrap();
    sink.begin(made.len(), d).unwrap();
    feed_with_stats(&mut sink, 0, made, d);
    assert_eq!(sink.finish(true).unwrap(), *made.iter().min().unwrap());
}

/// A finished store of such draws.
pub fn store(path: &Path, made: &[u64], d: usize) {
    let mut sink = ZarrDraws::create(path, &names(d), 3).unwrap();
    sink.begin(made.len(), d).unwrap();
    feed(&mut sink, 0, made, d);
    assert_eq!(sink.finish(true).unwrap(), *made.iter().min().unwrap());
}

/// Every file below a directory, with its bytes.
pub fn files(path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let mut left = vec![path.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap().path();
            if entry.is_dir() {
                left.push(entry);
            } else {
                let name = entry.strip_prefix(path).unwrap().display().to_string();
                all.push((name, fs::read(entry).unwrap()));
            }
        }
    }
    all.sort();
    all
}

pub fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

pub fn facts(chains: usize, draws: u64) -> SamplerFacts {
    SamplerFacts {
        kernel: "symmetric".to_owned(),
        gamma: 1.0,
        xi: 2.0,
        eta: 0.5,
        chains,
        draws,
        thin: 3,
        warmup_gradients: 10,
        gradients: 1000,
        seconds: 0.5,
        bias_estimate: f64::NAN,
        status: String::new(),
        bias_details: None,
        trajectories: None,
    }
}

pub fn problem(d: usize) -> ProblemFacts {
    let family = "logistic".to_owned();
    ProblemFacts { n: 100, d, family, convexity: 0.5, smoothness: 2.0, condition_number: 4.0 }
}

pub fn document(draws: &Draws, text: Text) -> SummaryDocument {
    let summaries = draws.summary().unwrap();
    let parameters = draws.names().iter().zip(&summaries);
    let parameters = parameters.map(|(name, summary)| Parameter::new(name, summary)).collect();
    let sampler = facts(draws.chains(), draws.common() as u64);
    SummaryDocument::new(parameters, sampler, problem(draws.dimension()), text)
}

pub fn made_up(chains: usize, count: u64, d: usize) -> Draws {
    let table = |chain| (0..count).flat_map(|draw| point(chain, draw, d)).collect();
    Draws::from_chains(names(d), (0..chains).map(table).collect()).unwrap()
}
