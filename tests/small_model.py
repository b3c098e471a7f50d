#!/usr/bin/env python3
"""Runs the tasks of tests/fixtures/model-replies and model-tasks against a real model, and prints what came of each.

    python3 tests/small_model.py URL [--model NAME] [--format FORMAT] [--binary PATH] [--only WORD] [--keep FOLDER]

URL is an OpenAI-compatible server, such as http://127.0.0.1:8091/v1. A task is applied when its file was changed, and passed when
its check.py agrees. For developers with a model at hand; no part of the test suite.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TASKS = [ROOT / "tests/fixtures" / name for name in ("model-replies", "model-tasks")]


def files_of(task):
    """The files a task is about: what is neither the task, nor its check, nor a recorded reply."""
    own = lambda path: path.name not in ("task.txt", "check.py") and not path.name.startswith("repl")
    return sorted(path for path in task.iterdir() if path.is_file() and own(path))


def run(task, options, home):
    """One task in a folder of its own: (applied, passed, requests, tokens in, tokens out, seconds, last notice)."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / ".git").mkdir()
        own = files_of(task)
        for path in own:
            shutil.copy(path, work)
        mentions = " ".join("@" + path.name for path in own) if options.mention else ""
        if options.config:
            (work / ".nebula").mkdir()
            (work / ".nebula/config.json").write_text(json.dumps(options.config))
        words = [options.binary, "task", "--json", "--approve", "edits", "--expect-change"]
        words += ["--model", options.model] if options.model else []
        words += ["--format", options.format] if options.format else []
        words += ["--", f"{(task / 'task.txt').read_text().strip()} {mentions}"]
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "OPENAI_BASE_URL": options.url, "OPENAI_API_KEY": "none"}
        began = time.monotonic()
        try:
            ended = subprocess.run(words, cwd=work, env=environment, capture_output=True, text=True, timeout=options.timeout)
            lines = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
        except subprocess.TimeoutExpired:
            lines = [{"type": "notice", "text": f"stopped after {options.timeout:.0f} s"}]
        seconds = time.monotonic() - began
        usage = [line for line in lines if line.get("type") == "usage"]
        notices = [line["text"] for line in lines if line.get("type") == "notice"]
        if options.keep:
            shutil.copytree(work, Path(options.keep) / task.name, ignore=shutil.ignore_patterns(".git"), dirs_exist_ok=True)
            (Path(options.keep) / task.name / "events.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
        applied = any((work / path.name).read_bytes() != path.read_bytes() for path in own)
        shutil.copy(task / "check.py", work)
        try:
            check = subprocess.run([sys.executable, "check.py"], cwd=work, capture_output=True, timeout=30)
            passed = applied and check.returncode == 0
        except subprocess.TimeoutExpired:
            passed = False
        tokens = [sum(line[side] for line in usage) for side in ("input", "output")]
        return applied, passed, len(usage), *tokens, seconds, notices[-1] if notices else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url")
    parser.add_argument("--model", help="the first one the server lists, if left out")
    parser.add_argument("--format", help="auto, if left out")
    parser.add_argument("--binary", default=str(ROOT / "target/release/nebula"))
    parser.add_argument("--timeout", type=float, default=600, help="seconds a task may take")
    parser.add_argument("--only", help="only tasks with this in their name")
    parser.add_argument("--keep", help="the folder that the changed files and the events are copied to")
    options = parser.parse_args()
    options.mention, options.config = True, None
    # A task runs in a folder of its own.
    options.binary = str(Path(options.binary).resolve())
    if not os.access(options.binary, os.X_OK):
        sys.exit(f"{options.binary} is no program: build it with cargo build --release, or give --binary PATH")
    tasks = sorted((path for folder in TASKS for path in folder.iterdir() if (path / "check.py").exists()), key=lambda p: p.name)
    tasks = [task for task in tasks if (options.only or "") in task.name]
    print(f"{'task':<18} applied passed requests  tokens in/out  seconds  last notice")
    rows = []
    with tempfile.TemporaryDirectory() as home:
        for task in tasks:
            row = run(task, options, home)
            rows.append(row)
            applied, passed, requests, read, wrote, seconds, notice = row
            print(
                f"{task.name:<18} {'yes' if applied else 'no':>7} {'yes' if passed else 'no':>6} {requests:>8} "
                f"{read:>8}/{wrote:<6} {seconds:>7.1f}  {notice[:60]}",
                flush=True,
            )
    applied, passed, requests, read, wrote = (sum(row[i] for row in rows) for i in range(5))
    each = max(len(rows), 1)
    print(
        f"{applied} of {len(rows)} applied, {passed} passed, {requests} requests, {read} tokens in, {wrote} out; "
        f"a task: {read // each} in, {wrote // each} out, {sum(row[5] for row in rows) / each:.1f} s"
    )


if __name__ == "__main__":
    main()
