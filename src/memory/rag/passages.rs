//! Cutting a text into passages, and making its words findable.

/// Lines after which a passage ends at the next blank line.
const SOFT: usize = 30;
/// Lines after which it ends anyway.
const HARD: usize = 50;
/// Bytes after which it ends anyway.
const BYTES: usize = 3_000;
/// The bytes of one line that are indexed: minified files have lines of megabytes.
const LINE: usize = 4_000;

/// A range of lines of a text.
pub(super) struct Chunk {
    /// The first line, from 1.
    pub(super) first: usize,
    /// The last line, included.
    pub(super) last: usize,
    pub(super) text: String,
}

/// Cuts a text, at blank lines where it can. Passages without a word are left out.
pub(super) fn cut(text: &str) -> Vec<Chunk> {
    let mut passages = Vec::new();
    let mut open = Chunk { first: 1, last: 0, text: String::new() };
    for (i, line) in text.lines().enumerate() {
        open.last = i + 1;
        open.text.push_str(&line[..line.floor_char_boundary(LINE)]);
        open.text.push('\n');
        let lines = open.last + 1 - open.first;
        if lines >= SOFT && line.trim().is_empty() || lines >= HARD || open.text.len() >= BYTES {
            let next = Chunk { first: i + 2, last: i + 1, text: String::new() };
            passages.push(std::mem::replace(&mut open, next));
        }
    }
    passages.push(open);
    passages.retain(|p| p.text.chars().any(char::is_alphanumeric));
    passages
}

/// Returns the text with the parts of its camel-case words after it: `readLine` is found by `line`.
pub(super) fn with_parts(text: &str) -> String {
    let mut out = String::from(text);
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        let parts = parts(word);
        if parts.len() > 1 {
            for part in parts.into_iter().filter(|p| p.len() > 1) {
                out.push(' ');
                out.push_str(part);
            }
        }
    }
    out
}

/// Returns the parts of a camel-case word.
fn parts(word: &str) -> Vec<&str> {
    if word.is_empty() || !word.is_ascii() {
        return Vec::new();
    }
    let b = word.as_bytes();
    let mut cuts = vec![0];
    for i in 1..b.len() {
        let begins = b[i].is_ascii_uppercase()
            && (b[i - 1].is_ascii_lowercase() || b.get(i + 1).is_some_and(u8::is_ascii_lowercase));
        if begins {
            cuts.push(i);
        }
    }
    let ends = cuts.iter().skip(1).copied().chain([b.len()]);
    cuts.iter().zip(ends).map(|(from, to)| &word[*from..to]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_end_at_blank_lines() {
        let text = (1..=100).map(|i| if i % 35 == 0 { "\n".into() } else { format!("line {i}\n") }).collect::<String>();
        let lines: Vec<_> = cut(&text).iter().map(|p| (p.first, p.last)).collect();
        assert_eq!(lines, [(1, 35), (36, 70), (71, 100)]);
        assert_eq!(cut(&"x\n".repeat(60)).len(), 2);
        assert_eq!(cut("\n\n").len(), 0);
        assert_eq!(cut(&"é".repeat(1 << 20))[0].text.len(), LINE + 1);
    }

    #[test]
    fn camel_case_is_taken_apart() {
        assert_eq!(with_parts("readLine HTTPServer x plain"), "readLine HTTPServer x plain read Line HTTP Server");
    }
}
