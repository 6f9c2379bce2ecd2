//! A store as one process sees it: the objects, the clock, the ids and the
//! limits of the platform. It is separate from `Io`, which lives for one
//! operation; it must not issue requests itself.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use object_store::ObjectStore;

use crate::port::{Clock, Ids};

/// How many requests may be in flight at once where no platform limits it.
const IN_FLIGHT: usize = 16;
/// Two ranges of one object that are closer than this become one request.
const COALESCE_GAP_BYTES: u64 = 32 * 1024;
/// What is larger is uploaded in parts of this size. S3 wants at least 5 MiB, R2 all of
/// one size, and 10,000 of them at most.
const PART_BYTES: usize = 8 * 1024 * 1024;
/// How long to wait for one answer.
const REQUEST_TIMEOUT_MS: u64 = 30_000;

/// What operations run on. Cheap to share behind an `Arc`.
pub struct Store {
    pub(crate) objects: Arc<dyn ObjectStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) in_flight: usize,
    pub(crate) coalesce_gap_bytes: u64,
    pub(crate) part_bytes: usize,
    pub(crate) request_timeout_ms: u64,
    /// Whether this process knows that the store honours create-only.
    pub(crate) proven: AtomicBool,
}

impl Store {
    /// A store with default limits: 16 requests in flight, 30 s per request.
    pub fn new(objects: Arc<dyn ObjectStore>, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Self {
        Self {
            objects,
            clock,
            ids,
            in_flight: IN_FLIGHT,
            coalesce_gap_bytes: COALESCE_GAP_BYTES,
            part_bytes: PART_BYTES,
            request_timeout_ms: REQUEST_TIMEOUT_MS,
            proven: AtomicBool::new(false),
        }
    }

    /// At most `count` requests at once; 6 in a Worker, whose seventh would be queued.
    pub fn with_in_flight(mut self, count: usize) -> Self {
        self.in_flight = count.max(1);
        self
    }

    /// Ranges of one object closer than `bytes` are read as one.
    pub fn with_coalesce_gap(mut self, bytes: u64) -> Self {
        self.coalesce_gap_bytes = bytes;
        self
    }

    /// Objects larger than `bytes` are uploaded in parts of that size; 8 MiB without this.
    /// A store that knows no parts can be given a larger one: as much as may be in memory.
    pub fn with_part_bytes(mut self, bytes: usize) -> Self {
        self.part_bytes = bytes.max(1);
        self
    }

    /// Gives up on an answer after `millis`.
    pub fn with_request_timeout(mut self, millis: u64) -> Self {
        self.request_timeout_ms = millis;
        self
    }

    /// The clock of this process.
    pub fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    /// The randomness of this process.
    pub fn ids(&self) -> &dyn Ids {
        self.ids.as_ref()
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("objects", &self.objects.to_string())
            .field("in_flight", &self.in_flight)
            .field("coalesce_gap_bytes", &self.coalesce_gap_bytes)
            .field("part_bytes", &self.part_bytes)
            .field("request_timeout_ms", &self.request_timeout_ms)
            .finish_non_exhaustive()
    }
}
