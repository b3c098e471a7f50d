//! Calls that wait for the person: what they said so far about the calls of one command, and the calls that are
//! unanswered. A call that was decided about is looked at again from its beginning.

use std::collections::HashMap;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::call::{CallReply, Notification};
use super::sys;
use crate::proposal::acts_later;
use crate::shell::left;
use crate::shell::message::{Hold, HoldAnswer, HoldReason, HoldSettings, MadeConfig};
use crate::text::clean::clean_line;

/// The longest line of words of a process, in characters.
const LONGEST: usize = 200;

/// A call that would have to be decided about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldQuestion {
    /// The reason why it waits.
    pub reason: HoldReason,
    /// The path as it is listed, or the port.
    pub path: String,
    /// The size of the file in bytes, where there is one.
    pub bytes: Option<u64>,
    /// It may go on although its state is not kept.
    pub may_go_unkept: bool,
    /// The reason why its state cannot be kept.
    pub why: Option<String>,
}

impl HoldQuestion {
    /// Returns the question about a path or port, of which no more is known.
    pub fn new(reason: HoldReason, path: impl Into<String>) -> Self {
        HoldQuestion { reason, path: path.into(), bytes: None, may_go_unkept: false, why: None }
    }
}

/// The decisions of the person about the calls of one command.
#[derive(Debug, Default)]
pub struct Consents {
    settings: Option<HoldSettings>,
    said: HashMap<(HoldReason, String), HoldAnswer>,
    /// Reasons for which all calls may go on.
    all: Vec<HoldReason>,
}

/// The answer that is known for a call before anyone is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallConsent {
    /// The person decided so.
    Said(HoldAnswer),
    /// The person is to be asked.
    Ask,
    /// Nobody is asked about such calls.
    Unasked,
}

impl Consents {
    /// Creates the decisions of a command about whose calls nothing was said yet.
    pub fn new(settings: Option<HoldSettings>) -> Self {
        Consents { settings, ..Consents::default() }
    }

    /// Returns whether nobody is there who could let a call go on.
    pub fn is_unattended(&self) -> bool {
        self.settings.as_ref().is_some_and(|settings| settings.unattended)
    }

    /// Returns the configurations of repositories that earlier commands of the session made.
    pub fn made_configs(&self) -> Vec<MadeConfig> {
        self.settings.as_ref().map(|settings| settings.configs.clone()).unwrap_or_default()
    }

    /// Returns what holds for a call. That nobody answered holds once: the next call is asked about again.
    pub fn about(&mut self, reason: HoldReason, path: &str) -> CallConsent {
        let Some(settings) = &self.settings else { return CallConsent::Unasked };
        let is_later = reason == HoldReason::ActsLater;
        let is_named = match reason {
            HoldReason::ActsLater => settings.files.iter().any(|named| named == path || is_below(path, named)),
            HoldReason::Socket => settings.sockets.iter().any(|named| names(named, path)),
            HoldReason::Excluded => settings.excluded.iter().any(|named| named == path),
            _ => false,
        };
        let key = (reason, path.to_string());
        let said = self.said.get(&key).copied();
        if said == Some(HoldAnswer::Nobody) {
            self.said.remove(&key);
        }
        match said {
            Some(answer) => CallConsent::Said(answer),
            None if is_named || self.all.contains(&reason) => CallConsent::Said(HoldAnswer::Allow),
            None if is_later && !settings.later => CallConsent::Unasked,
            None => CallConsent::Ask,
        }
    }

    /// Returns whether what the person said decides about a call, also the next time.
    fn decides(&self, reason: HoldReason, path: &str) -> bool {
        let said = self.said.get(&(reason, path.to_string()));
        self.all.contains(&reason) || said.is_some_and(|answer| *answer != HoldAnswer::Nobody)
    }

    /// Takes a decision.
    pub(super) fn take(&mut self, (reason, path): (HoldReason, String), answer: HoldAnswer) {
        if answer == HoldAnswer::AllowAll {
            self.all.push(reason);
        }
        let answer = if answer == HoldAnswer::AllowAll { HoldAnswer::Allow } else { answer };
        self.said.insert((reason, path), answer);
    }
}

