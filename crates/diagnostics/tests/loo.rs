//! PSIS, LOO, WAIC and comparisons against R's package loo and against ArviZ, on the log
//! likelihoods of `scripts/oracles/loo.R`.

use std::collections::BTreeMap;

use ridgewalk_diagnostics::{Elpd, ElpdDifference, Error, Pointwise, Psis, pareto_k_limit};
use ridgewalk_figures::{Figures, Near};
use serde::Deserialize;

use crate::common::psis::{Fault, psis};

const TOLERANCE: f64 = 1e-8;

/// A number, or the name of a number that JSON cannot represent.
#[derive(Deserialize, Clone)]
#[serde(untagged)]
enum Number {
    Plain(f64),
    Named(String),
}

impl Number {
    fn value(&self) -> f64 {
        match self {
            Self::Plain(x) => *x,
            Self::Named(name) if name == "NA" => f64::NAN,
            Self::Named(name) => name.parse().expect("inf or NA"),
        }
    }
}

#[derive(Deserialize)]
struct Case {
    name: String,
    r_eff: Vec<f64>,
    log_likelihood: Vec<Vec<f64>>,
    tail_length: Vec<usize>,
    pareto_k: Vec<Number>,
    log_weights: Vec<Vec<f64>>,
    lppd: Vec<f64>,
    elpd_loo: Vec<f64>,
    p_loo: Vec<f64>,
    elpd_waic: Vec<f64>,
    p_waic: Vec<f64>,
    /// elpd, p and criterion, then their standard errors.
    loo: Vec<Number>,
    waic: Vec<Number>,
}

#[derive(Deserialize)]
struct Comparison {
    log_likelihood: Vec<Vec<Vec<f64>>>,
    order: Vec<usize>,
    elpd_diff: Vec<f64>,
    se_diff: Vec<f64>,
}

#[derive(Deserialize)]
struct ByLoo {
    versions: BTreeMap<String, String>,
    psis: Vec<Case>,
    comparison: Comparison,
}

