"""Labels in real terminals, killed at random moments: what every key did is told as lines of JSON.

It imports once and forks a labelling process for each round, whose terminal it holds.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import random
import re
import select
import signal
import struct
import sys
import termios
import time

from rankgauge.cli import main, review_terminal, testset_label  # noqa: F401
from rankgauge.reports import review  # noqa: F401
from rankgauge.testsets.review import session  # noqa: F401


def begun(arguments: list[str]) -> tuple[int, int]:
    process, terminal = pty.fork()
    if process == 0:
        sys.argv = ["rankgauge", *arguments]
        try:
            main()
        finally:
            os._exit(0)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    return process, terminal


def shown(terminal: int, seconds: float) -> bytes:
    """What is drawn within a time."""
    text, end = b"", time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if not select.select([terminal], [], [], left)[0]:
            break
        try:
            text += os.read(terminal, 65536)
        except OSError:
            break
    return text


def work(rounds: int, seed: int, arguments: list[str]) -> None:
    draw = random.Random(seed)
    for _ in range(rounds):
        process, terminal = begun(arguments)
        begin, typed, seen = time.monotonic(), "", b""
        while b"\x1b[H" not in seen and time.monotonic() - begin < 10:
            seen += shown(terminal, 0.05)
        for _ in range(draw.randrange(1, 4)):
            keys = "".join(draw.choice("0123") for _ in range(draw.randrange(1, 4)))
            os.write(terminal, keys.encode())
            typed += keys
            seen += shown(terminal, draw.random() * 0.03)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        with contextlib.suppress(OSError):
            seen += shown(terminal, 0.01)
        os.close(terminal)
        told = [int(n) for n in re.findall(rb"(\d+) of \d+ labelled", seen)]
        print(json.dumps({"typed": typed, "first": told[0] if told else None, "last": max(told, default=None)}))


if __name__ == "__main__":
    work(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
