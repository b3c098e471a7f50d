//! The messages of a request in a format's own pieces of JSON, each written once: they are told by identity, as long as
//! what stands before them is the same. The body goes on where it lies, so that a step costs what is new in it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde_json::Value;
use tokio_util::bytes::{Bytes, BytesMut};

use crate::provider::{Message, Request, Role, ToolSpec};

/// The key of the messages written so far; another one begins again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Target {
    /// The model that is asked.
    pub model: String,
    /// The number of answers whose seals were refused.
    pub unsealed: usize,
    /// Anything else that a format's pieces depend on.
    pub variant: u32,
}

/// The messages of the newest request.
#[derive(Default)]
pub(super) struct SentMessages {
    target: Target,
    messages: Vec<Piece>,
    ids: Ids,
    /// The newest body, what stands before its messages, and how many of these stand in it as they are now.
    body: Bytes,
    head: String,
    same: usize,
    /// True if a piece of it is marked.
    is_marked: bool,
    heads: Head,
}

/// The newest text before the messages, and what it was made of.
#[derive(Default)]
struct Head {
    fields: Value,
    system: Arc<str>,
    tools: Arc<[ToolSpec]>,
    text: String,
}

/// The framing of messages of one side as turns.
pub(super) struct Turns {
    /// Returns the side of a message.
    pub role: fn(&Message) -> &'static str,
    /// The text between the name of a side and the pieces of its turn.
    pub open: &'static str,
    /// Marks by the number of a piece, and what a mark is.
    pub marks: Vec<usize>,
    /// The text in place of the closing brace of a marked piece.
    pub mark: String,
}

/// A message as it is sent.
pub(super) struct Piece {
    /// The message.
    pub message: Arc<Message>,
    /// Its pieces of JSON.
    pub json: Arc<[String]>,
    ids: IdsSoFar,
    /// Its end in the newest body.
    end: usize,
    /// Its pieces that are marked there.
    marked: Vec<usize>,
}

/// The ids of a conversation's calls in what is sent. No two calls go out under one id: some servers count the calls of
/// each answer anew, and others refuse a conversation that holds an id twice.
#[derive(Debug, Default)]
pub(super) struct Ids {
    so_far: IdsSoFar,
    /// The ids that calls go out under, each with its number.
    taken: HashMap<String, usize>,
}

/// The state of the ids behind a message.
#[derive(Debug, Clone, Default)]
pub(super) struct IdsSoFar {
    /// Calls that were renamed so far.
    renamed: usize,
    /// The number of ids that calls go out under so far.
    taken: usize,
    /// The calls that wait for their results.
    open: Vec<OpenCall>,
}

/// A call that waits for its result.
#[derive(Debug, Clone)]
pub(super) struct OpenCall {
    id: String,
    /// Its id in what is sent; `None`: the format, or its server, has none for it.
    pub sent: Option<String>,
    /// The tool.
    pub tool: String,
}

impl Ids {
    /// Returns the state of the ids now.
    pub fn so_far(&self) -> IdsSoFar {
        self.so_far.clone()
    }

    /// Goes back to an earlier state; `None`: to the beginning.
    pub fn return_to(&mut self, earlier: Option<&IdsSoFar>) {
        self.so_far = earlier.cloned().unwrap_or_default();
        let taken = self.so_far.taken;
        if self.taken.len() > taken {
            self.taken.retain(|_, number| *number < taken);
        }
    }

    /// Returns an id that no call goes out under yet: its `own`, else a new one, `short` of nine letters and digits.
    pub fn unused(&mut self, own: Option<&str>, short: bool) -> String {
        if let Some(own) = own.filter(|own| !self.taken.contains_key(*own)) {
            return own.into();
        }
        loop {
            self.so_far.renamed += 1;
            let number = self.so_far.renamed;
            let id = if short { format!("call{number:05}") } else { format!("call_{number}") };
            if !self.taken.contains_key(&id) {
                return id;
            }
        }
    }

    /// Begins an answer: no call of an earlier one waits any more.
    pub fn begin(&mut self) {
        self.so_far.open.clear();
    }

