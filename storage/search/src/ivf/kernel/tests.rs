use proptest::prelude::*;

use super::{portable, simd};

/// The sum as its definition reads, in numbers that cannot overflow.
fn by_definition(planes: &[&[i16]], codes: &[u8]) -> i64 {
    let bits = 8 / planes.len();
    let mask = (1_u16 << bits) - 1;
    planes
        .iter()
        .enumerate()
        .flat_map(|(plane, values)| {
            codes.iter().zip(values.iter()).map(move |(code, value)| {
                let level = (u16::from(*code) >> (plane * bits)) & mask;
                i64::from(level) * i64::from(*value)
            })
        })
        .sum()
}

proptest! {
    #[test]
    fn sums_are_those_of_the_definition(
        codes in prop::collection::vec(any::<u8>(), 0..300),
        seed in prop::collection::vec(-2000_i16..2000, 1200),
    ) {
        let plane = |number: usize| &seed[number * 300..number * 300 + codes.len()];
        let [a, b, c, d] = [plane(0), plane(1), plane(2), plane(3)];
        prop_assert_eq!(i64::from(portable::shifted([a], &codes)), by_definition(&[a], &codes));
        prop_assert_eq!(
            i64::from(portable::shifted([a, b], &codes)),
            by_definition(&[a, b], &codes)
        );
        prop_assert_eq!(
            i64::from(portable::shifted([a, b, c, d], &codes)),
            by_definition(&[a, b, c, d], &codes)
        );
    }
}

proptest! {
    #[test]
    fn both_kernels_agree(
        codes in prop::collection::vec(any::<u8>(), 0..300),
        seed in prop::collection::vec(any::<i16>(), 1200),
        floats in prop::collection::vec((-1.0_f32..1.0, -1.0_f32..1.0), 0..600),
    ) {
        let plane = |number: usize| &seed[number * 300..number * 300 + codes.len()];
        let [a, b, c, d] = [plane(0), plane(1), plane(2), plane(3)];
        prop_assert_eq!(portable::shifted([a], &codes), simd::shifted([a], &codes));
        prop_assert_eq!(portable::shifted([a, b], &codes), simd::shifted([a, b], &codes));
        prop_assert_eq!(
            portable::shifted([a, b, c, d], &codes),
            simd::shifted([a, b, c, d], &codes)
        );
        let (left, right): (Vec<f32>, Vec<f32>) = floats.into_iter().unzip();
        let apart = portable::dot(&left, &right) - simd::dot(&left, &right);
        prop_assert!(apart.abs() < 1e-3, "{apart}");
    }
}
