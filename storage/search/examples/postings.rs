//! Measures the postings of a segment: bytes, the rate of building and merging, and what
//! queries of 4, 10 and 40 terms read and take, by MAXSCORE and by scoring everything.
//!
//! `OSTRACA_SCIFACT` names a folder with the `corpus.jsonl.gz` and `queries.jsonl` of that
//! data set; without it only the synthetic rows are measured. `OSTRACA_ROWS` says how
//! many of these there are.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a benchmark reads its input and the clock, and stops where something is wrong"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::time::{Duration, Instant};

use bytes::Bytes;
use ostraca_search::bm25::{Bm25, Totals};
use ostraca_search::postings::{
    Bucket, Builder, Built, List, Scored, Scoring, Settings, Source, TermHash, Wanted, Weighted,
    exhaustive, keys, merge, top_k,
};
use ostraca_search::text::{DocumentTerms, QueryTerms};
use serde_json::Value as Json;

const QUERIES: usize = 200;

fn main() {
    if let Ok(folder) = std::env::var("OSTRACA_SCIFACT") {
        scifact(&folder);
    }
    let rows = std::env::var("OSTRACA_ROWS").map_or(100_000, |rows| rows.parse().unwrap());
    synthetic(rows);
}

fn scifact(folder: &str) {
    let packed = std::fs::read(format!("{folder}/corpus.jsonl.gz")).unwrap();
    let mut corpus = String::new();
    flate2::read::GzDecoder::new(packed.as_slice())
        .read_to_string(&mut corpus)
        .unwrap();
    let texts: Vec<[String; 2]> = corpus
        .lines()
        .map(|line| {
            let json: Json = serde_json::from_str(line).unwrap();
            ["title", "text"].map(|name| json[name].as_str().unwrap().to_owned())
        })
        .collect();
    let start = Instant::now();
    let rows: Vec<DocumentTerms> = texts
        .iter()
        .map(|texts| DocumentTerms::of(texts.iter().map(String::as_str)))
        .collect();
    println!("SciFact: analysed in {:.2?}", start.elapsed());
    let built = measure_build(&rows);
    let claims = std::fs::read_to_string(format!("{folder}/queries.jsonl")).unwrap();
    let queries: Vec<BTreeMap<String, u32>> = claims
        .lines()
        .take(QUERIES)
        .map(|line| {
            let json: Json = serde_json::from_str(line).unwrap();
            let terms = QueryTerms::of(json["text"].as_str().unwrap()).terms;
            terms
                .into_iter()
                .map(|(term, query)| (term, query.count))
                .collect()
        })
        .collect();
    measure_queries("claims", &rows, &built, &queries);
}

fn synthetic(count: usize) {
    let mut random = Random(1);
    let rows: Vec<DocumentTerms> = (0..count)
        .map(|_| {
            let mut terms = DocumentTerms::default();
            // Words come back within a row, as they do in texts.
            let tokens = 20 + random.below(80);
            while u64::from(terms.length) < tokens {
                let term = format!("w{}", random.zipf(300_000));
                let times = if random.below(4) == 0 { 2 } else { 1 };
                *terms.counts.entry(term).or_default() += times;
                terms.length += times;
            }
            terms
        })
        .collect();
    println!("\nsynthetic:");
    let built = measure_build(&rows);
    for terms in [4, 10, 40] {
        let queries: Vec<BTreeMap<String, u32>> = (0..QUERIES)
            .map(|_| {
                let mut query = BTreeMap::new();
                while query.len() < terms {
                    let row = &rows[random.below(rows.len() as u64) as usize];
                    let at = random.below(row.counts.len() as u64) as usize;
                    query.extend(row.counts.keys().nth(at).map(|term| (term.clone(), 1)));
                }
                query
            })
            .collect();
        measure_queries(&format!("{terms} terms"), &rows, &built, &queries);
    }
}

fn measure_build(rows: &[DocumentTerms]) -> Built {
    let (built, took) = build(rows, Length::Kept);
    let postings: usize = rows.iter().map(|row| row.counts.len()).sum();
    let words: BTreeSet<&String> = rows.iter().flat_map(|row| row.counts.keys()).collect();
    let per_posting = |bytes: usize| bytes as f64 / postings as f64;
    println!(
        "  {} rows, {postings} postings, {} terms; built in {took:.2?} ({:.0} rows/s)",
        rows.len(),
        words.len(),
        rows.len() as f64 / took.as_secs_f64(),
    );
    println!(
        "  {} bytes in {} buckets, {:.2} bytes per posting, directory {} bytes",
        built.blob.len(),
        built.directory.buckets(),
        per_posting(built.blob.len()),
        built.directory.encode().len(),
    );
    let (without, _) = build(rows, Length::Dropped);
    println!(
        "  of these the lengths are {:.2} bytes per posting; apart they would be {} bytes in all",
        per_posting(built.blob.len() - without.blob.len()),
        rows.len()
            * if rows.iter().all(|row| row.length < 256) {
                1
            } else {
                2
            },
    );
    let mut names = Builder::new(Settings::default());
    for doc in 0..rows.len() as u32 {
        let id = keys::id(&format!("01JD{doc:022}"));
        names.add(doc, &DocumentTerms::default(), [id]);
    }
    let names = names.finish().unwrap().blob.len();
    println!(
        "  a name takes {:.1} bytes per row",
        names as f64 / rows.len() as f64
    );
    measure_merge(rows, &built);
    built
}

