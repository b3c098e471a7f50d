//! The store that a command works on, and the author.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::args::Args;
use super::out::Writer;
use crate::strand::issue::{Issuer, Refusal};
use crate::strand::op::author_is_valid;
use crate::strand::store::{Error, Store};

/// The context of every command.
pub(super) struct Session {
    pub store: Store,
    pub issuer: Issuer,
    /// True if the author was named explicitly.
    pub author_given: bool,
}

/// Returns the folder of the store that is given, else that of the one that the environment names.
pub(super) fn named(given: Option<PathBuf>) -> Option<PathBuf> {
    given.or_else(|| std::env::var_os("STRAND_STORE").filter(|name| !name.is_empty()).map(PathBuf::from))
}

/// Returns the author who is given, else the one whom the environment names.
pub(super) fn author(given: Option<String>) -> Option<String> {
    given.or_else(|| std::env::var("STRAND_AUTHOR").ok())
}

/// Returns the folder for what was fetched of remotes: in the person's cache.
pub(super) fn remotes() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let cache = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))?;
    Some(cache.join("strand").join("remotes"))
}

/// Returns the folder of the store that a command is about.
pub(super) fn root(args: &Args) -> Result<PathBuf, Error> {
    if let Some(path) = named(args.store.clone()) {
        return Ok(path);
    }
    let here = std::env::current_dir().map_err(|error| Error::io("find", std::path::Path::new("."), error))?;
    let name = |store: &PathBuf| store.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Store::find(&here).ok_or_else(|| match Store::below(&here).iter().map(name).collect::<Vec<_>>().as_slice() {
        [first @ .., last] if !first.is_empty() => Error::NotFound(format!(
            "there are several stores here, {} and {last}; name one with --store",
            first.join(", ")
        )),
        _ => Error::NoStore,
    })
}

/// Returns the store in a workspace that the environment names, else the one that its folder is or the only one in it.
pub fn store_of(workspace: &Path) -> Option<PathBuf> {
    match named(None) {
        Some(path) => within(workspace, path).ok(),
        None => Store::find(workspace).filter(|store| store.starts_with(workspace)),
    }
}

/// Returns what the environment names as the store, where that is no store in a workspace.
pub fn unknown_store(workspace: &Path) -> Option<PathBuf> {
    within(workspace, named(None)?).err()
}

/// Returns the whole path of a store in a workspace.
///
/// # Errors
/// When the path leads to no store there: itself.
fn within(workspace: &Path, path: PathBuf) -> Result<PathBuf, PathBuf> {
    let whole = path.canonicalize().ok().filter(|whole| whole.starts_with(workspace) && Store::is_in(whole));
    whole.ok_or(path)
}

/// Opens the store of a folder that someone named.
pub(super) fn open_at(path: &Path) -> Result<Store, Error> {
    Store::open(path).map_err(|error| none_in(path, error))
}

/// Says where there is no store.
pub(super) fn none_in(path: &Path, error: Error) -> Error {
    match error {
        Error::NoStore => Error::NotFound(format!("there is no store in {}", path.display())),
        error => error,
    }
}

/// Opens the store that a command is about, and decides the author.
pub(super) fn open(args: &Args, out: &mut Writer) -> Result<Session, Error> {
    let mut store = open_at(&root(args)?)?;
    store.set_timeout(Duration::from_secs(args.lock_timeout));
    for notice in store.take_notices() {
        out.note(&notice);
    }
    let (issuer, author_given) = issuer(args.author.clone(), &store)?;
    Ok(Session { store, issuer, author_given })
}

/// Returns who issues ops in a store: the author who is given, else the environment's, the store's or the login; and
/// whether it was named.
///
/// # Errors
/// When the author is none.
pub fn issuer(given: Option<String>, store: &Store) -> Result<(Issuer, bool), Error> {
    let named = author(given).or_else(|| store.config().author.clone());
    let is_given = named.is_some();
    let author = named.unwrap_or_else(login);
    if !author_is_valid(&author) {
        return Err(Refusal::Usage(format!("'{author}' is not an author: use agent:<id> or user:<id>")).into());
    }
    Ok((Issuer::new(author), is_given))
}

/// Returns `user:` and the login name, reduced to characters that may stand there.
fn login() -> String {
    let name = std::env::var("USER").or_else(|_| std::env::var("USERNAME")).unwrap_or_default();
    let fit: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || "._-".contains(*c)).take(64).collect();
    format!("user:{}", if fit.is_empty() { "someone" } else { &fit })
}
