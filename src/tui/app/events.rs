//! The events of the agent, applied to the screen.

use super::{App, At, Effect, LONG_TURN, Owner, Screen, Turn, attention};
use crate::messages::{app as say, count::size, pages};
use crate::protocol::{
    Command, Event, EventBody, Level, Listing, Mode, ModelRow, Notice, Prompt, ProposalEvent, ProposalTest, Query,
    QueryId, QuestionId, RulesView, Status, TurnEnd, WindowResult,
};
use crate::text::number;
use crate::text::sentence::in_one_line;
use crate::tui::pane::id::PaneId;
use crate::tui::pane::line::{SHORTEST_TITLE, note_room};
use crate::tui::popup::Popup;
use crate::tui::popup::connect::{Connect, provider_name};
use crate::tui::popup::list::Entry;
use crate::tui::popup::page::{Page, escaped};
use crate::tui::popup::sessions::Sessions;
use crate::tui::text::wrap::cells;

/// Returns what is said of files that changed on disk, by another nebula or outside of it.
fn drifted(paths: &[String], elsewhere: bool) -> Option<String> {
    Some(match (paths, elsewhere) {
        ([], _) => return None,
        ([one], false) => say::drifted(&one),
        ([one], true) => say::drifted_elsewhere(&one),
        (many, false) => say::drifted_files(&many.len()),
        (many, true) => say::drifted_elsewhere_files(&many.len()),
    })
}

impl App {
    /// Takes in an event: the panes first, then what concerns the screen.
    pub(super) fn event(&mut self, event: Event) -> Vec<Effect> {
        // The screen shows one session; what others tell is not for it.
        let other = event.session.is_some_and(|id| self.session.id.as_deref() != Some(&*id));
        if other && !matches!(event.body, EventBody::Opened(_)) {
            return Vec::new();
        }
        self.apply(event.body)
    }

    fn apply(&mut self, event: EventBody) -> Vec<Effect> {
        let mut effects = Vec::new();
        for (id, effect) in self.panes.apply(&event, self.now) {
            effects.extend(self.route_effects(Owner::Pane(id), vec![effect]));
        }
        effects.extend(self.apply_to_screen(event));
        effects
    }

    fn apply_to_screen(&mut self, event: EventBody) -> Vec<Effect> {
        match event {
            EventBody::Opened(info) => return self.opened(info),
            EventBody::Status(status) => return self.status(status),
            EventBody::NotConnected(id, why) => self.connect_form().into_iter().for_each(|form| form.failed(id, &why)),
            EventBody::Connected(id) => self.connected(id),
            EventBody::Connectable(id, models, usual, took) => {
                if let Some(form) = self.connect_form() {
                    form.accepted(id, models, &usual, took);
                }
            }
            EventBody::Returned(prompt, why) => self.returned(prompt, why),
            EventBody::TurnStarted(_) => self.turn_started(),
            EventBody::Step(number) => self.session.turn.iter_mut().for_each(|turn| turn.step = (number, self.now)),
            EventBody::Archived(changeset) => {
                let is_own = changeset.session == self.session.id;
                self.session.turn.iter_mut().for_each(|turn| turn.changed |= is_own);
                self.session.unchanged &= !is_own;
                return [self.ask_changed(), self.moments_changed()].concat();
            }
            EventBody::Undone(_) => return self.ask_changed(),
            EventBody::TurnEnded(_, end) => return self.turn_ended(end),
            EventBody::Asked(question) => return self.add_question(question),
            EventBody::Answered(id) => self.question_answered(id),
            EventBody::Retrying(wait) => self.session.retry = wait,
            EventBody::CommitMessage(text) => self.session.commit.written.push_back(text),
            EventBody::CommitEnded => {
                (self.session.commit.is_writing, self.keyboard.quit_named.drafts) = (false, false);
            }
            EventBody::Proposal(ProposalEvent::Own(id)) => self.guard.own = Some(id),
            EventBody::Proposal(ProposalEvent::Tested(_, test)) => self.tested(&test),
            EventBody::Notice(notice) => self.notice(notice),
            EventBody::Unsent(unsent) => self.composer.restore(unsent),
            EventBody::SessionDeleted(id) => return self.session_deleted(&id),
            EventBody::FilesChanged => return self.files_changed(),
            EventBody::GraphChanged => return self.graph_changed(),
            EventBody::ReviewChanged => return self.review_changed(),
            EventBody::Drifted(paths) => self.say = drifted(&paths, false),
            EventBody::DriftedElsewhere(paths) => self.say = drifted(&paths, true),
            EventBody::Answer(id, listing) => return self.answer(id, &listing),
            EventBody::Recalled(items) => {
                let effects = items.into_iter().flat_map(|(id, item)| self.apply(EventBody::Added(id, item))).collect();
                self.show_sought();
                return effects;
            }
            // The panes' own.
            EventBody::Added(..)
            | EventBody::Grew(..)
            | EventBody::Changed(..)
            | EventBody::Proposal(_)
            | EventBody::Command(_)
            | EventBody::Compacted { .. }
            | EventBody::Usage(_) => {}
        }
        Vec::new()
    }

