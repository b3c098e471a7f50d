//! The limits of a command are kept by the kernel, tried with real programs, and named in its result.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, SystemTime};

use super::tree::{Tree, has_python, text, works};

/// A folder that is neither the workspace's nor one for temporary files.
fn outside() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder")
}

/// A port and a socket that another program listens on.
fn foreign(outside: &tempfile::TempDir) -> (TcpListener, u16, UnixListener, PathBuf) {
    let port = TcpListener::bind("127.0.0.1:0").expect("bound");
    let number = port.local_addr().expect("an address").port();
    let path = outside.path().join("s");
    let socket = UnixListener::bind(&path).expect("bound");
    (port, number, socket, path)
}

fn run(tree: &Tree, flags: &[&str], command: &str) -> Output {
    tree.nebula(&[&["run"], flags, &["--", command]].concat())
}

/// Returns what was printed and what was told.
fn both(output: &Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}

#[test]
fn writes_outside_are_refused_and_named() {
    if !works() {
        return;
    }
    let (tree, outside) = (Tree::new(), outside());
    let at = |name: &str| outside.path().join(name).display().to_string();
    for name in ["there", "gone"] {
        fs::write(outside.path().join(name), "old").expect("written");
    }
    let forms = [
        format!("echo x > {}", at("there")),
        format!("echo x > {}", at("new")),
        format!("rm -f {}", at("gone")),
        format!("mv {} moved", at("gone")),
        format!("mv README.md {}", at("README.md")),
        format!("ln -s {} way; echo x > way", at("there")),
        format!("truncate -s 0 {}", at("there")),
        format!("chmod 777 {}", at("there")),
        format!("mkdir {}", at("folder")),
        format!("cd {} && echo x > there", outside.path().display()),
    ];
    for form in forms {
        let ran = run(&tree, &[], &form);
        let printed = both(&ran);
        assert_ne!(ran.status.code(), Some(0), "{form}: {printed}");
        assert!(printed.contains("refused: ") && printed.contains(&at("")[..]), "{form}: {printed}");
        assert_eq!(fs::read(outside.path().join("there")).expect("read"), b"old", "{form}");
        assert!(outside.path().join("gone").exists() && !outside.path().join("new").exists(), "{form}");
    }
    assert_eq!(fs::read_dir(outside.path()).expect("a folder").count(), 2);
    // What is outside may be read.
    assert_eq!(text(&run(&tree, &[], &format!("cat {}", at("there"))).stdout), "old");
}

#[test]
fn temporary_files_are_free_but_for_those_of_others() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let old = tree.home().join("old");
    fs::write(&old, "old").expect("written");
    let form = "f=$(mktemp) && echo $f && echo x > $f && rm $f && d=$(mktemp -d /tmp/nebula-test-XXXX) && touch $d/a && rm -r $d";
    let ran = run(&tree, &[], form);
    assert_eq!(ran.status.code(), Some(0), "{}", both(&ran));
    assert!(text(&ran.stdout).starts_with("/tmp/nebula-"), "{}", both(&ran));
    let ran = run(&tree, &[], &format!("echo x > {0}; rm -f {0}; mv {0} there", old.display()));
    assert!(both(&ran).contains("refused: 3 writes"), "{}", both(&ran));
    assert_eq!(fs::read(&old).expect("there"), b"old");
}

#[test]
fn private_files_are_not_readable() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let home = tree.home();
    for (path, content) in [
        (".ssh/id_ed25519", "PRIVATE"),
        (".ssh/known_hosts", "public"),
        (".aws/credentials", "PRIVATE"),
        (".netrc", "PRIVATE"),
        (".config/gh/hosts.yml", "PRIVATE"),
        (".config/other/x", "public"),
        (".gitconfig", "public"),
        ("vault/key.pem", "PRIVATE"),
        ("own/notes", "PRIVATE"),
    ] {
        let file = home.join(path);
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(file, content).expect("written");
    }
    fs::write(home.join("own/config.json"), r#"{"shell": {"private": ["vault/*.pem"]}}"#).expect("written");
    std::os::unix::fs::symlink(home.join(".netrc"), tree.root().join("way")).expect("linked");
    let ran = run(
        &tree,
        &[],
        "cat way; cd; cat .ssh/* .aws/* .netrc .config/gh/* .config/other/x .gitconfig vault/* own/*; ln .netrc $TMPDIR/n && cat $TMPDIR/n",
    );
    assert!(!both(&ran).contains("PRIVATE"), "{}", both(&ran));
    assert_eq!(text(&ran.stdout).matches("public").count(), 3, "{}", both(&ran));
    let online = run(&tree, &["--network"], "cat $HOME/.ssh/id_ed25519");
    assert!(!both(&online).contains("PRIVATE"), "{}", both(&online));
}

