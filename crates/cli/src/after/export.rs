//! `ridgewalk export`: everything about a run in one store, for ArviZ.

use std::path::PathBuf;

use clap::Args;
use ridgewalk::EXPORT_GROUPS;

use super::{Counter, MemoryOption, open};
use crate::failure::Failure;
use crate::fit::options::Voice;
use crate::fit::progress::write_line;
use crate::output;
use crate::signals::stop_signal;

/// Options of `ridgewalk export`.
#[derive(Debug, Args)]
pub(crate) struct ExportOptions {
    /// The run directory
    directory: PathBuf,
    /// The store to write, which must not exist
    #[arg(long, value_name = "OUT.zarr")]
    arviz: PathBuf,
    /// Groups beside the draws, separated by commas [default: all]
    #[arg(long, value_name = "GROUPS", value_delimiter = ',')]
    groups: Vec<String>,
    #[command(flatten)]
    memory: MemoryOption,
    #[command(flatten)]
    voice: Voice,
}

/// Runs `ridgewalk export`.
pub(crate) fn run(options: &ExportOptions) -> Result<(), Failure> {
    let path = &options.arviz;
    if path.extension().is_some_and(|ending| ending == "nc") {
        let zarr = path.with_extension("zarr");
        return Err(Failure::Usage(format!(
            "{}: found a netCDF file, need a Zarr store such as {zarr}; in Python, \
             xarray.open_datatree(\"{zarr}\", engine=\"zarr\").to_netcdf(\"{}\") makes one of it",
            path.display(),
            path.display(),
            zarr = zarr.display()
        )));
    }
    if let Some(other) = options.groups.iter().find(|name| !EXPORT_GROUPS.contains(&name.as_str()))
    {
        let all = EXPORT_GROUPS.join(", ");
        return Err(Failure::Usage(format!("--groups {other}: need some of {all}")));
    }
    let all = || EXPORT_GROUPS.map(str::to_owned).to_vec();
    let groups = if options.groups.is_empty() { all() } else { options.groups.clone() };
    let run = open(&options.directory, options.memory)?;
    let (stop, counter) = (stop_signal(options.voice), Counter::new(options.voice));
    let show = |done: usize, of: usize| counter.show("row", done as u64, Some(of as u64));
    let done = run.export(path, &groups, &stop, &show);
    counter.end();
    let notes = done?;
    if options.voice.json {
        let document = serde_json::json!({"store": path.display().to_string(), "notes": notes});
        return output::json(&document);
    }
    notes.iter().for_each(|note| write_line(&format!("note: {note}")));
    output::text(&format!("written to {}", path.display()))
}
