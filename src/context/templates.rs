//! The system prompt: a template joined with what is true now, each part with where it comes from.
//!
//! A template is Markdown with `{{name}}` where something is put in. The shipped ones are compiled in; a file of the
//! same name in the workspace's `.nebula/` or in nebula's own folder replaces one. `{{format}}`, `{{rules}}` and
//! `{{context}}` stand for whole parts; where a template leaves one out, it follows at the end, so that no template of
//! one's own can lose the edit format. The order keeps what changes most last, so that providers can reuse the
//! beginning.

use std::io;
use std::path::{Path, PathBuf};

use super::environment::PromptEnvironment;
use super::rules::ActiveRule;
use crate::disk::{self, Links};
use crate::edit::Format;
use crate::workspace::Workspace;

/// The templates that come with nebula, by file name, beside the prompts of the edit formats.
const SHIPPED: &[(&str, &str)] = &[
    ("agent.md", include_str!("../../assets/prompts/agent.md")),
    ("plan.md", include_str!("../../assets/prompts/plan.md")),
    ("agent-small.md", include_str!("../../assets/prompts/agent-small.md")),
    ("plan-small.md", include_str!("../../assets/prompts/plan-small.md")),
    ("summarise.md", include_str!("../../assets/prompts/summarise.md")),
    ("commit.md", include_str!("../../assets/prompts/commit.md")),
];

/// Returns all templates that come with nebula: those above, and for each edit format `format-NAME.md` and perhaps
/// `format-NAME-small.md`.
fn shipped() -> impl Iterator<Item = (String, &'static str)> {
    let formats = Format::ALL.into_iter().flat_map(|format| {
        let small = format.small_prompt().map(|text| (format!("format-{}-small.md", format.name()), text));
        [Some((format!("format-{}.md", format.name()), format.prompt())), small]
    });
    SHIPPED.iter().map(|(name, text)| (name.to_string(), *text)).chain(formats.flatten())
}

/// The suffix of a shipped template's name in its origin.
const BUILT_IN: &str = " (built in)";

/// The longest template that is read from disk, in bytes.
const MAX_TEMPLATE: u64 = 256 << 10;

/// A part of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptPart {
    /// Its origin: `agent.md (built in)`, a path.
    pub origin: String,
    /// The reason why it is part of the prompt: `mode agent`, `matches *.rs (src/a.rs)`.
    pub reason: String,
    /// The text.
    pub text: String,
}

/// Returns the text of a prompt made of parts.
pub fn joined(parts: &[PromptPart]) -> String {
    parts.iter().map(|p| p.text.as_str()).collect::<Vec<_>>().join("\n\n")
}

/// The folders in which templates are looked for, first match wins: the workspace's `.nebula/`, nebula's own folder,
/// the shipped ones.
#[derive(Debug, Clone, Default)]
pub struct Templates {
    workspace: Option<Workspace>,
    home: Option<PathBuf>,
}

/// A template and where it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// `agent.md (built in)`, or the path of the file that replaces it.
    pub origin: String,
    /// Its text.
    pub text: String,
}

impl Templates {
    /// Creates the templates of a workspace and a person; `home` is nebula's own folder, if there is one.
    pub fn new(workspace: &Workspace, home: Option<&Path>) -> Self {
        Templates { workspace: Some(workspace.clone()), home: home.map(Path::to_path_buf) }
    }

    /// Returns the template of that file name; `None` where nothing of the name exists. A replacement that is refused,
    /// see [`Templates::complaints`], or is empty does not count.
    pub fn get(&self, name: &str) -> Option<Template> {
        let own = self.in_workspace(name).ok().flatten().or_else(|| self.in_home(name).ok().flatten());
        own.or_else(|| {
            let (name, text) = shipped().find(|(n, _)| n == name)?;
            Some(Template { origin: format!("{name}{BUILT_IN}"), text: text.to_string() })
        })
    }

    /// Returns the template of this name for a model of this size. One of the person's own counts for every size.
    fn sized(&self, name: &str, small: bool) -> Option<Template> {
        let usual = self.get(&format!("{name}.md"));
        let own = usual.as_ref().is_some_and(|t| !t.origin.ends_with(BUILT_IN));
        match small && !own {
            true => self.get(&format!("{name}-small.md")).or(usual),
            false => usual,
        }
    }

    /// Returns replacements that are not used, in one line each.
    pub fn complaints(&self) -> Vec<String> {
        let names = shipped().map(|(name, _)| name);
        names.flat_map(|name| [self.in_workspace(&name).err(), self.in_home(&name).err()]).flatten().collect()
    }

    fn in_workspace(&self, name: &str) -> Result<Option<Template>, String> {
        let Some(workspace) = &self.workspace else { return Ok(None) };
        let origin = format!(".nebula/{name}");
        let text = workspace.read_own(&origin, MAX_TEMPLATE)?;
        Ok(text.filter(|text| !text.trim().is_empty()).map(|text| Template { origin, text }))
    }

