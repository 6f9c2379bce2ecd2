//! Getting an entry into the log: create the next number if it is absent, and
//! find out for sure what became of it. The one place that writes to the log;
//! it never sends other bytes for a number whose outcome it does not know.

use std::sync::Arc;
use std::time::Duration;

use futures::future::{Either, select};

use super::carried::Object;
use super::commit::{At, Committed, Decision, Effect};
use super::decide::Decided;
use super::entry::Entry;
use super::error::{CommitError, LogError};
use super::fold::Fold;
use super::state::{Origin, Run, Verified};
use super::work::{Attempt, Failure, Item, Kind, Settled, Slot, Work};
use super::{Grouping, Log, codec};
use crate::error::StoreError;
use crate::io::{Io, Request};
use crate::key::{Key, Seq};
use crate::port::{CommitId, Timestamp};

/// The first wait before the same bytes are sent again; it doubles.
const RESEND_MS: u64 = 50;
/// It doubles no further.
const RESEND_AT_MOST_MS: u64 = 2_000;

/// What the caller gets, and the entry if one was written.
type Delivered<T> = (Committed<T>, Option<Arc<Entry>>);

/// What became of a create.
enum Outcome {
    /// The entry is in the log, and was not there before this create.
    Created,
    /// The entry is in the log, through an earlier create.
    Found,
    /// Another entry has the number; this is its object.
    Lost(Vec<Arc<Entry>>, u64),
    /// Nothing was stored, and sending it again would not help.
    Refused(StoreError),
    /// It is not known, after all patience.
    Unknown(StoreError),
    /// The number may be void: the state has to be read anew.
    Void,
}

/// What an entry is worth that was sent long ago.
enum Standing {
    /// Its commits are in the log.
    InLog,
    /// They are not, and will not be.
    Void,
    /// The log does not remember so far back.
    Forgotten,
}

impl<F: Fold> Log<F> {
    /// Commits one item and returns what the caller gets.
    pub(super) async fn submit<T, E, D>(
        &self,
        io: &Io,
        id: CommitId,
        kind: Kind,
        decide: D,
    ) -> Result<Delivered<T>, CommitError<E>>
    where
        T: Send + 'static,
        E: Send + 'static,
        D: FnMut(&F, &mut F::Draft, At) -> Result<Decision<T>, E> + Send + 'static,
    {
        let now = io.clock().now();
        let ticket = self.draw_ticket();
        let (item, slot, mut heard) = Item::new(id, ticket, now, kind, decide);
        let settled = match self.settings().grouping {
            Grouping::Alone => {
                let turn_ms = || self.contention().turn_ms();
                let place = self.turns().wait(io.clock(), ticket, turn_ms).await;
                let mut work = Work::default();
                work.items.push(item);
                while !work.items.is_empty() || work.attempt.is_some() {
                    place.progress(io.clock().now());
                    self.step(io, &mut work).await;
                }
                heard.try_recv().ok().flatten()
            }
            Grouping::Process => {
                self.queue().push(item);
                // Whoever holds the work drives it for all; when that task ends or is
                // dropped, the next that waits takes over where it stood.
                match select(&mut heard, self.work().lock()).await {
                    Either::Left((settled, _)) => settled.ok(),
                    Either::Right((mut work, _)) => loop {
                        if let Some(settled) = heard.try_recv().ok().flatten() {
                            break Some(settled);
                        }
                        work.items.append(&mut self.queue());
                        if work.items.is_empty() && work.attempt.is_none() {
                            break None;
                        }
                        self.step(io, &mut work).await;
                    },
                }
            }
        };
        deliver(settled, &slot)
    }

