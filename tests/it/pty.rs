//! The binary in a real pseudo-terminal, as a person meets it: the tour from its first key to a written file, and back.

use std::io::{Read, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use nebula::protocol::SessionChoice;
use nebula::tui::{Options, Start};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

/// The size of the terminal.
const ROWS: NonZero<u16> = NonZero::new(40).unwrap();
const COLUMNS: NonZero<u16> = NonZero::new(140).unwrap();
/// Longest wait for something to appear; a test that waits for nothing fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Terminal {
    screen: vt100::Parser,
    output: Receiver<Vec<u8>>,
    keys: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    /// Kept until the end: the terminal goes away with it.
    master: Box<dyn MasterPty + Send>,
    /// Removed at the end, where it was made for this.
    _home: Option<tempfile::TempDir>,
}

impl Terminal {
    /// Starts nebula in a fresh folder that is its home as well.
    pub fn start(args: &[&str]) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let terminal = Self::start_in(env!("CARGO_BIN_EXE_nebula"), args, home.path());
        Terminal { _home: Some(home), ..terminal }
    }

    /// Starts a program in a folder that is its home as well.
    pub fn start_in(program: &str, args: &[&str], home: &Path) -> Self {
        Self::start_with(program, args, home, "C.UTF-8")
    }

    /// Starts a program in the locale `locale`.
    pub fn start_with(program: &str, args: &[&str], home: &Path, locale: &str) -> Self {
        Self::start_on(program, args, home, locale, None)
    }

    /// Starts a program with a path on which commands find programs.
    fn start_on(program: &str, args: &[&str], home: &Path, locale: &str, path: Option<String>) -> Self {
        let pair = native_pty_system()
            .openpty(PtySize { rows: ROWS.get(), cols: COLUMNS.get(), pixel_width: 0, pixel_height: 0 })
            .expect("a pseudo-terminal");
        let mut command = CommandBuilder::new(program);
        command.args(args);
        command.env_clear();
        for (name, value) in [("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("LANG", locale)] {
            command.env(name, value);
        }
        command.env("HOME", home);
        if let Some(path) = path {
            command.env("PATH", path);
        }
        command.cwd(home);
        let child = pair.slave.spawn_command(command).expect("it starts");
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let keys = pair.master.take_writer().expect("a writer");
        let (send, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 16 << 10];
            while let Ok(n @ 1..) = reader.read(&mut buffer) {
                if send.send(buffer[..n].to_vec()).is_err() {
                    return;
                }
            }
        });
        Terminal { screen: vt100::Parser::new(ROWS, COLUMNS, 0), output, keys, child, master: pair.master, _home: None }
    }

    /// Waits until the screen holds a text.
    pub fn wait_for(&mut self, text: &str) {
        self.wait_until(text, |screen| screen.contains(text));
    }

    /// Waits until the screen is as it should be.
    pub fn wait_until(&mut self, what: &str, is: impl Fn(&str) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !is(&self.screen.screen().contents()) {
            match self.output.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.screen.process(&bytes),
                Err(RecvTimeoutError::Timeout) => {
                    panic!("{what:?} did not appear:\n{}", self.screen.screen().contents())
                }
                Err(RecvTimeoutError::Disconnected) => panic!("it ended:\n{}", self.screen.screen().contents()),
            }
        }
    }

    /// Waits likewise, and hands over every screen that was drawn meanwhile.
    pub fn watch(&mut self, text: &str, mut see: impl FnMut(&str)) {
        /// Ends a synchronized update: what is there now is what a person sees.
        const DRAWN: &[u8] = b"\x1b[?2026l";
        let end = Instant::now() + PATIENCE;
        let mut rest = Vec::new();
        while !self.screen.screen().contents().contains(text) {
            match self.output.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(bytes) => rest.extend(bytes),
                Err(_) => panic!("{text:?} did not appear:\n{}", self.screen.screen().contents()),
            }
            while let Some(at) = rest.windows(DRAWN.len()).position(|w| w == DRAWN) {
                let frame: Vec<u8> = rest.drain(..at + DRAWN.len()).collect();
                self.screen.process(&frame);
                see(&self.screen.screen().contents());
            }
        }
        self.screen.process(&rest);
    }

    /// Returns what is on it now.
    pub fn screen(&self) -> &vt100::Screen {
        self.screen.screen()
    }

    /// Types.
    pub fn keys(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("written");
        self.keys.flush().expect("flushed");
    }

    /// Presses a key and waits for what it does. What the key before did must be on the screen: a fresh proposal ignores
    /// keys until typing has paused, and from there on it has.
    pub fn press(&mut self, key: &str, text: &str) {
        /// Longer than that pause.
        const PAUSE: Duration = Duration::from_millis(500);
        std::thread::sleep(PAUSE);
        self.keys(key);
        self.wait_for(text);
    }

    /// Makes the terminal another size.
    fn resize(&mut self, rows: u16, cols: u16) {
        self.master.resize(PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }).expect("resized");
        let size = |n| NonZero::new(n).expect("a size");
        self.screen.screen_mut().set_size(size(rows), size(cols));
    }

    /// Sends a signal and waits for the end; whether the terminal was given back as it was.
    fn end_by(mut self, signal: Signal) -> bool {
        kill(self.child.process_id(), signal);
        self.child.wait().expect("it ends");
        drop(self.master);
        loop {
            match self.output.recv_timeout(PATIENCE) {
                Ok(bytes) => self.screen.process(&bytes),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the terminal is still open"),
            }
        }
        let screen = self.screen.screen();
        !screen.alternate_screen() && !screen.bracketed_paste() && !screen.hide_cursor()
    }

    /// The exit code once the program has ended by itself.
    pub fn exit(mut self) -> u32 {
        self.child.wait().expect("it ends").exit_code()
    }

    /// Ctrl-C twice; the exit code.
    pub fn leave(mut self) -> u32 {
        self.keys("\u{3}\u{3}");
        self.child.wait().expect("it ends").exit_code()
    }
}

