//! The parts that live as long as one change on its way to the disk: a proposal that is decided and executed, a
//! restore, a command that is run and sealed.

pub mod command;
pub mod command_event;
pub mod execute_proposal;
pub mod holds;
pub mod proposal_check;
pub mod restore;
