//! An object that goes up in parts appears whole at its end and not before, and one that
//! is given up never does. These are not for the Worker, whose binding has no parts.

use bytes::Bytes;
use object_store::{Error, ObjectStoreExt};

use crate::Ground;
use crate::expect::{Failure, done, refused, same};

/// The least that S3 takes for a part that is not the last.
const PART_BYTES: usize = 5 * 1024 * 1024;

fn part(letter: u8, length: usize) -> Bytes {
    Bytes::from(vec![letter; length])
}

pub(crate) async fn an_upload_in_parts_appears_whole_at_its_end(
    ground: Ground,
) -> Result<(), Failure> {
    let path = ground.path("object");
    let mut upload = done("begin", ground.store.put_multipart(&path).await)?;
    let first = upload.put_part(part(b'a', PART_BYTES).into());
    let second = upload.put_part(part(b'b', PART_BYTES).into());
    let last = upload.put_part(part(b'c', 7).into());
    // They may arrive in any order.
    let (last, second, first) = futures::join!(last, second, first);
    for sent in [first, second, last] {
        done("part", sent)?;
    }
    let early = ground.store.head(&path).await;
    let not_found = |error: &Error| matches!(error, Error::NotFound { .. });
    refused("head before the end", early, "NotFound", not_found)?;
    done("end", upload.complete().await)?;
    let answer = done("get", ground.store.get(&path).await)?;
    let got = done("body", answer.bytes().await)?;
    let wanted = [
        part(b'a', PART_BYTES),
        part(b'b', PART_BYTES),
        part(b'c', 7),
    ]
    .concat();
    same("length", &got.len(), &wanted.len())?;
    same("content", &(got == wanted), &true)
}

pub(crate) async fn an_upload_that_is_given_up_leaves_nothing(
    ground: Ground,
) -> Result<(), Failure> {
    let path = ground.path("object");
    let mut upload = done("begin", ground.store.put_multipart(&path).await)?;
    let sent = upload.put_part(part(b'a', PART_BYTES).into()).await;
    done("part", sent)?;
    done("abort", upload.abort().await)?;
    let not_found = |error: &Error| matches!(error, Error::NotFound { .. });
    let after = ground.store.head(&path).await;
    refused("head after the abort", after, "NotFound", not_found)
}