#[test]
fn no_private_file_of_the_workspace_gets_another_name() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    // The home folder is the workspace.
    fs::create_dir(tree.root().join(".ssh")).expect("made");
    for path in [".ssh/id_ed25519", ".netrc"] {
        fs::write(tree.root().join(path), "PRIVATE").expect("written");
    }
    let run = |args: &[&str]| tree.command(args).env("HOME", tree.root()).output().expect("the program runs");
    let before = tree.snapshot();
    for form in ["mv .ssh ssh", "mv .ssh/id_ed25519 id", "mv .ssh/id_ed25519 .ssh/known_hosts", "ln .netrc n"] {
        let ran = run(&["run", "--", form]);
        assert!(ran.status.code() != Some(0) && both(&ran).contains(" of private files, first ."), "{}", both(&ran));
    }
    assert_eq!(tree.snapshot(), before);
    let ran = run(&["run", "--", "cat .ssh/* .netrc"]);
    assert!(!both(&ran).contains("PRIVATE"), "{}", both(&ran));
    assert_eq!(run(&["run", "--", "rm .netrc && mv run.sh other.sh"]).status.code(), Some(0));
    let undo = run(&["undo", "--yes"]);
    assert_eq!(tree.snapshot(), before, "{}", both(&undo));
}

#[test]
fn connections_reach_what_the_commands_themselves_serve() {
    if !works() || !has_python() {
        return;
    }
    let (tree, outside) = (Tree::new(), outside());
    let (foreign, port, socket, path) = foreign(&outside);
    let connect = format!("import socket as s;c=s.socket();c.connect(('127.0.0.1',{port}));c.sendall(b'x')");
    let ran = run(&tree, &[], &format!("python3 -c \"{connect}\""));
    let printed = both(&ran);
    assert!(printed.contains("PermissionError") && printed.contains(&format!("first 127.0.0.1:{port}")), "{printed}");
    let ran =
        run(&tree, &[], &format!("python3 -c \"import socket as s;c=s.socket(1);c.connect('{}')\"", path.display()));
    assert!(
        both(&ran).contains("PermissionError") && both(&ran).contains("no network: 1 connection"),
        "{}",
        both(&ran)
    );
    for (what, code) in [
        (
            "own port",
            "a=s.create_server(('127.0.0.1',0));c=s.create_connection(a.getsockname()[:2]);c.sendall(b'hello');print(a.accept()[0].recv(9))",
        ),
        (
            "own port, IPv6",
            "a=s.create_server(('::1',0),family=10);c=s.create_connection(a.getsockname()[:2]);c.sendall(b'hello');print(a.accept()[0].recv(9))",
        ),
        (
            "not waiting",
            "a=s.create_server(('127.0.0.1',0));c=s.socket();c.setblocking(0);c.connect_ex(a.getsockname());import select;select.select([],[c],[]);c.send(b'hello');print(a.accept()[0].recv(9))",
        ),
        (
            "own socket",
            "a=s.socket(1);a.bind('sock');a.listen();c=s.socket(1);c.connect('sock');c.send(b'hello');print(a.accept()[0].recv(9))",
        ),
    ] {
        let ran = run(&tree, &[], &format!("python3 -c \"import socket as s;{code}\"; rm -f sock"));
        assert!(text(&ran.stdout).contains("b'hello'"), "{what}: {}", both(&ran));
    }
    for code in ["s.socket(2,2)", "s.socket(10,2)", "s.socket(2,1,262)"] {
        let ran = run(&tree, &[], &format!("python3 -c \"import socket as s;{code}\""));
        assert!(both(&ran).contains("Error"), "{code}: {}", both(&ran));
    }
    foreign.set_nonblocking(true).expect("set");
    socket.set_nonblocking(true).expect("set");
    assert!(foreign.accept().is_err() && socket.accept().is_err(), "someone came through");
    // With the network, the port is reached; the socket of another program is not.
    foreign.set_nonblocking(false).expect("set");
    let ran = run(&tree, &["--network"], &format!("python3 -c \"{connect}\""));
    assert_eq!(ran.status.code(), Some(0), "{}", both(&ran));
    let mut got = [0; 1];
    foreign.accept().expect("a connection").0.read_exact(&mut got).expect("read");
    let ran = run(
        &tree,
        &["--network"],
        &format!("python3 -c \"import socket as s;c=s.socket(1);c.connect('{}')\"", path.display()),
    );
    assert!(both(&ran).contains("PermissionError"), "{}", both(&ran));
    assert!(socket.accept().is_err());
}

