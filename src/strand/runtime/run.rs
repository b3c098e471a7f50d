//! Runs: an event, the reducers it triggers, and the effects they request.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use serde_json::{Map, Value as Json, json};

use super::episode::{EpisodeStep, RunStatus};
use super::eval::Eval;
use super::value::Value;
use crate::strand::check::types::{Ty, Types};
use crate::strand::id::{DefId, Layer, QName, now_ms};
use crate::strand::issue::target;
use crate::strand::lang::ast::{Action, Body, Guard, Prim, Stmt, To};
use crate::strand::state::{State, View};

/// The number of steps above which a run is ended.
const MAX_STEPS: usize = 1_000;

/// The trigger of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Trigger {
    /// A tile's event with what it sends.
    Event(QName, String, Option<Json>),
    /// A reducer with its input.
    Reducer(QName, Option<Json>),
    /// A slot written through `bind=`.
    Set(QName, Json),
}

/// Slot values by definition, as JSON.
pub type SlotValues = BTreeMap<DefId, Json>;

/// Answers requests: one at a time, in order.
pub trait World {
    /// Returns the answer to a request: `{"ok": v}` or `{"err": v}`, or nothing if there is none.
    fn answer(&mut self, effect: &View, prim: &str, args: &[Json]) -> Option<Json>;
}

/// The reason why a run cannot start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// No such tile, event, reducer or slot exists.
    #[error("{0}")]
    Missing(String),
    /// The payload or the value is not of the expected type.
    #[error("{0}")]
    Unfit(String),
    /// The graph does not hold what the run needs.
    #[error("{0}")]
    Broken(String),
}

impl From<String> for Reason {
    fn from(words: String) -> Reason {
        Reason::Broken(words)
    }
}

impl From<&str> for Reason {
    fn from(words: &str) -> Reason {
        Reason::Broken(words.to_owned())
    }
}

/// The outcome of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Its steps, without episode, time and graph.
    pub steps: Vec<EpisodeStep>,
    /// Its end.
    pub status: RunStatus,
    /// Slot values afterwards.
    pub slots: SlotValues,
}

struct Request {
    id: String,
    effect: DefId,
    prim: String,
    args: Vec<Json>,
    ok: Option<DefId>,
    err: Option<DefId>,
}

/// One reducer to run, and its cause.
struct Turn {
    trigger: Json,
    reducer: DefId,
    payload: Option<Json>,
}

struct EpisodeRun<'s> {
    types: &'s Types<'s>,
    slots: SlotValues,
    initial: SlotValues,
    steps: Vec<EpisodeStep>,
    queue: VecDeque<Request>,
    requests: usize,
    status: RunStatus,
}

/// Runs a trigger over slot values.
pub fn run(state: &State, trigger: &Trigger, slots: SlotValues, world: &mut dyn World) -> Result<Outcome, Reason> {
    let types = Types::new(state);
    let mut run = EpisodeRun {
        types: &types,
        slots,
        initial: SlotValues::new(),
        steps: Vec::new(),
        queue: VecDeque::new(),
        requests: 0,
        status: RunStatus::Done,
    };
    for turn in run.turns(trigger)? {
        if run.status == RunStatus::Done {
            run.step(turn)?;
        }
    }
    while run.status == RunStatus::Done
        && let Some(request) = run.queue.pop_front()
    {
        run.answer_request(request, world)?;
    }
    run.finish();
    Ok(Outcome { steps: run.steps, status: run.status, slots: run.slots })
}

/// Returns the hash of slot values.
fn slots_sum(slots: &SlotValues) -> String {
    let list: Vec<Json> = slots.iter().map(|(id, value)| json!([id, value])).collect();
    blake3::hash(Json::Array(list).to_string().as_bytes()).to_hex().to_string()
}

/// Formats as `an Int`, `a Text`.
fn a(ty: &str) -> String {
    format!("{} {ty}", if ty.starts_with(['A', 'E', 'I', 'O']) { "an" } else { "a" })
}

