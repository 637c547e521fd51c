//! Mixed models of hard data: few or many levels, levels of one row, no variance and much of it.
//!
//! Normal responses with intercepts of groups have an exact law: given σ and τ everything else is
//! normal, and their density is known in closed form from the means and sums of squares of the groups.
//! Two sums over a grid of (log σ, log τ) are as good as exact. Other hard cases are compared with
//! `mixed_families`, or with a second run of half the step and another seed.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "levels and places in tables: small and not negative"
)]

use ridgewalk_diagnostics::mcse_quantile;
use ridgewalk_fit::{Fitted, Settings, fit};
use ridgewalk_frame::{Column, FamilyName, Table};
use ridgewalk_sampler::Stream;

use crate::mixed_families::{ERRORS, Need, apart, farthest};

const LEVELS: [f64; 3] = [0.05, 0.5, 0.95];
const TAU: &str = "sd_g__(Intercept)";
/// Densities below e^-this of the largest are left out.
const DEPTH: f64 = 25.0;

/// The prior of the standard deviation of groups.
#[derive(Debug, Clone, Copy)]
enum Prior {
    HalfNormal(f64),
    HalfT(f64, f64),
}

impl Prior {
    fn text(self) -> String {
        match self {
            Self::HalfNormal(scale) => format!("half_normal({scale})"),
            Self::HalfT(degrees, scale) => format!("half_t({degrees}, {scale})"),
        }
    }

    fn log_density(self, tau: f64) -> f64 {
        match self {
            Self::HalfNormal(scale) => -0.5 * (tau / scale).powi(2),
            Self::HalfT(degrees, scale) => {
                -0.5 * (degrees + 1.0) * ((tau / scale).powi(2) / degrees).ln_1p()
            }
        }
    }
}

/// A data set with its priors: of the intercept normal(centre, 5 unit), of σ exponential(1/unit).
struct Case {
    name: &'static str,
    /// Responses of each group, with their weights.
    groups: Vec<Vec<(f64, f64)>>,
    offset: f64,
    weighted: bool,
    centre: f64,
    unit: f64,
    prior: Prior,
    /// Whether τ has no standard deviation worth the name: only its quantiles are compared.
    heavy: bool,
}

/// What is known of a posterior.
struct Law {
    needs: Vec<Need>,
    /// Quantiles of σ and τ.
    quantiles: Vec<(&'static str, [f64; 3])>,
}

impl Case {
    fn new(name: &'static str, groups: Vec<Vec<f64>>, prior: Prior) -> Self {
        let groups = groups.into_iter().map(|g| g.into_iter().map(|y| (y, 1.0)).collect());
        let (offset, weighted, centre, unit, heavy) = (0.0, false, 0.0, 1.0, false);
        Self { name, groups: groups.collect(), offset, weighted, centre, unit, prior, heavy }
    }

    fn fit(&self) -> Fitted {
        self.fit_with(3, 2500)
    }

    fn fit_with(&self, seed: u64, draws: u64) -> Fitted {
        let (mut y, mut w, mut g) = (Vec::new(), Vec::new(), Vec::new());
        for (j, group) in self.groups.iter().enumerate() {
            for (response, weight) in group {
                y.push(response + self.offset);
                w.push(*weight);
                g.push(format!("g{j}"));
            }
        }
        let offset = vec![self.offset; y.len()];
        let columns = vec![
            Column::from_numbers("y", &y),
            Column::from_numbers("w", &w),
            Column::from_numbers("o", &offset),
            Column::from_texts("g", &g),
        ];
        let table = Table::from_columns("made", columns).unwrap();
        let settings = Settings {
            intercept_prior: Some(format!("normal({}, {})", self.centre, 5.0 * self.unit)),
            aux_prior: Some(format!("exponential({})", 1.0 / self.unit)),
            group_prior: Some(self.prior.text()),
            weights: self.weighted.then(|| "w".to_owned()),
            offset: (self.offset != 0.0).then(|| "o".to_owned()),
            draws,
            seed,
            ..Settings::of_formula("y ~ 1 + (1 | g)", FamilyName::Gaussian)
        };
        fit(&table, &settings).unwrap()
    }

