//! `ridgewalk fit`, `summary` and `report`, run as by users: seeds and threads, every family and
//! option, output files, Ctrl-C. `fit_reference.rs` checks the numbers, `bad_input.rs` the error
//! messages.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::fits::{Fit, Place, apart, ctrl_c, disagreement, files, shipped};
use ridgewalk::store::{StoredDraws, read_draws};
use serde_json::Value;

const FLAT: &str = "--prior-scale inf --intercept-prior-scale inf";
/// The bias allowed between two fits: twice the default tolerance.
const BOTH: f64 = 0.1;

/// The synthetic data, with two predictors.
fn mixed(response: &str) -> String {
    format!("{} --response {response} --predictors dose,age", shipped("mixed.csv"))
}

/// The synthetic data as text: names and rows of fields.
fn rows() -> (Vec<String>, Vec<Vec<String>>) {
    let text = fs::read_to_string(shipped("mixed.csv")).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    (lines.next().unwrap(), lines.collect())
}

/// A table with some columns of the synthetic data; `make` returns the lines for a row.
fn table(header: &str, make: impl Fn(&dyn Fn(&str) -> String) -> Vec<String>) -> String {
    let (names, rows) = rows();
    let mut text = format!("{header}\n");
    for row in rows {
        let of = |name: &str| row[names.iter().position(|n| n == name).unwrap()].clone();
        for line in make(&of) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}

fn of(fit: &Fit, path: &str) -> Value {
    fit.summary.pointer(path).unwrap_or_else(|| panic!("no {path}")).clone()
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let place = Place::new();
    let store = |out: &str, words: &str| {
        files(&place.fit(out, &format!("{words} --quiet")).directory.join("draws.zarr"))
    };
    let one = store("one", "--seed 7 --threads 1 --draws 300");
    assert!(one.len() > 10);
    assert!(store("two", "--seed 7 --threads 2 --draws 300") == one);
    assert!(store("three", "--seed 7 --threads 3 --draws 300") == one);
    let other = store("other", "--seed 8 --threads 2 --draws 300");
    let same: Vec<&str> =
        one.iter().zip(&other).filter(|(a, b)| a == b).map(|(a, _)| a.0.as_str()).collect();
    assert!(!same.iter().any(|name| name.starts_with("posterior/beta/c")), "{same:?}");
}

#[test]
fn a_mixed_model_has_the_same_bytes_on_any_number_of_threads() {
    let place = Place::new();
    let words = format!("{} count~dose+(1+dose|site) --family poisson", shipped("mixed.csv"));
    let store = |threads: u32| {
        let words = format!("{words} --seed 7 --threads {threads} --draws 200 --quiet");
        files(&place.fit(&format!("threads-{threads}"), &words).directory.join("draws.zarr"))
    };
    let one = store(1);
    assert!(one.len() > 10);
    assert!(store(2) == one);
    assert!(store(3) == one);
}

#[test]
fn warnings_about_few_draws_have_no_nan_and_name_the_option_to_change() {
    let place = Place::new();
    let warnings = |out: &str, words: &str| {
        let fit = place.fit(out, &format!("{} {words}", mixed("ill")));
        assert_eq!(fit.status(), "low_ess, high_rhat", "{words}");
        let list = of(&fit, "/warnings");
        assert!(!list.to_string().contains("NaN"), "{list}");
        list.to_string()
    };
    let few = warnings("two", "--draws 2");
    assert!(
        few.contains("size that so few draws do not show")
            && few.contains("not known from so few draws")
    );
    assert!(few.contains("--draws 8") && !few.contains("--max-draws"), "{few}");
}

/// Priors in absolute units.
const ABSOLUTE: &str = "--prior-scale 2.5 --intercept-prior-scale 2.5";

#[test]
fn every_family_runs_and_reports_its_name() {
    let place = Place::new();
    let plain: &[&str] = &[];
    for (family, response, more) in [
        ("logistic", "ill", plain),
        ("probit", "ill", plain),
        ("poisson", "count", plain),
        ("negative-binomial", "count", &["size"]),
        ("gaussian", "level", &["sigma"]),
        ("student-t", "level", &["sigma", "nu"]),
        ("robust-logistic", "level", &["sigma"]),
        ("robust-huber", "level", &["sigma"]),
        ("weibull", "weight", &["shape"]),
        ("exponential", "weight", plain),
    ] {
        let fit = place.fit(family, &format!("{} --family {family}", mixed(response)));
        assert_eq!(fit.status(), "ok", "{family}");
        assert_eq!(of(&fit, "/problem/family"), family);
        let names = ["(Intercept)", "dose", "age"].into_iter();
        let names: Vec<&str> = names.chain(more.iter().copied()).collect();
        assert_eq!(fit.names(), names, "{family}");
        let counts = (of(&fit, "/problem/n"), of(&fit, "/problem/d"));
        assert_eq!(counts, (120.into(), names.len().into()));
        // The true slopes, for the families that share a scale.
        if response == "level" {
            let [_, dose, age, ..] = fit.coefficients()[..] else { panic!() };
            assert!(
                (dose.mean - 1.5).abs() < 5.0 * dose.sd && (age.mean + 1.0).abs() < 5.0 * age.sd,
                "{family}"
            );
        }
    }
}

#[test]
fn whole_weights_are_repeated_rows_and_trials_are_rows_of_0_and_1() {
    let place = Place::new();
    // Default priors follow the standard deviations of the rows, which do not know of weights.
    let mixed = |response: &str| format!("{} {ABSOLUTE}", mixed(response));
    let weighted = place.fit("weighted", &format!("{} --weights weight", mixed("ill")));
    let text = table("ill,dose,age", |of| {
        let line = format!("{},{},{}", of("ill"), of("dose"), of("age"));
        vec![line; of("weight").parse().unwrap()]
    });
    let repeated = place.fit(
        "repeated",
        &format!("{} --response ill {ABSOLUTE}", place.file("repeated.csv", &text)),
    );
    let plain = place.fit("plain", &mixed("ill"));
    let ones = [1.0; 3];
    assert!(apart(&weighted.modes(), &repeated.modes(), &ones) < 1e-8);
    assert!(apart(&weighted.modes(), &plain.modes(), &ones) > 1e-3);
    assert!(disagreement(&weighted.coefficients(), &repeated.coefficients(), BOTH) < 1.0);

    let counted = place.fit("counted", &format!("{} --trials trials", mixed("successes")));
    let text = table("y,dose,age", |of| {
        let [successes, trials] =
            ["successes", "trials"].map(|name| of(name).parse::<usize>().unwrap());
        (0..trials)
            .map(|k| format!("{},{},{}", u8::from(k < successes), of("dose"), of("age")))
            .collect()
    });
    let expanded = place
        .fit("expanded", &format!("{} --response y {ABSOLUTE}", place.file("expanded.csv", &text)));
    assert!(apart(&counted.modes(), &expanded.modes(), &ones) < 1e-8);
    assert!(disagreement(&counted.coefficients(), &expanded.coefficients(), BOTH) < 1.0);
}

#[test]
fn a_constant_offset_shifts_the_intercept() {
    let place = Place::new();
    let text = table("count,dose,age,two", |of| {
        vec![format!("{},{},{},2", of("count"), of("dose"), of("age"))]
    });
    let data = place.file("two.csv", &text);
    let words = format!("{data} --response count --predictors dose,age --family poisson {FLAT}");
    let (without, with) =
        (place.fit("without", &words), place.fit("with", &format!("{words} --offset two")));
    let mut moved = without.modes();
    moved[0] -= 2.0;
    assert!(apart(&with.modes(), &moved, &[1.0; 3]) < 1e-8, "{:?} and {moved:?}", with.modes());
}

#[test]
fn without_an_intercept_and_with_a_file_of_priors() {
    let place = Place::new();
    let fit = place.fit("none", &format!("{} --no-intercept", mixed("ill")));
    assert_eq!(fit.names(), ["dose", "age"]);
    assert_eq!(of(&fit, "/problem/d"), 2);
    let priors = place.file(
        "priors.toml",
        "[dose]\nmean = 2.0\nscale = 0.001\n\n[\"(Intercept)\"]\nscale = inf\n",
    );
    let fit = place.fit("priors", &format!("{} --priors {priors}", mixed("ill")));
    let dose = fit.coefficients()[1];
    assert!((dose.mean - 2.0).abs() < 2e-3 && (dose.sd / 0.001 - 1.0).abs() < 0.1, "{dose:?}");
    let flat = place
        .fit("flat", &format!("{} --priors {priors} --intercept-prior-scale inf", mixed("ill")));
    assert_eq!(flat.modes(), fit.modes(), "the file takes precedence");
}

#[test]
fn the_original_scale_is_the_same_draws_transformed() {
    let place = Place::new();
    let words = format!("{} --standardize --seed 3 --draws 200", mixed("ill"));
    let scaled = place.fit("scaled", &words);
    let original = place.fit("original", &format!("{words} --original-scale"));
    let text = fs::read_to_string(original.directory.join("config.toml")).unwrap();
    let config: ridgewalk::pipeline::Config = toml::from_str(&text).unwrap();
    let (centres, divisors) = (config.resolved.centres.unwrap(), config.resolved.divisors.unwrap());
    // Compared with the columns themselves, so that a wrong scaling on both sides is found.
    let (names, rows) = rows();
    for (index, name) in ["dose", "age"].into_iter().enumerate() {
        let at = names.iter().position(|n| n == name).unwrap();
        let column: Vec<f64> = rows.iter().map(|row| row[at].parse().unwrap()).collect();
        let mean = column.iter().sum::<f64>() / 120.0;
        let sd = (column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 120.0).sqrt();
        assert!(
            (centres[index + 1] - mean).abs() < 1e-12 && (divisors[index + 1] - sd).abs() < 1e-12
        );
    }
    let (a, b) = (scaled.draws(), original.draws());
    assert_eq!(a.chains(), 8);
    for (standard, given) in a.tables().into_iter().zip(b.tables()) {
        assert_eq!(standard.len(), 600);
        for (s, g) in standard.chunks(3).zip(given.chunks(3)) {
            let slopes = [s[1] / divisors[1], s[2] / divisors[2]];
            let need =
                [s[0] - (slopes[0] * centres[1] + slopes[1] * centres[2]), slopes[0], slopes[1]];
            assert!(apart(g, &need, &[1.0; 3]) < 1e-14, "{g:?} and {need:?}");
        }
    }
}

#[test]
fn kernels_and_nodes_are_those_asked_for_and_agree() {
    let place = Place::new();
    let words = format!("{} {ABSOLUTE}", mixed("ill"));
    let exact = place.fit("third-order", &format!("{words} --kernel third-order"));
    let nodes = place.fit("nodes", &format!("{words} --kernel third-order --nodes 3"));
    let per_draw = |fit: &Fit| {
        of(fit, "/sampler/gradients").as_f64().unwrap() / of(fit, "/sampler/thin").as_f64().unwrap()
    };
    assert!(
        (per_draw(&nodes) / per_draw(&exact) - 3.0).abs() < 0.2,
        "{} {}",
        per_draw(&nodes),
        per_draw(&exact)
    );
    assert!(exact.draws() != nodes.draws());
    for (name, fit) in [
        ("third-order", nodes),
        ("symmetric", place.fit("symmetric", &format!("{words} --kernel symmetric"))),
        ("averaged", place.fit("averaged", &format!("{words} --kernel averaged"))),
        ("adjusted", place.fit("adjusted", &format!("{words} --kernel adjusted"))),
    ] {
        assert_eq!(of(&fit, "/sampler/kernel"), name);
        assert_eq!(fit.status(), "ok");
        assert!(disagreement(&fit.coefficients(), &exact.coefficients(), BOTH) < 1.0, "{name}");
    }
    let idle = place.fit("idle", &format!("{words} --kernel symmetric --nodes 3"));
    assert!(idle.notes().contains("--nodes has no effect"), "{}", idle.notes());
}

#[test]
fn every_search_for_the_mode_leads_to_the_same_posterior() {
    let place = Place::new();
    let words = mixed("ill");
    let auto = place.fit("auto", &words);
    for search in ["newton", "lbfgs", "accelerated"] {
        let fit = place.fit(search, &format!("{words} --mode-search {search}"));
        assert_eq!(fit.status(), "ok");
        assert!(disagreement(&fit.coefficients(), &auto.coefficients(), BOTH) < 1.0, "{search}");
        let config = fs::read_to_string(fit.directory.join("config.toml")).unwrap();
        assert!(config.contains(&format!("mode-search = \"{search}\"")), "{config}");
        // Up to 2,000 coefficients the default is Newton's method; others end a little elsewhere.
        assert_eq!(fit.draws() == auto.draws(), search == "newton", "{search}");
    }
}

#[test]
fn the_adjusted_kernel_has_no_bias_and_reports_its_trajectories() {
    let place = Place::new();
    let fit = place.fit("exact", &format!("{} --bias-tolerance 0", mixed("ill")));
    assert_eq!(
        (of(&fit, "/sampler/kernel"), of(&fit, "/sampler/bias_estimate")),
        ("adjusted".into(), 0.0.into())
    );
    assert!(
        fit.status() == "ok" && fit.summary.pointer("/sampler/bias_details").is_none(),
        "{}",
        fit.status()
    );
    let [acceptance, spread] = ["acceptance", "energy_error_sd"]
        .map(|key| of(&fit, &format!("/sampler/trajectories/{key}")).as_f64().unwrap());
    assert!(
        (0.6..=1.0).contains(&acceptance) && (0.0..2.0).contains(&spread),
        "{acceptance} {spread}"
    );
    assert_eq!(of(&fit, "/sampler/trajectories/divergences"), 0);
    let trajectories = of(&fit, "/sampler/thin").as_u64().unwrap() * 8 * 1000;
    assert_eq!(of(&fit, "/sampler/trajectories/count"), trajectories);
    assert_eq!(of(&fit, "/sampler/trajectories/acceptance_by_chain").as_array().unwrap().len(), 8);
    assert!(
        fit.stdout.contains(" % accepted, energy error ")
            && fit.stdout.contains("guarantee: no discretisation bias")
    );
    assert!(
        !of(&fit, "/parameters/0/mode").is_null()
            && fit.summary.pointer("/parameters/0/mean_extrapolated").is_none()
    );
    let report = fs::read_to_string(fit.directory.join("report.html")).unwrap();
    assert!(report.contains("<th scope=\"row\">divergences</th><td>0</td>"));
    // What was found comes first, then the model against its data, then how it was sampled.
    let order = [
        "id=\"found\"",
        "id=\"effects\"",
        "id=\"checks\"",
        "id=\"priors\"",
        "id=\"summary\"",
        "id=\"accuracy\"",
    ];
    let places: Vec<usize> = order.iter().map(|id| report.find(id).unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}");
    assert!(report.contains("<dt>Exact</dt><dd>The method"));
    // Warm-up below a fifth of the run.
    let [before, after] = ["warmup_gradients", "gradients"]
        .map(|key| of(&fit, &format!("/sampler/{key}")).as_f64().unwrap());
    assert!(before < 0.2 * after, "{before} of {after}");
    // Steps that are far too long are reported.
    let long = place.fit("long", "--kernel adjusted --eta 1.6 --draws 300");
    assert!(long.status().contains("low_acceptance"), "{}", long.status());
    let refused = place
        .run(&format!("fit {} --kernel symmetric --bias-tolerance 0 --out refused", mixed("ill")));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        refused.status.code() == Some(2)
            && said.contains("--bias-tolerance 0 with --kernel symmetric: need a positive"),
        "{said}"
    );
    assert!(!place.path("refused").exists());
}

