//! Cutting text into tokens: words, bigrams, and identifiers whole and split.
//!
//! Boundaries are those of Unicode word segmentation (UAX #29), corrected in
//! two places: scripts without spaces become bigrams, and what is joined by
//! punctuation is also kept as one token. Only `Role::Word` counts towards a text's
//! length, so that keeping a token in several forms does not make a text longer.

use std::borrow::Cow;
use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

use super::class::{is_apostrophe, is_joiner, is_spaceless};
use super::fold::fold;
use super::identifier::{camel_parts, is_part, squash};
use super::stop::{is_clitic, is_contraction, is_stop_word};
use super::visible::Visible;

/// Longest term, in bytes; longer ones are cut, on both sides alike.
const MAX_TERM_BYTES: usize = 128;
/// Longest gap between the parts of one identifier, in characters (`::`, `://`).
const MAX_GAP_CHARS: usize = 3;

/// What a token stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A word of the text.
    Word,
    /// Another form of words that are there already.
    Overlap,
    /// A stop word.
    Stop,
}

/// Which side a text is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Stored: every form by which it might be asked for.
    Document,
    /// Asked: a single character of a script without spaces only where it stands alone.
    Query,
}

/// A term and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The term, folded and stemmed.
    pub term: String,
    /// What it stands for.
    pub role: Role,
    /// The bytes of the text that it comes from.
    pub range: Range<usize>,
}

/// The tokens of a text, in its order.
pub fn tokens(text: &str, side: Side) -> Vec<Token> {
    let mut tokens = Vec::new();
    each_token(text, side, |token| tokens.push(token));
    tokens
}

/// Takes the tokens of a text one by one, so that a long text needs no list of them.
pub(super) fn each_token(text: &str, side: Side, mut take: impl FnMut(Token)) {
    let visible = Visible::of(text);
    let mut cutter = Cutter {
        text: &visible.text,
        side,
        stemmer: Stemmer::create(Algorithm::English),
        run: None,
        compound: Vec::new(),
        take: &mut |token| {
            take(Token {
                range: visible.original(&token.range),
                ..token
            });
        },
    };
    for (start, segment) in visible.text.split_word_bound_indices() {
        cutter.segment(start, segment);
    }
    cutter.end_run();
    cutter.end_compound();
}

struct Cutter<'a> {
    text: &'a str,
    side: Side,
    stemmer: Stemmer,
    /// Adjacent characters of scripts without spaces.
    run: Option<Range<usize>>,
    /// Units that punctuation joins.
    compound: Vec<Range<usize>>,
    take: &'a mut dyn FnMut(Token),
}

impl<'a> Cutter<'a> {
    fn segment(&mut self, start: usize, segment: &str) {
        if segment.is_ascii() {
            return self.piece(start..start + segment.len(), Some(false));
        }
        // A segment may mix scripts: Latin with a Korean ending is one to UAX #29.
        let (mut from, mut spaceless) = (start, None);
        for (offset, c) in segment.char_indices() {
            let class = if is_combining_mark(c) && spaceless.is_some() {
                spaceless
            } else {
                Some(is_spaceless(c))
            };
            if spaceless.is_some() && spaceless != class {
                self.piece(from..start + offset, spaceless);
                from = start + offset;
            }
            spaceless = class;
        }
        self.piece(from..start + segment.len(), spaceless);
    }

    fn piece(&mut self, range: Range<usize>, spaceless: Option<bool>) {
        if !self.slice(&range).contains(char::is_alphanumeric) {
            return;
        }
        if spaceless == Some(true) {
            self.end_compound();
            match &mut self.run {
                Some(run) if run.end == range.start => run.end = range.end,
                _ => {
                    self.end_run();
                    self.run = Some(range);
                }
            }
            return;
        }
        self.end_run();
        let joined = self.compound.last().is_some_and(|last| {
            let gap = self.slice(&(last.end..range.start));
            gap.chars().all(is_joiner) && gap.chars().count() <= MAX_GAP_CHARS
        });
        if !joined {
            self.end_compound();
        }
        self.compound.push(range);
    }

    /// Bigrams of a run, and what is needed to find its single characters.
    fn end_run(&mut self) {
        let Some(run) = self.run.take() else {
            return;
        };
        let original = self.slice(&run);
        let folded: Vec<char> = fold(original)
            .chars()
            .filter(|c| is_spaceless(*c) || c.is_alphanumeric())
            .collect();
        let bounds: Vec<usize> = original
            .char_indices()
            .map(|(offset, _)| run.start + offset)
            .chain([run.end])
            .collect();
        // Folding may have merged characters; then a token points to the whole run.
        let aligned = bounds.len() == folded.len() + 1;
        let place = |from: usize, to: usize| match (bounds.get(from), bounds.get(to)) {
            (Some(start), Some(end)) if aligned => *start..*end,
            _ => run.clone(),
        };
        if let [only] = folded.as_slice() {
            self.push(only.to_string(), Role::Word, place(0, 1));
            return;
        }
        for (index, pair) in folded.windows(2).enumerate() {
            self.push(pair.iter().collect(), Role::Word, place(index, index + 2));
        }
        if self.side == Side::Document {
            for (index, single) in folded.iter().enumerate() {
                self.push(single.to_string(), Role::Overlap, place(index, index + 1));
            }
        }
    }

