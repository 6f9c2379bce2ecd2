//! The memory in the answer to a change. The caller has just written it, so a long
//! text is shown by its beginning only; `get` reads the rest.

use crate::wire::Memory;

/// How much of the text is shown, in bytes.
const SHOWN_BYTES: usize = 2_000;

/// The memory, its text cut at a character boundary if it is long.
pub(super) fn brief(mut memory: Memory) -> Memory {
    let whole = memory.content.len();
    if memory.content_truncated.is_some() || whole <= SHOWN_BYTES {
        return memory;
    }
    let end = memory.content.floor_char_boundary(SHOWN_BYTES);
    memory.content.truncate(end);
    let as_u64 = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
    memory.content_truncated = Some(true);
    memory.content_bytes = Some(as_u64(whole));
    memory.content_offset = Some(0);
    memory.next_offset = Some(as_u64(end));
    memory
}
