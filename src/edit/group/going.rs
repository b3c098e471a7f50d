//! Sentences that say of the names in them that something goes, or that it stays.

use super::going_words::*;

/// The intent of a sentence for a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Intent {
    Goes,
    Stays,
}

/// A text, by the clauses of its sentences.
pub(super) struct Said<'t> {
    sentences: Vec<Vec<Clause<'t>>>,
}

/// The most bytes that are read of a text: those at its end.
const LONGEST: usize = 64 << 10;

/// A part of a sentence.
struct Clause<'t> {
    text: &'t str,
    words: Vec<String>,
    intent: Option<Intent>,
    /// Anything may go, unless it names something.
    is_general: bool,
    /// It names what stays, and all else may go.
    is_rest: bool,
    /// All stays.
    is_of_all: bool,
}

impl<'t> Said<'t> {
    /// Reads a text. `all`: the names of which it may speak.
    pub fn read(text: &'t str, all: &[&str]) -> Self {
        let text = &text[text.ceil_char_boundary(text.len().saturating_sub(LONGEST))..];
        let sentences = sentences(text).into_iter().map(|sentence| {
            let mut clauses: Vec<Clause> = clauses(sentence).into_iter().map(Clause::read).collect();
            hand_on(&mut clauses, all);
            clauses
        });
        Said { sentences: sentences.collect() }
    }

    /// Returns what is said last of a name.
    pub fn of(&self, name: &str) -> Option<Intent> {
        let clauses = self.sentences.iter().flatten().rev();
        clauses.filter(|clause| names(clause.text, name)).find_map(|clause| clause.intent)
    }

    /// Returns whether a clause names something without a word of what is to be done with it, or as what nobody needs: most
    /// words by which something goes are in no list.
    pub fn names_alone(&self, name: &str) -> bool {
        let clauses = self.sentences.iter().flatten();
        { clauses }.any(|clause| names(clause.text, name) && (clause.is_of_no_use(name) || !clause.works_on()))
    }

    /// Returns whether something is to go that no sentence names.
    pub fn lets_anything_go(&self, all: &[&str]) -> bool {
        let has_name = |clause: &Clause| all.iter().any(|name| !is_word_of_going(name) && names(clause.text, name));
        let lets_go = |sentence: &Vec<Clause>| {
            let is_bare = !sentence.iter().any(|clause| clause.intent != Some(Intent::Stays) && has_name(clause));
            sentence.iter().any(|clause| clause.is_rest || is_bare && clause.is_general && !has_name(clause))
        };
        !self.sentences.iter().flatten().any(|clause| clause.is_of_all && !has_name(clause))
            && self.sentences.iter().any(lets_go)
    }
}

impl<'t> Clause<'t> {
    fn read(text: &'t str) -> Self {
        let words = words(text);
        let mut clause = Clause { text, words, intent: None, is_general: false, is_rest: false, is_of_all: false };
        let (mut goes, mut is_denied) = clause.by_words();
        let signs = GOING_SIGNS.iter().map(|sign| (sign, true)).chain(CHANGING_SIGNS.iter().map(|sign| (sign, false)));
        for (sign, is_general) in signs {
            for (at, _) in text.match_indices(sign) {
                let (before, after) = (&text[..at], &text[at + sign.len()..]);
                let is_not = DENIED_BEFORE.iter().any(|not| before.ends_with(not))
                    || DENIED_BEHIND.iter().any(|not| after.starts_with(not));
                goes |= !is_not;
                clause.is_general |= !is_not && is_general;
                is_denied |= is_not;
            }
        }
        let stays = clause.keeps() || STAYING_SIGNS.iter().any(|sign| text.contains(sign));
        let has_of = |list: &str| clause.words.iter().any(|word| has(list, word));
        let is_of_none = || has_of(ANYTHING) || ANYTHING_SIGNS.iter().any(|sign| text.contains(sign));
        clause.is_of_all = is_denied && !goes && is_of_none() || stays && has_of(ALL) && has_of(DEFINITIONS);
        clause.is_rest = clause.words.windows(2).any(|two| is_pair(KEEPING_ONLY, two));
        clause.intent = match goes {
            _ if stays || is_denied && !goes => Some(Intent::Stays),
            true => Some(Intent::Goes),
            false => None,
        };
        clause.is_general &= clause.intent == Some(Intent::Goes);
        clause
    }

