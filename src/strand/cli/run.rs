//! `run`, `replay`, `episodes`.

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use serde_json::{Value, json};

use super::args;
use super::out::{Writer, plural};
use super::read::read_file;
use super::session::Session;
use crate::strand::id::{Layer, QName};
use crate::strand::issue::{Refusal, target};
use crate::strand::runtime::episode;
use crate::strand::runtime::run::Trigger;
use crate::strand::runtime::{perform, replay as run_again};
use crate::strand::store::Error;

/// Reads `Tile.event`, `reducer.name` or `slot.name=json`.
fn trigger(what: &str, payload: Option<&str>) -> Result<Trigger, Error> {
    let json = |text: &str| {
        let wrong = |e| Refusal::Usage(format!("'{text}' is no JSON ({e}); a text needs quotes: '\"{text}\"'"));
        serde_json::from_str(text).map_err(wrong)
    };
    let wrong = || Refusal::Usage(format!("'{what}' is not Tile.event, reducer.name or slot.name=json"));
    if let Some((slot, value)) = what.split_once('=') {
        let qname = QName::parse(slot).filter(|qname| qname.layer == Layer::Slot).ok_or_else(wrong)?;
        return Ok(Trigger::Set(qname, json(value)?));
    }
    let payload: Option<Value> = payload.map(json).transpose()?;
    let (head, rest) = what.split_once('.').ok_or_else(wrong)?;
    Ok(match Layer::parse(head) {
        Some(Layer::Reducer) => Trigger::Reducer(QName::new(Layer::Reducer, rest), payload),
        Some(_) => return Err(wrong().into()),
        None => Trigger::Event(QName::new(Layer::Tile, head), rest.to_owned(), payload),
    })
}

/// Returns the answers of a file by effect: `{"signup": [{"err": "offline"}, {"ok": true}]}`.
fn answers_of(s: &Session, path: &Path) -> Result<HashMap<String, VecDeque<Value>>, Error> {
    let name = path.display().to_string();
    let value = serde_json::from_str(&read_file(path)?);
    let value = value.map_err(|error| Refusal::Usage(format!("{name}: not answers by effect: {error}")))?;
    answers(s, value, &name)
}

/// Returns the answers by effect that a value holds, which a message calls `name`.
fn answers(s: &Session, value: Value, name: &str) -> Result<HashMap<String, VecDeque<Value>>, Error> {
    let bad = |message: String| Refusal::Usage(format!("{name}: {message}"));
    let answers: HashMap<String, VecDeque<Value>> =
        serde_json::from_value(value).map_err(|error| bad(format!("not answers by effect: {error}")))?;
    for (effect, list) in &answers {
        target(s.store.state(), &QName::new(Layer::Effect, effect)).map_err(|refusal| bad(refusal.to_string()))?;
        if let Some(answer) = list.iter().find(|answer| answer.get("ok").is_none() && answer.get("err").is_none()) {
            return Err(bad(format!("an answer of {effect} is {{\"ok\": ..}} or {{\"err\": ..}}, not {answer}")).into());
        }
    }
    Ok(answers)
}

pub(super) fn run(s: &mut Session, out: &mut Writer, args: &args::Run) -> Result<u8, Error> {
    if args.live {
        return Err(
            Refusal::Usage("this build performs no http requests; give answers with --effects".to_owned()).into()
        );
    }
    let trigger = trigger(&args.what, args.payload.as_deref())?;
    let given = match (&args.given, args.effects.as_deref()) {
        (Some(given), _) => answers(s, given.clone(), "effects")?,
        (None, Some(path)) => answers_of(s, path)?,
        (None, None) => HashMap::new(),
    };
    let (episode, printed) = perform(&mut s.store, &trigger, given, args.seed, args.reset)?;
    printed.iter().for_each(|line| out.note(line));
    if out.json {
        out.value(&episode.to_json());
    } else {
        let steps = plural(episode.steps.len(), "step");
        out.line(&format!("{} {} ({steps})", episode.id, episode.status()));
        for step in &episode.steps {
            for write in step.get("writes").and_then(Value::as_array).into_iter().flatten() {
                out.line(&format!(
                    "  {} {} -> {}",
                    write["slot"].as_str().unwrap_or_default(),
                    write["from"],
                    write["to"]
                ));
            }
            if let Some(trap) = step.get("trap").and_then(Value::as_str) {
                out.line(&format!("  trap {trap}"));
            }
        }
    }
    Ok(u8::from(matches!(episode.status(), "trap" | "limit")))
}

pub(super) fn replay(s: &mut Session, out: &mut Writer, id: &str, at_graph: bool, update: bool) -> Result<u8, Error> {
    let found = run_again(&mut s.store, id, at_graph, update)?;
    let words = found.difference.clone().unwrap_or_else(|| format!("replay ok ({} steps)", found.steps));
    out.answer(&words, || {
        json!({
            "episode": found.episode, "equal": found.difference.is_none(),
            "steps": found.steps, "difference": found.difference,
        })
    });
    Ok(u8::from(found.difference.is_some()))
}

/// Returns a trigger as a person types it.
fn said(trigger: &Value) -> String {
    let text = |key: &str| trigger.get(key).and_then(Value::as_str);
    match (text("event").or(text("reducer")), text("set")) {
        (Some(what), _) => what.to_owned(),
        (None, Some(slot)) => format!("{slot}=.."),
        _ => trigger.to_string(),
    }
}

pub(super) fn episodes(s: &mut Session, out: &mut Writer) -> Result<u8, Error> {
    let episodes = episode::read(&s.store.inner("episode-log.jsonl"))?;
    let row = |episode: &episode::Episode| {
        let first = episode.steps.first().cloned().unwrap_or_default();
        let (ts, trigger) = (first.get("ts").cloned(), first.get("trigger").cloned());
        json!({"episode": episode.id, "ts": ts, "trigger": trigger, "steps": episode.steps.len(), "status": episode.status()})
    };
    if out.json {
        out.value(&episodes.iter().map(row).collect());
        return Ok(0);
    }
    for episode in &episodes {
        let row = row(episode);
        let time = row["ts"].as_i64().and_then(chrono::DateTime::<chrono::Utc>::from_timestamp_millis);
        let time = time.map(|time| time.format("%Y-%m-%dT%H:%M:%SZ").to_string()).unwrap_or_default();
        let steps = plural(episode.steps.len(), "step");
        out.line(&format!("{} {time} {} {steps} {}", episode.id, said(&row["trigger"]), episode.status()));
    }
    Ok(0)
}
