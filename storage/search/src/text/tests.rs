use proptest::prelude::*;

use super::*;

fn terms(text: &str, side: Side) -> Vec<String> {
    tokens(text, side)
        .into_iter()
        .map(|token| token.term)
        .collect()
}

fn words(text: &str) -> Vec<String> {
    tokens(text, Side::Document)
        .into_iter()
        .filter(|token| token.role == Role::Word)
        .map(|token| token.term)
        .collect()
}

/// Whether every term of the query is in the text, as it has to be for a query
/// that quotes the text.
fn covers(text: &str, query: &str) -> bool {
    let document = DocumentTerms::of([text]);
    let query = QueryTerms::of(query);
    !query.terms.is_empty()
        && query
            .terms
            .keys()
            .all(|term| document.counts.contains_key(term))
}

#[test]
fn english_is_stemmed_and_stopped() {
    assert_eq!(
        words("The runners were running to the stores"),
        ["runner", "run", "store"]
    );
}

#[test]
fn accents_case_width_and_letter_variants_fold() {
    for (a, b) in [
        ("café résumé", "cafe\u{301} re\u{301}sume\u{301}"),
        ("café résumé", "cafe resume"),
        ("ＡＰＩ", "api"),
        ("Новосибирск", "новосибирск"),
        ("أحمد", "احمد"),
        ("Straße", "STRASSE"),
        ("İstanbul", "istanbul"),
        ("ΣΟΦΟΣ", "σοφος"),
        ("Łódź", "lodz"),
        ("٤٢", "42"),
        ("ｶﾞｲﾄﾞ", "ガイド"),
    ] {
        assert_eq!(fold(a), fold(b), "{a} {b}");
    }
}

#[test]
fn marks_that_make_another_letter_stay() {
    assert_ne!(fold("ガ"), fold("カ"));
    assert_ne!(fold("की"), fold("का"));
    assert_eq!(fold("한글"), "한글");
    assert_eq!(fold("\u{1112}\u{1161}\u{11ab}"), "한");
}

#[test]
fn scripts_without_spaces_are_found_by_any_two_characters() {
    for (text, query) in [
        ("服务器部署在腾讯云国内节点", "腾讯云"),
        ("今日は成語しりとりをした", "しりとり"),
        ("오늘 끝말잇기 게임을 했다", "끝말잇기"),
        ("采购订单自动审批流程", "审批流程"),
        ("需要设置止损点", "止损"),
        ("ประเทศไทยสวยงาม", "ไทย"),
        ("一只猫在睡觉", "猫"),
        ("サーバーのデータベース", "データ"),
        ("API를 호출", "api"),
    ] {
        assert!(covers(text, query), "{text} {query}");
    }
    assert!(!covers("即适者生存", "止损"));
}

#[test]
fn single_characters_do_not_lengthen_a_text() {
    assert_eq!(DocumentTerms::of(["腾讯云"]).length, 2);
    assert_eq!(terms("腾讯云", Side::Query), ["腾讯", "讯云"]);
    assert_eq!(terms("云", Side::Query), ["云"]);
}

#[test]
fn identifiers_are_kept_whole_and_split() {
    for (text, queries) in [
        (
            "order BENCH-100821 shipped",
            vec!["BENCH-100821", "bench", "100821", "bench_100821"],
        ),
        (
            "call get_user_name here",
            vec!["get_user_name", "getUserName", "user", "username_get name"],
        ),
        (
            "parseHTTPRequest fails",
            vec!["parseHTTPRequest", "http", "request", "parse_http_request"],
        ),
        (
            "see storage/log/append.rs",
            vec!["storage/log/append.rs", "append.rs", "append", "log"],
        ),
        ("foo.bar is unset", vec!["foo.bar", "foo", "bar"]),
        (
            "key proj:main:42",
            vec!["proj:main:42", "proj", "main", "42"],
        ),
        (
            "write to rosa.maria@mail.example.org",
            vec!["rosa.maria@mail.example.org", "rosa", "example"],
        ),
        (
            "std::collections::BTreeMap",
            vec!["collections", "BTreeMap", "tree map"],
        ),
        (
            "https://example.org/a/b?c=d",
            vec!["example.org", "example"],
        ),
        ("e-mail", vec!["email", "mail"]),
    ] {
        for query in queries {
            let document = DocumentTerms::of([text]);
            let found = QueryTerms::of(query)
                .terms
                .keys()
                .any(|term| document.counts.contains_key(term));
            assert!(found, "{text}: {query}");
        }
    }
    assert!(covers("order BENCH-100821 shipped", "BENCH-100821"));
    assert!(covers("call get_user_name", "getUserName"));
}