#[test]
fn a_command_that_reads_writes_nothing_and_reaches_nothing() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let before = tree.snapshot();
    let ran =
        run(&tree, &["--read"], "cat README.md && git status --short > /dev/null && echo x > $TMPDIR/x && echo fine");
    assert!(text(&ran.stdout).contains("fine"), "{}", both(&ran));
    for form in ["echo x > README.md", "rm README.md", "mv src other", "chmod 777 README.md", "touch new", "mkdir new"]
    {
        let ran = run(&tree, &["--read"], form);
        assert_ne!(ran.status.code(), Some(0), "{form}: {}", both(&ran));
    }
    assert!(super::tree::difference(&before, &tree.snapshot()).is_empty());
    if has_python() {
        let ran = run(&tree, &["--read"], "python3 -c \"import socket;socket.socket()\"");
        assert!(both(&ran).contains("PermissionError"), "{}", both(&ran));
    }
}

#[test]
fn processes_outside_are_out_of_reach() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let own = std::process::id();
    let form = format!(
        "kill -0 {own} && echo reached; cat /proc/{own}/environ && echo read; unshare -Ur true && unshare -Ur mount -t tmpfs x docs && echo mounted; chroot . true && echo chrooted; grep -E '^(NoNewPrivs|CapEff|Seccomp):' /proc/self/status"
    );
    let ran = run(&tree, &[], &form);
    let out = text(&ran.stdout);
    for word in ["reached", "read\n", "mounted", "chrooted", "HOME="] {
        assert!(!out.contains(word), "{word}: {}", both(&ran));
    }
    assert!(out.contains("NoNewPrivs:\t1") && out.contains("CapEff:\t0000000000000000"), "{out}");
    // Its own processes are within reach.
    let ran = run(&tree, &[], "sleep 30 & kill $! && wait $!; echo $?");
    assert_eq!(text(&ran.stdout), "143\n");
}

