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
use super::{forms, walk};
use crate::workspace::search::may_match;

/// Programs that print what the files hold which they are given, whole or by patterns of their own.
const PRINTERS: &str = "\
    cat tac head tail nl sed awk gawk mawk cut tr sort uniq od hexdump xxd strings fold rev fmt paste jq yq bat batcat \
    less more base64 diff cmp";

/// Marks the parts that may print lines of such a file, as they search the folder it lies in or are given what a part
/// lists. Folders are looked at until then.
pub fn look_below(found: &mut Assessment, around: &Around, until: Instant) {
    let listed = LazyCell::new(|| {
        let lists: Option<Vec<Vec<PathBuf>>> = found.parts.iter().map(|part| listed(part, around, until)).collect();
        lists.map(|lists| lists.concat())
    });
    let of = |part: &ClassifiedCommand| match part.reason {
        Reason::Secrets => None,
        _ => met(part, &|| LazyCell::force(&listed).clone(), around, until),
    };
    let all: Vec<Option<SearchedKeys>> = found.parts.iter().map(of).collect();
    for (part, keys) in found.parts.iter_mut().zip(all) {
        if let Some(keys) = keys {
            part.reason = Reason::Searches;
            found.searched.get_or_insert(keys);
        }
    }
}

/// Returns what a part meets of such files. `listed` returns those that the parts list.
fn met(
    part: &ClassifiedCommand,
    listed: &dyn Fn() -> Option<Vec<PathBuf>>,
    around: &Around,
    until: Instant,
) -> Option<SearchedKeys> {
    let search = KeySearch::of(part, around, until);
    let is_fed =
        part.words.iter().zip(&part.patterns).skip(1).any(|(word, pattern)| word.is_none() && pattern.is_none());
    let prints = search.is_some() || tables::named(PRINTERS, name(part));
    let fed = if is_fed && prints { listed() } else { Some(Vec::new()) };
    let own = search.as_ref().map_or(Some(Vec::new()), |search| search.files(until));
    let finds = |path: &&PathBuf| search.as_ref().is_none_or(|search| search.finds(path));
    let takes = |path: &&PathBuf| search.as_ref().is_none_or(|search| search.searches(path));
    let found = own.iter().flatten().find(finds).or_else(|| fed.iter().flatten().filter(takes).find(finds));
    match found {
        Some(path) => {
            let path = path.strip_prefix(&around.root).unwrap_or(path);
            Some(SearchedKeys::Found(path.to_string_lossy().into_owned()))
        }
        None => (own.is_none() || fed.is_none()).then_some(SearchedKeys::Unseen),
    }
}

