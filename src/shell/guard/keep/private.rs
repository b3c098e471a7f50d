//! Private files that are about to get another name: they are found by their paths, so that the next command could read
//! them under it.

use std::path::{Path, PathBuf};

use super::{Keeping, Verdict};

impl Keeping {
    /// Refuses to give a private file, or a folder that holds one, the name `new`. Within one private folder it stays
    /// private.
    pub(super) fn keep_private(&mut self, old: &Path, new: &Path) -> Verdict {
        let Some(bounds) = self.bounds.as_ref().filter(|bounds| !bounds.names_only) else { return Ok(()) };
        let stays = |private: &Path| old != private && old.starts_with(private) && new.starts_with(private);
        let is_met = |private: &Path| old.starts_with(private) || private.starts_with(old);
        let mut met = bounds.private.iter().map(PathBuf::as_path).filter(|private| is_met(private)).peekable();
        if met.peek().is_none() || met.any(stays) {
            return Ok(());
        }
        self.summary.private += 1;
        // The root has no name of its own.
        let name = Some(self.name(old)).filter(|name| !name.is_empty());
        self.summary.first_private.get_or_insert_with(|| name.unwrap_or_else(|| old.display().to_string()));
        Err(libc::EACCES)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::*;
    use crate::archive::staging::CommandInfo;
    use crate::archive::{Archive, ArchiveSettings};
    use crate::shell::places::{CopyLimits, PathClasses, PlaceSettings};
    use crate::shell::sandbox::{Bounds, Grant};
    use crate::workspace::Workspace;

    #[test]
    fn what_is_private_gets_no_name_under_which_it_would_not_be() {
        for names_only in [false, true] {
            let dir = tempfile::tempdir().expect("a folder");
            let workspace = Workspace::open(dir.path()).expect("open");
            let root = workspace.root().to_path_buf();
            let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
            fs::create_dir_all(root.join("in/vault/sub")).expect("made");
            for file in ["in/key", "in/vault/a", "in/open"] {
                fs::write(root.join(file), "text").expect("written");
            }
            let bounds = Bounds {
                grant: Grant::Workspace,
                write: vec![root.clone()],
                folders: Vec::new(),
                temporary: root.join("tmp"),
                since: 0,
                private: vec![root.join("in/key"), root.join("in/vault")],
                known: Vec::new(),
                caches: Vec::new(),
                sockets: Vec::new(),
                ports: Vec::new(),
                names_only,
            };
            let staging = archive.stage(&CommandInfo::default()).expect("staged");
            let places = PathClasses::new(&workspace, &archive, &PlaceSettings::default());
            let mut keeping = Keeping::new(places, CopyLimits::default(), Some(bounds), staging, Arc::default());
            let at = |name: &str| root.join(name);
            let refused = if names_only { Ok(()) } else { Err(libc::EACCES) };
            for (old, new) in [("in/key", "key"), ("in", "out"), ("in/vault", "v"), ("in/vault/a", "a")] {
                assert_eq!(keeping.rename(&at(old), &at(new), false), refused, "{old} {new}");
            }
            assert_eq!(keeping.rename(&at("in/open"), &at("in/key"), true), refused, "an exchange");
            assert_eq!(keeping.second_name(&at("in/key"), &at("key2")), refused);
            for (old, new) in [("in/vault/a", "in/vault/b"), ("in/vault/sub", "in/vault/s"), ("in/open", "open")] {
                assert_eq!(keeping.rename(&at(old), &at(new), false), Ok(()), "{old} {new}");
            }
            assert_eq!(keeping.lose(&at("in/key")), Ok(()), "it may go");
            let words: Vec<String> = keeping.summary().refused_words().collect();
            let line = "refused: 6 moves or links of private files, first in/key (by another name the next command could \
                        read them)";
            assert_eq!(words, if names_only { Vec::new() } else { vec![line.to_string()] });
            if !names_only {
                keeping.summary.first_private = None;
                assert_eq!(keeping.rename(&root, &root.with_extension("moved"), false), refused);
                assert_eq!(keeping.summary.first_private, Some(root.display().to_string()), "the root is named");
            }
        }
    }
}
