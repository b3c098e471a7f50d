//! Unions of types in TypeScript: a value of one is of any of them, so that members of one name are one member to it.

use std::collections::BTreeSet;

use super::file::SourceFile;

/// A union of types.
pub struct TypeUnion {
    /// The name that it is given; none: it stands where it is used.
    pub name: Option<String>,
    /// The words in it, names of types among them.
    pub words: BTreeSet<String>,
    /// Its first line, from 1.
    pub line: usize,
}

/// Returns the unions of a file, each with those in it.
pub fn unions(file: &SourceFile) -> Vec<TypeUnion> {
    let mut found = Vec::new();
    let mut cursor = file.syntax().root.walk();
    loop {
        let node = cursor.node();
        let is_union = node.kind() == "union_type";
        if is_union {
            let text = &file.text[node.byte_range()];
            let is_of_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
            let words = text.split(|c| !is_of_word(c)).filter(|word| !word.is_empty()).map(str::to_owned).collect();
            let alias = node.parent().filter(|parent| parent.kind() == "type_alias_declaration");
            let name = alias.and_then(|alias| alias.child_by_field_name("name"));
            let name = name.map(|name| file.text[name.byte_range()].to_owned());
            found.push(TypeUnion { name, words, line: file.line(node.start_byte()) });
        }
        if !is_union && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unions_are_found_wherever_they_stand() {
        let text = "type Pet =\n  | Cat\n  | Dog;\nfunction f(a: Pet | null, b: Map<string, A | B>): Cat {}\n";
        let file = SourceFile::read("a.ts", text.as_bytes()).expect("a source");
        let found = unions(&file);
        let all: Vec<_> = found.iter().map(|one| (one.name.as_deref(), one.line)).collect();
        assert_eq!(all, [(Some("Pet"), 2), (None, 4), (None, 4)]);
        assert!(found[0].words.contains("Cat") && found[0].words.contains("Dog"), "{:?}", found[0].words);
        assert!(!found[1].words.contains("Cat"), "{:?}", found[1].words);
    }
}
