//! SIGINT and SIGTERM end the real program, whatever the model sends, whatever a file or a lock makes it wait for, and
//! whether anyone reads what it prints.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::pty::Terminal;

/// The time that the program may take to end on a busy machine; by itself it takes some milliseconds.
const BOUND: Duration = Duration::from_secs(20);
/// The time that it may work until then, whatever else the machine does: a debug build takes some hundredths of a second.
const WORK: Duration = Duration::from_millis(600);

/// Writes the body of an answer of the model's server.
type Body = fn(&mut TcpStream) -> std::io::Result<()>;

struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new(body: Body) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let config = json!({"baseUrl": serve(body), "apiKeyEnv": "TEST_KEY", "approval": "edits"});
        fs::create_dir_all(dir.path().join("work/.git")).expect("made");
        fs::create_dir_all(dir.path().join("home/.nebula")).expect("made");
        fs::write(dir.path().join("home/.nebula/config.json"), config.to_string()).expect("written");
        World { dir }
    }

    fn work(&self, name: &str) -> PathBuf {
        self.dir.path().join("work").join(name)
    }

    fn task(&self, words: &[&str]) -> Task {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nebula"));
        command.args(["task", "go", "--json"]).args(words).current_dir(self.work("")).env_clear();
        command.env("HOME", self.dir.path().join("home")).env("TEST_KEY", "k");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        Task { child: command.spawn().expect("started") }
    }
}

/// A running task. It does not outlive its test.
struct Task {
    child: Child,
}

impl Drop for Task {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Task {
    /// Reads what is printed from now on, to its end.
    fn lines(&mut self) -> Receiver<Value> {
        let (tell, lines) = channel();
        let out = BufReader::new(self.child.stdout.take().expect("piped"));
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let _ = tell.send(serde_json::from_str(&line).unwrap_or_default());
            }
        });
        lines
    }

    /// Waits until the program has opened a file of this name.
    fn opens(&self, name: &str) {
        let began = Instant::now();
        let is_open = || {
            let files = fs::read_dir(format!("/proc/{}/fd", self.child.id())).expect("listed").flatten();
            files.filter_map(|fd| fs::read_link(fd.path()).ok()).any(|to| to.ends_with(name))
        };
        while !is_open() {
            assert!(began.elapsed() < Duration::from_secs(30), "{name} was never opened");
            std::thread::yield_now();
        }
    }

    /// Waits until the program receives the signals itself: its message may not be sent yet.
    fn listens(&self) {
        const BOTH: u64 = 1 << 1 | 1 << 14;
        let began = Instant::now();
        let caught = || {
            let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("a process");
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("a mask").trim();
            u64::from_str_radix(caught, 16).expect("a number")
        };
        while caught() & BOTH != BOTH {
            assert!(began.elapsed() < Duration::from_secs(30), "the signals were never received");
            std::thread::yield_now();
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.child.id().cast_signed()).expect("a process"), signal).expect("sent");
    }

    /// Its state, and how long it has worked, in all threads.
    fn worked(&self) -> (char, Duration) {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("a process");
        // The name before them may hold anything but this.
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        let ticks: u64 = fields[11..13].iter().map(|ticks| ticks.parse::<u64>().expect("a number")).sum();
        (fields[0].chars().next().unwrap_or_default(), Duration::from_millis(ticks * 10))
    }

    /// Sends a signal; the exit code, how long the end took, and how long the program worked for it.
    fn end(mut self, by: Signal) -> (Option<i32>, Duration, Duration) {
        let (sent, (_, before)) = (Instant::now(), self.worked());
        self.signal(by);
        loop {
            let (state, after) = self.worked();
            if state == 'Z' {
                let took = sent.elapsed();
                let status = self.child.wait().expect("waited for");
                println!("{status}");
                return (status.code(), took, after.saturating_sub(before));
            }
            assert!(sent.elapsed() < Duration::from_secs(60), "it does not end");
            std::thread::park_timeout(Duration::from_millis(1));
        }
    }
}

/// A model's server. Returns the base of its addresses.
fn serve(body: Body) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream, body));
        }
    });
    url
}

fn answer(mut stream: TcpStream, body: Body) -> std::io::Result<()> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")).unwrap_or("0");
    stream.read_exact(&mut vec![0; length.trim().parse().expect("a length")])?;
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    body(&mut stream)
}

fn event(delta: Value) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]}))
}

fn call(index: usize, name: &str, arguments: &Value) -> String {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    event(json!({"tool_calls": [{"index": index, "id": format!("c{index}"), "function": function}]}))
}

/// Text without end that does not repeat itself, as fast as it is read.
fn flood(stream: &mut TcpStream) -> std::io::Result<()> {
    let mut words =
        (0_u64..).map(|i| event(json!({"content": format!("{:x} ", i.wrapping_mul(0x9e37_79b9_7f4a_7c15))})));
    loop {
        let many: String = words.by_ref().take(500).collect();
        stream.write_all(many.as_bytes())?;
    }
}

