//! The finished frames as events: what the agent would have told, so that whole screens can be compared.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use nebula::proposal::{Counts, FileChange, PlaceMatch, Placed, Proposal, ProposalId, Rung, State};
use nebula::protocol::*;
use nebula::tools::ToolSet;
use nebula::tui::app::{App, Effect, Msg, Options, Start};
use nebula::tui::text::highlight::Highlighter;
use nebula::tui::theme::Depth;
use nebula::tui::view;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr;

/// 12:07:00 UTC on 5 November 2025.
pub const NOW: i64 = 1_762_344_420_000;
const SECOND: i64 = 1000;

/// That time of day, this many days before [`NOW`].
pub fn clock(days: i64, hour: i64, minute: i64, second: i64) -> i64 {
    let midnight = NOW - (12 * 60 + 7) * 60 * SECOND;
    midnight - days * 86_400 * SECOND + ((hour * 60 + minute) * 60 + second) * SECOND
}

/// An `App` on a screen of a size, told by a script.
pub struct Stage {
    pub app: App,
    pub effects: Vec<Effect>,
    size: (u16, u16),
    now: i64,
    items: u64,
}

impl Stage {
    pub fn new(width: u16, height: u16, theme: &str) -> Stage {
        Stage::start(width, height, theme, Start::default())
    }

    pub fn start(width: u16, height: u16, theme: &str, start: Start) -> Stage {
        Stage::with(width, height, Options { theme: Some(theme.into()), start, ..Options::default() })
    }

    pub fn with(width: u16, height: u16, options: Options) -> Stage {
        Stage::of_depth(width, height, options, Depth::True)
    }

    pub fn of_depth(width: u16, height: u16, options: Options, depth: Depth) -> Stage {
        // Parsed once for all stages.
        static COLOURS: OnceLock<Highlighter> = OnceLock::new();
        let colours = COLOURS.get_or_init(Highlighter::here).clone();
        let (app, effects) = App::new(options, depth, colours, NOW);
        let mut stage = Stage { app, effects, size: (width, height), now: NOW, items: 0 };
        stage.say(Msg::Resize(width, height));
        stage
    }

    pub fn say(&mut self, msg: Msg) {
        let effects = self.app.update(msg);
        self.effects.extend(effects);
    }

    pub fn tell(&mut self, event: EventBody) {
        self.say(Msg::Agent(Event { session: None, body: event }));
    }

    pub fn item(&mut self, item: Item) -> ItemId {
        let id = ItemId(self.items);
        self.items += 1;
        self.tell(EventBody::Added(id, item));
        id
    }

    /// Lets time pass.
    pub fn wait(&mut self, ms: i64) {
        self.now += ms;
        self.say(Msg::Tick(self.now));
    }

    /// Presses keys: letters, and names in `<>`.
    pub fn keys(&mut self, keys: &str) {
        let mut rest = keys;
        while let Some(c) = rest.chars().next() {
            let (name, next) = match rest.strip_prefix('<').and_then(|r| r.split_once('>')) {
                Some((name, next)) => (name, next),
                None => rest.split_at(c.len_utf8()),
            };
            rest = next;
            self.say(Msg::Key(key(name)));
        }
    }

    /// Answers the newest question of the kind that `wanted` recognises.
    pub fn answer(&mut self, wanted: impl Fn(&Query) -> bool, listing: Listing) {
        let id = self.effects.iter().rev().find_map(|e| match e {
            Effect::Send(Command::Ask(id, query)) if wanted(query) => Some(*id),
            _ => None,
        });
        self.tell(EventBody::Answer(id.expect("it was asked for"), listing));
    }

    pub fn resize(&mut self, width: u16, height: u16) {
        self.size = (width, height);
        self.say(Msg::Resize(width, height));
    }

    pub fn draw(&self) -> (Buffer, Option<Position>) {
        let mut buf = Buffer::empty(Rect::new(0, 0, self.size.0, self.size.1));
        let cursor = view::paint_screen(&self.app, &mut buf);
        (buf, cursor)
    }

