//! The files that a `find` lists, as far as its words show them.

use std::path::{Path, PathBuf};

use globset::GlobMatcher;

use super::forms;

/// The words that actions begin with.
const ACTIONS: &[&str] = &["-print", "-exec", "-ok", "-ls", "-fprint", "-fls", "-delete"];

/// A test of `find`.
enum FindTest {
    /// The name is, or is not, of this form.
    Name(GlobMatcher, bool),
    /// The path, as it is listed, is, or is not, of this form.
    Place(GlobMatcher, bool),
}

/// The tests of which all let a file be listed, up to the first action among them.
#[derive(Default)]
struct FindGroup {
    tests: Vec<FindTest>,
    /// An action follows the tests: those after it limit nothing that it does.
    acts: bool,
    /// It holds `-prune` after and outside of all parentheses: where it has no action, and others do, it lists nothing.
    prunes: bool,
}

/// The files that a `find` lists.
pub struct FindListing {
    /// The folders that it starts in, each as it is named, where that is known, and where it lies.
    starts: Vec<(Option<String>, PathBuf)>,
    /// The groups of tests of which one lets a file be listed.
    groups: Vec<FindGroup>,
    /// The folders that it goes down at most.
    depth: Option<usize>,
    /// It goes down the folders that links lead to.
    pub follows_links: bool,
}

impl FindListing {
    /// Reads the arguments of a `find` that runs in a folder. A word that is not known is `.`, and one that stands for files is
    /// empty: `more` are those.
    pub fn of(arguments: &[&str], folder: &Path, more: Vec<PathBuf>) -> FindListing {
        let has = |wanted: &[&str]| arguments.iter().any(|word| wanted.contains(word));
        let is_option = |word: &&&str| matches!(**word, "-H" | "-L" | "-P");
        let arguments = &arguments[arguments.iter().take_while(is_option).count()..];
        let begins = |word: &&&str| !word.starts_with(['-', '(', ')', '!']);
        let (mut named, tests) = arguments.split_at(arguments.iter().take_while(begins).count());
        // What a file names may be anything there.
        let of_file = has(&["-files0-from"]).then(|| (None, folder.to_path_buf()));
        if named.is_empty() {
            named = &["."];
        }
        let named =
            named.iter().filter(|name| !name.is_empty()).map(|name| (Some(name.to_string()), folder.join(name)));
        let starts = named.chain(more.into_iter().map(|path| (None, path))).chain(of_file).collect();
        let follows_links = has(&["-L", "-follow"]);
        let mut listing = FindListing { starts, groups: vec![FindGroup::default()], depth: None, follows_links };
        let (mut is_wanted, mut opened, mut rest) = (true, 0_usize, tests.iter());
        while let Some(word) = rest.next() {
            match *word {
                "!" | "-not" => {
                    is_wanted = !is_wanted;
                    continue;
                }
                "(" if !is_wanted => return FindListing { groups: vec![FindGroup::default()], ..listing },
                "(" => {
                    opened += 1;
                    listing.group(|group| group.prunes = false);
                }
                ")" => opened = opened.saturating_sub(1),
                "-o" | "-or" | "," => listing.groups.push(FindGroup::default()),
                "-maxdepth" => listing.depth = rest.next().and_then(|depth| depth.parse().ok()),
                "-prune" if opened == 0 => listing.group(|group| group.prunes = true),
                "-name" | "-iname" | "-path" | "-wholename" | "-ipath" | "-iwholename" => {
                    let test = test(word, rest.next(), is_wanted);
                    listing.group(|group| group.tests.extend(test.filter(|_| !group.acts)));
                }
                word if ACTIONS.iter().any(|action| word.starts_with(action)) => {
                    listing.group(|group| group.acts = true)
                }
                _ => {}
            }
            is_wanted = true;
        }
        if listing.groups.iter().any(|group| group.acts) {
            listing.groups.retain(|group| group.acts || !group.prunes);
        }
        listing
    }

    /// Changes the last group.
    fn group(&mut self, change: impl FnOnce(&mut FindGroup)) {
        if let Some(group) = self.groups.last_mut() {
            change(group);
        }
    }

