//! The processes of a command: every descendant of its helper, which adopts those whose parents are gone.

use std::collections::HashMap;
use std::fs;

use rustix::process::{Pid, Signal, getpid, kill_process};

/// Returns the descendants of this process.
pub fn descendants() -> Vec<Pid> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        if let Some(parent) = parent_of(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut next = vec![getpid().as_raw_nonzero().get()];
    while let Some(parent) = next.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            next.push(child);
            found.extend(Pid::from_raw(child));
        }
    }
    found
}

/// Returns the parent of a living process; a zombie is over. Its name, which may hold anything, ends at the last
/// bracket.
fn parent_of(pid: i32) -> Option<i32> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after = stat.iter().rposition(|b| *b == b')')? + 2;
    let mut fields = std::str::from_utf8(&stat[after..]).ok()?.split(' ');
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (state != "Z").then_some(parent)
}

/// Sends a signal to every descendant of this process; how many there were.
pub fn signal_all(signal: Signal) -> usize {
    let all = descendants();
    for pid in &all {
        // One that is gone by now needs none.
        let _ = kill_process(*pid, signal);
        if signal == Signal::TERM {
            // A stopped one takes no other signal.
            let _ = kill_process(*pid, Signal::CONT);
        }
    }
    all.len()
}