impl<'s> EpisodeRun<'s> {
    fn state(&self) -> &'s State {
        self.types.state()
    }

    fn named(&self, qname: &QName) -> Result<&'s View, Reason> {
        target(self.state(), qname).map_err(|refusal| Reason::Missing(refusal.to_string()))
    }

    /// Returns the steps a trigger begins with. A slot write is made at once.
    fn turns(&mut self, trigger: &Trigger) -> Result<Vec<Turn>, Reason> {
        match trigger {
            Trigger::Event(tile, event, payload) => {
                let tile = self.named(tile)?;
                let selects = |view: &&View| matches!(&view.body, Body::Reducer { on: Some(on), .. } if on.tile.to == To::Def(tile.id) && on.event == *event);
                let reducers: Vec<&View> = self.state().layer(Layer::Reducer).filter(selects).collect();
                if reducers.is_empty() {
                    return Err(Reason::Missing(self.unheard(tile, event)));
                }
                for reducer in &reducers {
                    self.input(reducer, payload.as_ref())?;
                }
                let trigger = json!({"event": format!("{}.{event}", tile.label)});
                let turn = |view: &View| Turn { trigger: trigger.clone(), reducer: view.id, payload: payload.clone() };
                Ok(reducers.into_iter().map(turn).collect())
            }
            Trigger::Reducer(qname, payload) => {
                let reducer = self.named(qname)?;
                self.input(reducer, payload.as_ref())?;
                let trigger = json!({"reducer": qname.to_string()});
                Ok(vec![Turn { trigger, reducer: reducer.id, payload: payload.clone() }])
            }
            Trigger::Set(qname, value) => {
                let slot = self.named(qname)?;
                self.set(slot, value)?;
                Ok(Vec::new())
            }
        }
    }

    /// Returns the complaint that no reducer runs on an event of a tile, and which events some do run on.
    fn unheard(&self, tile: &View, event: &str) -> String {
        let heard = self.state().layer(Layer::Reducer).filter_map(|view| match &view.body {
            Body::Reducer { on: Some(on), .. } if on.tile.to == To::Def(tile.id) => Some(on.event.as_str()),
            _ => None,
        });
        let heard: BTreeSet<&str> = heard.collect();
        let known = match heard.len() {
            0 => "none runs on any of its events".to_owned(),
            _ => format!("there is {}", heard.into_iter().collect::<Vec<_>>().join(", ")),
        };
        format!("no reducer runs on {}.{event}; {known}", tile.label)
    }

    /// Writes a slot from outside: a step without a reducer.
    fn set(&mut self, slot: &View, value: &Json) -> Result<(), Reason> {
        let Body::Slot { ty, .. } = &slot.body else { return Err(format!("{} is no slot", slot.qname()).into()) };
        let ty = self.types.lower(ty);
        let fits = Value::from_json(self.types, &ty, value)
            .filter(|value| Eval::new(self.types, &|_| None).fits(&ty, value).is_ok());
        let unfit = || Reason::Unfit(format!("{value} does not fit {}, {}", slot.qname(), a(&self.types.show(&ty))));
        let value = fits.ok_or_else(unfit)?.to_json();
        let before = slots_sum(&self.slots);
        let from = self.value(slot.id)?;
        self.slots.insert(slot.id, value.clone());
        let mut step = EpisodeStep::new();
        step.insert("trigger".into(), json!({"set": slot.qname().to_string()}));
        step.insert("payload".into(), value.clone());
        step.insert("reducer".into(), Json::Null);
        step.insert("hash".into(), json!(slot.hash.to_string()));
        step.insert("before".into(), json!(before));
        step.insert(
            "writes".into(),
            json!([{"slot": slot.qname().to_string(), "def": slot.id, "from": from, "to": value}]),
        );
        self.push(step, Vec::new(), "ok");
        Ok(())
    }

    /// Returns the present value of a slot; a missing or no longer fitting one is its init.
    fn value(&mut self, id: DefId) -> Result<Json, Reason> {
        let view = self.state().view(id).ok_or("the slot is not there any more")?;
        let Body::Slot { ty, init } = &view.body else { return Err(format!("{} is no slot", view.qname()).into()) };
        let ty = self.types.lower(ty);
        let held = self.slots.get(&id).filter(|json| Value::from_json(self.types, &ty, json).is_some()).cloned();
        let json = match held {
            Some(json) => json,
            None => {
                let value = Eval::new(self.types, &|_| None).eval(init);
                value.map_err(|trap| format!("the init of {} traps: {trap}", view.qname()))?.to_json()
            }
        };
        self.slots.insert(id, json.clone());
        self.initial.entry(id).or_insert_with(|| json.clone());
        Ok(json)
    }

    /// Returns the value of a reducer's input.
    fn input(&self, reducer: &View, payload: Option<&Json>) -> Result<Option<(String, Value)>, Reason> {
        let Body::Reducer { input, .. } = &reducer.body else {
            return Err(format!("{} is no reducer", reducer.qname()).into());
        };
        let Some(input) = input else { return Ok(None) };
        let ty = self.types.lower(&input.ty);
        let value = Value::from_json(self.types, &ty, payload.unwrap_or(&Json::Null))
            .filter(|value| Eval::new(self.types, &|_| None).fits(&ty, value).is_ok());
        let value = value.ok_or_else(|| {
            let (reducer, ty) = (reducer.qname(), self.types.show(&ty));
            Reason::Unfit(match payload {
                Some(payload) => format!("the payload {payload} does not fit {reducer}, which takes {}", a(&ty)),
                None => format!("{reducer} takes {}, and there is no payload", a(&ty)),
            })
        })?;
        Ok(Some((input.name.clone(), value)))
    }

    fn step(&mut self, turn: Turn) -> Result<(), Reason> {
        if self.steps.len() >= MAX_STEPS {
            self.status = RunStatus::Limit;
            return Ok(());
        }
        let view = self.state().view(turn.reducer).ok_or("the reducer is not there any more")?;
        let Body::Reducer { stmts, .. } = &view.body else {
            return Err(format!("{} is no reducer", view.qname()).into());
        };
        let input = self.input(view, turn.payload.as_ref())?;
        let values = self.slot_values(view)?;
        let before = slots_sum(&self.slots);
        let mut step = EpisodeStep::new();
        step.insert("trigger".into(), turn.trigger);
        step.insert("payload".into(), turn.payload.unwrap_or_default());
        step.insert("reducer".into(), json!(view.qname().to_string()));
        step.insert("reducer_def".into(), json!(view.id));
        step.insert("hash".into(), json!(view.hash.to_string()));
        step.insert("before".into(), json!(before));
        let lookup = |id: DefId| values.get(&id).cloned();
        let mut effects = Effects::default();
        for (index, stmt) in stmts.iter().enumerate() {
            let mut eval = Eval::new(self.types, &lookup);
            if let Some((name, value)) = &input {
                eval.bind(name, value.clone());
            }
            if let Err(trap) = self.stmt(stmt, index + 1, &mut eval, &mut effects) {
                step.insert("trap".into(), json!(format!("{}.body:{}: {trap}", view.qname(), index + 1)));
                step.insert("writes".into(), json!([]));
                self.push(step, Vec::new(), "trap");
                self.status = RunStatus::Trap;
                return Ok(());
            }
        }
        let mut writes = Vec::new();
        for (slot, to) in effects.writes {
            let to = to.to_json();
            let from = self.slots.insert(slot, to.clone());
            let name = self.state().view(slot).map(|view| view.qname().to_string());
            writes.push(json!({"slot": name, "def": slot, "from": from, "to": to}));
        }
        step.insert("writes".into(), Json::Array(writes));
        step.insert("skipped".into(), json!(effects.skipped));
        let mut requests = Vec::new();
        for mut request in effects.requests {
            self.requests += 1;
            request.id = format!("rq_{}", self.requests);
            let effect = self.state().view(request.effect).map(|view| view.qname().to_string());
            requests.push(json!({"id": request.id, "effect": effect, "prim": request.prim, "args": request.args}));
            self.queue.push_back(request);
        }
        self.push(step, requests, "ok");
        Ok(())
    }

    /// Returns the values of every slot a reducer reads or writes.
    fn slot_values(&mut self, view: &View) -> Result<HashMap<DefId, Value>, Reason> {
        let mut values = HashMap::new();
        for id in view.edges.iter().filter(|edge| edge.layer == Layer::Slot).filter_map(|edge| match edge.to {
            To::Def(id) => Some(id),
            _ => None,
        }) {
            let json = self.value(id)?;
            if let Some(Body::Slot { ty, .. }) = self.state().view(id).map(|view| &view.body)
                && let Some(value) = Value::from_json(self.types, &self.types.lower(ty), &json)
            {
                values.insert(id, value);
            }
        }
        Ok(values)
    }

    fn stmt(&self, stmt: &Stmt, unit: usize, eval: &mut Eval, effects: &mut Effects) -> Result<(), String> {
        let runs = match &stmt.guard {
            None => true,
            Some(Guard::If(expr)) => eval.eval(expr)? == Value::Bool(true),
            Some(Guard::Some(name, expr)) => match eval.eval(expr)? {
                Value::Option(Some(value)) => {
                    eval.bind(name, *value);
                    true
                }
                _ => false,
            },
        };
        if !runs {
            effects.skipped.push(unit);
            return Ok(());
        }
        match &stmt.action {
            Action::Write(target, value) => {
                let slot = target.def().ok_or("the slot is not known")?;
                let value = eval.eval(value)?;
                if let Some(Body::Slot { ty, .. }) = self.state().view(slot).map(|view| &view.body) {
                    eval.fits(&self.types.lower(ty), &value)?;
                }
                effects.writes.push((slot, value));
            }
            Action::Emit { effect, args, ok, err } => {
                let id = effect.def().ok_or("the effect is not known")?;
                let view = self.state().view(id).ok_or("the effect is not known")?;
                let Body::Effect { params, prim, .. } = &view.body else { return Err("no effect".to_owned()) };
                let mut inner = Eval::new(self.types, &|_| None);
                for (index, param) in params.iter().enumerate() {
                    let named = args.iter().find(|arg| arg.name.as_ref() == Some(&param.name));
                    let arg = named.or_else(|| args.get(index)).ok_or("an argument is missing")?;
                    let value = eval.eval(&arg.value)?;
                    eval.fits(&self.types.lower(&param.ty), &value)?;
                    inner.bind(&param.name, value);
                }
                let args = prim_args(prim, &mut inner)?;
                let (ok, err) = (ok.as_ref().and_then(|r| r.def()), err.as_ref().and_then(|r| r.def()));
                effects.requests.push(Request {
                    id: String::new(),
                    effect: id,
                    prim: prim.name.clone(),
                    args,
                    ok,
                    err,
                });
            }
            Action::Call(callee, _) => return Err(format!("'{}' must be emitted", callee.name)),
        }
        Ok(())
    }

    /// Answers a request, and runs the reducer that receives the answer.
    fn answer_request(&mut self, request: Request, world: &mut dyn World) -> Result<(), Reason> {
        let view = self.state().view(request.effect).ok_or("the effect is not there any more")?;
        let Body::Effect { returns, err, .. } = &view.body else { return Err("no effect".into()) };
        let answer = match world.answer(view, &request.prim, &request.args) {
            Some(answer) => answer,
            None if err.is_some() => json!({"err": "no handler"}),
            None => {
                self.status = RunStatus::Waiting;
                return Ok(());
            }
        };
        let (returns, err) = (self.types.lower(returns), err.as_ref().map(|err| self.types.lower(err)));
        let answer = self.fitting(answer, &returns, err.as_ref());
        let (word, reducer) = if answer.get("ok").is_some() { ("ok", request.ok) } else { ("err", request.err) };
        let payload = answer.get(word).cloned().unwrap_or_default();
        let Some(reducer) = reducer else { return Ok(()) };
        let mut result = Map::new();
        result.insert("request".into(), json!(request.id));
        result.insert(word.into(), payload.clone());
        let receives =
            self.state().view(reducer).is_some_and(|view| matches!(view.body, Body::Reducer { input: Some(_), .. }));
        let payload = Some(payload).filter(|_| receives);
        self.step(Turn { trigger: json!({"result": result}), reducer, payload })
    }

    /// Turns a result that does not fit what is declared into an error result.
    fn fitting(&self, answer: Json, returns: &Ty, err: Option<&Ty>) -> Json {
        let fits = |ty: &Ty, json: &Json| {
            Value::from_json(self.types, ty, json)
                .is_some_and(|value| Eval::new(self.types, &|_| None).fits(ty, &value).is_ok())
        };
        match (answer.get("ok"), answer.get("err")) {
            (Some(value), _) if fits(returns, value) => answer,
            (None, Some(value)) if err.is_some_and(|err| fits(err, value)) => answer,
            (None, Some(_)) => json!({"err": err.and_then(|err| default_json(self.types, err))}),
            _ => json!({"err": format!("the result does not fit {}", self.types.show(returns))}),
        }
    }

    fn push(&mut self, mut step: EpisodeStep, requests: Vec<Json>, status: &str) {
        step.insert("requests".into(), Json::Array(requests));
        step.insert("status".into(), json!(status));
        step.insert("after".into(), json!(slots_sum(&self.slots)));
        step.insert("step".into(), json!(self.steps.len()));
        self.steps.push(step);
    }

    /// Records how the run ended in the last step, and what it began with in the first.
    fn finish(&mut self) {
        if let Some(last) = self.steps.last_mut()
            && self.status != RunStatus::Trap
        {
            last.insert("status".into(), json!(self.status.word()));
        }
        let initial: Map<String, Json> =
            self.initial.iter().map(|(id, value)| (id.to_string(), value.clone())).collect();
        if let Some(first) = self.steps.first_mut() {
            first.insert("initial".into(), Json::Object(initial));
        }
    }
}

