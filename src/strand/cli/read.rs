//! `view` and `list`.

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};

use super::args;
use super::out::Writer;
use super::session::Session;
use crate::strand::id::{DefId, Layer, OpId, QName};
use crate::strand::issue::{Refusal, references, target};
use crate::strand::lang::{print, unit};
use crate::strand::op::Op;
use crate::strand::state::{State, View};
use crate::strand::store::{Error, ListingRow, covers, read_checkpoint};

/// Returns the visible definitions a selector names, to be read, in layer order then by name.
pub fn select<'s>(state: &'s State, selector: &str) -> Result<Vec<&'s View>, Error> {
    Ok(select_ids(state, selector)?.into_iter().filter_map(|id| state.reading(id)).collect())
}

/// Returns the identities of the visible definitions a selector names, in layer order then by name.
fn select_ids(state: &State, selector: &str) -> Result<Vec<DefId>, Error> {
    let mut chosen: HashSet<DefId> = HashSet::new();
    for part in selector.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let before = chosen.len();
        if let Some(id) = OpId::parse(part) {
            chosen.extend(state.reading(id).filter(|view| view.visible()).map(|view| view.id));
        } else if !part.contains(['*', '?']) {
            chosen.extend(QName::parse(part).and_then(|qname| state.find_id(qname.layer, &qname.name)));
        } else {
            let pattern = if part == "*" { "*.*" } else { part };
            chosen.extend(state.visible_ids().filter(|id| state.qname(*id).is_some_and(|name| covers(pattern, &name))));
        }
        if chosen.len() == before && !part.contains(['*', '?']) && OpId::parse(part).is_none() {
            match QName::parse(part) {
                // One that another part chose already is found again here without a word.
                Some(qname) => {
                    target(state, &qname)?;
                }
                None => return Err(Refusal::Usage(format!("'{part}' is no selector: use layer.Name")).into()),
            }
        } else if chosen.len() == before {
            let words = if OpId::parse(part).is_some() { "there is no" } else { "nothing here fits" };
            return Err(Error::NotFound(format!("{words} {part}")));
        }
    }
    if selector.split(',').all(|part| part.trim().is_empty()) {
        return Err(Refusal::Usage("the selector is empty: use layer.Name, layer.* or *".to_owned()).into());
    }
    let mut ids: Vec<DefId> = chosen.into_iter().collect();
    ids.sort_by_cached_key(|id| state.qname(*id).map(|qname| (qname.layer, qname.name)));
    Ok(ids)
}

/// Reads `layer.Name`.
pub fn qname(text: &str) -> Result<QName, Error> {
    QName::parse(text).ok_or_else(|| Refusal::Usage(format!("'{text}' is not layer.Name")).into())
}

/// Returns the text of a file that an argument names; `-` is stdin.
pub fn read_file(path: &Path) -> Result<String, Error> {
    if path == Path::new("-") {
        let mut text = String::new();
        let read = std::io::stdin().read_to_string(&mut text);
        return read.map(|_| text).map_err(|error| unread(Path::new("stdin"), error));
    }
    std::fs::read_to_string(path).map_err(|error| unread(path, error))
}

/// Returns why a file that an argument names could not be read.
fn unread(path: &Path, error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::NotFound => Error::NotFound(format!("there is no file {}", path.display())),
        std::io::ErrorKind::InvalidData => Refusal::Usage(format!("{} is no text in UTF-8", path.display())).into(),
        _ => Error::io("read", path, error),
    }
}

/// Reads an op-id.
pub fn op_id(text: &str) -> Result<OpId, Error> {
    OpId::parse(text).ok_or_else(|| Refusal::Usage(format!("'{text}' is not an op-id")).into())
}

/// Returns units with their numbers: each as `(number, text)`.
fn units(view: &View) -> Vec<(usize, String)> {
    let count = unit::count(&view.body);
    (1..=count).filter_map(|n| print::unit(&view.body, n).map(|printed| (n, printed.text))).collect()
}

