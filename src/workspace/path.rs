//! Resolves paths and decides whether they may be touched.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::{Workspace, repository_above};
use crate::disk;
use crate::text::clean::clean_line;
use crate::text::name;

/// The reason why a path outside the root is neither read nor restored.
pub(super) const NOT_ARCHIVED: &str = "it lies outside the workspace, in no folder of shell.write that is there: add its folder to shell.write in your configuration, then restore it";

/// The use that a path is resolved for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading or writing the regular file it leads to, which need not exist yet.
    File,
    /// Deleting or moving the name itself, a link too.
    Entry,
    /// Listing the folder it leads to.
    Folder,
}

/// The reason why a path is refused. Each message says what to do instead.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// It leads out of the workspace. Reading it needs the person's approval.
    #[error("{given} lies outside the workspace ({}): use a path inside it", real.display())]
    Outside {
        /// The path as given.
        given: String,
        /// Its target.
        real: PathBuf,
    },
    /// It is absolute, and lies in no folder whose files are archived, or not any more.
    #[error("{}", NOT_ARCHIVED)]
    NotArchived {
        /// The path as given.
        given: String,
    },
    /// It points into the archive, git's own folder or nebula's.
    #[error("{given} points into {what}, which nebula never touches: use another path")]
    Protected {
        /// The path as given.
        given: String,
        /// The folder.
        what: String,
    },
    /// The path is not a regular file.
    #[error("{given} is {kind}, not a regular file")]
    NotAFile {
        /// The path as given.
        given: String,
        /// The kind of the file.
        kind: &'static str,
    },
    /// The path is not a folder.
    #[error("{given} is no folder")]
    NotAFolder {
        /// The path as given.
        given: String,
    },
    /// A parent of it is a file.
    #[error("{given} lies below something that is no folder")]
    BelowAFile {
        /// The path as given.
        given: String,
    },
    /// No folder there.
    #[error("there is no folder {given}")]
    Missing {
        /// The path as given.
        given: String,
    },
    /// No path at all, or one that cannot be written down.
    #[error("\"{}\" is no usable path: {why}", clean_line(given))]
    Unusable {
        /// The path as given.
        given: String,
        /// The reason.
        why: &'static str,
    },
    /// The disk refused to say.
    #[error("cannot look at {given}: {source}")]
    Io {
        /// The path as given.
        given: String,
        /// The error of the file system.
        source: io::Error,
    },
}

impl Workspace {
    /// Returns the normalised path of what `path` (relative to the root, or absolute) means. Where nothing is there, it means
    /// what is there in another spelling: with its characters composed or decomposed, or without the name of the root folder.
    ///
    /// # Errors
    /// When it leaves the workspace, points at what is protected, or is not what `access` wants.
    pub fn resolve(&self, path: &str, access: Access) -> Result<String, PathError> {
        let resolved = self.resolve_from(&self.root, path, access);
        let other = match &resolved {
            Ok(_) | Err(PathError::Missing { .. }) => self.spelled_otherwise(path),
            Err(_) => None,
        };
        other.map_or(resolved, |other| self.resolve_from(&self.root, &other, access))
    }

    /// Resolves as [`Workspace::resolve`] does, for a path relative to `base`, such as a shell's current folder.
    ///
    /// # Errors
    /// As there.
    pub fn resolve_from(&self, base: &Path, path: &str, access: Access) -> Result<String, PathError> {
        let inside = self.resolve_named((base, OsStr::new(path)), path, access)?;
        let why = "its name is not UTF-8";
        inside.into_os_string().into_string().map_err(|_| PathError::Unusable { given: path.into(), why })
    }

    /// Resolves as [`Workspace::resolve`] does, for a normalised path, which also names what is no UTF-8.
    ///
    /// # Errors
    /// As there.
    pub fn resolve_normalised(&self, path: &str, access: Access) -> Result<String, PathError> {
        let inside = self.resolve_named((&self.root, &name::name_of(OsStr::new(path))), path, access)?;
        Ok(name::text_of(inside.as_os_str()).into_owned())
    }

