//! Every call of git. Looking at a folder runs nothing that the folder names.
//!
//! What a repository's own configuration can name as a program, and what keeps it from being run:
//!
//! | what | kept out by |
//! |---|---|
//! | `core.fsmonitor`, hooks (`core.hooksPath`, `.git/hooks`) | set to nothing with `-c` |
//! | `filter.NAME.clean`, `.smudge`, `.process` (named in `.gitattributes`) | each one the configuration holds is set to nothing |
//! | `diff.external`, `diff.NAME.command`, `diff.NAME.textconv` | `--no-ext-diff --no-textconv` |
//! | a submodule's configuration | `--ignore-submodules=all --submodule=short` |
//! | `core.pager`, `pager.CMD` | `--no-pager`, and no terminal |
//! | `gpg.program` (`log.showSignature`, `commit.gpgSign`) | set to false; `--no-gpg-sign` |
//! | `core.sshCommand`, `remote.NAME.uploadpack`, `credential.helper`, `core.askPass`, `core.gitProxy`: a partial clone fetches what is missing | no protocol is allowed, no lazy fetch |
//! | `gc.recentObjectsHook`, `pre-auto-gc` | no automatic maintenance |
//! | a bare repository among the files | `safe.bareRepository=explicit`, and git starts beside a `.git` |
//! | `core.worktree` elsewhere | `GIT_WORK_TREE` |
//! | `GIT_*` of the environment | taken out, but for names, dates and the person's own files |
//! | a file that never ends (`core.excludesFile`, `.git/info/exclude` as a pipe) | a time limit |

mod blame;
pub mod index;
mod remote;

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

pub use blame::LineCommit;
pub use remote::Remote;

/// Bytes of git's output that are read at all.
const MAX_OUTPUT: u64 = 1 << 20;
/// Objects that are asked for at once.
const OBJECTS_AT_ONCE: usize = 10_000;
/// The most bytes of git's error output that are read.
const MAX_COMPLAINT: u64 = 64 << 10;
/// The pause between checks whether a git that has closed its output has ended.
const PAUSE: Duration = Duration::from_millis(1);

/// Settings that every call is made with, before those that belong to a filter.
const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "safe.bareRepository=explicit",
    "protocol.allow=never",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
    // Names are read by a person and a model, not by a program.
    "core.quotePath=false",
];

/// Variables of git's own that stay: who commits, where the person's own configuration is, which index is in use.
const STAYS: &[&str] = &[
    "GIT_AUTHOR_",
    "GIT_COMMITTER_",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_EXEC_PATH",
    "GIT_INDEX_FILE",
];

/// The reason why git did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The folder is in no repository.
    #[error("this folder is in no git repository: `git init` makes it one")]
    NoRepository,
    /// It took too long, as with a file that never ends.
    #[error("git did not answer within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    /// Git did not do it, or is not there.
    #[error("git: {0}")]
    Failed(String),
}

impl Error {
    /// Names the limit of the whole where a part of it ran out.
    fn of_limit(self, limit: Duration) -> Error {
        match self {
            Error::TimedOut(_) => Error::TimedOut(limit),
            error => error,
        }
    }
}

/// Files that git does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untracked {
    /// Each file, and whether it is ignored.
    pub files: Vec<(String, bool)>,
    /// True if the list is complete.
    pub whole: bool,
}

/// The trust in a repository: whether programs that it names may be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Nothing of it is run.
    Nothing,
    /// Hooks, filters and signing, as git does by itself.
    Folder,
}

/// The repository that a folder lies in.
#[derive(Debug, Clone)]
pub struct Repository {
    /// The folder that holds `.git`.
    top: PathBuf,
    program: PathBuf,
}

/// The time that git has to say which of a few files it tracks.
const UNTRACKED_LIMIT: Duration = Duration::from_secs(5);

/// Returns those of these files of a folder that git does not track: all where there is no repository, none where git
/// does not answer in time.
pub fn untracked_of(folder: &Path, files: &[PathBuf]) -> Vec<PathBuf> {
    let real = |path: &Path| Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    // Nothing of a repository's own folder is tracked.
    let is_own = folder.components().any(|part| part.as_os_str() == ".git");
    let Some(repository) = Repository::find(folder).ok().filter(|_| !is_own) else { return files.to_vec() };
    let Ok(untracked) = repository.not_tracked(files, UNTRACKED_LIMIT) else { return Vec::new() };
    let found: Vec<_> = untracked.files.iter().filter_map(|(path, _)| real(&repository.top.join(path))).collect();
    files.iter().filter(|file| real(file).is_some_and(|file| found.contains(&file))).cloned().collect()
}

