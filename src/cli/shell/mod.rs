//! Commands under a keeper and a sandbox: a person's own, what ran, and the rules for those of the model.

mod events;
mod preview;
mod printer;
mod rules;
mod run;
mod terminal;

pub use events::line as event_line;
pub use preview::run as preview;
pub use rules::check;
pub use run::{list, output, run};

use crate::text::quote;

/// Returns words as a text for the shell: one is shell text itself, several are one simple command.
fn text(words: &[String]) -> String {
    match words {
        [text] => text.clone(),
        words => quote::line(words),
    }
}
