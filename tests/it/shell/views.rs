//! Commands in a view: what they change there is proposed, or thrown away; the workspace stays as it was.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use nebula::proposal::{Choice, Consent, Decision};
use nebula::protocol::{
    CallState, Command, CommandDecision, CommandEvent, EventBody, Item, Level, ProposalEvent, ProposalTest,
    SessionChoice, TestState, TurnEnd,
};
use nebula::provider::{Delta, Replay};
use serde_json::json;

use super::model::{ended, last_results, resumed, session_of, start, world};
use super::tree::{Tree, difference, must_work, text, works};
use crate::support::world::{Live, World, call, calls, say};

/// Returns whether commands run in views here.
fn views() -> bool {
    let printed = text(&Tree::new().nebula(&["doctor", "--json"]).stdout);
    let works = printed.contains("view works");
    must_work(works, &printed);
    works
}

#[test]
fn a_preview_changes_nothing_and_tells_what_would_change() {
    if !views() {
        return;
    }
    let tree = Tree::new();
    let before = tree.snapshot();
    let script = "printf 'more\\n' >> README.md; rm -rf docs src/deep; mkdir -p new/empty && echo x > new/x; \
        chmod 600 run.sh; mv large.bin moved.bin; ln -sf elsewhere link; rm -rf empty && echo file > empty; \
        rm untracked.txt && mkdir untracked.txt; echo y > target/debug/out; git commit -qam second; cat new/x; exit 7";
    let ran = tree.nebula(&["run", "--preview", script]);
    assert_eq!(difference(&before, &tree.snapshot()), Vec::<String>::new());
    let (out, err) = (text(&ran.stdout), text(&ran.stderr));
    assert_eq!(ran.status.code(), Some(7), "{out}{err}");
    for line in ["x\n", "+more", "-deep", "docs/日.md", "-spaces"] {
        assert!(out.contains(line), "{line:?} in {out}");
    }
    for note in ["derived: target/ (1 changed", "not in the preview: .git/", "preview: nothing was changed;"] {
        assert!(err.contains(note), "{note:?} in {err}");
    }
    let ran = tree.nebula(&["run", "--preview", "--json", script]);
    let json = text(&ran.stdout);
    let last: serde_json::Value = serde_json::from_str(json.lines().last().expect("a line")).expect("JSON");
    let paths: Vec<&str> =
        last["changed"].as_array().expect("a list").iter().filter_map(|file| file["path"].as_str()).collect();
    for path in [
        "README.md",
        "docs/",
        "docs/a b.md",
        "src/deep/er/",
        "new/",
        "new/empty/",
        "new/x",
        "run.sh",
        "large.bin",
        "moved.bin",
        "link",
        "empty/",
        "empty",
        "untracked.txt",
        "untracked.txt/",
    ] {
        assert!(paths.contains(&path), "{path} in {paths:?}");
    }
    let left = std::fs::read_dir(tree.root().join(".shaft/views")).expect("a folder").count();
    assert_eq!(left, 0, "views are removed");
}

#[test]
fn a_view_ends_at_its_edges() {
    if !views() {
        return;
    }
    let tree = Tree::new();
    tree.nebula(&["run", "echo one > a.txt"]);
    let outside = tree.home().join("outside");
    let temporary = std::env::temp_dir().join(format!("nebula-view-{}", std::process::id()));
    let script = format!(
        "ls -A .shaft/views; echo x > .shaft/x; rm -rf .shaft; echo x > {}; echo x > {} && echo taken; umount . ; \
         unshare -m true; ls /proc/1/root; true",
        outside.display(),
        temporary.display()
    );
    let ran = tree.nebula(&["run", "--preview", &script]);
    let (out, err) = (text(&ran.stdout), text(&ran.stderr));
    assert!(out.contains("Read-only file system") || out.contains("Permission denied"), "{out}");
    assert!(out.contains("taken\n"), "it may write temporary files: {out}");
    assert!(!outside.exists() && !temporary.exists(), "{out}{err}");
    assert!(tree.root().join(".shaft/archives").is_dir() && !tree.root().join(".shaft/x").exists());
    assert_eq!(tree.nebula(&["undo", "--yes"]).status.code(), Some(0));
    assert!(!tree.root().join("a.txt").exists(), "the archive is as it was");
}

#[tokio::test]
async fn the_person_takes_a_preview_and_undoes_it() {
    if !views() {
        return;
    }
    for choice in [Choice::Accept, Choice::Reject] {
        let world = world().file("gone.txt", "old\n");
        let command = "echo two >> a.txt; rm gone.txt; mkdir d && echo x > d/e; chmod 711 .; echo shown";
        let command = json!({"command": command});
        let root_mode = || std::fs::metadata(world.root()).expect("there").mode() & 0o7777;
        let found = root_mode();
        let mut live = start(&world, vec![call("runCommand", command), say("done")]);
        live.submit("go");
        let question = live.question().await;
        assert_eq!(question.card.as_ref().and_then(|card| card.no_preview.clone()), None);
        live.send(Command::DecideCommand(question.id, CommandDecision::Preview));
        let proposal = live.proposal().await;
        assert_eq!((world.read("a.txt").as_str(), world.has("gone.txt")), ("one\n", true));
        assert!(proposal.title.contains("echo two >> a.txt"), "{}", proposal.title);
        assert!(proposal.files.iter().all(|file| file.by == "run"), "a verb: {:?}", proposal.files);
        let decision = Decision::new(proposal.choices(choice), Consent::Person);
        live.send(Command::Decide(proposal.id, decision));
        assert_eq!(ended(&mut live).await.state, CallState::Done);
        assert_eq!(live.end().await, TurnEnd::Done);
        let printed = last_results(&live);
        assert!(
            printed.contains("shown") && printed.contains("M a.txt +1") && printed.contains("D gone.txt"),
            "{printed}"
        );
        match choice {
            Choice::Accept => {
                assert_eq!((world.read("a.txt").as_str(), world.read("d/e").as_str()), ("one\ntwo\n", "x\n"));
                assert!(
                    !world.has("gone.txt") && printed.contains("the person took all of these changes"),
                    "{printed}"
                );
                assert_eq!(root_mode(), 0o711);
            }
            Choice::Reject => {
                assert_eq!((world.read("a.txt").as_str(), world.has("gone.txt")), ("one\n", true));
                assert!(!world.has("d") && printed.contains("the person took none of these changes"), "{printed}");
                assert_eq!(root_mode(), found);
            }
        }
        live.close().await;
    }
}

