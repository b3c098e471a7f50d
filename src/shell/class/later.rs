//! Files that a simple command names and would change: those among them that act later are asked for.

use super::tables::{base, git_part, named};
use super::word::Word;

/// Programs that change the files that they are given.
const CHANGE: &str = "\
    cp mv ln install tee truncate touch chmod chown sed perl ruby dd rsync patch ed ex rm rmdir unlink shred mkdir \
    mkfifo link symlink sponge vi vim nano awk gawk python python3 node";
/// Options of `git config` that only read, and its parts that do.
const GIT_READS: &[&str] =
    &["get", "list", "--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l", "--show-origin"];

/// Returns the paths that a simple command may change, as far as its text shows them.
pub fn changed(name: &str, words: &[Word]) -> Vec<String> {
    let arguments = words.get(1..).unwrap_or_default();
    let name = base(name);
    if name == "git" {
        return if sets_git(arguments) { vec![".git/config".into()] } else { Vec::new() };
    }
    if !named(CHANGE, name) {
        return Vec::new();
    }
    let known: Vec<&str> = arguments.iter().filter_map(Word::value).filter(|word| !word.starts_with('-')).collect();
    // What is copied is only read.
    let into = arguments.iter().any(|word| word.text.starts_with("-t") || word.text.starts_with("--target"));
    let sources = if named("cp ln install rsync", name) && !into { known.len().saturating_sub(1) } else { 0 };
    let mut paths: Vec<String> =
        known[sources..].iter().map(|word| word.strip_prefix("of=").unwrap_or(word).to_string()).collect();
    // What lands in a folder has its own name there.
    if let Some((onto, from)) = known.split_last() {
        paths.extend(from.iter().map(|from| format!("{}/{}", onto.trim_end_matches('/'), base(from))));
    }
    paths
}

/// Returns whether a part of git writes its configuration.
fn sets_git(arguments: &[Word]) -> bool {
    let Some((part, rest)) = git_part(arguments).split_first() else { return false };
    if part.value() != Some("config") {
        return false;
    }
    let operands = rest.iter().filter(|word| !word.text.starts_with('-')).count();
    let removes = |word: &Word| ["--unset", "--remove", "--rename", "--edit"].iter().any(|o| word.text.starts_with(o));
    let reads = rest.iter().any(|word| GIT_READS.contains(&word.text.as_str()))
        || operands == 1 && !rest.iter().any(|word| removes(word) || word.text == "-e");
    !reads
}
