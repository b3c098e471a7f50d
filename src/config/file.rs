//! Reading and changing a configuration file.

use std::collections::BTreeMap;
use std::fs::{self, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, UNIX_EPOCH};

use serde_json::{Map, Value};

use super::json_edit;
use super::key_use::keep_key_variables;
use super::keys::{KEYS, Key, Shape, key, unknown};
use crate::disk::{self, Links};
use crate::text::distance::nearest;
use crate::text::{size, time};

/// A configuration could not be read or changed; the file is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The error, in one line.
    pub message: String,
    /// The step that resolves it.
    pub hint: String,
}

impl Error {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }

    /// Creates the error for a person without a folder to `keep` something in.
    pub(super) fn no_home(keep: &str) -> Self {
        let message = format!("there is no home folder to {keep} in");
        Self::new(message, "Set HOME, or NEBULA_HOME to a folder of your choice.")
    }
}

/// The longest wait for the lock beside a file.
const PATIENCE: Duration = Duration::from_secs(5);
/// The interval at which it is tried.
const PAUSE: Duration = Duration::from_millis(5);

/// No configuration is larger.
const LARGEST: u64 = 1 << 20;

/// The contents of a configuration file.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// Its keys, checked: invalid ones are removed.
    pub keys: Map<String, Value>,
    /// One line for each problem in it, with its place.
    pub complaints: Vec<String>,
    /// The keys whose values were removed, dotted, each with its line of the complaints.
    pub removed: BTreeMap<String, String>,
    /// It is there and could not be read or understood, or is empty.
    pub is_unreadable: bool,
}

/// Reads a file for use. One that is not there is empty; one that cannot be read or understood is empty and has
/// a complaint.
/// A `workspace`'s file names only variables of keys.
pub(super) fn read(path: &Path, workspace: bool) -> Read {
    let name = path.display();
    match parse(path) {
        Ok(None) => Read::default(),
        Err(error) => {
            let complaints = vec![format!("{}; the defaults are used", error.message)];
            Read { complaints, is_unreadable: true, ..Read::default() }
        }
        Ok(Some(Parsed { text, mut keys, .. })) => {
            let (mut complaints, mut removed) = (Vec::new(), BTreeMap::new());
            let mut complain = |path: &[String], what: String| {
                let complaint = match position(&text, path) {
                    Some((line, column)) => format!("{name}:{line}:{column}: {what}"),
                    None => format!("{name}: {what}"),
                };
                complaints.push(complaint.clone());
                removed.insert(path.join("."), complaint);
            };
            keys.retain(|name, value| {
                let path = [name.clone()];
                match key(name) {
                    Some(key) => key.shape.check(value, &path, &mut complain),
                    None => {
                        complain(&path, unknown(name, name, KEYS));
                        false
                    }
                }
            });
            if workspace {
                keep_key_variables(&mut keys, &mut complain);
            }
            Read { keys, complaints, removed, is_unreadable: text.trim().is_empty() && is_fresh(path) }
        }
    }
}

/// Milliseconds after which an editor that emptied a file has filled it.
const FILLING: u64 = 10_000;

/// Returns whether a file was written just now: an editor may be about to fill it.
fn is_fresh(path: &Path) -> bool {
    let modified = fs::metadata(path).and_then(|meta| meta.modified()).ok();
    let since = modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let at = since.and_then(|since| i64::try_from(since.as_millis()).ok());
    at.is_some_and(|at| time::now().abs_diff(at) < FILLING)
}

/// A file as it is: its text, without the mark some editors begin a file with, and its object.
#[derive(Default)]
struct Parsed {
    text: String,
    keys: Map<String, Value>,
    marked: bool,
}

