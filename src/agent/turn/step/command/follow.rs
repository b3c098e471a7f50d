//! A command under way: its output on the screen, and its end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::agent::change::command::{PACE, tell_printed};
use crate::agent::change::holds::HoldsOfCall;
use crate::agent::services::events::Events;
use crate::agent::turn::step::call_item::CallItem;
use crate::protocol::{CallState, PreviewLine};
use crate::shell::{ShellCommand, Stopped};

/// Lines of output that its entry holds; a screen has more of them by what is told of the command itself.
const SHOWN: usize = 12;

/// Shows a command's output until its call can be answered; why it was ended, if it was.
pub async fn follow(
    events: &Events,
    item: &mut CallItem,
    (command, holds): (&Arc<ShellCommand>, &HoldsOfCall),
    limit: Duration,
    stop: &CancellationToken,
) -> Option<Stopped> {
    let changed = Arc::new(Notify::new());
    let tell = Arc::clone(&changed);
    command.running.on_change(move || tell.notify_one());
    let began = tokio::time::Instant::now();
    let text = item.call.preview.clone();
    // What was printed before the listener stood was told to nobody.
    let due = !command.running.output().last(1).is_empty();
    let (mut stopped, mut shown_at, mut due) = (None, Instant::now(), due);
    loop {
        // While a call waits for the person, the limit stands still.
        let (deadline, is_held, stands_still) = {
            let progress = command.running.progress();
            (began + limit + progress.held_for(), !progress.held.is_empty(), progress.stands_still())
        };
        if command.running.progress().is_answerable() {
            // The line that a job is at ends later.
            let is_over = command.running.progress().is_read();
            show(item, command, &text);
            tell_printed(events, command, is_over).await;
            item.call.held = holds.end();
            // Its end may be seen before the word of the person that caused it.
            let by_person = stop.is_cancelled() && command.running.progress().stopped;
            return stopped.or(by_person.then_some(Stopped::Person));
        }
        if due && shown_at.elapsed() >= PACE {
            (shown_at, due) = (Instant::now(), false);
            show(item, command, &text);
            item.call.held = holds.so_far();
            let state = if is_held { CallState::Asking } else { CallState::Running };
            match item.call.state == state {
                true => item.tell(events).await,
                false => item.set(events, state).await,
            }
            tell_printed(events, command, false).await;
        }
        tokio::select! {
            () = changed.notified() => due = true,
            () = tokio::time::sleep(PACE), if due => {}
            () = stop.cancelled(), if stopped.is_none() => {
                stopped = Some(Stopped::Person);
                command.running.stop();
            }
            () = tokio::time::sleep_until(deadline), if stopped.is_none() && !stands_still => {
                stopped = Some(Stopped::Limit(limit.as_secs()));
                command.running.stop();
            }
        }
    }
}

fn show(item: &mut CallItem, command: &ShellCommand, text: &[PreviewLine]) {
    let output = command.running.output();
    item.call.summary = crate::text::number::plural(output.line_count(), "line");
    let (count, lines) = output.for_screen(SHOWN);
    let lines = lines.into_iter().map(|text| PreviewLine { sign: ' ', text });
    item.call.preview = text.iter().cloned().chain(lines).collect();
    item.call.printed = count;
}
