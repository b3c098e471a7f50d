//! Repositories in and around the workspace, and what of nebula lies in it: workspaces within, its own folder.

use std::fs;
use std::process::{Command, Output};

use nebula::proposal::{Choice, State};
use nebula::protocol::{
    self, EventBody, Listing, ProposalEvent, Query, QueryId, RestoreRequest, ReviewScope, TurnEnd, UndoneChange,
};
use serde_json::json;

use super::model::{start, world};
use super::tree::{Tree, difference, text, works};
use crate::support::world::{Live, call, say};

fn run(tree: &Tree, flags: &[&str], command: &str) -> Output {
    tree.nebula(&[&["run"], flags, &["--", command]].concat())
}

fn both(output: &Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}

fn sh(tree: &Tree, text: &str) {
    let done = Command::new("sh").args(["-ec", text]).current_dir(tree.root()).env("HOME", tree.home()).status();
    assert!(done.expect("ran").success(), "{text}");
}

const GIT: &str = "git -c user.name=T -c user.email=t@e -c protocol.file.allow=always";

#[test]
fn the_archive_of_a_workspace_within_stays() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    sh(&tree, "mkdir -p sub/.shaft/archives sub/.nebula; echo v > sub/.shaft/archives/v; echo c > sub/.nebula/c");
    for form in ["git clean -fdxq", "rm -rf sub", "mv sub moved"] {
        let ran = run(&tree, &[], form);
        let whole = tree.root().join("sub/.shaft/archives/v").is_file() && tree.root().join("sub/.nebula/c").is_file();
        assert!(whole, "{form}: {}", both(&ran));
    }
}

#[test]
fn nebulas_own_folder_in_the_workspace_is_out_of_reach() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let own = tree.root().join(".dev/nebula");
    fs::create_dir_all(&own).expect("made");
    fs::write(own.join("config.json"), "{}").expect("written");
    for form in ["rm -rf .dev", "mv .dev away", "echo '{\"shell.sandbox\": \"off\"}' > .dev/nebula/config.json"] {
        let variables = [("NEBULA_HOME", own.to_str().expect("text"))];
        let ran = tree.nebula_with(&["run", "--", form], &variables);
        assert_eq!(fs::read_to_string(own.join("config.json")).ok().as_deref(), Some("{}"), "{form}: {}", both(&ran));
    }
}

#[test]
fn the_objects_of_a_linked_worktrees_repository_come_back() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    sh(&tree, &format!("git clone -q --bare . ../repo.git; cd ../repo.git; {GIT} worktree add -q ../wt"));
    let at = tree.root().join("../wt").canonicalize().expect("there");
    let objects = || {
        text(
            &Command::new("git")
                .args(["rev-list", "--objects", "--all"])
                .current_dir(&at)
                .output()
                .expect("ran")
                .stdout,
        )
    };
    let before = objects();
    assert!(!before.is_empty());
    let nebula = |words: &[&str]| tree.command(words).current_dir(&at).output().expect("ran");
    let ran = nebula(&["run", "--", "rm -rf ../repo.git/objects ../repo.git/refs"]);
    assert!(!at.join("../repo.git/objects").exists(), "{}", both(&ran));
    let undone = nebula(&["undo", "--yes"]);
    assert_eq!(objects(), before, "{}{}", both(&ran), both(&undone));
}

