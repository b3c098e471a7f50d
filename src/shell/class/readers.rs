//! Programs that only read, and the options with which they do.

use super::tables::named;
use super::word::Word;

/// Programs that only read, whatever their options are.
const ANY: &str = "\
    cat ls head tail wc grep egrep fgrep stat cmp cut tr jq which type pwd echo true false : basename dirname \
    realpath readlink nl od hexdump strings md5sum sha1sum sha256sum sha512sum cksum seq sleep id whoami uname \
    uptime df du free nproc groups arch tty column fold tac rev comm join paste expand unexpand diff test cd exit \
    break continue return getconf locale printenv ps pgrep lscpu lsblk expr shift numfmt fmt factor \
    tsort ldd";
/// Options of `rg` that run programs or hand files to them.
const RG: &[&str] = &["--pre", "--pre-glob", "--hostname-bin", "-z", "--search-zip"];
/// Options that make `find` do more than look.
const FIND: &[&str] =
    &["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-files0-from"];
/// Parts of git that only look.
const GIT: &[&str] =
    &["status", "log", "diff", "show", "blame", "rev-parse", "ls-files", "grep", "shortlog", "describe"];
/// Options of git before its part that change nothing of it.
const GIT_PLAIN: &[&str] = &["--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"];

/// Returns whether a simple command runs nothing that the workspace configures: git and cargo, asked to look, may.
pub fn runs_nothing(name: &str) -> bool {
    named(ANY, name)
}

/// Returns whether a program is only asked for its version.
pub fn asks_version(words: &[Word]) -> bool {
    let known: Vec<Option<&str>> = words.iter().map(Word::value).collect();
    matches!(known.as_slice(), [Some(name), Some("--version")] if !name.contains('/'))
}

/// Returns whether a simple command only reads. `words` are its name and arguments.
pub fn only_reads(words: &[Word]) -> bool {
    let Some((name, arguments)) = words.split_first() else { return true };
    let Some(name) = name.value() else { return false };
    let known: Vec<Option<&str>> = arguments.iter().map(Word::value).collect();
    let none = |unwanted: &dyn Fn(&str) -> bool| {
        !arguments.iter().any(|word| (word.may_be_option() && word.value().is_none()) || unwanted(&word.text))
    };
    match name {
        name if named(ANY, name) => {
            !(name == "test" && arguments.iter().any(|word| word.text.contains(['[', '`', '$']) || word.text == "-v"))
        }
        "printf" => none(&|word| word.starts_with("-v")),
        "date" => none(&|word| word.starts_with('-') && !is_date_option(word)) && !sets_clock(arguments),
        // The subscript of the name after `-p` is evaluated.
        "wait" => none(&|word| word.starts_with('-') && word.contains('p')),
        "jobs" => none(&|word| word.starts_with('-') && word.contains('x')),
        "env" => arguments.is_empty(),
        "uniq" => none(&|word| word.starts_with("--")) && operands(arguments) <= 1,
        "sort" => none(&|word| {
            !cluster(
                word,
                "bcdfghiMmnRrsuVzkt",
                &[
                    "--reverse",
                    "--unique",
                    "--numeric-sort",
                    "--version-sort",
                    "--human-numeric-sort",
                    "--stable",
                    "--ignore-case",
                ],
            )
        }),
        "tree" => none(&|word| {
            !cluster(word, "adfLIPCNnipsuDhFrtv", &["--dirsfirst", "--noreport", "--gitignore", "--prune", "--du"])
        }),
        "file" => none(&|word| !cluster(word, "bikLhsz0", &["--brief", "--mime", "--mime-type", "--mime-encoding"])),
        "rg" => none(&|word| RG.iter().any(|bad| word.starts_with(bad)) || short_with(word, 'z')),
        "find" => none(&|word| FIND.contains(&word)),
        "sed" => sed(arguments),
        "git" => git(arguments),
        "cargo" => cargo(&known),
        _ => false,
    }
}

/// Returns whether a word is no option, or one of these.
fn cluster(word: &str, letters: &str, long: &[&str]) -> bool {
    match word.strip_prefix('-') {
        None | Some("") => true,
        Some(rest) if rest.starts_with('-') => long.contains(&word) || rest == "-",
        Some(rest) => rest.chars().all(|c| letters.contains(c) || c.is_ascii_digit() || matches!(c, ',' | '.' | ':')),
    }
}

