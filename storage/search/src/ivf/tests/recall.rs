use super::data::clustered;
use crate::ivf::{
    Assigner, Bits, Candidates, Effort, Encoder, Estimate, Place, PreparedQuery, RERANK,
    RankedList, Rows, Training, lists_for, plan, scan, train,
};
use crate::vector::dot;

/// The share of the ten nearest that come back from a fifth of the entries in six runs,
/// if lists are ranked by what `rerank` makes of their scores.
fn recall(rows: &Rows, queries: &[Vec<f32>], rerank: impl Fn(f32) -> f32) -> f64 {
    let centroids = train(
        rows,
        Training {
            lists: lists_for(rows.len()),
            bits: Bits::Two,
            seed: 3,
        },
    );
    let mut assigner = Assigner::new(&centroids);
    let mut encoder = Encoder::new(&centroids, Bits::Two);
    let mut lists = vec![Vec::new(); centroids.lists()];
    for (doc, row) in (0_u32..).zip(rows.iter()) {
        let to = assigner.assign(row);
        for list in [Some(to.primary), to.secondary].into_iter().flatten() {
            encoder.encode(row, list, Place { doc, chunk: 0 }, &mut lists[list]);
        }
    }
    let sizes: Vec<u64> = lists.iter().map(|list| list.len() as u64).collect();
    let effort = Effort {
        bytes: sizes.iter().sum::<u64>() / 5,
        ranges: 6,
    };
    let mut found = 0;
    for query in queries {
        let prepared = PreparedQuery::new(query);
        let scored = centroids.rank(&prepared);
        let mut ranked: Vec<RankedList> = scored.clone();
        ranked.sort_by(|a, b| rerank(b.score).total_cmp(&rerank(a.score)));
        let mut candidates = Candidates::new(RERANK);
        for run in plan(&ranked, &sizes, effort) {
            for list in run.start..run.end {
                let base = scored
                    .iter()
                    .find(|scored| scored.list == list)
                    .unwrap()
                    .score;
                let entries = &lists[list];
                let sink = |place, estimate: Estimate| candidates.offer(place, estimate.score);
                scan(encoder.layout(), &prepared, base, entries, |_| true, sink).unwrap();
            }
        }
        let exact = |doc: usize| dot(query, rows.at(doc));
        let mut truth: Vec<usize> = (0..rows.len()).collect();
        truth.sort_by(|a, b| exact(*b).total_cmp(&exact(*a)));
        truth.truncate(10);
        found += candidates
            .into_sorted()
            .iter()
            .filter(|candidate| truth.contains(&(candidate.place.doc as usize)))
            .count();
    }
    found as f64 / (queries.len() * 10) as f64
}

#[test]
fn a_fifth_of_the_entries_holds_the_nearest_ten_and_the_wrong_fifth_does_not() {
    let all = clustered(4100, 32, 0.9, 11);
    let mut rows = Rows::new(32);
    let mut queries = Vec::new();
    for (number, row) in all.iter().enumerate() {
        if number < 4000 {
            rows.push(row);
        } else {
            queries.push(row.to_vec());
        }
    }
    let right = recall(&rows, &queries, |score| score);
    let wrong = recall(&rows, &queries, |score| -score);
    assert!(right >= 0.95, "{right}");
    assert!(wrong < 0.3, "{wrong}");
}
