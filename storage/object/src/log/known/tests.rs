use super::*;
use crate::key::Seq;
use crate::log::entry::{Commit, Header};
use crate::port::WriterId;
use crate::testing::numbers;

fn entry(seq: u64, checkpoint: Option<Checkpoint>) -> Entry {
    Entry {
        seq: Seq(seq),
        header: Header {
            time: time(seq),
            writer: WriterId(1),
            lost: 0,
            commits: vec![Commit {
                id: CommitId(u128::from(seq)),
                rows: 0..0,
                note: None,
            }],
            checkpoint,
        },
        rows: numbers([]),
    }
}

fn time(seq: u64) -> Timestamp {
    Timestamp(i64::try_from(seq * 1_000).unwrap())
}

fn knowing(seqs: std::ops::RangeInclusive<u64>) -> Known {
    let mut known = Known::default();
    for seq in seqs {
        known.learn(&entry(seq, None));
    }
    known
}

#[test]
fn a_log_read_from_its_first_entry_is_known_whole() {
    let known = knowing(1..=10);
    assert!(known.covers(Timestamp(0)));
    assert_eq!(known.get(CommitId(3)).unwrap().seq, Seq(3));
    assert_eq!(known.hand_on(Timestamp(0)).since, None);
}

#[test]
fn a_checkpoint_hands_on_the_newest_and_says_from_when() {
    let many = IN_CHECKPOINT as u64 + 100;
    let handed_on = knowing(1..=many).hand_on(Timestamp(0));
    assert_eq!(handed_on.recent.len(), IN_CHECKPOINT);
    assert_eq!(handed_on.recent[0].seq, Seq(101));
    assert_eq!(handed_on.since, Some(time(100).plus_millis(1)));

    let few = knowing(1..=10).hand_on(time(8));
    assert_eq!(few.recent.len(), 3);
    assert_eq!(few.since, Some(time(8)));
}

#[test]
fn who_starts_from_a_checkpoint_knows_what_it_does_not_know() {
    let handed_on = knowing(1..=10).hand_on(time(8));
    let checkpoint = Checkpoint {
        recent: handed_on.recent,
        recent_since: handed_on.since,
        ..Checkpoint::default()
    };
    let mut known = Known::default();
    known.skip_to(&checkpoint);
    known.learn(&entry(11, Some(checkpoint)));
    assert_eq!(known.get(CommitId(9)).unwrap().seq, Seq(9));
    assert!(known.get(CommitId(7)).is_none());
    assert!(known.covers(time(8)) && !known.covers(time(7)));
}

#[test]
fn memory_is_bounded_and_the_bound_is_known() {
    let most = IN_MEMORY as u64;
    let known = knowing(1..=most + 5);
    assert_eq!(known.order.len(), IN_MEMORY);
    assert_eq!(known.by_id.len(), IN_MEMORY);
    assert!(known.covers(time(6)) && !known.covers(time(5)));
}
