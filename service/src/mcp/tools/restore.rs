//! The `restore` tool: going back.

use std::sync::Arc;

use ostraca_memory::Session;

use crate::mcp::tools::brief::brief;
use crate::mcp::tools::{About, Bound, Effect, Tool};
use crate::wire::{RestoreArgs, RestoreReply};

pub(super) fn tool() -> Tool {
    Tool::new(
        About {
            name: "restore",
            title: "Restore a memory",
            description: "Brings back a forgotten memory, or sets a memory back to an earlier version, and returns \
                it as a new version; nothing in between is lost. Purged memories cannot be restored. The \
                versions are found with history.",
            effect: Effect::Changes,
            bound: Bound::Short,
        },
        async |session: Arc<Session>, args: RestoreArgs| {
            let mut reply = RestoreReply::from(session.restore(args.try_into()?).await?);
            reply.memory = brief(reply.memory);
            Ok(reply)
        },
    )
}
