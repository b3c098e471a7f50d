#!/usr/bin/env python3
"""Measures edits by definition against edits by search and replace: the same 40 tasks, tokens and success of each way.

    python3 tests/code_ops.py URL [--model NAME] [--binary PATH] [--only WORD] [--ways WAY,…] [--keep FOLDER]
    python3 tests/code_ops.py --check

URL is an OpenAI-compatible server, such as http://127.0.0.1:8091/v1. A task is one change of one function in a file of a dozen like
it, in Rust, Python, TypeScript or Go; it is passed when the function is as asked and no other byte of the file differs. The ways:
`code` (calls, codeOps on), `tools` (calls, codeOps off), `blocks` (search and replace in the text, codeOps off). The prompt names
the file; what the model reads of it is up to the model. --check tests the tasks themselves, without a model.
For developers with a model at hand; no part of the test suite.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import small_model

# A function of each language: name, parameters, result, lines of the body.
SHAPES = {
    "rs": ("pub fn {name}({params}) -> {result} {{\n{body}}}\n", "    ", "// Prices and counts of the shop.\n\n"),
    "py": ("def {name}({params}):\n{body}", "    ", '"""Prices and counts of the shop."""\n\n\n'),
    "ts": ("export function {name}({params}): {result} {{\n{body}}}\n", "  ", "// Prices and counts of the shop.\n\n"),
    "go": ("func {name}({params}) {result} {{\n{body}}}\n", "\t", "package shop\n\n"),
}

LIST = {"rs": "prices: &[i64]", "py": "prices", "ts": "prices: number[]", "go": "prices []int64"}
ONE = {"rs": "price: i64", "py": "price", "ts": "price: number", "go": "price int64"}
NUMBER = {"rs": "i64", "py": "", "ts": "number", "go": "int64"}
TEXT = {"rs": "&'static str", "py": "", "ts": "string", "go": "string"}
TRUTH = {"rs": "bool", "py": "", "ts": "boolean", "go": "bool"}


def loop(sign, start):
    """The body of a function that goes through the prices."""
    return {
        "rs": [f"let mut sum = {start};", "for price in prices {", f"    sum {sign}= price;", "}", "sum"],
        "py": [f"sum = {start}", "for price in prices:", f"    sum {sign}= price", "return sum"],
        "ts": [f"let sum = {start};", "for (const price of prices) {", f"  sum {sign}= price;", "}", "return sum;"],
        "go": [f"sum := int64({start})", "for _, price := range prices {", f"\tsum {sign}= price", "}", "return sum"],
    }


def give(expression):
    """The body that gives an expression back."""
    return {"rs": [expression], "py": [f"return {expression}"], "ts": [f"return {expression};"], "go": [f"return {expression}"]}


def guarded(condition, value, rest):
    """A body that begins with a guard."""
    guard = {
        "rs": [f"if {condition['rs']} {{", f"    return {value};", "}"],
        "py": [f"if {condition['py']}:", f"    return {value}"],
        "ts": [f"if ({condition['ts']}) {{", f"  return {value};", "}"],
        "go": [f"if {condition['go']} {{", f"\treturn {value}", "}"],
    }
    return {language: guard[language] + rest[language] for language in rest}


EMPTY = {"rs": "prices.is_empty()", "py": "not prices", "ts": "prices.length === 0", "go": "len(prices) == 0"}
NEGATIVE = dict.fromkeys(SHAPES, "price < 0")

# All functions of a file: name, parameters, result, body. Several have the same lines.
FUNCTIONS = [
    ("total", LIST, NUMBER, loop("+", 0)),
    ("refunds", LIST, NUMBER, loop("-", 0)),
    ("order_limit", None, NUMBER, give("10")),
    ("cart_limit", None, NUMBER, give("10")),
    ("with_tax", ONE, NUMBER, give("price + price / 5")),
    ("with_fee", ONE, NUMBER, give("price + 5")),
    ("is_cheap", ONE, TRUTH, give("price < 100")),
    ("is_small", ONE, TRUTH, give("price < 100")),
    ("greeting", None, TEXT, give('"hello"')),
    ("farewell", None, TEXT, give('"goodbye"')),
    ("half", ONE, NUMBER, give("price / 2")),
    ("checked", ONE, NUMBER, guarded(NEGATIVE, 0, give("price"))),
    ("as_is", ONE, NUMBER, give("price")),
]

# The tasks: a word for each, the function, the words of the person, and the body that is wanted.
TASKS = [
    ("limit", "order_limit", "return 25 instead of 10", give("25")),
    ("cart", "cart_limit", "return 40", give("40")),
    ("greet", "greeting", 'say "good morning" instead of "hello"', give('"good morning"')),
    ("bound", "is_small", "also hold for a price of exactly 100, by <= instead of <", give("price <= 100")),
    ("cheap", "is_cheap", "hold below 50 instead of below 100", give("price < 50")),
    ("fee", "with_fee", "add 7 instead of 5", give("price + 7")),
    ("third", "half", "divide by 3 instead of by 2", give("price / 3")),
    ("start", "total", "begin to count at 100 instead of at 0, and change nothing else", loop("+", 100)),
    ("empty", "refunds", "return 0 at once, before anything else, if there are no prices", guarded(EMPTY, 0, loop("-", 0))),
    ("floor", "checked", "return 1 instead of 0 for a negative price", guarded(NEGATIVE, 1, give("price"))),
]


def function(language, name, params, result, body):
    shape, indent, _ = SHAPES[language]
    lines = "".join(f"{indent}{line}\n" for line in body[language])
    return shape.format(name=name, params=(params or {}).get(language, ""), result=result[language], body=lines)


def file_text(language, changed=None, body=None):
    """A whole file, with another body of one function."""
    gap = "\n\n" if language == "py" else "\n"
    all_of = [function(language, n, p, r, body if n == changed else b) for n, p, r, b in FUNCTIONS]
    return SHAPES[language][2] + gap.join(all_of)


# White space within the function does not count; outside it every byte does.
CHECK = '''import pathlib, sys
path, before, wanted, outside = {path!r}, {before!r}, {wanted!r}, {outside!r}
text = pathlib.Path(path).read_bytes().decode()
head, tail = outside
if not (text.startswith(head) and text.endswith(tail) and len(text) >= len(head) + len(tail)):
    sys.exit("something else was changed")
now = text[len(head):len(text) - len(tail)]
squeezed = lambda code: "".join(code.replace(";", "").split()).replace("return", "")
sys.exit(0 if squeezed(now) == squeezed(wanted) else "the function is not as asked")
'''


def write_tasks(folder):
    """Writes the tasks as folders of small_model.py. Returns them, each with the text that solves it."""
    tasks = []
    for language in SHAPES:
        for word, name, words, body in TASKS:
            task, path = folder / f"{language}-{word}", f"shop.{language}"
            task.mkdir()
            before, solved = file_text(language), file_text(language, name, body)
            [(_, params, result, old)] = [row for row in FUNCTIONS if row[0] == name]
            own, wanted = (function(language, name, params, result, b) for b in (old, body))
            head, tail = before.split(own)
            (task / path).write_text(before)
            (task / "task.txt").write_text(f"In {path} change the function `{name}`: it shall {words}.")
            (task / "check.py").write_text(CHECK.format(path=path, before=own, wanted=wanted, outside=(head, tail)))
            tasks.append((task, path, solved))
    return tasks


def check(folder):
    """Tests that each task is passed by its solution, and by nothing that is left or done elsewhere."""
    tasks = write_tasks(folder)
    assert len(tasks) == 40, len(tasks)
    for task, path, solved in tasks:
        def ended(text):
            (task / path).write_text(text)
            return subprocess.run([sys.executable, "check.py"], cwd=task, capture_output=True).returncode
        before = (task / path).read_text()
        assert before != solved, task.name
        assert ended(before) != 0, f"{task.name} is passed without a change"
        assert ended(solved) == 0, f"{task.name} is not passed by its solution"
        assert ended(solved + "\n") != 0, f"{task.name} allows a change outside"
    print(f"{len(tasks)} tasks are sound")


WAYS = {
    "code": ("tools", "on"),
    "tools": ("tools", "off"),
    "blocks": ("blocks", "off"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url", nargs="?")
    parser.add_argument("--check", action="store_true", help="test the tasks themselves")
    parser.add_argument("--model", help="the first one the server lists, if left out")
    parser.add_argument("--binary", default=str(small_model.ROOT / "target/release/nebula"))
    parser.add_argument("--timeout", type=float, default=600, help="seconds a task may take")
    parser.add_argument("--only", help="only tasks with this in their name")
    parser.add_argument("--ways", default="code,tools,blocks", help="of code, tools, blocks")
    parser.add_argument("--keep", help="the folder that the changed files and the events are copied to")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
        if options.check:
            return check(Path(folder))
        if not options.url:
            parser.error("give the URL of a server, or --check")
        options.binary = str(Path(options.binary).resolve())
        if not os.access(options.binary, os.X_OK):
            sys.exit(f"{options.binary} is no program: build it with cargo build --release, or give --binary PATH")
        tasks = [task for task, _, _ in write_tasks(Path(folder)) if (options.only or "") in task.name]
        keep, sums, options.mention = options.keep, {}, False
        print(f"{'way':<7} {'task':<10} applied passed requests  tokens in/out  seconds  last notice")
        for way in options.ways.split(","):
            options.format, code_ops = WAYS[way]
            options.config = {"codeOps": code_ops}
            options.keep = str(Path(keep) / way) if keep else None
            rows = []
            for task in tasks:
                rows.append(small_model.run(task, options, home))
                applied, passed, requests, read, wrote, seconds, notice = rows[-1]
                print(
                    f"{way:<7} {task.name:<10} {'yes' if applied else 'no':>7} {'yes' if passed else 'no':>6} {requests:>8} "
                    f"{read:>8}/{wrote:<6} {seconds:>7.1f}  {notice[:60]}",
                    flush=True,
                )
            sums[way] = rows
        for way, rows in sums.items():
            applied, passed, requests, read, wrote = (sum(row[i] for row in rows) for i in range(5))
            each = max(len(rows), 1)
            print(
                f"{way:<7} {applied} of {len(rows)} applied, {passed} passed; a task: {requests / each:.1f} requests, "
                f"{read // each} tokens in, {wrote // each} out, {sum(row[5] for row in rows) / each:.1f} s"
            )


if __name__ == "__main__":
    main()
