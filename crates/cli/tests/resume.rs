//! Runs of the program are killed, stopped, given a full disk and damaged files, and
//! `ridgewalk resume` must finish them with the same bytes as an uninterrupted run.
//!
//! `scripts/faults/resume` runs the long version, with 50 kills, and writes
//! docs/results/faults.csv; the tests here do the same with fewer kills.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::fits::{Place, ctrl_c, files, shipped};
use ridgewalk::store::{Checkpoint, StoredDraws, read_draws, read_every_draw};
use serde_json::Value;

/// A generous time limit: nothing here takes a tenth of it, unless the machine is busy.
const PATIENCE: Duration = Duration::from_secs(600);

/// Pseudorandom numbers with a fixed seed (SplitMix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// Uniform on [0, 1).
    pub(crate) fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A run of a second or two with three blocks of draws, and with draws.csv.
pub(crate) fn plain() -> String {
    format!(
        "{} --response ill --predictors dose,age --seed 4 --draws 2500 --thin 30 --csv",
        shipped("mixed.csv")
    )
}

/// A run with a target ESS, results on the original scale and the adjusted kernel.
fn until_ess() -> String {
    format!(
        "{} --response ill --predictors dose,age --seed 5 --target-ess 25000 --max-draws 20000 --thin 25 --standardize --original-scale \
         --kernel adjusted",
        shipped("mixed.csv")
    )
}

/// A run of a mixed model.
fn groups() -> String {
    format!(
        "{} level~dose+(1+dose|site) --family gaussian --seed 8 --draws 2500 --thin 20 --csv",
        shipped("mixed.csv")
    )
}

/// The files of a run that must not depend on interruptions.
#[derive(Debug, PartialEq)]
struct Left {
    store: Vec<(String, Vec<u8>)>,
    csv: Option<Vec<u8>>,
    summary: Value,
    others: Vec<String>,
}

fn left(directory: &Path) -> Left {
    let mut summary: Value =
        serde_json::from_slice(&fs::read(directory.join("summary.json")).unwrap()).unwrap();
    summary["sampler"]["seconds"] = Value::Null;
    let mut others: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    others.sort();
    Left {
        store: files(&directory.join("draws.zarr")),
        csv: fs::read(directory.join("draws.csv")).ok(),
        summary,
        others,
    }
}

/// A short description of the difference; `None` if there is none.
fn difference(found: &Left, need: &Left) -> Option<String> {
    let names = |left: &Left| left.store.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    if found.others != need.others {
        return Some(format!("files {:?}, need {:?}", found.others, need.others));
    }
    if names(found) != names(need) {
        return Some(format!("the store has {:?}", names(found)));
    }
    let differ = found.store.iter().zip(&need.store).find(|(a, b)| a != b);
    if let Some(((name, _), _)) = differ {
        return Some(format!("draws.zarr/{name} differs"));
    }
    if found.csv != need.csv {
        return Some("draws.csv differs".into());
    }
    (found.summary != need.summary)
        .then(|| format!("{:#} is not {:#}", found.summary, need.summary))
}

/// An uninterrupted run, and the times of its phases.
struct Reference {
    words: String,
    directory: PathBuf,
    left: Left,
    /// Seconds from the start to: the directory, the store, the store complete, the end.
    times: [f64; 4],
}

pub(crate) fn spawn(place: &Place, words: &str) -> Child {
    let mut command = place.command(words);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The phase of a run, from the files on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Before,
    WarmUp,
    Sampling,
    Finishing,
    Finished,
}

impl Phase {
    fn words(self) -> &'static str {
        match self {
            Self::Before => "kill -9 before the run directory is there",
            Self::WarmUp => "kill -9 in the warm-up",
            Self::Sampling => "kill -9 while sampling",
            Self::Finishing => "kill -9 while summary and report are written",
            Self::Finished => "kill -9 after the end",
        }
    }
}

