//! The `remember` tool: one memory or many are stored. One that could not be stored is
//! an error of the call; of many, each says for itself what became of it.

use std::sync::Arc;

use ostraca_memory::Session;

use crate::mcp::tools::{About, Bound, Effect, Tool};
use crate::wire::{RememberArgs, RememberReply};

pub(super) fn tool() -> Tool {
    Tool::new(
        About {
            name: "remember",
            title: "Remember",
            description: "Stores one memory, or many under items, for later sessions and other agents, and says for each \
                whether it was created, updated or already there. The same text in the same scope is stored once; \
                a key makes it replaceable. Meant for lasting facts, preferences and decisions, not for secrets or \
                transcripts. To correct an existing memory by id use update.",
            effect: Effect::Adds,
            bound: Bound::Short,
        },
        async |session: Arc<Session>, args: RememberArgs| {
            let single = args.single;
            let mut reply = session.remember(args.try_into()?).await?;
            if single && reply.items.first().is_some_and(Result::is_err) {
                reply.items.remove(0)?;
            }
            Ok(RememberReply::from(reply))
        },
    )
}
