//! A sample of a theme, in a frame of its own: it lies on the background that the theme is made for, so that it can be
//! read whatever the terminal's is. The list beside it keeps the theme that is in use.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::messages::popups as say;
use crate::tui::look::Ctx;
use crate::tui::text::{cut, paint};
use crate::tui::theme::{Role, Theme};

/// Rows of the frame.
pub const ROWS: u16 = 7;

/// A piece of a row, and what of it.
type StyledPiece<'a> = (&'a str, Style);

/// Draws the frame in `area`.
pub fn draw(theme: &Theme, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let background = theme.usual_background().map_or(Style::new(), |background| Style::new().bg(background));
    paint::clear(buf, area, background.patch(theme.style(Role::Text)));
    let g = ctx.glyphs;
    let (of, on) = (|role| theme.style(role), |role, tint| theme.on(role, tint));
    let bold = |role| theme.style(role).add_modifier(Modifier::BOLD);
    let before = [
        (" 12 ", on(Role::Dim, Role::RemovedBg)),
        (g.removed, on(Role::Removed, Role::RemovedBg)),
        (" let ", on(Role::SynKeyword, Role::RemovedBg)),
        ("price = ", on(Role::Text, Role::RemovedBg)),
        ("price_of", on(Role::Text, Role::RemovedWord)),
        ("(id);", on(Role::Text, Role::RemovedBg)),
    ];
    let after = [
        (" 12 ", on(Role::Dim, Role::AddedBg)),
        (g.added, on(Role::Added, Role::AddedBg)),
        (" let ", on(Role::SynKeyword, Role::AddedBg)),
        ("price = ", on(Role::Text, Role::AddedBg)),
        ("prices.of", on(Role::Text, Role::AddedWord)),
        ("(id);", on(Role::Text, Role::AddedBg)),
    ];
    let states = [
        (g.done, bold(Role::Added)),
        (" src/", of(Role::Dim)),
        ("cart.rs  ", of(Role::Path)),
        (g.failed, bold(Role::Removed)),
        (" cargo  ", of(Role::Text)),
        (g.asking, bold(Role::Attention)),
        (" ", of(Role::Text)),
        (say::sample_waiting(), of(Role::Attention)),
    ];
    let said =
        [("nebula  ", bold(Role::Accent)), (say::sample_said(), of(Role::Text)), (" @src/cart.rs", of(Role::Mention))];
    let prompt_row = [("> ", bold(Role::Focus)), (say::sample_selected(), on(Role::Text, Role::Selection))];
    let rows: [(&[StyledPiece<'_>], Option<Role>); 5] = [
        (&said, None),
        (&before, Some(Role::RemovedBg)),
        (&after, Some(Role::AddedBg)),
        (&states, None),
        (&prompt_row, Some(Role::Selection)),
    ];
    for ((pieces, tint), y) in rows.into_iter().zip(area.y + 1..area.bottom().saturating_sub(1)) {
        let row = Rect { x: area.x + 1, y, width: area.width.saturating_sub(2), height: 1 };
        if let Some(tint) = tint {
            buf.set_style(row, theme.style(tint));
        }
        let mut x = row.x;
        for (words, style) in pieces {
            let room = usize::from(row.right().saturating_sub(x));
            x += paint::text(buf, x, y, room, &cut::end(words, room, g.cut), background.patch(*style)) as u16;
        }
    }
}