#[tokio::test]
async fn a_preview_that_is_taken_in_part_says_so_with_the_reason() {
    if !views() {
        return;
    }
    let world = world().file("n.txt", "one\n");
    let command = json!({"command": "echo two >> a.txt; echo two >> n.txt; exit 1"});
    let mut live = start(&world, vec![call("runCommand", command), say("done")]);
    live.submit("go");
    let question = live.question().await;
    live.send(Command::DecideCommand(question.id, CommandDecision::Preview));
    let proposal = live.proposal().await;
    let mut choices = proposal.choices(Choice::Accept);
    choices[1].hunks.fill(Choice::Reject);
    let mut decision = Decision::new(choices, Consent::Person);
    decision.reason = Some("wrong factor".into());
    live.send(Command::Decide(proposal.id, decision));
    let shown = ended(&mut live).await;
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!((world.read("a.txt").as_str(), world.read("n.txt").as_str()), ("one\ntwo\n", "one\n"));
    assert_eq!((shown.verb.done.as_str(), shown.summary.as_str()), ("previewed", "preview, 1 of 2 hunks written"));
    assert!(shown.is_partial() && !shown.is_unsuccessful(), "{shown:?}");
    assert_eq!((shown.shown_reason(), shown.decided), (Some("wrong factor"), shown.hunks));
    let printed = last_results(&live);
    let told = "the person took 1 of 2 changes, in a.txt; rejected, in n.txt: wrong factor";
    assert!(printed.contains(told), "{printed}");
    let session = live.events.iter().find_map(session_of).expect("a session");
    live.close().await;
    let again = resumed(&world, session).await;
    assert_eq!((again.summary, again.reason, again.hunks), (shown.summary, shown.reason, shown.hunks));
}

#[test]
fn doctor_says_why_a_workspace_has_no_view() {
    if !views() {
        return;
    }
    let tree = Tree::new();
    // Whoever may not give a file to another group has none to look at.
    if std::os::unix::fs::chown(tree.root().join("README.md"), None, Some(54_321)).is_err() {
        return;
    }
    let doctor = text(&tree.nebula(&["doctor", "--json"]).stdout);
    assert!(doctor.contains("view no (README.md is of a group other than the user's own)"), "{doctor}");
}

/// Runs the program in mounts of its own, made by a script that knows the folder as `$W` and an empty one beside it as
/// `$B`; none: there can be none here.
fn in_mounts(tree: &Tree, mount: &str, args: &[&str]) -> Option<(Option<i32>, String)> {
    let script = format!("({mount}) 2>&1 >/dev/null || exit 99; cd \"$W\" && exec \"$@\"");
    let program = tree.command(args);
    let beside = tempfile::tempdir().expect("a folder");
    let mut unshare = std::process::Command::new("unshare");
    unshare.args(["-Urm", "--", "sh", "-c", &script, "sh"]).arg(program.get_program()).args(program.get_args());
    unshare.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?)))).current_dir(tree.root());
    let ran = unshare.env("W", tree.root()).env("B", beside.path()).output().ok()?;
    let printed = format!("{}{}", text(&ran.stdout), text(&ran.stderr));
    if !ran.status.success() && (ran.status.code() == Some(99) || printed.contains("unshare:")) {
        eprintln!("skipped: {printed}");
        return None;
    }
    Some((ran.status.code(), printed))
}

/// Returns whether commands run in views in mounts of their own.
fn views_in_mounts() -> bool {
    let doctor = || in_mounts(&Tree::new(), "true", &["doctor", "--json"]);
    views() && doctor().is_some_and(|(_, printed)| printed.contains("view works"))
}

#[test]
fn temporary_folders_can_be_written_where_something_is_mounted_below_them() {
    if !views_in_mounts() {
        return;
    }
    let tree = Tree::new();
    let below = tempfile::tempdir_in("/tmp").expect("a folder");
    let at = below.path().display().to_string();
    std::fs::create_dir_all(below.path().join("sub/mnt")).expect("made");
    std::fs::write(below.path().join("small"), "one\n").expect("written");
    std::fs::write(below.path().join("large"), "x".repeat(1 << 20)).expect("written");
    std::os::unix::fs::symlink("small", below.path().join("link")).expect("linked");
    let mount = format!("mount -t tmpfs none {at}/sub/mnt && echo deep > {at}/sub/mnt/deep");
    let script = format!(
        "echo kept > $TMPDIR/x && cat $TMPDIR/x && cd {at} && echo two >> small && cat link && wc -c < large && \
         cat sub/mnt/deep && echo more > sub/mnt/more && rm small && echo new > sub/new && cd - && echo b >> a.txt"
    );
    let (code, printed) = in_mounts(&tree, &mount, &["run", "--preview", "--", &script]).expect("as before");
    assert_eq!(code, Some(0), "{printed}");
    for line in ["kept\n", "one\ntwo\n", "1048576\n", "deep\n", "+b\n"] {
        assert!(printed.contains(line), "{line:?} in {printed}");
    }
    assert_eq!(std::fs::read_to_string(below.path().join("small")).expect("there"), "one\n");
    assert!(!below.path().join("sub/new").exists() && !tree.root().join("a.txt").exists());
    assert_eq!(std::fs::read_dir(tree.root().join(".shaft/views")).expect("a folder").count(), 0, "it is removed");
}

