//! The keeper that looks before and after: every kept file is copied once into `.shaft/shadow`, and again only when its
//! stat changed. After the command the stats tell which files changed, and their copies are the states before.
//!
//! What other programs change meanwhile is in it, and a change within one tick of the clock that leaves size and times
//! as they were is not seen.

mod added;
mod entry;
mod look;
mod meanwhile;

pub use entry::ScanError;
use entry::{OWN, ROOT, ScanEntry};
use look::{ScannedTree, look, looked, open};
pub use meanwhile::note_repository;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::places::PathClasses;
use crate::archive::Archive;
use crate::archive::staging::{CommandStaging, JournalLine, StagedKind};
use crate::disk::{self, Links};
use crate::text::name;

/// The most files that are looked at.
pub const MOST_FILES: usize = 50_000;
/// The copies, in `.shaft`.
const SHADOW: &str = "shadow";
/// The last state that was looked at, among the copies.
const INDEX: &str = "index";
/// The largest state that is read, in bytes.
const MAX_INDEX: u64 = 256 << 20;
/// The state before the command, in its staging folder.
const BEFORE: &str = "before";
/// The folders that could be rebuilt then, as a list in JSON, beside it.
const DERIVED: &str = "derived";

fn at(path: &Path) -> impl FnOnce(io::Error) -> ScanError + '_ {
    move |source| ScanError::Io { path: path.to_path_buf(), source }
}

/// The state before a command, and the paths that could not be copied.
#[derive(Debug)]
pub struct Scan {
    shadow: PathBuf,
    entries: BTreeMap<String, ScanEntry>,
    /// Paths that are not archived, each with why.
    pub left_out: Vec<(String, String)>,
    /// Folders that can be rebuilt, in which nothing is looked at.
    derived: BTreeSet<String>,
    /// True where another process resumed it: what was left out before is not known.
    is_resumed: bool,
}

impl Scan {
    /// Looks at a workspace before a command, copying what is not copied yet. What it finds is put down in the staging
    /// folder, so that another process can seal it should this one die.
    ///
    /// # Errors
    /// When the tree is too large, or the disk refuses.
    pub fn before(places: &PathClasses, archive: &Archive, staging: &CommandStaging) -> Result<Scan, ScanError> {
        Scan::of_at_most(MOST_FILES, places, archive, staging)
    }

    /// Returns why a workspace is too large to be looked at; none: it is not, as far as it can be told.
    pub fn refusal(places: &PathClasses, archive: &Archive) -> Option<ScanError> {
        let shadow = archive.home().join(SHADOW);
        let known = read(&shadow.join(INDEX)).unwrap_or_default();
        looked(MOST_FILES, places, &shadow, &known).err().filter(|error| matches!(error, ScanError::TooLarge(_)))
    }

