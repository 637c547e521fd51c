//! `ridgewalk lab`, run as by users: tables, JSON keys that scripts rely on, files, exit codes.

use std::path::PathBuf;
use std::process::{Command, Output};

use ridgewalk::lyapunov::laws::{Evolution, KernelKind, Scheme, Spectrum, Start, tune};
use serde_json::Value;

fn lab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ridgewalk")).arg("lab").args(arguments).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = lab(&[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A file that only this test run uses.
fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(format!("{}-{name}", std::process::id()))
}

#[test]
fn iact_gives_the_table_of_the_mathematics_within_two_per_cent() {
    let document =
        json(&["iact", "--kappa", "1,5,20,100", "--kernels", "third-order,ubu,klmc,symmetric"]);
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
            assert!(
                (ours / cost - 1.0).abs() < 0.02,
                "{} at {kappa}: {ours} for {cost}",
                result["kernel"]
            );
            assert!(result["bias"].as_f64().unwrap() <= 0.01 * 1.001);
        }
    }
    let tuned = tune(KernelKind::ThirdOrder, 5.0, 0.01).unwrap();
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
    assert_eq!(
        (lines[1][1], lines[1][3], lines[1][4]),
        ("ula", "", ""),
        "ula has neither gamma nor xi"
    );
    let cost: f64 = lines[3][2].parse().unwrap();
    assert_eq!(cost, tune(KernelKind::Ula, 8.0, 0.02).unwrap().cost);
    let drawing = std::fs::read_to_string(&svg).unwrap();
    assert!(
        drawing.starts_with("<svg")
            && drawing.contains("condition number")
            && drawing.contains("baoab")
    );
    std::fs::remove_file(csv).unwrap();
    std::fs::remove_file(svg).unwrap();
}

#[test]
fn bias_shows_orders_zeros_and_unstable_steps() {
    let document =
        json(&["bias", "--kappa", "5", "--eta-from", "0.01", "--eta-to", "2.5", "--points", "9"]);
    let results = document["results"].as_array().unwrap();
    assert_eq!(results.len(), 9 * KernelKind::ALL.len());
    let of = |kernel: &str| -> Vec<&Value> {
        results.iter().filter(|row| row["kernel"] == kernel).collect()
    };
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
        let kernel = KernelKind::from_name(row["kernel"].as_str().unwrap()).unwrap();
        let (gamma, xi) = (value("gamma").unwrap_or(1.0), value("xi").unwrap_or(1.0));
        let scheme = Scheme::new(kernel, gamma, xi, value("eta").unwrap()).unwrap();
        let target = Spectrum::log_spaced(4.0, row["dimension"].as_u64().unwrap()).unwrap();
        let evolution = Evolution::new(&scheme, &target, &Start::AtMode).unwrap();
        let steps = row["steps"].as_u64().unwrap();
        let accuracy = value("accuracy").unwrap();
        assert!(evolution.after(steps).w2_to_target() <= accuracy);
        assert!((0..steps).all(|k| evolution.after(k).w2_to_target() > accuracy));
        assert_eq!(row["gradients"].as_u64(), Some(steps));
    }
    let exponents = document["exponents"].as_array().unwrap();
    let fitted: Vec<f64> =
        exponents.iter().map(|e| e["accuracy_fitted"].as_f64().unwrap()).collect();
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
fn mixing_can_vary_the_condition_number() {
    let words = "mixing --kappa 4 --dimension 64 --accuracy 0.4 --doublings 1 --kappa-doublings 2 --kernels ula,third-order";
    let document = json(&words.split(' ').collect::<Vec<_>>());
    let results = document["results"].as_array().unwrap();
    assert_eq!(results.len(), 2 * 5);
    let kappas: Vec<f64> = results[..5].iter().map(|row| row["kappa"].as_f64().unwrap()).collect();
    assert_eq!(kappas, [4.0, 4.0, 4.0, 8.0, 16.0]);
    let fitted = |i: usize| document["exponents"][i]["kappa_fitted"].as_f64().unwrap();
    assert!((fitted(0) - 1.0).abs() < 0.2 && fitted(1) < 0.8, "{} and {}", fitted(0), fitted(1));
    // Euler's step has a variance of 1/(l (1 - eta l/2)): a bias of first order in eta, which
    // dominates.
    assert!(
        (document["exponents"][0]["accuracy_of_inverse_eta"].as_f64().unwrap() - 1.0).abs() < 0.1
    );
}

