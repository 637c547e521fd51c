//! Fits by the real program, in a temporary directory, and their output files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use ridgewalk::sampler::Draws;
use ridgewalk::store::read_draws;
use serde_json::Value;

/// The signal of Ctrl-C; SIGTERM where the tests were started with SIGINT ignored, as scripts start
/// their background jobs: programs that they start ignore it too.
pub fn ctrl_c() -> &'static str {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    if mask & 0b10 == 0 { "-INT" } else { "-TERM" }
}

/// A directory in which fits are run, with one subdirectory each.
pub struct Place(tempfile::TempDir);

/// A successful fit.
pub struct Fit {
    pub directory: PathBuf,
    pub summary: Value,
    pub stdout: String,
    pub stderr: String,
}

/// A coefficient of a summary.
#[derive(Debug, Clone, Copy)]
pub struct Coefficient {
    pub mean: f64,
    pub sd: f64,
    pub mcse: f64,
    pub ess: f64,
    pub mode: f64,
}

/// A file of tests/data.
pub fn shipped(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name).display().to_string()
}

impl Place {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and returns its path.
    pub fn file(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).unwrap();
        self.path(name).display().to_string()
    }

    /// `ridgewalk` in this directory, with arguments split at blanks.
    pub fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ridgewalk"));
        command.args(words.split_whitespace()).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    pub fn run(&self, words: &str) -> Output {
        self.command(words).output().unwrap()
    }

    /// Fits with these options into the directory `out`; must succeed.
    pub fn fit(&self, out: &str, words: &str) -> Fit {
        let output = self.run(&format!("fit {words} --out {out}"));
        let [stdout, stderr] =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(output.status.code(), Some(0), "{words}: {stderr}");
        let directory = self.path(out);
        let summary =
            serde_json::from_slice(&fs::read(directory.join("summary.json")).unwrap()).unwrap();
        Fit { directory, summary, stdout, stderr }
    }
}

impl Fit {
    pub fn draws(&self) -> Draws {
        read_draws(&self.directory.join("draws.zarr")).unwrap()
    }

    pub fn status(&self) -> &str {
        self.summary["sampler"]["status"].as_str().unwrap()
    }

    pub fn names(&self) -> Vec<&str> {
        let list = self.summary["parameters"].as_array().unwrap();
        list.iter().map(|p| p["name"].as_str().unwrap()).collect()
    }

    pub fn notes(&self) -> String {
        let list = self.summary["notes"].as_array().unwrap();
        list.iter().map(|note| note.as_str().unwrap()).collect::<Vec<_>>().join("\n")
    }

    pub fn coefficients(&self) -> Vec<Coefficient> {
        let list = self.summary["parameters"].as_array().unwrap();
        list.iter()
            .map(|p| {
                let of = |key: &str| p[key].as_f64().unwrap_or_else(|| panic!("{key} in {p}"));
                Coefficient {
                    mean: of("mean"),
                    sd: of("sd"),
                    mcse: of("mcse_mean"),
                    ess: of("ess_bulk"),
                    mode: of("mode"),
                }
            })
            .collect()
    }

    pub fn modes(&self) -> Vec<f64> {
        self.coefficients().iter().map(|c| c.mode).collect()
    }
}

/// The largest difference of numbers that should be equal, in units of `scale`.
pub fn apart(got: &[f64], need: &[f64], scale: &[f64]) -> f64 {
    assert!(got.len() == need.len() && got.len() == scale.len());
    got.iter().zip(need).zip(scale).map(|((a, b), s)| ((a - b) / s).abs()).fold(0.0, f64::max)
}

/// The largest difference of means and standard deviations between two fits, or a fit and a
/// reference, relative to what is allowed: five joint standard errors plus `tolerance` standard
/// deviations for the bias. Above 1 they disagree.
pub fn disagreement(got: &[Coefficient], need: &[Coefficient], tolerance: f64) -> f64 {
    assert_eq!(got.len(), need.len());
    let pairs = got.iter().zip(need).flat_map(|(a, b)| {
        let sd_error = |c: &Coefficient| c.sd / (2.0 * c.ess).sqrt();
        let allowed = |x: f64, y: f64| 5.0 * x.hypot(y) + tolerance * b.sd;
        [
            (a.mean - b.mean).abs() / allowed(a.mcse, b.mcse),
            (a.sd - b.sd).abs() / allowed(sd_error(a), sd_error(b)),
        ]
    });
    pairs.fold(0.0, f64::max)
}

/// Every file below a directory, with its bytes.
pub fn files(path: &Path) -> Vec<(String, Vec<u8>)> {
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
