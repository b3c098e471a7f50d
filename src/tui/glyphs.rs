//! The marks of the screen: one cell each, with an ASCII set for terminals that draw them wide or not at all.

/// A set of marks. Every one is one cell wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glyphs {
    /// Done, accepted, will restore.
    pub done: &'static str,
    /// Failed.
    pub failed: &'static str,
    /// Refused, rejected, not archived.
    pub refused: &'static str,
    /// Interrupted, broken off.
    pub broken: &'static str,
    /// Waiting for the person.
    pub asking: &'static str,
    /// Waiting its turn.
    pub queued: &'static str,
    /// An undecided hunk.
    pub undecided: &'static str,
    /// Running, in phases.
    pub spinner: &'static [&'static str],
    /// Selected, hunk in focus: in column 1.
    pub selected: &'static str,
    /// Still growing: at the end of text.
    pub growing: &'static str,
    /// Folded.
    pub folded: &'static str,
    /// Open.
    pub open: &'static str,
    /// Lines folded away, more in the list.
    pub more: &'static str,
    /// Text cut here.
    pub cut: &'static str,
    /// A wrapped line goes on.
    pub wrapped: &'static str,
    /// Added.
    pub added: &'static str,
    /// Removed.
    pub removed: &'static str,
    /// Already equal.
    pub equal: &'static str,
    /// Changed by someone else.
    pub foreign: &'static str,
    /// A file that acts later.
    pub later: &'static str,
    /// An undo, redo or restore.
    pub undo: &'static str,
    /// Estimated.
    pub estimated: &'static str,
    /// Trying again.
    pub retry: &'static str,
    /// A rule in focus.
    pub heavy: &'static str,
    /// A rule.
    pub rule: &'static str,
    /// An upright rule; also the bar at the left of quotes and uncoloured code.
    pub upright: &'static str,
    /// An upright rule meeting a rule: from below, at the right end.
    pub join_right: &'static str,
    /// A line that joins from below, at the right end of the rule in focus.
    pub join_right_heavy: &'static str,
    /// A line that joins from below.
    pub join_down: &'static str,
    /// A line that joins from both sides, at the right end.
    pub join_left: &'static str,
    /// A line that joins from above.
    pub join_up: &'static str,
    /// A line that joins from above, the rule in focus.
    pub join_up_heavy: &'static str,
    /// A line that joins from below, the rule in focus.
    pub join_down_heavy: &'static str,
    /// The left end of a rule with ticks.
    pub tee_left: &'static str,
    /// Its right end.
    pub tee_right: &'static str,
    /// Both ways.
    pub cross: &'static str,
    /// Popup corners: top left, top right, bottom left, bottom right.
    pub corners: [&'static str; 4],
    /// Scroll thumb, in the last column.
    pub thumb: &'static str,
    /// Before the input.
    pub prompt: &'static str,
    /// Between the parts of a line.
    pub dot: &'static str,
    /// Before an entry of an unnumbered list.
    pub bullet: &'static str,
}

impl Glyphs {
    /// The marks of most terminals.
    pub const UNICODE: Glyphs = Glyphs {
        done: "✓",
        failed: "✗",
        refused: "⊘",
        broken: "◌",
        asking: "◉",
        queued: "◦",
        undecided: "?",
        spinner: &["⣾", "⣷", "⣯", "⣟", "⡿", "⢿", "⣻", "⣽"],
        selected: "▌",
        growing: "▌",
        folded: "▸",
        open: "▾",
        more: "⋯",
        cut: "…",
        wrapped: "↳",
        added: "+",
        removed: "−",
        equal: "=",
        foreign: "!",
        later: "◈",
        undo: "↶",
        estimated: "≈",
        retry: "↻",
        heavy: "━",
        rule: "─",
        upright: "│",
        join_right: "┐",
        join_right_heavy: "┑",
        join_down: "┬",
        join_left: "┤",
        join_up: "┴",
        join_up_heavy: "┷",
        join_down_heavy: "┯",
        tee_left: "├",
        tee_right: "┤",
        cross: "┼",
        corners: ["╭", "╮", "╰", "╯"],
        thumb: "┃",
        prompt: "›",
        dot: "·",
        bullet: "•",
    };

    /// For other locales, wide rules, and `"glyphs": "ascii"`.
    pub const ASCII: Glyphs = Glyphs {
        done: "*",
        failed: "x",
        refused: "/",
        broken: "o",
        asking: "!",
        queued: ".",
        undecided: "?",
        spinner: &["-", "\\", "|", "/"],
        selected: ">",
        growing: "_",
        folded: ">",
        open: "v",
        more: ":",
        cut: "~",
        wrapped: "\\",
        added: "+",
        removed: "-",
        equal: "=",
        foreign: "!",
        later: "&",
        undo: "<",
        estimated: "~",
        retry: "%",
        heavy: "=",
        rule: "-",
        upright: "|",
        join_right: "+",
        join_right_heavy: "+",
        join_down: "+",
        join_left: "+",
        join_up: "+",
        join_up_heavy: "+",
        join_down_heavy: "+",
        tee_left: "+",
        tee_right: "+",
        cross: "+",
        corners: ["+"; 4],
        thumb: "#",
        prompt: ">",
        dot: "-",
        bullet: "-",
    };

    /// Returns the spinner in phase `tick`, which counts up by one a frame.
    pub fn spin(&self, tick: u64) -> &'static str {
        // Both sets have phases, so the remainder is of a number above zero and the index inside.
        self.spinner[(tick % self.spinner.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn every_mark_is_one_cell() {
        for g in [Glyphs::UNICODE, Glyphs::ASCII] {
            let text = format!("{g:?}");
            let marks: Vec<&str> = text.split('"').skip(1).step_by(2).collect();
            assert!(marks.len() > 35);
            assert!(marks.iter().all(|m| m.width() == 1 || *m == "\\\\"), "{marks:?}");
        }
        assert!(format!("{:?}", Glyphs::ASCII).is_ascii());
        assert_eq!(Glyphs::UNICODE.spin(9), "⣷");
    }
}
