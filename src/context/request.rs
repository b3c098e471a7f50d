//! The part of a conversation that is sent: all of it while it fits the model's context window; then the oldest tool
//! results become one line each. Nothing of this touches what is kept.
//!
//! A message once left out stays left out, and enough is left out at once to last for a while: each change makes the
//! provider read everything after it again.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::Value;

use crate::provider::{Body, Message, Part, Role, ToolResult};

/// Bytes of a token before the provider has reported how many it counted.
const BYTES_PER_TOKEN: f64 = 4.0;
/// The size of a message beside its text, in bytes: roles, ids, brackets.
const PER_MESSAGE: usize = 24;
/// An image or document, in bytes of text of the same cost.
const PER_BLOB: usize = 6_000;
/// Results shorter than this save nothing when they are replaced.
const WORTH_IT: usize = 200;
/// The person's turn in front of an answer with which a shortened conversation would begin: a wire may refuse that.
const BEFORE_IT: &str = "[The conversation before is left out.]";
/// The share of the window that stays filled when something must go.
const AFTERWARDS: f64 = 0.7;

/// The number of tokens a model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The context window in tokens.
    pub window: u64,
    /// Tokens of it reserved for the answer.
    pub answer: u64,
}

impl Budget {
    /// Creates a window with an eighth of it, at most 16,384 tokens, for the answer; of a small one a quarter, at most
    /// 4,096, so that a whole file fits.
    pub fn of_window(window: u64) -> Self {
        let small = (window / 4).min(4_096);
        Budget { window, answer: (window / 8).max(small).min(16_384) }
    }

    /// Returns the smallest window that has `room` tokens of room.
    pub fn window_for(room: u64) -> u64 {
        let share = |of: u64, less: u64| room.saturating_mul(of) / less + 2;
        let windows = [share(4, 3), room.saturating_add(4_096), share(8, 7), room.saturating_add(16_384)];
        let enough = windows.into_iter().filter(|window| Budget::of_window(*window).room() >= room);
        enough.min().unwrap_or(room)
    }

    /// Returns what is left for what is sent, in tokens.
    pub fn room(self) -> u64 {
        self.window.saturating_sub(self.answer)
    }

    /// Returns the most that is sent, in tokens, where nothing can be left out any more: the answer has half its room.
    pub fn most_room(self) -> u64 {
        self.window.saturating_sub(self.answer / 2)
    }
}

/// A tool result that is not sent whole any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The message's index in the conversation.
    pub index: usize,
    /// The tool.
    pub tool: String,
    /// The path the call named, if it named one: to be read again before it is edited.
    pub path: Option<String>,
    /// The replacement: `readFile src/a.rs: 118 lines, left out`.
    pub line: String,
}

impl LeftOut {
    /// Returns its call and its length: `readFile src/a.rs: 118 lines`.
    pub fn name(&self) -> &str {
        self.line.strip_suffix(LEFT_OUT).unwrap_or(&self.line)
    }
}

/// The beginning of the message that holds a summary.
const SUMMARY: &str = "Summary of this conversation so far, in place of its messages:";

/// Returns whether a message holds the summary that stands for those before it.
pub fn is_summary(message: &Message) -> bool {
    message.text().starts_with(SUMMARY)
}

/// The end of the line that stands for a result.
const LEFT_OUT: &str = ", left out";

/// The messages to send, and what was left out to make them fit.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// The messages, shared with the conversation where they are unchanged.
    pub messages: Vec<Arc<Message>>,
    /// The results that this call left out, oldest first.
    pub newly_left_out: Vec<LeftOut>,
    /// The bytes of the messages.
    pub sizes: MessageSizes,
    /// Tokens of the request, estimated.
    pub estimate: u64,
    /// The request does not fit even so: summarise, or begin a new session.
    pub too_long: bool,
}

/// The bytes of messages, by whose they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MessageSizes {
    /// The person's.
    pub user: usize,
    /// The answers.
    pub answers: usize,
    /// The results of tools.
    pub results: usize,
    /// The number of attached files.
    pub files: usize,
}

impl MessageSizes {
    fn all(&self) -> usize {
        self.user + self.answers + self.results
    }

