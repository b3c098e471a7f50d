//! Runs triggers against a store, and replays recorded runs.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::Path;

use serde_json::{Map, Value as Json, json};

use super::episode::{self, Episode, EpisodeStep};
use super::run::{Outcome, Reason, SlotValues, Trigger, comparable, run, stamp};
use super::world::{Noting, Primitives, Recorded};
use crate::strand::check::{Checks, render};
use crate::strand::id::{DefId, Layer, OpId, QName, new_id};
use crate::strand::issue::Refusal;
use crate::strand::lang::ast::{Body, To};
use crate::strand::state::State;
use crate::strand::store::{Error, Store, atomic_write, disk};

/// The result of a replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// The episode.
    pub episode: String,
    /// The number of steps compared.
    pub steps: usize,
    /// The first difference, if there is one.
    pub difference: Option<String>,
}

fn read_json(path: &Path) -> Result<Json, Error> {
    match disk::read_text(path) {
        Ok(text) => serde_json::from_str(&text)
            .map_err(|error| Error::BadFile { path: path.to_owned(), message: error.to_string() }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(json!({})),
        Err(error) => Err(Error::io("read", path, error)),
    }
}

fn slots_of(value: &Json) -> SlotValues {
    let pairs = value.as_object().into_iter().flatten();
    pairs.filter_map(|(id, value)| OpId::parse(id).map(|id| (id, value.clone()))).collect()
}

/// Runs a trigger on a store's graph, stores the slot values, and records the episode. `given` are answers by effect.
/// Returns the episode and the printed text.
pub fn perform(
    store: &mut Store,
    trigger: &Trigger,
    given: HashMap<String, VecDeque<Json>>,
    seed: u64,
    reset: bool,
) -> Result<(Episode, Vec<String>), Error> {
    let _lock = store.lock()?;
    refuse_broken(store, trigger)?;
    let folder = store.inner("runtime");
    disk::create_folder(&folder).map_err(|error| Error::io("make", &folder, error))?;
    let (slots_file, storage_file) = (folder.join("state.json"), folder.join("storage.json"));
    let slots = if reset { SlotValues::new() } else { slots_of(&read_json(&slots_file)?) };
    let storage = read_json(&storage_file)?;
    let storage = storage.as_object().into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())).collect();
    let mut world = Primitives { given, storage, seed, printed: Vec::new() };
    let graph = json!({"state-hash": store.state().state_hash(), "log-offset": store.offset()?});
    let (episode, slots) = play(store.state(), trigger, slots, &mut world, &graph).map_err(|reason| match reason {
        Reason::Missing(words) => Error::NotFound(words),
        Reason::Unfit(words) => Refusal::Usage(words).into(),
        Reason::Broken(words) => Refusal::NewErrors(format!("cannot run: {words}")).into(),
    })?;
    episode::append(&store.inner("episode-log.jsonl"), &episode)?;
    let slots: Map<String, Json> = slots.iter().map(|(id, value)| (id.to_string(), value.clone())).collect();
    atomic_write(&slots_file, format!("{}\n", Json::Object(slots)).as_bytes())?;
    atomic_write(&storage_file, format!("{}\n", json!(world.storage)).as_bytes())?;
    Ok((episode, world.printed))
}

/// Runs a trigger and records it, with every answer of the world. `graph` names the graph for the record. Returns the
/// episode and the slot values afterwards.
///
/// # Errors
/// Why the run cannot start.
pub fn play(
    state: &State,
    trigger: &Trigger,
    slots: SlotValues,
    world: &mut Primitives,
    graph: &Json,
) -> Result<(Episode, SlotValues), Reason> {
    let seed = world.seed;
    let mut noting = Noting { world, answers: Vec::new() };
    let outcome = run(state, trigger, slots, &mut noting)?;
    let episode = recorded(&new_id("ep_"), &outcome, trigger, noting.answers, graph, seed);
    Ok((episode, outcome.slots))
}

/// Runs a recorded episode again on a graph, from its initial values and with its recorded answers. Returns the new
/// outcome and the first difference.
///
/// # Errors
/// Why the run cannot start.
pub fn again(state: &State, trigger: &Trigger, old: &Episode) -> Result<(Outcome, Option<String>), Reason> {
    let initial = old.steps.first().and_then(|first| first.get("initial"));
    let outcome = run(state, trigger, slots_of(initial.unwrap_or(&Json::Null)), &mut Recorded::new(&old.steps))?;
    let difference = difference(&old.steps, &outcome.steps);
    Ok((outcome, difference))
}

