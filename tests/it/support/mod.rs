//! The helpers of the tests.

pub mod mock_server;
pub mod world;
