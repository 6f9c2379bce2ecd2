//! The tables of a root as Arrow columns: each is one list, or one binary value, in the
//! file's only row. It must not interpret what the tables say.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryArray, FixedSizeBinaryArray, Int64Array,
    LargeBinaryArray, ListArray, PrimitiveArray, RecordBatch, StringArray, StructArray,
    UInt32Array, UInt64Array, new_empty_array,
};
use arrow_buffer::{Buffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields, SchemaRef};

use super::blocks::{Block, arrow};
use super::error::SegmentError;
use super::replaced::{Replaced, ReplacedIn};
use super::root::ScopeRun;
use super::sorted::{Kind, Name, Series, SortedBlock};
use crate::filter::Field as Named;
use crate::postings::{DocSet, TermHash};
use crate::record::ScopePath;

const PART: &str = "the root";
const BLOCKS: &str = "row_blocks";
pub(super) const ROW: &str = "row";
pub(super) const DIRECTORY: &str = "posting_directory";
pub(super) const CENTROIDS: &str = "centroids";
const LISTS: &str = "vector_lists";
const RUNS: &str = "scopes";
const EXPIRING: &str = "expiring";
const SERIES: &str = "sorted";
const SORTED_BLOCKS: &str = "sorted_blocks";
const REPLACED: &str = "replaced";
const SEGMENT_BYTES: i32 = 16;

/// What is written.
#[derive(Clone, Copy)]
pub(super) struct Tables<'a> {
    pub(super) schema: &'a SchemaRef,
    pub(super) blocks: &'a [Block],
    pub(super) directory: &'a [u8],
    pub(super) centroids: Option<&'a [u8]>,
    pub(super) lists: &'a [(u32, u32)],
    pub(super) runs: &'a [ScopeRun],
    pub(super) expiring: &'a [(i64, u32)],
    pub(super) series: &'a [Series],
    pub(super) replaced: &'a Replaced,
}

pub(super) fn write(tables: Tables<'_>) -> Result<(Fields, Vec<ArrayRef>), SegmentError> {
    let Tables {
        schema,
        blocks,
        directory,
        centroids,
        lists,
        runs,
        expiring,
        series,
        replaced,
    } = tables;
    let columns = [
        (BLOCKS, blocks_list(blocks)?),
        (
            ROW,
            list(new_empty_array(&DataType::Struct(schema.fields().clone())))?,
        ),
        (DIRECTORY, binary(Some(directory))),
        (CENTROIDS, binary(centroids)),
        (
            LISTS,
            list(table(vec![
                ("entries", u32s(lists.iter().map(|(entries, _)| *entries))),
                ("crc", u32s(lists.iter().map(|(_, crc)| *crc))),
            ])?)?,
        ),
        (RUNS, runs_list(runs)?),
        (
            EXPIRING,
            list(table(vec![
                (
                    "at",
                    Arc::new(Int64Array::from_iter_values(
                        expiring.iter().map(|(at, _)| *at),
                    )),
                ),
                ("row", u32s(expiring.iter().map(|(_, row)| *row))),
            ])?)?,
        ),
        (SERIES, series_list(series)?),
        (SORTED_BLOCKS, sorted_blocks_list(series)?),
        (REPLACED, replaced_list(replaced)?),
    ];
    let fields = columns
        .iter()
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), *name == CENTROIDS));
    Ok((
        fields.collect(),
        columns.iter().map(|(_, array)| Arc::clone(array)).collect(),
    ))
}

fn blocks_list(blocks: &[Block]) -> Result<ArrayRef, SegmentError> {
    let offsets = UInt64Array::from_iter_values(blocks.iter().map(|block| block.offset));
    list(table(vec![
        ("offset", Arc::new(offsets)),
        ("len", u32s(blocks.iter().map(|block| block.len))),
        ("rows", u32s(blocks.iter().map(|block| block.rows))),
        ("crc", u32s(blocks.iter().map(|block| block.crc))),
    ])?)
}