fn recorded(id: &str, outcome: &Outcome, trigger: &Trigger, answers: Vec<Json>, graph: &Json, seed: u64) -> Episode {
    let mut steps: Vec<EpisodeStep> = outcome.steps.iter().map(|step| stamp(step, id, graph, seed)).collect();
    if let Some(first) = steps.first_mut() {
        first.insert("answers".into(), Json::Array(answers));
        first.insert("start".into(), start_json(trigger));
    }
    Episode { id: id.to_owned(), steps }
}

/// Returns a trigger as the record keeps it.
fn start_json(trigger: &Trigger) -> Json {
    match trigger {
        Trigger::Event(tile, event, payload) => json!({"tile": tile.name, "event": event, "payload": payload}),
        Trigger::Reducer(reducer, payload) => json!({"reducer": reducer.name, "payload": payload}),
        Trigger::Set(slot, value) => json!({"slot": slot.name, "value": value}),
    }
}

fn start_of(step: &EpisodeStep) -> Option<Trigger> {
    let start = step.get("start")?;
    let text = |name: &str| start.get(name).and_then(Json::as_str).map(str::to_owned);
    let payload = start.get("payload").filter(|payload| !payload.is_null()).cloned();
    if let Some(tile) = text("tile") {
        return Some(Trigger::Event(QName::new(Layer::Tile, tile), text("event")?, payload));
    }
    if let Some(reducer) = text("reducer") {
        return Some(Trigger::Reducer(QName::new(Layer::Reducer, reducer), payload));
    }
    Some(Trigger::Set(QName::new(Layer::Slot, text("slot")?), start.get("value")?.clone()))
}

/// Refuses a run whose definitions have errors.
fn refuse_broken(store: &Store, trigger: &Trigger) -> Result<(), Error> {
    let state = store.state();
    let reached = reached(state, trigger);
    let checks = Checks::of_some(state, &store.config().capabilities, &reached);
    let found = checks.all(state).filter(|found| reached.contains(&found.def) && !found.fault.is_warning());
    let faults: Vec<String> = render(state, found)
        .iter()
        .map(|fault| format!("\n  error[{}] {}: {}", fault.code, fault.location, fault.message))
        .collect();
    match faults.len() {
        0 => Ok(()),
        n => {
            let faults = faults.into_iter().take(10).collect::<String>();
            let more = if n > 10 { format!("\n  ... and {} more", n - 10) } else { String::new() };
            Err(Refusal::NewErrors(format!("cannot run: what would run has faults{faults}{more}")).into())
        }
    }
}

/// Returns the definitions a trigger can reach.
fn reached(state: &State, trigger: &Trigger) -> BTreeSet<DefId> {
    let mut stack: Vec<DefId> = match trigger {
        Trigger::Event(tile, event, _) => {
            let Some(tile) = state.named(tile) else { return BTreeSet::new() };
            let selects = |body: &Body| matches!(body, Body::Reducer { on: Some(on), .. } if on.tile.to == To::Def(tile.id) && on.event == *event);
            state.layer(Layer::Reducer).filter(|view| selects(&view.body)).map(|view| view.id).collect()
        }
        Trigger::Reducer(qname, _) | Trigger::Set(qname, _) => {
            state.named(qname).map(|view| view.id).into_iter().collect()
        }
    };
    let mut seen = BTreeSet::new();
    while let Some(id) = stack.pop() {
        if let Some(view) = state.view(id).filter(|_| seen.insert(id)) {
            stack.extend(view.deps());
        }
    }
    seen
}

/// Replays a recorded episode, from its initial values and with its recorded answers, and compares. Writes nothing, but
/// with `update` records the outcome as the new expectation.
pub fn replay(store: &mut Store, id: &str, at_graph: bool, update: bool) -> Result<Replay, Error> {
    let path = store.inner("episode-log.jsonl");
    let episodes = episode::read(&path)?;
    let found = if id == "latest" { episodes.last() } else { episodes.iter().find(|episode| episode.id == id) };
    let old = found.ok_or_else(|| {
        Error::NotFound(match episodes.is_empty() {
            true => "no episode is recorded yet; 'strand run' records one".to_owned(),
            false => format!("there is no episode {id}; 'strand episodes' lists them"),
        })
    })?;
    let first = old.steps.first().ok_or_else(|| Error::NotFound(format!("the episode {id} has no steps")))?;
    let unreadable = || Error::NotFound(format!("the episode {id} does not say how it began"));
    let mut trigger = start_of(first).ok_or_else(unreadable)?;
    let past;
    let state = if at_graph {
        let offset = first.get("graph").and_then(|graph| graph.get("log-offset")).and_then(Json::as_u64);
        let mut state = State::new();
        state.apply(store.log().read_prefix(offset.unwrap_or(0))?);
        past = state;
        &past
    } else {
        follow_names(store, first, &mut trigger)?;
        store.state()
    };
    let (outcome, difference) = match again(state, &trigger, old) {
        Ok(found) => found,
        Err(reason) => {
            return Ok(Replay { episode: old.id.clone(), steps: 0, difference: Some(reason.to_string()) });
        }
    };
    let steps = old.steps.len();
    let id = old.id.clone();
    if update && difference.is_some() {
        let answers = first.get("answers").and_then(Json::as_array).cloned().unwrap_or_default();
        let seed = first.get("seed").and_then(Json::as_u64).unwrap_or(0);
        let graph = json!({"state-hash": store.state().state_hash(), "log-offset": store.offset()?});
        episode::append(&path, &recorded(&id, &outcome, &trigger, answers, &graph, seed))?;
        return Ok(Replay { episode: id, steps: outcome.steps.len(), difference: None });
    }
    Ok(Replay { episode: id, steps, difference })
}

