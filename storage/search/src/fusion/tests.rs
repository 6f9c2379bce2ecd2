use proptest::prelude::*;

use super::*;

#[test]
fn first_in_both_lanes_comes_first_and_normalises_to_one() {
    let fused = fuse([vec!["a", "b", "c"], vec!["a", "d"]]);
    let best = fused.iter().max_by(|a, b| a.1.total_cmp(b.1)).unwrap();
    assert_eq!(*best.0, "a");
    assert!((normalised(*best.1, 2) - 1.0).abs() < 1e-12);
    assert!((fused["a"] - 2.0 / 61.0).abs() < 1e-12);
}

#[test]
fn an_item_of_one_lane_never_beats_one_that_has_its_rank_and_more() {
    // Both are third in a lane; only `both` is in the other one at all.
    let fused = fuse([vec!["x", "y", "both"], vec!["u", "v", "once", "w", "both"]]);
    assert!(fused["both"] > fused["once"]);
}

#[test]
fn no_lane_normalises_to_nothing() {
    assert_eq!(normalised(1.0, 0).to_bits(), 0.0_f64.to_bits());
}

proptest! {
    /// prior art, report 26: a returned rank of a lane implies every better one.
    #[test]
    fn within_one_lane_order_is_kept_among_items_of_that_lane_alone(
        first in Just((0_u32..30).collect::<Vec<_>>()).prop_shuffle(),
        second in Just((20_u32..50).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let fused = fuse([first.clone(), second.clone()]);
        let alone: Vec<f64> = first.iter().filter(|item| !second.contains(item)).map(|item| fused[item]).collect();
        prop_assert!(alone.is_sorted_by(|a, b| a > b));
    }
}
