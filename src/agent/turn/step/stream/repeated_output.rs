//! An answer that repeats itself: the same text again and again at its end.

/// The number of times that a text must come in a row.
const TIMES: usize = 5;
/// The length of a compared text, about 40 tokens, in bytes.
const BLOCK: usize = 160;
/// Shorter texts in a row that are no sentences, such as rows of zeros, and blank characters, such as those of a padded
/// column, must come to this many bytes in all.
const SHORT_RUN: usize = 4_000;
/// Texts in a row longer than this are not looked for, in bytes.
const LONGEST: usize = 1_200;
/// Bytes that arrive between two looks.
const EVERY: usize = 400;
/// Line breaks in a row, with nothing but blank characters between them, that are more than any file has.
const BLANK_LINES: usize = 500;

/// The end of an answer, watched for a text that comes again and again.
#[derive(Default)]
pub struct RepeatedOutput {
    tail: String,
    unseen: usize,
    blanks: BlankRun,
}

/// The place in a text from which an answer repeats itself.
#[derive(Debug, PartialEq, Eq)]
pub struct Repetition {
    /// The bytes of the text up to there.
    pub at: usize,
    /// The repeated text; empty where nothing but blank characters comes.
    pub text: String,
}

impl RepeatedOutput {
    /// Takes more of the answer; `escaped`: as it stands in JSON. Returns the text that has come five times in a row, if one
    /// has and it does not stand so in one of the `known` files. It is the same place in whichever pieces the answer comes.
    pub fn push(&mut self, text: &str, escaped: bool, known: impl Fn(&str) -> bool) -> Option<Repetition> {
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            let look = rest.ceil_char_boundary((EVERY - self.unseen).min(rest.len()));
            let (piece, blank) = match self.blanks.push(&rest[..look], escaped) {
                Some(end) => (&rest[..end], true),
                None => (&rest[..look], false),
            };
            at += piece.len();
            self.tail.push_str(piece);
            self.unseen += piece.len();
            let blanks = if blank { self.blank(&known) } else { None };
            if let Some(text) = blanks.or_else(|| self.repeated(escaped, &known)) {
                let text = if escaped { unescaped(&text).unwrap_or(text) } else { text };
                return Some(Repetition { at, text });
            }
        }
        None
    }

    /// Returns the newest blank characters where too many have come.
    fn blank(&mut self, known: impl Fn(&str) -> bool) -> Option<String> {
        let run = self.tail.len() - self.blanks.bytes.min(self.tail.len());
        let run = &self.tail[self.tail.ceil_char_boundary(run)..];
        // What stands so in a file is looked at again once as much has come again.
        self.blanks = BlankRun::default();
        (!known(run)).then(String::new)
    }

    fn repeated(&mut self, escaped: bool, known: impl Fn(&str) -> bool) -> Option<String> {
        if self.unseen < EVERY {
            return None;
        }
        self.unseen = 0;
        let keep = TIMES * LONGEST;
        if self.tail.len() > 2 * keep {
            let from = self.tail.ceil_char_boundary(self.tail.len() - keep);
            self.tail.drain(..from);
        }
        // Many calls in one answer count, too: `f1.rs`, `f2.rs`.
        let line = || counted(&self.tail).filter(|_| !escaped);
        let counted = || line().filter(|line| !known(line)).map(str::to_string);
        let Some(period) = period(self.tail.as_bytes(), keep) else { return counted() };
        let run = (TIMES * period).max(least_run(self.tail.as_bytes(), period));
        let from = self.tail.ceil_char_boundary(self.tail.len() - run.min(self.tail.len()));
        let block = self.tail.ceil_char_boundary(self.tail.len() - period);
        (!known(&self.tail[from..])).then(|| self.tail[block..].trim().to_string())
    }
}

/// The blank characters at the end of an answer.
#[derive(Debug, Default)]
struct BlankRun {
    bytes: usize,
    lines: usize,
    /// A backslash has come that may begin one of them.
    escape: bool,
}

impl BlankRun {
    /// Takes more of the answer. Returns how many bytes of it there are up to the blank character that is one too many.
    fn push(&mut self, text: &str, escaped: bool) -> Option<usize> {
        for (at, c) in text.char_indices() {
            let after_escape = std::mem::take(&mut self.escape);
            let (is_blank, is_break) = match c {
                '\\' if escaped && !after_escape => {
                    (self.escape, self.bytes) = (true, self.bytes + 1);
                    continue;
                }
                c if after_escape => (matches!(c, 'n' | 'r' | 't'), c == 'n'),
                c => (c.is_whitespace(), c == '\n'),
            };
            if !is_blank {
                *self = BlankRun::default();
                continue;
            }
            (self.bytes, self.lines) = (self.bytes + c.len_utf8(), self.lines + usize::from(is_break));
            if self.bytes >= SHORT_RUN || self.lines >= BLANK_LINES {
                return Some(at + c.len_utf8());
            }
        }
        None
    }
}