/// Sends a signal to a process that was started here.
fn kill(id: Option<u32>, signal: Signal) {
    let id = id.and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)).expect("a process");
    kill_process(id, signal).expect("sent");
}

/// Writes a recording of a model that says hello, and returns its path.
fn hello(folder: &Path) -> PathBuf {
    let recording = folder.join("recording.jsonl");
    let lines = [
        "{\"recording\":1}",
        "{\"step\":1}",
        "{\"ms\":0,\"delta\":{\"text\":\"Hello.\"}}",
        "{\"ms\":0,\"delta\":{\"end\":\"stop\"}}",
    ];
    std::fs::write(&recording, lines.join("\n")).expect("written");
    recording
}

/// The beginning of an id that is told stays good when later sessions begin: they share nothing as long with it.
#[test]
fn a_conversation_line_by_line_says_how_it_is_resumed() {
    let home = tempfile::tempdir().expect("a folder");
    let recording = hello(home.path());
    let args = ["chat", "--replay", recording.to_str().expect("text")];
    let mut terminal = Terminal::start_in(env!("CARGO_BIN_EXE_nebula"), &args, home.path());
    terminal.keys("hi\n");
    terminal.wait_for("Hello.");
    terminal.keys("\u{4}");
    terminal.wait_for("resume with: nebula --resume ");
    let told = terminal.screen().contents();
    let id = told.split("--resume ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap_or_default();
    assert!(id.len() >= 13, "{told}");
    assert_eq!(terminal.exit(), 0);
}

/// No line says that it can be resumed, and all that was said is in a file.
#[test]
fn a_session_that_memory_cannot_take_is_kept_beside_it() {
    let home = tempfile::tempdir().expect("a folder");
    let recording = hello(home.path());
    let nebula = env!("CARGO_BIN_EXE_nebula");
    let mut list = std::process::Command::new(nebula);
    list.args(["sessions", "list"]).current_dir(home.path()).env_clear().env("HOME", home.path());
    assert!(list.status().expect("it runs").success());
    let other = rusqlite::Connection::open(home.path().join(".nebula/memory.db")).expect("a database");
    other.execute_batch("BEGIN IMMEDIATE").expect("locked");
    let replay = ["--replay", recording.to_str().expect("text")];
    for (args, leave) in [(replay.to_vec(), "\u{3}\u{3}"), ([["chat"].as_slice(), &replay].concat(), "\u{4}")] {
        let mut terminal = Terminal::start_in(nebula, &args, home.path());
        terminal.keys("hi there\r");
        terminal.wait_for("Hello.");
        terminal.keys(leave);
        terminal.wait_for("was not saved");
        let contents = terminal.screen().contents();
        assert!(!contents.contains("resume with"), "{contents}");
        assert_eq!(terminal.exit(), 0);
        let names = std::fs::read_dir(home.path().join(".nebula")).expect("a folder").flatten();
        let is_document = |path: &std::path::PathBuf| path.to_string_lossy().contains("/session-");
        let kept: Vec<_> = names.map(|entry| entry.path()).filter(is_document).collect();
        let [path] = kept.as_slice() else { panic!("{kept:?}") };
        let text = std::fs::read_to_string(path).expect("text");
        assert!(text.contains("hi there") && text.contains("Hello."), "{text}");
        std::fs::remove_file(path).expect("removed");
    }
}

#[test]
fn without_a_model_the_first_screen_offers_the_tour() {
    let mut terminal = Terminal::start(&[]);
    terminal.wait_for("▸ tour");
    assert_eq!(terminal.leave(), 0);
}

#[test]
fn the_tour_goes_from_a_key_to_a_command_that_is_undone() {
    let home = tempfile::tempdir().expect("a folder");
    let nebula = env!("CARGO_BIN_EXE_nebula");
    let mut terminal = Terminal::start_on(nebula, &["demo"], home.path(), "C.UTF-8", std::env::var("PATH").ok());
    terminal.wait_for("Load all prices in one query");
    terminal.wait_for("ready");
    terminal.keys("\r");
    terminal.wait_for("4 of 4 hunks undecided");
    terminal.press("a", "1 changeset");
    terminal.wait_for("to show that a command can be undone");
    terminal.press("\x1b[17~", "refuse");
    terminal.press("y", "will make it again");
    // What opens by itself takes no key so soon after another one.
    std::thread::sleep(Duration::from_millis(2_200));
    terminal.press("\r", "ready to write");
    terminal.press("\r", "3 changesets");
    terminal.wait_for("in a temporary copy");
    assert_eq!(terminal.leave(), 0);
}

#[test]
fn the_tour_undoes_no_command_that_was_refused() {
    let home = tempfile::tempdir().expect("a folder");
    let nebula = env!("CARGO_BIN_EXE_nebula");
    let mut terminal = Terminal::start_on(nebula, &["demo"], home.path(), "C.UTF-8", std::env::var("PATH").ok());
    terminal.wait_for("Load all prices in one query");
    terminal.wait_for("ready");
    terminal.keys("\r");
    terminal.wait_for("4 of 4 hunks undecided");
    terminal.press("a", "1 changeset");
    terminal.wait_for("to show that a command can be undone");
    terminal.press("\x1b[17~", "refuse");
    terminal.press("\r", "in a temporary copy");
    terminal.wait_until("no failure", |screen| !screen.contains("Nothing to undo") && screen.contains("failed 0"));
    assert_eq!(terminal.leave(), 0);
}

#[test]
fn keys_typed_before_the_first_frame_are_a_message() {
    let home = tempfile::tempdir().expect("a folder");
    let recording = home.path().join("hello.jsonl");
    let steps = "{\"recording\":1,\"model\":\"m\",\"provider\":\"replay\"}\n{\"step\":1}\n\
                 {\"ms\":0,\"delta\":{\"text\":\"Hello.\"}}\n{\"ms\":0,\"delta\":{\"end\":\"stop\"}}\n";
    std::fs::write(&recording, steps).expect("written");
    let replay = ["--replay", recording.to_str().expect("a name")];
    let nebula = env!("CARGO_BIN_EXE_nebula");
    for prompt in ["the older one", "the newer one"] {
        let mut task = std::process::Command::new(nebula);
        task.args(["task", replay[0], replay[1], prompt]).current_dir(home.path());
        let done = task.env_clear().env("HOME", home.path()).output().expect("it runs");
        assert!(done.status.success(), "{done:?}");
    }
    let mut terminal = Terminal::start_in(nebula, &replay, home.path());
    // As soon as there is a terminal.
    terminal.keys("new question");
    terminal.wait_until("prompt and sessions", |s| s.contains("› new question") && s.contains("the older one"));
    assert_eq!(terminal.leave(), 0);
}

#[test]
#[cfg(target_os = "linux")]
fn a_terminal_that_goes_away_without_a_signal_ends_it() {
    let home = tempfile::tempdir().expect("a folder");
    let pair = native_pty_system()
        .openpty(PtySize { rows: ROWS.get(), cols: COLUMNS.get(), pixel_width: 0, pixel_height: 0 })
        .expect("a pseudo-terminal");
    // The shell leads the session, so the signal is sent to it, and it ignores it.
    let mut command = CommandBuilder::new("/bin/sh");
    command.args(["-c", "trap '' HUP; \"$0\" demo; true", env!("CARGO_BIN_EXE_nebula")]);
    command.env_clear();
    command.env("HOME", home.path());
    command.env("TERM", "xterm-256color");
    command.cwd(home.path());
    let mut child = pair.slave.spawn_command(command).expect("it starts");
    let shell = child.process_id();
    let (send, ended) = channel();
    // Without its leader the session ends, and nothing below waits any longer.
    let watch = std::thread::spawn(move || {
        let in_time = ended.recv_timeout(PATIENCE).is_ok();
        if !in_time {
            kill(shell, Signal::KILL);
        }
        in_time
    });
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().expect("a reader");
    let mut keys = pair.master.take_writer().expect("a writer");
    let mut screen = vt100::Parser::new(ROWS, COLUMNS, 0);
    let mut wait_for = |text: &str| {
        let mut buffer = [0; 4096];
        while !screen.screen().contents().contains(text) {
            let n = reader.read(&mut buffer).expect("the screen");
            screen.process(&buffer[..n]);
        }
    };
    wait_for("Load all prices in one query");
    // A frame of one piece: from then on it is idle, and notices nothing by writing.
    keys.write_all(b"zz").expect("written");
    wait_for("zz");
    drop((reader, keys, pair.master));
    let _ = child.wait();
    let _ = send.send(());
    assert!(watch.join().expect("watched"), "it went on without a terminal");
}

/// The screen, and a panic while it is up.
#[test]
#[ignore = "panics on purpose: another test runs it in a terminal of its own"]
fn a_panic_on_the_screen() {
    let (commands, mut sent_commands) = tokio::sync::mpsc::unbounded_channel();
    let (_events, agent_events) = tokio::sync::mpsc::channel(1);
    let options = Options { start: Start::Session(SessionChoice::New), ..Options::default() };
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        tokio::select! {
            biased;
            _ = nebula::tui::run((commands, agent_events), options) => {}
            _ = sent_commands.recv() => panic!("provoked while the screen is up"),
        }
    });
}

