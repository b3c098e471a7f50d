//! A message with the files it mentions, as it is sent: what was typed, and after it the *Reference* section with the
//! files it mentions. All files are read before anything is sent: if one cannot be attached, none is.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::decode::decoded;
use super::mention::{MentionTarget, mentions};
use super::retrieval::Passage;
use crate::provider::{Blob, Capabilities};
use crate::text::size::words;
use crate::workspace::{Access, PathError, ReadError, Workspace, holds_secrets, is_text};

/// The longest text that is attached, in bytes; of longer ones, lines can be.
pub const MAX_TEXT: usize = 256 << 10;
/// The largest image or document that is attached, in bytes.
const MAX_BLOB: usize = 8 << 20;
/// The most bytes that all texts of one message may have.
const MAX_TOTAL: usize = 2 << 20;
/// Files with fewer lines than this are attached where a text names them for a small model.
const SHORT: usize = 300;
/// The most of them in one message.
const MAX_NAMED: usize = 3;
/// Marks that may stand before a path in a text.
const OPENING: [char; 8] = ['`', '"', '\'', '(', '[', '{', '<', '*'];
/// Names listed of a folder.
const MAX_NAMES: usize = 1_000;
/// Files named that a path may mean where nothing is.
const MAX_NEAR: usize = 3;

/// The separator between the typed text and the attachments.
pub(super) const HEAD: &str = "\n\n---\nReference\n";

/// A message ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composed {
    /// The typed text and, if anything is attached as text, the *Reference* section.
    pub text: String,
    /// The number of its bytes that were typed.
    pub typed: usize,
    /// The attachments, in the order of the mentions.
    pub attached: Vec<Attachment>,
    /// Images and documents.
    pub blobs: Vec<Blob>,
    /// Files that were mentioned by the name of a link to them, or through a linked folder: that name, and their path.
    pub links: Vec<(String, String)>,
}

/// One attachment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Normalised path; with `/` at the end for a folder.
    pub path: String,
    /// The lines attached, where not all are; from 1, both included.
    pub range: Option<(usize, usize)>,
    /// The number of lines attached; `None`: it is no text.
    pub lines: Option<usize>,
    /// The number of bytes attached.
    pub bytes: usize,
    /// All bytes of the file, where all of its text was attached: it counts as read.
    pub whole: Option<Arc<[u8]>>,
}

/// The reason why a message was not sent, a line for each mention that is at fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .problems.join("\n"))]
pub struct Refused {
    /// The problem, and what to do.
    pub problems: Vec<String>,
}

/// Finds passages for the words after `@rag`; the error says why it cannot.
pub type Retrieve<'a> = &'a dyn Fn(&str) -> Result<Vec<Passage>, String>;

/// Returns the files that a text names by their path, without an at sign, and that are not `known`: short texts that exist
/// and hold no secrets. A small model changes them without looking at them first.
pub fn named_files(workspace: &Workspace, typed: &str, known: &[String]) -> Vec<String> {
    // A path from elsewhere is none of the workspace's, and trimming would make it one.
    let is_elsewhere = |word: &str| word.contains("../") || word.trim_start_matches(OPENING).starts_with('/');
    let words = typed.split_whitespace().filter(|word| !is_elsewhere(word));
    let bare = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_'));
    let named = bare.filter(|word| word.contains(['.', '/']));
    let mut paths: Vec<String> = Vec::new();
    for path in named.filter_map(|word| workspace.resolve(word, Access::File).ok()) {
        if paths.len() == MAX_NAMED {
            break;
        }
        let is_new = !paths.contains(&path) && !known.contains(&path);
        if is_new && !holds_secrets(&path) && short_text(workspace, &path).is_some() {
            paths.push(path);
        }
    }
    paths
}

/// Returns the bytes of a file that holds a text of few lines.
pub fn short_text(workspace: &Workspace, path: &str) -> Option<Vec<u8>> {
    workspace.stamp(path).filter(|stamp| stamp.size() <= MAX_TEXT as u64)?;
    let read = workspace.read_whole(path).ok()?;
    let bytes = read.state.bytes()?;
    let is_short = || bytes.iter().filter(|byte| **byte == b'\n').count() < SHORT;
    (is_text(bytes) && is_short()).then(|| bytes.to_vec())
}

