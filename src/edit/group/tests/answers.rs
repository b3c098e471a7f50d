//! Answers as models write them, from their text to the files.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::edit::stream::{End, KnownFile, Piece, read};
use crate::edit::{Current, Edit, EditResult, Format, GroupRules, NO_FILE, apply};
use crate::proposal::{Rung, State};

const MAKEFILE: &str = "CC = gcc\nOBJ = main.o stack.o\n\nall: rpn\n\nrpn: $(OBJ)\n\t$(CC) -o $@ $(OBJ)\n\nclean:\n\trm -f rpn $(OBJ)\n\n.PHONY: all clean\n";
const GO: &str = "package main\n\nimport \"fmt\"\n\nfunc a() {\n\tfmt.Println(\"a\")\n}\n\nfunc main() {\n\ta()\n}\n";
const SHAPES: &str = "\"\"\"Areas of shapes.\"\"\"\n\nimport math\n\n\ndef circle(r):\n    return math.pi * r * r\n\n\ndef square(a):\n    return a * a\n\n\ndef rectangle(a, b):\n    return a * b\n";

/// The files after an answer, and the least certain place of its edits.
struct Played {
    files: BTreeMap<String, String>,
    rung: Option<Rung>,
    results: Vec<EditResult>,
}

/// Plays an answer on these files.
fn play(files: &[(&str, &str)], format: Format, answer: &str) -> Played {
    let known: Vec<KnownFile> =
        files.iter().map(|(path, text)| KnownFile { path: path.to_string(), text: Arc::from(*text) }).collect();
    let calls = crate::tools::ToolSet::builtin().calls();
    let pieces = read(answer, Some(format), known.clone(), calls, End::Ordinary);
    let edit = |piece| if let Piece::EditDone { edit, .. } = piece { Some(edit) } else { None };
    let edits: Vec<Edit> = pieces.into_iter().filter_map(edit).collect();
    let mut lookup = |path: &str| {
        let state =
            files.iter().find(|(own, _)| *own == path).map_or(State::Absent, |(_, t)| State::file(t.as_bytes()));
        Ok(Current { path: path.to_string(), state, seen: true, read: None, instead: Vec::new(), withheld: None })
    };
    let in_play = if let [(path, _)] = files { Some(path.to_string()) } else { None };
    let rules = GroupRules { in_play, known, questioned: Some(HashSet::new()), ..GroupRules::default() };
    let outcome = apply(&edits, &mut lookup, &rules);
    let mut after: BTreeMap<String, String> =
        files.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect();
    for change in &outcome.changes {
        after.insert(change.path.clone(), change.after.text().unwrap_or_default().to_string());
    }
    let rung = outcome.results.iter().filter_map(EditResult::rung).max();
    Played { files: after, rung, results: outcome.results }
}

/// Asserts what an answer makes of one file, and whether that is certain.
fn assert_played((path, before): (&str, &str), format: Format, answer: &str, wanted: &str, is_certain: bool) {
    let played = play(&[(path, before)], format, answer);
    let text = &played.files[path];
    assert_eq!(text, wanted, "{}: {answer}\n{:?}", format.name(), played.results);
    assert_eq!(played.files.len(), 1, "{answer}");
    let rung = played.rung.unwrap_or_else(|| panic!("{}: nothing is placed: {answer}", format.name()));
    assert_eq!(rung < Rung::Inexact, is_certain, "{}: {answer}\n{:?}", format.name(), played.results);
}

#[test]
fn a_new_recipe_has_a_tab() {
    let spaced = "test: rpn\n    ./rpn 1 2 +\n\n";
    let wanted = MAKEFILE.replace(".PHONY", "test: rpn\n\t./rpn 1 2 +\n\n.PHONY");
    let block =
        format!("Makefile\n<<<<<<< SEARCH\n.PHONY: all clean\n=======\n{spaced}.PHONY: all clean\n>>>>>>> REPLACE\n");
    let whole = format!("Makefile\n```makefile\n{}```\n", MAKEFILE.replace(".PHONY", &format!("{spaced}.PHONY")));
    let diff = "```diff\n--- a/Makefile\n+++ b/Makefile\n@@ -9,4 +9,7 @@\n clean:\n         rm -f rpn $(OBJ)\n \n+test: rpn\n+    ./rpn 1 2 +\n+\n .PHONY: all clean\n```\n";
    for (format, answer) in [(Format::BLOCKS, block.as_str()), (Format::WHOLE, &whole), (Format::PATCH, diff)] {
        assert_played(("Makefile", MAKEFILE), format, answer, &wanted, true);
    }
    let bare = block.replacen("Makefile\n", "", 1);
    assert_played(("Makefile", MAKEFILE), Format::BLOCKS, &bare, &wanted, true);
    let made = play(&[], Format::WHOLE, "Makefile\n```makefile\nall:\n    echo a\n```\n");
    assert_eq!(made.files["Makefile"], "all:\n\techo a\n");
}

