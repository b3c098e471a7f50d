//! The four panes. Each is a plain struct that owns its state, its keys and its drawing; `App` routes to it, and asks
//! diff and archive what waits for a decision. All of them have the same methods:
//!
//! - `apply(&mut self, &EventBody, now) -> Vec<PaneEffect>`: takes in what the agent told.
//! - `answer(&mut self, &Query, &Listing, now) -> Vec<PaneEffect>`: takes in what the pane asked for with
//!   [`PaneEffect::Ask`]. The query is handed back, so that a pane can drop an answer it no longer wants.
//! - `offers(&self, Action) -> bool`: whether the action would do something now; hints show only those.
//! - `act(&mut self, Action, now) -> Vec<PaneEffect>`: does it. Only called for actions that are offered.
//! - `line(&mut self, LineFor, LineInput, now) -> Vec<PaneEffect>`: the line that the pane asked for with
//!   [`PaneEffect::Line`], as it is typed, when it is taken, or when it is left.
//! - `click(&mut self, column, row, now) -> Vec<PaneEffect>`: a click inside the body, from its top left corner.
//! - `measure(&mut self, width, height, &Look)`: the size of the body that is drawn next, for scroll limits and
//!   wrapping. Called before every drawing; cheap when nothing changed.
//! - `title(&self) -> String`, `note(&self, width, &Ctx) -> Line`: the words of the pane line, which the frame draws.
//! - `search_hits(&self) -> Option<String>`: `2 of 7`, while words are looked for in it.
//! - `mark(&self) -> Option<Mark>`: what the tab of a hidden pane shows.
//! - `draw(&self, area, &mut Buffer, &Ctx)`: the body below the pane line, scroll thumb included.
//!
//! Two have a little more. `Diff::waiting(&self) -> Option<Waiting>` says what the proposal waits for, and
//! `Diff::edited(&mut self, ProposalId, file, text)` takes in what the editor of `Effect::Edit` left.
//! `Chat::notice(&self) -> bool` and `Chat::take_notice(&mut self, now)`: the last entry is a notice that offers
//! something, and Enter in an empty input takes its first.

pub mod archive;
pub mod chat;
pub mod diff;
pub mod id;
pub mod line;
pub mod mark;
pub mod paint;
pub(super) mod table;
#[cfg(test)]
pub(super) mod testing;
pub mod tools;
mod verb_column;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use id::PaneId;
use mark::Mark;

use super::action::Action;
use super::look::{Ctx, Look};
use super::msg::{LineFor, LineInput, PaneEffect};
use crate::proposal::ProposalId;
use crate::protocol::{EventBody, Listing, Query};