fn measure_merge(rows: &[DocumentTerms], built: &Built) {
    let settings = Settings {
        memory_bytes: 16 << 20,
        ..Settings::default()
    };
    let start = Instant::now();
    let mut builder = Builder::new(settings);
    let mut runs = Vec::new();
    for (doc, row) in (0..).zip(rows) {
        if builder.is_full() {
            runs.push(Bytes::from(builder.drain().unwrap()));
        }
        builder.add(doc, row, []);
    }
    runs.push(Bytes::from(builder.drain().unwrap()));
    let (count, bytes) = (runs.len(), runs.iter().map(Bytes::len).sum::<usize>());
    let merged = merge(
        settings,
        runs.into_iter().map(|run| (Source::numbered(), run)),
    )
    .unwrap();
    assert!(merged == *built);
    println!(
        "  within 16 MB: {count} runs of {bytes} bytes, merged, in all {:.2?}",
        start.elapsed()
    );
    let half = rows.len() / 2;
    let parts = [&rows[..half], &rows[half..]].map(|rows| build(rows, Length::Kept).0.blob);
    let start = Instant::now();
    let count = rows.len() as u32;
    let sources = parts
        .into_iter()
        .zip([0, half as u32])
        .map(|(blob, first)| {
            // Neighbours are far apart afterwards.
            let source = Source::renumbered(move |doc| {
                Some((u64::from(doc + first) * 7919 % u64::from(count)) as u32)
            });
            (source, Bytes::from(blob))
        });
    let merged = merge(Settings::default(), sources).unwrap();
    println!(
        "  two segments merged and renumbered in {:.2?}, {} bytes",
        start.elapsed(),
        merged.blob.len()
    );
}

#[derive(Clone, Copy)]
enum Length {
    Kept,
    Dropped,
}

fn build(rows: &[DocumentTerms], length: Length) -> (Built, Duration) {
    let settings = Settings {
        memory_bytes: 1 << 30,
        ..Settings::default()
    };
    let start = Instant::now();
    let mut builder = Builder::new(settings);
    for (doc, row) in (0..).zip(rows) {
        match length {
            Length::Kept => builder.add(doc, row, []),
            Length::Dropped => {
                let counts = row.counts.clone();
                builder.add(doc, &DocumentTerms { counts, length: 0 }, []);
            }
        }
    }
    let built = builder.finish().unwrap();
    (built, start.elapsed())
}

fn measure_queries(
    name: &str,
    rows: &[DocumentTerms],
    built: &Built,
    queries: &[BTreeMap<String, u32>],
) {
    let blob = Bytes::from(built.blob.clone());
    let totals = Totals {
        records: rows.len() as u64,
        length: rows.iter().map(|row| u64::from(row.length)).sum(),
    };
    let scoring = Scoring {
        bm25: Bm25::default(),
        totals,
    };
    let mut bytes = Vec::new();
    let mut reads = Vec::new();
    let mut postings = Vec::new();
    let mut times: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
    for query in queries {
        let buckets: BTreeSet<usize> = query
            .keys()
            .filter_map(|term| built.directory.bucket(TermHash::text(term)))
            .collect();
        let range = |bucket| {
            let range = built.directory.range(bucket).unwrap();
            range.start as usize..range.end as usize
        };
        let fetched: BTreeMap<usize, Bytes> = buckets
            .iter()
            .map(|bucket| (*bucket, blob.slice(range(*bucket))))
            .collect();
        bytes.push(fetched.values().map(Bytes::len).sum::<usize>());
        reads.push(fetched.len());
        let mut time = |name, start: Instant| times.entry(name).or_default().push(start.elapsed());
        let start = Instant::now();
        let opened: BTreeMap<usize, Bucket> = fetched
            .iter()
            .map(|(bucket, bytes)| (*bucket, Bucket::open(bytes).unwrap()))
            .collect();
        let lists: Vec<(List, f64)> = query
            .iter()
            .filter_map(|(term, count)| {
                let term = TermHash::text(term);
                let bucket = built.directory.bucket(term)?;
                let list = opened[&bucket].find(term).unwrap()?;
                let df = u64::from(list.document_frequency());
                Some((list, Bm25::idf(totals, df) * f64::from(*count)))
            })
            .collect();
        time("open", start);
        postings.push(
            lists
                .iter()
                .map(|(list, _)| list.document_frequency() as usize)
                .sum::<usize>(),
        );
        let weighted: Vec<Weighted<'_>> = lists
            .iter()
            .map(|(list, weight)| Weighted {
                list,
                weight: *weight,
            })
            .collect();
        let start = Instant::now();
        let mut all = exhaustive(&weighted, scoring, |_| true).unwrap();
        if all.len() > 10 {
            all.select_nth_unstable_by(9, |a, b| b.score.total_cmp(&a.score));
        }
        time("everything", start);
        all.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc)));
        for (name, k) in [("best 10", 10), ("best 100", 100)] {
            let wanted = Wanted { k, least: None };
            let start = Instant::now();
            let found: Vec<Scored> = top_k(&weighted, scoring, wanted, |_| true).unwrap();
            time(name, start);
            assert!(found == all[..found.len()]);
        }
    }
    println!(
        "  {name}: {} buckets, {} bytes (90 %: {}), {} postings",
        median(&mut reads),
        median(&mut bytes),
        bytes[bytes.len() * 9 / 10],
        median(&mut postings),
    );
    for (name, mut times) in times {
        let middle = median(&mut times);
        println!(
            "    {name}: {middle:.1?} (90 %: {:.1?})",
            times[times.len() * 9 / 10]
        );
    }
}

fn median<T: Ord + Copy>(values: &mut [T]) -> T {
    values.sort_unstable();
    values[values.len() / 2]
}

/// Numbers at random from a seed (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// A rank by Zipf's law, without the 30 most frequent, which are stop words.
    fn zipf(&mut self, end: u64) -> u64 {
        loop {
            let unit = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
            let rank = (end as f64).powf(unit) as u64;
            if rank > 30 {
                return rank - 30;
            }
        }
    }
}
