//! Names of files as text. A name is bytes, and the text of one that is no UTF-8 has NUL and two hexadecimal digits in
//! the place of each byte that is no text: no name holds a NUL, so no other file has that text.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Stands before the digits of a byte.
const MARK: char = '\0';

/// Returns a name, or a path, as text.
pub fn text_of(name: &OsStr) -> Cow<'_, str> {
    if let Some(text) = name.to_str() {
        return text.into();
    }
    let mut text = String::new();
    for piece in name.as_bytes().utf8_chunks() {
        text += piece.valid();
        piece.invalid().iter().for_each(|byte| text += &format!("{MARK}{byte:02x}"));
    }
    text.into()
}

/// Returns the name, or the path, that a text means. A mark before anything else than such a byte stays: no file has it.
pub fn name_of(text: &OsStr) -> Cow<'_, OsStr> {
    let bytes = text.as_bytes();
    if !bytes.contains(&0) {
        return text.into();
    }
    let mut name = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((byte, after)) = rest.split_first() {
        let meant = after.get(..2).filter(|_| *byte == 0).and_then(byte_of);
        name.push(meant.unwrap_or(*byte));
        rest = if meant.is_some() { &after[2..] } else { after };
    }
    std::ffi::OsString::from(OsStr::from_bytes(&name)).into()
}

/// Returns the byte, which is no character by itself, that two digits mean.
pub fn byte_of(digits: &[u8]) -> Option<u8> {
    let is_digit = |digit: &u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.as_bytes().iter().all(is_digit))?;
    u8::from_str_radix(digits, 16).ok().filter(|byte| !byte.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_text_of_its_own() {
        for (name, text) in [
            (&b"src/a.rs"[..], "src/a.rs"),
            ("日本".as_bytes(), "日本"),
            (b"docs/caf\xe9", "docs/caf\0e9"),
            (b"\xe9\xff.t\xc3\xa9", "\0e9\0ff.té"),
            (b"caf\\xe9", "caf\\xe9"),
        ] {
            assert_eq!(text_of(OsStr::from_bytes(name)), text);
            assert_eq!(name_of(OsStr::new(text)).as_bytes(), name);
        }
        // What no name gives means none.
        for text in ["a\0", "a\0e", "a\0/b", "a\x002f", "a\0E9", "a\0+9"] {
            assert_eq!(name_of(OsStr::new(text)).as_bytes(), text.as_bytes(), "{text:?}");
        }
    }
}
