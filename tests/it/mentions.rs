//! Mentions in the input: what the list under `@` does with each key, bare names on offer, the finder, the palette's prompts.

use nebula::protocol::*;

use crate::scenes::{Stage, status};

/// A stage with an open session.
fn stage() -> Stage {
    let mut stage = Stage::new(140, 40, "dark");
    let info = SessionInfo { id: "s".into(), title: None, resumed: 0, status: status() };
    stage.tell(EventBody::Opened(info));
    stage
}

fn files(stage: &mut Stage, words: &str, paths: &[&str]) {
    let hits = paths.iter().map(|p| (p.to_string(), Vec::new())).collect();
    stage.answer(|q| *q == Query::Files(words.into()), Listing::Files { hits, total: 9, complete: true });
}

fn preview(stage: &mut Stage, path: &str, count: usize) {
    let text: String = (1..=count).map(|n| format!("line {n}\n")).collect();
    let listing = Listing::Text { path: path.into(), text: Some(text), lines: count, bytes: 900 };
    stage.answer(|q| *q == Query::Text(path.into()), listing);
}

/// Returns what stands in the input.
fn input(stage: &Stage) -> String {
    let text = stage.text();
    let row = text.lines().rev().find(|l| l.starts_with(" ›")).unwrap_or_default();
    row.trim_start_matches(" ›").trim().to_string()
}

fn submitted(stage: &Stage) -> Vec<String> {
    let texts = stage.sent().into_iter().filter_map(|c| match c {
        Command::Submit(p) => Some(p.text.clone()),
        _ => None,
    });
    texts.collect()
}

#[test]
fn the_first_file_is_taken_only_once_the_list_is_that_of_the_words() {
    let mut stage = stage();
    stage.keys("see @c");
    files(&mut stage, "c", &["Cargo.toml"]);
    // Quicker than the answer: the list still shows what `@c` found.
    stage.keys("art<tab>");
    assert_eq!(input(&stage), "see @cart");
    files(&mut stage, "cart", &["src/cart.rs"]);
    assert_eq!(input(&stage), "see @src/cart.rs");
    stage.keys("!");
    assert_eq!(input(&stage), "see @src/cart.rs!", "the space gives way");
}

#[test]
fn lines_go_with_the_file() {
    let mut stage = stage();
    stage.keys("@cart:10-12");
    files(&mut stage, "cart", &["src/cart.rs"]);
    preview(&mut stage, "src/cart.rs", 60);
    let text = stage.text();
    assert!(text.contains("10  line 10") && !text.contains("line 9 "), "{text}");
    stage.keys("<tab>");
    assert_eq!(input(&stage), "@src/cart.rs:10-12");
    // And typed behind a file that was inserted.
    stage.keys("and @money");
    files(&mut stage, "money", &["src/money.rs"]);
    stage.keys("<enter>:7");
    assert_eq!(input(&stage), "@src/cart.rs:10-12 and @src/money.rs:7");
    files(&mut stage, "src/money.rs", &["src/money.rs"]);
    stage.keys("<enter>");
    assert_eq!(submitted(&stage), ["@src/cart.rs:10-12 and @src/money.rs:7"], "what is whole is sent at once");
}

#[test]
fn without_a_hit_enter_sends_and_tab_does_nothing() {
    let mut stage = stage();
    stage.keys("what does @dataclass");
    files(&mut stage, "dataclass", &[]);
    assert!(stage.text().contains("no file matches"));
    stage.keys("<tab>");
    assert_eq!((submitted(&stage).len(), input(&stage).as_str()), (0, "what does @dataclass"));
    stage.keys("<backspace>s");
    files(&mut stage, "dataclass", &[]);
    stage.keys("<enter>");
    assert_eq!(submitted(&stage), ["what does @dataclass"]);
}

#[test]
fn a_bare_name_is_offered_and_never_forced() {
    let mut stage = stage();
    stage.keys("fix cart.rs");
    files(&mut stage, "cart.rs", &["src/cart.rs.bak", "src/cart.rs"]);
    assert!(stage.text().contains("Tab attaches src/cart.rs"), "{}", stage.text());
    stage.keys("<tab>");
    assert_eq!(input(&stage), "fix @src/cart.rs");
    stage.keys("and 価格.md");
    files(&mut stage, "価格.md", &["設計/価格.md"]);
    stage.keys(" please");
    assert!(!stage.text().contains("Tab attaches"));
    stage.keys("<enter>");
    assert_eq!(submitted(&stage), ["fix @src/cart.rs and 価格.md please"]);
    // No file of that name: Tab goes to the next pane, as always.
    stage.tell(EventBody::TurnStarted(TurnId(1)));
    stage.keys("see e.g");
    files(&mut stage, "e.g", &["src/egg.rs"]);
    stage.keys("<tab>");
    assert!(stage.text().contains("› see e.g"));
}