    fn and(mut self, message: &Message) -> MessageSizes {
        let of_role = match message.role {
            Role::User => &mut self.user,
            Role::Assistant => &mut self.answers,
            Role::Tool => &mut self.results,
        };
        *of_role += bytes(message);
        self.files += message.blobs().count();
        self
    }
}

/// The messages of the last request, each with the sizes up to it: a message is measured once, as long as nothing
/// before it changes.
#[derive(Debug, Clone, Default)]
struct Measured(Vec<(Arc<Message>, MessageSizes)>);

impl Measured {
    fn sizes(&mut self, messages: &[Arc<Message>]) -> MessageSizes {
        let same = self.0.iter().zip(messages).take_while(|((old, _), new)| Arc::ptr_eq(old, new)).count();
        self.0.truncate(same);
        let mut sizes = self.0.last().map(|(_, sizes)| *sizes).unwrap_or_default();
        for message in &messages[same..] {
            sizes = sizes.and(message);
            self.0.push((Arc::clone(message), sizes));
        }
        sizes
    }
}

/// The context window of one session. Carried from step to step.
#[derive(Debug, Clone, Default)]
pub struct Window {
    /// Messages that are sent in short, by their place in the conversation.
    left_out: HashMap<usize, Arc<Message>>,
    /// The number of messages gone through: what could be left out of them is.
    gone_through: usize,
    /// The results that the person left out, by their place.
    chosen: BTreeSet<usize>,
    /// The message that holds a summary, so that it is the same one every time.
    summary: Option<(String, Arc<Message>)>,
    /// Tokens per byte as the provider counted them.
    measured: Option<f64>,
    /// The bytes of the messages of the last request.
    sizes: Measured,
    /// The size in bytes of the last request that was fitted.
    last: usize,
    /// True once the answer gave room to what cannot be made shorter, in this turn.
    answer_is_short: bool,
}

impl Window {
    /// Learns from the number of input tokens the provider counted for the request last fitted.
    pub fn counted(&mut self, input_tokens: u64) {
        if self.last > 0 && input_tokens > 0 {
            // A small request is a poor measure: its tools weigh more than its text.
            self.measured = Some((input_tokens as f64 / self.last as f64).clamp(0.05, 2.0));
        }
    }

    /// Returns what is left for what is sent, in tokens.
    pub fn room(&self, budget: Budget) -> u64 {
        if self.answer_is_short { budget.most_room() } else { budget.room() }
    }

    /// Gives room of the answer to what is sent, until the turn ends. Returns whether that is new.
    pub fn shorten_answer(&mut self) -> bool {
        !std::mem::replace(&mut self.answer_is_short, true)
    }

    /// Returns whether the answer gave room to what is sent.
    pub fn answer_is_short(&self) -> bool {
        self.answer_is_short
    }

    /// Gives the answer its room again.
    pub fn begin_turn(&mut self) {
        self.answer_is_short = false;
    }

    /// Returns about how many tokens the last fitted request had.
    pub fn sent(&self) -> u64 {
        self.tokens(self.last)
    }

    /// Returns the share of the window a request of this size fills, 0 to 1 and above.
    pub fn filled(&self, budget: Budget) -> f64 {
        self.tokens(self.last) as f64 / budget.room().max(1) as f64
    }

    /// Returns how many messages of the conversation have been gone through: what could be left out of them is.
    pub fn gone_through(&self) -> usize {
        self.gone_through
    }

    /// Returns the places of the results that the person left out.
    pub fn chosen(&self) -> &BTreeSet<usize> {
        &self.chosen
    }

    /// Returns the results among the messages from place `from` on that are sent whole, and the tokens of each.
    pub fn results(&self, conversation: &[Arc<Message>], from: usize) -> Vec<(LeftOut, u64)> {
        let whole = (from..conversation.len()).filter(|index| !self.left_out.contains_key(index));
        let result = |index| Some((shortened(index, conversation)?.0, self.tokens(bytes(&conversation[index]))));
        whole.filter_map(result).collect()
    }

    /// Leaves out one result that the person chose; `None` if there is none at this place that is sent whole.
    pub fn leave_out_chosen(&mut self, conversation: &[Arc<Message>], index: usize) -> Option<LeftOut> {
        if index >= conversation.len() || self.left_out.contains_key(&index) {
            return None;
        }
        let (left_out, short) = shortened(index, conversation)?;
        self.left_out.insert(index, short);
        self.chosen.insert(index);
        Some(left_out)
    }