#[test]
fn fixed_parameters_are_used_and_a_step_too_long_is_reported() {
    let place = Place::new();
    let words = "--kernel symmetric --draws 300";
    let long = place.fit("long", &format!("{words} --eta 1.2"));
    assert!(long.status().contains("bias_above_tolerance"), "{}", long.status());
    assert!(long.stdout.contains("warning bias_above_tolerance: "));
    let bias = of(&long, "/sampler/bias_estimate").as_f64().unwrap();
    assert!(bias > 0.5, "{bias}");
    let fixed = place.fit(
        "fixed",
        &format!("{} --kernel third-order --eta 0.4 --gamma 1.5 --xi 2.5", mixed("ill")),
    );
    for (key, value) in [("eta", 0.4), ("gamma", 1.5), ("xi", 2.5)] {
        assert_eq!(of(&fixed, &format!("/sampler/{key}")), value, "{key}");
    }
    assert_eq!(fixed.status(), "ok");
}

#[test]
fn a_target_ess_is_reached_or_reported_as_missed() {
    let place = Place::new();
    let reached = place.fit("reached", &format!("{} --target-ess 12000", mixed("ill")));
    let fewest = reached.coefficients().iter().map(|c| c.ess).fold(f64::INFINITY, f64::min);
    assert!(fewest >= 12000.0 && reached.status() == "ok", "{fewest} {}", reached.status());
    assert!(of(&reached, "/sampler/draws").as_u64().unwrap() < 20_000);
    let short = place.fit("short", &format!("{} --target-ess 12000 --max-draws 200", mixed("ill")));
    assert_eq!(short.status(), "target_ess_not_reached");
    assert_eq!(of(&short, "/sampler/draws"), 200);
}

