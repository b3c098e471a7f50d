//! The frame around the panes: the status line, the input line, the ledger, questions, the queue.

messages! {
    needs(width, height, w, h): "nebula needs {width}×{height}; this is {w}×{h}", "nebulaには{width}×{height}が必要です（現在{w}×{h}）";
    sessions_of(workspace): "sessions of {workspace}", "{workspace}のセッション";
    last_messages: "last messages", "最近のメッセージ";
    preview: "preview", "プレビュー";
    recent: "recent", "最近";
    opens_list(key): "{key} opens the list", "{key}で一覧を開く";
    plan: "plan, reads only", "計画、読み取りのみ";
    agent: "agent", "エージェント";
    edits_approved: "edits approved", "編集を承認";
    review_approved: "review", "レビュー";
    all_approved: "edits and commands approved", "編集とコマンドを承認";
    nothing_approved: "nothing approved", "すべて拒否";
    a_recording: "a recording", "録画";
    recording_of(model): "{model}, a recording", "{model}、録画";
    no_model: "no model", "モデルなし";
    deciding: "deciding", "判断中";
    reviewing: "reviewing", "レビュー中";
    not_saved: "not saved", "未保存";
    free(window): "{window} free", "空き{window}";
    context(used, window): "{used} of {window}", "{used} / {window}";

    // The input line.
    type_to_write: "type to write to nebula", "文字を打つとnebulaに入力できます";
    key_to(key, does): "{key} to {does}", "{key}で{does}";
    to_search: "search", "検索";
    to_write: "write to nebula", "nebulaに入力";
    connect_first_short: "nothing is sent yet", "まだ何も送信しません";
    connect_first: "nothing is sent before one is connected", "接続するまで何も送信しません";
    answer_freely: "answer in your own words", "自分の言葉で回答";
    ask_for_change: "ask for a change, @ adds a file", "変更を依頼。@でファイルを追加";
    new: "new", "新規";
    search_sessions: "search titles and messages", "タイトルとメッセージを検索";
    waiting_for_you(what): "waiting for you: {what}", "あなたの操作待ち: {what}";
    trying_again(seconds): "trying again in {seconds} s", "{seconds}秒後に再試行";
    commit_waits: "the commit message waits until the input is empty", "コミットメッセージがあります。入力欄が空になると表示";
    commit_opens: "the commit message opens when you pause", "コミットメッセージがあります。入力が止まると表示";
    commit_waits_below: "the commit message waits until this is closed", "コミットメッセージがあります。この画面を閉じると表示";
    writing_commit: "writing a commit message", "コミットメッセージを作成中";
    interrupted: "interrupted", "中断";
    failed: "failed", "失敗";
    ready: "ready", "待機中";
    working(seconds): "working {seconds}", "作業中 {seconds}";
    step(step): "step {step}", "ステップ{step}";
    waiting_for_model: "waiting for the model", "モデルの応答待ち";

    // The ledger.
    changed: "changed ", "変更 ";
    nothing: "nothing", "なし";
    waiting: "waiting", "待ち";
    does_review: " review", " レビュー";
    does_diff: " diff", " 差分";

    // What waits.
    proposal_of(files): "proposal: {files}", "提案: {files}";
    proposal(files, hunks): "proposal: {files}, {hunks}", "提案: {files}、{hunks}";
    restore(files): "restore: {files}", "復元: {files}";
    review: "review", "レビュー";
    question: "question", "質問";
    answer: "answer", "回答";
    ready_to_write: "ready to write", "書き込み可能";
    hunks_ready(n): "{n} hunks ready to write", "{n}ハンクを書き込めます";
    undecided(open, all): "{open} of {all} undecided", "{all}件中{open}件が未決定";
    hunk_undecided: "1 hunk undecided", "1ハンクが未決定";
    hunks_undecided(open, all): "{open} of {all} hunks undecided", "{all}ハンク中{open}件が未決定";
    a_restore(files): "a restore of {files}", "{files}の復元";
    to_choose(files): "{files} to choose", "{files}を選択してください";

    // What a key does now.
    ok: "OK", "OK";
    cancel: "cancel", "キャンセル";
    runs_in(folder): "runs in {folder} · /env clear", "{folder} で実行 · /env clear";
    attaches(path): "attaches {path}", "{path}を添付";
    interrupts: "interrupts", "中断";
    now: "now", "今すぐ";
    stop: "stop", "停止";
    continues: "continues", "続行";
    runs_plan: "runs the plan", "計画を実行";
    asks_why: "asks why it was rejected", "却下の理由を尋ねる";
    writes_accepted: "writes what is accepted", "承認したものを書き込む";
    next_hunk: "next hunk", "次のハンク";
    writes_decided: "writes when all are decided", "全決定後に書き込み";
    writes_once_decided: "writes once every hunk is decided", "全ハンクの決定後に書き込み";

    // A question.
    head: " question", " 質問";
    head_of(n, all): " question {n} of {all}", " 質問 {n}/{all}";
    no_is_default: "a permission: no is the default", "許可の質問: 既定は「いいえ」";
    answers: " answers", " 回答";
    decide_later: " decide later", " あとで決める";
    back_to_choices: " back to the choices", " 選択肢に戻る";

    // The queue.
    sends_next(key): "{key} sends the next", "{key}で次を送信";
    kept: "kept", "保留中";
    sent_one_by_one: "sent one by one when this turn ends", "このターンの終了後に1件ずつ送信";
    queued: "queued", "キュー";
    edits: "edits", "編集";
    drops: "drops", "削除";
}