    /// Weight, mean and sum of squares of each group.
    fn sums(&self) -> Vec<[f64; 3]> {
        let of = |group: &Vec<(f64, f64)>| {
            let n: f64 = group.iter().map(|(_, w)| w).sum();
            let mean = group.iter().map(|(y, w)| w * y).sum::<f64>() / n;
            [n, mean, group.iter().map(|(y, w)| w * (y - mean).powi(2)).sum()]
        };
        self.groups.iter().map(of).collect()
    }

    /// The log density of (log σ, log τ), and mean and precision of the intercept there.
    fn at(&self, sums: &[[f64; 3]], log_sigma: f64, log_tau: f64) -> [f64; 3] {
        let (sigma, tau) = (log_sigma.exp(), log_tau.exp());
        let width = 5.0 * self.unit;
        let (mut precision, mut linear) = (width.powi(-2), self.centre * width.powi(-2));
        let mut log = log_sigma + log_tau - sigma / self.unit + self.prior.log_density(tau);
        for [n, mean, squares] in sums {
            let v = tau * tau + sigma * sigma / n;
            precision += 1.0 / v;
            linear += mean / v;
            log -= 0.5 * v.ln() + (n - 1.0) * log_sigma + 0.5 * squares / (sigma * sigma);
        }
        let middle = linear / precision;
        log -= 0.5 * precision.ln() + 0.5 * ((middle - self.centre) / width).powi(2);
        for [n, mean, _] in sums {
            log -= 0.5 * (mean - middle).powi(2) / (tau * tau + sigma * sigma / n);
        }
        [log, middle, precision]
    }

