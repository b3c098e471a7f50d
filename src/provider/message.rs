//! A message of a conversation as an ordered list of parts, each with what its provider wants to see again verbatim.

use std::borrow::Cow;
use std::sync::Arc;

use super::Wire;

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Its author.
    pub role: Role,
    /// Its parts, in the order in which they were said.
    pub parts: Vec<Part>,
    /// The model and server that answered, for a message of the model: seals go back there and nowhere else.
    pub origin: Option<Arc<Origin>>,
}

/// One piece of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Its content.
    pub body: Body,
    /// The provider's own JSON of this part, byte for byte. Sent back unchanged, or not at all.
    pub seal: Option<Arc<str>>,
}

/// The content of a part.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Text.
    Text(String),
    /// The model's thoughts, as far as the server sends them; may be empty beside a seal.
    Thinking(String),
    /// A tool call.
    Call(ToolCall),
    /// The result of a tool call.
    Result(ToolResult),
    /// An image or a PDF.
    Blob(Blob),
    /// A kind that only its provider knows: there is nothing but the seal.
    Other,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
    /// The result of a tool call.
    Tool,
}

/// The origin of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The format that was used.
    pub wire: Wire,
    /// Scheme, host and port.
    pub place: String,
    /// The model that was asked for.
    pub model: String,
}

/// A tool call as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Names the call; its result carries the same.
    pub id: String,
    /// The tool.
    pub name: String,
    /// JSON, as the model wrote it: may be broken.
    pub arguments: String,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The id of the call.
    pub call: String,
    /// The text for the model.
    pub text: String,
    /// Images and documents that belong to it.
    pub blobs: Vec<Blob>,
    /// True if the call did what was asked.
    pub ok: bool,
}

/// An image or a PDF that goes with a message.
#[derive(Clone, PartialEq, Eq)]
pub struct Blob {
    /// `image/png`, `application/pdf` and the like.
    pub mime: String,
    /// The file's bytes.
    pub bytes: Arc<[u8]>,
    /// The file's name.
    pub name: String,
}

impl std::fmt::Debug for Blob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Blob({}, {}, {} bytes)", self.name, self.mime, self.bytes.len())
    }
}

/// The kind of a part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PartKind {
    /// [`Body::Text`].
    Text,
    /// [`Body::Thinking`].
    Thinking,
    /// [`Body::Call`].
    Call,
    /// [`Body::Result`].
    Result,
    /// [`Body::Blob`], and one of a result.
    Image,
    /// [`Body::Other`].
    Other,
}

impl PartKind {
    const ALL: [PartKind; 6] =
        [PartKind::Text, PartKind::Thinking, PartKind::Call, PartKind::Result, PartKind::Image, PartKind::Other];

    /// Returns its name in memory and in recordings.
    pub fn name(self) -> &'static str {
        match self {
            PartKind::Text => "text",
            PartKind::Thinking => "thinking",
            PartKind::Call => "call",
            PartKind::Result => "result",
            PartKind::Image => "image",
            PartKind::Other => "other",
        }
    }

    /// Returns the kind of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|k| k.name() == name)
    }
}

/// The runs in which a message is kept.
#[derive(Debug, Clone, Default)]
pub struct Runs<'a> {
    /// Its text.
    pub text: &'a str,
    /// The model's thoughts.
    pub thinking: &'a str,
    /// Its calls.
    pub calls: Vec<ToolCall>,
    /// The result it is; its files are among `blobs`.
    pub result: Option<ToolResult>,
    /// Its images and documents.
    pub blobs: Vec<Blob>,
}

/// The place of a part of a message: its text or result, its thinking, its calls and its files are kept as runs, and its
/// spans say in which order pieces of them were said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Its kind.
    pub kind: PartKind,
    /// The number of bytes of the text, of the result or of the thinking it takes; 0 for the others.
    pub bytes: usize,
    /// The provider's own JSON of it.
    pub seal: Option<Arc<str>>,
}

impl Span {
    /// Returns whether it is a thought of which the server shows nothing.
    pub fn hides_thoughts(&self) -> bool {
        let redacted = || self.seal.as_deref().is_some_and(|json| json.contains("\"redacted_thinking\""));
        self.bytes == 0
            && self.seal.is_some()
            && (self.kind == PartKind::Thinking || self.kind == PartKind::Other && redacted())
    }

    /// Returns whether it is a text that was said on the way and is no answer.
    pub fn is_commentary(&self) -> bool {
        #[derive(serde::Deserialize)]
        struct Sealed<'j> {
            phase: Option<&'j str>,
        }
        let phase = |json: &str| Some(serde_json::from_str::<Sealed<'_>>(json).ok()?.phase? == "commentary");
        let sealed = self.seal.as_deref().filter(|json| self.kind == PartKind::Text && json.contains("commentary"));
        sealed.and_then(phase).unwrap_or(false)
    }
}

