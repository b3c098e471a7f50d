//! The chapter that Strand comes from, read aloud: every command of it typed at the real programs in order, and its
//! repair loop run as a script.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use regex::Regex;

/// A folder with a store, and one with the programs under the names a person types.
struct Shell {
    folder: tempfile::TempDir,
    programs: tempfile::TempDir,
}

impl Shell {
    fn new() -> Shell {
        let shell = Shell { folder: tempfile::tempdir().unwrap(), programs: tempfile::tempdir().unwrap() };
        for (name, program) in [("strand", env!("CARGO_BIN_EXE_strand")), ("nebula", env!("CARGO_BIN_EXE_nebula"))] {
            std::os::unix::fs::symlink(program, shell.programs.path().join(name)).unwrap();
        }
        shell
    }

    /// A program of its own, for scripts that need one.
    fn program(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        let path = self.programs.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn command(&self, script: &str) -> Command {
        let mut command = Command::new("bash");
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.programs.path().display());
        command.args(["-c", script]).env_clear().env("PATH", path).env("USER", "aki").env("HOME", self.folder.path());
        command.current_dir(self.folder.path());
        command
    }

    fn run(&self, script: &str) -> Output {
        self.command(script).output().unwrap()
    }

    /// Returns what a person sees who types these lines, with what differs from time to time made equal.
    fn transcript(&self, lines: &str) -> String {
        let mut out = String::new();
        for line in lines.lines().filter(|line| !line.trim().is_empty()) {
            out.push_str(&format!("{line}\n"));
            if line.starts_with('#') {
                continue;
            }
            // Messages come after results, whichever was written first.
            let output = self.run(line);
            out.push_str(&String::from_utf8_lossy(&output.stdout));
            out.push_str(&String::from_utf8_lossy(&output.stderr));
            if output.status.code() != Some(0) {
                out.push_str(&format!("[exit {}]\n", output.status.code().unwrap_or(-1)));
            }
        }
        plain(&out, self.folder.path())
    }
}

