//! The file that the prose above a block says the block is for, where no path heads it. A name that is only mentioned is none.

use super::heads::{before_words, mentioned, names};
use super::wording::{
    ASIDE, BAD, BAD_EXAMPLES, BEGIN_TO_MAKE, BETWEEN, CHANGE, CHANGE_BEHIND, EXAMPLE, FILE_ABROAD, INSIDE, LEAD,
    LET_ME, MAKE, MENTIONS, NEW_ABROAD, NEW_BEFORE, NEW_BEHIND, NOT, NOT_ANYWHERE, PART_OF, PLACES, PRESENT, PRESENTS,
    PRESENTS_BEFORE, SOURCE, TAIL, TAIL_BEHIND, WITH_THIS,
};
use super::{KnownFile, is_likely, path_line, same_path};
use crate::edit::path::{bare, may_name};

/// The prose above a block.
#[derive(Debug, Clone, Copy)]
pub(in crate::edit) struct Prose<'t> {
    /// The lines before the last one.
    pub before: &'t str,
    /// The last line.
    pub said: &'t str,
}

/// A file that the prose above a block says it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::edit) struct Claim {
    pub path: String,
    /// The prose says that it is made or written: else the sentence only presents it, ends with its path, or begins with it.
    pub is_made: bool,
    /// The prose presents it: `Here is the full code of`.
    pub is_presented: bool,
}

impl Claim {
    fn made(path: String) -> Self {
        Claim { path, is_made: true, is_presented: false }
    }

    /// Returns whether it is this file.
    pub fn is_of(&self, path: &str) -> bool {
        same_path(&self.path, path) || may_name(&self.path, path)
    }
}

/// Returns the file that prose says the block below it is for: the last one that it says is made or changed, or that the
/// last sentence begins or ends with; or a path that is alone on a line. `like` is the file in play that the block is like:
/// one of another kind is only mentioned in such a place.
pub(in crate::edit) fn claim(prose: Prose, like: Option<&str>, known: &[KnownFile]) -> Option<Claim> {
    let lines: Vec<&str> = prose.before.lines().chain([prose.said]).filter(|line| !line.trim().is_empty()).collect();
    let alone = |at: usize| lines.get(at).and_then(|line| alone(line, known));
    for (at, line) in lines.iter().enumerate().rev() {
        let is_last_line = at + 1 == lines.len();
        if let Some(path) = alone(at) {
            // Paths below one another are a list of files.
            let is_listed = at > 0 && alone(at - 1).is_some() || alone(at + 1).is_some();
            let is_it = !is_listed && is_like(&path, like, known);
            return is_it.then(|| Claim::made(path));
        }
        for (back, sentence) in sentences(line).into_iter().rev().enumerate() {
            let is_last = is_last_line && back == 0;
            if let Some(claim) = of_sentence(sentence, is_last, like, known) {
                return Some(claim);
            }
            let has =
                |list| sentence.split(|c: char| !c.is_alphanumeric()).any(|word| is_in(list, &word.to_lowercase()));
            // What stays as it is says nothing of the block.
            let is_of_rest = has("rest") && !has(CHANGE);
            if has(PRESENT) || !is_of_rest && known.iter().any(|file| names(sentence, &file.path)) {
                return None;
            }
        }
    }
    None
}

/// Returns the path of the file that the last line above a block says is made, or presents: the only one that a line names which
/// leads to the block. `is_of`: the block is in the language of such a path, so that it is no output of it.
pub(in crate::edit) fn presented(said: &str, known: &[KnownFile], is_of: impl Fn(&str) -> bool) -> Option<String> {
    let names_file = |sentence: &&str| words(sentence).iter().any(|word| is_likely(word.text, known));
    let (line, mut all) = (said, sentences(said));
    let last = all.pop().filter(names_file);
    let said = last.or_else(|| all.pop().filter(|before| before.ends_with(';') && names_file(before)))?;
    let all = words(said);
    let mut paths = all.iter().map(|word| word.text).filter(|word| is_likely(word, known));
    let path = paths.next()?;
    if warns(line) {
        return None;
    }
    if is_of(path) && is_named_behind(said, path) && paths.clone().all(|other| other == path) {
        return Some(path.to_string());
    }
    // Without a colon it may speak of what was printed.
    let is_plain = || is_of(path) || !plain_words(said).any(|word| is_in("going with", &word));
    let begins = || begins_to_make(said, path) && is_plain();
    let is_leading = sentence_ends(line) || begins() || is_of(path) && is_new(said, path, known);
    let is_only = is_leading && paths.all(|other| other == path);
    let claim = claim(Prose { before: "", said }, None, known).filter(|_| is_only)?;
    ((claim.is_made || claim.is_presented) && claim.path == path).then_some(claim.path)
}

