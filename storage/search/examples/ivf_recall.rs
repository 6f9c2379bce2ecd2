//! Measures the vector index on real vectors: recall, bytes and range reads.
//!
//! `cargo run --release --example ivf_recall -- docs.npy queries.npy [what]`, where the files
//! hold float32 rows of unit length.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that measures"
)]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::string_slice,
    clippy::cast_sign_loss,
    reason = "a program that measures"
)]

use std::time::Instant;

use ostraca_search::ivf::{
    Assigner, Bits, CENTROID_BITS, Candidates, Centroids, Effort, Encoder, EntryLayout, Place,
    PreparedQuery, Reservoir, Rows, Training, plan, scan, train,
};
use ostraca_search::vector;

const K: usize = 10;

fn load(path: &str, limit: usize) -> Rows {
    let bytes = std::fs::read(path).unwrap();
    let length = u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
    let header = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
    assert!(header.contains("'<f4'"), "{header}");
    let shape = &header[header.find('(').unwrap() + 1..header.find(')').unwrap()];
    let dimension: usize = shape.split(',').nth(1).unwrap().trim().parse().unwrap();
    let mut rows = Rows::new(dimension);
    for row in bytes[10 + length..].chunks_exact(dimension * 4).take(limit) {
        let row: Vec<f32> = row
            .chunks_exact(4)
            .map(|value| f32::from_le_bytes(value.try_into().unwrap()))
            .collect();
        rows.push(&vector::normalised(&row));
    }
    rows
}

fn truth(docs: &Rows, queries: &Rows) -> Vec<Vec<u32>> {
    queries
        .iter()
        .map(|query| {
            let mut best = Candidates::new(K);
            for (doc, row) in docs.iter().enumerate() {
                best.offer(
                    Place {
                        doc: doc as u32,
                        chunk: 0,
                    },
                    vector::dot(query, row),
                );
            }
            best.into_sorted().iter().map(|c| c.place.doc).collect()
        })
        .collect()
}

