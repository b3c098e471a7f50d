//! The values that wrapping and drawing may use beside a pane's own state.

use super::action::{Action, Context};
use super::glyphs::Glyphs;
use super::keys::Keys;
use super::text::highlight::Highlighter;
use super::theme::Theme;
use crate::text::time::Clock;

/// The inputs of wrapping and styling.
#[derive(Debug, Clone, Copy)]
pub struct Look<'a> {
    /// Colours by role.
    pub theme: &'a Theme,
    /// Marks.
    pub glyphs: &'a Glyphs,
    /// Bindings, for the words that name a key.
    pub keys: &'a Keys,
    /// Unix milliseconds.
    pub now: i64,
    /// Seconds east of UTC, for days.
    pub zone: i32,
}

/// The inputs of drawing beside the pane's own state.
#[derive(Debug, Clone, Copy)]
pub struct Ctx<'a> {
    /// Colours by role.
    pub theme: &'a Theme,
    /// Marks.
    pub glyphs: &'a Glyphs,
    /// Bindings, for the words that name a key.
    pub keys: &'a Keys,
    /// True if this pane has the focus.
    pub focus: bool,
    /// True if the pane has the whole body: zoomed, or one pane with tabs.
    pub zoomed: bool,
    /// Unix milliseconds.
    pub now: i64,
    /// Seconds east of UTC, for times of day.
    pub zone: i32,
    /// Phase of all spinners.
    pub tick: u64,
    /// Colours of code; lines that are not ready yet are drawn plain, and a wake-up follows.
    pub colours: &'a Highlighter,
}

impl<'a> Ctx<'a> {
    /// Returns the text of the key for `action` where the keys go to `context`; none: it has no key.
    pub fn key(&self, context: Context, action: Action) -> Option<String> {
        self.keys.word(context, action)
    }

    /// Returns the time in the person's zone.
    pub fn clock(&self) -> Clock {
        Clock { now: self.now, zone: self.zone }
    }

    /// Returns the parts that measuring needs.
    pub fn look(&self) -> Look<'a> {
        Look { theme: self.theme, glyphs: self.glyphs, keys: self.keys, now: self.now, zone: self.zone }
    }
}
