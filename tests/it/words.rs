//! The words on the screen that depend on the person's files: keys are named as they are bound, and what is wrong
//! with a file stays readable.

use std::path::Path;

use nebula::config::screen_files::ScreenFiles;
use nebula::protocol::*;
use nebula::tui::app::{Options, Start};

use crate::frames::restoring;
use crate::scenes::*;

/// A stage whose folder holds these files.
fn stage(size: (u16, u16), files: &[(&str, &str)], start: Start) -> (Stage, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    let options = Options { files: ScreenFiles::read(folder.path()), start, ..Options::default() };
    (Stage::with(size.0, size.1, options), folder)
}

/// Every key that the scenes name, bound to another.
const OTHER_KEYS: &str = r#"
[global]
"tab" = false
"f2" = false
"f3" = false
"f1" = false
"esc" = false
"ctrl-c" = false
"ctrl-o" = false
"shift-tab" = false
"f6" = "next-pane"
"f7" = "focus-diff"
"f8" = "focus-archive"
"alt-9" = "focus-archive"
"f9" = "escape"
"f10" = "cancel"
"f11" = "choose-model"
"f12" = "toggle-mode"
"ctrl-t" = "help"
[pane]
"enter" = false
"i" = false
"?" = false
"z" = false
"ctrl-q" = "open"
"ctrl-s" = "focus-input"
[chat]
"r" = false
"ctrl-e" = "again"
[diff]
"enter" = false
"esc" = false
"y" = false
"ctrl-w" = "write"
"ctrl-y" = "accept"
"f9" = "later"
[archive]
"l" = false
"m" = false
"t" = false
"L" = "keep"
"M" = "merge"
"T" = "restore-version"
[input]
"enter" = false
"up" = false
"ctrl-x" = false
"alt-s" = "send"
"alt-u" = "up"
"alt-x" = "drop-queued"
[completion]
"tab" = false
"enter" = false
"esc" = false
"up" = false
"down" = false
"ctrl-u" = false
"ctrl-d" = false
"alt-i" = "insert"
"alt-p" = "up"
"alt-n" = "down"
"alt-e" = "close"
"alt-j" = "preview-up"
"alt-k" = "preview-down"
[list]
"enter" = false
"tab" = false
"up" = false
"down" = false
"ctrl-p" = false
"ctrl-n" = false
"esc" = false
"alt-r" = "choose"
"alt-c" = "complete"
"alt-p" = "up"
"alt-n" = "down"
"alt-e" = "close"
[question]
"esc" = false
"tab" = false
"?" = false
"enter" = false
"up" = false
"down" = false
"alt-a" = "answer"
"f9" = "later"
"ctrl-s" = "focus-input"
[viewer]
"esc" = false
"q" = false
"?" = false
"/" = false
"alt-e" = "close"
"alt-f" = "search"
[sessions]
"ctrl-x" = false
"alt-d" = "remove"
"/" = false
"enter" = false
"?" = false
"ctrl-f" = "search"
"ctrl-q" = "open"
"esc" = false
"alt-e" = "close"
[no-model]
"enter" = false
"up" = false
"down" = false
"ctrl-q" = "open"
"t" = false
"c" = false
"b" = false
"?" = false
[line]
"enter" = false
"esc" = false
"alt-s" = "send"
"alt-e" = "close"
"#;

/// Words of keys that stand on no screen once they are bound to nothing.
fn no_old_key(name: &str, text: &str) {
    for key in ["Enter", "Esc", "Tab", "Ctrl-C", "Ctrl-O", "Ctrl-X", "F1 ", "F2", "F3", "Up/Down"] {
        assert!(!text.contains(key), "{name} still names {key}:\n{text}");
    }
}

#[track_caller]
fn says(name: &str, stage: &Stage, words: &[&str]) {
    let text = stage.text();
    for word in words {
        assert!(text.contains(word), "{name} lacks {word:?}:\n{text}");
    }
    no_old_key(name, &text);
}

