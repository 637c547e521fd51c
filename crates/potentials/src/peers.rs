//! Processes that work on one problem together, and their communication.
//!
//! A transport, MPI or threads in a test, provides one operation: how two processes exchange bytes
//! ([`Peers`]). Sums, maxima and gathered lists are built on it here, in an order that depends on
//! the number of processes alone: results do not depend on timing and are the same, to the last
//! bit, in every process.
//!
//! All use recursive doubling: in round k each process exchanges with the one whose number differs
//! in bit k, and after ⌈log₂ P⌉ rounds all have everything. If P is no power of two, each process
//! beyond the largest power P' first sends its part to the one P' below, and receives the result at
//! the end. A process thus makes at most ⌊log₂ P⌋ + 2 exchanges.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// This process among those that work together. They are numbered from 0.
///
/// All of them make the same calls in the same order. An exchange with a process that has ended
/// ends this process too, as in MPI, or panics.
pub trait Peers: Debug + Send + Sync {
    /// The number of this process.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// Sends `mine` to another process and fills `theirs` with the bytes that it sends; both know
    /// the lengths. An empty list is not sent.
    fn exchange(&self, with: usize, mine: &[u8], theirs: &mut [u8]);

    /// Called at the beginning of each operation of several exchanges, with the number of the
    /// group ([`Peers::group`]) that makes it. A transport may send both with its messages, to find
    /// processes that are out of step.
    fn begin(&self, _group: u64, _operation: Operation) {}

    /// A number that tells a subset of the processes from others; 0 for all of them.
    fn group(&self) -> u64 {
        0
    }
}

/// An operation of several exchanges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Operation {
    /// None of those below.
    #[default]
    Exchange,
    /// Sums or maxima of numbers.
    Combine,
    /// The bytes of every process.
    Gather,
    /// The union of lists.
    Union,
    /// The end of all work.
    End,
}

/// A single process.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Peers for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn exchange(&self, _: usize, _: &[u8], _: &mut [u8]) {}
}

