//! Driving a refresh with requests of its own, for whoever has none to add to its
//! waves. What is asked for is `refresh`'s matter.

use super::error::LogError;
use super::fold::Fold;
use super::refresh::Refresh;
use super::{Freshness, Log};
use crate::io::Io;
use crate::key::Seq;
use crate::port::Timestamp;

impl<F: Fold> Log<F> {
    /// Starts bringing the state up to date in waves that the caller performs.
    pub fn start_refresh(&self, now: Timestamp, freshness: Freshness) -> Refresh<'_, F> {
        Refresh::start(self, now, freshness)
    }

    /// Brings the state up to date and says up to which entry.
    ///
    /// # Errors
    ///
    /// The store failed, an object is damaged, or the log changed at each look.
    pub async fn refresh(&self, io: &Io, freshness: Freshness) -> Result<Seq, LogError> {
        let refresh = self.start_refresh(io.clock().now(), freshness);
        run(io, refresh).await?;
        Ok(self.state().seq)
    }

    /// Brings the state up to date in as few waves as may be, when `expected`
    /// entries are probably new: what a writer decides on should be young.
    pub(super) async fn catch_up(&self, io: &Io, expected: u64) -> Result<(), LogError> {
        run(io, Refresh::start_wide(self, io.clock().now(), expected)).await
    }

    /// Brings the state up to date by a listing.
    pub(super) async fn reload(&self, io: &Io) -> Result<(), LogError> {
        run(io, Refresh::start_with_listing(self, io.clock().now())).await
    }
}

async fn run<F: Fold>(io: &Io, mut refresh: Refresh<'_, F>) -> Result<(), LogError> {
    while !refresh.is_done() {
        let answers = io.wave(refresh.requests()).await;
        refresh.feed(answers)?;
    }
    Ok(())
}