/// Composes a message of the typed text and what it mentions; `named` files are attached as if they were mentioned.
///
/// # Errors
/// When something mentioned is missing, lies outside the workspace, is too large or of a kind the model does not take.
pub fn compose(
    workspace: &Workspace,
    typed: &str,
    capabilities: Capabilities,
    retrieve: Retrieve<'_>,
    named: &[String],
) -> Result<Composed, Refused> {
    let mut making = Making {
        workspace,
        capabilities,
        blocks: Vec::new(),
        attached: Vec::new(),
        blobs: Vec::new(),
        links: Vec::new(),
        size: 0,
    };
    let mut problems = Vec::new();
    let mut attached_before = HashSet::new();
    for mention in mentions(typed) {
        if !attached_before.insert(format!("{:?}", mention.target)) {
            continue;
        }
        let result = match &mention.target {
            MentionTarget::Rag { words } if words.is_empty() => {
                Err("@rag needs words to look for: @rag how prices round".into())
            }
            MentionTarget::Rag { words } => retrieve(words).map(|found| making.passages(found)),
            MentionTarget::Path { path, lines, sure, .. } => making.path(path, *lines, *sure),
        };
        problems.extend(result.err());
    }
    for path in named {
        if !making.attached.iter().any(|attachment| attachment.path == *path) {
            // One that is gone by now is none that was meant.
            let _ = making.path(path, None, false);
        }
    }
    if making.size > MAX_TOTAL {
        problems.push(format!(
            "the files mentioned come to {}; mention fewer, or lines of them",
            words(making.size as u64)
        ));
    }
    if !problems.is_empty() {
        return Err(Refused { problems });
    }
    let mut text = typed.to_string();
    if !making.blocks.is_empty() {
        text.push_str(HEAD);
        making.blocks.iter().for_each(|b| text.push_str(b));
    }
    Ok(Composed { text, typed: typed.len(), attached: making.attached, blobs: making.blobs, links: making.links })
}

struct Making<'a> {
    workspace: &'a Workspace,
    capabilities: Capabilities,
    blocks: Vec<String>,
    attached: Vec<Attachment>,
    blobs: Vec<Blob>,
    links: Vec<(String, String)>,
    size: usize,
}

