//! The server of a set of tools over stdin and stdout. No other module names the Model Context Protocol's SDK.

mod handler;
mod joined;
mod lines;
mod serve;
#[cfg(feature = "strand")]
mod strand;
mod toolbox;

pub use joined::Joined;
pub use serve::serve;
pub use toolbox::{Client, ConsentQuestion, Contents, Entry, ResourcePage, ServedAnswer, ServedTool, Toolbox};
