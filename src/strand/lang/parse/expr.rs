//! Parses expressions.

use super::{Parsed, Parser};
use crate::strand::id::Layer;
use crate::strand::lang::ast::{Arg, Binary, Expr, ExprKind, Pattern, Ref};
use crate::strand::lang::names::{fn_argument, is_keyword, is_upper};
use crate::strand::lang::token::{Tok, unescape};

/// Digits without leading zeros.
fn plain_int(digits: &str) -> String {
    let trimmed = digits.trim_start_matches('0');
    if trimmed.is_empty() { "0".to_owned() } else { trimmed.to_owned() }
}

/// Returns the shortest form of a decimal number.
fn plain_float(text: &str) -> String {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let part = part.trim_end_matches('0');
    format!("{}.{}", plain_int(whole), if part.is_empty() { "0" } else { part })
}

/// The precedence of `not`.
const NOT: u8 = 3;
/// The precedence of comparisons.
const COMPARISON: u8 = 4;

/// Returns the operator a token is, and how tightly it binds.
fn operator(tok: Tok) -> Option<(Binary, u8)> {
    Some(match tok {
        Tok::Ident("or") => (Binary::Or, 1),
        Tok::Ident("and") => (Binary::And, 2),
        Tok::Ident("in") => (Binary::In, COMPARISON),
        Tok::Sym("==") => (Binary::Eq, COMPARISON),
        Tok::Sym("!=") => (Binary::Ne, COMPARISON),
        Tok::Sym("<=") => (Binary::Le, COMPARISON),
        Tok::Sym(">=") => (Binary::Ge, COMPARISON),
        Tok::Sym("<") => (Binary::Lt, COMPARISON),
        Tok::Sym(">") => (Binary::Gt, COMPARISON),
        Tok::Sym("+") => (Binary::Add, 5),
        Tok::Sym("-") => (Binary::Sub, 5),
        Tok::Sym("*") => (Binary::Mul, 6),
        Tok::Sym("/") => (Binary::Div, 6),
        Tok::Sym("%") => (Binary::Rem, 6),
        _ => return None,
    })
}

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.deeper(|p| match p.peek() {
            Tok::Ident("if") => p.conditional(),
            Tok::Ident("match") => p.matching(),
            _ => {
                let head = p.operation(1)?;
                if !p.eat("=>") {
                    return Ok(head);
                }
                let body = p.expr()?;
                Ok(Expr::new(ExprKind::Lambda(Box::new(head), Box::new(body))))
            }
        })
    }

    fn conditional(&mut self) -> Parsed<Expr> {
        self.expect_word("if")?;
        let condition = self.expr()?;
        self.expect_word("then")?;
        let yes = self.expr()?;
        self.expect_word("else")?;
        let no = self.expr()?;
        Ok(Expr::new(ExprKind::If(Box::new(condition), Box::new(yes), Box::new(no))))
    }

    fn matching(&mut self) -> Parsed<Expr> {
        self.expect_word("match")?;
        let subject = self.expr()?;
        self.expect("{")?;
        let arms = self.inside(|p| {
            let mut arms = Vec::new();
            loop {
                let pattern = p.pattern()?;
                p.expect("->")?;
                arms.push((pattern, p.expr()?));
                if p.eat("}") {
                    return Ok(arms);
                }
                if !p.eat(";") {
                    return Err(p.unexpected("';' or '}'"));
                }
                if p.eat("}") {
                    return Ok(arms);
                }
            }
        })?;
        Ok(Expr::new(ExprKind::Match(Box::new(subject), arms)))
    }

    fn pattern(&mut self) -> Parsed<Pattern> {
        let pattern = match self.peek() {
            Tok::Ident("_") => Pattern::Any,
            Tok::Ident("none") => Pattern::None,
            Tok::Ident("true") => Pattern::Bool(true),
            Tok::Ident("false") => Pattern::Bool(false),
            Tok::Int(digits) => Pattern::Int(plain_int(digits)),
            Tok::Str(raw) => Pattern::Text(unescape(raw)),
            Tok::Ident("some") => {
                self.at += 1;
                self.expect("(")?;
                let name = self.lower("a name for the value")?;
                self.expect(")")?;
                return Ok(Pattern::Some(name));
            }
            Tok::Ident(name) if is_upper(name) => {
                self.at += 1;
                let binders = if self.eat("(") { self.list(")", |p| p.lower("a name"))? } else { Vec::new() };
                return Ok(Pattern::Variant(name.to_owned(), binders));
            }
            _ => return Err(self.unexpected("a pattern")),
        };
        self.at += 1;
        Ok(pattern)
    }

    /// Operands joined by operators that bind at least so tightly.
    fn operation(&mut self, least: u8) -> Parsed<Expr> {
        // No operator binds more tightly than the last one read, and a comparison does not chain.
        let (mut left, mut most) = if least <= NOT && self.eat_word("not") {
            (Expr::new(ExprKind::Not(Box::new(self.deeper(|p| p.operation(NOT))?))), NOT)
        } else {
            (self.unary()?, u8::MAX)
        };
        while let Some((op, level)) = operator(self.peek()).filter(|(_, level)| (least..=most).contains(level)) {
            self.at += 1;
            let right = self.link(|p| p.operation(level + 1))?;
            left = Expr::new(ExprKind::Binary(op, Box::new(left), Box::new(right)));
            most = if level == COMPARISON { level - 1 } else { level };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        if self.eat("-") {
            let inner = self.deeper(Parser::unary)?;
            return Ok(Expr::new(ExprKind::Neg(Box::new(inner))));
        }
        let mut value = self.primary()?;
        while self.eat(".") {
            let field = self.link(|p| p.lower("a field name"))?;
            value = Expr::new(ExprKind::Field(Box::new(value), field));
        }
        Ok(value)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let kind = match self.peek() {
            Tok::Int(digits) => ExprKind::Int(plain_int(digits)),
            Tok::Float(text) => ExprKind::Float(plain_float(text)),
            Tok::Str(raw) => ExprKind::Text(unescape(raw)),
            Tok::Ident("true") => ExprKind::Bool(true),
            Tok::Ident("false") => ExprKind::Bool(false),
            Tok::Ident("none") => ExprKind::None,
            Tok::Ident("null") => ExprKind::Null,
            Tok::Ident("it") => ExprKind::It,
            Tok::Ident("some") => {
                self.at += 1;
                self.expect("(")?;
                let inner = self.inside(|p| {
                    let inner = p.expr()?;
                    p.expect(")")?;
                    Ok(inner)
                })?;
                return Ok(Expr::new(ExprKind::Some(Box::new(inner))));
            }
            Tok::Ident("emit") => {
                self.at += 1;
                let effect = Ref::new(Layer::Effect, self.lower("the name of an effect")?);
                self.expect("(")?;
                return Ok(Expr::new(ExprKind::Emit(effect, self.args()?)));
            }
            Tok::Ident(name) if is_upper(name) => return self.construction(name),
            Tok::Ident(name) if !is_keyword(name) => return self.name_or_call(name),
            Tok::Sym("[") => {
                self.at += 1;
                return Ok(Expr::new(ExprKind::List(self.list("]", Parser::expr)?)));
            }
            Tok::Sym("{") => {
                self.at += 1;
                let pairs = self.list("}", |p| {
                    let key = p.expr()?;
                    p.expect(":")?;
                    Ok((key, p.expr()?))
                })?;
                return Ok(Expr::new(ExprKind::Map(pairs)));
            }
            Tok::Sym("(") => return self.parenthesis(),
            _ => return Err(self.unexpected("an expression")),
        };
        self.at += 1;
        Ok(Expr::new(kind))
    }

    fn construction(&mut self, name: &str) -> Parsed<Expr> {
        self.at += 1;
        let variant = match (self.peek(), self.peek_second()) {
            (Tok::Sym("."), Tok::Ident(variant)) if is_upper(variant) => {
                self.at += 2;
                Some(variant.to_owned())
            }
            _ => None,
        };
        let args = if self.eat("(") { Some(self.args()?) } else { None };
        Ok(Expr::new(ExprKind::Make(Ref::new(Layer::Type, name), variant, args)))
    }

    fn name_or_call(&mut self, name: &str) -> Parsed<Expr> {
        self.at += 1;
        if !self.eat("(") {
            return Ok(Expr::new(ExprKind::Name(Ref::new(Layer::Slot, name))));
        }
        let mut args = self.args()?;
        if let Some(index) = fn_argument(name)
            && let Some(Arg { value: Expr { kind: ExprKind::Name(reference), .. }, .. }) = args.get_mut(index)
        {
            reference.layer = Layer::Fn;
        }
        Ok(Expr::new(ExprKind::Call(Ref::new(Layer::Fn, name), args)))
    }

    /// Parses `( .. )`: a parenthesised expression, a nested write, or the parameters of a lambda.
    fn parenthesis(&mut self) -> Parsed<Expr> {
        self.expect("(")?;
        self.inside(|p| {
            if let Some(names) = p.lambda_names() {
                p.expect("=>")?;
                let body = p.expr()?;
                return Ok(Expr::new(ExprKind::LambdaList(names, Box::new(body))));
            }
            if let (Tok::Ident(name), Tok::Sym(":=")) = (p.peek(), p.peek_second()) {
                let slot = Ref::new(Layer::Slot, p.lower("the name of a slot").map(|_| name.to_owned())?);
                p.expect(":=")?;
                let value = p.expr()?;
                p.expect(")")?;
                return Ok(Expr::new(ExprKind::Assign(slot, Box::new(value))));
            }
            let inner = p.expr()?;
            p.expect(")")?;
            Ok(inner)
        })
    }

    /// Parses the names of `(a, b) =>` after its bracket, or nothing and no move. One name is read as an expression,
    /// whose lambda looks the same.
    fn lambda_names(&mut self) -> Option<Vec<String>> {
        let start = self.at;
        let names = self.list(")", |p| p.lower("a name"));
        match names {
            Ok(names) if names.len() != 1 && self.is_sym("=>") => Some(names),
            _ => {
                self.at = start;
                None
            }
        }
    }

    /// Parses arguments after their opening bracket.
    pub(super) fn args(&mut self) -> Parsed<Vec<Arg>> {
        self.list(")", |p| {
            let name = match (p.peek(), p.peek_second()) {
                (Tok::Ident(name), Tok::Sym("=")) if !is_upper(name) && !is_keyword(name) => {
                    p.at += 2;
                    Some(name.to_owned())
                }
                _ => None,
            };
            Ok(Arg { name, value: p.expr()? })
        })
    }
}
