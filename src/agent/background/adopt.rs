//! Commands that were cut off: what they changed is archived at the next start.

use crate::agent::services::Services;
use crate::archive::{Error, NotUndone};
use crate::execute::Stores;
use crate::execute::command::seal;
use crate::messages::{agent as say, count};
use crate::protocol::Level;
use crate::shell::{self, Shell};
use crate::text::clean::clean_line;

/// Archives what commands changed whose processes are gone. Returns a line for each.
///
/// # Errors
/// When the staging folders cannot be listed. What cannot be archived now stays staged.
pub fn adopt(shell: &Shell, stores: Stores<'_>) -> Result<Vec<String>, Error> {
    let mut lines = Vec::new();
    shell::sweep_views(&shell.archive);
    let cut = shell::cut_off(shell)?;
    lines.extend(cut.foreign.iter().map(|folder| say::cut_off_elsewhere(&clean_line(&folder.to_string_lossy()))));
    lines.extend(cut.unreadable.iter().map(|(folder, why)| {
        say::cut_off_unreadable(&clean_line(&folder.to_string_lossy()), &clean_line(&why.to_string()))
    }));
    for (mut staging, info) in cut.found {
        // Its helper had no one to tell.
        let unknown = [NotUndone::new("derived folders", "it was cut off: what it changed there is not known")];
        match seal(&mut staging, &info, &unknown, stores) {
            Ok(sealed) => {
                // An empty one is found again, and is as empty then.
                let _ = staging.remove();
                lines.extend(sealed.changeset.map(|id| {
                    let files = count::changed_files(sealed.changes.changes.len());
                    say::cut_off(&files, &id)
                }));
            }
            Err(error) => lines.push(say::cut_off_unsealed(&error)),
        }
    }
    Ok(lines)
}

/// Archives the same and reports it to the person.
pub fn adopt_and_say(services: &Services) {
    match adopt(&services.shell, services.stores()) {
        Ok(found) => found.into_iter().for_each(|line| services.say(Level::Warning, line, "")),
        Err(error) => services.say(Level::Warning, error.to_string(), ""),
    }
}
