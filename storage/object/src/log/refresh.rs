//! Bringing the state up to date as a machine without I/O: it says which
//! requests it needs next and is fed their answers, so that a query can send
//! its own reads in the same waves. It must not decide what is read beyond the
//! log and the head.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use super::carried::Object;
use super::entry::{Checkpoint, Entry};
use super::error::LogError;
use super::fold::Fold;
use super::state::{Origin, Run, Verified};
use super::{Freshness, Log, carry, codec};
use crate::error::{Corrupt, StoreError};
use crate::io::{Listed, Request, Response};
use crate::key::{Key, Prefix, Seq};
use crate::port::Timestamp;

/// How many entries a warm reader asks for at once after its probe has hit.
const READ_AHEAD: u64 = 5;
/// How many a writer asks for at once when it expects many.
const WIDEST: u64 = 16;
/// How often the log may change under a reader before it gives up.
const ATTEMPTS: u32 = 8;

type Answer = Result<Response, StoreError>;

/// A refresh under way. While [`Refresh::requests`] is not empty, perform them
/// as the first part of a wave and [`Refresh::feed`] their answers.
#[derive(Debug)]
pub struct Refresh<'a, F: Fold> {
    log: &'a Log<F>,
    phase: Phase,
    verified: Verified,
    attempts: u32,
    /// The state's last entry when this attempt began.
    have: Seq,
    origin: Origin,
    /// The last entry that the log is known to have.
    target: Seq,
    /// The first number of the listing's dense end, below which nothing is.
    bottom: Seq,
    /// The names and sizes from the last listing, if there was one.
    listed: Vec<(Seq, u64)>,
    head: Option<Arc<Entry>>,
    objects: BTreeMap<Seq, Object>,
    entries: BTreeMap<Seq, Arc<Entry>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing is known: the head and the whole listing.
    Cold,
    /// The state is too old for a probe: the listing after it.
    Relist,
    /// The number after the state.
    Probe,
    /// So many numbers from the first.
    ReadAhead {
        first: Seq,
        count: u64,
    },
    /// The listing after a read-ahead that hit throughout.
    ListOn {
        after: Seq,
    },
    /// These objects.
    Fetch(Vec<Seq>),
    Done,
}

/// What tells whether a loaded state is the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    /// That the next number is absent.
    Probe,
    /// A listing alone: the next number may be that of a stalled writer.
    Listing,
}

impl<'a, F: Fold> Refresh<'a, F> {
    pub(super) fn start(log: &'a Log<F>, now: Timestamp, freshness: Freshness) -> Self {
        let verified = Verified {
            ticket: log.draw_ticket(),
            time: now,
        };
        let mut refresh = Self {
            log,
            phase: Phase::Done,
            verified,
            attempts: 0,
            have: Seq::ZERO,
            origin: Origin::Continued,
            target: Seq::ZERO,
            bottom: Seq::ZERO,
            listed: Vec::new(),
            head: None,
            objects: BTreeMap::new(),
            entries: BTreeMap::new(),
        };
        let fresh_enough = match freshness {
            Freshness::Strong => false,
            Freshness::Bounded(millis) => {
                let state = log.state();
                state.loaded && now.millis_since(state.verified.time) <= millis
            }
        };
        if !fresh_enough {
            refresh.begin(Trust::Probe);
        }
        refresh
    }

    /// A refresh that expects so many new entries, and so asks for more at once.
    pub(super) fn start_wide(log: &'a Log<F>, now: Timestamp, expected: u64) -> Self {
        let mut refresh = Self::start(log, now, Freshness::Strong);
        if refresh.phase == Phase::Probe && expected > 1 {
            refresh.phase = Phase::ReadAhead {
                first: refresh.have.next(),
                count: (expected + expected / 2 + 1).min(WIDEST),
            };
        }
        refresh
    }