#[test]
fn thinning_keeps_every_nth_state() {
    let place = Place::new();
    let words = format!("{} --chains 2 --draws 120 --seed 5", mixed("ill"));
    let fine = place.fit("fine", &format!("{words} --thin 1")).draws();
    let coarse = place.fit("coarse", &format!("{words} --thin 4"));
    assert_eq!(of(&coarse, "/sampler/thin"), 4);
    let coarse = coarse.draws();
    for (fine, coarse) in fine.tables().into_iter().zip(coarse.tables()) {
        let every: Vec<f64> = fine.chunks(3).skip(3).step_by(4).flatten().copied().collect();
        assert_eq!(every.len(), 90);
        assert_eq!(every, coarse[..90]);
    }
}

#[test]
fn one_chain_is_enough_and_its_rhat_is_not_called_high() {
    let place = Place::new();
    let fit = place.fit("one", &format!("{} --chains 1 --draws 3000", mixed("ill")));
    assert_eq!(of(&fit, "/sampler/chains"), 1);
    assert_eq!(fit.draws().chains(), 1);
    // With other seeds the bias may be reported too; that is not tested here.
    let names: Vec<&str> = fit.status().split(", ").collect();
    assert!(names.contains(&"one_chain") && !names.contains(&"high_rhat"), "{names:?}");
}

