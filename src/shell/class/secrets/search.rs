//! Searches that may print lines of a file which usually holds keys, though nothing names it.

use std::cell::LazyCell;
use std::path::{Path, PathBuf};
use std::time::Instant;

use globset::GlobMatcher;
use ignore::WalkBuilder;

use super::super::disk::pattern::expand;
use super::super::{Around, Assessment, ClassifiedCommand, Reason, SearchedKeys, TouchedPath, flat, tables};
use super::flags::{EXCLUDE, EXCLUDE_FOLDER, EXCLUDE_FROM, INCLUDE, SearchFlags};
use super::listing::FindListing;
use super::{forms, links, tracked, walk};
use crate::workspace::search::may_match;

/// Programs that print what the files hold which they are given, whole or by patterns of their own.
const PRINTERS: &str = "\
    cat tac head tail nl sed awk gawk mawk cut tr sort uniq od hexdump xxd strings fold rev fmt paste jq yq bat batcat \
    less more base64 diff cmp";
/// Programs that print no line of what they read.
const COUNTERS: &str = "wc cksum md5sum sha1sum sha256sum sha512sum";

/// Marks the parts that may print lines of such a file, as they search the folder it lies in or are given what a part
/// lists. Folders are looked at until then.
pub fn look_below(found: &mut Assessment, around: &Around, until: Instant) {
    links::look_named(found, around, until);
    let is_configured = found.parts.iter().any(|part| part.text.contains("RIPGREP_CONFIG_PATH"));
    let look = KeyLook { around, until, is_configured };
    let listed = LazyCell::new(|| {
        let lists: Option<Vec<Vec<PathBuf>>> = found.parts.iter().map(|part| listed(part, &look)).collect();
        lists.map(|lists| lists.concat())
    });
    let of = |part: &ClassifiedCommand| match part.reason {
        Reason::Secrets => None,
        _ => met(part, &|| LazyCell::force(&listed).clone(), &look),
    };
    let all: Vec<Option<SearchedKeys>> = found.parts.iter().map(of).collect();
    for (part, keys) in found.parts.iter_mut().zip(all) {
        if let Some(keys) = keys {
            part.reason = Reason::Searches;
            found.searched.get_or_insert(keys);
        }
    }
}

/// The surroundings of the parts that are looked at.
struct KeyLook<'a> {
    around: &'a Around,
    until: Instant,
    /// A file gives `rg` more options.
    is_configured: bool,
}

/// Returns what a part meets of such files. `listed` returns those that the parts list.
fn met(
    part: &ClassifiedCommand,
    listed: &dyn Fn() -> Option<Vec<PathBuf>>,
    look: &KeyLook<'_>,
) -> Option<SearchedKeys> {
    let search = KeySearch::of(part, look);
    let is_unknown = |(word, pattern): (&Option<String>, &Option<String>)| word.is_none() && pattern.is_none();
    let is_named = part.words.iter().zip(&part.patterns).skip(1).any(is_unknown);
    let prints = search.is_some() || tables::named(PRINTERS, name(part));
    let is_fed = is_named && prints || part.opens && !tables::named(COUNTERS, name(part));
    let fed = if is_fed { listed() } else { Some(Vec::new()) };
    let linked = prints.then(|| links::first_of_patterns(part, folder(part, look.around), look.until)).flatten();
    let own = search.as_ref().map_or(Some(Vec::new()), |search| search.files(look.until));
    let finds = |path: &&PathBuf| search.as_ref().is_none_or(|search| search.finds(path));
    let takes = |path: &&PathBuf| search.as_ref().is_none_or(|search| search.searches(path));
    let found = linked.iter().find(finds).or_else(|| own.iter().flatten().find(finds));
    let found = found.or_else(|| fed.iter().flatten().filter(takes).find(finds));
    match found {
        Some(path) => {
            let path = path.strip_prefix(&look.around.root).unwrap_or(path);
            Some(SearchedKeys::Found(path.to_string_lossy().into_owned()))
        }
        None => (own.is_none() || fed.is_none()).then_some(SearchedKeys::Unseen),
    }
}

