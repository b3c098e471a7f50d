//! Runs each tool with its arguments.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::answer::{LIMIT, ToolAnswer};
use super::arguments::{
    AddArguments, CheckArguments, ConflictsArguments, EditArguments, EpisodeArguments, FixArguments, HistoryArguments,
    ListArguments, PatchApplyArguments, RefsArguments, RemoveArguments, RenameArguments, ReplaceArguments,
    RunArguments, SyncArguments, ViewArguments,
};
use crate::strand::cli::args::{self, Command, ConflictCommand};
use crate::strand::cli::exchange::apply_ops;
use crate::strand::cli::out::Writer;
use crate::strand::cli::perform::perform;
use crate::strand::cli::read::{layer_named, qname};
use crate::strand::cli::session::Session;
use crate::strand::id::{Layer, QName};
use crate::strand::issue::{Refusal, references, target};
use crate::strand::lang::print;
use crate::strand::op::Op;
use crate::strand::runtime::episode;
use crate::strand::state::{State, View as Definition};
use crate::strand::store::Error;
use crate::text::schema::PageLimit;

/// Reads arguments; an error is part of the answer.
fn read<T: DeserializeOwned>(arguments: &Value) -> Result<T, Error> {
    T::deserialize(arguments).map_err(|error| Refusal::Usage(format!("the arguments do not fit: {error}")).into())
}

/// Returns the qualified names of the visible definitions, of one layer or of all.
pub fn names(state: &State, layer: Option<Layer>) -> Vec<String> {
    let layers = Layer::ALL.into_iter().filter(|one| layer.is_none_or(|layer| layer == *one));
    layers.flat_map(|layer| state.labels(layer).into_iter().map(move |name| format!("{layer}.{name}"))).collect()
}

/// A page of a list: the cursor names the entry that the page before it ended with, since entries come and go between.
pub struct PageOf<'a> {
    /// The most entries of it.
    pub limit: Option<PageLimit>,
    /// The cursor of the page before; none: it is the first.
    pub cursor: Option<&'a str>,
}

impl PageOf<'_> {
    /// Returns the entries of the page, and the cursor of the next if there is one; `key` names an entry.
    fn of<T>(&self, mut all: Vec<T>, key: impl Fn(&T) -> String) -> Result<(Vec<T>, Option<String>), Error> {
        if let Some(cursor) = self.cursor {
            let gone = || {
                Refusal::Usage(format!(
                    "'{cursor}' is not here, so what follows it cannot be told: ask again without cursor"
                ))
            };
            let last = all.iter().rposition(|one| key(one) == cursor).ok_or_else(gone)?;
            all.drain(..=last);
        }
        Ok(self.cut(all, key))
    }

    /// Returns the names of the page, and the cursor of the next: of names in order, what follows one that is there no
    /// more can be told.
    pub fn of_names(&self, mut names: Vec<String>) -> Result<(Vec<String>, Option<String>), Error> {
        if let Some(cursor) = self.cursor {
            let last = Some(qname(cursor)?);
            names.retain(|name| QName::parse(name) > last);
        }
        Ok(self.cut(names, Clone::clone))
    }

    /// Cuts what follows the cursor to a page.
    fn cut<T>(&self, mut rest: Vec<T>, key: impl Fn(&T) -> String) -> (Vec<T>, Option<String>) {
        let limit = PageLimit::or(self.limit, LIMIT);
        let more = rest.len() > limit;
        rest.truncate(limit);
        let next = rest.last().filter(|_| more).map(key);
        (rest, next)
    }
}

/// Returns an answer with a list, and the cursor of the next page if there is one.
fn listed(name: &str, (page, next): (Vec<Value>, Option<String>)) -> ToolAnswer {
    let mut answer = json!({name: page});
    if let Some(next) = next {
        answer["next_cursor"] = next.into();
    }
    ToolAnswer::Done(answer)
}

/// One call of a tool.
pub struct Call<'c> {
    pub session: &'c mut Session,
    pub out: Writer,
}

