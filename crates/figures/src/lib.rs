//! Figures that tests measure and documentation pages quote. With `RIDGEWALK_WRITE_DOCS` set, a
//! test writes its figures to `docs/results/tests-NAME.csv`; otherwise it compares them with the
//! committed file. `scripts/tables.py` puts them into the pages.
//!
//! A file has a row for each figure: the test that measured it, the case, the figure and its value.
//! A test replaces only its own rows, so that tests can be run one at a time.

use std::fs::{self, File};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

const HEADER: &str = "test,case,figure,value";

/// Whether figures are written; tests may then take more time for more precise figures.
#[must_use]
pub fn writing() -> bool {
    std::env::var_os("RIDGEWALK_WRITE_DOCS").is_some()
}

/// How close a figure must be to the committed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Near {
    /// To 1 part in 1,000, for deterministic figures and fixed seeds; mathematical libraries differ
    /// in rounding. As [`Near::Rounding`] on machines that round differently from the one that
    /// wrote the file: a single different bit can change the course of a long chain.
    Same,
    /// Within a factor of 4, or a few units in the last place of 1. For figures that are rounding
    /// errors, which differ between machines, or the worst of fewer cases than for the file.
    Rounding,
}

impl Near {
    fn allows(self, found: f64, committed: f64) -> bool {
        match self {
            Self::Same if rounds_as_written() => {
                (found - committed).abs() <= 1e-3 * committed.abs()
            }
            Self::Same | Self::Rounding => {
                (found - committed).abs() <= 16.0 * f64::EPSILON
                    || (found <= 4.0 * committed && committed <= 4.0 * found)
            }
        }
    }
}

/// Whether this machine rounds like those that write the files: x86-64 with fused multiply-add.
fn rounds_as_written() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The figures of one test.
#[derive(Debug)]
#[must_use = "figures are written or compared by `hold`"]
pub struct Figures {
    file: PathBuf,
    test: String,
    rows: Vec<(String, String, f64)>,
}

impl Figures {
    /// The figures of the test `concat!(file!(), "::its_name")` in `docs/results/tests-NAME.csv`.
    pub fn of(name: &str, test: &str) -> Self {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest.ancestors().nth(2).unwrap_or(manifest);
        Self::within(&root.join(format!("docs/results/tests-{name}.csv")), test)
    }

    fn within(file: &Path, test: &str) -> Self {
        Self { file: file.to_owned(), test: test.to_owned(), rows: Vec::new() }
    }

    /// Adds a figure.
    ///
    /// # Panics
    /// If a name contains a comma, a quote or a newline.
    pub fn add(&mut self, case: &str, figure: &str, value: f64) {
        for name in [case, figure] {
            assert!(
                !name.contains([',', '"', '\n']),
                "name `{name}`: need one without commas, quotes and newlines"
            );
        }
        self.rows.push((case.to_owned(), figure.to_owned(), value));
    }

    /// Writes the figures if `RIDGEWALK_WRITE_DOCS` is set, and compares them with the file
    /// otherwise.
    ///
    /// # Panics
    /// If the file cannot be read or written, or if figures differ.
    pub fn hold(&self, near: Near) {
        let outcome = if writing() { self.write() } else { self.compare(near) };
        if let Err(problem) = outcome {
            panic!("{}: {problem}", self.file.display());
        }
    }

    fn write(&self) -> Result<(), String> {
        let message = |error: std::io::Error| error.to_string();
        let mut file =
            File::options().read(true).write(true).create(true).truncate(false).open(&self.file);
        let file = file.as_mut().map_err(|error| error.to_string())?;
        // Tests of one binary run in parallel.
        file.lock().map_err(message)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(message)?;
        let mut lines: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
        lines.retain(|line| line.split(',').next() != Some(&self.test));
        lines.extend(self.rows.iter().map(|(case, figure, value)| {
            format!("{},{case},{figure},{}", self.test, written(*value))
        }));
        // A stable sort keeps the rows of one test in order.
        lines.sort_by(|a, b| a.split(',').next().cmp(&b.split(',').next()));
        file.set_len(0).and_then(|()| file.rewind()).map_err(message)?;
        writeln!(file, "{HEADER}\n{}", lines.join("\n")).map_err(message)
    }

