//! `<replace_file>` and similar elements in the middle of a text, edits by line number among them.

use super::blocks;
use super::spec::{EDIT, FormatSpec};
use crate::edit::format::Format;
use crate::edit::locate::SearchShape;
use crate::edit::names::{Element, elements, fields};
use crate::edit::op::{Edit, Op};
use crate::edit::path::bare;
use crate::edit::place::unfenced;
use crate::edit::stream::context::{BROKE_OFF, CUT, Progress, ReaderContext};
use crate::edit::stream::input::Input;
use crate::edit::stream::pieces::{EditId, EditPart};
use crate::edit::stream::reader::Reader;
use crate::edit::stream::tags::{Ending, Field, attribute, end_of, is_short};

impl Format {
    /// `<replace_file>` and `<write_file>` in ordinary text.
    pub const XML: Format = Format::named("xml");
}

pub(super) const SPEC: FormatSpec = FormatSpec {
    format: Format::XML,
    prompt: include_str!("../../../assets/prompts/format-xml.md"),
    small_prompt: None,
    example: None,
    reminder: Some("Reply with a <replace_file> or <write_file> tag for each change."),
    label_on_screen: "replace_file",
    verb: EDIT,
    start: None,
};

/// An element being read.
#[derive(Debug)]
pub(in crate::edit) struct Xml {
    kind: Element,
    /// Nothing is shown of the element before its first field: until then it may be prose about tags.
    id: Option<EditId>,
    raw: String,
    fields: Vec<Field>,
    /// The number of edits of this element that are done.
    done: usize,
    /// Lines of the open field wait for what follows them to be shown.
    held: bool,
}

impl Xml {
    pub fn new(kind: Element, raw: &str, path: Option<String>) -> Self {
        let said: &[&'static str] = match kind {
            Element::Move => &["to"],
            Element::Lines => &["start", "end"],
            _ => &[],
        };
        let others = said.iter().filter_map(|name| Some(Field::given(name, attribute(raw, name)?)));
        let fields = path.map(|text| Field::given("path", text)).into_iter().chain(others);
        Xml { kind, id: None, raw: raw.to_string(), fields: fields.collect(), done: 0, held: false }
    }

    /// Returns whether the opening tag says all there is to say.
    fn is_said(&self) -> bool {
        match self.kind {
            Element::Delete => self.text("path").is_some(),
            Element::Move => self.text("path").is_some() && self.text("to").is_some(),
            _ => false,
        }
    }

    /// Reads between fields: white space, the next field, or the end of the element.
    fn between(&mut self, input: &mut Input, ctx: &mut ReaderContext) -> Progress {
        let rest = input.rest();
        let text = rest.trim_start();
        let space = rest.len() - text.len();
        // Before its first field it is not known to be an edit: what follows the tag stays where it is, so that the
        // text goes on the same whether it came in one piece or in many.
        if self.id.is_none() && space > MAX_SPACE {
            return self.leave(ctx);
        }
        if text.is_empty() {
            if input.ended() {
                return self.leave(ctx);
            }
            if self.id.is_some() {
                input.skip(space);
            }
            return Progress::Wait;
        }
        let closing = elements().iter().filter(|(_, kind)| *kind == self.kind).map(|(name, _)| format!("</{name}>"));
        let mut wait = false;
        for close in closing {
            if text.starts_with(&close) {
                input.skip(space + close.len());
                if self.is_said() {
                    self.begin(ctx);
                }
                self.finish(ctx);
                return Progress::Done;
            }
            wait |= close.starts_with(text);
        }
        match self.late_tag(text) {
            Ok(length) => {
                input.skip(space + length);
                return Progress::Again;
            }
            Err(may) => wait |= may,
        }
        for (tag, name) in fields() {
            let open = format!("<{tag}>");
            if text.starts_with(&open) {
                if self.id.is_none() {
                    self.raw.push_str(&rest[..space + open.len()]);
                }
                input.skip(space + open.len());
                self.open(name, tag, ctx);
                return Progress::Again;
            }
            wait |= open.starts_with(text);
        }
        wait |= self.id.is_none() && CDATA.starts_with(text);
        if wait && !input.ended() {
            return Progress::Wait;
        }
        self.beside_fields(space, input, ctx)
    }

