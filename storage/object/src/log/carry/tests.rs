use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn small(count: u64) -> Vec<(Seq, u64)> {
    // As two-kilobyte records make them: each block grows to its end.
    (1..=count)
        .map(|n| {
            let repeated = if n % LARGE_BLOCK == 0 {
                LARGE_BLOCK - 1
            } else {
                (n - 1) % BLOCK
            };
            (Seq(n), 5_000 + 2_500 * (repeated + 1))
        })
        .collect()
}

#[test]
fn two_hundred_small_entries_lie_in_four_objects() {
    assert_eq!(
        to_fetch(&small(200), Seq::ZERO),
        [Seq(64), Seq(128), Seq(192), Seq(200)]
    );
    assert_eq!(
        to_fetch(&small(200), Seq(190)),
        [Seq(192), Seq(200)],
        "a block that is partly known is read once more, by its last object"
    );
    // The most that any tail of so many costs.
    let most = (1..=300).map(|n| to_fetch(&small(n), Seq::ZERO).len());
    assert_eq!(most.max(), Some(7));
}

#[test]
fn a_block_begins_after_each_multiple_of_its_length() {
    for (seq, block, large) in [
        (1, 1, 1),
        (16, 1, 1),
        (17, 17, 1),
        (64, 49, 1),
        (65, 65, 65),
    ] {
        assert_eq!(block_start(Seq(seq)), Seq(block));
        assert_eq!(large_block_start(Seq(seq)), Seq(large));
    }
}

#[test]
fn what_is_repeated_ends_at_a_large_object_and_at_the_budget() {
    assert_eq!(repeated([1, 2, 3].into_iter()), 3);
    assert_eq!(repeated([1, LARGE_OBJECT_BYTES + 1, 3].into_iter()), 1);
    assert_eq!(repeated(std::iter::repeat_n(LARGE_OBJECT_BYTES, 20)), 8);
}

#[test]
fn what_lies_before_a_gap_does_not_count() {
    let listed = [(Seq(3), 1), (Seq(9), 1), (Seq(10), 1)];
    assert_eq!(dense_suffix(&listed), &listed[1..]);
    assert_eq!(dense_suffix(&listed[1..]), &listed[1..]);
    assert!(dense_suffix(&[]).is_empty());
}

#[derive(Clone, Copy, PartialEq)]
enum Rules {
    /// As before there were large blocks.
    Blocks,
    Both,
}

struct Object {
    seq: Seq,
    bytes: u64,
    holds: BTreeSet<u64>,
}

/// What each object has that is no entry's.
const HEADER: u64 = 4_000;

/// Writes a log by the rules and says which entries each object holds.
fn written(own_bytes: &[u64], rules: Rules) -> Vec<Object> {
    let mut objects: Vec<Object> = Vec::new();
    for (index, own) in own_bytes.iter().enumerate() {
        let seq = Seq(index as u64 + 1);
        let mut object = Object {
            seq,
            bytes: HEADER + own,
            holds: BTreeSet::from([seq.0]),
        };
        let ended = |object: &Object| ends_run(object.seq, object.bytes, false);
        let mut before: Vec<&Object> = Vec::new();
        before.extend(objects.last().filter(|last| !ended(last)));
        if ends_large_block(seq) && rules == Rules::Both {
            let run_ends: Vec<&Object> = objects
                .iter()
                .rev()
                .take_while(|before| large_block_start(before.seq) == large_block_start(seq))
                .filter(|before| ended(before))
                .collect();
            let count = repeated(run_ends.iter().map(|end| end.bytes));
            before.extend(run_ends.into_iter().take(count));
        }
        for repeated in before {
            object.bytes += repeated.bytes - HEADER;
            object.holds.extend(&repeated.holds);
        }
        objects.push(object);
    }
    objects
}

fn listed(objects: &[Object]) -> Vec<(Seq, u64)> {
    objects
        .iter()
        .map(|object| (object.seq, object.bytes))
        .collect()
}

fn held(objects: &[Object], fetched: &[Seq]) -> BTreeSet<u64> {
    objects
        .iter()
        .filter(|object| fetched.contains(&object.seq))
        .flat_map(|object| object.holds.iter().copied())
        .collect()
}

fn sizes() -> impl Strategy<Value = Vec<u64>> {
    let vectors = prop_oneof![
        Just(2_300_u64..3_000),
        Just(6_000..8_000),
        Just(12_000..15_000)
    ];
    let alike = vectors.prop_flat_map(|own| proptest::collection::vec(own, 1..300));
    let mixed = proptest::collection::vec(
        prop_oneof![20 => 500_u64..20_000, 1 => 60_000_u64..200_000],
        1..300,
    );
    prop_oneof![alike, mixed]
}

proptest! {
    /// Whatever the sizes, the objects that the listing names as needed hold every
    /// entry wanted: writer and reader come to the same without talking.
    #[test]
    fn the_fetched_objects_hold_the_whole_tail(own in sizes(), have in 0_u64..300) {
        let objects = written(&own, Rules::Both);
        let fetched = to_fetch(&listed(&objects), Seq(have));
        let held = held(&objects, &fetched);
        for wanted in have + 1..=own.len() as u64 {
            prop_assert!(held.contains(&wanted), "{wanted} is in none of {fetched:?}");
        }
    }

    /// The same from a listing that begins after what is known already.
    #[test]
    fn a_listing_of_the_end_is_enough(own in sizes(), have in 0_usize..300) {
        let objects = written(&own, Rules::Both);
        let rest = objects.get(have..).unwrap_or_default();
        let fetched = to_fetch(&listed(rest), Seq(have as u64));
        let held = held(&objects, &fetched);
        for wanted in have as u64 + 1..=own.len() as u64 {
            prop_assert!(held.contains(&wanted), "{wanted} is in none of {fetched:?}");
        }
    }

    /// A log of any age is whole after one repair at most.
    #[test]
    fn a_log_without_large_blocks_is_repaired_in_one_step(own in sizes(), have in 0_u64..300) {
        let objects = written(&own, Rules::Blocks);
        let listed = listed(&objects);
        let mut fetched = to_fetch(&listed, Seq(have));
        let first = held(&objects, &fetched);
        let missing: Vec<Seq> = (have + 1..=own.len() as u64)
            .filter(|wanted| !first.contains(wanted))
            .map(Seq)
            .collect();
        fetched.extend(to_repair(&listed, &missing));
        let held = held(&objects, &fetched);
        for wanted in have + 1..=own.len() as u64 {
            prop_assert!(held.contains(&wanted), "{wanted} is in none of {fetched:?}");
        }
    }
}

/// Where entries are alike, nothing has to be repaired.
#[test]
fn a_log_without_large_blocks_is_told_from_its_sizes() {
    for own in [300, 2_300, 7_000, 13_000] {
        let objects = written(&vec![own; 200], Rules::Blocks);
        let listed = listed(&objects);
        let fetched = to_fetch(&listed, Seq::ZERO);
        assert_eq!(held(&objects, &fetched).len(), 200, "{own}");
    }
}
