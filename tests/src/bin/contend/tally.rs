//! The smallest domain that shows a lost or doubled commit: one number that every commit
//! reads and adds one to.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{RecordBatch, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use ostraca_object::error::Corrupt;
use ostraca_object::log::commit::{At, Decision};
use ostraca_object::log::entry::Entry;
use ostraca_object::log::fold::Fold;

#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) total: u64,
}

impl Fold for Tally {
    type Draft = u64;

    fn schema() -> SchemaRef {
        Arc::new(Schema::new(vec![Field::new(
            "total",
            DataType::UInt64,
            false,
        )]))
    }

    fn apply(&mut self, entry: &Entry) -> Result<(), Corrupt> {
        let column = entry
            .rows
            .column_by_name("total")
            .and_then(|column| column.as_primitive_opt::<UInt64Type>())
            .ok_or_else(|| Corrupt::new(entry.seq, "it has no column total"))?;
        if let Some(total) = column.values().last() {
            self.total = *total;
        }
        Ok(())
    }
}

/// Adds one.
pub(crate) fn add_one(tally: &Tally, draft: &mut u64, _: At) -> Result<Decision<u64>, ArrowError> {
    *draft += 1;
    let value = tally.total + *draft;
    let rows = RecordBatch::try_new(
        Tally::schema(),
        vec![Arc::new(UInt64Array::from(vec![value]))],
    )?;
    Ok(Decision::Commit {
        rows,
        note: None,
        value,
    })
}
