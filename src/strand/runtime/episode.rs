//! Episodes: recorded runs, one line a step.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::strand::store::{Error, disk};

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum RunStatus {
    Done,
    Trap,
    Waiting,
    Limit,
}

impl RunStatus {
    /// Returns the word in the record.
    pub fn word(self) -> &'static str {
        match self {
            RunStatus::Done => "done",
            RunStatus::Trap => "trap",
            RunStatus::Waiting => "waiting",
            RunStatus::Limit => "limit",
        }
    }
}

/// One step of an episode: a record whose keys are those of the log.
pub type EpisodeStep = Map<String, Value>;

/// A recorded run.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// `ep_` and a ULID.
    pub id: String,
    /// Its steps, in order.
    pub steps: Vec<EpisodeStep>,
}

impl Episode {
    /// Returns how it ended: the status of its last step.
    pub fn status(&self) -> &str {
        self.steps.last().and_then(|step| step.get("status")).and_then(Value::as_str).unwrap_or("done")
    }

    /// Returns the episode as programs read it.
    pub fn to_json(&self) -> Value {
        let graph = self.steps.first().and_then(|step| step.get("graph")).cloned().unwrap_or_default();
        json!({"episode": self.id, "status": self.status(), "graph": graph, "steps": self.steps})
    }
}

/// Appends an episode and makes it durable.
pub fn append(path: &Path, episode: &Episode) -> Result<(), Error> {
    let text: String = episode.steps.iter().map(|step| format!("{}\n", Value::Object(step.clone()))).collect();
    disk::append_lines(path, &text).map_err(|error| Error::io("append to", path, error))
}

/// Returns every recorded episode, oldest first. A line cut short by a crash is no step.
pub fn read(path: &Path) -> Result<Vec<Episode>, Error> {
    let text = match disk::read_text(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("read", path, error)),
    };
    let mut episodes: Vec<Episode> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for line in text.lines() {
        let Ok(Value::Object(step)) = serde_json::from_str(line) else { continue };
        let Some(id) = step.get("episode").and_then(Value::as_str).map(str::to_owned) else { continue };
        let first = step.get("step") == Some(&json!(0));
        match places.get(&id).and_then(|at| episodes.get_mut(*at)) {
            // A new expectation of the same episode takes the place of the old one.
            Some(episode) if first => episode.steps = vec![step],
            Some(episode) => episode.steps.push(step),
            None => {
                places.insert(id.clone(), episodes.len());
                episodes.push(Episode { id, steps: vec![step] });
            }
        }
    }
    Ok(episodes)
}
