//! Memory on a thread of its own: work goes in over a channel and is done in its order, answers come back.
//!
//! Whoever runs on an async worker uses [`MemoryHandle::post`], [`MemoryHandle::append`] and [`MemoryHandle::ask`],
//! none of which waits for the disk or for another program's lock on that worker. Blocking code asks with
//! [`MemoryHandle::ask_blocking`]; only what carries changes out gets at [`Memory`] itself, with [`MemoryHandle::sync`].

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

use super::options::WaitLimit;
use super::store::{PROVISIONAL, locks};
use super::{DatabaseNotice, Error, LAST_WAIT, Listener, Memory, NewMessage, NewSession, Options, Trouble, sessions};

/// A piece of work for the thread.
type Job = Box<dyn FnOnce(&Memory) + Send>;

/// The way to a [`Memory`] that runs on its own thread. Clones lead to the same one.
///
/// The thread ends with [`MemoryHandle::close`], or with the last clone, after everything that was posted.
#[derive(Clone)]
pub struct MemoryHandle(Arc<Shared>);

struct Shared {
    memory: Arc<OnceLock<Memory>>,
    /// The folder of the locks that live sessions hold.
    locks: PathBuf,
    limit: WaitLimit,
    listener: Arc<Mutex<Option<Arc<Listener>>>>,
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// The next provisional id of a message that is not stored yet.
    next: AtomicI64,
}

impl MemoryHandle {
    /// Opens memory on a new thread. The notices of [`Memory::open`] arrive as an answer; a locked database is waited
    /// for there, and the listener is notified of it.
    pub fn open(options: Options, listener: Listener) -> (MemoryHandle, oneshot::Receiver<Vec<DatabaseNotice>>) {
        let memory = Arc::new(OnceLock::new());
        let listener = Arc::new(Mutex::new(Some(Arc::new(listener))));
        let (jobs, work) = mpsc::channel();
        let (opened, notices) = oneshot::channel();
        let (locks, limit) = (options.locks.clone(), options.limit.clone());
        let (own, hears) = (Arc::clone(&memory), Arc::clone(&listener));
        let life = move || {
            let tell: Listener = Box::new(move |notice| {
                let listener = hears.lock().unwrap_or_else(PoisonError::into_inner).clone();
                if let Some(listener) = listener {
                    listener(notice);
                }
            });
            let opening = catch_unwind(AssertUnwindSafe(|| Memory::open_telling(options, tell)));
            let (memory, notices) = opening.unwrap_or_else(|_| Memory::open(Options::nowhere()));
            let memory = own.get_or_init(|| memory);
            let _ = opened.send(notices);
            run(memory, &work);
        };
        let thread = std::thread::Builder::new().name("memory".into()).spawn(life).ok();
        if thread.is_none() {
            memory.get_or_init(|| Memory::open(Options::nowhere()).0);
        }
        let (jobs, thread) = (Mutex::new(Some(jobs)), Mutex::new(thread));
        let next = AtomicI64::new(PROVISIONAL);
        (MemoryHandle(Arc::new(Shared { memory, locks, limit, listener, jobs, thread, next })), notices)
    }

    /// Has `work` done after everything that was posted before. An error or a panic reaches the listener as
    /// [`DatabaseNotice::Failed`].
    pub fn post(&self, work: impl FnOnce(&Memory) -> Result<(), Error> + Send + 'static) {
        self.post_job(Box::new(move |memory| {
            if let Err(error) = guarded(memory, work) {
                memory.report(&error);
            }
        }));
    }

    /// Stores a message at the end of a session, without waiting. The id stands for it from now on in every request to
    /// this handle; messages read back carry the id of the database.
    pub fn append(&self, session: &str, message: NewMessage) -> i64 {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let session = session.to_string();
        self.post(move |memory| memory.append_as(id, &session, &message));
        id
    }

    /// Begins a session and takes it, without waiting. It is listed once it has a message.
    pub fn create(&self, new: NewSession) -> String {
        let id = sessions::new_id();
        let own = id.clone();
        self.post(move |memory| memory.create_as(&own, &new));
        id
    }

