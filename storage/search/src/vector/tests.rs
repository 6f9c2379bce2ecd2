use proptest::prelude::*;

use super::*;

#[test]
fn what_is_no_vector_is_refused_by_position() {
    assert_eq!(check(&[], None), Err(VectorError::Empty));
    assert_eq!(
        check(&[0.0, f32::NAN], None),
        Err(VectorError::NotFinite { position: 1 })
    );
    assert_eq!(
        check(&[f32::INFINITY], None),
        Err(VectorError::NotFinite { position: 0 })
    );
    assert_eq!(check(&[0.0, 0.0], None), Ok(()));
}

#[test]
fn a_wrong_dimension_says_both() {
    let refused = check(&[0.5; 512], Some(768)).unwrap_err();
    assert_eq!(refused.to_string(), "expected 768 got 512");
}

#[test]
fn the_zero_vector_scores_zero_on_either_side() {
    let unit = normalised(&[3.0, 4.0]);
    assert_eq!(
        cosine(&unit, &[0.0, 0.0], inverse_norm(&[0.0, 0.0])).to_bits(),
        0.0_f64.to_bits()
    );
    let zero = normalised(&[0.0, 0.0]);
    assert_eq!(
        cosine(&zero, &[3.0, -4.0], inverse_norm(&[3.0, -4.0])).to_bits(),
        0.0_f64.to_bits()
    );
}

#[test]
fn huge_components_do_not_overflow() {
    let huge = [f32::MAX, -f32::MAX, f32::MAX];
    let score = cosine(&normalised(&huge), &huge, inverse_norm(&huge));
    assert!((score - 1.0).abs() < 1e-6, "{score}");
}

proptest! {
    #[test]
    fn dot_is_the_sum_of_products(pairs in prop::collection::vec((-1.0_f32..1.0, -1.0_f32..1.0), 0..100)) {
        let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
        let exact: f64 = a.iter().zip(&b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        prop_assert!((f64::from(dot(&a, &b)) - exact).abs() < 1e-4);
    }

    #[test]
    fn a_cosine_is_never_beyond_one(
        pairs in prop::collection::vec((any::<f32>(), any::<f32>()), 1..40),
    ) {
        let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
        prop_assume!(check(&a, None).is_ok() && check(&b, None).is_ok());
        let score = cosine(&normalised(&a), &b, inverse_norm(&b));
        prop_assert!((-1.0..=1.0).contains(&score), "{score}");
    }
}