    /// Returns the path from the root on of what a name means; `path` is how it was given.
    fn resolve_named(&self, (base, named): (&Path, &OsStr), path: &str, access: Access) -> Result<PathBuf, PathError> {
        let unusable = |why| PathError::Unusable { given: path.into(), why };
        if path.is_empty() {
            return Err(unusable("it is empty"));
        }
        if path.trim().is_empty() {
            return Err(unusable("it is blank"));
        }
        // A shell would have put the home folder there; a file of the workspace is hardly meant.
        if (path == "~" || path.starts_with("~/")) && !base.join("~").exists() {
            return Err(unusable("~ stands for nothing here; write it relative to the workspace"));
        }
        if named.as_encoded_bytes().contains(&0) {
            return Err(unusable("it holds a NUL"));
        }
        if access != Access::Folder && path.ends_with('/') {
            return Err(PathError::NotAFile { given: path.into(), kind: "a folder" });
        }
        let real = follow(path, &lexical(base, Path::new(named)), access != Access::Entry)?;
        let Ok(inside) = real.strip_prefix(&self.root) else {
            return Err(PathError::Outside { given: path.into(), real });
        };
        self.check_own(path, inside, &real, &[".git", ".shaft"])?;
        if inside.iter().any(|name| name.to_str().is_some_and(disk::is_temp_name)) {
            return Err(unusable("nebula names its own temporary files so, and removes them"));
        }
        if access != Access::Folder
            && let Some((folder, _)) = repository_above(&self.root, inside)
        {
            let what = folder.display().to_string();
            return Err(PathError::Protected { given: path.into(), what });
        }
        check_kind(path, &real, access)?;
        Ok(inside.into())
    }

    /// Resolves as [`Workspace::resolve`] does with [`Access::Entry`], for what an archived state brings back: also
    /// files of the repository, folders by a path that ends in `/`, and whatever is there now.
    ///
    /// # Errors
    /// When it leaves the workspace, or points at what is protected.
    pub fn resolve_archived(&self, path: &str) -> Result<String, PathError> {
        let named = name::name_of(OsStr::new(path));
        let real = follow(path, &lexical(&self.root, Path::new(&named)), false)?;
        if path.starts_with('/') {
            return self.resolve_outside(path, &real);
        }
        let Ok(inside) = real.strip_prefix(&self.root) else {
            return Err(PathError::Outside { given: path.into(), real });
        };
        self.check_own(path, inside, &real, &[".shaft"])?;
        let unusable = |why| PathError::Unusable { given: path.into(), why };
        let inside = name::text_of(inside.as_os_str());
        match path.ends_with('/') {
            true if inside.is_empty() => Ok("./".into()),
            true => Ok(format!("{inside}/")),
            false if inside.is_empty() => Err(unusable("it is the workspace itself")),
            false => Ok(inside.into_owned()),
        }
    }

    /// Returns the normalised path of an archived file in a folder outside the root, which is absolute.
    fn resolve_outside(&self, path: &str, real: &Path) -> Result<String, PathError> {
        let given = || path.to_string();
        let Some((base, _)) = self.in_outside(path.trim_end_matches('/')) else {
            return Err(PathError::NotArchived { given: given() });
        };
        let Ok(inside) = real.strip_prefix(&base.folder) else {
            return Err(PathError::Outside { given: given(), real: real.into() });
        };
        self.check_own(path, inside, real, &[".shaft", ".nebula"])?;
        if let Some(private) = self.private().iter().find(|private| real.starts_with(private)) {
            return Err(PathError::Protected { given: given(), what: private.display().to_string() });
        }
        let name = base.name_of(real).unwrap_or_default();
        match (path.ends_with('/'), inside.as_os_str().is_empty()) {
            (true, _) => Ok(format!("{name}/")),
            (false, true) => Err(PathError::NotAFile { given: given(), kind: "a folder" }),
            (false, false) => Ok(name),
        }
    }

