//! Commands under a keeper and a sandbox: a person's own, what ran, and the rules for those of the model.

mod rules;
mod run;

pub use rules::check;
pub use run::{list, output, run};
