//! Paths as models write them, with quotes, labels and line numbers around them.

use super::locate::folded_line;
use crate::proposal::Rung;

/// Words that models put before a path, as in `path: src/a.rs`, and the mark of the root in the list of files.
const LABELS: [&str; 13] = [
    "file://",
    "path:",
    "path：",
    "path=",
    "file:",
    "file：",
    "file=",
    "filename:",
    "filename：",
    "filename=",
    "filepath:",
    "filepath=",
    "./:",
];

/// Marks that stand around a path.
const AROUND: [(&str, &str); 8] =
    [("“", "”"), ("„", "“"), ("‘", "’"), ("«", "»"), ("「", "」"), ("『", "』"), ("**", "**"), ("<", ">")];
/// Marks that stand around a path where an extension shows that its name ends inside of them.
const AROUND_FILE: [(&str, &str); 5] = [("__", "__"), ("_", "_"), ("*", "*"), ("(", ")"), ("[", "]")];
/// Quotes of which one alone may be left at the end of a path, or at its beginning.
const QUOTES: [(char, char); 3] = [('“', '”'), ('‘', '’'), ('«', '»')];

/// Returns a path without quotes, marks, a label (`path:`) or the place in the file around it. Nothing that is left out
/// belongs to the name of a file, whether there is one or not.
pub fn bare(name: &str) -> &str {
    let mut bare = name.trim();
    loop {
        let inner = bare.trim_matches(['`', '"', '\'', ' ']);
        let label = LABELS.iter().find_map(|label| {
            let (head, rest) = inner.split_at_checked(label.len())?;
            head.eq_ignore_ascii_case(label).then_some(rest)
        });
        let inner = without_line(unmarked(label.unwrap_or(inner)));
        let inner = with_words(inner).map_or(inner, |(path, _)| path);
        if inner == bare || inner.is_empty() {
            return bare;
        }
        bare = inner;
    }
}

/// Returns a path without marks around it and the sign that ends a sentence or a part of it.
fn unmarked(path: &str) -> &str {
    let inside = |(open, close): &(&str, &str)| path.strip_prefix(open)?.strip_suffix(close);
    let file = || AROUND_FILE.iter().find_map(|around| inside(around).filter(|inner| has_extension(inner)));
    if let Some(inner) = AROUND.iter().find_map(inside).or_else(file) {
        return inner;
    }
    let end = QUOTES.iter().find_map(|(open, close)| path.strip_suffix(*close).filter(|rest| !rest.contains(*open)));
    let begin =
        || QUOTES.iter().find_map(|(open, close)| path.strip_prefix(*open).filter(|rest| !rest.contains(*close)));
    let sign = || path.strip_suffix([',', ';']).filter(|rest| has_extension(rest));
    let stop = || path.strip_suffix('.').filter(|rest| rest.contains('/') && has_extension(rest));
    end.or_else(begin).or_else(sign).or_else(stop).unwrap_or(path)
}

/// Extensions of files that code does not have after a dot.
const EXTENSIONS: &str = "py pyi rs go js jsx mjs cjs ts tsx java kt kts scala swift c h cc cpp cxx hpp hh cs fs vb rb php pl lua \
    r jl ex exs erl hs ml clj dart zig nim sh bash zsh fish ps1 bat cmd sql html htm css scss sass less vue \
    svelte astro xml svg json jsonc json5 yaml yml toml ini cfg conf env properties gradle tf hcl proto \
    graphql gql md mdx rst txt adoc tex csv tsv ipynb lock cmake mk nix service ejs j2";

/// Returns whether files have this extension, in small letters, and code has none such after a dot.
pub(in crate::edit) fn is_usual_extension(extension: &str) -> bool {
    EXTENSIONS.split(' ').any(|own| own == extension)
}

/// Returns a path, and the words that a colon parts from it: `a.py：新增测试`, `a.py: new tests`. The number of a line is no such
/// words, nor is the name of a definition (`a.py::f`).
pub(in crate::edit) fn with_words(text: &str) -> Option<(&str, &str)> {
    text.match_indices([':', '：']).find_map(|(at, colon)| {
        let path = text[..at].trim_end_matches(['*', '`', '"', '\'', ' ']);
        let behind = &text[at + colon.len()..];
        let words = behind.trim_start_matches(['*', '`', ' ']);
        let first = words.chars().next().filter(|first| first.is_alphabetic())?;
        let is_apart = colon == "：" || behind.starts_with([' ', '*']) || !first.is_ascii();
        let is_line = || {
            words
                .trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == ' ')
                .starts_with(|c: char| c.is_ascii_digit())
        };
        let is_file = has_extension(path) && is_usual_extension(&extension(path).to_lowercase());
        (is_apart && is_file && !(words.to_ascii_lowercase().starts_with('l') && is_line())).then_some((path, words))
    })
}

