//! The indentation of a file that is indented with spaces, for whole texts that come with tabs or another number of them.

use std::borrow::Cow;
use std::collections::HashMap;

use super::indent;
use super::tabs::step;

/// Returns the whole new text of a file that is indented with spaces as the file is, where its lines have as many levels but
/// another number of spaces, or tabs, for each, and more than that changes.
pub(in crate::edit) fn with_own_width<'n>(new: &'n str, old: &str) -> Cow<'n, str> {
    let (Some(LevelWidth::Spaces(own)), Some(given)) = (unit(old), unit(new)) else { return Cow::Borrowed(new) };
    if given == LevelWidth::Spaces(own) {
        return Cow::Borrowed(new);
    }
    let given = if let LevelWidth::Spaces(width) = given { width } else { 1 };
    // The indentation of each line; `None` where the file has the line with several.
    let mut leads: HashMap<&str, Option<usize>> = HashMap::new();
    for line in old.lines().filter(|line| !line.trim().is_empty()) {
        let lead = indent(line).len();
        leads.entry(line.trim()).and_modify(|own| *own = own.filter(|own| *own == lead)).or_insert(Some(lead));
    }
    let lead_of = |line: &str| leads.get(line.trim()).copied().flatten();
    let fitted = |lead: usize| lead / given * own + lead % given;
    let (mut fits, mut others) = (0, 0);
    for line in new.lines().filter(|line| !indent(line).is_empty()) {
        match lead_of(line) {
            Some(lead) if lead == fitted(indent(line).len()) => fits += 1,
            Some(_) => others += 1,
            None => {}
        }
    }
    if fits == 0 || others * MOST_OTHERS > fits {
        return Cow::Borrowed(new);
    }
    let refitted = |line: &'n str| -> String {
        let (lead, text) = line.split_at(indent(line).len());
        let is_aligned = lead.len() % given != 0;
        let width = lead_of(line).filter(|_| is_aligned && !text.trim().is_empty());
        format!("{}{text}", " ".repeat(width.unwrap_or_else(|| fitted(lead.len()))))
    };
    let text: String = new.split_inclusive('\n').map(refitted).collect();
    if text.trim_end() == old.trim_end() { Cow::Borrowed(new) } else { Cow::Owned(text) }
}

/// One line that stands deeper than the file has it comes for this many that do not.
const MOST_OTHERS: usize = 2;

/// The indentation of one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LevelWidth {
    Tab,
    Spaces(usize),
}

/// Returns what a text is indented with; nothing where that is both or none.
fn unit(text: &str) -> Option<LevelWidth> {
    let leads = || text.lines().filter(|line| !line.trim().is_empty()).map(indent).filter(|lead| !lead.is_empty());
    let all = |with: u8| leads().next().is_some() && leads().all(|lead| lead.bytes().all(|byte| byte == with));
    match () {
        () if all(b'\t') => Some(LevelWidth::Tab),
        () if all(b' ') => step(text).filter(|step| *step > 1).map(LevelWidth::Spaces),
        () => None,
    }
}

/// Returns whether a text of lines at the margin has those of the file that are further right, and opens what must have lines
/// further right below it.
pub(in crate::edit) fn lost_indentation(new: &str, old: &str, path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_needed = ["py", "pyi", "yaml", "yml"].contains(&ending);
    let solid =
        |text: &'_ str| text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let (own, lines) = (solid(old), solid(new));
    let deep: Vec<&str> = own.iter().filter(|line| !indent(line).is_empty()).map(|line| line.trim()).collect();
    is_needed
        && !deep.is_empty()
        && lines.iter().all(|line| indent(line).is_empty())
        && lines.windows(2).any(|two| two[0].ends_with(':') && !two[1].starts_with("- "))
        && lines.iter().any(|line| deep.contains(&line.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PY: &str = "def a():\n    return 1\n\n\ndef total(items):\n    result = 0\n    for item in items:\n        result += item\n    return result\n";

    #[test]
    fn a_file_with_spaces_keeps_their_number() {
        let js = "const a = {\n  b: 1,\n};\n\nfunction f() {\n  if (a) {\n    return a.b;\n  }\n}\n";
        let json = "{\n    \"a\": {\n        \"b\": 1,\n        \"c\": 2\n    }\n}\n";
        let wide = |text: &str| text.replace("  ", "    ");
        for (old, given, from, to) in [
            (PY, PY.replace("    ", "\t"), "return 1", "return 11"),
            (PY, PY.replace("    ", "  "), "return 1", "return 11"),
            (js, wide(js), "return a.b", "return a.b + 1"),
            (js, js.replace("  ", "\t"), "return a.b", "return a.b + 1"),
            (json, json.replace("    ", "  "), "\"b\": 1", "\"b\": 10"),
        ] {
            let new = given.replace(from, to);
            assert_eq!(with_own_width(&new, old), old.replace(from, to));
            // Another width may be the change.
            assert_eq!(with_own_width(&given, old), given);
        }
        // More lines come, deeper ones too.
        let new = PY.replace("    return 1\n", "    if x:\n        return 1\n").replace("    ", "\t");
        assert_eq!(with_own_width(&new, PY), PY.replace("    return 1\n", "    if x:\n        return 1\n"));
        // Another text says nothing, and lines that stand as in the file stay.
        for new in ["x:\n\ty\n".to_string(), PY.replace("return 1", "return 11")] {
            assert_eq!(with_own_width(&new, PY), new);
        }
    }

    #[test]
    fn lines_at_the_margin_alone_are_no_python() {
        let flat = |text: &str| text.lines().map(|line| format!("{}\n", line.trim())).collect::<String>();
        let yaml = "web:\n  image: a\n  port: 1\n";
        assert!(lost_indentation(&flat(PY), PY, "a.py"));
        assert!(lost_indentation(&flat(yaml), yaml, "a.yml"));
        assert!(!lost_indentation(&flat(PY), PY, "a.txt"));
        assert!(!lost_indentation(PY, PY, "a.py"));
        assert!(!lost_indentation("x = 1\n", PY, "a.py"));
        assert!(!lost_indentation("if x:\ny = 1\n", PY, "a.py"), "no line is the file's");
        assert!(!lost_indentation(&PY.replace("    return 1", "return 1"), PY, "a.py"), "the others have theirs");
        assert!(!lost_indentation("ports:\n- 1\n", "ports:\n  - 1\n", "a.yml"));
    }
}
