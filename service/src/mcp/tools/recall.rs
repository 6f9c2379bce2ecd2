//! The `recall` tool: ranked search.

use std::sync::Arc;

use ostraca_memory::Session;

use crate::mcp::tools::{About, Bound, Effect, Tool};
use crate::wire::{RecallArgs, RecallReply};

pub(super) fn tool() -> Tool {
    Tool::new(
        About {
            name: "recall",
            title: "Recall memories",
            description: "Searches long-term memory by words and by meaning and returns the best hits with their \
                text, ids, scores and why each was found. Useful when earlier preferences, decisions, \
                people or facts may matter. It looks in one scope and those above it; reach all looks \
                everywhere. To read a known memory use get; to page through everything use list.",
            effect: Effect::Reads,
            bound: Bound::Page("hits"),
        },
        async |session: Arc<Session>, args: RecallArgs| {
            Ok(RecallReply::from(session.recall(args.try_into()?).await?))
        },
    )
}
