//! The root of a segment: what it holds, and where everything lies in its other objects.
//!
//! It is an Arrow file of one row whose columns are lists, so that any Arrow reader
//! opens it and each table lies together. The type of the rows is kept with it as a
//! list without items, because a range of the rows' file does not say its schema.

use std::io::Cursor;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{RecordBatch, StructArray};
use arrow_ipc::MetadataVersion;
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::{Schema, SchemaRef};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::blocks::{Block, arrow, check};
use super::columns::{self, Tables};
use super::error::SegmentError;
use super::replaced::Replaced;
use super::sorted::{Covered, Sorted};
use super::vectors::Vectors;
use crate::bm25::Totals;
use crate::ivf::{Bits, Centroids};
use crate::postings::{Directory, TermHash};
use crate::record::ScopePath;

/// The version of the format, in the schema metadata.
const FORMAT: &str = "segment/1";
const FORMAT_KEY: &str = "ostraca.format";
const STATISTICS_KEY: &str = "ostraca.segment";
const PART: &str = "the root";

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
    /// Sum of the lengths of the live rows in words.
    pub length: u64,
    /// Live rows with vectors.
    pub embedded: u64,
    /// Live rows that are due for vectors.
    pub pending: u64,
    /// Live rows whose status is another than active.
    pub inactive: u64,
}

impl Statistics {
    /// What the live rows add to the statistics of the collection.
    pub fn totals(&self) -> Totals {
        Totals {
            records: self.live,
            length: self.length,
        }
    }
}

/// What the file of posting lists holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Postings {
    /// Which bytes of the blob a term needs.
    pub directory: Directory,
    /// Where the blob begins in its file.
    pub at: u64,
    /// Where the rows lie in the order of their values.
    pub sorted: Sorted,
}

impl Postings {
    /// The bytes to fetch for a term, if it can have a list.
    pub fn locate(&self, term: TermHash) -> Option<Range<u64>> {
        let range = self.directory.locate(term)?;
        Some(self.at + range.start..self.at + range.end)
    }
}

/// Rows that lie behind each other because they have the same realm and scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeRun {
    /// The realm.
    pub realm: String,
    /// The scope.
    pub scope: ScopePath,
    /// How many rows.
    pub rows: u32,
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
    /// Its posting lists.
    pub postings: Postings,
    /// Its vectors, if it has any.
    pub vectors: Option<Vectors>,
    /// The scopes of the live rows, in their order; empty if they are very many.
    pub runs: Vec<ScopeRun>,
    /// When live rows expire, and which, in the order of time.
    pub expiring: Vec<(i64, u32)>,
    /// Rows of older segments that its own replace.
    pub replaced: Replaced,
    /// The first row of each block.
    starts: Vec<u32>,
}

/// What the metadata says besides the statistics.
#[derive(Debug, Serialize, Deserialize)]
struct Described {
    #[serde(flatten)]
    statistics: Statistics,
    postings_at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sorted: Option<DescribedSorted>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vectors: Option<DescribedVectors>,
}

/// Which names the sorted index has; without one it was never built.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DescribedSorted {
    Frequent,
    All,
}

#[derive(Debug, Serialize, Deserialize)]
struct DescribedVectors {
    profile: String,
    bits: u8,
    at: u64,
}

impl Root {
    /// A root over rows in these blocks.
    pub fn new(statistics: Statistics, schema: SchemaRef, blocks: Vec<Block>) -> Self {
        let starts = blocks
            .iter()
            .scan(0_u32, |next, block| {
                let start = *next;
                *next = next.saturating_add(block.rows);
                Some(start)
            })
            .collect();
        Self {
            statistics,
            schema,
            blocks,
            postings: Postings::default(),
            vectors: None,
            runs: Vec::new(),
            expiring: Vec::new(),
            replaced: Replaced::default(),
            starts,
        }
    }

    /// The block of a row: its number, and the row's place in it.
    pub fn block_of(&self, row: u32) -> Option<(usize, u32)> {
        let after = self.starts.partition_point(|start| *start <= row);
        let block = after.checked_sub(1)?;
        let within = row - self.starts.get(block)?;
        (within < self.blocks.get(block)?.rows).then_some((block, within))
    }

