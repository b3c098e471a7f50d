//! Messages about failed searches that let a model succeed on its next try.

use std::ops::Range;

use super::search::{LISTED, Miss, SearchShape};
use crate::edit::lines::Lines;

/// The length of a line from which on it is cut, in characters.
const WIDE: usize = 240;
/// The number of lines of a passage shown.
const LONG: usize = 80;
/// A file of at most this many lines is shown whole when nothing in it is like the search text.
const SHORT: usize = 60;

impl Miss {
    /// Returns what to tell the model whose search text (of this shape) was not found in `text`: the candidates, or the
    /// closest passage as it is on disk, with line numbers, and what to do next.
    pub fn text(&self, text: &str, shape: SearchShape) -> String {
        match self {
            Miss::Empty => "the search text is empty. Copy the lines to change from the file.".to_string(),
            Miss::Several { places, more } => several(text, places, *more),
            Miss::Nothing { closest, within } => nothing(text, closest.as_ref(), within, shape),
        }
    }
}

fn several(text: &str, places: &[Range<usize>], more: bool) -> String {
    let lines = Lines::new(text);
    let at: Vec<Range<usize>> =
        places.iter().map(|p| lines.at(p.start)..lines.at(p.end.max(p.start + 1) - 1) + 1).collect();
    let numbers: Vec<String> = at.iter().map(|l| (l.start + 1).to_string()).collect();
    let count = if more { format!("more than {LISTED}") } else { places.len().to_string() };
    let mut answer = format!("the search text fits {count} places, at lines {}:\n", numbers.join(", "));
    for place in &at {
        let lines_shown = place.start.saturating_sub(2)..(place.end.min(place.start + 4) + 1).min(lines.len());
        answer.push_str(&numbered(&lines, lines_shown));
        answer.push_str("---\n");
    }
    answer.push_str(
        "Send it again with a neighbouring line or two that stand at only one of them, in both the search and the \
         replacement; or ask for every place (`replaceAll: true`).",
    );
    answer
}

fn nothing(text: &str, closest: Option<&Range<usize>>, within: &[Range<usize>], shape: SearchShape) -> String {
    let lines = Lines::new(text);
    if lines.len() == 0 {
        return "the file is empty, so there is nothing to find in it. Give it its whole text instead.".to_string();
    }
    let mut answer = match shape {
        SearchShape::Lines => "no lines of the file are the search text".to_string(),
        SearchShape::Inline | SearchShape::Literal if !within.is_empty() => "the search text stands".to_string(),
        SearchShape::Inline | SearchShape::Literal => "the search text is not in the file".to_string(),
    };
    if !within.is_empty() {
        let mut numbers: Vec<usize> = within.iter().map(|r| lines.at(r.start)).collect();
        numbers.dedup();
        answer.push_str(match shape {
            SearchShape::Lines => "; it is only a part of these:\n",
            SearchShape::Inline | SearchShape::Literal => " only inside of longer words here:\n",
        });
        numbers.iter().for_each(|n| answer.push_str(&numbered(&lines, *n..n + 1)));
        answer.push_str("Search for the whole line, or for the whole word with what stands around it.");
        if numbers.len() > 1 {
            answer.push_str(" To change each of them, send one change for each.");
        }
        return answer;
    }
    match closest {
        Some(range) => {
            let (first, last) = (range.start + 1, range.end);
            answer.push_str(&format!(". The closest passage is lines {first} to {last}. They read now:\n"));
            answer.push_str(&numbered(&lines, range.clone()));
            answer.push_str("Copy the search text from there, without the numbers, and send the change again.");
        }
        None => {
            let short = lines.len() <= SHORT;
            let (begins, lines_shown) = if short { ("reads now", lines.len()) } else { ("begins", 5) };
            let size = if lines.len() == 1 { "1 line".into() } else { format!("{} lines", lines.len()) };
            answer.push_str(&format!(", and nothing like it is. The file has {size} and {begins}:\n"));
            answer.push_str(&numbered(&lines, 0..lines_shown));
            answer.push_str(match short {
                true => "To put something new into it, search for the lines next to the place and repeat them in the replacement.",
                false => "Read the file, then copy the search text from it. To put something new into it, search for the lines \
                          next to the place and repeat them in the replacement.",
            });
        }
    }
    answer
}

/// Formats lines as they are on disk, each with its number: `12: text`.
pub(in crate::edit) fn numbered(lines: &Lines, range: Range<usize>) -> String {
    let mut lines_shown = String::new();
    for line in range.clone().take(LONG) {
        let content = lines.content(line);
        let end = content.char_indices().nth(WIDE).map_or(content.len(), |(at, _)| at);
        let cut = if end < content.len() { " [cut]" } else { "" };
        lines_shown.push_str(&format!("{}: {}{cut}\n", line + 1, &content[..end]));
    }
    if range.len() > LONG {
        lines_shown.push_str(&format!("[{} more lines]\n", range.len() - LONG));
    }
    lines_shown
}
