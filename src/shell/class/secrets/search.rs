//! Searches that may print lines of a file which usually holds keys, though nothing names it.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::Instant;

use globset::{GlobBuilder, GlobMatcher};
use ignore::types::{Types, TypesBuilder};

use super::super::disk::pattern::expand;
use super::super::options::{GivenOptions, ValuedOptions, given};
use super::super::{Around, Assessment, ClassifiedCommand, Reason, SearchedKeys, TouchedPath, flat, tables};
use super::listing::FindListing;
use super::pattern::{PatternSyntax, expressions};
use crate::workspace::search::may_match;
use crate::workspace::{Ignores, holds_secrets};

/// The letters that stand for options without one.
const INCLUDE: char = '\u{1}';
const EXCLUDE: char = '\u{2}';
const EXCLUDE_FOLDER: char = '\u{3}';
const OWN_TYPE: char = '\u{4}';
/// Programs that print what the files hold which they are given, whole or by patterns of their own.
const PRINTERS: &str = "\
    cat tac head tail nl sed awk gawk mawk cut tr sort uniq od hexdump xxd strings fold rev fmt paste jq yq bat batcat \
    less more base64 diff cmp";
/// Options with which the lines of a file are not those that match.
const OTHER_LINES: &[&str] =
    &["invert-match", "null-data", "multiline", "multiline-dotall", "passthru", "not", "encoding"];
/// The options of `grep`, and of `git grep`, that take a value.
const GREP: ValuedOptions = ValuedOptions {
    valued: &[
        ('e', "regexp"),
        ('f', "file"),
        ('m', "max-count"),
        ('A', "after-context"),
        ('B', "before-context"),
        ('C', "context"),
        ('d', "directories"),
        ('D', "devices"),
        ('\0', "label"),
        ('\0', "binary-files"),
        (INCLUDE, "include"),
        (EXCLUDE, "exclude"),
        ('\0', "exclude-from"),
        (EXCLUDE_FOLDER, "exclude-dir"),
        ('\0', "group-separator"),
        ('\0', "max-depth"),
        ('\0', "threads"),
    ],
    ends: None,
    whole: false,
};
const RG: ValuedOptions = ValuedOptions {
    valued: &[
        ('e', "regexp"),
        ('f', "file"),
        ('m', "max-count"),
        ('A', "after-context"),
        ('B', "before-context"),
        ('C', "context"),
        ('E', "encoding"),
        ('M', "max-columns"),
        ('T', "type-not"),
        ('d', "max-depth"),
        ('\0', "maxdepth"),
        ('g', "glob"),
        ('g', "iglob"),
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
        ('\0', "engine"),
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
        ('X', "exclude-from"),
        ('S', "starting-file"),
        ('I', "ignore-matching-lines"),
        ('F', "show-function-line"),
        ('U', "unified"),
        ('C', "context"),
        ('W', "width"),
    ],
    ends: None,
    whole: false,
};

/// Marks the parts that may print lines of such a file, as they search the folder it lies in or are given what a `find`
/// lists. Folders are looked at until then.
pub fn look_below(found: &mut Assessment, around: &Around, until: Instant) {
    let is_find = |part: &&ClassifiedCommand| name(part) == "find";
    let lists: Vec<FindListing> = found
        .parts
        .iter()
        .filter(is_find)
        .map(|part| FindListing::of(&texts(part)[1..], folder(part, around)))
        .collect();
    for part in found.parts.iter_mut().filter(|part| part.reason != Reason::Secrets) {
        if let Some(keys) = met(part, &lists, around, until) {
            part.reason = Reason::Searches;
            found.searched.get_or_insert(keys);
        }
    }
}

