//! The files that a command would meet on disk: what it overwrites, how much it removes, and whether a program that
//! only reads is really the one of that name.

pub(super) mod pattern;
mod private;

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use self::pattern::{entries, expand};
pub use self::private::find_private;
use super::{Around, Assessment, Class, ClassifiedCommand, Reason, Target, TouchedPath, flat, tables};
use crate::shell::places::{PathClass, PathClasses};
use crate::workspace::repository_above;

/// The time limit for counting files.
const PATIENCE: Duration = Duration::from_millis(50);
/// The time limit for finding files that may hold keys where a command searches a folder.
const PATIENCE_FOR_KEYS: Duration = Duration::from_millis(200);

/// The most paths of one part that are counted: git is asked about them in its arguments.
const MOST_PATHS: usize = 2_000;

/// The files that a part of a command meets on disk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Met {
    /// Files that it would remove or overwrite.
    pub files: usize,
    /// The bytes of those files.
    pub bytes: u64,
    /// True if there are more: counting took too long.
    pub more: bool,
    /// The paths it names that are there.
    pub paths: Vec<PathBuf>,
}

/// Looks at the disk: what lands on something that is there is `harm`, a reader that the workspace itself brings is
/// `work`, and what changes in the folder of a repository acts later, whatever its name. `path` is the variable that programs are found by.
pub fn look(found: &mut Assessment, around: &Around, path: &str) {
    for part in &mut found.parts {
        let name = part.words.first().and_then(Option::as_deref);
        if part.class == Class::Read && name.is_some_and(|name| is_brought(name, around, path)) {
            (part.class, part.reason) = (Class::Work, Reason::Runs);
        }
        // Touching and making folders overwrites nothing.
        let overwrites = !matches!(name, Some("touch" | "mkdir" | "chmod"));
        let lands = |target: &Target| !matches!(target, Target::Removed(_)) && there(target, around).is_some();
        if part.class == Class::Work && overwrites && part.targets.iter().any(lands) && !is_appending(part) {
            (part.class, part.reason) = (Class::Harm, Reason::Overwrites);
        }
    }
    let brought = |name: &String| is_brought(name, around, path);
    if let Some(name) = found.wrappers.iter().find(|name| brought(name)).cloned() {
        let (class, reason, words) = (Class::Work, Reason::Runs, vec![None]);
        found.parts.push(ClassifiedCommand { text: name, class, reason, words, ..ClassifiedCommand::default() });
    }
    let in_repository = |path: &String| repository_above(&around.root, Path::new(path)).is_some();
    found.acts_later.extend(found.changes.extract_if(.., |path| in_repository(path)));
    super::secrets::look_below(found, around, Instant::now() + PATIENCE_FOR_KEYS);
    found.take_worst_class();
}

/// Finds the files that a text would change, as far as it shows them, and that the configuration leaves out of the archive.
/// Patterns are expanded, and folders are looked into, for at most 50 ms each.
pub fn find_excluded(found: &mut Assessment, around: &Around, places: &PathClasses) {
    if found.class == Class::Read {
        return;
    }
    let until = Instant::now() + PATIENCE;
    let named = found.acts_later.iter().chain(&found.changes).map(|path| (around.root.join(path), false));
    let touched = found.touched.iter();
    let touched = touched.flat_map(|touched| expand(touched, until).map(move |path| (path, touched.with_content)));
    let met = named.chain(touched).take_while(|_| Instant::now() < until);
    let open: Vec<(PathBuf, bool)> = met.filter_map(|(path, all)| Some((real(&path)?, all))).collect();
    let until = Instant::now() + PATIENCE;
    found.excluded = excluded_below(open, places, || Instant::now() < until).into_iter().collect();
}

/// Returns the files that the configuration leaves out among paths and, where they are marked so, what lies in them, with
/// the globs that do; it ends once `goes_on` says no. All paths come before what lies in the first folder of them.
fn excluded_below(
    paths: Vec<(PathBuf, bool)>,
    places: &PathClasses,
    mut goes_on: impl FnMut() -> bool,
) -> BTreeMap<String, String> {
    let (mut excluded, mut folders) = (BTreeMap::new(), VecDeque::new());
    let mut open: Box<dyn Iterator<Item = (PathBuf, bool)>> = Box::new(paths.into_iter());
    loop {
        for (path, with_content) in open.take_while(|_| goes_on()) {
            let Ok(about) = path.symlink_metadata() else { continue };
            match places.of(&path, about.is_dir()) {
                PathClass::Kept | PathClass::Excluded(_) if about.is_dir() && with_content => folders.push_back(path),
                PathClass::Excluded(glob) if !about.is_dir() => drop(excluded.insert(places.name(&path), glob)),
                _ => {}
            }
        }
        let Some(folder) = folders.pop_front().filter(|_| goes_on()) else { return excluded };
        open = Box::new(entries(&folder).map(|path| (path, true)));
    }
}

