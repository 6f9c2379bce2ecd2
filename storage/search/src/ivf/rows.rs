//! A table of vectors of one dimension, in one allocation.

/// Vectors of one dimension, row after row.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    dimension: usize,
    values: Vec<f32>,
}

impl Rows {
    /// No rows yet. A dimension of 0 is taken as 1.
    pub fn new(dimension: usize) -> Self {
        Self {
            dimension: dimension.max(1),
            values: Vec::new(),
        }
    }

    /// `count` rows of zeros.
    pub(super) fn zeros(dimension: usize, count: usize) -> Self {
        let mut rows = Self::new(dimension);
        rows.values.resize(rows.dimension * count, 0.0);
        rows
    }

    /// Appends a row; what is missing is zero and what is too much is dropped.
    pub fn push(&mut self, row: &[f32]) {
        let end = self.values.len() + self.dimension;
        self.values.extend(row.iter().take(self.dimension));
        self.values.resize(end, 0.0);
    }

    /// Components of a row.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.values.len() / self.dimension
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The row with this number, from 0.
    pub fn get(&self, row: usize) -> Option<&[f32]> {
        let start = row.checked_mul(self.dimension)?;
        self.values.get(start..start.checked_add(self.dimension)?)
    }

    /// The row with this number; no components if there is none, so that it is at
    /// a dot product of 0 from everything.
    pub(super) fn at(&self, row: usize) -> &[f32] {
        self.get(row).unwrap_or_default()
    }

    pub(super) fn at_mut(&mut self, row: usize) -> &mut [f32] {
        let start = row.saturating_mul(self.dimension);
        self.values
            .get_mut(start..start.saturating_add(self.dimension))
            .unwrap_or_default()
    }

    /// The rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.dimension)
    }

    /// The rows from `start` to before `end`.
    pub(super) fn range(&self, start: usize, end: usize) -> impl Iterator<Item = &[f32]> {
        self.values
            .get(start.saturating_mul(self.dimension)..end.saturating_mul(self.dimension))
            .unwrap_or_default()
            .chunks_exact(self.dimension)
    }
}
