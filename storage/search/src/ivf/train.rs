//! Training: from a sample to centroids in file order.
//!
//! Two levels keep the work near N × √lists: the sample is split into about √lists
//! groups, and every group by itself into its share of the lists.

use super::centroids::Centroids;
use super::kmeans::{closest, cluster};
use super::order::path;
use super::quantise::Bits;
use super::random::Random;
use super::rows::Rows;
use super::soar::Tree;
use crate::vector;

/// Points that one centroid is trained on, at most.
pub const POINTS_PER_CENTROID: usize = 256;
/// Lists below which one level is enough.
const ONE_LEVEL: usize = 16;
/// Passes over the whole sample that move centroids across the borders of groups.
const REFINEMENTS: usize = 2;

/// What to train.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Training {
    /// Lists wanted. There are never more than points in the sample, and never none.
    pub lists: usize,
    /// Width of the centroids' codes.
    pub bits: Bits,
    /// Fixes every choice made by chance.
    pub seed: u64,
}

/// Centroids for vectors of which `sample` is a uniform sample. Rows are of unit
/// length or zero. An empty sample gives one list, which takes everything.
pub fn train(sample: &Rows, training: Training) -> Centroids {
    let mut random = Random::new(training.seed);
    let points: Vec<&[f32]> = sample.iter().collect();
    let dimension = sample.dimension();
    let lists = training.lists.clamp(1, points.len().max(1));
    let groups = group(&points, dimension, lists, &mut random);
    let mut groups: Vec<Rows> = groups
        .iter()
        .map(|(points, lists)| {
            let points = subsample(points, lists * POINTS_PER_CENTROID, &mut random);
            cluster(&points, dimension, *lists, &mut random)
        })
        .filter(|rows| !rows.is_empty())
        .collect();
    if groups.is_empty() {
        groups.push(Rows::zeros(dimension, 1));
    }
    if groups.len() > 1 {
        for _ in 0..REFINEMENTS {
            refine(&mut groups, &points);
        }
    }
    Centroids::of_groups(&in_order(&groups, dimension), dimension, training.bits)
}

/// The points in about √lists groups, each with the number of lists that is its
/// share.
fn group<'a>(
    points: &[&'a [f32]],
    dimension: usize,
    lists: usize,
    random: &mut Random,
) -> Vec<(Vec<&'a [f32]>, usize)> {
    if lists < ONE_LEVEL {
        return vec![(points.to_vec(), lists)];
    }
    let count = lists.isqrt();
    let few = subsample(points, count * POINTS_PER_CENTROID, random);
    let coarse = cluster(&few, dimension, count, random);
    let mut groups = vec![Vec::new(); coarse.len()];
    for point in points {
        let (nearest, _) = closest(point, &coarse);
        if let Some(group) = groups.get_mut(nearest) {
            group.push(*point);
        }
    }
    groups.retain(|group| !group.is_empty());
    // Shares are rounded so that the errors never add up: they sum to `lists` unless
    // a small group is given its one list.
    let (mut before, mut given) = (0, 0);
    groups
        .into_iter()
        .map(|group| {
            before += group.len();
            let until = before * lists / points.len();
            let share = until.saturating_sub(given).clamp(1, group.len());
            given += share;
            (group, share)
        })
        .collect()
}

/// `count` of the points without repetition, or all if there are no more.
fn subsample<'a>(points: &[&'a [f32]], count: usize, random: &mut Random) -> Vec<&'a [f32]> {
    let mut points = points.to_vec();
    for place in 0..count.min(points.len()) {
        let other = place + random.below(points.len() - place);
        points.swap(place, other);
    }
    points.truncate(count);
    points
}

/// Moves every centroid to the mean direction of the points nearest to it, whichever
/// group they were in.
fn refine(groups: &mut [Rows], points: &[&[f32]]) {
    let dimension = groups.first().map_or(1, Rows::dimension);
    let tree = Tree::of_groups(groups);
    let mut sums = Rows::zeros(dimension, tree.lists());
    let mut scores = Vec::new();
    for point in points {
        let (list, _) = tree.nearest(point, &mut scores);
        for (sum, value) in sums.at_mut(list).iter_mut().zip(*point) {
            *sum += value;
        }
    }
    let mut sums = sums.iter();
    for group in groups {
        for list in 0..group.len() {
            let Some(sum) = sums.next() else { continue };
            // A centroid that lost all its points stays where it was.
            if sum.iter().any(|value| *value != 0.0) {
                let mean = vector::normalised(sum);
                group.at_mut(list).copy_from_slice(&mean);
            }
        }
    }
}

/// Groups along a path, and within each group its lists along a path that goes on
/// from the group before.
fn in_order(groups: &[Rows], dimension: usize) -> Vec<Rows> {
    let mut means = Rows::new(dimension);
    for group in groups {
        means.push(&mean_direction(group.iter(), dimension));
    }
    let mut last: Option<Vec<f32>> = None;
    path(&means, None)
        .into_iter()
        .filter_map(|group| groups.get(group))
        .map(|group| {
            let mut ordered = Rows::new(dimension);
            for row in path(group, last.as_deref()) {
                ordered.push(group.at(row));
            }
            last = ordered.iter().last().map(<[f32]>::to_vec);
            ordered
        })
        .collect()
}

/// The direction of the sum of rows.
pub(super) fn mean_direction<'a>(
    rows: impl Iterator<Item = &'a [f32]>,
    dimension: usize,
) -> Vec<f32> {
    let mut sum = vec![0.0_f32; dimension];
    for row in rows {
        for (sum, value) in sum.iter_mut().zip(row) {
            *sum += value;
        }
    }
    vector::normalised(&sum)
}