fn plain(text: &str, folder: &Path) -> String {
    let mut text = text.replace(&folder.canonicalize().unwrap().display().to_string(), "FOLDER");
    for (pattern, by) in [
        (r"\b(op|cf|ep|st|bnd)_[0-9A-HJKMNP-TV-Z]{26}", "${1}_.."),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME"),
        (r#""(ts|at|since)":\d+"#, r#""$1":MS"#),
        (r"\b[0-9a-f]{64}\b", "HASH"),
        (r"/dev/fd/\d+", "/dev/fd/N"),
    ] {
        text = Regex::new(pattern).unwrap().replace_all(&text, by).into_owned();
    }
    text
}

const CHAPTER: &str = r##"
# 9.3.2: what the examples are about
strand init
strand add type TodoId 'nominal Int'
strand add type Todo '{ id: TodoId, title: Text, done: Bool }'
strand add slot todos 'Map(TodoId, Todo) = {}'
strand add slot draft 'Text = ""'
strand add slot users 'List(Text) = []'
strand add tile NewForm 'input(bind=draft, label="New todo", event=submit)'
strand add reducer add 'on=NewForm.submit do= todos := put(todos, TodoId(1), Todo(id=TodoId(1), title=draft, done=false)); draft := ""'
# 9.2.1: reading
strand view slot.todos
strand view 'slot.*'
strand view --with-deps reducer.add
strand view --hash slot.todos
strand view --history slot.todos
strand view --refs slot.todos
strand list slot
strand list
# 9.2.2: writing
strand add slot page 'Int = 1'
strand replace slot.page 'Int = 2'
strand edit reducer.add '{"body:2": "set draft := trim(draft)"}'
strand view reducer.add
strand rename slot.page pages
strand remove slot.pages
strand patch revert $(strand op log | tail -1 | cut -d' ' -f1)
strand view slot.pages
strand remove slot.pages
# 9.3.2: the wire format; the type of the field is found by its name, as the example has no identities
echo '{"op":"add","layer":"slot","name":"archive","body":"Map(TodoId, Todo) = {}","author":"agent:claude-1","ts":1779884546123,"op-id":"op_01JC0000000000000000000000","parent-ops":["op_01JB0000000000000000000000"],"depends-on":["type:TodoId@h:9ab3","type:Todo@h:7cde"]}' > late.json
echo '{"op":"add","layer":"slot","name":"first","body":"Int = 1","author":"agent:claude-1","ts":1779884546000,"op-id":"op_01JB0000000000000000000000","parent-ops":[],"depends-on":[]}' > early.json
strand patch apply late.json
strand op pending
strand op apply early.json
strand patch apply late.json
strand view slot.archive
# 9.2.3: checking
strand check
strand add tile TodoRow 'row { text(value=text(len(usres))); input(bind=draft) }'
strand check
strand check --types
strand check --refs
strand check --effects
strand check --a11y
strand check --json
# 9.2.4: fixing
strand fix --auto-patch E0103
strand fix --auto-patch E0103@tile.TodoRow.body:2
strand fix --interactive < /dev/null
strand fix --apply
strand check
# 9.4.1: refused at issue
strand add tile Compose 'column { text(value="a"); text(value="b"); input(bind=draft, label="c") }'
strand add tile SearchBox 'input(bind=draft, label="Search")'
strand remove tile.TodoRow
strand replace reducer.add 'on=NewForm.submit do='
strand add slot sent 'Int = 0'
strand add reducer submitNew 'do= sent := sent + 1; draft := ""'
strand add reducer clearDraft 'do= draft := ""'
strand remove slot.draft
strand remove slot.draft --cascade --dry-run
strand remove slot.draft --force
strand check --refs
strand fix --apply E0501
strand check
strand remove slot.draft --cascade
strand list
# 9.4.2 and 9.8: two agents, the master's policy strict, heal, and warn
strand config conflict-policy
strand config conflict-policy lenient
for p in strict heal warn; do strand init $p.strand; export STRAND_STORE=$p.strand; strand config conflict-policy $p; strand add slot draft 'Text = "x"'; strand snapshot $p-a; strand snapshot $p-b; strand --store $p-a remove slot.draft; strand --store $p-b add tile NewForm 'input(bind=draft, label="New")'; done
strand --store strict-a op push; strand --store strict-b op push
strand --store strict-b op pull
strand --store strict-b conflicts
strand --store strict.strand list
strand --store heal-a op push; strand --store heal-b op push
strand --store heal.strand view '*'; strand --store heal.strand check; strand --store heal.strand conflicts
strand --store warn-a op push; strand --store warn-b op push
strand --store warn.strand view '*'; strand --store warn.strand check; strand --store warn.strand conflicts
# 9.8.3: ownership
strand --store project.strand lock agent-1 'slot.todos*,reducer.todo-*'
strand --store project.strand locks
strand --store project.strand --author agent:agent-2 replace slot.todos 'Map(TodoId, Todo) = {}'
strand --store project.strand --author agent:agent-2 add reducer todo-clear 'do='
strand --store project.strand --author agent:agent-1 add reducer todo-clear 'do= todos := {}'
strand --store project.strand lock agent-2 'slot.t*'
strand --store project.strand unlock agent-1
# 9.5: a rename changes no hash and breaks no reference
strand --store project.strand view --hash 'slot.*' > before; strand --store project.strand rename type.Todo Task; strand --store project.strand view --hash 'slot.*' | diff before - && echo equal
strand --store project.strand view slot.todos
# 9.9: episodes
strand --store project.strand run reducer.todo-clear
strand --store project.strand episodes
strand --store project.strand replay latest
# 9.10: files
strand --store project.strand sync
cd project.strand && find . -path ./.strand -prune -o -name '*.strand' -print | sort
echo 'slot sent = Int=5' > project.strand/slots/sent.strand; strand --store project.strand sync; strand --store project.strand view slot.sent; cat project.strand/slots/sent.strand
echo 'slot sent = Int = ' > project.strand/slots/sent.strand; strand --store project.strand sync
strand --store project.strand view slot.sent
"##;

#[test]
fn every_command_of_the_chapter_does_what_it_says() {
    let transcript = Shell::new().transcript(CHAPTER);
    insta::assert_snapshot!("chapter", transcript);
    // The same program under its other name.
    let nested = Regex::new(r"(^|[;(\s])strand ").unwrap().replace_all(CHAPTER, "${1}nebula strand ").into_owned();
    let nested = Shell::new().transcript(&nested).replace("nebula strand ", "strand ");
    assert_eq!(nested, transcript.replace("nebula strand ", "strand "));
}

/// As the chapter has it, but for its two slips: lines are split at newlines, and a key with a hyphen is quoted.
const LOOP: &str = r#"
IFS=$'\n'
while true; do
errors=$(strand check --json)
if [ -z "$errors" ]; then break; fi
for err in $errors; do
if has_auto_patch "$err"; then
strand patch apply <(echo "$err" | jq '.["auto-patch"]')
else
# the rest is for a model to fix
echo "$err" | ai-fix
fi
done
done
"#;

/// The one filter that the loop asks of `jq`, for machines without it. The keys of a fault stand in a fixed order.
const JQ: &str = r#"#!/bin/bash
[ "$1" = '.["auto-patch"]' ] || { echo "jq: $1" >&2; exit 3; }
read -r line
rest=${line#*\"auto-patch\":}
echo "${rest%,\"severity\":*}"
"#;

/// A program that knows more than the checker: it answers the one fault here that has no patch.
const AI_FIX: &str = r#"#!/bin/bash
read -r line
case $line in
*E0202*slot.age*) strand replace slot.age 'Age = 1' ;;
*) echo "cannot fix $line" >&2; exit 1 ;;
esac
"#;

