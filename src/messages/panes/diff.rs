//! The diff pane: proposals, hunks, the session's changes.

use crate::text::definition::DefinitionChange;

/// Returns what becomes of a definition, in a word.
pub fn definition_change(change: DefinitionChange) -> &'static str {
    match change {
        DefinitionChange::New => definition_new(),
        DefinitionChange::Removed => definition_removed(),
        DefinitionChange::Changed => definition_changed(),
        DefinitionChange::Renamed => definition_renamed(),
        DefinitionChange::RenamedAndChanged => definition_renamed_and_changed(),
        DefinitionChange::Moved => definition_moved(),
        DefinitionChange::MovedAndChanged => definition_moved_and_changed(),
    }
}

messages! {
    proposal: "proposal", "提案";
    changed_in_session: "changed in this session", "このセッションの変更";
    diff: "diff", "差分";
    tested: "checked ", "テスト ";
    tested_earlier: "checked before the last decision ", "最後の決定より前のテスト ";
    tested_before_change: "checked before a file changed on disk ", "ディスク上で変更される前のテスト ";
    tested_in_view: "in a view; nothing on disk changed", "写しの中で実行。ディスクは変更なし";
    test_again: " again", " 再実行";
    no_answer: "no answer", "回答なし";
    written: "written", "書き込み済み";
    of_all(n, all): "{n} of {all}", "{all}中{n}";
    written_of(n, hunks): "{n} of {hunks} written", "{hunks}中{n}件を書き込み済み";
    merged(outcome, how): "{outcome}, {how}", "{outcome}、{how}";
    not_written_changed: "not written: changed on disk", "未書き込み: ディスク上で変更されました";
    not_written: "not written", "未書き込み";
    already_there: "already there, nothing was written", "適用済みのため、何も書き込んでいません";
    withdrawn: "withdrawn", "取り下げ";
    being_written: "being written", "書き込み中";
    unified: "unified", "統合表示";
    side_by_side: "side by side", "左右並べて";
    settled: "the proposal is decided already; the edit was not used", "提案は決定済みのため、編集は使われませんでした";
    left_as_proposed: "the result was left as proposed", "結果は提案のままです";
    equals_file: "the result equals the file as it is: rejected", "結果が現在のファイルと同じため、却下しました";
    sent_with_decision: "sent with the decision", "決定と一緒に送信";
    answer_under(n): "the answer stands under hunk {n}", "ハンク{n}の下に回答があります";
    not_in_diff(words): "{words} is not in this diff", "{words}はこの差分にありません";
    nothing_proposed: "nothing is proposed, and this session has changed no file", "提案も、このセッションでのファイルの変更もありません";
    waits_elsewhere(key): "nothing is proposed; {key} shows what waits for your answer", "提案はありません。{key}で回答待ちのものを表示";
    only_definitions(definitions, key): "this session has changed no file, but {definitions}: {key} shows the archive", "このセッションではファイルの変更はなく、{definitions}を変更しました。{key}でアーカイブを表示";
    before: "before", "変更前";
    after: "after", "変更後";
    you: "you", "あなた";

    // How a hunk stands.
    undecided: "undecided", "未決定";
    undecided_left: " undecided", " 未決定";
    accepted: "accepted", "承認";
    rejected: "rejected", "却下";
    edited: "edited", "編集済み";

    // Decisions.
    stays_pending: "to be decided later; nothing is written", "あとで決定します。何も書き込まれません";
    stays_undecided(open, all): "to be decided later, {open} of {all} undecided; nothing is written", "あとで決定します（{all}件中{open}件が未決定）。何も書き込まれません";
    why_one: "why was it rejected?", "却下の理由は？";
    why_many: "why were they rejected?", "却下の理由は？";
    accepted_too(names): "also accepted: {names}", "あわせて承認: {names}";
    left_rejected(hunks): "left rejected: {hunks}", "却下のまま: {hunks}";
    approve_again: "A again to approve all further edits in this session", "もう一度Aを押すと、このセッションの今後の編集をすべて承認します";
    left_to_person(hunks): "{hunks} left to you (never by policy); from now on edits are approved", "ポリシーでは承認されません: {hunks}はあなたが決定します。その後の編集は承認されます";
    about_edited(question, text): "{question}\n\nI edited this hunk; as it is now:\n\n{text}", "{question}\n\nこのハンクは編集しました。現在の内容:\n\n{text}";
    nobody_to_ask: "this change is your own: no model is asked about it", "これは自分の変更のため、モデルには質問しません";
    ask_about_hunk: "ask about this hunk; Alt-Enter sends it with the decision", "このハンクについて質問。Alt-Enterで決定と一緒に送信";
    search: "search in the diff", "差分を検索";
    hunk_copied: "the hunk is copied", "ハンクをコピーしました";

    // The head of a hunk.
    hunk_of(n, all): "hunk {n} of {all}  ", "ハンク {n}/{all}  ";
    definition_changed: "changed", "変更";
    definition_new: "added", "追加";
    definition_renamed: "renamed", "改名";
    definition_renamed_and_changed: "renamed and changed", "改名・変更";
    definition_moved: "moved", "移動";
    definition_moved_and_changed: "moved and changed", "移動・変更";
    definition_removed: "removed", "削除";
    inside(item): "  in {item}", "  {item}内";
    found_wide: "   found: ", "   一致: ";
    found: "found: ", "一致: ";
    exact: "exact", "完全";
    whole_file: "whole file", "ファイル全体";
    by_line_endings: "by line endings", "改行コードを無視";
    by_trailing_space: "by trailing space", "行末の空白を無視";
    by_indentation: "by indentation", "インデントを無視";
    by_look_alikes: "by look-alikes", "似た文字として";
    by_its_ends: "by its ends", "両端の行で";
    inexact: "inexact", "不完全";
    more_definitions(n, named): "{named} and 1 more" | "{named} and {n} more", "{named}、ほか{n}件";
    gets_lines: "an empty file gets lines", "空のファイルに行を追加";
    line(n): "line {n}", "{n}行目";
    lines(first, last): "lines {first}-{last}", "{first}-{last}行目";
    new_file: "new file", "新しいファイル";
    new_file_of(lines): "new file, {lines}", "新しいファイル、{lines}";
    new_folder: "new folder", "新しいフォルダー";
    deletes: "deletes the file", "ファイルを削除";
    deletes_folder: "deletes the folder", "フォルダーを削除";
    deletes_of(lines): "deletes the file, {lines}", "ファイルを削除、{lines}";
    moved: "move", "移動";
    not_text: "not a text", "テキストではありません";
    repository: "the repository as a whole", "リポジトリ全体";
    permissions: "permissions", "パーミッション";
    changed_on_disk: "changed on disk", "ディスク上で変更";
    never_by_policy: "never approved by policy", "ポリシーでは承認されません";
    acts_later: "acts later", "あとで作用";
    broken_line(line): "syntax error in line {line}", "{line}行目に構文エラー";
    no_newline: "no newline at the end", "末尾に改行なし";

    // What has no lines to show.
    empty: "empty", "空";
    moved_here(from): "moved here from {from}", "{from}から移動";
    moves_to(path): "moves to {path}", "{path}へ移動";
    another_path: "another path", "別のパス";
    a_link(target): "a link to {target}", "{target}へのリンク";
    too_large(bytes): "{bytes} bytes, too large to be shown", "{bytes}バイト、大きすぎるため表示できません";
    folder_of_mode(mode): "a folder of mode {mode}", "モード{mode}のフォルダー";
    bytes_not_text(bytes): "{bytes} bytes, not a text", "{bytes}バイト、テキストではありません";
    nothing: "nothing", "なし";
    bytes(bytes): "{bytes} bytes", "{bytes}バイト";
    a_folder: "a folder", "フォルダー";
    differs_from(before, after, byte): "{before} become {after}, differs from byte {byte}", "{before}が{after}に。{byte}バイト目から異なります";
    now_are(before, after): "{before} become {after}", "{before}が{after}に";
    default_mode: "default", "既定";
    becomes(before, after): "{before} becomes {after}", "{before}が{after}に";
}
