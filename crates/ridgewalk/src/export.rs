//! Everything about a run in one Zarr store, for ArviZ: the draws and what follows from them.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use ridgewalk_fit::{self as fit, Observed, Predictor, in_threads, prior_draws};
use ridgewalk_sampler::Draws;
use ridgewalk_store::{Export, ValueKind};

use crate::runs::{RunError, StoredFit};

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
        let (config, table) = (self.config()?, self.table()?);
        let draws = self.stored_draws()?;
        in_threads(&config.options, || {
            let predictor = Predictor::new(&config, &draws)?;
            let observed = Observed::new(&config, &table)?;
            let has = |name: &str| wanted.iter().any(|group| group == name);
            let mut export = Export::create(path)?;
            export.draws(&self.directory().draws())?;
            let job = Job { predictor: &predictor, observed: &observed, stop, progress };
            if has("observed_data") {
                job.observed_data(&mut export)?;
            }
            if has("constant_data") {
                job.constant_data(&mut export)?;
            }
            let rows = [has("log_likelihood"), has("posterior_predictive")];
            job.streams(&mut export, rows)?;
            let mut notes = Vec::new();
            if has("prior") {
                match prior_draws(&config, &table) {
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
    observed: &'a Observed,
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
        let frame = self.observed.frame();
        let mut group = export.group("observed_data")?;
        group.counted("obs", frame.rows)?;
        group.array(&self.name(), &["obs"], &frame.response, "the response; levels by number")?;
        if let Some(upper) = &frame.upper {
            let said = "the end of the interval in which the time lies; infinite if censored";
            group.array("upper", &["obs"], upper, said)?;
        }
        Ok(())
    }

    fn constant_data(&self, export: &mut Export) -> Result<(), RunError> {
        let frame = self.observed.frame();
        let mut group = export.group("constant_data")?;
        group.counted("obs", frame.rows)?.coordinate("column", &frame.names)?;
        group.array("design", &["obs", "column"], &frame.design, "the model matrix")?;
        for (name, values) in
            [("trials", &frame.trials), ("offset", &frame.offset), ("weights", &frame.weights)]
        {
            if let Some(values) = values {
                group.array(name, &["obs"], values, name)?;
            }
        }
        Ok(())
    }

    /// Log likelihoods and replicated responses, some rows at a time.
    fn streams(&self, export: &mut Export, wanted: [bool; 2]) -> Result<(), RunError> {
        let (chains, rows) = (self.predictor.chains(), self.observed.rows());
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
            let stream = own.stream(&self.name(), &dims, "obs", ValueKind::Float, said)?;
            open.push((group == "log_likelihood", stream));
        }
        for (likelihood, mut stream) in open {
            while let Some(block) = stream.next_block() {
                if self.stop.load(Ordering::Relaxed) {
                    return Err(fit::Error::Stopped.into());
                }
                let end = block.end;
                let values = if likelihood {
                    self.predictor.log_likelihood(self.observed, block)
                } else {
                    self.predictor.replicates(self.observed, block, REPLICATES_SEED)
                };
                stream.write(&values)?;
                (self.progress)(end, rows);
            }
        }
        Ok(())
    }

    fn prior(&self, export: &mut Export, prior: &Draws) -> Result<(), RunError> {
        let names = self.predictor.config().resolved.names();
        let mut group = export.group("prior")?;
        group.counted("chain", 1)?.counted("draw", prior.common())?.coordinate("coef", &names)?;
        let dims = ["chain", "draw", "coef"];
        let values = prior.chain(0).to_vec();
        group.array("beta", &dims, &values, "coefficients and parameters, drawn from the prior")?;
        Ok(())
    }
}