/// Returns what a part meets of such files.
fn met(part: &ClassifiedCommand, lists: &[FindListing], around: &Around, until: Instant) -> Option<SearchedKeys> {
    let search = KeySearch::of(part, around, until);
    let is_fed =
        part.words.iter().zip(&part.patterns).skip(1).any(|(word, pattern)| word.is_none() && pattern.is_none());
    let prints = search.is_some() || tables::named(PRINTERS, name(part));
    let fed: &[FindListing] = if is_fed && prints { lists } else { &[] };
    let searched = search.as_ref().filter(|search| search.is_below).into_iter();
    let searched = searched.flat_map(|search| &search.starts).map(|start| (start.as_path(), None));
    let listed = fed.iter().flat_map(|list| list.starts().map(move |start| (start, Some(list))));
    for (start, list) in searched.chain(listed) {
        let skips = |name: &str| list.is_none() && search.as_ref().is_some_and(|search| search.skips(name));
        let Some(files) = key_files(start, skips, until) else { return Some(SearchedKeys::Unseen) };
        let finds = |search: &KeySearch, path: &Path| search.selects(path, list.is_some()) && search.finds(path);
        let prints = |path: &&PathBuf| {
            list.is_none_or(|list| list.lists(path)) && search.as_ref().is_none_or(|search| finds(search, path))
        };
        if let Some(path) = files.iter().find(prints) {
            let path = path.strip_prefix(&around.root).unwrap_or(path);
            return Some(SearchedKeys::Found(path.to_string_lossy().into_owned()));
        }
    }
    None
}

fn name(part: &ClassifiedCommand) -> &str {
    part.words.first().and_then(Option::as_deref).map(tables::base).unwrap_or_default()
}

fn folder<'p>(part: &'p ClassifiedCommand, around: &'p Around) -> &'p Path {
    part.folder.as_deref().filter(|folder| folder.is_dir()).unwrap_or(&around.folder)
}

/// Returns the words of a part; the pattern of one that stands for files, and `.` for one that is not known.
fn texts(part: &ClassifiedCommand) -> Vec<&str> {
    let pattern = |at: usize| part.patterns.get(at).and_then(Option::as_deref);
    let words = part.words.iter().enumerate();
    words.map(|(at, word)| word.as_deref().or_else(|| pattern(at)).unwrap_or(".")).collect()
}

/// A search, as its words show it.
struct KeySearch {
    /// It is one of `rg`: what it is given is searched whatever its name, and a form of a folder is of all in it.
    is_of_rg: bool,
    /// It goes down the folders in which it starts.
    is_below: bool,
    /// The files and folders in which it starts.
    starts: Vec<PathBuf>,
    /// The folder that it runs in.
    folder: PathBuf,
    /// The forms of what is searched, or is not; the last that fits decides.
    globs: Vec<(bool, GlobMatcher)>,
    /// The forms of folders that are left out.
    left_out: Vec<GlobMatcher>,
    /// True if files that no form fits are searched.
    takes_others: bool,
    /// The kinds of files that are searched.
    types: Option<Types>,
    /// The files that git ignores, where they are left out.
    ignores: Option<Ignores>,
    /// The expressions of which a line matches one; none: any line may be printed.
    expressions: Option<Vec<String>>,
}

impl KeySearch {
    /// Reads a part; none: it is no search.
    fn of(part: &ClassifiedCommand, around: &Around, until: Instant) -> Option<KeySearch> {
        let words = texts(part);
        let (mut arguments, mut at) = (words.get(1..)?, 1);
        let (mut name, mut folder) = (name(part).to_string(), folder(part, around).to_path_buf());
        if name == "git" {
            let (own, rest) = arguments.split_at(tables::git_options(arguments));
            let (part, rest) = rest.split_first()?;
            folder.extend(own.windows(2).filter(|pair| pair[0] == "-C").map(|pair| pair[1]));
            at += own.len() + 1;
            (name, arguments) = (format!("git {part}"), rest);
        }
        let options = match name.as_str() {
            "grep" | "egrep" | "fgrep" | "git grep" => GREP,
            "rg" => RG,
            "diff" | "git diff" => DIFF,
            _ => return None,
        };
        let flags = SearchFlags { given: given(arguments, options), options };
        if name == "rg" && flags.long(&["files", "type-list"]) {
            return None;
        }
        let is_known = |place: usize| part.words.get(at + place).is_some_and(Option::is_some);
        let is_diff = name.ends_with("diff");
        // The first operand of the others is what they search for, where no option says that.
        let is_given = flags.given.values.iter().any(|(letter, _)| matches!(letter, 'e' | 'f'));
        let patterns = usize::from(!is_diff && !is_given);
        let first = flags.given.operands.first().filter(|place| is_known(**place)).map(|place| arguments[*place]);
        let expressions = if is_diff { None } else { flags.expressions(&name, first) };
        let operands = flags.given.operands.iter().skip(patterns);
        let paths = operands.flat_map(|place| match is_known(*place) {
            true => vec![folder.join(arguments[*place])],
            false => expanded(&folder, arguments[*place], until),
        });
        let mut starts: Vec<PathBuf> = paths.map(|path| flat(&path)).filter(|path| path.exists()).collect();
        if starts.is_empty() {
            // None is named, or what was taken for one is the value of an option that is not known here.
            starts.push(folder.clone());
        }
        let mut search = KeySearch {
            is_of_rg: name == "rg",
            is_below: flags.goes_below(&name, &folder),
            starts,
            folder,
            globs: Vec::new(),
            left_out: Vec::new(),
            takes_others: true,
            types: None,
            ignores: None,
            expressions,
        };
        search.take_filters(&flags, around);
        Some(search)
    }