#[test]
fn the_csv_file_has_the_draws_of_the_store() {
    let place = Place::new();
    let fit = place.fit("csv", &format!("{} --csv --chains 3 --draws 50", mixed("ill")));
    let text = fs::read_to_string(fit.directory.join("draws.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("chain,draw,(Intercept),dose,age"));
    let draws = fit.draws();
    let mut seen = vec![0_usize; 3];
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let [chain, draw] = [0, 1].map(|k| fields[k].parse::<usize>().unwrap());
        assert_eq!(draw, seen[chain]);
        seen[chain] += 1;
        let point: Vec<f64> = fields[2..].iter().map(|x| x.parse().unwrap()).collect();
        assert_eq!(point, draws.chain(chain)[3 * draw..3 * draw + 3]);
    }
    assert_eq!(seen, [50, 50, 50]);
}

#[test]
fn json_prints_only_the_document_and_quiet_prints_no_progress() {
    let place = Place::new();
    let loud = place.fit("loud", &mixed("ill"));
    assert!(!loud.stderr.is_empty());
    let quiet = place.fit("quiet", &format!("{} --quiet", mixed("ill")));
    assert_eq!(quiet.stderr, "");
    assert!(quiet.stdout.contains("(Intercept)") && quiet.stdout.contains("guarantee: "));
    let json = place.fit("json", &format!("{} --json", mixed("ill")));
    assert_eq!(json.stderr, "");
    let document: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(document, json.summary);
    assert_eq!(json.modes(), loud.modes());
}

#[test]
fn text_predictors_report_their_base_level() {
    let place = Place::new();
    let fit = place
        .fit("text", &format!("{} --response ill --predictors dose,site", shipped("mixed.csv")));
    assert_eq!(fit.names(), ["(Intercept)", "dose", "site[south]", "site[west]"]);
    assert!(fit.notes().contains("base level is `north`"), "{}", fit.notes());
    assert!(fit.stdout.contains("base level is `north`"));
}

#[test]
fn units_of_1e9_beside_1e_minus_9_work() {
    let place = Place::new();
    let text = table("ill,big,small", |of| {
        vec![format!("{},{}e9,{}e-9", of("ill"), of("dose"), of("age"))]
    });
    let odd =
        place.fit("odd", &format!("{} --response ill {FLAT}", place.file("units.csv", &text)));
    let plain = place.fit("plain", &format!("{} {FLAT}", mixed("ill")));
    assert_eq!(odd.status(), "ok");
    let units = [1.0, 1e9, 1e-9];
    let inverse = |values: Vec<f64>| -> Vec<f64> {
        values.iter().zip(units).map(|(x, unit)| x * unit).collect()
    };
    assert!(apart(&inverse(odd.modes()), &plain.modes(), &[1.0; 3]) < 1e-7, "{:?}", odd.modes());
    let means = |fit: &Fit| fit.coefficients().iter().map(|c| c.mean).collect::<Vec<_>>();
    let errors: Vec<f64> =
        plain.coefficients().iter().map(|c| 8.0 * c.mcse + 0.05 * c.sd).collect();
    assert!(apart(&inverse(means(&odd)), &means(&plain), &errors) < 1.0);
}

#[test]
fn the_summary_has_its_keys_and_can_be_printed_again() {
    let place = Place::new();
    let fit = place.fit("run", &mixed("ill"));
    let parameter = "name mean sd mcse_mean q05 q50 q95 ess_bulk ess_tail rhat";
    let sampler = "kernel gamma xi eta chains draws thin warmup_gradients gradients seconds bias_estimate status";
    let problem = "n d family convexity smoothness condition_number";
    for (path, keys) in [
        ("/parameters/0", parameter),
        ("/parameters/2", parameter),
        ("/sampler", sampler),
        ("/problem", problem),
    ] {
        for key in keys.split(' ') {
            let value = of(&fit, &format!("{path}/{key}"));
            assert!(!value.is_null(), "{path}/{key}");
        }
    }
    let q: Vec<f64> = ["q05", "q50", "q95"]
        .iter()
        .map(|k| of(&fit, &format!("/parameters/1/{k}")).as_f64().unwrap())
        .collect();
    assert!(q[0] < q[1] && q[1] < q[2]);
    let again = place.run("summary run");
    assert_eq!(String::from_utf8(again.stdout).unwrap(), fit.stdout);
    let document: Value = serde_json::from_slice(&place.run("summary run --json").stdout).unwrap();
    assert_eq!(document, fit.summary);
    let path = fit.directory.join("report.html");
    let before = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(place.run("report run").status.success());
    assert!(fs::read(&path).unwrap() == before);
}

/// `config.toml` could not name such paths.
#[cfg(unix)]
#[test]
fn paths_that_are_not_utf_8_are_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let place = tempfile::tempdir().unwrap();
    let name = OsStr::from_bytes(b"d\xe9.csv");
    fs::copy(shipped("mixed.csv"), place.path().join(name)).unwrap();
    let refused = |words: &[&OsStr]| {
        let output = Command::new(env!("CARGO_BIN_EXE_ridgewalk"))
            .args(words)
            .current_dir(place.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let [fit, formula, out] = ["fit", "dose ~ age", "--out"].map(OsStr::new);
    let message = refused(&[fit, name, formula]);
    assert!(
        message.starts_with("error: the data file d\u{fffd}.csv: need a path in UTF-8"),
        "{message}"
    );
    let data = shipped("mixed.csv");
    let message = refused(&[fit, OsStr::new(&data), formula, out, OsStr::from_bytes(b"r\xff")]);
    assert!(message.starts_with("error: --out r\u{fffd}: need a path in UTF-8"), "{message}");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
}

#[test]
fn paths_that_are_not_runs_are_refused() {
    let place = Place::new();
    fs::create_dir(place.path("empty")).unwrap();
    place.file("file", "");
    for name in ["empty", "file", "nothing"] {
        for command in ["summary", "report", "resume"] {
            let output = place.run(&format!("{command} {name}"));
            assert_eq!(output.status.code(), Some(2), "{command} {name}");
            assert!(output.stdout.is_empty());
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(said.starts_with(&format!("error: {name} is not a run directory: ")), "{said}");
        }
    }
}

/// Sends SIGINT, as Ctrl-C does, and waits for the end. Returns exit code, standard output and
/// standard error.
fn interrupt(child: Child) -> (Option<i32>, String, String) {
    let kill = Command::new("kill").args([ctrl_c(), &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), out, err)
}

#[test]
fn ctrl_c_while_sampling_keeps_a_prefix_of_the_whole_run() {
    let place = Place::new();
    // The run takes about two seconds; the signal comes early.
    let words = format!("{} --seed 4 --draws 1000 --thin 150 --quiet", mixed("ill"));
    let mut command = place.command(&format!("fit {words} --out stopped"));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    // The first checkpoint with a run is written before the first step.
    let sampling = || {
        let checkpoint = ridgewalk::store::Checkpoint::read(&place.path("stopped/checkpoint"));
        checkpoint.is_ok_and(|checkpoint| !checkpoint.run.is_empty())
    };
    while !sampling() {
        assert!(began.elapsed() < Duration::from_secs(600));
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(300));
    let (code, stdout, stderr) = interrupt(child);
    assert_eq!(code, Some(130), "{stderr}");
    assert!(stdout.contains("warning stopped: ") && stderr.contains("stopped"), "{stdout}{stderr}");
    let summary: Value =
        serde_json::from_slice(&fs::read(place.path("stopped/summary.json")).unwrap()).unwrap();
    let status = summary["sampler"]["status"].as_str().unwrap();
    assert!(status.split(", ").any(|name| name == "stopped"), "{status}");
    assert!(place.path("stopped/report.html").is_file());
    let store = place.path("stopped/draws.zarr");
    assert!(StoredDraws::open(&store).unwrap().incomplete());
    let kept = read_draws(&store).unwrap();
    assert_eq!(summary["sampler"]["draws"], kept.common());
    assert!((1..1000).contains(&kept.common()), "{}", kept.common());
    let whole = place.fit("whole", &words).draws();
    assert_eq!(whole.common(), 1000);
    for (part, all) in kept.tables().into_iter().zip(whole.tables()) {
        assert!(part[..] == all[..part.len()]);
    }
}

#[test]
fn ctrl_c_in_the_warm_up_leaves_a_run_to_resume() {
    let place = Place::new();
    // The wells data repeated forty times, so that the warm-up takes long.
    let text = fs::read_to_string(shipped("wells.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let data = place.file("many.csv", &format!("{header}\n{}", rows.repeat(40)));
    let mut command = place.command(&format!("fit {data} --response switched --out stopped/early"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The first line is printed after the data are read.
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    stderr.read_line(&mut first).unwrap();
    assert!(first.contains("120800 rows"), "{first}");
    let (code, stdout, _) = interrupt(child);
    let rest: Vec<String> = stderr.lines().map(Result::unwrap).collect();
    assert_eq!((code, stdout.as_str()), (Some(130), ""), "{rest:?}");
    assert!(rest.last().unwrap().starts_with("error: stopped: "), "{rest:?}");
    // Only the configuration is left.
    assert!(rest.last().unwrap().contains("`ridgewalk resume stopped/early`"), "{rest:?}");
    let left: Vec<String> =
        files(&place.path("stopped/early")).into_iter().map(|(name, _)| name).collect();
    assert_eq!(left, ["checkpoint", "config.toml", "lock"]);
}

#[test]
fn the_recorded_command_gives_the_same_draws() {
    let place = Place::new();
    fs::copy(shipped("mixed.csv"), place.path("my data.csv")).unwrap();
    place.file("priors.toml", "[dose]\nscale = 1.5\n");
    let words = "--response level --family robust-huber --predictors dose,site --priors priors.toml \
                 --standardize --original-scale --noise-scale 0.8 --bias-tolerance 0.02 --chains 3 --draws 60 --seed 9";
    let mut command = place.command("fit");
    command.arg("my data.csv").args(words.split_whitespace()).args(["--quiet", "--out", "asked"]);
    assert!(command.status().unwrap().success());
    let text = fs::read_to_string(place.path("asked/config.toml")).unwrap();
    let config: ridgewalk::pipeline::Config = toml::from_str(&text).unwrap();
    assert!(config.command.starts_with("ridgewalk fit 'my data.csv' "), "{}", config.command);
    // As a user would: pasted into a shell, with another directory.
    let line = config.command.replacen("ridgewalk", env!("CARGO_BIN_EXE_ridgewalk"), 1);
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{line} --quiet --out again")).current_dir(place.path(""));
    assert!(shell.stdout(Stdio::null()).status().unwrap().success());
    let [asked, again] = ["asked", "again"].map(|run| files(&place.path(run).join("draws.zarr")));
    assert!(asked == again);
}
