//! Priors from scales and from TOML files, and the error message for every kind of bad entry.

use std::path::Path;

use proptest::prelude::*;
use ridgewalk_fit::{Auxiliary, Groups, ModelPriors, PriorError, Priors, Settings};
use ridgewalk_frame::{Column, FamilyName, Frame, Table};
use ridgewalk_potentials::Density;

#[track_caller]
fn starts(message: &str, start: &str) {
    assert!(message.starts_with(start), "\n got: {message}\nneed: {start}");
}

/// Priors normal(0, 10) of the intercept and normal(0, 2.5) of the rest.
fn absolute() -> Settings {
    let settings = Settings::new("y", FamilyName::Gaussian);
    Settings { prior_scale: Some(2.5), intercept_prior_scale: Some(10.0), ..settings }
}

/// The priors of a model of `age` and `city`, with `sigma`.
fn resolved(settings: &Settings, toml: &str) -> Result<ModelPriors, PriorError> {
    let columns = vec![
        Column::from_numbers("y", &[1.0, 2.0, 4.0, 5.0]),
        Column::from_numbers("age", &[10.0, 20.0, 30.0, 40.0]),
        Column::from_texts("city", &["Bergen", "Oslo", "Oslo", "Tromso"]),
    ];
    let table = Table::from_columns("t", columns).unwrap();
    let frame = Frame::new(&table, &settings.question(&table).unwrap()).unwrap();
    let sizes = frame.sizes(settings.family, |_, _| {});
    let auxiliary = Auxiliary::new(settings, &frame);
    Priors::from_settings(settings)?.with_toml("p.toml", toml)?.resolve(
        &frame,
        &sizes,
        &auxiliary,
        &Groups::default(),
    )
}

fn priors(toml: &str) -> Result<Vec<Density>, PriorError> {
    resolved(&absolute(), toml).map(|priors| priors.coefficients)
}

fn normal(mean: f64, scale: f64) -> Density {
    Density::Normal { mean, scale }
}

#[test]
fn priors_from_scales_and_from_a_file() {
    let rest = normal(0.0, 2.5);
    assert_eq!(priors("").unwrap(), [normal(0.0, 10.0), rest, rest, rest]);
    let toml = "[age]\nmean = -1\nscale = 3\n\n[\"(Intercept)\"]\nscale = inf\n[\"city[Oslo]\"]\nmean=0.5\nscale=1e-1\n";
    assert_eq!(priors(toml).unwrap(), [Density::Flat, normal(-1.0, 3.0), normal(0.5, 0.1), rest]);
    for (scale, intercept, option) in [
        (0.0, 1.0, "--prior-scale"),
        (f64::NAN, 1.0, "--prior-scale"),
        (1.0, -2.0, "--intercept-prior-scale"),
    ] {
        let settings = Settings {
            prior_scale: Some(scale),
            intercept_prior_scale: Some(intercept),
            ..absolute()
        };
        starts(
            &Priors::from_settings(&settings).unwrap_err().to_string(),
            &format!("{option}: found "),
        );
    }
}

/// All coefficients, a whole factor, one level, the intercept at the means, and the noise scale; the
/// most special entry counts, whatever their order.
#[test]
fn one_entry_can_name_a_factor_or_all_coefficients() {
    let toml = "[\"city[Oslo]\"]\nprior = \"laplace(0, 1)\"\n[city]\nprior = \"cauchy(0, 3)\"\n\
                [\"*\"]\nprior = \"student_t(4, 0, 2)\"\n[\"(Intercept)\"]\nprior = \"normal(1, 2)\"\n\
                [sigma]\nprior = \"half_normal(2, autoscale)\"\n";
    let found = resolved(&Settings::new("y", FamilyName::Gaussian), toml).unwrap();
    let need = [
        normal(1.0, 2.0),
        Density::StudentT { degrees: 4.0, mean: 0.0, scale: 2.0 },
        Density::Laplace { mean: 0.0, scale: 1.0 },
        Density::StudentT { degrees: 1.0, mean: 0.0, scale: 3.0 },
    ];
    assert_eq!(found.coefficients, need);
    assert!(found.centred);
    // The standard deviation of 1, 2, 4 and 5.
    let sd = (10.0_f64 / 3.0).sqrt();
    let &[Density::Normal { mean: 0.0, scale }] = &found.parameters[..] else { panic!() };
    assert!((scale - 2.0 * sd).abs() < 1e-14);
}

