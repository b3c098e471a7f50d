//! The places where definitions are mentioned, and how certain each is.
//!
//! A mention is an identifier of the same name. Its role in the syntax says whether it can mean the definition at all;
//! scopes, imports and modules say whether it does. Where they cannot tell it is [`Certainty::Name`]: the same name, no
//! more. Mentions that certainly mean something else are left out.

mod bases;
mod binding;
mod certainty;
mod fit;
mod formats;
mod linked;
mod meaning;
mod names;
mod packages;
mod role;
mod roles;
mod stubs;
mod target;
mod texts;
mod uses;

#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use tree_sitter::Node;

use super::file::SourceFile;
use super::lang::{CodeNode, NodeKind, SourceLanguage};
use formats::{FormatName, format_names};
use meaning::{HOPS, Meaning, Module, Names};
use names::Lookup;
use role::Role;

pub use certainty::{Certainty, CodeMention};
pub use fit::{import_called, misfit};
pub use stubs::bound_in_module;
pub use target::{CodeTarget, SourceTree, is_counterpart};
pub use uses::{CodeUse, CodeUses, uses};

/// Finds the mentions of a definition, one file after another.
pub struct MentionFinder<'a> {
    target: &'a CodeTarget,
    lookup: Lookup<'a>,
    /// The module that the definition is.
    module: Option<Module>,
    /// True if all files know it without an import.
    is_global: bool,
    /// True if `value.name` may mean it though no scope and no import says so.
    as_member: OnceCell<bool>,
    /// True if its file exports it as `default`.
    is_default: OnceCell<bool>,
    /// The other names by which files hand it on.
    handed_on: OnceCell<Vec<String>>,
    /// True if some modules of Python have stubs.
    has_stubs: OnceCell<bool>,
}