#[test]
fn what_nebula_is_switched_off_by_is_the_persons_own_file_alone() {
    if !works() {
        return;
    }
    let (tree, outside) = (Tree::new(), outside());
    let file = outside.path().join("x");
    let form = format!("echo x > {}", file.display());
    fs::create_dir_all(tree.root().join(".nebula")).expect("made");
    fs::create_dir_all(tree.home().join("own")).expect("made");
    let off = r#"{"shell": {"sandbox": "off"}}"#;
    fs::write(tree.root().join(".nebula/config.json"), off).expect("written");
    fs::write(tree.home().join("own/config.json"), format!(r#"{{"trusted": [{:?}]}}"#, tree.root())).expect("written");
    assert_ne!(run(&tree, &[], &form).status.code(), Some(0));
    assert!(!file.exists());
    fs::write(tree.home().join("own/config.json"), off).expect("written");
    let ran = run(&tree, &[], &form);
    assert_eq!(ran.status.code(), Some(0), "{}", both(&ran));
    assert!(file.exists());
    let said = text(&ran.stderr);
    let named = format!("not archived: {} (outside the workspace", file.display());
    assert!(
        said.contains("shell.sandbox is off; what a command overwrites outside") && said.contains(&named),
        "{said}"
    );
}

/// Lets the program find that the kernel has no sandbox.
fn take_away_the_sandbox(tree: &Tree) {
    assert!(run(tree, &[], "true").status.success(), "it is tried");
    let file = tree.home().join("own/probe.json");
    let mut known: serde_json::Value = serde_json::from_slice(&fs::read(&file).expect("read")).expect("JSON");
    known["offered"]["sandbox"] = serde_json::json!({"Err": "the kernel has no Landlock"});
    fs::write(&file, known.to_string()).expect("written");
}

#[test]
fn a_command_runs_where_what_is_known_of_the_machine_turns_out_wrong() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let nebula = env!("CARGO_BIN_EXE_nebula");
    // Within a command there is no second guard, though it is stored that there is.
    let script = format!(
        "export NEBULA_HOME=$TMPDIR/own HOME=$TMPDIR; mkdir $TMPDIR/inner; cd $TMPDIR/inner\n\
         {nebula} run -- true || exit 3\n\
         sed -i 's/\"guard\":{{\"Err\":\"[^\"]*\"}}/\"guard\":{{\"Ok\":null}}/' $NEBULA_HOME/probe.json\n\
         grep -q '\"guard\":{{\"Ok\":null}}' $NEBULA_HOME/probe.json || exit 4\n\
         {nebula} run -- 'echo made > made' && cat made && grep -c '\"guard\":{{\"Err\"' $NEBULA_HOME/probe.json\n"
    );
    fs::write(tree.root().join("inner.sh"), script).expect("written");
    let ran = run(&tree, &[], "sh inner.sh");
    assert_eq!(ran.status.code(), Some(0), "{}", both(&ran));
    assert!(text(&ran.stdout).ends_with("made\n1\n"), "{}", both(&ran));
}

#[test]
fn without_a_sandbox_the_guard_refuses_writes_outside_and_what_nothing_keeps_is_said_before() {
    if !works() {
        return;
    }
    let (tree, outside) = (Tree::new(), outside());
    take_away_the_sandbox(&tree);
    let there = outside.path().join("there");
    fs::write(&there, "old").expect("written");
    let at = there.display();
    let ran = run(&tree, &[], &format!("rm {at}; echo x > {at}; echo x >> {at}; touch here; cat {at}"));
    let said = text(&ran.stderr);
    let line = "there is no sandbox here: the kernel has no Landlock; the guard alone refuses writes outside";
    assert!(said.contains(line) && said.contains("refused: 3 writes"), "{said}");
    let out = text(&ran.stdout);
    assert!(out.ends_with("old") && tree.root().join("here").exists(), "{out}");
    let line = "the kernel has no Landlock; nothing keeps a command from private files and the network";
    for keeper in ["guard", "scan"] {
        let read = text(&run(&tree, &["--keeper", keeper], "cat README.md").stderr);
        assert_eq!(read.matches(line).count(), 1, "{keeper}: {read}");
    }
    let scanned = run(&tree, &["--keeper", "scan"], &format!("echo new > {at}"));
    let said = text(&scanned.stderr);
    assert!(said.contains("what a command overwrites outside the workspace is not archived"), "{said}");
    assert_eq!(fs::read(&there).expect("read"), b"new\n");
}

#[test]
fn without_a_sandbox_a_model_reads_no_private_file_unasked_and_the_first_reading_says_so() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    take_away_the_sandbox(&tree);
    fs::create_dir_all(tree.home().join(".ssh")).expect("made");
    fs::write(tree.home().join(".ssh/id_rsa"), "the private key").expect("written");
    let task = |commands: &[&str]| {
        let mut lines = vec![serde_json::json!({"recording": 1})];
        for (n, command) in commands.iter().enumerate() {
            let arguments = serde_json::json!({"command": command}).to_string();
            let call =
                serde_json::json!({"index": 0, "id": n.to_string(), "name": "runCommand", "arguments": arguments});
            lines.push(serde_json::json!({"step": n + 1}));
            lines.push(serde_json::json!({"ms": 0, "delta": {"call": call}}));
            lines.push(serde_json::json!({"ms": 0, "delta": {"end": "calls"}}));
        }
        lines.push(serde_json::json!({"step": commands.len() + 1}));
        lines.push(serde_json::json!({"ms": 0, "delta": {"text": "Done."}}));
        lines.push(serde_json::json!({"ms": 0, "delta": {"end": "stop"}}));
        let file = tree.home().join("recording.jsonl");
        fs::write(&file, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).expect("written");
        both(&tree.nebula(&["task", "read", "--approve", "ask", "--json", "--replay", &file.to_string_lossy()]))
    };
    let said = task(&["cat README.md"]);
    assert!(said.contains("# A project") && said.contains("no sandbox: it may read and reach"), "{said}");
    for command in ["cat ~/.ssh/id_rsa", "cat ../home/.ssh/id_rsa", "cat < ~/.ssh/id_rsa"] {
        let said = task(&[command]);
        assert!(!said.contains("the private key"), "{command}: {said}");
        assert!(said.contains("private files be read unasked without a sandbox"), "{command}: {said}");
    }
}

