//! The screen without a model: the tour, how to connect one, the archive. It takes the whole body.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;

use super::select;
use crate::protocol::Status;
use crate::text::number::plural;
use crate::tui::action::{Action, Context};
use crate::tui::glyphs::Glyphs;
use crate::tui::pane::Ctx;
use crate::tui::pane::line::pane_line;
use crate::tui::text::{cut, paint, wrap};
use crate::tui::theme::Role;

/// The choices.
#[derive(Debug, Clone, Copy)]
pub struct Welcome {
    selected: usize,
}

impl Default for Welcome {
    /// What makes nebula useful comes first: a model.
    fn default() -> Self {
        Welcome { selected: 1 }
    }
}

/// What the person chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WelcomeOutcome {
    /// Nothing yet.
    Stay,
    /// The tour.
    Tour,
    /// Name a model, or how to connect one.
    Connect,
    /// The archive.
    Browse,
    /// Look again for a local server.
    Reconnect,
}

/// The ornament: a tilted spiral in braille, each letter of the second part telling how bright a cell is.
const SPIRAL: [(&str, &str); 9] = [
    ("                                        ", "                                        "),
    ("                          ⡀⢀            ", "                          cc            "),
    ("          ⡀               ⠄ ⡀  ⠂  ⢀⢀    ", "          c               b b  c  cc    "),
    ("      ⢀⡴⠞⠉ ⠐ ⠐⢀⠠ ⢀⣨⡤⠶⠶⠒⠙⠛⠙⠉⠉⠉⠙⠓⠳⢶⣤   ⡀  ", "      cccc b baa aaaaaaaaaabbbbbbb   c  "),
    ("    ⠄⣠⡏   ⠂⡀  ⢀ ⠚⠿⡷⢶⣾⣿⣾⣦     ⡀  ⠁⣽⠃     ", "    ccc   ba  a aaaaaaaa     b  bcb     "),
    ("   ⠈⠁⠈⠑⠷⠬⣌⣄⣀⣀⣀⡄⣄⢦⡤⠶⠾⠛⠋⠁ ⠐    ⠠⣀⡡⠝⠁      ", "   ccbbbbbbbbaaaaaaaaaa a    ccccc      "),
    ("      ⠠     ⡁   ⡀   ⢈ ⠂     ⠁⠈⠉         ", "      c     b   c   b b     ccc         "),
    ("                                        ", "                                        "),
    ("                                        ", "                                        "),
];

const ROWS: [(Action, &str, WelcomeOutcome); 3] = [
    (Action::Tour, "take the tour", WelcomeOutcome::Tour),
    (Action::Connect, "connect a model", WelcomeOutcome::Connect),
    (Action::Browse, "browse the archive", WelcomeOutcome::Browse),
];

const HOW: [(&str, &str, &str); 4] = [
    ("OpenAI", "export OPENAI_API_KEY=…", "then start nebula again"),
    ("Anthropic", "export ANTHROPIC_API_KEY=…", "nebula --provider anthropic"),
    ("Gemini", "export GEMINI_API_KEY=…", "nebula --provider gemini"),
    ("any server", "export OPENAI_BASE_URL=http://…", "a loopback address needs no key"),
];

/// Rows of the choices and of how to connect, their headings among them.
const LIST: u16 = 1 + ROWS.len() as u16;
const HOW_TO: u16 = 3 + HOW.len() as u16 + 1;

/// Where the parts stand; what has no room is left out.
struct Parts {
    x: u16,
    width: u16,
    /// First rows.
    spiral: Option<u16>,
    words: Option<u16>,
    list: u16,
    how: bool,
}

