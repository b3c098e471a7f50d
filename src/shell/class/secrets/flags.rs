//! The options of searching programs, as they are given.

use std::path::Path;

use super::super::options::{GivenOptions, ValuedOptions, given};
use super::pattern::{PatternSyntax, expressions};

/// Stands for the option of files that are searched: like the others below, it has no letter of its own.
pub const INCLUDE: char = '\u{1}';
/// Stands for the option of files that are left out.
pub const EXCLUDE: char = '\u{2}';
/// Stands for the option of folders that are left out.
pub const EXCLUDE_FOLDER: char = '\u{3}';
/// Stands for the options that change kinds of files.
pub const OWN_TYPE: char = '\u{4}';
/// Stands for the option of a file with forms of what is left out.
pub const EXCLUDE_FROM: char = '\u{5}';
/// Stands for the option of a glob without regard to case.
pub const IGLOB: char = '\u{6}';
/// Stands for the option of the engine that reads patterns.
const ENGINE: char = '\u{7}';
/// Options with which the lines of a file are not those that match, or patterns are read in another way.
const OTHER_LINES: &[&str] = &[
    "invert-match",
    // The files without a match are listed.
    "files-without-match",
    "null-data",
    "multiline",
    "multiline-dotall",
    "passthru",
    "passthrough",
    "not",
    "encoding",
    "no-unicode",
];

/// Lists the options with a value of a program that searches lines, those that all have first.
macro_rules! valued {
    ($($option:expr),* $(,)?) => {
        &[
            ('e', "regexp"),
            ('f', "file"),
            ('m', "max-count"),
            ('A', "after-context"),
            ('B', "before-context"),
            ('C', "context"),
            $($option),*
        ]
    };
}

/// The options of `grep`, and of `git grep`.
const GREP: ValuedOptions = ValuedOptions {
    valued: valued![
        ('d', "directories"),
        ('D', "devices"),
        ('\0', "label"),
        ('\0', "binary-files"),
        (INCLUDE, "include"),
        (EXCLUDE, "exclude"),
        (EXCLUDE_FROM, "exclude-from"),
        (EXCLUDE_FOLDER, "exclude-dir"),
        ('\0', "group-separator"),
        ('\0', "max-depth"),
        ('\0', "threads"),
    ],
    ends: None,
    whole: false,
};
const RG: ValuedOptions = ValuedOptions {
    valued: valued![
        ('E', "encoding"),
        ('M', "max-columns"),
        ('T', "type-not"),
        ('d', "max-depth"),
        ('\0', "maxdepth"),
        ('g', "glob"),
        (IGLOB, "iglob"),
        ('j', "threads"),
        ('r', "replace"),
        ('t', "type"),
        (OWN_TYPE, "type-add"),
        (OWN_TYPE, "type-clear"),
        ('\0', "ignore-file"),
        ('\0', "color"),
        ('\0', "colors"),
        ('\0', "context-separator"),
        ('\0', "dfa-size-limit"),
        (ENGINE, "engine"),
        ('\0', "field-context-separator"),
        ('\0', "field-match-separator"),
        ('\0', "hostname-bin"),
        ('\0', "hyperlink-format"),
        ('\0', "max-filesize"),
        ('\0', "path-separator"),
        ('\0', "pre"),
        ('\0', "pre-glob"),
        ('\0', "regex-size-limit"),
        ('\0', "sort"),
        ('\0', "sortr"),
    ],
    ends: None,
    whole: true,
};
const DIFF: ValuedOptions = ValuedOptions {
    valued: &[
        (EXCLUDE, "exclude"),
        ('x', "exclude"),
        (EXCLUDE_FROM, "exclude-from"),
        ('X', ""),
        ('S', "starting-file"),
        ('I', "ignore-matching-lines"),
        ('F', "show-function-line"),
        // Their long names take a value in the same word only.
        ('U', ""),
        ('C', ""),
        ('W', "width"),
    ],
    ends: None,
    whole: false,
};
const LS: ValuedOptions = ValuedOptions {
    valued: &[
        ('I', "ignore"),
        ('w', "width"),
        ('T', "tabsize"),
        ('\0', "hide"),
        ('\0', "block-size"),
        ('\0', "format"),
        ('\0', "sort"),
        ('\0', "time"),
        ('\0', "time-style"),
        ('\0', "indicator-style"),
        ('\0', "quoting-style"),
    ],
    ends: None,
    whole: false,
};
const GIT_FILES: ValuedOptions = ValuedOptions {
    valued: &[
        ('x', "exclude"),
        ('X', "exclude-from"),
        ('\0', "exclude-per-directory"),
        ('\0', "with-tree"),
        ('\0', "format"),
    ],
    ends: None,
    whole: false,
};
/// Lists the options with a value of a part of `git` that prints changes, those that all have first.
macro_rules! git_changes {
    ($($option:expr),* $(,)?) => {
        ValuedOptions {
            valued: &[
                ('S', ""),
                ('G', ""),
                ('O', ""),
                ('l', ""),
                ('I', "ignore-matching-lines"),
                ('\0', "anchored"),
                ('\0', "find-object"),
                ('\0', "diff-filter"),
                ('\0', "output"),
                ('\0', "line-prefix"),
                ('\0', "src-prefix"),
                ('\0', "dst-prefix"),
                ('\0', "skip-to"),
                ('\0', "rotate-to"),
                ('\0', "word-diff-regex"),
                $($option),*
            ],
            ends: None,
            whole: false,
        }
    };
}
const GIT_DIFF: ValuedOptions = git_changes![];
const GIT_LOG: ValuedOptions = git_changes![
    ('n', "max-count"),
    ('L', ""),
    ('\0', "skip"),
    ('\0', "since"),
    ('\0', "after"),
    ('\0', "until"),
    ('\0', "before"),
    ('\0', "author"),
    ('\0', "committer"),
    ('\0', "grep"),
    ('\0', "date"),
];
/// The parts of `git` that print what a history did to files where they are asked for it.
const OF_HISTORY: &[&str] = &[
    "git log",
    "git show",
    "git whatchanged",
    "git reflog",
    "git stash list",
    "git stash show",
    "git diff-tree",
    "git diff-index",
    "git diff-files",
    "git format-patch",
    "git range-diff",
    "git fast-export",
];
/// The parts among them that print it unasked.
const PATCHES: &[&str] = &["git show", "git format-patch", "git range-diff", "git fast-export"];
/// A program of which no option with a value is known.
const OTHER: ValuedOptions = ValuedOptions { valued: &[], ends: None, whole: false };

