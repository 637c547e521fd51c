//! `ridgewalk coefficients`, run as by users: the keys that scripts rely on, numbers that
//! round-trip, exit codes.

use std::process::Output;

use crate::common::{examples_run, json, refused, ridgewalk};
use ridgewalk::coefficients::{Coefficients, Parameters};

fn coefficients(arguments: &[&str]) -> Output {
    ridgewalk(&[&["coefficients"], arguments].concat())
}

#[test]
fn json_has_every_promised_key_and_numbers_that_read_back_exactly() {
    let (document, code) = json(&[
        "coefficients",
        "--gamma",
        "2.09",
        "--xi",
        "4",
        "--eta",
        "0.003",
        "--smoothness",
        "3",
    ]);
    assert_eq!(code, Some(0));
    let c = Coefficients::new(Parameters::new(2.09, 4.0, 0.003).unwrap(), 3.0).unwrap();
    let [l11, l21, l22, l31, l32, l33] = c.cholesky();
    for (key, value) in [
        ("mu12", c.mu12()),
        ("mu13", c.mu13()),
        ("mu22", c.mu22()),
        ("mu23", c.mu23()),
        ("mu31", c.mu31()),
        ("mu32", c.mu32()),
        ("mu33", c.mu33()),
        ("sigma11", c.sigma11()),
        ("sigma12", c.sigma12()),
        ("sigma13", c.sigma13()),
        ("sigma22", c.sigma22()),
        ("sigma23", c.sigma23()),
        ("sigma33", c.sigma33()),
        ("chol11", l11),
        ("chol21", l21),
        ("chol22", l22),
        ("chol31", l31),
        ("chol32", l32),
        ("chol33", l33),
    ] {
        assert_eq!(document[key].as_f64(), Some(value), "{key}");
    }
}

#[test]
fn the_table_shows_the_numbers_to_sixteen_digits() {
    let output = coefficients(&["--gamma", "2", "--xi", "4", "--eta", "0.1"]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let c = Coefficients::new(Parameters::new(2.0, 4.0, 0.1).unwrap(), 1.0).unwrap();
    for value in [c.mu12(), c.mu32(), c.sigma11(), c.sigma23(), c.cholesky()[3], c.cholesky()[5]] {
        assert!(text.contains(&format!("{value:.15e}")), "{value} in\n{text}");
    }
}

#[test]
fn bad_values_end_with_exit_code_2_name_the_value_and_print_nothing_else() {
    for (arguments, message) in [
        (
            ["--gamma", "0", "--xi", "4", "--eta", "0.1"],
            "gamma = 0: need a positive, finite number",
        ),
        (["--gamma", "2", "--xi", "-4", "--eta", "0.1"], "xi = -4: need a positive, finite number"),
        (
            ["--gamma", "2", "--xi", "4", "--eta", "nan"],
            "eta = NaN: need a positive, finite number",
        ),
        (
            ["--gamma", "2", "--xi", "inf", "--eta", "0.1"],
            "xi = inf: need a positive, finite number",
        ),
        (
            ["--gamma", "2", "--xi", "1e300", "--eta", "1e300"],
            "xi * eta = inf is outside the range",
        ),
        (["--gamma", "2", "--xi", "4", "--eta", "1e-80"], "sigma11 = 0e0 is outside the range"),
        (["--gamma", "two", "--xi", "4", "--eta", "0.1"], "invalid value 'two' for '--gamma <G>'"),
    ] {
        refused(&[&["coefficients"], &arguments[..]].concat(), message);
    }
}

#[test]
fn missing_options_and_unknown_commands_are_usage_errors() {
    for arguments in [&["coefficients", "--gamma", "1"][..], &["coeficients"], &[]] {
        assert_eq!(ridgewalk(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn help_has_an_example_that_runs() {
    examples_run("coefficients");
}
