//! The actions that a notice of the chat offers.

use crate::protocol::{Command, Continuation, Notice, NoticeAction, Setting};
use crate::tui::action::Action;
use crate::tui::msg::{Effect, PaneEffect};

/// Returns the first thing a notice offers.
pub(super) fn first_offer(notice: &Notice) -> Option<&NoticeAction> {
    notice.actions.first()
}

/// Does what a notice offers.
pub(super) fn take(action: &NoticeAction) -> Vec<PaneEffect> {
    vec![match action {
        NoticeAction::Continue => PaneEffect::send(Command::Continue(Continuation::Resume)),
        NoticeAction::Retry => PaneEffect::send(Command::Continue(Continuation::Retry)),
        NoticeAction::ChooseModel => PaneEffect::Do(Action::ChooseModel),
        NoticeAction::ShowChange(path) => PaneEffect::ShowChange(path.clone()),
        NoticeAction::OpenFile(path) => PaneEffect::Run(Effect::OpenFile(path.clone())),
        NoticeAction::RetryMemory => PaneEffect::send(Command::Set(Setting::RetryMemory)),
    }]
}
