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

/// Formats a count with its thousands apart.
pub fn large(n: u64) -> String {
    thousands(usize::try_from(n).unwrap_or(usize::MAX))
}

/// Formats dollars to the cent, less than a cent to two digits: `$2.03`, `$0.0013`.
pub fn dollars(amount: f64) -> String {
    if amount <= 0.0 || amount >= 0.01 {
        return format!("${amount:.2}");
    }
    let decimals = (1.0 - amount.log10().floor()).min(9.0) as usize;
    let text = format!("{amount:.decimals$}");
    format!("${}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Formats dollars with the decimals of a limit, where that has more of them than two: `$0.013` beside one of `0.012`.
pub fn dollars_beside(amount: f64, limit: f64) -> String {
    let decimals = limit.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len());
    if decimals > 2 { format!("${amount:.decimals$}") } else { dollars(amount) }
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
        let amounts = [0.0, 2.0, 2.034, 0.416, 0.01, 0.001, 0.00132, 0.000_000_04].map(dollars);
        assert_eq!(amounts, ["$0.00", "$2.00", "$2.03", "$0.42", "$0.01", "$0.001", "$0.0013", "$0.00000004"]);
        let beside = |limit: f64| (dollars_beside(0.01301, limit), dollars_beside(limit, limit));
        assert_eq!(beside(0.012), ("$0.013".into(), "$0.012".into()));
        assert_eq!(beside(2.5), ("$0.01".into(), "$2.50".into()));
        let said = [812, 2_080, 9_949, 9_950, 18_240, 128_000, 999_499, 999_500, 1_240_000].map(tokens);
        assert_eq!(said, ["812", "2.1k", "9.9k", "10k", "18k", "128k", "999k", "1.0M", "1.2M"]);
        assert_eq!((plural(1, "patch"), plural(2, "patch")), ("1 patch".into(), "2 patches".into()));
    }
}
