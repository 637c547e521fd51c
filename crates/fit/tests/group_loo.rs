//! Leave-one-group-out and leave-one-row-out of models with group effects, against densities without
//! sampling: with known variances a gaussian mixed model is a normal law of all responses, and the
//! density of some of them given others is a ratio of evidences, integrated over the variances on a
//! grid.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use ridgewalk_fit::{
    Data, FitRows, Fitted, LooDocument, LooMethod, LooOptions, Observed, Responses, Settings,
    compare, fit, folds, loo,
};
use ridgewalk_frame::{FamilyName, Table};

/// Standard errors that a log density may be off by: of some 50 here, with other seeds, one is farther
/// off in 20,000 runs.
const ERRORS: f64 = 5.0;
/// The largest standard error.
const ERROR: f64 = 0.12;
/// What PSIS may be off by for single rows, and for those whose k is near the limit of 0.7, where its
/// error falls slowly with the number of draws.
const BY_ROW: f64 = 0.12;
const BY_HEAVY_ROW: f64 = 0.3;
const HEAVY: f64 = 0.6;

const COEFFICIENT: f64 = 2.0;
const INTERCEPT: f64 = 3.0;
/// Of the half-normal prior of standard deviations of effects.
const SD: f64 = 1.5;
/// Of the exponential prior of the noise.
const RATE: f64 = 1.0;

/// Rows of 6 groups; the last has one row, far from the others.
const ROWS: [(&str, f64, f64); 19] = [
    ("b", -1.3, 0.2),
    ("b", 0.4, 1.9),
    ("b", 1.1, 2.1),
    ("a", -0.6, -1.4),
    ("a", 0.9, -0.3),
    ("a", 1.7, 1.0),
    ("a", -1.8, -2.6),
    ("c", 0.2, 0.6),
    ("c", -0.9, -0.2),
    ("d", 1.4, 3.4),
    ("d", -0.2, 1.6),
    ("d", 0.7, 2.2),
    ("d", -1.1, 0.9),
    ("d", 0.1, 2.0),
    ("e", 1.9, 0.1),
    ("e", -1.5, -1.2),
    ("e", 0.3, -0.9),
    ("e", -0.4, -0.7),
    ("f", 0.5, 6.5),
];

fn table() -> Table {
    let rows = ROWS.iter().map(|(g, x, y)| format!("{g},{x},{y}\n"));
    let text = format!("g,x,y\n{}", rows.collect::<String>());
    Table::from_bytes("groups.csv", text.as_bytes()).unwrap()
}

fn settings(formula: &str) -> Settings {
    Settings {
        prior_scale: Some(COEFFICIENT),
        intercept_prior_scale: Some(INTERCEPT),
        group_prior: formula.contains('|').then(|| format!("half_normal({SD})")),
        draws: 2000,
        seed: 3,
        ..Settings::of_formula(formula, FamilyName::Gaussian)
    }
}

/// The noise is known, or exponential.
fn fitted(formula: &str, noise: Option<f64>) -> Fitted {
    let aux_prior = noise.is_none().then(|| format!("exponential({RATE})"));
    fit(&table(), &Settings { noise_scale: noise, aux_prior, ..settings(formula) }).unwrap()
}

fn left_out(fitted: &Fitted, options: LooOptions) -> (LooDocument, Responses) {
    let table = table();
    let rows = FitRows::new(fitted.config(), Data::from(&table)).unwrap();
    let (predictor, stop) = (fitted.predictor().unwrap(), AtomicBool::new(false));
    let found = loo(&predictor, fitted.draws(), &rows, options, &stop, &|_| {}).unwrap();
    (found, rows.responses().unwrap())
}

fn by_group(fitted: &Fitted, method: LooMethod) -> LooDocument {
    let options = LooOptions { method, groups: Some("g".into()), ..LooOptions::default() };
    left_out(fitted, options).0
}