#[test]
fn a_worktrees_own_part_of_the_repository_comes_back_with_what_names_it() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    sh(&tree, &format!("git clone -q --bare . ../repo.git; cd ../repo.git; {GIT} worktree add -q ../wt"));
    let at = tree.root().join("../wt").canonicalize().expect("there");
    sh(&tree, "cd ../wt; echo staged > new.txt; git add new.txt");
    let git = |words: &[&str]| {
        let done = Command::new("git").args(words).current_dir(&at).output().expect("ran");
        text(&done.stdout) + &text(&done.stderr)
    };
    let state = || git(&["status", "--porcelain=v2", "--branch"]) + &git(&["ls-files", "--stage"]);
    let before = state();
    assert!(before.contains("new.txt") && before.contains("branch.head wt"), "{before}");
    let nebula = |words: &[&str]| tree.command(words).current_dir(&at).output().expect("ran");
    let forms = [
        "rm -rf $(git rev-parse --git-dir)",
        "git worktree remove --force .",
        "rm -rf .git; rm -rf ../repo.git/worktrees",
        "mv ../repo.git/worktrees ../repo.git/gone; rm -rf ../repo.git/worktrees/wt/HEAD .git",
        "D=$(git rev-parse --git-dir); echo /tmp/x > $D/gitdir; ln -sf x $D/gitdir; rm -f $D/HEAD .git",
        "D=$(git rev-parse --git-dir); sed -i s/wt/w/ $D/gitdir; git rm -q --cached new.txt",
    ];
    let day = std::time::SystemTime::now() - std::time::Duration::from_secs(3 * 86_400);
    let proof = tree.root().join("../repo.git/worktrees/wt/gitdir");
    // A scan cannot keep the folder above it from being moved.
    let scanned = forms.iter().filter(|form| !form.starts_with("mv"));
    let all = forms.iter().map(|form| (*form, "guard")).chain(scanned.map(|form| (*form, "scan")));
    for (form, keeper) in all {
        // Git writes it anew where it is that old.
        fs::File::open(&proof).and_then(|file| file.set_modified(day)).expect("set");
        let ran = nebula(&["run", "--keeper", keeper, "--", form]);
        assert_ne!(state(), before, "{form}: {}", both(&ran));
        assert!(!both(&ran).contains("not archived"), "{form}: {}", both(&ran));
        let undone = nebula(&["undo", "--yes"]);
        assert_eq!(state(), before, "{form}: {}{}", both(&ran), both(&undone));
        assert_eq!(undone.status.code(), Some(0), "{form}: {}", both(&undone));
    }
    // What git itself does there goes on.
    fs::File::open(&proof).and_then(|file| file.set_modified(day)).expect("set");
    let ran = nebula(&["run", "--", &format!("{GIT} commit -qm new")]);
    assert_eq!(ran.status.code(), Some(0), "{}", both(&ran));
}

#[test]
fn a_scan_keeps_the_objects_of_a_repository() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let before = tree.snapshot();
    for form in ["rm -rf .git/objects/*", "rm -rf .git"] {
        let ran = run(&tree, &["--keeper", "scan"], form);
        assert!(both(&ran).contains("changeset"), "{form}: {}", both(&ran));
        let undone = tree.nebula(&["undo", "--yes"]);
        assert_eq!(difference(&before, &tree.snapshot()), Vec::<String>::new(), "{form}: {}", both(&undone));
        tree.git(&["fsck", "--no-dangling", "--no-progress"]);
    }
    // What is added stays, as with the guard, and is no change of its own.
    let ran = run(&tree, &["--keeper", "scan"], "echo new | git hash-object -w --stdin");
    assert!(!both(&ran).contains("changeset"), "{}", both(&ran));
}

#[test]
fn an_undo_names_the_objects_that_stay_under_both_keepers() {
    if !works() {
        return;
    }
    for keeper in ["guard", "scan"] {
        let tree = Tree::new();
        let made = run(&tree, &["--keeper", keeper], &format!("echo new >> README.md; {GIT} commit -qam one"));
        let undone = both(&tree.nebula(&["undo", "--yes"]));
        let stays = |line: &str| line.contains(".git/objects") && line.contains("what was added stays");
        assert!(undone.contains("not undone") && undone.lines().any(stays), "{keeper}: {}{undone}", both(&made));
    }
}