    fn compare(&self, near: Near) -> Result<(), String> {
        let text = fs::read_to_string(&self.file).map_err(|error| error.to_string())?;
        let committed: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split(',').collect())
            .filter(|cells: &Vec<&str>| cells[0] == self.test)
            .collect();
        let mut wrong = Vec::new();
        if committed.len() != self.rows.len() {
            wrong.push(format!("{} figures, but {} in the file", self.rows.len(), committed.len()));
        }
        for ((case, figure, value), cells) in self.rows.iter().zip(&committed) {
            let known = cells.get(3).and_then(|value| value.parse().ok()).unwrap_or(f64::NAN);
            if cells.get(1..3) != Some(&[case.as_str(), figure.as_str()])
                || !near.allows(*value, known)
            {
                wrong.push(format!(
                    "{case}, {figure}: measured {value}, but the file has {}",
                    cells[1..].join(", ")
                ));
            }
        }
        if wrong.is_empty() {
            return Ok(());
        }
        let test = &self.test;
        Err(format!(
            "{test}: {}; to update the file, run the test with RIDGEWALK_WRITE_DOCS=1",
            wrong.join("; ")
        ))
    }
}

/// All digits, with an exponent for very small and very large numbers.
fn written(value: f64) -> String {
    if value != 0.0 && !(1e-4..1e15).contains(&value.abs()) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(file: &Path, test: &str, values: &[(&str, f64)]) -> Figures {
        let mut figures = Figures::within(file, test);
        values.iter().for_each(|(figure, value)| figures.add("case", figure, *value));
        figures
    }

    #[test]
    fn written_figures_compare_equal_and_differences_are_reported() {
        let file =
            std::env::temp_dir().join(format!("ridgewalk-figures-{}.csv", std::process::id()));
        some(&file, "b.rs::second", &[("x", 1.0), ("y", 2e-15)]).write().unwrap();
        some(&file, "a.rs::first", &[("z", 0.0)]).write().unwrap();
        some(&file, "b.rs::second", &[("x", 1.5), ("y", 2e-15)]).write().unwrap();
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(
            text,
            format!(
                "{HEADER}\na.rs::first,case,z,0\nb.rs::second,case,x,1.5\nb.rs::second,case,y,2e-15\n"
            )
        );
        let compared =
            |values: &[(&str, f64)], near| some(&file, "b.rs::second", values).compare(near);
        assert_eq!(compared(&[("x", 1.5), ("y", 2e-15)], Near::Same), Ok(()));
        assert_eq!(compared(&[("x", 1.5001), ("y", 2e-15)], Near::Same), Ok(()));
        assert_eq!(compared(&[("x", 1.0), ("y", 6e-15)], Near::Rounding), Ok(()));
        assert_eq!(some(&file, "a.rs::first", &[("z", 0.0)]).compare(Near::Rounding), Ok(()));
        if rounds_as_written() {
            let problem = compared(&[("x", 1.6), ("y", 2e-15)], Near::Same).unwrap_err();
            assert!(problem.contains("x: measured 1.6"), "{problem}");
        }
        for (values, near, reported) in [
            (&[("x", f64::NAN), ("y", 2e-15)][..], Near::Same, "x: measured NaN"),
            (&[("x", 1.5), ("y", 9e-15)], Near::Rounding, "y: measured 0.000000000000009"),
            (&[("w", 1.5), ("y", 2e-15)], Near::Same, "w: measured 1.5"),
            (&[("x", 1.5)], Near::Same, "1 figures, but 2 in the file"),
        ] {
            let problem = compared(values, near).unwrap_err();
            assert!(problem.contains(reported), "{problem}");
        }
        fs::remove_file(&file).unwrap();
        assert!(compared(&[("x", 1.5)], Near::Same).is_err());
    }
}