#[test]
fn a_workspace_with_a_mount_inside_has_no_view_and_every_place_names_it() {
    if !views_in_mounts() {
        return;
    }
    let tree = Tree::new();
    std::fs::create_dir(tree.root().join("node_modules")).expect("made");
    let mount = "mount -t tmpfs none \"$W/node_modules\"";
    let why = "node_modules is a mount point in the workspace";
    let Some((_, doctor)) = in_mounts(&tree, mount, &["doctor", "--json"]) else { return };
    assert!(doctor.contains(&format!("view no ({why})")), "{doctor}");
    let script = "echo more >> README.md";
    let (code, printed) = in_mounts(&tree, mount, &["run", "--preview", "--", script]).expect("as before");
    assert_eq!(code, Some(126), "{printed}");
    assert!(printed.contains(&format!("there is no preview here: {why}")), "{printed}");
    // A mount beside the workspace is none of its own.
    let beside = "mount -t tmpfs none \"$B\"";
    let (code, printed) = in_mounts(&tree, beside, &["run", "--preview", "--", script]).expect("as before");
    assert!(code == Some(0) && printed.contains("+more"), "{printed}");
}

#[test]
fn a_workspace_on_an_overlay_has_views_or_says_why_not() {
    if !views_in_mounts() {
        return;
    }
    let tree = Tree::new();
    let mount = "mkdir \"$B/upper\" \"$B/work\" && \
        mount -t overlay none -o \"lowerdir=$W,upperdir=$B/upper,workdir=$B/work,userxattr\" \"$W\"";
    let Some((_, doctor)) = in_mounts(&tree, mount, &["doctor", "--json"]) else { return };
    let before = tree.snapshot();
    let script = "rm -rf docs; mkdir docs; echo more >> README.md; rm untracked.txt; cat README.md";
    let (code, printed) = in_mounts(&tree, mount, &["run", "--preview", "--", script]).expect("as before");
    assert!(!doctor.contains("Invalid argument") && !printed.contains("Invalid argument"), "{doctor}{printed}");
    let why = "the workspace is on an overlay file system";
    match doctor.contains("view works") {
        true => {
            assert_eq!(code, Some(0), "{printed}");
            for line in ["+more", "-in no commit", "docs/a b.md", "preview: nothing was changed;"] {
                assert!(printed.contains(line), "{line:?} in {printed}");
            }
        }
        false => {
            assert!(doctor.contains(&format!("view no ({why})")), "{doctor}");
            assert!(code == Some(126) && printed.contains(why), "{printed}");
        }
    }
    assert_eq!(difference(&before, &tree.snapshot()), Vec::<String>::new());
}

#[tokio::test]
async fn what_was_to_be_previewed_and_cannot_be_is_asked_about() {
    if !works() {
        return;
    }
    let world = world().approve("all");
    let command = json!({"command": "echo x > b.txt"});
    let model = Arc::new(Replay::from_steps(vec![call("runCommand", command), say("done")]));
    let mut parts = world.parts(model.clone());
    parts.config.program = Path::new(env!("CARGO_BIN_EXE_nebula")).into();
    (parts.config.shell.preview, parts.config.shell.sandbox) = (Some("always".into()), Some(false));
    let mut live = world.start_with(parts, model);
    live.submit("go");
    let question = live.question().await;
    assert!(question.text.contains("no preview can be had: shell.sandbox is off"), "{}", question.text);
    let card = question.card.as_ref().expect("a card");
    assert!(card.prefix.1 == 0 && !card.may_review && card.no_preview.is_some(), "{card:?}");
    live.send(Command::DecideCommand(question.id, CommandDecision::Nobody));
    assert_eq!(ended(&mut live).await.state, CallState::Refused);
    assert_eq!(live.end().await, TurnEnd::Done);
    let results = last_results(&live);
    assert!(results.contains("no preview of it can be had: shell.sandbox is off"), "{results}");
    assert!(!world.has("b.txt"));
    live.close().await;
}

#[tokio::test]
async fn a_preview_that_cannot_begin_keeps_the_card_and_says_why() {
    if !views() {
        return;
    }
    let world = world();
    let mut live = start(&world, vec![call("runCommand", json!({"command": "rm a.txt"})), say("done")]);
    live.submit("go");
    let question = live.question().await;
    // What stands in the place of the views is no folder.
    std::fs::create_dir_all(world.root().join(".shaft")).expect("made");
    std::fs::write(world.root().join(".shaft/views"), "").expect("written");
    live.send(Command::DecideCommand(question.id, CommandDecision::Preview));
    let again = live.question().await;
    assert_eq!(again.id, question.id);
    assert!(again.text.contains("no preview can be had"), "{}", again.text);
    live.send(Command::DecideCommand(again.id, CommandDecision::Refuse(String::new())));
    assert_eq!(ended(&mut live).await.state, CallState::Refused);
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(world.has("a.txt"));
    live.close().await;
}

#[test]
fn a_preview_of_too_much_ends_as_its_command_and_says_the_limit() {
    if !views() {
        return;
    }
    let tree = Tree::new();
    let before = tree.snapshot();
    let script = "mkdir many; cd many; seq 2001 | xargs touch; exit 7";
    let ran = tree.nebula(&["run", "--preview", "--", script]);
    let err = text(&ran.stderr);
    assert_eq!(ran.status.code(), Some(7), "{err}");
    assert!(err.contains("preview: nothing was changed; the command changes too much for a preview"), "{err}");
    assert!(err.contains("2,000 paths"), "{err}");
    let ran = tree.nebula(&["run", "--preview", "--json", "--", script]);
    assert_eq!(ran.status.code(), Some(7));
    let last = text(&ran.stdout).lines().last().map(str::to_string).unwrap_or_default();
    let event: serde_json::Value = serde_json::from_str(&last).expect("JSON");
    assert!(event["type"] == "preview" && event["changed"].is_null(), "{event}");
    assert_eq!(difference(&before, &tree.snapshot()), Vec::<String>::new());
}

