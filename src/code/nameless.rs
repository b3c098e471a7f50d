//! Texts of definitions without their names, and texts that differ in a name alone.

use super::file::SourceFile;
use super::words::{is_of_name, whole_places};

/// Words for the value or the type that a definition belongs to, and for what leaves it: they say nothing of what it does.
const PLAIN: &[&str] = &["self", "Self", "this", "cls", "super", "return", "\0"];

/// Returns whether two texts differ in nothing but that a name is another one at some places where it stands as a word;
/// elsewhere it may stay: as a member of something, in a text.
pub fn is_respelled(before: &str, after: &str, old: &str, new: &str) -> bool {
    let (mut done, mut rest) = (0, after);
    for at in whole_places(before, old) {
        let Some(left) = rest.strip_prefix(&before[done..at]) else { return false };
        let changed = left.strip_prefix(new).filter(|left| !left.starts_with(is_of_name));
        let Some(left) = changed.or_else(|| left.strip_prefix(old)) else { return false };
        (done, rest) = (at + old.len(), left);
    }
    rest == &before[done..]
}

/// Returns the text of a definition without its name where it is defined; elsewhere the name stays.
pub fn unnamed(file: &SourceFile, at: usize) -> String {
    let node = &file.nodes[at];
    let (start, end) = (&file.text[node.range.start..node.name_at.start], &file.text[node.name_at.end..node.range.end]);
    format!("{start}\0{end}")
}

/// Returns the text of a definition without its name, wherever that may mean the definition: those of which nothing but
/// the name differs have one. None: what it does is said by that name alone, as by many others.
pub fn nameless(file: &SourceFile, at: usize) -> Option<String> {
    let node = &file.nodes[at];
    let body = nameless_text(&file.text[node.body.unwrap_or(node.name_at.end)..node.range.end], &node.name);
    let mut words = body.split(|c: char| !is_of_name(c) && c != '\0').filter(|word| !word.is_empty());
    words.any(|word| !PLAIN.contains(&word)).then(|| nameless_text(&file.text[node.range.clone()], &node.name))
}

/// Returns a text without the name of its definition, wherever that stands as a word and may mean the definition. A member
/// of something of that name is another thing: `self.total` is no `fn total`, `self.total()` may be.
pub fn nameless_text(text: &str, name: &str) -> String {
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for at in whole_places(text, name) {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        if may_be_own(before, after) {
            out.push_str(&text[done..at]);
            out.push('\0');
            done = at + name.len();
        }
    }
    out.push_str(&text[done..]);
    out
}

/// Returns whether a name between two texts may be that of the definition around it.
fn may_be_own(before: &str, after: &str) -> bool {
    let before = before.trim_end();
    let is_after = |holder: &str| before.strip_suffix(holder).is_some_and(|rest| !rest.ends_with(is_of_name));
    let is_member = before.ends_with('.') && !before.ends_with("..");
    !is_member || after.starts_with('(') && ["self.", "this.", "cls."].into_iter().any(is_after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_left_out_where_it_may_be_the_definition() {
        let of = |text: &str, name: &str| nameless_text(text, name).replace('\0', "_");
        assert_eq!(of("fn a() { a(ba, a_, a, $a) }", "a"), "fn _() { _(ba, a_, _, $a) }");
        assert_eq!(of("a(aa, aaa)", "a"), "_(aa, aaa)", "another name begins and ends with it");
        let members = "a(self.a, self.a(1), x.a(1), my_self.a(1), x..a, Self::a, x\n    .a)";
        assert_eq!(of(members, "a"), "_(self.a, self._(1), x.a(1), my_self.a(1), x.._, Self::_, x\n    .a)");
    }

    #[test]
    fn what_is_said_by_its_name_alone_has_no_text_without_it() {
        let has = |path: &str, text: &str| {
            let file = SourceFile::read(path, text.as_bytes()).unwrap();
            let last = file.nodes.len() - 1;
            nameless(&file, last).is_some()
        };
        for text in
            ["fn a() { a() }\n", "impl C {\n    fn a(self, a: T) -> C {\n        Self { a, ..self }\n    }\n}\n"]
        {
            assert!(!has("a.rs", text), "{text}");
        }
        assert!(!has("a.ts", "const A = 'A';\n"));
        assert!(!has("a.py", "def a(a):\n    return a\n"));
        assert!(has("a.rs", "fn a() { a(1) }\n"));
        assert!(has("a.py", "def a(b):\n    return b\n"));
    }
}
