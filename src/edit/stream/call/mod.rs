//! Tool calls written as text: JSON, tags that name the tool, Python.

mod addressed;
mod json;
mod named;
mod python;
pub(super) mod starts;

pub(super) use addressed::Addressed;
pub(super) use json::Call;
pub(super) use named::Named;
use python::Python;

use super::context::ReaderContext;
use super::input::Input;
use super::reader::Reader;
use super::starts::head;
use super::tags::Style;

/// Begins to read a call that begins with the name of its tool.
pub(super) fn named(input: &mut Input, ctx: &mut ReaderContext) -> Option<Box<dyn Reader>> {
    if let Ok(begun) = starts::python(head(input.rest()), &ctx.calls) {
        return Some(Box::new(Python::new(begun, input, ctx)));
    }
    if let Ok((length, tool)) = starts::keyed(head(input.rest()), &ctx.calls) {
        let raw = input.rest()[..length].to_string();
        input.skip(length);
        return Some(Box::new(Named::new(Style::Keys, tool, raw, ctx)));
    }
    let named = starts::named_object(head(input.rest()), &ctx.calls).ok()?;
    input.skip(named.length);
    Some(Box::new(Addressed::of(named)))
}
