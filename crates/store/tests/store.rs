//! The files of a run, from synthetic draws: the store byte for byte, reading it back, and the keys
//! of the summary.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use ridgewalk_fit::{Text, WarningEntry};
use ridgewalk_sampler::Sink;
use ridgewalk_store::{
    CsvDraws, Error, RunDirectory, StoredDraws, ZarrDraws, read_draws, read_every_draw,
    read_summary, replay, write_atomically, write_summary,
};
use serde_json::Value;

use crate::made_up::*;

#[test]
fn a_store_has_the_bytes_and_the_metadata_of_the_format() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("draws.zarr");
    store(&path, &[1005, 1005], 2);
    let root = json(&path.join("zarr.json"));
    assert_eq!(root["attributes"]["inference_library"], "ridgewalk");
    assert_eq!(root["attributes"]["incomplete"], 0);
    assert_eq!(root["attributes"]["truncated"], 0);
    let all = root["consolidated_metadata"]["metadata"].as_object().unwrap();
    assert_eq!(all.len(), 10);
    for (node, document) in all {
        assert_eq!(*document, json(&path.join(node).join("zarr.json")), "{node}");
        assert_eq!(document["zarr_format"], 3);
    }
    let beta = &all["posterior/beta"];
    assert_eq!(beta["shape"], serde_json::json!([2, 1005, 2]));
    assert_eq!(beta["dimension_names"], serde_json::json!(["chain", "draw", "coef"]));
    assert_eq!(beta["chunk_grid"]["configuration"]["chunk_shape"], serde_json::json!([1, 1000, 2]));
    assert_eq!(all["sample_stats/n_steps"]["fill_value"], 3);
    assert_eq!(all["sample_stats/diverging"]["fill_value"], false);
    // The second block of the second chain: five draws, and NaN beyond them.
    let bytes = fs::read(path.join("posterior/beta/c.1.1.0")).unwrap();
    let numbers: Vec<f64> =
        bytes.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
    assert_eq!(numbers.len(), 2000);
    let expected: Vec<f64> = (1000..1005).flat_map(|draw| point(1, draw, 2)).collect();
    assert_eq!(numbers[..10], expected);
    assert!(numbers[10..].iter().all(|x| x.is_nan()));
    let coordinate = fs::read(path.join("sample_stats/draw/c.1")).unwrap();
    assert_eq!(coordinate[..8], 1000_i64.to_le_bytes());
    assert!(files(&path).iter().all(|(name, _)| !name.contains("partial")));
}

#[test]
fn statistics_have_the_blocks_of_the_draws_and_come_back() {
    let place = tempfile::tempdir().unwrap();
    let (path, copy) = (place.path().join("draws.zarr"), place.path().join("copy.zarr"));
    store_with_stats(&path, &[2345, 1005], 2);
    let root = json(&path.join("zarr.json"));
    let all = root["consolidated_metadata"]["metadata"].as_object().unwrap();
    assert_eq!(all.len(), 13);
    for name in ["acceptance_rate", "diverging", "energy", "lp"] {
        let document = &all[&format!("sample_stats/{name}")];
        assert_eq!(document["shape"], serde_json::json!([2, 1005]));
        let chunks = &document["chunk_grid"]["configuration"]["chunk_shape"];
        assert_eq!(*chunks, serde_json::json!([1, 1000]));
        let chunk = fs::read(path.join(format!("sample_stats/{name}/c.1.1"))).unwrap();
        if name == "diverging" {
            let flags: Vec<u8> = (1000..1005).map(|draw| stats(1, draw).diverging.into()).collect();
            assert_eq!((&chunk[..5], chunk.len()), (&flags[..], 1000));
            assert!(chunk[5..].iter().all(|flag| *flag == 0));
        } else {
            let of = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().unwrap());
            assert_eq!(chunk.len(), 8000);
            assert!(
                of(&chunk[32..40]).is_finite() && chunk[40..].chunks(8).all(|b| of(b).is_nan())
            );
        }
    }
    let stored = StoredDraws::open(&path).unwrap();
    let back = stored.statistics().unwrap().unwrap();
    assert_eq!(back.len(), 2);
    for (chain, back) in back.iter().enumerate() {
        assert!(back.iter().copied().eq((0..1005).map(|draw| stats(chain, draw))));
    }
    let mut sink = ZarrDraws::create(&copy, &names(2), 3).unwrap();
    replay(&path, &mut sink).unwrap();
    sink.finish(true).unwrap();
    assert_eq!(files(&path), files(&copy));
    // A store that has none, and one of an earlier version, whose flags were booleans.
    fs::remove_dir_all(&copy).unwrap();
    store(&copy, &[20, 20], 2);
    assert_eq!(StoredDraws::open(&copy).unwrap().statistics().unwrap(), None);
    let text = fs::read_to_string(copy.join("zarr.json")).unwrap();
    let old = text.replace("\"incomplete\": 0", "\"incomplete\": false");
    assert_ne!(old, text);
    fs::write(copy.join("zarr.json"), old).unwrap();
    assert!(!StoredDraws::open(&copy).unwrap().incomplete());
}

