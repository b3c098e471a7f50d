//! Sizes in bytes as people write them.

/// Reads `2 GiB`, `500MB`, `1.5 g`, `4096`: bytes. `KB` is 1,000, `KiB` and a bare `K` are 1,024, and so on.
/// `None` for anything else, and for what is larger than 2⁶³.
pub fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim().to_ascii_lowercase();
    let scale: u64 = match unit.as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        _ => return None,
    };
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(scale).filter(|bytes| *bytes <= 1 << 63);
    }
    let bytes = number.parse::<f64>().ok()? * scale as f64;
    (bytes.is_finite() && bytes <= (1u64 << 63) as f64).then_some(bytes as u64)
}

/// A size as people read it: `1.7 GiB`.
pub fn words(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1 << 10 {
        return format!("{bytes} bytes");
    }
    let mut size = bytes as f64 / 1024.0;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    if size < 10.0 && size.fract() >= 0.05 {
        format!("{size:.1} {}", UNITS[unit])
    } else {
        format!("{size:.0} {}", UNITS[unit])
    }
}

/// From this share of `archiveMaxSize` on, in per cent, it is said.
const NEARLY: u64 = 80;

/// What to say of an archive of so many bytes where at most `max` are wanted; `None`: all is well.
pub fn nearly_full(bytes: u64, max: u64) -> Option<String> {
    let share = u128::from(bytes) * 100 / u128::from(max.max(1));
    (share >= u128::from(NEARLY))
        .then(|| format!("the archive holds {}, {share} % of archiveMaxSize ({})", words(bytes), words(max)))
}

#[cfg(test)]
mod tests {
    use super::{nearly_full, parse, words};

    #[test]
    fn an_archive_is_nearly_full_from_80_per_cent() {
        assert_eq!(nearly_full(799, 1000), None);
        let gib = |n: f64| (n * f64::from(1 << 30)) as u64;
        assert_eq!(
            nearly_full(gib(1.71), gib(2.0)).as_deref(),
            Some("the archive holds 1.7 GiB, 85 % of archiveMaxSize (2 GiB)")
        );
        assert!(nearly_full(u64::MAX, 1).is_some());
        assert_eq!([words(0), words(1536), words(20 << 20)], ["0 bytes", "1.5 KiB", "20 MiB"]);
    }

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("2 GiB", Some(2 << 30)),
            ("500MB", Some(500_000_000)),
            (" 1.5 g ", Some(3 << 29)),
            ("4096", Some(4096)),
            ("0", Some(0)),
            ("", None),
            ("GiB", None),
            ("-1", None),
            ("2 Gi", None),
            ("1.2.3", None),
            ("99999999999999999999", None),
            ("9999999999 TiB", None),
        ] {
            assert_eq!(parse(text), bytes, "{text:?}");
        }
    }
}
