use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::ivf::{Contenders, Estimate, Place};

proptest! {
    #[test]
    fn none_of_the_best_is_left_out_where_errors_hold(
        vectors in prop::collection::btree_map(
            (0_u32..40, 0_u16..3),
            (-1.0_f32..1.0, prop::collection::vec((-1.0_f32..1.0, 0.0_f32..0.3), 1..3)),
            0..80,
        ),
        count in 0_usize..12,
        least in prop::option::of(-1.0_f32..1.0),
    ) {
        let mut contenders = Contenders::default();
        let mut truth: BTreeMap<u32, f32> = BTreeMap::new();
        for ((doc, chunk), (cosine, entries)) in &vectors {
            for (off, error) in entries {
                let score = cosine + off * error * 0.999;
                contenders.offer(Place { doc: *doc, chunk: *chunk }, Estimate { score, error: *error });
            }
            let closest = truth.entry(*doc).or_insert(*cosine);
            *closest = closest.max(*cosine);
        }
        let (found, reached) = contenders.of_the_best(count, least);
        let is_found = |doc: u32| found.iter().any(|candidate| candidate.place.doc == doc);
        let mut best: Vec<(u32, f32)> = truth.into_iter().collect();
        best.sort_by(|a, b| b.1.total_cmp(&a.1));
        let is_enough = |cosine: f32| least.is_none_or(|least| cosine >= least);
        for (doc, cosine) in best.iter().take(count) {
            prop_assert!(is_found(*doc) || !is_enough(*cosine), "{doc} at {cosine}");
        }
        for (doc, cosine) in &best {
            let is_below = reached.is_some_and(|reached| *cosine < reached) || !is_enough(*cosine);
            prop_assert!(is_found(*doc) || is_below || count == 0, "{doc} at {cosine}");
        }
        if let Some(reached) = reached {
            let above = best.iter().filter(|(_, cosine)| *cosine >= reached).count();
            prop_assert!(above >= count);
        }
        prop_assert!(found.is_sorted_by(|a, b| a.score >= b.score));
    }
}
