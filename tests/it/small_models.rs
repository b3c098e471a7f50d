//! Sessions of small models, and of models of which nothing is known: how they are asked, and what is done when they repeat
//! themselves or change nothing.

use nebula::protocol::{Command, EventBody, Item, SessionChoice, Setting, TurnEnd};
use nebula::provider::{Delta, Request, ToolSpec};
use serde_json::json;

use crate::support::world::{Live, World, call, say};

const FILE: &str = "def greet():\n    print(\"hi\")\n";

fn tool_names(request: &Request) -> Vec<&str> {
    request.tools.iter().map(|tool| tool.name.as_str()).collect()
}

/// Prompt and tools of a request as they are sent, in bytes.
fn weight(request: &Request) -> usize {
    request.system.len() + request.tools.iter().map(weight_of_tool).sum::<usize>()
}

fn weight_of_tool(t: &ToolSpec) -> usize {
    json!({"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.parameters}})
        .to_string()
        .len()
}

/// A session with this model.
fn started(world: &World, model: &str) -> Live {
    let live = world.start();
    live.send(Command::Set(Setting::Model(model.into())));
    live
}

fn notices(live: &Live) -> Vec<String> {
    let title = |event: &EventBody| match event {
        EventBody::Added(_, Item::Notice(n)) if n.title != "the model is a recording" => Some(n.title.clone()),
        _ => None,
    };
    live.events.iter().filter_map(title).collect()
}

/// An edit of a small model lands by its file alone: no tools that write, the attachment before the task, the reminder last.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_small_model_is_prompted_for_whole_files() {
    let answer = "greet.py\n```python\ndef greet(name):\n    print(\"hi \" + name)\n```\n";
    let world = World::new().file("greet.py", FILE).approve("edits").model([say(answer)]);
    let mut live = started(&world, "qwen2.5-coder:1.5b");
    live.submit("Let @greet.py take a name");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(world.read("greet.py"), "def greet(name):\n    print(\"hi \" + name)\n");
    let request = &live.requests()[0];
    let writes =
        ["writeFile", "editFile", "replaceInFile", "applyPatch", "deleteFile", "moveFile", "undo", "runCommand"];
    assert!(!tool_names(request).iter().any(|name| writes.contains(name)), "{:?}", tool_names(request));
    let sent = request.messages.last().expect("a message").text().into_owned();
    assert!(sent.starts_with(&format!("greet.py\n```python\n{FILE}```\n\nLet @greet.py take a name\n\n")), "{sent}");
    assert!(sent.ends_with("then a fenced block with the file's complete new text."), "{sent}");
    assert!(weight(request) <= 6 << 10, "{} bytes", weight(request));
    // What comes with it of the project is beside the prompt itself.
    let prompt = request.system.split("\nAll files, by folder:").next().unwrap_or_default();
    assert!(prompt.len() <= 4 * 400, "{} bytes\n{prompt}", prompt.len());
    live.close().await;
}

/// A world of 62 files in six folders, in the languages whose definitions are read.
fn usual_project(steps: impl IntoIterator<Item = Vec<Delta>>) -> World {
    let mut world =
        World::new().model(steps).file("README.md", "# x\n").file("Cargo.toml", "[package]\nname = \"x\"\n");
    for folder in ["src", "src/api", "src/models", "tests", "scripts"] {
        for (n, kind) in ["rs", "py", "ts", "go"].iter().cycle().take(12).enumerate() {
            world = world.file(&format!("{folder}/customer_{n:02}.{kind}"), "x\n");
        }
    }
    world
}

/// A world of many folders with long names, as a repository in which every file has changed.
fn project_of_many_folders(steps: impl IntoIterator<Item = Vec<Delta>>) -> World {
    let mut world = World::new().model(steps);
    for build in ["package.json", "Cargo.toml", "go.mod", "pyproject.toml", "Makefile", "CMakeLists.txt", "pom.xml"] {
        world = world.file(build, "").file(&format!("packages/shared/{build}"), "");
    }
    for (n, kind) in ["py", "ts", "go", "rs", "cpp", "rb", "java", "html"].iter().cycle().take(200).enumerate() {
        let folder = format!("packages/{kind}-service-component-number-{}/src/internal/handlers", n % 48);
        world = world.file(&format!("{folder}/very_long_module_name_for_handlers_{n}.{kind}"), "x\n");
    }
    for words in [vec!["init", "-q", "--template="], vec!["add", "."]] {
        let git = std::process::Command::new("git").args(words).current_dir(world.root()).status();
        assert!(git.is_ok_and(|ended| ended.success()));
    }
    world
}

/// The first request leaves room for a long path, in the longest form that a server takes, in a usual project and in one
/// of many folders.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_request_is_short() {
    const LONG_PATH: usize = 80;
    let longest = |request: &Request| weight(request) + request.tools.len() * ",\"strict\":false".len();
    let usual = (usual_project as fn([Vec<Delta>; 1]) -> World, "src/api/: ");
    let many = (project_of_many_folders as fn([Vec<Delta>; 1]) -> World, " more folders");
    for (project, holds) in [usual, many] {
        let mut live = project([say("Done.")]).start();
        live.submit("hi");
        assert_eq!(live.end().await, TurnEnd::Done);
        let request = live.requests().remove(0);
        let code = tool_names(&request).iter().filter(|name| name.starts_with("code")).count();
        assert!(code == 4 && request.system.contains(holds), "{:?}\n{}", tool_names(&request), request.system);
        assert!(longest(&request) + LONG_PATH <= 10 << 10, "{} bytes\n{}", longest(&request), request.system);
        live.close().await;

        let mut live = started(&project([say("Done.")]), "qwen2.5-coder:1.5b");
        live.send(Command::Set(Setting::Format("tools".into())));
        live.submit("hi");
        assert_eq!(live.end().await, TurnEnd::Done);
        let request = live.requests().remove(0);
        assert!(tool_names(&request).contains(&"replaceInFile"), "{:?}", tool_names(&request));
        assert!(request.system.starts_with("You are nebula, a coding assistant"), "{}", request.system);
        assert!(weight(&request) <= 6 << 10, "{} bytes\n{}", weight(&request), request.system);
        live.close().await;
    }
}

