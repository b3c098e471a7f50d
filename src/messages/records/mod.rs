//! Text that is kept or told in English because the model, memory and commands share it: results of calls, causes of
//! changesets, errors of the stores. A screen in another language shows each in its own words, from the same templates.

mod calls;
mod configuration;
mod definitions;
mod reasons;
mod restores;
mod stores;

use std::borrow::Cow;

use super::{Language, agent, language, verbs};

/// An English template with `{names}` for values, and the same in Japanese.
type Record = (&'static str, &'static str);

/// All records, the most frequent first.
const TABLES: &[&[Record]] =
    &[calls::RECORDS, reasons::RECORDS, restores::RECORDS, stores::RECORDS, configuration::RECORDS];

/// Records inside a record that are looked at: an error names another, which names a third.
const DEPTH: usize = 4;

/// Values that are numbers: in a sentence of a person the same words stand after others.
const NUMBERS: &[&str] =
    &["n", "all", "done", "count", "have", "seconds", "first", "total", "bytes", "share", "found", "known"];

/// Returns the text as the person reads it; one that is no record stays as it is.
pub fn localized(text: &str) -> Cow<'_, str> {
    if text.is_empty() {
        return text.into();
    }
    let of_line = match language() {
        Language::English => line_for_person,
        Language::Japanese => line_in_japanese,
    };
    // What a server says is quoted as it is.
    let quotes = |line: &str| line.contains(super::provider::it_says(&"").trim_end());
    let lines: Vec<Cow<'_, str>> =
        text.lines().map(|line| if quotes(line) { line.into() } else { of_line(line) }).collect();
    match lines.iter().any(|line| matches!(line, Cow::Owned(_))) {
        true => lines.join("\n").into(),
        false => text.into(),
    }
}

/// Returns what a Strand store says of a definition, as the person reads it; one that is no record stays as it is.
pub fn of_definition(text: &str) -> Cow<'_, str> {
    let matching = definitions::RECORDS.iter().filter_map(|record| Some((record, values(record.0, text)?)));
    match language() {
        Language::English => text.into(),
        Language::Japanese => {
            most_exact(matching).map_or(text.into(), |((_, japanese), values)| fill(japanese, &values, 0).into())
        }
    }
}

/// Returns what a result that was written for the model says to the person; none: both read the same.
fn for_person(text: &str) -> Option<String> {
    let whole = |text: &str| {
        let matching = calls::FOR_PERSON.iter().filter_map(|record| Some((record, values(record.0, text)?)));
        most_exact(matching).map(|((_, words), values)| fill(words, &values, 0))
    };
    let bare = text.trim_end_matches('.');
    // The reason of one edit comes after its file.
    whole(bare).or_else(|| bare.split_once(": ").and_then(|(place, why)| Some(format!("{place}: {}", whole(why)?))))
}

/// A record, and the values with which it is a text.
type Matching<'t> = (&'static Record, Vec<(&'static str, &'t str)>);

/// Returns the record with the most text of its own: one that says little is a part of many a text.
fn most_exact<'t>(matching: impl Iterator<Item = Matching<'t>>) -> Option<Matching<'t>> {
    let own = |template: &str| -> usize {
        template.split('{').map(|part| part.split_once('}').map_or(part, |(_, text)| text).len()).sum()
    };
    matching.min_by_key(|(record, _)| std::cmp::Reverse(own(record.0)))
}

fn line_for_person(text: &str) -> Cow<'_, str> {
    for_person(text).map_or(text.into(), Cow::Owned)
}

/// Returns the cause of a changeset: what a person wrote, or an undo or redo.
pub fn cause(text: &str) -> Cow<'_, str> {
    match text.starts_with("undo of ") || text.starts_with("redo of ") {
        true => match without_maker(text) {
            (_, "") => localized(text),
            (title, maker) => format!("{}{maker}", localized(title)).into(),
        },
        false => text.into(),
    }
}

/// Returns a cause without the words for who made what it undoes, and those words.
pub fn without_maker(text: &str) -> (&str, &str) {
    let makers = [agent::of_other_session(), agent::of_other_nebula()];
    let title = makers.iter().find_map(|maker| text.strip_suffix(maker));
    text.split_at(title.map_or(text.len(), |title| title.trim_end().len()))
}

