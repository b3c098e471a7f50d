//! The state that a shell leaves to the next one: its folder and the variables it exports, written at its end into a
//! file that it inherits. A shell that was killed, or whose text took the EXIT trap for itself, leaves nothing.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use super::message::ShellState;

/// The longest that is read, in bytes.
const LONGEST: usize = 1 << 20;

/// Returns the file that the shell writes into.
///
/// # Errors
/// Whatever the system says.
#[cfg(target_os = "linux")]
pub fn file() -> io::Result<File> {
    Ok(rustix::fs::memfd_create("left", rustix::fs::MemfdFlags::CLOEXEC)?.into())
}

/// Returns the file that the shell writes into.
///
/// # Errors
/// Whatever the system says.
#[cfg(not(target_os = "linux"))]
pub fn file() -> io::Result<File> {
    tempfile::tempfile()
}

/// The beginning of the trap that writes what is left.
const TRAP: &str = "trap 'printf \"%s\\0\" \"$PWD\" >&";
/// The end of the trap.
const TRAP_END: &str = "' EXIT; ";

/// Returns the text that the shell runs: the command's, after the trap that writes what is left into `descriptor`.
pub fn script(text: &str, descriptor: i32) -> String {
    format!("{TRAP}{descriptor}; export -p >&{descriptor}{TRAP_END}{text}")
}

/// Returns the command's text of what a shell runs; a text without the trap, or with another one, is itself.
pub fn text_of(text: &str) -> &str {
    let descriptor = text.strip_prefix(TRAP).and_then(|rest| rest.split_once(';')).map(|(digits, _)| digits.parse());
    let Some(Ok(descriptor)) = descriptor else { return text };
    text.strip_prefix(&script("", descriptor)).unwrap_or(text)
}

/// Returns printed bytes without the trap: a shell that cannot read a text repeats the line that it is in.
pub fn without_trap(printed: &[u8]) -> Cow<'_, [u8]> {
    let Some(at) = memchr::memmem::find(printed, TRAP.as_bytes()) else { return printed.into() };
    let (before, trap) = printed.split_at(at);
    let descriptor = trap.get(TRAP.len()..).and_then(|rest| rest.split(|byte| *byte == b';').next());
    let descriptor = descriptor.and_then(|digits| str::from_utf8(digits).ok()?.parse().ok());
    match descriptor.and_then(|descriptor| trap.strip_prefix(script("", descriptor).as_bytes())) {
        Some(rest) => [before, &without_trap(rest)].concat().into(),
        None => printed.into(),
    }
}

/// Returns what the shell wrote; none where it wrote nothing whole.
pub fn read(file: &File) -> Option<ShellState> {
    let mut bytes = vec![0; LONGEST];
    let mut length = 0;
    while length < bytes.len() {
        match file.read_at(&mut bytes[length..], length as u64) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(_) => return None,
        }
    }
    let text = std::str::from_utf8(&bytes[..length]).ok()?;
    let (folder, exported) = text.split_once('\0')?;
    Some(ShellState { folder: PathBuf::from(folder), variables: exported_of(exported) })
}

/// Parses the variables that `export -p` lists: `declare -x NAME="…"` of bash, `export NAME='…'` of others. Those
/// written in any other way are left out.
fn exported_of(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| !c.is_whitespace()) {
        rest = &rest[at..];
        let Some(begun) = rest.strip_prefix("declare -x ").or_else(|| rest.strip_prefix("export ")) else {
            rest = next_line(rest);
            continue;
        };
        let end = begun.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(begun.len());
        let name = &begun[..end];
        match begun[end..].strip_prefix('=').and_then(quoted) {
            Some((value, after)) => {
                found.push((name.to_string(), value));
                rest = after;
            }
            None => rest = next_line(begun),
        }
    }
    found
}

fn next_line(text: &str) -> &str {
    text.split_once('\n').map_or("", |(_, rest)| rest)
}

/// Parses a value in quotes of either kind; returns what follows it too.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    let (_, quote) = chars.next()?;
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            ('"', '\\') => value.push(chars.next()?.1),
            ('"', '"') => return Some((value, &text[at + 1..])),
            // `'\''` goes on.
            ('\'', '\'') => match text[at + 1..].strip_prefix("\\'") {
                Some(_) => {
                    value.push('\'');
                    chars.nth(2)?;
                }
                None => return Some((value, &text[at + 1..])),
            },
            ('"' | '\'', c) => value.push(c),
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_tells_the_text_of_its_command() {
        let text = "trap 'x' EXIT; ls";
        assert_eq!([text_of(&script(text, 6)), text_of(text)], [text, text]);
        let hides = script(text, 6).replace("export -p", "rm -rf .");
        assert_eq!(text_of(&hides), hides);
    }

    #[test]
    fn what_a_shell_prints_of_its_text_is_the_command_alone() {
        let of = |text: &str| String::from_utf8_lossy(&without_trap(text.as_bytes())).into_owned();
        let line = |text: &str| format!("bash: -c: line 1: `{text}'\nand on");
        assert_eq!(of(&line(&script("echo (", 6))), line("echo ("));
        assert_eq!(of(&line(&script("a", 6)).repeat(2)), line("a").repeat(2));
        let others = [line("trap 'x' EXIT; echo ("), script("", 6).replace("export -p", "x"), TRAP.to_string()];
        for other in others {
            assert_eq!(of(&other), other);
        }
    }

    #[test]
    fn exported_variables_are_read_as_both_shells_write_them() {
        let of = |text| exported_of(text);
        let pair = |name: &str, value: &str| (name.to_string(), value.to_string());
        let bash =
            "declare -x A=\"a \\\"b\\\" \\$c\"\ndeclare -x B\ndeclare -x C=$'x\\ny'\ndeclare -x D=\"two\nlines\"\n";
        assert_eq!(of(bash), [pair("A", "a \"b\" $c"), pair("D", "two\nlines")]);
        assert_eq!(of("export A='it'\\''s'\nexport B=''\n"), [pair("A", "it's"), pair("B", "")]);
        assert_eq!(of("rubbish\ndeclare -x A=\"unended"), []);
    }
}