#[test]
fn numbers_keep_their_points_and_lose_their_thousands() {
    assert!(covers("it cost 3,000 euros", "3000"));
    assert!(covers("version 1.2.3", "1.2.3"));
    assert!(!covers("exactly 15 items", "1.5"));
    assert!(covers("on 2026-07-25 at 10:30", "2026-07-25"));
    assert!(covers("on 2026-07-25 at 10:30", "2026"));
}

#[test]
fn apostrophes_are_part_of_words() {
    assert!(covers("don't use agents here", "don't use agents"));
    assert!(covers("Rosa's favourite tea", "rosa favourite"));
    assert!(covers("Rosa’s favourite tea", "Rosa's tea"));
    assert!(covers("Mr O'Brien", "obrien"));
    assert_eq!(QueryTerms::of("we'll didn't it's").terms.len(), 3);
    assert_eq!(QueryTerms::of("we'll didn't tea").terms.len(), 1);
}

#[test]
fn a_query_of_stop_words_keeps_them() {
    assert!(covers("To be, or not to be", "to be or not to be"));
    assert!(covers("The Who played", "the"));
    assert_eq!(QueryTerms::of("how to print an incident").terms.len(), 2);
}

#[test]
fn format_characters_are_nothing() {
    assert!(is_blank("   "));
    assert!(is_blank("\u{200b}"));
    assert!(is_blank("\n\t\u{feff}\u{ad}"));
    assert!(is_blank(""));
    assert!(!is_blank("."));
    assert!(covers("zebra\u{200b}fish", "zebrafish"));
    assert!(covers("zebrafish", "zebra\u{ad}fish"));
}

#[test]
fn ranges_point_into_the_text_as_given() {
    let text = "a\u{200b}\u{200b} zebra\u{200b}fish, 腾讯云!";
    for token in tokens(text, Side::Document) {
        let shown = text
            .get(token.range.clone())
            .expect("a range between characters");
        assert_eq!(
            fold(shown).chars().next(),
            token.term.chars().next(),
            "{token:?}"
        );
    }
}

#[test]
fn an_over_long_query_keeps_its_end() {
    let query = format!(
        "{} what is Rosa's favourite tea?",
        "lorem ipsum ".repeat(4000)
    );
    let terms = QueryTerms::of(&query);
    assert!(terms.clamped);
    assert!(terms.terms.contains_key("rosa") && terms.terms.contains_key("tea"));

    let many = (0..5000)
        .map(|number| number.to_string())
        .collect::<Vec<_>>()
        .join(" ");
    let terms = QueryTerms::of(&many);
    assert!(terms.clamped);
    assert_eq!(terms.terms.len(), MAX_QUERY_TERMS);
    assert!(terms.terms.contains_key("4999") && !terms.terms.contains_key("0"));

    assert!(!QueryTerms::of("short").clamped);
    assert!(QueryTerms::of(&"é".repeat(40_000)).clamped);
}

#[test]
fn over_long_words_are_cut_alike_on_both_sides() {
    let blob = "x9".repeat(5000);
    assert!(covers(&format!("blob {blob} end"), &blob));
    assert!(
        tokens(&blob, Side::Document)
            .iter()
            .all(|token| token.term.len() <= 128)
    );
}

proptest! {
    #[test]
    fn no_text_fails_and_every_range_is_sound(text in any::<String>()) {
        for side in [Side::Document, Side::Query] {
            for token in tokens(&text, side) {
                prop_assert!(!token.term.is_empty());
                prop_assert!(text.get(token.range.clone()).is_some(), "{token:?}");
            }
        }
        let _ = is_blank(&text);
    }

    #[test]
    fn folding_twice_is_folding_once(text in any::<String>()) {
        let once = fold(&text);
        prop_assert_eq!(fold(&once), once);
    }

    #[test]
    fn a_text_answers_a_query_that_quotes_it(text in "[a-zA-Z0-9àéîõüßÆ'_./:@ -]{1,60}") {
        let document = DocumentTerms::of([text.as_str()]);
        for term in QueryTerms::of(&text).terms.keys() {
            prop_assert!(document.counts.contains_key(term), "{term}");
        }
    }

    #[test]
    fn normal_forms_are_one_text(text in "[a-zàéîõüñçšžКиЁжأإآؤئ가-힣 ]{0,40}") {
        use unicode_normalization::UnicodeNormalization;
        let composed: String = text.nfc().collect();
        let decomposed: String = text.nfd().collect();
        prop_assert_eq!(
            DocumentTerms::of([composed.as_str()]),
            DocumentTerms::of([decomposed.as_str()])
        );
    }
}
