//! Blocks below a line that names a file in play and says in a few words what they are of it: `a.py: the else branch`.

use super::{is_numbered, is_only_shown, shows_output};
use crate::edit::path::{is_language, with_words};
use crate::edit::stream::paths::heads::before_words;
use crate::edit::stream::paths::same_path;
use crate::edit::stream::pieces::KnownFile;
use crate::edit::stream::starts::language;

/// The head of a part of a file.
pub(in crate::edit::stream) struct PartHead<'l> {
    pub path: &'l str,
    /// The words say that lines come to the file, or it is one of several steps.
    pub adds: bool,
}

/// Returns the file in play of which a line says that a part of it is below; `info`: the words behind the fence. What is only
/// shown is none, nor are commands and what is printed, but where the file consists of such.
pub(in crate::edit::stream) fn part_head<'l>(said: &'l str, info: &str, known: &[KnownFile]) -> Option<PartHead<'l>> {
    const ADDING: [&str; 8] = ["add", "append", "insert", "put", "追加", "添加", "新增", "插入"];
    let path = before_words(said, known)?;
    let (_, words) = with_words(said)?;
    let is_known = known.iter().any(|file| same_path(path, &file.path));
    let is_of_it = !shows_output(info) || is_language(&language(info), path);
    let adds = is_numbered(said) || ADDING.iter().any(|word| words.to_lowercase().starts_with(word));
    (is_known && is_of_it && !is_only_shown(&format!("{words}:"))).then_some(PartHead { path, adds })
}