/// Returns whether a path lies in a named folder whose whole content acts later.
fn is_below(path: &str, folder: &str) -> bool {
    acts_later(folder) && path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Returns whether a word of a command names a socket: `PATH`, `--host=PATH`, `unix://PATH`.
fn names(word: &str, path: &str) -> bool {
    let before = word.strip_suffix(path);
    before.is_some_and(|before| before.is_empty() || before.ends_with(['=', ':']) || before.ends_with("://"))
}

/// The calls of one command that are unanswered.
pub struct HeldCalls {
    consents: Arc<Mutex<Consents>>,
    listener: Mutex<Option<Arc<OwnedFd>>>,
    calls: Mutex<Calls>,
    /// Tells nebula of one.
    tell: Box<dyn Fn(Hold) + Send + Sync>,
}

#[derive(Default)]
struct Calls {
    last: u64,
    waiting: Vec<(Hold, Notification)>,
}

impl HeldCalls {
    /// Creates the place of a command's calls that wait; `tell` is called with each of them.
    pub fn new(consents: Arc<Mutex<Consents>>, tell: impl Fn(Hold) + Send + Sync + 'static) -> Self {
        HeldCalls { consents, listener: Mutex::default(), calls: Mutex::default(), tell: Box::new(tell) }
    }

    /// Notes where the calls wait.
    pub fn listen(&self, listener: &Arc<OwnedFd>) {
        *lock(&self.listener) = Some(Arc::clone(listener));
    }

    /// Leaves a call unanswered until the person has decided. Returns false where they did so meanwhile: it is to be
    /// looked at again.
    pub fn hold(&self, call: Notification, question: HoldQuestion) -> bool {
        let HoldQuestion { reason, path, bytes, may_go_unkept, why } = question;
        let hold = {
            // A decision that is taken from here on finds it among the calls that wait.
            let consents = lock(&self.consents);
            if consents.decides(reason, &path) {
                return false;
            }
            let mut calls = lock(&self.calls);
            calls.last += 1;
            let (id, process) = (calls.last, call.process);
            let (program, name) = (program(process), call_words(&call));
            let hold = Hold { id, reason, process, program, call: name, path, bytes, may_go_unkept, why };
            calls.waiting.push((hold.clone(), call));
            hold
        };
        (self.tell)(hold);
        true
    }

    /// Takes the decision about a call. Returns where calls wait, and those that are to be looked at again, with their
    /// numbers: this one, where it still waits, and the others that the decision holds for.
    pub fn decide(&self, id: u64, answer: HoldAnswer) -> Option<(Arc<OwnedFd>, Vec<(u64, Notification)>)> {
        let (hold, call) = {
            let mut calls = lock(&self.calls);
            let at = calls.waiting.iter().position(|(hold, _)| hold.id == id)?;
            calls.waiting.remove(at)
        };
        let listener = lock(&self.listener).clone()?;
        let waits = sys::still_waits(listener.as_fd(), call.id);
        let mut decided: Vec<(u64, Notification)> = waits.then_some((hold.id, call)).into_iter().collect();
        let mut consents = lock(&self.consents);
        // What nobody said of a call that is gone holds for no other.
        if waits || answer != HoldAnswer::Nobody {
            consents.take((hold.reason, hold.path), answer);
        }
        let mut calls = lock(&self.calls);
        let others = calls.waiting.extract_if(.., |(hold, _)| consents.decides(hold.reason, &hold.path));
        decided.extend(others.map(|(hold, call)| (hold.id, call)));
        Some((listener, decided))
    }

    /// Forgets the calls that do not wait any more, as their processes are gone. Returns their numbers.
    pub fn forget_gone(&self) -> Vec<u64> {
        let Some(listener) = lock(&self.listener).clone() else { return Vec::new() };
        let mut gone = Vec::new();
        lock(&self.calls).waiting.retain(|(hold, call)| {
            let waits = sys::still_waits(listener.as_fd(), call.id);
            gone.extend((!waits).then_some(hold.id));
            waits
        });
        gone
    }

    /// Returns the numbers of the calls that wait.
    pub fn waiting(&self) -> Vec<u64> {
        lock(&self.calls).waiting.iter().map(|(hold, _)| hold.id).collect()
    }
}

/// Takes the lock, also after a panic: its value is whole after each change.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the line of words that a process was started with, as far as it can be shown; of the shell, the command's
/// text without nebula's own.
fn program(process: i32) -> String {
    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line);
    let words: Vec<&str> = line.trim_end_matches('\0').split('\0').map(left::text_of).collect();
    clean_line(&words.join(" ")).chars().take(LONGEST).collect()
}