    /// A refresh that does not trust the state's age.
    pub(super) fn start_with_listing(log: &'a Log<F>, now: Timestamp) -> Self {
        let mut refresh = Self::start(log, now, Freshness::Bounded(u64::MAX));
        refresh.begin(Trust::Listing);
        refresh
    }

    /// What to ask of the store next; nothing when the state is up to date.
    pub fn requests(&self) -> Vec<Request> {
        let collection = self.log.collection();
        let get = |seq: Seq| Request::Get {
            key: Key::Log(collection.clone(), seq),
        };
        let list = |after: Seq| Request::List {
            prefix: Prefix::Log(collection.clone()),
            after: (after > Seq::ZERO).then(|| Key::Log(collection.clone(), after)),
        };
        match &self.phase {
            Phase::Cold => vec![
                Request::Get {
                    key: Key::Head(collection.clone()),
                },
                list(Seq::ZERO),
            ],
            Phase::Relist => vec![list(self.have)],
            Phase::Probe => vec![get(self.have.next())],
            Phase::ReadAhead { first, count } => (first.0..first.0.saturating_add(*count))
                .map(|number| get(Seq(number)))
                .collect(),
            Phase::ListOn { after } => vec![list(*after)],
            Phase::Fetch(wanted) => wanted.iter().map(|seq| get(*seq)).collect(),
            Phase::Done => Vec::new(),
        }
    }

    /// Whether the state is up to date.
    pub fn is_done(&self) -> bool {
        self.phase == Phase::Done
    }

    /// The checkpoint in the head, once that has been read: what to read from
    /// the segments in the same wave as the tail. A newer one may turn up in it.
    pub fn hint(&self) -> Option<(Seq, &Checkpoint)> {
        let head = self.head.as_ref()?;
        Some((head.seq, head.header.checkpoint.as_ref()?))
    }

    /// The entry of that checkpoint.
    pub fn hinted(&self) -> Option<&Entry> {
        self.head.as_deref()
    }

    /// Takes the answers to [`Refresh::requests`], in their order.
    ///
    /// # Errors
    ///
    /// The store failed, an object is damaged, or the log changed at each look.
    pub fn feed(&mut self, answers: Vec<Answer>) -> Result<(), LogError> {
        match std::mem::replace(&mut self.phase, Phase::Done) {
            Phase::Cold => self.take_cold(answers),
            Phase::Relist => self.take_listing(self.have, one(answers)?.into_listed()),
            Phase::Probe => self.take_probe(answers),
            Phase::ReadAhead { first, .. } => self.take_ahead(first, answers),
            Phase::ListOn { after } => self.take_listing(after, one(answers)?.into_listed()),
            Phase::Fetch(wanted) => self.take_fetched(&wanted, answers),
            Phase::Done => Ok(()),
        }
    }

    /// Chooses the first requests from what the state is now.
    fn begin(&mut self, trust: Trust) {
        self.head = None;
        self.listed.clear();
        self.objects.clear();
        self.entries.clear();
        let (loaded, have, verified) = {
            let state = self.log.state();
            (state.loaded, state.seq, state.verified)
        };
        self.have = have;
        self.target = have;
        self.bottom = Seq::ZERO;
        self.origin = Origin::Continued;
        let age = self.verified.time.millis_since(verified.time);
        self.phase = if !loaded {
            self.start_over();
            Phase::Cold
        } else if age > self.log.settings().half_horizon_ms() || trust == Trust::Listing {
            Phase::Relist
        } else {
            Phase::Probe
        };
    }

    fn start_over(&mut self) {
        self.have = Seq::ZERO;
        self.target = Seq::ZERO;
        self.origin = Origin::Fresh;
    }

    /// Begins again because the log was not the same in two looks.
    fn again(&mut self, missing: Seq) -> Result<(), LogError> {
        self.attempts += 1;
        if self.attempts >= ATTEMPTS {
            return Err(LogError::Restless {
                missing: Key::Log(self.log.collection().clone(), missing).to_string(),
                attempts: self.attempts,
            });
        }
        self.begin(Trust::Listing);
        Ok(())
    }