fn phase(directory: &Path) -> Phase {
    if !directory.exists() {
        return Phase::Before;
    }
    if !directory.join("checkpoint").exists() {
        return Phase::Finished;
    }
    let store = fs::read(directory.join("draws.zarr/zarr.json"));
    let root: Option<Value> = store.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    match root {
        None => Phase::WarmUp,
        Some(root) if root["attributes"]["incomplete"] == 1 => Phase::Sampling,
        Some(_) => Phase::Finishing,
    }
}

/// Waits until a run reaches a phase or ends.
pub(crate) fn reach(child: &mut Child, directory: &Path, far: Phase) {
    let began = Instant::now();
    while phase(directory) < far && child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < PATIENCE, "{far:?} was not reached");
        std::thread::sleep(Duration::from_millis(1));
    }
}

impl Reference {
    fn new(place: &Place, name: &str, words: &str) -> Self {
        let began = Instant::now();
        let directory = place.path(name);
        let mut child = spawn(place, &format!("fit {words} --out {name}"));
        let mut times = [0.0; 4];
        for (time, far) in times.iter_mut().zip([
            Phase::WarmUp,
            Phase::Sampling,
            Phase::Finishing,
            Phase::Finished,
        ]) {
            reach(&mut child, &directory, far);
            *time = began.elapsed().as_secs_f64();
        }
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Self { words: words.to_owned(), left: left(&directory), directory, times }
    }

    /// The number of draws of a directory that are missing or differ, and of those in excess.
    fn lost(&self, directory: &Path) -> [u64; 2] {
        let (need, found) = [&self.directory, directory]
            .map(|d| read_every_draw(&d.join("draws.zarr")).unwrap())
            .into();
        let d = need.dimension();
        let (mut lost, mut extra) = (0, 0);
        for (need, found) in need.tables().into_iter().zip(found.tables()) {
            let same = need.chunks(d).zip(found.chunks(d));
            let same = same
                .filter(|(a, b)| a.iter().zip(*b).all(|(a, b)| a.to_bits() == b.to_bits()))
                .count();
            lost += (need.len() / d - same) as u64;
            extra += (found.len() / d).saturating_sub(need.len() / d) as u64;
        }
        [lost, extra]
    }

    /// Checks that everything is the same.
    fn check(&self, directory: &Path, what: &str) {
        assert_eq!(self.lost(directory), [0, 0], "{what}: draws lost, draws too many");
        if let Some(difference) = difference(&left(directory), &self.left) {
            panic!("{what}: {difference}");
        }
    }

    /// Checks that the draws in an interrupted directory are the first draws of this run. Returns
    /// their number.
    fn check_kept(&self, directory: &Path, what: &str) -> u64 {
        let Ok(kept) = read_draws(&directory.join("draws.zarr")) else { return 0 };
        let whole = read_every_draw(&self.directory.join("draws.zarr")).unwrap();
        for (part, all) in kept.tables().into_iter().zip(whole.tables()) {
            assert!(part[..] == all[..part.len()], "{what}: kept draws are not those of the run");
        }
        kept.len() as u64
    }
}

pub(crate) fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Resumes a run to its end.
fn resume(place: &Place, directory: &Path) -> Output {
    // From another directory than the run was started in.
    place.command("resume").arg(directory).current_dir("/").output().unwrap()
}

/// One line of the table of faults.
#[derive(Debug, Default, Clone)]
struct Row {
    fault: String,
    injected: u64,
    /// Draws that could be read after the fault, over all runs.
    kept: u64,
    /// Draws of the resumed runs that were compared, over all runs.
    compared: u64,
    lost: u64,
    twice: u64,
}

fn count(rows: &mut Vec<Row>, fault: &str, kept: u64, reference: &Reference, directory: &Path) {
    let at = rows.iter().position(|row| row.fault == fault).unwrap_or_else(|| {
        rows.push(Row { fault: fault.to_owned(), ..Row::default() });
        rows.len() - 1
    });
    let [lost, twice] = reference.lost(directory);
    let whole = read_every_draw(&reference.directory.join("draws.zarr")).unwrap();
    let row = &mut rows[at];
    row.injected += 1;
    row.kept += kept;
    row.compared += whole.len() as u64;
    row.lost += lost;
    row.twice += twice;
}

