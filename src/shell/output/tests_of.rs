//! The results in a test program's output: how many tests passed and failed, and the lines that say which.

/// The result of tests, as their output tells it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TestSummary {
    /// Tests that passed.
    pub passed: usize,
    /// Tests that failed.
    pub failed: usize,
    /// The lines that name failures; the last lines where none does.
    pub lines: Vec<String>,
}

/// The words of a line after which a Rust program tells its panic.
const PANIC: &str = "panicked at";
/// Words of lines that name a failure.
const FAILURES: &[&str] = &["FAILED", "FAIL:", "FAIL ", PANIC, "error[", "error:", "Error:", "✗", "✕", "not ok "];
/// Beginnings of lines that count something other than tests.
const OF_FILES: &[&str] = &["Test Suites:", "Test Files", "Snapshots"];

/// Reads the lines that a test program printed; at most `most` of those that name failures are returned.
pub fn summarise_test(lines: &[String], most: usize) -> TestSummary {
    let mut summary = TestSummary::default();
    for line in lines.iter().filter(|line| !OF_FILES.iter().any(|of| line.trim_start().starts_with(of))) {
        summary.passed += number_before(line, "passed");
        summary.failed += number_before(line, "failed");
    }
    summary.lines = naming_failures(lines).take(most).cloned().collect();
    if summary.lines.is_empty() {
        let said: Vec<&String> = lines.iter().filter(|line| !line.trim().is_empty()).collect();
        summary.lines = said[said.len().saturating_sub(most)..].iter().map(|line| line.to_string()).collect();
    }
    summary
}

/// Returns the lines that name failures, and those after a panic that tell it: up to an empty line or a note.
fn naming_failures(lines: &[String]) -> impl Iterator<Item = &String> {
    let mut tells = false;
    lines.iter().filter(move |line| {
        let names = FAILURES.iter().any(|word| line.contains(word)) && !line.starts_with("test result:");
        tells = !line.trim().is_empty() && !line.starts_with("note: ") && (tells || line.contains(PANIC));
        names || tells
    })
}

/// Returns the number that stands before a word of a line; 0: there is none.
fn number_before(line: &str, word: &str) -> usize {
    let words: Vec<&str> =
        line.split(|c: char| c.is_whitespace() || ",;:.()=".contains(c)).filter(|w| !w.is_empty()).collect();
    let at = words.windows(2).find(|pair| pair[1] == word).and_then(|pair| pair[0].parse().ok());
    at.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (usize, usize, Vec<String>) {
        let lines: Vec<String> = text.lines().map(str::to_string).collect();
        let TestSummary { passed, failed, lines } = summarise_test(&lines, 2);
        (passed, failed, lines)
    }

    #[test]
    fn numbers_are_read_as_test_programs_print_them() {
        let cargo = "running 3 tests\ntest a ... ok\ntest b ... FAILED\n\nthread 'b' panicked at src/lib.rs:3:5:\n\
            test result: FAILED. 2 passed; 1 failed; 0 ignored\ntest result: ok. 5 passed; 0 failed; 0 ignored\n";
        let named = ["test b ... FAILED", "thread 'b' panicked at src/lib.rs:3:5:"].map(String::from).to_vec();
        assert_eq!(of(cargo), (7, 1, named));
        assert_eq!(
            (of("===== 2 failed, 210 passed in 3.21s =====").0, of("== 2 failed, 210 passed in 3s ==").1),
            (210, 2)
        );
        let jest = "Test Suites: 1 failed, 3 passed, 4 total\nTests:       2 failed, 12 passed, 14 total\n\
            Snapshots:   1 failed, 3 passed, 4 total\n";
        assert_eq!((of(jest).0, of(jest).1), (12, 2));
        assert_eq!(of("one\n\ntwo\nthree\n"), (0, 0, vec!["two".to_string(), "three".to_string()]));
        assert_eq!(of(""), (0, 0, Vec::new()));
    }

    #[test]
    fn what_a_panic_tells_stands_with_it() {
        let text = "test b ... FAILED\n\n---- b stdout ----\n\nthread 'b' panicked at src/lib.rs:3:5:\n\
            assertion `left == right` failed\n  left: -1\n right: 5\n\
            note: run with `RUST_BACKTRACE=1` to display a backtrace\n\nfailures:\n    b\n";
        let lines: Vec<String> = text.lines().map(str::to_string).collect();
        let expected = [
            "test b ... FAILED",
            "thread 'b' panicked at src/lib.rs:3:5:",
            "assertion `left == right` failed",
            "  left: -1",
            " right: 5",
        ];
        assert_eq!(summarise_test(&lines, 8).lines, expected);
        assert_eq!(summarise_test(&lines, 3).lines, expected[..3]);
    }
}