    /// The root as a file.
    pub fn encode(&self) -> Result<Bytes, SegmentError> {
        let described = Described {
            statistics: self.statistics.clone(),
            postings_at: self.postings.at,
            sorted: match self.postings.sorted.covered {
                Covered::Nothing => None,
                Covered::Frequent => Some(DescribedSorted::Frequent),
                Covered::All => Some(DescribedSorted::All),
            },
            vectors: self.vectors.as_ref().map(|vectors| DescribedVectors {
                profile: vectors.profile.clone(),
                bits: match vectors.layout.bits {
                    Bits::Two => 2,
                    Bits::Four => 4,
                    Bits::Eight => 8,
                },
                at: vectors.at,
            }),
        };
        let described = serde_json::to_string(&described).map_err(SegmentError::Statistics)?;
        let lists: Vec<(u32, u32)> = self.vectors.iter().flat_map(Vectors::lists).collect();
        let (fields, arrays) = columns::write(Tables {
            schema: &self.schema,
            blocks: &self.blocks,
            directory: &self.postings.directory.encode(),
            centroids: self
                .vectors
                .as_ref()
                .map(|vectors| vectors.centroids.encode())
                .as_deref(),
            lists: &lists,
            runs: &self.runs,
            expiring: &self.expiring,
            series: &self.postings.sorted.series,
            replaced: &self.replaced,
        })?;
        let metadata = [
            (FORMAT_KEY.to_owned(), FORMAT.to_owned()),
            (STATISTICS_KEY.to_owned(), described),
        ];
        let schema = Arc::new(Schema::new(fields).with_metadata(metadata.into()));
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(arrow(PART))?;
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
        let described = schema.metadata().get(STATISTICS_KEY);
        let described: Described = serde_json::from_str(described.map_or("", String::as_str))
            .map_err(SegmentError::Statistics)?;
        let batch = reader
            .next()
            .ok_or(SegmentError::Missing { part: PART })?
            .map_err(arrow(PART))?;
        let directory = Directory::decode(columns::bytes(&batch, columns::DIRECTORY)?)
            .map_err(SegmentError::Postings)?;
        let vectors = match described.vectors {
            Some(said) => Some(vectors(said, &batch)?),
            None => None,
        };
        let row: &StructArray = columns::items(&batch, columns::ROW)?;
        let schema = Arc::new(Schema::new(row.fields().clone()));
        let mut root = Self::new(described.statistics, schema, columns::blocks(&batch)?);
        let covered = match described.sorted {
            None => Covered::Nothing,
            Some(DescribedSorted::Frequent) => Covered::Frequent,
            Some(DescribedSorted::All) => Covered::All,
        };
        let series = match covered {
            Covered::Nothing => Vec::new(),
            Covered::Frequent | Covered::All => columns::series(&batch)?,
        };
        root.postings = Postings {
            directory,
            at: described.postings_at,
            sorted: Sorted { covered, series },
        };
        root.vectors = vectors;
        root.runs = columns::runs(&batch)?;
        root.expiring = columns::expiring(&batch)?;
        root.replaced = columns::replaced(&batch)?;
        Ok(root)
    }
}

fn vectors(said: DescribedVectors, batch: &RecordBatch) -> Result<Vectors, SegmentError> {
    let centroids = Centroids::decode(columns::bytes(batch, columns::CENTROIDS)?)
        .map_err(SegmentError::Centroids)?;
    let lists = columns::lists(batch)?;
    let bits = match said.bits {
        2 => Bits::Two,
        4 => Bits::Four,
        8 => Bits::Eight,
        bits => {
            return Err(SegmentError::Format {
                found: format!("codes of {bits} bits"),
            });
        }
    };
    if lists.len() != centroids.lists() {
        return Err(SegmentError::Missing {
            part: "a list of vectors",
        });
    }
    Ok(Vectors::new(said.profile, centroids, bits, said.at, lists))
}
