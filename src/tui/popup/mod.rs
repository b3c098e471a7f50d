//! The popups: lists to choose from, pages to read, the finder of files, the form that connects a model. Each is a
//! plain struct in a file of its own and a row of `popups!`. All of them have the same methods:
//!
//! - `context(&self) -> Context`: where its keys are looked up.
//! - `measure(&mut self, screen, body, page, &Ctx)`: the sizes that are drawn next.
//! - `inside(&self) -> Option<Rect>`: the rows that it takes from the first screen, where it does not float.
//! - `draw(&self, body, &mut Buffer, &Ctx) -> Option<Position>`: draws it, and tells where the terminal's cursor goes.
//! - `act(Action)`, `type_char(char)`, `paste(&str)`, `click(Position)`, `wheel(Action)`, all `&mut self`: take in what
//!   the person does. Each returns the popup's own outcome, which `App::popup_said` handles.

pub mod connect;
pub mod finder;
mod frame;
pub mod help;
pub mod list;
pub mod no_model;
pub mod page;
mod page_search;
pub mod palette;
mod sample;
pub mod sessions;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::action::{Action, Context};
use super::look::Ctx;
use frame::backdrop;
pub use frame::{border, fuzzy, keys, matched, modal, pair, select, thumb};

macro_rules! popups {
    ($($(#[$doc:meta])* $kind:ident $type:ty => $outcome:ty,)*) => {
        /// A popup that takes all keys.
        #[derive(Debug)]
        pub enum Popup {
            $($(#[$doc])* $kind($type),)*
        }

        /// The outcome of what the person did in a popup.
        #[derive(Debug, PartialEq)]
        pub enum PopupOutcome {
            $($(#[$doc])* $kind($outcome),)*
        }

        impl Popup {
            /// Returns where its keys are looked up.
            pub fn context(&self) -> Context {
                match self { $(Popup::$kind(popup) => popup.context(),)* }
            }

            /// Tells it the size of the screen that is drawn next, and of the body below its first line. `page` is that
            /// of the first screen.
            pub fn measure(&mut self, screen: Rect, body: Rect, page: Option<Rect>, ctx: &Ctx<'_>) {
                match self { $(Popup::$kind(popup) => popup.measure(screen, body, page, ctx),)* }
            }

            /// Returns the rows that it takes from the first screen, where it does not float.
            pub fn inside(&self) -> Option<Rect> {
                match self { $(Popup::$kind(popup) => popup.inside(),)* }
            }

            /// Draws it over the screen and tells where the terminal's cursor goes.
            pub fn draw(&self, body: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Option<Position> {
                if self.inside().is_none() {
                    backdrop(buf, ctx);
                }
                match self { $(Popup::$kind(popup) => popup.draw(body, buf, ctx),)* }
            }

            /// Does an action.
            pub fn act(&mut self, action: Action) -> PopupOutcome {
                match self { $(Popup::$kind(popup) => PopupOutcome::$kind(popup.act(action)),)* }
            }

            /// Types a character.
            pub fn type_char(&mut self, c: char) -> PopupOutcome {
                match self { $(Popup::$kind(popup) => PopupOutcome::$kind(popup.type_char(c)),)* }
            }

            /// Pastes a text.
            pub fn paste(&mut self, text: &str) -> PopupOutcome {
                match self { $(Popup::$kind(popup) => PopupOutcome::$kind(popup.paste(text)),)* }
            }

            /// Handles a click.
            pub fn click(&mut self, at: Position) -> PopupOutcome {
                match self { $(Popup::$kind(popup) => PopupOutcome::$kind(popup.click(at)),)* }
            }

            /// Handles a turn of the wheel, up or down.
            pub fn wheel(&mut self, action: Action) -> PopupOutcome {
                match self { $(Popup::$kind(popup) => PopupOutcome::$kind(popup.wheel(action)),)* }
            }
        }
    };
}

popups! {
    /// Something to choose.
    List list::List => list::ListOutcome,
    /// Something to read.
    Page page::Page => page::PageOutcome,
    /// A file to find.
    Finder finder::Finder => finder::FinderOutcome,
    /// A model to connect.
    Connect Box<connect::Connect> => connect::ConnectOutcome,
}
