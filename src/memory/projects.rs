//! Data of a project as a whole: the size of its archive, and the folders nebula made in it.

use rusqlite::{OptionalExtension, params};

use super::store::Safety;
use super::{Error, Memory, count, int, now_ms};

/// The size of an archive when it was last measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredArchiveSize {
    /// Bytes on disk.
    pub bytes: u64,
    /// The time of that.
    pub at: i64,
}

impl Memory {
    /// Returns how large a project's archive was when it was last measured; `None`: it never was.
    pub fn archive_size(&self, project: &str) -> Result<Option<StoredArchiveSize>, Error> {
        let store = self.store();
        let mut statement = store.conn.prepare_cached("SELECT bytes, at_ms FROM archives WHERE project_path = ?1")?;
        let of_row = |row: &rusqlite::Row<'_>| Ok(StoredArchiveSize { bytes: count(row.get(0)?), at: row.get(1)? });
        Ok(statement.query_row([project], of_row).optional()?)
    }

    /// Keeps the size of a project's archive as it was just measured.
    pub fn set_archive_size(&self, project: &str, bytes: u64) -> Result<(), Error> {
        let now = now_ms();
        self.store().write(Safety::Normal, None, |tx| {
            tx.prepare_cached(
                "INSERT INTO archives(project_path, bytes, at_ms) VALUES(?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET bytes = excluded.bytes, at_ms = excluded.at_ms",
            )?
            .execute(params![project, int(bytes), now])?;
            Ok(())
        })
    }

    /// Notes folders (normalised paths) that nebula has `made` and that it has `removed`.
    pub fn folders_changed(
        &self,
        project: &str,
        changeset: Option<&str>,
        made: &[String],
        removed: &[String],
    ) -> Result<(), Error> {
        if made.is_empty() && removed.is_empty() {
            return Ok(());
        }
        self.store().write(Safety::Normal, None, |tx| {
            for path in made {
                let add = "INSERT OR IGNORE INTO folders(project_path, path, changeset) VALUES(?1, ?2, ?3)";
                tx.prepare_cached(add)?.execute((project, path, changeset))?;
            }
            for path in removed {
                tx.prepare_cached("DELETE FROM folders WHERE project_path = ?1 AND path = ?2")?
                    .execute([project, path])?;
            }
            Ok(())
        })
    }

    /// Returns the changeset with which nebula made a folder; none: it did not, or it is not known.
    pub fn folder_made_by(&self, project: &str, folder: &str) -> Result<Option<String>, Error> {
        let store = self.store();
        let query = "SELECT changeset FROM folders WHERE project_path = ?1 AND path = ?2";
        let found = store.conn.prepare_cached(query)?.query_row([project, folder], |row| row.get(0)).optional()?;
        Ok(found.flatten())
    }

    /// Returns the folders above a file that nebula made, innermost first, as far as there is no other between them.
    pub fn folders_made(&self, project: &str, path: &str) -> Result<Vec<String>, Error> {
        let store = self.store();
        let mut statement = store.conn.prepare_cached("SELECT 1 FROM folders WHERE project_path = ?1 AND path = ?2")?;
        let mut found = Vec::new();
        let mut rest = path;
        while let Some((folder, _)) = rest.rsplit_once('/') {
            if folder.is_empty() || !statement.exists([project, folder])? {
                break;
            }
            found.push(folder.to_string());
            rest = folder;
        }
        Ok(found)
    }
}
