//! The questions at the terminal while a task runs. Each waits for a line and may be given up, so it runs on a thread
//! of its own.

use std::io;
use std::sync::Arc;

use super::super::out;
use crate::proposal::{Choice, Consent, Decision, FileChange, FileDecision, Proposal};
use crate::protocol::{Command, Question, Reply};

/// A question to the person.
pub enum ApprovalRequest {
    /// Asks whether to write a proposal.
    Proposal(Arc<Proposal>),
    /// A question of the model, or for a permission.
    Question(Question),
}

impl ApprovalRequest {
    /// Asks, and returns the command that the answer is.
    ///
    /// # Errors
    /// When the terminal cannot be read.
    pub fn ask(&self) -> io::Result<Command> {
        match self {
            ApprovalRequest::Proposal(proposal) => Ok(Command::Decide(proposal.id, decide(proposal)?)),
            ApprovalRequest::Question(question) => Ok(question.answer(reply(question)?)),
        }
    }
}

/// Lists the choices; their number stands for one of them, anything else for itself.
fn reply(question: &Question) -> io::Result<Reply> {
    out::aside(&question.text);
    for (i, (short, meaning)) in question.choices.iter().enumerate() {
        let dash = if meaning.is_empty() { "" } else { "  " };
        out::aside(format_args!("  {}  {short}{dash}{meaning}", i + 1));
    }
    let line = out::read_line("> ")?;
    let number = line.trim().parse::<usize>().ok().map(|n| n.wrapping_sub(1));
    let chosen = number.filter(|index| *index < question.choices.len());
    Ok(chosen.map_or_else(|| question.typed(line.trim()), Reply::Choice))
}

/// Puts a proposal to the person, hunk by hunk where there are several.
fn decide(proposal: &Proposal) -> io::Result<Decision> {
    let mut files = proposal.choices(Choice::Reject);
    let total: usize = proposal.files.iter().map(|f| f.hunks.len()).sum();
    if let Some(why) = proposal.needs_person() {
        out::aside(why);
    }
    let keys = if total > 1 { "y all, n none, h hunk by hunk" } else { "y yes, n no" };
    let answer = out::read_line(&format!("write this? {keys}: "))?;
    match answer.trim() {
        "y" | "yes" => files = proposal.choices(Choice::Accept),
        "h" if total > 1 => {
            let mut number = 0;
            for (file, said) in proposal.files.iter().zip(&mut files) {
                hunk_by_hunk(file, said, &mut number, total)?;
            }
            join_moves(proposal, &mut files);
        }
        _ => {}
    }
    let mut decision = Decision::new(files, Consent::Person);
    if decision.count().rejected > 0 {
        let reason = out::read_line("why not (the model is told; Enter for no reason): ")?;
        decision.reason = Some(reason.trim().to_string()).filter(|r| !r.is_empty());
    }
    Ok(decision)
}

fn hunk_by_hunk(file: &FileChange, said: &mut FileDecision, number: &mut usize, total: usize) -> io::Result<()> {
    for (hunk, choice) in file.hunks.iter().zip(&mut said.hunks) {
        *number += 1;
        let lines = format!("lines {}-{}", hunk.before.start + 1, hunk.before.end.max(hunk.before.start + 1));
        let answer = out::read_line(&format!("{} hunk {number} of {total}, {lines}? y/n: ", file.path))?;
        *choice = if answer.trim().starts_with('y') { Choice::Accept } else { Choice::Reject };
    }
    Ok(())
}

/// Keeps the two ends of a move together: refusing one refuses both.
fn join_moves(proposal: &Proposal, files: &mut [FileDecision]) {
    for (i, file) in proposal.files.iter().enumerate() {
        let Some(other) = file.moved.as_ref().and_then(|m| proposal.files.iter().position(|f| &f.path == m)) else {
            continue;
        };
        if files[other].hunks.contains(&Choice::Reject) {
            files[i].hunks.fill(Choice::Reject);
        }
    }
}
