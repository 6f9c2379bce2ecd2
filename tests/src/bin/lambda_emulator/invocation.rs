//! Events on their way to a process: queues that several processes may take from, and the place
//! where an answer is awaited. Apart from the processes, because an invocation outlives one
//! that dies under it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio::sync::{Notify, oneshot};

/// How an invocation ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The function answered with this document.
    Answer(Value),
    /// The function reported an error, or its process died before it answered.
    Failed,
    /// The function took longer than it may.
    TimedOut,
    /// The function's answer is larger than a synchronous invocation may return.
    TooLarge,
}

/// One event and the one who waits for its answer.
#[derive(Debug)]
pub(crate) struct Invocation {
    /// Its id in the Runtime API.
    pub(crate) id: String,
    /// The event as the function gets it.
    pub(crate) event: Value,
    /// Where the outcome goes.
    pub(crate) outcome: oneshot::Sender<Outcome>,
}

/// Invocations that no process has taken yet, first come, first served.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<VecDeque<Invocation>>,
    arrived: Notify,
}

impl Queue {
    /// Adds an invocation and wakes a taker.
    pub(crate) fn put(&self, invocation: Invocation) {
        self.shared
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_back(invocation);
        self.shared.arrived.notify_one();
    }

    /// The next invocation that somebody still waits for.
    pub(crate) fn try_take(&self) -> Option<Invocation> {
        let mut waiting = self
            .shared
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        while let Some(invocation) = waiting.pop_front() {
            if !invocation.outcome.is_closed() {
                // A wake-up may have been spent on this taker that was meant for another.
                if !waiting.is_empty() {
                    self.shared.arrived.notify_one();
                }
                return Some(invocation);
            }
        }
        None
    }

    /// Waits until an invocation may have arrived.
    pub(crate) async fn arrival(&self) {
        self.shared.arrived.notified().await;
    }
}
