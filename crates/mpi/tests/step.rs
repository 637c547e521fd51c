//! Processes that are out of step or wait for each other are found, without MPI.

use ridgewalk::potentials::peers::Operation;
use ridgewalk_mpi::step::{Answer, HEADER_BYTES, Journal, Question, Step};

#[test]
fn only_the_message_of_the_same_step_is_taken() {
    let pair = || [Journal::new(0, 2), Journal::new(1, 2)];
    let [mut here, mut there] = pair();
    here.begin(0, Operation::Combine);
    there.begin(0, Operation::Combine);
    let (mine, theirs) = (here.step(1, 3, 2), there.step(0, 2, 3));
    let message = theirs.message(&[7, 8]);
    assert_eq!(mine.bytes_of(&message, 2), Ok(&[7, 8][..]));
    assert_eq!(theirs.bytes_of(&mine.message(&[1, 2, 3]), 3), Ok(&[1, 2, 3][..]));
    // Cut off, and of another version.
    assert!(mine.bytes_of(&message[..HEADER_BYTES + 1], 2).unwrap_err().contains("out of step"));
    for other in [&message[1..], &message[..20], &[]] {
        assert!(mine.bytes_of(other, 2).unwrap_err().contains("another version"));
    }

    // A skipped operation, a skipped exchange, a repeated one, another operation, another
    // group, another length: both processes say the same.
    type Plant = fn(&mut Journal) -> Step;
    let plants: [Plant; 6] = [
        |journal| {
            journal.begin(0, Operation::Combine);
            journal.begin(0, Operation::Combine);
            journal.step(0, 2, 3)
        },
        |journal| {
            journal.begin(0, Operation::Combine);
            journal.begin(0, Operation::Gather);
            journal.step(0, 2, 3)
        },
        |journal| {
            journal.begin(0, Operation::Combine);
            journal.step(0, 2, 3);
            journal.step(0, 2, 3)
        },
        |journal| {
            journal.begin(0, Operation::End);
            journal.step(0, 2, 3)
        },
        |journal| {
            journal.begin(9, Operation::Combine);
            journal.step(0, 2, 3)
        },
        |journal| {
            journal.begin(0, Operation::Combine);
            journal.step(0, 1, 3)
        },
    ];
    for plant in plants {
        let [mut here, mut there] = pair();
        here.begin(0, Operation::Combine);
        let (mine, theirs) = (here.step(1, 3, 2), plant(&mut there));
        let said = mine.bytes_of(&theirs.message(&[7, 8]), 2).unwrap_err();
        assert_eq!(theirs.bytes_of(&mine.message(&[1, 2, 3]), 3), Err(said.clone()));
        for need in ["processes 0 and 1 are out of step", "process 0 is in sum 1 of all"] {
            assert!(said.contains(need), "{said}");
        }
    }
}

/// Three processes that wait for each other in a circle, and others that do not.
#[test]
fn a_circle_is_found_and_nothing_else() {
    let circle = |late: bool| {
        let mut journals: Vec<Journal> = (0..3).map(|rank| Journal::new(rank, 3)).collect();
        let steps: Vec<Step> =
            (0..3).map(|rank| journals[rank].step((rank + 1) % 3, 0, 8)).collect();
        if late {
            // Process 1 has sent what process 0 waits for: it is on its way.
            journals[1].step(0, 8, 0);
        }
        let asked = journals[0].question(steps[0], true, false);
        let mut question = Question::from_bytes(&asked.to_bytes()).unwrap();
        assert_eq!(question, asked);
        for rank in [1, 2] {
            match journals[rank].answer(question, steps[rank], true, false) {
                Answer::Ask(next) => question = next,
                other => return other,
            }
        }
        journals[0].answer(question, steps[0], true, false)
    };
    assert!(
        matches!(circle(false), Answer::Stuck(words) if words.contains("process 2 is in exchange 0"))
    );
    assert_eq!(circle(true), Answer::Nothing);

    // The answer to a question of an earlier wait.
    let mut journals: Vec<Journal> = (0..2).map(|rank| Journal::new(rank, 2)).collect();
    let asked = {
        let step = journals[0].step(1, 0, 8);
        journals[0].question(step, true, false)
    };
    let back = journals[1].step(0, 0, 8);
    let Answer::Ask(back) = journals[1].answer(asked, back, true, false) else {
        panic!("need a question")
    };
    let later = journals[0].step(1, 0, 8);
    assert_eq!(journals[0].answer(back.clone(), later, true, false), Answer::Nothing);
    assert_eq!(Question::from_bytes(&back.to_bytes()[1..]), None);
}
