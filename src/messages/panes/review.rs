//! The review queue: changes that nobody was asked about.

messages! {
    review: "review", "レビュー";
    reading: "reading the archive", "アーカイブを読み込み中";
    nothing: "nothing waits to be reviewed", "レビュー待ちの変更はありません";
    entries(n): "{n} entry" | "{n} entries", "{n}件";
    turns(n): "{n} turn" | "{n} turns", "{n}ターン";
    wait(n): "{n} entry waits until it is decided" | "{n} entries wait until they are decided", "{n}件が判断を待っています";
    no_turn: "outside a turn", "ターン外";
    net: "net", "正味";
    before_now: "before → now", "以前 → 現在";
    single: "single", "単独";
    before_after: "before → after it", "以前 → 直後";
    keep: "keep", "残す";
    restore: "restore", "元に戻す";
    undecided: "undecided", "未決定";
    aside(path, why): "{path}: {why}", "{path}: {why}";
    later(path): "{path} changed again later: restoring merges; no conflict", "{path}はあとで再び変更されました。元に戻すとマージします（衝突なし）";
    later_conflicts(path, n): "{path} changed again later: restoring merges; conflicts: {n}", "{path}はあとで再び変更されました。元に戻すとマージします（衝突{n}件）";
    no_difference: "no difference is left", "差分はありません";
    decide_whole: "no hunk to decide: all of it is kept or restored", "判断するハンクはありません。全体を残すか元に戻してください";
    waits_no_more: "this was decided elsewhere meanwhile", "ほかの場所ですでに判断されました";
    why: "why it is restored, for the model; Enter alone: no reason", "元に戻す理由（モデル向け）。Enterのみで理由なし";
    decide_rest(n): "{n} hunk is undecided" | "{n} hunks are undecided", "未決定のハンクが{n}件あります";
    open(n): "{n} change not reviewed" | "{n} changes not reviewed", "未確認の変更{n}件";
}
