//! The entry to the domain: the ports it runs on and the collections it has open.
//! One per process. It keeps what it has read and nothing that storage lacks.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use object_store::ObjectStore;
use ostraca_object::io::Io;
use ostraca_object::key::CollectionKey;
use ostraca_object::log::{Grouping, Log, LogSettings};
use ostraca_object::port::{Clock, Ids, Timestamp, WriterId};
use ostraca_object::store::Store;

use crate::caller::Caller;
use crate::compact::background::Background;
use crate::compact::trigger::Trigger;
use crate::embed::Embedder;
use crate::limits::Limits;
use crate::session::Session;
use crate::view::View;

/// What the domain runs on.
#[derive(Clone)]
pub struct Ports {
    /// Where the objects are.
    pub store: Arc<dyn ObjectStore>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub ids: Arc<dyn Ids>,
    /// Vectors for texts; `None` means that recall is by keywords.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Where work goes on after an answer; `None` leaves compaction to the scheduled job.
    pub background: Option<Arc<dyn Background>>,
}

impl fmt::Debug for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ports")
            .field("store", &self.store.to_string())
            .field("embedder", &self.embedder)
            .field("background", &self.background)
            .finish_non_exhaustive()
    }
}

/// How the domain behaves; the defaults suit a native process.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Whether concurrent commits of this process share log entries.
    pub grouping: Grouping,
    /// Requests in flight at once to storage.
    pub in_flight: usize,
    /// Limits of requests and replies.
    pub limits: Limits,
    /// How long superseded objects are kept; every process on a bucket must agree.
    pub horizon: Duration,
    /// Collections kept open; the least recently used are closed beyond.
    pub open_collections: usize,
    /// Bytes of rows up to which compaction makes a collection to be held whole by its
    /// readers; beyond, its segments are searched in place. Whoever compacts decides.
    pub whole_bytes: u64,
    /// Bytes of rows of a large collection that may be copied into memory for what asks for
    /// all of it: a listing, an export, the past.
    pub copy_bytes: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            grouping: Grouping::Process,
            in_flight: 32,
            limits: Limits::default(),
            horizon: Duration::from_hours(1),
            open_collections: 256,
            whole_bytes: 8 << 20,
            copy_bytes: 2 << 30,
        }
    }
}

/// The domain over one bucket.
#[derive(Debug)]
pub struct Database {
    store: Arc<Store>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    embedder: Option<Arc<dyn Embedder>>,
    background: Option<Arc<dyn Background>>,
    settings: Settings,
    writer: WriterId,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    collections: BTreeMap<CollectionKey, Opened>,
    used: u64,
}

/// A collection that is open.
#[derive(Debug, Clone)]
struct Opened {
    used: u64,
    log: Arc<Log<View>>,
    trigger: Arc<Trigger>,
}

impl Database {
    /// A database that has nothing open.
    pub fn new(ports: Ports, settings: Settings) -> Arc<Self> {
        let Ports {
            store,
            clock,
            ids,
            embedder,
            background,
        } = ports;
        let writer = WriterId(ids.random());
        let store = Store::new(store, Arc::clone(&clock), Arc::clone(&ids))
            .with_in_flight(settings.in_flight);
        Arc::new(Self {
            store: Arc::new(store),
            clock,
            ids,
            embedder,
            background,
            settings,
            writer,
            open: Mutex::default(),
        })
    }

    /// The operations as one caller may use them.
    pub fn session(self: &Arc<Self>, caller: Caller) -> Session {
        let opened = self.opened(&CollectionKey::new(
            caller.tenant.clone(),
            caller.collection.clone(),
        ));
        Session::new(Arc::clone(self), caller, opened.log, opened.trigger)
    }

    /// The limits of requests and replies.
    pub fn limits(&self) -> &Limits {
        &self.settings.limits
    }

    /// The model that contents are embedded with, if one is configured.
    pub fn embedding_model(&self) -> Option<&str> {
        self.embedder.as_deref().map(Embedder::model)
    }

    pub(crate) fn whole_bytes(&self) -> u64 {
        self.settings.whole_bytes
    }

    pub(crate) fn copy_bytes(&self) -> u64 {
        self.settings.copy_bytes
    }

    pub(crate) fn embedder(&self) -> Option<&Arc<dyn Embedder>> {
        self.embedder.as_ref()
    }

    pub(crate) fn background(&self) -> Option<&Arc<dyn Background>> {
        self.background.as_ref()
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn random(&self) -> u128 {
        self.ids.random()
    }

    /// Access to storage for one operation, which it meters.
    pub fn io(&self) -> Io {
        Io::new(&self.store)
    }

    /// A new id: time-ordered, 26 characters of Crockford's base 32 in lower case.
    pub(crate) fn new_id(&self) -> String {
        let millis = u64::try_from(self.now().0).unwrap_or(0);
        ulid::Ulid::from_parts(millis, self.random())
            .to_string()
            .to_ascii_lowercase()
    }

    /// The log of a collection, opened if it is not.
    pub(crate) fn log(&self, key: &CollectionKey) -> Arc<Log<View>> {
        self.opened(key).log
    }

    /// Whether this process holds what it has read of a collection.
    pub(crate) fn is_open(&self, key: &CollectionKey) -> bool {
        self.open().collections.contains_key(key)
    }

    /// Forgets what is known of a collection, so that the next use reads it anew.
    pub(crate) fn close(&self, key: &CollectionKey) {
        self.open().collections.remove(key);
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn opened(&self, key: &CollectionKey) -> Opened {
        let mut open = self.open();
        open.used += 1;
        let used = open.used;
        if let Some(opened) = open.collections.get_mut(key) {
            opened.used = used;
            return opened.clone();
        }
        if open.collections.len() >= self.settings.open_collections.max(1)
            && let Some(oldest) = open
                .collections
                .iter()
                .min_by_key(|(_, opened)| opened.used)
                .map(|(key, _)| key.clone())
        {
            open.collections.remove(&oldest);
        }
        let settings = LogSettings {
            grouping: self.settings.grouping,
            horizon_ms: u64::try_from(self.settings.horizon.as_millis()).unwrap_or(u64::MAX),
            ..LogSettings::default()
        };
        let opened = Opened {
            used,
            log: Arc::new(Log::new(key.clone(), self.writer, settings)),
            trigger: Arc::default(),
        };
        open.collections.insert(key.clone(), opened.clone());
        opened
    }
}
