//! The best rows of a query: MAXSCORE with block maxima, window by window.
//!
//! In a window of rows the terms that together cannot reach the best so far are not
//! gone through (Turtle and Flood, 1995; windows after Lucene's block-max MAXSCORE); they
//! are looked up for the rows that the others bring close enough. Long queries gain the
//! most, and a result is what scoring everything gives, to the last bit.

use super::best::Best;
use super::cursor::Cursor;
use super::{Scored, Scoring, Weighted};
use crate::postings::PostingsError;

/// Rows of a window: their scores fit a processor's first cache, and a list that has one
/// row in thirty has its own block in each.
const WINDOW: u32 = 4096;

/// What looking up a row costs against going through one more posting.
const LOOK_UP: usize = 8;

/// What is wanted of a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wanted {
    /// How many rows, besides those that tie with the last of them.
    pub k: usize,
    /// The least score of a row, where there is one.
    pub least: Option<f64>,
}

/// The best rows that are accepted, by score and then by number, with every row that
/// ties with the last of them.
///
/// Rows that are not accepted take no place among the best. `accept` is asked only
/// about rows that may be among them.
pub fn top_k(
    lists: &[Weighted<'_>],
    scoring: Scoring,
    wanted: Wanted,
    mut accept: impl FnMut(u32) -> bool,
) -> Result<Vec<Scored>, PostingsError> {
    let mut search = Search::new(lists, scoring);
    let mut best = Best::new(wanted);
    while let Some(window) = search.next_window()? {
        search.partition(window, &best);
        search.go_through(window)?;
        search.decide(window, &mut best, &mut accept)?;
    }
    Ok(best.finish())
}

/// The scores of all rows that are accepted and have one greater than 0, ascending by
/// row.
pub fn exhaustive(
    lists: &[Weighted<'_>],
    scoring: Scoring,
    mut accept: impl FnMut(u32) -> bool,
) -> Result<Vec<Scored>, PostingsError> {
    let mut search = Search::new(lists, scoring);
    let mut scored = Vec::new();
    while let Some(window) = search.next_window()? {
        search.essential.clear();
        search.essential.extend(search.live.iter().copied());
        search.rest.clear();
        search.go_through(window)?;
        search.scores.each(|offset, score| {
            let doc = window.start.saturating_add(offset);
            if score > 0.0 && accept(doc) {
                scored.push(Scored { doc, score });
            }
        });
        search.scores.clear();
    }
    Ok(scored)
}

/// Rows from `start` up to `end`, exclusive.
#[derive(Debug, Clone, Copy)]
struct Window {
    start: u32,
    end: u64,
}

struct Search<'a> {
    /// In the order of the query's terms.
    cursors: Vec<Cursor<'a>>,
    /// Places of cursors that are not at their ends, ascending.
    live: Vec<usize>,
    /// Those to go through in this window, ascending.
    essential: Vec<usize>,
    /// The others, with what they and those before them add at most; ascending by what
    /// each adds.
    rest: Vec<(usize, f64)>,
    /// Rows of the window that may be among the best, ascending.
    candidates: Vec<u32>,
    scores: Scores,
    /// About how many postings the window has of the terms that are looked up.
    spared: usize,
    next: u64,
}

impl<'a> Search<'a> {
    fn new(lists: &[Weighted<'a>], scoring: Scoring) -> Self {
        let cursors: Vec<Cursor<'a>> = lists
            .iter()
            .map(|list| Cursor::new(*list, scoring, WINDOW))
            .collect();
        Self {
            live: (0..cursors.len()).collect(),
            cursors,
            essential: Vec::new(),
            rest: Vec::new(),
            candidates: Vec::new(),
            scores: Scores::new(),
            spared: 0,
            next: 0,
        }
    }

    /// The next window that may have rows.
    fn next_window(&mut self) -> Result<Option<Window>, PostingsError> {
        let Self { cursors, live, .. } = self;
        let Ok(from) = u32::try_from(self.next) else {
            return Ok(None);
        };
        let mut start: Option<u32> = None;
        let mut still = 0;
        for index in 0..live.len() {
            let Some(place) = live.get(index).copied() else {
                break;
            };
            let Some(cursor) = cursors.get_mut(place) else {
                continue;
            };
            cursor.forget();
            cursor.seeker.skip_to(from)?;
            let Some(next) = cursor.seeker.next_at_least() else {
                continue;
            };
            let next = next.max(from);
            start = Some(start.map_or(next, |start| start.min(next)));
            if let Some(slot) = live.get_mut(still) {
                *slot = place;
                still += 1;
            }
        }
        live.truncate(still);
        let Some(start) = start else {
            return Ok(None);
        };
        let end = u64::from(start) + u64::from(WINDOW);
        self.next = end;
        Ok(Some(Window { start, end }))
    }

    /// Parts the terms into those to go through and those to look up.
    fn partition(&mut self, window: Window, best: &Best) {
        let Self {
            cursors,
            live,
            essential,
            rest,
            spared,
            ..
        } = self;
        rest.clear();
        rest.extend(live.iter().filter_map(|place| {
            let bound = cursors.get(*place)?.bound_to(window.end);
            (bound > 0.0).then_some((*place, bound))
        }));
        rest.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        let mut sum = 0.0;
        let mut looked_up = 0;
        for (_, bound) in rest.iter_mut() {
            sum += *bound;
            if best.may_take(sum) {
                break;
            }
            *bound = sum;
            looked_up += 1;
        }
        let expected = |places: &[(usize, f64)]| -> usize {
            let cursors = places.iter().filter_map(|(place, _)| cursors.get(*place));
            cursors.map(|cursor| cursor.expected).sum()
        };
        let (others, main) = rest.split_at(looked_up.min(rest.len()));
        *spared = expected(others);
        if *spared < expected(main) {
            // Too little to spare for what sparing costs.
            looked_up = 0;
        }
        essential.clear();
        essential.extend(rest.drain(looked_up..).map(|(place, _)| place));
        essential.sort_unstable();
    }

    /// Adds up the scores of the window's rows by the terms to go through.
    fn go_through(&mut self, window: Window) -> Result<(), PostingsError> {
        let Self {
            cursors,
            essential,
            rest,
            scores,
            ..
        } = self;
        let are_looked_up = !rest.is_empty();
        for place in essential.iter() {
            let Some(cursor) = cursors.get_mut(*place) else {
                continue;
            };
            cursor.seeker.seek(window.start)?;
            let add = |doc: u32, score: f64| scores.add(doc.wrapping_sub(window.start), score);
            if are_looked_up {
                cursor.keep_to(window.end, add)?;
            } else {
                cursor.drain_to(window.end, add)?;
            }
        }
        Ok(())
    }

    /// Offers the window's rows, with their whole scores.
    fn decide(
        &mut self,
        window: Window,
        best: &mut Best,
        accept: &mut impl FnMut(u32) -> bool,
    ) -> Result<(), PostingsError> {
        let doc_of = |offset: u32| window.start.saturating_add(offset);
        if self.rest.is_empty() {
            // Terms were gone through in their order: the sums are the scores.
            self.scores.each(|offset, score| {
                let doc = doc_of(offset);
                if best.may_take(score) && accept(doc) {
                    best.offer(Scored { doc, score });
                }
            });
        } else {
            self.look_up(window, best, accept)?;
            for offset in &self.candidates {
                let doc = doc_of(*offset);
                let mut score = 0.0;
                for place in &self.live {
                    let cursor = self.cursors.get_mut(*place);
                    score += cursor.and_then(|cursor| cursor.kept(doc)).unwrap_or(0.0);
                }
                best.offer(Scored { doc, score });
            }
        }
        self.scores.clear();
        Ok(())
    }

    /// Adds what the other terms give to the rows that may be among the best, and leaves
    /// only these as candidates.
    fn look_up(
        &mut self,
        window: Window,
        best: &Best,
        accept: &mut impl FnMut(u32) -> bool,
    ) -> Result<(), PostingsError> {
        let Self {
            cursors,
            rest,
            candidates,
            scores,
            spared,
            ..
        } = self;
        let others = rest.last().map_or(0.0, |(_, sum)| *sum);
        candidates.clear();
        scores.each(|offset, score| {
            if best.may_take(score + others) && accept(window.start.saturating_add(offset)) {
                candidates.push(offset);
            }
        });
        let are_many = candidates.len() * rest.len() > *spared * 2;
        for (place, others) in rest.iter().rev() {
            if !are_many {
                candidates.retain(|offset| best.may_take(scores.get(*offset) + others));
            }
            if candidates.is_empty() {
                break;
            }
            let Some(cursor) = cursors.get_mut(*place) else {
                continue;
            };
            if are_many || candidates.len() * LOOK_UP > cursor.expected {
                cursor.seeker.seek(window.start)?;
                cursor.keep_to(window.end, |doc, score| {
                    scores.add(doc.wrapping_sub(window.start), score);
                })?;
            } else {
                for offset in candidates.iter() {
                    let found = cursor.keep(window.start.saturating_add(*offset))?;
                    if let Some(score) = found {
                        scores.add(*offset, score);
                    }
                }
            }
        }
        candidates.retain(|offset| best.may_take(scores.get(*offset)));
        Ok(())
    }
}

/// The scores of a window's rows.
struct Scores {
    scores: Vec<f64>,
    /// One bit for each row that has one.
    present: Vec<u64>,
}

impl Scores {
    fn new() -> Self {
        Self {
            scores: vec![0.0; WINDOW as usize],
            present: vec![0; (WINDOW / 64) as usize],
        }
    }

    fn get(&self, offset: u32) -> f64 {
        self.scores.get(offset as usize).copied().unwrap_or(0.0)
    }

    fn add(&mut self, offset: u32, score: f64) {
        let offset = offset as usize;
        if let (Some(sum), Some(word)) = (
            self.scores.get_mut(offset),
            self.present.get_mut(offset / 64),
        ) {
            *sum += score;
            *word |= 1 << (offset % 64);
        }
    }

    fn each(&self, mut each: impl FnMut(u32, f64)) {
        let words = (0_u32..).step_by(64).zip(&self.present);
        for ((start, word), scores) in words.zip(self.scores.chunks(64)) {
            let mut word = *word;
            while word != 0 {
                let bit = word.trailing_zeros();
                word &= word - 1;
                if let Some(score) = scores.get(bit as usize) {
                    each(start + bit, *score);
                }
            }
        }
    }

    fn clear(&mut self) {
        for (word, scores) in self.present.iter_mut().zip(self.scores.chunks_mut(64)) {
            if *word != 0 {
                *word = 0;
                scores.fill(0.0);
            }
        }
    }
}
