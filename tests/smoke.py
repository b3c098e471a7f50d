#!/usr/bin/env python3
"""Runs the built program in a pseudo-terminal as a newcomer would: no key, no home of its own, an empty folder.

Passes when the welcome screen appears, the tour opens and shows its recording, and the program leaves cleanly.
`tests/smoke.py [BINARY]`; the default is target/release/nebula.
"""
import os
import pty
import select
import signal
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BINARY = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "release/nebula"))


class Program:
    """A program in a pseudo-terminal of 140 by 40 cells."""

    def __init__(self, *args, cwd):
        home = tempfile.mkdtemp(prefix="nebula-home-")
        env = {"HOME": home, "PATH": os.environ["PATH"], "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execve(BINARY, [BINARY, *args], env)
        import fcntl, struct, termios
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
        self.seen = b""

    def wait_for(self, text, seconds=20):
        """Reads until the bytes appear; answers nothing that the program asks of its terminal."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                self.fail(f"{text!r} did not appear in {seconds} s")
            try:
                self.seen += os.read(self.fd, 65536)
            except OSError:
                self.fail(f"it ended before {text!r} appeared")

    def type(self, keys):
        os.write(self.fd, keys)

    def leave(self):
        """Ctrl-C twice; then the exit code."""
        self.seen = b""
        self.type(b"\x03")
        self.type(b"\x03")
        end = time.monotonic() + 10
        while time.monotonic() < end:
            if select.select([self.fd], [], [], 0.05)[0]:
                try:
                    self.seen += os.read(self.fd, 65536)
                except OSError:
                    pass
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
        self.fail("it did not leave")

    def fail(self, why):
        os.kill(self.pid, signal.SIGKILL)
        sys.stderr.buffer.write(self.seen[-4000:])
        sys.exit(f"\nsmoke: {why}")


def main():
    with tempfile.TemporaryDirectory(prefix="nebula-smoke-") as folder:
        program = Program(cwd=folder)
        program.wait_for(b"the model is a recording")
        code = program.leave()
        if code != 0:
            program.fail(f"exit code {code}")
        tour = Program("demo", cwd=folder)
        tour.wait_for(b"recording")
        tour.type(b"\r")
        tour.wait_for(b"proposal", 60)
        code = tour.leave()
        if code != 0:
            tour.fail(f"exit code {code} after the tour")
        if os.path.exists(os.path.join(folder, ".shaft")):
            tour.fail("the tour wrote into the folder it was started in")
    print("smoke: 2 passed, 0 failed")


main()
