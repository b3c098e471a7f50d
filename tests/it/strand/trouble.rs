//! Stores and input that are not as they should be: each is told, and changes nothing.

use std::process::{Command, Output};

use super::world::World;

/// Every file of the store with its text, but for the checkpoint, which is made again whenever it is missed.
fn files(world: &World) -> Vec<(String, Vec<u8>)> {
    let folder = world.path().join("project.strand/.strand");
    let mut out: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file() && !path.to_string_lossy().contains("store.crdt"))
        .map(|path| (path.display().to_string(), std::fs::read(&path).unwrap()))
        .collect();
    out.sort();
    out
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Three slots, and the path of the log.
fn slots() -> (World, std::path::PathBuf) {
    let world = World::new();
    world.load("slot a = Int = 1\nslot b = Int = 2\nslot c = Int = 3\n");
    let log = world.path().join("project.strand/.strand/op-log.jsonl");
    (world, log)
}

#[test]
fn a_log_of_a_newer_form_is_left_alone() {
    let (world, log) = slots();
    world.out(0, &["snapshot", "copy"]);
    let newer = std::fs::read_to_string(&log).unwrap().replacen("{\"strand\":1,", "{\"strand\":2,", 1);
    std::fs::write(&log, newer).unwrap();
    let before = files(&world);
    for args in [&["list"][..], &["view", "slot.a"], &["add", "slot.d", "Int = 4"], &["store", "repair"], &["check"]] {
        let store = [&["--store", "project.strand"], args].concat();
        let message = world.err(7, &store);
        assert!(message.contains("has the form 2, which a newer strand wrote"), "{args:?}: {message}");
    }
    let other = log.display().to_string();
    assert!(world.err(7, &["--store", "copy", "op", "merge", &other]).contains("a newer strand"));
    assert!(world.err(7, &["--store", "copy", "op", "push", "project.strand"]).contains("a newer strand"));
    assert_eq!(files(&world), before);
}

