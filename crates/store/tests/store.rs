//! What a run leaves behind, from made-up draws: the store to the byte, what comes back from it,
//! the summary's keys, the report.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use ridgewalk::diagnostics::summaries_of_table;
use ridgewalk::sampler::Sink;
use ridgewalk_cli::run::{
    BiasDetails, CsvDraws, Draws, Error, Fact, ProblemFacts, ReportInput, RunDirectory,
    SamplerFacts, StoredDraws, SummaryDocument, Text, Warning, ZarrDraws, read_draws,
    read_every_draw, replay, report, write_atomically, write_report,
};
use serde_json::Value;

/// A draw that tells where it comes from, with some noise in its digits.
fn value(chain: usize, draw: u64, coefficient: usize) -> f64 {
    let mixed = (chain as u64 * 7_919 + draw * 104_729 + coefficient as u64 * 1_299_709)
        .wrapping_mul(2_654_435_761);
    (mixed % 1_000_003) as f64 / 1_000_003.0 + coefficient as f64
}

fn point(chain: usize, draw: u64, d: usize) -> Vec<f64> {
    (0..d).map(|j| value(chain, draw, j)).collect()
}

fn names(d: usize) -> Vec<String> {
    let hostile =
        ["(Intercept)", "<script>alert(\"x\")</script>", "größe 身長 🌡", "a \"b\", c'd & e"];
    let long = "l".repeat(300);
    (0..d).map(|j| hostile.get(j).map_or(format!("{long}{j}"), |name| (*name).to_owned())).collect()
}

/// Gives a sink the draws from `first` on: chain k makes `made[k]` of them.
fn feed(sink: &mut dyn Sink, first: u64, made: &[u64], d: usize) {
    for draw in first..made.iter().copied().max().unwrap() {
        for chain in (0..made.len()).filter(|chain| draw < made[*chain]) {
            sink.keep(chain, draw, &point(chain, draw, d)).unwrap();
        }
    }
    sink.flush().unwrap();
}

/// A finished store of such draws.
fn store(path: &Path, made: &[u64], d: usize) {
    let mut sink = ZarrDraws::create(path, &names(d), 3).unwrap();
    sink.begin(made.len(), d).unwrap();
    feed(&mut sink, 0, made, d);
    assert_eq!(sink.finish(true).unwrap(), *made.iter().min().unwrap());
}

/// Every file below a directory, with its bytes.
fn files(path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let mut left = vec![path.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap().path();
            if entry.is_dir() {
                left.push(entry);
            } else {
                let name = entry.strip_prefix(path).unwrap().display().to_string();
                all.push((name, fs::read(entry).unwrap()));
            }
        }
    }
    all.sort();
    all
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn facts(chains: usize, draws: u64) -> SamplerFacts {
    SamplerFacts {
        kernel: "symmetric".to_owned(),
        gamma: 1.0,
        xi: 2.0,
        eta: 0.5,
        chains,
        draws,
        thin: 3,
        warmup_gradients: 10,
        gradients: 1000,
        seconds: 0.5,
        bias_estimate: f64::NAN,
        status: String::new(),
        bias_details: None,
        trajectories: None,
    }
}

fn problem(d: usize) -> ProblemFacts {
    let family = "logistic".to_owned();
    ProblemFacts { n: 100, d, family, convexity: 0.5, smoothness: 2.0, condition_number: 4.0 }
}

fn document(draws: &Draws, text: Text) -> SummaryDocument {
    let d = draws.dimension();
    let summaries = summaries_of_table(&draws.tables(), d).unwrap();
    let sampler = facts(draws.chains.len(), draws.draws() as u64);
    SummaryDocument::new(&draws.names, &summaries, sampler, problem(d), text).unwrap()
}

fn made_up(chains: usize, count: u64, d: usize) -> Draws {
    let table = |chain| (0..count).flat_map(|draw| point(chain, draw, d)).collect();
    Draws {
        names: names(d),
        chains: (0..chains).map(table).collect(),
        made: vec![count; chains],
        incomplete: false,
    }
}

#[test]
fn a_store_has_the_bytes_and_the_metadata_of_the_format() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("draws.zarr");
    store(&path, &[1005, 1005], 2);
    let root = json(&path.join("zarr.json"));
    assert_eq!(root["attributes"]["inference_library"], "ridgewalk");
    assert_eq!(root["attributes"]["incomplete"], false);
    assert_eq!(root["attributes"]["truncated"], false);
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
fn what_was_written_comes_back() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("draws.zarr");
    store(&path, &[1234; 3], 5);
    assert_eq!(read_draws(&path).unwrap(), made_up(3, 1234, 5));
}

