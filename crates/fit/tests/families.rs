//! Posteriors of every family against numpyro, rstanarm and brms, and default priors against rstanarm:
//! references made by the scripts named in the files, without code of ours.

use std::path::PathBuf;

use ridgewalk_fit::{Fitted, Parameter, Settings, fit, prepare};
use ridgewalk_frame::{FamilyName, Table};
use ridgewalk_potentials::Density;
use serde::Deserialize;

/// Standard errors that an estimate may be off by: of about 900 normal numbers in this file, one is
/// farther off in 2,000 runs.
const ERRORS: f64 = 5.0;

#[derive(Debug, Deserialize)]
struct References {
    cases: Vec<Case>,
}

/// A model and its posterior.
#[derive(Debug, Clone, Deserialize)]
struct Case {
    file: String,
    family: String,
    response: Option<String>,
    predictors: Vec<String>,
    event: Option<String>,
    lower: Option<String>,
    upper: Option<String>,
    parameters: Vec<Reference>,
}

#[derive(Debug, Clone, Deserialize)]
struct Reference {
    name: String,
    mean: f64,
    mean_error: f64,
    sd: f64,
    sd_error: f64,
    q05: f64,
    q05_error: f64,
    q50: f64,
    q50_error: f64,
    q95: f64,
    q95_error: f64,
}

fn data(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)
}

fn read<T: serde::de::DeserializeOwned>(file: &str) -> T {
    serde_json::from_str(&std::fs::read_to_string(data(file)).unwrap()).unwrap()
}

impl Case {
    fn family(&self) -> FamilyName {
        self.family.parse().unwrap()
    }

    fn table(&self) -> Table {
        Table::read(data("families").join(&self.file)).unwrap()
    }

    fn settings(&self) -> Settings {
        let response = self.response.as_ref().or(self.lower.as_ref()).unwrap();
        Settings {
            predictors: Some(self.predictors.clone()),
            event: self.event.clone(),
            upper: self.upper.clone(),
            draws: 2500,
            seed: 1,
            ..Settings::new(response, self.family())
        }
    }
}

/// The most that an estimate is off, in standard errors of both sides, and where.
fn farthest(fit: &Fitted, case: &Case) -> (f64, String) {
    let mut worst = (0.0, String::new());
    for need in &case.parameters {
        let Some(found) = fit.parameter(&need.name) else {
            panic!("{} {}: no `{}` in {:?}", case.file, case.family, need.name, fit.names())
        };
        let Parameter { mean, sd, q05, q50, q95, mcse_mean, ess_bulk, ess_tail, .. } = found;
        // Of a quantile, for a density like the normal one there; of an sd, for tails that are
        // somewhat heavier.
        let tail = 2.2 * sd / ess_tail.sqrt();
        let pairs = [
            ("mean", *mean, need.mean, *mcse_mean, need.mean_error),
            ("sd", *sd, need.sd, sd / ess_bulk.sqrt(), need.sd_error),
            ("q05", *q05, need.q05, tail, need.q05_error),
            ("q50", *q50, need.q50, 1.3 * mcse_mean, need.q50_error),
            ("q95", *q95, need.q95, tail, need.q95_error),
        ];
        for (what, found, need_value, ours, theirs) in pairs {
            let off = (found - need_value).abs() / ours.hypot(theirs);
            if !(off <= worst.0) {
                let at = format!("{what} of {}: {found} for {need_value}", need.name);
                worst = (off, at);
            }
        }
    }
    worst
}

#[test]
fn posteriors_of_all_families_are_those_of_numpyro() {
    let References { cases } = read("families.json");
    assert_eq!(cases.len(), 29);
    for case in cases {
        let fitted = fit(&case.table(), &case.settings()).unwrap();
        let (off, place) = farthest(&fitted, &case);
        println!("{} {}: {off:.2} ({place})", case.file, case.family);
        assert!(off < ERRORS, "{} {}: {off:.1} errors, {place}", case.file, case.family);
        let warnings: Vec<&str> = fitted.warnings().iter().map(|w| w.name.as_str()).collect();
        assert!(warnings.is_empty(), "{} {}: {warnings:?}", case.file, case.family);
    }
}

