//! The files that a command would meet on disk: what it overwrites, how much it removes, and whether a program that
//! only reads is really the one of that name.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{Around, Assessment, Class, Reason, Target};
use crate::workspace::repository_above;

/// The time limit for counting files.
const PATIENCE: Duration = Duration::from_millis(50);

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
        let (words, targets) = (vec![None], Vec::new());
        let (class, reason) = (Class::Work, Reason::Runs);
        found.parts.push(super::ClassifiedCommand { text: name, class, reason, words, targets, may_be_final: false });
    }
    let in_repository = |path: &String| repository_above(&around.root, Path::new(path)).is_some();
    found.acts_later.extend(found.changes.extract_if(.., |path| in_repository(path)));
    super::secrets::look_below(found, around, Instant::now() + PATIENCE);
    found.take_worst_class();
}

/// Returns whether a program keeps what is there, as `tee -a` and `cp -n` do.
fn is_appending(part: &super::ClassifiedCommand) -> bool {
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
    let of = |part: &super::ClassifiedCommand| {
        let mut met = Met::default();
        for path in part.targets.iter().filter(|_| part.class >= Class::Harm).filter_map(|target| there(target, around))
        {
            walk(&path, until, &mut met);
            met.paths.push(path);
        }
        met
    };
    found.parts.iter().map(of).collect()
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
            open.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
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
    fn existing_files_make_a_command_harmful() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("real");
        std::fs::create_dir_all(root.join("gen/deep")).expect("made");
        for (path, text) in [("gen/a", "12"), ("gen/deep/b", "345"), ("out", "x"), ("bin/ls", "")] {
            std::fs::create_dir_all(root.join(path).parent().expect("a folder")).expect("made");
            std::fs::write(root.join(path), text).expect("written");
        }
        let around = Around { root: root.clone(), folder: root.clone() };
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
    }
}
