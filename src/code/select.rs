//! Selectors: the words that name definitions.

use globset::{GlobBuilder, GlobMatcher};

use super::fault::CodeFault;
use super::file::SourceFile;
use super::lang::{CodeNode, NodeKind};

/// A choice of definitions: `fn.main`, `src/cart.rs::Cart.total`, `src/cart.rs:12`, `src`, several of them with commas.
#[derive(Debug, Clone)]
pub struct NodeSelector {
    text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
struct Part {
    paths: PathPattern,
    what: What,
}

/// The files of a part.
#[derive(Debug, Clone)]
enum PathPattern {
    All,
    /// One file, or all below a folder.
    Is(String),
    /// The files that a pattern means, and the pattern.
    Like(GlobMatcher, String),
}

/// The definitions of a part, in its files.
#[derive(Debug, Clone)]
enum What {
    All,
    /// The definitions of a kind, or of any, whatever holds them.
    Kind(Option<NodeKind>, NamePattern),
    Named(NamePattern),
    Line(usize),
}

/// A name with `*` for any run of characters and `?` for one, neither of them a dot; `#2` for the second of its name.
#[derive(Debug, Clone)]
struct NamePattern {
    text: String,
    number: Option<usize>,
}

impl NodeSelector {
    /// Reads a selector.
    ///
    /// # Errors
    /// When it cannot be meant.
    pub fn parse(text: &str) -> Result<NodeSelector, CodeFault> {
        NodeSelector::parse_among(text, &|_| false)
    }

    /// Reads a selector; a part that `is_file` is a path, also where it reads like a kind and a name.
    ///
    /// # Errors
    /// When it cannot be meant.
    pub fn parse_among(text: &str, is_file: &dyn Fn(&str) -> bool) -> Result<NodeSelector, CodeFault> {
        let parts = text.split(',').map(|part| Part::parse(part.trim(), is_file)).collect::<Result<_, _>>()?;
        Ok(NodeSelector { text: text.to_owned(), parts })
    }

    /// Returns the selector of the one definition of an id, whatever characters its path or its name have.
    pub fn of_id(path: &str, name: &str) -> NodeSelector {
        let part = Part { paths: PathPattern::Is(path.to_owned()), what: What::Named(NamePattern::parse(name)) };
        NodeSelector { text: format!("{path}::{name}"), parts: vec![part] }
    }

    /// Returns the selector of all definitions of a file, whatever characters its path has.
    pub fn of_file(path: &str) -> NodeSelector {
        NodeSelector {
            text: path.to_owned(),
            parts: vec![Part { paths: PathPattern::Is(path.to_owned()), what: What::All }],
        }
    }

    /// Returns its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the paths of the files or folders it names one by one; none: it may mean any.
    pub fn named_paths(&self) -> Option<Vec<String>> {
        let named = |part: &Part| match &part.paths {
            PathPattern::Is(path) => Some(path.clone()),
            _ => None,
        };
        self.parts.iter().map(named).collect()
    }

    /// Returns whether it asks for definitions of any file.
    pub fn is_of_any_file(&self) -> bool {
        self.parts.iter().any(|part| matches!(part.paths, PathPattern::All))
    }

    /// Returns whether it may mean a definition of a file, by the file's path.
    pub fn may_be_in(&self, path: &str) -> bool {
        self.parts.iter().any(|part| part.paths.holds(path))
    }

    /// Returns whether it means all definitions of a file.
    pub fn is_of_all_in(&self, path: &str) -> bool {
        self.parts.iter().any(|part| matches!(part.what, What::All) && part.paths.holds(path))
    }

    /// Returns whether it may mean a definition of a file, by its path and the words that it holds: one that holds no name
    /// of it is not worth parsing.
    pub fn may_name(&self, path: &str, holds: &dyn Fn(&str) -> bool) -> bool {
        self.parts.iter().filter(|part| part.paths.holds(path)).any(|part| match &part.what {
            What::Kind(_, name) | What::Named(name) => name.plain().is_none_or(holds),
            What::All | What::Line(_) => true,
        })
    }

