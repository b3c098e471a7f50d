//! The processes of a command: every descendant of its helper, which adopts those whose parents are gone.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

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
        // A process that has ended needs no signal.
        let _ = kill_process(*pid, signal);
        if signal == Signal::TERM {
            // A stopped one takes no other signal.
            let _ = kill_process(*pid, Signal::CONT);
        }
    }
    all.len()
}

/// The files of which a process has memory that it shares with them and may write.
fn mapped(maps: &str) -> impl Iterator<Item = PathBuf> + '_ {
    maps.lines().filter_map(|line| {
        let mut fields = line.splitn(6, ' ').map(str::trim);
        let rights = fields.nth(1)?;
        let path = fields.nth(3)?;
        (rights.contains('w') && rights.ends_with('s') && path.starts_with('/')).then(|| PathBuf::from(path))
    })
}

/// The files that a descendant of this process has open for writing, or mapped.
pub fn open_for_writing() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for pid in descendants() {
        let pid = pid.as_raw_nonzero();
        found.extend(mapped(&fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default()));
        for entry in fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten() {
            let info = Path::new("/proc").join(pid.to_string()).join("fdinfo").join(entry.file_name());
            let flags = fs::read_to_string(info).ok().and_then(|text| {
                let line = text.lines().find_map(|line| line.strip_prefix("flags:").map(str::to_string))?;
                u32::from_str_radix(line.trim(), 8).ok()
            });
            if flags.is_some_and(|flags| flags & 3 != 0) {
                found.extend(fs::read_link(entry.path()).ok().filter(|path| path.is_absolute()));
            }
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
