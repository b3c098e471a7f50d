//! Decodes the bytes of a file as text for a model.

/// Returns a file's bytes as text to be read: without a byte order mark, with plain line ends; UTF-16 where a mark says
/// so.
pub(super) fn decoded(bytes: &[u8]) -> String {
    let wide = |of: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes[2..].chunks_exact(2).map(|p| of([p[0], p[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    let text = match bytes {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    };
    if text.contains('\r') { text.replace("\r\n", "\n") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_encodings_are_read() {
        assert_eq!(decoded(b"\xff\xfea\0\xe5\x65"), "a日");
        assert_eq!(decoded(b"\xfe\xff\0a"), "a");
        assert_eq!(decoded(b"\xef\xbb\xbfx\r\n"), "x\n");
        assert_eq!(decoded(b"\xff"), "\u{fffd}");
    }
}
