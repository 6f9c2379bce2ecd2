//! What lies in a bucket, as compaction is judged by: names alone, counted by what they are.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::TryStreamExt;
use object_store::ObjectStore;

/// Nothing that goes on behind an answer takes longer, however busy the machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// The objects of a store by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Objects(Vec<String>);

impl Objects {
    pub(crate) fn new(names: Vec<String>) -> Self {
        Self(names)
    }

    pub(crate) async fn of(store: &Arc<dyn ObjectStore>) -> Self {
        let listed: Vec<_> = store.list(None).try_collect().await.unwrap();
        let names = listed.iter().map(|object| object.location.to_string());
        Self(names.collect())
    }

    /// Markers of collections that are due.
    pub(crate) fn due(&self) -> usize {
        self.count("due/")
    }

    /// The entries of the collection `memory`, ascending.
    pub(crate) fn entries(&self) -> Vec<u64> {
        let mut entries: Vec<u64> = self
            .0
            .iter()
            .filter_map(|name| name.split_once("/c/memory/log/"))
            .map(|(_, file)| file.trim_end_matches(".arrow").parse().unwrap())
            .collect();
        entries.sort_unstable();
        entries
    }

    /// The segments of the collection `memory`.
    pub(crate) fn segments(&self) -> BTreeSet<&str> {
        self.0
            .iter()
            .filter_map(|name| name.split_once("/c/memory/seg/"))
            .filter_map(|(_, rest)| rest.split('/').next())
            .collect()
    }

    /// All that there is.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    fn count(&self, prefix: &str) -> usize {
        self.0
            .iter()
            .filter(|name| name.starts_with(prefix))
            .count()
    }
}

/// Waits until the store is as it should become.
pub(crate) async fn until(
    store: &Arc<dyn ObjectStore>,
    what: &str,
    is_so: impl Fn(&Objects) -> bool,
) -> Objects {
    let began = Instant::now();
    loop {
        let objects = Objects::of(store).await;
        if is_so(&objects) {
            return objects;
        }
        assert!(began.elapsed() < PATIENCE, "never {what}: {objects:?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
