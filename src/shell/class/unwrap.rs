//! Commands that run other commands: what they run.

use super::parse::Unknown;
use super::tables::base;
use super::word::Word;

/// The commands that a simple command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inner {
    /// Nothing but itself.
    None,
    /// Other simple commands.
    Words {
        /// True if the command that runs them acts itself too, so that it counts as a part of its own.
        own: bool,
        /// Variables that it sets for them.
        assigned: Vec<String>,
        /// Its commands.
        inner: Vec<Vec<Word>>,
    },
    /// A text.
    Text(String),
    /// Something that is known only when it runs.
    Unknown(Unknown),
}

/// Words that change what other words mean.
const CHANGE: &[&str] = &[
    "alias",
    "unalias",
    "shopt",
    "source",
    ".",
    "enable",
    "hash",
    "bind",
    "complete",
    "coproc",
    "function",
    "mapfile",
    "readarray",
    "fc",
    "history",
    "caller",
    "let",
];
/// Shells that are given a text.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "yash"];
/// Wrappers, their options with a value of their own, and how many operands stand before the command.
const WRAPPERS: &[(&str, &[&str], usize)] = &[
    ("nice", &["-n", "--adjustment"], 0),
    ("nohup", &[], 0),
    ("time", &["-f", "-o", "--format", "--output"], 0),
    ("timeout", &["-k", "-s", "--kill-after", "--signal"], 1),
    ("gtimeout", &["-k", "-s", "--kill-after", "--signal"], 1),
    ("stdbuf", &["-i", "-o", "-e", "--input", "--output", "--error"], 0),
    ("setsid", &[], 0),
    ("ionice", &["-c", "-n", "-p", "--class", "--classdata"], 0),
    ("builtin", &[], 0),
    ("exec", &["-a"], 0),
    ("watch", &["-n", "--interval"], 0),
    ("sudo", &["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "--user", "--group"], 0),
    ("doas", &["-u", "-C"], 0),
];
/// Options of `xargs` with a value.
const XARGS: &[&str] = &[
    "-n",
    "-P",
    "-L",
    "-d",
    "-a",
    "-s",
    "-E",
    "--max-args",
    "--max-procs",
    "--max-lines",
    "--delimiter",
    "--arg-file",
];

/// Returns what a simple command runs. `has_document`: what it reads as input stands in the text.
pub fn unwrap(words: &[Word], has_document: bool) -> Inner {
    let Some(name) = words.first().and_then(Word::value).map(base) else { return Inner::Unknown(Unknown::Name) };
    let arguments = &words[1..];
    match name {
        name if CHANGE.contains(&name) => Inner::Unknown(Unknown::Meaning(name.into())),
        name if SHELLS.contains(&name) => shell(name, arguments, has_document),
        "eval" => text_of(arguments.strip_prefix(&[Word::known("--")]).unwrap_or(arguments), "eval"),
        "trap" => match arguments.iter().find(|word| !word.text.starts_with('-') || !word.is_static) {
            Some(action) => text_of(std::slice::from_ref(action), "trap"),
            None => Inner::None,
        },
        "env" => env(arguments),
        "command"
            if arguments
                .iter()
                .take_while(|word| word.text.starts_with('-'))
                .any(|word| ["-v", "-V"].contains(&word.text.as_str())) =>
        {
            Inner::None
        }
        "command" => wrapper("command", arguments, &[], 0),
        "xargs" => xargs(arguments),
        "find" => find(arguments),
        "fd" | "fdfind" => fd(arguments),
        "flock" => flock(arguments),
        "git" if arguments.windows(2).any(|pair| is_alias(&pair[0], &pair[1])) => {
            Inner::Unknown(Unknown::Meaning("git -c alias".into()))
        }
        "watch" => watch(arguments),
        name => match WRAPPERS.iter().find(|(wrapper, ..)| *wrapper == name) {
            Some((wrapped, valued, operands)) => wrapper(wrapped, arguments, valued, *operands),
            None => Inner::None,
        },
    }
}

/// Returns a text that is given as words; it must be known.
fn text_of(words: &[Word], name: &str) -> Inner {
    match words.iter().map(Word::value).collect::<Option<Vec<_>>>() {
        Some(words) => Inner::Text(words.join(" ")),
        None => Inner::Unknown(Unknown::Meaning(name.into())),
    }
}

/// Skips options, those of `valued` with what follows them; none: an option is not known.
fn after_options<'a>(arguments: &'a [Word], valued: &[&str]) -> Option<&'a [Word]> {
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        match word.value() {
            None if word.may_be_option() => return None,
            Some("--") => return arguments.get(at + 1..),
            Some(text) if valued.contains(&text) => at += 2,
            Some(text) if text.starts_with('-') && text.len() > 1 => at += 1,
            _ => break,
        }
    }
    Some(arguments.get(at..).unwrap_or_default())
}

