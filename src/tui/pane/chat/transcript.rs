//! Items of the session become entries of the chat: added at the end, grown by a stream, changed in place.

use super::Chat;
use super::unit::{BlockContent, ChatBlock};
use super::words::CallSummary;
use crate::messages::diff;
use crate::proposal::Proposal;
use crate::protocol::{Call, Item, ItemId, UNDO, UndoneChange};
use crate::tui::text::markdown::Markdown;

impl Chat {
    pub(super) fn add(&mut self, id: ItemId, item: &Item) {
        self.finish_last();
        self.drop_retry();
        if let Item::Call(call) = item {
            let did = self.did(call);
            let exchanges = exchanges_of(&did, None);
            // What the person ran is none of the model's steps.
            let joined = self.block_of(did.step).filter(|_| did.output.is_none());
            let block = joined.and_then(|number| Some((number, self.window.units.get_mut(number)?)));
            let at = match block {
                Some((number, ChatBlock { said: BlockContent::Calls(calls), .. })) => {
                    calls.push((id, did));
                    (number, calls.len() - 1)
                }
                _ => self.push(BlockContent::Calls(vec![(id, did)])),
            };
            if let Some(unit) = self.window.units.get_mut(at.0) {
                unit.touch();
            }
            self.places.insert(id, at);
            for exchange in exchanges {
                self.push(exchange);
            }
            return;
        }
        let place = self.push(said(item, !self.running));
        self.places.insert(id, place);
    }

    /// Returns the block that a call of a step joins: the last one, or the one above what was said about calls of the
    /// same step, where it stood while they ran.
    fn block_of(&self, step: u32) -> Option<usize> {
        let said = |unit: &&ChatBlock| unit.said.is_about_calls();
        let between = self.window.units.iter().rev().take_while(said).count();
        let number = self.window.units.len().checked_sub(between + 1)?;
        match &self.window.units.get(number)?.said {
            BlockContent::Calls(calls) => {
                if calls.iter().any(|(_, call)| call.output.is_some()) {
                    return None;
                }
                let same = calls.last().is_some_and(|(_, last)| last.step == step && step > 0);
                (between == 0 || same).then_some(number)
            }
            _ => None,
        }
    }

    fn did(&mut self, call: &Call) -> CallSummary {
        let did = CallSummary::new(call, false);
        let again = did.reads() && !did.main.is_empty() && !self.read.insert(did.main.clone());
        CallSummary { again, ..did }
    }

    /// Adds a block at the end, with its label if another one speaks now.
    pub(super) fn push(&mut self, said: BlockContent) -> (usize, usize) {
        let mut unit = ChatBlock::new(said);
        let before = self.window.units.last();
        let speaks = |u: &ChatBlock| matches!(u.said, BlockContent::Answer(_) | BlockContent::Thinking { .. });
        unit.label = match unit.said {
            BlockContent::User { .. } | BlockContent::Reply { .. } => true,
            // Calls go on with what was said; a notice or a message stands between.
            BlockContent::Answer(_) | BlockContent::Thinking { .. } => {
                let mut back = self.window.units.iter().rev();
                // An answer that was withdrawn is not to be seen.
                let goes_on = |said: &BlockContent| match said {
                    BlockContent::Calls(_) | BlockContent::Rules(_) | BlockContent::Decided { .. } => true,
                    BlockContent::Answer(doc) => doc.text().is_empty(),
                    _ => false,
                };
                !back.find(|u| !goes_on(&u.said)).is_some_and(speaks)
            }
            _ => false,
        };
        // Rules that join with a message stand below what is attached to it, an answer below its question.
        let with = |u: &ChatBlock| {
            matches!(
                (&unit.said, &u.said),
                (BlockContent::Rules(_), BlockContent::User { .. })
                    | (BlockContent::Reply { .. }, BlockContent::Question(_))
            )
        };
        let folds = |u: &ChatBlock| unit.said.is_fold() && u.said.is_fold() && !unit.label;
        unit.gap = before.is_some_and(|u| !with(u) && !folds(u));
        unit.tight = before.is_some_and(|u| u.label && matches!(u.said, BlockContent::Thinking { .. }));
        self.window.push(unit);
        if self.window.units.len() == 1 {
            self.window.follow = true;
        }
        (self.window.units.len() - 1, 0)
    }

    pub(super) fn grow(&mut self, id: ItemId, more: &str) {
        let Some((unit, _)) = self.places.get(&id) else { return };
        let Some(unit) = self.window.units.get_mut(*unit) else { return };
        match &mut unit.said {
            BlockContent::Answer(doc) => {
                let had_ended = doc.is_finished();
                doc.push(more);
                // It goes on below something that came in between.
                if had_ended {
                    unit.forget();
                }
            }
            BlockContent::Thinking { text, .. } => text.push_str(more),
            // Arguments of calls are shown by the tools pane.
            _ => return,
        }
        unit.touch();
    }