/// Kills runs with kill -9 at random moments until `wanted` were hit, a third of them more than
/// once, and resumes each.
fn kills(place: &Place, reference: &Reference, wanted: u64, seed: u64) -> Vec<Row> {
    let mut dice = Dice(seed);
    let mut rows: Vec<Row> = Vec::new();
    let [made, store, complete, end] = reference.times;
    let (mut done, mut attempts) = (0, 0_usize);
    while done < wanted {
        attempts += 1;
        assert!(attempts as u64 <= 4 * wanted + 20, "runs end before they are killed");
        let name = format!("killed-{seed}-{attempts}");
        let directory = place.path(&name);
        // Times are measured from the start or from the creation of the directory, the store or the
        // complete store, so that short phases are hit too.
        let (far, span) = [
            (Phase::Before, end),
            (Phase::WarmUp, store - made),
            (Phase::Sampling, complete - store),
            (Phase::Finishing, end - complete),
        ][attempts % 4];
        let mut child = spawn(place, &format!("fit {} --out {name}", reference.words));
        let mut hits = Vec::new();
        for round in 0..3 {
            reach(&mut child, &directory, if round == 0 { far } else { Phase::WarmUp });
            let span = if round == 0 { span } else { end };
            std::thread::sleep(Duration::from_secs_f64(span * dice.roll()));
            child.kill().unwrap();
            child.wait().unwrap();
            let hit = phase(&directory);
            if hit == Phase::Finished {
                break;
            }
            hits.push((hit, reference.check_kept(&directory, &format!("{name}, {hit:?}"))));
            if hit == Phase::Before || attempts % 3 != 0 || round == 2 {
                break;
            }
            child = spawn(place, &format!("resume {name}"));
        }
        if phase(&directory) == Phase::Before {
            let output = resume(place, &directory);
            assert_eq!(output.status.code(), Some(2));
            assert!(text(&output).contains("it does not exist"), "{}", text(&output));
            let output = place.run(&format!("fit {} --out {name}", reference.words));
            assert!(output.status.success(), "{}", text(&output));
        } else {
            let output = resume(place, &directory);
            assert!(output.status.success(), "{name} {hits:?}: {}", text(&output));
        }
        reference.check(&directory, &format!("{name} {hits:?}"));
        for (hit, kept) in &hits {
            count(&mut rows, hit.words(), *kept, reference, &directory);
        }
        done += hits.len() as u64;
        fs::remove_dir_all(&directory).unwrap();
    }
    rows
}

fn add(all: &mut Vec<Row>, rows: Vec<Row>) {
    for row in rows {
        match all.iter_mut().find(|old| old.fault == row.fault) {
            None => all.push(row),
            Some(old) => {
                old.injected += row.injected;
                old.kept += row.kept;
                old.compared += row.compared;
                old.lost += row.lost;
                old.twice += row.twice;
            }
        }
    }
}

#[test]
fn runs_that_are_killed_at_any_moment_end_with_the_same_bytes() {
    let place = Place::new();
    let reference = Reference::new(&place, "whole", &plain());
    println!("times {:?}", reference.times);
    let mut rows = kills(&place, &reference, 8, 1);
    let reference = Reference::new(&place, "until", &until_ess());
    println!("times {:?}", reference.times);
    add(&mut rows, kills(&place, &reference, 4, 2));
    println!("{rows:#?}");
    assert!(rows.iter().map(|row| row.injected).sum::<u64>() >= 12);
    assert!(rows.iter().all(|row| (row.lost, row.twice) == (0, 0)));
}

#[test]
fn runs_of_mixed_models_that_are_killed_end_with_the_same_bytes() {
    let place = Place::new();
    let reference = Reference::new(&place, "groups", &groups());
    println!("times {:?}", reference.times);
    let rows = kills(&place, &reference, 6, 3);
    println!("{rows:#?}");
    assert!(rows.iter().map(|row| row.injected).sum::<u64>() >= 6);
    assert!(rows.iter().all(|row| (row.lost, row.twice) == (0, 0)));
}

