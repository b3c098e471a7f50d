//! `nebula run`: exit codes, output, what is kept and what is not, and what happens to commands that are cut off.

use std::fs;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::tree::{Tree, difference, text, works};

#[test]
fn the_exit_code_and_the_output_are_the_commands_own() {
    let tree = Tree::new();
    let ran = tree.nebula(&["run", "--", "echo out; echo err >&2; exit 7"]);
    assert_eq!(ran.status.code(), Some(7));
    assert_eq!(text(&ran.stdout), "out\nerr\n");
    assert_eq!(tree.nebula(&["run", "--", "kill -TERM $$"]).status.code(), Some(128 + 15));
    let words = tree.nebula(&["run", "--", "printf", "%s|", "a b", "$HOME", "it's"]);
    assert_eq!(text(&words.stdout), "a b|$HOME|it's|");
    assert_eq!(tree.nebula(&["run", "--", "  "]).status.code(), Some(126));
    // Nothing was changed, so there is nothing to undo.
    assert!(!tree.root().join(".shaft/archives").exists() || text(&tree.nebula(&["history"]).stdout).is_empty());
}

#[test]
fn what_is_piped_in_reaches_the_command_under_each_keeper() {
    let tree = Tree::new();
    let run = |arguments: &[&str], input: Stdio| {
        let mut run = tree.command(&[&["run"], arguments].concat());
        run.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started")
    };
    let piped = |arguments: &[&str], input: &str| {
        let mut run = run(arguments, Stdio::piped());
        run.stdin.take().expect("piped").write_all(input.as_bytes()).expect("written");
        run.wait_with_output().expect("over")
    };
    let text_of_command = "read v; echo \"got [$v]\"; cat >> README.md; echo said >&2";
    for keeper in ["guard", "scan"] {
        let before = tree.snapshot();
        let ran = piped(&["--keeper", keeper, "--", text_of_command], "y\nmore\n");
        assert_eq!(text(&ran.stdout), "got [y]\nsaid\n", "{keeper}: {}", text(&ran.stderr));
        assert!(fs::read_to_string(tree.root().join("README.md")).expect("read").ends_with("more\n"), "{keeper}");
        tree.nebula(&["undo", "--yes"]);
        assert_eq!(difference(&before, &tree.snapshot()), Vec::<String>::new(), "{keeper}");
        let ran = piped(&["--keeper", keeper, "--", "cat /dev/stdin"], "");
        assert_eq!((ran.status.code(), text(&ran.stdout).as_str()), (Some(0), ""), "{keeper}");
    }
    let file = || fs::File::open(tree.root().join("README.md")).expect("opened");
    let ran = run(&["--", "wc -c"], file().into()).wait_with_output().expect("over");
    assert_eq!(text(&ran.stdout).trim(), file().metadata().expect("read").len().to_string());
    // Through it the command could write past its keeper.
    let both = fs::File::options().read(true).write(true).open(tree.root().join("README.md")).expect("opened");
    let ran = run(&["--", "cat"], both.into()).wait_with_output().expect("over");
    assert_eq!((ran.status.code(), text(&ran.stdout).as_str()), (Some(2), ""), "{}", text(&ran.stderr));
}

#[test]
fn a_reader_that_goes_away_ends_what_prints_and_no_more() {
    let tree = Tree::new();
    let before = tree.snapshot();
    for arguments in [&["run", "--"][..], &["run", "--json", "--"]] {
        let script = "echo one >> README.md; yes; echo late > made; exit 7";
        let mut run = tree.command(&[arguments, &[script]].concat());
        let mut run = run.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
        let mut line = String::new();
        BufReader::new(run.stdout.take().expect("piped")).read_line(&mut line).expect("read");
        assert!(!line.is_empty());
        let ran = run.wait_with_output().expect("over");
        assert_eq!(ran.status.code(), Some(7), "{}", text(&ran.stderr));
        assert_eq!(fs::read_to_string(tree.root().join("made")).expect("read"), "late\n");
        tree.nebula(&["undo", "--yes"]);
        assert_eq!(difference(&before, &tree.snapshot()), Vec::<String>::new(), "{arguments:?}");
    }
}

#[test]
fn output_that_takes_no_more_keeps_no_change_from_the_archive() {
    let full = || fs::File::options().write(true).open("/dev/full");
    if full().is_err() {
        return;
    }
    let tree = Tree::new();
    let before = tree.snapshot();
    for arguments in [&["run", "--"][..], &["run", "--json", "--"]] {
        let mut run = tree.command(&[arguments, &["echo one >> README.md; yes; echo late > made"]].concat());
        run.stdin(Stdio::null()).stdout(full().expect("opened")).stderr(Stdio::piped());
        let ran = run.output().expect("over");
        assert!(!ran.status.success() && text(&ran.stderr).contains("No space left"), "{}", text(&ran.stderr));
        assert_eq!(fs::read_to_string(tree.root().join("made")).expect("read"), "late\n");
        tree.nebula(&["undo", "--yes"]);
        assert_eq!(difference(&before, &tree.snapshot()), Vec::<String>::new(), "{arguments:?}");
    }
}