    fn of_at_most(
        most: usize,
        places: &PathClasses,
        archive: &Archive,
        staging: &CommandStaging,
    ) -> Result<Scan, ScanError> {
        let shadow = archive.make_own(SHADOW)?.path().to_path_buf();
        let index = shadow.join(INDEX);
        let known = read(&index).unwrap_or_default();
        let ScannedTree { mut entries, mut left_out, derived } = looked(most, places, &shadow, &known)?;
        let mut changed = known.len() != entries.len();
        let mut unread = Vec::new();
        let is_uncopied = |entry: &&mut ScanEntry| entry.kind != StagedKind::Folder && entry.copy.is_empty();
        for entry in entries.values_mut().filter(is_uncopied) {
            changed = true;
            match copy(places, entry, &shadow) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::StorageFull => return Err(at(&shadow)(error)),
                Err(error) => unread.push((entry.path.clone(), error.to_string())),
            }
        }
        unread.iter().for_each(|(path, _)| drop(entries.remove(path)));
        left_out.extend(unread);
        if changed {
            write(&index, &entries).map_err(at(&index))?;
        }
        if !derived.is_empty() {
            let list = staging.folder().join(DERIVED);
            let names = serde_json::to_vec(&derived).map_err(io::Error::from);
            names.and_then(|names| disk::replace_private(&list, &names)).map_err(at(&list))?;
        }
        fs::hard_link(&index, staging.folder().join(BEFORE)).map_err(at(staging.folder()))?;
        Ok(Scan { shadow, entries, left_out, derived, is_resumed: false })
    }

    /// Resumes the scan of a command whose process has ended.
    ///
    /// # Errors
    /// When what was put down cannot be read.
    pub fn take_up(archive: &Archive, staging: &CommandStaging) -> io::Result<Scan> {
        let entries = read(&staging.folder().join(BEFORE))?;
        let shadow = archive.open_own(SHADOW).map_err(io::Error::other)?;
        let shadow = shadow.ok_or_else(|| io::Error::other("the folder of copies is gone"))?;
        let derived = match disk::read_file(&staging.folder().join(DERIVED), MAX_INDEX, Links::Refuse) {
            Ok(names) => serde_json::from_slice(&names)?,
            // There were none, or an older nebula has not noted them.
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeSet::new(),
            Err(error) => return Err(error),
        };
        let (shadow, left_out) = (shadow.path().to_path_buf(), Vec::new());
        Ok(Scan { shadow, entries, left_out, derived, is_resumed: true })
    }

    /// Returns the folders below the root that hold the archive of another nebula: nothing of them could be brought back.
    pub fn archives_within(&self, root: &Path) -> Vec<PathBuf> {
        let own = self.left_out.iter().filter(|(path, why)| why == OWN && !path.starts_with('/'));
        let folders = own.map(|(path, _)| root.join(name::name_of(path.as_ref())));
        folders.filter(|folder| fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir())).collect()
    }

    /// Looks again after the command: what changed is put into the journal, with its state before. Returns the folders of
    /// objects that the command added to, which are not kept, each with the number of what was added.
    ///
    /// # Errors
    /// When the tree cannot be looked at, or the disk refuses.
    pub fn after(
        &self,
        places: &PathClasses,
        staging: &mut CommandStaging,
    ) -> Result<BTreeMap<String, u64>, ScanError> {
        let name = |folder: &Path| format!("{}/", places.name(folder));
        let looked: Vec<&Path> = places.outside().filter(|folder| self.entries.contains_key(&name(folder))).collect();
        let ScannedTree { entries: now, left_out, .. } = look(places, &looked, MOST_FILES, Some(&self.entries))?;
        let looked: Vec<String> = looked.into_iter().map(name).collect();
        // Outside the workspace the configuration may be another one by now.
        let is_looked_at =
            |path: &str| !path.starts_with('/') || looked.iter().any(|folder| path.starts_with(folder.as_str()));
        // The states are of when the folder was made. What someone else changed once it was over is none of its work.
        let (stored, over) = (staging.id().at(), staging.over());
        let left = staging.left_at_end().map_err(at(&self.shadow))?;
        let is_anothers = |entry: &ScanEntry| entry.is_after(over) && !left.contains(&entry.path);
        let mut add = |entry: JournalLine| staging.add(&entry).map_err(at(&self.shadow));
        // An older nebula that was cut off has not looked at the root itself.
        let is_new =
            |entry: &&ScanEntry| !entry.object && !self.entries.contains_key(&entry.path) && entry.path != ROOT;
        let new = now.values().filter(is_new).filter(|entry| !is_anothers(entry)).map(|entry| &entry.path);
        for path in new.chain(self.added_special(&left_out)).filter(|path| !self.is_left_out(path)) {
            add(JournalLine { kept: stored, ..JournalLine::of(path.clone(), StagedKind::Absent, 0) })?;
        }
        let is_changed = |entry: &&ScanEntry| !now.get(&entry.path).is_some_and(|now| now.is_same(entry));
        let changed: Vec<&ScanEntry> =
            self.entries.values().filter(|entry| is_looked_at(&entry.path)).filter(is_changed).collect();
        for entry in changed {
            let staged = match entry.kind {
                StagedKind::Folder | StagedKind::Absent => None,
                StagedKind::Link => {
                    let (path, name) = staging.new_name();
                    std::os::unix::fs::symlink(&entry.copy, &path).map_err(at(&path))?;
                    Some(name)
                }
                StagedKind::File => {
                    let (path, name) = staging.new_name();
                    // A copy that another command's scan names too keeps its name, and the version is a copy of it.
                    let copy = self.shadow.join(&entry.copy);
                    fs::hard_link(&copy, &path).map_err(at(&path))?;
                    Some(name)
                }
            };
            let (path, kind, mode) = (entry.path.clone(), entry.kind, entry.mode);
            staging
                .add(&JournalLine { staged, kept: stored, ..JournalLine::of(path, kind, mode) })
                .map_err(at(&self.shadow))?;
            if let Some(now) = now.get(&entry.path).filter(|now| is_anothers(now)) {
                now.add_again(places, staging)?;
            }
        }
        Ok(self.added_objects(&now))
    }

    /// Returns the folders that can be rebuilt and are gone as a whole by now.
    pub fn derived_gone(&self, root: &Path) -> impl Iterator<Item = &String> {
        let is_there = |folder: &str| {
            let at = root.join(name::name_of(folder.trim_end_matches('/').as_ref()));
            fs::symlink_metadata(at).is_ok_and(|meta| meta.is_dir())
        };
        self.derived.iter().filter(move |folder| !is_there(folder))
    }

    fn is_left_out(&self, path: &str) -> bool {
        // The proof that a folder can be rebuilt may be gone by now.
        if self.derived.iter().any(|folder| path.starts_with(folder.as_str())) {
            return true;
        }
        // What lies in a folder that could not be looked into may have been there before.
        let below =
            |left_out: &str| path.strip_prefix(left_out).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.left_out.iter().any(|(left_out, _)| below(left_out.trim_end_matches('/')))
    }
}