    /// Returns the answer to `work`, which is done after everything that was posted before. Dropping the future gives
    /// up the answer, not the work.
    ///
    /// # Errors
    /// Those of `work`; [`Error::Panicked`] when it panicked, [`Error::Stopped`] when the thread is gone.
    pub async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Memory) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (answer, answered) = oneshot::channel();
        self.post_job(Box::new(move |memory| drop(answer.send(guarded(memory, work)))));
        answered.await.unwrap_or(Err(Error::Stopped))
    }

    /// Returns the answer to `work` as [`MemoryHandle::ask`] does. For blocking code alone, and never for work of this
    /// thread itself: it waits for the disk and for locks.
    ///
    /// # Errors
    /// As [`MemoryHandle::ask`].
    pub fn ask_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Memory) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (answer, answered) = mpsc::channel();
        self.post_job(Box::new(move |memory| drop(answer.send(guarded(memory, work)))));
        answered.recv().unwrap_or(Err(Error::Stopped))
    }

    /// Waits until everything that was posted is done.
    pub async fn flushed(&self) {
        let _ = self.ask(|_| Ok(())).await;
    }

    /// Returns memory itself, once everything that was posted is done, for changes on their way to the disk. For
    /// blocking code alone: it waits for the disk and for locks.
    pub fn sync(&self) -> &Memory {
        let (done, wait) = mpsc::channel();
        self.post_job(Box::new(move |_| {
            let _ = done.send(());
        }));
        let _ = wait.recv();
        // Where the program ends, the thread may be opening it still.
        self.0.memory.wait()
    }

    /// Handles an error of a read: where it says that the file is damaged, the next start reads all of it.
    pub fn suspect(&self, error: &Error) {
        if error.trouble() == Some(Trouble::Corrupt) {
            self.post(|memory| {
                memory.suspect_damage();
                Ok(())
            });
        }
    }

    /// Returns why memory lives in RAM at present; `None` while the file is written, and while it is being opened.
    /// Never waits.
    pub fn banner(&self) -> Option<Trouble> {
        self.0.memory.get().and_then(Memory::banner)
    }

    /// Returns whether a process, this one or another, has the session open. Looks at its lock alone.
    pub fn in_use(&self, id: &str) -> bool {
        locks::is_held(&self.0.locks, id)
    }

    /// Sets the listener to notify from now on.
    pub fn listen(&self, listener: Listener) {
        *self.0.listener.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(listener));
    }

    /// Ends every wait for another program's lock soon: the program is about to end.
    pub fn end_soon(&self) {
        self.0.limit.set(LAST_WAIT);
    }

    /// Ends every wait for another program's lock now.
    pub fn end_waits(&self) {
        self.0.limit.set(Duration::ZERO);
    }

    /// Does what was posted, tries once more to write to the file what is only in RAM, and ends the thread. For
    /// blocking code. Work posted later is done by the poster itself.
    pub fn close(&self) {
        self.end_soon();
        self.post(|memory| {
            if memory.banner().is_some() {
                // The person was notified already that it is only in RAM.
                let _ = memory.reconnect_now();
            }
            // The store itself may be dropped while the process exits, which would end the copy in its middle each time.
            memory.store().shorten_log();
            Ok(())
        });
        self.0.end();
    }

    fn post_job(&self, job: Job) {
        let jobs = self.0.jobs.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let left = match jobs {
            Some(jobs) => jobs.send(job).err().map(|mpsc::SendError(job)| job),
            None => Some(job),
        };
        if let Some(job) = left {
            job(self.0.memory.wait());
        }
    }
}

impl Shared {
    fn end(&self) {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread
            && thread.thread().id() != std::thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.end();
    }
}

/// Does one piece of work. A panic loses it, not the thread: a transaction it left open was rolled back.
fn guarded<T>(memory: &Memory, work: impl FnOnce(&Memory) -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(|| work(memory))).unwrap_or(Err(Error::Panicked))
}

/// The time without work after which memory indexes what was said.
const IDLE: Duration = Duration::from_secs(1);