    /// The rows of the screen, the cursor's cell named below.
    pub fn text(&self) -> String {
        let (buf, cursor) = self.draw();
        let mut out = text(&buf);
        match cursor {
            Some(at) => out.push_str(&format!("\ncursor {},{}", at.x, at.y)),
            None => out.push_str("\nno cursor"),
        }
        out
    }

    /// The screen with its colours, for looking at: written to `$SCREEN_DUMPS/NAME.ansi` where that is set.
    pub fn dump(&self, name: &str) {
        if let Ok(dir) = std::env::var("SCREEN_DUMPS") {
            let (buf, cursor) = self.draw();
            std::fs::write(format!("{dir}/{name}.ansi"), ansi(&buf, cursor)).expect("a writable folder");
        }
    }

    /// Commands sent so far, without questions for listings.
    pub fn sent(&self) -> Vec<&Command> {
        let commands = self.effects.iter().filter_map(|e| match e {
            Effect::Send(c) if !matches!(c, Command::Ask(..)) => Some(c),
            _ => None,
        });
        commands.collect()
    }
}

/// A key by its name: `enter`, `ctrl-p`, `a`.
fn key(name: &str) -> KeyEvent {
    let (mut name, mut modifiers) = (name, KeyModifiers::NONE);
    for (word, modifier) in
        [("ctrl-", KeyModifiers::CONTROL), ("alt-", KeyModifiers::ALT), ("shift-", KeyModifiers::SHIFT)]
    {
        if let Some(rest) = name.strip_prefix(word) {
            (name, modifiers) = (rest, modifiers | modifier);
        }
    }
    let code = match name {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" if modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
        "tab" => KeyCode::Tab,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pageup" => KeyCode::PageUp,
        "pagedown" => KeyCode::PageDown,
        "backspace" => KeyCode::Backspace,
        "space" => KeyCode::Char(' '),
        name => match name.strip_prefix('f').and_then(|n| n.parse().ok()) {
            Some(n) => KeyCode::F(n),
            None => KeyCode::Char(name.chars().next().expect("a key")),
        },
    };
    KeyEvent::new(code, modifiers)
}

fn text(buf: &Buffer) -> String {
    let rows = (0..buf.area.height).map(|y| {
        let (mut row, mut x) = (String::new(), 0);
        while x < buf.area.width {
            let symbol = buf[(x, y)].symbol();
            row.push_str(symbol);
            x += (symbol.width() as u16).max(1);
        }
        row.trim_end().to_string()
    });
    rows.collect::<Vec<_>>().join("\n")
}

fn ansi(buf: &Buffer, cursor: Option<Position>) -> String {
    let mut out = String::new();
    for y in 0..buf.area.height {
        let mut x = 0;
        while x < buf.area.width {
            let cell = &buf[(x, y)];
            out.push_str("\x1b[0");
            for (color, base) in [(cell.fg, 38), (cell.bg, 48)] {
                if let Color::Rgb(r, g, b) = color {
                    out.push_str(&format!(";{base};2;{r};{g};{b}"));
                }
            }
            let at_cursor = cursor == Some(Position::new(x, y));
            let codes = [
                (Modifier::BOLD, 1),
                (Modifier::DIM, 2),
                (Modifier::ITALIC, 3),
                (Modifier::UNDERLINED, 4),
                (Modifier::REVERSED, 7),
                (Modifier::CROSSED_OUT, 9),
            ];
            for (_, code) in codes.iter().filter(|(m, _)| cell.modifier.contains(*m)) {
                out.push_str(&format!(";{code}"));
            }
            out.push_str(if at_cursor { ";7m" } else { "m" });
            out.push_str(cell.symbol());
            x += (cell.symbol().width() as u16).max(1);
        }
        out.push_str("\x1b[0m\n");
    }
    out
}

pub fn status() -> Status {
    Status {
        workspace: "shop".into(),
        model: Some("gpt-4.1-mini".into()),
        provider: "openai".into(),
        format: "tools".into(),
        tokens: 18_240,
        context: Some((18_240, 128_000)),
        cost: Some(Cost { dollars: 0.03, estimated: true, partial: false }),
        rules: ["AGENTS.md", ".nebula/rules/rust.md"]
            .map(|path| RuleChip { path: path.into(), reason: "workspace".into(), bytes: 900 })
            .into(),
        archive: Some((128, 14)),
        key_places: vec![KeyPlaces {
            provider: "openai".into(),
            host: "api.openai.com".into(),
            variable: false,
            command: false,
            stored: false,
        }],
        ..Status::default()
    }
}

