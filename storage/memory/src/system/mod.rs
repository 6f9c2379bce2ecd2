//! The `_system` collection of a tenant: the tenant itself and its API keys, as
//! records in the same log and by the same commit as memories.

pub mod keys;
pub mod tenants;
pub mod token;
