//! Shell text as simple commands: read with tree-sitter and a closed list of kinds of nodes. What is not on the list makes
//! the text one that is not understood.

use std::collections::BTreeSet;
use std::ops::Range;

use tree_sitter::{Node, Parser, Tree};

use super::word::{Word, ends_earlier, word};

/// Kinds of nodes that are understood; all that lies in them is walked.
const KINDS: &[&str] = &[
    "program",
    "redirected_statement",
    "for_statement",
    "c_style_for_statement",
    "while_statement",
    "do_group",
    "if_statement",
    "elif_clause",
    "else_clause",
    "case_statement",
    "case_item",
    "compound_statement",
    "subshell",
    "pipeline",
    "list",
    "negated_command",
    "test_command",
    "declaration_command",
    "unset_command",
    "command",
    "command_name",
    "variable_assignment",
    "variable_assignments",
    "subscript",
    "file_redirect",
    "heredoc_redirect",
    "heredoc_start",
    "heredoc_body",
    "heredoc_content",
    "heredoc_end",
    "herestring_redirect",
    "binary_expression",
    "ternary_expression",
    "unary_expression",
    "postfix_expression",
    "parenthesized_expression",
    "concatenation",
    "array",
    "raw_string",
    "ansi_c_string",
    "string",
    "string_content",
    "translated_string",
    "number",
    "simple_expansion",
    "expansion",
    "command_substitution",
    "process_substitution",
    "arithmetic_expansion",
    "brace_expression",
    "variable_name",
    "special_variable_name",
    "word",
    "regex",
    "extglob_pattern",
    "file_descriptor",
    "test_operator",
    "comment",
];
/// Nodes deeper than this are not walked.
const DEEPEST: usize = 200;
/// Operators of redirections that only read.
const READ: &[&str] = &["<", "<&", "<&-", ">&-"];
/// The redirections that truncate a file.
const ANEW: &[&str] = &[">", ">|", "&>", ">&"];

/// The reason why a text is not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unknown {
    /// It does not follow the grammar, or holds something that is on no list.
    Syntax,
    /// The name of a program is known only when it runs.
    Name,
    /// It changes what names mean, or runs text that is known only when it runs.
    Meaning(String),
    /// It holds characters that are not seen, or change the order of others.
    Hidden,
    /// Commands within commands, too deep.
    Depth,
}

/// A redirection and its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The file or descriptor.
    pub target: Word,
    /// It writes.
    pub writes: bool,
    /// The file loses its content.
    pub anew: bool,
    /// The target may be a descriptor.
    pub descriptor: bool,
    /// Its place in the text.
    pub place: Range<usize>,
}

/// One simple command as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SimpleCommand {
    /// Its text.
    pub text: String,
    /// Name and arguments.
    pub words: Vec<Word>,
    /// Variables that are set before it, or instead of it.
    pub assigned: Vec<String>,
    /// The words that a loop goes through.
    pub listed: Vec<Word>,
    /// The redirections of its input and output.
    pub redirects: Vec<Redirect>,
    /// Its input is part of the text.
    pub has_document: bool,
    /// It runs in a shell of its own: a folder that it changes to is not that of what follows.
    pub is_apart: bool,
}

/// A text as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// Its commands, those within others too.
    pub commands: Vec<SimpleCommand>,
    /// The reason why it is not understood, where it is not.
    pub unknown: Option<Unknown>,
    /// It holds arithmetic, which evaluates what variables hold.
    pub evaluates: bool,
}

/// Reads a text.
pub fn parse(text: &str) -> Script {
    let mut script = Script::default();
    if text.chars().any(hidden) {
        script.unknown = Some(Unknown::Hidden);
    }
    let Some(tree) = tree(text) else {
        script.unknown.get_or_insert(Unknown::Syntax);
        return script;
    };
    let mut walk = Walk { text, script };
    let root = tree.root_node();
    if root.has_error() || text.contains("\\`") || joins_words(text) || walk.backticks(root) < text.matches('`').count()
    {
        walk.unknown(Unknown::Syntax);
    }
    walk.node(tree.root_node(), 0);
    // A text that is kept for later, and arithmetic that may evaluate it.
    if walk.script.evaluates && (text.contains("\\$(") || walk.holds_commands(root) || walk.holds_assignment(root)) {
        walk.unknown(Unknown::Meaning("((".into()));
    }
    walk.script
}

