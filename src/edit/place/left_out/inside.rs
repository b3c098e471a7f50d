//! Elisions inside of a line: `function stop() { ... }`, `def g(n): ...`, `<head>...</head>`. A line of the old text with the
//! same head says what they stand for.

use super::marks::{LONGEST, LeftOut, mark, trimmed};
use super::words::says_staying;
use crate::edit::lines::Lines;
use crate::edit::locate::{commented, indent, loose_dots};

/// A line whose inside is no more than dots or a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hollow<'t> {
    /// The line up to its bracket or colon, or to the end of its tag.
    head: &'t str,
    kind: Kind<'t>,
    /// The text behind the closing bracket; none where that is on another line.
    tail: Option<&'t str>,
    /// True of dots, and of a comment that says that something stays.
    is_sure: bool,
}

/// The sign that begins an inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind<'t> {
    Bracket(char, char),
    /// A colon, or the sign of an assignment.
    Sign(char),
    Tag(&'t str),
}

const PAIRS: [(char, char); 3] = [('{', '}'), ('[', ']'), ('(', ')')];

/// A line of a new text whose inside stands for lines of the old one.
struct Gap<'n> {
    line: &'n str,
    at: usize,
    hollow: Hollow<'n>,
    /// The lines of code that it stands for, at the most.
    lines: usize,
}

/// Returns a line of a new text whose inside stands for what the old text has there.
pub(super) fn left_out_inside<'n>(old: &str, new: &'n str) -> Option<LeftOut<'n>> {
    let gaps = gaps(&Lines::new(old), &Lines::new(new));
    let is_sure = |gap: &&Gap| match gap.hollow.kind {
        Kind::Bracket('{', _) => gap.hollow.is_sure,
        _ => gap.hollow.is_sure && gap.lines > 1 && !is_abstract(old, new, gap),
    };
    let sure = gaps.iter().find(is_sure).map(|gap| LeftOut::Surely(gap.line));
    sure.or_else(|| gaps.first().map(|gap| LeftOut::Perhaps(gap.line)))
}

/// Returns whether a line is hollow between brackets, such as no language has it.
pub(super) fn is_hollow(line: &str) -> bool {
    let is_braced = |hollow: Hollow| hollow.is_sure && hollow.tail.is_some() && hollow.kind == Kind::Bracket('{', '}');
    !line.starts_with(['*', '/', '-']) && hollow(line).is_some_and(is_braced)
}

/// Returns a new text with the lines of the old one for which hollow lines of it surely stand, and the first of those. Nothing
/// where one of them has no certain place.
pub(in crate::edit::place) fn filled<'n>(old: &str, new: &'n str) -> Option<(String, &'n str)> {
    let (hay, part) = (Lines::new(old), Lines::new(new));
    let gaps: Vec<Gap> = gaps(&hay, &part).into_iter().filter(|gap| gap.hollow.is_sure).collect();
    let first = gaps.first()?.line;
    let (mut text, mut reached) = (String::with_capacity(new.len() + old.len()), 0);
    for gap in &gaps {
        let own = own_lines(&hay, &part, gap)?;
        let span = &part.spans[gap.at];
        text.push_str(&new[reached..span.start]);
        text.push_str(&own);
        reached = span.end;
    }
    text.push_str(&new[reached..]);
    Some((text, first))
}

/// Returns the lines of the old text for which a line stands, where there is no doubt about them.
fn own_lines(hay: &Lines, part: &Lines, gap: &Gap) -> Option<String> {
    let hollow = &gap.hollow;
    let [at] = heads(hay, hollow)[..] else { return None };
    let [_] = heads(part, hollow)[..] else { return None };
    let depth = indent(hay.content(at));
    if depth != indent(part.content(gap.at)) {
        return None;
    }
    let block = block(hay, at, hollow);
    let parts = [',', ';'];
    let (mut end, tail) = match (hollow.kind, hollow.tail) {
        // Keys below a key have no brackets.
        (Kind::Bracket(..), Some(_)) if hay.content(at).trim() == hollow.head && hollow.head.ends_with(':') => {
            (None, "")
        }
        (Kind::Bracket(_, close), Some(tail)) => (Some(close.to_string()), tail),
        (Kind::Tag(name), Some(tail)) => (Some(format!("</{name}>")), tail),
        _ => (None, ""),
    };
    let bare = tail.trim_end_matches(parts);
    let mut own: Vec<&str> = (at..block).map(|at| hay.content(at)).collect();
    if let Some(end) = &mut end {
        end.push_str(bare);
        let closing = if block > at + 1 { hay_line(hay, block)? } else { own.pop()? };
        let is_its = closing.trim().trim_end_matches(parts).ends_with(&**end);
        let is_alone = block == at + 1 || indent(closing) == depth && closing.trim().trim_end_matches(parts) == *end;
        if !is_its || !is_alone {
            return None;
        }
        own.push(closing.trim_end().trim_end_matches(parts));
    }
    Some(own.join("\n") + &tail[bare.len()..])
}

