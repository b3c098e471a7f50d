//! Formats numbers.

/// Formats a number with its thousands apart: `1,204`.
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

/// Formats as `1 line`, `38 lines`, `2 patches`.
pub fn plural(n: usize, word: &str) -> String {
    let end = match n {
        1 => "",
        _ if word.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{} {word}{end}", thousands(n))
}

/// Formats tokens in short: `812`, `12.4k`, `1.2M`.
pub fn tokens(n: u64) -> String {
    match n {
        0..1_000 => n.to_string(),
        1_000..999_950 => format!("{:.1}k", n as f64 / 1e3),
        _ => format!("{:.1}M", n as f64 / 1e6),
    }
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
        assert_eq!((tokens(812), tokens(12_380), tokens(1_240_000)), ("812".into(), "12.4k".into(), "1.2M".into()));
        assert_eq!((plural(1, "patch"), plural(2, "patch")), ("1 patch".into(), "2 patches".into()));
    }
}
