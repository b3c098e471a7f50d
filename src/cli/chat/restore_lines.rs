//! The files of a restore that it does not simply write, as lines.

use crate::messages::{archive, count, records};
use crate::proposal::{ForeignChoice, RestoreFate, RestorePreview, RestoreStatus};
use crate::text::clean::clean_line as show;

/// Returns the line of a file that a restore leaves as it is, or that it writes by the choice for it; none: it is written.
pub fn not_written_line(preview: &RestorePreview, foreign: &[String]) -> Option<String> {
    let path = match preview.status {
        RestoreStatus::NotUndone(_) => show(records::place(&preview.path)),
        _ => show(&preview.path),
    };
    let said = |words: &str, why: &str| Some(format!("  {path}: {words}: {}", show(&records::localized(why))));
    let whole = |words: &str, files| Some(format!("  {path}: {words}: {}", count::files(files)));
    match &preview.status {
        RestoreStatus::Restore(RestoreFate::Repository(words), _) => {
            Some(format!("  {path}: {}: {}", archive::will_restore(), records::repository(words)))
        }
        RestoreStatus::Restore(RestoreFate::WholeMade(files), _) => whole(archive::will_make_folder(), *files),
        RestoreStatus::Restore(RestoreFate::WholeRemoved(files), _) => whole(archive::will_remove_whole(), *files),
        RestoreStatus::Restore(..) => None,
        RestoreStatus::Equal => Some(format!("  {path}: {}", archive::already_equal())),
        RestoreStatus::NotArchived(why) => said(archive::not_archived(), why),
        RestoreStatus::Refused(why) => said(archive::not_restored(), why),
        RestoreStatus::NotUndone(why) => said(archive::not_undone(), why),
        RestoreStatus::Foreign { choice, conflicts, is_later, .. } => {
            let number = foreign.iter().position(|path| *path == preview.path);
            let number = number.map_or(String::from(" "), |at| (at + 1).to_string());
            let does = match choice {
                None | Some(ForeignChoice::Keep) => archive::kept(),
                // Without what nebula wrote there is nothing to merge from.
                Some(ForeignChoice::Merge) if conflicts.is_none() => archive::cannot_merge(),
                Some(ForeignChoice::Merge) => archive::will_merge(),
                Some(ForeignChoice::RestoreVersion) => archive::will_restore_version(),
            };
            let changed = if *is_later { archive::changed_later() } else { archive::foreign() };
            Some(format!("{number} {path}: {changed}, {does}"))
        }
    }
}
