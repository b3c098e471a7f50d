//! The notices behind a message, as memory stores them beside it.

use serde::{Deserialize, Serialize};

use super::{read_json, to_json};
use crate::protocol::{Level, Notice, NoticeAction};

/// The notices beside a message, oldest first; none where another record is there.
#[derive(Default, Deserialize)]
struct NoticesRecord {
    #[serde(default)]
    notices: Vec<NoticeRecord>,
    /// The only notice, as earlier versions kept it.
    #[serde(default)]
    end: Option<NoticeRecord>,
}

#[derive(Serialize, Deserialize)]
struct NoticeRecord {
    #[serde(default)]
    level: String,
    title: String,
    detail: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    actions: Vec<String>,
    /// True for a warning of earlier versions, which kept no level.
    #[serde(default, skip_serializing)]
    warning: bool,
}

/// The actions that stay possible in a later run, and their words.
const ACTIONS: [(NoticeAction, &str); 3] =
    [(NoticeAction::Continue, "continue"), (NoticeAction::Retry, "retry"), (NoticeAction::ChooseModel, "model")];

/// Returns the record of a notice as memory stores it.
pub fn write_notice(notice: &Notice) -> String {
    let Notice { level, title, detail, actions, .. } = notice;
    let word = |action| ACTIONS.iter().find(|(known, _)| known == action).map(|(_, word)| (*word).to_string());
    to_json(&NoticeRecord {
        level: level.word().into(),
        title: title.clone(),
        detail: detail.clone(),
        actions: actions.iter().filter_map(word).collect(),
        warning: false,
    })
}

/// Returns the notices that were kept beside a message, oldest first.
pub fn read_notices(extra: Option<&str>) -> Vec<Notice> {
    let NoticesRecord { notices, end } = read_json(extra).unwrap_or_default();
    end.into_iter().chain(notices).map(to_notice).collect()
}

fn to_notice(record: NoticeRecord) -> Notice {
    let NoticeRecord { level, title, detail, actions, warning } = record;
    let usual = if warning { Level::Warning } else { Level::Info };
    let level = Level::named(&level).unwrap_or(usual);
    let action = |word: &String| ACTIONS.iter().find(|(_, known)| known == word).map(|(action, _)| action.clone());
    let actions = actions.iter().filter_map(action).collect();
    Notice { actions, ..Notice::new(level, title, detail) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_comes_back_with_its_level_and_what_it_offers() {
        for level in Level::ALL {
            let actions = vec![NoticeAction::Retry, NoticeAction::ChooseModel];
            let notice = Notice { actions, ..Notice::new(level, "a title", "a detail") };
            let extra = format!("{{\"notices\":[{},{}]}}", write_notice(&notice), write_notice(&notice));
            assert_eq!(read_notices(Some(&extra)), [notice.clone(), notice]);
        }
        // What lies in a later run's reach no more is not offered.
        let notice = Notice { actions: vec![NoticeAction::RetryMemory], ..Notice::new(Level::Info, "t", "") };
        let extra = format!("{{\"notices\":[{}]}}", write_notice(&notice));
        assert_eq!(read_notices(Some(&extra)), [Notice::new(Level::Info, "t", "")]);
    }

    #[test]
    fn the_notice_of_an_earlier_version_is_read() {
        let extra = r#"{"end":{"warning":true,"title":"t","detail":"d"}}"#;
        assert_eq!(read_notices(Some(extra)), [Notice::new(Level::Warning, "t", "d")]);
        assert!(read_notices(Some("{\"nudge\":true}")).is_empty() && read_notices(None).is_empty());
    }
}
