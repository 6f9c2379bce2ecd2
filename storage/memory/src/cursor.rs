//! Opaque cursors. A cursor carries its place and a digest of whom and what it was
//! made for, so that one that was altered, cut, or brought to other arguments or
//! another tenant is refused instead of answering something else. It is no
//! credential: the tenant always comes from the caller.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};

/// A place in the total order of a collection: entry, then row within it.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub(crate) struct Place {
    /// The log position of the entry.
    pub(crate) seq: u64,
    /// The row within the entry.
    pub(crate) row: u32,
}

const CHECK_BYTES: usize = 8;

/// Writes a cursor for a place reached under `binding`, the text of everything
/// that must be the same when it comes back.
pub(crate) fn encode<T: Serialize>(place: &T, binding: &str) -> Result<String> {
    let body = serde_json::to_vec(place).map_err(|source| {
        Error::new(
            crate::error::ErrorKind::Internal,
            "a cursor could not be written",
        )
        .with_source(source)
    })?;
    let mut bytes = check(&body, binding).to_vec();
    bytes.extend_from_slice(&body);
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Reads a cursor back.
///
/// # Errors
/// Invalid at `cursor` if it was altered or made under another binding.
pub(crate) fn decode<T: DeserializeOwned>(cursor: &str, binding: &str) -> Result<T> {
    let refused = || {
        Error::invalid(
            "cursor",
            "not a cursor that these arguments gave out; repeat the call with the arguments that gave it, or start again without a cursor",
        )
    };
    let bytes = URL_SAFE_NO_PAD
        .decode(cursor.trim())
        .map_err(|_| refused())?;
    let (found, body) = bytes.split_at_checked(CHECK_BYTES).ok_or_else(refused)?;
    if found != check(body, binding) {
        return Err(refused());
    }
    serde_json::from_slice(body).map_err(|_| refused())
}

fn check(body: &[u8], binding: &str) -> [u8; CHECK_BYTES] {
    let digest = Sha256::new()
        .chain_update((binding.len() as u64).to_le_bytes())
        .chain_update(binding)
        .chain_update(body)
        .finalize();
    let mut out = [0; CHECK_BYTES];
    out.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
    out
}

#[cfg(test)]
#[expect(clippy::string_slice, reason = "the texts are ASCII")]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_returns_its_place_under_its_binding_alone() {
        let place = Place { seq: 41, row: 2 };
        let cursor = encode(&place, "acme|list|a").unwrap();
        assert_eq!(decode::<Place>(&cursor, "acme|list|a").unwrap(), place);
        assert!(decode::<Place>(&cursor, "globex|list|a").is_err());
        for cut in 0..cursor.len() {
            assert!(decode::<Place>(&cursor[..cut], "acme|list|a").is_err());
        }
        for at in 0..cursor.len() {
            let mut altered = cursor.clone().into_bytes();
            altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(altered).unwrap();
            if altered != cursor {
                // The last character may hold unused bits; then the decoder itself refuses.
                assert!(decode::<Place>(&altered, "acme|list|a").is_err(), "{at}");
            }
        }
    }
}
