//! The program `ridgewalk-mpi-planted`: `ridgewalk-mpi` in which a process makes a mistake, for scripts/checks/mpi: the environment has
//! `PLANT="PROCESS EXCHANGE MISTAKE"`, with the mistakes below.

mod world;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mpi::Threading;
use ridgewalk::potentials::peers::{Operation, Peers};
use world::World;

/// The processes, of which one makes a mistake in one of its exchanges.
#[derive(Debug)]
struct Planted {
    world: World,
    process: usize,
    exchange: u64,
    mistake: String,
    made: AtomicU64,
}

impl Peers for Planted {
    fn rank(&self) -> usize {
        self.world.rank()
    }

    fn size(&self) -> usize {
        self.world.size()
    }

    fn begin(&self, group: u64, operation: Operation) {
        self.world.begin(group, operation);
    }

    fn exchange(&self, with: usize, mine: &[u8], theirs: &mut [u8]) {
        let number = self.made.fetch_add(1, Ordering::Relaxed) + 1;
        let here = number == self.exchange && self.rank() == self.process;
        match self.mistake.as_str() {
            "skip" if here => return,
            "repeat" if here => self.world.exchange(with, mine, theirs),
            "short" if here => {
                let shorter = &mine[..mine.len().saturating_sub(1)];
                return self.world.exchange(with, shorter, theirs);
            }
            "end" if here => {
                let all: &dyn Peers = &self.world;
                return all.end();
            }
            // All of them: each waits for the next.
            "circle" if number == self.exchange => {
                self.world.exchange((self.rank() + 1) % self.size(), &[], &mut [0]);
            }
            _ => {}
        }
        self.world.exchange(with, mine, theirs);
    }
}

fn main() -> ExitCode {
    let plant = std::env::var("PLANT").unwrap_or_default();
    let words: Vec<&str> = plant.split(' ').collect();
    let numbers = words.iter().take(2).map(|word| word.parse().ok()).collect::<Option<Vec<u64>>>();
    let (Some([process, exchange]), Some(mistake)) = (numbers.as_deref(), words.get(2)) else {
        eprintln!("need PLANT=\"PROCESS EXCHANGE MISTAKE\"");
        return ExitCode::FAILURE;
    };
    let Some((_universe, _)) = mpi::initialize_with_threading(Threading::Serialized) else {
        return ExitCode::FAILURE;
    };
    let all: Arc<dyn Peers> = Arc::new(Planted {
        world: World::new(world::PATIENCE / 10),
        process: usize::try_from(*process).unwrap_or(0),
        exchange: *exchange,
        mistake: (*mistake).to_owned(),
        made: AtomicU64::new(0),
    });
    let code = ridgewalk_mpi::run(&all);
    all.end();
    code
}
