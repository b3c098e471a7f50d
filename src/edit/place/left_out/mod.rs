//! Lines of a new text that stand for lines of the old one: `# ... existing code ...`, `[rest of the file unchanged]`.

mod inside;
mod marks;
mod words;

use std::collections::HashSet;

use similar::{Algorithm, DiffOp, capture_diff_slices};

pub(in crate::edit::place) use self::inside::filled;
use self::inside::{is_hollow, left_out_inside};
pub(in crate::edit) use self::marks::LeftOut;
use self::marks::{LONGEST, bracketed, mark, trimmed};
use self::words::{Omission, says_staying};
use super::part::definitions;
use crate::edit::lines::Lines;
use crate::edit::locate::{commented, indent, is_dots, loose_dots, only_dots};
use crate::proposal::{PlaceMatch, Rung};

/// Returns a line of a new text by which lines of the old one are left out. Where no line of the old text is missing at
/// its place, the line is taken as it stands.
pub(in crate::edit) fn left_out<'n>(old: &str, new: &'n str) -> Option<LeftOut<'n>> {
    let own = trimmed(old);
    let inside = left_out_inside(old, new);
    if let Some(LeftOut::Surely(_)) = inside {
        return inside;
    }
    let is_example = new.contains("```");
    let mark = |line: &str| mark(line).or_else(|| (!is_example && is_hollow(line.trim())).then_some(Omission::Inside));
    let marked: Vec<(usize, &'n str, Omission)> = solid(new)
        .enumerate()
        .filter_map(|(at, line)| Some((at, line, mark(line)?)))
        .filter(|(_, line, _)| !own.contains(line.trim()))
        .collect();
    let may_stand = |line: &str| !own.contains(line) && is_no_code(line);
    if marked.is_empty() && !solid(new).map(str::trim).any(may_stand) {
        return inside;
    }
    let (before, after): (Vec<&str>, Vec<&str>) =
        (solid(old).map(str::trim).collect(), solid(new).map(str::trim).collect());
    let places = capture_diff_slices(Algorithm::Myers, &before, &after);
    let (mut rest, mut perhaps) = (marked.as_slice(), inside.or_else(|| for_more((&before, &after), &places, &own)));
    for place in places {
        let lines = place.new_range();
        if let [line] = &after[lines.clone()]
            && is_for_many(line, &before[place.old_range()])
        {
            perhaps = perhaps.or(Some(LeftOut::Perhaps(line)));
        }
        let (here, later) = rest.split_at(rest.partition_point(|(at, ..)| *at < lines.end));
        rest = later;
        if matches!(place, DiffOp::Equal { .. }) || place.old_range().is_empty() {
            continue;
        }
        let (gone, come) = (place.old_range().len(), lines.len() - here.len());
        for (_, line, mark) in here {
            match missing(line, *mark, gone, come) {
                Some(LeftOut::Perhaps(line)) => perhaps = perhaps.or(Some(LeftOut::Perhaps(line))),
                Some(surely) => return Some(surely),
                None => {}
            }
        }
    }
    perhaps.or_else(|| for_definitions(old, new, &own).map(LeftOut::Perhaps))
}

/// Returns a line without code that says that something stays, whatever it is, where more lines of code go than come.
fn for_more<'n>((before, after): (&[&str], &[&'n str]), places: &[DiffOp], own: &HashSet<&str>) -> Option<LeftOut<'n>> {
    let is_said = |line: &str| is_remark(line) && says_staying(words_of(line)).is_some();
    let is_code = |line: &&&str| line.contains(char::is_alphanumeric) && commented(line).is_none() && !is_said(line);
    let code = |lines: &[&str]| lines.iter().filter(is_code).count();
    let says = |line: &&&'n str| is_remark(line) && !own.contains(**line);
    // Brackets alone part nothing.
    let parts = |place: &DiffOp| matches!(place, DiffOp::Equal { .. }) && code(&before[place.old_range()]) > 0;
    places.split(parts).find_map(|places| {
        let old = |place: &DiffOp| code(&before[place.old_range()]);
        let new = |place: &DiffOp| code(&after[place.new_range()]);
        let (gone, come) = (places.iter().map(old).sum::<usize>(), places.iter().map(new).sum::<usize>());
        let lines = places.iter().flat_map(|place| &after[place.new_range()]).filter(says);
        let mut said = lines.filter_map(|line| Some((*line, says_staying(words_of(line))?)));
        said.find(|(_, is_sure)| gone > come + usize::from(!is_sure)).map(|(line, _)| LeftOut::Perhaps(line))
    })
}

