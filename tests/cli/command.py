"""Runs the command line as a user does, in a process of its own or, faster, in this one."""

from __future__ import annotations

import io
import os
import re
import signal
import struct
import subprocess
import sys
from contextlib import redirect_stderr
from dataclasses import dataclass
from unittest import mock

from rankgauge.cli import main

__all__ = ["Done", "run_command", "run_process", "run_terminal"]


@dataclass(frozen=True)
class Done:
    status: int
    stdout: str
    stderr: str


def run_process(*arguments: object, stdin: bytes | None = None, env: dict[str, str] | None = None) -> Done:
    """The installed command in a new process."""
    done = subprocess.run(
        [sys.executable, "-m", "rankgauge", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        timeout=120,
        check=False,
        env=env,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def run_command(*arguments: object, stdin: bytes = b"", status: int | None = 0) -> Done:
    """The command in this process; its exit status must be as expected, and there must be no traceback."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    source = mock.Mock(buffer=io.BytesIO(stdin))
    code: int | str | None = 0
    ctrl_c = signal.getsignal(signal.SIGINT)  # an interrupted command ignores it from then on
    with (
        mock.patch.object(sys, "argv", ["rankgauge", *map(str, arguments)]),
        mock.patch.object(sys, "stdin", source),
        mock.patch.object(sys, "stdout", out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as stop:
            code = stop.code
        finally:
            signal.signal(signal.SIGINT, ctrl_c)
    out.flush()
    done = Done(int(code or 0), out.buffer.getvalue().decode(), err.getvalue())  # type: ignore[attr-defined]
    assert "Traceback" not in done.stderr
    assert status is None or done.status == status, done
    return done


def run_terminal(*arguments: object, columns: int = 80) -> Done:
    """The installed command in a terminal of so many columns: what it shows there, colours aside."""
    import fcntl
    import termios

    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
    command = [sys.executable, "-m", "rankgauge", *map(str, arguments)]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                block = os.read(ours, 65536)
            except OSError:  # how Linux tells that nobody writes there any more
                break
            if not block:
                break
            shown += block
    os.close(ours)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode().replace("\r\n", "\n"))
    return Done(process.returncode, text, "")
