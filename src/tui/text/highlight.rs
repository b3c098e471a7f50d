//! Colours of code. A worker thread parses, so that no frame waits: text is drawn plain first, and coloured once
//! the worker has said through the wake-up that lines are ready.
//!
//! The grammars and their regexes are loaded at the first line asked for, on the worker, and dropped with it when
//! nothing was asked for a while: they take megabytes. Lines are parsed in order, only as far as someone looks, and
//! the parser's state is kept to go on from there.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::grammar::{Grammars, Parser};
pub use super::token::Token;

/// Texts of more lines are not coloured.
pub const MAX_LINES: usize = 5_000;
/// A line of more bytes ends the colouring of its text.
const MAX_COLUMNS: usize = 2_000;
/// Texts whose colours are kept.
const KEPT: usize = 96;
/// Lines parsed before what is ready is handed over.
const BATCH: usize = 64;
/// Time without a line to parse after which the worker ends.
pub const QUIET: Duration = Duration::from_secs(5);

/// A text that can be coloured: it never changes, but lines may be added at its end.
pub trait Source {
    /// Names the text: equal ids mean equal beginnings and the same language.
    fn id(&self) -> u64;
    /// Returns a language's name or file ending; unknown ones are not coloured.
    fn language(&self) -> &str;
    /// Returns the number of whole lines.
    fn lines(&self) -> usize;
    /// Returns a line without its ending.
    fn line(&self, number: usize) -> &str;
}

/// A whole text with its language, cheap to clone.
#[derive(Debug, Clone)]
pub struct Code {
    id: u64,
    language: Arc<str>,
    text: Arc<str>,
    starts: Arc<[u32]>,
}

impl Code {
    /// Creates a text in the language of that name.
    pub fn new(language: &str, text: impl Into<Arc<str>>) -> Self {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let text = text.into();
        let mut hasher = DefaultHasher::new();
        (language, &*text).hash(&mut hasher);
        // A text that ends in a newline has no further line after it. Texts above 4 GiB are never shown.
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1));
        let starts = starts.filter(|at| (*at as usize) < text.len()).collect();
        Code { id: hasher.finish(), language: language.into(), text, starts }
    }

    /// Creates a file's text; its path tells the language.
    pub fn of_file(path: &str, text: impl Into<Arc<str>>) -> Self {
        Self::new(language_of(path), text)
    }
}

impl Source for Code {
    fn id(&self) -> u64 {
        self.id
    }

    fn language(&self) -> &str {
        &self.language
    }

    fn lines(&self) -> usize {
        self.starts.len()
    }

    fn line(&self, number: usize) -> &str {
        let Some(start) = self.starts.get(number) else { return "" };
        let end = self.starts.get(number + 1).map_or(self.text.len(), |e| *e as usize);
        let line = &self.text[*start as usize..end];
        line.strip_suffix('\n').map_or(line, |l| l.strip_suffix('\r').unwrap_or(l))
    }
}

/// Returns the language of a file: its whole name for the likes of `Makefile`, else its ending.
pub fn language_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map_or(name, |(_, ending)| ending)
}

/// Gives colours, or asks for them. Clones share one worker and one cache.
#[derive(Clone)]
pub struct Highlighter {
    how: How,
}

#[derive(Clone)]
enum How {
    Off,
    Here(Arc<Mutex<Cache>>),
    Worker(Arc<WorkerHandle>),
}

impl Highlighter {
    /// Colours nothing.
    pub fn off() -> Self {
        Highlighter { how: How::Off }
    }

    /// Parses at once, in the thread that asks: for tests and for printing.
    pub fn here() -> Self {
        Highlighter { how: How::Here(Arc::default()) }
    }

