//! Parses the typed words of a command or of a prompt, and explains in one line what is wrong with them.

use std::ffi::OsString;

use clap::error::ErrorKind;

use super::args::{Cli, Cmd, Global, ModelArgs, SESSION};
use super::out;
use super::print::USAGE;
use crate::config::FORMATS;
use crate::edit::Format;
use crate::messages::commands::NAMES;
use crate::text::distance::misspelt;

/// Parses the command line. Ends the program with help, the version, or what is wrong with it.
pub fn parse() -> Cli {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    if let Some(cli) = plain(&words) {
        return cli;
    }
    let program = std::env::args_os().take(1);
    let words = whole(apart(joined(words.into_iter())));
    let cli = match <Cli as clap::Parser>::try_parse_from(program.chain(words.iter().cloned())) {
        Ok(cli) => cli,
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                print_help(std::env::args_os().take(1).chain(words))
            }
            ErrorKind::DisplayVersion => error.exit(),
            _ => usage(&in_one_line(&error.render().to_string(), words.iter().find(|word| is_command(word)))),
        },
    };
    let quoted = std::env::args_os().any(|word| word == "--");
    if let Some(wrong) = wrong(&cli, quoted) {
        usage(&wrong);
    }
    cli
}

/// Prints the help that the words ask for, and ends the program.
fn print_help(words: impl Iterator<Item = OsString>) -> ! {
    let mut command = <Cli as clap::CommandFactory>::command();
    // Flags of all commands are known to each only once they are built.
    command.build();
    for command in command.get_subcommands_mut() {
        let shown = session_flags(command.get_name());
        hide_session_flags(command, shown);
    }
    match command.try_get_matches_from(words) {
        Err(help) => help.exit(),
        Ok(_) => std::process::exit(0),
    }
}

/// Returns the flags of a session that count for a command; none: all of them.
fn session_flags(command: &str) -> Option<&'static [&'static str]> {
    match command {
        "task" | "chat" => None,
        "commit" => Some(&["provider", "model", "effort", "record", "replay"]),
        "model" | "doctor" => Some(&["provider", "model"]),
        "undo" => Some(&["resume"]),
        "patch" => Some(&["format"]),
        _ => Some(&[]),
    }
}

/// Hides in the help of a command, and of the commands below it, the flags of a session but the `shown` ones.
fn hide_session_flags(command: &mut clap::Command, shown: Option<&[&str]>) {
    let Some(shown) = shown else { return };
    let hidden = |arg: &clap::Arg| arg.get_help_heading() == Some(SESSION) && !shown.contains(&arg.get_id().as_str());
    *command = std::mem::take(command).mut_args(|arg| if hidden(&arg) { arg.hide(true) } else { arg });
    for below in command.get_subcommands_mut() {
        hide_session_flags(below, Some(shown));
    }
}

/// Returns what the table of arguments cannot tell is wrong; `quoted`: the prompt stands after `--` and is meant as it
/// is.
fn wrong(cli: &Cli, quoted: bool) -> Option<String> {
    if let [word] = cli.prompt.as_slice()
        && !quoted
        && let Some(near) = meant_command(word).or_else(|| meant_elsewhere(word))
    {
        let how = format!("for a prompt of one word type: nebula -- {word}");
        return Some(format!("there is no command {word}; did you mean {near}? If not, {how}"));
    }
    if let [word, id] = cli.prompt.as_slice()
        && !quoted
        && word == "resume"
        && is_id(id)
    {
        return Some(format!("there is no command resume; did you mean --resume {id}?"));
    }
    if let Some(Cmd::Model(ModelArgs { name: Some(name), .. })) = &cli.command
        && (name.trim().is_empty()
            || name.starts_with('-')
            || NO_MODELS.iter().chain(&MODEL_LISTINGS).any(|word| word == name))
    {
        return Some(format!("{name:?} is no model: `nebula model` lists them"));
    }
    // After `sessions export` the flag of this name is the file's format.
    let format = cli.global.format.as_deref().filter(|_| !matches!(cli.command, Some(Cmd::Sessions { .. })));
    let unknown = format.filter(|name| !FORMATS.contains(name) && Format::parse(name).is_none())?;
    Some(format!("there is no edit format {unknown}: use one of {}", FORMATS.join(", ")))
}

/// Says what is wrong with what was typed, and ends the program.
fn usage(what: &str) -> ! {
    out::complain(what);
    std::process::exit(USAGE.into())
}

