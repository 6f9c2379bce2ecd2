//! Which lists a query reads: the most promising ones that fit a budget of bytes and
//! a budget of range reads.
//!
//! A range read costs a request and takes neighbouring lists whole, so the choice is
//! of intervals, not of lists: at most R disjoint intervals of the file with the
//! highest total worth. A price per byte turns the byte budget into a weight, the
//! best intervals for a price come from one pass of dynamic programming, and the
//! price is found by bisection.

use super::centroids::RankedList;

/// What a query may read of an index's codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Bytes of codes, the gaps between wanted lists included.
    pub bytes: u64,
    /// Range reads.
    pub ranges: usize,
}

/// Neighbouring lists that are read together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The first list.
    pub start: usize,
    /// One past the last list.
    pub end: usize,
}

/// Bisections of the price; each halves its logarithm's interval.
const BISECTIONS: usize = 22;

/// Rank at which a list is worth half of the first one, and the power with which worth falls.
const HALF_RANK: f64 = 3.0;
const POWER: f64 = 2.0;

/// What the list at this place of the ranking is worth.
fn worth(rank: usize) -> f64 {
    (1.0 + rank as f64 / HALF_RANK).powf(-POWER)
}

/// The runs to read, in file order. `sizes` holds the bytes of every list in file
/// order. The most promising list that is not empty is read even where it alone
/// breaks the budget of bytes.
pub fn plan(ranked: &[RankedList], sizes: &[u64], effort: Effort) -> Vec<Run> {
    let mut worths = vec![0.0; sizes.len()];
    let mut rank = 0;
    let mut first = None;
    for wanted in ranked {
        let (Some(worth_of), Some(size)) = (worths.get_mut(wanted.list), sizes.get(wanted.list))
        else {
            continue;
        };
        if *size > 0 {
            *worth_of = worth(rank);
            first.get_or_insert(wanted.list);
            rank += 1;
        }
    }
    let Some(first) = first else {
        return Vec::new();
    };
    let runs = choose(&worths, sizes, effort);
    if runs.is_empty() {
        return vec![Run {
            start: first,
            end: first + 1,
        }];
    }
    runs
}

fn bytes_of(run: Run, sizes: &[u64]) -> u64 {
    sizes
        .get(run.start..run.end)
        .unwrap_or_default()
        .iter()
        .sum()
}

fn choose(worths: &[f64], sizes: &[u64], effort: Effort) -> Vec<Run> {
    let total: u64 = sizes.iter().sum();
    if total <= effort.bytes && effort.ranges > 0 {
        return intervals(worths, sizes, 0.0, effort.ranges);
    }
    // At the high price nothing is worth its bytes; at the low one everything is.
    let (mut low, mut high) = (1e-12_f64, 1.0_f64);
    let mut best = Vec::new();
    for _ in 0..BISECTIONS {
        let price = (low * high).sqrt();
        let runs = intervals(worths, sizes, price, effort.ranges);
        let bytes: u64 = runs.iter().map(|run| bytes_of(*run, sizes)).sum();
        if bytes <= effort.bytes {
            best = runs;
            high = price;
        } else {
            low = price;
        }
    }
    fill(&mut best, worths, sizes, effort.bytes);
    best
}

/// At most `ranges` disjoint intervals with the highest sum of worth less price times
/// bytes. None of them is worth less than nothing.
fn intervals(worths: &[f64], sizes: &[u64], price: f64, ranges: usize) -> Vec<Run> {
    // closed[r] is the best sum with at most r intervals, all ended; open[r] the best
    // with the r-th still going on.
    let mut closed = vec![0.0_f64; ranges + 1];
    let mut open = vec![f64::NEG_INFINITY; ranges + 1];
    // Per list and number of intervals: bit 0, this list starts one; bit 1, the best
    // ended sum ends here.
    let mut choices = vec![0_u8; worths.len() * ranges];
    for (row, (worth, size)) in choices
        .chunks_exact_mut(ranges.max(1))
        .zip(worths.iter().zip(sizes))
    {
        let weight = worth - price * *size as f64;
        let mut before = closed.first().copied().unwrap_or(0.0);
        for (choice, (open, closed)) in row
            .iter_mut()
            .zip(open.iter_mut().skip(1).zip(closed.iter_mut().skip(1)))
        {
            let starts = before > *open;
            *open = weight + if starts { before } else { *open };
            before = *closed;
            let ends = *open > *closed;
            if ends {
                *closed = *open;
            }
            *choice = u8::from(starts) | (u8::from(ends) << 1);
        }
    }
    trace(&choices, ranges)
}

/// Walks the choices back from the last list.
fn trace(choices: &[u8], ranges: usize) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut left = ranges;
    let mut end: Option<usize> = None;
    for (list, row) in choices.chunks_exact(ranges.max(1)).enumerate().rev() {
        let Some(choice) = left.checked_sub(1).and_then(|r| row.get(r)) else {
            break;
        };
        if end.is_none() && choice & 2 != 0 {
            end = Some(list + 1);
        }
        if let Some(stop) = end
            && choice & 1 != 0
        {
            runs.push(Run {
                start: list,
                end: stop,
            });
            end = None;
            left -= 1;
        }
    }
    runs.reverse();
    runs
}

/// Lengthens runs by the neighbour that is worth most for its bytes while any fits.
fn fill(runs: &mut Vec<Run>, worths: &[f64], sizes: &[u64], budget: u64) {
    let mut left = budget.saturating_sub(runs.iter().map(|run| bytes_of(*run, sizes)).sum());
    loop {
        let mut best: Option<(f64, usize, usize)> = None;
        for (number, run) in runs.iter().enumerate() {
            for list in [run.start.checked_sub(1), Some(run.end)]
                .into_iter()
                .flatten()
            {
                let (Some(worth), Some(size)) = (worths.get(list), sizes.get(list)) else {
                    continue;
                };
                let value = worth / (*size).max(1) as f64;
                if *size <= left && best.is_none_or(|(most, _, _)| value > most) {
                    best = Some((value, number, list));
                }
            }
        }
        let Some((_, number, list)) = best else {
            return;
        };
        left = left.saturating_sub(sizes.get(list).copied().unwrap_or(0));
        if let Some(run) = runs.get_mut(number) {
            run.start = run.start.min(list);
            run.end = run.end.max(list + 1);
        }
        join(runs);
    }
}

/// Makes one run of runs that touch.
fn join(runs: &mut Vec<Run>) {
    runs.dedup_by(|next, kept| {
        let touches = next.start <= kept.end;
        if touches {
            kept.end = kept.end.max(next.end);
        }
        touches
    });
}

/// How far above its list's score a near neighbour's cosine may lie. Of the true ten
/// nearest among 20,000 sentences, 99 of 100 lie within it of the better of their lists.
pub const REACH: f32 = 0.31;

/// Whether lists that were not read could still change the best `k`: where fewer than `k`
/// were found, or where the best unread list, with [`REACH`], beats the worst of them.
///
/// It is a guess from measurements, not a bound: a bound that always holds would read
/// nearly everything in so many dimensions. Use it to go on when a filter hides most
/// entries.
pub fn could_improve(kth_best: Option<f32>, best_unread: Option<f32>) -> bool {
    match (kth_best, best_unread) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(kth), Some(unread)) => unread + REACH > kth,
    }
}
