//! Texts for a model on edits that are not made, and for a person on ones that are not certain.

use crate::proposal::{PlaceMatch, Rung};

/// The words that a model reads where nothing is at the path of an edit.
pub const NO_FILE: &str = "there is no such file";

/// Returns the question to the model about a whole text that may not be meant so. Where a person is there, the same text sent
/// again is put to them.
pub(super) fn question(why: &str, is_new: bool, unattended: bool) -> String {
    let (sign, advice, again) = match is_new {
        true => (".", NEW_FILE, MAKE_IT),
        false if why.starts_with(BROKEN) => (".", WHOLE_AGAIN, KEEP_IT),
        false => ("", A_PART, LEAVE_OUT),
    };
    let again = if unattended { "" } else { again };
    format!("{why}{sign} {advice}{again}")
}

const A_PART: &str = "Nothing was written yet. For a part, send just that part as a search and replace, or the whole file with \
                      everything that stays.";
const LEAVE_OUT: &str = " To leave out the rest, send the same text again: the person decides.";

/// Begins the reason why a new text is not written that its program could not read.
pub(super) const BROKEN: &str = "it cannot be read any more";
const WHOLE_AGAIN: &str = "Nothing was written yet. Send the whole file again without the mistake.";
const KEEP_IT: &str = " To keep it so, send the same text again: the person decides.";

/// The advice to the model on a block whose path names files in other folders but for those folders.
const NEW_FILE: &str =
    "Nothing was written yet. To change a file that is there, send the block again under its whole path.";
const MAKE_IT: &str = " To make a new file of this name, send the same text again: the person decides.";

/// The advice to the model on deleting or moving a file that holds what it did not read.
pub(super) const CHANGED: &str =
    "it changed since it was read. Read it again, then send this again if it is still meant.";
pub(super) const NOT_ALL: &str = "the patch deletes it, but the lines that the patch removes are not those the file holds now. Read it \
                       again, then delete it as it is.";
pub(super) const NO_TEXT: &str = "it is a link, not a text. Name the file it points to.";
pub(super) const EXISTS: &str =
    "it exists already. Change a part of it with a search and replace, or overwrite it as a whole.";
pub(super) const NOT_NEW: &str =
    "an empty SEARCH makes a new file, but this one exists. Put the lines to change under SEARCH.";

/// Returns how sure edits are beside which the answer has the file as it was.
pub(super) fn quoted() -> PlaceMatch {
    PlaceMatch { rung: Rung::Inexact, detail: Some("the answer holds the file as it is, too".to_string()) }
}

/// The reason why a person decides about text of another encoding than its file.
pub(super) const AS_UTF8: &str = "the file is not UTF-8; the new text goes into it as UTF-8";
pub(super) const RAW: &str =
    "it is not text that can be rewritten; only a search and replace of exact bytes is allowed in it.";

pub(super) fn unread(expected: bool) -> String {
    if expected {
        "it has not been read as it is now. Read it with `readFile`, then send the whole new text again.".to_string()
    } else {
        "it exists already, and has not been read. Read it, then change a part of it with a search and replace."
            .to_string()
    }
}
