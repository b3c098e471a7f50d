//! Files whose content acts later without being read again by a person: instructions for a model, hooks and pipelines
//! that run, settings that a shell or an editor loads. No policy approves a change to one.

/// Folders whose whole content acts later, at any depth.
const FOLDERS: &[&str] =
    &[".nebula", ".agents", ".claude", ".git", ".husky", ".github", ".circleci", ".vscode", ".idea"];

/// Files that act later, in any folder.
const FILES: &[&str] = &[
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    ".mcp.json",
    ".gitattributes",
    ".gitmodules",
    ".gitconfig",
    ".pre-commit-config.yaml",
    ".gitlab-ci.yml",
    "Jenkinsfile",
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    "config.fish",
    ".envrc",
];

/// Files that act later in a folder of this name.
const FILES_IN: &[(&str, &str)] = &[(".cargo", "config.toml"), (".cargo", "config")];

/// Returns whether the file at a path acts later. Letters count in either case: on some disks `agents.md` is
/// `AGENTS.md`.
pub fn acts_later(path: &str) -> bool {
    let mut parts: Vec<&str> = path.split('/').collect();
    let Some(file) = parts.pop() else { return false };
    let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
    let folder = parts.last().copied().unwrap_or_default();
    // A file or link may also stand in the place of such a folder.
    parts.iter().chain([&file]).any(|part| FOLDERS.iter().any(|name| same(name, part)))
        || FILES.iter().any(|name| same(name, file))
        || FILES_IN.iter().any(|(within, name)| same(within, folder) && same(name, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_or_run_later_is_known_in_every_folder() {
        for path in [
            "AGENTS.md",
            "deep/er/AGENTS.md",
            "docs/agents.md",
            ".nebula/rules/a.md",
            "sub/.claude/settings.json",
            ".github/workflows/ci.yml",
            ".git/hooks/pre-commit",
            "vendor/x/.cargo/config.toml",
            ".CARGO/Config",
            "a/.envrc",
            "home/.bashrc",
            "ci/Jenkinsfile",
            "/outside/.vscode/tasks.json",
            "sub/.git",
        ] {
            assert!(acts_later(path), "{path}");
        }
        for path in ["src/main.rs", "AGENTS.md.txt", "config.toml", "nebula/a.md", "x/cargo/config.toml", ".gitignore"]
        {
            assert!(!acts_later(path), "{path}");
        }
    }
}