#[test]
fn a_panic_gives_the_terminal_back_before_it_is_reported() {
    let home = tempfile::tempdir().expect("a folder");
    let own = std::env::current_exe().expect("this program");
    let args = ["--exact", "pty::a_panic_on_the_screen", "--ignored", "--nocapture"];
    let terminal = Terminal::start_in(&own.display().to_string(), &args, home.path());
    let mut all = Vec::new();
    loop {
        match terminal.output.recv_timeout(PATIENCE) {
            Ok(bytes) => all.extend(bytes),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("it does not end"),
        }
    }
    let text = String::from_utf8_lossy(&all);
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what:?} is not in {text:?}"));
    let (entered, left, agent_events) = (at("\x1b[?1049h"), at("\x1b[?1049l"), at("provoked while the screen is up"));
    assert!(entered < left && left < agent_events, "{text:?}");
    assert!(
        text[entered..agent_events].contains("\x1b[?25h") && text[entered..agent_events].contains("\x1b[?2004l"),
        "{text:?}"
    );
    // Out of raw mode a new line begins at the left edge.
    assert!(text[agent_events..].contains("\r\n"), "{text:?}");
}

#[test]
fn signals_give_the_terminal_back_and_keep_the_session() {
    let home = tempfile::tempdir().expect("a folder");
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo.jsonl");
    let nebula = env!("CARGO_BIN_EXE_nebula");
    for (n, signal) in [Signal::TERM, Signal::HUP, Signal::QUIT].into_iter().enumerate() {
        let words = format!("what was said before signal {n}");
        let mut terminal = Terminal::start_in(nebula, &["--replay", recording, &words], home.path());
        terminal.wait_for(&words);
        terminal.wait_for("call");
        assert!(terminal.end_by(signal), "{signal:?}");
        let mut list = std::process::Command::new(nebula);
        list.args(["sessions", "list", "--json"]).current_dir(home.path());
        let listed = list.env_clear().env("HOME", home.path()).output().expect("listed").stdout;
        let listed: serde_json::Value = serde_json::from_slice(&listed).expect("JSON");
        let listed = listed.as_array().expect("sessions");
        assert_eq!(listed.len(), n + 1, "{listed:?}");
        assert!(listed.iter().all(|s| !s["ended_at"].is_null()), "{listed:?}");
    }
}

