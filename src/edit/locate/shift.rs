//! Indentation that differs in the same way on every line.

use super::fold;

/// The change of indentation from the model's text to the file's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::edit) enum Shift {
    /// Both indentations are the same.
    None,
    /// The file has this in front of it.
    Add(String),
    /// The model has this in front of it.
    Remove(String),
    /// Counted in columns with tabs of this width, the file is `by` further right; written with tabs or without.
    Columns { width: usize, by: isize, tabs: bool },
    /// One level is `own` spaces in the file where it is `given` in the model's text.
    Levels { given: usize, own: usize },
}

/// Widths of a tab, the likely ones first.
const WIDTHS: [usize; 5] = [4, 2, 8, 3, 1];

impl Shift {
    /// Returns the one shift that explains every pair of (model's, file's) indentation, if there is one.
    pub fn uniform(pairs: &[(&str, &str)]) -> Option<Shift> {
        let (first, rest) = match pairs.split_first() {
            None => return Some(Shift::None),
            Some((first, rest)) => (first, rest),
        };
        let simple = Shift::of_pair(first.0, first.1);
        if let Some(shift) = simple
            && rest.iter().all(|(model, file)| Shift::of_pair(model, file).as_ref() == Some(&shift))
        {
            return Some(shift);
        }
        let tabs = |side: &str| side.contains('\t');
        if !pairs.iter().any(|(model, file)| tabs(model) || tabs(file)) {
            return Shift::levels(pairs);
        }
        let by = |pair: &(&str, &str), width| columns(pair.1, width) as isize - columns(pair.0, width) as isize;
        let explains = |width: &usize| rest.iter().all(|pair| by(pair, *width) == by(first, *width));
        // Of several widths that explain everything, the one by which least is shifted.
        let width = WIDTHS.into_iter().filter(explains).min_by_key(|w| by(first, *w).abs())?;
        let tabs = pairs.iter().any(|(_, file)| tabs(file));
        Some(Shift::Columns { width, by: by(first, width), tabs })
    }

    /// Returns the shift from one number of spaces for each level to another one, if that explains every pair.
    fn levels(pairs: &[(&str, &str)]) -> Option<Shift> {
        let given = pairs.iter().fold(0, |all, (model, _)| common_divisor(all, model.len()));
        let own = pairs.iter().fold(0, |all, (_, file)| common_divisor(all, file.len()));
        let is_width = |width: usize| (2..=8).contains(&width);
        // Neither one lost a space only.
        let is_whole = given.max(own).checked_rem(given.min(own)) == Some(0);
        let is_level = |(model, file): &(&str, &str)| model.len() / given == file.len() / own;
        (is_whole && is_width(given) && is_width(own) && pairs.iter().all(is_level))
            .then_some(Shift::Levels { given, own })
    }

    /// Returns the shift between two pieces of indentation, if one is the other with something in front.
    fn of_pair(model: &str, file: &str) -> Option<Shift> {
        if model == file {
            return Some(Shift::None);
        }
        if let Some(more) = file.strip_suffix(model) {
            return Some(Shift::Add(more.to_string()));
        }
        model.strip_suffix(file).map(|less| Shift::Remove(less.to_string()))
    }

    /// Returns the shift between two lines' indentation, whatever they are.
    pub fn between(model: &str, file: &str) -> Shift {
        Shift::uniform(&[(model, file)]).unwrap_or(Shift::None)
    }

