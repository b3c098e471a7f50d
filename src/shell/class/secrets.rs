//! A check for commands that may print a file that usually holds keys: its output goes to the model, and such a file is
//! sent only after a question.

use std::collections::VecDeque;
use std::path::Path;
use std::time::Instant;

use super::word::Word;
use super::{Around, Assessment, ClassifiedCommand, Reason};
use crate::workspace::holds_secrets;

/// Programs that search below a folder with this option.
const SEARCHERS: &[&str] = &["grep", "egrep", "fgrep"];

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

/// Returns whether a word may be the path of such a file: `.e"nv"`, `config/.e*`.
pub(super) fn may_name(word: &Word) -> bool {
    let name = word.text.rsplit(['/', '=', ':', '@']).next().unwrap_or_default();
    holds_secrets(name) || word.splits && !name.is_empty() && ".env".starts_with(name)
}

/// Marks the parts that search hidden files of a folder with such a file in it. Folders are looked at until then.
pub(super) fn look_below(found: &mut Assessment, around: &Around, until: Instant) {
    for part in &mut found.parts {
        if searched(part).iter().any(|folder| is_below(&around.folder.join(folder), until)) {
            found.secrets = true;
            part.reason = Reason::Secrets;
        }
    }
}

/// Returns the folders whose hidden files a part searches.
fn searched(part: &ClassifiedCommand) -> Vec<String> {
    let words: Vec<&str> = part.words.iter().map(|word| word.as_deref().unwrap_or(".")).collect();
    let Some((name, arguments)) = words.split_first() else { return Vec::new() };
    let short = |letters: &[char]| {
        arguments.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letters))
    };
    // A long option may be cut short.
    let long = |names: &[&str]| {
        arguments
            .iter()
            .any(|word| word.len() > 3 && word.starts_with("--") && names.iter().any(|n| n.starts_with(word)))
    };
    let operands: Vec<&str> = arguments.iter().copied().filter(|word| !word.starts_with('-')).collect();
    // Git's word for what it does is the first of them.
    let (name, operands) = match (name.rsplit('/').next().unwrap_or(name), operands.as_slice()) {
        ("git", [part, rest @ ..]) => (format!("git {part}"), rest),
        (name, all) => (name.to_string(), all),
    };
    let searches = match name.as_str() {
        name if SEARCHERS.contains(&name) => {
            short(&['r', 'R']) || long(&["--recursive", "--dereference-recursive"]) || is_told_to_recurse(arguments)
        }
        "rg" => short(&['u', '.']) || long(&["--hidden", "--unrestricted"]),
        "diff" => short(&['r']) || long(&["--recursive"]),
        // What git ignores is searched like all else.
        "git grep" => long(&["--no-index", "--no-exclude-standard"]),
        "git diff" => long(&["--no-index"]),
        _ => false,
    };
    if !searches {
        return Vec::new();
    }
    // The first operand of the others is what they search for.
    let patterns = usize::from(!name.ends_with("diff"));
    let folders: Vec<String> = operands.iter().skip(patterns).map(|word| word.to_string()).collect();
    if folders.is_empty() { vec![".".into()] } else { folders }
}

/// Returns whether `grep` is told to go into folders: `-d recurse`, where the word may be cut short.
fn is_told_to_recurse(arguments: &[&str]) -> bool {
    let recurses = |action: &str| !action.is_empty() && "recurse".starts_with(action);
    let is_long = |option: &str| option.len() > 3 && "--directories".starts_with(option);
    let is_short = |word: &str| word.starts_with('-') && !word.starts_with("--");
    let apart = arguments
        .windows(2)
        .any(|pair| (is_long(pair[0]) || is_short(pair[0]) && pair[0].ends_with('d')) && recurses(pair[1]));
    let attached = |word: &&str| match word.split_once('=') {
        Some((option, action)) => is_long(option) && recurses(action),
        None => is_short(word) && word.split_once('d').is_some_and(|(_, action)| recurses(action)),
    };
    apart || arguments.iter().any(attached)
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
            "git grep --no-index KEY",
            "git grep --no-index KEY a",
            "git --no-pager grep --untracked --no-exclude-standard KEY",
            "git diff --no-index c a",
        ] {
            assert!(of(text, soon), "{text}");
        }
        for text in [
            "grep -rn KEY c",
            "rg KEY",
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
