#!/usr/bin/env python3
"""Tries the tools of definitions on source files that they were not built with, over the Model Context Protocol.

    python3 tests/code_corpus.py FOLDER… [--binary PATH] [--replace FILES] [--edits N] [--seed S] [--language WORD]

--replace: every definition of so many files is replaced by itself; no byte may differ. --edits: in so many definitions one word is
changed, each through code_replace with its hash; the file must be the one with that word changed and no other byte, and the
word must lie in the definition by another parser: Python's own `ast`, Go's `go/parser` (with `go` on the PATH), or TypeScript's
compiler (NODE_PATH names the folder that holds it); Rust has none here, so only the bytes are compared. The files are copied to
a folder of their own, chosen by the seed. The exit code is 1 if anything was wrong.
For developers; no part of the test suite.
"""

import argparse
import ast
import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENDINGS = {"rust": (".rs",), "python": (".py", ".pyi"), "typescript": (".ts", ".tsx", ".mts", ".cts"), "go": (".go",)}
LARGEST = 2 << 20
KEYWORDS = set(
    "as async await break case class const continue def default defer del elif else enum except export extends false False "
    "finally fn for from func function global go goto if impl import in interface is lambda let loop match mod move mut "
    "namespace new nil None nonlocal not null or and package pass pub raise range ref return select self Self static "
    "struct super switch this throw trait true True try type typeof undefined union unsafe use var void where while with "
    "yield map chan declare readonly keyof infer abstract private protected public get set of satisfies asserts unique "
    "any string number boolean never unknown object symbol bigint dyn crate macro_rules fallthrough print exec".split()
)

GO_ORACLE = """package main

import ("encoding/json"; "fmt"; "go/ast"; "go/parser"; "go/token"; "os")

func main() {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, os.Args[1], nil, parser.SkipObjectResolution)
	if err != nil { fmt.Println("null"); return }
	type span struct { Name string; Start, End int }
	found := []span{}
	add := func(name string, node ast.Node) {
		found = append(found, span{name, files.Position(node.Pos()).Offset, files.Position(node.End()).Offset})
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.FuncDecl: add(n.Name.Name, n)
		case *ast.TypeSpec: add(n.Name.Name, n)
		case *ast.ValueSpec: for _, name := range n.Names { add(name.Name, n) }
		case *ast.Field: for _, name := range n.Names { add(name.Name, n) }
		}
		return true
	})
	json.NewEncoder(os.Stdout).Encode(found)
}
"""

TS_ORACLE = """
const ts = require('typescript'), fs = require('fs'), path = process.argv[2];
const text = fs.readFileSync(path, 'utf8'), found = [];
const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
const bytes = at => Buffer.byteLength(text.slice(0, at));
(function walk(node) {
  const named = ts.isConstructorDeclaration(node) ? 'constructor' : node.name && node.name.getText && node.name.getText();
  // The comment before a statement of variables is none of the variable's own node.
  const whole = ts.isVariableDeclaration(node) && ts.isVariableStatement(node.parent.parent) ? node.parent.parent : node;
  if (named) found.push({Name: named, Start: bytes(whole.getFullStart()), End: bytes(node.end)});
  ts.forEachChild(node, walk);
})(file);
console.log(JSON.stringify(found));
"""


def python_oracle(path):
    data = path.read_bytes()
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return None
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for node in ast.walk(tree):
        first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            first = min([first] + [decorator.lineno for decorator in node.decorator_list])
            names = [node.name]
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [n.id if isinstance(n, ast.Name) else n.attr for t in targets for n in ast.walk(t) if isinstance(n, (ast.Name, ast.Attribute))]
        elif hasattr(ast, "TypeAlias") and isinstance(node, ast.TypeAlias):
            names = [node.name.id]
        else:
            continue
        found += [{"Name": name, "Start": starts[first - 1], "End": starts[last]} for name in names]
    return found


