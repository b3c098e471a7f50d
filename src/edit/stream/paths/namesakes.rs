//! Files in play of one name, in different folders.

use std::collections::HashSet;
use std::sync::Arc;

use super::{KnownFile, same_path};
use crate::edit::path::may_name;

/// Returns the files in play that a path may mean: the one of that path, or else all of that name, one that is in play under
/// two names once.
pub(in crate::edit) fn meant_by<'k>(path: &str, known: &'k [KnownFile]) -> Vec<&'k KnownFile> {
    if let Some(file) = known.iter().find(|file| same_path(path, &file.path)) {
        return vec![file];
    }
    let mut files: Vec<&KnownFile> = Vec::new();
    for file in known.iter().filter(|file| may_name(path, &file.path)) {
        if !files.iter().any(|other| Arc::ptr_eq(&other.text, &file.text)) {
            files.push(file);
        }
    }
    files
}

/// Returns the paths of the files in play that a path may mean, in words, where there are several.
pub(in crate::edit) fn several(path: &str, known: &[KnownFile]) -> Option<String> {
    let paths: Vec<&str> = meant_by(path, known).into_iter().map(|file| file.path.as_str()).collect();
    (paths.len() > 1).then(|| paths.join(" or "))
}

/// Returns the one of several files of which a text is clearly a new version: it has most lines of it, and few of any other.
pub(in crate::edit) fn version_of<'k>(content: &str, files: &[&'k KnownFile]) -> Option<&'k KnownFile> {
    let lines: HashSet<&str> = content.lines().map(str::trim).collect();
    let mut versions = files.iter().filter(|file| is_share(&lines, &file.text, MOST));
    let file = versions.next()?;
    let is_like = |other: &KnownFile| other.path != file.path && is_share(&lines, &other.text, FEW);
    (!files.iter().any(|other| is_like(other))).then_some(*file)
}

/// Returns whether most lines of a file are in a whole text.
pub(in crate::edit) fn is_version(content: &str, file: &str) -> bool {
    is_share(&content.lines().map(str::trim).collect(), file, MOST)
}

/// The shares of a file's lines, in tenths, from which a text is a version of it, and from which it may be one.
const MOST: usize = 6;
const FEW: usize = 3;

/// Returns whether so many tenths of the lines of a file are among these.
fn is_share(lines: &HashSet<&str>, file: &str, tenths: usize) -> bool {
    let own: Vec<&str> = file.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let stay = own.iter().filter(|line| lines.contains(**line)).count();
    stay * 10 >= own.len() * tenths && stay > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_several_files_unless_the_text_is_that_of_one() {
        let file = |path: &str, text: &str| KnownFile { path: path.into(), text: text.into() };
        let known = [file("x/a.py", "a = 1\nb = 2\nc = 3\n"), file("y/a.py", "m = 1\nn = 2\n")];
        assert_eq!(meant_by("./x/a.py", &known), [&known[0]]);
        let both = meant_by("a.py", &known);
        assert_eq!(several("a.py", &known).as_deref(), Some("x/a.py or y/a.py"));
        let path = |content: &str| version_of(content, &both).map(|file| file.path.as_str());
        assert_eq!(path("a = 1\nb = 7\nc = 3\n"), Some("x/a.py"));
        assert_eq!(path("m = 1\nn = 2\no = 3\n"), Some("y/a.py"));
        assert_eq!(path("a = 1\nb = 2\nm = 1\n"), None, "it has half of the other one");
        assert_eq!(path("print(1)\n"), None);
        let linked = [known[0].clone(), KnownFile { path: "link/a.py".into(), ..known[0].clone() }];
        assert_eq!(several("a.py", &linked), None, "they are one");
    }
}
