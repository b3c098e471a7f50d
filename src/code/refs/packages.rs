//! The packages of the files, by the names that their manifests give them. Each kind is read once, when it is asked for.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use serde_json::Value;

use super::super::lang::SourceLanguage;
use super::target::{SourceTree, folder, joined};

/// The packages of all languages.
#[derive(Default)]
pub(super) struct Packages {
    go: OnceCell<Vec<GoModule>>,
    /// The folders that hold files of Go, and those above them.
    go_folders: OnceCell<BTreeSet<String>>,
    /// The folders in which a `go.work` lets modules work together.
    go_works: OnceCell<BTreeSet<String>>,
    rust: OnceCell<Crates>,
    npm: OnceCell<Vec<NpmPackage>>,
    /// The names that settings of TypeScript give to paths.
    aliases: OnceCell<Vec<String>>,
    /// The names of the files that others of Rust include.
    included: OnceCell<BTreeSet<String>>,
}

/// A module of Go.
struct GoModule {
    name: String,
    folder: String,
    /// The modules that folders take the place of.
    replaced: Vec<(String, String)>,
}

/// The libraries of Rust.
#[derive(Default)]
struct Crates {
    /// Each with its own name, the name of its package and its file.
    libraries: Vec<[String; 3]>,
    /// The names that dependencies are given: each with the folder of its manifest and the package it is of.
    renamed: Vec<[String; 3]>,
}

/// A package of npm.
pub(super) struct NpmPackage {
    name: String,
    /// Its folder.
    pub folder: String,
    /// The files that it says it is imported from; none where it has a list of them.
    pub entries: Vec<String>,
}

impl Packages {
    /// Returns the folder of a package that a file of Go imports, and whether that is certain.
    pub fn of_go(&self, tree: &dyn SourceTree, from: &str, path: &str) -> Option<(String, bool)> {
        let modules = self.go.get_or_init(|| go_modules(tree, self.go_folders(tree)));
        let below = |name: &str, base: &str| {
            let rest = path.strip_prefix(name)?;
            if rest.is_empty() { Some(base.to_owned()) } else { Some(joined(base, rest.strip_prefix('/')?)) }
        };
        let own = modules.iter().filter(|module| above(from).contains(&module.folder.as_str()));
        let own = own.max_by_key(|module| module.folder.len());
        let replaced = own.into_iter().flat_map(|own| own.replaced.iter()).map(|(name, base)| (name, base));
        let known = own.map(|own| (&own.name, &own.folder)).into_iter().chain(replaced);
        let known = known.map(|(name, base)| (name, base, true));
        let others = modules.iter().map(|module| (&module.name, &module.folder, false));
        // The longest name wins, and its own module among equal ones.
        let all = known.chain(others);
        let named = all.filter_map(|(name, base, is_known)| Some((name.len(), is_known, below(name, base)?)));
        if let Some((_, is_known, found)) = named.max() {
            return Some((found, is_known || self.works_together(tree, from)));
        }
        if own.is_some() {
            return None;
        }
        // Without a module of its own, the program is found by the place of the workspace.
        let ends =
            |long: &str, end: &str| long.strip_suffix(end).is_some_and(|head| head.is_empty() || head.ends_with('/'));
        let mut folders = self.go_folders(tree).iter().filter(|base| !base.is_empty());
        folders.find(|base| ends(path, base) || ends(base, path)).map(|base| (base.clone(), false))
    }

    fn go_folders(&self, tree: &dyn SourceTree) -> &BTreeSet<String> {
        let all = || folders(tree, SourceLanguage::Go).into_iter().map(str::to_owned).collect();
        self.go_folders.get_or_init(all)
    }

    /// Returns whether a `go.work` above a file of Go lets modules work together.
    fn works_together(&self, tree: &dyn SourceTree, from: &str) -> bool {
        let works = self.go_works.get_or_init(|| {
            let all = self.go_folders(tree).iter();
            all.filter(|base| tree.text(&joined(base, "go.work")).is_some()).cloned().collect()
        });
        above(from).iter().any(|base| works.contains(*base))
    }

