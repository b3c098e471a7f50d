//! `nebula model`, `config`, `doctor`, `stats` and `completions`: settings and self-checks.

use std::io::{self, Write};

use anyhow::Result;
use clap::CommandFactory;
use serde_json::json;

use super::Context;
use super::args::{Cli, ConfigCmd, ModelArgs};
use crate::config::workspace_config;
use crate::memory::StatsRow;
use crate::provider;

/// `nebula model [NAME]`.
pub fn model(context: &mut Context, args: &ModelArgs) -> Result<i32> {
    if let Some(name) = &args.name {
        let key = context.config.model_key().to_string();
        context.config.set(&key, name)?;
        println!("{name}");
        return Ok(0);
    }
    let present = context.config.model.clone();
    let offered = match provider::connect(&context.config.connection()) {
        Ok(provider) => context.block_on(provider.models()),
        Err(e) => Err(e),
    };
    if args.json {
        println!("{}", json!({"model": present, "offered": offered.unwrap_or_default()}));
        return Ok(0);
    }
    match offered {
        Ok(names) => {
            for name in &names {
                println!("{} {name}", if *name == present { "*" } else { " " });
            }
            if !names.contains(&present) {
                println!("* {present}  (not among those on offer)");
            }
        }
        Err(e) => {
            println!("* {present}");
            eprintln!("nebula: what is on offer could not be asked: {e}. {}", e.hint);
        }
    }
    Ok(0)
}

/// `nebula config get|set|path`.
pub fn config(context: &mut Context, what: ConfigCmd) -> Result<i32> {
    match what {
        ConfigCmd::Get { key: Some(key), json } => match context.config.get(&key)? {
            Some(value) if json => println!("{}", json!(value)),
            Some(value) => println!("{value}"),
            None => {
                eprintln!("nebula: {key} is not set");
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
                println!("{}", json!(rows));
            } else {
                for (key, value, origin) in rows {
                    println!("{key:<16} {:<32} {}", value.unwrap_or_else(|| "-".into()), origin.word());
                }
            }
        }
        ConfigCmd::Set { key, value } => {
            context.config.set(&key, &value)?;
            println!("{key} = {value}");
        }
        ConfigCmd::Path => {
            match context.config.paths.config() {
                Some(path) => println!("{}", path.display()),
                None => eprintln!("nebula: there is no home folder: set HOME or NEBULA_HOME"),
            }
            println!("{}", workspace_config(context.workspace.root()).display());
        }
    }
    Ok(0)
}

/// One check of `doctor`.
struct Check {
    name: &'static str,
    ok: bool,
    says: String,
}

/// `nebula doctor`: 0 when nothing is wrong, 1 otherwise.
pub fn doctor(context: &mut Context, as_json: bool) -> Result<i32> {
    let checks = [terminal(), configuration(context), memory(context), archive(context), connection(context)];
    let mut out = io::stdout().lock();
    if as_json {
        let rows: Vec<_> = checks.iter().map(|c| json!({"check": c.name, "ok": c.ok, "says": c.says})).collect();
        writeln!(out, "{}", json!(rows))?;
    } else {
        for c in &checks {
            writeln!(out, "{} {:<14} {}", if c.ok { "✓" } else { "✗" }, c.name, c.says)?;
        }
    }
    Ok(i32::from(checks.iter().any(|c| !c.ok)))
}

fn terminal() -> Check {
    let get = |name| std::env::var(name).unwrap_or_default();
    let (term, colours) = (get("TERM"), get("COLORTERM"));
    let locale = [get("LC_ALL"), get("LC_CTYPE"), get("LANG")].into_iter().find(|l| !l.is_empty()).unwrap_or_default();
    let utf8 = locale.to_lowercase().replace('-', "").contains("utf8");
    let says = format!(
        "TERM={term}, {}, {}",
        if colours.is_empty() { "no truecolour announced" } else { "truecolour" },
        if utf8 { "UTF-8" } else { "no UTF-8 locale: ASCII glyphs are used" }
    );
    Check { name: "terminal", ok: !term.is_empty(), says }
}

