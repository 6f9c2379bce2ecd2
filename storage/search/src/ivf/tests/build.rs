use proptest::prelude::*;

use super::data::clustered;
use crate::ivf::centroids::HEADER;
use crate::ivf::order::path;
use crate::ivf::{
    Assigner, Bits, Centroids, CentroidsError, Encoder, Estimate, Place, PreparedQuery, Reservoir,
    Rows, Training, scan, train,
};
use crate::vector::{dot, normalised};

const TRAINING: Training = Training {
    lists: 60,
    bits: Bits::Four,
    seed: 7,
};

#[test]
fn a_seed_fixes_the_index() {
    let rows = clustered(1500, 20, 0.8, 1);
    let first = train(&rows, TRAINING).encode();
    assert_eq!(first, train(&rows, TRAINING).encode());
    let other = Training {
        seed: 8,
        ..TRAINING
    };
    assert_ne!(first, train(&rows, other).encode());
}

#[test]
fn few_equal_and_extreme_vectors_are_indexed_and_scored() {
    let dimension = 9;
    let tiny = normalised(&vec![1e-38_f32; dimension]);
    let huge = normalised(&vec![-3e38_f32; dimension]);
    let odd = [vec![0.0; dimension], tiny, huge];
    for count in [0, 1, 3, 100] {
        let mut rows = Rows::new(dimension);
        for row in odd.iter().cycle().take(count) {
            rows.push(row);
        }
        for bits in [Bits::Two, Bits::Four, Bits::Eight] {
            let centroids = train(&rows, Training { bits, ..TRAINING });
            assert!((1..=count.max(1)).contains(&centroids.lists()));
            let mut assigner = Assigner::new(&centroids);
            let mut encoder = Encoder::new(&centroids, bits);
            let mut lists = vec![Vec::new(); centroids.lists()];
            for (doc, row) in (0_u32..).zip(rows.iter()) {
                let to = assigner.assign(row);
                assert_ne!(Some(to.primary), to.secondary);
                assert_eq!(to.secondary.is_some(), centroids.lists() > 1);
                let place = Place { doc, chunk: 0 };
                for list in [Some(to.primary), to.secondary].into_iter().flatten() {
                    encoder.encode(row, list, place, &mut lists[list]);
                }
            }
            for query in &odd {
                let query = PreparedQuery::new(query);
                let mut seen = vec![0; count];
                for ranked in centroids.rank(&query) {
                    assert!(ranked.score.is_finite());
                    let entries = &lists[ranked.list];
                    let sink = |place: Place, Estimate { score, .. }: Estimate| {
                        assert!((-1.0..=1.0).contains(&score), "{score}");
                        seen[place.doc as usize] += 1;
                    };
                    scan(
                        encoder.layout(),
                        &query,
                        ranked.score,
                        entries,
                        |_| true,
                        sink,
                    )
                    .unwrap();
                }
                assert!(seen.iter().all(|seen| (1..=2).contains(seen)), "{seen:?}");
            }
        }
    }
}

#[test]
fn assignment_through_the_tree_is_nearly_that_of_a_scan_of_all_lists() {
    let rows = clustered(3000, 24, 1.2, 3);
    let centroids = train(
        &rows,
        Training {
            lists: 100,
            ..TRAINING
        },
    );
    let table = centroids.rows();
    let mut assigner = Assigner::new(&centroids);
    let (mut same, mut lost) = (0, 0.0);
    for row in rows.iter() {
        let to = assigner.assign(row);
        let scores: Vec<f32> = table.iter().map(|c| dot(row, c)).collect();
        let best = (0..scores.len())
            .max_by(|a, b| scores[*a].total_cmp(&scores[*b]))
            .unwrap();
        same += usize::from(best == to.primary);
        let residual = |list: usize| -> Vec<f32> {
            row.iter().zip(table.at(list)).map(|(a, b)| a - b).collect()
        };
        let first = residual(to.primary);
        let loss = |list: usize| {
            let second = residual(list);
            dot(&second, &second) + dot(&first, &second).powi(2) / dot(&first, &first)
        };
        let least = (0..table.len())
            .filter(|list| *list != to.primary)
            .map(loss)
            .fold(f32::INFINITY, f32::min);
        lost += loss(to.secondary.unwrap()) / least - 1.0;
    }
    assert!(same * 100 >= rows.len() * 97, "{same} of {}", rows.len());
    assert!(lost / (rows.len() as f32) < 0.02, "{lost}");
}

#[test]
fn centroids_come_back_from_their_bytes_and_nothing_else_does() {
    let centroids = train(&clustered(500, 7, 0.5, 2), TRAINING);
    let bytes = centroids.encode();
    assert_eq!(Centroids::decode(&bytes), Ok(centroids));
    for cut in 0..bytes.len() {
        assert!(Centroids::decode(&bytes[..cut]).is_err());
    }
    let mut wrong = bytes.clone();
    wrong[4] = 5;
    assert_eq!(
        Centroids::decode(&wrong),
        Err(CentroidsError::Bits { bits: 5 })
    );
    let mut wrong = bytes;
    wrong[HEADER] ^= 1;
    assert!(matches!(
        Centroids::decode(&wrong),
        Err(CentroidsError::Groups { .. })
    ));
}

#[test]
fn neighbours_in_space_stand_side_by_side() {
    // Points on an arc, shuffled: the path through them is the arc.
    let mut rows = Rows::new(2);
    for place in [4, 0, 7, 2, 9, 1, 5, 8, 3, 6] {
        let angle = place as f32 / 10.0;
        rows.push(&[angle.cos(), angle.sin()]);
    }
    let order = path(&rows, Some(&[1.0, 0.0]));
    let angles: Vec<f32> = order.iter().map(|row| rows.at(*row)[1]).collect();
    assert!(angles.is_sorted(), "{angles:?}");
}

#[test]
fn a_reservoir_is_a_uniform_sample() {
    let mut counts = [0_u32; 10];
    for seed in 0..400 {
        let mut reservoir = Reservoir::new(1, 50, seed);
        for number in 0..1000_u16 {
            reservoir.offer(&[f32::from(number)]);
        }
        assert_eq!(reservoir.seen(), 1000);
        for row in reservoir.into_rows().iter() {
            counts[row[0] as usize / 100] += 1;
        }
    }
    // 2,000 of each tenth; a tenth's standard deviation is about 42.
    assert!(
        counts.iter().all(|count| count.abs_diff(2000) < 210),
        "{counts:?}"
    );
}

proptest! {
    #[test]
    fn no_bytes_make_decoding_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Centroids::decode(&bytes);
    }
}