    /// Returns the definitions it means in a file, by their places in its list, in order.
    pub fn of(&self, file: &SourceFile) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        for part in self.parts.iter().filter(|part| part.paths.holds(&file.path)) {
            found.extend(part.what.of(file));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns the last name that it asks for, for telling what else may have been meant.
    pub fn name(&self) -> Option<&str> {
        self.parts.iter().find_map(|part| match &part.what {
            What::Kind(_, name) | What::Named(name) => Some(name.text.rsplit('.').next().unwrap_or(&name.text)),
            _ => None,
        })
    }

    /// Returns it with other paths in place of those it names one by one, where there is another; the empty one holds all.
    #[must_use]
    pub fn with_paths(mut self, other: impl Fn(&str) -> Option<String>) -> NodeSelector {
        for part in &mut self.parts {
            if let PathPattern::Is(path) = &part.paths
                && let Some(other) = other(path)
            {
                part.paths = if other.is_empty() { PathPattern::All } else { PathPattern::Is(other) };
            }
        }
        self
    }

    /// Returns it with a name in any file in place of each path, or pattern of paths, that is none: `Cart.total`, `tot*`,
    /// `Cart::total`. `is_path` says which is one.
    #[must_use]
    pub fn with_names(mut self, is_path: impl Fn(&str) -> bool) -> NodeSelector {
        let is_name = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "_.$#*?".contains(c));
        for part in &mut self.parts {
            let (PathPattern::Is(text) | PathPattern::Like(_, text)) = &part.paths else { continue };
            let name = match &part.what {
                _ if !is_name(text) || is_path(text) => continue,
                What::All => text.clone(),
                What::Named(name) => format!("{text}.{}", name.text),
                What::Kind(..) | What::Line(_) => continue,
            };
            *part = Part { what: What::Kind(None, NamePattern::parse(&name)), paths: PathPattern::All };
        }
        self
    }

    /// Returns it with its patterns of paths taken below a folder, where they mean none of the files: `any` says whether
    /// one is meant.
    ///
    /// # Errors
    /// When a pattern cannot be meant there.
    pub fn below(
        mut self,
        folder: &str,
        any: impl Fn(&dyn Fn(&str) -> bool) -> bool,
    ) -> Result<NodeSelector, CodeFault> {
        for part in &mut self.parts {
            if let PathPattern::Like(glob, text) = &part.paths
                && !any(&|path| glob.is_match(path))
            {
                part.paths = PathPattern::parse(&format!("{folder}/{text}"))?;
            }
        }
        Ok(self)
    }
}

impl Part {
    fn parse(text: &str, is_file: &dyn Fn(&str) -> bool) -> Result<Part, CodeFault> {
        let part = |paths, what| Ok(Part { paths, what });
        if text.is_empty() {
            return Err(CodeFault::Usage("a selector is empty: use fn.name, path::name, path:LINE or path".to_owned()));
        }
        if let Some((path, name)) = text.split_once("::") {
            return match name {
                "" => Err(CodeFault::Usage(format!("{text} names no definition: leave :: away for all of the file"))),
                name => part(PathPattern::parse(path)?, What::Named(NamePattern::parse(name))),
            };
        }
        if let Some((kind, name)) = text.split_once('.')
            && let Some(kind) = NodeKind::named(kind)
            && !name.is_empty()
            && !name.contains(['/', ':'])
            && !is_file(text)
        {
            return part(PathPattern::All, What::Kind(Some(kind), NamePattern::parse(name)));
        }
        if let Some((path, line)) = text.rsplit_once(':') {
            let line = line.parse().ok().filter(|line| *line > 0);
            let line =
                line.ok_or_else(|| CodeFault::Usage(format!("{text} names no line: after : stands a number")))?;
            return part(PathPattern::parse(path)?, What::Line(line));
        }
        part(PathPattern::parse(text)?, What::All)
    }
}

impl PathPattern {
    fn parse(text: &str) -> Result<PathPattern, CodeFault> {
        let text = text.trim_start_matches("./").trim_end_matches('/');
        if text.is_empty() || text == "." || text == "**" || text == "*" {
            return Ok(PathPattern::All);
        }
        if !text.contains(['*', '?']) {
            return Ok(PathPattern::Is(text.to_owned()));
        }
        // Folders such as `[id]` mean themselves.
        let plain: String =
            text.chars().flat_map(|c| "[]{}\\".contains(c).then_some('\\').into_iter().chain([c])).collect();
        let glob = GlobBuilder::new(&plain).literal_separator(true).backslash_escape(true).build();
        let glob =
            glob.map_err(|error| CodeFault::Usage(format!("{text} is no pattern of paths: {}", error.kind())))?;
        Ok(PathPattern::Like(glob.compile_matcher(), text.to_owned()))
    }