    /// Handles what is neither a field nor the element's end, behind this much space: the text of a new file, or none of
    /// the element.
    fn beside_fields(&mut self, space: usize, input: &mut Input, ctx: &mut ReaderContext) -> Progress {
        let (before, text) = input.rest().split_at(space);
        let skip = before.find('\n').unwrap_or(space);
        if self.id.is_some() {
            input.skip(space);
        } else if let Some(tag) = self.holds_text(before, text) {
            input.skip(skip);
            self.open("content", tag, ctx);
            return Progress::Again;
        }
        self.leave(ctx)
    }

    /// Returns the element's own name where a new file's text stands in it without a field: on the lines below an opening
    /// tag that says the path, or as a section of raw text.
    fn holds_text(&self, space: &str, text: &str) -> Option<&'static str> {
        let says = self.kind == Element::Write && self.done == 0 && self.text("path").is_some();
        let apart = space.contains('\n') || text.starts_with(CDATA);
        let name = self.raw.get(1..)?.split([' ', '\t', '\n', '>']).next()?;
        let own = elements().iter().find(|(own, _)| own == name)?;
        (says && apart).then_some(own.0.as_str())
    }

    /// Returns how long the closing tag is that `text` begins with, of a field that the end of its line has ended. The
    /// error says whether it may yet come to be one.
    fn late_tag(&mut self, text: &str) -> Result<usize, bool> {
        let Some(field) = self.fields.last_mut() else { return Err(false) };
        let tags = field.late_tags();
        let Some(close) = tags.iter().find(|close| text.starts_with(close.as_str())) else {
            return Err(tags.iter().any(|close| close.starts_with(text)));
        };
        field.by_line = false;
        Ok(close.len())
    }

    /// Handles something other than a field or the end: prose about tags, or a closing tag that was forgotten.
    fn leave(&mut self, ctx: &mut ReaderContext) -> Progress {
        if self.id.is_none() && self.done == 0 {
            ctx.prose(&std::mem::take(&mut self.raw));
            return Progress::Back;
        }
        self.finish(ctx);
        Progress::Done
    }

    /// Tells that the edit has begun.
    fn begin(&mut self, ctx: &mut ReaderContext) {
        if self.id.is_some() {
            return;
        }
        let format = if self.kind == Element::Lines { Format::LINES } else { Format::XML };
        let id = ctx.start(format);
        self.id = Some(id);
        if let Some(path) = self.text("path") {
            let path = path.to_string();
            ctx.grew(id, EditPart::Path, &path);
        }
    }

    fn open(&mut self, name: &'static str, tag: &'static str, ctx: &mut ReaderContext) {
        // A second search or content in one element is a second edit of the same file.
        if matches!(name, "search" | "content" | "start") && self.fields.iter().any(|f| f.name == name) {
            let path = self.text("path").map(str::to_string);
            self.finish(ctx);
            self.fields = Xml::new(self.kind, "", path).fields;
        }
        self.begin(ctx);
        self.fields.push(Field::open(name, tag));
    }

    /// Reads inside a field, up to what ends it.
    fn inside(&mut self, input: &mut Input, ctx: &mut ReaderContext) -> Progress {
        let Some(field) = self.fields.last_mut() else { return Progress::Done };
        if field.lines.is_none() && !is_short(field.name) {
            let rest = input.rest();
            let blank = rest.trim_start_matches([' ', '\t', '\r']);
            match blank.as_bytes().first() {
                None if !input.ended() && rest.len() < BLANK => return Progress::Wait,
                Some(b'\n') if rest.len() - blank.len() < BLANK => {
                    input.skip(rest.len() - blank.len() + 1);
                    field.lines = Some(true);
                }
                _ => field.lines = Some(false),
            }
        }
        let mut lines = std::mem::take(&mut self.held);
        let short = is_short(field.name);
        loop {
            let rest = input.rest();
            let found = match short {
                true => memchr::memchr2(b'<', b'\n', rest.as_bytes()),
                false => memchr::memchr(b'<', rest.as_bytes()),
            };
            lines |= memchr::memchr(b'\n', &rest.as_bytes()[..found.unwrap_or(rest.len())]).is_some();
            let Some(at) = found else {
                field.text.push_str(rest);
                input.skip(rest.len());
                break;
            };
            let (before, from) = rest.split_at(at);
            field.text.push_str(before);
            // A path, like a number, ends with its line though its closing tag was forgotten.
            if from.starts_with('\n') {
                input.skip(at + 1);
                if field.text.trim().is_empty() {
                    continue;
                }
                (field.open, field.whole, field.by_line) = (false, true, true);
                self.close(ctx);
                return Progress::Again;
            }
            match end_of(field, self.kind, from, input.ended()) {
                Ending::No if field.take_angle(from, input.ended()) => input.skip(at + 1),
                Ending::No | Ending::Wait => {
                    input.skip(at);
                    break;
                }
                Ending::At { skip, whole } => {
                    input.skip(at + skip);
                    (field.open, field.whole) = (false, whole);
                    self.close(ctx);
                    return Progress::Again;
                }
            }
        }
        if lines {
            self.grow(ctx);
        }
        Progress::Wait
    }

    fn close(&mut self, ctx: &mut ReaderContext) {
        let Some(field) = self.fields.last_mut() else { return };
        if is_short(field.name) {
            field.text = bare(&field.text).to_string();
            if let (Some(id), "path") = (self.id, field.name) {
                let path = field.text.clone();
                ctx.grew(id, EditPart::Path, &path);
            }
            return;
        }
        let mut end = field.text.len();
        // One line break before the closing tag, with that tag's indentation, is not part of the text.
        let trimmed = field.text.trim_end_matches([' ', '\t']);
        if trimmed.ends_with('\n') {
            end = trimmed.len() - 1;
            end -= usize::from(trimmed[..end].ends_with('\r'));
        }
        field.text.truncate(end.max(field.emitted));
        if let Some(inner) = field.text.trim().strip_prefix(CDATA).and_then(|t| t.strip_suffix("]]>")) {
            field.text = inner.strip_prefix('\n').unwrap_or(inner).to_string();
        }
        let (name, text) = (field.name, field.text[field.emitted..].to_string());
        if let (Some(id), Some(part)) = (self.id, part(name)) {
            ctx.grew(id, part, &text);
        }
    }

    /// Shows what is certain to belong to the text: all but its last line.
    fn grow(&mut self, ctx: &mut ReaderContext) {
        let Some(field) = self.fields.last_mut() else { return };
        let (Some(id), Some(part)) = (self.id, part(field.name)) else { return };
        // What of a section of raw text is shown is known once it has ended.
        let begin = field.text.trim_start();
        if field.emitted == 0 && (CDATA.starts_with(begin) || begin.starts_with(CDATA)) {
            self.held = CDATA.starts_with(begin);
            return;
        }
        let Some(end) = memchr::memrchr(b'\n', &field.text.as_bytes()[field.emitted..]) else { return };
        let mut end = field.emitted + end;
        end -= usize::from(field.text[..end].ends_with('\r'));
        if end > field.emitted {
            let text = field.text[field.emitted..end].to_string();
            field.emitted = end;
            ctx.grew(id, part, &text);
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|f| f.name == name).map(|f| f.text.as_str())
    }

    /// Makes the edit of the fields there are.
    fn finish(&mut self, ctx: &mut ReaderContext) {
        let Some(id) = self.id.take() else { return };
        self.done += 1;
        match self.edits() {
            Ok(edits) => {
                let mut id = Some(id);
                for edit in edits {
                    let id = id.take().unwrap_or_else(|| ctx.start(edit.format));
                    ctx.done(id, edit);
                }
            }
            Err(why) => ctx.dropped(id, why),
        }
        self.fields.clear();
    }

    fn edits(&self) -> Result<Vec<Edit>, String> {
        let field = |name: &str| self.fields.iter().find(|f| f.name == name);
        let text = |name: &str| {
            let missing = || match name {
                "replace" => NO_REPLACE.to_string(),
                _ => format!("the edit has no <{name}>. Send it again with it."),
            };
            field(name).map(|f| f.text.clone()).ok_or_else(missing)
        };
        let number =
            |name: &str| text(name)?.trim().parse::<usize>().map_err(|_| format!("<{name}> is not a line number"));
        let path = text("path").ok().filter(|p| !p.is_empty());
        let whole = self.fields.iter().all(|f| f.whole);
        let edit = |op, format: Format| {
            let edit = Edit::new("", op, format, format.name());
            Edit { path: path.clone(), whole, ..edit }
        };
        let op = match self.kind {
            Element::Replace if let Some(diff) = field("diff") => {
                return blocks::inside(&diff.text, path.as_deref(), whole);
            }
            Element::Replace if field("search").is_none() && field("content").is_some() => {
                Op::Overwrite { content: text("content")? }
            }
            Element::Replace => {
                let shape = match field("search").and_then(|f| f.lines) {
                    Some(true) => SearchShape::Lines,
                    _ => SearchShape::Inline,
                };
                let (search, mut replace) = without_fences(text("search")?, text("replace")?);
                // A file that is made of it ends with a line break, as in the other formats.
                if search.trim().is_empty() && !replace.is_empty() && !replace.ends_with('\n') {
                    replace.push('\n');
                }
                Op::Replace { search, replace, shape, all: false }
            }
            Element::Write => {
                let lines = field("content").and_then(|f| f.lines) == Some(true);
                let mut content = text("content")?;
                if lines && !content.is_empty() && !content.ends_with('\n') {
                    content.push('\n');
                }
                Op::Write { content }
            }
            Element::Lines => Op::Lines {
                start: number("start")?,
                end: number("end").or_else(|e| if field("end").is_none() { number("start") } else { Err(e) })?,
                expect: text("expect")?,
                replace: text("replace")?,
            },
            Element::Delete => Op::Delete,
            Element::Move => Op::Move { to: text("to")? },
        };
        let format = if self.kind == Element::Lines { Format::LINES } else { Format::XML };
        if path.is_none() && matches!(self.kind, Element::Delete | Element::Move | Element::Write) {
            return Err("the edit has no <path>. Send it again with it.".to_string());
        }
        Ok(vec![edit(op, format)])
    }
}