/// Starts a run and sends it a signal some seconds after its store exists; sooner if it was over or
/// had too many draws by then, later if there was no draw.
fn stop(
    place: &Place, words: &str, name: &str, which: &str, mut seconds: f64, most: u64,
) -> Output {
    let directory = place.path(name);
    for _ in 0..10 {
        let mut child = spawn(place, &format!("fit {words} --out {name}"));
        reach(&mut child, &directory, Phase::Sampling);
        std::thread::sleep(Duration::from_secs_f64(seconds));
        signal(&child, which);
        let output = child.wait_with_output().unwrap();
        let over = phase(&directory) != Phase::Sampling;
        let read = || Checkpoint::read(&directory.join("checkpoint")).unwrap().head.draws;
        let draws = if over { Vec::new() } else { read() };
        let far = over || draws.iter().any(|draws| *draws >= most);
        if !far && draws[0] > 0 {
            return output;
        }
        fs::remove_dir_all(&directory).unwrap();
        seconds *= if far { 0.6 } else { 1.5 };
    }
    panic!("{name} is over before it can be stopped, or stopped before it has a draw");
}

/// Ctrl-C and SIGTERM: the run ends with the draws so far and can be resumed to its full length.
fn stopped(place: &Place, reference: &Reference, which: &str, at: f64) -> Vec<Row> {
    let name = format!("stopped{which}");
    let directory = place.path(&name);
    let seconds = at * (reference.times[2] - reference.times[1]);
    let output = stop(place, &reference.words, &name, which, seconds, u64::MAX);
    assert_eq!(output.status.code(), Some(130), "{}", text(&output));
    assert!(text(&output).contains(&format!("`ridgewalk resume {name}`")), "{}", text(&output));
    assert!(directory.join("summary.json").is_file() && directory.join("report.html").is_file());
    let kept = reference.check_kept(&directory, which);
    assert!(kept > 0, "{which}");
    let output = resume(place, &directory);
    assert!(output.status.success(), "{}", text(&output));
    reference.check(&directory, which);
    let mut rows = Vec::new();
    let fault = if which == "-INT" { "Ctrl-C (SIGINT)" } else { "SIGTERM" };
    count(&mut rows, fault, kept, reference, &directory);
    fs::remove_dir_all(&directory).unwrap();
    rows
}

