//! The words after a program that runs others, without those that name no program.

use super::kinds::Class;
use super::tables;
use super::word::Word;

/// Programs whose arguments hold a text in a language of their own.
const INTERPRETERS: &str = "awk gawk mawk python python2 python3 perl ruby node nodejs deno bun php lua tclsh";
/// Words of these languages that the name of a module follows.
const IMPORTS: [&str; 4] = ["import", "from", "require", "use"];
/// Parts of git whose messages are text and nothing else.
const MESSAGES: [&str; 6] = ["commit", "tag", "merge", "notes", "stash", "revert"];

/// Returns the words after a program of this name, one after the other.
pub fn text(name: &str, words: &[Word]) -> String {
    let arguments: Vec<&str> = words.iter().skip(1).map(|word| word.text.as_str()).collect();
    match name {
        "git" => without_messages(&arguments).join(" "),
        _ if tables::named(INTERPRETERS, name) => without_calls(&arguments.join(" ")),
        _ => arguments.join(" "),
    }
}

/// Leaves out the messages of a commit and its like, which git stores and does not run.
fn without_messages<'w>(arguments: &[&'w str]) -> Vec<&'w str> {
    let mut words = arguments.iter().copied();
    let mut found = Vec::new();
    // The options before the part of git that is asked for; some take a value.
    for word in words.by_ref() {
        let is_value = matches!(found.last(), Some(&("-c" | "-C" | "--git-dir" | "--work-tree")));
        found.push(word);
        if !is_value && !word.starts_with('-') {
            break;
        }
    }
    if !found.last().is_some_and(|part| MESSAGES.contains(part)) {
        found.extend(words);
        return found;
    }
    while let Some(word) = words.next() {
        let is_bundle = word.starts_with('-') && !word.starts_with("--") && word.ends_with('m');
        if is_bundle || ["--message", "--author", "--trailer"].contains(&word) {
            words.next();
        } else if !["--message=", "--author=", "--trailer="].iter().any(|option| word.starts_with(option)) {
            found.push(word);
        }
    }
    found
}

/// Leaves out what a text of code calls, has as a part of something, or imports: `open(`, `x.at`, `import docker`. The
/// names of programs that remove are kept, since functions of these names do.
fn without_calls(text: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::new();
    let (mut rest, mut before) = (text, "");
    while let Some(start) = rest.find(is_part) {
        let gap = &rest[..start];
        let end = rest[start..].find(|c| !is_part(c)).map_or(rest.len(), |length| start + length);
        let (word, after) = (&rest[start..end], &rest[end..]);
        out.push_str(gap);
        let is_called = after.starts_with('(');
        let is_member =
            gap == "." && !before.is_empty() && after.trim_start().starts_with(['(', '.', '=', ')', ',', ';']);
        // `require 'x'`, `require("x")`.
        let is_between = |c: char| c.is_whitespace() || "('\"".contains(c);
        let is_imported = !gap.is_empty() && gap.chars().all(is_between) && IMPORTS.contains(&before);
        let is_code = is_called || is_member || is_imported;
        let removes = tables::class_of(&[Word::known(word)]).0 == Class::Harm;
        out.push_str(if is_code && !removes { "_" } else { word });
        (rest, before) = (after, word);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, arguments: &[&str]) -> String {
        let words: Vec<Word> = [name].iter().chain(arguments).map(|word| Word::known(word)).collect();
        text(name, &words)
    }

    #[test]
    fn code_that_calls_or_imports_names_no_program() {
        assert_eq!(of("python3", &["-c", "print(open('f').read())"]), "-c _(_('f')._())");
        assert_eq!(of("python3", &["-c", "import docker; docker.from_env()"]), "-c import _; docker._()");
        assert_eq!(of("perl", &["-e", "unlink('a'); system('docker rm x')"]), "-e unlink('a'); _('docker rm x')");
        assert_eq!(of("node", &["-e", "require('fs').open('a')"]), "-e _('_')._('a')");
        assert_eq!(of("node", &["-e", "require(\"http\").get('x')"]), "-e _(\"_\")._('x')");
        assert_eq!(of("perl", &["-e", "require `curl x`"]), "-e require `curl x`");
        assert_eq!(of("script", &["-c", "open(1)"]), "-c open(1)");
    }

    #[test]
    fn messages_of_git_are_not_run() {
        assert_eq!(of("git", &["commit", "-m", "explain kubectl", "--", "a"]), "commit -- a");
        assert_eq!(of("git", &["-C", "sub", "commit", "-qam", "git push", "--author=curl <a@b>"]), "-C sub commit");
        assert_eq!(of("git", &["-c", "core.editor=docker run", "commit"]), "-c core.editor=docker run commit");
        assert_eq!(of("git", &["rebase", "-m", "-x", "docker run"]), "rebase -m -x docker run");
    }
}
