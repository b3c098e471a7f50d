//! A ref of a remote repository as a place for files: fetched, read, and moved on only from where it was seen.
//!
//! It is reached from a bare repository of our own outside the workspace, so that nothing is run that the workspace's
//! repository or a folder in a clone configures: of these only the address of the remote is read.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use super::{Error, Repository, STAYS, not_run, program};
use crate::text::size;

/// The most bytes that the files of a commit may have: a hostile remote packs more into a few kilobytes.
const LARGEST: u64 = 1 << 30;

/// The time limit for reading the address of a remote.
const ADDRESS_LIMIT: Duration = Duration::from_secs(10);

/// The settings of every call: nothing beside the transport itself is run.
const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.ext.allow=never",
    "transfer.fsckObjects=true",
];

/// Additional settings of the git that serves a repository on this machine.
const SERVED: &[&str] = &["core.alternateRefsCommand=", "receive.autogc=false"];

/// A remote, and the bare repository that holds what was fetched of it.
#[derive(Debug, Clone)]
pub struct Remote {
    bare: PathBuf,
    url: OsString,
    program: PathBuf,
}

/// Returns whether a name is an address by itself.
fn is_address(name: &str) -> bool {
    name.contains('/') || name.contains(':')
}

impl Remote {
    /// Returns the remote that a name stands for in the repository around a folder, or that is named by its address.
    /// `bare` is made, for its owner alone, if it is not there; its configuration is obeyed.
    ///
    /// # Errors
    /// When there is no such remote, or no git.
    pub fn open(folder: &Path, name: &str, bare: &Path) -> Result<Remote, Error> {
        let said = |text: &str| Error::Failed(text.to_owned());
        if name.is_empty() || name.starts_with('-') {
            return Err(said("a remote is named by its name or its address"));
        }
        let url = if is_address(name) {
            name.to_owned()
        } else {
            let repository = Repository::find(folder)?;
            let configured = repository.read(&["config", "--get", &format!("remote.{name}.url")], ADDRESS_LIMIT);
            let url = configured.ok().map(|url| url.trim().to_owned()).filter(|url| !url.is_empty());
            let url =
                url.ok_or_else(|| Error::Failed(format!("there is no remote {name}: `git remote -v` lists them")))?;
            // A path is relative to the repository that names it.
            if is_path(&url) { repository.top().join(url).to_string_lossy().into_owned() } else { url }
        };
        if url.starts_with('-') {
            return Err(said("the remote's address begins with a dash"));
        }
        let url = if is_path(&url) { std::path::absolute(&url).map_err(not_run)?.into_os_string() } else { url.into() };
        let remote = Remote { bare: bare.to_path_buf(), url, program: program()? };
        if !bare.join("HEAD").exists() {
            let made = remote.plain().args(["init", "-q", "--bare", "--shared=0600", "--template="]).arg(bare).output();
            succeeded(made.map_err(not_run)?)?;
        }
        Ok(remote)
    }

    /// Returns what its address ends with, as a clone's folder is called unless its owner calls it otherwise; none: it ends
    /// with nothing.
    pub fn last_word(&self) -> Option<String> {
        let url = self.url.to_string_lossy();
        let url = url.trim_end_matches('/');
        let url = url.strip_suffix(".git").unwrap_or(url).trim_end_matches('/');
        url.rsplit(['/', ':']).next().filter(|word| !word.is_empty()).map(str::to_owned)
    }

    /// Fetches a ref. Returns the commit it points to; `None` if the remote has no such ref.
    ///
    /// # Errors
    /// When the remote cannot be reached.
    pub fn fetch(&self, reference: &str) -> Result<Option<String>, Error> {
        let fetched = format!("refs/fetched/{}", std::process::id());
        let refspec = format!("+{reference}:{fetched}");
        let mut command = self.command();
        command.args(["fetch", "-q", "--no-tags", "--no-write-fetch-head"]);
        command.args(self.serving("upload-pack")).arg(&self.url).arg(refspec);
        let output = command.output().map_err(not_run)?;
        if !output.status.success() && String::from_utf8_lossy(&output.stderr).contains("couldn't find remote ref") {
            return Ok(None);
        }
        succeeded(output)?;
        let commit = self.ask(&["rev-parse", "--verify", &format!("{fetched}^{{commit}}")])?;
        // It served to name what was fetched.
        self.ask(&["update-ref", "-d", &fetched])?;
        Ok(Some(text(&commit)))
    }

    /// Returns the files of a commit that was fetched, by name.
    ///
    /// # Errors
    /// When git cannot read them.
    pub fn files(&self, commit: &str) -> Result<BTreeMap<String, Vec<u8>>, Error> {
        self.files_within(commit, LARGEST)
    }

