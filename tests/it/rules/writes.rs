//! Only the modules named here write files.

use super::{named, sources};

/// The files and folders below `src` that call what changes the disk, and what they own there.
const WRITERS: &[(&str, &str)] = &[
    ("disk", "atomic replace for the modules that own files"),
    ("archive", "versions, changesets, their lock"),
    ("shell", "logs of commands, states on their way to the archive"),
    ("memory", "the databases and their locks"),
    ("config/file.rs", "the person's own configuration"),
    ("provider/replay", "recordings"),
    ("cli/demo.rs", "the tour's folder"),
    ("cli/hook.rs", "the log of hooks"),
    ("cli/files/past_to.rs", "the folder that a past state is written to"),
    ("cli/commit.rs", "the message that an editor opens"),
    ("tui/terminal/editor.rs", "the text that an editor opens"),
    ("workspace/write.rs", "files of the workspace, for `execute` alone"),
    ("workspace/folders.rs", "folders of the workspace, for `execute` alone"),
    ("strand/store", "a Strand project's log and checkpoints"),
    ("strand/sync/write.rs", "the files that show a Strand project"),
    ("strand/runtime", "recorded episodes"),
];

/// Calls that make, change or remove something on disk.
pub const CALLS: &[&str] = &[
    "fs::write(",
    "fs::rename(",
    "fs::copy(",
    "fs::hard_link(",
    "fs::create_dir",
    "fs::remove_",
    "fs::set_permissions(",
    "File::create",
    "DirBuilder",
    "unix::fs::symlink",
    ".set_len(",
    ".set_permissions(",
    "tempfile::",
    "renameat",
    "unlinkat",
    "mkdirat",
    "linkat",
    "symlinkat",
    "ftruncate",
    "fallocate",
    "copy_file_range",
    "ioctl_ficlone",
    "fchmod",
    "chmodat",
    "fchown",
    "chownat",
    "setxattr",
    "removexattr",
    "utimens",
    ".set_times(",
    ".set_modified(",
    "disk::replace",
    "disk::create",
    "disk::append",
    "disk::remove",
    "disk::copy_new",
    "disk::EditorFile",
    "replace_private(",
    ".make_file(",
    ".make_link(",
    ".open_or_make(",
    ".write_new(",
    ".rename_over(",
    ".replace_from(",
    ".rename_new(",
    ".exchange(",
    ".hard_link(",
    ".remove_file(",
    ".remove_folder(",
    ".set_folder_mode(",
];

/// The options with which a file is opened for writing.
pub const OPENS: &[&str] = &[
    "File::options",
    ".write(true)",
    ".append(true)",
    ".create(true)",
    ".create_new(true)",
    "OFlags::CREATE",
    "OFlags::WRONLY",
];

fn is_writer(path: &str) -> bool {
    WRITERS
        .iter()
        .any(|(place, _)| path == *place || path == format!("{place}.rs") || path.starts_with(&format!("{place}/")))
}

#[test]
fn files_are_written_only_in_named_modules() {
    let mut broken = Vec::new();
    for source in sources().iter().filter(|s| !is_writer(&s.path)) {
        for call in CALLS.iter().chain(OPENS).filter(|call| source.code.contains(**call)) {
            broken.push(format!("{} calls {call}", source.path));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_named_module_writes() {
    let sources = sources();
    for (place, _) in WRITERS {
        let mut own = sources.iter().filter(|s| {
            s.path == *place || s.path == format!("{place}.rs") || s.path.starts_with(&format!("{place}/"))
        });
        let writes = own.any(|s| CALLS.iter().chain(OPENS).any(|call| s.code.contains(call)));
        assert!(writes, "{place} writes nothing: take it off the list");
    }
}

#[test]
fn only_execute_writes_the_workspace() {
    // Nothing but `execute` names the writing half of the workspace.
    for source in sources() {
        let inside = ["workspace/", "execute/apply.rs"].iter().any(|place| source.path.starts_with(place));
        let names = named(&source.code)
            .iter()
            .any(|name| name.starts_with("workspace::write") || name.starts_with("workspace::folders"));
        assert!(inside || !names, "{} names workspace::write", source.path);
    }
}

#[test]
fn commands_print_through_the_one_writer() {
    // What a command prints is cleaned there; a print beside it would not be.
    const PRINTS: &[&str] = &["println!", "print!", "io::stdout()", "io::stderr()", "stdout().lock()"];
    for source in sources() {
        let outside = (source.path.starts_with("cli/") && source.path != "cli/out.rs") || source.path == "main.rs";
        for print in PRINTS.iter().filter(|_| outside) {
            assert!(!source.code.contains(print), "{} names {print}", source.path);
        }
    }
}
