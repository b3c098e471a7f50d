//! Formats sizes in bytes.

use super::number::plural;

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

/// Formats a size as people read it: `1.7 GiB`.
pub fn words(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1 << 10 {
        return plural(bytes as usize, "byte");
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

#[cfg(test)]
mod tests {
    use super::{parse, words};

    #[test]
    fn sizes_are_read_by_people() {
        assert_eq!([words(0), words(1), words(1536), words(20 << 20)], ["0 bytes", "1 byte", "1.5 KiB", "20 MiB"]);
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
