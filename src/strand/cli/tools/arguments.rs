//! The arguments of each tool.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::text::schema::PageLimit;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewArguments {
    pub selector: String,
    #[serde(default)]
    pub with_deps: bool,
    #[serde(default)]
    pub units: bool,
    pub at: Option<String>,
    pub limit: Option<PageLimit>,
    pub cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListArguments {
    pub layer: Option<String>,
    pub limit: Option<PageLimit>,
    pub cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddArguments {
    pub layer: String,
    pub name: String,
    pub body: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplaceArguments {
    pub qname: String,
    pub body: String,
    pub expect_hash: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EditArguments {
    pub qname: String,
    pub patch: Map<String, Value>,
    pub expect_hash: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RenameArguments {
    pub qname: String,
    pub new_name: String,
    pub expect_hash: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoveArguments {
    pub qname: String,
    #[serde(default)]
    pub cascade: bool,
    #[serde(default)]
    pub force: bool,
    pub expect_hash: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckArguments {
    pub scope: Option<String>,
    pub limit: Option<PageLimit>,
    pub cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FixArguments {
    pub error_code: String,
    #[serde(default)]
    pub apply: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefsArguments {
    pub qname: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryArguments {
    pub qname: String,
    pub limit: Option<PageLimit>,
    pub cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpisodeArguments {
    pub episode_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatchApplyArguments {
    pub ops: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConflictsArguments {
    pub id: Option<String>,
    #[serde(default)]
    pub reissue: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunArguments {
    pub event: String,
    pub payload: Option<Value>,
    pub effects: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyncArguments {
    #[serde(default)]
    pub dry_run: bool,
}
