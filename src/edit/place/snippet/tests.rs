use super::*;

const PY: &str = "\"\"\"Doc.\"\"\"\nimport os\n\nLIMIT = 3\n\n\ndef f(a):\n    return a + 1\n\n\n# Twice.\ndef g(a):\n    return a + 2\n\n\ndef h(a):\n    return a + 3\n\n\nif __name__ == \"__main__\":\n    print(f(1))\n    print(g(1))\n";
const JS: &str = "const a = 1;\n\nfunction f(x) {\n  return x + 1;\n}\n\nfunction g(x) {\n  return x + 2;\n}\n\ndescribe(\"one\", () => {\n  it(\"is\");\n});\n\nmodule.exports = { f, g };\n";
const CSS: &str = "a {\n  color: red;\n}\n\nh1,\nh2 {\n  color: blue;\n  margin: 0;\n  padding: 0;\n}\n\n@media (max-width: 9px) {\n  c { margin: 0; }\n\n  d {\n    margin: 0;\n  }\n\n  e {\n    margin: 1px;\n  }\n\n  f {\n    margin: 2px;\n  }\n}\n\n#last {\n  padding: 0;\n}\n";
const SQL: &str = "CREATE TABLE a (\n  id INT\n);\n\n-- The second.\nCREATE TABLE IF NOT EXISTS \"b\" (\n  id INT\n);\n\nCREATE INDEX i ON a (id); -- of a\n\nCREATE VIEW v AS\nSELECT id\nFROM a;\n\nINSERT INTO a VALUES (1);\n";
const YAML: &str = "name: ci\non: push\njobs:\n  test:\n    runs-on: ubuntu\n    steps:\n    - run: make\n    - run: make test\n  lint:\n    runs-on: ubuntu\n    steps:\n      - run: lint\n";
const JSON: &str = "{\n  \"name\": \"x\",\n  \"scripts\": {\n    \"a\": \"1\",\n    \"b\": \"2\"\n  },\n  \"deps\": {\n    \"z\": \"1\"\n  }\n}\n";
const MD: &str = "# T\n\nIntro.\n\n## Install\n\nRun x.\n\n```sh\n# no heading\nx\n```\n\n## Use\n\nRun y.\n\n### More\n\nAnd z.\n\nLicence\n-------\n\nMIT\n";
const TOML: &str = "# A package.\n[package]\nname = \"x\"\nversion = \"1\"\n\n[dependencies]\na = \"1\"\nb = \"2\"\nc = [\n  \"3\",\n]\n\n# For tests.\n[dev]\nd = \"1\"\nversion = \"2\"\n";
const MAKE: &str =
    "CC = gcc\nFLAGS += -g\nFLAGS += -O\nall: a b\n\n.PHONY: all\na: a.c\n\t$(CC) a.c\n\nb: b.c\n\t$(CC) b.c\n";

/// Asserts that a snippet changes its file so, and these passages alone.
fn is_placed(path: &str, file: &str, new: &str, changes: &[(&str, &str)], names: &str) {
    let mut wanted = file.to_string();
    for (from, to) in changes {
        assert_eq!(wanted.matches(from).count(), 1, "{from} in {wanted}");
        wanted = wanted.replace(from, to);
    }
    for new in [new.to_string(), format!("\n{new}\n\n"), new.trim_end().to_string()] {
        assert_eq!(passages(file, &new, path), Some((wanted.clone(), names.to_string())), "{new}");
    }
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let placed = passages(&crlf(file), new, path).map(|(text, _)| text);
    assert_eq!(placed, Some(crlf(&wanted)), "{new}");
}