#[test]
fn chains_of_different_lengths_are_cut_to_the_shortest_and_it_is_said() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("draws.zarr");
    store(&path, &[1500, 7, 1100], 2);
    let root = json(&path.join("zarr.json"));
    assert_eq!(root["attributes"]["truncated"], true);
    assert_eq!(root["attributes"]["draws_of_chains"], serde_json::json!([1500, 7, 1100]));
    let draws = read_draws(&path).unwrap();
    assert_eq!((draws.draws(), &draws.made), (7, &vec![1500, 7, 1100]));
    assert_eq!(draws.chains, made_up(3, 7, 2).chains);
    // Nothing is lost: what the longer chains have beyond is in the store.
    let every = read_every_draw(&path).unwrap();
    for (chain, made) in [1500, 7, 1100].into_iter().enumerate() {
        let expected: Vec<f64> = (0..made).flat_map(|draw| point(chain, draw, 2)).collect();
        assert_eq!(every.chains[chain], expected, "chain {chain}");
    }
    let page = report(&ReportInput {
        summary: &document(&draws, Text::default()),
        draws: &draws,
        config: "",
    });
    assert!(
        page.contains("The chains made 1500, 7, 1100 draws. This report uses the first 7 of each")
    );
}

#[test]
fn a_store_that_was_never_finished_opens_with_what_was_saved() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("draws.zarr");
    let mut sink = ZarrDraws::create(&path, &names(3), 1).unwrap();
    sink.begin(2, 3).unwrap();
    let empty = read_draws(&path).unwrap();
    assert!(empty.incomplete && empty.draws() == 0 && empty.chains.len() == 2);
    feed(&mut sink, 0, &[123, 123], 3);
    sink.save().unwrap();
    feed(&mut sink, 123, &[130, 130], 3);
    drop(sink);
    let draws = read_draws(&path).unwrap();
    assert!(draws.incomplete);
    assert_eq!(draws.chains, made_up(2, 123, 3).chains);
}

#[test]
fn a_run_that_goes_on_leaves_the_bytes_of_one_that_was_not_interrupted() {
    let place = tempfile::tempdir().unwrap();
    let (whole, broken) = (place.path().join("whole.zarr"), place.path().join("broken.zarr"));
    store(&whole, &[2345, 2345], 3);
    // Stopped in a block, behind a checkpoint; stopped where a block ends.
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
    let error = ZarrDraws::resume(&whole, &[2345, 2346]).unwrap_err();
    assert!(matches!(error, Error::Missing { chain: 1, got: 2345, need: 2346, .. }), "{error}");
    assert!(ZarrDraws::resume(&whole, &[4000; 2]).unwrap_err().to_string().contains("need 4000"));
    assert!(matches!(
        ZarrDraws::resume(&whole, &[1; 3]),
        Err(Error::Shape { got: 3, need: 2, .. })
    ));
}

