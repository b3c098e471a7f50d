use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::rows::Rows;
use super::*;
use crate::tui::glyphs::Glyphs;
use crate::tui::look::Look;
use crate::tui::text::highlight::Highlighter;
use crate::tui::theme::Theme;

const SAMPLE: &str = "\
`Cart::total` awaits **one query**:

1. first with a long text that wraps
2. second
   - nested
   - again

   a paragraph
3. third

## The new query

```rust
/// Prices.
pub fn prices() {}
```
> a quote
> goes on
>
> and ends

| name | lines |
|:-----|------:|
| cart | 38 |
| a much longer name | 1 |

---
last [link](https://a.example/x) line\\
broken
";

/// The document drawn in plain, without trailing blanks.
fn drawn(doc: &Markdown, width: usize) -> Vec<String> {
    let theme = Theme::shipped("plain");
    let look =
        Look { theme: &theme, glyphs: &Glyphs::UNICODE, keys: crate::tui::pane::testing::keys(), now: 0, zone: 0 };
    let mut rows = Rows::default();
    rows.update(doc, width, look);
    draw(&rows, doc, width, look)
}

fn draw(rows: &Rows, doc: &Markdown, width: usize, look: Look<'_>) -> Vec<String> {
    let mut buf = Buffer::empty(Rect::new(0, 0, width as u16, rows.len() as u16));
    rows.draw(doc, 0..rows.len(), (0, 0), &mut buf, look, &Highlighter::off());
    let row = |y: usize| {
        let cells = &buf.content[y * width..(y + 1) * width];
        let mut text = String::new();
        let mut skip = 0;
        for cell in cells {
            if skip == 0 {
                text.push_str(cell.symbol());
                skip = crate::tui::text::wrap::cells(cell.symbol());
            }
            skip = skip.saturating_sub(1);
        }
        text.trim_end().to_string()
    };
    (0..rows.len()).map(row).collect()
}

#[test]
fn every_kind_of_block() {
    let want = "\
Cart::total awaits one query:

1. first with a long text that
   wraps
2. second
   • nested
   • again

   a paragraph
3. third

The new query

│ /// Prices.              rust
│ pub fn prices() {}

│ a quote goes on
│
│ and ends

name                lines
──────────────────  ─────
cart                   38
a much longer name      1

────────────────────────────────

last link (https://a.example/x)
line
broken";
    let got = drawn(&Markdown::whole(SAMPLE), 32).join("\n");
    assert_eq!(got, want, "\n{got}");
}

#[test]
fn wide_tables_wrap_inside_their_columns() {
    let doc = Markdown::whole("| a | b |\n|---|---|\n| one two three | four five six |\n");
    assert_eq!(drawn(&doc, 16), ["a        b", "───────  ───────", "one two  four", "three    five", "         six"]);
}

#[test]
fn lines_end_without_a_blank_between_wide_characters() {
    assert_eq!(drawn(&Markdown::whole("価格の\n表を読む\nnow\nx"), 40), ["価格の表を読む now x"]);
}

#[test]
fn code_that_is_too_long_goes_on_below() {
    let doc = Markdown::whole("```\nlet price = catalog.price_of(id)\n\tx\n```");
    assert_eq!(drawn(&doc, 18), ["│ let price =", "│ ↳ catalog.price", "│ ↳ _of(id)", "│     x"]);
}

#[test]
fn the_rest_of_a_line_is_indented_like_its_beginning() {
    let doc = Markdown::whole("```\n    ids.iter().map(f).collect(x)\n```");
    assert_eq!(drawn(&doc, 22), ["│     ids.iter().map(", "│     ↳ f).collect(x)"]);
}

#[test]
fn what_is_nested_too_deep_for_the_width_is_cut() {
    let doc = Markdown::whole("> > > > > ```rust\n> > > > >     let long = 1;\n> > > > > ```\n> > > > > and a text\n");
    assert!(drawn(&doc, 8).iter().all(|row| row.starts_with('│')));
}

#[test]
fn marks_without_their_counterparts_do_not_show() {
    for (text, want) in [
        ("one **two", "one two"),
        ("one **", "one"),
        ("one `two", "one two"),
        ("one **two `three", "one two three"),
        ("2 ** 3", "2 ** 3"),
        ("a\n\n- **b", "a\n\n• b"),
        ("```rust\nlet x = `**", "│ let x = `**              rust"),
        ("```rust\nlet\n``", "│ let                      rust"),
        ("1. a\n   ```\n   **x", "1. a\n   │ **x"),
    ] {
        let mut doc = Markdown::default();
        doc.push(text);
        doc.refresh();
        assert_eq!(drawn(&doc, 32).join("\n").trim_end(), want, "{text}");
    }
}

#[test]
fn finished_blocks_are_not_touched_again() {
    let mut doc = Markdown::default();
    doc.push("one\n\n- two\n- three\n\n```\nfour\nfive\nsi");
    doc.refresh();
    assert_eq!((doc.settled_blocks(), doc.blocks().len()), (3, 4));
    let before = doc.blocks().as_ptr();
    doc.push("x\n```\n");
    doc.refresh();
    assert_eq!(doc.settled_blocks(), 4);
    assert_eq!(before, doc.blocks().as_ptr());
}

#[test]
fn numbers_go_on_over_a_settled_entry() {
    let mut doc = Markdown::default();
    for piece in ["1. one\n", "1. two\n", "\n1. three"] {
        doc.push(piece);
        doc.refresh();
    }
    assert_eq!(drawn(&doc, 20), ["1. one", "2. two", "", "3. three"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// However the text is cut, the end is the same; and rows kept from before are those made again.
    #[test]
    fn streamed_text_is_laid_out_as_the_whole_text(cuts in proptest::collection::vec(0usize..=SAMPLE.len(), 0..40), width in 10usize..60) {
        check_streamed(SAMPLE, cuts, width)?;
    }

    #[test]
    fn streaming_any_text(text in "([-*>`#| \n1a.価~]|```|\n\n|- |\\*\\*){0,40}", cuts in proptest::collection::vec(0usize..100, 0..20)) {
        check_streamed(&text, cuts, 24)?;
    }
}

fn check_streamed(text: &str, mut cuts: Vec<usize>, width: usize) -> Result<(), TestCaseError> {
    cuts.retain(|c| *c <= text.len() && text.is_char_boundary(*c));
    cuts.push(text.len());
    cuts.sort_unstable();
    let theme = Theme::shipped("plain");
    let look =
        Look { theme: &theme, glyphs: &Glyphs::UNICODE, keys: crate::tui::pane::testing::keys(), now: 0, zone: 0 };
    let (mut doc, mut rows, mut at) = (Markdown::default(), Rows::default(), 0);
    for cut in cuts {
        doc.push(&text[at..cut]);
        doc.refresh();
        rows.update(&doc, width, look);
        at = cut;
    }
    doc.finish();
    doc.refresh();
    rows.update(&doc, width, look);
    prop_assert_eq!(draw(&rows, &doc, width, look), drawn(&doc, width));
    prop_assert_eq!(drawn(&doc, width), drawn(&Markdown::whole(text), width));
    Ok(())
}
