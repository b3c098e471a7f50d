//! Paths as `file:` addresses, and back.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// Returns the address of a path.
pub(super) fn of_path(path: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(*byte)),
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

/// Returns the path of an address. None: it is none of a file on this machine, or no plain path.
pub(super) fn to_path(uri: &str) -> Option<PathBuf> {
    let scheme = uri.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("file://"))?;
    let rest = &uri[scheme.len()..];
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    if !rest.starts_with('/') || rest.contains(['?', '#']) {
        return None;
    }
    let (mut bytes, mut from) = (Vec::with_capacity(rest.len()), rest.bytes());
    while let Some(byte) = from.next() {
        bytes.push(match byte {
            b'%' => hex(from.next()?)? << 4 | hex(from.next()?)?,
            other => other,
        });
    }
    let path = Path::new(OsStr::from_bytes(&bytes));
    let plain = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    (plain && !bytes.contains(&0)).then(|| path.to_path_buf())
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_back_and_other_addresses_do_not() {
        for path in ["/a/b.rs", "/a b/é#?%.ts", "/", "/a:b/[id]+@.tsx"] {
            assert_eq!(to_path(&of_path(Path::new(path))).as_deref(), Some(Path::new(path)));
        }
        assert_eq!(of_path(Path::new("/a b/é")), "file:///a%20b/%C3%A9");
        assert_eq!(to_path("file://localhost/a%2fb").as_deref(), Some(Path::new("/a/b")));
        for none in [
            "http://a/b",
            "file://host/a",
            "file:/a",
            "/a",
            "",
            "file://",
            "file:///a%2",
            "file:///a%zz",
            "file:///a%00",
            "file:///a/../b",
            "file:///a/%2e%2e/b",
            "file:///a?b",
            "untitled:a",
            "ééééé",
        ] {
            assert_eq!(to_path(none), None, "{none}");
        }
    }
}
