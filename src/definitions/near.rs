//! The definitions whose names are like one that nothing has.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::time::Instant;

use super::find::{AT_ONCE, DefinitionFinder};
use crate::text::distance::{distance, nearest_few};

/// Ids that are returned.
const OFFERED: usize = 3;

impl DefinitionFinder<'_> {
    /// Returns the ids of the definitions in some files whose names are nearest to one that none has. Files that hold a
    /// word like it come first, and after this moment no more are looked at than are read at once.
    pub(super) fn nearest_ids(&self, name: &str, paths: &[String], until: Instant) -> Vec<String> {
        let (word, paths) = (MistypedWord::new(name), self.likely_first(name, paths));
        let mut ids: Vec<(String, String)> = Vec::new();
        for is_like in [true, false] {
            for (n, some) in paths.chunks(AT_ONCE).enumerate() {
                let in_time = || n == 0 || Instant::now() < until;
                if !in_time() {
                    break;
                }
                let worth = |_: &str, bytes: &[u8]| in_time() && word.is_like_any(bytes) == is_like;
                let read = self.read_each(some, &worth, |_, read| {
                    if let Ok(Some(file)) = read {
                        let nodes = file.source.nodes.iter().enumerate();
                        ids.extend(nodes.map(|(at, node)| (node.name.clone(), file.source.id(at))));
                    }
                    Ok::<(), Infallible>(())
                });
                read.unwrap_or_else(|never| match never {});
            }
            if ids.iter().any(|(name, _)| word.is_like(name)) {
                break;
            }
        }
        let names: BTreeSet<&str> = ids.iter().map(|(name, _)| name.as_str()).collect();
        let near = nearest_few(name, names.into_iter(), OFFERED).into_iter();
        near.filter_map(|name| ids.iter().find(|(own, _)| own == name).map(|(_, id)| id.clone())).collect()
    }

    /// Returns some files, those first that may hold a half of a name, by what is known of their words: a name with one
    /// wrong letter has the other half.
    fn likely_first(&self, name: &str, paths: &[String]) -> Vec<String> {
        let middle = name.char_indices().nth(name.chars().count() / 2).map_or(0, |(at, _)| at);
        let (halves, words) = (name.split_at(middle), self.workspace.words());
        let is_likely = |path: &str, stamp| words.may_hold(path, &stamp, &[halves.0, halves.1]);
        let (mut first, mut rest) = (Vec::new(), Vec::new());
        for (path, stamp) in paths.iter().zip(self.stamps(paths)) {
            let is_likely = stamp.is_some_and(|stamp| is_likely(path, stamp));
            let part = if is_likely { &mut first } else { &mut rest };
            part.push(path.clone());
        }
        first.append(&mut rest);
        first
    }
}

/// A word that may be another one with a letter wrong, in a long word two, or be a part of it.
struct MistypedWord {
    /// The word in lower case.
    word: String,
    /// Its letters.
    letters: u64,
    /// The letters that may be wrong.
    wrong: usize,
}

impl MistypedWord {
    fn new(word: &str) -> MistypedWord {
        let (letters, wrong) = (letters(word.as_bytes()), 1 + usize::from(word.chars().count() > 6));
        MistypedWord { word: word.to_lowercase(), letters, wrong }
    }

    /// Returns whether some bytes hold a word that it is like.
    fn is_like_any(&self, bytes: &[u8]) -> bool {
        let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
        let mut words = bytes.split(|byte| !is_of_word(byte)).filter(|word| !word.is_empty());
        words.any(|other| self.may_be_like(other) && self.is_like(&String::from_utf8_lossy(other)))
    }

    /// Returns whether it may be like a word, by the letters that both have: that costs next to nothing.
    fn may_be_like(&self, other: &[u8]) -> bool {
        let (of_other, wrong) = (letters(other), self.wrong);
        let missing = (self.letters & !of_other).count_ones() as usize;
        let more = (of_other & !self.letters).count_ones() as usize;
        missing == 0 || missing <= wrong && more <= wrong
    }

    /// Returns whether it is like a word.
    fn is_like(&self, other: &str) -> bool {
        let other = other.to_lowercase();
        other.contains(&self.word) || distance(&self.word, &other) <= self.wrong
    }
}

/// Returns the set of the ASCII letters and digits of a word, whatever their case; a few share a bit.
fn letters(word: &[u8]) -> u64 {
    let ascii = word.iter().filter(|byte| byte.is_ascii());
    ascii.fold(0, |set, byte| set | 1 << (byte.to_ascii_lowercase() & 63))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::definitions::SecretFiles;
    use crate::text::time::now;
    use crate::workspace::Workspace;

    #[test]
    fn a_word_is_like_those_that_hold_it_and_those_a_letter_or_two_apart() {
        for (word, text, is_like) in [
            ("totl", "a = total()", true),
            ("totl", "a = tool", true),
            ("totl", "a = tail + toads", false),
            ("sho", "def Show_All():", true),
            ("show_all", "def show():", false),
            ("calculate_totl", "x.calculateTotal()", true),
            ("calculate_totl", "x.calculate_tax()", false),
            ("größe", "Größen", true),
            ("grosse", "größe", false),
            ("x", "", false),
        ] {
            assert_eq!(MistypedWord::new(word).is_like_any(text.as_bytes()), is_like, "{word}: {text}");
        }
    }

    #[test]
    fn few_files_are_looked_at_whatever_the_time_and_the_likeliest_of_many_first() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        let mut paths: Vec<String> = (0..AT_ONCE).map(|n| format!("f{n:02}.py")).collect();
        paths.push("z.py".into());
        let text = |path: &str| match path {
            "z.py" => "def gross_total():\n    pass\n".to_owned(),
            _ => format!("def of_{}():\n    pass\n", &path[..3]),
        };
        paths.iter().for_each(|path| fs::write(dir.path().join(path), text(path)).expect("written"));
        let (folder, stop) = (workspace.root().to_path_buf(), CancellationToken::new());
        let finder = DefinitionFinder { workspace: &workspace, folder, stop, secrets: SecretFiles::Shown };
        let nearest = |paths: &[String], until| finder.nearest_ids("gross_totl", paths, until);
        let over = Instant::now();
        assert_eq!(nearest(&paths[AT_ONCE..], over), ["z.py::gross_total"]);
        let of_many = nearest(&paths, over);
        assert!(of_many.len() == OFFERED && !of_many.contains(&"z.py::gross_total".into()), "{of_many:?}");
        assert_eq!(nearest(&paths, over + Duration::from_secs(3_600)), ["z.py::gross_total"]);
        for path in &paths {
            let stamp = workspace.stamp(path).expect("a stamp");
            workspace.words().keep(path, stamp, text(path).as_bytes(), now() + 60_000);
        }
        assert_eq!(nearest(&paths, over), ["z.py::gross_total"]);
    }
}
