//! Properties of the reader for any input: it comes to its end, in time that is linear in the input's length.

mod fuzz;

use std::sync::OnceLock;
use std::time::{Duration, UNIX_EPOCH};

use super::reader::Reader;
use super::*;
use crate::edit::{Edit, Op};

/// Returns the pieces of a text that arrives in chunks of about this many bytes, and how often a state was given up.
fn pieces(text: &str, size: usize, expected: Option<Format>, known: &[KnownFile], end: End) -> (Vec<Piece>, usize) {
    let mut parser = Parser::new(expected, known.to_vec(), calls());
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.ceil_char_boundary(size.min(rest.len())));
        pieces.extend(parser.push(chunk));
        rest = after;
    }
    let given_up = parser.given_up;
    pieces.extend(parser.finish(end));
    (pieces, given_up)
}

/// Returns the calls of nebula's own tools.
fn calls() -> Arc<CallTable> {
    static CALLS: OnceLock<Arc<CallTable>> = OnceLock::new();
    Arc::clone(CALLS.get_or_init(|| crate::tools::ToolSet::builtin().calls()))
}

/// Returns the edits that a call of one of them asks for.
fn edits_of(name: &str, arguments: &serde_json::Value) -> Vec<Edit> {
    crate::tools::ToolSet::builtin().edits(name, arguments).and_then(Result::ok).unwrap_or_default()
}

fn prose(pieces: &[Piece]) -> String {
    let text = |piece: &Piece| if let Piece::Prose(text) = piece { text.clone() } else { String::new() };
    pieces.iter().map(text).collect()
}

/// Never waits and never consumes: what the driver must be safe against.
#[derive(Debug)]
struct Idle;

impl Reader for Idle {
    fn step(&mut self, _: &mut Input, _: &mut ReaderContext) -> Progress {
        Progress::Again
    }

    fn end(&mut self, _: &mut ReaderContext, _: bool) {}
}

#[test]
fn a_state_that_consumes_nothing_yields_its_text_as_prose() {
    let mut parser = Parser::new(None, Vec::new(), calls());
    parser.state = ParserState::Reading(Box::new(Idle));
    let mut pieces = parser.push("one\ntwo");
    assert_eq!(parser.given_up, 1);
    parser.state = ParserState::Reading(Box::new(Idle));
    pieces.extend(parser.push("\n```\nthree"));
    pieces.extend(parser.finish(End::Ordinary));
    assert_eq!(prose(&pieces), "one\ntwo\n```\nthree");
}

#[test]
fn what_only_looks_like_the_beginning_of_an_edit_is_prose() {
    let texts = [
        "*** Begin Patches",
        "*** Begin Patches\nmore\n",
        "```\n*** Begin Patch now\n```\n",
        "```\n*** Update Files: a\n```\n",
        "*** End Patch\n",
        "*** Move to: a.txt\n",
        "  *** Begin Patch\n",
    ];
    for text in texts {
        for size in [1, 3, 1000] {
            let (pieces, given_up) = pieces(text, size, None, &[], End::Ordinary);
            assert_eq!((prose(&pieces).as_str(), given_up), (text, 0), "by {size}");
        }
    }
}

/// Returns the only edit of a text: its path, whether it is whole, and the text that it writes.
fn written(text: &str, end: End) -> Option<(String, bool, String)> {
    let mut found = Vec::new();
    for size in [1, 7, usize::MAX] {
        let (pieces, given_up) = pieces(text, size, None, &[], end);
        assert_eq!(given_up, 0, "{text:?}");
        let edits = pieces.into_iter().filter_map(|piece| match piece {
            Piece::EditDone { edit, .. } => Some(edit),
            _ => None,
        });
        let texts = edits.map(|edit| match edit.op {
            Op::Overwrite { content } | Op::Write { content } => (edit.path.unwrap_or_default(), edit.whole, content),
            op => (edit.path.unwrap_or_default(), edit.whole, format!("{op:?}")),
        });
        found.push(texts.collect::<Vec<_>>());
    }
    assert!(found.windows(2).all(|two| two[0] == two[1]), "{text:?}: {found:?}");
    let mut all = found.swap_remove(0);
    assert!(all.len() < 2, "{text:?}: {all:?}");
    all.pop()
}

#[test]
fn a_fence_that_a_model_closes_in_its_own_way_is_closed_at_the_end_of_the_answer() {
    let closings = ["```python\n", "```python", "```<|im_end|>", "```\n<|im_end|>\n", "<|im_end|>", "</s>\n"];
    for closing in closings {
        let text = format!("a.py\n```python\nx = 1\ny = 2\n{closing}");
        let wanted = Some(("a.py".to_string(), true, "x = 1\ny = 2\n".to_string()));
        assert_eq!(written(&text, End::Ordinary), wanted, "{closing:?}");
    }
    let glued = written("a.py\n```python\nx = 1\ny = 2```", End::Ordinary);
    assert_eq!(glued, Some(("a.py".to_string(), true, "x = 1\ny = 2\n".to_string())));
    // Where nothing closes it, or the answer was cut, that is not known.
    assert_eq!(written("a.py\n```python\nx = 1\n", End::Ordinary).map(|edit| edit.1), Some(false));
    assert_eq!(written("a.py\n```python\nx = 1\n```python\n", End::Cut), None);
    // A file of fences may end in the beginning of one.
    assert_eq!(written("a.md\n```markdown\nx\n\n```sh\n", End::Ordinary).map(|edit| edit.1), Some(false));
}

#[test]
fn a_new_file_may_stand_right_in_its_element() {
    for text in [
        "<write_file path=\"a.py\">\nx = 1\ny < 2\n</write_file>\nDone.",
        "<write_file path=\"a.py\"><![CDATA[\nx = 1\ny < 2\n]]></write_file>",
        "<writeFile path='a.py'>\n<content>\nx = 1\ny < 2\n</content>\n</writeFile>",
    ] {
        let edit = written(text, End::Ordinary).map(|(path, whole, text)| (path, whole, text.trim_end().to_string()));
        assert_eq!(edit, Some(("a.py".to_string(), true, "x = 1\ny < 2".to_string())), "{text:?}");
    }
    // What is only spoken of stays as it is, and what never ends is not taken for all of the file.
    assert_eq!(written("Use <write_file path=\"a.py\"> for that.\n", End::Ordinary), None);
    assert_eq!(written("<write_file path=\"a.py\">\nx = 1\n", End::Ordinary).map(|edit| edit.1), Some(false));
}