    fn take_cold(&mut self, answers: Vec<Answer>) -> Result<(), LogError> {
        let mut answers = answers.into_iter();
        let (Some(head), Some(listing)) = (answers.next(), answers.next()) else {
            return self.again(Seq::ZERO);
        };
        let listed = in_log(listing?.into_listed());
        match head {
            Ok(response) => self.take_head(response),
            Err(StoreError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        self.listed = carry::dense_suffix(&listed).to_vec();
        let run = self.listed.as_slice();
        let Some(((first, _), (last, _))) = run.first().zip(run.last()) else {
            return match &self.head {
                Some(head) => {
                    let missing = head.seq;
                    self.again(missing)
                }
                None => self.finish(),
            };
        };
        let (first, last) = (*first, *last);
        self.bottom = first;
        self.target = last;
        // A head below the listing lags behind clean-up; one above it is newer
        // than the listing. Neither connects.
        let head = self.head.as_ref().map(|head| head.seq);
        match head {
            Some(head) if head > last => self.again(head),
            Some(head) if head >= first => {
                self.have = head;
                let wanted = carry::to_fetch(run, head);
                self.fetch(wanted)
            }
            _ => {
                let mut wanted = carry::to_fetch(run, Seq::ZERO);
                // What is not the first entry of all is a checkpoint, which no
                // other object repeats.
                if first > Seq(1) && !wanted.contains(&first) {
                    wanted.insert(0, first);
                }
                self.fetch(wanted)
            }
        }
    }

    /// The head is a hint: without it, or with one that is damaged, a reader takes
    /// what the listing says.
    fn take_head(&mut self, response: Response) {
        let key = Key::Head(self.log.collection().clone());
        match codec::decode_head(&key, response.into_bytes()) {
            Ok((checkpoint, attachments)) => {
                self.log.state_mut().attachments.extend(attachments);
                self.entries.insert(checkpoint.seq, Arc::clone(&checkpoint));
                self.head = Some(checkpoint);
            }
            Err(error) => tracing::warn!(%error, "the head is not used"),
        }
    }

    fn take_probe(&mut self, answers: Vec<Answer>) -> Result<(), LogError> {
        match one(answers) {
            Err(StoreError::NotFound { .. }) => self.finish(),
            Err(error) => Err(error.into()),
            Ok(response) => {
                self.take_object(self.have.next(), response)?;
                self.target = self.have.next();
                self.phase = Phase::ReadAhead {
                    first: self.have.next().next(),
                    count: READ_AHEAD,
                };
                Ok(())
            }
        }
    }

    fn take_ahead(&mut self, first: Seq, answers: Vec<Answer>) -> Result<(), LogError> {
        let mut misses = 0_u32;
        for (answer, number) in answers.into_iter().zip(first.0..) {
            match answer {
                Ok(response) => {
                    self.take_object(Seq(number), response)?;
                    self.target = Seq(number);
                }
                Err(StoreError::NotFound { .. }) => misses += 1,
                Err(error) => return Err(error.into()),
            }
        }
        if misses == 0 {
            self.phase = Phase::ListOn { after: self.target };
            return Ok(());
        }
        self.fetch(Vec::new())
    }

    /// A listing of what follows `after`.
    fn take_listing(&mut self, after: Seq, listed: Vec<Listed>) -> Result<(), LogError> {
        let listed = in_log(listed);
        self.listed = carry::dense_suffix(&listed).to_vec();
        let run = self.listed.as_slice();
        match (run.first(), run.last()) {
            (Some((first, _)), Some((last, _))) if *first == after.next() => {
                self.target = *last;
                let wanted = carry::to_fetch(run, after);
                self.fetch(wanted)
            }
            (None, _) | (_, None) => self.fetch(Vec::new()),
            // The names no longer connect: what we know may have been cleaned up.
            _ => {
                self.entries.clear();
                self.objects.clear();
                self.start_over();
                self.phase = Phase::Cold;
                Ok(())
            }
        }
    }

    fn take_fetched(&mut self, wanted: &[Seq], answers: Vec<Answer>) -> Result<(), LogError> {
        for (seq, answer) in wanted.iter().zip(answers) {
            match answer {
                Ok(response) => self.take_object(*seq, response)?,
                // It was listed, or must be there: the log has moved on.
                Err(StoreError::NotFound { .. }) => return self.again(*seq),
                Err(error) => return Err(error.into()),
            }
        }
        self.fetch(Vec::new())
    }

    fn take_object(&mut self, seq: Seq, response: Response) -> Result<(), Corrupt> {
        let bytes = response.into_bytes();
        let size = bytes.len() as u64;
        let key = Key::Log(self.log.collection().clone(), seq);
        let entries = codec::decode(&key, bytes)?;
        for entry in &entries {
            self.entries
                .entry(entry.seq)
                .or_insert_with(|| Arc::clone(entry));
        }
        let object = Object {
            entries,
            bytes: size,
        };
        self.objects.insert(seq, object);
        Ok(())
    }

    /// Fetches `wanted`, or whatever is missing still, or ends.
    fn fetch(&mut self, wanted: Vec<Seq>) -> Result<(), LogError> {
        if !wanted.is_empty() {
            self.phase = Phase::Fetch(wanted);
            return Ok(());
        }
        let mut missing = Vec::new();
        let mut at = self.target;
        while at > self.have {
            match self.entries.get(&at) {
                Some(entry) if entry.header.checkpoint.is_some() => break,
                Some(_) => {}
                None => missing.push(at),
            }
            at = at.prev();
        }
        if let Some(newest) = missing.first() {
            if *newest < self.bottom {
                let newest = *newest;
                return self.again(newest);
            }
            missing.retain(|seq| *seq >= self.bottom);
            missing.reverse();
            self.phase = Phase::Fetch(carry::to_repair(&self.listed, &missing));
            return Ok(());
        }
        self.finish()
    }

    /// Everything above the newest checkpoint is here: moves the state.
    fn finish(&mut self) -> Result<(), LogError> {
        let newest = self
            .entries
            .range(..=self.target)
            .rev()
            .find_map(|(seq, entry)| entry.header.checkpoint.as_ref().map(|c| (*seq, c.floor)));
        let above = self
            .entries
            .range((Bound::Excluded(self.have), Bound::Unbounded))
            .take_while(|(seq, _)| **seq <= self.target)
            .count() as u64;
        let whole =
            self.origin == Origin::Continued && above == self.target.0.saturating_sub(self.have.0);
        let start = match newest {
            Some((seq, floor)) if !whole || floor > self.have.next() => seq,
            // A fresh state begins with the head, if that is the newest checkpoint.
            _ => self.have.next(),
        };
        let entries: Vec<Arc<Entry>> = self
            .entries
            .range(start..)
            .take_while(|(seq, _)| **seq <= self.target)
            .map(|(_, entry)| Arc::clone(entry))
            .collect();
        let objects = std::mem::take(&mut self.objects);
        let run = Run {
            entries,
            objects: objects.into_values().collect(),
            origin: self.origin,
        };
        self.log.noticed(&run.entries);
        let outcome = {
            let mut state = self.log.state_mut();
            let outcome = state.advance(self.log.collection(), &run)?;
            if outcome.is_ok() {
                state.verify(self.verified);
            }
            outcome
        };
        if outcome.is_err() {
            return self.again(start);
        }
        self.phase = Phase::Done;
        Ok(())
    }
}

fn one(answers: Vec<Answer>) -> Answer {
    answers
        .into_iter()
        .next()
        .unwrap_or(Ok(Response::Listed(Vec::new())))
}

fn in_log(listed: Vec<Listed>) -> Vec<(Seq, u64)> {
    listed
        .into_iter()
        .filter_map(|name| match name.key {
            Key::Log(_, seq) => Some((seq, name.bytes)),
            _ => None,
        })
        .collect()
}
