//! The notices of the chat: those that stay until something is said, and what the last or the selected one offers.

use super::Chat;
use super::offer::{first_offer, take};
use super::unit::BlockContent;
use crate::protocol::{Item, ItemId, Notice, NoticeAction};
use crate::tui::msg::PaneEffect;

impl Chat {
    /// Adds a notice that stays, in whichever session is opened.
    pub fn keep(&mut self, notice: Notice) {
        self.push(BlockContent::Notice(notice.clone()));
        self.standing.push(notice);
    }

    /// Adds a notice to the session that is open.
    pub fn add_notice(&mut self, notice: Notice) {
        self.push(BlockContent::Notice(notice));
    }

    /// Notes that the person says something: what stayed is above it from now on.
    pub fn release_standing(&mut self) {
        self.standing.clear();
    }

    /// Returns the notices that stay.
    pub fn standing(&self) -> &[Notice] {
        &self.standing
    }

    /// Returns whether the last entry is a notice that offers something.
    pub fn notice(&self) -> bool {
        self.last_notice().and_then(first_offer).is_some()
    }

    /// Takes the first thing that the last notice offers.
    pub fn take_notice(&mut self, _now: i64) -> Vec<PaneEffect> {
        self.last_notice().and_then(first_offer).map(take).unwrap_or_default()
    }

    /// Lets the last entry, where it is a failure that only another model helps, offer to ask again: one is there now.
    pub fn offer_again(&mut self) {
        let Some(last) = self.window.units.last_mut() else { return };
        if let BlockContent::Notice(notice) = &mut last.said
            && first_offer(notice) == Some(&NoticeAction::ChooseModel)
        {
            notice.actions.insert(0, NoticeAction::Retry);
            last.touch();
        }
    }

    /// Adds an entry; what is kept comes after the entries of a session that was resumed.
    pub(super) fn add_before_standing(&mut self, id: ItemId, item: &Item) {
        let standing = std::mem::take(&mut self.standing);
        standing.iter().for_each(|_| self.window.pop());
        self.add(id, item);
        standing.into_iter().for_each(|notice| self.keep(notice));
    }

    pub(super) fn current_notice(&self) -> Option<&Notice> {
        let last = self.window.units.len().checked_sub(1)?;
        match &self.window.units.get(self.selected.unwrap_or(last))?.said {
            BlockContent::Notice(notice) => Some(notice),
            _ => None,
        }
    }

    /// Returns the notice that Enter is for: the last entry, or the newest one since the last message of the person
    /// that offers what does not go out of date while nebula answers on.
    fn last_notice(&self) -> Option<&Notice> {
        if let BlockContent::Notice(notice) = &self.window.units.last()?.said {
            return Some(notice);
        }
        self.window.units.iter().rev().take_while(|u| !matches!(u.said, BlockContent::User { .. })).find_map(|u| {
            match &u.said {
                BlockContent::Notice(notice) => first_offer(notice).filter(|o| lasts(o)).map(|_| notice),
                _ => None,
            }
        })
    }

    pub(super) fn open_file(&self) -> Option<String> {
        self.current_notice()?.actions.iter().find_map(|a| match a {
            NoticeAction::OpenFile(path) => Some(path.clone()),
            _ => None,
        })
    }
}

/// Returns whether what a notice offers makes sense whatever came after it.
fn lasts(action: &NoticeAction) -> bool {
    matches!(action, NoticeAction::ShowChange(_) | NoticeAction::RetryMemory)
}