/// Returns what changes in the repository, `HEAD main 3f2a1c9 → 91bc004, index, 2 refs`, as the person reads it.
pub fn repository(words: &str) -> Cow<'_, str> {
    if language() == Language::English {
        return words.into();
    }
    let part = |part: &str| {
        let mut known = restores::REPOSITORY.iter().filter_map(|record| Some((record, values(record.0, part)?)));
        let known = known.find(|(_, values)| values.iter().all(|value| fits(*value, 0)));
        known.map_or_else(
            || part.replace("no commit", "コミットなし"),
            |((_, japanese), values)| fill(japanese, &values, 0),
        )
    };
    words.split(", ").map(part).collect::<Vec<_>>().join("、").into()
}

/// Returns what an undo does not bring back, where it is no path but in words.
pub fn place(what: &str) -> &str {
    match language() {
        Language::English => what,
        Language::Japanese => reasons::PLACES.iter().find(|(own, _)| *own == what).map_or(what, |(_, words)| words),
    }
}

/// Replaces a record by what the person reads.
pub fn show(text: &mut String) {
    if let Cow::Owned(localized) = localized(text) {
        *text = localized;
    }
}

/// Returns a line in Japanese: in the words for the person where it was written for the model.
fn line_in_japanese(text: &str) -> Cow<'_, str> {
    for_person(text).and_then(|words| translate(&words, DEPTH)).map_or_else(|| line(text), Cow::Owned)
}

/// Returns one line as the person reads it; it may end in a full stop.
fn line(text: &str) -> Cow<'_, str> {
    let bare = text.trim_end_matches('.');
    let stop = if bare.len() < text.len() { "。" } else { "" };
    match translate(bare, DEPTH) {
        Some(found) => format!("{found}{stop}").into(),
        None => text.into(),
    }
}

fn translate(text: &str, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let found = matching(text, depth).map(|((_, japanese), values)| fill(japanese, &values, depth));
    found.or_else(|| parts(text, depth))
}

/// Returns the record that is this text, and its values.
fn matching(text: &str, depth: usize) -> Option<Matching<'_>> {
    let all = TABLES.iter().flat_map(|table| table.iter());
    let found = all.filter_map(|record| Some((record, values(record.0, text)?)));
    most_exact(found.filter(|(_, values)| values.iter().all(|value| fits(*value, depth))))
}

/// Returns an error after the place it is about, or with what to do about it: the parts are records of their own.
fn parts(text: &str, depth: usize) -> Option<String> {
    let ends = text.match_indices(": ").map(|(at, _)| at);
    let placed = ends.take(DEPTH).find_map(|at| {
        let what = translate(&text[at + 2..], depth)?;
        let place = translate(&text[..at], depth);
        Some(format!("{}: {what}", place.as_deref().unwrap_or(&text[..at])))
    });
    placed.or_else(|| {
        let (what, hint) = text.split_once("; ")?;
        let (first, second) = (translate(what, depth), translate(hint, depth));
        let any = first.is_some() || second.is_some();
        any.then(|| format!("{}。{}", first.as_deref().unwrap_or(what), second.as_deref().unwrap_or(hint)))
    })
}

/// Returns whether a value is what its name says: a number, or (`{what!}`) a record itself.
fn fits((name, value): (&str, &str), depth: usize) -> bool {
    match name.ends_with('!') {
        true => translate(value, depth).is_some(),
        false if NUMBERS.contains(&name) => value.chars().all(|c| c.is_ascii_digit() || ",.+".contains(c)),
        false => !value.is_empty(),
    }
}

/// Returns the values by name that make the template this text; `None`: it is another text.
fn values<'t>(template: &'static str, text: &'t str) -> Option<Vec<(&'static str, &'t str)>> {
    let mut parts = template.split('{');
    let mut rest = text.strip_prefix(parts.next().unwrap_or_default())?;
    let mut found = Vec::new();
    for part in parts {
        let (name, literal) = part.split_once('}')?;
        // What stands between two values ends the first; what stands last ends the text.
        let last = std::ptr::eq(literal.as_bytes().as_ptr_range().end, template.as_bytes().as_ptr_range().end);
        let end = match (literal.is_empty(), last) {
            (true, _) => rest.len(),
            (false, true) => rest.strip_suffix(literal)?.len(),
            (false, false) => rest.find(literal)?,
        };
        found.push((name, &rest[..end]));
        rest = &rest[end + literal.len()..];
    }
    rest.is_empty().then_some(found)
}

