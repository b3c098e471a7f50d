//! The results of what is done with a Strand store.

messages! {
    definition_gone: "this definition is no longer there", "この定義はもうありません";
    conflict_changed(id): "{id} has changed since it was shown; nothing was decided: look at it again", "{id} は表示後に変わったため、何も決めていません。もう一度確認してください";
    conflict_unmarked(n, id, why): "{n} op was issued again, but {id} could not be marked as decided, so it stays listed: {why}" | "{n} ops were issued again, but {id} could not be marked as decided, so it stays listed: {why}", "操作{n}件を再発行しましたが、{id} を解決済みにできず一覧に残ります: {why}";
    conflict_kept(id): "{id}: what stands is kept", "{id}: 現在の内容を残しました";
    conflict_taken(n, id): "{id}: {n} op was issued again" | "{id}: {n} ops were issued again", "{id}: 操作{n}件を再発行しました";
    conflict_taken_faults(n, id, faults): "{id}: {n} op was issued again; new faults: {faults}" | "{id}: {n} ops were issued again; new faults: {faults}", "{id}: 操作{n}件を再発行しました。新しい問題{faults}件";
}
