//! A check for commands that may print a file that usually holds keys: its output goes to the model, and such a file is
//! sent only after a question.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::options::{ValuedOptions, apart};
use super::parse::SimpleCommand;
use super::word::Word;
use super::{Around, Assessment, ClassifiedCommand, Reason, tables};
use crate::workspace::holds_secrets;

/// Programs that search below a folder with this option.
const SEARCHERS: &[&str] = &["grep", "egrep", "fgrep"];
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
        ('\0', "include"),
        ('\0', "exclude"),
        ('\0', "exclude-from"),
        ('\0', "exclude-dir"),
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
        ('\0', "iglob"),
        ('j', "threads"),
        ('r', "replace"),
        ('t', "type"),
        ('\0', "type-add"),
        ('\0', "type-clear"),
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
const NONE: ValuedOptions = ValuedOptions { valued: &[], ends: None, whole: false };

/// Returns whether a text names such a file anywhere, also in what an interpreter is given to run, and by a pattern that
/// only such names begin like.
pub(super) fn is_named_in(text: &str) -> bool {
    let is_apart = |c: char| !c.is_alphanumeric() && !"_.-".contains(c);
    let is_pattern = |part: &str| {
        let (name, rest) = part.split_at(part.find(is_apart).unwrap_or(part.len()));
        matches!(name, ".e" | ".en") && rest.starts_with(['*', '?', '[', '{']) || part.starts_with(".{e")
    };
    let begins = |at: &usize| text[..*at].chars().next_back().is_none_or(is_apart);
    let patterns = text.match_indices('.').map(|(at, _)| at).filter(begins).any(|at| is_pattern(&text[at..]));
    patterns || text.split(is_apart).any(holds_secrets)
}

/// Returns whether a command prints its own words or the document in the text, and reads no file.
pub(super) fn only_prints(command: &SimpleCommand) -> bool {
    let reads = || command.redirects.iter().any(|redirect| !redirect.writes);
    match command.words.first().and_then(Word::value) {
        Some("echo" | "printf") => true,
        Some("cat") => command.words.len() == 1 && command.has_document && !reads(),
        _ => false,
    }
}

/// Returns a text with spaces in the place of its parts at `places`.
pub(super) fn without(text: &str, places: &[Range<usize>]) -> String {
    let is_in = |at: usize| places.iter().any(|place| place.contains(&at));
    text.char_indices().map(|(at, c)| if is_in(at) { ' ' } else { c }).collect()
}

/// Returns whether a word may be the path of such a file: `.e"nv"`, `config/.e*`.
pub(super) fn may_name(word: &Word) -> bool {
    let name = word.text.rsplit(['/', '=', ':', '@']).next().unwrap_or_default();
    holds_secrets(name) || word.splits && !name.is_empty() && ".env".starts_with(name)
}

/// Marks the parts that search hidden files of a folder with such a file in it. Folders are looked at until then.
pub(super) fn look_below(found: &mut Assessment, around: &Around, until: Instant) {
    for part in &mut found.parts {
        if searched(part, around).iter().any(|folder| is_below(folder, until)) {
            found.secrets = true;
            part.reason = Reason::Secrets;
        }
    }
}

/// Returns the folders whose hidden files a part searches.
fn searched(part: &ClassifiedCommand, around: &Around) -> Vec<PathBuf> {
    let words: Vec<&str> = part.words.iter().map(|word| word.as_deref().unwrap_or(".")).collect();
    let Some((name, mut arguments)) = words.split_first() else { return Vec::new() };
    let (mut name, mut folder) = (tables::base(name).to_string(), around.folder.clone());
    if name == "git" {
        let (own, rest) = arguments.split_at(tables::git_options(arguments));
        let Some((part, rest)) = rest.split_first() else { return Vec::new() };
        folder.extend(own.windows(2).filter(|pair| pair[0] == "-C").map(|pair| pair[1]));
        (name, arguments) = (format!("git {part}"), rest);
    }
    let short = |letters: &[char]| {
        arguments.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letters))
    };
    let options = match name.as_str() {
        "rg" => RG,
        "diff" | "git diff" => NONE,
        _ => GREP,
    };
    let long = |names: &[&str]| {
        arguments.iter().filter_map(|word| word.strip_prefix("--")).any(|given| {
            // One letter means several options.
            given.len() > 1 && names.iter().any(|name| options.means(given, name))
        })
    };
    let (values, operands) = apart(arguments, options);
    let recurses = |(letter, action): &(char, String)| *letter == 'd' && "recurse".starts_with(action.as_str());
    let searches = match name.as_str() {
        name if SEARCHERS.contains(&name) => {
            short(&['r', 'R']) || long(&["recursive", "dereference-recursive"]) || values.iter().any(recurses)
        }
        "rg" => short(&['u', '.']) || long(&["hidden", "unrestricted"]),
        "diff" => short(&['r']) || long(&["recursive"]),
        // What git ignores is searched like all else.
        "git grep" => long(&["no-index", "no-exclude-standard"]),
        // Outside a repository it compares what is there.
        "git diff" => long(&["no-index"]) || !folder.ancestors().any(|folder| folder.join(".git").exists()),
        _ => false,
    };
    if !searches {
        return Vec::new();
    }
    // The first operand of the others is what they search for, where no option says that.
    let is_given = values.iter().any(|(letter, _)| matches!(letter, 'e' | 'f'));
    let patterns = usize::from(!name.ends_with("diff") && !is_given);
    let mut folders: Vec<_> = operands.iter().skip(patterns).map(|at| folder.join(arguments[*at])).collect();
    if !folders.iter().any(|at| at.exists()) {
        // None is named, or what was taken for one is the value of an option that is not known here.
        folders.push(folder);
    }
    folders
}