    fn turn_started(&mut self) {
        self.leave_start();
        self.session.turn = Some(Turn { started: self.now, step: (0, self.now), changed: false });
        (self.session.starting, self.session.ended, self.say) = (false, None, None);
    }

    /// Returns the form that connects a model; another popup may lie over it.
    fn connect_form(&mut self) -> Option<&mut Connect> {
        self.popups.iter_mut().rev().find_map(|popup| match popup {
            Popup::Connect(form) => Some(&mut **form),
            _ => None,
        })
    }

    /// Closes the form that connects a model, and says that one is connected.
    fn close_connect(&mut self) {
        self.popups.retain(|popup| !matches!(popup, Popup::Connect(_)));
        self.say = Some(say::connected(&provider_name(&self.session.status.provider)));
    }

    /// Takes it that what the form sent under `id` is connected.
    fn connected(&mut self, id: QueryId) {
        if self.connect_form().is_some_and(|form| form.awaits(id)) {
            self.close_connect();
        }
        self.offer_again();
    }

    /// Offers what failed again, since something else answers now.
    fn offer_again(&mut self) {
        if matches!(self.session.ended, Some(TurnEnd::Failed { .. })) {
            self.panes.chat.offer_again();
        }
    }

    fn status(&mut self, status: Status) -> Vec<Effect> {
        let recounted = status.unreviewed != self.session.status.unreviewed;
        let lacked = self.lacks_model();
        let old = std::mem::replace(&mut self.session.status, status);
        if (old.provider, old.model) != (self.session.status.provider.clone(), self.session.status.model.clone()) {
            self.offer_again();
        }
        let named = &mut self.keyboard.quit_named;
        named.jobs = named.jobs.min(self.session.status.jobs);
        // A local server was found meanwhile. An open form stays: a key that is being typed or pasted into it must not
        // go into the prompt, where it is in clear and one Enter from being sent.
        if lacked && self.session.status.model.is_some() && self.connect_form().is_none() {
            self.say = Some(say::connected(&provider_name(&self.session.status.provider)));
        }
        if recounted { self.review_changed() } else { Vec::new() }
    }

    /// Shows something to know in passing.
    fn notice(&mut self, notice: Notice) {
        let must_be_read = notice.level != Level::Info;
        // Where there is no chat it must stay readable too; the chat is told once it is there.
        if must_be_read && !matches!(self.screen, Screen::Main) {
            self.early.push(notice);
            return;
        }
        let words = match notice.detail.is_empty() {
            true => notice.title.clone(),
            false => format!("{}. {}", notice.title.trim_end_matches('.'), notice.detail),
        };
        if must_be_read && !self.fits_note(&words) {
            self.panes.chat.add_notice(notice);
            if self.rects.place(PaneId::Chat).is_some() {
                return;
            }
        }
        self.say = Some(if words.contains('\n') { in_one_line(&words) } else { words });
    }

    /// Clears what was said in passing of an earlier run of the same test.
    fn tested(&mut self, test: &ProposalTest) {
        let Some((name, _)) = test.line.rsplit_once(": ") else { return };
        let is_of_test = |words: &mut String| words.strip_prefix(name).is_some_and(|rest| rest.starts_with(": "));
        self.say.take_if(is_of_test);
    }