    /// Takes in what leaves files out.
    fn take_filters(&mut self, flags: &SearchFlags, around: &Around) {
        for (letter, value) in &flags.given.values {
            let (form, is_wanted) = match (*letter, value.strip_prefix('!')) {
                (INCLUDE, _) => (value.as_str(), true),
                (EXCLUDE | 'x', _) => (value.as_str(), false),
                ('g', Some(form)) if self.is_of_rg => (form, false),
                ('g', None) if self.is_of_rg => (value.as_str(), true),
                (EXCLUDE_FOLDER, _) => {
                    self.left_out.extend(glob(value));
                    continue;
                }
                _ => continue,
            };
            // Only `rg` reads braces and folders in such a form: what would leave out less there leaves out nothing here.
            let is_plain = self.is_of_rg || !form.contains(['{', '/']);
            self.globs.extend(glob(form).filter(|_| is_wanted || is_plain).map(|glob| (is_wanted, glob)));
        }
        let wants = |(is_wanted, _): &(bool, GlobMatcher)| *is_wanted;
        if !self.is_of_rg {
            self.takes_others = !self.globs.first().is_some_and(wants);
            return;
        }
        let wants_some = self.globs.iter().any(wants);
        self.takes_others = !wants_some && flags.searches_hidden();
        let of_type = |letter: char| flags.given.values.iter().filter(move |(own, _)| *own == letter);
        let mut types = TypesBuilder::new();
        types.add_defaults();
        for (_, kind) in of_type('t') {
            types.select(kind);
        }
        if of_type('t').next().is_some() && of_type(OWN_TYPE).next().is_none() {
            self.types = types.build().ok();
        }
        self.is_below = self.takes_others || wants_some || self.types.is_some();
        let is_repository = self.folder.ancestors().any(|folder| folder.join(".git").exists());
        if is_repository && !flags.ignores_nothing() {
            self.ignores = Some(Ignores::new(&around.root));
        }
    }

    /// Returns whether a folder of this name is left out.
    fn skips(&self, name: &str) -> bool {
        self.left_out.iter().any(|glob| glob.is_match(name))
    }

    /// Returns whether a file that it meets, or that it is given, is searched.
    fn selects(&self, path: &Path, is_given: bool) -> bool {
        if is_given && self.is_of_rg {
            return true;
        }
        let name = path.file_name().map(PathBuf::from).unwrap_or_default();
        let inside = path.strip_prefix(&self.folder).unwrap_or(path);
        let fits = |glob: &GlobMatcher| {
            let mut above = inside.ancestors().skip(1).filter_map(Path::file_name);
            let is_above = self.is_of_rg && above.any(|name| glob.is_match(name));
            is_above || glob.is_match(&name) || glob.is_match(inside)
        };
        let is_ignored = |ignores: &Ignores| {
            let mut above = inside.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
            ignores.leaves_out(path, false) || above.any(|above| ignores.leaves_out(&self.folder.join(above), true))
        };
        match self.globs.iter().rfind(|(_, glob)| fits(glob)) {
            Some((is_wanted, _)) => *is_wanted,
            None if self.ignores.as_ref().is_some_and(is_ignored) => false,
            None => self.types.as_ref().map_or(self.takes_others, |types| types.matched(path, false).is_whitelist()),
        }
    }

    /// Returns whether it may print lines of a file that it searches.
    fn finds(&self, path: &Path) -> bool {
        self.expressions.as_ref().is_none_or(|expressions| may_match(path, expressions))
    }
}

/// The options of a searching program, as they are given.
struct SearchFlags {
    given: GivenOptions,
    options: ValuedOptions,
}