/// The rows of each group, in the order of their first rows.
fn groups() -> Vec<Vec<usize>> {
    let mut names: Vec<&str> = Vec::new();
    ROWS.iter().for_each(|(g, ..)| {
        if !names.contains(g) {
            names.push(g);
        }
    });
    let rows = |name: &&str| (0..ROWS.len()).filter(|row| ROWS[*row].0 == *name).collect();
    names.iter().map(rows).collect()
}

/// Variances of the model.
#[derive(Debug, Clone, Copy)]
struct Point {
    noise: f64,
    /// Standard deviations of intercepts and slopes, and their correlation.
    sds: [f64; 2],
    correlation: f64,
    /// The logarithm of prior density and of the volume of the cell.
    log_prior: f64,
}

/// The log density of the responses of some rows.
fn log_density(point: &Point, rows: &[usize]) -> f64 {
    let covariance = |i: usize, j: usize| {
        let ((g, x, _), (h, z, _)) = (ROWS[i], ROWS[j]);
        let [a, b] = point.sds;
        let common = INTERCEPT * INTERCEPT + COEFFICIENT * COEFFICIENT * x * z;
        let effects = a * a + point.correlation * a * b * (x + z) + b * b * x * z;
        common
            + if g == h { effects } else { 0.0 }
            + if i == j { point.noise * point.noise } else { 0.0 }
    };
    let n = rows.len();
    let mut lower = vec![0.0; n * n];
    let mut v = vec![0.0; n];
    let mut sum = point.log_prior;
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| lower[i * n + k] * lower[j * n + k]).sum();
            let rest = covariance(rows[i], rows[j]) - known;
            lower[i * n + j] = if i == j { rest.sqrt() } else { rest / lower[j * n + j] };
        }
        let known: f64 = (0..i).map(|k| lower[i * n + k] * v[k]).sum();
        v[i] = (ROWS[rows[i]].2 - known) / lower[i * n + i];
        sum -= 0.5 * v[i] * v[i] + lower[i * n + i].ln() + 0.5 * std::f64::consts::TAU.ln();
    }
    sum
}

/// The log of the integral over a grid.
fn evidence(grid: &[Point], rows: &[usize]) -> f64 {
    let all: Vec<f64> = grid.iter().map(|point| log_density(point, rows)).collect();
    let most = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + all.iter().map(|value| (value - most).exp()).sum::<f64>().ln()
}

/// The log density of some rows given those that are not left out.
fn exact(grid: &[Point], rows: &[usize], left_out: &[usize]) -> f64 {
    let others: Vec<usize> = (0..ROWS.len()).filter(|row| !left_out.contains(row)).collect();
    let both: Vec<usize> = others.iter().chain(rows).copied().collect();
    evidence(grid, &both) - evidence(grid, &others)
}

/// Standard deviations on a logarithmic grid, with the log of step and half-normal density.
fn sds(count: u32) -> Vec<(f64, f64)> {
    let step = 9.0 / f64::from(count);
    (0..count)
        .map(|k| {
            let log = -7.0 + step * f64::from(k);
            let sd = log.exp();
            (sd, log - 0.5 * (sd / SD).powi(2))
        })
        .collect()
}

/// One standard deviation, of intercepts, and the noise.
fn grid_of_intercepts(effects: bool) -> Vec<Point> {
    let noises = (0..60).map(|k| {
        let log = -3.0 + 0.1 * f64::from(k);
        (log.exp(), log - RATE * log.exp())
    });
    let list = if effects { sds(90) } else { vec![(0.0, 0.0)] };
    noises
        .flat_map(|(noise, log)| {
            list.iter().map(move |(sd, more)| Point {
                noise,
                sds: [*sd, 0.0],
                correlation: 0.0,
                log_prior: log + more,
            })
        })
        .collect()
}

