//! Reading a patch: addresses and instructions, as strings or as objects.

use std::collections::BTreeMap;

use serde_json::Value;

use super::tokens::failed;
use crate::strand::id::Layer;
use crate::strand::issue::Refusal;
use crate::strand::lang::parse::category;

/// One instruction of a patch.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Instruction {
    Replace { from: String, to: String, all: bool },
    Set(String),
    Insert(String),
    InsertChild(String),
    Delete,
    Add(String, String),
    Unset(String),
}

/// The header registers of all layers.
const HEADERS: [&str; 14] =
    ["on", "in", "params", "returns", "err", "needs", "do", "type", "init", "form", "base", "where", "expr", "doc"];

/// The address of an instruction, in the order of application.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Address {
    Header(String),
    Unit(usize),
    Part(usize, String),
}

/// Parses a patch object as addresses with their instructions, addresses ascending.
pub(super) fn read_patch(layer: Layer, patch: &Value) -> Result<BTreeMap<Address, Vec<Instruction>>, Refusal> {
    let object = patch.as_object().ok_or_else(|| failed("a patch is an object of addresses and instructions"))?;
    let mut out = BTreeMap::new();
    for (address, instruction) in object {
        let address = read_address(layer, address)?;
        let list = match instruction {
            Value::Array(list) => list.iter().collect(),
            one => vec![one],
        };
        let steps = list.into_iter().map(read_step).collect::<Result<Vec<_>, _>>()?;
        out.insert(address, steps.into_iter().flatten().collect());
    }
    if out.is_empty() { Err(failed("the patch is empty")) } else { Ok(out) }
}

fn read_address(layer: Layer, text: &str) -> Result<Address, Refusal> {
    if let Some(rest) = text.strip_prefix("body:") {
        let (number, part) = match rest.split_once('.') {
            Some((number, part)) => (number, Some(part.to_owned())),
            None => (rest, None),
        };
        let number = number.parse().map_err(|_| failed(format!("'{text}' is not an address: use body:N")))?;
        return Ok(part.map_or(Address::Unit(number), |part| Address::Part(number, part)));
    }
    if category(layer, false, text).is_none() {
        let there: Vec<&str> = HEADERS.into_iter().filter(|name| category(layer, false, name).is_some()).collect();
        let message = format!("a {layer} has no '{text}' to address; it has body:N, {}", there.join(", "));
        return Err(failed(message));
    }
    Ok(Address::Header(text.to_owned()))
}

fn read_step(value: &Value) -> Result<Vec<Instruction>, Refusal> {
    if let Some(text) = value.as_str() {
        return read_instruction(text).map(|step| vec![step]);
    }
    let object = value.as_object().ok_or_else(|| failed("an instruction is a string or an object"))?;
    let mut steps = Vec::new();
    for (name, value) in object {
        let text = || value.as_str().map(str::to_owned).ok_or_else(|| failed(format!("'{name}' needs a string")));
        match name.as_str() {
            "replace" | "replace-all" => {
                let pair = value.as_array().filter(|pair| pair.len() == 2);
                let pair: Option<Vec<&str>> = pair.and_then(|pair| pair.iter().map(Value::as_str).collect());
                let pair = pair.ok_or_else(|| failed(format!("'{name}' needs two strings")))?;
                let (from, to) = (pair[0].to_owned(), pair[1].to_owned());
                steps.push(Instruction::Replace { from, to, all: name == "replace-all" });
            }
            "set" => steps.push(Instruction::Set(text()?)),
            "insert" => steps.push(Instruction::Insert(text()?)),
            "insert-child" => steps.push(Instruction::InsertChild(text()?)),
            "delete" => steps.push(Instruction::Delete),
            "unset" => steps.push(Instruction::Unset(text()?)),
            "add" => {
                let args = value.as_object().ok_or_else(|| failed("'add' needs an object"))?;
                for (name, value) in args {
                    let value = value.as_str().ok_or_else(|| failed("'add' needs texts"))?;
                    steps.push(Instruction::Add(name.clone(), value.to_owned()));
                }
            }
            other => return Err(failed(format!("unknown instruction '{other}'"))),
        }
    }
    Ok(steps)
}

fn read_instruction(text: &str) -> Result<Instruction, Refusal> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    Ok(match word {
        "replace" | "replace-all" => {
            let wrong = || failed(format!("'{text}' is not {word} 'a' -> 'b'"));
            let (from, rest) = quoted(rest.trim()).ok_or_else(wrong)?;
            let rest = rest.trim_start().strip_prefix("->").ok_or_else(wrong)?;
            let (to, rest) = quoted(rest.trim_start()).ok_or_else(wrong)?;
            if !rest.trim().is_empty() {
                return Err(wrong());
            }
            Instruction::Replace { from, to, all: word == "replace-all" }
        }
        "set" => Instruction::Set(rest.to_owned()),
        "insert" => Instruction::Insert(rest.to_owned()),
        "insert-child" => Instruction::InsertChild(rest.to_owned()),
        "delete" if rest.trim().is_empty() => Instruction::Delete,
        "unset" => Instruction::Unset(rest.trim().to_owned()),
        "add" => {
            let (name, value) = rest.split_once('=').ok_or_else(|| failed(format!("'{text}' is not add NAME=EXPR")))?;
            Instruction::Add(name.trim().to_owned(), value.trim().to_owned())
        }
        _ => return Err(failed(format!("unknown instruction '{text}'"))),
    })
}

/// Parses a text in single quotes, with `\'` and `\\`; returns what follows it too.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.strip_prefix('\'')?.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' => return Some((out, &text[at + 2..])),
            '\\' => out.push(chars.next()?.1),
            c => out.push(c),
        }
    }
    None
}