#[test]
fn a_new_function_has_the_tabs_of_its_file() {
    let spaced = "func b() {\n    if true {\n        fmt.Println(\"b\")\n    }\n}\n\n";
    let tabbed = "func b() {\n\tif true {\n\t\tfmt.Println(\"b\")\n\t}\n}\n\n";
    let wanted = GO.replace("func main", &format!("{tabbed}func main"));
    let block = format!("main.go\n<<<<<<< SEARCH\nfunc main() {{\n=======\n{spaced}func main() {{\n>>>>>>> REPLACE\n");
    let whole = format!("main.go\n```go\n{}```\n", GO.replace("func main", &format!("{spaced}func main")));
    let plus: String = spaced.lines().map(|line| format!("+{line}\n")).collect();
    let diff = format!("```diff\n--- a/main.go\n+++ b/main.go\n@@ -7,3 +7,9 @@\n }}\n \n{plus} func main() {{\n```\n");
    for (format, answer) in [(Format::BLOCKS, &block), (Format::WHOLE, &whole), (Format::PATCH, &diff)] {
        assert_played(("main.go", GO), format, answer, &wanted, true);
    }
}

#[test]
fn a_search_that_is_its_whole_replacement_is_the_whole_file() {
    let wanted = format!("{SHAPES}\n\ndef triangle(a, h):\n    return a * h / 2\n");
    for text in [wanted.as_str(), wanted.trim_end()] {
        let answer = format!("shapes.py\n<<<<<<< SEARCH\n{text}\n=======\n{text}\n>>>>>>> REPLACE\n");
        assert_played(("shapes.py", SHAPES), Format::BLOCKS, &answer, &wanted, true);
    }
    // A part of the file is none.
    let part = "def triangle(a, h):\n    return a * h / 2";
    let answer = format!("shapes.py\n<<<<<<< SEARCH\n{part}\n=======\n{part}\n>>>>>>> REPLACE\n");
    assert_eq!(play(&[("shapes.py", SHAPES)], Format::BLOCKS, &answer).files["shapes.py"], SHAPES);
}

const WEATHER: &str = "import json\n\nURL = \"https://a.example\"\nUNITS = {\"c\": \"Celsius\", \"f\": \"Fahrenheit\"}\n\n\ndef to_f(c):\n    return c * 9 / 5 + 32\n\n\ndef show(data, unit=\"c\"):\n    temp = data[\"temp\"]\n    if unit == \"f\":\n        temp = to_f(temp)\n    print(temp, UNITS[unit])\n\n\ndef main():\n    show({}, \"c\")\n";

#[test]
fn the_steps_of_an_answer_are_offered_together() {
    let show = "def show(data, unit=\"c\"):\n    temp = data[\"temp\"]\n    if unit == \"f\":\n        temp = to_f(temp)\n    elif unit == \"k\":\n        temp = to_k(temp)\n    print(temp, UNITS[unit])\n";
    let (units, to_k) = (
        "UNITS = {\"c\": \"Celsius\", \"f\": \"Fahrenheit\", \"k\": \"Kelvin\"}\n",
        "def to_k(c):\n    return c + 273.15\n",
    );
    let answer = format!(
        "You can add Kelvin with the following changes to `weather.py`:\n\n### 1. Add the unit\n\n```python\n{units}```\n\n### 2. Add the conversion function\n\n```python\n{to_k}```\n\n### 3. Use it in `show`\n\n```python\n{show}```\n\nLet me know if you'd like tests for this!\n"
    );
    let wanted = WEATHER
        .replace("\"f\": \"Fahrenheit\"}", "\"f\": \"Fahrenheit\", \"k\": \"Kelvin\"}")
        .replace("    print(", "    elif unit == \"k\":\n        temp = to_k(temp)\n    print(")
        .replace("def show", &format!("{to_k}\n\ndef show"));
    for format in Format::ALL {
        assert_played(("weather.py", WEATHER), format, &answer, &wanted, false);
    }
    let constant = "Two changes in `shapes.py`:\n\n1. Add a constant:\n\n```python\nPI = 3.14159\n```\n\n2. Use it:\n\n```python\ndef circle(r):\n    return PI * r * r\n```\n";
    let wanted = SHAPES.replace("def circle", "PI = 3.14159\n\n\ndef circle").replace("math.pi *", "PI *");
    assert_played(("shapes.py", SHAPES), Format::TOOLS, constant, &wanted, false);
    let import = "First import functools at the top of `shapes.py`:\n\n```python\nimport functools\nimport math\n```\n\nThen decorate `circle`:\n\n```python\n@functools.cache\ndef circle(r):\n    return math.pi * r * r\n```\n";
    let wanted = SHAPES
        .replace("import math", "import functools\nimport math")
        .replace("def circle", "@functools.cache\ndef circle");
    assert_played(("shapes.py", SHAPES), Format::BLOCKS, import, &wanted, false);
}

