//! LOO, WAIC and comparisons of small fits against R's package loo and ArviZ, from the same draws.
//!
//! `scripts/oracles/loo_fits.R` and `loo_fits.py` compute the likelihoods by densities of R and
//! SciPy, so that constants, weights, trials, offsets and censoring are checked as well.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use ridgewalk_fit::{
    Config, Data, FitRows, LooDocument, LooOptions, Observed, Predictor, Responses, Settings,
    compare, loo, prepare,
};
use ridgewalk_frame::Table;
use serde::Deserialize;

use crate::references::{draws, read, table};

/// Differences relative to max(1, |x|).
const TOLERANCE: f64 = 1e-8;
const CHAINS: usize = 4;

#[derive(Debug, Deserialize)]
struct ByArviz {
    cases: Vec<Case>,
}

/// A model and what ArviZ finds. Its standard error has the divisor n, ours and loo's n − 1.
#[derive(Debug, Clone, Deserialize)]
struct Case {
    name: String,
    file: String,
    family: String,
    formula: String,
    options: BTreeMap<String, String>,
    r_eff: f64,
    elpd_loo: f64,
    se_divisor_n: f64,
    p_loo: f64,
    pareto_k: Vec<f64>,
    pointwise: Vec<f64>,
}

#[derive(Debug, Deserialize)]
struct ByLoo {
    cases: Vec<Found>,
    comparison: Compared,
}

/// What loo finds.
#[derive(Debug, Deserialize)]
struct Found {
    name: String,
    elpd_loo: f64,
    se: f64,
    p_loo: f64,
    elpd_waic: f64,
    se_waic: f64,
    p_waic: f64,
    pareto_k: Vec<f64>,
    pointwise: Vec<f64>,
}

#[derive(Debug, Deserialize)]
struct Compared {
    models: Vec<String>,
    order: Vec<String>,
    elpd_diff: Vec<f64>,
    se_diff: Vec<f64>,
    score: f64,
}

impl Case {
    fn settings(&self) -> Settings {
        let option = |name: &str| self.options.get(name).cloned();
        Settings {
            trials: option("trials"),
            event: option("event"),
            upper: option("upper"),
            weights: option("weights"),
            chains: CHAINS,
            ..Settings::of_formula(&self.formula, self.family.parse().unwrap())
        }
    }

    fn table(&self) -> Table {
        table(&self.file)
    }

    fn loo(&self, settings: &Settings) -> (Observed, LooDocument) {
        let table = self.table();
        let config = Config::new(settings, &prepare(&table, settings, None).unwrap(), &table);
        let draws = draws(&format!("loo/{}.csv", self.name), CHAINS);
        assert_eq!(draws.names(), config.resolved.names());
        let observed = Observed::new(&config, &table).unwrap();
        let predictor = Predictor::new(&config, &draws).unwrap();
        let options = LooOptions { refits: 0, ..LooOptions::default() };
        let stop = AtomicBool::new(false);
        let rows = FitRows::new(&config, Data::from(&table)).unwrap();
        let found = loo(&predictor, &draws, &rows, options, &stop, &|_| {}).unwrap();
        assert_eq!(rows.responses().unwrap(), observed.digest());
        (observed, found)
    }
}

fn difference(a: f64, b: f64) -> f64 {
    (a - b).abs() / b.abs().max(1.0)
}

/// The largest difference of some numbers.
fn worst<'a>(pairs: impl IntoIterator<Item = (&'a f64, &'a f64)>) -> f64 {
    let each = pairs.into_iter().map(|(a, b)| difference(*a, *b));
    each.fold(0.0, |most, off| if off <= most { most } else { off })
}

fn from_loo(found: &LooDocument, need: &Found) -> f64 {
    assert_eq!(found.pointwise.len(), need.pointwise.len(), "{}", need.name);
    let totals = [
        (&found.elpd_loo, &need.elpd_loo),
        (&found.se, &need.se),
        (&found.p_loo, &need.p_loo),
        (&found.elpd_waic, &need.elpd_waic),
        (&found.se_waic, &need.se_waic),
        (&found.p_waic, &need.p_waic),
    ];
    let rows = found.pointwise.iter().zip(&need.pointwise);
    worst(totals.into_iter().chain(rows).chain(found.pareto_k.iter().zip(&need.pareto_k)))
}

fn from_arviz(found: &LooDocument, need: &Case) -> f64 {
    assert_eq!(found.pointwise.len(), need.pointwise.len(), "{}", need.name);
    let n = found.n as f64;
    let totals = [
        (&found.r_eff, &need.r_eff),
        (&found.elpd_loo, &need.elpd_loo),
        (&found.se, &(need.se_divisor_n * (n / (n - 1.0)).sqrt())),
        (&found.p_loo, &need.p_loo),
    ];
    let rows = found.pointwise.iter().zip(&need.pointwise);
    worst(totals.into_iter().chain(rows).chain(found.pareto_k.iter().zip(&need.pareto_k)))
}

