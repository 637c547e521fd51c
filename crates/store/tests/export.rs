//! Exports: shapes, the bytes of chunks, what is refused, and that a store appears complete or not
//! at all.

use std::fs;
use std::path::Path;

use ridgewalk_store::{Error, Export, StoredDraws, ValueKind, read_draws};
use serde_json::json;

use crate::made_up::*;

fn floats(path: &Path) -> Vec<f64> {
    let bytes = fs::read(path).unwrap();
    bytes.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
}

fn integers(path: &Path) -> Vec<i64> {
    let bytes = fs::read(path).unwrap();
    bytes.chunks(8).map(|b| i64::from_le_bytes(b.try_into().unwrap())).collect()
}

/// A number that tells chain, draw and row.
fn of(chain: usize, draw: usize, row: usize) -> f64 {
    (chain * 100_000_000 + draw * 10_000 + row) as f64
}

#[test]
fn blocks_of_rows_fill_chunks_and_the_last_is_padded() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a/export.zarr");
    // 1,048,576 / 3,000 = 349 rows to a chunk: three blocks, the last of 2 rows.
    let (chains, draws, rows) = (2, 1500, 700);
    let mut export = Export::create(&path).unwrap();
    let mut group = export.group("log_likelihood").unwrap();
    group.counted("chain", chains).unwrap().counted("draw", draws).unwrap();
    group.counted("obs", rows).unwrap();
    let dims = ["chain", "draw", "obs"];
    let mut likelihood = group.stream("y", &dims, "obs", ValueKind::Float, "words").unwrap();
    let mut group = export.group("posterior_predictive").unwrap();
    group.counted("chain", chains).unwrap().counted("draw", draws).unwrap();
    group.counted("obs", rows).unwrap();
    let mut predicted = group.stream("y", &dims, "obs", ValueKind::Integer, "").unwrap();
    let mut blocks = Vec::new();
    while let Some(rows) = likelihood.next_block() {
        assert_eq!(predicted.next_block(), Some(rows.clone()));
        let (mut block, mut counts) = (Vec::new(), Vec::new());
        for (chain, draw) in (0..chains).flat_map(|c| (0..draws).map(move |d| (c, d))) {
            block.extend(rows.clone().map(|row| of(chain, draw, row)));
            counts.extend(rows.clone().map(|row| (chain + draw + row) as i64));
        }
        likelihood.write(&block).unwrap();
        predicted.write(&counts).unwrap();
        blocks.push(rows);
    }
    assert_eq!(blocks, [0..349, 349..698, 698..700]);
    assert!(likelihood.write(&vec![0.0; 6000]).is_err(), "no block is left");
    assert!(!path.exists(), "before it is finished");
    export.finish().unwrap();
    assert_eq!(fs::read_dir(place.path().join("a")).unwrap().count(), 1, "nothing else is left");

    let root = json(&path.join("zarr.json"));
    let all = root["consolidated_metadata"]["metadata"].as_object().unwrap();
    for (node, document) in all {
        assert_eq!(*document, json(&path.join(node).join("zarr.json")), "{node}");
    }
    let y = &all["log_likelihood/y"];
    assert_eq!(y["shape"], json!([chains, draws, rows]));
    assert_eq!(y["chunk_grid"]["configuration"]["chunk_shape"], json!([chains, draws, 349]));
    assert_eq!(y["dimension_names"], json!(dims));
    assert_eq!(y["attributes"]["description"], "words");
    assert_eq!(all["posterior_predictive/y"]["data_type"], "int64");
    assert_eq!(all["posterior_predictive/y"]["attributes"], json!({}));
    for (number, rows) in blocks.iter().enumerate() {
        let chunk = format!("y/c.0.0.{number}");
        let likelihood = floats(&path.join("log_likelihood").join(&chunk));
        let predicted = integers(&path.join("posterior_predictive").join(&chunk));
        assert_eq!((likelihood.len(), predicted.len()), (chains * draws * 349, 349 * 3000));
        for (at, (x, k)) in likelihood.iter().zip(predicted).enumerate() {
            let (chain, draw, row) = (at / 349 / draws, at / 349 % draws, rows.start + at % 349);
            if row < rows.end {
                assert_eq!((*x, k), (of(chain, draw, row), (chain + draw + row) as i64));
            } else {
                assert!(x.is_nan() && k == 0, "beyond the shape");
            }
        }
    }
    assert_eq!(integers(&path.join("log_likelihood/obs/c.0")), (0..700).collect::<Vec<_>>());
}

