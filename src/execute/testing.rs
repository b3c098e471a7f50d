//! A workspace with its archive and memory, and states that a command's keeper staged.

use std::fs;

use super::Stores;
use crate::archive::staging::{CommandInfo, CommandStaging, JournalLine, StagedKind};
use crate::archive::{Archive, ArchiveSettings};
use crate::memory::{self, Memory};
use crate::workspace::Workspace;

/// A workspace with its stores.
pub struct World {
    _dir: tempfile::TempDir,
    /// Its files.
    pub workspace: Workspace,
    /// Its archive.
    pub archive: Archive,
    /// Its memory.
    pub memory: Memory,
}

impl World {
    /// Creates one with a file `a`.
    pub fn with(a: &str) -> World {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().join("w");
        fs::create_dir(&root).expect("made");
        fs::write(root.join("a"), a).expect("written");
        let workspace = Workspace::open(&root).expect("a workspace");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("an archive");
        let (memory, _) = Memory::open(memory::Options::in_folder(&dir.path().join("home")));
        World { _dir: dir, workspace, archive, memory }
    }

    /// Returns its stores.
    pub fn stores(&self) -> Stores<'_> {
        self.stores_with(&self.archive)
    }

    /// Returns its stores with another view of the archive.
    pub fn stores_with<'a>(&'a self, archive: &'a Archive) -> Stores<'a> {
        Stores { workspace: &self.workspace, archive, memory: &self.memory }
    }

    /// Stages these states of the file `a`, each after the first as one that someone else left.
    pub fn stage(&self, info: &CommandInfo, states: &[&str]) -> CommandStaging {
        let mut staging = self.archive.stage(info).expect("staged");
        let kept = crate::text::time::now() - 1_000;
        for (n, state) in states.iter().enumerate() {
            let (file, name) = staging.new_name();
            fs::write(file, state).expect("written");
            let (path, kind, inode) = ("a".into(), StagedKind::File, JournalLine::COPY);
            let line =
                JournalLine { path, kind, mode: 0o600, staged: Some(name), inode, kept, again: n > 0, within: 0 };
            staging.add(&line).expect("added");
        }
        staging
    }
}