/// Returns the file's text and its object; `None` when there is no file.
fn parse(path: &Path) -> Result<Option<Parsed>, Error> {
    let name = path.display();
    let hint = "Correct it, or move it away: nebula starts without it.";
    let unreadable = |why: io::Error| Error::new(format!("{name} cannot be read: {why}"), hint);
    let bytes = match disk::read_file(path, LARGEST, Links::Follow) {
        Ok(bytes) => bytes,
        Err(why) => match why.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => return Ok(None),
            io::ErrorKind::FileTooLarge => {
                return Err(Error::new(format!("{name} is larger than {}", size::words(LARGEST)), hint));
            }
            _ => return Err(unreadable(why)),
        },
    };
    let text = String::from_utf8(bytes).map_err(|why| {
        let (line, column) = place_of_end(&String::from_utf8_lossy(&why.as_bytes()[..why.utf8_error().valid_up_to()]));
        Error::new(format!("{name}:{line}:{column}: this is not UTF-8 text"), hint)
    })?;
    let (text, marked) = match text.strip_prefix('\u{feff}') {
        Some(rest) => (rest.to_string(), true),
        None => (text, false),
    };
    if text.trim().is_empty() {
        return Ok(Some(Parsed { text, keys: Map::new(), marked }));
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(Value::Object(keys)) => Ok(Some(Parsed { text, keys, marked })),
        Ok(_) => Err(Error::new(format!("{name}:1:1: a configuration is a JSON object: {{ … }}"), hint)),
        Err(why) => {
            // serde_json ends its message with the place, which is put in front here.
            let what = why.to_string();
            let what = what.split(" at line ").next().unwrap_or(&what);
            Err(Error::new(format!("{name}:{}:{}: {what}", why.line(), why.column()), hint))
        }
    }
}

/// Returns line and column (both from 1, the column in characters) of what follows a text.
fn place_of_end(before: &str) -> (usize, usize) {
    let line = before.rsplit('\n').next().unwrap_or("");
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// Returns line and column (both from 1, the column in characters) of the key at `path` in a JSON text that has been
/// parsed before.
fn position(text: &str, path: &[String]) -> Option<(usize, usize)> {
    let mut open: Vec<String> = Vec::new();
    let mut chars = text.char_indices().peekable();
    let mut expects_key = false;
    while let Some((at, c)) = chars.next() {
        match c {
            '{' => {
                open.push(String::new());
                expects_key = true;
            }
            '[' => open.push(String::new()),
            '}' | ']' => {
                open.pop();
                expects_key = false;
            }
            '"' => {
                let mut end = at + 1;
                while let Some((next, c)) = chars.next() {
                    end = next + c.len_utf8();
                    match c {
                        '\\' => drop(chars.next()),
                        '"' => break,
                        _ => {}
                    }
                }
                let rest = text[end..].trim_start();
                if expects_key && rest.starts_with(':') {
                    let name: String = serde_json::from_str(&text[at..end]).ok()?;
                    if let Some(last) = open.last_mut() {
                        *last = name;
                    }
                    if open == path {
                        return Some(place_of_end(&text[..at]));
                    }
                    expects_key = false;
                }
            }
            ',' => expects_key = true,
            _ => {}
        }
    }
    None
}

/// Splits a dotted key into its parts and finds what each part may be. Names of models and headers may hold dots: in
/// `models.gpt-4.1-nano.price.input` the name is the text between the known parts.
pub(super) fn resolve(dotted: &str) -> Result<(Vec<String>, Shape), Error> {
    let hint = "nebula config get shows every key.";
    let (first, rest) = match dotted.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (dotted, None),
    };
    let Some(key) = key(first) else { return Err(Error::new(unknown(first, first, KEYS), hint)) };
    let Some(rest) = rest.filter(|rest| !rest.is_empty()) else { return Ok((vec![first.into()], key.shape)) };
    let none = || Error::new(format!("there is no key {dotted}"), hint);
    let (mut parts, shape) = match key.shape {
        Shape::TextByName => (vec![rest.to_string()], Shape::Text),
        Shape::ByName(keys) | Shape::OffOrByName(keys) => by_name(rest, keys),
        Shape::Object(keys) => match keys.iter().find(|key| key.name == rest) {
            Some(key) => (vec![rest.to_string()], key.shape),
            None => return Err(none()),
        },
        _ => return Err(none()),
    };
    if parts.iter().any(String::is_empty) {
        return Err(none());
    }
    parts.insert(0, first.into());
    Ok((parts, shape))
}

