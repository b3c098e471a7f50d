//! The cause of a changeset that changed definitions, in words that its history can follow.

use super::file::SourceFile;
use super::splice::SplicedFile;

/// Begins every such cause.
const CODE: &str = "code: ";

/// Returns the cause of a changeset with these changes of definitions.
pub fn cause<S: AsRef<str>>(changes: &[S]) -> String {
    let changes: Vec<&str> = changes.iter().map(AsRef::as_ref).collect();
    format!("{CODE}{}", changes.join(", "))
}

/// Returns a replacement as a cause says it: `replace fn.total`, `replace fn.total by fn.sum`.
pub fn replacement(file: &SourceFile, at: usize, new: &SplicedFile) -> String {
    let (old, now) = (file.called(at), new.file.called(new.at));
    let renamed = if old == now { String::new() } else { format!(" by {now}") };
    format!("replace {old}{renamed}")
}

/// Returns what a definition was called before a changeset of this cause, if that changed it.
pub fn earlier(cause: &str, name: &str) -> Option<String> {
    let before = |change: &str| {
        let (_, names) = change.split_once(' ')?;
        match names.split_once(" by ").or_else(|| names.split_once(" to ")) {
            Some((old, new)) => (new == name).then(|| old.to_owned()),
            None => (names == name).then(|| names.to_owned()),
        }
    };
    cause.strip_prefix(CODE)?.split(", ").find_map(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_followed_backwards() {
        let earlier = |title: &str| earlier(title, "fn.b");
        assert_eq!(earlier("code: replace fn.b").as_deref(), Some("fn.b"));
        assert_eq!(earlier("code: replace fn.a by fn.b").as_deref(), Some("fn.a"));
        assert_eq!(earlier("code: rename fn.a to fn.b").as_deref(), Some("fn.a"));
        assert_eq!(earlier(&cause(&["replace fn.c", "replace fn.a by fn.b"])).as_deref(), Some("fn.a"));
        for other in ["code: replace fn.a", "code: rename fn.b to fn.c", "replace fn.b", "undo of fn.b"] {
            assert_eq!(earlier(other), None, "{other}");
        }
    }
}
