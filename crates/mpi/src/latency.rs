//! The program `ridgewalk-mpi-latency`: measures how long the sums of a step take between these
//! processes, as CSV. `docs/distributed.md` models the cost from this.

mod world;

use std::process::ExitCode;
use std::time::Instant;

use mpi::Threading;
use ridgewalk::potentials::peers::Peers;

/// How many numbers are summed: 8 chains, d = 1 to 10⁵.
const NUMBERS: [usize; 6] = [8, 80, 800, 8_000, 80_000, 800_000];
/// Minimum number of sums and of seconds per size.
const FEWEST: usize = 20;
const SECONDS: f64 = 0.3;

fn main() -> ExitCode {
    let Some((_universe, _)) = mpi::initialize_with_threading(Threading::Serialized) else {
        eprintln!("error: MPI cannot be initialised");
        return ExitCode::FAILURE;
    };
    let all: &dyn Peers = &world::World::new(world::PATIENCE);
    if all.rank() == 0 {
        println!("processes,numbers,bytes,rounds,median_us,best_us");
    }
    for count in NUMBERS {
        let mut numbers = vec![1.0; count];
        let (began, mut times) = (Instant::now(), Vec::new());
        loop {
            let since = Instant::now();
            all.sum(&mut numbers);
            times.push(since.elapsed().as_secs_f64() * 1e6);
            numbers.iter_mut().for_each(|x| *x /= all.size() as f64);
            let enough = times.len() >= FEWEST && began.elapsed().as_secs_f64() > SECONDS;
            if all.somewhere(enough) {
                break;
            }
        }
        times.sort_unstable_by(f64::total_cmp);
        if all.rank() == 0 {
            let (rounds, bytes) = (all.size().ilog2(), 8 * count);
            println!(
                "{},{count},{bytes},{rounds},{:.2},{:.2}",
                all.size(),
                times[times.len() / 2],
                times[0]
            );
        }
    }
    ExitCode::SUCCESS
}