#[test]
fn arrays_of_every_type_and_blocks_of_any_dimension() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("export.zarr");
    let mut export = Export::create(&path).unwrap();
    let mut group = export.group("constant_data").unwrap();
    let labels = ["a", "größe", ""].map(str::to_owned);
    group.coordinate("coef", &labels[..]).unwrap().counted("obs", 400_000).unwrap();
    let mut design = group.stream("design", &["obs", "coef"], "obs", ValueKind::Float, "").unwrap();
    while let Some(rows) = design.next_block() {
        let block: Vec<f64> = rows.flat_map(|row| [0, 1, 2].map(|k| of(0, row, k))).collect();
        design.write(&block).unwrap();
    }
    let mut empty = export.group("observed_data").unwrap();
    empty.counted("obs", 0).unwrap().counted("two", 2).unwrap();
    empty.array("y", &["obs"], &Vec::<f64>::new(), "").unwrap();
    let none = empty.stream("z", &["two", "obs"], "two", ValueKind::Float, "").unwrap();
    assert_eq!(none.next_block(), None);
    empty.array("flags", &["two"], &vec![true, false], "").unwrap();
    empty.array("single", &[], &vec![2.5], "").unwrap();
    export.finish().unwrap();
    let chunk = floats(&path.join("constant_data/design/c.1.0"));
    let rows = (1 << 20) / 3;
    assert_eq!(chunk.len(), rows * 3);
    assert_eq!(chunk[..3], [of(0, rows, 0), of(0, rows, 1), of(0, rows, 2)]);
    assert!(chunk[(400_000 - rows) * 3 - 1].is_finite() && chunk[(400_000 - rows) * 3].is_nan());
    let names = fs::read(path.join("constant_data/coef/c.0")).unwrap();
    assert_eq!(names[..9], [3, 0, 0, 0, 1, 0, 0, 0, b'a']);
    assert_eq!(fs::read(path.join("observed_data/flags/c.0")).unwrap(), [1, 0]);
    assert_eq!(floats(&path.join("observed_data/single/c")), [2.5]);
    assert!(!path.join("observed_data/y/c.0").exists());
}

#[test]
fn draws_are_copied_with_their_statistics() {
    let place = tempfile::tempdir().unwrap();
    for (with, made) in [(true, [1005, 1005]), (false, [1005, 1005]), (true, [2100, 7])] {
        let run = place.path().join(format!("{with}-{}.zarr", made[1]));
        let path = place.path().join(format!("{with}-{}-export.zarr", made[1]));
        if with {
            store_with_stats(&run, &made, 2)
        } else {
            store(&run, &made, 2)
        }
        let mut export = Export::create(&path).unwrap();
        export.draws(&run).unwrap();
        assert!(export.draws(&run).is_err(), "twice");
        let mut group = export.group("posterior").unwrap();
        assert!(group.array("beta", &["coef"], &vec![1.0, 2.0], "").is_err(), "there already");
        group.array("scale", &["coef"], &vec![1.0, 2.0], "").unwrap();
        export.finish().unwrap();
        assert_eq!(read_draws(&path).unwrap(), read_draws(&run).unwrap());
        let stats = |path| StoredDraws::open(path).unwrap().statistics().unwrap();
        assert_eq!(stats(&path), stats(&run));
        assert_eq!(stats(&path).is_some(), with);
        let [old, new] = [&run, &path].map(|path| json(&path.join("zarr.json")));
        assert_eq!(old["attributes"], new["attributes"]);
        if made[0] == made[1] {
            let left = |(name, _): &(String, Vec<u8>)| {
                name != "zarr.json" && !name.starts_with("posterior/scale")
            };
            let [old, new] = [&run, &path].map(|path| files(path).into_iter().filter(left));
            assert!(old.eq(new), "byte for byte");
        } else {
            assert!(!path.join("posterior/beta/c.0.1.0").exists(), "beyond the shape");
        }
    }
}