fn hay_line<'t>(lines: &Lines<'t>, at: usize) -> Option<&'t str> {
    (at < lines.len()).then(|| lines.content(at))
}

/// Returns the hollow lines of a new text in whose place the old text has code.
fn gaps<'n>(hay: &Lines, part: &Lines<'n>) -> Vec<Gap<'n>> {
    let mut gaps = Vec::new();
    let mut own = None;
    for at in 0..part.len() {
        let line = part.content(at).trim();
        let Some(hollow) = hollow(line) else { continue };
        if own.get_or_insert_with(|| trimmed(hay.text)).contains(line) || code(part, at, &hollow) > 0 {
            continue;
        }
        let full = |lines: &Lines| -> Vec<usize> {
            heads(lines, &hollow).into_iter().map(|at| code(lines, at, &hollow)).filter(|count| *count > 0).collect()
        };
        let there = full(hay);
        let lines = there.iter().copied().max().unwrap_or(0);
        if there.len() > full(part).len() && (hollow.is_sure || lines > 1) {
            gaps.push(Gap { line, at, hollow, lines });
        }
    }
    gaps
}

/// Returns whether a definition without a body is one that has none in Python: it became abstract, or another form of one.
fn is_abstract(old: &str, new: &str, gap: &Gap) -> bool {
    let above = new.lines().take(gap.at).last().unwrap_or_default().trim();
    let is_said = ["abstractmethod", "overload"].iter().any(|word| above.starts_with('@') && above.ends_with(word));
    let becomes = |word: &&str| new.contains(*word) && !old.contains(*word);
    gap.hollow.kind == Kind::Sign(':') && (is_said || ["(Protocol", "(ABC"].iter().any(becomes))
}

/// Returns what of a line is around an inside that is left out.
fn hollow(text: &str) -> Option<Hollow<'_>> {
    if text.len() > LONGEST {
        return None;
    }
    tagged(text).or_else(|| between_brackets(text)).or_else(|| behind_sign(text))
}

fn tagged(text: &str) -> Option<Hollow<'_>> {
    let name = text.strip_prefix('<')?;
    let name = &name[..name.find(|c: char| !(c.is_alphanumeric() || c == '-'))?];
    let (head, rest) = text.split_at(text.find('>')? + 1);
    let (inner, tail) = rest.split_once("</")?;
    let tail = tail.strip_prefix(name)?.strip_prefix('>')?;
    let is_sure = left_out_of(inner.trim(), true)?;
    tail.is_empty().then_some(Hollow { head, kind: Kind::Tag(name), tail: Some(""), is_sure })
}

fn between_brackets(text: &str) -> Option<Hollow<'_>> {
    let openers = text.char_indices().filter_map(|(at, c)| Some((at, PAIRS.iter().find(|pair| pair.0 == c)?)));
    for (at, (open, close)) in openers {
        let (head, rest) = (text[..at].trim_end(), &text[at + 1..]);
        if !head.contains(char::is_alphanumeric) {
            continue;
        }
        let kind = Kind::Bracket(*open, *close);
        for (end, _) in rest.match_indices(*close) {
            let tail = rest[end + 1..].trim();
            let is_end = tail.chars().all(|c| ")]},;".contains(c));
            let inner = rest[..end].trim();
            let is_begun = || *open != '(' && [", ...", ", …"].iter().any(|dots| inner.ends_with(dots));
            if is_end && is_begun() {
                return Some(Hollow { head, kind, tail: Some(tail), is_sure: true });
            }
            if inner.is_empty() && says_staying(commented(tail).unwrap_or_default()) == Some(true) {
                return Some(Hollow { head, kind, tail: None, is_sure: true });
            }
            if let Some(is_sure) = left_out_of(inner, true).filter(|_| is_end) {
                return Some(Hollow { head, kind, tail: Some(tail), is_sure });
            }
        }
        if let Some(is_sure) = left_out_of(rest.trim(), false) {
            return Some(Hollow { head, kind, tail: None, is_sure });
        }
    }
    None
}