fn short_with(word: &str, letter: char) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains(letter)
}

fn operands(arguments: &[Word]) -> usize {
    arguments.iter().filter(|word| !word.text.starts_with('-') || word.text == "-").count()
}

fn is_date_option(word: &str) -> bool {
    ["-u", "-R", "-d", "-r", "--utc", "--rfc-2822", "--rfc-email"].contains(&word)
        || word.starts_with("-I")
        || word.starts_with("--date=")
        || word.starts_with("--iso-8601")
        || word.starts_with("--rfc-3339=")
}

/// Returns whether the clock is set: `date 11222026` sets it; only a format, or what follows `-d` and `-r`, is given
/// otherwise.
fn sets_clock(arguments: &[Word]) -> bool {
    let mut before = "";
    arguments.iter().any(|word| {
        let takes = matches!(std::mem::replace(&mut before, word.text.as_str()), "-d" | "-r");
        !takes && !word.text.starts_with(['-', '+'])
    })
}

/// Returns whether it is `sed -n` with a script that writes no file and runs nothing: addresses, `p`, `=`, `q`, and
/// what they are made of.
fn sed(arguments: &[Word]) -> bool {
    let Some(values) = arguments.iter().map(Word::value).collect::<Option<Vec<_>>>() else { return false };
    let quiet = values.iter().any(|word| ["-n", "--quiet", "--silent", "-nE", "-En", "-nr"].contains(word));
    let options = values.iter().filter(|word| word.starts_with('-'));
    let plain = options
        .clone()
        .all(|word| ["-n", "--quiet", "--silent", "-nE", "-En", "-nr", "-E", "-r", "-e", "-s"].contains(word));
    // What follows `-e` is the script, wherever it stands.
    let script = match values.iter().position(|word| *word == "-e") {
        Some(at) => values.get(at + 1),
        None => values.iter().find(|word| !word.starts_with('-')),
    };
    let several = values.iter().filter(|word| **word == "-e").count() > 1;
    let prints = |script: &str| {
        let outside = without_patterns(script);
        outside.chars().all(|c| c.is_ascii_digit() || "pq=,;$! {}\n~+".contains(c))
    };
    quiet && plain && !several && script.is_some_and(|script| prints(script))
}

/// Returns a script of `sed` without what stands between slashes.
fn without_patterns(script: &str) -> String {
    let (mut outside, mut inside, mut escaped) = (String::new(), false, false);
    for c in script.chars() {
        match (c, escaped) {
            ('/', false) => inside = !inside,
            _ if !inside => outside.push(c),
            _ => {}
        }
        escaped = inside && c == '\\' && !escaped;
    }
    // A pattern that does not end is no pattern.
    if inside { script.to_string() } else { outside }
}

fn git(arguments: &[Word]) -> bool {
    let Some(at) = arguments.iter().position(|word| !word.value().is_some_and(|word| GIT_PLAIN.contains(&word))) else {
        return false;
    };
    let Some(part) = arguments.get(at).and_then(Word::value) else { return false };
    let rest = arguments.get(at + 1..).unwrap_or_default();
    let bad = |word: &Word| {
        let text = word.text.as_str();
        let runs = text.starts_with("--o") && !["--oneline", "--others", "--only-matching", "--or"].contains(&text);
        word.may_be_option() && word.value().is_none()
            || runs
            || text.starts_with("--ext")
            || text.starts_with("--textc")
            || text.starts_with("-O")
    };
    match part {
        "branch" => rest.iter().all(|word| {
            word.value()
                .is_some_and(|word| ["-a", "-r", "-v", "-vv", "--list", "--show-current", "--all"].contains(&word))
        }),
        "remote" | "stash" | "tag" | "worktree" => {
            let listed = if part == "remote" { vec!["-v"] } else { vec!["list"] };
            rest.iter().map(|word| word.value().unwrap_or_default()).eq(listed)
        }
        part => GIT.contains(&part) && !rest.iter().any(bad),
    }
}

fn cargo(known: &[Option<&str>]) -> bool {
    match known {
        [Some("tree"), rest @ ..] => rest.iter().all(Option::is_some),
        [Some("metadata"), rest @ ..] => rest.contains(&Some("--offline")) && rest.iter().all(Option::is_some),
        _ => false,
    }
}