    /// Parses on a thread of its own, started at the first line asked for. `wake` is called from there whenever
    /// lines that were asked for are ready.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self::ending_after(QUIET, wake)
    }

    fn ending_after(quiet: Duration, wake: impl Fn() + Send + Sync + 'static) -> Self {
        let shared = Shared { cache: Mutex::default(), work: Condvar::new(), wake: Box::new(wake), quiet };
        Highlighter { how: How::Worker(Arc::new(WorkerHandle { shared: Arc::new(shared) })) }
    }

    /// Calls `each` for the lines of `range` whose colours are known, in order, and asks for the others. Returns
    /// whether all were known.
    pub fn look(&self, source: &impl Source, range: Range<usize>, mut each: impl FnMut(usize, &[Token])) -> bool {
        let range = range.start..range.end.min(source.lines());
        if range.is_empty() || source.lines() > MAX_LINES || source.language().is_empty() {
            return true;
        }
        match &self.how {
            How::Off => true,
            How::Here(cache) => {
                let mut cache = lock(cache);
                if let Some(id) = cache.ask(source, range.end) {
                    while let Some(mut job) = cache.take(id) {
                        job.run();
                        cache.put(job);
                    }
                }
                cache.tell(source.id(), range, &mut each)
            }
            How::Worker(handle) => {
                let mut cache = lock(&handle.shared.cache);
                if let Some(id) = cache.ask(source, range.end) {
                    cache.queue.retain(|other| *other != id);
                    cache.queue.push(id);
                    if !cache.started {
                        cache.started = true;
                        let shared = handle.shared.clone();
                        // Without a thread to spare the text stays plain.
                        let _ = std::thread::Builder::new().name("colours".into()).spawn(move || shared.run());
                    }
                    handle.shared.work.notify_one();
                }
                cache.tell(source.id(), range, &mut each)
            }
        }
    }
}

impl std::fmt::Debug for Highlighter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Highlighter")
    }
}

/// Ends the worker when the last clone is dropped.
struct WorkerHandle {
    shared: Arc<Shared>,
}

impl Drop for WorkerHandle {
    fn drop(&mut self) {
        lock(&self.shared.cache).closed = true;
        self.shared.work.notify_one();
    }
}

struct Shared {
    cache: Mutex<Cache>,
    work: Condvar,
    wake: Box<dyn Fn() + Send + Sync>,
    quiet: Duration,
}

impl Shared {
    fn run(&self) {
        let mut cache = lock(&self.cache);
        while !cache.closed {
            // What was asked for last is what is looked at now.
            let Some(id) = cache.queue.pop() else {
                let waited = self.work.wait_timeout_while(cache, self.quiet, |c| c.queue.is_empty() && !c.closed);
                let (quiet, over) = waited.unwrap_or_else(PoisonError::into_inner);
                cache = quiet;
                if over.timed_out() {
                    let grammars = cache.grammars.take();
                    drop(cache);
                    drop(grammars);
                    cache = lock(&self.cache);
                    if cache.queue.is_empty() {
                        cache.started = false;
                        return;
                    }
                }
                continue;
            };
            let Some(mut job) = cache.take(id) else { continue };
            drop(cache);
            job.run();
            cache = lock(&self.cache);
            if cache.put(job) {
                cache.queue.insert(0, id);
            }
            drop(cache);
            (self.wake)();
            cache = lock(&self.cache);
        }
    }
}

/// The results for the texts looked at.
#[derive(Default)]
struct Cache {
    entries: HashMap<u64, CacheEntry>,
    queue: Vec<u64>,
    grammars: Option<Arc<Grammars>>,
    clock: u64,
    started: bool,
    closed: bool,
}

#[derive(Default)]
struct CacheEntry {
    language: String,
    tokens: Vec<Box<[Token]>>,
    /// Lines handed over but not parsed yet.
    pending: Vec<String>,
    /// Lines that are with the worker right now.
    taken: usize,
    /// `None`: not begun, or with the worker.
    parser: Option<Parser>,
    /// No colours beyond what there is.
    over: bool,
    used: u64,
}

struct Job {
    id: u64,
    language: String,
    lines: Vec<String>,
    parser: Option<Parser>,
    grammars: Option<Arc<Grammars>>,
    tokens: Vec<Box<[Token]>>,
    over: bool,
}

