//! Edits that went back to the model as their test failed, and that it did not propose again: the person decides them.

use crate::agent::change::proposal_check;
use crate::agent::session::conversation::UndecidedCall;
use crate::agent::session::records::ResultRecord;
use crate::agent::turn::step::act::Ended;
use crate::agent::turn::step::call_item::CallItem;
use crate::agent::turn::step::edits::{self, Edits};
use crate::agent::turn::step::tool_run::ToolRun;
use crate::protocol::Mode;

impl ToolRun<'_> {
    /// Proposes the edits that went back to the model, where its answer is whole and asks for nothing more: the proposal
    /// waits for the person, whatever its test says. The model is informed of what was decided.
    pub async fn propose_undecided(&mut self, ended: &Ended) {
        let is_last = matches!(ended, Ended::Whole) && !self.go_on && !self.stop.is_cancelled();
        if !is_last || self.session.undecided.is_empty() || self.context.settings().mode == Mode::Plan {
            return;
        }
        proposal_check::let_person_decide(&self.context.policy);
        let mut edits = Edits::default();
        for UndecidedCall { call, edits: of_call, .. } in self.session.undecided.take() {
            let item = CallItem::add(&self.context.events, call).await;
            edits.push(item, None, of_call);
        }
        self.seal_jobs().await;
        let done = edits::edits(self.context, self.session, edits, self.stop).await;
        self.texts
            .push("The edits that you did not propose again after their test failed were put to the person:".into());
        for result in done.results {
            let for_model = Some(result.text);
            self.tell(result.item, ResultRecord { for_model, of_earlier_answer: true, ..result.record });
        }
    }
}