    /// Notes a call that goes out under `sent`.
    pub fn open(&mut self, id: &str, sent: Option<String>, tool: &str) {
        if let Some(sent) = &sent {
            self.taken.insert(sent.clone(), self.so_far.taken);
            self.so_far.taken += 1;
        }
        self.so_far.open.push(OpenCall { id: id.into(), sent, tool: tool.into() });
    }

    /// Returns the call that a result answers; `None`: there is none, and the result is not sent.
    pub fn close(&mut self, id: &str) -> Option<OpenCall> {
        let open = &mut self.so_far.open;
        let at = open.iter().position(|call| call.id == id)?;
        Some(open.remove(at))
    }
}

impl SentMessages {
    /// Returns what stands before the messages of `request`: its own `fields`, system prompt and tools, as `write` makes it
    /// of the fields. It is made once, as long as nothing of it changes.
    pub fn head(&mut self, request: &Request, fields: Value, write: impl FnOnce(Value) -> String) -> String {
        let head = &mut self.heads;
        let is_same_prompt = Arc::ptr_eq(&head.system, &request.system) || head.system == request.system;
        let are_same_tools = Arc::ptr_eq(&head.tools, &request.tools) || head.tools == request.tools;
        if head.text.is_empty() || head.fields != fields || !is_same_prompt || !are_same_tools {
            let (system, tools) = (Arc::clone(&request.system), Arc::clone(&request.tools));
            *head = Head { fields: fields.clone(), system, tools, text: write(fields) };
        }
        head.text.clone()
    }

    /// Brings the pieces up to date with `messages`; `write` makes those of one message.
    pub fn update(
        &mut self,
        target: Target,
        messages: &[Arc<Message>],
        mut write: impl FnMut(&Arc<Message>, &mut Ids) -> Vec<String>,
    ) {
        if self.target != target {
            self.messages.clear();
            self.target = target;
        }
        let pairs = self.messages.iter().zip(messages);
        let same = pairs.take_while(|(old, new)| Arc::ptr_eq(&old.message, new)).count();
        self.messages.truncate(same);
        self.same = same;
        self.ids.return_to(self.messages.last().map(|last| &last.ids));
        for message in &messages[same..] {
            if message.role == Role::Assistant {
                self.ids.begin();
            }
            let json = if message.is_blank() { Vec::new() } else { write(message, &mut self.ids) };
            let (message, json, ids) = (Arc::clone(message), json.into(), self.ids.so_far());
            self.messages.push(Piece { message, json, ids, end: 0, marked: Vec::new() });
        }
    }

    /// Returns the body: `head`, the pieces with commas between them, and `close`.
    pub fn listed(&mut self, head: String, close: &str) -> Bytes {
        let (mut body, from) = self.resume(head, self.same);
        for piece in &mut self.messages[from..] {
            for json in piece.json.iter() {
                if !body.ends_with(b"[") {
                    body.extend_from_slice(b",");
                }
                body.extend_from_slice(json.as_bytes());
            }
            piece.end = body.len();
        }
        self.close(body, close)
    }

    /// Returns the body: `head`, the turns, in each of which the pieces of neighbouring messages of one side stand, and
    /// `close`.
    pub fn turns(&mut self, head: String, turns: &Turns, close: &str) -> Bytes {
        let mut marked = self.marked(&turns.marks);
        let was_marked = std::mem::replace(&mut self.is_marked, !marked.is_empty());
        // Most have none, and comparing empty slices as slices reads from no address: the processor takes 0.1 µs for it.
        let is_same = |(at, piece): &(usize, &Piece)| piece.marked.iter().eq(marked.get(at).into_iter().flatten());
        let unmoved = match was_marked || self.is_marked {
            true => self.messages.iter().enumerate().take_while(is_same).count(),
            false => self.messages.len(),
        };
        let (mut body, from) = self.resume(head, self.same.min(unmoved));
        let said = |piece: &&Piece| !piece.json.is_empty();
        let mut turn = self.messages[..from].iter().rfind(said).map(|piece| (turns.role)(&piece.message));
        for (number, piece) in self.messages.iter_mut().enumerate().skip(from) {
            let marked = marked.remove(&number).unwrap_or_default();
            let role = (turns.role)(&piece.message);
            for (at, json) in piece.json.iter().enumerate() {
                match turn {
                    Some(same) if same == role => body.extend_from_slice(b","),
                    Some(_) => body.extend_from_slice(b"]},"),
                    None => {}
                }
                if turn.replace(role) != Some(role) {
                    let words = ["{\"role\":\"", role, "\",", turns.open];
                    words.iter().for_each(|word| body.extend_from_slice(word.as_bytes()));
                }
                match marked.contains(&at) {
                    true => {
                        body.extend_from_slice(&json.as_bytes()[..json.len() - 1]);
                        body.extend_from_slice(turns.mark.as_bytes());
                    }
                    false => body.extend_from_slice(json.as_bytes()),
                }
            }
            (piece.end, piece.marked) = (body.len(), marked);
        }
        if turn.is_some() {
            body.extend_from_slice(b"]}");
        }
        self.close(body, close)
    }