#[test]
fn json_tells_what_became_of_each_file() {
    let tree = Tree::new();
    let ran = tree.nebula(&["run", "--json", "--", "echo one >> README.md; rm empty.txt; echo new > made"]);
    let last = text(&ran.stdout).lines().last().expect("a line").to_string();
    let end: serde_json::Value = serde_json::from_str(&last).expect("JSON");
    assert_eq!((&end["type"], &end["exit"]), (&"command_end".into(), &0.into()), "{last}");
    let mut changed: Vec<String> =
        end["changed"].as_array().expect("a list").iter().map(|c| format!("{} {}", c["kind"], c["path"])).collect();
    changed.sort();
    assert_eq!(changed, ["\"changed\" \"README.md\"", "\"made\" \"made\"", "\"removed\" \"empty.txt\""]);
    let history = text(&tree.nebula(&["history"]).stdout);
    assert!(history.contains("echo one >> README.md"), "{history}");
    let long = format!("echo {} > long; exit 3", "x".repeat(100));
    tree.nebula(&["run", "--", &long]);
    let history = text(&tree.nebula(&["history", "--json"]).stdout);
    let history: serde_json::Value = serde_json::from_str(&history).expect("JSON");
    let newest = &history[0];
    assert_eq!((&newest["kind"], &newest["exit"]), (&"command".into(), &3.into()), "{newest}");
    assert_eq!(newest["command"], long.as_str(), "the cause is cut off, the command is not");
}

#[test]
fn secrets_are_not_in_the_environment() {
    let tree = Tree::new();
    let ran = tree.nebula_with(
        &["run", "--", "env; cat < /dev/null; echo $GIT_EDITOR; tty || true"],
        &[("MY_TOKEN", "0123456789abcdef"), ("PLAIN", "here")],
    );
    let out = text(&ran.stdout);
    assert!(out.contains("PLAIN=here") && out.contains("NEBULA_COMMAND=c1"), "{out}");
    assert!(!out.contains("0123456789abcdef") && !out.contains("MY_TOKEN"), "{out}");
    assert!(out.contains("not a tty"), "{out}");
}

#[test]
fn no_process_outlives_its_command() {
    let tree = Tree::new();
    let mark = format!("{}", std::process::id() * 7 + 1_000_003);
    let ran =
        tree.nebula(&["run", "--", &format!("nohup setsid sleep {mark} > /dev/null 2>&1 & trap '' TERM; echo begun")]);
    assert_eq!(text(&ran.stdout), "begun\n");
    assert!(!runs(&mark), "the daemon lives on");
    assert!(text(&ran.stderr).contains("ended with it: 1 process that it left running"), "{}", text(&ran.stderr));
}

/// Returns whether a process has this word among its arguments.
fn runs(word: &str) -> bool {
    let all = fs::read_dir("/proc").expect("/proc").flatten();
    all.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .any(|line| line.split(|b| *b == 0).any(|part| part == word.as_bytes()))
}