#[test]
fn what_cannot_be_written_is_refused_and_nothing_is_left() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("new/export.zarr");
    let left = || fs::read_dir(place.path()).unwrap().count();
    let mut export = Export::create(&path).unwrap();
    let need = |error: Error, words: &str| {
        assert!(error.to_string().contains(words), "{error}, need {words}");
    };
    for name in ["", ".", "..", "../a", "a/b", "a\\b", "__a", "zarr.json", "a\n", &"a".repeat(201)]
    {
        need(export.group(name).unwrap_err(), "the name ");
    }
    let mut group = export.group("observed_data").unwrap();
    group.counted("obs", 3).unwrap();
    need(group.counted("obs", 3).unwrap_err(), "it exists");
    need(group.counted("Obs", 3).unwrap_err(), "it exists");
    need(group.array("y", &["row"], &vec![1.0], "").unwrap_err(), "the coordinate row first");
    need(group.array("y", &["obs"], &vec![1.0], "").unwrap_err(), "1 values for the shape [3]");
    need(group.array("../y", &["obs"], &vec![1.0; 3], "").unwrap_err(), "the name \"../y\"");
    let stream = group.stream("y", &["obs"], "row", ValueKind::Float, "");
    need(stream.unwrap_err(), "row among them");
    let mut stream = group.stream("y", &["obs"], "obs", ValueKind::Float, "").unwrap();
    need(stream.write(&vec![1_i64, 2, 3]).unwrap_err(), "3 values of type int64");
    need(stream.write(&vec![1.0; 2]).unwrap_err(), "need 3 of type float64");
    assert_eq!(left(), 1, "the directory in which it is written");
    need(export.finish().unwrap_err(), "0 of 1 blocks are written");
    assert_eq!(left(), 0);
    // Neither a file nor a directory is replaced, not even one that was made meanwhile.
    fs::write(place.path().join("file"), "").unwrap();
    need(Export::create(&place.path().join("file")).unwrap_err(), "choose another name");
    let export = Export::create(&path).unwrap();
    fs::create_dir(&path).unwrap();
    need(export.finish().unwrap_err(), "already exists");
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn columns_that_are_arrays_of_their_own_have_the_same_bytes() {
    let place = tempfile::tempdir().unwrap();
    let (store, path) = (place.path().join("draws.zarr"), place.path().join("export.zarr"));
    let d = 9;
    store_with_stats(&store, &[7, 7], d);
    let labels = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let array = |name: &str, dims: Vec<(String, Vec<String>)>, columns| {
        let (name, description) = (name.to_owned(), String::new());
        let text = serde_json::json!({"name": name, "description": description, "dims": dims, "columns": columns});
        serde_json::from_value::<ridgewalk_fit::DrawsArray>(text).unwrap()
    };
    let (coefficient, level) = ("g__coefficient".to_owned(), "g__level".to_owned());
    let own = || (coefficient.clone(), labels(&["(Intercept)", "x"]));
    let apart = [
        array("sd_g", vec![own()], 2..4),
        array("cor_g", Vec::new(), 4..5),
        array("r_g", vec![(level, labels(&["a", "b"])), own()], 5..9),
    ];
    let mut export = Export::create(&path).unwrap();
    export.draws_apart(&store, &apart).unwrap();
    export.finish().unwrap();
    let shape =
        |name: &str| json(&path.join(format!("posterior/{name}/zarr.json")))["shape"].clone();
    assert_eq!(shape("beta"), json!([2, 7, 2]));
    assert_eq!(shape("cor_g"), json!([2, 7]));
    assert_eq!(shape("r_g"), json!([2, 7, 2, 2]));
    for chain in 0..2 {
        for (array, columns, zeros) in
            [("beta", 0..2, ".0"), ("sd_g", 2..4, ".0"), ("cor_g", 4..5, ""), ("r_g", 5..9, ".0.0")]
        {
            let found = floats(&path.join(format!("posterior/{array}/c.{chain}.0{zeros}")));
            let need = (0..7).flat_map(|draw| point(chain, draw, d)[columns.clone()].to_vec());
            let need: Vec<f64> = need.collect();
            assert_eq!(found[..need.len()], need, "{array}");
        }
    }
    // They must be the last columns.
    for columns in [2..8, 2..10] {
        let mut export = Export::create(&place.path().join("other.zarr")).unwrap();
        let refused = export.draws_apart(&store, &[array("sd_g", Vec::new(), columns)]);
        assert!(matches!(refused, Err(Error::Export { .. })), "{refused:?}");
    }
}
