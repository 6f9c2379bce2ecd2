//! What the tests of this workspace share. It holds no test itself, and nothing that
//! is not for tests.

pub mod tools;