/// A small model takes the likeliest word each time; one that thinks, and any other, is left to its server, and what is
/// configured counts before both.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_small_model_is_asked_for_the_likeliest_words() {
    let wanted = [
        ("qwen2.5-coder:1.5b", Some(0.0)),
        ("qwen3:4b", None),
        ("phi-4-mini-reasoning-3.8b", None),
        ("gpt-4.1-mini", None),
        ("mine-3b", Some(0.7)),
    ];
    let world = World::new().model(wanted.map(|_| say("Done.")));
    std::fs::create_dir_all(world.home().join(".nebula")).expect("made");
    let config = json!({"models": {"mine-3b": {"temperature": 0.7}}});
    std::fs::write(world.home().join(".nebula/config.json"), config.to_string()).expect("written");
    let mut live = world.start();
    for (at, (model, temperature)) in wanted.into_iter().enumerate() {
        live.send(Command::Set(Setting::Model(model.into())));
        live.submit("Look");
        assert_eq!(live.end().await, TurnEnd::Done);
        assert_eq!(live.requests()[at].temperature, temperature, "{model}");
    }
    live.close().await;
}

/// What a small model reads comes in the notation it is to answer in; lines of a file are no file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_small_model_reads_has_the_notation_of_its_answer() {
    let world = World::new().file("greet.py", FILE).model([
        say(r#"{"name": "readFile", "arguments": {"path": "greet.py"}}"#),
        call("readFile", json!({"path": "greet.py", "startLine": 2, "endLine": 2})),
        say("Done."),
    ]);
    let mut live = started(&world, "qwen2.5-coder:1.5b");
    live.submit("Look");
    assert_eq!(live.end().await, TurnEnd::Done);
    let requests = live.requests();
    let result_text = |at: usize| requests[at].messages.last().expect("a result").text().into_owned();
    let whole = format!("Result of readFile:\ngreet.py\n```python\n{FILE}```\n\n");
    assert!(result_text(1).starts_with(&whole), "{}", result_text(1));
    assert_eq!(result_text(2), "Lines 2-2 of greet.py:\n```python\n    print(\"hi\")\n```");
    live.close().await;
}

