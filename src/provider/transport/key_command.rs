//! A key that a command prints: keychains, cloud tokens and company gateways, without a key in a file.

use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

use crate::config::Secret;
use crate::provider::{Error, ErrorKind};

/// The time limit of the command.
const PATIENCE: Duration = Duration::from_secs(10);
/// Once for the first request, and once more after a 401.
const RUNS: u32 = 2;
/// The most that is read of its output, in bytes.
const LARGEST: usize = 64 << 10;

/// The command, without a shell.
pub(super) struct KeyCommand {
    words: Vec<String>,
    runs: AtomicU32,
}

impl KeyCommand {
    /// Returns `None` for an empty list.
    pub fn new(words: &[String]) -> Option<Self> {
        (!words.is_empty()).then(|| KeyCommand { words: words.to_vec(), runs: AtomicU32::new(0) })
    }

    /// Returns whether a key that was refused may be asked for once more.
    pub fn may_run_again(&self) -> bool {
        self.runs.load(Ordering::Relaxed) < RUNS
    }

    /// Runs the command; the first line it prints is the key.
    pub async fn run(&self) -> Result<Secret, Error> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let name = self.words[0].as_str();
        let failed = |what: String| {
            let hint = "Correct apiKeyCommand in the configuration, or set the variable that holds the key.";
            Error::new(ErrorKind::NoKey, format!("apiKeyCommand {name} {what}"), hint)
        };
        let mut command = Command::new(name);
        command.args(&self.words[1..]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.kill_on_drop(true).spawn().map_err(|why| failed(format!("cannot be run: {why}")))?;
        let output = timeout(PATIENCE, child.wait_with_output())
            .await
            .map_err(|_| failed(format!("took longer than {} s", PATIENCE.as_secs())))?
            .map_err(|why| failed(format!("failed: {why}")))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr[..output.stderr.len().min(2_000)]).into_owned();
            let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(300).collect();
            let code = output.status.code().map_or("a signal".to_string(), |code| format!("exit code {code}"));
            return Err(failed(format!("ended with {code}: {said}")));
        }
        let text = String::from_utf8_lossy(&output.stdout[..output.stdout.len().min(LARGEST)]).into_owned();
        let key = text.lines().next().unwrap_or_default().trim();
        if key.is_empty() { Err(failed("printed no key".into())) } else { Ok(Secret::new(key)) }
    }
}