#[test]
fn a_preview_leaves_what_can_be_rebuilt_of_what_it_makes_itself() {
    if !views() {
        return;
    }
    let tree = Tree::new();
    let script = "mkdir -p c/target/debug; echo '[package]' > c/Cargo.toml; echo /target > c/.gitignore; \
                  touch c/target/x c/target/debug/y";
    let err = text(&tree.nebula(&["run", "--preview", "--", script]).stderr);
    assert!(err.contains("derived: c/target/ (2 changed"), "{err}");
    // The folder and the two files.
    assert!(err.contains("preview: nothing was changed; 3 files would be"), "{err}");
}

#[test]
fn a_preview_says_that_it_leaves_the_repository_and_what_can_be_rebuilt() {
    if !views() {
        return;
    }
    for (script, left) in [
        ("rm -rf .git", ".git/ (the repository is removed"),
        ("rm -rf .git && git init -q", ".git/ (the repository is removed"),
        ("git commit -qam second", ".git/ (the repository's own files"),
        ("rm -rf target", "target/ (it can be rebuilt"),
    ] {
        let tree = Tree::new();
        let before = tree.snapshot();
        let err = text(&tree.nebula(&["run", "--preview", "--", script]).stderr);
        assert!(err.contains(&format!("not in the preview: {left}")), "{script}: {err}");
        assert!(!err.contains("preview: nothing would be changed"), "{script}: {err}");
        assert_eq!(difference(&before, &tree.snapshot()), Vec::<String>::new());
    }
}

#[test]
fn a_preview_changes_nothing_of_nebulas_own_and_says_so() {
    if !views() {
        return;
    }
    let tree = Tree::new();
    let own = tree.root().join(".nebula");
    let script = "mkdir -p .nebula && echo a > .nebula/c; echo b > made";
    let err = text(&tree.nebula(&["run", "--preview", "--", script]).stderr);
    assert!(err.contains("not in the preview: .nebula (nebula's own: a command is refused"), "{err}");
    assert!(err.contains("preview: nothing was changed; 1 file would be"), "{err}");
    assert!(!own.exists() && !tree.root().join("made").exists());
    // One that is there is only read.
    std::fs::create_dir(&own).expect("made");
    std::fs::write(own.join("c"), "old").expect("written");
    let script = "echo a > .nebula/c; rm -rf .nebula; cat .nebula/c";
    let ran = tree.nebula(&["run", "--preview", "--", script]);
    let (out, err) = (text(&ran.stdout), text(&ran.stderr));
    assert!(out.ends_with("old") && err.contains("preview: nothing would be changed"), "{out}{err}");
}

#[test]
fn a_preview_in_a_linked_worktree_commits_in_its_view_alone() {
    if !views() {
        return;
    }
    let tree = Tree::new();
    let linked = tree.home().join("linked");
    tree.git(&["worktree", "add", "-q", &linked.display().to_string(), "-b", "side"]);
    let run = |script: &str| {
        let ran = tree.command(&["run", "--preview", "--", script]).current_dir(&linked).output();
        ran.expect("the program runs")
    };
    let head = || std::fs::read(tree.root().join(".git/refs/heads/side")).expect("read");
    let before = head();
    let ran = run("git commit -q --allow-empty -m in-view && git log --format=%s -1");
    let (out, err) = (text(&ran.stdout), text(&ran.stderr));
    assert_eq!((ran.status.code(), out.trim()), (Some(0), "in-view"), "{err}");
    assert!(err.contains("not in the preview: .git/"), "{err}");
    assert_eq!(head(), before);
    // What only looks at the state changes nothing that has to be said.
    let err = text(&run("git status --short").stderr);
    assert!(err.contains("preview: nothing would be changed"), "{err}");
}

#[test]
fn a_repository_that_a_preview_moves_is_in_neither_place_of_it() {
    if !views() {
        return;
    }
    let tree = Tree::new();
    let err = text(&tree.nebula(&["run", "--preview", "--", "mv .git git2"]).stderr);
    for note in ["not in the preview: git2/", "not in the preview: .git/", "preview: nothing else would be changed"] {
        assert!(err.contains(note), "{note:?} in {err}");
    }
}

#[tokio::test]
async fn no_half_of_a_command_is_proposed_where_a_file_changed_meanwhile_that_is_not_known_as_it_was() {
    if !views() {
        return;
    }
    // More than is held of one file.
    let world = world().file("big.txt", &"line\n".repeat(60_000)).file("gone.txt", "old\n");
    let command = "until tail -n 1 big.txt | grep -q mine; do :; done; echo more >> big.txt; rm gone.txt";
    let mut live = start(&world, vec![call("runCommand", json!({"command": command})), say("done")]);
    live.submit("go");
    let question = live.question().await;
    live.send(Command::DecideCommand(question.id, CommandDecision::Preview));
    let began = |event: &EventBody| matches!(event, EventBody::Command(CommandEvent::Began(_))).then_some(());
    live.until(began).await;
    let big = std::fs::OpenOptions::new().append(true).open(world.root().join("big.txt"));
    std::io::Write::write_all(&mut big.expect("open"), b"mine\n").expect("written");
    assert_eq!(live.end().await, TurnEnd::Done);
    let printed = last_results(&live);
    assert!(printed.contains("big.txt changed on disk meanwhile. Run it again"), "{printed}");
    assert!(world.has("gone.txt") && world.read("big.txt").ends_with("mine\n"));
    live.close().await;
}