impl Part {
    /// Creates a part that no provider sealed.
    pub fn new(body: Body) -> Self {
        Part { body, seal: None }
    }
}

impl Message {
    /// Creates a message of the person.
    pub fn user(text: impl Into<String>) -> Self {
        Self::of(Role::User, vec![Body::Text(text.into())])
    }

    /// Creates an answer of the model.
    pub fn assistant(text: impl Into<String>, calls: Vec<ToolCall>) -> Self {
        Self::answer(&text.into(), "", calls, Vec::new())
    }

    /// Creates the result of the call with this id, which did what was asked.
    pub fn tool(call: impl Into<String>, text: impl Into<String>) -> Self {
        Self::result(ToolResult { call: call.into(), text: text.into(), blobs: Vec::new(), ok: true })
    }

    /// Creates the result of a call.
    pub fn result(result: ToolResult) -> Self {
        Self::of(Role::Tool, vec![Body::Result(result)])
    }

    /// Creates an answer from its text, thinking and calls. Where `spans` do not fit them, as in a session that was
    /// kept without, the thinking comes first and the calls last, and seals are dropped.
    pub fn answer(text: &str, thinking: &str, calls: Vec<ToolCall>, spans: Vec<Span>) -> Self {
        Self::of_runs(Role::Assistant, Runs { text, thinking, calls, ..Runs::default() }, spans)
    }

    /// Creates a message from its runs. Where `spans` do not fit them, they come in the usual order, and seals are
    /// dropped.
    pub fn of_runs(role: Role, runs: Runs<'_>, spans: Vec<Span>) -> Self {
        let spans = if fit(&spans, &runs) { spans } else { usual(&runs) };
        let Runs { mut text, mut thinking, calls, mut result, blobs } = runs;
        let (mut calls, mut blobs) = (calls.into_iter(), blobs.into_iter());
        let mut parts: Vec<Part> = Vec::with_capacity(spans.len());
        for Span { kind, bytes, seal } in spans {
            let body = match kind {
                PartKind::Text => Body::Text(take(&mut text, bytes)),
                PartKind::Thinking => Body::Thinking(take(&mut thinking, bytes)),
                PartKind::Call => match calls.next() {
                    Some(call) => Body::Call(call),
                    None => continue,
                },
                PartKind::Result => match result.take() {
                    Some(result) => Body::Result(result),
                    None => continue,
                },
                PartKind::Image => match (blobs.next(), parts.last_mut().map(|part| &mut part.body)) {
                    (Some(blob), Some(Body::Result(result))) => {
                        result.blobs.push(blob);
                        continue;
                    }
                    (Some(blob), _) => Body::Blob(blob),
                    (None, _) => continue,
                },
                PartKind::Other => Body::Other,
            };
            parts.push(Part { body, seal });
        }
        Self { role, parts, origin: None }
    }

    /// Returns the message with these files: in its result, or behind its text.
    pub fn with_blobs(mut self, blobs: impl IntoIterator<Item = Blob>) -> Self {
        if let Some(Body::Result(result)) = self.parts.last_mut().map(|part| &mut part.body) {
            result.blobs.extend(blobs);
            return self;
        }
        self.parts.extend(blobs.into_iter().map(|blob| Part::new(Body::Blob(blob))));
        self
    }

    /// Returns the message with `more` at the end of its text.
    pub fn and_text(mut self, more: &str) -> Self {
        let last = self.parts.iter_mut().rev().find_map(|part| match &mut part.body {
            Body::Text(text) | Body::Result(ToolResult { text, .. }) => Some(text),
            _ => None,
        });
        match last {
            Some(text) => text.push_str(more),
            None => self.parts.push(Part::new(Body::Text(more.into()))),
        }
        self
    }

