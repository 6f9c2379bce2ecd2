//! The `watch` tool: the feed of changes.

use std::sync::Arc;

use ostraca_memory::Session;

use crate::mcp::tools::{About, Bound, Effect, Tool};
use crate::wire::{WatchArgs, WatchReply};

pub(super) fn tool() -> Tool {
    Tool::new(
        About {
            name: "watch",
            title: "Watch for changes",
            description: "Returns what changed after a cursor, oldest first, with next_cursor for the next call; \
                can wait up to 25 seconds for the first change. Without a cursor it starts now. Meant \
                for following other agents' writes; for the current state use list or recall.",
            effect: Effect::Reads,
            bound: Bound::Page("changes"),
        },
        async |session: Arc<Session>, args: WatchArgs| {
            Ok(WatchReply::from(session.watch(args.try_into()?).await?))
        },
    )
}