const USERS: &str = "export interface User {\n  id: number;\n}\n\nexport class UserStore {\n  private next = 1;\n\n  add(name: string): User {\n    return { id: this.next++ };\n  }\n\n  all(): User[] {\n    return [];\n  }\n\n  remove(id: number): boolean {\n    return true;\n  }\n}\n\nexport function greet(user: User): string {\n  return `Hello, ${user.id}!`;\n}\n";
const LIBRARY: &str = "package org.example;\n\nimport java.util.List;\n\npublic class Library {\n    private final List<Book> books;\n\n    public static class Book {\n        public boolean isLent() {\n            return lent;\n        }\n    }\n\n    public void add(Book book) {\n        books.add(book);\n    }\n\n    public boolean lend(String title) {\n        return true;\n    }\n}\n";

#[test]
fn a_class_with_its_rest_left_out_means_what_it_shows() {
    let find = "  findByEmail(email: string): User | undefined {\n    return this.all().find((user) => user.email === email);\n  }\n";
    let all = "  all(): User[] {\n    return [];\n  }\n";
    let dots = "  // ... existing code ...\n";
    let class = |inner: &str| {
        format!("I'll add it.\n\n```typescript:src/users.ts\nexport class UserStore {{\n{inner}}}\n```\n\nDone.\n")
    };
    let wanted = USERS.replace(all, &format!("{all}\n{find}"));
    let at_end = USERS.replace("true;\n  }\n", &format!("true;\n  }}\n\n{find}"));
    for format in [Format::BLOCKS, Format::WHOLE] {
        let file = ("src/users.ts", USERS);
        let answer = class(&format!("{dots}\n{all}\n{find}\n{dots}"));
        assert_played(file, format, &answer, &wanted, false);
        let remove = "  remove(id: number): boolean {\n    return true;\n  }\n";
        assert_played(file, format, &class(&format!("{dots}\n{find}\n{remove}")), &wanted, false);
        for inner in [format!("{dots}\n{find}"), format!("{dots}\n{find}\n{dots}")] {
            assert_played(file, format, &class(&inner), &at_end, false);
        }
        let changed = all.replace("[]", "[...this.users]");
        let answer = class(&format!("{dots}\n{changed}\n{dots}"));
        assert_played(file, format, &answer, &USERS.replace(all, &changed), false);
    }
    let lent = "    public List<Book> lentBooks() {\n        List<Book> result = new ArrayList<>();\n        return result;\n    }\n";
    let answer = format!(
        "Here is the modified `Library` class:\n\n```java\npackage org.example;\n\nimport java.util.List;\n\npublic class Library {{\n    // ... (rest of the code remains the same)\n\n{lent}}}\n```\n\nI added a new method.\n"
    );
    let wanted = LIBRARY.replace("return true;\n    }\n", &format!("return true;\n    }}\n\n{lent}"));
    for format in [Format::WHOLE, Format::BLOCKS] {
        assert_played(("Library.java", LIBRARY), format, &answer, &wanted, false);
    }
    let python = "class Inventory:\n    def low(self):\n        return 1\n\n    def search(self, text):\n        return [text]\n\n    def total(self):\n        return 3\n\n\ndef main():\n    pass\n";
    let answer = "Here's how to update the `search` method in `inventory.py`:\n\n```python\nclass Inventory:\n    # ... existing methods ...\n\n    def search(self, text):\n        text = text.lower()\n        return [text]\n\n    # ... rest of the class unchanged ...\n```\n";
    let wanted = python.replace("        return [text]", "        text = text.lower()\n        return [text]");
    for format in Format::ALL {
        assert_played(("inventory.py", python), format, answer, &wanted, false);
    }
}