/// Answers a plain `view` or `list` straight from the checkpoint, if it is as recent as the log.
pub(super) fn from_checkpoint(args: &args::Args, out: &Writer) -> Result<Option<u8>, Error> {
    if out.json {
        return Ok(None);
    }
    match &args.command {
        args::Command::View(view) => {
            if view.with_deps || view.history || view.refs || view.units || view.at.is_some() {
                return Ok(None);
            }
            let Some(qname) = QName::parse(&view.selector).filter(|q| !q.name.contains(['*', '?', ','])) else {
                return Ok(None);
            };
            let rows = read_checkpoint(&super::session::root(args)?, Some(qname.layer), Some(&qname.name));
            let Some([row]) = rows.as_deref() else { return Ok(None) };
            out.text(&if view.hash { format!("{qname} {}\n", row.hash) } else { out.code(&row.text) });
        }
        args::Command::List { layer, hash: false, long: false } => {
            let chosen = layer.as_deref().map(Layer::parse);
            if chosen == Some(None) {
                return Ok(None);
            }
            let Some(rows) = read_checkpoint(&super::session::root(args)?, chosen.flatten(), None) else {
                return Ok(None);
            };
            let line = |row: &ListingRow| match layer {
                Some(_) => format!("{}\n", row.label),
                None => format!("{}.{}\n", row.layer, row.label),
            };
            out.text(&rows.iter().map(line).collect::<String>());
        }
        _ => return Ok(None),
    }
    Ok(Some(0))
}

/// Returns the definitions that the exact names and identities of a selector ever meant. None for one with a pattern in
/// it, or a name that no op gave.
fn named(s: &Session, selector: &str) -> Option<Vec<DefId>> {
    let graph = s.store.state().graph();
    let mut out = Vec::new();
    for part in selector.split(',').map(str::trim) {
        let held = match (OpId::parse(part), QName::parse(part)) {
            (Some(id), _) => vec![id],
            (None, Some(qname)) => graph.holders(qname.layer, &qname.name),
            _ => Vec::new(),
        };
        if held.is_empty() {
            return None;
        }
        out.extend(held);
    }
    Some(out)
}

pub(super) fn view(s: &mut Session, out: &mut Writer, args: &args::ViewArgs) -> Result<u8, Error> {
    let past;
    let state = match &args.at {
        Some(at) => {
            let id = op_id(at)?;
            past = match named(s, &args.selector) {
                Some(seeds) if s.store.state().graph().has(id) && !args.refs => s.store.past_of(id, true, &seeds)?,
                _ => s.store.state_at(id)?,
            };
            &past
        }
        None => s.store.state(),
    };
    let mut ids = select_ids(state, &args.selector)?;
    if args.with_deps {
        ids = with_deps(state, &ids);
    }
    let (after, most) = args.page.as_ref().map_or((None, usize::MAX), |(after, most)| (after.as_ref(), *most));
    if let Some(after) = after {
        leave_out(state, &mut ids, after, args.with_deps)?;
    }
    let mut views: Vec<&View> = Vec::new();
    for id in ids.iter().take(most) {
        s.store.go_on()?;
        views.extend(state.reading(*id));
    }
    if out.json {
        let all: Vec<Value> = views.iter().map(|view| view_json(s, state, view, args)).collect();
        out.value(&Value::Array(all));
        return Ok(0);
    }
    let mut blocks: Vec<String> = Vec::new();
    for view in views {
        let mut block = String::new();
        if args.hash {
            block.push_str(&format!("{} {}\n", view.qname(), view.hash));
        }
        if args.history {
            s.store.history(view.id).iter().for_each(|op| block.push_str(&format!("{}\n", history_line(op, None))));
        }
        if args.refs {
            references(state, view.id).places().iter().for_each(|place| block.push_str(&format!("{place}\n")));
        }
        if args.units {
            block.push_str(&format!("{} {} =\n", view.layer, view.label));
            units(view).iter().for_each(|(n, text)| block.push_str(&format!("{n}  {text}\n")));
        } else if !(args.hash || args.history || args.refs) {
            block.push_str(&out.code(view.text()));
        }
        blocks.push(block);
    }
    let separator = if args.hash || args.refs { "" } else { "\n" };
    out.text(&blocks.join(separator));
    Ok(0)
}

