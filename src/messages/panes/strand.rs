//! Questions about a Strand store, and the results of what is done with it.

messages! {
    change_store(path, what): "Change the Strand store in {path}? `nebula undo` takes it back.\n\n{what}", "{path}のStrandストアを変更しますか？`nebula undo` で元に戻せます。\n\n{what}";
    run_store(path, what): "Run an event of the Strand store in {path}? Its state and its storage change, and no undo brings them back.\n\n{what}", "{path}のStrandストアのイベントを実行しますか？状態と保存値が変わり、元に戻せません。\n\n{what}";
    unknown_store(named): "STRAND_STORE={named} is no store here", "STRAND_STORE={named} はここのストアではありません";
    definition_gone: "this definition is no longer there", "この定義はもうありません";
    conflict_changed(id): "{id} has changed since it was shown; nothing was decided: look at it again", "{id} は表示後に変わったため、何も決めていません。もう一度確認してください";
    conflict_unmarked(n, id, why): "{n} op was issued again, but {id} could not be marked as decided, so it stays listed: {why}" | "{n} ops were issued again, but {id} could not be marked as decided, so it stays listed: {why}", "操作{n}件を再発行しましたが、{id} を解決済みにできず一覧に残ります: {why}";
    conflict_kept(id): "{id}: what stands is kept", "{id}: 現在の内容を残しました";
    conflict_taken(n, id): "{id}: {n} op was issued again" | "{id}: {n} ops were issued again", "{id}: 操作{n}件を再発行しました";
    conflict_taken_faults(n, id, faults): "{id}: {n} op was issued again; new faults: {faults}" | "{id}: {n} ops were issued again; new faults: {faults}", "{id}: 操作{n}件を再発行しました。新しい問題{faults}件";
}
