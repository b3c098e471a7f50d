//! A key that a command prints: keychains, cloud tokens and company gateways, without a key in a file.

use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::Command;
use tokio::time::{Instant, timeout};

use crate::config::Secret;
use crate::provider::{Error, ErrorKind};

/// The time limit of the command.
const PATIENCE: Duration = Duration::from_secs(10);
/// Once for the first request, and once more where the server refuses the key.
const RUNS: u32 = 2;
/// The most that is read of its output, in bytes.
const LARGEST: u64 = 64 << 10;
/// A failure counts for all who ask so soon after it: a keychain asks the person once a prompt.
const FAILED: Duration = Duration::from_secs(10);
/// The time limit for reading what a command printed before it ended, where a child of it holds the output open.
const LAST_WORDS: Duration = Duration::from_millis(200);

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
    /// The last run failed, and when.
    failed: Option<(Instant, Error)>,
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
                if let Some((_, why)) = printed.failed.as_ref().filter(|(when, _)| when.elapsed() < FAILED) {
                    return Err(why.clone());
                }
                printed.runs += 1;
                printed.runs
            };
            match this.run().await {
                Ok(key) => {
                    *this.state() = Printed { key: Some(key.clone()), runs, failed: None };
                    Ok(Some(key))
                }
                Err(why) => {
                    this.state().failed = Some((Instant::now(), why.clone()));
                    Err(why)
                }
            }
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
        let mut child = command.kill_on_drop(true).spawn().map_err(|why| failed(format!("cannot be run: {why}")))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let said = tokio::spawn(async move {
            let mut said = Vec::new();
            if let Some(mut stderr) = stderr {
                let _ = timeout(PATIENCE, (&mut stderr).take(2_000).read_to_end(&mut said)).await;
                // It may go on to write.
                let _ = timeout(PATIENCE, tokio::io::copy(&mut stderr, &mut tokio::io::sink())).await;
            }
            said
        });
        let run = async {
            let (mut line, mut status) = (Vec::new(), None);
            let mut printed = BufReader::new(stdout.ok_or(std::io::ErrorKind::BrokenPipe)?).take(LARGEST);
            tokio::select! {
                read = printed.read_until(b'\n', &mut line) => drop(read?),
                ended = child.wait() => status = Some(ended?),
            }
            let status = match status {
                Some(status) => {
                    let _ = timeout(LAST_WORDS, printed.read_until(b'\n', &mut line)).await;
                    status
                }
                None => {
                    // What else it prints is read, so that it can end; it may close its output before that.
                    let (mut rest, mut nowhere) = (printed.into_inner(), tokio::io::sink());
                    tokio::select! {
                        ended = child.wait() => ended?,
                        _ = tokio::io::copy(&mut rest, &mut nowhere) => child.wait().await?,
                    }
                }
            };
            Ok::<_, std::io::Error>((status, line))
        };
        let (status, line) = timeout(PATIENCE, run)
            .await
            .map_err(|_| failed(format!("took longer than {} s", PATIENCE.as_secs())))?
            .map_err(|why| failed(format!("failed: {why}")))?;
        if !status.success() {
            let said = timeout(LAST_WORDS, said).await.ok().and_then(Result::ok).unwrap_or_default();
            let said = String::from_utf8_lossy(&said).into_owned();
            let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(300).collect();
            let code = status.code().map_or("a signal".to_string(), |code| format!("exit code {code}"));
            let said = if said.is_empty() { said } else { format!(": {said}") };
            return Err(failed(format!("ended with {code}{said}")));
        }
        if line.len() as u64 >= LARGEST {
            return Err(failed("printed more than a key".into()));
        }
        let text = String::from_utf8_lossy(&line).into_owned();
        let key = text.trim();
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
    async fn one_failure_counts_for_all_who_ask_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = format!("echo run >> {0}/runs; echo locked >&2; exit 3", folder.path().display());
        let command = KeyCommand::new(&["sh".into(), "-c".into(), script]).expect("words");
        for _ in 0..3 {
            let why = command.key_after(None).await.expect_err("no key");
            assert!(why.message.contains("exit code 3") && why.message.contains("locked"), "{}", why.message);
        }
        assert_eq!(std::fs::read_to_string(folder.path().join("runs")).expect("runs"), "run\n");
    }

    #[tokio::test]
    async fn a_child_that_holds_the_output_open_is_not_waited_for() {
        for script in ["sleep 3 & echo secret", "sleep 3 & printf secret"] {
            let command = KeyCommand::new(&["sh", "-c", script].map(Into::into)).expect("words");
            let begun = Instant::now();
            assert!(command.key_after(None).await.expect("no error") == key("secret"));
            assert!(begun.elapsed() < Duration::from_secs(3), "{script}");
        }
    }

    #[tokio::test]
    async fn a_line_without_end_is_no_key() {
        let script = "head -c 3000000 /dev/zero | tr '\\0' k";
        let command = KeyCommand::new(&["sh", "-c", script].map(Into::into)).expect("words");
        let why = command.key_after(None).await.expect_err("no key");
        assert!(why.message.ends_with("printed more than a key"), "{why}");
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
