//! The commands of the palette: what each does in short, and in a sentence or two.

use crate::messages::Text;

/// The formats of edits with what they are for.
pub const FORMATS: &[(&str, Text)] = &[
    ("auto", format_auto),
    ("tools", format_tools),
    ("xml", format_xml),
    ("whole", format_whole),
    ("blocks", format_blocks),
    ("patch", format_patch),
    ("lines", format_lines),
];

/// The word that asks for a list where a name may stand.
pub const LIST: &str = "list";

/// The names of all commands, as they are typed.
pub const NAMES: &[&str] = &[
    "/model",
    "/connect",
    "/plan",
    "/agent",
    "/new",
    "/resume",
    "/sessions",
    "/undo",
    "/redo",
    "/history",
    "/review",
    "/graph",
    "/timeline",
    "/file",
    "/format",
    "/effort",
    "/theme",
    "/rules",
    "/rag",
    "/prompt",
    "/commit",
    "/compact",
    "/export",
    "/stats",
    "/blame",
    "/usage",
    "/context",
    "/config",
    "/env",
    "/trust",
    "/mouse",
    "/help",
    "/quit",
];

messages! {
    title: "commands", "コマンド";
    model: "choose the model for this session", "このセッションのモデルを選択";
    model_long: "The next step of a running turn uses the new model; the choice is kept for the next start.", "実行中のターンも次のステップから新しいモデルを使います。選択は次回の起動にも残ります。";
    model_now(model, long): "{model} now. {long}", "現在は{model}。{long}";
    connect: "connect a model with a key or an address", "キーまたはアドレスでモデルを接続";
    connect_long: "The key is checked with one request. It is kept for this run, or in a private file if you say so.", "キーは1回のリクエストで確認します。この実行の間だけ、または選択すれば非公開ファイルに保存します。";
    plan: "read only, and end in a plan", "読み取りだけを行い計画を立てる";
    plan_long: "nebula may read and search, and changes nothing.", "nebulaは読み取りと検索だけを行い、何も変更しません。";
    agent: "make changes; runs the current plan", "変更を行う。現在の計画を実行";
    agent_long: "nebula proposes changes and you approve them. After a plan it runs the plan.", "nebulaが変更を提案し、あなたが承認します。計画のあとではその計画を実行します。";
    new: "start a new session", "新しいセッションを開始";
    new_long: "The current session is saved; /resume opens it again.", "現在のセッションは保存され、/resumeで再び開けます。";
    resume: "open another session of this project", "このプロジェクトの別のセッションを開く";
    resume_long: "Sessions in use by another nebula can be forked.", "別のnebulaが使用中のセッションはフォークできます。";
    sessions: "resume, rename, fork, delete, export", "再開、名前変更、フォーク、削除、エクスポート";
    sessions_long: "All sessions of this project, newest first.", "このプロジェクトのすべてのセッションを新しい順に表示します。";
    undo: "undo the newest changeset", "最新のチェンジセットを元に戻す";
    undo_long: "Previews, then asks. /redo reverses it. /undo turn undoes everything the last turn changed.", "プレビューしてから確認します。/redoでやり直せます。/undo turnは最後のターンの変更をすべて元に戻します。";
    redo: "redo the last undo", "最後の「元に戻す」をやり直す";
    redo_long: "Possible while the newest changeset is an undo.", "最新のチェンジセットが「元に戻す」である間だけ使えます。";
    history: "browse the archive", "アーカイブを見る";
    history_long: "Changesets and versions; any two versions side by side.", "チェンジセットとバージョン。任意の2つのバージョンを並べて比較できます。";
    file: "find a file to mention", "メンションするファイルを探す";
    file_long: "The same finder as @, full size.", "@と同じ検索を全画面で行います。";
    format: "how the model writes its edits", "モデルが編集を書く形式";
    format_long: "auto, or one of the list; for this session.", "auto、または一覧の形式のいずれか。このセッションに適用します。";
    effort: "how much the model thinks", "モデルの思考量";
    effort_long: "The next lower one where a model lacks it. The choice is saved.", "モデルにない場合は一段低いものを使います。選択は保存されます。";
    effort_argument: "[none|low|medium|high|xhigh|max|auto]", "[none|low|medium|high|xhigh|max|auto]";
    effort_auto: "as much as the model does by itself", "モデルに任せる";
    effort_none: "not at all", "思考しない";
    effort_low: "a little", "少し";
    effort_medium: "some", "中程度";
    effort_high: "much", "多め";
    effort_xhigh: "very much", "かなり多め";
    effort_max: "as much as it can", "可能な限り";
    theme: "the colours of the screen, each with a sample", "画面の配色。見本を表示";
    theme_long: "auto, one that is shipped, or one of yours. The choice is saved.", "auto、同梱のテーマ、または自作のテーマ。選択は保存されます。";
    rules: "the effective prompt, part by part", "実際のプロンプトを部分ごとに表示";
    rules_long: "Each part with its origin and the reason it is there.", "各部分の出所と、含まれている理由を示します。";
    rag: "attach passages found by words", "語句で見つけた箇所を添付";
    rag_long: "Searches the workspace and what was indexed.", "ワークスペースとインデックス済みの文書を検索します。";
    prompt: "run a prompt of yours", "自分のプロンプトを実行";
    prompt_long: "Prompts are Markdown files in .nebula/prompts, here or at home.", "プロンプトはワークスペースかホームの.nebula/promptsにあるMarkdownファイルです。";
    commit: "write a commit message from the staged diff", "ステージ済みの差分からコミットメッセージ作成";
    commit_long: "You edit and approve the message before anything happens.", "実行の前にメッセージを編集し、承認できます。";
    compact: "summarise the conversation so far", "これまでの会話を要約";
    compact_long: "Preview, then replace; undo sends all again.", "プレビューのあとで置き換えます。undoで全文の送信に戻ります。";
    export: "export this session to a file", "このセッションをファイルにエクスポート";
    export_long: "In the workspace root.", "ワークスペースのルートに書き出します。";
    stats: "edit success by model and format", "モデルと形式ごとの編集の成功率";
    stats_long: "Edits applied, not found and rejected; tokens.", "適用、該当なし、却下の編集数とトークン数。";
    review_arguments: "[keep|restore ID…|all]", "[keep|restore ID…|all]";
    review: "changes made without a question", "確認なしで行われた変更";
    review_long: "Lists them; keeps them, or proposes what was there before.", "一覧を表示し、残すか、以前の状態を提案します。";
    graph: "the definitions and their references", "定義とその参照";
    graph_long: "References both ways, history, and conflicts to decide.", "両方向の参照、履歴、判断待ちの競合。";
    moment_argument: "[TIME|WORDS]", "[時刻|語句]";
    timeline: "the workspace at any moment", "任意の時点のワークスペース";
    timeline_long: "A preview; from there all or one file can be restored.", "プレビューです。そこからすべて、または1ファイルを戻せます。";
    file_argument: "FILE", "ファイル";
    blame: "who wrote each line of a file", "ファイルの各行の作成者";
    blame_long: "Shows beside each run of lines the prompt or the command it is from, or that it was written outside nebula.", "各行を書いたプロンプト、コマンド、外部の変更を表示します。";
    usage: "tokens and cost of this session", "このセッションのトークンと費用";
    usage_long: "By turn and by model.", "ターンごと、モデルごとに表示します。";
    context: "what the context window holds", "コンテキストウィンドウの内訳";
    context_long: "Tokens by part, and the window's size. `x` there leaves a result out.", "部分ごとのトークン数とウィンドウの大きさ。そこで`x`を押すと結果を除外できます。";
    env_arguments: "[clear]", "[clear]";
    env: "folder and variables that commands left", "コマンドが残したフォルダーと変数";
    env_long: "The next command begins with them; `clear` resets them.", "次のコマンドはこれらで始まります。`clear`で初期状態に戻します。";
    config: "the configuration, and where it comes from", "設定とその出所";
    config_long: "Each key with its value and origin.", "各キーの値と出所を表示します。";
    trust: "trust this folder's configuration", "このフォルダーの設定を信頼";
    trust_long: "Without trust it sets no keys, addresses or approval. The answer is saved.", "信頼しない間、キー、アドレス、承認の設定は使われません。回答は保存されます。";
    mouse: "mouse on or off", "マウスの有効／無効";
    mouse_long: "Off: the terminal selects text.", "無効にすると端末の機能で文字列を選択できます。";
    help: "keys", "キー一覧";
    help_long: "The keys of the pane in focus.", "フォーカスのあるペインのキー。";
    quit: "quit nebula", "nebulaを終了";
    quit_long: "The session is saved.", "セッションは保存されます。";

    name_argument: "[name]", "[名前]";
    undo_arguments: "[count] [file]", "[回数] [ファイル]";
    words_argument: "words", "語句";
    prompt_arguments: "[name] [arguments]", "[名前] [引数]";
    compact_argument: "[undo]", "[undo]";
    export_argument: "[md|json|html]", "[md|json|html]";
    mouse_argument: "[on|off]", "[on|off]";

    // The lists that the commands open.
    models: "models", "モデル";
    typed_before: "history", "履歴";
    prompts: "prompts", "プロンプト";
    themes: "theme", "テーマ";
    export_as: "export as", "エクスポート形式";
    commit_message: "commit message", "コミットメッセージ";
    delete_session: "delete the session?", "セッションを削除しますか？";
    keep_it: "keep it", "残す";
    delete_it: "delete it", "削除する";
    delete_long(title): "{title}: the session and its messages. Its archived versions stay in the archive.", "{title}: セッションとそのメッセージ。アーカイブ済みのバージョンは残ります。";
    delete_in_use(title): "{title}: in use by another nebula. It is deleted only if that one has closed it.", "{title}: 別のnebulaが使用中です。そちらで閉じている場合だけ削除します。";
    commit_it: "commit", "コミット";
    commit_it_detail: "what is staged, with this message", "ステージ済みの内容を、このメッセージで";
    commit_edit: "edit", "編集";
    commit_edit_detail: "the message in $EDITOR", "メッセージを$EDITORで編集";
    commit_cancel: "cancel", "キャンセル";
    commit_cancel_detail: "nothing is committed", "何もコミットしない";
    commit_empty: "the message is empty: nothing was committed", "メッセージが空のため、何もコミットしませんでした";
    format_auto: "chosen by the model, and by what it was seen to do", "モデルとその実績から選択";
    format_tools: "tool calls; for models that support them", "ツール呼び出し。対応モデル向け";
    format_xml: "tags in the middle of the text", "本文中のタグ";
    format_whole: "whole files in fences; for small models", "コードブロックでファイル全体。小さなモデル向け";
    format_blocks: "SEARCH and REPLACE blocks", "SEARCHとREPLACEのブロック";
    format_patch: "unified diffs or patch envelopes", "unified diffまたはパッチ形式";
    format_lines: "by line number, with a guard", "行番号による指定と照合";
    export_markdown: "Markdown", "Markdown";
    export_json: "every message as it was sent", "送信されたままの全メッセージ";
    export_html: "one page", "1ページ";
    theme_dark: "for dark terminals", "暗い端末向け";
    theme_light: "for light terminals", "明るい端末向け";
    theme_contrast: "high contrast, on black", "黒地の高コントラスト";
    theme_plain: "no colour", "色なし";
    theme_ansi: "the terminal's own 16 colours", "端末自身の16色";
    theme_own: "yours", "自作";
    theme_auto: "dark or light, as the terminal is", "端末に合わせて暗い／明るい";
    theme_uncoloured(detail): "{detail}; without colours here", "{detail}。ここでは色なし";
    theme_mistake: "has a mistake", "誤りがあります";
    theme_fix(why): "{why}. Fix the file and start nebula again.", "{why}。ファイルを直してnebulaを再起動してください。";
    theme_fix_it(why): "{why}; fix it and start nebula again", "{why}。直してnebulaを再起動してください";
    theme_kept(name): "{name} is kept for later: no colours are drawn here (NO_COLOR, or TERM)", "{name}は保存されました。ここでは色を使いません（NO_COLORまたはTERM）";
    mouse_on: "mouse on", "マウス有効";
    mouse_off: "mouse off", "マウス無効";
    edits_approved: "edits are approved from now on", "今後の編集を承認します";
    plan_mode: "plan: nebula reads and changes nothing", "計画: nebulaは読み取りだけを行い、何も変更しません";
    review_approved: "edits and commands that can be undone now run unasked", "今後は編集と元に戻せるコマンドを確認なしで実行します";
    asks_before_edits: "nebula asks before each edit", "nebulaは編集のたびに確認します";
    page_rules: "rules", "ルール";
    page_stats: "stats", "統計";
    page_usage: "usage", "使用量";
    page_context: "context", "コンテキスト";
    results: "leave out of the window", "ウィンドウから除外";
    page_config: "configuration", "設定";
    page_env: "environment", "環境";
}
