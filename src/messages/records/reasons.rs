//! Reasons of edits, mentions, paths, commands and restores that failed.

pub(super) const RECORDS: &[(&str, &str)] = &[
    // Mentions that stop a message.
    ("@rag needs words to look for: @rag how prices round", "@ragには検索する語句が必要です: @rag how prices round"),
    (
        "the files mentioned come to {size}; mention fewer, or lines of them",
        "メンションしたファイルは合計{size}です。数を減らすか、行を指定してください",
    ),
    (
        "there is no file {path}; fix the mention, or write \\@ for a plain at sign",
        "ファイル{path}がありません。メンションを直すか、ただの@なら\\@と書いてください",
    ),
    (
        "{path} is binary ({size}): only text, images and PDFs can be attached",
        "{path}はバイナリーです（{size}）。添付できるのはテキスト、画像、PDFです",
    ),
    ("{path} has {count} lines; there is no line {first}", "{path}は{count}行で、{first}行目はありません"),
    (
        "lines {first} to {total} of {path} are {size} long: mention fewer lines of it, as {mention}",
        "{path}の{first}-{total}行目は{size}あります。{mention}のように行を減らしてメンションしてください",
    ),
    (
        "{path} is {size} long: mention fewer lines of it, as {mention}",
        "{path}は{size}あります。{mention}のように行を減らしてメンションしてください",
    ),
    (
        "{path} is {size} long, and its line {n} alone is longer than {most}: put the part that matters into a file of its own and mention that, or name the file without @, so that the model searches in it",
        "{path}は{size}あり、{n}行目だけで{most}を超えます。必要な部分を別のファイルにしてメンションするか、@なしでファイル名を書いてモデルに検索させてください",
    ),
    (
        "lines {first} to {total} of {path} are {size} long, and its line {n} alone is longer than {most}: put the part that matters into a file of its own and mention that, or name the file without @, so that the model searches in it",
        "{path}の{first}-{total}行目は{size}あり、{n}行目だけで{most}を超えます。必要な部分を別のファイルにしてメンションするか、@なしでファイル名を書いてモデルに検索させてください",
    ),
    (
        "{path} cannot be attached: as far as nebula knows this model takes no {kind}; choose another with /model, or set models.NAME.{key} to true if it does",
        "{path}を添付できません。このモデルは{kind}を受け付けないようです。/modelで別のモデルを選ぶか、受け付けるならmodels.NAME.{key}をtrueにしてください",
    ),
    ("{path} is {size}: at most {most} can be attached", "{path}は{size}あります。添付できるのは{most}までです"),
    // Edits without a place.
    ("the search text is empty", "検索テキストが空です"),
    (
        "the search text fits more than {n} places, at lines {numbers}:",
        "検索テキストが{n}か所を超えて一致します: {numbers}行目",
    ),
    ("the search text fits {n} places, at lines {numbers}:", "検索テキストが{n}か所に一致します: {numbers}行目"),
    ("the file is empty, so there is nothing to find in it", "ファイルが空のため、検索できるものがありません"),
    ("no lines of the file are the search text", "検索テキストと同じ行がファイルにありません"),
    (
        "no lines of the file are the search text; it is only a part of these:",
        "検索テキストと同じ行がなく、次の行の一部にだけ一致します",
    ),
    (
        "no lines of the file are the search text, and nothing like it is",
        "検索テキストと同じ行も、似た行もファイルにありません",
    ),
    ("the search text is not in the file", "検索テキストがファイルにありません"),
    ("the search text is not in the file, and nothing like it is", "検索テキストも似たものもファイルにありません"),
    ("the search text stands only inside of longer words here:", "検索テキストは、より長い語の一部にだけあります"),
    ("the search text and its replacement are the same, and {what!}", "検索テキストと置換後が同じです。{what!}"),
    ("the new text is in the file already, at line {n}", "新しいテキストはすでにファイルの{n}行目にあります"),
    ("lines {first} to {total} do not read as expected", "{first}-{total}行目の内容が想定と異なります"),
    (
        "there are no lines {first} to {total}: the file has {count}",
        "{first}-{total}行目はありません。ファイルは{count}行です",
    ),
    (
        "lines {first} to {total} have been changed by an edit before this one",
        "{first}-{total}行目は、この前の編集で変更されました",
    ),
    (
        "its place is at line {n} of the file as it is on disk, but an edit before it in the same answer changed those lines, or made others like them",
        "編集箇所はディスク上の{n}行目ですが、同じ回答の前の編集がその行を変えたか、似た行を作りました",
    ),
    (
        "it is not valid text; only an exact search and replace is allowed in it",
        "有効なテキストではないため、完全一致の置換だけができます",
    ),
    (
        "it is not text that can be rewritten; only a search and replace of exact bytes is allowed in it",
        "書き直せるテキストではないため、バイト列の完全一致の置換だけができます",
    ),
    ("this edit changes the whole file, not a part of it", "この編集は一部ではなくファイル全体を変更します"),
    ("no line of the file is `{line}`, which stands after @@", "@@の後の`{line}`という行がファイルにありません"),
    ("the hunk is empty", "ハンクが空です"),
    ("a hunk has only lines that come, so its place is unknown", "ハンクに追加行しかないため、編集箇所が分かりません"),
    ("hunk {n} of {all}: {what!}", "ハンク{n}/{all}: {what!}"),
    (
        "the replacement holds a line of dots that the search text does not have, so what it stands for is unknown",
        "置換後に、検索テキストにない省略の行があるため、内容が分かりません",
    ),
    (
        "the new text leaves lines out (`{line}`), so the whole file is not known",
        "新しいテキストは行を省略している（`{line}`）ため、ファイル全体が分かりません",
    ),
    (
        "the block holds no text for the file, so nothing of it was used",
        "ブロックにファイルのテキストがないため、使っていません",
    ),
    ("there is no such file", "そのファイルはありません"),
    ("it is moved away in the same go", "同じ変更で移動されます"),
    ("it is moved here in the same go", "同じ変更でここに移動されます"),
    (
        "it is a link, which has no permissions of its own, or too large to be edited",
        "独自の権限を持たないリンクか、編集するには大きすぎます",
    ),
    (
        "it leaves out {n} of the file's {all} definitions; is a part of the file meant?",
        "ファイルの定義{all}個のうち{n}個が抜けています",
    ),
    (
        "it leaves out {n} of the file's {all} definitions; is a part of the file meant? Nothing was written yet",
        "ファイルの定義{all}個のうち{n}個が抜けているため、まだ何も書き込んでいません",
    ),
    (
        "the patch deletes it, but the lines that the patch removes are not those the file holds now",
        "パッチがこのファイルを削除しますが、パッチの行は現在の内容と異なります",
    ),
    ("it is a link, not a text", "テキストではなくリンクです"),
    ("it exists already", "すでにあります"),
    (
        "an empty SEARCH makes a new file, but this one exists",
        "空のSEARCHは新しいファイルを作りますが、このファイルはすでにあります",
    ),
    ("it has not been read as it is now", "現在の内容がまだ読み取られていません"),
    ("it exists already, and has not been read", "すでにあり、まだ読み取られていません"),
    ("changes nothing, for the new text equals the present one", "新しいテキストが現在と同じため、変更はありません"),
    (
        "could be placed, but is left out because another change could not; send it again with that one",
        "別の変更の箇所が決まらないため、一緒に見送りました",
    ),
    ("{path} exists: writeFile only makes new files", "{path}はすでにあります"),
    ("{path} does not exist: writeFile makes new files", "{path}がありません"),
    (
        "{path} was not read in this session: read it with readFile first, then hand over its complete new content",
        "{path}はこのセッションでまだ読み取られていません",
    ),
    (
        "{path} changed on disk since it was read: read it again with readFile, then edit",
        "{path}は読み取りのあとディスク上で変更されました",
    ),
    (
        "{path} may hold keys: read it with readFile first, which asks the person",
        "{path}にはキーが含まれる可能性があり、まだ読み取りが許可されていません",
    ),
    (
        "there is no patch in `patch`: write a unified diff with `--- a/path` and `+++ b/path`, or `*** Begin Patch` with `*** Update File: path` and `*** End Patch`",
        "モデルの呼び出しにパッチがありません",
    ),
    (
        "{path} is too large to be read whole ({size} bytes): look into it with searchInDirectory",
        "{path}は大きすぎて全体を読めません（{size}バイト）",
    ),
    ("`keyword` is empty: say what to look for", "モデルの呼び出しの検索語が空です"),
    ("`question` is empty: ask something", "モデルの呼び出しの質問が空です"),
    ("{name} failed in nebula itself; try another way", "nebulaの内部エラーで{name}が失敗しました"),
    ("it failed in nebula itself", "nebulaの内部エラーで失敗しました"),
    ("it could not be read", "読めませんでした"),
    ("plan mode", "計画モード"),
    ("its test failed", "テストに失敗しました"),
    (
        "Nothing to undo: there is no such version, or the files are already at it",
        "元に戻すものはありません。そのバージョンがないか、すでにそのバージョンです",
    ),
    // Commands.
    ("the command could not be judged: nothing was run", "コマンドを判定できなかったため、何も実行していません"),
    ("a rule refuses this command: {why}", "ルールがこのコマンドを拒否しました: {why}"),
    ("a rule refuses commands that begin with `{words}`", "ルールが`{words}`で始まるコマンドを拒否しました"),
    (
        "the approval policy none runs commands that only read; this one is {class}: {why}",
        "承認ポリシーnoneでは読み取りのコマンドだけを実行します（これは{class}）: {why}",
    ),
    (
        "plan mode runs nothing that reaches further than the workspace; this one is {class}: {why}",
        "計画モードではワークスペースの外に及ぶコマンドを実行しません（これは{class}）: {why}",
    ),
    ("plan mode runs nothing in the background: {why}", "計画モードではバックグラウンドで実行しません: {why}"),
    (
        "plan mode asks nothing, and a rule asks about this command: {why}",
        "このコマンドはルールにより確認が必要ですが、計画モードでは確認しません: {why}",
    ),
    (
        "plan mode runs reading commands only where keys may be printed: {why}",
        "計画モードでは、キーを表示しうるコマンドは読み取りのものだけを実行します: {why}",
    ),
    (
        "plan mode runs reading commands only here ({where}); this one is {class}: {why}",
        "ここでは計画モードは読み取りのコマンドだけを実行します（{where}、これは{class}）: {why}",
    ),
    (
        "there is no command {id}: none was run in this session",
        "コマンド{id}はありません。このセッションでは何も実行していません",
    ),
    ("command is empty", "コマンドが空です"),
    ("too long: write a script with writeFile, then run it", "コマンドが長すぎます"),
    ("command holds a NUL", "コマンドにNULが含まれています"),
    ("stopped by the person", "停止しました"),
    ("stopped after {n} s", "{n}秒で停止"),
    ("exit {n}", "終了コード{n}"),
    ("signal SIG{name}", "シグナルSIG{name}"),
    ("signal {n}", "シグナル{n}"),
    ("still running as {id}", "{id}として実行中"),
    ("changed {files!}, changeset {id}", "{files!}を変更、チェンジセット{id}"),
    ("it did not start within {n} s", "{n}秒以内に開始しませんでした"),
    (
        "the helper ended ({why}): the command was stopped",
        "補助プロセスが終了したため（{why}）、コマンドを停止しました",
    ),
    (
        "nothing was archived: what it overwrote cannot be undone",
        "アーカイブしていないため、上書きした内容は元に戻せません",
    ),
    (
        "archived by scan: changes of other programs meanwhile are in it",
        "scanでアーカイブしたため、その間のほかのプログラムの変更も含まれます",
    ),
    ("preview: nothing was changed", "プレビュー: 何も変更していません"),
    ("its view is gone", "プレビューの内容が失われました"),
    (
        "shell.rules: the rule for {words} has no decision, so it asks",
        "shell.rules: {words}のルールに判断がないため、確認します",
    ),
    // Paths.
    ("it is empty", "空です"),
    ("it is blank", "空白だけです"),
    (
        "~ stands for nothing here; write it relative to the workspace",
        "~はここでは使えません。ワークスペースからの相対パスで書いてください",
    ),
    ("it holds a NUL", "NULが含まれています"),
    ("its name is not UTF-8", "名前がUTF-8ではありません"),
    ("it is the workspace itself", "ワークスペースそのものです"),
    ("its links lead in a circle", "リンクが循環しています"),
    // Restores, and what was written.
    ("wrote {paths}", "書き込みました: {paths}"),
    ("its version is missing from the archive", "このバージョンはアーカイブにありません"),
    ("a folder of it is a link now, to {path}", "途中のフォルダーが現在は{path}へのリンクです"),
    ("the repository stays: {why}", "リポジトリーはそのままです: {why}"),
    ("{path} can only be kept or taken as a whole", "{path}は、残すか全体を復元するかしかできません"),
    ("{path} was changed by someone else", "{path}はほかから変更されました"),
    (
        "{path} exists: wait for git to end, or delete it if none is running",
        "{path}があります。gitの終了を待つか、gitが動いていなければ削除してください",
    ),
    ("its object {id} is gone", "オブジェクト{id}がありません"),
    ("it changed while it was archived", "アーカイブ中に変更されました"),
    ("{path} appeared on disk meanwhile", "その間に{path}がディスク上に作られました"),
    ("{path} vanished from disk meanwhile", "その間に{path}がディスクから消えました"),
    ("it changed on disk meanwhile", "その間にディスク上で変更されました"),
    ("something else is in it", "別のものが入っています"),
    ("a folder's mode: {why}", "フォルダーの権限: {why}"),
    ("{kind!} in its place was removed", "同じ場所の{kind!}を削除しました"),
    ("{path} is deleted; an undo brings it back without {what}", "{path}を削除します。元に戻しても{what}は戻りません"),
    ("its {name} bit: an undo brings it back without", "{name}ビットは、元に戻しても戻りません"),
    (
        "this file system cannot exchange two files: if another program saves a file while nebula writes it, that save is lost",
        "このファイルシステムは2つのファイルを交換できません。nebulaの書き込み中にほかのプログラムが保存すると、その保存は失われます",
    ),
    ("someone else has written since", "その後ほかから書き込まれました"),
    (
        "it was saved twice meanwhile; the earlier text is in {path}",
        "その間に2回保存されました。先のテキストは{path}にあります",
    ),
    ("{path} changed while it was copied", "コピー中に{path}が変更されました"),
    // Git.
    ("not a git repository", "gitリポジトリーではありません"),
    ("it failed without a message", "メッセージなしで失敗しました"),
    ("its configuration cannot be read", "設定を読めません"),
    ("cannot be run: {why}", "実行できません: {why}"),
    (
        "the repository names filters in a way that cannot be switched off: see `git config -l`",
        "リポジトリーのフィルターを無効にできません。`git config -l`を確認してください",
    ),
    ("there is none on the PATH", "PATHにありません"),
    ("{path} lies outside the repository", "{path}はリポジトリーの外にあります"),
];
