//! The changeset file: the normalised paths of files archived together, one a line.

/// The text of a changeset file. A path is written as it is, or, where it holds a control character or begins with
/// `"`, as a JSON string.
pub(super) fn write(paths: &[&str]) -> String {
    let mut text = String::new();
    for path in paths {
        if path.starts_with('"') || path.chars().any(char::is_control) {
            text += &serde_json::Value::from(*path).to_string();
        } else {
            text += path;
        }
        text.push('\n');
    }
    text
}

/// The paths in a changeset file; the error is what is wrong with it.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<String>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_string())?;
    let line = |line: &str| {
        if line.starts_with('"') {
            serde_json::from_str(line).map_err(|_| format!("its line {line} is no JSON string"))
        } else if line.is_empty() {
            Err("it has an empty line".to_string())
        } else {
            Ok(line.to_string())
        }
    };
    let paths: Vec<String> = text.strip_suffix('\n').unwrap_or(text).split('\n').map(line).collect::<Result<_, _>>()?;
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ordinary_paths_are_plain_lines() {
        assert_eq!(write(&["src/main.py", "a b", "日本.md"]), "src/main.py\na b\n日本.md\n");
        assert_eq!(write(&["\"q", "a\nb"]), "\"\\\"q\"\n\"a\\nb\"\n");
        assert!(read(b"").is_err());
        assert!(read(b"a\n\nb\n").is_err());
        assert!(read(b"\"a\n").is_err());
        assert!(read(b"\xff\n").is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(paths in proptest::collection::vec("\\PC{1,8}|[a\"\n\r\t/\u{85}]{1,8}", 1..6)) {
            let refs: Vec<_> = paths.iter().map(String::as_str).collect();
            prop_assert_eq!(read(write(&refs).as_bytes()), Ok(paths));
        }
    }
}
