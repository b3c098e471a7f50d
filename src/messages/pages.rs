//! Pages to read: the help, the rules.

messages! {
    keys_of(name): "keys of {name}", "{name}のキー";
    from_keys_toml: "from keys.toml", "keys.tomlより";
    the_input: "the input", "入力欄";
    the_chat: "the chat", "チャット";
    the_calls: "the calls", "呼び出し";
    the_diff: "the diff", "差分";
    the_archive: "the archive", "アーカイブ";
    the_command: "the command", "コマンド";
    the_question: "the question", "質問";
    the_graph: "the graph", "グラフ";
    the_timeline: "the timeline", "タイムライン";
    the_blame: "blame", "行ごとの作成者";
    the_review: "the review", "レビュー";
    the_sessions: "the sessions", "セッション";
    the_start: "the start", "開始画面";
    the_list: "the list", "一覧";
    the_marks: "the marks", "記号";
    accepted: "accepted", "承認";
    rejected: "rejected", "却下";
    undecided: "undecided", "未決定";
    added: "added", "追加";
    removed: "removed", "削除";
    folded: "folded", "省略";
    words: "words", "単語";
    words_changed: "that changed inside a line", "行の中で変わった部分";
    asking: "asking", "問い合わせ中";
    back: "back", "戻る";
    search: "search", "検索";
    scroll: "scroll", "スクロール";
    leave_out: "leave a result out", "結果を除外";
    close: "close", "閉じる";
    rules_and_prompt: "rules and the effective prompt", "ルールと実際のプロンプト";
    rules_heading: "## Rules\n\n", "## ルール\n\n";
    no_rules: "There are none: write `AGENTS.md`, or `.nebula/rules/NAME.md` with `globs:`.\n\n", "ルールはありません。`AGENTS.md`、または`globs:`を持つ`.nebula/rules/NAME.md`を書いてください。\n\n";
    rules_head: "| rule | state | size |\n|---|---|--:|\n", "| ルール | 状態 | サイズ |\n|---|---|--:|\n";
    rule_waits(name, globs): "| {name} | waits for {globs} | |\n", "| {name} | {globs}で有効になります | |\n";
    rule_does_not_apply(name): "- does not apply: {name}\n", "- 適用されません: {name}\n";
    effective_prompt(size): "\n## The effective prompt, {size}\n\n", "\n## 実際のプロンプト、{size}\n\n";
}
