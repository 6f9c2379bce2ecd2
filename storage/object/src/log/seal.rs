//! A checksum inside an Arrow file. Readers of the format follow the offsets in
//! its footer, so bytes between the last batch and the footer disturb none of
//! them. It is checked before Arrow parses anything, because its reader panics
//! on some damaged files.

use bytes::Bytes;

/// The footer's length (4 bytes) and the closing magic.
const TRAILER_BYTES: usize = 10;
const MAGIC: &[u8] = b"ARROW1";
/// Marks the checksum: these 8 bytes, a CRC-32 of all other bytes (little
/// endian), 4 zero bytes.
const MARK: &[u8; 8] = b"OSTRACRC";
const SEAL_BYTES: usize = 16;

/// Why a file is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Broken {
    #[error("it does not end as an Arrow file")]
    NoTrailer,
    #[error("it has no checksum")]
    NoSeal,
    #[error("its checksum is {written:08x}, its content has {computed:08x}")]
    Differs { written: u32, computed: u32 },
}

/// Puts the checksum before the footer.
pub(super) fn seal(file: &[u8]) -> Result<Bytes, Broken> {
    let at = footer_start(file)?;
    let (body, footer) = file.split_at_checked(at).ok_or(Broken::NoTrailer)?;
    let crc = checksum(body, footer);
    let mut sealed = Vec::with_capacity(file.len() + SEAL_BYTES);
    sealed.extend_from_slice(body);
    sealed.extend_from_slice(MARK);
    sealed.extend_from_slice(&crc.to_le_bytes());
    sealed.extend_from_slice(&[0; 4]);
    sealed.extend_from_slice(footer);
    Ok(sealed.into())
}

/// Whether the file is as it was sealed.
pub(super) fn check(file: &[u8]) -> Result<(), Broken> {
    let at = footer_start(file)?;
    let start = at.checked_sub(SEAL_BYTES).ok_or(Broken::NoSeal)?;
    let (body, rest) = file.split_at_checked(start).ok_or(Broken::NoSeal)?;
    let (seal, footer) = rest.split_at_checked(SEAL_BYTES).ok_or(Broken::NoSeal)?;
    let written = seal
        .strip_prefix(MARK)
        .and_then(|rest| rest.strip_suffix(&[0; 4]))
        .and_then(|crc| <[u8; 4]>::try_from(crc).ok())
        .map(u32::from_le_bytes)
        .ok_or(Broken::NoSeal)?;
    let computed = checksum(body, footer);
    if written == computed {
        Ok(())
    } else {
        Err(Broken::Differs { written, computed })
    }
}

fn checksum(body: &[u8], footer: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(body);
    hasher.update(footer);
    hasher.finalize()
}

fn footer_start(file: &[u8]) -> Result<usize, Broken> {
    let (_, trailer) = file
        .len()
        .checked_sub(TRAILER_BYTES)
        .and_then(|at| file.split_at_checked(at))
        .ok_or(Broken::NoTrailer)?;
    let length = trailer
        .strip_suffix(MAGIC)
        .and_then(|length| <[u8; 4]>::try_from(length).ok())
        .and_then(|length| usize::try_from(i32::from_le_bytes(length)).ok())
        .ok_or(Broken::NoTrailer)?;
    (file.len() - TRAILER_BYTES)
        .checked_sub(length)
        .ok_or(Broken::NoTrailer)
}