#[test]
fn draws_out_of_turn_and_of_another_shape_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("draws.zarr");
    let mut sink = ZarrDraws::create(&path, &names(2), 1).unwrap();
    assert!(sink.keep(0, 0, &[1.0, 2.0]).is_err(), "not begun");
    assert!(sink.begin(2, 3).is_err());
    sink.begin(2, 2).unwrap();
    assert!(sink.begin(3, 2).is_err());
    let error = sink.keep(1, 4, &[1.0, 2.0]).unwrap_err().to_string();
    assert_eq!(error, "draw 4 of chain 1 came where draw 0 is the next");
    assert!(sink.keep(2, 0, &[1.0, 2.0]).is_err());
    assert!(sink.keep(0, 0, &[1.0]).is_err());
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
        assert_eq!((parts.names(), parts.made()), (&whole.names[..], &whole.made[..]));
        assert_eq!((parts.chains(), parts.draws(), parts.incomplete()), (made.len(), 1100, false));
        let mut points = Vec::new();
        let take = |point: &[f64]| {
            points.extend_from_slice(point);
            Ok::<(), Error>(())
        };
        parts.points(take).unwrap();
        assert!(points == whole.chains.concat());
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
fn draws_that_could_not_be_written_are_told_and_not_lost() {
    let place = tempfile::tempdir().unwrap();
    let (path, whole) = (place.path().join("draws.zarr"), place.path().join("whole.zarr"));
    let mut sink = ZarrDraws::create(&path, &names(2), 3).unwrap();
    sink.begin(1, 2).unwrap();
    feed(&mut sink, 0, &[999], 2);
    // No room for the block that is full with the next draw. It is written meanwhile: the error
    // comes with a later call.
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
    assert_eq!(
        read_draws(&path).unwrap().draws(),
        0,
        "the shape tells of no draw that is not there"
    );
    fs::rename(&away, &beta).unwrap();
    feed(&mut sink, 1000, &[1200], 2);
    sink.finish(true).unwrap();
    store(&whole, &[1200], 2);
    assert_eq!(files(&path), files(&whole));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
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
fn a_directory_that_exists_is_refused_with_what_to_do() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a/b/run");
    let directory = RunDirectory::create(&path).unwrap();
    let said = || RunDirectory::create(&path).unwrap_err().to_string();
    assert!(said().contains("holds nothing: pass `--out OTHER`"), "{}", said());
    assert!(RunDirectory::open(&path).unwrap_err().to_string().contains("has no config.toml"));
    write_atomically(&directory.config(), b"seed = 0\n").unwrap();
    assert!(said().contains("holds other files"));
    write_atomically(&directory.summary(), b"{}").unwrap();
    assert!(said().contains("holds a finished run: pass `--out OTHER`"));
    write_atomically(&directory.checkpoint(), b"").unwrap();
    assert!(said().contains("holds an interrupted run: `ridgewalk resume "), "{}", said());
    assert!(RunDirectory::open(&path).unwrap().interrupted());
    assert_eq!(fs::read_dir(&path).unwrap().count(), 3, "nothing but the files themselves");
    let file = place.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(
        RunDirectory::create(&file).unwrap_err().to_string().contains("no directory but a file")
    );
    let below = RunDirectory::create(file.join("run")).unwrap_err().to_string();
    assert!(below.contains("cannot make the directory") && below.contains("file"), "{below}");
    let nowhere = write_atomically(&place.path().join("none/x"), b"").unwrap_err().to_string();
    assert!(nowhere.contains("cannot write") && nowhere.contains("none"), "{nowhere}");
}

#[test]
fn the_summary_has_the_promised_keys_and_reads_back() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("summary.json");
    let text = Text {
        warnings: ["low_ess", "high_rhat"]
            .map(|name| Warning { name: name.to_owned(), text: "…".to_owned() })
            .to_vec(),
        ..Text::default()
    };
    // One chain: R-hat is not defined.
    let written = document(&made_up(1, 50, 2), text);
    written.write(&path).unwrap();
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
    assert_eq!(keys(&value), set(&format!("parameters sampler problem {text}")));
    assert_eq!(value["sampler"]["status"], "low_ess, high_rhat");
    assert!(parameter["rhat"].is_null() && value["sampler"]["bias_estimate"].is_null());
    let read = SummaryDocument::read(&path).unwrap();
    assert!(read.parameters[0].rhat.is_nan());
    assert_eq!(read.to_json().unwrap(), written.to_json().unwrap());
    fs::write(&path, "{\"parameters\": 3}").unwrap();
    assert!(
        SummaryDocument::read(&path)
            .unwrap_err()
            .to_string()
            .contains("keys parameters, sampler, problem")
    );
    assert_eq!(document(&made_up(2, 50, 2), Text::default()).sampler.status, "ok");
}

/// Opening and closing tags are pairs, every attribute is quoted, and every link goes to an element
/// of the page.
fn well_formed(page: &str) {
    let page = page.split_once("<html").unwrap().1;
    // What a style sheet and a script hold is not HTML.
    let mut body = format!("<html{page}");
    for raw in ["style", "script"] {
        let (before, rest) = body.split_once(&format!("<{raw}>")).unwrap();
        let (_, after) = rest.split_once(&format!("</{raw}>")).unwrap();
        body = format!("{before}{after}");
    }
    let mut open: Vec<&str> = Vec::new();
    for piece in body.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').expect("every tag ends");
        assert!(!text.contains('>'), "a bare > in {text:.60}");
        assert!(tag.matches('"').count().is_multiple_of(2), "{tag:.80}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{piece:.80}");
        } else if !tag.ends_with('/') {
            let name = tag.split([' ', '\n']).next().unwrap();
            if !["meta", "!doctype"].contains(&name) {
                open.push(name);
            }
        }
    }
    assert!(open.is_empty(), "{open:?}");
    for link in body.split("href=\"").skip(1).map(|rest| rest.split_once('"').unwrap().0) {
        let id = link.strip_prefix('#').unwrap_or_else(|| panic!("a link out of the page: {link}"));
        assert!(body.contains(&format!("id=\"{id}\"")), "a link to nowhere: {link}");
    }
}

