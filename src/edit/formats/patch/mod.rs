//! Unified diffs and the `*** Begin Patch` envelope.

mod names;

use self::names::{bare, file_name, git_names, is_side, names_a_file, ranges};
use crate::edit::format::Format;
use crate::edit::formats::spec::{EDIT, FormatSpec};
use crate::edit::op::{Edit, Op, PatchHunk};
use crate::edit::stream::context::{CUT, Progress, ReaderContext};
use crate::edit::stream::input::Input;
use crate::edit::stream::pieces::{EditId, EditPart};
use crate::edit::stream::reader::{Beginning, LineStart, Reader};
use crate::edit::stream::starts::{Fence, HEAD, LineMark, Mark, dedented, head, is_patch, may_be_patch};

impl Format {
    /// Unified diff or the `*** Begin Patch` envelope.
    pub const PATCH: Format = Format::named("patch");
}

pub(super) const SPEC: FormatSpec = FormatSpec {
    format: Format::PATCH,
    prompt: include_str!("../../../../assets/prompts/format-patch.md"),
    small_prompt: None,
    example: None,
    reminder: Some("Reply with a unified diff in a ```diff block."),
    label_on_screen: "patch",
    verb: EDIT,
    start: Some(LineStart { mark: LineMark { is: is_patch, may_be: may_be_patch }, read }),
};

/// Begins a patch; its first line is a part of it.
pub(in crate::edit) fn read(at: Beginning<'_>, ctx: &mut ReaderContext) -> Box<dyn Reader> {
    Box::new(Patch::new(at.fence.cloned(), (at.above)(ctx)))
}

/// A patch being read, from its first line.
#[derive(Debug, Default)]
pub(in crate::edit) struct Patch {
    fence: Option<Fence>,
    envelope: bool,
    section: Option<Section>,
    /// A path given outside of the patch.
    outer: Option<String>,
    /// It has no header.
    is_bare: bool,
}

/// The part of a patch about one file.
#[derive(Debug)]
struct Section {
    id: EditId,
    kind: SectionKind,
    path: Option<String>,
    to: Option<String>,
    hunks: Vec<PatchHunk>,
    /// Lines of the present hunk that its header still promises, before and after.
    due: (usize, usize),
    /// The permissions it is to have.
    mode: Option<u32>,
    /// The reason why this file's part cannot be applied.
    wrong: Option<&'static str>,
    /// True if `---` and `+++` have been seen, the hunks' first line, and `rename from`.
    headed: bool,
    body: bool,
    renamed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SectionKind {
    Update,
    Add,
    Delete,
}

impl Patch {
    /// Creates a patch inside a fence, or bare; `outer` is the path that stands above it.
    pub fn new(fence: Option<Fence>, outer: Option<String>) -> Self {
        Patch { fence, outer, ..Patch::default() }
    }

    /// Creates a patch inside a fence that begins without any header.
    pub fn headless(fence: Fence, outer: Option<String>) -> Self {
        Patch { is_bare: true, ..Patch::new(Some(fence), outer) }
    }

    /// Returns whether the header of the present hunk promises more lines.
    fn is_due(&self) -> bool {
        self.section.as_ref().is_some_and(|s| s.body && s.due != (0, 0))
    }

    /// Takes in one line. `head`: it begins with `---` and the next one with `+++`; `named`: it begins a file's part
    /// for certain.
    fn line(&mut self, line: &str, head: bool, named: bool, ctx: &mut ReaderContext) -> Taken {
        if let Some(fence) = &self.fence
            && fence.closed_by(line)
            && !line.starts_with(' ')
        {
            self.close(ctx);
            return Taken::No;
        }
        if let Some(taken) = self.envelope(line, ctx) {
            return taken;
        }
        if (!self.is_due() || named)
            && let Some(taken) = self.header(line, head, ctx)
        {
            return taken;
        }
        if line.starts_with("@@") {
            self.hunk(line, ctx);
            return Taken::Yes;
        }
        self.body(line, ctx)
    }

