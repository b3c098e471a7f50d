//! `nebula model`, `config`, `doctor`, `stats`, `usage` and `completions`: settings and self-checks.

mod usage;

use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::CommandFactory;
use futures_util::StreamExt;
use serde_json::json;

use super::args::{Cli, ConfigCmd, ModelArgs};
use super::context::{Connected, Context};
use super::out::{self, Out};
use super::print;
use crate::agent::{check_rules, is_missing, learnt_windows, list_or_stored};
use crate::config::screen_files::ScreenFiles;
use crate::config::{self, ValueSource, last_request, size, workspace_config};
use crate::disk;
use crate::execute::{UNGUARDED, can_exchange};
use crate::memory::{self, Memory, StatsRow};
use crate::messages::agent as say;
use crate::provider::models::{Facts, Known, Model};
use crate::provider::{self, Delta, Message, Provider, Request, described};
use crate::shell::Keeper;
use crate::text::number::plural;
use crate::text::size::words;
use crate::text::time;

pub use usage::run as usage;

/// The time limit for a server to list its models to a program.
const TO_LIST: Duration = Duration::from_secs(3);
/// The time limit for a server to describe one model.
const TO_DESCRIBE: Duration = Duration::from_secs(2);

/// Runs `nebula model [NAME]`.
pub fn model(context: &mut Context, args: &ModelArgs) -> Result<i32> {
    if let Some(name) = &args.name {
        let named = context.config.split_provider(name);
        let name = match &named {
            Some((provider, name)) => {
                choose_provider(context, provider)?;
                name
            }
            None => name,
        };
        let key = context.config.model_key().to_string();
        context.config.set(&key, name).map_err(with_hint)?;
        out::say(name)?;
        // It holds all the same: a server may come to offer it.
        if let Ok(Connected { provider, .. }) = context.connect()
            && context.block_on(is_missing(&*provider, name))
        {
            out::complain(say::no_such_model(&provider.place(), name));
        }
        return Ok(0);
    }
    let connected = context.connect();
    let present = connected.as_ref().map_or_else(|_| context.config.model.clone(), |connected| connected.model.clone());
    let place = connected.as_ref().map(|connected| connected.provider.address()).unwrap_or_default();
    let offered = connected.and_then(|connected| {
        context.block_on(async {
            let provider = &*connected.provider;
            // Only programs are told more than the names.
            if args.json {
                let models = list_or_stored(&context.config.paths, provider, TO_LIST).await;
                return Ok(described(provider, models, &present, TO_DESCRIBE).await);
            }
            provider.models().await
        })
    });
    if args.json {
        out::say_json(&models_json(context, (&place, &present), offered.unwrap_or_default()))?;
        return Ok(0);
    }
    match offered {
        Ok(models) => {
            for Model { name, .. } in &models {
                out::say(format_args!("{} {name}", if *name == present { "*" } else { " " }))?;
            }
            if models.iter().all(|model| model.name != present) {
                out::say(format_args!("* {present}  (not offered by the provider)"))?;
            }
        }
        Err(e) => {
            out::say(format_args!("* {present}"))?;
            out::complain(format_args!("the provider's models could not be listed: {e}. {}", e.hint));
        }
    }
    Ok(0)
}

/// Chooses the provider that a model was named with.
fn choose_provider(context: &mut Context, provider: &str) -> Result<()> {
    if context.config.provider == provider {
        return Ok(());
    }
    if !context.config.provider_stands_alone() {
        let now = &context.config.provider;
        anyhow::bail!(
            "the configuration's baseUrl, key or headers are those of {now}: put them under providers, or take them out with nebula config unset"
        );
    }
    context.config.set("provider", provider).map_err(with_hint)
}

/// Returns what is known of each model on offer, and where each fact is from.
fn models_json(context: &Context, (place, present): (&str, &str), offered: Vec<Model>) -> serde_json::Value {
    let names: Vec<&str> = offered.iter().map(|model| model.name.as_str()).collect();
    let mut all = json!({"model": present, "offered": names});
    let learnt_windows = learnt_windows(&context.config.paths, place);
    let row = |model: Model| {
        let configured = context.config.model_config(&model.name);
        let window = learnt_windows.iter().find(|(name, _)| *name == model.name).map(|(_, window)| *window);
        let learnt = Facts { window, ..Facts::default() };
        let known = Known::new(&model.name, &configured, model.facts, learnt);
        let mut row = known.facts().json();
        row["name"] = model.name.into();
        row["provider"] = context.config.provider.clone().into();
        row["origin"] = known
            .origins()
            .into_iter()
            .map(|(field, source)| (field.to_string(), source.into()))
            .collect::<serde_json::Map<_, _>>()
            .into();
        row
    };
    all["models"] = offered.into_iter().map(row).collect();
    all
}

