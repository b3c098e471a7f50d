//! The output of a command: cleaned line by line, whole in a log, and its head and tail for the model.

pub mod mask;
pub mod record;
mod tests_of;

pub use tests_of::{TestSummary, summarise_test};

use std::collections::VecDeque;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use mask::Masker;

use crate::disk;
use crate::text::number::thousands;

/// The largest log; of a longer output the middle is left out.
const LARGEST_LOG: u64 = 64 << 20;
/// The bytes of the end of a longer output that the log holds.
const LOG_TAIL: usize = 1 << 20;
/// A line that has not ended by then is handed out in pieces.
const LONGEST_LINE: usize = 1 << 20;
/// Columns of such a line that are held, so that the words about its length have room in those that the model gets.
const BEGINNING: usize = COLUMNS - 50;
/// The bytes of the beginning and of the end that the model gets.
const HEAD: usize = 8 << 10;
const TAIL: usize = 24 << 10;
/// With more than one odd byte in this many an output that has a NUL is binary.
const ODD: u64 = 10;
/// Columns of a line that the model gets.
const COLUMNS: usize = 2_000;
/// Lines that the screen may show.
const SHOWN: usize = 2_000;
/// And their bytes.
const SHOWN_BYTES: usize = 2 << 20;

/// Takes escape sequences out of bytes as they come, and carries out what moves within a line.
#[derive(Debug, Default)]
pub struct Cleaner {
    line: Vec<u8>,
    /// The text of the line before the last carriage return; the part that is not overwritten shows.
    under: Vec<u8>,
    escape: Escape,
    /// The last byte was a carriage return.
    returned: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    /// ESC was read.
    Begun,
    /// Within a control sequence, up to a letter.
    Sequence,
    /// Within a string, up to BEL or ESC `\`.
    Text,
    /// Within a string, after ESC.
    TextEnds,
    /// One more byte belongs to it.
    One,
}

impl Cleaner {
    /// Takes bytes; hands out each line that is over, without its ending, and pieces of one that is very long: the second
    /// says whether the line is over.
    pub fn take(&mut self, mut bytes: &[u8], line: &mut impl FnMut(String, bool)) {
        while let Some(&byte) = bytes.first() {
            if self.escape == Escape::None && !is_special(byte) && !self.returned {
                let plain = bytes.iter().position(|b| is_special(*b)).unwrap_or(bytes.len());
                self.line.extend_from_slice(&bytes[..plain]);
                bytes = &bytes[plain..];
                if self.line.len() > LONGEST_LINE {
                    line(self.end_piece(), false);
                }
                continue;
            }
            bytes = &bytes[1..];
            self.special(byte, line);
        }
    }

    /// Returns whether a line is not over yet.
    fn is_within_line(&self) -> bool {
        !self.line.is_empty() || !self.under.is_empty()
    }

    /// Returns the line that is not over yet; none where it is empty.
    pub fn rest(&self) -> Option<String> {
        self.is_within_line().then(|| overlay(&self.line, &self.under))
    }

    /// Ends the line that is not over yet and returns it; `None` where it is empty.
    pub fn finish(&mut self) -> Option<String> {
        let rest = self.rest();
        self.end_line();
        rest
    }

    fn special(&mut self, byte: u8, line: &mut impl FnMut(String, bool)) {
        if self.escape != Escape::None {
            self.escape = after(self.escape, byte);
            return;
        }
        if std::mem::take(&mut self.returned) && byte != b'\n' && byte != b'\r' {
            let over = std::mem::take(&mut self.line);
            self.under = overlay(&over, &self.under).into_bytes();
        }
        match byte {
            b'\n' => line(self.end_line(), true),
            b'\r' => self.returned = true,
            0x1b => self.escape = Escape::Begun,
            0x08 => drop(self.line.pop()),
            b'\t' => self.line.push(b'\t'),
            // As between the names of a list.
            0 if self.is_within_line() => line(self.end_line(), true),
            0..=0x1f | 0x7f => {}
            byte => self.line.push(byte),
        }
    }

