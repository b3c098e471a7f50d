//! Private files that a command which only reads names: where there is no sandbox, nothing else keeps it from them.

use std::path::{Path, PathBuf};

use crate::shell::class::{Assessment, Class, flat};

/// Programs that read what lies in the folder they run in, though no word names it.
const WANDERERS: &[&str] = &["ack", "ag", "du", "egrep", "fd", "fgrep", "find", "grep", "rg", "tree"];

/// Programs that read no file, but for its name.
const NAME_READERS: &[&str] = &["cd", "ls", "popd", "pushd"];

/// Notes the first word of a text that stands for a private file or folder, for what is in one, or for a folder that holds
/// one. A path in a folder that is not known may be any. `private`: real paths; `home`: the folder that `~` is.
pub fn find_private(found: &mut Assessment, home: Option<&Path>, private: &[PathBuf]) {
    if found.class != Class::Read {
        return;
    }
    let is_met = |path: &Path| {
        let path = path.canonicalize().unwrap_or_else(|_| flat(path));
        private.iter().any(|own| path.starts_with(own) || own.starts_with(&path))
    };
    let leads_there = |place: &str, folder: Option<&Path>| match (place.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            is_met(&home.join(rest.trim_start_matches('/')))
        }
        (Some(_), _) => true,
        (None, _) if place.starts_with('/') => is_met(Path::new(place)),
        (None, _) => folder.is_none_or(|folder| is_met(&folder.join(place))),
    };
    let is_private = |word: &str, folder: Option<&Path>| places(word).any(|place| leads_there(place, folder));
    let of_parts = found.parts.iter().find_map(|part| {
        let name = part.words.first().and_then(Option::as_deref).filter(|name| !NAME_READERS.contains(name))?;
        let here = WANDERERS.contains(&name).then_some(".");
        let mut words = part.words.iter().skip(1).flatten().map(String::as_str).chain(here);
        words.find(|word| is_private(word, part.folder.as_deref()))
    });
    let opened = || found.opened.iter().flatten().map(String::as_str).find(|path| is_private(path, None));
    found.private = of_parts.or_else(opened).map(str::to_string);
}

/// Returns the paths that a word may give: itself, what stands behind the sign of a value, and what stands behind the
/// letters of an option, wherever they end.
fn places(word: &str) -> impl Iterator<Item = &str> {
    let values = word.match_indices(['=', ':', '@']).map(|(at, _)| &word[at + 1..]);
    // The shell leaves a tilde there as it is.
    let behind =
        word.char_indices().skip(2).filter(|(_, c)| word.starts_with('-') && *c != '~').map(|(at, _)| &word[at..]);
    // A longer path cannot be opened.
    std::iter::once(word).chain(values).chain(behind).filter(|place| (1..4_096).contains(&place.len()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::shell::class::{Around, assess};

    #[test]
    fn a_private_file_is_found_however_a_reading_command_comes_to_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let home = dir.path().canonicalize().expect("real");
        for folder in [".ssh", "project/src"] {
            fs::create_dir_all(home.join(folder)).expect("made");
        }
        for file in [".ssh/id", "project/a", "other"] {
            fs::write(home.join(file), "x").expect("written");
        }
        std::os::unix::fs::symlink(home.join(".ssh"), home.join("project/way")).expect("linked");
        let root = home.join("project");
        let private = [home.join(".ssh/id")];
        let around = Around { root: root.clone(), folder: root, ..Around::default() };
        let at = home.display();
        let of = |text: &str| {
            let mut found = assess(text, &around, false);
            assert_eq!(found.class, Class::Read, "{text}");
            find_private(&mut found, Some(&home), &private);
            found.private
        };
        for text in [
            "cat ~/.ssh/id".to_string(),
            "cat ~root/.ssh/id".into(),
            format!("cat {at}/.ssh/id"),
            format!("cat {at}/project/../.ssh/id"),
            "cat ../.ssh/id".into(),
            "cat src/../../.ssh/id".into(),
            "cat way/id".into(),
            "ls a && cat < ~/.ssh/id".into(),
            format!("cat < {at}/.ssh/id"),
            "cd src && cat < ../../.ssh/id".into(),
            format!("grep -r x {at}"),
            "grep -r x ..".into(),
            "cd .. && grep -r x".into(),
            "cd - && cat a".into(),
            format!("grep -f{at}/.ssh/id a"),
            "grep -f../.ssh/id a".into(),
            "grep -nf../.ssh/id a".into(),
            format!("grep --file={at}/.ssh/id a"),
        ] {
            assert!(of(&text).is_some(), "{text}");
        }
        for text in [
            "cat a",
            "grep -rn -e.ssh src",
            "grep -f../other a",
            "grep -rn x src",
            "cat ../other",
            "cat ~/other",
            "cat < a",
            "cat /etc/passwd",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
        for text in ["cd src && cd .. && cat a", "ls ~", "cd src && ls .."] {
            assert_eq!(of(text), None, "its names may be read: {text}");
        }
        assert_eq!(of("ls; cat ~/.ssh/id").as_deref(), Some("~/.ssh/id"));
    }
}
