//! The helpers that the tests of the panes share: a screen to draw on, and the shop's files.

use std::sync::OnceLock;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr;

use super::Ctx;
use crate::proposal::{FileChange, PlaceMatch, Placed, Proposal, ProposalId, Rung, State};
use crate::protocol::{Call, CallState, Verb};
use crate::tui::glyphs::Glyphs;
use crate::tui::keys::Keys;
use crate::tui::text::highlight::Highlighter;
use crate::tui::theme::Theme;

/// 12:07:00 UTC on Wednesday, 5 November 2025.
pub const NOW: i64 = 1_762_344_420_000;

pub const CATALOG: (&str, &str) = (include_str!("testdata/catalog.before"), include_str!("testdata/catalog.after"));
pub const CART: (&str, &str) = (include_str!("testdata/cart.before"), include_str!("testdata/cart.after"));

/// The shipped bindings, read once for all tests.
pub fn keys() -> &'static Keys {
    static KEYS: OnceLock<Keys> = OnceLock::new();
    KEYS.get_or_init(Keys::default)
}

/// A drawn screen.
pub struct Screen {
    pub buf: Buffer,
}

/// Draws with the shipped theme of that name.
pub fn screen(
    width: u16,
    height: u16,
    theme: &str,
    zoomed: bool,
    draw: impl FnOnce(Rect, &mut Buffer, &Ctx<'_>),
) -> Screen {
    let theme = Theme::shipped(theme);
    let colours = Highlighter::here();
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    let ctx = Ctx {
        theme: &theme,
        glyphs: &Glyphs::UNICODE,
        keys: keys(),
        focus: true,
        zoomed,
        now: NOW,
        zone: 0,
        tick: 1,
        colours: &colours,
    };
    draw(area, &mut buf, &ctx);
    Screen { buf }
}

impl Screen {
    /// The text of each row, without trailing space.
    pub fn text(&self) -> String {
        let rows = (0..self.buf.area.height).map(|y| {
            let mut row = String::new();
            let mut x = 0;
            while x < self.buf.area.width {
                let symbol = self.buf[(x, y)].symbol();
                row.push_str(symbol);
                x += (symbol.width() as u16).max(1);
            }
            row.trim_end().to_string()
        });
        rows.collect::<Vec<_>>().join("\n")
    }

    /// The screen with its colours, for looking at: written to `$PANE_DUMPS/NAME.ansi` where that is set.
    pub fn dump(&self, name: &str) {
        let Ok(dir) = std::env::var("PANE_DUMPS") else { return };
        let mut out = String::new();
        for y in 0..self.buf.area.height {
            let mut x = 0;
            while x < self.buf.area.width {
                let cell = &self.buf[(x, y)];
                out.push_str("\x1b[0");
                let colour = |c: Color, base: u8| match c {
                    Color::Rgb(r, g, b) => format!(";{base};2;{r};{g};{b}"),
                    _ => String::new(),
                };
                out.push_str(&colour(cell.fg, 38));
                out.push_str(&colour(cell.bg, 48));
                let attributes = [
                    (Modifier::BOLD, 1),
                    (Modifier::DIM, 2),
                    (Modifier::ITALIC, 3),
                    (Modifier::UNDERLINED, 4),
                    (Modifier::REVERSED, 7),
                    (Modifier::CROSSED_OUT, 9),
                ];
                for (_, code) in attributes.iter().filter(|(m, _)| cell.modifier.contains(*m)) {
                    out.push_str(&format!(";{code}"));
                }
                out.push('m');
                out.push_str(cell.symbol());
                x += (cell.symbol().width() as u16).max(1);
            }
            out.push_str("\x1b[0m\n");
        }
        std::fs::write(format!("{dir}/{name}.ansi"), out).expect("a writable folder");
    }
}

/// A change of a text, its edits found by `rung`.
pub fn change(path: &str, before: &str, after: &str, by: &str, rung: Rung, detail: Option<&str>) -> FileChange {
    let found = PlaceMatch { rung, detail: detail.map(str::to_string) };
    let placed = [Placed { after: 0..after.len(), found, edit: None }];
    FileChange::new(path, State::file(before.as_bytes()), State::file(after.as_bytes()), by, &placed)
}

pub fn proposal(files: Vec<FileChange>) -> Proposal {
    Proposal { id: ProposalId(7), title: "replaceInFile".into(), files }
}

/// The proposal of the finished frames.
pub fn shop() -> Proposal {
    proposal(vec![
        change("src/catalog.rs", CATALOG.0, CATALOG.1, "edit (2)", Rung::Exact, None),
        change("src/cart.rs", CART.0, CART.1, "edit", Rung::Indentation, Some("4 further right")),
    ])
}

/// The text of a note.
pub fn note(theme: &Theme, make: impl FnOnce(&Ctx<'_>) -> ratatui::text::Line<'static>) -> String {
    let colours = Highlighter::off();
    let ctx = Ctx {
        theme,
        glyphs: &Glyphs::UNICODE,
        keys: keys(),
        focus: true,
        zoomed: false,
        now: NOW,
        zone: 0,
        tick: 1,
        colours: &colours,
    };
    make(&ctx).to_string()
}

/// Returns what a tool is said to do.
pub fn verb(name: &str) -> Verb {
    let (short, doing, done, one) = match name {
        "readFile" => ("read", "reading", "read", "file"),
        "searchInDirectory" => ("search", "searching", "searched", "folder"),
        "writeFile" => ("write", "writing", "wrote", "file"),
        "editFile" | "replaceInFile" => ("edit", "editing", "edited", "file"),
        "askUser" => ("ask", "asking", "asked", "question"),
        other => (other, "running", other, "time"),
    };
    Verb { short: short.into(), doing: doing.into(), done: done.into(), one: one.into() }
}

/// A call of which only its name and state are known.
pub fn call(name: &str, state: CallState) -> Call {
    Call::new(name, verb(name), state)
}
