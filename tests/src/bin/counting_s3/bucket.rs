//! The objects, behind one lock, so that a condition and its write are one step.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use ostraca_object::port::Timestamp;

/// Names in a page of a listing.
const PAGE: usize = 1_000;

#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) bytes: Bytes,
    pub(crate) etag: String,
    pub(crate) modified: Timestamp,
}

/// What must hold for a write.
#[derive(Debug)]
pub(crate) enum Condition {
    None,
    Absent,
    Etag(String),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// 412.
    Condition,
    /// 404.
    Absent,
}

/// A page of a listing.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) objects: Vec<(String, Object)>,
    pub(crate) folders: Vec<String>,
    /// The last name of a page that is not the last.
    pub(crate) next: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Query {
    pub(crate) prefix: String,
    pub(crate) delimiter: String,
    pub(crate) after: String,
    pub(crate) most: usize,
}

/// All buckets: a key begins with its bucket's name.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    objects: BTreeMap<String, Object>,
    written: u64,
}

impl Objects {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn put(
        &self,
        key: &str,
        bytes: Bytes,
        condition: &Condition,
        now: Timestamp,
    ) -> Result<String, Refused> {
        let mut state = self.state();
        let found = state.objects.get(key).map(|object| &object.etag);
        match (condition, found) {
            (Condition::None, _) | (Condition::Absent, None) => {}
            (Condition::Etag(_), None) => return Err(Refused::Absent),
            (Condition::Etag(wanted), Some(found)) if wanted == found => {}
            (Condition::Absent | Condition::Etag(_), Some(_)) => return Err(Refused::Condition),
        }
        state.written += 1;
        let etag = format!("\"{:032x}\"", state.written);
        let object = Object {
            bytes,
            etag: etag.clone(),
            modified: now,
        };
        state.objects.insert(key.to_owned(), object);
        Ok(etag)
    }

    pub(crate) fn get(&self, key: &str) -> Option<Object> {
        self.state().objects.get(key).cloned()
    }

    pub(crate) fn delete(&self, key: &str) {
        self.state().objects.remove(key);
    }

    pub(crate) fn list(&self, bucket: &str, query: &Query) -> Page {
        let root = format!("{bucket}/");
        let prefix = format!("{root}{}", query.prefix);
        let after = format!("{root}{}", query.after);
        let state = self.state();
        let start = if query.after.is_empty() || after < prefix {
            Bound::Included(prefix.clone())
        } else {
            Bound::Excluded(after)
        };
        let mut page = Page::default();
        let mut last = String::new();
        for (key, object) in state.objects.range((start, Bound::Unbounded)) {
            let (Some(rest), Some(name)) = (key.strip_prefix(&prefix), key.strip_prefix(&root))
            else {
                break;
            };
            let folder = match query.delimiter.as_str() {
                "" => None,
                delimiter => rest
                    .split_once(delimiter)
                    .map(|(folder, _)| format!("{}{folder}{delimiter}", query.prefix)),
            };
            // A folder that the page before ended with, or that this one has, is not said again.
            if folder.as_ref().is_some_and(|folder| {
                query.after.starts_with(folder) || page.folders.last() == Some(folder)
            }) {
                continue;
            }
            if page.objects.len() + page.folders.len() == query.most.min(PAGE) {
                page.next = Some(last);
                break;
            }
            if let Some(folder) = folder {
                last.clone_from(&folder);
                page.folders.push(folder);
            } else {
                name.clone_into(&mut last);
                page.objects.push((name.to_owned(), object.clone()));
            }
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled() -> Objects {
        let objects = Objects::default();
        for name in ["b/a/1", "b/a/2", "b/a/b/3", "b/c", "other/a/9"] {
            let put = objects.put(name, Bytes::new(), &Condition::None, Timestamp(0));
            assert!(put.is_ok());
        }
        objects
    }

    fn list(objects: &Objects, prefix: &str, delimiter: &str, after: &str, most: usize) -> Page {
        let query = Query {
            prefix: prefix.to_owned(),
            delimiter: delimiter.to_owned(),
            after: after.to_owned(),
            most,
        };
        objects.list("b", &query)
    }

    fn names(page: &Page) -> Vec<&str> {
        page.objects.iter().map(|(name, _)| name.as_str()).collect()
    }

    #[test]
    fn a_listing_stays_in_its_bucket_and_prefix() {
        let objects = filled();
        assert_eq!(
            names(&list(&objects, "a/", "", "", 9)),
            ["a/1", "a/2", "a/b/3"]
        );
        assert_eq!(names(&list(&objects, "", "", "a/2", 9)), ["a/b/3", "c"]);
    }

    #[test]
    fn pages_join_without_a_gap() {
        let objects = filled();
        let mut all = Vec::new();
        let mut after = String::new();
        loop {
            let page = list(&objects, "", "", &after, 1);
            all.extend(names(&page).into_iter().map(str::to_owned));
            match page.next {
                Some(next) => after = next,
                None => break,
            }
        }
        assert_eq!(all, ["a/1", "a/2", "a/b/3", "c"]);
    }

    #[test]
    fn folders_are_said_once() {
        let objects = filled();
        let page = list(&objects, "", "/", "", 9);
        assert_eq!(names(&page), ["c"]);
        assert_eq!(page.folders, ["a/"]);
        let first = list(&objects, "", "/", "", 1);
        assert_eq!(first.next.as_deref(), Some("a/"));
        assert_eq!(names(&list(&objects, "", "/", "a/", 9)), ["c"]);
    }

    #[test]
    fn conditions_hold() {
        let objects = filled();
        let put = |condition| objects.put("b/c", Bytes::new(), &condition, Timestamp(0));
        assert_eq!(put(Condition::Absent), Err(Refused::Condition));
        assert_eq!(
            put(Condition::Etag("\"0\"".to_owned())),
            Err(Refused::Condition)
        );
        let etag = objects
            .get("b/c")
            .map(|object| object.etag)
            .unwrap_or_default();
        assert!(put(Condition::Etag(etag)).is_ok());
        objects.delete("b/c");
        assert_eq!(put(Condition::Etag(String::new())), Err(Refused::Absent));
        assert!(put(Condition::Absent).is_ok());
    }
}
