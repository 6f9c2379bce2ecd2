//! Stores around stores: counting, retrying, caching and failing on purpose.
//! Each is one file and spells out every method, because a defaulted method
//! would slip past the wrapper.

pub mod range_cache;
