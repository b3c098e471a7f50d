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
    format!("{TRAP}{descriptor}; export -p >&{descriptor}; printf \"\\0\" >&{descriptor}{TRAP_END}{text}")
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
    let (listed, is_whole) = exported.strip_suffix('\0').map_or((exported, false), |listed| (listed, true));
    let (variables, is_understood) = exported_of(listed);
    Some(ShellState { folder: PathBuf::from(folder), variables, lists_all: is_whole && is_understood })
}

/// Parses the variables that `export -p` lists: `declare -x NAME="…"` of bash, `export NAME='…'` of others. What is
/// written in any other way is left out; the second: nothing was.
fn exported_of(text: &str) -> (Vec<(String, String)>, bool) {
    let mut found = Vec::new();
    let mut is_understood = true;
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| !c.is_whitespace()) {
        rest = &rest[at..];
        match declared(rest) {
            Some((variable, after)) => {
                found.extend(variable);
                rest = after;
            }
            None => {
                is_understood = false;
                rest = rest.split_once('\n').map_or("", |(_, after)| after);
            }
        }
    }
    (found, is_understood)
}

/// Parses one declaration, which may have no value; returns what follows it too.
fn declared(text: &str) -> Option<(Option<(String, String)>, &str)> {
    let begun = match text.strip_prefix("declare -") {
        Some(flagged) => {
            let (flags, begun) = flagged.split_once(' ')?;
            // A readonly variable is one of the next shell all the same; an array is none.
            (flags.contains('x') && !flags.contains(['a', 'A', 'n'])).then_some(begun)?
        }
        None => text.strip_prefix("export ")?,
    };
    let end = begun.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(begun.len());
    let (name, rest) = begun.split_at(end);
    match rest.strip_prefix('=') {
        Some(rest) => quoted(rest).map(|(value, after)| (Some((name.to_string(), value)), after)),
        None => (!name.is_empty() && (rest.is_empty() || rest.starts_with('\n'))).then_some((None, rest)),
    }
}

/// Parses a value up to the end of its line: pieces in quotes of any kind, one behind the other; returns what follows it
/// too.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = Vec::new();
    let mut rest = text;
    loop {
        rest = match rest.chars().next() {
            None | Some('\n') => return Some((String::from_utf8(value).ok()?, rest)),
            Some('\'') => {
                let (piece, after) = rest[1..].split_once('\'')?;
                value.extend_from_slice(piece.as_bytes());
                after
            }
            Some('"') => double_quoted(&rest[1..], &mut value)?,
            Some('$') => escaped(rest.strip_prefix("$'")?, &mut value)?,
            Some('\\') => {
                let c = rest[1..].chars().next()?;
                value.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                &rest[1 + c.len_utf8()..]
            }
            Some(c) if c.is_whitespace() || c == '(' => return None,
            Some(c) => {
                value.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                &rest[c.len_utf8()..]
            }
        };
    }
}

/// Adds what stands before a closing `"`; returns what follows it.
fn double_quoted<'t>(text: &'t str, value: &mut Vec<u8>) -> Option<&'t str> {
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => return Some(&text[at + 1..]),
            b'\\' => value.push(bytes.next()?.1),
            byte => value.push(byte),
        }
    }
    None
}

/// Adds what stands before the closing quote of bash's `$'…'`, in which control characters are escaped; returns what
/// follows it.
fn escaped<'t>(text: &'t str, value: &mut Vec<u8>) -> Option<&'t str> {
    let mut bytes = text.bytes().enumerate().peekable();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\'' => return Some(&text[at + 1..]),
            b'\\' => value.push(match bytes.next()?.1 {
                b'a' => 7,
                b'b' => 8,
                b't' => b'\t',
                b'n' => b'\n',
                b'v' => 11,
                b'f' => 12,
                b'r' => b'\r',
                b'e' | b'E' => 27,
                digit @ b'0'..=b'7' => {
                    let mut code = u32::from(digit - b'0');
                    for _ in 0..2 {
                        let next = bytes.next_if(|(_, next)| (b'0'..=b'7').contains(next));
                        code = next.map_or(code, |(_, next)| code * 8 + u32::from(next - b'0'));
                    }
                    u8::try_from(code).ok()?
                }
                other @ (b'\\' | b'\'' | b'"' | b'?') => other,
                _ => return None,
            }),
            byte => value.push(byte),
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
        let all = |text, pairs: &[(&str, &str)]| {
            let pairs = pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
            assert_eq!(exported_of(text), (pairs, true), "{text}");
        };
        all("declare -x A=\"a \\\"b\\\" \\$c\"\ndeclare -x B\n", &[("A", "a \"b\" $c")]);
        all(
            "declare -x C=$'x\\ny\\'\\001\\303\\251'\ndeclare -x D=\"two\nlinés\"\n",
            &[("C", "x\ny'\u{1}é"), ("D", "two\nlinés")],
        );
        all("declare -rx Y=\"7\"\ndeclare -ix Z=\"8\"", &[("Y", "7"), ("Z", "8")]);
        all("export A='it'\\''s'\nexport B=''\nexport C='it'\"'\"'s'\n", &[("A", "it's"), ("B", ""), ("C", "it's")]);
        all("export A=plain\nexport B='two\nlines'\n", &[("A", "plain"), ("B", "two\nlines")]);
        let (found, is_understood) =
            exported_of("rubbish\ndeclare -ax L=([0]=\"a\")\ndeclare -x B=\"b\"\ndeclare -x A=\"unended");
        assert_eq!((found, is_understood), (vec![("B".to_string(), "b".to_string())], false));
    }
}
