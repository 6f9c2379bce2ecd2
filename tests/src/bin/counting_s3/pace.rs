//! How long the server takes: a wait to the first byte for each kind of request, and a
//! line whose bytes per second all requests share. It only waits; what an answer says is
//! decided before.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use clap::Args;
use serde::Deserialize;
use tokio::time::{Instant, sleep_until};

use crate::record::Kind;

/// Bytes that one request sends before another has its turn.
const TURN: u64 = 128 * 1024;

/// What is asked for on the command line, and at any time later.
#[derive(Args, Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    /// Milliseconds to the first byte of a write's answer.
    #[arg(long)]
    put_ms: Option<u64>,
    /// Milliseconds to the first byte of a read's answer.
    #[arg(long)]
    get_ms: Option<u64>,
    /// Milliseconds to the first byte of a listing.
    #[arg(long)]
    list_ms: Option<u64>,
    /// Milliseconds to the answer of a deletion.
    #[arg(long)]
    delete_ms: Option<u64>,
    /// Bytes in a second that all requests share, in each direction; 0 for no limit.
    #[arg(long)]
    bytes_per_second: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Pace {
    put_ms: AtomicU64,
    get_ms: AtomicU64,
    list_ms: AtomicU64,
    delete_ms: AtomicU64,
    bytes_per_second: AtomicU64,
    up: Mutex<Instant>,
    down: Mutex<Instant>,
}

impl Pace {
    pub(crate) fn new(asked: Asked) -> Self {
        let pace = Self {
            put_ms: AtomicU64::new(0),
            get_ms: AtomicU64::new(0),
            list_ms: AtomicU64::new(0),
            delete_ms: AtomicU64::new(0),
            bytes_per_second: AtomicU64::new(0),
            up: Mutex::new(Instant::now()),
            down: Mutex::new(Instant::now()),
        };
        pace.change(asked);
        pace
    }

    /// Takes over what is given and leaves the rest as it is.
    pub(crate) fn change(&self, asked: Asked) {
        for (place, value) in [
            (&self.put_ms, asked.put_ms),
            (&self.get_ms, asked.get_ms),
            (&self.list_ms, asked.list_ms),
            (&self.delete_ms, asked.delete_ms),
            (&self.bytes_per_second, asked.bytes_per_second),
        ] {
            if let Some(value) = value {
                place.store(value, Ordering::Relaxed);
            }
        }
    }

    /// Returns when a request that came at `started` would have its answer's last byte.
    pub(crate) async fn wait(&self, kind: Kind, started: Instant, bytes_in: u64, bytes_out: u64) {
        let ms = match kind {
            Kind::Get | Kind::Head => &self.get_ms,
            Kind::List => &self.list_ms,
            Kind::Delete => &self.delete_ms,
            Kind::Put | Kind::Part | Kind::Upload => &self.put_ms,
            Kind::Other => return,
        };
        let sent = self.carry(&self.up, started, bytes_in).await;
        let first_byte = sent + Duration::from_millis(ms.load(Ordering::Relaxed));
        sleep_until(first_byte).await;
        self.carry(&self.down, first_byte, bytes_out).await;
    }

    /// Takes turns on the line until all bytes are through. The next turn begins where the
    /// one before was due, so that a late timer costs no bandwidth.
    async fn carry(&self, line: &Mutex<Instant>, from: Instant, bytes: u64) -> Instant {
        let rate = self.bytes_per_second.load(Ordering::Relaxed);
        if rate == 0 {
            return from;
        }
        let (mut due, mut left) = (from, bytes);
        while left > 0 {
            let turn = left.min(TURN);
            left -= turn;
            let nanos = turn.saturating_mul(1_000_000_000) / rate;
            due = {
                let mut free = line.lock().unwrap_or_else(PoisonError::into_inner);
                *free = due.max(*free) + Duration::from_nanos(nanos);
                *free
            };
            sleep_until(due).await;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace() -> Pace {
        Pace::new(Asked {
            get_ms: Some(30),
            bytes_per_second: Some(1_000_000),
            ..Asked::default()
        })
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_byte_and_the_bytes_take_their_time() {
        let pace = pace();
        let started = Instant::now();
        pace.wait(Kind::Get, started, 0, 500_000).await;
        assert_eq!(started.elapsed().as_millis(), 530);
    }

    #[tokio::test(start_paused = true)]
    async fn requests_share_the_line_but_wait_for_the_first_byte_together() {
        let pace = pace();
        let started = Instant::now();
        tokio::join!(
            pace.wait(Kind::Get, started, 0, 300_000),
            pace.wait(Kind::Get, started, 0, 300_000),
        );
        assert_eq!(started.elapsed().as_millis(), 630);
    }

    #[tokio::test(start_paused = true)]
    async fn a_small_answer_does_not_wait_for_all_of_a_large_one() {
        let pace = pace();
        let started = Instant::now();
        let small = async {
            pace.wait(Kind::Get, started, 0, 1_000).await;
            started.elapsed().as_millis()
        };
        let ((), small) = tokio::join!(pace.wait(Kind::Get, started, 0, 10_000_000), small);
        assert!(small < 300, "{small}");
        assert_eq!(started.elapsed().as_millis(), 10_031);
    }
}