/// Returns whether such a file may lie in a folder or below it: also where there was no time to look at all of it. What
/// git and builds keep is not looked at.
fn is_below(folder: &Path, until: Instant) -> bool {
    // Such files usually lie near the top.
    let mut open = VecDeque::from([folder.to_path_buf()]);
    while let Some(folder) = open.pop_front() {
        if Instant::now() > until {
            return true;
        }
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let Ok(kind) = entry.file_type() else { continue };
            match kind.is_dir() {
                true if [".git", "node_modules", "target"].contains(&&*name) => {}
                true => open.push_back(entry.path()),
                false if holds_secrets(&name) => return true,
                false => {}
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{Class, assess, disk};
    use super::*;

    fn of(text: &str, root: &Path) -> Assessment {
        let around = Around { root: root.into(), folder: root.into() };
        let mut found = assess(text, &around, false);
        disk::look(&mut found, &around, "/usr/bin");
        found
    }

    #[test]
    fn a_file_that_holds_keys_is_seen_however_it_is_named() {
        let dir = tempfile::tempdir().expect("a folder");
        for text in [
            "cat .env",
            "cat a/.env.local b",
            "head -n 3 '.env'",
            "cat .e\"nv\"",
            "cat .e*",
            "cat config/.[a-z]*",
            "tr a b < .env",
            "bash -c 'cat .env'",
            "git show HEAD:.env",
            "python3 -c \"print(open('.env').read())\"",
            "sed -n 1,5p ./.envrc",
            "echo $(< .en?)",
            "echo $(< .e\"nv\")",
            "x=$(< .e[n]v); echo \"$x\"",
            "for f in .e*; do cat \"$f\"; done",
            "for f in .*; do cat \"$f\"; done",
            "for f in a config/.[a-z]*; do cat \"$f\"; done",
            "cat .{env,foo}",
        ] {
            assert!(of(text, dir.path()).secrets, "{text}");
        }
        for text in [
            "cat a.env",
            "ls",
            "cat environment",
            "echo process.env.HOME",
            "grep '.*x' a",
            "cat *",
            "for f in *; do cat \"$f\"; done",
            "ls $a",
            "grep 'a.{3}' b",
        ] {
            assert!(!of(text, dir.path()).secrets, "{text}");
        }
        for text in
            ["echo A=1 > .envrc", "printf '%s' A >> a/.env", "cat > .env <<'E'\nA=1\nE", "echo a; echo b >| .env.local"]
        {
            assert!(!of(text, dir.path()).secrets, "it is only written: {text}");
        }
        for text in [
            "echo .env > .env",
            "echo A=1 > .env; cat .env",
            "echo A=1 >> .env & cat /proc/$!/fd/1",
            "{ cat /proc/$$/fd/1 | tee /dev/stderr; } >> .env",
            "cat /dev/fd/3 3>> .env",
            "cat <> .env",
            "cat a > .env",
            "cat > a <<E < .env\nx\nE",
            "cat > a .env <<'E'\nx\nE",
            "cat > /dev/stdout .env <<E\nx\nE",
            "cat <<E .env > /dev/stdout\nx\nE",
            "echo \"$(< /proc/$$/fd/1)\" > .env",
            "echo a > .e*",
            "bash -c 'echo A=1 > .env'",
        ] {
            assert!(of(text, dir.path()).secrets, "{text}");
        }
        let found = of("ls && cat .env", dir.path());
        assert_eq!((found.class, found.reason()), (Class::Read, Reason::Secrets));
    }

    #[test]
    fn a_search_of_hidden_files_is_one_where_such_a_file_lies() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(dir.path().join("a/b")).expect("folders");
        std::fs::create_dir_all(dir.path().join("c")).expect("a folder");
        std::fs::write(dir.path().join("a/b/.env"), "KEY=1\n").expect("a file");
        let of = |text: &str, until| {
            let around = Around { root: dir.path().into(), folder: dir.path().into() };
            let mut found = assess(text, &around, false);
            look_below(&mut found, &around, until);
            found.secrets
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
            "grep -r c",
            "grep -r -e c",
            "grep -r KEY --include c",
            "rg -u -A 3 KEY",
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
            "git grep --no-index KEY c",
            "git diff a c",
        ] {
            assert!(!of(text, soon), "{text}");
        }
        // Where there was no time to look, there may be one.
        assert!(of("grep -rn KEY c", Instant::now() - Duration::from_secs(1)) && !of("grep KEY a", Instant::now()));
    }
}