    /// Refuses a path with one of these names in it, or into a protected folder.
    fn check_own(&self, given: &str, inside: &Path, real: &Path, own: &[&str]) -> Result<(), PathError> {
        let protected = |what: String| Err(PathError::Protected { given: given.into(), what });
        for part in inside.components() {
            let name = part.as_os_str();
            if is_one_of(name, own) {
                return protected(name.to_string_lossy().to_string());
            }
        }
        match self.protected.iter().find(|p| real.starts_with(p)) {
            Some(folder) => protected(folder.display().to_string()),
            None => Ok(()),
        }
    }
}

/// Returns whether a file is one that usually holds keys: `.env`, `.env.local`, `.envrc`. No model gets its text before
/// the person agreed.
pub fn holds_secrets(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with(".env"))
}

/// Returns whether a name is one of these, as file systems that ignore case read it.
pub fn is_one_of(name: &OsStr, names: &[&str]) -> bool {
    names.iter().any(|own| name.eq_ignore_ascii_case(own))
}

/// Returns an absolute path with `.` and `..` taken out by their words alone.
pub fn lexical(base: &Path, path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in base.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(clean.pop()),
            other => clean.push(other),
        }
    }
    clean
}

/// Returns a path's normalised form by its words alone: relative to `root`, absolute if it lies outside; on Windows
/// lower case and `\`.
pub fn normalise(root: &Path, path: &Path) -> String {
    let absolute = lexical(root, path);
    let relative = absolute.strip_prefix(root).unwrap_or(&absolute).to_string_lossy();
    if cfg!(windows) { relative.to_lowercase().replace('/', "\\") } else { relative.into_owned() }
}

/// Returns an absolute path with its links followed, as far as it exists; `last`: also one at its very end.
fn follow(given: &str, path: &Path, last: bool) -> Result<PathBuf, PathError> {
    disk::follow_links(path, last, &disk::OwnView).map_err(|source| match source.kind() {
        io::ErrorKind::NotADirectory => PathError::BelowAFile { given: given.into() },
        _ if disk::is_loop(&source) => PathError::Unusable { given: given.into(), why: "its links lead in a circle" },
        _ => PathError::Io { given: given.into(), source },
    })
}