#[test]
fn a_block_may_begin_with_a_bare_mark() {
    let text = "a.py\n<<<<<<<\nx = 1\n=======\nx = 2\n>>>>>>>\n";
    let (path, whole, edit) = written(text, End::Ordinary).expect("an edit");
    assert_eq!((path.as_str(), whole), ("a.py", true));
    assert!(edit.contains("x = 1") && edit.contains("x = 2") && !edit.contains('<'), "{edit}");
}

#[test]
fn a_block_that_holds_what_a_whole_file_lacks_is_named_with_it() {
    let part = "import os\n\n\ndef f():\n    return 1\n\n\ndef g():\n    return 20\n";
    let file = format!("{}\n\ndef h():\n    return 3\n", part.replace("20", "2"));
    let known = [KnownFile { path: "a.py".into(), text: file.as_str().into() }];
    let elsewhere = |text: &str, end: End| {
        let by = |size| {
            let (pieces, _) = pieces(text, size, Some(Format::WHOLE), &known, end);
            let edit = |piece| if let Piece::EditDone { edit, .. } = piece { Some(edit.elsewhere) } else { None };
            pieces.into_iter().filter_map(edit).collect::<Vec<_>>()
        };
        assert_eq!(by(1), by(usize::MAX), "{text}");
        by(usize::MAX)
    };
    let (whole, rest) = (format!("a.py\n```python\n{part}```\n"), "So:\n```python\ndef h():\n    return 3\n```\n");
    let h = || vec![Some("h".to_string())];
    for (text, wanted) in [
        (format!("{whole}\nand the rest:\n{rest}"), h()),
        (format!("{rest}\n{whole}"), h()),
        (format!("{rest}\n{whole}\nOnce more:\n{rest}"), h()),
        (whole.clone(), vec![None]),
        (format!("{whole}\nIt was:\n```python\n{file}```\n"), vec![None]),
        (format!("{whole}\nUse it:\n```python\nprint(g())\n```\n"), vec![None]),
        (format!("{whole}{rest}b.py\n```python\nx = 1\n```\n"), [h(), vec![None]].concat()),
    ] {
        assert_eq!(elsewhere(&text, End::Ordinary), wanted, "{text}");
    }
    assert_eq!(elsewhere(&format!("{whole}{rest}a"), End::Cut), h(), "what is complete before a cut stands");
}