impl Cache {
    /// Makes sure that lines up to `end` are known or pending. Returns the id if there is something to do.
    fn ask(&mut self, source: &impl Source, end: usize) -> Option<u64> {
        self.clock += 1;
        let id = source.id();
        if !self.entries.contains_key(&id) && self.entries.len() >= KEPT {
            let oldest =
                self.entries.iter().filter(|(_, e)| e.taken == 0).min_by_key(|(_, e)| e.used).map(|(id, _)| *id);
            oldest.and_then(|id| self.entries.remove(&id));
        }
        let entry = self.entries.entry(id).or_default();
        entry.used = self.clock;
        let have = entry.tokens.len() + entry.taken + entry.pending.len();
        if entry.over || have >= end {
            return None;
        }
        if have == 0 {
            entry.language = source.language().to_string();
        }
        entry.pending.extend((have..end).map(|n| source.line(n).to_string()));
        Some(id)
    }

    fn tell(&self, id: u64, range: Range<usize>, each: &mut impl FnMut(usize, &[Token])) -> bool {
        let Some(entry) = self.entries.get(&id) else { return false };
        for number in range.start..range.end.min(entry.tokens.len()) {
            each(number, &entry.tokens[number]);
        }
        entry.over || entry.tokens.len() >= range.end
    }

    /// Returns the next lines of a text to parse, unless they are being parsed already.
    fn take(&mut self, id: u64) -> Option<Job> {
        let grammars = self.grammars.clone();
        let entry = self.entries.get_mut(&id).filter(|e| e.taken == 0 && !e.pending.is_empty())?;
        let rest = entry.pending.split_off(entry.pending.len().min(BATCH));
        let lines = std::mem::replace(&mut entry.pending, rest);
        entry.taken = lines.len();
        let (language, parser) = (entry.language.clone(), entry.parser.take());
        Some(Job { id, language, lines, parser, grammars, tokens: Vec::new(), over: false })
    }

    /// Takes a job's result back. Returns whether there is more to do for its text.
    fn put(&mut self, job: Job) -> bool {
        self.grammars = job.grammars;
        let Some(entry) = self.entries.get_mut(&job.id) else { return false };
        entry.taken = 0;
        entry.tokens.extend(job.tokens);
        entry.parser = job.parser;
        entry.over |= job.over;
        if entry.over {
            entry.pending.clear();
        }
        !entry.pending.is_empty()
    }
}

impl Job {
    fn run(&mut self) {
        let grammars = self.grammars.get_or_insert_with(|| Arc::new(Grammars::load()));
        if self.parser.is_none() {
            self.parser = grammars.parser(&self.language);
        }
        let Some(parser) = &mut self.parser else {
            self.over = true;
            return;
        };
        for line in &self.lines {
            let tokens = if line.len() > MAX_COLUMNS { None } else { grammars.tokens(parser, line) };
            let Some(tokens) = tokens else {
                self.over = true;
                return;
            };
            self.tokens.push(tokens.into());
        }
    }
}

