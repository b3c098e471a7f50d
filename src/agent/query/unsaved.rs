//! Sessions that memory's file does not have when the agent ends: each is kept as a document beside it.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::export;
use crate::agent::session::records::read_unsent;
use crate::memory::{self, Memory, MemoryHandle};
use crate::protocol::ExportFormat;

/// A session that memory's file does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsavedSession {
    /// Its id.
    pub id: String,
    /// The reason, in words.
    pub why: String,
    /// The document that holds it; or the reason why there is none.
    pub kept: Result<PathBuf, String>,
}

/// Keeps each session that is only in RAM as a document. For blocking code, once memory was closed.
pub fn keep(memory: &MemoryHandle) -> Vec<UnsavedSession> {
    let Some(trouble) = memory.banner() else { return Vec::new() };
    let ids = memory.ask_blocking(|memory| Ok(memory.unsaved_sessions())).unwrap_or_default();
    let keep_one = |id: String| {
        let own = id.clone();
        let kept = memory.ask_blocking(move |memory| match has_content(memory, &own) {
            true => memory.write_document(&own, &document(memory, &own)?).map(Some),
            false => Ok(None),
        });
        let kept = kept.map_err(|error| error.to_string()).transpose()?;
        Some(UnsavedSession { id, why: trouble.word().into(), kept })
    };
    ids.into_iter().filter_map(keep_one).collect()
}

/// Returns whether anything was said in it. One that was deleted meanwhile has nothing.
fn has_content(memory: &Memory, id: &str) -> bool {
    memory.get(id).is_ok() && memory.load(id).is_ok_and(|messages| !messages.is_empty())
}

/// Returns a session as it is exported, with what was typed and not sent.
fn document(memory: &Memory, id: &str) -> Result<String, memory::Error> {
    let text = export::document(memory, id, ExportFormat::Json)?;
    let Some(unsent) = read_unsent(memory.unsent(id)?.as_deref()) else { return Ok(text) };
    let Ok(mut document) = serde_json::from_str::<Value>(&text) else { return Ok(text) };
    document["unsent"] = json!({"queue": unsent.queue, "draft": unsent.draft});
    Ok(format!("{document:#}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::session::records::write_unsent;
    use crate::memory::{NewMessage, NewSession, Options, StoredRole, Trouble};
    use crate::protocol::Unsent;
    use std::time::Duration;

    /// Opens memory in a folder whose database another program has locked for ever.
    fn locked() -> (tempfile::TempDir, rusqlite::Connection, MemoryHandle) {
        let dir = tempfile::tempdir().expect("a folder");
        drop(Memory::open(Options::in_folder(dir.path())));
        let other = rusqlite::Connection::open(dir.path().join("memory.db")).expect("a database");
        other.execute_batch("BEGIN IMMEDIATE").expect("locked");
        let options = Options { wait: Duration::ZERO, ..Options::in_folder(dir.path()) };
        let (memory, _) = MemoryHandle::open(options, Box::new(|_| {}));
        (dir, other, memory)
    }

    #[test]
    fn a_session_that_is_only_in_ram_is_kept_as_a_document() {
        let (dir, other, memory) = locked();
        let session = memory.create(NewSession { project: "/p".into(), ..NewSession::default() });
        memory.append(&session, NewMessage::text(StoredRole::User, "count to three"));
        let unsent = write_unsent(Unsent { queue: Vec::new(), draft: "and to four".into() });
        let own = session.clone();
        memory.post(move |memory| memory.set_unsent(&own, &unsent));
        // A session in which nothing was said leaves nothing.
        memory.create(NewSession::default());
        memory.end_waits();
        memory.close();
        let unsaved = keep(&memory);
        let [one] = unsaved.as_slice() else { panic!("{unsaved:?}") };
        assert_eq!((one.id.as_str(), one.why.as_str()), (session.as_str(), Trouble::Locked.word()));
        let path = one.kept.as_ref().expect("a document");
        assert_eq!(path.parent(), Some(dir.path()));
        let text = std::fs::read_to_string(path).expect("text");
        assert!(text.contains("count to three") && text.contains("and to four"), "{text}");
        // A document that is there already stays as it is.
        let again = keep(&memory)[0].kept.clone().expect("a document");
        assert!(again != *path && path.exists(), "{}", again.display());
        drop(other);
    }

    #[test]
    fn a_session_that_is_saved_in_the_end_leaves_no_document() {
        let (dir, other, memory) = locked();
        let session = memory.create(NewSession::default());
        memory.append(&session, NewMessage::text(StoredRole::User, "hi"));
        memory.ask_blocking(|_| Ok(())).expect("done");
        assert_eq!(memory.banner(), Some(Trouble::Locked));
        drop(other);
        memory.close();
        assert_eq!(keep(&memory), []);
        let mut names = std::fs::read_dir(dir.path()).expect("a folder").flatten();
        assert!(names.all(|entry| !entry.file_name().to_string_lossy().ends_with(".json")));
    }
}
