//! Size and state → named rectangles, once, for drawing, mouse and paging alike.

use ratatui::layout::Rect;

use super::pane::id::PaneId;

/// The columns and rows below which there is only a notice.
pub const SMALLEST: (u16, u16) = (40, 10);
/// Columns from which there are two columns.
pub const WIDE: u16 = 120;
/// Columns under which diffs are unified and the status line is shorter.
pub const MEDIUM: u16 = 100;
/// Columns under which the status line is shortest.
pub const NARROW: u16 = 72;
/// Rows from which there is one for what the session has changed.
pub const LEDGER_FROM: u16 = 30;
/// Rows of the input at most.
const INPUT_ROWS: u16 = 8;

/// The inputs of the rectangles beside the size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wants {
    /// The pane that was chosen last.
    pub pane: PaneId,
    /// It has the whole body.
    pub full: bool,
    /// Width of the right column, where the person changed it.
    pub right: Option<u16>,
    /// Rows of the archive below the tools, its line included, where the person changed them.
    pub low: Option<u16>,
    /// Rows of the text in the input.
    pub input: u16,
    /// Rows of the question with its line and the empty row below.
    pub question: u16,
    /// Rows of the queue with its line and the empty row below.
    pub queue: u16,
    /// Rows of notices that stay, with the empty row below.
    pub notices: u16,
    /// A row tells what the session has changed.
    pub ledger: bool,
    /// The prompt stands on top, and what was done before below it.
    pub start: bool,
    /// A form stands below that prompt, or over the screen.
    pub form: bool,
}

/// A pane on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its id.
    pub id: PaneId,
    /// Its pane line.
    pub line: Rect,
    /// The body below.
    pub body: Rect,
}

/// The areas of the screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rects {
    /// The whole screen.
    pub all: Rect,
    /// The screen is too small for anything but a notice.
    pub tiny: bool,
    /// The status line.
    pub status: Option<Rect>,
    /// Pane lines and panes.
    pub body: Rect,
    /// The panes that show.
    pub panes: Vec<Place>,
    /// The pane line holds all titles.
    pub tabs: bool,
    /// The upright rule between two columns.
    pub rule: Option<Rect>,
    /// The question, its line first.
    pub question: Rect,
    /// The queue, its line first.
    pub queue: Rect,
    /// Notices that stay, where there is no chat.
    pub notices: Rect,
    /// The input line.
    pub bar: Rect,
    /// The changes of the session, below the input line.
    pub ledger: Option<Rect>,
    /// The input.
    pub input: Rect,
    /// The hints.
    pub hints: Option<Rect>,
    /// Beside a prompt that stands on top: what is selected below it.
    pub preview: Option<Rect>,
}

/// Names the rectangles of a screen of `width` × `height` cells.
pub fn rects(width: u16, height: u16, wants: &Wants) -> Rects {
    let all = Rect::new(0, 0, width, height);
    if width < SMALLEST.0 || height < SMALLEST.1 {
        return Rects { all, tiny: true, ..Rects::default() };
    }
    let status = (height >= 12).then(|| Rect::new(0, 0, width, 1));
    let hints = (height >= 16).then(|| Rect::new(0, height - 1, width, 1));
    let top = u16::from(status.is_some());
    let mut bottom = height - u16::from(hints.is_some());
    if wants.start {
        return start(Rects { all, status, hints, ..Rects::default() }, top, bottom, wants);
    }
    let mut take = |rows: u16| {
        bottom -= rows;
        Rect::new(0, bottom, width, rows)
    };
    let input = take(wants.input.clamp(1, INPUT_ROWS).min((height / 3).max(1)));
    let ledger = (wants.ledger && height >= LEDGER_FROM).then(|| take(1));
    let bar = take(1);
    // The panes keep at least three rows; the queue gives way before the question.
    let spare = bar.y.saturating_sub(top + 4);
    let question_rows = wants.question.min(spare);
    let queue_rows = Some(wants.queue.min(spare - question_rows)).filter(|r| *r >= 3).unwrap_or(0);
    let queue = take(queue_rows);
    let question = take(question_rows);
    let notices = take(wants.notices.min(spare / 3));
    let body = Rect::new(0, top, width, bottom - top);
    let mut rects =
        Rects { all, status, body, question, queue, notices, bar, ledger, input, hints, ..Rects::default() };
    panes(&mut rects, wants);
    rects
}

/// Returns the prompt on top, notices and sessions below it, a rule at the foot.
fn start(mut rects: Rects, top: u16, bottom: u16, wants: &Wants) -> Rects {
    let all = rects.all;
    let bottom = bottom - u16::from(rects.hints.is_some());
    // A form needs the cells of the preview where there are few.
    let width = if wants.form && all.width < WIDE { all.width } else { start_width(all.width) };
    let mut y = top;
    let mut take = |rows: u16| {
        let rows = rows.min(bottom.saturating_sub(y));
        y += rows;
        Rect::new(0, y - rows, width, rows)
    };
    rects.bar = take(1);
    let airy = all.height >= 16;
    take(u16::from(airy));
    rects.input = take(wants.input.clamp(1, INPUT_ROWS).min((all.height / 3).max(1)));
    take(u16::from(airy));
    rects.notices = take(wants.notices.min(all.height / 3));
    rects.body = take(u16::MAX);
    rects.preview = (width < all.width).then(|| Rect::new(width + 1, top, all.width - width - 1, bottom - top));
    rects
}

