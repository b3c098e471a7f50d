//! The helpers of the tests.

#[cfg(feature = "mcp")]
pub mod mcp;
pub mod mock_server;
pub mod world;