#[test]
fn a_damaged_file_of_a_store_is_named_and_nothing_is_written() {
    let (world, log) = slots();
    let whole = std::fs::read_to_string(&log).unwrap();
    let mut lines: Vec<&str> = whole.lines().collect();
    // The second slot's op: after the head, an op and its commit line.
    lines[3] = &lines[3][..40];
    let other = whole.replacen("Int = 2", "Int = 7", 1);
    for (text, line, why) in [
        (lines.join("\n") + "\n", 4, "it is not JSON"),
        (other, 5, "the sum does not hold"),
        (String::new(), 1, "it is not the head of a log"),
        ("{\"op\"".to_owned(), 1, "it is not the head of a log"),
    ] {
        std::fs::write(&log, text).unwrap();
        let before = files(&world);
        for args in [&["list"][..], &["add", "slot.d", "Int = 4"], &["sync"]] {
            let message = world.err(7, args);
            let words = format!("op-log.jsonl line {line}: {why}; nothing was written: run 'strand store repair'");
            assert!(message.contains(&words), "{message}");
        }
        assert_eq!(files(&world), before);
    }
    std::fs::write(&log, &whole).unwrap();
    for name in ["locks.json", "config.json", "pending.jsonl"] {
        let path = log.with_file_name(name);
        std::fs::write(&path, "{\"x").unwrap();
        let before = files(&world);
        for args in [&["add", "slot.d", "Int = 4"][..], &["patch", "apply", "op.json"]] {
            std::fs::write(world.path().join("op.json"), r#"{"op":"remove","layer":"slot","name":"c"}"#).unwrap();
            let message = world.err(7, args);
            assert!(message.contains(name) && message.contains("is not valid"), "{name}: {message}");
        }
        assert_eq!(files(&world), before);
        std::fs::remove_file(path).unwrap();
    }
    assert!(world.err(6, &["--store", "nowhere", "store", "repair"]).contains("there is no store in nowhere"));
}

/// Runs a command in a shell that can make no file longer: a full disk.
fn on_a_full_disk(world: &World, args: &str) -> Output {
    let strand = env!("CARGO_BIN_EXE_strand");
    let script = format!("trap '' XFSZ; ulimit -f 0; exec \"$0\" {args}");
    let mut command = Command::new("sh");
    command.args(["-c", &script, strand]).current_dir(world.path());
    command.env_clear().env("USER", "me").output().unwrap()
}

#[test]
fn what_cannot_be_written_is_not_reported_as_done() {
    let (world, log) = slots();
    let (hash, before) = (world.out(0, &["state-hash"]), files(&world));
    for args in ["add slot.d 'Int = 4'", "remove slot.a", "replace slot.a 'Int = 9' --json"] {
        let output = on_a_full_disk(&world, args);
        let message = text(&output);
        assert_eq!(output.status.code(), Some(7), "{message}");
        assert!(
            message.contains(&format!("Error: cannot append to {}", log.canonicalize().unwrap().display())),
            "{message}"
        );
        assert!(!String::from_utf8(output.stdout).unwrap().contains("op_"), "{args}");
    }
    assert_eq!((world.out(0, &["state-hash"]), files(&world)), (hash, before));
    world.out(0, &["add", "slot.d", "Int = 4"]);
    assert!(world.out(0, &["store", "verify"]).starts_with("ok "));
}

#[test]
fn an_op_from_the_future_stays_with_its_sender() {
    let (world, _) = slots();
    let last = r#"{"op":"add","layer":"slot","name":"z","body":"Int = 1","author":"agent:a","ts":9223372036854775807,"op-id":"op_01JC0000000000000000000000","parent-ops":[],"depends-on":[]}"#;
    std::fs::write(world.path().join("last.json"), last).unwrap();
    let before = files(&world);
    let message = world.err(2, &["patch", "apply", "last.json"]);
    assert!(message.contains("(add slot.z) names a time more than 24 hours ahead of the clock here"), "{message}");
    assert_eq!(files(&world), before);
}

#[test]
fn an_op_that_cannot_be_read_is_named_with_its_fault() {
    let (world, _) = slots();
    let good = r#"{"op":"add","layer":"slot","name":"d","body":"Int = 4"}"#;
    let before = files(&world);
    for (ops, message) in [
        (
            format!("[{good},{{\"op\":\"add\",\"layer\":\"slot\",\"name\":5}}]"),
            "malformed op: op 2: 'name' is not a string",
        ),
        (format!("{good}\n{{\"op\":\"frob\"}}\n"), "malformed op: op 2: there is no op 'frob'; there are add, replace"),
        ("{\"op\":\"add\",\"layer\":\"slots\"}".to_owned(), "there is no layer 'slots'; there are type, slot"),
        (
            format!(
                "{good}\n{}\n",
                r#"{"op":"add","layer":"slot","name":"e","body":"Int = 1","author":"agent:a","ts":5,"op-id":"op_01JC0000000000000000000000","parent-ops":[],"depends-on":[]}"#
            ),
            "holds 1 sealed op and 1 draft",
        ),
        ("3".to_owned(), "malformed op: an op is a JSON object"),
        ("{}".to_owned(), "malformed op: 'op' is missing"),
    ] {
        std::fs::write(world.path().join("ops.json"), ops).unwrap();
        let err = world.err(2, &["patch", "apply", "ops.json"]);
        assert!(err.contains(message), "{err}");
    }
    std::fs::write(world.path().join("ops.json"), b"Text = \"\xff\"").unwrap();
    assert!(world.err(2, &["patch", "apply", "ops.json"]).contains("ops.json is no text in UTF-8"));
    assert!(world.err(2, &["edit", "slot.a", "{\"zzz\":\"set 1\"}"]).contains("it has body:N, type, init, doc"));
    assert_eq!(files(&world), before);
}

#[test]
fn of_a_long_line_only_what_is_around_the_fault_is_shown() {
    let world = World::new();
    let long = "1, ".repeat(1_000);
    let message = world.err(2, &["add", "slot.n", &format!("List(Int) = [{long})")]);
    assert!(message.lines().all(|line| line.len() < 220), "{} bytes", message.len());
    assert!(message.contains("1, )"), "{message}");
}

#[test]
fn a_store_in_a_store_is_reported() {
    let (world, _) = slots();
    let message = world.err(0, &["init", "project.strand/inner"]);
    assert!(message.contains("this store lies in that of") && message.contains("--store"), "{message}");
    assert_eq!(world.err(0, &["init", "beside"]), "");
}

/// Runs `strand` in a world; one that hangs is ended after 20 s.
fn bounded(world: &World, args: &[&str]) -> Output {
    let mut command = Command::new("timeout");
    command.args(["20", env!("CARGO_BIN_EXE_strand")]).args(args).current_dir(world.path());
    command.env("STRAND_AUTHOR", "user:me").env("HOME", world.path()).output().unwrap()
}

/// Puts something in a file's place, as a clone may hold it.
fn put(kind: &str, at: &std::path::Path, outside: &std::path::Path) {
    let _ = std::fs::rename(at, at.with_extension("kept"));
    match kind {
        "pipe" => drop(Command::new("mkfifo").arg(at).status().unwrap()),
        _ => std::os::unix::fs::symlink(outside, at).unwrap(),
    }
}

#[test]
fn pipes_and_links_in_a_store_are_refused_by_their_paths() {
    for name in [".strand/op-log.jsonl", ".strand/lock", ".strand/store.crdt", "slots/a.strand", ".strand", "slots"] {
        for kind in ["pipe", "link to a file", "link to a folder", "link to nothing"] {
            if kind == "pipe" && !name.contains('/') {
                continue;
            }
            let (world, _) = slots();
            let (root, outside) = (world.path().join("project.strand"), world.path().join("outside"));
            assert_eq!(bounded(&world, &["sync"]).status.code(), Some(0));
            let target = match kind {
                "link to a folder" => outside.join("folder"),
                "link to nothing" => outside.join("nothing"),
                _ => outside.join("file"),
            };
            std::fs::create_dir_all(outside.join("folder")).unwrap();
            // A log that could be read, were it not outside.
            std::fs::copy(root.join(".strand/op-log.jsonl"), outside.join("file")).unwrap();
            let before = std::fs::read(outside.join("file")).unwrap();
            put(kind, &root.join(name), &target);
            for args in [&["list"][..], &["check"], &["add", "slot.d", "Int = 4"], &["sync"]] {
                let args = [&["--store", "project.strand"], args].concat();
                let out = bounded(&world, &args);
                assert!(!matches!(out.status.code(), None | Some(124)), "{name}, {kind}, {args:?} hangs");
                // A checkpoint is made anew; a definition's file and the lock are of some commands only.
                let must_fail = match name {
                    ".strand/op-log.jsonl" | ".strand" => kind != "link to nothing" || out.status.code() != Some(0),
                    ".strand/lock" => args.contains(&"add"),
                    "slots/a.strand" | "slots" => args.contains(&"sync"),
                    _ => false,
                };
                if must_fail {
                    assert_ne!(out.status.code(), Some(0), "{name}, {kind}, {args:?}: {}", text(&out));
                    let last = name.rsplit('/').next().unwrap();
                    let named = text(&out).contains(last) || text(&out).contains("no store");
                    assert!(named, "{name}, {kind}, {args:?}: {}", text(&out));
                }
            }
            assert_eq!(std::fs::read(outside.join("file")).unwrap(), before, "{name}, {kind}");
            assert_eq!(std::fs::read_dir(outside.join("folder")).unwrap().count(), 0, "{name}, {kind}");
            assert!(!outside.join("nothing").exists(), "{name}, {kind}");
            if name == "slots/a.strand" {
                // What is there and is no file is not taken for a removal.
                assert!(String::from_utf8_lossy(&bounded(&world, &["list"]).stdout).contains("slot.a"), "{kind}");
            }
        }
    }
}
