//! The words for the files of a restore.

use crate::archive::restore::is_in_part;
use crate::proposal::{Counts, ForeignChoice, RestoreFate, RestorePreview, RestoreStatus};
use crate::text::clean::clean_line;
use crate::text::number::plural;
use crate::text::time;
use crate::text::width::padded;

/// Returns a preview as a line for the person.
pub(in crate::cli) fn line(preview: &RestorePreview, width: usize) -> String {
    let (glyph, words, detail) = match &preview.status {
        RestoreStatus::Refused(why) if is_in_part(preview) => ('!', "will restore in part", why.clone()),
        status => in_words(status),
    };
    let path = padded(&clean_line(&preview.path), width);
    format!("{glyph} {path}  {words:27}  {}", clean_line(&detail)).trim_end().to_owned()
}

/// Returns the words for a file that changed after what is taken back, by later changesets or by someone else.
pub(in crate::cli) fn changed_words(is_later: bool) -> &'static str {
    if is_later { "changed again later" } else { "changed outside nebula" }
}

/// Returns glyph, words and detail of a preview.
fn in_words(status: &RestoreStatus) -> (char, &'static str, String) {
    match status {
        RestoreStatus::Restore(fate, counts) => match fate {
            RestoreFate::Content => ('✓', "will restore", plus_minus(*counts)),
            RestoreFate::ContentAndMode(now, then) => {
                ('✓', "will restore", format!("{}  mode {now:o} → {then:o}", plus_minus(*counts)))
            }
            RestoreFate::Made => ('✓', "will make it again", plus_minus(*counts)),
            RestoreFate::Deleted => ('✓', "will delete", plus_minus(*counts)),
            RestoreFate::Mode(now, then) => ('✓', "will set its mode", format!("{now:o} → {then:o}")),
            RestoreFate::FolderMade => ('✓', "will make the folder", String::new()),
            RestoreFate::FolderRemoved => ('✓', "will remove the folder", "if it is empty".into()),
            RestoreFate::Repository(words) => ('✓', "will restore", words.clone()),
            RestoreFate::WholeMade(files) => ('✓', "will make the folder", plural(*files, "file")),
            RestoreFate::WholeRemoved(files) => ('✓', "will remove the folder", plural(*files, "file")),
        },
        RestoreStatus::Equal => ('=', "already at that version", String::new()),
        RestoreStatus::Foreign { at, counts, choice, rung, is_later, .. } => {
            let merged = rung.map_or("will be merged".into(), |rung| format!("will be merged: {}", rung.word()));
            let will = match choice {
                None => "",
                Some(ForeignChoice::Keep) => "will be kept",
                Some(ForeignChoice::Merge) => &merged,
                Some(ForeignChoice::RestoreVersion) => "will be overwritten",
            };
            let at = match at {
                _ if *is_later => String::new(),
                Some(ms) => format!("at {}", time::local(*ms)),
                None => "deleted".into(),
            };
            let detail = [will.into(), plus_minus(*counts), at];
            let detail = detail.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
            ('!', changed_words(*is_later), detail.join("  "))
        }
        RestoreStatus::NotArchived(why) => ('⊘', "not archived", why.clone()),
        RestoreStatus::Refused(why) => ('⊘', "not restored", why.clone()),
        RestoreStatus::NotUndone(why) => ('·', "not undone", why.clone()),
    }
}

/// Returns a line for what is not undone.
pub(in crate::cli) fn not_undone_words(preview: &RestorePreview) -> Option<String> {
    let RestoreStatus::NotUndone(why) = &preview.status else { return None };
    Some(format!("{}: {}", clean_line(&preview.path), clean_line(why)))
}

/// Formats as `+3 −1`; empty for no lines.
fn plus_minus(counts: Counts) -> String {
    match (counts.added, counts.removed) {
        (0, 0) => String::new(),
        (added, removed) => format!("+{added} −{removed}"),
    }
}
