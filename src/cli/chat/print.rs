//! Prints line mode: plain lines, one thing each.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use super::hunk_lines::{AROUND, definitions, lines_of};
use super::replies::{Review, hold_help};
use super::restore_lines::not_written_line;
use crate::cli::out::{self, Out};
use crate::messages::times::{age, duration};
use crate::messages::{chat, count, diff, line as say, records, verbs};
use crate::proposal::{
    Counts, Decision, FileChange, Hunk, HunkKind, MergeRung, MergedFile, Proposal, RestorePreview, Rung, unit_of,
    whole_folders,
};
use crate::protocol::{
    Attached, Call, CallState, Changeset, EventBody, Item, ItemId, Listing, Mode, Notice, Outcome, Question,
    SessionInfo, Status,
};
use crate::text::clean::clean_line as show;
use crate::text::id::short_changeset;
use crate::text::number::{self, thousands};
use crate::text::time::now;

/// Changed lines of a hunk that are printed before `show` is needed.
const SHOWN: usize = 12;

/// Prints the conversation.
#[derive(Default)]
pub struct Printer {
    /// The status line's values.
    status: Status,
    /// True from a session that was opened without a model, while one was looked for, on until its model is printed.
    seeks: bool,
    /// The step of the turn.
    pub step: usize,
    /// The answer that grows, and its line so far.
    open_answer: Option<(ItemId, String, bool)>,
    /// The last printed state of each call.
    call_states: HashMap<ItemId, CallState>,
    failed: usize,
    /// The title of the last notice.
    last_notice: String,
    /// The kind of the failure that it told of.
    last_kind: &'static str,
    /// The title of the last notice in passing, until an entry of the chat was printed.
    last_passing: String,
    /// True if an unfinished line, a prompt, is on the screen.
    open: bool,
    /// The open session.
    session: String,
    /// The changesets of the session that changed definitions of a Strand store, while it is open.
    of_stores: Vec<Changeset>,
    /// True if the next Ctrl-C ends the program.
    ending: bool,
}

impl Printer {
    /// Prints a line.
    pub fn say(&mut self, text: &str) -> io::Result<()> {
        self.end_line()?;
        for line in text.lines() {
            out::say(line)?;
        }
        Ok(())
    }

    /// Prints a question on a line that stays open for the answer.
    pub fn prompt(&mut self, text: &str) -> io::Result<()> {
        self.end_line()?;
        let mut out = Out::stdout();
        write!(out, "{text}")?;
        self.open = true;
        out.flush()
    }

    /// Returns whether the last line is a prompt that waits.
    pub fn is_prompting(&self) -> bool {
        self.open
    }

    /// Notes that the person ended the line of the prompt. At a terminal their Enter is on the screen, unless they typed it
    /// `before` the prompt.
    pub fn typed(&mut self, before: bool) -> io::Result<()> {
        self.ending = false;
        self.open &= before || !out::at_terminal();
        self.end_line()
    }

    /// Tells at the first Ctrl-C what another does; whether this is the other.
    pub fn again_ends(&mut self) -> io::Result<bool> {
        let again = std::mem::replace(&mut self.ending, true);
        if !again {
            self.say(say::again_ends())?;
        }
        Ok(again)
    }

    /// Ends a line that is open.
    pub fn end_line(&mut self) -> io::Result<()> {
        if let Some((_, line, begun)) = self.open_answer.take()
            && !line.trim().is_empty()
        {
            out::say(format_args!("{}{line}", if begun { "" } else { "nebula: " }))?;
        }
        if std::mem::take(&mut self.open) {
            out::say("")?;
        }
        Ok(())
    }

    /// Prints which session is open.
    pub fn opened(&mut self, info: &SessionInfo) -> io::Result<()> {
        self.status = info.status.clone();
        self.session.clone_from(&info.id);
        self.of_stores.clear();
        self.seeks = info.status.seeks_model;
        let model = match &info.status.model {
            _ if info.status.seeks_model => say::no_model_yet().into(),
            Some(model) => model.clone(),
            None => say::no_model().to_string(),
        };
        let (version, workspace) = (env!("CARGO_PKG_VERSION"), &info.status.workspace);
        let mode = match info.status.mode {
            Mode::Plan => say::plan(),
            Mode::Agent => say::agent(),
        };
        self.say(&say::opened(&version, workspace, &mode, &model))
    }

    /// Takes the status line's values. A model that was looked for is printed once it is known.
    pub fn take_status(&mut self, status: Status) -> io::Result<()> {
        let before = std::mem::replace(&mut self.status, status);
        match found_model(&before, &self.status).filter(|_| self.seeks).map(|model| say::model_found(model)) {
            Some(found) => {
                self.seeks = false;
                self.say(&found)
            }
            None => Ok(()),
        }
    }

