//! The processes of one fit: which of them has which rows and chains, and how they agree on
//! success.
//!
//! They form a grid: processes `shards` apart have the same rows and split the chains; neighbours
//! have the same chains and split the rows. All run the same code and reach the same decisions;
//! only the first writes files and prints.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ridgewalk::RunError;
use ridgewalk::frame::Part;
use ridgewalk::pipeline::{Error as FitError, Rows};
use ridgewalk::potentials::peers::{Alone, Peers, Subset};
use ridgewalk::sampler::{Error as SamplerError, Team};
use ridgewalk_cli::failure::Failure;

/// Status byte exchanged between processes.
const WELL: u8 = 0;
const FAILED: u8 = 1;
const HEARD: u8 = 2;

/// The processes of a fit, this one among them.
#[derive(Debug, Clone)]
pub(crate) struct Processes {
    all: Arc<dyn Peers>,
    rows: Arc<dyn Peers>,
    chains: Arc<dyn Peers>,
    /// Whether all processes know of a failure, so that no further agreement is needed.
    over: Arc<AtomicBool>,
}

impl Processes {
    /// All processes, with the rows in `shards` shards.
    pub(crate) fn grid(all: Arc<dyn Peers>, shards: usize) -> Result<Self, Failure> {
        let (rank, size) = (all.rank(), all.size());
        if shards == 0 || !size.is_multiple_of(shards) {
            return Err(Failure::Usage(format!(
                "--row-shards {shards}: need a divisor of the number of processes, {size}"
            )));
        }
        let some = |is_one: &dyn Fn(usize) -> bool| -> Arc<dyn Peers> {
            let members = (0..size).filter(|other| is_one(*other)).collect();
            Subset::new(Arc::clone(&all), members)
                .map_or_else(|| Arc::new(Alone) as _, |some| Arc::new(some) as _)
        };
        let rows = some(&|other| other / shards == rank / shards);
        let chains = some(&|other| other % shards == rank % shards);
        Ok(Self { all, rows, chains, over: Arc::default() })
    }

    /// Whether this process writes files and prints.
    pub(crate) fn first(&self) -> bool {
        self.all.rank() == 0
    }

    /// Whether this is the only process.
    fn is_alone(&self) -> bool {
        self.all.size() == 1
    }

    /// The number of processes.
    pub(crate) fn size(&self) -> usize {
        self.all.size()
    }

    /// The number of groups that split the chains.
    pub(crate) fn chain_groups(&self) -> usize {
        self.chains.size()
    }

    /// The number of row shards.
    pub(crate) fn row_shards(&self) -> usize {
        self.rows.size()
    }

    /// The processes that hold the rows for this process's chains.
    pub(crate) fn peers(&self) -> &dyn Peers {
        &*self.rows
    }

    /// The same, for a model.
    pub(crate) fn rows(&self) -> Rows {
        Rows::shared(Arc::clone(&self.rows))
    }

    /// Whether this process has the chains of the first, and so helps to diagnose the draws.
    pub(crate) fn beside_first(&self) -> bool {
        self.chains.rank() == 0
    }

    /// The rows of this process.
    pub(crate) fn part(&self) -> Part {
        Part { number: self.rows.rank(), of: self.rows.size() }
    }

    /// For the sampler.
    pub(crate) fn team(&self) -> Team {
        Team::new(Arc::clone(&self.all), Arc::clone(&self.chains))
    }

    /// Broadcasts a value from the first process.
    pub(crate) fn of_first(&self, bytes: &[u8]) -> Vec<u8> {
        self.all.of_first(bytes)
    }

    /// Returns the result, or the error of another process that failed, with its number unless all
    /// failed alike. A failing process may reach a later call of this function than the rest, so
    /// agreement on a failure happens only once.
    pub(crate) fn settle<T>(&self, done: Result<T, Failure>) -> Result<T, Failure> {
        if self.is_alone() || self.over.load(Ordering::Relaxed) {
            return done;
        }
        let said = match &done {
            Ok(_) => vec![WELL],
            Err(failure) => {
                let tag = if is_elsewhere(failure) { HEARD } else { FAILED };
                [&[tag, failure.code()], failure.words().as_bytes()].concat()
            }
        };
        let all = self.all.gather(&said);
        self.over.store(all.iter().any(|said| said.first() != Some(&WELL)), Ordering::Relaxed);
        let of = |tag: u8| all.iter().position(|said| said.first() == Some(&tag));
        let Some(rank) = of(FAILED).or_else(|| of(HEARD)).filter(|rank| all[*rank].len() > 1)
        else {
            return done;
        };
        let found = &all[rank];
        let message = String::from_utf8_lossy(&found[2..]);
        // The first process is the one that writes, and speaks for itself.
        let named = rank > 0 && all.iter().any(|said| said != found);
        if done.is_err() && !named && *found == said {
            return done;
        }
        let message = if named { format!("process {rank}: {message}") } else { message.into() };
        Err(Failure::Elsewhere { code: found[1], message })
    }