    fn in_home(&self, name: &str) -> Result<Option<Template>, String> {
        let Some(path) = self.home.as_ref().map(|home| home.join(name)) else { return Ok(None) };
        let origin = path.display().to_string();
        match disk::read_text(&path, MAX_TEMPLATE, Links::Follow) {
            Ok(text) => Ok((!text.trim().is_empty()).then_some(Template { origin, text })),
            Err(why) if matches!(why.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
            Err(why) => Err(format!("{origin}: {why}")),
        }
    }
}

/// The inputs of the system prompt.
#[derive(Debug, Clone)]
pub struct PromptInputs<'a> {
    /// `plan` or `agent`: the name of the template.
    pub mode: &'a str,
    /// The edit format's name; of no matter in plan mode.
    pub format: &'a str,
    /// The model or its context window is small: the short prompts are taken.
    pub small: bool,
    /// The description of the tools that are called in text; empty: the model is offered them by the request.
    pub calls: &'a str,
    /// The requested language; `None`: the person's own.
    pub language: Option<&'a str>,
    /// Rules that apply.
    pub rules: &'a [ActiveRule],
    /// The present environment.
    pub live: &'a PromptEnvironment,
}

/// Returns the system prompt in parts, in their order.
pub fn system(templates: &Templates, setting: &PromptInputs<'_>) -> Vec<PromptPart> {
    let main = templates.sized(setting.mode, setting.small).or_else(|| templates.get("agent.md"));
    let main = main.unwrap_or(Template { origin: String::new(), text: String::new() });
    let mut parts = Vec::new();
    let mut missing: Vec<&str> = vec!["format", "rules", "context"];
    let reason = format!("mode {}", setting.mode);
    let text = |parts: &mut Vec<PromptPart>, piece: &str| {
        let piece = fill(piece, setting);
        if !piece.trim().is_empty() {
            parts.push(PromptPart {
                origin: main.origin.clone(),
                reason: reason.clone(),
                text: piece.trim().to_string(),
            });
        }
    };
    let mut rest = main.text.as_str();
    while let Some((at, name)) = missing.iter().filter_map(|n| Some((rest.find(&mark(n))?, *n))).min() {
        text(&mut parts, &rest[..at]);
        parts.extend(inserted(name, templates, setting));
        missing.retain(|n| *n != name);
        rest = &rest[at + mark(name).len()..];
    }
    text(&mut parts, rest);
    for name in missing {
        parts.extend(inserted(name, templates, setting));
    }
    parts
}

/// Returns a template with values put in place of their names; names without a value stay.
pub fn filled(template: &str, values: &[(&str, &str)]) -> String {
    // One pass from left to right, so that nothing inside a value is taken for a name.
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find("{{") {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let value = values.iter().find(|(name, _)| rest[2..].starts_with(&format!("{name}}}}}")));
        match value {
            Some((name, value)) => {
                out.push_str(value);
                rest = &rest[name.len() + 4..];
            }
            None => {
                out.push_str("{{");
                rest = &rest[2..];
            }
        }
    }
    out + rest
}

fn mark(name: &str) -> String {
    format!("{{{{{name}}}}}")
}

/// Returns the single facts a template of one's own may name.
fn fill(piece: &str, setting: &PromptInputs<'_>) -> String {
    let live = setting.live;
    filled(
        piece,
        &[
            ("mode", setting.mode),
            ("language", setting.language.unwrap_or("the one you are spoken to in")),
            ("platform", &live.platform),
            ("date", &live.date),
            ("workspace", &live.workspace),
            ("tree", &live.tree),
            ("languages", &live.languages),
            ("git", live.git.as_deref().unwrap_or("none")),
        ],
    )
}

/// Returns the parts that stand for one of the three names.
fn inserted(name: &str, templates: &Templates, setting: &PromptInputs<'_>) -> Vec<PromptPart> {
    match name {
        // A plan has no edits, but may need the calls that are written as text.
        "format" => Some(format!("format-{}", setting.format))
            .filter(|_| setting.mode != "plan")
            .and_then(|name| templates.sized(&name, setting.small))
            .map(|t| PromptPart {
                origin: t.origin,
                reason: format!("edit format {}", setting.format),
                text: t.text.trim().to_string(),
            })
            .into_iter()
            .chain((!setting.calls.is_empty()).then(|| PromptPart {
                origin: "tools".into(),
                reason: "this model writes calls as text".into(),
                text: setting.calls.to_string(),
            }))
            .collect(),
        "rules" => setting.rules.iter().map(rule).collect(),
        _ => vec![PromptPart { origin: "what is true now".into(), reason: "always".into(), text: context(setting) }],
    }
}

fn rule(rule: &ActiveRule) -> PromptPart {
    let text = format!("# Rules of this project, from {}\n\n{}", rule.path, rule.text.trim());
    PromptPart { origin: rule.path.clone(), reason: rule.reason.clone(), text }
}