/// In plan mode nothing is changed: the model is reminded of no format, and shown no edit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_small_model_that_plans_is_not_asked_for_edits() {
    let world = World::new().file("greet.py", FILE).plan().model([say("First, a name.")]);
    let mut live = started(&world, "qwen2.5-coder:1.5b");
    live.submit("Let @greet.py take a name");
    assert_eq!(live.end().await, TurnEnd::Done);
    let request = &live.requests()[0];
    let sent: Vec<String> = request.messages.iter().map(|message| message.text().into_owned()).collect();
    assert_eq!(sent, [format!("greet.py\n```python\n{FILE}```\n\nLet @greet.py take a name")]);
    assert!(tool_names(request).contains(&"readFile"), "{:?}", tool_names(request));
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_file_is_changed_by_blocks() {
    let long = "x = 1\n".repeat(400);
    let world = World::new().file("long.py", &long).model([say("Done.")]);
    let mut live = started(&world, "gemma-3-4b");
    live.submit("Look at @long.py");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(live.requests()[0].system.contains("<<<<<<< SEARCH"));
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_request_of_any_other_model_is_light_too() {
    let world = World::new().file("src/greet.py", FILE).file("pyproject.toml", "").model([say("Hi.")]);
    for words in [vec!["init", "-q", "--template="], vec!["add", "."]] {
        let git = std::process::Command::new("git").args(words).current_dir(world.root()).status();
        assert!(git.is_ok_and(|ended| ended.success()));
    }
    let mut live = world.start();
    live.submit("Hello");
    assert_eq!(live.end().await, TurnEnd::Done);
    let request = &live.requests()[0];
    assert!(tool_names(request).contains(&"replaceInFile") && tool_names(request).contains(&"runCommand"));
    let code: usize = request.tools.iter().filter(|tool| tool.name.starts_with("code")).map(weight_of_tool).sum();
    assert!(weight(request) - code <= 10 << 10 && code <= 1400, "{code} of {} bytes", weight(request));
    assert!(!request.system.contains("`path:line`"), "no argument is written so");
    live.close().await;
}

/// A call written as text says how the model writes: from then on it is asked for edits as text, and in later sessions too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_in_the_text_teaches_the_format() {
    let written = r#"```json
{"name": "replaceInFile", "arguments": {"path": "greet.py", "search": "\"hi\"", "replace": "\"hello\""}}
```"#;
    let world = World::new().file("greet.py", FILE).approve("edits");
    let world = world.model([say(written), say("Done."), say("Done.")]);
    let mut live = started(&world, "somebody-coder");
    live.submit("Say hello in @greet.py");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(world.read("greet.py").contains("hello"));
    assert!(tool_names(&live.requests()[0]).contains(&"replaceInFile"));
    assert_eq!(notices(&live), ["this model writes edits as text: format whole"]);
    live.submit("And now?");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(!tool_names(&live.requests()[1]).contains(&"replaceInFile"));
    live.close().await;
    let mut live = started(&world, "somebody-coder");
    live.open(SessionChoice::New);
    live.submit("Again");
    live.end().await;
    assert!(!tool_names(&live.requests()[0]).contains(&"replaceInFile"), "it is remembered");
    live.close().await;
}

/// A first edit that fails takes the tools for edits alone; one that has made an edit keeps them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_native_edit_that_fails_takes_no_other_tools() {
    let edit =
        |search: &str| call("replaceInFile", json!({"path": "greet.py", "search": search, "replace": "\"hello\""}));
    let world = World::new().file("greet.py", FILE).approve("edits");
    let world = world.model([edit("\"hi\""), edit("\"absent\""), say("Done."), edit("\"absent\""), say("Done.")]);
    let mut live = started(&world, "somebody-coder");
    live.submit("Say hello in @greet.py");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(tool_names(&live.requests()[2]).contains(&"replaceInFile"), "one was made before");
    assert_eq!(notices(&live), ["an edit was not applied"]);
    live.open(SessionChoice::New);
    live.submit("Once more in @greet.py");
    assert_eq!(live.end().await, TurnEnd::Done);
    let last = live.requests().pop().expect("a request");
    let tools = tool_names(&last);
    assert!(!tools.contains(&"replaceInFile") && ["readFile", "runCommand"].iter().all(|name| tools.contains(name)));
    let failed = "the first edit of this model by a tool call in this session failed";
    assert!(notices(&live).iter().any(|notice| notice.starts_with(failed)), "{:?}", notices(&live));
    live.close().await;
}

/// An edit that cannot be made for a reason that is not the model's says nothing of how it writes edits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_of_a_file_that_moved_on_or_is_withheld_takes_no_tools() {
    let edit = |path: &str, search: &str| {
        call("replaceInFile", json!({"path": path, "search": search, "replace": "\"hello\""}))
    };
    let world = World::new().file("greet.py", FILE).file(".env", "KEY=one\n").approve("edits");
    let read = call("readFile", json!({"path": "greet.py"}));
    let edits = [edit("greet.py", "\"hi\""), edit(".env", "one"), say("Done."), say("Well.")];
    let world = world.model([read, say("Read.")].into_iter().chain(edits));
    let mut live = started(&world, "somebody-coder");
    live.submit("Read greet.py");
    assert_eq!(live.end().await, TurnEnd::Done);
    world.write("greet.py", "def greet():\n    return None\n");
    live.submit("Say hello in it, and in .env");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(notices(&live).iter().all(|notice| !notice.contains("by a tool call")), "{:?}", notices(&live));
    live.submit("And now?");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(tool_names(&live.requests()[5]).contains(&"replaceInFile"));
    live.close().await;
}

/// A question of nebula's about an edit, or one argument that is missing, takes no tools; that it is missing again does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_asked_back_about_an_edit_takes_no_tools() {
    let part = "def a():\n    return 1\n\n\ndef b():\n    return 2\n";
    let method = |n: u32| format!("\n    def m{n}(self):\n        return {n}\n");
    let whole = format!("{part}\n\nclass K:\n    kind = 1\n{}{}{}", method(1), method(2), method(3));
    let rewrite = call("editFile", json!({"path": "m.py", "new_content": part.replace("1", "10")}));
    let incomplete = || call("replaceInFile", json!({"path": "m.py", "search": "return 2"}));
    let to = call("moveFile", json!({"to": "n.py"}));
    let answers = [rewrite, say("Asked."), to, say("Hm."), say("So."), incomplete(), say("Well."), say("End.")];
    let world = World::new().file("m.py", &whole).approve("edits").model(answers);
    let mut live = started(&world, "somebody-coder");
    let mut offers = Vec::new();
    for prompt in ["Drop K from @m.py", "Move it", "And now?", "Change it", "And then?"] {
        live.submit(prompt);
        assert_eq!(live.end().await, TurnEnd::Done, "{prompt}");
        let last = live.requests().pop().expect("a request");
        offers.push(["replaceInFile", "editFile"].iter().all(|name| tool_names(&last).contains(name)));
    }
    let told: Vec<String> = live.requests()[1].messages.iter().map(|message| message.text().into_owned()).collect();
    assert!(told.iter().any(|text| text.contains("is a part of the file meant?")), "{told:?}");
    assert_eq!(world.read("m.py"), whole);
    assert_eq!(offers, [true, true, true, false, false], "{:?}", notices(&live));
    live.close().await;
}

/// The same edit of a turn once more is done already, and is not applied twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_that_stands_is_not_made_again() {
    let edit =
        || call("replaceInFile", json!({"path": "a.py", "search": "import os", "replace": "import os\nimport re"}));
    let world = World::new().file("a.py", "import os\n").approve("edits").model([edit(), edit(), say("Done.")]);
    let mut live = world.start();
    live.submit("Import re in @a.py");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(world.read("a.py"), "import os\nimport re\n");
    let result_text = live.requests()[2].messages.last().expect("a result").text().into_owned();
    assert!(result_text.starts_with("already done"), "{result_text}");
    live.close().await;
}

/// A change that is made already and asked for a third time ends the turn as done: what was asked for stands.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_that_stands_and_is_asked_for_again_and_again_ends_the_turn() {
    let edit =
        || call("replaceInFile", json!({"path": "a.py", "search": "import os", "replace": "import os\nimport re"}));
    let world = World::new().file("a.py", "import os\n").approve("edits").model([edit(), edit(), edit(), say("Late.")]);
    let mut live = world.start();
    live.submit("Import re in @a.py");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(live.requests().len(), 3);
    assert!(notices(&live).iter().any(|title| title.contains("made already")), "{:?}", notices(&live));
    live.close().await;
}

const CALC: &str = "import os\n\n\ndef f():\n    return 1\n\n\ndef g():\n    return 2\n";

/// A call that imports `sys` in [`CALC`], and the same change as a diff and as a block.
fn import_sys() -> (serde_json::Value, [&'static str; 2]) {
    let call = json!({"path": "calc.py", "search": "import os\n", "replace": "import os\nimport sys\n"});
    let diff = "```diff\n--- a/calc.py\n+++ b/calc.py\n@@ -1,3 +1,4 @@\n import os\n+import sys\n \n \n```\n";
    let block = "calc.py\n<<<<<<< SEARCH\nimport os\n=======\nimport os\nimport sys\n>>>>>>> REPLACE\n";
    (call, [diff, block])
}

/// A report of a change is not made again, in this turn or a later one, and says nothing of how the model writes edits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_is_reported_is_not_made_again() {
    let (edit, reports) = import_sys();
    for report in reports {
        let world = World::new().file("calc.py", CALC).approve("edits");
        let text = format!("Done. This is the change:\n\n{report}");
        let replies = [call("replaceInFile", edit.clone()), say(&text), say(&text), say("That is all.")];
        let world = world.model(replies);
        let mut live = started(&world, "somebody-coder");
        live.submit("Import sys in @calc.py");
        assert_eq!(live.end().await, TurnEnd::Done);
        let wanted = CALC.replace("import os\n", "import os\nimport sys\n");
        assert_eq!((world.read("calc.py"), live.requests().len()), (wanted.clone(), 2), "{report}");
        live.submit("Show me the diff of what you changed");
        assert_eq!(live.end().await, TurnEnd::Done);
        assert_eq!(world.read("calc.py"), wanted, "{report}");
        assert!(notices(&live).iter().all(|title| !title.contains("edits as text")), "{:?}", notices(&live));
        assert!(live.requests().iter().all(|request| tool_names(request).contains(&"replaceInFile")));
        live.close().await;
    }
}

/// A change that is shown and then asked for by a call of the same answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_is_shown_and_called_is_made_once() {
    let (edit, shown) = import_sys();
    for text in shown {
        let mut both = call("replaceInFile", edit.clone());
        both.insert(0, nebula::provider::Delta::Text(format!("I apply this:\n\n{text}")));
        let world = World::new().file("calc.py", CALC).approve("edits").model([both, say("Done.")]);
        let mut live = started(&world, "somebody-coder");
        live.submit("Import sys in @calc.py");
        assert_eq!(live.end().await, TurnEnd::Done);
        assert_eq!(world.read("calc.py"), CALC.replace("import os\n", "import os\nimport sys\n"), "{text}");
        let told = live.requests()[1].messages.iter().map(|m| m.text().into_owned()).collect::<Vec<_>>().join("\n");
        assert!(told.contains("calc.py: already done"), "{told}");
        assert!(notices(&live).is_empty(), "{:?}", notices(&live));
        live.close().await;
    }
}

/// The same call twice in one answer is made once, and the second is answered so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_call_twice_in_one_answer_is_made_once() {
    let edit = |search: &str, replace: &str| {
        ("replaceInFile", json!({"path": "calc.py", "search": search, "replace": replace}))
    };
    let new = || ("writeFile", json!({"path": "new.py", "content": "x = 1\n"}));
    let longer = || edit("return 2", "return 20");
    let gone = || edit("def f():\n    return 1\n\n\n", "");
    let calls = [longer(), gone(), new(), longer(), gone(), new()];
    let world = World::new().file("calc.py", CALC).approve("edits");
    let world = world.model([crate::support::world::calls(&calls), say("Done.")]);
    let mut live = world.start();
    live.submit("Change @calc.py");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(world.read("calc.py"), "import os\n\n\ndef g():\n    return 20\n");
    assert_eq!(world.read("new.py"), "x = 1\n");
    let results: Vec<String> =
        live.requests()[1].messages.iter().rev().take(6).map(|m| m.text().into_owned()).collect();
    let done: Vec<bool> = results.iter().rev().map(|text| text.contains("already done")).collect();
    assert_eq!(done, [false, false, false, true, true, true], "{results:?}");
    live.close().await;
}

/// A file that is deleted or moved already is done, however often it is asked for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_gone_already_is_done() {
    let delete = || call("deleteFile", json!({"path": "calc.py"}));
    let to = || call("moveFile", json!({"path": "calc.py", "to": "c.py"}));
    let patch = "*** Begin Patch\n*** Update File: calc.py\n@@\n-import os\n+import re\n*** End Patch";
    let patch = || call("applyPatch", json!({"patch": patch}));
    for (name, steps) in [
        ("delete", [delete(), delete(), delete()]),
        ("move", [to(), to(), to()]),
        ("patch", [patch(), patch(), patch()]),
    ] {
        let world = World::new().file("calc.py", CALC).approve("all").model(steps);
        let mut live = world.start();
        live.submit("Change @calc.py");
        assert_eq!(live.end().await, TurnEnd::Done, "{name}");
        let told = live.requests()[2].messages.last().expect("a result").text().into_owned();
        assert!(told.contains("already done"), "{name}: {told}");
        assert!(!world.has("calc.py") || world.read("calc.py").starts_with("import re\n\n\ndef f"), "{name}");
        live.close().await;
    }
}

/// A change after which a file does not parse is told with its result, and a model that writes text goes on with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_syntax_error_that_an_edit_brings_is_told() {
    let broken = "greet.py\n```python\ndef greet(name):\n    print(\"hi \" + name\n```\n";
    let mended = "greet.py\n```python\ndef greet(name):\n    print(\"hi \" + name)\n```\n";
    let world = World::new().file("greet.py", FILE).approve("edits").model([say(broken), say(mended), say("Late.")]);
    let mut live = started(&world, "qwen2.5-coder:1.5b");
    live.submit("Let @greet.py take a name");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(world.read("greet.py"), "def greet(name):\n    print(\"hi \" + name)\n");
    let told = live.requests()[1].messages.last().expect("a message").text().into_owned();
    assert!(told.contains("greet.py: it cannot be read any more from line 2 on. Nothing was written yet."), "{told}");
    live.close().await;

    // A part of it is written.
    let block = |new: &str| format!("greet.py\n<<<<<<< SEARCH\n{FILE}=======\n{new}>>>>>>> REPLACE\n");
    let fixed =
        "greet.py\n<<<<<<< SEARCH\n    print(\"hi \" + name\n=======\n    print(\"hi \" + name)\n>>>>>>> REPLACE\n";
    let first = block("def greet(name):\n    print(\"hi \" + name\n");
    let file = format!("import sys\n\n\n{FILE}");
    let world = World::new().file("greet.py", &file).format("blocks").approve("edits");
    let world = world.model([say(&first), say(fixed), say("Late.")]);
    let mut live = started(&world, "qwen2.5-coder:1.5b");
    live.submit("Let @greet.py take a name");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(world.read("greet.py").ends_with("def greet(name):\n    print(\"hi \" + name)\n"));
    assert_eq!(live.requests().len(), 2, "nothing is left to say once it parses");
    let told = live.requests()[1].messages.last().expect("a message").text().into_owned();
    assert!(told.contains("greet.py: line 5 has a syntax error that was not there before"), "{told}");
    let summaries = live.events.iter().filter_map(|event| match event {
        EventBody::Changed(_, Item::Call(call)) => Some(call.summary.clone()),
        _ => None,
    });
    assert!(
        summaries.clone().any(|summary| summary == "syntax error in line 5"),
        "{:?}",
        summaries.collect::<Vec<_>>()
    );
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_second_identical_refusal_ends_the_turn() {
    let edit = || call("replaceInFile", json!({"path": "a.py", "search": "import sys", "replace": "import re"}));
    let world = World::new().file("a.py", "import os\n").model([edit(), edit(), say("Done.")]);
    let mut live = world.start();
    live.submit("Import re in @a.py");
    let TurnEnd::Asking(why) = live.end().await else { panic!("it ends") };
    assert!(why.starts_with("the same was refused twice: a.py: the search text is not in the file"), "{why}");
    assert_eq!(live.requests().len(), 2);
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_repeats_itself_is_cut() {
    let block = "Now I will write the function again, with the change that the task asks for, and check that every line of the file \
                 is there as it was before, and that nothing else is different from what it was.\n";
    let deltas = (0..200).map(|_| nebula::provider::Delta::Text(block.into())).collect();
    let world = World::new().model([deltas]);
    let mut live = world.start();
    live.submit("Go");
    assert!(matches!(live.end().await, TurnEnd::Failed { message, .. } if message.contains("repeated itself")));
    let answer: usize = live.events.iter().map(|e| if let EventBody::Grew(_, text) = e { text.len() } else { 0 }).sum();
    assert!(answer < 12 * block.len(), "{answer}");
    live.close().await;
}

/// The arguments of a call and thoughts are cut as text is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arguments_and_thoughts_that_repeat_themselves_are_cut() {
    use nebula::provider::Delta;
    let line = "    total = total + price_of(item)  # the price of one item is added to the total of all of them\\n";
    let head = r#"{"path": "a.py", "content": ""#;
    let piece = |at: usize, arguments: &str| Delta::Call {
        index: 0,
        id: (at == 0).then(|| "c".into()),
        name: (at == 0).then(|| "writeFile".into()),
        arguments: arguments.into(),
    };
    let call = (0..400).map(|at| piece(at, if at == 0 { head } else { line })).collect();
    let thoughts = (0..400).map(|_| Delta::Thinking(line.into())).collect();
    // Servers that send a call or a text in one piece end it there, too.
    let whole_call = vec![piece(0, &format!("{head}{}\"}}", line.repeat(400)))];
    let whole_file = vec![Delta::Text(format!("a.py\n```python\n{}```\n", line.replace("\\n", "\n").repeat(400)))];
    let arguments = format!("{head}{}\"}}", line.repeat(400));
    let written = format!("```json\n{{\"name\": \"writeFile\", \"arguments\": {arguments}}}\n```\n");
    for (deltas, format) in [
        (call, "tools"),
        (thoughts, "tools"),
        (whole_call, "tools"),
        (whole_file, "whole"),
        (vec![Delta::Text(written)], "tools"),
    ] {
        let world = World::new().approve("edits").format(format).model([deltas]);
        let mut live = world.start();
        live.submit("Go");
        assert!(matches!(live.end().await, TurnEnd::Failed { message, .. } if message.contains("repeated itself")));
        assert!(!world.has("a.py"));
        live.close().await;
    }
}

/// Blank characters without end are cut as other texts are, in whichever pieces they come; what is whole before them stands.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blank_characters_without_end_are_cut() {
    use nebula::provider::Delta;
    let floods = ["\n".repeat(6_000), " ".repeat(12_000), "\t".repeat(12_000), "  \n".repeat(6_000)];
    let in_pieces = |text: &str| -> Vec<Delta> {
        let chars: Vec<char> = text.chars().collect();
        chars.chunks(70).map(|piece| Delta::Text(piece.iter().collect())).collect()
    };
    let arguments = |flood: &str, pieces: bool| -> Vec<Delta> {
        let text = json!({"path": "a.py", "content": format!("x = 1\n{flood}")}).to_string();
        let of = |(at, arguments): (usize, &str)| Delta::Call {
            index: 0,
            id: (at == 0).then(|| "c".into()),
            name: (at == 0).then(|| "writeFile".into()),
            arguments: arguments.into(),
        };
        let (head, rest) = text.split_at(40);
        if pieces { [head, rest].into_iter().enumerate().map(of).collect() } else { vec![of((0, &text))] }
    };
    for flood in &floods {
        let fence = format!("a.py\n```python\nx = 1\n{flood}```\n");
        let behind = format!("Done.{flood}");
        let whole = format!("b.py\n```python\ny = 1\n```\n{flood}");
        for (deltas, format, b) in [
            (vec![Delta::Text(fence.clone())], "whole", false),
            (in_pieces(&fence), "whole", false),
            (vec![Delta::Text(behind.clone())], "tools", false),
            (in_pieces(&behind), "tools", false),
            (vec![Delta::Text(whole.clone())], "whole", true),
            (in_pieces(&whole), "whole", true),
            (arguments(flood, false), "tools", false),
            (arguments(flood, true), "tools", false),
        ] {
            let world = World::new().approve("edits").format(format).model([deltas]);
            let mut live = world.start();
            live.submit("Go");
            let end = live.end().await;
            let TurnEnd::Failed { message, hint, .. } = end else { panic!("{end:?}") };
            assert!(message.contains("repeated itself") && hint.contains("blank"), "{message} {hint}");
            assert!(!world.has("a.py") && world.has("b.py") == b, "{format} {:?}", &flood[..3]);
            live.close().await;
        }
    }
}

/// Where a model writes `path:line` for a path, the line is what it reads; quotes and labels are no part of a path either.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reading_tools_take_paths_with_any_marks_around_them() {
    let world = World::new().file("src/a.py", "one\ntwo\nthree\n").model([
        call("readFile", json!({"path": "src/a.py:2"})),
        call("readFile", json!({"path": "`src/a.py`:2-3"})),
        call("readFile", json!({"path": "file: src/a.py"})),
        call("list", json!({"path": "`src`"})),
        say("Done."),
    ]);
    let mut live = world.start();
    live.submit("Look");
    assert_eq!(live.end().await, TurnEnd::Done);
    let requests = live.requests();
    let result_text = |at: usize| requests[at].messages.last().expect("a result").text().into_owned();
    assert_eq!((result_text(1).trim_end(), result_text(2).trim_end()), ("two", "two\nthree"));
    assert_eq!(result_text(3), "one\ntwo\nthree\n");
    assert!(result_text(4).contains("a.py"), "{}", result_text(4));
    live.close().await;
}