impl Parts {
    fn of(area: Rect, glyphs: &Glyphs) -> Parts {
        let width = area.width.saturating_sub(2).min(94);
        let braille = glyphs.cut != "~";
        let mut left = area.height;
        let mut shows = |rows: u16| {
            let fits = left >= rows;
            left -= if fits { rows } else { 0 };
            fits
        };
        // The parts that give way on small screens: the spiral, then the words, then how to connect.
        shows(LIST);
        let how = shows(HOW_TO + 1);
        let words = shows(5);
        let spiral = braille && area.width >= 60 && shows(12);
        let mut y = area.y + left.min(4) / 2 + left.saturating_sub(4) / 4;
        let mut part = |shown: bool, rows: u16| {
            let at = y;
            y += if shown { rows } else { 0 };
            shown.then_some(at)
        };
        let (spiral_at, words) = (part(spiral, 10), part(words, 5 + u16::from(spiral) * 2));
        Parts { x: area.x + (area.width - width) / 2, width, spiral: spiral_at, words, list: y, how }
    }
}

impl Welcome {
    /// Does an action.
    pub fn act(&mut self, action: Action) -> WelcomeOutcome {
        match action {
            Action::Up => self.selected = self.selected.saturating_sub(1),
            Action::Down => self.selected = (self.selected + 1).min(ROWS.len() - 1),
            Action::Open => return ROWS[self.selected.min(ROWS.len() - 1)].2,
            Action::Tour => return WelcomeOutcome::Tour,
            Action::Connect => return WelcomeOutcome::Connect,
            Action::Browse => return WelcomeOutcome::Browse,
            Action::Reconnect => return WelcomeOutcome::Reconnect,
            _ => {}
        }
        WelcomeOutcome::Stay
    }

    /// A click in the body `area`: on a choice selects it. Whether it was selected before and so is taken now.
    pub fn click(&mut self, area: Rect, glyphs: &Glyphs, at: Position) -> bool {
        let parts = Parts::of(area, glyphs);
        let rows = Rect { x: parts.x, y: parts.list + 1, width: parts.width, height: ROWS.len() as u16 };
        if !rows.contains(at) {
            return false;
        }
        let row = usize::from(at.y - rows.y);
        std::mem::replace(&mut self.selected, row) == row
    }

    /// Draws it in the body.
    pub fn draw(&self, area: Rect, status: &Status, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let Parts { x, width, spiral, words, list, how } = Parts::of(area, ctx.glyphs);
        if let Some(y) = spiral {
            self.spiral(area.x + (area.width - 40) / 2, y, buf, ctx);
        }
        if let Some(mut y) = words {
            let accent = ctx.theme.style(Role::Accent).add_modifier(Modifier::BOLD);
            let lines = [
                ("nebula", accent),
                ("", accent),
                ("a model proposes; you approve, hunk by hunk;", ctx.theme.style(Role::Text)),
                ("whatever is overwritten is archived first", ctx.theme.style(Role::Text)),
            ];
            for (words, style) in lines {
                let n = (wrap::cells(words) as u16).min(width);
                paint::text(buf, x + (width - n) / 2, y, usize::from(n), words, style);
                y += 1;
            }
        }
        let y = self.choices(Rect { x, y: list, width, height: LIST }, status, buf, ctx);
        if how {
            how_to(Rect { x, y: y + 1, width, height: HOW_TO }, status, buf, ctx);
        }
    }

    fn spiral(&self, x: u16, y: u16, buf: &mut Buffer, ctx: &Ctx<'_>) {
        for (i, (row, tones)) in SPIRAL.iter().enumerate() {
            for (j, (dot, tone)) in row.chars().zip(tones.chars()).enumerate() {
                let role = match tone {
                    'a' => Role::Accent,
                    'b' => Role::Dim,
                    _ => Role::Backdrop,
                };
                paint::text(buf, x + j as u16, y + i as u16, 1, dot.encode_utf8(&mut [0; 4]), ctx.theme.style(role));
            }
        }
    }