/// Updates the names of the trigger to the present ones, found through the identities of then.
fn follow_names(store: &Store, first: &EpisodeStep, trigger: &mut Trigger) -> Result<(), Error> {
    let offset = first.get("graph").and_then(|graph| graph.get("log-offset")).and_then(Json::as_u64);
    let (Trigger::Event(qname, ..) | Trigger::Reducer(qname, _) | Trigger::Set(qname, _)) = trigger;
    if store.state().named(qname).is_some() {
        return Ok(());
    }
    let mut then = State::new();
    then.apply(store.log().read_prefix(offset.unwrap_or(0))?);
    let id = then.named(qname).map(|view| view.id);
    if let Some(view) = id.and_then(|id| store.state().view(id)) {
        *qname = view.qname();
    }
    Ok(())
}

/// Returns the first difference between recorded and new steps. Names may have changed: slots are compared by identity.
fn difference(old: &[EpisodeStep], new: &[EpisodeStep]) -> Option<String> {
    let (old_steps, new_steps) = (old.len(), new.len());
    for (index, (old, new)) in old.iter().zip(new).enumerate() {
        let (a, b) = (comparable(old), comparable(new));
        // By identity: a rename is no difference.
        if a.get("reducer_def").is_some_and(|def| Some(def) != b.get("reducer_def")) {
            return Some(format!(
                "step {index}: reducer expected {}, got {}",
                show(a.get("reducer")),
                show(b.get("reducer"))
            ));
        }
        // A step is the last one by its status: that one side continues is reported below.
        let ended = |step: &Json| step.get("status").is_some_and(|status| status == "ok" || status == "done");
        let lengths_tell = old_steps != new_steps && ended(&a) && ended(&b);
        for key in ["status", "skipped"] {
            if lengths_tell && key == "status" {
                continue;
            }
            if a.get(key) != b.get(key) {
                return Some(format!("step {index}: {key} expected {}, got {}", show(a.get(key)), show(b.get(key))));
            }
        }
        if let Some(difference) = writes(index, a.get("writes"), b.get("writes")) {
            return Some(difference);
        }
        let requests = |value: &Json| -> Vec<Json> {
            let list = value.get("requests").and_then(Json::as_array).cloned().unwrap_or_default();
            list.into_iter().map(|request| json!([request["prim"], request["args"]])).collect()
        };
        if requests(&a) != requests(&b) {
            return Some(format!(
                "step {index}: requests expected {}, got {}",
                show(a.get("requests")),
                show(b.get("requests"))
            ));
        }
    }
    (old_steps != new_steps).then(|| format!("expected {old_steps} steps, got {new_steps}"))
}

fn writes(index: usize, old: Option<&Json>, new: Option<&Json>) -> Option<String> {
    let list = |value: Option<&Json>| value.and_then(Json::as_array).cloned().unwrap_or_default();
    let (old, new) = (list(old), list(new));
    let find = |list: &[Json], write: &Json| list.iter().find(|other| other["def"] == write["def"]).cloned();
    for write in &old {
        let name = write["slot"].as_str().unwrap_or_default();
        match find(&new, write) {
            None => return Some(format!("step {index}: {name} expected {}, not written", write["to"])),
            Some(other) if other["to"] != write["to"] => {
                return Some(format!("step {index}: {name} expected {}, got {}", write["to"], other["to"]));
            }
            Some(_) => {}
        }
    }
    let extra = new.iter().find(|write| find(&old, write).is_none());
    extra.map(|write| {
        format!("step {index}: {} is written, which was not expected", write["slot"].as_str().unwrap_or_default())
    })
}

fn show(value: Option<&Json>) -> String {
    value.map_or_else(|| "nothing".to_owned(), Json::to_string)
}