impl Reader for Xml {
    fn step(&mut self, input: &mut Input, ctx: &mut ReaderContext) -> Progress {
        if self.raw.ends_with("/>") && self.is_said() {
            self.begin(ctx);
            self.finish(ctx);
            return Progress::Done;
        }
        match self.fields.last().is_some_and(|f| f.open) {
            true => self.inside(input, ctx),
            false => self.between(input, ctx),
        }
    }

    fn end(&mut self, ctx: &mut ReaderContext, cut: bool) {
        if self.id.is_none() && self.done == 0 {
            return ctx.prose(&std::mem::take(&mut self.raw));
        }
        let Some(id) = self.id else { return };
        let complete = self.edits().is_ok() && self.fields.iter().all(|f| !f.open);
        if cut && !complete {
            self.id = None;
            return ctx.dropped(id, CUT.to_string());
        }
        let last_is_open = self.fields.last().is_some_and(|f| f.open);
        let ends_edit = self.fields.last().is_some_and(|f| matches!(f.name, "replace" | "content"));
        if last_is_open && !ends_edit {
            self.id = None;
            return ctx.dropped(id, BROKE_OFF.to_string());
        }
        if let Some(field) = self.fields.last_mut().filter(|f| f.open) {
            field.open = false;
            field.text = without_dangling_fence(&field.text).to_string();
            field.emitted = field.emitted.min(field.text.len());
            self.close(ctx);
        }
        self.finish(ctx);
    }

