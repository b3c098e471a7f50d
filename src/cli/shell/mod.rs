//! Commands under a keeper and a sandbox: a person's own, what ran, and the rules for those of the model.

mod rules;
mod run;

pub use rules::check;
pub use run::{list, output, run};

/// Returns words as a text for the shell: one is shell text itself, several are one simple command.
fn text(words: &[String]) -> String {
    match words {
        [text] => text.clone(),
        words => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    }
}

/// Returns a word as the shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%^".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