    fn law(&self) -> Law {
        let sums = self.sums();
        let place = |range: [f64; 2], count: usize, k: usize| {
            range[0] + (range[1] - range[0]) * k as f64 / (count - 1) as f64
        };
        let all: Vec<f64> = sums.iter().map(|s| s[1]).collect();
        let spread = all.iter().map(|m| (m - all[0]).abs()).fold(self.unit, f64::max);
        let (low, high) = (self.unit.ln() - 14.0, spread.ln() + 6.0);
        let mut boxes = [[low, high]; 2];
        for _ in 0..8 {
            const N: usize = 100;
            let value = |k: usize, l: usize| {
                self.at(&sums, place(boxes[0], N, k), place(boxes[1], N, l))[0]
            };
            let points = (0..N * N).map(|at| (at / N, at % N, value(at / N, at % N)));
            let points: Vec<(usize, usize, f64)> = points.collect();
            let top = points.iter().map(|p| p.2).fold(f64::NEG_INFINITY, f64::max);
            let kept = || points.iter().filter(|p| p.2 > top - DEPTH);
            let ends = |list: Vec<usize>, range: [f64; 2]| {
                let (first, last) = (*list.iter().min().unwrap(), *list.iter().max().unwrap());
                [place(range, N, first.saturating_sub(1)), place(range, N, (last + 1).min(N - 1))]
            };
            boxes = [
                ends(kept().map(|p| p.0).collect(), boxes[0]),
                ends(kept().map(|p| p.1).collect(), boxes[1]),
            ];
        }
        const POINTS: [usize; 2] = [161, 641];
        let mut found = Vec::new();
        for k in 0..POINTS[0] {
            for l in 0..POINTS[1] {
                let (a, b) = (place(boxes[0], POINTS[0], k), place(boxes[1], POINTS[1], l));
                found.push((k, l, a, b, self.at(&sums, a, b)));
            }
        }
        let top = found.iter().map(|p| p.4[0]).fold(f64::NEG_INFINITY, f64::max);
        let count = 3 + sums.len();
        let (mut total, mut first, mut second) = (0.0, vec![0.0; count], vec![0.0; count]);
        let mut lines = [vec![0.0; POINTS[0]], vec![0.0; POINTS[1]]];
        for (k, l, a, b, [log, middle, precision]) in found {
            let w = (log - top).exp();
            total += w;
            lines[0][k] += w;
            lines[1][l] += w;
            let (sigma, tau) = (a.exp(), b.exp());
            let mut add = |k: usize, mean: f64, variance: f64| {
                first[k] += w * mean;
                second[k] += w * (variance + mean * mean);
            };
            add(0, middle - self.centre, 1.0 / precision);
            add(1, sigma, 0.0);
            add(2, tau, 0.0);
            for (j, [n, mean, _]) in sums.iter().enumerate() {
                let v = tau * tau + sigma * sigma / n;
                let share = tau * tau / v;
                let variance = share * sigma * sigma / n + share * share / precision;
                add(3 + j, share * (mean - middle), variance);
            }
        }
        let need = |name: String, k: usize, shift: f64| {
            let mean = first[k] / total;
            let sd = (second[k] / total - mean * mean).sqrt();
            Need { name, log: false, mean: mean + shift, sd }
        };
        let mut needs = vec![need("sigma".into(), 1, 0.0)];
        if !self.heavy {
            needs.push(need("(Intercept)".into(), 0, self.centre));
            needs.push(need(TAU.into(), 2, 0.0));
            let effect = |j: usize| need(format!("r_g[g{j},(Intercept)]"), 3 + j, 0.0);
            needs.extend((0..sums.len()).map(effect));
        }
        let quantiles = |line: &[f64], range: [f64; 2]| {
            LEVELS.map(|level| {
                // Half of the weight of a point is on either side of it.
                let (mut below, mut k) = (0.0, 0);
                while below + line[k] < level * total {
                    below += line[k];
                    k += 1;
                }
                let share = (level * total - below) / line[k] - 0.5;
                let step = (range[1] - range[0]) / (line.len() - 1) as f64;
                (place(range, line.len(), k) + share * step).exp()
            })
        };
        let quantiles =
            vec![("sigma", quantiles(&lines[0], boxes[0])), (TAU, quantiles(&lines[1], boxes[1]))];
        Law { needs, quantiles }
    }
}

impl Law {
    fn farthest(&self, fitted: &Fitted) -> (f64, String) {
        let mut worst = farthest(fitted, &self.needs);
        for (name, quantiles) in &self.quantiles {
            let parameter = fitted.parameter(name).unwrap();
            let traces = fitted.draws().traces_of(name).unwrap();
            let chains: Vec<&[f64]> = traces.iter().map(|trace| &trace[..]).collect();
            let found = [parameter.q05, parameter.q50, parameter.q95];
            for ((level, need), found) in LEVELS.iter().zip(quantiles).zip(found) {
                let off = (found - need).abs() / mcse_quantile(&chains, *level).unwrap();
                if !(off <= worst.0) {
                    worst = (off, format!("quantile {level} of {name}: {found} for {need}"));
                }
            }
        }
        worst
    }
}

/// Responses of groups of these sizes, with these standard deviations of groups and noise.
fn made(seed: u64, sizes: &[usize], between: f64, noise: f64) -> Vec<Vec<f64>> {
    let mut stream = Stream::new(seed, 1);
    let mut group = |n: &usize| {
        let mut z = vec![0.0; n + 1];
        stream.normals(&mut z);
        z[1..].iter().map(|e| 0.4 + between * z[0] + noise * e).collect()
    };
    sizes.iter().map(&mut group).collect()
}

fn cases() -> Vec<Case> {
    use Prior::{HalfNormal, HalfT};
    let scaled = |unit: f64| {
        let groups: Vec<Vec<f64>> = made(8, &[6; 7], 0.8, 1.0);
        let groups = groups.into_iter().map(|g| g.into_iter().map(|y| unit * y).collect());
        let case = Case::new("scaled", groups.collect(), HalfNormal(2.0 * unit));
        Case { unit, ..case }
    };
    let mut level = made(3, &[5; 6], 0.0, 1.0);
    for group in &mut level {
        let mean = group.iter().sum::<f64>() / group.len() as f64;
        group.iter_mut().for_each(|y| *y -= mean);
    }
    let mut weighted = Case::new("weights", made(9, &[5; 6], 1.0, 1.0), HalfNormal(1.0));
    for (k, (_, weight)) in weighted.groups.iter_mut().flatten().enumerate() {
        *weight = 1.0 + (k % 3) as f64;
    }
    weighted.weighted = true;
    let mut large = vec![10_000];
    large.extend([1; 5]);
    vec![
        Case::new("two groups", made(1, &[5, 5], 1.0, 1.0), HalfNormal(2.0)),
        Case::new("one row for each group", made(2, &[1; 12], 1.0, 1.0), HalfNormal(2.0)),
        Case::new("no variance", level, HalfNormal(2.0)),
        Case::new("much variance", made(4, &[6; 8], 1000.0, 1.0), HalfNormal(2000.0)),
        Case::new("one large group", made(5, &large, 1.0, 1.0), HalfNormal(2.0)),
        Case {
            heavy: true,
            ..Case::new("three levels", made(6, &[6; 3], 1.0, 1.0), HalfT(1.0, 5.0))
        },
        Case::new("many rows for each group", made(7, &[400; 5], 0.5, 1.0), HalfNormal(2.0)),
        scaled(1e6),
        scaled(1e-6),
        weighted,
        Case { offset: 3.5, ..Case::new("offset", made(10, &[5; 6], 1.0, 1.0), HalfNormal(1.0)) },
    ]
}

fn warnings(fitted: &Fitted) -> Vec<&str> {
    fitted.warnings().iter().map(|warning| warning.name.as_str()).collect()
}

#[test]
fn hard_normal_data_have_their_exact_law() {
    let mut wrong = Vec::new();
    for case in cases() {
        let fitted = case.fit();
        let (off, place) = case.law().farthest(&fitted);
        println!("{} {:e}: {off:.2} ({place}) {:?}", case.name, case.unit, warnings(&fitted));
        if !(off < ERRORS) {
            wrong.push(format!("{}: {off:.1} errors, {place}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Chains go to small standard deviations seldom and stay there long, so that a single run knows too
/// little of its own errors. Here they come from the differences between 48 chains: of 15 numbers one
/// is more than 4.5 errors off, by Student's law with 47 degrees of freedom, in 1,500 runs.
#[test]
fn many_chains_have_the_law_of_hard_data() {
    let names = ["three levels", "scaled", "one row for each group"];
    for mut case in cases().into_iter().filter(|case| names.contains(&case.name)) {
        case.heavy = false;
        let law = case.law();
        let sigma = &law.needs[0];
        let mut need = vec![sigma.mean, sigma.mean.powi(2) + sigma.sd.powi(2)];
        need.extend(LEVELS);
        let mut means: Vec<Vec<f64>> = Vec::new();
        for seed in 1..7 {
            let fitted = case.fit_with(seed, 10_000);
            let of = |name: &str| fitted.draws().traces_of(name).unwrap();
            for (sigma, tau) in of("sigma").iter().zip(&of(TAU)) {
                let n = sigma.len() as f64;
                let power = |k: i32| sigma.iter().map(|s| s.powi(k)).sum::<f64>() / n;
                let below = |q: f64| tau.iter().filter(|t| **t < q).count() as f64 / n;
                let mut row = vec![power(1), power(2)];
                row.extend(law.quantiles[1].1.map(below));
                means.push(row);
            }
        }
        let n = means.len() as f64;
        for (k, need) in need.iter().enumerate() {
            let mean = means.iter().map(|row| row[k]).sum::<f64>() / n;
            let squares: f64 = means.iter().map(|row| (row[k] - mean).powi(2)).sum();
            let off = (mean - need) / (squares / (n - 1.0) / n).sqrt();
            println!("{} {:e}, {k}: {mean:e} for {need:e}, {off:.2} errors", case.name, case.unit);
            assert!(off.abs() < 4.5, "{}: {off}", case.name);
        }
    }
}

/// With half the prior scale, or weights that do not count, the same comparison fails.
#[test]
fn another_law_of_hard_data_is_told_apart() {
    let mut cases = cases();
    let mut weights = cases.remove(9);
    let fitted = weights.fit();
    weights.groups.iter_mut().flatten().for_each(|(_, weight)| *weight = 1.0);
    let (off, place) = weights.law().farthest(&fitted);
    println!("without weights: {off:.0} ({place})");
    assert!(off > 2.0 * ERRORS, "{off}");
    let mut two = cases.remove(0);
    let fitted = two.fit();
    two.prior = Prior::HalfNormal(1.7);
    let (off, place) = two.law().farthest(&fitted);
    println!("another scale: {off:.0} ({place})");
    assert!(off > 2.0 * ERRORS, "{off}");
}

/// Two runs of the same model, the second with half the step: they agree, or say that they may not.
fn two_runs(name: &str, table: &Table, settings: &Settings) {
    let one = fit(table, settings).unwrap_or_else(|error| panic!("{name}: {error}"));
    let eta = Some(0.5 * one.document().sampler.eta);
    let two = fit(table, &Settings { eta, seed: settings.seed + 1, ..settings.clone() }).unwrap();
    let (off, place) = apart(&one, &two);
    println!("{name}: {off:.2} ({place}) {:?} {:?}", warnings(&one), warnings(&two));
    let told =
        |fitted: &Fitted| warnings(fitted).iter().any(|w| ["low_ess", "high_rhat"].contains(w));
    assert!(off < ERRORS || told(&one) && told(&two), "{name}: {off:.1} errors, {place}");
}

/// A table of rows with two factors of this many levels, equal ones if `same`, and a predictor.
fn factors(rows: usize, levels: [usize; 2], same: bool, constant: bool) -> Table {
    let mut stream = Stream::new(31, rows as u64);
    let (mut z, mut u) = (vec![0.0; 3 * rows], vec![0.0; 3 * rows]);
    stream.normals(&mut z);
    stream.uniforms(&mut u);
    let level = |k: usize, u: f64| {
        // Every level has a row.
        if k < levels[0].max(levels[1]) { k } else { (u * 1e6) as usize }
    };
    let g: Vec<usize> = (0..rows).map(|k| level(k, u[k]) % levels[0]).collect();
    let h: Vec<usize> = (0..rows)
        .map(|k| if same { g[k] } else { level(7 * k, u[rows + k]) % levels[1] })
        .collect();
    let x: Vec<f64> = z[..rows].iter().map(|x| if constant { 2.0 } else { *x }).collect();
    let effect = |j: usize| 0.7 * (2.3 * j as f64).sin();
    let s: Vec<f64> =
        (0..rows).map(|k| 0.3 + 0.5 * z[k] + effect(g[k]) + effect(100 + h[k])).collect();
    let normal: Vec<f64> = (0..rows).map(|k| s[k] + z[rows + k]).collect();
    let yes: Vec<f64> = (0..rows)
        .map(|k| f64::from(u8::from(u[2 * rows + k] < 1.0 / (1.0 + (-s[k]).exp()))))
        .collect();
    let flat: Vec<f64> = g.iter().map(|j| effect(*j)).collect();
    let named = |list: &[usize]| list.iter().map(|j| format!("l{j}")).collect::<Vec<String>>();
    let columns = vec![
        Column::from_numbers("normal", &normal),
        Column::from_numbers("yes", &yes),
        Column::from_numbers("flat", &flat),
        Column::from_numbers("x", &x),
        Column::from_texts("g", &named(&g)),
        Column::from_texts("h", &named(&h)),
    ];
    Table::from_columns("made", columns).unwrap()
}

fn of(formula: &str, family: FamilyName) -> Settings {
    Settings { draws: 1500, seed: 2, ..Settings::of_formula(formula, family) }
}

#[test]
fn crossed_and_collinear_factors_do_not_depend_on_the_step() {
    use FamilyName::{Gaussian, Logistic};
    let sparse = factors(61, [60, 60], false, false);
    two_runs("60 crossed levels", &sparse, &of("normal ~ x + (1 | g) + (1 | h)", Gaussian));
    two_runs("60 crossed levels, logistic", &sparse, &of("yes ~ x + (1 | g) + (1 | h)", Logistic));
    let same = factors(60, [8, 8], true, false);
    two_runs("the same factor twice", &same, &of("normal ~ x + (1 | g) + (1 | h)", Gaussian));
    two_runs("the same, logistic", &same, &of("yes ~ x + (1 | g) + (1 | h)", Logistic));
    let constant = factors(60, [8, 5], false, true);
    two_runs("a constant slope", &constant, &of("normal ~ 1 + (1 + x | g)", Gaussian));
}

/// Without noise σ can be as small as it likes: the density has no bound.
#[test]
fn responses_that_are_constant_within_groups_are_reported() {
    let table = factors(60, [8, 5], false, false);
    match fit(&table, &of("flat ~ 1 + (1 | g)", FamilyName::Gaussian)) {
        Ok(fitted) => {
            println!("{:?} {:?}", warnings(&fitted), fitted.parameter("sigma"));
            assert!(!warnings(&fitted).is_empty());
        }
        Err(error) => println!("{error}"),
    }
}

#[test]
fn the_prior_decides_where_data_say_nothing() {
    let table = factors(6, [6, 6], false, false);
    let rows = fit(&table, &of("yes ~ 1 + (1 | g)", FamilyName::Logistic)).unwrap();
    println!("one row for each of six groups: {:?}", warnings(&rows));
    assert!(warnings(&rows).contains(&"prior_decides"));
}