impl dyn Peers + '_ {
    /// The sums over all processes of each number, in all of them.
    pub fn sum(&self, numbers: &mut [f64]) {
        self.combine(Operation::Combine, numbers, |a, b| a + b);
    }

    /// The largest of each number over all processes, in all of them.
    pub fn largest(&self, numbers: &mut [f64]) {
        self.combine(Operation::Combine, numbers, f64::max);
    }

    /// Waits until all processes have called this. A transport that checks operations finds out if
    /// one of them ends while others go on.
    pub fn end(&self) {
        self.combine(Operation::End, &mut [0.0], f64::max);
    }

    /// Whether `here` is true in some process.
    #[must_use]
    pub fn somewhere(&self, here: bool) -> bool {
        let mut flag = [f64::from(u8::from(here))];
        self.largest(&mut flag);
        flag[0] > 0.0
    }

    /// Whether `here` is true in every process.
    #[must_use]
    pub fn everywhere(&self, here: bool) -> bool {
        !self.somewhere(!here)
    }

    /// The bytes of every process, in the order of their numbers.
    #[must_use]
    pub fn gather(&self, mine: &[u8]) -> Vec<Vec<u8>> {
        let (rank, size) = (self.rank(), self.size());
        // The lengths first, an operation of its own. Counts below 2⁵³ are exact, and sums of one of them and zeros too.
        let mut lengths = vec![0.0; size];
        lengths[rank] = mine.len() as f64;
        self.sum(&mut lengths);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "lengths of lists"
        )]
        let lengths: Vec<usize> = lengths.iter().map(|length| *length as usize).collect();
        let mut all: Vec<Vec<u8>> = vec![Vec::new(); size];
        all[rank] = mine.to_vec();
        self.begin(self.group(), Operation::Gather);
        let rounds = Rounds::new(size);
        // The parts that process `of` has before round k: those of the processes whose numbers,
        // modulo P', differ from its own in lower bits only.
        let known = |of: usize, k: u32| {
            (0..size)
                .filter(move |r| (r % rounds.power) >> k == (of % rounds.power) >> k)
                .collect::<Vec<_>>()
        };
        let swap = |all: &mut Vec<Vec<u8>>, with: usize, give: &[usize], take: &[usize]| {
            let mine = give.iter().map(|r| all[*r].as_slice()).collect::<Vec<_>>().concat();
            let mut theirs = vec![0; take.iter().map(|r| lengths[*r]).sum()];
            self.exchange(with, &mine, &mut theirs);
            let mut left = theirs.as_slice();
            for r in take {
                let (first, rest) = left.split_at(lengths[*r]);
                all[*r] = first.to_vec();
                left = rest;
            }
        };
        let everyone: Vec<usize> = (0..size).collect();
        match rounds.role(rank) {
            Role::Beyond { below } => {
                swap(&mut all, below, &[rank], &[]);
                let others: Vec<usize> = everyone.into_iter().filter(|r| *r != rank).collect();
                swap(&mut all, below, &[], &others);
            }
            Role::Within { beyond } => {
                if let Some(beyond) = beyond {
                    swap(&mut all, beyond, &[], &[beyond]);
                }
                for k in 0..rounds.count {
                    let with = rank ^ (1 << k);
                    swap(&mut all, with, &known(rank, k), &known(with, k));
                }
                if let Some(beyond) = beyond {
                    let others: Vec<usize> =
                        everyone.into_iter().filter(|r| *r != beyond).collect();
                    swap(&mut all, beyond, &others, &[]);
                }
            }
        }
        all
    }

    /// The numbers that some process has, in all of them. Lists are sorted and have a number once.
    #[must_use]
    pub fn union(&self, mine: Vec<u64>) -> Vec<u64> {
        self.begin(self.group(), Operation::Union);
        let rounds = Rounds::new(self.size());
        let mut all = mine;
        match rounds.role(self.rank()) {
            Role::Beyond { below } => {
                self.trade(below, &all);
                all = self.trade(below, &[]);
            }
            Role::Within { beyond } => {
                if let Some(beyond) = beyond {
                    all = united(&all, &self.trade(beyond, &[]));
                }
                for k in 0..rounds.count {
                    all = united(&all, &self.trade(self.rank() ^ (1 << k), &all));
                }
                if let Some(beyond) = beyond {
                    self.trade(beyond, &all);
                }
            }
        }
        all
    }

    /// Exchanges lists of any lengths.
    #[allow(clippy::cast_possible_truncation, reason = "the length of a list in memory")]
    fn trade(&self, with: usize, mine: &[u64]) -> Vec<u64> {
        let mut length = [0; 8];
        self.exchange(with, &(mine.len() as u64).to_le_bytes(), &mut length);
        let mut theirs = vec![0; 8 * u64::from_le_bytes(length) as usize];
        let mine: Vec<u8> = mine.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.exchange(with, &mine, &mut theirs);
        theirs.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()
    }

    /// The bytes of process 0, in all processes.
    #[must_use]
    pub fn of_first(&self, bytes: &[u8]) -> Vec<u8> {
        self.gather(if self.rank() == 0 { bytes } else { &[] }).swap_remove(0)
    }

    /// This process's range of `things` items that are shared out evenly, in the order of the
    /// processes.
    #[must_use]
    pub fn share(&self, things: usize) -> std::ops::Range<usize> {
        share_of(things, self.rank(), self.size())
    }

    /// Combines each number over all processes. Both of a pair compute the same result, because the
    /// operations commute.
    fn combine(&self, operation: Operation, numbers: &mut [f64], with: impl Fn(f64, f64) -> f64) {
        if self.size() == 1 || numbers.is_empty() {
            return;
        }
        self.begin(self.group(), operation);
        let (rank, rounds) = (self.rank(), Rounds::new(self.size()));
        let mut theirs = vec![0; size_of_val(numbers)];
        let meet = |partner: usize, numbers: &mut [f64], theirs: &mut [u8]| {
            self.exchange(partner, &bytes_of(numbers), theirs);
            for (mine, theirs) in numbers.iter_mut().zip(theirs.as_chunks().0) {
                *mine = with(*mine, f64::from_le_bytes(*theirs));
            }
        };
        match rounds.role(rank) {
            Role::Beyond { below } => {
                self.exchange(below, &bytes_of(numbers), &mut []);
                self.exchange(below, &[], &mut theirs);
                let found = theirs.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
                numbers.iter_mut().zip(found).for_each(|(number, found)| *number = found);
            }
            Role::Within { beyond } => {
                if let Some(beyond) = beyond {
                    self.exchange(beyond, &[], &mut theirs);
                    for (mine, theirs) in numbers.iter_mut().zip(theirs.as_chunks().0) {
                        *mine = with(*mine, f64::from_le_bytes(*theirs));
                    }
                }
                for k in 0..rounds.count {
                    meet(rank ^ (1 << k), numbers, &mut theirs);
                }
                if let Some(beyond) = beyond {
                    self.exchange(beyond, &bytes_of(numbers), &mut []);
                }
            }
        }
    }
}