/// Returns the name of a call that may wait, and for what a file is opened.
fn call_words(call: &Notification) -> String {
    let [_, second, third, ..] = call.arguments;
    let name = match call.number {
        libc::SYS_openat => return opening("openat", third),
        libc::SYS_truncate => "truncate",
        libc::SYS_unlinkat => "unlinkat",
        libc::SYS_renameat => "renameat",
        libc::SYS_renameat2 => "renameat2",
        libc::SYS_linkat => "linkat",
        libc::SYS_symlinkat => "symlinkat",
        libc::SYS_mknodat => "mknodat",
        libc::SYS_fchmod => "fchmod",
        libc::SYS_fchmodat | super::filter::FCHMODAT2 => "fchmodat",
        libc::SYS_fchown => "fchown",
        libc::SYS_fchownat => "fchownat",
        libc::SYS_bind => "bind",
        libc::SYS_connect => "connect",
        number => return old_call_words(number, second),
    };
    name.into()
}

/// Returns the names of the calls that only one machine has.
#[cfg(target_arch = "x86_64")]
fn old_call_words(number: i64, flags: u64) -> String {
    let name = match number {
        libc::SYS_open => return opening("open", flags),
        libc::SYS_creat => "creat",
        libc::SYS_unlink => "unlink",
        libc::SYS_rename => "rename",
        libc::SYS_link => "link",
        libc::SYS_symlink => "symlink",
        libc::SYS_mknod => "mknod",
        libc::SYS_chmod => "chmod",
        libc::SYS_chown => "chown",
        libc::SYS_lchown => "lchown",
        number => return format!("call {number}"),
    };
    name.into()
}

#[cfg(not(target_arch = "x86_64"))]
fn old_call_words(number: i64, _flags: u64) -> String {
    format!("call {number}")
}

/// Returns `openat · write, truncate`.
fn opening(name: &str, flags: u64) -> String {
    let does = [(libc::O_WRONLY | libc::O_RDWR, "write"), (libc::O_TRUNC, "truncate"), (libc::O_CREAT, "create")];
    let words: Vec<&str> = does.iter().filter(|(bits, _)| flags & *bits as u64 != 0).map(|(_, word)| *word).collect();
    format!("{name} · {}", words.join(", "))
}