/// Nothing, not even the list of its models.
fn silence(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.read(&mut [0]).map(drop)
}

/// Very many calls in one answer.
fn calls(stream: &mut TcpStream) -> std::io::Result<()> {
    let all: String = (0..20_000).map(|i| call(i, "readFile", &json!({"path": format!("f{i}.rs")}))).collect();
    stream.write_all(all.as_bytes())?;
    stream.write_all(END)
}

/// One change of a file that takes long to read.
fn deletes(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(call(0, "deleteFile", &json!({"path": "big.bin"})).as_bytes())?;
    stream.write_all(END)
}

/// One change of a small file.
fn writes(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(call(0, "writeFile", &json!({"path": "new.txt", "content": "new\n"})).as_bytes())?;
    stream.write_all(END)
}

const END: &[u8] =
    b"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";

/// Ends a task by each signal in the state that `reach` brings it to.
fn ends(what: &str, body: Body, reach: impl Fn(&World, &mut Task)) {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let world = World::new(body);
        // Longer to read than any test waits, and nothing on the disk.
        File::create(world.work("big.bin")).and_then(|file| file.set_len(1 << 38)).expect("a sparse file");
        let mut task = world.task(&[]);
        reach(&world, &mut task);
        let (ended, took, worked) = task.end(signal);
        println!("{what}, {signal:?}: {took:?}, {worked:?} of work");
        assert_eq!(ended, Some(code), "{what}");
        assert!(took < BOUND && worked < WORK, "{what}: {took:?}, {worked:?} of work");
        assert!(!world.work("new.txt").exists() && world.work("big.bin").exists(), "{what}: something was written");
    }
}

/// Reads until an event of this type.
fn until(lines: &Receiver<Value>, kind: &str) {
    while lines.recv_timeout(Duration::from_secs(60)).expect("an event within 60 s")["type"] != kind {}
}

#[test]
fn a_flood_of_text_is_ended() {
    ends("flood", flood, |_, task| until(&task.lines(), "text"));
}

#[test]
fn a_task_whose_message_is_not_sent_yet_is_interrupted() {
    ends("before the first request", silence, |_, task| task.listens());
}

#[test]
fn an_answer_of_very_many_calls_is_ended() {
    ends("calls", calls, |_, task| until(&task.lines(), "tool_call"));
    ends("calls, many of them run", calls, |_, task| {
        let lines = task.lines();
        (0..200).for_each(|_| until(&lines, "tool_result"));
    });
}

#[test]
fn the_reading_of_a_huge_file_is_ended() {
    ends("read", deletes, |_, task| {
        task.lines();
        task.opens("big.bin");
    });
}

#[test]
fn the_wait_for_the_archive_is_ended() {
    let held = std::cell::RefCell::new(Vec::new());
    ends("lock", writes, |world, task| {
        let shaft = world.work(".shaft");
        let _ = fs::create_dir(&shaft);
        let lock = File::create(shaft.join("lock")).expect("made");
        lock.lock().expect("locked");
        held.borrow_mut().push(lock);
        until(&task.lines(), "decision");
        task.opens(".shaft/lock");
    });
}

#[test]
fn a_task_whose_output_nobody_reads_is_ended() {
    let world = World::new(flood);
    let mut task = world.task(&[]);
    let out = task.child.stdout.take().expect("piped");
    // The pipe takes sixteen pieces of at most 4 KiB: soon the program waits in the middle of a line.
    let began = Instant::now();
    while rustix::io::ioctl_fionread(&out).expect("a pipe") < 32 << 10 {
        assert!(began.elapsed() < Duration::from_secs(60), "the pipe is never full");
        std::thread::yield_now();
    }
    let (ended, took, _) = task.end(Signal::TERM);
    assert_eq!(ended, Some(143));
    println!("unread: {took:?}");
    assert!(took < BOUND, "{took:?}");
}

#[test]
fn a_question_at_the_terminal_is_ended() {
    let home = tempfile::tempdir().expect("a folder");
    let call =
        json!({"index": 0, "id": "c", "name": "writeFile", "arguments": r#"{"path": "new.txt", "content": ""}"#});
    let lines = [json!({"recording": 1}), json!({"step": 1}), json!({"ms": 0, "delta": {"call": call}})];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(home.path().join("recording"), text).expect("written");
    let words = ["task", "go", "--approve", "ask", "--replay", "recording"];
    let mut terminal = Terminal::start_in(env!("CARGO_BIN_EXE_nebula"), &words, home.path());
    terminal.wait_for("write this?");
    terminal.keys("\u{3}");
    assert_eq!(terminal.exit(), 130);
    assert!(!home.path().join("new.txt").exists());
}
