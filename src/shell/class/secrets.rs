//! A check for commands that may print a file that usually holds keys: its output goes to the model, and such a file is
//! sent only after a question.

mod braces;
mod flags;
mod forms;
mod links;
mod listing;
mod pattern;
mod search;
mod tracked;
mod walk;

use std::ops::Range;

use super::parse::SimpleCommand;
use super::tables;
use super::word::Word;
use crate::workspace::holds_secrets;
pub(super) use search::look_below;

/// Returns whether a text names such a file anywhere, also in what an interpreter is given to run, and by a pattern that
/// only such names begin like. One that a search is to leave out is not named.
pub(super) fn is_named_in(text: &str) -> bool {
    is_named_from(text, 0, &leaves_out_of_text)
}

/// Returns whether one of the words of a simple command names such a file.
pub(super) fn are_named(words: &[Word]) -> bool {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    words.iter().enumerate().any(|(at, word)| {
        // What the words before say of a test counts in a `find` only, however they are written.
        let is_test = is_left_out_by_test(&texts[..at]);
        let before = texts[..at].last().map(|text| format!("{text} ")).unwrap_or_default();
        let whole = format!("{before}{}", word.text);
        !is_test && (may_name(word, &before) || is_named_from(&whole, before.len(), &leaves_out))
    })
}

fn is_named_from(text: &str, from: usize, leaves_out: &dyn Fn(&str) -> bool) -> bool {
    let is_apart = |c: char| !c.is_alphanumeric() && !"_.-".contains(c);
    let names = |part: &str, before: &str| {
        let (name, rest) = part.split_at(part.find(is_apart).unwrap_or(part.len()));
        // Several names begin between braces, and go on behind them.
        let is_of_several = before.ends_with(['{', ',']) && rest.starts_with([',', '}']);
        let is_open = rest.starts_with(['*', '?', '[', '{']) || is_of_several;
        let is_pattern = matches!(name, ".e" | ".en") && is_open;
        holds_secrets(name) || is_pattern || part.starts_with(".{e")
    };
    let begins = |at: usize| at >= from && text[..at].chars().next_back().is_none_or(is_apart);
    let mut places = text.match_indices('.').map(|(at, _)| at).filter(|at| begins(*at));
    places.any(|at| names(&text[at..], &text[..at]) && !leaves_out(&text[..at]))
}

/// Returns whether the name that follows a text is one to leave out: `--exclude=`, `-g '!`.
fn leaves_out(before: &str) -> bool {
    let before = before.trim_end_matches(['"', '\'']);
    let before = before.strip_suffix("**/").unwrap_or(before).trim_end_matches(['"', '\'']);
    match before.strip_suffix('!') {
        Some(rest) => rest.is_empty() || rest.ends_with(['"', '\'', '=', ':', 'g', ' ']),
        None => before.ends_with("--exclude="),
    }
}

/// Returns whether the name that follows a text is one to leave out, also by a test of a `find` that begins in it.
fn leaves_out_of_text(before: &str) -> bool {
    let own = before.trim_end_matches(['"', '\'']);
    let begun = own.rfind(['|', ';', '&', '\n', '`']).map_or(0, |at| at + 1);
    let begun = own.rfind("$(").map_or(begun, |at| begun.max(at + 2));
    let words: Vec<&str> = own[begun..].split_whitespace().collect();
    leaves_out(before) || is_left_out_by_test(&words)
}

/// Returns whether the word after these is a name that a `find` leaves out: `-not -name`. What it runs has words of its own.
fn is_left_out_by_test(before: &[&str]) -> bool {
    let [name, .., not, "-name" | "-iname"] = before else { return false };
    let is_not = |word: &&&str| matches!(**word, "!" | "-not");
    let runs = |word: &&str| ["-exec", "-ok"].iter().any(|action| word.starts_with(action));
    let count = before[..before.len() - 1].iter().rev().take_while(is_not).count();
    tables::base(name) == "find" && is_not(&not) && count == 1 && !before.iter().any(runs)
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

/// Returns whether a word, after what stands `before` it, may be the path of such a file: `.e"nv"`, `config/.e*`.
pub(super) fn may_name(word: &Word, before: &str) -> bool {
    let at = word.text.rfind(['/', '=', ':', '@']).map_or(0, |at| at + 1);
    let (start, name) = word.text.split_at(at);
    let names = holds_secrets(name) || word.splits && !name.is_empty() && ".env".starts_with(name);
    word.is_garbled
        || names && !leaves_out(&format!("{before}{start}"))
        || word.pattern.as_deref().is_some_and(|word| becomes(word, before))
}

/// The most braces of a word that are read.
const BRACES: usize = 32;

/// Returns whether a word with braces becomes one that names such a file.
fn becomes(word: &str, before: &str) -> bool {
    let names = |word: String| {
        let name = &word[word.rfind('/').map_or(0, |at| at + 1)..];
        let begun = name.find(['*', '?', '[']).filter(|end| *end > 0).map(|end| &name[..end]);
        begun.is_some_and(|begun| ".env".starts_with(begun))
            || is_named_from(&format!("{before}{word}"), before.len(), &leaves_out)
    };
    // What becomes too many words is not read: it may be any.
    word.contains('{') && {
        let words = (word.matches('{').count() <= BRACES).then(|| braces::expansions(word));
        words.is_none_or(|words| words.len() >= braces::MOST || words.into_iter().any(names))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Around, Assessment, Class, Reason, assess, disk};

    fn of(text: &str, root: &Path) -> Assessment {
        let around = Around { root: root.into(), folder: root.into(), ..Around::default() };
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
            "cat {.e,x}nv",
            "cat conf/{x,.en}v",
            "cat {.,conf/.}env",
            "cat ./{.,_}env",
            "cat {.,_}*",
            "cat $'\\x2eenv'",
            "cat $'\\056env'",
            "cat $'.e\\x6ev'",
            "cat conf/$'\\u2e'env",
            "cat .$'\\U00000065n'\"v\"",
            "tr a b < $'\\56env'",
            "for f in a $'.\\145nv'; do cat \"$f\"; done",
            "bash -c $'cat .e\\x6ev'",
            "cat $'a\\xff'",
            "cat $'\\x{2e}env'",
            "cat $'.env\\0a'",
            "grep -h KEY {.,conf/.}env",
            "cat {x,.{a,e{m..o}v}}",
            "for f in {.,conf/.}env; do cat \"$f\"; done",
            "grep -rn x --exclude=.env .env",
            "grep -rn x --exclude= .env",
            "find . -not -name a -name .env",
            "cat \"a!\" .env",
            "cat -- ! -name .env",
            "cat '|find' ! -name .env",
            "find . ! ! -name .env | xargs cat",
            "find . -not ! -name '.env' | xargs cat",
            "find . -exec cat ! -name .env \\;",
            "find . -not -name .envrc .env",
            "xargs cat ! -name .env",
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
            "grep -rn x --exclude=.env* .",
            "grep -rn x --exclude='.env' src",
            "grep -n x --exclude={.,_}env src",
            "cat {.,conf/.}x ./{a,b}env",
            "cat $'\\x61.env' $'a\\tb' $'it\\'s' $'\\q.env'",
            "rg -uu -g '!.env*' x",
            "rg -uu -g'!**/.env' x",
            "find . -type f -not -name '.env*' ! -name \".env\"",
            "git grep x -- ':!.env'",
            "ls; /usr/bin/find . ! -name .env | head",
            "x=$(find . -type f ! -name '.env*')",
            "find . -type f ! -name '.env' -exec wc -l {} +",
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
}
