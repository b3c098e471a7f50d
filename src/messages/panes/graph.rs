//! The graph of definitions, and the conflicts to decide.

messages! {
    graph: "graph", "グラフ";
    reading: "reading the definitions", "定義を読み込み中";
    nothing: "the store holds no definition yet: `strand add` adds one", "ストアに定義がまだありません。`strand add` で追加できます";
    one_of_several(store): "store {store}, one of several here", "ストア{store}（ここにある複数のうちの1つ）";
    another_store(store): "also: STRAND_STORE={store} nebula", "ほか: STRAND_STORE={store} nebula";
    nothing_in_files: "the source files hold no definition", "ソースファイルに定義がありません";
    files_left(n): "{n} more file" | "{n} more files", "ほか{n}ファイル";
    definitions(n): "{n} definition" | "{n} definitions", "定義{n}件";
    definitions_so_far(n): "{n} definition so far" | "{n} definitions so far", "ここまでに定義{n}件";
    conflicts(n): "{n} conflict" | "{n} conflicts", "競合{n}件";
    conflict_heading: "conflicts", "競合";
    uses: "uses", "参照先";
    used_by: "used by", "参照元";
    history: "history", "履歴";
    cut: "the rest of the text is left out", "テキストの残りは省略";
    lost: "what does not show", "表示されない内容";
    add_add: "add-add", "同名の追加";
    clock: "clock", "時刻のずれ";
    dangling: "dangling", "参照切れ";
    edit_on_deleted: "edit-on-deleted", "削除後の編集";
    edit_superseded: "edit-superseded", "上書きされた編集";
    label_clash: "label-clash", "名前の衝突";
    locked: "locked", "所有者あり";
    malformed: "malformed", "不正な形式";
    op_id_collision: "op-id-collision", "操作IDの重複";
    stale_dep: "stale-dep", "古い依存";
    sync: "sync", "同期";
    void_op: "void-op", "効果のない操作";
    withdrawn: "withdrawn", "取り下げ";
    healed: "healed", "修復済み";
    open: "open", "未解決";
    resolved: "resolved", "解決済み";
    warned: "warned", "警告";
    stands: "what stands", "現在の内容";
    steps_back(n): "{n} step back" | "{n} steps back", "{n}つ前へ戻れます";
    keep_means: "Keep leaves what stands. This conflict, and any later one of its kind here, counts as settled in this store.", "「残す」は現在の内容を残します。この競合と、この場所の同じ種類の以後の競合は、このストアで解決済みになります。";
    take_means: "Take issues again what does not show, as new ops.", "「採用」は表示されない内容を新しい操作として再発行します。";
    keep_asks(about): "Enter yes, any other key no: keep what stands in {about}?", "Enterではい、他のキーでいいえ: {about} の現在の内容を残しますか";
    take_asks(about): "Enter yes, any other key no: issue again what does not show in {about}?", "Enterではい、他のキーでいいえ: {about} の表示されない内容を再発行しますか";
    filter: "filter by name", "名前で絞り込み";
    search: "search the definition", "定義内を検索";
}
