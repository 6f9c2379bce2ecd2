//! What a test of a name selects of a segment's rows, as ranges of its series.
//!
//! A row has at most one value of a name, so that both of two selections are met where
//! ranges of the same series overlap. It must not read.

use super::key::{Keys, of_int};
use super::{Name, Sorted};
use crate::filter::{Field, Test};
use crate::query::{TimeField, Window};

/// What is selected of a name's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ranges {
    /// The name's series.
    all: Vec<usize>,
    /// Ranges of these series, ascending and apart.
    selected: Vec<(usize, Keys)>,
}

impl Ranges {
    /// The rows that satisfy a test, no more and no fewer; `None` if the index does not
    /// tell.
    pub(crate) fn of_test(sorted: &Sorted, field: &Field, test: &Test) -> Option<Self> {
        if !matches!(
            field,
            Field::Confidence
                | Field::Version
                | Field::CreatedAt
                | Field::UpdatedAt
                | Field::ExpiresAt
                | Field::Metadata(_)
        ) {
            return None;
        }
        let all = sorted.of(&Name::Field(field.clone()))?;
        let mut selected = Vec::new();
        for index in &all {
            let parts = sorted.series.get(*index)?.kind.satisfying(test)?;
            selected.extend(parts.into_iter().map(|keys| (*index, keys)));
        }
        if all.is_empty() {
            // What the test asks for decides, as there are no series to ask.
            super::Kind::Int.satisfying(test)?;
        }
        Some(Self::new(all, selected))
    }

    /// The rows whose instant lies in a window.
    pub(crate) fn of_window(sorted: &Sorted, window: &Window) -> Option<Self> {
        let name = match &window.field {
            TimeField::Updated => Name::Field(Field::UpdatedAt),
            TimeField::Created => Name::Field(Field::CreatedAt),
            TimeField::Named(name) => Name::Timestamp(name.clone()),
        };
        let all = sorted.of(&name)?;
        let first = window.since.map_or(0, of_int);
        let after = window.until.map(of_int);
        let last = after.map_or(Some(u64::MAX), |after| after.checked_sub(1));
        let keys = last.map(|last| first..=last);
        let selected = all
            .iter()
            .filter_map(|index| keys.clone().map(|keys| (*index, keys)))
            .collect();
        Some(Self::new(all, selected))
    }

    fn new(all: Vec<usize>, mut selected: Vec<(usize, Keys)>) -> Self {
        selected.retain(|(_, keys)| !keys.is_empty());
        selected.sort_by_key(|(index, keys)| (*index, *keys.start()));
        let mut apart: Vec<(usize, Keys)> = Vec::with_capacity(selected.len());
        for (index, keys) in selected {
            match apart.last_mut() {
                Some((last, before)) if *last == index && keys.start() <= before.end() => {
                    *before = *before.start()..=*before.end().max(keys.end());
                }
                _ => apart.push((index, keys)),
            }
        }
        Self {
            all,
            selected: apart,
        }
    }

    /// Ranges of series, by their places in the index.
    pub(crate) fn selected(&self) -> &[(usize, Keys)] {
        &self.selected
    }

    /// Both selections, if they are of the same name.
    pub(crate) fn and(&self, other: &Self) -> Option<Self> {
        if self.all.is_empty() || self.all != other.all {
            return None;
        }
        let both = self.selected.iter().flat_map(|(index, a)| {
            let same = other
                .selected
                .iter()
                .filter(move |(other, _)| other == index);
            same.map(move |(_, b)| {
                let keys = *a.start().max(b.start())..=*a.end().min(b.end());
                (*index, keys)
            })
        });
        Some(Self::new(self.all.clone(), both.collect()))
    }

    /// The rows that have a value and are not selected.
    pub(crate) fn others(&self) -> Self {
        let mut others = Vec::new();
        for index in &self.all {
            let mut from = Some(0_u64);
            for (_, keys) in self.selected.iter().filter(|(own, _)| own == index) {
                if let Some((start, end)) = from.zip(keys.start().checked_sub(1)) {
                    others.push((*index, start..=end));
                }
                from = keys.end().checked_add(1);
            }
            others.extend(from.map(|from| (*index, from..=u64::MAX)));
        }
        Self::new(self.all.clone(), others)
    }

    /// About how many rows are selected.
    pub(crate) fn estimate(&self, sorted: &Sorted) -> f64 {
        let selected = self.selected.iter();
        selected
            .filter_map(|(index, keys)| Some(sorted.series.get(*index)?.estimate(keys)))
            .sum()
    }

    /// How many rows have a value.
    pub(crate) fn present(&self, sorted: &Sorted) -> u64 {
        let series = self
            .all
            .iter()
            .filter_map(|index| sorted.series.get(*index));
        series.map(super::Series::entries).sum()
    }

    /// The bytes that are read to know the rows.
    pub(crate) fn bytes(&self, sorted: &Sorted) -> u64 {
        let selected = self.selected.iter();
        selected
            .filter_map(|(index, keys)| {
                let series = sorted.series.get(*index)?;
                let range = series.range(&series.blocks_of(keys))?;
                Some(range.end - range.start)
            })
            .sum()
    }
}