/// Splits `NAME`, `NAME.key`, `NAME.key.inner` where the longest name leaves known keys behind it.
fn by_name(rest: &str, keys: &'static [Key]) -> (Vec<String>, Shape) {
    for key in keys {
        if let Some(name) = rest.strip_suffix(key.name).and_then(|name| name.strip_suffix('.')) {
            return (vec![name.into(), key.name.into()], key.shape);
        }
        let marker = format!(".{}.", key.name);
        if let Some(at) = rest.rfind(&marker) {
            let (name, inner) = (&rest[..at], &rest[at + marker.len()..]);
            let parts = vec![name.into(), key.name.into(), inner.into()];
            match key.shape {
                Shape::TextByName => return (parts, Shape::Text),
                Shape::Object(inner_keys) => {
                    if let Some(found) = inner_keys.iter().find(|key| key.name == inner) {
                        return (parts, found.shape);
                    }
                }
                _ => {}
            }
        }
    }
    (vec![rest.into()], Shape::Object(keys))
}

/// Returns the complaint about a last part that is hardly a part of a name: `models.x.prices`.
fn misspelt(dotted: &str, parts: &[String], shape: Shape) -> Option<String> {
    let (Shape::Object(keys), [_, name]) = (shape, parts) else { return None };
    let (_, last) = name.rsplit_once('.')?;
    nearest(last, keys.iter().map(|key| key.name)).map(|_| unknown(dotted, last, keys))
}

/// Sets the dotted `key` in the file at `path` to what `text` means, or takes it out (`None`). Other keys, also
/// unknown ones, stay, and so does the layout of the text. The file is replaced at once and readable by its owner
/// alone; a broken one is left as it is.
pub(super) fn change(path: &Path, dotted: &str, text: Option<&str>) -> Result<(), Error> {
    let (parts, shape) = resolve(dotted)?;
    let value = match text {
        None => None,
        Some(text) => {
            let mut value = shape.read(text);
            let mut wrong = None;
            let fits = shape.check(&mut value, &parts, &mut |_, what| wrong = Some(what));
            if let Some(what) = wrong {
                return Err(Error::new(misspelt(dotted, &parts, shape).unwrap_or(what), "Nothing was changed."));
            }
            fits.then_some(value)
        }
    };
    let _lock = lock(path)?;
    put(path, parse(path)?.unwrap_or_default(), &parts, value)
}

/// Takes the lock beside a file of nebula's own: who reads the file and writes it back holds it for both, so that no
/// other process's change is lost. Dropping it lets it go.
pub(super) fn lock(path: &Path) -> Result<fs::File, Error> {
    let failed =
        |why: io::Error| Error::new(format!("{} cannot be written: {why}", path.display()), "The file is as it was.");
    let target: PathBuf = fs::canonicalize(path).unwrap_or_else(|_| path.into());
    let mut name = target.file_name().ok_or_else(|| failed(io::ErrorKind::InvalidFilename.into()))?.to_os_string();
    name.push(".lock");
    let folder = disk::parent(&target);
    create_private(folder).map_err(failed)?;
    let file = disk::Folder::open(folder).and_then(|folder| folder.open_or_make(&name, 0o600)).map_err(failed)?;
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            // A file's lock cannot be waited for with a limit of time.
            Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => {
                let what = format!("another program has held {}.lock for {} s", target.display(), PATIENCE.as_secs());
                return Err(Error::new(what, "The file is as it was: wait for it or end it, then try again."));
            }
            Err(TryLockError::Error(why)) => return Err(failed(why)),
        }
    }
}

/// Adds `value` to the list at the dotted `key` of the file at `path`, as the file holds it now.
pub(super) fn append(path: &Path, dotted: &str, value: Value) -> Result<(), Error> {
    let (parts, _) = resolve(dotted)?;
    let _lock = lock(path)?;
    let parsed = parse(path)?.unwrap_or_default();
    let pointer: String = parts.iter().map(|part| format!("/{part}")).collect();
    let list = match Value::Object(parsed.keys.clone()).pointer(&pointer) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => list.clone(),
        Some(_) => {
            let what = format!("{}: {dotted} is not a list", path.display());
            return Err(Error::new(what, "Correct the file by hand first."));
        }
    };
    let list: Vec<Value> = list.into_iter().chain([value]).collect();
    put(path, parsed, &parts, Some(list.into()))
}