    /// Reads lines of the envelope.
    fn envelope(&mut self, line: &str, ctx: &mut ReaderContext) -> Option<Taken> {
        let (kind, path) = match Mark::of(line)? {
            Mark::Begin => {
                self.envelope = true;
                return Some(Taken::Yes);
            }
            Mark::End => {
                self.close(ctx);
                return Some(if self.fence.is_some() { Taken::Yes } else { Taken::Last });
            }
            Mark::EndOfFile => {
                if let Some(hunk) = self.section.as_mut().and_then(|s| s.hunks.last_mut()) {
                    hunk.at_end = true;
                }
                return Some(Taken::Yes);
            }
            Mark::MoveTo(path) => {
                let section = self.section.as_mut()?;
                (section.to, section.renamed) = (Some(path.to_string()), true);
                return Some(Taken::Yes);
            }
            Mark::Update(path) => (SectionKind::Update, path),
            Mark::Add(path) => (SectionKind::Add, path),
            Mark::Delete(path) => (SectionKind::Delete, path),
        };
        self.envelope = true;
        self.open(kind, Some(path.to_string()), ctx);
        Some(Taken::Yes)
    }

    /// Reads header lines of unified diffs and of `git`.
    fn header(&mut self, line: &str, head: bool, ctx: &mut ReaderContext) -> Option<Taken> {
        if self.envelope && !head {
            return None;
        }
        if let Some(names) = line.strip_prefix("diff --git ") {
            let (old, new) = git_names(names);
            self.open(SectionKind::Update, Some(old.clone()), ctx);
            if let Some(section) = self.section.as_mut().filter(|_| new != old) {
                section.to = Some(new);
            }
            return Some(Taken::Yes);
        }
        if head {
            let old = file_name(line[4..].trim_end());
            // After a `diff --git` line this is a repetition.
            if self.section.as_ref().is_none_or(|s| s.body || s.headed) {
                self.open(SectionKind::Update, None, ctx);
            }
            if let Some(section) = &mut self.section {
                section.headed = true;
                match old {
                    Some(_) if section.renamed => {}
                    Some(old) => section.path = Some(old),
                    None => section.kind = SectionKind::Add,
                }
            }
            return Some(Taken::Yes);
        }
        let section = self.section.as_mut().filter(|s| !s.body)?;
        if let Some(name) = line.strip_prefix("+++ ") {
            section.headed_by(file_name(name.trim_end()), self.outer.as_ref(), ctx);
            return Some(Taken::Yes);
        }
        let starts = |word: &str| line.starts_with(word);
        if let Some(mode) = line.strip_prefix("new file mode ") {
            section.kind = SectionKind::Add;
            // A plain file gets what every new file gets.
            section.set_mode(mode, Some(0o644));
        } else if let Some(mode) = line.strip_prefix("new mode ") {
            section.set_mode(mode, None);
        } else if starts("deleted file mode") {
            section.kind = SectionKind::Delete;
        } else if starts("Binary files") || starts("GIT binary patch") {
            section.wrong = Some("a binary change cannot be applied from a patch");
        } else if let Some(name) = line.strip_prefix("rename from ") {
            (section.path, section.renamed) = (file_name(name), true);
        } else if let Some(name) = line.strip_prefix("rename to ") {
            (section.to, section.renamed) = (file_name(name), true);
        } else if starts("copy from ") || starts("copy to ") {
            section.wrong = Some("a copy cannot be applied from a patch; write the new file out in full");
        } else if !["index ", "old mode", "similarity", "dissimilarity"].iter().any(|w| starts(w)) {
            return None;
        }
        Some(Taken::Yes)
    }

    /// Returns whether this is a unified diff in a document, where nothing may be missing.
    fn is_document(&self, ctx: &ReaderContext) -> bool {
        ctx.document && self.fence.is_none() && !self.envelope
    }

