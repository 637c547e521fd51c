//! Commands on a finished run: predict, effects, loo, compare, export, and draws of the prior.
//! Numbers are compared with draws read from the run.

use std::fs;

use serde_json::Value;

use crate::common::fits::{Fit, Place, shipped};

fn wells(place: &Place, out: &str, more: &str) -> Fit {
    let data = shipped("wells.csv");
    let model = "--response switched --predictors dist100,arsenic --quiet";
    let draws = if more.is_empty() { "--draws 200" } else { more };
    place.fit(out, &format!("{data} {model} {draws}"))
}

/// Standard output of a command that must succeed.
fn done(place: &Place, words: &str) -> String {
    let output = place.run(words);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{words}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(place: &Place, words: &str) -> Value {
    serde_json::from_str(&done(place, &format!("{words} --json"))).unwrap()
}

/// Exit code 2 and these words on standard error.
fn refused(place: &Place, words: &str, part: &str) {
    let output = place.run(words);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{words}: {said}");
    assert!(said.replace("\n  ", " ").contains(part), "{words}: {said}");
}

/// Rows of CSV, without the line of names.
fn rows(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

/// The draws of the linear predictor at these values, an intercept first.
fn linear(fit: &Fit, x: &[f64]) -> Vec<f64> {
    let draws = fit.draws();
    (0..draws.chains())
        .flat_map(|chain| draws.chain(chain).to_vec())
        .collect::<Vec<f64>>()
        .chunks_exact(x.len())
        .map(|point| point.iter().zip(x).map(|(beta, x)| beta * x).sum())
        .collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn predictions_are_those_of_the_draws() {
    let place = Place::new();
    let fit = wells(&place, "run", "");
    place.file("new.csv", "arsenic,dist100,note\n1.5,0.5,a\n3,2,b\n");
    let probabilities: Vec<f64> =
        linear(&fit, &[1.0, 2.0, 3.0]).into_iter().map(|s| 1.0 / (1.0 + (-s).exp())).collect();
    let found = rows(&done(&place, "predict run new.csv"));
    assert_eq!(found.len(), 2);
    assert_eq!(found[1][..2], ["2", "probability"]);
    let number = |k: usize| found[1][k].parse::<f64>().unwrap();
    assert!((number(2) - mean(&probabilities)).abs() < 1e-12);
    let mut sorted = probabilities.clone();
    sorted.sort_by(f64::total_cmp);
    // The 5 % quantile of 1,600 draws lies between two of them.
    assert!(sorted[79] <= number(4) && number(4) <= sorted[80]);
    let predicted = json(&place, "predict run new.csv --kind linear --interval 0.5");
    let s = linear(&fit, &[1.0, 2.0, 3.0]);
    let entry = &predicted["predictions"][1];
    assert!((entry["mean"].as_f64().unwrap() - mean(&s)).abs() < 1e-12);
    assert!(entry["upper"].as_f64().unwrap() > entry["median"].as_f64().unwrap());
    // Every draw, in the order of chains.
    let draws = rows(&done(&place, "predict run new.csv --kind linear --draws"));
    assert_eq!(draws.len(), 2 * s.len());
    assert_eq!(draws[s.len()][..4], ["2", "linear", "0", "0"]);
    assert!((draws[s.len()][4].parse::<f64>().unwrap() - s[0]).abs() < 1e-12);
    assert_eq!(draws[s.len() + 200][2..4], ["1", "0"]);
    // Responses are 0 or 1, the same for the same seed.
    let response = done(&place, "predict run new.csv --kind response --draws --seed 3");
    assert!(rows(&response).iter().all(|row| row[4] == "0" || row[4] == "1"));
    assert_eq!(response, done(&place, "predict run new.csv --kind response --draws --seed 3"));
    assert_ne!(response, done(&place, "predict run new.csv --kind response --draws --seed 4"));
}

#[test]
fn predictions_do_not_depend_on_how_the_file_is_read_and_files_appear_whole() {
    let place = Place::new();
    wells(&place, "run", "--chains 2 --draws 20");
    // Several megabytes, read in several parts.
    let mut text = "dist100,arsenic\n".to_owned();
    let row = |k: u32| format!("{}.{:03},{}.25\n", k % 3, k % 1000, k % 5);
    text.extend((0..150_000).map(row));
    place.file("long.csv", &text);
    place.file("tail.csv", &format!("dist100,arsenic\n{}{}", row(149_998), row(149_999)));
    done(&place, "predict run long.csv --quiet --out long-predicted.csv");
    let found = rows(&fs::read_to_string(place.path("long-predicted.csv")).unwrap());
    assert_eq!(found.len(), 150_000);
    assert_eq!(found[149_999][0], "150000");
    let tail = rows(&done(&place, "predict run tail.csv"));
    assert_eq!(found[149_999][1..], tail[1][1..]);
    // A file that exists is not replaced, and one that cannot be finished does not appear.
    refused(&place, "predict run tail.csv --out long-predicted.csv", "already exists");
    place.file("bad.csv", &format!("{text}oops,1\n"));
    refused(&place, "predict run bad.csv --out never.csv", "line 150002");
    assert!(!place.path("never.csv").exists());
    let left = fs::read_dir(place.path("")).unwrap();
    assert!(
        !left.into_iter().any(|e| e.unwrap().file_name().to_string_lossy().contains("partial"))
    );
}

#[test]
fn what_cannot_be_predicted_is_refused_with_its_place() {
    let place = Place::new();
    let data =
        place.file("d.csv", "y,x,city\n0,1,Oslo\n1,2,Bergen\n0,3,Oslo\n1,1,Bergen\n1,2,Oslo\n");
    place.fit("run", &format!("{data} --response y --draws 50 --quiet"));
    place.file("unseen.csv", "x,city\n1,Oslo\n2,Paris\n");
    refused(
        &place,
        "predict run unseen.csv",
        "unseen.csv, line 3, column `city`: found the level `Paris`",
    );
    place.file("lacks.csv", "x\n1\n");
    refused(&place, "predict run lacks.csv", "no column `city`");
    place.file("missing.csv", "x,city\n1,Oslo\n,Oslo\n");
    refused(&place, "predict run missing.csv", "line 3, column `x`");
    refused(
        &place,
        "predict run unseen.csv --times 3",
        "--times 3: need --kind mean and a survival",
    );
    refused(
        &place,
        "predict run unseen.csv --interval 1.5",
        "--interval 1.5: need a number between",
    );
    refused(&place, "effects run --by z", "--by z: need a predictor of the model: x, city");
    refused(&place, "effects run --by x --at city=Paris", "Paris");
    fs::write(place.path("d.csv"), "y,x,city\n0,1,Oslo\n1,2,Bergen\n").unwrap();
    refused(&place, "loo run", "is not the file that was fitted");
}

#[test]
fn effects_are_average_differences_of_predictions() {
    let place = Place::new();
    let fit = wells(&place, "run", "");
    let found = json(&place, "effects run --by arsenic --at dist100=1");
    let effect = &found["effects"][0];
    assert_eq!(
        (effect["contrast"].as_str(), effect["at"].as_str()),
        (Some("slope"), Some("dist100 = 1"))
    );
    // The slope of a probability is p (1 - p) times the coefficient: averaged here by hand.
    let wells = fs::read_to_string(shipped("wells.csv")).unwrap();
    let arsenic =
        wells.lines().next().unwrap().split(',').position(|name| name == "arsenic").unwrap();
    let values: Vec<f64> = wells
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(arsenic).unwrap().parse().unwrap())
        .collect();
    let draws = fit.draws();
    let points: Vec<f64> = (0..draws.chains()).flat_map(|c| draws.chain(c).to_vec()).collect();
    let slopes: Vec<f64> = points
        .chunks_exact(3)
        .map(|point| {
            let slope = |x: &f64| {
                let p = 1.0 / (1.0 + (-(point[0] + point[1] + point[2] * x)).exp());
                p * (1.0 - p) * point[2]
            };
            values.iter().map(slope).sum::<f64>() / values.len() as f64
        })
        .collect();
    let got = effect["mean"].as_f64().unwrap();
    assert!((got - mean(&slopes)).abs() < 1e-7 * got.abs(), "{got} {}", mean(&slopes));
    done(&place, "effects run --by arsenic --plot plot.svg");
    assert!(fs::read_to_string(place.path("plot.svg")).unwrap().contains("arsenic"));
}

#[test]
fn fits_are_compared_by_what_they_predict() {
    let place = Place::new();
    wells(&place, "both", "");
    let data = shipped("wells.csv");
    place.fit(
        "one",
        &format!("{data} --response switched --predictors dist100 --draws 200 --quiet"),
    );
    let both = json(&place, "loo both");
    assert_eq!(both["pareto_k"].as_array().unwrap().len(), 3020);
    let sum: f64 = both["pointwise"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).sum();
    assert!((sum - both["elpd_loo"].as_f64().unwrap()).abs() < 1e-8);
    let found = json(&place, "compare one both");
    assert_eq!(found["models"][0]["name"], "both");
    assert_eq!(found["models"][0]["elpd_diff"], 0.0);
    assert!(found["models"][1]["elpd_diff"].as_f64().unwrap() < -40.0);
    let text = done(&place, "compare one both");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(done(&place, "loo both").lines().all(|line| line.chars().count() <= 80));
    place.fit(
        "other",
        &format!(
            "{data} --response switched --predictors dist100 --draws 50 --quiet --where arsenic<2"
        ),
    );
    refused(&place, "compare one other", "have different responses");
    refused(&place, "loo one --folds 1", "--folds 1: need 2 to 3020");
}

#[test]
fn an_influential_row_is_refitted() {
    let place = Place::new();
    // A response far from all others.
    let mut text = "y,x\n".to_owned();
    for k in 0..20_u32 {
        let noise = (f64::from(k) * 0.618).fract() - 0.5;
        text.push_str(&format!("{},{}\n", f64::from(k) * 0.1 + 0.2 * noise, k));
    }
    text.push_str("40,45\n");
    let data = place.file("d.csv", &text);
    place.fit("run", &format!("{data} --response y --family gaussian --quiet"));
    let found = json(&place, "loo run");
    assert_eq!(found["refitted"], serde_json::json!([20]));
    assert!(found["unreliable"].as_array().unwrap().is_empty());
    assert!(done(&place, "loo run").contains("line 22 (k = "));
    let without = json(&place, "loo run --refits 0");
    assert_eq!(without["unreliable"], serde_json::json!([20]));
    assert!(without["warnings"][0].as_str().unwrap().contains("not reliable"));
    let folds = json(&place, "loo run --folds 7");
    assert!(folds["p_loo"].is_null() && folds["elpd_loo"].is_f64());
}

#[test]
fn whole_groups_are_left_out() {
    let place = Place::new();
    let mut text = "y,x,g\n".to_owned();
    for k in 0..24_u32 {
        let noise = (f64::from(k) * 0.618).fract() - 0.5;
        let (x, g) = (k % 5, k % 6);
        text.push_str(&format!("{},{x},{}\n", 0.5 * f64::from(x) + f64::from(g) + noise, 10 - g));
    }
    let data = place.file("d.csv", &text);
    let shape = "--family gaussian --factor g --draws 200 --chains 4 --quiet";
    place.fit("mixed", &format!("{data} y~x+(1|g) {shape}"));
    place.fit("plain", &format!("{data} y~x {shape}"));
    let found = json(&place, "loo mixed --groups g");
    let numbers = |value: &Value| -> Vec<f64> {
        value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    };
    let pointwise = numbers(&found["pointwise"]);
    assert_eq!(found["groups"]["levels"], serde_json::json!(["10", "9", "8", "7", "6", "5"]));
    assert_eq!(found["groups"]["rows"], serde_json::json!([4, 4, 4, 4, 4, 4]));
    assert_eq!((&found["n"], &found["method"]), (&6.into(), &"exact".into()));
    assert!(numbers(&found["groups"]["mcse"]).iter().all(|error| *error < 0.2));
    let elpd = found["elpd_loo"].as_f64().unwrap();
    assert!((pointwise.iter().sum::<f64>() - elpd).abs() < 1e-9);
    let spread: f64 = pointwise.iter().map(|value| (value - elpd / 6.0).powi(2)).sum();
    assert!((found["se"].as_f64().unwrap() - (6.0 * spread / 5.0).sqrt()).abs() < 1e-9);
    let shown = done(&place, "loo mixed --groups g");
    assert!(shown.contains("leaving out each of 6 levels of g"), "{shown}");
    let compared = json(&place, "compare plain mixed --groups g --folds 3");
    assert_eq!((&compared["n"], &compared["groups"]), (&6.into(), &"g".into()));
    assert_eq!(compared["models"][0]["name"], "mixed");
    assert!(done(&place, "compare plain mixed").contains("same 24 responses"));
    refused(&place, "loo mixed --groups ward", "need a grouping of the fit (g) or a column of");
    refused(&place, "loo plain --groups ward", "the fit has no groupings");
    refused(&place, "loo mixed --groups g --refits 5", "g with 6 levels: need at most 5 levels");
    refused(&place, "loo mixed --groups g --folds 7", "--folds 7: need 2 to 6");
}

#[test]
fn what_follows_from_a_run_with_warnings_has_a_warning() {
    let place = Place::new();
    let fit = wells(&place, "run", "--draws 10 --chains 2");
    assert!(fit.stdout.contains("low_ess"), "{}", fit.stdout);
    for words in ["predict run", "effects run --by arsenic", "loo run"] {
        let data = if words.starts_with("predict") { shipped("wells.csv") } else { String::new() };
        let output = place.run(&format!("{words} {data} --quiet"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.starts_with("warning: run has warnings (low_ess"), "{words}: {said}");
    }
}

#[test]
fn the_prior_alone_is_sampled_exactly() {
    let place = Place::new();
    let data = shipped("wells.csv");
    let fit = place.fit(
        "prior",
        &format!("{data} --response switched --predictors dist100 --prior-scale 2 --intercept-prior-scale 3 --prior-only --quiet"),
    );
    for (name, sd) in [("dist100", 2.0), ("(Intercept)", 3.0)] {
        let found = fit.summary["parameters"].as_array().unwrap();
        let found = found.iter().find(|p| p["name"] == name).unwrap();
        // 8,000 independent draws: five standard errors.
        assert!(found["mean"].as_f64().unwrap().abs() < 5.0 * sd / 8000.0_f64.sqrt());
        assert!((found["sd"].as_f64().unwrap() / sd - 1.0).abs() < 5.0 / 16000.0_f64.sqrt());
    }
    assert!(fit.stdout.contains("the responses were not used"), "{}", fit.stdout);
    assert!(fit.summary["command"].as_str().unwrap().contains("--prior-only"));
    assert!(done(&place, "resume prior").contains("dist100"));
    refused(&place, "loo prior", "loo of draws of the prior: need a fit without --prior-only");
    let words = format!("fit {data} --response switched --prior flat --prior-only --out flat");
    refused(&place, &words, "--prior-only with a flat prior of `dist100`");
    assert!(!place.path("flat").exists());
}

#[test]
fn an_export_has_every_group() {
    let place = Place::new();
    wells(&place, "run", "--chains 2 --draws 30");
    done(&place, "export run --arviz out.zarr");
    let groups = [
        "posterior/beta",
        "sample_stats/lp",
        "log_likelihood/switched",
        "posterior_predictive/switched",
        "observed_data/switched",
        "constant_data/design",
        "prior/beta",
    ];
    for group in groups {
        assert!(place.path(&format!("out.zarr/{group}/zarr.json")).is_file(), "{group}");
    }
    refused(&place, "export run --arviz out.zarr", "exists");
    refused(&place, "export run --arviz out.nc", "to_netcdf");
    refused(
        &place,
        "export run --arviz other.zarr --groups posteriors",
        "--groups posteriors: need",
    );
    done(&place, "export run --arviz some.zarr --groups observed_data");
    assert!(!place.path("some.zarr/log_likelihood").exists());
}

/// Children with a line of growth each.
fn growth(place: &Place) -> Fit {
    let data = shipped("children.csv");
    let model = "weight~week+sex+(week|child) --family gaussian --draws 200";
    place.fit("run", &format!("{data} {model} --quiet"))
}

#[test]
fn effects_of_groups_are_listed_on_request() {
    let place = Place::new();
    growth(&place);
    let text = done(&place, "summary run");
    assert!(text.contains("sd_child__week") && !text.contains("r_child[Ada,week]"), "{text}");
    assert!(text.contains("40 effects of child, 2 for each of 20 levels"), "{text}");
    assert!(text.contains("`ridgewalk summary run --effects child`"), "{text}");
    for format in ["markdown", "latex", "html"] {
        assert!(!done(&place, &format!("summary run --format {format}")).contains("Ada"));
    }
    // One that programs read has everything.
    assert_eq!(rows(&done(&place, "summary run --format csv")).len(), 7 + 40);
    let whole = json(&place, "summary run");
    assert_eq!(whole["parameters"].as_array().unwrap().len(), 7 + 40);
    assert_eq!(whole["groups"][0]["first"], 7);

    let listed = done(&place, "summary run --effects");
    assert!(listed.contains("r_child[Ada,week]") && !listed.contains("\nsigma "), "{listed}");
    let some = rows(&done(&place, "summary run --effects child --top 3 --format csv"));
    let size = |row: &Vec<String>| {
        let number = |k: usize| row[k].parse::<f64>().unwrap();
        (number(1) / number(2)).abs()
    };
    assert!(some.len() == 3 && size(&some[0]) >= size(&some[2]), "{some:?}");
    let top = rows(&done(&place, "summary run --top 2 --format csv"));
    assert!(top.iter().all(|row| !row[0].starts_with("r_")), "{top:?}");
    refused(&place, "summary run --effects school", "--effects school: need one of `child`");
    refused(&place, "summary run --effects --exp", "cannot be used with");
}

#[test]
fn an_export_has_variables_of_groups_and_new_levels_are_reported() {
    let place = Place::new();
    let fit = growth(&place);
    done(&place, "export run --arviz out.zarr --groups prior");
    for group in ["posterior", "prior"] {
        for (array, shape) in [("sd_child", 1), ("cor_child", 1), ("r_child", 2)] {
            let path = place.path(&format!("out.zarr/{group}/{array}/zarr.json"));
            let text: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
            assert_eq!(text["shape"].as_array().unwrap().len(), 2 + shape, "{array}");
        }
    }
    let bytes = fs::read(place.path("out.zarr/posterior/r_child/c.3.0.0.0")).unwrap();
    let found = bytes.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap()));
    let need: Vec<f64> =
        fit.draws().chain(3).chunks(47).flat_map(|draw| draw[7..].to_vec()).collect();
    assert_eq!(found.take(need.len()).collect::<Vec<f64>>(), need);

    fs::write(place.path("new.csv"), "child,week,sex\nAda,3,girl\nZoe,3,girl\nYan,3,boy\n")
        .unwrap();
    let output = place.run("predict run new.csv");
    let said = String::from_utf8(output.stderr).unwrap().replace("\n  ", " ");
    assert!(
        said.contains("note: 2 rows have levels of `child` that the fit has not seen"),
        "{said}"
    );
    let output = place.run(&format!("predict run {}", shipped("children.csv")));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!said.contains("has not seen"), "{said}");
}