#[tokio::test]
async fn what_a_preview_leaves_out_comes_before_its_decision() {
    if !views() {
        return;
    }
    for (command, has_files) in [("rm -rf target; echo two >> a.txt", true), ("rm -rf target", false)] {
        let world = world()
            .file("Cargo.toml", "[package]\nname = \"a\"\n")
            .file(".gitignore", "target\n")
            .file("target/debug/x", "built\n");
        let mut live = start(&world, vec![call("runCommand", json!({"command": command})), say("done")]);
        live.submit("go");
        let question = live.question().await;
        live.send(Command::DecideCommand(question.id, CommandDecision::Preview));
        let lines = live.until(|event| match event {
            EventBody::Proposal(ProposalEvent::LeftOut(_, lines)) => Some(lines.join("\n")),
            EventBody::Proposal(ProposalEvent::Proposed(..)) => Some("the proposal came first".into()),
            EventBody::Notice(notice) | EventBody::Added(_, Item::Notice(notice)) => {
                Some(notice.title.clone()).filter(|title| title.contains("preview"))
            }
            _ => None,
        });
        let lines = lines.await;
        assert!(lines.contains("not in the preview: target"), "{command}: {lines}");
        if has_files {
            live.decide(Choice::Reject).await;
        }
        assert_eq!(live.end().await, TurnEnd::Done);
        assert!(last_results(&live).contains("not in the preview: target"), "{}", last_results(&live));
        assert!(world.has("target/debug/x"));
        live.close().await;
    }
}

#[tokio::test]
async fn a_preview_of_names_that_are_no_utf8_is_taken_whole() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    if !views() {
        return;
    }
    let world = world();
    let at = |name: &[u8]| world.root().join(OsStr::from_bytes(name));
    std::fs::write(at(b"bad\xff"), "x\n").expect("written");
    let command = json!({"command": "rm bad*; echo two >> a.txt; mkdir $'d\\xfe'; echo n > $'d\\xfe/new\\xe9'"});
    let mut live = start(&world, vec![call("runCommand", command), say("done")]);
    live.submit("go");
    let question = live.question().await;
    live.send(Command::DecideCommand(question.id, CommandDecision::Preview));
    live.decide(Choice::Accept).await;
    assert_eq!(live.end().await, TurnEnd::Done);
    let printed = last_results(&live);
    assert!(printed.contains("the person took all of these changes"), "{printed}");
    assert!(!at(b"bad\xff").exists() && world.read("a.txt") == "one\ntwo\n");
    assert_eq!(std::fs::read(at(b"d\xfe/new\xe9")).expect("made"), b"n\n");
    live.close().await;
}

#[tokio::test]
async fn a_preview_that_cannot_be_written_is_reported() {
    if !views() {
        return;
    }
    let world = world();
    let mut live = start(&world, vec![call("runCommand", json!({"command": "echo two >> a.txt"})), say("done")]);
    live.submit("go");
    let question = live.question().await;
    live.send(Command::DecideCommand(question.id, CommandDecision::Preview));
    let proposal = live.proposal().await;
    // Nothing can be merged into what is no file any more.
    std::fs::remove_file(world.root().join("a.txt")).expect("removed");
    std::fs::create_dir(world.root().join("a.txt")).expect("made");
    live.send(Command::Decide(proposal.id, Decision::new(proposal.choices(Choice::Accept), Consent::Person)));
    let why = live.until(|event| match event {
        EventBody::Notice(notice) if notice.level == Level::Error => Some(notice.title.clone()),
        _ => None,
    });
    assert!(why.await.contains("a.txt is a folder"));
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
}

#[tokio::test]
async fn plan_mode_builds_in_a_view_that_is_thrown_away() {
    if !views() {
        return;
    }
    let world = world().plan();
    let texts = ["echo built > out.txt && cat out.txt", "cat out.txt", "curl example.org"];
    let mut steps: Vec<_> = texts.iter().map(|text| call("runCommand", json!({"command": text}))).collect();
    steps.push(say("done"));
    let mut live = start(&world, steps);
    live.submit("go");
    assert_eq!(live.end().await, TurnEnd::Done);
    let printed = last_results(&live);
    assert!(
        printed.contains("built") && printed.contains("preview: nothing was changed; 1 file would have been"),
        "{printed}"
    );
    assert!(printed.contains("No such file"), "each view is of the workspace as it is: {printed}");
    assert!(printed.contains("plan mode runs nothing that reaches further"), "{printed}");
    let first = live.requests().first().map(|request| format!("{request:?}")).unwrap_or_default();
    assert!(first.contains("build and test there"), "the model is told that it may: {first}");
    assert!(!world.has("out.txt"));
    live.close().await;
}

