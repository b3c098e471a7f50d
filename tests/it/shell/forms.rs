//! Destructive commands, each undone and done again: bytes, modes, links and folders.

use super::tree::{Tree, difference, text};

/// The programs that a form needs beside the shell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    Python,
    /// That nebula's own folder is out of reach.
    Guard,
}
use Needs::{Guard, Nothing, Python};

/// Commands, and what each needs.
const FORMS: &[(&str, Needs)] = &[
    ("rm -rf src", Nothing),
    ("rm -rf *", Nothing),
    ("rm -rf ./* .env .gitignore", Nothing),
    ("rm -f README.md link dangling", Nothing),
    ("find . -name '*.rs' -delete", Nothing),
    ("find docs -type f -exec rm {} +", Nothing),
    ("git clean -fdxq", Guard),
    ("rm -rf .git", Guard),
    ("rm -rf .git && git init -q && git add -A", Guard),
    ("rm -rf .shaft src", Guard),
    ("rm -rf .shaft/archives .shaft/commands; mv .shaft gone; rm README.md", Guard),
    ("find . -delete", Guard),
    ("rmdir * 2>/dev/null; rm -f README.md link notes.log", Nothing),
    ("rmdir link/ README.md 2>/dev/null; rm link; echo x > README.md", Nothing),
    ("rm -rf .[!.]* *", Guard),
    ("chmod -R 000 .shaft; echo x > .shaft/lock; rm README.md", Guard),
    ("ln -s .shaft way; rm -rf way/*; rm README.md", Guard),
    ("git gc -q --prune=now; rm README.md", Guard),
    ("mv src moved && echo x >> moved/main.rs && mv moved/main.rs main.rs && echo y >> main.rs", Guard),
    ("ln README.md second && echo x >> second", Guard),
    ("chmod +x src/lib.rs && echo x >> src/lib.rs", Nothing),
    ("ln src/lib.rs src/three && rm src/lib.rs src/twin.rs && echo x > src/three", Guard),
    ("exec 5<src/lib.rs; rm src/lib.rs; echo x > /proc/self/fd/5", Guard),
    ("exec 5<src/lib.rs; rm src/lib.rs; touch 'src/lib.rs (deleted)'; echo x > /proc/self/fd/5", Guard),
    ("exec 5<src/lib.rs; rm src/lib.rs; chmod 600 /proc/self/fd/5", Guard),
    ("mkdir gone; cd gone; rmdir ../gone; echo x > ../README.md", Guard),
    ("mkdir gone; cd gone; rmdir ../gone; mkdir '../gone (deleted)'; echo x > /proc/self/cwd/../README.md", Guard),
    ("git reset -q --hard", Nothing),
    ("git checkout -q -- src/main.rs", Nothing),
    ("git stash -q -u", Nothing),
    ("git checkout -q -b other && git commit -q -am two && git branch -qD main", Nothing),
    ("git commit -q -am second", Nothing),
    ("git mv README.md docs/README.md", Nothing),
    ("git rm -qr --cached src && git commit -qm gone", Nothing),
    ("echo over > README.md", Nothing),
    (": > src/lib.rs", Nothing),
    ("echo more >> notes.log", Nothing),
    ("truncate -s 3 large.bin", Nothing),
    ("truncate -s 1000000 empty.txt", Nothing),
    ("dd if=/dev/zero of=large.bin bs=1k count=3 conv=notrunc status=none", Nothing),
    ("sed -i 's/fn/FN/' src/*.rs", Nothing),
    ("cp README.md src/lib.rs", Nothing),
    ("mv README.md src/lib.rs", Nothing),
    ("mv src source", Nothing),
    ("mv docs/* . && rmdir docs", Nothing),
    ("mv src tmp && mv docs src && mv tmp docs", Nothing),
    ("chmod -R 700 .", Guard),
    ("chmod 000 README.md; chmod +x src/main.rs", Nothing),
    ("chmod 500 src/deep", Nothing),
    ("mkdir -p new/folders/here && echo x > new/folders/here/f", Nothing),
    ("rmdir empty", Nothing),
    ("ln -sfn docs link", Nothing),
    ("rm -rf docs && ln -s /usr/share docs", Nothing),
    ("rm -rf docs && ln -s src docs", Nothing),
    ("rm link && mkdir link && echo x > link/y", Nothing),
    ("rm -rf docs && echo 'a file now' > docs", Nothing),
    ("ln -f README.md src/main.rs", Nothing),
    ("echo through > link", Nothing),
    ("echo twin >> src/twin.rs", Nothing),
    ("tar cf all.tar src && rm -rf src && tar xf all.tar && rm all.tar && echo x > src/new", Nothing),
    ("tee README.md empty.txt < .env > /dev/null", Nothing),
    ("(cd src/deep && rm -r er && touch ../../top)", Nothing),
    ("exec 3<>README.md; echo X >&3; exec 3>&-", Nothing),
    ("echo fd > /proc/self/cwd/README.md", Nothing),
    ("setsid sh -c 'sleep 0.05; echo late > README.md' & wait", Nothing),
    ("for i in 1 2 3 4 5 6 7 8; do (echo $i > out$i; rm -f docs/*) & done; wait", Nothing),
    ("perl -pi -e 's/a/b/' README.md src/lib.rs 2>/dev/null || sed -i 's/a/b/' README.md src/lib.rs", Nothing),
    ("install -m 600 .env run.sh", Nothing),
    ("python3 -c \"import mmap;f=open('large.bin','r+b');m=mmap.mmap(f.fileno(),0);m[5:9]=b'MMAP';m.close()\"", Python),
    (
        "python3 -c \"import threading as t;[x.start() for x in [t.Thread(target=lambda i=i:open('README.md' if i%2 else 'src/lib.rs','a').write(str(i))) for i in range(16)]]\"",
        Python,
    ),
    (
        "python3 -c \"import os,socket as s;a,b=s.socketpair();p=os.fork();exec('s.send_fds(a,[b\\\"x\\\"],[os.open(\\\"README.md\\\",os.O_WRONLY)]);os._exit(0)') if p==0 else 0;m,f,_,_=s.recv_fds(b,1,1);os.write(f[0],b'PASSED');os.waitpid(p,0)\"",
        Python,
    ),
    ("python3 -c \"import os;f=os.open('src/lib.rs',0);os.unlink('src/lib.rs');os.fchmod(f,0o600)\"", Python),
    (
        "python3 -c \"import sqlite3;c=sqlite3.connect('data.db');c.execute('create table t(x)');c.execute('insert into t values(1)');c.commit();c.close()\"; rm README.md",
        Python,
    ),
    ("python3 -c \"import ctypes;ctypes.CDLL(None).renameat2(-100,b'src/deep/er/file.txt',-100,b'docs',2)\"", Python),
    (
        "python3 -c \"import os;os.rename('docs','src/docs');os.symlink('x','docs');os.replace('run.sh','empty.txt')\"",
        Python,
    ),
];

