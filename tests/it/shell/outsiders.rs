//! Files of other programs stay as they are: attributes and times of their files, their processes, keys, shared memory
//! and terminals; and a command's own stays within its reach.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Command, Output, Stdio};
use std::time::SystemTime;

use super::tree::{Tree, difference, has_python, text, works};

fn run(tree: &Tree, flags: &[&str], command: &str) -> Output {
    tree.nebula(&[&["run"], flags, &["--", command]].concat())
}

fn both(output: &Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}

/// Returns whether commands run under the guard here, and Python is there.
fn usable() -> bool {
    works() && has_python()
}

/// Runs a script in Python with `c`, a way to call the kernel, and `tried`, which prints how a call ended.
fn python(tree: &Tree, flags: &[&str], code: &str) -> Output {
    let head = r"
import ctypes, errno, os, sys
c = ctypes.CDLL(None, use_errno=True)
def tried(name, value):
    print(name, 'done' if value != -1 else errno.errorcode[ctypes.get_errno()], flush=True)
";
    fs::write(tree.root().join("try.py"), format!("{head}{code}")).expect("written");
    run(tree, flags, "python3 try.py")
}

#[test]
fn a_crash_writes_nothing() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    fs::write(tree.root().join("core"), "a file of that name").expect("written");
    let before = tree.snapshot();
    for flags in [&[][..], &["--keeper", "scan"]] {
        let ran = run(&tree, flags, "ulimit -c unlimited; sh -c 'kill -SEGV $$'; ulimit -H -c");
        assert!(text(&ran.stdout).ends_with("0\n"), "{}", both(&ran));
    }
    assert_eq!(difference(&before, &tree.snapshot()), Vec::<String>::new());
}

/// An older file in a temporary folder is not the command's, and neither is a second name of it.
#[test]
fn a_second_name_reaches_no_older_file_of_others() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let other = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let file = other.path().join("theirs");
    fs::write(&file, "theirs").expect("written");
    // Linked only where the folders are on one file system; refused in either case.
    let ran = run(
        &tree,
        &[],
        &format!("ln {0} named; echo x > named; ln -f {0} README.md; echo y > README.md", file.display()),
    );
    assert_eq!(fs::read_to_string(&file).expect("there"), "theirs", "{}", both(&ran));
    assert!(!both(&ran).contains("repository"), "{}", both(&ran));
}

#[test]
fn attributes_and_times_of_other_files_stay() {
    if !usable() {
        return;
    }
    let tree = Tree::new();
    let other = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let file = other.path().join("theirs");
    fs::write(&file, "theirs").expect("written");
    fs::create_dir_all(tree.home().join(".ssh")).expect("made");
    let key = tree.home().join(".ssh/id_rsa");
    fs::write(&key, "PRIVATE").expect("written");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).expect("set");
    assert_eq!(run(&tree, &[], "echo x > README.md").status.code(), Some(0));
    let lock = tree.root().join(".shaft/lock");
    let state = |path: &std::path::Path| {
        let meta = path.metadata().expect("there");
        // Nebula itself writes its lock.
        let times = (path != lock).then(|| (meta.mtime(), meta.ctime(), meta.ctime_nsec()));
        (meta.mode(), times, meta.mtime() > 1)
    };
    let all = [file.as_path(), key.as_path(), lock.as_path()];
    let before: Vec<_> = all.iter().map(|path| state(path)).collect();
    let code = format!(
        r"
acl = bytes.fromhex('02000000') + b''.join(bytes.fromhex(x) for x in ('01000700ffffffff','04000700ffffffff','20000700ffffffff'))
for p in {all:?}:
    b = p.encode()
    tried('acl', c.setxattr(b, b'system.posix_acl_access', acl, len(acl), 0))
    tried('attribute', c.setxattr(b, b'user.x', b'y', 1, 0))
    for name, call in (('utime', lambda: os.utime(p, (1, 1))), ('chown', lambda: os.chown(p, -1, os.getgid()))):
        try:
            call()
            print(name, 'done')
        except PermissionError:
            print(name, 'refused')
        except FileNotFoundError:
            print(name, 'refused')
try:
    f = os.open({theirs:?}, os.O_RDONLY)
    os.utime(f, (1, 1))
    print('futime done')
except PermissionError:
    print('futime refused')
os.utime('README.md', (1, 1)); open('new', 'w').write('x'); os.utime('new', (1, 1)); os.utime('.', None)
print('own')
",
        all = all.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
        theirs = file.display().to_string(),
    );
    let ran = python(&tree, &[], &code);
    let out = text(&ran.stdout);
    assert!(!out.contains("done") && out.ends_with("own\n"), "{}", both(&ran));
    assert_eq!(all.iter().map(|path| state(path)).collect::<Vec<_>>(), before);
    assert!(both(&ran).contains("refused: "), "{}", both(&ran));
    // A lock of the archive's that a job holds would keep nebula from it.
    let ran = run(
        &tree,
        &[],
        "exec 8< .shaft/lock; flock -n 8 2> /dev/null && echo locked; exec 9> own; flock -n 9 && echo own",
    );
    assert_eq!(text(&ran.stdout), "own\n", "{}", both(&ran));
}

