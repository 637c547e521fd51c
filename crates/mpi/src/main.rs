//! The program `ridgewalk-mpi`: `ridgewalk fit` and `ridgewalk resume` by all the processes that
//! `mpirun` has started.
//!
//! Their work is in the library; the communication is here.

mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;

use mpi::Threading;
use mpi::topology::SimpleCommunicator;
use mpi::traits::Communicator;
use ridgewalk::potentials::peers::Peers;

fn main() -> ExitCode {
    // MPI is finalised on drop, after all processes have agreed on the exit code.
    let Some((_universe, threading)) = mpi::initialize_with_threading(Threading::Serialized) else {
        eprintln!("error: MPI cannot be initialised");
        return ExitCode::FAILURE;
    };
    if threading < Threading::Serialized {
        eprintln!("error: the MPI library offers {threading:?} threads: need Serialized");
        SimpleCommunicator::world().abort(1);
    }
    let all: Arc<dyn Peers> = Arc::new(world::World::new(world::PATIENCE));
    let run = || {
        let code = ridgewalk_mpi::run(&all);
        // One that ends while others go on would leave them waiting.
        all.end();
        code
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(code) => code,
        // The panic message is printed; the other processes would wait forever.
        Err(_) => SimpleCommunicator::world().abort(101),
    }
}