pub fn archived(cause: &str) -> EventBody {
    EventBody::Archived(Changeset {
        id: "0199".into(),
        at: 0,
        cause: cause.into(),
        by: String::new(),
        session: None,
        merged: None,
        files: Vec::new(),
        definitions: Vec::new(),
    })
}

pub fn opened(status: Status) -> EventBody {
    EventBody::Opened(SessionInfo { id: "0198".into(), title: None, resumed: 0, status })
}

fn verb(name: &str) -> Verb {
    let verb = ToolSet::builtin().verb(name).expect("a tool");
    let (short, doing) = verb.forms.expect("its forms");
    Verb { short: short.into(), doing: doing.into(), done: verb.done.into(), one: verb.one.into() }
}

pub fn call(name: &str, main: &str, state: CallState) -> Call {
    Call { main: main.into(), ..Call::new(name, verb(name), state) }
}

fn done(name: &str, main: &str, summary: &str, ms: u64) -> Item {
    let mut call = call(name, main, CallState::Done);
    call.summary = summary.into();
    call.took = Some(Duration::from_millis(ms));
    Item::Call(call)
}

/// The first part of the conversation: a message, a thought, three reads.
pub fn reading(stage: &mut Stage) {
    stage.tell(opened(status()));
    stage.tell(EventBody::TurnStarted(TurnId(1)));
    stage.item(Item::User {
        text: "The cart page asks the database once per line. Load all prices in one query, and keep @src/cart.rs \
               readable."
            .into(),
        at: NOW - 220 * SECOND,
        attached: vec![Attached { path: "src/cart.rs".into(), range: None, lines: Some(38), bytes: 900 }],
    });
    stage.item(Item::Thinking { text: "Look at the cart first.".into(), took: Some(Duration::from_secs(4)) });
    stage.item(Item::Answer {
        text: "`Cart::total` awaits `price_of` inside its loop, so a cart of forty lines costs forty round trips. \
               Three changes make it **one query**:\n\n1. `Catalog::prices` takes every id and returns a map\n2. \
               `Cart::total` looks each price up in that map\n3. a missing price is an error; today it silently \
               counts as **zero**\n\n## The new query\n\n```rust\n/// The prices of several products, in one \
               query.\npub async fn prices(&self, ids: &[ProductId]) -> Result<Prices> {\n    \
               sqlx::query_as(PRICES_BY_IDS) // id = any($1)\n        .bind(ids)\n        .fetch_all(&self.pool)\n        \
               .await\n        .map(Prices::from_rows)\n}\n```\n"
            .into(),
    });
    stage.item(done("readFile", "src/cart.rs", "38 lines", 2));
    stage.item(done("readFile", "src/catalog.rs", "50 lines", 2));
    let mut search = call("searchInDirectory", "\"price_of\"", CallState::Done);
    (search.summary, search.took) = ("2 files".into(), Some(Duration::from_millis(11)));
    let line = |text: &str| PreviewLine { sign: ' ', text: text.into() };
    search.preview = vec![
        line("src/cart.rs:27:            let price = catalog.price_of(line.product).await"),
        line("src/handlers/product.rs:41:    catalog.price_of(id).await?"),
    ];
    stage.item(Item::Call(search));
}

