//! Everything about a run in one Zarr store, for ArviZ: the draws and what follows from them.

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use ridgewalk_fit::{
    self as fit, DrawsArray, FitRows, Observed, Predictor, in_threads, prior_draws,
};
use ridgewalk_frame::Frame;
use ridgewalk_sampler::Draws;
use ridgewalk_store::{Export, Stream, ValueKind};

use crate::runs::{RunError, StoredFit};

/// A list of a frame, with a number for each row.
type ListOf = fn(&Frame) -> Option<&Vec<f64>>;

/// The groups that can be exported.
pub const EXPORT_GROUPS: [&str; 7] = [
    "posterior",
    "sample_stats",
    "log_likelihood",
    "posterior_predictive",
    "observed_data",
    "constant_data",
    "prior",
];

const FLOAT: ValueKind = ValueKind::Float;

/// The seed of replicated responses in exports, apart from that of the chains.
pub const REPLICATES_SEED: u64 = 0x6172_7669;

impl StoredFit {
    /// Writes a Zarr store with the groups of [`EXPORT_GROUPS`] that `wanted` names; draws are always
    /// there. `progress` is told of rows done. Rows are written some at a time: memory stays bounded.
    ///
    /// Returns notes on what was left out.
    ///
    /// # Errors
    /// A path that exists; data that are gone or changed; files that cannot be written;
    /// [`fit::Error::Stopped`].
    pub fn export(
        &self, path: &Path, wanted: &[String], stop: &AtomicBool,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Vec<String>, RunError> {
        let (config, rows) = (self.bounded()?, self.rows()?);
        let draws = self.stored_draws()?;
        rows.check("an export", &draws, 0)?;
        in_threads(&config.options, || {
            let predictor = Predictor::new(&config, &draws)?;
            let has = |name: &str| wanted.iter().any(|group| group == name);
            let mut export = Export::create(path)?;
            let names = config.resolved.names();
            let groups = config.resolved.groups();
            let apart = groups.arrays(names.len() - groups.parameters().len() - groups.effects());
            export.draws_apart(&self.directory().draws(), &apart)?;
            let (predictor, rows) = (&predictor, &rows);
            let job = Job { predictor, rows, names: &names, apart: &apart, stop, progress };
            if has("observed_data") {
                job.observed_data(&mut export)?;
            }
            if has("constant_data") {
                job.constant_data(&mut export)?;
            }
            let of_draws = [has("log_likelihood"), has("posterior_predictive")];
            job.streams(&mut export, of_draws)?;
            let mut notes = Vec::new();
            if has("prior") {
                match prior_draws(&config, &rows.data()) {
                    Ok(prior) => job.prior(&mut export, &prior)?,
                    Err(error) if error.kind() == fit::ErrorKind::Input => {
                        notes.push(format!("the group prior is left out: {error}"));
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            export.finish()?;
            Ok(notes)
        })?
    }
}

/// What the groups are made of.
struct Job<'a> {
    predictor: &'a Predictor,
    rows: &'a FitRows<'static>,
    /// The names of all columns of the draws, and the arrays that some of them make up.
    names: &'a [String],
    apart: &'a [DrawsArray],
    stop: &'a AtomicBool,
    progress: &'a (dyn Fn(usize, usize) + Sync),
}

impl Job<'_> {
    /// The name of the response: that of its column, or `y`.
    fn name(&self) -> String {
        let settings = &self.predictor.config().options;
        let response = settings.formula.as_ref().map_or_else(
            || settings.response.clone().unwrap_or_default(),
            |formula| formula.split('~').next().unwrap_or_default().trim().to_owned(),
        );
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let usable = !response.is_empty() && response.chars().all(plain);
        let taken = ["chain", "draw", "obs", "coef"].contains(&response.as_str());
        if usable && !taken { response } else { "y".to_owned() }
    }

    fn observed_data(&self, export: &mut Export) -> Result<(), RunError> {
        let upper = self.first(|frame| frame.upper.is_some())?;
        let mut group = export.group("observed_data")?;
        group.counted("obs", self.rows.rows())?;
        let mut one = |name: &str, said: &str| group.stream(name, &["obs"], "obs", FLOAT, said);
        let response = one(&self.name(), "the response; levels by number")?;
        self.fill(response, |frame| Some(&frame.response))?;
        if upper {
            let said = "the end of the interval in which the time lies; infinite if censored";
            self.fill(one("upper", said)?, |frame| frame.upper.as_ref())?;
        }
        Ok(())
    }

    fn constant_data(&self, export: &mut Export) -> Result<(), RunError> {
        let names = self.rows.with(0..1, |observed, _| observed.frame().names.clone())?;
        let mut group = export.group("constant_data")?;
        group.counted("obs", self.rows.rows())?.coordinate("column", &names)?;
        let dims = ["obs", "column"];
        let mut design = group.stream("design", &dims, "obs", FLOAT, "the model matrix")?;
        while let Some(block) = design.next_block() {
            let values = self.rows.with(block, |observed, rows| {
                let of_row = |row: usize| observed.frame().row(row);
                rows.flat_map(of_row).collect::<Vec<f64>>()
            })?;
            design.write(&values)?;
        }
        let lists: [(&str, ListOf); 3] = [
            ("trials", |frame| frame.trials.as_ref()),
            ("offset", |frame| frame.offset.as_ref()),
            ("weights", |frame| frame.weights.as_ref()),
        ];
        for (name, of) in lists {
            if self.first(|frame| of(frame).is_some())? {
                self.fill(group.stream(name, &["obs"], "obs", FLOAT, name)?, of)?;
            }
        }
        Ok(())
    }

    /// What holds of the frame of the first row, and so of all.
    fn first(&self, of: impl Fn(&Frame) -> bool) -> Result<bool, RunError> {
        Ok(self.rows.with(0..1, |observed, _| of(observed.frame()))?)
    }

    /// Writes a number of each row.
    fn fill(
        &self, mut stream: Stream, of: impl Fn(&Frame) -> Option<&Vec<f64>>,
    ) -> Result<(), RunError> {
        while let Some(block) = stream.next_block() {
            let values = self.rows.with(block, |observed, rows| {
                of(observed.frame()).map_or_else(Vec::new, |list| list[rows].to_vec())
            })?;
            stream.write(&values)?;
        }
        Ok(())
    }

    /// Log likelihoods and replicated responses, some rows at a time.
    fn streams(&self, export: &mut Export, wanted: [bool; 2]) -> Result<(), RunError> {
        let (chains, rows) = (self.predictor.chains(), self.rows.rows());
        let each = self.predictor.draws() / chains.max(1);
        let groups = [
            ("log_likelihood", "log density of the response in each draw"),
            ("posterior_predictive", "a response drawn at random in each draw"),
        ];
        let mut open = Vec::new();
        for ((group, said), _) in groups.into_iter().zip(wanted).filter(|(_, wanted)| *wanted) {
            let mut own = export.group(group)?;
            own.counted("chain", chains)?.counted("draw", each)?.counted("obs", rows)?;
            let dims = ["chain", "draw", "obs"];
            let stream = own.stream(&self.name(), &dims, "obs", FLOAT, said)?;
            open.push((group == "log_likelihood", stream));
        }
        for (likelihood, mut stream) in open {
            while let Some(block) = stream.next_block() {
                if self.stop.load(Ordering::Relaxed) {
                    return Err(fit::Error::Stopped.into());
                }
                let end = block.end;
                let values =
                    self.rows.with(block, |observed: &Observed, block| match likelihood {
                        true => self.predictor.log_likelihood(observed, block),
                        false => self.predictor.replicates(observed, block, REPLICATES_SEED),
                    })?;
                stream.write(&values)?;
                (self.progress)(end, rows);
            }
        }
        Ok(())
    }

    fn prior(&self, export: &mut Export, prior: &Draws) -> Result<(), RunError> {
        let all = self.names.len();
        let own = self.apart.iter().map(|array| array.columns.start).min().unwrap_or(all);
        let mut group = export.group("prior")?;
        let names = &self.names[..own];
        group.counted("chain", 1)?.counted("draw", prior.common())?.coordinate("coef", names)?;
        let values = |columns: Range<usize>| -> Vec<f64> {
            let draws = prior.chain(0).chunks_exact(all.max(1));
            draws.flat_map(|draw| &draw[columns.clone()]).copied().collect()
        };
        let dims = ["chain", "draw", "coef"];
        let said = "coefficients and parameters, drawn from the prior";
        group.array("beta", &dims, &values(0..own), said)?;
        let mut made = HashSet::new();
        for array in self.apart {
            for (dim, labels) in array.dims.iter().filter(|(dim, _)| made.insert(dim.as_str())) {
                group.coordinate(dim, labels)?;
            }
            let dims = array.dims.iter().map(|(dim, _)| dim.as_str());
            let dims: Vec<&str> = ["chain", "draw"].into_iter().chain(dims).collect();
            let said = format!("{}, drawn from the prior", array.description);
            group.array(&array.name, &dims, &values(array.columns.clone()), &said)?;
        }
        Ok(())
    }
}
