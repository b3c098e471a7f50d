use std::time::Duration;

use ratatui::style::Color;

use super::*;
use crate::proposal::{FileChange, HunkCount, Proposal, State};
use crate::protocol::{
    Attached, Call, CallChange, CallState, Command, Continuation, DecidedHold, Level, Outcome, RuleChip, SessionInfo,
    Status, TurnEnd, TurnId, Undone, UndoneChange, Wait,
};
use crate::tui::glyphs::Glyphs;
use crate::tui::pane::testing;
use crate::tui::text::highlight::Highlighter;
use crate::tui::theme::Theme;

/// A chat on a screen of its own.
struct Screen {
    chat: Chat,
    theme: Theme,
    colours: Highlighter,
    width: u16,
    height: u16,
    next: u64,
}

impl Screen {
    fn new(width: u16, height: u16) -> Self {
        let (chat, theme, colours) = (Chat::default(), Theme::shipped("dark"), Highlighter::here());
        Screen { chat, theme, colours, width, height, next: 0 }
    }

    fn tell(&mut self, event: EventBody) -> &mut Self {
        self.chat.apply(&event, 0);
        self
    }

    fn add(&mut self, item: Item) -> ItemId {
        self.next += 1;
        self.tell(EventBody::Added(ItemId(self.next), item));
        ItemId(self.next)
    }

    fn you(&mut self, text: &str) {
        let attached = vec![Attached { path: "src/cart.rs".into(), range: None, lines: Some(38), bytes: 900 }];
        let attached = if text.contains("@cart") { attached } else { Vec::new() };
        self.add(Item::User { text: text.into(), at: 12 * 3_600_000 + 180_000, attached });
    }

    fn nebula(&mut self, text: &str) -> ItemId {
        self.add(Item::Answer { text: text.into() })
    }

    fn call(&mut self, name: &str, main: &str, state: CallState) -> ItemId {
        self.add(Item::Call(call(name, main, state)))
    }

    fn act(&mut self, action: Action) -> Vec<PaneEffect> {
        self.draw();
        let effects = self.chat.act(action, 0);
        self.draw();
        effects
    }

    fn draw(&mut self) -> Buffer {
        let glyphs = Glyphs::UNICODE;
        let ctx = Ctx {
            theme: &self.theme,
            glyphs: &glyphs,
            keys: crate::tui::pane::testing::keys(),
            focus: true,
            zoomed: false,
            now: 2_000,
            zone: 0,
            tick: 0,
            colours: &self.colours,
        };
        let area = Rect::new(0, 0, self.width, self.height);
        let mut buf = Buffer::empty(area);
        self.chat.measure(self.width, self.height, &ctx.look());
        self.chat.draw(area, &mut buf, &ctx);
        buf
    }

