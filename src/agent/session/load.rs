//! A stored session read back as it was.

use std::sync::Arc;

use crate::agent::session::conversation::Conversation;
use crate::agent::session::damage::SessionDamage;
use crate::agent::session::prompt_state::PromptState;
use crate::agent::session::records::{
    AnswerRecord, ResultRecord, attached_files, blob, parse_sha, read_answer, read_parts, read_results, spans,
};
use crate::agent::session::transcript;
use crate::agent::session::unanswered::{self, EarlierCommands};
use crate::context::prefix::RequestPrefix;
use crate::memory::{self, ChangesetRecord, Memory, MemoryHandle};
use crate::protocol::Item;
use crate::provider::{Message, Role, Runs, ToolResult};
use crate::tools::{FileVersion, ToolSet};

/// A session as memory has it.
pub struct StoredConversation {
    /// The session.
    pub record: memory::Session,
    rows: Vec<memory::StoredMessage>,
    summary: Option<memory::ConversationSummary>,
    restores: Vec<ChangesetRecord>,
    /// The messages that were typed and not sent, as they are stored.
    pub unsent: Option<String>,
}

impl StoredConversation {
    /// Reads the messages of a session.
    ///
    /// # Errors
    /// When memory cannot be read.
    pub fn read(memory: &Memory, record: memory::Session) -> Result<Self, memory::Error> {
        let (rows, summary) = (memory.load(&record.id)?, memory.summary(&record.id)?);
        let restores = memory.restores_of_session(&record.id)?;
        let unsent = memory.unsent(&record.id)?;
        Ok(StoredConversation { record, rows, summary, restores, unsent })
    }

    /// Returns the notes on what the person restored that the model has not been told of.
    pub fn notes(&self) -> Vec<String> {
        transcript::untold(&self.rows, &self.restores).map(|restored| restored.note()).collect()
    }

    /// Returns a time before the calls of the last answer, and after those of the answers before it: when what it answers
    /// was stored, in milliseconds since 1970. Ids of calls may repeat between answers.
    pub fn asked_last(&self) -> i64 {
        let last =
            self.rows.iter().rposition(|row| row.message.role == memory::StoredRole::Assistant).unwrap_or_default();
        self.rows[..last].last().map_or(0, |row| row.at)
    }
}

