//! Draws of the prior of models with group effects, against the priors.

use ridgewalk_fit::{Fitted, Settings, fit};
use ridgewalk_frame::{FamilyName, Table};

/// Standard errors that a number may be off by: of some 100 here, with other seeds, one is farther
/// off in 17,000 runs.
const ERRORS: f64 = 5.0;
const N: f64 = 8000.0;

fn table() -> Table {
    let mut text = String::from("y,kind,x,z,g,h\n");
    for k in 0..48_u32 {
        let [x, z] = [k * 37 % 19, k * 11 % 7].map(|v| f64::from(v) / 3.0 - 2.0);
        let (y, kind) = (f64::from(k * 29 % 23) / 4.0, ["no", "some", "yes"][(k * 7 % 3) as usize]);
        text += &format!("{y},{kind},{x},{z},g{},h{}\n", k % 5, k * 13 % 4);
    }
    Table::from_bytes("prior.csv", text.as_bytes()).unwrap()
}

fn prior(formula: &str, family: FamilyName) -> Fitted {
    let settings = Settings {
        prior: Some("normal(1, 0.5)".into()),
        intercept_prior: Some("normal(-3, 2)".into()),
        group_prior: Some("half_normal(2)".into()),
        prior_only: true,
        draws: 1000,
        seed: 5,
        ..Settings::of_formula(formula, family)
    };
    fit(&table(), &settings).unwrap()
}

fn draws(fitted: &Fitted, name: &str) -> Vec<f64> {
    let all = fitted.draws();
    let place = all.names().iter().position(|other| other == name);
    let place = place.unwrap_or_else(|| panic!("no {name} among {:?}", all.names()));
    (0..all.chains()).flat_map(|chain| all.trace(chain, place)).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Errors that the mean of independent numbers is off by.
fn off(values: &[f64], need: f64) -> f64 {
    let m = mean(values);
    let variance = values.iter().map(|v| (v - m).powi(2)).sum::<f64>() / (values.len() - 1) as f64;
    (m - need) / (variance / values.len() as f64).sqrt()
}

fn is(name: &str, values: &[f64], need: f64) {
    let off = off(values, need);
    assert!(off.abs() < ERRORS, "{name}: {} for {need}, {off:.1} errors", mean(values));
}

/// The share of numbers below each is the probability.
fn is_distributed(name: &str, values: &[f64], quantiles: &[(f64, f64)]) {
    for (p, q) in quantiles {
        let below = values.iter().filter(|v| **v < *q).count() as f64;
        let off = (below - N * p) / (N * p * (1.0 - p)).sqrt();
        assert!(off.abs() < ERRORS, "{name}: {} below {q}, need {p}", below / N);
    }
}

/// Standard deviations and effects of a level; the correlations with the names of coefficients.
fn check(fitted: &Fitted, group: &str, coefficients: &[&str], level: &str) {
    let sds: Vec<Vec<f64>> =
        coefficients.iter().map(|c| draws(fitted, &format!("sd_{group}__{c}"))).collect();
    let effects: Vec<Vec<f64>> =
        coefficients.iter().map(|c| draws(fitted, &format!("r_{group}[{level},{c}]"))).collect();
    // Half-normal with scale 2: quantiles of the normal distribution at (1 + p)/2.
    let half = [(0.1, 0.251_322_7), (0.5, 1.348_979_5), (0.9, 3.289_707_3)];
    for (k, c) in coefficients.iter().enumerate() {
        is_distributed(&format!("sd of {c}"), &sds[k], &half);
        let squares: Vec<f64> = effects[k].iter().map(|u| u * u).collect();
        is(&format!("variance of {c}"), &squares, 4.0);
        is(&format!("effect of {c}"), &effects[k], 0.0);
        let standard: Vec<f64> = effects[k].iter().zip(&sds[k]).map(|(u, sd)| u / sd).collect();
        // Standard normal.
        let normal = [(0.1, -1.281_551_6), (0.5, 0.0), (0.975, 1.959_964)];
        is_distributed(&format!("standardized effect of {c}"), &standard, &normal);
        for (j, earlier) in coefficients[..k].iter().enumerate() {
            let name = format!("cor_{group}__{earlier}__{c}");
            let r = draws(fitted, &name);
            // LKJ(1) for q coefficients: each correlation is Beta(q/2, q/2) on (−1, 1).
            let q = coefficients.len() as f64;
            is(&name, &r, 0.0);
            is(&name, &r.iter().map(|r| r * r).collect::<Vec<f64>>(), 1.0 / (q + 1.0));
            if coefficients.len() == 2 {
                let uniform = [(0.05, -0.9), (0.25, -0.5), (0.5, 0.0), (0.95, 0.9)];
                is_distributed(&name, &r, &uniform);
            }
            let beside: Vec<f64> = (0..r.len())
                .map(|d| effects[k][d] * effects[j][d] / (sds[k][d] * sds[j][d]) - r[d])
                .collect();
            is(&format!("product of effects, {name}"), &beside, 0.0);
            // A correlation of its own: the product follows it.
            let with: Vec<f64> = (0..r.len()).map(|d| (beside[d] + r[d]) * r[d]).collect();
            is(&format!("{name} times the product"), &with, 1.0 / (q + 1.0));
        }
    }
}

#[test]
fn effects_follow_their_priors() {
    let fitted = prior("y ~ x + (1 + x | g) + (1 | h)", FamilyName::Gaussian);
    check(&fitted, "g", &["(Intercept)", "x"], "g3");
    check(&fitted, "h", &["(Intercept)"], "h0");
    is_distributed("x", &draws(&fitted, "x"), &[(0.025, 1.0 - 0.979_982), (0.5, 1.0)]);
    // Levels have effects of their own.
    let [a, b] = ["g0", "g1"].map(|level| draws(&fitted, &format!("r_g[{level},x]")));
    is("two levels", &a.iter().zip(&b).map(|(a, b)| a * b).collect::<Vec<f64>>(), 0.0);
    assert!(draws(&fitted, "sigma").iter().all(|sigma| *sigma > 0.0));
}

#[test]
fn three_coefficients_have_lkj_correlations() {
    let fitted = prior("y ~ x + z + (1 + x + z | g)", FamilyName::Gaussian);
    check(&fitted, "g", &["(Intercept)", "x", "z"], "g4");
}

#[test]
fn each_linear_predictor_has_its_own() {
    let fitted = prior("kind ~ x + (1 | g)", FamilyName::Multinomial);
    for level in ["some", "yes"] {
        check(&fitted, &format!("{level}:g"), &["(Intercept)"], "g2");
        let x = draws(&fitted, &format!("{level}:x"));
        is(&format!("{level}:x"), &x, 1.0);
    }
    let [a, b] =
        ["some", "yes"].map(|level| draws(&fitted, &format!("r_{level}:g[g2,(Intercept)]")));
    is("two predictors", &a.iter().zip(&b).map(|(a, b)| a * b).collect::<Vec<f64>>(), 0.0);
}

#[test]
fn a_flat_prior_of_a_standard_deviation_has_no_draws() {
    let settings = Settings {
        group_prior: Some("flat".into()),
        prior_only: true,
        ..Settings::of_formula("y ~ x + (1 | g)", FamilyName::Gaussian)
    };
    let said = fit(&table(), &settings).unwrap_err().to_string();
    assert!(said.contains("with a flat prior of `sd_g__(Intercept)`"), "{said}");
}
