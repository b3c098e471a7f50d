//! Files that a simple command names and would change: those among them that act later are asked for.

use std::path::PathBuf;

use super::options::{ValuedOptions, apart};
use super::tables::{base, edits_in_place, git_part, named};
use super::word::Word;

/// Programs that change the files that they are given.
const CHANGE: &str = "\
    cp mv ln install tee truncate touch chmod chown sed perl ruby dd rsync patch ed ex rm rmdir unlink shred mkdir \
    mkfifo link symlink sponge vi vim nano awk gawk python python3 node";
/// Programs that unpack or fetch into a folder that an option names.
const INTO_FOLDER: &str = "tar bsdtar unzip 7z wget curl aria2c";
/// Options whose value is the file that a program writes.
const OUTPUTS: &[&str] = &["output", "output-document", "output-file", "out"];
/// Options whose value is the folder that it writes into.
const FOLDERS: &[&str] = &["directory", "output-dir", "directory-prefix", "one-top-level"];
const SED: ValuedOptions = ValuedOptions {
    valued: &[('e', "expression"), ('f', "file"), ('l', "line-length")],
    ends: Some('i'),
    whole: false,
};
const PATCH: ValuedOptions = ValuedOptions {
    valued: &[
        ('p', "strip"),
        ('i', "input"),
        ('o', "output"),
        ('d', "directory"),
        ('r', "reject-file"),
        ('B', "prefix"),
        ('D', "ifdef"),
        ('F', "fuzz"),
        ('V', "version-control"),
        ('Y', "basename-prefix"),
        ('z', "suffix"),
        ('g', "get"),
    ],
    ends: None,
    whole: false,
};

/// Options of `git config` that only read.
const GIT_READS: &[&str] = &["--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l", "--show-origin"];

/// Returns the patterns of the paths that a simple command may change.
pub fn patterns(name: &str, words: &[Word]) -> Vec<String> {
    let (name, arguments) = (base(name), words.get(1..).unwrap_or_default());
    // What is copied is only read.
    let sources = if named("cp ln install rsync", name) { arguments.len().saturating_sub(1) } else { 0 };
    let paths = arguments[sources..].iter().filter(|word| !word.text.starts_with('-'));
    if named(CHANGE, name) { paths.filter_map(Word::as_pattern).collect() } else { Vec::new() }
}

/// Returns whether a program takes a folder with all that lies below it away from its place.
pub fn takes_content(name: &str) -> bool {
    named("rm mv srm rimraf", base(name))
}

/// Returns the paths that a simple command may change, as far as its text shows them.
pub fn changed(name: &str, words: &[Word]) -> Vec<String> {
    let arguments = words.get(1..).unwrap_or_default();
    let name = base(name);
    let mut paths = outputs(name, arguments);
    if name == "git" && sets_git(arguments) {
        paths.push(git_config(arguments));
    }
    if name == "git" || !named(CHANGE, name) {
        return paths;
    }
    if name == "patch" {
        // The patch itself is only read. What it changes lies in the folder that it goes into first.
        let (values, operands) = apart(&texts(arguments), PATCH);
        let into = values.iter().rfind(|(letter, _)| *letter == 'd').map(|(_, folder)| format!("{folder}/"));
        let changed = operands.first().and_then(|at| arguments[*at].value());
        paths.extend(changed.map(|path| format!("{}{path}", into.unwrap_or_default())));
        return paths;
    }
    let known: Vec<&str> = arguments.iter().filter_map(Word::value).filter(|word| !word.starts_with('-')).collect();
    let names_target = named("cp mv ln install", name);
    let folders: Vec<&str> = arguments.iter().filter(|_| names_target).filter_map(target).collect();
    // What is copied is only read.
    let copies = named("cp ln install rsync", name) && folders.is_empty();
    let sources = if copies { known.len().saturating_sub(1) } else { 0 };
    paths.extend(known[sources..].iter().map(|word| word.strip_prefix("of=").unwrap_or(word).to_string()));
    // What lands in a folder has its own name there.
    if let Some((onto, from)) = known.split_last() {
        paths.extend(from.iter().map(|from| format!("{}/{}", onto.trim_end_matches('/'), base(from))));
    }
    for folder in folders.into_iter().filter(|folder| !folder.is_empty()) {
        paths.extend(known.iter().map(|from| format!("{}/{}", folder.trim_end_matches('/'), base(from))));
    }
    paths
}