impl Conversation {
    /// Returns a stored session, as it was, and its entries for the front end. Calls that never got their result,
    /// because the process died, get one that says so, which is stored in `memory`; `commands` are those that were run.
    pub fn load(
        stored: StoredConversation,
        tools: &Arc<ToolSet>,
        memory: &MemoryHandle,
        commands: &EarlierCommands,
    ) -> (Self, Vec<Item>) {
        let StoredConversation { record, rows, summary, restores, .. } = stored;
        let mut session = Conversation::new(record.id.clone(), Arc::clone(tools), memory.clone());
        session.title = record.title.clone();
        session.totals = record.totals;
        let prompt = PromptState::read(record.extra.as_deref());
        let damaged_prompt = prompt.is_none();
        session.prompt = prompt.unwrap_or_default();
        // A long session is read for the model and for the person side by side.
        let items = std::thread::scope(|scope| {
            let items = scope.spawn(|| {
                let mut items = transcript::items(&rows, (&restores, commands), tools, summary.as_ref());
                items.extend(SessionDamage::of(&rows, damaged_prompt).notice().map(Item::Notice));
                items
            });
            for row in &rows {
                let before = session.messages.len();
                session.take_in(row);
                let gone_through = session.prompt.left_out;
                if before < gone_through && gone_through <= session.messages.len() {
                    let left_out = session.window.leave_out(&session.messages, gone_through);
                    left_out
                        .iter()
                        .filter_map(|l| l.path.as_ref())
                        .for_each(|path| session.files.versions.remove(path));
                }
                let chosen =
                    session.prompt.chosen.iter().copied().filter(|at| (before..session.messages.len()).contains(at));
                for at in chosen.collect::<Vec<_>>() {
                    let left_out = session.window.leave_out_chosen(&session.messages, at);
                    left_out.and_then(|l| l.path).iter().for_each(|path| session.files.versions.remove(path));
                }
                if summary.as_ref().is_some_and(|s| s.upto == row.id) {
                    // The summary does not hold the texts: what was read before it is known no more.
                    session.files.versions.retain(|_| false);
                }
            }
            items.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        session.answer_open_calls(commands);
        if let Some(prefix) = &mut session.sent.prefix {
            prefix.messages = session.messages.clone();
        }
        if let Some(summary) = summary {
            let covered = session.rows.iter().filter(|r| **r <= summary.upto).count();
            session.summary = Some((summary.text, covered));
        }
        (session, items)
    }

    fn take_in(&mut self, row: &memory::StoredMessage) {
        let m = &row.message;
        let text = m.content.clone().unwrap_or_default();
        match m.role {
            memory::StoredRole::User => {
                self.turn = Some(row.id);
                for (path, sha256) in attached_files(m.meta.attached.as_deref()) {
                    if let Some(sha) = sha256.as_deref().and_then(parse_sha) {
                        self.files.versions.insert(path.clone(), FileVersion { sha, text: None });
                    }
                    self.files.touch(&path);
                }
                let runs = Runs { text: &text, blobs: m.blobs.iter().map(blob).collect(), ..Runs::default() };
                self.push(Message::of_runs(Role::User, runs, spans(m).unwrap_or_default()), row.id);
            }
            memory::StoredRole::Assistant => {
                let answer = AnswerRecord::read(m.meta.extra.as_deref()).unwrap_or_default();
                self.sent.size = answer.context.or(self.sent.size);
                self.sent.parts = read_parts(m.meta.extra.as_deref());
                let input = m.meta.input_tokens.filter(|tokens| *tokens > 0);
                self.sent.counted = input.map(|tokens| tokens + m.meta.output_tokens.unwrap_or(0));
                if let Some(basis) = answer.prefix {
                    self.sent.prefix = Some(RequestPrefix { basis, ..RequestPrefix::default() });
                }
                self.model = m.meta.model.clone().or(self.model.take());
                self.push(read_answer(m), row.id);
                // The result of edits written in the text is kept with the answer itself.
                let results = read_results(m.tool_results.as_deref()).unwrap_or_default();
                results.iter().for_each(|result| self.take_known_files(result));
            }
            memory::StoredRole::Tool => {
                let mut results = read_results(m.tool_results.as_deref()).unwrap_or_default();
                let open = self.open_calls();
                if results.is_empty() {
                    // It cannot be read: it stands for the first call that waits for one.
                    results.extend(open.first().map(|call| ResultRecord::failed(&call.id, &call.name)));
                }
                // Without its call, which cannot be read then, no model takes a result.
                for result in results.into_iter().filter(|result| open.iter().any(|call| call.id == result.id)) {
                    self.take_known_files(&result);
                    if let Some(model) = self.model.as_ref().filter(|_| result.holds_native_edit()) {
                        self.sent.native_edits.insert(model.clone());
                    }
                    let blobs = m.blobs.iter().map(blob).collect();
                    let result = ToolResult { call: result.id, text: text.clone(), blobs: Vec::new(), ok: result.ok };
                    let runs = Runs { result: Some(result), blobs, ..Runs::default() };
                    self.push(Message::of_runs(Role::Tool, runs, spans(m).unwrap_or_default()), row.id);
                }
            }
        }
    }

    fn take_known_files(&mut self, result: &ResultRecord) {
        for known in &result.known_files {
            if let Some(sha) = parse_sha(&known.sha256) {
                self.files.versions.insert(known.path.clone(), FileVersion { sha, text: None });
                self.files.touch(&known.path);
            }
        }
    }

    fn answer_open_calls(&mut self, commands: &EarlierCommands) {
        for call in self.open_calls() {
            let of_command = commands.result(&call.id, &call.name);
            let (result, text) = of_command.unwrap_or_else(|| unanswered::unknown(&call, &self.tools));
            let (stored, message) = self.result(result, &text, Vec::new());
            let row = self.append(stored);
            self.push(message, row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::session::prompt_state::PromptFacts;
    use crate::context::prefix::PrefixBasis;
    use crate::memory::NewMessage;
    use crate::protocol::Level;
    use crate::provider::Blob;
    use crate::shell::output::record::CommandRecord;

    fn nowhere() -> MemoryHandle {
        MemoryHandle::open(memory::Options::nowhere(), Box::new(|_| {})).0
    }

    fn load(memory: &Memory, record: memory::Session) -> (Conversation, Vec<Item>) {
        let stored = StoredConversation::read(memory, record).expect("read");
        Conversation::load(stored, &Arc::new(ToolSet::builtin()), &nowhere(), &EarlierCommands::default())
    }

    /// Returns a memory with one empty session, and the folder that holds it.
    fn stored() -> (tempfile::TempDir, Memory, String) {
        let dir = tempfile::tempdir().expect("a folder");
        let (memory, _) = Memory::open(memory::Options::in_folder(dir.path()));
        let new = memory::NewSession { project: "/p".into(), ..memory::NewSession::default() };
        let id = memory.create(&new).expect("made");
        (dir, memory, id)
    }

    #[test]
    fn a_call_that_nebula_was_killed_in_has_what_its_command_printed() {
        let (dir, memory, id) = stored();
        let mut message = NewMessage::text(memory::StoredRole::Assistant, "");
        message.tool_calls = Some(
            r#"[{"id":"a","name":"runCommand","arguments":"{}"},{"id":"b","name":"writeFile","arguments":"{}"}]"#
                .into(),
        );
        memory.append(&id, &message).expect("kept");
        let logs = dir.path().join("logs");
        std::fs::create_dir(&logs).expect("made");
        let log = logs.join("c1.log");
        std::fs::write(&log, "halfway\n").expect("written");
        let record = CommandRecord { id: "c1".into(), call: Some("a".into()), ..CommandRecord::default() };
        record.write(&log).expect("written");

        assert!(EarlierCommands::of_session(&logs, 1).result("a", "runCommand").is_none(), "of an answer before");
        let stored = StoredConversation::read(&memory, memory.get(&id).expect("read")).expect("read");
        let commands = EarlierCommands::of_session(&logs, 0);
        let (session, items) = Conversation::load(stored, &Arc::new(ToolSet::builtin()), &nowhere(), &commands);
        let texts: Vec<String> = session.messages[1..].iter().map(|message| message.text().into_owned()).collect();
        assert!(texts[0].starts_with("ended with nebula · c1: nebula stopped while it ran."), "{texts:?}");
        assert!(texts[0].ends_with("\nhalfway\n"), "{texts:?}");
        assert!(texts[1].contains("its change may stand or not"), "{texts:?}");
        let calls: Vec<(&Option<String>, bool)> = items
            .iter()
            .filter_map(|item| match item {
                Item::Call(call) => Some((&call.reason, call.result.is_some())),
                _ => None,
            })
            .collect();
        assert_eq!(calls, [(&Some("nebula stopped while it ran".into()), true), (&None, false)]);
    }

    #[test]
    fn the_commands_of_the_last_answer_began_after_what_it_answers() {
        use memory::StoredRole::{Assistant, Tool, User};
        let (_dir, memory, id) = stored();
        let read = || StoredConversation::read(&memory, memory.get(&id).expect("read")).expect("read");
        assert_eq!(read().asked_last(), 0);
        for role in [User, Assistant, Tool, Assistant, Tool] {
            memory.append(&id, &NewMessage::text(role, "text")).expect("kept");
        }
        let mut stored = read();
        (1..).zip(&mut stored.rows).for_each(|(at, row)| row.at = at);
        assert_eq!(stored.asked_last(), 3);
    }

    #[test]
    fn a_session_whose_records_are_damaged_still_pairs_calls_and_results() {
        let (_dir, memory, id) = stored();
        let keep = |role, calls: Option<&str>, results: Option<&str>| {
            let mut message = NewMessage::text(role, "text");
            (message.tool_calls, message.tool_results) = (calls.map(Into::into), results.map(Into::into));
            memory.append(&id, &message).expect("kept");
        };
        let calls = r#"[{"id":"a","name":"list","arguments":"{}"},{"id":"b","name":"list","arguments":"{}"}]"#;
        keep(memory::StoredRole::Assistant, Some(calls), None);
        keep(memory::StoredRole::Tool, None, Some("torn ["));
        keep(memory::StoredRole::Tool, None, Some(r#"[{"id":"b","name":"list","ok":true}]"#));
        keep(memory::StoredRole::Assistant, Some("torn ["), None);
        keep(memory::StoredRole::Tool, None, Some(r#"[{"id":"c","name":"list","ok":true}]"#));
        let record = memory.get(&id).expect("there");
        let (session, items) = load(&memory, record);
        let answers: Vec<_> = session.messages.iter().map(|m| m.answers()).collect();
        assert_eq!(answers, [None, Some("a"), Some("b"), None]);
        let [.., Item::Notice(notice)] = items.as_slice() else { panic!("{items:?}") };
        assert_eq!(items.iter().filter(|item| matches!(item, Item::Notice(_))).count(), 1, "{items:?}");
        assert!(notice.detail.starts_with("Calls or results of message 2, 4:"), "{notice:?}");
    }

    #[test]
    fn a_model_whose_edits_by_calls_were_placed_is_known_to_make_them() {
        let (_dir, memory, id) = stored();
        for (model, rung, ok) in [("able", "\"exact\"", true), ("unable", "null", false)] {
            let mut answer = NewMessage::text(memory::StoredRole::Assistant, "");
            answer.tool_calls = Some(format!(r#"[{{"id":"{model}","name":"replaceInFile","arguments":"{{}}"}}]"#));
            answer.meta.model = Some(model.into());
            let prefix = Some(PrefixBasis { model: model.into(), ..PrefixBasis::default() });
            answer.meta.extra = AnswerRecord { prefix, ..AnswerRecord::default() }.write();
            memory.append(&id, &answer).expect("kept");
            let mut result = NewMessage::text(memory::StoredRole::Tool, "");
            let edit = format!(r#"{{"path":"a","format":"tools","rung":{rung}}}"#);
            result.tool_results =
                Some(format!(r#"[{{"id":"{model}","name":"replaceInFile","ok":{ok},"edits":[{edit}]}}]"#));
            memory.append(&id, &result).expect("kept");
        }
        let record = memory.get(&id).expect("there");
        let (session, _) = load(&memory, record);
        assert_eq!(session.sent.native_edits.into_iter().collect::<Vec<_>>(), ["able"]);
        // What the last request began with is known, and the messages are those that the next one begins with.
        let before = session.sent.prefix.expect("a prefix");
        assert_eq!(before.basis.model, "unable");
        let changed = RequestPrefix { basis: PrefixBasis::default(), ..RequestPrefix::default() };
        assert_eq!(changed.after(Some(before.clone()), &session.messages).1, Some("model"));
        let same = RequestPrefix { basis: before.basis.clone(), ..RequestPrefix::default() };
        assert_eq!(same.after(Some(before), &session.messages).1, None);
    }

    /// A session of one message and its record, the columns of which are then set by `damage`.
    fn damaged(role: memory::StoredRole, damage: &str) -> (Conversation, Vec<Item>) {
        let (dir, memory, id) = stored();
        let mut message = NewMessage::text(role, "look");
        if role == memory::StoredRole::Assistant {
            let origin = memory::MessageOrigin { wire: "chat".into(), place: "p".into(), model: "m".into() };
            let part = memory::MessagePart { kind: "text".into(), bytes: 4, seal: None, origin: Some(origin) };
            message.parts = vec![part];
        }
        memory.append(&id, &message).expect("stored");
        let prompt = PromptState { base: Some(PromptFacts::default()), ..PromptState::default() };
        memory.set_extra(&id, &prompt.to_record().expect("a record")).expect("stored");
        let file = rusqlite::Connection::open(memory::Options::in_folder(dir.path()).path).expect("the database");
        file.execute_batch(damage).expect("damaged");
        let record = memory.get(&id).expect("there");
        load(&memory, record)
    }

    #[test]
    fn every_record_that_cannot_be_read_is_named_once_with_what_to_do() {
        use memory::StoredRole::{Assistant, User};
        let bad_read = r#"[{"id":"a","name":"readFile","ok":true,"seen":[{"path":"a","sha256":"00"}]}]"#;
        let bad_read = format!("UPDATE messages SET tool_results = '{bad_read}'");
        let bad_attached = r#"[{"path":"a","lines":1,"bytes":2,"sha256":"00"}]"#;
        let bad_attached = format!("UPDATE message_meta SET attached = '{bad_attached}'");
        let rows = [
            (Assistant, "UPDATE message_meta SET extra = '{torn'", "Times, sizes or rules shown beside message 1:"),
            (User, "UPDATE message_meta SET extra = '{torn'", "Times, sizes or rules shown beside message 1:"),
            (User, "UPDATE message_meta SET attached = '[torn'", "Which files were attached or read in message 1:"),
            (User, &bad_attached, "Which files were attached or read in message 1:"),
            (Assistant, &bad_read, "Which files were attached or read in message 1:"),
            (Assistant, "UPDATE message_parts SET kind = 'new'", "The order of the parts of message 1:"),
            (Assistant, "UPDATE message_parts SET wire = 'new'", "The order of the parts of message 1:"),
            (User, "UPDATE session_meta SET extra = '{torn'", "Which results were left out of the window:"),
        ];
        for (role, damage, line) in rows {
            let (session, items) = damaged(role, damage);
            assert_eq!(session.messages[0].text(), "look", "{damage}");
            let [_, Item::Notice(notice)] = items.as_slice() else { panic!("{damage}: {items:?}") };
            assert_eq!(notice.level, Level::Warning);
            assert!(notice.title.contains("cannot be read"), "{notice:?}");
            assert!(notice.detail.starts_with(line) && !notice.detail.contains('\n'), "{damage}: {notice:?}");
        }
        let both = "UPDATE message_meta SET extra = '{torn'; UPDATE session_meta SET extra = '{torn'";
        let (_, items) = damaged(User, both);
        let [_, Item::Notice(notice)] = items.as_slice() else { panic!("{items:?}") };
        assert_eq!(notice.detail.lines().count(), 2, "{notice:?}");
    }

    #[test]
    fn a_session_that_can_be_read_has_no_notice() {
        for role in [memory::StoredRole::Assistant, memory::StoredRole::User] {
            for whole in ["SELECT 1", "UPDATE message_meta SET extra = NULL", "UPDATE message_meta SET extra = ''"] {
                assert_eq!(damaged(role, whole).1.len(), 1, "{whole}");
            }
        }
        // Another record of a message than that of its rules.
        let nudge = format!("UPDATE message_meta SET extra = '{}'", memory::NUDGE_MARK);
        assert_eq!(damaged(memory::StoredRole::User, &nudge).1.len(), 1);
    }

    #[test]
    fn a_result_comes_back_with_its_image() {
        let (_dir, memory, id) = stored();
        let mut answer = NewMessage::text(memory::StoredRole::Assistant, "");
        answer.tool_calls = Some(r#"[{"id":"a","name":"readFile","arguments":"{}"}]"#.into());
        memory.append(&id, &answer).expect("stored");
        let image = Blob { mime: "image/png".into(), bytes: [1, 2].as_slice().into(), name: "a.png".into() };
        let live = Conversation::new(id.clone(), Arc::new(ToolSet::builtin()), nowhere());
        let record = ResultRecord { ok: true, ..ResultRecord::failed("a", "readFile") };
        let (stored, sent) = live.result(record, "an image", vec![image]);
        memory.append(&id, &stored).expect("stored");
        let record = memory.get(&id).expect("there");
        let (session, _) = load(&memory, record);
        assert_eq!(*session.messages[1], sent);
        assert_eq!(sent.tool_result().map(|result| result.blobs.len()), Some(1));
    }

    #[test]
    fn a_damaged_image_is_reported_to_the_person_and_to_the_model() {
        let (dir, memory, id) = stored();
        let mut message = NewMessage::text(memory::StoredRole::User, "look");
        message.blobs = vec![memory::StoredBlob { name: "a.png".into(), kind: "image/png".into(), bytes: vec![1] }];
        memory.append(&id, &message).expect("stored");
        let file = rusqlite::Connection::open(memory::Options::in_folder(dir.path()).path).expect("the database");
        file.execute("UPDATE message_blobs SET kind = CAST(x'ff' AS TEXT)", []).expect("damaged");
        let record = memory.get(&id).expect("there");
        let (session, items) = load(&memory, record);
        assert!(session.messages[0].text().contains("damaged in memory"), "{:?}", session.messages[0]);
        let [Item::User { text, .. }, Item::Notice(notice)] = items.as_slice() else { panic!("{items:?}") };
        assert_eq!(text, "look");
        assert!(notice.detail.starts_with("Images or documents of message 1:"), "{notice:?}");
    }
}