    /// Returns all its text, or the result of its call.
    pub fn text(&self) -> Cow<'_, str> {
        joined(self.parts.iter().filter_map(|part| match &part.body {
            Body::Text(text) | Body::Result(ToolResult { text, .. }) => Some(text.as_str()),
            _ => None,
        }))
    }

    /// Returns the model's thoughts, as far as the server sends them.
    pub fn thinking(&self) -> Cow<'_, str> {
        joined(self.parts.iter().filter_map(|part| match &part.body {
            Body::Thinking(text) => Some(text.as_str()),
            _ => None,
        }))
    }

    /// Returns the calls.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> + Clone {
        self.parts.iter().filter_map(|part| match &part.body {
            Body::Call(call) => Some(call),
            _ => None,
        })
    }

    /// Returns whether the model calls anything.
    pub fn has_calls(&self) -> bool {
        self.calls().next().is_some()
    }

    /// Returns the result of the call, for [`Role::Tool`].
    pub fn tool_result(&self) -> Option<&ToolResult> {
        self.parts.iter().find_map(|part| match &part.body {
            Body::Result(result) => Some(result),
            _ => None,
        })
    }

    /// Returns the id of the call it answers, for [`Role::Tool`].
    pub fn answers(&self) -> Option<&str> {
        self.tool_result().map(|result| result.call.as_str())
    }

    /// Returns the images and documents that go with it or with its result.
    pub fn blobs(&self) -> impl Iterator<Item = &Blob> + Clone {
        self.parts.iter().flat_map(|part| match &part.body {
            Body::Blob(blob) => std::slice::from_ref(blob),
            Body::Result(result) => &result.blobs,
            _ => &[],
        })
    }

    /// Leaves out the images and documents that `keep` refuses.
    pub fn retain_blobs(&mut self, keep: impl Fn(&Blob) -> bool) {
        self.parts.retain(|part| !matches!(&part.body, Body::Blob(blob) if !keep(blob)));
        for part in &mut self.parts {
            if let Body::Result(result) = &mut part.body {
                result.blobs.retain(&keep);
            }
        }
    }

    /// Returns its parts that are sealed.
    pub fn seals(&self) -> impl Iterator<Item = &Arc<str>> + Clone {
        self.parts.iter().filter_map(|part| part.seal.as_ref())
    }

    /// Returns whether it says and asks for nothing, as an answer that was stopped before its first word: many servers
    /// refuse a conversation with such a message, so it is not sent.
    pub fn is_blank(&self) -> bool {
        let says = |part: &Part| match &part.body {
            Body::Text(text) => !text.trim().is_empty(),
            Body::Thinking(_) | Body::Other => false,
            Body::Call(_) | Body::Result(_) | Body::Blob(_) => true,
        };
        self.role == Role::Assistant && !self.parts.iter().any(says)
    }

    /// Returns where its parts lie: the reverse of [`Message::of_runs`].
    pub fn spans(&self) -> Vec<Span> {
        let mut spans = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let (kind, bytes) = match &part.body {
                Body::Text(text) => (PartKind::Text, text.len()),
                Body::Thinking(text) => (PartKind::Thinking, text.len()),
                Body::Call(_) => (PartKind::Call, 0),
                Body::Result(result) => (PartKind::Result, result.text.len()),
                Body::Blob(_) => (PartKind::Image, 0),
                Body::Other => (PartKind::Other, 0),
            };
            spans.push(Span { kind, bytes, seal: part.seal.clone() });
            if let Body::Result(result) = &part.body {
                spans.extend(result.blobs.iter().map(|_| Span { kind: PartKind::Image, bytes: 0, seal: None }));
            }
        }
        spans
    }

    fn of(role: Role, bodies: Vec<Body>) -> Self {
        Self { role, parts: bodies.into_iter().map(Part::new).collect(), origin: None }
    }
}

/// Returns whether `spans` cover exactly these runs, texts between whole characters.
fn fit(spans: &[Span], runs: &Runs<'_>) -> bool {
    let covers = |kind, run: &str| {
        let mut at = 0usize;
        let of_kind = spans.iter().filter(|span| span.kind == kind);
        let whole = of_kind.clone().all(|span| {
            at = at.saturating_add(span.bytes);
            run.is_char_boundary(at)
        });
        whole && at == run.len()
    };
    let number = |kind| spans.iter().filter(|span| span.kind == kind).count();
    covers(PartKind::Text, runs.text)
        && covers(PartKind::Thinking, runs.thinking)
        && covers(PartKind::Result, runs.result.as_ref().map_or("", |result| result.text.as_str()))
        && number(PartKind::Call) == runs.calls.len()
        && number(PartKind::Result) == usize::from(runs.result.is_some())
        && number(PartKind::Image) == runs.blobs.len()
}

/// Returns the order in which nearly every model speaks, and files after what they go with.
fn usual(runs: &Runs<'_>) -> Vec<Span> {
    let span = |kind, bytes| Span { kind, bytes, seal: None };
    let mut spans = Vec::with_capacity(runs.calls.len() + 2);
    if !runs.thinking.is_empty() {
        spans.push(span(PartKind::Thinking, runs.thinking.len()));
    }
    if !runs.text.is_empty() {
        spans.push(span(PartKind::Text, runs.text.len()));
    }
    spans.extend(runs.calls.iter().map(|_| span(PartKind::Call, 0)));
    spans.extend(runs.result.iter().map(|result| span(PartKind::Result, result.text.len())));
    spans.extend(runs.blobs.iter().map(|_| span(PartKind::Image, 0)));
    spans
}