    /// Returns which pieces of a message are marked, by its place, of marks by their number in all of them.
    fn marked(&self, marks: &[usize]) -> BTreeMap<usize, Vec<usize>> {
        let (mut marked, mut first) = (BTreeMap::<usize, Vec<usize>>::new(), 0);
        if marks.is_empty() {
            return marked;
        }
        for (at, piece) in self.messages.iter().enumerate() {
            let end = first + piece.json.len();
            for mark in marks.iter().filter(|mark| (first..end).contains(mark)) {
                marked.entry(at).or_default().push(mark - first);
            }
            first = end;
        }
        marked
    }

    /// Returns the newest body as far as it stays: up to the first message that is written again, of which there are
    /// `same` before, or its head alone.
    fn resume(&mut self, head: String, same: usize) -> (BytesMut, usize) {
        // Nobody else holds the body of a request that is over.
        let previous = std::mem::take(&mut self.body);
        let mut body = previous.try_into_mut().unwrap_or_else(|sending| BytesMut::from(&*sending));
        if self.head != head || body.len() < head.len() {
            body.clear();
            body.extend_from_slice(head.as_bytes());
            self.head = head;
            return (body, 0);
        }
        body.truncate(self.messages[..same].last().map_or(self.head.len(), |piece| piece.end));
        (body, same)
    }

    fn close(&mut self, mut body: BytesMut, close: &str) -> Bytes {
        body.extend_from_slice(close.as_bytes());
        self.body = body.freeze();
        self.body.clone()
    }

    /// Returns the messages, and how many of them are as they were in the request before.
    pub fn messages(&self) -> (&[Piece], usize) {
        (&self.messages, self.same)
    }
}

