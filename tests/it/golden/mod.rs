//! Every screen at every size, and in every theme and depth of colour. A screen's text is kept once for each size. Of its
//! colours a snapshot keeps, at 80 columns, which cells have which style in the dark theme and what each style is in
//! every other mode; for the other sizes a number that changes with any cell. With `SCREEN_DUMPS=DIR` each is also
//! written with its colours, to be looked at.

mod stages;

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

use nebula::tui::app::Options;
use nebula::tui::colour::{self, Rgb};
use nebula::tui::theme::{Depth, Role, Themes};
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use crate::scenes::Stage;
use stages::{SCENES, Scene};

const SIZES: [(u16, u16); 7] = [(40, 10), (60, 24), (80, 30), (100, 32), (120, 36), (140, 42), (220, 60)];

/// A way of colouring: its name, the theme, the depth.
type Mode = (&'static str, &'static str, Depth);

const MODES: [Mode; 8] = [
    ("dark", "dark", Depth::True),
    ("light", "light", Depth::True),
    ("contrast", "contrast", Depth::True),
    ("ansi", "ansi", Depth::True),
    ("256", "dark", Depth::Cube),
    ("light 256", "light", Depth::Cube),
    ("16", "dark", Depth::Sixteen),
    ("plain", "plain", Depth::Mono),
];

fn stage(scene: &Scene, (width, height): (u16, u16), (_, theme, depth): Mode) -> Stage {
    let options = Options { theme: Some(theme.into()), start: scene.start.clone(), ..Options::default() };
    let mut stage = Stage::of_depth(width, height, options, depth);
    (scene.run)(&mut stage);
    stage
}

/// Returns what a person sees of a cell's style.
fn style(cell: &Cell) -> String {
    let colour = |colour: Color| match colour {
        Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
        Color::Indexed(n) => n.to_string(),
        _ => "-".into(),
    };
    let mut out = colour(cell.fg);
    if cell.bg != Color::Reset {
        write!(out, " on {}", colour(cell.bg)).expect("a string");
    }
    for (modifier, word) in [
        (Modifier::BOLD, "bold"),
        (Modifier::DIM, "faint"),
        (Modifier::ITALIC, "italic"),
        (Modifier::UNDERLINED, "underline"),
        (Modifier::REVERSED, "reverse"),
    ] {
        if cell.modifier.contains(modifier) {
            out.push(' ');
            out.push_str(word);
        }
    }
    out
}

/// FNV-1a over everything that is drawn.
fn number(buffer: &Buffer) -> u64 {
    let colour = |colour: Color| match colour {
        Color::Rgb(r, g, b) => [2, r, g, b],
        Color::Indexed(n) => [1, n, 0, 0],
        _ => [0; 4],
    };
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut add = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    for cell in &buffer.content {
        cell.symbol().bytes().for_each(&mut add);
        colour(cell.fg).into_iter().chain(colour(cell.bg)).for_each(&mut add);
        cell.modifier.bits().to_le_bytes().into_iter().for_each(&mut add);
    }
    hash
}

/// The styles of a screen: each has a letter.
#[derive(Default)]
struct Styles {
    letters: BTreeMap<String, char>,
}

impl Styles {
    fn letter(&mut self, cell: &Cell) -> char {
        const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        let next = LETTERS.chars().nth(self.letters.len()).unwrap_or('?');
        *self.letters.entry(style(cell)).or_insert(next)
    }

    /// Returns the style of each cell: rows of letters, a space where there is nothing to see.
    fn map(&mut self, buffer: &Buffer) -> String {
        let rows = buffer.content.chunks(usize::from(buffer.area.width)).map(|row| {
            let letters = row.iter().map(|cell| match cell.symbol() == " " && cell.bg == Color::Reset {
                true => ' ',
                false => self.letter(cell),
            });
            letters.collect::<String>().trim_end().to_string()
        });
        rows.collect::<Vec<_>>().join("\n")
    }
}

/// Returns each style of `dark` in another mode: the styles of the same cells.
fn legend(styles: &Styles, dark: &Buffer, others: &[(&str, Buffer)]) -> String {
    let mut letters: Vec<_> = styles.letters.iter().collect();
    letters.sort_by_key(|(_, letter)| **letter);
    let mut out = String::new();
    for (name, letter) in letters {
        writeln!(out, "{letter}  dark {name}").expect("a string");
        for (mode, buffer) in others {
            let cells = dark.content.iter().zip(&buffer.content);
            let seen = |cell: &Cell| cell.symbol() != " " || cell.bg != Color::Reset;
            let mut same: Vec<String> =
                cells.filter(|(a, _)| seen(a) && style(a) == *name).map(|(_, b)| style(b)).collect();
            same.sort();
            same.dedup();
            writeln!(out, "   {mode} {}", same.join(" / ")).expect("a string");
        }
    }
    out
}

/// A colour as the reference terminal of a theme shows it; `None`: an attribute decides.
fn rgb_of(colour: Color, otherwise: Rgb) -> Rgb {
    match colour {
        Color::Rgb(r, g, b) => (r, g, b),
        Color::Indexed(n) => colour::of_xterm(n),
        _ => otherwise,
    }
}

