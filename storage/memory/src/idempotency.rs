//! Requests that are sent again. An idempotency key becomes the commit id, which
//! the log takes once; the answer is kept as the commit's note, so that the second
//! request gets the first one's answer and changes nothing (I-ONCE).

use ostraca_object::log::commit::Replay;
use ostraca_object::port::CommitId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::error::{Error, ErrorKind, Result};

/// A request that must take effect once.
#[derive(Debug, Clone)]
pub(crate) struct Once {
    id: CommitId,
    digest: String,
}

#[derive(Serialize, Deserialize)]
struct Note {
    request: String,
    reply: Value,
}

impl Once {
    /// For an operation by name, the caller's key, and a description of the request
    /// that is equal exactly when the request is. `None` without a key.
    ///
    /// # Errors
    /// Invalid at `idempotency_key` if the key is blank or longer than 255 bytes.
    pub(crate) fn new(
        operation: &str,
        key: Option<&str>,
        request: &impl std::fmt::Debug,
    ) -> Result<Option<Self>> {
        let Some(key) = key else { return Ok(None) };
        if key.trim().is_empty() || key.len() > 255 {
            return Err(Error::invalid(
                "idempotency_key",
                "an idempotency key has 1 to 255 bytes; send one or leave it out",
            ));
        }
        // The operation is part of the name, so that one key may serve calls of several kinds.
        let id = first_128_bits(format!("{operation}\0{key}").as_bytes());
        let digest = format!("{:032x}", first_128_bits(format!("{request:?}").as_bytes()));
        Ok(Some(Self {
            id: CommitId(id),
            digest,
        }))
    }

    /// The commit id that the key stands for.
    pub(crate) fn id(&self) -> CommitId {
        self.id
    }

    /// The note that keeps an answer.
    pub(crate) fn note(&self, reply: &Value) -> Value {
        serde_json::json!({ "request": self.digest, "reply": reply })
    }

    /// The answer that was kept when the request first took effect.
    ///
    /// # Errors
    /// Conflict at `idempotency_key` if the key was used for another request.
    pub(crate) fn kept<T: serde::de::DeserializeOwned>(&self, replay: &Replay) -> Result<T> {
        let unreadable = || {
            Error::new(
                ErrorKind::Corrupt,
                "the answer kept for this idempotency key cannot be read",
            )
        };
        let note = replay.note.as_ref().ok_or_else(unreadable)?;
        let note = Note::deserialize(note).map_err(|error| unreadable().with_source(error))?;
        if note.request != self.digest {
            return Err(Error::conflict(
                "idempotency_key",
                "this idempotency key was used for a different request; use a new key for a new request",
            ));
        }
        serde_json::from_value(note.reply).map_err(|error| unreadable().with_source(error))
    }
}

/// The first 16 bytes of a text's SHA-256.
pub(crate) fn first_128_bits(bytes: &[u8]) -> u128 {
    Sha256::digest(bytes)
        .iter()
        .take(16)
        .fold(0, |bits, byte| bits << 8 | u128::from(*byte))
}
