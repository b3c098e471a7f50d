//! A key that a command prints: keychains, cloud tokens and company gateways, without a key in a file.

use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

use crate::config::Secret;
use crate::provider::{Error, ErrorKind};

/// The time limit of the command.
const PATIENCE: Duration = Duration::from_secs(10);
/// Once for the first request, and once more where the server refuses the key.
const RUNS: u32 = 2;
/// The most that is read of its output, in bytes.
const LARGEST: usize = 64 << 10;

/// The command, without a shell, and the key that it printed last.
pub(super) struct KeyCommand {
    words: Vec<String>,
    printed: Mutex<Printed>,
    /// Held while it runs: those who wait for the key share one run.
    running: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Printed {
    key: Option<Secret>,
    /// The runs since a server accepted a key, that of this key among them.
    runs: u32,
}

impl KeyCommand {
    /// Returns `None` for an empty list.
    pub fn new(words: &[String]) -> Option<Arc<Self>> {
        let (printed, running) = (Mutex::default(), tokio::sync::Mutex::default());
        (!words.is_empty()).then(|| Arc::new(KeyCommand { words: words.to_vec(), printed, running }))
    }

    /// Returns the key that it printed last.
    pub fn printed(&self) -> Option<Secret> {
        self.state().key.clone()
    }

    /// Records that a server accepted the key: if it is refused later, it has expired and may be asked for again.
    pub fn accepted(&self, key: &Secret) {
        let mut printed = self.state();
        if printed.key.as_ref() == Some(key) {
            printed.runs = 1;
        }
    }

    /// Returns a key other than the one that was refused; runs the command where none is known. `None`: it was run
    /// again already, in vain. The run goes on to its end where this is no longer waited for, and who asks next gets
    /// what it prints.
    ///
    /// # Errors
    /// When the command cannot be run, fails, takes too long or prints nothing.
    pub async fn key_after(self: &Arc<Self>, refused: Option<Secret>) -> Result<Option<Secret>, Error> {
        let this = Arc::clone(self);
        let run = tokio::spawn(async move {
            let _alone = this.running.lock().await;
            let runs = {
                let mut printed = this.state();
                if printed.key.is_some() && printed.key != refused {
                    return Ok(printed.key.clone());
                }
                if refused.is_some() && printed.runs >= RUNS {
                    return Ok(None);
                }
                printed.runs += 1;
                printed.runs
            };
            let key = this.run().await?;
            *this.state() = Printed { key: Some(key.clone()), runs };
            Ok(Some(key))
        });
        run.await.unwrap_or_else(|why| Err(self.failed(&format!("failed: {why}"))))
    }

    fn state(&self) -> MutexGuard<'_, Printed> {
        self.printed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, what: &str) -> Error {
        let hint = "Correct apiKeyCommand in the configuration, or set the variable that holds the key.";
        Error::new(ErrorKind::NoKey, format!("apiKeyCommand {} {what}", self.words[0]), hint)
    }

    /// Runs the command; the first line it prints is the key.
    async fn run(&self) -> Result<Secret, Error> {
        let failed = |what: String| self.failed(&what);
        let mut command = Command::new(&self.words[0]);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A command that counts its runs in a file and prints the count as the key.
    fn counting(folder: &std::path::Path) -> Arc<KeyCommand> {
        let script = format!("echo run >> {0}/runs; wc -l < {0}/runs", folder.display());
        KeyCommand::new(&["sh".into(), "-c".into(), script]).expect("words")
    }

    fn key(text: &str) -> Option<Secret> {
        Some(Secret::new(text))
    }

    #[tokio::test]
    async fn those_who_wait_for_the_key_share_one_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let command = counting(folder.path());
        let (one, other) = tokio::join!(command.key_after(None), command.key_after(None));
        assert!(one.expect("a key") == key("1") && other.expect("a key") == key("1"));
        // Two whose requests were refused alike get the same new one.
        let (one, other) = tokio::join!(command.key_after(key("1")), command.key_after(key("1")));
        assert!(one.expect("a key") == key("2") && other.expect("a key") == key("2"));
        assert!(command.key_after(key("2")).await.expect("no error").is_none(), "it was run again in vain");
    }

    #[tokio::test]
    async fn a_key_that_was_taken_may_expire_any_number_of_times() {
        let folder = tempfile::tempdir().expect("a folder");
        let command = counting(folder.path());
        for n in 0..5 {
            let refused = command.printed();
            let next = command.key_after(refused).await.expect("no error").expect("a key");
            assert_eq!(next.reveal(), (n + 1).to_string());
            command.accepted(&next);
        }
    }

    #[tokio::test]
    async fn a_run_that_is_not_waited_for_goes_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let command = counting(folder.path());
        let mut waiting = Box::pin(command.key_after(None));
        tokio::select! {
            biased;
            _ = &mut waiting => panic!("the command has ended at once"),
            () = std::future::ready(()) => {}
        }
        drop(waiting);
        // The run holds the lock, or has ended: either way there is no other.
        tokio::task::yield_now().await;
        assert!(command.key_after(None).await.expect("no error") == key("1"));
    }
}
