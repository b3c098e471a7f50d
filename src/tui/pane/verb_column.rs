//! The column of verbs before the calls of a pane.

use crate::messages::verbs;
use crate::protocol::{CallState, Verb};
use crate::tui::text::wrap::cells;

/// Cells of the column at least.
pub const LEAST: usize = 6;
/// Cells of a tool's name at most.
const MOST: usize = 17;

/// Returns the cells of the column for calls, each with its tool's name. A name that stands for a verb widens the column
/// once its call runs: that of a tool that does not exist takes room in its own row alone.
pub fn of<'a>(calls: impl Iterator<Item = (&'a str, &'a Verb, CallState)>) -> usize {
    let runs = |state| !matches!(state, CallState::Streaming | CallState::Failed);
    let own = calls.filter(|(name, verb, state)| verb.short != *name || runs(*state));
    own.map(|(_, verb, _)| cells(verbs::localized(&verb.short))).max().unwrap_or(0).clamp(LEAST, MOST)
}

/// Returns the cells of a verb in its row, where the column has `column`.
pub fn in_row(verb: &Verb, column: usize) -> usize {
    cells(verbs::localized(&verb.short)).min(MOST).max(column)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::pane::testing;

    #[test]
    fn the_name_of_a_tool_that_does_not_exist_takes_room_in_its_own_row() {
        let read = ("readFile", testing::verb("readFile"), CallState::Done);
        let named = |state| ("strand_find_usages", testing::verb("strand_find_usages"), state);
        let column =
            |calls: &[(&str, Verb, CallState)]| of(calls.iter().map(|(name, verb, state)| (*name, verb, *state)));
        let failed = named(CallState::Failed);
        assert_eq!((column(&[read.clone(), failed.clone()]), in_row(&failed.1, LEAST)), (LEAST, MOST));
        assert_eq!((column(&[read.clone(), named(CallState::Done)]), in_row(&read.1, LEAST)), (MOST, LEAST));
        assert_eq!((column(&[]), in_row(&read.1, MOST)), (LEAST, MOST));
    }
}