#[tokio::test]
async fn a_command_that_a_rule_asks_about_needs_consent_and_is_not_previewed() {
    if !views() {
        return;
    }
    for plan in [false, true] {
        let world = if plan { world().plan() } else { world() };
        let model = Arc::new(Replay::from_steps(vec![
            call("runCommand", json!({"command": "touch asked.txt"})),
            call("runCommand", json!({"command": "touch other.txt"})),
            say("done"),
        ]));
        let mut parts = world.parts(model.clone());
        parts.config.program = Path::new(env!("CARGO_BIN_EXE_nebula")).into();
        parts.config.shell.preview = Some("always".into());
        // Rules are read anew before each command.
        let config = world.root().join(".nebula/config.json");
        std::fs::create_dir_all(config.parent().expect("a folder")).expect("made");
        std::fs::write(&config, r#"{"shell": {"rules": [{"prefix": ["touch", "asked.txt"], "decision": "ask"}]}}"#)
            .expect("written");
        let mut live = world.start_with(parts, model);
        live.submit("go");
        if !plan {
            let question = live.question().await;
            assert!(question.text.contains("$ touch asked.txt"), "{}", question.text);
            live.send(Command::DecideCommand(question.id, CommandDecision::Refuse(String::new())));
            let proposal = live.proposal().await;
            assert!(proposal.title.contains("touch other.txt"), "{}", proposal.title);
            let rejected = Decision::new(proposal.choices(Choice::Reject), Consent::Person);
            live.send(Command::Decide(proposal.id, rejected));
        }
        assert_eq!(live.end().await, TurnEnd::Done);
        let why = "plan mode asks nothing, and a rule asks about this command";
        assert_eq!(last_results(&live).contains(why), plan, "{}", last_results(&live));
        assert!(!world.has("asked.txt") && !world.has("other.txt"));
        live.close().await;
    }
}

/// Starts an agent that tests proposals with a command.
fn start_with_check(world: &World, check: Option<&str>, steps: Vec<Vec<Delta>>) -> Live {
    let model = Arc::new(Replay::from_steps(steps));
    let mut parts = world.parts(model.clone());
    parts.config.program = Path::new(env!("CARGO_BIN_EXE_nebula")).into();
    parts.config.shell.check = check.map(str::to_string);
    world.start_with(parts, model)
}

/// The next test that is over.
async fn tested(live: &mut Live) -> ProposalTest {
    live.until(|event| match event {
        EventBody::Proposal(ProposalEvent::Tested(_, test)) if test.state != TestState::Running => Some(test.clone()),
        _ => None,
    })
    .await
}

fn written(text: &str) -> Vec<Delta> {
    call("writeFile", json!({"path": "b.txt", "content": text}))
}

#[tokio::test]
async fn a_proposal_is_tested_before_it_is_approved() {
    if !views() {
        return;
    }
    let world = world().file("sub/keep.txt", "kept\n");
    let check = "grep -q two b.txt && cat sub/keep.txt && echo 'test result: ok. 3 passed; 0 failed'";
    let mut live = start_with_check(&world, Some(check), vec![written("two\n"), say("done")]);
    live.submit("go");
    let proposal = live.proposal().await;
    let test = tested(&mut live).await;
    assert_eq!(test.state, TestState::Passed, "{test:?}");
    assert!(test.line.contains(": 3 passed · "), "{test:?}");
    assert!(!world.has("b.txt"), "the workspace is not touched");
    // Once more, by key.
    live.send(Command::Test(proposal.id, Decision::accept(&proposal, Consent::Person)));
    assert_eq!(tested(&mut live).await.state, TestState::Passed);
    let accepted = Decision::new(proposal.choices(Choice::Accept), Consent::Person);
    live.send(Command::Decide(proposal.id, accepted));
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(world.read("b.txt"), "two\n");
    assert!(
        last_results(&live).contains("Tested before the decision") && last_results(&live).contains("3 passed"),
        "{}",
        last_results(&live)
    );
    live.close().await;
}

#[tokio::test]
async fn what_fails_its_test_goes_back_to_the_model_twice_at_most() {
    if !views() {
        return;
    }
    let world = world();
    let check = "grep -q three b.txt || { echo 'test a ... FAILED'; exit 1; }";
    // Nobody refused it: the same may be proposed again.
    let texts = ["1\n"; 3];
    let mut steps: Vec<_> = texts.iter().map(|text| written(text)).collect();
    steps.push(say("done"));
    let mut live = start_with_check(&world, Some(check), steps);
    live.submit("go");
    for _ in texts {
        assert_eq!(tested(&mut live).await.failures, ["test a ... FAILED"]);
    }
    // The third one waits for the person, with its failures.
    let request_count = live.requests().len();
    live.send(Command::Interrupt);
    assert_eq!(live.end().await, TurnEnd::Interrupted);
    assert_eq!((request_count, world.has("b.txt")), (3, false));
    let printed = last_results(&live);
    assert!(printed.contains("its test failed") || printed.contains("Fix what fails"), "{printed}");
    live.close().await;
}

#[tokio::test]
async fn what_went_back_may_be_a_part_of_what_is_proposed_then() {
    if !views() {
        return;
    }
    let world = world();
    let check = "grep -q two a.txt && { test -f b.txt || { echo 'test b ... FAILED'; exit 1; }; }";
    let renamed = ("replaceInFile", json!({"path": "a.txt", "search": "one", "replace": "two"}));
    let whole = [renamed.clone(), ("writeFile", json!({"path": "b.txt", "content": "b\n"}))];
    let read = call("readFile", json!({"path": "a.txt"}));
    let mut live = start_with_check(&world, Some(check), vec![read, calls(&[renamed]), calls(&whole), say("done")]);
    live.submit("go");
    assert_eq!(tested(&mut live).await.failures, ["test b ... FAILED"]);
    let proposal = live.proposal().await;
    let paths: Vec<&str> = proposal.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["a.txt", "b.txt"]);
    assert_eq!(tested(&mut live).await.state, TestState::Passed);
    live.send(Command::Decide(proposal.id, Decision::accept(&proposal, Consent::Person)));
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!((world.read("a.txt"), world.read("b.txt")), ("two\n".to_string(), "b\n".to_string()));
    assert!(!last_results(&live).contains("already done"), "{}", last_results(&live));
    live.close().await;
}

#[tokio::test]
async fn what_went_back_and_is_not_proposed_again_is_decided_by_the_person() {
    if !views() {
        return;
    }
    for accepts in [true, false] {
        let world = world();
        let steps = vec![written("two\n"), say("It failed before, too."), say("done")];
        let mut live = start_with_check(&world, Some("echo 'test a ... FAILED'; exit 1"), steps);
        live.submit("go");
        let first = live.proposal().await;
        assert_eq!(tested(&mut live).await.state, TestState::Failed);
        let again = live.proposal().await;
        assert!(again.id != first.id && again.files == first.files, "{again:?}");
        assert_eq!(tested(&mut live).await.failures, ["test a ... FAILED"], "above the diff");
        let choice = if accepts { Choice::Accept } else { Choice::Reject };
        live.send(Command::Decide(again.id, Decision::new(again.choices(choice), Consent::Person)));
        let call = ended(&mut live).await;
        let state = if accepts { CallState::Done } else { CallState::Refused };
        assert!(call.state == state && call.main == "b.txt", "{call:?}");
        assert_eq!(live.end().await, TurnEnd::Done);
        assert_eq!(world.has("b.txt"), accepts);
        let told = last_results(&live);
        assert!(told.contains("were put to the person") && told.contains("and it failed"), "{told}");
        assert_eq!(live.requests().len(), 3, "{told}");
        live.close().await;
        // A session that is read again has the entry, too.
        let mut live = start(&world, Vec::new());
        live.open(SessionChoice::Continue);
        let states = live.until(|event| match event {
            EventBody::Recalled(items) => {
                let calls = items.iter().filter_map(|(_, item)| match item {
                    Item::Call(call) => Some(call.state),
                    _ => None,
                });
                Some(calls.collect::<Vec<_>>())
            }
            _ => None,
        });
        assert_eq!(states.await, [CallState::Refused, state]);
        live.close().await;
    }
}

