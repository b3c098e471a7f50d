//! Results of calls that never got theirs, because nebula stopped before.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::agent::session::records::{CallDisplayRecord, ResultRecord};
use crate::provider::ToolCall;
use crate::shell::output::Output;
use crate::shell::output::record::{self, CommandRecord};
use crate::tools::ToolSet;

/// The reason why a call whose command ran when nebula stopped has no result.
const WHILE: &str = "nebula stopped while it ran";
/// The reason why any other call has none.
const BEFORE: &str = "nebula stopped before it had a result";

/// The commands of calls, by the calls' ids, each with its log.
#[derive(Default)]
pub struct EarlierCommands(HashMap<String, (CommandRecord, PathBuf)>);

impl EarlierCommands {
    /// Reads those that a session began since this time from the folder that holds its logs.
    pub fn of_session(logs: &Path, since: i64) -> Self {
        let records = record::of_session(logs).into_iter().filter(|(record, _)| record.started >= since);
        EarlierCommands(records.filter_map(|found| Some((found.0.call.clone()?, found))).collect())
    }

    /// Returns the result of a call that ran a command: how that ended, and what it printed; none: it ran none.
    pub fn result(&self, call: &str, name: &str) -> Option<(ResultRecord, String)> {
        let (record, log) = self.0.get(call)?;
        let why = if record.end().is_none() { WHILE } else { BEFORE };
        let printed = match Output::of_log(log) {
            Ok(output) => output.for_model(&record.id),
            Err(error) => format!("its output cannot be read: {error}"),
        };
        let text = format!(
            "{} · {}: {why}. What it changed until then stands; look at the files before you go on.\n{printed}",
            record.ending(),
            record.id,
        );
        Some((unanswered(call, name, Some(why)), text))
    }
}

/// Returns the result of a call that is known no more of.
pub fn unknown(call: &ToolCall, tools: &ToolSet) -> (ResultRecord, String) {
    let only_reads = tools.find(&call.name).is_some_and(|tool| tool.kind().reads());
    let text = match only_reads {
        true => format!("{BEFORE}; make the call again where you need it"),
        false => format!("{BEFORE}: its change may stand or not; look at the files before you go on"),
    };
    (unanswered(&call.id, &call.name, None), text)
}

fn unanswered(id: &str, name: &str, reason: Option<&str>) -> ResultRecord {
    ResultRecord { display: Some(CallDisplayRecord::interrupted(reason)), ..ResultRecord::failed(id, name) }
}