/// A whole new text that leaves out most of its file is no proposal before the model was asked whether it meant a part;
/// sent again it is one, for the person alone to decide.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_doubtful_whole_file_raises_a_question_first() {
    let file = "def a():\n    pass\n\n\ndef b():\n    pass\n\n\ndef c():\n    pass\n\n\ndef d():\n    pass\n";
    let part = "a.py\n```python\ndef x():\n    pass\n\n\ndef y():\n    pass\n```\n";
    let world = World::new().file("a.py", file).approve("edits").model([say(part), say(part), say("Done.")]);
    let mut live = started(&world, "qwen2.5-coder:1.5b");
    live.submit("Add x to @a.py");
    let proposal = live.decide(nebula::proposal::Choice::Reject).await;
    assert!(proposal.needs_person().is_some());
    live.end().await;
    let question_text = live.requests()[1].messages.last().expect("a question").text().into_owned();
    assert!(
        question_text.contains("4 of the file's 4 definitions")
            && question_text.contains("is a part of the file meant?"),
        "{question_text}"
    );
    assert_eq!(world.read("a.py"), file);
    live.close().await;
}

/// Definitions of a file without the lines around them take the places of their namesakes, for a person to decide; beside
/// one that the file does not have they raise the same question.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_stands_around_the_definitions_of_a_file_is_not_lost() {
    let one = "import os\n\nA = 1\n\n\ndef a():\n    return A\n";
    let main = "\n\nif __name__ == \"__main__\":\n    print(a())\n";
    let (file, other) = (format!("{one}\n\ndef b():\n    return 2\n{main}"), format!("{one}{main}"));
    let changed = |text: &str| text.replace("return A", "return A + 1");
    let part = "def a():\n    return A + 1\n\n\ndef b():\n    return 2\n";
    let fenced = |text: &str| say(&format!("a.py\n```python\n{text}```\n"));
    let world = World::new().file("a.py", &file).approve("edits");
    let unknown = part.replace("def b", "def c");
    let world = world.model([fenced(&unknown), fenced(part), say("Done.")]);
    let mut live = started(&world, "qwen2.5-coder:1.5b");
    live.submit("Let a return one more in @a.py");
    let proposal = live.decide(nebula::proposal::Choice::Accept).await;
    assert!(proposal.needs_person().is_some());
    live.end().await;
    let question_text = live.requests()[1].messages.last().expect("a question").text().into_owned();
    assert!(question_text.contains("is a part of the file meant?"), "{question_text}");
    assert_eq!(world.read("a.py"), changed(&file));
    live.close().await;
    let world = World::new().file("a.py", &other).approve("edits");
    let world = world.model([fenced("def a():\n    return A + 1\n"), say("Done.")]);
    let mut live = started(&world, "qwen2.5-coder:1.5b");
    live.submit("Let a return one more in @a.py");
    let proposal = live.decide(nebula::proposal::Choice::Accept).await;
    assert!(proposal.needs_person().is_some());
    live.end().await;
    assert_eq!(world.read("a.py"), changed(&other));
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_that_should_have_changed_something_says_so() {
    let world = World::new()
        .file("a.py", "x = 1\n")
        .model([say("Like this:\n```python\ndef one():\n    two()\n    three()\n```\n"), say("It is a file.")]);
    let mut live = world.start();
    live.submit("Write it");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(notices(&live), ["no file was changed"]);
    live.submit("What is @a.py?");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(notices(&live).len(), 1, "a question needs no change");
    live.close().await;
}

