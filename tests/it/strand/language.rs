//! Text to bodies and back, over generated bodies of every layer.

use nebula::strand::id::Layer;
use nebula::strand::lang::parse::{parse_body, parse_definitions};
use nebula::strand::lang::print;
use nebula::strand::lang::unit::{join, split};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

fn list(items: impl Strategy<Value = String> + 'static, most: usize) -> BoxedStrategy<String> {
    vec(items, 0..=most).prop_map(|items| items.join(", ")).boxed()
}

/// Every form of an expression, each in brackets of its own, so that its shape does not hang on how tightly operators
/// bind.
fn expr() -> BoxedStrategy<String> {
    let leaf = select(vec![
        "0",
        "007",
        "1.50",
        "\"\"",
        "\"a \\\"b\\\" \\\\ \\n \\u{1} 日本\"",
        "true",
        "false",
        "none",
        "null",
        "it",
        "x",
        "a-b",
        "Unit",
        "Filter.All",
        "T()",
        "[]",
        "{}",
    ]);
    leaf.prop_map(str::to_owned)
        .prop_recursive(6, 40, 3, |inner| {
            let op = select(vec!["or", "and", "==", "!=", "<=", ">=", "<", ">", "in", "+", "-", "*", "/", "%"]);
            let (a, b) = (inner.clone(), inner.clone());
            let three = (inner.clone(), inner.clone(), inner.clone());
            prop_oneof![
                4 => (a, op, b).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
                2 => (select(vec!["not ", "- "]), inner.clone()).prop_map(|(op, a)| format!("({op}({a}))")),
                1 => inner.clone().prop_map(|a| format!("({a}).f")),
                1 => three.clone().prop_map(|(a, b, c)| format!("(if {a} then {b} else {c})")),
                1 => three.prop_map(|(a, b, c)| {
                    format!("(match {a} {{ A(p, q) -> {b}; some(x) -> {c}; \"k\" -> 1; 03 -> 2; _ -> {b}; }})")
                }),
                2 => (select(vec!["f", "map", "update", "T", "U.V", "emit e"]), list(inner.clone(), 3))
                    .prop_map(|(f, args)| format!("{f}({args})")),
                1 => inner.clone().prop_map(|a| format!("f({a}, name={a})")),
                1 => inner.clone().prop_map(|a| format!("some({a})")),
                1 => list(inner.clone(), 3).prop_map(|items| format!("[{items}]")),
                1 => (inner.clone(), inner.clone()).prop_map(|(k, v)| format!("{{{k}: {v}, {v}: {k}}}")),
                1 => inner.clone().prop_map(|a| format!("(x => {a})")),
                1 => inner.clone().prop_map(|a| format!("((x, y) => {a})")),
                1 => inner.prop_map(|a| format!("(s := {a})")),
            ]
        })
        .boxed()
}

fn ty() -> BoxedStrategy<String> {
    let leaf = select(vec!["Int", "Text", "Todo", "Unit"]).prop_map(str::to_owned);
    leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|a| format!("List({a})")),
            (inner.clone(), inner).prop_map(|(k, v)| format!("Map({k}, {v})")),
        ]
    })
    .boxed()
}

fn params() -> BoxedStrategy<String> {
    list((select(vec!["a", "b", "c-d"]), ty()).prop_map(|(name, ty)| format!("{name}: {ty}")), 3)
}

fn statement() -> BoxedStrategy<String> {
    let action = prop_oneof![
        expr().prop_map(|value| format!("n := {value}")),
        (list(expr(), 2), select(vec!["", " ok=r", " err=r", " ok=r err=q"]))
            .prop_map(|(args, to)| format!("emit e({args}){to}")),
        list(expr(), 2).prop_map(|args| format!("f({args})")),
    ];
    let guard = prop_oneof![
        2 => Just(String::new()),
        1 => expr().prop_map(|guard| format!(" when {guard}")),
        1 => expr().prop_map(|guard| format!(" when some(v) = {guard}")),
    ];
    (action, guard).prop_map(|(action, guard)| action + &guard).boxed()
}