/// Returns a message without characters that act on the terminal of whoever reads the log.
fn plain(message: &str) -> String {
    message.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

impl Repository {
    /// Returns the repository around a folder: that of the nearest `.git`.
    ///
    /// # Errors
    /// When there is none, or no git.
    pub fn find(folder: &Path) -> Result<Repository, Error> {
        let has_git = |f: &&Path| f.join(".git").symlink_metadata().is_ok();
        let top = folder.ancestors().find(has_git).ok_or(Error::NoRepository)?.to_path_buf();
        Ok(Repository { top, program: program()? })
    }

    /// Returns the folder that holds `.git`.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// Returns what differs from the last commit, as `git status --porcelain` prints it.
    ///
    /// # Errors
    /// When git fails or takes longer.
    pub fn status(&self, limit: Duration) -> Result<String, Error> {
        self.read(&["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=all"], limit)
    }

    /// Returns the diff of what is staged, its beginning where it is very long.
    ///
    /// # Errors
    /// When git fails or takes longer.
    pub fn staged_diff(&self, limit: Duration) -> Result<String, Error> {
        self.diff(&[], limit)
    }

    /// Returns the staged files with their counts, `most` at most.
    ///
    /// # Errors
    /// When git fails or takes longer.
    pub fn staged_counts(&self, most: usize, limit: Duration) -> Result<String, Error> {
        self.diff(&["--stat=100", &format!("--stat-count={most}")], limit)
    }

    fn diff(&self, more: &[&str], limit: Duration) -> Result<String, Error> {
        let fixed = [
            "diff",
            "--cached",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--submodule=short",
            "--ignore-submodules=all",
        ];
        self.read(&[&fixed, more].concat(), limit)
    }

    /// Returns the first lines of the newest messages, newest first.
    ///
    /// # Errors
    /// When git fails or takes longer, or nothing was ever committed.
    pub fn recent_subjects(&self, most: usize, limit: Duration) -> Result<Vec<String>, Error> {
        let count = format!("-{most}");
        let said = self.read(&["log", &count, "--format=%s", "--no-color", "--no-ext-diff", "--no-textconv"], limit)?;
        Ok(said.lines().map(str::to_string).collect())
    }

    /// Returns the files at and below these absolute paths that git does not have. Paths outside the repository are
    /// passed over.
    ///
    /// # Errors
    /// When git does not answer in time.
    pub fn not_tracked(&self, paths: &[PathBuf], limit: Duration) -> Result<Untracked, Error> {
        let paths: Vec<String> = paths.iter().filter_map(|path| self.inside(path)).collect();
        if paths.is_empty() {
            return Ok(Untracked { files: Vec::new(), whole: true });
        }
        let ask = |options: &[&str]| {
            let mut arguments = vec!["--literal-pathspecs", "ls-files", "-z", "--full-name", "--others"];
            arguments.extend(options.iter().copied().chain(["--"]).chain(paths.iter().map(String::as_str)));
            self.read(&arguments, limit)
        };
        let (all, ignored) = (ask(&[])?, ask(&["--ignored", "--exclude-standard"])?);
        // Of an output that is too long the last path is cut.
        let whole = all.len() as u64 != MAX_OUTPUT;
        let all = if whole { all.as_str() } else { all.rsplit_once('\0').map_or("", |(all, _)| all) };
        let ignored: std::collections::BTreeSet<&str> = ignored.split('\0').collect();
        let files = all.split('\0').filter(|path| !path.is_empty());
        let files = files.map(|path| (path.to_string(), ignored.contains(path))).collect();
        Ok(Untracked { files, whole })
    }

    /// Returns a path as git takes it, without links and `..` before its name; none: it lies outside the repository.
    fn inside(&self, path: &Path) -> Option<String> {
        let real = path.parent()?.canonicalize().ok()?.join(path.file_name()?);
        let top = self.top.canonicalize().ok()?;
        real.starts_with(top).then(|| real.to_string_lossy().into_owned())
    }

    /// Returns those of these objects that the repository does not have.
    ///
    /// # Errors
    /// When git fails or takes longer.
    pub fn missing(&self, objects: &[String], limit: Duration) -> Result<Vec<String>, Error> {
        let end = Instant::now() + limit;
        let mut missing = Vec::new();
        // Git answers with a line for each object, and no more than `MAX_OUTPUT` of it is read.
        for some in objects.chunks(OBJECTS_AT_ONCE) {
            let left = end.saturating_duration_since(Instant::now());
            missing.extend(self.missing_of(some, left).map_err(|error| error.of_limit(limit))?);
        }
        Ok(missing)
    }

    fn missing_of(&self, objects: &[String], limit: Duration) -> Result<Vec<String>, Error> {
        let mut command = self.guarded(limit)?;
        let mut child = command.args(["cat-file", "--batch-check"]).stdin(Stdio::piped()).spawn().map_err(not_run)?;
        if let Some(mut stdin) = child.stdin.take() {
            let lines: Vec<u8> = objects.iter().flat_map(|object| format!("{object}\n").into_bytes()).collect();
            // Written by a thread of its own: git's output may fill its pipe before it has read all input.
            std::thread::spawn(move || drop(stdin.write_all(&lines)));
        }
        let output = limited(child, limit)?;
        match output.status.success() {
            true => {
                let said = String::from_utf8_lossy(&output.stdout).into_owned();
                Ok(said.lines().filter_map(|line| line.strip_suffix(" missing")).map(str::to_string).collect())
            }
            false => {
                let error = String::from_utf8_lossy(&output.stderr).trim().to_string();
                let first = error.lines().next().unwrap_or("it failed without a message");
                Err(Error::Failed(first.to_string()))
            }
        }
    }

    /// Commits what is staged; what git said of it, in one line. In a trusted folder the repository's hooks and
    /// filters run and commits are signed as it says; else nothing of it is run.
    ///
    /// # Errors
    /// The words of git, or of a hook, when it refused.
    pub fn commit(&self, message: &str, trust: Trust) -> Result<String, Error> {
        let mut command = match trust {
            Trust::Folder => {
                let mut command = self.command();
                command.args(["commit", "--file=-"]);
                command
            }
            Trust::Nothing => {
                let mut command = self.guarded(COMMIT_LIMIT)?;
                command.args(["commit", "--file=-", "--no-gpg-sign", "--no-verify"]);
                command
            }
        };
        let mut child = command.stdin(Stdio::piped()).spawn().map_err(not_run)?;
        if let Some(mut stdin) = child.stdin.take() {
            // A git that ended early reports why on its standard error.
            let _ = stdin.write_all(plain(message).as_bytes());
        }
        let output = match trust {
            // A hook may take as long as it likes.
            Trust::Folder => child.wait_with_output().map_err(not_run)?,
            Trust::Nothing => limited(child, COMMIT_LIMIT)?,
        };
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_string();
        if output.status.success() {
            return Ok(said(&output.stdout).lines().next().unwrap_or("committed").to_string());
        }
        let (error, out) = (said(&output.stderr), said(&output.stdout));
        Err(Error::Failed(if error.is_empty() { out } else { error }))
    }

    /// Returns whether the repository has hooks that a commit would run.
    pub fn has_commit_hooks(&self) -> bool {
        // Asked without the settings that name no folder for hooks. It runs nothing.
        let mut command = self.command();
        let child = command.args(["rev-parse", "--git-path", "hooks"]).spawn();
        let Some(output) = child.ok().and_then(|child| limited(child, HOOKS_LIMIT).ok()) else { return false };
        let folder = self.top.join(String::from_utf8_lossy(&output.stdout).trim_end_matches('\n'));
        COMMIT_HOOKS.iter().any(|hook| folder.join(hook).exists())
    }

    /// Returns what a subcommand that only reads prints, without running anything that the repository names.
    fn read(&self, arguments: &[&str], limit: Duration) -> Result<String, Error> {
        let begun = Instant::now();
        let mut command = self.guarded(limit)?;
        let child = command.args(arguments).spawn().map_err(not_run)?;
        let left = limit.saturating_sub(begun.elapsed());
        let output = limited(child, left).map_err(|error| error.of_limit(limit))?;
        // The rest of a longer output is not read, and git ends when its output is closed.
        if output.status.success() || output.stdout.len() as u64 == MAX_OUTPUT {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        if said.contains("not a git repository") {
            return Err(Error::NoRepository);
        }
        Err(Error::Failed(said.lines().next().unwrap_or("it failed without a message").to_string()))
    }

    /// Returns a command that runs nothing of the repository; the subcommand follows.
    fn guarded(&self, limit: Duration) -> Result<Command, Error> {
        let mut command = self.with_settings();
        for name in self.filters(limit)? {
            for (key, value) in [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")] {
                command.arg("-c").arg(format!("filter.{name}.{key}={value}"));
            }
        }
        Ok(command)
    }

    /// Returns the names of the filters that the configuration holds.
    fn filters(&self, limit: Duration) -> Result<Vec<String>, Error> {
        let mut command = self.with_settings();
        let child = command.args(["config", "--null", "--name-only", "--get-regexp", r"^filter\..*"]);
        let output = limited(child.spawn().map_err(not_run)?, limit)?;
        // 1: there are none.
        if !output.status.success() && output.status.code() != Some(1) {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(Error::Failed(said.lines().next().unwrap_or("its configuration cannot be read").to_string()));
        }
        let mut names = Vec::new();
        for key in output.stdout.split(|b| *b == 0) {
            let key = String::from_utf8(key.to_vec()).map_err(|_| unusable_filter())?;
            let Some((name, _)) = key.strip_prefix("filter.").and_then(|k| k.rsplit_once('.')) else { continue };
            // Such a name cannot be set to nothing with `-c`.
            if name.contains('=') {
                return Err(unusable_filter());
            }
            if !names.iter().any(|n| n == name) {
                names.push(name.to_string());
            }
        }
        if output.stdout.len() as u64 == MAX_OUTPUT { Err(unusable_filter()) } else { Ok(names) }
    }

    fn with_settings(&self) -> Command {
        let mut command = self.command();
        command.arg("--no-pager");
        for setting in SETTINGS {
            command.arg("-c").arg(setting);
        }
        command.env("GIT_WORK_TREE", &self.top).env("GIT_ALLOW_PROTOCOL", "").env("GIT_NO_LAZY_FETCH", "1");
        command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
        command
    }

    /// Returns a command as the person would type it in that folder, without what the environment says of other
    /// repositories.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.top).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for (name, _) in std::env::vars_os() {
            let stays = |name: &str| STAYS.iter().any(|s| name.starts_with(s));
            if name.to_str().is_some_and(|n| n.starts_with("GIT_") && !stays(n)) {
                command.env_remove(name);
            }
        }
        command
    }
}

