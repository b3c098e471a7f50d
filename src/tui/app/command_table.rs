//! The commands of the palette: one table of their names, their words and what they do.

use super::{App, Effect};
use crate::messages::{Text, commands as say};
use crate::protocol::{Command, ENVIRONMENT_CLEAR, Mode, Query, RestoreRequest, SessionChoice, Setting};
use crate::tui::action::Action;
use crate::tui::popup::palette::Info;

/// Does a command with what is written behind its name.
type RunCommand = fn(&mut App, &str) -> Vec<Effect>;

const fn info(name: &'static str, arguments: Text, detail: Text, long: Text, key: Option<Action>) -> Info {
    Info { name, arguments, detail, long, key }
}

/// Stands for no arguments.
fn none() -> &'static str {
    ""
}

fn set(setting: Setting) -> Vec<Effect> {
    vec![Effect::Send(Command::Set(setting))]
}

/// All commands, in the order in which an empty palette lists them.
pub(super) const COMMANDS: &[(Info, RunCommand)] = &[
    (
        info("/model", say::name_argument, say::model, say::model_long, Some(Action::ChooseModel)),
        |app, name| match name {
            "" | say::LIST => app.open_models(),
            name => set(Setting::Model(name.into())),
        },
    ),
    (info("/connect", none, say::connect, say::connect_long, None), |app, _| app.open_connect()),
    (info("/plan", none, say::plan, say::plan_long, Some(Action::ToggleMode)), |_, _| set(Setting::Mode(Mode::Plan))),
    (info("/agent", none, say::agent, say::agent_long, None), |app, _| app.agent_mode()),
    (info("/new", none, say::new, say::new_long, None), |app, _| app.send(Command::Open(SessionChoice::New))),
    (info("/resume", none, say::resume, say::resume_long, None), |app, _| app.open_sessions()),
    (info("/sessions", none, say::sessions, say::sessions_long, None), |app, _| app.open_sessions()),
    (info("/undo", say::undo_arguments, say::undo, say::undo_long, None), |app, rest| app.undo(rest)),
    (info("/redo", none, say::redo, say::redo_long, None), |_, _| {
        vec![Effect::Send(Command::Restore(RestoreRequest::Redo))]
    }),
    (info("/history", none, say::history, say::history_long, Some(Action::FocusArchive)), |app, _| {
        app.browse();
        Vec::new()
    }),
    (info("/review", say::review_arguments, say::review, say::review_long, Some(Action::FocusReview)), |app, rest| {
        app.review(rest)
    }),
    (info("/graph", none, say::graph, say::graph_long, Some(Action::FocusGraph)), |app, _| app.open_graph()),
    (
        info("/timeline", say::moment_argument, say::timeline, say::timeline_long, Some(Action::FocusTimeline)),
        |app, words| app.open_timeline_at(words),
    ),
    (info("/file", none, say::file, say::file_long, None), |app, words| app.open_finder(words)),
    (info("/format", say::name_argument, say::format, say::format_long, None), |app, name| match name {
        "" => app.choose_format(),
        name => set(Setting::Format(name.into())),
    }),
    (info("/effort", say::effort_argument, say::effort, say::effort_long, None), |app, name| match name {
        "" => app.choose_effort(),
        name => set(Setting::Effort(name.into())),
    }),
    (info("/theme", say::name_argument, say::theme, say::theme_long, None), |app, name| match name {
        "" => app.open_themes(),
        name => app.take_theme(name),
    }),
    (info("/rules", none, say::rules, say::rules_long, None), |app, _| app.open_page(say::page_rules(), Query::Rules)),
    (info("/rag", say::words_argument, say::rag, say::rag_long, None), |app, words| app.mention_retrieval(words)),
    (info("/prompt", say::prompt_arguments, say::prompt, say::prompt_long, None), |app, rest| match rest {
        "" => app.open_prompts(""),
        rest => app.submit(format!("/prompt {rest}")),
    }),
    (info("/commit", none, say::commit, say::commit_long, None), |app, _| app.draft_commit()),
    (info("/compact", say::compact_argument, say::compact, say::compact_long, None), |app, rest| app.compact(rest)),
    (info("/export", say::export_argument, say::export, say::export_long, None), |app, name| app.export(name)),
    (info("/stats", none, say::stats, say::stats_long, None), |app, _| app.open_page(say::page_stats(), Query::Stats)),
    (info("/blame", say::file_argument, say::blame, say::blame_long, None), |app, file| app.open_blame(file, 0)),
    (info("/usage", none, say::usage, say::usage_long, None), |app, _| app.open_page(say::page_usage(), Query::Usage)),
    (info("/context", none, say::context, say::context_long, None), |app, _| app.open_context()),
    (info("/config", none, say::config, say::config_long, None), |app, _| {
        app.open_page(say::page_config(), Query::Config)
    }),
    (info("/env", say::env_arguments, say::env, say::env_long, None), |app, rest| match rest {
        ENVIRONMENT_CLEAR => vec![Effect::Send(Command::ClearEnvironment)],
        _ => app.open_page(say::page_env(), Query::Environment),
    }),
    (info("/trust", none, say::trust, say::trust_long, None), |_, _| set(Setting::Trust)),
    (info("/mouse", say::mouse_argument, say::mouse, say::mouse_long, None), |app, word| {
        app.set_mouse(match word {
            "on" => true,
            "off" => false,
            _ => !app.mouse,
        })
    }),
    (info("/help", none, say::help, say::help_long, Some(Action::Help)), |app, _| {
        app.open_help();
        Vec::new()
    }),
    (info("/quit", none, say::quit, say::quit_long, None), |app, _| app.quit_or_ask()),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Language, with};
    use crate::text::width::cells;

    #[test]
    fn the_names_are_those_of_the_table() {
        assert_eq!(COMMANDS.iter().map(|(info, _)| info.name).collect::<Vec<_>>(), say::NAMES);
    }

    #[test]
    fn every_command_of_the_contract_is_there() {
        for name in "model plan agent new resume sessions undo redo history file format theme rules rag prompt commit \
                     export stats config help quit"
            .split_whitespace()
        {
            assert!(COMMANDS.iter().any(|(c, _)| c.name == format!("/{name}")), "{name}");
        }
        for language in [Language::English, Language::Japanese] {
            let fits = |info: &Info| cells((info.detail)()) <= 46;
            with(language, || assert!(COMMANDS.iter().all(|(c, _)| fits(c)), "details fit in a row"));
        }
    }
}