/// Returns the path that a line of prose above an edit names: of the one file in play that it mentions, or of the file that
/// it begins with or presents.
pub(in crate::edit) fn of_prose(said: &str, known: &[KnownFile]) -> Option<String> {
    let named = mentioned(said, known).or_else(|| before_words(said, known));
    named.map(str::to_string).or_else(|| presented(said, known, |_| false))
}

/// Returns whether a line presents a file that is not there, and nothing else: `Here is new.py.`
fn is_new(said: &str, path: &str, known: &[KnownFile]) -> bool {
    let Some((before, behind)) = said.split_once(path) else { return false };
    let is_full_stop = behind.trim_start_matches('`').trim_end() == ".";
    let is_where = last_word(&plain_words(before).collect::<Vec<_>>()).is_some_and(|word| is_in("for to in", word));
    is_full_stop && !is_where && !known.iter().any(|file| names(said, &file.path)) && is_presented(before, "", true)
}

/// Returns whether a sentence that leads to a block says what that is, and its path in brackets: `The main script (run.py):`.
fn is_named_behind(said: &str, path: &str) -> bool {
    let Some((before, behind)) = said.split_once(path) else { return false };
    let is_bracketed = before.trim_end_matches('`').ends_with(['(', '（']) && behind.contains([')', '）']);
    let is_other = |word: String| is_in(SOURCE, &word) || is_in(EXAMPLE, &word) || is_in("output usage error", &word);
    is_bracketed
        && sentence_ends(said)
        && !behind.contains(char::is_alphanumeric)
        && !is_off(before)
        && !plain_words(before).any(is_other)
}

/// Returns whether a line ends with a path that it says is about to be made.
fn begins_to_make(said: &str, path: &str) -> bool {
    let mut own = plain_words(said).skip_while(|word| is_in(LET_ME, word));
    let is_end = said.rsplit_once(path).is_some_and(|(_, behind)| {
        let behind = behind.trim_start_matches('`');
        let with = behind.trim().trim_end_matches('.').strip_prefix("with ");
        is_nothing(behind) || with.is_some_and(|with| WITH_THIS.contains(&with))
    });
    is_end && !said.contains('?') && own.next().is_some_and(|verb| is_in(BEGIN_TO_MAKE, &verb)) && !is_off(said)
}

/// Returns whether a line says that what is below it is how it should not be: `Do not write it like this:`, `A wrong version
/// would be:`.
pub(in crate::edit) fn warns(said: &str) -> bool {
    let last = sentences(said).pop().unwrap_or_default();
    let own: Vec<String> = plain_words(clause(last.trim_end_matches([':', '：', ' ', '*', '\n', '\r']))).collect();
    let is_so = own.windows(2).any(|pair| pair[0] == "like" && is_in("this that so", &pair[1]));
    let is_denied = own.iter().any(|word| is_in("not never don't shouldn't mustn't", word));
    let is_label = match &own[..] {
        [bad] => is_in(BAD, bad) || is_in("avoid don't", bad),
        [bad, text] => is_in(BAD, bad) && is_in(EXAMPLE, text),
        _ => false,
    };
    let is_heading = last.trim_start().starts_with(['#', '*', '❌']);
    let is_foreign = || BAD_EXAMPLES.contains(&last.trim_matches(|c: char| !c.is_alphanumeric()));
    let is_bad = matches!(&own[..], [a, bad, text, ..] if is_in("a an", a) && is_in(BAD, bad) && is_in(EXAMPLE, text));
    // What is not so otherwise is so below.
    let is_other = own.iter().any(|word| is_in("but when if once unless", word));
    is_so && is_denied && !is_other && !last.contains('?')
        || is_label && (sentence_ends(last) || is_heading)
        || is_foreign()
        || is_bad
        || is_forbidden(&own)
}

/// Returns whether a sentence does nothing but forbid what is below it: `Do not do this:`, `Never write the following:`.
fn is_forbidden(own: &[String]) -> bool {
    let own: Vec<&str> = own.iter().map(String::as_str).filter(|word| *word != "the").collect();
    let rest = match &own[..] {
        ["do", "not", rest @ ..] | ["don't" | "never", rest @ ..] => rest,
        ["avoid", rest @ ..] if rest.len() == 1 => return matches!(rest[0], "this" | "that" | "following"),
        _ => return false,
    };
    matches!(rest, [verb, "this" | "that" | "following"] if is_in("do write use try copy code", verb))
}

/// Returns the path that a line consists of, perhaps as a quotation.
fn alone(line: &str, known: &[KnownFile]) -> Option<String> {
    let line = line.trim_start().trim_start_matches("> ");
    path_line(line, known).filter(|path| is_likely(path, known))
}