#[test]
fn every_key_on_the_screen_is_the_one_that_is_bound() {
    let new = |start| {
        let (stage, folder) = stage((140, 40), &[("keys.toml", OTHER_KEYS)], start);
        assert!(!stage.text().contains("keys.toml"), "{}", stage.text());
        (stage, folder)
    };
    let main = Start::default;

    let (mut s, _folder) = new(main());
    working(&mut s);
    says("main", &s, &["F9 interrupts", "F12 mode", "F6 pane", "F8 archive"]);
    s.keys("x<alt-s>");
    says("queue", &s, &["Alt-U edits   Alt-X drops"]);
    // The rule between the columns ends in the first line below them.
    assert!(s.text().lines().any(|l| l.starts_with(" queued ─") && l.contains('┴')), "{}", s.text());
    s.keys("<f10>");
    says("cancel", &s, &["F10 again ends it and quits"]);
    mentioning(&mut s);
    says("completion", &s, &["Alt-I insert   Alt-P/N choose   Alt-J/K scroll preview", "Alt-E close"]);

    let (mut s, _folder) = new(main());
    working(&mut s);
    s.keys("/m");
    says("palette", &s, &["Alt-R run   Alt-C complete   Alt-P/N choose   Alt-E close"]);
    s.keys("<alt-e><ctrl-t>");
    says("help", &s, &["Alt-F search", "Alt-E close", "F10 "]);

    let (mut s, _folder) = new(main());
    proposing(&mut s);
    says("proposal", &s, &["F9 to write to nebula", "Ctrl-W writes once every hunk is decided", "Ctrl-Y accept"]);
    s.keys("<f9>");
    says("later", &s, &["F7 review"]);
    s.keys("x");
    says("waiting", &s, &["F7 review"]);

    let (mut s, _folder) = new(main());
    failing(&mut s);
    says("errors", &s, &["Ctrl-Q go on from here   F5 Ctrl-E ask again", "Alt-S now   F9 stop"]);

    let (mut s, _folder) = new(main());
    asking(&mut s);
    // Enter is no key that sends here: the draft stays in the input, and the question waits as a banner.
    says("question", &s, &["? question", "F9 interrupts", "Alt-S queue"]);

    let (mut s, _folder) = new(main());
    restoring(&mut s);
    says("restore", &s, &["L  keep", "M  merge", "T  restore this version", "F6 to write to nebula"]);

    let (mut s, _folder) = new(Start::WithoutModel);
    without_model(&mut s);
    says("without a model", &s, &["▸ tour", "▸ connect", "nothing is sent before one is connected"]);

    let (mut s, _folder) = new(Start::New);
    s.tell(opened(status()));
    choosing(&mut s);
    s.keys("<down>");
    says("sessions", &s, &["Ctrl-F search", "Ctrl-Q resume", "Alt-E back"]);
    s.keys("<ctrl-f>");
    says("search", &s, &["Alt-S OK   Alt-E cancel"]);
}

#[test]
fn a_question_mark_is_text_in_the_input_and_f1_is_help() {
    let mut stage = Stage::new(140, 40, "dark");
    stage.tell(opened(status()));
    assert!(stage.text().contains("F1 keys") && !stage.text().contains("? keys"), "{}", stage.text());
    stage.keys("?");
    assert!(stage.text().contains("› ?") && !stage.text().contains("keys of the input"), "{}", stage.text());
    stage.keys("<f1>");
    assert!(stage.text().contains("keys of the input"), "{}", stage.text());
}