/// Returns `head` as JSON, less its closing brace: more fields follow.
pub(super) fn opened(head: &Value) -> String {
    let mut text = head.to_string();
    text.pop();
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(message: &Message) -> &'static str {
        if message.role == Role::Assistant { "model" } else { "user" }
    }

    /// Returns both bodies of a request.
    fn bodies(written: &mut [SentMessages; 2], head: &str, messages: &[Arc<Message>], marks: &[usize]) -> [Bytes; 2] {
        for previous in written.iter_mut() {
            let json = |text: &str| format!("{{\"text\":\"{text}\"}}");
            // A text of two words is two pieces.
            previous.update(Target::default(), messages, |message, _| message.text().split(' ').map(json).collect());
        }
        let turns = Turns { role, open: "\"parts\":[", marks: marks.to_vec(), mark: ",\"mark\":1}".into() };
        let [listed, framed] = written;
        [listed.listed(format!("{head}["), "]}"), framed.turns(format!("{head}["), &turns, "]}")]
    }

    #[test]
    fn turns_are_framed_and_pieces_marked() {
        let messages = [Message::user("a b"), Message::user("c"), Message::assistant("d", Vec::new())].map(Arc::new);
        let [listed, framed] = bodies(&mut Default::default(), "{\"m\":", &messages, &[1]);
        assert_eq!(&*listed, br#"{"m":[{"text":"a"},{"text":"b"},{"text":"c"},{"text":"d"}]}"#);
        let turns = concat!(
            r#"{"m":[{"role":"user","parts":[{"text":"a"},{"text":"b","mark":1},{"text":"c"}]},"#,
            r#"{"role":"model","parts":[{"text":"d"}]}]}"#
        );
        assert_eq!(std::str::from_utf8(&framed), Ok(turns));
    }

    #[test]
    fn a_head_is_made_anew_where_any_part_of_it_changes_and_only_then() {
        let (mut written, mut made) = (SentMessages::default(), 0);
        let tool = |name: &str| ToolSpec { name: name.into(), description: String::new(), parameters: Value::Null };
        let first = Request { system: "s".into(), tools: [tool("a")].into(), ..Request::default() };
        let prompt = Request { system: "t".into(), ..first.clone() };
        let tools = Request { tools: [tool("a"), tool("b")].into(), ..prompt.clone() };
        for (request, model, times) in [
            (&first, "m", 1),
            (&first, "m", 1),
            (&first, "n", 2),
            (&prompt, "n", 3),
            (&tools, "n", 4),
            (&tools, "n", 4),
        ] {
            let head = written.head(request, model.into(), |model| {
                made += 1;
                format!("{model} {} {}", request.system, request.tools.len())
            });
            assert_eq!(head, format!("\"{model}\" {} {}", request.system, request.tools.len()));
            assert_eq!(made, times);
        }
    }

    #[test]
    fn every_call_has_its_own_id_also_after_a_return() {
        let mut ids = Ids::default();
        let sent = |ids: &mut Ids, own: Option<&str>, short| {
            ids.begin();
            let id = ids.unused(own, short);
            ids.open(own.unwrap_or("x"), Some(id.clone()), "list");
            assert_eq!(ids.close(own.unwrap_or("x")).and_then(|call| call.sent), Some(id.clone()));
            id
        };
        assert_eq!(sent(&mut ids, Some("x"), false), "x");
        let earlier = ids.so_far();
        for _ in 0..2 {
            assert_eq!(sent(&mut ids, Some("x"), false), "call_1");
            // A server's own id that looks like a new one.
            assert_eq!(sent(&mut ids, Some("call_1"), false), "call_2");
            assert_eq!(sent(&mut ids, Some("call_4"), false), "call_4");
            assert_eq!(sent(&mut ids, None, false), "call_3");
            assert_eq!(sent(&mut ids, None, false), "call_5");
            assert_eq!(sent(&mut ids, Some("x"), true), "call00006");
            ids.return_to(Some(&earlier));
        }
        ids.return_to(None);
        assert_eq!(sent(&mut ids, Some("x"), false), "x");
    }

    #[test]
    fn a_body_that_is_written_on_is_the_one_written_anew() {
        let mut dice = 7_u64;
        let mut roll = |sides: u64| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((dice >> 33) % sides) as usize
        };
        let (mut previous, mut messages, mut sending) = (<[SentMessages; 2]>::default(), Vec::new(), None);
        for step in 0..2_000 {
            match roll(8) {
                0 => messages.truncate(roll(messages.len() as u64 + 1)),
                1 if !messages.is_empty() => {
                    let at = roll(messages.len() as u64);
                    messages[at] = Arc::new(Message::user("another"));
                }
                n => messages.push(Arc::new(match n % 3 {
                    0 => Message::user(format!("one {step}")),
                    1 => Message::assistant(["", "said"][roll(2)], Vec::new()),
                    _ => Message::user(format!("{step}")),
                })),
            }
            let (head, marks) = (["{\"m\":", "{\"n\":"][usize::from(roll(9) == 0)], [roll(6), roll(30)]);
            let marks = &marks[..roll(3)];
            let bodies = [&mut previous, &mut <[SentMessages; 2]>::default()]
                .map(|written| self::bodies(written, head, &messages, marks));
            assert_eq!(bodies[0], bodies[1], "step {step}");
            // At times the one before is still being sent.
            sending = (roll(3) == 0).then(|| bodies[0].clone());
        }
        drop(sending);
    }
}