#[test]
fn damaged_statistics_are_named_and_not_read() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("draws.zarr");
    store_with_stats(&path, &[1020, 1020], 2);
    let said = || match StoredDraws::open(&path).and_then(|stored| stored.statistics()) {
        Ok(_) => "nothing".to_owned(),
        Err(error) => error.to_string(),
    };
    for name in ["lp/c.1.1", "diverging/c.0.0"] {
        let chunk = path.join("sample_stats").join(name);
        let bytes = fs::read(&chunk).unwrap();
        fs::write(&chunk, &bytes[..100]).unwrap();
        assert!(said().contains(&format!("{name}: 100 bytes")), "{}", said());
        fs::remove_file(&chunk).unwrap();
        assert!(said().contains(&format!("{name}: file not found")), "{}", said());
        assert!(ZarrDraws::resume(&path, &[1020; 2]).is_err());
        fs::write(&chunk, &bytes).unwrap();
        assert_eq!(said(), "nothing");
    }
    let chunk = path.join("sample_stats/diverging/c.0.0");
    fs::write(&chunk, [2; 1000]).unwrap();
    assert!(said().contains("a byte of 2"), "{}", said());
    fs::write(&chunk, [0; 1000]).unwrap();
    let mut root = json(&path.join("zarr.json"));
    root["consolidated_metadata"]["metadata"]["sample_stats/energy"]["shape"][1] = 2000.into();
    fs::write(path.join("zarr.json"), root.to_string()).unwrap();
    assert!(said().contains("need the metadata of a store that ridgewalk wrote"), "{}", said());
}

#[test]
fn what_was_written_comes_back() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("draws.zarr");
    store(&path, &[1234; 3], 5);
    assert_eq!(read_draws(&path).unwrap(), made_up(3, 1234, 5));
}

#[test]
fn chains_of_different_lengths_are_cut_to_the_shortest_and_marked() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("draws.zarr");
    store(&path, &[1500, 7, 1100], 2);
    let root = json(&path.join("zarr.json"));
    assert_eq!(root["attributes"]["truncated"], 1);
    assert_eq!(root["attributes"]["draws_of_chains"], serde_json::json!([1500, 7, 1100]));
    let draws = read_draws(&path).unwrap();
    assert_eq!(draws.common(), 7);
    assert_eq!(StoredDraws::open(&path).unwrap().made(), [1500, 7, 1100]);
    assert_eq!(draws.tables(), made_up(3, 7, 2).tables());
    // Nothing is lost: the further draws of longer chains are in the store.
    let every = read_every_draw(&path).unwrap();
    for (chain, made) in [1500, 7, 1100].into_iter().enumerate() {
        let expected: Vec<f64> = (0..made).flat_map(|draw| point(chain, draw, 2)).collect();
        assert_eq!(every.chain(chain), expected, "chain {chain}");
    }
}

#[test]
fn a_store_that_was_never_finished_opens_with_what_was_saved() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("draws.zarr");
    let mut sink = ZarrDraws::create(&path, &names(3), 1).unwrap();
    sink.begin(2, 3).unwrap();
    let empty = StoredDraws::open(&path).unwrap();
    assert!(empty.incomplete() && empty.draws() == 0 && empty.chains() == 2);
    feed(&mut sink, 0, &[123, 123], 3);
    sink.save().unwrap();
    feed(&mut sink, 123, &[130, 130], 3);
    drop(sink);
    assert!(StoredDraws::open(&path).unwrap().incomplete());
    let draws = read_draws(&path).unwrap();
    assert_eq!(draws.tables(), made_up(2, 123, 3).tables());
}

