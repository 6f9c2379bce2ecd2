//! `watch`: what has changed since a cursor. A cursor is a place in the log, so it
//! survives every restart and skips nothing; without changes the call waits, asking
//! storage for the next entry with growing pauses.

use std::sync::Arc;
use std::time::Duration;

use ostraca_object::key::Seq;
use ostraca_object::log::Freshness;
use ostraca_object::port::Timestamp;
use ostraca_search::Record;

use crate::caller::Permission;
use crate::change::Event;
use crate::cursor::{self, Place};
use crate::draft::is_live;
use crate::error::{Error, Result};
use crate::excerpt::{Budget, Excerpt};
use crate::load;
use crate::ops::list::AROUND;
use crate::receipt::Receipt;
use crate::scope::ScopeSelector;
use crate::session::Session;
use crate::view::View;

/// What to watch.
#[derive(Debug, Clone, Default)]
pub struct WatchRequest {
    /// Where the call before ended; absent, from now on.
    pub cursor: Option<String>,
    /// Which scopes.
    pub scope: ScopeSelector,
    /// How long to wait for a first change, at most [`crate::Limits::watch_wait`].
    pub wait: Duration,
    /// Changes in one reply, 100 if absent, at most [`crate::Limits::page`].
    pub limit: Option<u32>,
}

/// What has changed.
#[derive(Debug, Clone)]
pub struct WatchReply {
    /// The changes, oldest first.
    pub changes: Vec<Watched>,
    /// Where to go on from.
    pub next_cursor: String,
    /// Whether the wait ended without a change.
    pub timed_out: bool,
    /// What it took.
    pub receipt: Receipt,
}

/// One change.
#[derive(Debug, Clone)]
pub struct Watched {
    /// The log position that holds it.
    pub position: u64,
    /// The memory.
    pub id: String,
    /// What happened.
    pub event: Event,
    /// Its version afterwards.
    pub version: u64,
    /// When it happened.
    pub time: Timestamp,
    /// The memory as it was then; absent once it is forgotten, purged or expired.
    pub record: Option<Arc<Record>>,
    /// A part of its content.
    pub excerpt: Option<Excerpt>,
}

/// The first pause between two looks, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(2));

impl Session {
    /// Waits for changes.
    ///
    /// # Errors
    /// Invalid for a cursor of other arguments or from beyond the newest position,
    /// Forbidden without `memories:read`, Unavailable if storage fails.
    pub async fn watch(&self, request: WatchRequest) -> Result<WatchReply> {
        self.caller.require(Permission::Read)?;
        let binding = self.binding("watch", &format!("{:?}", request.scope));
        let cursor = request
            .cursor
            .as_deref()
            .map(|cursor| cursor::decode::<Place>(cursor, &binding))
            .transpose()?;
        let limit = request.limit.unwrap_or(100).clamp(1, self.limits().page) as usize;
        let io = self.db.io();
        let newest = load::refresh(&self.log, &io, Freshness::Strong).await?;
        let mut place = cursor.unwrap_or(end_of(newest));
        if place.seq > newest.0 {
            return Err(Error::invalid(
                "cursor",
                "the cursor lies beyond the newest position; start again without a cursor",
            ));
        }
        let deadline = self.db.now().plus_millis(
            u64::try_from(request.wait.min(self.limits().watch_wait).as_millis()).unwrap_or(0),
        );
        let mut pause = PAUSES.0;
        loop {
            let (changes, reached, newest) = self
                .see_since(&io, told(place), |view, newest| {
                    let (changes, reached) =
                        self.changes(view, &request.scope, place, newest, limit);
                    Ok((changes, reached, newest))
                })
                .await?;
            place = reached;
            let left = Duration::from_millis(deadline.millis_since(self.db.now()));
            if !changes.is_empty() || left.is_zero() {
                let timed_out = changes.is_empty();
                let next_cursor = cursor::encode(&place, &binding)?;
                return Ok(WatchReply {
                    changes,
                    next_cursor,
                    timed_out,
                    receipt: Self::receipt(&io, newest),
                });
            }
            self.db.clock().sleep(pause.min(left)).await;
            pause = (pause * 2).min(PAUSES.1);
            load::refresh(&self.log, &io, Freshness::Strong).await?;
        }
    }

    /// Changes after a place, and the place up to which everything has been told.
    fn changes(
        &self,
        view: &View,
        scope: &ScopeSelector,
        after: Place,
        newest: Seq,
        limit: usize,
    ) -> (Vec<Watched>, Place) {
        let selector = scope.to_filter();
        let mut budget = Budget::new(self.limits().reply_content_bytes, None);
        let (mut changes, mut reached) = (Vec::new(), after);
        let now = self.db.now();
        for (place, item) in view.feed_after(after) {
            if item.realm == self.caller.realm && selector.admits(&item.scope) {
                let record = view
                    .versions(&item.id)
                    .iter()
                    .find(|version| version.place == place)
                    .map(|version| Arc::clone(&version.record))
                    .filter(|record| {
                        is_live(record, now)
                            && view
                                .newest(&item.id)
                                .is_some_and(|newest| is_live(&newest.record, now))
                    });
                let excerpt = record
                    .as_ref()
                    .map(|record| Excerpt::from(&record.content, 0, self.limits().excerpt_bytes));
                if changes.len() == limit
                    || !budget.take(excerpt.as_ref().map_or("", |excerpt| &excerpt.text), AROUND)
                {
                    return (changes, reached);
                }
                changes.push(Watched {
                    position: place.seq,
                    id: item.id.clone(),
                    event: item.event,
                    version: item.version,
                    time: item.time,
                    record,
                    excerpt,
                });
            }
            reached = place;
        }
        (changes, reached.max(end_of(newest)))
    }
}

/// The last entry of which everything lies at or before a place.
fn told(place: Place) -> Seq {
    if place == end_of(Seq(place.seq)) {
        Seq(place.seq)
    } else {
        Seq(place.seq).prev()
    }
}

/// The place after every row of an entry.
fn end_of(seq: Seq) -> Place {
    Place {
        seq: seq.0,
        row: u32::MAX,
    }
}