/// The commands that make a repository within the workspace; the last one makes its own.
fn makes_a_repository() -> [String; 4] {
    let commits = format!("{GIT} init -q sub; cd sub; echo a > a; {GIT} add a; {GIT} commit -qm a");
    let own = format!("{GIT} init -q; {GIT} add -A; {GIT} commit -qm one");
    [format!("{GIT} init -q sub"), format!("{GIT} clone -q . sub"), commits, own]
}

#[test]
fn a_repository_that_a_command_made_goes_whole_and_comes_back() {
    if !works() {
        return;
    }
    for keeper in ["guard", "scan"] {
        for form in makes_a_repository() {
            let tree = Tree::new();
            if !form.contains("sub") {
                sh(&tree, "rm -rf .git");
            }
            let before = tree.snapshot();
            let ran = run(&tree, &["--keeper", keeper], &form);
            let after = tree.snapshot();
            for (words, expected) in [("undo", &before), ("redo", &after), ("undo", &before)] {
                // It refreshes the times in an index.
                sh(&tree, "for at in . sub; do git -C $at status --short > /dev/null 2>&1 || true; done");
                let done = tree.nebula(&[words, "--yes"]);
                let left = difference(expected, &tree.snapshot());
                let left: Vec<_> = left.into_iter().filter(|line| !line.contains(".git/index")).collect();
                let said = format!("{keeper} {form} {words}: {}{}", both(&ran), both(&done));
                assert_eq!((left, done.status.code()), (Vec::<String>::new(), Some(0)), "{said}");
                assert!(!both(&done).contains("what was added stays"), "{said}");
            }
        }
    }
}

#[test]
fn objects_that_a_later_command_added_go_with_their_repository() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let before = tree.snapshot();
    let made = both(&run(&tree, &[], &format!("{GIT} init -q sub")));
    let first = made.split("changeset ").nth(1).and_then(|rest| rest.split(':').next()).expect("an id").to_string();
    let added = both(&run(&tree, &[], &format!("cd sub; echo a > a; {GIT} add a; {GIT} commit -qm a")));
    let undone = tree.nebula(&["at", &first, "--restore", "--yes"]);
    assert_eq!(undone.status.code(), Some(0), "{made}{added}{}", both(&undone));
    assert!(!both(&undone).contains("what was added stays"), "{}", both(&undone));
    assert_eq!(difference(&before, &tree.snapshot()), Vec::<String>::new());
}

#[test]
fn a_repository_that_a_person_worked_in_stays_whole() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    run(&tree, &[], &format!("{GIT} init -q sub; cd sub; echo a > a; {GIT} add a; {GIT} commit -qm a"));
    sh(&tree, &format!("cd sub; echo b > a; {GIT} stash -q"));
    let undone = tree.nebula(&["undo", "--yes"]);
    assert_eq!(undone.status.code(), Some(3), "{}", both(&undone));
    assert!(both(&undone).contains("the repository stays: "), "{}", both(&undone));
    sh(&tree, &format!("cd sub; {GIT} fsck --no-dangling --no-progress; {GIT} show stash@{{0}}:a | grep -qx b"));
}

