//! Whether a part of an upload is sent again. The store below asks this for each part
//! that failed, because only it knows the part's number; the patience is that of the
//! store around.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use object_store::client::HttpErrorKind;
use object_store::retry::{RetryContext, RetryFailure};

use super::{RetryPolicy, RetryStore};
use crate::port::{Clock, Ids};

/// Patience with parts.
#[derive(Clone)]
pub(super) struct PartPolicy {
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    policy: RetryPolicy,
}

impl RetryStore {
    pub(super) fn part_policy(&self) -> PartPolicy {
        PartPolicy {
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
            policy: self.policy,
        }
    }
}

/// Whether the same part may well succeed in a moment. The same bytes under the same
/// number can do no harm, so whatever is not the request's own fault is tried again.
fn is_transient(failure: RetryFailure) -> bool {
    match failure {
        RetryFailure::Status(status) => {
            status.is_server_error() || status.is_success() || matches!(status.as_u16(), 408 | 429)
        }
        RetryFailure::Transport(kind) => kind != HttpErrorKind::Decode,
        _ => false,
    }
}

impl fmt::Debug for PartPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartPolicy")
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl object_store::retry::RetryPolicy for PartPolicy {
    async fn retry(&self, context: RetryContext) -> bool {
        let attempts = usize::try_from(self.policy.attempts).unwrap_or(usize::MAX);
        if context.attempt >= attempts || !is_transient(context.failure) {
            return false;
        }
        let doubled = u32::try_from(context.attempt.saturating_sub(1)).unwrap_or(u32::MAX);
        let limit_ms = 2_u64
            .saturating_pow(doubled)
            .saturating_mul(self.policy.base_ms)
            .min(self.policy.most_ms)
            .max(1);
        let wait = self.ids.random() % u128::from(limit_ms);
        let wait = Duration::from_millis(u64::try_from(wait).unwrap_or(limit_ms));
        tracing::debug!(failure = ?context.failure, wait_ms = wait.as_millis(), "a part is sent again");
        self.clock.sleep(wait).await;
        true
    }
}