fn has(program: &str) -> bool {
    std::process::Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Runs a form, undoes it, does it again; what went wrong.
fn undone(form: &str, flags: &[&str]) -> Result<(), String> {
    let tree = Tree::new();
    let before = tree.snapshot();
    let ran = tree.nebula(&[&["run"], flags, &["--", form]].concat());
    let message = text(&ran.stderr);
    let after = tree.snapshot();
    let changed = difference(&before, &after);
    if changed.is_empty() {
        return Err(format!("it changed nothing; it said {}{message}", text(&ran.stdout)));
    }
    let undo = tree.nebula(&["undo", "--yes"]);
    let back = difference(&before, &tree.snapshot());
    if !back.is_empty() {
        let undo = text(&undo.stdout) + &text(&undo.stderr);
        return Err(format!("not undone:\n    {}\n  run said: {message}  undo said: {undo}", back.join("\n    ")));
    }
    if tree.root().join(".git/objects").exists() {
        tree.git(&["fsck", "--no-dangling", "--no-progress"]);
    }
    let said = text(&tree.nebula(&["undo", "--dry-run"]).stderr);
    if !said.contains("this is the redo of") {
        return Err(format!("it is not said that undo again redoes: {said}"));
    }
    let redo = tree.nebula(&["redo", "--yes"]);
    let again = difference(&after, &tree.snapshot());
    if !again.is_empty() {
        let redo = text(&redo.stdout) + &text(&redo.stderr);
        return Err(format!("not done again:\n    {}\n  redo said: {redo}", again.join("\n    ")));
    }
    Ok(())
}

/// Every form, some at a time.
fn all_undone(flags: &[&str], guard: bool) {
    if !guard {
        eprintln!("skipped: the forms that reach into .shaft, which only the guard keeps them from");
    }
    let python = has("python3");
    if !python {
        eprintln!("skipped: the forms in Python, which is not installed");
    }
    let forms: Vec<&str> = FORMS
        .iter()
        .filter(|(_, needs)| match needs {
            Nothing => true,
            Python => python,
            Guard => guard,
        })
        .map(|(form, _)| *form)
        .collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let broken = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some(form) = forms.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    if let Err(why) = undone(form, flags) {
                        broken.lock().expect("no panic").push(format!("{form}\n  {why}"));
                    }
                }
            });
        }
    });
    let broken = broken.into_inner().expect("no panic");
    assert!(broken.is_empty(), "{} of {} forms:\n{}", broken.len(), forms.len(), broken.join("\n"));
}

#[test]
fn every_form_is_undone_under_scan() {
    all_undone(&["--keeper", "scan"], false);
}

#[test]
fn no_command_under_scan_removes_the_archive() {
    let doctor = text(&Tree::new().nebula(&["doctor", "--json"]).stdout);
    let works = doctor.contains("view works");
    super::tree::must_work(works, &doctor);
    let forms = [
        "git clean -fdxq",
        "rm -rf .shaft src",
        "mv .shaft gone; chmod -R 000 .shaft; echo x > .shaft/lock; rm README.md",
        "umount .shaft; unshare -Urm umount .shaft; unshare -Urm mount -o remount,bind,rw .shaft; rm -rf .shaft src",
    ];
    for form in forms.iter().filter(|_| works) {
        assert_eq!(undone(form, &["--keeper", "scan"]), Ok(()), "{form}");
    }
}

#[test]
fn states_that_went_with_the_archive_are_not_promised() {
    let tree = Tree::new();
    std::fs::create_dir_all(tree.home().join("own")).expect("made");
    let off = r#"{"shell": {"sandbox": "off"}}"#;
    std::fs::write(tree.home().join("own/config.json"), off).expect("written");
    let ran = tree.nebula(&["run", "--keeper", "scan", "--", "rm -rf .shaft README.md"]);
    let said = text(&ran.stderr);
    assert!(said.contains("is not archived and cannot be undone"), "{said}");
    assert!(!said.contains("tries again"), "{said}");
}

#[test]
fn every_form_is_undone_under_the_guard() {
    let message = text(&Tree::new().nebula(&["doctor", "--json"]).stdout);
    let works = message.contains("guard works");
    super::tree::must_work(works, &message);
    if !works {
        return;
    }
    all_undone(&["--keeper", "guard"], true);
}
