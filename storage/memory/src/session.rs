//! The operations as one caller may use them. Each operation is a method in a file
//! of its own under `ops`; this file holds what they share: the caller's rights,
//! reading at a moment, committing a decision, and the receipt.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use ostraca_object::io::Io;
use ostraca_object::key::Seq;
use ostraca_object::log::commit::{At, Committed, Decision};
use ostraca_object::log::error::CommitError;
use ostraca_object::log::{Freshness, Log};
use ostraca_object::port::CommitId;
use ostraca_object::probe::prove_create_only;
use ostraca_search::{Record, ScopePath, Status};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::asof::AsOf;
use crate::caller::Caller;
use crate::catalogue::Catalogue;
use crate::change;
use crate::compact::trigger::Trigger;
use crate::database::Database;
use crate::draft::{Decider, Draft, is_live};
use crate::error::{Error, ErrorKind, Result};
use crate::idempotency::Once;
use crate::known::{Known, Name, Sight};
use crate::limits::Limits;
use crate::load;
use crate::lookup::{Asked, look_up};
use crate::receipt::Receipt;
use crate::reference::Reference;
use crate::view::{View, version_at};

/// One caller's access to one collection.
#[derive(Debug, Clone)]
pub struct Session {
    pub(crate) db: Arc<Database>,
    pub(crate) caller: Caller,
    pub(crate) log: Arc<Log<View>>,
    pub(crate) trigger: Arc<Trigger>,
}

impl Session {
    pub(crate) fn new(
        db: Arc<Database>,
        caller: Caller,
        log: Arc<Log<View>>,
        trigger: Arc<Trigger>,
    ) -> Self {
        Self {
            db,
            caller,
            log,
            trigger,
        }
    }