/// Returns whether a path ends in an extension.
pub(in crate::edit) fn has_extension(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(_, extension)| {
        (1..=12).contains(&extension.len())
            && extension.starts_with(|c: char| c.is_ascii_alphabetic())
            && extension.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    })
}

/// Returns whether a path where nothing is may be that of a file: but for case, composed characters and folders in front.
pub(in crate::edit) fn may_name(path: &str, file: &str) -> bool {
    let folded = |path: &str| folded_line(path, Rung::LookAlikes).to_lowercase();
    let (path, file) = (folded(path.strip_prefix("./").unwrap_or(path)), folded(file));
    file.strip_suffix(&path).is_some_and(|front| !path.is_empty() && (front.is_empty() || front.ends_with('/')))
}

/// Returns a path without the place in the file behind it: `a.py:12`, `a.py:12-20`, `a.py#L5-L6`, `a.py(5)`,
/// `a.py (lines 1-10)`, `a.py, line 5`.
fn without_line(path: &str) -> &str {
    let named = |text: &str| {
        let lower = text.trim().to_ascii_lowercase();
        ["lines", "line", "l"].iter().find_map(|word| lower.strip_prefix(word)).is_some_and(is_span)
    };
    let behind = |mark: char, is: &dyn Fn(&str) -> bool| {
        path.rsplit_once(mark).filter(|(before, place)| !before.is_empty() && is(place)).map(|(before, _)| before)
    };
    let in_brackets = || {
        let (before, inside) = path.strip_suffix(')')?.rsplit_once('(')?;
        (named(inside) || is_span(inside) && has_extension(before.trim_end())).then_some(before)
    };
    let in_words = || {
        let (before, place) = path.trim_end().rsplit_once(' ')?;
        let (before, word) = before.rsplit_once(' ')?;
        let is_line = matches!(word.to_ascii_lowercase().as_str(), "line" | "lines") && is_span(place);
        let before = before.trim_end_matches([' ', ',', '@']);
        let before = before.strip_suffix(" at").unwrap_or(before).trim_end();
        (is_line && has_extension(before)).then_some(before)
    };
    let found = behind(':', &is_span).or_else(|| behind('#', &named)).or_else(in_brackets).or_else(in_words);
    found.filter(|before| !before.trim().is_empty()).unwrap_or(path)
}

/// Returns whether a text is the number of a line, or that of the first and the last one: `12`, `12-20`, `L5-L6`.
fn is_span(text: &str) -> bool {
    let is_number = |n: &str| {
        let n = n.trim();
        let n = n.strip_prefix(['L', 'l']).unwrap_or(n);
        !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())
    };
    text.split(['-', '–']).flat_map(|part| part.split(" to ")).all(is_number)
}

/// Returns the first and the last line of the range behind a path: `a.py:8-43`, `a.py#L8-L43`, `a.py (lines 8-43)`.
pub(in crate::edit) fn line_range(text: &str) -> Option<(usize, usize)> {
    let lower = text.to_ascii_lowercase();
    [" to ", "-", "–", ":"].iter().find_map(|between| {
        lower.match_indices(between).find_map(|(at, _)| {
            let (before, after) = (lower[..at].trim_end(), lower[at + between.len()..].trim_start());
            let lead = before.trim_end_matches(|c: char| c.is_ascii_digit());
            let first = before[lead.len()..].parse().ok()?;
            let after = after.strip_prefix('l').unwrap_or(after);
            let digits = after.bytes().take_while(u8::is_ascii_digit).count();
            let last = after[..digits].parse().ok()?;
            let lead = lead.strip_suffix('l').unwrap_or(lead).trim_end();
            let named = lead.ends_with([':', '#', '(']) || lead.ends_with("lines") || lead.ends_with("line");
            // `8:43:a.py`, as some editors quote.
            let quoted = *between == ":" && lead.is_empty() && after[digits..].starts_with(':');
            let fits = if *between == ":" { quoted } else { named };
            (fits && first >= 1 && first <= last).then_some((first, last))
        })
    })
}