#[tokio::test]
async fn a_proposal_is_tested_as_it_is_decided() {
    if !views() {
        return;
    }
    let world = world();
    let check = "echo $(wc -l < b.txt) passed";
    let mut live = start_with_check(&world, Some(check), vec![written("two\n"), say("done")]);
    live.submit("go");
    let proposal = live.proposal().await;
    assert!(tested(&mut live).await.line.contains(": 1 passed"), "what is proposed");
    let mut edited = proposal.choices(Choice::Accept);
    edited[0].edited = Some(b"two\nthree\n"[..].into());
    live.send(Command::Test(proposal.id, Decision::new(edited, Consent::Person)));
    let test = tested(&mut live).await;
    assert!(test.line.contains(": 2 passed"), "{test:?}");
    live.send(Command::Test(proposal.id, Decision::refuse(&proposal)));
    assert_eq!(tested(&mut live).await.state, TestState::NotRun, "nothing would be written");
    let mut edited = proposal.choices(Choice::Accept);
    edited[0].edited = Some(b"2\n3\n4\n"[..].into());
    live.send(Command::Test(proposal.id, Decision::new(edited, Consent::Person)));
    assert!(tested(&mut live).await.line.contains(": 3 passed"));
    // Something else is decided.
    live.send(Command::Decide(proposal.id, Decision::accept(&proposal, Consent::Person)));
    assert_eq!(live.end().await, TurnEnd::Done);
    let told = last_results(&live);
    assert!(told.contains("3 passed") && told.contains("what is written was not tested"), "{told}");
    live.close().await;
}

#[tokio::test]
async fn a_proposal_is_tested_with_what_is_on_disk_meanwhile() {
    if !views() {
        return;
    }
    let text = |first: &str, last: &str| format!("{first}\n2\n3\n4\n5\n6\n7\n8\n{last}\n");
    let world = world().file("c.txt", &text("1", "9"));
    let read = call("readFile", json!({"path": "c.txt"}));
    let replaced = call("replaceInFile", json!({"path": "c.txt", "search": "9", "replace": "nine"}));
    let check = "echo $(grep -c -e own -e nine c.txt) passed";
    let mut live = start_with_check(&world, Some(check), vec![read, replaced, say("done")]);
    live.submit("go");
    let proposal = live.proposal().await;
    assert!(tested(&mut live).await.line.contains(": 1 passed"));
    let again = || Command::Test(proposal.id, Decision::expected(proposal.choices(Choice::Accept)));
    world.write("c.txt", &text("own", "9"));
    live.send(again());
    let test = tested(&mut live).await;
    assert!(test.line.contains(": 2 passed"), "the own line and the proposed one: {test:?}");
    // The same line is another one now.
    world.write("c.txt", &text("1", "neun"));
    live.send(again());
    let test = tested(&mut live).await;
    assert!(test.state == TestState::NotRun && test.line.contains("c.txt changed on disk meanwhile"), "{test:?}");
    world.write("c.txt", &text("own", "9"));
    live.send(Command::Decide(proposal.id, Decision::accept(&proposal, Consent::Person)));
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(world.read("c.txt"), text("own", "nine"));
    live.close().await;
}

#[tokio::test]
async fn a_file_that_changes_after_a_test_is_reported_each_time_and_the_model_is_told() {
    if !views() {
        return;
    }
    let text = |first: &str, last: &str| format!("{first}\n2\n3\n4\n5\n6\n7\n8\n{last}\n");
    let world = world().file("c.txt", &text("1", "9"));
    let read = call("readFile", json!({"path": "c.txt"}));
    let both = [
        ("replaceInFile", json!({"path": "c.txt", "search": "9", "replace": "nine"})),
        ("writeFile", json!({"path": "b.txt", "content": "two\n"})),
    ];
    let check = "echo $(grep -c -e own -e nine c.txt) passed";
    let mut live = start_with_check(&world, Some(check), vec![read, calls(&both), say("done")]);
    live.submit("go");
    let proposal = live.proposal().await;
    assert!(tested(&mut live).await.line.contains(": 1 passed"));
    let drifted = async |live: &mut Live, name: &str| {
        live.until(|event| matches!(event, EventBody::Drifted(paths) if *paths == [name]).then_some(())).await;
    };
    // It is to be made, and is not there yet.
    world.write("b.txt", "two\n");
    drifted(&mut live, "b.txt").await;
    std::fs::remove_file(world.root().join("b.txt")).expect("removed");
    world.write("c.txt", &text("own", "9"));
    drifted(&mut live, "c.txt").await;
    live.send(Command::Test(proposal.id, Decision::expected(proposal.choices(Choice::Accept))));
    let test = tested(&mut live).await;
    assert!(test.line.contains(": 2 passed"), "{test:?}");
    world.write("c.txt", &text("1", "9"));
    drifted(&mut live, "c.txt").await;
    live.send(Command::Decide(proposal.id, Decision::accept(&proposal, Consent::Person)));
    assert_eq!(live.end().await, TurnEnd::Done);
    let told = last_results(&live);
    assert!(told.contains("2 passed") && told.contains("what is written was not tested"), "{told}");
    live.close().await;
}

