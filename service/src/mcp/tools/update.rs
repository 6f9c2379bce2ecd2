//! The `update` tool: a partial change.

use std::sync::Arc;

use ostraca_memory::Session;

use crate::mcp::tools::brief::brief;
use crate::mcp::tools::{About, Bound, Effect, Tool};
use crate::wire::{UpdateArgs, UpdateReply};

pub(super) fn tool() -> Tool {
    Tool::new(
        About {
            name: "update",
            title: "Update a memory",
            description: "Changes fields of one existing memory, named by id or key, and returns it. A field that \
                is absent stays, one that is null or in clear is removed; metadata is merged. With \
                expected_version it only succeeds if nobody changed it since. Earlier versions stay in \
                history. To store something new use remember.",
            effect: Effect::Changes,
            bound: Bound::Short,
        },
        async |session: Arc<Session>, args: UpdateArgs| {
            let mut reply = UpdateReply::from(session.update(args.try_into()?).await?);
            reply.memory = brief(reply.memory);
            Ok(reply)
        },
    )
}