fn wrapper(name: &str, arguments: &[Word], valued: &[&str], operands: usize) -> Inner {
    let Some(rest) = after_options(arguments, valued) else { return Inner::Unknown(Unknown::Name) };
    // `sudo` and its like act as someone else, whatever they run; `time` writes what it measured where it is told to.
    let writes = |word: &Word| {
        let text = word.text.as_str();
        text.starts_with("--o") || text.starts_with("--a") || text.starts_with('-') && text.contains(['o', 'a'])
    };
    let own = ["sudo", "doas"].contains(&name)
        || name == "time" && arguments.iter().take(arguments.len() - rest.len()).any(writes);
    let assigned: Vec<String> =
        rest.iter().take_while(|word| own && assignment(word).is_some()).filter_map(assignment).collect();
    match rest.get(operands + assigned.len()..) {
        Some(inner) if !inner.is_empty() => Inner::Words { own, assigned, inner: vec![inner.to_vec()] },
        _ => Inner::None,
    }
}

fn assignment(word: &Word) -> Option<String> {
    let (name, _) = word.text.split_once('=')?;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name.then(|| name.to_string())
}

fn env(arguments: &[Word]) -> Inner {
    let Some(mut rest) = after_options(arguments, &["-u", "--unset", "-C", "--chdir"]) else {
        return Inner::Unknown(Unknown::Name);
    };
    // Options may be shortened, joined and given texts to split: only those that are known pass.
    let options = &arguments[..arguments.len() - rest.len()];
    let mut at = 0;
    while let Some(option) = options.get(at).and_then(Word::value) {
        at += match option {
            "-u" | "--unset" | "-C" | "--chdir" => 2,
            "-" | "--" | "-i" | "-0" | "-v" | "--ignore-environment" | "--null" | "--debug" => 1,
            option if option.starts_with("--unset=") || option.starts_with("--chdir=") => 1,
            _ => return Inner::Unknown(Unknown::Meaning("env".into())),
        };
    }
    // `env - CMD` starts without any variable.
    rest = rest.strip_prefix(&[Word::known("-")]).unwrap_or(rest);
    let mut assigned = Vec::new();
    while let Some((name, after)) = rest.split_first().and_then(|(first, after)| Some((assignment(first)?, after))) {
        assigned.push(name);
        rest = after;
    }
    // In another folder, relative paths are others.
    let moves = arguments.iter().any(|word| word.text.starts_with("-C") || word.text.starts_with("--ch"));
    match rest.is_empty() {
        true if assigned.is_empty() => Inner::None,
        true => Inner::Words { own: false, assigned, inner: Vec::new() },
        false if moves => {
            Inner::Words { own: false, assigned, inner: vec![vec![Word::known("cd"), Word::unknown()], rest.to_vec()] }
        }
        false => Inner::Words { own: false, assigned, inner: vec![rest.to_vec()] },
    }
}