/// Returns the files that usually hold keys of which a part lists the names; none: there was no time to look at all.
fn listed(part: &ClassifiedCommand, around: &Around, until: Instant) -> Option<Vec<PathBuf>> {
    if name(part) == "find" {
        let folder = folder(part, around);
        let words = part.words.iter().zip(&part.patterns).map(|(word, pattern)| {
            let unknown = if pattern.is_some() { "" } else { "." };
            word.as_deref().unwrap_or(unknown)
        });
        let unknown = part.words.iter().zip(&part.patterns).filter(|(word, _)| word.is_none());
        let more = unknown.flat_map(|(_, pattern)| pattern.iter().flat_map(|pattern| expanded(folder, pattern, until)));
        let list = FindListing::of(&words.skip(1).collect::<Vec<_>>(), folder, more.collect());
        let files = walk::key_files(walk::whole(&list.starts()), Vec::new(), until)?;
        return Some(files.into_iter().filter(|path| list.lists(path)).collect());
    }
    let Some(call) = SearchCall::of(part, around).filter(|call| call.flags.lists_hidden()) else {
        return Some(Vec::new());
    };
    // The first operand of `fd` is what it searches for, and that of an option is taken for one.
    let mut starts = call.starts(0, until);
    if call.name != "ls" {
        starts.push(call.folder.clone());
    }
    let mut walk = match call.name.as_str() {
        "rg" => walk::of_rg(&call.flags, &call.folder, &call.starts(0, until)),
        _ if call.flags.goes_by_git() => walk::unignored(&call.folder, &starts),
        _ => walk::whole(&starts),
    };
    let is_flat = call.name == "ls" && !call.flags.short(&['R']) && !call.flags.long(&["recursive"]);
    walk.max_depth(is_flat.then_some(1));
    walk::key_files(walk, Vec::new(), until)
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
    fn of<'p>(part: &'p ClassifiedCommand, around: &Around) -> Option<SearchCall<'p>> {
        let mut arguments = texts(part).get(1..)?.to_vec();
        let (mut name, mut folder) = (name(part).to_string(), folder(part, around).to_path_buf());
        if name == "git" {
            let rest = arguments.split_off(tables::git_options(&arguments));
            let (part, rest) = rest.split_first()?;
            folder.extend(arguments.windows(2).filter(|pair| pair[0] == "-C").map(|pair| pair[1]));
            (name, arguments) = (format!("git {part}"), rest.to_vec());
        }
        let known = &part.words[part.words.len() - arguments.len()..];
        let flags = SearchFlags::of(&name, &arguments, |place| known[place].is_some())?;
        Some(SearchCall { name, folder, arguments, known, flags })
    }

    /// Returns the first operand, where it is known.
    fn first(&self) -> Option<&str> {
        let place = *self.flags.given.operands.first()?;
        self.known[place].is_some().then(|| self.arguments[place])
    }

    /// Returns the files and folders that its operands name after so many others.
    fn starts(&self, others: usize, until: Instant) -> Vec<PathBuf> {
        let operands = self.flags.given.operands.iter().skip(others);
        let paths = operands.flat_map(|place| match &self.known[*place] {
            Some(name) => vec![self.folder.join(name)],
            None => expanded(&self.folder, self.arguments[*place], until),
        });
        let mut starts: Vec<PathBuf> = paths.map(|path| flat(&path)).filter(|path| path.exists()).collect();
        if starts.is_empty() {
            // None is named, or what was taken for one is the value of an option that is not known here.
            starts.push(self.folder.clone());
        }
        starts
    }
}

/// A search, as its words show it.
struct KeySearch {
    /// The way through what it searches; none: it goes down no folder.
    walk: Option<WalkBuilder>,
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
    fn of(part: &ClassifiedCommand, around: &Around, until: Instant) -> Option<KeySearch> {
        let call = SearchCall::of(part, around)?;
        let flags = &call.flags;
        let (is_of_rg, is_list) = (call.name == "rg", ["fd", "fdfind", "ls", "git ls-files"]);
        if is_list.contains(&call.name.as_str()) || is_of_rg && flags.long(&["files", "type-list"]) {
            return None;
        }
        let starts = call.starts(usize::from(flags.has_pattern()), until);
        let walk = match call.name.as_str() {
            "rg" => walk::of_rg(flags, &call.folder, &starts),
            _ if flags.goes_by_git() => walk::unignored(&call.folder, &starts),
            _ => walk::whole(&starts),
        };
        let mut search = KeySearch {
            walk: Some(walk).filter(|_| flags.goes_below(&call.folder)),
            is_of_rg,
            forms: Vec::new(),
            left_out: Vec::new(),
            takes_others: true,
            expressions: flags.expressions(call.first()),
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
        let Some(walk) = self.walk.clone() else { return Some(Vec::new()) };
        let files = walk::key_files(walk, self.left_out.clone(), until)?;
        Some(files.into_iter().filter(|path| self.wants(path).unwrap_or(self.takes_others)).collect())
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

/// Returns the paths that an operand which is not known stands for.
fn expanded(folder: &Path, pattern: &str, until: Instant) -> Vec<PathBuf> {
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