    fn end_compound(&mut self) {
        let mut units = std::mem::take(&mut self.compound);
        let (Some(first), Some(last)) = (units.first(), units.last()) else {
            return;
        };
        let whole = first.start..last.end;
        let mut is_split = units.len() > 1;
        for unit in &units {
            if self.unit(unit.clone()) {
                if units.len() > 1 {
                    self.whole(unit.clone());
                }
                is_split = true;
            }
        }
        if is_split {
            self.whole(whole);
        }
        // Kept for its capacity: most compounds are one word.
        units.clear();
        self.compound = units;
    }

    /// One segment of UAX #29; says whether it was split into words.
    fn unit(&mut self, unit: Range<usize>) -> bool {
        if self.slice(&unit).bytes().all(|b| b.is_ascii_alphanumeric()) {
            self.word(unit);
            return false;
        }
        let parts = self.parts(&unit);
        if let [only] = parts.as_slice() {
            self.word(only.clone());
            return false;
        }
        let mut separators = self.slice(&unit).chars().filter(|c| !is_part(*c));
        if separators.clone().all(is_apostrophe) {
            self.apostrophes(unit, &parts);
            return false;
        }
        let is_number = parts
            .iter()
            .all(|part| self.slice(part).chars().all(char::is_numeric))
            && separators.all(|c| c == '.' || c == ',');
        if is_number {
            self.number(unit, &parts);
            return false;
        }
        for part in parts {
            self.word(part);
        }
        true
    }

    /// `3,000` is the number 3000; `1.2.3` is kept and its parts too.
    fn number(&mut self, unit: Range<usize>, parts: &[Range<usize>]) {
        let text = self.slice(&unit);
        let number = fold(&text.replace(',', ""));
        if !text.contains(',') {
            for part in parts {
                self.push(fold(self.slice(part)), Role::Overlap, part.clone());
            }
        }
        self.push(number, Role::Word, unit);
    }

    /// Possessives, contractions, and names such as `O'Brien`.
    fn apostrophes(&mut self, unit: Range<usize>, parts: &[Range<usize>]) {
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
            return;
        };
        let clitic = fold(self.slice(last));
        let base = first.start
            ..parts
                .len()
                .checked_sub(2)
                .and_then(|at| parts.get(at))
                .map_or(first.end, |part| part.end);
        let base_text = squash(self.slice(&base));
        if is_contraction(&base_text, &clitic) {
            self.push(format!("{base_text}{clitic}"), Role::Stop, unit);
        } else if is_clitic(&clitic) {
            if parts.len() == 2 {
                self.word(base);
            } else {
                self.content(base_text, Role::Word, base);
            }
        } else {
            for part in parts {
                let text = fold(self.slice(part));
                if text.chars().count() > 1 && !is_stop_word(&text) {
                    self.content(text, Role::Overlap, part.clone());
                }
            }
            let whole = squash(self.slice(&unit));
            self.content(whole, Role::Word, unit);
        }
    }

    /// One word, and the words inside it if it is written in camel case.
    fn word(&mut self, range: Range<usize>) {
        let original = self.slice(&range);
        let folded = fold(original);
        if folded.contains(|c: char| !is_part(c)) {
            // A compatibility character such as a fraction folds to several words.
            for part in folded
                .split(|c: char| !is_part(c))
                .filter(|part| !part.is_empty())
            {
                self.content(part.to_owned(), Role::Word, range.clone());
            }
            return;
        }
        if is_stop_word(&folded) {
            self.push(folded, Role::Stop, range);
            return;
        }
        for part in camel_parts(original) {
            let part = range.start + part.start..range.start + part.end;
            let text = fold(self.slice(&part));
            if text.chars().count() > 1 && !is_stop_word(&text) {
                self.content(text, Role::Overlap, part);
            }
        }
        self.content(folded, Role::Word, range);
    }

    /// An identifier in one piece.
    fn whole(&mut self, range: Range<usize>) {
        let original = self.slice(&range);
        if original.len() <= MAX_TERM_BYTES {
            let squashed = squash(original);
            self.content(squashed, Role::Overlap, range);
        }
    }

    fn content(&mut self, folded: String, role: Role, range: Range<usize>) {
        if !folded.bytes().all(|b| b.is_ascii_lowercase()) {
            return self.push(folded, role, range);
        }
        let stem = match self.stemmer.stem(&folded) {
            Cow::Borrowed(stem) if stem.len() == folded.len() => None,
            stem => Some(stem.into_owned()),
        };
        self.push(stem.unwrap_or(folded), role, range);
    }

    fn push(&mut self, mut term: String, role: Role, range: Range<usize>) {
        if term.len() > MAX_TERM_BYTES {
            let end = (0..=MAX_TERM_BYTES)
                .rev()
                .find(|at| term.is_char_boundary(*at))
                .unwrap_or(0);
            term.truncate(end);
        }
        if !term.is_empty() {
            (self.take)(Token { term, role, range });
        }
    }

    /// The stretches of letters, digits and their marks.
    fn parts(&self, unit: &Range<usize>) -> Vec<Range<usize>> {
        let text = self.slice(unit);
        let mut parts: Vec<Range<usize>> = Vec::new();
        let mut open = false;
        for (offset, c) in text.char_indices() {
            let at = unit.start + offset;
            let end = at + c.len_utf8();
            match (is_part(c), open, parts.last_mut()) {
                (true, true, Some(part)) => part.end = end,
                (true, _, _) => parts.push(at..end),
                (false, _, _) => {}
            }
            open = is_part(c);
        }
        parts
    }

    fn slice(&self, range: &Range<usize>) -> &'a str {
        self.text.get(range.clone()).unwrap_or_default()
    }
}
