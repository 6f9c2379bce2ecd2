//! The `Idempotency-Key` header: the REST spelling of the argument of that name.

use http::HeaderMap;
use ostraca_memory::Error;

/// The header.
pub(super) const IDEMPOTENCY_KEY: &str = "Idempotency-Key";
/// What its description says.
pub(super) const DESCRIPTION: &str = "A name for this call. Sent again with the same name and body, it answers as before and does nothing twice.";

/// Adds the header to what the body states.
///
/// # Errors
/// `Invalid` if it cannot be read or differs from what the body states.
pub(super) fn merge(headers: &HeaderMap, stated: &mut Option<String>) -> Result<(), Error> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY) else {
        return Ok(());
    };
    let key = std::str::from_utf8(value.as_bytes())
        .map_err(|_| Error::invalid(IDEMPOTENCY_KEY, "is not UTF-8"))?;
    match stated {
        Some(stated) if stated != key => Err(Error::invalid(
            "idempotency_key",
            "differs from the header Idempotency-Key; give one of the two",
        )),
        _ => {
            *stated = Some(key.to_owned());
            Ok(())
        }
    }
}
