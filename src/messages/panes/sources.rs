//! Definitions of source files in the graph.

messages! {
    gone: "this definition is no longer there", "この定義はもうありません";
    stopped: "stopped before everything was read", "すべて読み終わる前に停止しました";
    syntax_error(line): "syntax error in line {line}: definitions may be missing", "{line}行目に構文エラー（見つからない定義がある可能性があります）";
    not_read(why): "not read, so references may be missing: {why}", "未読のため見つからない参照がある可能性があります: {why}";
    uses_cut: "it holds more names than are followed: what the last of them refer to is missing", "名前が多すぎるため、最後の方の名前の参照先は表示されません";
    by_nebula: "nebula", "nebula";
    unsure: "nebula or outside it", "nebulaまたはその外";
    changed: "changed", "変更";
    added: "added", "追加";
    removed: "removed", "削除";
    renamed_from(name): "renamed from {name}", "{name}から改名";
    renamed_and_changed_from(name): "renamed from {name}, changed", "{name}から改名・変更";
}
