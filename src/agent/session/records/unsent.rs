//! Messages that were typed and not sent, as memory stores them beside the session.

use serde::{Deserialize, Serialize};

use super::{read_json, to_json};
use crate::protocol::Unsent;

#[derive(Default, Serialize, Deserialize)]
struct UnsentRecord {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    queue: Vec<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    draft: String,
}

/// Returns messages that were not sent as memory stores them.
pub fn write_unsent(unsent: Unsent) -> String {
    let Unsent { queue, draft } = unsent;
    to_json(&UnsentRecord { queue, draft })
}

/// Reads back what [`write_unsent`] wrote; `None`: there is nothing.
pub fn read_unsent(stored: Option<&str>) -> Option<Unsent> {
    let UnsentRecord { queue, draft } = read_json(stored)?;
    Some(Unsent { queue, draft }).filter(|unsent| *unsent != Unsent::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_sent_comes_back() {
        let unsent = Unsent { queue: vec!["one".into(), "two\nlines".into()], draft: "thr".into() };
        assert_eq!(read_unsent(Some(&write_unsent(unsent.clone()))), Some(unsent));
        assert_eq!(read_unsent(Some(&write_unsent(Unsent::default()))), None);
        assert_eq!((read_unsent(None), read_unsent(Some("{torn"))), (None, None));
    }
}
