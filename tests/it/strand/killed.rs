//! The real command, killed with no warning: what it said it accepted is there, and nothing is torn.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nebula::strand::id::OpId;
use nebula::strand::store::Store;

use super::converge::Chance;

/// One op after the other, and now and then a push to a second store; each line of output is an op that was accepted.
const SCRIPT: &str = r#"
    n=0
    while [ $n -lt 8 ]; do
        "$STRAND" --quiet add slot "s$ROUND"x"$n" 'Int = 1' || exit 1
        "$STRAND" --quiet edit slot.first "{\"init\": \"set 1$ROUND$n\"}" || exit 1
        [ $n != 4 ] || "$STRAND" --quiet --json op push >&2 || exit 1
        n=$((n + 1))
    done
"#;

/// `STRAND_KILLS` sets how many times the command is killed.
#[test]
fn killed_at_any_moment_nothing_accepted_is_lost() {
    let rounds: u64 = std::env::var("STRAND_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(4);
    let dir = tempfile::tempdir().unwrap();
    let master = Store::init(&dir.path().join("master")).unwrap();
    let root = dir.path().join("work");
    drop(master.snapshot(&root).unwrap());
    let strand = env!("CARGO_BIN_EXE_strand");
    let first = Command::new(strand).arg("--store").arg(&root).args(["add", "slot", "first", "Int = 0"]).output();
    assert!(first.unwrap().status.success());
    let mut accepted: BTreeSet<OpId> = BTreeSet::new();
    let (mut killed, mut whole) = (0, Duration::from_millis(400));
    for round in 0..rounds {
        let start = Instant::now();
        let out = std::fs::File::create(dir.path().join("out")).unwrap();
        // In a group of its own, so that the shell and the command it runs end at the same moment.
        use std::os::unix::process::CommandExt;
        let mut child = Command::new("sh")
            .args(["-c", SCRIPT])
            .env("STRAND", strand)
            .env("STRAND_STORE", &root)
            .env("ROUND", round.to_string())
            .stdout(out)
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        // The first round goes to its end and says how long one takes.
        if round > 0 {
            let moment = whole.mul_f64(Chance(round).below(1000) as f64 / 1000.0);
            while start.elapsed() < moment && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_micros(200));
            }
            let group = rustix::process::Pid::from_child(&child);
            killed += usize::from(rustix::process::kill_process_group(group, rustix::process::Signal::KILL).is_ok());
        }
        let status = child.wait().unwrap();
        if round == 0 {
            assert!(status.success());
            whole = start.elapsed();
        }
        let printed = std::fs::read_to_string(dir.path().join("out")).unwrap();
        accepted.extend(printed.lines().filter_map(OpId::parse));
        for root in [&root, &dir.path().join("master")] {
            let lazy = Store::open(root).unwrap();
            let from_log = Store::open_from_log(root).unwrap();
            assert_eq!(lazy.state().state_hash(), from_log.state().state_hash());
            lazy.sound().unwrap();
        }
        let graph = Store::open_from_log(&root).unwrap();
        let lost = accepted.iter().find(|id| !graph.state().graph().has(**id));
        assert_eq!(lost, None, "round {round}");
    }
    println!("{killed} of {rounds} rounds killed, {} ops accepted", accepted.len());
}
