#!/usr/bin/env python3
"""Renames random definitions of a project through a language server, and runs the project's own tests after each.

    python3 tests/code_renames.py FOLDER --language rust|python|typescript|go --test COMMAND [--count N] [--seed S]
        [--binary PATH] [--keep-going SECONDS] [--only GLOB]

FOLDER is copied. The tests must pass there as it is. Each rename is `strand code rename ID NEW --server --yes` in the copy, which is
the person's trusted folder; the server is the one on the PATH. COMMAND is run by a shell in the copy after each, and then the rename
is undone with `git checkout`. A definition is left out if its name is special to the language or starts a test. A rename counts as
done, as refused (with the reason), or as wrong: done, and the tests fail. The exit code is 1 if any was wrong.
For developers; no part of the test suite.
"""

import argparse
import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEFT_OUT = {
    "rust": r"main|test.*|tests|fmt|drop|next|from|into|default|eq|cmp|hash|clone|deref.*|index.*|new",
    "python": r"__.*__|test.*|Test.*|main|setUp|tearDown|_",
    "typescript": r"constructor|default|test.*",
    "go": r"main|init|Test.*|Benchmark.*|Example.*|Fuzz.*|String|Error|_",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--language", choices=LEFT_OUT, required=True)
    parser.add_argument("--test", required=True)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--binary", default=str(ROOT / "target/release/strand"))
    parser.add_argument("--keep-going", type=float, default=1e9, metavar="SECONDS", help="begin no rename after so long")
    parser.add_argument("--only", default="**", help="a selector of the definitions")
    options = parser.parse_args()
    binary, began = str(Path(options.binary).resolve()), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        work, home = Path(folder).resolve() / "work", Path(folder) / "home"
        shutil.copytree(options.folder, work, symlinks=True)
        (home / "nebula").mkdir(parents=True)
        (home / "nebula/config.json").write_text(json.dumps({"trusted": [str(work)]}))
        env = dict(os.environ, NEBULA_HOME=str(home / "nebula"))

        def run(words):
            return subprocess.run(words, cwd=work, env=env, capture_output=True, text=True)

        def passes():
            ran = subprocess.run(["sh", "-c", options.test], cwd=work, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            return ran.returncode == 0, (ran.stdout + ran.stderr)[-1500:]

        shutil.rmtree(work / ".git", ignore_errors=True)
        for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "as it is"]):
            subprocess.run(["git", *words], cwd=work, check=True)
        ok, said = passes()
        if not ok:
            sys.exit(f"the tests do not pass as it is:\n{said}")
        listed = json.loads(run([binary, "code", "list", options.only, "--json"]).stdout)["nodes"]
        plain = re.compile(rf"({LEFT_OUT[options.language]})$")
        ids = [node["id"] for node in listed if not plain.match(node["id"].rsplit("::", 1)[1].split("#")[0].rsplit(".", 1)[-1])]
        random.Random(options.seed).shuffle(ids)
        print(f"{len(listed)} definitions, {len(ids)} of them may be renamed; seed {options.seed}", flush=True)
        counts, reasons = collections.Counter(), collections.Counter()
        for number, one in enumerate(ids):
            if counts["done"] + counts["wrong"] >= options.count or time.monotonic() - began > options.keep_going:
                break
            old = one.rsplit("::", 1)[1].split("#")[0].rsplit(".", 1)[-1]
            new = f"Renamed{number}" if old[0].isupper() else f"renamed{number}"
            new = new.upper() if old.isupper() and len(old) > 1 else new
            ran = run([binary, "code", "rename", one, new, "--server", "--yes", "--json"])
            answer = json.loads(ran.stdout) if ran.stdout else {"error": {"kind": "crash", "message": ran.stderr[-300:]}}
            if "error" in answer:
                counts["refused"] += 1
                reasons[answer["error"]["kind"]] += 1
                print(f"  refused {one}: {answer['error']['message'][:160]}", flush=True)
            else:
                places = sum(file["count"] for file in answer["changed"])
                ok, said = passes()
                counts["done" if ok else "wrong"] += 1
                print(f"  {'done' if ok else 'WRONG'} {one} -> {new}: {places} places in {len(answer['changed'])} files, {len(answer['left'])} left", flush=True)
                if not ok:
                    print(said)
            # What the tests and the server write beside it stays, as it would in a person's folder.
            subprocess.run(["git", "checkout", "-q", "."], cwd=work, check=True)
        print(f"{options.language}: {counts['done']} done and their tests passed, {counts['wrong']} wrong, {counts['refused']} refused {dict(reasons)}")
    sys.exit(bool(counts["wrong"]))


if __name__ == "__main__":
    main()