/// Returns the end of a text in JSON as it reads; `None`: it begins in the middle of an escape.
pub fn unescaped(text: &str) -> Option<String> {
    serde_json::from_str(&format!("\"{}\"", text.trim_end_matches('\\'))).ok()
}

/// Returns the newest part of a line at the end of a text that says the same over and over with numbers that count: `-x a1 -x
/// a2 -x a3`. A row of nothing but numbers is none.
fn counted(text: &str) -> Option<&str> {
    let line = text.rsplit('\n').next().filter(|line| line.len() >= COUNTED)?;
    let line = &line[line.ceil_char_boundary(line.len() - COUNTED)..];
    let mut parts =
        line.split(|c: char| c.is_ascii_digit()).filter(|part| !part.is_empty()).skip(1).collect::<Vec<_>>();
    parts.pop();
    let mut numbers =
        line.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty()).skip(1).collect::<Vec<_>>();
    numbers.pop();
    let numbers: Vec<u64> = numbers.iter().map(|number| number.parse()).collect::<Result<_, _>>().ok()?;
    let is_same = |period: &usize| parts.iter().zip(&parts[*period..]).all(|(part, next)| part == next);
    let period = (1..=parts.len() / (2 * TIMES)).find(is_same)?;
    let is_next = |(number, next): (&u64, &u64)| *next == *number || *next == *number + 1;
    let is_counted = numbers.iter().zip(numbers.get(period..)?).all(is_next);
    let letters = parts[..period].iter().flat_map(|part| part.chars()).filter(|c| c.is_alphabetic()).count();
    (is_counted && letters >= LETTERS).then(|| line.trim())
}

/// The bytes of a line that counts, at least, and the letters of what it counts.
const COUNTED: usize = 2_000;
const LETTERS: usize = 3;

/// Returns the shortest text, in bytes, that the end of `text` is a long enough run of.
fn period(text: &[u8], most: usize) -> Option<usize> {
    let tail = &text[text.len().saturating_sub(most)..];
    let back = |i: usize| tail[tail.len() - 1 - i];
    let repeats = |period: usize, run: usize| run <= tail.len() && (period..run).all(|i| back(i) == back(i - period));
    let short = (1..BLOCK).find(|period| repeats(*period, TIMES * BLOCK));
    let found = match short {
        Some(period) => repeats(period, least_run(tail, period)).then_some(period),
        None => (BLOCK..=LONGEST.min(tail.len() / TIMES)).find(|period| repeats(*period, TIMES * period)),
    };
    found.filter(|period| (0..*period).any(|i| !back(i).is_ascii_whitespace()))
}

/// Returns how many bytes of a text must come in a row that the last `period` bytes are, where all of them together are
/// what is compared.
fn least_run(text: &[u8], period: usize) -> usize {
    match period {
        BLOCK.. => 0,
        _ if is_sentence(&text[text.len() - period..]) => TIMES * BLOCK,
        _ => SHORT_RUN,
    }
}

