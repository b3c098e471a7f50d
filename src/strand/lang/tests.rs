//! Text → body → text, over written and generated bodies.

use super::parse::{parse_body, parse_definitions};
use super::print;
use super::unit::{join, split};
use crate::strand::id::Layer;

const TODO: &str = include_str!("../../../tests/it/strand/programs/todo.strand");

#[test]
fn canonical_text_is_its_own_canonical_text() {
    for found in parse_definitions(TODO).unwrap() {
        let definition = found.result.unwrap();
        let text = print::definition(&definition);
        let again = parse_definitions(&text).unwrap().remove(0).result.unwrap();
        assert_eq!(print::definition(&again), text);
        let joined = join(definition.layer, split(&definition.body)).unwrap();
        assert_eq!(print::body(&joined), print::body(&definition.body));
        assert_eq!(print::body(&parse_body(definition.layer, &print::body(&joined)).unwrap()), print::body(&joined));
    }
}

#[test]
fn every_faulty_statement_is_reported() {
    let faults = parse_body(Layer::Reducer, "do=\n  a := \n  b := 1\n  emit 3()\n").unwrap_err();
    let lines: Vec<_> = faults.iter().map(|fault| fault.line_col("do=\n  a := \n  b := 1\n  emit 3()\n")).collect();
    assert_eq!(lines, [(2, 7), (4, 8)]);
}

#[test]
fn one_fault_does_not_hide_another() {
    let reported = |layer, text: &str| -> Vec<(usize, usize)> {
        parse_body(layer, text).unwrap_err().iter().map(|fault| fault.line_col(text)).collect()
    };
    let tile = "column {\n  text(value=)\n  row {\n    text(vale\n      =1 2)\n    button(label=\"x\")\n  }\n  input(bind=d label=\"x\")\n}";
    assert_eq!(reported(Layer::Tile, tile), [(2, 14), (5, 10), (8, 16)]);
    assert_eq!(reported(Layer::Type, "{ a Int, b: Int, C: Text, d: List(, }"), [(1, 5), (1, 18), (1, 35)]);
    // A bracket over several lines hides nothing after it.
    assert_eq!(reported(Layer::Reducer, "do=\n  a := f(1,\n    2 3)\n  b := 1\n  c 4"), [(3, 7), (5, 5)]);
    // What is never closed is told once.
    assert_eq!(reported(Layer::Tile, "row { text(value=1)"), [(1, 20)]);
    assert_eq!(reported(Layer::Tile, "row { row { text(value=(1) }"), [(1, 28)]);
    assert_eq!(reported(Layer::Type, "{ a: Int"), [(1, 9)]);
    assert_eq!(reported(Layer::Reducer, "do= a := (1 + 2\n  b := 2"), [(2, 3)]);
}

#[test]
fn operators_keep_their_shape() {
    for (text, canonical) in [
        ("() -> Int = (1 + 2) * 3", "() -> Int = (1 + 2) * 3"),
        ("() -> Int = 1 + (2 * 3)", "() -> Int = 1 + 2 * 3"),
        ("() -> Int = 1 - (2 - 3)", "() -> Int = 1 - (2 - 3)"),
        ("() -> Bool = not (a and b) == c", "() -> Bool = not (a and b) == c"),
        ("() -> Int = (if a then 1 else 2) + 3", "() -> Int = (if a then 1 else 2) + 3"),
        ("() -> Int = -(-x).f", "() -> Int = -(-x).f"),
        ("() -> Int = map(l, (x) => x + 1)", "() -> Int = map(l, x => x + 1)"),
        ("() -> Int = map(l, (x, y) => 007)", "() -> Int = map(l, (x, y) => 7)"),
        ("() -> Float = 01.500", "() -> Float = 1.5"),
        (
            "() -> Int = match f { A -> if x then 1 else 2; B(a, b) -> 3; }",
            "() -> Int = match f { A -> if x then 1 else 2; B(a, b) -> 3 }",
        ),
    ] {
        let body = parse_body(Layer::Fn, text).unwrap();
        assert_eq!(print::body(&body), canonical);
        assert_eq!(print::body(&parse_body(Layer::Fn, canonical).unwrap()), canonical);
    }
}

#[test]
fn nesting_without_end_is_an_error_not_a_crash() {
    let text = format!("Int = {}1{}", "(".repeat(10_000), ")".repeat(10_000));
    assert_eq!(parse_body(Layer::Slot, &text).unwrap_err()[0].message, "this is nested too deeply");
    for (head, link) in [("Int = 1", " + 1"), ("Bool = true", " and true"), ("Int = 1", " * -1"), ("Int = a", ".f")] {
        let text = format!("{head}{}", link.repeat(50_000));
        let faults = parse_body(Layer::Slot, &text).unwrap_err();
        assert!(faults[0].message.starts_with("this is nested too deeply"), "{link}: {faults:?}");
        // Long, but not tall: as high as may be, and beside one another as many as one likes.
        parse_body(Layer::Slot, &format!("{head}{}", link.repeat(390))).unwrap();
        parse_body(Layer::Slot, &format!("Int = f({})", vec![format!("{}{link}", &head[6..]); 2_000].join(", ")))
            .unwrap();
    }
}