pub(super) fn blocks(batch: &RecordBatch) -> Result<Vec<Block>, SegmentError> {
    let items = items(batch, BLOCKS)?;
    let offsets = numbers::<UInt64Type>(items, "offset")?;
    let lens = numbers::<UInt32Type>(items, "len")?;
    let rows = numbers::<UInt32Type>(items, "rows")?;
    let crcs = numbers::<UInt32Type>(items, "crc")?;
    Ok(offsets
        .values()
        .iter()
        .zip(lens.values())
        .zip(rows.values().iter().zip(crcs.values()))
        .map(|((offset, len), (rows, crc))| Block {
            offset: *offset,
            len: *len,
            rows: *rows,
            crc: *crc,
        })
        .collect())
}

pub(super) fn lists(batch: &RecordBatch) -> Result<Vec<(u32, u32)>, SegmentError> {
    let items = items(batch, LISTS)?;
    let entries = numbers::<UInt32Type>(items, "entries")?;
    let crcs = numbers::<UInt32Type>(items, "crc")?;
    let pairs = entries.values().iter().zip(crcs.values());
    Ok(pairs.map(|(entries, crc)| (*entries, *crc)).collect())
}

fn runs_list(runs: &[ScopeRun]) -> Result<ArrayRef, SegmentError> {
    let texts = |of: fn(&ScopeRun) -> &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(runs.iter().map(of)))
    };
    list(table(vec![
        ("realm", texts(|run| &run.realm)),
        ("scope", texts(|run| run.scope.as_str())),
        ("rows", u32s(runs.iter().map(|run| run.rows))),
    ])?)
}

pub(super) fn runs(batch: &RecordBatch) -> Result<Vec<ScopeRun>, SegmentError> {
    let items = items(batch, RUNS)?;
    let missing = || SegmentError::Missing { part: RUNS };
    let (realms, scopes) = (texts(items, "realm")?, texts(items, "scope")?);
    let rows = numbers::<UInt32Type>(items, "rows")?;
    (0..items.len())
        .map(|index| {
            Ok(ScopeRun {
                realm: realms.value(index).to_owned(),
                scope: ScopePath::parse(scopes.value(index)).map_err(|_| missing())?,
                rows: rows.value(index),
            })
        })
        .collect()
}

pub(super) fn expiring(batch: &RecordBatch) -> Result<Vec<(i64, u32)>, SegmentError> {
    let items = items(batch, EXPIRING)?;
    let at = numbers::<Int64Type>(items, "at")?;
    let rows = numbers::<UInt32Type>(items, "row")?;
    let pairs = at.values().iter().zip(rows.values());
    Ok(pairs.map(|(at, row)| (*at, *row)).collect())
}

const RECORD: &str = "record";
const METADATA: &str = "metadata";
const TIMESTAMP: &str = "timestamp";

const KINDS: [(&str, Kind); 3] = [
    ("int", Kind::Int),
    ("float", Kind::Float),
    ("instant", Kind::Time),
];

fn series_list(series: &[Series]) -> Result<ArrayRef, SegmentError> {
    let texts = |of: fn(&Series) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(series.iter().map(of)))
    };
    let blocks = series
        .iter()
        .map(|series| u32::try_from(series.blocks.len()).unwrap_or(u32::MAX));
    let last = UInt64Array::from_iter_values(series.iter().map(|series| series.last));
    list(table(vec![
        (
            "of",
            texts(|series| {
                let of = match &series.name {
                    Name::Field(Named::Metadata(_)) => METADATA,
                    Name::Field(_) => RECORD,
                    Name::Timestamp(_) => TIMESTAMP,
                };
                of.to_owned()
            }),
        ),
        (
            "name",
            texts(|series| match &series.name {
                Name::Field(field) => field.to_string(),
                Name::Timestamp(name) => name.clone(),
            }),
        ),
        (
            "kind",
            texts(|series| {
                let names = KINDS.iter().find(|(_, kind)| *kind == series.kind);
                names.map_or("", |(name, _)| *name).to_owned()
            }),
        ),
        ("blocks", u32s(blocks)),
        ("last", Arc::new(last)),
    ])?)
}

