//! Reading the references in `tests/data`.

use std::path::PathBuf;

use ridgewalk_frame::Table;
use ridgewalk_sampler::Draws;
use serde::de::DeserializeOwned;

/// A file in `tests/data`.
pub(crate) fn data(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)
}

/// A JSON file in `tests/data`.
pub(crate) fn read<T: DeserializeOwned>(file: &str) -> T {
    serde_json::from_str(&std::fs::read_to_string(data(file)).unwrap()).unwrap()
}

/// A data set.
pub(crate) fn table(file: &str) -> Table {
    Table::read(data("families").join(file)).unwrap()
}

/// Draws in a CSV file with a line of names, those of one chain after another.
pub(crate) fn draws(file: &str, chains: usize) -> Draws {
    let text = std::fs::read_to_string(data(file)).unwrap();
    let mut lines = text.lines();
    let names: Vec<String> = lines.next().unwrap().split(',').map(str::to_owned).collect();
    let numbers: Vec<f64> =
        lines.flat_map(|line| line.split(',').map(|x| x.parse::<f64>().unwrap())).collect();
    let each = numbers.len() / chains;
    Draws::from_chains(names, numbers.chunks_exact(each).map(<[f64]>::to_vec).collect()).unwrap()
}
