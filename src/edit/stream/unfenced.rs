//! Edits in forms that no format has: a JSON object of a path and a content or of what is replaced by what, or a tag that
//! names a file. Where the path is that of a known file there is one meaning.

pub(super) mod parts;

use serde_json::Value;

use self::parts::{MOST_TRIES, Names, PATHS, REPLACEMENTS, SEARCHES, find, without_fence};
use super::block::is_only_shown;
use super::paths::is_likely;
use super::paths::namesakes::has_nearly_all;
use super::pieces::KnownFile;
use super::tags::attribute;
use crate::edit::format::Format;
use crate::edit::locate::SearchShape;
use crate::edit::op::{Edit, Op};
use crate::edit::place::is_all_of;
use crate::edit::{json, names};

/// The names of a file's whole text.
const TEXTS: Names = [names::CONTENT, &["code"]];
/// The names of a list of such objects.
const LISTS: [&str; 3] = ["files", "edits", "changes"];
/// Files of one answer that are read so, at most.
const MOST: usize = 20;
/// A larger answer is read by its format alone.
const LARGEST: usize = 4 << 20;

/// Returns the edits of an answer in which no format is read: none where a file comes twice. Where calls are
/// expected, a text that has neither nearly all lines of its file nor both ends of it is not certain to be whole.
pub(super) fn unfenced(text: &str, expected: Option<Format>, known: &[KnownFile]) -> Vec<Edit> {
    let Some(expected) = expected.filter(|_| !known.is_empty() && text.len() <= LARGEST) else { return Vec::new() };
    let mut found: Vec<(String, Op)> = Vec::new();
    let (mut at, mut tries, mut above) = (0, 0, None);
    while at < text.len() && found.len() < MOST && tries < MOST_TRIES {
        let line = text[at..].split_inclusive('\n').next().unwrap_or_default();
        let start = at + line.len() - line.trim_start().len();
        let first = line.trim_start().bytes().next().filter(|first| b"{[<-ct$".contains(first));
        above = parts::headed(line, known).or(above);
        let part = first.filter(|first| !b"{[".contains(first)).and_then(|_| parts::part(&text[start..], above, known));
        let end = match first {
            _ if let Some(part) = part => {
                found.push((part.path, part.op));
                Some(part.length)
            }
            Some(b'<') if is_shown(&text[..start], &text[start..]) => None,
            Some(b'<') => tag(&text[start..], known, &mut found),
            Some(b'{' | b'[') => object(&text[start..], known, &mut found),
            _ => None,
        };
        let first = first.filter(|first| b"{[<".contains(first));
        tries += usize::from(first.is_some() && end.is_none());
        at = end.map_or(at + line.len(), |end| start + end);
    }
    let is_whole = |op: &Op| matches!(op, Op::Overwrite { .. });
    let twice = |(n, (path, op)): (usize, &(String, Op))| {
        found[..n].iter().any(|(other, before)| other == path && (is_whole(op) || is_whole(before)))
    };
    if found.iter().enumerate().any(twice) {
        return Vec::new();
    }
    let edits = found.into_iter().filter_map(|(path, op)| {
        let file = known.iter().find(|file| file.path == path);
        let whole = match (&op, file) {
            (_, None) => expected != Format::TOOLS,
            // A model that has tools for its changes may show a file as it is.
            (Op::Overwrite { content }, Some(file)) if expected == Format::TOOLS => {
                if content.trim_end() == file.text.trim_end() {
                    return None;
                }
                has_nearly_all(content, &file.text) || is_all_of(&file.text, content, &path)
            }
            _ => true,
        };
        if file.is_none() && !whole {
            return None;
        }
        Some(Edit { whole, ..Edit::new(path, op, Format::WHOLE, Format::WHOLE.name()) })
    });
    edits.collect()
}

/// Returns whether a document of a chat is only shown, or a change of one that is not read: what stands above it says so.
fn is_shown(above: &str, text: &str) -> bool {
    let Some(inside) = text.strip_prefix('<').and_then(|rest| rest.strip_prefix(ARTIFACT)) else { return false };
    let inside = inside.split('>').next().unwrap_or_default();
    let said = above.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    let is_update = attribute(inside, "command").is_some_and(|command| command == "update");
    is_update || is_only_shown(said)
}

