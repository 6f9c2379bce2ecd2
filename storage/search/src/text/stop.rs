//! English stop words: words so common that they say nothing of what a text is
//! about.
//!
//! They are indexed all the same, without counting towards length, so that a query
//! made of nothing else still finds something.

/// Whether a folded word is a stop word.
pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Whether `base` and `clitic`, on either side of an apostrophe, make a
/// contraction of stop words, such as `didn't` or `we'll`.
pub(super) fn is_contraction(base: &str, clitic: &str) -> bool {
    match clitic {
        "t" => NEGATED.binary_search(&base).is_ok(),
        "s" | "ll" | "re" | "ve" | "d" | "m" => is_stop_word(base) || base == "let",
        _ => false,
    }
}

/// Whether a folded part after an apostrophe is an ending and no word.
pub(super) fn is_clitic(part: &str) -> bool {
    matches!(part, "s" | "ll" | "re" | "ve" | "d" | "m")
}

/// Sorted.
const NEGATED: [&str; 21] = [
    "ain", "aren", "can", "couldn", "daren", "didn", "doesn", "don", "hadn", "hasn", "haven",
    "isn", "mightn", "mustn", "needn", "shan", "shouldn", "wasn", "weren", "won", "wouldn",
];

/// Sorted.
const STOP_WORDS: [&str; 126] = [
    "a",
    "about",
    "above",
    "after",
    "again",
    "against",
    "all",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "between",
    "both",
    "but",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "doing",
    "down",
    "during",
    "each",
    "few",
    "for",
    "from",
    "further",
    "had",
    "has",
    "have",
    "having",
    "he",
    "her",
    "here",
    "hers",
    "herself",
    "him",
    "himself",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "itself",
    "just",
    "me",
    "more",
    "most",
    "my",
    "myself",
    "no",
    "nor",
    "not",
    "now",
    "of",
    "off",
    "on",
    "once",
    "only",
    "or",
    "other",
    "our",
    "ours",
    "ourselves",
    "out",
    "over",
    "own",
    "same",
    "she",
    "should",
    "so",
    "some",
    "such",
    "than",
    "that",
    "the",
    "their",
    "theirs",
    "them",
    "themselves",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "through",
    "to",
    "too",
    "under",
    "until",
    "up",
    "very",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "whom",
    "why",
    "will",
    "with",
    "would",
    "you",
    "your",
    "yours",
    "yourself",
    "yourselves",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert!(NEGATED.is_sorted());
    }
}