/// Returns the template with its values, each shown as a record where it is one.
fn fill(template: &str, values: &[(&str, &str)], depth: usize) -> String {
    let mut parts = template.split('{');
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let Some((name, literal)) = part.split_once('}') else { continue };
        let value = values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value);
        match name {
            "class" => out.push_str(verbs::class(value)),
            _ => out.push_str(translate(value, depth).as_deref().unwrap_or(value)),
        }
        out.push_str(literal);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::with;

    /// The names of the values of a template.
    fn names(template: &'static str) -> Vec<&'static str> {
        template.split('{').skip(1).filter_map(|part| Some(part.split_once('}')?.0)).collect()
    }

    #[test]
    fn every_record_is_in_every_language() {
        let all: Vec<&Record> = TABLES.iter().flat_map(|table| table.iter()).collect();
        for (i, (english, japanese)) in all.iter().enumerate() {
            assert!(!all[..i].iter().any(|(other, _)| other == english), "{english} twice");
            assert!(!japanese.is_ascii(), "{english} is not translated");
            // Only words of English, as the letter of a plural, are left out.
            for name in names(japanese) {
                assert!(names(english).contains(&name), "{english}: {name}");
            }
            assert!(english.is_ascii() || english.contains(['…', '·']), "{english}");
            let value = |name: &'static str| (name, if name.ends_with('!') { "a text" } else { "7" });
            let text = fill(english, &names(english).into_iter().map(value).collect::<Vec<_>>(), 0);
            assert!(with(Language::Japanese, || line(&text).into_owned()) != text, "{english} does not find itself");
        }
    }

    #[test]
    fn what_changes_in_the_repository_is_in_every_language() {
        let english = "HEAD main no commit → 91bc004, index, 2 refs, 1,204 objects, 1 more file";
        let japanese = "HEAD main コミットなし → 91bc004、インデックス、参照2個、オブジェクト1,204個、ほか1ファイル";
        assert_eq!(repository(english), english);
        let localized = |words: &str| with(Language::Japanese, || repository(words).into_owned());
        assert_eq!(localized(english), japanese);
        assert_eq!(localized("3 files"), "3ファイル");
    }

    #[test]
    fn what_a_store_says_is_in_every_language() {
        for (english, japanese) in definitions::RECORDS {
            assert!(
                !japanese.is_ascii() && names(japanese).iter().all(|name| names(english).contains(name)),
                "{english}"
            );
            let value = |name: &'static str| (name, "7");
            let values: Vec<_> = names(english).into_iter().map(value).collect();
            let text = fill(english, &values, 0);
            let words = with(Language::Japanese, || of_definition(&text).into_owned());
            assert_eq!(words, fill(japanese, &values, 0), "{english}");
            assert_eq!(of_definition(&text), text);
        }
        let japanese = |text: &str| with(Language::Japanese, || of_definition(text).into_owned());
        assert_eq!(japanese("Reference to undefined slot 'cuont'"), "未定義のslot 'cuont' を参照しています");
        assert_eq!(japanese("input has no label"), "inputにlabelがありません");
        // Elsewhere the same words are somebody's own.
        assert_eq!(with(Language::Japanese, || localized("input has no label").into_owned()), "input has no label");
    }

    #[test]
    fn what_no_undo_brings_back_is_named_in_the_language_of_the_screen() {
        assert_eq!([place("derived folders"), place("target/")], ["derived folders", "target/"]);
        let japanese = |what| with(Language::Japanese, || place(what));
        assert_eq!([japanese("derived folders"), japanese("target/")], ["再生成できるフォルダー", "target/"]);
        let why = "it was cut off: what it changed there is not known";
        let words = with(Language::Japanese, || localized(why).into_owned());
        assert_eq!(words, "途中で打ち切られたため、そこで何が変更されたかは不明です");
    }

    #[test]
    fn no_record_is_taken_for_another_one() {
        let value = |name: &'static str| match name {
            name if name.ends_with('!') => (name, "a folder"),
            name if NUMBERS.contains(&name) => (name, "7"),
            name => (name, "v.rs"),
        };
        let text = |template| fill(template, &names(template).into_iter().map(value).collect::<Vec<_>>(), 0);
        for (english, _) in TABLES.iter().flat_map(|table| table.iter()) {
            let text = text(english);
            assert_eq!(matching(&text, DEPTH).map(|((found, _), _)| *found), Some(*english), "{text}");
        }
        for (english, words) in calls::FOR_PERSON {
            let said = for_person(&text(english)).expect("it is written for the model");
            assert_eq!(said, text(words).replace("{}", ""), "{english}");
        }
    }

    #[test]
    fn nothing_for_the_model_reaches_the_person_in_any_language() {
        for (message, english, japanese) in [
            (
                "../x.txt lies outside the workspace (/a/x.txt): use a path inside it",
                "../x.txt lies outside the workspace",
                "../x.txtはワークスペースの外にあります",
            ),
            (
                ".git/config points into .git, which nebula never touches: use another path",
                ".git/config points into .git, which nebula never touches",
                ".git/configは.gitの中を指しています。nebulaは変更しません",
            ),
            (
                "`needs` must be a list of \"network\"",
                "the model's call has a wrong `needs`",
                "モデルの呼び出しの`needs`が正しくありません",
            ),
            (
                "`choices` must be a list of strings, but holds an object",
                "the model's call has a wrong `choices`",
                "モデルの呼び出しの`choices`が正しくありません",
            ),
            (
                "the arguments must be one JSON object, but are a list",
                "the model's call cannot be read",
                "モデルの呼び出しを読めませんでした",
            ),
            (
                "the arguments could not be read: a name is missing at line 1",
                "the model's call cannot be read",
                "モデルの呼び出しを読めませんでした",
            ),
            (
                "there is no tool named nosuchTool; there are: list, readFile, askUser",
                "the model named a tool that does not exist: nosuchTool",
                "モデルが存在しないツールを指定しました: nosuchTool",
            ),
            (
                "src/cart.rs has 35 lines; line 900 does not exist",
                "src/cart.rs has 35 lines; line 900 does not exist",
                "src/cart.rsは35行で、900行目はありません",
            ),
        ] {
            assert_eq!(localized(message), english);
            assert_eq!(with(Language::Japanese, || localized(message).into_owned()), japanese);
        }
    }

    #[test]
    fn records_are_shown_in_the_language_of_the_screen() {
        let japanese = |text: &str| with(Language::Japanese, || localized(text).into_owned());
        for (english, want) in [
            ("38 lines", "38行"),
            ("1 of 2 hunks written", "2ハンク中1件を書き込み"),
            ("undo of sell gift cards", "「sell gift cards」を元に戻す"),
            ("restored a, b and 1,181 more files", "復元しました: a, b、ほか1,181ファイル"),
            ("undo of everything since the last turn", "「前回のターン」以降をすべて元に戻す"),
            (
                "memory is locked by another program; end the other program, or try again later",
                "ほかのプログラムがメモリーをロックしています。そのプログラムを終了するか、あとで試してください",
            ),
            (
                "/a/b.json:3:1: there is no key modle; did you mean model?",
                "/a/b.json:3:1: modleというキーはありません。modelではありませんか？",
            ),
            (
                "cannot archive, so nothing was written: /x: No space left on device (os error 28)",
                "アーカイブできないため、何も書き込んでいません: /x: ディスクの空き容量がありません（os error 28）",
            ),
            (
                "the approval policy none runs commands that only read; this one is harm: final",
                "承認ポリシーnoneでは読み取りのコマンドだけを実行します（これは破壊）: final",
            ),
            // What nobody but a person or a model wrote stays as it is.
            ("two stays", "two stays"),
            ("rename the files", "rename the files"),
            ("this must be async", "this must be async"),
            ("round half to even: see docs", "round half to even: see docs"),
        ] {
            assert_eq!(japanese(english), want);
            assert_eq!(localized(english), english);
        }
    }

    #[test]
    fn what_is_meant_for_the_model_is_said_to_the_person_in_other_words() {
        for (english, _) in calls::FOR_PERSON {
            let value = |name: &'static str| (name, "7");
            let text = fill(english, &names(english).into_iter().map(value).collect::<Vec<_>>(), 0);
            assert!(with(Language::Japanese, || localized(&text).into_owned()) != text, "{english} is not translated");
        }
        for (message, want) in [
            ("there is no tool named x; there are: list, readFile", "the model named a tool that does not exist: x"),
            ("the person did not allow the command: too wide", "you rejected this: too wide"),
            (
                "../a is outside the workspace and the person did not allow it",
                "outside the workspace; you rejected this",
            ),
            ("two stays", "two stays"),
            (
                "M a.txt\nrefused by the person: 1 write, first AGENTS.md\n",
                "M a.txt\nrefused by you: 1 write, first AGENTS.md",
            ),
            (
                "src/a.rs: the search text fits 3 places, at lines 1, 4, 9:",
                "src/a.rs: 3 places match, at lines 1, 4, 9",
            ),
        ] {
            assert_eq!(localized(message), want);
        }
        let refused = "refused by the person: 2 writes, first AGENTS.md";
        assert_eq!(
            with(Language::Japanese, || localized(refused).into_owned()),
            "あなたが拒否: 書き込み2件、最初はAGENTS.md"
        );
        // No row says in other words what is still for the model.
        for (_, words) in calls::FOR_PERSON {
            for mark in ["the person", "send it again", "File", "InDirectory", "try another way"] {
                assert!(!words.contains(mark), "{words}");
            }
        }
    }
}