    /// Marks the present file's part as one that breaks off.
    fn breaks_off(&mut self, why: &'static str) {
        if let Some(section) = self.section.as_mut().filter(|s| s.body) {
            section.wrong.get_or_insert(why);
        }
    }

    fn hunk(&mut self, line: &str, ctx: &mut ReaderContext) {
        if self.is_due() && self.is_document(ctx) {
            self.breaks_off(TOO_FEW);
        }
        if self.section.is_none() {
            let outer = self.outer.clone();
            self.open(SectionKind::Update, outer, ctx);
        }
        let Some(section) = &mut self.section else { return };
        section.body = true;
        let header = ranges(line);
        let above = match header {
            Some(_) => line[2..].split_once("@@").map_or("", |(_, text)| text),
            None => line.trim_start_matches('@').trim_end_matches('@'),
        };
        // `@@ ... @@` and `@@ -,+ @@` leave the numbers out and name no line.
        let says = |a: &&str| a.contains(|c: char| !"-+.,… ".contains(c));
        let above: Vec<String> = Some(above.trim()).filter(says).map(str::to_string).into_iter().collect();
        section.due = header.map_or((0, 0), |[old, new]| (old.1, new.1));
        // Several `@@` lines one under another narrow the place down.
        if let Some(hunk) = section.hunks.last_mut().filter(|h| h.body.is_empty() && header.is_none()) {
            hunk.above.extend(above);
            return;
        }
        section.hunks.push(PatchHunk { header, above, strict_above: header.is_none(), ..PatchHunk::default() });
    }

    fn body(&mut self, line: &str, ctx: &mut ReaderContext) -> Taken {
        let contained = self.fence.is_some() || self.envelope;
        let marked = line.starts_with(['+', '-', ' ', '\\']);
        let is_begun = self.is_bare || self.outer.is_some() && self.fence.is_some() && !self.envelope;
        if self.section.is_none() && is_begun && marked {
            // A diff without any header.
            self.is_bare = false;
            let outer = self.outer.take();
            self.open(SectionKind::Update, outer, ctx);
        }
        if self.section.is_none() {
            // Between the parts of an envelope or a fenced diff there is nothing to say.
            return if contained { Taken::Yes } else { Taken::No };
        }
        let Some(section) = &mut self.section else { return Taken::No };
        let due = section.due != (0, 0);
        if !contained && !due && (!marked || line.trim().is_empty() || line == "-- ") {
            self.close(ctx);
            return Taken::No;
        }
        if !section.body && section.kind != SectionKind::Add && !self.envelope && !marked {
            return Taken::Yes;
        }
        section.take(line, ctx);
        Taken::Yes
    }

    fn open(&mut self, kind: SectionKind, path: Option<String>, ctx: &mut ReaderContext) {
        self.close(ctx);
        let id = ctx.start(Format::PATCH);
        if let Some(path) = &path {
            ctx.grew(id, EditPart::Path, path);
        }
        self.section = Some(Section {
            id,
            kind,
            path,
            to: None,
            hunks: Vec::new(),
            due: (0, 0),
            mode: None,
            wrong: None,
            headed: false,
            body: false,
            renamed: false,
        });
    }

