use proptest::prelude::*;

use super::*;
use crate::bm25::{Bm25, Totals};

/// A query over segments that share statistics.
struct Case {
    segments: Vec<Vec<Row>>,
    /// Terms in the order of their text, with their occurrences in the query.
    terms: BTreeMap<String, u32>,
    scoring: Scoring,
}

impl Case {
    fn df(&self, term: &str) -> u64 {
        let rows = self.segments.iter().flatten();
        rows.filter(|row| row.terms.counts.contains_key(term))
            .count() as u64
    }

    fn weight(&self, term: &str, count: u32) -> f64 {
        Bm25::idf(self.scoring.totals, self.df(term)) * f64::from(count)
    }

    /// Every score straight from the definition, by segment and row.
    fn model(&self, segment: usize, accept: impl Fn(u32) -> bool) -> Vec<Scored> {
        let weights: BTreeMap<&String, f64> = self
            .terms
            .iter()
            .map(|(term, count)| (term, self.weight(term, *count)))
            .collect();
        let Scoring { bm25, totals } = self.scoring;
        let mut scored = Vec::new();
        for row in self.segments[segment].iter().filter(|row| accept(row.doc)) {
            let mut score = 0.0;
            for (term, weight) in &weights {
                if let Some(tf) = row.terms.counts.get(*term) {
                    score += bm25.score(totals, *weight, *tf, row.terms.length);
                }
            }
            if score > 0.0 {
                scored.push(Scored {
                    doc: row.doc,
                    score,
                });
            }
        }
        scored
    }

    fn with_lists<T>(&self, segment: usize, then: impl FnOnce(&[Weighted<'_>]) -> T) -> T {
        let built = build(&self.segments[segment]);
        let lists: Vec<(List, f64)> = self
            .terms
            .iter()
            .filter_map(|(term, count)| {
                let list = fetch(&built, TermHash::text(term))?;
                Some((list, self.weight(term, *count)))
            })
            .collect();
        let weighted: Vec<Weighted<'_>> = lists
            .iter()
            .map(|(list, weight)| Weighted {
                list,
                weight: *weight,
            })
            .collect();
        then(&weighted)
    }
}

fn case(seed: u64, rows_of: &[u64], words: u64, terms: u64, bm25: Bm25) -> Case {
    let mut random = Random(seed);
    let segments: Vec<Vec<Row>> = rows_of
        .iter()
        .zip([0, words / 2])
        .map(|(count, shift)| {
            // Terms that are rare in one segment are common in the other.
            let rows = rows(&mut random, *count, words, 3);
            rows.into_iter()
                .map(|mut row| {
                    let counts = std::mem::take(&mut row.terms.counts);
                    for (term, tf) in counts {
                        let rank: u64 = term.strip_prefix('w').unwrap().parse().unwrap();
                        let term = word((rank + shift) % words);
                        *row.terms.counts.entry(term).or_default() += tf;
                    }
                    row
                })
                .collect()
        })
        .collect();
    let mut query = BTreeMap::new();
    for _ in 0..terms {
        *query.entry(word(random.below(words))).or_default() += 1;
    }
    let rows = segments.iter().flatten();
    let length: u64 = rows.map(|row| u64::from(row.terms.length)).sum();
    // A tail that no segment holds counts too.
    let totals = Totals {
        records: rows_of.iter().sum::<u64>() + random.below(100),
        length: length + random.below(1000),
    };
    Case {
        segments,
        terms: query,
        scoring: Scoring { bm25, totals },
    }
}

/// The best `k` and every tie with the last, from all scores.
fn best(mut scored: Vec<Scored>, wanted: Wanted) -> Vec<Scored> {
    scored.retain(|row| wanted.least.is_none_or(|least| row.score >= least));
    scored.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc)));
    match wanted.k.checked_sub(1) {
        None => scored.clear(),
        Some(last) => {
            if let Some(last) = scored.get(last).copied() {
                scored.retain(|row| row.score >= last.score);
            }
        }
    }
    scored
}

fn bits(scored: &[Scored]) -> Vec<(u32, u64)> {
    scored
        .iter()
        .map(|row| (row.doc, row.score.to_bits()))
        .collect()
}

