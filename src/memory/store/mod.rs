//! The connection: opening it, writing with patience, and continuing in RAM when the file cannot be written.

mod fallback;
pub(in crate::memory) mod locks;
pub(in crate::memory) mod schema;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use rustix::fs::StatVfsMountFlags;

pub(in crate::memory) use fallback::InMemoryFallback;
use locks::Hold;

use super::files::{beside, in_the_way};
use super::options::NOWHERE;
use super::{DatabaseNotice, Error, Listener, Options, Trouble};
use crate::text::time::now as now_ms;

/// The safety that a commit must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::memory) enum Safety {
    /// Safe against the process being killed.
    Normal,
    /// Safe against power loss too.
    Full,
}

/// The first provisional id of a message that is not stored yet: above those of any file and of those made in RAM.
pub(in crate::memory) const PROVISIONAL: i64 = 1 << 60;

/// The time SQLite itself waits for a lock.
const FIRST_WAIT: Duration = Duration::from_millis(100);

/// The wait after which the person is told of it: programs that start together hold each other up for a moment.
const TOLD_AFTER: Duration = Duration::from_millis(500);

/// The open database, on disk or, meanwhile, in RAM.
pub(in crate::memory) struct Store {
    /// The connection for everything that is read and written.
    pub(in crate::memory) conn: Connection,
    /// Set while `conn` is in RAM because the file cannot be used.
    pub(in crate::memory) fallback: Option<InMemoryFallback>,
    /// Locks on the sessions this process has.
    pub(in crate::memory) holds: HashMap<String, Hold>,
    /// Sessions this process has without a lock, which could not be had: memory lives in RAM meanwhile.
    pub(in crate::memory) unlocked: HashSet<String>,
    /// Ids given out while in RAM, and what they are in the file.
    pub(in crate::memory) renamed: HashMap<i64, i64>,
    pub(in crate::memory) listener: Option<Listener>,
    /// The reason why `conn` is in RAM, readable without waiting for the store.
    pub(in crate::memory) banner: Arc<Mutex<Option<Trouble>>>,
    options: Options,
}

/// A log of changes that is no longer stays beside the database when it is closed: copying it in takes two flushes of
/// the disk, reading it at the next start next to nothing.
const SHORT_LOG: u64 = 256 << 10;

impl Drop for Store {
    fn drop(&mut self) {
        let log = fs::metadata(beside(&self.options.path, "-wal"));
        let short = self.fallback.is_none() && log.is_ok_and(|log| log.len() <= SHORT_LOG);
        // Where it cannot be set the log is copied in.
        let _ = self.conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, short);
    }
}