/// Returns the paths that a command which writes is told to write, by an option or as what it changes in place, beside
/// those of [`super`]'s targets.
pub fn written(name: &str, words: &[Word]) -> Vec<String> {
    let arguments = words.get(1..).unwrap_or_default();
    let name = base(name);
    let operands = |words: &[Word]| -> Vec<String> {
        let known = words.iter().filter_map(Word::value).filter(|word| !word.starts_with('-'));
        known.map(str::to_string).collect()
    };
    let mut paths = outputs(name, arguments);
    match name {
        "cp" | "mv" | "ln" | "install" => {
            for (at, word) in arguments.iter().enumerate() {
                let next = arguments.get(at + 1).and_then(Word::value);
                let folder =
                    target(word).map(|folder| if folder.is_empty() { next.unwrap_or_default() } else { folder });
                paths.extend(folder.map(str::to_string));
            }
        }
        "sed" if edits_in_place(arguments) => {
            let (values, operands) = apart(&texts(arguments), SED);
            // The first is the script, where no option gives one.
            let scripts = usize::from(!values.iter().any(|(letter, _)| matches!(letter, 'e' | 'f')));
            let files = operands.into_iter().skip(scripts).filter_map(|at| arguments[at].value());
            paths.extend(files.map(str::to_string));
        }
        "patch" => {
            let (values, operands) = apart(&texts(arguments), PATCH);
            // The patch itself is only read.
            let written =
                values.into_iter().filter(|(letter, _)| matches!(letter, 'd' | 'r' | 'B')).map(|(_, word)| word);
            paths.extend(written);
            paths.extend(operands.first().and_then(|at| arguments[*at].value()).map(str::to_string));
        }
        "git" => match git_part(arguments) {
            [part, add, rest @ ..] if part.value() == Some("worktree") && add.value() == Some("add") => {
                paths.extend(operands(rest));
            }
            _ => {}
        },
        _ => {}
    }
    paths.into_iter().filter(|path| !path.is_empty()).collect()
}

fn texts(words: &[Word]) -> Vec<&str> {
    words.iter().map(|word| word.text.as_str()).collect()
}

/// Returns the folder that an option of `cp` and its like names, as far as it stands in the same word: `-tDIR`, also
/// behind other letters, and `--target-directory=DIR` with any of its abbreviations.
fn target(word: &Word) -> Option<&str> {
    let text = word.text.as_str();
    if let Some(long) = text.strip_prefix("--t") {
        return Some(long.split_once('=').map_or("", |(_, folder)| folder));
    }
    let short = text.strip_prefix('-').filter(|short| !short.starts_with('-'))?;
    short
        .split_once('t')
        .filter(|(before, _)| before.bytes().all(|b| b.is_ascii_alphabetic()))
        .map(|(_, folder)| folder)
}

/// Returns the files that options name as where a program writes, and the folders into which it unpacks or fetches.
fn outputs(name: &str, arguments: &[Word]) -> Vec<String> {
    let to_folder = named(INTO_FOLDER, name);
    let mut paths = Vec::new();
    for (i, word) in arguments.iter().enumerate() {
        let next = arguments.get(i + 1).map(|word| word.text.as_str());
        let text = word.text.as_str();
        if let Some(long) = text.strip_prefix("--") {
            let (option, value) = long.split_once('=').map_or((long, next), |(option, value)| (option, Some(value)));
            // A long option may be cut short as long as it is clear.
            let names = |known: &&str| !option.is_empty() && known.starts_with(option);
            let is_output = OUTPUTS.iter().any(&names) || to_folder && FOLDERS.iter().any(&names);
            paths.extend(value.filter(|_| is_output));
        } else if let Some(short) = text.strip_prefix('-') {
            let names = |letter: char| matches!(letter, 'o' | 'O') || to_folder && matches!(letter, 'C' | 'd' | 'P');
            // Which of the letters takes a value is the program's to know: each that may is taken to.
            let letters = short.char_indices().take_while(|(_, letter)| letter.is_ascii_alphabetic());
            for (at, letter) in letters.filter(|(_, letter)| names(*letter)) {
                let attached = &short[at + letter.len_utf8()..];
                paths.extend(Some(attached).filter(|attached| !attached.is_empty()));
                paths.extend(next.filter(|_| attached.bytes().all(|b| b.is_ascii_alphabetic())));
            }
        }
    }
    // The old style of tar: one word of letters without a dash, then their values in order.
    if matches!(name, "tar" | "bsdtar")
        && let Some((letters, values)) = arguments.split_first()
        && !letters.text.starts_with('-')
        && letters.text.contains('C')
    {
        paths.extend(values.iter().map(|word| word.text.as_str()));
    }
    paths.into_iter().filter(|path| !path.is_empty()).map(str::to_string).collect()
}

/// Returns the path of the configuration that git writes, in the folder that it changes to first.
fn git_config(arguments: &[Word]) -> String {
    let own = arguments.len() - git_part(arguments).len();
    let folders = arguments[..own].windows(2).filter(|two| two[0].text == "-C").map(|two| two[1].text.as_str());
    let mut path: PathBuf = folders.collect();
    path.push(".git/config");
    path.to_string_lossy().into_owned()
}

/// Returns whether a part of git writes its configuration.
fn sets_git(arguments: &[Word]) -> bool {
    let Some((part, rest)) = git_part(arguments).split_first() else { return false };
    if part.value() != Some("config") {
        return false;
    }
    let mut operands = rest.iter().filter(|word| !word.text.starts_with('-'));
    let first = operands.next().map(|word| word.text.as_str());
    let is_alone = first.is_some_and(|part| part != "edit") && operands.next().is_none();
    let removes = |word: &Word| ["--unset", "--remove", "--rename", "--edit"].iter().any(|o| word.text.starts_with(o));
    let asks = |word: &Word| GIT_READS.contains(&word.text.as_str());
    let reads = rest.iter().take_while(|word| word.text.starts_with('-')).any(asks)
        || matches!(first, Some("get" | "list"))
        || is_alone && !rest.iter().any(|word| removes(word) || word.text == "-e");
    !reads
}
