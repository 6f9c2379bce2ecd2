//! The bound on what one answer shows a model. The domain bounds the content of
//! memories; what stands around it (metadata, titles, escapes) counts here, where the
//! answer is text. A page that is too long is read again with fewer items, so that its
//! cursor stays true.

/// The most text of one answer, in bytes; about what agents can take in at once.
pub(crate) const MAX_TEXT_BYTES: usize = 75_000;

/// How many items to ask for instead, when these were too long together. One item is
/// never too long: it could not be had otherwise.
pub(crate) fn fewer(items: usize, text_bytes: usize) -> Option<u32> {
    if text_bytes <= MAX_TEXT_BYTES || items <= 1 {
        return None;
    }
    let fitting = items.saturating_mul(MAX_TEXT_BYTES) / text_bytes;
    // Items differ in size, so less than the average may be needed; the caller asks again.
    u32::try_from(fitting.clamp(1, items - 1)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asking_again_always_ends() {
        assert_eq!(fewer(500, MAX_TEXT_BYTES), None);
        assert_eq!(fewer(1, usize::MAX), None);
        assert_eq!(fewer(100, 2 * MAX_TEXT_BYTES), Some(50));
        assert_eq!(fewer(2, MAX_TEXT_BYTES + 1), Some(1));
        let (mut items, mut rounds) = (500, 0);
        while let Some(next) = fewer(items, items * MAX_TEXT_BYTES) {
            assert!((next as usize) < items);
            items = next as usize;
            rounds += 1;
        }
        assert_eq!((items, rounds), (1, 1));
    }
}