fn context(setting: &PromptInputs<'_>) -> String {
    let live = setting.live;
    let mut out = String::from(if setting.small { "" } else { "# What is true now\n\n" });
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            out.push_str(&format!("- {name}: {value}\n"));
        }
    };
    // A small model is told no more than what its answers may need.
    if !setting.small {
        line("Workspace", &live.workspace);
        line("Platform", &live.platform);
    }
    if !setting.small {
        line("Date", &live.date);
        line("Mode", setting.mode);
    }
    if let Some(language) = setting.language {
        line("Language of answers", language);
    }
    if !setting.small {
        line("Languages", &live.languages);
    }
    line("Build files", &live.build);
    if !setting.small {
        line("Git", live.git.as_deref().unwrap_or("not a repository"));
    }
    if live.tree.is_empty() {
        out.push_str("\nThe folder is empty.");
    } else {
        // Small models copy the mark of the root into paths.
        let tree = live.tree.strip_prefix("./: ").filter(|_| setting.small).unwrap_or(&live.tree);
        out.push_str(&format!("\n{}:\n\n{tree}", live.tree_title));
    }
    out.trim().to_string()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::*;

    fn live() -> PromptEnvironment {
        PromptEnvironment {
            workspace: "/w".into(),
            tree_title: "Files".into(),
            tree: "a.rs {{git}}".into(),
            ..PromptEnvironment::default()
        }
    }

    fn origins(parts: &[PromptPart]) -> Vec<&str> {
        parts.iter().map(|p| p.origin.as_str()).collect()
    }

    #[test]
    fn parts_follow_the_template() {
        let dir = tempfile::tempdir().unwrap();
        let templates = Templates::new(&Workspace::open(dir.path()).unwrap(), None);
        let rules = [ActiveRule::new("AGENTS.md", "workspace", "Be kind.")];
        let live = live();
        let setting = PromptInputs {
            mode: "agent",
            format: "blocks",
            small: false,
            calls: "",
            language: None,
            rules: &rules,
            live: &live,
        };
        let parts = system(&templates, &setting);
        assert_eq!(
            origins(&parts),
            ["agent.md (built in)", "format-blocks.md (built in)", "AGENTS.md", "what is true now"]
        );
        let text = joined(&parts);
        assert!(text.contains("Be kind.") && text.contains("- Workspace: /w"));
        assert!(text.contains("a.rs {{git}}"), "values are not templates");

        let plan = system(&templates, &PromptInputs { mode: "plan", ..setting });
        assert_eq!(origins(&plan), ["plan.md (built in)", "AGENTS.md", "what is true now"]);
        assert!(["{{rules}}", "{{context}}", "{{format}}"].iter().all(|m| !joined(&plan).contains(m)));
    }

    #[test]
    fn a_file_of_the_same_name_replaces_a_template() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join(".nebula")).unwrap();
        fs::write(dir.path().join(".nebula/agent.md"), "In {{workspace}}, mode {{mode}}.").unwrap();
        fs::write(dir.path().join(".nebula/plan.md"), "  ").unwrap();
        let templates = Templates::new(&Workspace::open(dir.path()).unwrap(), None);
        let live = live();
        let setting = PromptInputs {
            mode: "agent",
            format: "tools",
            small: false,
            calls: "",
            language: Some("日本語"),
            rules: &[],
            live: &live,
        };
        let parts = system(&templates, &setting);
        assert_eq!(parts[0].text, "In /w, mode agent.");
        assert_eq!(parts[0].origin, ".nebula/agent.md");
        assert_eq!(parts.len(), 3, "format and context follow by themselves");
        assert!(joined(&parts).contains("Language of answers: 日本語"));
        assert_eq!(templates.get("plan.md").unwrap().origin, "plan.md (built in)");
        assert_eq!(templates.get("none.md"), None);
    }

    #[test]
    fn a_replacement_that_is_no_file_of_the_workspace_is_named_and_not_used() {
        let dir = tempfile::tempdir().unwrap();
        let (root, home) = (dir.path().join("w"), dir.path().join("home"));
        fs::create_dir_all(root.join(".nebula")).unwrap();
        fs::create_dir_all(&home).unwrap();
        fs::write(dir.path().join("secret"), "the secret").unwrap();
        symlink("../../secret", root.join(".nebula/agent.md")).unwrap();
        mkfifoat(CWD, root.join(".nebula/plan.md"), Mode::RUSR).unwrap();
        symlink("/dev/zero", home.join("commit.md")).unwrap();
        // A person may keep files of their own anywhere.
        symlink("../secret", home.join("summarise.md")).unwrap();
        let templates = Templates::new(&Workspace::open(&root).unwrap(), Some(&home));
        for name in ["agent.md", "plan.md", "commit.md"] {
            assert_eq!(templates.get(name).unwrap().origin, format!("{name} (built in)"));
        }
        assert_eq!(templates.get("summarise.md").unwrap().text, "the secret");
        let said = templates.complaints();
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said[0].starts_with(".nebula/agent.md lies outside the workspace"), "{said:?}");
        assert!(said[1].starts_with(".nebula/plan.md is a pipe"), "{said:?}");
        assert!(said[2].ends_with("commit.md: it is a device, not a regular file"), "{said:?}");
    }

    #[test]
    fn every_shipped_template_is_whole() {
        for (name, text) in shipped() {
            assert!(text.trim().len() > 20 && text.ends_with('\n'), "{name}");
        }
    }
}