#[test]
fn a_run_that_was_stopped_resumes_to_its_full_length() {
    let place = Place::new();
    let reference = Reference::new(&place, "whole", &plain());
    for (which, at) in [(ctrl_c(), 0.3), ("-TERM", 0.6)] {
        let rows = stopped(&place, &reference, which, at);
        assert_eq!((rows[0].lost, rows[0].twice), (0, 0));
    }
    // Resuming a finished run reports that and changes nothing.
    let before = files(&reference.directory);
    let output = resume(&place, &reference.directory);
    assert!(output.status.success() && text(&output).contains("is finished"), "{}", text(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("guarantee: "));
    assert!(files(&reference.directory) == before);
}

/// The data that ship with the program, for files of some megabytes.
const LARGE: &str = "--seed 6 --draws 2600 --thin 3 --csv";

/// A disk that fills up during the run and then has space again: a file system of a few megabytes
/// in memory, if mounting is allowed. Returns `None` if it is not.
fn full_disk(place: &Place, reference: &Reference) -> Option<Vec<Row>> {
    let mount = place.path("small");
    fs::create_dir(&mount).unwrap();
    let mounted =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=48m", "tmpfs"]).arg(&mount).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        println!(
            "SKIPPED: a full disk, since no file system can be mounted here; the limit of a file's size is tested instead"
        );
        return None;
    }
    // All but three megabytes are in use.
    let filler = mount.join("filler");
    fs::write(&filler, vec![1; 45 << 20]).unwrap();
    let directory = mount.join("run");
    let output = place.run(&format!("fit {} --out {}", reference.words, directory.display()));
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        assert!(text(&output).contains("No space left on device"), "{}", text(&output));
        assert!(text(&output).contains("`ridgewalk resume "), "{}", text(&output));
        let kept = reference.check_kept(&directory, "full disk");
        // Still full: it fails again and loses nothing.
        let again = resume(place, &directory);
        assert_eq!(again.status.code(), Some(1), "{}", text(&again));
        assert!(reference.check_kept(&directory, "still full") >= kept);
        fs::remove_file(&filler).unwrap();
        let last = resume(place, &directory);
        assert!(last.status.success(), "{}", text(&last));
        reference.check(&directory, "full disk");
        let mut rows = Vec::new();
        count(&mut rows, "full disk (a file system of 48 MB)", kept, reference, &directory);
        rows
    }));
    let unmounted = Command::new("umount").arg(&mount).status();
    assert!(unmounted.is_ok_and(|status| status.success()));
    Some(result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

/// A file size limit, which every user can set.
fn limited_file(place: &Place, reference: &Reference) -> Vec<Row> {
    let directory = place.path("limited");
    let program = env!("CARGO_BIN_EXE_ridgewalk");
    // In blocks of 512 bytes, or 1024 in some shells. SIGXFSZ would end the program.
    let script = format!(
        "trap '' XFSZ; ulimit -f 4000; exec {program} fit {} --out limited",
        reference.words
    );
    let output = Command::new("sh")
        .args(["-c", &script])
        .current_dir(directory.parent().unwrap())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("File too large"), "{}", text(&output));
    assert!(text(&output).contains("`ridgewalk resume limited`"), "{}", text(&output));
    let kept = reference.check_kept(&directory, "limited");
    assert!(kept > 0);
    let output = resume(place, &directory);
    assert!(output.status.success(), "{}", text(&output));
    reference.check(&directory, "limited");
    let mut rows = Vec::new();
    count(&mut rows, "a file that may not grow (ulimit -f)", kept, reference, &directory);
    rows
}

#[test]
fn a_full_disk_loses_no_draw() {
    let place = Place::new();
    let reference = Reference::new(&place, "whole", LARGE);
    full_disk(&place, &reference);
    limited_file(&place, &reference);
}