#[test]
fn several_definitions_take_their_places() {
    let f = ("    return a + 1\n", "    return a + 10\n");
    let h = ("    return a + 3\n", "    return a + 30\n");
    let (new_f, new_h) = ("def f(a):\n    return a + 10\n", "def h(a):\n    return a + 30\n");
    let g = "def g(a):\n    return a + 2\n";
    is_placed("m.py", PY, &format!("{new_f}\n\n{g}"), &[f], "f");
    is_placed("m.py", PY, &format!("{new_f}\n\n{new_h}"), &[f, h], "f, h");
    is_placed("m.py", PY, &format!("{new_h}\n{new_f}"), &[f, h], "h, f");
    is_placed("m.py", PY, &format!("import os\n\n{new_f}\n\n# Twice.\n{g}\n{new_h}"), &[f, h], "f, h");
    is_placed("m.py", PY, &format!("LIMIT = 4\n\n\n{new_f}"), &[("LIMIT = 3", "LIMIT = 4"), f], "LIMIT, f");
    let main = "if __name__ == \"__main__\":\n    print(g(2))\n";
    let old = "if __name__ == \"__main__\":\n    print(f(1))\n    print(g(1))\n";
    is_placed("m.py", PY, &format!("{new_h}\n\n{main}"), &[h, (old, main)], "h, if __name__ == \"__main__\"");
    // A comment above one of them is its own.
    let noted = format!("{new_f}\n\n# Thrice.\n{}", g.replace("+ 2", "+ 3 - 1"));
    let old = "# Twice.\ndef g(a):\n    return a + 2\n";
    is_placed("m.py", PY, &noted, &[f, (old, "# Thrice.\ndef g(a):\n    return a + 3 - 1\n")], "f, g");
    let two = "function f(x) {\n  return x + 1;\n}\n\nfunction g(x) {\n  return x + 20;\n}\n";
    is_placed("a.js", JS, two, &[("x + 2;", "x + 20;")], "g");
    let block = "describe(\"one\", () => {\n  it(\"is not\");\n});\n";
    is_placed(
        "a.js",
        JS,
        &format!("{block}\nconst a = 2;\n"),
        &[("\"is\"", "\"is not\""), ("a = 1", "a = 2")],
        "describe(\"one\", () =>, a",
    );
}

#[test]
fn several_methods_take_their_places_at_any_indentation() {
    let class = "class A:\n    def __init__(self):\n        self.x = 1\n\n    def inc(self):\n        self.x += 1\n\n    def dec(self):\n        self.x -= 1\n\n    def zero(self):\n        self.x = 0\n\n\nclass B:\n    def z(self):\n        return 0\n\n\ndef last():\n    pass\n";
    let two = "    def inc(self):\n        self.x += 10\n\n    def dec(self):\n        self.x -= 10\n";
    let changes = [("self.x += 1\n", "self.x += 10\n"), ("self.x -= 1\n", "self.x -= 10\n")];
    is_placed("c.py", class, two, &changes, "inc, dec");
    let bare: String = two.lines().map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line))).collect();
    is_placed("c.py", class, &bare, &changes, "inc, dec");
    // A class around some of them and a function behind it.
    let both = format!("class A:\n{two}\n\ndef last():\n    return 1\n");
    is_placed("c.py", class, &both, &[changes[0], changes[1], ("pass", "return 1")], "inc, dec, last");
}

#[test]
fn rules_and_their_declarations_take_their_places() {
    is_placed("s.css", CSS, "a {\n  color: green;\n}\n", &[("red", "green")], "a");
    is_placed(
        "s.css",
        CSS,
        "#last {\n  padding: 1px;\n  margin: 0;\n}\n",
        &[("#last {\n  padding: 0;\n", "#last {\n  padding: 1px;\n  margin: 0;\n")],
        "#last",
    );
    let all = "h1, h2 {\n  color: green;\n  margin: 0;\n  padding: 0;\n}\n";
    is_placed("s.css", CSS, all, &[("h1,\nh2 {\n  color: blue;", "h1, h2 {\n  color: green;")], "h1, h2");
    let two = "a {\n  color: green;\n}\n#last {\n  padding: 9px;\n}\n";
    is_placed(
        "s.css",
        CSS,
        two,
        &[("red", "green"), ("#last {\n  padding: 0;", "#last {\n  padding: 9px;")],
        "a, #last",
    );
    // Of a block that leaves out most of what is in it, only what is written is meant.
    let one = "h1,\nh2 {\n  color: green;\n}\n";
    is_placed("s.css", CSS, one, &[("blue", "green")], "color");
    let inner = "@media (max-width: 9px) {\n  e {\n    margin: 3px;\n  }\n}\n";
    is_placed("s.css", CSS, inner, &[("margin: 1px", "margin: 3px")], "e");
    is_placed("s.css", CSS, "c { margin: 7px; }\n", &[("c { margin: 0; }", "c { margin: 7px; }")], "c");
}