impl Store {
    /// Copies a log that is no longer short into the database. Where another program reads, it stays as it is.
    pub(in crate::memory) fn shorten_log(&self) {
        let log = fs::metadata(beside(&self.options.path, "-wal"));
        if self.fallback.is_none() && log.is_ok_and(|log| log.len() > SHORT_LOG) {
            let _ = self.conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
    }

    pub(in crate::memory) fn open(options: &Options, listener: Option<Listener>) -> (Store, Vec<DatabaseNotice>) {
        let (conn, fallback, notices) = match open_file(options, listener.as_ref()) {
            Ok((conn, notices)) => (conn, None, notices),
            Err(error) => {
                let trouble = trouble_of(&error, &options.path).unwrap_or(Trouble::Io);
                let (conn, fallback) = InMemoryFallback::begin(&options.path, trouble);
                (conn, Some(fallback), vec![DatabaseNotice::InMemoryOnly { trouble }])
            }
        };
        let (holds, unlocked, renamed) = (HashMap::new(), HashSet::new(), HashMap::new());
        let banner = Arc::default();
        let store = Store { conn, fallback, holds, unlocked, renamed, listener, banner, options: options.clone() };
        store.tell_trouble();
        (store, notices)
    }

    pub(in crate::memory) fn trouble(&self) -> Option<Trouble> {
        self.fallback.as_ref().map(|s| s.trouble)
    }

    pub(in crate::memory) fn writable(&self) -> Result<(), Error> {
        match self.trouble() {
            Some(trouble) => Err(Error::unusable(trouble, &self.options.path)),
            None => Ok(()),
        }
    }

    pub(in crate::memory) fn readable(&self) -> Result<(), Error> {
        if self.fallback.as_ref().is_some_and(|fallback| fallback.reads_disk) { Ok(()) } else { self.writable() }
    }

    /// Returns the error of a session that does not exist.
    pub(in crate::memory) fn no_session(&self, id: &str) -> Error {
        self.readable().err().unwrap_or_else(|| Error::NoSession(id.to_string()))
    }

    /// Puts the trouble up where it can be read without the store.
    fn tell_trouble(&self) {
        *self.banner.lock().unwrap_or_else(PoisonError::into_inner) = self.trouble();
    }

    /// Returns the id a message or pending changeset has now.
    pub(in crate::memory) fn id(&self, id: i64) -> i64 {
        // From the provisional id to the one in RAM, and from there to the one in the file.
        std::iter::successors(Some(id), |id| self.renamed.get(id).copied()).last().unwrap_or(id)
    }

    /// Returns the id a message has now; none for one that could not be kept.
    pub(in crate::memory) fn stored_id(&self, id: i64) -> Option<i64> {
        Some(self.id(id)).filter(|id| *id < PROVISIONAL)
    }

    /// Makes the rows of a session readable from `conn`. Only needed while in RAM, where they are loaded at first use.
    pub(in crate::memory) fn fetch(&mut self, session: &str) -> Result<(), Error> {
        match &mut self.fallback {
            Some(fallback) => fallback.fetch(&self.conn, session),
            None => Ok(()),
        }
    }

    /// Runs a change and commits it. `f` may run more than once: when the file turns out to be unusable, it runs
    /// again in RAM.
    pub(in crate::memory) fn write<T>(
        &mut self,
        safety: Safety,
        session: Option<&str>,
        f: impl Fn(&Transaction<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.fallback.is_none() {
            let error = match self.write_file(safety, &f) {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            let Some(trouble) = trouble_of(&error, &self.options.path) else { return Err(error) };
            self.go_on_in_ram(trouble);
        }
        if let (Some(fallback), Some(session)) = (&mut self.fallback, session) {
            fallback.touch(&self.conn, session)?;
        }
        transact(&mut self.conn, &f)
    }

    /// Writes to the file, waiting for other writers as long as agreed, and saying so once.
    fn write_file<T>(&mut self, safety: Safety, f: &impl Fn(&Transaction<'_>) -> Result<T, Error>) -> Result<T, Error> {
        if safety == Safety::Full {
            self.conn.pragma_update(None, "synchronous", "FULL")?;
        }
        let listener = &self.listener;
        let conn = &mut self.conn;
        let result = patiently(&self.options, listener.as_ref(), || transact(conn, f));
        if safety == Safety::Full {
            self.conn.pragma_update(None, "synchronous", "NORMAL")?;
        }
        result
    }

    pub(in crate::memory) fn go_on_in_ram(&mut self, trouble: Trouble) {
        if trouble == Trouble::Corrupt {
            suspect(&self.options.path);
        }
        let (conn, fallback) = InMemoryFallback::begin(&self.options.path, trouble);
        self.conn = conn;
        self.fallback = Some(fallback);
        self.tell_trouble();
        if let Some(listener) = &self.listener {
            listener(DatabaseNotice::InMemoryOnly { trouble });
        }
    }

    pub(in crate::memory) fn reconnect(&mut self, options: &Options) -> Result<Vec<DatabaseNotice>, Error> {
        let Some(fallback) = &self.fallback else { return Ok(Vec::new()) };
        // A session that another nebula took meanwhile stays in RAM here.
        for id in self.unlocked.clone() {
            let hold = Hold::take(&options.locks, &id)?.ok_or_else(|| Error::InUse(id.clone()))?;
            self.holds.insert(id.clone(), hold);
            self.unlocked.remove(&id);
        }
        let (mut file, notices) = match fallback.trouble {
            // What looked damaged from one connection is judged again from a fresh one, so that a database another
            // nebula has replaced meanwhile is not moved aside.
            Trouble::Corrupt => open_checked(options, None)?,
            _ => open_file(options, None)?,
        };
        let renamed = patiently(options, None, || fallback.carry_over(&self.conn, &mut file))?;
        self.renamed.extend(renamed);
        self.conn = file;
        self.fallback = None;
        self.tell_trouble();
        Ok(notices)
    }
}

/// Returns what an error says of the database as a whole. A full disk is known as one, whatever SQLite made of it: for
/// its shared memory it tells only that reading or writing failed.
fn trouble_of(error: &Error, path: &Path) -> Option<Trouble> {
    let cannot_open = matches!(error, Error::Sql(e) if e.sqlite_error_code() == Some(ErrorCode::CannotOpen));
    match error.trouble()? {
        _ if path.starts_with(NOWHERE) => Some(Trouble::NoHome),
        Trouble::Io if is_full(path) => Some(Trouble::Full),
        _ if cannot_open && path.symlink_metadata().is_ok_and(|m| !m.is_file()) => Some(Trouble::InTheWay),
        Trouble::Denied if cannot_open && is_full(path) => Some(Trouble::Full),
        other => Some(other),
    }
}

/// Returns whether the file system a file is to lie in takes no more than a few blocks.
fn is_full(path: &Path) -> bool {
    /// SQLite makes its shared memory in pieces of 32 KiB, and needs a page or two more.
    const ENOUGH: u64 = 64 << 10;
    let folder = path.ancestors().skip(1).find(|p| p.is_dir());
    let room = folder.and_then(|f| rustix::fs::statvfs(f).ok());
    room.is_some_and(|s| {
        // A file system that is only read has no room either, but that is another trouble.
        !s.f_flag.contains(StatVfsMountFlags::RDONLY) && s.f_bavail.saturating_mul(s.f_frsize) < ENOUGH
    })
}

/// Runs one transaction that holds the write lock from its beginning.
fn transact<T>(conn: &mut Connection, f: &impl Fn(&Transaction<'_>) -> Result<T, Error>) -> Result<T, Error> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let value = f(&tx)?;
    tx.commit()?;
    Ok(value)
}

/// Tries until it works, fails for another reason than a lock, or the wait has elapsed; notifies the listener once where
/// it waits for long.
fn patiently<T>(
    options: &Options,
    mut listener: Option<&Listener>,
    mut f: impl FnMut() -> Result<T, Error>,
) -> Result<T, Error> {
    let (begun, wait) = (Instant::now(), options.wait);
    loop {
        match f() {
            Err(e) if e.trouble() == Some(Trouble::Locked) && begun.elapsed() < wait && !options.limit.is_over() => {
                if let Some(listener) = listener.take_if(|_| begun.elapsed() >= TOLD_AFTER.min(wait / 2)) {
                    listener(DatabaseNotice::Waiting);
                }
                // SQLite tells nobody that a lock is free; this is memory's own thread, where nothing else waits.
                std::thread::sleep(Duration::from_millis(10));
            }
            result => return result,
        }
    }
}

/// Records beside the database that it looked damaged: the next program that opens it reads all of it.
pub(in crate::memory) fn suspect(path: &Path) {
    // Where even that cannot be written, the damage is noticed again.
    let _ = fs::write(beside(path, SUSPECT), "");
}

/// The suffix of such a record's name.
const SUSPECT: &str = ".suspect";

/// Opens and migrates the file; a damaged one is moved aside and a new one begun. One that looked damaged before is
/// read whole first.
fn open_file(options: &Options, listener: Option<&Listener>) -> Result<(Connection, Vec<DatabaseNotice>), Error> {
    if fs::remove_file(beside(&options.path, SUSPECT)).is_ok() {
        return open_checked(options, listener);
    }
    open_quickly(options, listener)
}

fn open_quickly(options: &Options, listener: Option<&Listener>) -> Result<(Connection, Vec<DatabaseNotice>), Error> {
    make_folder(&options.path)?;
    let open = || patiently(options, listener, || connect(&options.path, options.wait));
    match open() {
        Err(e) if e.trouble() == Some(Trouble::Corrupt) => {
            let to = move_aside(&options.path)?;
            Ok((open()?, vec![DatabaseNotice::MovedAside { to }]))
        }
        result => Ok((result?, Vec::new())),
    }
}

/// Opens the file, and reads all of it to see whether it is damaged.
fn open_checked(options: &Options, listener: Option<&Listener>) -> Result<(Connection, Vec<DatabaseNotice>), Error> {
    let (conn, notices) = open_quickly(options, listener)?;
    let verdict = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    match verdict {
        Ok(word) if word == "ok" => Ok((conn, notices)),
        Ok(_) | Err(_) => {
            drop(conn);
            let to = move_aside(&options.path)?;
            Ok((connect(&options.path, options.wait)?, vec![DatabaseNotice::MovedAside { to }]))
        }
    }
}

fn connect(path: &Path, wait: Duration) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    check_kind(path)?;
    let mut conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(FIRST_WAIT.min(wait))?;
    // A statement is planned once, not anew with every value that is bound to it.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.set_prepared_statement_cache_capacity(64);
    // Setting the journal takes a lock; a file that is in WAL already stays in it.
    let journal: String = conn.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if !journal.eq_ignore_ascii_case("wal") {
        conn.pragma_update(None, "journal_mode", "WAL")?;
        restrict(path);
    }
    conn.pragma_update(None, "synchronous", "NORMAL")?;
    schema::migrate(&mut conn)?;
    if conn.is_readonly("main")? {
        return Err(read_only());
    }
    // Reads the first and last leaves of the two tables: damage there shows now rather than in the middle of a session.
    conn.query_row("SELECT (SELECT max(id) FROM messages), (SELECT min(id) FROM sessions)", [], |_| Ok(()))?;
    Ok(conn)
}

fn read_only() -> Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_READONLY);
    Error::Sql(rusqlite::Error::SqliteFailure(code, Some("it is read-only".into())))
}

/// Refuses a database that is no regular file, or beside which something else lies in the place of what belongs to it:
/// SQLite would wait for the other end of a pipe. A link to a file is the person's own.
pub(in crate::memory) fn check_kind(path: &Path) -> Result<(), Error> {
    match in_the_way(path) {
        Some(_) => Err(Error::unusable(Trouble::InTheWay, path)),
        None => Ok(()),
    }
}

/// Makes the folder a database is to lie in, for the person alone.
pub(in crate::memory) fn make_folder(path: &Path) -> Result<(), Error> {
    let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty() && !f.is_dir()) else { return Ok(()) };
    let fail = |source: std::io::Error| match source.kind() {
        ErrorKind::NotFound => Error::unusable(Trouble::NoHome, path),
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => Error::unusable(Trouble::InTheWay, path),
        _ => Error::File { path: folder.to_path_buf(), source },
    };
    fs::create_dir_all(folder).map_err(fail)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).map_err(fail)?;
    }
    Ok(())
}