/// Returns what clap says in paragraphs as one line: what is wrong, what was probably meant, where to read on. The
/// `command` is what was typed, for where clap does not say it.
fn in_one_line(text: &str, command: Option<&OsString>) -> String {
    let mut paragraphs = text.split("\n\n").map(|p| p.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut line = paragraphs.next().unwrap_or_default().trim_start_matches("error: ").to_string();
    let mut help = command.map_or_else(|| "nebula".into(), |word| format!("nebula {}", word.to_string_lossy()));
    for paragraph in paragraphs {
        if let Some(tip) = paragraph.strip_prefix("tip: ") {
            line.push_str(&format!("; {tip}"));
        } else if let Some(usage) = paragraph.strip_prefix("Usage: ") {
            let command = usage.split(' ').skip(1).take_while(|word| word.bytes().all(|b| b.is_ascii_lowercase()));
            help = std::iter::once("nebula").chain(command).collect::<Vec<_>>().join(" ");
        }
    }
    format!("{line}; `{help} --help` shows the options")
}

/// Returns the two starts of every day, read without the table of all commands, which takes longer to set up than they
/// do.
fn plain(words: &[OsString]) -> Option<Cli> {
    let go_on = match words {
        [] => false,
        [word] if word == "--continue" => true,
        _ => return None,
    };
    Some(Cli { global: Global { go_on, ..Global::default() }, command: None, prompt: Vec::new() })
}

/// Returns the global flags that take a value, as they are typed.
fn valued_flags() -> Vec<String> {
    let takes_one = |arg: &&clap::Arg| {
        arg.get_action().takes_values() && arg.get_num_args().is_none_or(|number| number.min_values() > 0)
    };
    let flags = <Global as clap::Args>::augment_args(clap::Command::new("nebula"));
    flags.get_arguments().filter(takes_one).filter_map(|arg| Some(format!("--{}", arg.get_long()?))).collect()
}

/// Returns the arguments with the values of global flags joined to them (`--format=patch`): a value may read like a
/// command, and a word that reads like a command is one. What stands after `--` or `strand` is left as it is.
fn joined(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let is_value = |next: &OsString| !next.as_encoded_bytes().starts_with(b"-");
    let valued_flags = valued_flags();
    let mut args = args.peekable();
    let mut joined: Vec<OsString> = Vec::new();
    while let Some(mut arg) = args.next() {
        if arg == "--" || arg == "strand" {
            joined.push(arg);
            joined.extend(args);
            break;
        }
        let valued = valued_flags.iter().any(|flag| arg == flag.as_str());
        // The id is optional: a command after the flag is a command.
        let resume = arg == "--resume";
        if let Some(value) = args.next_if(|n| is_value(n) && (valued || resume && !is_command(n))) {
            arg.push("=");
            arg.push(value);
        }
        joined.push(arg);
    }
    joined
}

/// Returns the arguments with a prompt kept together: where the first word is no command, no later one is, so that a
/// sentence such as `fix the undo` never runs one. `help` shows help, alone or before a command.
fn apart(args: Vec<OsString>) -> Vec<OsString> {
    let is_word = |arg: &OsString| !arg.as_encoded_bytes().starts_with(b"-");
    let first = args.iter().position(|arg| is_word(arg) || arg == "--");
    let Some(first) = first.filter(|at| args[*at] != "--" && !is_command(&args[*at])) else { return args };
    if args[first] == "help" && args.get(first + 1).is_none_or(is_command) {
        let mut with_help = args;
        with_help.remove(first);
        with_help.push("--help".into());
        return with_help;
    }
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let (words, mut flags): (Vec<_>, Vec<_>) = args[..end].iter().cloned().partition(is_word);
    flags.push("--".into());
    flags.extend(words);
    flags.extend(args.into_iter().skip(end + 1));
    flags
}

/// The commands that list where nothing stands behind them, and the word that says so.
const LISTINGS: [(&str, &str); 3] = [("sessions", "list"), ("config", "get"), ("rag", "list")];

/// The words that ask for the list of models where a model's name may stand.
const MODEL_LISTINGS: [&str; 3] = ["list", "ls", "show"];

/// Other words that name no model.
const NO_MODELS: [&str; 2] = ["help", "none"];

/// Returns the arguments in which a command that stands alone is told to list, and in which `model list` is `model`.
fn whole(mut args: Vec<OsString>) -> Vec<OsString> {
    if args.iter().any(|arg| ["--", "--help", "-h"].iter().any(|flag| arg == flag)) {
        return args;
    }
    let is_word = |arg: &&OsString| !arg.as_encoded_bytes().starts_with(b"-");
    let words: Vec<&OsString> = args.iter().filter(is_word).collect();
    let Some(at) = args.iter().position(|arg| is_word(&arg)) else { return args };
    match words[..] {
        [command] => {
            if let Some((_, list)) = LISTINGS.iter().find(|(name, _)| command == name) {
                args.insert(at + 1, list.into());
            }
        }
        [command, word] if command == "model" && MODEL_LISTINGS.iter().any(|list| word == list) => {
            let list = word.clone();
            args.retain(|arg| *arg != list);
        }
        _ => {}
    }
    args
}

fn is_command(word: &OsString) -> bool {
    commands().iter().any(|name| word == name.as_str())
}

/// Returns the names of the commands.
fn commands() -> Vec<String> {
    let command = <Cli as clap::CommandFactory>::command();
    command.get_subcommands().map(|c| c.get_name().to_string()).collect()
}

/// Returns the command that a single word was probably meant as. A short word such as `hi` or `test` is a prompt.
fn meant_command(word: &str) -> Option<String> {
    let is_one = word.chars().count() >= 4 && word.is_ascii() && !word.contains(' ');
    let names = commands();
    is_one.then(|| misspelt(word, names.iter().map(String::as_str)))?.map(str::to_string)
}

/// Returns whether a word reads as an id of a session, or the beginning of one.
fn is_id(word: &str) -> bool {
    let is_part = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b) || b == b'-';
    word.len() >= 6 && word.bytes().all(is_part) && word.bytes().any(|b| b.is_ascii_digit())
}