    /// Checks that a value is the same in all processes; `need` is the remedy.
    pub(crate) fn same(&self, what: &str, mine: &str, need: &str) -> Result<(), Failure> {
        let all = self.all.gather(mine.as_bytes());
        match all.iter().position(|other| *other != all[0]) {
            None => Ok(()),
            Some(other) => {
                let [here, there] =
                    [&all[0], &all[other]].map(|bytes| String::from_utf8_lossy(bytes));
                Err(Failure::Usage(format!(
                    "{what} of process {other} is {there} but {here} in process 0: need {need}"
                )))
            }
        }
    }
}

/// Whether this process only knows that another one failed.
fn is_elsewhere(failure: &Failure) -> bool {
    match failure {
        Failure::Elsewhere { .. } => true,
        Failure::Fit(RunError::Fit(FitError::Sampler(SamplerError::Elsewhere))) => true,
        Failure::Fit(RunError::Interrupted { cause, .. }) => {
            matches!(cause.downcast_ref(), Some(FitError::Sampler(SamplerError::Elsewhere)))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use ridgewalk::potentials::peers::Threads;

    use super::*;

    fn in_all<T: Send>(
        size: usize, shards: usize, work: impl Fn(usize, Processes) -> T + Sync,
    ) -> Vec<T> {
        std::thread::scope(|scope| {
            let work = &work;
            let threads = Threads::group(size).into_iter().map(|peers| {
                scope.spawn(move || {
                    let rank = peers.rank();
                    work(rank, Processes::grid(Arc::new(peers), shards).unwrap())
                })
            });
            threads.collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    #[test]
    fn a_grid_has_shards_side_by_side() {
        let found = in_all(6, 2, |_, processes| {
            (
                processes.part(),
                processes.chain_groups(),
                processes.beside_first(),
                processes.first(),
            )
        });
        for (rank, (part, groups, beside, first)) in found.into_iter().enumerate() {
            assert_eq!((part, groups), (Part { number: rank % 2, of: 2 }, 3));
            assert_eq!((beside, first), (rank < 2, rank == 0));
        }
        for shards in [0, 4] {
            let group: Vec<_> = Threads::group(6)
                .into_iter()
                .map(|p| Processes::grid(Arc::new(p), shards))
                .collect();
            assert!(
                group.iter().all(
                    |grid| matches!(grid, Err(Failure::Usage(text)) if text.contains("divisor"))
                )
            );
        }
    }

    #[test]
    fn all_processes_end_with_the_failure_of_the_one_that_knows() {
        let found = in_all(4, 1, |rank, processes| {
            let done = match rank {
                1 => Err(FitError::from(SamplerError::Elsewhere).into()),
                2 => Err(Failure::Run("the disk is full".into())),
                3 => Err(Failure::Stopped("later".into())),
                _ => Ok(7),
            };
            let failure = processes.settle(done).unwrap_err();
            (failure.code(), failure.to_string())
        });
        let need = (1, "process 2: the disk is full".to_owned());
        assert!(found.iter().all(|said| *said == need), "{found:?}");
        let found = in_all(3, 1, |_, processes| {
            let done: Result<(), Failure> = Err(Failure::Usage("no such file".into()));
            processes.settle(done).unwrap_err().to_string()
        });
        assert!(found.iter().all(|said| said == "no such file"), "{found:?}");
        assert!(
            in_all(3, 3, |rank, processes| processes.settle(Ok(rank)))
                .into_iter()
                .all(|done| done.is_ok())
        );
    }

    #[test]
    fn differences_are_reported_in_one_line() {
        let found = in_all(3, 1, |rank, processes| {
            let version = if rank == 2 { "0.2.0" } else { "0.1.0" };
            let error =
                processes.same("the version", version, "one version everywhere").unwrap_err();
            processes.same("the data", "abc", "the same").unwrap();
            error.to_string()
        });
        let line =
            "the version of process 2 is 0.2.0 but 0.1.0 in process 0: need one version everywhere";
        assert!(found.iter().all(|error| error == line), "{found:?}");
    }
}
