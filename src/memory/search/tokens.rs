//! Words for full-text search. SQLite's word tokenizer takes a run of Chinese, Japanese or Korean text for one word,
//! and its trigrams find nothing under three characters; so such runs are indexed as overlapping pairs.

/// Returns the text as the word index gets it: every run of CJK text becomes its overlapping pairs and its last
/// character (`価格表` → `価格 格表 表`), so that any part of the run is found, down to one character.
pub(in crate::memory) fn indexed(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    for piece in pieces(text) {
        match piece {
            Piece::Plain(s) => out.push_str(s),
            Piece::Cjk(s) => {
                out.push(' ');
                let chars: Vec<char> = s.chars().collect();
                for (i, c) in chars.iter().enumerate() {
                    out.push(*c);
                    out.extend(chars.get(i + 1));
                    out.push(' ');
                }
            }
        }
    }
    out
}

/// One searched word as queries for the two indexes: FTS5 expressions for the word index and the trigram index.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::memory) struct Term {
    /// The query for the index of [`indexed`] texts; `None`: the word holds nothing that is indexed there.
    pub(in crate::memory) words: Option<String>,
    /// The query for the trigram index; `None` under three characters.
    pub(in crate::memory) grams: Option<String>,
}

/// Returns the words of a query, each to be found. Empty when there is nothing to look for.
pub(in crate::memory) fn terms(query: &str) -> Vec<Term> {
    query
        .split_whitespace()
        .map(|word| {
            let parts: Vec<String> = pieces(word).filter_map(word_query).collect();
            let words = (!parts.is_empty()).then(|| parts.join(" AND "));
            let grams = (word.chars().count() >= 3).then(|| quoted(word));
            Term { words, grams }
        })
        .filter(|t| t.words.is_some() || t.grams.is_some())
        .collect()
}

/// Returns the single words of a question, each to be looked for by itself: plain words, and the pairs of CJK runs.
/// Pairs of kana alone are endings and particles more often than not, so they only count where there is nothing else.
pub(in crate::memory) fn single_words(question: &str) -> Vec<String> {
    let (mut words, mut kana): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for piece in pieces(question) {
        match piece {
            Piece::Plain(s) => {
                let plain = s.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
                words.extend(plain.map(str::to_string));
            }
            Piece::Cjk(s) => {
                let chars: Vec<char> = s.chars().collect();
                let size = chars.len().min(2);
                for pair in chars.windows(size) {
                    let only_kana = pair.iter().all(|c| ('\u{3040}'..='\u{309F}').contains(c));
                    if only_kana { &mut kana } else { &mut words }.push(pair.iter().collect());
                }
            }
        }
    }
    let mut words = if words.is_empty() { kana } else { words };
    let mut seen = std::collections::HashSet::new();
    words.retain(|w| seen.insert(w.clone()));
    words
}

/// Returns one of [`single_words`] as a query of a word index; a single CJK character is found where a pair begins with
/// it.
pub(in crate::memory) fn single_query(word: &str) -> String {
    let mut chars = word.chars();
    let alone = chars.next().is_some_and(is_cjk) && chars.next().is_none();
    format!("{}{}", quoted(word), if alone { "*" } else { "" })
}

/// Returns a part of a word for a trigram index that keeps no positions: all its trigrams. `None` under three
/// characters.
pub(in crate::memory) fn trigrams(word: &str) -> Option<String> {
    let chars: Vec<char> = word.chars().collect();
    let grams: Vec<String> = chars.windows(3).map(|g| quoted(&g.iter().collect::<String>())).collect();
    (!grams.is_empty()).then(|| format!("({})", grams.join(" AND ")))
}

/// Returns a piece of a searched word: the beginning of a word, or the pairs of a CJK run one after another.
fn word_query(piece: Piece<'_>) -> Option<String> {
    match piece {
        Piece::Plain(s) => s.chars().any(char::is_alphanumeric).then(|| format!("{}*", quoted(s))),
        Piece::Cjk(s) => {
            let chars: Vec<char> = s.chars().collect();
            if chars.len() == 1 {
                return Some(format!("{}*", quoted(s)));
            }
            let pairs: Vec<String> = chars.windows(2).map(|p| p.iter().collect()).collect();
            Some(quoted(&pairs.join(" ")))
        }
    }
}

/// Returns a string in FTS5's query language: nothing in it has a meaning there.
pub(in crate::memory) fn quoted(s: &str) -> String {
    format!("\"{}\"", s.replace('"', "\"\"").replace('\0', " "))
}

enum Piece<'a> {
    Plain(&'a str),
    Cjk(&'a str),
}

/// Returns the text cut where CJK runs begin and end.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let cjk = is_cjk(rest.chars().next()?);
        let end = rest.find(|c| is_cjk(c) != cjk).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(if cjk { Piece::Cjk(piece) } else { Piece::Plain(piece) })
    })
}

/// Returns whether a character belongs to a script written without spaces between words, or (Korean) with endings glued
/// on.
fn is_cjk(c: char) -> bool {
    matches!(c as u32,
        0x3005..=0x3007 | 0x3040..=0x30FF | 0x31F0..=0x31FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF
        | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0xFF66..=0xFF9F | 0x20000..=0x3FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_become_pairs() {
        assert_eq!(indexed("see 価格表!"), "see  価格 格表 表 !");
        assert_eq!(indexed("plain"), "plain");
    }

    #[test]
    fn words_of_a_query() {
        let t = terms("Foo 価格表 税 :: ab\"c");
        assert_eq!(t.len(), 4);
        assert_eq!(t[0].words.as_deref(), Some("\"Foo\"*"));
        assert_eq!(t[1].words.as_deref(), Some("\"価格 格表\""));
        assert_eq!(t[1].grams.as_deref(), Some("\"価格表\""));
        assert_eq!(t[2], Term { words: Some("\"税\"*".into()), grams: None });
        assert_eq!(t[3].words.as_deref(), Some("\"ab\"\"c\"*"));
    }
}
