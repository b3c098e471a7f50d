//! The sandbox: what a command may not do is refused by the kernel. The second stage of a helper puts itself into it
//! before it becomes the shell. Everything is readable but private files, what its grant names is writable; no capability
//! is left, and processes outside are out of reach.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, LandlockStatus, PathBeneath,
    Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope,
};
use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::grant::{Bounds, Grant, entries};

/// The newest rules that are asked for; the kernel enforces those it knows.
const NEWEST: ABI = ABI::V7;

/// Puts this process into the sandbox permanently; the version of the kernel's rules. It must have no-new-privileges set.
///
/// # Errors
/// When the kernel has no such sandbox.
pub fn enter(bounds: &Bounds) -> io::Result<String> {
    let mut rules = rules(bounds.grant).map_err(io::Error::other)?;
    let mut readable = Vec::new();
    let known: Vec<&Path> =
        [&bounds.private, &bounds.write, &bounds.known].into_iter().flatten().map(PathBuf::as_path).collect();
    find_readable(Path::new("/"), &bounds.private, &known, &mut readable);
    rules = allow(rules, Path::new("/"), AccessFs::ReadDir.into())?;
    for path in &readable {
        rules = allow(rules, path, AccessFs::from_read(NEWEST))?;
    }
    for path in &bounds.write {
        rules = allow(rules, path, writing())?;
    }
    drop_capabilities()?;
    let status = rules.restrict_self().map_err(io::Error::other)?;
    match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, LandlockStatus::NotEnabled) => Err(io::Error::other("Landlock is not enabled")),
        (RulesetStatus::NotEnforced, _) => Err(io::Error::other("the kernel has no Landlock")),
        (_, LandlockStatus::Available { effective_abi, .. }) => Ok(format!("{effective_abi:?}").replace('V', "")),
        _ => Ok("?".into()),
    }
}

/// Returns whether the kernel answers a process like this one that it has such rules.
pub fn has_rules() -> bool {
    let required = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    required.handle_access(AccessFs::from_all(ABI::V1)).is_ok()
}

fn rules(grant: Grant) -> Result<RulesetCreated, landlock::RulesetError> {
    let mut rules = Ruleset::default().handle_access(AccessFs::from_all(NEWEST))?.scope(Scope::from_all(NEWEST))?;
    if grant != Grant::Online {
        // The guard makes the connections that are allowed.
        rules = rules.handle_access(AccessNet::ConnectTcp)?;
    }
    rules.create()
}

/// Returns all that changes files, but not the making of devices.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::from_write(NEWEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock)
}

/// Returns one more rule. A link is none: what it leads to has its own.
fn allow(rules: RulesetCreated, path: &Path, rights: BitFlags<AccessFs>) -> io::Result<RulesetCreated> {
    let Some((file, is_folder)) = open(path) else { return Ok(rules) };
    let rights = if is_folder { rights } else { rights & AccessFs::from_file(NEWEST) };
    rules.add_rule(PathBeneath::new(file, rights)).map_err(io::Error::other)
}

fn open(path: &Path) -> Option<(OwnedFd, bool)> {
    let file = rustix::fs::openat(CWD, path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()).ok()?;
    match FileType::from_raw_mode(rustix::fs::fstat(&file).ok()?.st_mode) {
        FileType::Symlink => None,
        kind => Some((file, kind == FileType::Directory)),
    }
}

/// Finds the largest folders below one that hold nothing private. Of a folder that cannot be listed those of its entries
/// are ruled that lie on the way to a known path.
fn find_readable(folder: &Path, private: &[PathBuf], known: &[&Path], found: &mut Vec<PathBuf>) {
    if !private.iter().any(|path| path.starts_with(folder)) {
        // No rule is made of a link.
        return found.push(folder.to_path_buf());
    }
    if folder.is_symlink() {
        return;
    }
    let on_the_way = || {
        let next = |path: &&Path| Some(folder.join(path.strip_prefix(folder).ok()?.components().next()?));
        known.iter().filter_map(next).collect::<BTreeSet<PathBuf>>().into_iter().collect()
    };
    for path in entries(folder).unwrap_or_else(on_the_way) {
        if !private.contains(&path) {
            find_readable(&path, private, known, found);
        }
    }
}

/// Drops the capabilities. Root alone has any; what it owns it may still change.
fn drop_capabilities() -> io::Result<()> {
    for capability in CapabilitySet::all().iter() {
        // Without the right to, there is nothing in the set that could be gained.
        let _ = rustix::thread::remove_capability_from_bounding_set(capability);
    }
    let _ = rustix::thread::clear_ambient_capability_set();
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_is_readable_goes_round_what_is_private() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("real");
        for folder in ["home/a/b", "home/.aws", "etc"] {
            fs::create_dir_all(root.join(folder)).expect("made");
        }
        fs::write(root.join("home/a/secret"), "").expect("written");
        std::os::unix::fs::symlink(".aws", root.join("home/way")).expect("linked");
        let mut found = Vec::new();
        find_readable(&root, &[root.join("home/.aws"), root.join("home/a/secret")], &[], &mut found);
        found.sort();
        // Of a link no rule is made.
        assert_eq!(found, [root.join("etc"), root.join("home/a/b"), root.join("home/way")]);
    }

    #[test]
    fn below_a_folder_that_cannot_be_listed_what_is_known_is_readable() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("real");
        for folder in ["home/me/.aws", "home/me/proj", "home/other", "etc"] {
            fs::create_dir_all(root.join(folder)).expect("made");
        }
        let set_mode = |mode| fs::set_permissions(root.join("home"), fs::Permissions::from_mode(mode)).expect("set");
        set_mode(0o311);
        // Root lists every folder.
        let is_listed = fs::read_dir(root.join("home")).is_ok();
        let [private, proj] = [root.join("home/me/.aws"), root.join("home/me/proj")];
        let mut found = Vec::new();
        find_readable(&root, std::slice::from_ref(&private), &[&private, &proj], &mut found);
        set_mode(0o755);
        found.sort();
        let other = is_listed.then(|| root.join("home/other"));
        assert_eq!(found, [root.join("etc"), proj].into_iter().chain(other).collect::<Vec<_>>());
    }
}
