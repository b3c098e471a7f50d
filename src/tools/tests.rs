use std::sync::Arc;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::archive::{Archive, ArchiveSettings};
use crate::edit::stream::{self, End, Piece};
use crate::provider::ToolSpec;
use crate::shell::{Commands, Shell};

#[test]
fn the_five_fixed_tools_have_exactly_their_parameters() {
    let tools = ToolSet::builtin();
    let fixed = [
        ("list", &["path"][..]),
        ("readFile", &["path"]),
        ("searchInDirectory", &["directory", "keyword"]),
        ("writeFile", &["path", "content"]),
        ("editFile", &["path", "new_content"]),
    ];
    for (name, required) in fixed {
        let schema = tools.find(name).expect(name).spec().parameters;
        assert_eq!(schema["required"], json!(required), "{name}");
        for parameter in required {
            assert_eq!(schema["properties"][parameter]["type"], "string", "{name}.{parameter}");
        }
    }
    let list = tools.find("list").expect("list").spec();
    assert_eq!(list.parameters["properties"]["recursive"]["type"], "boolean");
}

#[test]
fn a_tool_is_found_behind_a_prefix_and_by_nothing_else() {
    let tools = ToolSet::builtin();
    for name in ["readFile", "functions.readFile", "default_api:readFile", "a.b/readFile"] {
        assert_eq!(tools.own_name(name), Some("readFile"), "{name}");
    }
    for name in ["", "readFile.", "readFile.x", "functions.nothing", "myreadFile", "read file"] {
        assert_eq!(tools.own_name(name), None, "{name}");
    }
}

#[test]
fn plan_mode_is_offered_no_tool_that_writes() {
    let tools = ToolSet::builtin();
    let offered: Vec<String> = tools.specs(OfferedTools::Plan, true).into_iter().map(|s| s.name.to_string()).collect();
    for name in tools.names() {
        assert_eq!(offered.iter().any(|o| o == name), !tools.is(name, ToolKind::Write), "{name}");
    }
    assert!(["readFile", "runCommand"].iter().all(|name| offered.iter().any(|own| own == name)));
    let reading: Vec<String> =
        tools.specs(OfferedTools::Reading, false).into_iter().map(|s| s.name.to_string()).collect();
    assert!(reading.iter().any(|name| name == "readFile"), "{reading:?}");
    assert!(!reading.iter().any(|name| name == "runCommand" || name == "commandOutput"), "{reading:?}");
}

/// What is true of a workspace, its files among it, takes the rest of 10 KiB, of 6 KiB for small models. Tools count as
/// in the longest form that a server takes.
#[test]
fn what_a_model_is_told_of_tools_stays_short() {
    let size = |spec: ToolSpec| spec.name.len() + spec.description.len() + spec.parameters.to_string().len() + 87;
    let tools = |offered, code| ToolSet::builtin().specs(offered, code).into_iter().map(size).sum::<usize>();
    let format = include_str!("../../assets/prompts/format-tools.md").len();
    let prompt = include_str!("../../assets/prompts/agent.md").len() + format + 860;
    let all = tools(OfferedTools::All, true);
    assert!(all + prompt <= 10 << 10, "{all} + {prompt}");
    let prompt = include_str!("../../assets/prompts/agent-small.md").len() + format + 680;
    let small = tools(OfferedTools::Small, false);
    assert!(small + prompt <= 6 << 10, "{small} + {prompt}");
}

#[test]
fn the_edits_of_a_call_are_seen_from_its_arguments() {
    let tools = ToolSet::builtin();
    let reported = tools.edits("replaceInFile", &json!({"path": "a", "search": 5, "replace": ""})).expect("an edit");
    assert_eq!(reported.expect_err("wrong"), "`search` must be a string, but is a number");
    assert!(tools.edits("readFile", &json!({"path": "a"})).is_none());
    assert!(tools.edits("applyPatch", &json!({"patch": "hello"})).expect("an edit").is_err());
    for (name, args) in [
        ("writeFile", json!({"path": "a", "content": "b"})),
        ("deleteFile", json!({"path": "a"})),
        ("moveFile", json!({"path": "a", "to": "b"})),
        ("editFile", json!({"path": "a", "new_content": "b"})),
    ] {
        let edits = tools.edits(name, &args).expect("an edit").expect(name);
        assert_eq!((edits.len(), edits[0].path.as_deref(), edits[0].by.as_str()), (1, Some("a"), name));
    }
}

/// A tool that only this test has.
struct Weigh;