/// Restricts the file to its owner: conversations are private.
pub(in crate::memory) fn restrict(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o600));
    }
    #[cfg(not(unix))]
    let _ = path;
}

/// Renames a damaged database and what belongs to it; gives its new name.
fn move_aside(path: &Path) -> Result<PathBuf, Error> {
    let beside = |suffix: &str| beside(path, suffix);
    let mut stamp = now_ms();
    while beside(&format!(".damaged-{stamp}")).exists() {
        stamp += 1;
    }
    let to = beside(&format!(".damaged-{stamp}"));
    fs::rename(path, &to).map_err(|source| Error::File { path: path.to_path_buf(), source })?;
    for part in ["-wal", "-shm"] {
        let _ = fs::rename(beside(part), beside(&format!(".damaged-{stamp}{part}")));
    }
    Ok(to)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_known_whatever_sqlite_made_of_it() {
        let failed = |code| Error::Sql(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None));
        let dir = tempfile::tempdir().expect("a folder");
        let roomy = dir.path().join("memory.db");
        // A file system without a single block.
        let full = Path::new("/proc/memory.db");
        let io = failed(rusqlite::ffi::SQLITE_IOERR_SHMSIZE);
        assert_eq!(trouble_of(&io, full), Some(Trouble::Full));
        assert_eq!(trouble_of(&io, &roomy), Some(Trouble::Io));
        assert_eq!(trouble_of(&failed(rusqlite::ffi::SQLITE_CANTOPEN), full), Some(Trouble::Full));
        assert_eq!(trouble_of(&failed(rusqlite::ffi::SQLITE_READONLY), full), Some(Trouble::ReadOnly));
        assert_eq!(trouble_of(&Error::NoMessage(1), full), None);
    }
}