fn tree(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    parser.parse(text, None)
}

/// Returns the numbers of the lines of a text that are the content of here-documents, or end them: as far as bash reads
/// them so, they are no commands.
pub fn document_lines(text: &str) -> BTreeSet<usize> {
    let mut lines = BTreeSet::new();
    if let Some(tree) = tree(text) {
        let walk = Walk { text, script: Script::default() };
        let mut waiting = vec![tree.root_node()];
        while let Some(node) = waiting.pop() {
            let mut cursor = node.walk();
            waiting.extend(node.children(&mut cursor));
            let is_own = |document: Node<'_>| walk.ends_as_bash_does(document);
            if matches!(node.kind(), "heredoc_body" | "heredoc_end") && node.parent().is_some_and(is_own) {
                lines.extend(node.start_position().row..=node.end_position().row);
            }
        }
    }
    lines
}

/// Returns whether a character is not seen, changes the order of others, or controls a terminal.
pub fn hidden(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
        || (c.is_control() && !matches!(c, '\n' | '\t'))
}

/// Returns whether a line goes on in the middle of a word: bash joins the two parts, the grammar does not.
fn joins_words(text: &str) -> bool {
    let blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
    text.match_indices("\\\n")
        .any(|(at, found)| !blank(text[..at].chars().next_back()) && !blank(text[at + found.len()..].chars().next()))
}

struct Walk<'a> {
    text: &'a str,
    script: Script,
}

