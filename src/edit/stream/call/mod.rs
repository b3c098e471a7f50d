//! Tool calls written as text: JSON, tags that name the tool, Python.

mod json;
mod named;
mod python;
pub(super) mod starts;

pub(super) use json::Call;
pub(super) use named::Named;
pub(super) use python::Python;
