//! The interface in Japanese: whole screens, with every wide character in its two cells.

use nebula::messages::{Language, with};
use nebula::protocol::*;
use nebula::tui::app::{Options, Start};
use unicode_width::UnicodeWidthStr;

use crate::frames;
use crate::pty::Terminal;
use crate::scenes::*;

type Scene = fn(&mut Stage);

fn help(stage: &mut Stage) {
    proposing(stage);
    stage.keys("?");
}

fn palette(stage: &mut Stage) {
    working(stage);
    stage.keys("/");
}

fn graph_of_definitions(stage: &mut Stage) {
    stage.tell(opened(status()));
    graph(stage);
    stage.keys("<end><up>");
    answer_definition(stage);
}

const SCENES: [(&str, Scene); 10] = [
    ("graph", graph_of_definitions),
    ("review", proposing),
    ("question", asking),
    ("card", card_open),
    ("tools", working),
    ("archive", frames::restoring),
    ("errors", failing),
    ("without-model", without_model),
    ("help", help),
    ("palette", palette),
];

/// Every wide character has a second cell, and no other character takes that.
fn assert_aligned(name: &str, stage: &Stage) {
    let (buffer, _) = stage.draw();
    for y in 0..buffer.area.height {
        let mut x = 0;
        while x < buffer.area.width {
            let cells = buffer[(x, y)].symbol().width().max(1) as u16;
            assert!(x + cells <= buffer.area.width, "{name}: cut at {x}, {y}");
            for second in x + 1..x + cells {
                assert!(buffer[(second, y)].symbol().trim().is_empty(), "{name}: {x}, {y} is covered");
            }
            x += cells;
        }
    }
}

fn golden(name: &str, stage: &Stage) {
    assert_aligned(name, stage);
    stage.dump(name);
    insta::assert_snapshot!(name, stage.text());
}

#[test]
fn screens_in_japanese() {
    with(Language::Japanese, || {
        for (width, height) in [(80, 30), (140, 40)] {
            let mut stage = Stage::start(width, height, "dark", Start::New);
            stage.tell(opened(status()));
            choosing(&mut stage);
            golden(&format!("ja-start-{width}"), &stage);
            for (name, scene) in SCENES {
                let mut stage = Stage::new(width, height, "dark");
                scene(&mut stage);
                golden(&format!("ja-{name}-{width}"), &stage);
            }
        }
    });
}

#[test]
fn nothing_is_cut_in_the_middle_of_a_cell() {
    with(Language::Japanese, || {
        for (name, scene) in SCENES {
            for width in [40, 41, 59, 60, 72, 79, 99, 100, 119, 120, 141] {
                let mut stage = Stage::with(width, 24, Options { theme: Some("dark".into()), ..Options::default() });
                scene(&mut stage);
                assert_aligned(&format!("{name} at {width}"), &stage);
            }
        }
    });
}

#[test]
fn what_an_empty_list_says_is_whole_at_every_width() {
    for (language, end) in [(Language::English, "is kept here"), (Language::Japanese, "ここに残ります")] {
        with(language, || {
            for width in [40, 60, 80, 100, 120, 140] {
                let mut stage = Stage::new(width, 30, "dark");
                stage.tell(opened(status()));
                stage.keys("<f3>z");
                let none = Listing::Archive { rows: Vec::new(), found: 0, total: 0, files: 0 };
                stage.answer(|q| matches!(q, Query::Archive { .. }), none);
                // Lines that were wrapped are joined again.
                let list: String =
                    stage.text().lines().map(|row| row.split('│').next().unwrap_or(row).trim()).collect();
                let end: String = end.split(' ').collect();
                let joined: String = list.split_whitespace().collect();
                assert!(joined.contains(&end), "{width}:\n{}", stage.text());
            }
        });
    }
}

#[test]
fn the_language_of_the_environment_is_that_of_the_screen() {
    let (nebula, home) = (env!("CARGO_BIN_EXE_nebula"), tempfile::tempdir().expect("a folder"));
    let mut terminal = Terminal::start_with(nebula, &[], home.path(), "ja_JP.UTF-8");
    terminal.wait_for("モデルなし");
    terminal.wait_for("ツアー");
    assert_eq!(terminal.leave(), 0);
    std::fs::create_dir_all(home.path().join(".nebula")).expect("a folder");
    std::fs::write(home.path().join(".nebula/config.json"), r#"{"language": "en"}"#).expect("a configuration");
    let mut terminal = Terminal::start_with(nebula, &[], home.path(), "ja_JP.UTF-8");
    terminal.wait_for("no model");
    assert_eq!(terminal.leave(), 0);
}