#[test]
fn a_commit_is_undone_after_git_noted_other_times_of_files() {
    if !works() {
        return;
    }
    for keeper in ["guard", "scan"] {
        for folder in [".", "sub"] {
            let tree = Tree::new();
            sh(&tree, &format!("{GIT} init -q sub; cd sub; echo a > a; {GIT} add a; {GIT} commit -qm a"));
            sh(
                &tree,
                &format!(
                    "cd {folder}; git ls-files | head -n 1 > $HOME/name; git rev-parse HEAD > $HOME/head; git diff > $HOME/diff"
                ),
            );
            let head = "test \"$(cat $HOME/head)\" = \"$(git rev-parse HEAD)\"";
            let commit = format!("cd {folder}; echo new >> $(git ls-files | head -n 1); {GIT} commit -qam one");
            let ran = run(&tree, &["--keeper", keeper], &commit);
            let index = tree.root().join(folder).join(".git/index");
            let left = fs::read(&index).expect("read");
            sh(&tree, &format!("cd {folder}; touch -d 2001-01-01 $(cat $HOME/name); git status --short"));
            assert_ne!(fs::read(&index).expect("read"), left, "git noted the time");
            let undone = tree.nebula(&["undo", "--yes"]);
            assert_eq!(undone.status.code(), Some(0), "{keeper} {folder}: {}{}", both(&ran), both(&undone));
            sh(&tree, &format!("cd {folder}; {head}; git diff | cmp - $HOME/diff"));
            // Another entry is a change of someone else's.
            run(&tree, &["--keeper", keeper], &commit);
            sh(&tree, &format!("cd {folder}; echo b > b; git add b"));
            let undone = tree.nebula(&["undo", "--yes"]);
            assert_eq!(undone.status.code(), Some(3), "{keeper} {folder}: {}", both(&undone));
        }
    }
}

#[test]
fn both_keepers_name_a_pipe_that_a_command_made() {
    if !works() {
        return;
    }
    for keeper in ["guard", "scan"] {
        let tree = Tree::new();
        sh(&tree, "mkfifo old");
        let made = both(&run(&tree, &["--keeper", keeper], "mkfifo new; echo x >> README.md"));
        assert!(made.contains("not archived: new (new is a pipe"), "{keeper}: {made}");
        let undone = both(&tree.nebula(&["undo", "--yes"]));
        let named = |line: &str| line.trim_start().starts_with("new: ");
        assert!(undone.contains("not undone:") && undone.lines().any(named), "{keeper}: {undone}");
        assert!(!undone.contains("old is a pipe"), "{keeper}: {undone}");
    }
}

#[test]
fn a_scan_names_a_folder_that_can_be_rebuilt_and_is_gone() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    sh(&tree, "echo '{}' > package.json; echo node_modules >> .gitignore; mkdir -p node_modules/x; echo f > f1");
    let gone = "derived: node_modules/ removed";
    let ran = run(&tree, &["--keeper", "scan"], "rm -rf node_modules; rm f1");
    assert!(both(&ran).contains(gone), "{}", both(&ran));
    let undone = both(&tree.nebula(&["undo", "--yes"]));
    assert!(undone.contains("not undone") && undone.contains("node_modules/") && undone.contains("f1"), "{undone}");
    // Where nothing else changed too.
    sh(&tree, "mkdir -p node_modules/x");
    let ran = run(&tree, &["--keeper", "scan"], "rm -rf node_modules");
    assert!(both(&ran).contains(gone), "{}", both(&ran));
    let ran = run(&tree, &["--keeper", "scan"], "true");
    assert!(!both(&ran).contains("derived"), "{}", both(&ran));
}

#[test]
fn an_undo_of_a_scan_takes_back_a_set_id_bit() {
    use std::os::unix::fs::PermissionsExt as _;
    if !works() {
        return;
    }
    let tree = Tree::new();
    let file = tree.root().join("f1");
    let mode = || std::fs::metadata(&file).expect("there").permissions().mode() & 0o7777;
    sh(&tree, "echo f > f1; chmod 644 f1");
    for bits in ["4755", "4644"] {
        let ran = run(&tree, &["--keeper", "scan"], &format!("chmod {bits} f1"));
        assert_eq!(format!("{:o}", mode()), bits, "{}", both(&ran));
        let undone = both(&tree.nebula(&["undo", "--yes"]));
        assert_eq!(mode(), 0o644, "{undone}");
    }
}

#[test]
fn lines_of_a_file_that_git_does_not_have_are_blamed_without_it() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    run(&tree, &[], "echo mine > un");
    let blamed = tree.nebula(&["blame", "un", "--git"]);
    assert!(blamed.status.success() && text(&blamed.stdout).contains("mine"), "{}", both(&blamed));
    assert!(text(&blamed.stderr).contains("no last commit has this file"), "{}", both(&blamed));
}

