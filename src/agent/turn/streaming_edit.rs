//! An edit in the text while it arrives: a diff that grows at its end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::agent::services::Env;
use crate::agent::turn::call_item::{self, Shown};
use crate::edit::stream::Part;
use crate::edit::{Edit, Format, bytes};
use crate::proposal::Counts;
use crate::protocol::PreviewLine;
use crate::workspace::Access;

/// How often a growing edit is shown anew at most.
pub const OFTEN: Duration = Duration::from_millis(40);
/// Lines of a growing edit that are told: as many as are shown where it is unfolded.
const TAIL: usize = 40;
/// Larger files are not compared with while they grow, in bytes.
const LARGEST: usize = 4 << 20;
/// How many lines of the file before are looked through for one of the new ones.
const AHEAD: usize = 400;

/// An edit that is arriving.
pub struct Growing {
    /// How it is written.
    pub format: Format,
    /// Its entry.
    pub shown: Shown,
    path: String,
    lines: Vec<PreviewLine>,
    counts: Counts,
    /// The last line, as far as it is there.
    open: Option<(Part, String)>,
    /// The file that a whole text is compared with; none until that is known.
    before: Option<Option<Before>>,
    told: Instant,
    /// It grew since it was shown last.
    pub stale: bool,
}

impl Growing {
    /// One of which nothing is known yet.
    pub fn new(format: Format, shown: Shown) -> Self {
        Growing {
            format,
            shown,
            path: String::new(),
            lines: Vec::new(),
            counts: Counts::default(),
            open: None,
            before: None,
            told: Instant::now(),
            stale: false,
        }
    }

    /// Takes in what came, and shows it if it is time to.
    pub async fn grow(&mut self, env: &Arc<Env>, part: Part, text: &str) {
        if part == Part::New && self.before.is_none() {
            // A whole text: nothing that is to go came before what is to come.
            let whole =
                matches!(self.format, Format::Whole | Format::Xml) && self.counts.removed == 0 && self.open.is_none();
            let text = if whole { present(env, self.path.trim()).await } else { None };
            self.before = Some(text.map(|t| Before::new(t.lines().map(str::to_string).collect())));
        }
        self.take(part, text);
        self.stale = true;
        if self.told.elapsed() >= OFTEN {
            self.tell(env).await;
        }
    }

    /// Shows what it is now.
    pub async fn tell(&mut self, env: &Env) {
        (self.told, self.stale) = (Instant::now(), false);
        let call = &mut self.shown.call;
        call.main = self.path.trim().to_string();
        let open = self.open.iter().filter(|(_, text)| !self.may_be_there(text)).filter_map(|(p, t)| line(*p, t));
        let open: Vec<PreviewLine> = open.collect();
        let from = self.lines.len().saturating_sub(TAIL - open.len());
        self.shown.call.preview = self.lines[from..].iter().cloned().chain(open).collect();
        self.shown.call.counts = Some(self.counts).filter(|c| c.added + c.removed > 0);
        self.shown.tell(&env.events).await;
    }

    /// All of it, as it is shown when nothing more comes; `edit` if it is complete.
    pub fn end(mut self, edit: Option<&Edit>) -> Shown {
        self.close();
        let call = &mut self.shown.call;
        call.main = self.path.trim().to_string();
        call.counts = None;
        call.preview = match (edit, self.before.flatten()) {
            (Some(edit), None) => call_item::preview(edit),
            (Some(_), Some(before)) => {
                before.end(&mut self.lines);
                self.lines
            }
            (None, _) => self.lines,
        };
        if let Some(path) = edit.and_then(|e| e.path.as_ref()) {
            call.main.clone_from(path);
        }
        self.shown
    }

    fn take(&mut self, part: Part, text: &str) {
        if part == Part::Path {
            return self.path.push_str(text);
        }
        for piece in text.split_inclusive('\n') {
            if self.open.as_ref().is_some_and(|(p, _)| *p != part) {
                self.close();
            }
            let (_, line) = self.open.get_or_insert_with(|| (part, String::new()));
            line.push_str(piece.trim_end_matches('\n'));
            if piece.ends_with('\n') {
                self.close();
            }
        }
    }