/// The `part`-th of `parts` even ranges of `things` items.
#[must_use]
pub fn share_of(things: usize, part: usize, parts: usize) -> std::ops::Range<usize> {
    // In 128 bits: the product may be beyond 64.
    let end = |part: usize| (things as u128 * part as u128 / parts.max(1) as u128) as usize;
    end(part)..end(part + 1)
}

/// What is in one of two sorted lists or in both.
fn united(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut all = Vec::with_capacity(a.len().max(b.len()));
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    loop {
        match (a.peek().copied(), b.peek().copied()) {
            (Some(x), Some(y)) => {
                all.push(x.min(y));
                a.next_if(|_| x <= y);
                b.next_if(|_| y <= x);
            }
            (Some(_), None) => all.extend(&mut a),
            (None, Some(_)) => all.extend(&mut b),
            (None, None) => return all,
        }
    }
}

/// The bytes of some numbers, little-endian on every machine.
#[must_use]
pub fn bytes_of(numbers: &[f64]) -> Vec<u8> {
    let mut bytes = vec![0; size_of_val(numbers)];
    bytes.as_chunks_mut().0.iter_mut().zip(numbers).for_each(|(bytes, x)| *bytes = x.to_le_bytes());
    bytes
}

/// Rounds of recursive doubling.
#[derive(Clone, Copy)]
struct Rounds {
    size: usize,
    /// The largest power of two that is no more than the number of processes.
    power: usize,
    count: u32,
}

/// The role of a process in them.
enum Role {
    /// It sends its part to another process and receives the result.
    Beyond { below: usize },
    /// It takes part in all rounds, and represents one beyond if there is one.
    Within { beyond: Option<usize> },
}

impl Rounds {
    fn new(size: usize) -> Self {
        let count = size.max(1).ilog2();
        Self { size, power: 1 << count, count }
    }

    fn role(self, rank: usize) -> Role {
        match rank.checked_sub(self.power) {
            Some(below) => Role::Beyond { below },
            None => Role::Within {
                beyond: Some(rank + self.power).filter(|beyond| *beyond < self.size),
            },
        }
    }
}

/// A subset of the processes, renumbered.
#[derive(Debug, Clone)]
pub struct Subset {
    among: Arc<dyn Peers>,
    members: Vec<usize>,
    rank: usize,
    group: u64,
}

impl Subset {
    /// The processes with these numbers; `None` if this process is not among them.
    #[must_use]
    pub fn new(among: Arc<dyn Peers>, members: Vec<usize>) -> Option<Self> {
        let rank = members.iter().position(|member| *member == among.rank())?;
        // FNV-1a, which is the same on every machine.
        let mix = |hash: u64, next: u64| (hash ^ next).wrapping_mul(0x0100_0000_01b3);
        let start = 0xcbf2_9ce4_8422_2325;
        let group = members.iter().fold(mix(start, among.group()), |h, m| mix(h, *m as u64));
        Some(Self { among, members, rank, group })
    }
}

impl Peers for Subset {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.members.len()
    }

    fn exchange(&self, with: usize, mine: &[u8], theirs: &mut [u8]) {
        self.among.exchange(self.members[with], mine, theirs);
    }

    fn begin(&self, group: u64, operation: Operation) {
        self.among.begin(group, operation);
    }

    fn group(&self) -> u64 {
        self.group
    }
}

