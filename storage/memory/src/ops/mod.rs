//! The operations, one per file. Each is a method of `Session` with a request and a
//! reply of plain values; surfaces decode into these and add nothing of their own.

pub mod describe_scope;
pub mod export;
pub mod forget;
pub mod get;
pub mod history;
pub mod list;
pub mod recall;
pub mod remember;
pub mod restore;
pub mod scopes;
pub mod update;
pub mod watch;