#[test]
#[ignore = "on demand: on a machine at its limit the storm and its patience are matters of luck"]
fn a_storm_of_sizes_ends_in_a_whole_screen() {
    let mut terminal = Terminal::start(&["demo"]);
    // Until its example is in the input, Enter sends nothing.
    terminal.wait_for("Load all prices in one query");
    terminal.wait_for("ready");
    let mut seed = 7u32;
    let mut next = |from: u16, to: u16| {
        seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        from + ((seed >> 16) as u16) % (to - from)
    };
    for n in 0..200 {
        terminal.resize(next(5, 60), next(20, 220));
        if n == 50 {
            terminal.keys("\r");
        }
    }
    terminal.resize(9, 39);
    terminal.wait_for("nebula needs 40");
    terminal.resize(10, 40);
    terminal.wait_until("the panes", |screen| !screen.contains("nebula needs") && screen.contains('─'));
    terminal.resize(ROWS.get(), COLUMNS.get());
    terminal.wait_for("4 of 4 hunks undecided");
    assert_eq!(terminal.leave(), 0);
}

/// `nebula run` in a terminal: the command has one of its own, of the same size, with keys, and Ctrl-C is its own.
#[test]
#[cfg(target_os = "linux")]
fn a_command_of_the_person_has_a_terminal() {
    let home = tempfile::tempdir().expect("a folder");
    // From the last line on the shell runs no other program: one that ends as Ctrl-C comes would keep it from the shell.
    let text = "test -t 0 && test -t 2 && echo \"$TERM ${NO_COLOR-coloured}\"; stty size; read line; echo \"got $line\"; \
                echo here > \"$(tty)\"; echo made > file; trap 'stty size; echo resized' WINCH; echo waits; \
                while :; do read -t 1 line; done";
    let path = std::env::var("PATH").expect("a path");
    let program = env!("CARGO_BIN_EXE_nebula");
    let mut terminal = Terminal::start_on(program, &["run", "--", text], home.path(), "C.UTF-8", Some(path));
    terminal.wait_for("xterm-256color coloured");
    terminal.wait_for("40 140");
    terminal.keys("hello\r");
    terminal.wait_for("got hello");
    terminal.wait_for("waits");
    terminal.resize(30, 100);
    terminal.wait_for("30 100\nresized");
    terminal.keys("\u{3}");
    terminal.wait_for("changed 1 file");
    let text = terminal.screen().contents();
    assert!(text.contains("\nhere\n") && !text.contains("refused"), "{text}");
    assert!(text.contains("^C\n"), "what nebula says begins a line: {text}");
    assert_eq!(terminal.exit(), 130);
    assert_eq!(std::fs::read_to_string(home.path().join("file")).expect("it stays"), "made\n");
}

