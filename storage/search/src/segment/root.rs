//! The root of a segment: what it holds, and where everything lies in its other objects.
//!
//! It is an Arrow file of one row whose columns are lists, so that any Arrow reader
//! opens it and each table lies together. The type of the rows is kept with it as a
//! list without items, because a range of the rows' file does not say its schema.

use std::io::Cursor;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StructBuilder, UInt32Builder, UInt64Builder};
use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, ListArray, RecordBatch, StructArray, new_empty_array};
use arrow_buffer::OffsetBuffer;
use arrow_ipc::MetadataVersion;
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::blocks::{Block, arrow, check};
use super::error::SegmentError;

/// The version of the format, in the schema metadata.
const FORMAT: &str = "segment/1";
const FORMAT_KEY: &str = "ostraca.format";
const STATISTICS_KEY: &str = "ostraca.segment";
const PART: &str = "the root";
const BLOCKS: &str = "row_blocks";
const ROW: &str = "row";

/// What a segment holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// Rows, of which the first `live` are the newest versions of what is not forgotten.
    pub rows: u64,
    /// Rows that a search for the present sees.
    pub live: u64,
    /// The first entry of the log that it stands for.
    pub first: u64,
    /// The last.
    pub last: u64,
}

/// The root of a segment.
#[derive(Debug, Clone, PartialEq)]
pub struct Root {
    /// What it holds.
    pub statistics: Statistics,
    /// The columns of its rows.
    pub schema: SchemaRef,
    /// The blocks of its rows.
    pub blocks: Vec<Block>,
}

impl Root {
    /// The root as a file.
    pub fn encode(&self) -> Result<Bytes, SegmentError> {
        let blocks = blocks_array(&self.blocks);
        let row = row_array(&self.schema)?;
        let statistics =
            serde_json::to_string(&self.statistics).map_err(SegmentError::Statistics)?;
        let metadata = [
            (FORMAT_KEY.to_owned(), FORMAT.to_owned()),
            (STATISTICS_KEY.to_owned(), statistics),
        ];
        let fields = vec![
            Field::new(BLOCKS, blocks.data_type().clone(), false),
            Field::new(ROW, row.data_type().clone(), false),
        ];
        let schema = Arc::new(Schema::new(fields).with_metadata(metadata.into()));
        let batch =
            RecordBatch::try_new(Arc::clone(&schema), vec![blocks, row]).map_err(arrow(PART))?;
        let options =
            IpcWriteOptions::try_new(8, false, MetadataVersion::V5).map_err(arrow(PART))?;
        let mut writer =
            FileWriter::try_new_with_options(Vec::new(), &schema, options).map_err(arrow(PART))?;
        writer.write(&batch).map_err(arrow(PART))?;
        Ok(writer.into_inner().map_err(arrow(PART))?.into())
    }

    /// The root in a file whose length and CRC-32 are known from elsewhere.
    pub fn decode(bytes: &Bytes, len: u64, crc: u32) -> Result<Self, SegmentError> {
        check(PART, len, crc, bytes)?;
        let mut reader = FileReader::try_new(Cursor::new(bytes), None).map_err(arrow(PART))?;
        let schema = reader.schema();
        match schema.metadata().get(FORMAT_KEY).map(String::as_str) {
            Some(FORMAT) => {}
            found => {
                return Err(SegmentError::Format {
                    found: found.unwrap_or_default().to_owned(),
                });
            }
        }
        let statistics = schema
            .metadata()
            .get(STATISTICS_KEY)
            .map_or("", String::as_str);
        let statistics = serde_json::from_str(statistics).map_err(SegmentError::Statistics)?;
        let batch = reader
            .next()
            .ok_or(SegmentError::Missing { part: PART })?
            .map_err(arrow(PART))?;
        Ok(Self {
            statistics,
            schema: row_schema(&batch)?,
            blocks: read_blocks(&batch)?,
        })
    }
}

fn block_fields() -> Fields {
    Fields::from(vec![
        Field::new("offset", DataType::UInt64, false),
        Field::new("len", DataType::UInt32, false),
        Field::new("rows", DataType::UInt32, false),
        Field::new("crc", DataType::UInt32, false),
    ])
}

fn blocks_array(blocks: &[Block]) -> ArrayRef {
    let (mut offsets, mut lens) = (UInt64Builder::new(), UInt32Builder::new());
    let (mut rows, mut crcs) = (UInt32Builder::new(), UInt32Builder::new());
    for block in blocks {
        offsets.append_value(block.offset);
        lens.append_value(block.len);
        rows.append_value(block.rows);
        crcs.append_value(block.crc);
    }
    let items = StructBuilder::new(
        block_fields(),
        vec![
            Box::new(offsets),
            Box::new(lens),
            Box::new(rows),
            Box::new(crcs),
        ],
    );
    let field = Field::new("item", DataType::Struct(block_fields()), false);
    let mut list = ListBuilder::new(items).with_field(field);
    for _ in blocks {
        list.values().append(true);
    }
    list.append(true);
    Arc::new(list.finish())
}

fn read_blocks(batch: &RecordBatch) -> Result<Vec<Block>, SegmentError> {
    let missing = || SegmentError::Missing { part: BLOCKS };
    let list = column(batch, BLOCKS)?;
    let items = list.values().as_struct_opt().ok_or_else(missing)?;
    let part = |name: &str| items.column_by_name(name).ok_or_else(missing);
    let offsets = part("offset")?
        .as_primitive_opt::<UInt64Type>()
        .ok_or_else(missing)?;
    let small = |name: &str| {
        part(name)?
            .as_primitive_opt::<UInt32Type>()
            .ok_or_else(missing)
    };
    let (lens, rows, crcs) = (small("len")?, small("rows")?, small("crc")?);
    Ok(offsets
        .values()
        .iter()
        .zip(lens.values())
        .zip(rows.values())
        .zip(crcs.values())
        .map(|(((offset, len), rows), crc)| Block {
            offset: *offset,
            len: *len,
            rows: *rows,
            crc: *crc,
        })
        .collect())
}

/// The type of the rows, as a list without items.
fn row_array(schema: &SchemaRef) -> Result<ArrayRef, SegmentError> {
    let items = new_empty_array(&DataType::Struct(schema.fields().clone()));
    let field = Arc::new(Field::new("item", items.data_type().clone(), false));
    let offsets = OffsetBuffer::from_lengths([0]);
    let list = ListArray::try_new(field, offsets, items, None).map_err(arrow(PART))?;
    Ok(Arc::new(list))
}

fn row_schema(batch: &RecordBatch) -> Result<SchemaRef, SegmentError> {
    let list = column(batch, ROW)?;
    let items: &StructArray = list
        .values()
        .as_struct_opt()
        .ok_or(SegmentError::Missing { part: ROW })?;
    Ok(Arc::new(Schema::new(items.fields().clone())))
}

fn column<'a>(batch: &'a RecordBatch, name: &'static str) -> Result<&'a ListArray, SegmentError> {
    batch
        .column_by_name(name)
        .and_then(|column| column.as_list_opt::<i32>())
        .ok_or(SegmentError::Missing { part: name })
}
