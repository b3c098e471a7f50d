//! The notice with which a turn ended, as memory stores it.

use serde::{Deserialize, Serialize};

use super::{read_json, to_json};
use crate::protocol::{Level, Notice};

/// The last notice of a turn, beside its last message; none where another record is there.
#[derive(Default, Serialize, Deserialize)]
pub struct EndRecord {
    #[serde(default)]
    end: Option<NoticeRecord>,
}

#[derive(Serialize, Deserialize)]
struct NoticeRecord {
    warning: bool,
    title: String,
    detail: String,
}

impl EndRecord {
    /// Returns the record of a notice as memory stores it.
    pub fn write(notice: &Notice) -> String {
        let Notice { level, title, detail, .. } = notice;
        let end = NoticeRecord { warning: *level != Level::Info, title: title.clone(), detail: detail.clone() };
        to_json(&EndRecord { end: Some(end) })
    }

    /// Returns the notice that was kept beside a message, if one was.
    pub fn read(extra: Option<&str>) -> Option<Notice> {
        let NoticeRecord { warning, title, detail } = read_json::<EndRecord>(extra)?.end?;
        Some(Notice::new(if warning { Level::Warning } else { Level::Info }, title, detail))
    }
}