/// A block without a path that reports a change of the turn is no edit where calls are expected.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_block_that_reports_a_change_is_no_edit() {
    let file = "import os\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n";
    let edit = call("replaceInFile", json!({"path": "a.py", "search": "return 1", "replace": "return 10"}));
    let report = "Now it reads:\n```python\ndef one():\n    return 10  # more\n```\n";
    let world = World::new().file("a.py", file).approve("edits").model([edit, say(report)]);
    let mut live = world.start();
    live.submit("Let one in @a.py return 10");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(world.read("a.py"), file.replace("return 1\n", "return 10\n"));
    assert_eq!((live.requests().len(), notices(&live)), (2, Vec::new()));
    live.close().await;
}

/// A file whose name has its characters decomposed is meant by calls that compose them, and none is made beside it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_in_composed_characters_is_that_of_a_decomposed_one() {
    let (file, name) = ("de\u{301}.py", "d\u{e9}.py");
    let world = World::new().file(file, "x = 1\n").approve("edits").model([
        call("readFile", json!({"path": name})),
        call("replaceInFile", json!({"path": name, "search": "x = 1", "replace": "x = 2"})),
        call("writeFile", json!({"path": name, "content": "y = 1\n"})),
        say("Done."),
    ]);
    let mut live = world.start();
    live.submit("Let x be 2");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!((world.read(file).as_str(), world.has(name)), ("x = 2\n", false));
    live.close().await;
}

