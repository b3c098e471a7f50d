//! The form that connects a model: a provider, its key, whether the key is kept, and which model. The key is masked,
//! and leaves the form only in the commands that check it and connect.

mod draw;
mod owner;

use std::time::Duration;

use ratatui::layout::{Position, Rect};

use super::frame::{keys, modal, pair};
use crate::config::providers;
use crate::messages::{Text, hints, popups as say};
use crate::protocol::{ApiKey, ConnectForm, QueryId, Status};
use crate::tui::action::{Action, Context};
use crate::tui::input::Editor;
use crate::tui::look::Ctx;

/// A provider on offer.
pub(super) struct OfferedProvider {
    /// Its name in the configuration.
    name: &'static str,
    /// Its name for people.
    pub(super) words: Text,
    place: ProviderPlace,
}

/// The place where a provider is, which decides what the form asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProviderPlace {
    /// Its own address; it needs a key.
    Own,
    /// The address that is typed; it may need a key.
    Typed,
    /// This program, without a key.
    Here,
}

const fn offer(name: &'static str, words: Text, place: ProviderPlace) -> OfferedProvider {
    OfferedProvider { name, words, place }
}

/// The providers on offer, in their order.
pub(super) const PROVIDERS: &[OfferedProvider] = &[
    offer("openai", say::openai, ProviderPlace::Own),
    offer("anthropic", say::anthropic, ProviderPlace::Own),
    offer("gemini", say::gemini, ProviderPlace::Own),
    offer("embedded", say::model_file, ProviderPlace::Here),
    offer("openai", say::any_server, ProviderPlace::Typed),
];

impl OfferedProvider {
    /// Returns the variable that wins over a key given here; empty where it has none.
    pub(super) fn variable(&self) -> &'static str {
        if self.place == ProviderPlace::Typed { "" } else { providers::key_variable(self.name) }
    }

    /// Returns whether this build can connect it.
    fn is_built(&self) -> bool {
        self.place != ProviderPlace::Here || cfg!(feature = "embedded")
    }
}

/// Returns what a provider is called, by its name in the configuration; one that is not on offer has that name.
pub fn provider_name(name: &str) -> &str {
    PROVIDERS.iter().find(|offered| offered.name == name).map_or(name, |offered| (offered.words)())
}

/// Returns the rows of the table that this build can connect.
fn offered() -> impl Iterator<Item = usize> {
    (0..PROVIDERS.len()).filter(|row| PROVIDERS[*row].is_built())
}

const WIDTH: u16 = 76;
const HEIGHT: u16 = 16;
/// Its rows in the first screen: its line, an empty one, the fields with an address, an empty one.
const ROWS: u16 = 18;

/// The fields that keys go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FormField {
    Provider,
    Address,
    Key,
    Keep,
    Model,
}

/// The state of the form.
#[derive(Debug, Clone, PartialEq, Eq)]
enum FormStage {
    Filling,
    Checking,
    Failed(String),
    /// The key opens these models.
    Accepted(Vec<String>),
    Connecting(Vec<String>),
}

/// The form.
#[derive(Debug)]
pub struct Connect {
    field: FormField,
    provider: usize,
    /// The person chose the provider or wrote its address: no key chooses another one.
    provider_is_chosen: bool,
    address: Editor,
    key: Editor,
    /// The key was pasted and nothing typed since: another one takes its place.
    pasted: bool,
    keep: bool,
    /// The name of the model, or part of it.
    model: Editor,
    /// The index among the models that match.
    chosen: usize,
    stage: FormStage,
    /// The duration of the check.
    took: Duration,
    /// The number under which the form was sent last.
    sent: Option<QueryId>,
    /// The hosts that keys of providers go to.
    hosts: Vec<(String, String)>,
    area: Rect,
    /// It stands in the first screen and does not float.
    inside: bool,
}

/// The outcome of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum ConnectOutcome {
    /// Nothing is to be done outside the form.
    Stay,
    /// Leave.
    Close,
    /// Check the key; with a model: connect.
    Send(Option<String>),
}

