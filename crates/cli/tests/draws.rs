//! The draws of a seed, to the last bit: fits of every family, kernel and option, and runs that
//! were killed and resumed, against SHA-256 sums in `tests/data/draws.csv`.
//!
//! `beta` is the sum of the draws alone. A change of it is a change of users' draws: it needs a line
//! in CHANGELOG.md. `store` is the sum of the whole store, which changes with its layout too.
//! `RIDGEWALK_WRITE_DRAWS=1` rewrites the file. `scripts/checks/mpi` reads the
//! last row.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::fits::{Place, files, shipped};
use sha2::{Digest, Sha256};

/// SHA-256 of the listing that `find . -type f | LC_ALL=C sort | xargs sha256sum` prints in the
/// store, of the files whose names begin with `prefix`.
fn digest(store: &Path, prefix: &str) -> String {
    let hex = |bytes: &[u8]| {
        Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    };
    let files = files(store).into_iter().filter(|(name, _)| name.starts_with(prefix));
    let list = files.fold(String::new(), |mut list, (name, bytes)| {
        let _ = writeln!(list, "{}  ./{name}", hex(&bytes));
        list
    });
    hex(list.as_bytes())
}

/// One row of the file.
struct Row {
    name: String,
    arguments: String,
    beta: String,
    store: String,
}

fn path() -> String {
    shipped("draws.csv")
}

fn rows() -> Vec<Row> {
    let mut reader = csv::Reader::from_path(path()).unwrap();
    let row = |record: csv::StringRecord| {
        let [name, arguments, beta, store] = [0, 1, 2, 3].map(|k| record[k].to_owned());
        Row { name, arguments, beta, store }
    };
    reader.records().map(|record| row(record.unwrap())).collect()
}

/// Whether the machine has vector instructions with fused multiply-add, whose rounding the sums
/// assume.
fn fused() -> bool {
    #[cfg(target_arch = "x86_64")]
    let fused = std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    let fused = false;
    fused && cfg!(target_os = "linux")
}

/// The arguments, with the paths of data files.
fn here(place: &Place, arguments: &str) -> String {
    let priors = "[\"(Intercept)\"]\nscale = inf\n[dose]\nmean = 0.5\nscale = 1.5\n";
    place.file("priors.toml", priors);
    let missing =
        fs::read_to_string(shipped("mixed.csv")).unwrap().replacen("1.8,-1.14", "NA,-1.14", 1);
    place.file("missing.csv", &missing);
    ["mixed.csv", "wells.csv"]
        .iter()
        .fold(arguments.to_owned(), |text, file| text.replace(file, &shipped(file)))
}

/// Runs a fit, kills it once its store exists, and resumes it.
fn interrupted(place: &Place, name: &str, arguments: &str) {
    let mut command = place.command(&format!("fit {arguments} --out {name}"));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (store, began) =
        (place.path(name).join("draws.zarr/posterior/beta/c.0.0.0"), Instant::now());
    while !store.exists() && began.elapsed() < Duration::from_secs(300) {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        place.path(name).join("checkpoint").exists(),
        "{name}: ended before it could be killed"
    );
    let resumed = place.run(&format!("resume {name} --quiet"));
    assert!(resumed.status.success(), "{name}: {}", String::from_utf8_lossy(&resumed.stderr));
}

#[test]
fn the_draws_of_fits_and_resumes_do_not_change() {
    if !fused() {
        println!("not compared: the sums are those of x86-64 with AVX2 and FMA on Linux");
        return;
    }
    let place = Place::new();
    let (mut found, mut changed) = (String::from("name,arguments,beta,store\n"), Vec::new());
    for Row { name, arguments, beta, store } in rows() {
        let words = here(&place, &arguments);
        let now = if name.starts_with("mpi") {
            (beta.clone(), store.clone())
        } else {
            if name.starts_with("resume") {
                interrupted(&place, &name, &words);
            } else {
                place.fit(&name, &format!("{words} --quiet"));
            }
            let path = place.path(&name).join("draws.zarr");
            (digest(&path, "posterior/beta/c."), digest(&path, ""))
        };
        let _ = writeln!(found, "{name},\"{arguments}\",{},{}", now.0, now.1);
        if now.0 != beta {
            changed.push(format!("{name} (draws)"));
        } else if now.1 != store {
            changed.push(format!("{name} (layout alone)"));
        }
    }
    // A run that was killed and resumed has the draws of one that was not.
    let sum = |name: &str| {
        found.lines().find(|line| line.starts_with(name)).map(|l| l[l.len() - 129..].to_owned())
    };
    assert_eq!(sum("sigma,"), sum("resume-sigma,"));
    assert_eq!(sum("groups,"), sum("resume-groups,"));
    if std::env::var_os("RIDGEWALK_WRITE_DRAWS").is_some() {
        fs::write(path(), found).unwrap();
    } else {
        assert!(changed.is_empty(), "other draws in {changed:?}:\n{found}");
    }
}