/// Leaves out the definitions up to one of them. It may be there no more: what follows it is told by the order of the
/// names, which definitions with what they need do not stand in.
fn leave_out(state: &State, ids: &mut Vec<DefId>, last: &QName, with_deps: bool) -> Result<(), Error> {
    if !with_deps {
        ids.retain(|id| state.qname(*id).is_some_and(|qname| qname > *last));
        return Ok(());
    }
    let at = ids.iter().position(|id| state.qname(*id).is_some_and(|qname| qname == *last));
    let gone = || Refusal::Usage(format!("{last} is not here any more: ask again without cursor"));
    ids.drain(..=at.ok_or_else(gone)?);
    Ok(())
}

/// Returns definitions with everything they need, dependencies first.
fn with_deps(state: &State, ids: &[DefId]) -> Vec<DefId> {
    let (mut seen, mut out) = (HashSet::new(), Vec::new());
    let mut stack: Vec<(DefId, bool)> = ids.iter().rev().map(|id| (*id, false)).collect();
    while let Some((id, done)) = stack.pop() {
        if done {
            out.push(id);
        } else if seen.insert(id) {
            stack.push((id, true));
            let mut deps = state.deps(id);
            deps.sort_by_cached_key(|dep| std::cmp::Reverse(state.qname(*dep).map(|qname| (qname.layer, qname.name))));
            stack.extend(deps.into_iter().map(|dep| (dep, false)));
        }
    }
    out
}

fn view_json(s: &Session, state: &State, view: &View, args: &args::ViewArgs) -> Value {
    let names = |ids: &[DefId]| -> Vec<String> {
        ids.iter().filter_map(|id| state.qname(*id)).map(|qname| qname.to_string()).collect()
    };
    let mut value = Map::new();
    value.insert("qname".into(), json!(view.qname().to_string()));
    value.insert("def".into(), json!(view.id));
    value.insert("hash".into(), json!(view.hash.to_string()));
    value.insert("text".into(), json!(view.text()));
    let units: Vec<Value> = units(view).into_iter().map(|(n, text)| json!({"unit": n, "text": text})).collect();
    value.insert("units".into(), Value::Array(units));
    value.insert("deps".into(), json!(names(view.deps())));
    if args.history {
        value.insert("history".into(), s.store.history(view.id).iter().map(Op::to_json).collect());
    }
    if args.refs {
        value.insert("refs".into(), json!(references(state, view.id).places()));
    }
    Value::Object(value)
}

/// Returns the layer of a word.
pub(super) fn layer_named(word: &str) -> Result<Layer, Refusal> {
    Layer::named(word).map_err(Refusal::Usage)
}

/// Returns one op as a line: id, time, kind, author, what it is `about` if that is not clear, first line of what it
/// says.
pub fn history_line(op: &Op, about: Option<&str>) -> String {
    let time = DateTime::<Utc>::from_timestamp_millis(op.ts).map(|t| t.format("%Y-%m-%dT%H:%M:%SZ").to_string());
    let (time, first) = (time.unwrap_or_default(), op.summary());
    let about = about.map_or(String::new(), |about| format!(" {about}"));
    format!("{} {time} {} {}{about}  {first}", op.id, op.kind.word(), op.author).trim_end().to_owned()
}

pub(super) fn list(
    s: &mut Session,
    out: &mut Writer,
    layer: Option<&str>,
    hash: bool,
    long: bool,
) -> Result<u8, Error> {
    let layer = layer.map(layer_named).transpose()?;
    let state = s.store.state();
    let views: Vec<&View> = state.readings().filter(|view| layer.is_none_or(|layer| view.layer == layer)).collect();
    if out.json {
        let entry =
            |view: &&View| json!({"qname": view.qname().to_string(), "def": view.id, "hash": view.hash.to_string()});
        out.value(&views.iter().map(entry).collect());
        return Ok(0);
    }
    let mut text = String::new();
    for view in views {
        text.push_str(&if layer.is_some() { view.label.clone() } else { view.qname().to_string() });
        if hash || long {
            text.push_str(&format!(" {}", view.hash));
        }
        if long {
            text.push_str(&format!(" {}  {}", view.id, view.body_text().lines().next().unwrap_or_default()));
        }
        text.push('\n');
    }
    out.text(&text);
    Ok(0)
}
