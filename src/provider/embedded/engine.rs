//! The thread that runs a model: it loads the file a request names, reads the prompt from where it differs from the last
//! one, and writes the answer token by token. It stops within a token, a slice of the prompt or a block of the file, once
//! nobody listens.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;

use tokio::sync::mpsc::Sender;

use super::found::file_of;
use super::gguf::{Extent, FAMILIES, Header};
use super::network::{Network, SLICE, Sizes};
use super::template::Layout;
use super::vocabulary::Vocabulary;
use crate::config::ModelFolders;
use crate::provider::models::Effort;
use crate::provider::wire::ReasoningTags;
use crate::provider::{Delta, EndReason, Error, ErrorKind, Request, ServerWords, Usage};
use crate::text::size;

/// A request and where its answer goes.
pub struct Job {
    /// The request.
    pub request: Request,
    /// The receiver of the answer.
    pub out: Sender<Result<Delta, Error>>,
}

/// Runs one model at a time.
pub struct Engine {
    folders: ModelFolders,
    loaded: Option<Loaded>,
}

/// A model that is ready.
struct Loaded {
    /// Its name in requests.
    name: String,
    path: PathBuf,
    vocabulary: Vocabulary,
    layout: Layout,
    network: Network,
    /// The tokens its keys and values stand for.
    read: Vec<u32>,
}

/// The reason why an answer stopped early.
enum EarlyStop {
    /// The reader of the answer is gone.
    Unheard,
    /// It cannot go on.
    Failed(Error),
}

impl From<Error> for EarlyStop {
    fn from(error: Error) -> Self {
        EarlyStop::Failed(error)
    }
}

impl Engine {
    /// Creates an engine for the files of `folders`.
    pub fn new(folders: ModelFolders) -> Self {
        Self { folders, loaded: None }
    }

    /// Answers requests until nobody can send one.
    pub fn run(mut self, jobs: &Receiver<Job>) {
        while let Ok(Job { request, out }) = jobs.recv() {
            // A file may be other than its header says in ways that only the arithmetic meets.
            let answered = catch_unwind(AssertUnwindSafe(|| self.answer(&request, &out)));
            let answered = answered.unwrap_or_else(|_| {
                self.loaded = None;
                Err(unusable(format!("the file of {} is not what its header says", request.model)).into())
            });
            if let Err(EarlyStop::Failed(error)) = answered {
                let _ = out.blocking_send(Err(error));
            }
        }
    }

    fn answer(&mut self, request: &Request, out: &Sender<Result<Delta, Error>>) -> Result<(), EarlyStop> {
        if out.is_closed() {
            return Err(EarlyStop::Unheard);
        }
        if self.loaded.as_ref().is_none_or(|loaded| loaded.name != request.model) {
            let path = file_of(&request.model, &self.folders)?.path;
            // The old weights go before the new ones come.
            self.loaded = None;
            self.loaded = Some(load(&request.model, &path, out)?);
        }
        match &mut self.loaded {
            Some(loaded) => loaded.answer(request, out),
            None => Ok(()),
        }
    }
}

/// Returns the error of a file that cannot be run.
fn unusable(why: String) -> Error {
    Error::new(ErrorKind::Settings, why, "Choose another file with --model or /model, or set modelFile.")
}

/// Loads a model, once it is known that it fits.
fn load(model: &str, path: &Path, out: &Sender<Result<Delta, Error>>) -> Result<Loaded, EarlyStop> {
    let wrong = |why: String| EarlyStop::Failed(unusable(why));
    let named = |why: String| wrong(format!("{} {why}", path.display()));
    let mut header = Header::open(path, Extent::Whole).map_err(wrong)?;
    if !FAMILIES.contains(&header.family()) {
        let families = FAMILIES.join(", ");
        return Err(named(format!("is a model of the family {:?}; {families} can be run", header.family())));
    }
    let sizes = Sizes::read(&header).map_err(named)?;
    let layout = Layout::of(header.text("tokenizer.chat_template")).map_err(named)?;
    let vocabulary = Vocabulary::read(&mut header).map_err(named)?;
    let (weights, cache) = sizes.memory(&header);
    let needs =
        format!("{} of memory, and up to {} more as its window fills", size::words(weights), size::words(cache));
    if let Some(free) = free_memory().filter(|free| weights.saturating_add(cache) > *free) {
        return Err(named(format!("needs {needs}; {} are free", size::words(free))));
    }
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    tell(out, Delta::Notice(format!("loading {file}: {needs}")))?;
    let network = Network::load(path, &header, vocabulary.len(), &|| !out.is_closed()).map_err(named)?;
    let network = network.ok_or(EarlyStop::Unheard)?;
    Ok(Loaded { name: model.into(), path: path.into(), vocabulary, layout, network, read: Vec::new() })
}