/// A copy of a directory.
fn copy(from: &Path, to: &Path) {
    for (name, bytes) in files(from) {
        let path = to.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// A run that was stopped while sampling, with some draws and at least one block to come.
fn interrupted(place: &Place, words: &str, name: &str) -> PathBuf {
    let directory = place.path(name);
    let output = stop(place, words, name, "-TERM", 0.3, 2000);
    assert_eq!(output.status.code(), Some(130), "{}", text(&output));
    assert!(Checkpoint::read(&directory.join("checkpoint")).unwrap().head.draws[0] > 0);
    directory
}

#[test]
fn changed_or_damaged_files_are_refused_with_the_difference() {
    let place = Place::new();
    let data = place.file("data.csv", &fs::read_to_string(shipped("mixed.csv")).unwrap());
    let words = "data.csv --response ill --predictors dose,age --draws 2500 --thin 30 --csv";
    let reference = Reference::new(&place, "whole", words);
    let directory = interrupted(&place, words, "run");
    let refused = |change: &dyn Fn(&Path), parts: &[&str]| {
        let changed = place.path("changed");
        copy(&directory, &changed);
        change(&changed);
        // Half-written files are ignored.
        let whole = || -> Vec<_> {
            files(&changed).into_iter().filter(|(name, _)| !name.ends_with(".partial")).collect()
        };
        let before = whole();
        let output = resume(&place, &changed);
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{}", text(&output));
        for part in parts {
            assert!(text(&output).contains(part), "{part}: {}", text(&output));
        }
        assert!(whole() == before, "{parts:?}: a refusal changes nothing");
        fs::remove_dir_all(&changed).unwrap();
    };
    let edit = |name: &'static str, from: &'static str, to: &'static str| {
        move |run: &Path| {
            let path = run.join(name);
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.contains(from));
            fs::write(&path, text.replacen(from, to, 1)).unwrap();
        }
    };
    refused(
        &edit("config.toml", "draws = 2500", "draws = 5000"),
        &["config.toml has changed", "found `draws = 5000`, need `draws = 2500`", "Restore it"],
    );
    refused(&edit("config.toml", "seed = \"0\"", ""), &["config.toml has changed"]);
    let damage = |percent: usize| {
        move |run: &Path| {
            let path = run.join("checkpoint");
            let mut bytes = fs::read(&path).unwrap();
            let at = percent * (bytes.len() - 1) / 100;
            bytes[at] ^= 4;
            fs::write(&path, bytes).unwrap();
        }
    };
    for percent in [0, 1, 30, 70, 95, 100] {
        refused(&damage(percent), &["checkpoint: it", "The run cannot be resumed", "are kept"]);
    }
    for percent in [0, 50, 99] {
        let cut = |run: &Path| {
            let path = run.join("checkpoint");
            let bytes = fs::read(&path).unwrap();
            fs::write(&path, &bytes[..percent * bytes.len() / 100]).unwrap();
        };
        refused(&cut, &["checkpoint: it", "The run cannot be resumed"]);
    }
    let other_version = |run: &Path| {
        let path = run.join("checkpoint");
        let mut checkpoint = Checkpoint::read(&path).unwrap();
        checkpoint.head.version = "0.0.9".into();
        checkpoint.write(&path).unwrap();
    };
    refused(&other_version, &["was started by ridgewalk 0.0.9", "need version 0.0.9"]);
    let lost_chunk =
        |run: &Path| fs::remove_file(run.join("draws.zarr/posterior/beta/c.1.0.0")).unwrap();
    refused(&lost_chunk, &["holds 0 draws of chain 1", "put them back"]);
    let lost_store = |run: &Path| fs::remove_dir_all(run.join("draws.zarr")).unwrap();
    refused(&lost_store, &["cannot read", "draws.zarr", "put them back"]);
    let short_csv = |run: &Path| fs::write(run.join("draws.csv"), "chain,draw\n").unwrap();
    refused(&short_csv, &["draws.csv: 11 bytes"]);
    // The data: changed, then removed, then restored.
    let bytes = fs::read(&data).unwrap();
    let one_more = String::from_utf8(bytes.clone()).unwrap().replacen("0.", "1.", 1);
    fs::write(&data, one_more).unwrap();
    refused(
        &|_| {},
        &["data.csv has changed since the run began: found SHA-256 ", "Restore the original data"],
    );
    fs::remove_file(&data).unwrap();
    refused(&|_| {}, &["data.csv: file not found"]);
    fs::write(&data, bytes).unwrap();
    let output = resume(&place, &directory);
    assert!(output.status.success(), "{}", text(&output));
    reference.check(&directory, "after all refusals");
}

#[test]
fn a_directory_is_used_by_one_process_at_a_time() {
    let place = Place::new();
    let words = plain();
    let reference = Reference::new(&place, "whole", &words);
    let directory = place.path("run");
    let mut child = spawn(&place, &format!("fit {words} --out run"));
    reach(&mut child, &directory, Phase::WarmUp);
    for (command, said) in [
        ("resume run".to_owned(), "another process is using "),
        (format!("fit {words} --out run"), "holds a run that another process is using"),
    ] {
        let output = place.run(&command);
        assert_eq!(output.status.code(), Some(2), "{command}: {}", text(&output));
        assert!(text(&output).contains(said), "{}", text(&output));
    }
    assert!(child.wait().unwrap().success());
    reference.check(&directory, "beside others");
    // Two at once: one resumes, the other is refused or finds the run finished.
    let directory = interrupted(&place, &words, "both");
    let [first, second] = [0, 1].map(|_| spawn(&place, "resume both"));
    let [first, second] = [first, second].map(|child| child.wait_with_output().unwrap());
    let codes = [first.status.code(), second.status.code()];
    assert!(
        codes.contains(&Some(0)) && codes.iter().all(|code| matches!(code, Some(0 | 2))),
        "{codes:?}"
    );
    reference.check(&directory, "two at once");
    // Another fit does not write into the directory of an interrupted run.
    let directory = interrupted(&place, &words, "kept");
    let output = place.run(&format!("fit {words} --out kept"));
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output).contains("continue it with `ridgewalk resume kept`"),
        "{}",
        text(&output)
    );
    assert!(resume(&place, &directory).status.success());
    reference.check(&directory, "kept");
}