/// Returns whether a line without code is no element of a page.
fn is_remark(line: &str) -> bool {
    let is_element = || line.starts_with('<') && commented(line).is_none() && line.contains(['=', '/']);
    is_no_code(line) && !is_element()
}

/// Returns the words of a line without code: what its comment says.
fn words_of(line: &str) -> &str {
    let behind = ["#", "//", "--"].iter().find_map(|sign| line.split_once(sign)).map(|(_, words)| words);
    commented(line).or(behind).unwrap_or(line)
}

/// Returns whether a line that is no code stands where these lines of code were, and is not one of them.
fn is_for_many(line: &str, gone: &[&str]) -> bool {
    let code = gone.iter().filter(|own| commented(own).is_none()).count();
    code >= PASSAGE && !gone.contains(&line) && is_no_code(line)
}

/// Returns a line of a new text that is no code and stands apart where definitions of the old text are gone, of which the
/// new one has those around: whatever it says, in any language, it may stand for them.
fn for_definitions<'n>(old: &str, new: &'n str, own: &HashSet<&str>) -> Option<&'n str> {
    let (hay, part) = (Lines::new(old), Lines::new(new));
    let (before, after) = (definitions(&hay), definitions(&part));
    let staying: HashSet<(&str, &str)> = after.iter().map(|own| (own.kind, own.name)).collect();
    let is_staying = |name: (&str, &str)| staying.contains(&name);
    if before.iter().all(|own| is_staying((own.kind, own.name))) {
        return None;
    }
    let is_blank = |at: usize| at >= part.len() || part.content(at).trim().is_empty();
    let found = (0..part.len()).find(|at| {
        let line = part.content(*at);
        if own.contains(line.trim()) || !is_no_code(line.trim()) {
            return false;
        }
        let below = after.partition_point(|other| other.line < *at);
        let place = |name: Option<(&str, &str)>, from: usize| match name {
            Some(name) => before[from..].iter().position(|own| (own.kind, own.name) == name).map(|n| from + n),
            None => None,
        };
        let name_at = |at: usize| after.get(at).map(|own| (own.kind, own.name));
        let above = below.checked_sub(1).map(|at| place(name_at(at), 0));
        let Some(from) = above.map_or(Some(0), |above| above.map(|n| n + 1)) else { return false };
        let end = if below < after.len() { place(name_at(below), from) } else { Some(before.len()) };
        let gone = before[from..end.unwrap_or(from)].iter().filter(|own| !is_staying((own.kind, own.name)));
        let gone = gone.filter(|own| own.indent >= indent(line).len()).count();
        // Right above a definition it is a comment on that one.
        gone > usize::from(!is_blank(at + 1))
    });
    found.map(|at| part.content(at).trim())
}

/// Returns whether a line does nothing by itself: a comment, words in brackets, or one word with a comment behind it.
fn is_no_code(line: &str) -> bool {
    let is_word = |code: &str| code.chars().all(|c| c.is_alphanumeric() || "_.;".contains(c));
    let is_behind_word = |mark: &&str| line.split_once(*mark).is_some_and(|(code, _)| is_word(code.trim_end()));
    let has_comment = || ["#", "//", "--"].iter().any(is_behind_word);
    !line.is_empty()
        && line.len() <= LONGEST
        && (loose_dots(line) || commented(line).is_some() || bracketed(line).is_some() || has_comment())
}

/// Number of lines of code in whose place no lone line without code comes.
const PASSAGE: usize = 5;

