//! Compares the bias reported by a warm-up with the true one:
//! `cargo run --profile checks -p ridgewalk-benches --bin bias [NAME ...]`.
//!
//! For each target there are several kernels and steps, among them those of the automatic warm-up,
//! with one warm-up per seed. The reported bias (the largest of a mean in sd, and of an sd relative
//! to it) is compared with the truth: long runs of the same scheme in the same coordinates against
//! the reference. The truth counts as measurable if it exceeds six of its standard errors, since
//! the largest of many noisy numbers is about two of them too large. Further columns: the share of
//! coordinates and seeds in which report and truth agree within two joint standard errors, the
//! order with which differences fall with the step, and the bias of the plain and of the
//! extrapolated moments over all coordinates. Writes docs/results/bias.csv and prints the table.

use std::fmt::Write;

use clap::Parser;
use rayon::prelude::*;
use ridgewalk::diagnostics::{Summary, summaries_of_table};
use ridgewalk::lyapunov::laws::{KernelKind, Scheme};
use ridgewalk::sampler::automatic::{
    CoordinateBias, Extrapolated, Target, Wanted, WarmUp, WarmedUp,
};
use ridgewalk::sampler::{CoupledChains, Difference, Draws, InOriginal, Sampler};
use ridgewalk_benches::Failure;
use ridgewalk_benches::comparison::results;
use ridgewalk_benches::problems::{Problem, Visit, on};
use ridgewalk_gallery::{self as gallery, Reference};

/// Compares the bias reported by a warm-up with the true one.
#[derive(Debug, Parser)]
struct Arguments {
    /// Targets; by default the six small ones.
    names: Vec<String>,
    /// Number of warm-ups, with seeds from 1 on.
    #[arg(long, default_value_t = 9)]
    seeds: u64,
    /// Draws of each chain in the long run of seed 1; the other seeds have a quarter of them.
    #[arg(long, default_value_t = 2000)]
    draws: u64,
    /// Only print.
    #[arg(long)]
    dry: bool,
}

const NAMES: [&str; 6] =
    ["correlated-logistic", "breast-cancer", "poisson", "probit", "huber", "ladder"];
/// Copies of the eight chains of a warm-up in a long run.
const COPIES: usize = 8;
/// Offset of the seeds of long runs.
const LONG_RUNS: u64 = 1000;
/// Time of the dynamics before measurements.
const SETTLE: f64 = 20.0;
/// Time of the dynamics over which pairs of chains are compared for the order.
const LONG: f64 = 300.0;
/// Number of standard errors above which the truth is measurable.
const MEASURABLE: f64 = 6.0;

const HEADER: &str = "target,kernel,eta,automatic,moment,reported,reported_low,reported_high,true,true_low,true_high,\
                      true_error,measurable,ratio,ratio_low,ratio_high,coverage,order,plain_rms,extrapolated_rms,noise_rms\n";

/// A kernel, a step, and whether they are those of the automatic warm-up.
type Case = (KernelKind, f64, bool);

/// Kernels and steps with a bias that is measurable but not unreasonably large.
fn cases(name: &str) -> Vec<Case> {
    let steps: [&[f64]; 3] = match name {
        "breast-cancer" => [&[0.4, 0.6], &[0.6, 0.9], &[0.4, 0.6]],
        "probit" => [&[0.5, 0.8], &[0.8, 1.2], &[1.0, 1.75]],
        _ => [&[0.5, 0.8], &[0.8, 1.2], &[1.75]],
    };
    let kernels = [KernelKind::ThirdOrder, KernelKind::Averaged, KernelKind::Symmetric];
    kernels
        .into_iter()
        .zip(steps)
        .flat_map(|(k, etas)| etas.iter().map(move |eta| (k, *eta, false)))
        .collect()
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let all = NAMES.map(String::from);
    let names = if arguments.names.is_empty() { &all[..] } else { &arguments.names[..] };
    let mut text = HEADER.to_string();
    for name in names {
        text += &on(name, Study { name, arguments: &arguments })?;
    }
    if !arguments.dry {
        std::fs::write(results("bias.csv"), text)?;
    }
    Ok(())
}

/// The rows of one target.
struct Study<'a> {
    name: &'a str,
    arguments: &'a Arguments,
}

impl Visit for Study<'_> {
    type Output = String;

    fn visit<P: Problem>(self, problem: &P) -> Result<String, Failure> {
        let Self { name, arguments } = self;
        let target = problem.target();
        let reference = gallery::reference(name).map_err(|error| error.to_string())?;
        let picked = WarmUp::new(target).tolerance(0.05).seed(1).run()?.scheme;
        let mut list = cases(name);
        list.retain(|(kernel, eta, _)| (*kernel, *eta) != (picked.kernel(), picked.eta()));
        list.push((picked.kernel(), picked.eta(), true));
        let rows: Result<Vec<String>, String> = list
            .par_iter()
            .map(|case| {
                rows(name, target, &reference, *case, arguments).map_err(|error| error.to_string())
            })
            .collect();
        let text = rows?.concat();
        print!("{}{text}", if name == NAMES[0] { HEADER } else { "" });
        Ok(text)
    }
}

