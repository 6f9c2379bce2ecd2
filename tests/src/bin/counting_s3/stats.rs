//! What has been asked of the server so far.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

#[derive(Debug, Default)]
pub(crate) struct Stats {
    pub(crate) puts: AtomicU64,
    /// Of the writes, those whose condition did not hold.
    pub(crate) put_conflicts: AtomicU64,
    pub(crate) gets: AtomicU64,
    /// Of the reads, those that found nothing.
    pub(crate) get_misses: AtomicU64,
    pub(crate) lists: AtomicU64,
    /// Parts of uploads, and uploads begun or completed: each is a request like a write.
    pub(crate) parts: AtomicU64,
    pub(crate) uploads: AtomicU64,
    pub(crate) deletes: AtomicU64,
    pub(crate) bytes_in: AtomicU64,
    pub(crate) bytes_out: AtomicU64,
}

pub(crate) fn add(counter: &AtomicU64, amount: u64) {
    counter.fetch_add(amount, Ordering::Relaxed);
}

impl Stats {
    fn named(&self) -> [(&'static str, &AtomicU64); 10] {
        [
            ("puts", &self.puts),
            ("put_conflicts", &self.put_conflicts),
            ("gets", &self.gets),
            ("get_misses", &self.get_misses),
            ("lists", &self.lists),
            ("parts", &self.parts),
            ("uploads", &self.uploads),
            ("deletes", &self.deletes),
            ("bytes_in", &self.bytes_in),
            ("bytes_out", &self.bytes_out),
        ]
    }

    pub(crate) fn read(&self) -> Value {
        let counts = self.named().map(|(name, counter)| {
            let count = counter.load(Ordering::Relaxed);
            (name.to_owned(), Value::from(count))
        });
        Value::Object(counts.into_iter().collect())
    }

    pub(crate) fn reset(&self) {
        for (_, counter) in self.named() {
            counter.store(0, Ordering::Relaxed);
        }
    }
}