#[test]
fn statements_that_create_take_their_places() {
    let table = "CREATE TABLE b (\n  id INT,\n  n TEXT\n);\n";
    let old = "CREATE TABLE IF NOT EXISTS \"b\" (\n  id INT\n);\n";
    is_placed("s.sql", SQL, table, &[(old, table)], "table b");
    let lower = "create index i on a (id, n);\n\ncreate view v as\nselect id, n\nfrom a;\n";
    let changes = [
        ("CREATE INDEX i ON a (id); -- of a", "create index i on a (id, n);"),
        ("CREATE VIEW v AS\nSELECT id\nFROM a;", "create view v as\nselect id, n\nfrom a;"),
    ];
    is_placed("s.sql", SQL, lower, &changes, "index i, view v");
    assert_eq!(passages(SQL, "ALTER TABLE a ADD n TEXT;\n", "s.sql"), None, "it is none of the file");
    // Where a statement ends is not certain.
    let trigger = "CREATE TRIGGER t AFTER INSERT ON a BEGIN\nUPDATE a SET id = 1;\nEND;\n";
    assert_eq!(passages(&format!("{trigger}{SQL}"), &trigger.replace("= 1", "= 2"), "s.sql"), None);
}

#[test]
fn keys_and_items_take_their_places() {
    let job = "  lint:\n    runs-on: ubuntu\n    steps:\n      - run: lint --all\n";
    let wanted = [("- run: lint\n", "- run: lint --all\n")];
    is_placed("ci.yml", YAML, job, &wanted, "lint");
    let bare: String = job.lines().map(|line| format!("{}\n", &line[2..])).collect();
    is_placed("ci.yml", YAML, &bare, &wanted, "lint");
    // The other jobs stay, and so do the other steps.
    is_placed("ci.yml", YAML, &format!("jobs:\n{job}"), &wanted, "lint");
    is_placed("ci.yml", YAML, &format!("name: ci\non: push\njobs:\n{job}"), &wanted, "lint");
    is_placed("ci.yml", YAML, "on: [push]\n", &[("on: push", "on: [push]")], "on");
    let steps = "    steps:\n    - run: make\n    - run: make check\n";
    let test = format!("  test:\n    runs-on: ubuntu\n{steps}");
    is_placed("ci.yml", YAML, &test, &[("make test", "make check")], "test");
    for unclear in [
        // Twice in the file, not in it, and with another key beside it.
        steps.to_string(),
        "  deploy:\n    runs-on: ubuntu\n".to_string(),
        format!("{job}  deploy:\n    runs-on: ubuntu\n"),
        "jobs:\n  deploy:\n    runs-on: ubuntu\n".to_string(),
        "jobs:\n".to_string(),
    ] {
        assert_eq!(passages(YAML, &unclear, "ci.yml"), None, "{unclear}");
    }
}

#[test]
fn members_take_their_places_with_their_commas() {
    let scripts = "\"scripts\": {\n    \"a\": \"1\",\n    \"b\": \"22\"\n  }";
    let wanted = [("\"b\": \"2\"", "\"b\": \"22\"")];
    for new in [format!("  {scripts}\n"), format!("  {scripts},\n"), format!("{{\n  {scripts}\n}}\n")] {
        is_placed("p.json", JSON, &new, &wanted, "\"scripts\"");
    }
    let both = format!("  \"name\": \"y\",\n  {scripts}\n");
    is_placed("p.json", JSON, &both, &[("\"x\"", "\"y\""), wanted[0]], "\"name\", \"scripts\"");
    is_placed("p.json", JSON, "  \"z\": \"2\",\n", &[("\"z\": \"1\"", "\"z\": \"2\"")], "\"z\"");
    assert_eq!(passages(JSON, "  \"new\": 1\n", "p.json"), None);
    assert_eq!(passages(JSON, "  \"name\": \"y\n", "p.json"), None, "the file could not be read any more");
}

