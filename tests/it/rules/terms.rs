//! The words that were given up: none of them comes back into the sources, the screens that are kept, the README or the tour.

use std::fs;
use std::path::Path;

/// Words of the first edition, each with the one that took its place.
const GIVEN_UP: &[(&str, &str)] = &[
    ("take back", "undo"),
    ("undo of undo of", "redo"),
    ("carry out the plan", "run the plan"),
    ("goes on with a plan", "runs the current plan"),
    ("write the session as", "export as"),
    ("Enter takes it", "select, OK"),
    ("turn the decision over", "toggle"),
    ("the hunk is decided", "ready to write"),
    ("leave it pending", "decide later"),
    ("leave all as it is", "cancel"),
    ("see the change", "preview"),
    ("shows what would be written", "preview"),
    ("is already as it was then", "already at that version"),
    ("take the old state", "restore this version"),
    ("nebula is told", "the model is told"),
    ("you said no", "you rejected this"),
    ("no path or cause holds", "no match"),
    ("let nebula have the mouse", "mouse on/off"),
    ("configuration counts whole", "trust this folder's configuration"),
    ("configuration count whole", "trust this folder's configuration"),
    ("before it counts", "preview, then replace"),
    ("mend the mention", "fix the mention"),
    ("for dark grounds", "for dark terminals"),
    ("Beside the workspace's root", "in the workspace root"),
    ("calls of tools", "tool calls"),
    ("go on in a copy", "fork"),
    ("the keys that work here", "keys"),
    ("a session without words", "untitled"),
    ("asks to wait (429)", "rate limited"),
    ("looking for sessions", "loading"),
    ("nothing arrived", "nothing"),
    ("is no regular expression", "invalid regex"),
    ("does not let nebula in", "rejected the key"),
    ("nobody this computer trusts", "untrusted certificate"),
    ("ended without a word", "empty answer"),
    ("decision comes to nothing", "nothing was accepted"),
    ("landed, missed", "applied, not found"),
];

fn files(folder: &Path, out: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("an entry").path();
        let kept = ["rs", "snap", "md", "jsonl", "toml", "txt"];
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|end| kept.iter().any(|kept| end == *kept))
            && !path.ends_with("rules/terms.rs")
        {
            let name = path.to_string_lossy().into_owned();
            out.push((name, String::from_utf8_lossy(&fs::read(&path).expect("a file")).to_lowercase()));
        }
    }
}

#[test]
fn no_word_that_was_given_up_comes_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts = Vec::new();
    for folder in ["src", "tests", "assets"] {
        files(&root.join(folder), &mut texts);
    }
    texts.push(("README.md".into(), fs::read_to_string(root.join("README.md")).expect("README.md").to_lowercase()));
    let mut found = Vec::new();
    for (name, text) in &texts {
        for (old, new) in GIVEN_UP.iter().filter(|(old, _)| text.contains(&old.to_lowercase())) {
            found.push(format!("{name}: {old:?} is {new:?}"));
        }
    }
    assert!(texts.len() > 500, "only {} files were read", texts.len());
    assert!(found.is_empty(), "{}", found.join("\n"));
}
