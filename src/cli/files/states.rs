//! `show` and `diff`: archived states, byte for byte, and changesets in words.

use std::io::Write;

use anyhow::{Result, anyhow, bail};

use super::{ArchiveCommands, DONE};
use crate::archive::{Id, Version};
use crate::cli::diff::unified;
use crate::past::cause;
use crate::proposal::{FileChange, State};
use crate::text::clean::clean_line;
use crate::text::time;

impl ArchiveCommands<'_> {
    pub(super) fn show(&mut self, name: &str) -> Result<u8> {
        let version = match self.archive.find_version(None, name) {
            Ok(version) => version,
            Err(unknown) => match self.archive.find_changeset(name) {
                Ok(id) => return self.show_changeset(id),
                Err(_) => return Err(unknown.into()),
            },
        };
        match self.archive.show(&version)? {
            State::Absent => self.complain("the file did not exist at that version")?,
            State::File { bytes, .. } => self.out.document(&bytes)?,
            State::Folder { mode } => self.complain(&format!("it was a folder of mode {mode:o}"))?,
            State::Large(file) => {
                self.out.document_of(crate::disk::open_file(&file.source, crate::disk::Links::Refuse)?)?;
            }
            State::Link { target } => self.out.document(
                format!(
                    "{}
",
                    target.display()
                )
                .as_bytes(),
            )?,
        }
        self.out.flush()?;
        Ok(DONE)
    }

    /// Prints what a changeset holds, what made it and who approved that.
    fn show_changeset(&mut self, id: Id) -> Result<u8> {
        let known = self.memory.changeset(&self.project(), &id.to_string());
        let record = self.memory.or_report(known);
        writeln!(self.out, "changeset  {id}")?;
        writeln!(self.out, "time       {}", time::local(id.at()))?;
        if let Some(cause) = cause(record.as_ref()) {
            writeln!(self.out, "cause      {}", cause)?;
        }
        if let Some(approved) = self.archive.approved(id)? {
            writeln!(self.out, "approved   {}", approved)?;
        }
        for path in self.archive.paths(id)? {
            let version = self.archive.version_in(&path, id)?;
            let version = version.map_or("missing".into(), |v| v.id.to_string());
            writeln!(self.out, "file       {version}  {}", path)?;
        }
        for ops in self.archive.store_ops(id)? {
            for name in &ops.definitions {
                writeln!(self.out, "definition {}  {}", clean_line(name), clean_line(&ops.store))?;
            }
            for op in &ops.ops {
                writeln!(self.out, "op         {}  {}", clean_line(op), clean_line(&ops.store))?;
            }
        }
        self.out.flush()?;
        Ok(DONE)
    }

    pub(super) fn diff(&mut self, version: &str, with: &str) -> Result<u8> {
        let version = self.version(version)?;
        let before = self.archive.show(&version)?;
        let path = self.path_of(&version)?;
        let after = if with == "now" {
            let Some(path) = &path else {
                bail!(
                    "the file of version {} is unknown: no changeset contains it. Give another version to compare it with",
                    version.id
                );
            };
            self.workspace.read(path)?.state
        } else {
            self.archive.show(&self.version(with)?)?
        };
        let name = path.unwrap_or_else(|| version.id.to_string());
        let change = FileChange::new(name, before, after, "diff", &[]);
        let diff = unified(&change, self.out.is_terminal());
        self.out.styled(&diff)?;
        self.out.flush()?;
        Ok(DONE)
    }

    /// Returns the version of a name, which a changeset's is not.
    fn version(&self, name: &str) -> Result<Version> {
        self.archive.find_version(None, name).map_err(|unknown| match self.archive.find_changeset(name) {
            Ok(id) => anyhow!("{id} is a changeset: `nebula history FILE` lists the versions of one file"),
            Err(_) => unknown.into(),
        })
    }

    fn path_of(&self, version: &Version) -> Result<Option<String>> {
        Ok(self.archive.path_of(version)?)
    }
}
