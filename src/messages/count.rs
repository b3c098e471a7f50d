//! Things that are counted.

messages! {
    bytes(n): "{n} byte" | "{n} bytes", "{n}バイト";
    changed_files(n): "{n} changed file" | "{n} changed files", "変更{n}ファイル";
    changesets(n): "{n} changeset" | "{n} changesets", "{n}件のチェンジセット";
    characters(n): "{n} character" | "{n} characters", "{n}文字";
    definitions(n): "{n} definition" | "{n} definitions", "定義{n}件";
    files(n): "{n} file" | "{n} files", "{n}ファイル";
    hidden_characters(n): "{n} hidden character" | "{n} hidden characters", "不可視文字{n}個";
    hard_links(n): "hard link: its {n} other name keeps the old text" | "hard link: its {n} other names keep the old text", "ハードリンク: ほかの{n}個の名前は元の内容のままです";
    hits(n, all): "{n} of {all}", "{n}/{all}";
    hunks(n): "{n} hunk" | "{n} hunks", "{n}ハンク";
    lines(n): "{n} line" | "{n} lines", "{n}行";
    models(n): "{n} model" | "{n} models", "モデル{n}件";
    more_lines(n): "{n} more line" | "{n} more lines", "あと{n}行";
    more_rows(n): "{n} more row" | "{n} more rows", "あと{n}行";
    more(n): "{n} more", "あと{n}件";
    no_match: "no match", "一致なし";
    names(n): "{n} name" | "{n} names", "{n}件";
    more_files(n): "{n} more file" | "{n} more files", "あと{n}ファイル";
    questions(n): "{n} question" | "{n} questions", "{n}件の質問";
    jobs(n): "{n} job" | "{n} jobs", "ジョブ{n}件";
    unreviewed(n): "review {n}", "レビュー{n}件";
    rules(n): "{n} rule" | "{n} rules", "ルール{n}件";
    sessions(n): "{n} session" | "{n} sessions", "{n}件のセッション";
    earlier_steps(n): "{n} earlier step" | "{n} earlier steps", "以前の{n}ステップ";
    steps(n): "{n} step" | "{n} steps", "{n}ステップ";
    unchanged_lines(n): "{n} unchanged line" | "{n} unchanged lines", "変更のない{n}行";
    versions(n): "{n} version" | "{n} versions", "{n}件のバージョン";
}

/// Returns a size as people read it: `812 bytes`, `1.7 GiB`.
pub fn size(size: u64) -> String {
    match usize::try_from(size) {
        Ok(n) if n < 1 << 10 => bytes(n),
        _ => crate::text::size::words(size),
    }
}