/// The options of a searching program, as they are given.
pub struct SearchFlags {
    /// The name of the program, with the part of `git`.
    name: String,
    /// The options and operands.
    pub given: GivenOptions,
    options: ValuedOptions,
    /// An option, or the value of one, is known only when it runs.
    is_unknown: bool,
    /// Such a value stands in a word of its own, a name is cut short that may be another's, or the program's options with a
    /// value are not known: what the options leave out is not known, nor which words are operands.
    pub is_unsure: bool,
}

impl SearchFlags {
    /// Reads the arguments of a program, each with whether it is known; none: it is no search.
    pub fn of(name: &str, arguments: &[&str], is_known: impl Fn(usize) -> bool) -> Option<SearchFlags> {
        let options = match name {
            "grep" | "egrep" | "fgrep" | "rgrep" | "git grep" => GREP,
            "rg" => RG,
            "diff" => DIFF,
            "ls" => LS,
            "git ls-files" => GIT_FILES,
            "git diff" => GIT_DIFF,
            _ if OF_HISTORY.contains(&name) => GIT_LOG,
            "ag" | "ack" | "fd" | "fdfind" => OTHER,
            _ => return None,
        };
        let given = given(arguments, options);
        let unknown = |place: &usize| !is_known(*place) && !given.operands.contains(place);
        let unknown: Vec<usize> = (0..arguments.len()).filter(unknown).collect();
        // Braces make several words of one, each with its own sign.
        let is_apart = |place: &usize| {
            let text = arguments[*place];
            !text.starts_with(['-', '!']) || text.contains('{') && text.contains('!')
        };
        let (is_unknown, is_unsure) = (!unknown.is_empty(), unknown.iter().any(is_apart));
        let mut flags = SearchFlags { name: name.to_string(), given, options, is_unknown, is_unsure };
        flags.is_unsure |= flags.is_cut_short() || options.valued.is_empty();
        Some(flags)
    }

