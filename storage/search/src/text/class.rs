//! Classes of characters that decide how text is cut.
//!
//! They are ranges and not a property database, so that the Worker's module
//! stays small. They say nothing of what a character is folded to.

/// Whether a text has nothing that a reader could see: only white space,
/// control, format and filler characters.
pub fn is_blank(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_whitespace() || c.is_control() || is_ignorable(c))
}

/// Whether a character has no appearance of its own, so that it may stand
/// anywhere inside a word without changing it.
pub(super) fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a character belongs to a script that is written without spaces, or
/// whose words carry endings without a break (Hangul): such text is cut into bigrams.
pub(crate) fn is_spaceless(c: char) -> bool {
    matches!(c,
        '\u{e01}'..='\u{eff}' // Thai, Lao
        | '\u{1000}'..='\u{109f}' // Myanmar
        | '\u{1100}'..='\u{11ff}' // Hangul letters
        | '\u{1780}'..='\u{17ff}' // Khmer
        | '\u{2e80}'..='\u{2fdf}' // Han radicals
        | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3038}'..='\u{303b}'
        | '\u{3041}'..='\u{309f}' // Hiragana
        | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' // Katakana
        | '\u{3105}'..='\u{318e}' // Bopomofo, Hangul letters
        | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' // Han
        | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}' // Hangul
        | '\u{f900}'..='\u{faff}' // Han
        | '\u{ff66}'..='\u{ffdc}' // half-width Katakana and Hangul
        | '\u{1b000}'..='\u{1b16f}' // Kana
        | '\u{20000}'..='\u{3ffff}') // Han
}

/// Whether a character joins the parts of an identifier, a path or an address.
pub(super) fn is_joiner(c: char) -> bool {
    matches!(
        c,
        '-' | '_'
            | '.'
            | '/'
            | '\\'
            | ':'
            | '@'
            | '#'
            | '+'
            | '='
            | '~'
            | '&'
            | '\u{2010}'
            | '\u{2011}'
    )
}

/// Whether a character is an apostrophe, straight or curly.
pub(super) fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2018}' | '\u{2019}' | '\u{ff07}')
}