    fn holds(&self, path: &str) -> bool {
        match self {
            PathPattern::All => true,
            PathPattern::Is(own) => {
                path.strip_prefix(own.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
            PathPattern::Like(glob, _) => glob.is_match(path),
        }
    }
}

impl What {
    fn of(&self, file: &SourceFile) -> Vec<usize> {
        let nodes = || file.nodes.iter().enumerate();
        match self {
            What::All => (0..file.nodes.len()).collect(),
            What::Kind(kind, name) => {
                let is_kind = |node: &CodeNode| kind.is_none_or(|kind| node.kind == kind);
                nodes().filter(|(_, node)| is_kind(node) && name.is_of(node, true)).map(|(at, _)| at).collect()
            }
            What::Named(name) => nodes().filter(|(_, node)| name.is_of(node, false)).map(|(at, _)| at).collect(),
            What::Line(line) => {
                let holds = |at: &usize| {
                    let (first, last) = file.lines(*at);
                    (first..=last).contains(line)
                };
                // The innermost stands last.
                (0..file.nodes.len()).rfind(holds).into_iter().collect()
            }
        }
    }
}

impl NamePattern {
    fn parse(text: &str) -> NamePattern {
        let numbered = text.rsplit_once('#').filter(|(name, _)| !name.is_empty());
        match numbered.and_then(|(name, number)| Some((name, number.parse().ok()?))) {
            Some((name, number)) => NamePattern { text: name.to_owned(), number: Some(number) },
            None => NamePattern { text: text.to_owned(), number: None },
        }
    }

    /// Returns the last name in it, if no character of that is open.
    fn plain(&self) -> Option<&str> {
        self.text.rsplit('.').next().filter(|name| !name.contains(['*', '?']))
    }

    /// Returns whether it means a definition; `anywhere`: whatever holds it, unless the pattern says so.
    fn is_of(&self, node: &CodeNode, anywhere: bool) -> bool {
        let numbered = self.number.is_none_or(|number| number == node.number);
        let all = self.text.as_bytes();
        let named = match anywhere {
            true if self.text.contains('.') => {
                let ends = node.dotted.match_indices('.').map(|(at, _)| &node.dotted[at + 1..]);
                std::iter::once(node.dotted.as_str()).chain(ends).any(|end| like(all, end.as_bytes()))
            }
            true => like(all, node.name.as_bytes()),
            false => like(all, node.dotted.as_bytes()),
        };
        numbered && named
    }
}

/// Returns whether a name is one that a pattern means.
fn like(pattern: &[u8], name: &[u8]) -> bool {
    // The place after the last `*`, and what it has taken so far.
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p + 1, n));
                p += 1;
            }
            // A character may be of several bytes.
            Some(b'?') if name[n] != b'.' => {
                n += 1;
                while n < name.len() && name[n] & 0xc0 == 0x80 {
                    n += 1;
                }
                p += 1;
            }
            Some(c) if *c == name[n] => (p, n) = (p + 1, n + 1),
            _ => match star {
                Some((after, taken)) if name[taken] != b'.' => {
                    star = Some((after, taken + 1));
                    (p, n) = (after, taken + 1);
                }
                _ => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}
