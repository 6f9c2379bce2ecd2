use super::super::random::Random;
use super::super::rows::Rows;
use crate::vector::normalised;

/// A number with mean 0 and variance 1, near enough to normal.
pub(super) fn normal(random: &mut Random) -> f32 {
    let sum: f64 = (0..12).map(|_| random.unit()).sum();
    (sum - 6.0) as f32
}

/// Unit vectors around centres; `spread` is the length of the noise beside a centre
/// of length 1.
pub(super) fn clustered(count: usize, dimension: usize, spread: f32, seed: u64) -> Rows {
    let mut random = Random::new(seed);
    let noise = |random: &mut Random| -> Vec<f32> {
        let row: Vec<f32> = (0..dimension).map(|_| normal(random)).collect();
        normalised(&row)
    };
    let centres: Vec<Vec<f32>> = (0..(count / 40).max(1))
        .map(|_| noise(&mut random))
        .collect();
    let mut rows = Rows::new(dimension);
    for _ in 0..count {
        let centre = &centres[random.below(centres.len())];
        let beside = noise(&mut random);
        let row: Vec<f32> = centre
            .iter()
            .zip(beside)
            .map(|(c, n)| c + spread * n)
            .collect();
        rows.push(&normalised(&row));
    }
    rows
}