fn check_kind(given: &str, real: &Path, access: Access) -> Result<(), PathError> {
    let given = || given.to_string();
    let meta = match fs::symlink_metadata(real) {
        Ok(meta) => meta,
        Err(e) if e.kind() == io::ErrorKind::NotFound && access == Access::Folder => {
            return Err(PathError::Missing { given: given() });
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) if e.kind() == io::ErrorKind::NotADirectory => return Err(PathError::BelowAFile { given: given() }),
        Err(source) => return Err(PathError::Io { given: given(), source }),
    };
    match access {
        Access::Folder if meta.is_dir() => Ok(()),
        Access::Folder => Err(PathError::NotAFolder { given: given() }),
        Access::File | Access::Entry if meta.is_file() => Ok(()),
        Access::Entry if meta.is_symlink() => Ok(()),
        _ => Err(PathError::NotAFile { given: given(), kind: disk::kind_of(meta.file_type()) }),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn world() -> (tempfile::TempDir, Workspace) {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().join("w");
        fs::create_dir_all(root.join("src/.git")).expect("made");
        fs::create_dir_all(dir.path().join("out")).expect("made");
        fs::write(root.join("src/a.rs"), "a").expect("written");
        fs::write(dir.path().join("out/secret"), "s").expect("written");
        symlink("src/a.rs", root.join("link")).expect("linked");
        symlink("../out", root.join("escape")).expect("linked");
        symlink("../../out/new", root.join("src/dangling")).expect("linked");
        symlink("b", root.join("c")).expect("linked");
        symlink("c", root.join("b")).expect("linked");
        let workspace = Workspace::open(&root).expect("open");
        (dir, workspace)
    }

    #[test]
    fn all_spellings_of_a_path_are_one() {
        let (dir, w) = world();
        let absolute = dir.path().join("w/src/a.rs").to_string_lossy().to_string();
        for path in ["src/a.rs", "./src/a.rs", "src/../src/a.rs", "none/../src/a.rs", "link", &absolute] {
            assert_eq!(w.resolve(path, Access::File).expect(path), "src/a.rs", "{path}");
            assert_eq!(normalise(w.root(), Path::new("src/../src/a.rs")), "src/a.rs");
        }
        assert_eq!(w.resolve("new/deep/file", Access::File).expect("not there yet"), "new/deep/file");
        assert_eq!(w.resolve(".", Access::Folder).expect("the root"), "");
    }

    #[test]
    fn paths_that_leave_the_workspace_are_refused() {
        let (_dir, w) = world();
        for path in ["../out/secret", "escape/secret", "escape/new", "src/dangling", "/etc/passwd", "src/../../out/x"] {
            let error = w.resolve(path, Access::File).expect_err(path);
            assert!(matches!(error, PathError::Outside { .. }), "{path}: {error}");
        }
    }

    #[test]
    fn what_is_protected_or_no_file_is_refused() {
        let (dir, w) = world();
        let home = dir.path().join("w/home");
        fs::create_dir_all(&home).expect("made");
        let w = w.protect(&home);
        for path in [".nebula-tmp-99999999-1-a", "src/.nebula-tmp-99999999-1-a", "src/.nebula-tmp-1-0-0/x"] {
            let refused = w.resolve(path, Access::File).map_err(|e| e.to_string());
            assert!(refused.is_err_and(|e| e.contains("its own temporary files")), "{path}");
        }
        assert!(w.resolve(".nebula-tmp-notes", Access::File).is_ok());
        for folder in ["bare/refs", "bare/objects"] {
            fs::create_dir_all(dir.path().join("w").join(folder)).expect("made");
        }
        fs::write(dir.path().join("w/bare/HEAD"), "").expect("written");
        for path in
            [".shaft/lock", ".git/config", "src/.git/x", ".GIT/x", "home/config.json", "bare/hooks/x", "bare/config"]
        {
            let error = w.resolve(path, Access::File).expect_err(path);
            assert!(matches!(error, PathError::Protected { .. }), "{path}: {error}");
        }
        assert!(matches!(w.resolve("src", Access::File), Err(PathError::NotAFile { .. })));
        assert!(matches!(w.resolve("src/a.rs/b", Access::File), Err(PathError::BelowAFile { .. })));
        assert!(matches!(w.resolve("b", Access::File), Err(PathError::Unusable { .. })));
        for path in ["", "  ", "~", "~/.nebula/config.json"] {
            assert!(matches!(w.resolve(path, Access::File), Err(PathError::Unusable { .. })), "{path:?}");
        }
        assert!(matches!(w.resolve("a\0b", Access::File), Err(PathError::Unusable { .. })));
        assert!(matches!(w.resolve("none", Access::Folder), Err(PathError::Missing { .. })));
    }

    #[test]
    fn deleting_and_moving_mean_the_link_itself() {
        let (_dir, w) = world();
        assert_eq!(w.resolve("link", Access::Entry).expect("a link"), "link");
        assert_eq!(w.resolve("escape", Access::Entry).expect("a link"), "escape");
        assert!(matches!(w.resolve("escape/secret", Access::Entry), Err(PathError::Outside { .. })));
    }

    #[test]
    fn a_name_that_is_no_utf8_is_meant_by_its_text_alone() {
        let (_dir, w) = world();
        for path in ["bad\0ff", "new\0e9/caf\0e9"] {
            assert_eq!(w.resolve_normalised(path, Access::Entry).expect("a name"), path);
            assert!(matches!(w.resolve(path, Access::Entry), Err(PathError::Unusable { .. })), "a person types no NUL");
        }
        for path in ["a\0b", ".shaft/bad\0ff", "escape/bad\0ff"] {
            assert!(w.resolve_normalised(path, Access::Entry).is_err(), "{path:?}");
        }
    }

    #[test]
    fn what_may_be_written_may_be_brought_back() {
        let (_dir, w) = world();
        for path in [".nebula/rules/a.md", "sub/.nebula/x"] {
            assert_eq!(w.resolve(path, Access::File).expect("may be written"), path);
            assert_eq!(w.resolve_archived(path).expect("may be brought back"), path);
        }
        assert!(w.resolve_archived(".shaft/lock").is_err());
    }
}