/// Returns the files that usually hold keys of which a part lists the names; none: there was no time to look at all.
fn listed(part: &ClassifiedCommand, look: &KeyLook<'_>) -> Option<Vec<PathBuf>> {
    if name(part) == "find" {
        let (folder, until) = (folder(part, look.around), look.until);
        let words = part.words.iter().zip(&part.patterns).map(|(word, pattern)| {
            let unknown = if pattern.is_some() { "" } else { "." };
            word.as_deref().unwrap_or(unknown)
        });
        let unknown = part.words.iter().zip(&part.patterns).filter(|(word, _)| word.is_none());
        let more = unknown.flat_map(|(_, pattern)| pattern.iter().flat_map(|pattern| expanded(folder, pattern, until)));
        let list = FindListing::of(&words.skip(1).collect::<Vec<_>>(), folder, more.collect());
        let mut walk = walk::whole(&list.starts());
        walk.follow_links(list.follows_links);
        let files = walk::key_files(walk, Vec::new(), until)?;
        return Some(files.into_iter().filter(|path| list.lists(path)).collect());
    }
    let Some(call) = SearchCall::of(part, look).filter(|call| call.flags.lists_hidden()) else {
        return Some(Vec::new());
    };
    let mut walk = call.walk(&call.starts(0, look.until));
    let is_flat = call.name == "ls" && !call.flags.short(&['R']) && !call.flags.long(&["recursive"]);
    walk.max_depth(is_flat.then_some(1));
    let files = walk::key_files(walk, Vec::new(), look.until)?;
    // What git tracks it lists even where it is ignored.
    let tracked = if call.name == "git ls-files" { call.tracked(0, false)? } else { Vec::new() };
    Some([files, tracked].concat())
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

/// A call of a program that searches files or lists them.
struct SearchCall<'p> {
    /// The name of the program, with the part of `git`.
    name: String,
    /// The folder that it runs in.
    folder: PathBuf,
    arguments: Vec<&'p str>,
    /// The arguments, each where it is known.
    known: &'p [Option<String>],
    flags: SearchFlags,
}

