//! The paths that patterns of the shell stand for on disk.

use std::path::{Path, PathBuf};
use std::time::Instant;

use globset::Glob;

use crate::shell::class::TouchedPath;

/// Returns the paths that a word stands for among the files there, as the shell finds them; those of a pattern that is
/// not expanded by then are left out.
pub fn expand(touched: &TouchedPath, until: Instant) -> impl Iterator<Item = PathBuf> {
    let (base, pattern) = match touched.pattern.strip_prefix('/') {
        Some(pattern) => (PathBuf::from("/"), pattern),
        None => (touched.folder.clone(), touched.pattern.as_str()),
    };
    let parts = pattern.split('/').filter(|part| !part.is_empty());
    let found = parts.fold(vec![base], |found, part| match Glob::new(part).map(|glob| glob.compile_matcher()) {
        Ok(glob) if part.contains(['*', '?', '[', '{', '\\']) => {
            let is_hidden = |name: &str| name.starts_with('.') && !part.trim_start_matches('\\').starts_with('.');
            let fits = |path: &PathBuf| {
                let name = path.file_name().unwrap_or_default();
                glob.is_match(name) && !is_hidden(&name.to_string_lossy())
            };
            let listed = found.iter().flat_map(|folder| entries(folder));
            let found = listed.take_while(|_| Instant::now() < until).filter(fits).collect();
            if Instant::now() < until { found } else { Vec::new() }
        }
        _ => found.into_iter().map(|folder| folder.join(part)).collect(),
    });
    found.into_iter()
}

/// Returns what is in a folder; nothing where it cannot be read.
pub fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}