#[test]
fn a_command_that_is_cut_off_is_undone_all_the_same() {
    let tree = Tree::new();
    let before = tree.snapshot();
    let text_of_command = "rm -rf src; echo x > README.md; echo ready; sleep 60";
    let mut run = Command::new(env!("CARGO_BIN_EXE_nebula"))
        .args(["run", "--", text_of_command])
        .current_dir(tree.root())
        .env("HOME", tree.home())
        .env("NEBULA_HOME", tree.home().join("own"))
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let mut ready = [0; 6];
    run.stdout.as_mut().expect("piped").read_exact(&mut ready).expect("read");
    run.kill().expect("killed");
    run.wait().expect("over");
    let changed = tree.snapshot();
    assert!(!difference(&before, &changed).is_empty());
    // Its helper ends what it started, and lets the states go.
    let begun = Instant::now();
    let undone = loop {
        let undone = tree.nebula(&["undo", "--yes"]);
        if difference(&before, &tree.snapshot()).is_empty() || begun.elapsed() > Duration::from_secs(20) {
            break undone;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(difference(&before, &tree.snapshot()), Vec::<String>::new(), "{}", text(&undone.stderr));
    let printed = text(&undone.stderr) + &text(&undone.stdout);
    assert!(printed.contains("a command was cut off: what it changed ("), "{printed}");
    let left = fs::read_dir(tree.root().join(".shaft/commands")).expect("the folder").count();
    assert_eq!(left, 0, "staging is left");
}

#[test]
fn a_job_that_ends_with_a_task_is_named() {
    if !works() {
        return;
    }
    for (command, background) in [("sleep 300; echo late", true), ("sleep 300 & echo up", false)] {
        let tree = Tree::new();
        let arguments = json!({"command": command, "background": background}).to_string();
        let steps = [
            json!({"recording": 1}),
            json!({"step": 1}),
            json!({"ms": 0, "delta": {"call": {"index": 0, "id": "c", "name": "runCommand", "arguments": arguments}}}),
            json!({"ms": 0, "delta": {"end": "calls"}}),
            json!({"step": 2}),
            json!({"ms": 0, "delta": {"text": "It runs."}}),
            json!({"ms": 0, "delta": {"end": "stop"}}),
        ];
        let recording = tree.home().join("recording.jsonl");
        fs::write(&recording, steps.map(|step| format!("{step}\n")).concat()).expect("written");
        let ran = tree.nebula(&["task", "go", "--approve", "all", "--replay", &recording.to_string_lossy()]);
        let err = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.success() && err.contains(&format!("ended with nebula: c1 ({command})")), "{err}");
    }
}

#[test]
fn what_a_killed_task_left_running_belongs_to_its_turn() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let before = tree.snapshot();
    let arguments = json!({"command": "rm README.md; echo ready; sleep 60"}).to_string();
    let steps = [
        json!({"recording": 1}),
        json!({"step": 1}),
        json!({"ms": 0, "delta": {"call": {"index": 0, "id": "c", "name": "runCommand", "arguments": arguments}}}),
        json!({"ms": 0, "delta": {"end": "calls"}}),
    ];
    let recording = tree.home().join("recording.jsonl");
    fs::write(&recording, steps.map(|step| format!("{step}\n")).concat()).expect("written");
    let replay = recording.to_string_lossy();
    let mut task = tree
        .command(&["task", "go", "--json", "--approve", "all", "--replay", &replay])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let mut lines = BufReader::new(task.stdout.take().expect("piped")).lines().map_while(Result::ok);
    let is_ready = |line: &String| line.contains("\"command_output\"") && line.contains("ready");
    lines.find(is_ready).expect("the command runs");
    task.kill().expect("killed");
    task.wait().expect("over");
    assert!(!difference(&before, &tree.snapshot()).is_empty());
    let begun = Instant::now();
    loop {
        let undone = tree.nebula(&["undo", "--turn", "--yes"]);
        let left = difference(&before, &tree.snapshot());
        if left.is_empty() {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{left:?}\n{undone:?}");
        std::thread::yield_now();
    }
}

#[test]
fn what_someone_else_changed_since_is_not_undone_silently() {
    let tree = Tree::new();
    tree.nebula(&["run", "--", "echo one > README.md; echo two > src/lib.rs"]);
    fs::write(tree.root().join("README.md"), "by hand\n").expect("written");
    let undone = tree.nebula(&["undo", "--yes"]);
    assert_eq!(undone.status.code(), Some(3), "{}", text(&undone.stdout));
    assert_eq!(fs::read_to_string(tree.root().join("README.md")).expect("read"), "by hand\n");
    assert_eq!(fs::read_to_string(tree.root().join("src/lib.rs")).expect("read"), "pub fn a() -> u32 {\n    1\n}\n");
}

#[test]
fn the_repository_comes_back_whole_or_not_at_all() {
    let tree = Tree::new();
    tree.nebula(&["run", "--", "git commit -qam by-command; echo x > made"]);
    let head = |tree: &Tree| {
        text(&Command::new("git").args(["rev-parse", "HEAD"]).current_dir(tree.root()).output().expect("git").stdout)
    };
    tree.git(&["commit", "-q", "--allow-empty", "-m", "by hand"]);
    let by_hand = head(&tree);
    let undone = tree.nebula(&["undo", "--yes"]);
    assert!(text(&undone.stdout).contains("the repository stays: "), "{}", text(&undone.stdout));
    assert_eq!(head(&tree), by_hand);
    assert!(!tree.root().join("made").exists(), "the workspace's files come back alone");
    tree.git(&["fsck", "--no-dangling", "--no-progress"]);
}

#[test]
fn a_repository_whose_objects_are_gone_stays() {
    let tree = Tree::new();
    let before = fs::read_to_string(tree.root().join(".git/HEAD")).expect("read");
    tree.nebula(&["run", "--", "git commit -qam second; git reset -q --hard HEAD~1; echo x > made"]);
    // The branch goes away from what only it names, and that is cleared away by hand.
    tree.nebula(&["run", "--", "git checkout -q --orphan other && git commit -qm other && git branch -qD main"]);
    for args in [&["reflog", "expire", "--expire=now", "--all"][..], &["gc", "-q", "--prune=now"]] {
        tree.git(args);
    }
    let undone = tree.nebula(&["undo", "--yes"]);
    let printed = text(&undone.stdout) + &text(&undone.stderr);
    assert!(printed.contains("the repository stays: "), "{printed}");
    assert_ne!(fs::read_to_string(tree.root().join(".git/HEAD")).expect("read"), before);
    tree.git(&["fsck", "--no-dangling", "--no-progress"]);
}

#[test]
fn commands_are_listed_with_their_output() {
    let tree = Tree::new();
    tree.nebula(&["run", "--", "echo first; exit 3"]);
    let listed = text(&tree.nebula(&["commands"]).stdout);
    assert!(listed.contains("run/c1") && listed.contains("exit 3") && listed.contains("echo first"), "{listed}");
    let rows: serde_json::Value = serde_json::from_slice(&tree.nebula(&["commands", "--json"]).stdout).expect("JSON");
    assert_eq!(rows[0]["command"]["exit"], 3, "{rows}");
    assert_eq!(text(&tree.nebula(&["output", "c1"]).stdout), "first\n");
    assert_eq!(tree.nebula(&["output", "c9"]).status.code(), Some(1));
    // The next one leaves it as it is.
    let printed = text(&tree.nebula(&["run", "--json", "--", "echo second"]).stdout);
    assert!(printed.contains(r#""id":"c2""#) && !printed.contains(r#""id":"c1""#), "{printed}");
    assert_eq!(text(&tree.nebula(&["output", "c1"]).stdout), "first\n");
    assert_eq!(text(&tree.nebula(&["output", "c2"]).stdout), "second\n");
}

#[test]
fn a_tree_too_large_for_scan_is_read_and_nothing_else_runs_in_it() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    assert!(tree.nebula(&["config", "set", "shell.keeper", "scan"]).status.success());
    // It takes no room, and would be copied.
    fs::File::create(tree.root().join("huge.bin")).and_then(|file| file.set_len(2 << 30)).expect("made");
    let why = "this tree is too large to archive without the guard";
    for (words, code, says) in [
        (&["rules", "check", "--approve", "all", "touch new"][..], 3, true),
        (&["rules", "check", "--approve", "all", "cat README.md"], 0, false),
        (&["run", "--", "cat README.md"], 0, false),
        (&["run", "--read", "--", "test -f README.md && wc -l README.md"], 0, false),
        (&["run", "--", "touch new"], 126, true),
        (&["run", "--unkept", "--", "touch new"], 0, false),
    ] {
        let ran = tree.nebula(words);
        let printed = text(&ran.stdout) + &text(&ran.stderr);
        assert_eq!((ran.status.code(), printed.contains(why)), (Some(code), says), "{words:?}: {printed}");
    }
    assert!(tree.root().join("new").exists());
}

#[test]
fn a_folder_for_temporary_files_that_is_not_there_is_named_and_a_syntax_error_shows_the_text_alone() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let ran = tree.nebula_with(&["run", "--", "echo ran"], &[("TMPDIR", "/nowhere/at/all")]);
    let err = text(&ran.stderr);
    assert_eq!(ran.status.code(), Some(126), "{err}");
    assert!(err.contains("/nowhere/at/all (TMPDIR)") && err.lines().count() == 1, "{err}");
    let ran = tree.nebula(&["run", "--", "echo ("]);
    let printed = text(&ran.stdout) + &text(&ran.stderr);
    assert!(printed.contains("echo (") && !printed.contains("trap"), "{printed}");
}

#[test]
fn a_shell_that_cannot_be_started_is_distinguished_from_a_command_that_fails() {
    use std::os::unix::fs::PermissionsExt;
    let tree = Tree::new();
    fs::create_dir_all(tree.home().join("own")).expect("made");
    let shell = tree.home().join("shell");
    fs::write(tree.home().join("own/config.json"), format!(r#"{{"shell": {{"bash": {shell:?}}}}}"#)).expect("written");
    fs::write(&shell, "#!/nowhere/at/all\n").expect("written");
    for (mode, why) in [(0o644, "is no program"), (0o755, "the shell could not be started: ")] {
        fs::set_permissions(&shell, fs::Permissions::from_mode(mode)).expect("set");
        let ran = tree.nebula(&["run", "--", "echo ran; exit 126"]);
        let printed = text(&ran.stdout) + &text(&ran.stderr);
        assert_eq!(ran.status.code(), Some(126), "{printed}");
        assert!(printed.contains(why) && !printed.contains("ran\n"), "{printed}");
    }
}