/// Runs `nebula config get|set|unset|path`.
pub fn config(context: &mut Context, what: ConfigCmd) -> Result<i32> {
    match what {
        ConfigCmd::Get { key: Some(key), json: false } if !context.config.parts(&key).is_empty() => {
            for (name, value, origin) in context.config.parts(&key) {
                say_value(&format!("{key}.{name}"), value, origin)?;
            }
        }
        ConfigCmd::Get { key: Some(key), json } => match context.config.get(&key).map_err(with_hint)? {
            Some(serde_json::Value::String(text)) if !json => out::say(text)?,
            Some(value) => out::say_json(&value)?,
            None => {
                out::complain(format_args!("{key} is not set"));
                return Ok(1);
            }
        },
        ConfigCmd::Get { key: None, json } => {
            let rows = context.config.listing();
            if json {
                let rows: serde_json::Map<_, _> = rows
                    .into_iter()
                    .map(|(k, v, origin)| {
                        let value: serde_json::Value =
                            v.and_then(|v| serde_json::from_str(&v).ok()).unwrap_or_default();
                        (k, json!({"value": value, "origin": origin.word()}))
                    })
                    .collect();
                out::say_json(&rows)?;
            } else {
                for (key, value, origin) in rows {
                    say_value(&key, value, origin)?;
                }
            }
        }
        ConfigCmd::Set { key, value } => {
            if let Err(why) = check_rules(&config::rules_set_by(&key, &value)) {
                anyhow::bail!("{key}: {why}. Nothing was changed.");
            }
            context.config.set(&key, &value).map_err(with_hint)?;
            out::say(format_args!("{key} = {value}"))?;
            // It holds all the same: a theme's file may be written next.
            context.config.doubts().iter().filter(|(of, _)| *of == key).for_each(|(_, why)| out::complain(why));
        }
        ConfigCmd::Unset { key } => {
            context.config.unset(&key).map_err(with_hint)?;
            match context.config.get(&key).map_err(with_hint)? {
                Some(value) => out::say(format_args!("{key} is not set in your file: {value} is in force"))?,
                None => out::say(format_args!("{key} is not set"))?,
            }
        }
        ConfigCmd::Path => {
            match context.config.paths.config() {
                Some(path) => out::say(path.display())?,
                None => out::complain("there is no home folder: set HOME or NEBULA_HOME"),
            }
            out::say(workspace_config(context.workspace.root()).display())?;
        }
    }
    Ok(0)
}

/// Prints a key with its value in force, and where that comes from.
fn say_value(key: &str, value: Option<String>, origin: ValueSource) -> io::Result<()> {
    out::say(format_args!("{key:<16} {:<32} {}", value.unwrap_or_else(|| "-".into()), origin.word()))
}

/// Returns what is wrong with a key or a value, and what to do, in one line.
fn with_hint(error: config::Error) -> anyhow::Error {
    let stop = if error.message.ends_with('?') { "" } else { "." };
    anyhow::anyhow!("{}{stop} {}", error.message, error.hint)
}

/// One check of `doctor`.
struct DoctorCheck {
    name: &'static str,
    ok: bool,
    says: String,
}

/// Tells what is wrong with the person's `keys.toml`; the screen knows.
pub type KeyFaults = fn(&ScreenFiles) -> Vec<String>;

