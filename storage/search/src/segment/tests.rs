use std::sync::Arc;

use arrow_array::RecordBatch;
use bytes::Bytes;

use super::*;
use crate::record::{self, Record, ScopePath};

fn batches() -> Vec<RecordBatch> {
    (0..3_i64)
        .map(|batch| {
            let records: Vec<Record> = (0..=batch)
                .map(|row| {
                    Record::new(
                        format!("{batch}-{row}"),
                        ScopePath::root(),
                        format!("content {row}"),
                        row,
                    )
                })
                .collect();
            record::encode(&records).unwrap()
        })
        .collect()
}

fn written() -> (Bytes, Root) {
    let mut writer = BlockWriter::new("rows", &record::schema()).unwrap();
    let mut file = Vec::new();
    for batch in batches() {
        writer.push(&batch).unwrap();
        // Taking what is there must not disturb the places of what follows.
        file.extend_from_slice(&writer.take());
    }
    let (rest, blocks) = writer.finish().unwrap();
    file.extend_from_slice(&rest);
    let statistics = Statistics {
        rows: 6,
        live: 5,
        first: 1,
        last: 9,
        ..Statistics::default()
    };
    let root = Root::new(statistics, record::schema(), blocks);
    (file.into(), root)
}

fn range(file: &Bytes, block: Block) -> Bytes {
    let start = usize::try_from(block.offset).unwrap();
    file.slice(start..start + block.len as usize)
}

#[test]
fn blocks_are_read_by_range_and_the_file_is_a_plain_arrow_file() {
    let (file, root) = written();
    for (block, batch) in root.blocks.iter().zip(batches()) {
        let read = read_block("rows", &root.schema, *block, &range(&file, *block)).unwrap();
        assert_eq!(read, batch);
    }
    let reader = arrow_ipc::reader::FileReader::try_new(std::io::Cursor::new(&file), None).unwrap();
    let all: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    assert_eq!(all, batches());
}

#[test]
fn a_root_comes_back_as_it_was() {
    let (_, root) = written();
    let bytes = root.encode().unwrap();
    let (len, crc) = (bytes.len() as u64, checksum(&bytes));
    assert_eq!(Root::decode(&bytes, len, crc).unwrap(), root);
    let empty = Root::new(Statistics::default(), Arc::clone(&root.schema), Vec::new());
    let bytes = empty.encode().unwrap();
    let (len, crc) = (bytes.len() as u64, checksum(&bytes));
    assert_eq!(Root::decode(&bytes, len, crc).unwrap(), empty);
}

#[test]
fn damage_is_an_error_and_never_a_panic() {
    let (file, root) = written();
    let block = root.blocks[1];
    let sound = range(&file, block);
    for at in 0..sound.len() {
        let mut damaged = sound.to_vec();
        damaged[at] ^= 0x40;
        let error = read_block("rows", &root.schema, block, &damaged.into()).unwrap_err();
        assert!(matches!(error, SegmentError::Checksum { .. }), "{error}");
    }
    let short = sound.slice(..sound.len() - 1);
    let error = read_block("rows", &root.schema, block, &short).unwrap_err();
    assert!(matches!(error, SegmentError::Length { .. }), "{error}");
    let bytes = root.encode().unwrap();
    let error = Root::decode(&bytes, bytes.len() as u64, 7).unwrap_err();
    assert!(matches!(error, SegmentError::Checksum { .. }), "{error}");
}
