//! Lists that fill the screen: their width beside what they open, and the keys that move in lines.

use crate::tui::action::Action;

/// From this width on a list and what it opens stand beside each other.
pub const BESIDE: u16 = 100;
/// Cells of a list at most.
const LIST: u16 = 46;

/// Returns the cells of the list, and where what it opens begins with its cells; 0 or none: it is not shown.
pub fn parts(width: u16, is_opened: bool) -> (u16, Option<(u16, u16)>) {
    match () {
        () if width >= BESIDE => {
            let list = LIST.min(width / 3);
            (list, Some((list + 1, width - list - 1)))
        }
        () if is_opened => (0, Some((0, width))),
        () => (width, None),
    }
}

/// Returns the line that the keys go to from one; `None`: this is no motion by lines, pages or to an end. `page` is the
/// rows that are seen. The line may lie behind the last one.
pub fn moved(at: usize, action: Action, last: usize, page: usize) -> Option<usize> {
    let page = page.max(2);
    Some(match action {
        Action::Up => at.saturating_sub(1),
        Action::Down => at + 1,
        Action::HalfUp => at.saturating_sub(page / 2),
        Action::HalfDown => at + page / 2,
        Action::PageUp => at.saturating_sub(page),
        Action::PageDown => at + page,
        Action::First => 0,
        Action::Last => last,
        _ => return None,
    })
}
