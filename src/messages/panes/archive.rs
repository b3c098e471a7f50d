//! The archive pane: changesets, versions in time, restores.

messages! {
    archive: "archive", "アーカイブ";
    goes_back(key): "{key} goes back", "{key}で戻る";
    filtered(n, all, words): "{n} of {all} with {words}", "{all}件中{n}件: {words}";
    filter: "filter by path or cause", "パスか原因で絞り込み";
    reading: "reading the archive", "アーカイブを読み込み中";
    none_yet: "no changesets yet; what is overwritten is kept here", "チェンジセットはまだありません。上書きされる内容がここに残ります";
    older(n): "{n} older", "以前の{n}件";
    other_process: "another nebula process", "別のnebulaプロセス";
    unknown_cause: "cause unknown", "原因不明";
    undo: "undo", "元に戻す";
    redo: "redo", "やり直し";
    shi: "shi", "shi";
    patch: "patch", "パッチ";
    other_nebula: "other nebula", "別のnebula";

    // Two versions beside each other.
    now: "now", "現在";
    not_there: "not there", "なし";
    foreign: "changed outside nebula", "nebula外で変更";
    changed_later: "changed again later", "あとで再び変更";
    foreign_medium: "outside nebula", "nebula外で";
    foreign_short: "outside", "nebula外";
    pinned: ", pinned", "、固定";
    before(cause): ", before {cause}", "、「{cause}」の前";
    before_cause: ", before cause", "、「原因」の前";
    no_difference: "no difference", "差分なし";

    // A restore's list of files.
    nothing_restored: "nothing was restored", "何も復元しませんでした";
    not_written_yet(files): "{files}, nothing is written yet", "{files}、まだ何も書き込んでいません";
    will_restore: "will restore", "復元します";
    will_make: "will make it again", "再び作成します";
    will_delete: "will delete", "削除します";
    mode_change(now, then): "mode {now} → {then}", "モード {now} → {then}";
    will_set_mode: "will set its mode", "モードを戻します";
    will_make_folder: "will make the folder", "フォルダーを作成します";
    will_remove_folder: "will remove it if empty", "空なら削除します";
    will_remove_whole: "will remove the folder", "フォルダーを削除します";
    not_restored: "not restored", "復元しません";
    not_undone: "not undone", "元に戻りません";
    already_equal: "already equal", "すでに同じです";
    not_archived: "not archived", "アーカイブなし";
    kept: "kept as it is", "現在のまま残します";
    will_merge: "will be merged", "マージします";
    cannot_merge: "cannot be merged, kept as it is", "マージできないため、現在のまま残します";
    will_restore_version: "will restore this version", "このバージョンを復元します";
    at(time): "at {time}", "{time}";
    previews: "previews", "プレビュー";
    cancels: "cancels", "キャンセル";
    ends: "ends it, everything stays as it is", "終了（すべて現在のまま）";
    choose_foreign: " was changed outside nebula; choose what to do:", " はnebula外で変更されました。操作を選択:";
    choose_later: " was changed again later; choose what to do:", " はあとで再び変更されました。操作を選択:";
    choose_line: " has a line that nebula did not write; choose what to do:", " にnebulaが書いていない行が1行あります。操作を選択:";
    choose_lines(n): " has {n} lines that nebula did not write; choose what to do:", " にnebulaが書いていない行が{n}行あります。操作を選択:";
    choose_short: " was changed outside nebula; choose:", " はnebula外で変更。選択:";
    choose_later_short: " was changed again later; choose:", " はあとで再び変更。選択:";
    choose_shorter: "; choose:", "。選択:";
    merge_cannot: "cannot be: there is no common text to start from", "不可: 共通の元テキストがありません";
    merge_clean: "three ways; no conflict here", "3方向マージ。競合なし";
    merge_one: "three ways; one conflict, shown as a hunk", "3方向マージ。競合1件をハンクで表示";
    merge_many(n): "three ways; {n} conflicts, shown as hunks", "3方向マージ。競合{n}件をハンクで表示";
    keep: "keep", "残す";
    keep_detail: "the other files are restored", "ほかのファイルを復元します";
    merge: "merge", "マージ";
    restore_version: "restore this version", "このバージョンを復元";
    restore_version_detail: "the current one is archived", "現在の内容はアーカイブされます";
}