/// Returns the sentences of a line.
pub(super) fn sentences(line: &str) -> Vec<&str> {
    let (mut all, mut from, mut is_code) = (Vec::new(), 0, false);
    for (at, c) in line.char_indices() {
        is_code ^= c == '`';
        let end = at + c.len_utf8();
        let is_end = c == '。' || matches!(c, '.' | '!' | ';') && line[end..].starts_with(' ');
        if is_end && !is_code {
            all.push(&line[from..end]);
            from = end;
        }
    }
    all.push(&line[from..]);
    all.retain(|sentence| !sentence.trim().is_empty());
    all
}

/// Returns whether a word is among those of a list.
pub(super) fn is_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|own| own == word)
}

/// A word of a sentence, or what stands in code.
struct Word<'s> {
    text: &'s str,
    start: usize,
    end: usize,
    is_marked: bool,
}

/// Returns the words of a sentence; what is written in another script between them is none.
fn words(sentence: &str) -> Vec<Word<'_>> {
    let is_inside = |c: char| c.is_ascii_alphanumeric() || "_./-\\~@+'".contains(c);
    let (mut words, mut at) = (Vec::new(), 0);
    while let Some(c) = sentence[at..].chars().next() {
        // A name in quotes may have spaces.
        let inside = if matches!(c, '`' | '"') { sentence[at + 1..].find(c) } else { None };
        if let Some(length) = inside {
            let text = bare(&sentence[at + 1..at + 1 + length]);
            words.push(Word { text, start: at, end: at + length + 2, is_marked: true });
            at += length + 2;
        } else if is_inside(c) {
            let length = sentence[at..].find(|c| !is_inside(c)).unwrap_or(sentence.len() - at);
            let text = sentence[at..at + length].trim_end_matches(['.', '\'', '-']).trim_start_matches('\'');
            let is_marked = sentence[..at].ends_with(['"', '「', '“', '*']) && !text.is_empty();
            words.push(Word { text, start: at, end: at + length, is_marked });
            at += length;
        } else {
            at += c.len_utf8();
        }
    }
    words.retain(|word| !word.text.is_empty());
    words
}

/// Returns the file that one sentence says the block is for.
fn of_sentence(sentence: &str, is_last: bool, like: Option<&str>, known: &[KnownFile]) -> Option<Claim> {
    let words = words(sentence);
    let lower: Vec<String> = words.iter().map(|word| word.text.to_lowercase()).collect();
    let is_aside = !is_last && lower.iter().any(|word| is_in(ASIDE, word));
    let (mut said, mut placed) = (None, None);
    for (at, word) in words.iter().enumerate() {
        let is_named = word.is_marked && !word.text.contains(char::is_whitespace) && is_called(&lower[..at]);
        let is_other = |at: usize| is_likely(words[at].text, known);
        // The name of what is put there: `power` in "I added `power` to".
        let is_thing = |at: usize| {
            words[at].is_marked && lower.get(at + 1).is_some_and(|next| ["in", "into", "to"].contains(&&**next))
        };
        let (before, behind) = (&sentence[..word.start], &sentence[word.end..]);
        // The name of a style or a kind: `log.py`-style.
        let is_joined = behind.strip_prefix('-').is_some_and(|rest| rest.starts_with(char::is_alphanumeric));
        if !is_likely(word.text, known) && !is_named || is_joined {
            continue;
        }
        let is_like = || is_like(word.text, like, known);
        let path = || word.text.to_string();
        let is_left = || {
            let next = (at + 1..words.len()).find(|at| is_other(*at)).map_or(sentence.len(), |next| words[next].start);
            is_off(&sentence[..next])
        };
        // What is said since the path before it.
        let own_words = (0..at).rev().find(|at| is_other(*at)).map_or(before, |last| &before[words[last].end..]);
        let own_words = clause(own_words).to_lowercase();
        let other_way = || ["instead of", "rather than"].iter().any(|words| own_words.contains(words));
        let is_denied = || is_off(&own_words) && !own_words.contains("forget") || other_way();
        // In "the test (`new.py`)" it is what the file is.
        let is_kind = before.trim_end().ends_with('(') && lower[..at].last().is_some_and(|last| last == "test");
        match role(&lower[..at - usize::from(is_kind)], |at| is_other(at) || is_thing(at))
            .or_else(|| foreign_role(before, behind))
        {
            Some(Role::Source) => {}
            Some(_) if is_denied() => {}
            Some(Role::Changed) if is_aside || !is_like() => {}
            Some(Role::Changed | Role::Said) => said = Some(Claim::made(path())),
            None if is_like() => {
                let is_presented = is_presented(before, behind, is_last);
                let is_made = !is_presented && is_last && !is_left() && is_put(before);
                if is_presented || is_made || is_last && !is_left() && is_placed(before, behind) {
                    placed = Some(Claim { path: path(), is_made, is_presented });
                }
            }
            None => {}
        }
    }
    said.or(placed)
}