    /// Returns whether a name was taken for the beginning of one with a value, and may be another's.
    fn is_cut_short(&self) -> bool {
        let known = |is: &dyn Fn(&str) -> bool| self.options.valued.iter().any(|(_, known)| is(known));
        let is_cut = |name: &String| known(&|known| self.options.means(name, known)) && !known(&|known| known == name);
        self.given.names.iter().any(is_cut)
    }

    /// Returns the values of the option of a letter.
    pub fn values(&self, letter: char) -> impl Iterator<Item = &str> {
        self.given.values.iter().filter(move |(own, _)| *own == letter).map(|(_, value)| value.as_str())
    }

    /// Returns whether one of these letters is given.
    pub fn short(&self, letters: &[char]) -> bool {
        self.given.letters.iter().any(|letter| letters.contains(letter))
    }

    /// Returns whether one of these names is given; one letter means several options.
    pub fn long(&self, names: &[&str]) -> bool {
        let means = |given: &String| given.len() > 1 && names.iter().any(|name| self.options.means(given, name));
        self.given.names.iter().any(means)
    }

    /// Returns whether it compares files, or prints what a history did to them.
    pub fn compares(&self) -> bool {
        self.name.ends_with("diff") || self.is_of_history()
    }

    fn is_of_history(&self) -> bool {
        OF_HISTORY.contains(&self.name.as_str())
    }

    /// Returns whether the first operand is what it searches for, as no option says that.
    pub fn has_pattern(&self) -> bool {
        !self.compares() && self.values('e').chain(self.values('f')).next().is_none()
    }

    /// Returns whether the program goes down the folders that it is given, and meets hidden files there.
    pub fn goes_below(&self, folder: &Path) -> bool {
        let recurses = |action: &str| "recurse".starts_with(action);
        match self.name.as_str() {
            "diff" => self.short(&['r']) || self.long(&["recursive"]),
            "git grep" => self.long(&["no-index", "no-exclude-standard", "untracked", "recurse-submodules"]),
            // Outside a repository it compares what is there.
            _ if self.is_of_history() => false,
            "git diff" => self.long(&["no-index"]) || !folder.ancestors().any(|folder| folder.join(".git").exists()),
            "rg" | "rgrep" | "ack" => true,
            "ag" => self.short(&['u']) || self.long(&["unrestricted", "hidden"]),
            _ => {
                self.short(&['r', 'R'])
                    || self.long(&["recursive", "dereference-recursive"])
                    || self.is_cut_short()
                    || self.values('d').any(recurses)
            }
        }
    }

    /// Returns whether it leaves out what git ignores.
    pub fn goes_by_git(&self) -> bool {
        match self.name.as_str() {
            "git grep" => !self.long(&["no-index", "no-exclude-standard"]),
            "git ls-files" => {
                !self.short(&['o', 'i']) && !self.long(&["others", "ignored"]) || self.excludes_standard()
            }
            "fd" | "fdfind" => {
                let is_rule = |name: &String| name.starts_with("no-ignore");
                !self.short(&['I', 'u']) && !self.long(&["unrestricted"]) && !self.given.names.iter().any(is_rule)
            }
            _ => false,
        }
    }

    fn excludes_standard(&self) -> bool {
        // Cut short, the name may be that of another option.
        let is_given = self.given.names.iter().any(|name| name == "exclude-standard");
        is_given && !self.short(&['i']) && !self.long(&["ignored"])
    }

    /// Returns whether the program goes down the folders that links lead to.
    pub fn follows_links(&self) -> bool {
        match self.name.as_str() {
            "diff" => true,
            "rg" => self.is_unsure || self.short(&['L']) || self.long(&["follow"]),
            "fd" | "fdfind" | "ls" => self.short(&['L']) || self.long(&["follow", "dereference"]),
            "ag" | "ack" => self.short(&['f']) || self.long(&["follow"]),
            _ => self.short(&['R']) || self.long(&["dereference-recursive"]),
        }
    }

    /// Returns whether a `git diff` prints lines of files that git tracks.
    pub fn compares_tracked(&self) -> bool {
        self.name == "git diff" && !self.long(&["no-index"]) && (!self.lists_changes() || self.is_patch())
    }

