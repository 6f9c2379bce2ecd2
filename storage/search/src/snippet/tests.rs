use proptest::prelude::*;

use super::*;

fn terms(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn a_short_content_is_shown_whole() {
    assert_eq!(snippet("short", &[], None, 80).text, "short");
}

#[test]
fn the_window_holds_the_matches() {
    let content = format!(
        "{}the pump maintenance is due{}",
        "filler words ".repeat(200),
        " more of it".repeat(200)
    );
    let shown = snippet(&content, &terms(&["pump", "maintenance"]), None, 120);
    assert!(shown.text.contains("pump maintenance"), "{}", shown.text);
    assert!(shown.text.len() <= 120);
    assert_eq!(content.get(shown.range.clone()), Some(shown.text));
    assert!(!shown.text.starts_with(' '));
}

#[test]
fn two_terms_together_beat_one_term_often() {
    let content = format!("{}{}alpha beta", "alpha ".repeat(50), "x ".repeat(500));
    let shown = snippet(&content, &terms(&["alpha", "beta"]), None, 60);
    assert!(shown.text.contains("beta"), "{}", shown.text);
}

#[test]
fn without_a_match_the_chunk_is_shown() {
    let content = format!("{}START here{}", "a ".repeat(300), " b".repeat(300));
    let shown = snippet(&content, &[], Some((600, 900)), 40);
    assert!(shown.text.starts_with("START"), "{}", shown.text);
}

#[test]
fn a_cut_never_falls_inside_a_character() {
    let content = format!("{}🟡{}", "a".repeat(79), "é".repeat(100));
    assert_eq!(snippet(&content, &[], None, 80).text, "a".repeat(79));
    assert_eq!(truncated(&content, 80), "a".repeat(79));
    assert_eq!(truncated("aé", 2), "a");
    assert_eq!(truncated("aé", 3), "aé");
}

proptest! {
    #[test]
    fn any_snippet_is_a_part_of_the_content_that_fits(
        content in "\\PC{0,300}",
        words in prop::collection::vec("\\PC{1,6}", 0..4),
        chunk in prop::option::of((0_u32..400, 0_u32..400)),
        max_bytes in 0_usize..200,
    ) {
        let shown = snippet(&content, &words, chunk, max_bytes);
        prop_assert_eq!(content.get(shown.range.clone()), Some(shown.text));
        prop_assert!(shown.text.len() <= max_bytes || shown.text.len() == content.len());
    }

    #[test]
    fn a_term_of_the_content_is_shown(
        before in "[a-m ]{0,200}", after in "[a-m ]{0,200}",
    ) {
        let content = format!("{before} zzz {after}");
        let shown = snippet(&content, &terms(&["zzz"]), None, 60);
        prop_assert!(shown.text.contains("zzz"), "{:?}", shown);
    }
}
