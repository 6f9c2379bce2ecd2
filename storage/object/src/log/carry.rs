//! Which earlier entries an entry repeats, and which objects a reader of a
//! tail must therefore fetch. Pure arithmetic on a listing: writers and
//! readers must agree on it without talking to each other.

#[cfg(test)]
mod tests;

use crate::key::Seq;

/// Entries repeat only others of their own block of so many numbers.
pub const BLOCK: u64 = 16;
/// An object larger than this many bytes is repeated by no later one.
pub const BUDGET_BYTES: u64 = 64 * 1024;

/// The first number of the block that `seq` lies in.
pub fn block_start(seq: Seq) -> Seq {
    Seq(seq.0.saturating_sub(1) / BLOCK * BLOCK + 1)
}

/// Whether the entry after `seq` repeats nothing, whatever came before:
/// `seq` ends its block, its object is over the budget, or it is a checkpoint
/// (which stands for everything before it, and is not worth repeating).
pub fn ends_run(seq: Seq, object_bytes: u64, is_checkpoint: bool) -> bool {
    seq.0.is_multiple_of(BLOCK) || object_bytes > BUDGET_BYTES || is_checkpoint
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
/// `have`: of each block those over the budget, and the last.
pub fn to_fetch(run: &[(Seq, u64)], have: Seq) -> Vec<Seq> {
    let following = run.iter().skip(1).map(Some).chain([None]);
    run.iter()
        .zip(following)
        .filter(|((seq, bytes), next)| {
            let last_of_block =
                next.is_none_or(|(next, _)| block_start(*next) != block_start(*seq));
            *seq > have && (*bytes > BUDGET_BYTES || last_of_block)
        })
        .map(|((seq, _), _)| *seq)
        .collect()
}
