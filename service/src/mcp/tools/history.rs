//! The `history` tool: the versions of a memory.

use std::sync::Arc;

use ostraca_memory::Session;

use crate::mcp::tools::{About, Bound, Effect, Tool};
use crate::wire::{HistoryArgs, HistoryReply};

pub(super) fn tool() -> Tool {
    Tool::new(
        About {
            name: "history",
            title: "History of a memory",
            description: "Returns the versions of one memory, newest first: what happened when, by whom, why, \
                which fields changed and the text as it was. Useful before restore, or to see how a fact \
                developed. For the current text alone use get.",
            effect: Effect::Reads,
            bound: Bound::Page("versions"),
        },
        async |session: Arc<Session>, args: HistoryArgs| {
            Ok(HistoryReply::from(session.history(args.try_into()?).await?))
        },
    )
}
