use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

#[test]
fn two_hundred_small_entries_lie_in_thirteen_objects() {
    let listed: Vec<(Seq, u64)> = (1..=200).map(|n| (Seq(n), 2_000)).collect();
    assert_eq!(to_fetch(&listed, Seq::ZERO).len(), 13);
    assert_eq!(
        to_fetch(&listed, Seq(190)),
        [Seq(192), Seq(200)],
        "a block that is partly known is read once more, by its last object"
    );
}

#[test]
fn a_block_begins_after_each_multiple_of_sixteen() {
    assert_eq!(block_start(Seq(1)), Seq(1));
    assert_eq!(block_start(Seq(16)), Seq(1));
    assert_eq!(block_start(Seq(17)), Seq(17));
}

#[test]
fn what_lies_before_a_gap_does_not_count() {
    let listed = [(Seq(3), 1), (Seq(9), 1), (Seq(10), 1)];
    assert_eq!(dense_suffix(&listed), &listed[1..]);
    assert_eq!(dense_suffix(&listed[1..]), &listed[1..]);
    assert!(dense_suffix(&[]).is_empty());
}

/// Writes a log by the rule and says which entries each object holds.
fn written(own_bytes: &[u64]) -> Vec<(Seq, u64, BTreeSet<u64>)> {
    let mut objects: Vec<(Seq, u64, BTreeSet<u64>)> = Vec::new();
    for (index, own) in own_bytes.iter().enumerate() {
        let seq = Seq(index as u64 + 1);
        let (mut bytes, mut holds) = match objects.last() {
            Some((last, bytes, holds)) if !ends_run(*last, *bytes, false) => {
                (*bytes, holds.clone())
            }
            _ => (0, BTreeSet::new()),
        };
        bytes += own;
        holds.insert(seq.0);
        objects.push((seq, bytes, holds));
    }
    objects
}

proptest! {
    /// Whatever the sizes, the objects that the listing names as needed hold
    /// every entry wanted.
    #[test]
    fn the_fetched_objects_hold_the_whole_tail(
        own in proptest::collection::vec(prop_oneof![9 => 1_u64..20_000, 1 => 60_000_u64..200_000], 1..120),
        have in 0_u64..120,
    ) {
        let objects = written(&own);
        let listed: Vec<(Seq, u64)> = objects.iter().map(|(s, b, _)| (*s, *b)).collect();
        let fetched: BTreeSet<Seq> = to_fetch(&listed, Seq(have)).into_iter().collect();
        let held: BTreeSet<u64> = objects
            .iter()
            .filter(|(seq, ..)| fetched.contains(seq))
            .flat_map(|(_, _, holds)| holds.iter().copied())
            .collect();
        for wanted in have + 1..=own.len() as u64 {
            prop_assert!(held.contains(&wanted), "{wanted} is in none of {fetched:?}");
        }
    }
}
