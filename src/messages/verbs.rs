//! The verbs of the tools, by the English words that the agent gives them.

use std::collections::HashMap;
use std::sync::OnceLock;

/// Defines the verbs, and the list of them.
macro_rules! verbs {
    ($($name:ident: $en:literal, $ja:literal;)*) => {
        messages! { $($name: $en, $ja;)* }
        const VERBS: &[super::Text] = &[$($name),*];
    };
}

verbs! {
    read: "read", "読み取り";
    reading: "reading", "読み取り中";
    search: "search", "検索";
    searched: "searched", "検索";
    searching: "searching", "検索中";
    list: "list", "一覧";
    listed: "listed", "一覧";
    listing: "listing", "一覧取得中";
    edit: "edit", "編集";
    edited: "edited", "編集";
    editing: "editing", "編集中";
    patch: "patch", "パッチ";
    applied: "applied", "適用";
    applying: "applying", "適用中";
    write: "write", "書き込み";
    wrote: "wrote", "書き込み";
    writing: "writing", "書き込み中";
    delete: "delete", "削除";
    deleted: "deleted", "削除";
    deleting: "deleting", "削除中";
    moved_short: "move", "移動";
    moved: "moved", "移動";
    moving: "moving", "移動中";
    undo: "undo", "元に戻す";
    undid: "undid", "元に戻す";
    undoing: "undoing", "元に戻し中";
    ask: "ask", "質問";
    requested: "asked", "質問";
    asking: "asking", "質問中";
    run: "run", "実行";
    ran: "ran", "実行";
    running: "running", "実行中";
    previewed: "previewed", "試し実行";
    stop: "stop", "停止";
    stopped: "stopped", "停止";
    stopping: "stopping", "停止中";
}

/// The English word for a command that ran in a view and was thrown away.
pub const PREVIEWED: &str = "previewed";
/// The English words for writing a whole file, as the agent gives them.
pub const WRITING: &str = "writing";

/// Returns a verb as it is shown; the name of a tool that has no verb stays as it is.
pub fn localized(word: &str) -> &str {
    static TABLE: Table = Table::new();
    translated(&TABLE, VERBS, word)
}

/// Returns how the place of a hunk was found, by the English words for it.
pub fn found(word: &str) -> &str {
    use super::diff;
    static TABLE: Table = Table::new();
    const ALL: &[super::Text] = &[
        diff::exact,
        diff::by_line_endings,
        diff::by_trailing_space,
        diff::by_indentation,
        diff::by_look_alikes,
        diff::by_its_ends,
        diff::inexact,
        diff::whole_file,
    ];
    translated(&TABLE, ALL, word)
}

/// Returns the class of a command as it is shown, by its English word, which programs read and configuration holds.
pub fn class(word: &str) -> &str {
    use super::card;
    static TABLE: Table = Table::new();
    const ALL: &[super::Text] =
        &[card::class_read, card::class_work, card::class_harm, card::class_reach, card::class_final];
    translated(&TABLE, ALL, word)
}

/// Messages by their English words.
type Table = OnceLock<HashMap<&'static str, super::Text>>;

fn translated<'a>(table: &'static Table, all: &[super::Text], word: &'a str) -> &'a str {
    if super::language() == super::Language::English {
        return word;
    }
    let english = |text: &super::Text| (super::with(super::Language::English, *text), *text);
    // The first of two that are the same in English counts.
    let table = table.get_or_init(|| all.iter().rev().map(english).collect());
    table.get(word).map_or(word, |text| text())
}