    /// Prints that a session goes on, and how its items are shown.
    pub fn recalled(&mut self, items: usize) -> io::Result<()> {
        self.say(&say::recalled(items, &self.session))
    }

    /// Prints the words.
    pub fn help(&mut self) -> io::Result<()> {
        self.say(say::help())
    }

    /// Prints a list that was asked for.
    pub fn list(&mut self, listing: &Listing) -> io::Result<()> {
        match listing {
            Listing::Models(models) => {
                let current = self.status.model.clone().unwrap_or_default();
                for model in models {
                    let mark = if model.name == current { say::in_use() } else { "" };
                    self.say(&format!("{}{mark}", model.name))?;
                }
                self.say(say::choose_model())
            }
            Listing::Sessions(sessions) => {
                for session in sessions {
                    // So much of an id is the time in milliseconds.
                    let id = session.id.get(..13).unwrap_or(&session.id);
                    let here = if session.id == self.session { say::in_use() } else { "" };
                    self.say(&format!("{id}{here}: {}, {}", show(&session.title), age(now() - session.at)))?;
                }
                self.say(say::choose_session())
            }
            Listing::Failed(why) => self.say(why),
            _ => Ok(()),
        }
    }

    /// Prints a new entry.
    pub fn added(&mut self, id: ItemId, item: &Item) -> io::Result<()> {
        match item {
            Item::Answer { text } | Item::Commentary { text } => {
                self.end_line()?;
                self.open_answer = Some((id, String::new(), false));
                self.grew(id, text)
            }
            Item::Call(call) => self.call(id, call),
            // What was just said in passing stays in the chat of a screen.
            Item::Notice(notice) if std::mem::take(&mut self.last_passing) == notice.title => Ok(()),
            Item::Notice(notice) => self.notice(notice),
            Item::User { attached, .. } => attached.iter().try_for_each(|a| self.say(&attachment(a))),
            Item::Rules(rules) => rules.iter().try_for_each(|r| self.say(&say::rule(&show(&r.path), &r.reason))),
            Item::Thinking { text, took } if text.is_empty() => {
                let hidden = match took {
                    Some(took) => chat::thought_hidden_for(&duration(*took)),
                    None => chat::thought_hidden().into(),
                };
                self.say(&hidden)
            }
            Item::Thinking { .. } => Ok(()),
        }
    }

    /// Prints more of an answer, whole lines only.
    pub fn grew(&mut self, id: ItemId, text: &str) -> io::Result<()> {
        let Some((open_answer, line, begun)) = self.open_answer.as_mut().filter(|(open_answer, ..)| *open_answer == id)
        else {
            return Ok(());
        };
        let _ = open_answer;
        line.push_str(text);
        while let Some(end) = line.find('\n') {
            let rest = line.split_off(end + 1);
            let label = if std::mem::replace(begun, true) { "" } else { "nebula: " };
            out::say(format_args!("{label}{}", line.trim_end()))?;
            *line = rest;
        }
        Ok(())
    }

    /// Prints a call, once it is over.
    pub fn call(&mut self, id: ItemId, call: &Call) -> io::Result<()> {
        let known = self.call_states.insert(id, call.state);
        // An answer was told when it was given.
        let answered = call.name == "askUser" && call.state == CallState::Done;
        if !call.state.is_final() || known.is_some_and(CallState::is_final) || answered {
            return Ok(());
        }
        let line = say::call(&self.step.max(1), &verbs::localized(&call.verb.short), &show(&call.main));
        // One whose argument is missing ends with its verb.
        let mut line = line.trim_end().to_string();
        let rejected = call.state == CallState::Refused;
        // Of a part that was written, or nothing, the counts of what was asked for tell nothing.
        let written = !rejected && call.state != CallState::Interrupted && call.hunks.is_none_or(|h| h.rejected == 0);
        if let Some(counts) = call.counts.filter(|c| written && c.added + c.removed > 0) {
            line.push_str(&format!(", {}", lines(counts)));
        }
        let state = match call.state {
            CallState::Failed => say::failed(),
            CallState::Refused => say::rejected(),
            CallState::Interrupted => say::interrupted(),
            _ => "",
        };
        self.failed += usize::from(call.state == CallState::Failed);
        let took = call.took.map(duration).unwrap_or_default();
        // Of what was rejected the state and the reason say all.
        let summary = if rejected { "" } else { &call.summary };
        for part in [state, summary, call.reason.as_deref().unwrap_or_default(), &took] {
            if !part.is_empty() {
                line.push_str(&format!(", {}", show(&part.replace('\n', " "))));
            }
        }
        self.say(&line)
    }