/// Returns a path without links above its last part; none: nothing is there.
fn real(path: &Path) -> Option<PathBuf> {
    let path = flat(path);
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}

/// Returns whether a program keeps what is there, as `tee -a` and `cp -n` do.
fn is_appending(part: &ClassifiedCommand) -> bool {
    let has = |wanted: &[&str]| part.words.iter().flatten().any(|word| wanted.contains(&word.as_str()));
    match part.words.first().and_then(Option::as_deref) {
        Some("tee") => has(&["-a", "--append"]),
        Some("cp" | "mv") => has(&["-n", "--no-clobber"]),
        _ => false,
    }
}

/// Returns whether a program of that name lies in the workspace and is found first.
fn is_brought(name: &str, around: &Around, path: &str) -> bool {
    let inside = |folder: &&str| {
        let folder = around.folder.join(folder);
        folder.starts_with(&around.root) && folder.join(name).is_file()
    };
    path.split(':').any(|folder| inside(&folder))
}

/// Returns the path that a target names, where something is there that it would change.
fn there(target: &Target, around: &Around) -> Option<PathBuf> {
    match target {
        Target::Removed(path) => Some(around.folder.join(path)).filter(|path| path.symlink_metadata().is_ok()),
        Target::Over(path) => Some(around.folder.join(path)).filter(|path| path.is_file()),
        Target::Onto(path, name) => {
            let onto = around.folder.join(path);
            let onto = if onto.is_dir() { onto.join(name) } else { onto };
            Some(onto).filter(|path| path.symlink_metadata().is_ok())
        }
    }
}

/// Counts what each part would remove or overwrite, for at most 50 ms in all.
pub fn count(found: &Assessment, around: &Around) -> Vec<Met> {
    let until = Instant::now() + PATIENCE;
    let of = |part: &ClassifiedCommand| {
        let mut met = Met::default();
        let named = part.targets.iter().filter_map(|target| there(target, around));
        for path in named.chain(matching(part, until)).filter(|_| part.class >= Class::Harm) {
            met.more |= met.paths.len() == MOST_PATHS;
            if met.more {
                break;
            }
            walk(&path, until, &mut met);
            met.paths.push(path);
        }
        met
    };
    found.parts.iter().map(of).collect()
}

/// Returns the files that patterns among the words of a program stand for, where it removes or overwrites each operand.
fn matching(part: &ClassifiedCommand, until: Instant) -> impl Iterator<Item = PathBuf> {
    let name = part.words.first().and_then(Option::as_deref).map(tables::base);
    let all = name.is_some_and(|name| tables::is_remover(name) || name == "sed");
    let touched = part.folder.as_ref().filter(|_| all).into_iter().flat_map(|folder| {
        let of = |pattern| TouchedPath { folder: folder.clone(), pattern, with_content: true };
        part.patterns.iter().flatten().cloned().map(of).collect::<Vec<_>>()
    });
    touched.flat_map(move |touched| expand(&touched, until).collect::<Vec<_>>())
}