    /// Returns whether words have room whole in the input line; others go to the chat, where they break.
    fn fits_note(&self, words: &str) -> bool {
        !words.contains('\n') && cells(words) <= note_room(self.size.0, SHORTEST_TITLE)
    }

    fn opened(&mut self, info: crate::protocol::SessionInfo) -> Vec<Effect> {
        let over = matches!(self.screen, Screen::Review(_) | Screen::Graph(_) | Screen::Past(_));
        // What was looked at before any session was open stays.
        let stays = self.session.id.is_none() && (over || self.left_start.is_some());
        if self.session.id.replace(info.id.clone()).is_some_and(|before| before != info.id) {
            self.composer.leave_session();
            self.left_review = None;
        }
        self.session.status = info.status;
        (self.session.turn, self.session.starting, self.session.retry, self.session.ended) = (None, false, None, None);
        self.questions.clear();
        self.say = None;
        if !stays {
            self.layout.at = At::Input;
        }
        // What the session before has changed is not for this one.
        self.queries.pending.retain(|_, (owner, _)| *owner != Owner::Changed);
        self.session.changed_again = false;
        let without = self.session.status.model.is_none();
        let mut effects = vec![self.ask(Owner::History, Query::Inputs)];
        match &self.screen {
            Screen::Start(_) if info.resumed == 0 => {}
            _ if stays => {}
            _ if without && info.resumed == 0 => {
                let sessions = Box::<Sessions>::default();
                effects.push(self.ask(Owner::Sessions, sessions.ask()));
                self.screen = Screen::Start(sessions);
            }
            _ => (self.screen, self.left_start) = (Screen::Main, None),
        }
        if info.resumed > 0 {
            effects.extend(self.ask_changed());
        }
        if let Some(text) = self.session.prompt.take() {
            self.composer.history.push(&text);
            effects.extend(self.send(Command::Submit(Prompt { text })));
        }
        effects
    }

    /// Puts a message that could not be sent back into the input; one sent too early, into the queue.
    fn returned(&mut self, prompt: Prompt, why: String) {
        self.session.starting = false;
        if self.session.turn.is_some() {
            self.composer.queue.put_back(prompt.text);
            return;
        }
        self.composer.queue.hold(true);
        if self.composer.input.is_empty() {
            self.composer.input.set(&prompt.text);
        } else {
            let both = format!("{}\n{}", prompt.text, self.composer.input.expanded());
            self.composer.input.set(&both);
            // Enter that is meant for the draft sends not both.
            self.guard_keys();
        }
        self.layout.at = At::Input;
        if self.fits_note(&why) {
            self.say = Some(why);
        } else {
            self.say = why.lines().next().map(str::to_string);
            self.panes.chat.add_notice(Notice::new(Level::Warning, say::not_sent(), why));
        }
    }

    fn turn_ended(&mut self, end: TurnEnd) -> Vec<Effect> {
        let long = self.session.turn.is_some_and(|t| self.now - t.started >= LONG_TURN);
        // A summary has no steps.
        let unchanged = self.session.turn.is_some_and(|t| t.step.0 > 0 && !t.changed);
        self.session.unchanged = unchanged && self.session.status.mode == Mode::Agent;
        (self.session.turn, self.session.starting, self.session.retry) = (None, false, None);
        // A call of a job, or of a command of the person's, waits on.
        let others: Vec<QuestionId> =
            self.questions.iter().map(|q| &q.question).filter(|q| q.hold.is_none()).map(|q| q.id).collect();
        others.into_iter().for_each(|id| self.question_answered(id));
        // Who reads a pane of the page is back at the input; a full pane is left by its reader alone.
        let resting = self.now - self.guard.last_key >= attention::QUIET;
        if self.layout.at == At::Pane && resting && !self.is_full() && self.attention().is_none() {
            self.layout.at = At::Input;
        }
        let done = end == TurnEnd::Done;
        let words = match &end {
            TurnEnd::Done => say::nebula_done().to_string(),
            TurnEnd::Asking(why) => why.clone(),
            TurnEnd::Failed { message, .. } => message.clone(),
            TurnEnd::Interrupted => String::new(),
        };
        self.session.ended = Some(end);
        let mut effects = Vec::new();
        if done && !self.composer.queue.is_empty() && !self.composer.queue.is_held() {
            effects.extend(self.send_queued());
        } else {
            self.composer.queue.hold(true);
            if !words.is_empty() && (long || !self.focused) {
                effects.push(Effect::Bell(words));
            }
        }
        effects
    }