#[test]
fn the_finder_takes_lines_pastes_and_shows_folders() {
    let mut stage = stage();
    stage.keys("look at/file<backspace><backspace><backspace><backspace><backspace>");
    stage.keys("<ctrl-p>/file<enter>");
    files(&mut stage, "", &["src/", "src/cart.rs"]);
    let listing = Listing::Text { path: "src/".into(), text: Some("cart.rs\ndeep/".into()), lines: 2, bytes: 0 };
    stage.answer(|q| *q == Query::Text("src/".into()), listing);
    let text = stage.text();
    assert!(text.contains("2 names") && text.contains("deep/"), "{text}");
    stage.say(nebula::tui::app::Msg::Paste("@cart".into()));
    stage.keys(":3");
    files(&mut stage, "cart", &["src/cart.rs"]);
    stage.keys("<enter>");
    assert_eq!(input(&stage), "look at @src/cart.rs:3");
}

#[test]
fn the_finder_shows_the_words_it_was_opened_with() {
    let mut stage = stage();
    stage.keys("/file cart<enter>");
    files(&mut stage, "cart", &["src/cart.rs"]);
    let text = stage.text();
    assert!(text.lines().any(|row| row.contains("cart") && !row.contains("cart.rs")), "{text}");
    stage.keys("<backspace>");
    files(&mut stage, "car", &["src/cart.rs", "src/car.rs"]);
}

#[test]
fn prompts_are_completed_behind_their_command() {
    let mut stage = stage();
    stage.keys("/prompt re");
    let row = |name: &str, usage: &str| PromptRow {
        name: name.into(),
        description: format!("Does {name}"),
        usage: usage.into(),
        path: format!(".nebula/prompts/{name}.md"),
    };
    let rows = vec![row("explain", ""), row("review", "FILE FOCUS")];
    stage.answer(|q| *q == Query::Prompts, Listing::Prompts(rows.clone()));
    let text = stage.text();
    assert!(text.contains("/prompt review FILE FOCUS") && !text.contains("Does explain"), "{text}");
    // What takes arguments is not sent without: it goes into the input for them.
    stage.keys("<enter>");
    assert_eq!((submitted(&stage).len(), input(&stage).as_str()), (0, "/prompt review"));
    stage.keys("a.rs speed<enter>");
    assert_eq!(submitted(&stage), ["/prompt review a.rs speed"]);
    stage.tell(EventBody::TurnEnded(TurnId(1), TurnEnd::Done));
    // Quicker than the names came.
    stage.keys("/prompt review b.rs names<enter>");
    assert_eq!(submitted(&stage).last().map(String::as_str), Some("/prompt review b.rs names"));
    stage.tell(EventBody::TurnEnded(TurnId(2), TurnEnd::Done));
    stage.keys("/prompt exp");
    stage.answer(|q| *q == Query::Prompts, Listing::Prompts(rows));
    stage.keys("<enter>");
    assert_eq!(submitted(&stage).last().map(String::as_str), Some("/prompt explain"));
}

#[test]
fn a_commit_message_that_is_being_written_can_be_stopped() {
    let mut stage = stage();
    stage.keys("/commit<enter>");
    assert!(stage.text().contains("writing a commit message"));
    stage.keys("<esc>");
    assert_eq!(stage.sent().last(), Some(&&Command::Interrupt));
    stage.tell(EventBody::CommitEnded);
    assert!(stage.text().contains("ready"));
}

#[test]
fn in_a_narrow_terminal_the_preview_stands_below_the_list() {
    let mut stage = Stage::new(80, 24, "dark");
    let info = SessionInfo { id: "s".into(), title: None, resumed: 0, status: status() };
    stage.tell(EventBody::Opened(info));
    stage.keys("see @cart");
    files(&mut stage, "cart", &["src/cart.rs", "tests/cart.rs", "docs/cart.md", "docs/carts/設計.md"]);
    preview(&mut stage, "src/cart.rs", 60);
    insta::assert_snapshot!("mention-80", stage.text());
    stage.keys("<ctrl-d>");
    assert!(!stage.text().contains("1  line 1 "));
    stage.keys("<esc><ctrl-u><ctrl-p>/file<enter>");
    files(&mut stage, "", &["src/cart.rs", "tests/cart.rs"]);
    preview(&mut stage, "src/cart.rs", 60);
    insta::assert_snapshot!("file-80", stage.text());
}