/// Languages: their names, and the endings of their files.
const LANGUAGES: [&str; 17] = [
    "python py pyi",
    "javascript js jsx mjs cjs typescript ts tsx",
    "rust rs",
    "golang go",
    "c h cpp c++ cc cxx hpp hh",
    "csharp cs",
    "java kotlin kt kts",
    "ruby rb",
    "sql",
    "toml",
    "json jsonc json5",
    "yaml yml",
    "html htm",
    "css scss less",
    "markdown md mdx",
    "bash sh shell zsh",
    "text plaintext txt",
];

/// Returns whether a word is the name of the language that files of this path are written in.
pub(in crate::edit) fn is_language(word: &str, path: &str) -> bool {
    language(word).is_some_and(|own| language(extension(path)) == Some(own))
}

/// Returns whether a word is the name of a language, and files of this path are written in another one.
pub(in crate::edit) fn is_other_language(word: &str, path: &str) -> bool {
    language(word).is_some_and(|own| language(extension(path)).is_some_and(|other| other != own))
}

fn language(word: &str) -> Option<usize> {
    LANGUAGES.iter().position(|names| names.split(' ').any(|name| name.eq_ignore_ascii_case(word)))
}

fn extension(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// Returns whether a file is prose, in which fences and marks of all kinds are at home.
pub(in crate::edit) fn is_prose(path: &str) -> bool {
    const PROSE: [&str; 7] = ["md", "markdown", "mdx", "mdc", "rst", "txt", "adoc"];
    path.rsplit_once('.').is_some_and(|(_, ext)| PROSE.contains(&ext.to_ascii_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::{bare, line_range};

    #[test]
    fn marks_around_a_path_are_no_part_of_it() {
        for text in [
            "`src/calc.py`",
            "“src/calc.py”",
            "‘src/calc.py’",
            "«src/calc.py»",
            "src/calc.py”",
            "“src/calc.py",
            "「src/calc.py」",
            "_src/calc.py_",
            "__src/calc.py__",
            "**src/calc.py**",
            "**`src/calc.py`**:12",
            "<src/calc.py>",
            "(src/calc.py)",
            "src/calc.py#L5",
            "src/calc.py#L5-L6",
            "src/calc.py:5",
            "src/calc.py:5-6",
            "src/calc.py:5:9",
            "src/calc.py(5)",
            "src/calc.py (5)",
            "src/calc.py (line 5)",
            "src/calc.py (lines 1-10)",
            "src/calc.py, line 5",
            "src/calc.py line 5",
            "src/calc.py lines 5–6",
            "src/calc.py @ line 5",
            "src/calc.py,",
            "src/calc.py.",
            "path=\"src/calc.py\"",
            "Path：src/calc.py",
            "file=\"src/calc.py\":12",
            "path: `src/calc.py:12`",
        ] {
            assert_eq!(bare(text), "src/calc.py", "{text}");
        }
        assert_eq!(bare("file:///src/calc.py"), "/src/calc.py");
        for remark in ["：新增测试", ":新增测试", "： 新規作成", ": new tests", "**: nuevas pruebas", "`: the sums"]
        {
            assert_eq!(bare(&format!("src/calc.py{remark}")), "src/calc.py", "{remark}");
        }
    }

    #[test]
    fn names_of_files_stay_as_they_are() {
        for name in [
            "src/__init__.py",
            "__tests__",
            "app/(shop)/[id]/page.tsx",
            "(shop)/page.tsx",
            "[slug].tsx",
            "report (5).txt",
            "calc(5)",
            "_config.yml",
            "a_.py",
            "「メモ」.txt",
            "don’t.md",
            "C#.md",
            "src/calc.py::add",
            "notes: today.md",
            "src/app:main",
            "notes#1.md",
            "line 5",
            "the line 5.txt",
            "e.g.",
            "..",
            "a/..",
            "Makefile",
        ] {
            assert_eq!(bare(name), name);
        }
    }

    #[test]
    fn a_range_of_lines_stands_behind_a_path() {
        for text in [
            "cart.py:8-43",
            "cart.py (lines 8-43)",
            "`cart.py` lines 8-43:",
            "### cart.py#L8-L43",
            "cart.py (8–43)",
            "cart.py, lines 8 to 43",
            "8:43:cart.py",
            "python cart.py:8-43",
        ] {
            assert_eq!(line_range(text), Some((8, 43)), "{text}");
        }
        for text in ["cart.py", "cart.py:8", "2024-01-02.md", "a-1-2.py", "cart.py (new)", "lines 43-8", "at 8:43"] {
            assert_eq!(line_range(text), None, "{text}");
        }
    }
}