    /// Leaves out of a stored conversation what was left out of it before: everything possible among its first
    /// messages.
    pub fn leave_out(&mut self, conversation: &[Arc<Message>], gone_through: usize) -> Vec<LeftOut> {
        let all = (0..gone_through.min(conversation.len())).filter_map(|index| shortened(index, conversation));
        let (left_out, short): (Vec<LeftOut>, Vec<Arc<Message>>) = all.unzip();
        self.gone_through = self.gone_through.max(gone_through);
        self.left_out.extend(left_out.iter().map(|l| l.index).zip(short));
        left_out
    }

    /// Forgets which messages were left out, as after the conversation was cut or summarised.
    pub fn reset(&mut self) {
        self.left_out.clear();
        self.chosen.clear();
        (self.gone_through, self.summary) = (0, None);
    }

    /// Returns the messages to send. `summary` is a text and the number of oldest messages that it stands for. `beside` is the size in bytes of
    /// what goes with them: system prompt and tools.
    pub fn fit(
        &mut self,
        conversation: &[Arc<Message>],
        summary: Option<(&str, usize)>,
        beside: usize,
        budget: Budget,
    ) -> Fitted {
        let from = summary.map_or(0, |(_, covered)| begin(conversation, covered));
        let mut messages: Vec<Arc<Message>> = Vec::with_capacity(conversation.len() + 1 - from);
        messages.extend(summary.map(|(text, _)| self.summary(text)));
        let offset = messages.len();
        messages.extend_from_slice(&conversation[from..]);
        for (index, short) in self.left_out.iter().filter(|(index, _)| (from..conversation.len()).contains(*index)) {
            messages[offset + index - from].clone_from(short);
        }
        let sizes = self.sizes.sizes(&messages);
        let mut size = beside + sizes.all();
        let mut newly_left_out = Vec::new();
        let room = self.room(budget);
        if self.tokens(size) > room {
            let wanted = (room as f64 * AFTERWARDS) as u64;
            // The newest results are what the model is working with: the last message is never shortened.
            for index in from..conversation.len().saturating_sub(1) {
                if self.tokens(size) <= wanted {
                    break;
                }
                let message = &conversation[index];
                if self.left_out.contains_key(&index) {
                    continue;
                }
                let Some((left_out, short)) = shortened(index, conversation) else { continue };
                size = size + bytes(&short) - bytes(message);
                messages[offset + index - from] = short.clone();
                self.left_out.insert(index, short);
                self.gone_through = self.gone_through.max(index + 1);
                newly_left_out.push(left_out);
            }
        }
        let sizes = if newly_left_out.is_empty() { sizes } else { self.sizes.sizes(&messages) };
        self.last = size;
        let estimate = self.tokens(size);
        Fitted { messages, newly_left_out, sizes, estimate, too_long: estimate > room }
    }

    fn summary(&mut self, text: &str) -> Arc<Message> {
        match &self.summary {
            Some((summarised, message)) if summarised == text => message.clone(),
            _ => {
                let message = Arc::new(Message::user(format!("{SUMMARY}\n\n{text}")));
                self.summary = Some((text.to_string(), message.clone()));
                message
            }
        }
    }

    /// Returns about how many tokens this many bytes are.
    pub fn tokens(&self, bytes: usize) -> u64 {
        (bytes as f64 * self.measured.unwrap_or(1.0 / BYTES_PER_TOKEN)).ceil() as u64
    }

    /// Returns the approximate number of bytes of `tokens` tokens.
    pub fn bytes(&self, tokens: u64) -> usize {
        (tokens as f64 / self.measured.unwrap_or(1.0 / BYTES_PER_TOKEN)) as usize
    }
}

/// Returns what messages cost, in bytes.
pub fn size(messages: &[Arc<Message>]) -> usize {
    messages.iter().map(|m| bytes(m)).sum()
}