impl SearchCall<'_> {
    /// Reads a part; none: it is no such program.
    fn of<'p>(part: &'p ClassifiedCommand, look: &KeyLook<'_>) -> Option<SearchCall<'p>> {
        let mut arguments = texts(part).get(1..)?.to_vec();
        let (mut name, mut folder) = (name(part).to_string(), folder(part, look.around).to_path_buf());
        if name == "git" {
            let rest = arguments.split_off(tables::git_options(&arguments));
            let (part, rest) = rest.split_first()?;
            folder.extend(arguments.windows(2).filter(|pair| pair[0] == "-C").map(|pair| pair[1]));
            (name, arguments) = match rest.split_first() {
                Some((of @ (&"show" | &"list"), rest)) if *part == "stash" => {
                    (format!("git stash {of}"), rest.to_vec())
                }
                _ => (format!("git {part}"), rest.to_vec()),
            };
        }
        let known = &part.words[part.words.len() - arguments.len()..];
        let mut flags = SearchFlags::of(&name, &arguments, |place| known[place].is_some())?;
        flags.is_unsure |= look.is_configured && name == "rg";
        Some(SearchCall { name, folder, arguments, known, flags })
    }

    /// Returns the first operand, where it is known.
    fn first(&self) -> Option<&str> {
        let place = *self.flags.given.operands.first()?;
        self.known[place].is_some().then(|| self.arguments[place])
    }

    /// Returns the places of its operands after so many others; those of all arguments, where any may be one.
    fn places(&self, others: usize) -> impl Iterator<Item = usize> {
        let count = if self.flags.is_unsure { self.arguments.len() } else { 0 };
        let operands = self.flags.given.operands.iter().copied().skip(others);
        (0..count).chain(operands.filter(move |_| count == 0))
    }

    /// Returns the files and folders that its operands name after so many others.
    fn starts(&self, others: usize, until: Instant) -> Vec<PathBuf> {
        let value = |text: &str| match text.split_once('=').filter(|_| self.flags.is_unsure && text.starts_with('-')) {
            Some((_, value)) => self.folder.join(value),
            None => self.folder.join(text),
        };
        let paths = self.places(others).flat_map(|place| match &self.known[place] {
            Some(name) => vec![value(name)],
            None => expanded(&self.folder, self.arguments[place], until),
        });
        let mut starts: Vec<PathBuf> = paths.map(|path| flat(&path)).filter(|path| path.exists()).collect();
        let is_form = |place: usize| self.name.starts_with("git ") && is_pathspec(self.arguments[place]);
        if starts.is_empty() || self.flags.is_unsure || self.places(others).any(is_form) {
            // None is named, or what was taken for one is the value of an option that is not known here.
            starts.push(self.folder.clone());
        }
        starts
    }

    /// Returns the way through what it goes down to from these files and folders.
    fn walk(&self, starts: &[PathBuf]) -> WalkBuilder {
        let mut walk = match self.name.as_str() {
            "rg" => walk::of_rg(&self.flags, &self.folder, starts),
            _ if self.flags.goes_by_git() => walk::unignored(&self.folder, starts),
            _ => walk::whole(starts),
        };
        walk.follow_links(self.flags.follows_links());
        walk
    }

    /// Returns the files that usually hold keys which git tracks, as its operands after so many others name them;
    /// `changed`: only those that are not as git last saw them. None: the index cannot be read.
    fn tracked(&self, others: usize, changed: bool) -> Option<Vec<PathBuf>> {
        // With all of a commit it prints what no operand names.
        let is_unsure = self.flags.is_unsure || self.flags.long(&["full-diff"]);
        // Where the sign stands, no path stands before it.
        let end = self.paths_begin();
        let may_be_path = |place: &usize| !self.flags.compares() || end == self.arguments.len() || *place > end;
        let operands = self.places(others).filter(|_| !is_unsure).filter(may_be_path);
        let operands = operands.map(|place| self.arguments[place]);
        let takes_all = is_unsure || self.flags.compares() && !self.flags.long(&["relative"]);
        tracked::key_files(&self.folder, &operands.collect::<Vec<_>>(), changed, takes_all)
    }

    /// Returns whether it may compare with a revision, not only what is on disk with what git last saw.
    fn compares_revisions(&self) -> bool {
        let end = self.paths_begin();
        let is_path = |place: usize| end == self.arguments.len() && self.is_path(place);
        self.flags.compares_staged() || self.places(0).any(|place| place < end && !is_path(place))
    }

    /// Returns whether an argument is a path that exists or the form of one, and no revision.
    fn is_path(&self, place: usize) -> bool {
        let text = self.arguments[place];
        let is_known = self.known[place].is_some() && self.folder.join(text).exists();
        let is_meant = !text.starts_with(':') || [":!", ":^", ":("].iter().any(|sign| text.starts_with(sign));
        is_known || is_pathspec(text) && is_meant && !text.contains('{')
    }

    /// Returns whether all that it prints is named by a revision with a path: `HEAD:a.py`.
    fn prints_blobs(&self) -> bool {
        let is_blob = |place: usize| {
            let path = self.arguments[place].split_once(':').filter(|(revision, _)| !revision.is_empty());
            self.known[place].is_some() && path.is_some_and(|(_, path)| !path.is_empty())
        };
        !self.flags.is_unsure && self.places(0).next().is_some() && self.places(0).all(is_blob)
    }

    /// Returns the place of the sign behind which only paths stand.
    fn paths_begin(&self) -> usize {
        self.arguments.iter().position(|text| *text == "--").unwrap_or(self.arguments.len())
    }

    /// Returns whether it may search what git keeps in place of the files there: an operand may be a revision.
    fn searches_objects(&self) -> bool {
        let end = self.paths_begin();
        let mut others = self.places(usize::from(self.flags.has_pattern())).filter(|place| *place < end);
        self.name == "git grep" && (self.flags.long(&["cached"]) || others.any(|place| !self.is_path(place)))
    }
}