#[test]
fn sections_of_a_document_take_their_places() {
    is_placed("D.md", MD, "## Use\n\nRun z.\n", &[("Run y.", "Run z.")], "## Use");
    let more = "## Install\n\nRun w.\n\n```sh\n# no heading\nx\n```\n\n### More\n\nAnd so on.\n";
    is_placed("D.md", MD, more, &[("Run x.", "Run w."), ("And z.", "And so on.")], "## Install, ### More");
    is_placed("D.md", MD, "## Licence\n\nBSD\n", &[("Licence\n-------\n\nMIT", "## Licence\n\nBSD")], "## Licence");
    // A heading alone says where the next one stands.
    is_placed("D.md", MD, "# T\n\n## Use\n\nRun z.\n", &[("Run y.", "Run z.")], "## Use");
    let twice = format!("{MD}\n## Use\n\nAgain.\n");
    assert_eq!(passages(&twice, "## Use\n\nRun z.\n", "D.md"), None);
    assert_eq!(passages(MD, "## Use\n\nRun z.\n\n## New\n\nNew.\n", "D.md"), None);
    assert_eq!(passages(MD, "So:\n\n## Use\n\nRun z.\n", "D.md"), None, "it says more");
}

#[test]
fn tables_and_targets_take_their_places() {
    let dev = "[dev]\nd = \"2\"\nversion = \"2\"\n";
    is_placed("c.toml", TOML, dev, &[("d = \"1\"", "d = \"2\"")], "[dev]");
    let rest = "[dependencies]\na = \"1\"\nb = \"22\"\nc = [\n  \"3\",\n]\n";
    is_placed(
        "c.toml",
        TOML,
        &format!("{rest}\n{dev}"),
        &[("b = \"2\"", "b = \"22\""), ("d = \"1\"", "d = \"2\"")],
        "[dependencies], [dev]",
    );
    // The other settings of a section stay.
    is_placed("c.toml", TOML, "[dependencies]\nb = \"22\"\n", &[("b = \"2\"", "b = \"22\"")], "b");
    is_placed("c.toml", TOML, "[package]\nversion = \"3\"\n", &[("version = \"1\"", "version = \"3\"")], "version");
    is_placed("c.toml", TOML, "name = \"y\"\n", &[("\"x\"", "\"y\"")], "name");
    for unclear in ["version = \"3\"\n", "[dependencies]\nnew = \"1\"\n", "[features]\nx = []\n", "[dependencies]\n"] {
        assert_eq!(passages(TOML, unclear, "c.toml"), None, "{unclear}");
    }
    is_placed(
        "Makefile",
        MAKE,
        "b: b.c b.h\n\t$(CC) -g b.c\n",
        &[("b: b.c\n\t$(CC) b.c", "b: b.c b.h\n\t$(CC) -g b.c")],
        "b",
    );
    is_placed(
        "x/Makefile",
        MAKE,
        "CC := clang\n\na: a.c\n\t$(CC) -g a.c\n",
        &[("CC = gcc", "CC := clang"), ("$(CC) a.c", "$(CC) -g a.c")],
        "CC, a",
    );
    assert_eq!(passages(MAKE, "FLAGS += -Wall\n", "Makefile"), None, "twice in the file");
    is_placed(".env", "A=1\nexport B=2\n", "B=3\n", &[("export B=2", "B=3")], "B");
}

#[test]
fn a_snippet_with_a_part_of_no_certain_place_is_not_placed() {
    let f = "def f(a):\n    return a + 10\n";
    for unclear in [
        format!("{f}\n\ndef new(a):\n    return a\n"),
        format!("def new(a):\n    return a\n\n\n{f}"),
        format!("import sys\n\n{f}"),
        format!("{f}\nprint(f(2))\n"),
        format!("{f}\n# ... existing code ...\n"),
        "def f(a):\n    # ... existing code ...\n    return a\n\n\ndef g(a):\n    return a\n".to_string(),
        format!("{f}\n\n{f}"),
        "return a + 10\n".to_string(),
        "OTHER = 1\n".to_string(),
        "import os\n".to_string(),
        String::new(),
    ] {
        assert_eq!(passages(PY, &unclear, "m.py"), None, "{unclear}");
    }
    let two = format!("{PY}\n\nclass A:\n    def f(self):\n        return 1\n\n\ndef f(b):\n    return b\n");
    assert_eq!(
        passages(&two, &format!("{f}\n\ndef h(a):\n    return 0\n"), "m.py"),
        None,
        "f stands twice in the file"
    );
    // What stands as it is says nothing of the rest.
    assert_eq!(passages(PY, "def f(a):\n    return a + 1\n\n\ndef h(a):\n    return a + 3\n", "m.py"), None);
}