fn element() -> BoxedStrategy<String> {
    let args = prop_oneof![
        Just(String::new()),
        expr().prop_map(|value| format!("(value={value}, label=\"l\")")),
        expr().prop_map(|value| format!("(zoo={value}, event=go, bind=draft)")),
    ];
    let head = (select(vec!["text", "row", "App", "button"]), args).prop_map(|(head, args)| match (head, &*args) {
        ("App", "") => "App()".to_owned(),
        _ => format!("{head}{args}"),
    });
    head.boxed()
        .prop_recursive(4, 12, 3, |inner| {
            (select(vec!["row", "each(item=t, of=ts)", "Pane(x=1)"]), vec(inner, 1..4))
                .prop_map(|(head, children)| format!("{head} {{ {} }}", children.join("; ")))
        })
        .boxed()
}

/// A body of any layer.
fn body() -> BoxedStrategy<(Layer, String)> {
    let variant = (select(vec!["A", "B", "Cc"]), params()).prop_map(|(name, fields)| match &*fields {
        "" => format!("| {name}"),
        _ => format!("| {name}({fields})"),
    });
    let kind = prop_oneof![
        params().prop_map(|fields| format!("{{ {fields} }}")),
        vec(variant, 1..4).prop_map(|variants| variants.join("\n")),
        Just("never".to_owned()),
        (select(vec!["", "nominal "]), ty(), proptest::option::of(expr())).prop_map(|(nominal, ty, pred)| match pred {
            Some(pred) => format!("{nominal}{ty} where {pred}"),
            None => format!("{nominal}{ty}"),
        }),
    ];
    let effect = (params(), ty(), proptest::option::of(ty()), list(expr(), 2)).prop_map(|(params, ty, err, args)| {
        let err = err.map(|err| format!(" err={err}")).unwrap_or_default();
        format!("({params}) -> {ty}{err} needs=[net, log] do=http.get({args})")
    });
    let head = select(vec!["", "on=App.go\n", "in=(p: Int)\n", "on=App.go in=(p: List(Int)) "]);
    let reducer = (head, vec(statement(), 0..4)).prop_map(|(head, stmts)| format!("{head}do=\n{}", stmts.join("\n")));
    let tile = (params(), element()).prop_map(|(params, root)| match &*params {
        "" => root,
        _ => format!("({params}) {root}"),
    });
    prop_oneof![
        kind.prop_map(|text| (Layer::Type, text)),
        (ty(), expr()).prop_map(|(ty, init)| (Layer::Slot, format!("{ty} = {init}"))),
        effect.prop_map(|text| (Layer::Effect, text)),
        reducer.prop_map(|text| (Layer::Reducer, text)),
        tile.prop_map(|text| (Layer::Tile, text)),
        (params(), ty(), expr()).prop_map(|(params, ty, expr)| (Layer::Fn, format!("({params}) -> {ty} = {expr}"))),
    ]
    .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_is_printed_is_read_as_it_was((layer, text) in body(), doc in select(vec!["", "one", "one\n\ntwo 日本"])) {
        let first = parse_body(layer, &text).map_err(|faults| TestCaseError::fail(format!("{text}: {faults:?}")))?;
        let canonical = print::body(&first);
        let again = parse_body(layer, &canonical)
            .map_err(|faults| TestCaseError::fail(format!("{canonical}: {faults:?}")))?;
        prop_assert_eq!(format!("{again:?}"), format!("{first:?}"), "{}", canonical);
        prop_assert_eq!(print::body(&again), canonical.clone());
        // Registers and units make the same body.
        let joined = join(layer, split(&first)).map(|body| print::body(&body));
        prop_assert_eq!(joined.as_ref(), Some(&canonical));
        // And as a file has it, with its doc lines.
        let name = if matches!(layer, Layer::Type | Layer::Tile) { "Name" } else { "name" };
        let file = print::whole(layer, name, doc, &first);
        let read = parse_definitions(&file).unwrap().remove(0).result.unwrap();
        prop_assert_eq!(format!("{:?}", read.body), format!("{first:?}"), "{}", file);
        prop_assert_eq!(read.doc, doc);
    }

    /// Whatever stands in a text, reading it ends in a body or in complaints with places in it.
    #[test]
    fn any_text_is_a_body_or_rejected((layer, text) in body(), cut in any::<prop::sample::Index>(), junk in "\\PC{0,6}") {
        let at = (0..=text.len()).rev().filter(|at| text.is_char_boundary(*at)).collect::<Vec<_>>();
        let at = at[cut.index(at.len())];
        let damaged = format!("{}{junk}{}", &text[..at], &text[at..]);
        if let Err(faults) = parse_body(layer, &damaged) {
            prop_assert!(!faults.is_empty());
            for fault in faults {
                prop_assert!(fault.at <= damaged.len() && !fault.message.is_empty());
            }
        }
    }
}
