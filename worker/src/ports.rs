//! Time and chance as the Workers runtime gives them: the only place of this target that
//! asks for either.

use std::time::Duration;

use async_trait::async_trait;
use ostraca_object::port::{Clock, Ids, Timestamp};
use worker::send::SendFuture;
use worker::{Date, Delay};

/// The longest `setTimeout`.
const LONGEST_SLEEP: Duration = Duration::from_millis(i32::MAX as u64);

/// The runtime's clock, which stands still between two requests for I/O.
#[derive(Debug)]
pub(crate) struct WorkerClock;

#[async_trait]
impl Clock for WorkerClock {
    fn now(&self) -> Timestamp {
        Timestamp(i64::try_from(Date::now().as_millis()).unwrap_or(i64::MAX))
    }

    async fn sleep(&self, duration: Duration) {
        SendFuture::new(Delay::from(duration.min(LONGEST_SLEEP))).await;
    }
}

/// `crypto.getRandomValues`.
#[derive(Debug)]
pub(crate) struct CryptoIds;

impl Ids for CryptoIds {
    #[expect(
        clippy::disallowed_methods,
        clippy::expect_used,
        reason = "this is the port; without randomness a guessable secret would be the alternative"
    )]
    fn random(&self) -> u128 {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the Workers runtime has randomness in every request");
        u128::from_le_bytes(bytes)
    }
}
