//! The files that usually hold keys in folders, as the programs meet them that leave files out by rules of git.

use std::path::{Path, PathBuf};
use std::time::Instant;

use globset::GlobMatcher;
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use ignore::types::TypesBuilder;

use super::flags::{IGLOB, OWN_TYPE, SearchFlags};
use crate::workspace::holds_secrets;

/// Returns a walk through all that lies in folders.
pub fn whole(starts: &[PathBuf]) -> WalkBuilder {
    let mut walk = WalkBuilder::from_iter(starts);
    walk.standard_filters(false);
    walk
}

/// Returns the walk of a program that runs in a folder, through what git does not ignore.
pub fn unignored(folder: &Path, starts: &[PathBuf]) -> WalkBuilder {
    let mut walk = whole(starts);
    walk.current_dir(folder).parents(true).git_global(true).git_ignore(true).git_exclude(true);
    walk
}

/// Returns the walk of an `rg` that runs in a folder. Where its options are not known for sure, it is one through all.
pub fn of_rg(flags: &SearchFlags, folder: &Path, starts: &[PathBuf]) -> WalkBuilder {
    let mut walk = whole(starts);
    let (Some(overrides), Some(types)) = (overrides(flags, folder), types(flags)) else { return walk };
    // A rule that is read may let a hidden file be searched.
    let is_rule = |name: &String| name.starts_with("ignore") && name != "ignore-case" || name == "no-require-git";
    if flags.is_unsure || flags.given.names.iter().any(is_rule) {
        return walk;
    }
    let is_on =
        |names: &[&str]| !flags.short(&['u']) && !flags.long(&["no-ignore", "unrestricted"]) && !flags.long(names);
    let is_of_git = is_on(&["no-ignore-vcs"]);
    walk.current_dir(folder)
        .hidden(!flags.searches_hidden())
        .parents(is_on(&["no-ignore-parent"]))
        .ignore(is_on(&["no-ignore-dot"]))
        .git_global(is_of_git && is_on(&["no-ignore-global"]))
        .git_ignore(is_of_git)
        .git_exclude(is_of_git && is_on(&["no-ignore-exclude"]))
        .overrides(overrides)
        .types(types);
    if is_on(&["no-ignore-dot"]) {
        walk.add_custom_ignore_filename(".rgignore");
    }
    walk
}

/// Returns the globs that an `rg` is given; none: it reads one in another way.
fn overrides(flags: &SearchFlags, folder: &Path) -> Option<ignore::overrides::Override> {
    let mut builder = OverrideBuilder::new(folder);
    builder.case_insensitive(flags.long(&["glob-case-insensitive"])).ok()?;
    for glob in flags.values('g') {
        builder.add(glob).ok()?;
    }
    builder.case_insensitive(true).ok()?;
    for glob in flags.values(IGLOB) {
        builder.add(glob).ok()?;
    }
    builder.build().ok()
}

/// Returns the kinds of files that an `rg` searches; none: they are its own.
fn types(flags: &SearchFlags) -> Option<ignore::types::Types> {
    if flags.values(OWN_TYPE).next().is_some() {
        return None;
    }
    let mut types = TypesBuilder::new();
    types.add_defaults();
    for (letter, kind) in &flags.given.values {
        match letter {
            't' => drop(types.select(kind)),
            'T' => drop(types.negate(kind)),
            _ => {}
        }
    }
    types.build().ok()
}

/// Returns the files that a walk meets which usually hold keys, and links to such; none: there was no time to look at all
/// of it. What git and builds keep is not looked at, nor are folders of the forms that are left out.
pub fn key_files(mut walk: WalkBuilder, left_out: Vec<GlobMatcher>, until: Instant) -> Option<Vec<PathBuf>> {
    walk.filter_entry(move |entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let name = entry.file_name();
        let is_kept = [".git", "node_modules", "target"].iter().any(|kept| name == *kept);
        entry.depth() == 0 || !is_folder || !is_kept && !left_out.iter().any(|form| form.is_match(name))
    });
    let is_named = |path: &Path| path.file_name().is_some_and(|name| holds_secrets(&name.to_string_lossy()));
    let mut found = Vec::new();
    for entry in walk.build() {
        if Instant::now() > until {
            return None;
        }
        let Ok(entry) = entry else { continue };
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let leads_there = || entry.path_is_symlink() && entry.path().canonicalize().is_ok_and(|path| is_named(&path));
        if !is_folder && (is_named(entry.path()) || leads_there()) {
            found.push(entry.into_path());
        }
    }
    Some(found)
}