    /// Prints a notice in passing.
    pub fn passing(&mut self, notice: &Notice) -> io::Result<()> {
        self.last_passing.clone_from(&notice.title);
        self.notice(notice)
    }

    /// Prints a notice.
    pub fn notice(&mut self, notice: &Notice) -> io::Result<()> {
        self.last_notice.clone_from(&notice.title);
        self.last_kind = notice.cause.kind;
        match notice.detail.is_empty() {
            true => self.say(&notice.title),
            false => self.say(&say::sentences(&notice.title.trim_end_matches('.'), &notice.detail)),
        }
    }

    /// Prints what a turn waits for that stopped at a limit, and why it did where no notice just told it.
    pub fn turn_asks(&mut self, why: &str) -> io::Result<()> {
        match self.last_notice == why && self.last_kind == "budget" {
            true => self.say(say::say_go_on_to_grant()),
            false => self.say(&say::say_go_on(&why)),
        }
    }

    /// Prints that a turn failed, and why, where no notice just told it.
    pub fn turn_failed(&mut self, message: &str, hint: &str) -> io::Result<()> {
        if self.last_notice == message {
            return self.say(say::failed());
        }
        self.say(&say::turn_failed(&records::localized(message), &records::localized(hint)))
    }

    /// Prints a question with its choices.
    pub fn question(&mut self, question: &Question) -> io::Result<()> {
        if let Some(hold) = &question.hold {
            self.say(&format!("? {}", question.text))?;
            for (key, (short, meaning)) in hold.keys.iter().zip(&question.choices) {
                self.say(&format!("  {key} {}: {}", show(short), show(meaning)))?;
            }
            return self.say(&hold_help(hold));
        }
        if question.permission {
            // A screen reader reads a dot aloud.
            let asked = match question.card.as_ref().filter(|card| !card.grant.is_empty()) {
                Some(card) => question.text.replace(&card.grant, &card.grant.replace(" · ", "; ")),
                None => question.text.clone(),
            };
            let text = match asked.contains('\n') {
                true => format!("{}\n{}", asked.trim_end(), say::yes_or_no_help()),
                false => say::yes_or_no(&asked),
            };
            return self.say(&format!("? {text}"));
        }
        self.say(&format!("? {}", question.text))?;
        for (n, (short, meaning)) in question.choices.iter().enumerate() {
            let meaning = if meaning.is_empty() { String::new() } else { format!(": {}", show(meaning)) };
            self.say(&format!("  {} {}{meaning}", n + 1, show(short)))?;
        }
        Ok(())
    }

    /// Prints a restore: what it writes, the files of it that stay as they are, and the words for the answer.
    pub fn restore(&mut self, proposal: &Proposal, previews: &[RestorePreview], foreign: &[String]) -> io::Result<()> {
        let (files, lines) = (count::files(proposal.files.len()), lines(proposal.counts()));
        let (wholes, mut seen) = (whole_folders(previews), HashSet::new());
        let paths = proposal.files.iter().map(|f| unit_of(&f.path, &wholes).unwrap_or(&f.path));
        let paths: Vec<_> = paths.filter(|path| seen.insert(*path)).map(show).collect();
        let cause = records::cause(&proposal.title);
        let title = show(&cause);
        let mut what = match paths.as_slice() {
            [] => say::restores_nothing(&title),
            paths => say::show_hunks(
                &format!("{title}: {files}, {lines}: {}", paths.join(", ")),
                &count::hunks(hunks(proposal).count()),
            ),
        };
        let mut kept = previews.iter().filter_map(|preview| not_written_line(preview, foreign)).peekable();
        if kept.peek().is_none() && !previews.is_empty() {
            what = say::nothing_else_touched(&what);
        }
        self.say(&what)?;
        kept.try_for_each(|line| self.say(&line))?;
        self.say(if foreign.is_empty() { say::yes_or_no_help() } else { say::restore_help() })
    }

    /// Prints a proposal with its hunks, numbered.
    pub fn proposal(&mut self, proposal: &Proposal) -> io::Result<()> {
        let (counts, hunks) = (proposal.counts(), hunks(proposal).count());
        let (lines, files) = (lines(counts), count::files(proposal.files.len()));
        self.say(&say::sentences(&say::proposal(&files, &lines, &count::hunks(hunks)), &say::words()))?;
        if let Some(needs) = proposal.needs_person() {
            self.say(&say::careful(&records::localized(&needs.to_string())))?;
        }
        (1..=hunks).try_for_each(|number| self.hunk(proposal, number, false))
    }

