//! The last rung of a merge: a program that the person allows joins what lines and definitions cannot. Its result counts
//! only where nothing of either side is lost in it, and nothing else came into it.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use super::hunks::lines;

/// The beginnings of the lines around and in a conflict.
const MARKERS: [&str; 4] = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"];

/// A program that joins two versions of a file.
pub trait MergeProgram: Send + Sync {
    /// Joins the ways from the first of three texts of the file at `path` to the second and to the third; `None`: it
    /// cannot. Blocks until the program ends.
    fn join(&self, path: &str, texts: [&str; 3]) -> Option<String>;
}

/// The way two versions of a file are joined where lines and definitions cannot; by default there is none.
#[derive(Clone, Default)]
pub struct Merger(Option<Arc<dyn MergeProgram>>);

impl Merger {
    /// Creates one that asks a program.
    pub fn by_program(program: Arc<dyn MergeProgram>) -> Self {
        Merger(Some(program))
    }

    /// Joins the ways from the first of three texts to the second and to the third; `None`: there is no program, or its
    /// result is not sound.
    pub(super) fn merged(&self, path: &str, texts: [&[u8]; 3]) -> Option<String> {
        let program = self.0.as_ref()?;
        let [Ok(base), Ok(ours), Ok(theirs)] = texts.map(str::from_utf8) else { return None };
        let texts = [base, ours, theirs];
        let asked = has_one_line_end(&texts.concat()).then(|| program.join(path, texts)).flatten();
        asked.filter(|merged| is_sound(path, texts, merged))
    }
}

impl fmt::Debug for Merger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Merger(program)" } else { "Merger" })
    }
}

/// Returns whether a result has no conflict in it, what both sides have and what each of them brought, nothing that neither
/// of them has, and, in a language that is known, their definitions.
fn is_sound(path: &str, texts: [&str; 3], merged: &str) -> bool {
    let [base, ours, theirs] = texts;
    let is_text = lines(merged.as_bytes()).is_some_and(|lines| lines.concat() == merged.as_bytes());
    let has_conflict = merged.lines().any(|line| MARKERS.iter().any(|marker| line.starts_with(marker)));
    let has_line_ends = has_one_line_end(&[ours, theirs, merged].concat())
        && (merged.ends_with('\n') || !ours.ends_with('\n') || !theirs.ends_with('\n'));
    let [of_base, of_ours, of_theirs, of_merged] = [base, ours, theirs, merged].map(parts);
    let brought = |side: &HashSet<&str>| side.difference(&of_base).all(|part| of_merged.contains(part));
    let [base_lines, our_lines, their_lines, merged_lines] = [base, ours, theirs, merged].map(line_set);
    let mut shared = base_lines.iter().filter(|line| our_lines.contains(*line) && their_lines.contains(*line));
    is_text
        && !has_conflict
        && has_line_ends
        && brought(&of_ours)
        && brought(&of_theirs)
        && of_merged.iter().all(|part| of_ours.contains(part) || of_theirs.contains(part))
        && shared.all(|line| merged_lines.contains(line))
        && has_definitions_of_both(path, texts, merged)
}

/// Returns the words of a text, and each sign beside them that is no white space.
fn parts(text: &str) -> HashSet<&str> {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let words = text.split(|c| !is_of_word(c)).filter(|word| !word.is_empty());
    words.chain(text.matches(|c: char| !is_of_word(c) && !c.is_whitespace())).collect()
}

fn line_set(text: &str) -> HashSet<&str> {
    text.lines().collect()
}

/// Returns whether the lines of a text end in one way and no carriage return stands within one: a program may make line
/// ends alike.
fn has_one_line_end(text: &str) -> bool {
    let [all, with_return, returns] = ["\n", "\r\n", "\r"].map(|end| text.matches(end).count());
    returns == with_return && (with_return == 0 || with_return == all)
}

#[cfg(feature = "code")]
fn has_definitions_of_both(path: &str, texts: [&str; 3], merged: &str) -> bool {
    crate::code::has_definitions_of_both(path, texts, merged)
}

#[cfg(not(feature = "code"))]
fn has_definitions_of_both(_: &str, _: [&str; 3], _: &str) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function stands in for a program.
    impl<F: Fn(&str, [&str; 3]) -> Option<String> + Send + Sync> MergeProgram for F {
        fn join(&self, path: &str, texts: [&str; 3]) -> Option<String> {
            self(path, texts)
        }
    }

    fn joined(path: &str, texts: [&str; 3], result: &str) -> bool {
        let result = result.to_owned();
        let merger = Merger::by_program(Arc::new(move |_: &str, _: [&str; 3]| Some(result.clone())));
        merger.merged(path, texts.map(str::as_bytes)).is_some()
    }

    #[test]
    fn a_result_has_what_both_sides_brought_and_nothing_else() {
        let texts = ["top\n[a]\n", "top\n[a, b]\n", "top\n[c, a]\n"];
        let is_joined = |result: &str| joined("f", texts, result);
        assert!(is_joined("top\n[c, a, b]\n") && is_joined("top\n[c,\n a, b]\n"));
        for result in [
            "",
            "[c, a, b]\n",
            "top\n[a, b]\n",
            "top\n[c, a]\n",
            "top\n[c, a, b, d]\n",
            "top\n[c, a, b];\n",
            "top\n[c, a, b\u{202e}]\n",
            "top\n[c, a, b]",
            "top\r\n[c, a, b]\r\n",
            "top\n[c, a,\r b]\n",
            "top\n[c, a, b]\0\n",
            "top\n<<<<<<< ours\n[a, b]\n=======\n[c, a]\n>>>>>>> theirs\n",
        ] {
            assert!(!is_joined(result), "{result:?}");
        }
        assert!(Merger::default().merged("f", texts.map(str::as_bytes)).is_none());
    }

    #[test]
    fn line_ends_stay_as_they_are() {
        let texts = ["top\r\n[a]\r\n", "top\r\n[a, b]\r\n", "top\r\n[c, a]\r\n"];
        assert!(joined("f", texts, "top\r\n[c, a, b]\r\n"));
        assert!(!joined("f", texts, "top\n[c, a, b]\n"));
        // Where they differ already, nobody is asked.
        let mixed = ["top\n[a]\r\n", "top\n[a, b]\r\n", "top\n[c, a]\r\n"];
        assert!(!joined("f", mixed, "top\n[c, a, b]\r\n"));
    }

    #[cfg(feature = "code")]
    #[test]
    fn a_result_in_a_known_language_has_the_definitions_of_both() {
        let texts = ["fn a(x: u8) {}\n", "fn a(x: u8, y: u8) {}\n", "fn b() {}\nfn a(x: u8,) {}\n"];
        let is_joined = |result: &str| joined("f.rs", texts, result);
        assert!(is_joined("fn b() {}\nfn a(x: u8, y: u8,) {}\n"));
        // A syntax error, a definition that is lost though its name is there, and one that comes twice.
        assert!(!is_joined("fn b() {}\nfn a(x: u8, y: u8,) {\n"));
        assert!(!is_joined("fn a(x: u8, y: u8,) { b() }\n"));
        assert!(!is_joined("fn b() {}\nfn a(x: u8, y: u8,) {}\nfn b() {}\n"));
    }
}
