"""Single keys from a terminal, and their names. Nothing that is typed ahead is lost, and Ctrl-C works."""

from __future__ import annotations

import codecs
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

__all__ = ["RESIZED", "Keys", "is_interactive"]

RESIZED = "resized"
"""What `Keys.next` gives where the terminal has another size, or the program another turn."""
_NAMED = {
    "\x1b[A": "up",
    "\x1b[B": "down",
    "\x1b[C": "down",
    "\x1b[D": "up",
    "\x1b[5~": "up",
    "\x1b[6~": "down",
    " ": "space",
    "\x7f": "backspace",
    "\b": "backspace",
    "\r": "enter",
    "\n": "enter",
    "\x04": "end",
    "\x1b": "escape",
}
_WAIT = 0.05
"""Seconds within which the rest of a key's sequence comes."""


def is_interactive() -> bool:
    """Whether somebody sits at a terminal, whose keys can be read one by one."""
    try:
        return os.isatty(sys.stdin.fileno()) and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    except (AttributeError, OSError, TypeError, ValueError):
        return False


class Keys:
    """The keys of a terminal, as names for those that are no letters."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("ignore")
        self._typed = ""
        self._file = sys.stdin.fileno()
        self._changed = False
        self._modes: list[Any] | None = None

    @contextmanager
    def reading(self) -> Iterator[Keys]:
        """Keys come one by one and unseen until the end, whatever ends it."""
        if sys.platform == "win32":
            yield self
            return
        import signal
        import termios

        self._modes = termios.tcgetattr(self._file)
        before = {number: signal.getsignal(number) for number in (signal.SIGWINCH, signal.SIGCONT)}
        try:
            self._enter()
            signal.signal(signal.SIGWINCH, self._resized)
            signal.signal(signal.SIGCONT, self._continued)
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            with suppress(termios.error, OSError):
                termios.tcsetattr(self._file, termios.TCSADRAIN, self._modes)

    def _enter(self) -> None:
        import termios

        modes = termios.tcgetattr(self._file)
        modes[3] &= ~(termios.ECHO | termios.ICANON)
        # Not TCSAFLUSH, which would drop what is typed ahead.
        termios.tcsetattr(self._file, termios.TCSADRAIN, modes)

    def _resized(self, *_: object) -> None:
        self._changed = True

    def _continued(self, *_: object) -> None:
        """After Ctrl-Z the shell has had the terminal."""
        self._enter()
        self._changed = True

    def next(self) -> str:
        """The next key; `end` where the terminal is gone."""
        if sys.platform == "win32":
            import click

            typed = click.getchar()
            return {"\xe0H": "up", "\xe0P": "down", "\xe0I": "up", "\xe0Q": "down"}.get(typed, _NAMED.get(typed, typed))
        while not self._typed:
            if self._changed:
                self._changed = False
                return RESIZED
            self._more(0.5)
        while self._typed.startswith("\x1b") and not _whole(self._typed) and self._more(_WAIT):
            pass
        return self._taken()

    def _more(self, seconds: float) -> bool:
        """Read what is typed within a time."""
        ready, _, _ = select.select([self._file], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self._file, 1024)
        except OSError:  # the terminal was closed
            data = b""
        self._typed += self._decoder.decode(data) if data else "\0"
        return True

    def _taken(self) -> str:
        sequence = next((known for known in _NAMED if len(known) > 1 and self._typed.startswith(known)), None)
        if sequence is None and self._typed.startswith("\x1b[") and (end := _whole(self._typed)):
            self._typed = self._typed[end:]  # a key that has no meaning here
            return "escape"
        taken = sequence or self._typed[0]
        self._typed = self._typed[len(taken) :]
        return "end" if taken == "\0" else _NAMED.get(taken, taken)


def _whole(typed: str) -> int:
    """How long the sequence is that begins here, 0 where it is not whole: ESC [ parameters letter."""
    if not typed.startswith("\x1b["):
        return 1 if len(typed) > 1 else 0
    for i, letter in enumerate(typed[2:], start=3):
        if "@" <= letter <= "~":
            return i
    return 0