/// The part that a path has in a sentence.
#[derive(Debug, PartialEq, Eq)]
enum Role {
    /// Something comes from it.
    Source,
    /// It is made.
    Said,
    /// It is changed.
    Changed,
}

/// Returns what the words before a path say of it. `is_other`: the word of this number is a path itself.
fn role(before: &[String], is_other: impl Fn(usize) -> bool) -> Option<Role> {
    let mut is_first = true;
    for (at, word) in before.iter().enumerate().rev() {
        let word = word.as_str();
        // It is said of the file before: `calc.py` is new, `s.py` stays.
        if word == "new" && at > 0 && before[at - 1] == "is" {
            return None;
        }
        if is_in(MAKE, word) {
            return Some(Role::Said);
        }
        if is_in(CHANGE, word) {
            return Some(Role::Changed);
        }
        let is_part = word == "of" && at > 0 && is_in(PART_OF, &before[at - 1]);
        // In "the test file" it says of which kind the file is.
        let is_kind = || before.get(at + 1).is_some_and(|next| next == "file");
        if is_first && (is_in(SOURCE, word) && !(word == "test" && is_kind()) || is_part) {
            return Some(Role::Source);
        }
        if !is_in(BETWEEN, word) && !is_other(at) {
            return None;
        }
        is_first &= ["a", "the", "file"].contains(&word);
    }
    None
}

/// Returns what other scripts, and brackets, around a path say of it.
fn foreign_role(before: &str, behind: &str) -> Option<Role> {
    let before = before.trim_end_matches([' ', '"', '「', '“', '*', ':', '：']);
    let behind = behind.trim_start_matches([' ', '"', '」', '”', '*', '`']);
    let starts = |texts: &[&str]| texts.iter().any(|text| behind.starts_with(text));
    if NEW_BEFORE.iter().any(|text| before.ends_with(text)) || starts(NEW_BEHIND) {
        let own = behind.split(['、', '，', ',']).next().unwrap_or(behind);
        return (!is_off(own)).then_some(Role::Said);
    }
    if is_made_abroad(before) {
        return Some(Role::Said);
    }
    (starts(CHANGE_BEHIND) && !is_off(behind)).then_some(Role::Changed)
}

/// Returns whether what stands before a path says in a language of [`NEW_ABROAD`] that the file is made.
fn is_made_abroad(before: &str) -> bool {
    let own = clause(before).to_lowercase();
    let mut words = own.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).rev();
    words.find(|word| !is_in(FILE_ABROAD, word)).is_some_and(|word| is_in(NEW_ABROAD, word))
}

/// Returns whether words call what follows them a file.
fn is_called(before: &[String]) -> bool {
    let last = before.last().map_or("", String::as_str);
    last == "file" || before.iter().any(|word| word == "file") && ["named", "called"].contains(&last)
}

/// Returns whether a sentence is about what does not change.
fn is_off(sentence: &str) -> bool {
    plain_words(sentence).any(|word| is_in(NOT, &word)) || NOT_ANYWHERE.iter().any(|text| sentence.contains(text))
}

/// Returns the words of a sentence in small letters.
pub(super) fn plain_words(sentence: &str) -> impl Iterator<Item = String> {
    words(sentence).into_iter().map(|word| word.text.to_lowercase())
}

/// Returns the last clause of what stands before a path.
fn clause(before: &str) -> &str {
    before.rsplit([',', '、', '，', ':', '：', ';', '→']).next().unwrap_or(before)
}

/// Returns whether what stands before a path presents it: `Here is the full code of`, `こちらが`, a heading that begins with
/// it, or nothing but such words at the end of the last sentence.
fn is_presented(before: &str, behind: &str, is_last: bool) -> bool {
    let end = before.trim_end_matches([' ', '"', '「', '“', '*', '`']);
    let is_heading = before.starts_with('#') && !before.contains(char::is_alphabetic);
    if is_heading || PRESENTS_BEFORE.iter().any(|text| end.ends_with(text)) {
        return true;
    }
    let leads = before.trim_end_matches([' ', ',']);
    let leads = clause(leads).replace("test file", "file").replace("the test (", "the file (");
    let own: Vec<String> = plain_words(&leads).collect();
    let is_here = own.iter().any(|word| ["here", "here's", "heres", "below", "following"].contains(&word.as_str()));
    let is_whole = is_last && own.iter().any(|word| ["full", "complete", "whole", "entire"].contains(&word.as_str()));
    let is_end = is_last && !own.is_empty() && is_nothing(behind);
    (is_here || is_whole || is_end) && own.iter().all(|word| is_in(PRESENTS, word) || word.contains('.'))
}

