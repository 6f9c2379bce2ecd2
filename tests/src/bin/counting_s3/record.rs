//! Every request, with its beginning and its end: from these the longest chain of requests
//! of which none began before another had ended can be told.

use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use serde_json::{Value, json};

/// Requests that are kept; later ones are only counted.
const MOST: usize = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Kind {
    Get,
    Head,
    List,
    Put,
    /// A part of an upload.
    Part,
    /// The beginning or the end of an upload in parts.
    Upload,
    Delete,
    /// What concerns no object.
    Other,
}

#[derive(Debug, Serialize)]
pub(crate) struct Record {
    pub(crate) kind: Kind,
    /// Bucket and key, or bucket and prefix of a listing.
    pub(crate) key: String,
    pub(crate) range: Option<String>,
    pub(crate) status: u16,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    /// Microseconds since the server began.
    pub(crate) start_us: u64,
    pub(crate) end_us: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Records {
    kept: Mutex<(Vec<Record>, u64)>,
}

impl Records {
    pub(crate) fn add(&self, record: Record) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.0.len() < MOST {
            kept.0.push(record);
        } else {
            kept.1 += 1;
        }
    }

    pub(crate) fn clear(&self) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = (Vec::new(), 0);
    }

    pub(crate) fn read(&self) -> Value {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        json!({ "requests": kept.0, "left_out": kept.1 })
    }
}
