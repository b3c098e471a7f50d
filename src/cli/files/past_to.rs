//! `at WHEN --to DIR`: the workspace as it was at a moment, written into a folder outside it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use tokio_util::sync::CancellationToken;

use super::{ArchiveCommands, DONE, FAILED};
use crate::disk::{Folder, parent};
use crate::past::{self, Moment};
use crate::proposal::{REPOSITORY, State};
use crate::text::clean::clean_line;
use crate::text::name::text_of;
use crate::text::number::plural;
use crate::workspace::copy_large;

/// The mode of a folder and of a file that has none.
const FOLDER: u32 = 0o755;
const FILE: u32 = 0o644;

impl ArchiveCommands<'_> {
    /// Writes all files of a moment into a new or empty folder. What git ignores is as it is now only where it was
    /// archived; the repository is left out.
    pub(super) fn write_state(&mut self, moment: Moment, to: &Path) -> Result<u8> {
        let past::Differing { files, unreadable } =
            past::differing(moment, Moment::now(self.stores())?, self.stores())?;
        let is_inside = |path: &str| path != REPOSITORY && !path.starts_with('/');
        let files: Vec<_> = files.into_iter().filter(|file| is_inside(&file.change.path)).collect();
        let unreadable: Vec<_> =
            unreadable.into_iter().filter(|(path, _)| path.as_ref().is_none_or(|path| is_inside(path))).collect();
        let doubtful = files.iter().filter(|file| file.outside.is_some() || file.unsure).count();
        let files = files.into_iter();
        let then: BTreeMap<String, State> = files.map(|f| (f.change.path, f.change.before)).collect();
        let (present, unread) = self.present();
        let mut modes = BTreeMap::new();
        let mut paths: BTreeSet<String> = then.keys().cloned().chain(present).collect();
        // What stands there now is not what was there then.
        paths.retain(|path| unreadable.iter().all(|(unread, _)| unread.as_ref() != Some(path)));
        let target = self.empty_folder(to)?;
        let (mut written, mut left) = (0, unreadable.into_iter().map(|(_, why)| why).collect::<Vec<_>>());
        left.extend(unread);
        for path in paths {
            let state = match then.get(&path) {
                Some(state) => Ok(state.clone()),
                None => self.workspace.read_archived(&path).map(|read| read.state),
            };
            match state {
                Ok(State::Folder { mode }) => drop(modes.insert(path, mode)),
                Ok(state) => {
                    let wrote = write(&target, &path, &state);
                    written +=
                        usize::from(wrote.with_context(|| format!("cannot write {path} there: it is not whole"))?);
                }
                Err(error) => left.push(error.to_string()),
            }
        }
        make_folders(&target, &modes).context("cannot set the modes of the folders there")?;
        for why in &left {
            self.complain(why)?;
        }
        let words =
            "the repository, what git ignores but for what was archived, and files outside the workspace are left out";
        if doubtful > 0 {
            let files = plural(doubtful, "file");
            self.complain(&format!("of {files} it is not certain that it was so: `nebula at WHEN` names them"))?;
        }
        self.complain(&format!("{} written to {}; {words}", plural(written, "file"), target.path().display()))?;
        Ok(if left.is_empty() { DONE } else { FAILED })
    }

    /// Returns the files of the workspace as it is, and a line for each that is not in the state.
    fn present(&self) -> (BTreeSet<String>, Vec<String>) {
        let (mut paths, mut unread) = (BTreeSet::new(), Vec::new());
        for entry in self.workspace.walk("").build() {
            match entry {
                Err(error) => unread.push(clean_line(&error.to_string()).into_owned()),
                Ok(entry) => {
                    let Some(kind) = entry.file_type() else { continue };
                    let path = entry.path().strip_prefix(self.workspace.root()).unwrap_or(entry.path());
                    let path = text_of(path.as_os_str());
                    match kind.is_dir() {
                        true if !path.is_empty() => drop(paths.insert(format!("{path}/"))),
                        _ if kind.is_file() || kind.is_symlink() => drop(paths.insert(path.into_owned())),
                        _ => {}
                    }
                }
            }
        }
        (paths, unread)
    }

    /// Returns a folder outside the workspace that is new or empty.
    fn empty_folder(&self, to: &Path) -> Result<Folder> {
        let to = self.folder.join(to);
        let name = to.file_name().with_context(|| format!("{} has no name", to.display()))?;
        let above = parent(&to)
            .canonicalize()
            .with_context(|| format!("{}: there is no such folder", parent(&to).display()))?;
        let real: PathBuf = above.join(name);
        let inside = real.canonicalize().unwrap_or_else(|_| real.clone());
        if inside.starts_with(self.workspace.root()) {
            bail!("{} lies in the workspace: name a folder outside it", to.display());
        }
        let above = Folder::open(&above)?;
        above.make(name, FOLDER)?;
        let target = above.enter(name).with_context(|| format!("{} is no folder", to.display()))?;
        if !target.names()?.is_empty() {
            bail!("{} is not empty: name a new or an empty folder", to.display());
        }
        Ok(target)
    }
}

/// Makes folders with these modes, each path with its closing `/`, once all is in them: some may keep their owner out.
fn make_folders(to: &Folder, modes: &BTreeMap<String, u32>) -> io::Result<()> {
    for path in modes.keys() {
        enter(to, path)?;
    }
    for (path, mode) in modes.iter().rev() {
        let (above, name) = path.trim_end_matches('/').rsplit_once('/').unwrap_or(("", path.trim_end_matches('/')));
        to.descend(Path::new(above))?.set_folder_mode(name, *mode)?;
    }
    Ok(())
}

/// Enters a folder below another, made where it is missing.
fn enter(to: &Folder, path: &str) -> io::Result<Folder> {
    let mut folder = to.descend(Path::new(""))?;
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        folder.make(part, FOLDER)?;
        folder = folder.enter(part)?;
    }
    Ok(folder)
}

/// Writes a state below a folder. Returns false where nothing was there.
fn write(to: &Folder, path: &str, state: &State) -> io::Result<bool> {
    if matches!(state, State::Absent | State::Folder { .. }) {
        return Ok(false);
    }
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = enter(to, above)?;
    match state {
        State::File { bytes, mode } => drop(folder.write_new(name, bytes, Some(mode.unwrap_or(FILE)))?),
        State::Large(large) => {
            let file = folder.make_file(name, large.mode.unwrap_or(FILE) | 0o600)?;
            copy_large(large, &file, &CancellationToken::new())?;
        }
        State::Link { target } => folder.make_link(name, target)?,
        State::Absent | State::Folder { .. } => {}
    }
    Ok(true)
}
