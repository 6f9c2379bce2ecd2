//! Which records of the tail a query may see, by number.
//!
//! It is asked once for a query and not once for a lane. The rule itself is
//! [`Query::admits`].

use crate::query::Query;
use crate::tail::Tail;

/// Which records a query may see.
#[derive(Debug)]
pub(super) struct Visible {
    is_visible: Vec<bool>,
}

impl Visible {
    pub(super) fn of(tail: &Tail, query: &Query) -> Self {
        let mut is_visible = vec![false; tail.numbers_end()];
        for (number, doc) in tail.docs() {
            if let Some(flag) = is_visible.get_mut(number as usize) {
                *flag = query.admits(&doc.record);
            }
        }
        Self { is_visible }
    }

    pub(super) fn contains(&self, doc: u32) -> bool {
        self.is_visible.get(doc as usize).copied().unwrap_or(false)
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        (0_u32..)
            .zip(&self.is_visible)
            .filter_map(|(number, visible)| visible.then_some(number))
    }
}
