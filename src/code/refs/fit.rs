//! New names that do not fit where a definition is mentioned, and definitions that are found by their names.

use std::ops::Range;

use super::super::file::SourceFile;
use super::super::lang::{NodeKind, SourceLanguage};
use super::bases::decorators;
use super::meaning::{Meaning, Names};
use super::names::{self, Lookup};
use super::role::{Import, above, around};
use super::target::{CodeTarget, SourceTree, folder};

/// Returns why a name cannot stand in these bytes of a file.
pub fn misfit(file: &SourceFile, at: &Range<usize>, name: &str) -> Option<&'static str> {
    let leaf = file.syntax().root.descendant_for_byte_range(at.start, at.end)?;
    const TAGS: [&str; 3] = ["jsx_opening_element", "jsx_closing_element", "jsx_self_closing_element"];
    let is_tag = TAGS.contains(&above(leaf, 1)) && leaf.kind() == "identifier";
    if is_tag && name.starts_with(char::is_lowercase) {
        return Some("a tag of JSX that begins with a small letter is one of HTML");
    }
    let is_mangled = file.language == SourceLanguage::Python && name.starts_with("__") && !name.ends_with("__");
    if is_mangled && around(leaf, &["class_definition"]).is_some() {
        return Some("Python changes names that begin with __ inside a class");
    }
    None
}

/// Returns where a file of Go imports a package that may be called by a name.
pub fn import_called(file: &SourceFile, name: &str) -> Option<usize> {
    if file.language != SourceLanguage::Go {
        return None;
    }
    // A package is called as its path ends, but for a version: `x/yaml`, `x/yaml.v3`, `x/go-yaml/v3`.
    let ends = |path: &str| path.rsplit('/').take(2).any(|part| part.split(['.', '-']).any(|word| word == name));
    let is_it = |alias: &Option<String>, path: &str| alias.as_ref().map_or_else(|| ends(path), |alias| alias == name);
    let mut imports = names::go_imports(file).into_iter();
    imports.find(|(alias, path, _)| is_it(alias, path)).map(|(.., at)| at)
}

impl CodeTarget {
    /// Returns what finds it by its name though nothing mentions it: a test framework, or another program.
    pub fn found_by_name(&self, tree: &dyn SourceTree) -> Option<String> {
        let (file, node) = (&self.file, self.node());
        let head = file.text.get(node.range.start..node.name_at.start).unwrap_or_default();
        match file.language {
            SourceLanguage::Python => decorators(head)
                .find(|name| name.ends_with("fixture"))
                .map(|name| format!("tests ask for it by this name (@{name})")),
            SourceLanguage::Go => self.found_by_go(tree),
            _ => None,
        }
    }

    fn found_by_go(&self, tree: &dyn SourceTree) -> Option<String> {
        let (file, node) = (&self.file, self.node());
        let is_test = ["Test", "Benchmark", "Fuzz", "Example"]
            .iter()
            .any(|word| node.name.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_lowercase)));
        if node.kind == NodeKind::Fn && is_test && file.path.ends_with("_test.go") {
            return Some("`go test` finds it by this name".to_owned());
        }
        let told = |line: &&str| {
            let mut words = line.strip_prefix("//").unwrap_or_default().split(' ');
            let word = words.next();
            [Some("export"), Some("go:linkname")].contains(&word) && words.next() == Some(&node.name)
        };
        if let Some(line) = file.text.lines().find(told) {
            return Some(format!("other programs are linked to it by this name ({})", line.trim()));
        }
        let example = format!("Example{}", node.dotted.replace('.', "_"));
        let is_of =
            |name: &str| name.strip_prefix(&example).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
        let tests = tree.paths().iter().filter(|path| path.ends_with("_test.go") && folder(path) == folder(&file.path));
        let mut tests = tests.filter(|path| tree.text_with(path, &[&example]).is_some());
        let found = tests.find_map(|path| tree.source(path)?.nodes.iter().find(|node| is_of(&node.name)).cloned());
        found.map(|found| format!("the example {} is found by this name", found.name))
    }

    /// Returns where another file adds to it in TypeScript: in a `declare module` of its file, or as a global.
    pub fn additions(&self, tree: &dyn SourceTree, other: &std::rc::Rc<SourceFile>) -> Vec<usize> {
        let name = &self.node().name;
        if self.is_member() || other.path == self.file.path || !other.language.is_like(SourceLanguage::TypeScript) {
            return Vec::new();
        }
        let mut alike = other.nodes.iter().enumerate().filter(|(_, node)| node.name == *name).peekable();
        if alike.peek().is_none() {
            return Vec::new();
        }
        let lookup = Lookup::new(tree);
        let adds = |at: usize| {
            let node = &other.nodes[at];
            let holder = node.parent.map(|holder| other.text[other.nodes[holder].name_at.clone()].to_owned());
            match holder.as_deref().map(|holder| (holder, holder.trim_matches(['"', '\'']))) {
                Some((quoted, module)) if quoted != module => {
                    let (module, name) = (module.to_owned(), Some(name.clone()));
                    lookup.begin();
                    match lookup.import(other, &Import { module, name, scope: None, at: node.own.start }, 0) {
                        Meaning::Node { file, at, .. } => self.is(&file, &file.nodes[at]),
                        Meaning::Unknown => true,
                        _ => false,
                    }
                }
                _ => {
                    node.dotted == self.node().dotted
                        && names::is_global(self)
                        && names::is_global(&CodeTarget { file: other.clone(), at })
                }
            }
        };
        alike.filter(|(at, _)| adds(*at)).map(|(_, node)| node.name_at.start).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_small_letter_stands_everywhere_but_in_a_tag() {
        let text = "const view = <Row onPick={save}>{count}<Cell /></Row>;\n";
        let file = SourceFile::read("a.tsx", text.as_bytes()).expect("read");
        let fits = |word: &str| {
            let start = text.find(word).expect("there");
            misfit(&file, &(start..start + word.len()), "small").is_none()
        };
        assert_eq!(["save", "count", "Row", "Cell"].map(fits), [true, true, false, false]);
    }
}
