//! Classes of commands: what a text would do, as far as that can be seen before it runs. Text and tables in, class out:
//! nothing here looks at the disk but [`disk`].
//!
//! A class decides how a command is asked for and what its sandbox allows. A text that is read wrongly can cost a prompt; it
//! cannot cost a file, because the kernel enforces the class.

pub mod disk;
mod inline;
mod kinds;
mod later;
mod options;
mod parse;
mod readers;
pub mod rules;
mod secrets;
mod tables;
mod unwrap;
mod word;

use std::ops::Range;
use std::path::{Component, Path, PathBuf};

pub use kinds::{Around, Assessment, Class, ClassifiedCommand, Reason, SearchedKeys, Target, TouchedPath};
pub use parse::Unknown;
use parse::{Redirect, SimpleCommand};
pub use parse::{document_lines, hidden};
pub use word::Word;

use crate::proposal::acts_later;

/// Wrappers within wrappers are taken off so often.
const DEEPEST: usize = 8;
/// Words of the grammar: as the name of a program, one was read wrongly.
const RESERVED: &[&str] = &[
    "{", "}", "!", "[[", "]]", "((", "))", "if", "then", "elif", "else", "fi", "for", "in", "do", "done", "while",
    "until", "select", "case", "esac", "function",
];
/// Wrappers that are the shell's own words.
const BUILT_IN: &[&str] = &["command", "builtin", "exec", "eval", "trap", "time"];
/// Variables that change how a text looks, and nothing else.
const HARMLESS: &[&str] =
    &["LANG", "TZ", "NO_COLOR", "COLUMNS", "LINES", "TERM", "CLICOLOR", "FORCE_COLOR", "GREP_COLORS"];
/// Devices that keep nothing, and the command's own output.
const NOWHERE: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/1", "/dev/fd/2"];

/// Returns what a text would do. `network`: it is asked to reach beyond this machine.
pub fn assess(text: &str, around: &Around, network: bool) -> Assessment {
    let (found, into) = (Assessment::default(), Some(PathBuf::new()));
    let mut reader =
        Reader { around, found, moved: false, into, is_apart: false, only_prints: false, written: Vec::new() };
    reader.text(text, 0);
    let Reader { mut found, written, .. } = reader;
    found.secrets |= secrets::is_named_in(&secrets::without(text, &written));
    if found.unknown.is_some() {
        found.parts.push(not_understood(text));
    }
    if network {
        let (text, class, reason) = ("network".into(), Class::Reach, Reason::Network);
        found.parts.push(ClassifiedCommand { text, class, reason, ..ClassifiedCommand::default() });
    }
    found.take_worst_class();
    found
}

/// Returns a text that is not understood: at least `harm`, and what any of its words would be.
fn not_understood(text: &str) -> ClassifiedCommand {
    let class = any_word(text).0.max(Class::Harm);
    let (text, reason) = (text.into(), Reason::Unclear);
    ClassifiedCommand { text, class, reason, words: vec![None], may_be_final: true, ..ClassifiedCommand::default() }
}

/// Returns the worst that any word of a text would be as the name of a program, with the words after it.
fn any_word(text: &str) -> (Class, Reason) {
    let inside = |c: char| c.is_alphanumeric() || "_-./:%+,".contains(c);
    let classes = |is_inside: &dyn Fn(char) -> bool| {
        let words: Vec<Word> = text.split(|c| !is_inside(c)).filter(|word| !word.is_empty()).map(Word::known).collect();
        let classes = (0..words.len()).map(|at| tables::class_of(&words[at..words.len().min(at + 12)]));
        classes.max_by_key(|(class, _)| *class).unwrap_or((Class::Work, Reason::Runs))
    };
    // `of=/dev/sda` is one word, `--exec=rm` is two.
    [classes(&inside), classes(&|c| inside(c) || c == '=')]
        .into_iter()
        .max_by_key(|(class, _)| *class)
        .unwrap_or((Class::Work, Reason::Runs))
}

struct Reader<'a> {
    around: &'a Around,
    found: Assessment,
    /// The folder may be another by now.
    moved: bool,
    /// The folder that it was changed to, from the one it starts in; none: which one is not known.
    into: Option<PathBuf>,
    /// The command that is read runs in a shell of its own.
    is_apart: bool,
    /// All commands of the text print their own words and read no file: what they write into is not read.
    only_prints: bool,
    /// The places of redirections that write into a named file, where all commands only print.
    written: Vec<Range<usize>>,
}

