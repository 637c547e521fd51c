//! The command line of `ridgewalk-mpi`.

use clap::{Args, Parser, Subcommand};
use ridgewalk_cli::fit::options::{FitOptions, ResumeOptions};

/// Third-order Langevin sampling of log-concave distributions by several processes
#[derive(Debug, Parser)]
#[command(name = "ridgewalk-mpi", version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Sample a posterior from a data file, as `ridgewalk fit` does
    #[command(
        after_help = "Examples:\n  mpirun -n 4 ridgewalk-mpi fit wells.csv --response switched --out wells\n  \
                      mpirun -n 4 ridgewalk-mpi fit part-{}.csv --response y --row-shards 4\n\n\
                      The first splits the chains; its draws are those of `ridgewalk fit`, bit for bit. In the second\n\
                      each process has a part of the rows, here in its own file. See docs/distributed.md."
    )]
    Fit(Box<SharedFit>),
    /// Resume a run that was interrupted, by one process or by several
    #[command(after_help = "Example:\n  mpirun -n 4 ridgewalk-mpi resume ridgewalk-run")]
    Resume(ResumeOptions),
}

/// Options of `ridgewalk-mpi fit`.
#[derive(Debug, Args)]
pub(crate) struct SharedFit {
    #[command(flatten)]
    pub(crate) options: FitOptions,
    /// Number of parts the rows are split into; must divide the number of processes. The chains are
    /// split among the groups of processes
    #[arg(long, value_name = "R", default_value_t = 1)]
    pub(crate) row_shards: usize,
}
