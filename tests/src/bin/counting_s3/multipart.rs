//! Uploads in parts: nothing of one is seen until it is completed, and then all of it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;

#[derive(Debug, Default)]
pub(crate) struct Uploads {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    begun: u64,
    open: BTreeMap<String, Upload>,
}

#[derive(Debug)]
struct Upload {
    path: String,
    parts: BTreeMap<u32, Bytes>,
}

impl Uploads {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The new upload's identifier.
    pub(crate) fn begin(&self, path: &str) -> String {
        let mut state = self.state();
        state.begun += 1;
        let id = format!("upload-{:08}", state.begun);
        let upload = Upload {
            path: path.to_owned(),
            parts: BTreeMap::new(),
        };
        state.open.insert(id.clone(), upload);
        id
    }

    /// The part's tag; none if there is no such upload of this object.
    pub(crate) fn part(&self, path: &str, id: &str, number: u32, bytes: Bytes) -> Option<String> {
        let mut state = self.state();
        let upload = state.open.get_mut(id).filter(|open| open.path == path)?;
        upload.parts.insert(number, bytes);
        Some(format!("\"{id}-{number}\""))
    }

    /// The content that the named parts make; none if the upload or a part is not there.
    pub(crate) fn content(&self, path: &str, id: &str, numbers: &[u32]) -> Option<Bytes> {
        let state = self.state();
        let upload = state.open.get(id).filter(|open| open.path == path)?;
        let mut content = Vec::new();
        for number in numbers {
            content.extend_from_slice(upload.parts.get(number)?);
        }
        Some(content.into())
    }

    pub(crate) fn end(&self, id: &str) {
        self.state().open.remove(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_named_parts_make_the_content() {
        let uploads = Uploads::default();
        let id = uploads.begin("b/k");
        for (number, text) in [(2, "cd"), (1, "ab"), (3, "ef")] {
            let tag = uploads.part("b/k", &id, number, Bytes::from_static(text.as_bytes()));
            assert!(tag.is_some());
        }
        assert_eq!(
            uploads.content("b/k", &id, &[1, 2]).as_deref(),
            Some(b"abcd".as_slice())
        );
        assert_eq!(uploads.content("b/k", &id, &[1, 4]), None);
        assert_eq!(uploads.content("b/other", &id, &[1]), None);
        uploads.end(&id);
        assert_eq!(uploads.content("b/k", &id, &[1]), None);
    }
}