/// Frame 02: in the middle of a turn.
pub fn working(stage: &mut Stage) {
    reading(stage);
    stage.wait(13_600);
    stage.item(Item::Call(call("searchInDirectory", "\"total(\"", CallState::Running)));
    let mut next = call("replaceInFile", "src/catalog.rs", CallState::Waiting);
    next.counts = Some(Counts { added: 7, removed: 6 });
    next.preview = vec![
        PreviewLine { sign: '-', text: "/// The price of one product.".into() },
        PreviewLine { sign: '-', text: "pub async fn price_of(&self, id: ProductId) -> sqlx::Result<Money> {".into() },
        PreviewLine { sign: '+', text: "/// The prices of several products, in one query.".into() },
        PreviewLine { sign: '+', text: "pub async fn prices(&self, ids: &[ProductId]) -> Result<Prices> {".into() },
    ];
    stage.item(Item::Call(next));
    let mut last = call("replaceInFile", "src/cart.rs", CallState::Streaming);
    last.arguments = "{\"path\": \"src/cart.rs\", \"search\": \"let mut total = Money::ZERO;\\nfor line\", \
                      \"replace\": \"let ids: Vec<_> = self.lines.iter()"
        .into();
    stage.item(Item::Call(last));
    said(stage);
    archive(stage);
    stage.wait(400);
}

/// Adds the text that nebula says before its changes.
fn said(stage: &mut Stage) {
    stage.item(Item::Answer {
        text: "Only two places call `price_of`: the cart, and the product page in `src/handlers/product.rs`. The page \
               needs a single price, so it keeps a thin `price_of` over the new query. I'll change the catalog \
               first, then the cart.\n\nAfterwards `cargo test cart` should see **two** queries, not forty-one:\n\n\
               - one for the lines of the cart\n- one for their prices, whatever their number"
            .into(),
    });
}

/// Answers the archive pane's question with a few changesets.
/// The graph of a store with two layers, errors, and two conflicts.
pub fn graph(stage: &mut Stage) {
    stage.keys("<f7>");
    let row = |layer: &str, name: &str, signature: &str, errors, warnings| DefinitionRow {
        id: format!("op_{name}"),
        group: layer.into(),
        name: name.into(),
        signature: signature.into(),
        errors,
        warnings,
    };
    let conflict = |id: &str, kind: &str, about: &str, message: &str, lost: &str, can_take| ConflictRow {
        id: id.into(),
        kind: kind.into(),
        about: about.into(),
        message: message.into(),
        lost: lost.into(),
        definition: Some(GraphLink { id: "op_total".into(), name: "fn.total".into(), place: String::new() }),
        can_take,
    };
    let conflicts = vec![
        conflict("cf_01KAF3", "dangling open", "tile.Cart:2 -> slot.coupon", "", "remove slot.coupon agent:b: ", true),
        conflict(
            "W0902@fn.total",
            "edit-superseded",
            "fn.total",
            "edit by agent:b was made while the body was replaced; it does not show",
            "{\"set\":{\"2.value\":\"round(sum)\"}}",
            false,
        ),
    ];
    let types = ["Money", "Product", "Cart"].map(|name| row("type", name, "", 0, 0));
    let mut rows: Vec<DefinitionRow> = types.into();
    rows.extend((0..30).map(|n| row("slot", &format!("price{n}"), "Map(ProductId, Money)", 0, usize::from(n == 3))));
    rows.push(row("fn", "total", "(cart: Cart, prices: Map(ProductId, Money)) -> Money", 2, 0));
    rows.push(row("fn", "rounded", "(money: Money) -> Money", 0, 0));
    let (found, total) = (1_204, 1_204);
    let page = GraphPage {
        place: "/home/me/shop/shop.strand".into(),
        beside: Vec::new(),
        trouble: None,
        conflicts,
        rows,
        faults: 0,
        found,
        total,
        files: 0,
        files_left: 0,
    };
    stage.answer(|query| matches!(query, Query::Graph { .. }), Listing::Graph(page));
}

/// The graph of a workspace of source files without a store; one does not parse, and there are more.
pub fn graph_of_code(stage: &mut Stage) {
    stage.keys("<f7>");
    let row = |group: &str, name: &str, signature: &str, errors| DefinitionRow {
        id: format!("{group}::{name}"),
        group: group.into(),
        name: name.into(),
        signature: signature.into(),
        errors,
        warnings: 0,
    };
    let cart = "src/shop/cart.rs";
    let rows = vec![
        row(cart, "Cart", "pub struct Cart", 0),
        row(cart, "Cart.items", "pub items: Vec<Item>", 0),
        row(cart, "Cart.total", "pub fn total(&self, prices: &Prices) -> Money", 0),
        DefinitionRow {
            id: "tools/half.py".into(),
            ..row("tools/half.py", "syntax error in line 4: definitions may be missing", "", 1)
        },
        row("tools/half.py", "half", "def half(:", 1),
        row("web/東京/列挙.ts", "total", "export function total(cart: Cart): number", 0),
    ];
    let place = "/home/me/shop".into();
    let page = GraphPage {
        place,
        beside: Vec::new(),
        trouble: None,
        conflicts: Vec::new(),
        rows,
        faults: 0,
        found: 1_912,
        total: 1_912,
        files: 214,
        files_left: 120,
    };
    stage.answer(|query| matches!(query, Query::Graph { .. }), Listing::Graph(page));
}

