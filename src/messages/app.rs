//! The passing notices of the screen, and complaints about the files of keys and themes.

messages! {
    resume_with(id): "resume with: nebula --resume {id}", "再開するには: nebula --resume {id}";
    window_of(tokens): "{tokens} window", "ウィンドウ{tokens}";
    price_of(input, output): "{input} in, {output} out", "入力{input}、出力{output}";
    dated(price, date): "{price} ({date})", "{price}（{date}）";
    images: "images", "画像";
    pdfs: "PDFs", "PDFファイル";
    retired_since(date): "retired {date}", "{date}に終了";
    proposal_waits: "a proposal waits for you", "提案が確認を待っています";
    nebula_asks: "nebula asks", "nebulaからの質問です";
    nebula_done: "nebula is done", "nebulaの作業が終わりました";
    copied: "copied", "コピーしました";
    copied_lines(n): "copied {n} lines", "{n}行をコピーしました";
    change_gone(path, key): "the change of {path} is not available now; {key} shows the proposal", "{path}の変更は現在表示できません。{key}で提案を表示";
    no_question: "no question waits", "待っている質問はありません";
    drifted(path): "{path} was changed outside nebula", "{path}がnebula外で変更されました";
    drifted_files(n): "{n} files were changed outside nebula", "{n}ファイルがnebula外で変更されました";
    drifted_elsewhere(path): "{path} was changed by another nebula", "{path}が別のnebulaによって変更されました";
    drifted_elsewhere_files(n): "{n} files were changed by another nebula", "{n}ファイルが別のnebulaによって変更されました";
    connected(provider): "connected to {provider}", "{provider}に接続しました";
    not_sent: "the message was not sent", "メッセージは送信されませんでした";
    shows_proposal(key): "the proposal waits; {key} shows it", "提案が待っています。{key}で表示";
    proposal_waits_on: "the proposal waits", "提案が待っています";
    drops_proposal(key): "{key} again interrupts and drops the proposal", "もう一度{key}で中断し、提案を取り下げます";
    turn_running(again): "a turn is running; {again} ends it and quits", "ターンを実行中です。{again}で中止して終了";
    draft_running(again): "a commit message is being written; {again} ends that and quits", "コミットメッセージを作成中です。{again}で中止して終了";
    leaving_ends_turn: "a turn is running; the same again ends it and opens the other session", "ターンを実行中です。もう一度行うと、中止して別のセッションを開きます";
    leaving_drops_proposal: "a proposal waits; the same again drops it and opens the other session", "提案が待っています。もう一度行うと、取り下げて別のセッションを開きます";
    key_again(key): "{key} again", "もう一度{key}";
    quit_again: "/quit again", "もう一度/quit";
    jobs_end(n): "{n} job ends with nebula; quit once more to end it" | "{n} jobs end with nebula; quit once more to end them", "ジョブ{n}件はnebulaとともに終了します。もう一度終了操作で終了";
    again_quits(key): "{key} again quits", "もう一度{key}で終了";
    not_saved_quits(why, again): "not saved: {why}; {again} quits without saving", "未保存: {why}。{again}で保存せずに終了";
    end_not_saved(id, why): "session {id} was not saved: {why}", "セッション{id}は保存されていません: {why}";
    end_kept_as(id, why, path): "session {id} was not saved: {why}. All that was said is in {path}", "セッション{id}は保存されていません: {why}。会話はすべて{path}にあります";
    end_unknown: "saving took too long: nebula sessions list shows whether this session was saved", "保存に時間がかかりすぎました。このセッションが保存されたかはnebula sessions listで確認できます";
    unsent_kept: "what was typed and not sent is kept with the session", "未送信の入力はセッションと一緒に保存しました";
    session_open: "this session is open; start a new one before you delete it", "このセッションは開いています。削除する前に新しいセッションを開始してください";
    current: "now", "現在";
    pasted_characters(n): "[pasted {n} characters]", "[{n}文字を貼り付け]";
    pasted_lines(n): "[pasted {n} lines]", "[{n}行を貼り付け]";
    something_else: "something else", "その他";
    write_below: "write it below", "下に入力";
    run_the_plan: "Run the plan.", "計画を実行してください。";

    // An external editor.
    not_handed(error): "the text could not be handed to the editor: {error}", "エディターにテキストを渡せませんでした: {error}";
    not_read_back(error): "what the editor left could not be read: {error}", "エディターの結果を読めませんでした: {error}";
    not_started(program, error): "{program} could not be started ({error}); set $EDITOR to another", "{program}を起動できませんでした（{error}）。$EDITORを変更してください";
    editor_failed(program, status): "{program} ended with {status}; what it wrote was not used", "{program}が{status}で終了したため、結果は使われませんでした";

    // keys.toml.
    unused_theme: "The theme is not used; the file is left as it is.", "このテーマは使われません。ファイルはそのままです。";
    left_out: "It is left out; all other keys of the file count.", "この項目は無視されます。ファイルのほかのキーは有効です。";
    cannot_read(path, why): "{path} cannot be read: {why}", "{path}を読めません: {why}";
    own_keys: "The keys are those that nebula comes with.", "nebulaの既定のキーを使います。";
    dark_until: "The theme is dark until you choose another with /theme.", "/themeで選ぶまでテーマはdarkです。";
    no_context(name, all): "there is no context [{name}]; there are {all}", "コンテキスト[{name}]はありません。使えるのは{all}です";
    no_key(context, chord): "[{context}] {chord} is no key; write it like \"ctrl-r\", \"f2\", \"A\" or \"g g\"", "[{context}] {chord}はキーではありません。\"ctrl-r\"、\"f2\"、\"A\"、\"g g\"のように書いてください";
    no_action(context, chord, action, hint): "[{context}] {chord}: there is no action {action}{hint}", "[{context}] {chord}: アクション{action}はありません{hint}";
    same_key(context, chord, other): "[{context}] {chord} and {other} are the same key; keep one of them", "[{context}] {chord}と{other}は同じキーです。どちらか1つにしてください";
    hidden_key(context, long, short): "[{context}] {long} can never be typed, because {short} is bound too; unbind one with false", "[{context}] {short}にも割り当てがあるため、{long}は入力できません。どちらかをfalseで解除してください";
    must_be_table(name): "{name} must be a table: [{name}]", "{name}はテーブルにしてください: [{name}]";
    name_in_quotes: "; write a name in quotes, or false", "。名前を引用符で囲むか、falseを書いてください";
    did_you_mean(name): "; did you mean {name}?", "。{name}のことですか？";
    own_key: "a key of your own", "自分で設定したキー";

    // Themes.
    unknown_theme(name, all): "no theme is called {name}; there are: {all}", "{name}というテーマはありません。使えるのは: {all}";
    not_colour(key, value): "{key} is {value}, which is neither #rrggbb nor in its palette", "{key}の{value}は#rrggbbでもパレットの色でもありません";
    not_of_sixteen(role, n): "{role} is {n}; the terminal's own colours are 0 to 15", "{role}の{n}は無効です。端末自身の色は0から15です";
    no_role(name): "there is no role {name}", "ロール{name}はありません";
    no_attribute(role, name): "{role} has attribute {name}; there are bold, faint, italic, underline, reverse", "{role}の属性{name}はありません。使えるのはbold、faint、italic、underline、reverseです";
    missing_role(name): "role {name} is missing; give it, or set inherits = \"dark\"", "ロール{name}がありません。追加するか、inherits = \"dark\"を設定してください";
    no_parent(name, all): "there is no theme {name} to inherit from; there are: {all}", "継承元のテーマ{name}はありません。使えるのは: {all}";
    circle: "the theme inherits from itself", "テーマが自分自身を継承しています";
    theme_named(name): "theme {name}", "テーマ{name}";
}
