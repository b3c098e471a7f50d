//! Registers: the smallest parts of a body that are parsed on their own.

use super::{Parsed, Parser};
use crate::strand::id::Layer;
use crate::strand::lang::ast::{Element, Field, Ref, Stmt, Variant};
use crate::strand::lang::names::{is_keyword, is_upper};
use crate::strand::lang::token::{SyntaxError, Tok};
use crate::strand::lang::unit::Reg;

/// The category of a register's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Category {
    Type,
    Expr,
    Params,
    Input,
    Selector,
    Caps,
    Prim,
    Args,
    Guard,
    /// The name of a field or a variant.
    AnyName,
    /// A name that refers.
    Ref(Layer),
    /// An element's name.
    Elem,
    /// One of a few words.
    OneOf(&'static [&'static str]),
    Doc,
}

/// Returns the category of a register, by its layer and name; `None` for a name no body of the layer has. A unit's
/// register is told from a header by `unit`.
pub fn category(layer: Layer, unit: bool, register: &str) -> Option<Category> {
    use Category::*;
    if !unit && register == "doc" {
        return Some(Doc);
    }
    Some(match (layer, unit, register) {
        (Layer::Type, false, "form") => OneOf(&["alias", "nominal", "record", "union"]),
        (Layer::Type, false, "base") => Type,
        (Layer::Type, false, "where") => Expr,
        (Layer::Type, true, "name") => AnyName,
        (Layer::Type, true, "type") => Type,
        (Layer::Type, true, "fields") => Params,
        (Layer::Slot, false, "type") => Type,
        (Layer::Slot, false, "init") => Expr,
        (Layer::Effect, false, "params") | (Layer::Tile, false, "params") | (Layer::Fn, false, "params") => Params,
        (Layer::Effect, false, "returns" | "err") | (Layer::Fn, false, "returns") => Type,
        (Layer::Effect, false, "needs") => Caps,
        (Layer::Effect, false, "do") => Prim,
        (Layer::Reducer, false, "on") => Selector,
        (Layer::Reducer, false, "in") => Input,
        (Layer::Reducer, true, "kind") => OneOf(&["write", "emit", "call"]),
        (Layer::Reducer, true, "target") => Ref(Layer::Slot),
        (Layer::Reducer, true, "value") => Expr,
        (Layer::Reducer, true, "args") => Args,
        (Layer::Reducer, true, "ok" | "err") => Ref(Layer::Reducer),
        (Layer::Reducer, true, "guard") => Guard,
        (Layer::Tile, true, "elem") => Elem,
        (Layer::Tile, true, name)
            if name.strip_prefix("arg.").is_some_and(|arg| !is_upper(arg) && !is_keyword(arg)) =>
        {
            Expr
        }
        (Layer::Fn, false, "expr") => Expr,
        _ => return None,
    })
}

/// Parses the text of one register.
pub fn parse_register(category: Category, text: &str) -> Result<Reg, SyntaxError> {
    if category == Category::Doc {
        return Ok(Reg::Word(text.to_owned()));
    }
    let mut p = Parser::new(text)?;
    let reg = match category {
        Category::Type => Reg::Type(p.ty()?),
        Category::Expr => Reg::Expr(p.expr()?),
        Category::Params => Reg::Params(p.bare_params()?),
        Category::Input => Reg::Input(if p.is_sym("(") { p.input()? } else { p.field()? }),
        Category::Selector => Reg::Selector(p.selector()?),
        Category::Caps => Reg::Caps(p.caps()?),
        Category::Prim => Reg::Prim(p.prim()?),
        Category::Args => {
            p.expect("(")?;
            Reg::Args(p.args()?)
        }
        Category::Guard => {
            p.eat_word("when");
            Reg::Guard(p.guard()?)
        }
        Category::AnyName => Reg::Word(p.lower("a name").or_else(|_| p.upper("a name"))?),
        Category::Ref(layer) => Reg::Ref(Ref::new(layer, p.lower("a name")?)),
        Category::Elem => Reg::Ref(Ref::new(Layer::Tile, p.element_name()?)),
        Category::OneOf(words) => Reg::Word(p.one_of(words)?),
        Category::Doc => Reg::Word(text.to_owned()),
    };
    p.finish()?;
    Ok(reg)
}

/// Parses one or more statements, separated by `;` or newlines.
pub fn parse_statements(text: &str) -> Result<Vec<Stmt>, SyntaxError> {
    let mut p = Parser::new(text)?;
    let stmts = p.statements();
    p.finish().map(|()| stmts)
}

/// Parses one or more elements, separated by `;` or newlines.
pub fn parse_elements(text: &str) -> Result<Vec<Element>, SyntaxError> {
    let mut p = Parser::new(text)?;
    let mut elements = Vec::new();
    p.by_line = true;
    loop {
        p.began = p.at;
        while p.eat(";") {
            p.began = p.at;
        }
        if p.peek() == Tok::End {
            return p.finish().map(|()| elements);
        }
        elements.push(p.element()?);
        if !matches!(p.peek(), Tok::End | Tok::Newline | Tok::Sym(";")) {
            return Err(p.unexpected("the end of the element"));
        }
    }
}

/// Parses record fields (`union` false) or variants, separated by `,`, `;` or newlines.
pub fn parse_members(text: &str, union: bool) -> Result<(Vec<Field>, Vec<Variant>), SyntaxError> {
    let mut p = Parser::new(text)?;
    let (mut fields, mut variants) = (Vec::new(), Vec::new());
    while p.peek() != Tok::End {
        if union {
            variants.push(p.variant()?);
        } else {
            fields.push(p.field()?);
        }
        while p.eat(",") || p.eat(";") {}
    }
    Ok((fields, variants))
}

impl Parser<'_> {
    /// Parameters with or without their parentheses.
    fn bare_params(&mut self) -> Parsed<Vec<Field>> {
        if self.is_sym("(") {
            return self.params();
        }
        let mut fields = Vec::new();
        while self.peek() != Tok::End {
            fields.push(self.field()?);
            if !self.eat(",") {
                break;
            }
        }
        Ok(fields)
    }

    fn element_name(&mut self) -> Parsed<String> {
        match self.peek() {
            Tok::Ident(name) if name == "when" || !is_keyword(name) => {
                self.at += 1;
                Ok(name.to_owned())
            }
            _ => Err(self.unexpected("an element")),
        }
    }

    fn one_of(&mut self, words: &[&str]) -> Parsed<String> {
        match self.peek() {
            Tok::Ident(word) if words.contains(&word) => {
                self.at += 1;
                Ok(word.to_owned())
            }
            _ => Err(self.unexpected(&words.join(" or "))),
        }
    }
}
