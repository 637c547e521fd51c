//! What a process is doing, as its messages say: to find processes that are out of step, and
//! processes that wait for each other. Without MPI, so that it can be tested without.

use std::collections::HashMap;

use ridgewalk::potentials::peers::Operation;

/// The first word of a message; another version has another one.
const MARK: u64 = u64::from_le_bytes(*b"ridgewk1");
const WORDS: usize = 7;
/// The bytes of a step, with which a message begins.
pub const HEADER_BYTES: usize = 8 * WORDS;
/// What is not waited for.
const NOTHING: u64 = u64::MAX;

/// An exchange of two processes, as one of them sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The process that sees it.
    pub rank: usize,
    /// The other one.
    pub with: usize,
    /// The group that makes an operation, the operation, and its number among those of the group.
    group: u64,
    operation: u64,
    number: u64,
    /// The number of the exchange among those of these two processes.
    exchange: u64,
    /// The bytes that are sent, and those that are needed.
    gives: u64,
    needs: u64,
}

impl Step {
    fn words(&self) -> [u64; WORDS] {
        let Self { group, operation, number, exchange, gives, needs, .. } = *self;
        [MARK, group, operation, number, exchange, gives, needs]
    }

    fn of_words(rank: usize, with: usize, words: &[u64]) -> Option<Self> {
        let [MARK, group, operation, number, exchange, gives, needs] = *words else { return None };
        Some(Self { rank, with, group, operation, number, exchange, gives, needs })
    }

    /// A message: this step, and the first bytes that are sent.
    #[must_use]
    pub fn message(&self, first: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES + first.len());
        self.words().iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        bytes.extend(first);
        bytes
    }

    /// The bytes after the step of a message with `first` of them, if the message is the one that
    /// this process needs.
    ///
    /// # Errors
    /// What either process is doing, if they are out of step.
    pub fn bytes_of<'m>(&self, message: &'m [u8], first: usize) -> Result<&'m [u8], String> {
        let (header, bytes) = message.split_at_checked(HEADER_BYTES).unwrap_or((&[], message));
        let Some(theirs) = Self::of_words(self.with, self.rank, &words_of(header)) else {
            return Err(format!(
                "process {} sent a message of another version to process {}: need one version of \
                 the program everywhere",
                self.with, self.rank
            ));
        };
        let same = (theirs.group, theirs.operation, theirs.number, theirs.exchange)
            == (self.group, self.operation, self.number, self.exchange);
        if same && theirs.gives == self.needs && theirs.needs == self.gives && bytes.len() == first
        {
            return Ok(bytes);
        }
        // Both say the same.
        let (low, high) = if self.rank < self.with { (self, &theirs) } else { (&theirs, self) };
        Err(format!(
            "processes {} and {} are out of step: {}, but {}; the run cannot go on, and `resume` \
             continues it from its last checkpoint. If all processes run the same program, this is \
             a bug in it",
            low.rank,
            high.rank,
            low.described(),
            high.described()
        ))
    }

    /// What the process does and expects.
    fn described(&self) -> String {
        let names = ["exchange", "sum", "gather", "union", "end of the program"];
        let name = usize::try_from(self.operation).ok().and_then(|index| names.get(index));
        let group = if self.group == 0 {
            "all processes".to_owned()
        } else {
            format!("group {:04x}", self.group & 0xffff)
        };
        format!(
            "process {} is in {} {} of {group}, exchange {} with process {}, sends {} bytes and needs {}",
            self.rank,
            name.unwrap_or(&"something"),
            self.number,
            self.exchange,
            self.with,
            self.gives,
            self.needs
        )
    }
}

fn words_of(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()
}

/// What this process has sent and taken.
#[derive(Debug)]
pub struct Journal {
    rank: usize,
    /// The operation of the group that is under way, and its number.
    group: u64,
    operation: u64,
    number: u64,
    /// How many operations each group has begun.
    begun: HashMap<u64, u64>,
    /// Of each process: exchanges, messages sent to it and messages taken from it.
    exchanges: Vec<u64>,
    sent: Vec<u64>,
    taken: Vec<u64>,
    /// All exchanges.
    all: u64,
}

impl Journal {
    /// Of process `rank` of `size`, with nothing done yet.
    #[must_use]
    pub fn new(rank: usize, size: usize) -> Self {
        let none = || vec![0; size];
        let (exchanges, sent, taken) = (none(), none(), none());
        let begun = HashMap::new();
        Self { rank, group: 0, operation: 0, number: 0, begun, exchanges, sent, taken, all: 0 }
    }