/// Answers the questions for definitions of [`graph_of_code`], until the one under the keys is shown.
pub fn answer_code(stage: &mut Stage) {
    answer_each(stage, |id| {
        let link = |name: &str, place: &str| GraphLink { id: name.into(), name: name.into(), place: place.into() };
        let change = |minutes: i64, author: &str, summary: &str| OpRow {
            at: NOW - minutes * 60_000,
            author: author.into(),
            kind: "changed".into(),
            summary: summary.into(),
        };
        let warning = |message: &str| FaultRow { code: String::new(), message: message.into(), is_warning: true };
        DefinitionDetail {
            name: id.into(),
            text: "    /// The price of all that is in the cart.\n    pub fn total(&self, prices: &Prices) -> Money {\n        \
                   self.items.iter().map(|item| prices.of(item)).sum()\n    }"
                .into(),
            is_cut: false,
            is_file: false,
            faults: vec![warning("tools/half.py: syntax error in line 4: definitions may be missing")],
            uses: GraphLinks {
                rows: vec![link("src/shop/cart.rs::Cart.items", "14 local"), link("src/shop/money.rs::Money", "13 import")],
                more: 0,
            },
            used_by: GraphLinks { rows: vec![link("src/main.rs", "3 import"), link("src/main.rs::print_all", "91 name")], more: 12 },
            history: vec![
                change(9, "nebula", "sum the prices in one go"),
                change(3_000, "nebula or outside it", "load the prices once"),
            ],
            older: 0,
            id: id.into(),
        }
    });
}

/// Answers the questions for definitions of [`graph`], until the one under the keys is shown.
pub fn answer_definition(stage: &mut Stage) {
    answer_each(stage, definition);
}

fn answer_each(stage: &mut Stage, answer: impl Fn(&str) -> DefinitionDetail) {
    let asked = |stage: &Stage| {
        let ids = stage.effects.iter().filter_map(|effect| match effect {
            Effect::Send(Command::Ask(_, Query::Definition(id))) => Some(id.clone()),
            _ => None,
        });
        ids.collect::<Vec<_>>()
    };
    let mut answered = 0;
    while asked(stage).len() > answered {
        answered = asked(stage).len();
        let found = answer(&asked(stage)[answered - 1]);
        stage.answer(|query| matches!(query, Query::Definition(_)), Listing::Definition(Box::new(found)));
    }
}

fn definition(id: &str) -> DefinitionDetail {
    let link = |name: &str, place: &str| GraphLink {
        id: format!("op_{}", name.rsplit('.').next().unwrap_or_default()),
        name: name.into(),
        place: place.into(),
    };
    let op = |minutes: i64, author: &str, kind: &str, summary: &str| OpRow {
        at: NOW - minutes * 60_000,
        author: author.into(),
        kind: kind.into(),
        summary: summary.into(),
    };
    let fault =
        |code: &str, message: &str, is_warning| FaultRow { code: code.into(), message: message.into(), is_warning };
    DefinitionDetail {
        id: id.into(),
        name: "fn.total".into(),
        text: "## The price of all that is in the cart, without \ndelivery.\nfn total = (cart: Cart, prices: Map(ProductId, \
               Money)) -> Money = \n  sum(map(values(cart.items), priceOf))"
            .into(),
        is_cut: false,
        is_file: false,
        faults: vec![fault("E0103", "there is no slot 'coupon'", false)],
        uses: GraphLinks { rows: vec![link("type.Cart", "in"), link("type.Money", "out"), link("fn.priceOf", "1")], more: 0 },
        used_by: GraphLinks {
            rows: (0..40).map(|n| link(&format!("tile.Total{n}"), "2")).collect(),
            more: 160,
        },
        history: vec![
            op(9, "user:me", "edit", "1.value: sum(map(values(cart.items), priceOf))"),
            op(60 * 30, "agent:a", "rename", "sum -> total"),
            op(60 * 24 * 40, "agent:a", "add", "(cart: Cart) -> Money = 0"),
        ],
        older: 3,
    }
}

