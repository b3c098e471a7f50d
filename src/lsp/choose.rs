//! The servers that are known, and the choice of one for a file.

use std::path::{Path, PathBuf};

use globset::GlobBuilder;
use serde_json::{Value, json};

use crate::config::{LspConfig, LspServerConfig, Variables};

/// A server that is known without a configuration.
struct Known {
    name: &'static str,
    /// The program and its arguments.
    command: &'static [&'static str],
    globs: &'static [&'static str],
    /// The file beside which it is started: the nearest above the file in question; else in the workspace's root.
    root: Option<&'static str>,
}

const TYPESCRIPT: &[&str] = &["*.ts", "*.tsx", "*.mts", "*.cts"];
const PYTHON: &[&str] = &["*.py", "*.pyi"];

/// The first of a language that is on the PATH is used.
const KNOWN: &[Known] = &[
    Known { name: "rust-analyzer", command: &["rust-analyzer"], globs: &["*.rs"], root: Some("Cargo.toml") },
    Known { name: "gopls", command: &["gopls"], globs: &["*.go"], root: Some("go.mod") },
    Known { name: "basedpyright", command: &["basedpyright-langserver", "--stdio"], globs: PYTHON, root: None },
    Known { name: "pyright", command: &["pyright-langserver", "--stdio"], globs: PYTHON, root: None },
    Known {
        name: TYPESCRIPT_SERVER,
        command: &["typescript-language-server", "--stdio"],
        globs: TYPESCRIPT,
        root: None,
    },
];

/// The name of the one that tells when it rests.
const TELLS_REST: &str = "rust-analyzer";
/// The name of the one that answers for the open files alone, by a second process, while it loads the project.
const TYPESCRIPT_SERVER: &str = "typescript-language-server";

/// A server, ready to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanguageServer {
    /// Its name, as the configuration has it.
    pub name: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// True if it says itself when it has no work left.
    pub(super) tells_rest: bool,
    root: Option<&'static str>,
}

impl LanguageServer {
    /// Returns the folder that it is started in for a file.
    pub(super) fn root_of(&self, workspace: &Path, path: &str) -> PathBuf {
        let folders = Path::new(path).ancestors().skip(1).map(|folder| workspace.join(folder));
        let mut beside = folders.filter(|folder| self.root.is_some_and(|name| folder.join(name).is_file()));
        beside.next().unwrap_or_else(|| workspace.to_path_buf())
    }

    /// Returns its own options: what a rename has no use for is off.
    pub(super) fn options(&self) -> Value {
        match self.name.as_str() {
            TELLS_REST => json!({"checkOnSave": false, "cachePriming": {"enable": false}}),
            TYPESCRIPT_SERVER => json!({"tsserver": {"useSyntaxServer": "never"}}),
            _ => json!({}),
        }
    }
}

/// Chooses the server for a file: one that the configuration names, else, unless `named`, one that is known. Of the PATH a
/// folder that depends on the current one is passed over. Nothing is started.
pub fn choose(config: &LspConfig, path: &str, env: &Variables, named: bool) -> Option<LanguageServer> {
    if config.off {
        return None;
    }
    let of_config = config.servers.iter().filter(|(_, set)| set.enabled).map(|(name, set)| (name.as_str(), Some(set)));
    let known = KNOWN.iter().filter(|known| !named && !config.servers.contains_key(known.name));
    let all = of_config.chain(known.map(|known| (known.name, None)));
    all.filter_map(|(name, set)| server(name, set, path, env)).next()
}

