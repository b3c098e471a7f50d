//! The commands that are typed in line mode: those of the screen that make sense there, by the same names.

use crate::messages::{agent, commands, line as say};
use crate::protocol::{Command, ExportFormat, Mode, Query, RestoreRequest, SessionChoice, Setting};
use crate::text::distance::misspelt;

/// A typed line, by the thing that it asks for.
#[derive(Debug, PartialEq)]
pub enum TypedLine {
    /// Nothing.
    Nothing,
    /// The words that there are.
    Help,
    /// The end of the program.
    Quit,
    /// A command for the agent.
    Send(Command),
    /// A list to print.
    List(Query),
    /// Something that is not done here: what to do instead.
    Elsewhere(String),
    /// A message to the model.
    Message,
}

/// Commands of the screen, each with the command for a shell that does the same.
const SHELL: [(&str, &str); 10] = [
    ("/history", "nebula history"),
    ("/timeline", "nebula timeline"),
    ("/blame", "nebula blame FILE"),
    ("/review", "nebula review"),
    ("/graph", "strand code list"),
    ("/commit", "nebula commit"),
    ("/stats", "nebula stats"),
    ("/usage", "nebula usage"),
    ("/config", "nebula config get"),
    ("/connect", "nebula doctor"),
];

/// Reads a line.
pub fn read(text: &str) -> TypedLine {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    // A word with others behind it is the beginning of a sentence; behind a slash it is a command.
    let name = match word {
        "" => return TypedLine::Nothing,
        "help" | "quit" | "exit" | "undo" | "redo" if rest.is_empty() => format!("/{word}"),
        word => word.to_string(),
    };
    let send = |setting| TypedLine::Send(Command::Set(setting));
    match (name.as_str(), rest) {
        ("/help", _) => TypedLine::Help,
        ("/quit" | "/exit", "") => TypedLine::Quit,
        ("/undo", rest) => TypedLine::Send(Command::Restore(RestoreRequest::undo(rest))),
        ("/redo", "") => TypedLine::Send(Command::Restore(RestoreRequest::Redo)),
        ("/plan", "") => send(Setting::Mode(Mode::Plan)),
        ("/agent", "") => send(Setting::Mode(Mode::Agent)),
        ("/new", "") => TypedLine::Send(Command::Open(SessionChoice::New)),
        ("/sessions" | "/resume", "") => TypedLine::List(Query::Sessions(String::new())),
        ("/resume", id) => TypedLine::Send(Command::Open(SessionChoice::Resume(id.into()))),
        ("/model", "") => TypedLine::List(Query::Models),
        ("/model", name) => send(Setting::Model(name.into())),
        ("/effort", "") => TypedLine::Elsewhere(commands::effort_argument().into()),
        ("/effort", name) => send(Setting::Effort(name.into())),
        ("/format", "") => {
            TypedLine::Elsewhere(commands::FORMATS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "))
        }
        ("/format", name) => send(Setting::Format(name.into())),
        ("/compact", "undo") => TypedLine::Send(Command::UndoCompact),
        ("/compact", "") => TypedLine::Send(Command::Compact),
        ("/compact", _) => TypedLine::Elsewhere(agent::compact_words().into()),
        ("/trust", "") => send(Setting::Trust),
        ("/export", format) => match ExportFormat::named(format) {
            Some(format) => TypedLine::Send(Command::Export(format)),
            None => TypedLine::Elsewhere("/export md, /export json, /export html".into()),
        },
        ("/prompt", name) if !name.is_empty() => TypedLine::Message,
        ("/file" | "/rag", _) => TypedLine::Elsewhere(say::mention_here(&name)),
        (name, _) if name.starts_with('!') => TypedLine::Elsewhere(say::in_shell(&"!", &"nebula run -- COMMAND")),
        // No model is meant to get a command of the screen, nor a key behind it.
        (name, _) if commands::NAMES.contains(&name) => {
            let shell = SHELL.iter().find(|(known, _)| *known == name);
            TypedLine::Elsewhere(
                shell.map_or_else(|| say::on_screen_only(&name), |(_, shell)| say::in_shell(&name, shell)),
            )
        }
        (name, _) if is_mistyped(name) => TypedLine::Elsewhere(no_command(name)),
        _ => TypedLine::Message,
    }
}

/// Returns whether a text says that a turn goes on which stopped at a limit.
pub fn goes_on(text: &str) -> bool {
    text.trim_end_matches(['.', '!']).trim().eq_ignore_ascii_case("go on")
}

/// Returns whether a word looks like a command of nebula's own. What is meant for the model, such as a path of one part,
/// can be written behind a backslash.
fn is_mistyped(word: &str) -> bool {
    let name = word.strip_prefix('/').unwrap_or_default();
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

fn no_command(word: &str) -> String {
    match misspelt(word, commands::NAMES.iter().copied()) {
        Some(near) => say::no_command_but(&word, &near),
        None => say::no_command(&word),
    }
}

/// Returns a message as it is sent: the backslash before the slash of its first word is not meant.
pub fn message(text: &str) -> &str {
    text.strip_prefix('\\').filter(|rest| rest.starts_with('/')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_of_the_screen_is_done_or_said_where_it_is_and_never_sent() {
        for name in commands::NAMES {
            for line in [name.to_string(), format!("{name} some words")] {
                let is_sent = read(&line) == TypedLine::Message;
                assert_eq!(is_sent, line == "/prompt some words", "{line}");
            }
        }
        for (name, _) in SHELL {
            assert!(commands::NAMES.contains(&name), "{name}");
        }
        assert!(matches!(read("!rm -r a"), TypedLine::Elsewhere(words) if words.contains("nebula run")));
    }

    #[test]
    fn words_alone_are_commands_and_sentences_are_messages() {
        let undo = |count, files: &[&str]| {
            let files = files.iter().map(|file| file.to_string()).collect();
            TypedLine::Send(Command::Restore(RestoreRequest::Undo { count, files }))
        };
        assert_eq!((read("undo"), read("/undo 2 a.rs")), (undo(1, &[]), undo(2, &["a.rs"])));
        assert_eq!((read("help"), read("/help"), read("exit")), (TypedLine::Help, TypedLine::Help, TypedLine::Quit));
        assert_eq!(read("/model"), TypedLine::List(Query::Models));
        assert!(matches!(read("/compact keep it"), TypedLine::Elsewhere(words) if words.contains("no words but undo")));
        assert_eq!(read("/resume 01a2"), TypedLine::Send(Command::Open(SessionChoice::Resume("01a2".into()))));
        for (word, near) in [("/foo", None), ("/modl gpt", Some("/model")), ("/helpp", None)] {
            let TypedLine::Elsewhere(words) = read(word) else { panic!("{word}") };
            assert!(words.contains("there is no command") && near.is_none_or(|near| words.contains(near)), "{words}");
        }
        assert_eq!((read("\\/foo"), message("\\/foo bar"), message("\\x")), (TypedLine::Message, "/foo bar", "\\x"));
        for sentence in ["undo the second hunk", "help me", "quit smoking", "/etc/hosts is wrong", "redo it"] {
            assert_eq!(read(sentence), TypedLine::Message, "{sentence}");
        }
    }
}