/// Returns whether git reads a word as more than a name: by a meaning of its own, or as a form.
fn is_pathspec(text: &str) -> bool {
    text.starts_with(':') || text.contains(['*', '?', '['])
}

/// A search, as its words show it.
struct KeySearch {
    /// The way through what it searches; none: it goes down no folder.
    walk: Option<WalkBuilder>,
    /// Such files that it searches as git tracks them; none: which ones is not known.
    tracked: Option<Vec<PathBuf>>,
    /// It searches what it is given, whatever its name.
    is_of_rg: bool,
    /// The forms of what is searched, or is not; the last that fits decides.
    forms: Vec<(bool, GlobMatcher)>,
    /// The forms of folders that are left out.
    left_out: Vec<GlobMatcher>,
    /// True if files that no form fits are searched.
    takes_others: bool,
    /// The expressions of which a line matches one; none: any line may be printed.
    expressions: Option<Vec<String>>,
}

impl KeySearch {
    /// Reads a part; none: it is no search.
    fn of(part: &ClassifiedCommand, look: &KeyLook<'_>) -> Option<KeySearch> {
        let call = SearchCall::of(part, look)?;
        let flags = &call.flags;
        let (is_of_rg, is_list) = (call.name == "rg", ["fd", "fdfind", "ls", "git ls-files"]);
        if is_list.contains(&call.name.as_str()) || is_of_rg && flags.long(&["files", "type-list"]) {
            return None;
        }
        let others = usize::from(flags.has_pattern());
        let walk = call.walk(&call.starts(others, look.until));
        let tracked = match call.name.as_str() {
            "git grep" if !flags.long(&["no-index"]) => call.tracked(others, false),
            "git diff" if flags.compares_tracked() => call.tracked(0, !call.compares_revisions()),
            _ if flags.prints_history() && !call.prints_blobs() => call.tracked(0, false),
            _ => Some(Vec::new()),
        };
        let mut search = KeySearch {
            walk: Some(walk).filter(|_| flags.goes_below(&call.folder)),
            tracked,
            is_of_rg,
            forms: Vec::new(),
            left_out: Vec::new(),
            takes_others: true,
            expressions: flags.expressions(call.first()).filter(|_| !call.searches_objects()),
        };
        if !is_of_rg {
            search.take_forms(flags);
        }
        Some(search)
    }

    /// Takes in what leaves files out. A form with a folder is read as any or none.
    fn take_forms(&mut self, flags: &SearchFlags) {
        let left_out = |form: &str| {
            let is_plain = !flags.is_unsure && !form.contains('/');
            is_plain.then(|| forms::matcher(form, false, false)).flatten()
        };
        for (letter, form) in &flags.given.values {
            match *letter {
                INCLUDE => {
                    let wanted = if form.contains('/') { "*" } else { form };
                    self.forms.extend(forms::matcher(wanted, true, false).map(|form| (true, form)));
                }
                EXCLUDE | 'x' => self.forms.extend(left_out(form).map(|form| (false, form))),
                EXCLUDE_FOLDER => self.left_out.extend(left_out(form.trim_end_matches('/'))),
                _ => {}
            }
        }
        let is_filter = |letter: &char| [INCLUDE, EXCLUDE, EXCLUDE_FROM, 'x'].contains(letter);
        let first = flags.given.values.iter().map(|(letter, _)| *letter).find(is_filter);
        self.takes_others = first != Some(INCLUDE) || flags.is_unsure;
    }

    /// Returns the files that usually hold keys which it searches by itself; none: there was no time to look at all.
    fn files(&self, until: Instant) -> Option<Vec<PathBuf>> {
        let mut files = self.tracked.clone()?;
        if let Some(walk) = self.walk.clone() {
            let met = walk::key_files(walk, self.left_out.clone(), until)?;
            files.extend(met.into_iter().filter(|path| self.wants(path).unwrap_or(self.takes_others)));
        }
        Some(files)
    }

