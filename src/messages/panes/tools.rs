//! The tools pane: calls, and one of them opened.

messages! {
    tools: "tools", "ツール";
    waiting_for_you: "waiting for you", "あなたの操作待ち";
    next: "next", "次";
    then: "then", "その次";
    drifted: "changed outside nebula since", "その後nebula外で変更";
    before(lines): "{lines} before", "前に{lines}";
    writing(verb): "writing {verb}", "{verb}を作成中";
    writing_of(verb, main): "writing {verb} {main}", "{verb}を作成中 {main}";
    running: "running", "実行中";
    stopping(id): "stopping {id}", "{id}を停止しています";
    job_ended(id, how): "{id} ended: {how}", "{id}は終了: {how}";
    exit(code): "exit {code}", "終了コード{code}";
    signal(number): "signal {number}", "シグナル{number}";
    stopped: "stopped", "停止";
    job_since(id, time): "job {id} since {time}", "{time}からのジョブ{id}";
    rejected: "rejected", "却下";
    failed: "failed", "失敗";
    interrupted: "interrupted", "中断";
    done: "done", "完了";
    undone: "undone", "取り消し済み";
    undone_in_part(n, hunks): "{n} of {hunks} undone", "{hunks}中{n}件を取り消し済み";
    waiting: "waiting", "待機中";
    no_call_holds(words): "no call holds {words}", "{words}を含む呼び出しはありません";
    failed_only(n): "{n} failed only", "失敗{n}件のみ";
    search: "search the tool calls", "ツール呼び出しを検索";
    result_copied: "the result is copied", "結果をコピーしました";
    below(lines): "{lines} below", "下に{lines}";

    // An opened call.
    arguments: "arguments", "引数";
    found: "found", "一致";
    why_not: "why not", "理由";
    result: "result", "結果";
    output: "output", "出力";
    call_copied: "the call is copied", "呼び出しをコピーしました";
    search_result: "search in the result", "結果を検索";
    not_in_result(words): "{words} is not in this result", "{words}はこの結果にありません";
    closes(key): "{key} closes", "{key}で閉じる";
}
