//! The house: which crate may depend on which, and how long a function may be.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Every crate with all it may depend on: crates of ours without `ridgewalk-`, and others. A crate
/// never knows one above it.
const TABLE: [(&str, &str); 17] = [
    ("coefficients", "thiserror"),
    ("quadrature", "thiserror"),
    ("diagnostics", "rayon rustfft serde statrs thiserror"),
    (
        "lyapunov",
        "coefficients quadrature faer num-bigint num-integer num-rational num-traits thiserror",
    ),
    ("potentials", "quadrature bytemuck faer libm pulp rand rand_chacha rayon thiserror"),
    (
        "sampler",
        "coefficients quadrature lyapunov potentials diagnostics rand_chacha rand_distr rayon serde \
         sha2 thiserror",
    ),
    ("frame", "bytes parquet rayon serde sha2 thiserror"),
    (
        "fit",
        "lyapunov potentials sampler diagnostics frame faer libm rand_chacha rand_distr rayon serde serde_json \
         sha2 statrs thiserror toml",
    ),
    ("store", "fit sampler csv serde serde_json sha2 thiserror"),
    ("report", "fit store rayon"),
    (
        "ridgewalk",
        "coefficients quadrature lyapunov potentials sampler diagnostics frame fit store report \
         serde thiserror",
    ),
    (
        "cli",
        "ridgewalk clap comfy-table ctrlc indicatif plotters serde serde_json terminal_size \
         thiserror unicode-width",
    ),
    ("mpi", "ridgewalk cli clap mpi serde_json"),
    ("python", "ridgewalk arrow-array arrow-schema numpy pyo3 serde serde_json"),
    ("wasm", "ridgewalk"),
    ("figures", ""),
    ("gallery", "potentials rand_chacha rand_distr serde serde_json"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The crates that each crate depends on, by their names in [`TABLE`].
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let of = |path: PathBuf| {
        let text = fs::read_to_string(path.join("Cargo.toml")).unwrap();
        let manifest: toml::Table = text.parse().unwrap();
        let names = manifest.get("dependencies").and_then(toml::Value::as_table);
        let names = names.into_iter().flat_map(toml::Table::keys);
        let short = |name: &String| name.strip_prefix("ridgewalk-").unwrap_or(name).to_owned();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, names.map(short).collect())
    };
    crates.map(of).collect()
}

/// Dependencies that the table does not allow.
fn beyond(table: &[(&str, &str)], found: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, dependencies) in found {
        let allowed = table.iter().find(|(other, _)| other == name);
        let Some((_, allowed)) = allowed else {
            wrong.push(format!("{name} is not in the table"));
            continue;
        };
        let allowed: BTreeSet<&str> = allowed.split_whitespace().collect();
        let more = dependencies.iter().filter(|other| !allowed.contains(other.as_str()));
        wrong.extend(more.map(|other| format!("{name} depends on {other}")));
    }
    wrong
}

#[test]
fn no_crate_knows_one_above_it() {
    let found = dependencies();
    assert!(found.len() >= 15, "{found:?}");
    assert_eq!(beyond(&TABLE, &found), Vec::<String>::new());
    // The table allows nothing that is not needed.
    for (name, allowed) in TABLE {
        let unused = allowed.split_whitespace().find(|other| !found[name].contains(*other));
        assert_eq!(unused, None, "{name} does not need it");
    }
    // The table itself has no way back up.
    for (at, (name, allowed)) in TABLE.iter().enumerate() {
        let above: Vec<&str> = TABLE[at + 1..].iter().map(|(name, _)| *name).collect();
        for other in allowed.split_whitespace() {
            assert!(!above.contains(&other), "{name} may not be allowed {other}");
        }
    }
    // A dependency in the wrong direction, and one on a terminal, are noticed.
    let mut planted = found;
    planted.get_mut("frame").unwrap().insert("sampler".to_owned());
    planted.get_mut("fit").unwrap().insert("clap".to_owned());
    assert_eq!(beyond(&TABLE, &planted), ["fit depends on clap", "frame depends on sampler"]);
}

/// The functions of a source file with more lines than `most`, by name and length.
fn long_functions(text: &str, most: usize) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let indent = &line[..line.len() - line.trim_start().len()];
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(fun) = words.iter().position(|word| *word == "fn") else { continue };
        let before =
            ["pub", "pub(crate)", "pub(super)", "const", "unsafe", "async", "extern", "\"C\""];
        if !words[..fun].iter().all(|word| before.contains(word)) {
            continue;
        }
        // The declaration of a trait has no body.
        let declared = lines[at..].iter().find(|line| line.ends_with([';', '{', '}']));
        if declared.is_some_and(|line| line.ends_with(';')) {
            continue;
        }
        let end = format!("{indent}}}");
        let length = lines[at..].iter().position(|line| *line == end).map_or(0, |last| last + 1);
        if length > most {
            let name = words.get(fun + 1).map_or("", |name| name.split('(').next().unwrap());
            found.push((name.to_owned(), length));
        }
    }
    found
}

fn sources(directory: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            into.push(path);
        }
    }
}

#[test]
fn no_function_is_longer_than_80_lines() {
    let mut files = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let source = entry.unwrap().path().join("src");
        if source.is_dir() {
            sources(&source, &mut files);
        }
    }
    sources(&root().join("benches/src"), &mut files);
    assert!(files.len() > 200);
    let long: Vec<String> = files
        .iter()
        .flat_map(|path| {
            let text = fs::read_to_string(path).unwrap();
            let name = path.strip_prefix(root()).unwrap().display().to_string();
            long_functions(&text, 80)
                .into_iter()
                .map(move |(f, n)| format!("{name}: {f}, {n} lines"))
        })
        .collect();
    assert!(long.is_empty(), "{long:#?}");
    // One that is too long is noticed.
    let planted =
        format!("impl X {{\n    pub fn f() {{\n{}    }}\n}}\n", "        x();\n".repeat(80));
    assert_eq!(long_functions(&planted, 80), [("f".to_owned(), 82)]);
}
