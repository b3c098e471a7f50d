//! The lines of standard input, and at a terminal when each was begun. A terminal hands over whole lines; where a question
//! is printed, what stands of an unended line is read at once, so that it is known to be older than the question.

use std::io::{self, BufRead, IsTerminal};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A line of the input.
pub struct InputLine {
    /// The text of the line, without its end.
    pub text: String,
    /// The times when a person began and ended it; none: nobody typed it.
    pub typed: Option<(Instant, Instant)>,
}

impl InputLine {
    fn new(bytes: &[u8], typed: Option<(Instant, Instant)>) -> Self {
        // What is no UTF-8 ends neither the line nor the input.
        let text = String::from_utf8_lossy(bytes.strip_suffix(b"\r").unwrap_or(bytes)).into_owned();
        InputLine { text, typed }
    }

    /// Returns whether a person began it before its question was printed at `put`.
    pub fn is_early(&self, put: Option<Instant>) -> bool {
        self.typed.zip(put).is_some_and(|((begun, _), put)| begun < put)
    }

    /// Returns whether it was ended by then as well: the question was printed behind it.
    pub fn is_before(&self, put: Option<Instant>) -> bool {
        self.typed.zip(put).is_some_and(|((_, ended), put)| ended < put)
    }
}

/// The lines of standard input as they come, read on a thread of their own.
pub struct InputLines {
    received: UnboundedReceiver<InputLine>,
    /// The line of a terminal that has not ended.
    unended: Option<Arc<Mutex<UnendedLine>>>,
}

impl InputLines {
    /// Begins to read.
    pub fn open() -> Self {
        let (to, received) = unbounded_channel();
        if !io::stdin().is_terminal() {
            std::thread::spawn(move || {
                let lines = io::stdin().lock().split(b'\n').map_while(Result::ok);
                lines.map(|bytes| to.send(InputLine::new(&bytes, None))).all(|sent| sent.is_ok())
            });
            return InputLines { received, unended: None };
        }
        let unended = Arc::new(Mutex::new(UnendedLine { bytes: Vec::new(), begun: None, to: Some(to) }));
        let read = Arc::clone(&unended);
        std::thread::spawn(move || {
            while reads_on(&read) {}
            lock(&read).to = None;
        });
        InputLines { received, unended: Some(unended) }
    }

    /// Returns the next line; none at the end of input.
    pub async fn next(&mut self) -> Option<InputLine> {
        self.received.recv().await
    }

    /// Returns the present moment: what was typed until now is known to be older.
    pub fn mark(&self) -> Instant {
        let Some(unended) = &self.unended else { return Instant::now() };
        let mut unended = lock(unended);
        unended.take_in(&read_unended());
        // Taken under the lock: what the other thread reads is younger.
        Instant::now()
    }

    /// Drops what was typed and not taken yet; returns the lines of it.
    pub fn drop_typed(&mut self) -> Vec<String> {
        let Some(unended) = &self.unended else { return Vec::new() };
        lock(unended).end();
        std::iter::from_fn(|| self.received.try_recv().ok()).map(|line| line.text).collect()
    }
}

/// The line of a terminal that has not ended.
struct UnendedLine {
    bytes: Vec<u8>,
    begun: Option<Instant>,
    /// The receiver of its lines; none: the input has ended.
    to: Option<UnboundedSender<InputLine>>,
}

impl UnendedLine {
    fn take_in(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.begun.get_or_insert_with(Instant::now);
            match piece.strip_suffix(b"\n") {
                Some(last) => {
                    self.bytes.extend(last);
                    self.end();
                }
                None => self.bytes.extend(piece),
            }
        }
    }

    /// Ends the line, where one was begun; returns whether one was.
    fn end(&mut self) -> bool {
        let bytes = std::mem::take(&mut self.bytes);
        let Some(begun) = self.begun.take() else { return false };
        if let Some(to) = &self.to {
            // Nobody reads on.
            let _ = to.send(InputLine::new(&bytes, Some((begun, Instant::now()))));
        }
        true
    }
}

fn lock(line: &Mutex<UnendedLine>) -> MutexGuard<'_, UnendedLine> {
    line.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for what is typed and takes it in; returns whether more may come.
fn reads_on(line: &Mutex<UnendedLine>) -> bool {
    let stdin = io::stdin();
    let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
    match poll(&mut ready, None) {
        Err(Errno::INTR) => return true,
        Err(_) => return false,
        Ok(_) => {}
    }
    let mut line = lock(line);
    // The question's own reading may have been quicker.
    if poll(&mut ready, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) == Ok(0) {
        return true;
    }
    let mut bytes = [0; 4096];
    match rustix::io::read(&stdin, &mut bytes) {
        // Ctrl-D: behind a text it hands that over, and alone it ends the input.
        Ok(0) => line.end(),
        Ok(n) => {
            line.take_in(&bytes[..n]);
            true
        }
        Err(error) => error == Errno::INTR,
    }
}

/// Reads what a terminal holds now, the line that has not ended as well: for that moment it hands over each character.
fn read_unended() -> Vec<u8> {
    let (stdin, mut bytes) = (io::stdin(), Vec::new());
    let Ok(usual) = tcgetattr(&stdin) else { return bytes };
    let mut at_once = usual.clone();
    at_once.local_modes.remove(LocalModes::ICANON);
    // Reads return at once, with nothing if there is nothing.
    at_once.special_codes[SpecialCodeIndex::VMIN] = 0;
    at_once.special_codes[SpecialCodeIndex::VTIME] = 0;
    if tcsetattr(&stdin, OptionalActions::Now, &at_once).is_err() {
        return bytes;
    }
    let mut part = [0; 4096];
    while let Ok(n @ 1..) = rustix::io::read(&stdin, &mut part) {
        bytes.extend(&part[..n]);
    }
    let _ = tcsetattr(&stdin, OptionalActions::Now, &usual);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_line_is_early_by_its_first_character_and_before_by_its_last() {
        let put = Instant::now();
        let (before, after) = (put.checked_sub(Duration::from_millis(1)).expect("a time"), put);
        let line = |typed| InputLine::new(b"all", typed);
        for (typed, is_early, is_before) in [
            (Some((before, before)), true, true),
            (Some((before, after)), true, false),
            (Some((after, after)), false, false),
            // A pipe is not typed.
            (None, false, false),
        ] {
            let line = line(typed);
            assert_eq!((line.is_early(Some(put)), line.is_before(Some(put))), (is_early, is_before));
            assert!(!line.is_early(None) && !line.is_before(None));
        }
    }

    #[test]
    fn an_unended_line_keeps_the_time_of_its_first_character() {
        let (to, mut received) = unbounded_channel();
        let mut line = UnendedLine { bytes: Vec::new(), begun: None, to: Some(to) };
        line.take_in(b"on");
        let put = Instant::now();
        line.take_in(b"e\r\ntwo\n");
        let [one, two] = [(); 2].map(|()| received.try_recv().expect("a line"));
        assert_eq!((one.text.as_str(), one.is_early(Some(put)), one.is_before(Some(put))), ("one", true, false));
        assert_eq!((two.text.as_str(), two.is_early(Some(put))), ("two", false));
        assert!(!line.end() && received.try_recv().is_err(), "an end alone is no line");
        line.take_in(b"three");
        assert!(line.end() && received.try_recv().is_ok_and(|line| line.text == "three"));
    }
}
