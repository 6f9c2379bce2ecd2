//! How long a writer waits before it tries, so that many processes share one
//! collection without losing most of their writes. Pure: it is told what
//! happened and says a duration.
//!
//! The log is a shared channel: a try is lost if another entry appears between
//! the look at the log and the arrival of the create. As in carrier-sense
//! multiple access, tries are spread at random so that about every second one
//! succeeds: each writer's cycle is the number of writers that it sees in the
//! log, times the window in which a try can be lost. All see the same log, so
//! all come to about the same cycle, and none starves.

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use super::entry::{Entry, Header};
use crate::key::Seq;
use crate::port::{Timestamp, WriterId};

/// Entries from which the rivals are counted.
const REMEMBERED: usize = 48;
/// Rivals that have been silent for longer have gone.
const RECENT_MS: u64 = 10_000;
/// Weight of a new measurement of latency.
const SMOOTHING: f64 = 0.2;
/// How much a loss slows down, and a win speeds up; equal, so that the
/// balance lies where one try in two succeeds.
const STEP: f64 = 1.15;
/// The bounds of that, so that no writer drifts far from the others.
const SLOWEST: f64 = 2.5;
const FASTEST: f64 = 0.4;
/// No pause is longer.
const LONGEST_MS: f64 = 5_000.0;

/// What a writer knows about its rivals.
#[derive(Debug)]
pub(super) struct Contention {
    own: WriterId,
    /// The newest entry that was counted.
    counted: Seq,
    /// Others' entries: when they were written, and by whom.
    rivals: VecDeque<(Timestamp, WriterId)>,
    look_ms: f64,
    create_ms: f64,
    /// Above one, slower than the plain rule; below, faster.
    caution: f64,
}

impl Contention {
    pub(super) fn new(own: WriterId) -> Self {
        Self {
            own,
            counted: Seq::ZERO,
            rivals: VecDeque::new(),
            look_ms: 30.0,
            create_ms: 60.0,
            caution: 1.0,
        }
    }

    /// An entry has appeared in the log.
    pub(super) fn saw(&mut self, entry: &Entry) {
        let Header { time, writer, .. } = entry.header;
        if entry.seq <= self.counted || writer == self.own {
            return;
        }
        self.counted = entry.seq;
        self.rivals.push_back((time, writer));
        if self.rivals.len() > REMEMBERED {
            self.rivals.pop_front();
        }
    }

    /// Looking for newer entries took so long.
    pub(super) fn looked(&mut self, millis: u64) {
        self.look_ms += SMOOTHING * (float(millis) - self.look_ms);
    }

    /// A create was answered after so long.
    pub(super) fn created(&mut self, millis: u64) {
        self.create_ms += SMOOTHING * (float(millis) - self.create_ms);
    }

    /// A create succeeded.
    pub(super) fn won(&mut self) {
        self.caution = (self.caution / STEP).max(FASTEST);
    }

    /// Another entry was there first.
    pub(super) fn lost(&mut self) {
        self.caution = (self.caution * STEP).min(SLOWEST);
    }

    /// About how long a look and a create take, in milliseconds.
    pub(super) fn turn_ms(&self) -> u64 {
        Duration::from_secs_f64((self.look_ms + self.create_ms).max(0.0) / 1_000.0)
            .as_millis()
            .try_into()
            .unwrap_or(u64::MAX)
    }

    /// Whether a view from `seen` is probably out of date by now, so that a look
    /// costs less than a lost create.
    pub(super) fn should_look(&self, seen: Timestamp, now: Timestamp) -> bool {
        let age_ms = float(now.millis_since(seen)) + self.create_ms / 4.0;
        self.rivals_per_ms(now) * age_ms >= 0.5
    }

    /// How long to wait before the next look and try, after `losses` of this
    /// commit, with `random` bits.
    pub(super) fn pause(&self, now: Timestamp, losses: u32, random: u128) -> Duration {
        let rivals = self.rival_count(now).max(f64::from(losses.min(1)));
        if losses == 0 && self.rivals_per_ms(now) * self.window_ms() < 0.5 {
            return Duration::ZERO;
        }
        let cycle = (rivals + 1.0) * self.window_ms() * self.caution;
        let mean = (cycle - self.look_ms - self.create_ms).max(self.window_ms() / 4.0);
        // Who has lost often goes ahead of who has just come.
        let patience = 1.0 + f64::from(losses.min(16)) / 3.0;
        let share = float(u64::try_from(random % 1_000_003).unwrap_or(0)) / 1_000_003.0;
        let millis = (2.0 * mean * share / patience).min(LONGEST_MS);
        Duration::from_secs_f64(millis / 1_000.0)
    }

    /// From the look to the arrival of the create.
    fn window_ms(&self) -> f64 {
        self.look_ms + self.create_ms / 4.0
    }

    fn recent(&self, now: Timestamp) -> impl Iterator<Item = &(Timestamp, WriterId)> {
        self.rivals
            .iter()
            .filter(move |(time, _)| now.millis_since(*time) <= RECENT_MS)
    }

    fn rival_count(&self, now: Timestamp) -> f64 {
        let rivals: BTreeSet<WriterId> = self.recent(now).map(|(_, writer)| *writer).collect();
        float(rivals.len() as u64)
    }

    /// Entries of others for each millisecond, of late.
    fn rivals_per_ms(&self, now: Timestamp) -> f64 {
        let count = self.recent(now).count();
        match self.recent(now).next() {
            Some((oldest, _)) if count > 1 => {
                float(count as u64) / float(now.millis_since(*oldest)).max(1.0)
            }
            _ => 0.0,
        }
    }
}

fn float(value: u64) -> f64 {
    value as f64
}