fn sorted_blocks_list(series: &[Series]) -> Result<ArrayRef, SegmentError> {
    let blocks = || series.iter().flat_map(|series| &series.blocks);
    let u64s = |of: fn(&SortedBlock) -> u64| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(blocks().map(of)))
    };
    list(table(vec![
        ("first", u64s(|block| block.first)),
        ("offset", u64s(|block| block.offset)),
        ("len", u32s(blocks().map(|block| block.len))),
        ("entries", u32s(blocks().map(|block| block.entries))),
        ("crc", u32s(blocks().map(|block| block.crc))),
    ])?)
}

pub(super) fn series(batch: &RecordBatch) -> Result<Vec<Series>, SegmentError> {
    let mut blocks = sorted_blocks(batch)?.into_iter();
    let items = items(batch, SERIES)?;
    let missing = || SegmentError::Missing { part: SERIES };
    let (of, names, kinds) = (
        texts(items, "of")?,
        texts(items, "name")?,
        texts(items, "kind")?,
    );
    let counts = numbers::<UInt32Type>(items, "blocks")?;
    let lasts = numbers::<UInt64Type>(items, "last")?;
    (0..items.len())
        .map(|index| {
            let name = names.value(index).to_owned();
            let name = match of.value(index) {
                RECORD => Name::Field(Named::parse(&name).ok_or_else(missing)?),
                METADATA => Name::Field(Named::Metadata(name)),
                TIMESTAMP => Name::Timestamp(name),
                _ => return Err(missing()),
            };
            let kind = KINDS.iter().find(|(name, _)| *name == kinds.value(index));
            let count = counts.value(index) as usize;
            let series = Series {
                name,
                kind: kind.ok_or_else(missing)?.1,
                last: lasts.value(index),
                blocks: blocks.by_ref().take(count).collect(),
            };
            if series.blocks.len() == count {
                Ok(series)
            } else {
                Err(missing())
            }
        })
        .collect()
}

fn sorted_blocks(batch: &RecordBatch) -> Result<Vec<SortedBlock>, SegmentError> {
    let items = items(batch, SORTED_BLOCKS)?;
    let firsts = numbers::<UInt64Type>(items, "first")?;
    let offsets = numbers::<UInt64Type>(items, "offset")?;
    let lens = numbers::<UInt32Type>(items, "len")?;
    let entries = numbers::<UInt32Type>(items, "entries")?;
    let crcs = numbers::<UInt32Type>(items, "crc")?;
    Ok((0..items.len())
        .map(|index| SortedBlock {
            first: firsts.value(index),
            offset: offsets.value(index),
            len: lens.value(index),
            entries: entries.value(index),
            crc: crcs.value(index),
        })
        .collect())
}

fn replaced_list(replaced: &Replaced) -> Result<ArrayRef, SegmentError> {
    let all: Vec<(u128, &ReplacedIn)> = replaced.segments().collect();
    let names: Vec<u8> = all
        .iter()
        .flat_map(|(segment, _)| segment.to_be_bytes())
        .collect();
    let names = FixedSizeBinaryArray::try_new(SEGMENT_BYTES, Buffer::from_vec(names), None)
        .map_err(arrow(PART))?;
    let rows: Vec<Vec<u8>> = all
        .iter()
        .map(|(_, within)| {
            let mut bytes = Vec::with_capacity(within.rows.serialized_size());
            // Writing into memory cannot fail.
            within.rows.serialize_into(&mut bytes).ok();
            bytes
        })
        .collect();
    let terms: Vec<Vec<u8>> = all
        .iter()
        .map(|(_, within)| {
            let pairs = within.terms.iter();
            pairs
                .flat_map(|(term, count)| term.to_le_bytes().into_iter().chain(count.to_le_bytes()))
                .collect()
        })
        .collect();
    let counts = |of: fn(&ReplacedIn) -> u64| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(
            all.iter().map(|(_, within)| of(within)),
        ))
    };
    list(table(vec![
        ("segment", Arc::new(names)),
        ("rows", Arc::new(BinaryArray::from_iter_values(rows))),
        ("terms", Arc::new(BinaryArray::from_iter_values(terms))),
        ("length", counts(|within| within.length)),
        ("embedded", counts(|within| within.embedded)),
        ("pending", counts(|within| within.pending)),
    ])?)
}