fn behind_sign(text: &str) -> Option<Hollow<'_>> {
    let is_head = |head: &str| head.contains(char::is_alphanumeric) && !head.ends_with([':', '=', '<', '>', '!']);
    let mut signs = text.match_indices([':', '=']);
    signs.find_map(|(at, sign)| {
        let (head, inner) = (text[..at].trim_end(), text[at + 1..].trim());
        let bare = inner.trim_end_matches([',', ';']);
        // Dots in quotes may be a text.
        let quoted = ['"', '\''].iter().find_map(|sign| bare.strip_prefix(*sign)?.strip_suffix(*sign));
        let is_sure = match quoted {
            Some(text) => loose_dots(text).then_some(false),
            None => left_out_of(bare, false),
        };
        let is_sure = is_sure.filter(|_| is_head(head))?;
        Some(Hollow { head, kind: Kind::Sign(sign.chars().next()?), tail: None, is_sure })
    })
}

/// Returns whether an inside surely stands for what is left out; nothing where it holds anything else than dots or a comment,
/// which may go on to the end of the line unless it `is_closed`.
fn left_out_of(inner: &str, is_closed: bool) -> Option<bool> {
    if loose_dots(inner) {
        return Some(true);
    }
    const PAIRED: [&str; 4] = ["/*", "<!--", "{/*", "(*"];
    let is_comment = PAIRED.iter().any(|sign| inner.starts_with(sign))
        || !is_closed && ["//", "# "].iter().any(|sign| inner.starts_with(sign));
    if let Some(said) = commented(inner).filter(|_| is_comment) {
        let said = said.trim();
        let is_dotted = said.starts_with("...") || said.starts_with('…') || loose_dots(said);
        return Some(is_dotted || says_staying(said) == Some(true));
    }
    let words = inner.strip_prefix("...").or_else(|| inner.strip_prefix('…'))?;
    (words.starts_with(' ') && mark(inner).is_some()).then_some(true)
}

/// Returns the lines of a text that begin with a head.
fn heads(lines: &Lines, hollow: &Hollow) -> Vec<usize> {
    let is_head = |at: &usize| {
        let Some(rest) = lines.content(*at).trim().strip_prefix(hollow.head).map(str::trim_start) else { return false };
        let next = || (at + 1..lines.len()).map(|at| lines.content(at).trim()).find(|line| !line.is_empty());
        match hollow.kind {
            Kind::Tag(_) => true,
            Kind::Sign(sign) => rest.starts_with(sign),
            Kind::Bracket(open, _) if rest.is_empty() => {
                hollow.head.ends_with(':') || next().is_some_and(|line| line.starts_with(open))
            }
            Kind::Bracket(open, _) => rest.starts_with(open),
        }
    };
    (0..lines.len()).filter(is_head).collect()
}

/// Returns the end of the lines below a head that belong to it, without the one that closes it.
fn block(lines: &Lines, at: usize, hollow: &Hollow) -> usize {
    let depth = indent(lines.content(at)).len();
    let text = lines.content(at).trim();
    let is_outside = |line: &str| indent(line).len() <= depth;
    let until = |is_end: &dyn Fn(&str) -> bool| {
        (at + 1..lines.len()).find(|at| is_outside(lines.content(*at)) && is_end(lines.content(*at).trim()))
    };
    let opened = text[hollow.head.len().min(text.len())..].trim_start();
    let closed = match hollow.kind {
        Kind::Bracket(open, _) if opened.is_empty() && hollow.head.ends_with(':') => {
            let is_item = |line: &str| line.trim_start().starts_with("- ") && indent(line).len() == depth;
            return below(lines, at, |line| !is_outside(line) || open == '[' && is_item(line));
        }
        Kind::Bracket(open, close) if opened.is_empty() || opened.ends_with(open) => {
            until(&|line| line.starts_with(close))
        }
        Kind::Tag(name) if opened.is_empty() => until(&|line| line.starts_with(&format!("</{name}"))),
        Kind::Tag(_) => return at + 1,
        Kind::Sign(_) => {
            let close = PAIRS.iter().find(|(open, _)| opened.ends_with(*open));
            close.and_then(|(_, close)| until(&|line| line.starts_with(*close))).map(|at| at + 1)
        }
        Kind::Bracket(..) => None,
    };
    closed.unwrap_or_else(|| below(lines, at, |line| !is_outside(line)))
}