pub fn archive(stage: &mut Stage) {
    let file = |path: &str, added, removed| ChangesetFile {
        path: path.into(),
        version: Some("v".into()),
        absent: false,
        counts: Some(Counts { added, removed }),
    };
    let row = |at: i64, cause: &str, by: &str, files: Vec<ChangesetFile>| Changeset {
        id: format!("c{at}"),
        at,
        cause: cause.into(),
        by: by.into(),
        session: None,
        merged: None,
        files,
        definitions: Vec::new(),
    };
    let two = |a, r| vec![file("a", a, r), file("b", 0, 0)];
    let three = |a, r| vec![file("a", a, r), file("b", 0, 0), file("c", 0, 0)];
    let rows = vec![
        row(clock(0, 11, 58, 2), "undo of sell gift cards", "undo", three(0, 31)),
        row(clock(0, 11, 57, 40), "sell gift cards", "edit", three(31, 0)),
        row(clock(0, 11, 52, 19), "sell gift cards", "edit", vec![file("src/handlers/checkout.rs", 4, 2)]),
        row(clock(0, 11, 31, 7), "round half to even", "edit", vec![file("src/money.rs", 12, 3)]),
        row(clock(0, 10, 20, 44), "shi", "shi", vec![file("templates/cart.html", 0, 0)]),
        row(clock(1, 17, 40, 12), "add a cart", "edit", vec![file("src/cart.rs", 12, 0)]),
        row(clock(1, 17, 12, 55), "", "other session", two(8, 8)),
        row(clock(1, 16, 20, 31), "prices table", "edit", vec![file("migrations/0004_prices.sql", 21, 0)]),
    ];
    let has_query = stage.effects.iter().any(|e| matches!(e, Effect::Send(Command::Ask(_, Query::Archive { .. }))));
    if has_query {
        stage.answer(
            |q| matches!(q, Query::Archive { .. }),
            Listing::Archive { rows, found: 128, total: 128, files: 14 },
        );
    }
}

/// The proposal of frame 03.
pub fn proposal() -> Proposal {
    let change = |path: &str, before: &str, after: &str, by: &str, rung, detail: Option<&str>| {
        let found = PlaceMatch { rung, detail: detail.map(str::to_string) };
        let placed = [Placed { after: 0..after.len(), found, edit: None }];
        FileChange::new(path, State::file(before.as_bytes()), State::file(after.as_bytes()), by, &placed)
    };
    const CATALOG: (&str, &str) = (
        include_str!("../../src/tui/pane/testdata/catalog.before"),
        include_str!("../../src/tui/pane/testdata/catalog.after"),
    );
    const CART: (&str, &str) = (
        include_str!("../../src/tui/pane/testdata/cart.before"),
        include_str!("../../src/tui/pane/testdata/cart.after"),
    );
    let files = vec![
        change("src/catalog.rs", CATALOG.0, CATALOG.1, "edit (2)", Rung::Exact, None),
        change("src/cart.rs", CART.0, CART.1, "edit", Rung::Indentation, Some("4 further right")),
    ];
    Proposal { id: ProposalId(7), title: "replaceInFile".into(), files }
}

/// Frame 03: one hunk rejected, one accepted, one undecided.
pub fn proposing(stage: &mut Stage) {
    reading(stage);
    stage.tell(EventBody::Proposal(ProposalEvent::Proposed(Arc::new(proposal()), Vec::new())));
    stage.wait(SECOND);
    stage.keys("ny");
}

