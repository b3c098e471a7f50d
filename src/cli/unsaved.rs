//! Sessions that could not be stored when nebula ended.

use super::out;
use crate::agent;
use crate::messages::app as say;
use crate::messages::records::localized;

/// Says which sessions could not be stored, and where else they are kept.
pub fn complain_of_unsaved(end: &agent::AgentEnd) {
    if !end.in_time {
        out::complain(say::end_unknown());
    }
    for agent::UnsavedSession { id, why, kept } in &end.unsaved {
        let why = localized(why);
        match kept {
            Ok(path) => out::complain(say::end_kept_as(id, &why, &path.display())),
            Err(_) => out::complain(say::end_not_saved(id, &why)),
        }
    }
}