#[test]
fn what_is_wrong_with_a_file_stays_readable() {
    let files = [
        ("keys.toml", "[diff]\n\"ctrl-t\" = \"accept\"\n\"ctrl-T\" = \"reject\"\n"),
        ("themes/mine.toml", "inherits = \"dark\"\n[roles]\ntext = \"reddish\"\n"),
        ("themes/odd.toml", "[roles\n"),
    ];
    let config = Notice {
        level: Level::Warning,
        title: "/home/me/.nebula/config.json:3:12: expected `,` or `}`".into(),
        detail: "What is wrong in it is ignored; the file is left as it is.".into(),
        actions: Vec::new(),
        cause: Default::default(),
    };
    let wanted = |folder: &Path| {
        let at = |name: &str| folder.join(name).display().to_string();
        [
            format!("{}:3:1: [diff] \"ctrl-T\" and \"ctrl-t\" are the same key", at("keys.toml")),
            format!("{}:3:1: text is reddish", at("themes/mine.toml")),
            format!("{}:1:7:", at("themes/odd.toml")),
            config.title.clone(),
        ]
    };
    // Long paths wrap; what is said is compared without white space, and without the preview beside it.
    let left = |line: &str| line.split(" │").next().unwrap_or_default().to_string();
    let squeezed = |text: &str| {
        text.lines()
            .map(left)
            .flat_map(|l| l.split_whitespace().map(str::to_string).collect::<Vec<_>>())
            .collect::<String>()
    };
    let check = |name: &str, stage: &Stage, folder: &Path| {
        let text = stage.text();
        for want in wanted(folder) {
            assert!(squeezed(&text).contains(&squeezed(&want)), "{name} lacks {want:?}:\n{text}");
        }
    };
    for start in [Start::WithoutModel, Start::New, Start::default()] {
        let (mut s, folder) = stage((110, 50), &files, start.clone());
        s.tell(EventBody::Notice(config.clone()));
        s.keys("<down><up>");
        match start {
            Start::WithoutModel => {
                without_model(&mut s);
                check("without a model", &s, folder.path());
            }
            Start::New => {
                choosing(&mut s);
                check("sessions", &s, folder.path());
                s.keys("<down><down><enter>");
            }
            Start::Session(_) => {}
        }
        if start != Start::WithoutModel {
            // A resumed session's entries come first, the notices stay the last.
            s.tell(opened(status()));
            s.item(Item::User { text: "hello".into(), at: NOW, attached: Vec::new() });
            s.item(Item::Answer { text: "hello to you".into() });
            // The agent tells its own again, with the session.
            s.item(Item::Notice(config.clone()));
            s.keys("x<backspace>");
            check("chat", &s, folder.path());
            let text = s.text();
            assert!(text.find("hello to you") < text.find("config.json"), "{text}");
            s.keys("hi<enter>");
            s.item(Item::User { text: "something new".into(), at: NOW, attached: Vec::new() });
            s.tell(EventBody::TurnStarted(TurnId(1)));
            let text = s.text();
            assert!(text.find("keys.toml") < text.find("something new"), "{text}");
        }
    }
}

#[test]
fn a_restore_that_waits_is_reported_in_the_input_line() {
    let mut stage = Stage::new(140, 40, "dark");
    restoring(&mut stage);
    assert!(stage.text().contains("◉ waiting for you: 1 file to choose"), "{}", stage.text());
    assert!(!stage.text().contains("\n ready "));
    // Another place has the keys: how to get back is said.
    stage.keys("<tab>");
    assert!(stage.text().contains("◉ restore: 4 files · F2 review"), "{}", stage.text());
}

#[test]
fn a_click_takes_the_choice_that_is_drawn_there() {
    use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
    for (width, height) in [(60, 18), (60, 24), (80, 30), (140, 40)] {
        let mut stage = Stage::new(width, height, "dark");
        restoring(&mut stage);
        let text = stage.text();
        let row = text.lines().position(|l| l.contains("t  restore this version")).expect("the choice is seen");
        let line = text.lines().nth(row).expect("a row");
        let column = line[..line.find("t  restore").expect("the choice")].chars().count();
        stage.say(nebula::tui::app::Msg::Mouse(MouseEvent {
            kind: MouseEventKind::Down(MouseButton::Left),
            column: column as u16,
            row: row as u16,
            modifiers: KeyModifiers::NONE,
        }));
        let wanted = |c: &&Command| {
            matches!(c, Command::Restore(RestoreRequest::Foreign { choice, .. })
                if *choice == nebula::proposal::ForeignChoice::RestoreVersion)
        };
        assert!(stage.sent().iter().any(wanted), "{width}×{height}: {:?}\n{text}", stage.sent());
    }
}