/// Waits for a file that a command makes.
fn wait_for(path: &Path) {
    let begun = SystemTime::now();
    while !path.exists() {
        assert!(begun.elapsed().unwrap_or_default() < Duration::from_secs(20), "{} does not come", path.display());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The processes that have this word among their arguments.
fn with_word(word: &str) -> Vec<PathBuf> {
    let all = fs::read_dir("/proc").expect("/proc").flatten().map(|entry| entry.path());
    let has = |path: &PathBuf| {
        let line = fs::read(path.join("cmdline")).unwrap_or_default();
        line.split(|b| *b == 0).any(|part| part == word.as_bytes())
    };
    all.filter(has).collect()
}

#[test]
fn a_helper_that_is_killed_leaves_no_process_and_nothing_unkept() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let before = tree.snapshot();
    let mark = format!("{}", u64::from(std::process::id()) * 11 + 7_000_003);
    // A daemon that has left the session, and whose parent is gone.
    let form = format!(
        "setsid sh -c 'sleep {mark}; :' & rm README.md; echo x > src/main.rs; touch ready; wait; echo late > late"
    );
    let mut nebula = std::process::Command::new(env!("CARGO_BIN_EXE_nebula"))
        .args(["run", "--", &form])
        .current_dir(tree.root())
        .env("HOME", tree.home())
        .env("NEBULA_HOME", tree.home().join("own"))
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("started");
    wait_for(&tree.root().join("ready"));
    let helper = fs::read_to_string(format!("/proc/{0}/task/{0}/children", nebula.id())).expect("its children");
    let helper = helper.split_whitespace().next().expect("a helper").to_string();
    assert!(std::process::Command::new("kill").args(["-9", &helper]).status().expect("kill").success());
    let mut printed = String::new();
    nebula.stderr.take().expect("piped").read_to_string(&mut printed).expect("read");
    assert_eq!(nebula.wait().expect("over").code(), Some(125), "{printed}");
    assert!(printed.contains("the helper ended (signal: 9"), "{printed}");
    assert_eq!(with_word(&mark), Vec::<PathBuf>::new(), "a process is left");
    let undone = tree.nebula(&["undo", "--yes"]);
    let left = super::tree::difference(&before, &tree.snapshot());
    assert_eq!(left, Vec::<String>::new(), "{printed}{}", both(&undone));
}

#[test]
fn calls_that_would_go_round_the_guard_count_as_missing() {
    if !works() || !has_python() {
        return;
    }
    let tree = Tree::new();
    // `io_uring_setup`, `openat2`, `open_tree_attr`, and a 32-bit `creat` of a file by the old gate, from a page made executable.
    let code = r"
import ctypes, mmap, platform, struct
c = ctypes.CDLL(None, use_errno=True)
for n in (425, 437):
    print(c.syscall(n, 1, 0, 0, 0), ctypes.get_errno())
print(c.syscall(467, -100, b'/', 0x8001, 0, 0), ctypes.get_errno())
if platform.machine() == 'x86_64':
    m = mmap.mmap(-1, 4096, prot=7)
    low = mmap.mmap(-1, 4096)
    m.write(b'\xb8\x14\x00\x00\x00\xcd\x80\xc3')
    f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))
    print(f(), 38)
else:
    print(-38, 38)
";
    let mut file = fs::File::create(tree.root().join("calls.py")).expect("made");
    file.write_all(code.as_bytes()).expect("written");
    let ran = run(&tree, &[], "python3 calls.py; su nobody -s /bin/true; echo over");
    assert!(
        text(&ran.stdout).starts_with("-1 38\n-1 38\n-1 1\n-38 38\n") && text(&ran.stdout).ends_with("over\n"),
        "{}",
        both(&ran)
    );
}