    /// Returns whether it searches a file that it is given: a form may fit the folder of that.
    fn searches(&self, path: &Path) -> bool {
        self.is_of_rg || self.wants(path).unwrap_or(true)
    }

    /// Returns what the last form that fits says of a file.
    fn wants(&self, path: &Path) -> Option<bool> {
        let name = path.file_name().unwrap_or_default();
        self.forms.iter().rfind(|(_, form)| form.is_match(name)).map(|(is_wanted, _)| *is_wanted)
    }

    /// Returns whether it may print lines of a file that it searches.
    fn finds(&self, path: &Path) -> bool {
        self.expressions.as_ref().is_none_or(|expressions| may_match(path, expressions))
    }
}

/// Returns the paths that an operand which is not known stands for. What braces and kinds of letters become is not read: it
/// lies in the folder before them, or anywhere.
fn expanded(folder: &Path, pattern: &str, until: Instant) -> Vec<PathBuf> {
    if pattern.contains('{') || pattern.contains("[:") {
        let plain = &pattern[..pattern.find(['*', '?', '[', '{', '\\']).unwrap_or(0)];
        let (begun, rest) = pattern.split_at(plain.rfind('/').map_or(0, |end| end + 1));
        let mut parts = rest.split(['{', ',', '}', '/']);
        let is_whole = pattern.starts_with('{') && ["{/", ",/", "{~", ",~"].iter().any(|root| rest.contains(root));
        let leads_out = is_whole || parts.any(|part| part == "..");
        return vec![if leads_out { PathBuf::from("/") } else { folder.join(begun) }];
    }
    let touched = TouchedPath { folder: folder.to_path_buf(), pattern: pattern.into(), with_content: false };
    expand(&touched, until).collect()
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
            "diff --unified -r a c",
            "diff --context -r a c",
            "grep --binary -r KEY .",
            "rgrep KEY",
            "ack KEY",
            "ag --hidden KEY a",
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
            "ag KEY",
            "rg -t nothing KEY c",
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
            // Whether files that no form fits are searched goes by the first option.
            "grep -rn add --exclude={*.map,*.min.js} --include='*.py' .",
            "grep -rn add --exclude-from=names --include='*.py' .",
            "grep -rn add --include='[[:punct:]]env' .",
            "grep -rn add --include=*{nv,py} .",
            "grep -rn add --exclude='[[:alpha:].]*' .",
            "grep -rn add --exclude [.]e* .",
            "find . -type f | xargs grep --include='.*' add",
            "find . -type f -prune | xargs cat",
            "find . -name '[[:punct:]]env' | xargs cat",
            "find s* . -path './.*' -type f | xargs cat",
            "rg --iglob '.E*' add",
            "rg --glob-case-insensitive -g '.E*' add",
            "rg -uu -g '!/src/[.]e*' add",
            "rg --type-add 'k:?env' -t k add",
            "rg -g \"$x\" add",
            "rg --ignore-file names add",
            "rg --hidden --no-ignore-vcs add",
            "grep -rnP '[K&&Z]?dd' .",
            "grep -rnP '[H&&h]unter' .",
            "rg -uuP '[H&&h]unter'",
            "rg -uu --engine pcre2 '[H&&h]unter'",
            "grep -rnF -E 'foo|hunter' .",
            "git grep --no-index 'foo|hunter'",
            "rg -uuF --no-fixed-strings 'foo|hunter'",
            "grep -rn -e ?unter .",
            "grep -rn -e \"$x\" .",
            "ls -A | xargs cat",
            "ls -aR | xargs grep hunter2",
            "rg --files --hidden --no-ignore | xargs cat",
            "git ls-files -o | xargs cat",
            "fd -HI | xargs cat",
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
            "ls -la | xargs grep add",
            "ls -A src | xargs cat",
            "rg --files | xargs cat",
            "rg --files --hidden | xargs cat",
            "git ls-files | xargs cat",
            "git ls-files -o --exclude-standard | xargs cat",
            "git grep --untracked add",
            "fd -H | xargs cat",
            "find . -type f -prune -o -name '*.py' -print | xargs cat",
            "rg -uu -g '!/?env' add",
            "rg -uu --iglob '!.ENV' add",
            "grep -rnP '\\bdef add\\b' .",
            "grep -rn -e 'def add' .",
            "rg --hidden --ignore-case add",
            "grep -rn add --include=*.{py,md} .",
            "grep -n add *.{py,md}",
        ] {
            let found = of(text);
            assert_eq!((found.searched, found.secrets), (None, false), "{text}");
        }
    }

    #[test]
    fn a_folder_that_is_named_is_searched_and_one_within_by_its_own_rules() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join(".git")).expect("a repository");
        for path in ["conf/.env", "other/a/.env", "inner/a/.env", "inner/.git/HEAD"] {
            fs::create_dir_all(dir.path().join(path).parent().expect("a folder")).expect("folders");
            fs::write(dir.path().join(path), "KEY=1\n").expect("written");
        }
        fs::write(dir.path().join(".gitignore"), "conf/\nother\n.env\n").expect("written");
        fs::write(dir.path().join("conf/.gitignore"), "!.env\n").expect("written");
        let of = |text: &str| {
            let around = Around { root: dir.path().into(), folder: dir.path().into(), ..Around::default() };
            let mut found = assess(text, &around, false);
            look_below(&mut found, &around, Instant::now() + Duration::from_secs(60));
            found.searched
        };
        for (text, found) in [
            ("rg --hidden KEY conf", Some("conf/.env")),
            ("rg KEY conf", Some("conf/.env")),
            ("rg --hidden KEY c*", Some("conf/.env")),
            // The rules of the repository above do not count in one within.
            ("rg --hidden KEY", Some("inner/a/.env")),
            ("rg --hidden KEY other", None),
            ("rg --hidden KEY .git", None),
            ("rg --hidden KEY -g '!inner'", None),
            ("rg --hidden KEY -g '!/a/?env'", Some("inner/a/.env")),
            ("grep -rn KEY '--exclude-dir={conf,x}' conf other", Some("conf/.env")),
            ("grep -rn KEY --exclude-dir=/a other", Some("other/a/.env")),
            ("grep -rn KEY --exclude-dir=a/ other", None),
            ("find conf/ -path 'conf/*' | xargs cat", Some("conf/.env")),
            ("find co* -type f | xargs cat", Some("conf/.env")),
        ] {
            assert_eq!(of(text), found.map(|path| SearchedKeys::Found(path.into())), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_of_a_search_counts_as_reached() {
        let dir = tempfile::tempdir().expect("a folder");
        for path in [".config/.env", "conf/.env", "conf/a/.env", "src/a.py", ".git/HEAD"] {
            fs::create_dir_all(dir.path().join(path).parent().expect("a folder")).expect("folders");
            fs::write(dir.path().join(path), if path.ends_with(".env") { "KEY=1\n" } else { "" }).expect("written");
        }
        fs::create_dir(dir.path().join("other")).expect("a folder");
        fs::write(dir.path().join(".gitignore"), ".env\n").expect("written");
        let of = |text: &str| {
            let around = Around { root: dir.path().into(), folder: dir.path().into(), ..Around::default() };
            let mut found = assess(text, &around, false);
            look_below(&mut found, &around, Instant::now() + Duration::from_secs(60));
            found.searched
        };
        for text in [
            // Braces.
            "grep -rn KEY {.config,src}",
            "grep -rn KEY src {conf/a,conf/b}",
            "grep -rn KEY src conf{,2}",
            "grep -rn KEY --include=*{,.py} .",
            "find {.config,src} -type f | xargs cat",
            "find {.config,x} -maxdepth 1 -type f | xargs cat",
            "rg -uu -e KEY -g !{src,.*} conf",
            // Options that may be others, and values that are none.
            "grep -r --binary KEY conf",
            "cd src && grep -r --binary KEY ../conf",
            "git ls-files -o --exclude=*.pyc | xargs cat",
            "git diff --no-index -W conf other",
            "cd conf && ls -A -I ../src | xargs cat",
            "ag --hidden KEY --ignore src",
            "cd src && ack --match=KEY ../conf",
            "RIPGREP_CONFIG_PATH=rc rg KEY",
            "env RIPGREP_CONFIG_PATH=rc rg KEY src",
            // Files whose names come from elsewhere.
            "find . -type f | while read f; do head -5 < \"$f\"; done",
            "for f in $(find . -type f); do echo \"$(< \"$f\")\"; done",
            "for f in $(find . -type f); do while read -r l; do echo \"$l\"; done < \"$f\"; done",
            "grep -rL nothing . | xargs cat",
            "xargs -a list cat",
            "xargs --arg-file=list grep KEY",
            "find -files0-from list -maxdepth 0 | xargs cat",
            "fd -HI -x cat",
            "fd -HIX cat",
            "fd -HI --exec-batch grep KEY",
            "fd -HI --exec=cat",
        ] {
            assert!(matches!(of(text), Some(SearchedKeys::Found(_))), "{text}");
        }
        for text in [
            "grep -rn nothing {.config,src}",
            "find {.config,src} -name '*.py' | xargs cat",
            "rg -uu -e KEY -g '!{src,.*}' conf",
            "git ls-files -o --exclude=*.pyc --exclude-standard | xargs cat",
            "ls -A -I x src | xargs cat",
            "find . -type f | while read f; do wc -l < \"$f\"; done",
            "while read f; do echo \"$f\"; done < <(find . -type f)",
            "xargs -a list wc -l",
            "xargs -a list grep nothing",
            "fd -H -x cat",
            "fd -HI -x wc -l",
            "fd -HI -tx",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
        let soon = Instant::now() + Duration::from_secs(60);
        for (pattern, start) in [
            ("{a,b}", "/w"),
            ("x/{a,b}", "/w/x"),
            ("x/y*/{a,b}", "/w/x"),
            ("x{/a,/b}", "/w"),
            ("{1..3}x", "/w"),
            ("[[:alpha:]]x", "/w"),
            ("{../a,b}", "/"),
            ("{/a,b}", "/"),
            ("{a,~/b}", "/"),
        ] {
            assert_eq!(expanded(Path::new("/w"), pattern, soon), [PathBuf::from(start)], "{pattern}");
        }
    }

    #[test]
    fn links_are_followed_where_the_program_follows_them() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().join("work");
        for folder in ["work/src", "work/other", "conf"] {
            fs::create_dir_all(dir.path().join(folder)).expect("folders");
        }
        fs::write(dir.path().join("conf/.env"), "KEY=1\n").expect("written");
        std::os::unix::fs::symlink("../../conf", root.join("src/l")).expect("linked");
        let of = |text: &str| {
            let around = Around { root: root.clone(), folder: root.clone(), ..Around::default() };
            let mut found = assess(text, &around, false);
            look_below(&mut found, &around, Instant::now() + Duration::from_secs(60));
            found.searched
        };
        for text in [
            "grep -R KEY src",
            "grep --deref KEY src",
            "diff -rN src other",
            "rg -uuL KEY",
            "rg --hidden --follow KEY",
            "ag -uf KEY",
            "ack --follow KEY",
            "find -L src -type f | xargs cat",
            "find src -follow -type f | xargs cat",
            "fd -HIL | xargs cat",
            "ls -ALR src | xargs cat",
        ] {
            assert_eq!(of(text), Some(SearchedKeys::Found("src/l/.env".into())), "{text}");
        }
        for text in [
            "grep -r KEY src",
            "rg -uu KEY",
            "find src -type f | xargs cat",
            "fd -HI | xargs cat",
            "ls -AR src | xargs cat",
            "git diff --no-index src other",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
        // One that leads to the file itself has any name.
        std::os::unix::fs::symlink("../../conf/.env", root.join("src/n")).expect("linked");
        assert_eq!(of("find src -name n | xargs cat"), Some(SearchedKeys::Found("src/n".into())));
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