/// Sets the dotted `key` in a workspace's file at `path`. The lock is that of the person's own file at `own`, so that
/// nothing else is made in the workspace.
pub(super) fn set_in_workspace(path: &Path, own: &Path, dotted: &str, value: Value) -> Result<(), Error> {
    let (parts, _) = resolve(dotted)?;
    let _lock = lock(own)?;
    put(path, parse(path)?.unwrap_or_default(), &parts, Some(value))
}

/// Writes the file at `path` with `value` at `parts`.
fn put(path: &Path, parsed: Parsed, parts: &[String], value: Option<Value>) -> Result<(), Error> {
    let mut keys = parsed.keys;
    place(&mut keys, parts, value.clone()).map_err(|inner| {
        Error::new(format!("{}: {inner} is not an object", path.display()), "Correct the file by hand first.")
    })?;
    let keys = Value::Object(keys);
    // Written anew only where the text cannot be changed in place: an empty file.
    let same = |text: &String| serde_json::from_str::<Value>(text).is_ok_and(|read| read == keys);
    let edited = json_edit::edit(&parsed.text, parts, value.as_ref()).filter(same);
    let text = edited.unwrap_or_else(|| format!("{keys:#}\n"));
    write(path, if parsed.marked { format!("\u{feff}{text}") } else { text }.as_bytes())
}

/// Puts `value` at `parts`, making the objects on the way.
pub(super) fn place(keys: &mut Map<String, Value>, parts: &[String], value: Option<Value>) -> Result<(), String> {
    match (parts, value) {
        ([], _) => Ok(()),
        ([last], Some(value)) => {
            keys.insert(last.clone(), value);
            Ok(())
        }
        ([last], None) => {
            keys.shift_remove(last);
            Ok(())
        }
        ([first, rest @ ..], value) => {
            if value.is_none() && !keys.contains_key(first) {
                return Ok(());
            }
            let inner = keys.entry(first.clone()).or_insert_with(|| Value::Object(Map::new()));
            place(inner.as_object_mut().ok_or_else(|| first.clone())?, rest, value)
        }
    }
}

/// Returns the text of a file of nebula's own, if it is one and small.
pub(super) fn small_text(path: &Path) -> Option<String> {
    disk::read_file(path, LARGEST, Links::Follow).ok().and_then(|bytes| String::from_utf8(bytes).ok())
}

/// Replaces a file of the person's own folder, mode 0600.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let failed =
        |why: io::Error| Error::new(format!("{} cannot be written: {why}", path.display()), "The file is as it was.");
    // Through a link, so that a linked configuration stays linked.
    let target: PathBuf = fs::canonicalize(path).unwrap_or_else(|_| path.into());
    if let Some(folder) = target.parent() {
        create_private(folder).map_err(failed)?;
    }
    disk::replace_private(&target, bytes).map_err(failed)
}

