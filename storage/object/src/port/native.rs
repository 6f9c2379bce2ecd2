//! The ports of a process that has an operating system: its clock and its
//! randomness. They are separate so that nothing else needs an exception from
//! the lints that keep a run replayable; they must not decide anything.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;

use super::{Clock, Ids, Timestamp};

/// Wall time of the operating system; waits on the tokio timer.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the Clock port")]
    fn now(&self) -> Timestamp {
        let now = SystemTime::now();
        let millis = match now.duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            Err(before) => {
                i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis)
            }
        };
        Timestamp(millis)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the Clock port")]
    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// Randomness of the operating system, fit for secrets.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsIds;

impl Ids for OsIds {
    /// # Panics
    /// If the operating system has no source of randomness. Secrets of API keys
    /// are made from these bits, so there is nothing safe to go on with.
    #[expect(clippy::disallowed_methods, reason = "this is the Ids port")]
    #[expect(
        clippy::panic,
        reason = "guessable identifiers and secrets are worse than a stop"
    )]
    fn random(&self) -> u128 {
        let mut bytes = [0; 16];
        if let Err(error) = getrandom::fill(&mut bytes) {
            panic!("the operating system gave no randomness: {error}");
        }
        u128::from_le_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_past_the_year_this_was_written() {
        const START_OF_2026: i64 = 1_767_225_600_000;
        assert!(SystemClock.now().0 > START_OF_2026);
    }

    #[test]
    fn no_two_ids_are_equal_and_both_halves_vary() {
        let ids: Vec<u128> = (0..1_000).map(|_| OsIds.random()).collect();
        let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
        let low: std::collections::BTreeSet<_> = ids
            .iter()
            .map(|id| u64::try_from(*id & u128::from(u64::MAX)).unwrap())
            .collect();
        assert_eq!(distinct.len(), ids.len());
        assert_eq!(low.len(), ids.len());
    }
}
