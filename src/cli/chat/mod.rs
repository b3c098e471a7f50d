//! `nebula chat`: the agent as a program that speaks line by line, for screen readers, logs, pipes and dumb terminals.
//! The same commands and events as the screen's; no cursor is moved, and no colour is needed.

mod early;
mod hunk_lines;
mod input;
mod print;
mod replies;
mod restore_lines;
mod words;

use std::collections::VecDeque;
use std::io;
use std::time::Instant;

use tokio::signal::unix::{SignalKind, signal};

use crate::agent::{AgentEnd, AgentHandle, ended as agent_ended};
use crate::cli::unsaved::complain_of_unsaved;
use crate::messages::line as say;
use crate::proposal::{Choice, Consent, Counts, Decision, Proposal, ProposalId, RestorePreview, RestoreStatus};
use crate::protocol::{
    Command, Continuation, EventBody, Item, ItemId, Level, Listing, Outcome, Prompt, ProposalEvent, Query, QueryId,
    Question, QuestionId, Reply, RestoreRequest, SessionChoice, TurnEnd,
};
use crate::text::clean::clean_line;
use input::InputLines;
use print::Printer;
use replies::{OpenQuestion, Pending, ProposalReply, RestoreReply, Review};
use words::TypedLine;

struct Chat {
    handle: AgentHandle,
    lines: InputLines,
    printer: Printer,
    /// A turn runs, or its message is on its way.
    busy: bool,
    /// A turn runs.
    in_turn: bool,
    opened: bool,
    /// A session was opened once: until then an error ends the program.
    in_session: bool,
    failed: bool,
    waiting: VecDeque<OpenQuestion>,
    /// Lines typed before the question that was printed: they are messages.
    held: VecDeque<String>,
    /// The time when the open question was first printed. Its prompt is printed again after whatever came between.
    put: Option<Instant>,
    /// The question that was printed last.
    asked: Option<QuestionId>,
    /// True from an undo or redo on until it has ended.
    restoring: bool,
    /// True from a choice for a file of a restore on until its new proposal.
    choosing: bool,
    /// The accepted lines of the proposal that was decided last.
    accepted: Counts,
    /// True if the summary of the session's changes was requested after a turn.
    summing_up: bool,
    /// True if a list is to be printed.
    listing: bool,
    ended: bool,
    /// The last turn stopped at a limit, and goes on if the person says so.
    may_go_on: bool,
    /// The open session, and whether anything was said in it.
    session: (String, bool),
}

/// The number of the query that a session answers once it has told of itself.
const TOLD: QueryId = QueryId(1);

/// The number of the query for a list that the person asked for.
const LISTED: QueryId = QueryId(2);

/// Runs until the input ends; the exit code, the session where anything was said in it, and how the agent ended.
///
/// # Errors
/// When standard output cannot be written.
pub async fn run(
    handle: AgentHandle,
    session: SessionChoice,
    first: Option<String>,
) -> io::Result<(i32, Option<String>, AgentEnd)> {
    let mut chat = Chat {
        handle,
        lines: InputLines::open(),
        printer: Printer::default(),
        busy: false,
        in_turn: false,
        opened: false,
        in_session: false,
        failed: false,
        waiting: VecDeque::new(),
        held: first.into_iter().collect(),
        put: None,
        asked: None,
        restoring: false,
        choosing: false,
        accepted: Counts::default(),
        summing_up: false,
        listing: false,
        ended: false,
        may_go_on: false,
        session: Default::default(),
    };
    chat.send(Command::Open(session));
    let ended = chat.talk().await;
    chat.send(Command::Shutdown);
    chat.handle.events.close();
    let end = agent_ended(chat.handle.held_up, chat.handle.done, crate::cli::out::complain).await;
    // Also where standard output takes no more.
    complain_of_unsaved(&end);
    match ended {
        // Nobody reads on.
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok((0, None, end)),
        ended => ended.map(|()| (i32::from(chat.failed), Some(chat.session.0).filter(|_| chat.session.1), end)),
    }
}

impl Chat {
    fn send(&self, command: Command) {
        // A closed channel is noticed by its other half.
        let _ = self.handle.commands.send(command.into());
    }

    async fn talk(&mut self) -> io::Result<()> {
        // One listener for all rounds: a signal that comes between them counts too.
        let mut interrupts = signal(SignalKind::interrupt())?;
        loop {
            self.put_question()?;
            if self.ended && !self.is_busy() && self.waiting.is_empty() {
                return Ok(());
            }
            let asks = self.put.is_some() && !self.ended;
            tokio::select! {
                event = self.handle.events.recv() => match event {
                    Some(event) => self.event(event.body)?,
                    None => return Ok(()),
                },
                line = self.lines.next(), if asks => match line {
                    Some(line) => self.line(line)?,
                    None => self.end_of_input()?,
                },
                _ = interrupts.recv() => self.interrupt()?,
            }
        }
    }

