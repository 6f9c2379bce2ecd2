//! Which lists a vector goes to: the nearest one, and a second one chosen so that
//! where the first is overlooked the second is not.
//!
//! The second list has the least SOAR loss (Sun, Guo and Kumar, "SOAR: Improved
//! Indexing for Approximate Nearest Neighbor Search", 2023): its residual is short
//! and stands across the first one's. Candidates come from a two-level tree, so
//! assignment costs about the square root of the number of lists.

use super::centroids::Centroids;
use super::kernel;
use super::rows::Rows;
use super::train::mean_direction;

/// The weight of the part of the second residual that runs along the first.
pub const LAMBDA: f32 = 1.0;
/// Groups whose lists are looked at, the nearest ones.
const GROUPS_PROBED: usize = 6;

/// The lists of a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assignment {
    /// The nearest list, in whose order the rows lie too.
    pub primary: usize,
    /// The list that takes a copy of the code; none where there is only one list.
    pub secondary: Option<usize>,
}

/// Centroids as two levels: groups, and the lists of each.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    rows: Rows,
    groups: Vec<(usize, usize)>,
    means: Rows,
}

impl Tree {
    pub(super) fn of_groups(groups: &[Rows]) -> Self {
        let dimension = groups.first().map_or(1, Rows::dimension);
        let mut rows = Rows::new(dimension);
        let mut bounds = Vec::new();
        for group in groups {
            let start = rows.len();
            for row in group.iter() {
                rows.push(row);
            }
            bounds.push((start, rows.len()));
        }
        Self::of(rows, bounds)
    }

    fn of(rows: Rows, groups: Vec<(usize, usize)>) -> Self {
        let dimension = rows.dimension();
        let mut means = Rows::new(dimension);
        for (start, end) in &groups {
            means.push(&mean_direction(rows.range(*start, *end), dimension));
        }
        Self {
            rows,
            groups,
            means,
        }
    }

    pub(super) fn lists(&self) -> usize {
        self.rows.len()
    }

    /// The nearest list and the cosine with it. `scores` then holds every list that
    /// was looked at.
    pub(super) fn nearest(&self, vector: &[f32], scores: &mut Vec<(f32, usize)>) -> (usize, f32) {
        scores.clear();
        scores.extend(
            self.means
                .iter()
                .enumerate()
                .map(|(group, mean)| (kernel::dot(vector, mean), group)),
        );
        if scores.len() > GROUPS_PROBED {
            scores.select_nth_unstable_by(GROUPS_PROBED, |a, b| {
                b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
            });
        }
        let mut probed = [(0, 0); GROUPS_PROBED];
        let mut count = 0;
        for (slot, (_, group)) in probed.iter_mut().zip(scores.iter()) {
            *slot = self.groups.get(*group).copied().unwrap_or_default();
            count += 1;
        }
        scores.clear();
        let mut best = (0, f32::NEG_INFINITY);
        for (start, end) in probed.into_iter().take(count) {
            for (list, row) in (start..end).zip(self.rows.range(start, end)) {
                let score = kernel::dot(vector, row);
                if score.total_cmp(&best.1).then(best.0.cmp(&list)).is_gt() {
                    best = (list, score);
                }
                scores.push((score, list));
            }
        }
        best
    }
}

/// Assigns vectors to lists; keeps its buffers from one vector to the next.
#[derive(Debug, Clone)]
pub struct Assigner {
    tree: Tree,
    scores: Vec<(f32, usize)>,
    residual: Vec<f32>,
}

impl Assigner {
    /// Takes 4 bytes a component of every centroid.
    pub fn new(centroids: &Centroids) -> Self {
        Self {
            tree: Tree::of(centroids.rows(), centroids.groups().collect()),
            scores: Vec::new(),
            residual: Vec::new(),
        }
    }

    /// The lists of a vector of unit length or zero.
    pub fn assign(&mut self, vector: &[f32]) -> Assignment {
        let (primary, _) = self.tree.nearest(vector, &mut self.scores);
        let nearest = self.tree.rows.at(primary);
        self.residual.clear();
        self.residual
            .extend(vector.iter().zip(nearest).map(|(a, b)| a - b));
        let length = kernel::dot(&self.residual, &self.residual);
        let along_vector = kernel::dot(&self.residual, vector);
        let inverse = if length > 0.0 { length.recip() } else { 0.0 };
        // Of unit vectors: |x − c'|² = 1 + |x|² − 2⟨x, c'⟩; the constant is left out.
        let mut best: Option<(f32, usize)> = None;
        for (score, list) in &self.scores {
            if *list == primary {
                continue;
            }
            let apart = -2.0 * score;
            if best.is_some_and(|(least, _)| apart > least) {
                continue;
            }
            let along = along_vector - kernel::dot(&self.residual, self.tree.rows.at(*list));
            let loss = apart + LAMBDA * along * along * inverse;
            if best
                .is_none_or(|(least, other)| loss.total_cmp(&least).then(list.cmp(&other)).is_lt())
            {
                best = Some((loss, *list));
            }
        }
        Assignment {
            primary,
            secondary: best.map(|(_, list)| list),
        }
    }
}
