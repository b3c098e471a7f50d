//! The recorded model: [`Replay`] plays a recording step by step, whatever it is asked; [`Recorder`] makes one of
//! a live session. The tour, the tests and bug reports rest on it.

mod recording;

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt, ready};
use futures_util::stream::{self, StreamExt};
use tokio::time::Instant;

use recording::{delta_line, head_line, step_line};

use super::models::{Facts, Model};
use super::{Capabilities, Delta, Deltas, Error, ErrorKind, Message, Origin, Provider, Request, Role, Wire};
use crate::disk::{self, Links};
use crate::messages::provider as say;

/// The largest recording that is read, in bytes.
const LARGEST: u64 = 256 << 20;

pub use recording::Recording;

/// Plays a recording.
///
/// Each request gets the next step, and is checked first: every call in it must have its result and every result
/// its call, in the order a server would insist on.
pub struct Replay {
    recording: Recording,
    place: String,
    /// Pauses are divided by it; `None`: no pauses.
    speed: Option<f64>,
    /// A step, and whether a request leaves it out.
    skips: Option<(usize, fn(&Request) -> bool)>,
    state: Mutex<ReplayState>,
}

#[derive(Default)]
struct ReplayState {
    next: usize,
    requests: Option<Vec<Request>>,
}

impl Replay {
    /// Plays `recording` with its own timing; `place` names it for people.
    pub fn new(recording: Recording, place: impl Into<String>) -> Self {
        Self { recording, place: place.into(), speed: Some(1.0), skips: None, state: Mutex::default() }
    }