fn panes(rects: &mut Rects, wants: &Wants) {
    let body = rects.body;
    let place = |id, area: Rect| Place {
        id,
        line: Rect { height: 1, ..area },
        body: Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area },
    };
    if wants.full || body.width < WIDE {
        rects.tabs = !wants.full;
        rects.panes = vec![place(wants.pane, body)];
        return;
    }
    let right = right_width(body.width, wants.right);
    let left = body.width - right - 1;
    rects.rule = Some(Rect::new(left, body.y, 1, body.height));
    let side = Rect::new(left + 1, body.y, right, body.height);
    let rows = body.height - 1;
    let usual = (rows * 3).div_ceil(10).max(7);
    let archive = if rows < 20 { 0 } else { wants.low.unwrap_or(usual).clamp(4, rows - 5) };
    let tools = Rect { height: side.height - archive, ..side };
    rects.panes = vec![place(PaneId::Chat, Rect { width: left, ..body }), place(PaneId::Tools, tools)];
    if archive > 0 {
        let area = Rect { y: tools.y + tools.height, height: archive, ..side };
        rects.panes.push(place(PaneId::Archive, area));
    }
}

/// Returns the width of a prompt that stands on top: beside it there may be a preview.
pub fn start_width(width: u16) -> u16 {
    if width < MEDIUM { width } else { width - right_width(width, None) - 1 }
}

/// Returns the width of the right column: 40 %, at least 48, and the left one keeps 48 too.
pub fn right_width(width: u16, chosen: Option<u16>) -> u16 {
    let usual = ((u32::from(width) * 2 + 2) / 5) as u16;
    chosen.unwrap_or(usual).max(48).min(width.saturating_sub(49).max(1))
}

impl Rects {
    /// Returns what a popup may take where the screen is too small for a modal one: all but the status line, the input
    /// and the hints; where the prompt stands on top, all but the status line and the hints.
    pub fn popup_body(&self) -> Rect {
        let top = self.body.y.min(self.bar.y);
        let bottom = match self.bar.y < self.body.y {
            true => self.hints.map_or(self.all.bottom(), |hints| hints.y),
            false => self.bar.bottom(),
        };
        Rect { x: 0, y: top, width: self.all.width, height: bottom.saturating_sub(top) }
    }

    /// Returns where a pane is, if it shows.
    pub fn place(&self, id: PaneId) -> Option<&Place> {
        self.panes.iter().find(|p| p.id == id)
    }

    /// Returns the number of rows of the archive where it shows below the tools, its line included.
    pub fn low(&self) -> Option<u16> {
        self.rule.and(self.place(PaneId::Archive)).map(|p| p.body.height + 1)
    }

    /// Returns the pane at a cell.
    pub fn pane_at(&self, column: u16, row: u16) -> Option<&Place> {
        let at = ratatui::layout::Position::new(column, row);
        self.panes.iter().find(|p| p.body.contains(at) || p.line.contains(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CALM: Wants = Wants {
        pane: PaneId::Chat,
        full: false,
        right: None,
        low: None,
        input: 1,
        question: 0,
        queue: 0,
        notices: 0,
        ledger: false,
        start: false,
        form: false,
    };

    #[test]
    fn the_main_screen_is_as_drawn() {
        let r = rects(140, 40, &CALM);
        assert_eq!(r.status, Some(Rect::new(0, 0, 140, 1)));
        assert_eq!(r.rule, Some(Rect::new(83, 1, 1, 36)));
        assert_eq!(r.place(PaneId::Chat).map(|p| p.body), Some(Rect::new(0, 2, 83, 35)));
        assert_eq!(r.place(PaneId::Archive).map(|p| p.line), Some(Rect::new(84, 26, 56, 1)));
        assert_eq!((r.bar.y, r.input.y, r.hints.map(|h| h.y)), (37, 38, Some(39)));
    }

    #[test]
    fn small_screens_lose_the_archive_the_hints_the_status() {
        assert_eq!(rects(140, 20, &CALM).panes.len(), 2);
        assert_eq!(rects(80, 15, &CALM).hints, None);
        assert_eq!(rects(80, 11, &CALM).status, None);
        assert!(rects(39, 24, &CALM).tiny && rects(80, 9, &CALM).tiny && !rects(40, 10, &CALM).tiny);
        assert!(rects(119, 40, &CALM).tabs);
    }

    proptest! {
        #[test]
        fn nothing_overlaps_and_everything_is_inside(
            w in 0u16..300, h in 0u16..100, input in 0u16..20, question in 0u16..40, queue in 0u16..8,
            full: bool, right in prop::option::of(0u16..400), low in prop::option::of(0u16..200),
        ) {
            let wants = Wants { input, question, queue, full, right, low, ..CALM };
            let r = rects(w, h, &wants);
            let mut areas: Vec<Rect> = r.panes.iter().flat_map(|p| [p.line, p.body]).collect();
            areas.extend([r.question, r.queue, r.bar, r.input].into_iter().chain(r.status).chain(r.hints));
            areas.extend(r.rule);
            for (i, a) in areas.iter().enumerate() {
                prop_assert!(a.right() <= w && a.bottom() <= h, "{a:?}");
                for b in &areas[i + 1..] {
                    prop_assert!(a.intersection(*b).is_empty(), "{a:?} {b:?}");
                }
            }
        }
    }
}
