//! The shapes that travel: one file per operation with its arguments and its
//! reply, and the objects that several replies share. REST bodies and MCP tool
//! arguments are the same types, so the two surfaces cannot drift. Nothing here
//! decides anything: it translates to and from the domain, and names the field
//! that is at fault.

mod decode;
mod filter;
mod patch;
mod schema;
mod target;
mod time;

pub mod describe_scope;
pub mod export;
pub mod forget;
pub mod get;
pub mod history;
pub mod list;
pub mod memory;
pub mod recall;
pub mod receipt;
pub mod remember;
pub mod restore;
pub mod scopes;
pub mod update;
pub mod watch;

pub use decode::{Arguments, decode};
pub use describe_scope::{DescribeScopeArgs, DescribeScopeReply};
pub use export::{ExportArgs, ExportReply};
pub use forget::{ForgetArgs, ForgetReply};
pub use get::{GetArgs, GetReply};
pub use history::{HistoryArgs, HistoryReply};
pub use list::{ListArgs, ListReply};
pub use memory::Memory;
pub use patch::Patch;
pub use recall::{RecallArgs, RecallReply};
pub use receipt::Receipt;
pub use remember::{MemoryInput, RememberArgs, RememberReply};
pub use restore::{RestoreArgs, RestoreReply};
pub use schema::{input_schema, output_schema, portable};
pub use scopes::{ScopesArgs, ScopesReply};
pub use target::Reach;
pub use time::AsOf;
pub use update::{UpdateArgs, UpdateReply};
pub use watch::{WatchArgs, WatchReply};

#[cfg(test)]
mod tests;
