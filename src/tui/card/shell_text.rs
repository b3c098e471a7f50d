//! Shell text in colours: programs, options, strings and operators. Colours alone: what a command is, the agent tells.

use ratatui::style::{Modifier, Style};
use ratatui::text::Span;

use crate::tui::theme::{Role, Theme};

/// Returns a line of shell text in colours.
pub fn coloured(line: &str, theme: &Theme) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let mut program = true;
    for piece in pieces(line) {
        let operator = piece.chars().all(|c| "&|;()<>".contains(c));
        let style = match piece.chars().next() {
            Some(c) if c.is_whitespace() => Style::new(),
            _ if operator => theme.style(Role::Dim),
            Some('\'' | '"') => theme.style(Role::SynString),
            Some('-') => theme.style(Role::SynNumber),
            _ if program => theme.style(Role::SynKeyword).add_modifier(Modifier::BOLD),
            _ => theme.style(Role::Text),
        };
        let redirects = piece.contains(['<', '>']);
        if operator {
            program = !redirects;
        } else if !piece.starts_with(char::is_whitespace) {
            program = false;
        }
        spans.push(Span::styled(piece.to_string(), style));
    }
    spans
}

/// Blanks, operators, strings, and what stands between.
fn pieces(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let same = |wanted: &dyn Fn(char) -> bool| rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        let length = match first {
            c if c.is_whitespace() => same(&|c| c.is_whitespace()),
            '\'' | '"' => rest[1..].find(first).map_or(rest.len(), |end| end + 2),
            c if "&|;()<>".contains(c) => same(&|c| "&|;()<>".contains(c)),
            _ => same(&|c| !c.is_whitespace() && !"&|;()<>'\"".contains(c)),
        };
        let (piece, after) = rest.split_at(length.max(first.len_utf8()));
        found.push(piece);
        rest = after;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_line_is_lost() {
        for line in ["rm -rf a && cargo run -- 'x y' | head -n 4 > \"out\"", "'unended", "  a;b", "", "ä\u{3000}ö|"] {
            assert_eq!(pieces(line).concat(), line);
        }
        assert_eq!(pieces("a&&b 'c d'"), ["a", "&&", "b", " ", "'c d'"]);
    }
}