    /// Returns them if they have at most so many bytes together.
    pub(super) fn files_within(&self, commit: &str, most: u64) -> Result<BTreeMap<String, Vec<u8>>, Error> {
        let (mut files, mut left) = (BTreeMap::new(), most);
        for entry in
            self.ask(&["ls-tree", "-z", "-l", commit])?.split(|byte| *byte == 0).filter(|entry| !entry.is_empty())
        {
            let entry = String::from_utf8_lossy(entry);
            let Some((kind, name)) = entry.split_once('\t') else { continue };
            let mut parts = kind.split_ascii_whitespace().skip(1);
            if let (Some("blob"), Some(id), Some(size)) = (parts.next(), parts.next(), parts.next()) {
                let rest = size.parse().ok().and_then(|size| left.checked_sub(size));
                left = rest.ok_or_else(|| {
                    Error::Failed(format!("the files of the ref have more than {}: none is read", size::words(most)))
                })?;
                files.insert(name.to_owned(), self.ask(&["cat-file", "blob", id])?);
            }
        }
        Ok(files)
    }

    /// Makes a commit of files with a parent. Nothing is sent yet.
    ///
    /// # Errors
    /// When git cannot write it.
    pub fn commit(
        &self,
        files: &BTreeMap<String, Vec<u8>>,
        parent: Option<&str>,
        message: &str,
    ) -> Result<String, Error> {
        let mut tree = String::new();
        for (name, bytes) in files {
            let id = self.give(&["hash-object", "-w", "--stdin"], bytes)?;
            tree.push_str(&format!("100644 blob {}\t{name}\n", text(&id)));
        }
        let tree = text(&self.give(&["mktree"], tree.as_bytes())?);
        let mut arguments = vec!["commit-tree", &tree, "-F", "-"];
        arguments.extend(parent.iter().flat_map(|parent| ["-p", parent]));
        Ok(text(&self.give(&arguments, message.as_bytes())?))
    }

    /// Moves the remote's ref to a commit, if it still points to the expected one. Returns whether it did.
    ///
    /// # Errors
    /// When the remote refuses for another reason, or cannot be reached.
    pub fn push(&self, reference: &str, commit: &str, expected: Option<&str>) -> Result<bool, Error> {
        let lease = format!("--force-with-lease={reference}:{}", expected.unwrap_or_default());
        let mut command = self.command();
        command.args(["push", "-q", &lease]).args(self.serving("receive-pack"));
        command.arg(&self.url).arg(format!("{commit}:{reference}"));
        let output = command.output().map_err(not_run)?;
        if output.status.success() {
            return Ok(true);
        }
        // If the ref moved meanwhile, that is the reason, whatever the message.
        if self.fetch(reference)?.as_deref() == expected { succeeded(output).map(|_| false) } else { Ok(false) }
    }

    /// Returns how a repository on this machine is served: by a git that runs none of its hooks or commands either. Git
    /// does not hand its own settings on to that one.
    fn serving(&self, service: &str) -> Option<String> {
        let url = self.url.to_string_lossy();
        if !is_path(&url) && !url.starts_with("file://") {
            return None;
        }
        let program = self.program.to_string_lossy().replace('\'', "'\\''");
        let settings: String = SETTINGS.iter().chain(SERVED).map(|setting| format!(" -c {setting}")).collect();
        Some(format!("--{service}='{program}'{settings} {service}"))
    }

    fn ask(&self, arguments: &[&str]) -> Result<Vec<u8>, Error> {
        succeeded(self.command().args(arguments).output().map_err(not_run)?)
    }

    /// Asks with something on stdin.
    fn give(&self, arguments: &[&str], bytes: &[u8]) -> Result<Vec<u8>, Error> {
        let mut child = self.command().args(arguments).stdin(Stdio::piped()).spawn().map_err(not_run)?;
        if let Some(mut stdin) = child.stdin.take() {
            // A git that ended early reports why on its standard error.
            let _ = stdin.write_all(bytes);
        }
        succeeded(child.wait_with_output().map_err(not_run)?)
    }

    fn command(&self) -> Command {
        let mut command = self.plain();
        command.arg("--git-dir").arg(&self.bare);
        command
    }

    /// Returns a git that asks nobody anything.
    fn plain(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for (name, _) in std::env::vars_os() {
            let stays = |name: &str| STAYS.iter().any(|s| name.starts_with(s)) || name.starts_with("GIT_SSH");
            if name.to_str().is_some_and(|name| name.starts_with("GIT_") && !stays(name)) {
                command.env_remove(name);
            }
        }
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "strand").env(format!("GIT_{who}_EMAIL"), "strand@localhost");
        }
        command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C").arg("--no-pager");
        for setting in SETTINGS {
            command.arg("-c").arg(setting);
        }
        command
    }
}

/// Returns whether an address is a path on this machine.
fn is_path(url: &str) -> bool {
    let before = url.split('/').next().unwrap_or_default();
    !url.contains("://") && !before.contains(':')
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

/// Returns what a git that succeeded printed.
fn succeeded(output: Output) -> Result<Vec<u8>, Error> {
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().find(|line| line.starts_with("fatal:") || line.starts_with("error:"));
    Err(Error::Failed(line.or(said.lines().next()).unwrap_or("it failed without a message").to_owned()))
}
