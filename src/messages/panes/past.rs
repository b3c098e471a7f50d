//! The timeline, and who wrote each line of a file.

messages! {
    timeline: "timeline", "タイムライン";
    nothing_changes: "preview · nothing on disk changes", "プレビュー · ディスクは変わりません";
    nothing_changes_short: "preview", "プレビュー";
    reading: "reading the archive", "アーカイブを読み込み中";
    nothing: "nothing is archived yet: only the present state is known", "アーカイブは空です。現在の状態だけが分かります";
    older: "older", "以前";
    later: "later", "以後";
    now: "now", "現在";
    then: "then", "当時";
    pinned: "pinned", "固定";
    no_turn: "outside a turn", "ターン外";
    edit: "edit", "編集";
    command: "command", "コマンド";
    undo_or_restore: "undo, restore", "元に戻す操作";
    just_before(id): "just before changeset {id}", "チェンジセット {id} の直前";
    as_it_is: "the workspace as it is", "現在のワークスペース";
    differ(n): "{n} file differs" | "{n} files differ", "{n}個のファイルが異なります";
    then_now: "then → now", "当時 → 現在";
    then_pinned: "then → pinned", "当時 → 固定";
    certain: "certain", "確実";
    as_left: "as nebula left it", "nebulaが残した状態";
    perhaps: "as archived", "アーカイブの状態";
    changed_outside(from, to): "changed outside nebula between {from} and {to}", "{from}から{to}の間にnebula外で変更";
    absent_then: "absent then", "当時はなし";
    absent_now: "absent now", "現在はなし";
    no_difference: "no archived file differs", "異なるファイルはありません";
    search: "a time (14:05, -2h), or words of a turn", "時刻（14:05、-2h）またはターンの語句";
    no_such_moment: "no such moment: give a time (14:05, -2h) or words of a turn", "該当する時点がありません: 時刻（14:05、-2h）か語句を入力してください";
    restore_needs_now: "unpin first: a restore goes from now to then", "先に固定を外してください。復元は現在から当時へ行います";
    not_restored: "no version holds this state: it was changed outside nebula only", "この状態のバージョンはありません。変更はnebula外だけです";
    blame: "blame", "行ごとの作成者";
    lines_causes(n, causes): "{n} line · causes: {causes}" | "{n} lines · causes: {causes}", "{n}行 · 原因{causes}件";
    before_nebula: "before nebula", "nebula以前";
    outside_before(time): "outside nebula, before {time}", "nebula以外、{time}以前";
    outside_since: "outside nebula, since the last change", "nebula以外、最後の変更以後";
    before_long: "It was there before nebula first changed the file.", "nebulaが最初に変更する前からありました。";
    outside_long: "Someone changed the file outside nebula.", "nebula以外が変更しました。";
    unsure_long: "Someone else changed the file before the next changeset: the line may be theirs.", "次のチェンジセットの前に他者が変更しました。その変更の可能性があります。";
    changeset(id): "changeset {id}", "チェンジセット {id}";
    you: "you", "あなた";
    search_lines: "search the file", "ファイル内を検索";
    other_session: "that turn belongs to another session: /sessions opens it", "別のセッションのターンです: /sessionsで開けます";
    turn_not_in_chat: "that turn is not in the chat", "そのターンはチャットにありません";
    no_turn_there: "no turn wrote this line", "この行を書いたターンはありません";
    no_diff_there: "no changeset wrote this line", "この行を書いたチェンジセットはありません";
}