    fn choices(&self, area: Rect, status: &Status, buf: &mut Buffer, ctx: &Ctx<'_>) -> u16 {
        pane_line(Rect { height: 1, ..area }, "start", true, None, buf, ctx);
        let dim = ctx.theme.style(Role::Dim);
        let bold = ctx.theme.style(Role::Text).add_modifier(Modifier::BOLD);
        let keys = ROWS.map(|(action, ..)| ctx.key(Context::Welcome, action).unwrap_or_default());
        // One letter each, unless the person has other keys.
        let column = keys.iter().map(|key| wrap::cells(key)).max().unwrap_or(0) as u16 + 3;
        let names = if area.width >= 72 { 24 } else { 20 };
        for (i, ((_, name, said), key)) in ROWS.iter().zip(&keys).enumerate() {
            let y = area.y + 1 + i as u16;
            let chosen = i == self.selected;
            paint::text(buf, area.x + 1, y, usize::from(column), key, bold);
            let style = if chosen { bold } else { ctx.theme.style(Role::Text) };
            paint::text(buf, area.x + column, y, names, name, style);
            let x = area.x + column + names as u16;
            let room = usize::from(area.right().saturating_sub(x + 1));
            if let Some(detail) = details(*said, status).iter().find(|d| wrap::cells(d) <= room) {
                paint::text(buf, x, y, room, detail, dim);
            }
            if chosen {
                select(Rect { y, height: 1, ..area }, buf, ctx);
            }
        }
        area.y + 1 + ROWS.len() as u16
    }
}

/// What is said of a choice: whole, or shorter for less room.
fn details(choice: WelcomeOutcome, status: &Status) -> [String; 2] {
    let archive = status
        .archive
        .map(|(changesets, files)| format!("{} of {}", plural(changesets, "changeset"), plural(files, "file")));
    match (choice, archive) {
        (WelcomeOutcome::Tour, _) => {
            ["two minutes, offline; the model is a recording".into(), "offline; the model is a recording".into()]
        }
        (WelcomeOutcome::Browse, Some(held)) => [format!("{held} in this workspace"), held],
        (WelcomeOutcome::Browse, None) => {
            ["what was overwritten in this workspace".into(), "what was overwritten here".into()]
        }
        _ => ["set one variable, or start a local server".into(), "set a variable, or start a server".into()],
    }
}

fn how_to(area: Rect, status: &Status, buf: &mut Buffer, ctx: &Ctx<'_>) {
    pane_line(Rect { height: 1, ..area }, "how to connect", false, None, buf, ctx);
    let (dim, text) = (ctx.theme.style(Role::Dim), ctx.theme.style(Role::Text));
    let tried: Vec<String> = status.tried.iter().map(u16::to_string).collect();
    let local = match tried.is_empty() {
        true => ["found when it answers on its usual port".to_string(), "found on its usual port".into()],
        false => {
            [format!("nothing answers on {}", tried.join(", ")), format!("nothing answers on {} ports", tried.len())]
        }
    };
    let rows = HOW.iter().map(|(a, b, c)| (*a, *b, [c.to_string(), c.to_string()]));
    let mut y = area.y + 1;
    // In narrow terminals the columns stand close; what is said of each way gives way first.
    let (whats, thens) = if area.width >= 90 { (16, 51) } else { (15, 47) };
    let room = usize::from(area.width.saturating_sub(thens));
    for (who, what, then) in rows.chain([("this computer", "ollama serve", local)]) {
        let what = what.replace('…', ctx.glyphs.cut);
        paint::text(buf, area.x + 1, y, 14, who, dim);
        paint::text(buf, area.x + whats, y, usize::from(area.width.saturating_sub(whats)), &what, text);
        if room >= 20 {
            let then = cut::first_fit(&[&then[0], &then[1]], room, ctx.glyphs.cut);
            paint::text(buf, area.x + thens, y, room, &then, dim);
        }
        y += 1;
    }
    let words = [
        "keys are read from the environment; never stored unless you ask, never shown or logged",
        "never stored unless you ask, never shown",
    ];
    let room = usize::from(area.width.saturating_sub(1));
    paint::text(buf, area.x + 1, y + 1, room, &cut::first_fit(&words, room, ctx.glyphs.cut), dim);
}