impl Default for Connect {
    fn default() -> Self {
        Connect {
            field: FormField::Provider,
            provider: 0,
            provider_is_chosen: false,
            address: Editor::default(),
            key: Editor::default(),
            pasted: false,
            keep: false,
            model: Editor::default(),
            chosen: 0,
            stage: FormStage::Filling,
            took: Duration::ZERO,
            sent: None,
            hosts: Vec::new(),
            area: Rect::default(),
            inside: false,
        }
    }
}

impl Connect {
    /// Creates the form; it begins with the provider in use.
    pub fn new(status: &Status) -> Self {
        let places = status.key_places.iter();
        let hosts = places.map(|place| (place.provider.clone(), place.host.clone())).collect();
        let mut form = Connect { hosts, ..Self::default() };
        form.choose_provider(&status.provider_name, status.own_server.as_deref());
        form
    }

    /// Types a character into the field that takes text; elsewhere no letter does anything.
    pub fn type_char(&mut self, c: char) -> ConnectOutcome {
        self.pasted = false;
        if let Some(editor) = self.editor() {
            editor.type_char(c);
            self.changed();
        }
        ConnectOutcome::Stay
    }

    /// Pastes a line.
    pub fn paste(&mut self, text: &str) -> ConnectOutcome {
        // A key is pasted before anything is chosen: it is meant for its field.
        if self.editor().is_none() && self.place() != ProviderPlace::Here {
            self.field = FormField::Key;
        }
        let line = text.trim().lines().next().unwrap_or_default().to_string();
        // It is masked: nobody would see that it follows another.
        if self.field == FormField::Key && (self.pasted || matches!(self.stage, FormStage::Failed(_))) {
            self.key = Editor::default();
        }
        self.pasted = self.field == FormField::Key;
        if let Some(editor) = self.editor() {
            editor.act(Action::TextEnd);
            line.chars().for_each(|c| editor.type_char(c));
            self.changed();
        }
        ConnectOutcome::Stay
    }

    /// Handles a click: the form has nothing to point at.
    pub fn click(&mut self, _: Position) -> ConnectOutcome {
        ConnectOutcome::Stay
    }

    /// Handles a turn of the wheel: the form does not scroll.
    pub fn wheel(&mut self, _: Action) -> ConnectOutcome {
        ConnectOutcome::Stay
    }

    /// Returns where its keys are looked up.
    pub fn context(&self) -> Context {
        Context::Form
    }

    /// Forgets what was checked, unless it is the model that was written.
    fn changed(&mut self) {
        self.chosen = 0;
        if self.field != FormField::Model {
            self.stage = FormStage::Filling;
        }
        self.provider_is_chosen |= matches!(self.field, FormField::Provider | FormField::Address);
        if self.field == FormField::Key
            && !self.provider_is_chosen
            && let Some(owner) = self.key_owner()
        {
            self.choose_provider(owner.provider, owner.url);
        }
    }