/// Copies one file into the folder of copies; of a link its text is noted.
fn copy(places: &PathClasses, entry: &mut ScanEntry, shadow: &Path) -> io::Result<()> {
    let from = places.root().join(name::name_of(entry.path.as_ref()));
    let last = from.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let above = open(places, disk::parent(&from))?;
    if entry.kind == StagedKind::Link {
        let target = above.read_link(last)?;
        entry.copy = target.to_str().ok_or_else(|| io::Error::other("the link's text is not UTF-8"))?.to_string();
        return Ok(());
    }
    let name = disk::temp_name();
    if !entry.object || fs::hard_link(&from, shadow.join(&name)).is_err() {
        let file = above.open_unreadable(last)?;
        disk::copy_new(&file, &shadow.join(&name), entry.mode & 0o1777 | 0o400)?;
        // Its owner may have been let read it, which changes the time of its inode.
        let meta = file.metadata()?;
        if (meta.len(), meta.mtime(), meta.mtime_nsec()) == (entry.stat.0, entry.stat.1, entry.stat.2) {
            (entry.stat.3, entry.stat.4) = (meta.ctime(), meta.ctime_nsec());
        }
    }
    entry.copy = name;
    Ok(())
}

fn read(index: &Path) -> io::Result<BTreeMap<String, ScanEntry>> {
    let text = disk::read_file(index, MAX_INDEX, Links::Refuse)?;
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let entry = |line: &[u8]| {
        let entry: ScanEntry = serde_json::from_slice(line)?;
        // A command may have written it where nothing keeps it from there.
        match entry.kind == StagedKind::File && !disk::is_temp_name(&entry.copy) {
            true => Err(io::Error::new(io::ErrorKind::InvalidData, "a copy that lies elsewhere")),
            false => Ok((entry.path.clone(), entry)),
        }
    };
    lines.map(entry).collect()
}

fn write(index: &Path, entries: &BTreeMap<String, ScanEntry>) -> io::Result<()> {
    let mut lines = Vec::new();
    for entry in entries.values() {
        serde_json::to_writer(&mut lines, entry)?;
        lines.push(b'\n');
    }
    disk::replace_private(index, &lines)
}