#[test]
fn blame_expands_tabs_and_says_which_lines_there_are_not() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    run(&tree, &[], "printf 'all:\\n\\tmake x\\n' > rules");
    let blamed = both(&tree.nebula(&["blame", "rules", "-L", "2,9"]));
    assert!(blamed.contains("2      make x") && !blamed.contains("^I"), "{blamed}");
    for lines in ["3,9", "3"] {
        let none = tree.nebula(&["blame", "rules", "-L", lines]);
        assert!(!none.status.success() && both(&none).contains("rules has 2 lines"), "{}", both(&none));
    }
}

#[test]
fn a_link_has_no_lines_to_blame() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    run(&tree, &[], "ln -s README.md lnk");
    let blamed = tree.nebula(&["blame", "lnk"]);
    assert!(!blamed.status.success() && both(&blamed).contains("lnk is a link to README.md"), "{}", both(&blamed));
}

#[test]
fn an_hour_that_no_day_has_is_taken_for_no_session() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    run(&tree, &[], "echo x > f1");
    for time in ["25:00", "24:00", "9:75", "2026-13-45", "2026-11-21T25:00"] {
        let at = tree.nebula(&["at", time]);
        assert!(!at.status.success() && both(&at).contains(&format!("there is no time {time}")), "{}", both(&at));
    }
    let empty = tree.nebula(&["at", ""]);
    assert!(!empty.status.success() && both(&empty).contains("an empty text is no moment"), "{}", both(&empty));
}

#[test]
fn a_shell_that_is_no_bash_runs_commands() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let set = tree.nebula(&["config", "set", "shell.bash", "/bin/sh"]);
    assert!(set.status.success() && !text(&set.stderr).contains("may fail"), "{}", both(&set));
    let ran = run(&tree, &[], "echo is $((1 + 1)) > two");
    assert_eq!(std::fs::read_to_string(tree.root().join("two")).ok().as_deref(), Some("is 2\n"), "{}", both(&ran));
    let set = tree.nebula(&["config", "set", "shell.bash", "/bin/cat"]);
    assert!(set.status.success() && text(&set.stderr).contains("commands may fail"), "{}", both(&set));
}

#[test]
fn a_submodule_can_be_worked_in() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    sh(&tree, &format!("git clone -q . ../lib; {GIT} submodule --quiet add ../lib sub; {GIT} commit -qm sub"));
    let at = tree.root().join("sub");
    let nebula = |words: &[&str]| tree.command(words).current_dir(&at).output().expect("ran");
    let head = || text(&Command::new("git").args(["rev-parse", "HEAD"]).current_dir(&at).output().expect("ran").stdout);
    let before = head();
    let ran = nebula(&["run", "--", "echo more >> README.md; git commit -qam more"]);
    assert!(ran.status.success() && head() != before, "{}", both(&ran));
    let undone = nebula(&["undo", "--yes"]);
    assert_eq!(head(), before, "{}", both(&undone));
}

#[test]
fn what_others_committed_on_top_of_an_undone_push_stays_whole() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    sh(&tree, &format!("{GIT} clone -q --bare . hub.git; git remote add hub hub.git; git clone -q hub.git ../other"));
    let push = format!("echo pushed >> README.md; {GIT} commit -qam pushed; git push -q hub HEAD");
    let ran = run(&tree, &[], &push);
    assert!(ran.status.success(), "{}", both(&ran));
    sh(&tree, &format!("cd ../other; git pull -q; echo top > top; git add top; {GIT} commit -qm top; git push -q"));
    let undone = tree.nebula(&["undo", "--yes"]);
    assert!(both(&undone).contains("hub.git"), "{}", both(&undone));
    sh(&tree, "cd hub.git; git log --oneline | grep -q top; git fsck --no-dangling");
}

