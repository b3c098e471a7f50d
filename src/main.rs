//! The `nebula` program: parses arguments and hands over to a front end.
fn main() {}