fn any_bm25() -> impl Strategy<Value = Bm25> {
    prop_oneof![
        4 => (0.0..3.0_f64, 0.0..=1.0_f64).prop_map(|(k1, b)| Bm25 { k1, b }),
        1 => Just(Bm25 { k1: 0.0, b: 0.0 }),
        1 => Just(Bm25::default()),
        // No bound holds for these; results must all the same.
        1 => Just(Bm25 { k1: 1.0, b: 1.5 }),
        1 => Just(Bm25 { k1: -0.2, b: 0.5 }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_best_are_those_of_scoring_everything(
        seed in any::<u64>(),
        first in 1_u64..1500,
        second in 0_u64..300,
        words in 1_u64..300,
        terms in 1_u64..24,
        bm25 in any_bm25(),
        k in prop::sample::select(vec![0_usize, 1, 2, 5, 10, 100, usize::MAX]),
        modulus in prop::sample::select(vec![1_u32, 2, 3, 17, 400]),
        least in prop::option::of(0.0..8.0_f64),
    ) {
        let case = case(seed, &[first, second], words, terms, bm25);
        let accept = |doc: u32| doc.is_multiple_of(modulus);
        let wanted = Wanted { k, least };
        let mut of_both = Vec::new();
        let mut expected_of_both = Vec::new();
        for segment in 0..2 {
            let expected = case.model(segment, accept);
            case.with_lists(segment, |lists| -> Result<(), TestCaseError> {
                let all = exhaustive(lists, case.scoring, accept).unwrap();
                prop_assert_eq!(bits(&all), bits(&expected));
                let found = top_k(lists, case.scoring, wanted, accept).unwrap();
                prop_assert_eq!(bits(&found), bits(&best(expected.clone(), wanted)));
                let docs: DocSet = case.segments[segment].iter().map(|row| row.doc).filter(|doc| accept(*doc)).collect();
                let scored = score_docs(lists, case.scoring, &docs).unwrap();
                prop_assert_eq!(bits(&scored), bits(&expected));
                let shift = u32::try_from(segment).unwrap() << 31;
                let moved = |rows: Vec<Scored>| rows.into_iter().map(move |row| Scored { doc: row.doc + shift, ..row });
                of_both.extend(moved(found));
                expected_of_both.extend(moved(expected));
                Ok(())
            })?;
        }
        prop_assert_eq!(bits(&best(of_both, wanted)), bits(&best(expected_of_both, wanted)));
    }
}

#[test]
fn many_windows_and_blocks_change_nothing() {
    for (seed, terms) in [(1, 3), (2, 12), (3, 40)] {
        let case = case(seed, &[12_000], 2_000, terms, Bm25::default());
        let expected = case.model(0, |_| true);
        assert!(expected.len() > 50);
        case.with_lists(0, |lists| {
            for k in [1, 10, 100] {
                let wanted = Wanted { k, least: None };
                let found = top_k(lists, case.scoring, wanted, |_| true).unwrap();
                assert_eq!(bits(&found), bits(&best(expected.clone(), wanted)));
            }
            let all = exhaustive(lists, case.scoring, |_| true).unwrap();
            assert_eq!(bits(&all), bits(&expected));
        });
    }
}

#[test]
fn most_rows_are_never_asked_about() {
    let mut case = case(7, &[20_000], 2_000, 0, Bm25::default());
    let mut random = Random(7);
    for _ in 0..12 {
        *case.terms.entry(word(random.zipf(2_000))).or_default() += 1;
    }
    let matching = case.model(0, |_| true).len();
    case.with_lists(0, |lists| {
        let mut asked = 0;
        let wanted = Wanted { k: 10, least: None };
        top_k(lists, case.scoring, wanted, |_| {
            asked += 1;
            true
        })
        .unwrap();
        assert!(asked * 3 < matching, "{asked} of {matching}");
    });
}

#[test]
fn every_tie_is_kept() {
    let rows: Vec<Row> = (0..9000)
        .map(|doc| {
            let mut terms = DocumentTerms::default();
            terms.counts.insert("w".to_owned(), 1);
            terms.length = if doc == 8000 { 3 } else { 5 };
            Row {
                doc,
                terms,
                keys: Vec::new(),
            }
        })
        .collect();
    let built = build(&rows);
    let list = fetch(&built, TermHash::text("w")).unwrap();
    let scoring = Scoring {
        bm25: Bm25::default(),
        totals: Totals {
            records: 20_000,
            length: 100_000,
        },
    };
    let lists = [Weighted {
        list: &list,
        weight: 1.0,
    }];
    let of = |k: usize| {
        let wanted = Wanted { k, least: None };
        top_k(&lists, scoring, wanted, |_| true).unwrap()
    };
    assert_eq!(of(0).len(), 0);
    assert_eq!(of(1).len(), 1);
    assert_eq!(of(1)[0].doc, 8000);
    assert_eq!(of(2).len(), 9000);
    assert_eq!(of(2)[1].doc, 0);
}

#[test]
fn weights_that_bound_nothing_still_score() {
    let case = case(5, &[300], 20, 4, Bm25::default());
    let built = build(&case.segments[0]);
    let list = fetch(&built, TermHash::text(&word(0)));
    let other = fetch(&built, TermHash::text(&word(1)));
    let (Some(list), Some(other)) = (list, other) else {
        panic!("common words are there");
    };
    for weight in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        let lists = [
            Weighted {
                list: &list,
                weight,
            },
            Weighted {
                list: &other,
                weight: 2.0,
            },
        ];
        let wanted = Wanted { k: 5, least: None };
        let all = exhaustive(&lists, case.scoring, |_| true).unwrap();
        let found = top_k(&lists, case.scoring, wanted, |_| true).unwrap();
        assert_eq!(bits(&found), bits(&best(all, wanted)), "{weight}");
    }
}

#[test]
fn rows_at_the_end_of_numbers_are_found() {
    let mut terms = DocumentTerms::default();
    terms.counts.insert("w".to_owned(), 1);
    terms.length = 1;
    let mut builder = Builder::new(small());
    for doc in [5, u32::MAX - 5000, u32::MAX] {
        builder.add(doc, &terms, []);
    }
    let built = builder.finish().unwrap();
    let list = fetch(&built, TermHash::text("w")).unwrap();
    let scoring = Scoring {
        bm25: Bm25::default(),
        totals: Totals {
            records: 3,
            length: 3,
        },
    };
    let lists = [Weighted {
        list: &list,
        weight: 1.0,
    }];
    let wanted = Wanted { k: 2, least: None };
    let found = top_k(&lists, scoring, wanted, |_| true).unwrap();
    let docs: Vec<u32> = found.iter().map(|row| row.doc).collect();
    assert_eq!(docs, [5, u32::MAX - 5000, u32::MAX]);
}