/// Reads `sh -c TEXT`; a script is a program like any other; without either, what comes as input is run.
fn shell(name: &str, arguments: &[Word], has_document: bool) -> Inner {
    let version = arguments.len() == 1 && arguments[0].text == "--version";
    if version {
        return Inner::None;
    }
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        match word.value() {
            None if word.may_be_option() => return Inner::Unknown(Unknown::Name),
            Some(text) if text.starts_with('-') && !text.starts_with("--") && text.contains('c') => {
                // Options may stand between, too.
                let Some(rest) = after_options(&arguments[at + 1..], &["-o", "-O", "+o", "+O"]) else {
                    return Inner::Unknown(Unknown::Name);
                };
                return match rest.first() {
                    Some(text) => text_of(std::slice::from_ref(text), name),
                    None => Inner::None,
                };
            }
            Some("-s" | "-") => return Inner::Unknown(Unknown::Meaning(name.into())),
            Some("-o" | "-O" | "+o" | "+O") => at += 2,
            // Others read files, or are given a text.
            Some(text)
                if text.starts_with("--") && !["--", "--login", "--norc", "--noprofile", "--posix"].contains(&text) =>
            {
                return Inner::Unknown(Unknown::Meaning(name.into()));
            }
            Some(text) if text.starts_with(['-', '+']) => at += 1,
            // A script: of a file that the text itself makes, nothing is known.
            _ if word.text.starts_with("/dev/") || word.text.starts_with("/proc/") => {
                return Inner::Unknown(Unknown::Meaning(name.into()));
            }
            _ => return if has_document { Inner::Unknown(Unknown::Meaning(name.into())) } else { Inner::None },
        }
    }
    Inner::Unknown(Unknown::Meaning(name.into()))
}

/// Returns whether two words give a part of git another meaning.
fn is_alias(option: &Word, value: &Word) -> bool {
    let (option, value) = (option.text.as_str(), value.text.as_str());
    option.starts_with("--config-env=alias.") || ["-c", "--config-env"].contains(&option) && value.starts_with("alias.")
}

/// Reads `flock LOCK CMD…`, or `flock LOCK -c TEXT`.
fn flock(arguments: &[Word]) -> Inner {
    let valued = ["-w", "-E", "--timeout", "--wait", "--conflict-exit-code"];
    let Some((_, rest)) = after_options(arguments, &valued).and_then(<[Word]>::split_first) else {
        return Inner::Unknown(Unknown::Name);
    };
    match rest {
        [option, text @ ..] if ["-c", "--command"].contains(&option.text.as_str()) => text_of(text, "flock"),
        [] => Inner::None,
        words => Inner::Words { own: false, assigned: Vec::new(), inner: vec![words.to_vec()] },
    }
}

fn watch(arguments: &[Word]) -> Inner {
    let Some(rest) = after_options(arguments, &["-n", "--interval"]) else { return Inner::Unknown(Unknown::Name) };
    match rest.is_empty() {
        true => Inner::None,
        false => text_of(rest, "watch"),
    }
}

/// Commands of `xargs` get further words that nobody knows.
fn xargs(arguments: &[Word]) -> Inner {
    let Some(rest) = after_options(arguments, XARGS) else { return Inner::Unknown(Unknown::Name) };
    // `-I MARK` and `-i`: each word that holds the mark is another.
    let options = &arguments[..arguments.len() - rest.len()];
    let mark = replaced(options, rest);
    // The names in a file may be those of all files.
    let is_of_file = options.iter().any(|word| match word.text.strip_prefix("--") {
        Some(name) => name.starts_with('a'),
        // Letters stand together, and the last has a value: `-0aLIST`.
        None => word.text.starts_with('-') && word.text.contains('a'),
    });
    let replaces = mark.is_some();
    let rest = match arguments.iter().position(|word| word.text == "-I") {
        Some(at) if at + 2 <= arguments.len() && rest.len() == arguments.len() - at - 1 => &rest[1..],
        _ => rest,
    };
    let Some((name, words)) = rest.split_first() else { return Inner::None };
    let holds = |word: &Word| mark.as_ref().is_some_and(|mark| word.text.contains(mark.as_str()));
    let unsure = |word: &Word| if holds(word) { Word::unknown() } else { word.clone() };
    let name = if replaces && (holds(name) || !is_name(&name.text)) { Word::unknown() } else { name.clone() };
    let inner = std::iter::once(name).chain(words.iter().map(unsure)).chain([Word::unknown()]).collect();
    let listing = is_of_file.then(|| vec![Word::known("find")]);
    Inner::Words { own: false, assigned: Vec::new(), inner: listing.into_iter().chain([inner]).collect() }
}

