//! Items of the session become entries of the chat: added at the end, grown by a stream, changed in place.

use super::Chat;
use super::unit::{Content, Unit};
use super::words::CallSummary;
use crate::protocol::{Call, Item, ItemId};
use crate::tui::text::markdown::Markdown;

impl Chat {
    pub(super) fn add(&mut self, id: ItemId, item: &Item) {
        self.finish_last();
        self.drop_retry();
        if let Item::Call(call) = item {
            let did = self.did(call);
            let asked = did.asked.clone();
            let at = match self.window.units.last_mut() {
                Some(unit) => match &mut unit.said {
                    Content::Calls(calls) => {
                        calls.push((id, did));
                        unit.touch();
                        let last = match &unit.said {
                            Content::Calls(calls) => calls.len() - 1,
                            _ => 0,
                        };
                        (self.window.units.len() - 1, last)
                    }
                    _ => self.push(Content::Calls(vec![(id, did)])),
                },
                None => self.push(Content::Calls(vec![(id, did)])),
            };
            self.places.insert(id, at);
            self.add_exchange(asked);
            return;
        }
        let place = self.push(said(item, !self.running));
        self.places.insert(id, place);
    }

    /// A question to the person and the answer stay in sight, below the calls that led to it.
    fn add_exchange(&mut self, asked: Option<(String, String)>) {
        if let Some((question, answer)) = asked {
            self.push(Content::Exchange { question, answer });
        }
    }

    fn did(&mut self, call: &Call) -> CallSummary {
        let did = CallSummary::new(call, false);
        let again = did.reads() && !did.main.is_empty() && !self.read.insert(did.main.clone());
        CallSummary { again, ..did }
    }

    /// Adds a block at the end, with its label if another one speaks now.
    pub(super) fn push(&mut self, said: Content) -> (usize, usize) {
        let mut unit = Unit::new(said);
        let before = self.window.units.last();
        let speaks = |u: &Unit| matches!(u.said, Content::Answer(_) | Content::Thinking { .. });
        unit.label = match unit.said {
            Content::User { .. } => true,
            // Calls go on with what was said; a notice or a message stands between.
            Content::Answer(_) | Content::Thinking { .. } => {
                let mut back = self.window.units.iter().rev();
                let back = back.find(|u| !matches!(u.said, Content::Calls(_) | Content::Rules(_)));
                !back.is_some_and(speaks)
            }
            _ => false,
        };
        // Rules that join with a message stand below what is attached to it.
        let with = |u: &Unit| matches!((&unit.said, &u.said), (Content::Rules(_), Content::User { .. }));
        let folds = |u: &Unit| unit.said.is_fold() && u.said.is_fold() && !unit.label;
        unit.gap = before.is_some_and(|u| !with(u) && !folds(u));
        unit.tight = before.is_some_and(|u| u.label && matches!(u.said, Content::Thinking { .. }));
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
            Content::Answer(doc) => doc.push(more),
            Content::Thinking { text, .. } => text.push_str(more),
            // Arguments of calls are shown by the tools pane.
            _ => return,
        }
        unit.touch();
    }

    pub(super) fn change(&mut self, id: ItemId, item: &Item) {
        let Some((number, place)) = self.places.get(&id).copied() else { return };
        let Some(unit) = self.window.units.get_mut(number) else { return };
        let mut asked = None;
        match (&mut unit.said, item) {
            (Content::Calls(calls), Item::Call(call)) => {
                let again = calls.get(place).is_some_and(|(_, d)| d.again);
                let mut did = CallSummary::new(call, again);
                // The file is known only once its arguments have arrived.
                if calls.get(place).is_some_and(|(_, d)| d.main != did.main) && did.reads() {
                    did.again = !self.read.insert(did.main.clone());
                }
                if let Some((_, slot)) = calls.get_mut(place) {
                    asked = did.asked.clone().filter(|_| slot.asked.is_none());
                    *slot = did;
                }
            }
            (Content::Answer(doc), Item::Answer { text }) => {
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
        self.add_exchange(asked);
    }

    /// The last answer is complete: nothing follows in it.
    pub(super) fn finish_last(&mut self) {
        if let Some(unit) = self.window.units.last_mut() {
            match &mut unit.said {
                Content::Answer(doc) => doc.finish(),
                Content::Thinking { over, .. } => *over = true,
                _ => return,
            }
            unit.touch();
        }
    }

    pub(super) fn drop_retry(&mut self) {
        if matches!(self.window.units.last(), Some(Unit { said: Content::Retry(_), .. })) {
            self.window.pop();
            if self.selected == Some(self.window.units.len()) {
                self.selected = None;
            }
        }
    }
}

fn said(item: &Item, whole: bool) -> Content {
    match item {
        Item::User { text, at, attached } => Content::User { text: text.clone(), at: *at, attached: attached.clone() },
        Item::Answer { text } => {
            let mut doc = Markdown::default();
            doc.push(text);
            if whole {
                doc.finish();
            }
            Content::Answer(doc)
        }
        Item::Thinking { text, took } => Content::Thinking { text: text.clone(), took: *took, over: whole },
        Item::Call(_) => Content::Calls(Vec::new()),
        Item::Rules(rules) => Content::Rules(rules.clone()),
        Item::Notice(notice) => Content::Notice(notice.clone()),
    }
}