/// Returns whether nothing but marks stands behind a path.
fn is_nothing(behind: &str) -> bool {
    !behind.contains(|c: char| c.is_alphanumeric() || c == '`')
}

/// Returns whether what stands before a path tells that something is put there: `I implemented the new check in`.
fn is_put(before: &str) -> bool {
    let own: Vec<String> = plain_words(clause(before)).collect();
    let has_verb = own.iter().any(|word| is_in(MAKE, word) && word != "new");
    has_verb && last_word(&own).is_some_and(|word| is_in(INSIDE, word)) && !is_mentioned(before)
}

/// Returns the last of the words before a path that is none of the path's own: `in` of `in the file`.
fn last_word(words: &[String]) -> Option<&str> {
    words.iter().rev().map(String::as_str).find(|word| !["a", "the", "file"].contains(word))
}

/// Returns whether the last sentence ends with a path, or begins with one and goes on about its text.
fn is_placed(before: &str, behind: &str) -> bool {
    if is_nothing(behind) {
        return !is_mentioned(before);
    }
    let rest = behind.trim_matches(|c: char| c.is_whitespace() || "*\"'`]」』”".contains(c));
    let next = rest.trim_start_matches([',', ' ']).split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let next = next.to_lowercase();
    let goes_on = is_in(TAIL, &next) || TAIL_BEHIND.iter().any(|text| rest.starts_with(text));
    if !before.contains(char::is_alphabetic) {
        // A verb says what the file does with another one; a particle of another script needs one of its own.
        let is_verb = rest.starts_with(&next) && next.ends_with('s') && next.len() > 2;
        let is_foreign = rest.starts_with(|c: char| c.is_alphabetic() && !c.is_ascii());
        return goes_on || !is_verb && !is_foreign;
    }
    let own: Vec<String> = plain_words(before).collect();
    let begins = before.trim_end().ends_with([',', '、', '*', '-', '#', '"']) || own.len() == 1 && is_in(LEAD, &own[0]);
    sentence_ends(rest) && begins && goes_on
}

/// Returns whether a sentence that tells what was done ends with a place for a path: `This fixes the crash in`.
fn is_mentioned(before: &str) -> bool {
    let own: Vec<String> = plain_words(clause(before)).collect();
    let is_told = own.iter().any(|word| is_in(CHANGE, word) || is_in(MENTIONS, word));
    is_told && last_word(&own).is_some_and(|word| is_in(PLACES, word))
}

/// Returns whether a sentence leads to what is below it.
pub(super) fn sentence_ends(sentence: &str) -> bool {
    sentence.trim_end().trim_end_matches('*').ends_with([':', '：'])
}

/// Returns whether the first line of a text is a comment that names another file than the one of this path that it is like:
/// `# calc.py`, `// src/calc.js - a calculator`.
pub(in crate::edit) fn begins_with_other(content: &str, like: &KnownFile, known: &[KnownFile]) -> bool {
    let first = content.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let Some(said) = ["# ", "//", "--", "/*", "<!--", ";"].iter().find_map(|mark| first.strip_prefix(mark)) else {
        return false;
    };
    if like.text.lines().any(|line| line.trim() == first) {
        return false;
    }
    let said = said.trim_start_matches(['*', '/', '#', '-', ';', ' ']);
    let path = said.split_whitespace().map(bare).map(|word| word.trim_end_matches([':', ','])).find(|word| {
        let label = word.to_lowercase();
        !["file", "filename", "path", "new"].contains(&label.as_str())
    });
    path.is_some_and(|path| {
        let is_of = same_path(path, &like.path) || may_name(path, &like.path);
        is_likely(path, known) && !is_of && is_like(path, Some(&like.path), known)
    })
}