    /// One decision and one create, or whatever has to come before.
    async fn step(&self, io: &Io, work: &mut Work<F>) {
        if work.attempt.as_ref().is_some_and(|attempt| {
            attempt.writers.iter().all(Item::is_abandoned) && attempt.bystanders.is_empty()
        }) {
            // Nobody waits for it. If it is stored after all, it is as another's entry.
            work.attempt = None;
        }
        if work.attempt.is_none() && !self.propose(io, work).await {
            return;
        }
        let Some(attempt) = &mut work.attempt else {
            return;
        };
        // The attempt stays in the work until its outcome is settled: if this task
        // is dropped before, the next one sends the same bytes again and finds out.
        let outcome = match self.resolve(io, attempt).await {
            outcome @ (Outcome::Created | Outcome::Found) => self.fence(io, attempt, outcome).await,
            Outcome::Void => self.recount(io, attempt).await,
            outcome => outcome,
        };
        let Some(attempt) = work.attempt.take() else {
            return;
        };
        match outcome {
            Outcome::Created | Outcome::Found => self.won(work, attempt),
            Outcome::Void => work.reopen(attempt),
            Outcome::Lost(object, bytes) => {
                let age = io.clock().now().millis_since(attempt.view);
                work.look_first = !self.lost(&object, bytes, age);
                work.losses = work.losses.saturating_add(1);
                work.reopen(attempt);
            }
            Outcome::Refused(error) => {
                let failure = Failure::Log(LogError::Store(error));
                work.abandon(attempt, &failure);
            }
            Outcome::Unknown(source) => {
                let seq = attempt.entry.seq;
                work.abandon(attempt, &Failure::Unknown { seq, source });
            }
        }
    }

    /// Waits if there are rivals, brings the state up to date if it must be, and
    /// decides. True if there is an entry to create.
    async fn propose(&self, io: &Io, work: &mut Work<F>) -> bool {
        let now = io.clock().now();
        if work.items.is_empty() {
            return false;
        }
        let pause = { self.contention().pause(now, work.losses, io.ids().random()) };
        if !pause.is_zero() {
            io.clock().sleep(pause).await;
        }
        if let Some(expected) = self.must_look(work, io.clock().now())
            && let Err(error) = self.look(io, expected).await
        {
            work.fail_all(&Failure::Log(error));
            return false;
        }
        work.look_first = false;
        // Whoever came while this waited shares the entry.
        work.items.append(&mut self.queue());
        match self.decide(work, io.clock().now()) {
            Decided::Entry(attempt) => {
                work.attempt = Some(*attempt);
                true
            }
            Decided::Settled => false,
            Decided::Unverified => {
                if let Err(error) = self.look(io, 0).await {
                    work.fail_all(&Failure::Log(error));
                }
                false
            }
        }
    }