/// Cells whose text cannot be read on what it lies on. Rules and what is behind a popup carry no words.
fn unreadable(buffer: &Buffer, (name, theme, depth): Mode) -> Vec<String> {
    let ground = if theme == "light" { (255, 255, 255) } else { (0x16, 0x18, 0x1d) };
    let theme = Themes::default().get(theme, depth).expect("a shipped theme");
    let mute = [Role::Line, Role::Backdrop].map(|role| theme.style(role).fg);
    let (mut found, mut readable) = (Vec::new(), HashSet::new());
    for (i, cell) in buffer.content.iter().enumerate() {
        let word = cell.symbol().chars().any(|c| !c.is_whitespace());
        let style = (cell.fg, cell.bg, cell.modifier.contains(Modifier::REVERSED));
        // Most cells look like one before.
        if !word || mute.contains(&Some(cell.fg)) || readable.contains(&style) {
            continue;
        }
        let (fg, bg) = (rgb_of(cell.fg, (0, 0, 0)), rgb_of(cell.bg, ground));
        let (x, y) = buffer.pos_of(i);
        let (fg, bg) = if cell.modifier.contains(Modifier::REVERSED) { (bg, fg) } else { (fg, bg) };
        match colour::contrast(fg, bg) < 4.5 {
            true => found.push(format!("{name}: {:?} at {x}, {y} is {}", cell.symbol(), self::style(cell))),
            false => drop(readable.insert(style)),
        }
    }
    found
}

/// Names that lost their middle: the mark of a cut between two letters, in a word that is no prose.
fn mangled(text: &str) -> Vec<&str> {
    let cut_inside = |word: &&str| {
        let Some((before, after)) = word.split_once('…') else { return false };
        let letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        letter(before.chars().next_back()) && letter(after.chars().next())
    };
    text.split_whitespace().filter(cut_inside).collect()
}

fn check(scene: &Scene) -> Vec<String> {
    let (mut texts, mut numbers, mut colours) = (String::new(), String::new(), String::new());
    let mut faults = Vec::new();
    for size in SIZES {
        let drawn = MODES.map(|mode| {
            let stage = stage(scene, size, mode);
            stage.dump(&format!("{}-{}-{}", scene.name, size.0, mode.0.replace(' ', "-")));
            (mode, stage.text(), stage.draw().0)
        });
        let (_, text, dark) = &drawn[0];
        // Sixteen colours are the terminal's own and may look alike: what is drawn says as much without any.
        let (_, without_colours, _) = &drawn[MODES.len() - 1];
        writeln!(texts, "== {}×{}\n{text}", size.0, size.1).expect("a string");
        if size.0 >= 80 {
            faults.extend(mangled(text).into_iter().map(|word| format!("{} columns: {word} lost its middle", size.0)));
        }
        let mut row = format!("{:>3}×{}", size.0, size.1);
        for (mode, other, buffer) in &drawn {
            // Where every tint can be painted, colours alone differ; elsewhere a mark says what a tint would.
            if matches!(mode.2, Depth::True | Depth::Cube) && mode.1 != "ansi" {
                // The list of themes selects the one in use.
                assert!(
                    other == text || scene.name == "themes",
                    "{} in {} at {}:\n{text}\n{other}",
                    scene.name,
                    mode.0,
                    size.0
                );
                faults.extend(unreadable(buffer, *mode));
            }
            if matches!(mode.0, "16" | "ansi") && other != without_colours && scene.name != "themes" {
                let differs = other.lines().zip(without_colours.lines()).find(|(a, b)| a != b).unwrap_or_default();
                faults.push(format!("{} at {} columns rests on colours: {differs:?}", mode.0, size.0));
            }
            write!(row, "  {:016x}", number(buffer)).expect("a string");
        }
        writeln!(numbers, "{row}").expect("a string");
        if size.0 == 80 {
            let mut styles = Styles::default();
            colours = styles.map(dark);
            let others: Vec<(&str, Buffer)> = drawn[1..].iter().map(|(m, _, b)| (m.0, b.clone())).collect();
            colours = format!("{colours}\n\n{}", legend(&styles, dark, &others));
        }
    }
    insta::assert_snapshot!(scene.name, texts);
    let modes = MODES.map(|(name, ..)| format!("{name:16}")).join("  ");
    insta::assert_snapshot!(format!("{}-colours", scene.name), format!("{colours}\n        {modes}\n{numbers}"));
    faults.into_iter().map(|fault| format!("{}: {fault}", scene.name)).collect()
}

/// Every second scene, so that the halves run beside each other.
fn half(of: usize) {
    let faults: Vec<String> = SCENES.iter().skip(of).step_by(2).flat_map(check).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_screen_in_every_size_and_colour() {
    half(0);
}

#[test]
fn every_other_screen_in_every_size_and_colour() {
    half(1);
}

#[test]
fn a_long_name_is_whole_wherever_it_is_listed() {
    let mut cut = Vec::new();
    for (what, least, scene) in stages::LONG_NAMES {
        for (width, height) in SIZES.into_iter().filter(|(width, _)| width >= least) {
            let mut stage = Stage::new(width, height, "dark");
            scene(&mut stage);
            let text = stage.text();
            if !text.contains(stages::LONG) {
                cut.push(format!("{what} at {width}:\n{text}"));
            }
        }
    }
    assert!(cut.is_empty(), "{}", cut.join("\n"));
}