    /// The rows without trailing blanks, empty ones at the end left out.
    fn text(&mut self) -> String {
        let buf = self.draw();
        let mut out = String::new();
        for row in buf.content.chunks(usize::from(self.width)) {
            let (mut line, mut skip) = (String::new(), 0);
            for cell in row {
                if skip == 0 {
                    line.push_str(cell.symbol());
                    skip = cells(cell.symbol());
                }
                skip = skip.saturating_sub(1);
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out.trim_end().to_string()
    }

    fn note(&self) -> String {
        let glyphs = Glyphs::UNICODE;
        let ctx = Ctx {
            theme: &self.theme,
            glyphs: &glyphs,
            keys: crate::tui::pane::testing::keys(),
            focus: false,
            zoomed: false,
            now: 0,
            zone: 0,
            tick: 0,
            colours: &self.colours,
        };
        self.chat.note(60, &ctx).to_string()
    }
}

fn call(name: &str, main: &str, state: CallState) -> Call {
    Call { main: main.into(), summary: "38 lines".into(), ..testing::call(name, state) }
}

fn a_turn(s: &mut Screen) {
    s.tell(EventBody::TurnStarted(TurnId(1)));
    s.you("The cart page asks the database once per line. Load all prices in one query, and keep @cart.rs readable.");
    s.add(Item::Thinking { text: "What is slow?".into(), took: Some(Duration::from_secs(4)) });
    s.nebula("`Cart::total` awaits `price_of` inside its loop, so a cart of forty lines costs forty round trips.\n\n1. one\n2. two\n");
    s.call("readFile", "src/cart.rs", CallState::Done);
    s.call("readFile", "src/catalog.rs", CallState::Done);
    s.call("searchInDirectory", "price_of", CallState::Done);
    let id = s.nebula("");
    s.tell(EventBody::Grew(id, "Only two places call it".into()));
}

#[test]
fn an_answer_goes_on_where_the_person_runs_a_command_meanwhile() {
    let mut s = Screen::new(83, 20);
    s.tell(EventBody::TurnStarted(TurnId(1)));
    let id = s.nebula("One answer in ");
    s.text();
    s.add(Item::Call(Call { is_typed: true, ..call("runCommand", "true", CallState::Done) }));
    s.text();
    for piece in ["sev", "eral", " pieces.\n\n```\nlet", " a = 1;\n", "```\n"] {
        s.tell(EventBody::Grew(id, piece.into()));
        s.text();
    }
    s.tell(EventBody::TurnEnded(TurnId(1), TurnEnd::Done));
    let text = s.text();
    assert!(text.contains("One answer in several pieces.") && text.contains("let a = 1;"), "{text}");
    assert!(!text.contains('▌'), "{text}");
}

#[test]
fn a_turn_in_a_wide_pane() {
    let mut s = Screen::new(83, 20);
    a_turn(&mut s);
    assert_eq!(
        format!("\n{}", s.text()),
        "
 you     The cart page asks the database once per line. Load all prices in   12:03
         one query, and keep @cart.rs readable.
         ▸ 1 file attached, 38 lines

 nebula  ▸ thought for 4 s

         Cart::total awaits price_of inside its loop, so a cart of forty lines
         costs forty round trips.

         1. one
         2. two

         ▸ 3 steps: read 2, searched 1

         Only two places call it▌"
    );
    s.tell(EventBody::TurnEnded(TurnId(1), TurnEnd::Done));
    assert!(!s.text().contains('▌'));
}

#[test]
fn a_turn_in_a_narrow_pane() {
    let mut s = Screen::new(60, 20);
    a_turn(&mut s);
    assert_eq!(
        format!("\n{}", s.text()),
        "
 you                                                  12:03
 The cart page asks the database once per line. Load all
 prices in one query, and keep @cart.rs readable.
 ▸ 1 file attached, 38 lines

 nebula  ▸ thought for 4 s
 Cart::total awaits price_of inside its loop, so a cart of
 forty lines costs forty round trips.

 1. one
 2. two

 ▸ 3 steps: read 2, searched 1

 Only two places call it▌"
    );
}

#[test]
fn notices_say_what_happened_and_what_to_press() {
    let mut s = Screen::new(83, 20);
    s.nebula("I'll apply");
    let notice = Notice {
        level: Level::Broken,
        title: "the answer broke off: api.openai.com closed the connection".into(),
        detail: "What arrived is kept above.".into(),
        actions: vec![NoticeAction::Continue, NoticeAction::Retry],
        cause: Default::default(),
    };
    s.add(Item::Notice(notice));
    assert!(s.chat.notice());
    assert_eq!(s.chat.take_notice(0), [PaneEffect::send(Command::Continue(Continuation::Resume))]);
    assert_eq!(s.act(Action::Again), [PaneEffect::send(Command::Continue(Continuation::Retry))]);
    let wait = Wait {
        attempt: 3,
        of: 5,
        until: 10_000,
        why: "api.openai.com: rate limited (429)".into(),
        cause: Default::default(),
    };
    s.nebula("so").0.to_string();
    s.tell(EventBody::Retrying(Some(wait)));
    assert_eq!(
        format!("\n{}", s.text()),
        "
 nebula  I'll apply

         ◌ the answer broke off: api.openai.com closed the connection
           What arrived is kept above.
           Enter go on from here   F5 r ask again

 nebula  so

         ↻ api.openai.com: rate limited (429)
           Your message is saved. Attempt 3 of 5 in 8 s."
    );
    s.tell(EventBody::Retrying(None));
    assert!(s.text().ends_with("so"));
}

#[test]
fn folds_open_and_close() {
    let mut s = Screen::new(83, 20);
    a_turn(&mut s);
    s.act(Action::Fold);
    assert!(s.text().contains("▾ 3 steps: read 2, searched 1\n           ✓ read   src/cart.rs  38 lines\n"));
    s.act(Action::FoldAll);
    assert!(!s.text().contains('▾'));
    s.act(Action::FoldAll);
    let text = s.text();
    assert!(
        text.contains("▾ thought for 4 s\n           What is slow?")
            && text.contains("           src/cart.rs  38 lines")
    );
    s.chat.click(12, 2, 0);
    assert!(s.text().contains("▸ 1 file attached"));
}

#[test]
fn a_call_that_changes_stays_in_its_run() {
    let mut s = Screen::new(83, 20);
    let id = s.call("readFile", "", CallState::Streaming);
    s.tell(EventBody::Changed(id, Item::Call(call("readFile", "src/a.rs", CallState::Done))));
    assert_eq!(s.text(), "         ▸ 1 step: read src/a.rs");
    s.nebula("x");
    s.call("readFile", "src/a.rs", CallState::Failed);
    assert!(s.text().ends_with("▸ 1 step: read src/a.rs again, failed"));
}

#[test]
fn a_fold_that_opens_below_the_screen_comes_into_sight() {
    let mut s = Screen::new(83, 8);
    for n in 0..9 {
        s.nebula(&format!("answer {n}"));
        s.you("go on");
    }
    for name in ["a.rs", "b.rs", "c.rs"] {
        s.call("readFile", name, CallState::Done);
    }
    s.act(Action::Fold);
    let text = s.text();
    assert!(text.contains("▾ 3 steps") && text.trim_end().contains("c.rs"), "{text}");
}

#[test]
fn what_the_person_ran_stands_by_itself_with_the_end_of_its_output() {
    let mut s = Screen::new(83, 20);
    s.call("readFile", "src/a.rs", CallState::Done);
    let verb = crate::protocol::Verb { short: "run".into(), done: "ran".into(), ..Default::default() };
    let lines = ["29", "30"].map(|text| crate::protocol::PreviewLine { sign: ' ', text: text.into() });
    let ran = Call {
        main: "seq 30; false".into(),
        verb,
        summary: "exit 1".into(),
        reason: Some("exit 1 · c1".into()),
        preview: lines.to_vec(),
        printed: 30,
        is_typed: true,
        ..call("runCommand", "", CallState::Done)
    };
    s.tell(EventBody::Added(crate::protocol::ItemId(900), Item::Call(ran)));
    s.call("readFile", "src/b.rs", CallState::Done);
    let text = s.text();
    let expected = "▸ ran seq 30; false: exit 1\n           ⋯ 28 more\n           29\n           30\n";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("▸ 1 step: read src/a.rs\n") && text.ends_with("▸ 1 step: read src/b.rs"), "{text}");
}

fn long(s: &mut Screen) {
    for n in 0..50 {
        s.you(&format!("message {n}"));
        s.nebula(&format!("answer {n}\n\nmore {n}"));
    }
}

#[test]
fn scrolled_up_it_stays_put_and_says_how_much_is_below() {
    let mut s = Screen::new(83, 10);
    long(&mut s);
    assert!(s.text().ends_with("more 49") || s.text().contains("more 49"));
    assert_eq!(s.note(), "");
    s.act(Action::HalfUp);
    assert_eq!(s.note(), "5 lines below");
    let before = s.text();
    s.nebula("new\n\ntext");
    assert_eq!(s.text().lines().next(), before.lines().next());
    assert_eq!(s.note(), "9 lines below");
    s.act(Action::First);
    assert!(s.text().starts_with(" you     message 0"));
    assert!(s.chat.offers(Action::Down) && !s.chat.offers(Action::Up));
    s.act(Action::Last);
    assert!(s.text().contains("text"));
    assert_eq!(s.note(), "");
    for _ in 0..4 {
        s.act(Action::PageUp);
    }
    for _ in 0..40 {
        s.act(Action::Down);
    }
    assert_eq!(s.note(), "");
}

#[test]
fn entries_are_selected_and_copied() {
    let mut s = Screen::new(83, 10);
    long(&mut s);
    assert_eq!(s.act(Action::Copy), [PaneEffect::Run(Effect::Copy("answer 49\n\nmore 49".into()))]);
    s.act(Action::PreviousItem);
    s.act(Action::PreviousItem);
    assert_eq!(s.act(Action::Copy), [PaneEffect::Run(Effect::Copy("message 49".into()))]);
    assert!(s.text().contains("▌you     message 49"));
    for _ in 0..20 {
        s.act(Action::PreviousItem);
    }
    assert!(s.text().contains("▌you     message 39"), "{}", s.text());
    s.act(Action::NextItem);
    assert!(s.text().contains("▌nebula  answer 39\n▌\n▌        more 39"), "{}", s.text());
}

#[test]
fn words_are_found_and_marked() {
    let mut s = Screen::new(83, 10);
    long(&mut s);
    s.draw();
    assert!(matches!(s.act(Action::Search)[..], [PaneEffect::Line { .. }]));
    s.chat.line(LineFor::Search, LineInput::Now("ANSWER 3"), 0);
    assert!(s.text().contains("answer 39"));
    let focus = s.theme.style(Role::Focus).fg;
    let marked =
        s.draw().content.iter().filter(|c| Some(c.fg) == focus && c.modifier.contains(Modifier::UNDERLINED)).count();
    assert_eq!(marked % 8, 0);
    assert!(marked > 0);
    s.chat.line(LineFor::Search, LineInput::Taken("ANSWER 3"), 0);
    s.act(Action::PreviousMatch);
    s.act(Action::PreviousMatch);
    assert!(s.text().contains("answer 37"), "{}", s.text());
    for _ in 0..8 {
        s.act(Action::PreviousMatch);
    }
    assert!(s.text().contains("answer 3\n"), "{}", s.text());
    s.chat.line(LineFor::Search, LineInput::Left, 0);
    assert!(!s.chat.offers(Action::NextMatch));
}

#[test]
fn what_a_chat_shows_does_not_depend_on_what_was_freed() {
    let mut s = Screen::new(83, 12);
    for n in 0..400 {
        s.nebula(&format!("answer {n}\n\n```rust\nfn f{n}() {{}}\n```\n"));
    }
    let end = s.text();
    for _ in 0..400 {
        s.act(Action::PageUp);
    }
    assert!(s.text().contains("answer 0"));
    s.act(Action::Last);
    assert_eq!(s.text(), end);
}

#[test]
fn an_opened_session_clears_the_chat() {
    let mut s = Screen::new(83, 12);
    long(&mut s);
    s.draw();
    let info = SessionInfo { id: String::new(), title: None, resumed: 0, status: Status::default() };
    s.tell(EventBody::Opened(info));
    assert_eq!(s.text(), "");
    s.you("again");
    assert!(s.text().starts_with(" you     again"));
}

#[test]
fn colours_are_those_of_the_theme() {
    let mut s = Screen::new(83, 12);
    s.you("see @cart.rs");
    s.nebula("`x`\n\n```rust\nfn a() {}\n```");
    let buf = s.draw();
    let colour = |hex: u32| Color::Rgb((hex >> 16) as u8, (hex >> 8) as u8, hex as u8);
    assert_eq!(buf[(1, 0)].fg, colour(0x74c5ff));
    assert_eq!(buf[(13, 0)].fg, colour(0xa9cbff));
    assert_eq!((buf[(1, 3)].fg, buf[(9, 3)].bg), (colour(0xbbabff), colour(0x20232b)));
    assert_eq!((buf[(11, 5)].fg, buf[(11, 5)].bg), (colour(0xd6a9dc), colour(0x20232b)));
    assert_eq!((buf[(81, 5)].bg, buf[(82, 5)].bg), (colour(0x20232b), Color::Reset));
}

fn the_shop(s: &mut Screen) {
    s.tell(EventBody::TurnStarted(TurnId(1)));
    s.you("The cart page asks the database once per line. Load all prices in one query, and keep @cart.rs readable.");
    s.add(Item::Thinking { text: "What is slow?".into(), took: Some(Duration::from_secs(4)) });
    s.nebula("`Cart::total` awaits `price_of` inside its loop, so a cart of forty lines costs forty round trips. Three changes make it **one query**:\n\n1. `Catalog::prices` takes every id and returns a map\n2. `Cart::total` looks each price up in that map\n3. a missing price is an error; today it silently counts as **zero**\n\n### The new query\n\n```rust\n/// The prices of several products, in one query.\npub async fn prices(&self, ids: &[ProductId]) -> Result<Prices> {\n    sqlx::query_as(PRICES_BY_IDS) // id = any($1)\n        .bind(ids)\n        .fetch_all(&self.pool)\n        .await\n        .map(Prices::from_rows)\n}\n```\n");
    s.call("readFile", "src/cart.rs", CallState::Done);
    s.call("readFile", "src/catalog.rs", CallState::Done);
    s.call("searchInDirectory", "price_of", CallState::Done);
    s.nebula("Only two places call `price_of`: the cart, and the product page in `src/handlers/product.rs`. The page needs a single price, so it keeps a thin `price_of` over the new query. I'll change the catalog first, then the cart.\n\nAfterwards `cargo test cart` should see **two** queries, not forty-one:\n\n- one for the lines of the cart\n- one for their prices, whatever their number");
}

#[test]
fn the_finished_frame() {
    let mut s = Screen::new(83, 36);
    the_shop(&mut s);
    insta::assert_snapshot!(s.text());
}

#[test]
fn the_finished_frame_without_colours() {
    let mut s = Screen::new(83, 36);
    s.theme = Theme::shipped("plain");
    the_shop(&mut s);
    insta::assert_snapshot!(s.text());
}

#[test]
fn the_narrow_frame() {
    let mut s = Screen::new(60, 19);
    the_shop(&mut s);
    insta::assert_snapshot!(s.text());
}

#[test]
fn the_finished_frame_in_japanese() {
    let mut s = Screen::new(83, 36);
    s.tell(EventBody::TurnStarted(TurnId(1)));
    s.you("カートのページが商品ごとにデータベースへ問い合わせています。価格を一回の問い合わせで読み込んでください。@cart.rs は読みやすいままにしたいです。");
    s.add(Item::Thinking { text: "What is slow?".into(), took: Some(Duration::from_secs(4)) });
    s.nebula("`Cart::total` がループの中で `price_of` を待っているため、四十行のカートでは四十回の往復になります。次の三つの変更で**一回の問い合わせ**にします。\n\n1. `Catalog::prices` がすべての ID を受け取り、価格の表を返す\n2. `Cart::total` はその表から価格を引く\n3. 価格のない商品はエラーにする（今は黙って**ゼロ**になる）\n\n```rust\n/// 複数の商品の価格を、一回の問い合わせで読む。\npub async fn prices(&self, ids: &[ProductId]) -> Result<Prices> {\n    let rows = sqlx::query_as(PRICES_BY_IDS) // 半角ｶﾅ: ｶｰﾄ\n        .bind(ids)\n        .fetch_all(&self.pool)\n        .await?;\n    Ok(Prices::from_rows(rows, \"価格がありません\"))\n}\n```\n");
    s.call("readFile", "src/cart.rs", CallState::Done);
    s.nebula("`price_of` を呼んでいるのはカートと商品ページの二か所だけです。商品ページは一つの価格だけが必要なので、新しい問い合わせの上に薄い `price_of` を残します。先に `src/catalog.rs` を直し、次に `src/cart.rs` を直します。\n\nそのあと `cargo test cart` で問い合わせが四十一回ではなく**二回**になることを確かめます。一回はカートの行、もう一回は");
    insta::assert_snapshot!(s.text());
}

#[test]
fn the_finished_frame_of_errors() {
    let mut s = Screen::new(83, 34);
    s.you("Load all prices in one query, and keep @cart.rs readable.");
    s.nebula("I'll change the catalog first, then the cart.");
    let n = |level, title: &str, detail: &str, actions| {
        Item::Notice(Notice { level, title: title.into(), detail: detail.into(), actions, cause: Default::default() })
    };
    s.add(n(Level::Warning, "edit of src/cart.rs refused: the file is newer than nebula's copy", "Someone changed line 27 at 12:06:02, after nebula read it. Nothing was written; the model is told to read the file again.", vec![NoticeAction::ShowChange("a".into()), NoticeAction::OpenFile("a".into())]));
    s.chat.read.insert("src/cart.rs".into());
    s.call("readFile", "src/cart.rs", CallState::Done);
    s.nebula("The new line only renames a variable, so the same change still fits. I'll apply");
    s.add(n(
        Level::Broken,
        "the answer broke off: api.openai.com closed the connection",
        "What arrived is kept above.",
        vec![NoticeAction::Continue, NoticeAction::Retry],
    ));
    s.you("go on");
    s.add(n(Level::Error, "OPENAI_API_KEY was not accepted (401 from api.openai.com)", "The variable is set, but the server does not know this key. Set a valid one and start nebula again; this session will be here.", vec![NoticeAction::ChooseModel]));
    s.tell(EventBody::Retrying(Some(Wait {
        attempt: 3,
        of: 5,
        until: 10_000,
        why: "api.openai.com: rate limited (429)".into(),
        cause: Default::default(),
    })));
    insta::assert_snapshot!(s.text());
}

#[test]
fn a_failure_that_another_model_helps_offers_to_ask_again_once_one_is_connected() {
    let mut s = Screen::new(83, 12);
    s.you("hi");
    let actions = vec![NoticeAction::ChooseModel];
    s.add(Item::Notice(Notice { actions, ..Notice::new(Level::Error, "it rejected the key (401)", "") }));
    assert!(!s.text().contains("ask again"));
    s.chat.offer_again();
    s.chat.offer_again();
    assert_eq!(s.text().matches("ask again").count(), 1, "{}", s.text());
    assert_eq!(s.chat.take_notice(0), [PaneEffect::send(Command::Continue(Continuation::Retry))]);
}

#[test]
fn rules_stand_below_the_message_they_joined_with() {
    let mut s = Screen::new(83, 12);
    s.you("keep @cart.rs readable");
    let rule = |path: &str, reason: &str, bytes| RuleChip { path: path.into(), reason: reason.into(), bytes };
    s.add(Item::Rules(vec![
        rule("AGENTS.md", "workspace", 130),
        rule(".nebula/rules/rust.md", "matches *.rs (src/cart.rs)", 11),
    ]));
    s.nebula("Yes.");
    s.act(Action::FoldAll);
    let text = s.text();
    let rows: Vec<&str> = text.lines().map(str::trim_end).collect();
    assert_eq!(
        rows[..8],
        [
            " you     keep @cart.rs readable                                              12:03",
            "         ▾ 1 file attached, 38 lines",
            "           src/cart.rs  38 lines",
            "         ▾ 2 rules: AGENTS.md, rust.md",
            "           AGENTS.md  workspace, 130 bytes",
            "           .nebula/rules/rust.md  matches *.rs (src/cart.rs), 11 bytes",
            "",
            " nebula  Yes.",
        ]
    );
}

#[test]
fn a_proposal_waits_in_the_chat_until_it_is_decided() {
    let mut s = Screen::new(80, 16);
    let at = 12 * 3_600_000 + 180_000;
    s.nebula("I change both.");
    let id = s.call("replaceInFile", "src/cart.rs", CallState::Asking);
    let change = |by: &str| FileChange::new("src/cart.rs", State::file(*b"one\n"), State::file(*b"two\n"), by, &[]);
    let proposal = |id, by| Proposal { id: ProposalId(id), title: String::new(), files: vec![change(by)] };
    s.tell(EventBody::Proposal(ProposalEvent::Proposed(proposal(1, "edit").into(), Vec::new())));
    // What the person restores is no proposal of nebula.
    s.tell(EventBody::Proposal(ProposalEvent::Proposed(proposal(2, "undo").into(), Vec::new())));
    let waits = "◉ proposal: 1 file, 1 hunk · waiting for you";
    s.add(Item::Notice(Notice::new(Level::Info, "something else", "")));
    let text = s.text();
    assert_eq!(text.matches("proposal:").count(), 1, "{text}");
    assert!(text.find("something else") < text.find(waits), "it stays the last: {text}");
    let decided = Some(HunkCount { accepted: 1, rejected: 0 });
    let done = Call { decided, answered: Some(at), ..call("replaceInFile", "src/cart.rs", CallState::Done) };
    s.tell(EventBody::Proposal(ProposalEvent::Settled(ProposalId(1), Outcome::Refused)));
    s.tell(EventBody::Changed(id, Item::Call(done.clone())));
    let text = s.text();
    assert!(!text.contains(waits) && text.contains("▸ you approved 1 of 1 hunk · 12:03"), "{text}");
    // What is said after it is nebula's still: no second label.
    s.nebula("Done.");
    assert_eq!(s.text().matches(" nebula  ").count(), 2, "{}", s.text());
    // The policy is no person.
    let mut s = Screen::new(80, 12);
    s.add(Item::Call(Call { hunks: decided, decided: None, answered: None, ..done.clone() }));
    assert!(!s.text().contains("you approved"), "{}", s.text());
    let rejected = Some(HunkCount { accepted: 0, rejected: 2 });
    s.add(Item::Call(Call { decided: rejected, ..done }));
    assert!(s.text().contains("you rejected 2 hunks · 12:03"), "{}", s.text());
}

#[test]
fn what_was_decided_about_a_call_of_a_command_stays() {
    let mut s = Screen::new(80, 16);
    let id = s.add(Item::Call(call("runCommand", "sh mk.sh", CallState::Running)));
    let hold = |path: &str, answer: &str, at| DecidedHold {
        wants: format!("c1 is held: sh wants to change {path}, which acts later"),
        answer: answer.into(),
        at,
    };
    let noon = 12 * 3_600_000;
    let first = hold(".envrc", "refuse the call", noon);
    let held = Call { held: vec![first.clone()], ..call("runCommand", "sh mk.sh", CallState::Running) };
    s.tell(EventBody::Changed(id, Item::Call(held.clone())));
    s.tell(EventBody::Changed(id, Item::Call(held)));
    assert_eq!(s.text().matches("c1 is held").count(), 1, "{}", s.text());
    let both = vec![first, hold("AGENTS.md", "allow", noon)];
    let done = Call { held: both, ..call("runCommand", "sh mk.sh", CallState::Done) };
    s.tell(EventBody::Changed(id, Item::Call(done.clone())));
    let live = s.text();
    let at = |words: &str| live.find(words).unwrap_or_else(|| panic!("{words}: {live}"));
    assert!(at("sh mk.sh") < at(".envrc") && at(".envrc") < at("refuse the call"), "{live}");
    assert!(at("refuse the call") < at("AGENTS.md") && at("AGENTS.md") < at("allow"), "{live}");
    let mut again = Screen::new(80, 16);
    again.add(Item::Call(done));
    assert_eq!(again.text(), live, "a session that is read again shows the same");
}

#[test]
fn what_is_laid_out_follows_the_theme_and_the_width() {
    let told = |width: u16, theme: &str| {
        let mut s = Screen::new(width, 16);
        s.theme = Theme::shipped(theme);
        s.nebula("## Head\n\nSome **bold** words and `code` that go on past the edge of a narrow pane.\n\n```rust\nlet a = 1;\n```\n");
        s.add(Item::Call(call("readFile", "src/cart.rs", CallState::Failed)));
        s
    };
    let mut s = told(60, "dark");
    let mut before = s.draw();
    for (width, theme) in [(60, "light"), (34, "light"), (34, "contrast"), (60, "dark")] {
        (s.width, s.theme) = (width, Theme::shipped(theme));
        let now = s.draw();
        assert_ne!(now, before, "{theme}, {width}");
        assert_eq!(now, told(width, theme).draw(), "as if it had been so from the start: {theme}, {width}");
        before = now;
    }
}

#[test]
fn a_call_that_was_written_in_part_is_never_folded_away() {
    let mut s = Screen::new(80, 12);
    let hunks = Some(HunkCount { accepted: 1, rejected: 1 });
    let (summary, reason) = ("1 of 2 hunks written".into(), Some("two stays".into()));
    let undo = Call { hunks, decided: hunks, answered: Some(0), summary, reason, ..call("undo", "", CallState::Done) };
    s.add(Item::Call(call("readFile", "src/cart.rs", CallState::Done)));
    s.add(Item::Call(undo));
    let text = s.text();
    assert!(
        text.contains("✓ undo, 1 of 2 hunks written: two stays") && text.contains("you approved 1 of 2 hunks"),
        "{text}"
    );
    assert_eq!(text.matches("1 of 2").count(), 2, "{text}");
    let mut s = Screen::new(80, 12);
    let reason = Some("src/none.rs does not exist".into());
    s.add(Item::Call(Call { main: "src/none.rs".into(), reason, ..call("readFile", "", CallState::Failed) }));
    assert!(s.text().contains(": src/none.rs does not exist"), "{}", s.text());
    assert_eq!(s.text().matches("src/none.rs").count(), 2, "the closed fold names it, and the reason: {}", s.text());
}

#[test]
fn a_proposal_that_waits_stands_below_all_entries_and_is_none() {
    let mut s = Screen::new(80, 16);
    s.nebula("I change it.");
    let change = FileChange::new("a.rs", State::file(*b"one\n"), State::file(*b"two\n"), "edit", &[]);
    let proposal = Proposal { id: ProposalId(1), title: String::new(), files: vec![change] };
    s.tell(EventBody::Proposal(ProposalEvent::Proposed(proposal.into(), Vec::new())));
    s.chat.add_notice(Notice::new(Level::Warning, "the message was not sent", ""));
    let text = s.text();
    assert!(text.find("was not sent") < text.find("◉ proposal: 1 file"), "{text}");
    // It is an entry like any other, beside a proposal that waits.
    s.act(Action::PreviousItem);
    let selected = s.chat.selected;
    s.add(Item::Notice(Notice::new(Level::Info, "something else", "")));
    assert!(selected == Some(1) && s.chat.selected == selected);
    s.add(Item::Answer { text: "## Plan\n\nFirst the cart.".into() });
    assert!(s.chat.ends_in_plan());
    let outcome = Outcome::Refused;
    s.tell(EventBody::Proposal(ProposalEvent::Settled(ProposalId(1), outcome)));
    let text = s.text();
    assert!(text.contains("was not sent") && !text.contains("waiting for you"), "{text}");
}

#[test]
fn a_message_of_the_person_can_be_gone_back_to() {
    let mut s = Screen::new(80, 30);
    for text in ["first", "second", "third"] {
        s.you(text);
        s.nebula("Done.");
    }
    // The last entry is an answer: nothing to go back to.
    s.act(Action::PreviousItem);
    assert!(!s.chat.offers(Action::RestoreSince));
    assert_eq!(s.act(Action::RestoreSince), []);
    for _ in 0..3 {
        s.act(Action::PreviousItem);
    }
    assert!(s.chat.offers(Action::RestoreSince));
    let since = Command::Restore(RestoreRequest::SinceMessage(1));
    assert_eq!(s.act(Action::RestoreSince), [PaneEffect::send(since)]);
}

#[test]
fn a_resumed_step_is_one_fold_with_questions_about_it_below() {
    let edit = |path: &str| Call {
        step: 1,
        comments: vec![(format!("{path}:2: why?"), "It is unused.".into())],
        ..call("replaceInFile", path, CallState::Done)
    };
    let plain = |path: &str| Call { comments: Vec::new(), ..edit(path) };
    let live = |calls: &[Call]| {
        let mut chat = Chat { beside: true, ..Chat::default() };
        for (id, call) in (0..).zip(calls) {
            let waiting = Call { state: CallState::Waiting, comments: Vec::new(), ..call.clone() };
            chat.add(ItemId(id), &Item::Call(waiting));
        }
        for (id, call) in (0..).zip(calls) {
            chat.change(ItemId(id), &Item::Call(call.clone()));
        }
        chat
    };
    let blocks = |chat: &Chat| chat.window.units.iter().map(|unit| unit.copied().into_owned()).collect::<Vec<_>>();
    let calls = [edit("a.rs"), plain("b.rs"), edit("c.rs")];
    let items: Vec<Item> = calls.iter().cloned().map(Item::Call).collect();
    let resumed = blocks(&Chat::preview(&items));
    assert_eq!(resumed, blocks(&live(&calls)));
    assert_eq!(resumed[0], "replaceInFile a.rs\nreplaceInFile b.rs\nreplaceInFile c.rs");
    assert_eq!(resumed[1..], ["a.rs:2: why?\nIt is unused.", "c.rs:2: why?\nIt is unused."]);
    // Another step begins below what was said.
    let next = [edit("a.rs"), Call { step: 2, ..plain("b.rs") }];
    let items: Vec<Item> = next.iter().cloned().map(Item::Call).collect();
    assert_eq!(blocks(&Chat::preview(&items)).len(), 3);
}

#[test]
fn a_fold_with_many_failures_tells_how_many_it_does_not_show() {
    let mut s = Screen::new(80, 20);
    for n in 0..6 {
        let failed = Call { reason: Some(format!("f{n} does not exist")), ..call("readFile", "", CallState::Failed) };
        s.add(Item::Call(failed));
    }
    let text = s.text();
    assert!(text.contains("⋯ 3 more") && text.contains("f3 does") && !text.contains("f2 does"), "{text}");
}

#[test]
fn a_search_looks_into_folds_and_opens_the_one_that_holds_the_words() {
    let mut s = Screen::new(80, 20);
    for path in ["src/cart.rs", "src/price.rs"] {
        s.call("readFile", path, CallState::Done);
    }
    s.nebula("Read both.");
    let folded = s.text();
    assert!(folded.contains("▸ ") && !folded.contains("price.rs"), "{folded}");
    s.chat.line(LineFor::Search, LineInput::Now("absent"), 0);
    s.draw();
    assert_eq!(s.chat.search_hits().as_deref(), Some("no match"));
    assert!(!s.chat.offers(Action::NextMatch));
    assert_eq!(s.text(), folded, "a search without a match opens nothing");
    s.chat.line(LineFor::Search, LineInput::Now("read 2"), 0);
    s.draw();
    assert_eq!(s.chat.search_hits().as_deref(), Some("1 of 1"));
    assert!(s.chat.offers(Action::NextMatch));
    assert_eq!(s.text(), folded, "what a fold says is in sight");
    s.chat.line(LineFor::Search, LineInput::Now("PRICE.rs"), 0);
    assert!(s.text().contains("src/price.rs"), "{}", s.text());
    assert_eq!(s.chat.search_hits().as_deref(), Some("1 of 1"));
    // What it opened on the way closes again; the fold with the match that was chosen stays open.
    s.chat.line(LineFor::Search, LineInput::Now("both"), 0);
    assert_eq!(s.text(), folded);
    s.chat.line(LineFor::Search, LineInput::Taken("cart.rs"), 0);
    s.draw();
    s.chat.line(LineFor::Search, LineInput::Left, 0);
    s.draw();
    assert!(s.text().contains("src/cart.rs"), "{}", s.text());
}

#[test]
fn a_fold_counts_what_was_undone_of_it() {
    let mut s = Screen::new(83, 20);
    for changeset in ["one", "two", "three"] {
        let change = Some(CallChange::new(changeset, vec!["a.rs".into()]));
        s.add(Item::Call(Call { change, ..call("editFile", "a.rs", CallState::Done) }));
    }
    let undone = |s: &mut Screen, all: &[(&str, usize)]| {
        let change = |(changeset, hunks): &(&str, usize)| UndoneChange {
            changeset: changeset.to_string(),
            path: "a.rs".into(),
            undone: Undone { hunks: *hunks, of: 2 },
            lines: Vec::new(),
        };
        s.tell(EventBody::Undone(all.iter().map(change).collect()));
        s.text()
    };
    let text = undone(&mut s, &[("one", 2), ("two", 1)]);
    assert!(text.contains("edited 2, 1 undone, 1 undone in part"), "{text}");
    s.act(Action::Fold);
    assert!(
        s.text().contains("↶ edit   a.rs  undone") && s.text().contains("✓ edit   a.rs  undone in part"),
        "{}",
        s.text()
    );
    s.act(Action::Fold);
    assert!(undone(&mut s, &[]).contains("edited 3"), "{}", s.text());
}

#[test]
fn a_call_that_was_written_in_part_is_named_until_it_is_undone() {
    let mut s = Screen::new(83, 20);
    let hunks = Some(HunkCount { accepted: 1, rejected: 1 });
    let change = Some(CallChange::new("one", vec!["a.rs".into()]));
    s.add(Item::Call(Call { change, hunks, ..call("editFile", "a.rs", CallState::Done) }));
    assert_eq!(s.text().matches("a.rs").count(), 2, "{}", s.text());
    let undone = Undone { hunks: 1, of: 1 };
    let lines = Vec::new();
    s.tell(EventBody::Undone(vec![UndoneChange { changeset: "one".into(), path: "a.rs".into(), undone, lines }]));
    let text = s.text();
    assert!(text.contains("undone") && text.matches("a.rs").count() == 1, "{text}");
}

#[test]
fn a_search_counts_and_visits_each_place_of_a_row() {
    let mut s = Screen::new(80, 20);
    s.you("go");
    s.nebula("Looked at everything, price by price. price price");
    s.nebula("One more price.");
    s.draw();
    s.chat.line(LineFor::Search, LineInput::Taken("price"), 0);
    s.draw();
    let mut hits = vec![s.chat.search_hits().unwrap()];
    for action in
        [Action::PreviousMatch, Action::PreviousMatch, Action::NextMatch, Action::NextMatch, Action::NextMatch]
    {
        s.act(action);
        hits.push(s.chat.search_hits().unwrap());
    }
    assert_eq!(hits, ["5 of 5", "4 of 5", "3 of 5", "4 of 5", "5 of 5", "1 of 5"]);
}

#[test]
fn an_answer_about_a_hunk_is_read_as_it_is_below_the_hunk() {
    let rows = testing::screen(60, 6, "dark", true, |area, buf, ctx| {
        for (y, line) in (0..).zip(lines::comment("why `a`?", "It is **unused**.", 60, &ctx.look())) {
            crate::tui::text::paint::spans(buf, area.x, area.y + y, 60, &line.spans);
        }
    });
    let text = rows.text();
    assert!(text.contains("you     why a?") && text.contains("nebula  It is unused."), "{text}");
}
