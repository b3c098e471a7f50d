//! The files that a `find` lists, as far as its words show them.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

/// A test of `find`.
enum FindTest {
    /// The name is, or is not, of this form.
    Name(GlobMatcher, bool),
    /// The path, as it is listed, is, or is not, of this form.
    Place(GlobMatcher, bool),
    /// It lists nothing, and does not enter the folder.
    Prune,
}

/// The files that a `find` lists.
pub struct FindListing {
    /// The folders that it starts in, each as it is named, and where it lies.
    starts: Vec<(String, PathBuf)>,
    /// The tests of which all those of one group let a file be listed.
    groups: Vec<Vec<FindTest>>,
    /// The folders that it goes down at most.
    depth: Option<usize>,
}

impl FindListing {
    /// Reads the arguments of a `find` that runs in a folder. A word that is not known is `.`.
    pub fn of(arguments: &[&str], folder: &Path) -> FindListing {
        let is_option = |word: &&&str| matches!(**word, "-H" | "-L" | "-P");
        let arguments = &arguments[arguments.iter().take_while(is_option).count()..];
        let begins = |word: &&&str| !word.starts_with(['-', '(', ')', '!']);
        let (mut named, tests) = arguments.split_at(arguments.iter().take_while(begins).count());
        if named.is_empty() {
            named = &["."];
        }
        let mut listing = FindListing {
            starts: named.iter().map(|name| (name.to_string(), folder.join(name))).collect(),
            groups: vec![Vec::new()],
            depth: None,
        };
        let (mut is_wanted, mut rest) = (true, tests.iter());
        while let Some(word) = rest.next() {
            match *word {
                "!" | "-not" => {
                    is_wanted = false;
                    continue;
                }
                "(" if !is_wanted => return FindListing { groups: vec![Vec::new()], ..listing },
                "-o" | "-or" | "," => listing.groups.push(Vec::new()),
                "-maxdepth" => listing.depth = rest.next().and_then(|depth| depth.parse().ok()),
                "-prune" => listing.add(Some(FindTest::Prune)),
                "-name" => listing.add(glob(rest.next(), false).map(|glob| FindTest::Name(glob, is_wanted))),
                "-iname" => listing.add(glob(rest.next(), true).map(|glob| FindTest::Name(glob, is_wanted))),
                "-path" | "-wholename" => {
                    listing.add(glob(rest.next(), false).map(|glob| FindTest::Place(glob, is_wanted)));
                }
                "-ipath" | "-iwholename" => {
                    listing.add(glob(rest.next(), true).map(|glob| FindTest::Place(glob, is_wanted)));
                }
                _ => {}
            }
            is_wanted = true;
        }
        listing
    }

    fn add(&mut self, test: Option<FindTest>) {
        if let Some(group) = self.groups.last_mut() {
            group.extend(test);
        }
    }

    /// Returns the folders that it starts in.
    pub fn starts(&self) -> impl Iterator<Item = &Path> {
        self.starts.iter().map(|(_, folder)| folder.as_path())
    }

    /// Returns whether it may list a file.
    pub fn lists(&self, path: &Path) -> bool {
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        self.starts.iter().any(|(named, folder)| {
            let Ok(inside) = path.strip_prefix(folder) else { return false };
            let place = Path::new(named).join(inside);
            let is_met = |test: &FindTest| match test {
                FindTest::Name(glob, is_wanted) => glob.is_match(&*name) == *is_wanted,
                FindTest::Place(glob, is_wanted) => glob.is_match(&place) == *is_wanted,
                FindTest::Prune => false,
            };
            let is_near = self.depth.is_none_or(|depth| inside.components().count() <= depth);
            is_near && self.groups.iter().any(|group| group.iter().all(is_met))
        })
    }
}

fn glob(pattern: Option<&&str>, is_insensitive: bool) -> Option<GlobMatcher> {
    // Braces are no more than themselves there; a word that is not known is no test.
    let pattern = pattern.filter(|pattern| **pattern != ".")?.replace('{', "\\{").replace('}', "\\}");
    let mut builder = GlobBuilder::new(&pattern);
    let built = builder.case_insensitive(is_insensitive).literal_separator(false).backslash_escape(true).build();
    built.ok().map(|glob| glob.compile_matcher())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_find_lists_goes_by_its_tests() {
        let lists = |text: &str, path: &str| {
            let words: Vec<&str> = text.split_whitespace().collect();
            FindListing::of(&words, Path::new("/w")).lists(&Path::new("/w").join(path))
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
        ] {
            assert!(!lists(text, ".env"), "{text}");
        }
        assert!(lists(". -maxdepth 2", "a/.env") && !lists(". -maxdepth 1", "a/.env"));
        assert!(lists("a -path a/.env", "a/.env") && !lists("b", "a/.env"));
    }
}