/// The outcome of a call.
pub enum GuardAnswer {
    /// It is answered so.
    Reply(CallReply),
    /// A thread of its own answers it.
    Elsewhere,
    /// It waits for the person.
    Held(HoldQuestion),
    /// It waits for other calls to be over.
    Parked,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_named_or_said_is_not_asked_again() {
        let files = ["AGENTS.md", ".github", "src"].map(String::from).into();
        let sockets = [".envrc", "unix:///run/x.sock"].map(String::from).into();
        let excluded = vec!["x.big".into()];
        let settings = HoldSettings { later: true, files, sockets, excluded, ..HoldSettings::default() };
        let mut consents = Consents::new(Some(settings));
        let allowed = CallConsent::Said(HoldAnswer::Allow);
        assert_eq!(consents.about(HoldReason::ActsLater, "AGENTS.md"), allowed);
        assert_eq!(consents.about(HoldReason::ActsLater, ".github/workflows/ci.yml"), allowed);
        for path in ["sub/AGENTS.md", "src/AGENTS.md", ".github2/AGENTS.md"] {
            assert_eq!(consents.about(HoldReason::ActsLater, path), CallConsent::Ask, "{path}");
        }
        assert_eq!(consents.about(HoldReason::Socket, "/run/x.sock"), allowed);
        assert_eq!(consents.about(HoldReason::Socket, "/x.sock"), CallConsent::Ask);
        assert_eq!(consents.about(HoldReason::Excluded, "x.big"), allowed);
        assert_eq!(consents.about(HoldReason::Excluded, "sub/x.big"), CallConsent::Ask);
        assert_eq!(consents.about(HoldReason::ActsLater, ".envrc"), CallConsent::Ask);
        consents.take((HoldReason::ActsLater, ".envrc".into()), HoldAnswer::Refuse);
        assert_eq!(consents.about(HoldReason::ActsLater, ".envrc"), CallConsent::Said(HoldAnswer::Refuse));
        consents.take((HoldReason::ActsLater, ".husky/a".into()), HoldAnswer::AllowAll);
        assert_eq!(consents.about(HoldReason::ActsLater, ".husky/b"), allowed);
        // What nobody answered is refused once, and asked about again.
        consents.take((HoldReason::Port, "5432".into()), HoldAnswer::Nobody);
        let decided = [(HoldReason::ActsLater, ".husky/c"), (HoldReason::ActsLater, "x"), (HoldReason::Port, "5432")];
        assert_eq!(decided.map(|(reason, path)| consents.decides(reason, path)), [true, true, false]);
        let mut next = || consents.about(HoldReason::Port, "5432");
        assert_eq!([next(), next()], [CallConsent::Said(HoldAnswer::Nobody), CallConsent::Ask]);
        // What was refused stays so, and what waits for another reason is asked about.
        assert_eq!(consents.about(HoldReason::ActsLater, ".envrc"), CallConsent::Said(HoldAnswer::Refuse));
        assert_eq!(consents.about(HoldReason::Port, "5432"), CallConsent::Ask);
    }

    #[test]
    fn one_decision_answers_all_calls_that_wait_for_it() {
        let consents = Arc::new(Mutex::new(Consents::new(Some(HoldSettings::default()))));
        let held = HeldCalls::new(consents, |_| {});
        // No filter: the call that is decided about does not wait any more.
        held.listen(&Arc::new(fs::File::open("/dev/null").expect("opened").into()));
        let call = Notification { id: 1, process: 0, number: libc::SYS_connect, arguments: [0; 6] };
        let waits =
            [(HoldReason::Port, "1"), (HoldReason::Port, "1"), (HoldReason::Port, "2"), (HoldReason::Socket, "s")];
        let hold = |reason, path: &str| held.hold(call, HoldQuestion::new(reason, path));
        assert!(waits.into_iter().all(|(reason, path)| hold(reason, path)));
        let others =
            |id, answer| held.decide(id, answer).map(|(_, calls)| calls.into_iter().map(|(id, _)| id).collect());
        assert_eq!(others(1, HoldAnswer::Refuse), Some(vec![2]));
        assert_eq!(others(3, HoldAnswer::Nobody), Some(Vec::new()));
        assert_eq!((others(3, HoldAnswer::Allow), held.waiting()), (None, vec![4]));
        assert!(hold(HoldReason::Socket, "t"));
        assert_eq!((others(4, HoldAnswer::AllowAll), held.waiting()), (Some(vec![5]), Vec::new()));
        // What was decided between the look at a call and its waiting is not asked again.
        assert!(!hold(HoldReason::Socket, "u") && !hold(HoldReason::Port, "1") && held.waiting().is_empty());
        assert!(hold(HoldReason::Port, "2") && held.waiting() == [6]);
    }

    #[test]
    fn where_nobody_is_asked_nothing_waits() {
        assert_eq!(Consents::new(None).about(HoldReason::Port, "1"), CallConsent::Unasked);
        let mut own = Consents::new(Some(HoldSettings::default()));
        assert_eq!(own.about(HoldReason::ActsLater, "AGENTS.md"), CallConsent::Unasked);
        assert_eq!(own.about(HoldReason::TooLarge, "a"), CallConsent::Ask);
    }
}