/// Runs `nebula doctor`: 0 when nothing is wrong, 1 otherwise.
pub fn doctor(context: &mut Context, as_json: bool, key_faults: KeyFaults) -> Result<i32> {
    // Opened once and quietly: what is wrong with it is a line of the list.
    let (memory, notices) = Memory::open(context.memory_options());
    let mut checks = vec![
        terminal(),
        configuration(context, key_faults),
        remembered(context, &memory, &notices),
        archive(context, &memory),
        file_system(context),
        connection(context),
    ];
    let before_model = checks.len() - 1;
    checks.splice(before_model..before_model, commands(context));
    checks.extend(context.config.credentials().map(|(ok, says)| DoctorCheck { name: "stored keys", ok, says }));
    let mut out = Out::stdout();
    if as_json {
        let rows: Vec<_> = checks.iter().map(|c| json!({"check": c.name, "ok": c.ok, "says": c.says})).collect();
        out.json(&rows)?;
    } else {
        for c in &checks {
            writeln!(out, "{} {:<14} {}", if c.ok { "✓" } else { "✗" }, c.name, c.says)?;
        }
    }
    Ok(i32::from(checks.iter().any(|c| !c.ok)))
}

/// Checks the keeper of the states of commands, tried, not derived from versions, and what keeps them from nebula's own
/// folders.
fn commands(context: &Context) -> Vec<DoctorCheck> {
    let check = |name, ok, says| DoctorCheck { name, ok, says };
    let archive = match context.archive() {
        Ok(archive) => archive,
        Err(error) => return vec![check("commands", false, error.to_string())],
    };
    let shell = crate::agent::shell(&context.config, &context.workspace, &archive);
    let off = if shell.settings.sandbox.off { " · switched off by shell.sandbox" } else { "" };
    let offered = shell.try_anew();
    let (unread, keeper) = (shell.cannot_read(), shell.keeper());
    let unscanned = if keeper == Keeper::Scan { shell.cannot_scan() } else { None };
    let mut says = format!("{}{off}", offered.words(shell.settings.keeper.map(Keeper::word), unscanned.as_deref()));
    says.extend(unread.iter().map(|why| format!(" · {why}")));
    let tried = check("commands", offered.untried.is_none() && unread.is_none() && unscanned.is_none(), says);
    let own = match (shell.own_unprotected(keeper), keeper) {
        (Some(why), _) => (false, why),
        (None, Keeper::Guard) if !shell.settings.strict => (
            true,
            "the guard refuses changes of .shaft and .nebula by commands (shell.strict mounts them to be only read, too)".into(),
        ),
        (None, _) => (true, ".shaft and .nebula are mounted so that commands can only read them".into()),
    };
    vec![tried, check("own folders", own.0, own.1)]
}

/// Runs `nebula doctor --last`: prints the last request that a server refused, without its contents.
pub fn last_request(context: &Context, as_json: bool) -> Result<i32> {
    let Some(outline) = last_request::read(&context.config.paths) else {
        out::complain("no request was refused yet");
        return Ok(1);
    };
    if as_json {
        out::say_json(&outline)?;
        return Ok(0);
    }
    let text = |name: &str| outline[name].as_str().unwrap_or_default().to_string();
    let at = outline["at"].as_i64().map(time::local).unwrap_or_default();
    out::say(format_args!("{at}  {} ({})", text("message"), text("kind")))?;
    out::say(text("hint"))?;
    if let Some(id) = outline["requestId"].as_str() {
        out::say(format_args!("the server's name for it: {id}"))?;
    }
    let bytes = outline["bytes"].as_u64().unwrap_or_default();
    out::say(format_args!("{} to {}, {}", text("wire"), text("address"), words(bytes)))?;
    out::say(format_args!("{:#}", outline["request"]))?;
    Ok(0)
}

fn terminal() -> DoctorCheck {
    let get = |name| std::env::var(name).unwrap_or_default();
    let (term, colours) = (get("TERM"), get("COLORTERM"));
    let locale = [get("LC_ALL"), get("LC_CTYPE"), get("LANG")].into_iter().find(|l| !l.is_empty()).unwrap_or_default();
    let utf8 = locale.to_lowercase().replace('-', "").contains("utf8");
    let says = format!(
        "TERM={term}, {}, {}",
        if colours.is_empty() { "no truecolour announced" } else { "truecolour" },
        if utf8 { "UTF-8" } else { "no UTF-8 locale: ASCII glyphs are used" }
    );
    DoctorCheck { name: "terminal", ok: !term.is_empty(), says }
}