impl Tool for Weigh {
    fn spec(&self) -> ToolSpec {
        let parameters = json!({"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]});
        ToolSpec { name: "weighItem".into(), description: "Weighs an item.".into(), parameters }
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn aliases(&self) -> ToolAliases {
        ToolAliases { names: &["get_weight"], parameters: &[("item", &["thing"])], ..ToolAliases::NONE }
    }

    fn verb(&self) -> VerbForms {
        VerbForms { done: "weighed".into(), one: "item".into(), forms: None }
    }

    fn main(&self, args: &Value) -> String {
        args["item"].as_str().unwrap_or_default().to_string()
    }

    fn run(&self, _: ToolContext, args: Args, progress: Progress, stop: CancellationToken) -> ToolFuture<'_> {
        Box::pin(async move {
            progress.say("on the scales");
            if args.text("item")? == "the world" {
                stop.cancelled().await;
            }
            Ok(RunResult::Output(ToolOutput { text: "3 kg".into(), ..ToolOutput::default() }))
        })
    }
}

#[test]
fn a_tool_that_is_added_is_offered_found_named_and_read_in_a_text() {
    let tools = ToolSet::builtin().with(Arc::new(Weigh));
    assert!(tools.names().any(|name| name == "weighItem"));
    assert!(tools.specs(OfferedTools::Plan, true).iter().any(|spec| spec.name == "weighItem"));
    assert_eq!(tools.verb("weighItem").expect("a verb").done, "weighed");
    assert_eq!(tools.main("weighItem", &json!({"item": "anvil"})), "anvil");
    let texts = [
        r#"{"name": "get_weight", "arguments": {"thing": "anvil"}}"#,
        r#"weigh_item(item="anvil")"#,
        "<function=weighItem><parameter=item>anvil</parameter></function>",
    ];
    for text in texts {
        for (calls, known) in [(tools.calls(), true), (ToolSet::builtin().calls(), false)] {
            let pieces = stream::read(text, None, Vec::new(), calls, End::Ordinary);
            let read = pieces.iter().any(|piece| {
                matches!(piece, Piece::Call { name, arguments, .. }
                    if name == "weighItem" && *arguments == json!({"item": "anvil"}))
            });
            assert_eq!(read, known, "{text}: {pieces:?}");
        }
    }
}

fn context() -> (tempfile::TempDir, ToolContext) {
    let folder = tempfile::tempdir().expect("a folder");
    let workspace = Arc::new(crate::workspace::Workspace::open(folder.path()).expect("opened"));
    let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("an archive");
    let shell = Arc::new(Shell::for_archive(&workspace, &archive));
    let commands = Arc::new(Commands::new(shell, "test"));
    (folder, ToolContext { workspace, versions: Arc::default(), approved: None, commands, longest: usize::MAX })
}

#[tokio::test]
async fn a_run_tells_its_progress_and_can_be_stopped() {
    let (_folder, context) = context();
    let (lines, mut reported) = tokio::sync::mpsc::unbounded_channel();
    let stop = CancellationToken::new();
    let args = Args::new(json!({"item": "the world"})).expect("arguments");
    let run = Weigh.run(context, args, Progress::to(lines), stop.clone());
    let watch = async {
        assert_eq!(reported.recv().await.as_deref(), Some("on the scales"));
        stop.cancel();
    };
    let (result, ()) = tokio::join!(run, watch);
    assert!(matches!(result, Ok(RunResult::Output(output)) if output.text == "3 kg"));
}

#[tokio::test]
async fn a_search_ends_at_a_stop_and_at_its_cap() {
    let (folder, context) = context();
    for n in 0..300 {
        std::fs::write(folder.path().join(format!("f{n:03}")), "the word\n").expect("written");
    }
    let tools = ToolSet::builtin();
    let run = |name: &str, args: Value, stop: CancellationToken| {
        let tool = Arc::clone(tools.find(name).expect("a tool"));
        let (context, args) = (context.clone(), Args::new(args).expect("arguments"));
        async move { tool.run(context, args, Progress::default(), stop).await }
    };
    let text = |result: Result<RunResult, String>| match result.expect("answered") {
        RunResult::Output(output) => output.text,
        other => panic!("{other:?}"),
    };
    let search = json!({"directory": ".", "keyword": "word"});
    let found = text(run("searchInDirectory", search.clone(), CancellationToken::new()).await);
    assert!(found.contains("f199") && !found.contains("f200") && found.contains("first 200 files"), "{found}");
    let stopped = CancellationToken::new();
    stopped.cancel();
    for (name, args) in [("searchInDirectory", search), ("list", json!({"path": ".", "recursive": true}))] {
        let why = run(name, args, stopped.clone()).await.expect_err("stopped");
        assert_eq!(why, "stopped", "{name}");
    }
}

#[tokio::test]
async fn a_pipe_is_not_waited_for() {
    let (folder, context) = context();
    std::fs::write(folder.path().join("a"), "the word\n").expect("written");
    let (fifo, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR);
    rustix::fs::mknodat(rustix::fs::CWD, folder.path().join("pipe"), fifo, mode, 0).expect("made");
    let tools = ToolSet::builtin();
    let run = |name: &str, args: Value| {
        let tool = Arc::clone(tools.find(name).expect("a tool"));
        let (context, args) = (context.clone(), Args::new(args).expect("arguments"));
        async move { tool.run(context, args, Progress::default(), CancellationToken::new()).await }
    };
    let found = run("searchInDirectory", json!({"directory": ".", "keyword": "word"})).await.expect("searched");
    assert!(matches!(found, RunResult::Output(output) if output.text.starts_with("a\n")));
    let why = run("readFile", json!({"path": "pipe"})).await.expect_err("no file");
    assert!(why.contains("pipe"), "{why}");
}