#[test]
fn a_second_name_of_an_archived_file_is_refused() {
    if !works() || !has_python() {
        return;
    }
    let tree = Tree::new();
    fs::create_dir_all(tree.root().join(".nebula")).expect("made");
    fs::write(tree.root().join(".nebula/config.json"), "{}").expect("written");
    let before = fs::read(tree.root().join("README.md")).expect("read");
    assert_eq!(run(&tree, &[], "echo once > README.md").status.code(), Some(0));
    let code = r"
import ctypes, glob, os, socket
c = ctypes.CDLL(None, use_errno=True)
for n, path in enumerate(glob.glob('.shaft/archives/*/*') + ['.nebula/config.json']):
    f = os.open(path, os.O_RDONLY)
    for flags, old in ((0, path.encode()), (0x1000, b''), (0x400, b'/proc/self/fd/%d' % f)):
        new = b'way%d-%d' % (n, flags)
        at = f if flags == 0x1000 else -100
        if c.linkat(at, old, -100, new, flags) == 0:
            open(new, 'a').write('gone')
            print('linked', flags)
try:
    socket.socket(socket.AF_UNIX).bind('.shaft/s')
    print('bound')
except PermissionError:
    print('refused')
";
    fs::write(tree.root().join("way.py"), code).expect("written");
    let ran = run(
        &tree,
        &[],
        "python3 way.py; for v in .shaft/archives/*/* .nebula/config.json; do ln $v x && echo gone >> x; done",
    );
    assert!(text(&ran.stdout).starts_with("refused\n") && !text(&ran.stdout).contains("linked"), "{}", both(&ran));
    assert!(both(&ran).contains("refused: ") && !tree.root().join(".shaft/s").exists(), "{}", both(&ran));
    assert_eq!(fs::read(tree.root().join(".nebula/config.json")).expect("read"), b"{}");
    tree.nebula(&["undo", "--yes"]);
    assert_eq!(fs::read(tree.root().join("README.md")).expect("read"), before);
}

#[test]
fn connections_that_only_seem_to_be_the_commands_own_are_refused() {
    if !works() || !has_python() {
        return;
    }
    let (tree, outside) = (Tree::new(), outside());
    let (foreign, port, socket, path) = foreign(&outside);
    let printed = std::os::unix::net::UnixDatagram::bind(outside.path().join("d")).expect("bound");
    printed.set_nonblocking(true).expect("set");
    let (path, told_at) = (path.display().to_string(), outside.path().join("d").display().to_string());
    for (what, code) in [
        (
            "a port that someone else has too",
            format!("a=s.create_server(('127.0.0.2',{port}));s.create_connection(('127.0.0.1',{port}))"),
        ),
        (
            "a forged line among the kernel's sockets",
            format!(
                "a=s.socket(1);a.bind('own');a.listen();i=os.fstat(a.fileno()).st_ino;b=s.socket(1);b.bind(b'\\0\\n0: 0 0 0 0 0 %d {path}'%i);b.listen();s.socket(1).connect('{path}')"
            ),
        ),
        ("a link that leads outside", format!("os.symlink('{path}','way');s.socket(1).connect('way')")),
        ("a message without a connection", format!("s.socket(1,2).sendto(b'x','{told_at}')")),
        ("a pair of sockets", format!("s.socketpair(1,2)[0].sendto(b'x','{told_at}')")),
    ] {
        for flags in [&[][..], &["--network"]] {
            if flags.is_empty() || !what.contains("port") {
                let ran = run(&tree, flags, &format!("python3 -c \"import os,socket as s;{code}\"; rm -f own way"));
                assert!(both(&ran).contains("PermissionError"), "{what}, {flags:?}: {}", both(&ran));
            }
        }
    }
    // Nobody listens under this keeper: nothing can be told apart.
    let ran =
        run(&tree, &["--keeper", "scan"], &format!("python3 -c \"import socket as s;s.socket(1).connect('{path}')\""));
    assert!(both(&ran).contains("PermissionError"), "{}", both(&ran));
    foreign.set_nonblocking(true).expect("set");
    socket.set_nonblocking(true).expect("set");
    assert!(foreign.accept().is_err() && socket.accept().is_err() && printed.recv(&mut [0; 1]).is_err());
}

