//! Commands and their undoing, with the real program.

mod forms;
mod model;
mod person;
mod sandbox;
mod tree;