    /// Who calls.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    pub(crate) fn limits(&self) -> &Limits {
        self.db.limits()
    }

    /// What binds a cursor to this caller's collection and an operation's arguments.
    pub(crate) fn binding(&self, operation: &str, arguments: &str) -> String {
        let Caller {
            tenant,
            collection,
            realm,
            ..
        } = &self.caller;
        format!("{tenant}|{collection}|{realm}|{operation}|{arguments}")
    }

    /// Brings the state up to date and looks at it.
    pub(crate) async fn look<T>(
        &self,
        io: &Io,
        freshness: Freshness,
        look: impl FnOnce(&View, Seq) -> Result<T>,
    ) -> Result<T> {
        load::refresh(&self.log, io, freshness).await?;
        self.see(io, look).await
    }

    /// Looks at the state as it is, all of it: of a large collection at a copy of
    /// everything, which is made for it.
    pub(crate) async fn see<T>(
        &self,
        io: &Io,
        look: impl FnOnce(&View, Seq) -> Result<T>,
    ) -> Result<T> {
        self.see_since(io, Seq::ZERO, look).await
    }

    /// Looks at the state as it is, of which what was changed up to an entry does not
    /// matter: of a large collection what is recent may do.
    pub(crate) async fn see_since<T>(
        &self,
        io: &Io,
        since: Seq,
        look: impl FnOnce(&View, Seq) -> Result<T>,
    ) -> Result<T> {
        let mut look = Some(look);
        loop {
            // Another task may have moved it to a checkpoint whose rows are still to come.
            let seen = self.log.read(|view, seq| {
                let look = view.has_all_since(since).then(|| look.take()).flatten()?;
                Some(look(view, seq))
            });
            if let Some(seen) = seen {
                return seen;
            }
            load::complete(&self.log, io).await?;
            if self
                .log
                .read(|view, _| view.is_above() && !view.has_all_since(since))
                && let Some(look) = look.take()
            {
                let copy = load::copy(&self.log, io, self.db.copy_bytes()).await?;
                return look(&copy, copy.position());
            }
        }
    }

    /// Brings the state up to date and looks at single memories in it. `look` is asked
    /// again as what it asks for is found in the segments.
    pub(crate) async fn look_up<T>(
        &self,
        io: &Io,
        freshness: Freshness,
        look: impl FnMut(&Sight<'_>, Seq) -> Result<T>,
    ) -> Result<T> {
        load::refresh(&self.log, io, freshness).await?;
        self.see_single(io, look).await
    }

    /// Looks at single memories in the state as it is.
    pub(crate) async fn see_single<T>(
        &self,
        io: &Io,
        mut look: impl FnMut(&Sight<'_>, Seq) -> Result<T>,
    ) -> Result<T> {
        let mut known = Known::default();
        loop {
            let seen = self.log.read(|view, seq| {
                let sight = sight(view, &known)?;
                let seen = look(&sight, seq);
                let missing = sight.into_missing();
                if missing.is_empty() {
                    Ok(seen)
                } else {
                    Err(Halt::Missing(missing))
                }
            });
            match seen {
                Ok(seen) => return seen,
                Err(halt) => self.overcome(io, &mut known, halt).await?,
            }
        }
    }

    /// Looks names up in the segments. Nothing is learnt if there are others by now.
    async fn learn(&self, io: &Io, known: &mut Known, names: BTreeSet<Name>) -> Result<()> {
        load::complete(&self.log, io).await?;
        let segments = known.catalogue().segments.clone();
        let asked = self.log.read(|view, _| {
            let asked = segments.iter().map(|info| {
                let root = Arc::clone(view.root(&info.id)?);
                Some(Asked { info, root })
            });
            asked.collect::<Option<Vec<_>>>()
        });
        let Some(asked) = asked else {
            return Ok(());
        };
        match look_up(self.log.collection(), io, &asked, names, known).await {
            Err(error) if load::is_gone(&error) => {
                load::expect_moved(&self.log, io, known.catalogue(), error).await
            }
            result => result,
        }
    }

    /// Takes a decision on the newest state and makes it durable. A decision that
    /// stages nothing writes nothing, unless its answer has to be kept for a retry.
    pub(crate) async fn decide<T>(
        &self,
        io: &Io,
        once: Option<Once>,
        decide: impl FnMut(&mut Decider<'_>) -> Result<T> + Send + 'static,
    ) -> Result<Committed<T>>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        // Proven once for a store, and known from then on; a cold process asks while it reads the log.
        let (proven, read) = futures::join!(
            prove_create_only(io),
            load::refresh(&self.log, io, Freshness::Bounded(u64::MAX))
        );
        proven?;
        read?;
        let id = once
            .as_ref()
            .map_or_else(|| CommitId(self.db.random()), Once::id);
        let decide = Arc::new(Mutex::new((decide, once)));
        let mut known = Known::default();
        loop {
            // What the decision asks for is found before it is taken, so that a race for the
            // next entry does not wait for it.
            let rehearsed = self.log.read(|view, seq| {
                let mut shared = decide.lock().unwrap_or_else(PoisonError::into_inner);
                let (decide, once) = &mut *shared;
                let at = At {
                    seq: seq.next(),
                    time: self.db.now(),
                    replay: None,
                };
                if !view.is_above() {
                    return None;
                }
                let draft = &mut Draft::default();
                settle(view, &known, draft, &at, once.as_ref(), decide).err()
            });
            if let Some(halt @ (Halt::Moved(_) | Halt::Missing(_))) = rehearsed {
                self.overcome(io, &mut known, halt).await?;
                continue;
            }
            let (shared, found) = (Arc::clone(&decide), Arc::new(std::mem::take(&mut known)));
            let used = Arc::clone(&found);
            let step = move |view: &View, draft: &mut Draft, at: At| {
                let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
                let (decide, once) = &mut *shared;
                settle(view, &used, draft, &at, once.as_ref(), decide)
            };
            match self.log.commit(io, id, step).await {
                Err(CommitError::Decided(
                    halt @ (Halt::Waiting | Halt::Moved(_) | Halt::Missing(_)),
                )) => {
                    known = Arc::into_inner(found).unwrap_or_default();
                    self.overcome(io, &mut known, halt).await?;
                }
                Err(error) => return Err(error.into()),
                Ok(committed) => {
                    self.after(io, &committed).await;
                    return Ok(committed);
                }
            }
        }
    }

    /// Does what has to be done before a decision can be taken.
    async fn overcome(&self, io: &Io, known: &mut Known, halt: Halt) -> Result<()> {
        match halt {
            Halt::Waiting => load::complete(&self.log, io).await,
            Halt::Moved(catalogue) => {
                *known = Known::of(catalogue);
                load::complete(&self.log, io).await
            }
            Halt::Missing(names) => self.learn(io, known, names).await,
            Halt::Refused(error) => Err(error),
        }
    }

    pub(crate) fn receipt(io: &Io, position: Seq) -> Receipt {
        let cost = io.receipt();
        let count = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        Receipt {
            position: position.0,
            steps: count(cost.steps),
            gets: count(cost.gets),
            lists: count(cost.lists),
            puts: count(cost.puts),
            deletes: count(cost.deletes),
            bytes_read: cost.bytes_read,
            bytes_written: cost.bytes_written,
            ..Receipt::default()
        }
    }

    /// The position that a moment stands for.
    pub(crate) fn position(view: &View, newest: Seq, as_of: Option<AsOf>) -> Result<Seq> {
        match as_of {
            None => Ok(newest),
            Some(AsOf::Time(time)) => Ok(view.position_at(time)),
            Some(AsOf::Position(position)) if position <= newest.0 => Ok(Seq(position)),
            Some(AsOf::Position(position)) => Err(Error::invalid(
                "as_of",
                format!(
                    "position {position} lies in the future; the newest position is {}",
                    newest.0
                ),
            )),
        }
    }

    /// The memory that a reference names at a position, if the caller may see it.
    pub(crate) fn resolve(
        &self,
        sight: &Sight<'_>,
        reference: &Reference,
        newest: Seq,
        at: Seq,
    ) -> Option<Arc<Record>> {
        let now = self.db.now();
        let visible =
            |record: &Arc<Record>| record.realm == self.caller.realm && is_live(record, now);
        match reference {
            Reference::Id(id) if at == newest => {
                Some(Arc::clone(&sight.newest(id)?.record)).filter(visible)
            }
            Reference::Id(id) => {
                let record = Arc::clone(&version_at(&sight.versions(id), at)?.record);
                Some(record).filter(visible)
            }
            Reference::Key { scope, key } if at == newest => {
                let id = sight.id_of_key(&self.caller.realm, scope, key)?;
                Some(Arc::clone(&sight.newest(id)?.record)).filter(visible)
            }
            // Names are indexed for the newest position alone; the past is walked.
            Reference::Key { scope, key } => sight
                .view()
                .records_at(at)
                .map(|version| &version.record)
                .find(|record| {
                    record.key.as_deref() == Some(key) && record.scope == *scope && visible(record)
                })
                .cloned(),
        }
    }

    /// The live memory that a decision is about.
    pub(crate) fn target(
        decider: &Decider<'_>,
        realm: &str,
        reference: &Reference,
    ) -> Option<Arc<Record>> {
        match reference {
            Reference::Id(id) => decider.live(id).filter(|record| record.realm == realm),
            Reference::Key { scope, key } => decider.live_key(realm, scope, key),
        }
    }

    pub(crate) fn missing(reference: &Reference) -> Error {
        Error::not_found(format!(
            "no memory with {reference}; it may have been forgotten or have expired, or lies in another scope: use list to see what there is"
        ))
    }

    /// Refuses a version that is not the expected one.
    pub(crate) fn expect_version(record: &Record, expected: Option<u64>) -> Result<()> {
        match expected {
            Some(expected) if expected != record.version => Err(Error::conflict(
                "expected_version",
                format!(
                    "the memory is at version {}, not {expected}; read it again and decide anew",
                    record.version
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Refuses a key that another live memory holds.
    pub(crate) fn expect_free_key(decider: &Decider<'_>, record: &Record) -> Result<()> {
        let Some(key) = &record.key else {
            return Ok(());
        };
        match decider.live_key(&record.realm, &record.scope, key) {
            Some(holder) if holder.id != record.id => Err(Error::conflict(
                "key",
                format!(
                    "memory {} already has this key in that scope; choose another key, or update that memory",
                    holder.id
                ),
            )),
            _ => Ok(()),
        }
    }
}

/// Why a decision was not taken, or a look at single memories not answered.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The view waits for rows of segments.
    Waiting,
    /// What is known is of other segments than these.
    Moved(Catalogue),
    /// These are not known yet.
    Missing(BTreeSet<Name>),
    /// The decision said no.
    Refused(Error),
}

/// The view, and what is known of its segments, if that is of the same ones.
fn sight<'a>(view: &'a View, known: &'a Known) -> Result<Sight<'a>, Halt> {
    if view.is_waiting() {
        return Err(Halt::Waiting);
    }
    if view.is_above() && !known.is_of(view) {
        return Err(Halt::Moved(view.catalogue().clone()));
    }
    Ok(Sight::new(view, known))
}

/// Takes one decision, or tells again what came of it.
fn settle<T: Serialize + DeserializeOwned>(
    view: &View,
    known: &Known,
    draft: &mut Draft,
    at: &At,
    once: Option<&Once>,
    decide: &mut impl FnMut(&mut Decider<'_>) -> Result<T>,
) -> Result<Decision<T>, Halt> {
    let sight = sight(view, known)?;
    if let (Some(replay), Some(once)) = (&at.replay, once) {
        let kept = once.kept(replay).map_err(Halt::Refused)?;
        return Ok(Decision::Unchanged(kept));
    }
    let mut decider = Decider::new(sight, draft, at.time);
    let decided = decide(&mut decider);
    // What was decided without knowing all that was asked for is void.
    let (agreed, changes) = decider.finish().map_err(Halt::Missing)?;
    let value = decided.map_err(Halt::Refused)?;
    let note = match once {
        Some(once) => Some(once.note(&serde_json::to_value(&value).map_err(|error| {
            let message = "the answer could not be kept for a retry";
            Halt::Refused(Error::new(ErrorKind::Internal, message).with_source(error))
        })?)),
        None if changes.is_empty() => return Ok(Decision::Unchanged(value)),
        None => None,
    };
    let rows = change::encode(&changes).map_err(|error| Halt::Refused(error.into()))?;
    agreed.join(draft);
    Ok(Decision::Commit { rows, note, value })
}

/// Whether a record's status lets readers see it without asking for it.
pub(crate) fn is_active(record: &Record) -> bool {
    record.status == Status::Active
}

/// Checks a scope as text.
///
/// # Errors
/// Invalid at `field` with the rule that the text breaks.
pub fn parse_scope(field: &'static str, text: &str) -> Result<ScopePath> {
    ScopePath::parse(text.trim())
        .map_err(|error| Error::invalid(field, error.to_string()).with_source(error))
}
