//! The processes started by MPI, as [`Peers`]: they exchange bytes, and everything else builds on
//! that.
//!
//! Each message begins with what its sender is doing. One that is not the message that a process
//! waits for ends the job with one line. So do processes that wait for each other: one that has
//! waited for a while asks whom it waits for, who asks in turn, and if the question comes back, none
//! of them can go on. A process that computes does not answer, however long it takes.

use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use mpi::datatype::Equivalence;
use mpi::point_to_point::{Status, send_receive_into};
use mpi::request;
use mpi::topology::{Process, SimpleCommunicator};
use mpi::traits::{Communicator, Destination, Source};
use ridgewalk::potentials::peers::{Operation, Peers};
use ridgewalk_mpi::step::{Answer, Journal, Question, Step};

/// Maximum size of a message: MPI counts bytes in 31 bits.
const LONGEST: usize = 1 << 30;
/// The most bytes in the message of a step. More follow in others, without being copied.
const FIRST: usize = 1 << 16;
/// The tags of bytes and of questions.
const BYTES: i32 = 0;
const QUESTION: i32 = 1;
/// How often a process that waits looks at the clock.
const POLLS: u32 = 1 << 10;
/// How long a process waits before it asks why.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// All processes started together. MPI must be initialised and not yet finalised.
#[derive(Debug)]
pub(crate) struct World {
    rank: usize,
    size: usize,
    patience: Duration,
    /// Calls come from one thread at a time.
    journal: Mutex<Journal>,
}

impl World {
    pub(crate) fn new(patience: Duration) -> Self {
        let world = SimpleCommunicator::world();
        let count = |number: i32| usize::try_from(number).unwrap_or(0);
        let (rank, size) = (count(world.rank()), count(world.size()));
        Self { rank, size, patience, journal: Mutex::new(Journal::new(rank, size)) }
    }

    /// Exchanges the messages of a step.
    fn meet(&self, journal: &mut Journal, here: Step, mine: &[u8], theirs: &mut [u8]) {
        let world = SimpleCommunicator::world();
        let other = process(&world, here.with);
        let message = here.message(mine);
        request::scope(|scope| {
            let mut sending = (!mine.is_empty())
                .then(|| other.immediate_send_with_tag(scope, message.as_slice(), BYTES));
            let mut taken = theirs.is_empty();
            let mut polls = 0_u32;
            let mut asked = None;
            while !taken || sending.is_some() {
                sending = sending.and_then(|request| request.test().err());
                if !taken
                    && let Some((message, status)) = other.immediate_matched_probe_with_tag(BYTES)
                {
                    let mut bytes = vec![0; count(&status)];
                    message.matched_receive_into(bytes.as_mut_slice());
                    match here.bytes_of(&bytes, theirs.len()) {
                        Ok(bytes) => theirs.copy_from_slice(bytes),
                        Err(words) => fail(&words),
                    }
                    journal.took(here.with);
                    taken = true;
                }
                polls = polls.wrapping_add(1);
                if polls.is_multiple_of(POLLS) {
                    let since = *asked.get_or_insert_with(Instant::now);
                    let why = (!taken, sending.is_some());
                    if why != (false, false) {
                        self.answer(journal, here, why);
                        if since.elapsed() > self.patience {
                            ask(&journal.question(here, why.0, why.1), here.with);
                            asked = Some(Instant::now());
                        }
                    }
                }
            }
        });
    }

    /// Answers the questions of others, while this process waits.
    fn answer(&self, journal: &Journal, here: Step, (bytes, taker): (bool, bool)) {
        let world = SimpleCommunicator::world();
        let any = world.any_process();
        while let Some((message, status)) = any.immediate_matched_probe_with_tag(QUESTION) {
            let mut question = vec![0; count(&status)];
            message.matched_receive_into(question.as_mut_slice());
            let Some(question) = Question::from_bytes(&question) else { continue };
            match journal.answer(question, here, bytes, taker) {
                Answer::Nothing => {}
                Answer::Ask(question) => ask(&question, here.with),
                Answer::Stuck(words) => fail(&words),
            }
        }
    }
}

impl Peers for World {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn begin(&self, group: u64, operation: Operation) {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner).begin(group, operation);
    }

    /// A lost process ends this one too: MPI errors are fatal by default.
    fn exchange(&self, with: usize, mine: &[u8], theirs: &mut [u8]) {
        if mine.is_empty() && theirs.is_empty() {
            return;
        }
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        let here = journal.step(with, mine.len(), theirs.len());
        let (mine, give) = mine.split_at(mine.len().min(FIRST));
        let (theirs, take) = theirs.split_at_mut(theirs.len().min(FIRST));
        self.meet(&mut journal, here, mine, theirs);
        // Both know now that the lengths agree.
        let world = SimpleCommunicator::world();
        let other = process(&world, with);
        let (mut give, mut take) = (give.chunks(LONGEST), take.chunks_mut(LONGEST));
        loop {
            match (give.next(), take.next()) {
                (Some(mine), Some(theirs)) => {
                    send_receive_into(mine, &other, theirs, &other);
                }
                (Some(mine), None) => other.send(mine),
                (None, Some(theirs)) => {
                    other.receive_into(theirs);
                }
                (None, None) => return,
            }
        }
    }
}

fn ask(question: &Question, whom: usize) {
    let world = SimpleCommunicator::world();
    process(&world, whom).send_with_tag(question.to_bytes().as_slice(), QUESTION);
}

fn process(world: &SimpleCommunicator, rank: usize) -> Process<'_> {
    world.process_at_rank(i32::try_from(rank).unwrap_or(i32::MAX))
}

/// The bytes of a message.
fn count(status: &Status) -> usize {
    usize::try_from(status.count(u8::equivalent_datatype())).unwrap_or(0)
}

/// Ends the job.
fn fail(words: &str) -> ! {
    // Standard error may be closed; the exit code still reports the failure.
    // In one piece: another process may say the same.
    let _ = std::io::stderr().write_all(format!("error: {words}\n").as_bytes());
    SimpleCommunicator::world().abort(1)
}
