#!/usr/bin/env python3
"""Measures the built program as a person meets it: in a pseudo-terminal, against a scripted model on loopback.

    cargo build --release && python3 tests/measure.py [NAME …]      # names as printed; none: all

Prints one figure a line with its unit. Wall times of a loaded machine say little: run it on a quiet one.
Needs Linux (/proc) and Python 3.9; nothing else.
"""
import fcntl
import hashlib
import http.server
import json
import os
import pty
import random
import re
import resource
import select
import shutil
import signal
import sqlite3
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BINARY = os.path.abspath(os.environ.get("NEBULA", os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "release/nebula")))
TICKS = os.sysconf("SC_CLK_TCK")


def uuid7(ms, n):
    """The n-th id of a millisecond."""
    digits = f"{(ms << 80) | (7 << 76) | (2 << 62) | n:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def percentile(values, p):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * p))]


WIRES = ("chat", "responses", "anthropic", "gemini", "ollama")


def spoken(wire, delta, finish):
    """A delta of Chat Completions in the words of another wire format: the values of its events."""
    text = delta.get("content")
    function = delta["tool_calls"][0]["function"] if "tool_calls" in delta else None
    arguments = json.loads(function["arguments"]) if function else None
    name = f"c{time.monotonic_ns()}"
    if wire == "chat":
        yield {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    elif wire == "responses":
        if text:
            yield {"type": "response.output_text.delta", "output_index": 0, "delta": text}
        if function:
            item = {"type": "function_call", "call_id": name, "name": function["name"], "arguments": function["arguments"]}
            yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        if finish:
            yield {"type": "response.completed", "response": {"status": "completed", "output": [], "usage": {"input_tokens": 9, "output_tokens": 9}}}
    elif wire == "anthropic":
        if text:
            yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
        if function:
            yield {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": name, "name": function["name"], "input": {}}}
            yield {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": function["arguments"]}}
            yield {"type": "content_block_stop", "index": 1}
        if finish:
            yield {"type": "message_delta", "delta": {"stop_reason": "end_turn" if finish == "stop" else "tool_use"}, "usage": {"output_tokens": 9}}
            yield {"type": "message_stop"}
    elif wire == "gemini":
        part = {"functionCall": {"name": function["name"], "args": arguments}} if function else {"text": text}
        content = {"role": "model", "parts": [part] if text or function else []}
        yield {"candidates": [{"content": content, **({"finishReason": "STOP"} if finish else {})}]}
    else:
        calls = [{"function": {"name": function["name"], "arguments": arguments}}] if function else []
        message = {"role": "assistant", "content": text or "", **({"tool_calls": calls} if calls else {})}
        yield {"message": message, "done": bool(finish), **({"done_reason": "stop"} if finish else {})}


def framed(wire, n, delta, finish):
    """The bytes of a delta as the server of a wire format sends them; `n`: which of its answer it is."""
    events = list(spoken(wire, delta, finish))
    if wire == "anthropic" and n == 0:
        block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        events = [{"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 9, "output_tokens": 1}}}, block, *events]
    if wire == "ollama":
        return b"".join(json.dumps(event).encode() + b"\n" for event in events)
    named = lambda event: f"event: {event['type']}\n".encode() if wire in ("responses", "anthropic") else b""
    data = b"".join(named(event) + b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    return data + (b"data: [DONE]\n\n" if wire == "chat" and finish else b"")


class Model:
    """A server of a wire format whose answers are a function of the number of the request."""

    def __init__(self, answer, wire="chat", at_once=False):
        self.answer, self.wire, self.count, self.ended, self.begun = answer, wire, 0, None, None
        # From the end of a response to the next request: to its first bytes, and to its last.
        self.firsts, self.gaps = [], []
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = 0
            # Or a head and its body, written apart, wait for each other.
            disable_nagle_algorithm = True

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.whole(b'{"data":[{"id":"measured"}],"models":[{"name":"models/measured","model":"measured"}]}')

            def whole(self, body):
                self.send_response(200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def parse_request(self):
                # What this server takes to read the headers is no part of it.
                self.arrived = time.perf_counter()
                return super().parse_request()

            def do_POST(self):
                if self.path.endswith("/api/show"):
                    self.rfile.read(int(self.headers.get("content-length", 0)))
                    return self.whole(b'{"model_info":{}}')
                if model.ended:
                    model.firsts.append(self.arrived - model.ended)
                left = int(self.headers.get("content-length", 0))
                while left:
                    left -= len(self.rfile.read(min(left, 1 << 20)))
                if model.ended:
                    model.gaps.append(time.perf_counter() - model.ended)
                self.connection.setsockopt(6, 1, 1)
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                n = model.count
                model.count += 1
                whole = b""
                model.begun = time.perf_counter()
                for at, (delta, finish) in enumerate(model.answer(n)):
                    data = framed(model.wire, at, delta, finish)
                    if at_once:
                        whole += data
                    else:
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                if at_once:
                    model.begun = time.perf_counter()
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(whole), whole))
                model.ended = time.perf_counter()
                self.wfile.write(b"0\r\n\r\n")

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        # A program that is killed in the middle of an answer is part of measuring.
        self.server.handle_error = lambda *_: None
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.url = f"{self.address}/v1"


def say(text):
    return [({"content": text}, None), ({}, "stop")]


def call(name, arguments):
    piece = {"index": 0, "id": f"c{time.monotonic_ns()}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return [({"tool_calls": [piece]}, None), ({}, "tool_calls")]


class World:
    """A home and a workspace of their own."""

    def __init__(self, url=None):
        # The sandbox of a command gets a rule for each neighbour of a folder on the way to the home folder: in /tmp they
        # may be thousands.
        self.dir = tempfile.mkdtemp(prefix="nebula-measure-", dir=os.environ.get("TMPDIR", "/var/tmp"))
        self.home, self.work = os.path.join(self.dir, "home"), os.path.join(self.dir, "work")
        os.makedirs(self.home)
        os.makedirs(os.path.join(self.work, ".git"))
        self.env = {"HOME": self.home, "PATH": os.environ["PATH"], "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
        os.makedirs(os.path.join(self.home, ".nebula"))
        with open(os.path.join(self.home, ".nebula", "config.json"), "w") as f:
            json.dump({"model": "measured", "models": {"measured": {"contextWindow": 100_000_000}}}, f)
        if url:
            self.env["OPENAI_BASE_URL"] = url
            self.env["OPENAI_API_KEY"] = "measured"

    def write(self, path, text):
        path = os.path.join(self.work, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)

    def connect(self, model):
        """Asks this server in its own wire format."""
        config = {"model": "measured", "provider": "measured", "models": {"measured": {"contextWindow": 100_000_000}},
                  "providers": {"measured": {"wire": model.wire, "baseUrl": model.address, "model": "measured"}}}
        with open(os.path.join(self.home, ".nebula", "config.json"), "w") as f:
            json.dump(config, f)

    def run(self, *args):
        return subprocess.run([BINARY, *args], cwd=self.work, env=self.env, stdin=subprocess.DEVNULL, capture_output=True)

    def sessions(self, count):
        """Past sessions, made by the program itself with a recorded model."""
        recording = os.path.join(self.dir, "hello.jsonl")
        with open(recording, "w") as f:
            f.write('{"recording":1,"model":"measured","provider":"replay"}\n{"step":1}\n')
            f.write('{"ms":0,"delta":{"text":"Hello."}}\n{"ms":0,"delta":{"end":"stop"}}\n')
        for i in range(count):
            done = self.run("task", "--replay", recording, f"hello number {i}")
            if done.returncode:
                sys.exit(f"task failed: {done.stderr.decode()}")

    def database(self):
        """Memory as the program made it, to be filled with more than it would say in a reasonable time."""
        self.run("sessions", "list")
        return sqlite3.connect(os.path.join(self.home, ".nebula", "memory.db"))

    def archive(self, files, changesets, each):
        """An archive of so many changesets of files, and what memory knows of it."""
        folder = os.path.join(self.work, ".shaft", "archives")
        os.makedirs(folder)
        begun = int(time.time() * 1000) - changesets * 1000
        records, rows, made = [], [], set()
        for n in range(changesets):
            now, paths = begun + n * 1000, []
            for f in range(each):
                i = (n * each + f) % files
                path, version = f"src/module{i % 100}/file{i}.rs", uuid7(now, f)
                of_path = os.path.join(folder, hashlib.sha256(path.encode()).hexdigest())
                if i not in made:
                    os.makedirs(of_path)
                    made.add(i)
                with open(os.path.join(of_path, f"{version}.rs"), "w") as out:
                    out.write(f"{n}\n")
                paths.append(path)
                rows.append((n + 1, path, version, hashlib.sha256(f"{n}\n".encode()).digest()))
            with open(os.path.join(folder, f"{uuid7(now, each)}.txt"), "w") as out:
                out.writelines(f"{path}\n" for path in paths)
            records.append((n + 1, uuid7(now, each), self.work, f"change {n}", now, each, each))
        with self.database() as db:
            db.executemany("INSERT INTO changesets(n, id, project_path, kind, title, state, at_ms, added, removed) "
                           "VALUES(?, ?, ?, 'edit', ?, 'applied', ?, ?, ?)", records)
            db.executemany("INSERT INTO changeset_files(n, path, version, sha256, added, removed) "
                           "VALUES(?, ?, ?, ?, 1, 1)", rows)
        db.close()

    def long_session(self, count, last):
        """One session of so many messages: questions, calls with their results, answers with code."""
        begun = int(time.time() * 1000) - count * 1000
        session, messages, meta = uuid7(begun, 1), [], []
        for i in range(count):
            calls = results = None
            if i % 4 == 0:
                role, text, turn = "user", f"question {i}: what does the cart do with a price that is missing?", i + 1
            elif i % 4 == 1:
                role, text = "assistant", "I'll read the file first."
                arguments = json.dumps({"path": f"src/file{i % 200}.rs"})
                calls = json.dumps([{"id": f"c{i}", "name": "readFile", "arguments": arguments}])
            elif i % 4 == 2:
                role, text = "tool", "".join(f"    let line_{n} = compute({n});\n" for n in range(30))
                results = json.dumps([{"id": f"c{i - 1}", "name": "readFile", "ok": True}])
            else:
                role = "assistant"
                text = (f"## Part {i}\n\nThe page asks `price_of` once per line, so **forty** lines cost forty round trips.\n\n"
                        f"- `prices` takes every id\n- a missing price is an error\n\n```rust\npub fn part_{i}() {{}}\n```\n")
            if i == count - 1:
                role, text, calls, results = "assistant", last, None, None
            messages.append((i + 1, session, role, text, calls, results))
            meta.append((i + 1, begun + i * 1000, turn))
        with self.database() as db:
            db.execute("INSERT INTO sessions(id, ended_at, project_path, model_used) VALUES(?, datetime('now'), ?, 'measured')",
                       (session, self.work))
            db.execute("INSERT INTO session_meta(session_id, title, messages, updated_ms) VALUES(?, 'long', ?, ?)",
                       (session, count * 3 // 4, begun))
            db.executemany("INSERT INTO messages(id, session_id, role, content, tool_calls, tool_results) "
                           "VALUES(?, ?, ?, ?, ?, ?)", messages)
            db.executemany("INSERT INTO message_meta(message_id, at_ms, state, turn, indexed) "
                           "VALUES(?, ?, 'complete', ?, 1)", meta)
        db.close()

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)


class Screen:
    """The program in a pseudo-terminal of 140 by 40 cells if nothing else is said, whose line discipline does not echo."""

    def __init__(self, world, *args, columns=140):
        self.seen, self.bytes, self.frames = b"", 0, 0
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            time.sleep(0.02)
            os.chdir(world.work)
            os.execve(BINARY, [BINARY, *args], world.env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        mode = termios.tcgetattr(self.fd)
        mode[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(self.fd, termios.TCSANOW, mode)
        end = time.monotonic() + 5
        while os.readlink(f"/proc/{self.pid}/exe") != os.path.realpath(BINARY) and time.monotonic() < end:
            pass
        self.begun = time.perf_counter()

    def read(self, seconds):
        if not select.select([self.fd], [], [], max(0, seconds))[0]:
            return False
        try:
            more = os.read(self.fd, 1 << 16)
        except OSError:
            return False
        self.seen += more
        self.bytes += len(more)
        # Every frame is one synchronized update.
        self.frames += more.count(b"\x1b[?2026h")
        return True

    def wait_for(self, text, seconds=30):
        """When a text, or what a pattern of bytes matches, is there."""
        text = text.encode() if isinstance(text, str) else text
        there = (lambda: text in self.seen) if isinstance(text, bytes) else lambda: text.search(self.seen)
        end = time.perf_counter() + seconds
        while not there():
            if time.perf_counter() > end:
                self.kill()
                sys.stderr.buffer.write(self.seen[-3000:])
                sys.exit(f"\n{text!r} did not appear")
            self.read(0.5)
        return time.perf_counter()

    def settle(self, quiet=0.3):
        while self.read(quiet):
            pass
        self.seen = b""

    def key(self, keys):
        """Types something the screen does not show yet; seconds until it does."""
        self.seen = b""
        keys = keys.encode()
        begun = time.perf_counter()
        os.write(self.fd, keys)
        return self.wait_for(keys) - begun

    def cpu(self):
        with open(f"/proc/{self.pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def drawing(self):
        """CPU seconds of the thread that draws, to the nanosecond."""
        with open(f"/proc/{self.pid}/task/{self.pid}/schedstat") as f:
            return int(f.read().split()[0]) / 1e9

    def faults(self):
        """Page faults so far that read nothing from a disk."""
        with open(f"/proc/{self.pid}/stat") as f:
            return int(f.read().rsplit(")", 1)[1].split()[7])

    def memory(self):
        with open(f"/proc/{self.pid}/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmRSS")) / 1024

    def proportional(self):
        """Memory that is the program's own, and its share of what it has in common with others."""
        with open(f"/proc/{self.pid}/smaps_rollup") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("Pss:")) / 1024

    def switches(self):
        """Context switches of each thread so far."""
        found = {}
        for task in os.listdir(f"/proc/{self.pid}/task"):
            with open(f"/proc/{self.pid}/task/{task}/status") as f:
                found[task] = sum(int(line.split()[1]) for line in f if "ctxt_switches" in line)
        return found

    def kill(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except OSError:
            pass
        os.close(self.fd)


FRESH = [chr(c) for c in range(0x0400, 0x0460)]  # Cyrillic: on no screen of ours


def start():
    """start to the echo of a typed key in a project with 300 sessions: a new session, and --continue"""
    world = World(Model(lambda n: say("Hello.")).url)
    world.sessions(300)
    for name, args in ("start to echo", []), ("start --continue to echo", ["--continue"]):
        times = []
        for _ in range(20):
            screen = Screen(world, *args)
            os.write(screen.fd, FRESH[0].encode())
            times.append(screen.wait_for(FRESH[0]) - screen.begun)
            screen.kill()
        print(f"{name:<29} {statistics.median(times) * 1000:8.1f} ms (median of 20)")
    world.close()


def first():
    """start to the echo of a typed key in a project with 300 past sessions, which stand below the prompt"""
    world = World(Model(lambda n: say("Hello.")).url)
    world.sessions(300)
    for columns in 140, 80:
        times = []
        for _ in range(20):
            screen = Screen(world, columns=columns)
            os.write(screen.fd, FRESH[0].encode())
            times.append(screen.wait_for(FRESH[0]) - screen.begun)
            screen.kill()
        print(f"start to echo, 300 sessions   {statistics.median(times) * 1000:8.1f} ms (median of 20, {columns} columns)")
    world.close()


def resume():
    """start to the last message of a session of 10,000"""
    world = World(Model(lambda n: say("Hello.")).url)
    world.long_session(10_000, "The last of all: READ-ME-LAST.")
    times = []
    for _ in range(20):
        screen = Screen(world, "--continue")
        times.append(screen.wait_for("READ-ME-LAST") - screen.begun)
        screen.kill()
    world.close()
    print(f"resume of 10,000 messages     {statistics.median(times) * 1000:8.1f} ms (median of 20)")


def history():
    """history of 100,000 versions of 10,000 files, the whole command, into a file"""
    world = World()
    world.archive(10_000, 10_000, 10)
    for args in ["history"], ["history", "--json"]:
        times = []
        for _ in range(20):
            with open(os.path.join(world.dir, "listing"), "w") as out:
                begun = time.perf_counter()
                done = subprocess.run([BINARY, *args], cwd=world.work, env=world.env, stdin=subprocess.DEVNULL, stdout=out)
                times.append(time.perf_counter() - begun)
            if done.returncode or os.path.getsize(os.path.join(world.dir, "listing")) < 1_000_000:
                sys.exit(f"{args} failed")
        print(f"{' '.join(args):30}{statistics.median(times) * 1000:8.1f} ms (median of 20)")
    world.close()


def completion():
    """a key after @ to the list, over 1,000,000 files"""
    world = World(Model(lambda n: say("Hello.")).url)
    words = ["core", "main", "parser", "index", "render", "widget", "config", "utils", "model", "view"]
    for i in range(1000):
        folder = os.path.join(world.work, f"packages/{words[i % 10]}{i}/{words[i // 10 % 10]}")
        os.makedirs(folder)
        for n in range(1000):
            os.close(os.open(f"{folder}/{words[n % 10]}_{i * 1000 + n}.rs", os.O_CREAT | os.O_WRONLY))
    screen = Screen(world, "--continue")
    screen.settle()
    os.write(screen.fd, b"@")
    # The list is told again and again until the walk is over.
    screen.settle(1)
    # Each frame ends so: the first shows the key, the second the list.
    frames = re.compile(rb"\x1b\[\?2026l.*\x1b\[\?2026l", re.DOTALL)
    times = []
    for query in "widget_4", "parser999999", "mainview.rs", "packagesrenderconfig_7":
        for key in query:
            begun = time.perf_counter()
            os.write(screen.fd, key.encode())
            times.append(screen.wait_for(frames) - begun)
            screen.settle()
        for keys in b"\x1b", b"\x15", b"@":
            os.write(screen.fd, keys)
            screen.settle()
    screen.kill()
    world.close()
    print(f"@ over 1,000,000 files        {statistics.median(times) * 1000:8.1f} ms median of keys {max(times) * 1000:8.1f} ms most")


def rag():
    """Enter to the model's request with `@rag` words over 100,000 files, and without"""
    model = Model(lambda n: say("Hello."))
    world = World(model.url)
    chance = random.Random(7)
    topics = ["price", "cart", "total", "catalog", "order", "customer", "在庫", "価格表", "round", "cents"]
    for i in range(100_000):
        words = " ".join(f"word{chance.randrange(40_000)}" for _ in range(30))
        world.write(f"src/m{i % 97}/f{i}.rs", f"// {words} {chance.choice(topics)}\n")
    begun = time.perf_counter()
    world.run("rag", "update")
    print(f"@rag: 100,000 files indexed   {time.perf_counter() - begun:8.1f} s")
    begun = time.perf_counter()
    world.run("rag", "update")
    print(f"@rag: looked at again         {time.perf_counter() - begun:8.2f} s")
    screen = Screen(world)
    screen.wait_for("›")
    screen.settle()
    rows = {"plain": [], "@rag": []}
    queries = ["word123 word4567", "how is the total of a cart rounded", "在庫 価格", "word39999 customer"]
    for i in range(60):
        name = "@rag" if i % 2 else "plain"
        os.write(screen.fd, (f"@rag {queries[i // 2 % 4]}" if i % 2 else "how is that").encode())
        time.sleep(0.3)
        asked = model.count
        begun = time.perf_counter()
        os.write(screen.fd, b"\r")
        while model.count == asked:
            screen.read(0.0002)
            if time.perf_counter() - begun > 30:
                sys.exit("no request came")
        rows[name].append(time.perf_counter() - begun)
        # What the index does beside is over before the next one, as with a person.
        screen.settle(1.5)
    screen.kill()
    world.close()
    for name, times in rows.items():
        print(f"Enter to request, {name:6}      {percentile(times, 0.5) * 1000:8.1f} ms p50  {max(times) * 1000:8.1f} ms worst")


def keys():
    """key to painted character, idle"""
    world = World(Model(lambda n: say("Hello.")).url)
    screen = Screen(world)
    screen.wait_for("›")
    screen.settle()
    times = []
    for i in range(400):
        times.append(screen.key(FRESH[i % len(FRESH)]))
        if i % 40 == 39:
            os.write(screen.fd, b"\x15")
            screen.settle(0.05)
    screen.kill()
    world.close()
    print(f"key to paint, idle            {percentile(times, 0.5) * 1000:8.2f} ms p50  {percentile(times, 0.99) * 1000:8.2f} ms p99")


def busy():
    """key to painted character while 2,000 tokens a second stream in under 100,000 lines"""
    def answer(n):
        if n == 0:
            for i in range(1000):
                yield {"content": "".join(f"line {i * 100 + k} of a long answer\n\n" for k in range(50))}, None
            yield {"content": "QUITE-DONE"}, None
            yield {}, "stop"
            return
        end, n = time.monotonic() + 12, 0
        while time.monotonic() < end:
            n += 1
            yield {"content": f"word{n} more{n * n} words{n % 7} then "}, None
            time.sleep(0.002)
        yield {}, "stop"

    world = World(Model(answer).url)
    screen = Screen(world, "first")
    screen.wait_for("QUITE-DONE", 60)
    screen.settle(1)
    os.write(screen.fd, b"again\r")
    screen.wait_for("words3 then", 10)
    times = []
    for i in range(300):
        times.append(screen.key(FRESH[i % len(FRESH)]))
        if i % 40 == 39:
            os.write(screen.fd, b"\x15")
        time.sleep(0.01)
    screen.kill()
    world.close()
    print(f"key to paint, streaming       {percentile(times, 0.5) * 1000:8.2f} ms p50  {percentile(times, 0.99) * 1000:8.2f} ms p99")


def frames():
    """CPU of one frame while an answer streams in: of the thread that draws, and of all that the program does between two of them"""
    def answer(_):
        end, n = time.monotonic() + 10, 0
        while time.monotonic() < end:
            n += 1
            # Words of their own: an answer that repeats itself is cut.
            yield {"content": f"a few **words{n}** and `code {n * n}` more " + ("\n\n" if n % 12 == 0 else "")}, None
            time.sleep(0.01)
        yield {"content": "\n\nTHE-END"}, None
        yield {}, "stop"

    world = World(Model(answer).url)
    screen = Screen(world)
    screen.wait_for("›")
    screen.settle()
    drawing, cpu, seen = screen.drawing(), screen.cpu(), screen.frames
    os.write(screen.fd, b"go\r")
    screen.wait_for("THE-END", 60)
    drawing, cpu, seen = screen.drawing() - drawing, screen.cpu() - cpu, screen.frames - seen
    print(f"frame while streaming         {drawing / seen * 1000:8.2f} ms of CPU to draw it (reach: 0.4)  {cpu / seen * 1000:.2f} with the wire and the agent ({seen} frames)")
    screen.kill()
    world.close()


def long_answer():
    """20,000 tokens of Markdown."""
    lines = []
    while sum(len(x) for x in lines) < 80_000:
        n = len(lines)
        lines += [f"## Part {n}\n\n", "Some **bold** words and `code` in a paragraph that is long enough to wrap at the width.\n\n",
                  f"- first point {n}\n- second point\n\n", "```rust\n", f"fn part_{n}() -> usize {{ {n} }}\n", "```\n\n"]
    return "".join(lines)


def markdown():
    """a 20,000-token Markdown answer: CPU on screen and headless, bytes for the terminal, and until it is whole"""
    text = long_answer()

    def answer(_):
        for i in range(0, len(text), 4):
            yield {"content": text[i:i + 4]}, None
        yield {"content": "\n\nTHE-END"}, None
        yield {}, "stop"

    world = World(Model(answer).url)
    screen = Screen(world)
    screen.wait_for("›")
    screen.settle()
    cpu, written = screen.cpu(), screen.bytes
    os.write(screen.fd, b"go\r")
    screen.wait_for("THE-END", 60)
    screen.settle()
    print(f"20,000 tokens on screen       {screen.cpu() - cpu:8.2f} CPU-s  "
          f"{(screen.bytes - written) / (1 << 20):.2f} MiB to the terminal")
    screen.kill()
    world.close()

    times, cpus, sizes = [], [], []
    for _ in range(5):
        model = Model(answer, at_once=True)
        world = World(model.url)
        screen = Screen(world)
        screen.wait_for("›")
        screen.settle()
        cpu, written = screen.cpu(), screen.bytes
        os.write(screen.fd, b"go\r")
        times.append(screen.wait_for("THE-END", 60) - model.begun)
        screen.settle()
        cpus.append(screen.cpu() - cpu)
        sizes.append(screen.bytes - written)
        screen.kill()
        world.close()
    print(f"20,000 tokens at once         {statistics.median(times):8.2f} s until whole  {statistics.median(cpus):.2f} CPU-s  "
          f"{statistics.median(sizes) / (1 << 20):.2f} MiB to the terminal (medians of 5)")

    world = World(Model(answer, at_once=True).url)
    used = []
    for words in ["--version"], ["task", "go"]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = world.run(*words)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            sys.exit(f"{done.args} failed: {done.stderr.decode()[-2000:]}")
        used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    print(f"20,000 tokens headless        {used[1]:8.3f} CPU-s for the whole command ({used[0]:.3f} to start and print a version)")
    world.close()


def idle():
    """memory and wake-ups after ten seconds of rest, after a short session with one Rust block, and the first key then"""
    world = World(Model(lambda n: say("Here:\n\n```rust\nfn main() { println!(\"hello\"); }\n```\n\nDONE-NOW")).url)
    screen = Screen(world)
    screen.wait_for("›")
    screen.settle()
    os.write(screen.fd, b"go\r")
    screen.wait_for("DONE-NOW")
    screen.settle(2)
    cpu, switches = screen.cpu(), screen.switches()
    busy = screen.proportional()
    time.sleep(10)
    print(f"memory at rest                {screen.proportional():8.1f} MiB proportional  {screen.memory():.1f} MiB resident  "
          f"({busy:.1f} MiB proportional ten seconds before)")
    # Threads that ended meanwhile woke for that alone.
    woken = sum(count - switches.get(task, 0) for task, count in screen.switches().items())
    print(f"10 s at rest                  {woken:8d} context switches  {screen.cpu() - cpu:.2f} CPU-s")
    # What was given back is mapped again where it is touched.
    faults = screen.faults()
    print(f"key to paint after a rest     {screen.key(FRESH[0]) * 1000:8.2f} ms  {screen.faults() - faults} page faults  "
          f"{screen.proportional():.1f} MiB proportional then")
    screen.kill()
    world.close()


def steps():
    """own time between a response's end and the next request: a read tool, on one file and on another each time, then an edit, 1,000 steps each"""
    count = 1000
    for name, arguments in (
        ("read", lambda n: call("readFile", {"path": "a.txt", "startLine": 1, "endLine": 2 + n})),
        ("file", lambda n: call("readFile", {"path": f"part/f{n}.txt"})),
        ("edit", lambda n: call("replaceInFile", {"path": "a.txt", "search": f"number {n}\n", "replace": f"number {n + 1}\n"})),
    ):
        model = Model(lambda n: arguments(n) if n < count else say("Done."))
        world = World(model.url)
        world.write("a.txt", "number 0\n" + "x" * 1000 + "\n")
        for n in range(count if name == "file" else 0):
            world.write(f"part/f{n}.txt", f"line {n}\n")
        done = world.run("task", "--max-steps", "0", "--approve", "edits", "go")
        if done.returncode:
            sys.exit(f"task failed: {done.stderr.decode()[-2000:]}")
        # A request grows to 1.4 MB: what the loopback and the scripted server take to carry and read it is told apart.
        for gaps, what in (model.gaps, "step, 1,000 in a row"), (model.firsts, "to the request's head"):
            first, last = gaps[:100], gaps[-100:]
            print(f"{name} {what:25}{statistics.median(gaps) * 1000:8.2f} ms median  "
                  f"{statistics.median(first) * 1000:.2f} first 100  {statistics.median(last) * 1000:.2f} last 100")
        world.close()
    with tempfile.TemporaryDirectory(dir=os.path.expanduser("~")) as folder:
        times = []
        for i in range(200):
            begun = time.perf_counter()
            fd = os.open(os.path.join(folder, str(i)), os.O_CREAT | os.O_WRONLY)
            os.write(fd, b"x" * 1024)
            os.fsync(fd)
            os.close(fd)
            times.append(time.perf_counter() - begun)
        print(f"fsync of one new 1 KiB file   {statistics.median(times) * 1000:8.2f} ms median (the disk, not nebula)")


def wires():
    """own time between a response's end and the next request, 1,000 steps of a read tool, each wire format"""
    count = 1000
    for wire in WIRES:
        model = Model(lambda n: call("readFile", {"path": "a.txt", "startLine": 1, "endLine": 2 + n}) if n < count else say("Done."), wire)
        world = World()
        world.connect(model)
        world.write("a.txt", "number 0\n" + "x" * 1000 + "\n")
        done = world.run("task", "--max-steps", "0", "go")
        if done.returncode or len(model.firsts) < count:
            sys.exit(f"task failed over {wire}: {done.stderr.decode()[-2000:]}")
        first, last = model.firsts[:100], model.firsts[-100:]
        print(f"step, {wire:10}              {statistics.median(model.firsts) * 1000:8.2f} ms median  "
              f"{statistics.median(first) * 1000:.2f} first 100  {statistics.median(last) * 1000:.2f} last 100 (reach: 0.5, flat)")
        world.close()


def spent(world, *args):
    """Runs the program; its CPU seconds and its wall seconds."""
    begun = time.perf_counter()
    child = subprocess.Popen([BINARY, *args], cwd=world.work, env=world.env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    wall = time.perf_counter() - begun
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"task failed: {errors.decode()[-2000:]}")
    return used.ru_utime + used.ru_stime, wall


def headless():
    """CPU of `task` for an answer of 20,000 tokens without a screen, each wire format"""
    words = [f"w{n * 7919 % 100_003} " for n in range(20_000)]
    for wire in WIRES:
        model = Model(lambda n: [*(({"content": word}, None) for word in words), ({}, "stop")], wire)
        world = World()
        world.connect(model)
        figures = [spent(world, "task", "go")[0] for _ in range(5)]
        print(f"20,000 tokens, {wire:10}     {statistics.median(figures):8.3f} CPU-s median of 5 (reach: 0.05)")
        world.close()


def oneline():
    """`task` with a one-line answer, start to exit"""
    model = Model(lambda n: say("Hello."))
    world = World()
    world.connect(model)
    spent(world, "task", "go")
    walls = [spent(world, "task", "go")[1] * 1000 for _ in range(30)]
    print(f"task, one line                {statistics.median(walls):8.1f} ms median of 30  {percentile(walls, 0.9):.1f} p90 (reach: 12)")
    world.close()


def guarded(world, text, prepare=None, bare=False):
    """CPU-seconds of a command and all its processes, under the guard or by the shell alone, and the wall time."""
    if prepare:
        subprocess.run(["bash", "-c", prepare], cwd=world.work, check=True, capture_output=True)
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    args = ["bash", "--noprofile", "--norc", "-c", text] if bare else [BINARY, "run", "--", text]
    done = subprocess.run(args, cwd=world.work, env=world.env, stdin=subprocess.DEVNULL, capture_output=True)
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{text} failed: {done.stderr.decode()[-2000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def until_end(world, text, prepare=None, bare=False):
    """CPU-seconds of a command and of its guard up to its end, and the seconds from there until all is sealed."""
    if prepare:
        subprocess.run(["bash", "-c", prepare], cwd=world.work, check=True, capture_output=True)
    text += "; times; cat /proc/$PPID/stat; date +%s.%N"
    args = ["bash", "--noprofile", "--norc", "-c", text] if bare else [BINARY, "run", "--", text]
    done = subprocess.run(args, cwd=world.work, env=world.env, stdin=subprocess.DEVNULL, capture_output=True)
    ended = time.time()
    if done.returncode:
        sys.exit(f"{text} failed: {done.stderr.decode()[-2000:]}")
    lines = done.stdout.decode().splitlines()[-4:]
    own = sum(int(m) * 60 + float(s) for m, s in re.findall(r"(\d+)m([\d.]+)s", " ".join(lines[:2])))
    # The parent of the shell is the helper that guards it.
    fields = lines[2].rsplit(")", 1)[1].split()
    guard = 0 if bare else (int(fields[11]) + int(fields[12])) / TICKS
    return own + guard, ended - float(lines[3])


def commands():
    """commands under the guard: start and end, the cost of a kept file and of a later call, sealing, much output"""
    world = World()
    guarded(world, "true")
    walls = {}
    for name, bare in ("true, bare", True), ("true, guarded", False):
        found = [guarded(world, "true", bare=bare) for _ in range(20)]
        walls[bare] = statistics.median(w for _, w in found) * 1000
        print(f"{name:30}{walls[bare]:8.1f} ms  {statistics.median(c for c, _ in found) * 1000:.1f} CPU-ms, the whole command")
    world.close()
    # What else a step takes is measured with a call that reads a file.
    steps = {}
    for name, arguments in ("runCommand", lambda n: {"command": f"true {n}"}), ("readFile", lambda n: {"path": "a.txt", "startLine": 1, "endLine": 2 + n}):
        model = Model(lambda n: call(name, arguments(n)) if n < 50 else say("Done."))
        world = World(model.url)
        world.write("a.txt", "number 0\n" + "x" * 1000 + "\n")
        spent(world, "task", "--max-steps", "0", "go")
        steps[name] = statistics.median(model.firsts) * 1000
        world.close()
    print(f"{'true, call to result':30}{steps['runCommand'] - steps['readFile']:8.1f} ms median of 50 (reach: 8)")
    world = World()
    # Before the archive holds much: each start lists it once.
    few = "for i in 1 2 3 4 5 6 7 8 9 10; do echo x >> few$i; done"
    guarded(world, few, bare=True)
    nothing = statistics.median(guarded(world, few.replace(">>", "<"))[1] for _ in range(10))
    kept = statistics.median(guarded(world, few)[1] for _ in range(10))
    print(f"{'10 files kept and sealed':30}{(kept - nothing) * 1000:8.1f} ms (reach: sealing 5 ms)")
    # A folder of its own each: where many files have just been removed, the file system is slower to make others.
    made = iter(f"f{n}" for n in range(100))
    for name, text in ("append to 10,000 files", "for i in $(seq 10000); do echo x >> $i; done"), ("rm of 10,000 files", "find . -type f -delete"):
        costs = []
        for bare in True, True, False, False:
            folder = next(made)
            make = f"mkdir {folder} && cd {folder} && for i in $(seq 10000); do echo $i > $i; done"
            costs.append((bare, *until_end(world, f"cd {folder}; {text}", make, bare)))
        bare = min(cpu for is_bare, cpu, _ in costs if is_bare)
        cpu, sealing = (min(all) for all in zip(*(cost[1:] for cost in costs if not cost[0])))
        print(f"{name:30}{(cpu - bare) / 10_000 * 1e6:8.1f} CPU-us a file (reach: 40), sealed in {sealing * 1000:.0f} ms (reach: 1000)")
    later = "for i in $(seq 20000); do echo x >> one; done"
    bare, kept = min(guarded(world, later, bare=True)[0] for _ in range(2)), min(guarded(world, later)[0] for _ in range(2))
    print(f"{'a later call on a kept file':30}{(kept - bare) / 20_000 * 1e6:8.1f} CPU-us (reach: 12)")
    much = "head -c 100000000 /dev/zero | tr '\\0' 'x' | fold -w 99"
    bare, kept = min(guarded(world, much, bare=True)[0] for _ in range(2)), min(guarded(world, much)[0] for _ in range(2))
    print(f"{'100 MB of output':30}{kept - bare:8.2f} CPU-s (reach: 1)")
    little, most = peak(world, "run", "--", "true"), peak(world, "run", "--", much)
    print(f"{'memory for it':30}{(most - little) / 1024:8.1f} MiB more than for none (reach: 8)")
    world.close()


def peak(world, *args):
    """The most memory of a run in KiB."""
    child = subprocess.Popen([BINARY, *args], cwd=world.work, env=world.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    most = 0
    while child.poll() is None:
        try:
            with open(f"/proc/{child.pid}/status") as f:
                most = max([most] + [int(line.split()[1]) for line in f if line.startswith("VmHWM:")])
        except OSError:
            pass
        time.sleep(0.001)
    return most


def below(process):
    """The processes below one."""
    found, left = [], [process]
    while left:
        try:
            with open(f"/proc/{left[0]}/task/{left[0]}/children") as f:
                left += [int(word) for word in f.read().split()]
        except OSError:
            pass
        found.append(left.pop(0))
    return found[1:]


def runs(process):
    """Whether a process is there and not over."""
    try:
        with open(f"/proc/{process}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def stopped():
    """an interrupt to no process of a command left"""
    world = World()
    guarded(world, "true")
    times = []
    for _ in range(20):
        child = subprocess.Popen([BINARY, "run", "--", "sleep 600 & sleep 600 | sleep 600"], cwd=world.work, env=world.env,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while len(below(child.pid)) < 5:
            time.sleep(0.001)
        processes = below(child.pid)
        begun = time.perf_counter()
        child.send_signal(signal.SIGINT)
        while any(runs(process) for process in processes):
            time.sleep(0.0005)
        times.append(time.perf_counter() - begun)
        child.wait()
    print(f"{'interrupt to none left':30}{statistics.median(times) * 1000:8.1f} ms  p95 {percentile(times, 0.95) * 1000:.1f} (reach: 100)")
    world.close()


def lines():
    """blame of 2,000 lines with 200 versions, the timeline of 100,000 versions, 1,000 entries of the review queue"""
    world = World()
    world.archive(10_000, 10_000, 10)
    folder = os.path.join(world.work, ".shaft", "archives")
    path, begun, text = "long.rs", int(time.time() * 1000) - 20_000_000, [f"line {n}\n" for n in range(2_000)]
    of_path = os.path.join(folder, hashlib.sha256(path.encode()).hexdigest())
    os.makedirs(of_path)
    for n in range(200):
        with open(os.path.join(of_path, f"{uuid7(begun + n * 1000, 0)}.rs"), "w") as out:
            out.writelines(text)
        with open(os.path.join(folder, f"{uuid7(begun + n * 1000, 1)}.txt"), "w") as out:
            out.write(path + "\n")
        text[n * 7 % 2_000] = f"changed {n}\n"
    world.write(path, "".join(text))
    with world.database() as db:
        db.execute("UPDATE changesets SET approved = 'policy review' WHERE n > 9000")
    for name, args in ("blame, first", ["blame", path]), ("blame, again", ["blame", path]), ("timeline", ["timeline", "--json"]), ("review", ["review"]):
        begun = time.perf_counter()
        done = world.run(*args)
        print(f"{name:30}{(time.perf_counter() - begun) * 1000:8.1f} ms the whole command, exit {done.returncode}, {len(done.stdout):,} bytes")
    world.close()


def build():
    """cargo build of a small crate, bare and under the guard; the median, since the system does not always count a command's own time"""
    world = World()
    world.env["CARGO_HOME"] = os.environ.get("CARGO_HOME", os.path.expanduser("~/.cargo"))
    world.env["RUSTUP_HOME"] = os.environ.get("RUSTUP_HOME", os.path.expanduser("~/.rustup"))
    modules = 40
    world.write("Cargo.toml", '[package]\nname = "measured"\nversion = "0.1.0"\nedition = "2021"\n')
    world.write(".gitignore", "target\n")
    world.write("src/lib.rs", "".join(f"pub mod m{i};\n" for i in range(modules)))
    for i in range(modules):
        text = "".join(f"pub fn f{n}(a: &[u64]) -> Vec<String> {{ a.iter().map(|x| format!(\"{{}}\", x + {n})).collect() }}\n" for n in range(60))
        world.write(f"src/m{i}.rs", text)
    for name, bare in ("cargo build, bare", True), ("cargo build, guarded", False):
        cpu = statistics.median(guarded(world, "cargo build --offline -q", "rm -rf target", bare)[0] for _ in range(3))
        print(f"{name:30}{cpu:8.2f} CPU-s median of 3 (reach: +2 %)")
    world.write("package.json", json.dumps({"name": "measured", "scripts": {"test": "node --test js"}}))
    for i in range(20):
        world.write(f"js/{i}.test.js", f"require('node:test').test('{i}', () => {{ let n = 0; for (let i = 0; i < 1e7; i++) n += i; }});\n")
        world.write(f"py/test_{i}.py", "def test_sum():\n    assert sum(range(1_000_000)) > 0\n")
    for name, text, program in ("npm test", "npm test --offline", "npm"), ("pytest", "pytest -q py", "pytest"):
        if not shutil.which(program):
            print(f"{name:30}     not installed")
            continue
        for words, bare in ("bare", True), ("guarded", False):
            cpu = statistics.median(guarded(world, text, bare=bare)[0] for _ in range(3))
            print(f"{f'{name}, {words}':30}{cpu:8.2f} CPU-s median of 3 (reach: +2 %)")
    world.close()


def weight():
    """the processor time of a clean build of the crates for commands, and the size of their C code"""
    crates = ["tree-sitter", "tree-sitter-bash", "landlock"]
    with tempfile.TemporaryDirectory(dir="/var/tmp") as target:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        build = ["cargo", "build", "--offline", "-q", "--target-dir", target, *(word for crate in crates for word in ("-p", crate))]
        subprocess.run(build, cwd=ROOT, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"{'clean dev build of 3 crates':30}{cpu:8.1f} CPU-s with all they need (reach: +40)")
        archives = [os.path.join(folder, name) for folder, _, names in os.walk(target) for name in names if name.startswith("lib") and name.endswith(".a")]
        sizes = subprocess.run(["size", "--totals", *archives], check=True, capture_output=True, text=True).stdout.splitlines()
        print(f"{'binary':30}{int(sizes[-1].split()[3]) / (1 << 20):8.2f} MiB of their C code (reach: +3)")


def past():
    """timeline, at and blame over 1,000 changesets, the whole command"""
    world = World()
    world.archive(100, 1_000, 10)
    for i in range(100):
        world.write(f"src/module{i}/file{i}.rs", "now\n")
    middle = sorted(name for name in os.listdir(os.path.join(world.work, ".shaft", "archives")) if name.endswith(".txt"))[500][:-4]
    for args in ["timeline"], ["timeline", "--json"], ["at", middle], ["blame", "src/module7/file7.rs"], ["review"]:
        times = []
        for _ in range(10):
            begun = time.perf_counter()
            done = subprocess.run([BINARY, *args], cwd=world.work, env=world.env, stdin=subprocess.DEVNULL, capture_output=True)
            times.append(time.perf_counter() - begun)
            if done.returncode:
                sys.exit(f"{args} failed: {done.stderr.decode()}")
        print(f"{' '.join(args[:1] + [a for a in args[1:] if a.startswith('-')]):30}{statistics.median(times) * 1000:8.1f} ms (median of 10)")
    world.close()


class Served:
    """`nebula mcp serve` and a client of it."""

    def __init__(self, world):
        self.server = subprocess.Popen([BINARY, "mcp", "serve"], cwd=world.work, env=world.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.next = 0
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "measured", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.server.stdin.write(json.dumps(message).encode() + b"\n")
        self.server.stdin.flush()

    def ask(self, method, params):
        self.next += 1
        self.send({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params})
        while True:
            answer = json.loads(self.server.stdout.readline())
            # What else it tells meanwhile is no answer.
            if answer.get("id") == self.next:
                break
        if "error" in answer:
            sys.exit(f"{method} failed: {answer['error']}")
        return answer

    def call(self, name, **arguments):
        answer = self.ask("tools/call", {"name": name, "arguments": arguments})
        if answer["result"].get("isError"):
            sys.exit(f"{name} failed: {answer}")
        return answer["result"]["structuredContent"]

    def close(self):
        self.server.stdin.close()
        self.server.wait()


def served():
    """nebula mcp serve over 100,000 versions of 10,000 files: start to first answer, and its listings"""
    world = World()
    world.archive(10_000, 10_000, 10)
    starts = []
    for _ in range(20):
        begun = time.perf_counter()
        server = Served(world)
        starts.append(time.perf_counter() - begun)
        server.close()
    print(f"{'start to the first answer':30}{statistics.median(starts) * 1000:8.1f} ms (median of 20; reach: 15)")
    server, times = Served(world), []
    for _ in range(10):
        begun = time.perf_counter()
        server.call("archive_list")
        times.append(time.perf_counter() - begun)
    print(f"{'archive_list':30}{times[0] * 1000:8.1f} ms first, {statistics.median(times) * 1000:.1f} again (reach: 120)")
    begun = time.perf_counter()
    server.call("archive_list", path="src/module7/file7.rs")
    print(f"{'archive_list of a file':30}{(time.perf_counter() - begun) * 1000:8.1f} ms")
    begun = time.perf_counter()
    for i in range(1_000):
        server.call("archive_versions", path=f"src/module{i % 100}/file{i}.rs")
    print(f"{'1,000 archive_versions':30}{time.perf_counter() - begun:8.2f} s (reach: 1)")
    server.close()
    world.close()


ALL = [start, first, resume, keys, busy, frames, markdown, idle, steps, wires, headless, oneline, history, completion, rag, commands, stopped, build, weight, past, lines, served]


def main():
    names = sys.argv[1:]
    for figure in ALL:
        if not names or figure.__name__ in names:
            figure()


main()