#[test]
fn what_an_answer_adds_at_an_end_is_offered_there() {
    let main = "struct Stats {\n    words: usize,\n}\n\nfn main() {\n    println!();\n}\n";
    let tests = "#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn counts() {\n        assert_eq!(1, 1);\n    }\n}\n";
    for head in [
        "Add the following at the end of `src/main.rs`:",
        "At the end of `src/main.rs`, add:",
        "`src/main.rs`の末尾に追加します：",
        "Append this to **main.rs**:",
    ] {
        let answer = format!("{head}\n\n```rust\n{tests}```\n");
        for format in Format::ALL {
            assert_played(("src/main.rs", main), format, &answer, &format!("{main}\n{tests}"), false);
        }
    }
    let give = "    public boolean giveBack(String title) {\n        return false;\n    }\n";
    let wanted = LIBRARY.replace("return true;\n    }\n", &format!("return true;\n    }}\n\n{give}"));
    for head in [
        "1. Abre `Library.java` y añade el siguiente método al final de la clase:",
        "Add this method to `Library.java`:",
        "In `Library.java`, add this at the end of the `Library` class:",
    ] {
        let answer = format!("{head}\n\n```java\n{give}```\n\n2. Guarda el archivo.\n");
        for format in Format::ALL {
            assert_played(("Library.java", LIBRARY), format, &answer, &wanted, false);
        }
    }
    let triangle = "def triangle(a, h):\n    return a * h / 2\n";
    let answer = format!("Add this function to `shapes.py`:\n\n```python\n{triangle}```\n");
    assert_played(("shapes.py", SHAPES), Format::BLOCKS, &answer, &format!("{SHAPES}\n\n{triangle}"), false);
    for answer in [
        "You need another line at the end of `square`:\n\n```python\n    return a ** 2\n```\n",
        "The function you could call:\n\n```python\ndef triangle(a, h):\n    return a\n```\n",
        "`shapes.py` has at the end of it:\n\n```python\ndef rectangle(a, b):\n    return a * b\n```\n",
    ] {
        assert_eq!(play(&[("shapes.py", SHAPES)], Format::BLOCKS, answer).rung, None, "{answer}");
    }
}

#[test]
fn a_block_of_one_of_several_files_is_offered_where_calls_are_asked_for() {
    let page = "<!DOCTYPE html>\n<html>\n<body>\n<button>Send</button>\n</body>\n</html>\n";
    let style = "body {\n  margin: 0;\n}\n\nbutton {\n  padding: 0.5rem;\n}\n";
    let files = [("index.html", page), ("style.css", style)];
    let rule = "button {\n  padding: 0.5rem;\n  background: blue;\n}\n";
    for head in ["**CSS:**", "Update the button rule in your CSS:"] {
        for format in [Format::TOOLS, Format::WHOLE, Format::BLOCKS] {
            let played = play(&files, format, &format!("{head}\n\n```css\n{rule}```\n"));
            let wanted = style.replace("button {\n  padding: 0.5rem;\n}\n", rule);
            assert_eq!(
                (played.files["style.css"].as_str(), played.rung),
                (wanted.as_str(), Some(Rung::Inexact)),
                "{head}"
            );
        }
    }
    let used = "from shapes import circle, square\n\n\ndef table():\n    print(circle(1), square(1))\n";
    let files = [("shapes.py", SHAPES), ("use.py", used)];
    let pair = |old: &str, new: &str| format!("Before:\n```python\n{old}\n```\n\nAfter:\n```python\n{new}\n```\n\n");
    let answer = format!(
        "I'll rename it in both files.\n\n**`shapes.py`**\n\n{}**`use.py`**\n\n{}And:\n\n{}",
        pair("def circle(r):\n    return math.pi * r * r", "def area(r):\n    return math.pi * r * r"),
        pair("from shapes import circle, square", "from shapes import area, square"),
        pair("    print(circle(1), square(1))", "    print(area(1), square(1))"),
    );
    for format in [Format::TOOLS, Format::WHOLE, Format::BLOCKS] {
        let played = play(&files, format, &answer);
        assert_eq!(played.files["shapes.py"], SHAPES.replace("circle", "area"), "{:?}", played.results);
        assert_eq!(played.files["use.py"], used.replace("circle", "area"), "{:?}", played.results);
        assert_eq!(played.rung, Some(Rung::Inexact));
    }
}

#[test]
fn an_edit_of_a_missing_file_is_told_as_such() {
    let played = play(&[], Format::BLOCKS, "a.py\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n");
    assert!(played.results[0].text().contains(NO_FILE), "{}", played.results[0].text());
}