/// For each coordinate a bias with its standard error: of means in sd, of sds relative to them.
type Biases = [Vec<[f64; 2]>; 2];

/// The results of one seed.
struct Seen {
    reported: [f64; 2],
    estimates: Biases,
    truth: Biases,
}

fn rows<T: Target>(
    name: &str, target: &T, reference: &Reference, (kernel, eta, automatic): Case,
    arguments: &Arguments,
) -> Result<String, Failure> {
    let wanted = Wanted { kernel: Some(kernel), eta: Some(eta), ..Wanted::default() };
    let (mut seen, mut first) = (Vec::new(), None);
    for seed in 1..=arguments.seeds {
        let warm = WarmUp::new(target).seed(seed).wanted(wanted).run()?;
        let draws = if seed == 1 { arguments.draws } else { arguments.draws.div_ceil(4) };
        let summaries = long_run(&warm, draws, seed)?;
        seen.push(Seen {
            reported: [warm.bias.mean, warm.bias.sd],
            estimates: by_coordinate(&warm.differences),
            truth: against(reference, summaries.iter().map(plain)),
        });
        if seed == 1 {
            first = Some((warm, summaries));
        }
    }
    let (warm, summaries) = first.ok_or("no seeds")?;
    let long = differences(&warm, &warm.scheme)?;
    let half =
        Scheme::new(kernel, or_one(warm.scheme.gamma()), or_one(warm.scheme.xi()), 0.5 * eta)?;
    let short = differences(&warm, &half)?;
    let left = against(
        reference,
        summaries.iter().zip(&long).map(|(s, difference)| {
            let better = Extrapolated::new(s, difference);
            [better.mean, better.mean_error, better.sd, better.sd_error]
        }),
    );
    let orders = orders(&long, &short);
    let mut text = String::new();
    for (k, moment) in ["mean", "sd"].into_iter().enumerate() {
        // Writing to a string does not fail.
        let _ = write!(text, "{name},{},{eta:.3},{automatic},{moment}", kernel.name());
        let numbers = numbers(k, &seen, &left[k], orders[k]);
        numbers.iter().for_each(|x| _ = write!(text, ",{}", short_form(*x)));
        text.push('\n');
    }
    Ok(text)
}

/// The numbers of a row: for moment `k`, with the biases `left` by extrapolation and the order.
fn numbers(k: usize, seen: &[Seen], left: &[[f64; 2]], order: f64) -> Vec<f64> {
    let reported: Vec<f64> = seen.iter().map(|s| s.reported[k]).collect();
    let truth: Vec<[f64; 2]> = seen.iter().map(|s| largest(&s.truth[k])).collect();
    let ratios: Vec<f64> = reported
        .iter()
        .zip(&truth)
        .filter(|(_, [value, error])| *value > MEASURABLE * error)
        .map(|(reported, [value, _])| reported / value)
        .collect();
    let values: Vec<f64> = truth.iter().map(|[value, _]| *value).collect();
    let errors: Vec<f64> = truth.iter().map(|[_, error]| *error).collect();
    let covered: Vec<f64> =
        seen.iter().flat_map(|s| agreement(&s.estimates[k], &s.truth[k])).collect();
    let coverage = covered.iter().sum::<f64>() / covered.len() as f64;
    let noise = rms(left.iter().map(|[_, error]| *error));
    [
        &spread(&reported)[..],
        &spread(&values),
        &[spread(&errors)[0], ratios.len() as f64],
        &spread(&ratios),
        &[coverage, order, rms(seen[0].truth[k].iter().map(|[value, _]| *value))],
        &[rms(left.iter().map(|[value, _]| *value)), noise],
    ]
    .concat()
}

fn or_one(x: Option<f64>) -> f64 {
    x.unwrap_or(1.0)
}

/// Four decimals; empty for NaN.
fn short_form(x: f64) -> String {
    if x.is_finite() { format!("{x:.4}") } else { String::new() }
}

fn plain(s: &Summary) -> [f64; 4] {
    [s.mean, s.mcse_mean, s.sd, s.mcse_sd]
}

/// The states of a warm-up's chains, repeated.
fn starts<W>(warm: &WarmedUp<W>) -> Vec<f64> {
    warm.starts.repeat(COPIES)
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a few thousand at most"
)]
fn steps(time: f64, eta: f64) -> u64 {
    (time / eta).ceil() as u64
}