    /// Returns whether something is under way whose end is told.
    fn is_busy(&self) -> bool {
        self.busy || self.summing_up || self.restoring || self.listing
    }

    /// Puts the question that is next, as the last line of all.
    fn put_question(&mut self) -> io::Result<()> {
        if self.put.is_some() && self.printer.is_prompting() || !self.opened {
            return Ok(());
        }
        if let Some(OpenQuestion::Question(question)) = self.waiting.front() {
            let question = question.clone();
            self.show_question(&question)?;
        }
        let prompt = match self.waiting.front() {
            Some(OpenQuestion::Proposal(pending)) if !pending.restore => say::decide(),
            Some(_) => say::answer(),
            None if self.is_busy() => {
                self.put = None;
                return Ok(());
            }
            None => {
                while let Some(text) = self.held.pop_front() {
                    self.message(&text)?;
                    if self.is_busy() || self.ended {
                        return Ok(());
                    }
                }
                say::you()
            }
        };
        if self.ended {
            return self.end_of_input();
        }
        // What is typed of a message may still be changed.
        let put = || if self.waiting.is_empty() { Instant::now() } else { self.lines.mark() };
        self.put.get_or_insert_with(put);
        self.printer.prompt(prompt)
    }

    /// Prints a question, once: of several each is read when it is its turn to be answered.
    fn show_question(&mut self, question: &Question) -> io::Result<()> {
        match self.asked.replace(question.id) == Some(question.id) {
            true => Ok(()),
            false => self.printer.question(question),
        }
    }

    /// Returns the question that waits first: a proposal, or a question.
    fn open_question(&self) -> Option<(Option<ProposalId>, Option<QuestionId>)> {
        self.waiting.front().map(|open| match open {
            OpenQuestion::Proposal(pending) => (Some(pending.proposal.id), None),
            OpenQuestion::Question(question) => (None, Some(question.id)),
        })
    }

    /// Handles the end of input: nothing that waits is approved.
    fn end_of_input(&mut self) -> io::Result<()> {
        self.ended = true;
        self.put = None;
        while let Some(question) = self.waiting.pop_front() {
            match question {
                OpenQuestion::Proposal(pending) => {
                    let refused = Decision::refuse(&pending.proposal).because("nobody is there to approve it");
                    self.send(Command::Decide(pending.proposal.id, refused));
                }
                OpenQuestion::Question(question) => {
                    self.show_question(&question)?;
                    self.send(question.answer(Reply::Nobody));
                }
            }
        }
        Ok(())
    }

    /// Sends a message to the model, or performs a command of nebula's own.
    fn message(&mut self, text: &str) -> io::Result<()> {
        let command = match words::read(text) {
            TypedLine::Nothing => return Ok(()),
            TypedLine::Help => return self.printer.help(),
            TypedLine::Quit => {
                self.ended = true;
                return Ok(());
            }
            TypedLine::Elsewhere(words) => return self.printer.say(&words),
            TypedLine::List(query) => {
                self.listing = true;
                Command::Ask(LISTED, query)
            }
            TypedLine::Send(command) => command,
            TypedLine::Message => {
                (self.busy, self.session.1) = (true, true);
                match std::mem::take(&mut self.may_go_on) && words::goes_on(text) {
                    true => Command::Continue(Continuation::Resume),
                    false => Command::Submit(Prompt { text: words::message(text).to_string() }),
                }
            }
        };
        self.restoring = matches!(command, Command::Restore(_));
        self.send(command);
        Ok(())
    }

    fn answer(&mut self, question: Question, text: &str) -> io::Result<()> {
        let reply = match replies::answer(&question, text) {
            Ok(reply) => reply,
            Err(why) => {
                self.waiting.push_front(OpenQuestion::Question(question));
                return why.map_or(Ok(()), |why| self.printer.say(&why));
            }
        };
        self.printer.say(&say::answered(&clean_line(&reply.words(&question.choices))))?;
        self.send(question.answer(reply));
        Ok(())
    }

