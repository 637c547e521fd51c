//! `ridgewalk lab` as its users run it: tables, JSON keys that scripts rely on, files, exit codes.

use std::path::PathBuf;
use std::process::{Command, Output};

use ridgewalk::lyapunov::laws::{Evolution, Kernel, Scheme, Start, Target, tune};
use serde_json::Value;

fn lab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ridgewalk")).arg("lab").args(arguments).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = lab(&[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A file of this test run alone.
fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(format!("{}-{name}", std::process::id()))
}

#[test]
fn iact_gives_the_table_of_the_mathematics_within_two_per_cent() {
    let document = json(&["iact", "--kappa", "1,5,20,100", "--kernels", "third-order,ubu,klmc,symmetric"]);
    assert_eq!(document["bias_tolerance"].as_f64(), Some(0.01));
    let expected = [
        (1.0, [4.16, 8.14, 99.8, 1.00]),
        (5.0, [9.09, 18.2, 503.0, 2.17]),
        (20.0, [18.3, 36.5, 2015.0, 4.29]),
        (100.0, [41.3, 81.6, 10080.0, 9.78]),
    ];
    let results = document["results"].as_array().unwrap();
    assert_eq!(results.len(), 16);
    for (row, (kappa, costs)) in results.chunks(4).zip(expected) {
        for (result, cost) in row.iter().zip(costs) {
            assert_eq!(result["kappa"].as_f64(), Some(kappa));
            let ours = result["gradients_per_draw"].as_f64().unwrap();
            assert!((ours / cost - 1.0).abs() < 0.02, "{} at {kappa}: {ours} for {cost}", result["kernel"]);
            assert!(result["bias"].as_f64().unwrap() <= 0.01 * 1.001);
        }
    }
    let tuned = tune(Kernel::ThirdOrder, 5.0, 0.01).unwrap();
    let third = &results[4];
    assert_eq!(third["gamma"].as_f64(), tuned.scheme.gamma());
    assert_eq!(third["xi"].as_f64(), tuned.scheme.xi());
    assert_eq!(third["eta"].as_f64(), Some(tuned.scheme.eta()));
    assert_eq!(third["worst_eigenvalue"].as_f64(), Some(0.2));
}

#[test]
fn iact_writes_a_table_a_csv_and_an_svg_each_where_it_belongs() {
    let (csv, svg) = (scratch("iact.csv"), scratch("iact.svg"));
    let output = lab(&[
        "iact",
        "--kappa",
        "2,8",
        "--kernels",
        "ula,baoab",
        "--bias",
        "0.02",
        "--csv",
        csv.to_str().unwrap(),
        "--svg",
        svg.to_str().unwrap(),
    ]);
    assert!(output.status.success());
    assert!(output.stderr.is_empty());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("baoab") && !text.contains("gradients_per_draw"), "{text}");
    let table = std::fs::read_to_string(&csv).unwrap();
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 5);
    assert_eq!(lines[0][..3], ["kappa", "kernel", "gradients_per_draw"]);
    assert!(lines.iter().all(|line| line.len() == 8));
    assert_eq!((lines[1][1], lines[1][3], lines[1][4]), ("ula", "", ""), "ula has neither gamma nor xi");
    let cost: f64 = lines[3][2].parse().unwrap();
    assert_eq!(cost, tune(Kernel::Ula, 8.0, 0.02).unwrap().cost);
    let drawing = std::fs::read_to_string(&svg).unwrap();
    assert!(drawing.starts_with("<svg") && drawing.contains("condition number") && drawing.contains("baoab"));
    std::fs::remove_file(csv).unwrap();
    std::fs::remove_file(svg).unwrap();
}

#[test]
fn bias_shows_orders_zeros_and_unstable_steps() {
    let document = json(&["bias", "--kappa", "5", "--eta-from", "0.01", "--eta-to", "2.5", "--points", "9"]);
    let results = document["results"].as_array().unwrap();
    assert_eq!(results.len(), 72);
    let of = |kernel: &str| -> Vec<&Value> { results.iter().filter(|row| row["kernel"] == kernel).collect() };
    assert_eq!(of("ula")[0]["eta"].as_f64(), Some(0.01));
    assert_eq!(of("ula")[8]["eta"].as_f64(), Some(2.5));
    assert!(of("ula")[8]["bias"].is_null(), "beyond 2 the Euler step is unstable");
    // 1/(1 − η/2) − 1 at the largest eigenvalue.
    assert!((of("ula")[0]["bias"].as_f64().unwrap() - (1.0 / 0.995 - 1.0)).abs() < 1e-12);
    assert!(of("symmetric")[..7].iter().all(|row| row["bias"].as_f64() == Some(0.0)));
    let order = |kernel: &str| {
        let orders = document["orders"].as_array().unwrap();
        orders.iter().find(|row| row["kernel"] == kernel).unwrap()["order"].as_f64()
    };
    for (kernel, expected) in [
        ("ula", 1.0),
        ("klmc", 1.0),
        ("ubu", 2.0),
        ("averaged", 2.0),
        ("third-order", 3.0),
        ("randomized-midpoint", 3.0),
    ] {
        assert!((order(kernel).unwrap() - expected).abs() < 0.1, "{kernel}: {:?}", order(kernel));
    }
    // (1 − l) η²/4 at the smallest eigenvalue, and stable at every step.
    assert!((of("averaged")[8]["bias"].as_f64().unwrap() - 0.8 * 2.5 * 2.5 / 4.0).abs() < 1e-11);
    assert_eq!(order("baoab"), None);
    let text = String::from_utf8(lab(&["bias", "--kappa", "5", "--eta-to", "2.5"]).stdout).unwrap();
    assert!(text.contains("unstable") && text.contains("order"));
}