/// A whole file in a form that no format has is read where it can mean one thing alone, and is shown again on resume.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_file_in_an_object_or_a_tag_is_read() {
    let new = "def greet(name):\n    print(\"hi \" + name)\n";
    let object = json!({"path": "greet.py", "content": new}).to_string();
    for reply in [object, format!("<greet.py>\n{new}</greet.py>\n")] {
        let world = World::new().file("greet.py", FILE).approve("edits").model([say(&reply)]);
        let mut live = started(&world, "qwen2.5-coder:1.5b");
        live.submit("Let @greet.py take a name");
        assert_eq!(live.end().await, TurnEnd::Done);
        assert_eq!(world.read("greet.py"), new, "{reply}");
        assert_eq!(notices(&live), Vec::<String>::new());
        live.close().await;
        let mut again = world.start();
        again.open(SessionChoice::Continue);
        let recalled =
            again.until(|e| if let EventBody::Recalled(items) = e { Some(items.clone()) } else { None }).await;
        let call = recalled
            .iter()
            .find_map(|(_, item)| if let Item::Call(call) = item { Some(call.main.clone()) } else { None });
        assert_eq!(call.as_deref(), Some("greet.py"), "{reply}");
    }
}

/// A call that the server withdraws is none: the answer behind it is read as one without any.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_in_no_format_behind_a_withdrawn_call_is_read() {
    let new = "def greet(name):\n    print(\"hi \" + name)\n";
    let begun =
        Delta::Call { index: 0, id: Some("call-0".into()), name: Some("readFile".into()), arguments: "{\"pa".into() };
    let mut step = vec![begun, Delta::Withdraw { text: 0, thinking: 0, calls: 1 }];
    step.extend(say(&json!({"path": "greet.py", "content": new}).to_string()));
    let world = World::new().file("greet.py", FILE).approve("edits").model([step]);
    let mut live = started(&world, "qwen2.5-coder:1.5b");
    live.submit("Let @greet.py take a name");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(world.read("greet.py"), new);
    live.close().await;
}

