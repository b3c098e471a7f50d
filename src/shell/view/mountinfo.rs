//! The mounts of this process, as the kernel lists them.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// A mount.
pub struct Mount {
    /// The number of the mount that it lies on.
    pub above: u64,
    /// The path that it is mounted at.
    pub at: PathBuf,
    /// True if it shows processes.
    pub is_proc: bool,
}

/// Returns the mounts of this process.
///
/// # Errors
/// When the list cannot be read.
pub fn mounts() -> io::Result<Vec<Mount>> {
    let text = fs::read("/proc/self/mountinfo")?;
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let read = |line| parsed(line).ok_or_else(|| io::Error::other("the mounts of this process cannot be read"));
    lines.map(read).collect()
}

fn parsed(line: &[u8]) -> Option<Mount> {
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let number = |field: usize| std::str::from_utf8(fields.get(field)?).ok()?.parse().ok();
    let kind = fields.iter().position(|field| *field == b"-").and_then(|dash| fields.get(dash + 1))?;
    let at = PathBuf::from(OsString::from_vec(unescaped(fields.get(4)?)));
    Some(Mount { above: number(1)?, at, is_proc: *kind == b"proc" })
}

/// Returns a path of the list, where blanks and the like stand as `\040`.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut path = Vec::new();
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let octal = after.first_chunk::<3>().filter(|digits| *first == b'\\' && digits.iter().all(u8::is_ascii_digit));
        match octal {
            Some(digits) => {
                path.push(digits.iter().fold(0_u8, |value, digit| value.wrapping_mul(8).wrapping_add(digit - b'0')));
                rest = &after[3..];
            }
            None => {
                path.push(*first);
                rest = after;
            }
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_list_is_read() {
        let line = br"36 35 98:0 /mnt1 /mnt/a\040b rw,noatime master:1 - ext3 /dev/root rw,errors=continue";
        let mount = parsed(line).expect("a mount");
        assert_eq!((mount.above, mount.is_proc), (35, false));
        assert_eq!(mount.at, PathBuf::from("/mnt/a b"));
        assert!(parsed(b"1 2 0:5 / /proc rw shared:3 - proc proc rw").expect("a mount").is_proc);
        assert!(parsed(b"36 35 98:0 / /mnt").is_none());
        assert_eq!(unescaped(br"/a\040b\134c"), b"/a b\\c");
        assert_eq!(unescaped(br"/a\04"), br"/a\04");
        assert!(mounts().expect("read").len() > 1);
    }
}