    fn provider(&self) -> &'static OfferedProvider {
        &PROVIDERS[self.provider]
    }

    fn place(&self) -> ProviderPlace {
        self.provider().place
    }

    fn editor(&mut self) -> Option<&mut Editor> {
        match self.field {
            FormField::Address => Some(&mut self.address),
            FormField::Key => Some(&mut self.key),
            FormField::Model => Some(&mut self.model),
            FormField::Provider | FormField::Keep => None,
        }
    }

    fn fields(&self) -> Vec<FormField> {
        let all = [FormField::Provider, FormField::Address, FormField::Key, FormField::Keep, FormField::Model];
        let here = |field: &FormField| match field {
            FormField::Address => self.place() == ProviderPlace::Typed,
            FormField::Key => self.place() != ProviderPlace::Here,
            FormField::Model => matches!(self.stage, FormStage::Accepted(_) | FormStage::Connecting(_)),
            _ => true,
        };
        all.into_iter().filter(here).collect()
    }

    /// Returns which field it is, from 1, and of how many.
    fn step(&self) -> (usize, usize) {
        let of = match self.place() {
            ProviderPlace::Typed => 5,
            ProviderPlace::Own => 4,
            ProviderPlace::Here => 3,
        };
        (self.fields().iter().position(|f| *f == self.field).map_or(1, |at| at + 1), of)
    }

    fn go(&mut self, by: isize) {
        if self.field == FormField::Address {
            self.complete_address();
        }
        if self.field == FormField::Address && by > 0 && !self.has_address() {
            self.fail(say::address_begins(), FormField::Address);
            return;
        }
        let fields = self.fields();
        let at = self.step().0 as isize - 1 + by;
        self.field = fields[at.rem_euclid(fields.len() as isize) as usize];
    }

    /// Returns the models whose names hold what was typed.
    fn matching(&self) -> Vec<&str> {
        let (FormStage::Accepted(models) | FormStage::Connecting(models)) = &self.stage else { return Vec::new() };
        let typed = self.model.expanded().trim().to_lowercase();
        models.iter().map(String::as_str).filter(|name| name.to_lowercase().contains(&typed)).collect()
    }

    /// Returns the model that Enter takes: the selected one, else the name as it was typed.
    fn taken(&self) -> Option<String> {
        let typed = self.model.expanded().trim().to_string();
        let selected = self.matching().get(self.chosen).map(|name| name.to_string());
        selected.or(Some(typed).filter(|typed| !typed.is_empty()))
    }

    /// Does an action.
    pub fn act(&mut self, action: Action) -> ConnectOutcome {
        match action {
            Action::Close | Action::Escape => return ConnectOutcome::Close,
            Action::NextField => self.go(1),
            Action::PreviousField => self.go(-1),
            Action::Up | Action::Down => self.move_in_field(action == Action::Down),
            Action::Choose if self.field == FormField::Model => return self.connect(),
            Action::Choose if self.field != FormField::Keep => self.go(1),
            Action::Choose if matches!(self.stage, FormStage::Accepted(_)) => self.go(1),
            Action::Choose if !matches!(self.stage, FormStage::Checking | FormStage::Connecting(_)) => {
                return self.check();
            }
            action => {
                if let Some(editor) = self.editor()
                    && editor.act(action)
                {
                    self.changed();
                }
            }
        }
        ConnectOutcome::Stay
    }

    fn move_in_field(&mut self, down: bool) {
        match self.field {
            FormField::Provider => {
                let offered: Vec<usize> = offered().collect();
                let here = offered.iter().position(|provider| *provider == self.provider).unwrap_or(0);
                let by = if down { 1 } else { offered.len() - 1 };
                self.provider = offered[(here + by) % offered.len()];
                self.changed();
            }
            FormField::Keep => self.keep = !self.keep,
            FormField::Model => {
                let last = self.matching().len().saturating_sub(1);
                self.chosen = if down { (self.chosen + 1).min(last) } else { self.chosen.saturating_sub(1) };
            }
            FormField::Address | FormField::Key => self.go(if down { 1 } else { -1 }),
        }
    }

    /// Returns what is sent under `id`, to check the key or with a model to connect.
    pub fn form(&mut self, model: Option<String>, id: QueryId) -> ConnectForm {
        self.sent = Some(id);
        let address = self.address.expanded().trim().to_string();
        ConnectForm {
            id,
            provider: self.provider().name.into(),
            base_url: (self.place() == ProviderPlace::Typed).then_some(address),
            key: ApiKey::new(self.key.expanded().trim()),
            keep: self.keep,
            model,
        }
    }

    /// Adds the scheme that was left out.
    fn complete_address(&mut self) {
        let typed = self.address.expanded().trim().to_string();
        let whole = providers::with_scheme(&typed);
        if whole != typed {
            self.address.set(&whole);
        }
    }

    fn check(&mut self) -> ConnectOutcome {
        self.complete_address();
        if self.place() == ProviderPlace::Typed && !self.has_address() {
            self.fail(say::address_begins(), FormField::Address);
            return ConnectOutcome::Stay;
        }
        if self.place() == ProviderPlace::Own && self.key.is_empty() {
            self.fail(say::key_needed(), FormField::Key);
            return ConnectOutcome::Stay;
        }
        if let Some(owner) = self.other_owner() {
            let name = (self.provider().words)();
            self.fail(&say::key_of_another(&owner, &name), FormField::Provider);
            return ConnectOutcome::Stay;
        }
        self.stage = FormStage::Checking;
        ConnectOutcome::Send(None)
    }

    fn connect(&mut self) -> ConnectOutcome {
        let Some(model) = self.taken() else { return ConnectOutcome::Stay };
        // One at a time: the answer to what was sent is still to come.
        let FormStage::Accepted(models) = &self.stage else { return ConnectOutcome::Stay };
        self.stage = FormStage::Connecting(models.clone());
        ConnectOutcome::Send(Some(model))
    }

    fn fail(&mut self, why: &str, field: FormField) {
        self.stage = FormStage::Failed(why.to_string());
        self.field = field;
    }

    /// Takes the reason why what was sent under `id` could not be connected.
    pub fn failed(&mut self, id: QueryId, why: &str) {
        if self.sent == Some(id) && matches!(self.stage, FormStage::Checking | FormStage::Connecting(_)) {
            let field = match self.place() {
                ProviderPlace::Here => FormField::Provider,
                // Without a key it is the address that is wrong, most likely.
                ProviderPlace::Typed if self.key.is_empty() => FormField::Address,
                _ => FormField::Key,
            };
            self.fail(why, field);
        }
    }

    /// Returns whether it waits for what was sent under `id`.
    pub fn awaits(&self, id: QueryId) -> bool {
        self.sent == Some(id)
    }

    /// Returns the host that the key goes to; empty while it is not known.
    fn host(&self) -> String {
        match self.place() {
            ProviderPlace::Here => say::this_computer().into(),
            ProviderPlace::Typed => host_of(self.address.expanded().trim()).into(),
            ProviderPlace::Own => self.own_host().into(),
        }
    }

    /// Returns the host of the chosen provider; empty where it has none of its own.
    fn own_host(&self) -> &str {
        let name = if self.place() == ProviderPlace::Own { self.provider().name } else { "" };
        self.hosts.iter().find(|(provider, _)| provider == name).map_or("", |(_, host)| host)
    }

    /// Takes the models of the server that accepted the key sent under `id`, and how long that took; `usual` is the one
    /// to begin with.
    pub fn accepted(&mut self, id: QueryId, models: Vec<String>, usual: &str, took: Duration) {
        if self.sent != Some(id) || self.stage != FormStage::Checking {
            return;
        }
        self.model = Editor::default();
        self.chosen = models.iter().position(|name| name == usual).unwrap_or(0);
        if models.is_empty() {
            self.model.set(usual);
        }
        (self.stage, self.took) = (FormStage::Accepted(models), took);
        self.field = FormField::Model;
    }

    /// Tells it the size of the screen that is drawn next. On the first screen it stands in the `page`, where that has
    /// room; else it floats.
    pub fn measure(&mut self, screen: Rect, body: Rect, page: Option<Rect>, _: &Ctx<'_>) {
        self.measure_in(screen, body, page);
    }

    fn measure_in(&mut self, screen: Rect, body: Rect, page: Option<Rect>) {
        let inside = page.filter(|page| page.width >= 60 && page.height > ROWS);
        self.inside = inside.is_some();
        self.area = inside.map_or(modal(screen, body, WIDTH, HEIGHT), |page| Rect { height: ROWS, ..page });
    }

    /// Returns the provider that is chosen and the variable of its key; none: it has no key, or no variable of its own.
    pub fn keyed_provider(&self) -> Option<(&'static str, &'static str)> {
        let variable = self.provider().variable();
        (!variable.is_empty()).then_some((self.provider().name, variable))
    }

    /// Returns whether its key was checked and is good.
    pub fn has_good_key(&self) -> bool {
        matches!(self.stage, FormStage::Accepted(_) | FormStage::Connecting(_))
    }

    /// Returns whether its key is kept for later runs.
    pub fn keeps_key(&self) -> bool {
        self.keep
    }

    /// Returns the rows it takes from the first screen, where it does not float.
    pub fn inside(&self) -> Option<Rect> {
        Some(self.area).filter(|_| self.inside)
    }

    /// Returns the keys that do something in the field.
    pub fn hints(&self, ctx: &Ctx<'_>) -> Vec<(String, &'static str)> {
        let does = match self.field {
            FormField::Keep if !self.has_good_key() && self.place() == ProviderPlace::Here => say::read_file(),
            FormField::Keep if !matches!(self.stage, FormStage::Accepted(_)) => say::check_key(),
            FormField::Model => say::connect(),
            _ => say::next(),
        };
        let mut list = keys(ctx, Context::Form, [(Action::Choose, does)]);
        list.extend(pair(ctx, Context::Form, [Action::Up, Action::Down], say::choose()));
        let rest = [
            (Action::NextField, say::next_field()),
            (Action::Close, say::back()),
            (Action::PreviousField, say::previous_field()),
            (Action::Help, hints::help()),
        ];
        list.extend(keys(ctx, Context::Form, rest));
        list
    }
}

