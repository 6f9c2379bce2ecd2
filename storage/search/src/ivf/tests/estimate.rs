use proptest::prelude::*;

use super::data::{clustered, normal};
use crate::ivf::random::Random;
use crate::ivf::{
    Assigner, Bits, Candidates, Encoder, EntryLayout, Estimate, Place, PreparedQuery, Rows,
    ScanError, Training, scan, train,
};
use crate::vector::{dot, normalised};

fn random_units(count: usize, dimension: usize, seed: u64) -> Rows {
    let mut random = Random::new(seed);
    let mut rows = Rows::new(dimension);
    for _ in 0..count {
        let row: Vec<f32> = (0..dimension).map(|_| normal(&mut random)).collect();
        rows.push(&normalised(&row));
    }
    rows
}

/// The differences between estimated and exact cosines.
fn errors(rows: &Rows, queries: &Rows, bits: Bits) -> Vec<f32> {
    let all = estimates(rows, queries, bits);
    all.iter()
        .map(|(estimate, exact)| estimate.score - exact)
        .collect()
}

/// Estimated and exact cosines.
fn estimates(rows: &Rows, queries: &Rows, bits: Bits) -> Vec<(Estimate, f32)> {
    let training = Training {
        lists: 8,
        bits: Bits::Four,
        seed: 1,
    };
    let centroids = train(rows, training);
    let mut assigner = Assigner::new(&centroids);
    let mut encoder = Encoder::new(&centroids, bits);
    let mut lists = vec![Vec::new(); centroids.lists()];
    for (doc, row) in (0_u32..).zip(rows.iter()) {
        let list = assigner.assign(row).primary;
        encoder.encode(row, list, Place { doc, chunk: 3 }, &mut lists[list]);
    }
    let mut estimates = Vec::new();
    for query in queries.iter() {
        let prepared = PreparedQuery::new(query);
        for ranked in centroids.rank(&prepared) {
            let entries = &lists[ranked.list];
            let sink = |place: Place, estimate: Estimate| {
                assert_eq!(place.chunk, 3);
                estimates.push((estimate, dot(query, rows.at(place.doc as usize))));
            };
            scan(
                encoder.layout(),
                &prepared,
                ranked.score,
                entries,
                |_| true,
                sink,
            )
            .unwrap();
        }
    }
    assert_eq!(estimates.len(), rows.len() * queries.len());
    estimates
}

#[test]
fn estimates_are_no_further_off_than_they_say() {
    for (dimension, bits) in [
        (16, Bits::Two),
        (64, Bits::Two),
        (384, Bits::Two),
        (64, Bits::Four),
    ] {
        let rows = clustered(800, dimension, 1.0, 5);
        let queries = random_units(100, dimension, 6);
        let estimates = estimates(&rows, &queries, bits);
        let further = estimates
            .iter()
            .filter(|(estimate, exact)| (estimate.score - exact).abs() > estimate.error)
            .count();
        let share = further as f64 / estimates.len() as f64;
        assert!(share < 5e-4, "{dimension} {bits:?}: {share}");
    }
}

#[test]
fn estimates_are_as_close_as_their_width_promises() {
    let rows = clustered(400, 384, 1.0, 5);
    let queries = random_units(20, 384, 6);
    for (bits, most) in [(Bits::Two, 0.02), (Bits::Four, 0.005), (Bits::Eight, 0.001)] {
        let errors = errors(&rows, &queries, bits);
        let count = errors.len() as f32;
        let square = (errors.iter().map(|error| error * error).sum::<f32>() / count).sqrt();
        let mean = errors.iter().sum::<f32>() / count;
        assert!(square < most, "{bits:?}: {square}");
        // Unbiased: the mean is small beside a single estimate's error.
        assert!(
            mean.abs() < square * 0.1 + 1e-4,
            "{bits:?}: {mean} beside {square}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn every_dimension_is_estimated(dimension in 1_usize..200, seed in any::<u64>()) {
        let rows = random_units(40, dimension, seed);
        let queries = random_units(3, dimension, seed ^ 1);
        for (bits, most) in [(Bits::Two, 0.7), (Bits::Four, 0.15), (Bits::Eight, 0.02)] {
            let worst = errors(&rows, &queries, bits).into_iter().fold(0.0_f32, |a, b| a.max(b.abs()));
            prop_assert!(worst <= most, "{bits:?}: {worst}");
        }
    }

    #[test]
    fn candidates_are_the_best_of_each_document(
        offers in prop::collection::vec((0_u32..30, 0_u16..3, -1.0_f32..1.0), 0..200),
        limit in 0_usize..12,
    ) {
        let mut candidates = Candidates::new(limit);
        for (doc, chunk, score) in &offers {
            candidates.offer(Place { doc: *doc, chunk: *chunk }, *score);
        }
        let mut best: Vec<(u32, f32)> = (0..30)
            .filter_map(|doc| {
                let of_doc = offers.iter().filter(|offer| offer.0 == doc).map(|offer| offer.2);
                Some((doc, of_doc.max_by(f32::total_cmp)?))
            })
            .collect();
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        best.truncate(limit);
        let got: Vec<(u32, f32)> = candidates
            .into_sorted()
            .iter()
            .map(|candidate| (candidate.place.doc, candidate.score))
            .collect();
        prop_assert_eq!(got, best);
    }

    #[test]
    fn any_bytes_scan_to_cosines(
        bytes in prop::collection::vec(any::<u8>(), 0..120),
        base in any::<f32>(),
    ) {
        let layout = EntryLayout { dimension: 11, bits: Bits::Two };
        let query = PreparedQuery::new(&[0.3; 11]);
        let scanned = scan(layout, &query, base, &bytes, |_| true, |_, Estimate { score, error }| {
            assert!((-1.0..=1.0).contains(&score), "{score}");
            assert!((0.0..=2.0).contains(&error), "{error}");
        });
        prop_assert_eq!(scanned.is_ok(), bytes.len() % layout.width() == 0);
    }
}

#[test]
fn large_dimensions_do_not_overflow() {
    let rows = random_units(3, 5000, 9);
    for bits in [Bits::Two, Bits::Four, Bits::Eight] {
        let worst = errors(&rows, &rows, bits)
            .into_iter()
            .fold(0.0_f32, |a, b| a.max(b.abs()));
        assert!(worst < 0.1, "{bits:?}: {worst}");
    }
}

#[test]
fn only_accepted_documents_reach_the_sink() {
    let rows = random_units(20, 6, 4);
    let centroids = train(
        &rows,
        Training {
            lists: 1,
            bits: Bits::Eight,
            seed: 1,
        },
    );
    let mut encoder = Encoder::new(&centroids, Bits::Four);
    let mut entries = Vec::new();
    for (doc, row) in (0_u32..).zip(rows.iter()) {
        encoder.encode(row, 0, Place { doc, chunk: 0 }, &mut entries);
    }
    let query = PreparedQuery::new(rows.at(0));
    let mut seen = Vec::new();
    scan(
        encoder.layout(),
        &query,
        0.0,
        &entries,
        |doc| doc % 2 == 1,
        |place, _| seen.push(place.doc),
    )
    .unwrap();
    assert_eq!(
        seen,
        (0..20).filter(|doc| doc % 2 == 1).collect::<Vec<u32>>()
    );
    let short = PreparedQuery::new(&[1.0]);
    assert_eq!(
        scan(encoder.layout(), &short, 0.0, &entries, |_| true, |_, _| ()),
        Err(ScanError::Dimension {
            expected: 6,
            got: 1
        })
    );
}
