//! A domain that shows every breach: each operation adds one to two registers and leaves
//! its number behind, so that a lost, doubled, torn or reordered operation is seen.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use ostraca_object::error::Corrupt;
use ostraca_object::key::Seq;
use ostraca_object::log::commit::{At, Decision};
use ostraca_object::log::entry::Entry;
use ostraca_object::log::fold::Fold;

/// Registers in each of the two rows.
pub const PAIRS: u64 = 3;
const OPERATION: &str = "op";

/// The registers and the operations that made them, in order.
#[derive(Debug, Default)]
pub struct Registers {
    values: BTreeMap<String, u64>,
    order: Vec<u64>,
    seq: Seq,
}

/// What the operations of one entry have set so far.
#[derive(Debug, Default)]
pub struct Draft(BTreeMap<String, u64>);

/// What an operation came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum(pub u64);

/// An operation never refuses.
#[derive(Debug, thiserror::Error)]
#[error("never")]
pub struct Never;

impl Registers {
    pub fn order(&self) -> Vec<u64> {
        self.order.clone()
    }

    /// I-ATOMIC and I-ONCE, as far as one state shows them.
    pub fn check(&self, context: &str) {
        let mut sum = 0;
        for pair in 0..PAIRS {
            let value = |row: &str| self.values.get(&format!("{row}{pair}")).copied();
            assert_eq!(value("left"), value("right"), "I-ATOMIC {context}");
            sum += value("left").unwrap_or(0);
        }
        assert_eq!(sum, self.order.len() as u64, "I-ONCE {context}");
    }

    /// Everything, as the rows of a checkpoint.
    pub fn snapshot(&self) -> RecordBatch {
        let operations = self.order.iter().map(|op| (OPERATION.to_owned(), *op));
        let values = self
            .values
            .iter()
            .map(|(name, value)| (name.clone(), *value));
        rows(operations.chain(values).collect())
    }
}

fn rows(pairs: Vec<(String, u64)>) -> RecordBatch {
    let (names, numbers): (Vec<String>, Vec<u64>) = pairs.into_iter().unzip();
    RecordBatch::try_new(
        Registers::schema(),
        vec![
            Arc::new(StringArray::from(names)),
            Arc::new(UInt64Array::from(numbers)),
        ],
    )
    .unwrap()
}

impl Fold for Registers {
    type Draft = Draft;

    fn schema() -> SchemaRef {
        Arc::new(Schema::new(vec![
            Field::new("name", DataType::Utf8, false),
            Field::new("number", DataType::UInt64, false),
        ]))
    }

    fn apply(&mut self, entry: &Entry) -> Result<(), Corrupt> {
        if entry.header.checkpoint.is_some() {
            self.values.clear();
            self.order.clear();
        } else {
            assert_eq!(entry.seq, self.seq.next(), "I-ORDER: a reader saw a hole");
        }
        self.seq = entry.seq;
        let names = entry
            .rows
            .column_by_name("name")
            .unwrap()
            .as_string::<i32>();
        let numbers = entry.rows.column_by_name("number").unwrap();
        let numbers = numbers.as_primitive::<UInt64Type>();
        for (name, number) in names.iter().zip(numbers.values()) {
            match name.unwrap() {
                OPERATION => self.order.push(*number),
                register => {
                    self.values.insert(register.to_owned(), *number);
                }
            }
        }
        Ok(())
    }
}

/// Adds one to both registers of a pair, once.
pub fn operation(
    op: u64,
    pair: u64,
) -> impl FnMut(&Registers, &mut Draft, At) -> Result<Decision<Sum>, Never> + Send + 'static {
    move |registers, draft, at| {
        if let Some(replay) = at.replay {
            let sum = replay.note.and_then(|note| note.as_u64());
            return Ok(Decision::Unchanged(Sum(sum.unwrap_or(0))));
        }
        let mut changes = vec![(OPERATION.to_owned(), op)];
        let mut sum = 0;
        for row in ["left", "right"] {
            let name = format!("{row}{pair}");
            let before = draft.0.get(&name).or_else(|| registers.values.get(&name));
            sum = before.copied().unwrap_or(0) + 1;
            draft.0.insert(name.clone(), sum);
            changes.push((name, sum));
        }
        Ok(Decision::Commit {
            rows: rows(changes),
            note: Some(sum.into()),
            value: Sum(sum),
        })
    }
}
