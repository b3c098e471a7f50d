//! Episodes: runs as they were recorded, one line a step.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::strand::store::Error;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Status {
    Done,
    Trap,
    Waiting,
    Limit,
}

impl Status {
    /// The word in the record.
    pub fn word(self) -> &'static str {
        match self {
            Status::Done => "done",
            Status::Trap => "trap",
            Status::Waiting => "waiting",
            Status::Limit => "limit",
        }
    }
}

/// One step of an episode: a record whose keys are those of the log.
pub type Step = Map<String, Value>;

/// A recorded run.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// `ep_` and a ULID.
    pub id: String,
    /// Its steps, in order.
    pub steps: Vec<Step>,
}

impl Episode {
    /// How it ended: the status of its last step.
    pub fn status(&self) -> &str {
        self.steps.last().and_then(|step| step.get("status")).and_then(Value::as_str).unwrap_or("done")
    }

    /// The episode as programs read it.
    pub fn to_json(&self) -> Value {
        let graph = self.steps.first().and_then(|step| step.get("graph")).cloned().unwrap_or_default();
        json!({"episode": self.id, "status": self.status(), "graph": graph, "steps": self.steps})
    }
}

/// Appends an episode and makes it durable.
pub fn append(path: &Path, episode: &Episode) -> Result<(), Error> {
    let at = |error| Error::io("append to", path, error);
    let text: String = episode.steps.iter().map(|step| format!("{}\n", Value::Object(step.clone()))).collect();
    let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(at)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_data()).map_err(at)
}

/// Every recorded episode, oldest first. A line cut short by a crash is no step.
pub fn read(path: &Path) -> Result<Vec<Episode>, Error> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("read", path, error)),
    };
    let mut episodes: Vec<Episode> = Vec::new();
    for line in text.lines() {
        let Ok(Value::Object(step)) = serde_json::from_str(line) else { continue };
        let Some(id) = step.get("episode").and_then(Value::as_str).map(str::to_owned) else { continue };
        let first = step.get("step") == Some(&json!(0));
        match episodes.iter_mut().find(|episode| episode.id == id) {
            // A new expectation of the same episode takes the place of the old one.
            Some(episode) if first => episode.steps = vec![step],
            Some(episode) => episode.steps.push(step),
            None => episodes.push(Episode { id, steps: vec![step] }),
        }
    }
    Ok(episodes)
}
