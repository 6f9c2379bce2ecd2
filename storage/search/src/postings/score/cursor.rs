//! One term of the query as the search goes through its list, with what each block can
//! score at most.

use super::{Scoring, Weighted};
use crate::postings::PostingsError;
use crate::postings::impact;
use crate::postings::list::{BLOCK, List};
use crate::postings::seek::Seeker;

/// One term of the query.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    pub(super) seeker: Seeker<'a>,
    list: Weighted<'a>,
    scoring: Scoring,
    /// The most that a posting of each block scores.
    bounds: Vec<f64>,
    /// About how many postings lie in a window.
    pub(super) expected: usize,
    /// What the list gave in the window, as ascending rows and scores.
    window: Vec<(u32, f64)>,
    /// How far `window` has been read.
    read: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(list: Weighted<'a>, scoring: Scoring, window_rows: u32) -> Self {
        let Weighted { list: of, weight } = list;
        let is_bounded = scoring.is_monotone() && (0.0..f64::MAX).contains(&weight);
        let bounds = (0..of.blocks())
            .map(|block| {
                if is_bounded {
                    impact::bound(of.impacts_of(block), scoring, weight)
                } else {
                    f64::INFINITY
                }
            })
            .collect();
        Self {
            seeker: Seeker::new(of),
            list,
            scoring,
            bounds,
            expected: expected(of, window_rows),
            window: Vec::new(),
            read: 0,
        }
    }

    /// The most that a row from the place up to `end`, exclusive, gets from this term.
    pub(super) fn bound_to(&self, end: u64) -> f64 {
        let from = self.seeker.block();
        let blocks = self.bounds.iter().enumerate().skip(from);
        blocks
            .take_while(|(block, _)| {
                let first = self.list.list.first_of(*block);
                first.is_some_and(|first| u64::from(first) < end)
            })
            .map(|(_, bound)| *bound)
            .fold(0.0, f64::max)
    }

    /// Gives the rows up to `end`, exclusive, and what the term adds to their scores.
    pub(super) fn drain_to(
        &mut self,
        end: u64,
        mut each: impl FnMut(u32, f64),
    ) -> Result<(), PostingsError> {
        let (scoring, weight) = (self.scoring, self.list.weight);
        self.seeker.drain_to(end, |posting| {
            each(
                posting.doc,
                scoring.score(weight, posting.tf, posting.length),
            );
        })
    }

    /// Like [`Self::drain_to`], and keeps them for [`Self::kept`].
    pub(super) fn keep_to(
        &mut self,
        end: u64,
        mut each: impl FnMut(u32, f64),
    ) -> Result<(), PostingsError> {
        let mut window = std::mem::take(&mut self.window);
        let drained = self.drain_to(end, |doc, score| {
            window.push((doc, score));
            each(doc, score);
        });
        self.window = window;
        drained
    }

    /// What the term adds to the score of a row that is not below the place, kept for
    /// [`Self::kept`].
    pub(super) fn keep(&mut self, doc: u32) -> Result<Option<f64>, PostingsError> {
        let Some(posting) = self.seeker.find(doc)? else {
            return Ok(None);
        };
        let Weighted { weight, .. } = self.list;
        let score = self.scoring.score(weight, posting.tf, posting.length);
        self.window.push((doc, score));
        Ok(Some(score))
    }

    /// Forgets what was kept of the window before.
    pub(super) fn forget(&mut self) {
        self.window.clear();
        self.read = 0;
    }

    /// What the term adds to the score of a row of the window; rows ascend.
    pub(super) fn kept(&mut self, doc: u32) -> Option<f64> {
        let rest = self.window.get(self.read..)?;
        let near = rest.iter().take(8).take_while(|(found, _)| *found < doc);
        self.read += match near.count() {
            8 => rest.partition_point(|(found, _)| *found < doc),
            few => few,
        };
        let (found, score) = self.window.get(self.read)?;
        (*found == doc).then_some(*score)
    }
}

/// About how many postings lie in so many rows.
fn expected(list: &List, rows: u32) -> usize {
    let first = list.first_of(0).unwrap_or_default();
    let last = list.first_of(list.blocks().saturating_sub(1));
    let span = u64::from(last.unwrap_or_default().saturating_sub(first)) + BLOCK as u64;
    let expected = u64::from(list.document_frequency()) * u64::from(rows) / span;
    usize::try_from(expected).unwrap_or(usize::MAX)
}