/// Returns a panic elsewhere leaves nothing half-done in here: jobs are taken and put back whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::Role;
    use std::sync::mpsc;

    fn all(highlighter: &Highlighter, code: &Code) -> (bool, Vec<Vec<(String, Role)>>) {
        let mut lines = vec![Vec::new(); code.lines()];
        let ready = highlighter.look(code, 0..code.lines(), |n, tokens| {
            let mut at = 0;
            for t in tokens {
                lines[n].push((code.line(n)[at..t.end as usize].to_string(), t.role));
                at = t.end as usize;
            }
        });
        (ready, lines)
    }

    #[test]
    fn a_text_in_lines() {
        let code = Code::new("rust", "a\r\n\nb");
        assert_eq!((0..code.lines()).map(|n| code.line(n)).collect::<Vec<_>>(), ["a", "", "b"]);
        assert_eq!(Code::new("rust", "a\n").lines(), 1);
        assert_eq!(Code::new("rust", "").lines(), 0);
        assert_eq!(
            (language_of("src/a.rs"), language_of("Makefile"), language_of("x/.bashrc")),
            ("rs", "Makefile", ".bashrc")
        );
    }

    #[test]
    fn the_worker_says_when_lines_are_ready() {
        let (tx, rx) = mpsc::channel();
        let highlighter = Highlighter::new(move || tx.send(()).unwrap_or_default());
        let code = Code::of_file("a.rs", "fn one() {}\n".repeat(100));
        assert!(!all(&highlighter, &code).0);
        while !all(&highlighter, &code).0 {
            rx.recv().unwrap();
        }
        assert_eq!(all(&highlighter, &code).1[99][0], ("fn".to_string(), Role::SynKeyword));
    }

    #[test]
    fn a_worker_without_work_ends_with_its_grammars_and_another_goes_on() {
        let (tx, rx) = mpsc::channel();
        let wake = move || tx.send(()).unwrap_or_default();
        let highlighter = Highlighter::ending_after(Duration::ZERO, wake);
        let How::Worker(handle) = &highlighter.how else { unreachable!() };
        let ended = || loop {
            let cache = lock(&handle.shared.cache);
            if !cache.started {
                break assert!(cache.grammars.is_none());
            }
            drop(cache);
            std::thread::yield_now();
        };
        let code = Code::of_file("a.rs", "/* a comment\nof two lines */\nfn one() {}\n");
        let look = |lines: Range<usize>| {
            let mut roles = Vec::new();
            while !highlighter.look(&code, lines.clone(), |n, t| roles.push((n, t[0].role))) {
                roles.clear();
                rx.recv().unwrap();
            }
            roles
        };
        assert_eq!(look(0..1), [(0, Role::SynComment)]);
        ended();
        // The second worker takes over in the middle of the comment.
        assert_eq!(look(0..3), [(0, Role::SynComment), (1, Role::SynComment), (2, Role::SynKeyword)]);
        ended();
        assert_eq!(look(0..3).len(), 3);
    }

    #[test]
    fn a_growing_text_goes_on_from_where_it_was() {
        struct Growing(&'static [&'static str]);
        impl Source for Growing {
            fn id(&self) -> u64 {
                7
            }
            fn language(&self) -> &str {
                "rust"
            }
            fn lines(&self) -> usize {
                self.0.len()
            }
            fn line(&self, n: usize) -> &str {
                self.0[n]
            }
        }
        let h = Highlighter::here();
        let mut roles = Vec::new();
        assert!(h.look(&Growing(&["/* one"]), 0..1, |_, t| roles.push(t[0].role)));
        assert!(h.look(&Growing(&["/* one", "two */ fn"]), 1..2, |_, t| roles.extend(t.iter().map(|t| t.role))));
        assert_eq!(roles[..2], [Role::SynComment, Role::SynComment]);
        assert_eq!(roles.last(), Some(&Role::SynKeyword));
    }

    #[test]
    fn what_is_too_large_or_unknown_stays_plain() {
        let h = Highlighter::here();
        for code in [
            Code::new("no such language", "fn a() {}"),
            Code::new("rust", "fn a() {}\n".repeat(MAX_LINES + 1)),
            Code::new("rust", format!("// {}", "x".repeat(MAX_COLUMNS))),
        ] {
            let (ready, lines) = all(&h, &code);
            assert!(ready && lines.iter().all(Vec::is_empty));
        }
    }

    #[test]
    fn only_so_many_texts_are_cached() {
        let h = Highlighter::here();
        for n in 0..KEPT + 10 {
            assert!(all(&h, &Code::new("toml", format!("a = {n}"))).0);
        }
        let How::Here(cache) = &h.how else { unreachable!() };
        assert_eq!(lock(cache).entries.len(), KEPT);
    }
}