    fn decide(&mut self, mut pending: Box<Pending>, text: &str) -> io::Result<()> {
        if pending.restore {
            return self.decide_restore(pending, text);
        }
        let review = &mut pending.review;
        match ProposalReply::read(text, review.hunks()) {
            Ok(ProposalReply::Accept(numbers)) => {
                review.say(&numbers, Choice::Accept, None);
                self.printer.decided(&numbers, say::accepted(), None, review)?;
            }
            Ok(ProposalReply::Reject(numbers, reason)) => {
                review.say(&numbers, Choice::Reject, reason.clone());
                self.printer.decided(&numbers, say::rejected(), reason.as_deref(), review)?;
            }
            Ok(ProposalReply::All) => review.say_rest(Choice::Accept, None),
            Ok(ProposalReply::None(reason)) => review.say_rest(Choice::Reject, reason),
            Ok(ProposalReply::Show(number)) => self.printer.hunk(&pending.proposal, number, true)?,
            Ok(ProposalReply::Undo) => {
                let words = if review.undo() { say::last_undone() } else { say::nothing_decided() };
                self.printer.say(&format!("{words}. {}", say::undecided(&review.undecided(), &review.hunks())))?;
            }
            Ok(ProposalReply::Help) => self.printer.say(say::reply_help())?,
            Err(why) => self.printer.say(&why)?,
        }
        if pending.review.undecided() > 0 {
            self.send(Command::Reviewing(pending.proposal.id));
            self.waiting.push_front(OpenQuestion::Proposal(pending));
            return Ok(());
        }
        let decision = pending.review.decision();
        self.accepted = print::accepted_lines(&pending.proposal, &decision);
        self.send(Command::Decide(pending.proposal.id, decision));
        Ok(())
    }

    fn decide_restore(&mut self, pending: Box<Pending>, text: &str) -> io::Result<()> {
        let id = pending.proposal.id;
        let decision = match RestoreReply::read(text, pending.review.hunks(), pending.foreign.len()) {
            Ok(RestoreReply::Yes) => Decision::accept(&pending.proposal, Consent::Person),
            Ok(RestoreReply::No) => Decision::refuse(&pending.proposal),
            Ok(RestoreReply::Choose(number, choice)) => {
                let path = pending.foreign[number - 1].clone();
                self.choosing = true;
                self.send(Command::Restore(RestoreRequest::Foreign { proposal: id, path, choice }));
                return Ok(());
            }
            ended => {
                match ended {
                    Ok(RestoreReply::Show(number)) => self.printer.hunk(&pending.proposal, number, true)?,
                    Err(why) => self.printer.say(&why)?,
                    Ok(_) => {}
                }
                self.waiting.push_front(OpenQuestion::Proposal(pending));
                return Ok(());
            }
        };
        self.accepted = pending.proposal.counts();
        self.send(Command::Decide(id, decision));
        Ok(())
    }

    fn event(&mut self, event: EventBody) -> io::Result<()> {
        self.printer.note(&event);
        match event {
            EventBody::Opened(info) => {
                (self.opened, self.in_session, self.busy, self.in_turn) = (false, true, false, false);
                self.may_go_on = false;
                self.session = (info.id.clone(), info.resumed > 0);
                // The session answers once it has told of itself.
                self.send(Command::Ask(TOLD, Query::Results));
                self.printer.opened(&info)
            }
            EventBody::Answer(TOLD, _) => {
                self.opened = true;
                Ok(())
            }
            EventBody::Recalled(items) => self.printer.recalled(items.len()),
            EventBody::Status(status) => self.printer.take_status(status),
            EventBody::TurnStarted(_) => {
                (self.busy, self.in_turn) = (true, true);
                Ok(())
            }
            EventBody::Step(of_turn) => {
                self.printer.step = of_turn as usize;
                Ok(())
            }
            EventBody::Added(id, item) => self.added(id, &item),
            EventBody::Grew(id, text) => self.printer.grew(id, &text),
            EventBody::Changed(id, Item::Call(call)) => self.printer.call(id, &call),
            EventBody::Proposal(ProposalEvent::LeftOut(_, lines)) => {
                lines.iter().try_for_each(|line| self.printer.say(line))
            }
            EventBody::Proposal(ProposalEvent::Proposed(proposal, previews)) => self.proposed(proposal, &previews),
            EventBody::Proposal(ProposalEvent::Approved(proposal, _)) => {
                self.accepted = proposal.counts();
                self.printer.say(&say::approved(&clean_line(&proposal.title)))
            }
            EventBody::Proposal(ProposalEvent::Settled(id, outcome)) => self.settled(id, &outcome),
            EventBody::Asked(question) => {
                // A command that is judged anew is asked about under the same name.
                self.asked.take_if(|asked| *asked == question.id);
                self.wait_for(OpenQuestion::Question(question));
                Ok(())
            }
            EventBody::Answered(id) => {
                self.drop_waiting(|question| matches!(question, OpenQuestion::Question(q) if q.id == id));
                Ok(())
            }
            EventBody::Retrying(Some(wait)) => self.printer.say(&say::attempt(&wait.why, &wait.attempt, &wait.of)),
            EventBody::Notice(notice) => self.printer.passing(&notice),
            EventBody::Proposal(ProposalEvent::RestoreEnded) => {
                (self.restoring, self.choosing) = (false, false);
                Ok(())
            }
            EventBody::Returned(prompt, why) => self.returned(prompt, &why),
            EventBody::TurnEnded(_, end) => self.turn_ended(end),
            EventBody::Answer(id, listing) => self.answered(id, &listing),
            _ => Ok(()),
        }
    }