    fn ends_inside_line(&self) -> bool {
        true
    }
}

const NO_REPLACE: &str = "the edit has a <search> and no <replace>, so it is not known what comes in its place. Write \
                          the lines as they are in the file now in <search>, and the new ones in <replace>.";

/// White space after an opening tag that may still lead to its first field, in bytes.
const MAX_SPACE: usize = 4 << 10;

/// Begins a section of raw text.
const CDATA: &str = "<![CDATA[";

/// Returns which part of the growing diff a field is.
fn part(name: &str) -> Option<EditPart> {
    match name {
        "search" | "expect" => Some(EditPart::Old),
        "replace" | "content" => Some(EditPart::New),
        _ => None,
    }
}

/// A field that begins with more white space than this, in bytes, does not begin a new line.
const BLANK: usize = 400;

/// Returns search and replacement without a fence that was put around both.
fn without_fences(search: String, replace: String) -> (String, String) {
    match (unfenced(&search), unfenced(&replace)) {
        (Some(search), Some(replace)) => (search.to_string(), replace.to_string()),
        _ => (search, replace),
    }
}

/// Returns the text before a closing fence that no opening one belongs to: what comes after it is not the edit's.
fn without_dangling_fence(text: &str) -> &str {
    let (mut open, mut at) = (false, 0);
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end();
        if bare.starts_with("```") {
            if !open && bare == "```" {
                return text[..at].trim_end_matches('\n');
            }
            open = !open;
        }
        at += line.len();
    }
    text
}
