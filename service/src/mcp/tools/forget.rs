//! The `forget` tool: memories leave.

use std::sync::Arc;

use ostraca_memory::Session;

use crate::mcp::tools::{About, Bound, Effect, Tool};
use crate::wire::{ForgetArgs, ForgetReply};

pub(super) fn tool() -> Tool {
    Tool::new(
        About {
            name: "forget",
            title: "Forget memories",
            description: "Removes memories, named by id or key, from recall and lists, and says for each what \
                became of it. By default they can be brought back with restore; purge erases text and \
                history for good. For correcting a memory use update instead.",
            effect: Effect::Removes,
            bound: Bound::Short,
        },
        async |session: Arc<Session>, args: ForgetArgs| {
            Ok(ForgetReply::from(session.forget(args.try_into()?).await?))
        },
    )
}