#[test]
fn a_resumed_run_leaves_the_bytes_of_an_uninterrupted_one() {
    let place = tempfile::tempdir().unwrap();
    let (whole, broken) = (place.path().join("whole.zarr"), place.path().join("broken.zarr"));
    store(&whole, &[2345, 2345], 3);
    // Stopped within a block, after a checkpoint; stopped at the end of a block.
    for (checkpoint, stop) in [(1400, 2100), (1000, 1000), (0, 5)] {
        let _ = fs::remove_dir_all(&broken);
        let mut sink = ZarrDraws::create(&broken, &names(3), 3).unwrap();
        sink.begin(2, 3).unwrap();
        feed(&mut sink, 0, &[stop; 2], 3);
        sink.save().unwrap();
        drop(sink);
        let mut sink = ZarrDraws::resume(&broken, &[checkpoint; 2]).unwrap();
        assert_eq!((sink.made(), sink.names()), (vec![checkpoint; 2], &names(3)[..]));
        sink.begin(2, 3).unwrap();
        feed(&mut sink, checkpoint, &[2345; 2], 3);
        sink.finish(true).unwrap();
        assert_eq!(files(&whole), files(&broken), "{checkpoint} {stop}");
    }
    // The same with statistics.
    fs::remove_dir_all(&whole).unwrap();
    store_with_stats(&whole, &[2345, 2345], 3);
    for (checkpoint, stop) in [(1400, 2100), (1000, 1000), (0, 5)] {
        let _ = fs::remove_dir_all(&broken);
        let mut sink = ZarrDraws::create(&broken, &names(3), 3).unwrap();
        sink.begin(2, 3).unwrap();
        feed_with_stats(&mut sink, 0, &[stop; 2], 3);
        sink.save().unwrap();
        drop(sink);
        let mut sink = ZarrDraws::resume(&broken, &[checkpoint; 2]).unwrap();
        sink.begin(2, 3).unwrap();
        feed_with_stats(&mut sink, checkpoint, &[2345; 2], 3);
        sink.finish(true).unwrap();
        assert_eq!(files(&whole), files(&broken), "{checkpoint} {stop}");
    }
    let error = ZarrDraws::resume(&whole, &[2345, 2346]).unwrap_err();
    assert!(matches!(error, Error::Missing { chain: 1, got: 2345, need: 2346, .. }), "{error}");
    assert!(ZarrDraws::resume(&whole, &[4000; 2]).unwrap_err().to_string().contains("need 4000"));
    assert!(matches!(
        ZarrDraws::resume(&whole, &[1; 3]),
        Err(Error::Shape { got: 3, need: 2, .. })
    ));
}

#[test]
fn draws_out_of_order_or_of_the_wrong_shape_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("draws.zarr");
    let mut sink = ZarrDraws::create(&path, &names(2), 1).unwrap();
    assert!(sink.keep(0, 0, &[1.0, 2.0]).is_err(), "not begun");
    assert!(sink.begin(2, 3).is_err());
    sink.begin(2, 2).unwrap();
    assert!(sink.begin(3, 2).is_err());
    let error = sink.keep(1, 4, &[1.0, 2.0]).unwrap_err().to_string();
    assert_eq!(error, "draw 4 of chain 1 is out of order, need draw 0 next");
    assert!(sink.keep(2, 0, &[1.0, 2.0]).is_err());
    assert!(sink.keep(0, 0, &[1.0]).is_err());
    sink.keep_with(0, 0, &[1.0, 2.0], Some(&stats(0, 0))).unwrap();
    let error = sink.keep(1, 0, &[1.0, 2.0]).unwrap_err().to_string();
    assert!(error.starts_with("draw 0 of chain 1 comes without statistics"), "{error}");
    assert_eq!(sink.made(), [1, 0]);
    assert!(ZarrDraws::create(&path, &names(2), 1).is_err(), "there already");
}