    /// The open line is whole.
    fn close(&mut self) {
        let Some((part, text)) = self.open.take() else { return };
        match &mut self.before {
            Some(Some(before)) if part == Part::New => match before.follow(&text, &mut self.lines) {
                Some(gone) => self.counts.removed += gone,
                None => self.counts.added += 1,
            },
            _ => {
                self.lines.extend(line(part, &text));
                self.counts.added += usize::from(part == Part::New);
                self.counts.removed += usize::from(part == Part::Old);
            }
        }
    }

    /// Whether the beginning of a line may turn out to be the next one of the file before.
    fn may_be_there(&self, text: &str) -> bool {
        matches!(&self.before, Some(Some(before)) if before.line(before.at).is_some_and(|l| l.starts_with(text)))
    }
}

/// A line of the diff; what stays is none.
fn line(part: Part, text: &str) -> Option<PreviewLine> {
    let sign = match part {
        Part::Old => '-',
        Part::New => '+',
        Part::Same | Part::Path => return None,
    };
    Some(PreviewLine { sign, text: text.trim_end_matches('\r').to_string() })
}

/// The text of a file as it is on disk, if there is one.
async fn present(env: &Arc<Env>, path: &str) -> Option<String> {
    let (env, path) = (Arc::clone(env), path.to_string());
    let read = tokio::task::spawn_blocking(move || {
        let path = env.workspace.resolve(&path, Access::File).ok()?;
        let read = env.workspace.read(&path).ok()?;
        let bytes = read.state.bytes().filter(|b| b.len() <= LARGEST)?;
        Some(bytes::decode(bytes).1.into_owned())
    });
    read.await.ok().flatten()
}

/// The file that a growing text will replace, and how far the text has followed it.
pub struct Before {
    lines: Vec<String>,
    at: usize,
    /// New lines since the last one that the file has too.
    new: usize,
}

impl Before {
    /// A text of these lines.
    pub fn new(lines: Vec<String>) -> Self {
        Before { lines, at: 0, new: 0 }
    }

    fn line(&self, at: usize) -> Option<&str> {
        self.lines.get(at).map(String::as_str)
    }

    /// Takes the next line of the new text: it is the next one of the file, or one further down and those between are
    /// gone, or it is new. A diff of what is not whole yet can only guess; the one that is asked about is made anew.
    /// How many are gone before it, or none for a new line.
    pub fn follow(&mut self, new: &str, out: &mut Vec<PreviewLine>) -> Option<usize> {
        let new = new.trim_end_matches('\r');
        // A bracket alone is everywhere: it is looked for where new lines have taken the place of old ones.
        let says = new.chars().filter(|c| c.is_alphanumeric()).count() >= 3;
        let reach = if says { AHEAD } else { 1 + self.new };
        let rest = self.lines.get(self.at..).unwrap_or_default();
        let Some(gone) = rest.iter().take(reach).position(|l| l == new) else {
            out.push(PreviewLine { sign: '+', text: new.to_string() });
            self.new += 1;
            return None;
        };
        self.take_out(gone, out);
        self.at += 1;
        self.new = 0;
        Some(gone)
    }

    /// The new text is whole: what it has not come to is gone.
    pub fn end(mut self, out: &mut Vec<PreviewLine>) {
        self.take_out(self.lines.len() - self.at, out);
    }

    /// So many lines are gone; they stand before the new ones in their place.
    fn take_out(&mut self, count: usize, out: &mut Vec<PreviewLine>) {
        let place = out.len() - self.new;
        let gone = self.lines[self.at..self.at + count].iter();
        out.splice(place..place, gone.map(|l| PreviewLine { sign: '-', text: l.clone() }));
        self.at += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followed(before: &str, after: &str) -> String {
        let (mut file, mut out) = (Before::new(before.lines().map(str::to_string).collect()), Vec::new());
        for line in after.lines() {
            file.follow(line, &mut out);
        }
        file.end(&mut out);
        out.iter().map(|l| format!("{}{}\n", l.sign, l.text)).collect()
    }

    #[test]
    fn a_growing_file_shows_only_what_differs_from_the_one_on_disk() {
        let before = "use a;\n\nfn one() {\n    1\n}\n\nfn two() {\n    2\n}\n";
        assert_eq!(followed(before, before), "");
        assert_eq!(followed(before, "use a;\n\nfn two() {\n    2\n}\n"), "-fn one() {\n-    1\n-}\n-\n");
        let more = "use a;\nuse b;\n\nfn one() {\n    1\n}\n\nfn two() {\n    3\n}\n";
        assert_eq!(followed(before, more), "+use b;\n-    2\n+    3\n");
    }
}
