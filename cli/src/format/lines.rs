//! Lines of a file in bounded memory. It is separate from `BufRead::lines`, which
//! holds a line of any length and stops at the first one that is not text.

use std::io::{self, BufRead, Read};

use super::Refusal;

/// What some editors put before UTF-8 text.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

/// The longest line, in bytes: the largest content with every byte escaped as
/// `\u00XX` is 12 MiB, and its metadata comes on top.
pub(crate) const MAX_LINE_BYTES: usize = 16 << 20;

/// One line with its number, from 1. Blank lines are left out but counted.
pub(crate) struct Lines<R> {
    input: R,
    number: u64,
    max_bytes: usize,
}

impl<R: BufRead> Lines<R> {
    /// The lines of an input.
    pub(crate) fn new(input: R) -> Self {
        Self::with_max(input, MAX_LINE_BYTES)
    }

    fn with_max(input: R, max_bytes: usize) -> Self {
        Self {
            input,
            number: 0,
            max_bytes,
        }
    }

    fn next_line(&mut self) -> io::Result<Option<Result<String, Refusal>>> {
        let mut bytes = Vec::new();
        let limit = self.max_bytes as u64 + 1;
        if self
            .input
            .by_ref()
            .take(limit)
            .read_until(b'\n', &mut bytes)?
            == 0
        {
            return Ok(None);
        }
        self.number += 1;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        } else if bytes.len() > self.max_bytes {
            self.skip_line()?;
            return Ok(Some(Err(Refusal::TooLong {
                max_bytes: self.max_bytes,
            })));
        }
        let bytes = match self.number {
            1 => bytes.strip_prefix(BOM).map(<[u8]>::to_vec).unwrap_or(bytes),
            _ => bytes,
        };
        Ok(Some(String::from_utf8(bytes).map_err(|_| Refusal::NotText)))
    }

    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Ok(());
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let length = buffer.len();
            self.input.consume(end.map_or(length, |end| end + 1));
            if end.is_some() {
                return Ok(());
            }
        }
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = io::Result<(u64, Result<String, Refusal>)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.next_line() {
                Ok(None) => return None,
                Ok(Some(Ok(text))) if text.trim().is_empty() => {}
                Ok(Some(line)) => return Some(Ok((self.number, line))),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(input: &[u8], max_bytes: usize) -> Vec<(u64, Result<String, String>)> {
        Lines::with_max(input, max_bytes)
            .map(|line| line.unwrap())
            .map(|(number, line)| (number, line.map_err(|refusal| refusal.to_string())))
            .collect()
    }

    #[test]
    fn blank_lines_count_and_the_last_line_needs_no_end() {
        let lines = numbered(b"\xef\xbb\xbfa\r\n\n  \nb", 10);
        assert_eq!(lines, [(1, Ok("a\r".to_owned())), (4, Ok("b".to_owned()))]);
    }

    #[test]
    fn a_line_too_long_or_not_text_is_one_refusal_and_the_next_is_read() {
        let lines = numbered(b"12345\n123456\n\xff\nab", 5);
        let refused: Vec<_> = lines
            .iter()
            .map(|(number, line)| (*number, line.is_err()))
            .collect();
        assert_eq!(refused, [(1, false), (2, true), (3, true), (4, false)]);
    }

    #[test]
    fn a_last_line_too_long_ends_the_file() {
        assert_eq!(numbered(b"1234567890", 3).len(), 1);
    }
}
