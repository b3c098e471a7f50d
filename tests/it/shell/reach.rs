//! The archive is out of reach: ways to remove, overwrite or lead away nebula's own folders, each tried under the guard,
//! under the guard with `shell.strict`, and under `scan` where the folders are mounted to be only read.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::tree::{Tree, has_python, text, works};

/// Ways in the shell.
const WAYS: &[&str] = &[
    "rm -rf .shaft",
    "rm -rf .shaft/*",
    "rm -rf .shaft/archives",
    "rm -rf .shaft/commands",
    "rm -rf .shaft/archives/*",
    "rm -f .shaft/lock",
    "rm -rf . .*",
    "rm -rf ./.shaft/../.shaft",
    "rm -rf $PWD/.shaft",
    "rm -rf ../work/.shaft",
    "rm -rf /proc/self/cwd/.shaft",
    "cd .shaft && rm -rf archives commands",
    "cd .shaft/archives && rm -rf ./*",
    "find . -name .shaft -exec rm -rf {} +",
    "find .shaft -delete",
    "find .shaft -type f -delete",
    "git clean -fdx",
    "git clean -fdxq -e nothing",
    "rmdir .shaft/*/* .shaft/*",
    "unlink .shaft/lock",
    "mv .shaft gone",
    "mv .shaft ../gone",
    "mv .shaft/archives elsewhere",
    "mv .shaft/lock lock",
    "mv -T README.md .shaft/lock",
    "mkdir x; mv .shaft x/",
    "cp README.md .shaft/lock",
    "cp -r docs .shaft/archives/docs",
    "install -m 600 README.md .shaft/lock",
    "echo x > .shaft/lock",
    "echo x >> .shaft/lock",
    ": > .shaft/lock",
    "echo x > .shaft/new",
    "mkdir .shaft/new",
    "ln -s nowhere .shaft/new",
    "ln README.md .shaft/new",
    "ln .shaft/lock second; echo x > second",
    "ln -s .shaft way; rm -rf way/*",
    "ln -s .shaft/lock way; echo x > way",
    "ln -sfn docs .shaft",
    "touch .shaft/new",
    "touch -d 2001-01-01 .shaft/lock",
    "truncate -s 0 .shaft/lock",
    "truncate -s 0 .shaft/archives/*/* .shaft/archives/*.txt",
    "dd if=/dev/zero of=.shaft/lock count=1 status=none",
    "tee .shaft/lock < README.md > /dev/null",
    "for f in .shaft/archives/*/* .shaft/archives/*.txt; do echo x > $f; done",
    "for f in .shaft/archives/*/* .shaft/archives/*.txt; do rm -f $f; done",
    "sed -i s/a/b/ .shaft/archives/*.txt",
    "chmod -R 000 .shaft",
    "chmod 777 .shaft/lock; chmod 000 .",
    "chmod -R a+w .shaft; rm -rf .shaft",
    "mkfifo .shaft/pipe",
    "exec 7<.shaft; rm -rf /proc/self/fd/7/archives",
    "exec 7<.shaft/lock; echo x > /proc/self/fd/7",
    "tar cf x.tar .shaft; tar xf x.tar; tar xf x.tar --overwrite",
    "(sleep 0.05; rm -rf .shaft) & wait",
    "setsid -w rm -rf .shaft",
    "umount .shaft; unshare -Urm umount .shaft; rm -rf .shaft",
    "unshare -Urm mount -o remount,bind,rw .shaft; rm -rf .shaft",
    "unshare -Urm sh -c 'mount --bind docs .shaft; echo x > .shaft/x'; rm -rf .shaft",
    "for i in 1 2 3 4 5 6 7 8; do (rm -rf .shaft; mv .shaft g$i) & done; wait",
    "rm -rf .nebula",
    "mv .nebula gone",
    "echo x > .nebula/config.json",
    "ln .nebula/config.json second; echo x > second",
];

/// Ways in Python, each a program.
const IN_PYTHON: &[&str] = &[
    "import shutil; shutil.rmtree('.shaft', ignore_errors=True)",
    "import os; os.rename('.shaft', 'gone')",
    "import os\nd = os.open('.shaft', os.O_RDONLY)\nfor n in os.listdir(d):\n  try: os.unlink(n, dir_fd=d)\n  except OSError: pass\nos.rename('archives', 'x', src_dir_fd=d)",
    "import ctypes; ctypes.CDLL(None).renameat2(-100, b'.shaft', -100, b'docs', 2)",
    "import os; os.rename('../work', '../moved')",
    "import socket; socket.socket(socket.AF_UNIX).bind('.shaft/s')",
    "import mmap\nf = open('.shaft/lock', 'r+b')\nmmap.mmap(f.fileno(), 0)[0:1] = b'x'",
    // The name in the program's memory changes while the guard reads it.
    "import ctypes, os, threading\n\
     name = ctypes.create_string_buffer(b'README.md\\0' + b' ' * 20)\n\
     c = ctypes.CDLL(None)\nover = []\n\
     def swap():\n  while not over:\n    name[0:12] = b'.shaft/lock\\0'; name[0:10] = b'README.md\\0'\n\
     threads = [threading.Thread(target=swap) for _ in range(4)]\n\
     [t.start() for t in threads]\n\
     for _ in range(400):\n  f = c.open(name, os.O_WRONLY)\n  if f >= 0: os.write(f, b'raced'); os.close(f)\n\
     over.append(1)\n[t.join() for t in threads]",
    "import ctypes, threading\n\
     name = ctypes.create_string_buffer(b'absent.one\\0' + b' ' * 20)\n\
     c = ctypes.CDLL(None)\nover = []\n\
     def swap():\n  while not over:\n    name[0:12] = b'.shaft/lock\\0'; name[0:11] = b'absent.one\\0'\n\
     threads = [threading.Thread(target=swap) for _ in range(4)]\n\
     [t.start() for t in threads]\n\
     for _ in range(400): c.unlink(name)\n\
     over.append(1)\n[t.join() for t in threads]",
];
/// The number of ways at the end of [`IN_PYTHON`] that change memory between the guard's reading and the kernel's: the
/// guard alone does not see them.
const RACING: usize = 2;

