//! The files that were attached to a message, as memory stores them.

use serde::{Deserialize, Serialize};

use super::{hex, parse_sha, read_json};
use crate::context::attach::Attachment;
use crate::protocol::Attached;
use crate::tools::ContentHash;

/// One attached file, as memory stores it.
#[derive(Serialize, Deserialize)]
pub struct AttachedRecord {
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    range: Option<(usize, usize)>,
    lines: Option<usize>,
    bytes: usize,
    /// The SHA-256 of all its bytes, where all were attached: it counts as read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

impl AttachedRecord {
    /// Creates the record of an attachment.
    pub fn new(a: &Attachment, sha: Option<ContentHash>) -> Self {
        let sha256 = sha.map(|sha| hex(&sha));
        AttachedRecord { path: a.path.clone(), range: a.range, lines: a.lines, bytes: a.bytes, sha256 }
    }

    /// Returns whether the file's version can be read, where there is one.
    pub fn is_readable(&self) -> bool {
        self.sha256.as_deref().is_none_or(|hex| parse_sha(hex).is_some())
    }

    /// Returns the attachment as the screen shows it.
    pub fn to_attached(&self) -> Attached {
        Attached { path: self.path.clone(), range: self.range, lines: self.lines, bytes: self.bytes }
    }
}

/// Returns what was attached, as memory stores it.
pub fn write_attached(records: &[AttachedRecord]) -> String {
    // Records of strings and numbers always serialise.
    serde_json::to_string(records).unwrap_or_default()
}

/// Reads what was attached to a message, as it was kept; `None`: it cannot be read.
pub fn attached_records(text: Option<&str>) -> Option<Vec<AttachedRecord>> {
    read_json(text)
}

/// Returns what was attached to a message, as the screen shows it.
pub fn read_attached(text: Option<&str>) -> Vec<Attached> {
    attached_records(text).unwrap_or_default().iter().map(AttachedRecord::to_attached).collect()
}

/// Returns the files that were attached to a message, with the SHA-256 in hex of those that were attached whole.
pub fn attached_files(text: Option<&str>) -> Vec<(String, Option<String>)> {
    attached_records(text).unwrap_or_default().into_iter().map(|r| (r.path, r.sha256)).collect()
}