struct Index {
    centroids: Centroids,
    layout: EntryLayout,
    lists: Vec<Vec<u8>>,
    sizes: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Spill {
    None,
    Soar,
}

fn build(docs: &Rows, centroids: Centroids, bits: Bits, spill: Spill) -> Index {
    let started = Instant::now();
    let mut assigner = Assigner::new(&centroids);
    let mut encoder = Encoder::new(&centroids, bits);
    let mut lists = vec![Vec::new(); centroids.lists()];
    for (doc, row) in docs.iter().enumerate() {
        let place = Place {
            doc: doc as u32,
            chunk: 0,
        };
        let to = assigner.assign(row);
        encoder.encode(row, to.primary, place, &mut lists[to.primary]);
        if let Some(second) = to.secondary.filter(|_| spill == Spill::Soar) {
            encoder.encode(row, second, place, &mut lists[second]);
        }
    }
    let took = started.elapsed().as_secs_f64();
    println!(
        "build: {} lists, {bits:?}, {spill:?}: {:.0} vectors/s",
        centroids.lists(),
        docs.len() as f64 / took
    );
    let sizes = lists.iter().map(|list| list.len() as u64).collect();
    Index {
        layout: encoder.layout(),
        centroids,
        lists,
        sizes,
    }
}

struct Cell {
    recall: [f64; 5],
    bytes: f64,
    ranges: f64,
    ceiling: f64,
}

const RERANK: [usize; 5] = [10, 16, 20, 30, 50];

fn measure(index: &Index, docs: &Rows, queries: &Rows, truth: &[Vec<u32>], effort: Effort) -> Cell {
    let mut cell = Cell {
        recall: [0.0; 5],
        bytes: 0.0,
        ranges: 0.0,
        ceiling: 0.0,
    };
    for (query, truth) in queries.iter().zip(truth) {
        let prepared = PreparedQuery::new(query);
        let ranked = index.centroids.rank(&prepared);
        let mut scores = vec![0.0; ranked.len()];
        for list in &ranked {
            scores[list.list] = list.score;
        }
        let runs = plan(&ranked, &index.sizes, effort);
        let mut seen = std::collections::BTreeSet::new();
        let mut best = Candidates::new(50);
        for list in runs.iter().flat_map(|run| run.start..run.end) {
            cell.bytes += index.sizes[list] as f64;
            scan(
                index.layout,
                &prepared,
                scores[list],
                &index.lists[list],
                |_| true,
                |place, estimate| {
                    if truth.contains(&place.doc) {
                        seen.insert(place.doc);
                    }
                    best.offer(place, estimate.score);
                },
            )
            .unwrap();
        }
        cell.ranges += runs.len() as f64;
        cell.ceiling += seen.len() as f64 / truth.len() as f64;
        let sorted = best.into_sorted();
        for (recall, rerank) in cell.recall.iter_mut().zip(RERANK) {
            let mut exact: Vec<(f32, u32)> = sorted
                .iter()
                .take(rerank)
                .map(|c| {
                    let doc = c.place.doc;
                    (vector::dot(query, docs.get(doc as usize).unwrap()), doc)
                })
                .collect();
            exact.sort_by(|a, b| b.0.total_cmp(&a.0));
            let found = exact
                .iter()
                .take(K)
                .filter(|(_, doc)| truth.contains(doc))
                .count();
            *recall += found as f64 / truth.len() as f64;
        }
    }
    let count = queries.len() as f64;
    cell.recall = cell.recall.map(|recall| recall / count);
    cell.bytes /= count;
    cell.ranges /= count;
    cell.ceiling /= count;
    cell
}

fn print(
    index: &Index,
    docs: &Rows,
    queries: &Rows,
    truth: &[Vec<u32>],
    budgets: &[u64],
    ranges: &[usize],
) {
    println!("| budget MB | ranges | read MB | runs | ceiling | rerank 10 | 16 | 20 | 30 | 50 |");
    for bytes in budgets {
        for ranges in ranges {
            let effort = Effort {
                bytes: *bytes,
                ranges: *ranges,
            };
            let cell = measure(index, docs, queries, truth, effort);
            println!(
                "| {:.2} | {ranges} | {:.2} | {:.1} | {:.4} | {:.4} | {:.4} | {:.4} | {:.4} | {:.4} |",
                *bytes as f64 / 1e6,
                cell.bytes / 1e6,
                cell.ranges,
                cell.ceiling,
                cell.recall[0],
                cell.recall[1],
                cell.recall[2],
                cell.recall[3],
                cell.recall[4]
            );
        }
    }
}

/// How far the cosine of a true neighbour lies above the score of the better of its lists.
fn print_reach(docs: &Rows, queries: &Rows, truth: &[Vec<u32>], centroids: &Centroids) {
    let mut assigner = Assigner::new(centroids);
    let mut reaches = Vec::new();
    for (query, truth) in queries.iter().zip(truth) {
        let mut scores = vec![0.0; centroids.lists()];
        for list in centroids.rank(&PreparedQuery::new(query)) {
            scores[list.list] = list.score;
        }
        for doc in truth {
            let row = docs.get(*doc as usize).unwrap();
            let to = assigner.assign(row);
            let second = to.secondary.map_or(f32::NEG_INFINITY, |list| scores[list]);
            reaches.push(vector::dot(query, row) - scores[to.primary].max(second));
        }
    }
    reaches.sort_by(f32::total_cmp);
    let at = |share: f64| reaches[((reaches.len() - 1) as f64 * share) as usize];
    println!(
        "reach: median {:.3}, 90 % {:.3}, 99 % {:.3}, most {:.3}",
        at(0.5),
        at(0.9),
        at(0.99),
        at(1.0)
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize, otherwise: usize| {
        arguments
            .get(place)
            .and_then(|text| text.parse().ok())
            .unwrap_or(otherwise)
    };
    let docs = load(&arguments[0], number(3, usize::MAX));
    let queries = load(&arguments[1], 300);
    let divisor = number(2, 100);
    let truth = truth(&docs, &queries);
    println!(
        "{} vectors of {}, {} queries",
        docs.len(),
        docs.dimension(),
        queries.len()
    );
    let started = Instant::now();
    let mut reservoir = Reservoir::new(docs.dimension(), number(4, usize::MAX), 1);
    for row in docs.iter() {
        reservoir.offer(row);
    }
    let centroids = train(
        &reservoir.into_rows(),
        Training {
            lists: docs.len() / divisor,
            bits: CENTROID_BITS,
            seed: 1,
        },
    );
    println!(
        "train: {} lists in {:.2} s, {} bytes",
        centroids.lists(),
        started.elapsed().as_secs_f64(),
        centroids.encode().len()
    );
    print_reach(&docs, &queries, &truth, &centroids);
    let total = docs.len() as u64 * 208;
    let budgets = if total > 10_000_000 {
        vec![500_000, 800_000, 1_000_000, 1_500_000, 2_000_000]
    } else {
        vec![total / 20, total / 10, total / 5]
    };
    for spill in [Spill::None, Spill::Soar] {
        for bits in [Bits::Two, Bits::Four, Bits::Eight] {
            if bits != Bits::Four && spill == Spill::None {
                continue;
            }
            let index = build(&docs, centroids.clone(), bits, spill);
            print(
                &index,
                &docs,
                &queries,
                &truth,
                &budgets,
                &[3, 4, 6, 8, 12, 1000],
            );
        }
    }
}
