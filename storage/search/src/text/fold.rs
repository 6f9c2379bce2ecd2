//! Folding: texts that a reader takes for the same word become the same
//! characters.
//!
//! Compatibility decomposition, case, accents, Arabic letter variants and
//! decimal digits. Marks that make another letter, such as Devanagari vowel signs and
//! the voicing marks of Kana, are kept, and Hangul is recomposed.

use unicode_normalization::UnicodeNormalization;

use super::class::is_ignorable;

/// The folded form of a text; folding it again changes nothing.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars()
        .filter(|c| !is_ignorable(*c))
        .nfkd()
        .filter(|c| !is_dropped(*c))
        .flat_map(char::to_lowercase)
        .flat_map(Variant::of)
        .nfc()
        .collect()
}

/// Marks that only accent, and characters that only stretch a word.
fn is_dropped(c: char) -> bool {
    is_ignorable(c)
        || matches!(c,
            '\u{300}'..='\u{36f}' | '\u{483}'..='\u{487}' | '\u{1ab0}'..='\u{1aff}'
            | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20f0}' | '\u{fe20}'..='\u{fe2f}'
            | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}'
            | '\u{610}'..='\u{61a}' | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}'
            | '\u{6d6}'..='\u{6dc}' | '\u{6df}'..='\u{6e4}' | '\u{6e7}' | '\u{6e8}'
            | '\u{6ea}'..='\u{6ed}')
}

/// One or two characters.
struct Variant {
    first: Option<char>,
    second: Option<char>,
}

impl Variant {
    fn of(c: char) -> Self {
        let (first, second) = match c {
            'ß' => ('s', Some('s')),
            'æ' => ('a', Some('e')),
            'œ' => ('o', Some('e')),
            'þ' => ('t', Some('h')),
            'ð' | 'đ' => ('d', None),
            'ø' => ('o', None),
            'ł' => ('l', None),
            'ħ' => ('h', None),
            'ı' => ('i', None),
            'ς' => ('σ', None),
            'ى' | 'ی' => ('ي', None),
            'ة' => ('ه', None),
            'ک' => ('ك', None),
            'ٱ' => ('ا', None),
            '٠'..='٩' => (digit(c, '٠'), None),
            '۰'..='۹' => (digit(c, '۰'), None),
            '०'..='९' => (digit(c, '०'), None),
            other => (other, None),
        };
        Self {
            first: Some(first),
            second,
        }
    }
}

impl Iterator for Variant {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        self.first.take().or_else(|| self.second.take())
    }
}

fn digit(c: char, zero: char) -> char {
    char::from_digit(u32::from(c).wrapping_sub(u32::from(zero)), 10).unwrap_or(c)
}
