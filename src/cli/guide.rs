//! `nebula guide`: the pages of `assets/guide`, which say what the README leaves out.

use anyhow::Result;

use super::out;
use super::print::UsageError;

/// A page: its name, what it says, and its text.
type Page = (&'static str, &'static str, &'static str);

macro_rules! pages {
    ($($name:literal: $says:literal),* $(,)?) => {
        &[$(($name, $says, include_str!(concat!("../../assets/guide/", $name, ".md")))),*]
    };
}

/// The pages, in the order in which they are listed.
const PAGES: &[Page] = pages! {
    "models": "providers, wires, keys, a model inside",
    "keys": "every key",
    "commands": "every command of nebula and strand, its flags and exit codes",
    "shell": "commands of the model: classes, rules, sandbox, what is archived, previews",
    "history": "merging, timeline, blame",
    "edits": "the formats in which models write edits, and how their place is found",
    "prompts": "mentions, rules, prompts and templates of yours",
    "agents": "hooks and tools for other agents",
    "code": "definitions of source files, the graph",
    "configuration": "every key of the configuration",
    "contributing": "how nebula is built, and where to add what",
};

/// Prints the page `topic`, or what pages there are.
///
/// # Errors
/// When there is no such page, or the output takes no more.
pub fn run(topic: Option<&str>) -> Result<()> {
    let Some(topic) = topic else {
        out::say("nebula guide TOPIC prints one of:")?;
        for (name, says, _) in PAGES {
            out::say(format_args!("  {name:<14} {says}"))?;
        }
        return Ok(());
    };
    match PAGES.iter().find(|(name, _, _)| *name == topic) {
        Some((_, _, text)) => {
            out::say(text.trim_end())?;
            // The names of contexts and actions stand nowhere else.
            if topic == "keys" {
                out::say(format_args!("\n```toml\n{}```", include_str!("../../assets/keys.toml")))?;
            }
            Ok(())
        }
        None => {
            let names: Vec<&str> = PAGES.iter().map(|(name, _, _)| *name).collect();
            Err(UsageError::new(format!("there is no topic {topic:?}: there are {}", names.join(", "))).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    #[test]
    fn each_file_is_a_page_that_the_readme_links() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let files: BTreeSet<String> = fs::read_dir(root.join("assets/guide"))
            .expect("the pages")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        let listed: BTreeSet<String> = PAGES.iter().map(|(name, _, _)| format!("{name}.md")).collect();
        assert_eq!(files, listed);
        let readme = fs::read_to_string(root.join("README.md")).expect("README.md");
        for (name, says, _) in PAGES {
            let row = format!("| [{name}](assets/guide/{name}.md) | {says} |");
            assert!(readme.replace('`', "").contains(&row), "README has no row {row}");
        }
    }
}
