//! BM25, in the form that Lucene computes.
//!
//! It is pure arithmetic, so that the tail and the segments score alike. It
//! must not know where the statistics come from.

/// The parameters of BM25.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm25 {
    /// How fast repeats of a term stop counting.
    pub k1: f64,
    /// How much length counts against a text, 0 to 1.
    pub b: f64,
}

impl Default for Bm25 {
    /// The values that Anserini takes, which beat Lucene's 1.2 and 0.75 on both data
    /// sets of `examples/quality.rs`: memories are short and of uneven length.
    fn default() -> Self {
        Self { k1: 0.9, b: 0.4 }
    }
}

/// Statistics of a whole collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Live records.
    pub records: u64,
    /// Sum of their lengths in terms.
    pub length: u64,
}

impl Bm25 {
    /// The weight of a term that `df` of the collection's records contain.
    pub fn idf(totals: Totals, df: u64) -> f64 {
        let (n, df) = (totals.records as f64, df as f64);
        ((n - df + 0.5) / (df + 0.5)).ln_1p()
    }

    /// What a term that occurs `tf` times adds to the score of a record of this
    /// length, given the term's weight.
    pub fn score(self, totals: Totals, idf: f64, tf: u32, length: u32) -> f64 {
        if totals.length == 0 {
            return idf * f64::from(tf) / (f64::from(tf) + self.k1);
        }
        let average = totals.length as f64 / totals.records as f64;
        let norm = 1.0 - self.b + self.b * f64::from(length) / average;
        idf * f64::from(tf) / (f64::from(tf) + self.k1 * norm)
    }
}

#[cfg(test)]
mod tests;
