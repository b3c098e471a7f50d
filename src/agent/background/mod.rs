//! Work that needs the services alone: tasks that live as long as the process, and what queries, turns and the command
//! line ask of the archive and memory.

pub mod adopt;
pub mod archive_size;
pub mod changeset_news;
pub mod graph_reads;
pub mod labels;
pub mod maintenance;
pub mod moved;
pub mod rag;
pub mod reconcile;
pub mod review;
pub mod watch;
