//! Priors from scales and from TOML files, and the error message for every kind of bad entry.

use std::path::Path;

use proptest::prelude::*;
use ridgewalk_fit::{PriorError, Priors};

#[track_caller]
fn starts(message: &str, start: &str) {
    assert!(message.starts_with(start), "\n got: {message}\nneed: {start}");
}

fn priors(toml: &str) -> Result<(Vec<f64>, Vec<f64>), PriorError> {
    let names = ["(Intercept)", "age", "city[Oslo]"].map(str::to_owned);
    let found = Priors::new(2.5, 10.0)?.with_toml("p.toml", toml)?.for_names(&names)?;
    Ok((found.means, found.scales))
}

#[test]
fn priors_from_scales_and_from_a_file() {
    assert_eq!(priors("").unwrap(), (vec![0.0; 3], vec![10.0, 2.5, 2.5]));
    let toml = "[age]\nmean = -1\nscale = 3\n\n[\"(Intercept)\"]\nscale = inf\n[\"city[Oslo]\"]\nmean=0.5\nscale=1e-1\n";
    assert_eq!(priors(toml).unwrap(), (vec![0.0, -1.0, 0.5], vec![f64::INFINITY, 3.0, 0.1]));
    for (scale, intercept, option) in [
        (0.0, 1.0, "--prior-scale"),
        (f64::NAN, 1.0, "--prior-scale"),
        (1.0, -2.0, "--intercept-prior-scale"),
    ] {
        starts(
            &Priors::new(scale, intercept).unwrap_err().to_string(),
            &format!("{option}: found "),
        );
    }
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
        message("[zzzzzzz]\nscale = 1").ends_with("available: `(Intercept)`, `age`, `city[Oslo]`")
    );
    starts(
        &message("[age]\nsd = 1\n"),
        "p.toml, line 2: found `sd`, need `mean` or `scale` for `age`",
    );
    starts(&message("[age]\nmean = 1\n"), "p.toml, line 1: found `[age]`, need `scale = ...`");
    starts(
        &message("[age]\n\nscale = -1\n"),
        "p.toml, line 3: found `scale = -1`, need a number between",
    );
    starts(&message("[age]\nscale = 0\n"), "p.toml, line 2: found `scale = 0`");
    starts(&message("[age]\nscale = nan\n"), "p.toml, line 2: found `scale = nan`");
    starts(&message("[age]\nscale = \"2\"\n"), "p.toml, line 2: found `scale = \"2\"`");
    starts(
        &message("[age]\nscale = 1\nmean = inf\n"),
        "p.toml, line 3: found `mean = inf`, need a finite",
    );
    starts(
        &message("[age]\nscale = inf\nmean = 3\n"),
        "p.toml, line 1: found `mean = 3`, need a finite scale",
    );
    starts(&message("age = 3\n"), "p.toml, line 1: found `age`, need a table: `[age]`");
    starts(&message("[age]\nscale = 1\nscale = 2\n"), "p.toml, line 3: ");
    starts(&message("[age\nscale = 1\n"), "p.toml, line 1: ");
    // A dot in an unquoted name nests.
    starts(
        &message("[a.b]\nscale = 1\n"),
        "p.toml, line 1: found `b`, need `mean` or `scale` for `a`; put names with dots",
    );
    let none = Priors::new(1.0, 1.0).unwrap().with_file(Path::new("no-such-file.toml"));
    starts(&none.unwrap_err().to_string(), "no-such-file.toml: file not found");
}

proptest! {
    #[test]
    fn no_text_panics(text in "[\\[\\]a-c.=0-9\"\\n -]{0,60}") {
        let _ = Priors::new(1.0, 1.0).unwrap().with_toml("t", &text);
    }
}