fn long_run<W: ridgewalk::potentials::LineIntegral + Sync>(
    warm: &WarmedUp<W>, draws: u64, seed: u64,
) -> Result<Vec<Summary>, Failure> {
    let (kernel, starts, eta) = (warm.kernel()?, starts(warm), warm.scheme.eta());
    let mut memory = Draws::default();
    let outcome = Sampler::new(&warm.potential, &*kernel)
        .chains(starts.len() / warm.whitening.dimension())
        .seed(LONG_RUNS + seed)
        .starts(&starts)
        .warm_up(steps(SETTLE, eta))
        .thin(steps(0.8, eta))
        .draws(draws)
        .run(&mut InOriginal::new(&warm.whitening, &mut memory))?;
    if !outcome.complete() {
        return Err(format!("{} at {eta}: a chain ended", warm.scheme.name()).into());
    }
    Ok(summaries_of_table(&memory.tables(), warm.whitening.dimension())?)
}

/// Differences between a scheme and the same with half the step, over a long time.
fn differences<W: ridgewalk::potentials::LineIntegral + Sync>(
    warm: &WarmedUp<W>, scheme: &Scheme,
) -> Result<Vec<Difference>, Failure> {
    let mut chains = CoupledChains::new(&warm.potential, scheme, 1.0, 5, &starts(warm))?
        .whitened(&warm.whitening)?;
    chains.drift(SETTLE)?;
    Ok(chains.measure(steps(LONG, scheme.eta()))?)
}

fn by_coordinate(differences: &[Difference]) -> Biases {
    let all: Vec<CoordinateBias> = differences.iter().map(CoordinateBias::from).collect();
    [
        all.iter().map(|b| [b.mean, b.mean_error]).collect(),
        all.iter().map(|b| [b.sd, b.sd_error]).collect(),
    ]
}

/// The biases of means and sds, given with their errors, relative to the reference.
fn against(reference: &Reference, moments: impl Iterator<Item = [f64; 4]>) -> Biases {
    let mut found: Biases = Default::default();
    for (k, [mean, mean_error, sd, sd_error]) in moments.enumerate() {
        let unit = reference.sds[k];
        found[0].push([
            (mean - reference.means[k]) / unit,
            mean_error.hypot(reference.mean_errors[k]) / unit,
        ]);
        found[1].push([sd / unit - 1.0, sd_error.hypot(reference.sd_errors[k]) / unit]);
    }
    found
}

/// The largest absolute value and its error.
fn largest(list: &[[f64; 2]]) -> [f64; 2] {
    let found = list.iter().max_by(|a, b| a[0].abs().total_cmp(&b[0].abs()));
    found.map_or([f64::NAN; 2], |[value, error]| [value.abs(), *error])
}

/// For each coordinate, 1 if two estimates agree within two joint standard errors, otherwise 0.
fn agreement(a: &[[f64; 2]], b: &[[f64; 2]]) -> Vec<f64> {
    a.iter()
        .zip(b)
        .map(|([x, e], [y, f])| if (x - y).abs() < 2.0 * e.hypot(*f) { 1.0 } else { 0.0 })
        .collect()
}

/// log2 of the regression slope of differences at η on those at η/2, for means and for variances,
/// corrected for the noise of the latter; NaN if they are mostly noise.
fn orders(long: &[Difference], short: &[Difference]) -> [f64; 2] {
    let order = |of: &dyn Fn(&Difference) -> [f64; 2]| {
        let (mut product, mut square, mut noise) = (0.0, 0.0, 0.0);
        for (a, b) in long.iter().zip(short) {
            let ([x, _], [y, error]) = (of(a), of(b));
            product += x * y;
            square += y * y;
            noise += error * error;
        }
        if square > 5.0 * noise { (product / (square - noise)).log2() } else { f64::NAN }
    };
    [
        order(&|d| [d.mean / d.sd, d.mean_error / d.sd]),
        order(&|d| [d.variance, d.variance_error].map(|v| v / (d.sd * d.sd))),
    ]
}

fn rms(numbers: impl Iterator<Item = f64>) -> f64 {
    let list: Vec<f64> = numbers.collect();
    (list.iter().map(|x| x * x).sum::<f64>() / list.len() as f64).sqrt()
}

/// Median, smallest and largest; NaN for an empty list.
fn spread(list: &[f64]) -> [f64; 3] {
    let mut list = list.to_vec();
    list.sort_by(f64::total_cmp);
    match (list.first(), list.get(list.len() / 2), list.last()) {
        (Some(low), Some(middle), Some(high)) => [*middle, *low, *high],
        _ => [f64::NAN; 3],
    }
}
