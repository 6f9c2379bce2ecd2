//! Proof, before the first write, that a store honours create-only: one after
//! the other and in a race, because servers exist that pass the first and fail
//! the second. Without it an acknowledged commit could be overwritten.

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;

use crate::error::{Corrupt, StoreError};
use crate::io::{Io, Request, Response};
use crate::key::{InvalidName, Key, ProbeId};
use crate::log::codec;

/// Creators in the race.
const RACERS: u64 = 8;
/// Probes that may fail to come to a result.
const ATTEMPTS: u32 = 4;
/// The wait between them.
const PAUSE_MS: u64 = 250;

/// The store cannot be written to safely, or it is not known whether it can.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The store lets a create replace an object.
    #[error(
        "the store does not honour create-only writes (If-None-Match: *): {seen}; \
         use a store that does, such as S3, R2, MinIO or a local folder"
    )]
    NotCreateOnly {
        /// What it did.
        seen: Seen,
    },
    /// The store failed.
    #[error("the create-only probe could not be carried out")]
    Store(#[from] StoreError),
    /// The marker could not be encoded.
    #[error("the create-only probe could not be written")]
    Encode(#[from] Corrupt),
    /// The ids port gave no usable name.
    #[error("the create-only probe has no name")]
    Name(#[from] InvalidName),
    /// Each attempt ended in conflicts or without an answer.
    #[error("the create-only probe came to no result in {attempts} attempts: try again later")]
    Inconclusive {
        /// How many.
        attempts: u32,
    },
}

/// What a store did that it must not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A second create of one name succeeded.
    SecondCreate,
    /// More than one racer was told that it had won.
    ManyWinners {
        /// So many.
        winners: u64,
        /// Of so many.
        racers: u64,
    },
    /// The object does not hold what the winner wrote.
    OtherContent,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SecondCreate => f.write_str("a second create of one name succeeded"),
            Self::ManyWinners { winners, racers } => {
                write!(
                    f,
                    "{winners} of {racers} racing creates of one name succeeded"
                )
            }
            Self::OtherContent => f.write_str("the object does not hold what its creator wrote"),
        }
    }
}

/// Makes sure that the store honours create-only. The result is remembered in
/// the store and in this process, so that all calls but the first are cheap.
///
/// # Errors
///
/// See [`ProbeError`]. Nothing may be written after one.
pub async fn prove_create_only(io: &Io) -> Result<(), ProbeError> {
    let proven = &io.store().proven;
    if proven.load(Ordering::Acquire) {
        return Ok(());
    }
    match io.one(Request::Get { key: Key::Proven }).await {
        Ok(_) => {
            proven.store(true, Ordering::Release);
            return Ok(());
        }
        Err(StoreError::NotFound { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    for _ in 0..ATTEMPTS {
        if attempt(io).await? == Verdict::Proven {
            let key = Key::Proven;
            let bytes = codec::marker_file(&key, None)?;
            match io.one(Request::Create { key, bytes }).await {
                // Without the marker the next process probes once more.
                Ok(_)
                | Err(StoreError::AlreadyExists { .. } | StoreError::UnknownOutcome { .. }) => {}
                Err(error) => return Err(error.into()),
            }
            proven.store(true, Ordering::Release);
            return Ok(());
        }
        io.clock().sleep(Duration::from_millis(PAUSE_MS)).await;
    }
    Err(ProbeError::Inconclusive { attempts: ATTEMPTS })
}

#[derive(PartialEq, Eq)]
enum Verdict {
    Proven,
    Inconclusive,
}

async fn attempt(io: &Io) -> Result<Verdict, ProbeError> {
    let sequential = Key::Probe(name(io)?);
    let race = Key::Probe(name(io)?);
    let verdict = in_sequence(io, &sequential).await;
    let verdict = match verdict {
        Ok(Verdict::Proven) => in_race(io, &race).await,
        other => other,
    };
    // Leftovers are harmless; a failure to remove them is no failure of the probe.
    let _ = io
        .wave(vec![
            Request::Delete { key: sequential },
            Request::Delete { key: race },
        ])
        .await;
    verdict
}

fn name(io: &Io) -> Result<ProbeId, InvalidName> {
    format!("{:032x}", io.ids().random()).parse()
}

async fn in_sequence(io: &Io, key: &Key) -> Result<Verdict, ProbeError> {
    let first = create(io, key, 1).await?;
    let second = create(io, key, 2).await?;
    match (first, second) {
        (Answer::Won, Answer::Exists) => content(io, key, &codec::marker_file(key, Some(1))?).await,
        (_, Answer::Won) if first == Answer::Won => Err(ProbeError::NotCreateOnly {
            seen: Seen::SecondCreate,
        }),
        _ => Ok(Verdict::Inconclusive),
    }
}

async fn in_race(io: &Io, key: &Key) -> Result<Verdict, ProbeError> {
    let contents = (0..RACERS)
        .map(|racer| codec::marker_file(key, Some(racer)))
        .collect::<Result<Vec<Bytes>, _>>()?;
    let requests = contents
        .iter()
        .map(|bytes| Request::Create {
            key: key.clone(),
            bytes: bytes.clone(),
        })
        .collect();
    let mut winners = Vec::new();
    let mut clear = true;
    for (answer, bytes) in io.wave(requests).await.into_iter().zip(contents) {
        match sort(answer)? {
            Answer::Won => winners.push(bytes),
            Answer::Exists => {}
            Answer::Unknown => clear = false,
        }
    }
    match winners.as_slice() {
        [winner] => content(io, key, winner).await,
        // All were refused as conflicts, or the winner's answer was lost.
        [] => Ok(Verdict::Inconclusive),
        many => Err(ProbeError::NotCreateOnly {
            seen: Seen::ManyWinners {
                winners: many.len() as u64,
                racers: RACERS,
            },
        }),
    }
    .map(|verdict| {
        if clear {
            verdict
        } else {
            Verdict::Inconclusive
        }
    })
}

async fn content(io: &Io, key: &Key, wanted: &Bytes) -> Result<Verdict, ProbeError> {
    let found = io.one(Request::Get { key: key.clone() }).await?;
    if found.into_bytes() == *wanted {
        Ok(Verdict::Proven)
    } else {
        Err(ProbeError::NotCreateOnly {
            seen: Seen::OtherContent,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Won,
    Exists,
    Unknown,
}

async fn create(io: &Io, key: &Key, content: u64) -> Result<Answer, ProbeError> {
    let bytes = codec::marker_file(key, Some(content))?;
    let key = key.clone();
    sort(io.one(Request::Create { key, bytes }).await)
}

fn sort(answer: Result<Response, StoreError>) -> Result<Answer, ProbeError> {
    match answer {
        Ok(_) => Ok(Answer::Won),
        Err(StoreError::AlreadyExists { .. }) => Ok(Answer::Exists),
        Err(StoreError::UnknownOutcome { .. }) => Ok(Answer::Unknown),
        Err(error) => Err(error.into()),
    }
}