/// Cuts this many bytes off the front.
fn take(run: &mut &str, bytes: usize) -> String {
    let (head, rest) = run.split_at_checked(bytes).unwrap_or((run, ""));
    *run = rest;
    head.to_string()
}

fn joined<'a>(mut texts: impl Iterator<Item = &'a str>) -> Cow<'a, str> {
    let Some(first) = texts.next() else { return Cow::Borrowed("") };
    match texts.next() {
        None => Cow::Borrowed(first),
        Some(second) => {
            let mut all = format!("{first}{second}");
            all.extend(texts);
            Cow::Owned(all)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str) -> ToolCall {
        ToolCall { id: id.into(), name: "list".into(), arguments: "{}".into() }
    }

    fn span(kind: PartKind, bytes: usize, seal: Option<&str>) -> Span {
        Span { kind, bytes, seal: seal.map(Into::into) }
    }

    #[test]
    fn an_answer_comes_back_in_the_order_of_its_spans() {
        let spans = vec![
            span(PartKind::Thinking, 2, Some("{1}")),
            span(PartKind::Text, 3, None),
            span(PartKind::Call, 0, Some("{2}")),
            span(PartKind::Other, 0, Some("{3}")),
            span(PartKind::Thinking, 0, Some("{4}")),
            span(PartKind::Text, 1, None),
            span(PartKind::Call, 0, None),
        ];
        let message = Message::answer("価b", "hm", vec![call("x"), call("y")], spans.clone());
        assert_eq!(message.spans(), spans);
        assert_eq!((message.text().as_ref(), message.thinking().as_ref()), ("価b", "hm"));
        assert_eq!(message.calls().map(|c| c.id.as_str()).collect::<Vec<_>>(), ["x", "y"]);
        assert_eq!(message.seals().map(|s| &**s).collect::<Vec<_>>(), ["{1}", "{2}", "{3}", "{4}"]);
    }

    #[test]
    fn spans_that_do_not_fit_cost_only_the_order() {
        for spans in [
            vec![],
            vec![span(PartKind::Text, 1, Some("{}")), span(PartKind::Text, 2, None), span(PartKind::Call, 0, None)],
            vec![span(PartKind::Text, usize::MAX, None), span(PartKind::Text, 4, None), span(PartKind::Call, 0, None)],
            vec![span(PartKind::Text, 3, Some("{}"))],
        ] {
            let message = Message::answer("価", "", vec![call("x")], spans);
            assert_eq!(message, Message::assistant("価", vec![call("x")]));
            assert_eq!(message.seals().count(), 0);
        }
    }

    #[test]
    fn files_keep_their_place_in_a_message_and_in_a_result() {
        let file = |name: &str| Blob { mime: "image/png".into(), bytes: [1].as_slice().into(), name: name.into() };
        let spans = vec![
            span(PartKind::Image, 0, None),
            span(PartKind::Text, 4, None),
            span(PartKind::Image, 0, None),
            span(PartKind::Text, 1, None),
        ];
        let runs = Runs { text: "look!", blobs: vec![file("a"), file("b")], ..Runs::default() };
        let message = Message::of_runs(Role::User, runs.clone(), spans.clone());
        assert_eq!((message.spans(), message.text().as_ref()), (spans, "look!"));
        let usual = Message::of_runs(Role::User, runs, vec![span(PartKind::Text, 5, None)]);
        assert_eq!(usual, Message::user("look!").with_blobs([file("a"), file("b")]), "one file has no place");
        let result = Message::tool("c", "two files").with_blobs([file("a"), file("b")]);
        assert_eq!((result.parts.len(), result.blobs().count()), (1, 2));
        let tool = ToolResult { call: "c".into(), text: "two files".into(), blobs: Vec::new(), ok: true };
        let runs = Runs { result: Some(tool), blobs: vec![file("a"), file("b")], ..Runs::default() };
        assert_eq!(Message::of_runs(Role::Tool, runs, result.spans()), result);
        let mut plain = result.clone();
        plain.retain_blobs(|blob| blob.name == "b");
        assert_eq!(plain.blobs().map(|blob| blob.name.as_str()).collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn an_answer_of_thoughts_alone_is_blank() {
        assert!(Message::answer(" \n", "hm", vec![], vec![]).is_blank());
        assert!(Message::answer("", "", vec![], vec![]).is_blank());
        assert!(!Message::assistant("", vec![call("x")]).is_blank());
        assert!(!Message::user("").is_blank());
    }
}