    /// Prints one hunk: its head, and its lines unless they are many and it is not asked for.
    pub fn hunk(&mut self, proposal: &Proposal, number: usize, whole: bool) -> io::Result<()> {
        let total = hunks(proposal).count();
        let Some((file, hunk)) = hunks(proposal).nth(number.wrapping_sub(1)) else { return Ok(()) };
        let mut head = say::hunk(&number, &total, &show(&file.path), &about(file, hunk));
        if let Some(names) = definitions(file, hunk) {
            head.push_str(&format!(", {names}"));
        }
        if let Some(found) = hunk.found.as_ref().filter(|f| f.rung != Rung::Exact) {
            head.push_str(&say::found(&verbs::found(found.rung.word())));
        }
        if file.acts_later() {
            head.push_str(&format!(", {}", diff::acts_later()));
        }
        if file.other_names > 0 {
            head.push_str(&format!(", {}", count::hard_links(file.other_names)));
        }
        if let Some(line) = &file.broken {
            head.push_str(&format!(", {}", diff::broken_line(line)));
        }
        if hunk.hidden > 0 {
            head.push_str(&format!(", {}", count::hidden_characters(hunk.hidden)));
        }
        let lines = lines_of(file, hunk);
        if !whole && lines.len() > SHOWN + 2 * AROUND {
            let signs = |sign| lines.iter().filter(|line| line.starts_with(sign)).count();
            let changed = say::lines(&signs('+'), &signs('-'));
            return self.say(&say::show(&head, &changed, &number));
        }
        self.say(&head)?;
        lines.iter().try_for_each(|line| self.say(line))
    }

    /// Prints what was just decided of some hunks.
    pub fn decided(&mut self, numbers: &[usize], word: &str, why: Option<&str>, review: &Review) -> io::Result<()> {
        let names: Vec<String> = numbers.iter().map(usize::to_string).collect();
        let word = why.map_or(word.to_string(), |why| format!("{word}: {why}"));
        let mut line = match names.as_slice() {
            [one] => say::decided_one(one, &word),
            [all @ .., last] => say::decided_many(&say::and(&all.join(", "), last), &word),
            [] => return Ok(()),
        };
        if review.undecided() > 0 {
            line = say::with_open(&line, &review.undecided(), &review.hunks());
        }
        self.say(&line)
    }

    /// Prints what became of a proposal, of which these lines were accepted.
    pub fn settled(&mut self, outcome: &Outcome, accepted: Counts) -> io::Result<()> {
        let is_there = |merged: &[MergedFile]| merged.iter().all(|file| file.rung == MergeRung::There);
        let words = match outcome {
            Outcome::Applied { changeset: None, merged, .. } if !merged.is_empty() && is_there(merged) => {
                records::localized(MergeRung::There.said()).into_owned()
            }
            Outcome::Applied { hunks, changeset, merged } => {
                let all = hunks.accepted + hunks.rejected;
                let named = changeset.as_deref().map(|id| say::changeset(&short_changeset(id))).unwrap_or_default();
                let rung = merged.iter().map(|file| file.rung).max();
                let merged = rung.map(|rung| say::merged(&records::localized(rung.said()))).unwrap_or_default();
                say::written(&hunks.accepted, &count::hunks(all), &lines(accepted)) + &merged + &named
            }
            Outcome::Refused => say::nothing_accepted().into(),
            Outcome::Conflict { path, .. } => say::conflict(&show(path)),
            Outcome::Failed(why) => say::not_written(why),
            Outcome::Withdrawn => say::withdrawn().into(),
        };
        self.say(&words)
    }

    /// Notes what is printed later.
    pub fn note(&mut self, event: &EventBody) {
        if let EventBody::Archived(changeset) = event
            && !changeset.definitions.is_empty()
            && changeset.session.as_ref() == Some(&self.session)
        {
            self.of_stores.push(changeset.clone());
        }
    }

    /// Prints what the session changed so far, after a turn.
    pub fn summary(&mut self, changed: Option<&Proposal>, waiting: usize) -> io::Result<()> {
        let files = changed.map(|changed| say::changed(&count::files(changed.files.len()), &lines(changed.counts())));
        let definitions = Changeset::count_definitions(self.of_stores.iter());
        let mut line = match (files, definitions) {
            (None, 0) => say::changed_nothing().to_string(),
            (None, n) => say::changed_definitions(&count::definitions(n)),
            (Some(files), 0) => files,
            (Some(files), n) => say::and_definitions(&files, &count::definitions(n)),
        };
        line.push_str(&say::waiting_and_failed(&waiting, &self.failed));
        if let Some((used, window)) = self.status.context.filter(|(used, window)| *used > 0 && *window > 0) {
            line.push_str(&say::tokens(&number::tokens(used), &number::tokens(window), &(used * 100 / window)));
        }
        if let Some(cost) = self.status.cost {
            line.push_str(&format!(" {}.", cost.text("~")));
        }
        self.say(&line)
    }
}