impl Walk<'_> {
    fn unknown(&mut self, why: Unknown) {
        self.script.unknown.get_or_insert(why);
    }

    fn source(&self, node: Node<'_>) -> &str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn node(&mut self, node: Node<'_>, depth: usize) {
        if depth > DEEPEST {
            return self.unknown(Unknown::Depth);
        }
        if node.is_error() || node.is_missing() {
            self.unknown(Unknown::Syntax);
        } else if node.kind() == "function_definition" {
            self.unknown(Unknown::Meaning("function".into()));
        } else if node.is_named() && !KINDS.contains(&node.kind()) {
            self.unknown(Unknown::Syntax);
        }
        match node.kind() {
            "command" | "declaration_command" | "unset_command" => self.command(node),
            "redirected_statement" => return self.redirected(node, depth),
            // `$(< a)` and `$(> a)` have no statement that the redirection would belong to.
            "command_substitution" if has_own_redirect(node) => return self.redirected(node, depth),
            "for_statement" => self.assigned_by(node),
            "variable_assignment" if !in_command(node) => self.assigned_by(node),
            // Bash evaluates what such strings hold.
            "test_command" if self.has_hidden_text(node) => self.unknown(Unknown::Meaning("[[".into())),
            "heredoc_redirect" if !self.ends_as_bash_does(node) => self.unknown(Unknown::Syntax),
            "ansi_c_string" if ends_earlier(self.source(node)) => self.unknown(Unknown::Syntax),
            "expansion" if self.source(node).contains("@P") => self.unknown(Unknown::Meaning("${…@P}".into())),
            _ => {}
        }
        if self.evaluates(node) {
            self.script.evaluates = true;
            self.assigned_in(node);
        }
        self.children(node, depth);
    }

    /// Returns whether a node evaluates what variables hold as arithmetic, and commands in it with it.
    fn evaluates(&self, node: Node<'_>) -> bool {
        const COMPARES: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
        let source = self.source(node);
        let substring = |source: &str| {
            let mut after = source.split(':').skip(1);
            after.any(|rest| !rest.starts_with(['-', '=', '+', '?']))
        };
        match node.kind() {
            "arithmetic_expansion" | "c_style_for_statement" | "subscript" => true,
            "compound_statement" => source.starts_with("(("),
            "test_command" => {
                source.starts_with("((")
                    || source.starts_with("[[") && COMPARES.iter().any(|word| source.contains(word))
            }
            // The text that `${!x}` names may hold a subscript.
            "expansion" => source.starts_with("${!") || substring(source),
            _ => false,
        }
    }

    /// Notes the variables that arithmetic may set: all that it names, where anything in it sets one.
    fn assigned_in(&mut self, node: Node<'_>) {
        let source = self.source(node).to_string();
        if sets_in_arithmetic(&source) {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let names = source.split(|c| !is_part(c)).filter(|name| name.starts_with(|c: char| !c.is_ascii_digit()));
            let assigned = names.map(str::to_string).collect();
            self.script.commands.push(SimpleCommand { text: source, assigned, ..SimpleCommand::default() });
        }
    }

    /// Returns whether a variable below a node gets a text that sets another one where arithmetic evaluates it.
    fn holds_assignment(&self, node: Node<'_>) -> bool {
        let value = (node.kind() == "variable_assignment").then(|| node.child_by_field_name("value")).flatten();
        if value.is_some_and(|value| sets_in_arithmetic(self.source(value))) {
            return true;
        }
        let mut cursor = node.walk();
        node.children(&mut cursor).any(|child| self.holds_assignment(child))
    }

    /// Counts the backticks that the grammar reads as bash does: those around substitutions, and those in quotes, in
    /// comments and in here-documents of which bash evaluates nothing. One elsewhere begins a command that is not seen.
    fn backticks(&self, node: Node<'_>) -> usize {
        let within = |kind: &str| node.parent().is_some_and(|parent| parent.kind() == kind);
        let literal = match node.kind() {
            "raw_string" | "ansi_c_string" | "comment" => true,
            "heredoc_body" => node.parent().is_some_and(|document| self.is_quoted_document(document)),
            _ => false,
        };
        if literal || node.kind() == "`" && within("command_substitution") {
            return self.source(node).matches('`').count();
        }
        let mut cursor = node.walk();
        node.children(&mut cursor).map(|child| self.backticks(child)).sum()
    }

    /// Returns whether bash takes a here-document as it stands: its delimiter is quoted.
    fn is_quoted_document(&self, document: Node<'_>) -> bool {
        let mut cursor = document.walk();
        let start = document.children(&mut cursor).find(|child| child.kind() == "heredoc_start");
        start.is_some_and(|start| self.source(start).contains(['\'', '"', '\\']))
    }

    /// Returns whether bash ends a here-document where the grammar does: the two differ in delimiters of more than
    /// letters, in lines that begin with the delimiter, and in lines that are joined.
    fn ends_as_bash_does(&self, node: Node<'_>) -> bool {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        let of = |kind: &str| children.iter().find(|child| child.kind() == kind);
        let (Some(start), Some(end)) = (of("heredoc_start"), of("heredoc_end")) else { return false };
        let named = self.source(*start);
        let quoted = ['\'', '"'].into_iter().find_map(|mark| named.strip_prefix(mark)?.strip_suffix(mark));
        let name = quoted.unwrap_or(named);
        let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let after = self.text.as_bytes().get(start.end_byte());
        let apart = after.is_none_or(|b| b" \t\n|&;)<>".contains(b));
        let tabs = children.iter().any(|child| child.kind() == "<<-");
        let Some(between) = self.text.get(start.end_byte()..end.end_byte()) else { return false };
        let mut lines: Vec<&str> = between.split('\n').skip(1).collect();
        let last = lines.pop().unwrap_or_default();
        let last = if tabs { last.trim_start_matches('\t') } else { last };
        let rest = self.text.get(end.end_byte()..).unwrap_or_default();
        let ends = last == name && (rest.is_empty() || rest.starts_with('\n'));
        let plain = |line: &&str| !line.trim_start().starts_with(name) && (quoted.is_some() || !line.ends_with('\\'));
        is_name && apart && ends && lines.iter().all(plain)
    }

    fn children(&mut self, node: Node<'_>, depth: usize) {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        children.into_iter().for_each(|child| self.node(child, depth + 1));
    }

    /// Reads a statement with redirections: they belong to its last command.
    fn redirected(&mut self, node: Node<'_>, depth: usize) {
        let before = self.script.commands.len();
        let mut cursor = node.walk();
        let (body, redirects): (Vec<Node<'_>>, Vec<Node<'_>>) =
            node.children(&mut cursor).partition(|child| !child.kind().ends_with("_redirect"));
        body.iter().for_each(|child| self.node(*child, depth + 1));
        if self.script.commands.len() == before {
            let text = self.source(node).to_string();
            self.script.commands.push(SimpleCommand { text, ..SimpleCommand::default() });
        }
        let own = self.script.commands.len() - 1;
        let mut command = std::mem::take(&mut self.script.commands[own]);
        redirects.iter().for_each(|node| self.redirect(*node, &mut command));
        self.script.commands[own] = command;
        // What is substituted in them, and the rest of a pipe behind a document.
        redirects.iter().for_each(|node| self.node(*node, depth + 1));
    }

    /// Reads a redirection of a command. The grammar counts all words behind one to it: they are the command's, but for
    /// the target.
    fn redirect(&mut self, node: Node<'_>, command: &mut SimpleCommand) {
        let is_word = |child: &&Node<'_>| child.is_named() && child.kind() != "file_descriptor";
        let mut cursor = node.walk();
        if node.kind() != "file_redirect" {
            command.has_document = true;
            let words = node.children_by_field_name("argument", &mut cursor);
            return words.for_each(|argument| self.behind(argument, command));
        }
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        let operator = children.iter().find(|child| !child.is_named()).map_or("", |child| child.kind());
        let known = READ.contains(&operator) || ANEW.contains(&operator) || [">>", "&>>"].contains(&operator);
        if !known {
            self.unknown(Unknown::Syntax);
        }
        let mut words = children.iter().filter(is_word);
        let target = words.next();
        command.redirects.push(Redirect {
            target: target.map(|target| word(*target, self.text)).unwrap_or_default(),
            writes: !READ.contains(&operator),
            anew: ANEW.contains(&operator) || !known,
            descriptor: operator.ends_with('&'),
            place: node.start_byte()..target.map_or(node.end_byte(), Node::end_byte),
        });
        words.for_each(|argument| self.behind(*argument, command));
    }

    /// Adds a word that stands behind a redirection.
    fn behind(&self, argument: Node<'_>, command: &mut SimpleCommand) {
        command.text.push_str(&format!(" {}", self.source(argument)));
        command.words.push(word(argument, self.text));
    }

    fn command(&mut self, node: Node<'_>) {
        let (text, is_apart) = (self.source(node).to_string(), is_apart(node));
        let mut command = SimpleCommand { text, is_apart, ..SimpleCommand::default() };
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        for child in children {
            match child.kind() {
                "variable_assignment" => {
                    command.assigned.extend(name_of(child, self.text));
                    if node.kind() != "command" {
                        command.words.push(Word::unknown());
                    }
                }
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" => self.redirect(child, &mut command),
                "command_name" => {
                    let name = child.child(0).map(|name| word(name, self.text)).unwrap_or_default();
                    command.words.push(name);
                }
                _ if !child.is_named() => command.words.push(Word::known(self.source(child))),
                _ => command.words.push(word(child, self.text)),
            }
        }
        self.script.commands.push(command);
    }

    /// Reads a variable that is set for what follows.
    fn assigned_by(&mut self, node: Node<'_>) {
        let text = self.source(node).lines().next().unwrap_or_default().to_string();
        let assigned = name_of(node, self.text).into_iter().collect();
        let mut cursor = node.walk();
        let values = node.children_by_field_name("value", &mut cursor).filter(|_| node.kind() == "for_statement");
        let listed = values.map(|value| word(value, self.text)).collect();
        self.script.commands.push(SimpleCommand { text, assigned, listed, ..SimpleCommand::default() });
    }

    /// Returns whether a string below a node holds a substitution that is not carried out where it stands.
    fn holds_commands(&self, node: Node<'_>) -> bool {
        let raw = matches!(node.kind(), "raw_string" | "ansi_c_string");
        if raw && (self.source(node).contains("$(") || self.source(node).contains('`')) {
            return true;
        }
        let mut cursor = node.walk();
        node.children(&mut cursor).any(|child| self.holds_commands(child))
    }

    /// Returns whether a string below a node holds text that the shell would evaluate once more.
    fn has_hidden_text(&self, node: Node<'_>) -> bool {
        let own = matches!(node.kind(), "raw_string" | "ansi_c_string");
        if own && self.source(node).contains(['$', '`', '[']) || self.source(node) == "-v" {
            return true;
        }
        let mut cursor = node.walk();
        node.children(&mut cursor).any(|child| self.has_hidden_text(child))
    }
}