    /// Hands out what there is of a line that goes on, up to the last whole character.
    fn end_piece(&mut self) -> String {
        let whole = match str::from_utf8(&self.line) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.line.len(),
        };
        let next = self.line.split_off(whole);
        let piece = self.end_line();
        self.line = next;
        piece
    }

    fn end_line(&mut self) -> String {
        self.returned = false;
        let text = overlay(&self.line, &self.under);
        self.line.clear();
        self.under.clear();
        text
    }
}

fn is_special(byte: u8) -> bool {
    byte < 0x20 && byte != b'\t' || byte == 0x7f
}

fn after(escape: Escape, byte: u8) -> Escape {
    match (escape, byte) {
        (Escape::Begun, b'[') => Escape::Sequence,
        (Escape::Begun, b']' | b'P' | b'X' | b'^' | b'_') => Escape::Text,
        (Escape::Begun, b'(' | b')' | b'*' | b'+' | b'#' | b'%' | b' ') => Escape::One,
        (Escape::Sequence, 0x40..=0x7e) => Escape::None,
        (Escape::Sequence, _) => Escape::Sequence,
        (Escape::Text | Escape::TextEnds, 0x07) | (Escape::TextEnds, b'\\') => Escape::None,
        (Escape::Text | Escape::TextEnds, 0x1b) => Escape::TextEnds,
        (Escape::Text | Escape::TextEnds, _) => Escape::Text,
        _ => Escape::None,
    }
}

/// Returns a line over another: what is longer of the lower one shows.
fn overlay(line: &[u8], under: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(line).into_owned();
    if !under.is_empty() {
        let over = text.chars().count();
        text.extend(String::from_utf8_lossy(under).chars().skip(over));
    }
    text
}

/// The file that holds the whole output.
#[derive(Debug)]
struct Log {
    file: BufWriter<File>,
    size: u64,
    /// The end of what no longer fits.
    tail: VecDeque<u8>,
    left_out: u64,
    /// True if what stands in the file ends within a line.
    within_line: bool,
}

/// The part of an output that is new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOutput {
    /// The number of lines before these that are not held any more.
    pub missed: usize,
    /// Whole lines.
    pub lines: Vec<String>,
    /// The line that is not over yet, as long as the model gets one; empty: there is none.
    pub begun: String,
}

/// The output of one command.
#[derive(Debug, Default)]
pub struct Output {
    /// Masks secrets of several lines.
    masker: Masker,
    cleaner: Cleaner,
    secrets: Vec<(String, String)>,
    log: Option<Log>,
    log_error: Option<String>,
    head: String,
    head_lines: usize,
    tail: VecDeque<String>,
    tail_bytes: usize,
    lines: usize,
    /// The beginning of a very long line that is not over yet, and its bytes so far.
    long: Option<(String, usize)>,
    /// The number of lines that [`Output::take_printed`] returned.
    handed_out: usize,
    /// The unfinished line that it returned.
    handed_begun: String,
    bytes: u64,
    /// The number of those that are NUL.
    nuls: u64,
    /// The number of those that are NUL or belong to no character.
    odd: u64,
}

impl Output {
    /// Creates the output with a log at `path`. A value of `secrets` (name, value) is replaced by its name.
    pub fn new(path: Option<&Path>, secrets: Vec<(String, String)>) -> Self {
        let mut output = Output { masker: Masker::of_lines(&secrets), secrets, ..Output::default() };
        match path.map(Log::open).transpose() {
            Ok(log) => output.log = log,
            Err(error) => output.log_error = Some(error.to_string()),
        }
        output
    }