/// Every file of nebula's own folders, but for the folders of the command that runs.
fn own(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.join(".shaft"), root.join(".nebula")];
    while let Some(folder) = folders.pop() {
        found.insert(folder.display().to_string(), Vec::new());
        for entry in fs::read_dir(&folder).expect("a folder that is there").flatten() {
            let path = entry.path();
            let kind = entry.file_type().expect("a kind");
            let bytes = match kind.is_symlink() {
                _ if ["commands", "views", "shadow"].iter().any(|name| path.ends_with(name)) => continue,
                _ if kind.is_dir() => {
                    folders.push(path);
                    continue;
                }
                _ if path.ends_with("lock") => Vec::new(),
                true => fs::read_link(&path).expect("a link").display().to_string().into_bytes(),
                false => fs::read(&path).expect("readable"),
            };
            found.insert(path.display().to_string(), bytes);
        }
    }
    found
}

/// Runs a way and says what it changed of nebula's own; then whether all it changed else is undone. What a way that races
/// wrote where the guard read another name may count as someone else's, so that its undo is not asked for.
fn tried((way, is_race): (&str, bool), tree: &Tree, flags: &[&str]) -> Result<(), String> {
    let (files, before) = (tree.snapshot(), own(&tree.root()));
    let ran = tree.nebula(&[&["run"], flags, &["--", way]].concat());
    let root = tree.root();
    let moved = root.with_file_name("moved");
    if moved.is_dir() {
        // What lies among temporary files may be renamed where no guard looks; the archive goes along, whole.
        fs::rename(&moved, &root).expect("renamed");
    }
    if !root.join(".shaft").is_dir() {
        return Err(format!("{way}: .shaft is gone: {}", text(&ran.stderr)));
    }
    let after = own(&root);
    let lost: Vec<&String> =
        before.iter().filter(|(path, bytes)| after.get(*path) != Some(bytes)).map(|(p, _)| p).collect();
    if !lost.is_empty() {
        return Err(format!("{way}: {lost:?} changed: {}", text(&ran.stderr)));
    }
    let changed = super::tree::difference(&files, &tree.snapshot());
    if !changed.is_empty() && !is_race {
        let undone = tree.nebula(&["undo", "--yes"]);
        let mut left = super::tree::difference(&files, &tree.snapshot());
        // Of a repository's objects `scan` keeps nothing, so that it does not come back.
        left.retain(|line| !flags.contains(&"scan") || !(line.starts_with(".git/") || line.starts_with(".git:")));
        if !left.is_empty() {
            return Err(format!("{way}: not undone: {left:?}: {}{}", text(&ran.stderr), text(&undone.stderr)));
        }
    }
    Ok(())
}

/// Tries all ways, a few trees at once; `racing`: those that race the guard too.
fn out_of_reach(flags: &[&str], config: &str, racing: bool) {
    let python = if has_python() { IN_PYTHON } else { &[] };
    let python = &python[..python.len() - if racing { 0 } else { RACING.min(python.len()) }];
    let programs = python.iter().map(|code| format!("python3 -c \"{code}\""));
    let ways: Vec<String> = WAYS.iter().map(|way| way.to_string()).chain(programs).collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let broken = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let new = || {
                    let tree = Tree::new();
                    fs::create_dir_all(tree.root().join(".nebula")).expect("made");
                    fs::write(tree.root().join(".nebula/config.json"), "{}").expect("written");
                    fs::create_dir_all(tree.home().join("own")).expect("made");
                    fs::write(tree.home().join("own/config.json"), config).expect("written");
                    let ran = tree.nebula(&["run", "--", "echo one >> README.md; rm docs/*"]);
                    assert!(ran.status.success(), "{}", text(&ran.stderr));
                    tree
                };
                let mut tree = new();
                loop {
                    let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(way) = ways.get(at) else { break };
                    let is_race = racing && at + RACING >= ways.len();
                    if let Err(why) = tried((way, is_race), &tree, flags) {
                        broken.lock().expect("no panic").push(why);
                        tree = new();
                    }
                    if is_race || !tree.root().join(".git/HEAD").exists() {
                        tree = new();
                    }
                }
            });
        }
    });
    let broken = broken.into_inner().expect("no panic");
    assert!(broken.is_empty(), "{} of {} ways:\n{}", broken.len(), ways.len(), broken.join("\n"));
}

#[test]
fn no_way_leads_to_the_archive_under_the_guard() {
    if works() {
        out_of_reach(&["--keeper", "guard"], "{}", false);
    }
}

#[test]
fn no_way_leads_to_the_archive_where_it_is_mounted() {
    let doctor = text(&Tree::new().nebula(&["doctor", "--json"]).stdout);
    let mounts = works() && doctor.contains("view works");
    super::tree::must_work(mounts, &doctor);
    if mounts {
        out_of_reach(&["--keeper", "guard"], r#"{"shell": {"strict": true}}"#, true);
        out_of_reach(&["--keeper", "scan"], "{}", true);
    }
}