#[test]
fn what_a_bare_repository_runs_later_is_asked_about() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    sh(&tree, "git clone -q --bare . vendor/x.git");
    for form in ["printf x >> vendor/x.git/config", "echo x > vendor/x.git/hooks/post-receive"] {
        let judged = tree.nebula(&["rules", "check", "--approve", "all", "--json", form]);
        let judged: serde_json::Value = serde_json::from_slice(&judged.stdout).expect("JSON");
        assert_eq!(judged["decision"], "ask", "{form}: {judged}");
    }
}

#[test]
fn the_repository_is_one_line_of_a_history() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let ran = run(&tree, &[], "git commit -qam more");
    assert!(ran.status.success(), "{}", both(&ran));
    let history = text(&tree.nebula(&["history"]).stdout);
    assert!(history.contains("  .git: index, 1 ref, ") && !history.contains(".git/"), "{history}");
}

/// Takes back what is asked for, and returns how much of the session's changes is undone then: hunks, and all of them.
async fn taken_back(live: &mut Live, request: RestoreRequest) -> (usize, usize) {
    live.send(protocol::Command::Restore(request));
    live.decide(Choice::Accept).await;
    live.until(|e| matches!(e, EventBody::Proposal(ProposalEvent::Settled(..))).then_some(())).await;
    let sum = |all: &Vec<UndoneChange>| {
        all.iter().fold((0, 0), |(hunks, of), change| (hunks + change.undone.hunks, of + change.undone.of))
    };
    live.until(|e| if let EventBody::Undone(all) = e { Some(sum(all)).filter(|all| all.0 > 0) } else { None }).await
}

async fn asked(live: &mut Live, id: u64, query: Query) -> Listing {
    live.send(protocol::Command::Ask(QueryId(id), query));
    live.until(|e| match e {
        EventBody::Answer(own, listing) if own.0 == id => Some(listing.clone()),
        _ => None,
    })
    .await
}

#[tokio::test]
async fn a_commit_is_one_row_of_the_sessions_diff_and_is_undone_with_its_call() {
    if !works() {
        return;
    }
    for path in ["a.txt", ".git"] {
        let world = world().approve("all");
        let git = |arguments: &str| {
            let git = format!("{GIT} {arguments}");
            let done =
                Command::new("sh").args(["-c", &git]).current_dir(world.root()).env("HOME", world.home()).output();
            text(&done.expect("ran").stdout)
        };
        git("init -q -b main; git add -A");
        git("commit -qm one");
        let head = git("rev-parse HEAD");
        let command = json!({"command": format!("echo more >> a.txt && {GIT} commit -qam more")});
        let mut live = start(&world, vec![call("runCommand", command), say("done")]);
        live.submit("go");
        assert_eq!(live.end().await, TurnEnd::Done);
        assert_ne!(git("rev-parse HEAD"), head);
        let Listing::SessionDiff(Some(changed)) = asked(&mut live, 1, Query::SessionDiff).await else { panic!("none") };
        let paths: Vec<_> = changed.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["a.txt", ".git"]);
        let words = changed.files[1].unit.clone().unwrap_or_default();
        assert!(words.starts_with("HEAD main ") && words.contains("index"), "{words}");
        // Nor is it more in the queue.
        let Listing::Review(turns) = asked(&mut live, 2, Query::Review).await else { panic!("none") };
        let ids = vec![turns[0].entries[0].id.clone()];
        let queue = asked(&mut live, 3, Query::ReviewChange(ids, ReviewScope::Net)).await;
        let Listing::ReviewChange(queue) = queue else { panic!("{queue:?}") };
        let units: Vec<_> = queue.change.files.iter().filter_map(|file| file.unit.as_deref()).collect();
        assert!(matches!(units[..], [unit] if unit.starts_with("HEAD main ")), "{units:?}");
        // A part of it is not undone, and the call is as a whole.
        let part = Box::new(State::Absent);
        let part = RestoreRequest::State { path: ".git".into(), now: part.clone(), then: part };
        live.send(protocol::Command::Restore(part));
        let refused =
            |e: &EventBody| matches!(e, EventBody::Notice(n) if n.title.contains("restored whole")).then_some(());
        live.until(refused).await;
        let call = RestoreRequest::Origin { path: path.into(), lines: Some(0..1), turn: false };
        let (hunks, of) = taken_back(&mut live, call).await;
        assert_eq!((world.read("a.txt"), git("rev-parse HEAD")), ("one\n".to_string(), head), "{path}");
        assert_eq!((hunks, of), (2, 2), "{path}");
        let told = |e: &EventBody| matches!(e, EventBody::Notice(n) if n.title == "restored a.txt, .git");
        if !live.events.iter().any(told) {
            live.until(|e| told(e).then_some(())).await;
        }
        live.close().await;
    }
}