impl SearchFlags {
    fn short(&self, letters: &[char]) -> bool {
        self.given.letters.iter().any(|letter| letters.contains(letter))
    }

    /// Returns whether one of these names is given; one letter means several options.
    fn long(&self, names: &[&str]) -> bool {
        let means = |given: &String| given.len() > 1 && names.iter().any(|name| self.options.means(given, name));
        self.given.names.iter().any(means)
    }

    /// Returns whether the program goes down the folders that it is given.
    fn goes_below(&self, name: &str, folder: &Path) -> bool {
        let recurses = |(letter, action): &(char, String)| *letter == 'd' && "recurse".starts_with(action.as_str());
        match name {
            "diff" => self.short(&['r']) || self.long(&["recursive"]),
            // What git ignores is searched like all else.
            "git grep" => self.long(&["no-index", "no-exclude-standard"]),
            // Outside a repository it compares what is there.
            "git diff" => self.long(&["no-index"]) || !folder.ancestors().any(|folder| folder.join(".git").exists()),
            "rg" => true,
            _ => {
                self.short(&['r', 'R'])
                    || self.long(&["recursive", "dereference-recursive"])
                    || self.given.values.iter().any(recurses)
            }
        }
    }

    /// Returns whether `rg` searches hidden files: twice `-u` means that too.
    fn searches_hidden(&self) -> bool {
        let unrestricted = self.given.letters.iter().filter(|letter| **letter == 'u').count()
            + self.given.names.iter().filter(|name| *name == "unrestricted").count();
        unrestricted > 1 || self.short(&['.']) || self.long(&["hidden"])
    }

    /// Returns whether `rg` may search what git ignores.
    fn ignores_nothing(&self) -> bool {
        let names = &self.given.names;
        self.short(&['u']) || names.iter().any(|name| name == "unrestricted" || name.starts_with("no-ignore"))
    }

    /// Returns the expressions of what is searched for; none: that is not known, or other lines are printed. `first` is
    /// the first operand.
    fn expressions(&self, name: &str, first: Option<&str>) -> Option<Vec<String>> {
        let values = |letter: char| self.given.values.iter().filter(move |(own, _)| *own == letter);
        let others = if name == "rg" { &['v', 'U', 'E'][..] } else { &['v', 'z', 'f'] };
        let is_file = values('f').next().is_some();
        if is_file || self.short(others) || self.long(OTHER_LINES) {
            return None;
        }
        let syntax = match name {
            _ if name == "fgrep" || self.short(&['F']) || self.long(&["fixed-strings"]) => PatternSyntax::Fixed,
            "rg" => PatternSyntax::Modern,
            _ if self.short(&['P']) || self.long(&["perl-regexp"]) => PatternSyntax::Modern,
            _ if name == "egrep" || self.short(&['E']) || self.long(&["extended-regexp"]) => PatternSyntax::Extended,
            _ => PatternSyntax::Basic,
        };
        let mut given = values('e').map(|(_, pattern)| pattern.as_str()).peekable();
        let patterns: Vec<&str> = if given.peek().is_some() { given.collect() } else { vec![first?] };
        let all: Option<Vec<Vec<String>>> = patterns.into_iter().map(|pattern| expressions(pattern, syntax)).collect();
        all.map(|all| all.concat())
    }
}

/// Returns the paths that an operand which is not known stands for.
fn expanded(folder: &Path, pattern: &str, until: Instant) -> Vec<PathBuf> {
    let touched = TouchedPath { folder: folder.to_path_buf(), pattern: pattern.into(), with_content: false };
    expand(&touched, until).collect()
}

fn glob(form: &str) -> Option<GlobMatcher> {
    let form = form.trim_start_matches('/').trim_end_matches('/');
    let mut builder = GlobBuilder::new(form);
    let built = builder.literal_separator(form.contains('/')).backslash_escape(true).build();
    built.ok().map(|glob| glob.compile_matcher())
}