/// Adds the edits of a JSON value at the start of `text`; where it ends, if it holds any.
fn object(text: &str, known: &[KnownFile], edits: &mut Vec<(String, Op)>) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let (value, end) = match values.next() {
        Some(Ok(value)) => (value, values.byte_offset()),
        // What models write is not always JSON.
        _ => {
            let end = text.rfind(['}', ']'])? + 1;
            (json::repair(&text[..end]).ok()?, end)
        }
    };
    let before = edits.len();
    let list = value.as_array().or_else(|| LISTS.iter().find_map(|name| value.get(name)?.as_array()));
    for object in list.map_or(std::slice::from_ref(&value), Vec::as_slice) {
        let field = |names: &Names| names.concat().iter().find_map(|name| object.get(name)?.as_str());
        let filled = |names: &Names| field(names).filter(|text| !text.trim().is_empty());
        let file = field(&PATHS).and_then(|path| find(path, known));
        if let Some((search, replace)) = filled(&SEARCHES).zip(field(&REPLACEMENTS)) {
            let (search, replace) = (search.to_string(), replace.to_string());
            edits.extend(file.map(|file| {
                (file.to_string(), Op::Replace { search, replace, shape: SearchShape::Literal, all: false })
            }));
        } else if let Some((file, content)) = file.zip(filled(&TEXTS)) {
            edits.push((file.to_string(), Op::Overwrite { content: content.to_string() }));
        } else {
            edits.extend(by_path(object, known).into_iter().flatten());
        }
    }
    (edits.len() > before).then_some(end)
}

/// Returns the files of an object whose names are all paths of known files, and whose values are their texts.
fn by_path(object: &Value, known: &[KnownFile]) -> Option<Vec<(String, Op)>> {
    let file = |(name, text): (&String, &Value)| {
        let content = text.as_str().filter(|content| !content.trim().is_empty())?.to_string();
        Some((find(name, known)?.to_string(), Op::Overwrite { content }))
    };
    object.as_object()?.iter().map(file).collect()
}

/// Adds the file of a tag whose line begins `text`, up to what closes it; where that ends. The path is in the tag, or in a
/// tag of its own with the text in the one below it.
fn tag(text: &str, known: &[KnownFile], edits: &mut Vec<(String, Op)>) -> Option<usize> {
    let (inside, rest) = text.lines().next()?.trim_end().strip_prefix('<')?.split_once('>')?;
    let name = inside.split_whitespace().next()?;
    let path = rest.strip_suffix(&format!("</{name}>")).filter(|_| PATHS.concat().contains(&name));
    let begins = if let Some(path) = path {
        let file = find(path, known)?;
        let below = text.find('\n').map(|at| &text[at..])?.trim_start();
        let tag = TEXTS.iter().copied().flatten().find(|tag| below.starts_with(&format!("<{tag}>")))?;
        (file.to_string(), *tag, text.len() - below.len() + tag.len() + 2)
    } else if name == ARTIFACT {
        let named = ["title", "identifier"].iter().filter_map(|key| attribute(inside, key));
        let own =
            |path: String| find(&path, known).map(str::to_string).or_else(|| is_likely(&path, known).then_some(path));
        (named.filter_map(own).next()?, name, inside.len() + 2)
    } else if rest.is_empty() || rest.starts_with(CDATA.0) {
        let named = inside.split_once('=');
        let named = named.filter(|(before, _)| PATHS.concat().iter().chain(&["name"]).any(|n| before.ends_with(n)));
        (find(named.map_or(inside, |(_, value)| value), known)?.to_string(), name, inside.len() + 2)
    } else {
        return None;
    };
    let (file, name, from) = begins;
    let close = format!("</{name}>");
    let at = text[from..].match_indices(&close).map(|(at, _)| from + at).find(|at| {
        let before = text[from..*at].trim_end_matches([' ', '\t']);
        before.is_empty() || before.ends_with('\n') || before.ends_with(CDATA.1)
    })?;
    let content = &text[from..at];
    let content = content.strip_prefix('\n').or_else(|| content.strip_prefix("\r\n")).unwrap_or(content);
    let bare = content.trim().strip_prefix(CDATA.0).and_then(|text| text.strip_suffix(CDATA.1));
    let content = bare.map_or(content, |bare| bare.trim_start_matches(['\r', '\n']));
    let content = without_fence(content.trim_end_matches([' ', '\t']));
    if content.trim().is_empty() {
        return None;
    }
    edits.push((file, Op::Overwrite { content: content.to_string() }));
    Some(at + close.len())
}