/// Does the work in its order until every handle is dropped. While memory lives in RAM for a temporary cause, the file
/// is tried again whenever there has been nothing else to do for a while; else what was said is indexed then, once.
fn run(memory: &Memory, work: &mpsc::Receiver<Job>) {
    let mut indexed = true;
    loop {
        let passes = matches!(memory.banner(), Some(Trouble::Locked | Trouble::Full));
        let job = match (passes, indexed) {
            (true, _) => work.recv_timeout(memory.options.retry),
            (false, false) => work.recv_timeout(IDLE),
            (false, true) => work.recv().map_err(Into::into),
        };
        match job {
            Ok(job) => {
                indexed = false;
                job(memory);
            }
            Err(RecvTimeoutError::Timeout) if passes => {
                let retried = guarded(memory, |memory| {
                    memory.retry_now();
                    Ok(())
                });
                if let Err(error) = retried {
                    memory.report(&error);
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                indexed = true;
                if let Err(error) = guarded(memory, Memory::index) {
                    memory.report(&error);
                }
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{ChangesetCause, MessageMeta, StoredRole, UsageBeside, UsageBy};
    use std::path::Path;

    /// A time limit that is longer than any of these tests takes on a busy machine.
    const LONG: Duration = Duration::from_secs(120);

    struct World {
        dir: tempfile::TempDir,
        notice_queue: mpsc::Receiver<DatabaseNotice>,
        tell: mpsc::Sender<DatabaseNotice>,
    }

    impl World {
        fn new() -> Self {
            let dir = tempfile::tempdir().expect("a folder");
            drop(Memory::open(Options::in_folder(dir.path())));
            let (tell, notice_queue) = mpsc::channel();
            World { dir, notice_queue, tell }
        }

        fn open(&self, wait: Duration) -> MemoryHandle {
            let options = Options { wait, retry: Duration::from_millis(1), ..Options::in_folder(self.dir.path()) };
            let tell = Mutex::new(self.tell.clone());
            let listener: Listener = Box::new(move |notice| {
                let _ = tell.lock().expect("whole").send(notice);
            });
            MemoryHandle::open(options, listener).0
        }

        fn heard(&self) -> DatabaseNotice {
            self.notice_queue.recv_timeout(LONG).expect("a notice")
        }

        /// Takes the lock of another program; dropping it lets go.
        fn lock(&self) -> rusqlite::Connection {
            let other = rusqlite::Connection::open(self.dir.path().join("memory.db")).expect("a database");
            other.execute_batch("BEGIN IMMEDIATE").expect("locked");
            other
        }
    }

    fn new() -> NewSession {
        NewSession { project: "/p".into(), model: "m".into(), ..NewSession::default() }
    }

    fn said(text: &str) -> NewMessage {
        NewMessage::text(StoredRole::User, text)
    }

    /// Returns what another program finds in the file.
    fn in_file(dir: &Path) -> Vec<String> {
        let other = rusqlite::Connection::open(dir.join("memory.db")).expect("a database");
        let mut select = other.prepare("SELECT content FROM messages ORDER BY id").expect("a table");
        select.query_map([], |row| row.get(0)).expect("rows").map(|row| row.expect("text")).collect()
    }

    #[tokio::test]
    async fn nobody_waits_for_a_lock_and_everything_is_stored_in_its_order() {
        let w = World::new();
        let memory = w.open(LONG);
        memory.flushed().await;
        let other = w.lock();
        let session = memory.create(new());
        let question = memory.append(&session, said("one"));
        let mut answer = NewMessage::text(StoredRole::Assistant, "");
        answer.meta = MessageMeta { turn: Some(question), ..MessageMeta::default() };
        let id = memory.append(&session, answer.clone());
        answer.content = Some("two".into());
        let own = session.clone();
        memory.post(move |m| m.replace(&own, id, &answer));
        assert_eq!(w.heard(), DatabaseNotice::Waiting);
        // Whoever gives up waiting for an answer takes nothing from the work.
        let own = session.clone();
        let asking = memory.ask(move |m| m.rename(&own, "a title"));
        assert!(tokio::time::timeout(Duration::ZERO, asking).await.is_err());
        assert_eq!((memory.banner(), in_file(w.dir.path())), (None, vec![]));
        drop(other);
        let own = session.clone();
        let stored = memory.ask(move |m| Ok((m.load(&own)?, m.get(&own)?.title))).await.expect("read");
        let texts: Vec<_> = stored.0.iter().map(|m| m.message.content.as_deref().unwrap_or_default()).collect();
        assert_eq!((texts, stored.1.as_deref()), (vec!["one", "two"], Some("a title")));
        assert_eq!(stored.0[1].message.meta.turn, Some(stored.0[0].id), "the id it was given stands for it");
        assert_eq!(in_file(w.dir.path()), ["one", "two"]);
    }

    #[tokio::test]
    async fn a_request_beside_a_turn_belongs_to_it_by_the_id_it_was_given() {
        let w = World::new();
        let memory = w.open(LONG);
        let session = memory.create(new());
        let turn = memory.append(&session, said("one"));
        let mut answer = NewMessage::text(StoredRole::Assistant, "two");
        answer.meta = MessageMeta { turn: Some(turn), output_tokens: Some(7), ..MessageMeta::default() };
        memory.append(&session, answer);
        let own = session.clone();
        let beside = UsageBeside { turn: Some(turn), output: 3, ..UsageBeside::default() };
        memory.post(move |m| m.add_usage_beside("/p", Some(&own), &beside));
        let rows = memory.ask(move |m| m.usage(None, Some(&session), UsageBy::Turn)).await.expect("read");
        assert_eq!(rows.iter().map(|row| (row.steps, row.output)).collect::<Vec<_>>(), [(2, 10)], "{rows:?}");
    }

    #[tokio::test]
    async fn what_is_in_ram_is_stored_as_soon_as_the_lock_goes() {
        let w = World::new();
        let memory = w.open(Duration::ZERO);
        memory.flushed().await;
        let other = w.lock();
        let session = memory.create(new());
        let id = memory.append(&session, said("one"));
        assert_eq!(w.heard(), DatabaseNotice::InMemoryOnly { trouble: Trouble::Locked });
        memory.flushed().await;
        assert_eq!(memory.banner(), Some(Trouble::Locked));
        drop(other);
        assert_eq!(w.heard(), DatabaseNotice::Back);
        assert_eq!(memory.banner(), None);
        // The id leads from before it was kept over the one in RAM to the one in the file.
        let own = session.clone();
        memory.post(move |m| m.replace(&own, id, &said("one, again")));
        let cause = ChangesetCause { session: Some(session.clone()), message: Some(id), ..ChangesetCause::default() };
        let record =
            memory.ask(move |m| m.archived("/p", &cause, "1", &[]).and_then(|()| m.changeset("/p", "1"))).await;
        let row = memory.ask(move |m| Ok(m.load(&session)?[0].id)).await.expect("read");
        assert_eq!(record.expect("read").expect("known").cause.message, Some(row));
        assert_eq!(in_file(w.dir.path()), ["one, again"]);
    }

    /// A copy that begins only while the process exits would be cut off in its middle each time.
    #[test]
    fn closing_copies_a_long_log_into_the_database() {
        let w = World::new();
        let memory = w.open(LONG);
        let session = memory.create(new());
        let text = "word ".repeat(100_000);
        memory.append(&session, said(&text));
        let another = memory.clone();
        memory.close();
        let log = std::fs::metadata(w.dir.path().join("memory.db-wal")).map_or(0, |log| log.len());
        assert_eq!((log, in_file(w.dir.path())), (0, vec![text]));
        drop(another);
    }

    #[test]
    fn closing_keeps_what_was_posted() {
        let w = World::new();
        let memory = w.open(LONG);
        let session = memory.create(new());
        for n in 0..200 {
            memory.append(&session, said(&n.to_string()));
        }
        memory.close();
        assert_eq!(in_file(w.dir.path()).len(), 200);
        // Later work is done all the same, by whoever posts it.
        memory.append(&session, said("late"));
        assert_eq!(memory.sync().load(&session).expect("read").len(), 201);
        drop(memory);
    }

    #[test]
    fn memory_that_is_closed_while_it_is_opened_is_the_same_one() {
        let dir = tempfile::tempdir().expect("a folder");
        let (tell, notice_queue) = mpsc::channel();
        let w = World { dir, notice_queue, tell };
        let other = rusqlite::Connection::open(w.dir.path().join("memory.db")).expect("a database");
        other.execute_batch("BEGIN EXCLUSIVE").expect("locked");
        let memory = w.open(LONG);
        assert_eq!(w.heard(), DatabaseNotice::Waiting);
        let closed = memory.clone();
        let closing = std::thread::spawn(move || closed.close());
        while memory.0.jobs.lock().expect("whole").is_some() {
            std::thread::yield_now();
        }
        memory.end_waits();
        assert_eq!(memory.sync().banner(), Some(Trouble::Locked));
        closing.join().expect("closed");
    }

    #[test]
    fn blocking_code_is_answered_by_the_thread_in_its_order() {
        let w = World::new();
        let memory = w.open(LONG);
        let session = memory.create(new());
        memory.append(&session, said("one"));
        let own = session.clone();
        let answer = move |m: &Memory| Ok((m.load(&own)?.len(), std::thread::current().name().map(String::from)));
        assert_eq!(memory.ask_blocking(answer).expect("read"), (1, Some("memory".into())));
        let error: Result<(), Error> = memory.ask_blocking(|_| Err(Error::NoMessage(7)));
        assert!(matches!(error, Err(Error::NoMessage(7))));
        let lost: Result<(), Error> = memory.ask_blocking(|_| panic!("a fault"));
        assert!(matches!(lost, Err(Error::Panicked)), "its thread goes on");
        memory.close();
        assert_eq!(memory.ask_blocking(move |m| Ok(m.load(&session)?.len())).expect("read"), 1, "also at the end");
    }

    #[tokio::test]
    async fn an_error_or_a_panic_in_one_piece_of_work_ends_no_other() {
        let w = World::new();
        let memory = w.open(LONG);
        memory.post(|m| m.keep_extra("none", 7, "{}"));
        assert!(matches!(w.heard(), DatabaseNotice::Failed { error } if error.contains("no message 7")));
        let lost: Result<(), Error> = memory.ask(|_| panic!("a fault")).await;
        assert!(matches!(lost, Err(Error::Panicked)), "its thread goes on");
        memory.post(|_| panic!("a fault"));
        assert!(matches!(w.heard(), DatabaseNotice::Failed { error } if error.contains("in nebula itself")));
        let session = memory.create(new());
        memory.append(&session, said("still here"));
        memory.flushed().await;
        assert_eq!(in_file(w.dir.path()), ["still here"]);
    }
}