/// What changes nothing is told so once; the same once more stops the turn, and is not said to be done.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_comes_back_as_it_is_twice_ends_the_turn() {
    let same = || say(&format!("greet.py\n```python\n{FILE}```\n"));
    let better = "greet.py\n```python\ndef greet(name):\n    print(\"hi \" + name)\n```\n";
    let world = World::new().file("greet.py", FILE).approve("edits").model([same(), same(), same(), say(better)]);
    let mut live = started(&world, "qwen2.5-coder:1.5b");
    live.submit("Let @greet.py take a name");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(live.requests().len(), 2);
    assert_eq!(notices(&live), ["no file was changed"]);
    let told = live.requests()[1].messages.last().expect("a message").text().into_owned();
    assert!(told.contains("changes nothing") && told.contains("Let @greet.py take a name"), "{told}");
    // A turn begins anew, and one that then changes the file ends well.
    live.submit("A parameter, please");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(world.read("greet.py"), "def greet(name):\n    print(\"hi \" + name)\n");
    live.close().await;
}

/// Files that an answer repeats as they are beside one that it changes raise no question.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_come_back_as_they_are_beside_a_change_are_not_asked_about() {
    let answer = format!("greet.py\n```python\n{FILE}```\n\nnotes.txt\n```\nGreets.\n```\n");
    let world = World::new().file("greet.py", FILE).approve("edits").model([say(&answer), say("Unasked.")]);
    let mut live = started(&world, "qwen2.5-coder:1.5b");
    live.submit("Write notes.txt about @greet.py");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!((live.requests().len(), notices(&live)), (1, Vec::new()));
    assert_eq!([world.read("greet.py"), world.read("notes.txt")], [FILE, "Greets.\n"]);
    live.close().await;
}

