//! What the tests stand on.

pub mod mock_server;
pub mod world;
