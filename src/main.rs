//! The `nebula` program: parses arguments and hands over to the command line or to the screen.

use std::process::ExitCode;

use anyhow::Result;
use nebula::agent::{self, AgentEnd, AgentParts};
use nebula::cli::{self, Cli, Cmd, Context, Tour};
use nebula::config::screen_files::ScreenFiles;
use nebula::protocol::SessionChoice;
use nebula::provider::{self, ErrorKind};
use nebula::text::time;
use nebula::tui::{self, Exit, Left, Options, Start};

fn main() -> ExitCode {
    if let Some(code) = nebula::shell::helper_main() {
        return code;
    }
    #[cfg(all(feature = "strand", feature = "code"))]
    if let Some(code) = nebula::lsp::stage_main() {
        return code;
    }
    let Cli { global, command, prompt } = cli::parse();
    let ended = match command {
        None => Context::new(global, None).and_then(|mut context| {
            context.ask_for_key()?;
            // A terminal that knows no cursor is spoken to line by line.
            let dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb");
            match context.global.plain || dumb {
                true => cli::run_chat(&context, &prompt.join(" ")),
                false => screen(&context, prompt.join(" ")),
            }
        }),
        Some(Cmd::Demo) => Context::new(global, None).and_then(|context| tour(&context)),
        Some(command) => cli::run(command, global, tui::key_faults),
    };
    match ended {
        Ok(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        Err(error) => ExitCode::from(cli::report(&error)),
    }
}

/// Runs the screen on the person's own project.
fn screen(context: &Context, prompt: String) -> Result<i32> {
    context.choose_language();
    let start = match (context.session(), prompt.is_empty()) {
        (Some(choice), _) => Start::Session(choice),
        (None, false) => Start::Session(SessionChoice::New),
        (None, true) if needs_model(context) => Start::WithoutModel,
        (None, true) => Start::New,
    };
    let prompt = Some(prompt).filter(|p| !p.is_empty());
    let (left, end) = run(context, context.parts()?, Options { start, prompt, ..Options::default() })?;
    cli::complain_of_unsaved(&end);
    let is_stored = left.session.as_deref().is_some_and(|id| end.has_stored(id));
    if let Some(id) = left.session.filter(|_| is_stored) {
        cli::say_resume(context, &id);
    }
    if let Some(kept) = left.unsent.filter(|_| is_stored) {
        let _ = cli::out::say(format_args!("{kept}"));
    }
    cli::say_unreviewed(if end.in_time { end.unreviewed } else { left.unreviewed });
    match left.exit {
        Exit::Tour => tour(context),
        exit => Ok(code(exit)),
    }
}

/// Runs the tour, on a copy of a small project.
fn tour(context: &Context) -> Result<i32> {
    context.choose_language();
    let tour = Tour::begin()?;
    let draft = Some(cli::TOUR_PROMPT.to_string());
    let options = Options { start: Start::Session(SessionChoice::New), draft, ..Options::default() };
    let key = tui::key_words(&screen_files(context));
    run(context, tour.parts(key)?, options).map(|(left, _)| code(left.exit))
}

fn run(context: &Context, parts: AgentParts, options: Options) -> Result<(Left, AgentEnd)> {
    let config = &context.config;
    let options = Options {
        theme: config.theme.clone(),
        ascii: config.ascii,
        mouse: config.mouse,
        notify: config.notify.clone(),
        files: screen_files(context),
        root: parts.workspace.root().to_path_buf(),
        zone: time::zone(),
        rest: Some(nebula::shell::rest),
        ..options
    };
    let handle = context.on_threads(|| agent::spawn(parts));
    context.block_here(async {
        let left = tui::run((handle.commands.clone(), handle.events), options).await;
        // The channel is closed with its last sender; the agent lets a write finish, saves and ends.
        drop(handle.commands);
        let end = agent::ended(handle.held_up, handle.done, cli::out::complain).await;
        Ok((left?, end))
    })?
}

/// Returns the person's own keys and themes.
fn screen_files(context: &Context) -> ScreenFiles {
    context.config.paths.folder().map(ScreenFiles::read).unwrap_or_default()
}

/// Returns whether nothing is configured that could answer.
fn needs_model(context: &Context) -> bool {
    let connection = context.config.connection();
    context.global.replay.is_none() && matches!(provider::connect(&connection), Err(e) if e.kind == ErrorKind::NoKey)
}

fn code(exit: Exit) -> i32 {
    match exit {
        Exit::Done | Exit::Tour => 0,
        Exit::Lost => 1,
        Exit::Signal(number) => 128 + number,
    }
}
