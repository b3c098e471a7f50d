//! The texts of the popups, and of the screens in place of the panes: connect, files, lists, sessions, the screen
//! without a model.

messages! {
    // Connect.
    connect: "connect", "接続";
    next: "next", "次へ";
    next_field: "next field", "次の項目";
    previous_field: "field before", "前の項目";
    choose: "choose", "選択";
    back: "back", "戻る";
    step_of(step, of): "step {step} of {of}", "手順{step}/{of}";
    also(others): "also: {others}", "ほかに: {others}";
    provider: "provider", "提供元";
    address: "address", "アドレス";
    key: "key", "キー";
    openai: "OpenAI", "OpenAI";
    anthropic: "Anthropic", "Anthropic";
    gemini: "Gemini", "Gemini";
    any_server: "any server", "他サーバー";
    paste_it: "paste it here", "ここに貼り付け";
    for_this_run: "for this run only   gone when nebula ends", "今回の実行のみ   nebulaの終了時に消えます";
    in_a_file: "in a file   ~/.nebula/credentials.json, mode 0600", "ファイルに保存   ~/.nebula/credentials.json、モード0600";
    goes_alone(host): "either way it goes to {host} alone", "どちらの場合も{host}だけに送られます";
    goes_to_it_alone: "either way it goes to that server alone", "どちらの場合もそのサーバーだけに送られます";
    keep_it: "keep it", "保存";
    address_begins: "the address begins with http:// or https://", "アドレスはhttp://かhttps://で始めてください";
    key_needed: "a key is needed", "キーが必要です";
    checking: "checking with one request", "リクエスト1回で確認中";
    loopback: "a loopback address needs no key", "ループバックアドレスにはキー不要";
    one_request: "one request checks it", "リクエスト1回で確認します";
    variable_wins_later(variable): "one request checks it; in later runs ${variable} wins, where it is set", "リクエスト1回で確認します。次回以降は${variable}があればそちらが優先されます";
    key_of_another(owner, chosen): "this is a key of {owner}, and {chosen} is chosen: it was not sent. Choose its provider here, or paste another key", "これは{owner}のキーですが、{chosen}が選択されています。送信していません。ここで提供元を選ぶか、別のキーを貼り付けてください";
    check_key: "check the key", "キーを確認";
    connecting: "connecting", "接続中";
    accepted_by(host): "accepted by {host}", "{host}が承認";
    chosen_later: "chosen once the key is checked", "キーの確認後に選択";
    as_typed: "as typed", "入力どおり";
    matching(n, all): "{n} of {all} that match", "一致{all}件中{n}";
    type_its_name: "type its name", "モデル名を入力";
    lists_none(host): "{host} lists no model to write with", "{host}には書けるモデルの一覧がありません";
    typing_narrows: "typing narrows the list", "入力で絞り込み";
    next_models(names): "next: {names}", "次: {names}";

    // Files.
    looking: "looking", "検索中";
    hits_so_far(n, all): "{n} of {all} so far", "{n}/{all}（検索中）";
    insert: "insert", "挿入";
    scroll_preview: "scroll preview", "プレビューをスクロール";
    scroll: "scroll", "スクロール";
    only_these_lines: "only these lines", "この行だけ";
    lines: "lines", "行";
    close: "close", "閉じる";
    files: "files", "ファイル";
    no_file_matches: "no file matches", "一致するファイルはありません";
    lines_and_size(lines, size): "{lines}, {size}", "{lines}、{size}";
    not_text: "not a text", "テキストではありません";

    // Lists.
    asking: "asking", "問い合わせ中";
    run: "run", "実行";
    from_to(begun, last): "{begun} to {last}", "{begun}から{last}";
    take: "select", "選択";
    complete: "complete", "補完";
    takes_typed(key): "{key} uses the name as typed", "{key}で入力した名前を使います";
    no_results: "no result in the window is long enough to leave out", "除外するほど長い結果はウィンドウにありません";
    no_prompts: "none yet: write one as .nebula/prompts/NAME.md", "まだありません。.nebula/prompts/NAME.mdに書いてください";
    nothing_matches: "no match", "一致なし";

    // Sessions.
    search_sessions: "search titles and messages", "タイトルとメッセージを検索";
    in_use_elsewhere: "another nebula process uses this session; it can be forked", "このセッションは別のnebulaプロセスが使用中です。フォークできます";
    is_here: "this session is on the screen", "このセッションは画面に表示中です";
    here: "this one", "表示中";
    new_title: "new title", "新しいタイトル";
    title: "title", "タイトル";
    state: "state", "状態";
    messages: "messages", "件数";
    model: "model", "モデル";
    age: "age", "経過";
    no_session: "no session yet", "セッションはまだありません";
    nothing_found: "nothing found", "見つかりません";
    on_disk_since: "on disk since then", "その後のディスク";
    changed_outside_at(time): "changed outside nebula, {time}", "nebula外で変更、{time}";
    outside: "outside nebula", "nebula外";
    outside_at(time): "outside nebula, {time}", "nebula外、{time}";
    as_left: "as nebula left it", "nebulaの変更時のまま";
    cost: "cost ", "費用 ";
    changes: "changes", "変更";
    unclean_long: "not closed cleanly: nebula was stopped", "異常終了: nebulaが停止されました";
    in_use_long: "in use by another nebula; it can be forked", "別のnebulaが使用中。フォークできます";
    unclean: "not closed cleanly", "異常終了";
    unclean_short: "not closed", "異常終了";
    drifted(n): "{n} changed", "変更{n}件";
    older(n): "{n} older", "以前の{n}件";
    in_use: "in use", "使用中";

    // What a theme looks like.
    sample_said: "Prices are loaded in one query.", "価格を1回の問い合わせで読み込みます。";
    sample_waiting: "waiting for you", "あなたの操作待ち";
    sample_selected: "the selected row", "選択中の行";

    // Without a model.
    tour: "tour", "ツアー";
    tour_detail: "two minutes, offline; the model is a recording", "2分、オフライン。モデルは録画です";
    tour_detail_short: "offline; the model is a recording", "オフライン。モデルは録画";
    connect_detail: "choose a provider and paste a key; one request checks it", "提供元を選びキーを貼り付け。リクエスト1回で確認します";
    connect_detail_short: "choose a provider, paste a key", "提供元を選びキーを貼り付け";
    connect_file(name): "run {name} here, or paste a key of a provider", "{name}をここで動かすか、提供元のキーを貼り付け";
    connect_file_short(name): "run {name} here", "{name}をここで動かす";
    key_places: "where a key is looked for", "キーを探す場所";
    first_wins: "first found wins", "先に見つかったものを使用";
    this_form: "this form", "このフォーム";
    is_set: "set", "設定あり";
    not_set: "not set", "未設定";
    configured: "configured", "設定あり";
    not_configured: "not configured", "未設定";
    kept_there: "a key for it", "キーあり";
    no_key_there: "no key for it", "キーなし";
    no_key_yet: "no key yet", "キーはまだありません";
    key_for_run: "a key for this run", "この実行のみのキー";
    key_kept: "a key that is kept", "保存するキー";
    another_server: "another server", "別のサーバー";
    how_another_server: "choose any server under provider and give its address; a loopback address needs no key", "提供元で互換サーバーを選び、アドレスを入力。ループバックのアドレスにはキー不要";
    other_ways: "other ways", "ほかの方法";
    a_variable: "a variable, then start nebula again", "変数を設定してnebulaを再起動";
    which_wins: "the variable wins, then apiKeyCommand, then ~/.nebula/credentials.json", "優先順位は変数、apiKeyCommand、~/.nebula/credentials.jsonの順です";
    local_server: "a local server", "ローカルサーバー";
    looking_for_server: "looking; one that starts later is found by itself", "検索中。あとで起動したものも自動で見つかります";
    nothing_answers(ports): "nothing answers on {ports}; one that starts later is found by itself", "{ports}は応答なし。あとで起動したものも自動で見つかります";
    model_file: "a model file", "モデルファイル";
    file_runs(name, size): "{name} ({size}) is on this computer; Connect runs it here", "{name}（{size}）がこのコンピューターにあります。接続するとここで動かせます";
    file_needs_build(name, size): "{name} ({size}) is on this computer; nebula built with --features embedded runs it", "{name}（{size}）がこのコンピューターにあります。--features embeddedで作ったnebulaなら動かせます";
    this_computer: "on this computer", "このコンピューター上";
    in_later_runs: "in later runs too   in ~/.nebula/config.json", "次回以降も使う   ~/.nebula/config.json";
    read_file: "read the file", "ファイルを読む";
    reading_file: "reading the file", "ファイルを読み込み中";
    file_was_read: "the file was read", "ファイルを読みました";
    chosen_after_reading: "chosen once the file is read", "ファイルを読んだあとに選択";
    no_key_for_file: "no key: the model runs here, and nothing is sent anywhere", "キーは不要です。モデルはここで動き、どこにも送信しません";
    never_stored: "A key is never stored unless you ask, never shown, never logged.", "キーは求められない限り保存せず、表示も記録もしません。";
}