    fn answer(&mut self, id: QueryId, listing: &Listing) -> Vec<Effect> {
        let Some((owner, query)) = self.queries.pending.remove(&id) else { return Vec::new() };
        match owner {
            Owner::Pane(pane) => {
                let effects = self.panes.answer(pane, &query, listing, self.now);
                self.route_effects(owner, effects)
            }
            Owner::Sessions => self.sessions_answer(&query, listing),
            Owner::Review => {
                let Screen::Review(review) = &mut self.screen else { return Vec::new() };
                let effects = review.answer(&query, listing);
                self.route_effects(Owner::Review, effects)
            }
            Owner::Graph => self.graph_answer(&query, listing),
            Owner::Past => {
                let Screen::Past(past) = &mut self.screen else { return Vec::new() };
                let effects = past.answer(&query, listing);
                self.route_effects(Owner::Past, effects)
            }
            Owner::Completion => {
                let Some(completion) = &mut self.composer.completion else { return Vec::new() };
                let follow_ups = completion.answer(&query, listing);
                if completion.fresh && std::mem::take(&mut completion.hasty) {
                    return self.insert_completion();
                }
                self.ask_all(owner, follow_ups)
            }
            Owner::Changed => self.changed(listing),
            // It asks for lines alone.
            Owner::Card => Vec::new(),
            Owner::Bare => {
                self.offered(&query, listing);
                Vec::new()
            }
            Owner::Finder => {
                let follow_ups = match self.popups.last_mut() {
                    Some(Popup::Finder(finder)) => finder.list.answer(&query, listing),
                    _ => Vec::new(),
                };
                self.ask_all(owner, follow_ups)
            }
            Owner::List => {
                self.fill_list(listing);
                Vec::new()
            }
            Owner::Page => {
                self.fill_page(listing);
                Vec::new()
            }
            Owner::History => {
                if let Listing::Inputs(inputs) = listing {
                    self.composer.history.load(inputs.clone());
                }
                Vec::new()
            }
        }
    }

    /// Asks what the session has changed so far; one question at a time, and once more after what came meanwhile.
    fn ask_changed(&mut self) -> Vec<Effect> {
        if self.queries.pending.values().any(|(owner, _)| *owner == Owner::Changed) {
            self.session.changed_again = true;
            return Vec::new();
        }
        vec![self.ask(Owner::Changed, Query::SessionDiff)]
    }

    fn changed(&mut self, listing: &Listing) -> Vec<Effect> {
        match listing {
            Listing::SessionDiff(changed) => self.panes.diff.take_session(Some(changed.clone())),
            Listing::Failed(why) => {
                self.panes.diff.take_session(None);
                self.notice(Notice::new(Level::Error, why.clone(), ""));
            }
            _ => {}
        }
        match std::mem::take(&mut self.session.changed_again) {
            true => self.ask_changed(),
            false => Vec::new(),
        }
    }

    fn session_deleted(&mut self, id: &str) -> Vec<Effect> {
        let (Screen::Sessions(sessions) | Screen::Start(sessions)) = &mut self.screen else { return Vec::new() };
        let next = sessions.deleted(id);
        self.ask_all(Owner::Sessions, next)
    }

    fn sessions_answer(&mut self, query: &Query, listing: &Listing) -> Vec<Effect> {
        let (Screen::Sessions(sessions) | Screen::Start(sessions)) = &mut self.screen else { return Vec::new() };
        let follow_ups = sessions.answer(query, listing);
        self.ask_all(Owner::Sessions, follow_ups)
    }