/// Leftovers of a crash are truncated, overwritten or removed. They are planted here, to catch a
/// resume that keeps any of them.
#[test]
fn files_beyond_the_checkpoint_are_discarded() {
    let place = Place::new();
    let words = plain();
    let reference = Reference::new(&place, "whole", &words);
    let directory = interrupted(&place, &words, "run");
    let csv = directory.join("draws.csv");
    let mut bytes = fs::read(&csv).unwrap();
    bytes.extend(b"0,2000,1.5,1.5,1.5\n1,20");
    fs::write(&csv, &bytes).unwrap();
    for name in [
        ".other.partial",
        ".checkpoint.partial",
        "draws.zarr/posterior/beta/.c.0.1.0.partial",
        ".summary.json.partial",
    ] {
        fs::write(directory.join(name), "half").unwrap();
    }
    // A block that the run may have reached before it was killed.
    let made = Checkpoint::read(&directory.join("checkpoint")).unwrap().head.draws[2];
    let block =
        directory.join(format!("draws.zarr/posterior/beta/c.2.{}.0", (made / 1000 + 1).min(2)));
    fs::write(&block, fs::read(directory.join("draws.zarr/posterior/beta/c.2.0.0")).unwrap())
        .unwrap();
    let output = resume(&place, &directory);
    assert!(output.status.success(), "{}", text(&output));
    reference.check(&directory, "planted");
    // The comparison itself finds a repeated draw, a missing draw and a changed draw.
    let twin = place.path("twin");
    copy(&directory, &twin);
    assert_eq!(difference(&left(&twin), &reference.left), None);
    let mut text = fs::read_to_string(twin.join("draws.csv")).unwrap();
    let line = text.lines().last().unwrap().to_owned();
    writeln!(text, "{line}").unwrap();
    fs::write(twin.join("draws.csv"), text).unwrap();
    assert_eq!(difference(&left(&twin), &reference.left).unwrap(), "draws.csv differs");
    let chunk = twin.join("draws.zarr/posterior/beta/c.3.1.0");
    let mut bytes = fs::read(&chunk).unwrap();
    bytes[24 * 17] ^= 1;
    fs::write(&chunk, bytes).unwrap();
    assert_eq!(reference.lost(&twin), [1, 0]);
    assert!(difference(&left(&twin), &reference.left).unwrap().contains("c.3.1.0"));
}

/// Counts that are all 0: the curvature grows exponentially, and a long step fails sooner or later.
fn diverging(place: &Place) -> String {
    let mut text = String::from("y,a,b\n");
    for i in 0..40 {
        let i = f64::from(i);
        writeln!(text, "0,{:.4},{:.4}", 1.7 * (1.3 * i).sin(), 2.5 * (2.1 * i + 1.0).sin())
            .unwrap();
    }
    let data = place.file("zeros.csv", &text);
    format!(
        "{data} --response y --family poisson --kernel third-order --eta 0.45 --draws 1500 --thin 20"
    )
}

