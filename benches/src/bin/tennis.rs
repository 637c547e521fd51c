//! Skills of thousands of players from who won against whom, by a hierarchical Bradley-Terry model:
//! `cargo run --release -p ridgewalk-benches --bin tennis`.
//!
//! The shape of the data that Ingram measured PyMC and Stan on ("MCMC for big datasets: faster
//! sampling with JAX and the GPU", 2021): 160,420 matches of 4,804 players, who are drawn at random here, as their
//! matches are: careers begin over 50 years and last some, and a few players have most matches. The
//! model is his: skills are normal with an sd that is half-normal, and the log odds of a win are the
//! difference of two skills. Writes docs/results/tennis.csv.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

use ridgewalk::diagnostics::{ess_bulk, ess_tail};
use ridgewalk::potentials::likelihoods::Plain;
use ridgewalk::potentials::{Density, GroupTerm, Joint, Mixed, Sparse};
use ridgewalk::prelude::*;
use ridgewalk::sampler::Stream;
use ridgewalk_benches::Failure;
use ridgewalk_benches::comparison::results;

const PLAYERS: usize = 4_804;
const MATCHES: usize = 160_420;
const YEARS: f64 = 50.0;
/// The standard deviation of skills.
const SD: f64 = 0.8;
const CHAINS: usize = 8;
const DRAWS: u64 = 500;

/// Who played: the winner first.
fn matches() -> Vec<(usize, usize)> {
    let mut stream = Stream::new(1, 0);
    let mut normal = || {
        let mut one = [0.0];
        stream.normals(&mut one);
        one[0]
    };
    // A uniform number from two normal ones.
    let mut uniform = {
        let mut other = Stream::new(2, 0);
        move || {
            let mut pair = [0.0; 2];
            other.normals(&mut pair);
            0.5 + pair[0].atan2(pair[1]) / std::f64::consts::TAU
        }
    };
    let skills: Vec<f64> = (0..PLAYERS).map(|_| SD * normal()).collect();
    let activity: Vec<f64> = skills.iter().map(|skill| (1.2 * (normal() + skill)).exp()).collect();
    let careers: Vec<(f64, f64)> = (0..PLAYERS)
        .map(|_| {
            let start = YEARS * uniform();
            (start, start + 2.0 - 5.0 * uniform().max(1e-12).ln())
        })
        .collect();
    let mut found = Vec::with_capacity(MATCHES);
    while found.len() < MATCHES {
        let year = YEARS * uniform();
        let active = |k: &usize| careers[*k].0 <= year && year <= careers[*k].1;
        let all: Vec<usize> = (0..PLAYERS).filter(active).collect();
        let total: f64 = all.iter().map(|k| activity[*k]).sum();
        let pick = |share: f64| {
            let mut left = total * share;
            all.iter().copied().find(|k| {
                left -= activity[*k];
                left <= 0.0
            })
        };
        // A tournament: matches of the same year.
        for _ in 0..64 {
            let (Some(a), Some(b)) = (pick(uniform()), pick(uniform())) else { continue };
            if a == b || found.len() == MATCHES {
                continue;
            }
            let wins = uniform() < 1.0 / (1.0 + (skills[b] - skills[a]).exp());
            found.push(if wins { (a, b) } else { (b, a) });
        }
    }
    found
}

fn main() -> Result<(), Failure> {
    let matches = matches();
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for &(winner, loser) in &matches {
        let sign = if winner < loser { 1.0 } else { -1.0 };
        indices.extend([winner.min(loser), winner.max(loser)]);
        values.extend([sign, -sign]);
        starts.push(values.len());
    }
    let began = Instant::now();
    let design = Sparse::new(PLAYERS, starts, indices, values)?;
    let joint = Joint::new(design, Arc::new(Plain(Logistic)), &vec![1.0; MATCHES])?;
    let skills = GroupTerm {
        first: 0,
        levels: PLAYERS,
        width: 1,
        sds: vec![Density::Normal { mean: 0.0, scale: 1.0 }],
        concentration: 1.0,
    };
    let model = Arc::new(Mixed::new(joint, vec![skills], &vec![0.0; PLAYERS])?);
    let (entries, of) = model.fill();
    let mut warm = WarmUp::new(&model).chains(CHAINS).seed(1).run()?;
    let warmed = began.elapsed().as_secs_f64();
    let mut draws = Draws::default();
    let made = warm.run(Length::Draws(DRAWS)).keep(&mut draws)?;
    // From coordinates to skills and the logarithm of their sd.
    let d = model.dimension();
    let mut traces = vec![vec![Vec::new(); CHAINS]; d];
    for chain in 0..CHAINS {
        for draw in 0..usize::try_from(DRAWS)? {
            let mut point = draws.point(chain, draw).ok_or("a draw is missing")?.to_vec();
            model.to_plain(&mut point)?;
            traces.iter_mut().zip(&point).for_each(|(trace, x)| trace[chain].push(*x));
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    let least = |of: fn(&[&[f64]]) -> Option<f64>| {
        let each = traces.iter().filter_map(|trace| {
            let chains: Vec<&[f64]> = trace.iter().map(|chain| &chain[..]).collect();
            of(&chains)
        });
        each.fold(f64::INFINITY, f64::min)
    };
    let (bulk, tail) = (least(|c| ess_bulk(c).ok()), least(|c| ess_tail(c).ok()));
    let sd = traces[d - 1].iter().flatten().map(|x| x.exp()).sum::<f64>()
        / (CHAINS as f64 * DRAWS as f64);
    let status = if made.outcome.complete() { "ok" } else { "incomplete" };
    let mut table = String::from(
        "matches,players,chains,draws,warm_up_seconds,seconds,ess_bulk,ess_tail,ess_per_second,factor_entries,matrix_entries,sd,status\n",
    );
    writeln!(
        table,
        "{MATCHES},{PLAYERS},{CHAINS},{DRAWS},{warmed:.1},{seconds:.1},{bulk:.0},{tail:.0},{:.2},{entries},{of},{sd:.3},{status}",
        bulk / seconds
    )?;
    print!("{table}");
    std::fs::write(results("tennis.csv"), table)?;
    Ok(())
}
