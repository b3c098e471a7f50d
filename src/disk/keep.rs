//! Carries a file's attributes over to its replacement: owner, group, access list, extended attributes, capabilities,
//! mode.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Gid, Uid, XattrFlags, fchown, fgetxattr, flistxattr, fsetxattr, llistxattr};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid};

use super::Folder;

/// The largest extended attribute that Linux knows.
const LARGEST: usize = 64 << 10;
/// Attributes that hold access lists: where one is lost, the group's bits would mean more than before.
const ACCESS_LIST: &str = "system.posix_acl_access";
/// Set last, because writing and changing the owner take it away.
const CAPABILITIES: &str = "security.capability";

/// Gives `new` the attributes of `old`, and `mode`. Returns what could not be kept, in a few words each. Neither group
/// nor others get rights that they did not have. Called when all bytes are written.
///
/// # Errors
/// When the mode cannot be set, which leaves the file to its owner alone.
pub fn keep(old: &File, new: &File, mode: u32) -> io::Result<Vec<String>> {
    let (was, is) = (old.metadata()?, new.metadata()?);
    let mut lost = Vec::new();
    let mut mode = mode;
    if (was.uid(), was.gid()) != (is.uid(), is.gid()) {
        let owner = fchown(new, Some(Uid::from_raw(was.uid())), Some(Gid::from_raw(was.gid())));
        let group = owner.or_else(|_| fchown(new, None, Some(Gid::from_raw(was.gid()))));
        if owner.is_err() && was.uid() != is.uid() {
            lost.push(format!("owner {}", was.uid()));
            mode &= !0o4000;
        }
        if group.is_err() && was.gid() != is.gid() {
            lost.push(format!("group {}", was.gid()));
            mode = without_group(mode) & !0o2000;
        }
    }
    let attributes = copy_attributes(old, new);
    if attributes.iter().any(|name| name == ACCESS_LIST) {
        mode = without_group(mode);
    }
    lost.extend(attributes.iter().map(|name| words(name)));
    new.set_permissions(fs::Permissions::from_mode(mode))?;
    Ok(lost)
}

/// Returns what a file in a folder has beside its bytes and permission bits, in a few words each: a copy of those alone
/// lacks it.
///
/// # Errors
/// Any error of the file system.
pub fn beside_bytes(file: &File, folder: &Folder) -> io::Result<Vec<String>> {
    let meta = file.metadata()?;
    let mut has = Vec::new();
    let set_id = [(0o4000, "its set-user-ID bit"), (0o2000, "its set-group-ID bit")];
    has.extend(set_id.iter().filter(|(bit, _)| meta.mode() & bit != 0).map(|(_, name)| (*name).to_string()));
    if meta.uid() != geteuid().as_raw() {
        has.push(format!("owner {}", meta.uid()));
    }
    // A new file's group is that of the process or of the folder.
    if meta.gid() != getegid().as_raw() && meta.gid() != folder.group()? {
        has.push(format!("group {}", meta.gid()));
    }
    has.extend(named(attribute_names_of(file)));
    Ok(has)
}

/// Returns the access list, the extended attributes and the capabilities of what is at a path, in a few words each.
pub fn attributes_at(path: &Path) -> Vec<String> {
    named(attribute_names(|list| llistxattr(path, list))).collect()
}

/// Returns the attributes of these that a new file does not get from the system, for people.
fn named(names: Vec<String>) -> impl Iterator<Item = String> {
    // Labels are given to a new file by the system.
    let kept_apart = |name: &String| !name.starts_with("security.") || name == CAPABILITIES;
    names.into_iter().filter(kept_apart).map(|name| words(&name))
}

/// Returns an extended attribute, for people.
fn words(name: &str) -> String {
    match name {
        ACCESS_LIST => "access list".into(),
        CAPABILITIES => "capabilities".into(),
        _ => format!("attribute {name}"),
    }
}

/// Returns a mode whose group may do no more than everybody.
fn without_group(mode: u32) -> u32 {
    mode & !0o070 | (mode & 0o070 & ((mode & 0o007) << 3))
}

/// Copies extended attributes; the names of those that could not be.
fn copy_attributes(old: &File, new: &File) -> Vec<String> {
    let mut names = attribute_names_of(old);
    names.sort_by_key(|name| name == CAPABILITIES);
    let had = attribute_names_of(new);
    let differs = |name: &String| value(old, name) != value(new, name);
    // A list that the folder gave the new file, and the old one did not have, would give others rights.
    let inherited = had.iter().any(|n| n == ACCESS_LIST) && !names.iter().any(|n| n == ACCESS_LIST);
    if inherited {
        // The mode that is set afterwards counts where there is no list; one that stays is reported.
        let _ = rustix::fs::fremovexattr(new, ACCESS_LIST);
    }
    let mut lost: Vec<String> = names
        .into_iter()
        .filter(differs)
        .filter(|name| {
            let copied = value(old, name).and_then(|v| fsetxattr(new, name.as_str(), &v, XattrFlags::empty()));
            copied.is_err()
        })
        .collect();
    if inherited && attribute_names_of(new).iter().any(|n| n == ACCESS_LIST) {
        lost.push(ACCESS_LIST.into());
    }
    lost
}

/// Returns the names of a file's extended attributes; none where the file system has no such thing.
fn attribute_names_of(file: &File) -> Vec<String> {
    attribute_names(|list| flistxattr(file, list))
}

/// Returns the names in a list that a call of the system fills in. Of most files it is short or empty.
fn attribute_names(list: impl Fn(&mut [u8]) -> Result<usize, Errno>) -> Vec<String> {
    let (mut short, mut long) = ([0; 512], Vec::new());
    let bytes = match list(&mut short) {
        Err(Errno::RANGE) => {
            long.resize(LARGEST, 0);
            let length = list(&mut long).unwrap_or(0);
            &long[..length]
        }
        length => &short[..length.unwrap_or(0)],
    };
    let names = bytes.split(|b| *b == 0).filter(|n| !n.is_empty());
    names.map(|n| String::from_utf8_lossy(n).into_owned()).collect()
}

fn value(file: &File, name: &str) -> Result<Vec<u8>, Errno> {
    let mut bytes = vec![0; LARGEST];
    let length = fgetxattr(file, name, &mut bytes[..])?;
    bytes.truncate(length);
    Ok(bytes)
}
