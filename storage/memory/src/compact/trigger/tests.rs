use super::*;
use crate::row::tests::row;

/// A tail of one row an entry, each of so many bytes.
fn tail(entries: u64, bytes: usize) -> Vec<Row> {
    (1..=entries)
        .map(|seq| {
            let mut row = row(seq, "a");
            let mut record = (*row.change.record).clone();
            record.content = "x".repeat(bytes);
            row.change.record = record.into();
            row
        })
        .collect()
}

fn passed(sizes: &Sizes, entries: u64) -> Vec<u64> {
    let passing = (1..=entries).filter(|entry| sizes.passes_at(Seq(*entry)));
    passing.collect()
}

#[test]
fn each_64th_entry_passes_whatever_a_process_has_seen_when() {
    let rows = tail(200, 10);
    let mut at_once = Sizes::default();
    at_once.count(Seq::ZERO, &rows);
    assert_eq!(passed(&at_once, 200), [64, 128, 192]);
    let mut bit_by_bit = Sizes::default();
    for end in [1, 2, 63, 64, 65, 150, 200] {
        bit_by_bit.count(Seq::ZERO, &rows[..end]);
    }
    assert_eq!(bit_by_bit.sums, at_once.sums);
}

#[test]
fn an_entry_passes_with_the_byte_that_makes_four_megabytes_full() {
    let rows = tail(10, (1 << 20) - 256);
    let mut sizes = Sizes::default();
    sizes.count(Seq::ZERO, &rows);
    assert_eq!(passed(&sizes, 10), [4, 8]);
    let mut above = Sizes::default();
    above.count(Seq(4), &rows[4..]);
    assert_eq!(passed(&above, 10), [8], "what is folded does not count");
}

#[test]
fn several_rows_of_one_entry_pass_once() {
    let mut rows = tail(3, 5 << 20);
    rows.extend(tail(3, 5 << 20).split_off(2));
    let mut sizes = Sizes::default();
    sizes.count(Seq::ZERO, &rows[..3]);
    sizes.count(Seq::ZERO, &rows);
    assert_eq!(sizes.sums.len(), 3);
    assert_eq!(passed(&sizes, 3), [1, 2, 3]);
}

#[test]
fn one_compaction_at_a_time_and_none_is_forgotten() {
    let trigger = Arc::new(Trigger::default());
    let turn = trigger.begin(Timestamp(0)).unwrap();
    assert!(trigger.begin(Timestamp(1)).is_none());
    // Another task left a marker and saw that the turn is taken.
    trigger.state().left.insert(Seq(128));
    assert!(!turn.is_over(Seq(100)), "it has to look again");
    assert!(turn.is_over(Seq(128)));
    drop(turn);
    assert!(trigger.begin(Timestamp(2)).is_some());
}

#[test]
fn a_compaction_that_was_cut_off_is_taken_over() {
    let trigger = Arc::new(Trigger::default());
    let stalled = trigger.begin(Timestamp(0)).unwrap();
    let late = Timestamp::default().plus_millis(CUT_OFF_MS + 1);
    let second = trigger.begin(late).unwrap();
    // The first comes back after all: the second keeps its turn.
    drop(stalled);
    assert!(trigger.begin(late).is_none());
    drop(second);
    assert!(trigger.begin(late).is_some());
}