/// Makes a folder that only its owner can enter, unless it exists.
fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn an_empty_file_counts_as_it_is_once_nobody_is_filling_it() {
        let (_folder, path) = file(" \n");
        assert!(read(&path, false).is_unreadable);
        let then = UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        fs::File::options().write(true).open(&path).unwrap().set_modified(then).unwrap();
        assert!(!read(&path, false).is_unreadable);
    }

    #[test]
    fn complaints_name_line_and_column_and_the_rest_counts() {
        let (_folder, path) = file(
            "{\n  \"model\": \"m\",\n  \"maxStep\": 3,\n  \"mouse\": \"maxStep\",\n  \"models\": {\"a.b\": {\"x\": 1}}\n}",
        );
        let read = read(&path, false);
        let problems: Vec<_> = read.complaints.iter().map(|line| line.rsplit("config.json:").next().unwrap()).collect();
        assert_eq!(
            problems,
            [
                "3:3: there is no key maxStep; did you mean maxSteps?",
                "4:3: mouse must be true or false",
                "5:22: there is no key models.a.b.x",
            ]
        );
        assert_eq!(read.keys["model"], "m");
        assert!(!read.keys.contains_key("mouse"));
    }

    #[test]
    fn broken_files_are_reported_and_left() {
        for (text, place) in [
            ("{\n \"a\": }", ":2:7: "),
            ("[1]", ":1:1: "),
            ("{\"model\": \"x\"", ":1:13: "),
            ("{\"a\":\u{1}}", ":1:6: "),
        ] {
            let (_folder, path) = file(text);
            let read = read(&path, false);
            assert_eq!(read.complaints.len(), 1);
            assert!(read.complaints[0].contains(place), "{:?}", read.complaints);
            assert!(change(&path, "model", Some("m")).is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn what_is_not_text_is_reported_with_its_place() {
        let (_folder, path) = file("");
        let bytes = b"{\n \"\xc3\xa9\": \"\xff\"}";
        fs::write(&path, bytes).unwrap();
        let problems = read(&path, false).complaints;
        assert!(
            problems[0].ends_with("config.json:2:8: this is not UTF-8 text; the defaults are used"),
            "{problems:?}"
        );
        assert!(change(&path, "model", Some("m")).unwrap_err().message.contains(":2:8: "));
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }

    #[test]
    fn settings_of_several_processes_are_all_kept() {
        let (_folder, path) = file("");
        // Each opens the file anew, as a process does.
        std::thread::scope(|scope| {
            for n in 0..16 {
                let path = &path;
                scope.spawn(move || change(path, &format!("models.m{n}.price.input"), Some("1")).unwrap());
            }
        });
        let keys: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(keys["models"].as_object().unwrap().len(), 16);
    }

    #[test]
    fn setting_keeps_the_layout_of_the_file() {
        let text = "\u{feff}{\n\t\"theme\" :  \"dark\",\n\n\t\"zoo\": [ 1,\n 2 ], \"model\": \"a\"}";
        let (_folder, path) = file(text);
        change(&path, "model", Some("b")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text.replace("\"a\"", "\"b\""));
        change(&path, "model", Some("a")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }

    #[test]
    fn no_file_an_empty_one_and_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(&folder.path().join("none/config.json"), false).complaints.is_empty());
        assert!(read(&file("").1, false).complaints.is_empty());
        assert_eq!(read(folder.path(), false).complaints.len(), 1);
    }

    #[test]
    fn keys_resolve_with_dots_in_names() {
        let parts = |dotted: &str| resolve(dotted).unwrap().0.join("|");
        assert_eq!(parts("model"), "model");
        assert_eq!(parts("models.gpt-4.1-nano.editFormat"), "models|gpt-4.1-nano|editFormat");
        assert_eq!(parts("models.gpt-4.1-nano.price.input"), "models|gpt-4.1-nano|price|input");
        assert_eq!(parts("models.gpt-4.1-nano"), "models|gpt-4.1-nano");
        assert_eq!(parts("headers.X-A.b"), "headers|X-A.b");
        assert_eq!(parts("providers.my.host.headers.X-A"), "providers|my.host|headers|X-A");
        for bad in ["modell", "model.x", "models..editFormat", "theme.x.y"] {
            assert!(resolve(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_key_of_a_model_that_does_not_exist_is_reported_with_the_one_meant() {
        let (_folder, path) = file("");
        let problems = |key: &str| change(&path, key, Some("1")).unwrap_err().message;
        assert_eq!(problems("models.a.b.prices"), "there is no key models.a.b.prices; did you mean price?");
        assert_eq!(problems("models.gpt-4.1-nano"), "models.gpt-4.1-nano must be an object");
    }

    #[test]
    fn setting_keeps_order_and_unknown_keys_and_is_private() {
        let (_folder, path) = file("{\"zoo\": 1, \"model\": \"a\", \"theme\": \"dark\"}");
        change(&path, "model", Some("b")).unwrap();
        change(&path, "models.x.y.price.input", Some("0.5")).unwrap();
        change(&path, "archiveMaxSize", Some("3 GiB")).unwrap();
        change(&path, "archiveExclude", Some("*.pem")).unwrap();
        change(&path, "theme", None).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let keys: Map<String, Value> = serde_json::from_str(&text).unwrap();
        let names: Vec<_> = keys.keys().map(String::as_str).collect();
        assert_eq!(names, ["zoo", "model", "models", "archiveMaxSize", "archiveExclude"]);
        assert_eq!(keys["models"]["x.y"]["price"]["input"], 0.5);
        assert!(change(&path, "maxSteps", Some("many")).unwrap_err().message.contains("a whole number"));
        assert!(change(&path, "models.x.y", Some("{\"priec\":1}")).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}
