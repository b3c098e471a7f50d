//! Only the modules named here write files.

use super::{first_of, named, only_in};

/// The files and folders below `src` that call what changes the disk, and what they own there.
const WRITERS: &[(&str, &str)] = &[
    ("disk", "atomic replace for the modules that own files"),
    ("archive", "versions, changesets, their lock"),
    ("shell", "logs of commands, states on their way to the archive"),
    ("memory", "the databases, their locks, sessions that could not be stored"),
    ("config/file.rs", "the person's own configuration"),
    ("provider/replay", "recordings"),
    ("cli/demo.rs", "the tour's folder"),
    ("cli/hook.rs", "the log of hooks"),
    ("cli/files/past_to.rs", "the folder that a past state is written to"),
    ("cli/commit.rs", "the message that an editor opens"),
    ("mergiraf.rs", "the texts that a program joins"),
    ("tui/terminal/editor.rs", "the text that an editor opens"),
    ("workspace/write.rs", "files of the workspace, for `execute` alone"),
    ("config/paths.rs", "temporary files that processes left behind in nebula's own folder"),
    ("workspace/folders.rs", "folders of the workspace, for `execute` alone"),
    ("execute/moved.rs", "folders of the workspace that are renamed as they are"),
    ("workspace/leftover.rs", "temporary files that processes left behind, for `execute` alone"),
    ("strand/store", "a Strand project's log and checkpoints"),
    ("strand/sync/write.rs", "the files that show a Strand project"),
    ("strand/remote.rs", "what is fetched of a remote, where the person has no cache"),
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

#[test]
fn files_are_written_only_in_named_modules_and_in_each_of_them() {
    let places: Vec<&str> = WRITERS.iter().map(|(place, _)| *place).collect();
    only_in(&places, |source| first_of(&[CALLS, OPENS].concat(), &source.code));
}

#[test]
fn only_execute_writes_the_workspace() {
    // Nothing but `execute` names the writing half of the workspace.
    only_in(&["execute/apply.rs", "execute/moved.rs"], |source| {
        let mut names = named(&source.code).into_iter();
        names.find(|name| name.starts_with("workspace::write") || name.starts_with("workspace::folders"))
    });
}

#[test]
fn commands_print_through_the_one_writer() {
    // What a command prints is cleaned there; a print beside it would not be.
    const PRINTS: &[&str] = &["println!", "print!", "io::stdout()", "io::stderr()", "stdout().lock()"];
    only_in(&["cli/out.rs"], |source| {
        first_of(PRINTS, &source.code).filter(|_| source.path.starts_with("cli/") || source.path == "main.rs")
    });
}