    fn close(&mut self, ctx: &mut ReaderContext) {
        if self.is_due() && self.is_document(ctx) {
            self.breaks_off(TOO_FEW);
        }
        let Some(section) = self.section.take() else { return };
        section.finish(self.envelope, ctx);
    }
}

impl Reader for Patch {
    fn step(&mut self, input: &mut Input, ctx: &mut ReaderContext) -> Progress {
        let indent = self.fence.as_ref().map_or(0, |f| f.indent);
        while let Some(line) = input.line() {
            let text = dedented(&input.rest()[..line.content], indent).to_string();
            // `--- a` is a header only with `+++ b` under it; that line must have arrived.
            let after = &input.rest()[line.next..];
            let spaces = after.len() - dedented(after, indent).len();
            if text.starts_with("--- ") && spaces == after.len() && spaces < indent && !input.ended() {
                return Progress::Wait;
            }
            let after: String = after[spaces..].chars().take(4).collect();
            if text.starts_with("--- ") && after != "+++ " && "+++ ".starts_with(&after) && !input.ended() {
                return Progress::Wait;
            }
            let is_header = text.starts_with("--- ") && after == "+++ ";
            // Where the counts say that more is to come, `--- a` and `+++ a` may be a header all the same.
            let next = &input.rest()[line.next..];
            let below = head(next);
            if is_header && self.is_due() && !input.ended() && next.len() < HEAD && !below.contains('\n') {
                return Progress::Wait;
            }
            let below = below.lines().next().unwrap_or_default();
            let named = text.starts_with("diff --git ") || (is_header && names_a_file(&text, dedented(below, indent)));
            let breaks_off = !input.rest()[..line.next].ends_with('\n') && !text.starts_with('\\');
            let taken = self.line(&text, is_header, named, ctx);
            if breaks_off && self.is_document(ctx) {
                self.breaks_off(MID_LINE);
            }
            match taken {
                Taken::Yes => input.skip(line.next),
                Taken::Last => {
                    input.skip(line.next);
                    return Progress::Done;
                }
                Taken::No => return Progress::Done,
            }
        }
        Progress::Wait
    }

    fn end(&mut self, ctx: &mut ReaderContext, cut: bool) {
        match self.section.take() {
            Some(section) if cut => ctx.dropped(section.id, CUT.to_string()),
            section => {
                self.section = section;
                self.close(ctx);
            }
        }
    }
}

/// The error of a diff in a document that breaks off.
const MID_LINE: &str =
    "the patch ends in the middle of a line: a part of it is missing. Make it anew, or end its last line";
const TOO_FEW: &str = "a hunk has fewer lines than its header says: a part of the patch is missing. Make it anew";

enum Taken {
    Yes,
    /// It ends the patch.
    Last,
    /// It is no part of the patch.
    No,
}

impl Section {
    /// Takes in the name after `+++`. Where it and the one before are only those of the two sides, its file is the `outer`
    /// one.
    fn headed_by(&mut self, new: Option<String>, outer: Option<&String>, ctx: &mut ReaderContext) {
        let is_side = |name: &str| is_side(name) && !ctx.document && ctx.lines_of(name).is_none();
        let are_sides = [&self.path, &new].into_iter().all(|name| name.as_deref().is_some_and(is_side));
        self.named(new);
        if are_sides {
            self.path = outer.cloned();
        }
        if let Some(path) = &self.path {
            ctx.grew(self.id, EditPart::Path, path);
        }
    }

    /// Takes in the name after `+++`.
    fn named(&mut self, new: Option<String>) {
        match new {
            None => self.kind = SectionKind::Delete,
            Some(new) => match self.path.take() {
                _ if self.kind == SectionKind::Add => self.path = Some(bare(&new, "b/")),
                // `rename from` and `rename to` have given the name without prefixes.
                Some(old) if self.renamed => self.path = Some(old),
                // Without git's word for it a second name is no move: `diff -u a.orig a`.
                Some(old) => {
                    let paired = old.starts_with("a/") || bare(&new, "b/") == old;
                    self.path = Some(if paired { bare(&new, "b/") } else { new });
                }
                None => self.path = Some(new),
            },
        }
        if self.kind == SectionKind::Delete {
            self.path = self.path.take().map(|p| bare(&p, "a/"));
            self.to = None;
        }
    }

    /// Takes in the mode that `git` writes: `100755`; the `usual` one changes nothing.
    fn set_mode(&mut self, text: &str, usual: Option<u32>) {
        match u32::from_str_radix(text.trim(), 8) {
            Ok(mode) if mode >> 12 == 0o10 => self.mode = Some(mode & 0o777).filter(|m| Some(*m) != usual),
            _ => self.wrong = Some("only regular files can be changed by a patch, not links or others"),
        }
    }

