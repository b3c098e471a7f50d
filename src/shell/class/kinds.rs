//! Classes of commands, the reasons for them, and the parts of a text.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use super::parse::Unknown;
use crate::shell::sandbox::Grant;
use crate::text::clean::clean_line;

/// The class of a command, from the least harmful to the most. The worst of its parts decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Class {
    /// It only reads.
    #[default]
    Read,
    /// It works in the workspace.
    Work,
    /// It removes or overwrites something there.
    Harm,
    /// It needs the network, or more than the workspace.
    Reach,
    /// No undo brings its effects back.
    Final,
}

impl Class {
    /// Returns `read`, `work`, `harm`, `reach` or `final`.
    pub fn word(self) -> &'static str {
        match self {
            Class::Read => "read",
            Class::Work => "work",
            Class::Harm => "harm",
            Class::Reach => "reach",
            Class::Final => "final",
        }
    }

    /// Returns what the sandbox of a command of this class allows.
    pub fn grant(self) -> Grant {
        match self {
            Class::Read => Grant::Read,
            Class::Work | Class::Harm => Grant::Workspace,
            Class::Reach | Class::Final => Grant::Online,
        }
    }
}

/// The reason why a part has its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reason {
    /// It is in the table of readers.
    #[default]
    Reads,
    /// It reads a file that usually holds keys.
    Secrets,
    /// It searches files among which are such, and may print lines of them.
    Searches,
    /// It runs a program that may write the workspace.
    Runs,
    /// It writes into a file.
    Writes,
    /// It sets a variable that changes what other programs do.
    Sets,
    /// It removes files.
    Removes,
    /// It overwrites files.
    Overwrites,
    /// It gives up states that git keeps.
    History,
    /// It needs the network.
    Network,
    /// It acts on other processes, services or users.
    Others,
    /// It writes outside the workspace.
    Outside,
    /// No undo brings its effects back.
    Final,
    /// Its text does not show what it does.
    Unclear,
}

impl Reason {
    /// Returns the reason in words.
    pub fn words(self) -> &'static str {
        match self {
            Reason::Reads => "only reads",
            Reason::Secrets => "reads a file that may hold keys",
            Reason::Searches => "searches files that may hold keys",
            Reason::Runs => "runs a program",
            Reason::Writes => "writes into a file",
            Reason::Sets => "sets what other programs go by",
            Reason::Removes => "removes files",
            Reason::Overwrites => "overwrites files",
            Reason::History => "gives up states that git keeps",
            Reason::Network => "needs the network",
            Reason::Others => "acts on other processes, services or users",
            Reason::Outside => "writes outside the workspace",
            Reason::Final => "cannot be undone by anyone",
            Reason::Unclear => "what it does is not seen from its text",
        }
    }
}

impl Unknown {
    /// Returns why a text is not understood, in words.
    pub fn words(&self) -> String {
        match self {
            Unknown::Syntax => "not every part of it is understood".into(),
            Unknown::Name => "the name of a program is known only when it runs".into(),
            Unknown::Meaning(what) => format!("{what} changes what the rest means"),
            Unknown::Hidden => "it holds hidden characters".into(),
            Unknown::Depth => "commands stand too deep within commands".into(),
        }
    }
}

/// The change of a path, if something is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// It is removed, with all below it.
    Removed(String),
    /// It is overwritten.
    Over(String),
    /// This, or what has the second one's name in it, is overwritten.
    Onto(String, String),
}

/// A simple command, wrappers taken off, and its class.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClassifiedCommand {
    /// Its text.
    pub text: String,
    /// Its class.
    pub class: Class,
    /// The reason.
    pub reason: Reason,
    /// Name and arguments; a word that is not known before it runs is none.
    pub words: Vec<Option<String>>,
    /// The pattern of each word that stands for the files of one.
    pub patterns: Vec<Option<String>>,
    /// The folder that it runs in; none: which one is not known.
    pub folder: Option<PathBuf>,
    /// It reads a file by redirection whose name is known only when it runs.
    pub opens: bool,
    /// The paths it would remove or overwrite.
    pub targets: Vec<Target>,
    /// True if its program's verb is known only when it runs: with the network it may be a final one.
    pub may_be_final: bool,
}

impl ClassifiedCommand {
    /// Returns whether every address among its words is one of this machine, and there is one.
    fn is_on_this_machine(&self) -> bool {
        let words = self.words.iter().skip(1).flatten().filter(|word| !word.starts_with('-'));
        let hosts = words.map(|word| word.split_once("://").map_or((false, word.as_str()), |(_, rest)| (true, rest)));
        let host = |rest: &str| rest.split(['/', '?']).next().unwrap_or_default().to_string();
        let is_own = |host: &str| {
            let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
            let name = name.map_or(host, |(name, _)| name);
            name == "localhost" || name == "[::1]" || name.starts_with("127.") && name.parse::<Ipv4Addr>().is_ok()
        };
        let found: Vec<(bool, bool)> = hosts.map(|(is_url, rest)| (is_url, is_own(&host(rest)))).collect();
        found.iter().any(|(_, own)| *own) && found.iter().all(|(is_url, own)| *own || !is_url)
    }
}