    /// Returns whether the options of a `git diff` may have it compare with a revision.
    pub fn compares_staged(&self) -> bool {
        self.is_unsure || self.is_unknown || self.long(&["cached", "staged", "merge-base"])
    }

    /// Returns whether it prints lines that a history has of files.
    pub fn prints_history(&self) -> bool {
        let prints = PATCHES.contains(&self.name.as_str()) && !self.lists_changes() && !self.short(&['s']);
        self.is_of_history()
            && (prints
                || self.is_cut_short()
                || self.is_patch()
                || self.short(&['c'])
                || self.long(&["cc", "dd", "remerge-diff"]))
    }

    fn is_patch(&self) -> bool {
        self.short(&['p', 'u', 'U', 'W'])
            || self.long(&["patch", "unified", "patch-with-stat", "patch-with-raw", "binary", "function-context"])
    }

    fn lists_changes(&self) -> bool {
        self.long(&["stat", "numstat", "shortstat", "dirstat", "summary", "raw", "quiet"])
            || self.long(&["name-only", "name-status", "compact-summary", "no-patch"])
    }

    /// Returns whether a program that lists names, and prints no lines, lists those of hidden files.
    pub fn lists_hidden(&self) -> bool {
        match self.name.as_str() {
            "rg" => self.long(&["files"]),
            "git ls-files" => true,
            "fd" | "fdfind" => self.short(&['H', 'u']) || self.long(&["hidden", "unrestricted"]),
            // With all that a long listing says, a line is no name.
            "ls" => !self.short(&['l']) && (self.short(&['a', 'A', 'f']) || self.long(&["all", "almost-all"])),
            _ => false,
        }
    }

    /// Returns whether `rg` searches hidden files: twice `-u` means that too.
    pub fn searches_hidden(&self) -> bool {
        let unrestricted = self.given.letters.iter().filter(|letter| **letter == 'u').count()
            + self.given.names.iter().filter(|name| *name == "unrestricted").count();
        unrestricted > 1 || self.short(&['.']) || self.long(&["hidden"])
    }

    /// Returns the expressions of what is searched for; none: that is not known, or other lines are printed. `first` is
    /// the first operand.
    pub fn expressions(&self, first: Option<&str>) -> Option<Vec<String>> {
        let others = if self.name == "rg" { &['v', 'U', 'E'][..] } else { &['v', 'z', 'f', 'X', 'L'] };
        let is_other = self.compares() || ["ag", "ack"].contains(&self.name.as_str());
        let is_file = self.values('f').next().is_some();
        if is_other || is_file || self.is_unknown || self.is_unsure || self.short(others) || self.long(OTHER_LINES) {
            return None;
        }
        let patterns: Vec<&str> = if self.has_pattern() { vec![first?] } else { self.values('e').collect() };
        let pairs =
            self.syntaxes().into_iter().flat_map(|syntax| patterns.iter().map(move |pattern| (*pattern, syntax)));
        let all: Option<Vec<Vec<String>>> = pairs.map(|(pattern, syntax)| expressions(pattern, syntax)).collect();
        all.map(|all| all.concat())
    }

    /// Returns the syntaxes in one of which the patterns are read.
    fn syntaxes(&self) -> Vec<PatternSyntax> {
        use PatternSyntax::{Basic, Extended, Fixed, Modern, Perl};
        let has = |letter: char, name: &str| self.short(&[letter]) || self.long(&[name]);
        let is_perl = has('P', "perl-regexp") || self.long(&["pcre2"]) || self.values(ENGINE).next().is_some();
        let is_modern = self.long(&["no-fixed-strings", "no-pcre2"]);
        let given = [
            (Fixed, self.name == "fgrep" || has('F', "fixed-strings")),
            (Extended, self.name == "egrep" || has('E', "extended-regexp")),
            (Basic, has('G', "basic-regexp")),
            (Perl, is_perl),
            (Modern, is_modern),
        ];
        let given: Vec<PatternSyntax> = given.into_iter().filter(|(_, is)| *is).map(|(syntax, _)| syntax).collect();
        match self.name.as_str() {
            _ if !given.is_empty() => given,
            "rg" => vec![Modern],
            // Git's configuration says which.
            "git grep" => vec![Basic, Extended, Fixed, Perl],
            _ => vec![Basic],
        }
    }
}