    fn take(&mut self, line: &str, ctx: &mut ReaderContext) {
        self.body = true;
        if self.hunks.is_empty() {
            self.hunks.push(PatchHunk::default());
        }
        let Some(hunk) = self.hunks.last_mut() else { return };
        let (old, new, part) = match line.as_bytes().first() {
            Some(b'+') => (0, 1, Some(EditPart::New)),
            Some(b'-') => (1, 0, Some(EditPart::Old)),
            Some(b'\\') => (0, 0, None),
            _ => (1, 1, Some(EditPart::Same)),
        };
        self.due = (self.due.0.saturating_sub(old), self.due.1.saturating_sub(new));
        if let Some(part) = part {
            let text = line.get(1..).filter(|_| line.starts_with(['+', '-', ' '])).unwrap_or(line);
            ctx.grew(self.id, part, &format!("{text}\n"));
        }
        hunk.body.push(line.to_string());
    }

    /// Returns whether a line of it is to be removed.
    fn removes(&self) -> bool {
        self.hunks.iter().flat_map(|hunk| &hunk.body).any(|line| line.starts_with('-'))
    }

    /// Makes its edits. `enveloped`: it was named by a line of the envelope, which does not hold the text to be
    /// deleted; lines that it removes all the same must be those of the file.
    fn finish(mut self, enveloped: bool, ctx: &mut ReaderContext) {
        if let Some(why) = self.wrong {
            return ctx.dropped(self.id, why.to_string());
        }
        for hunk in &mut self.hunks {
            // Blank lines at the end of a hunk are space between it and what follows, unless its header counts them.
            while hunk.header.is_none() && hunk.body.last().is_some_and(|l| l.is_empty()) {
                hunk.body.pop();
            }
        }
        self.hunks.retain(|h| !h.body.is_empty());
        let edit = |path: &Option<String>, op| Edit {
            path: path.clone(),
            ..Edit::new("", op, Format::PATCH, Format::PATCH.name())
        };
        let mut edits = Vec::new();
        match self.kind {
            SectionKind::Delete if self.headed || !enveloped || self.removes() => {
                edits.push(edit(&self.path, Op::DeleteText(std::mem::take(&mut self.hunks))));
            }
            SectionKind::Delete => edits.push(edit(&self.path, Op::Delete)),
            SectionKind::Add => {
                edits.push(edit(&self.path, Op::Write { content: added(&self.hunks) }));
                edits.extend(self.mode.map(|mode| edit(&self.path, Op::Mode { mode })));
            }
            SectionKind::Update => {
                if !self.hunks.is_empty() {
                    edits.push(edit(&self.path, Op::Hunks(std::mem::take(&mut self.hunks))));
                }
                edits.extend(self.mode.map(|mode| edit(&self.path, Op::Mode { mode })));
                if let Some(to) = self.to.filter(|_| self.renamed) {
                    edits.push(edit(&self.path, Op::Move { to }));
                }
            }
        }
        if edits.is_empty() {
            return ctx.dropped(self.id, "the patch changes nothing in this file that can be applied here".to_string());
        }
        let mut id = Some(self.id);
        for edit in edits {
            let id = id.take().unwrap_or_else(|| ctx.start(Format::PATCH));
            ctx.done(id, edit);
        }
    }
}

/// Returns the text of a new file: what its lines add. Lines without a prefix are taken as they are.
fn added(hunks: &[PatchHunk]) -> String {
    let mut text = String::new();
    let mut ended = true;
    for line in hunks.iter().flat_map(|h| &h.body) {
        if line.starts_with('\\') {
            ended = false;
            continue;
        }
        text.extend([line.strip_prefix('+').unwrap_or(line), "\n"]);
    }
    if !ended {
        text.pop();
    }
    text
}
