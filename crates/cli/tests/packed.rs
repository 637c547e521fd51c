//! Packed data: fitted like their source, and read from the disk where they do not fit into memory.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use ridgewalk::frame::{Column, PackWriter, Table};

use crate::common::fits::{Place, files, shipped};

/// Data that take about 140 MiB in memory, and 130 MiB with the design on the disk.
const ROWS: usize = 300_000;
const LITTLE: &str = "134MiB";

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A 0/1 response, four predictors and a text with two levels.
fn large(path: &Path, salt: usize) {
    let number = |row: usize, k: usize| {
        let mut z = (row * 31 + k + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((z ^ (z >> 32)) % 2001) as f64 / 1000.0 - 1.0
    };
    let mut columns: Vec<Column> = (1..5)
        .map(|k| {
            let values: Vec<f64> = (0..ROWS).map(|row| number(row, k)).collect();
            Column::from_numbers(&format!("x{k}"), &values)
        })
        .collect();
    let y: Vec<f64> = (0..ROWS)
        .map(|row| {
            let s = 0.4 * number(row, 1) - 0.3 * number(row, 2);
            f64::from(u8::from(0.5 * (number(row, 9) + 1.0) < 1.0 / (1.0 + f64::exp(-s))))
        })
        .collect();
    columns.push(Column::from_numbers("y", &y));
    let city: Vec<&str> = (0..ROWS).map(|row| ["Oslo", "Moss"][row * 7 % 11 % 2]).collect();
    columns.push(Column::from_texts("city", &city));
    let mut writer = PackWriter::create(path).unwrap();
    writer.push(&Table::from_columns("large", columns).unwrap()).unwrap();
    writer.finish().unwrap();
}

/// Begins a run and waits until it has made a file.
fn begun(place: &Place, words: &str, file: &Path) -> Child {
    let mut command = place.command(words);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let since = Instant::now();
    while !file.exists() {
        assert!(since.elapsed() < Duration::from_secs(300), "{words}");
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

fn killed(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn packed_data_are_fitted_and_used_like_their_source() {
    let place = Place::new();
    let source = shipped("mixed.csv");
    let output = place.run(&format!("pack {source} d.pack"));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let model = "--response ill --predictors dose,age --draws 100 --chains 2 --csv";
    let [a, b] = [("a", source.as_str()), ("b", "d.pack")]
        .map(|(out, data)| place.fit(out, &format!("{data} {model}")));
    let csv = |name: &str| fs::read(place.path(name).join("draws.csv")).unwrap();
    assert!(csv("a") == csv("b"));
    assert_eq!(a.names(), b.names());
    let same = |words: &str| {
        let output = place.run(words);
        assert_eq!(output.status.code(), Some(0), "{words}: {}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let columns = |text: String| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(columns(same(&format!("describe {source}"))), columns(same("describe d.pack")));
    for words in ["effects {} --by dose --json", "loo {}"] {
        assert_eq!(same(&words.replace("{}", "a")), same(&words.replace("{}", "b")), "{words}");
    }
    let rows = |words: &str| same(words).lines().count();
    assert_eq!(rows(&format!("predict a {source}")), rows("predict b d.pack"));
    // The file is not overwritten.
    let before = fs::read(place.path("d.pack")).unwrap();
    let output = place.run(&format!("pack {source} d.pack"));
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("d.pack: found a file of this name"), "{}", stderr(&output));
    assert!(fs::read(place.path("d.pack")).unwrap() == before);
    let json = same(&format!("pack {source} e.pack --json"));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["bytes"].as_u64(), Some(before.len() as u64));
}

/// In memory, and read from the disk on one, two and three threads; killed and resumed.
#[test]
fn draws_of_data_on_the_disk_are_those_of_data_in_memory() {
    same_from_the_disk("--kernel adjusted --draws 20", "adjusted", &[1, 2, 3]);
}

/// The same of the kernel that is chosen for so many rows.
#[test]
fn draws_by_a_few_rows_on_the_disk_are_those_by_rows_in_memory() {
    same_from_the_disk("--draws 500", "subsampled", &[2]);
}

fn same_from_the_disk(options: &str, kernel: &str, threads: &[usize]) {
    let place = Place::new();
    large(&place.path("d.pack"), 0);
    let model = &format!("d.pack --response y {options} --chains 3 --csv");
    let whole = place.fit("whole", model);
    assert_eq!(whole.summary["sampler"]["kernel"], kernel);
    assert!(!whole.stderr.contains("on the disk"), "{}", whole.stderr);
    let csv = |name: &str| fs::read(place.path(name).join("draws.csv")).unwrap();
    let need = csv("whole");
    for threads in threads {
        let out = format!("disk-{threads}");
        let fit = place.fit(&out, &format!("{model} --memory {LITTLE} --threads {threads}"));
        assert!(fit.stderr.contains("of 134MiB; the design is on the disk"), "{}", fit.stderr);
        assert!(csv(&out) == need, "{threads} threads");
        assert_eq!(fit.notes(), whole.notes());
        assert_eq!(fit.modes(), whole.modes());
        assert_eq!(fit.summary["problem"], whole.summary["problem"]);
    }
    // Killed while it samples: resumed with other threads, or in memory.
    for (out, more) in [("killed", "--threads 1"), ("moved", "--memory 4GiB")] {
        let words = format!("fit {model} --memory {LITTLE} --out {out}");
        killed(begun(&place, &words, &place.path(out).join("draws.zarr")));
        let left = fs::read_dir(place.path(".")).unwrap();
        let mut left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert!(!left.any(|name| name.ends_with(".rows")), "a temporary file is left behind");
        let output = place.run(&format!("resume {out} {more}"));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(csv(out) == need, "{out}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_what_it_needs() {
    let place = Place::new();
    large(&place.path("d.pack"), 0);
    let refused = |words: &str, parts: &[&str]| {
        let output = place.run(&format!("{words} --out none"));
        assert_eq!(output.status.code(), Some(2), "{words}: {}", stderr(&output));
        for part in parts {
            assert!(stderr(&output).contains(part), "{words}: {}", stderr(&output));
        }
        assert!(!place.path("none").exists(), "{words}");
    };
    let there = "and there is 80MiB for it; pass a larger --memory";
    refused("fit d.pack --response y --memory 80MiB", &["MiB of memory for the responses", there]);
    refused(
        "fit d.pack y~x1+(1|city) --memory 100MiB",
        &["for `(1 | city)`, with all rows in memory", "there is 100MiB"],
    );
    let text: String = (0..200_000).map(|row| format!("{},{}\n", row % 2, row % 7)).collect();
    place.file("d.csv", &format!("y,x\n{text}"));
    refused("fit d.csv --response y --memory 70MiB", &["`ridgewalk pack d.csv OUT` and fit OUT"]);
    let output = place.run("fit d.csv --response y --memory lots");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("need a number of bytes such as 1GiB"), "{}", stderr(&output));
}

/// Data that are not those of the run are refused, whatever part of them differs.
#[test]
fn changed_data_are_refused_by_resume() {
    let place = Place::new();
    large(&place.path("d.pack"), 0);
    let words = format!(
        "fit d.pack --response y --kernel adjusted --draws 4000 --chains 2 --memory {LITTLE} --out run"
    );
    killed(begun(&place, &words, &place.path("run").join("checkpoint")));
    let whole = fs::read(place.path("d.pack")).unwrap();
    fs::remove_file(place.path("d.pack")).unwrap();
    large(&place.path("d.pack"), 1);
    let output = place.run("resume run");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("SHA-256"), "{}", stderr(&output));
    // One flipped bit in the values.
    let mut flipped = whole;
    flipped[5_000_000] ^= 4;
    fs::write(place.path("d.pack"), &flipped).unwrap();
    let output = place.run("resume run");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("the file is damaged"), "{}", stderr(&output));
}

/// A disk that is full: `ulimit -f` stands in for it.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_nothing_of_a_packed_file() {
    let place = Place::new();
    let text: String = (0..100_000).map(|row| format!("{},{}\n", row % 2, row)).collect();
    place.file("d.csv", &format!("y,x\n{text}"));
    large(&place.path("large.pack"), 0);
    let program = env!("CARGO_BIN_EXE_ridgewalk");
    let limited = |words: &str| {
        let script = format!("trap '' XFSZ; ulimit -f 1000; exec {program} {words}");
        let directory = place.path(".");
        Command::new("sh").args(["-c", &script]).current_dir(directory).output().unwrap()
    };
    let output = limited("pack d.csv d.pack");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot write d.pack: File too large"), "{}", stderr(&output));
    // The file of a design, too.
    let output = limited(&format!("fit large.pack --response y --memory {LITTLE} --out run"));
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("a temporary file in "), "{}", stderr(&output));
    let names = fs::read_dir(place.path(".")).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["d.csv", "large.pack"]);
    let output = place.run("pack d.csv d.pack");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// Everything after a fit: read block by block, and as in memory to the last digit that is printed.
#[test]
fn what_comes_after_a_fit_on_the_disk_is_as_in_memory() {
    let place = Place::new();
    large(&place.path("d.pack"), 0);
    let fit = |out: &str, formula: &str| {
        let model = format!("d.pack {formula} --where x4>-0.9 --draws 10 --chains 2");
        place.fit(out, &format!("{model} --memory {LITTLE}"))
    };
    let run = fit("run", "y~x1+x2+x3+x4+city");
    assert!(run.stderr.contains("the design is on the disk"), "{}", run.stderr);
    fit("other", "y~x2");
    let done = |words: &str| {
        let output = place.run(words);
        assert_eq!(output.status.code(), Some(0), "{words}: {}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    // The bound of the run holds unless there is another.
    let both = |words: &str| [done(words), done(&format!("{words} --memory 4GiB"))];
    for words in ["loo run --refits 0 --json", "compare run other --refits 0"] {
        let [disk, memory] = both(words);
        assert!(disk == memory, "{words}: {disk} and {memory}");
    }
    // Sums over rows, in blocks of other rows: within rounding.
    for by in ["x1", "city"] {
        let numbers = both(&format!("effects run --by {by} --json")).map(|text| {
            let document: serde_json::Value = serde_json::from_str(&text).unwrap();
            let effect = document["effects"][0].clone();
            ["mean", "sd", "lower", "upper"].map(|key| effect[key].as_f64().unwrap())
        });
        for (a, b) in numbers[0].iter().zip(&numbers[1]) {
            assert!((a - b).abs() <= 1e-9 * a.abs(), "{by}: {a} for {b}");
        }
    }
    let groups = "--groups observed_data,constant_data,posterior_predictive,prior";
    done(&format!("export run --arviz a.zarr {groups}"));
    done(&format!("export run --arviz b.zarr {groups} --memory 4GiB"));
    assert!(files(&place.path("a.zarr")) == files(&place.path("b.zarr")));
    // New rows are packed, too.
    let rows = done("predict run d.pack --kind linear").lines().count();
    assert_eq!(rows, ROWS + 1);
    // Memory for importance sampling, but not for refits.
    let said = done("loo run --json");
    assert!(said.contains("were not refitted") && said.contains("fits without some"), "{said}");
    let output = place.run("loo run --folds 2");
    let said = stderr(&output);
    assert!(said.contains("fits without some of the rows") && said.contains("--folds"), "{said}");
    // A bound that is too small: what is needed, before anything is computed.
    for words in ["loo run", "effects run --by x1", "predict run d.pack", "export run --arviz c"] {
        let output = place.run(&format!("{words} --memory 60MiB"));
        assert_eq!(output.status.code(), Some(2), "{words}: {}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains("MiB of memory for") && said.contains("pass a larger"), "{said}");
    }
    assert!(!place.path("c").exists());
}