/// Returns the memory that is free, where the system says so.
fn free_memory() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

fn tell(out: &Sender<Result<Delta, Error>>, delta: Delta) -> Result<(), EarlyStop> {
    out.blocking_send(Ok(delta)).map_err(|_| EarlyStop::Unheard)
}

impl Loaded {
    fn answer(&mut self, request: &Request, out: &Sender<Result<Delta, Error>>) -> Result<(), EarlyStop> {
        let window = self.network.window();
        let prompt = self.layout.tokens(request, &self.vocabulary, request.effort != Some(Effort::None), window);
        if prompt.is_empty() || prompt.len() >= window {
            let mut error = Error::new(
                ErrorKind::ContextTooLong,
                format!("the conversation is longer than the model's window of {window} tokens"),
                "Leave something out, or /compact.",
            );
            error.said = Some(Box::new(ServerWords { window: u32::try_from(window).ok(), ..ServerWords::default() }));
            return Err(error.into());
        }
        // The last token is read anew: what follows it is wanted.
        let same = prompt.iter().zip(&self.read).take_while(|(a, b)| a == b).count().min(prompt.len() - 1);
        self.network.keep(same);
        self.read.truncate(same);
        let mut usage = Usage { input: prompt.len() as u64, cache_read: same as u64, ..Usage::default() };
        let mut likely = Vec::new();
        for slice in prompt[same..].chunks(SLICE) {
            if out.is_closed() {
                return Err(EarlyStop::Unheard);
            }
            likely = self.pass(slice)?;
        }
        let room = window - prompt.len();
        let most = request.max_output.map_or(room, |most| room.min(most as usize));
        let end = self.write(likely, most, &mut usage, out)?;
        tell(out, Delta::Usage(usage))?;
        tell(out, Delta::End(end))
    }

    /// Writes the answer, always the likeliest token next.
    fn write(
        &mut self,
        mut likely: Vec<f32>,
        most: usize,
        usage: &mut Usage,
        out: &Sender<Result<Delta, Error>>,
    ) -> Result<EndReason, EarlyStop> {
        let mut text = Text { strip: self.vocabulary.begins_with_blank(), ..Text::default() };
        let end = loop {
            let next = likeliest(&likely);
            if self.vocabulary.is_end(next) {
                break EndReason::Stop;
            }
            if usage.output as usize >= most {
                break EndReason::Length;
            }
            usage.output += 1;
            for delta in text.push(&self.vocabulary.bytes(next)) {
                tell(out, delta)?;
            }
            if out.is_closed() {
                return Err(EarlyStop::Unheard);
            }
            likely = self.pass(&[next])?;
        };
        for delta in text.finish() {
            tell(out, delta)?;
        }
        Ok(end)
    }

    fn pass(&mut self, tokens: &[u32]) -> Result<Vec<f32>, Error> {
        let likely = self
            .network
            .pass(tokens)
            .map_err(|why| unusable(format!("{} cannot be run: {why}", self.path.display())))?;
        self.read.extend_from_slice(tokens);
        Ok(likely)
    }
}

/// Returns the number of the largest of `likely`; the first of equal ones.
fn likeliest(likely: &[f32]) -> u32 {
    let mut best = 0;
    for (at, value) in likely.iter().enumerate() {
        if *value > likely[best] {
            best = at;
        }
    }
    best as u32
}

/// The bytes of tokens as text: characters that end in a later token wait for it.
#[derive(Default)]
struct Text {
    waiting: Vec<u8>,
    tags: ReasoningTags,
    /// A blank at the beginning is nobody's.
    strip: bool,
}

impl Text {
    fn push(&mut self, bytes: &[u8]) -> Vec<Delta> {
        self.waiting.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.waiting) {
            Ok(text) => text.len(),
            // What can never become a character is shown as one that stands for it.
            Err(why) if why.error_len().is_some() => self.waiting.len(),
            Err(why) => why.valid_up_to(),
        };
        let text = String::from_utf8_lossy(&self.waiting[..whole]).into_owned();
        self.waiting.drain(..whole);
        let strip = !text.is_empty() && std::mem::take(&mut self.strip);
        let mut deltas = Vec::new();
        self.tags.push(text.strip_prefix(' ').filter(|_| strip).unwrap_or(&text), &mut deltas);
        deltas
    }

    fn finish(mut self) -> Vec<Delta> {
        let rest = String::from_utf8_lossy(&self.waiting).into_owned();
        let mut deltas = Vec::new();
        self.tags.push(&rest, &mut deltas);
        self.tags.finish(&mut deltas);
        deltas
    }
}
