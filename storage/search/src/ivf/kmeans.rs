//! Spherical k-means on vectors of unit length: Lloyd's iteration with the cosine,
//! started by k-means++ and never left with an empty cluster it could fill.

use super::kernel;
use super::random::Random;
use super::rows::Rows;
use crate::vector;

/// Iterations after which training stops, settled or not.
const ITERATIONS: usize = 10;

/// At most `clusters` unit vectors that stand for the points, and none only if there
/// are no points.
pub(super) fn cluster(
    points: &[&[f32]],
    dimension: usize,
    clusters: usize,
    random: &mut Random,
) -> Rows {
    let clusters = clusters.min(points.len());
    let mut centroids = start(points, dimension, clusters, random);
    let mut nearest = vec![(usize::MAX, 0.0); points.len()];
    for _ in 0..ITERATIONS {
        let mut moved = 0_usize;
        for (point, nearest) in points.iter().zip(&mut nearest) {
            let found = closest(point, &centroids);
            moved += usize::from(found.0 != nearest.0);
            *nearest = found;
        }
        if moved == 0 {
            break;
        }
        centroids = means(points, &nearest, dimension, clusters);
        // One point in a thousand moves a centroid by less than its code resolves.
        if moved * 1000 < points.len() {
            break;
        }
    }
    centroids
}

/// The row with the highest dot product, and that product; the first of equals.
pub(super) fn closest(point: &[f32], rows: &Rows) -> (usize, f32) {
    let mut best = (0, f32::NEG_INFINITY);
    for (number, row) in rows.iter().enumerate() {
        let score = kernel::dot(point, row);
        if score > best.1 {
            best = (number, score);
        }
    }
    best
}

/// k-means++ (Arthur and Vassilvitskii, 2007): each next centroid is a point drawn in
/// proportion to its squared distance from those already taken.
fn start(points: &[&[f32]], dimension: usize, clusters: usize, random: &mut Random) -> Rows {
    let mut centroids = Rows::new(dimension);
    let mut distances = vec![f64::INFINITY; points.len()];
    let mut next = random.below(points.len());
    while centroids.len() < clusters {
        let Some(chosen) = points.get(next) else {
            break;
        };
        centroids.push(chosen);
        let mut total = 0.0;
        for (point, distance) in points.iter().zip(&mut distances) {
            let apart = f64::from(1.0 - kernel::dot(point, chosen)).max(0.0);
            *distance = distance.min(apart);
            total += *distance;
        }
        let mut left = random.unit() * total;
        // Where all points are equal, none is far from a centroid: any will do.
        next = if total > 0.0 {
            distances
                .iter()
                .position(|distance| {
                    left -= distance;
                    left < 0.0
                })
                .unwrap_or(points.len() - 1)
        } else {
            random.below(points.len())
        };
    }
    centroids
}

/// The mean direction of every cluster. An empty cluster takes the point that its
/// own centroid serves worst.
fn means(points: &[&[f32]], nearest: &[(usize, f32)], dimension: usize, clusters: usize) -> Rows {
    let mut sums = Rows::zeros(dimension, clusters);
    let mut sizes = vec![0_usize; clusters];
    for (point, (cluster, _)) in points.iter().zip(nearest) {
        for (sum, value) in sums.at_mut(*cluster).iter_mut().zip(*point) {
            *sum += value;
        }
        if let Some(size) = sizes.get_mut(*cluster) {
            *size += 1;
        }
    }
    let empty = sizes.iter().filter(|size| **size == 0).count();
    let mut worst: Vec<(f32, usize)> = Vec::new();
    if empty > 0 {
        worst.extend(
            nearest
                .iter()
                .enumerate()
                .map(|(point, (_, score))| (*score, point)),
        );
        worst.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    }
    let mut worst = worst.into_iter();
    let mut centroids = Rows::new(dimension);
    for (sum, size) in sums.iter().zip(&sizes) {
        if *size > 0 {
            centroids.push(&vector::normalised(sum));
        } else if let Some(point) = worst.next().and_then(|(_, point)| points.get(point)) {
            centroids.push(point);
        } else {
            centroids.push(sum);
        }
    }
    centroids
}
