//! Building the index of a segment: the order of its rows, the codes of their vectors,
//! the posting lists of their words, names and values, and the order of their values.
//!
//! It is a pure function of the rows and a seed, so that whoever compacts writes the same
//! bytes. Rows lie scope by scope, and within a scope list by list, so that what a search
//! wants lies together. It must not write the rows: their columns are the caller's.

use bytes::Bytes;

use crate::bm25::Totals;
use crate::ivf::{
    Assigner, Assignment, CENTROID_BITS, CODE_BITS, Centroids, Encoder, Place, Reservoir, Training,
    lists_for, train,
};
use crate::postings::{Builder, Settings, keys};
use crate::record::{Chunk, Embedding, Record, Status};
use crate::text::DocumentTerms;
use crate::vector;

use super::blocks::checksum;
use super::error::SegmentError;
use super::flat::{self, Flat};
use super::replaced::VectorState;
use super::root::{Postings, ScopeRun};
use super::sorted;
use super::vectors::Vectors;

/// Vectors that are looked at to find the lists.
const SAMPLE: usize = 64 * 1024;
/// Scopes up to which the root names each.
const MOST_RUNS: usize = 4096;
const SEED: u64 = 0x6f73_7472_6163_6131;

/// What an index is built of.
#[derive(Debug)]
pub struct Arranged {
    /// The places of the live records in the order in which they become rows.
    pub order: Vec<usize>,
    vectors: Option<Assigned>,
}

#[derive(Debug)]
struct Assigned {
    profile: String,
    centroids: Centroids,
    /// Lists of each vector, by record and chunk.
    assignments: Vec<Vec<Assignment>>,
}

/// The objects of an index and what the root has to say of them.
#[derive(Debug)]
pub struct Index {
    /// The file of codes; nothing if there are no vectors.
    pub codes: Option<Bytes>,
    /// The file of posting lists and of the sorted index.
    pub postings: Bytes,
    /// The vectors, for the root.
    pub vectors: Option<Vectors>,
    /// What that file holds, for the root.
    pub lists: Postings,
    /// Statistics of the live rows.
    pub totals: Totals,
    /// Live rows with vectors.
    pub embedded: u64,
    /// Live rows that are due for vectors.
    pub pending: u64,
    /// Live rows whose status is another than active.
    pub inactive: u64,
    /// The scopes of the live rows, in their order; empty if they are very many.
    pub runs: Vec<ScopeRun>,
    /// When live rows expire, and which, in the order of time.
    pub expiring: Vec<(i64, u32)>,
}

/// Finds the order of live records: realm, scope, list of the first vector, id. Vectors
/// of `profile` are indexed, others are not.
pub fn arrange(records: &[&Record], profile: Option<&str>) -> Arranged {
    let vectors = profile.and_then(|profile| assign(records, profile));
    let list = |record: usize| {
        let assignments = &vectors.as_ref()?.assignments;
        assignments.get(record)?.first().map(|lists| lists.primary)
    };
    let mut order: Vec<usize> = (0..records.len()).collect();
    order.sort_by_cached_key(|index| {
        let record = records.get(*index);
        let name = record.map(|record| (record.realm.clone(), record.scope.clone()));
        (name, list(*index), record.map(|record| record.id.clone()))
    });
    Arranged { order, vectors }
}

fn chunks<'a>(record: &'a Record, wanted: &str, dimension: usize) -> &'a [Chunk] {
    match &record.embedding {
        Embedding::Ready { profile, chunks }
            if profile == wanted
                && chunks
                    .iter()
                    .all(|chunk| vector::check(&chunk.vector, Some(dimension)).is_ok()) =>
        {
            chunks
        }
        _ => &[],
    }
}

