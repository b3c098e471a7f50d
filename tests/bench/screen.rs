//! The cost of the chat: an answer streamed onto the screen, and keys in a long conversation, idle and under a stream.
//! `cargo bench --bench screen`. Times are of the processor, not of the clock, where the system tells them.

use std::time::Instant;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use nebula::protocol::{Event, EventBody, Item, ItemId, SessionInfo, Status, TurnId};
use nebula::tui::app::{App, Msg, Options};
use nebula::tui::text::highlight::Highlighter;
use nebula::tui::theme::Depth;
use nebula::tui::view;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Bytes of a token, by rule of thumb.
const TOKEN: usize = 4;
const TOKENS: usize = 20_000;

/// The whole screen on a backend in memory.
struct Screen {
    buffer: Buffer,
    app: App,
    next: u64,
}

impl Screen {
    fn new(width: u16, height: u16, colours: Highlighter) -> Self {
        let buffer = Buffer::empty(Rect::new(0, 0, width, height));
        let options = Options { theme: Some("dark".into()), ..Options::default() };
        let (mut app, _) = App::new(options, Depth::True, colours, 0);
        app.update(Msg::Resize(width, height));
        let info = SessionInfo {
            id: "1".into(),
            title: None,
            resumed: 0,
            status: Status { model: Some("bench".into()), ..Status::default() },
        };
        app.update(Msg::Agent(event_of(EventBody::Opened(info))));
        Screen { buffer, app, next: 0 }
    }

    fn tell(&mut self, event: EventBody) {
        self.app.update(Msg::Agent(event_of(event)));
    }

    fn add(&mut self, item: Item) -> ItemId {
        self.next += 1;
        self.tell(EventBody::Added(ItemId(self.next), item));
        ItemId(self.next)
    }

    fn key(&mut self, code: KeyCode, modifiers: KeyModifiers) {
        self.app.update(Msg::Key(KeyEvent::new(code, modifiers)));
        self.draw();
    }

    fn draw(&mut self) {
        view::paint_screen(&self.app, &mut self.buffer);
    }
}

/// Markdown as models write it: paragraphs, lists, code, a table.
fn markdown(bytes: usize) -> String {
    let mut text = String::new();
    let mut n = 0;
    while text.len() < bytes {
        n += 1;
        text.push_str(&format!(
            "## Part {n}\n\nThe page asks `price_of` once per line, so a cart of **forty** lines costs forty round trips; \
             the query below asks once. Afterwards nothing else has to change, and the tests stay as they are.\n\n\
             - `Catalog::prices` takes every id\n- `Cart::total` looks each price up\n- a missing price is an error\n\n\
             ```rust\n/// The prices of several products, in one query.\npub async fn prices(&self, ids: &[ProductId]) -> Result<Prices> {{\n    \
             sqlx::query_as(PRICES_BY_IDS) // id = any($1)\n        .bind(ids)\n        .fetch_all(&self.pool)\n        .await\n}}\n```\n\n\
             価格を一回の問い合わせで読み込みます。四十行のカートでも往復は一回だけです。\n\n"
        ));
    }
    while !text.is_char_boundary(bytes) {
        text.push(' ');
    }
    text
}

