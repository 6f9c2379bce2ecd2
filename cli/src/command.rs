//! The commands, one file each: what a command takes and what it does.

pub(crate) mod compact;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod key;
pub(crate) mod mcp;
pub(crate) mod serve;
pub(crate) mod tenant;