/// Returns the end of the lines below one that are inside of it.
fn below(lines: &Lines, at: usize, is_inside: impl Fn(&str) -> bool) -> usize {
    let mut end = at + 1;
    for next in at + 1..lines.len() {
        match lines.content(next) {
            line if line.trim().is_empty() => {}
            line if is_inside(line) => end = next + 1,
            _ => break,
        }
    }
    end
}

/// Returns how many lines of code a head has below it; one where its inside is on the line itself.
fn code(lines: &Lines, at: usize, hollow: &Hollow) -> usize {
    const NOTHING: [&str; 3] = ["pass", "...", "pass;"];
    let is_code = |at: &usize| {
        let line = lines.content(*at).trim();
        line.contains(char::is_alphanumeric) && commented(line).is_none() && !NOTHING.contains(&line)
    };
    let text = lines.content(at).trim();
    let own = text[hollow.head.len().min(text.len())..].trim_start_matches([' ', ':', '{', '[', '(']);
    let is_own = self::hollow(text).is_none() && own.contains(char::is_alphanumeric) && !NOTHING.contains(&own);
    (at + 1..block(lines, at, hollow)).filter(is_code).count() + usize::from(is_own && commented(own).is_none())
}

#[cfg(test)]
mod tests {
    use super::super::left_out;
    use super::*;

    const JS: &str = "const cfg = {\n  host: \"a\",\n  port: 1,\n};\n\nfunction run() {\n  return cfg.port;\n}\n\nfunction stop() {\n  console.log(cfg.host);\n  return 0;\n}\n\nmodule.exports = { run, stop };\n";
    const STOP: &str = "function stop() {\n  console.log(cfg.host);\n  return 0;\n}\n";
    const PY: &str = "import sys\n\nUSERS = {\n    \"a\": 1,\n    \"b\": 2,\n}\n\n\ndef f(n):\n    return USERS[n]\n\n\ndef g(n):\n    if n not in USERS:\n        return 0\n    return len(n)\n";
    const G: &str = "def g(n):\n    if n not in USERS:\n        return 0\n    return len(n)\n";
    const HTML: &str = "<html>\n<head>\n<title>Shop</title>\n<link href=\"s.css\">\n</head>\n<body>\n  <h1>Shop</h1>\n</body>\n</html>\n";
    const HEAD: &str = "<head>\n<title>Shop</title>\n<link href=\"s.css\">\n</head>\n";
    const JSON: &str =
        "{\n  \"version\": \"1\",\n  \"scripts\": {\n    \"start\": \"a\",\n    \"test\": \"b\"\n  }\n}\n";
    const SCRIPTS: &str = "  \"scripts\": {\n    \"start\": \"a\",\n    \"test\": \"b\"\n  }\n";
    const YAML: &str = "web:\n  image: a\n  port: 1\ndb:\n  image: b\n  port: 2\nports:\n- 1\n- 2\n";
    const DB: &str = "db:\n  image: b\n  port: 2\n";
    const C: &str = "int count(char *s)\n{\n    int n = 0;\n    return n;\n}\n\nint main(void) {\n    return 0;\n}\n";
    const COUNT: &str = "int count(char *s)\n{\n    int n = 0;\n    return n;\n}\n";
    const CSS: &str = "body {\nmargin: 0;\npadding: 0;\n}\n\nh1 {\n  color: navy;\n}\n";