    /// Returns the root files of the libraries of Rust that a file may mean by a name.
    pub fn of_rust(&self, tree: &dyn SourceTree, from: &str, name: &str) -> Vec<&str> {
        let crates = self.rust.get_or_init(|| crates(tree));
        // A manifest names dependencies for what is below its folder, a workspace for all its members.
        let is_named = |[base, alias, _]: &&[String; 3]| alias == name && from.starts_with(&joined(base, ""));
        let packages: Vec<&String> = crates.renamed.iter().filter(is_named).map(|[_, _, package]| package).collect();
        let meant = |[own, package, _]: &&[String; 3]| own == name || packages.contains(&package);
        let found: BTreeSet<&str> = crates.libraries.iter().filter(meant).map(|[_, _, file]| file.as_str()).collect();
        // Of those that are called the same, its own.
        let own = found.iter().copied().filter(|file| from.starts_with(&joined(folder(folder(file)), "")));
        match own.collect::<Vec<&str>>() {
            own if own.len() == 1 => own,
            _ => found.into_iter().collect(),
        }
    }

    /// Returns whether a file of Rust may be included by another, by its name.
    pub fn is_included(&self, tree: &dyn SourceTree, path: &str) -> bool {
        let included = self.included.get_or_init(|| {
            let paths = tree.paths().iter().filter(|path| path.ends_with(".rs"));
            paths.filter_map(|path| tree.text(path)).flat_map(|text| includes(&text)).collect()
        });
        included.contains(path.rsplit('/').next().unwrap_or_default())
    }

    /// Returns the packages of npm that an import of TypeScript may name, and whether it names nothing within each.
    pub fn of_npm(&self, tree: &dyn SourceTree, module: &str) -> Vec<(&NpmPackage, bool)> {
        let packages = self.npm.get_or_init(|| npm_packages(tree));
        let named = packages.iter().filter_map(|package| {
            let rest = module.strip_prefix(&package.name)?;
            (rest.is_empty() || rest.starts_with('/')).then_some((package, rest.is_empty()))
        });
        named.collect()
    }

    /// Returns whether settings of TypeScript give a module's name to some path.
    pub fn is_alias(&self, tree: &dyn SourceTree, module: &str) -> bool {
        let aliases = self.aliases.get_or_init(|| ts_aliases(tree));
        aliases.iter().any(|alias| match alias.strip_suffix('*') {
            Some(start) => !start.is_empty() && module.starts_with(start),
            None => alias == module,
        })
    }
}

/// Returns the folders above a path, the nearest first.
fn above(path: &str) -> Vec<&str> {
    std::iter::successors(Some(folder(path)), |above| (!above.is_empty()).then(|| folder(above))).collect()
}

/// Returns the folders that hold files of a language, and those above them.
fn folders(tree: &dyn SourceTree, language: SourceLanguage) -> BTreeSet<&str> {
    let like = |path: &&String| SourceLanguage::of_path(path).is_some_and(|own| own.is_like(language));
    let mut found = BTreeSet::new();
    for path in tree.paths().iter().filter(like) {
        for base in above(path) {
            if !found.insert(base) {
                break;
            }
        }
    }
    found
}

/// Returns a path without the parts `.` and `..`.
pub(super) fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn go_modules(tree: &dyn SourceTree, folders: &BTreeSet<String>) -> Vec<GoModule> {
    let read = |base: &String| {
        let text = tree.text(&joined(base, "go.mod"))?;
        let words = |line: &str| -> Vec<String> {
            let line = line.split("//").next().unwrap_or_default();
            line.split_whitespace().map(|word| word.trim_matches(['"', '`']).to_owned()).collect()
        };
        let (mut name, mut replaced, mut block) = (None, Vec::new(), String::new());
        for line in text.lines() {
            let mut line = words(line);
            match line.iter().map(String::as_str).collect::<Vec<&str>>().as_slice() {
                [")", ..] => block.clear(),
                [word, "("] => block = (*word).to_owned(),
                _ => {
                    if !block.is_empty() {
                        line.insert(0, block.clone());
                    }
                    match line.iter().map(String::as_str).collect::<Vec<&str>>().as_slice() {
                        ["module", own] => name = Some((*own).to_owned()),
                        ["replace", of, .., "=>", by] if by.starts_with('.') => {
                            replaced.push(((*of).to_owned(), plain(&joined(base, by))));
                        }
                        _ => {}
                    }
                }
            }
        }
        Some(GoModule { name: name.filter(|name| !name.is_empty())?, folder: base.clone(), replaced })
    };
    folders.iter().filter_map(read).collect()
}