fn configuration(context: &Context) -> Check {
    let config = &context.config;
    let path = config.paths.config().map_or_else(|| "no home folder".into(), |p| config.paths.short(&p));
    let says = match config.warnings.as_slice() {
        [] => path,
        warnings => warnings.join("; "),
    };
    Check { name: "configuration", ok: config.warnings.is_empty(), says }
}

fn memory(context: &Context) -> Check {
    let memory = context.memory();
    let count = memory.list(&context.project()).map(|l| l.len());
    let (ok, says) = match (memory.banner(), count) {
        (Some(trouble), _) => (false, trouble.word().to_string()),
        (None, Ok(n)) => (true, format!("{n} sessions of this project")),
        (None, Err(e)) => (false, e.to_string()),
    };
    Check { name: "memory", ok, says }
}

fn archive(context: &Context) -> Check {
    let (ok, says) = match context.archive().and_then(|a| Ok(a.list()?.len())) {
        Ok(n) => (true, format!("{n} changesets")),
        Err(e) => (false, e.to_string()),
    };
    Check { name: "archive", ok, says }
}

fn connection(context: &mut Context) -> Check {
    let connection = context.config.connection();
    let key = match (&connection.key_variable, &connection.key) {
        (Some(name), Some(_)) => format!("{name} is set"),
        (Some(name), None) => format!("{name} is not set"),
        (None, _) => "no key needed".into(),
    };
    let (ok, says) = match provider::connect(&connection) {
        Err(e) => (false, format!("{e}. {}", e.hint)),
        Ok(provider) => match context.block_on(provider.models()) {
            Ok(names) => (true, format!("{}: {} models, {key}", provider.place(), names.len())),
            Err(e) => (false, format!("{e}. {}", e.hint)),
        },
    };
    Check { name: "model", ok, says }
}

/// `nebula stats`.
pub fn stats(context: &Context, as_json: bool) -> Result<i32> {
    let rows = context.memory().stats(None)?;
    if as_json {
        let rows: Vec<_> = rows.iter().map(stats_record).collect();
        println!("{}", json!(rows));
    } else if rows.is_empty() {
        eprintln!("nebula: no edit was asked for yet");
    } else {
        print!("{}", stats_table(&rows));
    }
    Ok(0)
}

fn stats_record(r: &StatsRow) -> serde_json::Value {
    let landed: serde_json::Map<_, _> = r.landed.iter().map(|(rung, n)| (rung.clone(), json!(n))).collect();
    json!({
        "model": r.model, "format": r.format, "asked": r.asked, "landed": landed,
        "unchanged": r.unchanged, "missed": r.missed, "refused": r.refused, "retried": r.retried,
    })
}

/// Asked = landed + unchanged + missed + refused; the models' column is as wide as the longest name.
fn stats_table(rows: &[StatsRow]) -> String {
    let wide = rows.iter().map(|r| r.model.chars().count()).max().unwrap_or(0).max("model".len());
    let mut out = format!(
        "{:<wide$} {:<7} {:>6} {:>7} {:>9} {:>7} {:>8} {:>8}  landed by\n",
        "model", "format", "asked", "landed", "unchanged", "missed", "refused", "retried"
    );
    for r in rows {
        let landed: u64 = r.landed.iter().map(|(_, n)| n).sum();
        let by: Vec<_> = r.landed.iter().map(|(rung, n)| format!("{rung} {n}")).collect();
        let line = format!(
            "{:<wide$} {:<7} {:>6} {landed:>7} {:>9} {:>7} {:>8} {:>8}  {}",
            r.model,
            r.format,
            r.asked,
            r.unchanged,
            r.missed,
            r.refused,
            r.retried,
            by.join(", ")
        );
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// `nebula completions SHELL`.
pub fn completions(shell: clap_complete::Shell) {
    clap_complete::generate(shell, &mut Cli::command(), "nebula", &mut io::stdout());
}