/// Removes copies that neither the index nor a command under way names. To be called under the archive's lock.
///
/// # Errors
/// When the folder of copies cannot be listed, or it cannot be told which of them a command needs: then all stay.
pub fn sweep(archive: &Archive) -> Result<usize, ScanError> {
    let Some(shadow) = archive.open_own(SHADOW)? else { return Ok(0) };
    let mut used = HashSet::new();
    let copies = |entries: BTreeMap<String, ScanEntry>| entries.into_values().map(|entry| entry.copy);
    // An index that cannot be read is made anew, with copies of its own.
    used.extend(read(&shadow.path().join(INDEX)).into_iter().flat_map(copies));
    for before in archive.staging_folders()?.into_iter().map(|folder| folder.join(BEFORE)) {
        match read(&before) {
            Ok(entries) => used.extend(copies(entries)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(at(&before)(error)),
        }
    }
    let mut gone = 0;
    for name in shadow.names().map_err(at(shadow.path()))? {
        let unused = name.to_str().is_some_and(|name| disk::is_temp_name(name) && !used.contains(name));
        gone += usize::from(unused && shadow.remove_file(&name).is_ok());
    }
    Ok(gone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive;
    use crate::archive::staging::CommandInfo;
    use crate::archive::{Archive, ArchiveSettings};
    use crate::disk::Folder;
    use crate::shell::places::PlaceSettings;
    use crate::workspace::Workspace;

    #[test]
    fn a_folder_outside_that_is_too_large_is_named_and_the_workspace_is_scanned() {
        let dir = tempfile::tempdir().expect("a folder");
        let base = dir.path().canonicalize().expect("real");
        let (root, out) = (base.join("w"), base.join("out"));
        fs::create_dir_all(&root).and_then(|()| fs::create_dir_all(out.join("keys"))).expect("made");
        let files = ["w/a", "w/b", "out/1", "out/2", "out/keys/k"].map(|file| base.join(file));
        let write = |text: &str| files.iter().for_each(|file| fs::write(file, text).expect("written"));
        write("before");
        let workspace = Workspace::open(&root).expect("open");
        let workspace = workspace.with_folders(std::slice::from_ref(&out), vec![out.join("keys")]);
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let places = PathClasses::new(&workspace, &archive, &PlaceSettings::default());
        for (most, changed) in [(4, vec!["/out/1", "/out/2", "a", "b"]), (3, vec!["a", "b"])] {
            write("before");
            let mut staging = archive.stage(&CommandInfo::default()).expect("staged");
            let scan = Scan::of_at_most(most, &places, &archive, &staging).expect("scanned");
            let left_out: Vec<&str> = scan.left_out.iter().map(|(path, _)| path.as_str()).collect();
            let named = if most == 4 { "/out/keys" } else { "/out/" };
            assert_eq!(left_out, [format!("{}{named}", base.display())]);
            write("after it");
            scan.after(&places, &mut staging).expect("scanned");
            let states = staging.journal().expect("read").states;
            let paths: Vec<String> =
                states.into_iter().map(|line| line.path.replace(&base.display().to_string(), "")).collect();
            assert_eq!(paths, changed);
        }
    }

    #[test]
    fn an_index_that_names_a_copy_elsewhere_is_not_taken() {
        let dir = tempfile::tempdir().expect("a folder");
        let index = dir.path().join("index");
        let line = |copy: &str| {
            format!(r#"{{"path":"a","kind":"file","mode":420,"stat":[0,0,0,0,0],"inode":[1,2],"copy":"{copy}"}}"#)
        };
        fs::write(&index, line(&disk::temp_name())).expect("written");
        assert_eq!(read(&index).expect("read").len(), 1);
        for elsewhere in ["/home/me/key", "../key", "a/b", "", "..", "index"] {
            fs::write(&index, line(elsewhere)).expect("written");
            assert!(read(&index).is_err(), "{elsewhere}");
        }
    }

    fn archive(root: &Path) -> Archive {
        let workspace = crate::workspace::Workspace::open(root).expect("open");
        Archive::open(&workspace, &archive::ArchiveSettings::default()).expect("open")
    }

    #[test]
    fn a_link_in_the_place_of_the_copies_leads_nothing_away() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().join("clone");
        fs::create_dir_all(root.join(".shaft")).expect("made");
        fs::write(dir.path().join("mine"), "work").expect("written");
        std::os::unix::fs::symlink("../..", root.join(".shaft/shadow")).expect("linked");
        let archive = archive(&root);
        let staging = archive.stage(&Default::default()).expect("staged");
        let workspace = crate::workspace::Workspace::open(&root).expect("open");
        let places = PathClasses::new(&workspace, &archive, &Default::default());
        assert!(sweep(&archive).is_err() && Scan::before(&places, &archive, &staging).is_err());
        let names: Vec<_> =
            fs::read_dir(dir.path()).expect("listed").flatten().map(|entry| entry.file_name()).collect();
        assert_eq!((names.len(), fs::read(dir.path().join("mine")).expect("there")), (2, b"work".to_vec()));
    }

    #[test]
    fn only_copies_that_no_command_needs_are_removed_and_none_where_that_cannot_be_told() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join("a"), "before").expect("written");
        let workspace = crate::workspace::Workspace::open(dir.path()).expect("open");
        let archive = archive(dir.path());
        let places = PathClasses::new(&workspace, &archive, &Default::default());
        let staging = archive.stage(&Default::default()).expect("staged");
        let scan = Scan::before(&places, &archive, &staging).expect("scanned");
        fs::remove_file(scan.shadow.join(INDEX)).expect("removed");
        let (mine, unused) = (scan.shadow.join("mine"), scan.shadow.join(disk::temp_name()));
        [&mine, &unused].into_iter().for_each(|path| fs::write(path, "").expect("written"));
        // A folder that came from elsewhere keeps nothing from being removed.
        let foreign = staging.folder().with_file_name(archive::Id::after(archive::Id::MIN).to_string());
        fs::create_dir(&foreign).expect("made");
        fs::write(foreign.join("info.json"), r#"{"command":"","cwd":"","keeper":""}"#).expect("written");
        std::os::unix::fs::symlink("/dev/zero", foreign.join(BEFORE)).expect("linked");
        let before = staging.folder().join(BEFORE);
        let aside = dir.path().join("aside");
        fs::rename(&before, &aside).expect("moved");
        rustix::fs::mknodat(rustix::fs::CWD, &before, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
            .expect("made");
        assert!(sweep(&archive).is_err() && unused.exists());
        fs::rename(&aside, &before).expect("moved back");
        assert_eq!(sweep(&archive).expect("swept"), 1);
        assert!(mine.exists() && !unused.exists() && scan.shadow.join(&scan.entries["a"].copy).exists());
    }

    #[test]
    fn the_roots_own_mode_and_what_lies_deeper_than_a_path_may_be_long_are_looked_at() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("real");
        let mut deep = Folder::open(&root).expect("open");
        let name = "n".repeat(200);
        for _ in 0..25 {
            deep.make(&name, 0o700).expect("made");
            deep = deep.enter(&name).expect("open");
        }
        deep.write_new("old", b"before", Some(0o600)).expect("written");
        let workspace = Workspace::open(&root).expect("open");
        let archive = archive(&root);
        let places = PathClasses::new(&workspace, &archive, &Default::default());
        let mut staging = archive.stage(&Default::default()).expect("staged");
        let scan = Scan::before(&places, &archive, &staging).expect("scanned");
        assert_eq!(scan.left_out, []);
        deep.remove_file("old").and_then(|()| deep.write_new("new", b"", Some(0o600)).map(drop)).expect("changed");
        fs::set_permissions(&root, fs::Permissions::from_mode(0o711)).expect("set");
        scan.after(&places, &mut staging).expect("scanned");
        let above = format!("{name}/").repeat(25);
        let mut kept: Vec<_> =
            staging.journal().expect("read").states.into_iter().map(|line| (line.path, line.kind)).collect();
        kept.sort_by(|one, other| one.0.cmp(&other.0));
        let expected = [
            ("./".to_string(), StagedKind::Folder),
            (format!("{above}new"), StagedKind::Absent),
            (format!("{above}old"), StagedKind::File),
        ];
        assert_eq!(kept, expected);
        let changes = archive.compare(&workspace, &staging).expect("compared");
        assert_eq!((changes.changes.len(), changes.unread), (3, Vec::new()));
    }

    #[test]
    fn a_folder_that_can_be_rebuilt_is_named_once_it_is_gone() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("real");
        for folder in ["target/debug", "pkg/node_modules/x/node_modules", "tagged"] {
            fs::create_dir_all(root.join(folder)).expect("made");
        }
        for (file, text) in [("Cargo.toml", ""), ("pkg/package.json", ""), ("tagged/CACHEDIR.TAG", ""), ("a", "before")]
        {
            fs::write(root.join(file), text).expect("written");
        }
        fs::write(root.join(".gitignore"), "target\nnode_modules\ntagged\n").expect("written");
        let workspace = Workspace::open(&root).expect("open");
        let archive = archive(&root);
        let places = PathClasses::new(&workspace, &archive, &Default::default());
        let mut staging = archive.stage(&Default::default()).expect("staged");
        let scan = Scan::before(&places, &archive, &staging).expect("scanned");
        assert_eq!(scan.derived_gone(&root).count(), 0);
        fs::remove_dir_all(root.join("target")).and_then(|()| fs::remove_dir_all(root.join("pkg"))).expect("gone");
        // Its proof is gone, and it is there.
        fs::remove_file(root.join("tagged/CACHEDIR.TAG")).expect("gone");
        scan.after(&places, &mut staging).expect("scanned");
        assert_eq!(scan.derived_gone(&root).collect::<Vec<_>>(), ["pkg/node_modules/", "target/"]);
    }

    #[test]
    fn a_folder_keeps_its_class_where_the_proof_that_it_can_be_rebuilt_comes_or_goes() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("real");
        for file in ["package.json", "node_modules/m/i.js", "keep/a"] {
            let file = root.join(file);
            fs::create_dir_all(file.parent().expect("below")).and_then(|()| fs::write(file, "before")).expect("made");
        }
        fs::write(root.join(".gitignore"), "node_modules\nkeep\n").expect("written");
        let workspace = Workspace::open(&root).expect("open");
        let archive = archive(&root);
        let places = PathClasses::new(&workspace, &archive, &Default::default());
        let mut staging = archive.stage(&Default::default()).expect("staged");
        drop(Scan::before(&places, &archive, &staging).expect("scanned"));
        fs::remove_file(root.join("package.json")).expect("removed");
        ["keep/CACHEDIR.TAG", "node_modules/x"].iter().for_each(|file| fs::write(root.join(file), "").expect("made"));
        // As by a process that another one has left it to, for whose classes the proof is another one.
        let places = PathClasses::new(&workspace, &archive, &Default::default());
        Scan::take_up(&archive, &staging).expect("resumed").after(&places, &mut staging).expect("scanned");
        let kept: Vec<String> = staging.journal().expect("read").states.into_iter().map(|line| line.path).collect();
        assert_eq!(kept, ["keep/CACHEDIR.TAG", "package.json"]);
    }

    #[test]
    fn the_persons_files_in_a_nebula_folder_below_the_root_are_kept_and_no_archive_is() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("real");
        for file in ["pkg/.nebula/rules/r.md", "pkg/.shaft/archives/x", ".nebula/config.json", "pkg/a"] {
            let file = root.join(file);
            fs::create_dir_all(file.parent().expect("below")).and_then(|()| fs::write(file, "before")).expect("made");
        }
        let workspace = Workspace::open(&root).expect("open");
        let archive = archive(&root);
        let places = PathClasses::new(&workspace, &archive, &Default::default());
        let mut staging = archive.stage(&Default::default()).expect("staged");
        let scan = Scan::before(&places, &archive, &staging).expect("scanned");
        assert_eq!(scan.archives_within(&root), [root.join("pkg/.shaft")]);
        fs::remove_dir_all(root.join("pkg/.nebula")).and_then(|()| fs::remove_file(root.join("pkg/a"))).expect("gone");
        scan.after(&places, &mut staging).expect("scanned");
        let kept: Vec<String> = staging.journal().expect("read").states.into_iter().map(|line| line.path).collect();
        assert_eq!(kept, ["pkg/.nebula/", "pkg/.nebula/rules/", "pkg/.nebula/rules/r.md", "pkg/a"]);
    }
}