#[test]
fn loo_and_waic_are_those_of_loo_and_arviz() {
    let (arviz, by_loo): (ByArviz, ByLoo) = (read("loo/arviz.json"), read("loo/loo.json"));
    assert_eq!((arviz.cases.len(), by_loo.cases.len()), (16, 16));
    for (case, need) in arviz.cases.iter().zip(&by_loo.cases) {
        assert_eq!(case.name, need.name);
        let (_, found) = case.loo(&case.settings());
        let (off, other) = (from_loo(&found, need), from_arviz(&found, case));
        println!("{:18} loo {off:.1e} ArviZ {other:.1e}", case.name);
        assert!(off < TOLERANCE, "{}: {off:e} from loo", case.name);
        assert!(other < TOLERANCE, "{}: {other:e} from ArviZ", case.name);
        // k above the limit, and no refits: such rows are reported.
        let high = found.pareto_k.iter().filter(|k| **k > found.k_limit).count();
        assert_eq!((found.unreliable.len(), found.refitted.len()), (high, 0), "{}", case.name);
    }
}

/// Mistakes that the comparison above must notice.
#[test]
fn mistakes_in_the_likelihood_are_seen() {
    let (arviz, by_loo): (ByArviz, ByLoo) = (read("loo/arviz.json"), read("loo/loo.json"));
    let place = |name: &str| arviz.cases.iter().position(|case| case.name == name).unwrap();

    // Weights are left out.
    let k = place("weights");
    let settings = Settings { weights: None, ..arviz.cases[k].settings() };
    let off = from_loo(&arviz.cases[k].loo(&settings).1, &by_loo.cases[k]);
    println!("without weights {off:.1e}");
    assert!(off > 0.01, "{off}");

    // The binomial coefficient is left out.
    let k = place("trials");
    let case = &arviz.cases[k];
    let (observed, mut found) = case.loo(&case.settings());
    let table = case.table();
    let trials = table.column("seeds").unwrap().numbers().unwrap();
    for (row, (y, n)) in observed.responses().iter().zip(trials).enumerate() {
        let choose = libm::lgamma(n + 1.0) - libm::lgamma(y + 1.0) - libm::lgamma(n - y + 1.0);
        found.pointwise[row] -= choose;
    }
    let off = from_loo(&found, &by_loo.cases[k]);
    println!("without the binomial coefficient {off:.1e}");
    assert!(off > 0.1, "{off}");

    // A standard error with divisor n.
    for (case, need) in arviz.cases.iter().zip(&by_loo.cases) {
        let (_, mut found) = case.loo(&case.settings());
        found.se = case.se_divisor_n;
        let off = from_loo(&found, need);
        println!("{:18} divisor n {off:.1e}", case.name);
        assert!(off > 1e3 * TOLERANCE, "{}: {off:e}", case.name);
    }

    // Censored times are taken for events, and an offset is left out.
    let k = place("weibull");
    let settings = Settings { event: None, ..arviz.cases[k].settings() };
    let off = from_loo(&arviz.cases[k].loo(&settings).1, &by_loo.cases[k]);
    println!("without censoring {off:.1e}");
    assert!(off > 0.01, "{off}");
    let k = place("poisson");
    let formula = arviz.cases[k].formula.replace(" + offset(log(hours))", "");
    let settings = Settings { formula: Some(formula), ..arviz.cases[k].settings() };
    let off = from_loo(&arviz.cases[k].loo(&settings).1, &by_loo.cases[k]);
    println!("without the offset {off:.1e}");
    assert!(off > 0.01, "{off}");
}

#[test]
fn comparisons_are_those_of_loo() {
    let (arviz, by_loo): (ByArviz, ByLoo) = (read("loo/arviz.json"), read("loo/loo.json"));
    let need = by_loo.comparison;
    let loos: Vec<(String, Responses, LooDocument)> = need
        .models
        .iter()
        .map(|name| {
            let case = arviz.cases.iter().find(|case| case.name == *name).unwrap();
            let (observed, found) = case.loo(&case.settings());
            (name.clone(), observed.digest(), found)
        })
        .collect();
    let fits: Vec<(String, &Responses, &LooDocument)> =
        loos.iter().map(|(name, responses, found)| (name.clone(), responses, found)).collect();
    let found = compare(&fits).unwrap();
    let order: Vec<&str> = found.models.iter().map(|model| &*model.name).collect();
    assert_eq!(order, need.order);
    for (k, model) in found.models.iter().enumerate() {
        assert!(difference(model.elpd_diff, need.elpd_diff[k]) < TOLERANCE, "{model:?}");
        assert!(difference(model.se_diff, need.se_diff[k]) < TOLERANCE, "{model:?}");
    }
    // R's optimiser stops early: what counts is the score of the mixture.
    let weight = |name: &str| found.models.iter().find(|model| model.name == name).unwrap().weight;
    let total: f64 = need.models.iter().map(|name| weight(name)).sum();
    assert!((total - 1.0).abs() < 1e-12, "{total}");
    let score: f64 = (0..found.n)
        .map(|row| {
            let each = loos.iter().map(|(name, _, loo)| weight(name) * loo.pointwise[row].exp());
            each.sum::<f64>().ln()
        })
        .sum();
    println!("score {score}, R's {}", need.score);
    assert!(score > need.score - 1e-8, "{score} for {}", need.score);
}