    /// Says why a message was not sent. What was said in a turn is the next one.
    fn returned(&mut self, prompt: Prompt, why: &str) -> io::Result<()> {
        if self.in_turn {
            self.held.push_back(prompt.text);
            return self.printer.say(why);
        }
        self.busy = false;
        self.printer.say(&say::not_sent(&why, &prompt.text))
    }

    /// Prints an entry. An error before there is a session ends the program.
    fn added(&mut self, id: ItemId, item: &Item) -> io::Result<()> {
        let is_error = matches!(item, Item::Notice(notice) if notice.level == Level::Error);
        self.failed |= is_error && !self.in_session;
        self.ended |= self.failed;
        self.printer.added(id, item)
    }

    /// Prints a list that was asked for. Else it ends the wait for what the session has changed; where that cannot be
    /// read, without a line.
    fn answered(&mut self, id: QueryId, listing: &Listing) -> io::Result<()> {
        if id == LISTED {
            self.listing = false;
            return self.printer.list(listing);
        }
        self.summing_up = false;
        match listing {
            Listing::SessionDiff(changed) => self.printer.summary(changed.as_deref(), self.waiting.len()),
            _ => Ok(()),
        }
    }

    fn proposed(&mut self, proposal: std::sync::Arc<Proposal>, previews: &[RestorePreview]) -> io::Result<()> {
        self.choosing = false;
        // Only restores come while no turn runs.
        let restore = !previews.is_empty() || !self.busy;
        let is_foreign = |preview: &&RestorePreview| matches!(preview.status, RestoreStatus::Foreign { .. });
        let foreign: Vec<String> = previews.iter().filter(is_foreign).map(|preview| preview.path.clone()).collect();
        match restore {
            true => self.printer.restore(&proposal, previews, &foreign)?,
            false => self.printer.proposal(&proposal)?,
        }
        let review = Review::of(&proposal);
        self.wait_for(OpenQuestion::Proposal(Box::new(Pending { proposal, review, restore, foreign })));
        Ok(())
    }

    /// Lets a question wait. What was typed before it was there is no answer to it.
    fn wait_for(&mut self, question: OpenQuestion) {
        if self.waiting.is_empty() {
            self.put = None;
        }
        // Questions that are asked together may come in another order than that of their calls; the one that is put stays.
        let after = |waiting: &OpenQuestion| match (waiting, &question) {
            (OpenQuestion::Question(waiting), OpenQuestion::Question(new)) => waiting.id > new.id,
            _ => false,
        };
        let at = self.waiting.iter().skip(1).position(after).map_or(self.waiting.len(), |n| n + 1);
        self.waiting.insert(at, question);
    }

    fn settled(&mut self, id: ProposalId, outcome: &Outcome) -> io::Result<()> {
        self.drop_waiting(|question| matches!(question, OpenQuestion::Proposal(p) if p.proposal.id == id));
        match (self.choosing, outcome) {
            // Another proposal of the same restore comes.
            (true, Outcome::Withdrawn) => Ok(()),
            _ => self.printer.settled(outcome, self.accepted),
        }
    }

    /// Drops questions that wait no more.
    fn drop_waiting(&mut self, gone: impl Fn(&OpenQuestion) -> bool) {
        if self.waiting.front().is_some_and(&gone) {
            self.put = None;
        }
        self.waiting.retain(|question| !gone(question));
    }

    fn turn_ended(&mut self, end: TurnEnd) -> io::Result<()> {
        (self.busy, self.in_turn, self.choosing) = (false, false, false);
        match end {
            TurnEnd::Done => {}
            TurnEnd::Interrupted => self.printer.say(say::interrupted())?,
            TurnEnd::Failed { message, hint, .. } => self.printer.turn_failed(&message, &hint)?,
            TurnEnd::Asking(why) => {
                self.may_go_on = true;
                self.printer.turn_asks(&why)?;
            }
        }
        self.summing_up = true;
        self.send(Command::Ask(QueryId(0), Query::SessionDiff));
        self.printer.end_line()
    }
}