/// Returns whether a line leaves out lines, where it stands with `come` others in the place of `gone` lines.
fn missing(line: &str, mark: Omission, gone: usize, come: usize) -> Option<LeftOut<'_>> {
    let text = line.trim();
    // A body of dots alone, as Python has it, takes the place of one line.
    let own = usize::from(only_dots(text) && line.starts_with([' ', '\t']));
    match mark {
        Omission::Dots | Omission::Dotted => Some(LeftOut::Surely(text)),
        Omission::Said if gone > come && gone >= MANY => Some(LeftOut::Surely(text)),
        Omission::Said => Some(LeftOut::Perhaps(text)),
        Omission::Vague | Omission::Inside if gone > come + own => Some(LeftOut::Perhaps(text)),
        Omission::Vague | Omission::Inside => None,
    }
}

/// Number of lines that, where they are gone, leave no doubt about words that a comment may well have.
const MANY: usize = 3;

fn solid(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim_end).filter(|line| !line.is_empty())
}

/// Returns whether the new text of a part of a file surely leaves lines out. A line of dots and words that the old text
/// does not have always does: what stands beside a part is not known.
pub(in crate::edit::place) fn leaves_out_of_part(old: &str, new: &str) -> bool {
    let own = trimmed(old);
    matches!(left_out(old, new), Some(LeftOut::Surely(_)))
        || new.lines().any(|line| mark(line) == Some(Omission::Dotted) && !own.contains(line.trim()))
}

/// Returns whether a replacement has a line for lines that its search text does not leave out. Dots may be the body of a
/// definition: where they take the place of one line, or come with lines that are all new.
pub(in crate::edit::place) fn is_left_out(search: &str, new: &str) -> bool {
    let apart = |text: &str, other: &str| {
        let others = trimmed(other);
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !only_dots(line));
        lines.filter(|line| !others.contains(line)).count()
    };
    let is_body = || {
        let (gone, come) = (apart(search, new), apart(new, search));
        gone == come + 1 || (gone == 0 && come > 0)
    };
    let dots = || new.lines().filter(|line| is_dots(line));
    leaves_out_of_part(search, new)
        || dots().any(|line| !only_dots(line.trim()))
        || (dots().next().is_some() && !is_body())
}

/// Returns a line of a replacement that may stand for lines that its search text does not leave out.
pub(in crate::edit::place) fn may_leave_out<'n>(search: &str, new: &'n str) -> Option<&'n str> {
    if let Some(LeftOut::Perhaps(line)) = left_out_inside(search, new) {
        return Some(line);
    }
    let own = trimmed(search);
    let (before, after): (Vec<&str>, Vec<&str>) =
        (solid(search).map(str::trim).collect(), solid(new).map(str::trim).collect());
    if !after.iter().any(|line| is_remark(line) && is_said(line)) {
        return None;
    }
    let places = capture_diff_slices(Algorithm::Myers, &before, &after);
    match for_more((&before, &after), &places, &own) {
        Some(LeftOut::Perhaps(line)) => Some(line),
        _ => None,
    }
}

/// Returns whether a line without code says that something stays.
pub(in crate::edit::place) fn is_said(line: &str) -> bool {
    says_staying(words_of(line)).is_some()
}

/// Returns how a replacement counts that may leave lines out.
pub(in crate::edit::place) fn doubtful(line: &str) -> PlaceMatch {
    PlaceMatch { rung: Rung::Inexact, detail: Some(format!("lines are gone where it reads `{line}`")) }
}

/// Returns how a new text counts that has a line of dots which may stand for others.
pub(in crate::edit) fn stands_for_more(line: &str) -> PlaceMatch {
    PlaceMatch { rung: Rung::Inexact, detail: Some(format!("`{line}` may stand for lines that are left out")) }
}

/// Returns whether a line says by its dots that it stands for others, in any language: `# ... existing code ...`, `// ...`,
/// `... and more`, `function stop() { ... }`. Dots alone may be code.
pub(in crate::edit::place) fn is_dotted(line: &str) -> bool {
    let text = line.trim();
    let has_dots = text.contains("...") || text.contains('…');
    has_dots
        && match mark(text) {
            Some(Omission::Dotted | Omission::Dots) => true,
            Some(_) => !only_dots(text) && text.starts_with(['.', '…', '[', '(', '<']),
            None => is_hollow(text),
        }
}

