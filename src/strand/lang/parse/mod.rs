//! Tokens to bodies. Recursive descent over the grammar; faults carry their place.
//!
//! Statements and elements end at a newline outside brackets. The parser shows such a newline as
//! a token of its own while `by_line` is set, and every bracket clears that for its inside.

mod body;
mod expr;
mod register;

pub(super) use body::sort_args;
pub use body::{ParsedText, parse_body, parse_definitions};
pub use register::{Category, category, parse_elements, parse_members, parse_register, parse_statements};

use super::ast::{Field, Ref, Type};
use super::names::{is_keyword, is_upper};
use super::token::{SyntaxError, Tok, Token, lex};
use crate::strand::id::Layer;

/// Deeper nesting than this is refused, so that no text can exhaust the stack.
pub(in crate::strand) const MAX_DEPTH: u32 = 96;

/// Taller trees of expressions than this are refused: `1 + 1 + ..` nests to the left without any bracket.
const MAX_HEIGHT: u32 = 400;

type Parsed<T> = Result<T, SyntaxError>;

/// A cursor over tokens.
struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    /// True if newlines end things here.
    by_line: bool,
    /// The token that began the current statement: a newline before it ends nothing.
    began: usize,
    depth: u32,
    /// The depth of the current element.
    elements: u32,
    /// Faults in parts that could be skipped: a statement, an element, a field.
    faults: Vec<SyntaxError>,
    /// The height of the tallest of the parts read here so far, in expressions.
    height: u32,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Parsed<Parser<'a>> {
        Ok(Parser {
            tokens: lex(text)?,
            at: 0,
            by_line: false,
            began: 0,
            depth: 0,
            elements: 0,
            faults: Vec::new(),
            height: 0,
        })
    }

    #[inline]
    fn peek(&self) -> Tok<'a> {
        let token = self.tokens[self.at];
        if self.by_line && token.newline && self.at != self.began { Tok::Newline } else { token.tok }
    }

    /// Returns the token after the next, newlines seen as the next one sees them.
    #[inline]
    fn peek_second(&self) -> Tok<'a> {
        match self.tokens.get(self.at + 1) {
            Some(token) if self.by_line && token.newline => Tok::Newline,
            Some(token) => token.tok,
            None => Tok::End,
        }
    }

    #[inline]
    fn offset(&self) -> usize {
        self.tokens[self.at].start
    }

    #[inline]
    fn is_sym(&self, symbol: &str) -> bool {
        matches!(self.peek(), Tok::Sym(found) if found == symbol)
    }

    #[inline]
    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Tok::Ident(found) if found == word)
    }

    /// Takes a symbol if it is next.
    #[inline]
    fn eat(&mut self, symbol: &str) -> bool {
        let found = self.is_sym(symbol);
        if found {
            self.at += 1;
        }
        found
    }

    /// Takes a word if it is next.
    #[inline]
    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.at += 1;
        }
        found
    }

    /// Takes `word =` if it is next.
    fn eat_label(&mut self, word: &str) -> bool {
        let found = self.is_word(word) && self.peek_second() == Tok::Sym("=");
        if found {
            self.at += 2;
        }
        found
    }

    #[inline]
    fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.eat(symbol) { Ok(()) } else { Err(self.unexpected_symbol(symbol)) }
    }

    #[cold]
    fn unexpected_symbol(&self, wanted: &str) -> SyntaxError {
        self.unexpected(&format!("'{wanted}'"))
    }

    fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected(&format!("'{word}'"))) }
    }

    /// Reports an unexpected token. Where a line or the text ends too early, the place is the end, not the start of the
    /// next token.
    fn unexpected(&self, wanted: &str) -> SyntaxError {
        let early = matches!(self.peek(), Tok::Newline | Tok::End);
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).filter(|_| early);
        let place = before.map_or(self.offset(), |token| token.end);
        let found = match self.peek() {
            Tok::Ident(word) if is_keyword(word) => format!("the keyword '{word}'"),
            Tok::Ident(word) => format!("'{word}'"),
            Tok::Int(text) | Tok::Float(text) => format!("'{text}'"),
            Tok::Str(text) => text.to_owned(),
            Tok::Sym(symbol) => format!("'{symbol}'"),
            Tok::Newline => "the end of the line".to_owned(),
            Tok::End => "the end of the text".to_owned(),
        };
        SyntaxError::new(place, format!("expected {wanted}, found {found}"))
    }

    /// Wants the end of the text, and nothing skipped on the way.
    fn finish(&mut self) -> Parsed<()> {
        if self.peek() != Tok::End {
            return Err(self.unexpected("the end of the text"));
        }
        if self.faults.is_empty() { Ok(()) } else { Err(self.faults.remove(0)) }
    }

    /// Records a fault in a part that began at a token, and goes on to where the part ends: outside every bracket that
    /// it opened, at a token that `ends` it. What follows is then read as if it were alone.
    fn skip(&mut self, from: usize, fault: SyntaxError, ends: impl Fn(Tok) -> bool) {
        self.faults.push(fault);
        let step = |tok: Tok| match tok {
            Tok::Sym("(" | "[" | "{") => 1,
            Tok::Sym(")" | "]" | "}") => -1,
            _ => 0,
        };
        let mut open: i32 = self.tokens[from..self.at].iter().map(|token| step(token.tok)).sum();
        loop {
            let tok = self.peek();
            if tok == Tok::End || open <= 0 && ends(tok) {
                return;
            }
            open += step(self.tokens[self.at].tok);
            self.at += 1;
        }
    }

    /// Runs a part inside brackets, where newlines are white space.
    fn inside<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let outer = std::mem::replace(&mut self.by_line, false);
        let result = self.deeper(part);
        self.by_line = outer;
        result
    }

    fn deeper<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(SyntaxError::new(self.offset(), "this is nested too deeply"));
        }
        self.depth += 1;
        let beside = std::mem::take(&mut self.height);
        let result = part(self);
        self.depth -= 1;
        self.height = beside.max(self.height + 1);
        result
    }

    /// Runs a parser inside an element. The depth of elements is counted apart, so that an element that is valid alone
    /// is valid in its place.
    fn within_element<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.elements >= MAX_DEPTH {
            return Err(SyntaxError::new(self.offset(), "this is nested too deeply"));
        }
        self.elements += 1;
        let beside = std::mem::take(&mut self.height);
        let result = part(self);
        self.elements -= 1;
        self.height = beside.max(self.height);
        result
    }

    /// Parses one more step of a chain that leans left, its right side read by `part`.
    fn link<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let (left, at) = (std::mem::take(&mut self.height), self.offset());
        let right = part(self)?;
        self.height = left.max(self.height) + 1;
        if self.height > MAX_HEIGHT {
            return Err(SyntaxError::new(at, "this is nested too deeply; give a part of it a name"));
        }
        Ok(right)
    }

    /// Parses `{ item , } close`, the opening bracket already taken.
    fn list<T>(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.inside(|p| {
            let mut items = Vec::new();
            while !p.eat(close) {
                items.push(item(p)?);
                if !p.eat(",") {
                    p.expect(close)?;
                    break;
                }
            }
            Ok(items)
        })
    }

    /// Parses a name that starts small and is no keyword.
    fn lower(&mut self, what: &str) -> Parsed<String> {
        match self.peek() {
            Tok::Ident(word) if !is_upper(word) && !is_keyword(word) => {
                self.at += 1;
                Ok(word.to_owned())
            }
            _ => Err(self.unexpected(what)),
        }
    }

    /// Parses a name that starts with a capital.
    fn upper(&mut self, what: &str) -> Parsed<String> {
        match self.peek() {
            Tok::Ident(word) if is_upper(word) => {
                self.at += 1;
                Ok(word.to_owned())
            }
            _ => Err(self.unexpected(what)),
        }
    }

    fn ty(&mut self) -> Parsed<Type> {
        let name = self.upper("a type")?;
        let args = if self.is_sym("(") {
            let at = self.offset();
            self.at += 1;
            let args = self.list(")", Parser::ty)?;
            if args.is_empty() {
                return Err(SyntaxError::new(at, "expected a type between the parentheses"));
            }
            args
        } else {
            Vec::new()
        };
        Ok(Type { head: Ref::new(Layer::Type, name), args })
    }

    fn field(&mut self) -> Parsed<Field> {
        let name = self.lower("a name")?;
        self.inside(|p| {
            p.expect(":")?;
            Ok(Field { name, ty: p.ty()?, unit: None })
        })
    }

    /// Parses `( params )`, the opening bracket not yet taken.
    fn params(&mut self) -> Parsed<Vec<Field>> {
        self.expect("(")?;
        self.list(")", Parser::field)
    }
}
