//! Time and chance for tests that must replay: a clock on tokio's paused time and ids
//! from a counter. They are separate from every store, so any test can stand on them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use ostraca_memory::{Clock, Ids, Timestamp};

/// The time at which every virtual clock starts: 2026-07-01T00:00:00Z.
pub const START_MS: i64 = 1_782_864_000_000;

/// A clock that stands still until the paused runtime moves on.
#[derive(Debug)]
pub struct VirtualClock(tokio::time::Instant);

impl VirtualClock {
    /// A clock that starts now at [`START_MS`].
    pub fn new() -> Arc<Self> {
        Arc::new(Self(tokio::time::Instant::now()))
    }
}

#[async_trait]
impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        Timestamp(START_MS + i64::try_from(self.0.elapsed().as_millis()).unwrap_or(i64::MAX))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the port's implementation"
    )]
    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// Ids from a counter, spread over all bits.
#[derive(Debug, Default)]
pub struct CountingIds(AtomicU64);

impl Ids for CountingIds {
    fn random(&self) -> u128 {
        let count = u128::from(self.0.fetch_add(1, Ordering::Relaxed)) + 1;
        count.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
    }
}
