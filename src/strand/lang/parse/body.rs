//! Bodies of the six layers, and texts of several definitions.

use super::{Parsed, Parser};
use crate::strand::id::Layer;
use crate::strand::lang::ast::{
    Action, Arg, Body, Definition, Element, Expr, Field, Guard, Prim, Ref, Selector, Stmt, Type, TypeBody, Variant,
};
use crate::strand::lang::names::element_args;
use crate::strand::lang::token::{SyntaxError, Tok};

/// Parses a body from its text, or every fault found in it.
pub fn parse_body(layer: Layer, text: &str) -> Result<Body, Vec<SyntaxError>> {
    let mut parser = Parser::new(text).map_err(|error| vec![error])?;
    let body = match layer {
        Layer::Type => parser.type_body().map(Body::Type),
        Layer::Slot => parser.slot_body(),
        Layer::Effect => parser.effect_body(),
        Layer::Reducer => parser.reducer_body(),
        Layer::Tile => parser.tile_body(),
        Layer::Fn => parser.fn_body(),
    };
    let mut faults = std::mem::take(&mut parser.faults);
    match body.and_then(|body| parser.finish().map(|()| body)) {
        Ok(body) if faults.is_empty() => Ok(body),
        Ok(_) => Err(faults),
        Err(error) => {
            faults.push(error);
            Err(faults)
        }
    }
}

/// One definition of a text, with its range.
#[derive(Debug)]
pub struct ParsedText {
    /// Its layer.
    pub layer: Layer,
    /// Its name.
    pub name: String,
    /// The definition, or its faults with offsets in the whole text.
    pub result: Result<Definition, Vec<SyntaxError>>,
}

/// Reads a text of definitions: each starts in the first column with a layer, a name and `=`.
/// Doc lines stand above. A fault in one does not hide the others.
pub fn parse_definitions(text: &str) -> Result<Vec<ParsedText>, SyntaxError> {
    let mut found: Vec<ParsedText> = Vec::new();
    let mut doc = String::new();
    let mut head: Option<(Layer, &str, usize, String)> = None;
    let mut offset = 0;
    let mut close = |head: &mut Option<(Layer, &str, usize, String)>, end: usize| {
        if let Some((layer, name, start, doc)) = head.take() {
            let result = parse_body(layer, &text[start..end])
                .map(|body| Definition { layer, name: name.to_owned(), doc, body })
                .map_err(|faults| {
                    faults.into_iter().map(|fault| SyntaxError { at: fault.at + start, ..fault }).collect()
                });
            found.push(ParsedText { layer, name: name.to_owned(), result });
        }
    };
    for line in text.split_inclusive('\n') {
        if let Some(text) = line.strip_prefix("##") {
            close(&mut head, offset);
            doc.push_str(text.strip_prefix(' ').unwrap_or(text).trim_end());
            doc.push('\n');
        } else if let Some((layer, name, skip)) = definition_start(line) {
            close(&mut head, offset);
            doc.pop();
            head = Some((layer, name, offset + skip, std::mem::take(&mut doc)));
        } else if head.is_none() && !line.trim().is_empty() {
            return Err(SyntaxError::new(offset, "expected a definition: a layer, a name and '='"));
        }
        offset += line.len();
    }
    close(&mut head, offset);
    if !doc.is_empty() {
        return Err(SyntaxError::new(text.len(), "these ## doc lines stand before no definition"));
    }
    Ok(found)
}

/// Returns the layer, the name, and the length of `layer name =` at the start of a line.
fn definition_start(line: &str) -> Option<(Layer, &str, usize)> {
    let (word, rest) = line.split_once(' ')?;
    let layer = Layer::parse(word)?;
    let (name, after) = rest.split_once('=')?;
    let name = name.trim();
    (!name.is_empty() && !name.contains(char::is_whitespace)).then(|| (layer, name, line.len() - after.len()))
}