/// Adds what lies at and below a path; links are not followed.
fn walk(path: &Path, until: Instant, met: &mut Met) {
    let mut open = vec![path.to_path_buf()];
    while let Some(path) = open.pop() {
        if Instant::now() > until {
            met.more = true;
            return;
        }
        let Ok(about) = path.symlink_metadata() else { continue };
        if about.is_dir() {
            open.extend(entries(&path));
        } else {
            met.files += 1;
            met.bytes += about.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::assess;
    use super::*;

    #[test]
    fn what_the_archive_leaves_out_is_found_by_words_patterns_and_folders() {
        use crate::archive::{Archive, ArchiveSettings};
        use crate::shell::places::PlaceSettings;
        use crate::workspace::Workspace;
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("real");
        std::fs::create_dir_all(root.join("sub/deep")).expect("made");
        for path in ["x.big", ".h.big", "a.txt", "sub/y.big", "sub/deep/z.big", "[1].big"] {
            std::fs::write(root.join(path), path).expect("written");
        }
        let workspace = Workspace::open(&root).expect("open");
        let settings = ArchiveSettings { exclude: vec!["*.big".into()], folder: None };
        let archive = Archive::open(&workspace, &settings).expect("open");
        let places = PathClasses::new(&workspace, &archive, &PlaceSettings::default());
        let around = Around { root: root.clone(), folder: root.clone(), ..Around::default() };
        let of = |text: &str| {
            let mut found = assess(text, &around, false);
            find_excluded(&mut found, &around, &places);
            assert!(found.excluded.iter().all(|(_, glob)| glob == "*.big"), "{text}");
            found.excluded.into_iter().map(|(path, _)| path).collect::<Vec<_>>()
        };
        for (text, paths) in [
            ("rm x.big", &["x.big"][..]),
            ("rm ./sub/../x.big", &["x.big"]),
            ("rm -f x*", &["x.big"]),
            ("rm .*.big", &[".h.big"]),
            ("rm \"[1]\".big", &["[1].big"]),
            ("rm -rf sub", &["sub/deep/z.big", "sub/y.big"]),
            ("mv sub other", &["sub/deep/z.big", "sub/y.big"]),
            ("cd sub && rm *.big", &["sub/y.big"]),
            ("echo n > x.big", &["x.big"]),
            ("cp a.txt sub/y.big", &["sub/y.big"]),
            // What is made, what is only read, and what its folder keeps.
            ("echo n > new.big", &[]),
            ("cat x.big", &[]),
            ("cp *.big /tmp", &[]),
            ("chmod 755 sub", &[]),
            ("rm a.txt", &[]),
        ] {
            assert_eq!(of(text), paths, "{text}");
        }
        // What is named itself is looked at before what lies in a folder, however much that is.
        let named = [root.join("sub"), root.join("x.big")].map(|path| (path, true));
        let mut looks = 0;
        let found = excluded_below(named.into(), &places, || {
            looks += 1;
            looks <= 2
        });
        assert_eq!(found.keys().collect::<Vec<_>>(), ["x.big"]);
    }

    #[test]
    fn no_pattern_is_expanded_once_its_time_is_over() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(dir.path().join("sub")).expect("made");
        std::fs::write(dir.path().join("sub/x"), "").expect("written");
        let of = |pattern: &str, until| {
            let (folder, pattern) = (dir.path().to_path_buf(), pattern.to_string());
            expand(&TouchedPath { folder, pattern, with_content: true }, until).count()
        };
        let now = Instant::now();
        assert_eq!(of("*/*", now + Duration::from_secs(60)), 1);
        assert_eq!((of("*/*", now), of("*", now), of("sub/x", now)), (0, 0, 1));
    }

    #[test]
    fn existing_files_make_a_command_harmful() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("real");
        std::fs::create_dir_all(root.join("gen/deep")).expect("made");
        for (path, text) in [("gen/a", "12"), ("gen/deep/b", "345"), ("out", "x"), ("bin/ls", "")] {
            std::fs::create_dir_all(root.join(path).parent().expect("a folder")).expect("made");
            std::fs::write(root.join(path), text).expect("written");
        }
        let around = Around { root: root.clone(), folder: root.clone(), ..Around::default() };
        let of = |text: &str, path: &str| {
            let mut found = assess(text, &around, false);
            look(&mut found, &around, path);
            found
        };
        for (text, class) in [
            ("echo x > out", Class::Harm),
            ("echo x > new", Class::Work),
            ("mv out new", Class::Work),
            ("mv new out", Class::Harm),
            ("cp new/a gen", Class::Harm),
            ("cp new/c gen", Class::Work),
            ("touch out", Class::Work),
            ("echo x | tee -a out", Class::Work),
        ] {
            assert_eq!(of(text, "/bin").class, class, "{text}");
        }
        assert_eq!(of("ls", "/bin").class, Class::Read);
        assert_eq!(of("ls", &format!("{}:/bin", root.join("bin").display())).class, Class::Work);
        std::fs::write(root.join("bin/timeout"), "").expect("written");
        assert_eq!(of("timeout 5 cat a", &format!("{}:/bin", root.join("bin").display())).class, Class::Work);
        assert_eq!(of("timeout 5 cat a", "/bin").class, Class::Read);
        for folder in ["x.git/refs", "x.git/objects"] {
            std::fs::create_dir_all(root.join(folder)).expect("made");
        }
        std::fs::write(root.join("x.git/HEAD"), "").expect("written");
        assert_eq!(of("echo x >> x.git/config; echo x >> new", "/bin").acts_later, ["x.git/config"]);
        let met = count(&of("rm -rf gen none", "/bin"), &around);
        assert_eq!((met[0].files, met[0].bytes, met[0].paths.len(), met[0].more), (2, 5, 1, false));
        for (text, files) in [
            ("rm -rf gen/*", 2),
            ("cd gen && rm -r *", 2),
            ("sed -i s/1/2/ gen/a out", 2),
            ("sed -i s/1/2/ gen/?", 1),
            ("sed -n s/1/2/p gen/a", 0),
            ("mv gen/* new", 0),
        ] {
            let met = count(&of(text, "/bin"), &around);
            assert_eq!(met.iter().map(|met| met.files).sum::<usize>(), files, "{text}");
        }
    }
}