/// Intercepts and slopes with all correlations equally likely, and known noise.
fn grid_of_slopes(noise: f64) -> Vec<Point> {
    let list = sds(30);
    let mut grid = Vec::new();
    for (a, log) in &list {
        for (b, more) in &list {
            for k in 0..16 {
                let correlation = (f64::from(k) + 0.5) / 8.0 - 1.0;
                grid.push(Point { noise, sds: [*a, *b], correlation, log_prior: log + more });
            }
        }
    }
    grid
}

/// Compares each group with the exact density, and returns the largest number of errors.
fn worst(name: &str, found: &LooDocument, need: &[f64]) -> f64 {
    let of = found.groups.as_ref().unwrap();
    assert_eq!((&*of.by, found.n, of.rows.iter().sum::<usize>()), ("g", 6, ROWS.len()));
    assert_eq!(of.levels, ["b", "a", "c", "d", "e", "f"]);
    let mut worst = 0.0_f64;
    for (k, need) in need.iter().enumerate() {
        let (value, error) = (found.pointwise[k], of.mcse[k]);
        println!("{name}: {} {value:.4} ± {error:.4}, need {need:.4}", of.levels[k]);
        assert!(error < ERROR, "{name}: {}: {error}", of.levels[k]);
        worst = worst.max((value - need).abs() / error);
    }
    assert!((found.pointwise.iter().sum::<f64>() - found.elpd_loo).abs() < 1e-9);
    worst
}

#[test]
fn groups_left_out_have_the_density_of_the_integral_over_their_effects() {
    let fitted = fitted("y ~ x + (1 | g)", None);
    let (grid, groups) = (grid_of_intercepts(true), groups());
    let need: Vec<f64> = groups.iter().map(|rows| exact(&grid, rows, rows)).collect();
    let found = by_group(&fitted, LooMethod::Psis);
    let off = worst("intercepts", &found, &need);
    assert!(off < ERRORS, "{off}");
    assert_eq!((found.method, &found.refitted[..]), (LooMethod::Exact, &[0, 1, 2, 3, 4, 5][..]));

    // The effect of the group as it was fitted, in place of the integral.
    let observed = Observed::new(fitted.config(), &table()).unwrap();
    let predictor = fitted.predictor().unwrap();
    let densities = predictor.log_likelihood(&observed, 0..ROWS.len());
    let mut wrong = found.clone();
    for (k, rows) in groups.iter().enumerate() {
        let joint = densities.chunks_exact(ROWS.len()).map(|draw| {
            let sum: f64 = rows.iter().map(|row| draw[*row]).sum();
            sum.exp()
        });
        wrong.pointwise[k] = (joint.sum::<f64>() / predictor.draws() as f64).ln();
    }
    wrong.elpd_loo = wrong.pointwise.iter().sum();
    let off = worst("fitted effects", &wrong, &need);
    assert!(off > 10.0 * ERRORS, "{off}");

    // The rows of a group as if each had an effect of its own.
    let alone: Vec<f64> = groups
        .iter()
        .map(|rows| rows.iter().map(|row| exact(&grid, &[*row], rows)).sum())
        .collect();
    let off = worst("an effect for each row", &found, &alone);
    assert!(off > 2.0 * ERRORS, "{off}");

    // Folds of groups.
    let parts = folds(6, 3, fitted.config()).unwrap();
    let mut need = vec![0.0; 6];
    for part in &parts {
        let left: Vec<usize> = part.iter().flat_map(|k| groups[*k].clone()).collect();
        part.iter().for_each(|k| need[*k] = exact(&grid, &groups[*k], &left));
    }
    let found = by_group(&fitted, LooMethod::Folds(3));
    let off = worst("folds", &found, &need);
    assert!(off < ERRORS && found.refitted.is_empty(), "{off}");
}

#[test]
fn slopes_of_groups_left_out_are_integrated_out() {
    let fitted = fitted("y ~ x + (1 + x | g)", Some(0.8));
    let grid = grid_of_slopes(0.8);
    let need: Vec<f64> = groups().iter().map(|rows| exact(&grid, rows, rows)).collect();
    let off = worst("slopes", &by_group(&fitted, LooMethod::Exact), &need);
    assert!(off < ERRORS, "{off}");
}