impl Reader<'_> {
    fn unknown(&mut self, why: Unknown) {
        self.found.unknown.get_or_insert(why);
    }

    fn text(&mut self, text: &str, depth: usize) {
        if depth > DEEPEST {
            return self.unknown(Unknown::Depth);
        }
        let script = parse::parse(text);
        self.found.evaluates |= script.evaluates;
        self.found.unknown = self.found.unknown.take().or(script.unknown);
        self.only_prints =
            depth == 0 && self.found.unknown.is_none() && script.commands.iter().all(secrets::only_prints);
        for command in script.commands {
            self.command(command, text, depth);
        }
    }

    fn command(&mut self, command: SimpleCommand, text: &str, depth: usize) {
        self.is_apart = command.is_apart || depth > 0;
        let only_writes =
            |redirect: &&Redirect| redirect.writes && self.only_prints && redirect.target.value().is_some();
        let (written, read): (Vec<_>, Vec<_>) = command.redirects.iter().partition(only_writes);
        let read = read.into_iter().map(|redirect| &redirect.target).chain(&command.listed);
        self.found.secrets |= read.into_iter().any(|word| secrets::may_name(word, ""));
        self.written.extend(written.into_iter().map(|redirect| redirect.place.clone()));
        for redirect in command.redirects.iter().filter(|redirect| redirect.writes) {
            redirect.target.value().inspect(|path| self.changes(path));
        }
        let opened = command.redirects.iter().filter(|redirect| !redirect.writes && !redirect.descriptor);
        let opened: Vec<&Word> = opened.map(|redirect| &redirect.target).collect();
        self.found.opened.extend(opened.iter().map(|target| self.opened(target)).collect::<Vec<_>>());
        let redirects: Vec<ClassifiedCommand> =
            command.redirects.iter().filter_map(|redirect| self.redirect(redirect, text)).collect();
        if let Some(name) = command.assigned.iter().find(|name| !is_harmless(name)) {
            let text = format!("{name}=…");
            self.push(text, Class::Work, Reason::Sets, &[]);
        }
        // What comes from another command is no file.
        let opens = opened.iter().any(|target| target.value().is_none() && !target.text.starts_with("/dev/fd/"));
        let begun = self.found.parts.len();
        if !command.words.is_empty() {
            self.words(&command.text, &command.words, command.has_document, depth);
        } else if opens {
            self.push(command.text.clone(), Class::Read, Reason::Reads, &[]);
        }
        self.found.parts[begun..].iter_mut().for_each(|part| part.opens |= opens);
        self.found.parts.extend(redirects);
    }

    /// Reads a simple command by its words; wrappers are taken off first.
    fn words(&mut self, text: &str, words: &[Word], has_document: bool, depth: usize) {
        if depth > DEEPEST {
            return self.unknown(Unknown::Depth);
        }
        let Some(name) = words.first() else { return };
        let Some(name) = name.value().map(str::to_string).filter(|name| !name.is_empty()) else {
            return self.unknown(Unknown::Name);
        };
        if RESERVED.contains(&name.as_str()) {
            return self.unknown(Unknown::Syntax);
        }
        let inner = unwrap::unwrap(words, has_document);
        if inner != unwrap::Inner::None {
            self.wrapper(text, &name, words);
        }
        match inner {
            unwrap::Inner::None => self.plain(text, &name, words),
            unwrap::Inner::Unknown(why) => self.unknown(why),
            unwrap::Inner::Text(inner) => self.text(&inner, depth + 1),
            unwrap::Inner::Words { own, assigned, inner } => {
                if assigned.iter().any(|name| !is_harmless(name)) {
                    self.push(text.into(), Class::Work, Reason::Sets, &[]);
                }
                if own {
                    self.plain(text, &name, words);
                }
                for words in inner {
                    let text = words.iter().map(word_text).collect::<Vec<_>>().join(" ");
                    self.words(&text, &words, has_document, depth + 1);
                }
            }
        }
    }

    /// Reads a program that runs another one. By its path it may be any program of the workspace's; by its name alone
    /// the one that is found first is looked at.
    fn wrapper(&mut self, text: &str, name: &str, words: &[Word]) {
        let system = ["/bin/", "/usr/bin/"].iter().any(|folder| name.strip_prefix(folder) == Some(tables::base(name)));
        match name.contains('/') {
            true if system => {}
            true => self.plain(text, name, words),
            false if BUILT_IN.contains(&name) => {}
            false => self.found.wrappers.push(name.into()),
        }
    }

    /// Reads a simple command that wraps nothing.
    fn plain(&mut self, text: &str, name: &str, words: &[Word]) {
        if ["cd", "pushd", "popd"].contains(&name) {
            self.moved = true;
            let folder = words.iter().skip(1).find(|word| word.text == "-" || !word.text.starts_with('-'));
            let folder = folder.and_then(Word::value).filter(|folder| !folder.starts_with(['-', '~']));
            // Where the shell that it runs in ends is not known here.
            let into = self.into.take().filter(|_| !self.is_apart);
            self.into = into.zip(folder).map(|(into, folder)| into.join(folder));
        }
        let (mut class, mut reason) = tables::class_of(words);
        if readers::asks_version(words) || class == Class::Work && readers::only_reads(words) {
            (class, reason) = (Class::Read, Reason::Reads);
        }
        if secrets::are_named(words) {
            self.found.secrets = true;
            reason = if class == Class::Read { Reason::Secrets } else { reason };
        }
        let runs = |table| tables::named(table, tables::base(name));
        if class != Class::Read && (class <= Class::Work && runs(tables::RUNNERS) || runs(tables::FETCHES_AND_RUNS)) {
            let inside = any_word(&inline::text(tables::base(name), words));
            (class, reason) = if inside.0 > class { inside } else { (class, reason) };
        }
        let targets = self.targets(name, words);
        let outside = targets.iter().any(|target| match target {
            Target::Removed(path) | Target::Over(path) | Target::Onto(path, _) => self.is_outside(path),
        });
        let writes = || later::written(name, words).iter().any(|path| self.is_outside(path));
        if class < Class::Final && (outside || class > Class::Read && writes()) {
            (class, reason) = (Class::Reach, Reason::Outside);
        }
        // Where it lands is known only when it runs.
        if class == Class::Work
            && ["mv", "cp"].contains(&tables::base(name))
            && (self.moved || !words.iter().all(|word| word.is_static))
        {
            (class, reason) = (Class::Harm, Reason::Overwrites);
        }
        if class > Class::Read {
            later::changed(name, words).iter().for_each(|path| self.changes(path));
            if let Some(into) = &self.into {
                let (folder, with_content) = (flat(&self.around.folder.join(into)), later::takes_content(name));
                let touched = |pattern| TouchedPath { folder: folder.clone(), pattern, with_content };
                self.found.touched.extend(later::patterns(name, words).into_iter().map(touched));
            }
        }
        let targets = if self.moved { Vec::new() } else { targets };
        self.push(text.into(), class, reason, words);
        if let Some(part) = self.found.parts.last_mut() {
            (part.targets, part.may_be_final) = (targets, tables::may_be_final(words));
        }
    }

    fn push(&mut self, text: String, class: Class, reason: Reason, words: &[Word]) {
        let patterns = words.iter().map(|word| word.pattern.clone()).collect();
        let words = words.iter().map(|word| word.value().map(str::to_string)).collect();
        let folder = self.into.as_ref().map(|into| flat(&self.around.folder.join(into)));
        let part = ClassifiedCommand { text, class, reason, words, patterns, folder, ..ClassifiedCommand::default() };
        self.found.parts.push(part);
    }

    /// Notes a file that a command would change, where it acts later. What lies in a folder that is not known is noted as
    /// no path of the workspace.
    fn changes(&mut self, path: &str) {
        let full = self.into.as_ref().map(|into| flat(&self.around.folder.join(into).join(path)));
        let inside = full.as_ref().and_then(|full| full.strip_prefix(&self.around.root).ok()?.to_str());
        match inside {
            Some(inside) if acts_later(inside) => self.found.acts_later.push(inside.to_string()),
            // The folder may not have been changed after all.
            _ if self.moved && acts_later(path) => self.found.acts_later.push(format!("…/{path}")),
            Some(inside) => self.found.changes.push(inside.to_string()),
            None => {}
        }
    }

    /// Returns the path of a file that is read by redirection; none: it is not known.
    fn opened(&self, target: &Word) -> Option<String> {
        let path = target.value()?;
        if path.starts_with(['/', '~']) {
            return Some(path.into());
        }
        let folder = self.around.folder.join(self.into.as_ref()?);
        folder.join(path).to_str().map(str::to_string)
    }

    /// Returns a redirection that writes a file.
    fn redirect(&self, redirect: &Redirect, text: &str) -> Option<ClassifiedCommand> {
        let known = redirect.target.value();
        let target = known.unwrap_or_default();
        // Bash opens connections under these names, to read them too.
        let connects = redirect.target.text.starts_with("/dev/tcp/") || redirect.target.text.starts_with("/dev/udp/");
        let part = |class, reason, targets| {
            let text = text.get(redirect.place.clone()).unwrap_or_default().to_string();
            Some(ClassifiedCommand { text, class, reason, targets, ..ClassifiedCommand::default() })
        };
        if connects {
            return part(Class::Reach, Reason::Network, Vec::new());
        }
        let descriptor =
            redirect.descriptor && (target == "-" || !target.is_empty() && target.bytes().all(|b| b.is_ascii_digit()));
        if !redirect.writes || descriptor || NOWHERE.contains(&target) {
            return None;
        }
        let over = vec![Target::Over(target.to_string())];
        match known {
            None => part(Class::Harm, Reason::Overwrites, Vec::new()),
            Some(path) if path.starts_with("/dev/") && !path.starts_with("/dev/shm/") => {
                part(Class::Final, Reason::Final, Vec::new())
            }
            Some(path) if self.is_outside(path) => part(Class::Reach, Reason::Outside, over),
            Some(_) if redirect.anew && self.moved => part(Class::Harm, Reason::Overwrites, Vec::new()),
            Some(_) if redirect.anew => part(Class::Work, Reason::Writes, over),
            Some(_) => part(Class::Work, Reason::Writes, Vec::new()),
        }
    }

    /// Returns the paths that a command would remove or overwrite, as far as they are known.
    fn targets(&self, name: &str, words: &[Word]) -> Vec<Target> {
        let operands: Vec<String> = words
            .iter()
            .skip(1)
            .filter(|word| !word.text.starts_with('-'))
            .filter_map(|word| word.value().map(str::to_string))
            .collect();
        match tables::base(name) {
            name if tables::is_remover(name) => operands.into_iter().map(Target::Removed).collect(),
            "sed" if tables::edits_in_place(&words[1..]) => {
                later::written(name, words).into_iter().map(Target::Over).collect()
            }
            "tee" | "truncate" | "touch" | "mkdir" | "chmod" => operands.into_iter().map(Target::Over).collect(),
            "mv" | "cp" | "ln" | "install" => match operands.split_last() {
                Some((last, from)) if !from.is_empty() => from
                    .iter()
                    .map(|from| Target::Onto(last.clone(), tables::base(from.trim_end_matches('/')).into()))
                    .collect(),
                _ => Vec::new(),
            },
            "time" => {
                let output = words.iter().position(|word| ["-o", "--output"].contains(&word.text.as_str()));
                let output = output.and_then(|at| words.get(at + 1)?.value());
                output.map(|path| Target::Over(path.into())).into_iter().collect()
            }
            "dd" => operands
                .iter()
                .filter_map(|word| word.strip_prefix("of="))
                .map(|path| Target::Over(path.into()))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Returns whether a path that is written lies neither in what is archived nor where any program keeps things for a
    /// while.
    fn is_outside(&self, path: &str) -> bool {
        if path.starts_with('~') {
            return true;
        }
        if self.moved && !path.starts_with('/') {
            return false;
        }
        let full = flat(&self.around.folder.join(path));
        let temporary =
            super::sandbox::TEMPORARY.iter().any(|folder| full.starts_with(folder) && full != Path::new(folder));
        let devices = NOWHERE.iter().any(|device| full == Path::new(device));
        let kept = self.around.kept.iter().any(|folder| full.starts_with(folder));
        !full.starts_with(&self.around.root) && !kept && !temporary && !devices
    }
}

/// Returns a word as it is shown.
fn word_text(word: &Word) -> String {
    match word.is_static {
        true if word.text.is_empty() || word.text.contains(char::is_whitespace) => format!("'{}'", word.text),
        true => word.text.clone(),
        false => format!("{}…", word.text),
    }
}

/// Variables in small letters are the text's own; those of the list change how output looks.
fn is_harmless(name: &str) -> bool {
    let own = !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b.is_ascii_digit());
    own && !name.ends_with("_proxy") && !name.starts_with("npm_config_")
        || HARMLESS.contains(&name)
        || name.starts_with("LC_")
}

/// Returns a path without `.` and `..`, by its text alone.
fn flat(path: &Path) -> PathBuf {
    let mut flat = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(flat.pop()),
            Component::CurDir => {}
            part => flat.push(part),
        }
    }
    flat
}

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod tests;
