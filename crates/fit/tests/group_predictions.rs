//! Predictions, densities, replicates, effects and checks of models with group effects, against
//! computations from the draws by their names.

use std::sync::atomic::AtomicBool;

use ridgewalk_diagnostics::{Elpd, Psis};
use ridgewalk_fit::{
    Data, EffectsRequest, FitRows, Fitted, LooOptions, Observed, PredictionKind, PredictionRequest,
    Settings, fit, loo,
};
use ridgewalk_frame::{FamilyName, Table};

const TOLERANCE: f64 = 1e-12;
/// Standard errors that a mean over random numbers may be off by.
const ERRORS: f64 = 5.0;

const N: usize = 40;

fn x(k: usize) -> f64 {
    (k * 37 % 19) as f64 / 5.0 - 1.8
}

fn y(k: usize) -> f64 {
    (k * 29 % 23) as f64 / 6.0 + 0.5 * x(k)
}

fn kind(k: usize) -> &'static str {
    ["no", "some", "yes"][k * 7 % 3]
}

fn g(k: usize) -> String {
    format!("g{}", k % 5)
}

fn h(k: usize) -> String {
    format!("h{}", k * 13 % 4)
}

fn table() -> Table {
    let mut text = String::from("y,count,kind,x,g,h\n");
    for k in 0..N {
        text += &format!("{},{},{},{},{},{}\n", y(k), k * 5 % 7, kind(k), x(k), g(k), h(k));
    }
    Table::from_bytes("rows.csv", text.as_bytes()).unwrap()
}

fn fitted(formula: &str, family: FamilyName) -> Fitted {
    let settings =
        Settings { draws: 100, chains: 4, seed: 2, ..Settings::of_formula(formula, family) };
    fit(&table(), &settings).unwrap()
}

fn draws(fitted: &Fitted, name: &str) -> Vec<f64> {
    let all = fitted.draws();
    let place = all.names().iter().position(|other| other == name);
    let place = place.unwrap_or_else(|| panic!("no {name} among {:?}", all.names()));
    (0..all.chains()).flat_map(|chain| all.trace(chain, place)).collect()
}

/// Σ xᵢ dᵢ in every draw, by the names of what was drawn.
fn sum(fitted: &Fitted, terms: &[(f64, String)]) -> Vec<f64> {
    let mut total: Vec<f64> = Vec::new();
    for (x, name) in terms {
        let own = draws(fitted, name);
        total.resize(own.len(), 0.0);
        total.iter_mut().zip(own).for_each(|(total, draw)| *total += x * draw);
    }
    total
}

