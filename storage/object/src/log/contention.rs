//! How long a writer waits before it tries, so that many processes share one
//! collection without losing most of their writes. Pure: it is told what
//! happened and says a duration.
//!
//! The log is a shared channel: a try is lost if another entry appears between
//! the look at the log and the arrival of the create. As in carrier-sense
//! multiple access, tries are spread at random. Each writer's mean cycle is the
//! number of writers in the log times the time in which a try can be lost, times
//! a factor that rises while entries say that their writers lost much, and falls
//! while they lost little. All read these from the same log, so all come to the
//! same cycle, the winner of the last round too: none starves, and none keeps
//! the log for itself.

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use super::entry::Entry;
use crate::key::Seq;
use crate::port::{Timestamp, WriterId};

/// Entries from which the writers are counted.
const REMEMBERED: usize = 128;
/// Writers that have been silent for longer have gone.
const RECENT_MS: u64 = 10_000;
/// Weight of a new measurement of latency.
const SMOOTHING: f64 = 0.2;
/// Creates lost for each entry at which the factor stands still. Fewer would
/// leave the log idle, more would cost more than they speed up.
const LOST_AT_BALANCE: f64 = 1.35;
/// How much one entry changes the factor.
const GAIN: f64 = 0.03;
/// The bounds of the factor.
const SLOWEST: f64 = 8.0;
const FASTEST: f64 = 0.2;
/// An entry that lost more than this says no more about the others.
const LOST_AT_MOST: u32 = 8;
/// No mean pause is longer.
const LONGEST_MS: f64 = 5_000.0;

/// What a writer knows about its rivals.
#[derive(Debug)]
pub(super) struct Contention {
    own: WriterId,
    /// The newest entry that was counted.
    counted: Seq,
    /// The last entries: when they were written, and by whom.
    entries: VecDeque<(Timestamp, WriterId)>,
    look_ms: f64,
    create_ms: f64,
    /// Above one, slower than the plain rule; below, faster.
    factor: f64,
}

impl Contention {
    pub(super) fn new(own: WriterId) -> Self {
        Self {
            own,
            counted: Seq::ZERO,
            entries: VecDeque::new(),
            look_ms: 30.0,
            create_ms: 60.0,
            factor: 1.0,
        }
    }

    /// An entry has appeared in the log.
    pub(super) fn saw(&mut self, entry: &Entry) {
        if entry.seq <= self.counted {
            return;
        }
        self.counted = entry.seq;
        self.entries
            .push_back((entry.header.time, entry.header.writer));
        if self.entries.len() > REMEMBERED {
            self.entries.pop_front();
        }
        let lost = f64::from(entry.header.lost.min(LOST_AT_MOST));
        let change = (GAIN * (lost - LOST_AT_BALANCE)).exp();
        self.factor = (self.factor * change).clamp(FASTEST, SLOWEST);
    }

    /// Looking for newer entries took so long.
    pub(super) fn looked(&mut self, millis: u64) {
        self.look_ms += SMOOTHING * (float(millis) - self.look_ms);
    }

    /// A create was answered after so long.
    pub(super) fn created(&mut self, millis: u64) {
        self.create_ms += SMOOTHING * (float(millis) - self.create_ms);
    }

    /// About how long a look and a create take, in milliseconds.
    pub(super) fn turn_ms(&self) -> u64 {
        Duration::from_secs_f64((self.look_ms + self.create_ms).max(0.0) / 1_000.0)
            .as_millis()
            .try_into()
            .unwrap_or(u64::MAX)
    }

    /// How many entries of others have probably appeared since `seen`.
    pub(super) fn expected(&self, seen: Timestamp, now: Timestamp) -> f64 {
        let age_ms = float(now.millis_since(seen)) + self.create_ms / 4.0;
        let rivals = self.recent(now).filter(|(_, writer)| *writer != self.own);
        let count = rivals.clone().count();
        let oldest = rivals.map(|(time, _)| *time).min();
        match oldest {
            Some(oldest) if count > 1 => {
                float(count as u64) / float(now.millis_since(oldest)).max(1.0) * age_ms
            }
            _ => 0.0,
        }
    }

    /// How long to wait before the next look and try, after `losses` of this
    /// commit, with `random` bits.
    pub(super) fn pause(&self, now: Timestamp, losses: u32, random: u128) -> Duration {
        let writers: BTreeSet<WriterId> = self
            .recent(now)
            .map(|(_, writer)| *writer)
            .chain([self.own])
            .collect();
        if writers.len() == 1 && losses == 0 {
            return Duration::ZERO;
        }
        let window_ms = self.look_ms + self.create_ms / 4.0;
        let cycle_ms = float(writers.len() as u64) * window_ms * self.factor;
        let least_ms = if losses == 0 { 0.0 } else { window_ms / 4.0 };
        let mean_ms = (cycle_ms - self.look_ms - self.create_ms).clamp(least_ms, LONGEST_MS);
        // Who has lost often goes ahead of who has just come.
        let patience = 1.0 + f64::from(losses.min(6)) / 4.0;
        let share = float(u64::try_from(random % 1_000_003).unwrap_or(0)) / 1_000_003.0;
        Duration::from_secs_f64(2.0 * mean_ms * share / patience / 1_000.0)
    }

    fn recent(&self, now: Timestamp) -> impl Iterator<Item = &(Timestamp, WriterId)> + Clone {
        self.entries
            .iter()
            .filter(move |(time, _)| now.millis_since(*time) <= RECENT_MS)
    }
}

fn float(value: u64) -> f64 {
    value as f64
}
