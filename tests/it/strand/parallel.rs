//! Many processes on one master.

use std::collections::BTreeSet;
use std::process::Command;

use nebula::strand::id::QName;
use nebula::strand::issue::{Draft, Issuer};
use nebula::strand::store::{Store, pull};

/// `STRAND_OPS` sets how many ops there are in all.
#[test]
fn eight_processes_push_and_nothing_is_lost() {
    let total: usize = std::env::var("STRAND_OPS").ok().and_then(|ops| ops.parse().ok()).unwrap_or(240);
    let dir = tempfile::tempdir().unwrap();
    let mut master = Store::init(&dir.path().join("master")).unwrap();
    let slot = |name: &str, body: &str| Draft::Add {
        qname: QName::parse(name).unwrap(),
        body: body.into(),
        doc: None,
        def: None,
    };
    master.issue(&[slot("slot.shared", "Int = 0")], &Issuer::new("user:me"), false).unwrap();
    let mut wanted: BTreeSet<_> = master.ops().iter().map(|op| op.id).collect();
    for agent in 0..8 {
        let mut store = master.snapshot(&dir.path().join(format!("a{agent}"))).unwrap();
        let issuer = Issuer::new(format!("agent:a{agent}"));
        let drafts: Vec<Draft> = (0..total / 8)
            .map(|n| match n % 5 {
                0 => Draft::Replace {
                    qname: QName::parse("slot.shared").unwrap(),
                    body: format!("Int = {agent}{n}"),
                    doc: None,
                },
                // The same names from everyone: added twice, on purpose.
                1 => slot(&format!("slot.common{n}"), &format!("Int = {agent}")),
                _ => slot(&format!("slot.own{agent}x{n}"), "Int = 1"),
            })
            .collect();
        for draft in drafts {
            let written = store.issue(&[draft], &issuer, false).unwrap();
            wanted.extend(written.ops.iter().map(|op| op.id));
        }
    }
    let pushes: Vec<_> = (0..8)
        .map(|agent| {
            let store = dir.path().join(format!("a{agent}"));
            Command::new(env!("CARGO_BIN_EXE_strand"))
                .arg("--store")
                .arg(store)
                .args(["--quiet", "--lock-timeout", "300", "op", "push"])
                .spawn()
                .unwrap()
        })
        .collect();
    for mut push in pushes {
        assert_eq!(push.wait().unwrap().code(), Some(0));
    }
    master.catch_up().unwrap();
    let got: BTreeSet<_> = master.ops().iter().map(|op| op.id).collect();
    assert_eq!(got, wanted);
    for agent in 0..8 {
        let mut store = Store::open(&dir.path().join(format!("a{agent}"))).unwrap();
        pull(&mut store, &mut master, true).unwrap();
        assert_eq!(store.state().state_hash(), master.state().state_hash());
    }
    let (now, rebuilt) = master.verify().unwrap();
    assert_eq!(now, rebuilt);
}