macro_rules! panes {
    (
        { $($(#[$doc:meta])* $id:ident $field:ident $name:literal $title:ident $focus:ident $focus_name:literal $help:ident,)* }
    ) => {
        /// All panes.
        #[derive(Debug, Default)]
        pub struct Panes {
            $($(#[$doc])* pub $field: $field::$id,)*
        }

        /// Calls the method of the pane that `id` names.
        impl Panes {
            fn apply_one(&mut self, id: PaneId, event: &EventBody, now: i64) -> Vec<PaneEffect> {
                match id { $(PaneId::$id => self.$field.apply(event, now),)* }
            }

            /// Hands an answer to the pane that asked.
            pub fn answer(&mut self, id: PaneId, query: &Query, listing: &Listing, now: i64) -> Vec<PaneEffect> {
                match id { $(PaneId::$id => self.$field.answer(query, listing, now),)* }
            }

            /// Returns whether `action` would do something in pane `id` now.
            pub fn offers(&self, id: PaneId, action: Action) -> bool {
                match id { $(PaneId::$id => self.$field.offers(action),)* }
            }

            fn act_one(&mut self, id: PaneId, action: Action, now: i64) -> Vec<PaneEffect> {
                match id { $(PaneId::$id => self.$field.act(action, now),)* }
            }

            /// Hands what is typed to the pane that asked for a line.
            pub fn line(&mut self, id: PaneId, purpose: LineFor, typed: LineInput<'_>, now: i64) -> Vec<PaneEffect> {
                match id { $(PaneId::$id => self.$field.line(purpose, typed, now),)* }
            }

            fn click_one(&mut self, id: PaneId, column: u16, row: u16, now: i64) -> Vec<PaneEffect> {
                match id { $(PaneId::$id => self.$field.click(column, row, now),)* }
            }

            /// Tells pane `id` the size of its body.
            pub fn measure(&mut self, id: PaneId, width: u16, height: u16, look: &Look<'_>) {
                match id { $(PaneId::$id => self.$field.measure(width, height, look),)* }
            }

            /// Returns the title of pane `id`.
            pub fn title(&self, id: PaneId) -> String {
                match id { $(PaneId::$id => self.$field.title(),)* }
            }

            /// Returns the note of pane `id`, made for at most `width` cells.
            pub fn note(&self, id: PaneId, width: u16, ctx: &Ctx<'_>) -> Line<'static> {
                match id { $(PaneId::$id => self.$field.note(width, ctx),)* }
            }

            /// Returns `2 of 7`, while words are looked for in pane `id`.
            pub fn search_hits(&self, id: PaneId) -> Option<String> {
                match id { $(PaneId::$id => self.$field.search_hits(),)* }
            }

            /// Returns what the tab of pane `id` shows.
            pub fn mark(&self, id: PaneId) -> Option<Mark> {
                match id { $(PaneId::$id => self.$field.mark(),)* }
            }

            /// Draws the body of pane `id`.
            pub fn draw(&self, id: PaneId, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
                match id { $(PaneId::$id => self.$field.draw(area, buf, ctx),)* }
            }
        }
    };
}

table::each_pane!(panes);

impl Panes {
    /// Returns what waits for the person's decision: a proposal, or the files of a restore before it.
    pub fn waiting(&self) -> Option<ProposalId> {
        self.diff.waiting().map(|w| w.id).or(self.archive.waiting())
    }

    /// Returns the number of proposals and restores that wait for the person's decision.
    pub fn waiting_count(&self) -> usize {
        // The files of a restore are listed first, and its diff waits meanwhile: it is one thing.
        match self.diff.waiting() {
            Some(waiting) => 1 + waiting.behind,
            None => usize::from(self.archive.waiting().is_some()),
        }
    }

    /// Tells every pane; what each wants done comes with its name.
    pub fn apply(&mut self, event: &EventBody, now: i64) -> Vec<(PaneId, PaneEffect)> {
        let mut all = Vec::new();
        for id in PaneId::ALL {
            all.extend(self.apply_one(*id, event, now).into_iter().map(|e| (*id, e)));
        }
        all
    }

    /// Does `action` in pane `id`.
    pub fn act(&mut self, id: PaneId, action: Action, now: i64) -> Vec<PaneEffect> {
        let effects = self.act_one(id, action, now);
        self.released(id, effects)
    }

    /// Notes that the files of a restore were seen: what it would write comes next.
    fn released(&mut self, id: PaneId, effects: Vec<PaneEffect>) -> Vec<PaneEffect> {
        if id == PaneId::Archive && effects.contains(&PaneEffect::Focus(PaneId::Diff)) {
            self.diff.release();
        }
        effects
    }

    /// Handles a click in pane `id`, from the top left of its body.
    pub fn click(&mut self, id: PaneId, column: u16, row: u16, now: i64) -> Vec<PaneEffect> {
        let effects = self.click_one(id, column, row, now);
        self.released(id, effects)
    }

    /// Handles the wheel over a cell of the body of pane `id`.
    pub fn wheel(&mut self, id: PaneId, column: u16, row: u16, down: bool, now: i64) -> Vec<PaneEffect> {
        if id == PaneId::Archive {
            return self.archive.wheel(column, row, down, now);
        }
        let action = if down { Action::Down } else { Action::Up };
        (0..3).flat_map(|_| self.act(id, action, now)).collect()
    }
}