/// Peers that count their messages.
#[derive(Debug)]
pub struct Counted<P> {
    peers: P,
    messages: AtomicU64,
    bytes: AtomicU64,
}

impl<P: Peers> Counted<P> {
    /// The same processes, with nothing sent yet.
    pub fn new(peers: P) -> Self {
        Self { peers, messages: AtomicU64::new(0), bytes: AtomicU64::new(0) }
    }

    /// The messages that this process has sent, and their bytes.
    pub fn sent(&self) -> [u64; 2] {
        [&self.messages, &self.bytes].map(|count| count.load(Ordering::Relaxed))
    }
}

impl<P: Peers> Peers for Counted<P> {
    fn rank(&self) -> usize {
        self.peers.rank()
    }

    fn size(&self) -> usize {
        self.peers.size()
    }

    fn exchange(&self, with: usize, mine: &[u8], theirs: &mut [u8]) {
        self.messages.fetch_add(u64::from(!mine.is_empty()), Ordering::Relaxed);
        self.bytes.fetch_add(mine.len() as u64, Ordering::Relaxed);
        self.peers.exchange(with, mine, theirs);
    }

    fn begin(&self, group: u64, operation: Operation) {
        self.peers.begin(group, operation);
    }

    fn group(&self) -> u64 {
        self.peers.group()
    }
}

/// Threads of one process in the role of processes, for tests of distributed work.
#[derive(Debug)]
pub struct Threads {
    rank: usize,
    to: Vec<Mutex<Sender<Vec<u8>>>>,
    from: Vec<Mutex<Receiver<Vec<u8>>>>,
}

impl Threads {
    /// A group of the given size, one member for each thread.
    #[must_use]
    pub fn group(size: usize) -> Vec<Self> {
        let mut group: Vec<Self> =
            (0..size).map(|rank| Self { rank, to: Vec::new(), from: Vec::new() }).collect();
        for sender in 0..size {
            for receiver in 0..size {
                let (to, from) = channel();
                group[sender].to.push(Mutex::new(to));
                group[receiver].from.push(Mutex::new(from));
            }
        }
        group
    }
}

