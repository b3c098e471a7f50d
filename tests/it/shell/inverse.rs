//! Undo is inverse: random scripts of random steps, some of them at once, run on a project; an undo gives the state
//! before, a redo the state after.
//!
//! A short run stands in the suite. `NEBULA_CASES=1000 cargo test --test it shell::inverse -- --ignored` runs as many
//! cases as it says; `NEBULA_CASE_SEED` gives other scripts.

use super::killed::{Random, number};
use super::tree::{Tree, difference, has_python, text, works};

const STEPS: &[&str] = &[
    "printf new > made.txt",
    "printf over > README.md",
    "printf more >> src/lib.rs",
    "printf twin >> src/twin.rs",
    ": > binary.bin",
    "truncate -s 3 notes.log",
    "truncate -s 400000 large.bin",
    "truncate -s 9000000 holes",
    "dd if=/dev/zero of=large.bin bs=4096 seek=3 count=1 conv=notrunc status=none",
    "printf x | dd of=README.md bs=1 seek=5 conv=notrunc status=none",
    "tee docs/tee.md < README.md > /dev/null",
    "cp README.md copy.md",
    "cp -r src copies",
    "cp --reflink=auto large.bin second.bin",
    "cp -f empty.txt run.sh",
    "mv README.md docs/README.md",
    "mv docs moved",
    "mv src/deep src/deeper",
    "mv src/main.rs src/lib.rs",
    "mv -T docs empty",
    "mkdir -p made/deep && printf deep > made/deep/file",
    "mkdir untracked.txt",
    "rmdir empty",
    "rm -rf src",
    "rm -f large.bin README.md",
    "rm untracked.txt; mkdir untracked.txt; printf in > untracked.txt/in",
    "find . -name '*.rs' -not -path './target/*' -delete",
    "ln README.md hard.md && printf by-its-other-name >> hard.md",
    "ln -f .env src/twin.rs",
    "ln -s src way && printf through > way/through",
    "ln -sfn docs link",
    "rm -r docs && ln -s /usr/share docs",
    "rm link; printf a-file > link",
    "chmod 600 run.sh",
    "chmod 700 docs",
    "chmod -R a-w src",
    "sed -i s/pub/pub\\(crate\\)/ src/lib.rs",
    "perl -pi -e s/Text/Words/ README.md",
    "tar cf all.tar src && rm -rf src && tar xf all.tar",
    "git add -A && git commit -qm second",
    "git stash -qu",
    "git reset -q --hard",
    "git checkout -q -b other && git rm -q README.md",
    "git clean -fdxq",
    "rm -rf .git",
    "python3 -c 'import mmap; f = open(\"README.md\", \"r+b\"); m = mmap.mmap(f.fileno(), 0); m[0:1] = b\"!\"; m.flush()'",
    "python3 -c 'import os; f = os.open(\".\", os.O_TMPFILE | os.O_RDWR); os.write(f, b\"named late\"); os.link(f\"/proc/self/fd/{f}\", \"late\", follow_symlinks=True)'",
    "python3 -c 'import ctypes; ctypes.CDLL(None).renameat2(-100, b\"README.md\", -100, b\"large.bin\", 2)'",
    "python3 -c 'import ctypes; ctypes.CDLL(None).renameat2(-100, b\"docs\", -100, b\"run.sh\", 2)'",
    "python3 -c 'import os; a = os.open(\"large.bin\", 0); b = os.open(\"README.md\", 1); os.copy_file_range(a, b, 5000)'",
    "python3 -c 'import os; os.truncate(\"src/lib.rs\", 2); os.rename(\"src/lib.rs\", \"src/renamed.rs\")'",
];

/// Returns a script: one to eight lists of steps, which run at once.
fn script(random: &mut Random) -> String {
    let list = |random: &mut Random| {
        let steps: Vec<&str> = (0..1 + random.below(5)).map(|_| STEPS[random.below(STEPS.len())]).collect();
        format!("({})", steps.join("; "))
    };
    let many = if random.below(3) == 0 { 1 + random.below(8) } else { 1 };
    let lists: Vec<String> = (0..many).map(|_| list(random)).collect();
    format!("{} & wait", lists.join(" & "))
}

fn cases(count: usize, seed: u64) {
    if !works() || !has_python() {
        return;
    }
    let mut random = Random(seed);
    for n in 0..count {
        let (tree, script) = (Tree::new(), script(&mut random));
        let before = tree.snapshot();
        let ran = tree.nebula(&["run", "--", &script]);
        let after = tree.snapshot();
        if difference(&before, &after).is_empty() {
            continue;
        }
        let mut said = text(&ran.stderr);
        for (word, wanted) in [("undo", &before), ("redo", &after)] {
            let restored = tree.nebula(&[word, "--yes"]);
            said += &(text(&restored.stdout) + &text(&restored.stderr));
            let left = difference(wanted, &tree.snapshot());
            assert!(restored.status.success() && left.is_empty(), "case {n}, {word}: {script}\n{said}\n{left:?}");
        }
    }
}

#[test]
fn an_undo_gives_the_state_before_and_a_redo_that_after() {
    cases(6, number("NEBULA_CASE_SEED", 1));
}

#[test]
fn a_path_that_racing_commands_make_a_folder_and_a_file_comes_back_as_what_it_was() {
    if !works() {
        return;
    }
    let makes = "mkdir untracked.txt; mkdir untracked.txt; mkdir untracked.txt; rmdir untracked.txt";
    let replaces = "rm untracked.txt; mkdir untracked.txt; printf in > untracked.txt/in; rm -r untracked.txt";
    let writes = "rm -rf untracked.txt; mkdir untracked.txt; rmdir untracked.txt; printf x > untracked.txt";
    for n in 0..8 {
        let tree = Tree::new();
        let before = tree.snapshot();
        tree.nebula(&[
            "run",
            "--",
            &format!("({makes}) & ({replaces}) & ({writes}) & ({makes}; printf y > empty) & wait"),
        ]);
        let undo = tree.nebula(&["undo", "--yes"]);
        let left = difference(&before, &tree.snapshot());
        assert!(left.is_empty(), "{n}: {}{}\n{left:?}", text(&undo.stdout), text(&undo.stderr));
    }
}

#[test]
#[ignore = "on demand: NEBULA_CASES cases"]
fn many_undos_give_the_state_before_and_redos_that_after() {
    cases(number("NEBULA_CASES", 1_000) as usize, number("NEBULA_CASE_SEED", 2));
}
