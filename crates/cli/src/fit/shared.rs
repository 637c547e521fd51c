//! A fit by several processes: what each of them reads, and what they cannot do.

use std::sync::Arc;

use ridgewalk::potentials::peers::Peers;

use super::{FitOptions, fit, tell, threads};
use crate::data::{self, Part, Table};
use crate::failure::Failure;
use crate::processes::Processes;

/// Runs the subcommand as one of several processes, with the rows in so many shards.
pub(crate) fn run(
    all: &Arc<dyn Peers>,
    options: &FitOptions,
    shards: usize,
) -> Result<(), Failure> {
    let processes = Processes::grid(Arc::clone(all), shards)?;
    let pool = processes.settle(threads(options.threads.or(Some(1))))?;
    let done = pool.install(|| processes.settle(fit(options, None, &processes)))?;
    processes.settle(done.map_or(Ok(()), |document| tell(&document, options)))
}

/// The rows of this process, and the digest of all data, which is the same in all processes.
pub(super) fn read(
    options: &FitOptions,
    processes: &Processes,
) -> Result<(Table, String), Failure> {
    let part = processes.part();
    let table = match &options.data {
        Some(path) => Table::read_part(path, part),
        None if part.of == 1 => Table::built_in(),
        None => {
            return Err(Failure::Usage(
                "--row-shards is for data in a file: found none, need DATA".into(),
            ));
        }
    };
    let table = processes.settle(table.map_err(Failure::from))?;
    let own_files = part.of > 1 && options.data.as_deref().is_some_and(Part::has_file);
    let digest = if own_files {
        let all = processes.rows().gather(table.digest().as_bytes());
        data::digest_of(&all.concat())
    } else {
        table.digest().to_owned()
    };
    let need = "the same data everywhere";
    processes.same(&format!("SHA-256 of {}", table.name()), &digest, need)?;
    Ok((table, digest))
}

/// What several processes cannot do.
pub(super) fn check(options: &FitOptions, processes: &Processes) -> Result<(), Failure> {
    let (groups, shards) = (processes.chain_groups(), processes.row_shards());
    if options.chains < groups {
        return Err(Failure::Usage(format!(
            "--chains {}: need at least {groups}, one for each group of processes, or more --row-shards",
            options.chains
        )));
    }
    if shards > 1 && options.nodes.is_some() {
        return Err(Failure::Usage(
            "--nodes is not for rows in shards: leave out one of --nodes and --row-shards".into(),
        ));
    }
    Ok(())
}
