//! Buckets: the parts of a blob of posting lists, each read by one range.
//!
//! A bucket is its length and checksum and then its entries, ascending by hash, so a
//! blob can be read in order without a directory. It must not know where it lies.

use bytes::Bytes;

use super::PostingsError;
use super::hash::TermHash;
use super::list::{Form, List};
use super::varint::Reader;

/// The length of the body and its CRC-32, both little-endian.
pub(super) const FRAME: usize = 8;

const PART: &str = "a bucket";

/// A bucket that has been fetched and checked.
#[derive(Debug, Clone)]
pub struct Bucket {
    body: Bytes,
}

impl Bucket {
    /// Checks the bytes of one bucket, from its first on; those after it are ignored.
    pub fn open(bytes: &Bytes) -> Result<Self, PostingsError> {
        let truncated = PostingsError::Truncated { part: PART };
        let Some((len, expected)) = frame(bytes) else {
            return Err(truncated);
        };
        if bytes.len() - FRAME < len {
            return Err(truncated);
        }
        let body = bytes.slice(FRAME..FRAME + len);
        let found = crc32fast::hash(&body);
        if found != expected {
            return Err(PostingsError::Checksum { expected, found });
        }
        Ok(Self { body })
    }

    /// The list of a term, if the bucket has it.
    pub fn find(&self, term: TermHash) -> Result<Option<List>, PostingsError> {
        let mut entries = self.entries()?;
        while let Some(found) = entries.next_hash()? {
            if found == term {
                return entries.list().map(Some);
            }
            if found > term {
                return Ok(None);
            }
            entries.skip()?;
        }
        Ok(None)
    }

    pub(super) fn entries(&self) -> Result<Entries, PostingsError> {
        let mut reader = Reader::new(PART, &self.body);
        let left = reader.u64()?;
        Ok(Entries {
            at: reader.position(),
            body: self.body.clone(),
            left,
            hash: None,
        })
    }
}

/// The length of the body and its checksum, once there are bytes enough.
pub(super) fn frame(bytes: &[u8]) -> Option<(usize, u32)> {
    let (len, rest) = bytes.split_first_chunk::<4>()?;
    let (crc, _) = rest.split_first_chunk::<4>()?;
    let len = usize::try_from(u32::from_le_bytes(*len)).ok()?;
    Some((len, u32::from_le_bytes(*crc)))
}

/// The entries of a bucket: after each [`Self::next_hash`], either take the list or
/// skip it.
#[derive(Debug)]
pub(super) struct Entries {
    body: Bytes,
    at: usize,
    left: u64,
    hash: Option<u64>,
}

impl Entries {
    pub(super) fn next_hash(&mut self) -> Result<Option<TermHash>, PostingsError> {
        let mut reader = Reader::from(PART, &self.body, self.at);
        let Some(left) = self.left.checked_sub(1) else {
            if reader.is_at_end() {
                return Ok(None);
            }
            return Err(reader.malformed());
        };
        self.left = left;
        let delta = reader.u64()?;
        let hash = self
            .hash
            .unwrap_or_default()
            .checked_add(delta)
            .ok_or_else(|| reader.malformed())?;
        self.hash = Some(hash);
        self.at = reader.position();
        Ok(Some(TermHash::from_u64(hash)))
    }

    pub(super) fn list(&mut self) -> Result<List, PostingsError> {
        let (list, end) = List::parse(self.form(), &self.body, self.at)?;
        self.at = end;
        Ok(list)
    }

    fn skip(&mut self) -> Result<(), PostingsError> {
        self.at = List::skip(self.form(), &self.body, self.at)?;
        Ok(())
    }

    fn form(&self) -> Form {
        Form::of(TermHash::from_u64(self.hash.unwrap_or_default()))
    }
}
