//! Work after the answer. The platform freezes an environment as soon as it asks for the
//! next event, so nothing goes on by itself; but the caller has its answer once that is
//! posted. What a request leaves to be done is done between the two, on the time of its own
//! invocation.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, Either, join_all, select};
use lambda_http::lambda_runtime::LambdaInvocation;
use lambda_http::tower::{Layer, Service};
use ostraca_memory::{Background, Clock as _};
use ostraca_object::port::native::SystemClock;

use crate::handler::remaining;

/// What is kept free of an invocation's time, so that the platform never ends one early.
const MARGIN: Duration = Duration::from_secs(1);

/// The work that the request in hand has left.
#[derive(Clone, Default)]
pub(crate) struct AfterAnswer {
    left: Arc<Mutex<Vec<BoxFuture<'static, ()>>>>,
}

impl std::fmt::Debug for AfterAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AfterAnswer").finish_non_exhaustive()
    }
}

impl AfterAnswer {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<BoxFuture<'static, ()>>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Background for AfterAnswer {
    fn spawn(&self, work: BoxFuture<'static, ()>) {
        self.lock().push(work);
    }
}

impl<S> Layer<S> for AfterAnswer {
    type Service = Answering<S>;

    fn layer(&self, inner: S) -> Answering<S> {
        Answering {
            inner,
            after: self.clone(),
        }
    }
}

/// Answers, and then does what is left.
#[derive(Debug)]
pub(crate) struct Answering<S> {
    inner: S,
    after: AfterAnswer,
}

impl<S> Service<LambdaInvocation> for Answering<S>
where
    S: Service<LambdaInvocation, Response = ()>,
    S::Future: Send + 'static,
    S::Error: Send,
{
    type Response = ();
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<(), S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, invocation: LambdaInvocation) -> Self::Future {
        let deadline = invocation.context.deadline;
        let after = self.after.clone();
        let answered = self.inner.call(invocation);
        async move {
            answered.await?;
            let left = std::mem::take(&mut *after.lock());
            if !left.is_empty() {
                let work = join_all(left);
                let time = remaining(deadline).saturating_sub(MARGIN);
                if let Either::Right(_) = select(work, SystemClock.sleep(time)).await {
                    tracing::warn!("the invocation's time is up: work after the answer is cut off");
                }
            }
            Ok(())
        }
        .boxed()
    }
}
