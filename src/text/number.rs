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

/// Formats tokens in short: `812`, `2.1k`, `18k`, `1.2M`.
pub fn tokens(n: u64) -> String {
    match n {
        0..1_000 => n.to_string(),
        1_000..9_950 => format!("{:.1}k", n as f64 / 1e3),
        9_950..999_500 => format!("{}k", (n + 500) / 1_000),
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
        let said = [812, 2_080, 9_949, 9_950, 18_240, 128_000, 999_499, 999_500, 1_240_000].map(tokens);
        assert_eq!(said, ["812", "2.1k", "9.9k", "10k", "18k", "128k", "999k", "1.0M", "1.2M"]);
        assert_eq!((plural(1, "patch"), plural(2, "patch")), ("1 patch".into(), "2 patches".into()));
    }
}