    /// Whether the state has to be read before the next decision, and then how
    /// many entries are probably new.
    fn must_look(&self, work: &Work<F>, now: Timestamp) -> Option<u64> {
        let (loaded, verified) = {
            let state = self.state();
            (state.loaded, state.verified)
        };
        // A look costs less than a create that is more likely lost than not.
        let expected = self.contention().expected(verified.time, now);
        let look = !loaded
            || work.look_first
            // One that lost may be far behind, and would lose again at each step.
            || work.losses > 0
            || expected >= 0.5
            || now.millis_since(verified.time) > self.settings().half_horizon_ms();
        // There are never so many that the cast could lose any.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped"
        )]
        look.then_some(expected.clamp(0.0, 1_000.0) as u64)
    }

    async fn look(&self, io: &Io, expected: u64) -> Result<(), LogError> {
        let before = io.clock().now();
        self.catch_up(io, expected).await?;
        let took = io.clock().now().millis_since(before);
        self.contention().looked(took);
        Ok(())
    }

    /// Sends the same bytes at the same number until it is known what became of them.
    async fn resolve(&self, io: &Io, attempt: &mut Attempt<F>) -> Outcome {
        let seq = attempt.entry.seq;
        let key = self.log_key(seq);
        let patience = self.settings().commit_timeout_ms;
        let mut wait_ms = RESEND_MS;
        loop {
            let now = io.clock().now();
            if attempt.sent == 0 {
                attempt.began = now;
            } else if now.millis_since(attempt.view) > self.settings().half_horizon_ms() {
                return Outcome::Void;
            }
            let first = attempt.sent == 0;
            attempt.sent = attempt.sent.saturating_add(1);
            let verified = Verified {
                ticket: self.draw_ticket(),
                time: now,
            };
            let created = io
                .one(Request::Create {
                    key: key.clone(),
                    bytes: attempt.bytes.clone(),
                })
                .await;
            let answered = io.clock().now();
            self.contention().created(answered.millis_since(now));
            let error = match created {
                Ok(_) => {
                    self.took_over(attempt, verified, answered);
                    return Outcome::Created;
                }
                Err(error @ (StoreError::Denied { .. } | StoreError::Unsupported { .. })) => {
                    if first {
                        return Outcome::Refused(error);
                    }
                    error
                }
                Err(error) => error,
            };
            match self.read_back(io, attempt).await {
                Ok(Some(outcome)) => return outcome,
                // Absent: a conflict or a failure left nothing behind, or it is still
                // on its way. The same bytes again can do no harm.
                Ok(None) | Err(StoreError::Unavailable { .. }) => {}
                Err(error) => return Outcome::Unknown(error),
            }
            if io.clock().now().millis_since(attempt.began) > patience {
                return Outcome::Unknown(error);
            }
            let jitter = u64::try_from(io.ids().random() % u128::from(wait_ms)).unwrap_or(0);
            let wait = Duration::from_millis(wait_ms / 2 + jitter / 2);
            io.clock().sleep(wait).await;
            wait_ms = (wait_ms * 2).min(RESEND_AT_MOST_MS);
        }
    }

    /// Who has the number, if anyone.
    async fn read_back(
        &self,
        io: &Io,
        attempt: &Attempt<F>,
    ) -> Result<Option<Outcome>, StoreError> {
        let key = self.log_key(attempt.entry.seq);
        match io.one(Request::Get { key: key.clone() }).await {
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
            Ok(response) => {
                let bytes = response.into_bytes();
                if bytes == attempt.bytes {
                    return Ok(Some(Outcome::Found));
                }
                let size = bytes.len() as u64;
                // A damaged winner is still a winner; the next read will report it.
                let object = codec::decode(&key, bytes).unwrap_or_default();
                Ok(Some(Outcome::Lost(object, size)))
            }
        }
    }

    /// Whether an entry that is stored counts: below the floor it does not. Only
    /// a stalled writer has to look, as a number is free again only after the horizon.
    async fn fence(&self, io: &Io, attempt: &Attempt<F>, outcome: Outcome) -> Outcome {
        let age = io.clock().now().millis_since(attempt.view);
        if age <= self.settings().half_horizon_ms() {
            return outcome;
        }
        match self.reload(io).await {
            Err(error) => Outcome::Unknown(self.hidden(attempt, error)),
            Ok(()) => match self.standing(attempt) {
                Standing::InLog => outcome,
                Standing::Void => Outcome::Void,
                Standing::Forgotten => Outcome::Unknown(self.no_answer(attempt)),
            },
        }
    }

    /// What became of creates that were sent so long ago that the number may have
    /// been used and deleted since.
    async fn recount(&self, io: &Io, attempt: &Attempt<F>) -> Outcome {
        match self.reload(io).await {
            Err(error) => Outcome::Unknown(self.hidden(attempt, error)),
            Ok(()) => match self.standing(attempt) {
                // If it is in the log, the next decision finds it there.
                Standing::InLog | Standing::Void => Outcome::Void,
                Standing::Forgotten => Outcome::Unknown(self.no_answer(attempt)),
            },
        }
    }

    /// Whether an entry that was sent long ago counts, by the state as it is now.
    fn standing(&self, attempt: &Attempt<F>) -> Standing {
        let state = self.state();
        let header = &attempt.entry.header;
        let mut commits = header.commits.iter();
        if commits.all(|commit| state.known.get(commit.id).is_some()) {
            return Standing::InLog;
        }
        let checkpoint = state.checkpoint.as_ref();
        let below_floor =
            checkpoint.is_some_and(|newest| attempt.entry.seq < newest.checkpoint.floor);
        // It may have been stored in time, counted, and been cleaned up.
        if below_floor && !state.known.covers(header.time) {
            return Standing::Forgotten;
        }
        Standing::Void
    }

    fn no_answer(&self, attempt: &Attempt<F>) -> StoreError {
        StoreError::UnknownOutcome {
            key: self.log_key(attempt.entry.seq).to_string(),
            source: None,
        }
    }

    /// The log could not be read when it had to tell whether the entry counts.
    fn hidden(&self, attempt: &Attempt<F>, error: LogError) -> StoreError {
        match error {
            LogError::Store(source) => source,
            LogError::Corrupt(_) | LogError::Restless { .. } => self.no_answer(attempt),
        }
    }

    /// The own entry is the newest: the state takes it without reading it.
    fn took_over(&self, attempt: &Attempt<F>, verified: Verified, answered: Timestamp) {
        // Of a stalled writer it is not known yet whether its entry counts.
        if answered.millis_since(attempt.view) <= self.settings().half_horizon_ms()
            && self.take_object(&attempt.object, attempt.bytes.len() as u64)
        {
            self.state_mut().verify(verified);
        }
    }

    fn won(&self, work: &mut Work<F>, attempt: Attempt<F>) {
        work.losses = 0;
        self.noticed(&attempt.object);
        let size = attempt.bytes.len() as u64;
        if !self.take_object(&attempt.object, size) {
            work.look_first = true;
        }
        for item in attempt.writers {
            item.settle(Settled::Written(Arc::clone(&attempt.entry)));
        }
        for (item, settled) in attempt.bystanders {
            item.settle(settled);
        }
    }

    /// Whether the winner's object brought the state up to its number. To a stalled
    /// writer it may be a void one, so it has to look for itself.
    fn lost(&self, object: &[Arc<Entry>], bytes: u64, view_age_ms: u64) -> bool {
        if view_age_ms > self.settings().half_horizon_ms() {
            return false;
        }
        self.noticed(object);
        self.take_object(object, bytes)
    }

    /// Takes the last entry of an object that was written or read, if it follows
    /// the state. False if the state is not that far afterwards.
    fn take_object(&self, object: &[Arc<Entry>], bytes: u64) -> bool {
        let Some(entry) = object.last() else {
            return false;
        };
        let mut state = self.state_mut();
        if state.seq.next() == entry.seq {
            let run = Run {
                entries: vec![Arc::clone(entry)],
                objects: vec![Object {
                    entries: object.to_vec(),
                    bytes,
                }],
                origin: Origin::Continued,
            };
            if let Err(corrupt) = state.advance(self.collection(), &run) {
                tracing::error!(error = %corrupt, "the state was dropped");
            }
        }
        state.loaded && state.seq >= entry.seq
    }

    fn log_key(&self, seq: Seq) -> Key {
        Key::Log(self.collection().clone(), seq)
    }
}

fn deliver<T, E>(
    settled: Option<Settled>,
    slot: &Slot<T, E>,
) -> Result<Delivered<T>, CommitError<E>> {
    let value = slot
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
        .take();
    let (seq, time, effect, entry) = match settled {
        Some(Settled::Written(entry)) => {
            (entry.seq, entry.header.time, Effect::Written, Some(entry))
        }
        Some(Settled::Replayed { seq, time }) => (seq, time, Effect::Replayed, None),
        Some(Settled::Unchanged { seq, time }) => (seq, time, Effect::Unchanged, None),
        Some(Settled::Failed) => (Seq::ZERO, Timestamp::default(), Effect::Unchanged, None),
        Some(Settled::Broken(failure)) => return Err(failure.into()),
        None => return Err(CommitError::Contended { attempts: 0 }),
    };
    match value {
        Some(Ok(value)) => Ok((
            Committed {
                seq,
                time,
                value,
                effect,
            },
            entry,
        )),
        Some(Err(error)) => Err(CommitError::Decided(error)),
        None => Err(CommitError::Contended { attempts: 0 }),
    }
}
