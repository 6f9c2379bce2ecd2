//! Turns among the commits of one process that may not share entries. On a Worker no
//! request may wait for another's I/O, so nobody is woken here: each looks again on its
//! own timer. Without turns, requests of one process would race each other for every
//! number, and all but one would lose each time.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::port::{Clock, Timestamp};

/// The shortest and the longest pause between two looks.
const LOOK_AGAIN_MS: std::ops::RangeInclusive<u64> = 2..=250;
/// Who waits and has not looked for so long is gone: its request was cancelled.
const SILENT_WAITING_MS: u64 = 2_000;
/// Who writes and has made no step for so long is gone, or so slow that others need
/// not wait. Were it still there, it would merely have a rival.
const SILENT_WRITING_MS: u64 = 5_000;

/// The line of those who want to write.
#[derive(Debug, Default)]
pub(super) struct Turns {
    line: Mutex<VecDeque<Waiting>>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    ticket: u64,
    seen: Timestamp,
    patience_ms: u64,
}

/// A place in the line, given up when it is dropped.
#[derive(Debug)]
pub(super) struct Place<'a> {
    turns: &'a Turns,
    ticket: u64,
}

impl Turns {
    /// Stands in line and comes back when it is this one's turn. `turn_ms` says how
    /// long a turn takes.
    pub(super) async fn wait(
        &self,
        clock: &dyn Clock,
        ticket: u64,
        turn_ms: impl Fn() -> u64,
    ) -> Place<'_> {
        let place = Place {
            turns: self,
            ticket,
        };
        loop {
            let ahead = self.look(ticket, clock.now(), SILENT_WAITING_MS);
            if ahead == 0 {
                place.progress(clock.now());
                return place;
            }
            let pause = (turn_ms() / 2)
                .saturating_mul(ahead)
                .clamp(*LOOK_AGAIN_MS.start(), *LOOK_AGAIN_MS.end());
            clock.sleep(Duration::from_millis(pause)).await;
        }
    }

    /// How many stand before this one, who shows that it is there.
    fn look(&self, ticket: u64, now: Timestamp, patience_ms: u64) -> u64 {
        let mut line = self.line();
        line.retain(|other| {
            other.ticket == ticket || now.millis_since(other.seen) <= other.patience_ms
        });
        let here = Waiting {
            ticket,
            seen: now,
            patience_ms,
        };
        let ahead = line.iter().position(|other| other.ticket == ticket);
        if let Some(place) = ahead.and_then(|ahead| line.get_mut(ahead)) {
            *place = here;
        } else {
            line.push_back(here);
        }
        ahead.unwrap_or(line.len().saturating_sub(1)) as u64
    }

    fn line(&self) -> MutexGuard<'_, VecDeque<Waiting>> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place<'_> {
    /// A step was made: the others need not think that this one is gone.
    pub(super) fn progress(&self, now: Timestamp) {
        self.turns.look(self.ticket, now, SILENT_WRITING_MS);
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let ticket = self.ticket;
        self.turns.line().retain(|other| other.ticket != ticket);
    }
}
