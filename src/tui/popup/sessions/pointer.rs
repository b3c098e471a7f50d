//! The mouse in the list of sessions.

use super::{Sessions, SessionsOutcome};
use crate::tui::action::Action;
use crate::tui::msg::PaneEffect;

impl Sessions {
    /// Returns the session in row `row` of the body.
    fn at_row(&self, row: u16) -> Option<usize> {
        let index = self.top + usize::from(row).checked_sub(1)?;
        Some(index).filter(|index| *index < self.rows.len())
    }

    /// Returns whether the session in row `row` of the body is selected.
    pub fn is_selected_at(&self, row: u16) -> bool {
        self.at_row(row) == Some(self.selected)
    }

    /// Selects the session in row `row` of the body.
    pub fn select_at(&mut self, row: u16) -> SessionsOutcome {
        self.selected = self.at_row(row).unwrap_or(self.selected);
        SessionsOutcome::Stay(self.look().into_iter().map(PaneEffect::Ask).collect())
    }

    /// Scrolls the list; the selected session stays.
    pub fn wheel(&mut self, action: Action) {
        const STEP: usize = 3;
        self.top = if action == Action::Down { self.top + STEP } else { self.top.saturating_sub(STEP) };
        self.top = self.top.min(self.rows.len().saturating_sub(self.height));
        self.wheeled = true;
    }
}