#[test]
fn mixing_has_trajectories_their_limit_and_the_lower_bound() {
    let words =
        "mixing --kappa 4 --dimension 64 --accuracy 0.4 --doublings 3 --kernels hmc,quicsort";
    let document = json(&words.split(' ').collect::<Vec<_>>());
    let of = |kernel: &str| {
        let rows = document["results"].as_array().unwrap().iter();
        rows.filter(|row| row["kernel"] == kernel).collect::<Vec<_>>()
    };
    assert_eq!([of("hmc").len(), of("ideal-hmc").len(), of("quicsort").len()], [7; 3]);
    for (leapfrog, ideal) in of("hmc").into_iter().zip(of("ideal-hmc")) {
        // ξ is one over the duration: as many gradients per trajectory as it has steps.
        let [steps, gradients] = ["steps", "gradients"].map(|key| leapfrog[key].as_u64().unwrap());
        let [xi, eta] = ["xi", "eta"].map(|key| leapfrog[key].as_f64().unwrap());
        let each = (gradients / steps) as f64;
        assert!((each * xi * eta - 1.0).abs() < 1e-9 && gradients % steps == 0, "{leapfrog}");
        assert!(ideal["gradients"].is_null() && ideal["eta"].is_null(), "{ideal}");
        assert!(ideal["steps"].as_u64().unwrap() <= gradients, "{ideal} {leapfrog}");
    }
    for exponents in document["exponents"].as_array().unwrap() {
        let bound = |key: &str| exponents[key].as_f64().map(|x| (x * 300.0).round() / 100.0);
        let kinetic = exponents["kernel"] == "quicsort";
        assert_eq!(bound("dimension_lower_bound"), kinetic.then_some(1.0), "{exponents}");
        assert_eq!(bound("accuracy_lower_bound"), kinetic.then_some(2.0), "{exponents}");
        assert!(exponents["accuracy_error"].as_f64().unwrap() < 0.3, "{exponents}");
    }
}