    fn fill_list(&mut self, listing: &Listing) {
        let current = self.session.status.model.clone().unwrap_or_default();
        let Some(Popup::List(list)) = self.popups.last_mut() else { return };
        let entries: Vec<Entry> = match listing {
            Listing::Models(models) => {
                let dot = format!(" {} ", self.appearance.glyphs.dot);
                models.iter().map(|model| model_entry(model, &current, &dot)).collect()
            }
            Listing::Results(results) => results.iter().map(result_entry).collect(),
            Listing::Prompts(prompts) => prompts
                .iter()
                .map(|p| Entry {
                    name: p.name.clone(),
                    detail: p.description.clone(),
                    usage: format!("/prompt {} {}", p.name, p.usage).trim_end().to_string(),
                    long: p.path.clone(),
                    needs: !p.usage.is_empty(),
                    ..Entry::default()
                })
                .collect(),
            Listing::Failed(why) => {
                list.waiting = false;
                self.notice(Notice::new(Level::Error, why.clone(), ""));
                return;
            }
            _ => return,
        };
        list.fill(entries);
        list.select(&current);
    }

    fn fill_page(&mut self, listing: &Listing) {
        let Some(Popup::Page(page)) = self.popups.last_mut() else { return };
        let (title, markdown) = match listing {
            Listing::Table { title, text } => (title.clone(), text.clone()),
            Listing::Rules(view) => (pages::rules_and_prompt().to_string(), rules_page(view)),
            Listing::Failed(why) => (page.title.clone(), why.clone()),
            _ => return,
        };
        let leaves_out = page.leaves_out;
        *page = Page::text(title, &markdown);
        page.leaves_out = leaves_out;
    }
}

/// Returns the rules as a table, then the parts of the prompt.
fn rules_page(view: &RulesView) -> String {
    let cell = escaped;
    let mut page = pages::rules_heading().to_string();
    if view.active.is_empty() && view.waiting.is_empty() && view.complaints.is_empty() {
        page.push_str(pages::no_rules());
    } else {
        page.push_str(pages::rules_head());
        for r in &view.active {
            page.push_str(&format!("| {} | {} | {} |\n", cell(&r.path), cell(&r.reason), size(r.bytes as u64)));
        }
        for (path, globs) in &view.waiting {
            page.push_str(&pages::rule_waits(&cell(path), &cell(globs)));
        }
        page.push('\n');
    }
    for complaint in &view.complaints {
        page.push_str(&pages::rule_does_not_apply(&cell(complaint)));
    }
    let bytes: usize = view.parts.iter().map(|p| p.text.len()).sum();
    page.push_str(&pages::effective_prompt(&size(bytes as u64)));
    for p in &view.parts {
        let fence = "`".repeat(longest_fence(&p.text) + 1);
        let size = size(p.text.len() as u64);
        page.push_str(&format!(
            "### {}\n\n{}, {size}\n\n{fence}\n{}\n{fence}\n\n",
            cell(&p.origin),
            cell(&p.reason),
            p.text.trim_end()
        ));
    }
    page
}

/// Returns the longest run of backticks in a text, at least two.
fn longest_fence(text: &str) -> usize {
    let runs = text.split(|c| c != '`').map(str::len);
    runs.max().unwrap_or(0).max(2)
}

/// Returns the row of a result that can be left out: its place, what it is, its tokens.
fn result_entry(result: &WindowResult) -> Entry {
    Entry { name: format!("{} {}", result.index, result.name), note: number::tokens(result.tokens), ..Entry::default() }
}

/// Returns the row of a model: its window, its price, what it reads, and whether it is in use or retired.
fn model_entry(model: &ModelRow, current: &str, dot: &str) -> Entry {
    let window = model.window.map(|window| say::window_of(&number::tokens(window.into())));
    let price = model.price.map(|(input, output)| say::price_of(&format!("${input:.2}"), &format!("${output:.2}")));
    let price = price.map(|price| match &model.price_as_of {
        Some(date) => say::dated(&price, date),
        None => price,
    });
    let reads = [(model.images, say::images()), (model.pdfs, say::pdfs())]
        .into_iter()
        .filter_map(|(reads, what)| reads.then_some(what));
    let reads = Some(reads.collect::<Vec<_>>().join(", ")).filter(|reads| !reads.is_empty());
    let note = match &model.retired {
        _ if model.name == current => say::current().to_string(),
        Some(date) => say::retired_since(date),
        None => String::new(),
    };
    Entry {
        name: model.name.clone(),
        detail: [window, price, reads].into_iter().flatten().collect::<Vec<_>>().join(dot),
        note,
        ..Entry::default()
    }
}
