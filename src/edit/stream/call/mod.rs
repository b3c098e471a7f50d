//! Tool calls written as text: JSON, tags that name the tool, Python.

mod addressed;
mod json;
mod named;
mod python;
pub(super) mod starts;

pub(super) use addressed::Addressed;
pub(super) use json::Call;
pub(super) use named::Named;
pub(super) use python::Python;