#[test]
fn an_edit_that_waits_stays_before_a_call() {
    let known = [KnownFile { path: "a.py".into(), text: "def f():\n    pass\n\n\ndef g():\n    pass\n".into() }];
    for (call, end) in [
        ("readFile(path=\"a.py\")", End::Ordinary),
        // Calls that are recognised at their end alone.
        (r#"{"name": "readFile", "arguments": "{\"path\": \"a.py\"}"}"#, End::Ordinary),
        (r#"{"name": "readFile", "arguments": "{\"path\": \"a"#, End::Cut),
        (r#"{"arguments": {"path": "a.py"}, "name": "readFile"}"#, End::Ordinary),
        (r#"[{"arguments": {"path": "a.py"}, "name": "readFile"}]"#, End::Ordinary),
        (r#"{"readFile": {"path": "a.py"}}"#, End::Ordinary),
    ] {
        let text = format!("a.py\n```python\ndef f():\n    pass\n```\nThen:\n\n{call}\n");
        for size in [1, usize::MAX] {
            let (pieces, _) = pieces(&text, size, Some(Format::WHOLE), &known, end);
            let at = |is: fn(&Piece) -> bool| pieces.iter().position(is).expect("a piece");
            let called = at(|p| matches!(p, Piece::CallStarted { .. } | Piece::Call { .. } | Piece::BrokenCall { .. }));
            assert!(at(|p| matches!(p, Piece::EditDone { .. })) < called, "{call} by {size}: {pieces:?}");
        }
    }
}

#[test]
fn only_a_tag_right_after_a_backtick_is_inline_code() {
    for length in [10, 390, 399, 400, 1000] {
        let before = "é".repeat(length / 2);
        for (end, ending) in [("`<tool_call>` x", "`<tool_call>` x"), ("` x <tool_call>y", "` x y")] {
            for size in [1, 3, 7, usize::MAX] {
                let (pieces, _) = pieces(&format!("> {before}{end}"), size, None, &[], End::Ordinary);
                assert_eq!(prose(&pieces), format!("> {before}{ending}"), "{length} by {size}");
            }
        }
    }
}

#[test]
fn an_indented_call_is_read() {
    let call = "readFile(path=\"a.txt\")";
    let texts = [
        format!("    {call}\n"),
        format!("\t{call}"),
        format!("1. First:\n\n    {call}\n\n2. Then more.\n"),
        format!("```\n    {call}\n```\n"),
        format!("  ```python\n  {call}\n  ```\n"),
        format!("   [{call},\n    {call}]\n"),
    ];
    for text in texts {
        for size in [1, 5, 1000] {
            let (pieces, given_up) = pieces(&text, size, None, &[], End::Ordinary);
            let called = |p: &&Piece| matches!(p, Piece::Call { name, .. } if name == "readFile");
            assert_eq!(given_up, 0, "{text} by {size}");
            assert_eq!(
                pieces.iter().filter(called).count(),
                text.matches(call).count(),
                "{text} by {size}: {pieces:?}"
            );
        }
    }
}

/// Returns texts of about this many bytes on which a reader that looks at the same bytes again and again takes hours.
fn long_texts(bytes: usize) -> Vec<String> {
    let many = |unit: &str| unit.repeat(bytes / unit.len());
    let mut texts: Vec<String> = [
        "a",
        " ",
        "\n",
        "`",
        "```\n",
        "````\n```\n",
        "<",
        "<write_file ",
        "<invoke name=\"",
        "'",
        "\"",
        "{",
        "[{",
        "*** ",
        "--- a\n",
        "\\",
        "<<<<<<< SEARCH\n",
        "=======\n",
        "</content>",
        "</tool_call>",
        "a.rs\n```\nx\n```\n",
        "a.md\n````\n```\n",
        "\r",
        "@@\n",
        "+x\n",
    ]
    .map(many)
    .to_vec();
    let begun = [
        ("replaceInFile(path=", "a"),
        ("replaceInFile(path=\"", "\\\\"),
        ("replaceInFile(path=\"\"\"", "\""),
        ("replaceInFile(path='", "\""),
        ("replaceInFile(path=", "# a "),
        ("replaceInFile(path='a',", " "),
        ("[readFile(path='a'), ", " "),
        ("{\"name\": \"readFile\", \"arguments\": {\"path\": \"\"\"", "\""),
        ("{\"name\": \"readFile\", \"arguments\": {\"path\": \"\"\"", "\"\"\" "),
        ("{\"name\": \"readFile\", \"arguments\": ", "{"),
        ("[{\"name\": \"readFile\", \"arguments\": {}}, ", "{}, "),
        ("<function=readFile>", " "),
        ("<function=readFile><parameter=path>", "</param"),
        ("<function=readFile><parameter=path>", "\n"),
        ("<write_file><path>a.rs</path><content>", "<content>"),
        ("<write_file><path>a.rs</path><content>", "<content></content>x"),
        ("<write_file><path>a.rs</path><content>\n   ", "<"),
        ("<replace_file><path>a.rs</path><search>\n", " <"),
        ("<replace_file>", "<path>a</path>"),
        ("<replace_file><path>", "\n"),
        ("a.md\n```\n", "x\n\n"),
        ("a.md\n```\nx\n```\n", "\n"),
        ("a.md\n```\nx\n```\n", "y"),
        ("```\n--- a\n", "\n"),
        ("```\na.rs\n", "\n"),
        ("```", "x"),
        ("```\n", "\n"),
        ("--- a/a.rs\n+++ b/a.rs\n@@ -1,9 +1,9 @@\n--- ", "a"),
        ("--- a/a.rs\n+++ b/a.rs\n@@ -1,9 +1,9 @@\n--- a\n+++ ", "a"),
        ("--- a/a.rs\n+++ b/a.rs\n@@ -1,9 +1,9 @@\n", "--- a\n"),
        ("a.rs\n<<<<<<< SEARCH\nx\n=======\n", "=======\n"),
    ];
    texts.extend(begun.iter().map(|(head, unit)| head.to_string() + &many(unit)));
    texts.extend(
        begun
            .iter()
            .map(|(head, unit)| head.to_string() + &many(unit).replace(unit, &format!("{unit}{head}"))[..bytes]),
    );
    texts
}

/// Returns the time this thread has been running, so that what else the computer does makes no difference.
fn running() -> Duration {
    let said = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = said.split(' ').next().and_then(|n| n.parse().ok());
    nanos.map_or_else(|| UNIX_EPOCH.elapsed().unwrap_or_default(), Duration::from_nanos)
}

#[test]
fn reading_takes_linear_time() {
    let file: String = (0..500).map(|i| format!("fn f{i}() {{}}\n")).collect();
    let known = ["a.rs", "a.md"].map(|path| KnownFile { path: path.into(), text: file.as_str().into() });
    let time = |text: &str, size: usize| {
        let begun = running();
        let (_, given_up) = pieces(text, size, None, &known, End::Ordinary);
        assert_eq!(given_up, 0);
        running() - begun
    };
    for (short, long) in long_texts(10_000).into_iter().zip(long_texts(40_000)) {
        for size in [1, usize::MAX] {
            let (four_times, once) = (time(&long, size), time(&short, size));
            let head: String = long.chars().take(80).collect();
            let limit = once * 9 + Duration::from_millis(100);
            assert!(four_times < limit, "{head:?} by {size}: {once:?}, then {four_times:?}");
        }
    }
}

/// Returns path, text and certainty of each edit in an answer beside which these files are in play.
fn edits_beside(files: &[(&str, &str)], text: &str, format: Format) -> Vec<(String, String, bool)> {
    let known = files.iter().map(|(path, text)| KnownFile { path: path.to_string(), text: (*text).into() }).collect();
    let edit = |piece| match piece {
        Piece::EditDone { edit: Edit { path: Some(path), op: Op::Overwrite { content }, whole, .. }, .. } => {
            Some((path, content, whole))
        }
        _ => None,
    };
    read(text, Some(format), known, calls(), End::Ordinary).into_iter().filter_map(edit).collect()
}

#[test]
fn a_part_below_a_path_and_words_is_offered_as_below_the_path() {
    let file = "[tool.a]\nx = 1\n\n[tool.b]\ny = 2\n\n[tool.c]\nz = 3\n";
    for format in [Format::TOOLS, Format::WHOLE, Format::BLOCKS] {
        let text = "pyproject.toml: the section\n```toml\n[tool.a]\nx = 3\n```\n";
        let edits = edits_beside(&[("pyproject.toml", file)], text, format);
        assert_eq!(edits, [("pyproject.toml".into(), "[tool.a]\nx = 3\n".into(), false)], "{}", format.name());
        let text = text.replace("the section", "the old section");
        assert_eq!(edits_beside(&[("pyproject.toml", file)], &text, Format::TOOLS), [], "{}", format.name());
    }
    let new = file.replace("y = 2", "y = 3");
    for (words, count) in [("the whole file", 1), ("the old code", 0), ("変更前", 0), ("not changed", 0)] {
        let text = format!("pyproject.toml: {words}\n```toml\n{new}```\n");
        assert_eq!(edits_beside(&[("pyproject.toml", file)], &text, Format::WHOLE).len(), count, "{words}");
    }
}

#[test]
fn a_fence_around_nothing_is_a_file_where_one_without_text_is_wanted() {
    let made = |makes_empty: bool| {
        let parser = Parser::new(Some(Format::WHOLE), Vec::new(), calls()).making_empty(makes_empty);
        let pieces = parsed("new.py\n```python\n```\n", parser).0;
        pieces.into_iter().any(|piece| matches!(piece, Piece::EditDone { .. }))
    };
    assert_eq!([made(true), made(false)], [true, false]);
}

#[test]
fn a_small_file_under_its_path_is_whole_beside_calls_too() {
    let functions = "def f():\n    return 1\n\n\ndef g():\n    return 2\n\n\ndef h():\n    return 3\n";
    for (path, file, from, to) in [
        ("package.json", "{\n  \"name\": \"x\",\n  \"scripts\": {\n    \"a\": \"1\"\n  }\n}\n", "\"1\"", "\"2\""),
        ("Makefile", "all: a\n\na: a.c\n\tcc a.c\n\ntest:\n\t./a.out\n", "./a.out", "./b.out"),
        ("q.sql", "CREATE TABLE a (\n  id int\n);\n\nCREATE INDEX i ON a(id);\n", "id int", "id text"),
        ("VERSION", "1.0.0\n", "1.0.0", "1.1.0"),
        ("calc.py", "x = 1\n", "x = 1", "x = 2"),
        ("f.py", functions, "return 2", "return 20"),
    ] {
        let new = file.replace(from, to);
        let text = format!("{path}\n```\n{new}```\n");
        for format in [Format::TOOLS, Format::WHOLE] {
            assert_eq!(edits_beside(&[(path, file)], &text, format), [(path.into(), new.clone(), true)], "{path}");
        }
    }
    let made = edits_beside(&[("empty.py", "")], "empty.py\n```python\nx = 1\n```\n", Format::TOOLS);
    assert_eq!(made, [("empty.py".into(), "x = 1\n".into(), true)]);
    for part in [
        "def f():\n    return 1\n\n\ndef h():\n    return 3\n",
        "def f():\n    return 1\n\n\ndef g():\n    return 22\n",
        "def g():\n    return 22\n\n\ndef h():\n    return 3\n",
    ] {
        let edits = edits_beside(&[("f.py", functions)], &format!("f.py\n```python\n{part}```\n"), Format::TOOLS);
        assert!(edits.iter().all(|(_, _, whole)| !whole), "a part is no whole file: {edits:?}");
    }
}

#[test]
fn a_file_under_the_name_of_another_one_is_no_version_of_the_one_it_is_like() {
    let file = "services:\n  web:\n    image: web:1\n    ports: [80]\n  db:\n    image: db:1\n";
    let new = file.replace("web:1", "web:2");
    for head in [
        "For production create `compose.prod.yml`:",
        "Create a new file `compose.prod.yml` as a copy of `compose.yml`:",
        "Create compose.prod.yml:",
        "Then `deploy/compose.prod.yml`:",
        "`compose.prod.yml`を作成します：",
    ] {
        for format in Format::ALL {
            let text = format!("{head}\n\n```yaml\n{new}```\n");
            let edits = edits_beside(&[("compose.yml", file)], &text, format);
            let is_sure = |(path, _, whole): &(String, String, bool)| path == "compose.yml" && *whole;
            assert!(!edits.iter().any(is_sure), "{} {head}: {edits:?}", format.name());
        }
    }
    let server = "const a = 1;\nconst b = 2;\nconst c = 3;\nconst d = 4;\nlisten(a);\n";
    let text = format!("Here is the updated Node.js server:\n\n```js\n{}```\n", server.replace("b = 2", "b = 5"));
    assert_eq!(edits_beside(&[("server.js", server)], &text, Format::WHOLE).len(), 1);
}

const SUMS: &str = "\"\"\"Sums.\"\"\"\n\n\ndef add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n\n\ndef mul(a, b):\n    return a * b\n\n\ndef div(a, b):\n    return a / b\n";

#[test]
fn a_whole_file_is_its_own_whatever_else_the_sentence_above_mentions() {
    let texts = [SUMS.replace("a / b", "a // b"), format!("{SUMS}\n\ndef power(a, b):\n    return a ** b\n")];
    for head in [
        "As `README.md` says, here is the updated file:",
        "For `main.py` to work, `s.py` must be:",
        "After this `python main.py` works:",
        "Use `math.floor` semantics:",
        "I changed `s.div`:",
        "The updated code, with app.run removed:",
        "Here is the updated math.floor version:",
        "Updated math.floor:",
        "`self.items` is now a dict:",
        "No need to touch `setup.cfg`:",
        "`main.py` calls `s.div`; new `s.py`:",
        "ファイル全体（`main.py` は変更なし）：",
        "`decimal.Decimal` を使うように変更しました：",
        "I updated the code. `README.md` needs no change.\n\nHere is it:",
    ] {
        for (format, new) in Format::ALL.into_iter().flat_map(|format| texts.iter().map(move |new| (format, new))) {
            let text = format!("{head}\n\n```python\n{new}```\n\nDone.\n");
            let wanted = [("s.py".to_string(), new.clone(), true)];
            assert_eq!(edits_beside(&[("s.py", SUMS)], &text, format), wanted, "{} {head}", format.name());
        }
    }
    let files = [("s.py", SUMS), ("main.py", "import s\n\nprint(s.add(1, 2))\n")];
    let text = format!("As `main.py` needs it, the file becomes:\n\n```python\n{}```\n", texts[0]);
    assert_eq!(edits_beside(&files, &text, Format::WHOLE), [("s.py".into(), texts[0].clone(), true)]);
}

#[test]
fn a_text_that_prose_further_up_says_is_of_a_new_file_is_never_one_of_another() {
    let new = SUMS.replace("a / b", "a // b");
    for head in [
        "Create a file named `calc.py`.\n\nPut this in it:",
        "New file: `src/calc.py`\n\nContents:",
        "1. Create `calc.py`\n2. Paste this:",
        "`calc.py`\n\nThis is the full file:",
        "> calc.py\n\nContent:",
        "Based on `s.py`, here is `calc.py`:",
        "Rename `s.py` to `calc.py`:",
        "`s.py` → `calc.py`:",
        "Create a file `calc`:",
        "新しいファイル `calc.py` を作ります。\n\n中身は次のとおりです：",
        "Make `calc.py`:\n\n```sh\ntouch calc.py\n```\n\nPut this in it:",
    ] {
        for format in Format::ALL {
            let text = format!("{head}\n\n```python\n{new}```\n\nDone.\n");
            let edits = edits_beside(&[("s.py", SUMS)], &text, format);
            assert!(!edits.iter().any(|(path, ..)| path == "s.py"), "{} {head}: {edits:?}", format.name());
            assert!(edits.iter().all(|(path, ..)| path.contains("calc")), "{} {head}: {edits:?}", format.name());
            let known = [KnownFile { path: "s.py".into(), text: SUMS.into() }];
            let by = |size| prose(&pieces(&text, size, Some(format), &known, End::Ordinary).0);
            assert_eq!(by(1), by(usize::MAX), "{} {head}", format.name());
        }
    }
    // A head that goes on, and a comment on the first line, write nothing over the file without a person either.
    for (head, first) in [
        ("Here is `calc.py` for you:", ""),
        ("### calc.py (full code)", ""),
        ("calc.py - the new module", ""),
        ("こちらが calc.py です。", ""),
        ("Here is the code:", "# calc.py\n"),
        ("Here is the code:", "# calc.py - a calculator\n"),
    ] {
        for format in Format::ALL {
            let text = format!("{head}\n\n```python\n{first}{new}```\n\nDone.\n");
            let edits = edits_beside(&[("s.py", SUMS)], &text, format);
            let is_written = edits.iter().any(|(path, _, whole)| path == "s.py" && *whole);
            assert!(!is_written, "{} {head} {first}: {edits:?}", format.name());
        }
    }
    // A file that is mentioned takes nothing away.
    for head in [
        "This fixes the bug in main.py:",
        "I updated README.md too. Full file:",
        "I also updated `test_s.py`. The code:",
    ] {
        for format in [Format::WHOLE, Format::BLOCKS] {
            let text = format!("{head}\n\n```python\n{new}```\n");
            let edits = edits_beside(&[("s.py", SUMS)], &text, format);
            assert_eq!(edits, [("s.py".into(), new.clone(), true)], "{} {head}", format.name());
        }
    }
    // What was said of one block is not said of the next one.
    let text = format!("Create `calc.py`:\n\n```python\nx = 1\n```\n\nAnd then:\n\n```python\n{new}```\n");
    assert_eq!(edits_beside(&[("s.py", SUMS)], &text, Format::TOOLS), [("s.py".into(), new, true)]);
    let script = "const a = 1;\nconst b = 2;\nconst c = 3;\nconst d = 4;\nlisten(a);\n";
    let new = script.replace("b = 2", "b = 5");
    let text = format!("Here is the new React.js file:\n\n```js\n{new}```\n");
    assert_eq!(edits_beside(&[("a.js", script)], &text, Format::WHOLE), [("a.js".into(), new, true)]);
}

#[test]
fn a_call_whose_arguments_are_one_object_behind_its_name_is_read() {
    let object = r#"{"path": "s.py", "search": "a / b", "replace": "a // b"}"#;
    for text in [
        format!("functions.replaceInFile({object})"),
        format!("So:\n\nreplaceInFile({object})\n\nDone."),
        format!("to=functions.replaceInFile {object}"),
        format!("Thought: I change it.\nAction: replaceInFile\nAction Input: {object}\n"),
    ] {
        for size in [1, 3, usize::MAX] {
            for format in [Format::TOOLS, Format::WHOLE] {
                let (pieces, given_up) = pieces(&text, size, Some(format), &[], End::Ordinary);
                let calls = pieces.iter().filter(|p| matches!(p, Piece::Call { name, .. } if name == "replaceInFile"));
                assert_eq!((calls.count(), given_up), (1, 0), "{text} by {size}: {pieces:?}");
                assert!(!prose(&pieces).contains(')'), "{text} by {size}: {pieces:?}");
            }
        }
    }
}

#[test]
fn a_model_that_makes_its_changes_by_calls_only_displays_a_file_that_no_path_heads() {
    let file = "a = 1\nb = 2\nc = 3\nd = 4\ne = 5\n";
    let known = vec![KnownFile { path: "m.py".into(), text: file.into() }];
    let edits = |head: &str, displays| {
        let mut parser = Parser::new(Some(Format::TOOLS), known.clone(), calls()).displaying(displays);
        let mut pieces = parser.push(&format!("{head}\n\n```python\n{}```\n", file.replace("b = 2", "b = 7")));
        pieces.extend(parser.finish(End::Ordinary));
        pieces.iter().filter(|piece| matches!(piece, Piece::EditDone { .. })).count()
    };
    let heads = ["With 7 it would look like this:", "Now `m.py` is:", "m.py"];
    assert_eq!(heads.map(|head| edits(head, true)), [0, 0, 1]);
    assert_eq!(heads.map(|head| edits(head, false)), [1, 1, 1]);
}

#[test]
fn a_file_that_a_sentence_or_nothing_names_is_whole_where_it_keeps_its_lines() {
    let file = "\"\"\"Sums.\"\"\"\n\n\ndef add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n\n\ndef div(a, b):\n    return a / b\n";
    let heads = ["To do this, update `sums.py` as follows:", "Here is the updated code:", "sums.py"];
    let read = |head: &str, new: &str, format| {
        let text = format!("{head}\n\n```python\n{new}```\n\nRun it.\n");
        edits_beside(&[("sums.py", file)], &text, format)
    };
    for head in heads {
        for new in [
            format!("{file}\n\ndef mul(a, b):\n    return a * b\n"),
            format!("{file}\n\nif __name__ == \"__main__\":\n    print(add(1, 2))\n"),
            file.replace("    return a / b\n", "    if b == 0:\n        raise ValueError\n    return a / b\n"),
            file.replace("return a / b", "return a // b"),
            file.replace("return a / b", "print(1)"),
        ] {
            for format in Format::ALL {
                assert_eq!(
                    read(head, &new, format),
                    [("sums.py".into(), new.clone(), true)],
                    "{} {head}",
                    format.name()
                );
            }
        }
    }
    let (_, functions) = file.split_once("\n\n\n").expect("a head");
    for part in [
        file.split_once("\n\n\ndef div").expect("an end").0.replace("a + b", "b + a") + "\n",
        functions.replace("a + b", "b + a").replace("def div(a, b):\n    return a / b\n", ""),
        file.replace("def div", "def pow"),
    ] {
        for head in &heads[..2] {
            let edits = read(head, &part, Format::TOOLS);
            assert!(edits.iter().all(|(_, _, whole)| !whole), "a part is no whole file: {edits:?}");
        }
    }
    // A file of few lines is in many a text.
    let (short, text) = ([("a.py", "import os\n")], "So:\n```python\nimport os\nprint(os.name)\nprint(1)\n```\n");
    assert!(edits_beside(&short, text, Format::TOOLS).iter().all(|(_, _, whole)| !whole));
    let named = [("a.py", "x = 1\ny = 2\nz = 3\n")];
    let text = |head| format!("{head}\n```python\nx = 1\ny = 2\nz = 4\n```\n");
    let whole = |head| edits_beside(&named, &text(head), Format::TOOLS).iter().map(|edit| edit.2).collect::<Vec<_>>();
    assert_eq!([whole("Change `a.py` so:"), whole("So:")], [[true], [false]]);
}

#[test]
fn a_short_block_that_a_sentence_leads_to_is_named_where_no_file_has_it() {
    let file = "class Cart:\n    def __init__(self):\n        self.items = []\n";
    let known = [KnownFile { path: "shop.py".into(), text: file.into() }];
    let method = "    def remove(self, item):\n        self.items.remove(item)\n";
    let why = |text: &str, format, displays| {
        unread(text, (format, displays), known.to_vec(), calls()).map(|unread| unread.why)
    };
    for format in [Format::TOOLS, Format::WHOLE, Format::BLOCKS] {
        for head in ["Here is it:", "Replace the line with:", "こうします："] {
            let text = format!("{head}\n\n```python\n{method}```\n");
            assert_eq!(why(&text, format, false), Some(Unread::NoFile), "{} {head}", format.name());
        }
        let quoted = "It has this:\n```python\n        self.items = []\n```\n";
        assert_eq!(why(quoted, format, false), None, "{}", format.name());
        let command = "Run it:\n```sh\npython shop.py\n```\n";
        assert_eq!(why(command, format, false), None, "{}", format.name());
    }
    let text = format!("Call it so:\n```python\n{method}```\n");
    assert_eq!(why(&text, Format::TOOLS, true), None, "it is displayed");
}

#[test]
fn a_fence_of_names_is_no_file() {
    let known = [("calc.py", "def add(a, b):\n    return a - b\n\n\ndef sub(a, b):\n    return a - b\n")];
    let right = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n";
    for format in [Format::WHOLE, Format::BLOCKS, Format::TOOLS] {
        for below in [
            "Then run:\n\n```bash\n./run_tests.sh\n```\n",
            "Add this to the requirements:\n\n```\ndiscord.py\n```\n",
            "Call it so:\n\n```python\ncalc.add\n```\n",
            "Project structure:\n\n```\nsrc/a.py\nsrc/b.py\ntests/test_a.py\n```\n",
            "The files:\n\n```\ncalc.py\nREADME.md\n```\n",
            "Lint output:\n\n```\ncalc.py\n  1:1  error  x\n```\n",
            "Traceback:\n\n```\ncalc.py:1\nSyntaxError: x\n```\n",
        ] {
            let text = format!("calc.py\n```python\n{right}```\n\n{below}");
            let wanted = [("calc.py".into(), right.to_string(), true)];
            // Where whole files are asked for, the path in the fence is all that is looked at.
            if format == Format::WHOLE && (below.contains("error") || below.contains(":1")) {
                continue;
            }
            assert_eq!(edits_beside(&known, &text, format), wanted, "{} {below}", format.name());
            // Alone, a log is not told apart from a file that begins with its path.
            let is_log = below.contains("error") || below.contains(":1");
            assert!(is_log || edits_beside(&[], below, format).is_empty(), "{} {below}", format.name());
        }
        // The same file again, or a later text of it, is one all the same, and so is a file that is a list.
        for info in ["", "text", "python"] {
            let later = right.replace("a - b", "b - a");
            for text in [right, later.as_str()] {
                let again = format!("calc.py\n```python\n{right}```\n\nAll of it:\n\n```{info}\ncalc.py\n{text}```\n");
                let all = edits_beside(&known, &again, format);
                assert_eq!(all.last().map(|edit| edit.1.as_str()), Some(text), "{} {again}", format.name());
            }
        }
        let list = [("files.txt", "calc.py\nmain.py\n")];
        let text = "```\nfiles.txt\ncalc.py\nmain.py\nutil.py\n```\n";
        let all = edits_beside(&list, text, format);
        assert!(all.iter().all(|edit| edit.1 == "calc.py\nmain.py\nutil.py\n"), "{all:?}");
        // One that is often empty is made.
        let text = "```\npkg/__init__.py\n```\n";
        let made = edits_beside(&[], text, Format::WHOLE);
        assert_eq!(made, [("pkg/__init__.py".into(), String::new(), true)]);
        // The fence behind it that names another file is that one's.
        for next in ["```python\npkg/core.py\nx = 1\n```\n", "```python\n# pkg/core.py\nx = 1\n```\n"] {
            let made = edits_beside(&[], &format!("{text}\n{next}"), Format::WHOLE);
            let made: Vec<&str> = made.iter().map(|(path, ..)| path.as_str()).collect();
            assert_eq!(made, ["pkg/__init__.py", "pkg/core.py"], "{next}");
        }
    }
}

const README: &str = "# Tool\n\nIt does things.\n\n## Install\n\n```bash\nmake install\n```\n\n## Use\n\n```\ntool --help\n```\n\n## Licence\n\nMIT, see LICENSE.\n";

#[test]
fn a_document_with_fences_in_it_is_whole_in_every_format() {
    let new = README.replace("things", "more");
    for format in Format::ALL {
        for text in [
            format!("README.md\n```markdown\n{new}```\n"),
            format!("Here it is.\n\n**README.md**\n```md\n{new}```\n\nThat is all of it.\n"),
            format!("Here is the new README.md:\n```markdown\n{new}```\n"),
        ] {
            let wanted = [("README.md".into(), new.clone(), true)];
            assert_eq!(edits_beside(&[("README.md", README)], &text, format), wanted, "{} {text}", format.name());
            let known = [KnownFile { path: "README.md".into(), text: README.into() }];
            assert_eq!(unread(&text, (format, false), known.to_vec(), calls()), None, "{} {text}", format.name());
            for size in [1, 7, usize::MAX] {
                let (all, _) = pieces(&text, size, Some(format), &known, End::Ordinary);
                let done = all.iter().filter(|piece| matches!(piece, Piece::EditDone { .. })).count();
                assert_eq!(done, 1, "{} by {size}: {text}", format.name());
            }
        }
    }
    let known = [KnownFile { path: "README.md".into(), text: README.into() }];
    let quoted = "README.md\n```markdown\n## Install\n\n```bash\nmake install\n```\n```\nRun that.\n";
    let edits = edits_beside(&[("README.md", README)], quoted, Format::TOOLS);
    assert!(edits.iter().all(|(_, _, whole)| !whole), "a part is quoted: {edits:?}");
    let (all, _) = pieces(quoted, 5, Some(Format::TOOLS), &known, End::Ordinary);
    assert_eq!(prose(&all), quoted, "all of it is shown");
}

/// A document as it is, as it shall be, and once more so: what it is changes nothing, wherever it ends.
#[test]
fn a_document_before_and_after_its_change_is_read_to_its_end() {
    let before = "# Tool\n\nIt does things.\n\n## Use\n\n1. Import it.\n";
    let after = format!("{before}\n## Test\n\nRun:\n```\npython test.py\n```\n");
    let known = [KnownFile { path: "README.md".into(), text: before.into() }];
    for (first, second) in [("**Before:**", "**After, `README.md`:**"), ("It is", "It shall be:")] {
        let block = |text: &str| format!("```\nREADME.md\n```\n```\n{text}```\n\n");
        let (old, new) = (block(before), block(&after));
        let text = format!("{first}\n{old}{second}\n{new}This is all of `README.md`. Its diff:\n\n{new}That is it.\n");
        for size in [1, 7, usize::MAX] {
            let (all, _) = pieces(&text, size, Some(Format::WHOLE), &known, End::Ordinary);
            let dropped = all.iter().filter(|piece| matches!(piece, Piece::EditDropped { .. })).count();
            let texts: Vec<&str> = all
                .iter()
                .filter_map(|piece| match piece {
                    Piece::EditDone {
                        edit: Edit { op: Op::Overwrite { content } | Op::Write { content }, .. },
                        ..
                    } => Some(content.as_str()),
                    _ => None,
                })
                .collect();
            assert_eq!((dropped, texts), (0, vec![before, &after, &after]), "by {size}: {text}");
        }
    }
}

#[test]
fn a_document_that_ends_in_a_block_keeps_its_last_fence() {
    let file = README.split_once("## Use").map(|(front, _)| format!("{}\n", front.trim_end())).unwrap_or_default();
    assert!(file.ends_with("make install\n```\n"));
    let new = file.replace("things", "more");
    for format in Format::ALL {
        for head in ["README.md", "Here is the new README.md:"] {
            let edits = edits_beside(&[("README.md", &file)], &format!("{head}\n```markdown\n{new}"), format);
            let wanted = [("README.md".into(), new.clone(), false)];
            assert_eq!(edits, wanted, "{} {head}: the outer fence has no end", format.name());
        }
    }
}

#[test]
fn a_part_of_a_file_is_never_the_whole_of_a_short_one() {
    let long: String = (0..49).map(|n| format!("v{n} = {n}\n")).collect();
    let (short, long) = ("from .core import *\n", format!("{long}from .core import *\n"));
    let part: String = long.split_inclusive('\n').skip(38).collect();
    for format in Format::ALL {
        let files = [("x/__init__.py", short), ("y/__init__.py", &long)];
        let text = format!("__init__.py\n```python\n{part}```\n");
        let edits = edits_beside(&files, &text, format);
        let paths: Vec<&str> = edits.iter().map(|(path, ..)| path.as_str()).collect();
        assert_eq!(paths, ["__init__.py"], "{}: it is asked which is meant", format.name());
        let edits = edits_beside(&files, &format!("So:\n```python\n{part}```\n"), format);
        assert_eq!(edits, [], "{}: nothing says that it is the short one", format.name());
    }
}

#[test]
fn a_full_path_that_two_files_may_have_goes_on_as_it_is() {
    let functions = "def f():\n    return 1\n\n\ndef g():\n    return 2\n";
    let new = functions.replace("return 1", "return 10");
    for format in Format::ALL {
        for (name, own, other, new) in [
            ("VERSION", "1.0.0\n", "2.0.0\n", "2.1.0\n"),
            ("version.txt", "1.0.0\n", "2.0.0\n", "2.0.0\n"),
            ("a.py", functions, "m = 1\nn = 2\no = 3\np = 4\n", &new),
        ] {
            let path = format!("pkg/{name}");
            for files in [[(path.as_str(), own), (name, other)], [(name, other), (path.as_str(), own)]] {
                let edits = edits_beside(&files, &format!("/work/{path}\n```\n{new}```\n"), format);
                let edits: Vec<(&str, &str)> = edits.iter().map(|(path, text, _)| (&**path, &**text)).collect();
                assert_eq!(edits, [(format!("/work/{path}").as_str(), new)], "{} {files:?}", format.name());
            }
        }
    }
}

#[test]
fn a_name_of_two_files_is_never_that_of_one_by_chance() {
    let file = "import os\n\n\ndef f():\n    return 1\n\n\ndef g():\n    return 2\n\n\ndef h():\n    return 3\n";
    let new = file.replace("return 2", "return 20");
    let text = format!("a.py\n```python\n{new}```\n");
    let changed = file.replace("return 3", "return 4").replace("return 1", "return 5");
    for format in Format::ALL {
        for other in [file, &file.replace("return 3", "return 4"), &changed] {
            for files in [[("x/a.py", file), ("y/a.py", other)], [("y/a.py", other), ("x/a.py", file)]] {
                let edits = edits_beside(&files, &text, format);
                let paths: Vec<&str> = edits.iter().map(|(path, ..)| path.as_str()).collect();
                assert_eq!(paths, ["a.py"], "{}: it is asked which is meant", format.name());
            }
        }
        let files = [("y/a.py", "m = 1\nn = 2\n"), ("x/a.py", file)];
        let path = if format == Format::WHOLE { "a.py" } else { "x/a.py" };
        let edits = edits_beside(&files, &text, format);
        assert_eq!(edits, [(path.into(), new.clone(), true)], "{}: the text is that of one", format.name());
    }
}

#[test]
fn a_later_text_of_a_file_that_is_shown_for_comparison_is_no_edit() {
    let file = "import math\n\n\ndef area(r):\n    return math.pi * r * r\n";
    let [new, other] = ["abs(r) * r", "r ** 2"].map(|term| file.replace("r * r", term));
    let answer = |label: &str| format!("calc.py\n```python\n{new}```\n\n{label}\n\n```python\n{other}```\n");
    let texts = |label: &str, format| {
        let edits = edits_beside(&[("calc.py", file)], &answer(label), format);
        edits.into_iter().map(|(_, text, _)| text).collect::<Vec<_>>()
    };
    for format in [Format::WHOLE, Format::BLOCKS, Format::TOOLS] {
        for label in ["The previous version was:", "This would be wrong:", "Alternatively:", "Option 2:", "**Before:**"]
        {
            assert_eq!(texts(label, format), [new.as_str()], "{} {label}", format.name());
        }
        let corrected = "Wait, this is wrong. Here is the corrected version:";
        assert_eq!(texts(corrected, format).last(), Some(&other), "{}", format.name());
    }
    // Where nothing stands above it, it is the answer.
    let alone = format!("For reference, the code:\n```python\n{new}```\n");
    assert_eq!(edits_beside(&[("calc.py", file)], &alone, Format::WHOLE).len(), 1);
}

#[test]
fn a_diff_without_a_header_is_of_the_one_file_that_has_its_lines() {
    let (calc, shop) = (("calc.py", "RATE = 0.2\n\n\ndef f():\n    return RATE\n"), ("shop.py", "TAX = 1\n"));
    let diff = "Change the rate:\n\n```diff\n-RATE = 0.2\n+RATE = 0.25\n```\n";
    for files in [&[calc][..], &[calc, shop]] {
        let edits = edits_beside(files, diff, Format::WHOLE);
        let [(path, _, true)] = edits.as_slice() else { panic!("{edits:?}") };
        assert_eq!(path, "calc.py");
    }
    assert!(edits_beside(&[calc, ("b.py", "RATE = 0.2\n")], diff, Format::WHOLE).is_empty(), "two files have it");
    let known = vec![KnownFile { path: "calc.py".into(), text: calc.1.into() }];
    let of_patch = |text: &str| {
        let pieces = read(text, Some(Format::PATCH), known.clone(), calls(), End::Ordinary);
        let edit = |piece| if let Piece::EditDone { edit, .. } = piece { Some(edit) } else { None };
        pieces.into_iter().filter_map(edit).collect::<Vec<_>>()
    };
    // Which file it is of is told where it is placed.
    let sides = "```diff\n--- original\n+++ modified\n@@ -1 +1 @@\n-RATE = 0.2\n+RATE = 0.25\n```\n";
    for text in [diff, sides] {
        let edits = of_patch(text);
        let [Edit { path: None, op: Op::Hunks(hunks), .. }] = edits.as_slice() else { panic!("{edits:?}") };
        assert_eq!(hunks[0].body, ["-RATE = 0.2", "+RATE = 0.25"]);
    }
}

#[test]
fn a_file_whose_fence_is_not_closed_ends_where_another_one_begins() {
    let page = "<html>\n<body>\n  <h1>Shop</h1>\n  <p>Hi</p>\n</body>\n</html>\n";
    let style = "h1 {\n  color: navy;\n}\n";
    let files = [("i.html", page), ("s.css", style)];
    let known = files.map(|(path, text)| KnownFile { path: path.into(), text: text.into() });
    let (new_page, new_style) = (page.replace("<h1>", "<h1 class=\"t\">"), style.replace("h1 {", "h1.t {"));
    let wanted = [("i.html".to_string(), new_page.clone(), true), ("s.css".to_string(), new_style.clone(), true)];
    for head in ["i.html\n```html\n", "```html i.html\n", "```html\n", "Updated `i.html`:\n\n```html\n"] {
        for next in ["```css s.css\n", "\ns.css\n```css\n", "**s.css**\n\n```css\n", "```css\n/* s.css */\n"] {
            let text = format!("{head}{new_page}{next}{new_style}```\n");
            let mut edits = edits_beside(&files, &text, Format::WHOLE);
            for (_, content, _) in &mut edits {
                *content = content.replace("/* s.css */\n", "");
            }
            assert_eq!(edits, wanted, "{text}");
            let whole = |size| {
                let (pieces, _) = pieces(&text, size, Some(Format::WHOLE), &known, End::Ordinary);
                pieces.into_iter().filter(|piece| matches!(piece, Piece::EditDone { .. })).collect::<Vec<_>>()
            };
            assert_eq!(whole(1), whole(usize::MAX), "{text}");
        }
    }
    let new = edits_beside(
        &files[..1],
        &format!("i.html\n```html\n{new_page}\nnew.css\n```css\nx {{}}\n```\n"),
        Format::WHOLE,
    );
    assert_eq!(new.iter().map(|(path, ..)| path.as_str()).collect::<Vec<_>>(), ["i.html", "new.css"]);
}

#[test]
fn a_fence_that_a_file_holds_itself_does_not_end_it() {
    let module = "\"\"\"Reads it.\n\nconf.toml\n```toml\nx = 1\n```\n\"\"\"\n\nX = 1\n";
    let changed = module.replace("X = 1\n", "X = 2\n");
    let made = module.replace("x = 1", "x = 5");
    for (files, text) in [(&[("m.py", module), ("conf.toml", "x = 1\n")][..], &changed), (&[("n.py", "")][..], &made)] {
        let path = files[0].0;
        let edits = edits_beside(files, &format!("{path}\n```python\n{text}```\n"), Format::WHOLE);
        let paths: Vec<&str> = edits.iter().map(|(path, ..)| path.as_str()).collect();
        assert_eq!(paths, [path], "{edits:?}");
    }
    let readme = "# A\n\nconf.toml\n```toml\nx = 1\n```\n\nMore.\n";
    let text = format!("README.md\n```markdown\n{}```\n", readme.replace("More", "Less"));
    let edits = edits_beside(&[("README.md", readme), ("conf.toml", "x = 1\n")], &text, Format::WHOLE);
    assert_eq!(edits.len(), 1, "{edits:?}");
}

#[test]
fn a_block_without_a_path_behind_another_one_is_of_the_file_that_has_its_lines() {
    let known = [("t.py", "a = 1\nb = 2\n"), ("m.py", "x = 5\ny = 6\n"), ("n.py", "x = 5\nz = 7\n")];
    let known = known.map(|(path, text)| KnownFile { path: path.into(), text: text.into() });
    let block = |old: &str, new: &str| format!("<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n");
    let paths = |text: &str| {
        let pieces = read(text, Some(Format::BLOCKS), known.to_vec(), calls(), End::Ordinary);
        let path = |piece| if let Piece::EditDone { edit, .. } = piece { edit.path } else { None };
        pieces.into_iter().filter_map(path).collect::<Vec<_>>()
    };
    let first = format!("t.py\n{}", block("a = 1", "a = 11"));
    let second = block("y = 6", "y = 66");
    assert_eq!(paths(&format!("{first}\nAnd in the other file:\n\n{second}")), ["t.py", "m.py"]);
    assert_eq!(paths(&format!("{first}\n{second}")), ["t.py", "m.py"]);
    assert_eq!(paths(&format!("{first}\nt.py\n{second}")), ["t.py", "t.py"], "a path above it is its own");
    assert_eq!(paths(&format!("{first}\n{}", block("b = 2", "b = 22"))), ["t.py", "t.py"]);
    assert_eq!(paths(&format!("{first}\n{}", block("z = 2", "z = 22"))), ["t.py", "t.py"], "no file has it");
    assert_eq!(paths(&format!("{first}\n{}", block("x = 5", "x = 55"))), ["t.py", "t.py"], "two files have it");
    assert_eq!(paths(&format!("{first}\nIn `t.py` there is more:\n\n{second}")), ["t.py", "t.py"], "a line names it");
}

#[test]
fn a_file_below_a_line_in_another_language_that_says_it_is_made_is_made() {
    for line in [
        "Neue Datei `t/x.py`:",
        "Erstelle die Datei `t/x.py`:",
        "Nouveau fichier `t/x.py` :",
        "Créez le fichier `t/x.py` :",
        "Nuevo archivo `t/x.py`:",
        "Crea el archivo `t/x.py`:",
        "Novo arquivo `t/x.py`:",
        "Новый файл `t/x.py`:",
        "Создайте файл `t/x.py`:",
        "새 파일 `t/x.py`:",
    ] {
        let edits = edits_beside(&[("a.py", "a = 1\n")], &format!("{line}\n\n```python\nx = 1\n```\n"), Format::WHOLE);
        assert_eq!(edits, [("t/x.py".to_string(), "x = 1\n".to_string(), true)], "{line}");
    }
    for line in ["Siehe `t/x.py`:", "Die Datei `t/x.py` bleibt so:", "Lance `t/x.py` :"] {
        let edits = edits_beside(&[("a.py", "a = 1\n")], &format!("{line}\n\n```python\nx = 1\n```\n"), Format::WHOLE);
        assert_eq!(edits, [], "{line}");
    }
}
