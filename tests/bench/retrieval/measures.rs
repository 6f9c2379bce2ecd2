//! The measures of retrieval, each as it is usually defined, and their means by mode.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

/// Discounted cumulative gain of the first ten, over that of the best order.
pub fn ndcg_at_10(grades_found: &[f64], grades_of_all: &[f64]) -> f64 {
    let gain = |grades: &[f64]| -> f64 {
        (1..=10)
            .zip(grades)
            .map(|(rank, grade)| grade / (f64::from(rank) + 1.0).log2())
            .sum()
    };
    let mut ideal = grades_of_all.to_vec();
    ideal.sort_by(|a, b| b.total_cmp(a));
    gain(grades_found) / gain(&ideal)
}

/// Student's t of paired differences: above 1.97, the mean of some hundreds is above
/// zero with 95 % confidence.
pub fn paired_t(differences: &[f64]) -> f64 {
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let variance = differences.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    mean / (variance / n).sqrt()
}

/// The mean of each measure in each mode, and the paired *t* by which hybrid is ahead of
/// keyword in each.
pub fn summary<'a>(
    asked: impl Iterator<Item = &'a BTreeMap<&'static str, BTreeMap<&'static str, f64>>>,
) -> Json {
    let mut values: BTreeMap<&str, BTreeMap<&str, Vec<f64>>> = BTreeMap::new();
    let mut count = 0;
    for by_mode in asked {
        count += 1;
        for (mode, by_measure) in by_mode {
            for (measure, value) in by_measure {
                let of_mode = values.entry(mode).or_default();
                of_mode.entry(measure).or_default().push(*value);
            }
        }
    }
    let mut summary = Map::from_iter([("questions".to_owned(), json!(count))]);
    for (mode, by_measure) in &values {
        let means = by_measure.iter().map(|(measure, values)| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            ((*measure).to_owned(), json!(mean))
        });
        summary.insert((*mode).to_owned(), Json::Object(means.collect()));
    }
    if let (Some(hybrid), Some(keyword)) = (values.get("hybrid"), values.get("keyword")) {
        let tests = hybrid
            .iter()
            .zip(keyword.values())
            .map(|((measure, hybrid), keyword)| {
                let differences: Vec<f64> =
                    hybrid.iter().zip(keyword).map(|(h, k)| h - k).collect();
                ((*measure).to_owned(), json!(paired_t(&differences)))
            });
        let tests = Json::Object(tests.collect());
        summary.insert("hybrid_over_keyword_paired_t".to_owned(), tests);
    }
    Json::Object(summary)
}
