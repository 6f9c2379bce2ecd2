//! A uniform sample of a stream in bounded memory, to train from (Vitter's
//! algorithm R, 1985).

use super::random::Random;
use super::rows::Rows;

/// A uniform sample of the vectors offered so far.
#[derive(Debug, Clone)]
pub struct Reservoir {
    rows: Rows,
    capacity: usize,
    seen: usize,
    random: Random,
}

impl Reservoir {
    /// An empty sample of at most `capacity` vectors, which take 4 bytes a component.
    pub fn new(dimension: usize, capacity: usize, seed: u64) -> Self {
        Self {
            rows: Rows::new(dimension),
            capacity,
            seen: 0,
            random: Random::new(seed),
        }
    }

    /// Offers the next vector of the stream, of unit length or zero.
    pub fn offer(&mut self, vector: &[f32]) {
        self.seen += 1;
        if self.rows.len() < self.capacity {
            self.rows.push(vector);
            return;
        }
        let place = self.random.below(self.seen);
        if place < self.capacity {
            for (old, new) in self.rows.at_mut(place).iter_mut().zip(vector) {
                *old = *new;
            }
        }
    }

    /// Vectors offered so far.
    pub fn seen(&self) -> usize {
        self.seen
    }

    /// The sample.
    pub fn into_rows(self) -> Rows {
        self.rows
    }
}