fn chunks(text: &str, bytes: usize) -> Vec<String> {
    let (mut out, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let mut end = (at + bytes).min(text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        out.push(text[at..end].to_string());
        at = end;
    }
    out
}

/// Milliseconds of processor time of all threads so far; of the clock where that is unknown.
fn processor(start: Instant) -> f64 {
    let nanoseconds = |task: std::fs::DirEntry| -> Option<f64> {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse().ok()
    };
    match std::fs::read_dir("/proc/self/task") {
        Ok(tasks) => tasks.flatten().filter_map(nanoseconds).sum::<f64>() / 1e6,
        Err(_) => start.elapsed().as_secs_f64() * 1e3,
    }
}

/// One answer of 20,000 tokens; drawn after every `each` tokens.
fn stream(name: &str, each: usize, text: &str, colours: Highlighter) -> Screen {
    let start = Instant::now();
    let mut screen = Screen::new(140, 40, colours);
    screen.draw();
    let before = processor(start);
    screen.tell(EventBody::TurnStarted(TurnId(1)));
    let id = screen.add(Item::Answer { text: String::new() });
    let mut draws = 0;
    // The loop joins what has arrived since the last frame.
    for chunk in chunks(text, TOKEN * each) {
        screen.tell(EventBody::Grew(id, chunk));
        screen.draw();
        draws += 1;
    }
    screen.draw();
    println!("{name:44} {draws:6} draws {:9.1} ms", processor(start) - before);
    screen
}

fn percentile(times: &mut [f64], of: f64) -> f64 {
    times.sort_by(f64::total_cmp);
    times[((times.len() - 1) as f64 * of) as usize]
}

/// A conversation of at least this many lines.
fn conversation(lines: usize) -> Screen {
    let mut screen = Screen::new(140, 40, Highlighter::new(|| ()));
    let answer = markdown(1_200);
    let per_answer = answer.lines().count();
    let mut events = Vec::new();
    for n in 0..lines / (per_answer + 2) + 1 {
        let question = format!("question {n}: what about the cart?");
        for item in [Item::User { text: question, at: 0, attached: Vec::new() }, Item::Answer { text: answer.clone() }]
        {
            screen.next += 1;
            events.push(Msg::Agent(event_of(EventBody::Added(ItemId(screen.next), item))));
        }
    }
    // As many at once as the loop takes in.
    while !events.is_empty() {
        let rest = events.split_off(events.len().min(256));
        screen.app.update_all(std::mem::replace(&mut events, rest));
    }
    screen
}

/// Keys in a long conversation: from the key to the drawn frame.
fn keys(name: &str, lines: usize, streaming: bool) {
    let start = Instant::now();
    let mut screen = conversation(lines);
    println!("{:44} {:23.1} ms", format!("{name}: taken in"), start.elapsed().as_secs_f64() * 1e3);
    let first = Instant::now();
    screen.draw();
    println!("{:44} {:23.2} ms", format!("{name}: first frame"), first.elapsed().as_secs_f64() * 1e3);
    screen.tell(EventBody::TurnStarted(TurnId(1)));
    let id = screen.add(Item::Answer { text: String::new() });
    let text = markdown(TOKEN * TOKENS);
    // 2,000 tokens a second are 16 in the 8 ms between two frames.
    let mut more = chunks(&text, TOKEN * 16).into_iter().cycle();
    // Keys go to the chat.
    screen.key(KeyCode::F(5), KeyModifiers::NONE);
    let none = KeyModifiers::NONE;
    let (up, half) = ((KeyCode::Up, none), (KeyCode::Char('u'), KeyModifiers::CONTROL));
    let near = [up, half, (KeyCode::PageUp, none), (KeyCode::Down, none), (KeyCode::PageUp, none), half];
    let far = [(KeyCode::Home, none), (KeyCode::End, none)];
    let mut times = Vec::new();
    for n in 0..2_000 {
        if streaming {
            screen.tell(EventBody::Grew(id, more.next().unwrap_or_default()));
            screen.draw();
        }
        // Mostly small steps; the far jumps come now and then.
        let (code, modifiers) = if n % 50 == 49 { far[n / 50 % 2] } else { near[n % 6] };
        let key = Instant::now();
        screen.key(code, modifiers);
        times.push(key.elapsed().as_secs_f64() * 1e3);
    }
    let (half, most) = (percentile(&mut times, 0.5), percentile(&mut times, 0.99));
    println!("{:44} p50 {half:6.2} ms p99 {most:6.2} ms", format!("{name}: key to frame"));
    let resize = Instant::now();
    screen.buffer.resize(Rect::new(0, 0, 100, 30));
    screen.app.update(Msg::Resize(100, 30));
    screen.draw();
    println!("{:44} {:23.2} ms", format!("{name}: resized"), resize.elapsed().as_secs_f64() * 1e3);
}

/// Resident memory in MB, where the system tells it.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

/// What one block of Rust costs: grammars, and the regexes its lines need.
fn memory() {
    let (ready, wake) = std::sync::mpsc::channel();
    let colours = Highlighter::new(move || {
        let _ = ready.send(());
    });
    let mut screen = Screen::new(140, 40, colours);
    screen.draw();
    let before = resident();
    let start = Instant::now();
    screen.add(Item::Answer { text: markdown(1_000) });
    screen.draw();
    let _ = wake.recv_timeout(std::time::Duration::from_secs(5));
    let took = start.elapsed().as_secs_f64() * 1e3;
    println!("{:44} {before:9.1} MB {:9.1} MB, {took:.0} ms", "resident before, after one block of Rust", resident());
}

fn main() {
    memory();
    let text = markdown(TOKEN * TOKENS);
    let worker = || Highlighter::new(|| ());
    // Kept alive, so that their threads are counted throughout.
    let mut measurements = vec![stream("20,000 tokens, a frame every 16, no colours", 16, &text, Highlighter::off())];
    measurements.push(stream("20,000 tokens, a frame every 16", 16, &text, worker()));
    measurements.push(stream("20,000 tokens, a frame every token", 1, &text, worker()));
    let code = format!("```rust\n{}", "    let price = self.prices.get(&id).ok_or(Error::Missing)?;\n".repeat(1_300));
    measurements.push(stream("one code block, a frame every 16 tokens", 16, &code, worker()));
    let prose = "a paragraph without an end ".repeat(200).repeat(15);
    measurements.push(stream("one paragraph, a frame every 16 tokens", 16, &prose[..TOKEN * 5_000], worker()));
    drop(measurements);
    for lines in [1_000, 100_000] {
        keys(&format!("{lines} lines, idle"), lines, false);
        keys(&format!("{lines} lines, streaming"), lines, true);
    }
}

fn event_of(body: EventBody) -> Event {
    Event { session: None, body }
}
