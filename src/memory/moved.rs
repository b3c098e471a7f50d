//! Projects that were moved or copied: memory names a project by its path.

use rusqlite::{OptionalExtension, Transaction, params};

use super::store::Safety;
use super::{Error, Memory};

/// The tables whose rows are of a project by their own column.
const OF_PROJECTS: &[&str] =
    &["sessions", "changesets", "written", "after_states", "folders", "reviews", "archives", "usage_beside"];

/// The tables whose rows are of a project and of a path in it.
const OF_PATHS: &[&str] = &["written", "after_states", "folders"];

/// The beginning of what a project's path is followed by in the name of one that stood there before another was moved onto it.
const BEFORE: &str = "/.~";

/// The tables that a copied project takes over beside its changesets, each with its other columns.
const COPIED: &[(&str, &str)] = &[
    ("written", "path, sha256, bytes, at_ms, pending, had_before, before_sha256, before_bytes, before_ms"),
    ("after_states", "path, sha256, bytes, at_ms"),
    ("folders", "path, changeset"),
    ("reviews", "changeset, decision, reason, at_ms"),
];

/// Takes the writes out of a copy of a project at the paths that the project itself changed again since it was copied. A
/// write of the project itself that is under way may be another nebula's.
const FORGET_LATER: &str = "DELETE FROM written WHERE project_path = ?2 AND EXISTS (
       SELECT 1 FROM changeset_files f JOIN changesets c ON c.n = f.n
       WHERE f.path = written.path AND c.project_path = ?1 AND written.at_ms >= c.at_ms
         AND (c.id IS NULL AND ?1 <> ?2 OR c.id NOT IN (SELECT value FROM json_each(?3))))";

/// Puts in their place what the last changeset of both left there.
const LAST_OF_BOTH: &str = "INSERT OR IGNORE INTO written(project_path, path, sha256, bytes, at_ms)
     SELECT ?1, f.path, nullif(f.after_sha256, x''), (
         SELECT bytes FROM after_states a WHERE a.project_path = ?1 AND a.path = f.path AND a.sha256 = f.after_sha256
       ), c.at_ms
     FROM changeset_files f JOIN changesets c ON c.n = f.n
     WHERE c.project_path = ?1 AND c.state = 'applied' AND f.after_sha256 IS NOT NULL
       AND c.id IN (SELECT value FROM json_each(?2)) AND NOT EXISTS (
         SELECT 1 FROM changeset_files g JOIN changesets d ON d.n = g.n
         WHERE g.path = f.path AND d.project_path = ?1 AND d.state = 'applied' AND d.id > c.id
           AND d.id IN (SELECT value FROM json_each(?2)))";

/// Takes the decisions out of a copy of a project that something was restored, where the project itself wrote that after it
/// was copied. That something was discarded shows again where it was.
const FORGET_RESTORED: &str = "DELETE FROM reviews WHERE project_path = ?2 AND decision <> 'keep' AND EXISTS (
       SELECT 1 FROM changesets c WHERE c.project_path = ?1 AND c.id NOT IN (SELECT value FROM json_each(?3))
         AND c.at_ms <= reviews.at_ms AND c.id > (
           SELECT max(id) FROM changesets d
           WHERE d.project_path = ?1 AND d.id IN (SELECT value FROM json_each(?3))))";

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

    /// Lets what is known of one path of a project be known of another one, to which it was moved with these changesets.
    /// `is_there`: another project may stand at the former path, which keeps what it has of its own.
    pub fn move_project(&self, from: &str, to: &str, changesets: &[String], is_there: bool) -> Result<(), Error> {
        let here = serde_json::json!(changesets).to_string();
        self.store().write(Safety::Normal, None, |tx| {
            set_aside(tx, to, &here)?;
            give_way(tx, from, to)?;
            take_over(tx, [from, to, here.as_str()], true)?;
            let mut others =
                tx.prepare_cached("SELECT 1 FROM changesets WHERE project_path = ?1 AND id IS NOT NULL")?;
            if is_there && others.exists([from])? {
                return Ok(());
            }
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
        let here = serde_json::json!(changesets).to_string();
        self.store().write(Safety::Normal, None, |tx| {
            set_aside(tx, to, &here)?;
            give_way(tx, from, to)?;
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
            // The project may have gone on since it was copied.
            let of_copy = "changeset NOT IN (SELECT value FROM json_each(?2))";
            for table in ["reviews", "folders"] {
                tx.execute(&format!("DELETE FROM {table} WHERE project_path = ?1 AND {of_copy}"), [to, here.as_str()])?;
            }
            forget_later(tx, [from, to, here.as_str()])?;
            Ok(())
        })
    }

    /// Returns the newest changeset that is known of a project.
    pub fn newest_changeset(&self, project: &str) -> Result<Option<String>, Error> {
        let sql = "SELECT max(id) FROM changesets WHERE project_path = ?1 AND state = 'applied'";
        Ok(self.store().conn.prepare_cached(sql)?.query_row([project], |row| row.get(0))?)
    }

    /// Lets what these changesets left be known of a project as what nebula wrote last: it was put back to an earlier state,
    /// with its archive, and knows nothing of the others. Returns whether that is new.
    pub fn put_back_project(&self, project: &str, changesets: &[String]) -> Result<bool, Error> {
        let here = serde_json::json!(changesets).to_string();
        self.store().write(Safety::Normal, None, |tx| forget_later(tx, [project, project, here.as_str()]))
    }
}

/// Puts what the last changeset of these left in the place of what a project wrote later. Returns whether it wrote any.
fn forget_later(tx: &Transaction<'_>, [from, to, here]: [&str; 3]) -> Result<bool, Error> {
    let is_new = tx.execute(FORGET_LATER, [from, to, here])? > 0;
    tx.execute(FORGET_RESTORED, [from, to, here])?;
    tx.execute(LAST_OF_BOTH, [to, here])?;
    Ok(is_new)
}

/// Returns the path of a project by the name that memory has for it: one that others were moved onto has a name of its own.
pub fn former_path(project: &str) -> &str {
    let aside = project.rsplit_once(BEFORE);
    let aside = aside.filter(|(_, number)| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()));
    aside.map_or(project, |(path, _)| path)
}