/// The effects of the statements of one step.
#[derive(Default)]
struct Effects {
    writes: Vec<(DefId, Value)>,
    skipped: Vec<usize>,
    requests: Vec<Request>,
}

fn prim_args(prim: &Prim, eval: &mut Eval) -> Result<Vec<Json>, String> {
    prim.args.iter().map(|arg| eval.eval(&arg.value).map(|value| value.to_json())).collect()
}

fn default_json(types: &Types, ty: &Ty) -> Option<Json> {
    use crate::strand::lang::parse::{Category, parse_register};
    use crate::strand::lang::unit::Reg;
    let text = types.default_text(ty)?;
    match parse_register(Category::Expr, &text).ok()? {
        Reg::Expr(mut expr) => {
            let mut body = Body::Slot { ty: plain_type(), init: expr.clone() };
            types.state().resolve_body(&mut body);
            if let Body::Slot { init, .. } = body {
                expr = init;
            }
            Eval::new(types, &|_| None).eval(&expr).ok().map(|value| value.to_json())
        }
        _ => None,
    }
}

fn plain_type() -> crate::strand::lang::ast::Type {
    crate::strand::lang::ast::Type { head: crate::strand::lang::ast::Ref::new(Layer::Type, "Unit"), args: Vec::new() }
}

/// Returns a record of a step, without what differs from run to run.
pub fn comparable(step: &EpisodeStep) -> Json {
    let keep = ["trigger", "reducer", "reducer_def", "writes", "skipped", "requests", "status"];
    let part: Map<String, Json> =
        keep.iter().filter_map(|key| step.get(*key).map(|value| ((*key).to_owned(), value.clone()))).collect();
    Json::Object(part)
}

/// Finishes a step for the log: whose it is, when, and on which graph.
pub fn stamp(step: &EpisodeStep, episode: &str, graph: &Json, seed: u64) -> EpisodeStep {
    let mut out = EpisodeStep::new();
    out.insert("episode".into(), json!(episode));
    out.insert("step".into(), step.get("step").cloned().unwrap_or_default());
    out.insert("ts".into(), json!(now_ms()));
    out.insert("graph".into(), graph.clone());
    out.extend(step.iter().filter(|(key, _)| *key != "step").map(|(key, value)| (key.clone(), value.clone())));
    out.insert("seed".into(), json!(seed));
    out
}
