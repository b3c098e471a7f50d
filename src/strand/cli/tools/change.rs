//! Calls that change the store, and their reverts: tried first, so that a person sees what they come to, then done.

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{ToolAnswer, Tools, agent};
use crate::strand::cli::session::issuer;
use crate::strand::id::{DefId, OpId};
use crate::strand::issue::{Issuer, Refusal, revert_all};
use crate::strand::op::Op;
use crate::strand::state::State;
use crate::strand::store::{BeforeCommit, Error, TouchedDefinition};

/// A call of a tool for a client.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The tool.
    pub name: &'static str,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// The client that ops are issued as.
    pub client: &'static str,
}

/// The reverts of ops.
#[derive(Clone, Debug, Default)]
pub struct Reverted {
    /// The ids of the ops that take them back, oldest first; none: they are taken back already.
    pub ops: Vec<String>,
    /// The definitions that these touch.
    pub touched: Vec<TouchedDefinition>,
}

impl Tools {
    /// Tries a call that changes the store. Returns its answer and what it would touch; nothing is written. These tools
    /// are of no other use afterwards.
    pub fn rehearse(mut self, call: &ToolCall, stop: &CancellationToken) -> (ToolAnswer, Vec<TouchedDefinition>) {
        self.session.store.begin_rehearsal();
        let answer = self.call(call.name, call.arguments.clone(), call.client, stop);
        (answer, self.session.store.end_rehearsal())
    }

    /// Makes a call that was tried. It is refused where what it touches is not as it was then, or where `hears`, which is
    /// told the ids of the ops before they are durable, fails.
    pub fn issue(
        &mut self,
        call: &ToolCall,
        shown: &[TouchedDefinition],
        mut hears: Box<dyn FnMut(&[String]) -> Result<(), String>>,
        stop: &CancellationToken,
    ) -> ToolAnswer {
        self.session.store.expect_shown(shown);
        let hears = move |ids: &[OpId]| hears(&ids.iter().map(OpId::to_string).collect::<Vec<_>>());
        self.session.store.before_commit(BeforeCommit(Some(Box::new(hears))));
        let answer = self.call(call.name, call.arguments.clone(), call.client, stop);
        self.session.store.before_commit(BeforeCommit::default());
        answer
    }

    /// Returns how many of these ops the store has.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn count_known(&mut self, ops: &[String]) -> Result<usize, String> {
        self.session.store.catch_up().map_err(|error| error.to_string())?;
        let graph = self.session.store.state().graph();
        Ok(ops.iter().filter_map(|id| OpId::parse(id)).filter(|id| graph.has(*id)).count())
    }

    /// Returns what the reverts of ops, given newest first, come to; nothing is written. Ops that the store does not have
    /// were never issued, and are passed over. Without a client they are the person's.
    ///
    /// # Errors
    /// When the store refuses one of them, or cannot be read; in its words.
    pub fn rehearse_revert(mut self, ops: &[String], client: Option<&str>) -> Result<Reverted, String> {
        self.session.store.begin_rehearsal();
        let ids = self.revert(ops, client, |_| Ok(())).map_err(|error| error.to_string())?;
        Ok(Reverted { ops: ids, touched: self.session.store.end_rehearsal() })
    }

    /// Issues the reverts of ops, given newest first, as one transaction, after `first`, which is told the reverts' ids
    /// while nobody else can write. It is refused where what they touch is not as `shown`. Without a client they are
    /// the person's.
    ///
    /// # Errors
    /// When the store refuses one of them, or `first` fails: nothing is issued then; in its words.
    pub fn issue_reverts(
        &mut self,
        ops: &[String],
        shown: &[TouchedDefinition],
        client: Option<&str>,
        first: impl FnOnce(&[String]) -> Result<(), String>,
    ) -> Result<Vec<String>, String> {
        self.session.store.expect_shown(shown);
        self.revert(ops, client, first).map_err(|error| error.to_string())
    }

    fn revert(
        &mut self,
        ops: &[String],
        client: Option<&str>,
        first: impl FnOnce(&[String]) -> Result<(), String>,
    ) -> Result<Vec<String>, Error> {
        let issuer = match client {
            Some(client) => Issuer::new(self.author.clone().unwrap_or_else(|| agent(client))),
            None => issuer(self.author.clone(), &self.session.store)?.0,
        };
        let store = &mut self.session.store;
        store.catch_up()?;
        let graph = store.state().graph();
        let known: Vec<(OpId, DefId)> = ops
            .iter()
            .filter_map(|id| OpId::parse(id))
            .filter_map(|id| graph.light(id).map(|node| (id, node.op.target())))
            .collect();
        let mut with_past: Vec<(OpId, State)> = Vec::new();
        for (id, def) in known {
            with_past.push((id, store.past_of(id, false, &[def])?));
        }
        let issuer = if with_past.len() > 1 { issuer.bundled() } else { issuer };
        let ids = |ops: &[Op]| ops.iter().map(|op| op.id.to_string()).collect::<Vec<_>>();
        let work = |state: &mut State| -> Result<Vec<Op>, Refusal> { revert_all(state, &with_past, &issuer) };
        let written =
            store.transact_after(false, work, |ops| if ops.is_empty() { Ok(()) } else { first(&ids(ops)) })?;
        store.sound()?;
        Ok(ids(&written.ops))
    }
}