#[test]
fn processes_keys_and_shared_memory_of_others_stay() {
    if !usable() {
        return;
    }
    let tree = Tree::new();
    let mut outsider = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().expect("started");
    let made = "import ctypes;c=ctypes.CDLL(None);print(c.shmget(0x4e454200,4096,0o1600),c.syscall(248,b'user',b'nebula-test',b'SECRET',6,-3))";
    let made = Command::new("python3").args(["-c", made]).output().expect("ran");
    let segment = text(&made.stdout).split_whitespace().next().unwrap_or("-1").to_string();
    // Objects are told apart by the second.
    let second = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_secs();
    let begun = second();
    while second() == begun {
        std::thread::yield_now();
    }
    let code = format!(
        r"
import resource
pid = {pid}
one = (ctypes.c_ulong * 2)(1, 1)
helper = int(open('/proc/%d/status' % os.getppid()).read().split('PPid:')[1].split()[0])
for who in (pid, helper, {own}):
    tried('prlimit', c.prlimit(who, 0, one, None))
    tried('nice', c.setpriority(0, who, 19))
    tried('ionice', c.syscall(251, 1, who, 7 << 0 | 3 << 13))
    tried('scheduler', c.sched_setscheduler(who, 5, ctypes.byref(ctypes.c_int(0))))
    tried('affinity', c.sched_setaffinity(who, 8, ctypes.byref(ctypes.c_ulong(1))))
tried('user', c.setpriority(2, 0, 19))
tried('segment', c.shmctl({segment}, 0, None))
tried('key', c.syscall(250, 10, -3, b'user', b'nebula-test', 0))
tried('add', c.syscall(248, b'user', b'x', b'y', 1, -3))
print('-- own', flush=True)
child = os.fork()
if child == 0:
    import time; time.sleep(60)
for who in (0, os.getpid(), child):
    tried('prlimit', c.prlimit(who, 4, (ctypes.c_ulong * 2)(0, 0), None))
    tried('nice', c.setpriority(0, who, 15))
    tried('affinity', c.sched_setaffinity(who, 8, ctypes.byref(ctypes.c_ulong(~0))))
own = c.shmget(0, 4096, 0o1600)
tried('segment', c.shmctl(own, 0, None))
os.kill(child, 9)
",
        pid = outsider.id(),
        own = std::process::id(),
    );
    let ran = python(&tree, &[], &code);
    let out = text(&ran.stdout);
    let (others, own) = out.split_once("-- own\n").expect("both parts");
    assert!(others.lines().count() == 19 && !others.contains("done"), "{}", both(&ran));
    assert!(own.lines().count() == 10 && own.lines().all(|line| line.ends_with("done")), "{}", both(&ran));
    assert!(outsider.try_wait().expect("asked").is_none(), "the outsider was ended");
    let still = text(&Command::new("ipcs").arg("-m").output().map(|o| o.stdout).unwrap_or_default());
    assert!(still.is_empty() || segment == "-1" || still.contains(&format!(" {segment} ")), "{still}");
    outsider.kill().expect("killed");
    outsider.wait().expect("over");
    let _ = Command::new("ipcrm").args(["-m", &segment]).output();
    let ran = run(&tree, &[], "prlimit --pid $$ --nofile=512:512 && nice -n 5 true && ionice -c 3 true && echo own");
    assert!(text(&ran.stdout).ends_with("own\n"), "{}", both(&ran));
}

