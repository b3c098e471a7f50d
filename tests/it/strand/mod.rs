//! Strand as a whole: convergence over generated histories, and the command as a person runs it.

mod checkpoint;
mod command;
mod converge;
mod parallel;