#[test]
fn posteriors_with_a_wrong_prior_are_told_apart() {
    let References { cases } = read("families.json");
    let case = cases.iter().find(|case| case.family == "negative-binomial").unwrap();
    let wrong = Settings { aux_prior: Some("exponential(2)".to_owned()), ..case.settings() };
    let (off, _) = farthest(&fit(&case.table(), &wrong).unwrap(), case);
    assert!(off > ERRORS, "{off}");
}

#[test]
fn posteriors_are_those_of_rstanarm() {
    let References { cases } = read("rstanarm.json");
    // Its ordinal model has another prior, whatever is asked for.
    for case in cases.iter().filter(|case| case.family != "ordinal") {
        let fitted = fit(&case.table(), &case.settings()).unwrap();
        let (off, place) = farthest(&fitted, case);
        println!("{} {}: {off:.2} ({place})", case.file, case.family);
        assert!(off < ERRORS, "{} {}: {off:.1} errors, {place}", case.file, case.family);
    }
}

/// Its Weibull model has a flat prior of the intercept, which is at the mean of the times there.
#[test]
fn posteriors_are_those_of_brms() {
    let References { cases } = read("brms.json");
    assert_eq!(cases.len(), 3);
    for case in cases {
        let flat = (case.family == "weibull").then(|| "flat".to_owned());
        let settings = Settings { intercept_prior: flat, ..case.settings() };
        let (off, place) = farthest(&fit(&case.table(), &settings).unwrap(), &case);
        println!("{} {}: {off:.2} ({place})", case.file, case.family);
        assert!(off < ERRORS, "{} {}: {off:.1} errors, {place}", case.file, case.family);
    }
}

#[derive(Debug, Deserialize)]
struct PriorCases {
    cases: Vec<PriorCase>,
}

/// What `prior_summary()` says of a model.
#[derive(Debug, Deserialize)]
struct PriorCase {
    file: String,
    family: String,
    response: String,
    predictors: Vec<String>,
    coefficients: Vec<Location>,
    intercept: Location,
    auxiliary: Option<Rate>,
}

#[derive(Debug, Deserialize)]
struct Location {
    location: f64,
    scale: f64,
}

#[derive(Debug, Deserialize)]
struct Rate {
    rate: f64,
}

#[test]
fn default_priors_are_those_of_rstanarm() {
    let PriorCases { cases } = read("rstanarm-priors.json");
    assert!(cases.len() >= 10);
    for case in cases {
        let family = if case.family == "binomial" { "logistic" } else { &case.family };
        let settings = Settings {
            predictors: Some(case.predictors.clone()),
            ..Settings::new(&case.response, family.parse().unwrap())
        };
        let table = Table::read(data("families").join(&case.file)).unwrap();
        let model = prepare(&table, &settings, None).unwrap();
        let need = std::iter::once(&case.intercept).chain(&case.coefficients);
        let found = &model.priors().coefficients;
        assert_eq!(found.len(), 1 + case.coefficients.len(), "{}", case.file);
        for (found, need) in found.iter().zip(need) {
            let Density::Normal { mean, scale } = *found else { panic!("{found:?}") };
            let off = (scale / need.scale - 1.0).abs() + (mean - need.location).abs() / need.scale;
            assert!(off < 1e-12, "{} {}: {found:?}, need {need:?}", case.file, case.family);
        }
        match (&model.priors().parameters[..], case.auxiliary) {
            ([], None) => {}
            (&[Density::Exponential { rate }], Some(need)) => {
                assert!((rate / need.rate - 1.0).abs() < 1e-12, "{}: {rate}", case.file);
            }
            (found, need) => panic!("{} {}: {found:?}, need {need:?}", case.file, case.family),
        }
        assert!(model.priors().centred);
    }
}
