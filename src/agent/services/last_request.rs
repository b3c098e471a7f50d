//! The shape of the last request that a server refused, kept for `nebula doctor --last`.

use serde_json::Value;

use crate::agent::services::config_files::ConfigFiles;
use crate::config::last_request;
use crate::provider::Error;
use crate::text::time;

/// Keeps what a refused request looked like; it is there when the turn ends. What cannot be kept is not missed.
pub async fn keep(config: &ConfigFiles, error: &Error) {
    let Some(outline) = error.outline.clone() else { return };
    let paths = config.read().paths.clone();
    let write = move || {
        let mut record: Value = serde_json::from_str(&outline).unwrap_or_default();
        record["at"] = time::now().into();
        let _ = last_request::write(&paths, &record);
    };
    let _ = tokio::task::spawn_blocking(write).await;
}
