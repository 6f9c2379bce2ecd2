//! The ports of tests that must replay: a clock on tokio's paused time, and ids from a
//! counter. They are a feature, so that every crate's tests stand on the same ones; no
//! edge turns it on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;

use super::{Clock, Ids, Timestamp};

/// The time at which every virtual clock starts: 2026-07-01T00:00:00Z.
pub const START_MS: i64 = 1_782_864_000_000;

/// A clock that stands still until the paused runtime moves on.
#[derive(Debug)]
pub struct VirtualClock {
    began: tokio::time::Instant,
    start: Timestamp,
}

impl VirtualClock {
    /// A clock that starts now at [`START_MS`]. Needs a tokio runtime.
    pub fn new() -> Arc<Self> {
        Self::starting_at(Timestamp(START_MS))
    }

    /// A clock that shows `start` now.
    pub fn starting_at(start: Timestamp) -> Arc<Self> {
        Arc::new(Self {
            began: tokio::time::Instant::now(),
            start,
        })
    }
}

#[async_trait]
impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        let elapsed = tokio::time::Instant::now() - self.began;
        self.start
            .plus_millis(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the port's implementation"
    )]
    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// Ids from a counter, spread over all bits, so that a remainder looks random.
#[derive(Debug, Default)]
pub struct CountingIds(AtomicU64);

impl Ids for CountingIds {
    fn random(&self) -> u128 {
        let count = u128::from(self.0.fetch_add(1, Ordering::Relaxed)) + 1;
        count.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
    }
}