/// A signal that ends `nebula run` stops the command, archives what it changed and gives the terminal back.
#[test]
#[cfg(target_os = "linux")]
fn a_signal_ends_a_command_of_the_person_and_loses_nothing() {
    let home = tempfile::tempdir().expect("a folder");
    std::fs::write(home.path().join("file"), "first\n").expect("written");
    let text = "echo second > file; echo waits; while :; do read -t 1 line; done";
    let path = std::env::var("PATH").expect("a path");
    let program = env!("CARGO_BIN_EXE_nebula");
    let mut terminal = Terminal::start_on(program, &["run", "--", text], home.path(), "C.UTF-8", Some(path));
    terminal.wait_for("waits");
    let is_raw = |terminal: &Terminal| {
        let mode = terminal.master.get_termios().expect("a terminal");
        !mode.local_flags.iter().any(|flag| format!("{flag:?}").contains("ICANON"))
    };
    assert!(is_raw(&terminal));
    kill(terminal.child.process_id(), Signal::TERM);
    terminal.wait_for("changed 1 file");
    terminal.child.wait().expect("it ends");
    assert!(!is_raw(&terminal));
    let mut undo = std::process::Command::new(program);
    undo.args(["undo", "--yes"]).env_clear().env("HOME", home.path()).current_dir(home.path());
    assert!(undo.output().expect("it runs").status.success());
    assert_eq!(std::fs::read_to_string(home.path().join("file")).expect("it is there"), "first\n");
}