/// Lets what is known of other changesets at a path be known of a project of its own, which stood there before. They come
/// along if that project is met elsewhere.
fn set_aside(tx: &Transaction<'_>, project: &str, here: &str) -> Result<(), Error> {
    let others = "SELECT 1 FROM changesets WHERE project_path = ?1 AND id NOT IN (SELECT value FROM json_each(?2))";
    if !tx.prepare_cached(others)?.exists([project, here])? {
        return Ok(());
    }
    let mut known = tx.prepare_cached("SELECT 1 FROM changesets WHERE project_path = ?1")?;
    let mut at = 1;
    while known.exists([format!("{project}{BEFORE}{at}")])? {
        at += 1;
    }
    tx.execute("DELETE FROM archives WHERE project_path = ?1", [project])?;
    take_over(tx, [project, &format!("{project}{BEFORE}{at}"), here], false)
}

/// Deletes what is known of a project where more is known of the copy of it that takes its place.
fn give_way(tx: &Transaction<'_>, copy: &str, project: &str) -> Result<(), Error> {
    for (table, key) in [("written", "path"), ("folders", "path"), ("reviews", "changeset")] {
        let known = format!("{key} IN (SELECT {key} FROM {table} WHERE project_path = ?2)");
        tx.execute(&format!("DELETE FROM {table} WHERE project_path = ?1 AND {known}"), [project, copy])?;
    }
    Ok(())
}

/// Moves the changesets of these ids (or all but these) from one project to another, with the sessions that made no others
/// and with what is known of paths that no others changed.
fn take_over(tx: &Transaction<'_>, [from, to, ids]: [&str; 3], is_these: bool) -> Result<(), Error> {
    let not = if is_these { "" } else { "NOT" };
    for (table, id) in [("changesets", "id"), ("reviews", "changeset")] {
        let sql = format!(
            "UPDATE OR IGNORE {table} SET project_path = ?2
             WHERE project_path = ?1 AND {id} {not} IN (SELECT value FROM json_each(?3))"
        );
        tx.execute(&sql, [from, to, ids])?;
    }
    let of = |project: &str| {
        format!("SELECT 1 FROM changesets c WHERE c.project_path = {project} AND c.session_id = sessions.id")
    };
    let sql = format!(
        "UPDATE sessions SET project_path = ?2 WHERE project_path = ?1 AND EXISTS ({}) AND NOT EXISTS ({})",
        of("?2"),
        of("?1")
    );
    tx.execute(&sql, [from, to])?;
    let sql = "UPDATE usage_beside SET project_path = ?2
               WHERE project_path = ?1 AND session_id IN (SELECT id FROM sessions WHERE project_path = ?2)";
    tx.execute(sql, [from, to])?;
    for table in OF_PATHS {
        let of = |project: &str| {
            format!(
                "SELECT 1 FROM changeset_files f JOIN changesets c ON c.n = f.n
                 WHERE f.path = {table}.path AND c.project_path = {project}"
            )
        };
        let sql = format!(
            "UPDATE OR IGNORE {table} SET project_path = ?2
             WHERE project_path = ?1 AND EXISTS ({}) AND NOT EXISTS ({})",
            of("?2"),
            of("?1")
        );
        tx.execute(&sql, [from, to])?;
    }
    Ok(())
}
