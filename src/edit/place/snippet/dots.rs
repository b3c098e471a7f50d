//! Lines of dots that a new text would put into its file as they are.

use super::elided::ends_document;
use super::form::{Form, is_dots_alone};
use crate::edit::lines::Lines;
use crate::edit::locate::{commented, indent, loose_dots, only_dots};
use crate::edit::path::is_prose;
use crate::edit::place::left_out::is_dotted;

/// Returns a line of a new text that stands for others by its dots and that the file does not have, and whether no such file can
/// have it. Documents may well show dots.
pub(in crate::edit) fn written_dots<'n>(file: &str, new: &'n str, path: &str) -> Option<(&'n str, bool)> {
    if is_prose(path) || !has_dots(new) {
        return None;
    }
    if let Some(line) = bare_dots(file, new, path) {
        return Some((line, true));
    }
    let own = standing_for_more(file, path);
    standing_for_more(new, path).into_iter().find(|line| !own.contains(line)).map(|line| (line, false))
}

/// Returns the lines of a text of code that stand for others by their dots.
fn standing_for_more<'t>(text: &'t str, path: &str) -> Vec<&'t str> {
    let lines = Lines::new(text);
    let is_it = |at: &usize| {
        let line = lines.content(*at);
        // A page shows its text, and a shell reads one.
        let is_table = path.ends_with(".lua") && line.contains('{');
        let is_code = is_of_code(path) && loose_dots(line.trim()) && !is_body(&lines, *at, path);
        (is_code || is_dotted(line) && !loose_dots(line.trim())) && !is_table && !is_quoted(&lines, *at)
    };
    let may_be = |at: &usize| has_dots(lines.content(*at));
    (0..lines.len()).filter(may_be).filter(is_it).map(|at| lines.content(at).trim()).collect()
}

fn has_dots(line: &str) -> bool {
    line.contains("...") || line.contains('…')
}

/// Returns a line of a text of keys that is no more than dots, or has no more between brackets or behind others there, where the
/// file has no such line: it would be no part of the language.
pub(in crate::edit::place) fn bare_dots<'n>(file: &str, new: &'n str, path: &str) -> Option<&'n str> {
    let form = Form::of(path);
    if !form.has_keys() {
        return None;
    }
    let lines = Lines::new(new);
    let is_last = |at: usize| (at + 1..lines.len()).all(|at| lines.content(at).trim().is_empty());
    let is_end = |at: usize| {
        let is_at_margin = indent(lines.content(at)).is_empty();
        ends_document(&lines, at, form) || form == Form::Yaml && is_at_margin && is_last(at)
    };
    let is_comment =
        |line: &str| form == Form::Json && commented(line.trim()).is_some_and(|said| loose_dots(said.trim()));
    let is_it = |at: &usize| {
        let line = lines.content(*at);
        is_dots_alone(line) && !is_end(*at) || is_hollow(line, form, path) || is_comment(line)
    };
    let may_be = |at: &usize| has_dots(lines.content(*at));
    let found = (0..lines.len()).filter(may_be).filter(is_it).filter(|at| !is_in_value(&lines, *at, form));
    { found }.map(|at| lines.content(at).trim()).find(|line| !file.lines().any(|own| own.trim() == *line))
}

/// Returns whether a key has no more than dots between its brackets, or ends in them there.
fn is_hollow(line: &str, form: Form, path: &str) -> bool {
    let sign = if form == Form::Sections { '=' } else { ':' };
    let value = line.split_once(sign).map_or(line, |(_, value)| value).trim().trim_end_matches(',');
    let inner =
        [('{', '}'), ('[', ']')].iter().find_map(|(open, close)| value.strip_prefix(*open)?.strip_suffix(*close));
    // Elsewhere they are an entry like others.
    let is_strict = form == Form::Json || path.ends_with(".toml");
    let is_of_dots =
        |inner: &str| only_dots(inner) || is_strict && [", ...", ", …"].iter().any(|dots| inner.ends_with(dots));
    inner.is_some_and(|inner| is_of_dots(inner.trim()))
}