fn crates(tree: &dyn SourceTree) -> Crates {
    let (mut found, known) = (Crates::default(), |name: &str| name.replace('-', "_"));
    for base in folders(tree, SourceLanguage::Rust) {
        let Some(manifest) = tree.text(&joined(base, "Cargo.toml")).and_then(|text| text.parse::<toml::Table>().ok())
        else {
            continue;
        };
        let text = |table: &str, key: &str| manifest.get(table)?.get(key)?.as_str().map(str::to_owned);
        if let Some(package) = text("package", "name") {
            let own = text("lib", "name").unwrap_or_else(|| known(&package));
            let file = text("lib", "path").unwrap_or_else(|| "src/lib.rs".to_owned());
            let file = plain(&joined(base, &file));
            if tree.paths().contains(&file) {
                found.libraries.push([own, package, file]);
            }
        }
        let targets = manifest.get("target").and_then(toml::Value::as_table);
        let targets = targets.into_iter().flat_map(toml::Table::values).filter_map(toml::Value::as_table);
        let workspace = manifest.get("workspace").and_then(toml::Value::as_table);
        for table in targets.chain(workspace).chain([&manifest]) {
            for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
                let all = table.get(kind).and_then(toml::Value::as_table).into_iter().flatten();
                let renamed = all.filter_map(|(alias, of)| {
                    Some([base.to_owned(), known(alias), of.get("package")?.as_str()?.to_owned()])
                });
                found.renamed.extend(renamed);
            }
        }
    }
    found
}

/// Returns the names of the files that a text of Rust includes as code.
pub(super) fn includes(text: &str) -> Vec<String> {
    let calls = text.match_indices("include!").filter_map(|(at, word)| {
        let inner = text[at + word.len()..].trim_start().strip_prefix(['(', '[', '{'])?.trim_start();
        let path = inner.strip_prefix('"')?.split('"').next()?;
        path.rsplit('/').next().map(str::to_owned)
    });
    calls.collect()
}

fn npm_packages(tree: &dyn SourceTree) -> Vec<NpmPackage> {
    let read = |base: &str| {
        let manifest: Value = serde_json::from_str(&tree.text(&joined(base, "package.json"))?).ok()?;
        let name = manifest["name"].as_str().filter(|name| !name.is_empty())?.to_owned();
        let entry = |key: &str| manifest[key].as_str().map(|path| plain(&joined(base, path)));
        let entries = match manifest.get("exports") {
            Some(_) => Vec::new(),
            None => ["types", "typings", "module", "main"].into_iter().filter_map(entry).collect(),
        };
        Some(NpmPackage { name, folder: base.to_owned(), entries })
    };
    folders(tree, SourceLanguage::TypeScript).into_iter().filter_map(read).collect()
}

fn ts_aliases(tree: &dyn SourceTree) -> Vec<String> {
    let mut found = Vec::new();
    for base in folders(tree, SourceLanguage::TypeScript) {
        for name in ["tsconfig.json", "tsconfig.base.json", "jsconfig.json"] {
            let Some(text) = tree.text(&joined(base, name)) else { continue };
            // Comments may stand there, so it is no JSON.
            let paths = text.split("\"paths\"").nth(1).and_then(|rest| rest.split('}').next()).unwrap_or_default();
            let quoted: Vec<&str> = paths.split('"').collect();
            let keys = quoted.windows(2).skip(1).step_by(2).filter(|pair| pair[1].trim_start().starts_with(':'));
            found.extend(keys.map(|pair| pair[0].to_owned()));
        }
    }
    found
}
