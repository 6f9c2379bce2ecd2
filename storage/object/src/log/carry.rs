//! Which earlier entries an entry repeats, and which objects a reader of a
//! tail must therefore fetch. Pure arithmetic on a listing: writers and
//! readers must agree on it without talking to each other.
//!
//! There are two rules. Within a block of 16, each entry repeats the small ones before
//! it. An entry that ends a large block of 64 repeats besides what the objects before
//! it hold that a reader of the large block would have to fetch. A log that was written
//! when there was only the first rule is read all the same: what turns out to be
//! missing is fetched by that rule.

#[cfg(test)]
mod tests;

use crate::key::Seq;

/// Entries repeat only others of their own block of so many numbers, but for those
/// that end a large block.
pub const BLOCK: u64 = 16;
/// An object larger than this many bytes is repeated by no later one of its block.
pub const BUDGET_BYTES: u64 = 64 * 1024;
/// The last entry of so many numbers repeats the others. It is a multiple of [`BLOCK`].
pub const LARGE_BLOCK: u64 = 64;
/// What the last entry of a large block repeats lies in objects of no more than this many
/// bytes together. An entry pays a 64th of it at most. It is enough for 64 entries of a
/// record with a vector of 3,072 dimensions.
pub const LARGE_BUDGET_BYTES: u64 = 1024 * 1024;
/// An object larger than this many bytes is repeated by none. As it repeats no more than
/// [`BUDGET_BYTES`] itself, its own entry is larger than those.
pub const LARGE_OBJECT_BYTES: u64 = 2 * BUDGET_BYTES;

/// The first number of the block that `seq` lies in.
pub fn block_start(seq: Seq) -> Seq {
    start(seq, BLOCK)
}

/// The first number of the large block that `seq` lies in.
pub fn large_block_start(seq: Seq) -> Seq {
    start(seq, LARGE_BLOCK)
}

/// Whether `seq` ends a large block.
pub fn ends_large_block(seq: Seq) -> bool {
    seq.0.is_multiple_of(LARGE_BLOCK)
}

fn start(seq: Seq, block: u64) -> Seq {
    Seq(seq.0.saturating_sub(1) / block * block + 1)
}

/// Whether the entry after `seq` repeats nothing by the rule for blocks, whatever came
/// before: `seq` ends its block, its object is over the budget, or it is a checkpoint
/// (which stands for everything before it, and is not worth repeating).
pub fn ends_run(seq: Seq, object_bytes: u64, is_checkpoint: bool) -> bool {
    seq.0.is_multiple_of(BLOCK) || object_bytes > BUDGET_BYTES || is_checkpoint
}

/// Of how many of the objects that end a run in a large block its last entry repeats what
/// they hold. Their sizes come from the newest on; what is repeated is always the newest.
pub fn repeated(run_ends: impl Iterator<Item = u64>) -> usize {
    run_ends
        .scan(0_u64, |sum, bytes| {
            *sum = sum.saturating_add(bytes);
            (bytes <= LARGE_OBJECT_BYTES && *sum <= LARGE_BUDGET_BYTES).then_some(())
        })
        .count()
}

/// The longest run of consecutive numbers that ends with the last of a
/// listing. What lies before a gap is void: its neighbours were cleaned up.
pub fn dense_suffix(listed: &[(Seq, u64)]) -> &[(Seq, u64)] {
    let breaks = listed
        .windows(2)
        .rposition(|pair| !matches!(pair, [(a, _), (b, _)] if a.next() == *b));
    let start = breaks.map_or(0, |at| at + 1);
    listed.get(start..).unwrap_or_default()
}

/// The objects of a dense run that together hold all of its entries above
/// `have`, as far as a listing tells: of each block those over the budget, and the
/// last, but for those that the last of a large block repeats.
pub fn to_fetch(run: &[(Seq, u64)], have: Seq) -> Vec<Seq> {
    let following = run.iter().skip(1).map(Some).chain([None]);
    let run_ends = run.iter().zip(following).filter(|((seq, bytes), next)| {
        *bytes > BUDGET_BYTES
            || next.is_none_or(|(next, _)| block_start(*next) != block_start(*seq))
    });
    let mut wanted: Vec<(Seq, u64)> = Vec::new();
    for ((seq, bytes), _) in run_ends {
        if ends_large_block(*seq) {
            let before = wanted
                .iter()
                .rev()
                .take_while(|(before, _)| large_block_start(*before) == large_block_start(*seq))
                .map(|(_, bytes)| *bytes);
            let count = repeated(before.clone());
            let sum: u64 = before.take(count).sum();
            // One that is too small for that was written by the first rule alone. Each
            // object has a header of its own, hence the half.
            if bytes.saturating_mul(2) >= sum {
                wanted.truncate(wanted.len().saturating_sub(count));
            }
        }
        wanted.push((*seq, *bytes));
    }
    wanted
        .into_iter()
        .map(|(seq, _)| seq)
        .filter(|seq| *seq > have)
        .collect()
}

/// The objects that hold the entries `missing`, ascending, when a large block did not
/// repeat what it should have, or no listing said what there is: by the rule for blocks.
pub fn to_repair(listed: &[(Seq, u64)], missing: &[Seq]) -> Vec<Seq> {
    let following = missing.iter().skip(1).map(Some).chain([None]);
    missing
        .iter()
        .zip(following)
        .filter(|(seq, next)| {
            let bytes = listed
                .binary_search_by_key(seq, |(listed, _)| listed)
                .ok()
                .and_then(|at| listed.get(at))
                .map_or(0, |(_, bytes)| *bytes);
            bytes > BUDGET_BYTES || next.is_none_or(|next| block_start(*next) != block_start(**seq))
        })
        .map(|(seq, _)| *seq)
        .collect()
}