/// Returns a server of a name, if it is for a file and its program is there.
fn server(name: &str, set: Option<&LspServerConfig>, path: &str, env: &Variables) -> Option<LanguageServer> {
    let known = KNOWN.iter().find(|known| known.name == name);
    let words = |of: &[&str]| of.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    let own = |list: fn(&LspServerConfig) -> &Vec<String>| set.map(list).filter(|list| !list.is_empty()).cloned();
    let globs = own(|set| &set.globs).or_else(|| known.map(|known| words(known.globs)))?;
    let command = own(|set| &set.command).or_else(|| known.map(|known| words(known.command)))?;
    let is_for = |glob: &String| {
        let glob = GlobBuilder::new(glob).build();
        glob.is_ok_and(|glob| glob.compile_matcher().is_match(path))
    };
    let (program, arguments) = command.split_first()?;
    let server = LanguageServer {
        name: name.to_owned(),
        program: found(program, env)?,
        arguments: arguments.to_vec(),
        tells_rest: name == TELLS_REST,
        root: known.and_then(|known| known.root),
    };
    globs.iter().any(is_for).then_some(server)
}

/// Returns where a program is: at its absolute path, or in a folder of the PATH.
fn found(program: &str, env: &Variables) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let is_program = |file: &PathBuf| {
        file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
            && !is_without_toolchain(file, env)
    };
    let path = Path::new(program);
    if program.contains('/') {
        return Some(path.to_path_buf()).filter(|path| path.is_absolute() && is_program(path));
    }
    let search = env.get("PATH").unwrap_or_default();
    let folders = std::env::split_paths(search).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(program)).find(is_program)
}