/// Returns the model that was looked for before and is known now: another one, or the usual one at the end.
fn found_model<'s>(before: &Status, now: &'s Status) -> Option<&'s String> {
    now.model.as_ref().filter(|_| !now.seeks_model || before.model != now.model)
}

/// Returns the hunks of all files, in the order of their numbers.
fn hunks(proposal: &Proposal) -> impl Iterator<Item = (&FileChange, &Hunk)> {
    proposal.files.iter().flat_map(|file| file.hunks.iter().map(move |hunk| (file, hunk)))
}

/// Returns the lines that a decision of a proposal adds and removes.
pub fn accepted_lines(proposal: &Proposal, decision: &Decision) -> Counts {
    let mut counts = Counts::default();
    let decided = proposal.decide(decision).ok().flatten();
    for file in decided.iter().flat_map(|decided| decided.files()) {
        let change = FileChange::new(file.path(), file.before().clone(), file.after().clone(), "", &[]);
        counts.added += change.counts.added;
        counts.removed += change.counts.removed;
    }
    counts
}

/// Returns `attached: src/cart.rs:1-9, 38 lines`.
fn attachment(a: &Attached) -> String {
    let range = a.range.map(|(from, to)| format!(":{from}-{to}")).unwrap_or_default();
    let size = a.lines.map_or_else(|| count::size(a.bytes as u64), count::lines);
    say::attached(&show(&a.path), &range, &size)
}

/// Returns `3 added, 1 removed`.
fn lines(counts: Counts) -> String {
    say::lines(&thousands(counts.added), &thousands(counts.removed))
}

fn about(file: &FileChange, hunk: &Hunk) -> String {
    let is_folder = file.path.ends_with('/');
    match hunk.kind {
        HunkKind::Lines if hunk.before.len() < 2 => diff::line(&(hunk.before.start + 1)),
        HunkKind::Lines => diff::lines(&(hunk.before.start + 1), &hunk.before.end),
        HunkKind::Create if is_folder => diff::new_folder().into(),
        HunkKind::Create => diff::new_file().into(),
        HunkKind::Delete if is_folder => diff::deletes_folder().into(),
        HunkKind::Delete => diff::deletes().into(),
        HunkKind::Move => diff::moved().into(),
        HunkKind::Binary => diff::not_text().into(),
        HunkKind::Mode => diff::permissions().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposal::RestoreStatus;
    use crate::proposal::{Choice, Consent, ProposalId, State};

    #[test]
    fn lines_that_stay_inside_a_hunk_are_not_counted() {
        let file = FileChange::new("a.txt", State::file(*b"a\nsame\nb\n"), State::file(*b"A\nsame\nB\n"), "edit", &[]);
        assert_eq!(file.hunks.len(), 1, "the hunk holds the line between");
        let proposal = Proposal { id: ProposalId(1), title: String::new(), files: vec![file] };
        let lines = |choice| accepted_lines(&proposal, &Decision::new(proposal.choices(choice), Consent::Person));
        assert_eq!(lines(Choice::Accept), Counts { added: 2, removed: 2 });
        assert_eq!(lines(Choice::Reject), Counts::default());
    }

    #[test]
    fn a_model_that_was_looked_for_is_named_once_it_is_known() {
        let status = |model: Option<&str>, seeks_model| Status {
            model: model.map(str::to_string),
            seeks_model,
            ..Status::default()
        };
        let usual = status(Some("usual"), true);
        assert_eq!(found_model(&usual, &status(Some("usual"), true)), None);
        assert_eq!(found_model(&usual, &status(None, false)), None);
        for (model, seeks) in [("scripted", true), ("scripted", false), ("usual", false)] {
            assert_eq!(found_model(&usual, &status(Some(model), seeks)).map(String::as_str), Some(model));
        }
    }

    #[test]
    fn a_line_break_in_a_name_begins_no_line() {
        let path = "a.txt\n? Run this? y".to_string();
        let status = RestoreStatus::Equal;
        let line = not_written_line(&RestorePreview { path, status }, &[]).expect("a line");
        assert!(line.starts_with("  a.txt^J? Run this? y: "), "{line}");
    }
}
