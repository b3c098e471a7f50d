//! Edits whose proposal failed its test and went back to the model, as long as it does not propose their files again.

use std::collections::HashSet;

use crate::edit::Edit;
use crate::proposal::Proposal;
use crate::protocol::{Call, CallState};

/// The edits of a turn that went back to the model and that nobody decided, oldest first.
#[derive(Default)]
pub struct UndecidedEdits(Vec<UndecidedCall>);

/// A call whose edits went back.
pub struct UndecidedCall {
    /// Its entry, as it began.
    pub call: Call,
    /// Its edits.
    pub edits: Vec<Edit>,
    /// The path of each of them.
    paths: Vec<String>,
}

impl UndecidedCall {
    /// Creates the call of these edits, each with its path, in its files.
    pub fn new(call: &Call, edits: Vec<(Edit, String)>) -> Self {
        let (name, verb) = (call.name.clone(), call.verb.clone());
        let (main, arguments) = (call.main.clone(), call.arguments.clone());
        let call = Call { main, arguments, ..Call::new(name, verb, CallState::Waiting) };
        let found = |(edit, path): (Edit, String)| {
            // Later another file may be the one in play.
            (Edit { path: edit.path.or_else(|| Some(path.clone())), ..edit }, path)
        };
        let (edits, paths) = edits.into_iter().map(found).unzip();
        UndecidedCall { call, edits, paths }
    }
}

impl UndecidedEdits {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Leaves out the edits of files that are proposed again.
    pub fn replace_by(&mut self, proposal: &Proposal) {
        let moved = proposal.files.iter().filter_map(|file| file.moved.as_ref());
        let again: HashSet<&String> = proposal.files.iter().map(|file| &file.path).chain(moved).collect();
        for call in &mut self.0 {
            let mut stays = call.paths.iter().map(|path| !again.contains(path)).collect::<Vec<_>>().into_iter();
            call.edits.retain(|_| stays.next().unwrap_or_default());
            call.paths.retain(|path| !again.contains(path));
        }
        self.0.retain(|call| !call.edits.is_empty());
    }

    /// Adds a call whose edits went back.
    pub fn push(&mut self, call: UndecidedCall) {
        if !call.edits.is_empty() {
            self.0.push(call);
        }
    }

    /// Takes all of them out.
    pub fn take(&mut self) -> Vec<UndecidedCall> {
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{Format, Op};
    use crate::proposal::{FileChange, ProposalId, State};
    use crate::protocol::Verb;

    #[test]
    fn what_is_proposed_again_is_replaced_file_by_file() {
        let edit = |path: Option<&str>| Edit {
            path: path.map(str::to_string),
            op: Op::Write { content: "new\n".into() },
            format: Format::TOOLS,
            by: "writeFile".into(),
            elsewhere: None,
            longer: None,
            whole: true,
        };
        let verb = || Verb { short: "edit".into(), doing: "editing".into(), done: "edited".into(), one: "file".into() };
        let call = Call { result: Some("went back".into()), ..Call::new("writeFile", verb(), CallState::Refused) };
        let mut undecided = UndecidedEdits::default();
        let two = vec![(edit(Some("./a")), "a".to_string()), (edit(None), "b".to_string())];
        undecided.push(UndecidedCall::new(&call, two));
        undecided.push(UndecidedCall::new(&call, vec![(edit(Some("a")), "a".to_string())]));
        undecided.push(UndecidedCall::new(&call, Vec::new()));
        let change = FileChange::new("a", State::Absent, State::file(&b"newer\n"[..]), "writeFile", &[]);
        undecided.replace_by(&Proposal { id: ProposalId(2), title: String::new(), files: vec![change] });
        let left = undecided.take();
        let [UndecidedCall { call, edits, .. }] = left.as_slice() else { panic!("{}", left.len()) };
        assert_eq!((call.state, &call.result), (CallState::Waiting, &None));
        let [left] = edits.as_slice() else { panic!("{edits:?}") };
        assert_eq!(left.path.as_deref(), Some("b"));
        assert!(undecided.is_empty());
    }
}