fn configuration(context: &Context, key_faults: KeyFaults) -> DoctorCheck {
    let config = &context.config;
    let path = config.paths.config().map_or_else(|| "no home folder".into(), |p| config.paths.short(&p));
    let doubts = config.doubts().into_iter().map(|(_, why)| why);
    let keys = config.paths.folder().map(|folder| key_faults(&ScreenFiles::read(folder))).unwrap_or_default();
    let warnings: Vec<String> = config.warnings.iter().cloned().chain(doubts).chain(keys).collect();
    let says = match warnings.as_slice() {
        [] if config.untrusted.is_empty() => path,
        [] => format!(
            "{path}; the workspace's file sets {}, ignored until `trusted` lists this folder",
            config.untrusted.join(", ")
        ),
        warnings => warnings.join("; "),
    };
    DoctorCheck { name: "configuration", ok: warnings.is_empty(), says }
}

fn remembered(context: &Context, memory: &Memory, notices: &[memory::DatabaseNotice]) -> DoctorCheck {
    let config = &context.config;
    let place = config.paths.folder().map_or_else(|| "no home folder".into(), |folder| config.paths.short(folder));
    let (ok, says) = match (memory.list(&context.project()), notices) {
        (Ok(sessions), []) if sessions.len() == 1 => (true, "1 session of this project".into()),
        (Ok(sessions), []) => (true, format!("{} sessions of this project", sessions.len())),
        (Ok(_), notices) => {
            let messages: Vec<_> = notices.iter().map(ToString::to_string).collect();
            (false, format!("{place}: {}", messages.join("; ")))
        }
        (Err(e), _) => (false, e.to_string()),
    };
    DoctorCheck { name: "memory", ok, says }
}

fn archive(context: &Context, memory: &Memory) -> DoctorCheck {
    let (ok, says) = match measured(context, memory) {
        Ok((n, bytes)) => {
            let max = context.config.archive_max_size;
            let changesets = plural(n, "changeset");
            match size::nearly_full(bytes, max) {
                None => (true, format!("{changesets}, {} of {}", words(bytes), words(max))),
                Some(full) => (false, format!("{full}; nebula prune deletes the oldest versions, after asking")),
            }
        }
        Err(e) => (false, print::one_line(&e)),
    };
    DoctorCheck { name: "archive", ok, says }
}

/// The note where hard links cannot reach the archive.
const COPIES: &str = "files in the workspace's root are replaced by exchange; .shaft lies on another file system, so what \
     commands remove is copied instead of linked";

/// Checks what writing can rely on here.
fn file_system(context: &Context) -> DoctorCheck {
    let (ok, says) = match can_exchange(&context.workspace) {
        Ok(true) if archive_lies_elsewhere(context) => (true, COPIES.into()),
        Ok(true) => {
            let reflink = if disk::can_share_blocks(context.workspace.root()) { "yes" } else { "no" };
            (true, format!("files in the workspace's root are replaced by exchange · reflink {reflink}"))
        }
        Ok(false) => (true, UNGUARDED.into()),
        Err(error) => (false, format!("{} cannot be written: {error}", context.workspace.root().display())),
    };
    DoctorCheck { name: "file system", ok, says }
}

/// Returns whether `.shaft` lies on another file system than the workspace.
fn archive_lies_elsewhere(context: &Context) -> bool {
    let device = |path: &std::path::Path| path.metadata().ok().map(|about| std::os::unix::fs::MetadataExt::dev(&about));
    let root = context.workspace.root();
    let home = context.archive().ok().map(|archive| archive.home().to_path_buf());
    home.and_then(|home| device(&home)).is_some_and(|own| Some(own) != device(root))
}

/// Counts changesets and bytes of the archive; memory stores the size.
fn measured(context: &Context, memory: &Memory) -> Result<(usize, u64)> {
    let archive = context.archive()?;
    let (count, bytes) = (archive.list()?.len(), archive.size()?);
    memory.set_archive_size(&context.project(), bytes)?;
    Ok((count, bytes))
}