/// The tag that chats put around a document; its title, or the name by which it is known, may be a path.
const ARTIFACT: &str = "antArtifact";
/// The marks around text that is not read as XML.
const CDATA: (&str, &str) = ("<![CDATA[", "]]>");

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns path and text of each edit.
    fn read(text: &str, format: Format) -> Vec<(String, String)> {
        let known = ["calc.py", "src/a.py", "src/b.py", "lib/b.py"];
        let known = known.map(|path| KnownFile { path: path.into(), text: "x = 1\n".into() });
        let edit = |edit| match edit {
            Edit { path: Some(path), op: Op::Overwrite { content }, .. } => Some((path, content)),
            _ => None,
        };
        unfenced(text, Some(format), &known).into_iter().filter_map(edit).collect()
    }

    #[test]
    fn a_known_file_in_an_object_or_a_tag_is_its_new_text() {
        let calc = |text: &str| vec![("calc.py".to_string(), text.to_string())];
        for (text, files) in [
            (r#"{"path": "calc.py", "content": "x = 2\n"}"#, calc("x = 2\n")),
            ("Here it is:\n\n  {\"file\": \"./calc.py\",\n \"code\": \"x = 2\n\"}\nDone.", calc("x = 2\n")),
            (r#"[{"filename": "calc.py", "text": "x = 2\n"}]"#, calc("x = 2\n")),
            (r#"{"files": [{"path": "calc.py:1", "content": "x = 2\n"}]}"#, calc("x = 2\n")),
            ("<calc.py>\nx = 2\n</calc.py>\n", calc("x = 2\n")),
            ("<file path=\"calc.py\">\n```python\nx = 2\n```\n</file>", calc("x = 2\n")),
            ("<a.py>\nx = 2\n</a.py>", vec![("src/a.py".into(), "x = 2\n".into())]),
            ("<file path=\"calc.py\"><![CDATA[x = 2\n]]></file>", calc("x = 2\n")),
            (
                "<antArtifact identifier=\"x\" type=\"application/vnd.ant.code\" title=\"calc.py\">\nx = 2\n</antArtifact>",
                calc("x = 2\n"),
            ),
            (
                "<antArtifact identifier=\"calc.py\" title=\"Sums\">\n```python\nx = 2\n```\n</antArtifact>",
                calc("x = 2\n"),
            ),
            ("<file>\n<path>calc.py</path>\n<content>\nx = 2\n</content>\n</file>", calc("x = 2\n")),
            ("{\"calc.py\": \"x = 2\\n\"}", calc("x = 2\n")),
        ] {
            assert_eq!(read(text, Format::WHOLE), files, "{text}");
            assert_eq!(read(text, Format::TOOLS), files, "{text}");
        }
        let new = "<antArtifact identifier=\"n\" title=\"src/new.py\">\nx = 2\n</antArtifact>";
        assert_eq!(read(new, Format::WHOLE), [("src/new.py".to_string(), "x = 2\n".to_string())]);
        assert_eq!(read(new, Format::TOOLS), [], "a new file is made by a call");
        assert_eq!(read(&new.replace("src/new.py", "Sums"), Format::WHOLE), []);
        let shown = |said: &str| format!("{said}\n\n<antArtifact title=\"calc.py\">\nx = 2\n</antArtifact>");
        for said in ["Do not write it like this:", "The previous version was:", "For example:"] {
            assert_eq!(read(&shown(said), Format::WHOLE), [], "{said}");
        }
        let update = "<antArtifact command=\"update\" title=\"b.py\">\n<old_str>a</old_str>\n</antArtifact>";
        assert_eq!(read(update, Format::WHOLE), []);
        let two = "{\"path\": \"calc.py\", \"content\": \"1\"}\n<src/a.py>\n2\n</src/a.py>\n";
        assert_eq!(read(two, Format::BLOCKS).len(), 2);
    }

    #[test]
    fn a_file_beside_calls_is_whole_only_with_nearly_all_of_its_lines_or_both_ends() {
        let file: String = (0..20).map(|n| format!("v{n} = {n}\n")).collect();
        let known = [KnownFile { path: "calc.py".into(), text: file.as_str().into() }];
        let whole = |content: &str| {
            let text = format!("<file path=\"calc.py\">\n{content}</file>");
            unfenced(&text, Some(Format::TOOLS), &known).first().map(|edit| edit.whole)
        };
        assert_eq!(whole(&file.replace("v7 = 7", "v7 = 70")), Some(true));
        assert_eq!(whole("v7 = 70\n"), Some(false));
        assert_eq!(whole(&file), None, "it is as it was");
        let file = "v0 = 0\nv1 = 1\nv2 = 2\n";
        let known = [KnownFile { path: "calc.py".into(), text: file.into() }];
        let text = format!("<calc.py>\n{}</calc.py>", file.replace("v1 = 1", "v1 = 10"));
        let edits = unfenced(&text, Some(Format::TOOLS), &known);
        assert!(matches!(edits.as_slice(), [Edit { whole: true, .. }]), "{edits:?}");
    }

    #[test]
    fn what_replaces_what_in_an_object_is_an_edit() {
        let known = [KnownFile { path: "calc.py".into(), text: "x = 1\n".into() }];
        for text in [
            r#"{"path": "calc.py", "search": "x = 1", "replace": "x = 2"}"#,
            r#"{"edits": [{"file": "calc.py", "old": "x = 1", "new": "x = 2"}]}"#,
        ] {
            for format in [Format::WHOLE, Format::TOOLS] {
                let edits = unfenced(text, Some(format), &known);
                let is_it = |edit: &Edit| matches!(&edit.op, Op::Replace { search, replace, .. } if search == "x = 1" && replace == "x = 2");
                assert!(edits.iter().any(is_it), "{text}: {edits:?}");
            }
        }
    }

    #[test]
    fn lines_that_begin_a_file_without_being_one_are_tried_a_few_times() {
        let hostile: String = (0..100_000).map(|n| format!("<x{n} path=calc.py>\n")).collect();
        assert_eq!(read(&hostile, Format::WHOLE), []);
        assert_eq!(read(&"{\n".repeat(100_000), Format::WHOLE), []);
        let tried = format!("{}<calc.py>\nx = 2\n</calc.py>\n", "{ not json\n".repeat(MOST_TRIES - 1));
        assert_eq!(read(&tried, Format::WHOLE).len(), 1);
    }

    #[test]
    fn what_could_mean_something_else_is_no_edit() {
        for text in [
            r#"{"path": "new.py", "content": "x"}"#,
            r#"{"path": "calc.py", "content": " "}"#,
            r#"{"path": "calc.py"}"#,
            r#"Write {"path": "calc.py", "content": "x"} to do so."#,
            "<b.py>\nx\n</b.py>",
            "<calc.py>\nx",
            "<calc.py>\n\n</calc.py>",
            "{\"path\": \"calc.py\", \"content\": \"1\"}\n{\"path\": \"calc.py\", \"content\": \"2\"}",
            "if a <calc.py> b:",
            "{ not json",
        ] {
            assert_eq!(read(text, Format::WHOLE), [], "{text}");
        }
    }

    const CALC: &str = "RATE = 0.2\n\n\ndef f():\n    return 1\n";

    fn in_play() -> Vec<KnownFile> {
        [("calc.py", CALC), ("m.py", "x = 1\n")]
            .map(|(path, text)| KnownFile { path: path.into(), text: text.into() })
            .to_vec()
    }

    #[test]
    fn what_replaces_what_in_any_marks_is_an_edit() {
        let three =
            |first: &str, last: &str| format!("calc.py\n{first}\n    return 1\n=======\n    return 11\n{last}\n");
        for text in [
            three("<<<<<<< HEAD", ">>>>>>> feature"),
            three("<<<<<<< OLD", ">>>>>>> NEW"),
            three("<<<<<<< BEFORE", ">>>>>>> AFTER"),
            three("<<<<<<< 搜索", ">>>>>>> 替换"),
            "<edit>\n<path>calc.py</path>\n<old_string>\n    return 1\n</old_string>\n<new_string>\n    return 11\n</new_string>\n</edit>\n".into(),
            "<modify_file path=\"calc.py\">\n<old>    return 1</old>\n<new>    return 11</new>\n</modify_file>".into(),
            "<file>calc.py</file>\n<search>\n    return 1\n</search>\n<replace>\n    return 11\n</replace>\n".into(),
            "calc.py:\n-    return 1\n+    return 11\n".into(),
            "calc.py:\n\n-     return 1\n+     return 11\n".into(),
        ] {
            let edits = unfenced(&text, Some(Format::WHOLE), &in_play());
            let [edit] = edits.as_slice() else { panic!("{text}: {edits:?}") };
            assert_eq!(edit.path.as_deref(), Some("calc.py"), "{text}");
            let Op::Replace { search, replace, .. } = &edit.op else { panic!("{text}: {edit:?}") };
            assert_eq!((search.as_str(), replace.as_str()), ("    return 1", "    return 11"), "{text}");
        }
        let made =
            "```bash\nmkdir -p lib\ncat > lib/n.py <<'EOF'\nX = 1\nEOF\ncat <<EOF > calc.py\nRATE = 1\nEOF\n```\n";
        let edits = unfenced(made, Some(Format::WHOLE), &in_play());
        let paths: Vec<_> = edits.iter().filter_map(|edit| edit.path.as_deref()).collect();
        assert_eq!(paths, ["lib/n.py", "calc.py"]);
        assert_eq!(unfenced(made, Some(Format::TOOLS), &in_play()).len(), 1, "a new file is made by a call");
    }

    #[test]
    fn what_is_only_shown_is_no_edit_and_is_not_named() {
        for text in [
            "A conflict looks so:\n<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> other\n",
            "calc.py:\n- fast\n+ simple\n",
            "- RATE = 0.2\n+ RATE = 0.25\n",
            "calc.py\n- RATE = 0.2\n- another\n",
            "<p>calc.py</p>\n<b>return 1</b>\n",
            "<edit>\n<path>other.py</path>\n<old>a</old>\n<new>b</new>\n</edit>\n",
            "cat > ~/.bashrc <<EOF\nx\nEOF\n",
            "sudo cat > /etc/hosts <<EOF\nx\nEOF\n",
            "In calc.py, `RATE = 0.2` is compared to `x`.",
            "It calls f(\"calc.py\", \"a\").",
            "calc.py\n<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> other\n",
            "calc.py\n- RATE = 0.2\n",
            "In your shell, change `RATE = 1` to `RATE = 2`.",
        ] {
            assert_eq!(unfenced(text, Some(Format::WHOLE), &in_play()), [], "{text}");
            assert!(!parts::holds_part(text, false, &in_play()), "{text}");
        }
        let own = "<<<<<<< HEAD\na = 1\n=======\na = 2\n>>>>>>> b\n";
        let known = [KnownFile { path: "c.py".into(), text: own.into() }];
        assert_eq!(unfenced(&format!("c.py\n{own}"), Some(Format::WHOLE), &known), [], "the file has it");
    }

    #[test]
    fn what_looks_like_an_edit_and_is_not_read_is_named() {
        for text in [
            "In calc.py, change `RATE = 0.2` to `RATE = 0.25`.",
            "replaceInFile(\"calc.py\", \"RATE = 0.2\", \"RATE = 0.25\")\n",
            "```bash\ncat >> calc.py <<'EOF'\nX = 1\nEOF\n```\n",
        ] {
            assert!(parts::holds_part(text, false, &in_play()), "{text}");
            let calls = crate::tools::ToolSet::builtin().calls();
            let named = crate::edit::stream::unread(text, (Format::TOOLS, false), in_play(), calls);
            assert_eq!(named.map(|unread| unread.why), Some(crate::edit::stream::Unread::NoForm), "{text}");
        }
        let marked = "calc.py\n<<<<<<< HEAD\n    return 1\n=======\n    return 11\n>>>>>>> x\n";
        assert!(parts::holds_part(marked, true, &in_play()));
    }
}