/// Returns whether a line is in a text over several lines that a key of YAML or of settings has.
fn is_in_value(lines: &Lines, at: usize, form: Form) -> bool {
    let mut depth = indent(lines.content(at)).len();
    match form {
        Form::Yaml => (0..at).rev().map(|at| lines.content(at)).filter(|line| !line.trim().is_empty()).any(|line| {
            let is_around = indent(line).len() < depth;
            depth = depth.min(indent(line).len());
            is_around && line.trim_end().trim_end_matches(['-', '+']).ends_with(['|', '>'])
        }),
        Form::Sections => is_quoted(lines, at),
        _ => false,
    }
}

/// Returns whether a line is in a text over several lines, or in a comment over several.
fn is_quoted(lines: &Lines, at: usize) -> bool {
    let before = &lines.text[..lines.spans[at].start];
    let is_open = |mark: &str| before.matches(mark).count() % 2 == 1;
    let is_begun = |open: &str, close: &str| before.rfind(open).is_some_and(|at| !before[at..].contains(close));
    ["\"\"\"", "'''", "`"].into_iter().any(is_open) || is_begun("/*", "*/") || is_begun("r#\"", "\"#")
}

/// Returns whether dots alone on a line can be no text of a file of this path.
fn is_of_code(path: &str) -> bool {
    const CODE: [&str; 27] = [
        "py", "js", "jsx", "mjs", "cjs", "ts", "tsx", "rs", "go", "java", "kt", "kts", "c", "h", "cc", "cpp", "hpp",
        "cs", "swift", "scala", "php", "rb", "dart", "css", "scss", "less", "sql",
    ];
    path.rsplit_once('.').is_some_and(|(_, ending)| CODE.contains(&ending))
}