impl Call<'_> {
    /// Calls the tool of a name.
    pub fn run(&mut self, name: &str, arguments: &Value) -> Result<ToolAnswer, Error> {
        match name {
            "strand_view" => self.view(read(arguments)?),
            "strand_list" => self.list(&read(arguments)?),
            "strand_add" => self.add(read(arguments)?),
            "strand_replace" => self.replace(read(arguments)?),
            "strand_edit" => self.edit(read(arguments)?),
            "strand_rename" => self.rename(read(arguments)?),
            "strand_remove" => self.remove(read(arguments)?),
            "strand_check" => self.check(&read(arguments)?),
            "strand_fix" => self.fix(read(arguments)?),
            "strand_refs" => self.refs(&read(arguments)?),
            "strand_history" => self.history(&read(arguments)?),
            "strand_episode" => self.episode(&read(arguments)?),
            "strand_patch_apply" => self.patch_apply(&read(arguments)?),
            "strand_conflicts" => self.conflicts(read(arguments)?),
            "strand_run" => self.run_event(read(arguments)?),
            "strand_sync" => self.sync(&read(arguments)?),
            _ => Err(Error::NotFound(format!("there is no tool {name}"))),
        }
    }

    /// Runs a command. Its results, and whether something was refused.
    fn perform(&mut self, command: Command) -> Result<(Vec<Value>, bool), Error> {
        let code = perform(self.session, command, &mut self.out)?;
        Ok((self.out.take(), code >= 2))
    }

    /// Runs a command whose result is one object, and makes an answer of it.
    fn one(&mut self, command: Command, shape: impl FnOnce(Value) -> Value) -> Result<ToolAnswer, Error> {
        let (values, refused) = self.perform(command)?;
        let value = shape(values.into_iter().next().unwrap_or_else(|| json!({})));
        Ok(if refused { ToolAnswer::Refused(value) } else { ToolAnswer::Done(value) })
    }

    fn expect(&mut self, name: &str, hash: Option<String>) -> Result<(), Error> {
        let expected = hash.map(|hash| Ok::<_, Error>((qname(name)?, hash))).transpose()?;
        self.session.store.expect_hash(expected);
        Ok(())
    }

    fn view(&mut self, given: ViewArguments) -> Result<ToolAnswer, Error> {
        let ViewArguments { selector, with_deps, units, at, limit, cursor } = given;
        let limit = PageLimit::or(limit, LIMIT);
        // One entry more than is shown decides whether there are more.
        let page = Some((cursor.as_deref().map(qname).transpose()?, limit.saturating_add(1)));
        let (hash, history, refs) = (false, false, false);
        let command = Command::View(args::ViewArgs { selector, with_deps, hash, history, refs, units, at, page });
        let (mut values, _) = self.perform(command)?;
        let Some(Value::Array(found)) = values.pop() else { return Ok(listed("definitions", (Vec::new(), None))) };
        let last = found.get(limit - 1).filter(|_| found.len() > limit);
        let next = last.and_then(|one| one["qname"].as_str()).map(str::to_owned);
        let definition = |value: Value| {
            let mut one = json!({
                "qname": value["qname"], "def": value["def"], "hash": value["hash"], "text": value["text"],
            });
            if units {
                one["units"] = value["units"].clone();
            }
            one
        };
        Ok(listed("definitions", (found.into_iter().take(limit).map(definition).collect(), next)))
    }

    fn list(&mut self, given: &ListArguments) -> Result<ToolAnswer, Error> {
        let layer = given.layer.as_deref().map(layer_named).transpose()?;
        let page = PageOf { limit: given.limit, cursor: given.cursor.as_deref() };
        let (names, next) = page.of_names(names(self.session.store.state(), layer))?;
        Ok(listed("names", (names.into_iter().map(Value::from).collect(), next)))
    }

    fn add(&mut self, given: AddArguments) -> Result<ToolAnswer, Error> {
        let parts = vec![given.layer, given.name, given.body];
        self.one(Command::Add(args::Add { parts, doc: None, check: false }), |value| value)
    }

    fn replace(&mut self, given: ReplaceArguments) -> Result<ToolAnswer, Error> {
        self.expect(&given.qname, given.expect_hash)?;
        self.one(Command::Replace { qname: given.qname, body: given.body, check: false }, |value| value)
    }

    fn edit(&mut self, given: EditArguments) -> Result<ToolAnswer, Error> {
        self.expect(&given.qname, given.expect_hash)?;
        let patch = Value::Object(given.patch).to_string();
        self.one(Command::Edit { qname: given.qname, patch, check: false }, |value| value)
    }

    fn rename(&mut self, given: RenameArguments) -> Result<ToolAnswer, Error> {
        self.expect(&given.qname, given.expect_hash)?;
        self.one(Command::Rename { qname: given.qname, new: given.new_name }, |value| value)
    }

    fn remove(&mut self, given: RemoveArguments) -> Result<ToolAnswer, Error> {
        if given.cascade && given.force {
            return Err(Refusal::Usage("give cascade or force, not both".to_owned()).into());
        }
        self.expect(&given.qname, given.expect_hash)?;
        let (cascade, force) = (given.cascade, given.force);
        let command = Command::Remove(args::Remove { qname: given.qname, cascade, force, dry_run: false });
        self.one(command, |value| {
            let ids = &value["op-ids"];
            json!({
                "op-id": ids[0], "op-ids": ids, "removed": value["removed"],
                "diagnostics": value["diagnostics"],
            })
        })
    }

    fn check(&mut self, given: &CheckArguments) -> Result<ToolAnswer, Error> {
        let scope = given.scope.as_deref();
        let is = |word: &str| scope == Some(word);
        let flags = [is("types"), is("refs"), is("effects"), is("a11y")];
        let command = Command::Check(args::Check {
            types: flags[0],
            refs: flags[1],
            effects: flags[2],
            a11y: flags[3],
            deny_warnings: true,
            all: false,
            scope: scope.filter(|_| !flags.contains(&true)).map(str::to_owned),
            stats: false,
        });
        let (found, _) = self.perform(command)?;
        let clean = !found.iter().any(|one| one["severity"] == "error");
        let page = PageOf { limit: given.limit, cursor: given.cursor.as_deref() };
        let key = |one: &Value| one["id"].as_str().unwrap_or_default().to_owned();
        let ToolAnswer::Done(mut answer) = listed("errors", page.of(found, key)?) else {
            return Ok(ToolAnswer::Done(json!({})));
        };
        answer["clean"] = clean.into();
        Ok(ToolAnswer::Done(answer))
    }

    fn fix(&mut self, given: FixArguments) -> Result<ToolAnswer, Error> {
        let fix = |auto_patch, apply, which| Command::Fix(args::Fix { auto_patch, apply, interactive: false, which });
        let (patches, _) = self.perform(fix(Some(given.error_code.clone()), false, None))?;
        if !given.apply {
            let left = patches.len();
            return Ok(ToolAnswer::Done(json!({"patches": patches, "applied": [], "left": left})));
        }
        self.one(
            fix(None, true, Some(given.error_code)),
            |value| json!({"patches": patches, "applied": value["op-ids"], "left": value["left"]}),
        )
    }

    fn refs(&mut self, given: &RefsArguments) -> Result<ToolAnswer, Error> {
        let state = self.session.store.state();
        let id = target(state, &qname(&given.qname)?)?.id;
        let mut refs = Vec::new();
        for place in references(state, id).places() {
            let (from, unit) = place.rsplit_once(':').unwrap_or((&place, ""));
            let view = QName::parse(from).and_then(|qname| state.named(&qname));
            let kind = if unit == "link" { "link" } else { "ref" };
            let text = view.map(|view| unit_text(view, unit)).unwrap_or_default();
            refs.push(json!({"from": from, "unit": unit, "kind": kind, "text": text}));
        }
        Ok(ToolAnswer::Done(json!({"refs": refs})))
    }

    fn history(&mut self, given: &HistoryArguments) -> Result<ToolAnswer, Error> {
        let id = target(self.session.store.state(), &qname(&given.qname)?)?.id;
        let page = PageOf { limit: given.limit, cursor: given.cursor.as_deref() };
        let (ops, next) = page.of(self.session.store.history(id), |op| op.id.to_string())?;
        Ok(listed("ops", (ops.iter().map(Op::to_json).collect(), next)))
    }

    fn episode(&mut self, given: &EpisodeArguments) -> Result<ToolAnswer, Error> {
        let mut episodes = episode::read(&self.session.store.inner("episode-log.jsonl"))?;
        let found = match given.episode_id.as_str() {
            "latest" => episodes.pop(),
            id => episodes.into_iter().find(|episode| episode.id == id),
        };
        let missing = || Error::NotFound(format!("there is no episode {}", given.episode_id));
        found.map(|episode| ToolAnswer::Done(episode.to_json())).ok_or_else(missing)
    }

    fn patch_apply(&mut self, given: &PatchApplyArguments) -> Result<ToolAnswer, Error> {
        if given.ops.is_empty() {
            return Err(Refusal::Malformed("there is no op in ops".to_owned()).into());
        }
        let code = apply_ops(self.session, &mut self.out, &given.ops, "ops", false)?;
        let value = self.out.take().into_iter().next().unwrap_or_else(|| json!({}));
        Ok(if code >= 2 { ToolAnswer::Refused(value) } else { ToolAnswer::Done(value) })
    }

    fn conflicts(&mut self, given: ConflictsArguments) -> Result<ToolAnswer, Error> {
        let ConflictsArguments { id, reissue } = given;
        if let (true, Some(id)) = (reissue, &id) {
            let command = Some(ConflictCommand::Reissue { id: id.clone() });
            let (mut values, _) = self.perform(Command::Conflicts { command, all: false })?;
            let told = values.pop().unwrap_or_else(|| json!({"op-ids": [], "diagnostics": []}));
            let (ids, diagnostics) = (&told["op-ids"], &told["diagnostics"]);
            return Ok(ToolAnswer::Done(json!({"conflicts": [], "op-ids": ids, "diagnostics": diagnostics})));
        }
        if reissue {
            return Err(Refusal::Usage("name the conflict to issue again: id".to_owned()).into());
        }
        let (mut values, _) = self.perform(Command::Conflicts { command: None, all: id.is_some() })?;
        let Some(Value::Array(mut all)) = values.pop() else { return Ok(ToolAnswer::Done(json!({"conflicts": []}))) };
        if let Some(id) = id {
            all.retain(|one| one["conflict"] == *id || one["id"] == *id);
            if all.is_empty() {
                return Err(Error::NotFound(format!("there is no conflict {id}")));
            }
        }
        Ok(ToolAnswer::Done(json!({"conflicts": all})))
    }

    fn run_event(&mut self, given: RunArguments) -> Result<ToolAnswer, Error> {
        let payload = given.payload.map(|payload| payload.to_string());
        let given_answers = given.effects.map(Value::Object);
        self.one(
            Command::Run(args::Run {
                what: given.event,
                payload,
                effects: None,
                given: given_answers,
                seed: 0,
                reset: false,
                live: false,
            }),
            |value| value,
        )
    }

    fn sync(&mut self, given: &SyncArguments) -> Result<ToolAnswer, Error> {
        let command = Command::Sync(args::Sync {
            dry_run: given.dry_run,
            to_files: false,
            to_store: false,
            cascade: false,
            force: false,
            watch: false,
        });
        self.one(command, |value| value)
    }
}

/// Returns what stands at a place of a definition: a unit by its number, or a header by its name.
fn unit_text(view: &Definition, place: &str) -> String {
    let printed = match place.parse() {
        Ok(number) => print::unit(&view.body, number),
        Err(_) => print::header(&view.body, place),
    };
    printed.map(|printed| printed.text).unwrap_or_default()
}
