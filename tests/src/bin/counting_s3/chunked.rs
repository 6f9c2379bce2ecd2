//! Bodies in AWS's own chunks, which newer SDKs send: a length in hexadecimal, perhaps a
//! signature, the bytes, and at the end trailers that are of no concern here.

use axum::body::Bytes;

/// The content of a chunked body, if it is well formed.
pub(crate) fn decode(body: &[u8]) -> Option<Bytes> {
    let mut content = Vec::with_capacity(body.len());
    let mut rest = body;
    loop {
        let end = rest.windows(2).position(|pair| pair == b"\r\n")?;
        let (line, after) = rest.split_at_checked(end)?;
        let length = line.split(|byte| *byte == b';').next()?;
        let length = usize::from_str_radix(std::str::from_utf8(length).ok()?, 16).ok()?;
        if length == 0 {
            return Some(content.into());
        }
        let (chunk, after) = after.get(2..)?.split_at_checked(length)?;
        content.extend_from_slice(chunk);
        rest = after.strip_prefix(b"\r\n")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_joined_and_trailers_left_out() {
        let body = b"3;chunk-signature=ab\r\nabc\r\n2\r\nde\r\n0\r\nx-amz-checksum-crc32:x\r\n\r\n";
        assert_eq!(decode(body).as_deref(), Some(b"abcde".as_slice()));
        assert_eq!(decode(b"5\r\nabc\r\n0\r\n\r\n"), None);
        assert_eq!(decode(b""), None);
    }
}