#[tokio::test]
async fn a_folder_that_came_back_is_undone_as_a_whole() {
    if !works() {
        return;
    }
    for turn in [false, true] {
        let world = world().file("docs/a.md", "a\n").file("docs/b.md", "b\n").approve("all");
        let steps = vec![call("runCommand", json!({"command": "rm -rf docs"})), say("done")];
        let mut live = start(&world, steps);
        live.submit("go");
        assert_eq!(live.end().await, TurnEnd::Done);
        assert!(!world.has("docs"));
        let request = match turn {
            false => RestoreRequest::Undo { count: 1, files: Vec::new() },
            true => RestoreRequest::Origin { path: "docs/a.md".into(), lines: None, turn },
        };
        let (hunks, of) = taken_back(&mut live, request).await;
        assert_eq!((world.read("docs/a.md").as_str(), hunks, of), ("a\n", 3, 3));
        live.close().await;
    }
}

/// As `python3 -m venv` makes them, where git ignores caches.
#[test]
fn a_folder_that_a_command_made_goes_with_the_caches_in_it() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    sh(&tree, "git init -q; printf '__pycache__/\\n.venv/\\n' > .gitignore; mkdir lib");
    let before = tree.snapshot();
    let text = "mkdir -p .venv/lib/pip/__pycache__ .venv/bin lib/__pycache__; for f in .venv/lib/pip/m.py \
                .venv/lib/pip/__pycache__/m.pyc .venv/bin/python lib/__pycache__/a.pyc; do echo x > $f; done; \
                echo home > .venv/pyvenv.cfg";
    let ran = run(&tree, &[], text);
    // What lies beside older files is what it was: derived.
    let said = both(&ran);
    assert!(said.contains("derived: lib/__pycache__/ (1 change") && !said.contains("derived: .venv"), "{said}");
    let undone = both(&tree.nebula(&["undo", "--yes"]));
    sh(&tree, "rm -r lib/__pycache__");
    assert_eq!(difference(&before, &tree.snapshot()), Vec::<String>::new(), "{undone}");
    let redone = both(&tree.nebula(&["redo", "--yes"]));
    assert!(tree.root().join(".venv/lib/pip/__pycache__/m.pyc").is_file(), "{redone}");
}

#[test]
fn an_undo_tells_where_the_newest_command_archived_nothing() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    sh(&tree, "git init -q; echo '__pycache__/' > .gitignore; mkdir __pycache__; echo x > __pycache__/a");
    run(&tree, &[], "echo changed > README.md");
    let says = "the newest command (rm -r __pycache__) archived nothing: this is about the change before it";
    let first = both(&tree.nebula(&["undo", "--dry-run"]));
    assert!(!first.contains("archived nothing"), "{first}");
    run(&tree, &[], "rm -r __pycache__");
    let second = both(&tree.nebula(&["undo", "--yes"]));
    assert!(second.contains(says), "{second}");
    let third = both(&tree.nebula(&["undo", "--dry-run"]));
    assert!(!third.contains("archived nothing"), "{third}");
}
