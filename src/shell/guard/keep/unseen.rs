//! Files that the guard cannot look at, though they may be there: nothing of them can be kept.

use std::fs::Metadata;
use std::path::Path;

use super::super::call::Refusal;
use super::super::path::LONGEST;
use super::super::reach::{is_nothing, meta_at};
use super::{Keeping, number};
use crate::shell::message::CALL_REFUSED;
use crate::shell::places::PathClass;

impl Keeping {
    /// Returns what is at a path; none: nothing is. Where that cannot be told the call is refused.
    pub(super) fn found(&mut self, path: &Path) -> Result<Option<Metadata>, Refusal> {
        match meta_at(path) {
            Ok(meta) => Ok(Some(meta)),
            Err(error) if is_nothing(&error) => Ok(None),
            Err(error) => {
                let is_long = path.as_os_str().len() >= LONGEST;
                if is_long && self.class(path, false) == PathClass::Kept {
                    self.unarchived(path, &format!("its path is too long: {CALL_REFUSED}"))?;
                }
                Err(number(&error))
            }
        }
    }
}