    /// Returns whether words say that something goes, and whether they say that it does not.
    fn by_words(&mut self) -> (bool, bool) {
        if self.words.first().is_some_and(|word| has(CONDITIONS, word)) {
            return (false, false);
        }
        let has_of = |list: &str| self.words.iter().any(|word| has(list, word));
        let (mut goes, mut is_denied) = (has_of(RESTYLING) && has_of(STYLES), false);
        self.is_general = goes;
        for at in 0..self.words.len() {
            let (word, next) = (self.words[at].as_str(), self.words.get(at + 1).map_or("", String::as_str));
            let is_noun = || at > 0 && has(BEFORE_NOUNS, &self.words[at - 1]);
            let is_verb = (has(GOING, word) || is_abroad(word))
                && !is_noun()
                && !self.is_of_what_is_made(at)
                && !(word.starts_with("mov") && next == "on");
            let is_general = (is_verb || has(WASTE, word) || is_pair(PAIRS, &[word, next])) && !self.is_of_lesser(at);
            let changes = has(CHANGING, word) || CHANGING_ABROAD.iter().any(|begin| word.starts_with(begin));
            if !is_general && (!changes || is_noun()) {
                continue;
            }
            match self.is_denied(at) {
                true => is_denied = true,
                false => (goes, self.is_general) = (true, self.is_general || is_general),
            }
        }
        (goes, is_denied)
    }

    /// Returns whether a verb says what something does that is to be made: `add a function to delete a user`.
    fn is_of_what_is_made(&self, at: usize) -> bool {
        let before = &self.words[..at];
        before.last().is_some_and(|word| has(PURPOSES, word)) && before.iter().any(|word| has(MAKING, word))
    }

    /// Returns whether what a verb lets go is no definition: `remove the comments`.
    fn is_of_lesser(&self, at: usize) -> bool {
        self.words[at + 1..].iter().take(OBJECT).any(|word| has(LESSER, word))
    }

    /// Returns whether a word is denied by one before it, or by one of another language anywhere.
    fn is_denied(&self, at: usize) -> bool {
        let is_not = |before: usize| {
            let next = self.words.get(before + 1).map_or("", String::as_str);
            has(NOT, &self.words[before]) && !has(NOT_NEEDED, next)
        };
        (at.saturating_sub(DENYING)..at).any(is_not)
            || self.words.get(at + 1).is_some_and(|word| word == "nothing")
            || self.words.iter().any(|word| has(NOT_ABROAD, word))
    }

    /// Returns whether it says that nobody needs what it names, or that something else is to take its place.
    fn is_of_no_use(&self, name: &str) -> bool {
        let has_of = |list: &str| self.words.iter().any(|word| has(list, word));
        let name = name.to_lowercase();
        let is_instead =
            self.words.windows(3).any(|three| three[0] == "instead" && three[1] == "of" && three[2] == name);
        is_instead
            || has_of(NEEDING) && (has_of(NOT) || has_of(NOT_ABROAD) || has_of("longer"))
            || NO_USE_SIGNS.iter().any(|sign| self.text.contains(sign))
    }

    /// Returns whether it says what is to be done with what it names, or what is wrong with it.
    fn works_on(&self) -> bool {
        self.words.iter().any(|word| has(WORKING, word) || WORKING_ABROAD.iter().any(|begin| word.starts_with(begin)))
            || WORKING_SIGNS.iter().any(|sign| self.text.contains(sign))
    }

    fn keeps(&self) -> bool {
        let is_out = |at: usize| self.words.get(at + 1).is_some_and(|word| word == "out");
        let keeps = |at: usize| has(KEEPING, &self.words[at]) && !is_out(at);
        (0..self.words.len()).any(keeps) || self.words.windows(2).any(|two| is_pair(KEEPING_PAIRS, two))
    }