#[derive(Deserialize)]
struct ArvizCase {
    name: String,
    pareto_k: Vec<Number>,
    log_weights: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct ByArviz {
    versions: BTreeMap<String, String>,
    psis: Vec<ArvizCase>,
}

fn by_loo() -> ByLoo {
    let document: ByLoo = serde_json::from_str(include_str!("loo/loo.json")).expect("loo.json");
    assert_eq!(document.versions["loo"], "2.5.1");
    document
}

fn by_arviz() -> ByArviz {
    let text = include_str!("loo/arviz.json");
    let document: ByArviz = serde_json::from_str(text).expect("arviz.json");
    assert_eq!(document.versions["arviz"], "0.23.4");
    document
}

fn values(numbers: &[Number]) -> Vec<f64> {
    numbers.iter().map(Number::value).collect()
}

/// The difference relative to the larger of 1 and the value wanted; 0 for two equal or two NaN,
/// infinite if only one is defined.
fn difference(got: f64, want: f64) -> f64 {
    if got == want || (got.is_nan() && want.is_nan()) {
        return 0.0;
    }
    let off = (got - want).abs() / want.abs().max(1.0);
    if off.is_nan() { f64::INFINITY } else { off }
}

fn worst(got: &[f64], want: &[f64]) -> f64 {
    assert_eq!(got.len(), want.len());
    got.iter().zip(want).map(|(got, want)| difference(*got, *want)).fold(0.0, f64::max)
}

/// Normalised log weights and k of one observation.
fn smoothed(log_likelihood: &[f64], r_eff: f64) -> (Vec<f64>, f64) {
    let mut weights: Vec<f64> = log_likelihood.iter().map(|x| -x).collect();
    let k = Psis::new().smooth(&mut weights, r_eff);
    (weights, k)
}

fn pointwise(log_likelihood: &[Vec<f64>], r_eff: &[f64]) -> Vec<Pointwise> {
    let mut workspace = Psis::new();
    let observations = log_likelihood.iter().zip(r_eff);
    observations.map(|(draws, r_eff)| workspace.pointwise(draws, *r_eff)).collect()
}

#[test]
fn weights_equal_loo_and_arviz() {
    let (loo, arviz) = (by_loo(), by_arviz());
    let test = concat!(file!(), "::weights_equal_loo_and_arviz");
    let mut figures = Figures::of("diagnostics", test);
    for (case, theirs) in loo.psis.iter().zip(&arviz.psis) {
        assert_eq!(case.name, theirs.name);
        let (mut from_loo, mut from_arviz) = (0.0, 0.0);
        for (i, (draws, &r_eff)) in case.log_likelihood.iter().zip(&case.r_eff).enumerate() {
            let (weights, k) = smoothed(draws, r_eff);
            let place = format!("{}, observation {i}: k = {k}", case.name);
            let off =
                difference(k, case.pareto_k[i].value()).max(worst(&weights, &case.log_weights[i]));
            assert!(off <= TOLERANCE, "{place}: {off:e} from loo");
            from_loo = off.max(from_loo);

            // ArviZ keeps draws that equal the cutoff, and ratios below the smallest normal
            // number, out of the tail. loo and we do not. It also leaves the order of equal
            // ratios open.
            let (mut ours, mut others) = (weights, theirs.log_weights[i].clone());
            if case.name == "ties" {
                ours.sort_by(f64::total_cmp);
                others.sort_by(f64::total_cmp);
            }
            let off = difference(k, theirs.pareto_k[i].value()).max(worst(&ours, &others));
            if matches!((case.name.as_str(), i), ("ties" | "wide", 1)) {
                assert!(off > 1e-3, "{place}: {off:e} from ArviZ, where it should differ");
            } else {
                assert!(off <= TOLERANCE, "{place}: {off:e} from ArviZ");
                from_arviz = off.max(from_arviz);
            }
        }
        println!("{:16} loo {from_loo:8.1e} ArviZ {from_arviz:8.1e}", case.name);
        figures.add(&case.name, "worst difference from loo", from_loo);
        figures.add(&case.name, "worst difference from ArviZ", from_arviz);
    }
    figures.hold(Near::Rounding);
}

#[test]
fn pointwise_and_totals_equal_loo() {
    let test = concat!(file!(), "::pointwise_and_totals_equal_loo");
    let mut figures = Figures::of("diagnostics", test);
    for case in by_loo().psis {
        let all = pointwise(&case.log_likelihood, &case.r_eff);
        let column = |f: fn(&Pointwise) -> f64| all.iter().map(f).collect::<Vec<f64>>();
        let mut off = [
            worst(&column(|one| one.lppd), &case.lppd),
            worst(&column(|one| one.elpd_loo), &case.elpd_loo),
            worst(&column(|one| one.p_loo), &case.p_loo),
            worst(&column(|one| one.pareto_k), &values(&case.pareto_k)),
            worst(&column(|one| one.elpd_waic), &case.elpd_waic),
            worst(&column(|one| one.p_waic), &case.p_waic),
        ]
        .to_vec();
        for (got, want) in [(Elpd::loo(&all), &case.loo), (Elpd::waic(&all), &case.waic)] {
            assert_eq!(got.observations, all.len());
            let ic = got.information_criterion();
            off.push(worst(&[got.elpd, got.p, ic, got.se, got.se_p, 2.0 * got.se], &values(want)));
        }
        let off = off.into_iter().fold(0.0, f64::max);
        println!("{:16} {off:8.1e}", case.name);
        assert!(off <= TOLERANCE, "{}: {off:e}", case.name);
        figures.add(&case.name, "worst difference from loo", off);
    }
    figures.hold(Near::Rounding);
}

#[test]
fn differences_equal_loo() {
    let Comparison { log_likelihood, order, elpd_diff, se_diff } = by_loo().comparison;
    let elpd: Vec<Vec<f64>> = log_likelihood
        .iter()
        .map(|model| {
            pointwise(model, &vec![1.0; model.len()]).iter().map(|one| one.elpd_loo).collect()
        })
        .collect();
    for (place, &model) in order.iter().enumerate() {
        let got = ElpdDifference::of(&elpd[model], &elpd[order[0]]).expect("same observations");
        assert!(difference(got.elpd_diff, elpd_diff[place]) < 1e-10, "{got:?}");
        assert!(difference(got.se_diff, se_diff[place]) < 1e-10, "{got:?}");
    }
    assert_eq!(
        ElpdDifference::of(&[1.0, 2.0], &[1.0]),
        Err(Error::Observations { model: 1, got: 1, need: 2 })
    );
}

/// The comparison is able to fail. A plain implementation passes it, and each planted error fails.
#[test]
fn planted_errors_are_noticed() {
    let off = |fault: Fault| {
        let mut off: f64 = 0.0;
        for case in by_loo().psis.iter().filter(|case| !case.name.starts_with("tail_of")) {
            for (i, (draws, &r_eff)) in case.log_likelihood.iter().zip(&case.r_eff).enumerate() {
                let ratios: Vec<f64> = draws.iter().map(|x| -x).collect();
                let plain = psis(&ratios, r_eff, fault);
                if fault == Fault::None {
                    assert_eq!(plain.tail_length, case.tail_length[i], "{}", case.name);
                }
                off = off.max(difference(plain.k, case.pareto_k[i].value()));
                off = off.max(worst(&plain.log_weights, &case.log_weights[i]));
            }
        }
        off
    };
    assert!(off(Fault::None) < TOLERANCE, "{:e}", off(Fault::None));
    for fault in [
        Fault::NoPrior,
        Fault::ShorterTail,
        Fault::CutoffFromTail,
        Fault::NoTruncation,
        Fault::OtherQuantiles,
        Fault::NoEfficiency,
        Fault::ShorterGrid,
    ] {
        println!("{fault:?} {:8.1e}", off(fault));
        assert!(off(fault) > 100.0 * TOLERANCE, "{fault:?}: {:e}", off(fault));
    }
}

#[test]
fn the_limit_of_k_grows_with_the_draws() {
    assert_eq!(pareto_k_limit(0), f64::NEG_INFINITY);
    assert_eq!(pareto_k_limit(1), f64::NEG_INFINITY);
    assert_eq!(pareto_k_limit(10), 0.0);
    assert_eq!(pareto_k_limit(1000), 1.0 - 1.0 / 1000.0_f64.log10());
    assert_eq!(pareto_k_limit(2200), 0.7);
}
