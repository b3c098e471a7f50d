//! Projects that were moved or copied: memory names a project by its path.

use rusqlite::{OptionalExtension, params};

use super::store::Safety;
use super::{Error, Memory};

/// The tables whose rows are of a project by their own column.
const OF_PROJECTS: &[&str] =
    &["sessions", "changesets", "written", "after_states", "folders", "reviews", "archives", "usage_beside"];

/// The tables that a copied project takes over beside its changesets, each with its other columns.
const COPIED: &[(&str, &str)] = &[
    ("written", "path, sha256, bytes, at_ms, pending, had_before, before_sha256, before_bytes, before_ms"),
    ("after_states", "path, sha256, bytes, at_ms"),
    ("folders", "path, changeset"),
    ("reviews", "changeset, decision, reason, at_ms"),
];

/// The columns of a changeset that a copy takes over. Its session and its turn stay where they were.
const CHANGESET: &str = "id, kind, title, state, at_ms, added, removed, approved, merged";
/// The columns of a changeset's file.
const FILE: &str = "path, version, absent, sha256, added, removed, after_sha256";

impl Memory {
    /// Returns whether one of these changesets of a project is known, or what the file knows cannot be told now.
    pub fn knows_changesets(&self, project: &str, changesets: &[String]) -> Result<bool, Error> {
        let store = self.store();
        let mut known = store.conn.prepare_cached("SELECT 1 FROM changesets WHERE project_path = ?1 AND id = ?2")?;
        for id in changesets {
            if known.exists([project, id.as_str()])? {
                return Ok(true);
            }
        }
        Ok(store.fallback.is_some())
    }

    /// Returns the path of the project that one of these changesets is known of.
    pub fn project_of(&self, changesets: &[String]) -> Result<Option<String>, Error> {
        let store = self.store();
        let mut of = store.conn.prepare_cached("SELECT project_path FROM changesets WHERE id = ?1 ORDER BY n DESC")?;
        for id in changesets {
            if let Some(found) = of.query_row([id], |row| row.get(0)).optional()? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Lets all that is known of one path of a project be known of another one, to which it was moved.
    pub fn move_project(&self, from: &str, to: &str) -> Result<(), Error> {
        self.store().write(Safety::Normal, None, |tx| {
            for table in OF_PROJECTS {
                let sql = format!("UPDATE OR IGNORE {table} SET project_path = ?2 WHERE project_path = ?1");
                tx.execute(&sql, [from, to])?;
            }
            Ok(())
        })
    }

    /// Lets what is known of these changesets, and of what nebula wrote, be known of a copy of a project too.
    pub fn copy_project(&self, from: &str, to: &str, changesets: &[String]) -> Result<(), Error> {
        let changeset = format!(
            "INSERT OR IGNORE INTO changesets(project_path, {CHANGESET}) SELECT ?2, {CHANGESET} FROM changesets
             WHERE project_path = ?1 AND id = ?3"
        );
        let files = format!(
            "INSERT INTO changeset_files(n, {FILE}) SELECT ?3, {FILE} FROM changeset_files
             WHERE n = (SELECT n FROM changesets WHERE project_path = ?1 AND id = ?2)"
        );
        self.store().write(Safety::Normal, None, |tx| {
            for id in changesets {
                if tx.prepare_cached(&changeset)?.execute([from, to, id])? > 0 {
                    let n = tx.last_insert_rowid();
                    tx.prepare_cached(&files)?.execute(params![from, id, n])?;
                }
            }
            for (table, columns) in COPIED {
                let sql = format!(
                    "INSERT OR IGNORE INTO {table}(project_path, {columns}) SELECT ?2, {columns} FROM {table}
                     WHERE project_path = ?1"
                );
                tx.execute(&sql, [from, to])?;
            }
            Ok(())
        })
    }
}
