//! Whole screens again: the archive with its previews, Japanese text, ASCII marks.

use std::sync::Arc;
use std::time::Duration;

use nebula::proposal::{Counts, RestoreFate, RestorePreview, RestoreStatus, State};
use nebula::protocol::*;
use nebula::tui::app::{Effect, Options};

use crate::scenes::*;

fn counts(added: usize, removed: usize) -> Counts {
    Counts { added, removed }
}

/// Answers everything that the archive pane asks for, until it asks for nothing more.
pub fn serve(stage: &mut Stage) {
    let mut answered = std::collections::HashSet::new();
    while let Some((id, query)) = stage.effects.iter().find_map(|e| match e {
        Effect::Send(Command::Ask(id, query)) if !answered.contains(id) => Some((*id, query.clone())),
        _ => None,
    }) {
        answered.insert(id);
        let listing = match query {
            Query::Archive { .. } => Listing::Archive { rows: changesets(), found: 128, total: 128, files: 14 },
            Query::Versions(path) => versions(path),
            Query::Bytes(path, version) => {
                let text = cart(version.as_deref() == Some("v3"));
                Listing::Bytes(path, version, Arc::new(State::file(text.as_bytes())))
            }
            _ => continue,
        };
        stage.tell(EventBody::Answer(id, listing));
    }
}

/// The cart as it was yesterday, or this morning.
fn cart(older: bool) -> String {
    let body = match older {
        true => "        self.lines.push(Line(id));\n",
        false => {
            "        match self.find(id) {\n            Some(n) => n.grow(),\n            None => self.push(id),\n        }\n"
        }
    };
    let (before, after) = ("use crate::product;\n".repeat(15), "        // as before\n".repeat(14));
    format!(
        "{before}impl Cart {{\n    pub fn add(&mut self, id: ProductId, quantity: u32) {{\n{body}    }}\n\n    \
         pub async fn total(\n{after}"
    )
}

fn changesets() -> Vec<Changeset> {
    let set = |at: i64, cause: &str, by: &str, files: &[(&str, usize, usize)]| Changeset {
        id: format!("set-{at}"),
        at,
        cause: cause.into(),
        by: by.into(),
        session: None,
        merged: None,
        files: files
            .iter()
            .map(|(path, added, removed)| ChangesetFile {
                path: path.to_string(),
                version: Some(format!("{path}@{at}")),
                absent: false,
                counts: Some(counts(*added, *removed)),
            })
            .collect(),
        definitions: Vec::new(),
    };
    let three = |added, removed| [("src/catalog.rs", added, removed), ("src/cart.rs", 0, 0), ("src/money.rs", 0, 0)];
    vec![
        set(
            clock(0, 12, 4, 31),
            "load prices in one query",
            "edit",
            &[("src/catalog.rs", 7, 6), ("src/cart.rs", 3, 1)],
        ),
        set(clock(0, 11, 58, 2), "undo of sell gift cards", "undo", &three(0, 31)),
        set(clock(0, 11, 57, 40), "sell gift cards", "edit", &three(31, 0)),
        set(clock(0, 11, 52, 19), "sell gift cards", "edit", &[("src/handlers/checkout.rs", 4, 2)]),
        set(clock(0, 11, 31, 7), "round half to even", "edit", &[("src/money.rs", 12, 3)]),
        set(clock(0, 10, 20, 44), "shi", "shi", &[("templates/cart.html", 0, 0)]),
        set(clock(0, 9, 12, 3), "merge equal lines", "edit", &[("src/cart.rs", 3, 1)]),
        set(clock(1, 17, 40, 12), "add a cart", "edit", &[("src/cart.rs", 12, 0)]),
        set(clock(1, 17, 12, 55), "", "other session", &[("src/a.rs", 8, 8), ("src/b.rs", 0, 0)]),
        set(clock(1, 16, 20, 31), "価格の表とその移行、もとに戻す方法つき", "edit", &[("移行/0004_価格.sql", 21, 0)]),
    ]
}

fn versions(path: String) -> Listing {
    if path != "src/cart.rs" {
        return Listing::Versions { path, versions: Vec::new(), foreign: false, now: None };
    }
    let version = |id: String, at, added, removed| VersionRow {
        id,
        at,
        absent: false,
        cause: "one query".into(),
        counts: Some(counts(added, removed)),
        bytes: 1,
    };
    let rows = vec![
        version("v1".into(), clock(2, 18, 20, 0), 38, 0),
        version("v2".into(), clock(2, 18, 22, 0), 9, 4),
        version("v3".into(), clock(1, 17, 40, 12), 12, 0),
        version("v4".into(), clock(0, 9, 12, 3), 3, 1),
        version(format!("src/cart.rs@{}", clock(0, 12, 4, 31)), clock(0, 12, 4, 31), 3, 1),
    ];
    Listing::Versions { path, versions: rows, foreign: true, now: Some(counts(1, 0)) }
}

/// Frame 05: the archive zoomed, two states of a file side by side, and the previews of a restore.
pub fn restoring(stage: &mut Stage) {
    stage.tell(opened(status()));
    stage.keys("<f3>");
    stage.keys("<alt-9>z");
    serve(stage);
    // The second file of the changeset, pinned at yesterday's state, compared with this morning's.
    stage.keys("j");
    serve(stage);
    stage.keys("<left><left>p<right><right>");
    serve(stage);
    let preview = |path: &str, kind| RestorePreview { path: path.into(), status: kind };
    let previews = vec![
        preview("src/catalog.rs", RestoreStatus::Restore(RestoreFate::Content, counts(6, 7))),
        preview(
            "src/cart.rs",
            RestoreStatus::Foreign {
                at: Some(clock(0, 12, 6, 2)),
                counts: counts(1, 0),
                choice: None,
                conflicts: Some(0),
                rung: None,
                is_later: false,
            },
        ),
        preview("src/money.rs", RestoreStatus::Equal),
        preview(".env.local", RestoreStatus::NotArchived("archiveExclude: .env*".into())),
    ];
    let mut proposal = proposal();
    proposal.title = "restore everything to 12:04:31".into();
    stage.tell(EventBody::Proposal(ProposalEvent::Proposed(Arc::new(proposal), previews)));
    stage.wait(1000);
}

