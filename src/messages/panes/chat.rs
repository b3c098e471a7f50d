//! The chat pane.

messages! {
    chat: "chat", "チャット";
    you: "you", "あなた";
    thinking: "thinking", "思考中";
    thought: "thought", "思考";
    thought_for(time): "thought for {time}", "{time}思考";
    thought_hidden: "thought, not shown", "思考（非表示）";
    thought_hidden_for(time): "thought, not shown · {time}", "思考（非表示）· {time}";
    answering: "answering", "回答中";
    search: "search the chat", "チャットを検索";
    attached(n): "{n} file attached" | "{n} files attached", "{n}ファイルを添付";
    attempt(n, all): "Your message is saved. Attempt {n} of {all} in ", "メッセージは保存されています。試行{n}/{all}まで ";
    attempt_end: ".", "。";

    // Runs of calls.
    again: " again", " 再度";
    failed: "failed", "失敗";
    rejected: "rejected", "却下";
    interrupted: "interrupted", "中断";
    waiting_for_you: "waiting for you", "あなたの操作待ち";
    waiting: "waiting", "待機中";
    undone: "undone", "取り消し済み";
    undone_in_part: "undone in part", "一部取り消し済み";
    proposal(what): "proposal: {what}", "提案: {what}";
    you_approved(n, hunks): "you approved {n} of {hunks}", "あなたが{hunks}中{n}件を承認";
    you_rejected(hunks): "you rejected {hunks}", "あなたが{hunks}を却下";
    with_state(n, state): "{n} {state}", "{state} {n}";

    // What a notice offers.
    go_on: "go on from here", "ここから続ける";
    ask_again: "ask again", "もう一度依頼";
    another_model: "another model", "別のモデル";
    what_changed: "what changed", "変更内容";
    open_file: "open the file", "ファイルを開く";
    try_memory: "try memory again", "メモリーを再試行";
}
