//! Definitions of a source text in any language, known by the form of its lines alone.

use std::ops::Range;

use crate::edit::lines::Lines;
use crate::edit::locate::indent;

/// A definition: its name, its kind, its line and how far it is indented.
#[derive(Debug, Clone, Copy)]
pub(in crate::edit::place) struct Definition<'t> {
    pub name: &'t str,
    /// Its keyword, [`FUNCTION`], [`METHOD`], or the type that a method of Go belongs to.
    pub kind: &'t str,
    pub line: usize,
    pub indent: usize,
}

/// The kind of a function, whatever its keyword is.
const FUNCTION: &str = "fn";
/// The kind of a function that no keyword begins: `add(x) {`.
pub(in crate::edit::place) const METHOD: &str = "";

/// The most lines on which the parameters of a function without a keyword stand.
const PARAMETERS: usize = 20;

/// Words that stand before parentheses and a block, or before a call, and begin no function by that.
const OTHERS: [&str; 24] = [
    "if",
    "else",
    "for",
    "foreach",
    "while",
    "until",
    "unless",
    "switch",
    "catch",
    "match",
    "when",
    "return",
    "do",
    "try",
    "synchronized",
    "new",
    "throw",
    "await",
    "yield",
    "case",
    "function",
    "fn",
    "func",
    "def",
];

pub(in crate::edit::place) fn definitions<'t>(lines: &Lines<'t>) -> Vec<Definition<'t>> {
    let found = (0..lines.len()).filter_map(|line| {
        let content = lines.content(line);
        let (kind, name) = match defined(content) {
            // In C a function may begin with the keyword of the type that it returns.
            Some(found @ ("struct" | "enum", _)) => method(lines, line).map_or(found, |name| (METHOD, name)),
            Some(found) => found,
            None => (METHOD, method(lines, line).or_else(|| expressed(content))?),
        };
        Some(Definition { name, kind, line, indent: indent(content).len() })
    });
    found.collect()
}

/// Returns the lines of a definition: up to the next line that is indented no further, a closing bracket included.
pub(in crate::edit::place) fn extent(lines: &Lines, definition: &Definition) -> Range<usize> {
    let mut end = definition.line + 1;
    for at in definition.line + 1..lines.len() {
        let line = lines.content(at);
        if line.trim().is_empty() {
            continue;
        }
        let closes = line.trim_start().starts_with(['}', ')', ']']) || line.trim() == "end" || line.trim() == "{";
        match indent(line).len() {
            deep if deep > definition.indent => end = at + 1,
            same if same == definition.indent && closes => end = at + 1,
            _ => break,
        }
    }
    definition.line..end
}

/// Returns whether a definition is over after these lines. It goes on where a line that is indented no further belongs
/// to it: `where`, the text of a string over several lines.
pub(super) fn ends_there(lines: &Lines, extent: &Range<usize>, definition: &Definition) -> bool {
    let text: Vec<&str> = extent.clone().map(|at| lines.content(at)).collect();
    let is_open = |mark: &str| text.iter().map(|line| line.matches(mark).count()).sum::<usize>() % 2 == 1;
    if ["\"\"\"", "'''", "`"].into_iter().any(is_open) {
        return false;
    }
    let is_closed = match text.as_slice() {
        [line] => line.ends_with('}'),
        [.., last] => indent(last).len() == definition.indent && last.trim_start().starts_with('}'),
        [] => false,
    };
    if is_closed || extent.end >= lines.len() {
        return true;
    }
    let line = lines.content(extent.end);
    let closes_around = indent(line).len() < definition.indent && line.trim_start().starts_with(['}', ')', ']']);
    is_decoration(line) || closes_around || defined(line).is_some() || method(lines, extent.end).is_some()
}

/// Returns the one definition that a text consists of, with nothing but comments and attributes above it.
pub(in crate::edit::place) fn lone<'t>(lines: &Lines, definitions: &[Definition<'t>]) -> Option<Definition<'t>> {
    let first = only(definitions)?;
    let last = (0..lines.len()).rev().find(|at| !lines.content(*at).trim().is_empty())?;
    let begins = (0..first.line).all(|at| is_decoration(lines.content(at)));
    (begins && extent(lines, &first).contains(&last)).then_some(first)
}

/// Returns the lines of code outside of all definitions and of the comments and attributes right above them.
pub(in crate::edit::place) fn outside(lines: &Lines, definitions: &[Definition]) -> Vec<usize> {
    let mut is_inside = vec![false; lines.len()];
    for own in definitions {
        let extent = extent(lines, own);
        is_inside[extent.start - decorated(lines, extent.start)..extent.end].fill(true);
    }
    (0..lines.len()).filter(|at| !is_inside[*at] && lines.content(*at).contains(char::is_alphanumeric)).collect()
}

/// Returns the definition that all others of a text are inside of.
pub(in crate::edit::place) fn only<'t>(definitions: &[Definition<'t>]) -> Option<Definition<'t>> {
    let (first, rest) = definitions.split_first()?;
    rest.iter().all(|other| other.indent > first.indent).then_some(*first)
}