#[test]
fn a_worktrees_file_widens_nothing() {
    if !works() {
        return;
    }
    let (tree, outside) = (Tree::new(), outside());
    let there = outside.path().display();
    let ran = run(&tree, &[], &format!("mv .git kept; echo 'gitdir: {there}' > .git; echo {there} > commondir"));
    assert_eq!(ran.status.code(), Some(0), "{}", both(&ran));
    let ran = run(&tree, &[], &format!("echo x > {there}/new"));
    assert!(!outside.path().join("new").exists() && both(&ran).contains("refused: "), "{}", both(&ran));
    assert_eq!(run(&tree, &[], "rm .git; mv kept .git; mkfifo pipe; git status > /dev/null").status.code(), Some(0));
    // A worktree that its repository knows is written.
    let linked = tree.root().join("linked");
    tree.git(&["worktree", "add", "-q", &linked.display().to_string(), "-b", "side"]);
    let ran = tree.command(&["run", "--", "git commit -q --allow-empty -m x"]).current_dir(&linked).output();
    let ran = ran.expect("the program runs");
    assert_eq!(ran.status.code(), Some(0), "{}", both(&ran));
}

#[test]
fn a_commit_in_a_linked_worktree_is_undone_and_done_again() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let linked = tree.home().join("linked");
    tree.git(&["worktree", "add", "-q", &linked.display().to_string(), "-b", "side"]);
    let nebula = |words: &[&str]| tree.command(words).current_dir(&linked).output().expect("the program runs");
    let git = |words: &[&str]| {
        let out = std::process::Command::new("git").args(words).current_dir(&linked).output().expect("git runs");
        text(&out.stdout)
    };
    let state = || (git(&["rev-parse", "HEAD", "main", "side"]), git(&["status", "--porcelain"]), git(&["branch"]));
    let before = state();
    let ran = nebula(&["run", "--", "echo x > new; git add -A; git commit -q -m second; git branch third"]);
    assert_eq!(ran.status.code(), Some(0), "{}", both(&ran));
    assert!(!both(&ran).contains("not archived"), "{}", both(&ran));
    let after = state();
    assert_ne!(before, after);
    let list = both(&nebula(&["undo", "--dry-run"]));
    assert!(list.contains("✓ .git") && list.contains("HEAD side ") && list.contains("index, 1 ref"), "{list}");
    assert!(!list.contains("worktrees"), "{list}");
    // What a process that is gone left in the folder of the repository is swept.
    let left = tree.root().join(".git/worktrees/linked/.nebula-tmp-999999999-1-ab");
    fs::write(&left, "half").expect("written");
    let undone = nebula(&["undo", "--yes"]);
    assert_eq!(state(), before, "{}", both(&undone));
    assert!(
        !left.exists() && !linked.join("new").exists() && both(&undone).contains("and the repository"),
        "{}",
        both(&undone)
    );
    let again = nebula(&["redo", "--yes"]);
    assert_eq!(state(), after, "{}", both(&again));
    // What another worktree commits meanwhile is not taken back.
    let ran = nebula(&["run", "--", "git branch -f third HEAD~1; echo y > new"]);
    assert_eq!(ran.status.code(), Some(0), "{}", both(&ran));
    tree.git(&["commit", "-q", "--allow-empty", "-m", "theirs"]);
    tree.git(&["branch", "-f", "third", "main"]);
    let undone = both(&nebula(&["undo", "--yes"]));
    assert!(undone.contains("the repository stays: "), "{undone}");
    assert!(undone.contains("refs/heads/third was changed by someone else"), "{undone}");
    assert_eq!(git(&["rev-parse", "third"]), git(&["rev-parse", "main"]), "{undone}");
    assert_eq!(fs::read_to_string(linked.join("new")).expect("read"), "x\n");
    assert!(
        text(&nebula(&["history", "--check"]).stdout).contains("intact"),
        "{}",
        both(&nebula(&["history", "--check"]))
    );
}

/// What other machines may reach is told, each address once; what only this one reaches is not.
#[test]
fn a_command_that_others_may_reach_is_told() {
    if !works() || !has_python() {
        return;
    }
    let tree = Tree::new();
    let code = "import socket; s = socket.socket(); s.bind(('0.0.0.0', 0)); s.listen(); s.listen(); \
                t = socket.socket(); t.bind(('127.0.0.1', 0)); t.listen(); print(s.getsockname()[1])";
    let ran = tree.nebula(&["run", "--", "python3", "-c", code]);
    let (port, told) = (text(&ran.stdout), text(&ran.stderr));
    assert_eq!(told.trim(), format!("nebula: c1 listens on 0.0.0.0:{}", port.trim()));
}