#[test]
fn a_store_is_read_in_parts_as_it_is_read_whole() {
    let place = tempfile::tempdir().unwrap();
    // The second has too many numbers for all columns at a time.
    for (number, (made, d, passes)) in
        [(vec![1234, 1100, 2000], 5, 1), (vec![1100; 2], 1200, 2)].iter().enumerate()
    {
        let path = place.path().join(format!("{number}.zarr"));
        store(&path, made, *d);
        let (whole, parts) = (read_draws(&path).unwrap(), StoredDraws::open(&path).unwrap());
        assert_eq!((parts.names(), parts.made()), (whole.names(), &made[..]));
        assert_eq!((parts.chains(), parts.draws(), parts.incomplete()), (made.len(), 1100, false));
        let mut points = Vec::new();
        let take = |point: &[f64]| {
            points.extend_from_slice(point);
            Ok::<(), Error>(())
        };
        parts.points(take).unwrap();
        assert!(points == whole.tables().concat());
        let (mut next, mut calls) = (0, 0);
        let take = |first: usize, columns: &[Vec<f64>]| {
            assert_eq!(first, next);
            for column in columns {
                let traces: Vec<f64> =
                    (0..made.len()).flat_map(|chain| whole.trace(chain, next)).collect();
                assert!(*column == traces, "{next}");
                next += 1;
            }
            calls += 1;
            Ok::<(), Error>(())
        };
        parts.columns(take).unwrap();
        assert_eq!((next, calls), (*d, *passes));
    }
}

#[test]
fn draws_that_could_not_be_written_are_reported_and_not_lost() {
    let place = tempfile::tempdir().unwrap();
    let (path, whole) = (place.path().join("draws.zarr"), place.path().join("whole.zarr"));
    let mut sink = ZarrDraws::create(&path, &names(2), 3).unwrap();
    sink.begin(1, 2).unwrap();
    feed(&mut sink, 0, &[999], 2);
    // No space for the block that the next draw fills. It is written in the background, so a later
    // call fails.
    let (beta, away) = (path.join("posterior/beta"), place.path().join("away"));
    fs::rename(&beta, &away).unwrap();
    sink.keep(0, 999, &point(0, 999, 2)).unwrap();
    let told = |error: String| {
        assert!(error.contains("cannot write") && error.contains("c.0.0.0"), "{error}")
    };
    told(sink.save().unwrap_err().to_string());
    told(sink.keep(0, 1000, &point(0, 1000, 2)).unwrap_err().to_string());
    told(sink.flush().unwrap_err().to_string());
    assert_eq!(sink.made(), [1000]);
    assert_eq!(read_draws(&path).unwrap().common(), 0, "the shape counts only draws that exist");
    fs::rename(&away, &beta).unwrap();
    feed(&mut sink, 1000, &[1200], 2);
    sink.finish(true).unwrap();
    store(&whole, &[1200], 2);
    assert_eq!(files(&path), files(&whole));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    let full = Path::new("/dev/full");
    let mut sink = CsvDraws::create(full, &names(2)).unwrap();
    sink.keep(0, 0, &[1.0, 2.0]).unwrap();
    assert!(sink.flush().is_err());
    assert!(sink.finish().unwrap_err().to_string().starts_with("cannot write /dev/full"));
}

#[test]
fn damaged_stores_are_named_and_not_read() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("draws.zarr");
    store(&path, &[20, 20], 2);
    let said = |path: &Path| read_draws(path).unwrap_err().to_string();
    assert!(said(&place.path().join("none")).contains("cannot read"));
    let chunk = path.join("posterior/beta/c.1.0.0");
    let bytes = fs::read(&chunk).unwrap();
    fs::write(&chunk, &bytes[..100]).unwrap();
    assert!(said(&path).contains("c.1.0.0: 100 bytes"), "{}", said(&path));
    fs::remove_file(&chunk).unwrap();
    assert!(said(&path).contains("c.1.0.0"));
    fs::write(&chunk, &bytes).unwrap();
    read_draws(&path).unwrap();
    let text = fs::read_to_string(path.join("zarr.json")).unwrap();
    for (from, to) in [("\"float64\"", "\"float32\""), ("little", "big"), ("1000", "0"), ("{", "")]
    {
        fs::write(path.join("zarr.json"), text.replace(from, to)).unwrap();
        assert!(
            said(&path).contains("need the metadata of a store that ridgewalk wrote"),
            "{from}"
        );
    }
}