/// The first Ctrl-C at the prompt of line mode clears what was typed, as in a shell, and the second ends it.
#[test]
fn line_mode_ends_at_the_second_ctrl_c() {
    let home = tempfile::tempdir().expect("a folder");
    std::fs::write(home.path().join("recording.jsonl"), "{\"recording\":1}\n").expect("written");
    let arguments = ["chat", "--replay", "recording.jsonl"];
    let mut terminal = Terminal::start_in(env!("CARGO_BIN_EXE_nebula"), &arguments, home.path());
    terminal.wait_for("you> ");
    terminal.keys("half a mess");
    terminal.wait_for("half a mess");
    terminal.keys("\u{3}");
    terminal.wait_for("Ctrl-C again ends nebula");
    terminal.wait_until("a prompt without words", |screen| screen.trim_end().ends_with("you>"));
    terminal.keys("/help\r");
    terminal.wait_until("another prompt", |screen| screen.trim_end().ends_with("you>") && screen.contains("/help"));
    terminal.keys("\u{3}");
    terminal.wait_until("the warning again", |screen| screen.matches("Ctrl-C again ends nebula").count() == 2);
    terminal.keys("\u{3}");
    assert_eq!(terminal.exit(), 0);
}

/// Starts line mode in a folder, on a model that changes `one` in `a.txt` to `ONE`.
fn line_mode_that_edits(home: &Path) -> Terminal {
    let edit = serde_json::json!({"path": "a.txt", "search": "one", "replace": "ONE"}).to_string();
    let recording = [
        serde_json::json!({"recording": 1}),
        serde_json::json!({"step": 1}),
        serde_json::json!({"ms": 0, "delta": {"call": {"index": 0, "id": "c", "name": "replaceInFile", "arguments": edit}}}),
        serde_json::json!({"ms": 0, "delta": {"end": "calls"}}),
        serde_json::json!({"step": 2}),
        serde_json::json!({"ms": 0, "delta": {"text": "Done."}}),
        serde_json::json!({"ms": 0, "delta": {"end": "stop"}}),
    ];
    let text: String = recording.iter().map(|line| format!("{line}\n")).collect();
    std::fs::create_dir_all(home.join("work/.git")).expect("made");
    std::fs::write(home.join("recording.jsonl"), text).expect("written");
    std::fs::write(home.join("work/a.txt"), "one\n").expect("written");
    let (program, recording) = (env!("CARGO_BIN_EXE_nebula"), home.join("recording.jsonl"));
    let arguments = ["chat", "--replay", recording.to_str().expect("text")];
    let mut terminal = Terminal::start_in(program, &arguments, &home.join("work"));
    terminal.wait_until("a prompt", |screen| screen.trim_end().ends_with("you>"));
    terminal
}

/// An answer counts as soon as its question is printed, and one that was begun before goes neither there nor to the model.
#[test]
fn line_mode_takes_the_answer_that_was_begun_after_its_question() {
    let home = tempfile::tempdir().expect("a folder");
    let mut terminal = line_mode_that_edits(home.path());
    let prompt = |words: &'static str| move |screen: &str| screen.trim_end().ends_with(words);
    let file = || std::fs::read_to_string(home.path().join("work/a.txt")).expect("it is there");
    terminal.keys("shout\ry");
    terminal.wait_until("the proposal", prompt("decide>"));
    terminal.keys("\r");
    terminal.wait_for("dropped, because it was typed before the question: y");
    terminal.wait_until("the proposal again", prompt("decide>"));
    assert_eq!(file(), "one\n");
    terminal.keys("y\r");
    terminal.wait_for("1 of 1 hunk written");
    terminal.wait_for("nebula: Done.");
    terminal.wait_until("a prompt", prompt("you>"));
    terminal.keys("undo\r");
    terminal.wait_until("the question", prompt("answer>"));
    terminal.keys("y\r");
    terminal.wait_for("restored a.txt");
    terminal.wait_until("a prompt", prompt("you>"));
    let screen = terminal.screen().contents();
    assert_eq!((screen.matches("typed before").count(), screen.matches("nebula: ").count()), (1, 1), "{screen}");
    assert_eq!(file(), "one\n");
}

/// Ctrl-C stops the turn and what would begin another one.
#[test]
fn line_mode_drops_what_waits_to_be_sent_at_ctrl_c() {
    let home = tempfile::tempdir().expect("a folder");
    let mut terminal = line_mode_that_edits(home.path());
    terminal.keys("shout\rlook again");
    terminal.wait_until("the proposal", |screen| screen.trim_end().ends_with("decide>"));
    terminal.keys("\r");
    terminal.wait_for("kept for later, because it was typed before the question: look again");
    terminal.keys("\u{3}");
    terminal.wait_for("dropped, not sent: look again");
    terminal.wait_until("a prompt", |screen| screen.trim_end().ends_with("you>") && screen.contains("interrupted"));
    let screen = terminal.screen().contents();
    assert!(!screen.contains("nebula: Done."), "{screen}");
    terminal.keys("\u{4}");
    assert_eq!(terminal.exit(), 0);
}