/// Frame 25: the card of a command.
pub fn card(stage: &mut Stage) {
    reading(stage);
    archive(stage);
    stage.item(Item::Call(call("runCommand", "rm -rf src/generated", CallState::Asking)));
    let part = |class, text: &str, note: &str| CardPart { class, text: text.into(), note: note.into() };
    let card = CommandCard {
        source: String::new(),
        document_lines: Default::default(),
        text: "rm -rf src/generated \\\n  && cargo run --bin generate -- --from migrations --out src/generated \\\n  && git status --short src/generated | head -n 40".into(),
        why: Some("The query types in src/generated were made from the old schema; they are made again, so that cargo check sees what is really used.".into()),
        class: CommandClass::Harm,
        class_why: "the worst part decides".into(),
        parts: vec![
            part(CommandClass::Harm, "rm -rf src/generated", "214 files, 1.9 MiB"),
            part(CommandClass::Work, "cargo run --bin generate -- --from migrations --out src/generated", "runs a program"),
            part(CommandClass::Read, "git status --short src/generated", "only reads"),
            part(CommandClass::Read, "head -n 40", "only reads"),
        ],
        asks: Vec::new(),
        not_in_git: vec![
            ("src/generated/vat_jp.rs".into(), "2.1 KiB".into(), "untracked".into()),
            ("src/generated/.cache.json".into(), "96 KiB".into(), "ignored".into()),
        ],
        grant: "writes: this workspace and temporary folders · network: none · limit 120 s".into(),
        keeper: "guard: each file is kept before it is changed; undo brings it back".into(),
        not_kept: "folders that can be built again, as target and node_modules, are not archived".into(),
        has_usual_bounds: true,
        rule: "no rule meets this text".into(),
        prefix: (["rm", "-rf", "src/generated"].map(String::from).to_vec(), 2),
        may_network: true,
        may_review: true,
        no_preview: None,
    };
    stage.tell(EventBody::Asked(Question {
        id: QuestionId(1),
        text: "Run this command?".into(),
        choices: vec![("run".into(), String::new()), ("no".into(), String::new())],
        permission: true,
        card: Some(card.into()),
        hold: None,
    }));
}

/// Shows the card, and gives it the keys.
pub fn card_open(stage: &mut Stage) {
    card(stage);
    stage.keys("<f6>");
}

/// Frame 15: a question, and two queued messages.
pub fn asking(stage: &mut Stage) {
    reading(stage);
    archive(stage);
    stage.keys("then add a test with yen and euro lines<enter>and mention the new error in @README.md <enter>");
    stage.item(Item::Call(call("askUser", "which currency", CallState::Asking)));
    stage.tell(EventBody::Asked(Question {
        id: QuestionId(1),
        text: "Which currency should the total of a mixed cart have?".into(),
        choices: [
            ("the customer's own", "from the account, as checkout does today"),
            ("the first line's", "simple, but it changes when that line is removed"),
            ("none: refuse mixed carts", "an error as soon as a second currency is added"),
        ]
        .map(|(a, b)| (a.to_string(), b.to_string()))
        .into(),
        permission: false,
        card: None,
        hold: None,
    }));
    stage.wait(2 * SECOND);
    stage.wait(SECOND);
}

/// Frame 06: `@mon`.
pub fn mentioning(stage: &mut Stage) {
    working(stage);
    stage.keys("also check that @mon");
    let paths = [
        ("src/money.rs", vec![4, 5, 6]),
        ("tests/money.rs", vec![6, 7, 8]),
        ("src/handlers/money.rs", vec![13, 14, 15]),
        ("migrations/0002_money.sql", vec![16, 17, 18]),
        ("src/admin/monthly.rs", vec![10, 11, 12]),
        ("templates/monthly.html", vec![10, 11, 12]),
        ("assets/fonts/mono.woff2", vec![13, 14, 15]),
        ("docs/decisions/0007-money-type.md", vec![20, 21, 22]),
    ];
    let hits = paths.map(|(p, at)| (p.to_string(), at)).into();
    stage.answer(|q| *q == Query::Files("mon".into()), Listing::Files { hits, total: 1204, complete: true });
    let text = "use std::ops::{Add, Mul};\n\n/// An amount in the smallest unit of its currency.\n#[derive(Clone, Copy, \
                Debug, PartialEq, Eq)]\npub struct Money {\n    pub cents: i64,\n    pub currency: Currency,\n}\n\n\
                impl Money {\n    pub const ZERO: Money = Money::new(0, Currency::Eur);\n";
    let listing = Listing::Text { path: "src/money.rs".into(), text: Some(text.into()), lines: 96, bytes: 2_700 };
    stage.answer(|q| matches!(q, Query::Text(_)), listing);
}