#[test]
fn an_abstract_socket_is_named_without_what_lifts_nothing() {
    if !usable() {
        return;
    }
    let tree = Tree::new();
    let code = r"
import socket
s = socket.socket(socket.AF_UNIX); s.bind('\0own'); s.listen()
try:
    socket.socket(socket.AF_UNIX).connect('\0own')
    print('open')
except OSError as e:
    print(e.errno == errno.EACCES)
";
    for flags in [&[][..], &["--network"]] {
        let ran = python(&tree, flags, code);
        let said = both(&ran);
        // The script came to its end.
        assert!(text(&ran.stdout).lines().any(|line| ["True", "False", "open"].contains(&line)), "{said}");
        let is_refused = said.contains("True");
        assert_eq!(
            said.contains("abstract sockets are closed: 1 connection refused, first @own"),
            is_refused,
            "{said}"
        );
        assert!(!said.contains("lifts it"), "{said}");
    }
}

#[test]
fn older_terminals_are_not_set_and_own_ones_are() {
    if !usable() {
        return;
    }
    let tree = Tree::new();
    let pair = portable_pty::native_pty_system().openpty(portable_pty::PtySize::default()).expect("a terminal");
    let name = pair.master.tty_name().expect("named").display().to_string();
    let code = format!(
        r"
import fcntl, pty, termios
def size(f):
    try:
        fcntl.ioctl(f, termios.TIOCSWINSZ, b'\x07\0\x09\0\0\0\0\0')
        print('size done')
        termios.tcsetattr(f, termios.TCSANOW, termios.tcgetattr(f))
        print('mode done')
    except OSError as e:
        print('refused')
size(os.open({name:?}, os.O_RDONLY | os.O_NOCTTY))
a, b = pty.openpty()
size(b)
"
    );
    let ran = python(&tree, &[], &code);
    assert_eq!(text(&ran.stdout), "refused\nsize done\nmode done\n", "{}", both(&ran));
}

/// The kernel reads a path also from memory that its process may only write: so must the guard.
#[test]
fn a_path_in_memory_that_is_only_written_hides_nothing() {
    if !usable() {
        return;
    }
    let tree = Tree::new();
    assert_eq!(run(&tree, &[], "echo x > README.md").status.code(), Some(0));
    assert!(tree.nebula(&["undo", "--yes"]).status.success());
    let before = tree.snapshot();
    let code = r"
c.mmap.restype = ctypes.c_void_p
pages = c.mmap(None, 8192, 3, 0x22, -1, 0)
def at(place, protection, text):
    c.mprotect(ctypes.c_void_p(pages), 8192, 3)
    ctypes.memmove(place, text, len(text))
    c.mprotect(ctypes.c_void_p(pages), 8192, protection)
    return ctypes.c_void_p(place)
for protection in (2, 4):
    for place in (pages, pages + 4090):
        tried('archive', c.unlink(at(place, protection, b'.shaft/lock\0')))
        tried('file', c.unlink(at(place, protection, b'README.md\0')))
        tried('cut', c.truncate(at(place, protection, b'src/lib.rs\0'), ctypes.c_long(0)))
        tried('mode', c.fchmodat(-100, at(place, protection, b'.shaft/lock\0'), 0o777, 0))
        socket = c.socket(1, 1, 0)
        tried('socket', c.bind(socket, at(place, protection, b'\1\0.shaft/made\0'), 14))
tried('nothing', c.unlink(ctypes.c_void_p(1)))
";
    let ran = python(&tree, &[], code);
    let said = both(&ran);
    assert!(said.contains("file done") && !said.contains("archive done") && !said.contains("mode done"), "{said}");
    assert!(!said.contains("socket done") && said.contains("nothing EFAULT"), "{said}");
    assert!(tree.root().join(".shaft/lock").is_file() && !tree.root().join(".shaft/made").exists());
    assert!(tree.nebula(&["undo", "--yes"]).status.success());
    fs::remove_file(tree.root().join("try.py")).expect("removed");
    assert_eq!(difference(&before, &tree.snapshot()), Vec::<String>::new());
}