impl Making<'_> {
    fn path(&mut self, written: &str, lines: Option<(usize, usize)>, sure: bool) -> Result<(), String> {
        let path = match self.workspace.resolve(written, Access::File) {
            Ok(path) => path,
            Err(PathError::NotAFile { kind: "a folder", .. }) => return self.folder(written),
            // A word with an at sign before it, as in `@property`, need not mean a file.
            Err(_) if !sure => return Ok(()),
            Err(e) => return Err(e.to_string()),
        };
        let read = match self.workspace.read_whole(&path) {
            Ok(read) => read,
            Err(ReadError::NotAFile { kind: "a folder", .. }) => return self.folder(&path),
            Err(e) => return Err(e.to_string()),
        };
        let Some(bytes) = read.state.bytes() else {
            return if sure { Err(self.missing(written, &path)) } else { Ok(()) };
        };
        let name = written.strip_prefix("./").unwrap_or(written);
        if name != path {
            self.links.push((name.to_string(), path.clone()));
        }
        match media_type(&path, bytes) {
            Some(mime) => self.blob(&path, mime, bytes),
            None if is_text(bytes) => self.text(&path, lines, bytes),
            None => Err(format!(
                "{path} is binary ({}): only text, images and PDFs can be attached",
                words(bytes.len() as u64)
            )),
        }
    }

    /// Returns that there is no such file, with the files that may be meant: paths are written from the root.
    fn missing(&self, written: &str, path: &str) -> String {
        let near: Vec<String> = self.workspace.meant_by(path).into_iter().take(MAX_NEAR).collect();
        match near.is_empty() {
            true => format!("there is no file {written}; fix the mention, or write \\@ for a plain at sign"),
            false => format!("there is no file {written}; did you mean @{}?", near.join(" or @")),
        }
    }

    fn text(&mut self, path: &str, lines: Option<(usize, usize)>, bytes: &Arc<[u8]>) -> Result<(), String> {
        let all = decoded(bytes);
        if lines.is_none() && bytes.len() > MAX_TEXT {
            let complaint = format!("{path} is {} long", words(bytes.len() as u64));
            return Err(shorter(&complaint, path, &all, 1));
        }
        let count = all.lines().count();
        let Some((from, to)) = lines else {
            let whole = Some(bytes.clone());
            self.block(path, &all);
            self.attached.push(Attachment {
                path: path.into(),
                range: None,
                lines: Some(count),
                bytes: all.len(),
                whole,
            });
            return Ok(());
        };
        if from > count {
            return Err(format!("{path} has {count} lines; there is no line {from}"));
        }
        let to = to.min(count);
        let part: Vec<&str> = all.lines().skip(from - 1).take(to + 1 - from).collect();
        let part = part.join("\n");
        if part.len() > MAX_TEXT {
            let complaint = format!("lines {from} to {to} of {path} are {} long", words(part.len() as u64));
            return Err(shorter(&complaint, path, &all, from));
        }
        self.passage(path, (from, to), &part);
        Ok(())
    }

    fn folder(&mut self, written: &str) -> Result<(), String> {
        let path = self.workspace.resolve(written, Access::Folder).map_err(|e| e.to_string())?;
        let names = names(self.workspace, &path)?;
        let text = names.join("\n");
        let path = format!("{}/", if path.is_empty() { "." } else { &path });
        self.block(&path, &text);
        self.attached.push(Attachment { path, range: None, lines: Some(names.len()), bytes: text.len(), whole: None });
        Ok(())
    }

    fn blob(&mut self, path: &str, mime: &str, bytes: &Arc<[u8]>) -> Result<(), String> {
        let (taken, kind, key) = match mime {
            "application/pdf" => (self.capabilities.documents, "PDFs", "pdfs"),
            _ => (self.capabilities.images, "images", "images"),
        };
        if !taken {
            return Err(format!(
                "{path} cannot be attached: as far as nebula knows this model takes no {kind}; choose another with \
                 /model, or set models.NAME.{key} to true if it does"
            ));
        }
        if bytes.len() > MAX_BLOB {
            return Err(format!(
                "{path} is {}: at most {} can be attached",
                words(bytes.len() as u64),
                words(MAX_BLOB as u64)
            ));
        }
        self.attached.push(Attachment { path: path.into(), range: None, lines: None, bytes: bytes.len(), whole: None });
        self.blobs.push(Blob { mime: mime.into(), bytes: bytes.clone(), name: path.into() });
        Ok(())
    }

    fn passages(&mut self, found: Vec<Passage>) {
        for passage in found {
            self.passage(&passage.path, passage.lines, &passage.text);
        }
    }

    fn passage(&mut self, path: &str, (from, to): (usize, usize), text: &str) {
        self.block(&format!("{path}:{from}-{to}"), text);
        self.attached.push(Attachment {
            path: path.into(),
            range: Some((from, to)),
            lines: Some(to + 1 - from),
            bytes: text.len(),
            whole: None,
        });
    }

    /// Appends a fenced block whose fence is longer than any inside.
    fn block(&mut self, title: &str, text: &str) {
        self.size += text.len();
        let fence = fence(text);
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let title = title.replace('"', "\\\"");
        self.blocks.push(format!("\n{fence}{} title=\"{title}\"\n{text}{end}{fence}\n", language(&title)));
    }
}

/// Returns a fence that is longer than any inside a text.
pub(super) fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat((longest + 1).max(3))
}

/// Returns the names in a folder, folders with `/`, sorted; of very many the first, and how many more there are.
///
/// # Errors
/// When it is no folder of the workspace.
pub fn names(workspace: &Workspace, folder: &str) -> Result<Vec<String>, String> {
    let path = workspace.resolve(folder, Access::Folder).map_err(|e| e.to_string())?;
    let walk = workspace.walk(&path).max_depth(Some(1)).build();
    let entries = walk.flatten().filter(|e| e.depth() > 0).map(|e| {
        let slash = if e.file_type().is_some_and(|t| t.is_dir()) { "/" } else { "" };
        format!("{}{slash}", e.file_name().to_string_lossy())
    });
    let mut names: Vec<String> = entries.collect();
    names.sort();
    let more = names.len().saturating_sub(MAX_NAMES);
    names.truncate(MAX_NAMES);
    if more > 0 {
        names.push(format!("({more} more)"));
    }
    Ok(names)
}

/// Returns the media type of an image or PDF, by its first bytes; the name alone does not make one.
fn media_type(path: &str, bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [b'%', b'P', b'D', b'F', b'-', ..] if path.to_lowercase().ends_with(".pdf") => Some("application/pdf"),
        _ => None,
    }
}

