//! Stubs of Python: a module whose types stand in `a.pyi` beside `a.py` is both files. A program reads the source, a
//! checker of types the stub, so what an import leads to in one of them may be meant in the other.

use super::super::file::SourceFile;
use super::super::lang::SourceLanguage;
use super::MentionFinder;
use super::binding::{Bound, bindings};
use super::certainty::Certainty;
use super::meaning::Names;
use super::target::is_stub;

impl MentionFinder<'_> {
    /// Returns how certain a mention in a file is. One that leads to the definition only where stubs take the place of
    /// their sources, or sources that of their stubs, is told by its name.
    pub(super) fn certainty_in(&self, file: &SourceFile, look: impl Fn() -> Option<Certainty>) -> Option<Certainty> {
        let found = self.certainty_from(is_stub(&file.path), &look);
        found.or_else(|| self.leads_otherwise(file, &look).then_some(Certainty::Name))
    }

    /// Returns whether a mention leads to the definition where sources take the place of stubs, or the other way around.
    pub(super) fn leads_otherwise(&self, file: &SourceFile, look: impl Fn() -> Option<Certainty>) -> bool {
        self.has_stubs() && self.certainty_from(!is_stub(&file.path), look).is_some_and(|one| one > Certainty::Name)
    }

    fn certainty_from(&self, stubs: bool, look: impl Fn() -> Option<Certainty>) -> Option<Certainty> {
        let before = self.lookup.prefer_stubs(stubs);
        self.lookup.begin();
        let found = look();
        self.lookup.prefer_stubs(before);
        found
    }

    fn has_stubs(&self) -> bool {
        let is_python = self.target.file.language == SourceLanguage::Python;
        is_python && *self.has_stubs.get_or_init(|| self.lookup.tree().paths().iter().any(|path| is_stub(path)))
    }
}

/// Returns where a file of Python binds a name in its module: defines or imports it.
pub fn bound_in_module(file: &SourceFile, name: &str) -> Vec<usize> {
    let of_module = bindings(file, name).into_iter().filter(|one| one.scope == (0..usize::MAX) && !one.in_class);
    let places = of_module.filter_map(|one| match one.bound {
        Bound::Node(at) => Some(file.nodes[at].name_at.start),
        Bound::Import(import) => Some(import.at),
        _ => None,
    });
    places.collect()
}