    /// Reads the output of a command that is over from its log. One without a log printed nothing.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn of_log(log: &Path) -> io::Result<Self> {
        let mut output = Output::default();
        // Beside the output it may hold a line about what was left out.
        match disk::read_file(log, 2 * LARGEST_LOG, disk::Links::Refuse) {
            Ok(bytes) => output.take(&bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        output.finish();
        Ok(output)
    }

    /// Takes what was printed.
    pub fn take(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        if !bytes.is_ascii() || bytes.contains(&0) {
            let nuls = bytes.iter().filter(|byte| **byte == 0).count();
            self.nuls += nuls as u64;
            self.odd += (nuls + bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum::<usize>()) as u64;
        }
        if self.masker.is_idle() {
            return self.clean(bytes);
        }
        let masked = self.masker.take(bytes);
        self.clean(&masked);
    }

    fn clean(&mut self, bytes: &[u8]) {
        let mut cleaner = std::mem::take(&mut self.cleaner);
        cleaner.take(bytes, &mut |piece, is_over| self.add_piece(piece, is_over));
        self.cleaner = cleaner;
    }

    /// Records that nothing more will come.
    pub fn finish(&mut self) {
        let held = self.masker.finish();
        self.clean(&held);
        let rest = self.cleaner.finish();
        if rest.is_some() || self.long.is_some() {
            self.add_piece(rest.unwrap_or_default(), true);
        }
        if let Some(log) = &mut self.log {
            let done = log.finish();
            self.log_error = done.err().map(|e| e.to_string()).or(self.log_error.take());
        }
    }

    /// Returns the line that is not over yet.
    fn rest(&self) -> Option<String> {
        self.cleaner.rest().map(|line| mask::masked(&self.secrets, line))
    }

    fn add_piece(&mut self, piece: String, is_over: bool) {
        let piece = mask::masked(&self.secrets, piece);
        if let Some(log) = &mut self.log
            && let Err(error) = log.add(&piece, is_over)
        {
            self.log_error = Some(error.to_string());
            self.log = None;
        }
        let (beginning, before) = match self.long.take() {
            None if is_over => return self.add(piece),
            long => long.unwrap_or_else(|| (piece.chars().take(BEGINNING).collect(), 0)),
        };
        let bytes = before + piece.len();
        match is_over {
            true => self.add(shortened(&beginning, bytes)),
            false => self.long = Some((beginning, bytes)),
        }
    }

    fn add(&mut self, line: String) {
        self.lines += 1;
        if self.head.len() + line.len() < HEAD && self.head_lines + 1 == self.lines {
            self.head_lines += 1;
            self.head.push_str(&line);
            self.head.push('\n');
        }
        self.tail_bytes += line.len() + 1;
        self.tail.push_back(line);
        while self.tail.len() > SHOWN || self.tail_bytes > SHOWN_BYTES && self.tail.len() > 1 {
            self.tail_bytes -= self.tail.pop_front().map_or(0, |line| line.len() + 1);
        }
    }

    /// Counts whole lines so far.
    pub fn line_count(&self) -> usize {
        self.lines
    }

    /// Returns the number of lines so far, the unfinished one among them, and the last of them, at most this many.
    pub fn for_screen(&self, count: usize) -> (usize, Vec<String>) {
        match self.is_binary() {
            true => (1, vec![self.binary_words()]),
            false => (self.lines + usize::from(self.cleaner.is_within_line()), self.last(count)),
        }
    }

    /// Returns whether it is no text: one NUL, or those between the names of a list, make it none yet.
    fn is_binary(&self) -> bool {
        self.nuls > 0 && self.odd * ODD > self.bytes
    }

    fn binary_words(&self) -> String {
        format!("(binary output, {} bytes)", thousands(usize::try_from(self.bytes).unwrap_or(usize::MAX)))
    }

    /// Returns what was printed so far, in bytes.
    pub fn byte_count(&self) -> u64 {
        self.bytes
    }

    /// Returns why the log is not whole, if it is not.
    pub fn log_error(&self) -> Option<&str> {
        self.log_error.as_deref()
    }

    /// Returns the last lines, at most this many, the unfinished one among them.
    pub fn last(&self, count: usize) -> Vec<String> {
        let rest = self.rest();
        let whole = count.saturating_sub(usize::from(rest.is_some()));
        self.tail.iter().skip(self.tail.len().saturating_sub(whole)).cloned().chain(rest).collect()
    }

    /// Returns the lines from `first` (counted from 0) on that are still held.
    pub fn since(&self, first: usize) -> Vec<String> {
        let held = self.lines - self.tail.len();
        self.tail.iter().skip(first.saturating_sub(held)).cloned().chain(self.rest()).collect()
    }

    /// Returns what was printed since the last call; none: nothing. `over`: the unfinished line is whole.
    pub fn take_printed(&mut self, over: bool) -> Option<NewOutput> {
        let first = std::mem::replace(&mut self.handed_out, self.lines);
        let held = self.lines - self.tail.len();
        let (rest, begun) = match self.rest() {
            rest if over => (rest, String::new()),
            rest => (None, rest.map(|line| cut(&line)).unwrap_or_default()),
        };
        let is_begun_new = std::mem::replace(&mut self.handed_begun, begun.clone()) != begun;
        let lines: Vec<String> = self.tail.iter().skip(first.saturating_sub(held)).cloned().chain(rest).collect();
        let missed = held.saturating_sub(first);
        (is_begun_new || missed > 0 || !lines.is_empty()).then_some(NewOutput { missed, lines, begun })
    }

    /// Puts the log's lines on disk, as far as they are whole.
    pub fn flush(&mut self) {
        if let Some(log) = &mut self.log {
            let done = log.file.flush();
            self.log_error = done.err().map(|e| e.to_string()).or(self.log_error.take());
        }
    }

    /// Returns what the model gets: the beginning and the end, and how to see the rest of command `id`.
    pub fn for_model(&self, id: &str) -> String {
        if self.is_binary() {
            return self.binary_words() + "\n";
        }
        let mut head: Vec<String> = self.head.lines().map(cut).collect();
        let mut bytes = 0;
        let fits = |line: &&String| {
            bytes += line.len().min(COLUMNS * 4) + 1;
            bytes <= TAIL
        };
        let fitting = self.tail.iter().rev().take_while(fits).count();
        let first_of_tail = self.lines - fitting;
        let end = self.tail.iter().skip(self.tail.len() - fitting).map(|line| cut(line));
        match first_of_tail.checked_sub(head.len()) {
            None | Some(0) => head.truncate(first_of_tail),
            Some(left_out) => head.push(format!(
                "[{} lines left out: commandOutput {{\"id\": \"{id}\", \"startLine\": {}}}]",
                thousands(left_out),
                head.len() + 1
            )),
        }
        head.extend(end);
        head.extend(self.rest().map(|line| cut(&line)));
        head.iter().fold(String::new(), |text, line| text + line + "\n")
    }
}

/// Returns a line as long as the model gets one.
fn cut(line: &str) -> String {
    match line.char_indices().nth(COLUMNS) {
        None => line.to_string(),
        Some((at, _)) => shortened(&line[..at], line.len()),
    }
}

/// Returns the beginning of a line of so many bytes, with words that say so.
fn shortened(beginning: &str, bytes: usize) -> String {
    format!("{beginning} (line cut: {} bytes)", thousands(bytes))
}

impl Log {
    fn open(path: &Path) -> io::Result<Log> {
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        Ok(Log { file: BufWriter::new(file), size: 0, tail: VecDeque::new(), left_out: 0, within_line: false })
    }