/// Returns the word after a fence, from the extension of a title's path.
pub(super) fn language(title: &str) -> &str {
    let path =
        title.rsplit_once(':').filter(|(_, l)| l.starts_with(|c: char| c.is_ascii_digit())).map_or(title, |(p, _)| p);
    let extension = Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or("");
    match extension {
        "rs" => "rust",
        "py" => "python",
        "ts" => "typescript",
        "js" => "javascript",
        "md" => "markdown",
        "sh" => "bash",
        "yml" => "yaml",
        "rb" => "ruby",
        "kt" => "kotlin",
        e if e.chars().all(|c| c.is_ascii_alphanumeric()) => e,
        _ => "",
    }
}

/// Returns what to mention instead of a text that is too long: as many of its lines from `from` on as may be attached.
/// Where even one line is too long no lines help.
fn shorter(complaint: &str, path: &str, text: &str, from: usize) -> String {
    let mut room = MAX_TEXT;
    let fits = |line: &&str| {
        let fits = line.len() < room;
        room = room.saturating_sub(line.len() + 1);
        fits
    };
    let count = text.lines().skip(from - 1).take(1_000).take_while(fits).count();
    let mention = crate::context::mention::written(path);
    match count {
        0 => format!(
            "{complaint}, and its line {from} alone is longer than {}: put the part that matters into a file of its own and mention \
             that, or name the file without @, so that the model searches in it",
            words(MAX_TEXT as u64)
        ),
        1 => format!("{complaint}: mention fewer lines of it, as {mention}:{from}"),
        _ => format!("{complaint}: mention fewer lines of it, as {mention}:{from}-{}", from + count - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn world() -> (tempfile::TempDir, Workspace) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("w");
        fs::create_dir_all(root.join("src")).unwrap();
        fs::write(root.join("src/a.rs"), "one\r\ntwo\r\nthree").unwrap();
        fs::write(root.join("src/b.md"), "````\ncode\n````\n").unwrap();
        fs::write(root.join("x y.txt"), "").unwrap();
        fs::write(root.join("p.png"), [0x89, b'P', b'N', b'G', 0, 1]).unwrap();
        fs::write(root.join("bin"), [1, 0, 2]).unwrap();
        fs::write(root.join("big.log"), "line\n".repeat(60_000)).unwrap();
        fs::write(root.join("wide.json"), format!("{0}\n{0}", "x".repeat(300_000))).unwrap();
        fs::write(dir.path().join("outside"), "secret").unwrap();
        let workspace = Workspace::open(&root).unwrap();
        (dir, workspace)
    }

    fn none(_: &str) -> Result<Vec<Passage>, String> {
        Ok(Vec::new())
    }

    fn ok(typed: &str) -> Composed {
        let (_dir, w) = world();
        compose(&w, typed, Capabilities { images: true, documents: true }, &none, &[]).unwrap()
    }

    fn refused(typed: &str) -> String {
        let (_dir, w) = world();
        compose(&w, typed, Capabilities::default(), &none, &[]).unwrap_err().to_string()
    }

    #[cfg(unix)]
    #[test]
    fn a_file_behind_a_link_is_known_under_both_names() {
        let (dir, w) = world();
        std::os::unix::fs::symlink("src/a.rs", dir.path().join("w/link.rs")).unwrap();
        let made = compose(&w, "fix @link.rs and @src/b.md", Capabilities::default(), &none, &[]).unwrap();
        assert_eq!(made.links, [("link.rs".to_string(), "src/a.rs".to_string())]);
    }

    #[test]
    fn mentioned_files_follow_what_was_typed() {
        let made = ok("see @src/a.rs and @\"x y.txt\"");
        assert_eq!(
            made.text,
            "see @src/a.rs and @\"x y.txt\"\n\n---\nReference\n\n```rust title=\"src/a.rs\"\none\ntwo\nthree\n```\n\n\
             ```txt title=\"x y.txt\"\n```\n"
        );
        assert_eq!(&made.text[..made.typed], "see @src/a.rs and @\"x y.txt\"");
        assert_eq!((made.attached[0].lines, made.attached[0].bytes), (Some(3), 13));
        assert_eq!(made.attached[0].whole.as_deref(), Some(&b"one\r\ntwo\r\nthree"[..]));
        assert_eq!(ok("nothing @property here").text, "nothing @property here");
    }

    #[test]
    fn parts_folders_and_images() {
        let made = ok("@src/a.rs:2-9 @src/ @src @p.png @src/b.md @src/b.md");
        let ranges: Vec<_> = made.attached.iter().map(|a| (a.path.as_str(), a.range, a.lines)).collect();
        assert_eq!(ranges[0], ("src/a.rs", Some((2, 3)), Some(2)));
        assert_eq!(ranges[1], ("src/", None, Some(2)));
        assert_eq!(ranges[3], ("p.png", None, None));
        assert_eq!(made.attached[0].whole, None);
        assert!(made.text.contains("title=\"src/a.rs:2-3\"\ntwo\nthree\n```"));
        assert!(made.text.contains("`````markdown title=\"src/b.md\"\n````\ncode\n````\n`````"));
        assert_eq!(made.text.matches("src/b.md\"").count(), 1);
        assert_eq!(made.blobs[0].mime, "image/png");
    }

    #[test]
    fn what_cannot_be_attached_is_reported_before_sending() {
        for (typed, word) in [
            ("@src/none.rs", "there is no file src/none.rs; fix the mention"),
            // Paths are written from the root, wherever nebula was started.
            ("@a.rs", "there is no file a.rs; did you mean @src/a.rs?"),
            ("@../outside", "outside the workspace"),
            ("@.git/config", "never touches"),
            ("@p.png", "takes no images"),
            ("see @./bin", "binary (3 bytes)"),
            ("@big.log", "mention fewer lines of it, as @big.log:1-1000"),
            ("@wide.json", "put the part that matters into a file of its own"),
            ("@wide.json:2-9", "its line 2 alone is longer than 256 KiB"),
            ("@src/a.rs:9", "has 3 lines"),
            ("@rag", "needs words"),
        ] {
            let problem = refused(typed);
            assert!(problem.contains(word), "{typed}: {problem}");
        }
        assert_eq!(refused("@a.x @b.x").lines().count(), 2);
        assert_eq!(ok("@big.log:1-3").attached[0].lines, Some(3));
    }

    #[test]
    fn passages_are_attached_like_files() {
        let (_dir, w) = world();
        let find = |words: &str| {
            assert_eq!(words, "prices");
            Ok(vec![Passage { path: "docs/p.md".into(), lines: (4, 5), text: "a\nb".into() }])
        };
        let made = compose(&w, "@rag prices", Capabilities::default(), &find, &[]).unwrap();
        assert!(made.text.ends_with("```markdown title=\"docs/p.md:4-5\"\na\nb\n```\n"));
        assert_eq!(made.attached[0].range, Some((4, 5)));
    }

    #[test]
    fn short_files_that_a_text_names_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let w = Workspace::open(dir.path()).unwrap();
        for (path, text) in [("a.py", "a\n"), ("src/b.py", "b\n"), (".env", "k\n"), ("c.py", "c\n"), ("d.py", "d\n")] {
            std::fs::create_dir_all(dir.path().join("src")).unwrap();
            std::fs::write(dir.path().join(path), text).unwrap();
        }
        std::fs::write(dir.path().join("long.py"), "x\n".repeat(SHORT)).unwrap();
        std::fs::write(dir.path().join("wide.py"), "x".repeat(MAX_TEXT + 1)).unwrap();
        std::fs::write(dir.path().join("e.bin"), [0, 1, 2]).unwrap();
        let named = |text: &str| named_files(&w, text, &["c.py".into()]);
        assert_eq!(
            named("In `a.py`, and (src/b.py): do. Not c.py, e.g. src, none.py or ../a.py"),
            ["a.py", "src/b.py"]
        );
        assert_eq!(named(".env ./.env long.py e.bin a"), Vec::<String>::new());
        assert_eq!(named("../a.py `../src/b.py` (/d.py) /a.py src/../../d.py wide.py"), Vec::<String>::new());
        assert_eq!(named("./a.py and `d.py`"), ["a.py", "d.py"]);
        assert_eq!(named("a.py a.py src/b.py d.py"), ["a.py", "src/b.py", "d.py"]);
        let none = |_: &str| Ok(Vec::new());
        let made = compose(&w, "@a.py and d.py", Capabilities::default(), &none, &named("a.py d.py")).unwrap();
        assert_eq!(made.attached.iter().map(|a| a.path.as_str()).collect::<Vec<_>>(), ["a.py", "d.py"]);
    }
}
