//! Cuts long content into overlapping windows that a model can read whole. Cuts
//! fall on white space where there is some, and always on a character boundary.

/// A window of a text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// How many windows one memory may have. Content of the largest size fits: what
/// lies past them is found by its words alone.
pub const MAX_CHUNKS: usize = 64;

/// Windows of at most `window` bytes that overlap by an eighth.
pub fn chunks(text: &str, window: usize) -> Vec<Span> {
    let window = window.max(64);
    let mut spans = Vec::new();
    let mut start = 0;
    while start < text.len() && spans.len() < MAX_CHUNKS {
        let end = if text.len() - start <= window {
            text.len()
        } else {
            cut(text, start, start + window)
        };
        spans.push(Span { start, end });
        if end == text.len() {
            break;
        }
        // Never back to the start of this window, so that the walk always ends.
        start = cut(text, start, end - window / 8).max(start + 1);
        while !text.is_char_boundary(start) {
            start += 1;
        }
    }
    spans
}

/// The last good place to cut in `(start, limit]`.
fn cut(text: &str, start: usize, limit: usize) -> usize {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let floor = start + (end - start) / 2;
    let within = text
        .get(floor_boundary(text, floor)..end)
        .unwrap_or_default();
    match within.rfind(char::is_whitespace) {
        Some(at) if floor_boundary(text, floor) + at > start => floor_boundary(text, floor) + at,
        _ => end,
    }
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a10_windows_cover_long_text_and_fall_on_boundaries() {
        for text in [
            "word ".repeat(5000),
            "é".repeat(9001),
            "🟡a".repeat(3000),
            "x".repeat(40_000),
        ] {
            let spans = chunks(&text, 1000);
            assert_eq!(spans.first().unwrap().start, 0);
            for pair in spans.windows(2) {
                assert!(pair[1].start > pair[0].start && pair[1].start <= pair[0].end);
            }
            for span in &spans {
                assert!(span.end - span.start <= 1000);
                assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end));
            }
            if spans.len() < MAX_CHUNKS {
                assert_eq!(spans.last().unwrap().end, text.len());
            }
        }
    }

    #[test]
    fn short_and_empty_texts() {
        assert_eq!(chunks("hello", 1000), [Span { start: 0, end: 5 }]);
        assert_eq!(chunks("", 1000), []);
    }
}
