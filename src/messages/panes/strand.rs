//! The results of what is done with a Strand store.

messages! {
    definition_gone: "this definition is no longer there", "この定義はもうありません";
    conflict_kept(id): "{id}: what stands is kept", "{id}: 現在の内容を残しました";
    conflict_taken(n, id): "{id}: {n} op was issued again" | "{id}: {n} ops were issued again", "{id}: 操作{n}件を再発行しました";
    conflict_taken_faults(n, id, faults): "{id}: {n} op was issued again; new faults: {faults}" | "{id}: {n} ops were issued again; new faults: {faults}", "{id}: 操作{n}件を再発行しました。新しい問題{faults}件";
}
