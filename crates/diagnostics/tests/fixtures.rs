//! Every diagnostic against ArviZ, on the chains of `scripts/oracles/diagnostics.py`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ridgewalk_diagnostics::{
    Error, Summarizer, Summary, ess_bulk, ess_mean, ess_moments, ess_quantile, ess_sd, ess_tail,
    mcse_mean, mcse_quantile, mcse_sd, quantile, rhat,
};
use ridgewalk_figures::{Figures, Near};
use serde::Deserialize;

const TOLERANCE: f64 = 1e-10;

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
            Self::Named(name) => name.parse().expect("nan, inf or -inf"),
        }
    }
}

#[derive(Deserialize)]
struct Document {
    versions: BTreeMap<String, String>,
    arviz: BTreeMap<String, Number>,
    numpy_quantile: BTreeMap<String, Number>,
    chains: Vec<Vec<Number>>,
}

struct Fixture {
    name: String,
    expected: BTreeMap<String, f64>,
    /// The entries computed with NumPy's quantile in place of ArviZ's.
    replaced: Vec<String>,
    chains: Vec<Vec<f64>>,
}

fn fixtures() -> Vec<Fixture> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("folder of fixtures") {
        let path = entry.expect("entry").path();
        let text = std::fs::read_to_string(&path).expect("fixture");
        let document: Document = serde_json::from_str(&text).expect("valid fixture");
        assert_eq!(document.versions["arviz"], "0.23.4");
        let mut expected: BTreeMap<_, _> =
            document.arviz.iter().map(|(k, v)| (k.clone(), v.value())).collect();
        for (key, number) in &document.numpy_quantile {
            expected.insert(key.clone(), number.value());
        }
        all.push(Fixture {
            name: path.file_stem().expect("name").to_string_lossy().into_owned(),
            expected,
            replaced: document.numpy_quantile.into_keys().collect(),
            chains: document
                .chains
                .iter()
                .map(|chain| chain.iter().map(Number::value).collect())
                .collect(),
        });
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn fixture(name: &str) -> Fixture {
    fixtures().into_iter().find(|fixture| fixture.name == name).expect("fixture")
}

impl Fixture {
    fn slices(&self) -> Vec<&[f64]> {
        self.chains.iter().map(Vec::as_slice).collect()
    }

    /// Our value of the diagnostic with this name.
    fn ours(&self, name: &str) -> Result<f64, Error> {
        let chains = self.slices();
        let (function, p) = match name.split_once(' ') {
            Some((function, p)) => (function, p.parse().expect("a probability")),
            None => (name, f64::NAN),
        };
        match function {
            "mean" => Summary::of(&chains).map(|summary| summary.mean),
            "sd" => Summary::of(&chains).map(|summary| summary.sd),
            "rhat" => rhat(&chains),
            "ess_bulk" => ess_bulk(&chains),
            "ess_tail" => ess_tail(&chains),
            "ess_mean" => ess_mean(&chains),
            "ess_sd" => ess_sd(&chains),
            "mcse_mean" => mcse_mean(&chains),
            "mcse_sd" => mcse_sd(&chains),
            "quantile" => quantile(&chains, p),
            "ess_quantile" => ess_quantile(&chains, p),
            "mcse_quantile" => mcse_quantile(&chains, p),
            other => panic!("no function for {other}"),
        }
    }
}

/// Relative difference; 0 for two NaN or two equal numbers, infinite if only one is defined.
fn difference(got: f64, want: f64) -> f64 {
    if got == want || (got.is_nan() && want.is_nan()) {
        return 0.0;
    }
    let relative = (got - want).abs() / want.abs();
    if relative.is_nan() { f64::INFINITY } else { relative }
}

#[test]
fn all_cases_are_there() {
    let names: Vec<String> = fixtures().into_iter().map(|fixture| fixture.name).collect();
    for needed in [
        "good",
        "stuck",
        "anticorrelated",
        "constant",
        "one_constant",
        "one_chain",
        "odd",
        "cauchy",
        "student_2",
        "nan",
        "infinite",
        "short_3",
        "short_4",
        "ties",
        "near_unit_root",
    ] {
        assert!(names.iter().any(|name| name == needed), "{needed} is missing");
    }
}

#[test]
fn equal_to_arviz() {
    let mut failures = Vec::new();
    let mut figures = Figures::of("diagnostics", concat!(file!(), "::equal_to_arviz"));
    for fixture in fixtures() {
        // Nothing is defined for infinite draws here; that case has its own test.
        if fixture.name == "infinite" {
            continue;
        }
        let mut worst = (0.0, String::new());
        for (name, &want) in &fixture.expected {
            let got = fixture.ours(name).expect("well-shaped chains");
            // Each half is stuck at its own value: ArviZ divides by the rounding of its variances.
            if fixture.name == "levels" && name == "rhat" {
                assert!(got == f64::INFINITY && want > 1e12);
                figures.add("levels", "R-hat by ArviZ", want);
                continue;
            }
            let off = difference(got, want);
            if off > worst.0 {
                worst = (off, name.clone());
            }
            if !(off <= TOLERANCE) {
                failures.push(format!("{}: {name}: got {got:e}, ArviZ {want:e}", fixture.name));
            }
        }
        println!("{:16} {:8.1e} {}", fixture.name, worst.0, worst.1);
        figures.add(&fixture.name, "worst relative difference", worst.0);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    figures.hold(Near::Rounding);
}

/// The comparison is able to fail: leaving out one draw in a thousand changes every diagnostic by
/// far more than the tolerance.
#[test]
fn a_missing_draw_is_noticed() {
    let mut good = fixture("good");
    for chain in &mut good.chains {
        chain.pop();
    }
    for (name, &want) in good.expected.iter().filter(|(name, _)| !name.starts_with("mcse_quantile"))
    {
        let off = difference(good.ours(name).expect("well-shaped chains"), want);
        assert!(off > 1000.0 * TOLERANCE, "{name}: {off:e}");
    }
}

/// In a unit in which the squares of the draws spread over less than 1e-15, ArviZ treats them as
/// constant; here the result does not change.
#[test]
fn chains_with_a_spread_of_1e_minus_9_keep_their_effective_size() {
    let mut fixture = fixture("near_unit_root");
    let sd = fixture.expected["sd"];
    fixture.chains.iter_mut().flatten().for_each(|x| *x *= 1e-9 / sd);
    let ess = fixture.ours("ess_sd").expect("well-shaped chains");
    assert!(difference(ess, fixture.expected["ess_sd"]) < 1e-9, "{ess}");
    let test = concat!(file!(), "::chains_with_a_spread_of_1e_minus_9_keep_their_effective_size");
    let mut figures = Figures::of("diagnostics", test);
    figures.add(&fixture.name, "draws", fixture.chains.iter().map(Vec::len).sum::<usize>() as f64);
    figures.add(&fixture.name, "ess_sd", ess);
    figures.hold(Near::Same);
}

/// A summary agrees with the functions to the bit, whatever its workspace was used for before.
#[test]
fn summary_equals_the_functions() {
    let mut workspace = Summarizer::new();
    for fixture in fixtures() {
        let chains = fixture.slices();
        let fresh = Summary::of(&chains).expect("well-shaped chains");
        let reused = workspace.summary(&chains).expect("well-shaped chains");
        let pairs = [
            ("rhat", fresh.rhat, reused.rhat),
            ("ess_bulk", fresh.ess_bulk, reused.ess_bulk),
            ("ess_tail", fresh.ess_tail, reused.ess_tail),
            ("ess_mean", fresh.ess_mean, reused.ess_mean),
            ("ess_sd", fresh.ess_sd, reused.ess_sd),
            ("mcse_mean", fresh.mcse_mean, reused.mcse_mean),
            ("mcse_sd", fresh.mcse_sd, reused.mcse_sd),
            ("quantile 0.05", fresh.q05, reused.q05),
            ("quantile 0.5", fresh.q50, reused.q50),
            ("quantile 0.95", fresh.q95, reused.q95),
        ];
        for (name, fresh, reused) in pairs {
            let alone = fixture.ours(name).expect("well-shaped chains");
            assert_eq!(difference(fresh, alone), 0.0, "{}: {name}", fixture.name);
            assert_eq!(difference(reused, alone), 0.0, "{}: {name}", fixture.name);
        }
        let moments = ess_moments(&chains).expect("well-shaped chains");
        assert_eq!(difference(fresh.ess_moments(), moments), 0.0);
    }
}

/// We differ from ArviZ only where its rounded quantile misses a draw; there we agree with NumPy's
/// quantile.
#[test]
fn replaced_entries_are_few() {
    for fixture in fixtures() {
        let expect_some = matches!(fixture.name.as_str(), "rounding_641" | "ties_rounding");
        assert_eq!(
            !fixture.replaced.is_empty(),
            expect_some,
            "{}: {:?}",
            fixture.name,
            fixture.replaced
        );
        assert!(
            fixture
                .replaced
                .iter()
                .all(|name| name.contains("ess_") || name.contains("mcse_quantile"))
        );
    }
}

/// With an infinite draw ArviZ still computes diagnostics based on ranks; here, as in the posterior
/// package, nothing is defined.
#[test]
fn infinite_draws_are_not_defined() {
    let infinite = fixture("infinite");
    assert!(infinite.expected["rhat"].is_finite() && infinite.expected["ess_mean"].is_nan());
    for name in infinite.expected.keys() {
        assert!(infinite.ours(name).expect("well-shaped chains").is_nan(), "{name}");
    }
}