/// A document as it is, as it shall be and once more so is written once, and what stands raises no question.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_before_and_after_its_change_is_written_once() {
    let before = "# Tool\n\nIt does things.\n\n## Use\n\n1. Import it.\n";
    let after = format!("{before}\n## Test\n\nRun:\n```\npython test.py\n```\n");
    let block = |text: &str| format!("```\nREADME.md\n```\n```\n{text}```\n\n");
    let (old, new) = (block(before), block(&after));
    let answer = say(&format!(
        "**Before, `README.md`:**\n{old}**After, `README.md`:**\n{new}This is all of `README.md`. Its diff:\n\n{new}That is it.\n"
    ));
    let world = World::new().file("README.md", before).approve("edits").model([answer, say("Unasked.")]);
    let mut live = started(&world, "qwen2.5:3b");
    live.submit("Say in @README.md how to run the tests, and show the diff");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!((live.requests().len(), notices(&live)), (1, Vec::new()));
    assert_eq!(world.read("README.md"), after);
    live.close().await;
}

/// A file's whole new text that names no file is asked about once, where one file is in play; then the end of the turn says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_file_without_its_path_is_asked_for_with_it() {
    let file = "import csv\nimport sys\n\ndef main():\n    path = sys.argv[1]\n    total = 0\n    with open(path) as f:\n        for row in csv.reader(f):\n            total += int(row[1])\n    print(total)\n\nmain()\n";
    let new = "import csv\nfrom sys import argv\n\ndef main():\n    if len(argv) != 2:\n        print(\"Usage: python csv_total.py <path-to-csv>\")\n        return\n\n    try:\n        with open(argv[1], 'r') as file:\n            reader = csv.reader(file)\n            total = 0\n            for i, row in enumerate(reader):\n                if i == 0:\n                    continue\n                try:\n                    amount = int(row[0])\n                    total += amount\n                except ValueError:\n                    continue\n            print(total)\n    except FileNotFoundError:\n        print(\"File not found.\")\n\nif __name__ == \"__main__\":\n    main()\n";
    let bare = || say(&format!("```python\n{new}```\n"));
    let better = file.replace("row[1]", "row[0]");
    let titled = say(&format!("csv_total.py\n```python\n{better}```\n"));
    for (model, requests, told) in
        [(vec![bare(), titled], 2, vec![]), (vec![bare(), bare(), say("Unasked.")], 2, vec!["no file was changed"])]
    {
        let world = World::new().file("csv_total.py", file).approve("edits").model(model);
        let mut live = started(&world, "granite3.3:8b");
        live.submit("Fix @csv_total.py");
        assert_eq!(live.end().await, TurnEnd::Done);
        assert_eq!((live.requests().len(), notices(&live)), (requests, told.iter().map(|t| t.to_string()).collect()));
        let question = live.requests()[1].messages.last().expect("a question").text().into_owned();
        assert!(question.contains("which file it belongs to: is it csv_total.py?"), "{question}");
        assert_eq!(world.read("csv_total.py"), if told.is_empty() { &better } else { file });
        live.close().await;
    }
}

/// What was said at the end of a turn stands there again when its session is resumed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_ends_of_turns_are_shown_again_on_resume() {
    let same = || say(&format!("greet.py\n```python\n{FILE}```\n"));
    let unread = "Like this:\n```python\ndef one():\n    two()\n    three()\n```\n";
    let list = || call("list", json!({"path": "."}));
    let edit = || call("replaceInFile", json!({"path": "greet.py", "search": "no", "replace": "yes"}));
    let ends = [vec![same(), same()], vec![say(unread)], vec![list(), list(), list()], vec![edit(), edit()]];
    for (end, model) in ends.into_iter().enumerate() {
        let world = World::new().file("greet.py", FILE).approve("edits").model(model);
        let mut live = if end == 0 { started(&world, "qwen2.5-coder:1.5b") } else { world.start() };
        live.submit("Let @greet.py take a name");
        live.end().await;
        let told = notices(&live);
        assert_eq!(told.len(), 1, "{end}: {told:?}");
        live.close().await;
        let mut again = world.start();
        again.open(SessionChoice::Continue);
        let recalled =
            again.until(|e| if let EventBody::Recalled(items) = e { Some(items.clone()) } else { None }).await;
        let title = |(_, item): &(_, Item)| if let Item::Notice(n) = item { Some(n.title.clone()) } else { None };
        assert_eq!(recalled.iter().filter_map(title).collect::<Vec<_>>(), told, "{end}");
        again.close().await;
    }
}

/// The notice at the end of a turn names the file of a block that was not read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_block_for_another_file_is_named_at_the_end_of_the_turn() {
    let world = World::new().file("a.py", "x = 1\n").approve("edits");
    let world = world.model([say("Here is the test.\n\n`tests/t.py`\n```python\nimport a\n```\n")]);
    let mut live = world.start();
    live.submit("Test @a.py");
    assert_eq!(live.end().await, TurnEnd::Done);
    let detail = |event: &EventBody| match event {
        EventBody::Added(_, Item::Notice(notice)) if notice.title == "no file was changed" => {
            Some(notice.detail.clone())
        }
        _ => None,
    };
    let details: Vec<String> = live.events.iter().filter_map(detail).collect();
    assert!(details.len() == 1 && details[0].contains("tests/t.py"), "{details:?}");
    assert!(!world.has("tests/t.py"));
    live.close().await;
}