/// Returns whether a node runs in a shell of its own: so does what stands before `&`.
fn is_apart(node: Node<'_>) -> bool {
    const APART: &[&str] = &["subshell", "pipeline", "command_substitution", "process_substitution"];
    let is_behind = |node: &Node<'_>| node.next_sibling().is_some_and(|next| next.kind() == "&");
    let mut upward = std::iter::successors(Some(node), Node::parent);
    upward.any(|node| APART.contains(&node.kind()) || is_behind(&node))
}

/// Returns whether arithmetic sets a variable: by `=` that compares nothing, or by counting up or down.
fn sets_in_arithmetic(source: &str) -> bool {
    let bytes = source.as_bytes();
    let at = |at: Option<usize>| at.and_then(|at| bytes.get(at)).copied().unwrap_or_default();
    let sets = |equal: usize| {
        let (before, two_before) = (at(equal.checked_sub(1)), at(equal.checked_sub(2)));
        let compares = matches!(before, b'=' | b'!') || matches!(before, b'<' | b'>') && two_before != before;
        !compares && at(Some(equal + 1)) != b'='
    };
    source.contains("++") || source.contains("--") || (0..bytes.len()).any(|n| bytes[n] == b'=' && sets(n))
}

/// Returns the name that an assignment or a loop sets.
fn name_of(node: Node<'_>, text: &str) -> Option<String> {
    let name = node.child_by_field_name("name").or_else(|| node.child_by_field_name("variable"))?;
    Some(text.get(name.byte_range())?.to_string())
}

