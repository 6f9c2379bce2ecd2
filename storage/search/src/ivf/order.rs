//! The order of lists in the file: neighbours in space stand side by side, because
//! one range read takes neighbouring lists.
//!
//! It is a short open path through the centroids: nearest neighbour first, then
//! 2-opt (Croes, 1958) until no reversal helps or the passes are used up.

use super::kernel;
use super::rows::Rows;

/// Passes of 2-opt; each costs the square of the number of rows.
const PASSES: usize = 12;

/// The rows' numbers along a path of high similarity, which starts at the row
/// nearest to `after`, or at row 0.
pub(super) fn path(rows: &Rows, after: Option<&[f32]>) -> Vec<usize> {
    let count = rows.len();
    let similarity = Similarity::of(rows);
    let mut left: Vec<usize> = (0..count).collect();
    let mut path = Vec::with_capacity(count);
    let mut here: Option<usize> = None;
    while !left.is_empty() {
        let place = highest(left.iter().map(|row| match (here, after) {
            (Some(here), _) => similarity.of_pair(here, *row),
            (None, Some(after)) => kernel::dot(rows.at(*row), after),
            (None, None) => 0.0,
        }));
        let row = left.swap_remove(place.min(left.len() - 1));
        path.push(row);
        here = Some(row);
    }
    let fixed = usize::from(after.is_some());
    for _ in 0..PASSES {
        if !improve(&mut path, &similarity, fixed) {
            break;
        }
    }
    path
}

fn highest(scores: impl Iterator<Item = f32>) -> usize {
    let mut best = (0, f32::NEG_INFINITY);
    for (place, score) in scores.enumerate() {
        if score > best.1 {
            best = (place, score);
        }
    }
    best.0
}

/// Reverses every stretch whose reversal shortens the path; says whether any did.
fn improve(path: &mut [usize], similarity: &Similarity, fixed: usize) -> bool {
    let mut improved = false;
    for start in fixed..path.len() {
        for end in start + 1..path.len() {
            let link = |a: Option<&usize>, b: Option<&usize>| match (a, b) {
                (Some(a), Some(b)) => similarity.of_pair(*a, *b),
                _ => 0.0,
            };
            let before = start.checked_sub(1).and_then(|before| path.get(before));
            let (first, last, next) = (path.get(start), path.get(end), path.get(end + 1));
            let gain =
                link(before, last) + link(first, next) - link(before, first) - link(last, next);
            if gain > 1e-6 {
                if let Some(stretch) = path.get_mut(start..=end) {
                    stretch.reverse();
                }
                improved = true;
            }
        }
    }
    improved
}

/// All dot products between rows.
struct Similarity {
    count: usize,
    products: Vec<f32>,
}

impl Similarity {
    fn of(rows: &Rows) -> Self {
        let products = rows
            .iter()
            .flat_map(|a| rows.iter().map(move |b| kernel::dot(a, b)))
            .collect();
        Self {
            count: rows.len(),
            products,
        }
    }

    fn of_pair(&self, a: usize, b: usize) -> f32 {
        self.products
            .get(a * self.count + b)
            .copied()
            .unwrap_or(0.0)
    }
}
