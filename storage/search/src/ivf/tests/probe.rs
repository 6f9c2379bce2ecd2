use proptest::prelude::*;

use crate::ivf::{Effort, RankedList, Run, could_improve, plan};

/// Lists with falling scores, in the order in which `places` names them.
fn ranked(places: &[usize]) -> Vec<RankedList> {
    places
        .iter()
        .enumerate()
        .map(|(rank, list)| RankedList {
            list: *list,
            score: 1.0 - rank as f32 / 100.0,
        })
        .collect()
}

#[test]
fn a_gap_is_read_where_that_saves_a_range() {
    let ranked = ranked(&[2, 4, 9, 3, 0, 1, 5, 6, 7, 8]);
    let sizes = [10; 10];
    let two = plan(
        &ranked,
        &sizes,
        Effort {
            bytes: 40,
            ranges: 2,
        },
    );
    assert_eq!(two, [Run { start: 2, end: 5 }, Run { start: 9, end: 10 }]);
    let three = plan(
        &ranked,
        &sizes,
        Effort {
            bytes: 30,
            ranges: 3,
        },
    );
    let lists = [2, 4, 9];
    assert_eq!(
        three,
        lists.map(|list| Run {
            start: list,
            end: list + 1
        })
    );
}

#[test]
fn the_best_list_is_read_even_alone_and_too_large() {
    let ranked = ranked(&[1, 2, 0]);
    let effort = Effort {
        bytes: 5,
        ranges: 3,
    };
    assert_eq!(
        plan(&ranked, &[10, 0, 10], effort),
        [Run { start: 2, end: 3 }]
    );
    assert_eq!(plan(&ranked, &[0, 0, 0], effort), []);
    assert_eq!(plan(&[], &[10], effort), []);
}

#[test]
fn more_probing_helps_while_too_little_is_found_or_the_next_list_is_near() {
    assert!(could_improve(None, Some(-0.5)));
    assert!(!could_improve(None, None));
    assert!(could_improve(Some(0.6), Some(0.4)));
    assert!(!could_improve(Some(0.9), Some(0.1)));
}

proptest! {
    #[test]
    fn plans_keep_to_both_budgets(
        sizes in prop::collection::vec(0_u64..500, 1..80),
        order in any::<prop::sample::Index>(),
        bytes in 0_u64..8000,
        ranges in 1_usize..9,
    ) {
        let count = sizes.len();
        let start = order.index(count);
        let places: Vec<usize> = (0..count).map(|rank| (start + rank * 7919) % count).collect();
        let ranked = ranked(&places);
        let runs = plan(&ranked, &sizes, Effort { bytes, ranges });
        prop_assert!(runs.len() <= ranges);
        prop_assert!(runs.iter().all(|run| run.start < run.end && run.end <= count));
        prop_assert!(runs.windows(2).all(|pair| pair[0].end < pair[1].start));
        let read: u64 = runs.iter().map(|run| sizes[run.start..run.end].iter().sum::<u64>()).sum();
        let single = runs.len() == 1 && runs[0].end - runs[0].start == 1;
        prop_assert!(read <= bytes || single, "{read} of {bytes}");
        let total: u64 = sizes.iter().sum();
        if total <= bytes {
            prop_assert_eq!(read, total);
        }
    }
}