/// Chains that fail end early; their draws are truncated and marked, and a run with such chains is
/// resumed like any other.
fn diverged(place: &Place, wanted: u64) -> Vec<Row> {
    let reference = Reference::new(place, "diverging", &diverging(place));
    let store = reference.directory.join("draws.zarr");
    let root: Value = serde_json::from_slice(&fs::read(store.join("zarr.json")).unwrap()).unwrap();
    let whole = read_every_draw(&store).unwrap();
    let made = StoredDraws::open(&store).unwrap().made().to_vec();
    let short = made.iter().filter(|made| **made < 1500).count();
    assert!((1..8).contains(&short), "{made:?}");
    assert_eq!(
        (&root["attributes"]["truncated"], &root["attributes"]["incomplete"]),
        (&1.into(), &1.into())
    );
    // The number of draws that all chains have, all of them finite.
    let common = read_draws(&store).unwrap();
    assert_eq!(common.common() as u64, *made.iter().min().unwrap());
    assert!(whole.tables().concat().iter().all(|x| x.is_finite()));
    for (chain, made) in whole.tables().into_iter().zip(&made) {
        assert_eq!(chain.len() as u64, 3 * made);
    }
    assert!(reference.left.summary["sampler"]["status"].as_str().unwrap().contains("divergence"));
    let mut rows = kills(place, &reference, wanted, 3);
    rows.iter_mut().for_each(|row| row.fault = "kill -9 of a run with diverging chains".into());
    let mut all = Vec::new();
    rows.into_iter().for_each(|row| add(&mut all, vec![row]));
    all
}

#[test]
fn chains_that_diverge_are_cut_and_marked_and_the_run_can_be_resumed() {
    let place = Place::new();
    let rows = diverged(&place, 3);
    assert!(rows.iter().all(|row| (row.lost, row.twice) == (0, 0)), "{rows:?}");
}

/// Every kind of fault: the full number for `scripts/faults/resume`, which takes minutes; otherwise
/// two more kills at other moments.
#[test]
fn every_fault() {
    let place = Place::new();
    let began = Instant::now();
    let mut rows = Vec::new();
    if std::env::var_os("RIDGEWALK_FAULTS").is_none() {
        let rows = kills(&place, &Reference::new(&place, "whole", &plain()), 2, 13);
        assert!(rows.iter().all(|row| (row.lost, row.twice) == (0, 0)), "{rows:?}");
        return;
    }
    let reference = Reference::new(&place, "whole", &plain());
    println!("a run: {:?} s to the directory, the store, the last draw, the end", reference.times);
    add(&mut rows, kills(&place, &reference, 26, 11));
    println!("{:.0} s: killed", began.elapsed().as_secs_f64());
    let until = Reference::new(&place, "until", &until_ess());
    println!("a run: {:?} s to the directory, the store, the last draw, the end", until.times);
    add(&mut rows, kills(&place, &until, 24, 12));
    println!("{:.0} s: killed with --target-ess", began.elapsed().as_secs_f64());
    for round in 0..5 {
        add(&mut rows, stopped(&place, &reference, ctrl_c(), 0.1 + 0.15 * f64::from(round)));
        add(&mut rows, stopped(&place, &until, "-TERM", 0.1 + 0.15 * f64::from(round)));
    }
    println!("{:.0} s: stopped", began.elapsed().as_secs_f64());
    let large = Reference::new(&place, "large", LARGE);
    add(&mut rows, full_disk(&place, &large).unwrap_or_default());
    add(&mut rows, limited_file(&place, &large));
    println!("{:.0} s: disks", began.elapsed().as_secs_f64());
    add(&mut rows, diverged(&place, 8));
    println!("{:.0} s: diverged", began.elapsed().as_secs_f64());
    let mut text = String::from("fault,injected,kept,compared,lost,twice\n");
    for Row { fault, injected, kept, compared, lost, twice } in &rows {
        writeln!(text, "{fault},{injected},{kept},{compared},{lost},{twice}").unwrap();
    }
    print!("{text}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/faults.csv");
    fs::write(path, text).unwrap();
    assert!(
        rows.iter()
            .filter(|row| row.fault.starts_with("kill"))
            .map(|row| row.injected)
            .sum::<u64>()
            >= 50
    );
    assert!(rows.iter().all(|row| (row.lost, row.twice) == (0, 0)), "{rows:?}");
}
