//! The measures of retrieval, each as it is usually defined.

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
