//! What floats: lists to choose from, pages to read, the finder of files. A closed set, so that exhaustive matches
//! find every place to extend.

pub mod connect;
pub mod finder;
mod frame;
pub mod help;
pub mod list;
pub mod no_model;
pub mod page;
pub mod palette;
mod sample;
pub mod sessions;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::action::Context;
use super::look::Ctx;
use frame::backdrop;
pub use frame::{border, fuzzy, keys, matched, modal, pair, select, thumb};

/// A popup that takes all keys.
#[derive(Debug)]
pub enum Popup {
    /// Something to choose.
    List(list::List),
    /// Something to read.
    Page(page::Page),
    /// A file to find.
    Finder(finder::Finder),
    /// A model to connect.
    Connect(Box<connect::Connect>),
}

impl Popup {
    /// Returns where its keys are looked up.
    pub fn context(&self) -> Context {
        match self {
            Popup::List(_) => Context::List,
            Popup::Connect(_) => Context::Form,
            Popup::Page(page) if page.is_searching() => Context::Line,
            Popup::Page(_) => Context::Viewer,
            Popup::Finder(_) => Context::Completion,
        }
    }

    /// Tells it the size of the screen that is drawn next, and of the body below its first line.
    /// `page` is that of the first screen.
    pub fn measure(&mut self, screen: Rect, body: Rect, page: Option<Rect>, ctx: &Ctx<'_>) {
        match self {
            Popup::List(list) => list.measure(screen, body),
            Popup::Page(page) => page.measure(screen, body, ctx),
            Popup::Finder(finder) => finder.measure(body),
            Popup::Connect(form) => form.measure(screen, body, page),
        }
    }

    /// Returns the rows that it takes from the first screen, where it does not float.
    pub fn inside(&self) -> Option<Rect> {
        match self {
            Popup::Connect(form) => form.inside(),
            _ => None,
        }
    }

    /// Draws it over the screen and tells where the terminal's cursor goes.
    pub fn draw(&self, body: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Option<Position> {
        if self.inside().is_none() {
            backdrop(buf, ctx);
        }
        match self {
            Popup::List(list) => list.draw(body, buf, ctx),
            Popup::Page(page) => page.draw(body, buf, ctx),
            Popup::Finder(finder) => finder.draw(body, buf, ctx),
            Popup::Connect(form) => form.draw(buf, ctx),
        }
    }
}