/// Returns whether a line stands for others, or is dots at the margin.
pub(in crate::edit::place) fn is_mark(line: &str) -> bool {
    match mark(line) {
        Some(Omission::Dotted | Omission::Said | Omission::Dots) => true,
        Some(Omission::Vague) => only_dots(line.trim_end()),
        Some(Omission::Inside) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_counts_where_old_lines_are_missing() {
        let old = "a\nb\nc\nd\n";
        for (new, found) in [
            ("a\n# ... existing code ...\n", Some(LeftOut::Surely("# ... existing code ..."))),
            ("a\n# ...other settings\nd\n", Some(LeftOut::Surely("# ...other settings"))),
            ("a\nb\n# ... existing code ...\nc\nd\n", None),
            ("x\nb\nc\nd\n// More options...\n", None),
            ("a\n// More options...\nd\n", Some(LeftOut::Perhaps("// More options..."))),
            ("a\n... and more.\nb\nc\nd\n", None),
            ("a\n... and more.\nd\n", Some(LeftOut::Perhaps("... and more."))),
            ("a\n... rest\n", Some(LeftOut::Surely("... rest"))),
            ("a\n    ...\nc\nd\n", None),
            ("a\n# [...]\n", Some(LeftOut::Surely("# [...]"))),
            ("a\n// .. ..\nd\n", Some(LeftOut::Surely("// .. .."))),
            ("a\n[...]\n", Some(LeftOut::Surely("[...]"))),
            ("a\n[...]\nc\nd\n", Some(LeftOut::Perhaps("[...]"))),
            ("a\n# --- snip ---\n", Some(LeftOut::Surely("# --- snip ---"))),
            ("a\n# (omitted for brevity)\n", Some(LeftOut::Surely("# (omitted for brevity)"))),
        ] {
            assert_eq!(left_out(old, new), found, "{new}");
        }
    }

    #[test]
    fn a_line_without_code_in_the_place_of_definitions_counts_in_any_language() {
        let one = |n: usize| format!("def f{n}(a):\n    b = a + {n}\n    return b\n\n\n");
        let old: String = (0..8).map(one).collect();
        let with = |line: &str, gone: std::ops::Range<usize>| -> String {
            (0..8)
                .map(|n| {
                    if n == gone.start {
                        format!("{line}\n\n\n")
                    } else if gone.contains(&n) {
                        String::new()
                    } else {
                        one(n)
                    }
                })
                .collect()
        };
        for line in ["# f3 and f4 as before", "# Rest bleibt gleich", "pass  # wie gehabt", "<reste du code>"] {
            for gone in [3..5, 6..8, 0..2] {
                assert_eq!(left_out(&old, &with(line, gone.clone())), Some(LeftOut::Perhaps(line)), "{line} {gone:?}");
            }
        }
        // Nothing is gone, another definition comes, or the comment is on one that stays.
        assert_eq!(left_out(&old, &format!("{old}# The end.\n")), None);
        assert_eq!(left_out(&old, &with("# New.\n\ndef g(a):\n    return a", 3..5)), None);
        assert_eq!(left_out(&old, &with("", 3..4).replace("def f4", "# Adds four.\ndef f4")), None);
        assert_eq!(
            left_out(&old, &with("", 3..4).replace("    b = a + 2\n", "    # Adds two.\n    b = a + 2\n")),
            None
        );
        // Many lines that are no definitions.
        let keys: String = (0..9).map(|n| format!("key{n}: {n}\n")).collect();
        let new = |from: usize| {
            format!("{}# alles andere\n", keys.lines().take(from).map(|l| format!("{l}\n")).collect::<String>())
        };
        assert_eq!(left_out(&keys, &new(4)), Some(LeftOut::Perhaps("# alles andere")));
        assert_eq!(left_out(&keys, &new(6).replace("alles andere", "das Ende")), None);
        let comments: String = (0..9).map(|n| format!("# line {n}\n")).collect();
        assert_eq!(left_out(&format!("{comments}a: 1\n"), "# short\na: 1\n"), None);
    }

    #[test]
    fn a_comment_that_says_what_stays_counts_whatever_it_names() {
        let js = "const app = express();\n\napp.get(\"/\", (req, res) => {\n  res.send(\"hi\");\n});\n\napp.get(\"/users\", (req, res) => {\n  res.json([]);\n});\n\napp.listen(3000);\n";
        let new = "const app = express();\n\n// existing routes\n\napp.get(\"/health\", (req, res) => {\n  res.send(\"ok\");\n});\n\napp.listen(3000);\n";
        for line in ["// existing routes", "// handlers as before", "// 其他路由", "// bestehende Routen"] {
            let new = new.replace("// existing routes", line);
            assert_eq!(left_out(js, &new), Some(LeftOut::Perhaps(line)));
        }
        let html = "<html>\n<head>\n  <meta a>\n  <title>T</title>\n  <link b>\n</head>\n<body>\n</body>\n</html>\n";
        let nav = "<body>\n  <nav>\n    <a href=\"/\">Home</a>\n    <a href=\"/b\">B</a>\n  </nav>\n</body>\n";
        let env = "web:\n  env:\n    A: 1\n    B: 2\n    C: 3\n";
        let sql = "CREATE TABLE a (\n  id int,\n  name text,\n  age int\n);\n";
        let py =
            "def total(items):\n    result = 0\n    for item in items:\n        result += item\n    return result\n";
        for (old, from, to) in [
            (html, "  <meta a>\n  <title>T</title>\n  <link b>\n", "  <!-- head unchanged -->\n"),
            (env, "    A: 1\n    B: 2\n    C: 3\n", "    # existing env vars\n    D: 4\n"),
            (nav, "    <a href=\"/\">Home</a>\n    <a href=\"/b\">B</a>\n", "    <!-- same nav as before -->\n"),
            (sql, "  id int,\n  name text,\n  age int\n", "  -- existing columns\n  email text\n"),
            (py, "    result = 0\n    for item in items:\n        result += item\n", "    # loop unchanged\n"),
            (
                py,
                "    result = 0\n    for item in items:\n        result += item\n    return result\n",
                "    pass  # unchanged\n",
            ),
        ] {
            let new = old.replace(from, to);
            let line = to.lines().next().expect("a line").trim();
            assert_eq!(left_out(old, &new), Some(LeftOut::Perhaps(line)));
            assert_eq!(may_leave_out(from, to), Some(line));
        }
        // As much comes as goes, or the comment says nothing of the kind.
        for (old, new) in [
            (py, py.replace("    result = 0\n", "    # Keep the existing sum.\n    result = 10\n")),
            (
                py,
                py.replace(
                    "    result = 0\n    for item in items:\n        result += item\n    return result\n",
                    "    # Adds up.\n    return sum(items)\n",
                ),
            ),
            (
                nav,
                nav.replace(
                    "    <a href=\"/\">Home</a>\n    <a href=\"/b\">B</a>\n",
                    "    <a href=\"/b\">Existing users</a>\n",
                ),
            ),
            (js, js.replace("3000", "3001").replace("app.listen", "// REST server\napp.listen")),
        ] {
            assert_eq!((left_out(old, &new), may_leave_out(old, &new)), (None, None), "{new}");
        }
    }

    #[test]
    fn a_replacement_may_have_a_line_that_only_looks_so() {
        for (search, new, is) in [
            ("x = 1\n", "# Keep existing entries\nx = 2\n", false),
            ("x = 1\n", "x = 1\n# ... existing code ...\n", true),
            ("a\nb\nc\n", "# rest of the code unchanged\n", true),
            ("def f():\n    pass\n", "def f():\n    ...\n", false),
        ] {
            assert_eq!(is_left_out(search, new), is, "{new}");
        }
    }
}
