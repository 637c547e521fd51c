//! `ridgewalk certify` and `ridgewalk plan`, run as by users.

use crate::common::{examples_run, json, refused, ridgewalk};
use ridgewalk::lyapunov::certificate::{Certificate, Process, Setting};
use serde_json::Value;

fn numbers(document: &Value, keys: &[&str]) -> Vec<f64> {
    keys.iter()
        .map(|key| document[key].as_f64().unwrap_or_else(|| panic!("{key} in {document}")))
        .collect()
}

fn matrix(document: &Value) -> [[f64; 3]; 3] {
    std::array::from_fn(|i| std::array::from_fn(|j| document["S"][i][j].as_f64().unwrap()))
}

#[test]
fn a_certificate_of_the_diffusion_can_be_checked_again_from_its_json() {
    let (document, code) = json(&["certify", "--kappa", "10"]);
    assert_eq!(code, Some(0));
    assert_eq!(document["status"], "certified");
    let [gamma, xi, rate, margin] = numbers(&document, &["gamma", "xi", "rate", "margin"])[..]
    else {
        panic!()
    };
    assert!(rate >= 0.1285 && margin > 0.0);
    assert!(
        document["eta"].is_null()
            && document["witness"].is_null()
            && document.get("factor").is_none()
    );
    let setting = Setting::new(10.0, gamma, xi, Process::Diffusion).unwrap();
    assert!(Certificate::check(setting, matrix(&document), 0.0, rate).is_ok());
    assert!(Certificate::check(setting, matrix(&document), 0.0, 1.01 * rate).is_err());
}

#[test]
fn a_certificate_of_the_algorithm_has_a_factor_and_tau() {
    let (document, code) = json(&[
        "certify", "--kappa", "10", "--gamma", "2.09", "--xi", "4", "--eta", "0.5", "--nodes", "4",
    ]);
    assert_eq!(code, Some(0));
    let [factor, tau] = numbers(&document, &["factor", "tau"])[..] else { panic!() };
    assert!(1.0 - factor >= 0.046 && document.get("rate").is_none());
    let process = Process::ThirdOrder { eta: 0.5, nodes: Some(4) };
    let setting = Setting::new(10.0, 2.09, 4.0, process).unwrap();
    assert!(Certificate::check(setting, matrix(&document), tau, factor).is_ok());
}

#[test]
fn refuted_and_unknown_end_with_exit_code_3() {
    let (document, code) =
        json(&["certify", "--kappa", "10", "--gamma", "2.09", "--xi", "4", "--eta", "5"]);
    assert_eq!((document["status"].as_str(), code), (Some("refuted"), Some(3)));
    let [l, radius] = numbers(&document["witness"], &["eigenvalue", "spectral_radius"])[..] else {
        panic!()
    };
    assert!((0.1..=1.0).contains(&l) && radius > 1.0 && document["S"].is_null());
    let unknown = [
        "certify",
        "--kappa",
        "100",
        "--gamma",
        "1.26",
        "--xi",
        "2",
        "--eta",
        "1",
        "--kernel",
        "symmetric",
    ];
    let (document, code) = json(&unknown);
    assert_eq!((document["status"].as_str(), code), (Some("unknown"), Some(3)));
    assert!(document["witness"].is_null());
    let text = String::from_utf8(ridgewalk(&unknown).stdout).unwrap();
    assert!(
        text.starts_with("unknown: the symmetric splitting") && text.contains("nothing is claimed"),
        "{text}"
    );
}

#[test]
fn a_plan_has_every_promised_key_and_meets_its_accuracy() {
    let arguments = [
        "plan",
        "--convexity",
        "0.5",
        "--smoothness",
        "1",
        "--dimension",
        "100",
        "--accuracy",
        "0.2",
    ];
    let (document, code) = json(&arguments);
    assert_eq!((document["status"].as_str(), code), (Some("certified"), Some(0)));
    let keys = ["gamma", "xi", "eta", "steps", "gradients", "bound", "factor", "tau"];
    let [gamma, xi, eta, steps, gradients, bound, factor, tau] = numbers(&document, &keys)[..]
    else {
        panic!()
    };
    assert!(steps <= 230.0 && gradients == steps && bound <= 0.2);
    let setting = Setting::new(2.0, gamma, xi, Process::ThirdOrder { eta, nodes: None }).unwrap();
    assert!(Certificate::check(setting, matrix(&document), tau, factor).is_ok());
    let text = String::from_utf8(ridgewalk(&arguments).stdout).unwrap();
    assert!(text.contains(&format!("{steps} steps ({steps} gradients)")), "{text}");
}

const PLAN: [&str; 9] =
    ["plan", "--convexity", "0.5", "--smoothness", "1", "--dimension", "100", "--accuracy", "0.2"];

fn plan_with(more: &[&str]) -> serde_json::Value {
    let (document, code) = json(&[&PLAN, more].concat());
    assert_eq!(code, Some(0), "{more:?}");
    document
}

