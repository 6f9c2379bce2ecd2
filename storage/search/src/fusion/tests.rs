use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

type Candidate = (usize, Option<f64>, Option<f64>);

/// The sum of the term weights in these tests.
const WEIGHTS: f64 = 20.0;

fn scores(candidates: &[(Option<f64>, Option<f64>)]) -> Vec<f64> {
    let numbered = candidates.iter().enumerate();
    let fused = fuse(
        numbered.map(|(item, (bm25, cosine))| (item, *bm25, *cosine)),
        Parameters::of(WEIGHTS),
    );
    assert!(fused.iter().map(|(item, _)| *item).eq(0..candidates.len()));
    fused.into_iter().map(|(_, score)| score).collect()
}

/// The items from best to worst.
fn order(candidates: &[(Option<f64>, Option<f64>)]) -> Vec<usize> {
    let scores = scores(candidates);
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    order
}

/// prior art, report 25.
#[test]
fn the_exact_match_in_both_lanes_is_first_and_absence_is_last() {
    let candidates = [
        (Some(2.0), Some(0.2)),
        (None, Some(0.3)),
        (Some(9.0), Some(0.9)),
        (Some(2.0), None),
    ];
    assert_eq!(order(&candidates)[0], 2);
    let scores = scores(&candidates);
    assert_eq!(scores[2].to_bits(), 1.0_f64.to_bits());
    assert!(scores[3] < scores[0]);
}

/// prior art, report 27.
#[test]
fn without_words_the_order_is_that_of_the_cosines() {
    let far = [0.3, -0.2, 0.8, -0.9, 0.0].map(|cosine| (None, Some(cosine)));
    assert_eq!(order(&far), [2, 0, 4, 1, 3]);
    assert_eq!(scores(&far)[2].to_bits(), 1.0_f64.to_bits());
    assert_eq!(scores(&[(None, Some(-0.4))]), [1.0]);
    assert_eq!(scores(&[(None, Some(0.0)), (None, Some(0.0))]), [1.0, 1.0]);
}

#[test]
fn without_vectors_scores_are_shares_of_the_best() {
    let words = [8.0, 2.0, 4.0].map(|bm25| (Some(bm25), None));
    assert_eq!(scores(&words), [1.0, 0.25, 0.5]);
    assert_eq!(scores(&[]), Vec::<f64>::new());
}

#[test]
fn an_identifier_goes_before_what_merely_sounds_alike() {
    // One rare word, once in a text of average length: about half of its weight.
    let mut candidates = vec![(Some(WEIGHTS * 0.5), Some(0.1))];
    candidates.extend([0.9, 0.8, 0.7].map(|cosine| (None, Some(cosine))));
    assert_eq!(order(&candidates)[0], 0);
}

#[test]
fn a_common_word_does_not_go_before_the_same_meaning() {
    // The word weighs little of what was asked, and its record is about something else.
    let stray = (Some(WEIGHTS * 0.05), Some(0.1));
    let meant = (None, Some(0.7));
    assert_eq!(order(&[stray, meant]), [1, 0]);
}

#[test]
fn few_embedded_records_do_not_go_before_the_many_that_are_not_yet() {
    // Of ten with words the worst is embedded, and near.
    let mut candidates: Vec<_> = (1..10).map(|at| (Some(f64::from(at)), None)).collect();
    candidates.push((Some(0.5), Some(0.7)));
    assert_eq!(order(&candidates)[..3], [8, 7, 6]);
    // All embedded, the same record goes before some.
    for (_, cosine) in &mut candidates {
        *cosine = cosine.or(Some(0.2));
    }
    let place = order(&candidates).iter().position(|item| *item == 9);
    assert!(place < Some(9), "{place:?}");
}

/// Scores on a grid, so that what differs differs by more than rounding.
fn candidate() -> impl Strategy<Value = (Option<f64>, Option<f64>)> {
    let bm25 = proptest::option::of((1_u32..200).prop_map(|x| f64::from(x) / 10.0));
    let cosine = proptest::option::of((-100_i32..=100).prop_map(|x| f64::from(x) / 100.0));
    (bm25, cosine).prop_filter("in a lane", |(bm25, cosine)| {
        bm25.is_some() || cosine.is_some()
    })
}

/// Whether `a` is at least as good as `b` in a lane, where absence is the worst.
fn at_least(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(a), Some(b)) => a >= b,
    }
}

proptest! {
    /// prior art, reports 25 and 26: better in both lanes never ranks lower, absent never
    /// goes before present, and so each lane's order is kept among those of that lane alone.
    #[test]
    fn better_in_both_lanes_never_scores_lower(
        candidates in proptest::collection::vec(candidate(), 1..40),
    ) {
        let scores = scores(&candidates);
        prop_assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)), "{scores:?}");
        for (a, score) in candidates.iter().zip(&scores) {
            for (b, other) in candidates.iter().zip(&scores) {
                if at_least(a.0, b.0) && at_least(a.1, b.1) {
                    prop_assert!(score >= other, "{a:?} {score} {b:?} {other}");
                }
                if a.0 == b.0 && a.1.is_some() && b.1.is_none() {
                    prop_assert!(score > other, "{a:?} {score} {b:?} {other}");
                }
                if let ((Some(x), Some(s)), (Some(y), Some(t))) = (a, b)
                    && x > y && s > t
                {
                    prop_assert!(score > other, "{a:?} {score} {b:?} {other}");
                }
            }
        }
    }

    #[test]
    fn scores_do_not_depend_on_the_order_of_the_input(
        (candidates, shuffled) in proptest::collection::vec(candidate(), 1..40).prop_flat_map(|all| {
            let numbered: Vec<Candidate> =
                all.into_iter().enumerate().map(|(item, (bm25, cosine))| (item, bm25, cosine)).collect();
            (Just(numbered.clone()), Just(numbered).prop_shuffle())
        }),
    ) {
        let of = |candidates: Vec<Candidate>| -> BTreeMap<usize, u64> {
            let fused = fuse(candidates.into_iter(), Parameters::of(WEIGHTS));
            fused.into_iter().map(|(item, score)| (item, score.to_bits())).collect()
        };
        prop_assert_eq!(of(candidates), of(shuffled));
    }

    #[test]
    fn embedded_candidates_keep_their_order_whoever_else_there_is(
        pair in [candidate(), candidate()],
        cosines in [0.0..1.0_f64, 0.0..1.0_f64],
        others in proptest::collection::vec((1.0..20.0_f64, -1.0..1.0_f64), 0..20),
    ) {
        let pair = [(pair[0].0, Some(cosines[0])), (pair[1].0, Some(cosines[1]))];
        let alone = scores(&pair);
        let mut all = pair.to_vec();
        all.extend(others.iter().map(|(bm25, cosine)| (Some(*bm25), Some(*cosine))));
        let among = scores(&all);
        let apart = alone[0] - alone[1];
        if apart.abs() > 1e-9 {
            prop_assert!((apart > 0.0) == (among[0] > among[1]), "{pair:?} {alone:?} {among:?}");
        }
    }
}