#[test]
fn options_give_priors_in_absolute_units_or_in_those_of_the_data() {
    let settings = |prior: &str| Settings {
        prior: Some(prior.to_owned()),
        ..Settings::new("y", FamilyName::Gaussian)
    };
    let found = resolved(&settings("normal(0, 1)"), "").unwrap();
    assert_eq!(found.coefficients[1], normal(0.0, 1.0));
    let found = resolved(&settings("normal(0, 1, autoscale)"), "").unwrap();
    let Density::Normal { scale, .. } = found.coefficients[1] else { panic!() };
    assert!((scale - (10.0_f64 / 3.0).sqrt() / (500.0_f64 / 3.0).sqrt()).abs() < 1e-14);
    let error = resolved(&settings("normal(0)"), "").unwrap_err().to_string();
    starts(&error, "--prior 'normal(0)': need normal(mean, scale), student_t");
    let aux = Settings { aux_prior: Some("normal(0, 1)".into()), ..absolute() };
    starts(
        &resolved(&aux, "").unwrap_err().to_string(),
        "--aux-prior 'normal(0, 1)': need half_normal(scale)",
    );
}

#[test]
fn invalid_priors_are_reported_with_their_line() {
    let message = |toml| priors(toml).unwrap_err().to_string();
    starts(
        &message("\n[agee]\nscale = 1\n"),
        "p.toml, line 2: found a prior for `agee`, which is not a coefficient",
    );
    assert!(message("[agee]\nscale = 1").ends_with("did you mean `age`?"));
    assert!(
        message("[zzzzzzz]\nscale = 1")
            .ends_with("available: `(Intercept)`, `age`, `city[Oslo]`, `city[Tromso]`, `sigma`")
    );
    starts(
        &message("[age]\nsd = 1\n"),
        "p.toml, line 2: found `sd`, need `prior`, `mean` or `scale` for `age`",
    );
    starts(
        &message("[age]\nmean = 1\n"),
        "p.toml, line 1: found `[age]`, need `prior = ...` or `scale = ...`",
    );
    starts(
        &message("[age]\n\nscale = -1\n"),
        "p.toml, line 3: found `scale = -1`, need a number between",
    );
    starts(&message("[age]\nscale = 0\n"), "p.toml, line 2: found `scale = 0`");
    starts(&message("[age]\nscale = nan\n"), "p.toml, line 2: found `scale = nan`");
    starts(&message("[age]\nscale = \"2\"\n"), "p.toml, line 2: found `scale = \"2\"`");
    starts(
        &message("[age]\nscale = 1\nmean = inf\n"),
        "p.toml, line 3: found `mean = inf`, need a number between -1e150 and 1e150",
    );
    starts(
        &message("[age]\nscale = inf\nmean = 3\n"),
        "p.toml, line 1: found `mean = 3`, need a finite scale",
    );
    starts(&message("age = 3\n"), "p.toml, line 1: found `age`, need a table: `[age]`");
    starts(&message("[age]\nscale = 1\nscale = 2\n"), "p.toml, line 3: ");
    starts(&message("[age\nscale = 1\n"), "p.toml, line 1: ");
    starts(
        &message("[age]\nprior = \"norm(0, 1)\"\n"),
        "p.toml, line 1: found `prior = \"norm(0, 1)\"`, need normal(mean, scale)",
    );
    starts(&message("[sigma]\nscale = 1\n"), "p.toml, line 1: found `sigma`, need `prior = ");
    // A dot in an unquoted name nests.
    starts(
        &message("[a.b]\nscale = 1\n"),
        "p.toml, line 1: found `b`, need `prior`, `mean` or `scale` for `a`; put names with dots",
    );
    let none =
        Priors::from_settings(&absolute()).unwrap().with_file(Path::new("no-such-file.toml"));
    starts(&none.unwrap_err().to_string(), "no-such-file.toml: file not found");
}

/// Finding the line of each of so many entries from the start of the file took a minute.
#[test]
fn the_last_of_many_entries_has_its_line() {
    let tables: String = (0..40_000).map(|k| format!("[x{k}]\nscale = 1\n")).collect();
    let settings = absolute();
    let read = |text: &str| Priors::from_settings(&settings)?.with_toml("p.toml", text);
    assert!(read(&tables).is_ok());
    let error = read(&format!("{tables}[last]\nscale = 1e309\n")).unwrap_err().to_string();
    starts(&error, "p.toml, line 80002: found `scale = 1e309`, need a number between");
}

proptest! {
    #[test]
    fn no_text_panics(text in "[\\[\\]a-c.=0-9\"\\n -]{0,60}") {
        let _ = Priors::from_settings(&absolute()).unwrap().with_toml("t", &text);
    }
}
