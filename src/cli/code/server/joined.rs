//! Members of types of TypeScript that a union makes one: where one of them gets another name, each has to.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::code::{CodeNode, CodeTarget, SourceFile, SourceLanguage, unions};
use crate::definitions::SourceFiles;

/// The unions that a type is in, by its own name or by those of unions.
struct UnionsOf {
    /// The type and the unions that have a name.
    names: BTreeSet<String>,
    /// Each union with its place and the words in it.
    all: Vec<(String, BTreeSet<String>)>,
}

impl UnionsOf {
    fn new(holder: &str, language: SourceLanguage, sources: &SourceFiles<'_>) -> UnionsOf {
        let mut found = UnionsOf { names: BTreeSet::from([holder.to_owned()]), all: Vec::new() };
        let mut left = vec![holder.to_owned()];
        while let Some(word) = left.pop() {
            sources.each_with(&word, language, |file| {
                for union in unions(&file).into_iter().filter(|union| union.words.contains(&word)) {
                    left.extend(union.name.filter(|name| found.names.insert(name.clone())));
                    found.all.push((format!("{}:{}", file.path, union.line), union.words));
                }
            });
        }
        found
    }
}

/// Returns the first of some members of the target's name which a union makes one with it, and the place of the union.
pub(super) fn joined(
    target: &CodeTarget,
    alike: &[(Rc<SourceFile>, usize)],
    sources: &SourceFiles<'_>,
) -> Option<(String, String)> {
    let (language, own) = (target.file.language, holder(target.node()));
    if !matches!(language, SourceLanguage::TypeScript | SourceLanguage::Tsx) || own.is_empty() || alike.is_empty() {
        return None;
    }
    let unions = UnionsOf::new(own, language, sources);
    alike.iter().find_map(|(file, at)| {
        let node = &file.nodes[*at];
        let place = format!("{}:{}", file.path, file.line(node.name_at.start));
        if file.path == target.file.path && node.dotted == target.node().dotted {
            // Two forms of one type.
            return Some((place.clone(), place));
        }
        let others = (!unions.all.is_empty()).then(|| UnionsOf::new(holder(node), language, sources).names)?;
        let (union, _) = unions.all.iter().find(|(_, words)| !words.is_disjoint(&others))?;
        Some((place, union.clone()))
    })
}

/// Returns the name of the type that a member belongs to; empty: it belongs to none.
fn holder(member: &CodeNode) -> &str {
    let before = member.dotted.strip_suffix(&member.name).unwrap_or_default();
    before.strip_suffix('.').unwrap_or_default().rsplit('.').next().unwrap_or_default()
}
