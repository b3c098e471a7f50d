//! The picture in the README: the tour in a real terminal, at the moment where hunks wait for a decision, as SVG.

use std::fmt::Write;

use vt100::{Cell, Color, Screen};

use crate::pty::Terminal;

/// One cell in the picture's units.
const WIDTH: f32 = 8.4;
const HEIGHT: f32 = 18.0;
/// The baseline of letters in their row, from its top.
const BASELINE: f32 = 13.5;
const MARGIN: f32 = 12.0;
/// The background of a cell that names no colour of its own: that of the dark theme.
const GROUND: &str = "#15171c";
const TEXT: &str = "#d8dae0";

#[test]
#[ignore = "writes assets/screen.svg anew: cargo test --test it picture -- --ignored"]
fn the_picture_in_the_readme() {
    let mut terminal = Terminal::start(&["demo"]);
    terminal.wait_for("Load all prices in one query");
    terminal.wait_for("ready");
    terminal.keys("\r");
    terminal.wait_for("4 of 4 hunks undecided");
    terminal.press("y", "3 of 4 hunks undecided");
    // The last row is drawn last.
    terminal.wait_for("Esc later");
    let picture = svg(terminal.screen());
    terminal.leave();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/screen.svg");
    std::fs::write(path, picture).expect("written");
}

/// Returns what is on the screen, as a picture whose letters any fixed-width font can draw.
fn svg(screen: &Screen) -> String {
    let (rows, columns) = size(screen);
    let (width, height) = (f32::from(columns) * WIDTH + 2.0 * MARGIN, f32::from(rows) * HEIGHT + 2.0 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" font-size=\"14\" \
         font-family=\"ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{GROUND}\"/>\n"
    );
    for row in 0..rows {
        for (from, to, cell) in runs(screen, row, |a, b| ground(a) == ground(b)) {
            let fill = ground(cell);
            if fill != GROUND {
                let (x, y, width) = (left(from), top(row), f32::from(to - from) * WIDTH);
                writeln!(
                    svg,
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{HEIGHT}\" fill=\"{fill}\"/>"
                )
                .expect("a string");
            }
        }
        for (from, to, cell) in runs(screen, row, same_letters) {
            text(&mut svg, screen, row, from..to, cell);
        }
    }
    svg + "</svg>\n"
}

/// One run of letters of a kind, each word where its cells are.
fn text(svg: &mut String, screen: &Screen, row: u16, columns: std::ops::Range<u16>, cell: &Cell) {
    let letters: Vec<&str> = columns.clone().map(|column| letters(screen, row, column)).collect();
    let fill = if cell.inverse() { ground_of(cell.bgcolor()) } else { colour(cell.fgcolor(), TEXT) };
    let mut style = String::new();
    for (is, words) in [
        (cell.bold(), " font-weight=\"bold\""),
        (cell.italic(), " font-style=\"italic\""),
        (cell.underline(), " text-decoration=\"underline\""),
        (cell.dim(), " opacity=\"0.6\""),
    ] {
        style.push_str(if is { words } else { "" });
    }
    let mut at = 0;
    while at < letters.len() {
        let end = at + letters[at..].iter().take_while(|letter| !letter.trim().is_empty()).count();
        if end > at {
            let word = letters[at..end].concat().replace('&', "&amp;").replace('<', "&lt;");
            let (x, y) = (left(columns.start + at as u16), top(row) + BASELINE);
            let length = (end - at) as f32 * WIDTH;
            writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{length:.1}\" fill=\"{fill}\"{style}>{word}</text>"
            )
            .expect("a string");
        }
        at = end + 1;
    }
}

/// The columns of a row in runs of cells that belong together, each with its first cell.
fn runs(screen: &Screen, row: u16, together: impl Fn(&Cell, &Cell) -> bool) -> Vec<(u16, u16, &Cell)> {
    let mut runs: Vec<(u16, u16, &Cell)> = Vec::new();
    for column in 0..size(screen).1 {
        let Some(cell) = screen.cell(row, column) else { continue };
        match runs.last_mut() {
            Some((_, to, first)) if *to == column && together(first, cell) => *to = column + 1,
            _ => runs.push((column, column + 1, cell)),
        }
    }
    runs
}

fn size(screen: &Screen) -> (u16, u16) {
    let (rows, columns) = screen.size();
    (rows.get(), columns.get())
}

fn same_letters(a: &Cell, b: &Cell) -> bool {
    let kind = |cell: &Cell| {
        (cell.fgcolor(), cell.bgcolor(), cell.bold(), cell.italic(), cell.underline(), cell.dim(), cell.inverse())
    };
    kind(a) == kind(b)
}

fn letters(screen: &Screen, row: u16, column: u16) -> &str {
    screen.cell(row, column).map_or("", Cell::contents)
}

fn left(column: u16) -> f32 {
    MARGIN + f32::from(column) * WIDTH
}

fn top(row: u16) -> f32 {
    MARGIN + f32::from(row) * HEIGHT
}

fn ground(cell: &Cell) -> String {
    if cell.inverse() { colour(cell.fgcolor(), TEXT) } else { ground_of(cell.bgcolor()) }
}

fn ground_of(color: Color) -> String {
    colour(color, GROUND)
}

fn colour(color: Color, default: &str) -> String {
    match color {
        Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
        _ => default.to_owned(),
    }
}