    /// Reads a recording from a file.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let place = path.display().to_string();
        let text = disk::read_named(path, LARGEST).and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other));
        let text = text.map_err(|why| {
            Error::new(
                ErrorKind::Recording,
                format!("the recording {place} cannot be read: {why}"),
                "Give --replay the path of a file that was made with --record.",
            )
        })?;
        Ok(Self::new(Recording::parse(&text, &place)?, place))
    }

    /// Creates a model for tests: one answer a step, without pauses, and it keeps what it was asked.
    pub fn from_steps(steps: Vec<Vec<Delta>>) -> Self {
        let timed = |step: Vec<Delta>| step.into_iter().map(|delta| (Duration::ZERO, delta)).collect();
        let recording = Recording {
            model: "recorded".into(),
            provider: "replay".into(),
            steps: steps.into_iter().map(timed).collect(),
        };
        let state = ReplayState { next: 0, requests: Some(Vec::new()) };
        Self { state: Mutex::new(state), ..Self::new(recording, "script") }.without_pauses()
    }

    /// Plays `times` as fast; values that are no positive number play without pauses.
    #[cfg(test)]
    fn faster(self, times: f64) -> Self {
        let speed = Some(times).filter(|times| times.is_finite() && *times > 0.0);
        Self { speed, ..self }
    }

    /// Plays without pauses.
    fn without_pauses(self) -> Self {
        Self { speed: None, ..self }
    }

    /// Leaves out a step where the request that would get it says so.
    pub fn skipping(self, step: usize, says: fn(&Request) -> bool) -> Self {
        Self { skips: Some((step, says)), ..self }
    }

    /// Returns the model of the recording.
    pub fn model(&self) -> &str {
        &self.recording.model
    }

    /// Returns how many steps are left.
    pub fn left(&self) -> usize {
        self.recording.steps.len().saturating_sub(self.state().next)
    }

    /// Returns the requests to a [`Replay::from_steps`], oldest first; others keep none.
    pub fn requests(&self) -> Vec<Request> {
        self.state().requests.clone().unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, ReplayState> {
        // Nothing panics while the lock is held; and if it did, the state would still be a number and a list.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the next step for `request`.
    fn step(&self, request: &Request) -> Result<Vec<(Duration, Delta)>, Error> {
        let mut state = self.state();
        if let Some(requests) = &mut state.requests {
            requests.push(request.clone());
        }
        check(&request.messages)?;
        // A script answers all that a test asks.
        if request.beside && state.requests.is_none() {
            return Err(Error::new(ErrorKind::Recording, say::no_answer_recorded(), say::answers_as_recorded()));
        }
        state.next += usize::from(self.skips.is_some_and(|(at, says)| at == state.next && says(request)));
        let step = self.recording.steps.get(state.next).cloned().ok_or_else(|| {
            Error::new(
                ErrorKind::Recording,
                format!("the recording ends here: {} has {} steps", self.place, self.recording.steps.len()),
                "A recording answers no more than was recorded. Connect a model to go on.",
            )
        })?;
        state.next += 1;
        Ok(step)
    }
}

impl Provider for Replay {
    fn name(&self) -> &str {
        "replay"
    }

    fn place(&self) -> String {
        self.place.clone()
    }

    fn recorded(&self) -> bool {
        true
    }

    fn capabilities(&self, _model: &str) -> Capabilities {
        Capabilities::ALL
    }

    fn origin(&self, model: &str) -> Origin {
        Origin { wire: Wire::Replay, place: self.place.clone(), model: model.into() }
    }

    fn stream(&self, request: Request) -> Deltas {
        let step = match self.step(&request) {
            Ok(step) => step,
            Err(error) => return stream::iter([Err(error)]).boxed(),
        };
        let speed = self.speed;
        let whole = step.iter().any(|(_, delta)| matches!(delta, Delta::End(_)));
        let broken = (!whole).then(|| Err(broken(&self.place, &step)));
        stream::iter(step)
            .then(move |(pause, delta)| async move {
                if let Some(speed) = speed {
                    // A pause in a recording is at most what a person would sit through.
                    tokio::time::sleep(pause.min(LONGEST_PAUSE).div_f64(speed.max(f64::EPSILON))).await;
                }
                Ok(delta)
            })
            .chain(stream::iter(broken))
            .boxed()
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<Model>, Error>> {
        // A recording written by hand may name none.
        let named = Some(&self.recording.model).filter(|name| !name.is_empty());
        ready(Ok(named.map(|name| Model { name: name.clone(), ..Model::default() }).into_iter().collect())).boxed()
    }
}

/// No pause of a recording is played longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

fn broken(place: &str, step: &[(Duration, Delta)]) -> Error {
    let after_first_token = step.iter().any(|(_, delta)| !matches!(delta, Delta::Usage(_)));
    Error::new(
        ErrorKind::Broken { after_first_token },
        format!("the answer broke off: so it was when {place} was recorded"),
        "What arrived is kept above.",
    )
}

/// Returns whether every call has its result, right after it, and every result its call.
fn check(messages: &[Arc<Message>]) -> Result<(), Error> {
    let wrong = |what: String| {
        Err(Error::new(
            ErrorKind::Recording,
            format!("the conversation is not one a model would take: {what}"),
            "This is a fault of nebula: the session can be exported and reported.",
        ))
    };
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        if message.role == Role::Tool {
            let id = message.answers().unwrap_or_default();
            match open.iter().position(|call| *call == id) {
                Some(at) => open.swap_remove(at),
                None => return wrong(format!("a result for the call {id:?}, which was not made before it")),
            };
            continue;
        }
        if let Some(id) = open.first() {
            return wrong(format!("the call {id:?} has no result"));
        }
        for call in message.calls() {
            if message.role != Role::Assistant {
                return wrong(format!("the call {:?} is not the model's", call.id));
            }
            if open.contains(&call.id.as_str()) {
                return wrong(format!("two calls are named {:?}", call.id));
            }
            open.push(&call.id);
        }
    }
    match open.first() {
        Some(id) => wrong(format!("the call {id:?} has no result")),
        None => Ok(()),
    }
}

/// Records what another provider answers.
pub struct Recorder {
    inner: Arc<dyn Provider>,
    tape: Arc<Mutex<Tape>>,
}

/// The file being written.
struct Tape {
    file: File,
    path: PathBuf,
    steps: usize,
    started: bool,
    last: Option<Instant>,
    /// The reason why writing stopped; reported with the next request, so that no answer is lost for it.
    failed: Option<String>,
}

impl Recorder {
    /// Returns whether this path can be recorded to, as far as that shows before it is tried: its folder is there, and
    /// no other file is in its place.
    ///
    /// # Errors
    /// Why not.
    pub fn check(path: &Path) -> Result<(), Error> {
        if path.parent().is_some_and(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
            return Err(not_here(path, "there is no such folder"));
        }
        match beginning(path) {
            Ok(bytes) if !bytes.is_empty() && bytes != RECORDING => Err(not_here(path, "it holds something else")),
            Err(why) if why.kind() != std::io::ErrorKind::NotFound => Err(not_here(path, &why.to_string())),
            _ => Ok(()),
        }
    }

    /// Starts a recording at `path`, readable by its owner alone. A recording that is there is replaced; any other
    /// file is left alone, and an error says so.
    pub fn create(inner: Arc<dyn Provider>, path: &Path) -> Result<Self, Error> {
        Self::check(path)?;
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(|why| not_here(path, &why.to_string()))?;
        let tape = Tape { file, path: path.into(), steps: 0, started: false, last: None, failed: None };
        Ok(Self { inner, tape: Arc::new(Mutex::new(tape)) })
    }
}

/// The beginning of every recording.
const RECORDING: &[u8] = b"{\"recording\":";

/// Returns as much of a file as tells whether it is a recording.
fn beginning(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    disk::open_file(path, Links::Follow)?.take(RECORDING.len() as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Creates the error that nothing can be recorded to this path.
fn not_here(path: &Path, what: &str) -> Error {
    Error::new(
        ErrorKind::Recording,
        format!("cannot record to {}: {what}", path.display()),
        "Give --record a path that can be written and holds no other file.",
    )
}

impl Tape {
    fn begin(&mut self, model: &str, provider: &str) {
        if !self.started {
            self.started = true;
            self.write(&head_line(model, provider));
        }
        self.steps += 1;
        self.write(&step_line(self.steps));
        self.last = Some(Instant::now());
    }

    fn take(&mut self, delta: &Delta) {
        let now = Instant::now();
        let pause = self.last.map_or(Duration::ZERO, |last| now.duration_since(last));
        if let Some(line) = delta_line(pause, delta) {
            self.last = Some(now);
            self.write(&line);
        }
    }

    /// Writes a line whole and at once, so that what a crash leaves can be played.
    fn write(&mut self, line: &str) {
        if self.failed.is_none()
            && let Err(why) = self.file.write_all(line.as_bytes())
        {
            self.failed = Some(why.to_string());
        }
    }
}

impl Provider for Recorder {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn place(&self) -> String {
        self.inner.place()
    }

    fn address(&self) -> String {
        self.inner.address()
    }

    fn recorded(&self) -> bool {
        self.inner.recorded()
    }

    fn capabilities(&self, model: &str) -> Capabilities {
        self.inner.capabilities(model)
    }

    fn origin(&self, model: &str) -> Origin {
        self.inner.origin(model)
    }

    fn origin_of(&self, request: &Request) -> Origin {
        self.inner.origin_of(request)
    }

    fn probe(&self, model: &str) -> BoxFuture<'static, Facts> {
        self.inner.probe(model)
    }

    fn stream(&self, request: Request) -> Deltas {
        {
            let mut tape = self.tape.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(why) = &tape.failed {
                let error = Error::new(
                    ErrorKind::Recording,
                    format!("the recording {} cannot be written: {why}", tape.path.display()),
                    "Everything else is saved. Make room, or start again without --record.",
                );
                return stream::iter([Err(error)]).boxed();
            }
            // It would be no step where the recording is played.
            if request.beside {
                return self.inner.stream(request);
            }
            tape.begin(&request.model, self.inner.name());
        }
        let tape = Arc::clone(&self.tape);
        self.inner
            .stream(request)
            .inspect(move |item| {
                if let Ok(delta) = item {
                    tape.lock().unwrap_or_else(PoisonError::into_inner).take(delta);
                }
            })
            .boxed()
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<Model>, Error>> {
        self.inner.models()
    }

    fn describe(&self, model: &str) -> BoxFuture<'static, Facts> {
        self.inner.describe(model)
    }

    fn local(&self) -> bool {
        self.inner.local()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::{EndReason, ToolCall};

    fn say(text: &str) -> Vec<Delta> {
        vec![Delta::Text(text.into()), Delta::End(EndReason::Stop)]
    }

    fn ask(messages: Vec<Message>) -> Request {
        Request { model: "m".into(), messages: messages.into_iter().map(Arc::new).collect(), ..Request::default() }
    }

    fn calling(ids: &[&str]) -> Message {
        let call = |id: &&str| ToolCall { id: (*id).to_string(), name: "list".into(), arguments: "{}".into() };
        Message::assistant("", ids.iter().map(call).collect())
    }

    #[tokio::test]
    async fn steps_come_one_after_the_other_and_end() {
        let replay = Replay::from_steps(vec![say("a"), say("b")]);
        for expected in ["a", "b"] {
            let got: Vec<_> = replay.stream(ask(vec![Message::user("hi")])).collect().await;
            assert_eq!(got, say(expected).into_iter().map(Ok).collect::<Vec<_>>());
        }
        let got: Vec<_> = replay.stream(ask(vec![])).collect().await;
        assert_eq!(got[0].as_ref().unwrap_err().kind, ErrorKind::Recording);
        assert_eq!(replay.requests().len(), 3);
    }

    #[tokio::test]
    async fn a_recording_offers_the_model_that_it_names() {
        for (model, offered) in [("m-1", 1), ("", 0)] {
            let recording = Recording { model: model.into(), ..Recording::default() };
            let models = Replay::new(recording, "x").models().await.unwrap();
            assert_eq!(models.iter().filter(|row| row.name == model).count(), offered, "{model:?}");
            assert_eq!(models.len(), offered);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_are_played_and_can_be_shortened() {
        let recording = Recording {
            steps: vec![vec![
                (Duration::from_secs(4), Delta::Text("a".into())),
                (Duration::ZERO, Delta::End(EndReason::Stop)),
            ]],
            ..Recording::default()
        };
        let begin = Instant::now();
        Replay::new(recording.clone(), "x").stream(ask(vec![])).collect::<Vec<_>>().await;
        assert!(begin.elapsed() >= Duration::from_secs(4));
        let begin = Instant::now();
        Replay::new(recording, "x").faster(4.0).stream(ask(vec![])).collect::<Vec<_>>().await;
        assert!((1..2).contains(&begin.elapsed().as_secs()));
    }

    #[tokio::test]
    async fn a_step_without_an_end_broke_off() {
        let replay = Replay::from_steps(vec![vec![Delta::Text("a".into())], vec![]]);
        let got: Vec<_> = replay.stream(ask(vec![])).collect().await;
        assert_eq!(got[1].as_ref().unwrap_err().kind, ErrorKind::Broken { after_first_token: true });
        let got: Vec<_> = replay.stream(ask(vec![])).collect().await;
        assert_eq!(got[0].as_ref().unwrap_err().kind, ErrorKind::Broken { after_first_token: false });
    }

    #[test]
    fn calls_and_results_must_pair() {
        let bad = |messages: Vec<Message>| check(&ask(messages).messages).unwrap_err().message;
        assert!(bad(vec![calling(&["a"])]).contains("\"a\" has no result"));
        assert!(bad(vec![calling(&["a"]), Message::user("x")]).contains("\"a\" has no result"));
        assert!(bad(vec![Message::tool("b", "x")]).contains("not made before"));
        assert!(bad(vec![calling(&["a", "a"])]).contains("two calls"));
        let good = vec![
            Message::user("x"),
            calling(&["a", "b"]),
            Message::tool("b", "1"),
            Message::tool("a", "2"),
            calling(&["a"]),
            Message::tool("a", "again"),
        ];
        assert!(check(&ask(good).messages).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_beside_the_session_takes_no_step_of_a_recording() {
        let recording = Recording {
            steps: vec![vec![(Duration::ZERO, Delta::End(crate::provider::EndReason::Stop))]],
            ..Recording::default()
        };
        let replay = Replay::new(recording, "r").without_pauses();
        let first = replay.stream(Request { beside: true, ..Request::default() }).next().await;
        assert!(matches!(first, Some(Err(error)) if error.message == "a recording cannot answer that"));
        assert_eq!(replay.left(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_recording_plays_what_was_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tape.jsonl");
        let original = Recording {
            model: "m".into(),
            provider: "replay".into(),
            steps: vec![
                vec![
                    (Duration::from_millis(30), Delta::Text("a".into())),
                    (Duration::from_millis(7), Delta::End(EndReason::Stop)),
                ],
                vec![(Duration::from_millis(2), Delta::Text("cut".into()))],
            ],
        };
        let recorder = Recorder::create(Arc::new(Replay::new(original.clone(), "x")), &path).unwrap();
        for _ in 0..2 {
            recorder.stream(ask(vec![])).collect::<Vec<_>>().await;
        }
        let replay = Replay::open(&path).unwrap();
        assert_eq!(replay.recording.steps.len(), original.steps.len());
        for (got, sent) in replay.recording.steps.iter().flatten().zip(original.steps.iter().flatten()) {
            assert_eq!(got.1, sent.1);
            assert!(got.0.abs_diff(sent.0) <= Duration::from_millis(3), "{got:?} {sent:?}");
        }
    }

    #[test]
    fn another_file_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        std::fs::write(&path, "mine").unwrap();
        let inner = || Arc::new(Replay::from_steps(vec![]));
        assert!(Recorder::create(inner(), &path).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
        std::fs::write(&path, "{\"recording\":1}\nold\n").unwrap();
        assert!(Recorder::create(inner(), &path).is_ok());
    }
}
