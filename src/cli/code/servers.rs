//! The language servers that a rename may use, and whether one may be started here.

use std::path::Path;

use super::failure::{Failed, REFUSED};
use crate::cli::context::Context;
use crate::lsp::{self, LanguageServer};

/// The language servers that a rename may use.
pub struct Servers<'a> {
    /// The configuration, which says whether the folder is trusted. None: there are no servers.
    pub context: Option<&'a Context>,
    /// True if nobody asks for one: those that the configuration names are used where they are needed, and no others.
    pub unasked: bool,
    /// The seconds until one is ready.
    pub patience: u64,
}

impl<'a> Servers<'a> {
    /// Returns the server for a file.
    fn of(&self, path: &str) -> Option<(&'a Context, LanguageServer)> {
        let context = self.context?;
        Some((context, lsp::choose(&context.config.lsp, path, context.config.env(), self.unasked)?))
    }

    /// Returns the server that is used though nobody asked for it: one that is configured, in a folder that is trusted.
    pub(super) fn configured(&self, path: &str) -> Option<Chosen<'a>> {
        let (context, server) = self.of(path).filter(|(context, _)| self.unasked && context.config.is_trusted())?;
        Some(Chosen { context, server, patience: self.patience })
    }

    /// Returns the server that was asked for.
    ///
    /// # Errors
    /// When there is none, or it must not be started here.
    pub(super) fn required(&self, path: &str) -> Result<Chosen<'a>, Failed> {
        let Some((context, server)) = self.of(path) else {
            let off = self.context.is_some_and(|context| context.config.lsp.off);
            let why = match off {
                true => "lsp is false in the configuration".to_owned(),
                false => "none is on the PATH that starts; lsp in the configuration names others".to_owned(),
            };
            return Err(Failed::new("no-server", REFUSED, format!("there is no language server for {path}: {why}")));
        };
        match context.config.is_trusted() {
            true => Ok(Chosen { context, server, patience: self.patience }),
            false => Err(Failed::new("untrusted", REFUSED, untrusted(&server, context.workspace.root()))),
        }
    }

    /// Returns what a person can do about mentions that cannot be told without types.
    pub(super) fn advice(&self, path: &str) -> String {
        match self.of(path).filter(|_| !self.unasked) {
            Some((context, server)) if context.config.is_trusted() => {
                format!("\n{} is installed and may tell them: add --server", server.name)
            }
            Some((context, server)) => {
                format!(
                    "\n{} is installed and may tell them (--server), but {}",
                    server.name,
                    not_here(context.workspace.root())
                )
            }
            None => String::new(),
        }
    }
}

fn untrusted(server: &LanguageServer, root: &Path) -> String {
    format!("{} is not started: {}", server.name, not_here(root))
}

fn not_here(root: &Path) -> String {
    format!(
        "a server runs the project's code, and {} is not trusted: /trust in nebula, or trusted in the configuration",
        root.display()
    )
}

/// A server that may be started.
pub(super) struct Chosen<'a> {
    /// The settings and the environment of the start.
    pub context: &'a Context,
    /// The server.
    pub server: LanguageServer,
    /// The seconds until it is ready.
    pub patience: u64,
}
