//! Whole numbers in as many bytes as they need: little-endian groups of seven bits
//! (LEB128), and a reader that checks every step.

use super::PostingsError;

/// Appends a number.
pub(super) fn push(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// Reads a part from its start on.
#[derive(Debug, Clone)]
pub(super) struct Reader<'a> {
    part: &'static str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Reads these bytes; `part` names them in errors.
    pub(super) fn new(part: &'static str, bytes: &'a [u8]) -> Self {
        Self { part, bytes, at: 0 }
    }

    /// Reads these bytes from a place on.
    pub(super) fn from(part: &'static str, bytes: &'a [u8], at: usize) -> Self {
        Self { part, bytes, at }
    }

    /// How many bytes have been read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    pub(super) fn u8(&mut self) -> Result<u8, PostingsError> {
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        byte.ok_or(PostingsError::Truncated { part: self.part })
    }

    pub(super) fn u64(&mut self) -> Result<u64, PostingsError> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let group = u64::from(byte & 0x7f);
            if shift == 63 && group > 1 {
                break;
            }
            value |= group << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.malformed())
    }

    pub(super) fn u32(&mut self) -> Result<u32, PostingsError> {
        u32::try_from(self.u64()?).map_err(|_| self.malformed())
    }

    pub(super) fn usize(&mut self) -> Result<usize, PostingsError> {
        usize::try_from(self.u64()?).map_err(|_| self.malformed())
    }

    /// Passes over so many bytes and returns them.
    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8], PostingsError> {
        let truncated = PostingsError::Truncated { part: self.part };
        let Some(end) = self.at.checked_add(len) else {
            return Err(truncated);
        };
        let bytes = self.bytes.get(self.at..end).ok_or(truncated)?;
        self.at = end;
        Ok(bytes)
    }

    pub(super) fn malformed(&self) -> PostingsError {
        PostingsError::Malformed { part: self.part }
    }
}