impl<'a> MentionFinder<'a> {
    /// Creates one that looks names up in these files.
    pub fn new(target: &'a CodeTarget, tree: &'a dyn SourceTree) -> MentionFinder<'a> {
        let lookup = Lookup::new(tree);
        let module = lookup.module(target);
        MentionFinder {
            target,
            lookup,
            module,
            is_global: names::is_global(target),
            as_member: OnceCell::new(),
            is_default: OnceCell::new(),
            handed_on: OnceCell::new(),
            has_stubs: OnceCell::new(),
        }
    }

    /// Returns the words of which each file that mentions the definition holds one.
    pub fn words(&self) -> Vec<&str> {
        // What a file exports as `default` has another name in each that imports it.
        let others: &[&str] = if self.is_default() { &["import", "default"] } else { &[] };
        let name = self.target.node().name.as_str();
        let handed_on: Vec<&str> = self.handed_on().iter().map(String::as_str).collect();
        [&[name.strip_prefix("r#").unwrap_or(name)], others, &handed_on].concat()
    }

    /// Returns the other names by which files hand the definition on: `pub use money::sum as total`.
    fn handed_on(&self) -> &[String] {
        self.handed_on.get_or_init(|| {
            let (target, tree, mut found) = (self.target, self.lookup.tree(), Vec::new());
            let name = target.node().name.as_str();
            let may_be_imported = !target.is_member() || names::is_variant(&target.file, target.at);
            if target.file.language == SourceLanguage::Go || !may_be_imported {
                return found;
            }
            let like =
                |path: &&String| SourceLanguage::of_path(path).is_some_and(|own| own.is_like(target.file.language));
            let mut open = vec![name.to_owned()];
            open.extend(self.is_default().then(|| "default".to_owned()));
            while let Some(word) = open.pop() {
                let holds = |path: &&String| tree.text_with(path, &[&word]).is_some();
                let files = tree.paths().iter().filter(like).filter(holds).filter_map(|path| tree.source(path));
                for alias in files.flat_map(|file| self.handed_on_by(&file, &word)) {
                    let is_name = ![name, "default", "_"].contains(&alias.as_str());
                    if is_name && found.len() < HOPS && !found.contains(&alias) {
                        found.push(alias.clone());
                        open.push(alias);
                    }
                }
            }
            found
        })
    }

    /// Returns the other names by which a file hands on what it knows the definition by.
    fn handed_on_by(&self, file: &Rc<SourceFile>, word: &str) -> Vec<String> {
        let leaves = match word {
            "default" => names::default_imports(file),
            word => binding::leaves(file, word).apart(),
        };
        let given = |leaf: Node<'_>| {
            let alias = roles::alias(leaf).filter(|alias| roles::is_handed_on(*alias))?;
            let certainty = self.of_leaf(file, word, leaf, &roles::role(leaf, file.syntax()))?;
            (certainty > Certainty::Name).then(|| file.text[alias.byte_range()].to_owned())
        };
        leaves.into_iter().filter_map(given).collect()
    }

    /// Returns the name as Rust may write it too: `r#total`.
    fn other_spelling(&self) -> Option<String> {
        let name = &self.target.node().name;
        let is_rust = self.target.file.language == SourceLanguage::Rust;
        is_rust.then(|| name.strip_prefix("r#").map_or_else(|| format!("r#{name}"), str::to_owned))
    }

    /// Returns where a file mentions the definition, in its order.
    pub fn of(&self, file: &Rc<SourceFile>) -> Vec<CodeMention> {
        let (target, name) = (self.target, &self.target.node().name);
        if !target.file.language.is_like(file.language) {
            return Vec::new();
        }
        self.lookup.prefer_stubs(target::is_stub(&file.path));
        let leaves = binding::leaves(file, name);
        if !leaves.legible {
            let is_possible = !target.is_member() || target.file.path == file.path;
            let name = |leaf: &Node<'_>| CodeMention { is_possible, ..mention(*leaf, Certainty::Name) };
            return leaves.nodes.iter().map(name).collect();
        }
        let mut found = self.under_other_names(file, &leaves.nodes);
        found.extend(self.in_texts(file, name, &leaves));
        // What is bound there hides a function; a constant or type of the name would be what the pattern means.
        let hidden = match target.node().kind {
            NodeKind::Fn => roles::may_bind(&leaves.nodes, file.syntax()),
            _ => Vec::new(),
        };
        let is_hidden =
            |at: usize| hidden.get(hidden.partition_point(|call| call.end <= at)).is_some_and(|call| call.start <= at);
        for leaf in leaves.nodes {
            let role = roles::role(leaf, file.syntax());
            let most = match role {
                Role::Plain | Role::Loose { .. } if is_hidden(leaf.start_byte()) => Certainty::Name,
                _ => Certainty::Local,
            };
            let Some(certainty) = self.of_leaf(file, name, leaf, &role) else { continue };
            let is_possible = certainty == Certainty::Name && self.is_possible(file, name, leaf, &role);
            found.push(CodeMention { is_possible, ..mention(leaf, certainty.min(most)) });
        }
        // `r#total` is `total`.
        if let Some(other) = self.other_spelling() {
            let others = binding::leaves(file, &other).nodes;
            found.extend(others.into_iter().map(|leaf| mention(leaf, Certainty::Name)));
        }
        if file.language == SourceLanguage::Rust && !target.is_member() && target.node().kind != NodeKind::Macro {
            found.extend(self.in_formats(file, name));
        }
        found.sort_by_key(|one| one.at.start);
        found
    }

    /// Returns where format strings of a file mention the definition.
    fn in_formats(&self, file: &Rc<SourceFile>, name: &str) -> Vec<CodeMention> {
        let mention = |found: FormatName| {
            self.lookup.begin();
            let certainty = self.certainty(file, &self.lookup.name(file, name, found.at.start, 0))?;
            let certainty = if found.is_certain { certainty } else { Certainty::Name };
            Some(CodeMention { at: found.at, certainty, is_alias: false, is_possible: false })
        };
        format_names(file, name).into_iter().filter_map(mention).collect()
    }

    /// Returns whether a file imports all names of what holds the definition, perhaps from one that does so itself.
    pub fn has_glob(&self, file: &Rc<SourceFile>) -> bool {
        let (target, container) = (self.target, self.target.container());
        let (mut seen, mut open) = (BTreeSet::from([file.path.clone()]), vec![file.clone()]);
        while let Some(next) = open.pop() {
            self.lookup.prefer_stubs(target::is_stub(&next.path));
            for glob in self.lookup.globs(&next).iter() {
                self.lookup.begin();
                let meaning = self.lookup.import(&next, glob, 0);
                if let Meaning::Node { file: other, at, .. } = &meaning
                    && other.path == target.file.path
                    && other.nodes[*at].dotted == container
                {
                    return true;
                }
                for module in meaning.modules() {
                    let Module::File(other, within) = module else { continue };
                    if other.path == target.file.path && within == container {
                        return true;
                    }
                    if seen.insert(other.path.clone()) {
                        open.push(other);
                    }
                }
            }
        }
        false
    }

    /// Returns where a file mentions the definition by another name, which an import there gives it.
    fn under_other_names(&self, file: &Rc<SourceFile>, leaves: &[Node<'_>]) -> Vec<CodeMention> {
        let (name, text) = (&self.target.node().name, |leaf: Node<'_>| &file.text[leaf.byte_range()]);
        let mut found = Vec::new();
        let mut aliases: BTreeSet<&str> =
            leaves.iter().filter_map(|leaf| roles::alias(*leaf)).map(text).filter(|alias| alias != name).collect();
        let defaults = if self.is_default() { names::default_imports(file) } else { Vec::new() };
        for leaf in defaults.into_iter().filter(|leaf| text(*leaf) != name) {
            let Role::Import(import) = roles::role(leaf, file.syntax()) else { continue };
            self.lookup.begin();
            let meaning = self.lookup.import(file, &import, 0);
            let told = !matches!(meaning, Meaning::Unknown);
            let certainty = self.certainty(file, &meaning);
            if let Some(certainty) = certainty
                && (told || names::may_lead_to(&self.lookup, &import, &self.target.file.path))
            {
                found.push(mention(leaf, certainty));
                aliases.insert(roles::alias(leaf).map_or(text(leaf), text));
            }
        }
        let mut words = aliases.clone();
        for word in self.handed_on() {
            words.extend(binding::leaves(file, word).apart().into_iter().filter_map(roles::alias).map(text));
            words.insert(word);
        }
        words.retain(|word| word != name && *word != "default");
        for word in words {
            for leaf in binding::leaves(file, word).apart().into_iter().filter(|leaf| !roles::is_alias(*leaf)) {
                if found.iter().any(|one: &CodeMention| one.at.start == leaf.start_byte()) {
                    continue;
                }
                let role = roles::role(leaf, file.syntax());
                let is_plain = matches!(role, Role::Plain | Role::Macro | Role::Pattern(_))
                    || matches!(role, Role::Shorthand { .. } | Role::Loose { .. });
                // What only has a name that another file gives is no mention.
                let is_told = |one: &Certainty| *one > Certainty::Name || is_plain && aliases.contains(word);
                let certainty = self.of_leaf(file, word, leaf, &role).filter(is_told);
                found.extend(certainty.map(|certainty| mention(leaf, certainty)));
            }
        }
        found.iter_mut().for_each(|one| one.is_alias = true);
        found
    }

    /// Returns how certainly an identifier means the definition, which has this name in the file.
    fn of_leaf(&self, file: &Rc<SourceFile>, name: &str, leaf: Node<'_>, role: &Role<'_>) -> Option<Certainty> {
        self.certainty_in(file, || self.of_role(file, name, leaf, role))
    }

    fn of_role(&self, file: &Rc<SourceFile>, name: &str, leaf: Node<'_>, role: &Role<'_>) -> Option<Certainty> {
        match self.target.is_member() {
            true => self.of_member(file, name, leaf, role),
            false => self.of_lexical(file, name, leaf, role),
        }
    }

    /// Returns how certainly an identifier means a definition that its name alone may mean.
    fn of_lexical(&self, file: &Rc<SourceFile>, name: &str, leaf: Node<'_>, role: &Role<'_>) -> Option<Certainty> {
        let (kind, at) = (self.target.node().kind, leaf.start_byte());
        let is_macro = kind == NodeKind::Macro;
        let meaning = match role {
            Role::Other | Role::Binds(_) => return None,
            Role::Untold => return Some(Certainty::Name),
            // What is merged with the namespace, or what names lead to it, is not looked up.
            Role::Plain | Role::Shorthand { .. } | Role::Import(_)
                if self.may_be_of_namespace(file, name, leaf, role) =>
            {
                return Some(Certainty::Name);
            }
            Role::Macro => match self.lookup.name(file, name, at, 0) {
                _ if !is_macro => return None,
                // A macro is known in all that follows it, in other files too.
                Meaning::Elsewhere => Meaning::Unknown,
                meaning => meaning,
            },
            Role::Loose { is_key } => return self.of_loose(file, name, leaf, *is_key),
            Role::Plain | Role::Shorthand { .. } if is_macro => return None,
            // The variable is what it reads; the field keeps its name.
            Role::Plain | Role::Shorthand { is_read: true } => self.lookup.name(file, name, at, 0),
            Role::Pattern(_) => self.lookup.in_pattern(file, name, at, 0),
            Role::Shorthand { is_read: false } => {
                let meaning = self.lookup.name(file, name, at, 0);
                return self.certainty(file, &meaning).map(|_| Certainty::Name);
            }
            Role::Key { of } if file.language == SourceLanguage::Go && leaf.kind() == "identifier" => {
                let meaning = || self.lookup.name(file, name, at, 0);
                let is_value = [NodeKind::Const, NodeKind::Var].contains(&kind);
                match self.lookup.has_values_for_keys(file, *of) {
                    Some(true) => meaning(),
                    None if is_value && self.certainty(file, &meaning()).is_some() => Meaning::Unknown,
                    _ => return self.as_member().then_some(Certainty::Name),
                }
            }
            Role::Key { .. } if file.language == SourceLanguage::Python => return None,
            Role::Key { .. } | Role::BindsKey(_) => return self.as_member().then_some(Certainty::Name),
            Role::Member { of } => match self.lookup.member(file, *of, name) {
                Meaning::Elsewhere | Meaning::Unbound if self.as_member() => Meaning::Unknown,
                meaning => meaning,
            },
            Role::Import(import) => self.lookup.import(file, import, 0),
        };
        self.certainty(file, &meaning)
    }

    /// Returns how certainly a token that stands alone in the call of a macro means a definition that its name may mean.
    fn of_loose(&self, file: &Rc<SourceFile>, name: &str, leaf: Node<'_>, is_key: bool) -> Option<Certainty> {
        let is_sure = !is_key && self.target.node().kind != NodeKind::Macro && !roles::may_be_member(leaf, file);
        let certainty = match self.lookup.name(file, name, leaf.start_byte(), 0) {
            // The macro may put the path before it.
            Meaning::Elsewhere if self.lookup.bindings(file, name).is_empty() => Some(Certainty::Name),
            meaning => self.certainty(file, &meaning),
        };
        certainty.map(|certainty| if is_sure { certainty } else { Certainty::Name })
    }

    /// Returns whether an identifier means the definition or something else that is known, by what was run before, by what
    /// the program is built for, by whether stubs are read, or by what a macro makes of it.
    fn is_possible(&self, file: &Rc<SourceFile>, name: &str, leaf: Node<'_>, role: &Role<'_>) -> bool {
        if self.leads_otherwise(file, || self.of_role(file, name, leaf, role)) {
            return true;
        }
        self.lookup.begin();
        let meaning = match role {
            // Nothing else explains it.
            Role::Loose { .. } if self.lookup.bindings(file, name).is_empty() => return true,
            Role::Loose { .. } => self.lookup.name(file, name, leaf.start_byte(), 0),
            Role::Plain | Role::Shorthand { .. } | Role::Macro => self.lookup.name(file, name, leaf.start_byte(), 0),
            Role::Import(import) => self.lookup.import(file, import, 0),
            Role::Member { of } => self.lookup.member(file, *of, name),
            _ => return false,
        };
        let is_it = |one: &Meaning| self.certainty(file, one).is_some_and(|certainty| certainty > Certainty::Name);
        let is_one = matches!(meaning, Meaning::OneOf(_)) || matches!(role, Role::Loose { .. });
        is_one && meaning.each().iter().any(is_it)
    }

    fn is_default(&self) -> bool {
        *self.is_default.get_or_init(|| self.lookup.is_default(self.target))
    }

    /// Returns whether a member or a key may mean the definition: the module it belongs to is a value somewhere, or a type
    /// that it is lends its name to a field of others.
    fn as_member(&self) -> bool {
        *self.as_member.get_or_init(|| match self.target.file.language {
            SourceLanguage::TypeScript | SourceLanguage::Tsx => {
                self.target.namespace().is_some() || names::holds_module(&self.lookup, self.target)
            }
            SourceLanguage::Go => names::is_embedded(&self.lookup, self.target),
            SourceLanguage::Python => {
                let before = self.lookup.prefer_stubs(false);
                let is_held = names::is_held(&self.lookup, self.target);
                self.lookup.prefer_stubs(before);
                is_held
            }
            SourceLanguage::Rust => false,
        })
    }

    /// Returns whether a name that nothing in the files explains may mean a member of a namespace of TypeScript: in
    /// another declaration of the same namespace, or where a module is imported that is only declared.
    fn may_be_of_namespace(&self, file: &Rc<SourceFile>, name: &str, leaf: Node<'_>, role: &Role<'_>) -> bool {
        let Some(namespace) = self.target.namespace() else { return false };
        let meaning = match role {
            Role::Import(import) => self.lookup.import(file, import, 0),
            _ => self.lookup.name(file, name, leaf.start_byte(), 0),
        };
        self.lookup.begin();
        let is_of_same = |holder: &CodeNode| holder.dotted == namespace.dotted;
        match meaning {
            Meaning::Elsewhere => self.target.file.text[namespace.name_at.clone()].starts_with(['"', '\'']),
            Meaning::Unbound => target::holders(file, leaf.start_byte()).any(is_of_same),
            _ => false,
        }
    }

    /// Returns how certainly an identifier means a definition that belongs to a type.
    fn of_member(&self, file: &Rc<SourceFile>, name: &str, leaf: Node<'_>, role: &Role<'_>) -> Option<Certainty> {
        let (target, lookup, at) = (self.target, &self.lookup, leaf.start_byte());
        // A variant may be imported like anything else.
        let is_variant = || names::is_variant(&target.file, target.at) && leaf.kind() == "identifier";
        let only_node = |meaning: Meaning| match meaning {
            Meaning::Node { .. } => self.certainty(file, &meaning),
            Meaning::OneOf(_) => self.certainty(file, &meaning),
            Meaning::Unknown if is_variant() => Some(Certainty::Name),
            _ => None,
        };
        let in_body = || {
            let is_own = lookup.is_of_body(file, leaf, target) || target.is_of_enum(file, at);
            is_own.then_some(Certainty::Name)
        };
        match role {
            Role::Other | Role::Macro => None,
            // What a function or a comprehension there names is its own.
            Role::Binds(scope) => {
                in_body().filter(|_| roles::body_of_class(leaf, file.syntax()).as_ref() == Some(scope))
            }
            Role::Loose { .. } => only_node(lookup.name(file, name, at, 0)).or(Some(Certainty::Name)),
            Role::Plain => only_node(lookup.name(file, name, at, 0)).or_else(in_body),
            Role::Pattern(_) => only_node(lookup.in_pattern(file, name, at, 0)),
            Role::Import(import) => only_node(lookup.import(file, import, 0)),
            Role::Key { of } => Some(in_type(target, file, of.and_then(|of| lookup.type_of(file, of)))),
            // It names a variable as well, which another name would change.
            Role::Shorthand { .. } | Role::BindsKey(_) | Role::Untold => Some(Certainty::Name),
            Role::Member { of } => match lookup.own_type(file, *of) {
                Some(own) => Some(of_own(target, file, &own)),
                None => Some(in_type(target, file, of.and_then(|of| lookup.type_of(file, of)))),
            },
        }
    }

    fn certainty(&self, file: &SourceFile, meaning: &Meaning) -> Option<Certainty> {
        let target = self.target;
        let (equal, scoped) = match meaning {
            Meaning::Node { file: other, at, scoped } => {
                (other.path == target.file.path && other.nodes[*at].dotted == target.node().dotted, *scoped)
            }
            Meaning::Module(module) => (self.module.as_ref().is_some_and(|own| own.is(module)), false),
            Meaning::Unknown => return Some(Certainty::Name),
            Meaning::OneOf(all) => {
                return all.iter().any(|one| self.certainty(file, one).is_some()).then_some(Certainty::Name);
            }
            Meaning::Unbound => return self.is_global.then_some(Certainty::Name),
            Meaning::Variable | Meaning::Elsewhere => return None,
        };
        match () {
            () if !equal => None,
            () if target.node().shared => Some(Certainty::Name),
            () if scoped => Some(Certainty::Scoped),
            () if target.file.path == file.path => Some(Certainty::Local),
            () => Some(Certainty::Import),
        }
    }
}

/// Returns the mention that an identifier is.
fn mention(leaf: Node<'_>, certainty: Certainty) -> CodeMention {
    CodeMention { at: leaf.byte_range(), certainty, is_alias: false, is_possible: false }
}

/// Returns how certainly a member of the type that the code belongs to is a definition.
fn of_own(target: &CodeTarget, file: &SourceFile, own: &str) -> Certainty {
    let folder = |file: &SourceFile| target::folder(&file.path).to_owned();
    match own == target.container() && !target.node().shared {
        true if target.file.path == file.path => Certainty::Local,
        // A package of Go is a folder.
        true if file.language == SourceLanguage::Go && folder(file) == folder(&target.file) => Certainty::Scoped,
        _ => Certainty::Name,
    }
}

/// Returns how certainly the member of a type is a definition.
fn in_type(target: &CodeTarget, file: &SourceFile, of: Option<Meaning>) -> Certainty {
    match of {
        Some(Meaning::Node { file: other, at, .. })
            if other.path == target.file.path
                && other.nodes[at].dotted == target.container()
                && !target.node().shared =>
        {
            if other.path == file.path {
                Certainty::Local
            } else {
                Certainty::Import
            }
        }
        _ => Certainty::Name,
    }
}