    pub(super) fn change(&mut self, id: ItemId, item: &Item) {
        let Some((number, place)) = self.places.get(&id).copied() else { return };
        let Some(unit) = self.window.units.get_mut(number) else { return };
        let mut exchanges = Vec::new();
        match (&mut unit.said, item) {
            (BlockContent::Calls(calls), Item::Call(call)) => {
                let again = calls.get(place).is_some_and(|(_, d)| d.again);
                let mut did = CallSummary::new(call, again);
                // The file is known only once its arguments have arrived.
                if calls.get(place).is_some_and(|(_, d)| d.main != did.main) && did.reads() {
                    did.again = !self.read.insert(did.main.clone());
                }
                if let Some((_, slot)) = calls.get_mut(place) {
                    exchanges = exchanges_of(&did, Some(slot));
                    *slot = did;
                }
            }
            (BlockContent::Answer(doc), Item::Answer { text } | Item::Commentary { text }) => {
                // Mostly the text as it has arrived, told once more.
                if doc.text() != text {
                    unit.forget();
                    unit.said = said(item, !self.running);
                }
            }
            (_, Item::Call(_)) => return,
            _ => unit.said = said(item, true),
        }
        unit.touch();
        for exchange in exchanges {
            self.push(exchange);
        }
    }

    /// Shows which calls are undone now.
    pub(super) fn undone(&mut self, changes: &[UndoneChange]) {
        for unit in &mut self.window.units {
            let BlockContent::Calls(calls) = &mut unit.said else { continue };
            let news = calls.iter_mut().filter_map(|(_, call)| call.change.as_mut());
            // Each takes it.
            if news.filter_map(|change| change.take_undone(changes).then_some(())).count() > 0 {
                unit.touch();
            }
        }
    }

    /// Shows that a proposal waits for the person. A restore that they asked for says so elsewhere.
    pub(super) fn proposed(&mut self, proposal: &Proposal) {
        if proposal.files.iter().any(|file| file.by != UNDO) {
            let hunks = proposal.files.iter().map(|file| file.hunks.len()).sum();
            self.waiting.push((proposal.id, proposal.files.len(), hunks));
        }
    }

    /// Completes the last answer or thought of the turn, also where a command of the person stands below it.
    pub(super) fn finish_last(&mut self) {
        for unit in self.window.units.iter_mut().rev() {
            match &mut unit.said {
                BlockContent::Answer(doc) if !doc.is_finished() => doc.finish(),
                BlockContent::Thinking { over: over @ false, .. } => *over = true,
                BlockContent::Answer(_) | BlockContent::Thinking { .. } | BlockContent::User { .. } => return,
                _ => continue,
            }
            return unit.touch();
        }
    }

    pub(super) fn drop_retry(&mut self) {
        if matches!(self.window.units.last(), Some(ChatBlock { said: BlockContent::Retry(_), .. })) {
            self.window.pop();
            if self.selected == Some(self.window.units.len()) {
                self.selected = None;
            }
        }
    }
}

/// Returns what was asked, answered and decided about a call and is not shown yet: it stays in sight, below the calls
/// that led to it.
fn exchanges_of(call: &CallSummary, visible: Option<&CallSummary>) -> Vec<BlockContent> {
    let exchange = call.exchange.iter().filter(|_| visible.is_none_or(|visible| visible.exchange.is_none()));
    let exchange = exchange.flat_map(|(question, answer)| {
        [BlockContent::Question(question.clone()), BlockContent::Reply { text: answer.clone(), at: call.answered }]
    });
    let held = call.held.iter().skip(visible.map_or(0, |visible| visible.held.len()));
    let held = held.flat_map(|hold| {
        let answer = BlockContent::Reply { text: hold.answer.clone(), at: Some(hold.at) };
        [BlockContent::Question(hold.wants.clone()), answer]
    });
    let comments = call.comments.iter().skip(visible.map_or(0, |visible| visible.comments.len()));
    let comments = comments.map(|(question, answer)| {
        let answer = if answer.is_empty() { diff::no_answer().to_string() } else { answer.clone() };
        BlockContent::Comment { question: question.clone(), answer }
    });
    let decided = call.decided.zip(call.answered).filter(|_| visible.is_none_or(|visible| visible.decided.is_none()));
    let decided = decided.map(|(hunks, at)| BlockContent::Decided { hunks, at });
    exchange.chain(held).chain(comments).chain(decided).collect()
}

fn said(item: &Item, whole: bool) -> BlockContent {
    match item {
        Item::User { text, at, attached } => {
            BlockContent::User { text: text.clone(), at: *at, attached: attached.clone() }
        }
        Item::Answer { text } | Item::Commentary { text } => {
            let mut doc = Markdown::default();
            doc.push(text);
            if whole {
                doc.finish();
            }
            BlockContent::Answer(doc)
        }
        Item::Thinking { text, took } => BlockContent::Thinking { text: text.clone(), took: *took, over: whole },
        Item::Call(_) => BlockContent::Calls(Vec::new()),
        Item::Rules(rules) => BlockContent::Rules(rules.clone()),
        Item::Notice(notice) => BlockContent::Notice(notice.clone()),
    }
}