fn connection(context: &mut Context) -> DoctorCheck {
    let connection = context.config.connection();
    let key = match (&connection.key_variable, &connection.key) {
        (_, Some(_)) if connection.pasted => "the key in credentials.json".into(),
        (_, None) if !connection.key_command.is_empty() => "the key of apiKeyCommand".into(),
        (Some(name), Some(_)) => format!("{name} is set"),
        (Some(name), None) => format!("{name} is not set"),
        (None, _) => "no key needed".into(),
    };
    let (ok, says) = match context.connect() {
        Err(e) => (false, format!("{e}. {}", e.hint)),
        Ok(Connected { provider, model }) if provider.name() == provider::embedded::NAME => {
            match context.block_on(speed(&*provider, &model)) {
                Ok(speed) => (true, format!("{}: {model}, {speed:.1} tokens a second", provider.place())),
                Err(e) => (false, format!("{e}. {}", e.hint)),
            }
        }
        Ok(Connected { provider, .. }) => match context.block_on(provider.models()) {
            Ok(names) if names.len() == 1 => (true, format!("{}: 1 model, {key}", provider.place())),
            Ok(names) => (true, format!("{}: {} models, {key}", provider.place(), names.len())),
            Err(e) => (false, format!("{e}. {}", e.hint)),
        },
    };
    DoctorCheck { name: "model", ok, says }
}

/// Returns how many tokens a second a model writes after its first, of a short answer.
async fn speed(provider: &dyn Provider, model: &str) -> Result<f64, provider::Error> {
    let question = Message::user("Count from one to fifty in words.");
    let messages = vec![Arc::new(question)];
    let request = Request { model: model.into(), messages, max_output: Some(33), ..Request::default() };
    let (mut answer, mut began, mut written) = (provider.stream(request), None, 0);
    while let Some(delta) = answer.next().await {
        match delta? {
            Delta::Text(_) | Delta::Thinking(_) => drop(began.get_or_insert_with(Instant::now)),
            Delta::Usage(usage) => written = usage.output,
            _ => {}
        }
    }
    let seconds = began.map_or(f64::INFINITY, |began| began.elapsed().as_secs_f64());
    Ok(written.saturating_sub(1) as f64 / seconds.max(f64::EPSILON))
}

/// Runs `nebula stats`.
pub fn stats(context: &Context, as_json: bool) -> Result<i32> {
    let (rows, unreadable) = context.readable_memory()?.stats(None)?;
    if unreadable > 0 {
        out::complain(crate::messages::agent::unread_results(&unreadable));
    }
    if as_json {
        let rows: Vec<_> = rows.iter().map(stats_record).collect();
        out::say_json(&rows)?;
    } else if rows.is_empty() {
        out::complain("no edits yet");
    } else {
        write!(Out::stdout(), "{}", stats_table(&rows))?;
    }
    Ok(0)
}

fn stats_record(r: &StatsRow) -> serde_json::Value {
    let applied: serde_json::Map<_, _> = r.applied.iter().map(|(rung, n)| (rung.clone(), json!(n))).collect();
    json!({
        "model": r.model, "format": r.format, "asked": r.requested, "applied": applied,
        "unchanged": r.unchanged, "notFound": r.not_found, "refused": r.refused, "retried": r.retried, "nudged": r.nudged,
    })
}

/// Formats the table: asked = applied + unchanged + not found + refused; nudged are turns; the models' columns come
/// first.
fn stats_table(rows: &[StatsRow]) -> String {
    let wide = rows.iter().map(|r| r.model.chars().count()).max().unwrap_or(0).max("model".len());
    let mut out = format!(
        "{:<wide$} {:<7} {:>6} {:>7} {:>9} {:>9} {:>8} {:>8} {:>7}  applied by\n",
        "model", "format", "asked", "applied", "unchanged", "not found", "refused", "retried", "nudged"
    );
    for r in rows {
        let applied: u64 = r.applied.iter().map(|(_, n)| n).sum();
        let by: Vec<_> = r.applied.iter().map(|(rung, n)| format!("{rung} {n}")).collect();
        let line = format!(
            "{:<wide$} {:<7} {:>6} {applied:>7} {:>9} {:>9} {:>8} {:>8} {:>7}  {}",
            r.model,
            r.format,
            r.requested,
            r.unchanged,
            r.not_found,
            r.refused,
            r.retried,
            r.nudged,
            by.join(", ")
        );
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Runs `nebula completions SHELL`.
///
/// # Errors
/// When standard output takes no more.
pub fn completions(shell: clap_complete::Shell) -> io::Result<()> {
    // Made whole first: its own writing does not expect that a reader goes away.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "nebula", &mut script);
    Out::stdout().document(&script)
}
