//! Cuts text into the pieces that byte-pair merges stay within. Each family of tokenisers cuts a little differently; the
//! rules are those of the patterns they publish, read by hand.

/// The way a tokeniser cuts text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cuts {
    /// The most digits that form one piece.
    pub digits: usize,
    /// Words take the sign before them, and signs the line break after them.
    pub modern: bool,
}

/// Merging costs more than a piece is long; longer ones are cut where they stand.
const LONGEST: usize = 512;

impl Cuts {
    /// Creates the cuts of a tokeniser by the name that model files give it.
    pub fn of(name: &str) -> Self {
        match name {
            "qwen2" | "deepseek-r1-qwen" | "stablelm2" => Cuts { digits: 1, modern: true },
            "llama-bpe" | "llama3" | "llama-v3" | "smaug-bpe" | "dbrx" | "tekken" => Cuts { digits: 3, modern: true },
            "smollm" | "refact" | "starcoder" | "command-r" => Cuts { digits: 1, modern: false },
            _ => Cuts { digits: usize::MAX, modern: false },
        }
    }

    /// Returns the pieces of `text`, in order; together they are the text.
    pub fn pieces(self, text: &str) -> Vec<&str> {
        let (mut pieces, mut rest) = (Vec::new(), text);
        while !rest.is_empty() {
            let end = self.end(rest).clamp(1, rest.len());
            let end = rest.ceil_char_boundary(end.min(LONGEST));
            let (piece, after) = rest.split_at(end);
            pieces.push(piece);
            rest = after;
        }
        pieces
    }

    /// Returns where the first piece of a text ends.
    fn end(self, text: &str) -> usize {
        if let Some(end) = contraction(text, self.modern) {
            return end;
        }
        let mut chars = text.chars();
        let (Some(first), second) = (chars.next(), chars.next()) else { return text.len() };
        // A piece may begin with a sign or a blank that belongs to what follows it.
        let led = match self.modern {
            true => !is_break(first) && !first.is_alphabetic() && !first.is_numeric(),
            false => first == ' ',
        };
        let lead = if led && second.is_some_and(char::is_alphabetic) { first.len_utf8() } else { 0 };
        if lead > 0 || first.is_alphabetic() {
            return lead + run(&text[lead..], LONGEST, char::is_alphabetic);
        }
        let blank = if first == ' ' && second.is_some_and(|c| !c.is_whitespace()) { 1 } else { 0 };
        let numbers = if self.modern { 0 } else { blank };
        if text[numbers..].starts_with(char::is_numeric) {
            return numbers + run(&text[numbers..], self.digits.min(LONGEST), char::is_numeric);
        }
        let signs = run(&text[blank..], LONGEST, |c| !c.is_whitespace() && !c.is_alphanumeric());
        if signs > 0 {
            let end = blank + signs;
            return if self.modern { end + run(&text[end..], LONGEST, is_break) } else { end };
        }
        self.end_of_space(text)
    }

    /// Returns where white space at the beginning of a text ends: the last blank before a word belongs to the word.
    fn end_of_space(self, text: &str) -> usize {
        let space = run(text, LONGEST, char::is_whitespace);
        if let Some(last) = text[..space].rfind(is_break).filter(|_| self.modern) {
            return last + 1;
        }
        let last = text[..space].chars().next_back().map_or(0, char::len_utf8);
        if space < text.len() && space > last { space - last } else { space }
    }
}

fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n')
}

/// Returns how many bytes at the beginning of a text such characters take, at most this many characters.
fn run(text: &str, most: usize, is: impl Fn(char) -> bool) -> usize {
    text.chars().take(most).take_while(|c| is(*c)).map(char::len_utf8).sum()
}

/// Returns the end of `'s`, `'ll` and the like at the beginning of a text.
fn contraction(text: &str, any_case: bool) -> Option<usize> {
    let rest = text.strip_prefix('\'')?;
    let ends = ["ll", "ve", "re", "s", "t", "m", "d"];
    let same = |end: &&&str| {
        rest.get(..end.len()).is_some_and(|found| found == **end || any_case && found.eq_ignore_ascii_case(end))
    };
    ends.iter().find(same).map(|end| 1 + end.len())
}

#[cfg(test)]
mod tests {
    use super::Cuts;

    #[test]
    fn text_is_cut_as_the_published_patterns_cut_it() {
        let cut = |name: &str, text: &'static str| Cuts::of(name).pieces(text);
        assert_eq!(
            cut("qwen2", "fn main() {\n    x += 12;\n}\n"),
            ["fn", " main", "()", " {\n", "   ", " x", " +=", " ", "1", "2", ";\n", "}\n"]
        );
        assert_eq!(cut("llama-bpe", "it's 2026-11"), ["it", "'s", " ", "202", "6", "-", "11"]);
        assert_eq!(cut("gpt-2", "it's  2026 ok\n\nyes"), ["it", "'s", " ", " 2026", " ok", "\n", "\n", "yes"]);
        assert_eq!(cut("qwen2", "a\n\n  b"), ["a", "\n\n", " ", " b"]);
        assert_eq!(cut("qwen2", ".json (x)"), [".json", " (", "x", ")"]);
        assert_eq!(cut("qwen2", "日本語 text  "), ["日本語", " text", "  "]);
    }

    #[test]
    fn a_long_run_is_cut_in_linear_time() {
        for unit in ["a", " ", "-", "\n", "1"] {
            let text = unit.repeat(4 << 20);
            for name in ["qwen2", "llama-bpe", "smollm", "default"] {
                let pieces = Cuts::of(name).pieces(&text);
                assert!(pieces.iter().all(|piece| piece.len() <= super::LONGEST), "{unit:?} by {name}");
                assert_eq!(pieces.iter().map(|piece| piece.len()).sum::<usize>(), text.len());
            }
        }
    }

    #[test]
    fn pieces_are_the_text() {
        let text = "  \t'LL x\u{301}\r\n\r\n 1½  é\u{00a0}".repeat(40) + &"a".repeat(2_000);
        for name in ["qwen2", "llama-bpe", "smollm", "default"] {
            assert_eq!(Cuts::of(name).pieces(&text).concat(), text, "{name}");
        }
    }
}