    #[test]
    fn dots_inside_of_a_line_stand_for_what_the_file_has_there() {
        let users = "USERS = {\n    \"a\": 1,\n    \"b\": 2,\n}\n";
        let cfg = "const cfg = {\n  host: \"a\",\n  port: 1,\n};\n";
        let ports = "ports:\n- 1\n- 2\n";
        for (old, from, to) in [
            (JS, STOP, "function stop() { ... }\n"),
            (JS, STOP, "function stop() { … }\n"),
            (JS, STOP, "function stop() { /* unchanged */ }\n"),
            (JS, STOP, "function stop() { /* ... */ }\n"),
            (JS, STOP, "function stop() { ... existing code ... }\n"),
            (JS, STOP, "function stop() { // ...\n}\n"),
            (JS, cfg, "const cfg = {...};\n"),
            (PY, users, "USERS = {...}\n"),
            (PY, users, "USERS = {\"a\": 1, ...}\n"),
            (PY, users, "USERS = ...\n"),
            (PY, G, "def g(n): ...\n"),
            (PY, G, "def g(n): # unchanged\n"),
            (HTML, HEAD, "<head>...</head>\n"),
            (HTML, HEAD, "<head><!-- unchanged --></head>\n"),
            (JSON, SCRIPTS, "  \"scripts\": { ... }\n"),
            (YAML, DB, "db: ...\n"),
            (YAML, DB, "db: {...}\n"),
            (YAML, DB, "db: # unchanged\n"),
            (YAML, ports, "ports: [...]\n"),
            (C, COUNT, "int count(char *s) { ... }\n"),
            (CSS, "body {\nmargin: 0;\npadding: 0;\n}\n", "body { ... }\n"),
        ] {
            let new = old.replace(from, to);
            assert_ne!(new, old, "{to}");
            let first = to.lines().next().expect("a line").trim();
            assert_eq!(left_out(old, &new), Some(LeftOut::Surely(first)), "{new}");
            assert_eq!(filled(old, &new), Some((old.to_string(), first)), "{new}");
        }
        // What stands beside it keeps the sign between them.
        let more = JSON.replace(SCRIPTS, "  \"scripts\": { ... },\n  \"x\": 1\n");
        let text = filled(JSON, &more).expect("filled").0;
        assert_eq!(text, JSON.replace("\"b\"\n  }\n", "\"b\"\n  },\n  \"x\": 1\n"));
        // Another head has no certain place, and a comment may say anything.
        for line in ["function stop(now) { ... }", "function stop() { /* as you like */ }"] {
            let new = JS.replace(STOP, &format!("{line}\n"));
            assert_eq!(left_out(JS, &new), Some(LeftOut::Perhaps(line)));
            assert_eq!(filled(JS, &new), None);
        }
    }

    #[test]
    fn dots_that_a_language_has_stand_for_nothing() {
        let stub = "class A(Protocol):\n    def one(self): ...\n\n\ndef f(n):\n    return n\n";
        let spread = "const a = {\n  x: 1,\n  y: 2,\n};\nf(a, b);\n";
        for (old, new) in [
            (stub, stub.replace("return n", "return n + 1")),
            (stub, stub.replace("\n\n\ndef", "\n    def two(self): ...\n\n\ndef")),
            (PY, format!("@overload\ndef g(n: int) -> int: ...\n{PY}")),
            (PY, format!("@overload\ndef g(n): ...\n{PY}")),
            (PY, PY.replace("def g(n):", "def g(n):  # unchanged")),
            (spread, spread.replace("  x: 1,\n  y: 2,\n", "  ...defaults,\n")),
            (spread, spread.replace("{\n  x: 1,\n  y: 2,\n}", "{ ...defaults }")),
            (spread, spread.replace("f(a, b)", "f(...args)")),
            ("print(\"Loading\")\nx = 1\n", "print(\"Loading {...}\")\nx = 1\n".to_string()),
            ("func f(a int, b int) {\n\tg(a, b)\n}\n", "func f(a ...int) {\n\tg(a...)\n}\n".to_string()),
            ("let a = S { x: 1, y: 2 };\n", "let a = S { x: 1, ..Default::default() };\n".to_string()),
            ("int f(int a);\n", "int f(const char *s, ...);\n".to_string()),
        ] {
            assert_eq!(left_out(old, &new), None, "{new}");
        }
        let new = PY.replace(G, "@abstractmethod\ndef g(n): ...\n");
        assert_eq!(left_out(PY, &new), Some(LeftOut::Perhaps("def g(n): ...")));
        // For one line they may be the new body.
        let new = PY.replace("def f(n):\n    return USERS[n]\n", "def f(n): ...\n");
        assert_eq!(left_out(PY, &new), Some(LeftOut::Perhaps("def f(n): ...")));
    }
}
