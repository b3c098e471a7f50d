//! A check of an archive's size against the size that the configuration wants.

use crate::text::size::words;

/// The share of `archiveMaxSize` from which a warning is given, in per cent.
const NEARLY: u64 = 80;

/// Returns what to say of an archive of this many bytes where at most `max` are wanted; `None`: all is well.
pub fn nearly_full(bytes: u64, max: u64) -> Option<String> {
    let share = u128::from(bytes) * 100 / u128::from(max.max(1));
    (share >= u128::from(NEARLY))
        .then(|| format!("the archive holds {}, {share} % of archiveMaxSize ({})", words(bytes), words(max)))
}

#[cfg(test)]
mod tests {
    use super::nearly_full;

    #[test]
    fn an_archive_is_nearly_full_from_80_per_cent() {
        assert_eq!(nearly_full(799, 1000), None);
        let gib = |n: f64| (n * f64::from(1 << 30)) as u64;
        assert_eq!(
            nearly_full(gib(1.71), gib(2.0)).as_deref(),
            Some("the archive holds 1.7 GiB, 85 % of archiveMaxSize (2 GiB)")
        );
        assert!(nearly_full(u64::MAX, 1).is_some());
    }
}
