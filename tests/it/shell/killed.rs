//! Kills nebula, the helper of a command, its shell, any process of it, or several of them, at random moments while a
//! command destroys a project: afterwards one undo brings all of it back.
//!
//! A short run stands in the suite. `NEBULA_KILLS=1000 cargo test --test it shell::killed -- --ignored` runs as many rounds
//! as it says; `NEBULA_KILL_SEED` gives other scripts and moments.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::tree::{Tree, difference, text, works};

/// The steps of scripts.
const STEPS: &[&str] = &[
    "rm -rf src",
    "rm -f README.md large.bin",
    "printf more >> README.md",
    "mv docs moved",
    "chmod 600 run.sh; chmod 700 docs",
    "sed -i s/pub/pub\\(crate\\)/ src/lib.rs",
    "printf short > large.bin",
    "mkdir -p made/deep && printf new > made/deep/file",
    "rm -rf .git",
    "git commit -qam second",
    "git reset -q --hard",
    "git clean -fdxq",
    "ln -sf elsewhere link",
    "rm untracked.txt; mkdir untracked.txt",
    "cp -r src copy",
    "truncate -s 3 notes.log",
];

/// The longest that a command is left alone.
const SPAN: u64 = 250;

pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % end.max(1)
    }
}

pub fn start(tree: &Tree, arguments: &[&str]) -> Child {
    let mut command = tree.command(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started")
}

/// The processes whose parent is this one.
fn children(parent: Pid) -> Vec<Pid> {
    let threads = fs::read_dir(format!("/proc/{}/task", parent.as_raw_nonzero())).into_iter().flatten().flatten();
    let all: Vec<String> = threads.map(|t| fs::read_to_string(t.path().join("children")).unwrap_or_default()).collect();
    all.iter().flat_map(|all| all.split_whitespace()).filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

/// The processes below this one, by generations: the helper, the shell, and what that runs.
fn below(parent: Pid) -> Vec<Vec<Pid>> {
    let mut all = vec![children(parent)];
    while all.last().is_some_and(|last| !last.is_empty()) && all.len() < 10 {
        let next = all[all.len() - 1].iter().flat_map(|parent| children(*parent)).collect();
        all.push(next);
    }
    all
}

/// Returns whether a process runs in a folder or below it.
fn is_used(folder: &Path) -> bool {
    let of = |entry: fs::DirEntry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
    fs::read_dir("/proc").expect("proc").flatten().any(of)
}

/// What lies in a folder, but for what a kill left half made or half removed.
fn named(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|e| !e.file_name().to_string_lossy().starts_with(".nebula-tmp-")).map(|e| e.path()).collect()
}

/// The changesets of a workspace, oldest first, and what was said of those that were cut off.
fn changesets(tree: &Tree) -> (Vec<String>, String) {
    // The first command in a workspace takes up what was cut off, once nothing of it runs.
    let said = tree.nebula(&["timeline", "--json"]);
    let all: serde_json::Value = serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"));
    let id = |moment: &serde_json::Value| moment["changeset"].as_str().expect("an id").to_string();
    let said = text(&said.stderr);
    let staged = named(&tree.root().join(".shaft/commands"));
    assert!(staged.is_empty(), "not taken up: {staged:?}\n{said}");
    (all.as_array().expect("a list").iter().map(id).collect(), said)
}

fn round(tree: &Tree, random: &mut Random) -> String {
    let script: Vec<&str> = (0..1 + random.below(6)).map(|_| STEPS[random.below(STEPS.len())]).collect();
    let script = script.join("; ");
    let (before, (had, _)) = (tree.snapshot(), changesets(tree));
    let told = kill(tree, &["run", "--", &script], random);
    let (all, mut said) = changesets(tree);
    let new = &all[had.len()..];
    assert!(new.len() <= 1, "nobody else changed anything: {told}\n{new:?}\n{said}");
    if !new.is_empty() {
        let undo = tree.nebula(&["undo", "--yes"]);
        said += &(text(&undo.stdout) + &text(&undo.stderr));
        assert!(undo.status.success(), "{told}\n{said}");
    }
    let left = difference(&before, &tree.snapshot());
    assert!(left.is_empty(), "{told}\n{new:?}\n{said}\n{left:?}");
    told
}

/// Runs the program and kills it, its helper, the shell, any process of these or all at a random moment. Returns what was done, in words.
fn kill(tree: &Tree, arguments: &[&str], random: &mut Random) -> String {
    let mut child = start(tree, arguments);
    let due = Duration::from_millis(random.below(SPAN as usize) as u64);
    let begun = Instant::now();
    while begun.elapsed() < due && child.try_wait().expect("looked").is_none() {
        std::thread::yield_now();
    }
    let victims = random.below(6);
    let nebula = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
    let generations = below(nebula);
    let all = generations.concat();
    let chosen = match victims {
        0 => vec![nebula],
        1 => generations[0].clone(),
        2 => [vec![nebula], generations[0].clone()].concat(),
        3 => generations.get(1).cloned().unwrap_or_default(),
        4 => all.get(random.below(all.len())).copied().into_iter().collect(),
        _ => [vec![nebula], all].concat(),
    };
    for victim in chosen {
        // It may be gone by now.
        let _ = kill_process(victim, Signal::KILL);
    }
    child.wait().expect("it ends");
    let until = Instant::now() + Duration::from_secs(30);
    let root = tree.root().canonicalize().expect("real");
    let told = format!("after {due:?}, victims {victims}: {arguments:?}");
    while is_used(&root) {
        assert!(Instant::now() < until, "a process is left: {told}");
        std::thread::yield_now();
    }
    told
}

fn campaign(rounds: usize, seed: u64) {
    if !works() {
        return;
    }
    let (mut tree, mut random) = (Tree::new(), Random(seed));
    for n in 0..rounds {
        // Archives do not grow without end.
        if n % 50 == 49 {
            tree = Tree::new();
        }
        let told = round(&tree, &mut random);
        let check = tree.nebula(&["history", "--check"]);
        assert!(check.status.success(), "round {n}, {told}\n{}{}", text(&check.stdout), text(&check.stderr));
    }
}

pub fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn a_command_that_is_killed_anywhere_is_undone_whole() {
    campaign(8, number("NEBULA_KILL_SEED", 11));
}

#[test]
#[ignore = "on demand: NEBULA_KILLS rounds"]
fn commands_that_are_killed_many_times_are_undone_whole() {
    campaign(number("NEBULA_KILLS", 1_000) as usize, number("NEBULA_KILL_SEED", 12));
}

/// An undo and a redo that are killed once they have written something: the next one starts from where they began.
#[test]
fn a_restore_that_is_killed_half_way_is_taken_back_by_the_next_one() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let root = tree.root();
    fs::create_dir(root.join("many")).expect("made");
    (100..400).for_each(|n| fs::write(root.join(format!("many/{n}")), format!("{n}\n")).expect("written"));
    fs::create_dir(root.join("closed")).expect("made");
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o700)).expect("set");
    let before = tree.snapshot();
    let script = "for f in many/[23]*; do echo x >> $f; done; rm many/1*; mkdir -p new/in; echo 1 > new/in/a; \
        chmod 755 closed; chmod 600 README.md; git checkout -qb other";
    assert!(tree.nebula(&["run", "--", script]).status.success());
    let after = tree.snapshot();
    for (verb, to, seen) in [("undo", &before, "many/150"), ("redo", &after, "new/in/a")] {
        let mut child = start(&tree, &[verb, "--yes"]);
        while child.try_wait().expect("looked").is_none() && !root.join(seen).exists() {
            std::thread::yield_now();
        }
        child.kill().expect("killed");
        child.wait().expect("over");
        if difference(to, &tree.snapshot()).is_empty() {
            continue;
        }
        let done = tree.nebula(&[verb, "--yes"]);
        let said = text(&done.stdout) + &text(&done.stderr);
        assert!(done.status.success() && !said.contains("outside nebula"), "{verb}: {said}");
        assert_eq!(difference(to, &tree.snapshot()), Vec::<String>::new(), "{verb}: {said}");
    }
    assert!(tree.nebula(&["history", "--check"]).status.success());
}

