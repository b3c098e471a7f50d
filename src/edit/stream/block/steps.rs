//! Blocks of code whose places the prose above tells, or what other blocks of their answer use: new definitions and lines.

use super::{UnreadBlock, is_only_shown, is_within, overwritten};
use crate::edit::op::{Edit, Op, PatchHunk};
use crate::edit::place::{AddedPlace, added, passages};
use crate::edit::{Format, stream::KnownFile};

/// Words for the end of a class.
const CLASS_END: [&str; 16] = [
    "end of the class",
    "end of your class",
    "end of this class",
    "bottom of the class",
    "final de la clase",
    "final da classe",
    "ende der klasse",
    "fin de la classe",
    "クラスの最後",
    "クラスの末尾",
    "クラスの終わり",
    "类的末尾",
    "类的最后",
    "类末尾",
    "클래스 끝",
    "클래스의 끝",
];

/// Words for the end of what is named behind them.
const END_OF: [&str; 14] = [
    "at the end of ",
    "to the end of ",
    "at the bottom of ",
    "to the bottom of ",
    "al final de ",
    "al final del ",
    "am ende von ",
    "am ende der ",
    "ans ende von ",
    "ans ende der ",
    "à la fin de ",
    "à la fin du ",
    "no final de ",
    "no final do ",
];
/// Words for the end of what is named in front of them.
const OF_END: [&str; 6] = ["の末尾に", "の最後に", "の一番下に", "的末尾", "末尾添加", " 끝에"];
/// Words for a file.
const FILES: [&str; 12] = [
    "the file",
    "your file",
    "this file",
    "file",
    "archivo",
    "fichero",
    "datei",
    "fichier",
    "arquivo",
    "ファイル",
    "文件",
    "파일",
];

/// Returns whether a line says that something comes at the end of the file.
fn says_end(said: &str, path: &str) -> bool {
    const MARKS: [char; 4] = ['`', '*', '"', ' '];
    let path = path.to_lowercase();
    let name = path.rsplit('/').next().unwrap_or(&path);
    let names = || FILES.into_iter().chain([path.as_str(), name]);
    let begins = |text: &str| names().any(|name| text.trim_start_matches(MARKS).starts_with(name));
    let ends = |text: &str| names().any(|name| text.trim_end_matches(MARKS).ends_with(name));
    let is_behind = |words: &&str| said.split_once(*words).is_some_and(|(_, behind)| begins(behind));
    let is_before = |words: &&str| said.split_once(*words).is_some_and(|(before, _)| ends(before));
    let is_appended = || said.contains("append ") && said.split(" to ").skip(1).any(begins);
    END_OF.iter().any(is_behind) || OF_END.iter().any(is_before) || is_appended()
}

/// Words of a line that says that something comes, beside what is there.
const ADDING: [&str; 12] = [
    "add ",
    "append ",
    "insert ",
    "include ",
    "añade ",
    "agrega ",
    "adiciona ",
    "füge ",
    "ajoute ",
    "追加",
    "添加",
    "추가",
];
/// Words that such a line has for a new definition.
const ADDED: [&str; 24] = [
    "function",
    "method",
    "class",
    "helper",
    "test",
    "struct",
    "enum",
    "interface",
    "following",
    "this",
    "función",
    "método",
    "clase",
    "siguiente",
    "funktion",
    "methode",
    "klasse",
    "fonction",
    "méthode",
    "関数",
    "メソッド",
    "函数",
    "方法",
    "함수",
];

/// Returns the edit that adds a block to a file at the place that the line above says.
pub(super) fn said(block: &UnreadBlock, file: &KnownFile) -> Option<Edit> {
    if !block.is_headed() || is_within(&block.content, &file.text) {
        return None;
    }
    let said = block.said.to_lowercase();
    let has = |list: &[&str]| list.iter().any(|words| said.contains(words));
    let place = if let Some(class) = class_said(&block.said) {
        AddedPlace::ClassEnd(Some(class))
    } else if has(&CLASS_END) {
        AddedPlace::ClassEnd(None)
    } else if says_end(&said, &file.path) {
        AddedPlace::End(true)
    } else if has(&ADDING) && has(&ADDED) {
        AddedPlace::End(false)
    } else {
        return None;
    };
    of(added(&file.text, &block.content, place)?, file)
}

/// Returns the class to the end of which a line says that something comes: `at the end of the `Cart` class`.
fn class_said(said: &str) -> Option<&str> {
    let (_, behind) = said.split_once("end of ").or_else(|| said.split_once("bottom of "))?;
    let words: Vec<&str> =
        behind.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|w| !w.is_empty()).collect();
    match words.as_slice() {
        ["the" | "your", name, "class", ..] | ["the" | "your", "class", name, ..] | ["class", name, ..] => {
            Some(name).filter(|name| name.starts_with(char::is_uppercase)).copied()
        }
        _ => None,
    }
}

/// Returns the edit of a block in an answer of several steps, of which others were read: passages of the file, or new lines
/// that these texts use.
pub(super) fn step(block: &UnreadBlock, texts: &[&str], file: &KnownFile) -> Option<(Edit, Option<String>)> {
    if let Some((_, names)) = passages(&file.text, &block.content, &file.path) {
        return Some((overwritten(block, &file.path), Some(names)));
    }
    let hunk = added(&file.text, &block.content, AddedPlace::Used(texts))?;
    let name = hunk.body.join("\n");
    Some((of(hunk, file)?, Some(name)))
}

fn of(hunk: PatchHunk, file: &KnownFile) -> Option<Edit> {
    let edit = Edit::new(&file.path, Op::Hunks(vec![hunk]), Format::WHOLE, Format::WHOLE.name());
    Some(Edit { whole: false, ..edit })
}

/// Returns whether a block is one of the steps of an answer: not what is only shown, or said to be an example.
pub(super) fn is_step(block: &UnreadBlock, file: &KnownFile) -> bool {
    !block.shows_output()
        && !block.content.trim().is_empty()
        && (block.is_headed() || block.is_numbered())
        && !is_only_shown(&block.said)
        && !is_within(&block.content, &file.text)
}