/// Returns whether dots alone are code: the body of a definition, an entry or a last parameter.
fn is_body(lines: &Lines, at: usize, path: &str) -> bool {
    if !only_dots(lines.content(at).trim()) {
        return false;
    }
    let above = (0..at).rev().map(|at| lines.content(at).trim()).find(|line| {
        let is_remark = commented(line).is_some();
        !line.is_empty() && !is_remark
    });
    let above = above.unwrap_or_default();
    let code = above.split_once(" #").map_or(above, |(code, _)| code.trim_end());
    let below = (at + 1..lines.len()).map(|at| lines.content(at).trim()).find(|line| !line.is_empty());
    let is_last = below.is_some_and(|line| line.starts_with(')'));
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("py") => !indent(lines.content(at)).is_empty() && code.ends_with([':', ',', '(', '[', '{', '"', '\'']),
        Some("c" | "h" | "cc" | "cpp" | "hpp") => code.ends_with([',', '(']) || is_last,
        Some("php") => code.ends_with('(') && is_last,
        Some("jsx" | "tsx") => code.ends_with('>') && below.is_some_and(|line| line.starts_with("</")),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_no_part_of_keys() {
        for (path, new, line) in [
            ("a.json", "{\n  \"a\": { ... },\n  \"b\": 1\n}\n", Some("\"a\": { ... },")),
            ("a.json", "{\n  \"a\": [1, ...]\n}\n", Some("\"a\": [1, ...]")),
            ("a.json", "{\n  ...\n}\n", Some("...")),
            ("a.json", "{\n  // ...\n}\n", Some("// ...")),
            ("a.toml", "[a]\n...\n", Some("...")),
            ("a.toml", "[a]\nb = { ... }\n", Some("b = { ... }")),
            ("a.yaml", "a:\n  ...\nb: 1\n", Some("...")),
            ("a.yaml", "on: push\njobs:\n  ...\n", Some("...")),
            ("a.yaml", "on: push\njobs:\n  a:\n    run: |\n      x\n    steps:\n      ...\n", Some("...")),
            ("a.yaml", "a: 1\n...\n", None),
            ("a.yaml", "a: |\n  one\n  ...\nb: 1\n", None),
            ("a.yaml", "a:\n  - b: >-\n      one\n\n        ...\n      two\n", None),
            ("a.toml", "a = \"\"\"\n...\n\"\"\"\n", None),
            ("a.json", "{\n  \"a\": \"...\",\n  \"b\": [\"...\"],\n  \"c\": [\"a, ...\"]\n}\n", None),
            ("a.py", "def f():\n    ...\n", None),
        ] {
            assert_eq!(bare_dots("", new, path), line, "{new}");
        }
        assert_eq!(bare_dots("a:\n  ...\n", "a:\n  ...\nb: 1\n", "a.yaml"), None, "the file has it");
    }

    #[test]
    fn dots_in_code_may_stand_for_lines_unless_the_language_has_them() {
        for (path, new) in [
            ("a.py", "import os\n# ... existing code ...\nx = 1\n"),
            ("a.py", "import os\n...\nx = 1\n"),
            ("a.py", "def f():\n    x = 1\n    ...\n    return x\n"),
            ("a.js", "function f() { ... }\n"),
            ("a.js", "const a = 1;\n// ...\n"),
            ("a.ts", "class A {\n  ...\n}\n"),
            ("a.rs", "fn f() {\n    …\n}\n"),
            ("a.css", "body { ... }\n"),
            ("run.sh", "cd a\n# ... rest of the script ...\n"),
            ("ci.yml", "on: push\n# ... other jobs ...\n"),
            ("a.html", "<ul>\n<!-- ... -->\n</ul>\n"),
        ] {
            assert!(written_dots("", new, path).is_some_and(|(_, is_sure)| !is_sure), "{new}");
            assert_eq!(written_dots(new, new, path), None, "the file has it: {new}");
        }
        for (path, new) in [
            (
                "a.py",
                "class A(Protocol):\n    def f(self): ...\n\n    def g(\n        self,\n    ) -> int:\n        ...\n",
            ),
            ("a.py", "def f():\n    \"\"\"Does it.\"\"\"\n    ...\n"),
            ("a.py", "def f():  # noqa\n    # Later.\n    ...\n"),
            ("a.py", "def f(): # stub\n    ...\n"),
            ("a.lua", "local function f(...)\n  local args = { ... }\nend\n"),
            ("a.tsx", "const A = () => (\n  <span>\n    ...\n  </span>\n);\n"),
            ("a.cpp", "g(\n  a\n  ...\n);\n"),
            ("a.php", "$f = strlen(\n  ...\n);\n"),
            ("a.yaml", "example: [1, 2, ...]\n"),
            ("a.py", "a = x[\n    ...,\n    0,\n]\nb: tuple[int, ...] = (1,)\n"),
            ("a.py", "T = \"\"\"\n...\n# ... existing code ...\n\"\"\"\n"),
            ("a.pyi", "def f() -> int:\n    ...\n...\n"),
            ("a.ts", "const a = {\n  ...b,\n  ...rest\n};\nf(...args);\n"),
            ("a.ts", "const a = `\n...\n`;\n"),
            ("a.js", "/*\n...\n*/\nconst a = 1;\n"),
            ("a.rs", "let A { x, .. } = a;\nlet b = 0..=9;\nlet t = r#\"\n...\n\"#;\n"),
            ("a.go", "func f(a ...int) {\n\tg(a...)\n}\n"),
            ("a.c", "void f(const char *s,\n       ...\n);\n"),
            ("run.sh", "cat <<EOF\n...\nEOF\necho \"Loading...\"\n"),
            ("README.md", "...\n\n# ... existing code ...\n\n{ ... }\n"),
            ("a.py", "# Waits for more...\nx = 1\n"),
        ] {
            assert_eq!(written_dots("", new, path), None, "{new}");
        }
    }
}
