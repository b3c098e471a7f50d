//! Calls that change a Strand store: shown, agreed to like edits, issued as a changeset.

use std::sync::Arc;

use super::ToolRun;
use crate::agent::session::records::ResultRecord;
use crate::agent::turn::step::call_item::CallItem;
use crate::agent::turn::step::call_question;
use crate::execute::store::{Issued, counts_of, issue, named};
use crate::memory::ChangesetCause;
use crate::proposal::{Consent, hidden, marked};
use crate::protocol::{Approval, CallChange, CallState, PreviewLine, Reply};
use crate::provider::ToolCall;
use crate::tools::{RunResult, StoreChange, answered};

/// The reason for the model why an op was not issued.
const REFUSED: &str = "the change of the store was refused: it is as it was";

impl ToolRun<'_> {
    /// Shows what a call changes; the policy or the person decides.
    pub(super) async fn store_change(&mut self, mut item: CallItem, call: ToolCall, native: bool, change: StoreChange) {
        if !change.touched.is_empty() {
            item.call.counts = Some(counts_of(&change.touched));
            item.call.preview = preview(&change);
            if item.call.main.is_empty() {
                item.call.main = named(&change.touched);
            }
        }
        let settings = self.context.settings();
        // What waits to be looked at afterwards is files: a change of a store is asked about instead.
        let accepts = settings.approval.accepts_edits() && settings.approval != Approval::Review;
        if accepts && hidden(&change.what).is_empty() {
            return self.issue(item, call, native, change, settings.consent).await;
        }
        if settings.approval == Approval::None {
            return self.refuse_change(item, &call, native, &Reply::Nobody).await;
        }
        let result = RunResult::StoreChange(Box::new(change));
        if let Some(question) = call_question::question(self.context, &result, self.context.events.question()) {
            self.ask(item, call, native, result, question).await;
        }
    }

    /// Ends a call that this reply did not agree to.
    pub(super) async fn refuse_change(&mut self, item: CallItem, call: &ToolCall, native: bool, reply: &Reply) {
        let why = match reply {
            Reply::Text(reason) => format!("{REFUSED}. The person says: {reason}"),
            Reply::Choice(_) | Reply::Nobody => REFUSED.into(),
        };
        self.refuse(item, call, native, CallState::Refused, &why).await;
    }

    /// Makes a call that was agreed to, on a thread that may block.
    pub(super) async fn issue(
        &mut self,
        mut item: CallItem,
        call: ToolCall,
        native: bool,
        change: StoreChange,
        consent: Consent,
    ) {
        self.seal_jobs().await;
        item.set(&self.context.events, CallState::Running).await;
        let cause = ChangesetCause {
            session: Some(self.session.id.clone()),
            turn: self.session.turn,
            tool_call: Some(call.id.clone()),
            ..ChangesetCause::default()
        };
        let (services, stop) = (Arc::clone(&self.context.services), self.stop.clone());
        let (preview, counts) = (item.call.preview.clone(), item.call.counts);
        let issued = tokio::task::spawn_blocking(move || {
            let StoreChange { opening, call, touched, viewed, .. } = change;
            let with =
                |stores: crate::execute::Stores<'_>| issue(opening, (&call, &touched), (cause, consent), stores, &stop);
            let issued = services.with_stores(&stop, with);
            if issued.as_ref().is_ok_and(|issued: &Issued| issued.changeset.is_some()) {
                viewed.made(&touched);
            }
            issued
        });
        let Issued { answer, notices, changeset, unrecorded } = match issued.await {
            Ok(Ok(issued)) => issued,
            Ok(Err(why)) => return self.refuse(item, &call, native, CallState::Failed, &why).await,
            Err(_) => {
                let why = format!("{} failed in nebula itself; try another way", call.name);
                return self.refuse(item, &call, native, CallState::Failed, &why).await;
            }
        };
        for error in unrecorded {
            self.context.services.record_error::<()>(Err(error));
        }
        if let Some(id) = changeset {
            self.context.services.news.tell(&self.context.events, id);
            self.context.services.news.flushed().await;
        }
        let output = answered(answer, &notices);
        item.take_output(&output, None);
        (item.call.preview, item.call.counts) = (preview, counts);
        let changeset = changeset.map(|id| id.to_string());
        item.call.change = changeset.clone().map(|id| CallChange::new(id, Vec::new()));
        let record = ResultRecord { ok: !output.is_error, changeset, ..ResultRecord::failed(&call.id, &call.name) };
        if output.is_error {
            return self.fail(item, &call, native, (CallState::Failed, &output.text), (record, Vec::new())).await;
        }
        item.set(&self.context.events, CallState::Done).await;
        let record = ResultRecord { display: Some(item.record()), ..record };
        self.result(item.id, &call, native, record, &output.text);
    }
}

/// Returns the lines that a call changes, each behind its sign.
fn preview(change: &StoreChange) -> Vec<PreviewLine> {
    let lines = change.touched.iter().flat_map(|touched| {
        let (before, after) = touched.texts();
        marked(before, after).lines().filter(|line| !line.starts_with("@@")).map(str::to_string).collect::<Vec<_>>()
    });
    let signed = lines.filter_map(|line| {
        let mut chars = line.chars();
        Some(PreviewLine { sign: chars.next()?, text: chars.as_str().to_string() })
    });
    signed.collect()
}
