//! The shell that the commands of all sessions share, made as the configuration says.

use std::path::{Path, PathBuf};

use crate::archive::Archive;
use crate::config::{Config, RuleConfig, folder};
use crate::shell::class::rules::{Rule, RuleDecision};
use crate::shell::{
    CopyLimits, Environment, Keeper, PlaceSettings, PreviewWhen, SandboxSettings, Shell, ShellSettings, private,
};
use crate::workspace::Workspace;

/// Returns what commands work with, as the configuration says.
pub fn shell(config: &Config, workspace: &Workspace, archive: &Archive) -> Shell {
    let connection = config.connection();
    let providers = config.providers.values().filter_map(|provider| provider.api_key_env.clone());
    let named: Vec<String> =
        connection.key_variable.into_iter().chain(config.api_key_env.clone()).chain(providers).collect();
    Shell {
        settings: shell_settings(config, workspace.root()),
        environment: Environment::new(config.env().all(), &named, &config.shell.env_keep),
        own: config.paths.folder().map(Path::to_path_buf),
        program: config.program.clone(),
        ..Shell::for_archive(workspace, archive)
    }
}

/// Returns the workspace with the folders of `shell.write`, whose files are archived too.
pub fn with_folders(workspace: Workspace, config: &Config) -> Workspace {
    if config.shell.write.is_empty() {
        return workspace;
    }
    let home = config.env().get("HOME").map(PathBuf::from);
    let folders: Vec<PathBuf> =
        config.shell.write.iter().map(|name| folder(name, home.as_deref(), workspace.root())).collect();
    let settings = SandboxSettings { private: config.shell.private.clone(), ..SandboxSettings::default() };
    let private = private(&settings, config.paths.folder(), home.as_deref());
    workspace.with_folders(&folders, private)
}

/// Returns the rules for commands that the configuration names, and what is wrong with those that cannot be.
pub fn command_rules(config: &Config) -> (Vec<Rule>, Vec<String>) {
    let (mut rules, mut wrong) = (Vec::new(), Vec::new());
    for said in config.shell.rules.iter().chain(&config.shell.workspace_rules) {
        let decision = RuleDecision::parse(&said.decision).unwrap_or_else(|| {
            wrong.push(format!("shell.rules: the rule for {:?} has no decision, so it asks", said.prefix.join(" ")));
            RuleDecision::Ask
        });
        match checked(said, decision) {
            Ok(rule) => rules.push(rule),
            Err(why) => wrong.push(format!("shell.rules: {why}")),
        }
    }
    (rules, wrong)
}

/// Checks the rules that a key of the configuration would be set to.
///
/// # Errors
/// Why the first that cannot be is none.
pub fn check_rules(said: &[RuleConfig]) -> Result<(), String> {
    said.iter().try_for_each(|said| {
        let decision = RuleDecision::parse(&said.decision)
            .ok_or_else(|| format!("the rule for {:?} has no decision", said.prefix.join(" ")))?;
        checked(said, decision).map(drop)
    })
}

fn checked(said: &RuleConfig, decision: RuleDecision) -> Result<Rule, String> {
    let rule = Rule { prefix: said.prefix.clone(), decision, network: said.network, why: said.why.clone() };
    rule.check().map(|()| rule)
}

fn shell_settings(config: &Config, root: &Path) -> ShellSettings {
    let (said, usual) = (&config.shell, ShellSettings::default());
    let home = config.env().get("HOME").map(PathBuf::from);
    let folders = |named: &[String]| named.iter().map(|name| folder(name, home.as_deref(), root)).collect();
    let keeper = match said.keeper.as_deref() {
        Some("guard") => Some(Keeper::Guard),
        Some("scan") => Some(Keeper::Scan),
        _ => None,
    };
    ShellSettings {
        places: PlaceSettings { derived: said.derived.clone(), archived: said.archived.clone() },
        sandbox: SandboxSettings {
            off: said.sandbox == Some(false),
            private: said.private.clone(),
            caches: folders(&said.caches),
            ports: said.ports.clone(),
        },
        rules: command_rules(config).0,
        limits: CopyLimits {
            file: said.keep_file.unwrap_or(usual.limits.file),
            total: said.keep_total.unwrap_or(usual.limits.total),
        },
        keeper,
        strict: said.strict,
        program: said.bash.clone(),
        timeout: said.timeout.unwrap_or(usual.timeout),
        max_timeout: said.max_timeout.unwrap_or(usual.max_timeout),
        preview: match said.preview.as_deref() {
            Some("harm") => PreviewWhen::Harm,
            Some("always") => PreviewWhen::Always,
            _ => PreviewWhen::Never,
        },
        check: said.check.clone(),
    }
}
