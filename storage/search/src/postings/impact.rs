//! Impacts: what the postings of a block can score at most, kept so that the bound holds
//! for every collection.
//!
//! BM25 grows with the frequency and falls with the length, so the pairs that no other
//! pair beats in both bound the block whatever the weight, the average length and the
//! parameters are (Ding and Suel, SIGIR 2011, store the maximum itself, which statistics
//! that change make wrong). A bound may be less than a score by a rounding; callers
//! leave room for it.

use super::PostingsError;
use super::list::Posting;
use super::score::Scoring;
use super::varint::{self, Reader};

/// A frequency and a length that together bound others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Impact {
    pub(super) tf: u32,
    pub(super) length: u32,
}

/// The pairs that no other pair beats, both parts ascending.
pub(super) fn of(postings: impl Iterator<Item = Posting>) -> Vec<Impact> {
    let mut pairs: Vec<(u32, u32)> = postings
        .map(|posting| (posting.length, u32::MAX - posting.tf))
        .collect();
    pairs.sort_unstable();
    let mut impacts: Vec<Impact> = Vec::new();
    for (length, rest) in pairs {
        let tf = u32::MAX - rest;
        if impacts.last().is_none_or(|best| tf > best.tf) {
            impacts.push(Impact { tf, length });
        }
    }
    impacts
}

/// The most that a posting under these impacts scores with this weight.
pub(super) fn bound(impacts: &[Impact], scoring: Scoring, weight: f64) -> f64 {
    impacts
        .iter()
        .map(|impact| scoring.score(weight, impact.tf, impact.length))
        .fold(0.0, f64::max)
}

/// Appends the impacts of a block, whose first length is known from its header.
pub(super) fn push(out: &mut Vec<u8>, impacts: &[Impact]) {
    varint::push(out, impacts.len() as u64);
    let mut before: Option<Impact> = None;
    for impact in impacts {
        let (tf, length) = before.map_or((0, impact.length), |before| (before.tf, before.length));
        varint::push(out, u64::from(impact.tf - tf));
        if before.is_some() {
            varint::push(out, u64::from(impact.length - length));
        }
        before = Some(*impact);
    }
}

/// Reads the impacts of a block of that least length, and appends them.
pub(super) fn read(
    reader: &mut Reader<'_>,
    least: u32,
    into: &mut Vec<Impact>,
) -> Result<(), PostingsError> {
    let count = reader.u32()?;
    let (mut tf, mut length) = (0_u32, least);
    for index in 0..count {
        tf = add(tf, reader)?;
        if index > 0 {
            length = add(length, reader)?;
        }
        into.push(Impact { tf, length });
    }
    Ok(())
}

fn add(to: u32, reader: &mut Reader<'_>) -> Result<u32, PostingsError> {
    let delta = reader.u32()?;
    to.checked_add(delta).ok_or_else(|| reader.malformed())
}