    /// Returns a line of the model's, indented as the file would have it. Blank lines stay as they are.
    pub fn apply(&self, line: &str) -> String {
        let indent = fold::indent(line);
        let rest = &line[indent.len()..];
        if rest.trim_end_matches(['\r', '\n']).is_empty() {
            return line.to_string();
        }
        match self {
            Shift::None => line.to_string(),
            Shift::Add(more) => format!("{more}{line}"),
            Shift::Remove(less) => {
                let remaining = indent.strip_prefix(less.as_str());
                // A line with less indentation than the shift removes has none left.
                let remaining = remaining.unwrap_or_else(|| &indent[common(indent, less)..]);
                format!("{remaining}{rest}")
            }
            Shift::Columns { width, by, tabs } => {
                let columns = (columns(indent, *width) as isize + by).max(0) as usize;
                let indent = match tabs {
                    true => "\t".repeat(columns / width) + &" ".repeat(columns % width),
                    false => " ".repeat(columns),
                };
                format!("{indent}{rest}")
            }
            Shift::Levels { given, own } => {
                let columns = indent.len() / given * own + indent.len() % given;
                format!("{}{rest}", " ".repeat(columns))
            }
        }
    }

    /// Returns what differed, in words: `4 further right`, `tabs for spaces`.
    pub fn detail(&self) -> Option<String> {
        let amount = |indent: &str| match indent.contains('\t') {
            true => format!("{} tab{}", indent.chars().count(), if indent.chars().count() == 1 { "" } else { "s" }),
            false => indent.chars().count().to_string(),
        };
        match self {
            Shift::None => None,
            Shift::Add(more) => Some(format!("{} further right", amount(more))),
            Shift::Remove(less) => Some(format!("{} further left", amount(less))),
            Shift::Levels { given, own } => Some(format!("{own} spaces for {given}")),
            Shift::Columns { by, tabs, .. } => {
                let kind = if *tabs { "tabs for spaces" } else { "spaces for tabs" };
                Some(match by {
                    0 => kind.to_string(),
                    1.. => format!("{kind}, {by} further right"),
                    _ => format!("{kind}, {} further left", -by),
                })
            }
        }
    }
}

fn common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

fn common(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count()
}

fn columns(indent: &str, width: usize) -> usize {
    indent.chars().fold(0, |at, c| if c == '\t' { (at / width + 1) * width } else { at + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_shift_explains_every_line_or_none_is_taken() {
        assert_eq!(Shift::uniform(&[("", "    "), ("    ", "        ")]), Some(Shift::Add("    ".into())));
        assert_eq!(Shift::uniform(&[("  ", ""), ("    ", "  ")]), Some(Shift::Remove("  ".into())));
        assert_eq!(Shift::uniform(&[("", "    "), ("        ", "        ")]), None);
        let tabs = Shift::uniform(&[("    ", "\t"), ("        ", "\t\t")]);
        assert_eq!(tabs, Some(Shift::Columns { width: 4, by: 0, tabs: true }));
        assert_eq!(tabs.unwrap().apply("            x"), "\t\t\tx");
        let two = Shift::uniform(&[("  ", "\t"), ("    ", "\t\t")]);
        assert_eq!(two, Some(Shift::Columns { width: 2, by: 0, tabs: true }));
        let spaces = Shift::uniform(&[("\t", "    "), ("\t\t", "        ")]).unwrap();
        assert_eq!(spaces.apply("\t\t\tx"), "            x");
        assert_eq!(spaces.detail().unwrap(), "spaces for tabs");
    }

    #[test]
    fn levels_of_another_width_are_scaled() {
        let wide = Shift::uniform(&[("", ""), ("    ", "  "), ("        ", "    "), ("", "")]).expect("one");
        assert_eq!(wide, Shift::Levels { given: 4, own: 2 });
        assert_eq!(wide.apply("            x"), "      x");
        assert_eq!(wide.detail().as_deref(), Some("2 spaces for 4"));
        let narrow = Shift::uniform(&[("  ", "    "), ("    ", "        ")]).expect("one");
        assert_eq!(narrow.apply("      x"), "            x");
        for pairs in [
            [("", ""), ("    ", "   "), ("        ", "    ")],
            [("", ""), ("   ", "  "), ("      ", "    ")],
            [("", ""), ("    ", "  "), ("      ", "      ")],
            [("", "  "), ("  ", "  "), ("    ", "    ")],
        ] {
            assert_eq!(Shift::uniform(&pairs), None);
        }
    }
}