/// Returns the flag, or the command of the screen, that a single word is the name of.
fn meant_elsewhere(word: &str) -> Option<String> {
    let flags = <Global as clap::Args>::augment_args(clap::Command::new("nebula"));
    if flags.get_arguments().any(|flag| flag.get_long() == Some(word)) {
        return Some(format!("--{word}"));
    }
    let name = if word == "login" { "connect" } else { word };
    let on_screen = |command: &&&str| command.strip_prefix('/') == Some(name);
    NAMES.iter().find(on_screen).map(|command| format!("{command} on the screen"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_belong_to_the_flags_that_take_them() {
        let flags = valued_flags();
        assert!(["--model", "--effort", "--replay"].iter().all(|flag| flags.iter().any(|f| f == flag)), "{flags:?}");
        assert!(!["--resume", "--continue", "--plain"].iter().any(|flag| flags.iter().any(|f| f == flag)), "{flags:?}");
    }

    #[test]
    fn what_cannot_be_meant_is_reported_in_one_line() {
        let error_of = |words: &[&str]| {
            let error =
                <Cli as clap::Parser>::try_parse_from(std::iter::once(&"nebula").chain(words)).expect_err("refused");
            in_one_line(&error.render().to_string(), words.first().map(OsString::from).as_ref())
        };
        assert_eq!(
            error_of(&["undo", "--frob"]),
            "unexpected argument '--frob' found; to pass '--frob' as a value, use '-- --frob'; \
             `nebula undo --help` shows the options"
        );
        assert!(
            error_of(&["shi"])
                .starts_with("the following required arguments were not provided: <FILES>...; `nebula shi")
        );
        assert!(
            error_of(&["task", "--approve", "x", "hi"])
                .ends_with("[possible values: ask, edits, review, all, none]; `nebula task --help` shows the options")
        );
        let typed = |words: &[&str]| {
            let cli = <Cli as clap::Parser>::try_parse_from(std::iter::once(&"nebula").chain(words)).expect("read");
            wrong(&cli, words.contains(&"--"))
        };
        assert!(
            typed(&["task", "hi", "--format", "toolz"]).expect("wrong").starts_with("there is no edit format toolz")
        );
        for format in FORMATS {
            assert_eq!(typed(&["task", "hi", "--format", format]), None);
        }
        assert_eq!(typed(&["sessions", "export", "x", "--format", "html"]), None);
        assert!(typed(&["histori"]).expect("wrong").contains("did you mean history?"));
        assert!(typed(&["histroy"]).expect("wrong").contains("did you mean history?"));
        for (word, near) in [
            ("resume", "--resume"),
            ("continue", "--continue"),
            ("login", "/connect on the screen"),
            ("connect", "/connect on the screen"),
            ("context", "/context on the screen"),
            ("compact", "/compact on the screen"),
            ("models", "model"),
        ] {
            let says = typed(&[word]).unwrap_or_default();
            assert!(says.starts_with(&format!("there is no command {word}; did you mean {near}?")), "{word}: {says}");
            assert_eq!(typed(&["--", word]), None, "{word}");
        }
        for name in ["", " ", "help", "none"] {
            assert!(typed(&["model", name]).is_some(), "{name}");
        }
        assert_eq!(typed(&["model", "gpt-4.1"]), None);
        for prompt in [&["--", "histori"][..], &["hi"], &["why"], &["test"], &["start"]] {
            assert_eq!(typed(prompt), None, "{prompt:?}");
        }
    }

    #[test]
    fn the_plain_starts_are_read_as_by_the_table() {
        for words in [&[][..], &["--continue"]] {
            let full = <Cli as clap::Parser>::try_parse_from(std::iter::once("nebula").chain(words.iter().copied()));
            let plain = plain(&words.iter().map(Into::into).collect::<Vec<_>>());
            assert_eq!(format!("{:?}", plain.expect("plain")), format!("{:?}", full.expect("read")));
        }
        assert!(plain(&["task".into()]).is_none() && plain(&["--continue".into(), "--help".into()]).is_none());
    }

    #[test]
    fn a_word_of_a_prompt_is_no_command() {
        let read = |line: &str| {
            let words = apart(joined(line.split(' ').map(OsString::from)));
            <Cli as clap::Parser>::try_parse_from(std::iter::once(OsString::from("nebula")).chain(words))
        };
        for (line, prompt) in [
            ("fix the undo", "fix the undo"),
            ("please redo --model x", "please redo"),
            ("--continue please prune -- --yes", "please prune --yes"),
            ("help me with the patch", "help me with the patch"),
            ("--resume 0198 go undo it", "go undo it"),
        ] {
            let cli = read(line).unwrap_or_else(|e| panic!("{line}: {e}"));
            assert_eq!((cli.prompt.join(" "), cli.command.is_none()), (prompt.to_string(), true), "{line}");
        }
        assert!(matches!(read("--model x undo").map(|c| c.command), Ok(Some(Cmd::Files(_)))));
        assert!(matches!(read("--resume task go").map(|c| c.command), Ok(Some(Cmd::Task(_)))));
        for line in ["help", "help undo", "undo --help"] {
            assert_eq!(read(line).expect_err("help").kind(), ErrorKind::DisplayHelp, "{line}");
        }
        let flag = read("please redo --yes").expect_err("no flag of a prompt");
        assert_eq!(flag.kind(), ErrorKind::UnknownArgument);
    }

    #[test]
    fn a_command_that_stands_alone_lists() {
        let read = |line: &str| {
            let words = whole(apart(joined(line.split(' ').map(OsString::from))));
            words.into_iter().map(|word| word.into_string().expect("text")).collect::<Vec<_>>().join(" ")
        };
        for (line, meant) in [
            ("sessions", "sessions list"),
            ("sessions --json", "sessions list --json"),
            ("--workspace x config --json", "--workspace=x config get --json"),
            ("rag", "rag list"),
            ("model list --json", "model --json"),
            ("--provider list model ls", "--provider=list model"),
        ] {
            assert_eq!(read(line), meant, "{line}");
        }
        for line in ["sessions --help", "sessions show x", "config path", "mcp", "model gpt-4.1", "model -- list"] {
            assert_eq!(read(line), line, "{line}");
        }
    }

    #[test]
    fn a_value_that_reads_like_a_command_is_a_value() {
        let parse = |words: &[&str]| {
            let words = std::iter::once(&"nebula").chain(words).map(OsString::from);
            <Cli as clap::Parser>::try_parse_from(joined(words)).unwrap_or_else(|e| panic!("{e}"))
        };
        let cli = parse(&["--format", "patch", "--model", "demo"]);
        assert_eq!((cli.global.format.as_deref(), cli.command.is_none()), (Some("patch"), true));
        let cli = parse(&["patch", "--format", "patch", "-"]);
        assert!(matches!(cli.command, Some(Cmd::Files(_))) && cli.global.format.as_deref() == Some("patch"));
        assert!(matches!(parse(&["--continue", "task", "fix it"]).command, Some(Cmd::Task(_))));
        #[cfg(feature = "strand")]
        {
            let Some(Cmd::Strand { args }) = parse(&["strand", "view", "--format", "x"]).command else { panic!() };
            assert_eq!(args, ["view", "--format", "x"]);
        }
        assert_eq!(parse(&["--", "--format", "x"]).prompt, ["--format", "x"]);
        let none =
            <Cli as clap::Parser>::try_parse_from(joined(["nebula", "--format"].map(OsString::from).into_iter()));
        assert!(none.is_err());
    }
}