class Oracle:
    """Names the definitions around a byte, by another parser. None: it has no say about the file."""

    def __init__(self, language, folder):
        self.language, self.command = language, None
        if language == "go" and shutil.which("go"):
            (folder / "oracle.go").write_text(GO_ORACLE)
            built = subprocess.run(["go", "build", "-o", str(folder / "oracle"), str(folder / "oracle.go")], cwd=folder,
                                   env=dict(os.environ, GOCACHE=str(folder / "cache"), GO111MODULE="off"))
            self.command = [str(folder / "oracle")] if built.returncode == 0 else None
        if language == "typescript" and shutil.which("node"):
            (folder / "oracle.js").write_text(TS_ORACLE)
            self.command = ["node", str(folder / "oracle.js")]

    def around(self, path, byte):
        if self.language == "python":
            found = python_oracle(path)
        elif self.command:
            told = subprocess.run(self.command + [str(path)], capture_output=True, text=True)
            found = json.loads(told.stdout) if told.returncode == 0 else None
        else:
            found = None
        return None if found is None else {one["Name"] for one in found if one["Start"] <= byte < one["End"]}


class Tools:
    """A running `strand mcp serve --code`."""

    def __init__(self, binary, folder, home):
        env = {"HOME": home, "NEBULA_HOME": home + "/nebula", "PATH": os.environ["PATH"]}
        self.server = subprocess.Popen([binary, "mcp", "serve", "--code"], cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.last = 0
        self.send("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "corpus", "version": "1"}})
        self.answer()
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def write(self, message):
        self.server.stdin.write(json.dumps(message).encode() + b"\n")
        self.server.stdin.flush()

    def send(self, method, params):
        self.last += 1
        self.write({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})

    def answer(self):
        while True:
            line = self.server.stdout.readline()
            if not line:
                sys.exit("the server ended")
            message = json.loads(line)
            if message.get("id") == self.last:
                return message

    def call(self, name, **arguments):
        """Returns the answer, or the refusal's kind and message."""
        self.send("tools/call", {"name": name, "arguments": arguments})
        result = self.answer()
        if "error" in result:
            return None, ("protocol", str(result["error"]))
        result = result["result"]
        if result.get("isError"):
            error = json.loads(result["content"][0]["text"])["error"]
            return None, (error["kind"], error["message"])
        return result["structuredContent"], None

    def nodes(self, path):
        """Returns all definitions of a file with their texts, and whether it has syntax errors."""
        nodes, errors, more = [], [], {}
        while True:
            page, refused = self.call("code_view", selector=path, limit=100000, **more)
            if refused:
                return None, refused
            nodes += page["nodes"]
            errors = page["errors"]
            if not page.get("next_cursor"):
                return nodes, errors
            more = {"cursor": page["next_cursor"]}


def sources(folders, endings):
    found = []
    for folder in folders:
        for at, below, names in os.walk(folder):
            below[:] = sorted(name for name in below if name != ".git")
            found += [os.path.join(at, name) for name in sorted(names) if name.endswith(endings)]
    return [path for path in found if os.path.isfile(path) and not os.path.islink(path) and os.path.getsize(path) <= LARGEST]


def copied(paths, folder):
    """Copies files into a workspace of their own. Returns their names there."""
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    names = []
    for number, path in enumerate(paths):
        name = f"d{number // 500:03}/f{number:05}{''.join(Path(path).suffixes[-2:]) if path.endswith('.d.ts') else Path(path).suffix}"
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(path, folder / name)
        names.append(name)
    return names


def replace_all(tools, folder, names, counts, wrong):
    """Replaces every definition of each file by itself."""
    for done, name in enumerate(names):
        nodes, errors = tools.nodes(name)
        if nodes is None:
            counts[f"file refused: {errors[0]}"] += 1
            continue
        counts["files"] += 1
        counts["files with syntax errors"] += bool(errors)
        before = (folder / name).read_bytes()
        for node in nodes:
            answer, refused = tools.call("code_replace", selector=node["id"], text=node["text"], expect_hash=node["hash"], dry_run=True)
            counts["definitions"] += 1
            if refused:
                counts[f"refused: {refused[0]}"] += 1
                if refused[0] not in ("others",):
                    wrong.append((name, node["id"], refused))
            elif answer["diff"]:
                wrong.append((name, node["id"], answer["diff"][:400]))
        if (folder / name).read_bytes() != before:
            wrong.append((name, "", "the file was changed"))
        if done % 500 == 499:
            print(f"  {done + 1} files, {counts['definitions']} definitions, {len(wrong)} wrong", flush=True)


def edit(tools, folder, name, oracle, chance, counts, wrong):
    """Changes one word in one definition. Returns whether there was one to change."""
    nodes, _ = tools.nodes(name)
    path = folder / name
    data = path.read_bytes()
    chance.shuffle(nodes or [])
    for node in nodes or []:
        text = node["text"].encode()
        lines = data.split(b"\n")
        start = sum(len(line) + 1 for line in lines[: node["lines"][0] - 1])
        start = data.find(text, start)
        own = node["id"].rsplit("::", 1)[1].split("#")[0].rsplit(".", 1)[-1].encode()
        words = [m for m in re.finditer(rb"(?<![\w$#@'\"\\])[A-Za-z_]\w{2,}(?![\w'\"!])", text) if m.group().decode() not in KEYWORDS and m.group() != own]
        words = [m for m in words if b"#" not in text[text.rfind(b"\n", 0, m.start()) + 1 : m.start()] and b"//" not in text[text.rfind(b"\n", 0, m.start()) + 1 : m.start()]]
        if start < 0 or not words:
            continue
        word = chance.choice(words)
        new = text[: word.end()] + b"_edited" + text[word.end() :]
        want = data[:start] + new + data[start + len(text) :]
        around = oracle.around(path, start + word.start())
        answer, refused = tools.call("code_replace", selector=node["id"], text=new.decode(), expect_hash=node["hash"])
        counts["edits"] += 1
        now = path.read_bytes()
        if refused:
            # A word within a name of another definition, say.
            counts[f"refused: {refused[0]}"] += 1
            if now != data:
                wrong.append((name, node["id"], "refused, and written"))
        elif now != want:
            wrong.append((name, node["id"], f"other bytes than {word.group()!r}"))
        elif around is None:
            counts["no other parser"] += 1
        elif own.decode() not in around:
            wrong.append((name, node["id"], f"{word.group()!r} lies in {sorted(around)}"))
        else:
            counts["in the definition"] += 1
        return True
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--binary", default=str(ROOT / "target/release/strand"))
    parser.add_argument("--replace", type=int, default=0, metavar="FILES")
    parser.add_argument("--edits", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--language", choices=ENDINGS, required=True)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    every = sources(options.folders, ENDINGS[options.language])
    chance.shuffle(every)
    wanted = max(options.replace, options.edits * 2)
    failed = False
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
        work = Path(folder) / "work"
        work.mkdir()
        names = copied(every[:wanted], work)
        print(f"{options.language}: {len(every)} files, {len(names)} of them by seed {options.seed}")
        tools = Tools(str(Path(options.binary).resolve()), str(work), home)
        for what, number in (("replace", options.replace), ("edits", options.edits)):
            if not number:
                continue
            counts, wrong = collections.Counter(), []
            if what == "replace":
                replace_all(tools, work, names[:number], counts, wrong)
            else:
                oracle = Oracle(options.language, Path(folder))
                for name in names:
                    if counts["edits"] < number:
                        edit(tools, work, name, oracle, chance, counts, wrong)
            print(f"{what}: " + ", ".join(f"{key} {value}" for key, value in sorted(counts.items())) + f"; wrong: {len(wrong)}")
            for row in wrong[:20]:
                print("  ", *row)
                print("     ", every[names.index(row[0])])
            failed |= bool(wrong)
    sys.exit(failed)


if __name__ == "__main__":
    main()
