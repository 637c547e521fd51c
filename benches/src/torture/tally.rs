//! Results of all runs of a case, as a line of a results file.

use std::collections::BTreeMap;
use std::fmt::Write;

use ridgewalk_gallery::Torture;

use super::{Attempt, Deviation, Verdict};

/// The first line of a results file.
pub const HEADER: &str = "case,method,coefficients,seeds,right,false_alarm,off_with_warning,\
                          silently_wrong,refused,largest_deviation,of,largest_silent_deviation,\
                          gradients,longest_repeat,warnings,refusal\n";

/// The results of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Tally {
    /// Runs of each class, in the order of [`Verdict::ALL`].
    pub counts: [usize; Verdict::ALL.len()],
    /// The largest deviation of all runs.
    pub largest: Option<Deviation>,
    /// The largest of those without a warning, in tolerances.
    pub largest_silent: f64,
    /// Gradients of an average run.
    pub gradients: u64,
    /// The largest of all runs.
    pub longest_repeat: usize,
    /// For each warning, the runs that had it.
    pub warnings: BTreeMap<String, usize>,
    /// The message of the first run without result.
    pub refusal: Option<String>,
}

impl Tally {
    /// Of some runs.
    #[must_use]
    pub fn new(attempts: &[Attempt]) -> Self {
        let count =
            |verdict: Verdict| attempts.iter().filter(|made| made.verdict == verdict).count();
        let finished = attempts.iter().filter(|made| made.worst.is_some());
        let mut warnings = BTreeMap::new();
        for made in attempts {
            let mut names = made.warnings.clone();
            names.dedup();
            names.into_iter().for_each(|name| *warnings.entry(name).or_default() += 1);
        }
        let total: u64 = finished.clone().map(|made| made.gradients).sum();
        let worst = attempts.iter().filter_map(|made| made.worst);
        let silent = finished.clone().filter(|made| made.warnings.is_empty());
        Self {
            counts: Verdict::ALL.map(count),
            largest: worst.max_by(|a, b| a.tolerances.total_cmp(&b.tolerances)),
            largest_silent: silent
                .filter_map(|made| made.worst)
                .fold(0.0, |most, worst| worst.tolerances.max(most)),
            gradients: total / (finished.count() as u64).max(1),
            longest_repeat: attempts.iter().map(|made| made.longest_repeat).max().unwrap_or(0),
            warnings,
            refusal: attempts.iter().find_map(|made| made.refusal.clone()),
        }
    }

    /// The line of a case.
    #[must_use]
    pub fn line(&self, case: &Torture) -> String {
        let mut line = format!("{},{},{}", case.name, case.method, case.dimension());
        // Writing to a string does not fail.
        let _ = write!(line, ",{}", self.counts.iter().sum::<usize>());
        self.counts.iter().for_each(|count| _ = write!(line, ",{count}"));
        let _ = match self.largest {
            Some(Deviation { coefficient, measure, tolerances }) => {
                write!(line, ",{tolerances:.3},{measure} of {coefficient}")
            }
            None => write!(line, ",,"),
        };
        let warnings: Vec<String> =
            self.warnings.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let refusal = self.refusal.as_deref().unwrap_or_default().replace([',', '"', '\n'], ";");
        let _ = writeln!(
            line,
            ",{:.3},{},{},{},{refusal}",
            self.largest_silent,
            self.gradients,
            self.longest_repeat,
            warnings.join("; "),
        );
        line
    }
}