impl Peers for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    #[allow(clippy::panic, reason = "nothing can be done without the others")]
    fn exchange(&self, with: usize, mine: &[u8], theirs: &mut [u8]) {
        if !mine.is_empty() {
            let to = self.to[with].lock().unwrap_or_else(PoisonError::into_inner);
            // A thread that has ended is noticed where a message from it is expected.
            let _ = to.send(mine.to_vec());
        }
        if !theirs.is_empty() {
            let from = self.from[with].lock().unwrap_or_else(PoisonError::into_inner);
            match from.recv() {
                Ok(bytes) if bytes.len() == theirs.len() => theirs.copy_from_slice(&bytes),
                Ok(bytes) => {
                    panic!("thread {with} sent {} bytes: need {}", bytes.len(), theirs.len())
                }
                Err(_) => panic!("thread {with} is gone"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `work` in `size` threads in the role of processes.
    fn in_all<T: Send>(size: usize, work: impl Fn(&dyn Peers) -> T + Sync) -> Vec<T> {
        let group = Threads::group(size);
        std::thread::scope(|scope| {
            let work = &work;
            let handles: Vec<_> =
                group.iter().map(|peers| scope.spawn(move || work(peers))).collect();
            handles.into_iter().map(|handle| handle.join().unwrap()).collect()
        })
    }

    #[test]
    fn every_process_knows_the_same_sum_and_it_is_the_sum() {
        for size in 1..=9 {
            let numbers = |rank: usize| [rank as f64 + 1.0, 1e16, -1e16 * (rank % 2) as f64, 0.1];
            let found = in_all(size, |peers| {
                let mut mine = numbers(peers.rank());
                peers.sum(&mut mine);
                let mut most = [-(peers.rank() as f64), peers.rank() as f64];
                peers.largest(&mut most);
                (mine, most)
            });
            assert!(found.iter().all(|other| *other == found[0]), "{size}: {found:?}");
            let (sum, most) = found[0];
            assert_eq!(sum[0], (size * (size + 1) / 2) as f64);
            assert!((sum[3] - 0.1 * size as f64).abs() < 1e-15 * size as f64);
            assert_eq!(most, [0.0, size as f64 - 1.0]);
        }
    }

    #[test]
    fn lists_of_any_lengths_are_gathered_in_order() {
        for size in 1..=9 {
            let byte = |rank: usize| u8::try_from(rank).unwrap();
            let list = |rank: usize| vec![byte(rank); if rank == 2 { 0 } else { 3 * rank + 1 }];
            let need: Vec<Vec<u8>> = (0..size).map(list).collect();
            let found = in_all(size, |peers| {
                let some = peers.somewhere(peers.rank() == 3);
                let all = peers.everywhere(peers.rank() < 3);
                (
                    peers.gather(&list(peers.rank())),
                    peers.of_first(&[7, byte(peers.rank())]),
                    some,
                    all,
                )
            });
            for (gathered, first, some, all) in found {
                assert_eq!((gathered, first), (need.clone(), vec![7, 0]), "{size}");
                assert_eq!((some, all), (size > 3, size <= 3));
            }
        }
    }

    #[test]
    fn a_union_has_the_numbers_of_all_processes_once() {
        for size in 1..=9 {
            // Nothing at all in one process, multiples of something else in each other.
            let list = |rank: usize| -> Vec<u64> {
                let step = if rank == 1 { 100 } else { 2 + rank };
                (0..100).filter(|k| *k > 0 && k % step == 0).map(|k| k as u64).collect()
            };
            let mut need: Vec<u64> = (0..size).flat_map(list).collect();
            need.sort_unstable();
            need.dedup();
            let found = in_all(size, |peers| peers.union(list(peers.rank())));
            assert!(found.iter().all(|found| *found == need), "{size}: {found:?}");
        }
    }

    #[test]
    fn a_sum_takes_as_many_messages_as_it_has_rounds() {
        // For 2^k processes: k messages each, of the whole list.
        for (size, need) in [(1, 0), (2, 1), (4, 2), (8, 3)] {
            let group: Vec<_> = Threads::group(size).into_iter().map(Counted::new).collect();
            std::thread::scope(|scope| {
                for peers in &group {
                    scope.spawn(move || {
                        let peers: &dyn Peers = peers;
                        peers.sum(&mut [1.0; 10]);
                    });
                }
            });
            assert!(group.iter().all(|peers| peers.sent() == [need, 80 * need]), "{size}");
        }
    }

    #[test]
    fn a_grid_sums_along_each_of_its_lines() {
        let group: Vec<Arc<dyn Peers>> =
            Threads::group(6).into_iter().map(|p| Arc::new(p) as _).collect();
        std::thread::scope(|scope| {
            for all in group {
                scope.spawn(move || {
                    let rank = all.rank();
                    let line =
                        Subset::new(all.clone(), (0..6).filter(|r| r / 2 == rank / 2).collect())
                            .unwrap();
                    let column =
                        Subset::new(all, (0..6).filter(|r| r % 2 == rank % 2).collect()).unwrap();
                    let (line, column): (&dyn Peers, &dyn Peers) = (&line, &column);
                    let mut sums = [rank as f64];
                    line.sum(&mut sums);
                    assert_eq!(sums, [(4 * (rank / 2) + 1) as f64]);
                    column.sum(&mut sums);
                    assert_eq!(sums, [15.0]);
                });
            }
        });
    }

    #[test]
    fn shares_are_whole_and_even() {
        for (things, parts) in [(10, 4), (3, 5), (usize::MAX, 3)] {
            let shares: Vec<_> = (0..parts).map(|part| share_of(things, part, parts)).collect();
            assert_eq!((shares[0].start, shares[parts - 1].end), (0, things));
            assert!(shares.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert!(shares.iter().all(|share| share.len().abs_diff(things / parts) <= 1));
        }
    }
}