/// The keeper that a first command finds is tried, and what is killed meanwhile is no finding.
#[test]
fn a_trial_whose_processes_are_killed_is_made_again() {
    if !works() {
        return;
    }
    let mut random = Random(number("NEBULA_KILL_SEED", 14));
    for _ in 0..number("NEBULA_KILLS", 4) {
        let tree = Tree::new();
        let mut child = start(&tree, &["run", "--", "true"]);
        let nebula = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
        let mut wanted = 1 + random.below(3);
        while wanted > 0 && child.try_wait().expect("looked").is_none() {
            for stage in children(nebula).into_iter().flat_map(children) {
                // It may be gone by now.
                wanted = wanted.saturating_sub(usize::from(kill_process(stage, Signal::KILL).is_ok()));
            }
        }
        child.wait().expect("it ends");
        let ran = tree.nebula(&["run", "--", "echo more >> README.md"]);
        assert!(ran.status.success(), "{ran:?}");
        let listed = text(&tree.nebula(&["commands", "--json"]).stdout);
        let keeper = |listed: &str| listed.matches("\"keeper\":\"guard\"").count();
        assert!(keeper(&listed) > 0 && !listed.contains("\"scan\""), "{listed}");
    }
}

#[test]
fn a_preview_that_is_killed_anywhere_changes_nothing() {
    if !works() {
        return;
    }
    let (tree, mut random) = (Tree::new(), Random(number("NEBULA_KILL_SEED", 13)));
    let before = tree.snapshot();
    for _ in 0..number("NEBULA_KILLS", 4) {
        let told = kill(&tree, &["run", "--preview", "--", &STEPS.join("; ")], &mut random);
        assert_eq!(changesets(&tree).0, [""; 0], "{told}");
        let left = difference(&before, &tree.snapshot());
        assert!(left.is_empty(), "{told}\n{left:?}");
        assert!(tree.nebula(&["run", "--", "true"]).status.success(), "{told}");
        let views = named(&tree.root().join(".shaft/views"));
        assert!(views.is_empty(), "{told}\n{views:?}");
    }
}