/// Returns the host and port of an address; empty where it has no scheme.
fn host_of(address: &str) -> &str {
    let rest = address.split_once("://").map_or("", |(_, rest)| rest);
    rest.split(['/', '?']).next().unwrap_or_default().rsplit('@').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::KeyPlaces;
    use crate::tui::pane::testing::screen;

    fn form() -> Connect {
        form_beside("openai", None)
    }

    /// Returns the form where this provider is in use.
    fn form_beside(provider_name: &str, own_server: Option<&str>) -> Connect {
        let hosts = [("openai", "api.openai.com"), ("anthropic", "api.anthropic.com")];
        let place = |(provider, host): (&str, &str)| {
            let (provider, host) = (provider.to_string(), host.to_string());
            KeyPlaces { provider, host, variable: false, command: false, stored: false }
        };
        let (provider_name, own_server) = (provider_name.to_string(), own_server.map(String::from));
        Connect::new(&Status { key_places: hosts.map(place).into(), provider_name, own_server, ..Status::default() })
    }

    fn text(form: &mut Connect, (width, height): (u16, u16)) -> String {
        let area = Rect::new(0, 0, width, height);
        form.measure_in(area, area, None);
        screen(width, height, "dark", true, |_, buf, ctx| {
            form.draw(Rect::default(), buf, ctx);
        })
        .text()
    }

    fn last(form: &Connect) -> QueryId {
        form.sent.expect("something was sent")
    }

    /// Does an action that sends the form.
    fn sent(form: &mut Connect, action: Action) -> ConnectForm {
        let outcome = form.act(action);
        let ConnectOutcome::Send(model) = outcome else { panic!("{outcome:?}") };
        form.form(model, QueryId(form.sent.map_or(1, |id| id.0 + 1)))
    }

    #[test]
    fn the_key_is_masked_and_sent_once() {
        let mut form = form();
        // No letter does anything where a choice is made.
        "sk-1".chars().for_each(|c| drop(form.type_char(c)));
        assert!(form.key.is_empty());
        form.act(Action::Choose);
        form.paste("sk-secret\n");
        let drawing = text(&mut form, (100, 30));
        assert!(drawing.contains("9 characters") && !drawing.contains("secret"), "{drawing}");
        assert_eq!(form.act(Action::Choose), ConnectOutcome::Stay);
        let checked = sent(&mut form, Action::Choose);
        assert_eq!((checked.provider.as_str(), checked.key.reveal(), checked.keep), ("openai", "sk-secret", false));
        assert_eq!(checked.model, None);
        assert!(!format!("{checked:?}").contains("secret"));
        // One check at a time.
        assert_eq!(form.act(Action::Choose), ConnectOutcome::Stay);
        form.failed(last(&form), "api.openai.com rejected the key (401)");
        let drawing = text(&mut form, (100, 30));
        assert!(drawing.contains("rejected the key (401)"), "{drawing}");
        // The next one takes its place.
        form.paste("sk-good");
        form.act(Action::Choose);
        assert_eq!(sent(&mut form, Action::Choose).key.reveal(), "sk-good");
    }

    /// Pastes a key where the form opens, and returns the provider and address that it is sent to.
    fn sent_to(form: &mut Connect, key: &str) -> (String, Option<String>) {
        form.paste(key);
        form.act(Action::Choose);
        let checked = sent(form, Action::Choose);
        assert_eq!(checked.key.reveal(), key);
        (checked.provider, checked.base_url)
    }

    #[test]
    fn a_key_goes_to_the_provider_in_use_or_to_the_one_that_its_beginning_names() {
        let own = |name: &str| (name.to_string(), None);
        let at = |url: &str| ("openai".to_string(), Some(url.to_string()));
        for (in_use, server, key, to) in [
            ("anthropic", None, "some-key", own("anthropic")),
            ("gemini", None, "some-key", own("gemini")),
            ("ollama", None, "some-key", own("openai")),
            ("corp", Some("https://gw.corp/v1"), "some-key", at("https://gw.corp/v1")),
            ("openai", None, "sk-ant-api03-1", own("anthropic")),
            ("openai", None, "AIzaSy1", own("gemini")),
            ("anthropic", None, "sk-proj-1", own("openai")),
            ("anthropic", None, "sk-or-v1-1", at("https://openrouter.ai/api/v1")),
            ("corp", Some("https://gw.corp/v1"), "sk-ant-api03-1", own("anthropic")),
        ] {
            assert_eq!(sent_to(&mut form_beside(in_use, server), key), to, "{in_use} {key}");
        }
        // The next key after one that failed chooses anew, and one that is typed chooses too.
        let mut form = form();
        assert_eq!(sent_to(&mut form, "sk-or-v1-1"), at("https://openrouter.ai/api/v1"));
        form.failed(last(&form), "rejected the key (401)");
        assert_eq!(sent_to(&mut form, "sk-ant-1"), own("anthropic"));
        let mut form = self::form();
        form.act(Action::Choose);
        "sk-ant-1".chars().for_each(|c| drop(form.type_char(c)));
        form.act(Action::Choose);
        assert_eq!(sent(&mut form, Action::Choose).provider, "anthropic");
    }

    #[test]
    fn the_key_of_another_provider_is_not_sent_to_the_chosen_one() {
        let mut form = form();
        form.act(Action::Down);
        form.act(Action::Choose);
        for (key, owner) in [("sk-proj-1", "OpenAI"), ("gsk_1", "api.groq.com")] {
            form.field = FormField::Key;
            form.paste(key);
            form.act(Action::Choose);
            assert_eq!(form.act(Action::Choose), ConnectOutcome::Stay, "{key}");
            let drawing = text(&mut form, (80, 24));
            assert!(drawing.contains(&say::key_of_another(&owner, &"Anthropic")[..50]), "{drawing}");
        }
        // The provider is chosen, or another key pasted.
        form.field = FormField::Key;
        form.paste("sk-proj-1");
        form.act(Action::Choose);
        form.act(Action::Choose);
        assert_eq!(form.field, FormField::Provider);
        form.act(Action::Up);
        form.act(Action::Choose);
        form.act(Action::Choose);
        assert_eq!(sent(&mut form, Action::Choose).provider, "openai");
        // A server whose address was typed takes any key.
        let mut form = form_beside("openai", None);
        form.act(Action::Up);
        form.act(Action::Choose);
        form.paste("http://127.0.0.1:4000");
        form.act(Action::Choose);
        assert_eq!(sent_to(&mut form, "sk-ant-1").1.as_deref(), Some("http://127.0.0.1:4000"));
    }

    #[test]
    fn a_pasted_line_of_an_environment_file_goes_to_the_provider_it_names_or_nowhere() {
        for (line, provider) in [
            ("ANTHROPIC_API_KEY=corp-1", "anthropic"),
            ("export ANTHROPIC_API_KEY=\"sk-ant-1\"", "anthropic"),
            ("OPENAI_API_KEY=sk-1", "openai"),
        ] {
            assert_eq!(sent_to(&mut form(), line), (provider.to_string(), None), "{line}");
        }
        for line in ["ANTHROPIC_API_KEY=corp-1", "MISTRAL_API_KEY=1"] {
            let mut form = Connect { provider_is_chosen: true, ..form() };
            form.paste(line);
            form.act(Action::Choose);
            assert_eq!(form.act(Action::Choose), ConnectOutcome::Stay, "{line}");
            assert!(matches!(form.stage, FormStage::Failed(_)), "{line}");
        }
    }

    #[test]
    fn a_server_that_lists_no_model_is_asked_for_none_that_nobody_named() {
        let mut form = form();
        form.act(Action::Up);
        form.act(Action::Choose);
        form.paste("http://127.0.0.1:9/v1");
        form.act(Action::Choose);
        form.act(Action::Choose);
        sent(&mut form, Action::Choose);
        form.accepted(last(&form), Vec::new(), "", Duration::from_millis(400));
        assert!(text(&mut form, (100, 30)).contains(say::type_its_name()));
        assert_eq!(form.act(Action::Choose), ConnectOutcome::Stay);
        "qwen".chars().for_each(|c| drop(form.type_char(c)));
        assert_eq!(sent(&mut form, Action::Choose).model.as_deref(), Some("qwen"));
    }

    #[test]
    fn a_variable_is_said_to_win_where_it_does() {
        let mut form = form();
        assert!(!text(&mut form, (100, 30)).contains("wins"));
        form.keep = true;
        assert!(text(&mut form, (100, 30)).contains("$OPENAI_API_KEY"));
    }

    #[test]
    fn the_model_is_chosen_from_those_there_are() {
        let mut form = form();
        form.paste("sk-secret");
        form.act(Action::Choose);
        sent(&mut form, Action::Choose);
        let models = ["gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano", "o3"].map(String::from).to_vec();
        form.accepted(last(&form), models.clone(), "gpt-4.1-mini", Duration::from_millis(400));
        let drawing = text(&mut form, (100, 30));
        assert!(
            drawing.contains("gpt-4.1-mini   2 of 4")
                && drawing.contains("accepted by api.openai.com · 4 models · 0.4 s"),
            "{drawing}"
        );
        // The field in focus is in sight on the smallest screen too.
        assert!(text(&mut form, (40, 10)).contains("gpt-4.1-mini"));
        "NANO".chars().for_each(|c| drop(form.type_char(c)));
        assert_eq!(sent(&mut form, Action::Choose).model.as_deref(), Some("gpt-4.1-nano"));
        assert_eq!(form.act(Action::Choose), ConnectOutcome::Stay, "one at a time");
        assert_eq!(form.stage, FormStage::Connecting(models.clone()));
        form.failed(last(&form), "the server went away");
        assert!(text(&mut form, (100, 30)).contains("the server went away"));
        // Another key is another check: its late answer counts for nothing.
        form.field = FormField::Key;
        form.type_char('x');
        form.accepted(last(&form), models, "o3", Duration::from_millis(400));
        assert_eq!(form.stage, FormStage::Filling);
    }

    #[test]
    fn an_address_is_requested_where_no_provider_is_named() {
        let mut form = form();
        form.act(Action::Up);
        form.act(Action::Choose);
        form.paste("ftp://127.0.0.1:9/v1");
        assert_eq!(form.act(Action::Choose), ConnectOutcome::Stay);
        assert_eq!(form.field, FormField::Address, "it is not left");
        let drawn = text(&mut form, (100, 30));
        let row = |words: &str| drawn.lines().position(|line| line.contains(words)).expect("a row");
        assert_eq!(row(say::address_begins()), row("ftp://") + 1, "{drawn}");
        assert!(row(say::loopback()) > row(say::paste_it()), "{drawn}");
        form.act(Action::DeleteToStart);
        form.paste("127.0.0.1:9/v1");
        for _ in 0..2 {
            form.act(Action::Choose);
        }
        assert_eq!(sent(&mut form, Action::Choose).base_url.as_deref(), Some("http://127.0.0.1:9/v1"));
        assert!(text(&mut form, (100, 30)).contains("it goes to 127.0.0.1:9 alone"));
        // A server that lists nothing takes a name as it is typed.
        form.accepted(last(&form), Vec::new(), "gpt-4.1-mini", Duration::from_millis(400));
        form.act(Action::DeleteToStart);
        form.paste("local-7b");
        assert_eq!(sent(&mut form, Action::Choose).model.as_deref(), Some("local-7b"));
    }

    #[test]
    fn only_the_last_check_is_answered() {
        let mut form = form();
        form.paste("sk-good");
        form.act(Action::Choose);
        let first = sent(&mut form, Action::Choose).id;
        form.act(Action::PreviousField);
        form.type_char('x');
        form.act(Action::Choose);
        let second = sent(&mut form, Action::Choose).id;
        form.accepted(first, vec!["o3".into()], "o3", Duration::from_millis(400));
        assert_eq!(form.stage, FormStage::Checking, "the other key was accepted, not this one");
        form.failed(first, "timed out");
        assert_eq!(form.stage, FormStage::Checking);
        form.accepted(second, vec!["o3".into()], "o3", Duration::from_millis(400));
        assert_eq!(form.stage, FormStage::Accepted(vec!["o3".into()]));
    }

    #[test]
    fn a_long_reason_is_read_to_its_end() {
        let mut form = form();
        form.paste("sk-secret");
        form.act(Action::Choose);
        sent(&mut form, Action::Choose);
        form.failed(last(&form), &"the server is not there ".repeat(4));
        let drawing = text(&mut form, (80, 24));
        assert_eq!(drawing.matches("there").count(), 4, "{drawing}");
    }

    #[test]
    fn what_is_typed_is_seen_where_the_caret_is() {
        let mut form = Connect { provider: PROVIDERS.len() - 1, field: FormField::Address, ..form() };
        let address = format!("http://{}:8080/v1", "long.".repeat(14));
        address.chars().for_each(|c| drop(form.type_char(c)));
        let drawn = |form: &mut Connect| {
            let area = Rect::new(0, 0, 80, 24);
            form.measure_in(area, area, None);
            let mut at = None;
            let drawing = screen(80, 24, "dark", true, |_, buf, ctx| at = form.draw(Rect::default(), buf, ctx)).text();
            (drawing, at.expect("a caret"))
        };
        let (drawing, end) = drawn(&mut form);
        assert!(drawing.contains(":8080/v1"), "{drawing}");
        form.act(Action::TextStart);
        let (drawing, start) = drawn(&mut form);
        assert!(drawing.contains("http://long."), "{drawing}");
        assert!(start.x < end.x && start.y == end.y, "{start:?} {end:?}");
    }

    #[test]
    fn what_this_build_cannot_run_is_not_offered() {
        let drawing = text(&mut form(), (100, 30));
        assert_eq!(drawing.contains("a model file"), cfg!(feature = "embedded"), "{drawing}");
    }

    #[cfg(feature = "embedded")]
    #[test]
    fn a_model_file_needs_no_key() {
        let mut form = form();
        form.act(Action::Up);
        form.act(Action::Up);
        let no_key = |form: &mut Connect| {
            let drawing = text(form, (100, 30)).replace("no key: the model runs here", "");
            let words = ["paste", "key is", "the key", "credentials", "accepted by"];
            assert!(words.iter().all(|word| !drawing.contains(word)), "{drawing}");
        };
        no_key(&mut form);
        form.act(Action::Choose);
        no_key(&mut form);
        let form_sent = sent(&mut form, Action::Choose);
        assert_eq!((form_sent.provider.as_str(), form_sent.base_url, form_sent.key.reveal()), ("embedded", None, ""));
        form.failed(last(&form), "this nebula was built without the part that runs model files");
        assert!(text(&mut form, (100, 30)).contains("built without"));
        form.act(Action::Choose);
        sent(&mut form, Action::Choose);
        form.accepted(last(&form), vec!["coder-1.5b".into()], "coder-1.5b", Duration::from_millis(400));
        no_key(&mut form);
        assert_eq!(sent(&mut form, Action::Choose).model.as_deref(), Some("coder-1.5b"));
    }
}