fn same(what: &str, found: &[f64], need: &[f64]) {
    assert_eq!(found.len(), need.len(), "{what}");
    for (a, b) in found.iter().zip(need) {
        assert!((a - b).abs() <= TOLERANCE * b.abs().max(1.0), "{what}: {a} for {b}");
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn predicted(fitted: &Fitted, table: &Table, kind: PredictionKind) -> Vec<Vec<f64>> {
    let request = PredictionRequest { kind, ..PredictionRequest::default() };
    fitted.predictor().unwrap().predict_draws(table, 0, &request).unwrap()
}

/// The linear predictors of `(1 + x | g) + (1 | h)`.
fn crossed(fitted: &Fitted, k: usize) -> Vec<f64> {
    let terms = [
        (1.0, "(Intercept)".to_owned()),
        (x(k), "x".to_owned()),
        (1.0, format!("r_g[{},(Intercept)]", g(k))),
        (x(k), format!("r_g[{},x]", g(k))),
        (1.0, format!("r_h[{},(Intercept)]", h(k))),
    ];
    sum(fitted, &terms)
}

#[test]
fn slopes_and_crossed_effects_are_those_of_the_draws() {
    let fitted = fitted("y ~ x + (1 + x | g) + (1 | h)", FamilyName::Gaussian);
    let s: Vec<Vec<f64>> = (0..N).map(|k| crossed(&fitted, k)).collect();
    for kind in [PredictionKind::Linear, PredictionKind::Mean] {
        let found = predicted(&fitted, &table(), kind);
        (0..N).for_each(|k| same(&format!("{kind} {k}"), &found[k], &s[k]));
    }
    // Responses and replicates scatter about them by the noise.
    let sigma = draws(&fitted, "sigma");
    let table = table();
    let predictor = fitted.predictor().unwrap();
    let observed = Observed::new(fitted.config(), &table).unwrap();
    let replicates = predictor.replicates(&observed, 0..N, 1);
    let by_row: Vec<Vec<f64>> =
        (0..N).map(|k| replicates.iter().skip(k).step_by(N).copied().collect()).collect();
    for found in [predicted(&fitted, &table, PredictionKind::Response), by_row] {
        let z = |k: usize, d: usize| (found[k][d] - s[k][d]) / sigma[d];
        let count = N * sigma.len();
        let all: Vec<f64> = (0..count).map(|at| z(at % N, at / N)).collect();
        let square = mean(&all.iter().map(|z| z * z).collect::<Vec<f64>>());
        let root = (count as f64).sqrt();
        assert!(mean(&all).abs() < ERRORS / root, "{}", mean(&all));
        assert!((square - 1.0).abs() < ERRORS * 2.0_f64.sqrt() / root, "{square}");
    }
    // Log densities: those of an export, of leave-one-out and of the checks.
    let densities = predictor.log_likelihood(&observed, 0..N);
    let need = |k: usize, d: usize| {
        let z = (y(k) - s[k][d]) / sigma[d];
        -0.5 * z * z - sigma[d].ln() - 0.5 * std::f64::consts::TAU.ln()
    };
    let by_hand: Vec<f64> = (0..densities.len()).map(|at| need(at % N, at / N)).collect();
    same("log densities", &densities, &by_hand);
    let options = LooOptions { refits: 0, ..LooOptions::default() };
    let stop = AtomicBool::new(false);
    let rows = FitRows::new(fitted.config(), Data::from(&table)).unwrap();
    let found = loo(&predictor, fitted.draws(), &rows, options, &stop, &|_| {}).unwrap();
    let mut psis = Psis::new();
    let points = (0..N).map(|k| {
        let own: Vec<f64> = densities.iter().skip(k).step_by(N).copied().collect();
        psis.pointwise(&own, found.r_eff)
    });
    let points: Vec<_> = points.collect();
    let elpd: Vec<f64> = points.iter().map(|point| point.elpd_loo).collect();
    same("leave-one-out", &found.pointwise, &elpd);
    let checks = fitted.checks().unwrap().unwrap();
    let of_checks = checks.loo.unwrap();
    same("checks", &[of_checks.elpd], &[Elpd::loo(&points).elpd]);
    same("k of checks", &of_checks.pareto_k, &found.pareto_k);
    assert_eq!((checks.rows, checks.replicates), ([N, N], 400));
}

#[test]
fn average_effects_take_the_groups_of_the_rows() {
    let fitted = fitted("count ~ x + (1 + x | g) + (1 | h)", FamilyName::Poisson);
    let request = EffectsRequest { by: "x".into(), at: Vec::new(), interval: 0.9 };
    let table = table();
    let data = FitRows::new(fitted.config(), Data::from(&table)).unwrap();
    let (found, rows) = fitted.predictor().unwrap().effects_of_fit(&data, &request).unwrap();
    assert_eq!(rows, N);
    let mut slope = vec![0.0; 400];
    for k in 0..N {
        let s = crossed(&fitted, k);
        let by = sum(&fitted, &[(1.0, "x".into()), (1.0, format!("r_g[{},x]", g(k)))]);
        slope.iter_mut().enumerate().for_each(|(d, sum)| *sum += s[d].exp() * by[d] / N as f64);
    }
    let effect = &found.effects[0].effect;
    println!("slope {} for {}", effect.mean, mean(&slope));
    assert!((effect.mean - mean(&slope)).abs() < 1e-6 * effect.sd, "{effect:?}");
    // Expected responses, with the effects.
    let means = predicted(&fitted, &table, PredictionKind::Mean);
    for (k, found) in means.iter().enumerate() {
        let need: Vec<f64> = crossed(&fitted, k).iter().map(|s| s.exp()).collect();
        same("mean", found, &need);
    }
    // Levels of a grouping beside each other.
    let request = EffectsRequest { by: "h".into(), ..request };
    let (found, _) = fitted.predictor().unwrap().effects_of_fit(&data, &request).unwrap();
    let average = |level: &str| {
        let each = (0..N).map(|k| {
            let own = sum(
                &fitted,
                &[
                    (1.0, format!("r_h[{level},(Intercept)]")),
                    (-1.0, format!("r_h[{},(Intercept)]", h(k))),
                ],
            );
            let s = crossed(&fitted, k);
            s.iter().zip(own).map(|(s, by)| (s + by).exp()).sum::<f64>() / 400.0
        });
        each.sum::<f64>() / N as f64
    };
    assert_eq!(found.effects[0].contrast, "h1 - h0");
    let need = average("h1") - average("h0");
    assert!((found.effects[0].effect.mean - need).abs() < 1e-10, "{:?} for {need}", found.effects);
}

#[test]
fn each_linear_predictor_has_its_effects() {
    let fitted = fitted("kind ~ x + (1 + x | g) + (1 | h)", FamilyName::Multinomial);
    let linear = predicted(&fitted, &table(), PredictionKind::Linear);
    let probabilities = predicted(&fitted, &table(), PredictionKind::Mean);
    for k in 0..N {
        let s = ["some", "yes"].map(|level| {
            sum(
                &fitted,
                &[
                    (1.0, format!("{level}:(Intercept)")),
                    (x(k), format!("{level}:x")),
                    (1.0, format!("r_{level}:g[{},(Intercept)]", g(k))),
                    (x(k), format!("r_{level}:g[{},x]", g(k))),
                    (1.0, format!("r_{level}:h[{},(Intercept)]", h(k))),
                ],
            )
        });
        same("some", &linear[2 * k], &s[0]);
        same("yes", &linear[2 * k + 1], &s[1]);
        let none: Vec<f64> =
            (0..400).map(|d| 1.0 / (1.0 + s[0][d].exp() + s[1][d].exp())).collect();
        same("probability of no", &probabilities[3 * k], &none);
    }
    // New levels: effects on two linear predictors are independent.
    let new = new_levels(&[1.0; 400]);
    let linear = predicted(&fitted, &new, PredictionKind::Linear);
    let fixed = ["some", "yes"].map(|level| {
        sum(&fitted, &[(1.0, format!("{level}:(Intercept)")), (1.0, format!("{level}:x"))])
    });
    let mut sums = [0.0; 3];
    for pair in linear.chunks_exact(2) {
        for d in 0..400 {
            let [a, b] = [pair[0][d] - fixed[0][d], pair[1][d] - fixed[1][d]];
            sums.iter_mut().zip([a * b, a * a * b * b, a * a]).for_each(|(sum, v)| *sum += v);
        }
    }
    let off = sums[0] / sums[1].sqrt();
    println!("product of effects of new levels {off:.2} errors, squares {}", sums[2]);
    assert!(off.abs() < ERRORS, "{off}");
}

/// Rows of levels that no fit has seen.
fn new_levels(x: &[f64]) -> Table {
    let rows = x.iter().map(|x| format!("{x},new,other\n"));
    let text = format!("x,g,h\n{}", rows.collect::<String>());
    Table::from_bytes("new.csv", text.as_bytes()).unwrap()
}

/// The effects of new levels: the mean of their squares, draw by draw, is the variance.
#[test]
fn new_levels_have_the_spread_of_the_groups() {
    let fitted = fitted("y ~ x + (1 + x | g) + (1 | h)", FamilyName::Gaussian);
    let [a, b, c] =
        ["sd_g__(Intercept)", "sd_g__x", "sd_h__(Intercept)"].map(|n| draws(&fitted, n));
    let r = draws(&fitted, "cor_g__(Intercept)__x");
    const ROWS: usize = 300;
    for at in [0.0, 2.0, -2.0] {
        let found = predicted(&fitted, &new_levels(&[at; ROWS]), PredictionKind::Linear);
        let fixed = sum(&fitted, &[(1.0, "(Intercept)".into()), (at, "x".into())]);
        let (mut square, mut need, mut error) = (0.0, 0.0, 0.0);
        for d in 0..fixed.len() {
            let variance =
                a[d].powi(2) + 2.0 * at * r[d] * a[d] * b[d] + (at * b[d]).powi(2) + c[d].powi(2);
            square += found.iter().map(|row| (row[d] - fixed[d]).powi(2)).sum::<f64>();
            need += ROWS as f64 * variance;
            error += 2.0 * ROWS as f64 * variance * variance;
        }
        let off = (square - need) / error.sqrt();
        println!("at {at}: variance {:.4} of that needed, {off:.2} errors", square / need);
        assert!(off.abs() < ERRORS, "at {at}: {off}");
    }
}