/// The dimension of a profile's vectors: the most frequent one.
fn dimension(records: &[&Record], wanted: &str) -> Option<usize> {
    let mut counts = std::collections::BTreeMap::<usize, usize>::new();
    for record in records {
        if let Embedding::Ready { profile, chunks } = &record.embedding
            && profile == wanted
            && let Some(chunk) = chunks.first()
        {
            *counts.entry(chunk.vector.len()).or_default() += 1;
        }
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map(|(dimension, _)| dimension)
        .filter(|dimension| *dimension > 0)
}

fn assign(records: &[&Record], profile: &str) -> Option<Assigned> {
    let dimension = dimension(records, profile)?;
    let mut sample = Reservoir::new(dimension, SAMPLE, SEED);
    let mut count = 0_usize;
    for chunk in records
        .iter()
        .flat_map(|record| chunks(record, profile, dimension))
    {
        sample.offer(&vector::normalised(&chunk.vector));
        count += 1;
    }
    let centroids = train(
        &sample.into_rows(),
        Training {
            lists: lists_for(count),
            bits: CENTROID_BITS,
            seed: SEED,
        },
    );
    let mut assigner = Assigner::new(&centroids);
    let assignments = records
        .iter()
        .map(|record| {
            chunks(record, profile, dimension)
                .iter()
                .map(|chunk| assigner.assign(&vector::normalised(&chunk.vector)))
                .collect()
        })
        .collect();
    Some(Assigned {
        profile: profile.to_owned(),
        centroids,
        assignments,
    })
}

/// Builds the index of records that have been arranged; `past` are the ids of the rows
/// that follow the live ones, which are found by their names alone.
pub fn build<'a>(
    records: &[&Record],
    arranged: &Arranged,
    past: impl IntoIterator<Item = &'a str>,
) -> Result<Index, SegmentError> {
    let ordered = || {
        arranged
            .order
            .iter()
            .filter_map(|index| records.get(*index).copied())
    };
    let mut builder = Builder::new(Settings::default());
    let mut sorted = sorted::Builder::default();
    let (mut totals, mut embedded, mut pending, mut inactive) = (Totals::default(), 0, 0, 0);
    let mut expiring = Vec::new();
    let mut runs: Vec<ScopeRun> = Vec::new();
    let mut doc = 0_u32;
    for record in ordered() {
        let terms = DocumentTerms::of(record.texts());
        totals.records += 1;
        totals.length += u64::from(terms.length);
        match VectorState::of(record) {
            VectorState::None => {}
            VectorState::Pending => pending += 1,
            VectorState::Ready => embedded += 1,
        }
        inactive += u64::from(record.status != Status::Active);
        expiring.extend(record.expires.map(|at| (at, doc)));
        match runs.last_mut() {
            Some(run) if run.realm == record.realm && run.scope == record.scope => run.rows += 1,
            _ => runs.push(ScopeRun {
                realm: record.realm.clone(),
                scope: record.scope.clone(),
                rows: 1,
            }),
        }
        builder.add(doc, &terms, keys::of_record(record));
        sorted.add(doc, record);
        doc = next(doc)?;
    }
    for id in past {
        builder.add(doc, &DocumentTerms::default(), [keys::id(id)]);
        doc = next(doc)?;
    }
    expiring.sort_unstable();
    if runs.len() > MOST_RUNS {
        runs.clear();
    }
    let built = builder.finish().map_err(SegmentError::Postings)?;
    let buckets = built.directory.buckets();
    let ends = (0..buckets).filter_map(|bucket| Some(built.directory.range(bucket)?.end));
    let mut blob = built.blob;
    let sorted = sorted.finish(&mut blob);
    let ends = ends.chain(sorted.ends());
    let postings = flat::variable("the posting lists", "bucket", blob, ends)?;
    let (codes, vectors) = match &arranged.vectors {
        Some(assigned) => {
            let (file, vectors) = encode(records, &arranged.order, assigned)?;
            (Some(file), Some(vectors))
        }
        None => (None, None),
    };
    Ok(Index {
        codes,
        postings: postings.file,
        vectors,
        lists: Postings {
            directory: built.directory,
            at: postings.at,
            sorted: sorted.behind(postings.at),
        },
        totals,
        embedded,
        pending,
        inactive,
        runs,
        expiring,
    })
}

fn next(doc: u32) -> Result<u32, SegmentError> {
    doc.checked_add(1)
        .ok_or(SegmentError::TooLarge { part: "a segment" })
}

/// Writes the entries of all lists.
fn encode(
    records: &[&Record],
    order: &[usize],
    assigned: &Assigned,
) -> Result<(Bytes, Vectors), SegmentError> {
    let centroids = &assigned.centroids;
    let mut lists: Vec<Vec<(Place, &[f32])>> = vec![Vec::new(); centroids.lists()];
    for (doc, index) in (0_u32..).zip(order) {
        let (Some(record), Some(assignments)) =
            (records.get(*index), assigned.assignments.get(*index))
        else {
            continue;
        };
        let chunks = chunks(record, &assigned.profile, centroids.dimension());
        for (number, (chunk, assignment)) in (0_u16..).zip(chunks.iter().zip(assignments)) {
            let place = Place { doc, chunk: number };
            for list in [Some(assignment.primary), assignment.secondary] {
                if let Some(entries) = list.and_then(|list| lists.get_mut(list)) {
                    entries.push((place, &chunk.vector));
                }
            }
        }
    }
    let mut encoder = Encoder::new(centroids, CODE_BITS);
    let (mut values, mut counts) = (Vec::new(), Vec::new());
    for (list, entries) in lists.iter().enumerate() {
        let start = values.len();
        for (place, vector) in entries {
            encoder.encode(&vector::normalised(vector), list, *place, &mut values);
        }
        let bytes = values.get(start..).unwrap_or_default();
        let count =
            u32::try_from(entries.len()).map_err(|_| SegmentError::TooLarge { part: "a list" })?;
        counts.push((count, checksum(bytes)));
    }
    let width = encoder.layout().width();
    let Flat { file, at } = flat::fixed("the codes", "entry", values, width)?;
    let profile = assigned.profile.clone();
    Ok((
        file,
        Vectors::new(profile, centroids.clone(), CODE_BITS, at, counts),
    ))
}
