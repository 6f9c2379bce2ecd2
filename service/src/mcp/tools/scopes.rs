//! The `scopes` tool: where memories lie.

use std::sync::Arc;

use ostraca_memory::Session;

use crate::mcp::tools::{About, Bound, Effect, Tool};
use crate::wire::{ScopesArgs, ScopesReply};

pub(super) fn tool() -> Tool {
    Tool::new(
        About {
            name: "scopes",
            title: "List scopes",
            description: "Lists the scopes that hold memories, with how many, when they last changed and what \
                belongs there. Useful for choosing where to remember or how far to recall. It returns no \
                memories: use list or recall for those.",
            effect: Effect::Reads,
            bound: Bound::Page("scopes"),
        },
        async |session: Arc<Session>, args: ScopesArgs| {
            Ok(ScopesReply::from(session.scopes(args.try_into()?).await?))
        },
    )
}
