//! `get`: memories by id or key, with as much of the content as a reply may hold
//! and the offset to go on from.

use std::sync::Arc;

use ostraca_object::key::Seq;
use ostraca_object::log::Freshness;
use ostraca_search::Record;

use crate::asof::AsOf;
use crate::caller::Permission;
use crate::error::{Error, Result};
use crate::excerpt::Excerpt;
use crate::known::{Known, Sight};
use crate::receipt::Receipt;
use crate::reference::Reference;
use crate::session::Session;
use crate::view::View;

/// What to get.
#[derive(Debug, Clone, Default)]
pub struct GetRequest {
    /// Which memories, at most [`crate::Limits::items`].
    pub references: Vec<Reference>,
    /// The moment to look at; now if absent.
    pub as_of: Option<AsOf>,
    /// The byte of the contents to start from.
    pub content_offset: u64,
    /// How fresh the answer must be.
    pub freshness: Freshness,
}

/// What is there.
#[derive(Debug, Clone)]
pub struct GetReply {
    /// The memories, in the order of their references.
    pub memories: Vec<Found>,
    /// References to nothing that the caller can see.
    pub missing: Vec<Reference>,
    /// What it took.
    pub receipt: Receipt,
}

/// A memory with the part of its content that the reply holds.
#[derive(Debug, Clone)]
pub struct Found {
    /// The memory.
    pub record: Arc<Record>,
    /// The part of its content.
    pub excerpt: Excerpt,
}

impl Session {
    /// Looks memories up.
    ///
    /// # Errors
    /// Invalid for no or too many references or a moment in the future, Forbidden
    /// without `memories:read`, Unavailable if storage fails.
    pub async fn get(&self, request: GetRequest) -> Result<GetReply> {
        self.caller.require(Permission::Read)?;
        let count = request.references.len();
        if count == 0 {
            return Err(Error::invalid(
                "ids",
                "nothing to get; name memories by id or by key",
            ));
        }
        if count > self.limits().items {
            return Err(Error::too_large(
                "ids",
                format!(
                    "{count} memories at once; ask for at most {}",
                    self.limits().items
                ),
            ));
        }
        let io = self.db.io();
        let find = |sight: &Sight<'_>, newest: Seq| {
            let at = Self::position(sight.view(), newest, request.as_of)?;
            let found: Vec<Option<Arc<Record>>> = request
                .references
                .iter()
                .map(|reference| self.resolve(sight, reference, newest, at))
                .collect();
            Ok((found, at))
        };
        let (found, newest) = if request.as_of.is_none() {
            self.look_up(&io, request.freshness, find).await?
        } else {
            let nothing = Known::default();
            let look = |view: &View, newest| find(&Sight::new(view, &nothing), newest);
            self.look(&io, request.freshness, look).await?
        };
        // Many share the room of a reply evenly; one has it all.
        let room =
            (self.limits().reply_content_bytes / found.iter().flatten().count().max(1)).max(64);
        let (mut memories, mut missing) = (Vec::new(), Vec::new());
        for (reference, record) in request.references.into_iter().zip(found) {
            match record {
                Some(record) => {
                    let excerpt = Excerpt::from(&record.content, request.content_offset, room);
                    memories.push(Found { record, excerpt });
                }
                None => missing.push(reference),
            }
        }
        Ok(GetReply {
            memories,
            missing,
            receipt: Self::receipt(&io, newest),
        })
    }
}
