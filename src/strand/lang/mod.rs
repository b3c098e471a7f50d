//! The language: text to bodies, bodies to text, names to definitions, and every check.

pub mod ast;
pub mod names;
pub mod parse;
pub mod place;
pub mod print;
pub mod resolve;
pub mod similar;
pub mod token;
pub mod unit;

#[cfg(test)]
mod tests;