#[tokio::test]
async fn a_test_that_wants_the_network_says_that_there_is_none() {
    if !views() {
        return;
    }
    let world = world();
    let steps = vec![written("two\n"), say("It wants the network."), say("done")];
    let mut live = start_with_check(&world, Some("exec 3<>/dev/tcp/192.0.2.1/80"), steps);
    live.submit("go");
    live.proposal().await;
    let test = tested(&mut live).await;
    let first = test.failures.first().map_or("", String::as_str);
    assert!(test.state == TestState::Failed && first.starts_with("no network: 1 connection refused"), "{test:?}");
    let again = live.proposal().await;
    tested(&mut live).await;
    live.send(Command::Decide(again.id, Decision::refuse(&again)));
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(last_results(&live).contains("no network: "), "{}", last_results(&live));
    live.close().await;
}

#[tokio::test]
async fn a_test_whose_program_is_not_there_has_not_failed() {
    if !views() {
        return;
    }
    let world = world();
    let mut live = start_with_check(&world, Some("no-such-runner -q"), vec![written("two\n"), say("done")]);
    live.submit("go");
    let proposal = live.proposal().await;
    let test = tested(&mut live).await;
    assert!(test.state == TestState::NotRun && test.line.contains("no-such-runner: "), "{test:?}");
    live.send(Command::Decide(proposal.id, Decision::accept(&proposal, Consent::Person)));
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(!last_results(&live).contains("Tested before"), "{}", last_results(&live));
    live.close().await;
}

#[tokio::test]
async fn without_a_command_the_line_says_how_to_name_one() {
    let world = world();
    let mut live = start_with_check(&world, None, vec![written("two\n"), say("done")]);
    live.submit("go");
    let proposal = live.proposal().await;
    live.send(Command::Test(proposal.id, Decision::accept(&proposal, Consent::Person)));
    let test = tested(&mut live).await;
    assert!(test.state == TestState::NotRun && test.line.contains("shell.check"), "{test:?}");
    live.close().await;
}

#[test]
fn a_preview_changes_no_mode_and_no_time_around_it() {
    use std::os::unix::fs::PermissionsExt;
    if !views() {
        return;
    }
    let tree = Tree::new();
    let around = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let file = around.path().join("a b");
    std::fs::write(&file, "mine\n").expect("written");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("set");
    let mode_and_time =
        |path: &Path| std::fs::metadata(path).map(|meta| (meta.permissions().mode(), meta.modified().ok())).ok();
    let before = mode_and_time(&file);
    let at = file.display();
    let script =
        format!("chmod 777 '{at}'; touch -d 2001-01-01 '{at}'; chmod 755 README.md; echo x > /dev/null && echo on");
    let ran = tree.nebula(&["run", "--preview", &script]);
    assert_eq!(mode_and_time(&file), before, "{}", text(&ran.stderr));
    // The terminal's and other devices work as ever, and the view can be written.
    assert!(
        text(&ran.stdout).contains("on\n") && text(&ran.stdout).contains("new mode 100755"),
        "{}",
        text(&ran.stdout)
    );
}

#[tokio::test]
async fn a_workspace_without_views_is_asked_about_with_the_reason() {
    if !views() {
        return;
    }
    let world = world();
    // Only root can give it to another group.
    if std::os::unix::fs::chown(world.root(), None, Some(12_345)).is_err() {
        return;
    }
    let model = Arc::new(Replay::from_steps(vec![call("runCommand", json!({"command": "touch b.txt"})), say("done")]));
    let mut parts = world.parts(model.clone());
    parts.config.program = Path::new(env!("CARGO_BIN_EXE_nebula")).into();
    parts.config.shell.preview = Some("always".into());
    let mut live = world.start_with(parts, model);
    live.submit("go");
    let question = live.question().await;
    let why = question.card.as_ref().and_then(|card| card.no_preview.clone());
    assert_eq!(why.as_deref(), Some("the workspace's group is not the user's own"));
    live.send(Command::DecideCommand(question.id, CommandDecision::Run { network: false }));
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(world.has("b.txt"), "{}", last_results(&live));
    live.close().await;
}

#[tokio::test]
async fn a_test_that_is_given_up_is_not_told_to_the_model() {
    if !views() {
        return;
    }
    let world = world();
    let steps = vec![written("two\n"), say("done"), say("again")];
    let mut live = start_with_check(&world, Some("echo begun; sleep 600"), steps);
    live.submit("go");
    let proposal = live.proposal().await;
    let rejected = Decision::new(proposal.choices(Choice::Reject), Consent::Person);
    live.send(Command::Decide(proposal.id, rejected));
    assert_eq!(live.end().await, TurnEnd::Done);
    // However the start went: the command is over, and its record says so.
    let ended = || {
        let listed = super::review::nebula(&world, &["commands", "--json"]);
        let all: Vec<serde_json::Value> = serde_json::from_slice(&listed.stdout).unwrap_or_default();
        all.iter().all(|command| !command["signal"].is_null() || !command["exit"].is_null())
    };
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !ended() && std::time::Instant::now() < until {
        tokio::task::yield_now().await;
    }
    assert!(ended());
    live.submit("again");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(
        !last_results(&live).contains("ended:") && !last_results(&live).contains("begun"),
        "{}",
        last_results(&live)
    );
    live.close().await;
}

#[test]
fn a_preview_cannot_hold_the_archives_lock() {
    if !views() {
        return;
    }
    let tree = Tree::new();
    tree.nebula(&["run", "echo one > a.txt"]);
    let ran = tree.nebula(&["run", "--preview", "flock -n .shaft/lock echo held; flock -n README.md echo taken"]);
    let out = text(&ran.stdout);
    assert!(!out.contains("held\n") && out.contains("taken\n"), "{out}{}", text(&ran.stderr));
}