#[test]
fn a_report_is_whole_needs_no_network_and_shows_names_as_they_are() {
    let draws = made_up(3, 400, 6);
    let hostile = "</pre><script>alert('x')</script>";
    let text = Text {
        title: hostile.to_owned(),
        command: hostile.to_owned(),
        warnings: vec![Warning { name: hostile.to_owned(), text: hostile.to_owned() }],
        guarantee: hostile.to_owned(),
        notes: vec![hostile.to_owned()],
        history: vec![hostile.to_owned()],
        facts: vec![Fact { name: hostile.to_owned(), value: hostile.to_owned() }],
    };
    let mut summary = document(&draws, text);
    summary.sampler.bias_details = Some(BiasDetails {
        mean: 0.01,
        mean_error: 0.001,
        sd: 0.01,
        sd_error: f64::NAN,
        tolerance: 0.05,
    });
    summary.sampler.kernel = hostile.to_owned();
    summary.problem.family = hostile.to_owned();
    let page = report(&ReportInput { summary: &summary, draws: &draws, config: hostile });
    well_formed(&page);
    for outside in ["http", "//www", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert_eq!(page.matches("<script").count(), 1, "our own");
    assert!(!page.contains("alert('x')") && !page.contains("alert(\"x\")"));
    assert!(page.contains("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;"));
    assert!(page.contains(&"l".repeat(300)) && page.contains("größe 身長 🌡"));
    assert_eq!(page.matches("<svg").count(), 2 * 6 + 1 + 2);
    assert!(page.contains("data-plots=\"15\""));
    let content = page.split_once("<script>").unwrap().0;
    assert!(
        !content.contains("NaN") && !content.contains("inf"),
        "numbers that are none are dashes"
    );
}

#[test]
fn draws_that_cannot_be_drawn_leave_a_report_that_says_so() {
    let names: Vec<String> = ["constant", "wild", "fine", "tiny"].map(str::to_owned).to_vec();
    let row = |i: u64| {
        [3.0, if i == 5 { 1e308 } else { -1e308 }, value(0, i, 0), 1e-300 * value(1, i, 0)]
    };
    let table: Vec<f64> = (0..50).flat_map(row).collect();
    let draws = Draws { names, chains: vec![table; 2], made: vec![50; 2], incomplete: true };
    let page = report(&ReportInput {
        summary: &document(&draws, Text::default()),
        draws: &draws,
        config: "",
    });
    well_formed(&page);
    assert!(page.contains("no density") && page.contains("before it had made all its draws"));
    // No draws at all.
    let none = Draws {
        names: draws.names.clone(),
        chains: vec![Vec::new(); 2],
        made: vec![0; 2],
        incomplete: true,
    };
    let mut summary = document(&draws, Text::default());
    summary.parameters.iter_mut().for_each(|p| p.mean = f64::NAN);
    well_formed(&report(&ReportInput { summary: &summary, draws: &none, config: "" }));
    // Nothing to draw at all.
    summary.parameters.clear();
    well_formed(&report(&ReportInput { summary: &summary, draws: &none, config: "" }));
}

#[test]
fn a_large_report_stays_small_and_can_be_made_from_the_directory_again() {
    let place = tempfile::tempdir().unwrap();
    let directory = RunDirectory::create(place.path().join("run")).unwrap();
    write_atomically(&directory.config(), b"seed = 0\n").unwrap();
    let (d, made) = (200, [1000; 8]);
    store(&directory.draws(), &made, d);
    let draws = read_draws(&directory.draws()).unwrap();
    let summary = document(&draws, Text::default());
    summary.write(&directory.summary()).unwrap();
    write_report(&directory).unwrap();
    let page = fs::read_to_string(directory.report()).unwrap();
    assert!(page.len() < 6_000_000, "{} bytes", page.len());
    assert_eq!(
        page,
        report(&ReportInput { summary: &summary, draws: &draws, config: "seed = 0\n" })
    );
    well_formed(&page);
}
