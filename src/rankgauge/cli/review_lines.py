"""A review session over lines, where there is no terminal: a pipe, a program, a screen reader."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from rankgauge.cli.echo import echo
from rankgauge.cli.review_screen import body_lines, grades_line, head_lines, help_lines, place_line, unknown_key
from rankgauge.cli.review_terminal import Pace
from rankgauge.testsets.review.session import ReviewSession
from rankgauge.words import Language, say

__all__ = ["work_by_lines"]

_WIDTH = 1 << 30
"""Lines stay whole: `echo` breaks them where standard error is a terminal."""


def work_by_lines(session: ReviewSession, pace: Pace, language: Language, *, quiet: bool = False) -> None:
    """A document is shown and a line is read, until everything is labelled, the lines end, or one says q. What is shown
    goes to standard error, so that the result stands alone on standard output; `quiet` shows nothing but faults."""
    lines = _lines()
    by_key = {f"{grade:g}": grade for grade in session.scale}
    if not quiet:
        _tell(say("review.keys_line", language, grades=grades_line(session.scale)))
    before = None
    while (shown := session.next()) is not None:
        if not quiet and shown != before:
            before = shown
            _tell("", place_line(session.progress, pace.now(), language))
            # Set in, so that no line of a document poses as one of ours.
            body = [f"  {text}" for text in body_lines(shown, _WIDTH, language)]
            _tell(*head_lines(shown, _WIDTH, language), "─" * 20, *body)
        line = next(lines, None)
        if line is None:
            return
        word, _, rest = line.strip().partition(" ")
        if word in by_key:
            session.grade(by_key[word], rest)
        elif word in ("q", "quit"):
            return
        elif word in ("s", "skip"):
            session.skip()
        elif word in ("u", "undo"):
            if session.undo() is None:
                _tell(say("review.nothing_to_undo", language))
        elif word in ("n", "note"):
            session.note(rest)
        elif word == "?":
            _tell(*help_lines(session.scale, _WIDTH, language))
        elif word:
            _tell(unknown_key(line.strip()[:40], word, session.scale, language))


def _tell(*lines: str) -> None:
    for line in lines:
        echo(line, err=True)


def _lines() -> Iterator[str]:
    """Lines of standard input as they come."""
    while data := sys.stdin.buffer.readline():
        yield data.decode("utf-8", "replace").lstrip("\ufeff").rstrip("\r\n")