/// Returns whether a redirection stands in a node by itself.
fn has_own_redirect(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor).any(|child| child.kind() == "file_redirect")
}

/// Returns whether an assignment belongs to a command.
fn in_command(node: Node<'_>) -> bool {
    node.parent().is_some_and(|parent| matches!(parent.kind(), "command" | "declaration_command"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_within_commands_are_found() {
        let names = |text: &str| -> Vec<String> {
            let script = parse(text);
            assert_eq!(script.unknown, None, "{text}");
            script.commands.iter().filter_map(|c| Some(c.words.first()?.text.clone())).collect()
        };
        assert_eq!(names("ls | wc -l && { cat a; } & (pwd)"), ["ls", "wc", "cat", "pwd"]);
        assert_eq!(names("echo \"$(rm a)\" `stat b` <(head c)"), ["echo", "rm", "stat", "head"]);
        assert_eq!(names("cat <<X | sort\n$(rm a)\nX\n").len(), 3);
        assert_eq!(names("for f in $(ls); do rm \"$f\"; done"), ["ls", "rm"]);
        assert_eq!(names("case $x in a) ls;; *) rm y;; esac"), ["ls", "rm"]);
        assert_eq!(names("if [[ -f a ]]; then ls; elif test -f b; then pwd; fi"), ["ls", "test", "pwd"]);
    }

    #[test]
    fn what_is_on_no_list_is_not_understood() {
        for text in
            ["f() { ls; }; f", "ls '", "if ls", "echo `echo \\`ls\\``", "ls \u{202e}", "echo ${x@P}", "[[ -v x ]]"]
        {
            assert!(parse(text).unknown.is_some(), "{text}");
        }
    }

    #[test]
    fn the_lines_of_a_here_document_are_no_commands() {
        let of = |text: &str| document_lines(text).into_iter().collect::<Vec<_>>();
        assert_eq!(of("cat > x <<'EOF'\nif true\nrm -rf /\nEOF\nrm f1"), [1, 2, 3]);
        assert_eq!(of("cat <<A && cat <<-B\none\nA\n\ttwo\n\tB\nls"), [1, 2, 3, 4]);
        assert_eq!(of("ls\nrm f1 # <<EOF"), Vec::<usize>::new());
        // Bash ends it elsewhere than the grammar.
        assert_eq!(of("cat <<a.b\none\na.b\nrm f1"), Vec::<usize>::new());
    }

    #[test]
    fn redirections_belong_to_their_command() {
        let script = parse("sort a > b 2>&1 < c");
        let [command] = script.commands.as_slice() else { panic!("{script:?}") };
        let kinds: Vec<_> = command.redirects.iter().map(|r| (r.target.text.as_str(), r.writes, r.anew)).collect();
        assert_eq!(kinds, [("b", true, true), ("1", true, true), ("c", false, false)]);
        assert_eq!(parse("> a").commands[0].redirects.len(), 1);
        // One that stands alone in a substitution opens its file as well.
        assert!(parse("echo $(> a)").commands.iter().any(|command| command.redirects.iter().any(|r| r.writes)));
    }
}
