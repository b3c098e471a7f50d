//! Numbers in words.

/// A number with its thousands apart: `1,204`.
pub fn thousands(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// `1 line`, `38 lines`, `2 patches`.
pub fn plural(n: usize, word: &str) -> String {
    let end = match n {
        1 => "",
        _ if word.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{} {word}{end}", thousands(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(
            (thousands(0), thousands(999), thousands(1204), thousands(1_234_567)),
            ("0".into(), "999".into(), "1,204".into(), "1,234,567".into())
        );
        assert_eq!((plural(1, "line"), plural(38, "line")), ("1 line".into(), "38 lines".into()));
        assert_eq!((plural(1, "patch"), plural(2, "patch")), ("1 patch".into(), "2 patches".into()));
    }
}