impl Parser<'_> {
    fn type_body(&mut self) -> Parsed<TypeBody> {
        match self.peek() {
            Tok::Sym("{") => {
                self.at += 1;
                Ok(TypeBody::Record(self.fields()?))
            }
            Tok::Sym("|") => {
                let mut variants = Vec::new();
                while self.is_sym("|") {
                    variants.push(self.variant()?);
                }
                Ok(TypeBody::Union(variants))
            }
            Tok::Ident("never") => {
                self.at += 1;
                Ok(TypeBody::Union(Vec::new()))
            }
            _ => {
                let nominal = self.eat_word("nominal");
                let base = self.ty()?;
                let pred = if self.eat_word("where") { Some(self.expr()?) } else { None };
                Ok(TypeBody::Plain { nominal, base, pred })
            }
        }
    }

    /// Parses the fields of a record to the closing brace, the opening one already taken. A faulty one is skipped and
    /// noted.
    fn fields(&mut self) -> Parsed<Vec<Field>> {
        let mut fields = Vec::new();
        while !self.eat("}") {
            let from = self.at;
            let field = self.field().and_then(|field| match self.peek() {
                Tok::Sym("," | "}") => Ok(field),
                _ => Err(self.unexpected("',' or '}'")),
            });
            match field {
                Ok(field) => fields.push(field),
                Err(fault) => self.skip(from, fault, |tok| matches!(tok, Tok::Sym("," | "}"))),
            }
            if self.peek() == Tok::End {
                // The missing brace was reported with the field before it.
                return Ok(fields);
            }
            self.eat(",");
        }
        Ok(fields)
    }

    /// Parses a variant, its bar optional where it stands alone.
    pub(super) fn variant(&mut self) -> Parsed<Variant> {
        self.eat("|");
        let name = self.upper("a variant")?;
        let fields = if self.eat("(") { self.list(")", Parser::field)? } else { Vec::new() };
        Ok(Variant { name, fields, unit: None })
    }

    fn slot_body(&mut self) -> Parsed<Body> {
        let ty = self.ty()?;
        self.expect("=")?;
        Ok(Body::Slot { ty, init: self.expr()? })
    }

    fn effect_body(&mut self) -> Parsed<Body> {
        let params = self.params()?;
        self.expect("->")?;
        let returns = self.ty()?;
        let err = if self.eat_label("err") { Some(self.ty()?) } else { None };
        if !self.eat_label("needs") {
            return Err(self.unexpected("'needs='"));
        }
        let needs = self.caps()?;
        if !self.eat_label("do") {
            return Err(self.unexpected("'do='"));
        }
        Ok(Body::Effect { params, returns, err, needs, prim: self.prim()? })
    }

    pub(super) fn caps(&mut self) -> Parsed<Vec<String>> {
        self.expect("[")?;
        self.list("]", |p| p.lower("a capability"))
    }

    pub(super) fn prim(&mut self) -> Parsed<Prim> {
        let module = self.lower("a primitive such as http.get")?;
        self.expect(".")?;
        let function = self.lower("a primitive such as http.get")?;
        self.expect("(")?;
        Ok(Prim { name: format!("{module}.{function}"), args: self.args()?, node: 0 })
    }

    fn fn_body(&mut self) -> Parsed<Body> {
        let params = self.params()?;
        self.expect("->")?;
        let returns: Type = self.ty()?;
        self.expect("=")?;
        Ok(Body::Fn { params, returns, expr: self.expr()? })
    }

    fn reducer_body(&mut self) -> Parsed<Body> {
        let on = if self.eat_label("on") { Some(self.selector()?) } else { None };
        let input = if self.eat_label("in") { Some(self.input()?) } else { None };
        if !self.eat_label("do") {
            return Err(self.unexpected(if on.is_none() && input.is_none() {
                "'on=', 'in=' or 'do='"
            } else {
                "'do='"
            }));
        }
        let stmts = self.statements();
        Ok(Body::Reducer { on, input, stmts })
    }

    pub(super) fn selector(&mut self) -> Parsed<Selector> {
        let Tok::Ident(tile) = self.peek() else { return Err(self.unexpected("Tile.event")) };
        self.at += 1;
        self.expect(".")?;
        let event = self.lower("an event")?;
        Ok(Selector { tile: Ref::new(Layer::Tile, tile), event })
    }

    pub(super) fn input(&mut self) -> Parsed<Field> {
        self.expect("(")?;
        let field = self.inside(Parser::field)?;
        self.expect(")")?;
        Ok(field)
    }

    /// Statements to the end of the text. A faulty one is skipped to its end and noted.
    pub(super) fn statements(&mut self) -> Vec<Stmt> {
        let mut stmts = Vec::new();
        self.by_line = true;
        loop {
            self.began = self.at;
            while self.eat(";") {
                self.began = self.at;
            }
            if self.peek() == Tok::End {
                break;
            }
            let from = self.at;
            let result = self.statement().and_then(|stmt| match self.peek() {
                Tok::End | Tok::Newline | Tok::Sym(";") => Ok(stmt),
                _ => Err(self.unexpected("the end of the statement")),
            });
            match result {
                Ok(stmt) => stmts.push(stmt),
                Err(fault) => self.skip(from, fault, |tok| matches!(tok, Tok::Newline | Tok::Sym(";"))),
            }
        }
        self.by_line = false;
        stmts
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        let action = if self.eat_word("emit") {
            let effect = Ref::new(Layer::Effect, self.lower("the name of an effect")?);
            self.expect("(")?;
            let args = self.args()?;
            let ok = self.reducer_label("ok")?;
            let err = self.reducer_label("err")?;
            Action::Emit { effect, args, ok, err }
        } else {
            let name = self.lower("a statement (slot := value, or emit effect(..))")?;
            if self.eat("(") {
                Action::Call(Ref::new(Layer::Fn, name), self.args()?)
            } else {
                self.expect(":=")?;
                Action::Write(Ref::new(Layer::Slot, name), self.expr()?)
            }
        };
        let guard = if self.eat_word("when") { Some(self.guard()?) } else { None };
        Ok(Stmt { action, guard, unit: None, node: 0 })
    }

    fn reducer_label(&mut self, label: &str) -> Parsed<Option<Ref>> {
        if !self.eat_label(label) {
            return Ok(None);
        }
        Ok(Some(Ref::new(Layer::Reducer, self.lower("the name of a reducer")?)))
    }

    /// Parses a guard after its `when`.
    pub(super) fn guard(&mut self) -> Parsed<Guard> {
        // `some(x) = e` binds; anything else that begins with `some` is an expression.
        let start = self.at;
        if self.eat_word("some")
            && self.eat("(")
            && let Ok(name) = self.lower("a name")
            && self.eat(")")
            && self.eat("=")
        {
            return Ok(Guard::Some(name, self.expr()?));
        }
        self.at = start;
        Ok(Guard::If(self.expr()?))
    }

    fn tile_body(&mut self) -> Parsed<Body> {
        let params = if self.is_sym("(") { self.params()? } else { Vec::new() };
        Ok(Body::Tile { params, root: self.element()? })
    }

    pub(super) fn element(&mut self) -> Parsed<Element> {
        let Tok::Ident(name) = self.peek() else { return Err(self.unexpected("an element")) };
        if !matches!(name, "when") && crate::strand::lang::names::is_keyword(name) {
            return Err(self.unexpected("an element"));
        }
        self.at += 1;
        let at = self.offset();
        let args = if self.eat("(") { self.args()? } else { Vec::new() };
        let args = named_args(args, at)?;
        let children = if self.eat("{") { self.children()? } else { Vec::new() };
        let mut element = Element { head: Ref::new(Layer::Tile, name), args, children, unit: None, node: 0 };
        sort_args(&mut element);
        Ok(element)
    }

    /// Elements to the closing brace, the opening one already taken.
    fn children(&mut self) -> Parsed<Vec<Element>> {
        let (outer, began) = (std::mem::replace(&mut self.by_line, true), self.began);
        let children = self.within_element(|p| {
            let mut children = Vec::new();
            loop {
                p.began = p.at;
                while p.eat(";") {
                    p.began = p.at;
                }
                if p.eat("}") {
                    return Ok(children);
                }
                let from = p.at;
                let child = p.element().and_then(|child| match p.peek() {
                    Tok::Newline | Tok::Sym(";" | "}") => Ok(child),
                    // The end of a skipped part was reported already.
                    Tok::End if !p.faults.is_empty() => Ok(child),
                    Tok::End => Err(p.unexpected("'}'")),
                    _ => Err(p.unexpected("the end of the element")),
                });
                match child {
                    Ok(child) => children.push(child),
                    Err(fault) => p.skip(from, fault, |tok| matches!(tok, Tok::Newline | Tok::Sym(";" | "}"))),
                }
                if p.peek() == Tok::End {
                    return Ok(children);
                }
            }
        })?;
        self.by_line = outer;
        self.began = began;
        Ok(children)
    }
}

fn named_args(args: Vec<Arg>, at: usize) -> Parsed<Vec<(String, Expr)>> {
    let mut named: Vec<(String, Expr)> = Vec::with_capacity(args.len());
    for arg in args {
        let name = arg.name.ok_or_else(|| SyntaxError::new(at, "arguments of an element need names: name=value"))?;
        if named.iter().any(|(other, _)| *other == name) {
            return Err(SyntaxError::new(at, format!("the argument '{name}' is given twice")));
        }
        named.push((name, arg.value));
    }
    Ok(named)
}

/// Puts the arguments of an element into printed order: the table's for a built-in, by name for a tile.
pub(crate) fn sort_args(element: &mut Element) {
    let table = element_args(&element.head.name).unwrap_or(&[]);
    let rank = |name: &str| table.iter().position(|arg| arg.trim_end_matches('*') == name).unwrap_or(table.len());
    element.args.sort_by(|(a, _), (b, _)| rank(a).cmp(&rank(b)).then_with(|| a.cmp(b)));
}
