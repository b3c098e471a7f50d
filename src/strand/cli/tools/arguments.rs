//! What each tool takes.

use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct View {
    pub selector: String,
    #[serde(default)]
    pub with_deps: bool,
    #[serde(default)]
    pub units: bool,
    pub at: Option<String>,
    pub limit: Option<usize>,
    pub cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    pub layer: Option<String>,
    pub limit: Option<usize>,
    pub cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Add {
    pub layer: String,
    pub name: String,
    pub body: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replace {
    pub qname: String,
    pub body: String,
    pub expect_hash: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    pub qname: String,
    pub patch: Map<String, Value>,
    pub expect_hash: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rename {
    pub qname: String,
    pub new_name: String,
    pub expect_hash: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remove {
    pub qname: String,
    #[serde(default)]
    pub cascade: bool,
    #[serde(default)]
    pub force: bool,
    pub expect_hash: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    pub scope: Option<String>,
    pub limit: Option<usize>,
    pub cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fix {
    pub error_code: String,
    #[serde(default)]
    pub apply: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refs {
    pub qname: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct History {
    pub qname: String,
    pub limit: Option<usize>,
    pub cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Episode {
    pub episode_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatchApply {
    pub ops: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conflicts {
    pub id: Option<String>,
    #[serde(default)]
    pub reissue: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    pub event: String,
    pub payload: Option<Value>,
    pub effects: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sync {
    #[serde(default)]
    pub dry_run: bool,
}