/// Frame 12: everything in Japanese.
pub fn japanese(stage: &mut Stage) {
    stage.tell(opened(status()));
    stage.tell(EventBody::TurnStarted(TurnId(1)));
    stage.item(Item::User {
        text:
            "カートのページが商品ごとにデータベースへ問い合わせています。価格を一回の問い合わせで読み込んでください。\
               @src/cart.rs は読みやすいままにしたいです。"
                .into(),
        at: clock(0, 12, 3, 0),
        attached: vec![Attached { path: "src/cart.rs".into(), range: None, lines: Some(38), bytes: 900 }],
    });
    stage.item(Item::Thinking { text: "まずカートを見る。".into(), took: Some(Duration::from_secs(4)) });
    stage.item(Item::Answer {
        text: "`Cart::total` がループの中で `price_of` を待っているため、四十行のカートでは四十回の往復になります。\
               次の三つの変更で**一回の問い合わせ**にします。\n\n1. `Catalog::prices` がすべての ID を受け取り、価格の\
               表を返す\n2. `Cart::total` はその表から価格を引く\n3. 価格のない商品はエラーにする（今は黙って**ゼロ**に\
               なる）\n\n```rust\n/// 複数の商品の価格を、一回の問い合わせで読む。\npub async fn prices(&self, ids: \
               &[ProductId]) -> Result<Prices> {\n    let rows = sqlx::query_as(PRICES_BY_IDS) // 半角ｶﾅ: ｶｰﾄ\n        \
               .bind(ids)\n        .fetch_all(&self.pool)\n        .await?;\n    Ok(Prices::from_rows(rows, \
               \"価格がありません\"))\n}\n```\n"
            .into(),
    });
    let done = |name: &str, main: &str, summary: &str, ms| {
        let mut call = call(name, main, CallState::Done);
        (call.summary, call.took) = (summary.into(), Some(Duration::from_millis(ms)));
        call
    };
    stage.item(Item::Call(done("readFile", "src/cart.rs", "38 lines", 2)));
    stage.item(Item::Call(done("readFile", "docs/設計/価格の決めるための長い名前と決め方.md", "112 lines", 2)));
    let mut search = done("searchInDirectory", "\"価格\"", "4 files", 11);
    let line = |sign, text: &str| PreviewLine { sign, text: text.into() };
    search.preview = vec![
        line(' ', "src/cart.rs:24:    /// 価格の合計を返す"),
        line(' ', "src/money.rs:8:    // 端数は偶数へ丸める"),
    ];
    stage.item(Item::Call(search));
    stage.wait(13_600);
    stage.item(Item::Call(call("searchInDirectory", "\"合計\"", CallState::Running)));
    let mut next = call("replaceInFile", "src/catalog.rs", CallState::Waiting);
    next.counts = Some(counts(3, 2));
    next.preview = vec![
        line('-', "/// 一つの商品の価格を返す。"),
        line('-', "pub async fn price_of(&self, id: ProductId)"),
        line('+', "/// 複数の商品の価格を、一回の問い合わせで読む。"),
        line('+', "pub async fn prices(&self, ids: &[ProductId])"),
    ];
    stage.item(Item::Call(next));
    let mut last = call("replaceInFile", "src/cart.rs", CallState::Streaming);
    last.arguments = "{\"path\": \"src/cart.rs\", \"replace\": \"// すべての価格を先に読む\\nlet ids".into();
    stage.item(Item::Call(last));
    stage.item(Item::Answer {
        text: "`price_of` を呼んでいるのはカートと商品ページの二か所だけです。商品ページは一つの価格だけが必要なので、\
               新しい問い合わせの上に薄い `price_of` を残します。先に `src/catalog.rs` を直し、次に `src/cart.rs` \
               を直します。\n\nそのあと `cargo test cart` で問い合わせが四十一回ではなく**二回**になることを確かめ\
               ます。一回はカートの行、もう一回は"
            .into(),
    });
    serve(stage);
    stage.wait(400);
    stage.keys("それから ");
    // Pasted, so that no list of files opens over the screen.
    stage.say(nebula::tui::app::Msg::Paste("@src/money.rs の丸め方も確かめてください".into()));
}

type Scene = fn(&mut Stage);

const ALL: [(&str, Scene); 8] = [
    ("without-model", without_model),
    ("main", working),
    ("proposal", proposing),
    ("archive", restoring),
    ("mention", mentioning),
    ("errors", failing),
    ("japanese", japanese),
    ("question", asking),
];

#[test]
fn ascii_marks_are_ascii() {
    for (name, scene) in ALL {
        if name == "japanese" {
            continue;
        }
        let options = Options { theme: Some("dark".into()), ascii: true, ..Options::default() };
        let mut stage = Stage::with(140, 40, options);
        scene(&mut stage);
        stage.dump(&format!("{name}-ascii"));
        let other: Vec<char> = stage.text().chars().filter(|c| !c.is_ascii()).collect();
        assert!(other.is_empty() || name == "archive", "{name}: {other:?}\n{}", stage.text());
    }
}