    /// Returns whether it is nothing but names, as of a list.
    fn is_list(&self, all: &[&str]) -> bool {
        let is_known = |word: &String| has(BESIDE, word) || all.iter().any(|name| name.to_lowercase() == *word);
        let signs = self.text.chars().filter(|c| is_sign(*c)).count();
        self.intent.is_none() && signs <= MOST_SIGNS && !self.words.is_empty() && self.words.iter().all(is_known)
    }
}

/// Hands on what clauses of a sentence say to those that are only names, or that one with `it` speaks of.
fn hand_on(clauses: &mut [Clause], all: &[&str]) {
    for at in 0..clauses.len() {
        if !clauses[at].is_list(all) {
            continue;
        }
        let before = at.checked_sub(1).and_then(|before| clauses[before].intent);
        let next = clauses[at + 1..].iter().find(|next| !next.is_list(all)).and_then(|next| next.intent);
        clauses[at].intent = before.or(next);
    }
    let has_name = |clause: &Clause| all.iter().any(|name| names(clause.text, name));
    for at in 0..clauses.len() {
        let is_of_it = clauses[at].words.iter().any(|word| has(IT, word)) && !has_name(&clauses[at]);
        if is_of_it && clauses[at].intent == Some(Intent::Goes) {
            clauses[..at]
                .iter_mut()
                .filter(|before| before.intent.is_none())
                .for_each(|before| before.intent = Some(Intent::Goes));
        }
    }
}

/// Returns whether a text has a name in it that is no part of a longer one or of a path.
pub(super) fn names(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let (before, mut after) = (text[..at].chars().next_back(), text[at + name.len()..].chars());
        let is_parted = match after.next() {
            Some('.') => !after.next().is_some_and(is_of_word),
            next => !next.is_some_and(|c| is_of_word(c) || c == '/'),
        };
        is_parted && !before.is_some_and(|c| is_of_word(c) || matches!(c, '/' | '@'))
    })
}

fn sentences(text: &str) -> Vec<&str> {
    let (mut sentences, mut from) = (Vec::new(), 0);
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let is_end = match c {
            '.' => text[end..].chars().next().is_none_or(char::is_whitespace),
            c => "\n!?。！？".contains(c),
        };
        if is_end {
            sentences.push(&text[from..end]);
            from = end;
        }
    }
    sentences.push(&text[from..]);
    sentences
}

/// Returns the parts of a sentence between commas and the words that join them.
fn clauses(sentence: &str) -> Vec<&str> {
    let mut clauses = Vec::new();
    for part in sentence.split([',', ';', ':', '，', '；', '：', '、', '(', ')']) {
        let mut from = 0;
        for (at, word) in spans(part) {
            if has(JOINING, &word.to_lowercase()) {
                clauses.push(&part[from..at]);
                from = at + word.len();
            }
        }
        clauses.push(&part[from..]);
    }
    clauses.retain(|clause| !clause.trim().is_empty());
    clauses
}

/// Returns the words of a text, in small letters. Signs of languages without spaces are in none.
fn words(text: &str) -> Vec<String> {
    spans(text).map(|(_, word)| word.to_lowercase().replace('’', "'")).collect()
}

fn spans(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_in = |c: char| is_of_word(c) || matches!(c, '\'' | '’');
    let words = text.split(move |c: char| !is_in(c)).filter(|word| !word.is_empty());
    words.map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

fn is_of_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric() && !is_sign(c)
}

/// Returns whether a character is of a language that has no spaces between words, or joins others to them.
fn is_sign(c: char) -> bool {
    matches!(c as u32, 0x3005..=0x3007 | 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF)
}

fn has(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|own| own == word)
}

fn is_pair<W: AsRef<str>>(pairs: &[(&str, &str)], two: &[W]) -> bool {
    pairs.iter().any(|(first, second)| has(first, two[0].as_ref()) && has(second, two[1].as_ref()))
}

fn is_abroad(word: &str) -> bool {
    GOING_ABROAD.iter().any(|begin| word.starts_with(begin))
}

/// Returns whether a name is such a word itself.
fn is_word_of_going(name: &str) -> bool {
    has(GOING, name) || has(WASTE, name)
}
