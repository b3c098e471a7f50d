//! An answer that repeats itself: the same text again and again at its end.

/// The number of times that a text must come in a row.
const TIMES: usize = 5;
/// The length of a compared text, about 40 tokens, in bytes.
const BLOCK: usize = 160;
/// Shorter texts in a row, such as rows of zeros, must come to this many bytes in all.
const SHORT_RUN: usize = 4_000;
/// Texts in a row longer than this are not looked for, in bytes.
const LONGEST: usize = 1_200;
/// Bytes that arrive between two looks.
const EVERY: usize = 400;

/// The end of an answer, watched for a text that comes again and again.
#[derive(Default)]
pub struct RepeatedOutput {
    tail: String,
    unseen: usize,
}

impl RepeatedOutput {
    /// Takes more of the answer. Returns the text that has come five times in a row, at the end, if one has and it does
    /// not stand so in one of the `known` files.
    pub fn push(&mut self, text: &str, known: impl Fn(&str) -> bool) -> Option<String> {
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.ceil_char_boundary(EVERY.min(rest.len())));
            if let Some(repeated) = self.push_piece(piece, &known) {
                return Some(repeated);
            }
            rest = after;
        }
        None
    }

    fn push_piece(&mut self, text: &str, known: impl Fn(&str) -> bool) -> Option<String> {
        self.tail.push_str(text);
        self.unseen += text.len();
        if self.unseen < EVERY {
            return None;
        }
        self.unseen = 0;
        let keep = TIMES * LONGEST;
        if self.tail.len() > 2 * keep {
            let from = self.tail.ceil_char_boundary(self.tail.len() - keep);
            self.tail.drain(..from);
        }
        let period = period(self.tail.as_bytes(), keep)?;
        let run = (TIMES * period).max(if period < BLOCK { SHORT_RUN } else { 0 });
        let from = self.tail.ceil_char_boundary(self.tail.len() - run.min(self.tail.len()));
        let block = self.tail.ceil_char_boundary(self.tail.len() - period);
        (!known(&self.tail[from..])).then(|| self.tail[block..].trim().to_string())
    }
}

/// Returns the shortest text, in bytes, that the end of `text` is a long enough run of.
fn period(text: &[u8], most: usize) -> Option<usize> {
    let tail = &text[text.len().saturating_sub(most)..];
    let back = |i: usize| tail[tail.len() - 1 - i];
    let repeats = |period: usize, run: usize| run <= tail.len() && (period..run).all(|i| back(i) == back(i - period));
    let short = (1..BLOCK).find(|period| repeats(*period, TIMES * BLOCK));
    let found = match short {
        Some(period) => repeats(period, SHORT_RUN).then_some(period),
        None => (BLOCK..=LONGEST.min(tail.len() / TIMES)).find(|period| repeats(*period, TIMES * period)),
    };
    found.filter(|period| (0..*period).any(|i| !back(i).is_ascii_whitespace()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, chunk: usize) -> Option<usize> {
        let mut watch = RepeatedOutput::default();
        let mut at = 0;
        while at < text.len() {
            let end = text.floor_char_boundary((at + chunk).min(text.len())).max(text.ceil_char_boundary(at + 1));
            if watch.push(&text[at..end], |_| false).is_some() {
                return Some(end);
            }
            at = end;
        }
        None
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
    }

    #[test]
    fn code_that_resembles_itself_goes_on() {
        let rows: String = (0..400).map(|i| format!("    (\"name{i}\", {i}, 0, 0, 0),\n")).collect();
        let zeros = "0, ".repeat(900);
        assert_eq!(cut(&rows, 50).or(cut(&zeros, 50)).or(cut(&" ".repeat(9_000), 50)), None);
        let mut watch = RepeatedOutput::default();
        assert!(watch.push(&"0, ".repeat(4_000), |_| true).is_none(), "it stands so in a file");
    }
}