#[test]
fn rows_left_out_have_the_density_given_the_others() {
    let fitted = fitted("y ~ x + (1 | g)", None);
    let grid = grid_of_intercepts(true);
    let (found, mixed) = left_out(&fitted, LooOptions::default());
    let last = ROWS.len() - 1;
    println!("k {:.2?}, refitted {:?}", found.pareto_k, found.refitted);
    assert!(found.refitted.contains(&last), "{:?}", found.pareto_k);
    for row in 0..ROWS.len() {
        let (value, need) = (found.pointwise[row], exact(&grid, &[row], &[row]));
        println!("row {row}: {value:.4}, need {need:.4}");
        let heavy = found.pareto_k[row] > HEAVY && !found.refitted.contains(&row);
        let limit = if heavy { BY_HEAVY_ROW } else { BY_ROW };
        assert!((value - need).abs() < limit, "row {row}: {value} for {need}");
    }
    // The only row of a group is the group.
    let groups = by_group(&fitted, LooMethod::Exact);
    let alone = groups.pointwise[5] - found.pointwise[last];
    assert!(alone.abs() < BY_ROW, "{alone}");

    // Beside a model without groups, by rows and by groups.
    let plain = self::fitted("y ~ x", None);
    let (by_rows, other) = left_out(&plain, LooOptions::default());
    let compared =
        compare(&[("plain".into(), &other, &by_rows), ("mixed".into(), &mixed, &found)]).unwrap();
    assert_eq!((compared.n, compared.groups.as_deref()), (ROWS.len(), None));
    assert_eq!(compared.models[0].name, "mixed");
    let difference = by_rows.elpd_loo - found.elpd_loo;
    assert!((compared.models[1].elpd_diff - difference).abs() < 1e-9);
    let by_column = by_group(&plain, LooMethod::Psis);
    let without = grid_of_intercepts(false);
    let need: Vec<f64> = self::groups().iter().map(|rows| exact(&without, rows, rows)).collect();
    let off = worst("without effects", &by_column, &need);
    assert!(off < ERRORS, "{off}");
    let compared =
        compare(&[("plain".into(), &other, &by_column), ("mixed".into(), &mixed, &groups)])
            .unwrap();
    assert_eq!((compared.n, compared.groups.as_deref()), (6, Some("g")));
    let error = compare(&[("plain".into(), &other, &by_column), ("mixed".into(), &mixed, &found)]);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("left out in the same groups as for plain"), "{error}");
}

#[test]
fn groups_that_cannot_be_left_out_are_refused() {
    let settings = Settings { draws: 20, chains: 2, ..settings("y ~ x + (1 | g)") };
    let fitted = fit(&table(), &settings).unwrap();
    let table = table();
    let rows = FitRows::new(fitted.config(), Data::from(&table)).unwrap();
    let (predictor, stop) = (fitted.predictor().unwrap(), AtomicBool::new(false));
    let said = |options: LooOptions| {
        let found = loo(&predictor, fitted.draws(), &rows, options, &stop, &|_| {});
        found.unwrap_err().to_string()
    };
    let groups = |name: &str| Some(name.to_owned());
    let default = LooOptions::default;
    let cases = BTreeMap::from([
        (
            "a grouping of the fit (g) or a column of",
            LooOptions { groups: groups("h"), ..default() },
        ),
        (
            "g with 6 levels: need at most 5 levels, the number of refits",
            LooOptions { groups: groups("g"), refits: 5, ..default() },
        ),
        (
            "--folds 7: need 2 to 6",
            LooOptions { groups: groups("g"), method: LooMethod::Folds(7), ..default() },
        ),
    ]);
    for (need, options) in cases {
        let said = said(options);
        assert!(said.contains(need), "{said}");
    }
}