/// Returns the newest of `messages` that fit `room` bytes, behind the first `kept`, which always stay; and how many
/// were left out. Where not all fit, a message that takes more than an eighth of the room is cut to that, and what would
/// begin with an answer begins with a line of the person that says so.
pub fn newest(messages: &[Arc<Message>], pinned: usize, room: usize) -> (Vec<Arc<Message>>, usize) {
    if size(messages) <= room {
        return (messages.to_vec(), 0);
    }
    let cut: Vec<Arc<Message>> = messages.iter().map(|m| cut(m, room / 8)).collect();
    let (first, rest) = cut.split_at(pinned);
    let mut left = room.saturating_sub(size(first));
    let fit = rest.iter().rev().take_while(|m| {
        let fits = bytes(m) <= left;
        left = left.saturating_sub(bytes(m));
        fits
    });
    let from = begin(rest, rest.len() - fit.count());
    let mut sent = [first, &rest[from..]].concat();
    if sent.first().is_some_and(|message| message.role == Role::Assistant) {
        sent.insert(0, Arc::new(Message::user(BEFORE_IT)));
    }
    (sent, from)
}

/// Returns a message in at most about this many bytes: the middle of what is long is left out of it, and its
/// attachments.
fn cut(message: &Arc<Message>, most: usize) -> Arc<Message> {
    if bytes(message) <= most {
        return Arc::clone(message);
    }
    let each = most / (message.calls().count() + 1);
    let mut short = Message { origin: None, ..(**message).clone() };
    // A shortened text is not the one that was sealed.
    short.parts.retain(|part| matches!(part.body, Body::Text(_) | Body::Call(_) | Body::Result(_)));
    let texts = short.parts.iter().filter(|part| matches!(part.body, Body::Text(_))).count().max(1);
    for part in &mut short.parts {
        part.seal = None;
        match &mut part.body {
            Body::Text(text) => *text = without_middle(text, each / texts),
            Body::Result(result) => {
                result.text = without_middle(&result.text, each);
                result.blobs.clear();
            }
            Body::Call(call) => call.arguments = without_middle(&call.arguments, each),
            Body::Thinking(_) | Body::Blob(_) | Body::Other => {}
        }
    }
    Arc::new(short)
}

/// Returns the number of lines of a result, of a passage in a fence without that and its title.
fn lines(text: &str) -> usize {
    let fenced = text.lines().nth(1).is_some_and(|line| line.starts_with("```")) && text.ends_with("```");
    text.lines().count().saturating_sub(if fenced { 3 } else { 0 })
}

fn without_middle(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_string();
    }
    let (head, tail) = (text.floor_char_boundary(most / 2), text.ceil_char_boundary(text.len() - most / 2));
    format!("{}\n… {} bytes left out …\n{}", &text[..head], tail - head, &text[tail..])
}

/// Returns where the messages after a summary begin: never between a call and its result.
fn begin(conversation: &[Arc<Message>], covered: usize) -> usize {
    let covered = covered.min(conversation.len());
    covered + conversation[covered..].iter().take_while(|m| m.role == Role::Tool).count()
}

/// Returns what a message costs, in bytes.
fn bytes(message: &Message) -> usize {
    let of_part = |part: &Part| match (&part.body, &part.seal) {
        // Where it is sent sealed, its text is in the seal.
        (Body::Blob(_), _) => PER_BLOB,
        (_, Some(seal)) => seal.len(),
        (Body::Text(text), None) => text.len(),
        (Body::Result(result), None) => result.text.len() + result.blobs.len() * PER_BLOB,
        (Body::Call(call), None) => call.id.len() + call.name.len() + call.arguments.len() + PER_MESSAGE,
        (Body::Thinking(_) | Body::Other, None) => 0,
    };
    message.parts.iter().map(of_part).sum::<usize>() + PER_MESSAGE
}