    /// Notes that a group begins an operation.
    pub fn begin(&mut self, group: u64, operation: Operation) {
        let number = self.begun.entry(group).or_default();
        *number += 1;
        (self.group, self.operation, self.number) = (group, operation as u64, *number);
    }

    /// The next exchange with a process.
    pub fn step(&mut self, with: usize, gives: usize, needs: usize) -> Step {
        self.all += 1;
        self.exchanges[with] += 1;
        self.sent[with] += u64::from(gives > 0);
        let (gives, needs, exchange) = (gives as u64, needs as u64, self.exchanges[with]);
        let Self { rank, group, operation, number, .. } = *self;
        Step { rank, with, group, operation, number, exchange, gives, needs }
    }

    /// Notes that a message was taken.
    pub fn took(&mut self, from: usize) {
        self.taken[from] += 1;
    }

    /// A question about why this process waits in a step: for bytes, or for its own to be taken.
    #[must_use]
    pub fn question(&self, here: Step, for_bytes: bool, for_taker: bool) -> Question {
        self.pass_on(Question::default(), here, for_bytes, for_taker)
    }

    /// The question of another process that waits for this one, for the process that this one waits
    /// for.
    #[must_use]
    pub fn pass_on(
        &self, mut question: Question, here: Step, for_bytes: bool, for_taker: bool,
    ) -> Question {
        let taken = if for_bytes { self.taken[here.with] } else { NOTHING };
        let given = if for_taker { self.sent[here.with] } else { 0 };
        question.waits.push(Wait { step: here, number: self.all, taken, given });
        question
    }

    /// What to do about a question, while this process waits in a step.
    #[must_use]
    pub fn answer(
        &self, question: Question, here: Step, for_bytes: bool, for_taker: bool,
    ) -> Answer {
        let (Some(first), Some(last)) = (question.waits.first(), question.waits.last()) else {
            return Answer::Nothing;
        };
        let asker = last.step.rank;
        if last.step.with != self.rank || asker >= self.sent.len() {
            return Answer::Nothing;
        }
        // What the last one waits for may be on its way.
        let holds_up = last.taken == self.sent[asker] || last.given > self.taken[asker];
        if !holds_up {
            return Answer::Nothing;
        }
        if first.step.rank == self.rank {
            // An earlier wait of this process is over.
            let same = first.number == self.all;
            return if same { Answer::Stuck(question.words()) } else { Answer::Nothing };
        }
        // One of a circle that the first is not in asks by itself.
        if question.waits.iter().any(|wait| wait.step.rank == self.rank) {
            return Answer::Nothing;
        }
        Answer::Ask(self.pass_on(question, here, for_bytes, for_taker))
    }
}

/// What to do about a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Nothing: what is waited for will come.
    Nothing,
    /// Ask the process that this one waits for.
    Ask(Question),
    /// End the job: processes wait for each other.
    Stuck(String),
}

/// Why a process waits: for whom, and for whom that one waits, and so on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Question {
    waits: Vec<Wait>,
}

/// A process that waits in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Wait {
    step: Step,
    /// The number of its exchange among all of the process.
    number: u64,
    /// The messages that it has taken from the other, if it waits for the next.
    taken: u64,
    /// The messages that it has sent to the other, if it waits for the last to be taken.
    given: u64,
}

impl Question {
    /// As bytes, to be sent.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let words = self.waits.iter().flat_map(|wait| {
            let Wait { step, number, taken, given } = wait;
            let own = [step.rank as u64, step.with as u64, *number, *taken, *given];
            own.into_iter().chain(step.words())
        });
        words.flat_map(u64::to_le_bytes).collect()
    }

    /// `None` for bytes that are no question.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let words = words_of(bytes);
        let wait = |words: &[u64]| -> Option<Wait> {
            let (&[rank, with, number, taken, given], step) = words.split_first_chunk()?;
            let step = Step::of_words(rank.try_into().ok()?, with.try_into().ok()?, step)?;
            Some(Wait { step, number, taken, given })
        };
        let waits = words.chunks(5 + WORDS).map(wait).collect::<Option<Vec<_>>>()?;
        Some(Self { waits })
    }

    fn words(&self) -> String {
        let all: Vec<String> = self.waits.iter().map(|wait| wait.step.described()).collect();
        format!(
            "processes wait for each other: {}; the run cannot go on, and `resume` continues it from \
             its last checkpoint. If all processes run the same program, this is a bug in it",
            all.join(", ")
        )
    }
}