    /// Returns the folders that it starts in.
    pub fn starts(&self) -> Vec<PathBuf> {
        self.starts.iter().map(|(_, folder)| folder.clone()).collect()
    }

    /// Returns whether it may list a file.
    pub fn lists(&self, path: &Path) -> bool {
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        self.starts.iter().any(|(named, folder)| {
            let Ok(inside) = path.strip_prefix(folder) else { return false };
            let place = named.as_ref().map(|named| Path::new(named).join(inside));
            let is_met = |test: &FindTest| match test {
                FindTest::Name(form, is_wanted) => form.is_match(&*name) == *is_wanted,
                FindTest::Place(form, is_wanted) => {
                    place.as_ref().is_none_or(|place| form.is_match(place) == *is_wanted)
                }
            };
            let is_near = named.is_none() || self.depth.is_none_or(|depth| inside.components().count() <= depth);
            is_near && self.groups.iter().any(|group| group.tests.iter().all(is_met))
        })
    }
}

/// Returns a test of a form; a word that is not known is no test.
fn test(kind: &str, form: Option<&&str>, is_wanted: bool) -> Option<FindTest> {
    let is_insensitive = kind.starts_with("-i");
    let form = forms::matcher(form.filter(|form| !["", "."].contains(form))?, is_wanted, is_insensitive)?;
    Some(match kind.ends_with("-name") || kind == "-iname" {
        true => FindTest::Name(form, is_wanted),
        false => FindTest::Place(form, is_wanted),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_find_lists_goes_by_its_tests() {
        let lists = |text: &str, path: &str| {
            let words: Vec<&str> = text.split_whitespace().collect();
            FindListing::of(&words, Path::new("/w"), Vec::new()).lists(&Path::new("/w").join(path))
        };
        for text in [
            "",
            ". -type f",
            "-L . -maxdepth 1",
            ". -name .e*",
            ". -iname .ENV",
            ". ! -name *.py",
            ". -not -path */node_modules/*",
            ". -name *.py -o -type f",
            ". ( -name *.py -o -name .* ) -print",
            ". ! ( -name .env )",
            "src .",
            ". -path ./src -prune -o -print",
            ". -name",
            ". ! ! -name .env",
            ". -not ! -not -not -name .e*",
            ". -type f -prune",
            ". -type f -prune -o -name *.py",
            ". -type f -prune -print -o -name *.py -print",
            ". ( -type f -prune -o -name *.py ) -print",
            ". -type f -prune ( -name .e* -o -name *.py ) -print",
            ". -print -name *.py",
            ". -type f -exec cat {} + -name *.py",
            ". -name [[:punct:]]env",
            ". ! -name [[:alpha:]]*",
            ". ! -path a/**/.env",
            ". -name {*",
        ] {
            assert!(lists(text, ".env"), "{text}");
        }
        for text in [
            "src",
            ". -name *.py",
            ". -type f -name *.rs -print0",
            ". -not -name .*",
            ". -not -path */.*",
            ". -path ./src/*",
            ". ( -name *.py -o -name *.md ) -type f",
            ". -path ./src -prune -o -name *.py -print",
            ". -type f -prune -o -name *.py -print",
            ". ! ! -name *.py",
            ". ! ! ! -name .env",
            ". ! -iname .ENV",
            ". -name *.py -print -o -name *.md -print",
        ] {
            assert!(!lists(text, ".env"), "{text}");
        }
        assert!(lists(". -maxdepth 2", "a/.env") && !lists(". -maxdepth 1", "a/.env"));
        // Where a word is not known, neither is the path that is listed.
        let more = vec![Path::new("/w/a").to_path_buf()];
        let of = |text: &str| FindListing::of(&text.split(' ').collect::<Vec<_>>(), Path::new("/w/c"), more.clone());
        assert!(of(". -path a/*").lists(Path::new("/w/a/.env")) && !of(". -name a").lists(Path::new("/w/a/.env")));
        assert!(of(". -maxdepth 1").lists(Path::new("/w/a/b/.env")));
        for text in ["-files0-from list -maxdepth 0", "-files0-from - -path ../*"] {
            assert!(lists(text, "a/.env"), "{text}");
        }
        assert!(lists("a -path a/.env", "a/.env") && !lists("b", "a/.env"));
    }
}
