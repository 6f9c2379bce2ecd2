use super::*;

#[test]
fn a_term_in_every_record_still_weighs_something() {
    let totals = Totals {
        records: 10,
        length: 100,
    };
    assert!(Bm25::idf(totals, 10) > 0.0);
    assert!(Bm25::idf(totals, 1) > Bm25::idf(totals, 9));
}

#[test]
fn scores_follow_the_formula() {
    let totals = Totals {
        records: 4,
        length: 40,
    };
    let idf = Bm25::idf(totals, 1);
    assert!((idf - (1.0_f64 + 3.5 / 1.5).ln()).abs() < 1e-12);
    // A record of average length: tf / (tf + k1).
    let score = Bm25::default().score(totals, idf, 3, 10);
    assert!((score - idf * 3.0 / (3.0 + Bm25::default().k1)).abs() < 1e-12);
    assert!(Bm25::default().score(totals, idf, 3, 100) < score);
}

#[test]
fn a_collection_of_stop_words_has_finite_scores() {
    let totals = Totals {
        records: 2,
        length: 0,
    };
    let score = Bm25::default().score(totals, Bm25::idf(totals, 1), 1, 0);
    assert!(score.is_finite() && score > 0.0);
}