/// Frame 07: the sessions at start.
pub fn choosing(stage: &mut Stage) {
    let mut calm = status();
    (calm.tokens, calm.cost) = (0, None);
    stage.tell(EventBody::Status(calm));
    let rows = [
        ("load prices in one query", 24, "gpt-4.1-mini", 9, SessionState::Open),
        ("round half to even", 11, "gpt-4.1-nano", 52, SessionState::Ended),
        ("sell gift cards", 38, "gpt-4.1-mini", 130, SessionState::InUse),
        ("why is checkout slow on Mondays?", 7, "gpt-4.1-nano", 310, SessionState::Ended),
        ("在庫の単位テストを書く", 19, "qwen3-coder:30b", 1500, SessionState::Ended),
        ("prices table and its migration, with a way back", 33, "gpt-4.1-mini", 1600, SessionState::Ended),
    ];
    let rows: Vec<SessionRow> = rows
        .into_iter()
        .enumerate()
        .map(|(i, (title, messages, model, minutes, state))| SessionRow {
            id: format!("s{i}"),
            title: title.into(),
            state,
            messages,
            model: model.into(),
            at: NOW - minutes * 60 * SECOND,
        })
        .collect();
    stage.answer(|q| matches!(q, Query::Sessions(_)), Listing::Sessions(rows));
    let preview = SessionPreview {
        id: "s0".into(),
        items: vec![
            Item::User { text: "Good. Now the same for the wish list.".into(), at: NOW - 300_000, attached: vec![] },
            Item::Answer {
                text: "The wish list has no prices of its own: it renders Cart::total of its lines, so it is \
                       already one query. I would only add a test."
                    .into(),
            },
            Item::User { text: "Thanks.".into(), at: NOW - 120_000, attached: vec![] },
        ],
        files: vec![
            ("src/cart.rs".into(), OnDisk::Changed { at: Some(NOW - 60_000) }),
            ("src/catalog.rs".into(), OnDisk::AsLeft),
        ],
        cost: Some(Cost { dollars: 0.11, estimated: true, partial: false }),
        counts: Counts { added: 63, removed: 21 },
        state: SessionState::Open,
    };
    stage.answer(|q| matches!(q, Query::Preview(_)), Listing::Preview(preview));
}

/// Frame 20: no model.
pub fn without_model(stage: &mut Stage) {
    let mut without = status();
    (without.model, without.tokens, without.cost) = (None, 0, None);
    without.tried = vec![11434, 8080, 1234, 8000];
    stage.tell(opened(without));
}

/// Frame 10: what goes wrong.
pub fn failing(stage: &mut Stage) {
    stage.tell(opened(status()));
    stage.tell(EventBody::TurnStarted(TurnId(1)));
    stage.item(Item::User { text: "Load all prices in one query.".into(), at: NOW - 220_000, attached: vec![] });
    let mut refused = call("replaceInFile", "src/cart.rs", CallState::Refused);
    refused.reason = Some("changed on disk at 12:06:02, one line".into());
    refused.took = Some(Duration::from_millis(4));
    stage.item(Item::Call(refused));
    stage.item(Item::Notice(Notice {
        level: Level::Broken,
        title: "the answer broke off: api.openai.com closed the connection".into(),
        detail: "What arrived is kept above.".into(),
        actions: vec![NoticeAction::Continue, NoticeAction::Retry],
        cause: Default::default(),
    }));
    stage.tell(EventBody::Retrying(Some(Wait {
        attempt: 3,
        of: 5,
        until: NOW + 8 * SECOND,
        why: "api.openai.com: rate limited (429)".into(),
        cause: Default::default(),
    })));
}
