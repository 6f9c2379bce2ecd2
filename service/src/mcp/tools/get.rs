//! The `get` tool: memories by name.

use std::sync::Arc;

use ostraca_memory::Session;

use crate::mcp::tools::{About, Bound, Effect, Tool};
use crate::wire::{GetArgs, GetReply};

pub(super) fn tool() -> Tool {
    Tool::new(
        About {
            name: "get",
            title: "Get memories",
            description: "Reads memories by id or by key, with their full text; a long text comes in parts, read \
                on with content_offset. Unknown names are returned under missing. For searching by \
                content use recall.",
            effect: Effect::Reads,
            bound: Bound::Named {
                items: "memories",
                argument: "ids",
            },
        },
        async |session: Arc<Session>, args: GetArgs| {
            Ok(GetReply::from(session.get(args.try_into()?).await?))
        },
    )
}