/// Returns the files in a folder and below it that usually hold keys, or the file itself where it is one; none: there was
/// no time to look at all of it. What git and builds keep is not looked at.
fn key_files(start: &Path, skips: impl Fn(&str) -> bool, until: Instant) -> Option<Vec<PathBuf>> {
    if !start.is_dir() {
        let name = start.file_name().unwrap_or_default().to_string_lossy();
        return Some(if holds_secrets(&name) { vec![start.to_path_buf()] } else { Vec::new() });
    }
    // Such files usually lie near the top.
    let (mut found, mut open) = (Vec::new(), VecDeque::from([start.to_path_buf()]));
    while let Some(folder) = open.pop_front() {
        if Instant::now() > until {
            return None;
        }
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let Ok(kind) = entry.file_type() else { continue };
            match kind.is_dir() {
                true if [".git", "node_modules", "target"].contains(&&*name) || skips(&name) => {}
                true => open.push_back(entry.path()),
                false if holds_secrets(&name) => found.push(entry.path()),
                false => {}
            }
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::super::super::{assess, rules};
    use super::*;
    #[test]
    fn a_search_of_hidden_files_is_one_where_such_a_file_lies() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(dir.path().join("a/b")).expect("folders");
        std::fs::create_dir_all(dir.path().join("c")).expect("a folder");
        std::fs::write(dir.path().join("a/b/.env"), "KEY=1\n").expect("a file");
        let of = |text: &str, until| {
            let around = Around { root: dir.path().into(), folder: dir.path().into(), ..Around::default() };
            let mut found = assess(text, &around, false);
            look_below(&mut found, &around, until);
            found.searched.is_some()
        };
        let soon = Instant::now() + Duration::from_secs(60);
        for text in [
            "grep -rn KEY",
            "grep -R KEY a",
            "rg --hidden KEY",
            "rg -uu KEY .",
            "diff -r a c",
            "diff -ru c a",
            "grep -d recurse KEY .",
            "grep --directories=recurse KEY .",
            "grep --recurs KEY .",
            "grep -d rec KEY .",
            "grep -nd r KEY a",
            "grep -dre KEY .",
            "grep --dir=recu KEY .",
            "grep -rn -A 3 KEY",
            "grep -r -m 1 KEY",
            "grep -d rec KEY",
            "rg -. -g '*' KEY",
            "rg --hidden --ignore KEY a c",
            "git -C a grep --no-index KEY",
            "git -C c -C ../a grep --no-index KEY",
            "git -c a=b diff --no-index a c",
            "git grep --no-index KEY",
            "git grep --no-index KEY a",
            "git --no-pager grep --untracked --no-exclude-standard KEY",
            "git diff --no-index c a",
            "git diff a c",
        ] {
            assert!(of(text, soon), "{text}");
        }
        std::fs::create_dir(dir.path().join(".git")).expect("a repository");
        for text in [
            "grep -rn KEY c",
            "grep -rn -A 3 KEY c",
            "grep -r -e KEY c",
            "rg -u -t a KEY c",
            "git -C c grep --no-index KEY",
            "rg KEY",
            "rg --hid KEY",
            "grep KEY a",
            "ls -R",
            "diff a c",
            "grep -d skip r a",
            "git grep KEY",
            "rg -u KEY",
            "grep -r KEY --include c",
            "git grep --no-index KEY c",
            "git diff a c",
        ] {
            assert!(!of(text, soon), "{text}");
        }
        // Where there was no time to look, there may be one.
        assert!(of("grep -rn KEY c", Instant::now() - Duration::from_secs(1)) && !of("grep KEY a", Instant::now()));
    }

    #[test]
    fn a_search_is_one_of_keys_where_it_would_print_lines_of_such_a_file() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join("src")).expect("a folder");
        fs::create_dir_all(dir.path().join(".git")).expect("a repository");
        for (path, text) in [
            (".env", "PASS_WORD=hunter2\nadd=1\n"),
            (".gitignore", ".env\n"),
            ("a.py", "def add\n"),
            ("b.py", "def add\n"),
            ("src/c.py", "def add\n"),
        ] {
            fs::write(dir.path().join(path), text).expect("written");
        }
        let of = |text: &str| {
            let around = Around { root: dir.path().into(), folder: dir.path().into(), ..Around::default() };
            let mut found = assess(text, &around, false);
            look_below(&mut found, &around, Instant::now() + Duration::from_secs(60));
            found
        };
        for text in [
            "grep -rn add .",
            "grep -rni PASS_word",
            "grep -rnE 'foo|hunter[0-9]' .",
            "grep -rn 'foo\\|hunter' .",
            "grep -rn -v nothing .",
            "grep -rn \"$x\" .",
            "grep -rn -f words .",
            "grep -rn '\\(.\\)\\1x' .",
            "grep -rn add --include='*' .",
            "grep -rn add --exclude='*.py' .",
            "grep -rn add --exclude='.*' --include='.[a-z]*' .",
            "cd src && grep -rn add ..",
            "grep -rl add src .",
            "rg --hidden --no-ignore add",
            "rg -uu add",
            "rg -g '.*' add",
            "rg --no-ignore -t sh add",
            "find . -maxdepth 1 -type f | xargs grep hunter2",
            "find . -type f -print0 | xargs -0 grep -n hunter2",
            "find . -type f | xargs -I{} grep -H hunter2 {}",
            "find . -type f | xargs rg hunter2",
            "find . -type f -exec grep hunter2 {} +",
            "find . -name '.[a-z]*' -exec cat {} \\;",
            "find . -type f | xargs cat",
            "find . -type f | while read f; do cat \"$f\"; done",
        ] {
            let found = of(text);
            assert_eq!(found.searched, Some(SearchedKeys::Found(".env".into())), "{text}");
            let searches = |part: &ClassifiedCommand| part.reason == Reason::Searches;
            assert!(!found.secrets && found.parts.iter().any(searches), "{text}");
        }
        for text in [
            "grep -rn add --include=*.py .",
            "grep -rn add --include='*.py' --include '*.md' .",
            "grep -rI add *.py",
            "grep -rn add a.py b.py",
            "grep -rn add --exclude='.env*' .",
            "grep -rn add --exclude=.* .",
            "grep -rn add src",
            "cd src && grep -rn add .",
            "grep -rn 'def add' .",
            "grep -rnE 'def|class' .",
            "grep -rnw -e 'def add' -e 'fn main' .",
            "grep -rnF 'add=1(' .",
            "rg --hidden add",
            "rg -uu -g '*.py' add",
            "rg -uu -g '!.env*' add",
            "rg --no-ignore -t py add",
            "rg --files --hidden",
            "find . -name '*.py' | xargs grep add",
            "find . -type f -not -name '.*' -print0 | xargs -0 cat",
            "find src -type f | xargs cat",
            "find . -type f | grep add",
            "find . -type f | xargs wc -l",
            "find . -type f | xargs grep nothing",
            "ls | xargs grep add",
        ] {
            let found = of(text);
            assert_eq!((found.searched, found.secrets), (None, false), "{text}");
        }
    }

    #[test]
    fn a_rule_allows_a_search_of_keys_but_no_policy_does() {
        use rules::{AskReason, CommandVerdict, Enforced, Rule, RuleDecision, ShellPolicy, judge, proposed};
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join(".env"), "add=1\n").expect("written");
        let around = Around { root: dir.path().into(), folder: dir.path().into(), ..Around::default() };
        let of = |text: &str, rules: &[Rule], policy| {
            let mut found = assess(text, &around, false);
            look_below(&mut found, &around, Instant::now() + Duration::from_secs(60));
            let judged = judge(&found, rules, policy, Enforced { guard: true, sandbox: true, off: false });
            (found, judged)
        };
        let prefix = vec!["grep".to_string()];
        let rule = Rule { prefix: prefix.clone(), decision: RuleDecision::Allow, network: false, why: None };
        for policy in [ShellPolicy::Ask, ShellPolicy::Review, ShellPolicy::All] {
            let (found, judged) = of("grep -rn add .", &[], policy);
            assert_eq!((&judged.verdict, judged.asks), (&CommandVerdict::Ask, Some(AskReason::Searches)));
            assert_eq!(
                judged.why_it_asks(&found, "all").as_deref(),
                Some(
                    "no policy lets lines of .env be printed unasked, which may hold keys: leave it out of the search, \
                     or write a rule for it; its class is read: searches files that may hold keys"
                )
            );
            assert_eq!(proposed(&found, &judged.rules), Some(prefix.clone()));
            assert_eq!(of("grep -rn add .", std::slice::from_ref(&rule), policy).1.verdict, CommandVerdict::Policy);
            for text in ["grep -rn add . && cat .env", "grep -rn add . && rg -uu add"] {
                assert_eq!(of(text, std::slice::from_ref(&rule), policy).1.verdict, CommandVerdict::Ask, "{text}");
            }
        }
        assert_eq!(of("grep -rn add .", &[], ShellPolicy::None).1.verdict, CommandVerdict::Refuse(None));
    }
}