/// Returns what stands for a message that is left out, and the message that is sent then; none: it stays.
fn shortened(index: usize, conversation: &[Arc<Message>]) -> Option<(LeftOut, Arc<Message>)> {
    let message = &conversation[index];
    let result = message.tool_result().filter(|result| result.text.len() >= WORTH_IT)?;
    // The nearest call of that id: some servers count anew in every answer.
    let calls = conversation[..index].iter().rev().flat_map(|m| m.calls());
    let call = calls.into_iter().find(|c| c.id == result.call);
    let tool = call.map_or("result", |c| c.name.as_str()).to_string();
    let arguments = call.and_then(|c| serde_json::from_str::<Value>(&c.arguments).ok());
    let named = |key: &str| Some(arguments.as_ref()?.get(key)?.as_str()?.to_string());
    let path = named("path");
    let main = path.clone().or_else(|| named("keyword").map(|k| format!("\"{k}\""))).or_else(|| named("directory"));
    let lines = lines(&result.text);
    let lines = if lines == 1 { "1 line".to_string() } else { format!("{lines} lines") };
    let what = [Some(tool.clone()), main].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let line = format!("{what}: {lines}{LEFT_OUT}");
    let short = Message::result(ToolResult { text: line.clone(), blobs: Vec::new(), ..result.clone() });
    Some((LeftOut { index, tool, path, line }, Arc::new(short)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::ToolCall;

    fn read(id: &str, path: &str) -> Arc<Message> {
        let arguments = format!("{{\"path\":\"{path}\"}}");
        let call = ToolCall { id: id.into(), name: "readFile".into(), arguments };
        Arc::new(Message::assistant("", vec![call]))
    }

    fn conversation(reads: usize, size: usize) -> Vec<Arc<Message>> {
        let mut all = vec![Arc::new(Message::user("go"))];
        for i in 0..reads {
            let id = format!("c{i}");
            all.push(read(&id, &format!("f{i}.rs")));
            all.push(Arc::new(Message::tool(id, "line\n".repeat(size / 5))));
        }
        all
    }

    #[test]
    fn the_window_for_a_room_has_that_room_and_little_more() {
        for room in [1, 100, 3_000, 12_000, 20_000, 30_000, 100_000, 1_000_000] {
            let window = Budget::window_for(room);
            assert!(Budget::of_window(window).room() >= room, "{room}");
            assert!(Budget::of_window(window - window / 50 - 3).room() < room, "{room}: {window}");
        }
        let answers = [4_096, 8_192, 16_384, 32_768, 65_536, 1 << 20].map(|window| Budget::of_window(window).answer);
        assert_eq!(answers, [1_024, 2_048, 4_096, 4_096, 8_192, 16_384]);
    }

    #[test]
    fn what_fits_is_sent_as_it_is() {
        let all = conversation(3, 1000);
        let fitted = Window::default().fit(&all, None, 100, Budget::of_window(100_000));
        assert!(fitted.messages.iter().zip(&all).all(|(a, b)| Arc::ptr_eq(a, b)));
        assert!(fitted.newly_left_out.is_empty() && !fitted.too_long);
    }

    #[test]
    fn the_lines_of_a_passage_are_those_of_its_file() {
        let passage = crate::context::small_model::passage;
        for (text, count) in [("a\nb\nc\n", 3), ("a\nb", 2), ("```\na\n```\n", 3)] {
            assert_eq!((lines(text), lines(&passage("f.txt", text))), (count, count), "{text:?}");
        }
    }

    #[test]
    fn the_oldest_results_go_first_and_stay_away() {
        let mut all = conversation(10, 4000);
        let budget = Budget { window: 9000, answer: 1000 };
        let mut window = Window::default();
        let fitted = window.fit(&all, None, 0, budget);
        let lines: Vec<&str> = fitted.newly_left_out.iter().map(|l| l.line.as_str()).collect();
        assert_eq!(lines[0], "readFile f0.rs: 800 lines, left out");
        assert_eq!(fitted.newly_left_out[0].path.as_deref(), Some("f0.rs"));
        assert!(lines.len() < 9 && !fitted.too_long && fitted.estimate <= 5600);
        assert_eq!(fitted.messages[2].text(), lines[0]);
        assert_eq!(fitted.messages[2].answers(), Some("c0"));
        assert!(Arc::ptr_eq(&fitted.messages[20], &all[20]));

        let mut stored = Window::default();
        assert_eq!(stored.leave_out(&all, window.gone_through()), fitted.newly_left_out);
        let resumed = stored.fit(&all, None, 0, budget);
        assert!(resumed.messages == fitted.messages && resumed.newly_left_out.is_empty());

        all.push(Arc::new(Message::user("and now?")));
        let again = window.fit(&all, None, 0, budget);
        assert!(again.newly_left_out.is_empty());
        assert!(Arc::ptr_eq(&again.messages[2], &fitted.messages[2]), "the same message every time");
        assert_eq!(all[2].text().len(), 4000, "what is kept is whole");
    }

    #[test]
    fn a_result_that_was_chosen_stays_away() {
        let all = conversation(4, 4000);
        let mut window = Window::default();
        let (whole, budget) = (window.results(&all, 0), Budget::of_window(100_000));
        assert_eq!(whole.iter().map(|(r, _)| r.index).collect::<Vec<_>>(), [2, 4, 6, 8]);
        assert!(whole[2].0.line.starts_with("readFile f2.rs: 800 lines") && whole[2].1 >= 1000, "{:?}", whole[2]);
        let chosen = window.leave_out_chosen(&all, 6).expect("a result");
        assert_eq!((chosen, window.gone_through()), (whole[2].0.clone(), 0));
        assert_eq!(window.chosen().iter().collect::<Vec<_>>(), [&6]);
        for refused in [6, 1, 99] {
            assert!(window.leave_out_chosen(&all, refused).is_none(), "{refused}");
        }
        let fitted = window.fit(&all, None, 0, budget);
        assert!(fitted.messages[6].text().ends_with("left out") && fitted.newly_left_out.is_empty());
        assert_eq!((fitted.messages[8].text().len(), window.results(&all, 3).len()), (4000, 2));
    }

    #[test]
    fn counted_tokens_correct_the_estimate() {
        let all = conversation(2, 4000);
        let mut window = Window::default();
        let first = window.fit(&all, None, 0, Budget::of_window(100_000));
        window.counted(first.estimate * 2);
        let second = window.fit(&all, None, 0, Budget::of_window(100_000));
        assert!(second.estimate.abs_diff(first.estimate * 2) <= 1);
        assert!(window.filled(Budget::of_window(100_000)) > 0.04);
    }

    #[test]
    fn a_summary_stands_for_the_beginning() {
        let all = conversation(3, 1000);
        let mut window = Window::default();
        // Covers up to a call whose result follows: the result goes with it.
        let fitted = window.fit(&all, Some(("short", 2)), 0, Budget::of_window(100_000));
        assert_eq!(fitted.messages.len(), 1 + 4);
        assert!(fitted.messages[0].text().ends_with("short"));
        assert_eq!(fitted.messages[1].calls().next().unwrap().id, "c1");
        let again = window.fit(&all, Some(("short", 2)), 0, Budget::of_window(100_000));
        assert!(Arc::ptr_eq(&fitted.messages[0], &again.messages[0]));
    }

    #[test]
    fn the_newest_that_fit_are_whole_conversations() {
        let all = conversation(10, 4000);
        assert_eq!(newest(&all, 0, size(&all)), (all.clone(), 0));
        for pinned in [0, 1] {
            for room in [SMALL, 8_000, 20_000] {
                let (sent, left_out) = newest(&all, pinned, room);
                assert!(size(&sent) <= room + 100, "{} of {room}", size(&sent));
                assert_eq!(sent[0].role, Role::User, "a wire may refuse what begins with an answer");
                let sent = if sent[0].text() == BEFORE_IT { &sent[1..] } else { &sent[..] };
                assert_eq!(sent.len() + left_out, all.len());
                assert!(sent.get(pinned).is_none_or(|m| m.role != Role::Tool), "a result without its call");
                assert!(Arc::ptr_eq(&sent[0], &all[0]) || pinned == 0);
                assert!(sent.last().is_some_and(|m| m.text().contains("bytes left out")));
            }
        }
    }

    const SMALL: usize = 2_000;

    #[test]
    fn what_is_cut_is_cut_between_characters() {
        let calls = vec![ToolCall { id: "c".into(), name: "writeFile".into(), arguments: "価".repeat(1000) }];
        let long = Arc::new(Message::assistant("é".repeat(1000), calls));
        for most in 0..64 {
            let short = cut(&long, most);
            assert!(short.text().len() < 100 && short.calls().all(|c| c.arguments.len() < 100), "{short:?}");
        }
    }

    #[test]
    fn what_never_fits_is_reported() {
        let all = vec![Arc::new(Message::user("x".repeat(50_000)))];
        assert!(Window::default().fit(&all, None, 0, Budget::of_window(1000)).too_long);
    }
}