/// Returns whether a program is a link to `rustup`, which starts the one of this name that a toolchain has, and none has it.
fn is_without_toolchain(program: &Path, env: &Variables) -> bool {
    use std::os::unix::fs::MetadataExt;
    let file = |path: &Path| path.metadata().ok().map(|meta| (meta.dev(), meta.ino()));
    let rustup = program.with_file_name("rustup");
    let Some(name) = program.file_name().filter(|_| file(&rustup).is_some() && file(&rustup) == file(program)) else {
        return false;
    };
    let own = env.get("RUSTUP_HOME").map(PathBuf::from);
    let home = own.or_else(|| env.get("HOME").map(|home| Path::new(home).join(".rustup")));
    let toolchains = home.and_then(|home| home.join("toolchains").read_dir().ok());
    let mut all = toolchains.into_iter().flatten().flatten();
    !all.any(|toolchain| toolchain.path().join("bin").join(name).is_file())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn set(command: &[&str], globs: &[&str]) -> LspServerConfig {
        let words = |of: &[&str]| of.iter().map(|word| (*word).to_owned()).collect();
        LspServerConfig { command: words(command), globs: words(globs), enabled: true }
    }

    fn config(servers: &[(&str, LspServerConfig)]) -> LspConfig {
        let servers = servers.iter().map(|(name, set)| ((*name).to_owned(), set.clone()));
        LspConfig { off: false, servers: servers.collect::<BTreeMap<_, _>>() }
    }

    #[test]
    fn a_configured_server_goes_before_those_on_the_path() {
        let dir = tempfile::tempdir().expect("a folder");
        for (name, mode) in [("gopls", 0o755), ("pyright-langserver", 0o755), ("mine", 0o755), ("rust-analyzer", 0o644)]
        {
            fs::write(dir.path().join(name), "").expect("written");
            fs::set_permissions(dir.path().join(name), fs::Permissions::from_mode(mode)).expect("set");
        }
        let here = dir.path().to_str().expect("text");
        let env = Variables::from_iter([("PATH", format!("relative:/nowhere:{here}"))]);
        let name = |config: &LspConfig, path: &str, named: bool| choose(config, path, &env, named).map(|s| s.name);
        let none = LspConfig::default();
        assert_eq!(name(&none, "a/b.go", false).as_deref(), Some("gopls"));
        assert_eq!(name(&none, "a/b.py", false).as_deref(), Some("pyright"));
        // Not on the PATH, no program, no language of any.
        for path in ["a.ts", "a.rs", "a.txt"] {
            assert_eq!(name(&none, path, false), None, "{path}");
        }
        assert_eq!(name(&none, "a/b.go", true), None);
        let off = LspConfig { off: true, ..config(&[("gopls", set(&[], &[]))]) };
        assert_eq!(name(&off, "a/b.go", false), None);
        let named = config(&[("gopls", set(&[], &[])), ("own", set(&["mine", "-x"], &["*.py", "lib/*.ts"]))]);
        assert_eq!(name(&named, "a/b.go", true).as_deref(), Some("gopls"));
        let own = choose(&named, "a/b.py", &env, false).expect("a server");
        assert_eq!(
            (own.name.as_str(), own.program, own.arguments),
            ("own", dir.path().join("mine"), vec!["-x".into()])
        );
        assert_eq!(name(&named, "lib/b.ts", true).as_deref(), Some("own"));
        assert_eq!(name(&named, "b.ts", true), None);
        let off = config(&[("gopls", LspServerConfig { enabled: false, ..set(&[], &[]) })]);
        assert_eq!(name(&off, "a/b.go", false), None);
        // A program in the folder where one happens to be is none.
        for command in ["./mine", "sub/mine", "gone"] {
            assert_eq!(name(&config(&[("own", set(&[command], &["*.go"]))]), "a.go", true), None, "{command}");
        }
        assert_eq!(choose(&none, "a.go", &Variables::default(), false), None);
    }

    #[test]
    fn a_link_to_rustup_is_a_server_where_a_toolchain_has_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = |name: &str| dir.path().join(name);
        let program = |name: &str| {
            fs::create_dir_all(path(name).parent().expect("a folder")).expect("made");
            fs::write(path(name), "").expect("written");
            fs::set_permissions(path(name), fs::Permissions::from_mode(0o755)).expect("set");
        };
        program("cargo/rustup");
        program("later/rust-analyzer");
        program(".rustup/toolchains/stable/bin/rustc");
        std::os::unix::fs::symlink("rustup", path("cargo/rust-analyzer")).expect("linked");
        let (cargo, later, home) = (path("cargo"), path("later"), dir.path());
        let chosen = |search: String, rustup: &Path| {
            let pairs = [("PATH", search), ("HOME", home.display().to_string())];
            let rustup = Some(("RUSTUP_HOME", rustup.display().to_string())).filter(|(_, own)| !own.is_empty());
            let env = Variables::from_iter(pairs.into_iter().chain(rustup));
            choose(&LspConfig::default(), "a.rs", &env, false).map(|server| server.program)
        };
        let usual = Path::new("");
        assert_eq!(chosen(cargo.display().to_string(), usual), None);
        // One that is no link is found behind it.
        let both = format!("{}:{}", cargo.display(), later.display());
        assert_eq!(chosen(both, usual), Some(later.join("rust-analyzer")));
        program(".rustup/toolchains/nightly/bin/rust-analyzer");
        let link = Some(cargo.join("rust-analyzer"));
        assert_eq!(chosen(cargo.display().to_string(), usual), link);
        assert_eq!(chosen(cargo.display().to_string(), &path("other")), None);
        fs::rename(path(".rustup"), path("other")).expect("moved");
        assert_eq!(chosen(cargo.display().to_string(), &path("other")), link);
    }

    #[test]
    fn a_server_of_typescript_answers_for_the_whole_project() {
        let server = |name: &str| LanguageServer {
            name: name.to_owned(),
            program: PathBuf::new(),
            arguments: Vec::new(),
            tells_rest: false,
            root: None,
        };
        assert_eq!(server("typescript-language-server").options()["tsserver"]["useSyntaxServer"], "never");
        assert_eq!(server("pyright").options(), json!({}));
    }

    #[test]
    fn a_server_is_started_beside_the_nearest_project_file() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join("a/b/c")).expect("made");
        fs::write(dir.path().join("a/go.mod"), "").expect("written");
        let server = |root| LanguageServer {
            name: String::new(),
            program: PathBuf::new(),
            arguments: Vec::new(),
            tells_rest: false,
            root,
        };
        let of = |root, path: &str| server(root).root_of(dir.path(), path);
        assert_eq!(of(Some("go.mod"), "a/b/c/d.go"), dir.path().join("a"));
        assert_eq!(of(Some("go.mod"), "d.go"), dir.path());
        assert_eq!(of(None, "a/b/c/d.go"), dir.path());
    }
}
