//! Strand: code as a graph of definitions, edited by structured ops instead of text diffs.
//!
//! From the bottom up, each layer knowing only those before it:
//!
//! - [`id`]: op-ids, layers, qualified names. [`one_or_many`]: short lists.
//! - [`lang`]: text to bodies and back, registers and units, names in scope.
//! - [`op`]: ops and their wire form. [`graph`]: which are known, which are void.
//! - [`lazy`]: what a state need not load. [`state`]: what the ops come to, with [`hash`]es. A function of the set of ops alone.
//! - [`check`]: every fault of a state, and the patch that fixes it.
//! - [`issue`]: drafts become ops. [`integrity`]: edits that met badly. [`findings`]: what merging left.
//! - [`runtime`]: runs a graph, records episodes, replays them.
//! - [`store`]: a folder with a durable op log; push and pull. [`sync`]: files as another view of it.
//! - [`conflicts`]: what a person decides, recorded or found.
//! - [`cli`]: the `strand` command, thin over all of it.

pub mod check;
pub mod cli;
pub mod conflicts;
pub mod findings;
pub mod graph;
pub mod hash;
pub mod id;
pub mod integrity;
pub mod issue;
pub mod lang;
pub mod lazy;
pub mod one_or_many;
pub mod op;
pub mod remote;
pub mod runtime;
pub mod state;
pub mod store;
pub mod sync;

/// Returns numbers below a bound that a seed decides, for random histories.
#[cfg(test)]
fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut last = seed * 7_919 + 1;
    move |below| {
        last = last.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (last >> 33) % below
    }
}