    /// Adds a line, or a piece of one that is not over.
    fn add(&mut self, line: &str, is_over: bool) -> io::Result<()> {
        let end: &[u8] = if is_over { b"\n" } else { b"" };
        let length = (line.len() + end.len()) as u64;
        if self.size + length <= LARGEST_LOG - LOG_TAIL as u64 && self.left_out == 0 && self.tail.is_empty() {
            self.size += length;
            self.within_line = !is_over;
            self.file.write_all(line.as_bytes())?;
            return self.file.write_all(end);
        }
        self.tail.extend(line.as_bytes().iter().chain(end));
        let over = self.tail.len().saturating_sub(LOG_TAIL);
        self.left_out += over as u64;
        self.tail.drain(..over);
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.left_out > 0 {
            let end = if self.within_line { "\n" } else { "" };
            writeln!(self.file, "{end}[{} bytes left out here]", self.left_out)?;
        }
        let (a, b) = self.tail.as_slices();
        self.file.write_all(a)?;
        self.file.write_all(b)?;
        self.tail.clear();
        self.file.flush()
    }
}

/// Returns lines of a log, counted from 1, that hold `search` where it is given: number and text, at most as many as
/// fit into what the model gets.
///
/// # Errors
/// When it cannot be read.
pub fn lines_of(log: &Path, first: usize, last: usize, search: Option<&str>) -> io::Result<Vec<(usize, String)>> {
    let file = match fs::File::open(log) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let (mut found, mut bytes) = (Vec::new(), 0);
    for (at, line) in BufReader::new(file).lines().enumerate().skip(first.saturating_sub(1)) {
        if at >= last || bytes > HEAD + TAIL {
            break;
        }
        let line = line?;
        if search.is_none_or(|words| line.contains(words)) {
            let line = cut(&line);
            bytes += line.len() + 1;
            found.push((at + 1, line));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(parts: &[&[u8]]) -> Vec<String> {
        let (mut cleaner, mut lines) = (Cleaner::default(), Vec::new());
        parts.iter().for_each(|part| cleaner.take(part, &mut |line, _| lines.push(line)));
        lines.extend(cleaner.finish());
        lines
    }

    #[test]
    fn escapes_go_and_movements_within_a_line_are_carried_out() {
        assert_eq!(clean(&[b"\x1b[1;31mred\x1b[0m\r\nplain"]), ["red", "plain"]);
        assert_eq!(clean(&[b"10%\r50%\r100%\n"]), ["100%"]);
        assert_eq!(clean(&[b"longer\rab\n"]), ["abnger"]);
        assert_eq!(clean(&[b"abc\x08\x08X\n"]), ["aX"]);
        assert_eq!(clean(&[b"\x1b]0;title\x07a\x1b]8;;x\x1b\\b\n"]), ["ab"]);
        assert_eq!(clean(&[b"bad \xff utf\n\n"]), ["bad \u{fffd} utf", ""]);
        // However it is cut.
        let whole = b"a\x1b[31mb\x1b]0;t\x1b\\c\rX\xc3\xa9\n\x1b(Bd";
        for at in 0..whole.len() {
            assert_eq!(clean(&[&whole[..at], &whole[at..]]), clean(&[whole]), "cut at {at}");
        }
    }

    #[test]
    fn a_secret_of_several_lines_is_masked_however_its_lines_end_and_it_is_cut() {
        let secrets = vec![("KEY".to_string(), "begin-0123\nend-4567".to_string()), ("WORD".into(), "12345678".into())];
        for printed in ["a\nbegin-0123\nend-4567\n12345678\n", "a\r\nbegin-0123\r\nend-4567\r\n12345678\r\n"] {
            for cut in 0..=printed.len() {
                let mut output = Output::new(None, secrets.clone());
                output.take(&printed.as_bytes()[..cut]);
                assert!(!output.last(9).concat().contains("begin-0123"), "{cut}");
                output.take(&printed.as_bytes()[cut..]);
                output.finish();
                assert_eq!(output.last(9), ["a", "[KEY]", "[WORD]"], "{printed:?} cut at {cut}");
            }
            let mut output = Output::new(None, secrets.clone());
            output.take(b"begin-0123\n");
            output.finish();
            assert_eq!(output.last(9), ["begin-0123"], "a part is none");
        }
    }

    #[test]
    fn what_is_new_is_returned_once_and_an_unfinished_line_when_it_changes() {
        let mut output = Output::new(None, Vec::new());
        let new = |missed, lines: &[&str], begun: &str| {
            let lines = lines.iter().map(ToString::to_string).collect();
            Some(NewOutput { missed, lines, begun: begun.into() })
        };
        assert_eq!(output.take_printed(false), None);
        output.take(b"one\ntw");
        assert_eq!(output.take_printed(false), new(0, &["one"], "tw"));
        assert_eq!(output.take_printed(false), None);
        assert_eq!((output.line_count(), output.for_screen(1)), (1, (2, vec!["tw".into()])));
        output.take(b"o");
        assert_eq!(output.take_printed(false), new(0, &[], "two"));
        output.take(b"\n");
        assert_eq!(output.take_printed(false), new(0, &["two"], ""));
        output.take(b"last");
        assert_eq!(output.take_printed(true), new(0, &["last"], ""));
        let mut fast = Output::new(None, Vec::new());
        (0..SHOWN + 5).for_each(|n| fast.take(format!("{n}\n").as_bytes()));
        let printed = fast.take_printed(false).expect("lines");
        assert_eq!((printed.missed, printed.lines.len(), printed.lines[0].as_str()), (5, SHOWN, "5"));
        assert_eq!(fast.for_screen(2), (SHOWN + 5, vec!["2003".into(), "2004".into()]));
    }

    #[test]
    fn some_nuls_make_no_text_binary() {
        let mut list = Output::new(None, Vec::new());
        list.take("hello\nsrc/main.rs\0README é.md\0\0last line".as_bytes());
        let lines = ["hello", "src/main.rs", "README é.md", "last line"];
        assert_eq!(list.for_screen(9), (4, lines.map(String::from).to_vec()));
        assert_eq!(list.for_model("c1"), lines.map(|line| line.to_string() + "\n").concat());
        let elf = [&b"\x7fELF\x02\x01\x01"[..], &[0; 9], b"some words"].concat();
        let packed: Vec<u8> = (0..4_096_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
        let wide: Vec<u8> = "wide words".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for bytes in [elf, packed, wide, vec![0; 8]] {
            let mut output = Output::new(None, Vec::new());
            bytes.chunks(100).for_each(|part| output.take(part));
            let words = format!("(binary output, {} bytes)", thousands(bytes.len()));
            assert_eq!((output.for_screen(2), output.for_model("c1")), ((1, vec![words.clone()]), words + "\n"));
        }
        // Other encodings have no NUL.
        let mut latin = Output::new(None, Vec::new());
        latin.take(b"\xe4\xf6\xfc\n");
        assert_eq!(latin.for_screen(1).1, ["\u{fffd}\u{fffd}\u{fffd}"]);
    }

    #[test]
    fn a_line_is_one_however_long_it_is() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("c1.log");
        let printed = format!("first\n{}\nend\n{}", "é".repeat(1_500_000), "x".repeat(LONGEST_LINE + 1));
        let mut output = Output::new(Some(&path), Vec::new());
        printed.as_bytes().chunks(65_537).for_each(|bytes| output.take(bytes));
        output.finish();
        assert_eq!(output.line_count(), 4);
        assert_eq!(fs::read_to_string(&path).expect("a log"), printed + "\n");
        let lines = output.last(4);
        assert!(
            lines[1].starts_with("éé") && lines[1].ends_with("é (line cut: 3,000,000 bytes)"),
            "{}",
            lines[1].len()
        );
        assert_eq!((lines[0].as_str(), lines[2].as_str()), ("first", "end"));
        assert!(lines[3].ends_with("x (line cut: 1,048,577 bytes)"));
        let result = output.for_model("c1");
        assert_eq!((result.lines().count(), result.matches("line cut").count()), (4, 2));
    }

    #[test]
    fn the_model_gets_head_and_tail_and_the_log_all() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("c1.log");
        let mut output = Output::new(Some(&path), vec![("KEY".into(), "sekretsekret".into())]);
        for n in 1..=20_000 {
            output.take(format!("line {n} sekretsekret\n").as_bytes());
        }
        output.take(b"the end sekretsekret");
        assert_eq!(output.last(1), ["the end [KEY]"]);
        output.finish();
        let result = output.for_model("c1");
        assert!(
            result.starts_with("line 1 [KEY]\n")
                && result.ends_with("the end [KEY]\n")
                && result.len() <= HEAD + TAIL + 200
        );
        let left_out = result.lines().find(|line| line.starts_with('[')).expect("a line that says so");
        assert!(left_out.contains("commandOutput {\"id\": \"c1\", \"startLine\": "), "{left_out}");
        let log = fs::read_to_string(&path).expect("a log");
        assert_eq!(log.lines().count(), 20_001);
        assert!(!log.contains("sekret"));
        let found = lines_of(&path, 1, usize::MAX, Some("line 19999 ")).expect("read");
        assert_eq!(found, [(19_999, "line 19999 [KEY]".to_string())]);
        let mut few = Output::new(None, Vec::new());
        few.take(b"a\nb\n");
        assert_eq!(few.for_model("c2"), "a\nb\n");
    }
}
