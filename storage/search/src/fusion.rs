//! Fusion: one order from two lanes that share no scale.
//!
//! [`fuse`] is a convex combination (Bruch, Gai and Ingber, TOIS 2023, arXiv
//! 2210.11934) of the cosine and of BM25 as a share of the most that the query's terms
//! could score, so that what a record is worth does not depend on the other candidates.
//! It is apart from ranking so that its rules are tested without an index. It must not
//! look for scores, nor order what ties.

/// What a cosine of 1 is worth, where 1 is all that the query's terms could score: a
/// fifth of the sum. Chosen on the training halves of two data sets
/// (`docs/adr/0013-fusion.md`); models whose cosines lie closer together want more.
pub const SEMANTIC: f64 = 0.25;

/// How far below the lowest cosine an absent one counts, so that it does not tie.
const BELOW: f64 = 0.01;

/// What the scores of one query are measured by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// The weights of the query's terms ([`crate::bm25::Bm25::idf`]), each as many times
    /// as the query has it, those that no record contains included. BM25 approaches it
    /// and never gets there.
    pub term_weights: f64,
    /// What a cosine of 1 is worth, where all of `term_weights` is 1.
    pub semantic: f64,
}

impl Parameters {
    /// The default weight, for a query whose terms weigh this much.
    pub fn of(term_weights: f64) -> Self {
        Self {
            term_weights,
            semantic: SEMANTIC,
        }
    }
}

/// Scores candidates `(item, BM25, cosine)`, from 0 to 1, in the order they came in.
///
/// Candidates are the best of either lane, each with its exact score in both; a score is
/// `None` where a record has no word of the query, or no vector to compare. On the scale,
/// 1 is first place in every lane there is. Nobody gains by being absent: no word is
/// worth 0, and no vector a little less than the lowest cosine among the candidates. Where
/// candidates with words lack vectors, cosines count for less, by the square of the share
/// that has them: else the records that are embedded already would go before those that
/// are not yet.
///
/// A candidate that is better in both lanes never scores lower. Where all are embedded,
/// the order of two does not depend on which others there are; no score depends on the
/// order of the input.
pub fn fuse<T>(
    candidates: impl Iterator<Item = (T, Option<f64>, Option<f64>)>,
    parameters: Parameters,
) -> Vec<(T, f64)> {
    let candidates: Vec<(T, Option<f64>, Option<f64>)> = candidates.collect();
    let scale = Scale::of(&candidates, parameters);
    candidates
        .into_iter()
        .map(|(item, bm25, cosine)| (item, scale.score(bm25, cosine)))
        .collect()
}

/// What a query's candidates have in common.
struct Scale {
    /// What BM25 is a share of.
    term_weights: f64,
    /// What a cosine of 1 is worth.
    semantic: f64,
    /// The cosine that stands for an absent one.
    absent: f64,
    /// The sum of the best of each lane.
    best: f64,
}

impl Scale {
    fn of<T>(candidates: &[(T, Option<f64>, Option<f64>)], parameters: Parameters) -> Self {
        let keyword = candidates.iter().filter_map(|(_, bm25, _)| *bm25);
        let semantic = candidates.iter().filter_map(|(_, _, cosine)| *cosine);
        let best_keyword = keyword.fold(0.0, f64::max);
        let range = semantic.fold(None, |range, cosine| {
            let (lowest, highest) = range.unwrap_or((cosine, cosine));
            Some((cosine.min(lowest), cosine.max(highest)))
        });
        let (absent, highest) =
            range.map_or((0.0, 0.0), |(lowest, highest)| (lowest - BELOW, highest));
        let with_words = candidates.iter().filter(|(_, bm25, _)| bm25.is_some());
        let (worded, both) = with_words.fold((1.0, 1.0), |(worded, both), (_, _, cosine)| {
            (worded + 1.0, both + f64::from(u8::from(cosine.is_some())))
        });
        let covered: f64 = both / worded;
        let mut scale = Self {
            // Never less than what was scored, so that a caller's rounding cannot matter.
            term_weights: parameters.term_weights.max(best_keyword),
            semantic: parameters.semantic * covered * covered,
            absent,
            best: 0.0,
        };
        scale.best = scale.sum(Some(best_keyword), Some(highest));
        scale
    }

    fn score(&self, bm25: Option<f64>, cosine: Option<f64>) -> f64 {
        if self.best > 0.0 {
            (self.sum(bm25, cosine) / self.best).min(1.0)
        } else {
            0.0
        }
    }

    fn sum(&self, bm25: Option<f64>, cosine: Option<f64>) -> f64 {
        let keyword = bm25.unwrap_or(0.0);
        let keyword = if keyword > 0.0 {
            keyword / self.term_weights
        } else {
            0.0
        };
        // Cosines below zero keep their order, and are worth no less than nothing.
        let above = cosine.unwrap_or(self.absent) - self.absent.min(0.0);
        keyword + self.semantic * above
    }
}

#[cfg(test)]
mod tests;