/// Potentials that oscillate on the scale of the step. Standard errors of the orders are about 0.02
/// here, so a right order is missed by 0.1 about once in a million. KLMC shows that a kernel of
/// another order is seen.
#[test]
fn orders_of_paths_fall_with_the_smoothness_except_that_of_algorithm_1() {
    let words = "orders --kernels third-order,klmc,quicsort --eta 0.125 --halvings 2 --seed 5";
    let document = json(&words.split(' ').collect::<Vec<_>>());
    let orders = document["orders"].as_array().unwrap();
    let of = |kernel: &str| {
        let own = orders.iter().filter(|order| order["kernel"] == kernel);
        own.map(|order| order["measured"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    let near = |kernel: &str, expected: [f64; 4]| {
        of(kernel).iter().zip(expected).all(|(order, expected)| (order - expected).abs() < 0.1)
    };
    assert!(near("third-order", [2.0; 4]), "{orders:?}");
    assert!(near("quicsort", [1.5, 2.5, 3.0, 3.0]), "{orders:?}");
    assert!(near("klmc", [1.0; 4]) && !near("klmc", [1.5, 2.5, 3.0, 3.0]), "{orders:?}");
    assert!(orders.iter().all(|order| order["error"].as_f64().unwrap() < 0.03), "{orders:?}");
}

#[test]
fn the_certified_bound_is_above_the_truth_and_its_rate_no_better() {
    let document = json(&["bound", "--kappa", "2,10", "--points", "12"]);
    let results = document["results"].as_array().unwrap();
    assert!(results.len() > 20);
    for row in results {
        let of = |key: &str| row[key].as_f64().unwrap();
        assert!(of("narrow") <= of("bound") && of("spread") <= of("bound"), "{row}");
        let target = Spectrum::log_spaced(of("kappa"), 100).unwrap();
        assert!(
            of("spread")
                < target
                    .modes()
                    .iter()
                    .map(|m| m.multiplicity as f64 / m.eigenvalue)
                    .sum::<f64>()
                    .sqrt()
        );
    }
    for plan in document["plans"].as_array().unwrap() {
        let of = |key: &str| plan[key].as_f64().unwrap();
        assert!(of("certified_gap") <= of("true_gap") * (1.0 + 1e-9), "{plan}");
        assert!(
            of("narrow_steps") <= of("certified_steps") && of("spread_steps") <= of("narrow_steps"),
            "{plan}"
        );
        assert!(
            of("tuned_steps") <= of("spread_steps") && of("true_floor") <= of("certified_floor"),
            "{plan}"
        );
    }
}

#[test]
fn coupled_chains_on_regressions_show_the_orders_of_their_kernels_and_the_seed_decides() {
    let words =
        "coupling --dimensions 6,24 --halvings 2 --kernels third-order,klmc,hmc,quicsort --seed 3";
    let words: Vec<&str> = words.split(' ').collect();
    let document = json(&words);
    assert_eq!(document, json(&words));
    assert_ne!(document, json(&[&words[..words.len() - 1], &["4"]].concat()));
    let results = document["results"].as_array().unwrap();
    assert_eq!(results.len(), 2 * 3 * 4);
    // Strong orders, and a distance that grows like the root of the dimension; about 30 pairs give
    // this precision.
    let exponents = document["exponents"].as_array().unwrap();
    for (exponents, order) in exponents.iter().zip([2.0, 1.0, 2.0, 3.0]) {
        let of = |key: &str| exponents[key].as_f64().unwrap();
        assert!((of("order") - order).abs() < 0.25, "{exponents}");
        assert!((of("distance_in_dimension") - 0.5).abs() < 0.25, "{exponents}");
        assert!((of("accuracy_measured") - 1.0 / of("order")).abs() < 1e-12);
    }
    for rows in results.chunks(3) {
        let of = |i: usize, key: &str| rows[i][key].as_f64().unwrap();
        // Half of the accuracy is for the bias of all halvings, half for the start.
        assert!(of(0, "gradients") >= of(0, "time") / 0.4 * (1.0 - 1e-12), "{:?}", rows[0]);
        assert!((0..3).all(|i| of(i, "error") < 0.3 * of(i, "distance")));
    }
}

#[test]
fn more_nodes_are_nearer_to_the_exact_integral_as_the_rules_have_it() {
    let document = json(&["nodes", "--nodes", "3", "--eta", "0.8", "--halvings", "2"]);
    let results = document["results"].as_array().unwrap();
    let distance = |nodes: Option<u64>, eta: f64| {
        let found = results
            .iter()
            .find(|row| row["nodes"].as_u64() == nodes && row["eta"].as_f64() == Some(eta));
        found.unwrap()["distance"].as_f64().unwrap()
    };
    // The midpoint rule is off by f'' h^3/24, two Chebyshev nodes by -f'' h^3/48: half of it, to
    // leading order.
    assert!((distance(Some(1), 0.2) / distance(Some(2), 0.2) - 2.0).abs() < 0.02);
    let order = |nodes| (distance(nodes, 0.4) / distance(nodes, 0.2)).log2();
    for (nodes, expected) in [(Some(1), 2.0), (Some(2), 2.0), (Some(3), 4.0), (None, 2.0)] {
        assert!((order(nodes) - expected).abs() < 0.4, "{nodes:?}: {}", order(nodes));
    }
    let costs = document["costs"].as_array().unwrap();
    assert!(costs.iter().any(|cost| cost["nodes"] == 1 && cost["accuracy"] == 0.3));
}

/// The bound holds, the growth is that of the paper, and plain gradient descent has neither.
#[test]
fn accelerated_starts_grow_with_the_root_of_the_condition_number_and_plain_descent_does_not() {
    let document = json(&["start", "--kappa", "10,100,1e3,1e4", "--dimension", "20"]);
    let results = document["results"].as_array().unwrap();
    assert_eq!(results.len(), 8);
    for row in results {
        let of = |key: &str| row[key].as_f64().unwrap();
        assert!(of("gradients") <= of("bound"), "{row}");
        assert!(of("distance") <= 1.0, "{row}");
        assert!((0.1..1.0).contains(&of("ratio")), "{row}");
        let growth = of("kappa").sqrt() * (20.0 * of("kappa")).ln();
        assert!((of("growth") / growth - 1.0).abs() < 1e-12);
        // The planted method: without momentum neither the bound nor the growth holds.
        if of("kappa") > 5e3 {
            assert!(of("plain") > of("bound") && of("plain") > 3.0 * of("growth"), "{row}");
        }
    }
    for fitted in document["exponents"].as_array().unwrap() {
        let of = |key: &str| fitted[key].as_f64().unwrap();
        assert!((of("without_logarithm") - 0.5).abs() < 0.15, "{fitted}");
        assert!(of("plain") > 0.8, "{fitted}");
    }
    let fewer = json(&["start", "--kappa", "10,100", "--dimension", "5", "--plain", "10"]);
    let plain: Vec<bool> =
        fewer["results"].as_array().unwrap().iter().map(|row| row["plain"].is_null()).collect();
    assert_eq!(plain, [false, true, false, true]);
}

/// Deterministic: the seed is fixed. Exponents are compared with five standard errors.
#[test]
fn errors_of_nodes_grow_with_the_root_of_the_dimension_and_fall_with_their_order() {
    let document = json(&[
        "nodes",
        "--nodes",
        "3",
        "--eta",
        "0.2",
        "--halvings",
        "1",
        "--dimensions",
        "10,160",
    ]);
    let fits = document["exponents"].as_array().unwrap();
    assert_eq!((fits.len(), document["results"].as_array().unwrap().len()), (6, 24));
    let check = |fit: &Value, key: &str, expected: f64, slack: f64| {
        let [found, error] = ["exponent", "error"].map(|part| fit[key][part].as_f64().unwrap());
        assert!((found - expected).abs() < slack + 5.0 * error, "{key} {expected}: {fit}");
        assert!(error < 0.1, "{fit}");
    };
    for fit in fits {
        check(fit, "one_step_in_dimension", 0.5, 0.0);
        check(fit, "distance_in_dimension", 0.5, 0.0);
        // Steps across a kink are a share η of all, and their errors are of order η². Smooth
        // losses have the order of the rule.
        let order = fit["alpha"].as_f64().unwrap();
        let (one_step, distance) = if order == 2.0 { (2.5, 2.0) } else { (order, order - 1.0) };
        check(fit, "one_step_in_eta", one_step, 0.15);
        check(fit, "distance_in_eta", distance, 0.15);
        // No order is better than that of the bound.
        assert!(fit["bound_in_eta"].as_f64().unwrap() == order - 1.0 && order - 1.0 <= distance);
    }
}

#[test]
fn plans_from_gradients_grow_faster_with_the_dimension_where_quadrature_dominates() {
    let at = |dimension| {
        let document = json(&[
            "plan",
            "--kappa",
            "4",
            "--alpha",
            "3,5",
            "--dimension",
            dimension,
            "--doublings",
            "1",
        ]);
        let results = document["results"].as_array().unwrap().clone();
        // For each α: d, 2d, and half the accuracy.
        [0, 3].map(|first| {
            let [one, two] = [first, first + 1].map(|i| results[i]["eta"].as_f64().unwrap());
            assert_eq!(results[first]["alpha"], if first == 0 { 3 } else { 5 });
            (one / two).log2()
        })
    };
    let [small, large] = [at("10"), at("10000000")];
    assert!(small.iter().all(|power| (power - 0.25).abs() < 0.04), "{small:?}");
    assert!((large[0] - 0.5).abs() < 0.04 && large[1] > 0.35, "{large:?}");
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
            vec!["iact", "--kappa", "5", "--kernels", "ula,nuts"],
            "kernel `nuts`: need one of third-order, symmetric, averaged",
        ),
        (vec!["iact", "--kappa", "five"], "invalid value 'five'"),
        (vec!["iact"], "--kappa"),
        (vec!["bias", "--kappa", "-3"], "kappa = -3: need"),
        (vec!["bias", "--kappa", "3", "--xi", "0"], "xi = 0: need a positive, finite number"),
        (vec!["bias", "--kappa", "3", "--gamma", "nan"], "gamma = NaN: need"),
        (vec!["bias", "--kappa", "3", "--eta-from", "0"], "eta-from = 0: need"),
        (
            vec!["bias", "--kappa", "3", "--eta-from", "2"],
            "eta-from = 2: need a number below eta-to = 1",
        ),
        (vec!["bias", "--kappa", "3", "--points", "1"], "invalid value '1'"),
        (mixing("3", "0", "0.1"), "dimension = 0: need at least 1"),
        (mixing("3", "10", "0"), "accuracy = 0: need a positive, finite number"),
        (mixing("3", "10", "nan"), "accuracy = NaN: need"),
        (mixing("0", "10", "0.1"), "kappa = 0: need"),
        (
            mixing("3", "18446744073709551615", "0.1"),
            "dimension = 18446744073709551615: need one that can be doubled",
        ),
        (vec!["bound", "--kappa", "0.5"], "kappa = 0.5: need a finite number of at least 1"),
        (vec!["bound", "--accuracy", "nan"], "accuracy = NaN: need"),
        (vec!["bound", "--dimension", "0"], "dimension = 0: need at least 1"),
        (vec!["coupling", "--dimensions", "10,0"], "dimension 0: need a number between 1 and 2000"),
        (vec!["coupling", "--eta", "-1"], "eta = -1: need"),
        (vec!["orders", "--eta", "0.3"], "eta = 0.3: need a step that divides 2"),
        (vec!["nodes", "--accuracy", "0"], "accuracy = 0: need"),
        (vec!["nodes", "--gamma", "0"], "gamma"),
        (vec!["nodes", "--nodes", "17"], "invalid value '17'"),
        (vec!["start", "--kappa", "1"], "kappa = 1: need a number above 1"),
        (vec!["start", "--kappa", "nan"], "kappa = NaN: need"),
        (vec!["start", "--dimension", "0"], "dimension = 0: need a number between 1 and 1000"),
        (vec!["start", "--plain", "nan"], "plain = NaN: need"),
        (vec!["nodes", "--dimensions", "10,0"], "dimension 0: need a number between 1 and 16000"),
        (vec!["plan", "--alpha", "1"], "alpha = 1: need 2 to 32"),
        (vec!["plan", "--alpha", "3", "--l-alpha", "-1"], "L_alpha = -1: need"),
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
    for command in
        ["iact", "bias", "mixing", "plan", "bound", "coupling", "orders", "nodes", "start"]
    {
        let help = String::from_utf8(lab(&[command, "--help"]).stdout).unwrap();
        let example =
            help.lines().find_map(|line| line.trim().strip_prefix("ridgewalk lab ")).unwrap();
        let words: Vec<&str> = example.split(' ').collect();
        assert!(lab(&words).status.success(), "{example}");
    }
}