#[test]
fn the_chapters_repair_loop_ends_clean() {
    let shell = Shell::new();
    shell.program("jq", JQ);
    shell.program("ai-fix", AI_FIX);
    shell.program("has_auto_patch", "#!/bin/bash\n[ \"$(echo \"$1\" | jq '.[\"auto-patch\"]')\" != null ]\n");
    for line in [
        "strand init",
        "strand add slot users 'List(Text) = []'",
        "strand add slot n 'Int = 1'",
        "strand add type Id 'nominal Int'",
        "strand add type Age 'Int where it >= 0'",
        "strand add type Kind '| A | B'",
        "strand add slot age 'Age = -1'",
        "strand add fn f '(i: Id) -> Int = raw(i)'",
        "strand add fn g '(k: Kind) -> Int = match k { A -> 1 }'",
        "strand add tile A 'row { text(value=text(len(usres))); text(value=text(f(n))); text(value=usres) }'",
        "strand add effect send '() -> Text needs=[] do=http.get(\"/\")'",
        "strand add reducer r 'on=A.go do= n := 2; emit snd(); send()'",
        "strand edit tile.A '{\"body:1\": \"insert-child button(label=\\\"Go\\\", event=goo)\"}'",
        "strand edit tile.A '{\"body:4\": \"set text(value=text(len(users) + len(usres)))\"}'",
    ] {
        let output = shell.run(line);
        assert!(output.status.success(), "{line}: {output:?}");
    }
    let broken = String::from_utf8(shell.run("strand check --json").stdout).unwrap();
    assert_eq!(broken.lines().count(), 9, "{broken}");
    let mut child = shell.command(LOOP).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("bash is there");
    let (done, ended) = channel();
    let mut pipes = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    std::thread::spawn(move || {
        let mut text = String::new();
        use std::io::Read;
        let read = pipes.0.read_to_string(&mut text).and_then(|_| pipes.1.read_to_string(&mut text));
        done.send(read.map(|_| text))
    });
    let Ok(text) = ended.recv_timeout(Duration::from_secs(120)) else {
        child.kill().unwrap();
        panic!("the loop does not end");
    };
    let text = text.unwrap();
    assert!(child.wait().unwrap().success(), "{text}");
    assert!(!text.contains("cannot fix"), "{text}");
    assert_eq!(String::from_utf8(shell.run("strand check").stdout).unwrap(), "0 errors, 0 warnings\n");
}

/// The lines of a help that are commands to type, without what is said beside them.
fn typed(help: &str) -> Vec<String> {
    let lines = help.lines().filter(|line| line.starts_with("  strand "));
    lines.map(|line| line.trim().split("   ").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_newcomer_can_type_what_the_help_shows() {
    let shell = Shell::new();
    let pipes = |line: &str| {
        let output = shell.run(line);
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let first: Vec<String> = typed(&pipes("strand --help"));
    assert_eq!(first.len(), 6, "{first:?}");
    let answers: Vec<String> = first.iter().map(|line| pipes(line)).collect();
    assert!(
        answers[2].contains("help: did you mean 'count'?") && answers[3].contains("1 error, 0 warnings"),
        "{answers:?}"
    );
    assert!(answers[4].starts_with("op_") && answers[4].ends_with("\nfixed 1, left 0\n"), "{answers:?}");
    assert!(answers[5].contains("text(value=text(count))"), "{answers:?}");
    // In a store of its own, one definition of each layer, and they run.
    pipes("strand init second.strand");
    let each = typed(&pipes("strand add --help"));
    let layers: Vec<&str> = each.iter().filter_map(|line| line.split(' ').nth(2)).collect();
    assert_eq!(layers, ["type", "slot", "effect", "fn", "tile", "reducer"]);
    for line in each {
        let pipes = pipes(&line.replacen("strand ", "strand --store second.strand ", 1));
        assert!(pipes.starts_with("op_") && pipes.lines().count() == 1, "{line}: {pipes}");
    }
    assert_eq!(pipes("strand --store second.strand check"), "0 errors, 0 warnings\n");
    assert!(pipes("strand --store second.strand run Counter.inc").contains("slot.count 0 -> 1"));
}