#[test]
fn mixing_counts_the_steps_that_its_parameters_take() {
    let document = json(&[
        "mixing",
        "--kappa",
        "4",
        "--dimension",
        "64",
        "--accuracy",
        "0.4",
        "--doublings",
        "3",
        "--kernels",
        "third-order,klmc,ula",
    ]);
    let results = document["results"].as_array().unwrap();
    assert_eq!(results.len(), 3 * 7);
    for row in results {
        let value = |key: &str| row[key].as_f64();
        let kernel = Kernel::from_name(row["kernel"].as_str().unwrap()).unwrap();
        let (gamma, xi) = (value("gamma").unwrap_or(1.0), value("xi").unwrap_or(1.0));
        let scheme = Scheme::new(kernel, gamma, xi, value("eta").unwrap()).unwrap();
        let target = Target::log_spaced(4.0, row["dimension"].as_u64().unwrap()).unwrap();
        let evolution = Evolution::new(&scheme, &target, &Start::AtMode).unwrap();
        let steps = row["steps"].as_u64().unwrap();
        let accuracy = value("accuracy").unwrap();
        assert!(evolution.after(steps).w2_to_target() <= accuracy);
        assert!((0..steps).all(|k| evolution.after(k).w2_to_target() > accuracy));
        assert_eq!(row["gradients"].as_u64(), Some(steps));
    }
    let exponents = document["exponents"].as_array().unwrap();
    let fitted: Vec<f64> = exponents.iter().map(|e| e["accuracy_fitted"].as_f64().unwrap()).collect();
    assert!(fitted[0] < fitted[1] && fitted[1] < fitted[2] + 0.2, "{fitted:?}");
    assert_eq!(exponents[0]["dimension_proved"].as_f64(), Some(0.25));
    assert_eq!(exponents[0]["accuracy_proved"].as_f64(), Some(0.5));
    assert_eq!(exponents[2]["accuracy_proved"].as_f64(), Some(2.0));
}

#[test]
fn mixing_draws_two_panels_and_prints_both_tables() {
    let svg = scratch("mixing.svg");
    let output = lab(&[
        "mixing",
        "--kappa",
        "4",
        "--dimension",
        "20",
        "--accuracy",
        "0.5",
        "--doublings",
        "1",
        "--kernels",
        "ula,baoab",
        "--svg",
        svg.to_str().unwrap(),
    ]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("dimension")
            && text.contains("accuracy")
            && text.contains("fitted")
            && text.contains("proved")
    );
    let drawing = std::fs::read_to_string(&svg).unwrap();
    assert!(drawing.contains("accuracy in W2") && drawing.contains("20 dimensions"));
    std::fs::remove_file(svg).unwrap();
}

#[test]
fn bad_values_end_with_exit_code_2_name_the_value_and_print_nothing_else() {
    let mixing = |kappa, dimension, accuracy| {
        vec!["mixing", "--kappa", kappa, "--dimension", dimension, "--accuracy", accuracy]
    };
    for (arguments, message) in [
        (vec!["iact", "--kappa", "0.5"], "kappa = 0.5: need a finite number of at least 1"),
        (vec!["iact", "--kappa", "5,nan"], "kappa = NaN: need"),
        (vec!["iact", "--kappa", "inf"], "kappa = inf: need"),
        (vec!["iact", "--kappa", "5", "--bias", "-0.1"], "bias = -0.1: need a number between"),
        (vec!["iact", "--kappa", "5", "--bias", "nan"], "bias = NaN: need"),
        (
            vec!["iact", "--kappa", "5", "--kernels", "ula,hmc"],
            "kernel `hmc`: need one of third-order, symmetric, averaged",
        ),
        (vec!["iact", "--kappa", "five"], "invalid value 'five'"),
        (vec!["iact"], "--kappa"),
        (vec!["bias", "--kappa", "-3"], "kappa = -3: need"),
        (vec!["bias", "--kappa", "3", "--xi", "0"], "xi = 0: need a positive, finite number"),
        (vec!["bias", "--kappa", "3", "--gamma", "nan"], "gamma = NaN: need"),
        (vec!["bias", "--kappa", "3", "--eta-from", "0"], "eta-from = 0: need"),
        (vec!["bias", "--kappa", "3", "--eta-from", "2"], "eta-from = 2: need a number below eta-to = 1"),
        (vec!["bias", "--kappa", "3", "--points", "1"], "invalid value '1'"),
        (mixing("3", "0", "0.1"), "dimension = 0: need at least 1"),
        (mixing("3", "10", "0"), "accuracy = 0: need a positive, finite number"),
        (mixing("3", "10", "nan"), "accuracy = NaN: need"),
        (mixing("0", "10", "0.1"), "kappa = 0: need"),
        (
            mixing("3", "18446744073709551615", "0.1"),
            "dimension = 18446744073709551615: need one that can be doubled",
        ),
        (vec![], "Usage"),
    ] {
        let output = lab(&arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(output.stdout.is_empty());
        assert!(text.contains(message), "{arguments:?} said {text}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_named_and_ends_with_exit_code_1() {
    for option in ["--csv", "--svg"] {
        let output = lab(&["bias", "--kappa", "2", option, "no/such/folder/file"]);
        assert_eq!(output.status.code(), Some(1));
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains("no/such/folder/file"), "{text}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn help_has_examples_that_run() {
    for command in [&["--help"][..], &["iact", "--help"], &["bias", "--help"], &["mixing", "--help"]] {
        let help = String::from_utf8(lab(command).stdout).unwrap();
        let example = help.lines().find_map(|line| line.trim().strip_prefix("ridgewalk lab ")).unwrap();
        let words: Vec<&str> = example.split(' ').collect();
        assert!(lab(&words).status.success(), "{example}");
    }
}