/// Returns the definitions that are in no other one.
pub(in crate::edit::place) fn outermost<'t>(lines: &Lines, all: &[Definition<'t>]) -> Vec<Definition<'t>> {
    let mut reached = 0;
    let is_outer = |own: &&Definition| {
        let is_outer = own.line >= reached;
        reached = if is_outer { extent(lines, own).end } else { reached };
        is_outer
    };
    all.iter().filter(is_outer).copied().collect()
}

/// Returns the outermost definitions inside a class. A function has none.
pub(in crate::edit::place) fn methods<'t>(
    lines: &Lines,
    all: &[Definition<'t>],
    class: &Definition,
) -> Vec<Definition<'t>> {
    if [FUNCTION, METHOD].contains(&class.kind) {
        return Vec::new();
    }
    let extent = extent(lines, class);
    let inside = || all.iter().filter(|own| own.line > class.line && extent.contains(&own.line));
    let outermost = inside().map(|own| own.indent).min();
    inside().filter(|own| Some(own.indent) == outermost).copied().collect()
}

/// Returns how many comments and attributes stand right above a line.
pub(in crate::edit::place) fn decorated(lines: &Lines, line: usize) -> usize {
    let belongs = |at: &usize| !lines.content(*at).trim().is_empty() && is_decoration(lines.content(*at));
    (0..line).rev().take_while(belongs).count()
}

/// Returns whether a function with a keyword takes the object that it is called on: `self`, `&mut self`, `cls`.
pub(in crate::edit::place) fn has_receiver(lines: &Lines, function: &Definition) -> bool {
    let text = &lines.text[lines.spans[function.line].start..];
    let behind = |open: char| text.split_once(&format!(" {}{open}", function.name)).map(|(_, rest)| rest);
    let generic = || behind('<').and_then(|rest| rest.split_once('(')).map(|(_, rest)| rest);
    let first = behind('(').or_else(generic).unwrap_or_default().trim_start().trim_start_matches('&');
    let first = if first.starts_with('\'') { first.split_once(' ').map_or("", |(_, rest)| rest) } else { first };
    let first = first.strip_prefix("mut ").unwrap_or(first);
    ["self", "cls"].iter().any(|name| first.strip_prefix(name).is_some_and(|rest| !rest.starts_with(is_of_name)))
}

/// Returns whether a line may stand above a definition: blank lines, comments and attributes.
pub(in crate::edit::place) fn is_decoration(line: &str) -> bool {
    let line = line.trim();
    // `#items = [];` is a private field.
    let is_field = line.starts_with('#') && line.ends_with([';', '{']);
    let is_comment = || line == "*" || ["//", "/*", "* ", "*/"].iter().any(|mark| line.starts_with(mark));
    line.is_empty() || line.starts_with(['@', '#']) && !is_field || is_comment()
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the name that a text begins with.
fn name(text: &str) -> Option<&str> {
    let length = text.find(|c| !is_of_name(c)).unwrap_or(text.len());
    Some(&text[..length]).filter(|name| !name.is_empty())
}

/// Returns the kind and the name of the definition that a line begins with a keyword.
fn defined(line: &str) -> Option<(&str, &str)> {
    const BEFORE: [&str; 13] = [
        "pub",
        "export",
        "default",
        "async",
        "static",
        "public",
        "private",
        "protected",
        "abstract",
        "final",
        "unsafe",
        "override",
        "const",
    ];
    const FUNCTIONS: [&str; 4] = ["def", "fn", "func", "function"];
    const TYPES: [&str; 9] = ["class", "struct", "enum", "trait", "interface", "type", "module", "mod", "namespace"];
    let mut rest = line.trim_start();
    loop {
        if let Some(scope) = rest.strip_prefix("pub(") {
            rest = scope.split_once(") ")?.1.trim_start();
            continue;
        }
        if let Some(head) = rest.strip_prefix("impl").filter(|head| head.starts_with([' ', '<'])) {
            return Some(("impl", implemented(head)?));
        }
        let (word, after) = rest.split_once(' ')?;
        let after = after.trim_start();
        if word == "func" && after.starts_with('(') {
            let (receiver, method) = after.split_once(") ")?;
            return Some((receiver.rsplit([' ', '*', '(']).next()?, name(method)?));
        }
        let is_value = matches!(word, "const" | "let" | "var") && (line.contains("=>") || line.contains("= function"));
        if FUNCTIONS.contains(&word) || is_value {
            return Some((FUNCTION, name(after)?));
        }
        if TYPES.contains(&word) {
            return Some((word, name(after)?));
        }
        if !BEFORE.contains(&word) {
            return None;
        }
        rest = after;
    }
}

/// Returns the words of an `impl` that tell it from others: `Display for Cart`.
fn implemented(head: &str) -> Option<&str> {
    let mut deep = 0_usize;
    let parameters = head.char_indices().find(|(_, c)| {
        match c {
            '<' => deep += 1,
            '>' => deep = deep.saturating_sub(1),
            _ => {}
        }
        deep == 0
    });
    let (at, _) = parameters?;
    let bare = head[at..].trim_start_matches('>').trim_end().trim_end_matches(['{', '}']);
    Some(bare.trim()).filter(|name| !name.is_empty())
}

/// Returns the name of the function that a line begins without a keyword, as a method of TypeScript or a function of C:
/// `add(x: number): void {`.
fn method<'t>(lines: &Lines<'t>, line: usize) -> Option<&'t str> {
    let content = lines.content(line);
    let open = content.find('(').filter(|_| !is_decoration(content))?;
    let head = without_parameters(content[..open].trim_start());
    let before = head.trim_end_matches(|c| is_of_name(c) || matches!(c, '$' | '#'));
    let name = &head[before.len()..];
    let is_type = |c: char| is_of_name(c) || c == ' ' || "<>[],.?*&~:".contains(c);
    let is_other = || head.split(' ').any(|word| OTHERS.contains(&word));
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !before.chars().all(is_type) || is_other() {
        return None;
    }
    // `key: call(x) {`, `li:nth-child(2) {` and `object.call(x) {` define nothing.
    if before.replace("::", "").contains(':') || !(before.is_empty() || before.ends_with([' ', '*', '&', '~', ':'])) {
        return None;
    }
    let end = lines.spans[(line + PARAMETERS).min(lines.len() - 1)].end;
    let behind = behind_parentheses(&lines.text[lines.spans[line].start + open..end])?;
    let (rest, below) = behind.split_once('\n').unwrap_or((behind, ""));
    let (rest, opens_below) = (rest.trim(), below.trim_start().starts_with('{'));
    let says_more = [":", "->", "throws ", "const", "noexcept", "override", "final"];
    let is_head = rest.is_empty() && opens_below
        || rest.starts_with('{')
        || says_more.iter().any(|word| rest.starts_with(word)) && (rest.contains('{') || opens_below);
    is_head.then_some(name)
}

