//! What a fit with groups shows: effects apart from the other parameters, arrays for exports, notes on
//! new levels, draws of the prior.

use ridgewalk_fit::{Data, Settings, fit, prior_draws};
use ridgewalk_frame::{FamilyName, Table};

/// 8 levels of 5 rows.
fn table() -> Table {
    let mut text = "y,x,g\n".to_owned();
    for row in 0..40 {
        let (x, g) = (f64::from(row % 5), row / 5);
        let y = x + f64::from(g * g % 7) + f64::from(row * 7 % 10) / 10.0;
        text.push_str(&format!("{y},{x},g{g}\n"));
    }
    Table::from_bytes("d.csv", text.as_bytes()).unwrap()
}

fn settings(formula: &str) -> Settings {
    let settings = Settings::of_formula(formula, FamilyName::Gaussian);
    Settings { chains: 2, draws: 100, ..settings }
}

#[test]
fn effects_are_apart_from_other_parameters() {
    let fitted = fit(&table(), &settings("y ~ x + (x | g) + s(x, k = 4)")).unwrap();
    let document = fitted.document();
    let names = |of: &ridgewalk_fit::SummaryDocument| -> Vec<String> {
        of.parameters.iter().map(|p| p.name.clone()).collect()
    };
    let own = [
        "(Intercept)",
        "x",
        "s(x)",
        "sigma",
        "sd_g__(Intercept)",
        "sd_g__x",
        "cor_g__(Intercept)__x",
        "sd_s(x)",
    ];
    assert_eq!(names(&document.without_effects()), own);
    assert_eq!(document.before_effects(), own.len());
    let [g, s] = &document.groups[..] else { panic!("{:?}", document.groups) };
    assert_eq!((g.name.as_str(), g.levels, g.range()), ("g", 8, 8..24));
    assert_eq!((s.name.as_str(), s.smooth, s.range()), ("s(x)", true, 24..26));
    let effects = &document.parameters[g.range()];
    let least = effects.iter().flat_map(|p| [p.ess_bulk, p.ess_tail]).fold(f64::NAN, f64::min);
    assert_eq!(g.smallest_ess, least);
    // All but smooths, and one by its name.
    let found = names(&document.only_effects(None).unwrap());
    assert_eq!((found.len(), found[1].as_str()), (16, "r_g[g0,x]"));
    assert_eq!(names(&document.only_effects(Some("s(x)")).unwrap()), ["r_s(x)[1]", "r_s(x)[2]"]);
    assert!(document.only_effects(Some("h")).is_none());
    // The document comes back from its text.
    let read: ridgewalk_fit::SummaryDocument =
        serde_json::from_str(&document.to_json().unwrap()).unwrap();
    assert_eq!(read.groups, document.groups);

    let arrays = fitted.config().resolved.groups().arrays(4);
    let found: Vec<_> = arrays.iter().map(|a| (a.name.as_str(), a.columns.clone())).collect();
    let need =
        [("sd_g", 4..6), ("cor_g", 6..7), ("r_g", 8..24), ("sd_s(x)", 7..8), ("r_s(x)", 24..26)];
    assert_eq!(found, need);
    assert_eq!(arrays[1].dims, [("g__pair".to_owned(), vec!["(Intercept)__x".to_owned()])]);
    let dims: Vec<(&str, usize)> = arrays[2].dims.iter().map(|d| (&*d.0, d.1.len())).collect();
    assert_eq!(dims, [("g__level", 8), ("g__coefficient", 2)]);
}

#[test]
fn names_that_no_file_can_have_are_replaced() {
    let fitted = fit(&table(), &settings("y ~ (1 | g:x) + (1 | g)")).unwrap();
    let arrays = fitted.config().resolved.groups().arrays(2);
    let names: Vec<&str> = arrays.iter().map(|array| array.name.as_str()).collect();
    assert_eq!(names, ["sd_g.x", "r_g.x", "sd_g", "r_g"]);
}

#[test]
fn rows_with_new_levels_are_counted() {
    let predictor = fit(&table(), &settings("y ~ x + (x | g)")).unwrap().predictor().unwrap();
    let new = Table::from_bytes("n.csv", b"x,g\n1,g0\n2,h\n3,k\n").unwrap();
    assert_eq!(predictor.unseen(&new).unwrap(), [("g".to_owned(), 2)]);
    let old = Table::from_bytes("n.csv", b"x,g\n1,g0\n").unwrap();
    assert!(predictor.unseen(&old).unwrap().is_empty());
}

/// Shares of 1000 independent draws, held to 5 standard errors: each is off once in 1.7 million
/// seeds.
#[test]
fn draws_of_the_prior_have_groups() {
    let asked = Settings {
        group_prior: Some("exponential(2)".into()),
        ..settings("y ~ x + (1 + x + I(x^2) | g)")
    };
    let fitted = fit(&table(), &asked).unwrap();
    let draws = prior_draws(fitted.config(), &Data::from(&table())).unwrap();
    let column = |name: &str| {
        let k = draws.names().iter().position(|other| other == name).unwrap();
        draws.trace(0, k)
    };
    let check = |values: Vec<f64>, below: f64, share: f64| {
        let found = values.iter().filter(|x| **x < below).count() as f64 / values.len() as f64;
        let error = (share * (1.0 - share) / values.len() as f64).sqrt();
        assert!((found - share).abs() < 5.0 * error, "{found} {share}");
    };
    let sd = column("sd_g__(Intercept)");
    check(sd.clone(), 0.2, 1.0 - (-0.4_f64).exp());
    // Each correlation of three has the density of 2b - 1 with b from beta(3/2, 3/2): the semicircle.
    let semicircle = |r: f64| 0.5 + (r * (1.0 - r * r).sqrt() + r.asin()) / std::f64::consts::PI;
    for name in ["cor_g__(Intercept)__x", "cor_g__(Intercept)__I(x^2)", "cor_g__x__I(x^2)"] {
        for below in [-0.5, 0.0, 0.6] {
            check(column(name), below, semicircle(below));
        }
    }
    // Effects in units of their standard deviation are standard normal.
    let effects = column("r_g[g3,(Intercept)]");
    check(effects.iter().zip(&sd).map(|(u, sd)| u / sd).collect(), 1.0, 0.841_344_746_068_543);
    let flat = Settings { group_prior: Some("flat".into()), prior_only: true, ..asked };
    let said = fit(&table(), &flat).unwrap_err().to_string();
    assert!(said.contains("sd_g__(Intercept)") || said.contains("--group-prior"), "{said}");
}
