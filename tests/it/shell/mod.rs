//! Commands and their undoing, with the real program.

mod classes;
mod folders;
mod forms;
mod holds;
mod hostile;
mod inverse;
mod killed;
mod many;
mod model;
mod outsiders;
mod owner;
mod person;
mod races;
mod reach;
mod repositories;
mod restored;
mod review;
mod sandbox;
mod tree;
mod views;