#[test]
fn a_plan_takes_bounds_on_derivatives_of_any_order() {
    // The same plan, whatever was assumed for it.
    let found = |more: &[&str]| {
        let mut document = plan_with(more);
        for assumed in ["lipschitz_hessian", "higher_smoothness"] {
            assert!(document.as_object_mut().unwrap().remove(assumed).is_some());
        }
        document
    };
    let alike = |a: &[&str], b: &[&str]| assert_eq!(found(a), found(b));
    alike(&["--nodes", "2", "--lipschitz-hessian", "0.25"], &["--higher-smoothness", "3,0.5"]);
    let four = plan_with(&["--higher-smoothness", "4,2"]);
    assert_eq!((four["nodes"].as_u64(), plan_with(&[])["nodes"].as_u64()), (Some(3), None));
    let [steps, gradients] = numbers(&four, &["steps", "gradients"])[..] else { panic!() };
    assert_eq!(gradients, 3.0 * steps);
    // The best of several bounds counts; L bounds the second derivative always.
    alike(
        &["--higher-smoothness", "4,2", "--higher-smoothness", "3,1e6"],
        &["--higher-smoothness", "4,2"],
    );
    alike(&["--higher-smoothness", "4,1e9"], &["--nodes", "3"]);
    let text =
        String::from_utf8(ridgewalk(&[&PLAN[..], &["--higher-smoothness", "4,2"]].concat()).stdout);
    let text = text.unwrap();
    assert!(text.contains("with ALPHA - 1 = 3 Chebyshev nodes per step"), "{text}");
    assert!(text.contains("whose derivative of order 4 is at most 2^3"), "{text}");
    let refuse = |more: &[&str], message| refused(&[&PLAN, more].concat(), message);
    refuse(
        &["--higher-smoothness", "6,1", "--nodes", "4"],
        "alpha = 6 with nodes = 4: need at least 5 nodes, or a smaller alpha",
    );
    refuse(&["--higher-smoothness", "1,1"], "alpha = 1: need 2 to 32");
    refuse(&["--higher-smoothness", "1,1", "--nodes", "2"], "alpha = 1: need 2 to 32");
    refuse(&["--higher-smoothness", "4,-1"], "L_alpha = -1: need a finite number of at least 0");
    for text in ["4", "4,", "x,1", "4.5,1", "4,1,2"] {
        refuse(&["--higher-smoothness", text], "need ALPHA,L_ALPHA, such as 4,0.5");
    }
}

#[test]
fn a_plan_takes_an_inexact_start_and_one_at_rest() {
    let exact = plan_with(&[]);
    assert_eq!(plan_with(&["--start-distance", "0"]), exact);
    assert_eq!(
        (exact["start_distance"].as_f64(), exact["start_at_rest"].as_bool()),
        (Some(0.0), Some(false))
    );
    let steps = |more: &[&str]| numbers(&plan_with(more), &["steps"])[0];
    let far = ["--start-distance", "30"];
    assert!(steps(&far) > steps(&[]) + 5.0);
    assert!(steps(&["--start-at-rest"]) > steps(&[]));
    let both = [&far[..], &["--start-at-rest"]].concat();
    let document = plan_with(&both);
    assert_eq!(
        (document["start_distance"].as_f64(), document["start_at_rest"].as_bool()),
        (Some(30.0), Some(true))
    );
    assert!(numbers(&document, &["bound"])[0] <= 0.2);
    let text = String::from_utf8(ridgewalk(&[&PLAN[..], &both].concat()).stdout).unwrap();
    assert!(
        text.contains("started within 30 of the minimiser with p = r = 0, has after"),
        "{text}"
    );
    let refuse = |value| {
        refused(
            &[&PLAN[..], &["--start-distance", value]].concat(),
            &format!("start_distance = {value}: need"),
        )
    };
    refuse("-1");
    refuse("NaN");
}

#[test]
fn bad_values_are_refused_with_the_value() {
    refused(&["certify", "--kappa", "0.5"], "kappa = 0.5: need a finite number of at least 1");
    refused(&["certify", "--kappa", "nan"], "kappa = NaN: need");
    refused(&["certify", "--kappa", "2", "--gamma", "-1"], "gamma = -1: need");
    refused(&["certify", "--kappa", "2", "--eta", "0"], "eta = 0: need");
    refused(
        &["certify", "--kappa", "2", "--eta", "0.1", "--nodes", "0"],
        "nodes = 0: need 1 to 1024",
    );
    refused(
        &["certify", "--kappa", "2", "--nodes", "3"],
        "--nodes 3 is about the algorithm: need --eta too",
    );
    refused(
        &["certify", "--kappa", "2", "--kernel", "symmetric"],
        "--kernel symmetric is about the algorithm",
    );
    refused(
        &["certify", "--kappa", "2", "--eta", "0.1", "--kernel", "symmetric", "--nodes", "3"],
        "has no line integral",
    );
    refused(&["certify", "--kappa", "2", "--eta", "0.1", "--kernel", "ula"], "invalid value 'ula'");
    let plan = |m, l, d, eps| {
        ["plan", "--convexity", m, "--smoothness", l, "--dimension", d, "--accuracy", eps]
    };
    refused(&plan("2", "1", "10", "0.1"), "convexity = 2: need at most the smoothness, 1");
    refused(&plan("0.1", "nan", "10", "0.1"), "smoothness = NaN: need");
    refused(&plan("0.1", "1", "0", "0.1"), "dimension = 0: need at least 1");
    refused(&plan("0.1", "1", "10", "0"), "accuracy = 0: need a positive, finite number");
    refused(&plan("0.1", "1", "10", "-3"), "accuracy = -3: need a positive, finite number");
    refused(
        &[&plan("0.1", "1", "10", "0.1")[..], &["--lipschitz-hessian", "1"]].concat(),
        "--lipschitz-hessian 1 is about quadrature rules: need --nodes too",
    );
}

#[test]
fn the_examples_of_the_help_run() {
    examples_run("certify");
    examples_run("plan");
}