/// Returns whether a file may be one that a text like this one's is for.
fn is_like(path: &str, like: Option<&str>, known: &[KnownFile]) -> bool {
    let extension = |path: &str| path.rsplit('/').next()?.rsplit_once('.').map(|(_, end)| end.to_lowercase());
    let is_known = || known.iter().any(|file| same_path(path, &file.path));
    like.is_none_or(|like| extension(path) == extension(like)) || is_known()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claimed(prose: &str, like: &str) -> Option<(String, bool)> {
        let known = [KnownFile { path: like.into(), text: "x = 1\n".into() }];
        let (before, said) = prose.trim_end().rsplit_once('\n').unwrap_or(("", prose));
        claim(Prose { before, said }, Some(like), &known)
            .filter(|claim| !claim.is_of(like))
            .map(|claim| (claim.path, claim.is_made))
    }

    #[test]
    fn a_name_that_is_only_mentioned_takes_no_block() {
        for prose in [
            "As `README.md` says, here is the updated file:",
            "As `test_s.py` expects, the file becomes:",
            "For `main.py` to work, `s.py` must be:",
            "After this `python main.py` works:",
            "Here is the file; run it with `python s.py`:",
            "Use `math.floor` semantics:",
            "Add `os.path.join`:",
            "The output of `a // b` is an integer. Updated code:",
            "Now `div` uses `//`. File:",
            "I changed `s.div`:",
            "This fixes issue 1.2:",
            "Tested with Python 3.11 and e.g. numpy 1.2:",
            "See https://docs.python.org/3/library/operator.html for details:",
            "Here is the updated code (see main.py for usage):",
            "The updated `s.py` (used by `main.py`):",
            "`main.py` calls `s.div`; new `s.py`:",
            "Replace the content of s.py by this (main.py stays):",
            "`os.path` is not needed:",
            "No need to touch `setup.cfg`:",
            "Do not touch `main.py`:",
            "ファイル全体（`main.py` は変更なし）：",
            "Here is the updated code using `math.isclose`:",
            "I added a check with `os.path.exists`:",
            "I replaced `print` by `logging.info`:",
            "Here is it with `functools.lru_cache`:",
            "Using `json.dumps()` instead:",
            "`self.items` is now a dict:",
            "The file with `console.log` removed:",
            "The updated code for Node.js:",
            "The updated code, with app.run removed:",
            "Here is the updated code (uses os.path):",
            "Here is the updated `s.py` with `math.floor`:",
            "With `math.floor`, `s.py` is:",
            "Now with `from decimal import Decimal`:",
            "`decimal.Decimal` を使うように変更しました：",
            "The whole file, so that `pytest tests/test_s.py` passes:",
            "The updated code, formatted with `black s.py`:",
            "As in `lib/utils.js`, here is the updated file:",
            "I updated the code. `README.md` needs no change.\n\nHere is it:",
            "With the new `math.isclose`:",
            "I wrote the tests in `test_s.py`.\n\nHere is the updated code:",
            "- `main.py`\n- `s.py`\n\nThe code:",
            "I created `test_s.py` before. In `s.py` it is now so.\n\nHere it is:",
            "This fixes the crash in `main.py`:",
            "This fixes the bug in main.py:",
            "I changed the code as asked in main.py:",
            "I updated README.md too. Full file:",
            "Add tests in `tests/test_s.py` later. The file:",
            "I added a docstring for use in `main.py`:",
            "Update for `main.py`:",
            "The change needed by `main.py`:",
            "I also updated `test_s.py`. Here is the code:",
            "To be used as in `main.py`:",
            "It can now be written to out.txt:",
            "Changed to write `log.py`-style output:",
            "I rewrote it in the style of `lib/utils.py`:",
            "`main.py` の呼び出しに合わせて変更しました：",
            "`main.py` を変更せずに済むようにしました：",
            "Make sure `main.py` imports it:",
            "There is no need to change `main.py`. It could look like this:",
            "`main.py` を作成しないでください：",
            "I cannot create `main.py` with this content:",
            "Avoid creating `main.py` with this content:",
            "Instead of creating `main.py`:",
            "I will not create `main.py`:",
        ] {
            assert_eq!(claimed(prose, "s.py"), None, "{prose}");
        }
        for prose in ["Here is the new React.js file:", "Updated Next.js page:", "Updated ASP.NET code:"] {
            assert_eq!(claimed(prose, "a.js"), None, "{prose}");
        }
    }

    #[test]
    fn a_head_that_presents_a_file_has_the_block() {
        for prose in [
            "Here is `calc.py` for you:",
            "`calc.py` (with power):",
            "`calc.py`, the new module:",
            "calc.py - the new module",
            "### calc.py (full code)",
            "### 1. calc.py - calculator",
            "### calc.py (full code)\n\nIt has power:",
            "Here is the complete `calc.py` you asked for:",
            "Here is `calc.py`, complete with tests:",
            "The full code for `calc.py` (a calculator):",
            "calc.py (17 lines):",
            "`calc.py` in full:",
            "**calc.py**: the calculator",
            "Here is the `calc.py` script:",
            "Here is the code of `calc.py` as requested:",
            "Sure! Here is `calc.py` and how it works:",
            "以下が `calc.py` の完全なコードです：",
            "こちらが calc.py です。",
            "Here is `calc.py`, based on `s.py`:",
            "`calc.py` (a copy of `s.py`):",
            "**calc.py** (based on s.py)",
            "`calc.py`, built on `s.py`:",
            "`calc.py`, like `s.py` but with power:",
            "`calc.py` is new, `s.py` stays as it is:",
            "### calc.py (Python 3.12)",
            "calc.py (Python 3.12)",
            "`calc.py` (see README.md):",
            "Here is `calc.py` v1.2:",
            "Here is `calc.py` for Node.js:",
            "`calc.py` (uses `math.floor`):",
            "Create `calc.py`.\n\nThe rest of `s.py` is the same:",
            "The calculator module `calc.py`:",
            "I wrote it in `calc.py`:",
        ] {
            assert_eq!(claimed(prose, "s.py").map(|(path, _)| path).as_deref(), Some("calc.py"), "{prose}");
        }
        for prose in [
            "New React.js component `Panel.jsx`:",
            "Here is `Panel.jsx` for Next.js:",
            "`Panel.jsx` (React.js):",
            "Here is `Panel.jsx`, which uses `props.children`:",
        ] {
            assert_eq!(claimed(prose, "Card.jsx").map(|(path, _)| path).as_deref(), Some("Panel.jsx"), "{prose}");
        }
    }

    #[test]
    fn a_comment_on_the_first_line_names_another_file() {
        let file = KnownFile { path: "s.py".into(), text: "# main.py calls this\nx = 1\n".into() };
        let begins = |first: &str| begins_with_other(&format!("{first}\nx = 1\n"), &file, std::slice::from_ref(&file));
        for first in ["# calc.py", "# src/calc.py", "# File: calc.py", "# calc.py - a calculator", "\n# calc.py:"] {
            assert!(begins(first), "{first}");
        }
        for first in
            ["# s.py", "# ./s.py - sums", "# Sums, see main.py", "# main.py calls this", "#!/bin/x.py", "y = 2"]
        {
            assert!(!begins(first), "{first}");
        }
    }

    #[test]
    fn a_file_that_prose_says_is_made_or_heads_has_the_block() {
        for (prose, path, is_made) in [
            ("Create a file named `calc.py`.\n\nPut this in it:", "calc.py", true),
            ("First create `calc.py`. It holds:", "calc.py", true),
            ("Based on `s.py`, here is `calc.py`:", "calc.py", false),
            ("Rename `s.py` to `calc.py`:", "calc.py", true),
            ("Like `s.py`, the new `calc.py` has:", "calc.py", true),
            ("Here is a copy of `s.py` named `calc.py`:", "calc.py", true),
            ("Copy s.py to calc.py, then change it:", "calc.py", true),
            ("Copy `s.py` to `calc.py` and add power:", "calc.py", true),
            ("`s.py` → `calc.py`:", "calc.py", false),
            ("Create `calc.py` from `s.py`:", "calc.py", true),
            ("Create `calc.py` as a copy of `s.py` with power:", "calc.py", true),
            ("Create `calc.py` next to `s.py`:", "calc.py", true),
            ("Create `Makefile`:", "Makefile", true),
            ("Create `Dockerfile.prod`:", "Dockerfile.prod", true),
            ("Create a file `calc`:", "calc", true),
            ("Save as **calc.py**:", "calc.py", true),
            ("Save as \"calc.py\":", "calc.py", true),
            ("Save as calc.py.", "calc.py", true),
            ("Save this as `calc.py`:", "calc.py", true),
            ("New file: `src/calc.py`\n\nContents:", "src/calc.py", true),
            ("1. Create `calc.py`\n2. Paste this:", "calc.py", true),
            ("> calc.py\n\nContent:", "calc.py", true),
            ("`calc.py`\n\nThis is the full file:", "calc.py", true),
            ("**calc.py**\n\nHere it is.", "calc.py", true),
            ("新しいファイル `calc.py` を作ります。\n\n中身は次のとおりです：", "calc.py", true),
            ("`s.py` をコピーして `calc.py` を作成：", "calc.py", true),
            ("calc.pyを作成します：", "calc.py", true),
            ("创建 `calc.py`：", "calc.py", true),
            ("The file calc.py (new):", "calc.py", true),
            ("In a new file, e.g. `calc.py`:", "calc.py", false),
            ("In `calc.py`:", "calc.py", false),
            ("For `other.py` you could write:", "other.py", false),
            ("Then `lib/calc.py`:", "lib/calc.py", false),
            ("Create a new file called calc.py and paste this into it:", "calc.py", true),
            ("I created `calc.py`; here is it:", "calc.py", true),
            ("Here's `calc.py` with the change:", "calc.py", false),
            ("Save the code in a file named `main.py`:", "main.py", true),
            ("The content of `calc.py`:", "calc.py", false),
        ] {
            assert_eq!(claimed(prose, "s.py"), Some((path.to_string(), is_made)), "{prose}");
        }
    }

    #[test]
    fn a_line_warns_of_what_is_below_it_or_of_something_else() {
        for line in [
            "You should not change s.py like this:\n",
            "A wrong version of s.py would be:",
            "Good. Never write it like this:",
            "Don't do it like that:",
            "Do not do this:",
            "Never write the following:",
            "Avoid this:",
            "**Wrong:**",
            "### Wrong",
            "❌ Wrong",
            "悪い例：",
            "### 错误示例",
            "Don't:",
            "Wrong way:",
            "❌ Bad:",
        ] {
            assert!(warns(line), "{line}");
        }
        for line in [
            "Don't use port 8080. Here is the updated s.py:",
            "You should not see the error any more. Here is s.py:",
            "Don't worry, it looks like this now:",
            "Shouldn't s.py look like this?",
            "s.py (you should not need any other change):",
            "This was a wrong version of the file; here is the right one:",
            "Do not change anything else in s.py; only the port:",
            "Don't forget to add this:",
            "I did not change anything but this:",
            "It does not work without this:",
            "You do not need more than this:",
            "Fixed the bad version:",
            "悪い例を直しました：",
            "**Wrong** results are gone now:",
            "Do not worry about that. Do this:",
            "I don't see a problem with this:",
            "It's not hard to do this:",
            "You can avoid the error by using the following:",
            "To avoid this error change `s.py` like this:",
            "Avoid the loop with this:",
            "Why not do this:",
            "Why don't you try this:",
            "You shouldn't have a problem with this:",
            "Don't be afraid to use this:",
            "I don't know if you meant this:",
            "I'd do it not with a loop but like this:",
            "It should not fail when written like this:",
        ] {
            assert!(!warns(line), "{line}");
        }
    }

    #[test]
    fn the_line_above_a_block_presents_one_file_or_none() {
        for line in [
            "Here is the test file `new.py`:",
            "Here's the content of new.py:",
            "And here is the full code for `new.py`:",
            "I implemented this in `new.py`:",
            "Create `new.py` with the following content:",
            "Create `new.py`.",
            "Let's create `new.py`.",
            "First, let me create new.py",
            "Now save the following as new.py",
            "Please create new.py.",
            "Don't forget to create `new.py`:",
            "Instead of repeating this, create `new.py`:",
            "Here is the new file `new.py`; no other changes are needed:",
            "Create new.py:",
            "Next, `new.py`:",
            "And here's the test (`new.py`):",
            "The test file, new.py:",
            "I did not change old.py. Here's `new.py`:",
            "Don't use port 8080. Here is the full code of new.py:",
            "I'm going to create new.py.",
            "Create a file new.py with this content.",
            "First, create `new.py` with the following content.",
            "Here is new.py.",
            "Here is the full code of `new.py`.",
            "And here's the helper (new.py):",
            "创建 new.py：",
            "Here's the main script (new.py):",
            "Finally, the entry point (`new.py`):",
            "**The stylesheet** (new.py):",
        ] {
            assert_eq!(presented(line, &[], |_| true).as_deref(), Some("new.py"), "{line}");
        }
        for line in [
            "This uses `new.py`:",
            "It fixes the crash in `new.py`:",
            "I looked at `new.py`.",
            "I created `new.py`.",
            "I also create `new.py`.",
            "I'm not going to create new.py.",
            "Create new.py with this command.",
            "Here is how to run new.py.",
            "Here is the output of new.py.",
            "There is new.py.",
            "This is for new.py.",
            "Are we going to create new.py?",
            "Running this script will create `new.py`.",
            "Run it; it creates new.py.",
            "You can run this to save the result as new.py",
            "It fails when writing `new.py`.",
            "Before you create `new.py`.",
            "I failed to create `new.py`.",
            "An alternative would be to create `new.py`.",
            "I'm unable to create new.py:",
            "I will not create new.py:",
            "Do not create new.py with the following content:",
            "You should never write new.py:",
            "Instead of creating new.py:",
            "You should not change new.py like this:",
            "A wrong version of new.py would be:",
            "Create the file \"docs/a new.py\" with this content:",
            "Do not create `new.py`.",
            "Create `new.py` and run it.",
            "After this, `new.py`:",
            "Run it with `python new.py`:",
            "Here are `new.py` and `old.py`:",
            "The output of the script (new.py):",
            "Without the script (new.py):",
            "It does the rest (new.py).",
            "`new.py` needs no change:",
            "Here is the test for `new.py`:",
            "To test the file `new.py`:",
        ] {
            assert_eq!(presented(line, &[], |_| true), None, "{line}");
        }
        for line in ["Here is new.py.", "I'm going to create new.py.", "Create a file new.py with this content."] {
            assert_eq!(presented(line, &[], |_| false), None, "{line}");
        }
        for name in [".gitignore", ".prettierrc", ".env", "Procfile"] {
            assert_eq!(presented(&format!("Here is {name}:"), &[], |_| false).as_deref(), Some(name));
        }
        assert_eq!(presented("Here are the .py files:", &[], |_| true), None);
        // Of a file that is there it may be what is wrong with it.
        let there = KnownFile { path: "new.py".into(), text: "x = 1\n".into() };
        assert_eq!(presented("Here is new.py.", &[there], |_| true), None);
    }
}