/// Returns the name of a function that a line gives as a value: `fun add(x: Int) = x + 1`, `exports.add = function (x) {`.
fn expressed(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let is_before = |before: &str| before.split(' ').all(|word| word.chars().all(|c| c.is_ascii_lowercase()));
    if let Some((_, rest)) = line.split_once("fun ").filter(|(before, _)| is_before(before)) {
        let (head, _) = rest.split_once('(').filter(|(_, behind)| behind.contains(" = "))?;
        return head.rsplit([' ', '.', '>']).next().filter(|name| !name.is_empty() && name.chars().all(is_of_name));
    }
    let (head, value) = line.split_once(" = ")?;
    let name = head.strip_prefix("module.").unwrap_or(head).strip_prefix("exports.")?;
    let is_function = value.starts_with("function") || value.starts_with("async ") || value.contains("=>");
    (is_function && name.chars().all(is_of_name)).then_some(name)
}

/// Returns the head of a function without the parameters for types behind its name: `add<T>`.
fn without_parameters(head: &str) -> &str {
    match head.strip_suffix('>').and_then(|inner| inner.rsplit_once('<')) {
        Some((name, _)) => name,
        None => head,
    }
}

/// Returns the text behind the parentheses that it begins with.
fn behind_parentheses(text: &str) -> Option<&str> {
    let mut deep = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => deep += 1,
            ')' if deep == 1 => return Some(&text[at + 1..]),
            ')' => deep -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(&str, &str)> {
        definitions(&Lines::new(text)).into_iter().map(|own| (own.kind, own.name)).collect()
    }

    #[test]
    fn a_line_defines_what_its_form_says() {
        for (text, kind, name) in [
            ("  add(name: string, quantity = 1): void {\n", METHOD, "add"),
            ("  private async load<T>(path: string): Promise<T> {\n", METHOD, "load"),
            ("  add(\n    name: string,\n  ): void {\n", METHOD, "add"),
            ("    public List<String> names(int a) throws IOException {\n", METHOD, "names"),
            ("struct node *insert(struct node *n)\n{\n", METHOD, "insert"),
            ("int main(void) {\n", METHOD, "main"),
            ("struct node {\n", "struct", "node"),
            ("func (c *Cart) Total() int {\n", "Cart", "Total"),
            ("func Total() int {\n", FUNCTION, "Total"),
            ("pub(in crate::a) fn b<T>(x: T) {\n", FUNCTION, "b"),
            ("impl<'a, T: Into<u8>> fmt::Display for Cart<T> {\n", "impl", "fmt::Display for Cart<T>"),
            ("impl Cart {\n", "impl", "Cart"),
            ("export const add = (x) => {\n", FUNCTION, "add"),
        ] {
            assert_eq!(found(text), [(kind, name)], "{text}");
        }
        for text in [
            "  if (a) {\n",
            "  } else if (a) {\n",
            "  for (const x of f(y)) {\n",
            "  switch (x) {\n",
            "  foo(x);\n",
            "  items.forEach((x) => {\n",
            "  describe(\"x\", () => {\n",
            "  return call(x) {\n",
            "  object.call(x) {\n",
            "  key: call(x) {\n",
            "li:nth-child(2) {\n",
            "  Some(x) => {\n",
            "  match value(x) {\n",
            "    print(x)\n",
            "// add(x) {\n",
            "   * add(x) {\n",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
    }
}
