//! What one event is for: an HTTP request for the router, or a tick of a schedule for the
//! compaction job. One binary does both, as one function or as two with limits of their own.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use lambda_http::request::LambdaRequest;
use lambda_http::tower::Service;
use lambda_http::{Error, LambdaEvent};
use ostraca_memory::{Clock as _, Database, Effort, Timestamp, Unwatched};
use ostraca_object::port::native::SystemClock;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// How `EventBridge`, rules and schedules alike, names a tick.
const TICK: &str = "Scheduled Event";
/// The part of an invocation's time in which collections are begun. The last one has the
/// rest, and what is cut off is done again by the next run.
const BUDGET: f64 = 0.6;

/// The router, and the job beside it.
#[derive(Debug)]
pub(crate) struct Handler<S> {
    http: S,
    database: Arc<Database>,
}

impl<S> Handler<S> {
    pub(crate) fn new(http: S, database: Arc<Database>) -> Self {
        Self { http, database }
    }
}

/// What the platform is answered.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Answer<H> {
    /// To whoever sent a request.
    Http(H),
    /// To the schedule, which keeps it in its log at best.
    Job {
        /// Collections that were looked at.
        collections: usize,
        /// Collections that the time did not suffice for.
        postponed: u64,
    },
}

#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "detail-type")]
    detail_type: Option<String>,
}

/// Some collections could not be compacted; the log says why. The platform may run it again.
#[derive(Debug, thiserror::Error)]
#[error("compaction failed in {failed} of {total} collections")]
struct JobFailed {
    failed: usize,
    total: usize,
}

impl<S> Service<LambdaEvent<Box<RawValue>>> for Handler<S>
where
    S: Service<LambdaEvent<LambdaRequest>>,
    S::Error: Into<Error>,
    S::Future: Send + 'static,
    S::Response: 'static,
{
    type Response = Answer<S::Response>;
    type Error = Error;
    type Future = BoxFuture<'static, Result<Self::Response, Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.http.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, event: LambdaEvent<Box<RawValue>>) -> Self::Future {
        let LambdaEvent { payload, context } = event;
        let envelope = serde_json::from_str::<Envelope>(payload.get());
        let is_tick = envelope
            .ok()
            .and_then(|envelope| envelope.detail_type)
            .is_some_and(|detail_type| detail_type == TICK);
        if is_tick {
            let time = remaining(context.deadline);
            return run_job(Arc::clone(&self.database), time.mul_f64(BUDGET)).boxed();
        }
        match serde_json::from_str::<LambdaRequest>(payload.get()) {
            Ok(request) => {
                let answer = self.http.call(LambdaEvent::new(request, context));
                async move { answer.await.map(Answer::Http).map_err(Into::into) }.boxed()
            }
            Err(error) => async move { Err(error.into()) }.boxed(),
        }
    }
}

async fn run_job<H>(database: Arc<Database>, budget: Duration) -> Result<Answer<H>, Error> {
    let report = database
        .run_due(Effort::Major, Some(budget), &Unwatched)
        .await?;
    let (failed, total) = (report.failed(), report.collections.len());
    tracing::info!(
        collections = total,
        failed,
        postponed = report.postponed,
        "the compaction job is done"
    );
    if failed > 0 {
        return Err(JobFailed { failed, total }.into());
    }
    Ok(Answer::Job {
        collections: total,
        postponed: report.postponed,
    })
}

/// The time that an invocation has left until its deadline, in milliseconds since 1970.
pub(crate) fn remaining(deadline: u64) -> Duration {
    let deadline = Timestamp(i64::try_from(deadline).unwrap_or(i64::MAX));
    Duration::from_millis(deadline.millis_since(SystemClock.now()))
}