pub(super) fn replaced(batch: &RecordBatch) -> Result<Replaced, SegmentError> {
    const TERM_BYTES: usize = 12;
    let items = items(batch, REPLACED)?;
    let missing = || SegmentError::Missing { part: REPLACED };
    let segments = items
        .column_by_name("segment")
        .and_then(|column| column.as_fixed_size_binary_opt())
        .ok_or_else(missing)?;
    let binary = |name: &str| {
        items
            .column_by_name(name)
            .and_then(|column| column.as_binary_opt::<i32>())
            .ok_or_else(missing)
    };
    let (rows, terms) = (binary("rows")?, binary("terms")?);
    let length = numbers::<UInt64Type>(items, "length")?;
    let embedded = numbers::<UInt64Type>(items, "embedded")?;
    let pending = numbers::<UInt64Type>(items, "pending")?;
    let mut replaced = Replaced::default();
    for index in 0..items.len() {
        let segment = segments.value(index).try_into().map_err(|_| missing())?;
        let rows = DocSet::deserialize_from(rows.value(index)).map_err(|_| missing())?;
        let (pairs, rest) = terms.value(index).as_chunks::<TERM_BYTES>();
        if !rest.is_empty() {
            return Err(missing());
        }
        let terms: BTreeMap<TermHash, u32> = pairs
            .iter()
            .filter_map(|pair| {
                let (term, count) = pair.split_first_chunk::<8>()?;
                let count = <[u8; 4]>::try_from(count).ok()?;
                Some((TermHash::from_le_bytes(*term), u32::from_le_bytes(count)))
            })
            .collect();
        let within = ReplacedIn {
            rows,
            terms,
            length: length.value(index),
            embedded: embedded.value(index),
            pending: pending.value(index),
        };
        replaced.add_all(u128::from_be_bytes(segment), &within);
    }
    Ok(replaced)
}

/// The items of a list column.
pub(super) fn items<'a>(
    batch: &'a RecordBatch,
    name: &'static str,
) -> Result<&'a StructArray, SegmentError> {
    batch
        .column_by_name(name)
        .and_then(|column| column.as_list_opt::<i32>())
        .and_then(|list| list.values().as_struct_opt())
        .ok_or(SegmentError::Missing { part: name })
}

/// The value of a binary column.
pub(super) fn bytes<'a>(
    batch: &'a RecordBatch,
    name: &'static str,
) -> Result<&'a [u8], SegmentError> {
    batch
        .column_by_name(name)
        .and_then(|column| column.as_binary_opt::<i64>())
        .filter(|column| column.len() == 1 && column.is_valid(0))
        .map(|column| column.value(0))
        .ok_or(SegmentError::Missing { part: name })
}

fn numbers<'a, T: ArrowPrimitiveType>(
    items: &'a StructArray,
    name: &'static str,
) -> Result<&'a PrimitiveArray<T>, SegmentError> {
    items
        .column_by_name(name)
        .and_then(|column| column.as_primitive_opt::<T>())
        .ok_or(SegmentError::Missing { part: name })
}

fn texts<'a>(items: &'a StructArray, name: &'static str) -> Result<&'a StringArray, SegmentError> {
    items
        .column_by_name(name)
        .and_then(|column| column.as_string_opt::<i32>())
        .ok_or(SegmentError::Missing { part: name })
}

fn u32s(values: impl Iterator<Item = u32>) -> ArrayRef {
    Arc::new(UInt32Array::from_iter_values(values))
}

fn binary(value: Option<&[u8]>) -> ArrayRef {
    Arc::new(LargeBinaryArray::from_iter([value]))
}

fn table(columns: Vec<(&str, ArrayRef)>) -> Result<ArrayRef, SegmentError> {
    let fields: Fields = columns
        .iter()
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), false))
        .collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    let table = StructArray::try_new(fields, arrays, None).map_err(arrow(PART))?;
    Ok(Arc::new(table))
}

/// All items as the one value of a list column.
fn list(items: ArrayRef) -> Result<ArrayRef, SegmentError> {
    let field = Arc::new(Field::new("item", items.data_type().clone(), false));
    let offsets = OffsetBuffer::from_lengths([items.len()]);
    let list = ListArray::try_new(field, offsets, items, None).map_err(arrow(PART))?;
    Ok(Arc::new(list))
}
