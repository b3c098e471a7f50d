//! The processes of a command: every descendant of its helper, which adopts those whose parents are gone.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpgid, getpid, kill_process, kill_process_group};

use super::message::HELPER;

/// The longest wait for processes that were killed.
const LONGEST_END: Duration = Duration::from_secs(2);
/// The interval at which they are looked for.
const AGAIN: Duration = Duration::from_millis(5);
/// The rounds in which new processes are looked for: a file would have to be handed on, and closed, between all of them.
const ROUNDS: usize = 4;

/// Returns the descendants of this process.
pub fn descendants() -> Vec<Pid> {
    below(vec![getpid().as_raw_nonzero().get()], &mut children())
}

/// Returns the processes of all commands whose helpers are children of `above`.
pub fn of_session(above: Option<Pid>) -> Vec<Pid> {
    let mut children = children();
    let own = above.and_then(|above| children.remove(&above.as_raw_nonzero().get())).unwrap_or_default();
    let helpers = own.into_iter().filter(|pid| is_helper(*pid)).collect();
    below(helpers, &mut children)
}

fn is_helper(pid: i32) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|b| *b == 0).nth(1) == Some(HELPER.as_bytes())
}

/// Returns the process of a child.
///
/// # Errors
/// When its number is none of a process.
pub fn pid_of(child: &Child) -> io::Result<Pid> {
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    id.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Returns whether a process is stopped by a signal.
pub fn is_stopped(process: Pid) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", process.as_raw_nonzero())).unwrap_or_default();
    status.lines().any(|line| line.strip_prefix("State:").is_some_and(|state| state.trim_start().starts_with('T')))
}

/// Returns the process that a thread is of.
pub fn process_of(thread: i32) -> Option<i32> {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()
}

/// Returns the living processes by their parents.
fn children() -> HashMap<i32, Vec<i32>> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        if let Some(parent) = parent_of(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    children
}

fn below(mut next: Vec<i32>, children: &mut HashMap<i32, Vec<i32>>) -> Vec<Pid> {
    let mut found = Vec::new();
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

/// Returns the number of processes and threads of the whole machine, which is told at once however many there are.
pub fn all_tasks() -> usize {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let tasks = load.split(' ').nth(3).and_then(|tasks| tasks.split_once('/'));
    tasks.and_then(|(_, all)| all.parse().ok()).unwrap_or(0)
}

/// Sends a signal to every descendant of this process; how many there were.
pub fn signal_all(signal: Signal) -> usize {
    let all = descendants();
    if signal == Signal::KILL {
        // A group ends at once, with what it is just making; one after the other, they could make more than end.
        let own = rustix::process::getpgrp();
        let groups: HashSet<Pid> = all.iter().filter_map(|pid| getpgid(Some(*pid)).ok()).collect();
        for group in groups.into_iter().filter(|group| *group != own) {
            // One that has ended needs no signal.
            let _ = kill_process_group(group, signal);
        }
    }
    for pid in &all {
        // A process that has ended needs no signal.
        let _ = kill_process(*pid, signal);
        if signal == Signal::TERM {
            // A stopped one takes no other signal.
            let _ = kill_process(*pid, Signal::CONT);
        }
    }
    all.len()
}

/// Ends the processes of commands whose helpers are gone: those that have this variable in their environment, or are of
/// this session of processes, and that no living helper stands above.
pub fn end_orphans(variable: Option<&str>, session: Option<i32>) {
    let until = Instant::now() + LONGEST_END;
    let own = getpid().as_raw_nonzero().get();
    loop {
        let mut children = children();
        let helpers: Vec<i32> = children.values().flatten().copied().filter(|pid| is_helper(*pid)).collect();
        let all: Vec<i32> = children.values().flatten().copied().collect();
        let guarded: HashSet<i32> =
            below(helpers, &mut children).iter().map(|pid| pid.as_raw_nonzero().get()).collect();
        let is_orphan = |pid: &i32| {
            let of_session = session.is_some_and(|session| session_of(*pid) == Some(session));
            *pid != own
                && !guarded.contains(pid)
                && (of_session || variable.is_some_and(|variable| has_variable(*pid, variable)))
        };
        let orphans: Vec<Pid> = all.into_iter().filter(is_orphan).filter_map(Pid::from_raw).collect();
        if orphans.is_empty() || Instant::now() > until {
            return;
        }
        for pid in orphans {
            // One that is gone by now needs none.
            let _ = kill_process(pid, Signal::KILL);
        }
        thread::sleep(AGAIN);
    }
}

fn has_variable(pid: i32, variable: &str) -> bool {
    let variables = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    variables.split(|b| *b == 0).any(|one| one == variable.as_bytes())
}

/// Returns the session of processes that a process is of. That of a kernel thread is 0, which the system call's wrapper
/// takes for no number at all.
fn session_of(pid: i32) -> Option<i32> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after = stat.iter().rposition(|b| *b == b')')? + 2;
    std::str::from_utf8(stat.get(after..)?).ok()?.split(' ').nth(3)?.parse().ok()
}

/// Returns the files of which a process has memory that it shares with them and may write.
fn mapped(maps: &str) -> impl Iterator<Item = PathBuf> + '_ {
    maps.lines().filter_map(|line| {
        let mut fields = line.splitn(6, ' ').map(str::trim);
        let rights = fields.nth(1)?;
        let path = fields.nth(3)?;
        (rights.contains('w') && rights.ends_with('s') && path.starts_with('/')).then(|| PathBuf::from(path))
    })
}

/// Returns the files that a descendant of this process has open for writing, by their links in `/proc`, or mapped.
pub fn open_for_writing() -> Vec<PathBuf> {
    descendants().into_iter().flat_map(open_in).collect()
}

/// Returns the same, also of the descendants that are made meanwhile, which may hold what those before them have closed.
pub fn all_open_for_writing() -> Vec<PathBuf> {
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    for _ in 0..ROUNDS {
        let new: Vec<Pid> = descendants().into_iter().filter(|pid| seen.insert(*pid)).collect();
        if new.is_empty() {
            break;
        }
        found.extend(new.into_iter().flat_map(open_in));
    }
    found
}

/// Returns the files that a process has open for writing, or mapped.
fn open_in(pid: Pid) -> Vec<PathBuf> {
    let pid = pid.as_raw_nonzero();
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let mut found: Vec<PathBuf> = mapped(&maps).collect();
    for entry in fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten() {
        let info = Path::new("/proc").join(pid.to_string()).join("fdinfo").join(entry.file_name());
        let flags = fs::read_to_string(info).ok().and_then(|text| {
            let line = text.lines().find_map(|line| line.strip_prefix("flags:").map(str::to_string))?;
            u32::from_str_radix(line.trim(), 8).ok()
        });
        if flags.is_some_and(|flags| flags & 3 != 0) {
            found.push(entry.path());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapped_files_are_those_that_are_shared_and_writable() {
        let maps = "7f00-7f01 rw-s 00000000 08:01 131                        /work/a b\n\
            7f01-7f02 r--s 00000000 08:01 132 /work/read\n7f02-7f03 rw-p 00000000 08:01 133 /work/own\n7f-80 rw-p 0 00:00 0\n";
        assert_eq!(mapped(maps).collect::<Vec<_>>(), [PathBuf::from("/work/a b")]);
    }
}