#[test]
fn csv_is_quoted_and_reads_back_to_the_bit() {
    let place = tempfile::tempdir().unwrap();
    let (zarr, path) = (place.path().join("draws.zarr"), place.path().join("draws.csv"));
    store(&zarr, &[1010, 4], 4);
    let mut sink = CsvDraws::create(&path, &names(4)).unwrap();
    replay(&zarr, &mut sink).unwrap();
    sink.keep(1, 4, &[1e-300, -0.0, 1e22, 0.1 + 0.2]).unwrap();
    sink.finish().unwrap();
    let mut reader = csv::Reader::from_path(&path).unwrap();
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(header[..2], ["chain", "draw"]);
    assert_eq!(header[2..], names(4));
    let rows: Vec<Vec<f64>> = reader
        .records()
        .map(|row| row.unwrap().iter().map(|x| x.parse().unwrap()).collect())
        .collect();
    assert_eq!(rows.len(), 1015);
    assert_eq!(rows[1][..2], [1.0, 0.0], "draw by draw, chain by chain");
    assert_eq!(rows[1013][..2], [0.0, 1009.0]);
    assert_eq!(rows[1013][2..], point(0, 1009, 4));
    assert_eq!(rows[1014][2..], [1e-300, -0.0, 1e22, 0.1 + 0.2]);
}

#[test]
fn a_directory_that_exists_is_refused_with_a_remedy() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a/b/run");
    let directory = RunDirectory::create(&path).unwrap();
    let said = || RunDirectory::create(&path).unwrap_err().to_string();
    assert!(said().contains("is empty: pass `--out OTHER`"), "{}", said());
    assert!(RunDirectory::open(&path).unwrap_err().to_string().contains("has no config.toml"));
    write_atomically(&directory.config(), b"seed = 0\n").unwrap();
    assert!(said().contains("holds other files"));
    write_atomically(&directory.summary(), b"{}").unwrap();
    assert!(said().contains("holds a finished run: pass `--out OTHER`"));
    write_atomically(&directory.checkpoint(), b"").unwrap();
    assert!(
        said().contains("holds an interrupted run: continue it with `ridgewalk resume "),
        "{}",
        said()
    );
    assert!(RunDirectory::open(&path).unwrap().interrupted());
    assert_eq!(fs::read_dir(&path).unwrap().count(), 3, "nothing but the files themselves");
    let file = place.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(RunDirectory::create(&file).unwrap_err().to_string().contains("is not a directory: "));
    let below = RunDirectory::create(file.join("run")).unwrap_err().to_string();
    assert!(below.contains("cannot create the directory") && below.contains("file"), "{below}");
    let nowhere = write_atomically(&place.path().join("none/x"), b"").unwrap_err().to_string();
    assert!(nowhere.contains("cannot write") && nowhere.contains("none"), "{nowhere}");
}

#[test]
fn the_summary_has_the_promised_keys_and_reads_back() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("summary.json");
    let text = Text {
        warnings: ["low_ess", "high_rhat"]
            .map(|name| WarningEntry { name: name.to_owned(), text: "…".to_owned() })
            .to_vec(),
        ..Text::default()
    };
    // One chain: R-hat is not defined.
    let written = document(&made_up(1, 50, 2), text);
    write_summary(&written, &path).unwrap();
    let value = json(&path);
    let keys =
        |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<String>>();
    let set = |keys: &str| keys.split(' ').map(str::to_owned).collect::<BTreeSet<String>>();
    let parameter = &value["parameters"][0];
    assert_eq!(keys(parameter), set("name mean sd mcse_mean q05 q50 q95 ess_bulk ess_tail rhat"));
    let sampler = "kernel gamma xi eta chains draws thin warmup_gradients gradients seconds bias_estimate status";
    assert_eq!(keys(&value["sampler"]), set(sampler));
    assert_eq!(keys(&value["problem"]), set("n d family convexity smoothness condition_number"));
    let text = "title command warnings guarantee notes history facts";
    assert_eq!(keys(&value), set(&format!("parameters sampler problem interval {text}")));
    assert_eq!(value["sampler"]["status"], "low_ess, high_rhat");
    assert!(parameter["rhat"].is_null() && value["sampler"]["bias_estimate"].is_null());
    let read = read_summary(&path).unwrap();
    assert!(read.parameters[0].rhat.is_nan());
    assert_eq!(read.to_json().unwrap(), written.to_json().unwrap());
    // A file of a run that had no choice of intervals has those of 90 %.
    assert_eq!(value["interval"], 0.9);
    let mut older = value.clone();
    older.as_object_mut().unwrap().remove("interval");
    fs::write(&path, older.to_string()).unwrap();
    assert_eq!(read_summary(&path).unwrap().interval, 0.9);
    fs::write(&path, "{\"parameters\": 3}").unwrap();
    assert!(
        read_summary(&path).unwrap_err().to_string().contains("keys parameters, sampler, problem")
    );
    assert_eq!(document(&made_up(2, 50, 2), Text::default()).sampler.status, "ok");
}