/// The time limit for a commit without hooks.
const COMMIT_LIMIT: Duration = Duration::from_secs(60);
/// The time limit for looking for hooks.
const HOOKS_LIMIT: Duration = Duration::from_secs(2);
/// The hooks of `git commit`.
const COMMIT_HOOKS: &[&str] = &["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"];

fn not_run(why: std::io::Error) -> Error {
    Error::Failed(format!("cannot be run: {why}"))
}

fn unusable_filter() -> Error {
    Error::Failed("the repository names filters in a way that cannot be switched off: see `git config -l`".into())
}

/// Returns where git is: in a folder of `PATH` that does not depend on the current one, which is not ours.
fn program() -> Result<PathBuf, Error> {
    let path: OsString = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).filter(|f| f.is_absolute()).map(|f| f.join("git"));
    places.find(|p| p.is_file()).ok_or_else(|| Error::Failed("there is none on the PATH".into()))
}

/// Returns what a command prints until it ends, the beginning of each; it is ended when the time is over.
fn limited(mut child: Child, limit: Duration) -> Result<Output, Error> {
    let end = Instant::now() + limit;
    let (out, err) = (collect(child.stdout.take(), MAX_OUTPUT), collect(child.stderr.take(), MAX_COMPLAINT));
    let left = || end.saturating_duration_since(Instant::now());
    let printed = out.recv_timeout(left()).and_then(|out| Ok((out, err.recv_timeout(left())?)));
    let ended = printed.ok().and_then(|printed| {
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Some((status, printed)),
                // Its outputs are closed, so it ends in a moment; a child cannot be waited for with a limit of time.
                Ok(None) if left() > Duration::ZERO => std::thread::sleep(PAUSE),
                _ => return None,
            }
        }
    });
    match ended {
        Some((status, (stdout, stderr))) => Ok(Output { status, stdout, stderr }),
        None => {
            // Gone already, then.
            let _ = child.kill();
            let _ = child.wait();
            Err(Error::TimedOut(limit))
        }
    }
}

/// Reads a stream to its end or cap, in a thread of its own.
fn collect(stream: Option<impl Read + Send + 'static>, cap: u64) -> mpsc::Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(stream) = stream {
            // What was read before an error counts.
            let _ = stream.take(cap).read_to_end(&mut bytes);
        }
        // Nobody waits any more when the time is over.
        let _ = send.send(bytes);
    });
    receive
}

#[cfg(test)]
mod tests;