#[test]
fn a_passage_of_hardly_anything_is_no_new_text() {
    let long: String = (0..9).map(|n| format!("Line {n} of it.\n")).collect();
    let file = format!("{MD}\n## Long\n\n{long}");
    assert_eq!(passages(&file, "## Long\n\nLine 3 of it is short.\n", "D.md"), None);
    assert!(passages(&file, &format!("## Long\n\n{}", long.replace("Line 3", "Line three")), "D.md").is_some());
    assert_eq!(passages("x = [\n  1,\n  2,\n  3,\n]\ny = 2\n", "x = [\n  # empty\n", "a.py"), None, "it is not over");
}

/// The text of a snippet's file after it, if it is placed.
fn placed(path: &str, file: &str, new: &str) -> Option<String> {
    passages(file, new, path).map(|(text, _)| text)
}

#[test]
fn what_stands_beside_a_passage_is_not_lost() {
    let steps = "- checkout:\n    a: 1\n    b: 1\n- build:\n    c: 2\n";
    let new = "- checkout:\n    a: 5\n    b: 1\n";
    let after = placed("ci.yml", steps, new);
    assert!(after.is_none_or(|after| after.contains("- build:\n    c: 2\n")));
    let rules = "* { margin: 0; }\nbody {\n  color: red;\n}\n";
    let after = placed("a.css", rules, "/* Note. */\nbody {\n  color: blue;\n}\n");
    assert!(after.is_none_or(|after| after.contains("* { margin: 0; }\n")));
    let line = "{\n  \"width\": 1, \"height\": 2,\n  \"z\": 3\n}\n";
    assert_eq!(placed("a.json", line, "\"width\": 5,\n"), None);
    let line = "a {\n  color: red; background: blue;\n  margin: 0;\n  padding: 0;\n}\n";
    assert!(placed("a.css", line, "a {\n  color: green;\n}\n").is_none_or(|after| after.contains("background: blue")));
}

#[test]
fn a_table_takes_the_place_of_all_of_the_old_one() {
    let rows = |count: usize| (0..count).map(|n| format!("    \"{n}\": {n},\n")).collect::<String>();
    let python = |count| format!("UNITS = {{\n{}}}\n", rows(count));
    let rust = |count| format!("const UNITS: [(&str, u8); {count}] = [\n{}];\n", rows(count));
    let go = |count| format!("var units = map[string]int{{\n{}}}\n", rows(count).replace("    ", "\t"));
    let ts = |count| format!("export const UNITS: Record<string, number> = {{\n{}}};\n", rows(count));
    for (path, table) in [("a.py", &python as &dyn Fn(usize) -> String), ("a.rs", &rust), ("a.go", &go), ("a.ts", &ts)]
    {
        let around = |table: &str| format!("// a\n\n{table}\nx();\n");
        let file = around(&table(6));
        for count in [1, 5, 6, 9] {
            let wanted = Some(around(&table(count))).filter(|wanted| *wanted != file);
            assert_eq!(passages(&file, &table(count), path).map(|(text, _)| text), wanted, "{path} {count}");
        }
        assert_eq!(passages(&file, &table(6).replace("    \"2\": 2,\n", "    # ...\n"), path), None, "{path}");
    }
    let list = "COLORS = [\n    \"a\",\n    \"b\",\n    \"c\",\n]\nX = 1\n";
    assert_eq!(
        passages(list, "COLORS = [\"a\"]\n", "a.py").map(|(text, _)| text).as_deref(),
        Some("COLORS = [\"a\"]\nX = 1\n")
    );
    assert_eq!(passages(list, "COLORS = [\"a\", ...]\n", "a.py"), None, "it leaves something out");
}

#[test]
fn a_branch_leaves_the_end_that_closes_more_than_it() {
    let file = "def run\n  a\nrescue E\n  b\nend\n\ndef stop\n  c\nend\n";
    is_placed("a.rb", file, "rescue E\n  z\n", &[("  b\n", "  z\n")], "rescue E");
    is_placed("a.rb", file, "rescue E\n  z\nend\n", &[("  b\n", "  z\n")], "rescue E");
    let more = file.replace("  b\nend", "  b\nensure\n  d\nend");
    assert_eq!(passages(&more, "rescue E\n  z\nend\n", "a.rb"), None, "the end is that of another branch");
    is_placed("a.rb", &more, "rescue E\n  z\n", &[("  b\n", "  z\n")], "rescue E");
}
