//! Reasons of edits, mentions, paths and commands that failed.

pub(super) const RECORDS: &[(&str, &str)] = &[
    // Mentions that stop a message.
    ("@rag needs words to look for: @rag how prices round", "@ragには検索する語句が必要です: @rag how prices round"),
    (
        "the files mentioned come to {size}; mention fewer, or lines of them",
        "メンションしたファイルは合計{size}です。数を減らすか、行を指定してください",
    ),
    ("there is no file {path}; did you mean {near}?", "ファイル{path}はありません。{near}ですか？"),
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
    // How the place of an edit was found.
    ("{n} further right", "右へ{n}"),
    ("{n} further left", "左へ{n}"),
    ("1 tab further right", "右へ1タブ"),
    ("{n} tabs further right", "右へ{n}タブ"),
    ("1 tab further left", "左へ1タブ"),
    ("{n} tabs further left", "左へ{n}タブ"),
    ("tabs for spaces", "スペースの代わりにタブ"),
    ("spaces for tabs", "タブの代わりにスペース"),
    ("1 line between", "間に1行"),
    ("{n} lines between", "間に{n}行"),
    ("{n} % alike", "{n}%一致"),
    ("at line {n}", "{n}行目"),
    ("not {n}", "{n}行目ではありません"),
    ("by line number alone", "行番号のみ"),
    ("line numbers left out", "行番号を除外"),
    ("blank lines at its ends left out", "両端の空行を除外"),
    ("without the fence around it", "囲みのフェンスを除外"),
    ("the file has blank lines between", "ファイルでは間に空行がある"),
    ("new lines, put where the answer says or uses them", "回答の説明または使用箇所に合わせて置いた新しい行"),
    ("a block in the place of the one before it", "直前のブロックを置き換えるブロック"),
    ("entities read as characters", "実体参照を文字として解釈"),
    ("the name may be {path}", "ファイル名は{path}かもしれません"),
    ("the end of the edit was missing", "編集の末尾が欠けています"),
    ("the patch holds the whole file", "パッチにファイル全体が含まれます"),
    ("it is not certain that this is the whole file", "ファイル全体かどうか不確かです"),
    ("the answer holds the file as it is, too", "回答には現在のままのファイルも含まれています"),
    (
        "the file is not UTF-8; the new text goes into it as UTF-8",
        "ファイルはUTF-8ではありませんが、新しいテキストはUTF-8で書かれます",
    ),
    ("taken as the new text of {name} alone", "{name}だけの新しいテキストとして使用"),
    ("by the line numbers that stand at its path", "パスに付いた行番号による"),
    ("joined with an edit before it, which changed the same lines", "同じ行を変えた前の編集と統合"),
    ("an edit before it in the same answer changed the same lines", "同じ回答の前の編集が同じ行を変えました"),
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
        "the replacement holds a line that stands for others, which the search text does not have, so what it stands for is unknown",
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
    ("it leaves out {n} of the file's {all} definitions", "ファイルの定義{all}個のうち{n}個が抜けています"),
    ("it cannot be read any more from line {n} on", "{n}行目から読み取れなくなります"),
    (
        "it cannot be read any more from line {n} on. Nothing was written yet",
        "{n}行目から読み取れなくなるため、まだ何も書き込んでいません",
    ),
    ("it may hold the text of {path}, too", "{path}の内容も含まれている可能性があります"),
    ("the prompt asks for no change", "変更を求める指示ではありません"),
    ("it empties {names}, and nobody said so", "{names}の中身がなくなっていますが、そのような指示はありません"),
    ("it leaves out {names}, and nobody said so", "{names}が抜けていますが、そのような指示はありません"),
    ("it leaves out {n} of the file's {all} lines", "ファイルの{all}行のうち{n}行が抜けています"),
    ("`{line}` may stand for lines that are left out", "`{line}`は省略された行かもしれません"),
    ("`{line}` filled with the lines of the file", "`{line}`をファイルの行で補完"),
    (
        "all lines of the text begin at the margin, where those of the file do not, so nothing of it was used",
        "ファイルにあるインデントが全行でなくなっているため、使っていません",
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
        "it leaves out {n} of the file's {all} lines; is a part of the file meant?",
        "ファイルの{all}行のうち{n}行が抜けています",
    ),
    (
        "it leaves out {n} of the file's {all} lines; is a part of the file meant? Nothing was written yet",
        "ファイルの{all}行のうち{n}行が抜けているため、まだ何も書き込んでいません",
    ),
    (
        "lines of the file are gone where it reads `{line}`; is a part of the file meant?",
        "`{line}`の箇所でファイルの行がなくなっています",
    ),
    (
        "lines of the file are gone where it reads `{line}`; is a part of the file meant? Nothing was written yet",
        "`{line}`の箇所でファイルの行がなくなっているため、まだ何も書き込んでいません",
    ),
    (
        "it leaves out {names}, which another block of the answer holds; is a part of the file meant?",
        "回答の別のブロックにある{names}が抜けています",
    ),
    (
        "it leaves out {names}, which another block of the answer holds; is a part of the file meant? Nothing was written yet",
        "回答の別のブロックにある{names}が抜けているため、まだ何も書き込んでいません",
    ),
    (
        "the text shows the file in a fence under its path, so it is not certain what belongs to it, and nothing of it was used",
        "パスの下のフェンスにファイルを示すテキストで、どこがファイルか不確かなため、使っていません",
    ),
    (
        "the text shows what is typed into a shell, so nothing of it was used",
        "シェルに入力する内容のため、使っていません",
    ),
    (
        "the text stands in a wrapper that is none of the file, so nothing of it was used",
        "ファイルのものでない囲みの中のテキストのため、使っていません",
    ),
    (
        "the text holds the marks of a conflict (<<<<<<<), so which lines are meant is not certain",
        "競合の印（<<<<<<<）が含まれるため、どの行か分かりません",
    ),
    (
        "the block holds commands, not the file's text, so nothing of it was used",
        "ブロックの内容はコマンドで、ファイルのテキストではないため、使っていません",
    ),
    (
        "it is none of the files that were read, so the block under its path was not taken for the file",
        "読み取り済みのファイルではないため、パスの下のブロックをファイルとして使っていません",
    ),
    (
        "the file has no lines of the numbers behind its path, so nothing of the block was used",
        "パスの後の番号の行がファイルにないため、ブロックを使っていません",
    ),
    ("it may be {path}", "{path}の可能性があります"),
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
    ("it changed since it was read", "読み取った後に変更されました"),
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
    ("it could not be done", "実行できませんでした"),
    (
        "the change of the store was refused: it is as it was. The person says: {reason}",
        "ストアの変更は拒否されました。ストアは元のままです: {reason}",
    ),
    ("the change of the store was refused: it is as it was", "ストアの変更は拒否されました。ストアは元のままです"),
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
    ("nobody is there to approve it", "承認できる人がいません"),
    (
        "{why}: only a person may approve it, and nobody is there; the files of one proposal are approved together",
        "{why}: 承認できるのは人だけですが、だれもいません（1つの提案のファイルはまとめて承認されます）",
    ),
    ("{why}: only a person may approve it, and nobody is there", "{why}: 承認できるのは人だけですが、だれもいません"),
    ("there is no guard here: {why}", "ここではガードが使えません: {why}"),
    ("there is no sandbox here: {why}", "ここではサンドボックスが使えません: {why}"),
    ("shell.keeper is scan", "shell.keeperがscanです"),
    ("shell.sandbox is off", "shell.sandboxがoffです"),
    ("nobody is there to allow this command", "このコマンドを許可できる人がいません"),
    (
        "nobody is there to allow this command: a rule asks about it; its class is {class}: {why}",
        "このコマンドを許可できる人がいません。ルールにより確認が必要です（種別は{class}）: {why}",
    ),
    (
        "nobody is there to allow this command: the approval policy {policy} asks about class {class}: {why}",
        "このコマンドを許可できる人がいません。承認ポリシー{policy}では{class}のコマンドに確認が必要です: {why}",
    ),
    (
        "nobody is there to allow this command: unless both the guard and the sandbox hold it, the approval policy {policy} asks about class {class}: {why}",
        "このコマンドを許可できる人がいません。ガードとサンドボックスの両方はそろっていないため、承認ポリシー{policy}では{class}のコマンドに確認が必要です: {why}",
    ),
    (
        "nobody is there to allow this command: no policy and no rule lets what acts later be changed unasked ({paths}); its class is {class}: {why}",
        "このコマンドを許可できる人がいません。あとで作用するファイル（{paths}）の変更には、ポリシーやルールによらず確認が必要です（種別は{class}）: {why}",
    ),
    (
        "nobody is there to allow this command: no policy and no rule lets what is not archived be changed unasked: {paths}; its class is {class}: {why}",
        "このコマンドを許可できる人がいません。アーカイブされないファイルの変更には、ポリシーやルールによらず確認が必要です: {paths}（種別は{class}）: {why}",
    ),
    (
        "nobody is there to allow this command: this tree is too large to archive without the guard ({size}): what this command overwrites cannot be undone; its class is {class}: {why}",
        "このコマンドを許可できる人がいません。このフォルダーは大きすぎて、guardなしではアーカイブできません（{size}）。このコマンドの上書きは元に戻せません（種別は{class}）: {why}",
    ),
    (
        "nobody is there to allow this command: no policy and no rule lets keys be printed unasked; its class is {class}: {why}",
        "このコマンドを許可できる人がいません。キーを表示しうるコマンドには、ポリシーやルールによらず確認が必要です（種別は{class}）: {why}",
    ),
    (
        "nobody is there to allow this command: no policy lets lines of {path} be printed unasked, which may hold keys: leave it out of the search, or write a rule for it; its class is {class}: {why}",
        "このコマンドを許可できる人がいません。キーを含みうる{path}の行を表示するには確認が必要です。検索から外すか、許可するルールを書いてください（種別は{class}）: {why}",
    ),
    (
        "nobody is there to allow this command: no policy lets a search run unasked where not all files could be looked at for keys; its class is {class}: {why}",
        "このコマンドを許可できる人がいません。キーを含むファイルがないか確認しきれない検索には確認が必要です（種別は{class}）: {why}",
    ),
    (
        "nobody is there to allow this command: no policy and no rule lets it run unasked without a sandbox; its class is {class}: {why}",
        "このコマンドを許可できる人がいません。サンドボックスがないため、ポリシーやルールによらず確認が必要です（種別は{class}）: {why}",
    ),
    ("nobody is there to allow this command: {why}", "このコマンドを許可できる人がいません: {why}"),
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
    ("too long: write it into a file as a script, then run that", "コマンドが長すぎます"),
    ("command holds a NUL", "コマンドにNULが含まれています"),
    ("stopped by the person", "停止しました"),
    ("stopped after {n} s", "{n}秒で停止"),
    ("exit {n}", "終了コード{n}"),
    ("preview, {end!}", "プレビュー、{end!}"),
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
    ("the rule for {words} has no decision", "{words}のルールに決定がありません"),
    ("it is the repository itself", "リポジトリそのものです"),
    ("changed by someone else meanwhile: {path}", "その間にほかから変更されました: {path}"),
    (
        "refused: {writes!} outside what it may write, first {path}",
        "書き込み可能な範囲外のため拒否: {writes!}、最初は{path}",
    ),
    (
        "`shell.write` in the configuration names further folders that commands may write",
        "設定の`shell.write`で、コマンドが書き込めるフォルダーを追加できます",
    ),
    (
        "refused: {count!} of private files, first {path} (by another name the next command could read them)",
        "拒否: 非公開ファイルの{count!}、最初は{path}（別の名前では次のコマンドから読み取れるため）",
    ),
    ("no network: {connections!} refused, first {target}", "ネットワークなし: {connections!}を拒否、最初は{target}"),
    ("{n} connections", "接続{n}件"),
    ("{n} connection", "接続{n}件"),
    (
        "caches are only read without the network: {writes!} refused, first {path}",
        "ネットワークなしではキャッシュは読み取り専用です: {writes!}を拒否、最初は{path}",
    ),
    ("{n} moves or links", "移動・リンク{n}件"),
    ("{n} move or link", "移動・リンク{n}件"),
    (
        "not set for the next command: {names} (at most {n} variables of {size} KiB together go on)",
        "次のコマンドには設定されません: {names}（引き継がれるのは変数{n}個、合計{size} KiBまで）",
    ),
    ("refused by the person: {writes}, first {path}", "あなたが拒否: {writes}、最初は{path}"),
    ("not allowed, as nobody answered: {writes!}, first {path}", "回答がないため不許可: {writes!}、最初は{path}"),
    ("{n} writes", "書き込み{n}件"),
    ("{n} write", "書き込み{n}件"),
    (
        "it has stopped itself (SIGSTOP), and waits until it is continued or ended",
        "自ら停止しました（SIGSTOP）。再開されるか終了するまで待ちます",
    ),
    ("an earlier part of its changes is changeset {id}", "変更の前の部分はチェンジセット{id}です"),
    ("the workspace is gone", "ワークスペースがありません"),
    ("its helper does not answer", "補助プロセスが応答しません"),
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
    ("nebula names its own temporary files so, and removes them", "nebulaの一時ファイルの名前です。nebulaが削除します"),
    ("it holds a NUL", "NULが含まれています"),
    ("its name is not UTF-8", "名前がUTF-8ではありません"),
    ("it is the workspace itself", "ワークスペースそのものです"),
    ("its links lead in a circle", "リンクが循環しています"),
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

/// The words that stand where a path is expected.
pub(super) const PLACES: &[(&str, &str)] = &[
    ("derived folders", "再生成できるフォルダー"),
    ("further paths", "そのほかのパス"),
    ("outside the workspace", "ワークスペースの外"),
    ("network", "ネットワーク"),
];
