//! An edit in the text while it arrives: a diff that grows at its end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::agent::services::events::Events;
use crate::agent::session::call_preview::{self, ReplacedFile};
use crate::agent::turn::step::call_item::CallItem;
use crate::agent::turn::step::context::StepContext;
use crate::edit::stream::EditPart;
use crate::edit::{Edit, Format, bytes};
use crate::proposal::Counts;
use crate::protocol::PreviewLine;
use crate::workspace::{Access, Workspace};

/// The shortest interval at which a streamed edit is shown again.
pub const OFTEN: Duration = Duration::from_millis(40);
/// The lines of a streamed edit that are told: as many as are shown where it is unfolded.
const TAIL: usize = 40;
/// The size in bytes from which a file is not compared with a streamed edit of it.
const LARGEST: usize = 4 << 20;

/// A streamed edit, as far as it has come.
pub struct StreamingEdit {
    /// The format it is written in.
    pub format: Format,
    /// Its entry.
    pub item: CallItem,
    path: String,
    lines: Vec<PreviewLine>,
    counts: Counts,
    /// The last line, as far as it is there.
    open: Option<(EditPart, String)>,
    /// The file that a whole text is compared with; none until that is known.
    before: Option<Option<ReplacedFile>>,
    shown_at: Instant,
    /// It grew since it was shown last.
    pub stale: bool,
}

impl StreamingEdit {
    /// Creates an edit of which nothing is known yet.
    pub fn new(format: Format, item: CallItem) -> Self {
        StreamingEdit {
            format,
            item,
            path: String::new(),
            lines: Vec::new(),
            counts: Counts::default(),
            open: None,
            before: None,
            shown_at: Instant::now(),
            stale: false,
        }
    }

    /// Takes in what came, and shows it if it is time to.
    pub async fn grow(&mut self, step: StepContext<'_>, part: EditPart, text: &str) {
        if part == EditPart::New && self.before.is_none() {
            // A whole text: nothing that is to go came before what is to come.
            let whole =
                matches!(self.format, Format::WHOLE | Format::XML) && self.counts.removed == 0 && self.open.is_none();
            let read = async { if whole { present(step.workspace, self.path.trim()).await } else { None } };
            let text = step.stop.run_until_cancelled(read).await.flatten();
            self.before = Some(text.map(|t| ReplacedFile::new(t.lines().map(str::to_string).collect())));
        }
        self.take(part, text);
        self.stale = true;
        if self.shown_at.elapsed() >= OFTEN {
            self.tell(step.events).await;
        }
    }

    /// Shows what it is now.
    pub async fn tell(&mut self, events: &Events) {
        (self.shown_at, self.stale) = (Instant::now(), false);
        let call = &mut self.item.call;
        call.main = self.path.trim().to_string();
        let open = self.open.iter().filter(|(_, text)| !self.may_be_there(text)).filter_map(|(p, t)| line(*p, t));
        let open: Vec<PreviewLine> = open.collect();
        let from = self.lines.len().saturating_sub(TAIL - open.len());
        self.item.call.preview = self.lines[from..].iter().cloned().chain(open).collect();
        self.item.call.counts = Some(self.counts).filter(|c| c.added + c.removed > 0);
        self.item.tell(events).await;
    }

    /// Returns all of it, as it is shown when nothing more comes; `edit` if it is complete.
    pub fn end(mut self, edit: Option<&Edit>) -> CallItem {
        self.close();
        let call = &mut self.item.call;
        call.main = self.path.trim().to_string();
        call.counts = None;
        call.preview = match (edit, self.before.flatten()) {
            (Some(edit), None) => call_preview::preview(edit),
            (Some(_), Some(before)) => {
                before.end(&mut self.lines);
                self.lines
            }
            (None, _) => self.lines,
        };
        if let Some(path) = edit.and_then(|e| e.path.as_ref()) {
            call.main.clone_from(path);
        }
        self.item
    }

    fn take(&mut self, part: EditPart, text: &str) {
        if part == EditPart::Path {
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

    /// Completes the open line.
    fn close(&mut self) {
        let Some((part, text)) = self.open.take() else { return };
        match &mut self.before {
            Some(Some(before)) if part == EditPart::New => match before.follow(&text, &mut self.lines) {
                Some(gone) => self.counts.removed += gone,
                None => self.counts.added += 1,
            },
            _ => {
                self.lines.extend(line(part, &text));
                self.counts.added += usize::from(part == EditPart::New);
                self.counts.removed += usize::from(part == EditPart::Old);
            }
        }
    }

    /// Returns whether the beginning of a line may turn out to be the next one of the file before.
    fn may_be_there(&self, text: &str) -> bool {
        matches!(&self.before, Some(Some(before)) if before.line(before.at).is_some_and(|l| l.starts_with(text)))
    }
}

/// Returns a line of the diff; what stays is none.
fn line(part: EditPart, text: &str) -> Option<PreviewLine> {
    let sign = match part {
        EditPart::Old => '-',
        EditPart::New => '+',
        EditPart::Same | EditPart::Path => return None,
    };
    Some(PreviewLine { sign, text: text.trim_end_matches('\r').to_string() })
}

/// Returns the text of a file as it is on disk, if there is one.
async fn present(workspace: &Arc<Workspace>, path: &str) -> Option<String> {
    let (workspace, path) = (Arc::clone(workspace), path.to_string());
    let read = tokio::task::spawn_blocking(move || {
        let path = workspace.resolve(&path, Access::File).ok()?;
        let read = workspace.read_whole(&path).ok()?;
        let bytes = read.state.bytes().filter(|b| b.len() <= LARGEST)?;
        Some(bytes::decode(bytes).1.into_owned())
    });
    read.await.ok().flatten()
}
