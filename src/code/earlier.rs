//! Follows a definition from one version of a file to the version before.

use std::collections::HashSet;

use super::file::SourceFile;
use super::lang::{CodeNode, NodeKind};
use super::words::{is_of_name, whole_places};

/// Returns what a definition of a file was in the version before: the one of its name and kind, else one of which only
/// the name differs, else the only one that went, where this is the only one that came, and in the same place.
pub fn earlier(before: &SourceFile, after: &SourceFile, at: usize) -> Option<usize> {
    let node = &after.nodes[at];
    if let Some(found) = before.nodes.iter().position(|other| is_called(other, node)) {
        return Some(found);
    }
    let lacking = |of: &SourceFile, other: &SourceFile| -> Vec<usize> {
        let keys: HashSet<_> = other.nodes.iter().map(key).collect();
        (0..of.nodes.len()).filter(|at| !keys.contains(&key(&of.nodes[*at]))).collect()
    };
    let gone = lacking(before, after);
    if let Some(found) = gone.iter().find(|b| is_renamed(before, **b, after, at)) {
        return Some(*found);
    }
    // What stands in one that went, or in one that came, went or came with it.
    let outer = |file: &SourceFile, own: &[usize]| -> Vec<usize> {
        let in_another = |at: usize| file.nodes[at].parent.is_some_and(|parent| own.binary_search(&parent).is_ok());
        own.iter().copied().filter(|at| !in_another(*at)).collect()
    };
    match (outer(before, &gone).as_slice(), outer(after, &lacking(after, before)).as_slice()) {
        ([b], [a]) if *a == at && b == a && before.nodes[*b].kind == node.kind => Some(*b),
        _ => None,
    }
}

/// Returns whether two definitions of two versions of a file have one name, number and kind.
pub fn is_called(one: &CodeNode, other: &CodeNode) -> bool {
    key(one) == key(other)
}

fn key(node: &CodeNode) -> (NodeKind, &str, usize) {
    (node.kind, &node.dotted, node.number)
}

/// Returns whether of two definitions of two versions of a file nothing but the name differs.
fn is_renamed(before: &SourceFile, b: usize, after: &SourceFile, a: usize) -> bool {
    let (old, now) = (&before.nodes[b], &after.nodes[a]);
    old.kind == now.kind
        && old.name != now.name
        && is_respelled(&before.text[old.range.clone()], &after.text[now.range.clone()], &old.name, &now.name)
}

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

/// Returns the text of a definition without its name, wherever that stands as a word: those of which nothing but the name
/// differs have one.
pub fn nameless(file: &SourceFile, at: usize) -> String {
    let node = &file.nodes[at];
    nameless_text(&file.text[node.range.clone()], &node.name)
}

/// Returns a text without a name, wherever that stands as a word.
pub fn nameless_text(text: &str, name: &str) -> String {
    with_name(text, name, "\0")
}

/// Returns a text with another name wherever this one stands as a word.
fn with_name(text: &str, old: &str, new: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for (at, _) in text.match_indices(old) {
        let end = at + old.len();
        let (before, after) = (text[..at].chars().next_back(), text[end..].chars().next());
        let is_whole = !before.is_some_and(is_word) && !after.is_some_and(is_word);
        out.push_str(&text[done..at]);
        out.push_str(if is_whole { new } else { old });
        done = end;
    }
    out.push_str(&text[done..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_replaced_as_a_word() {
        assert_eq!(with_name("fn a() { a(ba, a_, a) }", "a", "sum"), "fn sum() { sum(ba, a_, sum) }");
        assert_eq!(with_name("a(aa, aaa)", "a", "sum"), "sum(aa, aaa)", "another name begins and ends with it");
    }

    #[test]
    fn a_definition_is_followed_to_the_version_before() {
        let file = |text: &str| SourceFile::read("a.rs", text.as_bytes()).unwrap();
        let was = |before: &str, after: &str, name: &str| {
            let (before, after) = (file(before), file(after));
            let at = (0..after.nodes.len()).find(|at| after.name(*at) == name).unwrap();
            earlier(&before, &after, at).map(|b| before.name(b))
        };
        let before = "fn a() { a(1) }\nfn b() {}\nfn c() {}\n";
        assert_eq!(was(before, "fn c() {}\nfn b() { 2 }\n", "b").as_deref(), Some("b"));
        // Renamed and nothing else, wherever it stands now.
        assert_eq!(was(before, "fn b() {}\nfn d() { d(1) }\n", "d").as_deref(), Some("a"));
        // Its name stands elsewhere in it as something else, and as its own.
        let both = "fn b() {}\nfn e(o: O) { o.e + e(1) }\n";
        assert_eq!(was(both, "fn all(o: O) { o.e + all(1) }\nfn b() {}\n", "all").as_deref(), Some("e"));
        assert_eq!(was(both, "fn all(o: O) { o.e + e(1) }\nfn b() {}\nfn f() {}\n", "all").as_deref(), Some("e"));
        assert_eq!(was(both, "fn all(o: O) { o.e + f(1) }\nfn b() {}\nfn f() {}\n", "all"), None);
        // Another name and another text, in its place.
        assert_eq!(was(before, "fn a() { a(1) }\nfn d() { 4 }\nfn c() {}\n", "d").as_deref(), Some("b"));
        assert_eq!(
            was("struct A { x: u8 }\nfn b() {}\n", "struct B { y: u16 }\nfn b() {}\n", "B").as_deref(),
            Some("A")
        );
        for (after, name) in [
            // Two went.
            ("fn d() { 4 }\nfn c() {}\n", "d"),
            // In another place, of another kind, one that is new.
            ("fn a() { a(1) }\nfn c() {}\nfn d() { 4 }\n", "d"),
            ("fn a() { a(1) }\nstruct B;\nfn c() {}\n", "B"),
            ("fn a() { a(1) }\nfn b() {}\nfn c() {}\nfn d() {}\n", "d"),
        ] {
            assert_eq!(was(before, after, name), None, "{after}");
        }
    }
}
