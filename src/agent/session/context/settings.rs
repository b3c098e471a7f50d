//! The settings of a session, as values.

use crate::config::{Config, ValueSource};
use crate::edit::Format;
use crate::memory;
use crate::proposal::Consent;
use crate::protocol::{Approval, Mode};

/// The format that is chosen by itself.
pub const AUTO: &str = "auto";

/// Settings of a session that may change while a turn runs; its next step uses them.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Plan or agent.
    pub mode: Mode,
    /// The format of edits.
    pub format: Format,
    /// True if nobody chose the format: it is chosen again for each request.
    pub auto_format: bool,
    /// The person chose the format in this session: it stays when the model changes.
    pub format_chosen: bool,
    /// A flag chose the mode: the first session that opens takes it, whatever it was left with.
    pub mode_flagged: bool,
    /// A flag chose the format: the first session that opens takes it, whatever it was left with.
    pub format_flagged: bool,
    /// The model, or its context window, is small: it gets the short prompts.
    pub small_model: bool,
    /// Every prompt asks for a change of a file: `task --expect-change`.
    pub expect_change: bool,
    /// Nobody is there to approve what the policy leaves to a person.
    pub unattended: bool,
    /// The model takes no tools.
    pub no_tools: bool,
    /// The model is told of its tools in the prompt, and writes calls as text.
    pub text_calls: bool,
    /// The model is known to make its changes by calls: a file in its text is only displayed where no path heads it.
    pub displays: bool,
    /// The approval policy.
    pub approval: Approval,
    /// The consent in whose name the policy accepts.
    pub consent: Consent,
    /// The model, once one was chosen or used in this session.
    pub model: Option<String>,
}

impl Settings {
    /// Creates the settings that the configuration names; `mode`: a flag chose it.
    pub fn new(config: &Config, mode: Option<Mode>) -> Self {
        let approval = Approval::parse(&config.approval).unwrap_or_default();
        Settings {
            mode: mode.unwrap_or_default(),
            mode_flagged: mode.is_some(),
            format_flagged: config.origin("editFormat") == ValueSource::Flag,
            format: Format::parse(config.format_for(&config.model)).unwrap_or(Format::TOOLS),
            auto_format: config.format_for(&config.model) == AUTO,
            format_chosen: false,
            small_model: false,
            expect_change: false,
            unattended: false,
            no_tools: false,
            text_calls: false,
            displays: false,
            approval,
            consent: consent(config, approval),
            model: None,
        }
    }

    /// Lets a policy decide from now on, in the name of `consent`.
    pub fn approve(&mut self, approval: Approval, consent: Consent) {
        (self.approval, self.consent) = (approval, consent);
    }

    /// Takes the format of this name; `auto`: it is chosen again for each request. Returns whether there is such a
    /// format.
    pub fn choose_format(&mut self, name: &str) -> bool {
        let format = Format::parse(name);
        self.auto_format = name == AUTO || self.auto_format && format.is_none();
        self.format = format.unwrap_or(self.format);
        format.is_some() || name == AUTO
    }

    /// Returns the format's name, as a session keeps it.
    pub fn format_name(&self) -> &'static str {
        if self.auto_format { AUTO } else { self.format.name() }
    }

    /// Takes the settings up that a stored session was left with, but what flags chose.
    pub fn take_up(&mut self, record: &memory::Session) {
        if let Some(mode) = record.mode.as_deref().filter(|_| !self.mode_flagged) {
            self.mode = if mode == Mode::Plan.word() { Mode::Plan } else { Mode::Agent };
        }
        if let Some(name) = record.format.as_deref().filter(|_| !self.format_flagged) {
            // Another one than the configuration's was chosen in that session.
            self.format_chosen = name != self.format_name();
            self.choose_format(name);
        }
    }
}

/// Returns in whose name a configured policy accepts: the flag's, where one was given.
pub fn consent(config: &Config, approval: Approval) -> Consent {
    match (config.origin("approval"), approval) {
        (ValueSource::Flag, Approval::All) => Consent::Flag("--approve all"),
        (ValueSource::Flag, Approval::Review) => Consent::Flag("--approve review"),
        (ValueSource::Flag, _) => Consent::Flag("--approve edits"),
        (_, approval) => Consent::Policy(approval.word()),
    }
}