/// Returns the mark that `xargs` replaces in each word; the empty one, which every word holds, where it is not known.
fn replaced(options: &[Word], rest: &[Word]) -> Option<String> {
    let at = options.iter().position(|word| word.text.starts_with("-I") || word.text.starts_with("-i"));
    if let Some(at) = at {
        let own = options[at].text.get(2..).unwrap_or_default();
        return Some(match (own, options[at].is_static, options[at].text.starts_with("-I")) {
            (_, false, _) => String::new(),
            ("", true, true) => options.get(at + 1).or(rest.first()).and_then(Word::value).unwrap_or_default().into(),
            ("", true, false) => "{}".into(),
            (mark, true, _) => mark.into(),
        });
    }
    let long = options.iter().find_map(|word| word.text.strip_prefix("--replace"))?;
    Some(long.strip_prefix('=').map_or_else(|| "{}".into(), str::to_string))
}

fn is_name(text: &str) -> bool {
    text.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'/' || b == b'.')
}

/// Reads `fd -x` and `-X`: what follows runs for what was found, up to a semicolon.
fn fd(arguments: &[Word]) -> Inner {
    let runs = |word: &Word| {
        let is_short = word.text.starts_with('-') && !word.text.starts_with("--");
        is_short && word.text.contains(['x', 'X']) || word.text.starts_with("--exec")
    };
    let mut inner = Vec::new();
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        at += 1;
        if !runs(word) {
            continue;
        }
        let attached = word.text.split_once(if word.text.starts_with("--") { &['='][..] } else { &['x', 'X'] });
        let attached = attached.map(|(_, name)| name.trim_start_matches('=')).filter(|name| !name.is_empty());
        let begun = at;
        while arguments.get(at).is_some_and(|word| word.text != ";") {
            at += 1;
        }
        let words = attached.map(Word::known).into_iter().chain(arguments[begun..at].iter().cloned());
        let found = |word: Word| if word.text.contains('{') { Word::unknown() } else { word };
        let words: Vec<Word> = words.map(found).collect();
        inner.extend(Some([words, vec![Word::unknown()]].concat()).filter(|words| words.len() > 1));
    }
    match inner.is_empty() {
        true => Inner::None,
        false => Inner::Words { own: true, assigned: Vec::new(), inner },
    }
}

/// Reads `find -exec`, `-execdir`, `-ok`: each runs a command for what was found.
fn find(arguments: &[Word]) -> Inner {
    let mut inner = Vec::new();
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        at += 1;
        if !word.is_static && word.splits && word.may_be_option() && word.text.is_empty() {
            return Inner::Unknown(Unknown::Name);
        }
        if !["-exec", "-execdir", "-ok", "-okdir"].contains(&word.text.as_str()) {
            continue;
        }
        let begun = at;
        while arguments.get(at).is_some_and(|word| word.text != ";" && !(word.text == "+" && at > begun)) {
            at += 1;
        }
        let found = |word: &Word| {
            if word.text.contains("{}") { Word { text: "./".into(), ..Word::default() } } else { word.clone() }
        };
        inner.push(arguments[begun..at].iter().map(found).collect());
    }
    match inner.is_empty() {
        true => Inner::None,
        false => Inner::Words { own: true, assigned: Vec::new(), inner },
    }
}