/// Returns whether a text is made of words, as a sentence is and a row of values is not.
fn is_sentence(text: &[u8]) -> bool {
    let is_word = |word: &&[u8]| {
        let letters = word.strip_suffix(b".").or(word.strip_suffix(b",")).or(word.strip_suffix(b":")).unwrap_or(word);
        !letters.is_empty() && letters.iter().all(|b| b.is_ascii_alphabetic() || *b == b'\'')
    };
    let words = || text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let (plain, all) = (words().filter(is_word).count(), words().count());
    plain >= 6 && plain * 4 >= all * 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_counts_is_cut() {
        let row = |of: fn(usize) -> String| (1..2_000).map(of).collect::<String>();
        for text in [
            row(|n| format!("-x /dev/ttyUSB{n} ")),
            row(|n| format!("--port {n}:{n} ")),
            format!("test: rpn\n\t./rpn {}", row(|n| format!("-x /dev/ttyUSB{n} "))),
        ] {
            let at = cut_in(&text, 7, false).expect("cut");
            assert!(at < 3_200, "{at}");
            assert_eq!(cut_in(&text, 64, false), Some(at));
            assert_eq!(cut_in(&text, 64, true), None, "many calls");
        }
        for text in [
            row(|n| format!("{n}, ")),
            row(|n| format!("-x /dev/ttyUSB{n}\n")),
            row(|n| format!("{{\"id\": {}}}, ", n * 37 % 1_001)),
            row(|n| format!("{{\"id\": {n}, \"x\": {}}}, ", n * 37 % 1_001)),
        ] {
            assert_eq!(cut_in(&text, 64, false), None, "{}", &text[..60]);
        }
    }

    /// Returns where `text` is cut that comes in pieces of `chunk` bytes.
    fn cut_in(text: &str, chunk: usize, escaped: bool) -> Option<usize> {
        let mut watch = RepeatedOutput::default();
        let mut at = 0;
        while at < text.len() {
            let end = text.floor_char_boundary((at + chunk).min(text.len())).max(text.ceil_char_boundary(at + 1));
            if let Some(found) = watch.push(&text[at..end], escaped, |_| false) {
                return Some(at + found.at);
            }
            at = end;
        }
        None
    }

    fn cut(text: &str, chunk: usize) -> Option<usize> {
        cut_in(text, chunk, false)
    }

    #[test]
    fn a_text_that_comes_five_times_is_found_soon() {
        let block = "I will now fix the function by changing the loop so that it counts from one, which is what the task asks for. \
                     Let me write the file again with this change. Here is the file with the change made:\n";
        let text = format!("Some words first, all different.\n{}", block.repeat(40));
        for chunk in [3, 40, 1_000] {
            let at = cut(&text, chunk).expect("found");
            assert!(at < 33 + block.len() * 5 + 1_500, "{chunk}: {at}");
        }
        let at_once = format!("{}{}", block.repeat(20), "And then other words. ".repeat(3));
        assert!(cut(&at_once, at_once.len()).is_some(), "also in the middle of a piece");
        assert_eq!(cut(&block.repeat(4), 40), None);
        assert!(cut(&"です。".repeat(2_000), 7).is_some());
        let sentence = "The function now returns the sum of the numbers. ";
        let at = cut(&sentence.repeat(40), 7).expect("found");
        assert!(at < TIMES * BLOCK + 2 * EVERY, "{at}");
    }

    #[test]
    fn code_that_resembles_itself_goes_on() {
        let rows: String = (0..400).map(|i| format!("    (\"name{i}\", {i}, 0, 0, 0),\n")).collect();
        let zeros = "0, ".repeat(900);
        assert_eq!(cut(&rows, 50).or(cut(&zeros, 50)), None);
        let lines = "    assert total(cart, rate=2) == expected(cart)\n".repeat(40);
        let cells = "| yes | no | n/a | 12 | - | 0.5 |\n".repeat(60);
        assert_eq!(cut(&lines, 50).or(cut(&cells, 50)), None);
        let mut watch = RepeatedOutput::default();
        assert!(watch.push(&"0, ".repeat(4_000), false, |_| true).is_none(), "it stands so in a file");
        let padded: String = (0..200).map(|i| format!("{i}{}|\n", " ".repeat(3_000))).collect();
        let gaps: String = (0..200).map(|i| format!("{i}{}", "\n".repeat(300))).collect();
        assert_eq!(cut(&padded, 50).or(cut(&gaps, 50)), None, "columns and gaps");
    }

    #[test]
    fn blank_characters_without_end_are_cut() {
        for (blanks, escaped, at) in [
            ("\n".repeat(6_000), false, 500),
            (" \n".repeat(6_000), false, 1_000),
            (" ".repeat(12_000), false, 4_000),
            ("\t".repeat(12_000), false, 4_000),
            ("\u{3000}".repeat(12_000), false, 4_002),
            ("\\n".repeat(6_000), true, 1_000),
            ("\\r\\n".repeat(6_000), true, 2_000),
            ("\\t".repeat(6_000), true, 4_000),
            (" ".repeat(12_000), true, 4_000),
        ] {
            let text = format!("Done.{blanks} And more.");
            for chunk in [1, 7, 399, 400, 1_000, usize::MAX / 2] {
                assert_eq!(cut_in(&text, chunk, escaped), Some(5 + at), "{blanks:.12?} by {chunk}");
            }
        }
        let mut watch = RepeatedOutput::default();
        let stands = |run: &str| " ".repeat(9_000).contains(run);
        assert!(watch.push(&" ".repeat(9_000), false, stands).is_none(), "it stands so in a file");
    }

    #[test]
    fn the_place_of_a_cut_is_the_same_in_whichever_pieces_it_comes() {
        let line = "x = compute(alpha, beta, gamma, delta)\n".repeat(300);
        let texts = [
            format!("Here it is:\n\n```python\n{line}```\nDone."),
            format!("ファイルです。\n{}{line}", "です。".repeat(50)),
            format!("a{}b{}", "\n".repeat(499), "\n".repeat(600)),
        ];
        for text in texts {
            let whole = cut(&text, text.len());
            assert!(whole.is_some());
            for chunk in [1, 2, 3, 7, 40, 150, 399, 400, 401, 799, 4_096] {
                assert_eq!(cut(&text, chunk), whole, "by {chunk}");
            }
        }
    }
}