impl ClassifiedCommand {
    /// Returns whether a question about it ends with a rule that allows it.
    pub fn needs_rule(&self) -> bool {
        self.class > Class::Read || self.reason == Reason::Searches
    }
}

/// The files that usually hold keys which a search meets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchedKeys {
    /// It may print lines of this one, by its path in the workspace.
    Found(String),
    /// There are more files than could be looked at.
    Unseen,
}

/// The class of a text, and its parts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Assessment {
    /// The worst class of its parts.
    pub class: Class,
    /// Its parts, in their order.
    pub parts: Vec<ClassifiedCommand>,
    /// The reason why it is not understood, where it is not.
    pub unknown: Option<Unknown>,
    /// Programs, by their names, that run those of the parts.
    pub wrappers: Vec<String>,
    /// It may print a file that usually holds keys.
    pub secrets: bool,
    /// A part of it searches files that usually hold keys: the first.
    pub searched: Option<SearchedKeys>,
    /// A private file that it names and nothing keeps it from, or the word that may stand for one: the first.
    pub private: Option<String>,
    /// The files that it reads by redirection, each by its path as far as that is known; none: it is not.
    pub opened: Vec<Option<String>>,
    /// It holds arithmetic, which evaluates what variables hold.
    pub evaluates: bool,
    /// The files that it would change, as its text shows, and that act later without being read again: by their paths in
    /// the workspace, or after `…/` where the folder is not known.
    pub acts_later: Vec<String>,
    /// The other files that it would change, as its text shows, by their paths in the workspace.
    pub changes: Vec<String>,
    /// Words that it gives to programs which change what they are given.
    pub touched: Vec<TouchedPath>,
    /// The files that it would change, as its text and the disk show, and that `archiveExclude` leaves out: each path as it
    /// is listed, and the glob.
    pub excluded: Vec<(String, String)>,
    /// The reason why nothing keeps what it overwrites, where that is so though something should.
    pub unkept: Option<String>,
}

impl Assessment {
    /// Returns whether a part of it needs the network, as its text shows.
    pub fn needs_network(&self) -> bool {
        self.parts.iter().any(|part| part.reason == Reason::Network && !part.is_on_this_machine())
    }
}

/// A word that stands for paths a program may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TouchedPath {
    /// The folder that the program runs in.
    pub folder: PathBuf,
    /// The pattern of the paths.
    pub pattern: String,
    /// All that lies below a folder goes with it.
    pub with_content: bool,
}

/// The surroundings a command runs in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Around {
    /// The workspace's root.
    pub root: PathBuf,
    /// The folder it starts in.
    pub folder: PathBuf,
    /// The folders outside the root that are archived, too: those of `shell.write`.
    pub kept: Vec<PathBuf>,
}

/// Paths that are named in a sentence.
const NAMED: usize = 3;

/// Returns paths for a sentence, the first of them where there are many.
pub(super) fn named<'p>(paths: impl ExactSizeIterator<Item = &'p String>) -> String {
    let more = paths.len().saturating_sub(NAMED);
    let first = paths.take(NAMED).map(|path| clean_line(path).into_owned()).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{first} and {more} more") } else { first }
}

impl Assessment {
    /// Takes the worst class of the parts.
    pub(super) fn take_worst_class(&mut self) {
        let worst = |parts: &[ClassifiedCommand]| parts.iter().map(|part| part.class).max().unwrap_or_default();
        // With the network, what is not known before it runs may be what nobody can undo.
        if worst(&self.parts).grant() == Grant::Online {
            for part in self.parts.iter_mut().filter(|part| part.may_be_final) {
                (part.class, part.reason) = (Class::Final, Reason::Final);
            }
        }
        self.class = worst(&self.parts);
    }

    /// Returns the files that `archiveExclude` leaves out, the first of them where there are many, with the globs.
    pub fn excluded_words(&self) -> String {
        let globs: BTreeSet<&str> = self.excluded.iter().map(|(_, glob)| glob.as_str()).collect();
        let globs = globs.into_iter().collect::<Vec<_>>().join(", ");
        format!("{} (archiveExclude: {globs})", named(self.excluded.iter().map(|(path, _)| path)))
    }

    /// Takes what reaches addresses of this machine alone for work: the sandbox, which there has to be, lets it reach what
    /// the session's own commands serve.
    pub fn stay_on_this_machine(&mut self) {
        let is_local = |part: &&mut ClassifiedCommand| {
            part.class == Class::Reach && part.reason == Reason::Network && part.is_on_this_machine()
        };
        for part in self.parts.iter_mut().filter(is_local) {
            (part.class, part.reason) = (Class::Work, Reason::Runs);
        }
        self.take_worst_class();
    }

    /// Returns why the text has its class: the reason of its worst part.
    pub fn reason(&self) -> Reason {
        let worst = self.parts.iter().filter(|part| part.class == self.class);
        let reasons: Vec<Reason> = worst.map(|part| part.reason).collect();
        let mut of_keys = [Reason::Secrets, Reason::Searches].into_iter();
        of_keys.find(|reason| reasons.contains(reason)).or_else(|| reasons.first().copied()).unwrap_or_default()
    }
}
