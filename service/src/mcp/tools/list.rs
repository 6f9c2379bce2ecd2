//! The `list` tool: memories page by page.

use std::sync::Arc;

use ostraca_memory::Session;

use crate::mcp::tools::{About, Bound, Effect, Tool};
use crate::wire::{ListArgs, ListReply};

pub(super) fn tool() -> Tool {
    Tool::new(
        About {
            name: "list",
            title: "List memories",
            description: "Pages through memories of a scope, newest first, with filters and a stable cursor; \
                returns shortened texts, a total and next_cursor. It does not rank: to find something by \
                what it says use recall.",
            effect: Effect::Reads,
            bound: Bound::Page("memories"),
        },
        async |session: Arc<Session>, args: ListArgs| {
            Ok(ListReply::from(session.list(args.try_into()?).await?))
        },
    )
}
